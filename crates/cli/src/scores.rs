//! The evaluation of several label matrices, whose scores are put together.

use laneval::{Error, Evaluator, LabelMatrix, Scores, Summary};

use super::inputs::map_matrices;

/// Evaluates all label matrices one after the other, and returns their scores together.
pub fn scores(evaluator: &Evaluator, matrices: &[LabelMatrix]) -> Result<Scores, Error> {
    map_matrices(matrices, |matrix| evaluator.evaluate(matrix), Scores::append)
}

/// Evaluates all label matrices, and returns their scores together, with a summary that can be
/// merged.
pub fn scores_with_summary(
    evaluator: &Evaluator,
    matrices: &[LabelMatrix],
) -> Result<(Scores, Summary), Error> {
    map_matrices(
        matrices,
        |matrix| evaluator.evaluate_with_summary(matrix),
        |(all, summaries), (scores, summary)| {
            all.append(scores)?;
            summaries.append(&summary)
        },
    )
}
