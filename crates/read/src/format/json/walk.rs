//! The walk over a document of JSON, which cuts it into entries: records of an array, or queries
//! with their documents.
//!
//! The walk knows brackets, quotes, commas and colons, and follows keys down to the object or array
//! of the entries. Whatever else is there, such as a whole corpus, is passed over. An entry is found
//! by its brackets alone, however deep they are: no stack grows with them but one of a byte each.

use std::{borrow::Cow, collections::HashSet, io};

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use memchr::{memchr, memchr_iter, memchr2, memchr3};
use xxhash_rust::xxh3::xxh3_128;

use super::{SHOWN, first_fault, quoted_start, unescaped};
use crate::format::sequence::Sequence;
use crate::lines::{
    diagnostics::quoted,
    row::{Entry, RowBatch},
};

/// The reason why a part of a JSON text cannot be read: the text goes on beyond the part at hand,
/// or is wrong.
#[derive(PartialEq)]
pub enum Stuck {
    /// The text continues beyond the part that is read.
    Incomplete,
    /// The text is not JSON, or not the JSON that was expected; what to say of it.
    Wrong(String),
}

type JsonResult<T> = Result<T, Stuck>;

/// The message about a string without an end.
const IN_STRING: &str = "the JSON ends within a string: is the file complete?";

/// Returns whether a byte can be in a number or another word.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_')
}

