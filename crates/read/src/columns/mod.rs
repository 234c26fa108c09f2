//! Runs and judgments from columns in memory, borrowed as they lie.
//!
//! It must never know of text formats, records and rankings.
//!
//! ```text
//! text, numbers   the shapes of columns: ids in Arrow's layouts, dictionaries, integers, slices;
//!                 floats and integers of any width
//! decimal         integers as ids
//! (here)          batches of columns, checked, as one sequence of rows
//! collected       rows of an iterator, as columns
//! pending         rows of a query that may continue in the next batch
//! keys            the buffers of a worker: sort keys, wrong rows, integers as text
//! wrong           errors of columns
//! ```
//!
//! A query is looked up once for the rows that follow one another, and a code of a dictionary once.
//! The hash of a document that is a code is made once as well. Only integers are copied, as text,
//! and only until their query is ranked.

pub mod collected;
pub mod decimal;
pub mod keys;
pub mod numbers;
pub mod pending;
pub mod text;
pub mod wrong;

use std::ops::Range;

use rayon::prelude::*;

use crate::bytes::hash::Seed;
use crate::error::{Error, Problem, Problems, Result};
use crate::lines::diagnostics;
use crate::lines::layout::{Order, RankColumn};
use crate::lines::shape::Role;
use crate::numbers::{Integers, Numbers};
pub use collected::Collected;
use decimal::LONGEST;
pub use keys::ColumnScratch;
pub use pending::PendingQuery;
pub use text::Text;
use text::{ColumnId, HashedId};
use wrong::WrongColumn;
pub use wrong::{is_fine, not_fine};

/// Results of a run, a result in each row: whole columns of equal length, or a batch of rows.
///
/// ```
/// use laneval::columns::{Records, Text};
/// use laneval::{Join, Qrels};
///
/// let qrels = Qrels::new([("q1", "d7", 1.0), ("q2", "d9", 2.0)])?;
/// let queries = ["q1", "q1", "q2"];
/// let documents = Text::Utf8 { offsets: &[0, 2, 4, 6], bytes: b"d7d8d9" };
/// let run = [Records::scored(&queries, documents, &[2.5f32, 1.5, 0.5])];
/// let matrix = Join::default().columns(&qrels, &[("mine", &run)])?;
/// assert_eq!(matrix.depths(), [2, 1]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// The queries.
    pub query: Text<'a>,
    /// The documents.
    pub doc: Text<'a>,
    /// The scores: higher is better. ±∞ are scores, NaN is an error.
    pub score: Option<Numbers<'a>>,
    /// The ranks: lower is better. Scores decide if present; otherwise ranks decide, and no two
    /// documents of a query may share a rank.
    pub rank: Option<Integers<'a>>,
    /// The first positions of the results, and the positions behind their ends, for passages
    /// ([`JudgedBy::Span`](crate::judged_by::JudgedBy::Span)).
    pub span: Option<[Integers<'a>; 2]>,
    /// The end of the results of each row of the caller's table, if its rows have lists of
    /// documents. Then problems name the rows of the table.
    pub lists: Option<&'a [usize]>,
}

impl<'a> Records<'a> {
    /// Makes results that are ranked by score.
    pub fn scored(
        query: impl Into<Text<'a>>,
        doc: impl Into<Text<'a>>,
        score: impl Into<Numbers<'a>>,
    ) -> Self {
        Records {
            query: query.into(),
            doc: doc.into(),
            score: Some(score.into()),
            rank: None,
            span: None,
            lists: None,
        }
    }

    /// Makes results with their ranks.
    pub fn ranked(
        query: impl Into<Text<'a>>,
        doc: impl Into<Text<'a>>,
        rank: impl Into<Integers<'a>>,
    ) -> Self {
        Records {
            query: query.into(),
            doc: doc.into(),
            score: None,
            rank: Some(rank.into()),
            span: None,
            lists: None,
        }
    }

