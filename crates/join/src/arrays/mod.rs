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

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use crate::error::{Error, Result, unanswerable};
use crate::ids::Ids;
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{Block, Codebook};
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
    Labels { grades: Numbers<'a>, layout: Layout<'a> },
    Scores { scores: Numbers<'a>, grades: Numbers<'a>, layout: Layout<'a> },
    Lists(Box<dyn IdListSource + 'a>),
}

impl<'a> Rankings<'a> {
    /// Makes rankings from an array of grades in rank order, the best rank of each row first.
    ///
    /// # Errors
    /// A shape that does not fit the array.
    pub fn labels(grades: impl Into<Numbers<'a>>, shape: Shape<'a>) -> Result<Self> {
        let grades = grades.into();
        let layout = Layout::new(shape, grades.len(), "labels")?;
        Self::from_source(RankingSource::Labels { grades, layout })
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
        if scores.len() != grades.len() {
            return unanswerable(format!(
                "{} scores and {} grades: the same number was expected",
                scores.len(),
                grades.len()
            ));
        }
        let layout = Layout::new(shape, scores.len(), "scores")?;
        Self::from_source(RankingSource::Scores { scores, grades, layout })
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
        Self::lists::<I, I, R, L>(relevant, retrieved, |id| (id, 1.0))
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
        Self::lists::<I, (I, f64), R, L>(judged, retrieved, |(id, grade)| (id, *grade))
    }

    fn lists<I, E, R, L>(
        relevant: &'a [R],
        retrieved: &'a [L],
        grade: fn(&E) -> (&I, f64),
    ) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        E: 'a,
        R: AsRef<[E]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        if relevant.len() != retrieved.len() {
            return unanswerable(format!(
                "{} lists of relevant ids and {} of retrieved ones: the same number was expected",
                relevant.len(),
                retrieved.len()
            ));
        }
        Self::from_source(RankingSource::Lists(Box::new(IdLists {
            relevant,
            retrieved,
            grade,
            repeats: DuplicateIds::default(),
            types: PhantomData,
        })))
    }

    fn from_source(source: RankingSource<'a>) -> Result<Self> {
        let rankings = Self { source, ideal: Ideal::Retrieved, ids: None };
        match rankings.len() {
            0 => unanswerable("no rankings: at least one row was expected"),
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
                return unanswerable("lists of ids say themselves what is judged");
            }
            Ideal::Relevant(counts) => expect("relevant counts", counts.len(), rows, "rows")?,
            Ideal::Counts { grades, counts } => {
                let expected = rows.saturating_mul(grades.len());
                expect("judged counts", counts.len(), expected, "rows × grades")?;
                for (at, grade) in grades.iter().enumerate() {
                    if !(*grade >= 0.0 && grade.is_finite()) || grades[..at].contains(grade) {
                        return unanswerable(format!(
                            "{grade} among the grades of the judged counts: distinct ones from 0 \
                             were expected"
                        ));
                    }
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
        match self.layout() {
            Ok(layout) => layout.rows(),
            Err(lists) => lists.rows(),
        }
    }

    /// Returns the layout of the array of labels or scores, or else the lists of ids.
    fn layout(&self) -> Result<&Layout<'a>, &(dyn IdListSource + 'a)> {
        match &self.source {
            RankingSource::Labels { layout, .. } | RankingSource::Scores { layout, .. } => {
                Ok(layout)
            }
            RankingSource::Lists(lists) => Err(&**lists),
        }
    }

    /// Returns the lists of ids, if the rankings are made of these.
    fn id_lists(&self) -> Option<&(dyn IdListSource + 'a)> {
        self.layout().err()
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
        match self.layout() {
            Ok(layout) => layout.values(rows),
            Err(lists) => lists.values(rows),
        }
    }

    /// Returns whether the ranking of a row has no document.
    pub fn is_row_empty(&self, row: usize) -> bool {
        match self.layout() {
            Ok(layout) => layout.row(row).is_empty(),
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
        match (self.ideal, &self.source) {
            (Ideal::Relevant(_), _) => Codebook::new([0.0, 1.0]),
            (Ideal::Counts { grades, .. }, _) => Codebook::new(grades.iter().copied().chain([0.0])),
            (Ideal::Retrieved, RankingSource::Labels { grades, layout }) => {
                grades::codebook(grades, layout, "labels")
            }
            (Ideal::Retrieved, RankingSource::Scores { grades, layout, .. }) => {
                grades::codebook(grades, layout, "grades")
            }
            (Ideal::Retrieved, RankingSource::Lists(lists)) => Codebook::new(lists.grades()?),
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
        let given = GivenCounts::new(self.ideal, coder.book())?;
        let Scratch { level, judged, unranked, keys, seen, .. } = scratch;
        match &self.source {
            RankingSource::Lists(lists) => lists.fill(rows, coder, reach, scratch, block),
            RankingSource::Labels { grades, layout } => {
                let row_grades = RowGrades { name: "labels", grades, layout, coder, given, reach };
                row_grades.fill(*level, rows, judged, block)
            }
            RankingSource::Scores { scores, grades, layout } => {
                unranked.clear();
                let row_grades =
                    RowGrades { name: "grades", grades, layout, coder, given, reach: usize::MAX };
                let (first, count) = (rows.start, rows.len() as u64);
                row_grades.fill(*level, rows, judged, unranked)?;
                let nothing = coder.book().code(0.0).unwrap_or(FIRST_GRADE - 1);
                let decided = with_numbers!(*scores, all => KeyScratch::scratch(keys)
                    .rank(all, |row| layout.row(first + row), unranked, reach, nothing, block))
                .map_err(|(row, at)| {
                    shape_error(format!("scores[{}, {at}] is not a number", first + row))
                })?;
                seen.see_decided(count, decided);
                block.take_facts(unranked);
                Ok(())
            }
        }
    }
}

/// An array of grades with a row for each ranking, and the encoder and settings that make labels of
/// it.
struct RowGrades<'a> {
    /// The name of the grades in errors.
    name: &'a str,
    grades: &'a Numbers<'a>,
    layout: &'a Layout<'a>,
    coder: &'a GradeEncoder,
    given: GivenCounts<'a>,
    reach: usize,
}

/// Encodes the grades of some rows as labels, and appends labels and numbers of judged documents to
/// a block, at one SIMD level.
#[inline(always)]
fn encode<S: Simd>(
    simd: S,
    rows: Range<usize>,
    row_grades: &RowGrades<'_>,
    judged: &mut Vec<u32>,
    block: &mut Block,
) -> Result<()> {
    let RowGrades { grades, layout, coder, given, reach, .. } = row_grades;
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
                **grades,
                values => coder.encode(simd, &values[of_row.clone()], labels)
            ) {
                encoded = Err(row_grades.refused(row));
                break;
            }
            grades::count(simd, labels, depth, &mut judged[taken * codes..][..codes]);
            block.push_labels(depth.min(*reach));
            taken += 1;
        }
        // Counts are completed before `encoded` is checked, so the first wrong row gives the error,
        // whatever its fault.
        let judged = &mut judged[..taken * codes];
        given.complete(coder.book(), first..first + taken, judged)?;
        encoded?;
        block.push_judged(taken, FIRST_GRADE, judged);
    }
    Ok(())
}