/// A reader's position in a JSON text, with its line.
#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    text: &'t [u8],
    pub at: usize,
    /// Whether nothing follows `text`.
    ended: bool,
    /// The line of the position.
    pub line: u64,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8], ended: bool, line: u64) -> Self {
        Self { text, at: 0, ended, line }
    }

    /// Skips blanks of a JSON text, and returns the next byte without consuming the byte; `None` at
    /// the end.
    #[inline(always)]
    pub fn peek(&mut self) -> JsonResult<Option<u8>> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') => (self.at, self.line) = (self.at + 1, self.line + 1),
                Some(&byte) => return Ok(Some(byte)),
                None if self.ended => return Ok(None),
                None => return Err(Stuck::Incomplete),
            }
        }
    }

    /// Consumes the next non-blank byte of a JSON text if the byte is `byte`; returns `true` if so.
    #[inline(always)]
    pub fn passes(&mut self, byte: u8) -> JsonResult<bool> {
        let is = self.peek()? == Some(byte);
        self.at += usize::from(is);
        Ok(is)
    }

    /// Consumes the next non-blank byte of a JSON text, which must be `byte`; `what` names it in an
    /// error.
    pub fn expect(&mut self, byte: u8, what: &str) -> JsonResult<()> {
        if self.passes(byte)? { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// Consumes the comma before the next item of a JSON object or array, or its closing byte
    /// `close`; returns whether an item follows.
    pub fn next_item(&mut self, first: bool, close: u8) -> JsonResult<bool> {
        if !first && self.passes(b',')? {
            return Ok(true);
        }
        match self.passes(close)? {
            true => Ok(false),
            false if first => Ok(true),
            false => Err(self.unexpected(&format!("',' or '{}'", char::from(close)))),
        }
    }

    /// Makes the error about JSON text that is not the expected token `what`.
    #[cold]
    pub fn unexpected(&self, what: &str) -> Stuck {
        let rest = &self.text[self.at..];
        if !self.ended && rest.len() < SHOWN && memchr(b'\n', rest).is_none() {
            // More text is read first, so that the message is the same wherever the text is cut.
            return Stuck::Incomplete;
        }
        if rest.is_empty() {
            return Stuck::Wrong(format!(
                "the JSON ends here, where {what} was expected: is the file complete?"
            ));
        }
        Stuck::Wrong(format!("{what} was expected at {}", quoted_start(rest)))
    }

    /// Consumes a JSON string, and returns it as it is written, without its quotes; `what` names
    /// the expected token in an error.
    #[inline(always)]
    pub fn string(&mut self, what: &str) -> JsonResult<&'t [u8]> {
        self.expect(b'"', what)?;
        let start = self.at;
        match memchr3(b'"', b'\\', b'\n', &self.text[start..]) {
            Some(length) if self.text[start + length] == b'"' => self.at = start + length,
            _ => self.long_string()?,
        }
        self.at += 1;
        Ok(&self.text[start..self.at - 1])
    }

    /// Finds the end of a JSON string that has escapes or line feeds.
    #[cold]
    fn long_string(&mut self) -> JsonResult<()> {
        let start = self.at;
        loop {
            match memchr2(b'"', b'\\', &self.text[self.at..]) {
                Some(length) if self.text[self.at + length] == b'"' => {
                    self.at += length;
                    self.line += memchr_iter(b'\n', &self.text[start..self.at]).count() as u64;
                    return Ok(());
                }
                Some(length) if self.at + length + 1 < self.text.len() => self.at += length + 2,
                _ if !self.ended => return Err(Stuck::Incomplete),
                _ => {
                    self.at = start;
                    return Err(Stuck::Wrong(IN_STRING.to_owned()));
                }
            }
        }
    }

    /// Consumes a JSON value, and returns it as it is written. What is inside an object or array is
    /// not looked at but for its brackets and strings.
    #[inline(always)]
    pub fn value(&mut self) -> JsonResult<&'t [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            Some(b'"') => drop(self.string("a string")?),
            Some(open @ (b'{' | b'[')) => {
                self.at += 1;
                self.skip_rest(open)?;
            }
            _ => {
                let rest = &self.text[start..];
                let length = rest.iter().position(|&byte| !is_in_word(byte));
                match length.unwrap_or(rest.len()) {
                    _ if length.is_none() && !self.ended => return Err(Stuck::Incomplete),
                    0 => return Err(self.unexpected("a value")),
                    length => self.at += length,
                }
            }
        }
        Ok(&self.text[start..self.at])
    }

    /// Consumes the rest of a JSON object or array that was opened by the byte `open`.
    fn skip_rest(&mut self, open: u8) -> JsonResult<()> {
        dispatch!(Level::new(), simd => self.skip_rest_at(simd, open))
    }

    #[inline(always)]
    fn skip_rest_at<S: Simd>(&mut self, simd: S, open: u8) -> JsonResult<()> {
        let mut opened = vec![open];
        while let Some(&last) = opened.last() {
            self.skip_blocks(simd);
            match self.peek()? {
                Some(b'"') => drop(self.string("a string")?),
                Some(byte) => {
                    match byte {
                        b'{' | b'[' => opened.push(byte),
                        b'}' if last == b'{' => drop(opened.pop()),
                        b']' if last == b'[' => drop(opened.pop()),
                        b'}' => return Err(self.unexpected("']'")),
                        b']' => return Err(self.unexpected("'}'")),
                        _ => {}
                    }
                    self.at += 1;
                }
                None => return Err(self.unexpected("the end of an object or array")),
            }
        }
        Ok(())
    }

    /// Skips the text up to a bracket outside of strings, or to a string with a backslash or of
    /// more than 63 bytes, 64 bytes at a time. The parity of the quotes before a byte tells whether
    /// it is in a string.
    #[inline(always)]
    fn skip_blocks<S: Simd>(&mut self, simd: S) {
        while let Some(block) = self.text[self.at..].first_chunk::<64>() {
            let bytes = u8x64::from_slice(simd, block);
            let below = |bit: u32| 1u64.checked_shl(bit).unwrap_or(0).wrapping_sub(1);
            let slash = bytes.simd_eq(b'\\').to_bitmask().trailing_zeros();
            let quotes = bytes.simd_eq(b'"').to_bitmask() & below(slash);
            // A bit of `strings` is set behind an odd number of quotes.
            let mut strings = quotes;
            for shift in [1, 2, 4, 8, 16, 32] {
                strings ^= strings << shift;
            }
            // A string that goes on is read again, from its quote on.
            let end = match quotes.count_ones() % 2 {
                0 => slash,
                _ => 63 - quotes.leading_zeros(),
            };
            // All brackets, and a few bytes that are no JSON outside of strings.
            let brackets = (bytes | u8x64::splat(simd, 0x26)).simd_eq(0x7f).to_bitmask();
            let length = (brackets & !strings).trailing_zeros().min(end);
            if length == 0 {
                return;
            }
            let feeds = bytes.simd_eq(b'\n').to_bitmask() & below(length);
            self.line += u64::from(feeds.count_ones());
            self.at += length as usize;
        }
    }
}

