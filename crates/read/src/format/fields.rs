//! The reader of named columns of small inputs, such as passages: JSON records, or a table with a
//! header.
//!
//! Judgments and results have three fields, and are read where they lie. This module reads smaller
//! inputs: passages by their positions, the chunks of documents, and the texts of queries.

use std::borrow::Cow;

use super::input_format::InputFormat;
use super::json::{self, JsonFault, JsonValue, LineCounter, walk};
use super::names::{find_name, no_column, quoted_all};
use super::open_input::OpenInput;
use crate::bytes::limits::MAX_LINE_BYTES;
use crate::error::{Error, Problem, Problems, Result};
use crate::lines::diagnostics::{pluralize, quoted, whole_file};
use crate::lines::scan::offset_in;
use crate::lines::separator::{Separator, split};
use crate::lines::shape::{LONE_RETURN, TOO_LONG};

/// A column to find by name in a table's header or among the keys of JSON records.
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

/// The need for a column of a table or of records: always, only without the next column, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Always,
    /// Only if the next column is missing.
    OrNext,
    Never,
    /// Never, and a list in a record has a value in each of its items. It is the last column, so the
    /// values of a row are as many as they are.
    Each,
}

/// The values of the wanted columns of a row; `None` if a column is missing, null or empty.
pub type FieldValues<'r> = [Option<Cow<'r, [u8]>>];