    /// Adds the first position of each row, and the one behind its last.
    ///
    /// ```
    /// use laneval::columns::{Judgments, Records};
    /// use laneval::{Evaluator, JudgedBy, Join};
    ///
    /// let join = Join { judged_by: Some(JudgedBy::Span), ..Join::default() };
    /// let gold = Judgments::new(&["q1"], &["d1"], &[1i8]).with_spans(&[10u32], &[30u32]);
    /// let run = Records::scored(&["q1", "q1"], &["d1", "d1"], &[2.0, 1.0])
    ///     .with_spans(&[0u32, 15], &[20u32, 40]);
    /// let matrix = join.columns(&join.judgments(&[gold])?, &[("mine", &[run])])?;
    /// let scores = Evaluator::new(["SpanR@1", "SpanP"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "SpanR@1"), Some(0.5));
    /// assert_eq!(scores.average("mine", "SpanP"), Some(0.5)); // 20 gold positions of 40
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn with_spans(self, start: impl Into<Integers<'a>>, end: impl Into<Integers<'a>>) -> Self {
        Records { span: Some([start.into(), end.into()]), ..self }
    }
}

/// Judgments, a judgment in each row: whole columns of equal length, or a batch of rows.
///
/// ```
/// use laneval::columns::Judgments;
/// use laneval::{Dialect, Qrels};
///
/// let judgments = Judgments::new(&[1u32, 1, 2], &["d1", "d2", "d1"], &[1i8, 0, 2]);
/// let qrels = Qrels::columns(&[judgments], Dialect::Laneval)?;
/// assert_eq!(qrels.queries().iter().collect::<Vec<_>>(), [b"1", b"2"]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Judgments<'a> {
    /// The queries.
    pub query: Text<'a>,
    /// The documents.
    pub doc: Text<'a>,
    /// The grades: finite numbers, below 0 for a document that is pooled, but not judged; or the
    /// levels of preferences.
    pub grade: Numbers<'a>,
    /// The judges, subtopics or groups of preferences, as
    /// `Join::judged_by` asks for.
    pub group: Option<Text<'a>>,
    /// The sub-groups of preferences.
    pub subgroup: Option<Text<'a>>,
    /// The positions where the judged passages begin, and those behind their ends, for judgments by
    /// span.
    pub span: Option<[Integers<'a>; 2]>,
    /// Where the judgments of each row of the caller's table end, if its rows have lists of
    /// documents. Then problems are told by the rows of the table.
    pub lists: Option<&'a [usize]>,
}

impl<'a> Judgments<'a> {
    /// Makes judgments of these columns.
    pub fn new(
        query: impl Into<Text<'a>>,
        doc: impl Into<Text<'a>>,
        grade: impl Into<Numbers<'a>>,
    ) -> Self {
        let (query, doc, grade) = (query.into(), doc.into(), grade.into());
        Judgments { query, doc, grade, group: None, subgroup: None, span: None, lists: None }
    }

    /// Adds the judge, the subtopic or the group of preferences of each row.
    ///
    /// ```
    /// use laneval::columns::Judgments;
    /// use laneval::{Evaluator, JudgedBy, Join};
    ///
    /// let judgments =
    ///     Judgments::new(&["q1", "q1"], &["d1", "d1"], &[1i8, 0]).with_groups(&["ann", "bob"]);
    /// let join = Join { judged_by: Some(JudgedBy::Judge), ..Join::default() };
    /// let matrix = join
    ///     .rankings(&join.judgments(&[judgments])?, [("mine".to_owned(), [("q1", "d1", 0.5)])])?;
    /// let scores = Evaluator::new(["P(judges=mean)@1"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "P(judges=mean)@1"), Some(0.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn with_groups(self, group: impl Into<Text<'a>>) -> Self {
        Judgments { group: Some(group.into()), ..self }
    }

    /// Adds the first position of each judged passage, and the one behind its last: see
    /// [`Records::with_spans`].
    pub fn with_spans(self, start: impl Into<Integers<'a>>, end: impl Into<Integers<'a>>) -> Self {
        Judgments { span: Some([start.into(), end.into()]), ..self }
    }
}

/// The values that rows are sorted by, or their grades.
#[derive(Debug, Clone, Copy)]
pub enum SortValue<'a> {
    Number(Numbers<'a>),
    Rank(Integers<'a>),
}

impl SortValue<'_> {
    fn len(&self) -> usize {
        match self {
            SortValue::Number(numbers) => numbers.len(),
            SortValue::Rank(ranks) => ranks.len(),
        }
    }
}

