//! The third feeder: streamed runs, read once, joined with judgments, ranked, and evaluated query
//! by query as results arrive.
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
use super::feed::{BlockResults, Fed, Feed};
use super::joined::Joined;
use super::outcome::Outcome;
use super::sink::KeptValues;
use super::slots::Slots;
use crate::Join;
use crate::PassingText;
use crate::columns::Records;
use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::join::passing::{Passed, PassingRun, TakeRankings};
use crate::join::qrels::Qrels;
use crate::matrix::{Above, Block, Codebook, Notice, RunInfo, StagedPiece};
use crate::plan::Plan;
use crate::rule::{IdealOf, RankingRule};
use crate::scores::{QuerySet, Scores};
use crate::summary::Summary;
use crate::ties::Cuts;
use crate::watch::Watch;

/// The number of empty rankings to evaluate at a time.
const EMPTY: usize = 1 << 14;

/// An evaluation of a streamed run, read once as text or as columns, against judgments. The stream
/// holds the current query, some queries waiting for evaluation, and a few numbers for each judged
/// query, but never the whole run.
///
/// The results of a query must be consecutive, in one batch or across batches, because the start of
/// the next query evaluates a query. A query that comes back later is an error
/// ([`Error::CameBack`]). Use [`Join::runs`] or [`Join::columns`] for runs in any order.
///
/// ```
/// use laneval::columns::Records;
/// use laneval::{Evaluator, Join, Qrels};
/// let qrels = Qrels::new([("q1", "d1", 1.0), ("q2", "d1", 1.0)])?;
/// let evaluator = Evaluator::new(["RR"])?;
/// let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine")?;
/// stream.push(&Records::scored(&["q1"], &["d2"], &[0.9]))?;
/// stream.push(&Records::scored(&["q1", "q2"], &["d1", "d1"], &[0.8, 0.7]))?;
/// assert_eq!(stream.finish()?.scores(&[])?.average("mine", "RR"), Some(0.75));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct RunStream<'q> {
    shared: Arc<PassingEvaluation<'q>>,
    run: PassingRun<'q, EvaluatingWorker<'q>>,
    /// The name of the text in messages.
    source: String,
    /// Whether there was an error.
    failed: bool,
}

/// The shared state of all workers.
struct PassingEvaluation<'q> {
    /// The evaluation, without its watch; the field `watch` counts blocks.
    evaluation: Evaluation<'static>,
    watch: Option<Arc<Watch>>,
    wants: Wants,
    join: Join,
    qrels: &'q Qrels,
    plan: Plan,
    slots: Slots,
    notices: Vec<Notice>,
}

impl Evaluator {
    /// Starts the evaluation of a run called `name`, whose results are added in pieces.
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
        self.run_stream_of(join, qrels, (name, name), true)
    }

    /// Starts the evaluation of a run with a name, and with another one for messages, either for
    /// scores and a summary or for scores alone.
    ///
    /// # Errors
    /// As [`Evaluator::run_stream`].
    #[doc(hidden)]
    pub fn run_stream_of<'q>(
        &self,
        join: &Join,
        qrels: &'q Qrels,
        (name, source): (&str, &str),
        summary: bool,
    ) -> Result<RunStream<'q>> {
        self.check_ranked(
            "a run that is read once is ranked in one order: join the whole run for values over \
             all orders",
        )?;
        let evaluation =
            Evaluation::new(Cow::Owned(self.clone().with_watch(None)), Feeder::Passing)?;
        if qrels.judged_by().is_some() {
            let message = "judgments by facet need the whole run: join it with them";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        check_judgments(&self.measures, None)?;
        self.check_depth(&join.rule())?;
        let (slots, notices) =
            Slots::new(1, qrels.queries(), self.only.as_ref(), self.groups.as_ref())?;
        let wants = Wants { moments: summary || self.wants().moments, ..self.wants() };
        let shared = PassingEvaluation {
            evaluation,
            watch: self.watch.clone(),
            wants,
            join: Join { watch: None, ..join.clone() },
            qrels,
            plan: self.plan(qrels.book())?,
            slots,
            notices,
        };
        let shared = Arc::new(shared);
        let of = shared.clone();
        Ok(RunStream {
            run: PassingRun::new(join, qrels, (name, source), move || EvaluatingWorker::new(&of))?,
            shared,
            source: source.to_owned(),
            failed: false,
        })
    }
}

