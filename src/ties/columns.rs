//! The expected columns of a program over the orders of equal scores, in place of the columns that
//! an engine found in one order.
//!
//! Most groups do not change most columns. A count is the same in every order, unless a group lies
//! across its cutoff. A sum does not change by a group whose documents are all alike to it, or that
//! begins behind the cutoff. If a group matters, sums are added up again from the documents that
//! count, as the plain formula adds them, with one term a group.

use super::TiedRanking;
use super::expected::{TieScratch, of_fold};
use super::folds::{self, GrowingSum, Inside};
use super::heeded::Next;
use super::row::{RankingPieces, ReadPiece};
use crate::fold::{Columns, Cut, Fold, Program};
use crate::matrix::code::UNPOOLED;
use crate::matrix::{Above, Document, RowTies, View};

/// The expected columns of a program, for measures that are linear in these columns.
pub struct ExpectedColumns {
    tasks: Vec<ExpectedTask>,
    /// The documents that any of the columns heeds.
    heeded: Above,
    /// The precision sums, which are added up for all lanes of a tile together.
    precisions: Vec<ExpectedPrecisionSum>,
    /// The cutoffs of counts.
    counted: Vec<Cut>,
    /// The deepest rank of any other sum.
    summed: u32,
    /// The deepest rank of counts and other sums.
    deepest: u32,
}

/// A precision sum that is read at some ranks, ascending, the end being the largest.
pub struct ExpectedPrecisionSum {
    /// The codes of the hits.
    pub hits: Above,
    /// The ranks at which the sum is read.
    pub cuts: Vec<u32>,
    /// The first column of the sum.
    pub column: usize,
}

/// A precision sum down to a group, with the expected hits.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrecisionOfTie {
    /// The expected hits.
    pub hits: f64,
    /// The expected sum.
    pub sum: f64,
}

impl PrecisionOfTie {
    /// Adds the first `read` ranks of a group that begins at rank `start` (from 0) and has `size`
    /// documents, `hits` of which are hits.
    pub fn and(
        self,
        start: u32,
        (size, hits): (u32, u32),
        read: u32,
        scratch: &mut TieScratch,
    ) -> Self {
        let (size, hits, read) = (size as usize, hits as usize, read as usize);
        let mut state = GrowingSum { hits: self.hits, sum: self.sum };
        let part = ReadPiece::new(start as usize, size, read, &[]);
        folds::precision_sum(&mut state, part, Inside { size, hits }, &mut scratch.tables.sums);
        PrecisionOfTie { hits: state.hits, sum: state.sum }
    }
}

struct ExpectedTask {
    fold: Fold,
    cuts: Vec<Cut>,
    column: usize,
}

/// Returns the set of documents that a fold adds up, for a fold over one set. The fold treats all
/// documents outside of the set alike; `None` for the other folds.
fn heeds(fold: &Fold) -> Option<Above> {
    match fold {
        Fold::Count(set) => Some(*set),
        Fold::WeightedSum { gain, .. } => {
            let none = (UNPOOLED..=u8::MAX).take_while(|&code| gain[usize::from(code)] == 0.0);
            none.last().map(Above)
        }
        _ => None,
    }
}

// Every retrieved document is a hit of the set of all retrieved documents, so a fold over this set
// does not depend on their order. Histograms always go to the end of the ranking.
/// Whether a fold has the same value in every order.
fn is_fixed(fold: &Fold) -> bool {
    match fold {
        Fold::Count(set) | Fold::PrecisionSum(set) | Fold::PairSum(set) => *set == Above::RETRIEVED,
        Fold::Histogram => true,
        _ => false,
    }
}

impl ExpectedColumns {
    /// Selects, from `columns` of a program, the columns that take their expectation over tie
    /// orders.
    pub fn of(program: &Program, columns: &[usize]) -> Self {
        let mut expected = ExpectedColumns {
            tasks: Vec::new(),
            heeded: Above(u8::MAX),
            precisions: Vec::new(),
            counted: Vec::new(),
            summed: 0,
            deepest: 0,
        };
        let mut column = 0;
        for task in &program.tasks {
            let of_task = column..column + task.columns();
            column = of_task.end;
            if is_fixed(&task.fold) || !columns.iter().any(|column| of_task.contains(column)) {
                continue;
            }
            if let Fold::PrecisionSum(hits) = task.fold {
                let cuts = task.cuts.iter().map(|&cut| rank(cut, |_| u32::MAX)).collect();
                expected.precisions.push(ExpectedPrecisionSum {
                    hits,
                    cuts,
                    column: of_task.start,
                });
                continue;
            }
            expected.heeded = expected.heeded.min(heeds(&task.fold).unwrap_or(Above::POOLED));
            let deepest = task.cuts.iter().map(|&cut| rank(cut, |_| u32::MAX)).max().unwrap_or(0);
            expected.deepest = expected.deepest.max(deepest);
            if let Fold::Count(_) = task.fold {
                expected.counted.extend(&task.cuts);
            } else {
                expected.summed = expected.summed.max(deepest);
            }
            let (fold, cuts) = (task.fold.clone(), task.cuts.clone());
            expected.tasks.push(ExpectedTask { fold, cuts, column: of_task.start });
        }
        expected
    }

