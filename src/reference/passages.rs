//! Measures of passages: sums over the results down to a rank, and to a budget of positions.

use super::parts::cutoff;
use super::ranking::Ranking;
use crate::matrix::SpanAtRank;
use crate::measure::{Measure, Value};

/// Numbers of positions: sums of whole numbers, which become floats at the end.
struct Positions {
    /// The gold positions of the query.
    all: u128,
    /// The number of returned gold positions.
    gold: u128,
    /// The number of returned positions.
    returned: u128,
}

/// The share of the gold positions that were returned.
pub fn span_recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, .. } = positions(m, r);
    share(gold as f64, all as f64)
}

/// The share of the returned positions that are gold.
pub fn span_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { gold, returned, .. } = positions(m, r);
    share(gold as f64, returned as f64)
}

/// The returned gold as a share of what is gold or returned.
pub fn span_iou(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, returned } = positions(m, r);
    share(gold as f64, (returned + all - gold) as f64)
}

/// The weighted harmonic mean of recall and precision.
pub fn span_f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, returned } = positions(m, r);
    let beta2 = m.number("beta").unwrap_or(1.0).powi(2);
    share((1.0 + beta2) * gold as f64, beta2 * all as f64 + returned as f64)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The sums over the results that count: 0 where judgments are of documents.
fn positions(m: &Measure, r: &Ranking<'_>) -> Positions {
    let Some(spans) = r.spans else { return Positions { all: 0, gold: 0, returned: 0 } };
    let budget = match m.value("budget") {
        Some(Value::Number(budget)) => *budget as u128,
        _ => u128::MAX,
    };
    let ranks: Vec<SpanAtRank> = spans.ranks(m.rel()).take(r.labels.len()).collect();
    let sum = |ranks: &[SpanAtRank], of: fn(&SpanAtRank) -> u32| {
        ranks.iter().map(|rank| u128::from(of(rank))).sum()
    };
    let fits = |count: &usize| sum(&ranks[..*count], |rank| rank.length) <= budget;
    let counts = (0..=ranks.len()).take_while(|&count| count as f64 <= cutoff(m));
    let ranks = &ranks[..counts.filter(fits).max().unwrap_or(0)];
    Positions {
        all: spans.gold(m.rel()).into(),
        gold: sum(ranks, |rank| rank.gold),
        returned: sum(
            ranks,
            if m.word("overlap") == "each" { |rank| rank.length } else { |rank| rank.new },
        ),
    }
}
