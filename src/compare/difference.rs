//! The difference of two runs under a measure: its numbers, and results derived from the numbers.

use super::options::Test;
use super::paired::{Paired, Tails, Wins};
use super::randomised::Pair;
use crate::measure::Better;

/// The difference of a run from another under a measure. Numbers are the run's less the baseline's;
/// for a geometric mean, they are of logarithms.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The index of the measure.
    pub measure: usize,
    /// The indices of the two runs.
    pub pair: Pair,
    /// The direction in which the measure is better.
    pub better: Better,
    /// Whether the mean is that of logarithms.
    pub logarithmic: bool,
    /// The mean difference, and how differences vary.
    pub paired: Paired,
    /// The mean difference divided by the baseline's mean; `None` if that is 0.
    pub relative: Option<f64>,
    /// The interval of confidence 1 − α.
    pub interval: Option<[f64; 2]>,
    /// The p of the t test.
    pub t: Option<Tails>,
    /// The p of the randomisation test by random signs.
    pub randomised: Option<Tails>,
    /// The exact p of the randomisation test, if few queries differ.
    pub exact: Option<Tails>,
    /// The p of Wilcoxon's signed-rank test, if it was asked for.
    pub wilcoxon: Option<Tails>,
    /// The p of the sign test.
    pub sign: Tails,
    /// The p of the test that decides, uncorrected.
    pub p: Option<f64>,
    /// The p after the correction, or the correction's own p.
    pub p_adjusted: Option<f64>,
    /// The numbers of queries in which the run is better, tied and worse.
    pub wins: Wins,
    /// The smallest difference that this number of queries finds four times in five.
    pub smallest_found: Option<f64>,
    /// The number of queries that finds the difference of
    /// [`ComparisonOptions::power`](super::ComparisonOptions::power) four times in five.
    pub queries_needed: Option<u64>,
    /// The larger p of the two one-sided tests of
    /// [`ComparisonOptions::margin`](super::ComparisonOptions::margin).
    pub p_margin: Option<f64>,
    /// Whether the two runs are equal for practical purposes.
    pub is_equivalent: Option<bool>,
}

/// The two runs of a difference in the order of a sentence about the difference.
pub(super) struct DifferenceTold {
    /// The index of the run that the sentence is about.
    pub one: usize,
    /// The index of the run to compare `one` with.
    pub other: usize,
    /// The factor from the differences of the pair to `one` less `other`: 1 or −1.
    pub sign: f64,
    /// Whether the mean of `one` is better.
    pub better: bool,
}

impl Difference {
    /// The mean difference; for a geometric mean, the ratio.
    pub fn delta(&self) -> f64 {
        self.shown(self.paired.mean)
    }

    /// Returns a number of this difference for display; for logarithms, the ratio.
    pub fn shown(&self, value: f64) -> f64 {
        if self.logarithmic { value.exp() } else { value }
    }

    /// How much better the run is than the baseline; negative if the run is worse.
    pub fn gain(&self) -> f64 {
        self.gain_sign() * self.paired.mean
    }

    /// 1 if higher is better, −1 if lower is.
    pub fn gain_sign(&self) -> f64 {
        if self.better == Better::Lower { -1.0 } else { 1.0 }
    }

    /// The two runs in the order of a sentence. With a baseline, the sentence is about the run
    /// beside the baseline; otherwise, about the better run.
    pub(super) fn told(&self, has_baseline: bool) -> DifferenceTold {
        let Pair { baseline, run } = self.pair;
        let better = self.gain() > 0.0;
        if has_baseline || better {
            DifferenceTold { one: run, other: baseline, sign: 1.0, better }
        } else {
            DifferenceTold { one: baseline, other: run, sign: -1.0, better: true }
        }
    }

    /// Whether the difference is significant after the correction, at the level `alpha`.
    pub fn is_significant(&self, alpha: f64) -> bool {
        self.p_adjusted.is_some_and(|p| p < alpha)
    }

    /// The p of a test; `None` if the difference has none, or if it was not computed.
    pub fn tails(&self, test: Test) -> Option<Tails> {
        match test {
            Test::T => self.t,
            Test::Randomisation => self.permuted(),
            Test::Wilcoxon => self.wilcoxon,
            Test::Sign => (self.paired.queries >= 2).then_some(self.sign),
        }
    }

    /// The p of the randomisation test: the exact p if few queries differ, else the p of random
    /// signs.
    pub fn permuted(&self) -> Option<Tails> {
        self.exact.or(self.randomised)
    }
}
