//! A ranking with groups of equal scores, under a view: pieces in rank order.
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

use super::TiedRanking;
use super::chance::Hypergeometric;
use crate::matrix::code::UNPOOLED;
use crate::matrix::{Above, Codebook, CutOff, Document, QueryFacts, TiedGroup, View};

/// Neighbouring ranks: documents of one code, or a group in random order.
#[derive(Debug)]
struct Piece {
    above: usize,
    size: usize,
    read: usize,
    counts: Range<usize>,
}

/// The pieces of a row, in memory that is used again from row to row.
#[derive(Debug, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
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
/// Adds documents to counts by code. The codes of the counts ascend from index `from` on.
pub(super) fn add_codes(
    counts: &mut Vec<(u8, u32)>,
    from: usize,
    documents: impl IntoIterator<Item = (u8, u32)>,
) {
    for (code, count) in documents {
        match counts[from..].binary_search_by_key(&code, |&(code, _)| code) {
            Ok(at) => counts[from + at].1 += count,
            Err(at) => counts.insert(from + at, (code, count)),
        }
    }
}

/// One ranking as pieces, with the facts of its query from the qrels.
#[derive(Debug)]
pub struct RankingPieces<'a> {
    /// The number of documents of the qrels that carry each code.
    pub facts: QueryFacts<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The number of ranks.
    pub depth: usize,
    of: Pieces,
}

/// A piece as a measure reads it.
#[derive(Debug, Clone, Copy)]
pub struct ReadPiece<'r> {
    /// The number of documents above the piece.
    pub above: usize,
    /// The number of documents of the piece.
    pub size: usize,
    /// The number of read ranks of the piece.
    pub read: usize,
    counts: &'r [(u8, u32)],
}

impl<'r> ReadPiece<'r> {
    /// Makes a piece with these counts by code, in ascending order of codes.
    pub(super) fn new(above: usize, size: usize, read: usize, counts: &'r [(u8, u32)]) -> Self {
        ReadPiece { above, size, read, counts }
    }

    /// The codes of the piece, ascending, with their numbers of documents.
    pub fn counts(self) -> impl Iterator<Item = (u8, u32)> + 'r {
        self.counts.iter().copied()
    }

    /// The number of documents of the piece in a set.
    pub fn count(self, set: Above) -> usize {
        self.counts().filter(|&(code, _)| set.contains(code)).map(|(_, count)| count as usize).sum()
    }

    /// Whether all of the part is read.
    pub fn is_whole(self) -> bool {
        self.read == self.size
    }

    /// Returns the common value of all documents of the piece under a table, or `None` if the
    /// values differ.
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

