//! Runs and judgments given as columns in memory, such as Arrow's, borrowed without a copy.
//!
//! It must never know of text formats, records and rankings.
//!
//! ```text
//! text, numbers  the shapes of columns: ids in Arrow's layouts, dictionaries, integers, slices;
//!                floats and integers of any width
//! decimal        integers as ids
//! (here)         batches of columns, checked, as one sequence of rows
//! collected      rows of an iterator, as columns
//! pending        rows of a query that may continue in the next batch
//! keys           the buffers of a worker: sort keys, wrong rows, integers as text
//! column_error   errors of columns
//! ```
//!
//! A query is looked up once for the rows that follow one another, and a code of a dictionary once.
//! The hash of a document that is a code is made once as well. Only integers are copied, as text,
//! and only until their query is ranked.

pub mod collected;
pub mod column_error;
pub mod decimal;
pub mod keys;
pub mod numbers;
pub mod pending;
pub mod text;

use std::ops::Range;

use rayon::prelude::*;

use crate::bytes::hash::Seed;
use crate::error::{Error, Problems, Result};
use crate::lines::{
    diagnostics,
    layout::{RankColumn, SortBy},
    shape::Role,
};
use crate::numbers::{Integers, Numbers};
pub use collected::CollectedRows;
use column_error::ColumnError;
pub use column_error::{invalid_number_message, is_valid_number};
use decimal::LONGEST;
pub use keys::ColumnScratch;
pub use pending::PendingQuery;
pub use text::IdColumn;
use text::{ColumnId, HashedId};

/// Results of a run as columns: a query, a document, and a score or rank in each row. The columns
/// have equal length, and are whole or a batch of rows.
///
/// ```
/// use laneval::columns::{IdColumn, RunColumns};
/// use laneval::{Join, Qrels};
///
/// let qrels = Qrels::new([("q1", "d7", 1.0), ("q2", "d9", 2.0)])?;
/// let queries = ["q1", "q1", "q2"];
/// let documents = IdColumn::Utf8 { offsets: &[0, 2, 4, 6], bytes: b"d7d8d9" };
/// let run = [RunColumns::scored(&queries, documents, &[2.5f32, 1.5, 0.5])];
/// let matrix = Join::default().columns(&qrels, &[("mine", &run)])?;
/// assert_eq!(matrix.depths(), [2, 1]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RunColumns<'a> {
    /// The queries.
    pub query: IdColumn<'a>,
    /// The documents.
    pub doc: IdColumn<'a>,
    /// The scores: higher is better. ±∞ are scores, NaN is an error.
    pub score: Option<Numbers<'a>>,
    /// The ranks: lower is better. Scores decide if present; otherwise ranks decide, and no two
    /// documents of a query may share a rank.
    pub rank: Option<Integers<'a>>,
    /// The first positions of the results, and the positions behind their ends, for passages
    /// ([`FacetKind::Span`](crate::judged_by::FacetKind::Span)).
    pub span: Option<[Integers<'a>; 2]>,
    /// The end of the results of each row of the caller's table, if its rows have lists of
    /// documents. Then problems name the rows of the table.
    pub lists: Option<&'a [usize]>,
}

impl<'a> RunColumns<'a> {
    /// Makes the columns of a run's results that are ranked by score.
    pub fn scored(
        query: impl Into<IdColumn<'a>>,
        doc: impl Into<IdColumn<'a>>,
        score: impl Into<Numbers<'a>>,
    ) -> Self {
        Self::new(query.into(), doc.into(), Some(score.into()), None)
    }

    /// Makes the columns of a run's results that are ranked by given ranks.
    pub fn ranked(
        query: impl Into<IdColumn<'a>>,
        doc: impl Into<IdColumn<'a>>,
        rank: impl Into<Integers<'a>>,
    ) -> Self {
        Self::new(query.into(), doc.into(), None, Some(rank.into()))
    }

