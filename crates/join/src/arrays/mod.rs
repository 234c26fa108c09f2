//! Rankings in the caller's memory: labels, scores with grades, or lists of ids, for programs that
//! have no text ids.
//!
//! [`Rankings`] borrow arrays and describe their meaning. An `Evaluator` evaluates [`Rankings`]
//! directly (`Evaluator::rankings`, or batch by batch in a `Stream`): some rows at a time become
//! tiles, in memory that is used again.
//! [`LabelMatrix::from_rankings`](crate::matrix::LabelMatrix::from_rankings) copies [`Rankings`]
//! into a matrix.
//!
//! A grade is a finite number from 0; −1 stands for a document that is not judged. Rankings with up
//! to 253 distinct grades are encoded fastest.

mod duplicate_ids;
mod exact;
mod grades;
mod id_arrays;
mod lists;
mod match_buffers;
mod matching;
mod matrix;
mod neighbours;
mod numbers;
mod ranked;
mod scratch;
mod shape;
mod short;

use std::{fmt::Debug, hash::Hash, ops::Range};

use fearless_simd::{Level, dispatch};

use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::matrix::{Block, Codebook, code::FIRST_GRADE};
use crate::numbers::{with_integers, with_numbers};
use lists::{IdListSource, IdLists};
use numbers::ArrayNumber;
use scratch::KeyScratch;
use shape::{Layout, check_judged_counts, depth, shape_error};

pub use crate::numbers::{Integers, Numbers};
pub use duplicate_ids::DuplicateIds;
pub use grades::GradeEncoder;
#[doc(hidden)]
pub use id_arrays::ranking_row;
pub use neighbours::Neighbours;
pub use scratch::Scratch;
pub use shape::Shape;

/// The most counts of a group of rows. Counts are made for such a group before its judgments are
/// looked at.
const COUNTS_TOGETHER: usize = 1 << 11;

/// The source of the numbers of judged documents of each ranking in memory, from which recall and
/// ideal rankings follow.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Ideal<'a> {
    /// The documents of the row itself and no others, which is right if a row has all candidates.
    /// Scores record the row as their source of ideal rankings.
    #[default]
    Retrieved,
    /// The number of relevant documents of each row, for labels 0, 1 and −1. Of the judged
    /// documents that are not relevant, only the retrieved documents are known.
    Relevant(Integers<'a>),
    /// The number of documents of each grade of each row.
    Counts {
        /// The grades, in any order. Without a grade 0 in this list, only retrieved documents count
        /// as documents of grade 0.
        grades: &'a [f64],
        /// The counts, `[row][grade]`.
        counts: Integers<'a>,
    },
}

impl<'a> Ideal<'a> {
    /// Returns the grades of which the caller gave numbers of judged documents, and the numbers,
    /// `[row][grade]`.
    fn given(self) -> Option<(&'a [f64], Integers<'a>)> {
        match self {
            Self::Retrieved => None,
            Self::Relevant(counts) => Some((&[1.0], counts)),
            Self::Counts { grades, counts } => Some((grades, counts)),
        }
    }
}

/// Rankings in the caller's memory, one a row: arrays of labels, arrays of scores and grades, or
/// ids.
///
/// ```
/// use laneval::arrays::{Ideal, Rankings, Shape};
/// use laneval::Evaluator;
///
/// // Two rankings of three documents: grades by rank, and how many relevant documents there are.
/// let labels = [1i8, -1, 0, 0, 0, 1];
/// let rankings = Rankings::labels(&labels, Shape::dense(3))?
///     .with_ideal(Ideal::Relevant((&[2u32, 1]).into()))?;
/// let scores = Evaluator::new(["AP", "RR"])?.rankings(&rankings)?;
/// assert_eq!(scores.runs[0].average(1), Some((1.0 + 1.0 / 3.0) / 2.0));
///
/// // The same of scores: the candidates of each row are ranked by them, and the earlier of
/// // equal ones is first.
/// let scores = [0.9f32, 0.5, 0.1, 0.3, 0.2, 0.1];
/// let rankings = Rankings::scores(&scores, &labels, Shape::dense(3))?;
/// assert_eq!(
///     Evaluator::new(["RR"])?.rankings(&rankings)?.runs[0].average(0),
///     Some((1.0 + 1.0 / 3.0) / 2.0)
/// );
///
/// // The same of ids.
/// let (relevant, retrieved) = ([vec!["a", "x"], vec!["c"]], [["a", "b", "d"], ["d", "b", "c"]]);
/// let rankings = Rankings::ids(&relevant, &retrieved)?;
/// assert_eq!(
///     Evaluator::new(["RR"])?.rankings(&rankings)?.runs[0].average(0),
///     Some((1.0 + 1.0 / 3.0) / 2.0)
/// );
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct Rankings<'a> {
    source: RankingSource<'a>,
    ideal: Ideal<'a>,
    ids: Option<&'a Ids>,
}

