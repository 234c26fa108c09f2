//! Judgments by span: qrels of judged passages, joined with runs whose results are passages too.
//!
//! Such files are small beside runs of documents, and a retrieved passage gets no grade of its own.
//! What counts is the positions that the passage shares with judged passages. So all rows of a run
//! are collected, sorted by query and score, and walked once ([`CoveredSpans`]). Equal scores are
//! ordered by document, descending as in the default rule of ties, then by start and end,
//! ascending.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::picks::{PickedQueries, PickedQuery, Retrieved, RetrievedSpan, tie_sizes};
use super::qrels::{JudgedPassages, Qrels};
use super::run::{JoinContext, empty_run_message};
use super::validate::{check_stdin_once, finish};
use crate::bytes::hash::Seed;
use crate::bytes::input::{Input, RunInput, run_names};
use crate::bytes::interner::Interner;
use crate::columns::{CheckedColumns, QrelsColumns, RunColumns};
use crate::error::{Error, Problems, Result, printable};
use crate::format::open_input::OpenInput;
use crate::format::tables::{
    Table, TableBytes, TableColumns, TableFile, with_judgments, with_records,
};
use crate::format::{ColumnNames, InputFormat};
use crate::ids::{Ids, Unmatched};
use crate::judged_by::FacetKind;
use crate::lines::diagnostics::{self, FirstProblems, quoted, whole_file};
use crate::lines::dialect::Dialect;
use crate::lines::shape::Role;
use crate::matrix::{
    Codebook, GoldCounts, LabelMatrix, RunInfo, StagedPiece, StagedRow, StagedRun,
};
use crate::progress::check_stopped;
use crate::record::layout::{score_of_key, sort_key};
use crate::rule::TieBreak;
use crate::settings::Join;
use crate::spans::span_rows::{PassageRow, each_result, passage_of};
use crate::spans::{CoveredSpans, GoldPositions, GoldSpan, GoldSpans, Span};

impl Qrels {
    /// Makes qrels of judged passages (spans of documents), for runs whose results are passages.
    ///
    /// ```
    /// use laneval::spans::{GoldSpan, GoldSpans, Span};
    /// use laneval::{Input, Evaluator, FacetKind, Join, Qrels};
    /// let span = Span::new(10, 30).unwrap();
    /// let gold = GoldSpan { query: b"q1".to_vec(), doc: b"d1".to_vec(), span, grade: 1.0 };
    /// let qrels = Qrels::by_span(&GoldSpans::new("gold", [gold]))?;
    /// let run = b"query,doc,start,end,score\nq1,d1,0,20,0.9\n".to_vec();
    /// let join = Join { judged_by: Some(FacetKind::Span), ..Join::default() };
    /// let matrix = join.runs(&qrels, [Input::Bytes { name: "run".into(), bytes: run }])?;
    /// let scores = Evaluator::new(["SpanIoU"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("run", "SpanIoU"), Some(1.0 / 3.0)); // 10 of 30 positions
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Passages of one query with 2⁶⁴ or more positions in total; more than 253 distinct grades.
    pub fn by_span(gold: &GoldSpans) -> Result<Self> {
        Ok(judged(gold, Dialect::Laneval, Seed::random())?.for_any_dialect())
    }
}

