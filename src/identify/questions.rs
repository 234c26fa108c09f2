//! A question of `laneval identify`: the measures and parameters to try for reported numbers, and
//! their evaluation.

use super::orders::{RunPart, SplitRun};
use super::policy::PolicyQueries;
use super::printed::PrintedNumber;
use super::spellings::Spelling;
use super::sums::{DefinitionSums, QueryConstraints, QueryValueSink, ValueSums};
use super::views::{RunView, run_views};
use crate::error::Result;
use crate::evaluate::{EngineChoice, Evaluator};
use crate::matrix::{Codebook, CodesAbove};
use crate::measure::Measure;
use crate::scores::{EvaluationSettings, QuerySet, TiedValue};

/// A reported mean of a measure, or reported values of queries, that a definition must match.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Evidence {
    /// The printed mean of the measure.
    Mean(PrintedNumber),
    /// Values of queries.
    Values,
}

/// The measures with parameters to try for reported numbers, and the reported numbers.
#[derive(Debug)]
pub(super) struct Question {
    /// The spellings to try, each with one measure for each piece of evidence.
    pub spellings: Vec<Spelling>,
    pub evidence: Vec<Evidence>,
}

/// Sums of the values of each tried measure under one view (order, `-J`, `-M`, `--relevant-from`);
/// `None` where a measure has no value under the view.
pub(super) struct ViewSums {
    pub look: RunView,
    pub sums: Vec<Option<DefinitionSums>>,
}

/// Sums of the values of each tried measure over some rankings of the run; `None` where a measure
/// has no value.
type PartSums = Vec<Option<DefinitionSums>>;

/// The run of a question of `laneval identify`, split by ties, with the reported values of its
/// queries.
pub(super) struct IdentifyRun {
    pub parted: SplitRun,
    pub constraints: QueryConstraints,
    pub book: Codebook,
}

impl Question {
    /// Returns the measures of all tried spellings, spelling by spelling.
    pub fn measures(&self) -> Vec<&Measure> {
        self.spellings.iter().flat_map(|spelling| &spelling.at).collect()
    }

    /// Returns whether values of single queries were reported.
    pub fn has_values(&self) -> bool {
        self.evidence.contains(&Evidence::Values)
    }

    /// Evaluates all tried measures over the run under every view.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn sums(&self, run: &IdentifyRun) -> Result<Vec<ViewSums>> {
        let measures = self.measures();
        let mut plain: Vec<(RunView, PartSums)> = Vec::new();
        // The sums over the tied rankings, by look. Orders with equal arrangements of the tied
        // rankings share an entry.
        let mut arranged: Vec<(RunView, PartSums)> = Vec::new();
        let mut all = Vec::new();
        for look in run_views(run.parted.orders.len()) {
            // Plain rankings are the same in every order, so one evaluation serves all orders.
            let of_plain = RunView { order: 0, ..look };
            if !plain.iter().any(|(view, _)| *view == of_plain) {
                let part = run.parted.plain.as_ref();
                plain.push((of_plain, run.evaluated(part, of_plain, &measures)?));
            }
            let (order, arrangement) = run.parted.orders[look.order];
            let alike = arranged.iter().position(|(view, _)| {
                let (other, arranged) = run.parted.orders[view.order];
                RunView { order: look.order, ..*view } == look
                    && (other.value, arranged) == (order.value, arrangement)
            });
            let of_tied = match alike {
                Some(at) => at,
                None => {
                    let part = run.parted.tied.get(arrangement);
                    arranged.push((look, run.evaluated(part, look, &measures)?));
                    arranged.len() - 1
                }
            };
            let tied = &arranged[of_tied].1;
            let plain =
                plain.iter().find(|(view, _)| *view == of_plain).map_or(&[][..], |(_, sums)| sums);
            // A measure without a value in the order of `look` has no sums over tied rankings.
            let both = plain.iter().zip(tied).map(|(plain, tied)| {
                let mut sums = plain.clone()?;
                sums.merge(tied.as_ref()?);
                Some(sums)
            });
            all.push(ViewSums { look, sums: both.collect() });
        }
        Ok(all)
    }
}

/// Returns whether a view gives a measure a value that the view without the cut does not give. A
/// cut at the measure's cutoff changes the value only with `ideal=retrieved`; other measures would
/// repeat the value without the cut.
fn has_own_value(look: RunView, measure: &Measure) -> bool {
    !look.cut || measure.rank().is_some() && measure.choice("ideal") == "retrieved"
}

