//! Evaluation of rankings in memory, all at once or batch by batch, in blocks with reused memory.
//!
//! A block is some rows in the memory of a worker. The worker makes a small label matrix of the
//! block, evaluates the matrix like any batch, and overwrites it with the next block. A block has
//! 256 KiB of labels, so labels stay in the cache from encoding to finishing, and its rows fill the
//! lanes of whole tiles.
//!
//! A block leaves exact sums, and exact sums merge to equal bits in any order. So no number depends
//! on the size of a block, on the worker of a block, or on the batches of the caller. Values of
//! single queries, if wanted, are kept with the number of the block's first row, and put in order
//! at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Evaluator;
use super::evaluation::{Evaluation, Feeder, Wants, check_judgments};
use super::feed::{BlockResults, Feed, FeedOutcome};
use super::outcome::RunProvenance;
use super::slots::Slots;
use super::tally::{NotFinite, by_row};
use crate::arrays::{GradeEncoder, Rankings, Scratch, ranking_row};
use crate::engine::in_parallel;
use crate::error::{Error, Result, printable, unanswerable};
use crate::ids::{Ids, Unmatched};
use crate::matrix::{Block, Codebook, LANES, LabelMatrix};
use crate::plan::Plan;
use crate::progress::{ProgressHandle, add_work, check_stopped, expect_work};
use crate::rule::{IdealSource, RankingRule, TieBreak};
use crate::scores::{PerQuery, QuerySet, Scores, TiedValue};
use crate::sort;
use crate::summary::{QueryFingerprint, RunSummary, Summary};
use crate::ties::Cuts;

/// The bytes of labels that become tiles at a time, which stay in a cache.
const BLOCK_BYTES: usize = 1 << 18;
/// The bytes that a ranking costs besides its labels.
const ROW_BYTES: usize = 32;
/// The most rankings of a block.
const BLOCK_ROWS: usize = 1 << 14;
/// The name of the run of rankings without a name.
const NAME: &str = "rankings";

/// An evaluation of rankings in memory that are added batch by batch. Its memory does not grow with
/// the number of rankings, except that ids are kept, if there are any: a summary needs them to tell
/// whether a query was counted twice.
///
/// ```
/// use laneval::arrays::{Rankings, Shape};
/// use laneval::Evaluator;
/// use laneval::labels::Codebook;
/// let evaluator = Evaluator::new(["nDCG@3", "RR"])?;
/// let mut stream = evaluator.stream(&Codebook::new([0.0, 1.0, 2.0])?)?;
/// for batch in [[2u8, 0, 1, 0, 0, 1], [0, 0, 0, 1, 1, 2]] {
///     stream.push(&Rankings::labels(&batch, Shape::dense(3))?)?;
/// }
/// let scores = stream.finish()?.scores(&[])?;
/// assert_eq!(scores.runs[0].queries, 4);
/// assert_eq!(scores.runs[0].average(1), Some((1.0 + 1.0 + 0.0 + 1.0 / 3.0) / 4.0));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct RankingStream {
    /// The evaluation, without its watch, which counts blocks here.
    evaluation: Evaluation<'static>,
    watch: Option<Arc<ProgressHandle>>,
    wants: Wants,
    coder: GradeEncoder,
    plan: Plan,
    /// The deepest rank that any measure looks at.
    reach: usize,
    gathered: BlockResults<BlockValues>,
    rows: SeenRows,
}

/// Facts about the rankings added to a stream so far: their number, their ids, and the empty ones.
#[derive(Default)]
struct SeenRows {
    count: usize,
    /// The number of rows without any document.
    empty: u64,
    /// The ids of all rows and of the empty ones, if rows have ids.
    ids: Option<[Ids; 2]>,
    /// Whether the judged documents of some row were taken to be those of the row itself.
    retrieved: bool,
    /// The rows of arrays that are no rankings, by their numbers among all rows of the arrays.
    dropped: Vec<usize>,
    /// The number of true neighbours of each query, if the rankings are of neighbours.
    neighbours: Option<usize>,
}

/// The values of a block of rankings: its first row, the rows that count, and their values,
/// `[measure][row]`.
type BlockValues = (usize, Vec<usize>, Vec<Vec<f64>>);

impl Evaluator {
    /// Evaluates rankings in the caller's memory, as one run, without a label matrix of them.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and what is wrong with the arrays, by row and place. Groups and
    /// chosen queries need a matrix ([`LabelMatrix::from_rankings`]), and values over ties need
    /// scores.
    pub fn rankings(&self, rankings: &Rankings<'_>) -> Result<Scores> {
        if self.settings.tied != TiedValue::Ranked || self.needs_ties() {
            return self.evaluate(&LabelMatrix::from_rankings_with_ties(NAME, rankings)?);
        }
        let mut stream = self.stream_of(&rankings.codebook()?, self.wants())?;
        stream.push(rankings)?;
        stream.scores()
    }