/// Reads a table or JSON records, and passes each row's line and wanted columns to `take`. An error
/// of `take` becomes a problem of the text.
///
/// If the columns may have no names, `nameless` is the expected shape of a row, for messages. Then
/// rows of TSV without a header have the wanted columns in their order, and an object of JSON that
/// stands alone, without the first column, has a row of two columns in each of its pairs.
///
/// # Errors
/// An unreadable text; a missing column; the problems of all rows; no row at all.
pub fn each_named_row(
    text: &OpenInput,
    columns: &[NamedColumn<'_>],
    nameless: Option<&str>,
    take: &mut dyn FnMut(u64, &FieldValues<'_>) -> Result<(), String>,
) -> Result<()> {
    if let Some(format) =
        InputFormat::detect_table(text.content().0).and_then(InputFormat::name_of_tables)
    {
        let message = format!(
            "is {format}, which is not read here: records or a table of text were expected"
        );
        return Err(whole_file(&text.name, message).into());
    }
    let whole = text.whole().map_err(|error| Error::unreadable(&text.name, error))?;
    let mut problems = Problems::default();
    let mut any = false;
    let is_json = match whole.trim_ascii_start().first() {
        Some(b'{') => true,
        // The first id of rows without names may begin so, and has a tab behind it.
        Some(b'[') => {
            let first = whole.trim_ascii_start().split(|&byte| byte == b'\n').next();
            nameless.is_none()
                || walk::is_json(&whole)
                || !first.is_some_and(|line| line.contains(&b'\t'))
        }
        _ => false,
    };
    let reader = if is_json { records } else { lines };
    let read = reader(&whole, columns, nameless, &mut |line, row| {
        any = true;
        if let Err(message) = row.and_then(|row| take(line, &row)) {
            problems.add(&text.name, line, || message);
        }
    });
    if let Err((line, message)) = read {
        problems.first.push(Problem { file: text.name.clone(), line, message });
    } else if !any {
        let expected = nameless.map_or_else(String::new, |shape| format!(": expected {shape}"));
        problems = whole_file(&text.name, format!("there is no row in it{expected}"));
    }
    problems.into_result(())
}

/// A callback that gets the line number of each row, with the row's values or an error message.
type HearRow<'a> = dyn FnMut(u64, Result<Vec<Option<Cow<'_, [u8]>>>, String>) + 'a;

/// The line number from which on a text cannot be read, and the reason.
type BrokenOff = (u64, String);

/// Returns the index of a wanted column among the names of a header or record; `None` if it is
/// missing.
fn place_of(column: &NamedColumn<'_>, names: &[impl AsRef<[u8]>]) -> Option<usize> {
    match column.given {
        Some(name) => names.iter().position(|other| other.as_ref() == name.as_bytes()),
        None => column.names.iter().find_map(|name| find_name(names, name)),
    }
}

/// Returns the index of each wanted column among the names of a header or record.
///
/// # Errors
/// The place of a missing column: its given name, or each of its known names, is missing.
pub fn choose(
    names: &[impl AsRef<[u8]>],
    columns: &[NamedColumn<'_>],
) -> Result<Vec<Option<usize>>, usize> {
    let found: Vec<Option<usize>> = columns.iter().map(|column| place_of(column, names)).collect();
    let missing = (0..columns.len()).find(|&at| match columns[at].need {
        Need::Always => found[at].is_none(),
        Need::OrNext => found[at].is_none() && found.get(at + 1).is_none_or(Option::is_none),
        Need::Never | Need::Each => false,
    });
    missing.map_or(Ok(found), Err)
}

/// Returns the index of each wanted column among names, as [`choose`] does, or a message about a
/// missing one.
fn chosen(
    names: &[impl AsRef<[u8]>],
    columns: &[NamedColumn<'_>],
) -> Result<Vec<Option<usize>>, String> {
    choose(names, columns).map_err(|at| {
        let NamedColumn { what, given, names: known, hint, .. } = columns[at];
        let what = if what == "doc" { "document" } else { what };
        match given {
            Some(name) => no_column(name, what, names),
            None => {
                let (among, known) = (quoted_all(names).join(", "), known.join(", "));
                format!("no {what} is among {among}: its name may be {known}{hint}")
            }
        }
    })
}

/// Reads the lines of a table, and passes the wanted columns of each to `each`.
fn lines(
    text: &[u8],
    columns: &[NamedColumn<'_>],
    nameless: Option<&str>,
    each: &mut HearRow<'_>,
) -> Result<(), BrokenOff> {
    let all = text.split(|&byte| byte == b'\n');
    let mut all = (1..).zip(all.map(|line| line.strip_suffix(b"\r").unwrap_or(line))).peekable();
    let is_blank = |line: &[u8]| line.trim_ascii().is_empty();
    let first = all.next_if(|(_, line)| Separator::named(line).is_some());
    let named = first.and_then(|(_, line)| Separator::named(line));
    while all.next_if(|(_, line)| is_blank(line)).is_some() {}
    let Some(&(number, header)) = all.peek() else { return Ok(()) };
    if header.len() > MAX_LINE_BYTES {
        return Err((number, TOO_LONG.to_owned()));
    }
    let read = header_fields(header, named, columns);
    let (mut separator, names) = read.map_err(|message| (number, message))?;
    let mut names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
    if nameless.is_some() {
        names.iter_mut().for_each(|name| *name = name.trim_ascii());
    }
    let (mut wide, mut expected) = (names.len(), None);
    let places = if nameless.is_some() && choose(&names, columns).is_err() {
        (separator, wide, expected) = (Separator::Tab, columns.len(), nameless);
        (0..wide).map(Some).collect()
    } else {
        all.next();
        chosen(&names, columns).map_err(|message| (number, message))?
    };
    while let Some((number, line)) = all.next() {
        if is_blank(line) {
            continue;
        }
        let mut line = Cow::Borrowed(line);
        // Behind a line that is too long a stream is not read on.
        let mut is_too_long = line.len() > MAX_LINE_BYTES;
        let mut is_open = separator.is_strict() && ends_in_quotes(&line, separator, false);
        while is_open && let Some((_, next)) = all.next() {
            is_open = ends_in_quotes(next, separator, true);
            is_too_long |= next.len() > MAX_LINE_BYTES;
            line.to_mut().push(b'\n');
            line.to_mut().extend_from_slice(next);
        }
        if is_too_long {
            each(number, Err(TOO_LONG.to_owned()));
            continue;
        }
        each(number, values(&line, separator, &places, wide, expected));
    }
    Ok(())
}

/// The names in the header of a table.
type Names<'l> = Vec<Cow<'l, [u8]>>;

/// Returns the separator of a table, which its first line may have `named`, and the names in its
/// header.
fn header_fields<'l>(
    header: &'l [u8],
    named: Option<Separator>,
    columns: &[NamedColumn<'_>],
) -> Result<(Separator, Names<'l>), String> {
    let usual = if header.contains(&b'\t') { Separator::Tab } else { Separator::Comma };
    let usual = named.unwrap_or(usual);
    let names = fields(header, usual);
    let has_columns = |names: &Names<'_>| choose(names, columns).is_ok();
    // A semicolon is one only where no row could be read by commas.
    if usual == Separator::Comma
        && !names.as_ref().is_ok_and(has_columns)
        && let Ok(others) = fields(header, Separator::Semicolon)
        && has_columns(&others)
    {
        return Ok((Separator::Semicolon, others));
    }
    Ok((usual, names?))
}

/// Returns the values at some places of a line of a table with `wide` columns; rows without names
/// are `expected` to have a shape.
fn values<'l>(
    line: &'l [u8],
    separator: Separator,
    places: &[Option<usize>],
    wide: usize,
    expected: Option<&str>,
) -> Result<Vec<Option<Cow<'l, [u8]>>>, String> {
    let fields = fields(line, separator)?;
    if fields.len() == wide {
        let values = places
            .iter()
            .map(|at| at.map(|at| fields[at].clone()).filter(|value| !value.is_empty()));
        return Ok(values.collect());
    }
    let found = pluralize(fields.len(), "field");
    let lone_return = if line.contains(&b'\r') { LONE_RETURN } else { "" };
    Err(match expected {
        Some(shape) => format!("{found}: expected {shape}{lone_return}"),
        None => format!("{found}, and the first line has {wide}{lone_return}"),
    })
}

/// Returns whether a line of CSV ends within a field in quotes, if it begins `within` one or not.
fn ends_in_quotes(line: &[u8], separator: Separator, mut within: bool) -> bool {
    // Only at the start of a field, or behind the quote that ended it, a quote is no text.
    let mut may_open = !within;
    for &byte in line {
        (within, may_open) = match byte {
            b'"' if within => (false, true),
            b'"' => (may_open, false),
            _ if byte == separator.byte() && !within => (false, true),
            _ => (within, false),
        };
    }
    within
}

/// Splits a line of a table into its fields, without the quotes around them.
fn fields(line: &[u8], separator: Separator) -> Result<Vec<Cow<'_, [u8]>>, String> {
    let fields =
        split(line, separator).ok_or_else(|| "the quote of a field is not closed".to_owned())?;
    Ok(fields.into_iter().map(|field| field.text(line)).collect())
}

/// Reads JSON records, one after another or in an array, and passes the wanted values of each to
/// `each`.
fn records(
    text: &[u8],
    columns: &[NamedColumn<'_>],
    nameless: Option<&str>,
    each: &mut HearRow<'_>,
) -> Result<(), BrokenOff> {
    let broken = |fault: JsonFault| {
        // A text that ends early ends on its last line that is not blank.
        let at = fault.at.min(text.trim_ascii_end().len());
        (JsonFault { at, message: String::new() }.line(text, 1), fault.message)
    };
    let mut lines = LineCounter::new(text, 1);
    // The key to read for each wanted column, if a record had it.
    let mut keys: Option<Vec<Option<Vec<u8>>>> = None;
    let records = json::records(text).map_err(broken)?;
    let may_be_pairs = nameless.is_some() && matches!(records[..], [_]);
    for record in records {
        let line = lines.at(offset_in(text, record));
        let pairs =
            json::pairs(record).map_err(|fault| (fault.line(record, line), fault.message))?;
        let (names, values): (Vec<Cow<'_, [u8]>>, Vec<_>) =
            pairs.into_iter().map(|(name, value)| (Cow::Owned(name), value)).unzip();
        let keys = match &mut keys {
            Some(keys) => keys,
            None if may_be_pairs && place_of(&columns[0], &names).is_none() => {
                for (name, value) in std::iter::zip(names, values) {
                    let line = lines.at(offset_in(text, value));
                    let value = value_of(value, columns[1].what);
                    each(line, value.map(|value| vec![Some(name), value]));
                }
                continue;
            }
            None => {
                chosen(&names, columns).map_err(|message| (line, message))?;
                keys.insert(vec![None; columns.len()])
            }
        };
        // A record may lack optional columns that later ones have.
        for (key, column) in std::iter::zip(&mut *keys, columns).filter(|(key, _)| key.is_none()) {
            *key = place_of(column, &names).map(|at| names[at].to_vec());
        }
        let mut row = Vec::with_capacity(columns.len());
        let read = std::iter::zip(&*keys, columns).try_for_each(|(key, column)| {
            let key = key.as_deref();
            let mut places = (0..names.len()).filter(|&at| Some(&*names[at]) == key);
            let Some(at) = places.next() else {
                row.push(None);
                return Ok(());
            };
            if places.next().is_some() {
                return Err(format!("{} occurs twice in the record", quoted(&names[at])));
            }
            add_values(&mut row, values[at], column)
        });
        each(line, read.map(|()| row));
    }
    Ok(())
}

/// Adds a value of JSON to a row as a field of a column, or the items of a list that each are one.
fn add_values<'t>(
    row: &mut Vec<Option<Cow<'t, [u8]>>>,
    value: &'t [u8],
    column: &NamedColumn<'_>,
) -> Result<(), String> {
    if column.need == Need::Each && value.starts_with(b"[") {
        for item in json::items(value)? {
            row.push(value_of(item, column.what)?);
        }
    } else {
        row.push(value_of(value, column.what)?);
    }
    Ok(())
}

/// Returns a value of JSON as a field of the column that holds `what`; `None` for `null`.
fn value_of<'t>(value: &'t [u8], what: &str) -> Result<Option<Cow<'t, [u8]>>, String> {
    match JsonValue::parse(value)? {
        JsonValue::Word(b"null") => Ok(None),
        JsonValue::String(string) => Ok(Some(string)),
        JsonValue::Word(word) => Ok(Some(Cow::Borrowed(word))),
        JsonValue::Object(_) | JsonValue::Array(_) => {
            Err(format!("the {what} is an object or an array, and not a text or a number"))
        }
    }
}
