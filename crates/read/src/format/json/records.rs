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
    lists::{ListOfQuery, ListedDocs, form, numbers, unlike_first, wrong_lengths},
    number, objects, pairs, unescaped,
    walk::{Cursor, JsonWalk, Outermost, Stuck},
};
use crate::error::printable;
use crate::format::{
    ReadOptions,
    names::{
        CellShape, ChosenRows, ColumnChoiceError, ColumnNames, GroupingNames, choose_rows,
        find_name, query_key,
    },
    sequence::{SequenceFormat, Started},
};
use crate::judged_by::FacetKind;
use crate::lines::{
    chunks::{LineFormat, each_line},
    diagnostics::quoted,
    grade_words::GradeWords,
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
    /// The names of the first record by which queries may be grouped.
    pub names: GroupingNames,
    /// The kind of the number of the document; `None` if records have lists of documents.
    value: Option<NumberKind>,
    /// Whether lists of documents have numbers, beside them or within.
    has_numbers: bool,
    has_ranks: bool,
    /// The facets by which judgments are read.
    by: Option<FacetKind>,
    role: Role,
    /// The grades of words, which judgments may have as strings.
    words: Option<GradeWords>,
}

impl RecordKeys {
    /// Finds the keys to read in the first JSON record of a text, which may be the first of an
    /// array. `more` is the text with further records, as far as it is known. Where records of the
    /// judgments have an own name of the query, `key`, those of the run are searched for it first.
    ///
    /// # Errors
    /// Keys are missing, or there is no record.
    pub fn detect(
        text: &[u8],
        more: &[u8],
        role: Role,
        by: Option<FacetKind>,
        (read_as, key): (&ReadOptions, Option<&str>),
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
        let given = read_as.columns.as_ref();
        let key = key.filter(|key| find_name(&all, key).is_some());
        let by_key = key.map(|key| ColumnNames::with_query(given, key));
        match choose_rows(&all, &shapes, role, by, by_key.as_ref().or(given)) {
            Ok(chosen) => {
                let grouping = GroupingNames::new(&all, &chosen);
                let ChosenRows { query, doc, number, value, rank, group } = chosen;
                let name = |at: Option<usize>| at.map(|at| names[at].clone());
                let lists = || lists_of(more, &names[doc]);
                let has_numbers = value.is_none()
                    && (number.is_some() || ListedDocs::have_numbers(lists(), role));
                Ok(Self {
                    has_numbers,
                    keys: [Some(query), Some(doc), number, rank.or(group)].map(name),
                    names: grouping,
                    value,
                    has_ranks: rank.is_some(),
                    by: by.filter(|_| group.is_some()),
                    role,
                    words: (role == Role::Qrels)
                        .then(|| read_as.grades.clone().unwrap_or_default()),
                })
            }
            Err(ColumnChoiceError::Invalid(message)) => Err(message),
            Err(ColumnChoiceError::Missing(missing)) => Err(missing.message(read_as.options)),
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

    /// Returns whether all values of the object that a text begins with are lists, and none of its
    /// keys has a known name, so that they are queries. The text may be cut within the object.
    pub fn are_queries(text: &[u8], role: Role) -> bool {
        let mut cursor = Cursor::new(text, true, 1);
        let (mut names, mut shapes) = (Vec::new(), Vec::new());
        let is_object = cursor.passes(b'{').unwrap_or(false);
        let mut key = |first| {
            if !cursor.next_item(first, b'}').ok()? {
                return None;
            }
            let name = unescaped(cursor.string("a key").ok()?).ok()?.into_owned();
            cursor.expect(b':', "':'").ok()?;
            let open = cursor.peek().ok()?;
            Some((name, open, cursor.value().is_ok()))
        };
        while is_object && let Some((name, open, is_whole)) = key(names.is_empty()) {
            if open != Some(b'[') {
                return false;
            }
            names.push(name);
            shapes.push(CellShape::List);
            if !is_whole {
                break;
            }
        }
        let all: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
        let chosen = choose_rows(&all, &shapes, role, None, None);
        matches!(chosen, Err(ColumnChoiceError::NoNames(missing)) if missing.known_name.is_none())
    }

    /// Returns the key of the query, if it may stand beside another name of the query.
    pub fn query_id(&self) -> Option<&str> {
        let key = str::from_utf8(self.keys[0].as_deref()?).ok()?;
        ["id", "question_id"].contains(&key).then_some(key)
    }

    /// Returns the form of the rows of JSON records with these keys.
    pub fn form(&self) -> RowForm {
        let shape = self.shape();
        let form = match self.value {
            Some(value) => RowForm { has_ranks: self.has_ranks, ..RowForm::new(value, shape) },
            None => form(self.role, self.has_numbers, shape),
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
        let query = query_id(self.needed(values, 0)?)?;
        let ListedDocs { docs, numbers: within } =
            ListedDocs::read(self.needed(values, 1)?, &self.quote(1), self.role)?;
        let what = self.role.number();
        let numbers = match &self.keys[2] {
            None => within,
            Some(_) => {
                let beside = numbers(self.needed(values, 2)?, &self.quote(2), self.role)?;
                if beside.len() != docs.len() {
                    return Err(wrong_lengths(docs.len(), beside.len(), what));
                }
                Some(beside)
            }
        };
        if self.role == Role::Run && !docs.is_empty() && numbers.is_some() != self.has_numbers {
            return Err(unlike_first(numbers.is_some()));
        }
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
        query_id(query?).ok()
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

    /// Returns whether a string is a word with a grade.
    #[cold]
    fn has_grade(&self, word: &[u8]) -> bool {
        self.words.as_ref().is_some_and(|words| words.grade(word).is_some())
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
        let what = if value.is_rank() { "rank" } else { self.role.number() };
        let number = match values[2] {
            Some(word @ [b'0'..=b'9' | b'-', ..]) => word,
            Some([b'"', word @ .., b'"']) if self.has_grade(word) => word,
            None if value == NumberKind::One => b"1",
            _ => number(self.needed(values, 2)?, &format!("the {what}"))?,
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

/// Returns the query id that a value is, or that is in the object that it is.
fn query_id(value: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if value.first() != Some(&b'{') {
        return id(value, "query");
    }
    let found = pairs(value)?;
    let names: Vec<&[u8]> = found.iter().map(|(name, _)| &name[..]).collect();
    let at = query_key(&names).ok_or("the query is an object without an id in it")?;
    id(found[at].1, "query")
}

/// Returns the values of a key of the records at the start of a text, on lines or in an array.
fn lists_of<'t>(text: &'t [u8], key: &[u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut cursor = Cursor::new(text, true, 1);
    let mut passed = cursor.passes(b'[');
    std::iter::from_fn(move || {
        passed.as_ref().ok()?;
        let record = cursor.value().ok()?;
        passed = cursor.passes(b',');
        let FoundValues { values: [docs], .. } =
            find(record, |name| (name == key).then_some(0)).ok()?;
        Some(docs.unwrap_or(b"[]"))
    })
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
            [b'{', ..] => CellShape::Object,
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