impl RowGrades<'_> {
    /// Appends some rankings to a block: the labels of their grades, and the numbers of judged
    /// documents.
    fn fill(
        &self,
        level: Level,
        rows: Range<usize>,
        judged: &mut Vec<u32>,
        block: &mut Block,
    ) -> Result<()> {
        dispatch!(level, simd => encode(simd, rows, self, judged, block))
    }

    /// Returns the error of a row that has a grade without a code in the codebook.
    #[cold]
    fn refused(&self, row: usize) -> Error {
        let Self { name, grades, layout, coder, .. } = self;
        let of_row = layout.row(row);
        let at = with_numbers!(**grades, values => coder.first_invalid(&values[of_row.clone()]));
        let known: Vec<String> = coder.book().grades().iter().map(f64::to_string).collect();
        let known = if known.len() > 8 {
            format!("{} … {}", known[0], known[known.len() - 1])
        } else {
            known.join(", ")
        };
        let shown = grades.show(of_row.start + at);
        shape_error(format!(
            "{name}[{row}, {at}] is {shown}: one of the grades {known} was expected, or -1"
        ))
    }
}

fn expect(what: &str, found: usize, expected: usize, unit: &str) -> Result<()> {
    if found != expected {
        return unanswerable(format!("{found} {what}, and {expected} ({unit}) were expected"));
    }
    Ok(())
}

