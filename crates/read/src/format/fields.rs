//! Rows with any columns, which are found by their names: JSON records, or a table whose first line
//! has names.
//!
//! Judgments and results have three fields, and are read where they lie. This module reads smaller
//! inputs: passages by their positions, and the chunks of documents.

use std::borrow::Cow;

use memchr::memchr;

use super::input_format::InputFormat;
use super::json::{Cursor, Stuck, Token};
use super::lists::each_field;
use super::names::are_same;
use super::opened::Opened;
use crate::error::{Error, Problem, Problems, Result};
use crate::lines::diagnostics::{quoted, whole_file};
use crate::lines::separator::{Separator, split};

/// A column to find in a header or in the keys of records.
#[derive(Debug, Clone, Copy)]
pub struct NamedColumn<'a> {
    /// The content of the column, in a word.
    pub what: &'static str,
    /// The only name of the column, if a name was given; `-` stands for no column.
    pub given: Option<&'a str>,
    /// The names of the column; the first name that a header has is taken.
    pub names: &'static [&'static str],
    pub need: Need,
    /// The hint that a message about the name of the column adds.
    pub hint: &'static str,
}

/// The need for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Always,
    /// Only if the next column is missing.
    OrNext,
    Never,
}

/// The values of the columns of a row; `None` if a column is missing, null or empty.
pub type FieldValues<'r> = [Option<Cow<'r, [u8]>>];

/// Passes each row with its line to `take`; an error of `take` becomes a problem of the text.
///
/// # Errors
/// An unreadable text; a missing column; the problems of all rows; no row at all.
pub fn each_named_row(
    text: &Opened,
    columns: &[NamedColumn<'_>],
    take: &mut dyn FnMut(u64, &FieldValues<'_>) -> Result<(), String>,
) -> Result<()> {
    if let Some(format) =
        InputFormat::of_tables(text.content().0).and_then(InputFormat::name_of_tables)
    {
        let message = format!(
            "is {format}, which is not read here: records or a table of text were expected"
        );
        return Err(Error::Input(whole_file(&text.name, message)));
    }
    let whole = text.whole().map_err(|error| Error::io(text.name.as_ref(), "read", error))?;
    let mut problems = Problems::default();
    let mut any = false;
    let mut each = |line: u64, row: Result<&FieldValues<'_>, String>| {
        any = true;
        if let Err(message) = row.and_then(|row| take(line, row)) {
            if problems.first.len() < Problems::LIMIT {
                problems.first.push(Problem { file: text.name.clone(), line, message })
            } else {
                problems.more += 1
            }
        }
    };
    let is_json = matches!(whole.trim_ascii_start().first(), Some(b'{' | b'['));
    let read = if is_json {
        records(&whole, columns, &mut each)
    } else {
        lines(&whole, columns, &mut each)
    };
    if let Err((line, message)) = read {
        problems.first.push(Problem { file: text.name.clone(), line, message });
    } else if !any {
        problems = whole_file(&text.name, "there is no row in it".to_owned());
    }
    if problems.first.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}

/// A callback for each row, with its line, and with its values or an error message.
type HearRow<'a> = dyn FnMut(u64, Result<&FieldValues<'_>, String>) + 'a;

/// A line, and why nothing can be read from there on.
type BrokenOff = (u64, String);

/// The place of a column among names.
fn place_of(column: &NamedColumn<'_>, names: &[Cow<'_, [u8]>]) -> Option<usize> {
    let place = |name: &str| {
        let exact = names.iter().position(|other| **other == *name.as_bytes());
        exact.or_else(|| names.iter().position(|other| are_same(other, name.as_bytes())))
    };
    match column.given {
        Some(name) => names.iter().position(|other| **other == *name.as_bytes()),
        None => column.names.iter().find_map(|name| place(name)),
    }
}

/// The reason why columns cannot be chosen.
pub enum Lacking<'a> {
    /// The name that was given for the column at this place is missing.
    Given(usize, &'a str),
    /// The column at this place has none of its names.
    Column(usize),
}

