//! The comparison of runs: its numbers, and its results for runs, pairs and gates.

use super::anova::Anova;
use super::difference::Difference;
use super::gate::{Gate, GateFacts, GateVerdict};
use super::gate_words::{ChangeTold, GateSentence};
use super::options::{Alternative, ComparisonOptions, Test};
use super::randomised::Pair;
use crate::error::{Error, Result};
use crate::measure::{Better, Measure};
use crate::scores::QuerySet;
use crate::stats::is_undefined;
use crate::stats::rounding::{are_best, is_equal, settled};

/// A comparison of runs under measures.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Comparison {
    /// The options of the comparison.
    pub options: ComparisonOptions,
    /// The measures. The first one decides.
    pub measures: Vec<Measure>,
    /// The runs, in the order given.
    pub runs: Vec<Compared>,
    /// The index of the baseline, if any.
    pub baseline: Option<usize>,
    /// The pairs: by measure, then by baseline and run.
    pub differences: Vec<Difference>,
    /// The analysis of variance under each measure, if it was asked for or the correction needs it.
    pub anova: Vec<Anova>,
    /// The agreement of the other measures with the first one on the ranking of the runs, if there
    /// are three runs or more.
    pub agreement: Vec<Agreement>,
    /// The queries that count.
    pub query_set: QuerySet,
    /// The group of queries that is compared; `None` for all of them.
    pub group: Option<String>,
    /// The number of compared queries.
    pub queries: usize,
    /// The number of counted queries without a value, by measure. No number of the measure includes
    /// these queries.
    pub skipped: Vec<usize>,
    /// The number of hypotheses of each family.
    pub family_size: usize,
    /// The number of draws of signs; 0 if none were drawn.
    pub draws: u32,
    /// Notes about the data and the tests.
    pub notes: Vec<String>,
    /// The ids of the queries, in bytewise order.
    pub(super) ids: Vec<Vec<u8>>,
    /// The averaged terms, `[measure][run][query]`.
    pub(super) terms: Vec<Vec<Vec<f64>>>,
    /// The missing queries of each run, as far as known.
    pub(super) lacking: Vec<Vec<usize>>,
}

/// A run that is compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Compared {
    /// The name of the run.
    pub name: String,
    /// The letter of the run, or its number if there are more runs than letters.
    pub label: String,
    /// The number of queries missing from the run and counted as empty rankings.
    pub filled: usize,
    /// The mean of the run under each measure: of values, also for counts; the geometric mean if
    /// that is the measure's average.
    pub means: Vec<f64>,
    /// The share of judged documents in the run, down to each measure's cutoff; empty if unknown.
    pub judged: Vec<Option<f64>>,
}

/// The result of a gate for a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// The index of the run.
    pub run: usize,
    /// Whether the run failed, and why.
    pub verdict: GateVerdict,
}

/// The agreement of a measure with the first one on the ranking of the runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// The index of the measure.
    pub measure: usize,
    /// Kendall's τ_b; `None` if all runs are tied under a measure.
    pub tau: Option<f64>,
    /// Rank correlation τ_AP,b, with most weight on the top.
    pub tau_ap: Option<f64>,
    /// Rank-biased overlap with p = 0.9.
    pub overlap: Option<f64>,
}

impl Comparison {
    /// The differences under a measure.
    pub fn of_measure(&self, measure: usize) -> &[Difference] {
        let pairs = self.differences.len() / self.measures.len();
        &self.differences[measure * pairs..][..pairs]
    }

    /// The difference of two runs under a measure, whichever of them was subtracted.
    pub fn between(&self, measure: usize, one: usize, other: usize) -> Option<&Difference> {
        let (low, high) = (one.min(other), one.max(other));
        // The place of a pair follows from the order in which pairs are made: a search would take
        // long among the pairs of a thousand runs.
        let place = match self.baseline {
            Some(baseline) if one == baseline || other == baseline => {
                let run = if one == baseline { other } else { one };
                run - usize::from(run > baseline)
            }
            Some(_) => return None,
            None => (low * (2 * self.runs.len() - low - 1) / 2 + high).checked_sub(low + 1)?,
        };
        let found = self.of_measure(measure).get(place)?;
        [(low, high), (high, low)].contains(&(found.pair.baseline, found.pair.run)).then_some(found)
    }

