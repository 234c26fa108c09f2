//! A record: one valid line of qrels or of a run in 32 bytes, with the place of its docno.
//!
//! ```text
//! q1 Q0 doc-17 3 27.5 tag        8 bytes  key      27.5, turned so that ascending integers are
//!       └─┬──┘                                     descending scores
//!         │                      8        hash     of "doc-17" under the secret seed
//!         └─ at, length ──►      8        at       chunk (24 bits) · offset (40 bits): where
//!                                                  "doc-17" stands
//!                                4 + 4    length · query
//! ```
//!
//! Half a cache line, so that a query of 1000 results is sorted within 32 KB. Ranking compares
//! integers only: the bytes of a docno are read where its hash may be judged, where two hashes are
//! equal, and where equal scores have different labels. Such a read is a random access to the text,
//! and few results need one.
//!
//! `at` ascends in input order, across chunks and threads. So "the first of two lines", "input
//! order" and the order of messages are comparisons of one integer. Only a message needs the line
//! number, which is then computed.

use std::cmp::Ordering;

use crate::bytes::id::IdInText;
use crate::columns::{PieceDocs, text::HashedId};
use crate::doc_ids::map::DocIdMap;
use crate::lines::{
    diagnostics::{Diagnostic, Position},
    layout::RankColumn,
    row::{copied_line, copied_rank},
    scan::{line_end, split, whole_line},
};
use crate::rule::{ScoreType, TieBreak};

/// A result of a run or a judgment, in 32 bytes: sort key or grade, docno by hash and place, and
/// query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Record {
    /// A result's sort key (smaller is better), or the bits of a judgment's grade.
    pub key: u64,
    /// The hash of the docno; of a judgment by facet the numbers of its groups (see `groups`).
    pub hash: u64,
    /// The place of the docno: the chunk in the high 24 bits, the offset in the chunk in the low 40
    /// bits. Places ascend in input order.
    pub at: u64,
    /// The length of the docno, in bytes.
    pub length: u32,
    /// The number of the query.
    pub query: u32,
}

impl Record {
    /// Returns the number of the chunk of text, or piece of columns, that the record's docno lies
    /// in.
    pub fn chunk(&self) -> u64 {
        place(self).0
    }
}

/// Consecutive rows of one query in columns, before they become records: most rows can be ranked
/// without records.
#[derive(Clone, Copy)]
pub(crate) struct ColumnRows<'a> {
    pub keys: &'a [u64],
    pub hashed: &'a [HashedId],
    /// The address of the first row.
    pub at: u64,
    pub query: u32,
}

impl ColumnRows<'_> {
    /// Returns the record of row `row` of the columns.
    #[inline(always)]
    pub fn record(&self, row: usize) -> Record {
        let HashedId { hash, length } = self.hashed[row];
        Record { key: self.keys[row], hash, at: self.at + row as u64, length, query: self.query }
    }

    /// Returns a record (sort key, docno and query in 32 bytes) for each row of the columns.
    #[inline(always)]
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let query = self.query;
        let rows = std::iter::zip(self.at.., std::iter::zip(self.keys, self.hashed));
        rows.map(move |(at, (&key, &HashedId { hash, length }))| Record {
            key,
            hash,
            at,
            length,
            query,
        })
    }

    /// Returns the records of all rows of the columns, except rows with an address in `wrong`.
    #[inline(always)]
    pub fn records_but(&self, wrong: &[u64]) -> impl Iterator<Item = Record> {
        self.records().filter(|record| wrong.is_empty() || !wrong.contains(&record.at))
    }
}

/// The bits of an offset in the place of a docno, which is one number.
const OFFSET_BITS: u32 = 40;

/// Returns the address of a docno, its chunk and offset in one number, as [`Record::at`].
#[inline(always)]
pub(crate) fn address(chunk: u64, offset: usize) -> u64 {
    chunk << OFFSET_BITS | offset as u64
}

