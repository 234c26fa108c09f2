//! A run joined in every order of equal scores that its text can tell.

use crate::Join;
use crate::error::Result;
use crate::matrix::LabelMatrix;
use crate::rule::{ScoreType, Ties};

/// Joins a run by both types of scores, and in the order of the input where documents of equal
/// scores have different labels: `joined` is called once for each, with what `join` says but for
/// ties and scores. The matrices are what [`Identify::of`](super::Identify::of) takes.
///
/// # Errors
/// What `joined` refuses.
pub fn joined_in_every_order(
    join: &Join,
    mut joined: impl FnMut(&Join) -> Result<LabelMatrix>,
) -> Result<Vec<LabelMatrix>> {
    let mut all = Vec::new();
    for (_, score) in ScoreType::ALL {
        let by = |ties| Join { ties, score, keep_ties: true, ..join.clone() };
        let matrix = joined(&by(Ties::DocnoDescending))?;
        let is_mixed = matrix.tied_groups().is_some_and(|groups| !groups.rows().is_empty());
        all.push(matrix);
        if is_mixed {
            all.push(joined(&by(Ties::Input))?);
        }
    }
    Ok(all)
}
