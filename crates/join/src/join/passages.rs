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

use super::{
    aggregate::AggregateCounts,
    exclusion::{DroppedDocs, ExclusionCounts},
    picks::{PickedQueries, PickedQuery, Retrieved, RetrievedSpan, tie_sizes},
    qrels::{JudgedPassages, Qrels},
    run::{JoinContext, empty_run, unjudged},
    validate::{check_stdin_once, finish},
};
use crate::bytes::{
    hash::Seed,
    input::{Input, RunInput, run_names},
    interner::Interner,
};
use crate::columns::{CheckedColumns, QrelsColumns, RunColumns};
use crate::error::{Error, Problems, Result, printable};
use crate::format::{
    InputFormat, ReadOptions,
    open_input::OpenInput,
    tables::{Table, TableColumns, TableFile, with_judgments, with_records},
};
use crate::judged_by::FacetKind;
use crate::lines::{
    diagnostics::{self, FirstProblems, quoted, whole_file},
    dialect::Dialect,
    shape::Role,
};
use crate::matrix::{
    Codebook, GoldCounts, LabelMatrix, RunInfo, StagedPiece, StagedRow, StagedRun,
};
use crate::progress::check_stopped;
use crate::record::layout::{score_of_key, sort_key};
use crate::rule::TieBreak;
use crate::settings::Join;
use crate::spans::{
    CoveredSpans, GoldPositions, GoldSpan, GoldSpans, Span,
    span_rows::{PassageRow, each_result, passage_of},
};

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
        Ok(judged(gold, Dialect::Laneval, Seed::random())?.with_dialect(None))
    }
}

/// Makes qrels of judged passages: sorted queries, distinct grades, and for each query the
/// positions of each grade.
fn judged(gold: &GoldSpans, dialect: Dialect, seed: Seed) -> Result<Qrels> {
    let mut queries: Vec<_> = gold.queries().collect();
    queries.sort_unstable_by_key(|(query, _)| *query);
    let spans = queries.iter().flat_map(|(_, spans)| *spans);
    // −0 is 0.
    let mut grades: Vec<f64> = spans.clone().map(|gold_span| gold_span.grade + 0.0).collect();
    grades.sort_unstable_by(f64::total_cmp);
    grades.dedup();
    let positions: Vec<_> =
        queries.par_iter().map(|(_, spans)| GoldPositions::from_spans(spans, &grades)).collect();
    let wrong = |message| whole_file(gold.name(), message);
    let mut lengths = Vec::with_capacity(queries.len() * grades.len());
    for ((query, _), of_query) in queries.iter().zip(&positions) {
        let of_query = of_query.lengths().ok_or_else(|| {
            wrong(format!("the passages of query {} have 2⁶⁴ positions or more", quoted(query)))
        })?;
        lengths.extend(of_query);
    }
    let facts = GoldCounts::new(grades, lengths).map_err(wrong)?;
    // A sum of hashes, as of all judgments: it does not depend on the order of the passages.
    let (mut fingerprint, mut hashed) = (0u128, Vec::new());
    for GoldSpan { query, doc, span, grade } in spans.clone() {
        hashed.clear();
        for part in [query, doc] {
            hashed.extend((part.len() as u64).to_le_bytes());
            hashed.extend_from_slice(part);
        }
        for number in [span.start(), span.end(), (grade + 0.0).to_bits()] {
            hashed.extend(number.to_le_bytes());
        }
        fingerprint = fingerprint.wrapping_add(xxh3_128(&hashed));
    }
    let given = spans.cloned().collect();
    let mut qrels = Qrels::empty(gold.name(), dialect, seed);
    queries.iter().for_each(|_| qrels.facts.push([]));
    qrels.queries = Interner::from_ids(queries.iter().map(|(query, _)| *query).collect(), seed);
    qrels.passages = Some(JudgedPassages { facts: Arc::new(facts), positions, given });
    qrels.fingerprint = fingerprint;
    Ok(qrels)
}

