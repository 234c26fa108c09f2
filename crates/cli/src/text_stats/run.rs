//! The contents of a run, counted for `laneval info`: queries, results, depths, and equal scores.
//!
//! The rows are read one after another. The scores of one query are held at a time while its rows
//! are together; if a query comes back, the run is read again, and 16 bytes are kept for each
//! result.

use std::collections::HashMap;
use std::io::{self, Write};

use laneval::error::printable;
use laneval::{Error, Input, Join, Qrels};
use serde::Serialize;

use super::field;
use super::spread::CountSpread;
use crate::style::{pluralize, thousands};

/// Counts of a run for `laneval info`: queries, results, depths, and equal scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    pub queries: u64,
    pub results: u64,
    /// The number of results of a query.
    pub depth: CountSpread,
    pub ties: TieStats,
    /// The tag of the last result, if the format has tags.
    pub tag: Option<String>,
}

/// Counts of equal scores in a run: the queries and the results that have any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TieStats {
    /// The number of queries with results of equal scores.
    pub queries: u64,
    /// The number of results with the score of another result of their query.
    pub results: u64,
}

impl TieStats {
    /// Counts the equal scores of a query's results, which are sorted here.
    fn add(&mut self, scores: &mut [f64]) {
        scores.sort_unstable_by(f64::total_cmp);
        let alike = scores.chunk_by(|one, next| one == next).filter(|tie| tie.len() > 1);
        let results = alike.map(|tie| tie.len() as u64).sum::<u64>();
        self.queries += u64::from(results > 0);
        self.results += results;
    }
}

/// Counts of a run's queries, results and equal scores, while its rows are read one after another.
#[derive(Default)]
struct RunningCounts {
    /// The number of each query, and of its results.
    queries: HashMap<Vec<u8>, usize>,
    results: Vec<u64>,
    /// The query of the last row, and its scores.
    last: Option<usize>,
    scores: Vec<f64>,
    ties: TieStats,
    /// Whether a query came back.
    came_back: bool,
    tag: Option<Vec<u8>>,
}

impl RunningCounts {
    fn query(&mut self, id: &[u8]) -> usize {
        if let Some(&known) = self.queries.get(id) {
            return known;
        }
        self.queries.insert(id.to_vec(), self.results.len());
        self.results.push(0);
        self.results.len() - 1
    }

    /// Counts one result of a run, by its query and score.
    fn add(&mut self, id: &[u8], score: f64) {
        let query = self.query(id);
        if self.last != Some(query) {
            self.end();
            self.came_back |= self.results[query] > 0;
            self.last = Some(query);
        }
        self.results[query] += 1;
        // Minus zero equals zero.
        self.scores.push(score + 0.0);
    }

    /// Counts the equal scores of the last query, whose rows have ended.
    fn end(&mut self) {
        self.ties.add(&mut self.scores);
        self.scores.clear();
    }
}

/// Reads a run, and counts its queries, results and equal scores. A run that has only scores needs
/// its judgments.
pub fn read(join: &Join, input: &Input, judgments: Option<&Qrels>) -> Result<RunCounts, Error> {
    let mut rows = RunningCounts::default();
    join.each_result(input.clone(), judgments, |row| {
        rows.add(row.query, row.value);
        if let Some(tag) = row.tag {
            let last = rows.tag.get_or_insert_default();
            last.clear();
            last.extend_from_slice(tag);
        }
        Ok(true)
    })?;
    rows.end();
    if rows.came_back {
        rows.ties = in_any_order(join, input, judgments, &rows)?;
    }
    Ok(RunCounts {
        queries: rows.results.len() as u64,
        results: rows.results.iter().sum(),
        ties: rows.ties,
        tag: rows.tag.as_deref().map(printable),
        depth: CountSpread::from_counts(rows.results),
    })
}

/// Counts the equal scores in a run where the rows of some query are not together.
fn in_any_order(
    join: &Join,
    input: &Input,
    judgments: Option<&Qrels>,
    rows: &RunningCounts,
) -> Result<TieStats, Error> {
    let mut all: Vec<(usize, f64)> = Vec::new();
    join.each_result(input.clone(), judgments, |row| {
        let query = rows.queries.get(row.query).ok_or("the run has changed while it was read")?;
        all.push((*query, row.value + 0.0));
        Ok(true)
    })?;
    all.sort_unstable_by_key(|&(query, _)| query);
    let mut ties = TieStats::default();
    for of_query in all.chunk_by(|one, next| one.0 == next.0) {
        let mut scores: Vec<f64> = of_query.iter().map(|&(_, score)| score).collect();
        ties.add(&mut scores);
    }
    Ok(ties)
}

impl RunCounts {
    /// Writes the counts of a run as text for people.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        field(to, "queries", &thousands(self.queries))?;
        field(to, "results", &format!("{}: {}", thousands(self.results), self.depth))?;
        let TieStats { queries, results } = self.ties;
        let ties = match queries {
            0 => "no results of a query have equal scores".to_owned(),
            _ => format!(
                "{} in {} have equal scores; --ties decides",
                pluralize(results, "result"),
                pluralize(queries, "query")
            ),
        };
        field(to, "ties", &ties)?;
        self.tag.iter().try_for_each(|tag| field(to, "tag", tag))
    }
}
