//! One valid line, reduced to what a join needs, and the place of the bytes of its docno.

use std::cmp::Ordering;

use super::columns::PieceDocs;
use super::diagnostics::Position;
use super::scan::{is_separator, whole_line};
use super::table::UNIT;
use crate::label::{ScoreType, Ties};

/// The most bytes of a line. So docnos are shorter than 2³² bytes, and a text without line feeds is refused early.
pub(super) const LONGEST_LINE: usize = 64 << 20;

/// A result or a judgment: 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Record {
    /// A result's sort key (smaller is better), or the bits of a judgment's grade.
    pub key: u64,
    /// The hash of the docno.
    pub hash: u64,
    /// The docno: the chunk in the high 24 bits, the offset in it in the low 40. Ascending in the order of the input.
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

/// The bits of an offset in the place of a docno, which is one number.
const OFFSET_BITS: u32 = 40;

/// Returns the chunk and the offset of a docno as [`Record::at`].
#[inline(always)]
pub(super) fn address(chunk: u64, offset: usize) -> u64 {
    chunk << OFFSET_BITS | offset as u64
}

/// The chunks that records refer to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Docnos<'a> {
    /// Chunks of bytes.
    Chunks {
        /// The number of the first of `chunks`.
        first: u64,
        /// The bytes of each chunk.
        chunks: &'a [&'a [u8]],
        /// Whether the chunks are text. Otherwise they are copied docnos, each after the number of its line as a little-endian `u32`.
        text: bool,
    },
    /// Columns, cut into pieces; the offset of a record is its row in the piece.
    Columns {
        /// The number of the first of `pieces`.
        first: u64,
        /// The documents of each piece.
        pieces: &'a [PieceDocs<'a>],
    },
}

impl<'a> Docnos<'a> {
    /// Returns the docno of a record.
    #[inline]
    pub fn of(&self, record: &Record) -> &'a [u8] {
        let (chunk, offset) = place(record);
        let length = record.length as usize;
        match *self {
            Docnos::Chunks { first, chunks, .. } => {
                &chunks[(chunk - first) as usize][offset..offset + length]
            }
            Docnos::Columns { first, pieces } => pieces[(chunk - first) as usize].docno(offset, length),
        }
    }

    /// Returns the field behind a result's docno, from the text or from where it was copied; nothing in columns.
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

    /// Returns the line in which a result stands, if the text is there.
    pub fn line_of(&self, record: &Record) -> Option<&'a [u8]> {
        let Docnos::Chunks { first, chunks, text: true } = *self else { return None };
        let (chunk, offset) = place(record);
        Some(whole_line(chunks[(chunk - first) as usize], offset))
    }

    /// Returns the rank of a result: in text, the number behind its docno.
    pub fn rank_column(&self, record: &Record) -> Option<i64> {
        match *self {
            Docnos::Chunks { .. } => std::str::from_utf8(self.rank_field(record)).ok()?.parse().ok(),
            Docnos::Columns { first, pieces } => {
                let (chunk, offset) = place(record);
                pieces[(chunk - first) as usize].rank(offset)
            }
        }
    }

    /// Returns the line of a record; lines are counted, so this is for messages only. In columns it is the row.
    pub fn position(&self, record: &Record) -> Position {
        let (chunk, offset) = place(record);
        let line = match *self {
            Docnos::Chunks { first, chunks, text } => {
                let bytes = &chunks[(chunk - first) as usize][..offset];
                match text {
                    true => memchr::memchr_iter(b'\n', bytes).count() as u64 + 1,
                    false => bytes[offset - BEFORE_COPY..]
                        .iter()
                        .rev()
                        .fold(0, |line, &byte| line << 8 | u64::from(byte)),
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
pub(super) const BEFORE_COPY: usize = size_of::<u32>();

/// Copies a docno behind the number of its line; returns its offset.
pub(super) fn copy_docno(chunk: &mut Vec<u8>, line: u64, docno: &[u8]) -> usize {
    chunk.extend_from_slice(&(line as u32).to_le_bytes());
    chunk.extend_from_slice(docno);
    chunk.len() - docno.len()
}

/// The first and the last eight bytes of an id. They are all of an id that has at most 16 bytes and whose length is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Brief {
    first: u64,
    last: u64,
}

impl Brief {
    /// Reads the id `text[start..end]`. An id of fewer than eight bytes is filled up by zeros, and its `last` is 0.
    #[inline(always)]
    pub fn of(text: &[u8], start: usize, end: usize) -> Brief {
        let length = end - start;
        if length >= 8 {
            return Brief { first: word(text, start), last: word(text, end - 8) };
        }
        Brief { first: word(text, start) & ((1 << (8 * length)) - 1), last: 0 }
    }

    /// The first eight bytes; the first is the lowest.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The last eight bytes, or 0 if the first eight are all.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The first eight bytes as a number that sorts as the bytes do.
    pub fn prefix(&self) -> u64 {
        self.first.swap_bytes()
    }
}

/// Reads eight bytes, the first of which is the lowest; bytes beyond the end are zeros.
#[inline(always)]
fn word(text: &[u8], start: usize) -> u64 {
    match text[start..].first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(&text[start..]),
    }
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Converts a score to a sort key: ascending keys are descending scores, and equal scores have equal keys.
#[inline(always)]
pub(super) fn sort_key(score: f64, precision: ScoreType) -> u64 {
    let score = match precision {
        ScoreType::F64 => score,
        ScoreType::F32 => f64::from(score as f32),
    };
    let bits = (score + 0.0).to_bits(); // −0 is 0
    if bits >> 63 == 0 { !bits & !(1 << 63) } else { bits }
}

/// Converts a sort key to its score; 0 for −0.
pub(super) fn score_of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 0 { !key & !(1 << 63) } else { key })
}

/// Converts a rank to a sort key: smaller is better.
#[inline(always)]
pub(super) fn rank_key(rank: i64) -> u64 {
    rank as u64 ^ 1 << 63
}

/// Converts a sort key to its rank.
pub(super) fn rank_of_key(key: u64) -> i64 {
    (key ^ 1 << 63) as i64
}

/// Returns the order of the docnos of equal scores.
pub(super) fn by_docno(ties: Ties) -> fn(&[u8], &[u8]) -> Ordering {
    match ties {
        Ties::DocnoDescending => |one, other| other.cmp(one),
        Ties::DocnoAscending => |one, other| one.cmp(other),
        // Docnos stay in the order of the input, which is that of the rank column if it orders them.
        Ties::Input | Ties::Rank => |_, _| Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_depends_on_the_id_alone() {
        let text: Vec<u8> = (0..100).collect();
        for start in 0..60 {
            for length in 0..40 {
                let alone = &text[start..start + length];
                let brief = Brief::of(&text, start, start + length);
                assert_eq!(brief, Brief::of(alone, 0, length));
                assert_eq!(brief.prefix().to_be_bytes()[..length.min(8)], alone[..length.min(8)]);
            }
        }
    }

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
