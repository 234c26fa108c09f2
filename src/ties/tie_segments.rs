//! A ranking with ties, under a view of its labels, as pieces in rank order: groups of equal
//! scores, and stretches of one code.
//!
//! ```text
//! documents  1 1 0 [2 0 1 0 0] 0 0 1 [1 0 0 | 0 2]   [ ] mixed groups, | where the ranking was cut
//! pieces     ──── ─ ────────── ─── ─ ──────────────
//!            1×2 0  2,0,1,0,0  0×2 1  1,0,0,0,2 of which 3 are read
//! ```
//!
//! A piece stores counts by code, because nothing else is known of a random order. A stretch of one
//! code is a piece too, so every form reads only pieces. The number of pieces grows with judged
//! documents and groups, not with the depth.

use std::ops::Range;

use super::{TiedRanking, probability::Hypergeometric};
use crate::matrix::{
    Codebook, CodesAbove, CutTieCount, Document, GradeHistogram, Tie, View, code::NOT_IN_QRELS,
};

/// A piece of a ranking: neighbouring documents of one code, or a group of tied documents in random
/// order.
struct TieSegment {
    above: usize,
    size: usize,
    read: usize,
    counts: Range<usize>,
}

/// The pieces of a ranking with ties, in memory used again from ranking to ranking.
#[derive(Default)]
pub struct SegmentBuffers {
    pieces: Vec<TieSegment>,
    counts: Vec<(u8, u32)>,
    /// The counts of a group.
    group: Vec<(u8, u32)>,
    /// The possible numbers of documents of the last piece that are left, with their chances, if a
    /// cut decides it: the judged ones among the first ranks of its group. Empty if the number is
    /// known.
    left: Vec<(usize, f64)>,
}

// Groups have few distinct codes, so a sorted list beats a table of 256 that would have to be
// cleared.
/// Adds the documents of a group, and those that were cut off of it, to a sorted list of counts by
/// code. The codes of the counts ascend from index `from` on.
pub fn add_codes<'c>(
    counts: &mut Vec<(u8, u32)>,
    from: usize,
    documents: &[Document],
    cut: impl Iterator<Item = &'c CutTieCount>,
) {
    let cut = cut.map(|cut| (cut.code, cut.count));
    for (code, count) in documents.iter().map(|document| (document.code, 1)).chain(cut) {
        match counts[from..].binary_search_by_key(&code, |&(code, _)| code) {
            Ok(at) => counts[from + at].1 += count,
            Err(at) => counts.insert(from + at, (code, count)),
        }
    }
}

/// A ranking with ties as pieces in rank order, with its query's numbers of documents by code from
/// the qrels.
pub struct TieSegments<'a> {
    /// The number of documents of the qrels that carry each code.
    pub facts: GradeHistogram<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The number of ranks.
    pub depth: usize,
    /// The memory of the pieces, for another ranking.
    pub buffers: SegmentBuffers,
}

/// A piece of a ranking, such as a tie group, with the number of its ranks that a measure reads.
#[derive(Clone, Copy)]
pub struct SegmentPrefix<'r> {
    /// The number of documents above the piece.
    pub above: usize,
    /// The number of documents of the piece.
    pub size: usize,
    /// The number of read ranks of the piece.
    pub read: usize,
    /// The label codes of the piece, ascending, with their numbers of documents.
    pub counts: &'r [(u8, u32)],
}

impl<'r> SegmentPrefix<'r> {
    /// Returns the label codes of the piece, ascending, with their numbers of documents.
    pub fn counts(self) -> impl Iterator<Item = (u8, u32)> + 'r {
        self.counts.iter().copied()
    }

    /// Returns the number of documents of the piece whose codes are in a set.
    pub fn count(self, set: CodesAbove) -> usize {
        self.counts().filter(|&(code, _)| set.contains(code)).map(|(_, count)| count as usize).sum()
    }

    /// Returns the numbers of hits, of other judged documents, and of documents that are pooled but
    /// unjudged.
    pub fn pool(self, hits: CodesAbove) -> [usize; 3] {
        let found = self.count(hits);
        let judged = self.count(CodesAbove::JUDGED.min(hits)) - found;
        [found, judged, self.count(CodesAbove::IN_QRELS) - self.count(CodesAbove::JUDGED)]
    }

    /// Returns whether all ranks of the piece are read.
    pub fn is_whole(self) -> bool {
        self.read == self.size
    }

    /// Returns the common value of all documents of the piece under a table by code, or `None` if
    /// the values differ.
    pub fn shared(self, table: &[f64; 256]) -> Option<f64> {
        let mut values = self.counts().map(|(code, _)| table[usize::from(code)]);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }

    /// Returns the sum of the values of a table by code, such as gains, over the documents of the
    /// piece.
    pub fn total(self, table: &[f64; 256]) -> f64 {
        self.counts().map(|(code, count)| f64::from(count) * table[usize::from(code)]).sum()
    }
}

