//! Judgments by span: judged passages, and runs whose results are passages too.
//!
//! Such files are small beside runs of documents, and no document of theirs is looked up among
//! judged ones. So rows are collected with their numbers, sorted by query and rank, and walked once
//! ([`CoveredSpans`]). Results of one score are in the order of their documents as everywhere, then
//! of their starts and ends.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::picks::{Picked, PickedQuery, Retrieved, RetrievedSpan};
use super::qrels::{JudgedPassages, Qrels};
use super::run::{Joining, nothing_in_it};
use super::sound::{finish, stdin_once};
use crate::bytes::hash::Seed;
use crate::bytes::input::{Input, RunInput, run_names};
use crate::bytes::interner::Interner;
use crate::columns::{CheckedColumns, Judgments, Records};
use crate::error::{Error, Problems, Result, printable};
use crate::format::opened::Opened;
use crate::format::tables::{
    Table, TableBytes, TableColumns, TableFile, with_judgments, with_records,
};
use crate::format::{ColumnNames, InputFormat};
use crate::ids::{Ids, Unmatched};
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::{self, Earliest, quoted, whole_file};
use crate::lines::dialect::Dialect;
use crate::lines::shape::Role;
use crate::matrix::{Codebook, GoldFacts, LabelMatrix, RunInfo, StagedPiece, StagedRow, StagedRun};
use crate::record::packed::{score_of_key, sort_key};
use crate::rule::Ties;
use crate::settings::Join;
use crate::spans::span_rows::{PassageRow, each_result, passage_of};
use crate::spans::{CoveredSpans, GoldPositions, GoldSpan, GoldSpans, Span};
use crate::watch::not_stopped;

impl Qrels {
    /// Takes judged passages, for runs whose results are passages.
    ///
    /// ```
    /// use laneval::spans::{GoldSpan, GoldSpans, Span};
    /// use laneval::{Input, Evaluator, JudgedBy, Join, Qrels};
    /// let span = Span::new(10, 30).unwrap();
    /// let gold = GoldSpan { query: b"q1".to_vec(), doc: b"d1".to_vec(), span, grade: 1.0 };
    /// let qrels = Qrels::by_span(&GoldSpans::new("gold", [gold]))?;
    /// let run = b"query,doc,start,end,score\nq1,d1,0,20,0.9\n".to_vec();
    /// let join = Join { judged_by: Some(JudgedBy::Span), ..Join::default() };
    /// let matrix = join.runs(&qrels, [Input::Bytes { name: "run".into(), bytes: run }])?;
    /// let scores = Evaluator::new(["SpanIoU"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("run", "SpanIoU"), Some(1.0 / 3.0)); // 10 of 30 positions
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Passages of one query with 2⁶⁴ or more positions in total; more than 253 distinct grades.
    pub fn by_span(gold: &GoldSpans) -> Result<Self> {
        Ok(judged(gold, Dialect::Laneval, Seed::random())?.of_any_dialect())
    }
}

/// Makes judgments from judged passages.
fn judged(gold: &GoldSpans, dialect: Dialect, seed: Seed) -> Result<Qrels> {
    let mut queries: Vec<(&[u8], &[GoldSpan])> = gold.queries().collect();
    queries.sort_unstable_by_key(|(query, _)| *query);
    // −0 is 0.
    let mut grades: Vec<f64> =
        queries.iter().flat_map(|(_, spans)| spans.iter()).map(|of| of.grade + 0.0).collect();
    grades.sort_unstable_by(f64::total_cmp);
    grades.dedup();
    let positions: Vec<GoldPositions> =
        queries.par_iter().map(|(_, spans)| GoldPositions::of_query(spans, &grades)).collect();
    let mut lengths = Vec::with_capacity(queries.len() * grades.len());
    for ((query, _), of_query) in queries.iter().zip(&positions) {
        let of_query = of_query.lengths().ok_or_else(|| {
            let message =
                format!("the passages of query {} have 2⁶⁴ positions or more", quoted(query));
            Error::Input(whole_file(gold.name(), message))
        })?;
        lengths.extend(of_query);
    }
    let facts = GoldFacts::new(grades, lengths)
        .map_err(|message| Error::Input(whole_file(gold.name(), message)))?;
    let (mut fingerprint, mut hashed) = (0u128, Vec::new());
    for of in queries.iter().flat_map(|(_, spans)| spans.iter()) {
        hashed.clear();
        for part in [&of.query, &of.doc] {
            hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
            hashed.extend_from_slice(part);
        }
        [of.span.start(), of.span.end(), (of.grade + 0.0).to_bits()]
            .iter()
            .for_each(|number| hashed.extend_from_slice(&number.to_le_bytes()));
        fingerprint = fingerprint.wrapping_add(xxh3_128(&hashed));
    }
    let ids: Ids = queries.iter().map(|(query, _)| *query).collect();
    let given = queries.iter().flat_map(|(_, spans)| spans.iter().cloned()).collect();
    let passages = JudgedPassages { facts: Arc::new(facts), positions, given };
    Ok(Qrels::none(gold.name(), dialect, seed).with_passages(ids, passages, fingerprint))
}