    fn new(
        query: IdColumn<'a>,
        doc: IdColumn<'a>,
        score: Option<Numbers<'a>>,
        rank: Option<Integers<'a>>,
    ) -> Self {
        Self { query, doc, score, rank, span: None, lists: None }
    }

    /// Adds start and end positions to the results, which are then passages of documents. An end is
    /// the position behind the last.
    ///
    /// ```
    /// use laneval::columns::{QrelsColumns, RunColumns};
    /// use laneval::{Evaluator, FacetKind, Join};
    ///
    /// let join = Join { judged_by: Some(FacetKind::Span), ..Join::default() };
    /// let gold = QrelsColumns::new(&["q1"], &["d1"], &[1i8]).with_spans(&[10u32], &[30u32]);
    /// let run = RunColumns::scored(&["q1", "q1"], &["d1", "d1"], &[2.0, 1.0])
    ///     .with_spans(&[0u32, 15], &[20u32, 40]);
    /// let matrix = join.columns(&join.judgments(&[gold])?, &[("mine", &[run])])?;
    /// let scores = Evaluator::new(["SpanR@1", "SpanP"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "SpanR@1"), Some(0.5));
    /// assert_eq!(scores.average("mine", "SpanP"), Some(0.5)); // 20 gold positions of 40
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn with_spans(self, start: impl Into<Integers<'a>>, end: impl Into<Integers<'a>>) -> Self {
        Self { span: Some([start.into(), end.into()]), ..self }
    }
}

/// Judgments as columns: a query, a document and a grade in each row. The columns have equal
/// length, and are whole or a batch of rows.
///
/// ```
/// use laneval::columns::QrelsColumns;
/// use laneval::{Dialect, Qrels};
///
/// let judgments = QrelsColumns::new(&[1u32, 1, 2], &["d1", "d2", "d1"], &[1i8, 0, 2]);
/// let qrels = Qrels::columns(&[judgments], Dialect::Laneval)?;
/// assert_eq!(qrels.queries().iter().collect::<Vec<_>>(), [b"1", b"2"]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct QrelsColumns<'a> {
    /// The queries.
    pub query: IdColumn<'a>,
    /// The documents.
    pub doc: IdColumn<'a>,
    /// The grades: finite numbers, below 0 for a document that is pooled, but not judged; or the
    /// levels of preferences.
    pub grade: Numbers<'a>,
    /// The judges, subtopics or groups of preferences, as
    /// `Join::judged_by` asks for.
    pub group: Option<IdColumn<'a>>,
    /// The sub-groups of preferences.
    pub subgroup: Option<IdColumn<'a>>,
    /// The positions where the judged passages begin, and those behind their ends, for judgments by
    /// span.
    pub span: Option<[Integers<'a>; 2]>,
    /// Where the judgments of each row of the caller's table end, if its rows have lists of
    /// documents. Then problems are told by the rows of the table.
    pub lists: Option<&'a [usize]>,
}

impl<'a> QrelsColumns<'a> {
    /// Makes the columns of judgments from queries, documents and grades.
    pub fn new(
        query: impl Into<IdColumn<'a>>,
        doc: impl Into<IdColumn<'a>>,
        grade: impl Into<Numbers<'a>>,
    ) -> Self {
        let (query, doc, grade) = (query.into(), doc.into(), grade.into());
        Self { query, doc, grade, group: None, subgroup: None, span: None, lists: None }
    }

    /// Adds the judge, the subtopic or the preference group of each judgment.
    ///
    /// ```
    /// use laneval::columns::QrelsColumns;
    /// use laneval::{Evaluator, FacetKind, Join};
    ///
    /// let judgments =
    ///     QrelsColumns::new(&["q1", "q1"], &["d1", "d1"], &[1i8, 0]).with_facets(&["ann", "bob"]);
    /// let join = Join { judged_by: Some(FacetKind::Judge), ..Join::default() };
    /// let matrix = join
    ///     .rankings(&join.judgments(&[judgments])?, [("mine".to_owned(), [("q1", "d1", 0.5)])])?;
    /// let scores = Evaluator::new(["P(judges=mean)@1"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "P(judges=mean)@1"), Some(0.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn with_facets(self, group: impl Into<IdColumn<'a>>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Adds start and end positions to the judgments, which are then passages of documents. See
    /// [`RunColumns::with_spans`].
    pub fn with_spans(self, start: impl Into<Integers<'a>>, end: impl Into<Integers<'a>>) -> Self {
        Self { span: Some([start.into(), end.into()]), ..self }
    }
}