enum RankingSource<'a> {
    Arrays(GradeArrays<'a>),
    Lists(Box<dyn IdListSource + 'a>),
}

/// An array of grades with a row for each ranking: in the order of the scores, or else in rank
/// order.
struct GradeArrays<'a> {
    /// The name of the grades in errors.
    name: &'static str,
    grades: Numbers<'a>,
    scores: Option<Numbers<'a>>,
    layout: Layout<'a>,
}

impl<'a> Rankings<'a> {
    /// Makes rankings from an array of grades in rank order, the best rank of each row first.
    ///
    /// # Errors
    /// A shape that does not fit the array.
    pub fn labels(grades: impl Into<Numbers<'a>>, shape: Shape<'a>) -> Result<Self> {
        let (name, grades) = ("labels", grades.into());
        let layout = Layout::new(shape, grades.len(), name)?;
        Self::from_source(RankingSource::Arrays(GradeArrays { name, grades, scores: None, layout }))
    }

    /// Makes rankings from an array of scores of each row's documents, in any order, and an array
    /// of their grades in the same order. The highest score comes first, and of equal scores the
    /// earlier one. Infinite scores are allowed.
    ///
    /// # Errors
    /// Unequal numbers of grades and scores; a shape that does not fit the array.
    pub fn scores(
        scores: impl Into<Numbers<'a>>,
        grades: impl Into<Numbers<'a>>,
        shape: Shape<'a>,
    ) -> Result<Self> {
        let (scores, grades) = (scores.into(), grades.into());
        reject_if!(
            scores.len() != grades.len(),
            "{} scores and {} grades: the same number was expected",
            scores.len(),
            grades.len()
        );
        let layout = Layout::new(shape, scores.len(), "scores")?;
        let (name, scores) = ("grades", Some(scores));
        Self::from_source(RankingSource::Arrays(GradeArrays { name, grades, scores, layout }))
    }

