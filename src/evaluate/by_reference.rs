//! Evaluation of rankings by the reference function of each measure (its formula as plain code),
//! one ranking after another. Tests compare the values of all engines with these values.

use rayon::prelude::*;

use super::Evaluator;
use super::row_finisher::{named_in, ranking};
use super::sink::ValueSink;
use super::tally::{Tally, TallyContext, labels};
use crate::engine::Collector;
use crate::error::{Error, Result};
use crate::measure::{Measure, NoRelevant};
use crate::progress::{add_work, check_stopped, is_stopped};
use crate::reference::{self, Ranking};
use crate::stats::UNDEFINED;

impl Evaluator {
    /// Evaluates all rankings in the tiles of a batch by the reference functions of the measures,
    /// and tallies the values. `begin` makes an empty sink for each part of the work. Rankings
    /// without documents lie in no tile, and the caller adds those.
    ///
    /// # Errors
    /// A measure without a reference function; a stopped evaluation.
    pub(super) fn by_reference<'a, S: ValueSink>(
        &self,
        context: &'a TallyContext<'a>,
        begin: &(impl Fn() -> S + Sync),
    ) -> Result<Tally<'a, S>> {
        let functions = self.measures.iter().map(|measure| {
            reference::function(measure)
                .ok_or_else(|| Error::Unanswerable(format!("{measure} has no reference function")))
        });
        let functions: Vec<_> = functions.collect::<Result<_>>()?;
        let (batch, watch) = (&context.batch, self.watch.as_deref());
        let tallies = batch.tiles().into_par_iter().fold(
            || Tally::new(context, begin()),
            |mut tally, at| {
                // A stopped evaluation ends as an error, so the rest of the tiles need no values.
                if !is_stopped(watch) {
                    tally.add(batch.rows(at), &self.tile_by_reference(context, &functions, at));
                    add_work(watch, batch.tile(at).labels.len() as u64);
                }
                tally
            },
        );
        let tally = tallies.reduce(
            || Tally::new(context, begin()),
            |mut one, other| {
                one.merge(other);
                one
            },
        );
        check_stopped(watch)?;
        Ok(tally)
    }

    /// Computes the values of the rankings in tile `at` by the reference functions. The values lie
    /// as `[measure][row]`, with the rows of the tile in the order of lanes.
    fn tile_by_reference(
        &self,
        context: &TallyContext<'_>,
        functions: &[reference::Function],
        at: usize,
    ) -> Vec<f64> {
        let (batch, finishing) = (&context.batch, &context.finishing);
        let rows = batch.rows(at);
        let mut values = vec![0.0; functions.len() * rows.len()];
        for (lane, &row) in rows.iter().enumerate() {
            let labels = labels(batch, self.settings.view, at, lane);
            let named = named_in(batch, at, lane, self.settings.view);
            // Ties and judges need the labels before the view drops any. The groups of tied
            // documents are given by ranks of the stored ranking, and judges apply the view.
            let stored: Vec<u8> = if finishing.ties().is_some() || finishing.judges().is_some() {
                batch.ranking(at, lane).collect()
            } else {
                Vec::new()
            };
            let ties = finishing.ties().map_or(Vec::new(), |ties| ties.groups(row, &stored));
            let facets = batch.facet_rows().map(|grouped| reference::RankedFacets {
                judged: grouped.facets.get(batch.query(row)),
                named: &named,
            });
            let ranking = ranking(batch, row, &labels, batch.exact_of(at, lane));
            let ranking = Ranking { facets, ties: &ties, ..ranking };
            for (index, (measure, function)) in self.measures.iter().zip(functions).enumerate() {
                let value = match measure.judges().zip(finishing.judges()) {
                    Some((rule, judges)) => {
                        let measure = measure.for_one_judge();
                        judges.value(batch, row, rule, &stored, |own| function(&measure, own))
                    }
                    None => compute(measure, *function, &ranking),
                };
                values[index * rows.len() + lane] = value;
            }
        }
        values
    }
}

/// Computes a measure of one ranking by its reference function. If nothing is relevant for the
/// query, the parameter `no_relevant` of the measure may replace that value by 1 or by none.
fn compute(measure: &Measure, function: reference::Function, ranking: &Ranking<'_>) -> f64 {
    let nothing = measure.no_relevant() != NoRelevant::Zero
        && reference::is_nothing_relevant(measure, ranking);
    match measure.no_relevant() {
        NoRelevant::One if nothing => 1.0,
        NoRelevant::Skip if nothing => UNDEFINED,
        _ => function(measure, ranking),
    }
}
