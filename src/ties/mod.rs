//! Tied scores: the expected, best and worst value of a measure over the orders of documents with equal scores.
//!
//! A *group* is a stretch of ranks whose documents have the same score and not all the same code. Every order within a group is
//! equally likely, independently of other groups; then a ranking is cut, unjudged documents are dropped, and it is evaluated. Where a
//! cut lies inside a group, what is kept is chance too, out of the whole group. See McSherry and Najork 2008 for the idea.
//!
//! [`Expectation`] gives a row's mean over all orders, in closed form: what it costs grows with the judged documents and the groups,
//! not with the orders. [`Extreme`] gives the order that is best or worst, or the value where the order depends on the row.
//! Both follow from a measure's row of the table: a last line that is linear in what it reads is finished with the
//! expectations of these (`folds`); where the number of hits has to be known first it is finished for each of them; and measures that
//! walk have forms of their own (`walks`).

mod chance;
mod expected;
mod folds;
mod order;
mod row;
mod search;
mod walks;

pub use expected::{Expectation, Scratch};
pub use order::{Extreme, Key, Side};
pub use row::Row;

use crate::reference::Ranking;

/// Neighbouring ranks of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The first of them, from 0.
    pub start: u32,
    /// How many of them the ranking has.
    pub len: u32,
}

impl Group {
    /// The rank behind it, from 0.
    pub fn end(self) -> usize {
        self.start as usize + self.len as usize
    }
}

/// A ranking with its groups.
#[derive(Debug, Clone, Copy)]
pub struct TiedRanking<'a> {
    /// The ranking, each group in any order.
    pub ranking: Ranking<'a>,
    /// The groups that have different codes, from the top.
    pub groups: &'a [Group],
    /// How many documents of each code the last group has behind the end of the ranking.
    pub cut_off: &'a [(u8, u32)],
}

/// What may stand between a ranking and a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cuts {
    /// May rankings be cut inside a group, when they were joined or by a view?
    pub depth: bool,
    /// Are unjudged documents dropped?
    pub judged_only: bool,
}
