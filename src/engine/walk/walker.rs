//! What every walk has: a ranking, memory, and tables of logarithms.

use std::ops::Range;

use crate::matrix::{Above, Document, QueryFacts};
use crate::sort;

/// One ranking for a walk.
#[derive(Debug, Clone, Copy)]
pub struct Walked<'a> {
    /// All documents that matter to the walk, in rank order, and possibly more documents.
    pub documents: &'a [Document],
    /// The number of documents.
    pub depth: usize,
    /// The number of documents of the qrels that carry each code.
    pub facts: QueryFacts<'a>,
    /// The numbers of the query that the walk needs.
    pub numbers: &'a [f64],
}

/// Memory reused from ranking to ranking.
#[derive(Debug, Default)]
pub struct WalkScratch {
    pub(super) ideal: Vec<(f64, u32)>,
    pub(super) bests: Vec<f64>,
    pub(super) grows: Vec<usize>,
    pub(super) taken: Vec<(u8, usize)>,
    pub(super) overlaps: Overlaps,
}

/// Overlaps of ideal rankings with themselves, kept from earlier rankings.
#[derive(Debug, Default)]
pub(super) struct Overlaps(pub(super) Vec<(f64, usize, usize, f64)>);

/// A walk with its tables.
pub trait Walker: Sync {
    /// Computes the value of a ranking.
    fn value(&self, row: &Walked<'_>, scratch: &mut WalkScratch) -> f64;
}

/// lg of whole numbers, the first of them from a table.
pub(super) struct Logarithms(Vec<f64>);

impl Logarithms {
    /// Makes a table of the logarithms of numbers below `below`.
    pub(super) fn new(below: usize) -> Self {
        Logarithms((0..below).map(|number| (number as f64).log2()).collect())
    }

    pub(super) fn of(&self, number: usize) -> f64 {
        self.0.get(number).copied().unwrap_or_else(|| (number as f64).log2())
    }

    /// lg of any number.
    pub(super) fn of_any(&self, number: f64) -> f64 {
        match self.0.get(number as u32 as usize) {
            Some(&lg) if f64::from(number as u32) == number => lg,
            _ => number.log2(),
        }
    }

    /// Adds to a sum one gain at each of some ranks (from 0), divided by lg(i + 1).
    pub(super) fn add_discounted(&self, mut sum: f64, gain: f64, ranks: Range<usize>) -> f64 {
        match self.0.get(ranks.start + 2..ranks.end + 2) {
            Some(by) => by.iter().for_each(|by| sum += gain / by),
            None => ranks.for_each(|rank| sum += gain / self.of(rank + 2)),
        }
        sum
    }
}

/// The gains of an ideal ranking, the largest first, each with the number of documents that have
/// it.
pub(super) fn ideal_gains(gain: &[f64; 256], facts: QueryFacts<'_>, ideal: &mut Vec<(f64, u32)>) {
    let judged = facts.iter().rev().filter(|&(code, _)| Above::JUDGED.contains(code));
    let gains = judged.map(|(code, count)| (gain[usize::from(code)], count));
    ideal.clear();
    ideal.extend(gains.filter(|&(gain, _)| gain > 0.0));
    if !ideal.is_sorted_by(|a, b| a.0 >= b.0) {
        sort::largest_first(ideal);
    }
}

/// The number of documents of an ideal ranking.
pub(super) fn documents(ideal: &[(f64, u32)]) -> usize {
    ideal.iter().map(|&(_, count)| count as usize).sum()
}

/// a / b, and 0 if b is 0.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}
