//! The groups of a row that matter to a set of documents.

use std::ops::Range;

use super::TiedRanking;
use super::folds::{self, GrowingSum, Inside};
use super::row::{self, ReadPiece};
use crate::matrix::code::UNPOOLED;
use crate::matrix::{Above, Document};

/// A group with documents that are heeded.
#[derive(Debug)]
pub(super) struct Heeded {
    start: u32,
    /// The number of documents of the group, including cut-off documents.
    size: u32,
    /// The heeded documents of the group, as indices.
    documents: Range<usize>,
    counts: Range<usize>,
}

/// The groups of a row, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct HeededTies {
    pub groups: Vec<Heeded>,
    counts: Vec<(u8, u32)>,
}

/// The next part of a ranking: a document outside of groups, or the part of a group that is read.
pub(super) enum Next<'r> {
    Document(Document),
    Group(ReadPiece<'r>),
}

impl HeededTies {
    /// Takes the groups of a ranking that begin within its first `end` ranks and have a document
    /// that is heeded.
    pub fn fill(&mut self, tied: &TiedRanking<'_>, end: u32, heeded: Above) {
        self.groups.clear();
        self.counts.clear();
        let (documents, ties) = (tied.documents, tied.ties);
        let behind = |rank: u32, from: usize| {
            from + documents[from..].iter().take_while(|of| of.rank < rank).count()
        };
        let mut from = 0;
        // Invariant: only the last group of a row can have documents that were cut off.
        for (at, group) in (1..).zip(ties.groups).take_while(|(_, group)| group.start < end) {
            let first = behind(group.start, from);
            from = behind(group.end(), first);
            let cut = if at == ties.groups.len() { ties.cut } else { &[] };
            let start = self.counts.len();
            let mut size = group.length;
            self.counts.push((UNPOOLED, 0));
            row::add_codes(
                &mut self.counts,
                start,
                documents[first..from].iter().map(|of| (of.code, 1)),
            );
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

    pub fn part(&self, of: &Heeded, read: u32) -> ReadPiece<'_> {
        let counts = &self.counts[of.counts.clone()];
        ReadPiece::new(of.start as usize, of.size as usize, read.min(of.size) as usize, counts)
    }

    /// Whether `of` is true of a group that begins within the first ranks.
    pub fn any(&self, ranks: Option<u32>, of: impl Fn(ReadPiece<'_>) -> bool) -> bool {
        let within = self.groups.iter().take_while(|group| group.start < ranks.unwrap_or(0));
        within.map(|group| self.part(group, group.size)).any(of)
    }

    /// Replaces the count within a group across a cutoff by its expectation.
    pub fn count(&self, documents: &[Document], set: Above, cut: u32, value: &mut f64) {
        let is_across = |of: &&Heeded| of.start < cut && cut - of.start < of.size;
        let Some(group) = self.groups.iter().find(is_across) else { return };
        let part = self.part(group, cut - group.start);
        let inside = Inside::of(part, set);
        if inside.hits > 0 && inside.hits < inside.size {
            let is_counted = |of: &&Document| of.rank < cut && set.contains(of.code);
            let counted = documents[group.documents.clone()].iter().filter(is_counted).count();
            let mut state = GrowingSum { hits: 0.0, sum: *value - counted as f64 };
            folds::count(&mut state, part, inside);
            *value = state.sum;
        }
    }

    // A group that lies across a cutoff is added to a *copy* of the state, for the report at that
    // cutoff alone: the next cutoff reads more ranks of the same group, and its expectation is not
    // the sum of two parts with a state between them.
    /// Walks down a ranking, and reports the state at each cutoff; cutoffs ascend.
    pub fn walk<S: Copy + Default>(
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