/// Makes qrels of judged passages: sorted queries, distinct grades, and for each query the
/// positions of each grade.
fn judged(gold: &GoldSpans, dialect: Dialect, seed: Seed) -> Result<Qrels> {
    let mut queries: Vec<(&[u8], &[GoldSpan])> = gold.queries().collect();
    queries.sort_unstable_by_key(|(query, _)| *query);
    let spans = queries.iter().flat_map(|(_, spans)| *spans);
    // −0 is 0.
    let mut grades: Vec<f64> = spans.clone().map(|gold_span| gold_span.grade + 0.0).collect();
    grades.sort_unstable_by(f64::total_cmp);
    grades.dedup();
    let positions: Vec<GoldPositions> =
        queries.par_iter().map(|(_, spans)| GoldPositions::from_spans(spans, &grades)).collect();
    let mut lengths = Vec::with_capacity(queries.len() * grades.len());
    for ((query, _), of_query) in queries.iter().zip(&positions) {
        let of_query = of_query.lengths().ok_or_else(|| {
            let message =
                format!("the passages of query {} have 2⁶⁴ positions or more", quoted(query));
            Error::Input(whole_file(gold.name(), message))
        })?;
        lengths.extend(of_query);
    }
    let facts = GoldCounts::new(grades, lengths)
        .map_err(|message| Error::Input(whole_file(gold.name(), message)))?;
    // A sum of hashes, as of all judgments: it does not depend on the order of the passages.
    let (mut fingerprint, mut hashed) = (0u128, Vec::new());
    for gold_span in spans.clone() {
        hashed.clear();
        for part in [&gold_span.query, &gold_span.doc] {
            hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
            hashed.extend_from_slice(part);
        }
        let GoldSpan { span, grade, .. } = gold_span;
        for number in [span.start(), span.end(), (grade + 0.0).to_bits()] {
            hashed.extend_from_slice(&number.to_le_bytes());
        }
        fingerprint = fingerprint.wrapping_add(xxh3_128(&hashed));
    }
    let ids: Ids = queries.iter().map(|(query, _)| *query).collect();
    let given = spans.cloned().collect();
    let passages = JudgedPassages { facts: Arc::new(facts), positions, given };
    Ok(Qrels::empty(gold.name(), dialect, seed).with_passages(ids, passages, fingerprint))
}

/// A run whose results are passages (a document, a start and an end), while it is joined with
/// judged passages.
struct PassageRun<'q> {
    qrels: &'q Qrels,
    docs: Interner,
    /// The results for judged queries.
    rows: Vec<ReadPassage>,
    /// The queries without judgments.
    ignored: Interner,
    /// The number of all results, those for queries without judgments included.
    results: u64,
}

/// A result of a passage run for a judged query: document, span, and sort key of the score.
#[derive(Clone, Copy)]
struct ReadPassage {
    query: u32,
    doc: u32,
    span: Span,
    key: u64,
}

impl<'q> PassageRun<'q> {
    fn new(qrels: &'q Qrels) -> Self {
        let (docs, ignored) = (Interner::new(qrels.seed()), Interner::new(qrels.seed()));
        Self { qrels, docs, rows: Vec::new(), ignored, results: 0 }
    }

    /// Adds a result of a passage run, or notes its query as unjudged.
    ///
    /// # Errors
    /// A result of more than 2³² − 1 positions.
    fn add(&mut self, row: &PassageRow, joining: &JoinContext<'_>) -> Result<(), String> {
        let PassageRow { query, doc, span, value } = row;
        if span.length() > u64::from(u32::MAX) {
            let (doc, length) = (printable(doc), span.length());
            return Err(format!(
                "the span of '{doc}' has {length} positions, and a result at most {}",
                u32::MAX
            ));
        }
        self.results += 1;
        let Some(query_number) = self.qrels.query(query) else {
            self.ignored.insert(query);
            return Ok(());
        };
        if joining.drop_identical_ids && doc == query {
            return Ok(());
        }
        let (doc, _) = self.docs.insert(doc);
        let key = sort_key(*value, joining.rule.score);
        self.rows.push(ReadPassage { query: query_number, doc, span: *span, key });
        Ok(())
    }

    /// Sorts the results of a passage run by query and rank. The methods below rely on this order.
    fn ranked(mut self) -> Self {
        let ids = self.docs.ids();
        self.rows.par_sort_unstable_by(|one, other| {
            (one.query, one.key)
                .cmp(&(other.query, other.key))
                // Documents descend, as they do everywhere by default, and spans ascend.
                .then_with(|| ids.get(other.doc as usize).cmp(ids.get(one.doc as usize)))
                .then_with(|| one.span.cmp(&other.span))
        });
        self
    }
    /// Returns the results of each judged query of a sorted passage run.
    fn queries(&self) -> impl Iterator<Item = &[ReadPassage]> {
        self.rows.chunk_by(|one, next| one.query == next.query)
    }