/// A batch of rows with checked columns.
#[derive(Debug)]
pub struct CheckedBatch<'a> {
    pub query: Text<'a>,
    pub doc: Text<'a>,
    pub value: SortValue<'a>,
    pub rank: Option<Integers<'a>>,
    /// The groups and the sub-groups of judgments.
    pub groups: [Option<Text<'a>>; 2],
    /// The first position of each row, and the position behind its end.
    pub span: Option<[Integers<'a>; 2]>,
    /// The end of the rows of each list, for a table with lists in its rows.
    pub lists: Option<&'a [usize]>,
    /// The dictionary of the queries, if a table of its codes pays.
    pub queries: Option<u32>,
    /// The dictionary of the documents, if a table of its hashes pays.
    pub docs: Option<u32>,
}

/// All rows of a run or of judgments.
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
    /// Takes the results of a run called `name`.
    pub fn of_run(name: &'a str, records: &[Records<'a>], seed: Seed) -> Result<Self> {
        let batch = |records: &Records<'a>| {
            let Records { query, doc, score, rank, span, lists } = *records;
            let value = match (score, rank) {
                (Some(scores), _) => SortValue::Number(scores),
                (None, Some(ranks)) => SortValue::Rank(ranks),
                (None, None) => return Err("has neither scores nor ranks"),
            };
            Ok(CheckedBatch {
                query,
                doc,
                value,
                rank,
                groups: [None; 2],
                span,
                lists,
                queries: None,
                docs: None,
            })
        };
        let is_ranked = |batch: &CheckedBatch<'_>| matches!(batch.value, SortValue::Rank(_));
        let columns = Self::new(name, records.iter().map(batch), seed)?;
        match columns.batches.iter().position(|batch| is_ranked(batch) != columns.is_ranked()) {
            Some(other) => {
                Err(columns.wrong_batch(other, "some batches have scores, and others ranks alone"))
            }
            None => Ok(columns),
        }
    }

    /// Takes the judgments called `name`.
    pub fn of_judgments(name: &'a str, judgments: &[Judgments<'a>], seed: Seed) -> Result<Self> {
        let batch =
            |&Judgments { query, doc, grade, group, subgroup, span, lists }: &Judgments<'a>| {
                let (value, groups) = (SortValue::Number(grade), [group, subgroup]);
                Ok(CheckedBatch {
                    query,
                    doc,
                    value,
                    rank: None,
                    groups,
                    span,
                    lists,
                    queries: None,
                    docs: None,
                })
            };
        Self::new(name, judgments.iter().map(batch), seed)
    }

    fn new(
        name: &'a str,
        batches: impl Iterator<Item = Result<CheckedBatch<'a>, &'static str>>,
        seed: Seed,
    ) -> Result<Self> {
        let mut columns = CheckedColumns {
            name,
            batches: Vec::new(),
            starts: vec![0],
            hashes: Vec::new(),
            numeric: false,
        };
        for (number, batch) in batches.enumerate() {
            let batch = batch.map_err(|message| columns.wrong_batch(number, message))?;
            let lengths = [batch.query.len(), batch.doc.len(), batch.value.len()];
            let rows = lengths[0];
            let is_other = |groups: &Text<'_>| groups.len() != rows;
            if lengths != [rows; 3]
                || batch.rank.is_some_and(|ranks| ranks.len() != rows)
                || batch.groups.iter().flatten().any(is_other)
                || batch.span.iter().flatten().any(|positions| positions.len() != rows)
            {
                return Err(columns.wrong_batch(number, &batch.lengths()));
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

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Returns whether ranks decide.
    pub fn is_ranked(&self) -> bool {
        self.batches.first().is_some_and(|batch| matches!(batch.value, SortValue::Rank(_)))
    }

    /// Returns the sort order of the results.
    pub fn order(&self) -> Order {
        if self.is_ranked() {
            Order::Ranks
        } else if self.batches.iter().all(|batch| batch.rank.is_some()) {
            Order::Scores { ranks: RankColumn::Behind }
        } else {
            Order::Scores { ranks: RankColumn::None }
        }
    }

    fn wrong_batch(&self, number: usize, message: &str) -> Error {
        let message = format!("batch {}: {message}", number + 1);
        Error::Input(WrongColumn { row: None, message }.problems(self.name, 0))
    }

    /// Checks every column and its dictionaries, in parallel.
    fn check(&self) -> Result<()> {
        let parts = self.parts_to_check();
        let check =
            |(batch, rows): &(usize, Range<usize>)| self.check_rows(*batch, rows.clone()).err();
        let wrong = match parts.len() {
            0 | 1 => parts.iter().find_map(check),
            _ => parts.par_iter().find_map_first(check),
        };
        wrong.map_or(Ok(()), |mut problems| {
            self.name_rows(&mut problems);
            Err(Error::Input(problems))
        })
    }

    /// Cuts all rows into parts: for each, the index of its batch, and its rows there.
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

    /// Returns the row of the caller's table, from 1, to which a row, from 1, belongs: another one
    /// where the rows of the table have lists.
    pub fn table_row(&self, row: u64) -> u64 {
        let at = usize::try_from(row).ok().and_then(|row| row.checked_sub(1));
        let Some(at) = at.filter(|&at| at < self.rows()) else { return row };
        let batch = self.starts[1..].partition_point(|&end| end <= at);
        let (mut before, mut of_batch) = (0, at);
        for (number, CheckedBatch { lists, .. }) in self.batches.iter().enumerate().take(batch + 1)
        {
            let (start, end) = (self.starts[number], self.starts[number + 1]);
            if number == batch {
                of_batch =
                    lists.map_or(at - start, |ends| ends.partition_point(|&end| end <= at - start));
            } else {
                before += lists.map_or(end - start, <[usize]>::len);
            }
        }
        (before + of_batch) as u64 + 1
    }

    /// Rejects columns of a file with an empty query, document or group, or with a number that is
    /// not finite. Readers of text reject such rows too.
    ///
    /// # Errors
    /// The rows with an empty value or a number that is not finite.
    pub fn of_a_file(self, role: Role) -> Result<Self> {
        let parts = self.parts_to_check();
        let wrong: Vec<Problems> = parts
            .par_iter()
            .map(|(batch, rows)| self.unlike_text(*batch, rows.clone(), role))
            .collect();
        let mut problems = diagnostics::join(wrong);
        self.name_rows(&mut problems);
        if problems.first.is_empty() { Ok(self) } else { Err(Error::Input(problems)) }
    }

    /// Replaces the numbers of rows in problems by those of rows of the caller's table.
    fn name_rows(&self, problems: &mut Problems) {
        problems.first.iter_mut().for_each(|problem| problem.line = self.table_row(problem.line));
    }

    /// Returns the problems of rows of a batch that text cannot have.
    fn unlike_text(&self, batch: usize, rows: Range<usize>, role: Role) -> Problems {
        let (first, CheckedBatch { query, doc, value, groups, .. }) =
            (self.starts[batch], &self.batches[batch]);
        let has_no_group =
            |rows: Range<usize>| groups[0].is_some_and(|group| group.has_empty(rows));
        let is_finite = match value {
            SortValue::Number(numbers) => rows.clone().all(|row| numbers.get(row).is_finite()),
            SortValue::Rank(_) => true,
        };
        if is_finite
            && !query.has_empty(rows.clone())
            && !doc.has_empty(rows.clone())
            && !has_no_group(rows.clone())
        {
            return Problems::default();
        }
        let mut problems = Problems::default();
        for row in rows {
            let number = match value {
                SortValue::Number(numbers) => {
                    Some(numbers.get(row)).filter(|number| !number.is_finite())
                }
                SortValue::Rank(_) => None,
            };
            let message = match number {
                _ if query.has_empty(row..row + 1) => "the query is empty".to_owned(),
                _ if doc.has_empty(row..row + 1) => "the document is empty".to_owned(),
                _ if has_no_group(row..row + 1) => "the group is empty".to_owned(),
                Some(number) if number.is_nan() => not_fine(role, number),
                Some(number) => format!("{} {number} is not a finite number", role.number()),
                None => continue,
            };
            if problems.first.len() < Problems::LIMIT {
                let line = (first + row) as u64 + 1;
                problems.first.push(Problem { file: self.name.to_owned(), line, message });
            } else {
                problems.more += 1;
            }
        }
        problems
    }

    fn check_rows(&self, batch: usize, rows: Range<usize>) -> Result<(), Problems> {
        let CheckedBatch { query, doc, value, rank, groups, .. } = &self.batches[batch];
        let first = rows.start == 0;
        let ids = |text: &Text<'_>, column: &str| {
            if first {
                check_dictionary(text).map_err(|wrong| wrong.of(column))?;
            }
            text.check(rows.clone()).map_err(|wrong| wrong.of(column))
        };
        // Of the other types no value is so large, and a look at each would take a tenth of the
        // time of a run.
        let ranks = |ranks: &Integers<'_>| match ranks {
            Integers::U64(all) => {
                match rows.clone().find(|&row| i64::try_from(all[row]).is_err()) {
                    Some(row) => {
                        Err(WrongColumn::at(row, "rank: an integer of 2⁶³ or more".to_owned()))
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        };
        let all = || {
            ids(query, "query")?;
            ids(doc, "doc")?;
            groups.iter().flatten().try_for_each(|groups| ids(groups, "group"))?;
            match (value, rank) {
                (SortValue::Rank(all), _) | (_, Some(all)) => ranks(all),
                _ => Ok(()),
            }
        };
        all().map_err(|wrong: WrongColumn| wrong.problems(self.name, self.starts[batch]))
    }

    /// Numbers the dictionaries for which a table of codes pays, because they have not many more
    /// values than rows. Hashes documents.
    fn number_dictionaries(&mut self, seed: Seed) {
        let (mut queries, mut docs) = (Dictionaries::default(), Dictionaries::default());
        for batch in &mut self.batches {
            batch.queries = queries.number(&batch.query);
            batch.docs = docs.number(&batch.doc);
        }
        for batch in &mut self.batches {
            batch.queries = batch.queries.filter(|&number| queries.pays(number));
            batch.docs = batch.docs.filter(|&number| docs.pays(number));
        }
        let worth = |(number, (values, _)): (u32, &(Text<'a>, usize))| {
            if docs.pays(number) { hashes(values, seed) } else { Vec::new() }
        };
        self.hashes = (0..).zip(&docs.0).map(worth).collect();
    }

    /// Passes rows to `take` until it returns `false`: the number of the row, the query, the
    /// document, the number (−rank if ranks decide), and the rank.
    pub fn each_row(&self, mut take: impl FnMut(usize, &[u8], &[u8], f64, Option<i64>) -> bool) {
        let (mut query, mut doc) = ([0; LONGEST], [0; LONGEST]);
        for (batch, start) in self.batches.iter().zip(&self.starts) {
            for at in 0..batch.query.len() {
                let (number, rank) = match batch.value {
                    SortValue::Number(numbers) => {
                        (numbers.get(at), batch.rank.and_then(|ranks| ranks.signed(at)))
                    }
                    SortValue::Rank(ranks) => {
                        let rank = ranks.signed(at);
                        (rank.map_or(f64::NAN, |rank| -(rank as f64)), rank)
                    }
                };
                let ids = (batch.query.id(at), batch.doc.id(at));
                if !take(start + at, ids.0.bytes(&mut query), ids.1.bytes(&mut doc), number, rank) {
                    return;
                }
            }
        }
    }

    /// Passes judgments of some rows to `take` until it returns `false`: the number of the row, the
    /// query, the group and the sub-group, the document, and the grade. Columns outside the batch
    /// give empty values.
    pub fn each_grouped(
        &self,
        rows: Range<usize>,
        mut take: impl FnMut(usize, &[u8], [&[u8]; 2], &[u8], f64) -> bool,
    ) {
        let mut digits = [[0; LONGEST]; 4];
        for (number, rows) in self.parts(rows) {
            let (batch, start) = (&self.batches[number], self.starts[number]);
            let SortValue::Number(grades) = batch.value else { continue };
            for at in rows {
                let [query, doc, group, subgroup] = &mut digits;
                let of = |groups: Option<Text<'a>>| {
                    groups.map_or(ColumnId::Bytes(b""), |groups| groups.id(at))
                };
                let [group_id, subgroup_id] = batch.groups.map(of);
                let groups = [group_id.bytes(group), subgroup_id.bytes(subgroup)];
                let (query, doc) = (batch.query.id(at).bytes(query), batch.doc.id(at).bytes(doc));
                if !take(start + at, query, groups, doc, grades.get(at)) {
                    return;
                }
            }
        }
    }

    /// Passes each stretch of consecutive rows of a query to `take`: the query, and the rows. The
    /// next stretch may be of the same query.
    pub fn each_stretch(&self, mut take: impl FnMut(&[u8], Range<usize>)) {
        let mut digits = [0; LONGEST];
        for (batch, start) in self.batches.iter().zip(&self.starts) {
            let (rows, mut first) = (0..batch.query.len(), 0);
            let mut end_at = |end: usize| {
                if first < end {
                    take(batch.query.id(first).bytes(&mut digits), start + first..start + end);
                    first = end;
                }
            };
            batch.query.each_change(rows.clone(), &mut end_at);
            end_at(rows.end);
        }
    }

    /// Passes passages to `take` until it returns `false`: the number of the row, the query, the
    /// document, the first position and the one behind the last, and the score or the grade; ranks
    /// are scores below 0. Batches without positions are skipped.
    pub fn each_passage(&self, mut take: impl FnMut(usize, &[u8], &[u8], [i128; 2], f64) -> bool) {
        let mut digits = [[0; LONGEST]; 2];
        for (batch, start) in self.batches.iter().zip(&self.starts) {
            let Some(span) = batch.span else { continue };
            for at in 0..batch.query.len() {
                let [query, doc] = &mut digits;
                let (query, doc) = (batch.query.id(at).bytes(query), batch.doc.id(at).bytes(doc));
                let value = match batch.value {
                    SortValue::Number(numbers) => numbers.get(at),
                    SortValue::Rank(ranks) => -(ranks.get(at) as f64),
                };
                if !take(start + at, query, doc, span.map(|positions| positions.get(at)), value) {
                    return;
                }
            }
        }
    }

    /// Returns the number of the first batch without positions, from 1.
    pub fn without_spans(&self) -> Option<usize> {
        self.batches.iter().position(|batch| batch.span.is_none()).map(|at| at + 1)
    }

    /// Returns the number of the first batch without groups, from 1.
    pub fn without_groups(&self) -> Option<usize> {
        self.batches.iter().position(|batch| batch.groups[0].is_none()).map(|at| at + 1)
    }

    /// Returns whether any batch has sub-groups.
    pub fn have_subgroups(&self) -> bool {
        self.batches.iter().any(|batch| batch.groups[1].is_some())
    }

    /// Returns the batch of a row, and the number of the row there.
    pub fn locate(&self, row: usize) -> (&CheckedBatch<'a>, usize) {
        let batch = self.starts.partition_point(|&start| start <= row) - 1;
        (&self.batches[batch], row - self.starts[batch])
    }

    /// Cuts some rows by batch: for each part, the index of the batch, and its rows there.
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = self.starts.partition_point(|&start| start <= rows.start).saturating_sub(1);
        let batches = self.starts[first..].windows(2).zip(first..);
        let part = move |(ends, batch): (&[usize], usize)| {
            let (start, end) = (rows.start.max(ends[0]), rows.end.min(ends[1]));
            (start < end).then(|| (batch, start - ends[0]..end - ends[0]))
        };
        let end = rows.end;
        batches.take_while(move |(ends, _)| ends[0] < end).filter_map(part)
    }
}

/// Returns the hashes of all values of a dictionary.
fn hashes(values: &Text<'_>, seed: Seed) -> Vec<HashedId> {
    let part = |rows: Range<usize>| {
        let mut hashes = Vec::new();
        values.hash(rows, seed, None, &mut [], &mut hashes);
        hashes
    };
    let length = values.len();
    if length <= CHECKED {
        return part(0..length);
    }
    let starts = (0..length.div_ceil(CHECKED)).into_par_iter().map(|number| number * CHECKED);
    let parts: Vec<Vec<HashedId>> =
        starts.map(|start| part(start..length.min(start + CHECKED))).collect();
    parts.concat()
}

/// Dictionaries of columns, with the number of rows that have codes of each dictionary. A
/// dictionary that several batches in a row share is listed once.
#[derive(Default)]
struct Dictionaries<'a>(Vec<(Text<'a>, usize)>);

