//! Judgments or results as objects of queries with objects of their documents.
//!
//! ```text
//! {"query": {"document": number, …}, …}
//! ```
//!
//! In the place of the object of documents there may be a list of them, see `lists`. A text may
//! hold several such objects in sequence.

use std::borrow::Cow;

use super::{
    JsonValue, LineCounter, each_pair,
    lists::{self, ListOfQuery, ListedDocs, unlike_first},
    read_json, span, unescaped,
    walk::{Cursor, JsonWalk, Outermost},
};
use crate::format::sequence::{SequenceFormat, Started};
use crate::lines::{
    diagnostics::quoted,
    layout::NumberKind,
    row::{BareQuery, Entry, RowBatch, RowForm, wrong_id},
    shape::Role,
};

/// Returns the shape of JSON objects of queries, for messages; `number` is `grade` or `score`.
pub fn shape(number: &str) -> String {
    format!("{{\"query\": {{\"document\": {number}, …}}, …}}")
}

/// Objects of queries, with judgments or results.
#[derive(Debug)]
pub struct QueryObjects {
    role: Role,
    documents: DocumentsAs,
}

/// How the documents of queries are written: as an object of numbers, or as a list, with or without
/// numbers. Those of judgments may be written in all ways in one text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum DocumentsAs {
    Object,
    List { has_numbers: bool },
}

impl QueryObjects {
    /// Finds out from the start of a text how the documents of its queries are written.
    pub fn detect(text: &[u8], role: Role) -> Self {
        let documents = if values(text).next().is_some_and(|first| first.starts_with(b"[")) {
            DocumentsAs::List { has_numbers: ListedDocs::have_numbers(values(text), role) }
        } else {
            DocumentsAs::Object
        };
        Self { role, documents }
    }

    /// Returns the form of the rows of the queries' documents.
    pub fn form(&self) -> RowForm {
        let number = self.role.number();
        match self.documents {
            DocumentsAs::Object => RowForm::new(NumberKind::Number, shape(number)),
            DocumentsAs::List { has_numbers } => {
                let doc = if has_numbers {
                    format!("[\"document\", {number}]")
                } else {
                    "\"document\"".to_owned()
                };
                lists::form(self.role, has_numbers, format!("{{\"query\": [{doc}, …], …}}"))
            }
        }
    }

    /// Returns the documents of a query, the key of an entry, whose list is the value.
    fn list<'t>(&self, entry: Entry<'t>) -> Result<ListOfQuery<'t>, String> {
        let query = query_of(entry.key)?;
        let name = format!("query {}", quoted(&query));
        let ListedDocs { docs, numbers } = ListedDocs::read(entry.value, &name, self.role)?;
        let has_numbers = numbers.is_some();
        if self.role == Role::Run
            && !docs.is_empty()
            && self.documents != (DocumentsAs::List { has_numbers })
        {
            return Err(format!("{name}: {}", unlike_first(has_numbers)));
        }
        Ok(ListOfQuery { query, group: Cow::default(), docs, numbers })
    }
}

/// Returns the values of the object that a text begins with.
fn values(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::new(text, true, 1);
    let mut passed = cursor.passes(b'{');
    std::iter::from_fn(move || {
        passed.as_ref().ok().filter(|passed| **passed)?;
        cursor.string("a query").ok()?;
        cursor.expect(b':', "':'").ok()?;
        let value = cursor.value().ok()?;
        passed = cursor.passes(b',');
        Some(value)
    })
}

impl SequenceFormat for QueryObjects {
    fn start(&self) -> Started<'_> {
        Ok(Box::new(JsonWalk::new(Outermost(b'{'))))
    }

    fn entry(&self, entry: Entry<'_>, rows: &mut RowBatch) {
        let is_list = entry.value.starts_with(b"[");
        let may_be_list = self.role == Role::Qrels || self.documents != DocumentsAs::Object;
        if !(may_be_list && (is_list || self.role == Role::Run)) {
            return documents(entry, self.role, rows);
        }
        match self.list(entry) {
            Ok(list) => list.add(self.role, entry.line, rows),
            Err(message) => rows.fault(entry.line, message),
        }
    }
}

/// Returns the query id that a key is.
fn query_of(key: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let query = unescaped(key)?;
    wrong_id("query", &query).map_or(Ok(query), Err)
}

/// Makes the rows of a query, the key of an entry, with its documents, the object that is the
/// value.
pub fn documents(entry: Entry<'_>, role: Role, rows: &mut RowBatch) {
    let Entry { line, value_line, key, value } = entry;
    let query = match query_of(key) {
        Ok(query) => query,
        Err(message) => return rows.fault(line, message),
    };
    let what = match JsonValue::parse(value) {
        Ok(JsonValue::Object(_)) => None,
        Ok(JsonValue::String(_)) => Some("a string".to_owned()),
        Ok(other) => Some(other.described()),
        Err(message) => Some(message),
    };
    if let Some(what) = what {
        let query = quoted(&query);
        return rows
            .fault(line, format!("query {query} has {what}, and not an object of documents"));
    }
    let (mark, mut any) = (rows.mark(), false);
    let read = read_json(value.into(), |plain| {
        rows.back_to(mark);
        let mut lines = LineCounter::new(value, value_line);
        each_pair(plain, |doc, number| {
            let span = span(number, plain);
            any = true;
            let line = lines.at(doc.start_in(plain).unwrap_or(span.start));
            let (number, doc) = (&value[span], doc.bytes_in(plain, value));
            match JsonValue::parse(number) {
                Ok(JsonValue::Word(number)) if wrong_id("document", doc).is_none() => {
                    rows.row(line, &query, doc, number)
                }
                other => rows.fault(line, wrong_pair(other, doc, &query, role)),
            }
            Ok(())
        })
    });
    match read {
        Err(fault) => rows.fault(fault.line(value, value_line), fault.message),
        Ok(()) if !any => {
            rows.bare.push(BareQuery { id: query.into_owned(), is_judged: false });
        }
        Ok(()) => {}
    }
}

/// Returns the message about a document whose id or number is wrong.
#[cold]
fn wrong_pair(
    number: Result<JsonValue<'_>, String>,
    doc: &[u8],
    query: &[u8],
    role: Role,
) -> String {
    let query = quoted(query);
    if let Some(wrong) = wrong_id("document", doc) {
        return format!("{wrong}, of query {query}");
    }
    let what = match number {
        Ok(value) => value.described(),
        Err(message) => return message,
    };
    format!("document {} of query {query} has {what}, and not a {}", quoted(doc), role.number())
}
