//! The way of a batch to sums: prepared, given to an engine, finished and tallied. The results of
//! several batches merge.

use super::Evaluator;
use super::evaluation::Wants;
use super::finish::Finishing;
use super::sink::Sink;
use super::slots::Slots;
use super::tally::{SlotSums, Tally, TallyContext};
use super::tied::OverTies;
use crate::engine::{Engine, Job, cpu::Cpu};
use crate::error::Result;
use crate::fold::{Columns, Program};
use crate::matrix::{Batch, LANES, RetrievedFacts, ScoresSeen};
use crate::measure::OfNothing;
use crate::plan::Plan;
use crate::scores::Known;
use crate::ties::Cuts;
use crate::timing::Timing;
use crate::watch::Watch;

/// The results of some blocks.
pub(super) struct BlockResults<V> {
    pub sums: Option<SlotSums>,
    /// Facts about the scores, if blocks are made of scores.
    pub seen: ScoresSeen,
    /// The values of each ranking, if they are kept.
    pub values: Vec<V>,
}

impl<V> Default for BlockResults<V> {
    fn default() -> Self {
        BlockResults { sums: None, seen: ScoresSeen::default(), values: Vec::new() }
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

/// A batch of rankings on its way to sums.
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
    pub watch: Option<&'f Watch>,
    /// Whether one worker takes the whole batch, because each has a batch of its own.
    pub alone: bool,
}

/// The results of a batch.
pub(super) struct Fed<S> {
    pub slots: Slots,
    pub sums: SlotSums,
    pub sink: S,
}

impl Evaluator {
    /// Evaluates a batch. Without an engine, the reference computes.
    ///
    /// # Errors
    /// A refusal of the engine; a batch without ties if ties are needed; too little memory for the
    /// sums.
    pub(super) fn feed<S: Sink>(
        &self,
        engine: Option<&impl Engine>,
        Feed { plan, batch, cuts, slots, wants, empty, watch, alone }: Feed<'_>,
        timing: &mut Option<&mut Timing>,
        begin: impl Fn() -> S + Sync,
    ) -> Result<Fed<S>> {
        let retrieved = match self.known {
            Known::Judged => None,
            Known::Retrieved => {
                Some(time_in(timing, "plan and facts", || RetrievedFacts::of(&batch, self.view))?)
            }
        };
        let batch = match &retrieved {
            Some(retrieved) => batch.knowing(retrieved),
            None => batch,
        };
        let prepared = time_in(timing, "plan and facts", || plan.prepare(&batch));
        let cpu = engine.and_then(Engine::cpu_level).map(Cpu::at);
        let over_ties = OverTies::new(self.tied, &batch, (self.view, cuts), &prepared, cpu)?;
        let nothing = Program::default();
        let computes = over_ties.as_ref().is_some_and(OverTies::computes);
        let program = if computes { &nothing } else { plan.program() };
        let finishing = || Finishing::new(batch.clone(), self.view, &prepared);
        let asked = TallyContext {
            batch: batch.clone(),
            finishing: time_in(timing, "plan and facts", finishing)?,
            over_ties,
            averages: self.measures.iter().map(|measure| measure.definition().average).collect(),
            slots,
            moments: wants.moments,
            skips: self.measures.iter().any(|measure| measure.of_nothing() == OfNothing::Skip),
        };
        let workers = if alone { 1 } else { asked.workers()? };
        watch.iter().for_each(|watch| watch.expect(batch.bytes().len() as u64));
        let mut tally = time_in(timing, "folds and formulas", || match engine {
            Some(engine) => {
                let job = Job { batch, view: self.view, program, inputs: prepared.inputs(), watch };
                engine.run(&job, workers, || Tally::new(&asked, begin()))
            }
            None => self.by_reference(&asked, &begin),
        })?;
        // Rows without documents lie in no tile, and have the columns of an empty ranking, all 0.
        time_in(timing, "statistics", || {
            let columns = Columns::zeros(plan.program(), LANES);
            empty.chunks(LANES).for_each(|rows| tally.rows(rows, &columns, None));
        });
        let Tally { sums, sink, .. } = tally;
        Ok(Fed { slots: asked.slots, sums, sink })
    }
}

/// Does some work, whose time is added to a step where times are asked for.
fn time_in<T>(timing: &mut Option<&mut Timing>, step: &'static str, work: impl FnOnce() -> T) -> T {
    match timing {
        Some(timing) => timing.time(step, work),
        None => work(),
    }
}
