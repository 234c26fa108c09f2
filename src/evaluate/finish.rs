//! From columns to values: the last line of every formula, and the walks.

use crate::fold::Columns;
use crate::label::Batch;
use crate::plan::Prepared;
use crate::reference::{self, Ranking};

/// Finishes rows of a batch.
pub(super) struct Finishing<'a> {
    batch: Batch<'a>,
    prepared: &'a Prepared<'a>,
    /// The measures that walk, by index, with their functions.
    walks: Vec<(usize, reference::Function)>,
}

/// What is used again from tile to tile.
#[derive(Default)]
pub(super) struct FinishScratch {
    queries: Vec<u32>,
    gathered: Vec<f64>,
    /// `[measure][row]`.
    pub values: Vec<f64>,
}

impl<'a> Finishing<'a> {
    pub fn new(batch: Batch<'a>, prepared: &'a Prepared<'a>) -> Self {
        let plan = prepared.plan();
        let function = |at| Some((at, reference::function(&plan.measures()[at])?));
        Finishing { batch, prepared, walks: plan.walks().filter_map(function).collect() }
    }

    /// Finishes some rows, of which these are the columns, into the values of the scratch.
    pub fn rows(
        &self,
        rows: &[u32],
        columns: &Columns,
        labels: impl Fn(usize) -> Vec<u8>,
        FinishScratch { queries, gathered, values }: &mut FinishScratch,
    ) {
        self.queries(rows, queries);
        values.resize(self.prepared.plan().measures().len() * rows.len(), 0.0);
        self.prepared.finish(queries, columns, gathered, values);
        if !self.walks.is_empty() {
            self.walk(rows, labels, values);
        }
    }

    /// The queries of some rows, most of them of one run.
    fn queries(&self, rows: &[u32], queries: &mut Vec<u32>) {
        let all = self.batch.queries() as u32;
        let first = rows.first().map_or(0, |row| row / all * all);
        let query = |&row: &u32| if (first..first + all).contains(&row) { row - first } else { row % all };
        queries.clear();
        queries.extend(rows.iter().map(query));
    }

    fn walk(&self, rows: &[u32], labels: impl Fn(usize) -> Vec<u8>, values: &mut [f64]) {
        let measures = self.prepared.plan().measures();
        for (lane, &row) in rows.iter().enumerate() {
            let labels = labels(lane);
            let ranking = ranking(&self.batch, row, &labels);
            for &(measure, function) in &self.walks {
                values[measure * rows.len() + lane] = function(&measures[measure], &ranking);
            }
        }
    }
}

/// A row with what the qrels know of its query.
pub(super) fn ranking<'a>(batch: &Batch<'a>, row: u32, labels: &'a [u8]) -> Ranking<'a> {
    Ranking { labels, facts: batch.facts_of(row), book: batch.book() }
}
