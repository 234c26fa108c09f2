//! The scores of several matrices.

use laneval::{Error, Evaluator, LabelMatrix, Scores, Summary};

use super::inputs::of_all;

/// Returns the scores of all matrices, one after the other.
pub fn scores(evaluator: &Evaluator, matrices: &[LabelMatrix]) -> Result<Scores, Error> {
    of_all(matrices, |matrix| evaluator.evaluate(matrix), Scores::append)
}

/// Returns the scores of all matrices, one after the other, with their summary.
pub fn scores_with_summary(
    evaluator: &Evaluator,
    matrices: &[LabelMatrix],
) -> Result<(Scores, Summary), Error> {
    let append = |(all, summaries): &mut (Scores, Summary), (scores, summary)| {
        all.append(scores)?;
        summaries.append(&summary)
    };
    of_all(matrices, |matrix| evaluator.evaluate_with_summary(matrix), append)
}