    /// Makes rankings from lists of each query's relevant ids, and lists of its retrieved ids, the
    /// best first. All other ids are not judged.
    ///
    /// # Errors
    /// Another number of relevant lists than of retrieved ones.
    pub fn ids<I, R, L>(relevant: &'a [R], retrieved: &'a [L]) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        R: AsRef<[I]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        Self::lists(
            relevant.len(),
            IdLists::<I, I, R, L> {
                relevant,
                retrieved,
                grade: |id| (id, 1.0),
                repeats: DuplicateIds::default(),
            },
        )
    }

    /// Makes rankings from lists of each query's judged ids with grades, and lists of its retrieved
    /// ids, the best first.
    ///
    /// # Errors
    /// Another number of judged lists than of retrieved ones.
    pub fn graded_ids<I, R, L>(judged: &'a [R], retrieved: &'a [L]) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        R: AsRef<[(I, f64)]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        Self::lists(
            judged.len(),
            IdLists::<I, (I, f64), R, L> {
                relevant: judged,
                retrieved,
                grade: |(id, grade)| (id, *grade),
                repeats: DuplicateIds::default(),
            },
        )
    }

    fn lists(relevant: usize, lists: impl IdListSource + 'a) -> Result<Self> {
        let retrieved = lists.rows();
        reject_if!(
            relevant != retrieved,
            "{relevant} lists of relevant ids and {retrieved} of retrieved ones: the same \
             number was expected"
        );
        Self::from_source(RankingSource::Lists(Box::new(lists)))
    }

    fn from_source(source: RankingSource<'a>) -> Result<Self> {
        let rankings = Self { source, ideal: Ideal::Retrieved, ids: None };
        match rankings.len() {
            0 => reject!("no rankings: at least one row was expected"),
            _ => Ok(rankings),
        }
    }

    /// Sets the source of the number of judged documents of each ranking, for recall and ideal
    /// rankings.
    ///
    /// # Errors
    /// Not one number a row (and grade); grades that are not finite, less than 0, or given twice;
    /// lists of ids, which have their own judgments.
    pub fn with_ideal(self, ideal: Ideal<'a>) -> Result<Self> {
        let rows = self.len();
        match ideal {
            Ideal::Retrieved => {}
            _ if self.id_lists().is_some() => {
                reject!("lists of ids say themselves what is judged")
            }
            Ideal::Relevant(counts) => expect("relevant counts", counts.len(), rows, "rows")?,
            Ideal::Counts { grades, counts } => {
                let expected = rows.saturating_mul(grades.len());
                expect("judged counts", counts.len(), expected, "rows × grades")?;
                for (at, grade) in grades.iter().enumerate() {
                    reject_if!(
                        !(*grade >= 0.0 && grade.is_finite()) || grades[..at].contains(grade),
                        "{grade} among the grades of the judged counts: distinct ones from 0 \
                         were expected"
                    );
                }
            }
        }
        Ok(Self { ideal, ..self })
    }

    /// Sets the ids of the rankings' queries, distinct and in the order of the rows. Without ids, a
    /// row is called by its index, from 0.
    ///
    /// # Errors
    /// Another number of ids than of rows.
    pub fn with_ids(self, ids: &'a Ids) -> Result<Self> {
        expect("ids", ids.len(), self.len(), "rows")?;
        Ok(Self { ids: Some(ids), ..self })
    }

    /// Returns the number of rankings.
    pub fn len(&self) -> usize {
        match self.arrays() {
            Ok(arrays) => arrays.layout.rows(),
            Err(lists) => lists.rows(),
        }
    }

    /// Returns the arrays of labels or scores, or else the lists of ids.
    fn arrays(&self) -> Result<&GradeArrays<'a>, &(dyn IdListSource + 'a)> {
        match &self.source {
            RankingSource::Arrays(arrays) => Ok(arrays),
            RankingSource::Lists(lists) => Err(&**lists),
        }
    }

    /// Returns the lists of ids, if the rankings are made of these.
    fn id_lists(&self) -> Option<&(dyn IdListSource + 'a)> {
        self.arrays().err()
    }

    /// Returns whether there are no rankings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ids of the rankings' queries, if the caller gave any.
    pub fn row_ids(&self) -> Option<&'a Ids> {
        self.ids
    }

    /// Returns whether the judged documents of each ranking are taken to be just the documents in
    /// it.
    pub fn is_ideal_from_retrieved(&self) -> bool {
        matches!(self.ideal, Ideal::Retrieved) && self.id_lists().is_none()
    }

    /// Returns an upper bound of the number of documents in some rankings together.
    pub fn max_values(&self, rows: Range<usize>) -> usize {
        match self.arrays() {
            Ok(arrays) => arrays.layout.values(rows),
            Err(lists) => lists.values(rows),
        }
    }

    /// Returns whether the ranking of a row has no document.
    pub fn is_row_empty(&self, row: usize) -> bool {
        match self.arrays() {
            Ok(arrays) => arrays.layout.row(row).is_empty(),
            Err(lists) => lists.is_row_empty(row),
        }
    }

    /// Makes the codebook of the rankings' grades: 0 and 1 for [`Ideal::Relevant`], 0 and the given
    /// grades for [`Ideal::Counts`], else the grades that occur. If all grades that occur are
    /// integers from −1 to 15, the codebook has the integers from 0 to the largest.
    ///
    /// # Errors
    /// A grade that is not finite, or less than 0 and not −1.
    pub fn codebook(&self) -> Result<Codebook> {
        match (self.ideal.given(), self.arrays()) {
            (Some((grades, _)), _) => Codebook::new(grades.iter().copied().chain([0.0])),
            (None, Ok(arrays)) => grades::codebook(arrays.grades, &arrays.layout, |row, at| {
                let expected =
                    "a grade from 0 was expected, or -1 for a document that is not judged";
                arrays.wrong(row, at, expected)
            }),
            (None, Err(lists)) => Codebook::new(lists.grades()?),
        }
    }

    /// Appends some rankings to a block: the labels of the first `reach` ranks, and the number of
    /// judged documents of each code.
    ///
    /// # Errors
    /// A grade outside the codebook; a NaN score; an id twice in a list; more retrieved documents
    /// of a grade than the given number of judged documents.
    pub fn fill(
        &self,
        block: &mut Block,
        rows: Range<usize>,
        coder: &GradeEncoder,
        reach: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !coder.book().is_exact() {
            return rows
                .into_iter()
                .try_for_each(|row| self.fill_exact(block, row, coder, reach, scratch));
        }
        let arrays = match self.arrays() {
            Ok(arrays) => arrays,
            Err(lists) => return lists.fill(rows, coder, reach, scratch, block),
        };
        let given = GivenCounts::new(self.ideal, coder.book())?;
        let given = given.as_ref();
        let Scratch { judged, unranked, keys, seen, .. } = scratch;
        let Some(scores) = arrays.scores else {
            return arrays.fill(rows, coder, given, reach, judged, block);
        };
        unranked.clear();
        let (first, count) = (rows.start, rows.len() as u64);
        arrays.fill(rows, coder, given, usize::MAX, judged, unranked)?;
        let nothing = coder.book().code(0.0).unwrap_or(FIRST_GRADE - 1);
        let of_row = |row: usize| arrays.layout.row(first + row);
        let decided = with_numbers!(scores, all => {
            KeyScratch::scratch(keys).rank(all, of_row, unranked, reach, nothing, block)
        })
        .map_err(|(row, at)| not_a_score(first + row, at))?;
        seen.in_arrays += count;
        seen.decided += decided;
        std::mem::swap(&mut block.facts, &mut unranked.facts);
        Ok(())
    }
}

