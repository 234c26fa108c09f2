//! JSON records: an object for each judgment or result, one on each line, or all in an array.
//!
//! ```text
//! {"query_id": "q1", "doc_id": "d7", "score": 0.5}
//! ```
//!
//! The first record decides which keys are read; records may have other keys. A record may also
//! have a list of documents (`lists`).

use std::borrow::Cow;

use super::{
    FoundValues, JsonBytes, JsonValue, SHOWN, find, id,
    lists::{ListOfQuery, form, list, wrong_lengths},
    number, objects, unescaped,
    walk::{Cursor, JsonWalk, Outermost, Stuck},
};
use crate::error::printable;
use crate::format::{
    ReadOptions,
    names::{CellShape, ChosenRows, ColumnChoiceError, choose_rows},
    sequence::{SequenceFormat, Started},
};
use crate::judged_by::FacetKind;
use crate::lines::{
    chunks::{LineFormat, each_line},
    diagnostics::quoted,
    layout::NumberKind,
    row::{Entry, RowBatch, RowForm},
    scan::offset_in,
    shape::Role,
};

/// The keys that are read of JSON records: of one document in each record, or of a list of
/// documents.
#[derive(Debug)]
pub struct RecordKeys {
    /// The keys of the query, of the document or documents, of the number or numbers, and of the
    /// rank beside a score, or of the facet.
    keys: [Option<Vec<u8>>; 4],
    /// The kind of the number of the document; `None` if records have lists of documents.
    value: Option<NumberKind>,
    has_ranks: bool,
    /// The facets by which judgments are read.
    by: Option<FacetKind>,
    role: Role,
}

impl RecordKeys {
    /// Finds the keys to read in the first JSON record of a text, which may be the first of an
    /// array.
    ///
    /// # Errors
    /// Keys are missing, or there is no record.
    pub fn detect(
        text: &[u8],
        role: Role,
        by: Option<FacetKind>,
        read_as: &ReadOptions,
    ) -> Result<Self, String> {
        let mut cursor = Cursor::new(text, true, 1);
        let in_array = cursor.passes(b'[')?;
        let expected = || expected(role, in_array);
        if in_array && cursor.peek()? == Some(b']') {
            return Err(format!("the array is empty: {} was expected", expected()));
        }
        cursor.expect(b'{', &expected())?;
        let (names, shapes) = keys_of_first(&mut cursor)?;
        if names.is_empty() {
            return Err(format!("the first record has no keys: {} was expected", expected()));
        }
        let all: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
        match choose_rows(&all, &shapes, role, by, read_as.columns.as_ref()) {
            Ok(ChosenRows { query, doc, number, value, rank, group }) => {
                let name = |at: Option<usize>| at.map(|at| names[at].clone());
                Ok(Self {
                    keys: [Some(query), Some(doc), number, rank.or(group)].map(name),
                    value,
                    has_ranks: rank.is_some(),
                    by: by.filter(|_| group.is_some()),
                    role,
                })
            }
            Err(ColumnChoiceError::Invalid(message)) => Err(message),
            Err(ColumnChoiceError::Missing(missing)) => Err(missing.message(read_as.options)),
            Err(ColumnChoiceError::NoNames(missing))
                if !in_array && shapes[0] == CellShape::List && missing.known_name.is_none() =>
            {
                Err(format!(
                    "query {} has an array, and not an object of documents: expected '{}'",
                    quoted(&names[0]),
                    objects::shape(role.number())
                ))
            }
            Err(ColumnChoiceError::NoNames(missing)) => Err(format!(
                "the keys of the first record are {}, and {} is known: {} was expected; `{}` names \
                 other keys",
                missing.among.join(", "),
                missing.known_name.map_or("none".to_owned(), |name| format!("only {name}")),
                expected(),
                read_as.options.columns_by_name(role, None)
            )),
        }
    }