impl IdentifyRun {
    /// Returns whether a measure is evaluated in a view: it has a value there, and one of its own.
    fn has(&self, look: RunView, measure: &Measure) -> bool {
        has_own_value(look, measure)
            && self.evaluator(look, vec![measure.clone()]).check_tied().is_ok()
    }

    /// Returns an evaluator of measures with the options of a view. If the view cuts rankings, all
    /// measures need an equal cutoff.
    fn evaluator(&self, look: RunView, measures: Vec<Measure>) -> Evaluator {
        let order = self.parted.orders.get(look.order);
        let settings = EvaluationSettings {
            queries: QuerySet::Common,
            view: look.view(measures.first().and_then(Measure::rank)),
            relevant_from: look.relevant_from,
            tied: order.map_or(TiedValue::Ranked, |(order, _)| order.value),
        };
        Evaluator::from_measures(measures).with_settings(settings).with_engine(EngineChoice::Cpu)
    }

    /// Sums up the values of each measure over some rankings of the run in a view, in one pass. If
    /// the view cuts rankings, each cutoff takes a pass.
    fn evaluated(
        &self,
        part: Option<&RunPart>,
        look: RunView,
        measures: &[&Measure],
    ) -> Result<PartSums> {
        let mut all: PartSums = measures
            .iter()
            .map(|measure| self.has(look, measure).then(DefinitionSums::default))
            .collect();
        let Some(part) = part else { return Ok(all) };
        let mut left: Vec<usize> = (0..all.len()).filter(|&at| all[at].is_some()).collect();
        while let Some(&first) = left.first() {
            let (now, later): (Vec<usize>, Vec<usize>) = left
                .into_iter()
                .partition(|&at| !look.cut || measures[at].rank() == measures[first].rank());
            left = later;
            let of_pass: Vec<Measure> = now.iter().map(|&at| measures[at].clone()).collect();
            let (exact, sink) =
                self.evaluator(look, of_pass).sums_into(&part.matrix, || ValueSums {
                    constraints: &self.constraints,
                    queries: &part.queries,
                    sums: vec![DefinitionSums::default(); now.len()],
                })?;
            for ((at, exact), sums) in now.iter().zip(exact).zip(sink.sums) {
                all[*at] = Some(DefinitionSums { exact, ..sums });
            }
        }
        Ok(all)
    }

    /// Returns the value of a measure for each query of the matrix in a view; `None` for queries
    /// missing from the run.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn values(&self, look: RunView, measure: &Measure) -> Result<Vec<Option<f64>>> {
        let mut all = vec![None; self.parted.queries.len()];
        let tied = self.parted.orders.get(look.order).and_then(|(_, at)| self.parted.tied.get(*at));
        let plain = self.parted.plain.as_ref().map(|part| (part, RunView { order: 0, ..look }));
        for (part, look) in plain.into_iter().chain(tied.map(|part| (part, look))) {
            let evaluator = self.evaluator(look, vec![measure.clone()]);
            let (_, sink) = evaluator.sums_into(&part.matrix, || QueryValueSink {
                queries: &part.queries,
                values: Vec::new(),
            })?;
            sink.values.into_iter().for_each(|(query, value)| all[query as usize] = Some(value));
        }
        Ok(all)
    }

    /// Returns the queries without relevant documents or missing from the run, for one set of
    /// relevant grades; `retrieved` says whether only retrieved relevant documents are known.
    pub fn policy_queries(&self, retrieved: bool, above: CodesAbove) -> PolicyQueries {
        PolicyQueries::new(&self.parted.queries, &self.constraints, above, retrieved)
    }
}

/// Returns the grades without which a measure is 0: those of its level of relevance, above 0. The
/// grades are label codes.
pub(super) fn relevant(measure: &Measure, book: &Codebook) -> CodesAbove {
    let least = measure.levels(book).into_iter().fold(f64::INFINITY, f64::min);
    match measure.choice("gain") {
        "binary" => book.at_least(measure.binary_level().unwrap_or(least).max(0f64.next_up())),
        "grade" if measure.definition().params.iter().any(|param| param.name == "gmax") => {
            book.at_least(0f64.next_up())
        }
        _ => book.at_least(least.max(0f64.next_up())),
    }
}