impl GradeArrays<'_> {
    /// Appends some rankings to a block: the labels of the first `reach` ranks, and the numbers of
    /// judged documents.
    fn fill(
        &self,
        rows: Range<usize>,
        coder: &GradeEncoder,
        given: Option<&GivenCounts<'_>>,
        reach: usize,
        judged: &mut Vec<u32>,
        block: &mut Block,
    ) -> Result<()> {
        dispatch!(Level::new(), simd => {
            let Self { grades, layout, .. } = self;
            let codes = coder.book().grades().len();
            let together = (COUNTS_TOGETHER / codes.max(1)).max(1);
            for first in rows.clone().step_by(together) {
                let rows = first..rows.end.min(first + together);
                judged.clear();
                judged.resize(rows.len() * codes, 0);
                let (mut taken, mut encoded) = (0, Ok(()));
                for row in rows.clone() {
                    let of_row = layout.row(row);
                    let depth = depth(row, of_row.len())?;
                    let labels = block.room(depth);
                    if !with_numbers!(
                        *grades,
                        values => coder.encode(&values[of_row.clone()], labels)
                    ) {
                        encoded = Err(self.refused(row, coder));
                        break;
                    }
                    grades::count(simd, labels, depth, &mut judged[taken * codes..][..codes]);
                    block.push_labels(depth.min(reach));
                    taken += 1;
                }
                // Counts are completed before `encoded` is checked, so the first wrong row gives
                // the error, whatever its fault.
                let judged = &mut judged[..taken * codes];
                match given {
                    Some(given) => given.complete(coder.book(), first..first + taken, judged)?,
                    None => (first..)
                        .zip(judged.chunks_exact(codes.max(1)))
                        .try_for_each(|(row, judged)| check_judged_counts(row, judged))?,
                }
                encoded?;
                block.facts.push_all(taken, judged);
            }
            Ok(())
        })
    }

    /// Returns the error of a row that has a grade without a code in the codebook.
    #[cold]
    fn refused(&self, row: usize, coder: &GradeEncoder) -> Error {
        let of_row = self.layout.row(row);
        let codes = &mut vec![0; of_row.len()];
        let wrong = with_numbers!(self.grades, all => coder.look_up(&all[of_row], codes));
        let at = wrong.err().unwrap_or_default();
        let known: Vec<String> = coder.book().grades().iter().map(f64::to_string).collect();
        let known = if known.len() > 8 {
            format!("{} … {}", known[0], known[known.len() - 1])
        } else {
            known.join(", ")
        };
        self.wrong(row, at, &format!("one of the grades {known} was expected, or -1"))
    }

    /// Returns the error of a number at a place of a row that is not what was `expected`.
    fn wrong(&self, row: usize, at: usize, expected: &str) -> Error {
        let shown = self.grades.show(self.layout.row(row).start + at);
        shape_error(format!("{}[{row}, {at}] is {shown}: {expected}", self.name))
    }
}

/// Returns the error of a NaN among the scores of a row.
fn not_a_score(row: usize, at: usize) -> Error {
    shape_error(format!("scores[{row}, {at}] is not a number"))
}

fn expect(what: &str, found: usize, expected: usize, unit: &str) -> Result<()> {
    reject_if!(found != expected, "{found} {what}, and {expected} ({unit}) were expected");
    Ok(())
}

/// The numbers of judged documents that the caller gave for each ranking and grade.
struct GivenCounts<'a> {
    /// The counts, `[row][column]`.
    counts: Integers<'a>,
    /// The number of columns.
    width: usize,
    /// The column of counts for each code of a grade; `None` without given counts.
    columns: Vec<Option<usize>>,
    /// The codes of grades that no document may have because no counts of them are given, as
    /// indices from the smallest grade on.
    lacking: Vec<usize>,
}

