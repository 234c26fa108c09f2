//! A block of rankings, the unit in which both streams evaluate, and the results of a block.

use super::finish::Finishing;
use super::sink::KeptValues;
use super::slots::Slots;
use super::tally::{SlotSums, Tally, TallyContext};
use super::{Evaluator, Wants};
use crate::engine::{Engine, Job};
use crate::error::Result;
use crate::fold::Columns;
use crate::label::{Batch, LANES};
use crate::plan::Plan;

/// The results of some blocks.
pub(super) struct BlockResults<V> {
    pub sums: Option<SlotSums>,
    /// The values of each ranking, if they are kept.
    pub values: Vec<V>,
}

impl<V> Default for BlockResults<V> {
    fn default() -> Self {
        BlockResults { sums: None, values: Vec::new() }
    }
}

impl<V> BlockResults<V> {
    pub fn merge(&mut self, other: Self) {
        match (&mut self.sums, other.sums) {
            (Some(sums), Some(others)) => sums.merge(&others),
            (sums @ None, others) => *sums = others,
            (Some(_), None) => {}
        }
        self.values.extend(other.values);
    }
}

impl Evaluator {
    /// Evaluates a block of rankings. `empty` are the rankings without documents that count nevertheless. Without an engine, the reference
    /// computes.
    ///
    /// # Errors
    /// A refusal of the engine; a value that is not finite.
    pub(super) fn block(
        &self,
        (plan, engine): (&Plan, Option<&impl Engine>),
        batch: &Batch<'_>,
        slots: Slots,
        wants: Wants,
        empty: &[u32],
    ) -> Result<(SlotSums, KeptValues)> {
        let prepared = plan.prepare(batch);
        let asked = TallyContext {
            batch: batch.clone(),
            finishing: Finishing::new(batch.clone(), self.view, &prepared)?,
            over_ties: None,
            averages: self.measures.iter().map(|measure| measure.definition().average).collect(),
            slots,
            moments: wants.moments,
        };
        let kept = || KeptValues { parts: wants.values.then(Vec::new) };
        let mut tally = match engine {
            Some(engine) => {
                let (program, inputs) = (plan.program(), prepared.inputs());
                let job = Job { batch: batch.clone(), view: self.view, program, inputs, watch: None };
                engine.run(&job, 1, || Tally::new(&asked, kept()))?
            }
            None => self.by_reference(&asked, &kept)?,
        };
        let columns = Columns::zeros(plan.program(), LANES);
        // Rows without documents lie in no tile, and have the columns of an empty ranking, all 0.
        empty.chunks(LANES).for_each(|rows| tally.rows(rows, &columns, None));
        Ok((tally.sums, tally.sink))
    }
}