/// The numbers of judged documents that the caller gave for each ranking and grade.
#[derive(Default)]
struct GivenCounts<'a> {
    /// The counts, `[row][column]`, and the number of columns.
    counts: Option<(Integers<'a>, usize)>,
    /// The column of counts for each code of a grade; `None` without given counts.
    columns: Vec<Option<usize>>,
    /// The codes of grades that no document may have because no counts of them are given, as
    /// indices from the smallest grade on.
    lacking: Vec<usize>,
}

impl<'a> GivenCounts<'a> {
    fn new(ideal: Ideal<'a>, book: &Codebook) -> Result<Self> {
        let (grades, counts): (&[f64], _) = match ideal {
            Ideal::Retrieved => return Ok(Self::default()),
            Ideal::Relevant(counts) => (&[1.0], counts),
            Ideal::Counts { grades, counts } => (grades, counts),
        };
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
        Ok(Self { counts: Some((counts, grades.len())), columns, lacking })
    }

    /// Raises `found`, the number of documents of each grade in some rankings, `[row][grade]`, to
    /// the given number of judged documents.
    #[inline]
    fn complete(&self, book: &Codebook, rows: Range<usize>, found: &mut [u32]) -> Result<()> {
        let of_rows = rows.clone().zip(found.chunks_exact_mut(book.grades().len().max(1)));
        let Some((counts, width)) = &self.counts else {
            return of_rows
                .into_iter()
                .try_for_each(|(row, found)| check_judged_counts(row, found));
        };
        let given = rows.start * width..rows.end * width;
        with_integers!(*counts, counts => {
            for ((row, found), counts) in of_rows.zip(counts[given].chunks_exact((*width).max(1))) {
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
        let Some((counts, width)) = &self.counts else { return Ok(()) };
        for (code, (found, column)) in (FIRST_GRADE..=255).zip(found.iter_mut().zip(&self.columns))
        {
            let count = column.and_then(|column| counts.natural(row * width + column));
            match count.and_then(|count| u32::try_from(count).ok()) {
                Some(count) if count >= *found => *found = count,
                None if column.is_none() && (*found == 0 || book.grade(code) == Some(0.0)) => {}
                _ => return Err(self.refused(book, row, code, *found)),
            }
        }
        Ok(())
    }

    /// Returns the error of a given number of judged documents that is wrong, missing, or less than
    /// the number found.
    #[cold]
    fn refused(&self, book: &Codebook, row: usize, code: u8, found: u32) -> Error {
        let grade = book.grade(code).unwrap_or_default();
        let place = self.counts.zip(self.columns[usize::from(code - FIRST_GRADE)]);
        let Some(((counts, width), column)) = place else { return missing_count(row, grade) };
        let at = row * width + column;
        match counts.natural(at).filter(|&count| u32::try_from(count).is_ok()) {
            Some(count) => low_count(row, grade, found as usize, count),
            None => wrong_count(row, &counts, at),
        }
    }
}

/// Returns the error of a ranking with documents of a grade for which no number of judged documents
/// is given.
fn missing_count(row: usize, grade: f64) -> Error {
    shape_error(format!(
        "row {row} has documents of grade {grade}, but no count of this grade is given"
    ))
}

/// Returns the error of a given number of judged documents that is less than the number in the
/// ranking.
fn low_count(row: usize, grade: f64, found: usize, count: usize) -> Error {
    shape_error(format!(
        "row {row} has {found} documents of grade {grade}, and only {count} are said to be judged \
         so"
    ))
}

/// Returns the error of a given number of judged documents that is negative or too large.
fn wrong_count(row: usize, counts: &Integers<'_>, at: usize) -> Error {
    shape_error(format!(
        "the judged counts of row {row} have {}: an integer from 0 was expected",
        counts.get(at)
    ))
}
