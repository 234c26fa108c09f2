//! The input, the memory and the tables of logarithms that all walks down a ranking share.

use std::ops::Range;

use crate::matrix::{Document, GradeHistogram};
use crate::sort;

/// The documents of one ranking, with the numbers of its query that a walk reads.
#[derive(Debug, Clone, Copy)]
pub struct WalkInput<'a> {
    /// All documents that matter to the walk, in rank order, and possibly more documents.
    pub documents: &'a [Document],
    /// The number of documents.
    pub depth: usize,
    /// The number of documents of the qrels that carry each code.
    pub facts: GradeHistogram<'a>,
    /// The numbers of the query that the walk needs.
    pub numbers: &'a [f64],
}

/// Memory of the walks down rankings, reused from ranking to ranking.
#[derive(Debug, Default)]
pub struct WalkScratch {
    pub(super) ideal: Vec<(f64, u32)>,
    pub(super) bests: Vec<f64>,
    pub(super) grows: Vec<usize>,
    pub(super) taken: Vec<(u8, usize)>,
    pub(super) overlaps: Overlaps,
}

/// A cache of the overlaps of ideal rankings with themselves, kept from earlier rankings.
#[derive(Debug, Default)]
pub(super) struct Overlaps(pub(super) Vec<(f64, usize, usize, f64)>);

/// A walk down rankings, with its tables, that computes one measure.
pub trait Walker: Sync {
    /// Computes the walk's value of one ranking.
    fn value(&self, row: &WalkInput<'_>, scratch: &mut WalkScratch) -> f64;
}

/// Binary logarithms of whole numbers, the first of them from a table.
pub(super) struct Logarithms(Vec<f64>);

impl Logarithms {
    /// Makes a table of the binary logarithms of the whole numbers below `below`.
    pub(super) fn new(below: usize) -> Self {
        Self((0..below).map(|number| (number as f64).log2()).collect())
    }

    pub(super) fn lg(&self, number: usize) -> f64 {
        self.0.get(number).copied().unwrap_or_else(|| (number as f64).log2())
    }

    /// Returns the binary logarithm of any number, from the table if it has the number.
    pub(super) fn lg_f64(&self, number: f64) -> f64 {
        match self.0.get(number as u32 as usize) {
            Some(&lg) if f64::from(number as u32) == number => lg,
            _ => number.log2(),
        }
    }

    /// Adds to a DCG one gain at each of some ranks (from 0), divided by lg(i + 1) for the i-th
    /// rank.
    pub(super) fn add_discounted(&self, mut sum: f64, gain: f64, ranks: Range<usize>) -> f64 {
        match self.0.get(ranks.start + 2..ranks.end + 2) {
            Some(by) => by.iter().for_each(|by| sum += gain / by),
            None => ranks.for_each(|rank| sum += gain / self.lg(rank + 2)),
        }
        sum
    }
}

/// Collects the gains of a query's ideal ranking, the largest first, each with its number of
/// documents.
pub(super) fn ideal_gains(
    gain: &[f64; 256],
    facts: GradeHistogram<'_>,
    ideal: &mut Vec<(f64, u32)>,
) {
    let gains = facts.judged().rev().map(|(code, count)| (gain[usize::from(code)], count));
    ideal.clear();
    ideal.extend(gains.filter(|&(gain, _)| gain > 0.0));
    // Codes ascend by grade, so the list is out of order only for gains that fall with the grade.
    if !ideal.is_sorted_by(|a, b| a.0 >= b.0) {
        sort::largest_first(ideal);
    }
}

/// Returns the number of documents of an ideal ranking, given as gains with numbers of documents.
pub(super) fn documents(ideal: &[(f64, u32)]) -> usize {
    ideal.iter().map(|&(_, count)| count as usize).sum()
}
