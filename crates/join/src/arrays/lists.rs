//! Rankings as lists of ids: the relevant ids of a query, and the retrieved ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Range;

use super::grades::Coder;
use super::match_room::MatchRoom;
use super::repeated::RepeatedIds;
use super::scratch::Scratch;
use super::shape::{depth, few_enough, wrong};
use crate::error::Result;
use crate::matrix::Block;
use crate::matrix::code::{FIRST_GRADE, MAX_GRADES, UNPOOLED};

/// Lists of ids by row, for ids of any type.
pub(super) trait Lists: Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of ids that were retrieved for a row.
    fn retrieved(&self, row: usize) -> usize;

    /// The grades of all relevant ids; some may occur several times.
    fn grades(&self) -> Result<Vec<f64>>;

    /// An upper bound of the number of ids that were retrieved for some rows.
    fn values(&self, rows: Range<usize>) -> usize {
        rows.map(|row| self.retrieved(row)).sum()
    }

    /// Whether nothing was retrieved for a row.
    fn is_row_empty(&self, row: usize) -> bool {
        self.retrieved(row) == 0
    }

    /// The rows of arrays that are no rankings, ascending.
    fn dropped(&self) -> &[usize] {
        &[]
    }

    /// The number of neighbours of each query, if the ids are of neighbours.
    fn neighbours(&self) -> Option<usize> {
        None
    }

    /// Whether distances of found ids decide the grades. More found ids may then have a grade than
    /// the truth has judged documents of this grade.
    fn is_within(&self) -> bool {
        false
    }

    /// Sets the treatment of ids that were retrieved twice.
    fn set_repeats(&mut self, repeats: RepeatedIds);

    /// Appends some rows to a block, whose codes are exact: the labels of the first `reach` ranks,
    /// and the number of relevant documents of each code.
    fn fill(
        &self,
        rows: Range<usize>,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()>;

    /// Appends the grades of the ids that were retrieved for a row, `None` for one without a grade,
    /// and the grades of the relevant ids.
    fn graded(
        &self,
        row: usize,
        coder: &Coder,
        room: &mut MatchRoom,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()>;
}

/// Lists of ids in slices, with a function from an entry of the relevant list to its id and grade.
pub(super) struct IdLists<'a, I, E, R, L> {
    pub relevant: &'a [R],
    pub retrieved: &'a [L],
    pub grade: fn(&E) -> (&I, f64),
    pub repeats: RepeatedIds,
    pub types: PhantomData<fn(&E, &I)>,
}

impl<I, E, R, L> Lists for IdLists<'_, I, E, R, L>
where
    I: Hash + Eq + Debug,
    R: AsRef<[E]> + Sync,
    L: AsRef<[I]> + Sync,
{
    fn rows(&self) -> usize {
        self.retrieved.len()
    }

    fn retrieved(&self, row: usize) -> usize {
        self.retrieved[row].as_ref().len()
    }

    fn grades(&self) -> Result<Vec<f64>> {
        let mut grades: Vec<f64> = Vec::new();
        for (row, relevant) in self.relevant.iter().enumerate() {
            for (at, entry) in relevant.as_ref().iter().enumerate() {
                let grade = (self.grade)(entry).1;
                if !(grade >= 0.0 && grade.is_finite()) {
                    return Err(wrong(format!(
                        "relevant[{row}, {at}] has the grade {grade}: one from 0 was expected"
                    )));
                }
                // Beyond as many as have codes, only their extent matters.
                let few = grades.len() <= MAX_GRADES;
                if grades.last() != Some(&grade) && !(few && grades.contains(&grade)) {
                    grades.push(grade);
                }
            }
        }
        Ok(grades)
    }

    fn set_repeats(&mut self, repeats: RepeatedIds) {
        self.repeats = repeats;
    }

    fn fill(
        &self,
        rows: Range<usize>,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
        block: &mut Block,
    ) -> Result<()> {
        let Scratch { labels, counts, .. } = scratch;
        let code = |grade: f64| coder.book().code(grade).filter(|_| grade >= 0.0);
        for row in rows {
            depth(row, self.retrieved(row))?;
            labels.clear();
            counts.fill(0);
            let judged = |code: u8| counts[usize::from(code)] += 1;
            self.join(row, code, judged, |code| labels.push(code.unwrap_or(UNPOOLED)))?;
            block.room(labels.len())[..labels.len()].copy_from_slice(labels);
            let judged = &counts[usize::from(FIRST_GRADE)..coder.book().codes()];
            few_enough(row, judged)?;
            block.push_labels(labels.len().min(reach));
            block.push_judged(1, FIRST_GRADE, judged);
        }
        Ok(())
    }

    fn graded(
        &self,
        row: usize,
        coder: &Coder,
        _room: &mut MatchRoom,
        ranking: &mut Vec<Option<f64>>,
        judged: &mut Vec<f64>,
    ) -> Result<()> {
        let known = |grade: f64| {
            Some(grade + 0.0).filter(|&grade| grade >= 0.0 && coder.book().code(grade).is_some())
        };
        self.join(row, known, |grade| judged.push(grade), |grade| ranking.push(grade))
    }
}

impl<I, E, R, L> IdLists<'_, I, E, R, L>
where
    I: Hash + Eq + Debug,
    R: AsRef<[E]> + Sync,
    L: AsRef<[I]> + Sync,
{
    /// Looks up the retrieved ids of a row among the relevant ids. `of` returns the value of a
    /// grade that is known; the value of each relevant id is passed to `judged`, and that of each
    /// retrieved id, if it has one, to `retrieved`.
    fn join<T: Copy>(
        &self,
        row: usize,
        of: impl Fn(f64) -> Option<T>,
        mut judged: impl FnMut(T),
        mut retrieved: impl FnMut(Option<T>),
    ) -> Result<()> {
        let (relevant, ids) = (self.relevant[row].as_ref(), self.retrieved[row].as_ref());
        // By id: the value, and whether the id was retrieved already.
        let mut known: HashMap<&I, (Option<T>, bool)> =
            HashMap::with_capacity(relevant.len() + ids.len());
        for (at, entry) in relevant.iter().enumerate() {
            let (id, grade) = (self.grade)(entry);
            let value = of(grade).ok_or_else(|| {
                wrong(format!(
                    "relevant[{row}, {at}] has the grade {grade}, which the codebook lacks"
                ))
            })?;
            if known.insert(id, (Some(value), false)).is_some() {
                return Err(wrong(format!("relevant[{row}, {at}], {id:?}, occurs twice")));
            }
            judged(value);
        }
        for (at, id) in ids.iter().enumerate() {
            retrieved(match known.entry(id) {
                Entry::Occupied(entry) if entry.get().1 => match self.repeats {
                    RepeatedIds::Error => {
                        return Err(wrong(format!("retrieved[{row}, {at}], {id:?}, occurs twice")));
                    }
                    RepeatedIds::First => continue,
                    RepeatedIds::Blank => None,
                },
                Entry::Occupied(mut entry) => {
                    entry.get_mut().1 = true;
                    entry.get().0
                }
                Entry::Vacant(entry) => entry.insert((None, true)).0,
            });
        }
        Ok(())
    }
}
