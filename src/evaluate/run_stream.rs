//! Evaluation of streamed runs: read once, joined with judgments, ranked, and evaluated query by
//! query as results arrive.
//!
//! Each worker gathers the rankings of some queries into a block, evaluates the block, and drops
//! the block.
//!
//! ```text
//! text ──► whoever is free cuts a chunk off ──► ranks its queries ──► take: some whole queries ──┐
//!                       └ where each query began is noted,            ┌──────────────────────────┘
//!                         so that one that comes back is found        └──► block ──► exact sums
//!                                                                            └ values, if wanted
//! ```
//!
//! Only the start of the next query tells that a query is complete. So each push holds its last
//! query back, and the end of the run releases the last query. Queries that the run lacks are known
//! only at the end: if missing queries count, the end evaluates them as empty rankings.
//!
//! An error ends the evaluation for good. The sums may already have some queries from before the
//! error, and nobody could say which queries. So the evaluation accepts no more results and gives
//! no partial answer. A worker that fails keeps its error and refuses more rankings; the reader
//! then ends without an error of its own.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use super::Evaluator;
use super::evaluation::{Evaluation, Feeder, Wants, check_judgments};
use super::feed::{BlockResults, Feed, FeedOutcome};
use super::joined_run::JoinedRun;
use super::outcome::Outcome;
use super::sink::ValueCollector;
use super::slots::Slots;
use crate::Join;
use crate::StreamingText;
use crate::columns::RunColumns;
use crate::error::{Error, Result, unanswerable};
use crate::ids::Ids;
use crate::join::qrels::Qrels;
use crate::join::streaming::{FinishedRun, RankingSink, StreamingRun};
use crate::matrix::{Block, Codebook, CodesAbove, Notice, RunInfo, StagedPiece};
use crate::plan::Plan;
use crate::progress::{ProgressHandle, add_work, expect_work, is_stopped};
use crate::rule::{IdealSource, RankingRule};
use crate::scores::{QuerySet, Scores};
use crate::summary::Summary;
use crate::ties::Cuts;

/// The number of empty rankings to evaluate at a time.
const EMPTY: usize = 1 << 14;

/// An evaluation of a streamed run, read once as text or as columns, against judgments. The stream
/// holds the current query, some queries waiting for evaluation, and a few numbers for each judged
/// query, but never the whole run.
///
/// The results of a query must be consecutive, in one batch or across batches, because the start of
/// the next query evaluates a query. A query that comes back later is an error
/// ([`Error::QueryNotContiguous`]). Use [`Join::runs`] or [`Join::columns`] for runs in any order.
///
/// ```
/// use laneval::columns::RunColumns;
/// use laneval::{Evaluator, Join, Qrels};
/// let qrels = Qrels::new([("q1", "d1", 1.0), ("q2", "d1", 1.0)])?;
/// let evaluator = Evaluator::new(["RR"])?;
/// let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine")?;
/// stream.push(&RunColumns::scored(&["q1"], &["d2"], &[0.9]))?;
/// stream.push(&RunColumns::scored(&["q1", "q2"], &["d1", "d1"], &[0.8, 0.7]))?;
/// assert_eq!(stream.finish()?.scores(&[])?.average("mine", "RR"), Some(0.75));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct RunStream<'q> {
    shared: Arc<StreamContext<'q>>,
    run: StreamingRun<'q, EvaluatingWorker<'q>>,
    /// The name of the text in messages.
    source: String,
    /// Whether there was an error.
    failed: bool,
}

/// The state that all workers on a streamed run share: its evaluation, judgments, plan and slots of
/// sums.
struct StreamContext<'q> {
    /// The evaluation, without its watch; the field `watch` counts blocks.
    evaluation: Evaluation<'static>,
    watch: Option<Arc<ProgressHandle>>,
    wants: Wants,
    join: Join,
    qrels: &'q Qrels,
    plan: Plan,
    slots: Slots,
    notices: Vec<Notice>,
}