/// Chooses the columns among names, by place.
///
/// # Errors
/// A missing column.
pub fn choose<'a>(
    names: &[Cow<'_, [u8]>],
    columns: &[NamedColumn<'a>],
) -> Result<Vec<Option<usize>>, Lacking<'a>> {
    let found: Vec<Option<usize>> = columns.iter().map(|column| place_of(column, names)).collect();
    let lacks = |at: &usize| match columns[*at].need {
        Need::Always => found[*at].is_none(),
        Need::OrNext => found[*at].is_none() && found.get(at + 1).is_none_or(Option::is_none),
        Need::Never => false,
    };
    match (0..columns.len()).find(lacks) {
        None => Ok(found),
        Some(at) => {
            Err(columns[at].given.map_or(Lacking::Column(at), |name| Lacking::Given(at, name)))
        }
    }
}

/// Chooses the columns among names as [`choose`], and says what is wrong.
fn chosen(
    names: &[Cow<'_, [u8]>],
    columns: &[NamedColumn<'_>],
) -> Result<Vec<Option<usize>>, String> {
    let among = || names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let said = |what: &'static str| if what == "doc" { "document" } else { what };
    choose(names, columns).map_err(|lacking| match lacking {
        Lacking::Given(at, name) => {
            format!(
                "there is no column `{name}` for the {}: there are {}",
                said(columns[at].what),
                among()
            )
        }
        Lacking::Column(at) => {
            let NamedColumn { what, names, hint, .. } = columns[at];
            let what = said(what);
            format!("no {what} is among {}: its name may be {}{hint}", among(), names.join(", "))
        }
    })
}

/// Reads the lines of a table.
fn lines(
    text: &[u8],
    columns: &[NamedColumn<'_>],
    each: &mut HearRow<'_>,
) -> Result<(), BrokenOff> {
    let (mut number, mut rest) = (0, text);
    let mut next = || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[(end + 1).min(rest.len())..];
        number += 1;
        Some((number, line.strip_suffix(b"\r").unwrap_or(line)))
    };
    let Some((number, header)) = next() else { return Ok(()) };
    let separator = if header.contains(&b'\t') { Separator::Tab } else { Separator::Comma };
    let fields = |line| fields(line, separator);
    let names = fields(header).map_err(|message| (number, message))?;
    let chosen = chosen(&names, columns).map_err(|message| (number, message))?;
    let wide = names.len();
    while let Some((number, line)) = next() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let row = fields(line).and_then(|fields| {
            if fields.len() == wide {
                Ok(fields)
            } else {
                Err(format!("{} fields, and the first line has {wide}", fields.len()))
            }
        });
        let value = |at: usize, row: &[Cow<'_, [u8]>]| {
            Some(row[at].clone().into_owned()).filter(|of| !of.is_empty())
        };
        let row = row.map(|row| {
            chosen
                .iter()
                .map(|at| at.and_then(|at| value(at, &row)).map(Cow::Owned))
                .collect::<Vec<_>>()
        });
        each(number, row.as_deref().map_err(Clone::clone));
    }
    Ok(())
}

/// The fields of a line, without their quotes.
fn fields(line: &[u8], separator: Separator) -> Result<Vec<Cow<'_, [u8]>>, String> {
    let fields =
        split(line, separator).map_err(|_| "a quote is not closed on this line".to_owned())?;
    let of = |field: crate::lines::separator::Field| {
        let bytes = &line[field.start..field.end];
        if field.escaped {
            let mut plain = Vec::with_capacity(bytes.len());
            let mut at = 0;
            while at < bytes.len() {
                plain.push(bytes[at]);
                at += if bytes[at] == b'"' { 2 } else { 1 };
            }
            Cow::Owned(plain)
        } else {
            Cow::Borrowed(bytes)
        }
    };
    Ok(fields.into_iter().map(of).collect())
}

