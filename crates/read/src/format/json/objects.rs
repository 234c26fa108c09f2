//! Judgments or results as objects of queries with objects of their documents.
//!
//! ```text
//! {"query": {"document": number, …}, …}
//! ```
//!
//! A text may hold several such objects in sequence.

use super::{
    JsonValue, LineCounter, each_pair, read_json, span, unescaped,
    walk::{JsonWalk, Outermost},
};
use crate::format::sequence::{SequenceFormat, Started};
use crate::lines::{
    diagnostics::quoted,
    row::{Entry, RowBatch, wrong_id},
    shape::Role,
};

/// Returns the shape of JSON objects of queries, for messages; `number` is `grade` or `score`.
pub fn shape(number: &str) -> String {
    format!("{{\"query\": {{\"document\": {number}, …}}, …}}")
}

/// Objects of queries, with judgments or results.
#[derive(Debug)]
pub struct QueryObjects(pub Role);

impl SequenceFormat for QueryObjects {
    fn start(&self) -> Started<'_> {
        Ok(Box::new(JsonWalk::new(Outermost(b'{'))))
    }

    fn entry(&self, entry: Entry<'_>, rows: &mut RowBatch) {
        documents(entry, self.0, rows);
    }
}

/// Makes the rows of a query, the key of an entry, with its documents, the object that is the
/// value.
pub fn documents(entry: Entry<'_>, role: Role, rows: &mut RowBatch) {
    let Entry { line, value_line, key, value } = entry;
    let query = match unescaped(key) {
        Ok(query) => query,
        Err(message) => return rows.fault(line, message),
    };
    if let Some(message) = wrong_id("query", &query) {
        return rows.fault(line, message);
    }
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
        Ok(()) if !any => rows.bare.push(query.into_owned()),
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