impl Evaluator {
    /// Starts the evaluation of a run called `name`, whose results are added batch by batch, or as
    /// text.
    ///
    /// # Errors
    /// A measure that does not fit the grades; a view deeper than the join; none of the chosen
    /// queries is judged; qrels that were read in another dialect; a requested GPU, because a GPU
    /// reads only matrices.
    pub fn run_stream<'q>(
        &self,
        join: &Join,
        qrels: &'q Qrels,
        name: &str,
    ) -> Result<RunStream<'q>> {
        self.run_stream_named(join, qrels, name, name, true)
    }

    /// Starts the evaluation of a streamed run with a name, and another name for messages. The
    /// evaluation is either for scores and a summary or for scores alone.
    ///
    /// # Errors
    /// As [`Evaluator::run_stream`].
    #[doc(hidden)]
    pub fn run_stream_named<'q>(
        &self,
        join: &Join,
        qrels: &'q Qrels,
        name: &str,
        source: &str,
        summary: bool,
    ) -> Result<RunStream<'q>> {
        self.check_ranked(
            "a run that is read once is ranked in one order: join the whole run for values over \
             all orders",
        )?;
        let evaluation =
            Evaluation::new(Cow::Owned(self.clone().with_progress(None)), Feeder::Passing)?;
        if qrels.judged_by().is_some() {
            return unanswerable("judgments by facet need the whole run: join it with them");
        }
        check_judgments(&self.measures, None)?;
        self.check_depth(&join.rule())?;
        let (slots, notices) =
            Slots::new(1, qrels.queries(), self.only.as_ref(), self.groups.as_ref())?;
        let wants = Wants { moments: summary || self.wants().moments, ..self.wants() };
        let shared = Arc::new(StreamContext {
            evaluation,
            watch: self.watch.clone(),
            wants,
            join: Join { watch: None, ..join.clone() },
            qrels,
            plan: self.plan(qrels.codebook())?,
            slots,
            notices,
        });
        let context = shared.clone();
        Ok(RunStream {
            run: StreamingRun::new(join, qrels, name, source, move || EvaluatingWorker {
                context: context.clone(),
                block: Block::default(),
                part: StreamValues::default(),
                failed: None,
            })?,
            shared,
            source: source.to_owned(),
            failed: false,
        })
    }
}

impl<'q> RunStream<'q> {
    /// Evaluates a batch of the run's results, given as columns. The results of the last query are
    /// copied and wait, because the query may continue in the next batch.
    ///
    /// # Errors
    /// [`Error::QueryNotContiguous`]; problems of the columns, by row of all batches
    /// ([`Join::columns`]), which for the last query of a batch are found only once it is complete;
    /// [`Error::Stopped`]. After an error nothing more can be pushed.
    pub fn push(&mut self, records: &RunColumns<'_>) -> Result<()> {
        self.go(|run| run.columns(records))
    }

    /// Reads the text of the run to its end, in any format of runs, perhaps compressed by gzip or
    /// zstd, and evaluates it. Text that is read afterwards may not continue its last query.
    ///
    /// # Errors
    /// Errors of the reader; [`Error::QueryNotContiguous`]; the problems of its lines
    /// ([`Join::runs`]); [`Error::Stopped`], although stopping does not wake a blocked reader.
    /// After an error nothing more can be read.
    pub fn read(&mut self, text: impl Read + Send) -> Result<()> {
        let watch = self.shared.watch.clone();
        let text = StreamingText::new(&self.source, StoppableText { text, watch });
        let head = text.and_then(|mut text| Ok((text.head()?, text)));
        let (head, text) =
            head.inspect_err(|_| self.failed = true).map_err(|error| self.why(error))?;
        self.run.detect_format(&head).inspect_err(|_| self.failed = true)?;
        self.go(|run| run.text(&mut Cursor::new(head).chain(text)))
    }

    /// Recognises the format of a run's text from its `start`, and returns the number of bytes of
    /// `start` that are whole queries. If the lines of each query are together, the text may then
    /// be read in parts. `None` if the text must be read as a whole.
    ///
    /// # Errors
    /// A text that cannot be a run.
    #[doc(hidden)]
    pub fn detect_format(&mut self, start: &[u8]) -> Result<Option<usize>> {
        self.run.detect_format(start)?;
        Ok(self.run.complete_bytes(start))
    }

    /// Reads and evaluates a part of the run's text, which is not compressed, and whose start was
    /// looked at. A part has all lines of each of its queries.
    ///
    /// # Errors
    /// As [`RunStream::read`].
    #[doc(hidden)]
    pub fn read_part(&mut self, text: impl Read + Send) -> Result<()> {
        let mut text = StoppableText { text, watch: self.shared.watch.clone() };
        self.go(|run| run.text(&mut text))
    }

    /// Returns the name of the engine that evaluates the run.
    #[doc(hidden)]
    pub fn engine_name(&self) -> String {
        self.shared.evaluation.engine_name()
    }

    /// Returns the number of results of the run so far, including results of unjudged queries.
    pub fn results(&self) -> u64 {
        self.run.results()
    }

    /// Ends the run, and returns its mergeable summary. The [`QuerySet`] decides whether judged
    /// queries missing from the run count.
    ///
    /// # Errors
    /// As [`RunStream::push`]; a run without results, or without a judged query; a missing query
    /// under [`QuerySet::RequireAll`]; an infinite or NaN value.
    pub fn finish(self) -> Result<Summary> {
        self.end()?.0.summary()
    }