    /// Walks down a query's ranking of passages, to `max_depth` results, and calls `take` with each
    /// result. `take` also gets the number of positions that no earlier result covered. Its last
    /// argument has, for each grade, the new positions in gold of at least the grade.
    fn walk(
        &self,
        of_query: &[ReadPassage],
        max_depth: usize,
        mut take: impl FnMut(&ReadPassage, u32, &[u64]),
    ) {
        let Some(gold) = self.qrels.passages() else { return };
        let Some(first) = of_query.first() else { return };
        let gold = &gold.positions[first.query as usize];
        let mut covered = CoveredSpans::default();
        for row in of_query.iter().take(max_depth) {
            let doc = self.docs.ids().get(row.doc as usize);
            let (new, of_grade) = covered.add(doc, row.span, gold);
            take(row, new as u32, &of_grade); // no more than its length
        }
    }

    /// Converts a passage run to rows of labels with the facts about the run, and its problems.
    fn staged(
        self,
        name: String,
        source: String,
        joining: &JoinContext<'_>,
    ) -> (StagedRun, Problems) {
        let max_depth = joining.rule.depth.map_or(usize::MAX, |depth| depth as usize);
        let mut piece = StagedPiece::default();
        for of_query in self.queries() {
            let mut depth = 0;
            self.walk(of_query, max_depth, |row, new, gold| {
                depth += 1;
                // Passages have position counts in the place of grades, and all have one label.
                piece.labels.push(Codebook::NOT_IN_QRELS);
                piece.spans.extend([row.span.length() as u32, new]); // checked when it was read
                piece.spans.extend(gold.iter().map(|&gold| gold as u32)); // no more than new ones
            });
            piece.rows.push(StagedRow { query: of_query[0].query, depth });
        }
        let joined = !piece.rows.is_empty();
        let PassageRun { ignored, results, .. } = self;
        let mut ignored: Vec<&[u8]> = ignored.ids().iter().collect();
        ignored.sort_unstable();
        let ignored = Unmatched::all(ignored);
        let info = RunInfo { name, source, results, ignored, ..RunInfo::default() };
        let nothing = empty_run_message(&info, joined, joining, String::new());
        let problems = nothing.map(|message| whole_file(&info.source, message)).unwrap_or_default();
        (StagedRun { info, pieces: vec![piece], ..StagedRun::default() }, problems)
    }

    /// Returns the ranking of a picked query with its passages; `None` if the run lacks the query.
    fn pick(&self, query: Option<u32>, max_depth: usize) -> Option<Vec<Retrieved>> {
        let of_query = self.queries().find(|rows| Some(rows[0].query) == query)?;
        let mut tied = tie_sizes(of_query, |row| row.key);
        let mut ranking = Vec::new();
        self.walk(of_query, max_depth, |row, new, gold| {
            ranking.push(Retrieved {
                docno: self.docs.ids().get(row.doc as usize).to_vec(),
                score: score_of_key(row.key),
                code: Codebook::NOT_IN_QRELS,
                grade: None,
                tied: tied.next().unwrap_or(1),
                span: Some(RetrievedSpan { span: row.span, new, gold: gold.to_vec() }),
            });
        });
        Some(ranking)
    }
}

/// A run of passages with its name, and the name of its source in messages.
type NamedRun<'q> = (String, String, PassageRun<'q>);

impl Join {
    /// Reads qrels of judged passages from a text or a table file.
    pub(crate) fn judged_passages(&self, input: Input) -> Result<Qrels> {
        self.check_passages()?;
        let text = Arc::new(input.open(self.access)?);
        let (given, seed) = (self.qrels_as.columns.as_ref(), Seed::random());
        let gold = match self.span_table(&text, Role::Qrels, given)? {
            None => GoldSpans::from_text(&text, given)?,
            Some(table) => with_judgments(&*table, |batches| {
                gold_of(
                    &CheckedColumns::from_judgments(&text.name, batches, seed)?
                        .check_file(Role::Qrels)?,
                )
            })?,
        };
        judged(&gold, self.dialect, seed)
    }