impl<'q> RunStream<'q> {
    /// Evaluates a batch of results. The results of the last query are copied and wait, because the
    /// query may continue in the next batch.
    ///
    /// # Errors
    /// [`Error::CameBack`]; problems of the columns, by row of all batches ([`Join::columns`]),
    /// which for the last query of a batch are found only once it is complete; [`Error::Stopped`].
    /// After an error nothing more can be pushed.
    pub fn push(&mut self, records: &Records<'_>) -> Result<()> {
        self.go(|run| run.columns(records))
    }

    /// Reads text to its end, in any format of runs, perhaps compressed by gzip or zstd, and
    /// evaluates it. Text that is read afterwards may not continue its last query.
    ///
    /// # Errors
    /// Errors of the reader; [`Error::CameBack`]; the problems of its lines ([`Join::runs`]);
    /// [`Error::Stopped`], although stopping does not wake a blocked reader. After an error nothing
    /// more can be read.
    pub fn read(&mut self, text: impl Read + Send) -> Result<()> {
        let watch = self.shared.watch.clone();
        let text = PassingText::new(&self.source, StoppableText { text, watch });
        let head = text.and_then(|mut text| Ok((text.head()?, text)));
        let (head, text) =
            head.inspect_err(|_| self.failed = true).map_err(|error| self.why(error))?;
        self.run.tell(&head).inspect_err(|_| self.failed = true)?;
        self.go(|run| run.text(&mut Cursor::new(head).chain(text)))
    }

    /// Recognises the format of a text from its `start`, and tells how many bytes of `start` are
    /// whole queries, if their lines are together: then the text may be read in parts. `None` if
    /// the text must be read as a whole.
    ///
    /// # Errors
    /// A text that cannot be a run.
    #[doc(hidden)]
    pub fn tell(&mut self, start: &[u8]) -> Result<Option<usize>> {
        self.run.tell(start)?;
        Ok(self.run.complete(start))
    }

    /// Reads a part of a text that is not compressed, and whose start was looked at. A part has all
    /// lines of each of its queries.
    ///
    /// # Errors
    /// As [`RunStream::read`].
    #[doc(hidden)]
    pub fn read_part(&mut self, text: impl Read + Send) -> Result<()> {
        let mut text = StoppableText { text, watch: self.shared.watch.clone() };
        self.go(|run| run.text(&mut text))
    }

    /// The name of the engine.
    #[doc(hidden)]
    pub fn engine_name(&self) -> String {
        self.shared.evaluation.engine_name()
    }

    /// Returns the number of results so far, including results of unjudged queries.
    pub fn results(&self) -> u64 {
        self.run.results()
    }

    /// Returns the summary of the run. The [`QuerySet`] decides whether judged queries missing from
    /// the run count.
    ///
    /// # Errors
    /// As [`RunStream::push`]; a run without results, or without a judged query; a missing query
    /// under [`QuerySet::Complete`]; an infinite or NaN value.
    pub fn finish(self) -> Result<Summary> {
        self.end()?.0.summary()
    }

    /// Returns the scores of the run, with the statistics that the evaluator was asked for.
    ///
    /// # Errors
    /// As [`RunStream::finish`], but values may be infinite or not a number if the evaluator lets
    /// them through.
    pub fn scores(self) -> Result<Scores> {
        let (outcome, kept) = self.end()?;
        outcome.scores(kept)
    }

    /// Returns the scores and the summary.
    ///
    /// # Errors
    /// As [`RunStream::finish`].
    #[doc(hidden)]
    pub fn scores_and_summary(self) -> Result<(Scores, Summary)> {
        let (outcome, kept) = self.end()?;
        let summary = outcome.summary()?;
        Ok((outcome.scores(kept)?, summary))
    }