    /// Ends the run, and returns its scores, with the statistics that the evaluator was asked for.
    ///
    /// # Errors
    /// As [`RunStream::finish`], but values may be infinite or not a number if the evaluator lets
    /// them through.
    pub fn scores(self) -> Result<Scores> {
        let (outcome, collector) = self.end()?;
        outcome.scores(collector)
    }

    /// Ends the run, and returns its scores and its mergeable summary.
    ///
    /// # Errors
    /// As [`RunStream::finish`].
    #[doc(hidden)]
    pub fn scores_and_summary(self) -> Result<(Scores, Summary)> {
        let (outcome, collector) = self.end()?;
        let summary = outcome.summary()?;
        Ok((outcome.scores(collector)?, summary))
    }

    /// Runs `work` on the streamed run, on the threads of the evaluator, unless an error has ended
    /// the run.
    fn go<R: Send>(
        &mut self,
        work: impl FnOnce(&mut StreamingRun<'q, EvaluatingWorker<'q>>) -> Result<Option<R>> + Send,
    ) -> Result<R> {
        if self.failed {
            return unanswerable("the run has ended with an error");
        }
        let run = &mut self.run;
        let done = self.shared.evaluation.install(|| work(run));
        // A reader that ended without a result was refused by a worker, which holds the error; if
        // no worker does, the evaluation was stopped.
        let done = done.and_then(|done| {
            done.ok_or_else(|| {
                let mut workers = self.run.sinks();
                workers.find_map(|worker| worker.failed.take()).unwrap_or(Error::Stopped)
            })
        });
        self.failed = done.is_err();
        done.map_err(|error| self.why(error))
    }

    /// Returns the error of reading the run; [`Error::Stopped`] if reading failed because the
    /// evaluation was stopped.
    fn why(&self, error: Error) -> Error {
        if self.shared.is_stopped() { Error::Stopped } else { error }
    }

    /// Finishes the run: evaluates its last query and its missing queries, and merges the sums of
    /// all workers.
    fn end(mut self) -> Result<(Outcome<'static, StreamResult<'q>>, ValueCollector)> {
        let FinishedRun { info, seen_queries: presence } = self.go(|run| run.finish())?;
        let RunStream { shared, mut run, .. } = self;
        let mut part = StreamValues::default();
        run.sinks().for_each(|worker| part.merge(std::mem::take(&mut worker.part)));
        drop(run);
        // Invariant: nothing else shares `shared` now, because only the workers and their factory
        // had clones, and `drop(run)` dropped both.
        let context =
            Arc::into_inner(shared).unwrap_or_else(|| unreachable!("all workers are gone"));
        let run = StreamResult {
            qrels: context.qrels,
            rule: context.join.rule(),
            runs: [info],
            presence,
        };
        context.evaluation.evaluator.check(&run, &context.slots)?;
        let missing: Vec<QueryRanking<'_>> = match context.evaluation.evaluator.settings.queries {
            QuerySet::Common => Vec::new(),
            _ => (0..)
                .zip(&run.presence)
                .filter(|(_, is_present)| !**is_present)
                .map(|(query, _)| QueryRanking { query, labels: &[], exact: &[] })
                .collect(),
        };
        context.evaluation.install(|| {
            let mut block = Block::default();
            // A block without rows makes sums where no query was evaluated.
            if missing.is_empty() {
                return context.block(&[], &mut block, &mut part);
            }
            let mut blocks = missing.chunks(EMPTY);
            blocks.try_for_each(|rows| context.block(rows, &mut block, &mut part))
        })?;
        let StreamValues { sums, values, .. } = part;
        let sums = sums.unwrap_or_else(|| unreachable!("a block was evaluated"));
        let StreamContext { evaluation, slots, wants, notices, .. } = context;
        let collector = ValueCollector { parts: wants.values.then_some(values) };
        Ok((
            Outcome { evaluator: evaluation.evaluator, joined: run, slots, sums, notices, wants },
            collector,
        ))
    }
}

/// The facts of a streamed run that was read to its end: its rule, its name, and the queries that
/// it has.
struct StreamResult<'q> {
    qrels: &'q Qrels,
    rule: RankingRule,
    runs: [RunInfo; 1],
    /// Whether the run has each query.
    presence: Vec<bool>,
}