    /// Reads the columns of a table file with spans, such as Parquet; `None` if the input is no
    /// table file, or without a reader of such files.
    fn span_table(
        &self,
        text: &Arc<OpenInput>,
        role: Role,
        given: Option<&ColumnNames>,
    ) -> Result<Option<Box<dyn Table>>> {
        let Some(reader) = self.tables else { return Ok(None) };
        let Some(format) = InputFormat::detect_table(text.content().0) else { return Ok(None) };
        let columns = TableColumns::for_role(role, given, false).with_groups(Some(FacetKind::Span));
        let bytes = TableBytes::new(text).map_err(|error| Error::unreadable(&text.name, error))?;
        let read = reader.read(TableFile::new(format, bytes, columns));
        let options =
            if role == Role::Qrels { self.qrels_as.options } else { self.runs_as.options };
        read.map(Some).map_err(|wrong| Error::Input(wrong.problems(&text.name, options)))
    }

    /// Makes qrels of judged passages from columns in memory.
    pub(crate) fn judged_passages_of(&self, batches: &[QrelsColumns<'_>]) -> Result<Qrels> {
        let seed = Seed::random();
        let gold = gold_of(&CheckedColumns::from_judgments("qrels", batches, seed)?)?;
        judged(&gold, self.dialect, seed)
    }

    /// Reads qrels of judged passages and runs of passages, and joins them to a matrix.
    pub(crate) fn passage_files(&self, qrels: Input, runs: Vec<RunInput>) -> Result<LabelMatrix> {
        check_stdin_once(Some(&qrels), &runs)?;
        self.passage_runs(&self.judged_passages(qrels)?, runs)
    }

    /// Reads runs of passages, and joins them with judged passages to a matrix.
    pub(crate) fn passage_runs(&self, qrels: &Qrels, runs: Vec<RunInput>) -> Result<LabelMatrix> {
        self.passage_matrix(qrels, self.read_passages(qrels, runs)?)
    }

    fn read_passages<'q>(
        &self,
        qrels: &'q Qrels,
        runs: Vec<RunInput>,
    ) -> Result<Vec<NamedRun<'q>>> {
        self.check_passages()?;
        let names = run_names(&runs)?;
        let joining = self.context(qrels);
        let read = names.into_iter().zip(runs).collect::<Vec<_>>().into_par_iter();
        let read = read.map(|(name, run)| self.read_passage_run(name, run, qrels, &joining));
        read.collect::<Vec<_>>().into_iter().collect()
    }

    /// Reads a run of passages called `name` from a text or a table file, and ranks its results.
    fn read_passage_run<'q>(
        &self,
        name: String,
        run: RunInput,
        qrels: &'q Qrels,
        joining: &JoinContext<'_>,
    ) -> Result<NamedRun<'q>> {
        let text = Arc::new(run.input.open(self.access)?);
        check_stopped(self.watch())?;
        let mut results = PassageRun::new(qrels);
        let given = self.runs_as.columns.as_ref();
        match self.span_table(&text, Role::Run, given)? {
            None => each_result(&text, given, &mut |_, row| results.add(&row, joining))?,
            Some(table) => with_records(&*table, |batches| {
                let columns = CheckedColumns::from_run(&text.name, batches, qrels.seed())?;
                each_passage(&columns.check_file(Role::Run)?, Role::Run, |row| {
                    results.add(&row, joining)
                })
            })?,
        }
        Ok((name, text.name.clone(), results.ranked()))
    }

    /// Joins runs of passages, which are columns in memory, with judged passages to a matrix.
    pub(crate) fn passage_columns(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[RunColumns<'_>])],
    ) -> Result<LabelMatrix> {
        self.check_passages()?;
        let joining = JoinContext { may_be_empty: true, ..self.context(qrels) };
        let read = runs.par_iter().map(|&(name, batches)| {
            let columns = CheckedColumns::from_run(name, batches, qrels.seed())?;
            let mut results = PassageRun::new(qrels);
            each_passage(&columns, Role::Run, |row| results.add(&row, &joining))?;
            Ok((name.to_owned(), name.to_owned(), results.ranked()))
        });
        self.staged_passages(qrels, read.collect::<Result<_>>()?, &joining)
    }

    /// Makes the matrix of runs of passages.
    fn passage_matrix(&self, qrels: &Qrels, runs: Vec<NamedRun<'_>>) -> Result<LabelMatrix> {
        self.staged_passages(qrels, runs, &self.context(qrels))
    }

    fn staged_passages(
        &self,
        qrels: &Qrels,
        runs: Vec<NamedRun<'_>>,
        joining: &JoinContext<'_>,
    ) -> Result<LabelMatrix> {
        let staged =
            runs.into_par_iter().map(|(name, source, run)| run.staged(name, source, joining));
        let (runs, problems): (Vec<StagedRun>, Vec<Problems>) = staged.unzip();
        diagnostics::join(problems).into_result(())?;
        finish(qrels.matrix(self), runs)
    }

    /// Reads judged passages and runs of passages, and keeps the rankings of a few picked queries.
    pub(crate) fn picked_passages(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
    ) -> Result<PickedQueries> {
        check_stdin_once(Some(&qrels), &runs)?;
        let qrels = self.judged_passages(qrels)?;
        let runs = self.read_passages(&qrels, runs)?;
        let max_depth = self.depth.map_or(usize::MAX, |depth| depth.get() as usize);
        let picked = queries.iter().map(|id| {
            let number = qrels.query(id);
            PickedQuery {
                id: id.clone(),
                // The list is of judged documents, and passages are none: a judged query has an
                // empty list.
                judged: number.map(|_| Vec::new()),
                rankings: runs.iter().map(|(.., run)| run.pick(number, max_depth)).collect(),
            }
        });
        let queries = picked.collect();
        Ok(PickedQueries { queries, matrix: self.passage_matrix(&qrels, runs)? })
    }

    /// Rejects settings of ties, units, repeats and rows that have no meaning for runs of passages.
    fn check_passages(&self) -> Result<()> {
        let message = if self.ties != TieBreak::DocnoDescending || self.keep_ties {
            "judgments by span order equal scores by document, then by start and end: take no \
             other --ties"
        } else if self.aggregates() {
            "judgments by span count each position once, and results stay as they came: leave \
             --doc-id, --aggregate and --max-chunks out"
        } else {
            return Ok(());
        };
        Err(Error::Unanswerable(message.to_owned()))
    }
}

