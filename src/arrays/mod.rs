//! Rankings in the caller's memory: labels, scores with grades, or lists of ids, as programs hold them that have no text ids.
//!
//! [`Rankings`] borrow arrays and say what they mean. An [`Evaluator`](crate::Evaluator) takes them as they are
//! ([`Evaluator::rankings`](crate::Evaluator::rankings), or batch by batch in a [`Stream`](crate::Stream)): some rows at a time become
//! tiles in memory that is used again. [`LabelMatrix::of_rankings`](crate::LabelMatrix::of_rankings) keeps them.
//!
//! A grade is a finite number from 0; −1 stands for a document that is not judged. An array has at most 253 distinct grades.

mod grades;
mod lists;
mod matrix;
mod numbers;
mod ranked;
mod shape;

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use crate::error::Result;
use crate::label::code::{FIRST_GRADE, MAX_GRADES};
use crate::label::{Codebook, DEEPEST, Ids, MOST_JUDGED};
use lists::{IdLists, Lists};
use numbers::{Key, Number, with_values};
use ranked::Ranked;
use shape::{Layout, wrong};

pub(crate) use grades::Coder;
pub use numbers::Numbers;
pub use shape::Shape;

/// What is known of the judged documents of each row, of which recall and ideal rankings are made.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Ideal<'a> {
    /// Those of the row itself and no others, as is right where a row has all candidates. Scores then say that they are such.
    #[default]
    Retrieved,
    /// So many relevant documents a row, where the labels are 0, 1 and −1. Those that are judged and not relevant are those retrieved.
    Relevant(Numbers<'a>),
    /// So many documents of each grade.
    Counts {
        /// The grades, in any order. Where 0 is not among them, the documents of grade 0 are those retrieved.
        grades: &'a [f64],
        /// `[row][grade]`.
        counts: Numbers<'a>,
    },
}

/// Rankings in the caller's memory, a row each.
///
/// ```
/// use laneval::arrays::{Ideal, Rankings, Shape};
/// use laneval::Evaluator;
///
/// // Two rankings of three documents: grades by rank, and how many relevant documents there are.
/// let labels = [1i8, -1, 0, 0, 0, 1];
/// let rankings = Rankings::labels(&labels, Shape::dense(3))?.with_ideal(Ideal::Relevant((&[2u32, 1]).into()))?;
/// let scores = Evaluator::new(["AP", "RR"])?.rankings(&rankings)?;
/// assert_eq!(scores.runs[0].average(1), Some((1.0 + 1.0 / 3.0) / 2.0));
///
/// // The same of scores: the candidates of each row are ranked by them, and the earlier of equal ones is first.
/// let scores = [0.9f32, 0.5, 0.1, 0.3, 0.2, 0.1];
/// let rankings = Rankings::scores(&scores, &labels, Shape::dense(3))?;
/// assert_eq!(Evaluator::new(["RR"])?.rankings(&rankings)?.runs[0].average(0), Some((1.0 + 1.0 / 3.0) / 2.0));
///
/// // The same of ids.
/// let rankings = Rankings::ids(&[vec!["a", "x"], vec!["c"]], &[["a", "b", "d"], ["d", "b", "c"]])?;
/// assert_eq!(Evaluator::new(["RR"])?.rankings(&rankings)?.runs[0].average(0), Some((1.0 + 1.0 / 3.0) / 2.0));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct Rankings<'a> {
    source: Source<'a>,
    ideal: Ideal<'a>,
    ids: Option<&'a Ids>,
}

