//! Judgments and results as JSON: records, lists, objects of queries, and files of platforms.
//!
//! ```text
//! walk       walks a document, and cuts it into entries: a record, or a query with its documents
//! objects    {"query": {"document": number, …}, …}
//! records    {"query_id": "q1", "doc_id": "d7", "score": 0.5}, on lines or in an array
//! lists      records of a query with a list of documents
//! platforms  files of MTEB, LlamaIndex, Elasticsearch, OpenSearch and Quepid
//! ```
//!
//! A document may be larger than memory, and serde_json cannot read on where a text was cut. So a
//! document is walked by its brackets and quotes alone, up to the end of each entry; serde_json
//! then reads entries, on all threads. Values are read as they are written: each digit of a number
//! is kept.

pub mod lists;
pub mod objects;
pub mod platforms;
pub mod records;
pub mod walk;

use std::{borrow::Cow, fmt, ops::Range};

use memchr::{memchr, memchr_iter};
use serde::{
    Deserialize,
    de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::lines::{diagnostics::quoted, row::wrong_id, scan::offset_in};

/// The fault of a JSON text, and the byte at which it was found.
#[derive(Debug)]
pub(super) struct JsonFault {
    pub at: usize,
    pub message: String,
}

/// The most bytes of a text that a message about it shows.
const SHOWN: usize = 20;

/// Returns the start of the first line of a text, in quotes, for messages.
fn quoted_start(text: &[u8]) -> String {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    quoted(&line[..line.len().min(SHOWN)])
}

impl JsonFault {
    /// Makes the fault of a text that serde_json does not read.
    fn new(text: &[u8], error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
        let line = text.split(|&byte| byte == b'\n').nth(error.line().saturating_sub(1));
        let line = line.unwrap_or_default();
        let at = line.len().min(error.column().saturating_sub(1));
        let rest = &line[at..];
        let message = if error.is_eof() {
            let within = if message.contains("string") { "within a string" } else { "here" };
            format!("the JSON ends {within}: is the file complete?")
        } else if rest.is_empty() {
            message.to_owned()
        } else {
            format!("{message} at {}", quoted_start(rest))
        };
        Self { at: offset_in(text, line) + at, message }
    }

    /// Returns the line of the fault in `text`, whose first line is `first`.
    pub fn line(&self, text: &[u8], first: u64) -> u64 {
        first + memchr_iter(b'\n', &text[..self.at]).count() as u64
    }
}

/// The message of a fault in a value whose line is known.
impl From<JsonFault> for String {
    fn from(fault: JsonFault) -> Self {
        fault.message
    }
}

/// JSON as bytes, and as a string if it is UTF-8 as a whole.
#[derive(Clone, Copy)]
pub(super) struct JsonBytes<'t> {
    bytes: &'t [u8],
    utf8: Option<&'t str>,
}

impl<'t> From<&'t [u8]> for JsonBytes<'t> {
    fn from(bytes: &'t [u8]) -> Self {
        Self { bytes, utf8: str::from_utf8(bytes).ok() }
    }
}

/// Reads JSON by `read`. What serde_json refuses may still be read, if it is [`plain_json`] with
/// the same lengths: then `read` reads that, and the bytes of keys and values are those of `text`.
fn read_json<T>(
    text: JsonBytes<'_>,
    mut read: impl FnMut(&str) -> serde_json::Result<T>,
) -> Result<T, JsonFault> {
    let fault = match text.utf8.map(&mut read) {
        Some(Ok(read)) => return Ok(read),
        Some(Err(error)) => JsonFault::new(text.bytes, &error),
        None => {
            let at = str::from_utf8(text.bytes).err().map_or(0, |error| error.valid_up_to());
            let rest = quoted_start(&text.bytes[at..]);
            JsonFault { at, message: format!("the JSON is not UTF-8 at {rest}") }
        }
    };
    let Some(plain) = plain_json(text.bytes) else { return Err(fault) };
    read(&plain).map_err(|error| JsonFault::new(text.bytes, &error))
}

/// Returns JSON of the same length for what other programs write as JSON: the numbers `NaN` and
/// `Infinity` of Python become zeros, and in strings without escapes control characters become
/// blanks, and all of what is not UTF-8 question marks. `None` if `text` has nothing of that, or is
/// no such JSON.
#[cold]
fn plain_json(text: &[u8]) -> Option<String> {
    let (mut plain, mut at) = (text.to_vec(), 0);
    while let Some(byte) = plain.get(at) {
        match byte {
            b'"' => {
                let length = string_length(&plain[at..])?;
                let string = &mut plain[at..at + length];
                if memchr(b'\\', string).is_none() {
                    let is_utf8 = str::from_utf8(string).is_ok();
                    for byte in string {
                        match byte {
                            ..b' ' => *byte = b' ',
                            0x80.. if !is_utf8 => *byte = b'?',
                            _ => {}
                        }
                    }
                }
                at += length;
            }
            b'N' | b'I' => {
                let number: &[u8] = if *byte == b'N' { b"NaN" } else { b"Infinity" };
                if !plain[at..].starts_with(number) {
                    return None;
                }
                plain[at..at + number.len()].fill(b'0');
                plain[at + 1] = b'.';
                at += number.len();
            }
            _ => at += 1,
        }
    }
    String::from_utf8(plain).ok().filter(|plain| plain.as_bytes() != text)
}

