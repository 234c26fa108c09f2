//! The separators between the fields of a row, and the splitting of a line into fields.

use memchr::memchr;

use super::scan::is_separator;
use crate::bytes::limits::UNIT;

/// The separator between the fields of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// Any number of blanks. A `#` at the start of a line begins a comment.
    Blanks,
    /// A tab. Quotes count only around a whole field.
    Tab,
    /// A comma. A quote at the start of a field needs a quote at its end.
    Comma,
    /// A byte that no text has, and no quotes: rows that were made of another format.
    Unit,
}

impl Separator {
    pub fn byte(self) -> u8 {
        match self {
            Separator::Blanks => b' ',
            Separator::Tab => b'\t',
            Separator::Comma => b',',
            Separator::Unit => UNIT,
        }
    }

    #[inline(always)]
    pub fn is(self, byte: u8) -> bool {
        match self {
            Separator::Blanks => is_separator(byte) && byte != b'\n',
            other => byte == other.byte(),
        }
    }

    pub fn has_quotes(self) -> bool {
        matches!(self, Separator::Tab | Separator::Comma)
    }

    /// Returns the fields of a line without the quotes around them, for messages and previews.
    pub fn fields(self, line: &[u8]) -> Vec<&[u8]> {
        split(line, self)
            .unwrap_or_default()
            .into_iter()
            .map(|field| &line[field.start..field.end])
            .collect()
    }
}

/// A field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub start: usize,
    pub end: usize,
    /// Whether the field contains quotes, each written twice.
    pub escaped: bool,
}

/// An error in quotes: a field begins with a quote and does not end with one on the line, or text
/// follows the closing quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclosed;

/// Splits a line without its line feed into fields.
pub fn split(line: &[u8], separator: Separator) -> Result<Vec<Field>, Unclosed> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (mut fields, mut at) = (Vec::new(), 0);
    if separator == Separator::Blanks {
        loop {
            at += line[at..].iter().take_while(|&&byte| is_separator(byte)).count();
            let length = line[at..].iter().take_while(|&&byte| !is_separator(byte)).count();
            if length == 0 {
                return Ok(fields);
            }
            fields.push(Field { start: at, end: at + length, escaped: false });
            at += length;
        }
    }
    let byte = separator.byte();
    loop {
        let between = separator.has_quotes() && line.get(at) == Some(&b'"');
        let field = match between.then(|| in_quotes(line, at, byte)).flatten() {
            Some(field) => field,
            None if between && separator == Separator::Comma => return Err(Unclosed),
            None => {
                let end = memchr(byte, &line[at..]).map_or(line.len(), |length| at + length);
                Field { start: at, end, escaped: false }
            }
        };
        fields.push(field);
        let after = field.end + usize::from(between && line.get(field.end) == Some(&b'"'));
        if after >= line.len() {
            return Ok(fields);
        }
        at = after + 1;
    }
}

/// Returns the quoted field that begins at `at`; `None` if no quote ends the field.
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
