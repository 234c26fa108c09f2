//! Rankings as lists of ids of any type: the relevant ids of each query, and the retrieved ones.

use std::{collections::HashMap, fmt::Debug, hash::Hash, mem, ops::Range};

use super::{
    DuplicateIds, GradeEncoder, Scratch,
    match_buffers::MatchBuffers,
    shape::{check_judged_counts, depth, shape_error},
};
use crate::error::Result;
use crate::matrix::{
    Block,
    code::{FIRST_GRADE, MAX_GRADES, NOT_IN_QRELS},
};

/// A source of rankings by ids: relevant and retrieved ids of each query (a row), in lists or
/// arrays.
pub(super) trait IdListSource: Sync {
    /// Returns the number of rankings, one a row, in lists of ids.
    fn rows(&self) -> usize;

    /// Returns the grades of the relevant ids of all queries; a grade may occur several times.
    fn grades(&self) -> Result<Vec<f64>>;

    /// Returns an upper bound of the number of ids that were retrieved for some rows (queries)
    /// together.
    fn values(&self, rows: Range<usize>) -> usize;

    /// Returns whether no id was retrieved for the query of a row.
    fn is_row_empty(&self, row: usize) -> bool;

    /// Returns the rows of arrays that are no rankings, ascending, because their query has no true
    /// neighbour.
    fn dropped(&self) -> &[usize] {
        &[]
    }

    /// Returns the largest number of true neighbours of a query, if the ids are of nearest
    /// neighbours.
    fn neighbours(&self) -> Option<usize> {
        None
    }

    /// Returns whether the distances of found neighbours decide their grades, and not their ids.
    /// More found ids may then have a grade than the truth has judged documents of this grade.
    fn is_within(&self) -> bool {
        false
    }

    /// Sets the treatment of ids that were retrieved twice for a query.
    fn set_repeats(&mut self, repeats: DuplicateIds);

    /// Appends the rankings of some rows to a block: the labels of the first `reach` ranks, and the
    /// numbers of relevant documents by code. Each grade has a code of its own.
    fn fill(
        &self,
        rows: Range<usize>,
        coder: &GradeEncoder,
        reach: usize,
        scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()>;

    /// Appends the exact grades of the ids retrieved for a row, `None` for an id without a grade,
    /// and those of its relevant ids.
    fn graded(
        &self,
        row: usize,
        coder: &GradeEncoder,
        room: &mut MatchBuffers,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()>;
}

/// Lists of relevant and retrieved ids in slices, with a function that returns the id and grade of
/// a relevant entry.
pub(super) struct IdLists<'a, I, E, R, L> {
    pub relevant: &'a [R],
    pub retrieved: &'a [L],
    pub grade: fn(&E) -> (&I, f64),
    pub repeats: DuplicateIds,
}

impl<I, E, R, L> IdListSource for IdLists<'_, I, E, R, L>
where
    I: Hash + Eq + Debug,
    R: AsRef<[E]> + Sync,
    L: AsRef<[I]> + Sync,
{
    fn rows(&self) -> usize {
        self.retrieved.len()
    }

    fn values(&self, rows: Range<usize>) -> usize {
        self.retrieved[rows].iter().map(|ids| ids.as_ref().len()).sum()
    }

    fn is_row_empty(&self, row: usize) -> bool {
        self.retrieved[row].as_ref().is_empty()
    }

    fn grades(&self) -> Result<Vec<f64>> {
        let mut grades: Vec<f64> = Vec::new();
        for (row, relevant) in self.relevant.iter().enumerate() {
            for (at, entry) in relevant.as_ref().iter().enumerate() {
                let grade = (self.grade)(entry).1;
                reject_if!(
                    !(grade >= 0.0 && grade.is_finite()),
                    "relevant[{row}, {at}] has the grade {grade}: one from 0 was expected"
                );
                // Beyond as many as have codes, only their extent matters.
                let few = grades.len() <= MAX_GRADES;
                if grades.last() != Some(&grade) && !(few && grades.contains(&grade)) {
                    grades.push(grade);
                }
            }
        }
        Ok(grades)
    }

    fn set_repeats(&mut self, repeats: DuplicateIds) {
        self.repeats = repeats;
    }

    fn fill(
        &self,
        rows: Range<usize>,
        coder: &GradeEncoder,
        reach: usize,
        _scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()> {
        for row in rows {
            let labels = block.room(depth(row, self.retrieved[row].as_ref().len())?);
            let (mut counts, mut taken) = ([0; 256], 0);
            self.join(
                row,
                |grade| coder.code(grade),
                |code| counts[usize::from(code)] += 1,
                |code| {
                    labels[taken] = code.unwrap_or(NOT_IN_QRELS);
                    taken += 1;
                },
            )?;
            let judged = &counts[usize::from(FIRST_GRADE)..coder.book().codes()];
            check_judged_counts(row, judged)?;
            block.push_labels(taken.min(reach));
            block.facts.push_all(1, judged);
        }
        Ok(())
    }

    fn graded(
        &self,
        row: usize,
        coder: &GradeEncoder,
        _room: &mut MatchBuffers,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()> {
        self.join(
            row,
            |grade| coder.code(grade).map(|_| grade + 0.0),
            |grade| judged.push(grade),
            |grade| ranking.push(grade),
        )
    }
}

impl<I: Hash + Eq + Debug, E, R: AsRef<[E]>, L: AsRef<[I]>> IdLists<'_, I, E, R, L> {
    /// Matches a query's retrieved ids with its relevant ids, and passes on the value of each.
    /// `encode` returns the value of a grade that is known; the value of each relevant id is passed
    /// to `judged`, and that of each retrieved id, if it has one, to `retrieved`.
    fn join<T: Copy>(
        &self,
        row: usize,
        encode: impl Fn(f64) -> Option<T>,
        mut judged: impl FnMut(T),
        mut retrieved: impl FnMut(Option<T>),
    ) -> Result<()> {
        let (relevant, ids) = (self.relevant[row].as_ref(), self.retrieved[row].as_ref());
        // By id: the value, and whether the id was retrieved already.
        let mut known = HashMap::with_capacity(relevant.len() + ids.len());
        for (at, entry) in relevant.iter().enumerate() {
            let (id, grade) = (self.grade)(entry);
            let value = encode(grade).ok_or_else(|| {
                shape_error(format!(
                    "relevant[{row}, {at}] has the grade {grade}, which the codebook lacks"
                ))
            })?;
            reject_if!(
                known.insert(id, (Some(value), false)).is_some(),
                "relevant[{row}, {at}], {id:?}, occurs twice"
            );
            judged(value);
        }
        for (at, id) in ids.iter().enumerate() {
            let (value, is_found) = known.entry(id).or_default();
            retrieved(match (mem::replace(is_found, true), self.repeats) {
                (false, _) => *value,
                (true, DuplicateIds::Error) => {
                    reject!("retrieved[{row}, {at}], {id:?}, occurs twice")
                }
                (true, DuplicateIds::First) => continue,
                (true, DuplicateIds::Blank) => None,
            });
        }
        Ok(())
    }
}