/// The results of a run read so far.
struct PassageReading<'q> {
    qrels: &'q Qrels,
    docs: Interner,
    rows: Vec<ReadPassage>,
    /// The queries without judgments.
    ignored: Interner,
    results: u64,
}

/// A result of a judged query.
#[derive(Clone, Copy)]
struct ReadPassage {
    query: u32,
    doc: u32,
    span: Span,
    key: u64,
}

impl<'q> PassageReading<'q> {
    fn new(qrels: &'q Qrels) -> Self {
        let (docs, ignored) = (Interner::new(qrels.seed()), Interner::new(qrels.seed()));
        PassageReading { qrels, docs, rows: Vec::new(), ignored, results: 0 }
    }

    /// Adds a result.
    ///
    /// # Errors
    /// A result of more than 2³² − 1 positions.
    fn add(&mut self, row: &PassageRow, joining: &Joining<'_>) -> Result<(), String> {
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

    /// Ends the reading: the rows by query and rank.
    fn ranked(mut self) -> RankedPassages<'q> {
        let ids = self.docs.ids();
        self.rows.par_sort_unstable_by(|one, other| {
            let place = |row: &ReadPassage| (row.query, row.key);
            let docs = || ids.get(other.doc as usize).cmp(ids.get(one.doc as usize));
            place(one).cmp(&place(other)).then_with(docs).then_with(|| one.span.cmp(&other.span))
        });
        RankedPassages { read: self }
    }
}

/// The results of a run, by query and rank.
struct RankedPassages<'q> {
    read: PassageReading<'q>,
}

impl RankedPassages<'_> {
    /// The results of each query of the run that is judged.
    fn queries(&self) -> impl Iterator<Item = &[ReadPassage]> {
        self.read.rows.chunk_by(|one, next| one.query == next.query)
    }

    /// Calls `take` with each result of a query down to the last rank that is kept, its new
    /// positions, and the gold among them.
    fn walk(
        &self,
        of_query: &[ReadPassage],
        kept: usize,
        mut take: impl FnMut(&ReadPassage, u32, &[u64]),
    ) {
        let Some(gold) = self.read.qrels.passages() else { return };
        let Some(first) = of_query.first() else { return };
        let gold = &gold.positions[first.query as usize];
        let mut covered = CoveredSpans::default();
        for row in of_query.iter().take(kept) {
            let doc = self.read.docs.ids().get(row.doc as usize);
            let (new, of_grade) = covered.add(doc, row.span, gold);
            take(row, new as u32, &of_grade); // no more than its length
        }
    }

    /// The rows of labels, and what describes the run.
    fn staged(self, (name, source): (&str, &str), joining: &Joining<'_>) -> (StagedRun, Problems) {
        let kept = joining.rule.depth.map_or(usize::MAX, |depth| depth as usize);
        let mut piece = StagedPiece::default();
        for of_query in self.queries() {
            let mut depth = 0;
            self.walk(of_query, kept, |row, new, gold| {
                depth += 1;
                piece.labels.push(Codebook::UNPOOLED);
                piece.spans.extend([row.span.length() as u32, new]); // checked when it was read
                piece.spans.extend(gold.iter().map(|&gold| gold as u32)); // no more than new ones
            });
            piece.rows.push(StagedRow { query: of_query[0].query, depth });
        }
        let joined = !piece.rows.is_empty();
        let PassageReading { ignored, results, .. } = self.read;
        let mut ignored: Vec<&[u8]> = ignored.ids().iter().collect();
        ignored.sort_unstable();
        let (name, source) = (name.to_owned(), source.to_owned());
        let info = RunInfo {
            name,
            source,
            results,
            ignored: Unmatched::all(ignored),
            ..RunInfo::default()
        };
        let nothing = nothing_in_it(&info, joined, joining, String::new());
        let problems = nothing.map(|message| whole_file(&info.source, message)).unwrap_or_default();
        (StagedRun { info, pieces: vec![piece], ..StagedRun::default() }, problems)
    }
}

