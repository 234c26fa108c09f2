//! Names of runs for people, with the group of queries, and without unprintable characters.

use crate::error::printable;
use crate::scores::RunScores;

/// Returns the name of a run for people, with its group of queries in brackets, if any.
pub(super) fn run_name(run: &RunScores) -> String {
    let name = visible(&run.name);
    match &run.group {
        None => name,
        Some(group) => format!("{name} [{}]", visible(group)),
    }
}

/// Returns a name with its unprintable characters escaped.
pub(super) fn visible(text: impl AsRef<str>) -> String {
    printable(text.as_ref().as_bytes())
}
