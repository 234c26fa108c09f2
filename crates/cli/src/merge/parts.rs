//! Parts of comparisons as files, which summaries of scores do not go with.

use std::path::{Path, PathBuf};

use laneval::compare::{Gate, Partial, Shard};

use crate::stop::Stop;
use crate::style::shown;

/// Adds all other parts to the first; no more than one of them is in memory.
pub fn merged(first: Partial, files: &[PathBuf]) -> Result<Partial, Stop> {
    let name = |at: usize| shown(&files[at]);
    let mut all = first.from_source(&name(0));
    for (at, file) in files.iter().enumerate().skip(1) {
        let Shard::Comparison(part) = Shard::read(file)? else {
            return Err(mixed(&files[0], file));
        };
        all.merge(&part.from_source(&name(at))).map_err(|error| {
            let before = if at == 1 { name(0) } else { format!("the {at} files before it") };
            Stop::new(format!("{} does not belong to {before}: {error}", name(at)))
        })?;
    }
    Ok(all)
}

/// Makes the error for files of both kinds.
pub fn mixed(comparison: &Path, scores: &Path) -> Stop {
    Stop::new(format!(
        "{} is a part of a comparison, and {} a summary of scores: merge files of one kind",
        shown(comparison),
        shown(scores)
    ))
}

/// Refuses gates that compare with a baseline, which scores do not have.
pub fn check_gates(gates: &[Gate]) -> Result<(), Stop> {
    match gates.iter().find(|gate| gate.compares()) {
        Some(gate) => Err(Stop::new(format!(
            "the gate `{gate}` compares with a baseline, and these are summaries of scores: merge \
             what `laneval compare --partial` wrote"
        ))),
        None => Ok(()),
    }
}
