//! The groups of tied documents in a ranking that have documents of a given set of codes.

use std::ops::Range;

use super::{
    TiedRanking,
    folds::PrefixHits,
    tie_segments::{self, SegmentPrefix},
};
use crate::matrix::{CodesAbove, Document, code::NOT_IN_QRELS};

/// A group of tied documents that has documents of the wanted set.
pub struct Selected {
    start: u32,
    /// The number of documents of the group, including cut-off documents.
    size: u32,
    /// The heeded documents of the group, as indices.
    documents: Range<usize>,
    counts: Range<usize>,
}

/// The groups of tied documents of a ranking that matter, in memory used again from ranking to
/// ranking.
#[derive(Default)]
pub struct SelectedTies {
    pub groups: Vec<Selected>,
    counts: Vec<(u8, u32)>,
}

/// The next item down a ranking with ties: a document outside of tie groups, or the part of a tie
/// group that is read.
pub enum RankingItem<'r> {
    Document(Document),
    Group(SegmentPrefix<'r>),
}

/// Returns the index of the first document, from index `from` on, whose rank is at least `rank`.
fn skip(documents: &[Document], from: usize, rank: u32) -> usize {
    from + documents[from..].iter().take_while(|document| document.rank < rank).count()
}

impl SelectedTies {
    /// Collects the tie groups of a ranking that begin within its first `end` ranks and have a
    /// document of the set `heeded`.
    pub fn fill(&mut self, tied: &TiedRanking<'_>, end: u32, heeded: CodesAbove) {
        self.groups.clear();
        self.counts.clear();
        let (documents, ties) = (tied.documents, tied.ties);
        let mut from = 0;
        // Invariant: only the last group of a row can have documents that were cut off.
        for (at, group) in (1..).zip(ties.groups).take_while(|(_, group)| group.start < end) {
            let first = skip(documents, from, group.start);
            from = skip(documents, first, group.end());
            let cut = if at == ties.groups.len() { ties.cut } else { &[] };
            let start = self.counts.len();
            let size = group.length + cut.iter().map(|cut| cut.count).sum::<u32>();
            // The number of unheeded documents is known only after the others, and codes ascend: so
            // the entry comes first and is filled in last.
            self.counts.push((NOT_IN_QRELS, 0));
            let cut = cut.iter().filter(|cut| heeded.contains(cut.code));
            tie_segments::add_codes(&mut self.counts, start, &documents[first..from], cut);
            let found: u32 = self.counts[start..].iter().map(|&(_, count)| count).sum();
            if found == 0 {
                self.counts.truncate(start);
                continue;
            }
            self.counts[start].1 = size - found;
            let counts = start + usize::from(size == found)..self.counts.len();
            self.groups.push(Selected { start: group.start, size, documents: first..from, counts });
        }
    }

    pub fn part(&self, group: &Selected, read: u32) -> SegmentPrefix<'_> {
        SegmentPrefix {
            above: group.start as usize,
            size: group.size as usize,
            read: read.min(group.size) as usize,
            counts: &self.counts[group.counts.clone()],
        }
    }

    /// Returns whether `predicate` is true of a tie group that begins within the first `ranks`
    /// ranks.
    pub fn any(&self, ranks: Option<u32>, predicate: impl Fn(SegmentPrefix<'_>) -> bool) -> bool {
        let within = self.groups.iter().take_while(|group| group.start < ranks.unwrap_or(0));
        within.map(|group| self.part(group, group.size)).any(predicate)
    }

    /// Replaces the hits of a tie group across a cutoff, in a count of hits, by their expected
    /// number.
    pub fn count(&self, documents: &[Document], set: CodesAbove, cut: u32, value: &mut f64) {
        let across =
            self.groups.iter().find(|group| group.start < cut && cut - group.start < group.size);
        let Some(group) = across else { return };
        let part = self.part(group, cut - group.start);
        let inside = PrefixHits::new(part, set);
        if inside.hits > 0 && inside.hits < inside.size {
            // The engine counted the hits of this group in the ranking's own order: the expectation
            // replaces these hits alone.
            let counted = documents[group.documents.clone()]
                .iter()
                .filter(|document| document.rank < cut && set.contains(document.code))
                .count();
            *value -= counted as f64;
            *value += inside.expected(part.read);
        }
    }

    // A group that lies across a cutoff is added to a *copy* of the state, for the report at that
    // cutoff alone: the next cutoff reads more ranks of the same group, and its expectation is not
    // the sum of two parts with a state between them.
    /// Walks down a ranking by documents and tie groups, and reports the state at each cutoff;
    /// cutoffs ascend.
    pub fn walk<S: Copy + Default>(
        &self,
        documents: &[Document],
        cuts: impl Iterator<Item = u32>,
        mut step: impl FnMut(&mut S, RankingItem<'_>),
        mut sink: impl FnMut(usize, S),
    ) {
        let (mut state, mut at, mut groups) = (S::default(), 0, self.groups.iter().peekable());
        for (number, cut) in cuts.enumerate() {
            let mut cut_state = None;
            while let Some(&group) = groups.peek().filter(|group| group.start < cut) {
                while at < group.documents.start {
                    step(&mut state, RankingItem::Document(documents[at]));
                    at += 1;
                }
                let part = self.part(group, cut - group.start);
                if !part.is_whole() {
                    let mut state = state;
                    step(&mut state, RankingItem::Group(part));
                    cut_state = Some(state);
                    break;
                }
                step(&mut state, RankingItem::Group(part));
                at = group.documents.end;
                groups.next();
            }
            let state = cut_state.unwrap_or_else(|| {
                while at < documents.len() && documents[at].rank < cut {
                    step(&mut state, RankingItem::Document(documents[at]));
                    at += 1;
                }
                state
            });
            sink(number, state);
        }
    }
}
