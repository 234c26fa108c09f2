//! Scores: what an evaluation answers.

use crate::error::{Error, Result};
use crate::label::{Ids, Notice, Unmatched};
use crate::measure::Measure;

/// The scores of some runs under some measures.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The measures, in the order asked for.
    pub measures: Vec<Measure>,
    /// The runs, in the order given.
    pub runs: Vec<RunScores>,
    /// What is to be noticed about the measures and the judgments.
    pub notices: Vec<Notice>,
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
    /// What is to be noticed about the run.
    pub notices: Vec<Notice>,
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
    ///
    /// # Errors
    /// The measures differ; then nothing is added.
    pub fn append(&mut self, other: Scores) -> Result<()> {
        if self.measures != other.measures {
            let names = |scores: &Scores| {
                scores.measures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            return Err(Error::Unanswerable(format!(
                "scores of different measures are no one table: {}, and {}",
                names(self),
                names(&other)
            )));
        }
        self.runs.extend(other.runs);
        let new: Vec<Notice> = other.notices.into_iter().filter(|of| !self.notices.contains(of)).collect();
        self.notices.extend(new);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scores_of_the_same_measures_are_appended() {
        let run = |name: &str| RunScores {
            name: name.to_owned(),
            tag: Vec::new(),
            queries: 0,
            missing: Unmatched::default(),
            filled: false,
            ignored: Unmatched::default(),
            notices: Vec::new(),
            summaries: Vec::new(),
            per_query: None,
        };
        let scores = |measures: &[&str], name: &str| Scores {
            measures: measures.iter().map(|name| name.parse().unwrap()).collect(),
            runs: vec![run(name)],
            notices: Vec::new(),
        };
        let mut all = scores(&["AP", "RR"], "a");
        all.append(scores(&["AP", "RR"], "b")).unwrap();
        let error = all.append(scores(&["RR", "AP"], "c")).unwrap_err().to_string();
        assert_eq!(error, "scores of different measures are no one table: AP, RR, and RR, AP");
        assert_eq!(all.runs.iter().map(|run| &run.name[..]).collect::<Vec<_>>(), ["a", "b"]);
    }
}