    /// Works on the run, on the threads of the evaluator.
    fn go<R: Send>(
        &mut self,
        work: impl FnOnce(&mut PassingRun<'q, EvaluatingWorker<'q>>) -> Result<Option<R>> + Send,
    ) -> Result<R> {
        if self.failed {
            return Err(Error::Unanswerable("the run has ended with an error".to_owned()));
        }
        let run = &mut self.run;
        let done = self.shared.evaluation.install(|| work(run));
        let refusal =
            || self.run.takers().find_map(|worker| worker.failed.take()).unwrap_or(Error::Stopped);
        let done = done.and_then(|done| done.ok_or_else(refusal));
        self.failed = done.is_err();
        done.map_err(|error| self.why(error))
    }

    /// The error of a reader; [`Error::Stopped`] if the reader failed because the evaluation was
    /// stopped.
    fn why(&self, error: Error) -> Error {
        if self.shared.is_stopped() { Error::Stopped } else { error }
    }

    /// Finishes the run: evaluates its last query and its missing queries, and merges the sums of
    /// all workers.
    fn end(mut self) -> Result<(Outcome<'static, ReadRun<'q>>, KeptValues)> {
        let Passed { info, met } = self.go(|run| run.finish())?;
        let RunStream { shared, mut run, .. } = self;
        let mut part = PassedValues::default();
        run.takers().for_each(|worker| part.merge(std::mem::take(&mut worker.part)));
        drop(run);
        // Invariant: nothing else shares `shared` now, because only the workers and their factory
        // had clones, and `drop(run)` dropped both.
        let of = Arc::into_inner(shared).unwrap_or_else(|| unreachable!("all workers are gone"));
        let run = ReadRun { qrels: of.qrels, rule: of.join.rule(), runs: [info], met };
        of.evaluation.evaluator.check(&run, &of.slots)?;
        let without = |query: u32| QueryRanking { query, labels: &[], exact: &[] };
        let missing: Vec<QueryRanking<'_>> = match of.evaluation.evaluator.queries {
            QuerySet::Both => Vec::new(),
            _ => (0..)
                .zip(&run.met)
                .filter(|(_, met)| !**met)
                .map(|(query, _)| without(query))
                .collect(),
        };
        let mut block = Block::default();
        let mut evaluate = || {
            if missing.is_empty() {
                of.block(&[], &mut block, &mut part) // so that there are sums
            } else {
                missing.chunks(EMPTY).try_for_each(|rows| of.block(rows, &mut block, &mut part))
            }
        };
        of.evaluation.install(&mut evaluate)?;
        let PassedValues { sums, values, .. } = part;
        let sums = sums.unwrap_or_else(|| unreachable!("a block was evaluated"));
        let PassingEvaluation { evaluation, slots, wants, notices, .. } = of;
        let kept = KeptValues { parts: wants.values.then_some(values) };
        Ok((
            Outcome { evaluator: evaluation.evaluator, joined: run, slots, sums, notices, wants },
            kept,
        ))
    }
}

/// A run that was read to its end.
struct ReadRun<'q> {
    qrels: &'q Qrels,
    rule: RankingRule,
    runs: [RunInfo; 1],
    /// Whether the run has each query.
    met: Vec<bool>,
}

impl Joined for ReadRun<'_> {
    fn book(&self) -> &Codebook {
        self.qrels.book()
    }

    fn rule(&self) -> RankingRule {
        self.rule.clone()
    }

    fn ideal(&self) -> IdealOf {
        IdealOf::Judgments
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
        self.met[query]
    }
}

/// Text that is no longer read when its evaluation is told to stop.
struct StoppableText<R> {
    text: R,
    watch: Option<Arc<Watch>>,
}

impl<R: Read> Read for StoppableText<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.watch.as_ref().is_some_and(|watch| watch.is_stopped()) {
            Err(io::Error::other("stopped"))
        } else {
            self.text.read(into)
        }
    }
}

