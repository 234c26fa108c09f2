//! Rankings in memory with exact grades, where there are too many distinct grades for a one-byte
//! code each.

use std::ops::Range;

use super::numbers::ArrayNumber;
use super::ranked::decides;
use super::scratch::{ExactRow, Scratch};
use super::shape::{check_judged_counts, depth, shape_error};
use super::{GradeEncoder, Ideal, RankingSource, Rankings, low_count, missing_count, wrong_count};
use crate::error::Result;
use crate::matrix::Block;
use crate::matrix::code::{FIRST_GRADE, NOT_IN_QRELS};
use crate::numbers::{Numbers, with_numbers};

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
        match &self.source {
            RankingSource::Labels { grades, layout } => {
                push_grades(grades, layout.row(row), "labels", row, coder, ranking)?;
            }
            RankingSource::Scores { scores, grades, layout } => {
                let of_row = layout.row(row);
                push_grades(grades, of_row.clone(), "grades", row, coder, ranking)?;
                let decided =
                    with_numbers!(*scores, scores => rank(&scores[of_row], reach, ranking))
                        .map_err(|at| {
                            shape_error(format!("scores[{row}, {at}] is not a number"))
                        })?;
                seen.see_decided(1, u64::from(decided));
            }
            RankingSource::Lists(lists) => lists.graded(row, coder, matching, ranking, judged)?,
        }
        // In arrays, the judged documents are those of the row, and `complete` adds those that are
        // only counted. Lists of ids name all judged documents, and `graded` has added them.
        if self.id_lists().is_none() {
            judged.extend(ranking.iter().flatten());
            self.complete(row, judged)?;
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
        block.push_judged(1, FIRST_GRADE, &[judged.len() as u32]);
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
            let count = counts.natural(at).ok_or_else(|| wrong_count(row, &counts, at))?;
            let value = grade + 0.0; // −0 is 0
            let first = judged.partition_point(|&judged| judged < value);
            let found = judged[first..].iter().take_while(|&&judged| judged == value).count();
            let missing =
                count.checked_sub(found).ok_or_else(|| low_count(row, grade, found, count))?;
            let all = (judged.len() + more.len()).saturating_add(missing);
            // A wrong count must not allocate memory before it is refused.
            check_judged_counts(row, &[u32::try_from(all).unwrap_or(u32::MAX)])?;
            more.extend(std::iter::repeat_n(value, missing));
        }
        judged.extend(more);
        Ok(())
    }
}

/// Appends the grades of a row's documents, at `of_row` in an array, to `ranking`; `None` for −1
/// (not judged). Errors call the array `name`.
fn push_grades(
    grades: &Numbers<'_>,
    of_row: Range<usize>,
    name: &str,
    row: usize,
    coder: &GradeEncoder,
    ranking: &mut Vec<Option<f64>>,
) -> Result<()> {
    let start = of_row.start;
    let read = with_numbers!(*grades, all => read(&all[of_row], coder, ranking));
    read.map_err(|at| {
        let (shown, most) = (grades.show(start + at), coder.book().max_grade().unwrap_or(0.0));
        shape_error(format!(
            "{name}[{row}, {at}] is {shown}: a grade from 0 to {most} was expected, or -1"
        ))
    })
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
        if grade != -1.0 && !(grade >= 0.0 && coder.book().code(grade).is_some()) {
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
    let Some(last) = best.checked_sub(1) else { return Ok(false) };
    Ok(decides(&keys, &|at: usize| ranking[at].unwrap_or(0.0), 0.0, best, keys[last]))
}
