//! Walks down single rankings, from each document that matters to the next, for measures that no
//! fold computes.
//!
//! Discounts, powers and chances depend on ranks alone, so tables hold them, made once. A walk
//! passes all ranks between two documents in one step, because sums stay there or change by known
//! terms. Every value has the bits of sums rank by rank.
//!
//! A plain walk looks at every rank and costs a logarithm, a power or a quotient at most of them.
//! With 20 judged documents among 1000, most ranks have no effect or an effect known beforehand.
//! Three facts let a walk skip such ranks without a bit of difference:
//!
//! * **A term of 0.0 is no term.** Adding 0.0 to a sum other than −0.0 leaves all bits, so a walk
//!   passes ranks of documents without a gain.
//! * **Numbers of ranks alone are in tables,** made once for all rankings by the very operations of
//!   the plain loop (a running product stays a running product), so that a table entry has the bits
//!   of the computed number.
//! * **A term that repeats** is added in a single step for as many ranks as its rounding stays
//!   constant (`repeated`).
//!
//! Documents with their ranks come as lists; a walk never sees labels. With plain walks, whole
//! evaluations of one walked measure took 2.6 to 152 times as long (benches/RESULTS.md).

mod bin_g;
mod changes;
mod cwl;
mod g;
mod overlap;
mod repeated;
mod walker;

use crate::fold::Walk;
pub use walker::{WalkInput, WalkScratch, Walker};

/// The number of ranks whose discounts, powers and chances are in a table. The numbers of deeper
/// ranks are computed on each use.
const TABLED: usize = 1 << 16;
/// The number of ranks in the tables of all walks together, however many walks there are.
const TABLED_BY_ALL: usize = 1 << 21;

/// Prepares the walks of measures, with their tables, for rankings of at most `deepest` ranks.
pub fn walkers<'a>(
    walks: impl ExactSizeIterator<Item = &'a Walk>,
    deepest: usize,
) -> Vec<Box<dyn Walker>> {
    // Tables must not grow with the number of measures: a list of Compat or NERR10 may have
    // thousands of values of p.
    let most = (TABLED_BY_ALL / walks.len().max(1)).min(TABLED);
    walks.map(|walk| walker(walk, deepest, most)).collect()
}

/// Prepares the walk of one measure, with tables of at most `most` ranks.
fn walker(walk: &Walk, deepest: usize, most: usize) -> Box<dyn Walker> {
    let tabled = deepest.min(most);
    // Ideal rankings may be deeper than retrieved ones.
    let ideal = deepest.max(4096).min(most);
    match walk {
        Walk::BinG { hits } => Box::new(bin_g::BinGWalk::new(*hits, tabled)),
        Walk::G { gain } => Box::new(g::GWalk::new(gain.clone(), tabled)),
        Walk::NdcgOverRelevant { gain } => {
            Box::new(changes::NdcgOverRelevantWalk::new(gain.clone(), tabled))
        }
        Walk::NdcgOverChanges { gain } => {
            Box::new(changes::NdcgOverChangesWalk::new(gain.clone(), ideal))
        }
        Walk::Overlap { positive, p, by_ideal } => {
            Box::new(overlap::Overlap::new(*positive, *p, *by_ideal, tabled, ideal))
        }
        Walk::Cwl { gain, depth, goes_on } => {
            Box::new(cwl::CwlWalk::new(gain.clone(), *depth, *goes_on, most))
        }
    }
}
