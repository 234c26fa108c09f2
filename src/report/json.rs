//! Scores as one JSON document: values by run and measure, settings, and missing or ignored
//! queries.

use std::io::{self, Write};

use super::long;
use super::options::ReportOptions;
use crate::scores::{Scores, ScoresDocument, is_undefined};

pub fn write(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    let rounded = options.decimals.map(|decimals| rounded(scores, decimals));
    let scores = rounded.as_ref().unwrap_or(scores);
    serde_json::to_writer_pretty(&mut *to, &ScoresDocument::new(scores, options.per_query))?;
    to.write_all(b"\n")
}

/// Returns the scores with every value rounded to at most `decimals` decimals.
fn rounded(scores: &Scores, decimals: usize) -> Scores {
    let mut scores = scores.clone();
    for run in &mut scores.runs {
        let stats = run.stats.iter_mut().flatten().map(|(_, value)| value);
        let values = run.per_query.iter_mut().flat_map(|per_query| &mut per_query.values).flatten();
        let known = values.filter(|value| !is_undefined(**value));
        stats.chain(known).for_each(|value| *value = long::rounded(*value, decimals));
    }
    scores
}