/// Queries with their values, `[measure][query]`.
type PassedValues = BlockResults<(Vec<u32>, Vec<f64>)>;

/// A worker that evaluates each ranking on arrival.
struct EvaluatingWorker<'q> {
    of: Arc<PassingEvaluation<'q>>,
    block: Block,
    part: PassedValues,
    failed: Option<Error>,
}

impl<'q> EvaluatingWorker<'q> {
    fn new(of: &Arc<PassingEvaluation<'q>>) -> Self {
        EvaluatingWorker {
            of: of.clone(),
            block: Block::default(),
            part: PassedValues::default(),
            failed: None,
        }
    }
}

/// The labels of the ranking of one query.
struct QueryRanking<'r> {
    query: u32,
    labels: &'r [u8],
    /// The exact grades of its judged documents, if codes are classes of grades.
    exact: &'r [f64],
}

impl TakeRankings for EvaluatingWorker<'_> {
    fn take(&mut self, StagedPiece { rows, labels, exact, .. }: &StagedPiece) -> bool {
        if self.is_stopped() {
            return false;
        }
        let (mut rest, mut grades) = (&labels[..], &exact[..]);
        let is_exact = self.of.qrels.exact().is_some();
        let ranked = rows.iter().map(|row| {
            let (labels, after) = rest.split_at(row.depth as usize);
            rest = after;
            let judged = || labels.iter().filter(|&&label| Above::JUDGED.contains(label)).count();
            let (exact, after) = grades.split_at(if is_exact { judged() } else { 0 });
            grades = after;
            QueryRanking { query: row.query, labels, exact }
        });
        let mut rows: Vec<QueryRanking<'_>> = ranked.collect();
        rows.sort_unstable_by_key(|row| row.query); // so that the first that is wrong is the first
        self.failed = self.of.block(&rows, &mut self.block, &mut self.part).err();
        self.failed.is_none()
    }

    fn is_stopped(&self) -> bool {
        self.failed.is_some() || self.of.is_stopped()
    }
}

impl PassingEvaluation<'_> {
    fn is_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_stopped())
    }

    /// Evaluates queries with their labels, in ascending order.
    fn block(
        &self,
        rows: &[QueryRanking<'_>],
        block: &mut Block,
        part: &mut PassedValues,
    ) -> Result<()> {
        block.clear();
        for &QueryRanking { query, labels, exact } in rows {
            block.push_ranking(labels, self.qrels.facts().of(query as usize));
            if let Some(judged) = self.qrels.exact() {
                block.push_exact(exact, judged.of(query as usize));
            }
        }
        let queries: Vec<u32> = rows.iter().map(|row| row.query).collect();
        let batch = block.batch(self.qrels.book())?;
        let labels = batch.bytes().len() as u64;
        self.watch.iter().for_each(|watch| watch.expect(labels));
        let empty: Vec<u32> =
            (0..).zip(rows).filter(|(_, row)| row.labels.is_empty()).map(|(row, _)| row).collect();
        let feed = Feed {
            plan: &self.plan,
            batch,
            cuts: Cuts::default(),
            slots: self.slots.of_part(&queries),
            wants: self.wants,
            empty: &empty,
            watch: None,
            alone: true,
        };
        let kept = || self.wants.kept();
        let Fed { mut sums, sink: kept, .. } =
            self.evaluation.evaluator.feed(self.evaluation.engine(), feed, &mut None, kept)?;
        let query = |row: u32| queries[row as usize];
        sums.not_finite.iter_mut().for_each(|found| found.row = query(found.row));
        let values = kept.parts.into_iter().flatten();
        let values =
            values.map(|(rows, values)| (rows.into_iter().map(query).collect(), values)).collect();
        part.merge(PassedValues { sums: Some(sums), values, ..PassedValues::default() });
        self.watch.iter().for_each(|watch| watch.add(labels));
        Ok(())
    }
}
