//! Rankings in the caller's memory: labels, scores with grades, or lists of ids, for programs that
//! have no text ids.
//!
//! [`Rankings`] borrow arrays and describe their meaning. An `Evaluator` evaluates [`Rankings`]
//! directly (`Evaluator::rankings`, or batch by batch in a `Stream`): some rows at a time become
//! tiles, in memory that is used again.
//! [`LabelMatrix::of_rankings`](crate::matrix::LabelMatrix::of_rankings) copies [`Rankings`] into a
//! matrix.
//!
//! A grade is a finite number from 0; −1 stands for a document that is not judged. Rankings with up
//! to 253 distinct grades are encoded fastest.

mod exact;
mod grades;
mod id_arrays;
mod lists;
mod match_room;
mod matching;
mod matrix;
mod neighbours;
mod numbers;
mod ranked;
mod repeated;
mod scratch;
mod shape;
mod short;

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{Block, Codebook};
use crate::numbers::{with_integers, with_numbers};
use lists::{IdLists, Lists};
use numbers::ArrayNumber;
use scratch::KeptKey;
use shape::{Layout, depth, few_enough, wrong};

pub use crate::numbers::{Integers, Numbers};
pub use grades::Coder;
#[doc(hidden)]
pub use id_arrays::row_of;
pub use neighbours::Neighbours;
pub use repeated::RepeatedIds;
pub use scratch::Scratch;
pub use shape::Shape;

/// The most counts of a group of rows. Counts are made for such a group before its judgments are
/// looked at.
const COUNTS_TOGETHER: usize = 1 << 11;

/// The judged documents of each row, from which recall and ideal rankings follow.
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

/// Rankings in the caller's memory, one for each row.
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
    Lists(Box<dyn Lists + 'a>),
}

impl<'a> Rankings<'a> {
    /// Makes rankings of grades by rank, the best rank of each row first.
    ///
    /// # Errors
    /// A shape that does not fit the array.
    pub fn labels(grades: impl Into<Numbers<'a>>, shape: Shape<'a>) -> Result<Self> {
        let grades = grades.into();
        let layout = Layout::new(shape, grades.len(), "labels")?;
        Self::of(RankingSource::Labels { grades, layout })
    }

