//! One valid line, reduced to what a join needs, and the place of the bytes of its docno.
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

use crate::bytes::limits::UNIT;
use crate::columns::PieceDocs;
use crate::columns::text::HashedId;
use crate::lines::diagnostics::Position;
use crate::lines::scan::{is_separator, whole_line};
use crate::rule::{ScoreType, Ties};
use crate::units::map::UnitMap;

/// A result or a judgment: 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Record {
    /// A result's sort key (smaller is better), or the bits of a judgment's grade.
    pub key: u64,
    /// The hash of the docno.
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
    /// The number of the chunk of the docno.
    pub fn chunk(&self) -> u64 {
        place(self).0
    }

    /// The offset of the docno in its chunk.
    pub fn offset(&self) -> usize {
        place(self).1
    }
}

/// Consecutive rows of a query in a piece of columns, before they become records: most rows can be
/// ranked without records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRows<'a> {
    pub keys: &'a [u64],
    pub hashed: &'a [HashedId],
    /// The address of the first row.
    pub at: u64,
    pub query: u32,
}

impl ColumnRows<'_> {
    /// The record of a row.
    #[inline(always)]
    pub fn record(&self, row: usize) -> Record {
        let HashedId { hash, length } = self.hashed[row];
        Record { key: self.keys[row], hash, at: self.at + row as u64, length, query: self.query }
    }

    /// The records of all rows.
    #[inline(always)]
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let (rows, query) =
            (std::iter::zip(self.at.., std::iter::zip(self.keys, self.hashed)), self.query);
        rows.map(move |(at, (&key, &HashedId { hash, length }))| Record {
            key,
            hash,
            at,
            length,
            query,
        })
    }

    /// The records of all rows, except rows with an address in `wrong`.
    #[inline(always)]
    pub fn records_but(&self, wrong: &[u64]) -> impl Iterator<Item = Record> {
        self.records().filter(|record| wrong.is_empty() || !wrong.contains(&record.at))
    }
}

/// The bits of an offset in the place of a docno, which is one number.
const OFFSET_BITS: u32 = 40;

/// Returns the chunk and the offset of a docno as [`Record::at`].
#[inline(always)]
pub(crate) fn address(chunk: u64, offset: usize) -> u64 {
    chunk << OFFSET_BITS | offset as u64
}

/// The docnos of records: in chunks of bytes, in columns, or as units.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Docnos<'a> {
    /// Chunks of bytes.
    Chunks {
        /// The number of the first of `chunks`.
        first: u64,
        /// The bytes of each chunk.
        chunks: &'a [&'a [u8]],
        /// Whether the chunks are text. Otherwise they are copied docnos, each after the number of
        /// its line as a little-endian `u32`.
        text: bool,
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
        map: &'a UnitMap,
    },
}

impl<'a> Docnos<'a> {
    /// Returns the docno of a record.
    #[inline]
    pub fn of(&self, record: &Record) -> &'a [u8] {
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

    /// Returns the field behind a result's docno, from the text or from the copy; nothing in
    /// columns.
    pub fn rank_field(&self, record: &Record) -> &'a [u8] {
        let Docnos::Chunks { first, chunks, .. } = *self else { return &[] };
        let (chunk, offset) = place(record);
        let rest = &chunks[(chunk - first) as usize][offset + record.length as usize..];
        if let [UNIT, rest @ ..] = rest {
            return memchr::memchr(UNIT, rest).map_or(rest, |end| &rest[..end]);
        }
        let start = rest.iter().position(|&byte| !is_separator(byte)).unwrap_or(rest.len());
        let length = rest[start..].iter().position(|&byte| is_separator(byte));
        &rest[start..start + length.unwrap_or(rest.len() - start)]
    }

    /// Returns the line of a result, if the text is in memory.
    pub fn line_of(&self, record: &Record) -> Option<&'a [u8]> {
        let Docnos::Chunks { first, chunks, text: true } = *self else { return None };
        let (chunk, offset) = place(record);
        Some(whole_line(chunks[(chunk - first) as usize], offset))
    }

    /// Returns the rank field of a result in text: the field behind the docno.
    pub fn rank_text(&self, record: &Record) -> Option<&'a [u8]> {
        match self {
            Docnos::Chunks { .. } => Some(self.rank_field(record)),
            Docnos::Units { .. } | Docnos::Columns { .. } => None,
        }
    }

    /// Returns the rank of a result: in text, the number behind its docno.
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

    /// Returns the line of a record, or its row in columns. The method counts lines, so only
    /// messages use it.
    pub fn position(&self, record: &Record) -> Position {
        let (chunk, offset) = place(record);
        let line = match *self {
            Docnos::Units { ids, .. } => return ids.position(record),
            Docnos::Chunks { first, chunks, text } => {
                let bytes = &chunks[(chunk - first) as usize][..offset];
                if text {
                    memchr::memchr_iter(b'\n', bytes).count() as u64 + 1
                } else {
                    bytes[offset - BEFORE_COPY..]
                        .iter()
                        .rev()
                        .fold(0, |line, &byte| line << 8 | u64::from(byte))
                }
            }
            Docnos::Columns { .. } => offset as u64 + 1,
        };
        Position { chunk, line }
    }
}

/// Returns the chunk of a record, and the offset in it.
#[inline(always)]
fn place(record: &Record) -> (u64, usize) {
    (record.at >> OFFSET_BITS, (record.at & ((1 << OFFSET_BITS) - 1)) as usize)
}

/// The bytes before a copied docno: the number of its line.
pub(crate) const BEFORE_COPY: usize = size_of::<u32>();

/// Copies a docno behind the number of its line; returns its offset.
pub(crate) fn copy_docno(chunk: &mut Vec<u8>, line: u64, docno: &[u8]) -> usize {
    // The text is gone when a message needs the line, so its number goes before the docno: 4 bytes,
    // where a field of the record would cost 8 for all records of all inputs. A chunk has fewer
    // than 2³² lines.
    chunk.extend_from_slice(&(line as u32).to_le_bytes());
    chunk.extend_from_slice(docno);
    chunk.len() - docno.len()
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

/// Converts a sort key to its score; 0 for −0.
pub(crate) fn score_of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 0 { !key & !(1 << 63) } else { key })
}

/// Converts a rank to a sort key: smaller is better.
#[inline(always)]
pub(crate) fn rank_key(rank: i64) -> u64 {
    // With its sign bit turned a signed integer sorts as an unsigned one.
    rank as u64 ^ 1 << 63
}

/// Converts a sort key to its rank.
pub(crate) fn rank_of_key(key: u64) -> i64 {
    (key ^ 1 << 63) as i64
}

/// Returns the order of the docnos of equal scores.
pub(crate) fn by_docno(ties: Ties) -> fn(&[u8], &[u8]) -> Ordering {
    match ties {
        Ties::DocnoDescending => |one, other| other.cmp(one),
        Ties::DocnoAscending => |one, other| one.cmp(other),
        // Docnos stay in input order, or in the order of the rank column if ranks order equal
        // scores.
        Ties::Input | Ties::Rank => |_, _| Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_docno_knows_its_line() {
        let mut chunk = Vec::new();
        copy_docno(&mut chunk, 70_000, b"D1");
        let offset = copy_docno(&mut chunk, 70_001, b"D22");
        let record = Record { key: 0, hash: 0, at: address(5, offset), length: 3, query: 0 };
        let docnos = Docnos::Chunks { first: 5, chunks: &[&chunk], text: false };
        assert_eq!(docnos.of(&record), b"D22");
        assert_eq!(docnos.position(&record), Position { chunk: 5, line: 70_001 });
    }
}