    /// Returns the form of the rows of JSON records with these keys.
    pub fn form(&self) -> RowForm {
        let shape = self.shape();
        let form = match self.value {
            Some(value) => RowForm { has_ranks: self.has_ranks, ..RowForm::new(value, shape) },
            None => form(self.role, self.keys[2].is_some(), shape),
        };
        RowForm { has_groups: self.by.is_some(), ..form }
    }

    /// Returns the expected shape of a JSON record with these keys, for messages.
    fn shape(&self) -> String {
        let [query, doc, number, other] = self.keys.each_ref().map(Option::as_deref);
        let facet = other.filter(|_| self.by.is_some());
        let value = if self.value.is_some() { "…" } else { "[…]" };
        let keys = [(query, "…"), (facet, "…"), (doc, value), (number, value)];
        let keys = keys
            .into_iter()
            .filter_map(|(key, value)| key.map(|key| format!("\"{}\": {value}", printable(key))));
        format!("{{{}}}", keys.collect::<Vec<_>>().join(", "))
    }

    /// Checks the values found in a record, and returns the list of documents that they are.
    fn list<'t>(&self, values: [Option<&'t [u8]>; 4]) -> Result<ListOfQuery<'t>, String> {
        let query = id(self.needed(values, 0)?, "query")?;
        let docs = self.needed(values, 1)?;
        let docs = list(docs, &self.quote(1), "a list of ids", |doc| id(doc, "document"))?;
        let what = self.role.number();
        let read = |one| number(one, &format!("a {what}")).map(Cow::Borrowed);
        let numbers = match &self.keys[2] {
            None => None,
            Some(_) => {
                let numbers = self.needed(values, 2)?;
                let numbers = list(numbers, &self.quote(2), &format!("a list of {what}s"), read)?;
                if numbers.len() != docs.len() {
                    return Err(wrong_lengths(docs.len(), numbers.len(), what));
                }
                Some(numbers)
            }
        };
        let group = match self.by {
            None => Cow::default(),
            Some(by) => id(self.needed(values, 3)?, &by.to_string())?,
        };
        Ok(ListOfQuery { query, group, docs, numbers })
    }

    /// Returns the query id of the record that `text` is; `None` for a record without one.
    fn query_in<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        let key = self.keys[0].as_deref();
        let [query] = find(text, |name| (Some(name) == key).then_some(0)).ok()?.values;
        id(query?, "query").ok()
    }

    /// Makes the rows of the record that `text` is, which begins on line `line`.
    fn record(&self, text: JsonBytes<'_>, line: u64, rows: &mut RowBatch) {
        if text.bytes.first() != Some(&b'{') {
            let text = quoted(&text.bytes[..text.bytes.len().min(SHOWN)]);
            return rows
                .fault(line, format!("a record, which starts with '{{', was expected at {text}"));
        }
        let place = |name: &[u8]| self.keys.iter().position(|key| key.as_deref() == Some(name));
        let FoundValues { values, again } = match find(text, place) {
            Ok(found) => found,
            Err(fault) => return rows.fault(fault.line(text.bytes, line), fault.message),
        };
        let read = match (again, self.value) {
            (Some(at), _) => Err(format!("{} occurs twice in the record", self.quote(at))),
            (None, Some(value)) => self.row(values, value, line, rows),
            (None, None) => self.list(values).map(|list| list.add(self.role, line, rows)),
        };
        if let Err(message) = read {
            rows.fault(line, message);
        }
    }

    /// Returns the JSON key at index `at` in quotes, for messages.
    fn quote(&self, at: usize) -> String {
        quoted(self.keys[at].as_deref().unwrap_or_default())
    }

    /// Returns the value of the key at index `at`, which a record must have.
    #[inline(always)]
    fn needed<'t>(&self, values: [Option<&'t [u8]>; 4], at: usize) -> Result<&'t [u8], String> {
        values[at].ok_or_else(|| format!("there is no {} in the record", self.quote(at)))
    }

    /// Makes the row of the values of a record with one document, or a message.
    #[inline(always)]
    fn row(
        &self,
        values: [Option<&[u8]>; 4],
        value: NumberKind,
        line: u64,
        rows: &mut RowBatch,
    ) -> Result<(), String> {
        let query = id(self.needed(values, 0)?, "query")?;
        let doc = id(self.needed(values, 1)?, "document")?;
        let group = match self.by {
            Some(by) => Some(id(self.needed(values, 3)?, &by.to_string())?),
            None => None,
        };
        let what = if value == NumberKind::Number { self.role.number() } else { "rank" };
        let number = match self.needed(values, 2)? {
            word @ [b'0'..=b'9' | b'-', ..] => word,
            other => number(other, &format!("the {what}"))?,
        };
        match group {
            Some(group) => rows.grouped_row(line, &query, &group, &doc, number),
            None if self.has_ranks => {
                rows.ranked_row(line, &query, &doc, &rank(values[3]), number);
            }
            None => rows.row(line, &query, &doc, number),
        }
        Ok(())
    }
}

