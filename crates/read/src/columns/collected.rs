//! Judgments or results from an iterator, collected into columns.

use super::{IdColumn, Integers, QrelsColumns, RunColumns};

/// Judgments or results copied into columns: a query, a document, and a grade or score in each row.
/// A query is copied once for consecutive rows.
#[derive(Debug, Default)]
pub struct CollectedRows {
    queries: ByteStrings,
    query: Vec<u32>,
    docs: ByteStrings,
    numbers: Vec<f64>,
}

/// A list of byte strings, such as ids, in one buffer without gaps.
#[derive(Debug)]
pub struct ByteStrings {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
}

impl Default for ByteStrings {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0] }
    }
}

impl ByteStrings {
    pub fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.offsets.push(self.bytes.len() as i64);
    }

    /// Returns the first byte string of the list.
    pub fn first(&self) -> &[u8] {
        &self.bytes[..self.offsets[1] as usize]
    }

    /// Returns the last byte string of the list; `None` for an empty list.
    fn last(&self) -> Option<&[u8]> {
        let start = self.offsets.get(self.offsets.len().checked_sub(2)?)?;
        Some(&self.bytes[*start as usize..])
    }

    pub fn text(&self) -> IdColumn<'_> {
        IdColumn::LargeUtf8 { offsets: &self.offsets, bytes: &self.bytes }
    }
}

impl CollectedRows {
    pub fn from_rows<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        rows: impl IntoIterator<Item = (Q, D, f64)>,
    ) -> Self {
        let mut collected = Self::default();
        for (query, doc, number) in rows {
            collected.push(query.as_ref(), doc.as_ref(), number);
        }
        collected
    }

    /// Appends a row: a query, a document, and a grade or score.
    pub fn push(&mut self, query: &[u8], doc: &[u8], number: f64) {
        if self.queries.last().is_none_or(|last| last != query) {
            self.queries.push(query);
        }
        self.query.push(self.queries.offsets.len() as u32 - 2);
        self.docs.push(doc);
        self.numbers.push(number);
    }

    /// Returns the column of query ids that the rows refer to by code.
    pub fn queries(&self) -> IdColumn<'_> {
        self.queries.text()
    }

    /// Returns the collected rows as columns of a run's results; `queries` is their dictionary of
    /// queries.
    pub fn records<'a>(&'a self, queries: &'a IdColumn<'a>) -> RunColumns<'a> {
        RunColumns::scored(self.query(queries), self.docs.text(), &self.numbers)
    }

    /// Returns the collected rows as columns of judgments; `queries` is their dictionary of
    /// queries.
    pub fn judgments<'a>(&'a self, queries: &'a IdColumn<'a>) -> QrelsColumns<'a> {
        QrelsColumns::new(self.query(queries), self.docs.text(), &self.numbers)
    }

    fn query<'a>(&'a self, queries: &'a IdColumn<'a>) -> IdColumn<'a> {
        IdColumn::Dictionary { codes: Integers::from(&self.query), values: queries }
    }
}
