//! Rankings in memory with exact grades, where there are too many distinct grades for a one-byte
//! code each.

use super::{
    GradeEncoder, Ideal, Rankings, given_count, missing_count, not_a_score,
    numbers::ArrayNumber,
    ranked::decides,
    scratch::{ExactRow, Scratch},
    shape::{check_judged_counts, depth},
};
use crate::error::Result;
use crate::matrix::{
    Block,
    code::{FIRST_GRADE, NOT_IN_QRELS},
};
use crate::numbers::with_numbers;

impl Rankings<'_> {
    /// Appends a ranking to a block with exact grades: the labels and grades of its first `reach`
    /// ranks, and the grades of all judged documents.
    pub(super) fn fill_exact(
        &self,
        block: &mut Block,
        row: usize,
        coder: &GradeEncoder,
        reach: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { matching, row: ExactRow { ranking, grades, judged }, seen, .. } = scratch;
        ranking.clear();
        grades.clear();
        judged.clear();
        match self.arrays() {
            Ok(arrays) => {
                let of_row = arrays.layout.row(row);
                with_numbers!(arrays.grades, all => read(&all[of_row.clone()], coder, ranking))
                    .map_err(|at| {
                        let most = coder.book().max_grade().unwrap_or(0.0);
                        let expected = format!("a grade from 0 to {most} was expected, or -1");
                        arrays.wrong(row, at, &expected)
                    })?;
                if let Some(scores) = arrays.scores {
                    let decided = with_numbers!(scores, all => rank(&all[of_row], reach, ranking))
                        .map_err(|at| not_a_score(row, at))?;
                    seen.in_arrays += 1;
                    seen.decided += u64::from(decided);
                }
                // The judged documents are those of the row, and those that are only counted.
                judged.extend(ranking.iter().flatten());
                self.complete(row, judged)?;
            }
            // Lists name all judged documents.
            Err(lists) => lists.graded(row, coder, matching, ranking, judged)?,
        }
        check_judged_counts(row, &[judged.len() as u32])?;
        let depth = depth(row, ranking.len())?.min(reach);
        // A label only says whether the document is judged, because the grades are stored beside.
        let labels = block.room(depth);
        for (label, grade) in labels.iter_mut().zip(&ranking[..depth]) {
            *label = if grade.is_some() { FIRST_GRADE } else { NOT_IN_QRELS };
        }
        grades.extend(ranking[..depth].iter().flatten());
        block.push_labels(depth);
        block.facts.push_all(1, &[judged.len() as u32]);
        block.push_grades(grades, judged);
        Ok(())
    }

    /// Adds the grades of judged documents that a ranking lacks. For each grade, `judged` then has
    /// as many documents as the given number.
    fn complete(&self, row: usize, judged: &mut Vec<f64>) -> Result<()> {
        let Ideal::Counts { grades, counts } = self.ideal else { return Ok(()) };
        judged.sort_unstable_by(f64::total_cmp);
        // Retrieved documents of grade 0 count even where no counts of grade 0 are given.
        let unknown = judged.iter().find(|&grade| !grades.contains(grade) && *grade != 0.0);
        if let Some(&grade) = unknown {
            return Err(missing_count(row, grade));
        }
        let mut more: Vec<f64> = Vec::new();
        for (at, &grade) in (row * grades.len()..).zip(grades) {
            let value = grade + 0.0; // −0 is 0
            let first = judged.partition_point(|&judged| judged < value);
            let found = judged[first..].iter().take_while(|&&judged| judged == value).count();
            let missing = given_count(row, grade, &counts, at, found)? - found;
            let all = (judged.len() + more.len()).saturating_add(missing);
            // A wrong count must not allocate memory before it is refused.
            check_judged_counts(row, &[u32::try_from(all).unwrap_or(u32::MAX)])?;
            more.extend(std::iter::repeat_n(value, missing));
        }
        judged.extend(more);
        Ok(())
    }
}

/// Appends the numbers of an array to `ranking` as grades, `None` for −1 (not judged). The error is
/// the place of the first number that is not a grade.
fn read<N: ArrayNumber>(
    values: &[N],
    coder: &GradeEncoder,
    ranking: &mut Vec<Option<f64>>,
) -> Result<(), usize> {
    for (at, value) in values.iter().enumerate() {
        let grade = value.to_f64() + 0.0;
        if grade != -1.0 && coder.code(grade).is_none() {
            return Err(at);
        }
        ranking.push((grade >= 0.0).then_some(grade));
    }
    Ok(())
}

/// Sorts the grades of a ranking by the scores of its documents, best first, the earlier of equal
/// scores first. Returns whether the order of equal scores changes the first `reach` grades (see
/// [`decides`]). The error is the place of a score that is NaN.
fn rank<N: ArrayNumber>(
    scores: &[N],
    reach: usize,
    ranking: &mut Vec<Option<f64>>,
) -> Result<bool, usize> {
    if let Some(at) = scores.iter().position(|score| score.is_nan()) {
        return Err(at);
    }
    let mut order: Vec<(N::Key, usize)> = scores.iter().map(|score| score.key()).zip(0..).collect();
    order.sort_unstable();
    *ranking = order.iter().map(|&(_, at)| ranking[at]).collect();
    if order.windows(2).all(|pair| pair[0].0 != pair[1].0) {
        return Ok(false);
    }
    let keys: Vec<N::Key> = order.into_iter().map(|(key, _)| key).collect();
    let best = reach.min(keys.len());
    let worth = |at: usize| ranking[at].unwrap_or(0.0);
    Ok(best > 0 && decides(&keys, &worth, 0.0, best, keys[best - 1]))
}
