//! Walks down single rankings, from one document that matters to the next.
//!
//! Discounts, powers and chances depend on ranks alone and are in tables that are made once. The ranks between two documents are passed
//! together: no sum changes there, or only by known terms. Every value has the bits of the sums rank by rank.

mod changes;
mod lag;
mod overlap;
mod rate;
mod repeated;
mod surplus;

use std::ops::Range;

use crate::fold::Walk;
pub use crate::label::Document;
use crate::label::{Above, QueryFacts};
use crate::sort;

/// The number of ranks whose discounts, powers and chances are in a table. For deeper ranks they are computed one by one.
const TABLED: usize = 1 << 16;
/// The number of ranks in the tables of all walks together, however many walks there are.
const TABLED_BY_ALL: usize = 1 << 21;

/// One ranking for a walk.
#[derive(Debug, Clone, Copy)]
pub struct Walked<'a> {
    /// The documents that matter to the walk, and possibly others, in rank order.
    pub documents: &'a [Document],
    /// The number of documents.
    pub depth: usize,
    /// The number of documents of the qrels that carry each code.
    pub facts: QueryFacts<'a>,
    /// The facts that the walk needs.
    pub numbers: &'a [f64],
}

/// Memory that is used again from ranking to ranking.
#[derive(Debug, Default)]
pub struct WalkScratch {
    ideal: Vec<(f64, u32)>,
    bests: Vec<f64>,
    grows: Vec<usize>,
    taken: Vec<(u8, usize)>,
    overlaps: overlap::Overlaps,
}

/// A walk with its tables.
pub trait Walker: Sync {
    /// Computes the value of a ranking.
    fn value(&self, row: &Walked<'_>, scratch: &mut WalkScratch) -> f64;
}

/// Prepares walks for rankings of at most `deepest` ranks.
pub fn walkers<'a>(walks: impl ExactSizeIterator<Item = &'a Walk>, deepest: usize) -> Vec<Box<dyn Walker>> {
    let most = (TABLED_BY_ALL / walks.len().max(1)).min(TABLED);
    walks.map(|walk| walker(walk, deepest, most)).collect()
}

/// Prepares a walk, with tables of at most `most` ranks.
fn walker(walk: &Walk, deepest: usize, most: usize) -> Box<dyn Walker> {
    let tabled = deepest.min(most);
    // Ideal rankings may be deeper than retrieved ones.
    let ideal = deepest.max(4096).min(most);
    match walk {
        Walk::Surplus { hits } => Box::new(surplus::Surplus::new(*hits, tabled)),
        Walk::Lag { gain } => Box::new(lag::Lag::new(gain.clone(), tabled)),
        Walk::AtGains { gain } => Box::new(changes::AtGains::new(gain.clone(), tabled)),
        Walk::AtChanges { gain } => Box::new(changes::AtChanges::new(gain.clone(), ideal)),
        Walk::Overlap { positive, p, by_ideal } => {
            Box::new(overlap::Overlap::new(*positive, *p, *by_ideal, tabled, ideal))
        }
        Walk::GainRate { gain, depth, goes_on } => {
            Box::new(rate::GainRate::new(gain.clone(), *depth, *goes_on, most))
        }
    }
}

/// lg of whole numbers, the first of them from a table.
struct Logarithms(Vec<f64>);

impl Logarithms {
    /// Makes a table of the logarithms of numbers below `below`.
    fn new(below: usize) -> Self {
        Logarithms((0..below).map(|number| (number as f64).log2()).collect())
    }

    fn of(&self, number: usize) -> f64 {
        self.0.get(number).copied().unwrap_or_else(|| (number as f64).log2())
    }

    /// lg of any number.
    fn of_any(&self, number: f64) -> f64 {
        match self.0.get(number as u32 as usize) {
            Some(&lg) if f64::from(number as u32) == number => lg,
            _ => number.log2(),
        }
    }

    /// Adds to a sum one gain at each of some ranks (from 0), divided by lg(i + 1).
    fn add_discounted(&self, mut sum: f64, gain: f64, ranks: Range<usize>) -> f64 {
        match self.0.get(ranks.start + 2..ranks.end + 2) {
            Some(by) => by.iter().for_each(|by| sum += gain / by),
            None => ranks.for_each(|rank| sum += gain / self.of(rank + 2)),
        }
        sum
    }
}

/// The gains of an ideal ranking, the largest first, each with the number of documents that have it.
fn ideal_gains(gain: &[f64; 256], facts: QueryFacts<'_>, ideal: &mut Vec<(f64, u32)>) {
    let judged = facts.iter().rev().filter(|&(code, _)| Above::JUDGED.contains(code));
    let gains = judged.map(|(code, count)| (gain[usize::from(code)], count));
    ideal.clear();
    ideal.extend(gains.filter(|&(gain, _)| gain > 0.0));
    if !ideal.is_sorted_by(|a, b| a.0 >= b.0) {
        sort::largest_first(ideal);
    }
}

/// The number of documents of an ideal ranking.
fn documents(ideal: &[(f64, u32)]) -> usize {
    ideal.iter().map(|&(_, count)| count as usize).sum()
}

/// a / b, and 0 if b is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}
