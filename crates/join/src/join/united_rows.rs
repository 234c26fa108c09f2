//! The rows of a text, merged by unit, to be written again.
//!
//! The code that merges results and judgments before ranking also merges these rows. So the written
//! file gives the values of the text itself with the same options. All rows are held, because the
//! rows of a query may be anywhere.

use std::sync::Arc;

use super::united::{JudgedUnits, Uniting, UnitsAsked};
use crate::bytes::hash::Seed;
use crate::bytes::interner::Interner;
use crate::error::{Error, Problem, Problems, Result};
use crate::lines::diagnostics::{Findings, whole_file};
use crate::record::packed::{
    Docnos, Record, address, by_docno, copy_docno, score_of_key, sort_key,
};
use crate::rows::text_rows::{TextRank, TextRow};
use crate::rule::RankingRule;
use crate::units::rule::Units;

/// A row that is held.
struct HeldRow {
    line: u64,
    doc: Vec<u8>,
    number: Vec<u8>,
    value: f64,
    rank: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
}

/// The rows of a text, by query.
pub(super) struct HeldRows {
    seed: Seed,
    queries: Interner,
    rows: Vec<Vec<HeldRow>>,
}

/// A row that stands for its unit: its query, its place among the rows of the query, and the merged
/// value.
struct UnitRow {
    query: usize,
    row: usize,
    unit: Vec<u8>,
    value: f64,
}

impl HeldRows {
    pub fn new() -> Self {
        let seed = Seed::random();
        HeldRows { seed, queries: Interner::new(seed), rows: Vec::new() }
    }

    /// Holds a row.
    pub fn push(&mut self, row: TextRow<'_>) {
        let query = self.queries.insert(row.query).0 as usize;
        if query == self.rows.len() {
            self.rows.push(Vec::new());
        }
        let rank = match row.rank {
            Some(TextRank::Written(rank)) => Some(rank.to_vec()),
            _ => None,
        };
        self.rows[query].push(HeldRow {
            line: row.line,
            doc: row.doc.to_vec(),
            number: row.number.to_vec(),
            value: row.value,
            rank,
            tag: row.tag.map(<[u8]>::to_vec),
        });
    }

    /// The records of a query, with the bytes of their docnos, each behind the number of its line.
    fn records(&self, query: usize, key: impl Fn(f64) -> u64) -> (Vec<u8>, Vec<Record>) {
        let mut docnos = Vec::new();
        let record = |row: &HeldRow| {
            let at = copy_docno(&mut docnos, row.line, &row.doc);
            let hash = self.seed.hash(&row.doc, 0, row.doc.len());
            let (at, length) = (address(0, at), row.doc.len() as u32);
            Record { key: key(row.value), hash, at, length, query: query as u32 }
        };
        let records = self.rows[query].iter().map(record).collect();
        (docnos, records)
    }

    /// Passes the results of each unit, put together, to `take`.
    ///
    /// # Errors
    /// What is wrong with ids; what `take` finds wrong.
    pub fn each_result(
        &self,
        name: &str,
        (asked, rule): (Arc<UnitsAsked>, &RankingRule),
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        let mut uniting = Uniting::new(asked.clone(), rule, self.seed, false);
        let (mut findings, mut kept) = (Findings::default(), Vec::new());
        for query in 0..self.rows.len() {
            let (bytes, records) = self.records(query, |value| sort_key(value, rule.score));
            let chunks: [&[u8]; 1] = [&bytes];
            let ids = Docnos::Chunks { first: 0, chunks: &chunks, text: false };
            uniting.unite(self.queries.ids().get(query), &records, ids, &mut findings);
            let units = uniting.docnos(&ids);
            let mut rows = unit_rows(query, &records, uniting.united(), units, score_of_key);
            // A file's order has no sums, which are ranked; otherwise the best result of each unit
            // stays where it is.
            if asked.repeats.makes_scores() {
                let by_docno = by_docno(rule.ties);
                let of = |one: &UnitRow, other: &UnitRow| other.value.total_cmp(&one.value);
                rows.sort_by(|one, other| {
                    of(one, other).then_with(|| by_docno(&one.unit, &other.unit))
                });
            }
            kept.extend(rows);
        }
        let nothing = uniting.seen.changes_nothing(&asked.units, "--units");
        sound(name, findings, nothing)?;
        if !asked.repeats.makes_scores() {
            kept.sort_by_key(|of| self.rows[of.query][of.row].line);
        }
        self.pass(name, &kept, asked.repeats.makes_scores(), take)
    }