/// Returns the first fault of the value that a text begins with, unless that is the end of the text
/// or a number of Python.
#[cold]
fn first_fault(text: &[u8]) -> Option<JsonFault> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let error = IgnoredAny::deserialize(&mut reader).err().filter(|error| !error.is_eof())?;
    let fault = JsonFault::new(text, &error);
    text.get(fault.at).is_some_and(|byte| !b"NI-".contains(byte)).then_some(fault)
}

/// Returns the length of the string at the start of a text, with its quotes; `None` if it has no
/// end.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns where the part of a text lies.
fn span(part: &str, text: &str) -> Range<usize> {
    let start = offset_in(text.as_bytes(), part.as_bytes());
    start..start + part.len()
}

/// Returns the parts of a text that `read` finds, as they are written.
fn parts(
    text: &[u8],
    read: impl FnMut(&str) -> serde_json::Result<Vec<Range<usize>>>,
) -> Result<Vec<&[u8]>, JsonFault> {
    let spans = read_json(text.into(), read)?;
    Ok(spans.into_iter().map(|span| &text[span]).collect())
}

/// The values of some keys of an object, as they are written, and the index of a key that occurs
/// twice.
pub(super) struct FoundValues<'t, const N: usize> {
    pub values: [Option<&'t [u8]>; N],
    pub again: Option<usize>,
}

/// Returns the values of some keys of the object that `text` is. `place` returns the index of a
/// key.
#[inline(always)]
fn find<'t, const N: usize>(
    text: impl Into<JsonBytes<'t>>,
    place: impl Fn(&[u8]) -> Option<usize>,
) -> Result<FoundValues<'t, N>, JsonFault> {
    let text @ JsonBytes { bytes, .. } = text.into();
    let (spans, again) = read_json(text, |plain| {
        let (mut spans, mut again) = ([const { None }; N], None);
        each_pair(plain, |key, value| {
            if let Some(at) = place(key.bytes_in(plain, bytes))
                && spans[at].replace(span(value, plain)).is_some()
            {
                again = Some(at);
            }
            Ok(())
        })?;
        Ok((spans, again))
    })?;
    let values = spans.map(|span: Option<Range<usize>>| span.map(|span| &bytes[span]));
    Ok(FoundValues { values, again })
}

/// Returns the items of the array that `text` is, as they are written.
pub(super) fn items(text: &[u8]) -> Result<Vec<&[u8]>, JsonFault> {
    parts(text, |text| {
        let mut spans = Vec::new();
        let mut reader = serde_json::Deserializer::from_str(text);
        reader.deserialize_seq(PartVisitor(|_: ObjectKey<'_>, value: &str| {
            spans.push(span(value, text));
            check_length(spans.len())
        }))?;
        reader.end()?;
        Ok(spans)
    })
}

/// The most values of a list. In memory a value takes some forty times its two bytes of text.
const MOST: usize = 1 << 22;

/// Refuses a list of more than 2²² values.
fn check_length(values: usize) -> serde_json::Result<()> {
    if values > MOST {
        let message = format!("a list has more than {MOST} values, which is not read");
        return Err(serde_json::Error::custom(message));
    }
    Ok(())
}

/// Returns the records of a text, one after another or in an array, as they are written.
pub(super) fn records(text: &[u8]) -> Result<Vec<&[u8]>, JsonFault> {
    parts(text, |text| {
        if text.trim_ascii_start().starts_with('[') {
            let values: Vec<&RawValue> = serde_json::from_str(text)?;
            return Ok(values.into_iter().map(|value| span(value.get(), text)).collect());
        }
        let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        values.map(|value| Ok(span(value?.get(), text))).collect()
    })
}

/// The keys of an object, and their values as they are written.
pub(super) type Pairs<'t> = Vec<(Vec<u8>, &'t [u8])>;

/// Returns the keys and values of the object that `text` is.
pub(super) fn pairs(text: &[u8]) -> Result<Pairs<'_>, JsonFault> {
    let pairs = read_json(text.into(), |plain| {
        let mut pairs = Vec::new();
        each_pair(plain, |key, value| {
            pairs.push((key.bytes_in(plain, text).to_vec(), span(value, plain)));
            check_length(pairs.len())
        })?;
        Ok(pairs)
    })?;
    Ok(pairs.into_iter().map(|(key, span)| (key, &text[span])).collect())
}

/// Passes each key and value of the object that `text` is to `take`, the value as it is written.
fn each_pair<'t>(
    text: &'t str,
    take: impl FnMut(ObjectKey<'t>, &'t str) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(PartVisitor(take))?;
    reader.end()
}

/// A key of an object, which is copied only if it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct ObjectKey<'t>(#[serde(borrow)] Cow<'t, str>);