enum Source<'a> {
    Labels { grades: Numbers<'a>, layout: Layout<'a> },
    Scores { scores: Numbers<'a>, grades: Numbers<'a>, layout: Layout<'a> },
    Lists(Box<dyn Lists + 'a>),
}

impl<'a> Rankings<'a> {
    /// Grades by rank, the best rank of each row first.
    ///
    /// # Errors
    /// A shape that does not fit.
    pub fn labels(grades: impl Into<Numbers<'a>>, shape: Shape<'a>) -> Result<Self> {
        let grades = grades.into();
        let layout = Layout::new(shape, grades.len(), "labels")?;
        Self::of(Source::Labels { grades, layout })
    }

    /// The scores of each row's documents in any order, and their grades in the same. The highest score comes first, and the earlier of
    /// equal ones. An infinite score is one like others.
    ///
    /// # Errors
    /// As many grades as scores were expected; a shape that does not fit.
    pub fn scores(
        scores: impl Into<Numbers<'a>>,
        grades: impl Into<Numbers<'a>>,
        shape: Shape<'a>,
    ) -> Result<Self> {
        let (scores, grades) = (scores.into(), grades.into());
        if scores.len() != grades.len() {
            return Err(wrong(format!(
                "{} scores and {} grades: as many were expected",
                scores.len(),
                grades.len()
            )));
        }
        let layout = Layout::new(shape, scores.len(), "scores")?;
        Self::of(Source::Scores { scores, grades, layout })
    }

    /// The ids of what is relevant to each query, and of what was retrieved for it, the best first. All others are not judged.
    ///
    /// # Errors
    /// As many lists of one as of the other were expected.
    pub fn ids<I, R, L>(relevant: &'a [R], retrieved: &'a [L]) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        R: AsRef<[I]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        Self::lists::<I, I, R, L>(relevant, retrieved, |id| (id, 1.0))
    }

    /// The ids of what is judged for each query with their grades, and of what was retrieved for it, the best first.
    ///
    /// # Errors
    /// As many lists of one as of the other were expected.
    pub fn graded_ids<I, R, L>(judged: &'a [R], retrieved: &'a [L]) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        R: AsRef<[(I, f64)]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        Self::lists::<I, (I, f64), R, L>(judged, retrieved, |(id, grade)| (id, *grade))
    }

    fn lists<I, E, R, L>(relevant: &'a [R], retrieved: &'a [L], grade: fn(&E) -> (&I, f64)) -> Result<Self>
    where
        I: Hash + Eq + Debug + 'a,
        E: 'a,
        R: AsRef<[E]> + Sync,
        L: AsRef<[I]> + Sync,
    {
        if relevant.len() != retrieved.len() {
            return Err(wrong(format!(
                "{} lists of relevant ids and {} of retrieved ones: as many were expected",
                relevant.len(),
                retrieved.len()
            )));
        }
        Self::of(Source::Lists(Box::new(IdLists { relevant, retrieved, grade, types: PhantomData })))
    }

    fn of(source: Source<'a>) -> Result<Self> {
        let rankings = Rankings { source, ideal: Ideal::Retrieved, ids: None };
        match rankings.len() {
            0 => Err(wrong("no rankings: at least one row was expected".to_owned())),
            _ => Ok(rankings),
        }
    }

    /// Says how many judged documents each row has.
    ///
    /// # Errors
    /// Not one number a row (and grade); grades that are not finite, less than 0, or twice; lists of ids, which say it themselves.
    pub fn with_ideal(self, ideal: Ideal<'a>) -> Result<Self> {
        let rows = self.len();
        match ideal {
            Ideal::Retrieved => {}
            _ if matches!(self.source, Source::Lists(_)) => {
                return Err(wrong("lists of ids say themselves what is judged".to_owned()));
            }
            Ideal::Relevant(counts) => expect("relevant counts", counts.len(), rows, "rows")?,
            Ideal::Counts { grades, counts } => {
                expect("judged counts", counts.len(), rows.saturating_mul(grades.len()), "rows × grades")?;
                let wrong_grade = |(at, grade): (usize, &f64)| {
                    let fine = *grade >= 0.0 && grade.is_finite() && !grades[..at].contains(grade);
                    (!fine).then_some(*grade)
                };
                if let Some(grade) = grades.iter().enumerate().find_map(wrong_grade) {
                    return Err(wrong(format!(
                        "{grade} among the grades of the judged counts: distinct ones from 0 were expected"
                    )));
                }
            }
        }
        Ok(Rankings { ideal, ..self })
    }

    /// The ids of the rows, distinct and in their order. Without, a row has the number of its place, from 0.
    ///
    /// # Errors
    /// Not one id a row.
    pub fn with_ids(self, ids: &'a Ids) -> Result<Self> {
        expect("ids", ids.len(), self.len(), "rows")?;
        Ok(Rankings { ids: Some(ids), ..self })
    }

    /// How many rankings there are.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Labels { layout, .. } | Source::Scores { layout, .. } => layout.rows(),
            Source::Lists(lists) => lists.rows(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of the rows.
    pub(crate) fn row_ids(&self) -> Option<&'a Ids> {
        self.ids
    }

    /// Are the judged documents of a row taken to be those of the row itself?
    pub(crate) fn are_ideals_retrieved(&self) -> bool {
        matches!(self.ideal, Ideal::Retrieved) && !matches!(self.source, Source::Lists(_))
    }

    /// How many values some rows have, at most.
    pub(crate) fn values(&self, rows: Range<usize>) -> usize {
        match &self.source {
            Source::Labels { layout, .. } | Source::Scores { layout, .. } => layout.values(rows),
            Source::Lists(lists) => rows.map(|row| lists.retrieved(row)).sum(),
        }
    }

    /// The grades that there are: those of the judged counts where they are given, else those that occur. Where all of these are
    /// integers from −1 to 15, those from 0 to the largest.
    ///
    /// # Errors
    /// A grade that is not finite, or less than 0 and not −1; more than 253 of them.
    pub fn codebook(&self) -> Result<Codebook> {
        match (self.ideal, &self.source) {
            (Ideal::Relevant(_), _) => Codebook::new([0.0, 1.0]),
            (Ideal::Counts { grades, .. }, _) => Codebook::new(grades.iter().copied().chain([0.0])),
            (Ideal::Retrieved, Source::Labels { grades, layout }) => {
                grades::codebook(grades, layout, "labels")
            }
            (Ideal::Retrieved, Source::Scores { grades, layout, .. }) => {
                grades::codebook(grades, layout, "grades")
            }
            (Ideal::Retrieved, Source::Lists(lists)) => {
                let grades = lists.grades()?;
                if grades.len() > MAX_GRADES {
                    return Err(wrong(format!(
                        "more than {MAX_GRADES} distinct grades, and a label is one byte: round them"
                    )));
                }
                Codebook::new(grades)
            }
        }
    }

    /// Hands out some rows: the labels of the first `reach` ranks, and how many judged documents there are of each code, ascending.
    ///
    /// # Errors
    /// A grade that the codebook lacks, a score that is not a number, an id that is twice in a list; more retrieved documents of a grade
    /// than there are said to be.
    pub(crate) fn each(
        &self,
        rows: Range<usize>,
        coder: &Coder,
        reach: usize,
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[u8], &[(u8, u32)]),
    ) -> Result<()> {
        let book = coder.book();
        let given = Given::new(self.ideal, book)?;
        for row in rows {
            match &self.source {
                Source::Labels { grades, layout } => {
                    scratch.encode(coder, grades, (row, layout.row(row)), "labels")?;
                    scratch.judge(book, &given, row)?;
                }
                Source::Scores { scores, grades, layout } => {
                    scratch.encode(coder, grades, (row, layout.row(row)), "grades")?;
                    scratch.judge(book, &given, row)?;
                    scratch.rank(scores, (row, layout.row(row)), reach)?;
                }
                Source::Lists(lists) => {
                    let Scratch { labels, given, counts, judged, level, .. } = scratch;
                    labels.clear();
                    given.clear();
                    lists.labels(row, coder, labels, given)?;
                    count(*level, given, book.codes(), counts);
                    let of_codes = (FIRST_GRADE..=255).zip(&counts[usize::from(FIRST_GRADE)..book.codes()]);
                    judged.clear();
                    judged.extend(
                        of_codes.filter(|&(_, &count)| count > 0).map(|(code, &count)| (code, count)),
                    );
                }
            }
            let depth = scratch.labels.len();
            if depth > DEEPEST as usize {
                return Err(wrong(format!("row {row} has {depth} documents, more than {DEEPEST}")));
            }
            let judged: u64 = scratch.judged.iter().map(|&(_, count)| u64::from(count)).sum();
            if judged > MOST_JUDGED {
                return Err(wrong(format!(
                    "row {row} has {judged} judged documents, and the most that a query may have is {MOST_JUDGED}"
                )));
            }
            take(row, &scratch.labels[..depth.min(reach)], &scratch.judged);
        }
        Ok(())
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
    /// `[row][column]`, and how many columns there are.
    counts: Option<(Numbers<'a>, usize)>,
    /// The columns with their codes, ascending.
    columns: Vec<(u8, usize)>,
}

impl<'a> Given<'a> {
    fn new(ideal: Ideal<'a>, book: &Codebook) -> Result<Self> {
        let (grades, counts): (&[f64], _) = match ideal {
            Ideal::Retrieved => return Ok(Given::default()),
            Ideal::Relevant(counts) => (&[1.0], counts),
            Ideal::Counts { grades, counts } => (grades, counts),
        };
        let column = |(column, &grade): (usize, &f64)| {
            let lacks = || wrong(format!("there are counts of grade {grade}, which the codebook lacks"));
            Ok((book.code(grade).ok_or_else(lacks)?, column))
        };
        let mut columns: Vec<(u8, usize)> = grades.iter().enumerate().map(column).collect::<Result<_>>()?;
        columns.sort_unstable();
        Ok(Given { counts: Some((counts, grades.len())), columns })
    }

    /// The count of a code in a row; `None` where it is not given.
    fn count(&self, row: usize, code: u8) -> Result<Option<u32>> {
        let Some((counts, width)) = &self.counts else { return Ok(None) };
        let Ok(at) = self.columns.binary_search_by_key(&code, |&(code, _)| code) else { return Ok(None) };
        let at = row * width + self.columns[at].1;
        let count = counts.index(at).and_then(|count| u32::try_from(count).ok());
        let refused = || {
            wrong(format!(
                "the judged counts of row {row} have {}: an integer from 0 was expected",
                counts.show(at)
            ))
        };
        count.map(Some).ok_or_else(refused)
    }
}

/// What is used again from row to row.
pub(crate) struct Scratch {
    level: Level,
    /// The labels of the row, in the end by rank.
    labels: Vec<u8>,
    /// The labels of the row as they were given.
    given: Vec<u8>,
    /// The counts of the row by code.
    counts: [u32; 256],
    judged: Vec<(u8, u32)>,
    keys: Keys,
}

/// Rankings by scores of either kind of key.
#[derive(Default)]
struct Keys {
    narrow: Ranked<u32>,
    wide: Ranked<u64>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            level: Level::new(),
            labels: Vec::new(),
            given: Vec::new(),
            counts: [0; 256],
            judged: Vec::new(),
            keys: Keys::default(),
        }
    }
}

