//! JSON: tokens, and objects of queries with objects of documents, read without a tree.
//!
//! ```text
//! {"query": {"document": number, …}, …}
//! ```
//!
//! Numbers are passed on as they are written. A text may hold several objects in sequence. Nearly
//! all documents and numbers are written plainly, and vector comparisons of 64 bytes find such a
//! pair.

use std::borrow::Cow;
use std::collections::HashSet;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};
use memchr::{memchr, memchr3};
use xxhash_rust::xxh3::xxh3_128;

use super::made::{MadeOf, MadeRows, MakeRows, wrong_id};
use crate::lines::diagnostics::quoted;

/// The reason why a token cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    /// The text continues beyond the part that is read.
    Incomplete,
    /// The text is not JSON, or not the JSON that was expected; what to say of it.
    Wrong(String),
}

type JsonResult<T> = std::result::Result<T, Stuck>;

/// A value of JSON, or its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    String(Cow<'t, [u8]>),
    /// A number, `true`, `null` and the like, as it is written.
    Word(&'t [u8]),
    /// The start of an object or an array: its first byte.
    Open(u8),
}

/// Whether a byte, by its number, can be in a number or another word.
pub(super) const IN_WORDS: [bool; 256] = {
    let (mut all, mut byte) = ([false; 256], 0);
    while byte < 256 {
        let of = byte as u8;
        all[byte] = of.is_ascii_alphanumeric() || matches!(of, b'.' | b'-' | b'+' | b'_');
        byte += 1;
    }
    all
};