/// Reads records, one after another or in an array.
fn records(
    text: &[u8],
    columns: &[NamedColumn<'_>],
    each: &mut HearRow<'_>,
) -> Result<(), BrokenOff> {
    let mut cursor = Cursor::new(text, true, 1);
    let mut chosen: Option<Keys> = None;
    let read = (|| {
        let in_array = cursor.passes(b'[')?;
        let mut first = true;
        loop {
            if in_array {
                let ends = cursor.passes(b']')?;
                if ends {
                    break;
                }
                if !first {
                    cursor.expect(b',', "',' or ']'")?;
                }
            } else if cursor.peek()?.is_none() {
                return Ok(());
            }
            first = false;
            cursor.expect(b'{', "a record, which starts with '{',")?;
            let line = cursor.line;
            let (names, values) = record(&mut cursor)?;
            let chosen: &Keys = match &mut chosen {
                Some(chosen) => {
                    chosen.complete(&names, columns);
                    chosen
                }
                None => chosen.insert(Keys::of(&names, columns).map_err(Stuck::Wrong)?),
            };
            let row = chosen.values(&names, &values);
            each(line, row.as_deref().map_err(Clone::clone));
        }
        match cursor.peek()? {
            None => Ok(()),
            Some(_) => Err(cursor.unexpected("the end of the text")),
        }
    })();
    read.map_err(|stuck| match stuck {
        Stuck::Wrong(message) => (cursor.line, message),
        Stuck::Incomplete => (cursor.line, "the text ends here".to_owned()),
    })
}

/// The keys of a record, and their values.
type KeysAndValues<'t> = (Vec<Cow<'t, [u8]>>, Vec<Token<'t>>);

/// Reads the rest of an opened record.
fn record<'t>(cursor: &mut Cursor<'t>) -> Result<KeysAndValues<'t>, Stuck> {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    each_field(cursor, |name, value, cursor| {
        if let Token::Open(open) = value {
            cursor.skip_rest(open)?;
        }
        names.push(name);
        values.push(value);
        Ok(())
    })?;
    Ok((names, values))
}

/// The keys that are read of each record.
struct Keys(Vec<(&'static str, Option<Vec<u8>>)>);

impl Keys {
    fn of(names: &[Cow<'_, [u8]>], columns: &[NamedColumn<'_>]) -> Result<Self, String> {
        let chosen = chosen(names, columns)?;
        let name = |at: &Option<usize>| at.map(|at| names[at].clone().into_owned());
        Ok(Keys(columns.iter().map(|column| column.what).zip(chosen.iter().map(name)).collect()))
    }

    /// Finds keys absent from earlier records: a record may lack optional columns.
    fn complete(&mut self, names: &[Cow<'_, [u8]>], columns: &[NamedColumn<'_>]) {
        for ((_, key), column) in
            self.0.iter_mut().zip(columns).filter(|((_, key), _)| key.is_none())
        {
            *key = place_of(column, names).map(|at| names[at].clone().into_owned());
        }
    }

    /// The values of a record under these keys.
    fn values<'t>(
        &self,
        names: &[Cow<'t, [u8]>],
        values: &[Token<'t>],
    ) -> Result<Vec<Option<Cow<'t, [u8]>>>, String> {
        let of_key = |(what, key): &(&'static str, Option<Vec<u8>>)| {
            let Some(key) = key else { return Ok(None) };
            let mut places = (0..names.len()).filter(|&at| *names[at] == key[..]);
            let Some(at) = places.next() else { return Ok(None) };
            if places.next().is_some() {
                return Err(format!("{} occurs twice in the record", quoted(key)));
            }
            match &values[at] {
                Token::Word(b"null") => Ok(None),
                Token::String(string) => Ok(Some(string.clone())),
                Token::Word(word) => Ok(Some(Cow::Borrowed(*word))),
                Token::Open(_) => {
                    Err(format!("the {what} is an object or an array, and not a text or a number"))
                }
            }
        };
        self.0.iter().map(of_key).collect()
    }
}
