//! Scores as rows of one number each, shared by the TSV, CSV and JSON lines formats.
//!
//! A run's values by query come first (stat `value`), then its statistics, with an empty query id
//! unless there is a text for it. If the scores have groups of queries, a column `group` names the
//! group, and stays empty in rows over all queries.

use std::io;

use super::options::ReportOptions;
use crate::measure::Measure;
use crate::scores::{PerQuery, ScoreRow, Scores};
use crate::stats::{StatName, is_undefined};

/// Returns the column names of scores with one number in each row.
pub fn columns(scores: &Scores) -> Vec<&'static str> {
    let group = has_groups(scores).then_some("group");
    ["run"].into_iter().chain(group).chain(["query_id", "measure", "stat", "value"]).collect()
}

/// Returns whether the scores of a run are those of a group of queries.
pub fn has_groups(scores: &Scores) -> bool {
    scores.runs.iter().any(|run| run.group.is_some())
}

/// Rounds a score to at most `decimals` decimals.
pub fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// Rounds a score to the decimals of the options, if any.
pub fn with_decimals(value: f64, options: &ReportOptions) -> f64 {
    options.decimals.map_or(value, |decimals| rounded(value, decimals))
}

/// Calls `each` with every number of scores as a row, with the name of its measure: queries, then
/// statistics.
pub fn rows(
    scores: &Scores,
    options: &ReportOptions,
    mut each: impl FnMut(&str, &ScoreRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let measures: Vec<(&Measure, String)> =
        scores.measures.iter().map(|measure| (measure, measure.to_string())).collect();
    let all = Some(options.all_id.as_bytes()).filter(|id| !id.is_empty());
    for run in &scores.runs {
        let (name, group) = (&run.name[..], run.group.as_deref());
        if let Some(PerQuery { queries, values, .. }) = options.shown_queries(run) {
            for (query, id) in queries.iter().enumerate() {
                for (&(measure, ref text), values) in measures.iter().zip(values) {
                    let (query, stat, value) = (Some(id), StatName::Value, values[query]);
                    if !is_undefined(value) {
                        let value = with_decimals(value, options);
                        each(text, &ScoreRow { run: name, group, query, measure, stat, value })?;
                    }
                }
            }
        }
        for (&(measure, ref text), stats) in measures.iter().zip(&run.stats) {
            for &(stat, value) in stats {
                let value = with_decimals(value, options);
                each(text, &ScoreRow { run: name, group, query: all, measure, stat, value })?;
            }
        }
    }
    Ok(())
}
