//! The separators of a table's columns (tab, comma, semicolon, blanks), and the splitting of a line
//! into fields.

use std::borrow::Cow;

use memchr::memchr;

use super::scan::{self, is_separator, offset_in};

/// The separator between the fields of a table: blanks, a tab, a comma or a semicolon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// Any number of blanks. A `#` at the start of a line begins a comment.
    Blanks,
    /// A tab. Quotes count only around a whole field.
    Tab,
    /// A comma. A quote at the start of a field needs a quote at its end.
    Comma,
    /// A semicolon, with the quotes of commas: CSV where the comma is in numbers.
    Semicolon,
    /// The unit separator of ASCII, without quotes: between fields that had quotes in them.
    Unit,
}

impl Separator {
    /// The separators that the first line `sep=;` may name, as Excel writes and reads it.
    const NAMED: [Self; 3] = [Self::Semicolon, Self::Comma, Self::Tab];

    /// Returns the separator that a line names (`sep=;`), if the line does nothing else.
    pub fn named(line: &[u8]) -> Option<Self> {
        let [byte] = line.strip_suffix(b"\r").unwrap_or(line).strip_prefix(b"sep=")? else {
            return None;
        };
        Self::NAMED.into_iter().find(|separator| separator.byte() == *byte)
    }

    pub fn byte(self) -> u8 {
        match self {
            Self::Blanks => b' ',
            Self::Tab => b'\t',
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Unit => 0x1f,
        }
    }

    #[inline(always)]
    pub fn is(self, byte: u8) -> bool {
        match self {
            Self::Blanks => is_separator(byte) && byte != b'\n',
            other => byte == other.byte(),
        }
    }

    pub fn has_quotes(self) -> bool {
        !matches!(self, Separator::Blanks | Separator::Unit)
    }

    /// Returns whether a quote at the start of a field needs one at its end.
    pub fn is_strict(self) -> bool {
        matches!(self, Separator::Comma | Separator::Semicolon)
    }

    /// Splits a line of a table into its fields without the quotes around them, for messages and
    /// previews.
    pub fn fields(self, line: &[u8]) -> Vec<&[u8]> {
        split(line, self)
            .unwrap_or_default()
            .into_iter()
            .map(|field| &line[field.start..field.end])
            .collect()
    }
}

/// The place of a field in a line of a table, and whether quotes in it are written twice.
#[derive(Clone, Copy)]
pub struct Field {
    pub start: usize,
    pub end: usize,
    /// Whether the field contains quotes, each written twice.
    pub escaped: bool,
}

impl Field {
    /// Returns the text of the field in its line, with its quotes written once.
    pub fn text(self, line: &[u8]) -> Cow<'_, [u8]> {
        let bytes = &line[self.start..self.end];
        if !self.escaped {
            return Cow::Borrowed(bytes);
        }
        let mut plain = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            plain.push(bytes[at]);
            at += if bytes[at] == b'"' { 2 } else { 1 };
        }
        Cow::Owned(plain)
    }
}

/// Splits a line of a table, without its line feed, into the places of its fields; `None` if a
/// quoted field is not closed on its line, or has text behind the closing quote.
pub fn split(line: &[u8], separator: Separator) -> Option<Vec<Field>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if separator == Separator::Blanks {
        let fields = scan::split(line).map(|field| {
            let start = offset_in(line, field);
            Field { start, end: start + field.len(), escaped: false }
        });
        return Some(fields.collect());
    }
    let (mut fields, mut at) = (Vec::new(), 0);
    let byte = separator.byte();
    loop {
        let between = separator.has_quotes() && line.get(at) == Some(&b'"');
        let field = match between.then(|| in_quotes(line, at, byte)).flatten() {
            Some(field) => field,
            None if between && separator.is_strict() => return None,
            None => {
                let end = memchr(byte, &line[at..]).map_or(line.len(), |length| at + length);
                Field { start: at, end, escaped: false }
            }
        };
        fields.push(field);
        let after = field.end + usize::from(between && line.get(field.end) == Some(&b'"'));
        if after >= line.len() {
            return Some(fields);
        }
        at = after + 1;
    }
}

/// Returns the quoted field of a table line that begins at `at`; `None` if no quote ends the field.
fn in_quotes(line: &[u8], at: usize, separator: u8) -> Option<Field> {
    let (mut end, mut escaped) = (at + 1, false);
    loop {
        end += memchr(b'"', &line[end..])?;
        match line.get(end + 1) {
            None => break,
            Some(&byte) if byte == separator => break,
            Some(b'"') => (end, escaped) = (end + 2, true),
            Some(_) => return None,
        }
    }
    Some(Field { start: at + 1, end, escaped })
}
