//! Copied rows of a query that may continue in the next batch of columns.

use std::ops::Range;

use super::CheckedColumns;
use super::ColumnId;
use super::Integers;
use super::LONGEST;
use super::Records;
use super::SortValue;
use super::Text;
use super::collected::Strings;

/// Rows of one query.
#[derive(Debug, Default)]
pub struct PendingQuery {
    /// The id of the query, if there are rows.
    query: Strings,
    /// The parts of the rows; consecutive batches of equal shape share a part.
    parts: Vec<PendingRows>,
    rows: u64,
}

/// Some of the rows.
#[derive(Debug)]
struct PendingRows {
    /// The code 0 for each row.
    codes: Vec<u8>,
    docs: Strings,
    scores: Option<Vec<f64>>,
    ranks: Option<Vec<i64>>,
}

impl PendingQuery {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the query, if there are rows.
    pub fn query(&self) -> Option<&[u8]> {
        (self.rows > 0).then(|| self.query.first())
    }

    /// Returns the query as a dictionary.
    pub fn query_text(&self) -> Text<'_> {
        self.query.text()
    }

    /// Copies rows of a batch. All rows belong to the pending query, if a query is pending.
    pub fn push(&mut self, columns: &CheckedColumns<'_>, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let (batch, _) = columns.locate(rows.start);
        if self.rows == 0 {
            self.query.push(batch.query.id(rows.start).bytes(&mut [0; LONGEST]));
        }
        self.rows += rows.len() as u64;
        let (scores, ranks) = match batch.value {
            SortValue::Number(scores) => (Some(scores), batch.rank),
            SortValue::Rank(ranks) => (None, Some(ranks)),
        };
        let fits = |part: &&mut PendingRows| {
            (part.scores.is_some(), part.ranks.is_some()) == (scores.is_some(), ranks.is_some())
        };
        if self.parts.last_mut().as_ref().is_none_or(|part| !fits(part)) {
            let (scores, ranks) = (scores.map(|_| Vec::new()), ranks.map(|_| Vec::new()));
            self.parts.push(PendingRows {
                codes: Vec::new(),
                docs: Strings::default(),
                scores,
                ranks,
            });
        }
        let Some(part) = self.parts.last_mut() else { unreachable!("there is one") };
        part.codes.resize(part.codes.len() + rows.len(), 0);
        for row in rows {
            match batch.doc.id(row) {
                ColumnId::Bytes(bytes) => part.docs.push(bytes),
                integer => part.docs.push(integer.bytes(&mut [0; LONGEST])),
            }
            part.scores.iter_mut().zip(scores).for_each(|(all, scores)| all.push(scores.get(row)));
            let rank = |ranks: Integers<'_>| {
                ranks.signed(row).unwrap_or_else(|| unreachable!("ranks were checked"))
            };
            part.ranks.iter_mut().zip(ranks).for_each(|(all, ranks)| all.push(rank(ranks)));
        }
    }

    /// Returns the rows in their order; their queries are codes of the dictionary `query`.
    pub fn records<'a>(&'a self, query: &'a Text<'a>) -> Vec<Records<'a>> {
        let records = |part: &'a PendingRows| Records {
            query: Text::Coded { codes: Integers::from(&part.codes), values: query },
            doc: part.docs.text(),
            score: part.scores.as_ref().map(Into::into),
            rank: part.ranks.as_ref().map(Into::into),
            span: None,
            lists: None,
        };
        self.parts.iter().map(records).collect()
    }
}

impl CheckedColumns<'_> {
    /// Returns how many rows at the start of a batch are of the query `query`.
    pub fn first_rows_of(&self, query: Option<&[u8]>) -> usize {
        let Some(id) = query else { return 0 };
        let queries = &self.batches[0].query;
        let is = |row: usize| queries.id(row).bytes(&mut [0; LONGEST]) == id;
        (0..self.rows())
            .position(|row| if row == 0 { !is(0) } else { !queries.same(row - 1, row) })
            .unwrap_or(self.rows())
    }

    /// Returns the first row of the last query of a batch, which has rows.
    pub fn last_query(&self) -> usize {
        let queries = &self.batches[0].query;
        (1..self.rows()).rev().find(|&row| !queries.same(row - 1, row)).unwrap_or(0)
    }
}
