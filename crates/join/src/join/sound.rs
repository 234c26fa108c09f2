//! What holds for all inputs of a join together.

use super::qrels::Qrels;
use crate::bytes::input::Input;
use crate::error::{Error, Problems, Result};
use crate::lines::diagnostics::{self, RunProblems};
use crate::matrix::{LabelMatrix, MatrixBuilder, StagedRun};

/// Rejects inputs among which the standard input occurs twice.
pub(crate) fn stdin_once<'a>(inputs: impl Iterator<Item = &'a Input>) -> Result<()> {
    if inputs.filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Error::Unanswerable(
            "the standard input can be only one of the inputs".to_owned(),
        ));
    }
    Ok(())
}

/// Returns the runs, if neither they nor the qrels have problems.
pub(crate) fn sound(
    problems: Problems,
    staged: Vec<(StagedRun, RunProblems)>,
    qrels: &Qrels,
) -> Result<Vec<StagedRun>> {
    let (runs, wrong): (Vec<StagedRun>, Vec<RunProblems>) = staged.into_iter().unzip();
    let (lines, repeats): (Vec<Problems>, Vec<Problems>) =
        wrong.into_iter().map(|wrong| (wrong.lines, wrong.repeats)).unzip();
    let lines = diagnostics::join([problems].into_iter().chain(lines));
    if !lines.first.is_empty() {
        return Err(Error::Input(lines));
    }
    let repeats = diagnostics::join([qrels.repeats(&runs)].into_iter().chain(repeats));
    if repeats.first.is_empty() { Ok(runs) } else { Err(Error::Repeated(repeats)) }
}

pub(crate) fn finish(mut matrix: MatrixBuilder, runs: Vec<StagedRun>) -> Result<LabelMatrix> {
    runs.into_iter().for_each(|run| matrix.push(run));
    matrix.finish()
}
