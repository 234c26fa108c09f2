//! JSON records of equal layout, as a program writes them. The text between the values is learnt
//! from one record. The next records are compared with the learnt text, and their keys need not be
//! read.
//!
//! ```text
//!           {"query_id": "q1", "doc_id": "d7", "score": 0.5}
//! learnt:   {"query_id": "  ", "doc_id": "  ", "score":    }
//!           {"query_id": "q1", "doc_id": "d3", "score": 0.25}
//! read:                   q1              d3            0.25
//! ```
//!
//! A record with another layout, or with values that are not plain, is read key by key.

use std::borrow::Cow;

use super::json::{Cursor, IN_WORDS, Stuck, Token};
use super::lists::each_field;

/// The values of a record: the query, the document, the number, and what a fourth key has, if it is
/// read.
pub(super) type PlainValues<'t> = [&'t [u8]; 4];

/// The expected layout of the records of a text.
#[derive(Debug)]
pub(super) struct AlikeRecords {
    pieces: Vec<RecordPiece>,
    /// The text behind the last value.
    end: Vec<u8>,
    /// The number of records that may still be learnt from. Each record read without its keys adds
    /// one. So unlike records cost hardly more than reading key by key.
    tries: u32,
}

/// The most records that are learnt from in vain.
const TRIES: u32 = 8;

impl Default for AlikeRecords {
    fn default() -> Self {
        AlikeRecords { pieces: Vec::new(), end: Vec::new(), tries: TRIES }
    }
}

/// A value of a record, with the text before the value.
#[derive(Debug)]
struct RecordPiece {
    before: Vec<u8>,
    /// The index of the value's key.
    place: usize,
    /// Whether the value is a string; otherwise the value is a word.
    quoted: bool,
}

/// The index of the number among the values; those before are ids.
const NUMBER: usize = 2;
/// The most bytes of a value.
const LONGEST: usize = 1 << 10;

impl AlikeRecords {
    /// Reads a record, without the line feed behind it; `None` if its layout differs from the
    /// learnt layout.
    #[inline]
    pub fn read<'t>(&mut self, text: &'t [u8]) -> Option<PlainValues<'t>> {
        let (mut values, mut rest): (PlainValues<'t>, _) = ([&[]; 4], text);
        for RecordPiece { before, place, quoted } in &self.pieces {
            rest = rest.strip_prefix(&before[..])?;
            let length = if *quoted { plain_string(rest) } else { word(rest, *place) }?;
            (values[*place], rest) = rest.split_at(length);
        }
        if self.pieces.is_empty() || rest != self.end {
            return None;
        }
        self.tries = TRIES.min(self.tries + 1);
        Some(values)
    }

    /// Learns from a record that was read key by key. `place` returns the index of a key among the
    /// `count` wanted keys.
    pub fn learn(&mut self, record: &[u8], count: usize, place: impl Fn(&[u8]) -> Option<usize>) {
        if self.tries == 0 {
            return;
        }
        self.tries -= 1;
        let (mut pieces, mut from, mut is_plain) = (Vec::new(), 0, true);
        let mut cursor = Cursor::new(record, true, 1);
        let read = cursor.expect(b'{', "'{'").and_then(|()| {
            each_field(&mut cursor, |name, value, cursor| {
                let (length, quoted) = match &value {
                    // The content of a nested value may be longer in the next record.
                    Token::Open(_) => return Err(Stuck::Incomplete),
                    Token::Word(word) => (word.len(), false),
                    Token::String(Cow::Borrowed(string)) => (string.len(), true),
                    Token::String(Cow::Owned(_)) => return Err(Stuck::Incomplete),
                };
                if let Some(place) = place(&name) {
                    let end = cursor.at - usize::from(quoted);
                    is_plain &= pieces.iter().all(|piece: &RecordPiece| piece.place != place);
                    is_plain &= !quoted || place != NUMBER;
                    let before = record[from..end - length].to_vec();
                    pieces.push(RecordPiece { before, place, quoted });
                    from = end;
                }
                Ok(())
            })
        });
        if read.is_ok() && is_plain && pieces.len() == count {
            (self.pieces, self.end) = (pieces, record[from..].to_vec());
        }
    }
}

/// The length of a string, up to its quote, if it has neither escapes nor control characters, and
/// is an id.
#[inline(always)]
fn plain_string(text: &[u8]) -> Option<usize> {
    let length =
        text.iter().take(LONGEST).position(|&byte| byte < b' ' || matches!(byte, b'"' | b'\\'))?;
    (text[length] == b'"' && length > 0).then_some(length)
}

/// The length of a word. A word that is an id must have only digits.
#[inline(always)]
fn word(text: &[u8], place: usize) -> Option<usize> {
    let length = text.iter().take(LONGEST).position(|&byte| !IN_WORDS[usize::from(byte)])?;
    let is_id = || place == NUMBER || text[..length].iter().all(u8::is_ascii_digit);
    (length > 0 && is_id()).then_some(length)
}
