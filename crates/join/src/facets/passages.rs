//! Values of rankings of passages: sums of document positions down to a rank or a budget of
//! positions.

use crate::matrix::{RankedSpan, SpanRanking};

/// A measure of a ranking of passages: the lowest grade of gold passages, the results that count,
/// and the formula over their positions.
#[derive(Debug, Clone, Copy)]
pub struct PassageValue {
    /// The lowest grade of a gold passage.
    pub rel: f64,
    /// The last rank that counts.
    pub rank: Option<u32>,
    /// The positions that all results together may have: the first result that does not fit ends
    /// the list.
    pub budget: Option<u64>,
    /// Whether positions that an earlier result had count again.
    pub each: bool,
    /// β², by which recall counts more than precision.
    pub beta2: f64,
    /// The value of the sums over these results.
    pub formula: fn(&PassageSums) -> f64,
}

/// Numbers of document positions over the results of passages that count: gold, returned, and all
/// gold.
pub struct PassageSums {
    /// The gold positions, each once.
    pub gold: f64,
    /// The positions, each once or as often as they come.
    pub returned: f64,
    /// The gold positions of the query.
    pub all: f64,
    /// The positions that are gold, or were returned.
    pub either: f64,
    /// β² of the value.
    pub beta2: f64,
}

impl PassageValue {
    /// Computes the measure of a ranking of passages, of which no rank beyond `depth` is looked at.
    pub fn value(&self, ranked: &SpanRanking<'_>, depth: Option<u32>) -> f64 {
        let Self { rel, rank, budget, each, beta2, formula } = *self;
        let ranks = rank.unwrap_or(u32::MAX).min(depth.unwrap_or(u32::MAX));
        let all = ranked.gold(rel);
        // At most 2³² ranks of less than 2³² positions each.
        let (mut length, mut returned, mut gold) = (0u64, 0u64, 0u64);
        for RankedSpan { length: of_rank, new, gold: of_gold } in
            ranked.ranks(rel).take(ranks as usize)
        {
            length += u64::from(of_rank);
            if budget.is_some_and(|budget| length > budget) {
                break;
            }
            returned += u64::from(if each { of_rank } else { new });
            gold += u64::from(of_gold);
        }
        let either = u128::from(returned) + u128::from(all - gold);
        formula(&PassageSums {
            gold: gold as f64,
            returned: returned as f64,
            all: all as f64,
            either: either as f64,
            beta2,
        })
    }
}