    /// Starts an evaluation of rankings added batch by batch, with labels for the grades of `book`.
    ///
    /// # Errors
    /// A measure that does not fit the grades; groups or chosen queries, which need a matrix; a
    /// requested GPU that is missing.
    pub fn stream(&self, book: &Codebook) -> Result<RankingStream> {
        self.stream_of(book, Wants::SUMMARY)
    }

    fn stream_of(&self, book: &Codebook, wants: Wants) -> Result<RankingStream> {
        self.check_ranked("values over ties need all rankings at once, and not batch by batch")?;
        if self.only.is_some() || self.groups.is_some() {
            return unanswerable(
                "groups and chosen queries need ids: make a label matrix of the rankings",
            );
        }
        check_judgments(&self.measures, None)?;
        let plan = self.plan(book)?;
        // Labels behind all cutoffs are needed too: dropped documents move later ones up, and what
        // was retrieved decides what is relevant.
        let view = self.settings.view;
        let all = view.judged_only || self.settings.relevant_from.is_retrieved();
        let seen = if all { None } else { plan.max_rank() };
        let reach = seen.into_iter().chain(view.depth).min();
        let reach = reach.map_or(usize::MAX, |reach| reach as usize);
        let evaluator = Cow::Owned(self.clone().with_progress(None));
        Ok(RankingStream {
            evaluation: Evaluation::new(evaluator, Feeder::Rankings)?,
            watch: self.watch.clone(),
            wants,
            coder: GradeEncoder::new(book),
            plan,
            reach: reach.max(1),
            gathered: BlockResults::default(),
            rows: SeenRows::default(),
        })
    }
}

impl RankingStream {
    /// Evaluates a further batch of rankings, and adds their values to the sums of the stream.
    /// After an error, no ranking of the call counts.
    ///
    /// # Errors
    /// A fault of the arrays, by row and place; rankings with ids after rankings without ids, or
    /// the reverse; an infinite or NaN value; an empty ranking under [`QuerySet::RequireAll`];
    /// [`Error::Stopped`].
    pub fn push(&mut self, rankings: &Rankings<'_>) -> Result<()> {
        let named = rankings.row_ids().is_some();
        if self.rows.count > 0 && self.rows.ids.is_some() != named {
            return unanswerable("some of the rankings have ids and others have none");
        }
        let measures = &self.evaluation.evaluator.measures;
        if rankings.uses_distances()
            && let Some(other) = measures.iter().find(|measure| measure.definition().name != "NNR")
        {
            return unanswerable(format!(
                "{other}: distances of found neighbours give values of NNR alone, because more of \
                 them may be as near as the t-th than there are"
            ));
        }
        // Nothing of `self` changes before all blocks are through, so an error leaves no trace.
        let all = self.evaluation.install(|| self.gather(rankings))?;
        self.gathered.merge(all);
        let rows = &mut self.rows;
        let before = rows.count + rows.dropped.len();
        rows.dropped.extend(rankings.dropped_rows().iter().map(|row| before + row));
        rows.neighbours = rows.neighbours.max(rankings.true_neighbours());
        rows.count += rankings.len();
        rows.retrieved |= rankings.is_ideal_from_retrieved();
        let empty: Vec<usize> =
            (0..rankings.len()).filter(|&row| rankings.is_row_empty(row)).collect();
        rows.empty += empty.len() as u64;
        if let Some(ids) = rankings.row_ids() {
            let [all, without] = rows.ids.get_or_insert_default();
            ids.iter().for_each(|id| all.push(id));
            empty.into_iter().for_each(|row| without.push(ids.get(row)));
        }
        Ok(())
    }

    /// Returns the number of rankings added to the stream.
    pub fn rows(&self) -> usize {
        self.rows.count
    }

    /// Returns the mergeable summary of all rankings added to the stream.
    ///
    /// # Errors
    /// No ranking at all; two rankings with equal ids.
    pub fn finish(self) -> Result<Summary> {
        let runs = BTreeMap::from([((NAME.to_owned(), None), self.run_summary()?)]);
        Ok(self.evaluation.evaluator.summary_of(runs))
    }

