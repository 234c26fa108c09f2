//! Merging of partial comparisons (`compare --partial`), which cannot be mixed with summaries of
//! scores.

use std::path::{Path, PathBuf};

use laneval::compare::{Gate, PartialComparison, Shard};

use crate::cli_error::{CliError, CliResult, fail};
use crate::style::shown;

/// Merges the partial comparisons in files into the first one, with one further file in memory at a
/// time.
pub fn merge_all(first: PartialComparison, files: &[PathBuf]) -> CliResult<PartialComparison> {
    let first_name = shown(&files[0]);
    let mut all = first.from_source(&first_name);
    for (at, file) in files.iter().enumerate().skip(1) {
        let Shard::Comparison(part) = Shard::read(file)? else {
            return Err(mixed_kinds_error(&files[0], file));
        };
        let name = shown(file);
        all.merge(&part.from_source(&name)).map_err(|error| {
            let before =
                if at == 1 { first_name.clone() } else { format!("the {at} files before it") };
            CliError::new(format!("{name} does not belong to {before}: {error}"))
        })?;
    }
    Ok(all)
}

/// Makes the error for a partial comparison that is to be merged with a summary of scores.
pub fn mixed_kinds_error(comparison: &Path, scores: &Path) -> CliError {
    CliError::new(format!(
        "{} is a part of a comparison, and {} a summary of scores: merge files of one kind",
        shown(comparison),
        shown(scores)
    ))
}

/// Rejects gates (`--fail-if`) that compare with a baseline, where summaries of scores are merged.
pub fn check_gates(gates: &[Gate]) -> CliResult<()> {
    match gates.iter().find(|gate| gate.needs_baseline()) {
        Some(gate) => fail(format!(
            "the gate `{gate}` compares with a baseline, and these are summaries of scores: merge \
             what `laneval compare --partial` wrote"
        )),
        None => Ok(()),
    }
}
