//! JSON records: an object for each judgment or result, one on each line, or all in an array.
//!
//! ```text
//! {"query_id": "q1", "doc_id": "d7", "score": 0.5}
//! ```
//!
//! The first record decides which keys are read; records may have other keys. A record may also
//! have a list of documents (`lists`).

use std::borrow::Cow;
use std::io;

use super::lists::ListKeys;
use super::walk::{Cursor, JsonWalk, Stuck, Way};
use super::{
    JsonBytes, JsonValue, RecordFault, SHOWN, find, id, number, objects, offset_in, unescaped,
};
use crate::error::printable;
use crate::format::ReadOptions;
use crate::format::names::{
    CellShape, ChosenColumns, ChosenLists, ChosenRows, ColumnChoiceError, choose_rows,
};
use crate::format::sequence::{Sequence, SequenceFormat};
use crate::judged_by::FacetKind;
use crate::lines::chunks::{LineFormat, each_line};
use crate::lines::diagnostics::quoted;
use crate::lines::layout::NumberKind;
use crate::lines::row::{Entry, RowBatch, RowForm};
use crate::lines::shape::Role;

/// The keys that are read of JSON records: of one document in each record, or of a list of
/// documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordKeys {
    Single(SingleKeys),
    Lists(ListKeys),
}

/// The keys that are read of JSON records with one document each: query, document, number, rank or
/// facet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleKeys {
    /// The keys of the query, of the document and of the number.
    names: [Vec<u8>; 3],
    value: NumberKind,
    /// The key of the rank, if there is a score too.
    rank: Option<Vec<u8>>,
    /// The facets by which judgments are read, and their key.
    group: Option<(FacetKind, Vec<u8>)>,
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
        let in_array = cursor.passes(b'[').map_err(describe)?;
        let expected = || expected(role, in_array);
        if in_array && cursor.peek().map_err(describe)? == Some(b']') {
            return Err(format!("the array is empty: {} was expected", expected()));
        }
        cursor.expect(b'{', &expected()).map_err(describe)?;
        let (names, shapes) = keys_of_first(&mut cursor)?;
        if names.is_empty() {
            return Err(format!("the first record has no keys: {} was expected", expected()));
        }
        let all: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
        match choose_rows(&all, &shapes, role, by, read_as.columns.as_ref()) {
            Ok(chosen) => Ok(Self::of_chosen(chosen, &names, role, by)),
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

    /// Makes the keys to read of JSON records from the columns chosen among the `names` of a
    /// record.
    fn of_chosen(chosen: ChosenRows, names: &[Vec<u8>], role: Role, by: Option<FacetKind>) -> Self {
        let name = |at: usize| names[at].clone();
        match chosen {
            ChosenRows::Single(ChosenColumns { query, doc, number, value, rank, group }) => {
                Self::Single(SingleKeys {
                    names: [query, doc, number].map(name),
                    value,
                    rank: rank.map(name),
                    group: by.zip(group.map(name)),
                    role,
                })
            }
            ChosenRows::Lists(ChosenLists { query, docs, numbers, group }) => {
                Self::Lists(ListKeys {
                    role,
                    query: name(query),
                    docs: name(docs),
                    numbers: numbers.map(name),
                    group: by.zip(group.map(name)),
                })
            }
        }
    }

    /// Returns the form of the rows of JSON records with these keys.
    pub fn form(&self) -> RowForm {
        match self {
            Self::Single(keys) => RowForm {
                has_ranks: keys.rank.is_some(),
                has_groups: keys.group.is_some(),
                ..RowForm::new(keys.value, keys.shape())
            },
            Self::Lists(keys) => keys.form(),
        }
    }

    /// Returns the expected shape of a JSON record with these keys, for messages.
    pub fn shape(&self) -> String {
        match self {
            Self::Single(keys) => keys.shape(),
            Self::Lists(keys) => keys.shape(),
        }
    }

    /// Returns the query id of the record that `text` is; `None` for a record without one.
    fn query<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        let key = match self {
            Self::Single(keys) => &keys.names[0],
            Self::Lists(keys) => &keys.query,
        };
        let found = find::<1>(text, |name| (name == &key[..]).then_some(0)).ok()?;
        id(found.values[0]?, "query").ok()
    }

    /// Makes the rows of the record that `text` is, which begins on line `line`.
    fn record(&self, text: JsonBytes<'_>, line: u64, rows: &mut RowBatch) {
        if text.bytes.first() != Some(&b'{') {
            let text = text.bytes;
            let text = quoted(&text[..text.len().min(SHOWN)]);
            return rows
                .fault(line, format!("a record, which starts with '{{', was expected at {text}"));
        }
        let added = match self {
            Self::Single(keys) => keys.record(text, line, rows),
            Self::Lists(keys) => keys.record(text, line, rows),
        };
        if let Err((line, message)) = added {
            rows.fault(line, message);
        }
    }
}

impl SingleKeys {
    /// Returns the fourth JSON key that is read, if any: of a result's rank, or a judgment's judge
    /// or subtopic.
    fn other(&self) -> Option<&[u8]> {
        self.rank.as_deref().or(self.group.as_ref().map(|(_, key)| &key[..]))
    }

    /// Returns the JSON key at index `at` in quotes, for messages.
    fn quote(&self, at: usize) -> String {
        quoted(self.names.get(at).map(Vec::as_slice).or(self.other()).unwrap_or_default())
    }