/// A batch of results or judgments, as columns of equal length that were checked.
#[derive(Debug)]
pub struct CheckedBatch<'a> {
    pub query: IdColumn<'a>,
    pub doc: IdColumn<'a>,
    /// The scores or grades; `None` if ranks decide.
    pub numbers: Option<Numbers<'a>>,
    pub rank: Option<Integers<'a>>,
    /// The groups and the sub-groups of judgments.
    pub groups: [Option<IdColumn<'a>>; 2],
    /// The first position of each row, and the position behind its end.
    pub span: Option<[Integers<'a>; 2]>,
    /// The end of the rows of each list, for a table with lists in its rows.
    pub lists: Option<&'a [usize]>,
    /// The dictionary of the queries, if a table of its codes pays.
    pub queries: Option<u32>,
    /// The dictionary of the documents, if a table of its hashes pays.
    pub docs: Option<u32>,
}

impl<'a> CheckedBatch<'a> {
    /// Returns the message about the invalid number of a row, which names its query and document.
    #[cold]
    pub fn invalid_number(&self, row: usize, message: impl FnOnce([&[u8]; 2]) -> String) -> String {
        let [mut query, mut doc] = [[0; LONGEST]; 2];
        message([self.query.id(row).bytes(&mut query), self.doc.id(row).bytes(&mut doc)])
    }

    fn new(records: RunColumns<'a>, groups: [Option<IdColumn<'a>>; 2]) -> Self {
        let RunColumns { query, doc, score: numbers, rank, span, lists } = records;
        Self { query, doc, numbers, rank, groups, span, lists, queries: None, docs: None }
    }

    /// Makes a batch of judgments from their columns.
    fn from_judgments(judgments: &QrelsColumns<'a>) -> Self {
        let QrelsColumns { query, doc, grade, group, subgroup, span, lists } = *judgments;
        let records = RunColumns { query, doc, score: Some(grade), rank: None, span, lists };
        Self::new(records, [group, subgroup])
    }

    /// Returns whether the batch's results are sorted by given ranks, not by scores.
    fn is_ranked(&self) -> bool {
        self.numbers.is_none()
    }

    /// Returns the score or grade in a row of the batch, or −rank if ranks decide.
    pub fn number(&self, at: usize) -> f64 {
        let rank = || self.rank.map_or(f64::NAN, |ranks| -(ranks.get(at) as f64));
        self.numbers.map_or_else(rank, |numbers| numbers.get(at))
    }

    /// Returns the length of each column of the batch but that of sub-groups, with what is in it.
    fn lengths(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let all = [
            Some((self.query.len(), "queries")),
            Some((self.doc.len(), "documents")),
            self.numbers.map(|numbers| (numbers.len(), "numbers")),
            self.rank.map(|ranks| (ranks.len(), "ranks")),
            self.groups[0].map(|groups| (groups.len(), "groups")),
            self.span.map(|[start, _]| (start.len(), "starts")),
            self.span.map(|[_, end]| (end.len(), "ends")),
        ];
        all.into_iter().flatten()
    }

    /// Rejects wrong ids and ranks in some rows of the batch. Dictionaries are checked with the
    /// first rows.
    fn check(&self, rows: Range<usize>) -> Result<(), ColumnError> {
        let groups = self.groups.iter().flatten().map(|group| (group, "group"));
        for (ids, column) in [(&self.query, "query"), (&self.doc, "doc")].into_iter().chain(groups)
        {
            // All parts of a column share its dictionary, so only the first part checks the
            // dictionary.
            let checked = if rows.start == 0 { check_dictionary(ids) } else { Ok(()) };
            checked
                .and_then(|()| ids.check(rows.clone()))
                .map_err(|wrong| wrong.with_column(column))?;
        }
        // Of the other types no value is so large, and a look at each would take a tenth of the
        // time of a run.
        if let Some(Integers::U64(ranks)) = self.rank
            && let Some(row) = rows.clone().find(|&row| i64::try_from(ranks[row]).is_err())
        {
            return Err(ColumnError::at(row, "rank: an integer of 2⁶³ or more".to_owned()));
        }
        Ok(())
    }
}

