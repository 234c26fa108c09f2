//! Rankings of arrays with exact grades, where there are too many distinct ones for a code each.

use std::ops::Range;

use super::numbers::ArrayNumber;
use super::ranked::decides;
use super::scratch::{ExactRow, Scratch};
use super::shape::{depth, few_enough, wrong};
use super::{Coder, Ideal, RankingSource, Rankings};
use crate::error::Result;
use crate::matrix::Block;
use crate::matrix::code::{FIRST_GRADE, UNPOOLED};
use crate::numbers::{Numbers, with_numbers};

impl Rankings<'_> {
    /// Appends a row to a block: its labels, and its exact grades.
    pub(super) fn fill_exact(
        &self,
        block: &mut Block,
        row: usize,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { matching, row: ExactRow { ranking, grades, judged }, seen, .. } = scratch;
        [&mut *grades, &mut *judged].into_iter().for_each(Vec::clear);
        ranking.clear();
        match &self.source {
            RankingSource::Labels { grades, layout } => {
                graded(grades, layout.row(row), ("labels", row), coder, ranking)?;
            }
            RankingSource::Scores { scores, grades, layout } => {
                let of_row = layout.row(row);
                graded(grades, of_row.clone(), ("grades", row), coder, ranking)?;
                let decided =
                    with_numbers!(*scores, scores => rank(&scores[of_row], reach, ranking))
                        .map_err(|at| wrong(format!("scores[{row}, {at}] is not a number")))?;
                seen.see_decided(1, u64::from(decided));
            }
            RankingSource::Lists(lists) => lists.graded(row, coder, matching, ranking, judged)?,
        }
        let listed = matches!(self.source, RankingSource::Lists(_));
        if !listed {
            judged.extend(ranking.iter().flatten());
            self.complete(row, judged)?;
        }
        few_enough(row, &[judged.len() as u32])?;
        let depth = depth(row, ranking.len())?.min(reach);
        let labels = block.room(depth);
        for (label, grade) in labels.iter_mut().zip(&ranking[..depth]) {
            *label = if grade.is_some() { FIRST_GRADE } else { UNPOOLED };
        }
        grades.extend(ranking[..depth].iter().flatten());
        block.push_labels(depth);
        block.push_judged(1, FIRST_GRADE, &[judged.len() as u32]);
        block.push_grades(grades, judged);
        Ok(())
    }

    /// Completes the grades of the retrieved documents of a row to those of all judged ones.
    fn complete(&self, row: usize, judged: &mut Vec<f64>) -> Result<()> {
        let Ideal::Counts { grades, counts } = self.ideal else { return Ok(()) };
        judged.sort_unstable_by(f64::total_cmp);
        let known = |grade: &f64| grades.contains(grade) || *grade == 0.0;
        if let Some(grade) = judged.iter().find(|grade| !known(grade)) {
            return Err(wrong(format!(
                "row {row} has documents of grade {grade}, but no count of this grade is given"
            )));
        }
        let mut more: Vec<f64> = Vec::new();
        let found = |grade: f64| {
            let first = judged.partition_point(|&of| of < grade);
            judged[first..].iter().take_while(|&&of| of == grade).count()
        };
        for (column, &grade) in grades.iter().enumerate() {
            let at = row * grades.len() + column;
            let count = counts.natural(at).ok_or_else(|| {
                let count = counts.get(at);
                wrong(format!(
                    "the judged counts of row {row} have {count}: an integer from 0 was expected"
                ))
            })?;
            let found = found(grade + 0.0);
            let missing = count.checked_sub(found).ok_or_else(|| {
                let said = format!("and only {count} are said to be judged so");
                wrong(format!("row {row} has {found} documents of grade {grade}, {said}"))
            })?;
            let all = (judged.len() + more.len()).saturating_add(missing);
            few_enough(row, &[u32::try_from(all).unwrap_or(u32::MAX)])?;
            more.extend(std::iter::repeat_n(grade + 0.0, missing));
        }
        judged.extend(more);
        Ok(())
    }
}

/// Appends the grades of some documents, `None` for −1. `name` is the name of the array and the
/// row.
fn graded(
    grades: &Numbers<'_>,
    of_row: Range<usize>,
    (name, row): (&str, usize),
    coder: &Coder,
    ranking: &mut Vec<Option<f64>>,
) -> Result<()> {
    let start = of_row.start;
    let read = with_numbers!(*grades, all => read(&all[of_row], coder, ranking));
    read.map_err(|at| {
        let (shown, most) = (grades.show(start + at), coder.book().max_grade().unwrap_or(0.0));
        wrong(format!(
            "{name}[{row}, {at}] is {shown}: a grade from 0 to {most} was expected, or -1"
        ))
    })
}

/// Appends the grades of some numbers. The error is the place of the first number that is not a
/// grade.
fn read<N: ArrayNumber>(
    values: &[N],
    coder: &Coder,
    ranking: &mut Vec<Option<f64>>,
) -> Result<(), usize> {
    for (at, value) in values.iter().enumerate() {
        let grade = value.to_f64() + 0.0;
        let fine = grade == -1.0 || grade >= 0.0 && coder.book().code(grade).is_some();
        if !fine {
            return Err(at);
        }
        ranking.push((grade >= 0.0).then_some(grade));
    }
    Ok(())
}

/// Puts documents in the order of their scores, the earlier of equal ones first, and returns
/// whether equal scores decide the first `reach` ranks; the error is the place of a score that is
/// NaN.
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
    let (worth, best) = (|at: usize| ranking[at].unwrap_or(0.0), reach.min(keys.len()));
    let last = best.checked_sub(1).map(|last| keys[last]);
    Ok(decides(&keys, &worth, 0.0, (best, last)))
}