/// Returns the rank that a value is. A rank matters only where it orders equal scores; a value that
/// is no rank is left empty until then.
fn rank(value: Option<&[u8]>) -> Cow<'_, [u8]> {
    match value.map(JsonValue::parse) {
        Some(Ok(JsonValue::Word(word))) => Cow::Borrowed(word),
        _ => value.and_then(|value| id(value, "rank").ok()).unwrap_or_default(),
    }
}

/// Returns the keys of the first JSON record, behind its opening brace, and the shape of each
/// value.
fn keys_of_first(cursor: &mut Cursor<'_>) -> Result<(Vec<Vec<u8>>, Vec<CellShape>), String> {
    let (mut names, mut shapes) = (Vec::new(), Vec::new());
    while cursor.next_item(names.is_empty(), b'}')? {
        let name = cursor.string("a key in quotes")?;
        names.push(unescaped(name)?.into_owned());
        cursor.expect(b':', "':'")?;
        shapes.push(match cursor.value()? {
            [b'[', ..] => CellShape::List,
            b"null" => CellShape::Null,
            _ => CellShape::Single,
        });
    }
    Ok((names, shapes))
}

/// The message about a first JSON record that cannot be read.
impl From<Stuck> for String {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Wrong(message) => message,
            Stuck::Incomplete => "the first record is not complete".to_owned(),
        }
    }
}

/// Describes the JSON record that is expected, with an example, for messages.
fn expected(role: Role, in_array: bool) -> String {
    let (record, number) =
        (r#"a record such as {"query_id": "q1", "doc_id": "d1", "#, role.number());
    let value = role.pick("1", "0.5");
    let objects = if in_array { String::new() } else { format!(", or {}", objects::shape(number)) };
    format!("{record}\"{number}\": {value}}}{objects}")
}

/// JSON records, one on each line.
impl LineFormat for RecordKeys {
    fn line(&self, line: &[u8], number: u64, rows: &mut RowBatch) {
        self.record(line.into(), number, rows);
    }

    fn rows(&self, text: &[u8], rows: &mut RowBatch) -> u64 {
        // A text is looked at for UTF-8 faster as a whole than line by line.
        let utf8 = str::from_utf8(text).ok();
        each_line(text, rows, |bytes, number, rows| {
            let at = offset_in(text, bytes);
            let record = match utf8.and_then(|text| text.get(at..at + bytes.len())) {
                None => JsonBytes::from(bytes),
                utf8 => JsonBytes { bytes, utf8 },
            };
            self.record(record, number, rows);
        })
    }

    fn query<'t>(&self, line: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        self.query_in(line.trim_ascii())
    }
}

/// An array of JSON records.
impl SequenceFormat for RecordKeys {
    fn start(&self) -> Started<'_> {
        Ok(Box::new(JsonWalk::new(Outermost(b'['))))
    }

    fn entry(&self, Entry { line, value, .. }: Entry<'_>, rows: &mut RowBatch) {
        self.record(value.into(), line, rows);
    }

    fn query<'t>(&self, entry: Entry<'t>) -> Option<Cow<'t, [u8]>> {
        self.query_in(entry.value)
    }

    fn has_names(&self) -> bool {
        true
    }
}