impl ObjectKey<'_> {
    /// Returns where the key begins in `plain`, from which it was read; `None` for a copy.
    fn start_in(&self, plain: &str) -> Option<usize> {
        if let Cow::Borrowed(key) = self.0 { Some(span(key, plain).start) } else { None }
    }

    /// Returns the bytes of the key in `text`, in whose place `plain` was read.
    fn bytes_in<'a>(&'a self, plain: &str, text: &'a [u8]) -> &'a [u8] {
        match self.start_in(plain) {
            Some(start) => &text[start..start + self.0.len()],
            None => self.0.as_bytes(),
        }
    }
}

/// The visitor of an object, or of an array that certainly is one. It passes on values with their
/// keys, and items with an empty key.
struct PartVisitor<F>(F);

impl<'de, F> Visitor<'de> for PartVisitor<F>
where
    F: FnMut(ObjectKey<'de>, &'de str) -> serde_json::Result<()>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<_, &RawValue>()? {
            (self.0)(key, value.get()).map_err(A::Error::custom)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.0)(ObjectKey(Cow::Borrowed("")), item.get()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// A value of JSON: a string, a number or another word as it is written, an object or an array.
pub(super) enum JsonValue<'t> {
    String(Cow<'t, [u8]>),
    Word(&'t [u8]),
    Object(&'t [u8]),
    Array(&'t [u8]),
}

impl<'t> JsonValue<'t> {
    /// Returns the value that is written as `text`.
    ///
    /// # Errors
    /// A string with a wrong escape.
    pub fn parse(text: &'t [u8]) -> Result<Self, String> {
        Ok(match text {
            [b'"', inside @ .., b'"'] => Self::String(unescaped(inside)?),
            [b'{', ..] => Self::Object(text),
            [b'[', ..] => Self::Array(text),
            word => Self::Word(word),
        })
    }

    /// Says what the value is, for messages about a value of the wrong kind.
    #[cold]
    fn described(&self) -> String {
        match self {
            Self::Object(_) => "an object".to_owned(),
            Self::Array(_) => "an array".to_owned(),
            Self::String(string) => format!("the string {}", quoted(string)),
            Self::Word(word) => quoted(word),
        }
    }
}

/// A counter of the lines of a text, up to places that ascend.
pub(super) struct LineCounter<'t> {
    text: &'t [u8],
    has_feeds: bool,
    from: usize,
    line: u64,
}

impl<'t> LineCounter<'t> {
    /// Makes the counter of the lines of a text whose first line is `line`.
    pub fn new(text: &'t [u8], line: u64) -> Self {
        // Most objects are a line, and then nothing is counted.
        Self { text, has_feeds: memchr(b'\n', text).is_some(), from: 0, line }
    }

    /// Returns the line of the byte at `at`.
    #[inline(always)]
    pub fn at(&mut self, at: usize) -> u64 {
        if self.has_feeds {
            self.line += memchr_iter(b'\n', &self.text[self.from..at]).count() as u64;
            self.from = at;
        }
        self.line
    }
}

/// Returns the string that is written as `inside` between two quotes.
///
/// # Errors
/// A wrong escape.
fn unescaped(inside: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if memchr(b'\\', inside).is_none() {
        return Ok(Cow::Borrowed(inside));
    }
    let quotes: [&[u8]; 3] = [b"\"", inside, b"\""];
    match serde_json::from_slice::<String>(&quotes.concat()) {
        Ok(string) => Ok(Cow::Owned(string.into_bytes())),
        Err(error) => Err(JsonFault::new(&quotes.concat(), &error).message),
    }
}

/// Returns the query or document id that a value is: a string, or an integer as it is written.
fn id<'t>(text: &'t [u8], what: &str) -> Result<Cow<'t, [u8]>, String> {
    // Nearly all ids are short, and all of their bytes are looked at without a branch for each.
    if let [b'"', id @ .., b'"'] = text
        && (1..64).contains(&id.len())
        && !id.iter().fold(false, |is, &byte| is | (byte < b' ') | (byte == b'\\'))
    {
        return Ok(Cow::Borrowed(id));
    }
    let found = match JsonValue::parse(text)? {
        JsonValue::String(id) => return wrong_id(what, &id).map_or(Ok(id), Err),
        JsonValue::Word(word) if is_integer(word) => return Ok(Cow::Borrowed(word)),
        JsonValue::Word(word) => quoted(word),
        JsonValue::Object(_) | JsonValue::Array(_) => "an object or an array".to_owned(),
    };
    Err(format!("the {what} is {found}, and neither a string nor an integer"))
}

fn is_integer(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns the grade or score that a value is, as it is written; `the` names it in messages, as in
/// `the score`.
fn number<'t>(text: &'t [u8], the: &str) -> Result<&'t [u8], String> {
    let found = match JsonValue::parse(text)? {
        JsonValue::Word(word) => return Ok(word),
        string @ JsonValue::String(_) => string.described(),
        JsonValue::Object(_) | JsonValue::Array(_) => "an object or an array".to_owned(),
    };
    Err(format!("{the} is {found}, and not a number"))
}
