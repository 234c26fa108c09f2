//! The expected columns of a program over the orders of equal scores, in place of the columns that an engine found in one order.
//!
//! Most groups do not change most columns. A count is the same in every order, unless a group lies across its cutoff. A sum does not change
//! by a group whose documents are all alike to it, or that begins behind the cutoff. If a group matters, sums are added up again from the
//! documents that count, as the plain formula adds them, with one term a group.

use std::ops::Range;

use super::expected::{Scratch, of_fold};
use super::folds::{self, Inside, Walked};
use super::row::{Part, Row};
use super::{TiedRanking, row};
use crate::fold::{Columns, Cut, Fold, Program};
use crate::label::code::UNPOOLED;
use crate::label::{Above, Document, RowTies, TiedGroup, View};

/// The columns of a program that have expectations, and are read by measures that are linear in them.
pub struct ExpectedColumns {
    tasks: Vec<Task>,
    /// The documents that any of the columns heeds.
    heeded: Above,
    /// The precision sums, which are added up for all lanes of a tile together.
    precisions: Vec<PrecisionSum>,
    /// The cutoffs of counts.
    counted: Vec<Cut>,
    /// The deepest rank of any other sum.
    summed: u32,
    /// The deepest rank of counts and other sums.
    deepest: u32,
}

/// A precision sum that is read at some ranks, ascending, the end being the largest.
pub struct PrecisionSum {
    /// The codes of the hits.
    pub hits: Above,
    /// The ranks at which the sum is read.
    pub cuts: Vec<u32>,
    /// The first column of the sum.
    pub column: usize,
}

/// A precision sum down to a group, with the expected hits.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrecisionOfGroup {
    /// The expected hits.
    pub hits: f64,
    /// The expected sum.
    pub sum: f64,
}

impl PrecisionOfGroup {
    /// Adds the first `read` ranks of a group that begins at rank `start` (from 0) and has `size` documents, `hits` of which are hits.
    pub fn and(self, start: u32, (size, hits): (u32, u32), read: u32, scratch: &mut Scratch) -> Self {
        let (size, hits, read) = (size as usize, hits as usize, read as usize);
        let mut state = Walked { hits: self.hits, sum: self.sum };
        let part = Part::new(start as usize, size, read, &[]);
        folds::precision_sum(&mut state, part, Inside { size, hits }, &mut scratch.tables.sums);
        PrecisionOfGroup { hits: state.hits, sum: state.sum }
    }
}

struct Task {
    fold: Fold,
    cuts: Vec<Cut>,
    column: usize,
}

/// A group with documents that are heeded.
#[derive(Debug)]
pub(super) struct Heeded {
    start: u32,
    /// The number of its documents, those that were cut off included.
    size: u32,
    /// The documents of the group that are heeded, as indices.
    documents: Range<usize>,
    counts: Range<usize>,
}

/// The groups of a row, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct HeededGroups {
    groups: Vec<Heeded>,
    counts: Vec<(u8, u32)>,
}

/// The documents that a fold heeds, if it is added up from the documents of a set alone. All other documents are alike to it.
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

/// Whether a fold has the same value in every order.
fn is_fixed(fold: &Fold) -> bool {
    match fold {
        Fold::Count(set) | Fold::PrecisionSum(set) | Fold::PairSum(set) => *set == Above::RETRIEVED,
        Fold::Histogram => true,
        _ => false,
    }
}

