//! The tables that GPU kernels look up, as words: reciprocals, shares, chances, and terms by rank
//! and code.

use std::ops::Range;

use super::fixed;
use super::tasks::{IntegerFold as Fold, IntegerProgram};

/// One of the tables that a GPU kernel looks up, such as reciprocals of ranks or terms by rank and
/// code.
#[derive(Debug, Clone, PartialEq)]
pub enum TablePart {
    Reciprocals,
    Shares,
    /// The chances to go on, 1 - stop, of the task with this first column of words.
    Continuation(u32),
    /// The terms by rank of a task.
    Ranks(u32),
}

/// Returns the number of words that a fold has for each rank in the tables of its GPU kernel.
pub fn rank_words(kind: &Fold) -> u32 {
    match kind {
        Fold::WeightedSum(terms) => terms.gains.codes() * terms.words(),
        Fold::Cascade(chances) => chances.stops.codes() * 2,
        _ => 0,
    }
}

impl TablePart {
    /// Returns the number of words of the lookup table in a block of `ranks` ranks.
    pub fn words(&self, integers: &IntegerProgram, ranks: u32) -> u32 {
        match self {
            Self::Reciprocals => 2 * integers.depth,
            Self::Shares => 4 * (integers.depth + 1),
            Self::Continuation(task) => match integers.kind_at(*task) {
                Fold::Cascade(chances) => 2 * chances.stops.codes(),
                _ => unreachable!("only a cascade goes on by a table"),
            },
            Self::Ranks(task) => rank_words(integers.kind_at(*task)) * ranks,
        }
    }

    /// Writes the words of the lookup table for a block of ranks.
    pub fn write(&self, integers: &IntegerProgram, ranks: Range<u32>, to: &mut Vec<u32>) {
        match self {
            Self::Reciprocals => to.extend(fixed::reciprocals(integers.depth).flat_map(split)),
            Self::Shares => {
                to.extend(fixed::inferred_shares(integers.depth).flatten().flat_map(split))
            }
            Self::Continuation(task) => {
                if let Fold::Cascade(chances) = integers.kind_at(*task) {
                    let chances = (0..chances.stops.codes()).map(|code| chances.continuation(code));
                    to.extend(chances.flat_map(split));
                }
            }
            Self::Ranks(task) => match integers.kind_at(*task) {
                Fold::WeightedSum(terms) => {
                    let words = terms.words() as usize;
                    for (rank, code) in grid(ranks, terms.gains.codes()) {
                        let term = terms.term(rank, code);
                        to.extend(
                            &[term as u32, (term >> 32) as u32, (term >> 64) as u32][..words],
                        );
                    }
                }
                Fold::Cascade(chances) => {
                    let terms = grid(ranks, chances.stops.codes());
                    to.extend(terms.flat_map(|(rank, code)| split(chances.term(rank, code))));
                }
                _ => {}
            },
        }
    }
}

/// Splits a 64-bit number into two words, the low word first.
pub fn split(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns all pairs of a rank and a code, rank by rank.
fn grid(ranks: Range<u32>, codes: u32) -> impl Iterator<Item = (u32, u32)> {
    ranks.flat_map(move |rank| (0..codes).map(move |code| (rank, code)))
}
