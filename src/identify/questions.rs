//! A question: the possible spellings for a number, or for several numbers of one measure, and the
//! sums of their values under every view.

use super::orders::{PartOfRun, PartedRun};
use super::policy::PolicyQueries;
use super::printed::PrintedNumber;
use super::spellings::Spelling;
use super::sums::{AskedOfQueries, DefinitionSums, KeptOfQueries, SumsOfValues};
use super::views::{LookAt, looks};
use crate::error::Result;
use crate::evaluate::{EngineChoice, Evaluator};
use crate::matrix::{Above, Codebook};
use crate::measure::Measure;
use crate::scores::{Known, QuerySet, TiedValue};

/// Evidence on a measure of a spelling.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Evidence {
    /// The printed mean of the measure.
    Mean(PrintedNumber),
    /// Values of queries.
    Values,
}

/// The spellings to try for a number or values of queries, with the evidence.
#[derive(Debug)]
pub(super) struct Question {
    /// The spellings to try, each with one measure for each piece of evidence.
    pub spellings: Vec<Spelling>,
    pub evidence: Vec<Evidence>,
}

/// The sums of a question's measures under a view: by spelling and evidence; `None` where a measure
/// has no value under the view.
pub(super) struct SumsOfLook {
    pub look: LookAt,
    pub sums: Vec<Option<DefinitionSums>>,
}

/// The sums of each measure over a part of the run; `None` where a measure has no value.
type PartedSums = Vec<Option<DefinitionSums>>;

/// The run in question, and the questions about its queries.
pub(super) struct AskedRun {
    pub parted: PartedRun,
    pub asked: AskedOfQueries,
    pub book: Codebook,
}

impl Question {
    /// The measures of all spellings, grouped by spelling.
    pub fn measures(&self) -> Vec<&Measure> {
        self.spellings.iter().flat_map(|spelling| &spelling.at).collect()
    }

    /// Evaluates all spellings under all views.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn sums(&self, run: &AskedRun) -> Result<Vec<SumsOfLook>> {
        let measures = self.measures();
        let mut plain: Vec<(LookAt, PartedSums)> = Vec::new();
        // The sums over the tied rankings, by look. Orders with equal arrangements of the tied
        // rankings share an entry.
        let mut arranged: Vec<(LookAt, PartedSums)> = Vec::new();
        let mut all = Vec::new();
        for look in looks(run.parted.orders.len()) {
            let wanted: Vec<bool> = measures.iter().map(|measure| run.has(look, measure)).collect();
            let of_plain = LookAt { order: 0, ..look };
            if !plain.iter().any(|(of, _)| *of == of_plain) {
                let part = run.parted.plain.as_ref();
                let all_of: Vec<bool> =
                    measures.iter().map(|measure| run.has(of_plain, measure)).collect();
                plain.push((of_plain, run.evaluated(part, of_plain, &measures, &all_of)?));
            }
            let (order, arrangement) = run.parted.orders[look.order];
            let alike = |(of, _): &(LookAt, PartedSums)| {
                let (other, arranged) = run.parted.orders[of.order];
                LookAt { order: look.order, ..*of } == look
                    && (other.value, arranged) == (order.value, arrangement)
            };
            let of_tied = match arranged.iter().position(alike) {
                Some(at) => at,
                None => {
                    let part = run.parted.tied.get(arrangement);
                    arranged.push((look, run.evaluated(part, look, &measures, &wanted)?));
                    arranged.len() - 1
                }
            };
            let tied = &arranged[of_tied].1;
            let plain =
                plain.iter().find(|(of, _)| *of == of_plain).map_or(&[][..], |(_, sums)| sums);
            let both = plain.iter().zip(tied).zip(&wanted).map(|((plain, tied), &wanted)| {
                let mut sums = plain.clone().filter(|_| wanted)?;
                sums.merge(tied.as_ref()?);
                Some(sums)
            });
            all.push(SumsOfLook { look, sums: both.collect() });
        }
        Ok(all)
    }
}

/// Returns whether a look gives a measure a value of its own. A cut at the measure's cutoff changes
/// the value only with `ideal=retrieved`; other measures would repeat the value without the cut.
fn has_own_value(look: LookAt, measure: &Measure) -> bool {
    !look.cut || measure.rank().is_some() && measure.word("ideal") == "retrieved"
}