    /// Passes the judgments of each unit, put together, to `take`.
    ///
    /// # Errors
    /// As [`HeldRows::each_result`].
    pub fn each_judgment(
        &self,
        name: &str,
        units: &Units,
        take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        let mut judged = JudgedUnits::default();
        let (mut findings, mut kept) = (Findings::default(), Vec::new());
        for query in 0..self.rows.len() {
            let (bytes, records) = self.records(query, f64::to_bits);
            let chunks: [&[u8]; 1] = [&bytes];
            let ids = Docnos::Chunks { first: 0, chunks: &chunks, text: false };
            let (united, docnos) = judged.unite((units, self.seed), &records, &ids, &mut findings);
            kept.extend(unit_rows(query, &records, united, docnos, f64::from_bits));
        }
        sound(name, findings, judged.seen.changes_nothing(units, "--qrels-units"))?;
        kept.sort_by_key(|of| self.rows[of.query][of.row].line);
        self.pass(name, &kept, false, take)
    }

    /// Passes rows on. New scores have no ranks of the text.
    fn pass(
        &self,
        name: &str,
        kept: &[UnitRow],
        counted: bool,
        mut take: impl FnMut(TextRow<'_>) -> Result<bool, String>,
    ) -> Result<()> {
        let mut problems = Problems::default();
        let mut counts = vec![0u64; self.rows.len()];
        for UnitRow { query, row, unit, value } in kept {
            let of = &self.rows[*query][*row];
            counts[*query] += 1;
            let written = written(*value);
            let number = if of.value == *value { &of.number[..] } else { written.as_bytes() };
            let rank = match &of.rank {
                Some(rank) if !counted => TextRank::Written(rank),
                _ => TextRank::Counted(counts[*query]),
            };
            let query = self.queries.ids().get(*query);
            let (line, value, tag) = (of.line, *value, of.tag.as_deref());
            let row = TextRow {
                line,
                query,
                doc: unit,
                number,
                value,
                rank: Some(rank),
                tag,
                group: None,
            };
            match take(row) {
                Ok(true) => {}
                Ok(false) => break,
                Err(message) if problems.first.len() < Problems::LIMIT => {
                    problems.first.push(Problem { file: name.to_owned(), line, message });
                }
                Err(_) => problems.more += 1,
            }
        }
        if problems.first.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
    }
}

/// The rows that stand for the units of a query.
fn unit_rows(
    query: usize,
    records: &[Record],
    united: &[Record],
    units: Docnos<'_>,
    value: fn(u64) -> f64,
) -> Vec<UnitRow> {
    // Records lie in the order of their places.
    let row = |record: &Record| records.partition_point(|other| other.at < record.at);
    let of = |record: &Record| UnitRow {
        query,
        row: row(record),
        unit: units.of(record).to_vec(),
        value: value(record.key),
    };
    united.iter().map(of).collect()
}

/// Refuses rows with problems, and a rule that changes nothing.
fn sound(name: &str, findings: Findings, nothing: Option<String>) -> Result<()> {
    let problems = findings.into_problems(name, |line| line, &[]);
    if !problems.first.is_empty() {
        return Err(Error::Input(problems));
    }
    nothing.map_or(Ok(()), |message| Err(Error::Input(whole_file(name, message))))
}

/// The shortest decimal that is read as a number.
fn written(value: f64) -> String {
    let plain = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:?}") }
}
