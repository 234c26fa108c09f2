//! The expected fold columns of a program over the orders of equal scores, in place of the columns
//! that an engine found in one order.
//!
//! Most groups do not change most columns. A count is the same in every order, unless a group lies
//! across its cutoff. A sum does not change by a group whose documents are all alike to it, or that
//! begins behind the cutoff. If a group matters, sums are added up again from the documents that
//! count, as the plain formula adds them, with one term a group.

use super::{
    TiedRanking,
    expected::{TieScratch, fold_expectation},
    folds::{self, GrowingSum, PrefixHits},
    selected::RankingItem,
    tie_segments::{SegmentPrefix, TieSegments},
};
use crate::fold::{Columns, Cut, Fold, Program, Task};
use crate::matrix::{CodesAbove, Document, RowTies, View, code::NOT_IN_QRELS};

/// The columns of a program that get their expected values over tie orders, for measures that are
/// linear in these columns.
pub struct ExpectedColumns {
    /// The tasks, each with its first column.
    tasks: Vec<(Task, usize)>,
    /// The documents that any of the columns heeds, but for `precisions`.
    pub heeded: CodesAbove,
    /// The precision sums, which are added up for all lanes of a tile together, and whose columns
    /// are left unchanged here.
    pub precisions: Vec<ExpectedPrecisionSum>,
    /// The cutoffs of counts.
    counted: Vec<Cut>,
    /// The deepest rank of any other sum.
    summed: u32,
    /// The deepest rank of counts and other sums.
    deepest: u32,
}

/// A precision sum that gets its expected values over tie orders at some ranks, ascending, the end
/// being the largest.
pub struct ExpectedPrecisionSum {
    /// The codes of the hits.
    pub hits: CodesAbove,
    /// The ranks at which the sum is read.
    pub cuts: Vec<u32>,
    /// The first column of the sum.
    pub column: usize,
}

impl GrowingSum {
    /// Adds the first `read` ranks of a group of tied documents to the expected sum of precisions
    /// and number of hits. The group begins at index `start`; `hits` of its `size` documents are
    /// hits.
    pub fn and_precisions(
        mut self,
        start: u32,
        size: u32,
        hits: u32,
        read: u32,
        scratch: &mut TieScratch,
    ) -> Self {
        let (size, hits, read) = (size as usize, hits as usize, read as usize);
        let part = SegmentPrefix { above: start as usize, size, read, counts: &[] };
        folds::precision_sum(&mut self, part, PrefixHits { size, hits }, &mut scratch.tables.sums);
        self
    }
}

/// Returns the set of documents that a fold adds up, for a fold over one set. The fold treats all
/// documents outside of the set alike; `None` for the other folds.
fn heeds(fold: &Fold) -> Option<CodesAbove> {
    match fold {
        Fold::Count(set) => Some(*set),
        Fold::WeightedSum { gain, .. } => {
            let none = (NOT_IN_QRELS..=u8::MAX).take_while(|&code| gain[usize::from(code)] == 0.0);
            none.last().map(CodesAbove)
        }
        _ => None,
    }
}

// Every retrieved document is a hit of the set of all retrieved documents, so a fold over this set
// does not depend on their order. Histograms always go to the end of the ranking.
/// Returns whether a fold has the same value in every order of tied documents.
fn is_fixed(fold: &Fold) -> bool {
    match fold {
        Fold::Count(set) | Fold::PrecisionSum(set) | Fold::PairSum(set) => {
            *set == CodesAbove::RETRIEVED
        }
        Fold::Histogram => true,
        _ => false,
    }
}

