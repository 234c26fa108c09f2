//! The rows of a qrels or run text, merged by unit (the document that chunks count for), to be
//! written again.
//!
//! The code that merges results and judgments before ranking also merges these rows. So the written
//! file gives the values of the text itself with the same options. All rows are held, because the
//! rows of a query may be anywhere.

use std::sync::Arc;

use super::{
    aggregate::{Aggregator, QrelsAggregator},
    exclusion::ExclusionCounts,
};
use crate::bytes::{hash::Seed, interner::Interner};
use crate::doc_ids::rule::DocIdRule;
use crate::error::{Problems, Result};
use crate::lines::{
    diagnostics::{Diagnostics, whole_file},
    row::copy_docno,
};
use crate::record::layout::{Docnos, Record, address, by_docno, score_of_key, sort_key};
use crate::rows::text_rows::{TextRank, TextRow};
use crate::settings::Join;

/// A row of a qrels or run text, held until all rows are read and can be merged by unit.
struct BufferedRow {
    line: u64,
    doc: Vec<u8>,
    number: Vec<u8>,
    value: f64,
    rank: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
}

/// All rows of a qrels or run text by query, held in order to merge the rows of each unit.
pub(super) struct RowAggregator {
    /// The name of the text in messages.
    name: String,
    seed: Seed,
    queries: Interner,
    rows: Vec<Vec<BufferedRow>>,
}

/// A merged row that stands for a unit of a query: its source row, and the merged grade or score.
struct AggregatedRow<'a> {
    query: usize,
    row: &'a BufferedRow,
    unit: Vec<u8>,
    value: f64,
}

impl RowAggregator {
    pub fn new(name: String) -> Self {
        let seed = Seed::random();
        Self { name, seed, queries: Interner::new(seed), rows: Vec::new() }
    }

    /// Holds a copy of a row of a qrels or run text for merging by unit.
    pub fn push(&mut self, row: TextRow<'_>) {
        let query = self.queries.insert(row.query).0 as usize;
        if query == self.rows.len() {
            self.rows.push(Vec::new());
        }
        let rank = match row.rank {
            Some(TextRank::Written(rank)) => Some(rank.to_vec()),
            _ => None,
        };
        self.rows[query].push(BufferedRow {
            line: row.line,
            doc: row.doc.to_vec(),
            number: row.number.to_vec(),
            value: row.value,
            rank,
            tag: row.tag.map(<[u8]>::to_vec),
        });
    }

    /// Converts the held rows of one query to records, with a buffer of their docnos. In the buffer
    /// each docno is behind the number of its line.
    fn records(&self, query: usize, key: impl Fn(f64) -> u64) -> (Vec<u8>, Vec<Record>) {
        let mut docnos = Vec::new();
        let records = self.rows[query].iter().map(|row| {
            let at = copy_docno(&mut docnos, row.line, &row.doc, None);
            let hash = self.seed.hash(&row.doc, 0, row.doc.len());
            let (at, length) = (address(0, at), row.doc.len() as u32);
            Record { key: key(row.value), hash, at, length, query: query as u32 }
        });
        let records = records.collect();
        (docnos, records)
    }

    /// Merges the results of each query by unit, and passes the merged rows of the run to `take`.
    ///
    /// # Errors
    /// What is wrong with ids; what `take` finds wrong.
    pub fn each_result(
        &self,
        join: Join,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        // Only a ranking leaves documents out that have the id of their query, or are excluded.
        let join = Arc::new(Join { drop_identical_ids: false, exclude: None, ..join });
        let (changes_scores, precision) = (join.aggregation().changes_scores(), join.rule().score);
        let mut uniting = Aggregator::new(join.clone(), self.seed);
        let (mut findings, mut merged) = (Diagnostics::default(), Vec::new());
        for query in 0..self.rows.len() {
            let (bytes, records) = self.records(query, |value| sort_key(value, precision));
            let chunks = [&bytes[..]];
            let ids = Docnos::copied(&chunks);
            let (id, mut none) = (self.queries.ids().get(query), ExclusionCounts::default());
            uniting.aggregate(id, &records, ids, &mut findings, &mut none);
            let units = uniting.docnos(&ids);
            let mut rows = self.unit_rows(query, &records, &uniting.united, units, score_of_key);
            // A file's order has no sums, which are ranked; otherwise the best result of each unit
            // stays where it is.
            if changes_scores {
                let by_docno = by_docno(join.ties);
                rows.sort_by(|one, other| {
                    let by_value = other.value.total_cmp(&one.value);
                    by_value.then_with(|| by_docno(&one.unit, &other.unit))
                });
            }
            merged.extend(rows);
        }
        self.check(findings, uniting.seen.unused_rule_message(&join.units, "--doc-id"))?;
        self.pass(merged, changes_scores, take)
    }