    /// Returns the scores of all rankings added to the stream, with the statistics that the
    /// evaluator was asked for.
    fn scores(mut self) -> Result<Scores> {
        let summary = self.run_summary()?;
        let measures = self.evaluation.evaluator.measures.len();
        // Workers finish blocks in any order, and values must be in the order of the rows.
        let mut blocks = std::mem::take(&mut self.gathered.values);
        sort::by(&mut blocks, |one, other| one.0.cmp(&other.0));
        let mut rows: Vec<usize> = Vec::new();
        let mut values: Vec<Vec<f64>> =
            vec![Vec::new(); if self.wants.values { measures } else { 0 }];
        for (first, counted, of_block) in blocks {
            for (values, of_block) in values.iter_mut().zip(&of_block) {
                values.extend(counted.iter().map(|&row| of_block[row]));
            }
            rows.extend(counted.iter().map(|row| first + row));
        }
        let evaluator = &self.evaluation.evaluator;
        let mut of_run = evaluator.run_scores(&summary, &values);
        NAME.clone_into(&mut of_run.name);
        if evaluator.per_query {
            of_run.per_query = Some(self.per_query(&rows, values));
        }
        let of_neighbours =
            self.rows.neighbours.map(|neighbours| evaluator.neighbour_notices(neighbours));
        evaluator.scores_of(self.coder.book(), of_neighbours.into_iter().flatten(), vec![of_run])
    }