/// Returns whether a text begins as JSON: with an object that has a key, or with an array of such
/// objects.
pub fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    first_value(text.strip_prefix(b"[").unwrap_or(text)).is_some()
}

/// Returns the first byte of the first value of the JSON object that a text begins with; `None`
/// without one.
pub fn first_value(text: &[u8]) -> Option<u8> {
    let mut cursor = Cursor::new(text.trim_ascii_start(), true, 1);
    cursor.expect(b'{', "'{'").ok()?;
    cursor.string("a key").ok()?;
    cursor.expect(b':', "':'").ok()?;
    cursor.peek().ok()?
}

/// The way of a walk to the entries of a document.
pub trait Way: Send {
    /// Returns whether the values of an object or array are entries. Its first byte is `open`, and
    /// `keys` are those of all objects and arrays around it and its own, from the outermost, which
    /// has no key.
    fn has_entries(&mut self, keys: &[Vec<u8>], open: u8) -> bool;

    /// Returns the first byte of a document.
    fn start(&self) -> u8 {
        b'{'
    }

    /// Returns whether keys of entries are queries, which must not occur twice.
    fn has_queries_as_keys(&self) -> bool {
        false
    }

    /// Returns what is wrong with the document as a whole, once it was read.
    fn end(&self) -> Option<String> {
        None
    }
}

/// The way to the values of the outermost object, the documents of a query each, or to the records
/// of the outermost array. The byte opens it.
pub struct Outermost(pub u8);

impl Way for Outermost {
    fn has_entries(&mut self, _: &[Vec<u8>], _: u8) -> bool {
        true
    }

    fn start(&self) -> u8 {
        self.0
    }

    fn has_queries_as_keys(&self) -> bool {
        self.0 == b'{'
    }
}

/// The most objects and arrays around the entries: what lies deeper is passed over.
const DEEPEST: usize = 32;
/// The most bytes of an entry, such as all documents of a query.
const LONGEST_ENTRY: usize = 256 << 20;

/// An object or array that a walk is inside of.
#[derive(Clone, Copy)]
struct OpenLevel {
    open: u8,
    /// Whether none of its content was read yet.
    first: bool,
    /// Whether its values are entries.
    entries: bool,
}

/// A walk over a text with one document of JSON or several, and its place in the text.
pub struct JsonWalk<W> {
    way: W,
    open: Vec<OpenLevel>,
    keys: Vec<Vec<u8>>,
    line: u64,
    /// Whether a document was read.
    any: bool,
    /// The hashes of the queries of the object at hand, if keys are queries.
    queries: HashSet<u128>,
}

impl<W: Way> JsonWalk<W> {
    pub fn new(way: W) -> Self {
        let (open, keys, queries) = Default::default();
        Self { way, open, keys, line: 1, any: false, queries }
    }