impl<'a> TieSegments<'a> {
    /// Splits a ranking with ties into pieces under a view (a depth, judged documents only), in the
    /// memory of another ranking.
    pub fn new(tied: &TiedRanking<'a>, view: View, mut buffers: SegmentBuffers) -> Self {
        let &TiedRanking { documents, depth, facts, book, ties } = tied;
        buffers.pieces.clear();
        buffers.counts.clear();
        buffers.left.clear();
        let mut row = Self { facts, book, depth: 0, buffers };
        let end = view.depth.map_or(depth, |limit| limit.min(depth));
        let (mut at, mut rest, mut groups) = (0, documents, ties.groups.iter().peekable());
        while at < end {
            if let Some(group) = groups.next_if(|group| group.start == at) {
                let (of_group, behind) =
                    rest.split_at(rest.partition_point(|document| document.rank < group.end()));
                let cut =
                    if groups.peek().is_none() && group.end() == depth { ties.cut } else { &[] };
                row.push_group(of_group, *group, cut, end, view.judged_only);
                (at, rest) = (group.end(), behind);
                continue;
            }
            let until = groups.peek().map_or(end, |group| end.min(group.start));
            // A stretch of documents of the same code.
            let (code, next) = match rest.first() {
                Some(first) if first.rank == at => {
                    let alike = rest.iter().zip(at..until).take_while(|(document, rank)| {
                        (document.rank, document.code) == (*rank, first.code)
                    });
                    (first.code, at + alike.count() as u32)
                }
                first => (NOT_IN_QRELS, first.map_or(until, |first| first.rank.min(until))),
            };
            if code != NOT_IN_QRELS {
                rest = &rest[(next - at) as usize..];
            }
            if !view.judged_only || CodesAbove::JUDGED.contains(code) {
                row.push([(code, next - at)], (next - at) as usize);
            }
            at = next;
        }
        row
    }

    fn push_group(
        &mut self,
        documents: &[Document],
        group: Tie,
        cut: &[CutTieCount],
        end: u32,
        judged_only: bool,
    ) {
        let mut counts = std::mem::take(&mut self.buffers.group);
        counts.clear();
        // NOT_IN_QRELS is the smallest code of a document, and `add_codes` needs ascending codes.
        counts.push((NOT_IN_QRELS, group.length - documents.len() as u32));
        add_codes(&mut counts, 0, documents, cut.iter());
        let all: u64 = counts.iter().map(|&(_, count)| u64::from(count)).sum();
        let read = u64::from(group.length.min(end - group.start));
        let set = if judged_only { CodesAbove::JUDGED } else { CodesAbove::RETRIEVED };
        counts.retain(|&(code, count)| count > 0 && set.contains(code));
        let judged: u64 = counts.iter().map(|&(_, count)| u64::from(count)).sum();
        if judged == all {
            self.push(counts.iter().copied(), read as usize);
        // Unjudged documents are dropped after the cut. The number of judged documents among the
        // first `read` of `all` is hypergeometric. Given the number, the kept documents are the
        // first of a random order of the judged documents alone.
        } else if judged > 0 {
            let mut left = Hypergeometric::default();
            left.fill(all, judged, read);
            self.push(counts.iter().copied(), left.first as usize);
            if left.iter().nth(1).is_some() {
                self.buffers.left =
                    left.iter().map(|(left, chance)| (left as usize, chance)).collect();
            }
        }
        self.buffers.group = counts;
    }

    fn push(&mut self, counts: impl IntoIterator<Item = (u8, u32)>, read: usize) {
        let start = self.buffers.counts.len();
        self.buffers.counts.extend(counts);
        let size = self.buffers.counts[start..].iter().map(|&(_, count)| count as usize).sum();
        self.buffers.pieces.push(TieSegment {
            above: self.depth,
            size,
            read,
            counts: start..self.buffers.counts.len(),
        });
        self.depth += read;
    }

    /// Returns whether the ranking's number of documents is chance, because a cut splits a tie
    /// group.
    pub fn is_uncertain(&self) -> bool {
        !self.buffers.left.is_empty()
    }

    /// Adds up a function of the ranking: once, or weighted over the numbers of documents that a
    /// cut may leave.
    pub fn mean(&mut self, sums: &mut [f64], mut evaluate: impl FnMut(&Self, &mut [f64])) {
        if !self.is_uncertain() {
            return evaluate(self, sums);
        }
        let mut values = vec![0.0; sums.len()];
        sums.fill(0.0);
        for (left, chance) in self.buffers.left.clone() {
            // Invariant: the cut group has the last piece, because only the last group can be cut,
            // and no document follows a cut group.
            if let Some(last) = self.buffers.pieces.last_mut() {
                last.read = left;
                self.depth = last.above + left;
            }
            evaluate(self, &mut values);
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += chance * value);
        }
    }

    /// Returns the pieces of the ranking's first `ranks` ranks, each with its number of read ranks.
    pub fn parts(&self, ranks: usize) -> impl Iterator<Item = SegmentPrefix<'_>> {
        let segments = self.buffers.pieces.iter().take_while(move |piece| piece.above < ranks);
        segments
            .map(move |piece| SegmentPrefix {
                above: piece.above,
                size: piece.size,
                read: piece.read.min(ranks - piece.above),
                counts: &self.buffers.counts[piece.counts.clone()],
            })
            .filter(|part| part.read > 0)
    }

    /// Returns the numbers of the ranking's documents that carry each code, codes ascending; for a
    /// cut tie group, of all its documents.
    pub fn retrieved(&self) -> Vec<(u8, u32)> {
        let mut counts = [0u32; 256];
        self.buffers.counts.iter().for_each(|&(code, count)| counts[usize::from(code)] += count);
        (0..=255u8).zip(counts).filter(|&(_, count)| count > 0).collect()
    }
}
