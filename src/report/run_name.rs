//! Names of runs for people.

use crate::error::printable;
use crate::scores::RunScores;

/// The name of a run, and of the group of its queries.
pub(super) fn run_name(run: &RunScores) -> String {
    let name = printable(run.name.as_bytes());
    match &run.group {
        None => name,
        Some(group) => format!("{name} [{}]", printable(group.as_bytes())),
    }
}
