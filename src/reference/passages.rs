//! Reference formulas of measures of passages: sums over the results down to a rank and to a budget
//! of positions.

use super::common::cutoff;
use super::ranking::Ranking;
use crate::matrix::RankedSpan;
use crate::measure::{Measure, ParamValue};

/// The numbers of a query's gold positions, of those returned, and of all returned, in its
/// passages. They are sums of whole numbers, which become floats at the end.
struct Positions {
    /// The gold positions of the query.
    all: u128,
    /// The number of returned gold positions.
    gold: u128,
    /// The number of returned positions.
    returned: u128,
}

/// Returns the recall of passages: the share of the gold positions that were returned.
pub fn span_recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, .. } = positions(m, r);
    share(gold as f64, all as f64)
}

/// Returns the precision of passages: the share of the returned positions that are gold.
pub fn span_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { gold, returned, .. } = positions(m, r);
    share(gold as f64, returned as f64)
}

/// Returns the IoU of passages: the returned gold positions as a share of those gold or returned.
pub fn span_iou(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, returned } = positions(m, r);
    share(gold as f64, (returned + all - gold) as f64)
}

/// Returns the F measure of passages: the weighted harmonic mean of their recall and precision.
pub fn span_f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let Positions { all, gold, returned } = positions(m, r);
    let beta2 = m.number("beta").unwrap_or(1.0).powi(2);
    share((1.0 + beta2) * gold as f64, beta2 * all as f64 + returned as f64)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Returns the gold and returned positions of a ranking's passages that count; 0 if judgments are
/// of documents.
fn positions(m: &Measure, r: &Ranking<'_>) -> Positions {
    let Some(spans) = r.spans else { return Positions { all: 0, gold: 0, returned: 0 } };
    let budget = match m.value("budget") {
        Some(ParamValue::Number(budget)) => *budget as u128,
        _ => u128::MAX,
    };
    let ranks: Vec<RankedSpan> = spans.ranks(m.rel()).take(r.labels.len()).collect();
    let counts = (0..=ranks.len()).take_while(|&count| count as f64 <= cutoff(m));
    let fitting = counts.filter(|&count| sum(&ranks[..count], |rank| rank.length) <= budget);
    let ranks = &ranks[..fitting.max().unwrap_or(0)];
    let is_each = m.choice("overlap") == "each";
    Positions {
        all: spans.gold(m.rel()).into(),
        gold: sum(ranks, |rank| rank.gold),
        returned: sum(ranks, if is_each { |rank| rank.length } else { |rank| rank.new }),
    }
}

/// Returns the sum of a number of each ranked passage, in 128 bits, which no sum of lengths
/// overflows.
fn sum(ranks: &[RankedSpan], function: fn(&RankedSpan) -> u32) -> u128 {
    ranks.iter().map(|rank| u128::from(function(rank))).sum()
}
