//! Scores: what an evaluation answers.

use crate::label::{Ids, Unmatched};
use crate::measure::Measure;

/// The scores of some runs under some measures.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The measures, in the order asked for.
    pub measures: Vec<Measure>,
    /// The runs, in the order given.
    pub runs: Vec<RunScores>,
}

/// The scores of one run.
#[derive(Debug, Clone)]
pub struct RunScores {
    /// The name of the run.
    pub name: String,
    /// The run id on its last line.
    pub tag: Vec<u8>,
    /// How many queries count.
    pub queries: usize,
    /// Judged queries that the run lacks.
    pub missing: Unmatched,
    /// Did the missing queries count, with the values of an empty ranking?
    pub filled: bool,
    /// Queries of the run without judgments, which never count.
    pub ignored: Unmatched,
    /// For each measure its statistics by name.
    pub summaries: Vec<Vec<(&'static str, f64)>>,
    /// The values of each query, where they were asked for.
    pub per_query: Option<PerQuery>,
}

/// Values by query.
#[derive(Debug, Clone, Default)]
pub struct PerQuery {
    /// The queries that count, in bytewise order.
    pub queries: Ids,
    /// `[measure][query]`.
    pub values: Vec<Vec<f64>>,
}

impl RunScores {
    /// The average of a measure by its index.
    pub fn average(&self, measure: usize) -> Option<f64> {
        self.summaries.get(measure)?.first().map(|&(_, value)| value)
    }
}

impl Scores {
    /// The runs of several evaluations under the same measures, one after the other.
    pub fn append(&mut self, other: Scores) {
        debug_assert_eq!(self.measures, other.measures);
        self.runs.extend(other.runs);
    }
}
