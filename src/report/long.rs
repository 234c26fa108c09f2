//! The long form that the machine formats share: one row for each number.
//!
//! A run's values by query come first (stat `value`), then its statistics, with an empty query id
//! unless there is a text for it. If the scores have groups of queries, a column `group` names the
//! group, and stays empty in rows over all queries.

use std::io;

use super::options::ReportOptions;
use crate::measure::Measure;
use crate::scores::{PerQuery, Row, Scores};
use crate::stats::{StatName, is_undefined};

/// The columns of scores, in order.
pub fn columns(scores: &Scores) -> Vec<&'static str> {
    let group = has_groups(scores).then_some("group");
    ["run"].into_iter().chain(group).chain(["query_id", "measure", "stat", "value"]).collect()
}

/// Whether a run has scores of query groups.
pub fn has_groups(scores: &Scores) -> bool {
    scores.runs.iter().any(|run| run.group.is_some())
}

/// Rounds a value to at most `decimals` decimals.
pub fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// Calls `each` with every row in order, and the name of its measure.
pub fn rows(
    scores: &Scores,
    options: &ReportOptions,
    mut each: impl FnMut(&str, &Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let measures: Vec<(&Measure, String)> =
        scores.measures.iter().map(|measure| (measure, measure.to_string())).collect();
    let all = Some(options.all_id.as_bytes()).filter(|id| !id.is_empty());
    for run in &scores.runs {
        let row = |query, measure, stat, value| Row {
            run: &run.name,
            group: run.group.as_deref(),
            query,
            measure,
            stat,
            value: options.decimals.map_or(value, |decimals| rounded(value, decimals)),
        };
        // The values of queries are written once, in the rows of all queries.
        let wanted = options.per_query && run.group.is_none();
        if let Some(PerQuery { queries, values, .. }) = run.per_query.as_ref().filter(|_| wanted) {
            for (query, id) in queries.iter().enumerate() {
                let known = |(_, values): &(_, &Vec<f64>)| !is_undefined(values[query]);
                for (&(measure, ref name), values) in measures.iter().zip(values).filter(known) {
                    each(name, &row(Some(id), measure, StatName::Value, values[query]))?;
                }
            }
        }
        for (&(measure, ref name), stats) in measures.iter().zip(&run.stats) {
            for &(stat, value) in stats {
                each(name, &row(all, measure, stat, value))?;
            }
        }
    }
    Ok(())
}