impl Scratch {
    /// Makes labels of the grades of a row.
    fn encode(
        &mut self,
        coder: &Coder,
        grades: &Numbers<'_>,
        (row, values): (usize, Range<usize>),
        name: &str,
    ) -> Result<()> {
        let start = values.start;
        self.labels.clear();
        coder.append(grades, values, &mut self.labels).map_err(|at| {
            let known: Vec<String> = coder.book().grades().iter().map(f64::to_string).collect();
            let known = if known.len() > 8 {
                format!("{} … {}", known[0], known[known.len() - 1])
            } else {
                known.join(", ")
            };
            wrong(format!(
                "{name}[{row}, {}] is {}: one of the grades {known} was expected, or -1",
                at - start,
                grades.show(at)
            ))
        })
    }

    /// Counts the judged documents of the labels, and completes them by the counts that are given.
    fn judge(&mut self, book: &Codebook, given: &Given<'_>, row: usize) -> Result<()> {
        let codes = book.codes();
        count(self.level, &self.labels, codes, &mut self.counts);
        self.judged.clear();
        for (&found, code) in self.counts[..codes].iter().zip(0..=u8::MAX).skip(usize::from(FIRST_GRADE)) {
            let count = match given.count(row, code)? {
                Some(count) if count < found => {
                    let grade = book.grade(code).unwrap_or_default();
                    return Err(wrong(format!(
                        "row {row} has {found} documents of grade {grade}, and only {count} are said to be judged so"
                    )));
                }
                Some(count) => count,
                None if given.counts.is_some() && found > 0 && book.grade(code) != Some(0.0) => {
                    let grade = book.grade(code).unwrap_or_default();
                    return Err(wrong(format!(
                        "row {row} has documents of grade {grade}, of which no count is given"
                    )));
                }
                None => found,
            };
            if count > 0 {
                self.judged.push((code, count));
            }
        }
        Ok(())
    }

