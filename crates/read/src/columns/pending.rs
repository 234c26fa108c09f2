//! Copied results of a query that may continue in the next batch of columns.

use std::ops::Range;

use super::{CheckedColumns, IdColumn, Integers, LONGEST, RunColumns};
use crate::ids::Ids;

/// Copied results of one query, which may continue in the next batch of columns.
#[derive(Debug, Default)]
pub struct PendingQuery {
    /// The id of the query, if there are rows.
    query: Ids,
    /// The parts of the rows; consecutive batches of equal shape share a part.
    parts: Vec<PendingRows>,
    rows: u64,
}

/// Some copied results of a pending query that all have scores, ranks or both.
#[derive(Debug, Default)]
struct PendingRows {
    /// The code 0 for each row.
    codes: Vec<u8>,
    docs: Ids,
    scores: Option<Vec<f64>>,
    ranks: Option<Vec<i64>>,
}

impl PendingQuery {
    /// Returns the number of copied results of the pending query.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the id of the pending query, if there are results.
    pub fn query(&self) -> Option<&[u8]> {
        (self.rows > 0).then(|| self.query.get(0))
    }

    /// Returns the id of the pending query as a column, which results refer to by code.
    pub fn query_text(&self) -> IdColumn<'_> {
        self.query.text()
    }

    /// Copies the results in some rows of a batch to those of the pending query. All rows belong to
    /// the pending query, if a query is pending.
    pub fn push(&mut self, columns: &CheckedColumns<'_>, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let (batch, _) = columns.locate(rows.start);
        if self.rows == 0 {
            self.query.push(batch.query.id(rows.start).bytes(&mut [0; LONGEST]));
        }
        self.rows += rows.len() as u64;
        let (scores, ranks) = (batch.numbers, batch.rank);
        let shape = (scores.is_some(), ranks.is_some());
        let last = self.parts.pop_if(|part| (part.scores.is_some(), part.ranks.is_some()) == shape);
        let mut part = last.unwrap_or_else(|| PendingRows {
            scores: scores.map(|_| Vec::new()),
            ranks: ranks.map(|_| Vec::new()),
            ..PendingRows::default()
        });
        part.codes.resize(part.codes.len() + rows.len(), 0);
        for row in rows {
            part.docs.push(batch.doc.id(row).bytes(&mut [0; LONGEST]));
            part.scores.iter_mut().zip(scores).for_each(|(all, scores)| all.push(scores.get(row)));
            part.ranks.iter_mut().zip(ranks).for_each(|(all, ranks)| {
                all.push(ranks.signed(row).unwrap_or_else(|| unreachable!("ranks were checked")));
            });
        }
        self.parts.push(part);
    }

    /// Returns the results of the pending query in their order, as columns of a run. Their queries
    /// are codes of the dictionary `query`.
    pub fn records<'a>(&'a self, query: &'a IdColumn<'a>) -> Vec<RunColumns<'a>> {
        let records = self.parts.iter().map(|part| {
            RunColumns::new(
                IdColumn::Dictionary { codes: Integers::from(&part.codes), values: query },
                part.docs.text(),
                part.scores.as_ref().map(Into::into),
                part.ranks.as_ref().map(Into::into),
            )
        });
        records.collect()
    }
}

impl CheckedColumns<'_> {
    /// Returns the number of rows at the start of the first batch that have the query `query`.
    pub fn first_rows_of(&self, query: Option<&[u8]>) -> usize {
        let Some(id) = query else { return 0 };
        let queries = &self.batches[0].query;
        let end = (0..self.rows()).find(|&row| match row.checked_sub(1) {
            None => queries.id(0).bytes(&mut [0; LONGEST]) != id,
            // Two rows of a column may have codes, which are compared faster than ids.
            Some(before) => !queries.same(before, row),
        });
        end.unwrap_or(self.rows())
    }

    /// Returns the first row of the last query in a batch of results. The batch has rows.
    pub fn last_query(&self) -> usize {
        let queries = &self.batches[0].query;
        (1..self.rows()).rev().find(|&row| !queries.same(row - 1, row)).unwrap_or(0)
    }
}
