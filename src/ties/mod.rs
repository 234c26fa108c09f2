//! Tied scores: the expected, best and worst value of a measure over the orders of documents with equal scores.
//!
//! A *group* is a stretch of ranks whose documents have the same score and not all the same code. Every order within a group is
//! equally likely, independently of other groups; then a ranking is cut, unjudged documents are dropped, and it is evaluated. Where a
//! cut lies inside a group, what is kept is chance too, out of the whole group. See McSherry and Najork 2008 for the idea.
//!
//! [`Expectation`] gives a row's mean over all orders, in closed form: what it costs grows with the judged documents and the groups,
//! not with the orders. [`Extreme`] gives the order that is best or worst, or the value where the order depends on the row.
//! Both follow from a measure's row of the table: a last line that is linear in what it reads is finished with the
//! expectations of these (`folds`; [`ExpectedColumns`] puts them into the columns of a tile, where groups matter); where the number of hits has to be known first it is finished for each of them; and measures that
//! walk have forms of their own (`walks`).

mod chance;
mod columns;
mod expected;
mod folds;
mod order;
mod row;
mod search;
mod walks;

pub use columns::{ExpectedColumns, FirstHit, PrecisionOfGroup};
pub use expected::{Expectation, Scratch};
pub use order::{Extreme, Key, Searched, Side, refused};
pub use row::{Pieces, Row};

use crate::label::{Codebook, Document, QueryFacts, RowTies};

/// A ranking with its mixed groups.
#[derive(Debug, Clone, Copy)]
pub struct TiedRanking<'a> {
    /// The retrieved documents that the qrels name, in rank order, each group in any order. The others are not in the qrels.
    pub documents: &'a [Document],
    /// How many documents were retrieved.
    pub depth: u32,
    /// What the qrels know of the query.
    pub facts: QueryFacts<'a>,
    /// What the codes mean.
    pub book: &'a Codebook,
    /// The groups that have different codes, and what was cut off of the last one, which then ends where the ranking ends.
    pub ties: RowTies<'a>,
}

/// What may stand between a ranking and a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cuts {
    /// May rankings be cut inside a group: was any depth asked for, when they were joined or by a view?
    pub depth: bool,
    /// Are unjudged documents dropped?
    pub judged_only: bool,
}
