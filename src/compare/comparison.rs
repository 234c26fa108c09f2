//! The comparison of runs under measures: its numbers, and its results for runs, pairs and gates.

use super::anova::Anova;
use super::difference::Difference;
use super::gate::{Gate, GateInputs, GateVerdict};
use super::gate_sentence::{GateChange, GateSentence};
use super::options::{Alternative, ComparisonOptions, Test};
use super::randomised::Pair;
use crate::error::{Result, unanswerable};
use crate::measure::{Direction, Measure};
use crate::scores::QuerySet;
use crate::stats::is_undefined;
use crate::stats::rounding::{are_best, is_equal, snap_equal};

/// A statistical comparison of runs under measures: means, differences, p and notes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Comparison {
    /// The options of the comparison.
    pub options: ComparisonOptions,
    /// The measures. The first one decides.
    pub measures: Vec<Measure>,
    /// The runs, in the order given.
    pub runs: Vec<RunStats>,
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

/// A run in a comparison: its name, its letter, and its mean under each measure.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunStats {
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

/// The verdict of a gate, a condition that fails a build, on one run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RunGateVerdict {
    /// The index of the run.
    pub run: usize,
    /// Whether the run failed, and why.
    pub verdict: GateVerdict,
}

/// The rank correlations of a measure's ranking of the runs with that of the first measure.
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
    /// Returns the differences of all compared pairs of runs under a measure.
    pub fn differences_for(&self, measure: usize) -> &[Difference] {
        let pairs = self.differences.len() / self.measures.len();
        &self.differences[measure * pairs..][..pairs]
    }

    /// Returns the difference of two runs under a measure, whichever of them was subtracted.
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
        let found = self.differences_for(measure).get(place)?;
        [(low, high), (high, low)].contains(&(found.pair.baseline, found.pair.run)).then_some(found)
    }

    /// Returns whether all pairs of runs are compared, without a baseline, and in both directions.
    /// Only then can a comparison tell the best run from the rest in any order of the input.
    pub fn compares_all_pairs(&self) -> bool {
        self.baseline.is_none() && self.options.alternative == Alternative::TwoSided
    }

    /// Returns whether a difference is significant after the correction, and its test does not
    /// point against the means. Wilcoxon's test and the sign test may contradict the means, because
    /// both ask which way most queries lean.
    pub fn is_significant(&self, difference: &Difference) -> bool {
        difference.is_significant(self.options.alpha) && !self.is_contradictory(difference)
    }

    /// Returns whether the deciding test of a difference points the other way than the means of the
    /// two runs.
    pub(super) fn is_contradictory(&self, difference: &Difference) -> bool {
        // A correction with a p of its own compares means, whatever the test.
        let leans = matches!(self.options.test, Test::Wilcoxon | Test::Sign)
            && !self.options.correction.has_own_p();
        let tails = difference
            .tails(self.options.test)
            .filter(|tails| leans && tails.higher != tails.lower);
        tails.is_some_and(|tails| (tails.higher < tails.lower) != (difference.paired.mean > 0.0))
    }

    /// Returns the ids of the compared queries, in bytewise order; empty if the values of queries
    /// are not known.
    pub fn query_ids(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ids.iter().map(Vec::as_slice)
    }

    /// Returns whether the comparison has the values of each query, and not sums alone. Merged
    /// parts have no values of queries.
    pub fn has_values(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Returns the terms that the mean of a run under a measure averages, by query; empty if
    /// unknown.
    pub fn values(&self, measure: usize, run: usize) -> &[f64] {
        &self.terms[measure][run]
    }

    /// Returns the queries missing from a run that count as empty rankings, as ascending indices
    /// into the query ids, as far as known.
    pub fn missing_queries(&self, run: usize) -> &[usize] {
        &self.lacking[run]
    }

    /// Returns the index of the best run under a measure; the first of several equal runs.
    pub fn best(&self, measure: usize) -> usize {
        let merits = self.ranking_keys(measure);
        (1..merits.len()).fold(0, |best, run| if merits[run] > merits[best] { run } else { best })
    }

    /// Returns whether a run lacks a compared query, as far as known. A missing query counts as an
    /// empty ranking and has no value of its own.
    pub fn is_missing(&self, run: usize, query: usize) -> bool {
        self.lacking[run].binary_search(&query).is_ok()
    }

    /// Returns whether a query has a value under a measure; as far as values are known.
    pub fn is_defined(&self, measure: usize, query: usize) -> bool {
        !is_undefined(self.values(measure, 0)[query])
    }

    /// Returns the difference between the two runs of a pair in one query: 0 if their values are
    /// equal within rounding.
    pub fn change(&self, difference: &Difference, query: usize) -> f64 {
        let [own, baseline] =
            difference.pair.runs().map(|run| self.values(difference.measure, run)[query]);
        // A query without a value has none in either run, so one of the two is looked at.
        if is_undefined(own) || is_equal(baseline, own) { 0.0 } else { own - baseline }
    }

    /// Returns whether a run is the best under a measure, or equal to the best within rounding; no
    /// run is if all are equal.
    pub fn is_best(&self, measure: usize, run: usize) -> bool {
        let means: Vec<Option<f64>> =
            self.runs.iter().map(|run| Some(run.means[measure])).collect();
        are_best(&means, self.measures[measure].definition().better)[run]
    }

    /// Returns numbers that order the runs under a measure, the highest for the best run. Runs with
    /// equal means within rounding have equal numbers.
    pub fn ranking_keys(&self, measure: usize) -> Vec<f64> {
        let sign =
            if self.measures[measure].definition().better == Direction::Lower { -1.0 } else { 1.0 };
        snap_equal(&self.runs.iter().map(|run| sign * run.means[measure]).collect::<Vec<f64>>())
    }

    /// Returns the indices of the runs that a run is significantly better than under a measure.
    pub fn significantly_worse(&self, measure: usize, run: usize) -> Vec<usize> {
        let beaten = self.differences_for(measure).iter().filter_map(|difference| {
            let (other, gain) = match difference.pair {
                Pair { baseline, run: this } if this == run => (baseline, difference.gain()),
                Pair { baseline: this, run: other } if this == run => (other, -difference.gain()),
                _ => return None,
            };
            (gain > 0.0 && self.is_significant(difference)).then_some(other)
        });
        let mut beaten: Vec<usize> = beaten.collect();
        beaten.sort_unstable();
        beaten
    }

    /// Returns whether a run, which is not the best under a measure, is not shown to be worse than
    /// the best. `None` if the two were not compared.
    pub fn is_not_worse_than_best(&self, measure: usize, run: usize) -> Option<bool> {
        // If all are equal, none is the best.
        let best = Some(self.best(measure)).filter(|&best| self.is_best(measure, best))?;
        let difference = self.between(measure, best, run).filter(|_| self.compares_all_pairs())?;
        Some(!self.is_significant(difference))
    }

    /// Returns the verdict of a gate on each run but the baseline, which is the first run if none
    /// was named.
    ///
    /// # Errors
    /// A gate on a measure outside the comparison, or on another group of queries; a gate without a
    /// verdict.
    pub fn gate_verdicts(&self, gate: &Gate) -> Result<Vec<RunGateVerdict>> {
        if let Some(group) = gate.group().filter(|&group| self.group.as_deref() != Some(group)) {
            let what = self
                .group
                .as_ref()
                .map_or("all queries".to_owned(), |own| format!("the group {own}"));
            return unanswerable(format!(
                "the gate `{gate}` is about the group {group}, and {what} is compared"
            ));
        }
        let Some(measure) = self.measures.iter().position(|measure| measure == gate.measure())
        else {
            return unanswerable(format!(
                "the gate `{gate}` is on {}, which is not compared",
                gate.measure()
            ));
        };
        gate.check_skipped(self.skipped[measure], self.queries)?;
        let baseline = self.baseline.unwrap_or(0);
        let share = self.runs[baseline].judged.get(measure).copied().flatten();
        // In a small group a mean may well be 0. So a group's mean of 0 is valid if the share of
        // judged documents is unknown.
        let judged = share.or(self.group.as_ref().map(|_| f64::NAN));
        let verdicts = (0..self.runs.len()).filter(|&run| run != baseline).map(|run| {
            let difference = self.between(measure, baseline, run);
            let verdict = gate.verdict(GateInputs {
                run: self.runs[run].means[measure],
                baseline: Some(self.runs[baseline].means[measure]),
                paired: difference.map(|pair| &pair.paired),
                worse: difference
                    .and_then(|pair| Some(pair.tails(self.options.test)?.worse(pair.better))),
                judged,
            })?;
            Ok(RunGateVerdict { run, verdict })
        });
        verdicts.collect()
    }

    /// Describes the observed mean or change of a run and the one that a gate allows, such as "AP
    /// of new rose by 0.1648 (+28.9 %, 95 % interval +0.0844 to +0.2451); allowed: a drop of
    /// 0.0029".
    pub fn gate_sentence(&self, gate: &Gate, run_verdict: &RunGateVerdict) -> GateSentence {
        let baseline = self.baseline.unwrap_or(0);
        let measure = self.measures.iter().position(|measure| measure == gate.measure());
        let difference = measure
            .filter(|_| gate.needs_baseline())
            .and_then(|measure| self.between(measure, baseline, run_verdict.run));
        // The rounding takes off what 1 − α leaves: 1 − 0.9 is 0.09999999999999998 as f64.
        let percent = (1e8 * (1.0 - self.options.alpha)).round() / 1e6;
        let change = GateChange {
            // Relative to the absolute value of the baseline's mean, so that a rise from a negative
            // mean is positive too.
            relative: difference.filter(|pair| !pair.logarithmic).and_then(|pair| {
                Some(pair.relative? * self.runs[baseline].means[pair.measure].signum())
            }),
            interval: difference.and_then(|pair| pair.interval).map(|interval| (interval, percent)),
        };
        gate.sentence(self.name(run_verdict.run), &run_verdict.verdict, change)
    }
}