/// A run whose results are passages (a document, a start and an end), while it is joined with
/// judged passages.
struct PassageRun<'q> {
    joining: &'q JoinContext<'q>,
    /// The name of the run, of its source in messages, and the number of all its results, those for
    /// queries without judgments included.
    info: RunInfo,
    docs: Interner,
    /// The results for judged queries.
    rows: Vec<ReadPassage>,
    /// The queries without judgments.
    ignored: Interner,
    excluded: ExclusionCounts,
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
    fn new(joining: &'q JoinContext<'q>, name: String, source: String) -> Self {
        let seed = joining.qrels.seed();
        let (docs, ignored) = (Interner::new(seed), Interner::new(seed));
        let info = RunInfo { name, source, ..RunInfo::default() };
        let excluded = ExclusionCounts::default();
        Self { joining, info, docs, rows: Vec::new(), ignored, excluded }
    }

    /// Adds a result of a passage run, or notes its query as unjudged.
    ///
    /// # Errors
    /// A result of more than 2³² − 1 positions.
    fn add(&mut self, row: &PassageRow) -> Result<(), String> {
        let PassageRow { query, doc, span, value } = row;
        fault_if!(
            span.length() > u64::from(u32::MAX),
            "the span of '{}' has {} positions, and a result at most {}",
            printable(doc),
            span.length(),
            u32::MAX
        );
        self.info.results += 1;
        let JoinContext { qrels, rule, join, .. } = self.joining;
        let Some(query_number) = qrels.query(query) else {
            self.ignored.insert(query);
            return Ok(());
        };
        if DroppedDocs::new(join, query).has(doc, &mut self.excluded) {
            return Ok(());
        }
        let (doc, _) = self.docs.insert(doc);
        let key = sort_key(*value, rule.score);
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

    /// Walks down a query's ranking of passages, to the depth of the join, and calls `take` with
    /// each result. `take` also gets the number of positions that no earlier result covered. Its
    /// last argument has, for each grade, the new positions in gold of at least the grade.
    fn walk(&self, of_query: &[ReadPassage], mut take: impl FnMut(&ReadPassage, u32, &[u64])) {
        let Some(gold) = &self.joining.qrels.passages else { return };
        let gold = &gold.positions[of_query[0].query as usize];
        let max_depth = self.joining.rule.depth.map_or(usize::MAX, |depth| depth as usize);
        let mut covered = CoveredSpans::default();
        for row in of_query.iter().take(max_depth) {
            let doc = self.docs.ids().get(row.doc as usize);
            let (new, of_grade) = covered.add(doc, row.span, gold);
            take(row, new as u32, &of_grade); // no more than its length
        }
    }

    /// Converts a passage run to rows of labels with the facts about the run, and its problems.
    fn staged(self) -> (StagedRun, Problems) {
        let mut piece = StagedPiece::default();
        for of_query in self.queries() {
            let mut depth = 0;
            self.walk(of_query, |row, new, gold| {
                depth += 1;
                // Passages have position counts in the place of grades, and all have one label.
                piece.labels.push(Codebook::NOT_IN_QRELS);
                piece.spans.extend([row.span.length() as u32, new]); // checked when it was read
                piece.spans.extend(gold.iter().map(|&gold| gold as u32)); // no more than new ones
            });
            piece.rows.push(StagedRow { query: of_query[0].query, depth });
        }
        let joined = !piece.rows.is_empty();
        let info = RunInfo { ignored: unjudged([&self.ignored]), ..self.info };
        self.joining.note_excluded(&info.name, self.excluded);
        let units = AggregateCounts::default();
        let empty = empty_run(&info, &units, joined, self.joining, String::new());
        let run = StagedRun { info, pieces: vec![piece], ..StagedRun::default() };
        (run, empty.unwrap_or_default())
    }

    /// Returns the ranking of a picked query with its passages; `None` if the run lacks the query.
    fn pick(&self, query: Option<u32>) -> Option<Vec<Retrieved>> {
        let of_query = self.queries().find(|rows| Some(rows[0].query) == query)?;
        let mut tied = tie_sizes(of_query, |row| row.key);
        let mut ranking = Vec::new();
        self.walk(of_query, |row, new, gold| {
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

impl Join {
    /// Reads qrels of judged passages from a text or a table file.
    pub(crate) fn judged_passages(&self, input: Input) -> Result<Qrels> {
        self.check_passages()?;
        let (text, seed) = (Arc::new(input.open(self.access)?), Seed::random());
        let gold = match self.span_table(&text, Role::Qrels, &self.qrels_as)? {
            None => GoldSpans::from_text(&text, self.qrels_as.columns.as_ref())?,
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
        read_as: &ReadOptions,
    ) -> Result<Option<Box<dyn Table>>> {
        let Some(reader) = self.tables else { return Ok(None) };
        let Some(format) = InputFormat::detect_table(text.content().0) else { return Ok(None) };
        let columns = TableColumns::for_role(role, read_as.columns.as_ref(), false)
            .with_groups(Some(FacetKind::Span));
        let file = TableFile::open(format, text, columns);
        let file = file.map_err(|error| Error::unreadable(&text.name, error))?;
        reader
            .read(file)
            .map(Some)
            .map_err(|wrong| wrong.problems(&text.name, read_as.options).into())
    }

    /// Makes qrels of judged passages from columns in memory.
    pub(crate) fn judged_passages_of(&self, batches: &[QrelsColumns<'_>]) -> Result<Qrels> {
        let seed = Seed::random();
        let gold = gold_of(&CheckedColumns::from_judgments("qrels", batches, seed)?)?;
        judged(&gold, self.dialect, seed)
    }

    /// Reads runs of passages, and joins them with judged passages to a matrix.
    pub(crate) fn passage_runs(&self, qrels: &Qrels, runs: Vec<RunInput>) -> Result<LabelMatrix> {
        let joining = &self.context(qrels);
        self.passage_matrix(qrels, self.read_passages(runs, joining)?)
    }

    /// Reads runs of passages from texts or table files, and ranks their results.
    fn read_passages<'q>(
        &self,
        runs: Vec<RunInput>,
        joining: &'q JoinContext<'q>,
    ) -> Result<Vec<PassageRun<'q>>> {
        self.check_passages()?;
        let read = run_names(&runs)?.into_par_iter().zip(runs).map(|(name, run)| {
            let text = Arc::new(run.input.open(self.access)?);
            check_stopped(self.watch())?;
            let mut results = PassageRun::new(joining, name, text.name.clone());
            match self.span_table(&text, Role::Run, &self.runs_as)? {
                None => {
                    each_result(&text, self.runs_as.columns.as_ref(), &mut |row| results.add(&row))?
                }
                Some(table) => with_records(&*table, |batches| {
                    let columns =
                        CheckedColumns::from_run(&text.name, batches, joining.qrels.seed())?;
                    each_passage(&columns.check_file(Role::Run)?, Role::Run, |row| {
                        results.add(&row)
                    })
                })?,
            }
            Ok(results.ranked())
        });
        read.collect::<Vec<_>>().into_iter().collect()
    }

    /// Joins runs of passages, which are columns in memory, with judged passages to a matrix.
    pub(crate) fn passage_columns(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[RunColumns<'_>])],
    ) -> Result<LabelMatrix> {
        self.check_passages()?;
        let joining = &JoinContext { may_be_empty: true, ..self.context(qrels) };
        let read = runs.par_iter().map(|&(name, batches)| {
            let columns = CheckedColumns::from_run(name, batches, qrels.seed())?;
            let mut results = PassageRun::new(joining, name.to_owned(), name.to_owned());
            each_passage(&columns, Role::Run, |row| results.add(&row))?;
            Ok(results.ranked())
        });
        self.passage_matrix(qrels, read.collect::<Result<_>>()?)
    }

    /// Makes the matrix of runs of passages.
    fn passage_matrix(&self, qrels: &Qrels, runs: Vec<PassageRun<'_>>) -> Result<LabelMatrix> {
        let (runs, problems): (Vec<_>, Vec<_>) =
            runs.into_par_iter().map(PassageRun::staged).unzip();
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
        let qrels = &self.judged_passages(qrels)?;
        let joining = &self.context(qrels);
        let runs = self.read_passages(runs, joining)?;
        let picked = queries.iter().map(|id| {
            let number = qrels.query(id);
            PickedQuery {
                id: id.clone(),
                // The list is of judged documents, and passages are none: a judged query has an
                // empty list.
                judged: number.map(|_| Vec::new()),
                rankings: runs.iter().map(|run| run.pick(number)).collect(),
            }
        });
        let queries = picked.collect();
        Ok(PickedQueries { queries, matrix: self.passage_matrix(qrels, runs)? })
    }

    /// Rejects settings of ties, units, repeats and rows that have no meaning for runs of passages.
    fn check_passages(&self) -> Result<()> {
        reject_if!(
            self.ties != TieBreak::DocnoDescending || self.keep_ties,
            "judgments by span order equal scores by document, then by start and end: take no \
             other --ties"
        );
        reject_if!(
            self.aggregates(),
            "judgments by span count each position once, and results stay as they came: leave \
             --doc-id, --aggregate and --max-chunks out"
        );
        Ok(())
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
    if let Some(batch) = columns.first_batch(|batch| batch.span.is_none()) {
        let message =
            format!("batch {batch}: starts and ends are missing, and judgments are read by span");
        return Err(whole_file(columns.name, message).into());
    }
    let mut problems = FirstProblems::<String>::default();
    columns.each_row(|at, (batch, row), [query, doc]| {
        let Some(span) = batch.span else { return true };
        let span = span.map(|positions| positions.get(row));
        let row = passage_of(query, doc, span, batch.number(row), role).and_then(&mut take);
        row.unwrap_or_else(|message| problems.add(columns.table_row(at as u64 + 1), || message));
        true
    });
    problems.into_listed(columns.name).into_result(())
}