/// A run with its name, and its name in messages.
type NamedRun<'q> = (String, String, RankedPassages<'q>);

impl Join {
    /// Reads judged passages.
    pub(crate) fn judged_passages(&self, input: Input) -> Result<Qrels> {
        self.check_passages()?;
        let text = Arc::new(input.open(self.access)?);
        let (given, seed) = (self.qrels_as.columns.as_ref(), Seed::random());
        let gold = match self.span_table(&text, Role::Qrels, given)? {
            None => GoldSpans::of_text(&text, given)?,
            Some(table) => with_judgments(&*table, |batches| {
                gold_of(
                    &CheckedColumns::of_judgments(&text.name, batches, seed)?
                        .of_a_file(Role::Qrels)?,
                )
            })?,
        };
        judged(&gold, self.dialect, seed)
    }

    /// Reads a file of a table, if the text is one.
    fn span_table(
        &self,
        text: &Arc<Opened>,
        role: Role,
        given: Option<&ColumnNames>,
    ) -> Result<Option<Box<dyn Table>>> {
        let Some(reader) = self.tables else { return Ok(None) };
        let Some(format) = InputFormat::of_tables(text.content().0) else { return Ok(None) };
        let columns = TableColumns::of(role, given, false).with_groups(Some(JudgedBy::Span));
        let bytes =
            TableBytes::of(text).map_err(|error| Error::io(text.name.as_ref(), "read", error))?;
        let read = reader.read(TableFile::new(format, bytes, columns));
        let options =
            if role == Role::Qrels { self.qrels_as.options } else { self.runs_as.options };
        read.map(Some).map_err(|wrong| Error::Input(wrong.problems(&text.name, options)))
    }