    /// Makes rankings of the scores of each row's documents in any order, and of their grades in
    /// the same order. The highest score comes first, and of equal scores the earlier one. Infinite
    /// scores are allowed.
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
            return Err(wrong(format!(
                "{} scores and {} grades: the same number was expected",
                scores.len(),
                grades.len()
            )));
        }
        let layout = Layout::new(shape, scores.len(), "scores")?;
        Self::of(RankingSource::Scores { scores, grades, layout })
    }

    /// Makes rankings of the ids of the relevant documents of each query, and of the retrieved
    /// ones, the best first. All others are not judged.
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

    /// Makes rankings of the ids of the judged documents of each query with their grades, and of
    /// the ids of the retrieved ones, the best first.
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
            return Err(wrong(format!(
                "{} lists of relevant ids and {} of retrieved ones: the same number was expected",
                relevant.len(),
                retrieved.len()
            )));
        }
        Self::of(RankingSource::Lists(Box::new(IdLists {
            relevant,
            retrieved,
            grade,
            repeats: RepeatedIds::default(),
            types: PhantomData,
        })))
    }

    fn of(source: RankingSource<'a>) -> Result<Self> {
        let rankings = Rankings { source, ideal: Ideal::Retrieved, ids: None };
        match rankings.len() {
            0 => Err(wrong("no rankings: at least one row was expected".to_owned())),
            _ => Ok(rankings),
        }
    }

    /// Sets the number of judged documents of each row.
    ///
    /// # Errors
    /// Not one number a row (and grade); grades that are not finite, less than 0, or given twice;
    /// lists of ids, which have their own judgments.
    pub fn with_ideal(self, ideal: Ideal<'a>) -> Result<Self> {
        let rows = self.len();
        match ideal {
            Ideal::Retrieved => {}
            _ if matches!(self.source, RankingSource::Lists(_)) => {
                return Err(wrong("lists of ids say themselves what is judged".to_owned()));
            }
            Ideal::Relevant(counts) => expect("relevant counts", counts.len(), rows, "rows")?,
            Ideal::Counts { grades, counts } => {
                expect(
                    "judged counts",
                    counts.len(),
                    rows.saturating_mul(grades.len()),
                    "rows × grades",
                )?;
                let wrong_grade = |(at, grade): (usize, &f64)| {
                    let fine = *grade >= 0.0 && grade.is_finite() && !grades[..at].contains(grade);
                    (!fine).then_some(*grade)
                };
                if let Some(grade) = grades.iter().enumerate().find_map(wrong_grade) {
                    return Err(wrong(format!(
                        "{grade} among the grades of the judged counts: distinct ones from 0 were \
                         expected"
                    )));
                }
            }
        }
        Ok(Rankings { ideal, ..self })
    }

    /// Sets the ids of the rows, distinct and in their order. Without ids, a row is called by its
    /// index, from 0.
    ///
    /// # Errors
    /// Another number of ids than of rows.
    pub fn with_ids(self, ids: &'a Ids) -> Result<Self> {
        expect("ids", ids.len(), self.len(), "rows")?;
        Ok(Rankings { ids: Some(ids), ..self })
    }

    /// The number of rankings.
    pub fn len(&self) -> usize {
        match &self.source {
            RankingSource::Labels { layout, .. } | RankingSource::Scores { layout, .. } => {
                layout.rows()
            }
            RankingSource::Lists(lists) => lists.rows(),
        }
    }

    /// Whether there are no rankings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of the rows.
    pub fn row_ids(&self) -> Option<&'a Ids> {
        self.ids
    }

    /// Whether the judged documents of a row are taken to be those of the row itself.
    pub fn are_ideals_retrieved(&self) -> bool {
        matches!(self.ideal, Ideal::Retrieved) && !matches!(self.source, RankingSource::Lists(_))
    }

    /// An upper bound of the number of values of some rows together.
    pub fn values(&self, rows: Range<usize>) -> usize {
        match &self.source {
            RankingSource::Labels { layout, .. } | RankingSource::Scores { layout, .. } => {
                layout.values(rows)
            }
            RankingSource::Lists(lists) => lists.values(rows),
        }
    }

    /// Whether a row has no document.
    pub fn is_row_empty(&self, row: usize) -> bool {
        match &self.source {
            RankingSource::Labels { layout, .. } | RankingSource::Scores { layout, .. } => {
                layout.row(row).is_empty()
            }
            RankingSource::Lists(lists) => lists.is_row_empty(row),
        }
    }

    /// Makes the codebook of the grades: 0 and 1 for [`Ideal::Relevant`], 0 and the given grades
    /// for [`Ideal::Counts`], else the grades that occur. If all grades that occur are integers
    /// from −1 to 15, the codebook has the integers from 0 to the largest.
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

    /// Appends some rows to a block: the labels of the first `reach` ranks, and the number of
    /// judged documents of each code.
    ///
    /// # Errors
    /// A grade outside the codebook; a NaN score; an id twice in a list; more retrieved documents
    /// of a grade than the given number of judged documents.
    pub fn fill(
        &self,
        block: &mut Block,
        rows: Range<usize>,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !coder.book().is_exact() {
            return rows
                .into_iter()
                .try_for_each(|row| self.fill_exact(block, row, coder, reach, scratch));
        }
        let given = Given::new(self.ideal, coder.book())?;
        let Scratch { level, judged, unranked, keys, seen, .. } = scratch;
        match &self.source {
            RankingSource::Lists(lists) => lists.fill(rows, coder, reach, scratch, block),
            RankingSource::Labels { grades, layout } => {
                let asked = RowGrades { name: "labels", grades, layout, coder, given, reach };
                asked.fill(*level, rows, judged, block)
            }
            RankingSource::Scores { scores, grades, layout } => {
                unranked.clear();
                let asked =
                    RowGrades { name: "grades", grades, layout, coder, given, reach: usize::MAX };
                asked.fill(*level, rows.clone(), judged, unranked)?;
                let of_row = |row: usize| layout.row(rows.start + row);
                let nothing = coder.book().code(0.0).unwrap_or(FIRST_GRADE - 1);
                let decided = with_numbers!(*scores, all =>
                    KeptKey::of(keys).rank(all, of_row, unranked, (reach, nothing), block))
                .map_err(|(row, at)| {
                    wrong(format!("scores[{}, {at}] is not a number", rows.start + row))
                })?;
                seen.see_decided(rows.len() as u64, decided);
                block.take_facts(unranked);
                Ok(())
            }
        }
    }
}

/// The grades by row, with the settings for their labels.
struct RowGrades<'a> {
    /// The name of the grades in errors.
    name: &'a str,
    grades: &'a Numbers<'a>,
    layout: &'a Layout<'a>,
    coder: &'a Coder,
    given: Given<'a>,
    reach: usize,
}

/// Appends rows to a block, at one SIMD level.
#[inline(always)]
fn encode<S: Simd>(
    simd: S,
    rows: Range<usize>,
    asked: &RowGrades<'_>,
    judged: &mut Vec<u32>,
    block: &mut Block,
) -> Result<()> {
    let RowGrades { grades, layout, coder, given, reach, .. } = asked;
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
                encoded = Err(asked.refused(row));
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
    /// Appends rows to a block: the labels of grades, and the numbers of judged documents.
    fn fill(
        &self,
        level: Level,
        rows: Range<usize>,
        judged: &mut Vec<u32>,
        block: &mut Block,
    ) -> Result<()> {
        dispatch!(level, simd => encode(simd, rows, self, judged, block))
    }

    /// The error of a grade that has no code.
    #[cold]
    fn refused(&self, row: usize) -> Error {
        let RowGrades { name, grades, layout, coder, .. } = self;
        let of_row = layout.row(row);
        let at = with_numbers!(**grades, values => coder.wrong(&values[of_row.clone()]));
        let known: Vec<String> = coder.book().grades().iter().map(f64::to_string).collect();
        let known = if known.len() > 8 {
            format!("{} … {}", known[0], known[known.len() - 1])
        } else {
            known.join(", ")
        };
        let shown = grades.show(of_row.start + at);
        wrong(format!(
            "{name}[{row}, {at}] is {shown}: one of the grades {known} was expected, or -1"
        ))
    }
}

