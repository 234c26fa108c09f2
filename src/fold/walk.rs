//! Walks: states that follow one ranking down along the query's own ideal ranking, or a real-valued
//! chance to go on, as no fold does. Data only.
//!
//! With the gain `g` of the document at rank `i` (from 1), and the gains of the ideal ranking: the
//! positive gains of the judged documents, the largest first, 0 behind them.
//!
//! | walk | state | value |
//! |---|---|---|
//! | [`Walk::BinG`] | h hits | `1 / lg(2 + i − h)` summed over the hits, over the first fact |
//! | [`Walk::G`] | S gained, C of the ideal, at least 1 a rank | `g / lg(2 + C − S)` summed, |
//! | | | over all ideal gains |
//! | [`Walk::NdcgOverRelevant`] | DCG and ideal DCG | their ratio, averaged over the documents |
//! | | | with a positive gain |
//! | [`Walk::NdcgOverChanges`] | DCG and ideal DCG | their ratio, averaged over the ranks |
//! | | | at which the ideal gain changes |
//! | [`Walk::Overlap`] | the overlap with the nearest ideal ranking | `overlap / i · pⁱ⁻¹` |
//! | | | summed, over that of the ideal or all weights |
//! | [`Walk::Cwl`] | the chance to reach i | the mean gain weighted with that chance |
//!
//! A rank without a gain changes none of these sums, so an engine may step from one document that
//! matters to the next.

use super::CodeTable;
use crate::matrix::CodesAbove;
use crate::matrix::code::PAST_END;

/// The kind of a walk down a ranking, with its parameters, for a measure that no fold computes.
#[derive(Debug, Clone, PartialEq)]
pub enum Walk {
    /// The discounted hits; the discount grows with the documents above that are no hits. The first
    /// fact is R.
    BinG {
        /// The codes of the hits.
        hits: CodesAbove,
    },
    /// The gains discounted by their lag behind the ideal ones.
    G {
        /// The gain of each code.
        gain: CodeTable,
    },
    /// nDCG averaged over the documents with a positive gain; documents that were not retrieved
    /// count with the value of the last rank. The first fact is the ideal DCG.
    NdcgOverRelevant {
        /// The gain of each code.
        gain: CodeTable,
    },
    /// nDCG averaged over the ranks at which the ideal gain changes, and the end of a ranking that
    /// is longer than the ideal one by two; 0 if the first fact, R, is 0.
    NdcgOverChanges {
        /// The gain of each code.
        gain: CodeTable,
    },
    /// The rank-biased overlap with the nearest ideal ranking.
    Overlap {
        /// The documents of ideal rankings; a higher code is better.
        positive: CodesAbove,
        /// The persistence.
        p: f64,
        /// Whether the sum is divided by the overlap of the ideal ranking with itself, and not by
        /// all weights.
        by_ideal: bool,
    },
    /// The mean gain weighted with the chance to reach a rank.
    Cwl {
        /// The gain of each code, 0 to 1.
        gain: CodeTable,
        /// The number of ranks to which rankings are cut or padded.
        depth: usize,
        /// The chance to go on from a rank to the next.
        goes_on: Continuation,
    },
}

/// The chance that a user goes on from rank i of a ranking, with the gain g there and G so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Continuation {
    /// 1 while G is less than this number, else 0.
    TargetGain(f64),
    /// `((i + 2T − G − 1) / (i + 2T − G))²`.
    Inst(f64),
    /// `patience(i) · (1 − g)`.
    Unsatisfied(Patience),
}

/// The part of a user's chance to go on that depends on the rank i alone, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Patience {
    /// A constant chance at every rank.
    Same(f64),
    /// `i / (i + 1)`.
    Rank,
    /// `((i + 2T − 1) / (i + 2T))²`.
    InverseSquare(f64),
}

impl Patience {
    /// Returns the user's chance to go on at a rank, from 1, as far as it depends on the rank
    /// alone.
    pub fn at(self, rank: usize) -> f64 {
        let i = rank as f64;
        match self {
            Self::Same(p) => p,
            Self::Rank => i / (i + 1.0),
            Self::InverseSquare(t) => {
                let chance = (i + 2.0 * t - 1.0) / (i + 2.0 * t);
                chance * chance
            }
        }
    }
}

impl Walk {
    /// Returns whether the walk needs the exact grades of documents, not only classes of grades.
    pub fn needs_grades(&self) -> bool {
        match self {
            Walk::BinG { .. } => false,
            Walk::Overlap { .. } => true,
            Walk::G { gain }
            | Walk::NdcgOverRelevant { gain }
            | Walk::NdcgOverChanges { gain }
            | Walk::Cwl { gain, .. } => gain.exact().is_some(),
        }
    }

    /// Returns a set of codes with all the documents of a ranking that matter to the walk.
    pub fn selects(&self) -> CodesAbove {
        match self {
            Walk::BinG { hits: set } | Walk::Overlap { positive: set, .. } => *set,
            Walk::G { gain }
            | Walk::NdcgOverRelevant { gain }
            | Walk::NdcgOverChanges { gain }
            | Walk::Cwl { gain, .. } => {
                let first = (PAST_END + 1..=255).find(|&code| gain[usize::from(code)] != 0.0);
                CodesAbove(first.map_or(255, |code| code - 1))
            }
        }
    }
}