/// A position in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'t> {
    text: &'t [u8],
    pub at: usize,
    /// Whether nothing follows `text`.
    ended: bool,
    /// The line of the position.
    pub line: u64,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8], ended: bool, line: u64) -> Self {
        Cursor { text, at: 0, ended, line }
    }

    /// Skips blanks and returns the next byte without consuming the byte; `None` at the end of the
    /// text.
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

    /// Consumes the next non-blank byte if the byte is `byte`; returns `true` if so.
    #[inline(always)]
    pub fn passes(&mut self, byte: u8) -> JsonResult<bool> {
        let is = self.peek()? == Some(byte);
        self.at += usize::from(is);
        Ok(is)
    }

    /// Consumes the expected `byte`; `what` names the expected token in an error.
    #[inline(always)]
    pub fn expect(&mut self, byte: u8, what: &str) -> JsonResult<()> {
        if self.passes(byte)? { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// Makes the error for an unexpected text in place of `what`.
    #[cold]
    pub fn unexpected(&self, what: &str) -> Stuck {
        const SHOWN: usize = 20;
        let rest = &self.text[self.at..];
        if !self.ended && rest.len() < SHOWN && memchr(b'\n', rest).is_none() {
            return Stuck::Incomplete; // the message is then the same wherever the text is cut
        }
        if rest.is_empty() {
            return Stuck::Wrong(format!(
                "the JSON ends here, where {what} was expected: is the file complete?"
            ));
        }
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Stuck::Wrong(format!("{what} was expected at {}", quoted(&line[..line.len().min(SHOWN)])))
    }

    /// Reads a string, without its quotes; `what` names the expected token in an error.
    #[inline(always)]
    pub fn string(&mut self, what: &str) -> JsonResult<Cow<'t, [u8]>> {
        self.expect(b'"', what)?;
        let start = self.at;
        match memchr3(b'"', b'\\', b'\n', &self.text[start..]) {
            Some(length) if self.text[start + length] == b'"' => {
                self.at = start + length + 1;
                Ok(Cow::Borrowed(&self.text[start..start + length]))
            }
            _ => self.escaped(start),
        }
    }

    /// Reads a string that has escapes or line feeds, and begins at `start`.
    #[cold]
    fn escaped(&mut self, start: usize) -> JsonResult<Cow<'t, [u8]>> {
        let ended = self.ended;
        let more = || {
            if ended {
                Stuck::Wrong("the JSON ends within a string: is the file complete?".to_owned())
            } else {
                Stuck::Incomplete
            }
        };
        let (mut string, mut at, mut lines) = (Vec::new(), start, 0);
        loop {
            let length = memchr3(b'"', b'\\', b'\n', &self.text[at..]).ok_or_else(more)?;
            string.extend_from_slice(&self.text[at..at + length]);
            at += length + 1;
            match self.text[at - 1] {
                b'"' => {
                    (self.at, self.line) = (at, self.line + lines);
                    return Ok(Cow::Owned(string));
                }
                b'\n' => {
                    lines += 1;
                    string.push(b'\n');
                    continue;
                }
                _ => {}
            }
            let escape = *self.text.get(at).ok_or_else(more)?;
            at += 1;
            let byte = match escape {
                b'"' | b'\\' | b'/' => escape,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'u' => {
                    let (character, length) = self.unicode(at)?.ok_or_else(more)?;
                    string.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    at += length;
                    continue;
                }
                _ => {
                    return Err(Stuck::Wrong(format!(
                        "\\{} is not an escape of JSON",
                        escape.escape_ascii()
                    )));
                }
            };
            string.push(byte);
        }
    }

    /// Reads the character of the digits behind `\u` at `at`, and returns it with their number of
    /// bytes; `None` if the text ends before.
    fn unicode(&self, at: usize) -> JsonResult<Option<(char, usize)>> {
        let code = |at: usize| {
            let Some(digits) = self.text.get(at..at + 4) else { return Ok(None) };
            let code = std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| u32::from_str_radix(digits, 16).ok());
            code.map(Some).ok_or_else(|| {
                Stuck::Wrong("four hexadecimal digits were expected behind \\u".to_owned())
            })
        };
        let Some(first) = code(at)? else { return Ok(None) };
        if !(0xd800..0xdc00).contains(&first) {
            return match char::from_u32(first) {
                Some(character) => Ok(Some((character, 4))),
                None => Err(lone_surrogate()),
            };
        }
        match self.text.get(at + 4..at + 6) {
            None => return Ok(None),
            Some(b"\\u") => {}
            Some(_) => return Err(lone_surrogate()),
        }
        let Some(second) = code(at + 6)? else { return Ok(None) };
        let low =
            second.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or_else(lone_surrogate)?;
        let character =
            char::from_u32(0x10000 + ((first - 0xd800) << 10) + low).ok_or_else(lone_surrogate)?;
        Ok(Some((character, 10)))
    }

    /// Reads a value, or the start of an object or array.
    #[inline(always)]
    pub fn value(&mut self) -> JsonResult<Token<'t>> {
        match self.peek()? {
            Some(b'"') => self.string("a string").map(Token::String),
            Some(open @ (b'{' | b'[')) => {
                self.at += 1;
                Ok(Token::Open(open))
            }
            _ => self.word().map(Token::Word),
        }
    }

    #[inline(always)]
    fn word(&mut self) -> JsonResult<&'t [u8]> {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| !IN_WORDS[usize::from(byte)]);
        let length = match length {
            None if !self.ended => return Err(Stuck::Incomplete),
            other => other.unwrap_or(rest.len()),
        };
        if length == 0 {
            return Err(self.unexpected("a value"));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// Passes the rest of an object or array that was opened by the byte `open`.
    pub fn skip_rest(&mut self, open: u8) -> JsonResult<()> {
        let mut opened = vec![open];
        while let Some(&last) = opened.last() {
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
}

/// A document and its number in a text: for each of the two, 64 bytes, and the length within these
/// bytes.
struct PlainPair<'t> {
    doc: (&'t [u8; 64], usize),
    number: (&'t [u8; 64], usize),
    /// The place behind the number.
    end: usize,
    /// The place of the next document, if a comma, perhaps a blank, and a quote stand before it,
    /// all within the same 64 bytes.
    next: Option<usize>,
}

impl<'t> Cursor<'t> {
    /// Reads the document at `start`, behind its quote, and its number, if they are written
    /// plainly: the document without escapes, then a colon and only a number, all within 64 bytes.
    ///
    /// The place of the next document follows from the quotes alone, and the number only confirms
    /// the place. So a processor fetches the next 64 bytes while this iteration still compares the
    /// current 64 bytes.
    #[inline(always)]
    fn plain_pair<S: Simd>(&self, simd: S, start: usize) -> Option<PlainPair<'t>> {
        let text = self.text.get(start..)?.first_chunk::<128>()?;
        let doc = text.first_chunk::<64>()?;
        let bytes = u8x64::from_slice(simd, doc);
        let quotes = bytes.simd_eq(b'"').to_bitmask();
        let next = (quotes & quotes.wrapping_sub(1)).trailing_zeros() as usize;
        let odd = (bytes.simd_eq(b'\\') | bytes.simd_lt(b' ')).to_bitmask();
        let length = quotes.trailing_zeros() as usize;
        if length == 0
            || length > 60
            || odd & (quotes ^ quotes.wrapping_sub(1)) != 0
            || text[length + 1] != b':'
        {
            return None;
        }
        let from = length + 2 + usize::from(text[length + 2] == b' ');
        let digits = (bytes - u8x64::splat(simd, b'0')).simd_lt(10);
        let signs = bytes.simd_eq(b'.') | bytes.simd_eq(b'-') | bytes.simd_eq(b'e');
        let others = !(digits | signs).to_bitmask() >> from;
        let digits = others.trailing_zeros() as usize;
        if others == 0
            || digits == 0
            || !matches!(text[from + digits], b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t')
        {
            return None;
        }
        let number = text.get(from..)?.first_chunk::<64>()?;
        let end = from + digits;
        let is_next =
            text[end] == b',' && (next == end + 1 || next == end + 2 && text[end + 1] == b' ');
        let next = (is_next && next < 64).then_some(start + next + 1);
        Some(PlainPair { doc: (doc, length), number: (number, digits), end: start + end, next })
    }
}

#[cold]
fn lone_surrogate() -> Stuck {
    Stuck::Wrong("half of a surrogate pair without the other half after \\u".to_owned())
}

/// Checks whether a text begins with an object that has a key, or with an array of such objects.
pub fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    first_value(text.strip_prefix(b"[").unwrap_or(text)).is_some()
}

/// Returns the first byte of the first value of the object that a text begins with; `None` if it
/// does not begin with an object.
pub fn first_value(text: &[u8]) -> Option<u8> {
    let mut cursor = Cursor::new(text.trim_ascii_start(), true, 1);
    cursor.expect(b'{', "'{'").ok()?;
    cursor.string("a key").ok()?;
    cursor.expect(b':', "':'").ok()?;
    cursor.peek().ok()?
}

/// Describes objects of queries, for messages; `number` is the number of a document: a grade or a
/// score.
pub(super) fn objects(number: &str) -> String {
    format!("{{\"query\": {{\"document\": {number}, …}}, …}}")
}

/// A position in objects of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectPosition {
    /// Before an object, the first or another.
    Outside { first: bool },
    /// In an object of queries, before the first query or another.
    Queries { first: bool },
    /// In an object of documents, before the first document or another.
    Documents { first: bool },
}

/// Makes rows of objects of queries.
#[derive(Debug)]
pub(super) struct Objects {
    level: Level,
    place: ObjectPosition,
    line: u64,
    query: Vec<u8>,
    /// The hashes of all queries.
    met: HashSet<u128>,
    /// The number of a document: a grade or a score.
    number: &'static str,
    /// Whether the rows come from a single object, nested as a value in another object.
    inner: bool,
}

impl Objects {
    /// Makes a maker of rows; `number` names the number of a document: a grade or a score.
    pub fn new(number: &'static str) -> Self {
        let (query, met) = Default::default();
        Objects {
            level: Level::new(),
            place: ObjectPosition::Outside { first: true },
            line: 1,
            query,
            met,
            number,
            inner: false,
        }
    }

    /// Makes a maker of the rows of one object of queries, which was opened on line `line`, in
    /// another object.
    pub fn inner(number: &'static str, line: u64) -> Self {
        let place = ObjectPosition::Queries { first: true };
        Objects { place, line, inner: true, ..Objects::new(number) }
    }

    /// Returns the line behind the object in another, if it has ended.
    pub fn end(&self) -> Option<u64> {
        (self.inner && matches!(self.place, ObjectPosition::Outside { .. })).then_some(self.line)
    }

    /// Makes rows of documents that are written plainly, up to the first that is not.
    #[inline(always)]
    fn plain_documents<S: Simd>(&mut self, simd: S, cursor: &mut Cursor<'_>, rows: &mut MadeRows) {
        while let ObjectPosition::Documents { first } = self.place
            && !rows.are_enough()
            && rows.has_prefix()
        {
            let mut ahead = *cursor;
            if !first && ahead.passes(b',') != Ok(true) || ahead.passes(b'"') != Ok(true) {
                return;
            }
            let mut start = ahead.at;
            loop {
                let Some(PlainPair { doc, number, end, next }) = ahead.plain_pair(simd, start)
                else {
                    return;
                };
                rows.plain_row(ahead.line, doc, number);
                (cursor.at, cursor.line) = (end, ahead.line);
                self.place = ObjectPosition::Documents { first: false };
                match next {
                    Some(next) if !rows.are_enough() => start = next,
                    _ => break,
                }
            }
        }
    }

    #[inline(always)]
    fn make_at<S: Simd>(
        &mut self,
        simd: S,
        text: &[u8],
        ended: bool,
        rows: &mut MadeRows,
    ) -> usize {
        let mut cursor = Cursor::new(text, ended, self.line);
        while !rows.are_enough() {
            self.plain_documents(simd, &mut cursor, rows);
            let before = cursor;
            match self.step(&mut cursor, rows) {
                Ok(true) if self.inner && matches!(self.place, ObjectPosition::Outside { .. }) => {
                    break;
                }
                Ok(true) => {}
                Ok(false) => break,
                Err(Stuck::Incomplete) => {
                    cursor = before;
                    break;
                }
                Err(Stuck::Wrong(message)) => {
                    rows.wrong_from_here(cursor.line, &message);
                    break;
                }
            }
        }
        self.line = cursor.line;
        cursor.at
    }

    /// Reads the next item; returns `false` at the end.
    fn step(&mut self, cursor: &mut Cursor<'_>, rows: &mut MadeRows) -> JsonResult<bool> {
        match self.place {
            ObjectPosition::Documents { first } => {
                if first || !cursor.passes(b',')? {
                    if cursor.passes(b'}')? {
                        if first {
                            rows.bare_query(&self.query);
                        }
                        self.place = ObjectPosition::Queries { first: false };
                        return Ok(true);
                    }
                    if !first {
                        return Err(cursor.unexpected("',' or '}'"));
                    }
                }
                let doc = cursor.string("a document in quotes")?;
                let line = cursor.line;
                cursor.expect(b':', "':'")?;
                match cursor.value()? {
                    Token::Word(number) if !doc.is_empty() && !has_control(&doc) => {
                        rows.row(line, &self.query, &doc, number);
                    }
                    value => self.wrong_value(value, &doc, line, cursor, rows)?,
                }
                self.place = ObjectPosition::Documents { first: false };
            }
            ObjectPosition::Queries { first } => self.query(first, cursor, rows)?,
            ObjectPosition::Outside { first } => {
                match cursor.peek()? {
                    None if !first => return Ok(false),
                    Some(b'{') => cursor.at += 1,
                    _ => return Err(cursor.unexpected("'{'")),
                }
                self.place = ObjectPosition::Queries { first: true };
            }
        }
        Ok(true)
    }

    fn query(
        &mut self,
        first: bool,
        cursor: &mut Cursor<'_>,
        rows: &mut MadeRows,
    ) -> JsonResult<()> {
        if first || !cursor.passes(b',')? {
            if cursor.passes(b'}')? {
                self.place = ObjectPosition::Outside { first: false };
                return Ok(());
            }
            if !first {
                return Err(cursor.unexpected("',' or '}'"));
            }
        }
        let query = cursor.string("a query in quotes")?;
        let line = cursor.line;
        cursor.expect(b':', "':'")?;
        let value = cursor.value()?;
        let again = self.met.contains(&xxh3_128(&query));
        let wrong = match &value {
            Token::Open(b'{') => wrong_id("query", &query)
                .or_else(|| again.then(|| format!("query {} occurs again", quoted(&query)))),
            Token::String(_) => Some(format!(
                "query {} has a string, and not an object of documents",
                quoted(&query)
            )),
            Token::Open(_) => Some(format!(
                "query {} has an array, and not an object of documents",
                quoted(&query)
            )),
            Token::Word(word) => Some(format!(
                "query {} has {}, and not an object of documents",
                quoted(&query),
                quoted(word)
            )),
        };
        if let (Some(_), Token::Open(open)) = (&wrong, &value) {
            cursor.skip_rest(*open)?;
        }
        self.place = match wrong {
            Some(wrong) => {
                rows.wrong(line, &wrong);
                ObjectPosition::Queries { first: false }
            }
            None => {
                self.met.insert(xxh3_128(&query));
                query.as_ref().clone_into(&mut self.query);
                rows.begin_query(&self.query);
                ObjectPosition::Documents { first: true }
            }
        };
        Ok(())
    }

    /// Says what is wrong with a document or its number.
    #[cold]
    fn wrong_value(
        &self,
        value: Token<'_>,
        doc: &[u8],
        line: u64,
        cursor: &mut Cursor<'_>,
        rows: &mut MadeRows,
    ) -> JsonResult<()> {
        let (query, number) = (quoted(&self.query), self.number);
        let what = match value {
            Token::Open(open) => {
                cursor.skip_rest(open)?;
                if open == b'{' { "an object".to_owned() } else { "an array".to_owned() }
            }
            Token::String(string) => format!("the string {}", quoted(&string)),
            Token::Word(word) => quoted(word),
        };
        let message = wrong_id("document", doc).map_or_else(
            || format!("document {} of query {query} has {what}, and not a {number}", quoted(doc)),
            |wrong| format!("{wrong}, of query {query}"),
        );
        rows.wrong(line, &message);
        Ok(())
    }
}

/// Checks for control characters. It looks at all bytes, without a branch for each.
#[inline(always)]
fn has_control(id: &[u8]) -> bool {
    id.iter().fold(false, |found, &byte| found | (byte < b' '))
}

/// Objects of objects; the text is what their numbers are called.
#[derive(Debug)]
pub(super) struct OfObjects(pub &'static str);

impl MadeOf for OfObjects {
    fn maker(&self) -> std::io::Result<Box<dyn MakeRows + '_>> {
        Ok(Box::new(Objects::new(self.0)))
    }
}

impl MakeRows for Objects {
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> std::io::Result<usize> {
        let level = self.level;
        Ok(dispatch!(level, simd => self.make_at(simd, text, ended, rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> JsonResult<String> {
        let string = Cursor::new(text.as_bytes(), true, 1).string("a string")?;
        Ok(String::from_utf8(string.into_owned()).unwrap())
    }

    #[test]
    fn strings_are_those_of_serde_json() {
        for text in [
            r#""""#,
            r#""plain""#,
            r#""a\"b\\c\/d\b\f\n\r\té""#,
            r#""\u00e9\u0041\ud83d\ude00z""#,
            r#""\uD834\udd1e""#,
        ] {
            assert_eq!(string(text), Ok(serde_json::from_str::<String>(text).unwrap()), "{text}");
        }
        for text in [
            r#""\x""#,
            r#""\u12g4""#,
            r#""\ud83d""#,
            r#""\ud83dx""#,
            r#""\ud83d\u0041""#,
            r#""\udc00""#,
            r#""a"#,
            r#""a\"#,
            r#""\u12"#,
        ] {
            assert!(matches!(string(text), Err(Stuck::Wrong(_))), "{text}");
            assert!(serde_json::from_str::<String>(text).is_err());
        }
    }
}