    /// The precision sums. [`ExpectedColumns`] leaves the columns of precision sums unchanged.
    pub fn precisions(&self) -> &[ExpectedPrecisionSum] {
        &self.precisions
    }

    /// The documents needed for the columns other than [`Self::precisions`].
    pub fn heeded(&self) -> Above {
        self.heeded
    }

    /// The ranks of a row down to which documents have to be known; 0 if no group matters. `end`
    /// ranks of the row are kept; the labels and the inputs of its query are given.
    pub fn reach(
        &self,
        ties: RowTies<'_>,
        end: u32,
        label: impl Fn(u32) -> u8,
        input: impl Fn(usize) -> u32,
    ) -> u32 {
        /// The most labels that are looked at before documents are gathered.
        const FEW: u32 = 16;
        let mut reach = 0;
        let end = end.min(self.deepest);
        for (at, group) in (1..).zip(ties.groups).take_while(|(_, group)| group.start < end) {
            let is_cut = at == ties.groups.len() && !ties.cut.is_empty();
            let is_across = |cut: &Cut| {
                let cut = rank(*cut, &input).min(end);
                group.start < cut && (cut < group.end() || is_cut)
            };
            let summed = if group.start < self.summed { self.summed.min(end) } else { 0 };
            if summed == 0 && !self.counted.iter().any(is_across) {
                continue;
            }
            let heeds = |rank| self.heeded.contains(label(rank));
            if is_cut || group.length > FEW || (group.start..group.end()).any(heeds) {
                reach = reach.max(group.end()).max(summed);
            }
        }
        reach
    }

    /// Replaces the values of a row in its lane of the columns. `documents` are the documents that
    /// are heeded, down to the row's reach.
    pub fn replace(
        &self,
        tied: &TiedRanking<'_>,
        view: View,
        input: impl Fn(usize) -> u32,
        (columns, lane): (&mut Columns, usize),
        scratch: &mut TieScratch,
    ) {
        let end = view.depth.map_or(tied.depth, |kept| kept.min(tied.depth));
        let mut groups = std::mem::take(&mut scratch.groups);
        groups.fill(tied, end, self.heeded);
        let mut row = None;
        for ExpectedTask { fold, cuts, column } in &self.tasks {
            let cuts = cuts.iter().map(|&cut| rank(cut, &input).min(end));
            let place = |at: usize| (column + at) * columns.lanes + lane;
            match fold {
                Fold::Count(set) => cuts.enumerate().for_each(|(at, cut)| {
                    groups.count(tied.documents, *set, cut, &mut columns.values[place(at)]);
                }),
                Fold::WeightedSum { gain, discount } if heeds(fold).is_some() => {
                    if !groups.any(cuts.clone().max(), |part| part.shared(gain).is_none()) {
                        continue;
                    }
                    let sums = &mut scratch.tables.sums;
                    let step = |sum: &mut f64, next: Next<'_>| match next {
                        Next::Document(Document { rank, code }) => {
                            let (rank, gain) = (rank as usize, gain[usize::from(code)]);
                            *sum += sums.of(*discount, rank + 1).term(gain, rank);
                        }
                        Next::Group(part) => folds::weighted_sum(sum, part, gain, *discount, sums),
                    };
                    groups.walk(tied.documents, cuts, step, |at, sum| {
                        columns.values[place(at)] = sum
                    });
                }
                fold => {
                    let row = row.get_or_insert_with(|| {
                        RankingPieces::new(tied, view, std::mem::take(&mut scratch.pieces))
                    });
                    for (at, cut) in
                        cuts.enumerate().filter(|&(_, cut)| tied.ties.groups[0].start < cut)
                    {
                        columns.values[place(at)] =
                            of_fold(fold, cut as usize, row, &mut scratch.tables);
                    }
                }
            }
        }
        if let Some(row) = row {
            scratch.pieces = row.into_pieces();
        }
        scratch.groups = groups;
    }
}

/// The rank of a cut.
fn rank(cut: Cut, input: impl Fn(usize) -> u32) -> u32 {
    match cut {
        Cut::At(rank) => rank,
        Cut::End => u32::MAX,
        Cut::PerQuery(at) => input(at),
    }
}