impl<'a> Dictionaries<'a> {
    /// Returns the number of a column's dictionary; `None` without a dictionary.
    fn number(&mut self, column: &Text<'a>) -> Option<u32> {
        let Text::Coded { values, .. } = *column else { return None };
        match self.0.last_mut() {
            Some((last, rows)) if last.is(values) => *rows += column.len(),
            _ => self.0.push((*values, column.len())),
        }
        Some(self.0.len() as u32 - 1)
    }

    /// Returns whether a table of the codes of a dictionary pays.
    fn pays(&self, number: u32) -> bool {
        let (values, rows) = self.0[number as usize];
        values.len() <= 2 * rows && !values.is_numeric()
    }
}

/// Checks the values of the dictionary of a column.
fn check_dictionary(column: &Text<'_>) -> Result<(), WrongColumn> {
    let Text::Coded { values, .. } = *column else { return Ok(()) };
    check_dictionary(values)?;
    values.check(0..values.len()).map_err(|WrongColumn { row, message }| {
        let value = row.map_or(String::new(), |row| format!("value {row} of the dictionary: "));
        WrongColumn { row: None, message: format!("{value}{message}") }
    })
}

impl CheckedBatch<'_> {
    /// Returns the message for columns of different lengths.
    fn lengths(&self) -> String {
        let value = match self.value {
            SortValue::Number(_) => "numbers",
            SortValue::Rank(_) => "ranks",
        };
        let rank = match (self.value, self.rank) {
            (SortValue::Number(_), Some(ranks)) => format!(", {} ranks", ranks.len()),
            _ => String::new(),
        };
        let groups =
            self.groups[0].map_or(String::new(), |groups| format!(", {} groups", groups.len()));
        let span = self.span.map_or(String::new(), |[start, end]| {
            format!(", {} starts, {} ends", start.len(), end.len())
        });
        let (queries, docs, values) = (self.query.len(), self.doc.len(), self.value.len());
        format!(
            "{queries} queries, {docs} documents, {values} {value}{rank}{groups}{span}: columns \
             have the same length"
        )
    }
}

