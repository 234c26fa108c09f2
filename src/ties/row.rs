//! A ranking with groups of equal scores, as a view shows it: pieces in rank order.

use std::ops::Range;

use super::TiedRanking;
use super::chance::Hypergeometric;
use crate::label::{Above, Codebook, QueryFacts, TiedGroup, View};
use crate::reference::Ranking;

/// Neighbouring ranks: documents of one code, or a group in random order.
#[derive(Debug)]
struct Piece {
    above: usize,
    size: usize,
    read: usize,
    counts: Range<usize>,
}

/// One ranking as pieces, and what the qrels know of its query.
#[derive(Debug)]
pub struct Row<'a> {
    /// How many documents of the qrels carry each code.
    pub facts: QueryFacts<'a>,
    /// What the codes mean.
    pub book: &'a Codebook,
    /// How many ranks there are.
    pub depth: usize,
    pieces: Vec<Piece>,
    counts: Vec<(u8, u32)>,
    /// How many documents of the last piece are left, with their chances, where a cut decides it: the judged ones among the first
    /// ranks of its group. Empty where it is known.
    left: Vec<(usize, f64)>,
}

/// A piece as a measure reads it.
#[derive(Debug, Clone, Copy)]
pub struct Part<'r> {
    /// The documents before it.
    pub above: usize,
    /// Its documents.
    pub size: usize,
    /// How many of its ranks are read.
    pub read: usize,
    counts: &'r [(u8, u32)],
}

impl<'r> Part<'r> {
    /// Its codes, ascending, with how many documents have them.
    pub fn counts(self) -> impl Iterator<Item = (u8, u32)> + 'r {
        self.counts.iter().copied()
    }

    /// How many of its documents are in a set.
    pub fn count(self, set: Above) -> usize {
        self.counts().filter(|&(code, _)| set.contains(code)).map(|(_, count)| count as usize).sum()
    }

    /// Is all of it read?
    pub fn is_whole(self) -> bool {
        self.read == self.size
    }

    /// The value that all its documents share under a table, if they do.
    pub fn shared(self, table: &[f64; 256]) -> Option<f64> {
        let mut values = self.counts().map(|(code, _)| table[usize::from(code)]);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }

    /// The sum of a table over its documents.
    pub fn total(self, table: &[f64; 256]) -> f64 {
        self.counts().map(|(code, count)| f64::from(count) * table[usize::from(code)]).sum()
    }
}

impl<'a> Row<'a> {
    /// A ranking as a view shows it.
    pub fn new(tied: &TiedRanking<'a>, view: View) -> Self {
        let Ranking { labels, facts, book } = tied.ranking;
        let mut row = Row { facts, book, depth: 0, pieces: Vec::new(), counts: Vec::new(), left: Vec::new() };
        let end = view.depth.map_or(labels.len(), |depth| labels.len().min(depth as usize));
        let (mut at, mut groups) = (0, tied.ties.groups.iter().peekable());
        while at < end {
            if let Some(group) = groups.next_if(|group| group.start as usize == at) {
                let last = groups.peek().is_none();
                row.push_group(tied, *group, end, last, view.judged_only);
                at = group.end() as usize;
            } else {
                let until = groups.peek().map_or(end, |group| end.min(group.start as usize));
                let code = labels[at];
                let run = labels[at..until].iter().take_while(|&&label| label == code).count();
                if !view.judged_only || Above::JUDGED.contains(code) {
                    row.push([(code, run as u32)], run);
                }
                at += run;
            }
        }
        row
    }

    fn push_group(
        &mut self,
        tied: &TiedRanking<'_>,
        group: TiedGroup,
        end: usize,
        last: bool,
        judged_only: bool,
    ) {
        let labels = &tied.ranking.labels[group.start as usize..group.end() as usize];
        let mut counts = [0u32; 256];
        labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
        if last && group.end() as usize == tied.ranking.labels.len() {
            tied.ties.cut.iter().for_each(|cut| counts[usize::from(cut.code)] += cut.count);
        }
        let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let read = labels.len().min(end - group.start as usize) as u64;
        let kept = if judged_only { Above::JUDGED } else { Above::RETRIEVED };
        let counts = (0..=255u8).zip(counts).filter(|&(code, count)| count > 0 && kept.contains(code));
        let judged: u64 = counts.clone().map(|(_, count)| u64::from(count)).sum();
        if judged == 0 {
            return;
        }
        let mut left = Hypergeometric::default();
        left.fill(all, judged, read);
        self.push(counts, left.first() as usize);
        if left.iter().nth(1).is_some() {
            self.left = left.iter().map(|(left, chance)| (left as usize, chance)).collect();
        }
    }

    fn push(&mut self, counts: impl IntoIterator<Item = (u8, u32)>, read: usize) {
        let start = self.counts.len();
        self.counts.extend(counts);
        let size = self.counts[start..].iter().map(|&(_, count)| count as usize).sum();
        self.pieces.push(Piece { above: self.depth, size, read, counts: start..self.counts.len() });
        self.depth += read;
    }

    /// Is there chance in the number of its documents?
    pub fn is_uncertain(&self) -> bool {
        !self.left.is_empty()
    }

    /// Adds up a function of the row: once, or weighted over the numbers of documents that a cut may leave.
    pub fn mean(&mut self, sums: &mut [f64], mut of: impl FnMut(&Self, &mut [f64])) {
        if self.left.is_empty() {
            return of(self, sums);
        }
        let mut values = vec![0.0; sums.len()];
        sums.fill(0.0);
        for (left, chance) in self.left.clone() {
            if let Some(last) = self.pieces.last_mut() {
                last.read = left;
                self.depth = last.above + left;
            }
            of(self, &mut values);
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += chance * value);
        }
    }

    /// The parts of its first so many ranks.
    pub fn parts(&self, ranks: usize) -> impl Iterator<Item = Part<'_>> {
        let met = self.pieces.iter().take_while(move |piece| piece.above < ranks);
        met.map(move |piece| Part {
            above: piece.above,
            size: piece.size,
            read: piece.read.min(ranks - piece.above),
            counts: &self.counts[piece.counts.clone()],
        })
        .filter(|part| part.read > 0)
    }

    /// How many retrieved documents carry each code, ascending; of a cut group all of them.
    pub fn retrieved(&self) -> Vec<(u8, u32)> {
        let mut counts = [0u32; 256];
        self.counts.iter().for_each(|&(code, count)| counts[usize::from(code)] += count);
        (0..=255u8).zip(counts).filter(|&(_, count)| count > 0).collect()
    }
}