    /// Returns the index of the JSON key `name` among the keys to read; the rank's or facet's key
    /// is the last.
    fn place(&self, name: &[u8]) -> Option<usize> {
        self.names
            .iter()
            .position(|key| key == name)
            .or_else(|| (self.other() == Some(name)).then_some(self.names.len()))
    }

    fn shape(&self) -> String {
        let [query, doc, number] = self.names.each_ref().map(|name| printable(name));
        let group = self.group.as_ref().map(|(_, key)| format!("\"{}\": …, ", printable(key)));
        format!("{{\"{query}\": …, {}\"{doc}\": …, \"{number}\": …}}", group.unwrap_or_default())
    }

    /// Makes the row of a record.
    #[inline]
    fn record(
        &self,
        text: JsonBytes<'_>,
        line: u64,
        rows: &mut RowBatch,
    ) -> Result<(), RecordFault> {
        let found = find::<4>(text, |name| self.place(name))
            .map_err(|fault| (fault.line(text.bytes, line), fault.message))?;
        self.fields(found.values, found.again, line, rows).map_err(|message| (line, message))
    }

    /// Makes a row of the values found in a record, or a message.
    #[inline(always)]
    fn fields(
        &self,
        [query, doc, value, other]: [Option<&[u8]>; 4],
        again: Option<usize>,
        line: u64,
        rows: &mut RowBatch,
    ) -> Result<(), String> {
        if let Some(at) = again {
            return Err(format!("{} occurs twice in the record", self.quote(at)));
        }
        let missing = |at: usize| format!("there is no {} in the record", self.quote(at));
        let query = id(query.ok_or_else(|| missing(0))?, "query")?;
        let doc = id(doc.ok_or_else(|| missing(1))?, "document")?;
        let group = match &self.group {
            Some((by, _)) => Some(id(other.ok_or_else(|| missing(3))?, &by.to_string())?),
            None => None,
        };
        let what = if self.value == NumberKind::Number { self.role.number() } else { "rank" };
        let number = match value.ok_or_else(|| missing(2))? {
            word @ [b'0'..=b'9' | b'-', ..] => word,
            other => number(other, &format!("the {what}"))?,
        };
        match group {
            Some(group) => rows.grouped_row(line, &query, &group, &doc, number),
            None if self.rank.is_some() => {
                rows.ranked_row(line, &query, &doc, &rank(other), number);
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
    while cursor.next_item(names.is_empty(), b'}').map_err(describe)? {
        let name = cursor.string("a key in quotes").map_err(describe)?;
        names.push(unescaped(name)?.into_owned());
        cursor.expect(b':', "':'").map_err(describe)?;
        shapes.push(match cursor.value().map_err(describe)? {
            [b'[', ..] => CellShape::List,
            b"null" => CellShape::Null,
            _ => CellShape::Single,
        });
    }
    Ok((names, shapes))
}

/// Returns the message about a first JSON record that cannot be read.
fn describe(stuck: Stuck) -> String {
    match stuck {
        Stuck::Wrong(message) => message,
        Stuck::Incomplete => "the first record is not complete".to_owned(),
    }
}

/// Describes the JSON record that is expected, with an example, for messages.
fn expected(role: Role, in_array: bool) -> String {
    let (record, number) =
        (r#"a record such as {"query_id": "q1", "doc_id": "d1", "#, role.number());
    let value = if role == Role::Qrels { "1" } else { "0.5" };
    let objects = if in_array { String::new() } else { format!(", or {}", objects::shape(number)) };
    format!("{record}\"{number}\": {value}}}{objects}")
}

/// JSON records, one on each line.
#[derive(Debug)]
pub struct RecordLines(pub RecordKeys);

impl LineFormat for RecordLines {
    fn line(&self, line: &[u8], number: u64, rows: &mut RowBatch) {
        self.0.record(line.into(), number, rows);
    }

    fn rows(&self, text: &[u8], rows: &mut RowBatch) -> u64 {
        // A text is looked at for UTF-8 faster as a whole than line by line.
        let utf8 = std::str::from_utf8(text).ok();
        each_line(text, rows, |bytes, number, rows| {
            let at = offset_in(text, bytes);
            let record = match utf8.and_then(|text| text.get(at..at + bytes.len())) {
                None => JsonBytes::from(bytes),
                utf8 => JsonBytes { bytes, utf8 },
            };
            self.0.record(record, number, rows);
        })
    }

    fn query<'t>(&self, line: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        self.0.query(line.trim_ascii())
    }
}

/// An array of JSON records.
#[derive(Debug)]
pub struct RecordArray(pub RecordKeys);

struct OutermostArray;

impl Way for OutermostArray {
    fn has_entries(&mut self, _: &[Vec<u8>], _: u8) -> bool {
        true
    }

    fn start(&self) -> (u8, &'static str) {
        (b'[', "'['")
    }
}

impl SequenceFormat for RecordArray {
    fn start(&self) -> io::Result<Box<dyn Sequence + '_>> {
        Ok(Box::new(JsonWalk::new(OutermostArray)))
    }

    fn entry(&self, Entry { line, value, .. }: Entry<'_>, rows: &mut RowBatch) {
        self.0.record(value.into(), line, rows);
    }

    fn query<'t>(&self, entry: Entry<'t>) -> Option<Cow<'t, [u8]>> {
        self.0.query(entry.value)
    }

    fn has_names(&self) -> bool {
        true
    }
}
