//! The tables that kernels look up, as words: reciprocals, shares, chances, and terms by rank and
//! code.

use std::ops::Range;

use super::fixed;
use super::tasks::{IntegerFold, IntegerProgram};

/// A part of the tables.
#[derive(Debug, Clone, PartialEq)]
pub enum TablePart {
    Reciprocals,
    Shares,
    /// The chances to go on, 1 - stop, of the task with this first column of words.
    GoesOn(u32),
    /// The terms by rank of a task.
    Ranks(u32),
}

/// The number of words that a task looks up for a rank.
pub fn rank_words(kind: &IntegerFold) -> u32 {
    match kind {
        IntegerFold::WeightedSum(terms) => terms.gains.codes() * terms.words(),
        IntegerFold::Cascade(chances) => chances.stops.codes() * 2,
        _ => 0,
    }
}

impl TablePart {
    /// The number of words of the table in a block of `ranks` ranks.
    pub fn words(&self, integers: &IntegerProgram, ranks: u32) -> u32 {
        match self {
            TablePart::Reciprocals => 2 * integers.depth,
            TablePart::Shares => 4 * (integers.depth + 1),
            TablePart::GoesOn(task) => match integers.kind_at(*task) {
                IntegerFold::Cascade(chances) => 2 * chances.stops.codes(),
                _ => unreachable!("only a cascade goes on by a table"),
            },
            TablePart::Ranks(task) => rank_words(integers.kind_at(*task)) * ranks,
        }
    }

    /// Writes the table for a block of ranks.
    pub fn write(&self, integers: &IntegerProgram, ranks: Range<u32>, to: &mut Vec<u32>) {
        let double = |number: u64| [number as u32, (number >> 32) as u32];
        match self {
            TablePart::Reciprocals => {
                to.extend(fixed::reciprocals(integers.depth).flat_map(double))
            }
            TablePart::Shares => {
                to.extend(fixed::inferred_shares(integers.depth).flatten().flat_map(double))
            }
            TablePart::GoesOn(task) => {
                if let IntegerFold::Cascade(chances) = integers.kind_at(*task) {
                    to.extend(
                        (0..chances.stops.codes()).flat_map(|code| double(chances.goes_on(code))),
                    );
                }
            }
            TablePart::Ranks(task) => match integers.kind_at(*task) {
                IntegerFold::WeightedSum(terms) => {
                    let words = terms.words() as usize;
                    for (rank, code) in grid(ranks, terms.gains.codes()) {
                        let term = terms.term(rank, code);
                        to.extend(
                            &[term as u32, (term >> 32) as u32, (term >> 64) as u32][..words],
                        );
                    }
                }
                IntegerFold::Cascade(chances) => {
                    let codes = chances.stops.codes();
                    to.extend(
                        grid(ranks, codes)
                            .flat_map(|(rank, code)| double(chances.term(rank, code))),
                    );
                }
                _ => {}
            },
        }
    }
}

/// The pairs of rank and code, code by code.
fn grid(ranks: Range<u32>, codes: u32) -> impl Iterator<Item = (u32, u32)> {
    ranks.flat_map(move |rank| (0..codes).map(move |code| (rank, code)))
}