    /// Returns the values of rankings by query, in the order of their ids, or in the order of the
    /// rows where they have none.
    fn per_query(&self, rows: &[usize], values: Vec<Vec<f64>>) -> PerQuery {
        let missing = Vec::new();
        let Some([ids, _]) = &self.rows.ids else {
            let numbers = rows.iter().map(|&row| ranking_row(&self.rows.dropped, row).to_string());
            let numbers: Vec<String> = numbers.collect();
            let queries = numbers.iter().map(String::as_bytes).collect();
            return PerQuery { queries, values, missing };
        };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&at| ids.get(rows[at]));
        let values = values.iter().map(|column| order.iter().map(|&at| column[at]).collect());
        PerQuery {
            queries: order.iter().map(|&at| ids.get(rows[at])).collect(),
            values: values.collect(),
            missing,
        }
    }

    fn run_summary(&self) -> Result<RunSummary> {
        let SeenRows { count, empty, ids, retrieved, .. } = &self.rows;
        let Some(sums) = &self.gathered.sums else {
            return unanswerable("no rankings were evaluated");
        };
        let both = self.evaluation.evaluator.settings.queries == QuerySet::Common;
        let counted = *count as u64 - if both { *empty } else { 0 };
        let (queries, judged, missing) = match ids {
            None => {
                let missing = Unmatched { count: *empty, ids: Ids::default() };
                (QueryFingerprint::unnamed(counted), BTreeMap::new(), missing)
            }
            Some([all, without]) => {
                let (all, without) = (sorted(all)?, sorted(without)?);
                let judged = QueryFingerprint::from_ids(all.clone());
                let judged_sum =
                    BTreeMap::from([(judged.sum().unwrap_or_default(), judged.count())]);
                let queries = if both {
                    QueryFingerprint::from_ids(
                        all.iter().filter(|id| without.find(id).is_none()).collect(),
                    )
                } else {
                    judged
                };
                let missing = if self.evaluation.evaluator.missing_ids || self.wants.prints {
                    Unmatched::all(without.iter())
                } else {
                    Unmatched::first(without.iter())
                };
                (queries, judged_sum, missing)
            }
        };
        let provenance = RunProvenance {
            book: self.coder.book(),
            rule: RankingRule { ties: TieBreak::Input, ..RankingRule::default() },
            ideal: if *retrieved { IdealSource::Retrieved } else { IdealSource::Judgments },
        };
        Ok(RunSummary {
            judged,
            queries: Arc::new(queries),
            empty: if both { 0 } else { missing.count },
            missing,
            seen: self.gathered.seen,
            ..self.evaluation.evaluator.run_summary(
                provenance,
                &sums.sums,
                &sums.moments,
                &sums.skipped,
            )
        })
    }

    /// Evaluates rankings block by block, on all threads, and merges the results.
    fn gather(&self, rankings: &Rankings<'_>) -> Result<BlockResults<BlockValues>> {
        let rows = rankings.len();
        let mean = rankings.max_values(0..rows) / rows;
        // From the mean length, because rows of very different lengths in one block are packed by
        // depth within it.
        let together =
            (BLOCK_BYTES / (mean + ROW_BYTES) / LANES * LANES).clamp(LANES, BLOCK_ROWS).min(rows);
        let blocks = rows.div_ceil(together);
        expect_work(self.watch.as_deref(), rankings.max_values(0..rows) as u64);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done = Mutex::new((BlockResults::default(), None::<(usize, Error)>));
        let workers = if blocks > 1 { rayon::current_num_threads().min(blocks) } else { 1 };
        in_parallel(workers, &|| {
            let (mut gathered, mut room) = (BlockResults::default(), BlockScratch::default());
            while !failed.load(Ordering::Relaxed) {
                // Blocks are taken in order, and a worker that fails stops the others from *taking*
                // blocks only: a block that was taken is finished. So the error of the first wrong
                // block is always found.
                let block = next.fetch_add(1, Ordering::Relaxed);
                if block >= blocks {
                    break;
                }
                let of_block = block * together..rows.min((block + 1) * together);
                if let Err(other) = self.block(rankings, of_block, &mut room, &mut gathered) {
                    failed.store(true, Ordering::Relaxed);
                    let (_, first) = &mut *done.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(first_block, _)| block < *first_block) {
                        *first = Some((block, other));
                    }
                }
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).0.merge(gathered);
        });
        match done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (_, Some((_, error))) => Err(error),
            (done, None) => Ok(done),
        }
    }

    /// Evaluates a block of rankings, and adds its sums and values to `gathered`.
    fn block(
        &self,
        rankings: &Rankings<'_>,
        rows: Range<usize>,
        BlockScratch { block, scratch }: &mut BlockScratch,
        gathered: &mut BlockResults<BlockValues>,
    ) -> Result<()> {
        check_stopped(self.watch.as_deref())?;
        block.clear();
        rankings.fill(block, rows.clone(), &self.coder, self.reach, scratch)?;
        let batch = block.batch(self.coder.book())?;
        let empty: Vec<u32> = (0..)
            .zip(batch.depths())
            .filter(|(_, depth)| **depth == 0)
            .map(|(row, _)| row)
            .collect();
        let evaluator = &*self.evaluation.evaluator;
        let Evaluator { measures, settings, .. } = evaluator;
        if let (QuerySet::RequireAll, Some(&row)) = (settings.queries, empty.first()) {
            let name = self.name(rankings, rows.start + row as usize);
            return unanswerable(format!("{name}: nothing was retrieved for it"));
        }
        let both = settings.queries == QuerySet::Common;
        let counting = if both { &[][..] } else { &empty };
        let feed = Feed {
            plan: &self.plan,
            batch: batch.clone(),
            cuts: Cuts::default(),
            slots: Slots::for_runs(1, rows.len()),
            wants: self.wants,
            empty: counting,
            watch: None,
            alone: true,
        };
        let engine = self.evaluation.engine();
        let FeedOutcome { sums, sink, .. } =
            evaluator.feed(engine, feed, &mut None, || self.wants.into_collector())?;
        if let Some(NotFinite { row, measure, value }) = sums.not_finite
            && (!evaluator.not_finite || self.wants.prints)
        {
            return Err(Error::NotFinite {
                run: NAME.to_owned(),
                query: Some(self.name(rankings, rows.start + row as usize).into_bytes()),
                measure: measures[measure].to_string(),
                value,
            });
        }
        if let Some(parts) = &sink.parts {
            let counted = (0..rows.len()).filter(|&row| !both || batch.depths()[row] > 0).collect();
            gathered.values.push((rows.start, counted, by_row(parts, measures.len(), rows.len())?));
        }
        let seen = std::mem::take(&mut scratch.seen);
        gathered.merge(BlockResults { sums: Some(sums), seen, values: Vec::new() });
        add_work(self.watch.as_deref(), rankings.max_values(rows.clone()) as u64);
        Ok(())
    }

    /// Returns the name of a ranking in messages: its id, or its number among all rows.
    fn name(&self, rankings: &Rankings<'_>, row: usize) -> String {
        match rankings.row_ids() {
            Some(ids) => printable(ids.get(row)),
            None => {
                let SeenRows { count, dropped, .. } = &self.rows;
                format!("row {}", count + dropped.len() + ranking_row(rankings.dropped_rows(), row))
            }
        }
    }
}

/// Buffers that a worker reuses from block to block of rankings.
#[derive(Default)]
struct BlockScratch {
    block: Block,
    scratch: Scratch,
}

/// Sorts the ids of rankings bytewise.
///
/// # Errors
/// An id that occurs twice.
fn sorted(ids: &Ids) -> Result<Ids> {
    let mut all: Vec<&[u8]> = ids.iter().collect();
    all.sort_unstable();
    match all.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => unanswerable(format!("the id {} occurs twice", printable(pair[0]))),
        None => Ok(all.into_iter().collect()),
    }
}
