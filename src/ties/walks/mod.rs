//! Closed forms of the expected values of walked measures over tie orders, by name of the measure.
//! The reference defines the state of a walk in a plain ranking.
//!
//! A walk adds terms over several documents at once: a hit and the documents above the hit. Each
//! form here uses linearity: the expectation of a sum over documents is the sum of the expectations
//! of its terms, dependent or not. So a form needs only the joint chances of the *two or three*
//! documents or ranks that a term reads, never the chance of a whole order. In a group of t
//! documents in random order,
//!
//! * a document stands at each of the t ranks with the chance 1/t;
//! * two documents stand at two given ranks with the chance 1/(t(t − 1));
//! * if rank j is taken, the j − 1 ranks above it are a draw without replacement from the other t −
//!   1: hypergeometric;
//! * of m other documents, the number above a given document is 0 … m with equal chance 1/(m + 1),
//!   for the given document is equally likely in each gap.
//!
//! Groups are independent, so a quantity from above a group enters by its expectation wherever a
//! term is linear in the quantity.
//!
//! ```text
//! form             what a term looks at                       cost of a group
//! first gain       the rank of the first hit                  t − h + 1 ranks, h of them hits
//! (NERR8 to 11)
//! bejeweled (BPM)  the rank of the hit wanted last            its ranks
//! BinG             a hit, the others above it                 its ranks, from a table of sums
//! RnDCG            a document's gain                          constant for each change of the
//!                                                             ideal gain
//! nDCGrel          a paid document, the gain of one above it  its ranks
//! Compat           a document, those of its grade above it    for each grade, its ranks times
//!                                                             the width of a draw, some √j
//! ```
//!
//! Not here are G, whose term is a logarithm of the gains above, INST, and whatever goes on by real
//! grades: their state after a group takes too many values to be listed.

mod discounted;
mod overlap;
mod users;

use self::{
    discounted::{bin_g, ndcg_over_changes, ndcg_over_relevant},
    overlap::compatibility,
    users::{bejeweled, first_gain},
};
use super::{folds::FoldTables, tie_segments::TieSegments};
use crate::fold::for_ratio;
use crate::matrix::{Codebook, code::FIRST_GRADE};
use crate::measure::{Measure, table};

/// A function from a ranking with ties to the expected value of a measure.
pub type ClosedForm = Box<dyn Fn(&TieSegments<'_>, &mut FoldTables) -> f64 + Send + Sync>;

/// Returns the closed form of the expected value of a measure that walks, or `None` for a measure
/// without one.
pub fn form(m: &Measure, book: &Codebook) -> Option<ClosedForm> {
    let hits = book.at_least(m.rel());
    let depth = m.number("depth").unwrap_or(1000.0) as usize;
    let most = m.rank().map_or(depth, |rank| depth.min(rank as usize));
    let target = m.number("T").unwrap_or(1.0);
    let form: ClosedForm = match m.definition().name {
        "BinG" => Box::new(move |row, tables| bin_g(row, hits, tables)),
        "RnDCG" => {
            let gain = for_ratio(table::gain_table(m, book).ok()?, book).ok()?;
            Box::new(move |row, tables| ndcg_over_changes(row, hits, &gain, tables))
        }
        "nDCGrel" => {
            let gain = for_ratio(table::gains(m, book).ok()?, book).ok()?;
            // With gains below 0, or more documents that have one than the ideal ranking, a value
            // may be raised to 0.
            let sound = gain.iter().enumerate().all(|(code, &gain)| match code as u8 {
                ..FIRST_GRADE => gain == 0.0,
                _ => gain >= 0.0,
            });
            if !sound {
                return None;
            }
            Box::new(move |row, tables| ndcg_over_relevant(row, &gain, tables))
        }
        "Compat" => {
            let (p, normalize) = (m.number("p").unwrap_or(0.95), m.choice("normalize") != "false");
            Box::new(move |row, tables| compatibility(row, p, normalize, tables))
        }
        _ if m.choice("gain") == "grade" => return None,
        "BPM" => Box::new(move |row, _| bejeweled(row, hits, target, most)),
        "NERR8" => Box::new(first_gain(hits, most, |_| 1.0)),
        "NERR9" => Box::new(first_gain(hits, most, |i| i / (i + 1.0))),
        "NERR10" => {
            let p = m.number("p").unwrap_or(0.9);
            Box::new(first_gain(hits, depth, move |_| p))
        }
        "NERR11" => Box::new(first_gain(hits, depth, move |i| {
            ((i + 2.0 * target - 1.0) / (i + 2.0 * target)).powi(2)
        })),
        _ => return None,
    };
    Some(form)
}