    /// Merges the judgments of each query by unit, and passes the merged rows of the qrels to
    /// `take`.
    ///
    /// # Errors
    /// As [`RowAggregator::each_result`].
    pub fn each_judgment(
        &self,
        units: &DocIdRule,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        let mut judged = QrelsAggregator::default();
        let (mut findings, mut merged) = (Diagnostics::default(), Vec::new());
        for query in 0..self.rows.len() {
            let (bytes, records) = self.records(query, f64::to_bits);
            let chunks = [&bytes[..]];
            let ids = Docnos::copied(&chunks);
            let (united, docnos) =
                judged.aggregate(units, self.seed, &records, &ids, &mut findings);
            merged.extend(self.unit_rows(query, &records, united, docnos, f64::from_bits));
        }
        self.check(findings, judged.seen.unused_rule_message(units, "--qrels-doc-id"))?;
        self.pass(merged, false, take)
    }

    /// Converts the merged records of one query to rows, each with the id of its unit.
    fn unit_rows(
        &self,
        query: usize,
        records: &[Record],
        united: &[Record],
        units: Docnos<'_>,
        value: fn(u64) -> f64,
    ) -> Vec<AggregatedRow<'_>> {
        let rows = united.iter().map(|record| AggregatedRow {
            query,
            // Records lie in the order of their places.
            row: &self.rows[query][records.partition_point(|other| other.at < record.at)],
            unit: units.get(record).to_vec(),
            value: value(record.key),
        });
        rows.collect()
    }

    /// Rejects a text whose ids have problems, and a rule of units that changes nothing.
    fn check(&self, findings: Diagnostics, nothing: Option<String>) -> Result<()> {
        findings.into_problems(&self.name, |line| line, &[]).into_result(())?;
        nothing.map_or(Ok(()), |message| Err(whole_file(&self.name, message).into()))
    }

    /// Passes merged rows of a qrels or run text to `take`; a changed score or grade is written
    /// anew. New scores have no ranks of the text, and rows without them are in its order.
    fn pass(
        &self,
        mut merged: Vec<AggregatedRow<'_>>,
        new_scores: bool,
        mut take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        if !new_scores {
            merged.sort_by_key(|merged| merged.row.line);
        }
        let mut problems = Problems::default();
        let mut counts = vec![0u64; self.rows.len()];
        for AggregatedRow { query, row, unit, value } in merged {
            counts[query] += 1;
            let written = written(value);
            // A value that did not change is written as the text has it.
            let number = if row.value == value { &row.number[..] } else { written.as_bytes() };
            let rank = Some(match &row.rank {
                Some(rank) if !new_scores => TextRank::Written(rank),
                _ => TextRank::Counted(counts[query]),
            });
            let (doc, query) = (&unit[..], self.queries.ids().get(query));
            let (line, tag) = (row.line, row.tag.as_deref());
            match take(TextRow { line, query, doc, number, value, rank, tag, group: None }) {
                Ok(true) => {}
                Ok(false) => break,
                Err(message) => problems.add(&self.name, line, || message),
            }
        }
        problems.into_result(())
    }
}

/// Writes a score or grade as the shortest decimal that reads as the same number.
fn written(value: f64) -> String {
    let plain = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:?}") }
}