    /// Whether all pairs are compared in both directions. Only then can a comparison tell the best
    /// run from the rest in any order of the input.
    pub fn tells_the_best(&self) -> bool {
        self.baseline.is_none() && self.options.alternative == Alternative::TwoSided
    }

    /// Whether a difference is shown: it is significant after the correction, and the test does not
    /// point against the means. Wilcoxon's test and the sign test may contradict the means, because
    /// both ask which way most queries lean.
    pub fn is_shown(&self, of: &Difference) -> bool {
        of.is_significant(self.options.alpha) && !self.is_contradictory(of)
    }

    /// Whether the deciding test points against the means.
    pub(super) fn is_contradictory(&self, of: &Difference) -> bool {
        let leans = matches!(self.options.test, Test::Wilcoxon | Test::Sign)
            && !self.options.correction.has_own_p();
        let tails =
            of.tails(self.options.test).filter(|tails| leans && tails.higher != tails.lower);
        tails.is_some_and(|tails| (tails.higher < tails.lower) != (of.paired.mean > 0.0))
    }

    /// The ids of the queries, in bytewise order; empty if the values of queries are not known.
    pub fn query_ids(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ids.iter().map(Vec::as_slice)
    }

    /// Whether the values of queries are known. Merged parts have no values of queries.
    pub fn has_values(&self) -> bool {
        !self.ids.is_empty()
    }

    /// The averaged terms of a run under a measure, by query; empty if unknown.
    pub fn values(&self, measure: usize, run: usize) -> &[f64] {
        &self.terms[measure][run]
    }

    /// The missing queries of a run that count as empty rankings, by place among the ids,
    /// ascending, as far as known.
    pub fn lacking(&self, run: usize) -> &[usize] {
        &self.lacking[run]
    }

    /// The index of the best run under a measure; the first of several.
    pub fn best(&self, measure: usize) -> usize {
        let merits = self.merits(measure);
        (1..merits.len()).fold(0, |best, run| if merits[run] > merits[best] { run } else { best })
    }

    /// Whether a run lacks a query, as far as known. A missing query counts as an empty ranking and
    /// has no value of its own.
    pub fn lacks(&self, run: usize, query: usize) -> bool {
        self.lacking[run].binary_search(&query).is_ok()
    }

    /// Whether a query has a value under a measure; as far as values are known.
    pub fn is_defined(&self, measure: usize, query: usize) -> bool {
        !is_undefined(self.values(measure, 0)[query])
    }

    /// By how much a query differs between the two runs of a pair: 0 if its values are equal within
    /// rounding.
    pub fn change(&self, of: &Difference, query: usize) -> f64 {
        let [a, b] = [of.pair.baseline, of.pair.run].map(|run| self.values(of.measure, run)[query]);
        if is_undefined(a) || is_equal(a, b) { 0.0 } else { b - a }
    }

    /// Whether a run is the best under a measure, or equal to the best within rounding; no run is
    /// if all are equal.
    pub fn is_best(&self, measure: usize, run: usize) -> bool {
        let means: Vec<Option<f64>> =
            self.runs.iter().map(|run| Some(run.means[measure])).collect();
        are_best(&means, self.measures[measure].definition().better)[run]
    }

    /// Numbers that rank the runs under a measure, the highest first. Runs with equal means within
    /// rounding have equal numbers.
    pub fn merits(&self, measure: usize) -> Vec<f64> {
        let sign =
            if self.measures[measure].definition().better == Better::Lower { -1.0 } else { 1.0 };
        settled(&self.runs.iter().map(|run| sign * run.means[measure]).collect::<Vec<f64>>())
    }