/// Collects the judged passages from columns, of a table file or of the caller.
fn gold_of(columns: &CheckedColumns<'_>) -> Result<GoldSpans> {
    let mut gold = Vec::new();
    each_passage(columns, Role::Qrels, |PassageRow { query, doc, span, value }| {
        gold.push(GoldSpan { query, doc, span, grade: value });
        Ok(())
    })?;
    Ok(GoldSpans::new(columns.name, gold))
}

/// Calls `take` with each passage of columns of qrels or of a run. A message that `take` returns
/// becomes a problem of the row.
fn each_passage(
    columns: &CheckedColumns<'_>,
    role: Role,
    mut take: impl FnMut(PassageRow) -> Result<(), String>,
) -> Result<()> {
    if let Some(batch) = columns.first_batch_without_spans() {
        let message =
            format!("batch {batch}: starts and ends are missing, and judgments are read by span");
        return Err(Error::Input(whole_file(columns.name, message)));
    }
    let mut problems = FirstProblems::<String>::default();
    columns.each_passage(|at, query, doc, span, value| {
        let row = passage_of(query, doc, span, value, role).and_then(&mut take);
        row.unwrap_or_else(|message| problems.add(columns.table_row(at as u64 + 1), || message));
        true
    });
    problems.into_listed(columns.name).into_result(())
}
