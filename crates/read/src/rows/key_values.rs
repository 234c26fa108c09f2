//! The values of a key of judgments, such as the category of each record of a golden set, by query.

use std::collections::BTreeMap;

use memchr::memmem;

use super::text_rows::TextRows;
use crate::bytes::input::Input;
use crate::error::{Error, Result};
use crate::format::fields::{FieldValues, NamedColumn, Need, each_named_row};
use crate::lines::{diagnostics::quoted, shape::Role};
use crate::text::ReadSettings;

/// The values that a key of JSON records, or a column of a table of text, has for the queries of
/// judgments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyedValues {
    /// Pairs of a query and a value, in bytewise order; a list of values makes several pairs.
    pub pairs: Vec<(Vec<u8>, String)>,
    /// The keys of the first record, or the columns, that are not read as judgments.
    pub names: Vec<String>,
}

/// The values of each query, in bytewise order, with the line that has them first.
type ValuesByQuery = BTreeMap<Vec<u8>, (u64, Vec<String>)>;

impl KeyedValues {
    /// Reads the values of a key of judgments. Judgments that have no names, or can be read only
    /// once, have no values.
    ///
    /// # Errors
    /// Unreadable judgments; records or rows of one query with different values; a value that is an
    /// object.
    pub fn read(settings: ReadSettings<'_>, input: Input, key: &str) -> Result<Self> {
        // The standard input is left alone even if it is a file, because it is read from where it
        // is. Judgments by span or preference are not read as rows.
        if matches!(input, Input::Stdin)
            || input.is_stream()
            || settings.judged_by != settings.table_facets()
        {
            return Ok(Self::default());
        }
        // The join notes the format of the judgments and their progress.
        let settings = ReadSettings { recognised: None, watch: None, ..settings };
        let form = TextRows::open(settings, input.clone(), Role::Qrels, None)?.form;
        let is_table = form.table().is_some();
        let (query, mut values) =
            (form.names.query, Self { names: form.names.others, ..Self::default() });
        // A column has its name in the header, and once; the first record may lack a key.
        let columns = values.names.iter().filter(|name| *name == key).count();
        if query.is_empty() || is_table && columns != 1 {
            return Ok(values);
        }
        let text = input.open(settings.access)?;
        let whole = text.whole().map_err(|error| Error::unreadable(&text.name, error))?;
        if memmem::find(&whole, key.as_bytes()).is_none() {
            return Ok(values);
        }
        let columns = [column("query", &query, Need::Always), column("group", key, Need::Each)];
        let mut found = ValuesByQuery::new();
        each_named_row(&text, &columns, None, &mut |line, row| add(&mut found, line, row))?;
        for (query, (_, groups)) in found {
            values.pairs.extend(groups.into_iter().map(|group| (query.clone(), group)));
        }
        Ok(values)
    }
}

fn column<'n>(what: &'static str, name: &'n str, need: Need) -> NamedColumn<'n> {
    NamedColumn { what, given: Some(name), names: &[], need, hint: "" }
}

/// Adds the values of a record or row, which are those of all records of its query.
fn add(found: &mut ValuesByQuery, line: u64, row: &FieldValues<'_>) -> Result<(), String> {
    // The reader of the judgments says what is wrong with a row without a query.
    let Some((Some(query), groups)) = row.split_first() else { return Ok(()) };
    let mut values = Vec::new();
    for group in groups.iter().flatten() {
        let value = str::from_utf8(group.trim_ascii()).map_err(|_| "the group is not UTF-8")?;
        if !value.is_empty() {
            values.push(value.to_owned());
        }
    }
    values.sort_unstable();
    if let Some(twice) = values.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the group {} occurs twice", quoted(twice[0].as_bytes())));
    }
    let (first, others) = found.entry(query.to_vec()).or_insert_with(|| (line, values.clone()));
    if *others != values {
        let (query, here, there) = (quoted(query), listed(&values), listed(others));
        return Err(format!("query {query} is in {here} here, and in {there} on line {first}"));
    }
    Ok(())
}

/// Returns the names of the groups of a query, for messages.
fn listed(groups: &[String]) -> String {
    let names: Vec<String> = groups.iter().map(|group| quoted(group.as_bytes())).collect();
    if names.is_empty() { "no group".to_owned() } else { names.join(", ") }
}
