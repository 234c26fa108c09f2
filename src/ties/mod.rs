//! Tied scores: the expected, best and worst value of a measure over the orders of documents with
//! equal scores.
//!
//! A *group* is a stretch of ranks whose documents have the same score and not all the same code.
//! Every order within a group is equally likely, independently of other groups; then a ranking is
//! cut, unjudged documents are dropped, and it is evaluated. If a cut lies inside a group, it is
//! chance which documents of the whole group are kept. See McSherry and Najork 2008 for the idea.
//!
//! [`Expectation`] gives a row's mean over all orders, in closed form: its cost grows with the
//! judged documents and the groups, not with the orders. [`Extreme`] gives the order that is best
//! or worst, or the value if the order depends on the row. Both follow from a measure's row of the
//! table. A last step that is linear in the numbers that it reads is finished with the expectations
//! of these (`folds`; [`ExpectedColumns`] puts them into the columns of a tile, if groups matter).
//! If the number of hits has to be known first, it is finished for each number. Measures that walk
//! have forms of their own (`walks`).

mod chance;
mod columns;
mod expected;
mod first_hit;
mod folds;
mod heeded;
mod known;
mod order;
mod row;
mod search;
mod walks;

pub use columns::{ExpectedColumns, PrecisionOfTie};
pub use expected::{Expectation, TieScratch};
pub use first_hit::FirstHit;
pub use known::Side;
pub use order::{CodeOrder, Extreme, Searched, refused};
pub use row::{Pieces, RankingPieces};

use crate::label::{Codebook, Document, QueryFacts, RowTies};

/// A ranking with its mixed groups.
#[derive(Debug, Clone, Copy)]
pub struct TiedRanking<'a> {
    /// The retrieved documents that the qrels name, in rank order, each group in any order. The
    /// other documents are not in the qrels.
    pub documents: &'a [Document],
    /// The number of retrieved documents.
    pub depth: u32,
    /// The facts of the query.
    pub facts: QueryFacts<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The groups that have different codes, and the documents that were cut off of the last group,
    /// which then ends where the ranking ends.
    pub ties: RowTies<'a>,
}

/// The cuts between a ranking and a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cuts {
    /// Whether rankings may be cut inside a group, because a depth was asked for in the join or in
    /// a view.
    pub depth: bool,
    /// Whether unjudged documents are dropped.
    pub judged_only: bool,
}