impl<'a> RankingPieces<'a> {
    /// Makes a row of a ranking under a view, in the memory of another row.
    pub fn new(tied: &TiedRanking<'a>, view: View, mut of: Pieces) -> Self {
        let &TiedRanking { documents, depth, facts, book, ties } = tied;
        of.pieces.clear();
        of.counts.clear();
        of.left.clear();
        let mut row = RankingPieces { facts, book, depth: 0, of };
        let end = view.depth.map_or(depth, |kept| kept.min(depth));
        let (mut at, mut rest, mut groups) = (0, documents, ties.groups.iter().peekable());
        while at < end {
            if let Some(group) = groups.next_if(|group| group.start == at) {
                let (of_group, behind) =
                    rest.split_at(rest.partition_point(|of| of.rank < group.end()));
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
                    let alike = rest
                        .iter()
                        .zip(at..until)
                        .take_while(|(of, rank)| (of.rank, of.code) == (*rank, first.code));
                    (first.code, at + alike.count() as u32)
                }
                first => (UNPOOLED, first.map_or(until, |first| first.rank.min(until))),
            };
            if code != UNPOOLED {
                rest = &rest[(next - at) as usize..];
            }
            if !view.judged_only || Above::JUDGED.contains(code) {
                row.push([(code, next - at)], (next - at) as usize);
            }
            at = next;
        }
        row
    }

    /// Returns the memory, for another row.
    pub fn into_pieces(self) -> Pieces {
        self.of
    }

    fn push_group(
        &mut self,
        documents: &[Document],
        group: TiedGroup,
        cut: &[CutOff],
        end: u32,
        judged_only: bool,
    ) {
        let mut counts = std::mem::take(&mut self.of.group);
        counts.clear();
        counts.push((UNPOOLED, group.length - documents.len() as u32));
        let of_cut = cut.iter().map(|cut| (cut.code, cut.count));
        add_codes(&mut counts, 0, documents.iter().map(|of| (of.code, 1)).chain(of_cut));
        let all: u64 = counts.iter().map(|&(_, count)| u64::from(count)).sum();
        let read = u64::from(group.length.min(end - group.start));
        let kept = if judged_only { Above::JUDGED } else { Above::RETRIEVED };
        counts.retain(|&(code, count)| count > 0 && kept.contains(code));
        let judged: u64 = counts.iter().map(|&(_, count)| u64::from(count)).sum();
        if judged == all {
            self.push(counts.iter().copied(), read as usize);
        // Unjudged documents are dropped after the cut. The number of judged documents among the
        // first `read` of `all` is hypergeometric. Given the number, the kept documents are the
        // first of a random order of the judged documents alone.
        } else if judged > 0 {
            let mut left = Hypergeometric::default();
            left.fill(all, judged, read);
            self.push(counts.iter().copied(), left.first() as usize);
            if left.iter().nth(1).is_some() {
                self.of.left = left.iter().map(|(left, chance)| (left as usize, chance)).collect();
            }
        }
        self.of.group = counts;
    }

    fn push(&mut self, counts: impl IntoIterator<Item = (u8, u32)>, read: usize) {
        let start = self.of.counts.len();
        self.of.counts.extend(counts);
        let size = self.of.counts[start..].iter().map(|&(_, count)| count as usize).sum();
        self.of.pieces.push(Piece {
            above: self.depth,
            size,
            read,
            counts: start..self.of.counts.len(),
        });
        self.depth += read;
    }

    /// Whether the number of its documents is chance.
    pub fn is_uncertain(&self) -> bool {
        !self.of.left.is_empty()
    }

    /// Adds up a function of the row: once, or weighted over the numbers of documents that a cut
    /// may leave.
    pub fn mean(&mut self, sums: &mut [f64], mut of: impl FnMut(&Self, &mut [f64])) {
        if self.of.left.is_empty() {
            return of(self, sums);
        }
        let mut values = vec![0.0; sums.len()];
        sums.fill(0.0);
        for (left, chance) in self.of.left.clone() {
            // Invariant: the cut group has the last piece, because only the last group can be cut,
            // and no document follows a cut group.
            if let Some(last) = self.of.pieces.last_mut() {
                last.read = left;
                self.depth = last.above + left;
            }
            of(self, &mut values);
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += chance * value);
        }
    }

    /// The parts of its first `ranks` ranks.
    pub fn parts(&self, ranks: usize) -> impl Iterator<Item = ReadPiece<'_>> {
        let met = self.of.pieces.iter().take_while(move |piece| piece.above < ranks);
        met.map(move |piece| ReadPiece {
            above: piece.above,
            size: piece.size,
            read: piece.read.min(ranks - piece.above),
            counts: &self.of.counts[piece.counts.clone()],
        })
        .filter(|part| part.read > 0)
    }

    /// The number of retrieved documents that carry each code, ascending; for a cut group, of all
    /// its documents.
    pub fn retrieved(&self) -> Vec<(u8, u32)> {
        let mut counts = [0u32; 256];
        self.of.counts.iter().for_each(|&(code, count)| counts[usize::from(code)] += count);
        (0..=255u8).zip(counts).filter(|&(_, count)| count > 0).collect()
    }
}
