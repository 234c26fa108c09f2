//! Rows of an iterator, collected into columns.

use super::Integers;
use super::Judgments;
use super::Records;
use super::Text;

/// Copied rows, each of a query, a document and a number. A query is copied once for consecutive
/// rows.
#[derive(Debug, Default)]
pub struct Collected {
    queries: Strings,
    query: Vec<u32>,
    docs: Strings,
    numbers: Vec<f64>,
}

/// Byte strings in one buffer, without gaps.
#[derive(Debug)]
pub struct Strings {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { bytes: Vec::new(), offsets: vec![0] }
    }
}

impl Strings {
    pub fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.offsets.push(self.bytes.len() as i64);
    }

    /// Returns the first string.
    pub fn first(&self) -> &[u8] {
        &self.bytes[..self.offsets[1] as usize]
    }

    /// Returns the last string.
    fn last(&self) -> Option<&[u8]> {
        let start = self.offsets.get(self.offsets.len().checked_sub(2)?)?;
        Some(&self.bytes[*start as usize..])
    }

    pub fn text(&self) -> Text<'_> {
        Text::LargeUtf8 { offsets: &self.offsets, bytes: &self.bytes }
    }
}

impl Collected {
    pub fn of<Q: AsRef<[u8]>, D: AsRef<[u8]>>(rows: impl IntoIterator<Item = (Q, D, f64)>) -> Self {
        let mut collected = Collected::default();
        rows.into_iter()
            .for_each(|(query, doc, number)| collected.push(query.as_ref(), doc.as_ref(), number));
        collected
    }

    /// Appends a row.
    pub fn push(&mut self, query: &[u8], doc: &[u8], number: f64) {
        if self.queries.last().is_none_or(|last| last != query) {
            self.queries.push(query);
        }
        self.query.push(self.queries.offsets.len() as u32 - 2);
        self.docs.push(doc);
        self.numbers.push(number);
    }

    /// The dictionary of the queries.
    pub fn queries(&self) -> Text<'_> {
        self.queries.text()
    }

    /// Returns the rows as results of a run.
    pub fn records<'a>(&'a self, queries: &'a Text<'a>) -> Records<'a> {
        Records::scored(self.query(queries), self.docs.text(), &self.numbers)
    }

    /// Returns the rows as judgments.
    pub fn judgments<'a>(&'a self, queries: &'a Text<'a>) -> Judgments<'a> {
        Judgments::new(self.query(queries), self.docs.text(), &self.numbers)
    }

    fn query<'a>(&'a self, queries: &'a Text<'a>) -> Text<'a> {
        Text::Coded { codes: Integers::from(&self.query), values: queries }
    }
}