/// All results of a run, or all judgments, as batches of checked columns.
#[derive(Debug)]
pub struct CheckedColumns<'a> {
    pub name: &'a str,
    pub batches: Vec<CheckedBatch<'a>>,
    /// The first row of each batch, and the end of the last one.
    pub starts: Vec<usize>,
    /// The hashes of the values of dictionaries of documents.
    pub hashes: Vec<Vec<HashedId>>,
    /// Whether documents are integers in any batch.
    pub numeric: bool,
}

/// The number of rows that are checked at a time.
const CHECKED: usize = 1 << 16;

impl<'a> CheckedColumns<'a> {
    /// Makes checked columns of the results of a run called `name`, and rejects unsound ones.
    pub fn from_run(name: &'a str, records: &[RunColumns<'a>], seed: Seed) -> Result<Self> {
        let batches = records.iter().map(|records| CheckedBatch::new(*records, [None; 2]));
        let columns = Self::new(name, batches, seed)?;
        match columns.batches.iter().position(|batch| batch.is_ranked() != columns.is_ranked()) {
            Some(other) => {
                Err(columns.wrong_batch(other, "some batches have scores, and others ranks alone"))
            }
            None => Ok(columns),
        }
    }

    /// Makes checked columns of the judgments called `name`, and rejects unsound ones.
    pub fn from_judgments(
        name: &'a str,
        judgments: &[QrelsColumns<'a>],
        seed: Seed,
    ) -> Result<Self> {
        Self::new(name, judgments.iter().map(CheckedBatch::from_judgments), seed)
    }

    fn new(
        name: &'a str,
        batches: impl Iterator<Item = CheckedBatch<'a>>,
        seed: Seed,
    ) -> Result<Self> {
        let mut columns =
            Self { name, batches: Vec::new(), starts: vec![0], hashes: Vec::new(), numeric: false };
        for (number, batch) in batches.enumerate() {
            if batch.numbers.is_none() && batch.rank.is_none() {
                return Err(columns.wrong_batch(number, "has neither scores nor ranks"));
            }
            let rows = batch.query.len();
            if batch.lengths().any(|(length, _)| length != rows)
                || batch.groups[1].is_some_and(|groups| groups.len() != rows)
            {
                let all = batch.lengths().map(|(length, what)| format!("{length} {what}"));
                let all = all.collect::<Vec<_>>().join(", ");
                let message = format!("{all}: columns have the same length");
                return Err(columns.wrong_batch(number, &message));
            }
            if batch
                .lists
                .is_some_and(|ends| !ends.is_sorted() || ends.last().copied().unwrap_or(0) != rows)
            {
                return Err(columns.wrong_batch(
                    number,
                    "the ends of its lists do not ascend to its number of rows",
                ));
            }
            columns.starts.push(columns.rows() + rows);
            columns.numeric |= batch.doc.is_numeric();
            columns.batches.push(batch);
        }
        columns.check()?;
        columns.number_dictionaries(seed);
        Ok(columns)
    }

    /// Returns the number of results or judgments in all batches.
    pub fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Returns whether the run's results are sorted by given ranks, not by scores.
    pub fn is_ranked(&self) -> bool {
        self.batches.first().is_some_and(CheckedBatch::is_ranked)
    }

    /// Returns the sort order of the run's results: by ranks, or by scores with or without a rank
    /// column.
    pub fn order(&self) -> SortBy {
        if self.is_ranked() {
            SortBy::Ranks
        } else if self.batches.iter().all(|batch| batch.rank.is_some()) {
            SortBy::Scores { ranks: RankColumn::Beside }
        } else {
            SortBy::Scores { ranks: RankColumn::None }
        }
    }

    fn wrong_batch(&self, number: usize, message: &str) -> Error {
        let message = format!("batch {}: {message}", number + 1);
        diagnostics::whole_file(self.name, message).into()
    }

    /// Rejects wrong ids and ranks in any column or dictionary, in parallel.
    fn check(&self) -> Result<()> {
        let check = |(batch, rows): &(usize, Range<usize>)| {
            let wrong = self.batches[*batch].check(rows.clone()).err()?;
            Some(wrong.problems(self.name, self.starts[*batch]))
        };
        let parts = self.parts_to_check();
        let wrong = match &parts[..] {
            // A single part gives other threads nothing to do, so the part is checked here.
            [part] => check(part),
            // `find_map_any` may find a later part first, and the message would then change from
            // run to run.
            parts => parts.par_iter().find_map_first(check),
        };
        self.report(wrong.unwrap_or_default())
    }

    /// Cuts all rows into parts to check in parallel: for each, the index of its batch, and its
    /// rows there.
    fn parts_to_check(&self) -> Vec<(usize, Range<usize>)> {
        (0..self.batches.len())
            .flat_map(|batch| {
                let rows = self.starts[batch + 1] - self.starts[batch];
                (0..rows)
                    .step_by(CHECKED)
                    .map(move |start| (batch, start..rows.min(start + CHECKED)))
            })
            .collect()
    }

    /// Returns the row of the caller's table that a result or judgment comes from, both from 1.
    /// Rows differ where the rows of the table have lists.
    pub fn table_row(&self, row: u64) -> u64 {
        let at = usize::try_from(row).ok().and_then(|row| row.checked_sub(1));
        let Some(at) = at.filter(|&at| at < self.rows()) else { return row };
        let number = self.batch_of(at);
        let (batch, at) = self.locate(at);
        let of_batch = batch.lists.map_or(at, |ends| ends.partition_point(|&end| end <= at));
        let rows = |batch: &CheckedBatch<'_>| batch.lists.map_or(batch.query.len(), <[_]>::len);
        let before: usize = self.batches[..number].iter().map(rows).sum();
        (before + of_batch) as u64 + 1
    }

    /// Rejects columns of a file with empty ids or with invalid numbers. The ids are of queries,
    /// documents and groups. Readers of text reject such rows too.
    ///
    /// # Errors
    /// The rows with an empty value, a grade that is not finite or a score that is NaN.
    pub fn check_file(self, role: Role) -> Result<Self> {
        let parts = self.parts_to_check();
        let wrong: Vec<Problems> = parts
            .par_iter()
            .map(|(batch, rows)| self.unlike_text(*batch, rows.clone(), role))
            .collect();
        self.report(diagnostics::join(wrong))?;
        Ok(self)
    }

    /// Returns an error of these problems, if there are any, with rows of the caller's table, which
    /// may have lists.
    fn report(&self, mut problems: Problems) -> Result<()> {
        problems.first.iter_mut().for_each(|problem| problem.line = self.table_row(problem.line));
        problems.into_result(())
    }

    /// Returns the problems of rows with an empty id or an invalid number, which readers of text
    /// reject too.
    fn unlike_text(&self, batch: usize, rows: Range<usize>, role: Role) -> Problems {
        let (first, batch) = (self.starts[batch], &self.batches[batch]);
        let CheckedBatch { query, doc, numbers, groups: [group, _], .. } = batch;
        let ids = [(Some(query), "query"), (Some(doc), "document"), (group.as_ref(), "group")];
        let empty = |rows: &Range<usize>| {
            ids.iter().find(|(ids, _)| ids.is_some_and(|ids| ids.has_empty(rows.clone())))
        };
        let mut problems = Problems::default();
        // Nearly all parts are right, and a column is checked faster as a whole than row by row.
        if numbers
            .is_none_or(|numbers| rows.clone().all(|row| is_valid_number(role, numbers.get(row))))
            && empty(&rows).is_none()
        {
            return problems;
        }
        for row in rows {
            let number = numbers
                .map(|numbers| numbers.get(row))
                .filter(|number| !is_valid_number(role, *number));
            let message = match (empty(&(row..row + 1)), number) {
                (Some((_, what)), _) => format!("the {what} is empty"),
                (_, Some(number)) => {
                    batch.invalid_number(row, |ids| invalid_number_message(role, number, ids))
                }
                (None, None) => continue,
            };
            problems.add(self.name, (first + row) as u64 + 1, || message);
        }
        problems
    }

    /// Numbers the id dictionaries that are worth a look-up table, and hashes the documents among
    /// their values. A table of codes pays if a dictionary has not many more values than rows.
    fn number_dictionaries(&mut self, seed: Seed) {
        let (mut queries, mut docs) = (Dictionaries::default(), Dictionaries::default());
        for batch in &mut self.batches {
            batch.queries = queries.number(&batch.query);
            batch.docs = docs.number(&batch.doc);
        }
        // This is a second pass, because the rows of all batches decide whether a dictionary pays.
        for batch in &mut self.batches {
            batch.queries = batch.queries.filter(|&number| queries.pays(number));
            batch.docs = batch.docs.filter(|&number| docs.pays(number));
        }
        self.hashes = (0..)
            .zip(&docs.0)
            .map(
                |(number, (values, _))| {
                    if docs.pays(number) { hashes(values, seed) } else { Vec::new() }
                },
            )
            .collect();
    }

    /// Passes each result or judgment to `take` until `take` returns `false`. `take` gets the
    /// number of the row, its batch and its index there, the query, and the document.
    pub fn each_row(
        &self,
        mut take: impl FnMut(usize, (&CheckedBatch<'a>, usize), [&[u8]; 2]) -> bool,
    ) {
        let [mut query, mut doc] = [[0; LONGEST]; 2];
        for (batch, start) in self.batches.iter().zip(&self.starts) {
            for at in 0..batch.query.len() {
                let ids = [batch.query.id(at).bytes(&mut query), batch.doc.id(at).bytes(&mut doc)];
                if !take(start + at, (batch, at), ids) {
                    return;
                }
            }
        }
    }

    /// Returns the number, from 1, of the first batch that `lacks` something, such as positions or
    /// judges.
    pub fn first_batch(&self, lacks: impl Fn(&CheckedBatch<'_>) -> bool) -> Option<usize> {
        self.batches.iter().position(lacks).map(|at| at + 1)
    }

    /// Returns the index of the batch that a row is in.
    fn batch_of(&self, row: usize) -> usize {
        self.starts.partition_point(|&start| start <= row) - 1
    }

    /// Returns the batch that a row is in, and the index of the row in the batch.
    pub fn locate(&self, row: usize) -> (&CheckedBatch<'a>, usize) {
        let batch = self.batch_of(row);
        (&self.batches[batch], row - self.starts[batch])
    }

    /// Cuts a range of rows at the borders of batches: for each part, the index of the batch, and
    /// its rows there.
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (from, until) = (rows.start, rows.end);
        let first = self.batch_of(from);
        let batches = self.starts[first..].windows(2).zip(first..);
        batches.take_while(move |(ends, _)| ends[0] < until).filter_map(move |(ends, batch)| {
            let (start, end) = (from.max(ends[0]), until.min(ends[1]));
            (start < end).then(|| (batch, start - ends[0]..end - ends[0]))
        })
    }

    /// Returns the first row from `row` on that has another query than the row before.
    pub fn border(&self, row: usize) -> usize {
        for (batch, rows) in self.parts(row.min(self.rows())..self.rows()) {
            let query = &self.batches[batch].query;
            for at in rows {
                let same = match at.checked_sub(1) {
                    Some(before) => query.same(before, at),
                    None => self.continues(batch),
                };
                if !same {
                    return self.starts[batch] + at;
                }
            }
        }
        self.rows()
    }

    /// Returns whether a batch begins with the last query of the batch before. The batch has rows,
    /// and is not the first batch with rows.
    fn continues(&self, batch: usize) -> bool {
        let (before, last) = self.locate(self.starts[batch] - 1);
        before.query.id(last).is(self.batches[batch].query.id(0))
    }
}

/// Returns the hashes of all ids that are values of a dictionary.
fn hashes(values: &IdColumn<'_>, seed: Seed) -> Vec<HashedId> {
    let length = values.len();
    let of_rows = |start: usize| {
        let mut hashes = Vec::new();
        let rows = start..length.min(start + CHECKED);
        values.hash(rows, seed, None, &mut [], &mut hashes);
        hashes
    };
    if length <= CHECKED {
        return of_rows(0);
    }
    let starts = (0..length.div_ceil(CHECKED)).into_par_iter().map(|number| number * CHECKED);
    starts.map(of_rows).collect::<Vec<_>>().concat()
}

/// The dictionaries of a column's batches, each with the number of rows that have codes of the
/// dictionary. A dictionary that several batches in a row share is listed once.
#[derive(Default)]
struct Dictionaries<'a>(Vec<(IdColumn<'a>, usize)>);