/// The documents of a piece: in their columns, or, if they are integers, as text in memory of their
/// own.
#[derive(Debug, Clone, Copy)]
pub struct PieceDocs<'a> {
    columns: &'a CheckedColumns<'a>,
    /// The first row of the piece.
    start: usize,
    digits: &'a [u8],
}

impl<'a> PieceDocs<'a> {
    pub fn new(columns: &'a CheckedColumns<'a>, start: usize, digits: &'a [u8]) -> Self {
        PieceDocs { columns, start, digits }
    }

    /// Returns the first `length` bytes of the document of a row of the piece.
    pub fn docno(&self, row: usize, length: usize) -> &'a [u8] {
        let (batch, at) = self.columns.locate(self.start + row);
        match batch.doc.id(at) {
            ColumnId::Bytes(bytes) => &bytes[..length],
            ColumnId::Integer(_) => &self.digits[row * LONGEST..][..length],
        }
    }

    /// Returns the rank of a row of the piece; `None` without ranks.
    pub fn rank(&self, row: usize) -> Option<i64> {
        let (batch, at) = self.columns.locate(self.start + row);
        batch.rank.and_then(|ranks| ranks.signed(at))
    }
}

impl CheckedColumns<'_> {
    /// Returns the first row from `row` on with another query than the row before.
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

    /// Checks whether a batch begins with the last query of the batch before. The batch has rows,
    /// and is not the first batch with rows.
    fn continues(&self, batch: usize) -> bool {
        let (before, last) = self.locate(self.starts[batch] - 1);
        before.query.id(last).is(self.batches[batch].query.id(0))
    }
}