impl AskedRun {
    /// Whether a measure has a value in a view.
    fn has(&self, look: LookAt, measure: &Measure) -> bool {
        has_own_value(look, measure)
            && self.evaluator(look, vec![measure.clone()]).check_tied().is_ok()
    }

    /// Returns the evaluator of measures in a view. If the view cuts rankings, all measures need an
    /// equal cutoff.
    fn evaluator(&self, look: LookAt, measures: Vec<Measure>) -> Evaluator {
        let view = look.view(measures.first().and_then(Measure::rank));
        Evaluator::of(measures)
            .with_queries(QuerySet::Both)
            .with_engine(EngineChoice::Cpu)
            .with_view(view)
            .with_known(look.known)
            .with_tied(
                self.parted
                    .orders
                    .get(look.order)
                    .map_or(TiedValue::Ranked, |(order, _)| order.value),
            )
    }

    /// Evaluates the `wanted` measures over a part of the run in one pass. If the view cuts
    /// rankings, each cutoff takes a pass.
    fn evaluated(
        &self,
        part: Option<&PartOfRun>,
        look: LookAt,
        measures: &[&Measure],
        wanted: &[bool],
    ) -> Result<PartedSums> {
        let mut all: PartedSums =
            wanted.iter().map(|&wanted| wanted.then(DefinitionSums::default)).collect();
        let Some(part) = part else { return Ok(all) };
        let mut left: Vec<usize> = (0..measures.len()).filter(|&at| wanted[at]).collect();
        while let Some(&first) = left.first() {
            let together = |at: &usize| !look.cut || measures[*at].rank() == measures[first].rank();
            let (now, later): (Vec<usize>, Vec<usize>) = left.into_iter().partition(together);
            left = later;
            let of_pass: Vec<Measure> = now.iter().map(|&at| measures[at].clone()).collect();
            let begin = || SumsOfValues {
                asked: &self.asked,
                queries: &part.queries,
                sums: vec![DefinitionSums::default(); now.len()],
            };
            let (exact, sink) = self.evaluator(look, of_pass).sums_into(&part.matrix, begin)?;
            for ((at, exact), sums) in now.iter().zip(exact).zip(sink.sums) {
                all[*at] = Some(DefinitionSums { exact, ..sums });
            }
        }
        Ok(all)
    }

    /// Returns the values of a measure for the queries in the run, by query of the matrix.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn values(&self, look: LookAt, measure: &Measure) -> Result<Vec<Option<f64>>> {
        let mut all = vec![None; self.parted.queries.len()];
        let tied = self.parted.orders.get(look.order).and_then(|(_, at)| self.parted.tied.get(*at));
        let plain = self.parted.plain.as_ref().map(|part| (part, LookAt { order: 0, ..look }));
        for (part, look) in plain.into_iter().chain(tied.map(|part| (part, look))) {
            let begin = || KeptOfQueries { queries: &part.queries, values: Vec::new() };
            let (_, kept) =
                self.evaluator(look, vec![measure.clone()]).sums_into(&part.matrix, begin)?;
            kept.values.into_iter().for_each(|(query, value)| all[query as usize] = Some(value));
        }
        Ok(all)
    }

    /// The queries on which policies bear, for a measure; equal for measures of one [`relevant`]
    /// set.
    pub fn policy_queries(&self, look: LookAt, above: Above) -> PolicyQueries {
        let retrieved = look.known == Known::Retrieved;
        PolicyQueries::of(&self.parted.queries, &self.asked, (above, retrieved))
    }
}

/// The documents without which a measure is 0: those of its level of relevance, and of a grade
/// above 0.
pub(super) fn relevant(measure: &Measure, book: &Codebook) -> Above {
    let least = measure.levels(book).into_iter().fold(f64::INFINITY, f64::min);
    match measure.word("gain") {
        "binary" => book.at_least(measure.binary_level().unwrap_or(least).max(0f64.next_up())),
        "grade" if measure.definition().params.iter().any(|param| param.name == "gmax") => {
            book.at_least(0f64.next_up())
        }
        _ => book.at_least(least.max(0f64.next_up())),
    }
}
