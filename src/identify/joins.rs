//! The join of a run with its judgments, once for every order of equal scores and type of scores.

use crate::Join;
use crate::error::Result;
use crate::matrix::LabelMatrix;
use crate::rule::{ScoreType, TieBreak};

/// Joins a run under every type and order of equal scores, by calling `joined` once for each. The
/// types are f64 and f32; the order of the input is tried where documents of equal scores have
/// different labels. `joined` gets what `join` says but for ties and scores. The matrices are what
/// [`IdentifyBuilder::from_matrices`](super::IdentifyBuilder::from_matrices) takes.
///
/// # Errors
/// What `joined` refuses.
pub fn joined_in_every_order(
    join: &Join,
    mut joined: impl FnMut(&Join) -> Result<LabelMatrix>,
) -> Result<Vec<LabelMatrix>> {
    let mut all = Vec::new();
    for (_, score) in ScoreType::ALL {
        for ties in [TieBreak::DocnoDescending, TieBreak::Input] {
            let matrix = joined(&Join { ties, score, keep_ties: true, ..join.clone() })?;
            let is_mixed = matrix.tied_groups().is_some_and(|groups| !groups.rows().is_empty());
            all.push(matrix);
            // Without ties of different labels, the order of the input gives the same labels.
            if !is_mixed {
                break;
            }
        }
    }
    Ok(all)
}
