//! The long form that the machine formats share: one row a number.
//!
//! A run's values by query come first (stat `value`), then its statistics, with an empty query id. Where there are groups of queries,
//! a column more says which; it is empty in the rows of all queries.

use std::io;

use super::Options;
use crate::scores::{Row, Scores};

/// The columns of scores, in order.
pub fn columns(scores: &Scores) -> Vec<&'static str> {
    let group = has_groups(scores).then_some("group");
    ["run"].into_iter().chain(group).chain(["query_id", "measure", "stat", "value"]).collect()
}

/// Are there groups of queries?
pub fn has_groups(scores: &Scores) -> bool {
    scores.runs.iter().any(|run| run.group.is_some())
}

/// Calls `each` with every row in order, and the name of its measure.
pub fn rows(
    scores: &Scores,
    options: &Options,
    mut each: impl FnMut(&str, &Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    // The values of queries stand once, in the rows of all.
    let wanted = |row: &Row<'_>| row.query.is_none() || (options.per_query && row.group.is_none());
    scores.rows().filter(wanted).try_for_each(|row| each(&measures[row.at], &row))
}