    /// The indices of the runs that a run is significantly better than under a measure.
    pub fn beaten(&self, measure: usize, run: usize) -> Vec<usize> {
        let beaten = |of: &Difference| {
            let (other, gain) = match of.pair {
                Pair { baseline, run: this } if this == run => (baseline, of.gain()),
                Pair { baseline: this, run: other } if this == run => (other, -of.gain()),
                _ => return None,
            };
            (gain > 0.0 && self.is_shown(of)).then_some(other)
        };
        let mut beaten: Vec<usize> = self.of_measure(measure).iter().filter_map(beaten).collect();
        beaten.sort_unstable();
        beaten
    }

    /// Whether a run, which is not the best under a measure, is not shown to be worse than the
    /// best. `None` if the two were not compared.
    pub fn is_tied_with_best(&self, measure: usize, run: usize) -> Option<bool> {
        // If all are equal, none is the best.
        let best = Some(self.best(measure)).filter(|&best| self.is_best(measure, best))?;
        let difference = self.between(measure, best, run).filter(|_| self.tells_the_best())?;
        Some(!self.is_shown(difference))
    }

    /// Judges a gate for each run but the baseline, which is the first run if none was named.
    ///
    /// # Errors
    /// A gate on a measure outside the comparison, or on another group of queries; a gate without a
    /// verdict.
    pub fn judge(&self, gate: &Gate) -> Result<Vec<Judged>> {
        if let Some(group) = gate.group().filter(|&group| self.group.as_deref() != Some(group)) {
            let what = self
                .group
                .as_ref()
                .map_or("all queries".to_owned(), |own| format!("the group {own}"));
            return Err(Error::Unanswerable(format!(
                "the gate `{gate}` is about the group {group}, and {what} is compared"
            )));
        }
        let unknown = || {
            Error::Unanswerable(format!(
                "the gate `{gate}` is on {}, which is not compared",
                gate.measure()
            ))
        };
        let measure =
            self.measures.iter().position(|of| of == gate.measure()).ok_or_else(unknown)?;
        gate.check_skipped(self.skipped[measure], self.queries)?;
        let baseline = self.baseline.unwrap_or(0);
        let share = self.runs[baseline].judged.get(measure).copied().flatten();
        // In a small group a mean may well be 0. So a group's mean of 0 is valid if the share of
        // judged documents is unknown.
        let judged_of_baseline = share.or(self.group.as_ref().map(|_| f64::NAN));
        let judged = |run: usize| {
            let difference =
                self.of_measure(measure).iter().find(|of| of.pair == Pair { baseline, run });
            let tails = difference.and_then(|of| Some((of.tails(self.options.test)?, of.better)));
            let verdict = gate.verdict(GateFacts {
                run: self.runs[run].means[measure],
                baseline: Some(self.runs[baseline].means[measure]),
                paired: difference.map(|of| &of.paired),
                worse: tails.map(|(tails, better)| tails.worse(better)),
                judged: judged_of_baseline,
            })?;
            Ok(Judged { run, verdict })
        };
        (0..self.runs.len()).filter(|&run| run != baseline).map(judged).collect()
    }

    /// Says of the result of a gate what happened and what was allowed, such as "AP of new rose by
    /// 0.1648 (+28.9 %, 95 % interval +0.0844 to +0.2451); allowed: a drop of 0.0029".
    pub fn gate_sentence(&self, gate: &Gate, of: &Judged) -> GateSentence {
        let baseline = self.baseline.unwrap_or(0);
        let measure = self.measures.iter().position(|measure| measure == gate.measure());
        let difference = measure.filter(|_| gate.compares()).and_then(|measure| {
            self.of_measure(measure).iter().find(|pair| pair.pair == Pair { baseline, run: of.run })
        });
        let percent = (1e8 * (1.0 - self.options.alpha)).round() / 1e6;
        let change = ChangeTold {
            // Relative to the absolute value of the baseline's mean, so that a rise from a negative
            // mean is positive too.
            relative: difference
                .filter(|of| !of.logarithmic)
                .and_then(|of| Some(of.relative? * self.runs[baseline].means[of.measure].signum())),
            interval: difference.and_then(|of| of.interval).map(|interval| (interval, percent)),
        };
        gate.sentence(&self.runs[of.run].name, &of.verdict, change)
    }
}