    /// Reads the next item of the text; returns `false` at its end.
    fn step(&mut self, cursor: &mut Cursor<'_>, rows: &mut RowBatch) -> JsonResult<bool> {
        let Some(&OpenLevel { open, first, entries }) = self.open.last() else {
            return self.open_document(cursor);
        };
        let close = if open == b'{' { b'}' } else { b']' };
        if !cursor.next_item(first, close)? {
            self.open.pop();
            self.keys.pop();
            return Ok(true);
        }
        let mut named = None;
        if open == b'{' {
            let what = if entries { "a query in quotes" } else { "a key in quotes" };
            named = Some((cursor.string(what)?, cursor.line));
            cursor.expect(b':', "':'")?;
        }
        let byte = cursor.peek()?;
        let before = *cursor;
        let (key, line): (&[u8], _) = named.unwrap_or((b"", before.line));
        if let Some(open @ (b'{' | b'[')) = byte
            && !entries
            && self.open.len() < DEEPEST
        {
            cursor.at += 1;
            self.enter(open, key);
            return Ok(true);
        }
        let value = cursor.value().map_err(|stuck| Self::at_first_fault(stuck, before, cursor))?;
        if entries {
            match self.again(key) {
                Some(message) => rows.fault(line, message),
                None => rows.entry(Entry { line, value_line: before.line, key, value }),
            }
        }
        self.begin_next();
        Ok(true)
    }

    /// Returns the fault of a value that began at `before`. Without one of its quotes a string goes
    /// on to the end of the text, and serde_json may say where the quote is missing.
    fn at_first_fault(stuck: Stuck, before: Cursor<'_>, cursor: &mut Cursor<'_>) -> Stuck {
        let text = &before.text[before.at..];
        if stuck == Stuck::Wrong(IN_STRING.to_owned())
            && let Some(fault) = first_fault(text)
        {
            cursor.line = fault.line(text, before.line);
            return Stuck::Wrong(fault.message);
        }
        stuck
    }

    /// Notes that an item of the object or array at hand was read or entered.
    fn begin_next(&mut self) {
        if let Some(level) = self.open.last_mut() {
            level.first = false;
        }
    }

    /// Enters an object or array behind a key.
    fn enter(&mut self, open: u8, key: &[u8]) {
        self.begin_next();
        self.keys.push(unescaped(key).unwrap_or(Cow::Borrowed(key)).into_owned());
        let entries = self.way.has_entries(&self.keys, open);
        // A query must not occur again in a second document either.
        if entries && !self.open.is_empty() {
            self.queries.clear();
        }
        self.open.push(OpenLevel { open, first: true, entries });
    }

    /// Returns the message about a query that occurs again among the entries of an object.
    fn again(&mut self, key: &[u8]) -> Option<String> {
        if !self.way.has_queries_as_keys() {
            return None;
        }
        let query = unescaped(key).ok()?;
        (!self.queries.insert(xxh3_128(&query)))
            .then(|| format!("query {} occurs again", quoted(&query)))
    }

    /// Opens the next document of the text; returns `false` at its end.
    fn open_document(&mut self, cursor: &mut Cursor<'_>) -> JsonResult<bool> {
        let open = self.way.start();
        match cursor.peek()? {
            None if self.any => return Ok(false),
            Some(_) if self.any && open == b'[' => {
                return Err(cursor.unexpected("the end of the text"));
            }
            Some(byte) if byte == open => cursor.at += 1,
            _ => return Err(cursor.unexpected(&format!("'{}'", char::from(open)))),
        }
        self.any = true;
        self.enter(open, b"");
        Ok(true)
    }
}

impl<W: Way> Sequence for JsonWalk<W> {
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize> {
        let mut cursor = Cursor::new(text, ended, self.line);
        while !rows.are_enough() {
            let before = cursor;
            match self.step(&mut cursor, rows) {
                Ok(true) => {}
                Ok(false) => {
                    if let Some(message) = self.way.end() {
                        rows.fault(0, message);
                    }
                    rows.ended = true;
                    break;
                }
                Err(Stuck::Incomplete) => {
                    cursor = before;
                    break;
                }
                Err(Stuck::Wrong(message)) => {
                    rows.end_with(cursor.line, message);
                    break;
                }
            }
        }
        self.line = cursor.line;
        Ok(cursor.at)
    }

    fn longest_part(&self) -> usize {
        LONGEST_ENTRY
    }
}