impl ExpectedColumns {
    /// Selects, of these columns of a program, those that have an expectation.
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
                expected.precisions.push(PrecisionSum { hits, cuts, column: of_task.start });
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
            expected.tasks.push(Task { fold, cuts, column: of_task.start });
        }
        expected
    }

    /// The precision sums, which are not replaced here.
    pub fn precisions(&self) -> &[PrecisionSum] {
        &self.precisions
    }

    /// The documents that have to be known for the other columns.
    pub fn heeded(&self) -> Above {
        self.heeded
    }

    /// The ranks of a row down to which documents have to be known; 0 if no group matters. `end` ranks of the row are kept; the labels and
    /// the inputs of its query are given.
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

    /// Replaces the values of a row in its lane of the columns. `documents` are the documents that are heeded, down to the row's reach.
    pub fn replace(
        &self,
        tied: &TiedRanking<'_>,
        view: View,
        input: impl Fn(usize) -> u32,
        (columns, lane): (&mut Columns, usize),
        scratch: &mut Scratch,
    ) {
        let end = view.depth.map_or(tied.depth, |kept| kept.min(tied.depth));
        let mut groups = std::mem::take(&mut scratch.groups);
        groups.fill(tied, end, self.heeded);
        let mut row = None;
        for Task { fold, cuts, column } in &self.tasks {
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
                    groups.walk(tied.documents, cuts, step, |at, sum| columns.values[place(at)] = sum);
                }
                fold => {
                    let row =
                        row.get_or_insert_with(|| Row::new(tied, view, std::mem::take(&mut scratch.pieces)));
                    for (at, cut) in cuts.enumerate().filter(|&(_, cut)| tied.ties.groups[0].start < cut) {
                        columns.values[place(at)] = of_fold(fold, cut as usize, row, &mut scratch.tables);
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

/// The next part of a ranking: a document outside of groups, or the part of a group that is read.
enum Next<'r> {
    Document(Document),
    Group(Part<'r>),
}

impl HeededGroups {
    /// Takes the groups of a ranking that begin within its first `end` ranks and have a document that is heeded.
    fn fill(&mut self, tied: &TiedRanking<'_>, end: u32, heeded: Above) {
        self.groups.clear();
        self.counts.clear();
        let (documents, ties) = (tied.documents, tied.ties);
        let behind =
            |rank: u32, from: usize| from + documents[from..].iter().take_while(|of| of.rank < rank).count();
        let mut from = 0;
        for (at, group) in (1..).zip(ties.groups).take_while(|(_, group)| group.start < end) {
            let first = behind(group.start, from);
            from = behind(group.end(), first);
            let cut = if at == ties.groups.len() { ties.cut } else { &[] };
            let start = self.counts.len();
            let mut size = group.length;
            self.counts.push((UNPOOLED, 0));
            row::add_codes(&mut self.counts, start, documents[first..from].iter().map(|of| (of.code, 1)));
            for cut in cut {
                size += cut.count;
                if heeded.contains(cut.code) {
                    row::add_codes(&mut self.counts, start, [(cut.code, cut.count)]);
                }
            }
            let found: u32 = self.counts[start..].iter().map(|&(_, count)| count).sum();
            if found == 0 {
                self.counts.truncate(start);
                continue;
            }
            self.counts[start].1 = size - found;
            let counts = start + usize::from(size == found)..self.counts.len();
            self.groups.push(Heeded { start: group.start, size, documents: first..from, counts });
        }
    }

    fn part(&self, of: &Heeded, read: u32) -> Part<'_> {
        let counts = &self.counts[of.counts.clone()];
        Part::new(of.start as usize, of.size as usize, read.min(of.size) as usize, counts)
    }

    /// Whether `of` is true of a group that begins within the first ranks.
    fn any(&self, ranks: Option<u32>, of: impl Fn(Part<'_>) -> bool) -> bool {
        let within = self.groups.iter().take_while(|group| group.start < ranks.unwrap_or(0));
        within.map(|group| self.part(group, group.size)).any(of)
    }

    /// Replaces the count within a group across a cutoff by its expectation.
    fn count(&self, documents: &[Document], set: Above, cut: u32, value: &mut f64) {
        let is_across = |of: &&Heeded| of.start < cut && cut - of.start < of.size;
        let Some(group) = self.groups.iter().find(is_across) else { return };
        let part = self.part(group, cut - group.start);
        let inside = Inside::of(part, set);
        if inside.hits > 0 && inside.hits < inside.size {
            let is_counted = |of: &&Document| of.rank < cut && set.contains(of.code);
            let counted = documents[group.documents.clone()].iter().filter(is_counted).count();
            let mut state = Walked { hits: 0.0, sum: *value - counted as f64 };
            folds::count(&mut state, part, inside);
            *value = state.sum;
        }
    }

    /// Walks down a ranking, and reports the state at each cutoff; cutoffs ascend.
    fn walk<S: Copy + Default>(
        &self,
        documents: &[Document],
        cuts: impl Iterator<Item = u32>,
        mut step: impl FnMut(&mut S, Next<'_>),
        mut tell: impl FnMut(usize, S),
    ) {
        let (mut state, mut at, mut groups) = (S::default(), 0, self.groups.iter().peekable());
        for (number, cut) in cuts.enumerate() {
            let mut cut_state = None;
            while let Some(&group) = groups.peek().filter(|group| group.start < cut) {
                while at < group.documents.start {
                    step(&mut state, Next::Document(documents[at]));
                    at += 1;
                }
                let part = self.part(group, cut - group.start);
                if !part.is_whole() {
                    let mut state = state;
                    step(&mut state, Next::Group(part));
                    cut_state = Some(state);
                    break;
                }
                step(&mut state, Next::Group(part));
                at = group.documents.end;
                groups.next();
            }
            let state = cut_state.unwrap_or_else(|| {
                while at < documents.len() && documents[at].rank < cut {
                    step(&mut state, Next::Document(documents[at]));
                    at += 1;
                }
                state
            });
            tell(number, state);
        }
    }
}

/// The reciprocal of the first hit's rank, for rankings in which a group decides it.
pub struct FirstHit {
    /// The codes of the hits.
    pub hits: Above,
    /// The deepest rank that counts.
    pub most: u32,
    /// The column with the rank of the first hit in the order of the ranking.
    pub column: usize,
}

impl FirstHit {
    /// The expected value of a row of which `end` ranks are kept, and whose first hit in its order is at rank `first`; `None` if every
    /// order has the same value.
    pub fn of_row(&self, ties: RowTies<'_>, end: u32, first: f64, label: impl Fn(u32) -> u8) -> Option<f64> {
        let ranks = end.min(self.most);
        // If no hit was found, it may be behind the cutoff, in a group across it.
        let rank = if first > 0.0 { first as u32 - 1 } else { ranks };
        let at = ties.groups.iter().take_while(|group| group.start <= rank).count().checked_sub(1)?;
        let TiedGroup { start, .. } = ties.groups[at];
        let cut = if at + 1 == ties.groups.len() { ties.cut } else { &[] };
        let size = ties.groups[at].length + cut.iter().map(|cut| cut.count).sum::<u32>();
        if start >= ranks || rank - start >= size {
            return None;
        }
        let found = (start..ties.groups[at].end()).filter(|&rank| self.hits.contains(label(rank))).count();
        let cut = cut.iter().filter(|cut| self.hits.contains(cut.code));
        let found = found + cut.map(|cut| cut.count as usize).sum::<usize>();
        let (start, size, read) = (start as usize, size as usize, (ranks - start) as usize);
        let inside = Inside { size, hits: found };
        let is_open = found > 0 && found < size;
        is_open.then(|| folds::first_of(inside, read.min(size), |index| 1.0 / (start + index + 1) as f64))
    }
}
