//! Judgments or results from an iterator, collected into columns.

use super::{IdColumn, Integers, QrelsColumns, RunColumns};
use crate::ids::Ids;

/// Judgments or results copied into columns: a query, a document, and a grade or score in each row.
/// A query is copied once for consecutive rows.
#[derive(Debug, Default)]
pub struct CollectedRows {
    queries: Ids,
    query: Vec<u32>,
    docs: Ids,
    numbers: Vec<f64>,
}

impl Ids {
    /// Returns the ids as a column of text.
    pub(super) fn text(&self) -> IdColumn<'_> {
        let (ends, bytes) = self.columns();
        IdColumn::LargeUtf8 { offsets: bytemuck::cast_slice(ends), bytes }
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
    fn push(&mut self, query: &[u8], doc: &[u8], number: f64) {
        let last = self.queries.len().checked_sub(1);
        if last.is_none_or(|last| self.queries.get(last) != query) {
            self.queries.push(query);
        }
        self.query.push(self.queries.len() as u32 - 1);
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
