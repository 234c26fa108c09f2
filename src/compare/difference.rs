//! The difference of two runs under a measure: its numbers, and results derived from the numbers.

use super::options::Test;
use super::paired::{Paired, Tails, WinCounts};
use super::randomised::Pair;
use crate::measure::Direction;

/// The difference of a run from a baseline under a measure, with its interval and the p of each
/// test. Numbers are the run's less the baseline's; for a geometric mean, they are of logarithms.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The index of the measure.
    pub measure: usize,
    /// The indices of the two runs.
    pub pair: Pair,
    /// Whether higher or lower values of the measure are better.
    pub better: Direction,
    /// Whether the differences are of logarithms, as for a geometric mean.
    pub logarithmic: bool,
    /// The mean difference, and how differences vary.
    pub paired: Paired,
    /// The mean difference divided by the baseline's mean; `None` if the baseline's mean is 0. For
    /// a geometric mean, the ratio of the two means less 1.
    pub relative: Option<f64>,
    /// The confidence interval of the mean difference, at level 1 − α.
    pub interval: Option<[f64; 2]>,
    /// The p of the paired t test; `None` if there is no t.
    pub t: Option<Tails>,
    /// The p of the randomisation test by random signs; `None` if no signs were drawn.
    pub randomised: Option<Tails>,
    /// The exact p of the randomisation test, if it was computed: few queries must differ.
    pub exact: Option<Tails>,
    /// The p of Wilcoxon's signed-rank test, if it was asked for.
    pub wilcoxon: Option<Tails>,
    /// The p of the sign test.
    pub sign: Tails,
    /// The uncorrected p of the test that decides, for the chosen alternative.
    pub p: Option<f64>,
    /// The p after the correction. Corrections such as maxT and HSD compute this p by themselves,
    /// and not from `p`.
    pub p_adjusted: Option<f64>,
    /// The numbers of queries in which the run is better, tied and worse.
    pub wins: WinCounts,
    /// The smallest true difference that the t test over this number of queries finds with a
    /// probability (power) of 0.8.
    pub smallest_found: Option<f64>,
    /// The number of queries at which the t test finds the difference
    /// [`ComparisonOptions::power`](super::ComparisonOptions::power) with a probability of 0.8.
    pub queries_needed: Option<u64>,
    /// The p of equivalence: the larger p of the two one-sided t tests (TOST) within
    /// [`ComparisonOptions::margin`](super::ComparisonOptions::margin).
    pub p_margin: Option<f64>,
    /// Whether the mean difference is shown to be within the margin; `None` without a margin, and
    /// of one query.
    pub is_equivalent: Option<bool>,
}

/// The two runs of a difference in the order of a sentence about the difference.
pub(super) struct SentencePair {
    /// The index of the run that the sentence is about.
    pub one: usize,
    /// The index of the run to compare `one` with.
    pub other: usize,
    /// The factor from the differences of the pair to `one` less `other`: 1 or −1.
    pub sign: f64,
    /// The word for the mean of `one` beside that of `other`: better or worse.
    pub word: &'static str,
}

impl Difference {
    /// Returns the mean difference of the two runs; for a geometric mean, the ratio of their means.
    pub fn delta(&self) -> f64 {
        self.display_value(self.paired.mean)
    }

    /// Returns a number of this difference as it is shown: a logarithm as a ratio, others
    /// unchanged.
    pub fn display_value(&self, value: f64) -> f64 {
        if self.logarithmic { value.exp() } else { value }
    }

    /// Returns the mean difference, with its sign turned if lower values of the measure are better.
    /// So the gain is positive if the run is better than the baseline.
    pub fn gain(&self) -> f64 {
        self.gain_sign() * self.paired.mean
    }

    /// Returns 1 if higher values of the measure are better, −1 if lower values are.
    pub fn gain_sign(&self) -> f64 {
        if self.better == Direction::Lower { -1.0 } else { 1.0 }
    }

    /// Returns the two runs of the difference in the order in which a sentence compares them. With
    /// a baseline, the sentence is about the run beside the baseline; otherwise, about the better
    /// run.
    pub(super) fn sentence_pair(&self, has_baseline: bool) -> SentencePair {
        let Pair { baseline, run } = self.pair;
        let (one, other, sign, word) = match self.gain() > 0.0 {
            true => (run, baseline, 1.0, "better"),
            false if has_baseline => (run, baseline, 1.0, "worse"),
            false => (baseline, run, -1.0, "better"),
        };
        SentencePair { one, other, sign, word }
    }

    /// Returns whether the p of the difference after the correction is below the level `alpha`.
    pub fn is_significant(&self, alpha: f64) -> bool {
        self.p_adjusted.is_some_and(|p| p < alpha)
    }

    /// Returns the two-sided and the one-sided p of a test of this difference; `None` if the test
    /// has none, or was not computed.
    pub fn tails(&self, test: Test) -> Option<Tails> {
        match test {
            Test::T => self.t,
            Test::Randomisation => self.randomisation_tails(),
            Test::Wilcoxon => self.wilcoxon,
            Test::Sign => (self.paired.queries >= 2).then_some(self.sign),
        }
    }

    /// Returns the p of the randomisation test of this difference: the exact p if few queries
    /// differ, else the p of random signs.
    pub fn randomisation_tails(&self) -> Option<Tails> {
        self.exact.or(self.randomised)
    }
}