/// The memory from which the docnos of records are read: chunks of text, columns, or a map of
/// units.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Docnos<'a> {
    /// Chunks of bytes.
    Chunks {
        /// The number of the first of `chunks`.
        first: u64,
        /// The bytes of each chunk.
        chunks: &'a [&'a [u8]],
        /// Whether the chunks are text. Otherwise they are docnos copied by
        /// [`copy_docno`](crate::lines::row::copy_docno).
        text: bool,
        /// Where the ranks beside the scores are.
        ranks: RankColumn,
    },
    /// Columns, cut into pieces; the offset of a record is its row in the piece.
    Columns {
        /// The number of the first of `pieces`.
        first: u64,
        /// The documents of each piece.
        pieces: &'a [PieceDocs<'a>],
    },
    /// The units of a map; the length of a record is the number of its id in the map, or 0 if it
    /// has none.
    Units {
        /// The ids themselves, by the places of the records.
        ids: &'a Docnos<'a>,
        /// The map.
        map: &'a DocIdMap,
    },
}

impl<'a> Docnos<'a> {
    /// Returns the access to docnos that were copied to `chunks`, the first of them with the number
    /// 0, without ranks.
    pub fn copied(chunks: &'a [&'a [u8]]) -> Self {
        Docnos::Chunks { first: 0, chunks, text: false, ranks: RankColumn::None }
    }

    /// Returns the docno (document id) of a record.
    #[inline]
    pub fn get(&self, record: &Record) -> &'a [u8] {
        let (chunk, offset) = place(record);
        let length = record.length as usize;
        match *self {
            Docnos::Units { map, .. } => map.unit(record.length),
            Docnos::Chunks { first, chunks, .. } => {
                &chunks[(chunk - first) as usize][offset..offset + length]
            }
            Docnos::Columns { first, pieces } => {
                pieces[(chunk - first) as usize].docno(offset, length)
            }
        }
    }

    /// Returns the docno of a record inside the text around it, if there is any.
    #[inline]
    pub fn in_text(&self, record: &Record) -> IdInText<'a> {
        let Docnos::Chunks { first, chunks, .. } = *self else { return self.get(record).into() };
        let (chunk, start) = place(record);
        let text = chunks[(chunk - first) as usize];
        IdInText { text, start, end: start + record.length as usize }
    }

    /// Returns the rank of a result in its line or beside its copied docno, as it is written; empty
    /// in columns.
    pub fn rank_field(&self, record: &Record) -> &'a [u8] {
        let Docnos::Chunks { first, chunks, text, ranks } = *self else { return &[] };
        let (chunk, offset) = place(record);
        let (chunk, end) = (chunks[(chunk - first) as usize], offset + record.length as usize);
        match ranks {
            RankColumn::None => &[],
            _ if !text => copied_rank(chunk, end),
            RankColumn::OfTrec | RankColumn::Beside => {
                split(&chunk[end..]).next().unwrap_or_default()
            }
            RankColumn::OfTable { separator, column, is_next } => {
                // A field between blanks or tabs right behind the document is found from there.
                let is_near = is_next && !separator.is_strict() && chunk[end] != b'"';
                let (line, column) = if is_near {
                    (&chunk[end + 1..line_end(chunk, end)], 0)
                } else {
                    (whole_line(chunk, offset), column)
                };
                separator.fields(line).get(column).copied().unwrap_or_default()
            }
        }
    }

    /// Returns the rank of a result in its rank column, if it is an integer.
    pub fn rank_column(&self, record: &Record) -> Option<i64> {
        match *self {
            Docnos::Units { .. } => None,
            Docnos::Chunks { .. } => {
                std::str::from_utf8(self.rank_field(record)).ok()?.parse().ok()
            }
            Docnos::Columns { first, pieces } => {
                let (chunk, offset) = place(record);
                pieces[(chunk - first) as usize].rank(offset)
            }
        }
    }

    /// Returns the position of a record in the input, for messages: its line, or its row in
    /// columns. The method counts lines, so only messages use it.
    pub fn position(&self, record: &Record) -> Position {
        let (chunk, offset) = place(record);
        let line = match *self {
            Docnos::Units { ids, .. } => return ids.position(record),
            Docnos::Chunks { first, chunks, text, .. } => {
                let bytes = chunks[(chunk - first) as usize];
                if text {
                    memchr::memchr_iter(b'\n', &bytes[..offset]).count() as u64 + 1
                } else {
                    copied_line(bytes, offset)
                }
            }
            Docnos::Columns { .. } => offset as u64 + 1,
        };
        Position { chunk, line }
    }

    /// Makes a problem with a message, at the line of a record.
    pub fn problem(&self, record: &Record, message: String) -> Diagnostic {
        Diagnostic { position: self.position(record), message, earlier: None }
    }

    /// Makes the problem of a record that repeats an earlier record, with the lines of both.
    pub fn repeat(&self, record: &Record, earlier: &Record, message: String) -> Diagnostic {
        Diagnostic { earlier: Some(self.position(earlier)), ..self.problem(record, message) }
    }
}