impl ExpectedColumns {
    /// Selects, from `columns` of a program, the columns that take their expected value over tie
    /// orders.
    pub fn select(program: &Program, columns: &[usize]) -> Self {
        let mut expected = Self {
            tasks: Vec::new(),
            heeded: CodesAbove(u8::MAX),
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
            let cuts: Vec<u32> =
                task.cuts.iter().map(|cut| cut.fixed_rank().unwrap_or(u32::MAX)).collect();
            let column = of_task.start;
            if let Fold::PrecisionSum(hits) = task.fold {
                expected.precisions.push(ExpectedPrecisionSum { hits, cuts, column });
                continue;
            }
            expected.heeded =
                expected.heeded.min(heeds(&task.fold).unwrap_or(CodesAbove::IN_QRELS));
            let deepest = cuts.into_iter().max().unwrap_or(0);
            expected.deepest = expected.deepest.max(deepest);
            if let Fold::Count(_) = task.fold {
                expected.counted.extend(&task.cuts);
            } else {
                expected.summed = expected.summed.max(deepest);
            }
            expected.tasks.push((task.clone(), column));
        }
        expected
    }

    /// Returns the number of ranks of a ranking down to which documents have to be known; 0 if no
    /// group of tied documents matters. `end` ranks of the row are kept; the labels and the inputs
    /// of its query are given.
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
            let summed = if group.start < self.summed { self.summed.min(end) } else { 0 };
            if summed == 0
                && !self.counted.iter().any(|cut| {
                    let cut = rank(*cut, &input).min(end);
                    group.start < cut && (cut < group.end() || is_cut)
                })
            {
                continue;
            }
            if is_cut
                || group.length > FEW
                || (group.start..group.end()).any(|rank| self.heeded.contains(label(rank)))
            {
                reach = reach.max(group.end()).max(summed);
            }
        }
        reach
    }

    /// Replaces the values of a ranking, in its lane of the columns, by their expectations over tie
    /// orders. `documents` are the documents that are heeded, down to the row's reach.
    pub fn replace(
        &self,
        tied: &TiedRanking<'_>,
        view: View,
        input: impl Fn(usize) -> u32,
        columns: &mut Columns,
        lane: usize,
        scratch: &mut TieScratch,
    ) {
        let end = view.depth.map_or(tied.depth, |limit| limit.min(tied.depth));
        let mut groups = std::mem::take(&mut scratch.groups);
        groups.fill(tied, end, self.heeded);
        let (values, lanes) = (&mut columns.values, columns.lanes);
        // Counts and weighted sums need no pieces, so the first other fold makes the pieces.
        let mut row = None;
        for (Task { fold, cuts }, column) in &self.tasks {
            let cuts = cuts.iter().map(|&cut| rank(cut, &input).min(end));
            let first = column * lanes + lane;
            match fold {
                Fold::Count(set) => cuts.enumerate().for_each(|(at, cut)| {
                    groups.count(tied.documents, *set, cut, &mut values[first + at * lanes]);
                }),
                Fold::WeightedSum { gain, discount } if heeds(fold).is_some() => {
                    if !groups.any(cuts.clone().max(), |part| part.shared(gain).is_none()) {
                        continue;
                    }
                    let sums = &mut scratch.tables.sums;
                    groups.walk(
                        tied.documents,
                        cuts,
                        |sum: &mut f64, next| match next {
                            RankingItem::Document(Document { rank, code }) => {
                                let (rank, gain) = (rank as usize, gain[usize::from(code)]);
                                *sum += sums.get(*discount, rank + 1).term(gain, rank);
                            }
                            RankingItem::Group(part) => {
                                folds::weighted_sum(sum, part, gain, *discount, sums)
                            }
                        },
                        |at, sum| values[first + at * lanes] = sum,
                    );
                }
                fold => {
                    let row = row.get_or_insert_with(|| {
                        TieSegments::new(tied, view, std::mem::take(&mut scratch.pieces))
                    });
                    for (at, cut) in
                        cuts.enumerate().filter(|&(_, cut)| tied.ties.groups[0].start < cut)
                    {
                        values[first + at * lanes] =
                            fold_expectation(fold, cut as usize, row, &mut scratch.tables);
                    }
                }
            }
        }
        if let Some(row) = row {
            scratch.pieces = row.buffers;
        }
        scratch.groups = groups;
    }
}

/// Returns the rank of a cutoff, which may be a number of the query.
fn rank(cut: Cut, input: impl Fn(usize) -> u32) -> u32 {
    match cut {
        Cut::At(rank) => rank,
        Cut::End => u32::MAX,
        Cut::PerQuery(at) => input(at),
    }
}