    /// Takes judged passages of columns in memory.
    pub(crate) fn judged_passages_of(&self, batches: &[Judgments<'_>]) -> Result<Qrels> {
        let seed = Seed::random();
        let gold = gold_of(&CheckedColumns::of_judgments("qrels", batches, seed)?)?;
        judged(&gold, self.dialect, seed)
    }

    /// Reads judged passages, and runs of passages.
    pub(crate) fn passage_files(&self, qrels: Input, runs: Vec<RunInput>) -> Result<LabelMatrix> {
        stdin_once(runs.iter().map(|run| &run.input).chain([&qrels]))?;
        self.passage_runs(&self.judged_passages(qrels)?, runs)
    }

    /// Reads runs of passages.
    pub(crate) fn passage_runs(&self, qrels: &Qrels, runs: Vec<RunInput>) -> Result<LabelMatrix> {
        let read = self.read_passages(qrels, runs)?;
        self.passage_matrix(qrels, read)
    }

    fn read_passages<'q>(
        &self,
        qrels: &'q Qrels,
        runs: Vec<RunInput>,
    ) -> Result<Vec<NamedRun<'q>>> {
        self.check_passages()?;
        let names = run_names(&runs)?;
        let joining = self.joining(qrels);
        let read = |(name, run): (String, RunInput)| {
            let text = Arc::new(run.input.open(self.access)?);
            not_stopped(self.watch())?;
            let mut reading = PassageReading::new(qrels);
            let given = self.runs_as.columns.as_ref();
            match self.span_table(&text, Role::Run, given)? {
                None => each_result(&text, given, &mut |_, row| reading.add(&row, &joining))?,
                Some(table) => with_records(&*table, |batches| {
                    let columns = CheckedColumns::of_run(&text.name, batches, qrels.seed())?;
                    each_passage(&columns.of_a_file(Role::Run)?, Role::Run, |row| {
                        reading.add(&row, &joining)
                    })
                })?,
            }
            Ok((name, text.name.clone(), reading.ranked()))
        };
        let read: Vec<Result<NamedRun<'_>>> =
            names.into_iter().zip(runs).collect::<Vec<_>>().into_par_iter().map(read).collect();
        read.into_iter().collect()
    }

    /// Joins columns of passages.
    pub(crate) fn passage_columns(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[Records<'_>])],
    ) -> Result<LabelMatrix> {
        self.check_passages()?;
        let joining = Joining { may_be_empty: true, ..self.joining(qrels) };
        let read = |(name, batches): &(&str, &[Records<'_>])| {
            let columns = CheckedColumns::of_run(name, batches, qrels.seed())?;
            let mut reading = PassageReading::new(qrels);
            each_passage(&columns, Role::Run, |row| reading.add(&row, &joining))?;
            Ok(((*name).to_owned(), (*name).to_owned(), reading.ranked()))
        };
        let read = runs.par_iter().map(read).collect::<Result<Vec<_>>>()?;
        self.staged_passages(qrels, read, &joining)
    }

    /// The matrix of runs.
    fn passage_matrix(&self, qrels: &Qrels, runs: Vec<NamedRun<'_>>) -> Result<LabelMatrix> {
        self.staged_passages(qrels, runs, &self.joining(qrels))
    }

    fn staged_passages(
        &self,
        qrels: &Qrels,
        runs: Vec<NamedRun<'_>>,
        joining: &Joining<'_>,
    ) -> Result<LabelMatrix> {
        let staged =
            runs.into_par_iter().map(|(name, source, run)| run.staged((&name, &source), joining));
        let (runs, problems): (Vec<StagedRun>, Vec<Problems>) = staged.unzip();
        let problems = diagnostics::join(problems);
        if problems.first.is_empty() {
            finish(qrels.matrix(self), runs)
        } else {
            Err(Error::Input(problems))
        }
    }

    /// Reads judged passages and runs of passages, and keeps these queries, with their results.
    pub(crate) fn picked_passages(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
    ) -> Result<Picked> {
        stdin_once(runs.iter().map(|run| &run.input).chain([&qrels]))?;
        let qrels = self.judged_passages(qrels)?;
        let runs = self.read_passages(&qrels, runs)?;
        let kept = self.depth.map_or(usize::MAX, |depth| depth.get() as usize);
        let picked = |id: &Vec<u8>| {
            let number = qrels.query(id);
            let of_run = |(_, _, run): &NamedRun<'_>| {
                let of_query = run.queries().find(|rows| Some(rows[0].query) == number)?;
                let tied = of_query.chunk_by(|one, next| one.key == next.key);
                let mut tied =
                    tied.flat_map(|tied| std::iter::repeat_n(tied.len() as u32, tied.len()));
                let mut ranking = Vec::new();
                run.walk(of_query, kept, |row, new, gold| {
                    ranking.push(Retrieved {
                        docno: run.read.docs.ids().get(row.doc as usize).to_vec(),
                        score: score_of_key(row.key),
                        code: Codebook::UNPOOLED,
                        grade: None,
                        tied: tied.next().unwrap_or(1),
                        span: Some(RetrievedSpan { span: row.span, new, gold: gold.to_vec() }),
                    });
                });
                Some(ranking)
            };
            PickedQuery {
                id: id.clone(),
                judged: number.map(|_| Vec::new()),
                rankings: runs.iter().map(of_run).collect(),
            }
        };
        let picked = queries.iter().map(picked).collect();
        Ok(Picked { queries: picked, matrix: self.passage_matrix(&qrels, runs)? })
    }

    /// Checks that what is asked of equal scores, units and documents has a meaning for passages.
    fn check_passages(&self) -> Result<()> {
        let refused = |message: &str| Err(Error::Unanswerable(message.to_owned()));
        if self.ties != Ties::DocnoDescending || self.keep_ties {
            return refused(
                "judgments by span order equal scores by document, then by start and end: take no \
                 other --ties",
            );
        }
        if self.puts_together() {
            return refused(
                "judgments by span count each position once, and results stay as they came: leave \
                 --units, --repeats and --rows out",
            );
        }
        Ok(())
    }
}

/// The judged passages of columns.
fn gold_of(columns: &CheckedColumns<'_>) -> Result<GoldSpans> {
    let mut gold = Vec::new();
    each_passage(columns, Role::Qrels, |PassageRow { query, doc, span, value }| {
        gold.push(GoldSpan { query, doc, span, grade: value });
        Ok(())
    })?;
    Ok(GoldSpans::new(columns.name, gold))
}

/// Passes the passages of columns to `take`. A message that `take` returns becomes a problem of the
/// row.
fn each_passage(
    columns: &CheckedColumns<'_>,
    role: Role,
    mut take: impl FnMut(PassageRow) -> Result<(), String>,
) -> Result<()> {
    if let Some(batch) = columns.without_spans() {
        let message =
            format!("batch {batch}: starts and ends are missing, and judgments are read by span");
        return Err(Error::Input(whole_file(columns.name, message)));
    }
    let mut problems = Earliest::<String>::default();
    columns.each_passage(|at, query, doc, span, value| {
        let row = passage_of((query, doc), span, value, role).and_then(&mut take);
        row.unwrap_or_else(|message| problems.add(columns.table_row(at as u64 + 1), || message));
        true
    });
    let problems = problems.into_listed(columns.name);
    if problems.first.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}