impl JoinedRun for StreamResult<'_> {
    fn book(&self) -> &Codebook {
        self.qrels.codebook()
    }

    fn rule(&self) -> RankingRule {
        self.rule.clone()
    }

    fn ideal(&self) -> IdealSource {
        IdealSource::Judgments
    }

    fn fingerprint(&self) -> u128 {
        self.qrels.fingerprint()
    }

    fn queries(&self) -> &Ids {
        self.qrels.queries()
    }

    fn runs(&self) -> &[RunInfo] {
        &self.runs
    }

    fn has(&self, _: usize, query: usize) -> bool {
        self.presence[query]
    }
}

/// A text of a run that fails to be read once its evaluation is told to stop.
struct StoppableText<R> {
    text: R,
    watch: Option<Arc<ProgressHandle>>,
}

impl<R: Read> Read for StoppableText<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if is_stopped(self.watch.as_deref()) {
            Err(io::Error::other("stopped"))
        } else {
            self.text.read(into)
        }
    }
}

/// The results of some queries of a streamed run: sums, and values as `[measure][query]`.
type StreamValues = BlockResults<(Vec<u32>, Vec<f64>)>;

/// A worker on a streamed run that evaluates each ranking on arrival.
struct EvaluatingWorker<'q> {
    context: Arc<StreamContext<'q>>,
    block: Block,
    part: StreamValues,
    failed: Option<Error>,
}

/// A run's ranking of one query: its labels, and the exact grades of its judged documents.
struct QueryRanking<'r> {
    query: u32,
    labels: &'r [u8],
    /// The exact grades of its judged documents, if codes are classes of grades.
    exact: &'r [f64],
}

impl RankingSink for EvaluatingWorker<'_> {
    fn take(&mut self, StagedPiece { rows, labels, exact, .. }: &StagedPiece) -> bool {
        if self.is_stopped() {
            return false;
        }
        let (mut rest, mut grades) = (&labels[..], &exact[..]);
        let is_exact = self.context.qrels.exact().is_some();
        let ranked = rows.iter().map(|row| {
            let (labels, exact);
            (labels, rest) = rest.split_at(row.depth as usize);
            // Without exact grades nothing is counted, because there is nothing to split.
            let judged = labels.iter().filter(|&&label| CodesAbove::JUDGED.contains(label));
            (exact, grades) = grades.split_at(if is_exact { judged.count() } else { 0 });
            QueryRanking { query: row.query, labels, exact }
        });
        let mut rows: Vec<QueryRanking<'_>> = ranked.collect();
        rows.sort_unstable_by_key(|row| row.query); // so that the first that is wrong is the first
        self.failed = self.context.block(&rows, &mut self.block, &mut self.part).err();
        self.failed.is_none()
    }

    fn is_stopped(&self) -> bool {
        self.failed.is_some() || self.context.is_stopped()
    }
}

impl StreamContext<'_> {
    fn is_stopped(&self) -> bool {
        is_stopped(self.watch.as_deref())
    }

    /// Evaluates a block of a streamed run's rankings, ascending by query, and adds the results to
    /// `part`.
    fn block(
        &self,
        rows: &[QueryRanking<'_>],
        block: &mut Block,
        part: &mut StreamValues,
    ) -> Result<()> {
        block.clear();
        for &QueryRanking { query, labels, exact } in rows {
            block.push_ranking(labels, self.qrels.facts().get(query as usize));
            if let Some(judged) = self.qrels.exact() {
                block.push_exact(exact, judged.get(query as usize));
            }
        }
        let queries: Vec<u32> = rows.iter().map(|row| row.query).collect();
        let batch = block.batch(self.qrels.codebook())?;
        let labels = batch.bytes().len() as u64;
        expect_work(self.watch.as_deref(), labels);
        let empty: Vec<u32> =
            (0..).zip(rows).filter(|(_, row)| row.labels.is_empty()).map(|(row, _)| row).collect();
        let feed = Feed {
            plan: &self.plan,
            batch,
            cuts: Cuts::default(),
            slots: self.slots.for_queries(&queries),
            wants: self.wants,
            empty: &empty,
            watch: None,
            alone: true,
        };
        let (evaluator, engine) = (&self.evaluation.evaluator, self.evaluation.engine());
        let FeedOutcome { mut sums, sink, .. } =
            evaluator.feed(engine, feed, &mut None, || self.wants.into_collector())?;
        // Rows of a block become queries here: a block forgets its rows.
        sums.not_finite.iter_mut().for_each(|found| found.row = queries[found.row as usize]);
        let mut values = sink.parts.unwrap_or_default();
        for (rows, _) in &mut values {
            rows.iter_mut().for_each(|row| *row = queries[*row as usize]);
        }
        part.merge(StreamValues { sums: Some(sums), values, ..StreamValues::default() });
        add_work(self.watch.as_deref(), labels);
        Ok(())
    }
}
