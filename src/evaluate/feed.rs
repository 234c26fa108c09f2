//! The steps from a batch of rankings to sums: prepared, given to an engine, finished and tallied.
//! The results of several batches merge.

use super::Evaluator;
use super::evaluation::Wants;
use super::row_finisher::RowFinisher;
use super::sink::ValueSink;
use super::slots::Slots;
use super::tally::{SlotSums, Tally, TallyContext};
use super::tie_values::TieEvaluator;
use crate::engine::{Engine, Job, cpu::Cpu};
use crate::error::Result;
use crate::fold::{Columns, Program};
use crate::matrix::{Batch, LANES, RetrievedHistograms, ScoreWarnings};
use crate::measure::NoRelevant;
use crate::plan::Plan;
use crate::progress::{ProgressHandle, expect_work};
use crate::ties::Cuts;
use crate::timing::Timing;

/// The results of evaluating some blocks of rankings: sums, facts about scores, and values.
pub(super) struct BlockResults<V> {
    pub sums: Option<SlotSums>,
    /// Facts about the scores, if blocks are made of scores.
    pub seen: ScoreWarnings,
    /// The values of each ranking, if they are kept.
    pub values: Vec<V>,
}

// By hand, because a derived impl would ask for `V: Default`, which values do not have to be.
impl<V> Default for BlockResults<V> {
    fn default() -> Self {
        Self { sums: None, seen: ScoreWarnings::default(), values: Vec::new() }
    }
}

impl<V> BlockResults<V> {
    pub fn merge(&mut self, other: Self) {
        match (&mut self.sums, other.sums) {
            (Some(sums), Some(others)) => sums.merge(&others),
            (sums @ None, others) => *sums = others,
            (Some(_), None) => {}
        }
        self.seen.merge(other.seen);
        self.values.extend(other.values);
    }
}

/// A batch of rankings to evaluate, with its plan, its options and the slots of its sums.
pub(super) struct Feed<'f> {
    pub plan: &'f Plan,
    pub batch: Batch<'f>,
    /// The cuts between rankings as they are stored and the measures.
    pub cuts: Cuts,
    pub slots: Slots,
    pub wants: Wants,
    /// The rows without documents that count nevertheless.
    pub empty: &'f [u32],
    /// The watch over finished tiles; `None` if the caller of [`Evaluator::feed`] counts the tiles.
    pub watch: Option<&'f ProgressHandle>,
    /// Whether one worker takes the whole batch, because each has a batch of its own.
    pub alone: bool,
}

/// The results of evaluating one batch of rankings: sums by slot, and the sink of values.
pub(super) struct FeedOutcome<S> {
    pub slots: Slots,
    pub sums: SlotSums,
    pub sink: S,
}

impl Evaluator {
    /// Evaluates a batch of rankings on an engine, and returns the sums and the sink of its values.
    /// Without an engine, the reference computes.
    ///
    /// # Errors
    /// A refusal of the engine; a batch without ties if ties are needed; too little memory for the
    /// sums.
    pub(super) fn feed<S: ValueSink>(
        &self,
        engine: Option<&impl Engine>,
        Feed { plan, batch, cuts, slots, wants, empty, watch, alone }: Feed<'_>,
        timing: &mut Option<&mut Timing>,
        begin: impl Fn() -> S + Sync,
    ) -> Result<FeedOutcome<S>> {
        let view = self.settings.view;
        let retrieved = self.settings.relevant_from.is_retrieved().then(|| {
            time_in(timing, "plan and facts", || RetrievedHistograms::count(&batch, view))
        });
        let retrieved = retrieved.transpose()?;
        let batch = match &retrieved {
            Some(retrieved) => batch.with_judgments(retrieved),
            None => batch,
        };
        let prepared = time_in(timing, "plan and facts", || plan.prepare(&batch));
        let cpu = engine.and_then(Engine::cpu_level).map(Cpu::at);
        let over_ties = TieEvaluator::new(self.settings.tied, &batch, view, cuts, &prepared, cpu)?;
        // Where `over_ties` computes all columns itself, an engine's columns would be thrown away.
        let nothing = Program::default();
        let computes = over_ties.as_ref().is_some_and(TieEvaluator::computes);
        let program = if computes { &nothing } else { plan.program() };
        let context = TallyContext {
            batch: batch.clone(),
            finishing: time_in(timing, "plan and facts", || {
                RowFinisher::new(batch.clone(), view, &prepared)
            })?,
            over_ties,
            averages: self.measures.iter().map(|measure| measure.definition().average).collect(),
            slots,
            moments: wants.moments,
            skips: self.measures.iter().any(|measure| measure.no_relevant() == NoRelevant::Skip),
        };
        let workers = if alone { 1 } else { context.workers()? };
        expect_work(watch, batch.bytes().len() as u64);
        let mut tally = time_in(timing, "folds and formulas", || match engine {
            Some(engine) => {
                let job = Job { batch, view, program, inputs: prepared.inputs(), watch };
                engine.run(&job, workers, || Tally::new(&context, begin()))
            }
            None => self.by_reference(&context, &begin),
        })?;
        // Rows without documents lie in no tile, and have the columns of an empty ranking, all 0.
        time_in(timing, "statistics", || {
            let columns = Columns::zeros(plan.program(), LANES);
            empty.chunks(LANES).for_each(|rows| tally.rows(rows, &columns, None));
        });
        let Tally { sums, sink, .. } = tally;
        Ok(FeedOutcome { slots: context.slots, sums, sink })
    }
}

/// Runs `work`, and adds its time to a named step of the evaluation if times are asked for.
fn time_in<T>(timing: &mut Option<&mut Timing>, step: &'static str, work: impl FnOnce() -> T) -> T {
    match timing {
        Some(timing) => timing.time(step, work),
        None => work(),
    }
}
