//! Tied scores: the expected, best and worst value of a measure over the orders of documents with
//! equal scores.
//!
//! A *group* is a stretch of ranks with documents of equal scores and at least two different codes.
//! Every order within a group is equally likely, independently of other groups. The ordered ranking
//! is then cut, unjudged documents are dropped, and the rest is evaluated. If a cut lies inside a
//! group, chance selects the kept documents of the whole group. See McSherry and Najork 2008 for
//! the idea.
//!
//! [`Expectation`] gives a row's mean over all orders, in closed form: its cost grows with the
//! judged documents and the groups, not with the orders. [`Extreme`] gives the best or the worst
//! order, or the value if the order depends on the row. Both follow from a measure's row of the
//! table. A last step that is linear in its numbers is applied to their expectations (`folds`;
//! [`ExpectedColumns`] puts the expectations into the columns of a tile, if groups matter). If the
//! number of hits must be known first, the last step is applied for each possible number. Walks
//! have closed forms (`walks`).

mod columns;
mod expected;
mod first_hit;
mod folds;
mod order;
mod probability;
mod search;
mod selected;
mod support;
mod tie_segments;
mod walks;

pub use columns::ExpectedColumns;
pub use expected::{Expectation, TieScratch};
pub use first_hit::FirstHit;
pub use folds::GrowingSum;
pub use order::{CodeOrder, Extreme, unsupported_reason};
pub use search::ExtremeSearch;
pub use support::Side;
pub use tie_segments::{SegmentBuffers, TieSegments};

use crate::matrix::{Codebook, Document, GradeHistogram, RowTies};

/// A ranking's documents in the qrels, with its groups of tied documents that have different codes.
#[derive(Clone, Copy)]
pub struct TiedRanking<'a> {
    /// The retrieved documents that the qrels name, in rank order, each group in any order. The
    /// other documents are not in the qrels.
    pub documents: &'a [Document],
    /// The number of retrieved documents.
    pub depth: u32,
    /// The facts of the query.
    pub facts: GradeHistogram<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The groups that have different codes, and the documents that were cut off of the last group,
    /// which then ends where the ranking ends.
    pub ties: RowTies<'a>,
}

/// The ways in which documents of a ranking may be dropped before a measure reads it: a depth, or
/// judged documents only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cuts {
    /// Whether rankings may be cut inside a group, because a depth was asked for in the join or in
    /// a view.
    pub depth: bool,
    /// Whether unjudged documents are dropped.
    pub judged_only: bool,
}
