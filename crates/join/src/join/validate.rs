//! Checks of all inputs of a join together, such as whether one of them has problems.

use super::qrels::Qrels;
use crate::bytes::input::{Input, RunInput};
use crate::error::{Error, Problems, Result};
use crate::lines::diagnostics::{self, RunProblems};
use crate::matrix::{LabelMatrix, MatrixBuilder, StagedRun};

/// Rejects a join with the standard input as two or more of its inputs.
pub fn check_stdin_once(qrels: Option<&Input>, runs: &[RunInput]) -> Result<()> {
    let inputs = runs.iter().map(|run| &run.input).chain(qrels);
    reject_if!(
        inputs.filter(|input| **input == Input::Stdin).count() > 1,
        "the standard input can be only one of the inputs"
    );
    Ok(())
}

/// Returns the joined runs, if neither the runs nor the qrels have problems; else an error.
pub fn without_problems(
    problems: Problems,
    staged: Vec<(StagedRun, RunProblems)>,
    qrels: &Qrels,
) -> Result<Vec<StagedRun>> {
    let (runs, wrong): (Vec<_>, Vec<_>) = staged.into_iter().unzip();
    let (lines, repeats): (Vec<_>, Vec<_>) =
        wrong.into_iter().map(|wrong| (wrong.lines, wrong.repeats)).unzip();
    // Problems of lines come first: repeats count only in inputs that can be read.
    diagnostics::join([problems].into_iter().chain(lines)).into_result(())?;
    let rows = runs.iter().flat_map(|run| &run.pieces).flat_map(|piece| &piece.rows);
    let of_qrels = qrels.repeats_in(rows.map(|row| row.query));
    let repeats = diagnostics::join([of_qrels].into_iter().chain(repeats));
    if repeats.first.is_empty() { Ok(runs) } else { Err(Error::Duplicate(repeats)) }
}

/// Adds all joined runs to the matrix, and returns the label matrix.
pub fn finish(mut matrix: MatrixBuilder, runs: Vec<StagedRun>) -> Result<LabelMatrix> {
    runs.into_iter().for_each(|run| matrix.push(run));
    matrix.finish()
}