impl<'a> GivenCounts<'a> {
    fn new(ideal: Ideal<'a>, book: &Codebook) -> Result<Option<Self>> {
        let Some((grades, counts)) = ideal.given() else { return Ok(None) };
        let mut columns = vec![None; book.grades().len()];
        for (column, &grade) in grades.iter().enumerate() {
            let code = book.code(grade).ok_or_else(|| {
                shape_error(format!("there are counts of grade {grade}, which the codebook lacks"))
            })?;
            columns[usize::from(code - FIRST_GRADE)] = Some(column);
        }
        let lacking = (0..columns.len())
            .filter(|&at| columns[at].is_none() && book.grades()[at] != 0.0)
            .collect();
        Ok(Some(Self { counts, width: grades.len(), columns, lacking }))
    }

    /// Raises `found`, the number of documents of each grade in some rankings, `[row][grade]`, to
    /// the given number of judged documents.
    #[inline]
    fn complete(&self, book: &Codebook, rows: Range<usize>, found: &mut [u32]) -> Result<()> {
        let given = rows.start * self.width..rows.end * self.width;
        let of_rows = rows.zip(found.chunks_exact_mut(book.grades().len().max(1)));
        with_integers!(self.counts, counts => {
            for ((row, found), counts) in of_rows.zip(counts[given].chunks_exact(self.width.max(1)))
            {
                if !self.complete_small(counts, found) {
                    self.complete_row(book, row, found)?;
                }
                check_judged_counts(row, found)?;
            }
        });
        Ok(())
    }

    /// Completes a ranking's numbers of judged documents if all given ones are small integers.
    /// Returns false, and writes nothing, if one is not, or is wrong.
    #[inline(always)]
    fn complete_small<N: ArrayNumber>(&self, counts: &[N], found: &mut [u32]) -> bool {
        // Hardly any row is refused, so neither fold ends early, and neither has a branch.
        let fine = found.iter().zip(&self.columns).fold(true, |fine, (&found, column)| {
            fine & column.is_none_or(|at| i64::from(counts[at].small()) >= i64::from(found))
        });
        if !self.lacking.iter().fold(fine, |fine, &at| fine & (found[at] == 0)) {
            return false;
        }
        for (found, column) in found.iter_mut().zip(&self.columns) {
            *found = column.map_or(*found, |column| counts[column].small() as u32);
        }
        true
    }

    /// Completes a ranking's numbers of judged documents by the given ones, or returns the error of
    /// a missing or too small one.
    #[cold]
    fn complete_row(&self, book: &Codebook, row: usize, found: &mut [u32]) -> Result<()> {
        for ((found, column), &grade) in found.iter_mut().zip(&self.columns).zip(book.grades()) {
            if let Some(column) = column {
                let at = row * self.width + column;
                let count = given_count(row, grade, &self.counts, at, *found as usize)?;
                *found = u32::try_from(count).map_err(|_| wrong_count(row, &self.counts, at))?;
            } else if *found > 0 && grade != 0.0 {
                return Err(missing_count(row, grade));
            }
        }
        Ok(())
    }
}

/// Returns the error of a ranking with documents of a grade for which no number of judged documents
/// is given.
fn missing_count(row: usize, grade: f64) -> Error {
    shape_error(format!(
        "row {row} has documents of grade {grade}, but no count of this grade is given"
    ))
}

/// Returns the given number, at index `at`, of a ranking's judged documents of a grade, or the
/// error of a number that is wrong, or less than the number `found` in the ranking.
fn given_count(
    row: usize,
    grade: f64,
    counts: &Integers<'_>,
    at: usize,
    found: usize,
) -> Result<usize> {
    let count = counts.natural(at).ok_or_else(|| wrong_count(row, counts, at))?;
    reject_if!(
        count < found,
        "row {row} has {found} documents of grade {grade}, and only {count} are said to be \
         judged so"
    );
    Ok(count)
}

/// Returns the error of a given number of judged documents that is negative or too large.
fn wrong_count(row: usize, counts: &Integers<'_>, at: usize) -> Error {
    shape_error(format!(
        "the judged counts of row {row} have {}: an integer from 0 was expected",
        counts.get(at)
    ))
}

#[cfg(test)]
mod tests {
    use super::matching::ArrayId;

    /// Returns the columns, from 1, of found ids, one by one; `None` if something is rare.
    pub(super) fn expected<K: ArrayId>(truth: &[K], found: &[K]) -> Option<Vec<usize>> {
        let is_rare =
            |ids: &[K]| (0..ids.len()).any(|at| ids[at].is_empty() || ids[..at].contains(&ids[at]));
        let column =
            |id: &K| truth.iter().position(|truth_id| truth_id == id).map_or(0, |at| at + 1);
        (!is_rare(truth) && !is_rare(found)).then(|| found.iter().map(column).collect())
    }
}