    /// Brings the labels into the order of the scores of a row.
    fn rank(
        &mut self,
        scores: &Numbers<'_>,
        (row, values): (usize, Range<usize>),
        reach: usize,
    ) -> Result<()> {
        let Scratch { labels, given, keys, .. } = self;
        std::mem::swap(labels, given);
        labels.clear();
        with_values!(*scores, all => ranked(&all[values], reach, keys, |places| labels.extend(places.map(|place| given[place]))))
            .map_err(|at| wrong(format!("scores[{row}, {at}] is not a number")))
    }
}

/// A kind of key has its own place among the keys.
trait Kept: Key {
    fn of(keys: &mut Keys) -> &mut Ranked<Self>
    where
        Self: Sized;
}

impl Kept for u32 {
    fn of(keys: &mut Keys) -> &mut Ranked<u32> {
        &mut keys.narrow
    }
}

impl Kept for u64 {
    fn of(keys: &mut Keys) -> &mut Ranked<u64> {
        &mut keys.wide
    }
}

/// Hands out the places of the best scores.
fn ranked<N: Number<Key: Kept>>(
    scores: &[N],
    reach: usize,
    keys: &mut Keys,
    take: impl FnOnce(&mut dyn Iterator<Item = usize>),
) -> Result<(), usize> {
    let mut places = N::Key::of(keys).best(scores, reach)?;
    take(&mut places);
    Ok(())
}

/// Counts labels by code, of so many codes.
fn count(level: Level, labels: &[u8], codes: usize, counts: &mut [u32; 256]) {
    /// So many codes are counted one by one.
    const FEW: usize = 8;
    let first = usize::from(FIRST_GRADE);
    if codes <= first + FEW {
        let of_codes = (FIRST_GRADE..=255).zip(&mut counts[first..codes]);
        of_codes.for_each(|(code, count)| *count = dispatch!(level, simd => equal(simd, labels, code)));
        return;
    }
    counts[..codes].fill(0);
    labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
}

/// How many labels are this one.
#[inline(always)]
fn equal<S: Simd>(_: S, labels: &[u8], code: u8) -> u32 {
    let sum = |labels: &[u8]| labels.iter().map(|&label| u8::from(label == code)).fold(0u8, u8::wrapping_add);
    labels.chunks(255).map(|labels| u32::from(sum(labels))).sum()
}