/// Makes a problem with a message, at a line of a chunk of text or a row of a piece of columns.
pub(crate) fn problem(chunk: u64, line: u64, message: String) -> Diagnostic {
    Diagnostic { position: Position { chunk, line }, message, earlier: None }
}

/// Returns the chunk of a record's docno, and the offset of the docno in the chunk.
#[inline(always)]
fn place(record: &Record) -> (u64, usize) {
    (record.at >> OFFSET_BITS, (record.at & ((1 << OFFSET_BITS) - 1)) as usize)
}

/// Converts a score to a sort key: ascending keys are descending scores, and equal scores have
/// equal keys.
#[inline(always)]
pub(crate) fn sort_key(score: f64, precision: ScoreType) -> u64 {
    let score = match precision {
        ScoreType::F64 => score,
        ScoreType::F32 => f64::from(score as f32),
    };
    // Two positive numbers compare as their bits, and two negative numbers compare in reverse.
    // Inverting the bits of positive numbers below the sign puts all numbers in descending order:
    // the largest at 0, zero at 2⁶³ − 1, and negative numbers behind zero. An F32 score is rounded
    // to f32 first, to the nearest, as trec_eval 9 does by storing a score in a `float`: scores
    // equal as f32 are tied.
    let bits = (score + 0.0).to_bits(); // −0 is 0
    // Branch-free, so that many scores are converted at once.
    let below_sign = !((bits as i64 >> 63) as u64) >> 1;
    bits ^ below_sign
}

/// Converts a sort key back to its score; 0 for −0.
pub(crate) fn score_of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 0 { !key & !(1 << 63) } else { key })
}

/// Converts a rank to a sort key, which ascends with the rank.
#[inline(always)]
pub(crate) fn rank_key(rank: i64) -> u64 {
    // With its sign bit turned a signed integer sorts as an unsigned one.
    rank as u64 ^ 1 << 63
}

/// Converts a sort key back to its rank.
pub(crate) fn rank_of_key(key: u64) -> i64 {
    (key ^ 1 << 63) as i64
}

/// Returns the comparison of the docnos of equal scores, by the rule of ties.
pub(crate) fn by_docno(ties: TieBreak) -> fn(&[u8], &[u8]) -> Ordering {
    match ties {
        TieBreak::DocnoDescending => |one, other| other.cmp(one),
        TieBreak::DocnoAscending => |one, other| one.cmp(other),
        // Docnos stay in input order, or in the order of the rank column if ranks order equal
        // scores.
        TieBreak::Input | TieBreak::Rank => |_, _| Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::row::copy_docno;

    #[test]
    fn a_copied_docno_knows_its_line() {
        let mut chunk = Vec::new();
        copy_docno(&mut chunk, 70_000, b"D1", Some(b"7"));
        let offset = copy_docno(&mut chunk, 70_001, b"D22", Some(b"a rank"));
        let record = Record { key: 0, hash: 0, at: address(5, offset), length: 3, query: 0 };
        let ranks = RankColumn::Beside;
        let docnos = Docnos::Chunks { first: 5, chunks: &[&chunk], text: false, ranks };
        assert_eq!(
            (docnos.get(&record), docnos.rank_field(&record)),
            (&b"D22"[..], &b"a rank"[..])
        );
        assert_eq!(docnos.position(&record), Position { chunk: 5, line: 70_001 });
    }
}
