//! The long form that the machine formats share: one row a number.
//!
//! A run's values by query come first (stat `value`), then its summaries, with an empty query id.

use std::io;

use serde::Serialize;

use super::{Options, Text};
use crate::scores::Scores;

/// The columns, in order.
pub const COLUMNS: [&str; 5] = ["run", "query_id", "measure", "stat", "value"];

/// One number and what it is.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    pub run: &'a str,
    pub query_id: Text<'a>,
    pub measure: &'a str,
    pub stat: &'a str,
    pub value: f64,
}

/// Calls `each` with every row in order.
pub fn rows(
    scores: &Scores,
    options: &Options,
    mut each: impl FnMut(&Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    for run in &scores.runs {
        let name = run.name.as_str();
        if let Some(per_query) = run.per_query.as_ref().filter(|_| options.per_query) {
            for (at, id) in per_query.queries.iter().enumerate() {
                let query_id = Text(id);
                for (measure, values) in measures.iter().zip(&per_query.values) {
                    each(&Row { run: name, query_id, measure, stat: "value", value: values[at] })?;
                }
            }
        }
        for (measure, summary) in measures.iter().zip(&run.summaries) {
            for &(stat, value) in summary {
                each(&Row { run: name, query_id: Text(b""), measure, stat, value })?;
            }
        }
    }
    Ok(())
}