fn expect(what: &str, found: usize, expected: usize, of: &str) -> Result<()> {
    if found != expected {
        return Err(wrong(format!("{found} {what}, and {expected} ({of}) were expected")));
    }
    Ok(())
}

/// The counts of judged documents that are given.
#[derive(Default)]
struct Given<'a> {
    /// The counts, `[row][column]`, and the number of columns.
    counts: Option<(Integers<'a>, usize)>,
    /// The column of counts for each code of a grade; `None` without given counts.
    columns: Vec<Option<usize>>,
    /// The codes of grades that no document may have because no counts of them are given, as
    /// indices from the smallest grade on.
    lacking: Vec<usize>,
}

impl<'a> Given<'a> {
    fn new(ideal: Ideal<'a>, book: &Codebook) -> Result<Self> {
        let (grades, counts): (&[f64], _) = match ideal {
            Ideal::Retrieved => return Ok(Given::default()),
            Ideal::Relevant(counts) => (&[1.0], counts),
            Ideal::Counts { grades, counts } => (grades, counts),
        };
        let mut columns = vec![None; book.grades().len()];
        for (column, &grade) in grades.iter().enumerate() {
            let lacks =
                || wrong(format!("there are counts of grade {grade}, which the codebook lacks"));
            columns[usize::from(book.code(grade).ok_or_else(lacks)? - FIRST_GRADE)] = Some(column);
        }
        let lacks = |&at: &usize| columns[at].is_none() && book.grades()[at] != 0.0;
        let lacking = (0..columns.len()).filter(lacks).collect();
        Ok(Given { counts: Some((counts, grades.len())), columns, lacking })
    }

    /// Completes `found`, the number of documents of each grade in some rows, `[row][grade]`, to
    /// the number of judged documents.
    #[inline]
    fn complete(&self, book: &Codebook, rows: Range<usize>, found: &mut [u32]) -> Result<()> {
        let of_rows = rows.clone().zip(found.chunks_exact_mut(book.grades().len().max(1)));
        let Some((counts, width)) = &self.counts else {
            return of_rows.into_iter().try_for_each(|(row, found)| few_enough(row, found));
        };
        let given = rows.start * width..rows.end * width;
        with_integers!(*counts, counts => {
            for ((row, found), counts) in of_rows.zip(counts[given].chunks_exact((*width).max(1))) {
                if !self.complete_small(counts, found) {
                    self.complete_row(book, row, found)?;
                }
                few_enough(row, found)?;
            }
        });
        Ok(())
    }

    /// Completes one row if all of its counts are small integers; returns false, and writes
    /// nothing, if one is not, or is wrong.
    #[inline(always)]
    fn complete_small<N: ArrayNumber>(&self, counts: &[N], found: &mut [u32]) -> bool {
        let is_more = |(found, column): (&u32, &Option<usize>)| {
            column.is_none_or(|column| i64::from(counts[column].small()) >= i64::from(*found))
        };
        let fine = found.iter().zip(&self.columns).fold(true, |fine, of| fine & is_more(of));
        if !self.lacking.iter().fold(fine, |fine, &at| fine & (found[at] == 0)) {
            return false;
        }
        for (found, column) in found.iter_mut().zip(&self.columns) {
            *found = column.map_or(*found, |column| counts[column].small() as u32);
        }
        true
    }

    /// Completes the counts of a row. The error names a missing or too small count.
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

    /// The error of a count that is less than the number found, or that is missing.
    #[cold]
    fn refused(&self, book: &Codebook, row: usize, code: u8, found: u32) -> Error {
        let grade = book.grade(code).unwrap_or_default();
        let place = self.counts.zip(self.columns[usize::from(code - FIRST_GRADE)]);
        let Some((counts, at)) =
            place.map(|((counts, width), column)| (counts, row * width + column))
        else {
            return wrong(format!(
                "row {row} has documents of grade {grade}, but no count of this grade is given"
            ));
        };
        match counts.natural(at).filter(|&count| u32::try_from(count).is_ok()) {
            Some(count) => wrong(format!(
                "row {row} has {found} documents of grade {grade}, and only {count} are said to be \
                 judged so"
            )),
            None => wrong(format!(
                "the judged counts of row {row} have {}: an integer from 0 was expected",
                counts.get(at)
            )),
        }
    }
}
