//! Rows evaluated by the plain functions of the formulas, one ranking after another: the oracle of
//! all engines.

use rayon::prelude::*;

use super::Evaluator;
use super::finish::{named_in, ranking};
use super::sink::Sink;
use super::tally::{Tally, TallyContext, labels};
use crate::engine::Gather;
use crate::error::{Error, Result};
use crate::measure::{Measure, OfNothing};
use crate::reference::{self, Ranking};
use crate::stats::UNDEFINED;

impl Evaluator {
    /// Tallies all rows by the plain functions.
    pub(super) fn by_reference<'a, S: Sink>(
        &self,
        asked: &'a TallyContext<'a>,
        begin: &(impl Fn() -> S + Sync),
    ) -> Result<Tally<'a, S>> {
        let function = |measure: &Measure| {
            reference::function(measure)
                .ok_or_else(|| Error::Unanswerable(format!("{measure} has no reference function")))
        };
        let functions: Vec<_> = self.measures.iter().map(function).collect::<Result<_>>()?;
        let (batch, together) = (&asked.batch, asked.finishing.together());
        let is_stopped = || self.watch.as_ref().is_some_and(|watch| watch.is_stopped());
        let add = |mut tally: Tally<'a, S>, at: usize| {
            if is_stopped() {
                return tally;
            }
            let (rows, at_tile) = (batch.rows(at), at);
            let mut values = vec![0.0; functions.len() * rows.len()];
            for (lane, &row) in rows.iter().enumerate() {
                let (labels, grades) =
                    (labels(batch, self.view, at, lane), batch.exact_of(at, lane));
                let named = named_in(batch, at, lane, self.view);
                let stored: Vec<u8> =
                    if together.is_some() { batch.ranking(at, lane).collect() } else { Vec::new() };
                let ties = together.map_or(Vec::new(), |together| together.groups(row, &stored));
                let groups = batch.facet_rows().map(|grouped| grouped.of.of(batch.query(row)));
                let groups = groups.map(|judged| reference::RankedFacets { judged, named: &named });
                for (at, (measure, function)) in self.measures.iter().zip(&functions).enumerate() {
                    if let Some((rule, judged)) = measure.judges().zip(asked.finishing.judges()) {
                        let labels: Vec<u8> = batch.ranking(at_tile, lane).collect();
                        let of = measure.of_one_judge();
                        let value = |ranking: &Ranking<'_>| function(&of, ranking);
                        values[at * rows.len() + lane] =
                            judged.value(batch, row, rule, &labels, (self.view, together), value);
                        continue;
                    }
                    let ranking = Ranking {
                        facets: groups,
                        ties: &ties,
                        ..ranking(batch, row, &labels, grades)
                    };
                    values[at * rows.len() + lane] = compute(measure, *function, &ranking);
                }
            }
            tally.add(rows, &values);
            self.watch.iter().for_each(|watch| watch.add(batch.tile(at).labels.len() as u64));
            tally
        };
        let both = |mut one: Tally<'a, S>, other: Tally<'a, S>| {
            one.merge(other);
            one
        };
        let begin = || Tally::new(asked, begin());
        let tally = batch.tiles().into_par_iter().fold(begin, add).reduce(begin, both);
        if is_stopped() { Err(Error::Stopped) } else { Ok(tally) }
    }
}

/// Computes the value of a measure by its function, or what it is where nothing is relevant.
fn compute(measure: &Measure, function: reference::Function, ranking: &Ranking<'_>) -> f64 {
    let nothing =
        measure.of_nothing() != OfNothing::Zero && reference::is_nothing_relevant(measure, ranking);
    match measure.of_nothing() {
        OfNothing::One if nothing => 1.0,
        OfNothing::Skip if nothing => UNDEFINED,
        _ => function(measure, ranking),
    }
}