impl<'a> Dictionaries<'a> {
    /// Returns the number of the dictionary that a column uses, listed if new; `None` without a
    /// dictionary.
    fn number(&mut self, column: &IdColumn<'a>) -> Option<u32> {
        let IdColumn::Dictionary { values, .. } = *column else { return None };
        // Only the last dictionary is compared, because batches that share one mostly follow one
        // another. A dictionary that is listed twice is only hashed twice.
        match self.0.last_mut() {
            Some((last, rows)) if last.is(values) => *rows += column.len(),
            _ => self.0.push((*values, column.len())),
        }
        Some(self.0.len() as u32 - 1)
    }

    /// Returns whether a look-up table by code is worth its cost for a dictionary of ids.
    fn pays(&self, number: u32) -> bool {
        let (values, rows) = self.0[number as usize];
        values.len() <= 2 * rows && !values.is_numeric()
    }
}

/// Rejects wrong ids among the values of the dictionary of a column.
fn check_dictionary(column: &IdColumn<'_>) -> Result<(), ColumnError> {
    let IdColumn::Dictionary { values, .. } = *column else { return Ok(()) };
    check_dictionary(values)?;
    values.check(0..values.len()).map_err(|ColumnError { row, message }| {
        let value = row.map_or(String::new(), |row| format!("value {row} of the dictionary: "));
        ColumnError { row: None, message: format!("{value}{message}") }
    })
}

/// The document ids in some rows of a run: in their columns, or as decimal text if they are
/// integers.
#[derive(Debug, Clone, Copy)]
pub struct PieceDocs<'a> {
    pub columns: &'a CheckedColumns<'a>,
    /// The first row of the piece.
    pub start: usize,
    pub digits: &'a [u8],
}

impl<'a> PieceDocs<'a> {
    /// Returns the first `length` bytes of the document id in a row.
    pub fn docno(&self, row: usize, length: usize) -> &'a [u8] {
        let (batch, at) = self.columns.locate(self.start + row);
        match batch.doc.id(at) {
            ColumnId::Bytes(bytes) => &bytes[..length],
            ColumnId::Integer(_) => &self.digits[row * LONGEST..][..length],
        }
    }

    /// Returns the given rank of the result in a row; `None` without ranks.
    pub fn rank(&self, row: usize) -> Option<i64> {
        let (batch, at) = self.columns.locate(self.start + row);
        batch.rank.and_then(|ranks| ranks.signed(at))
    }
}
