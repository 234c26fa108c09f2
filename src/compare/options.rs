//! The options of a statistical comparison of runs: its test, correction, interval and random
//! draws.

use super::ranks::{Method, Zeros};
use crate::error::{Result, unanswerable};
use crate::measure::Measure;

/// The default seed of all random draws: that of `--stat ci95`.
// Its bytes are "laneval1".
pub const SEED: u64 = 0x6c61_6e65_7661_6c31;

/// The default number of draws of the randomisation test. With it p is a multiple of 10⁻⁵.
pub const DRAWS: u32 = 99_999;

/// The statistical test that decides whether two runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Test {
    /// The paired t test.
    #[default]
    T,
    /// Fisher's randomisation test, by random signs, or exactly where few queries differ.
    Randomisation,
    /// Wilcoxon's signed-rank test, of the direction of differences.
    Wilcoxon,
    /// The sign test, of the direction of differences.
    Sign,
}

impl Test {
    /// Every test, with its name on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("t", Self::T),
        ("randomisation", Self::Randomisation),
        ("wilcoxon", Self::Wilcoxon),
        ("sign", Self::Sign),
    ];
}

named!(Test, "a test");

/// The alternative hypothesis of a test to "the systems are equal": two-sided, or one-sided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Alternative {
    /// The systems differ.
    #[default]
    TwoSided,
    /// The run is better than its baseline.
    Better,
    /// The run is worse than its baseline.
    Worse,
}

impl Alternative {
    /// Every alternative, with its name on the command line.
    pub const ALL: [(&'static str, Self); 3] =
        [("two-sided", Self::TwoSided), ("better", Self::Better), ("worse", Self::Worse)];
}

named!(Alternative, "an alternative");

/// The correction of p that keeps many comparisons from finding differences by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Correction {
    /// No correction.
    None,
    /// Every p times their number (Bonferroni).
    Bonferroni,
    /// Holm 1979: as safe as Bonferroni, and finds more.
    #[default]
    Holm,
    /// Benjamini and Hochberg 1995: the share of false discoveries.
    Bh,
    /// Benjamini and Yekutieli 2001: the share of false discoveries under any dependence.
    By,
    /// Westfall and Young's step-down maxT over random signs.
    MaxT,
    /// Tukey's HSD on a two-way analysis of variance.
    Hsd,
    /// The randomised HSD.
    Rhsd,
}

impl Correction {
    /// Every correction, with its name on the command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("none", Self::None),
        ("bonferroni", Self::Bonferroni),
        ("holm", Self::Holm),
        ("bh", Self::Bh),
        ("by", Self::By),
        ("maxt", Self::MaxT),
        ("hsd", Self::Hsd),
        ("rhsd", Self::Rhsd),
    ];

    /// Returns whether the correction computes a two-sided p of its own, whatever the test.
    pub fn has_own_p(self) -> bool {
        matches!(self, Self::MaxT | Self::Hsd | Self::Rhsd)
    }
}

named!(Correction, "a correction");

/// The scope of a correction for many comparisons: all pairs under a measure, or under all
/// measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scope {
    /// All pairs under a measure.
    #[default]
    Measure,
    /// All pairs under all measures.
    All,
}

impl Scope {
    /// Every scope, with its name on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("measure", Self::Measure), ("all", Self::All)];
}

named!(Scope, "a family");

/// The method of the confidence interval of a mean difference: t, bootstrap or BCa.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Interval {
    /// From the t distribution.
    #[default]
    T,
    /// Between percentiles of resamples.
    Bootstrap,
    /// Between percentiles that are corrected for bias and skewness.
    Bca,
}

impl Interval {
    /// Every kind, with its name on the command line.
    pub const ALL: [(&'static str, Self); 3] =
        [("t", Self::T), ("bootstrap", Self::Bootstrap), ("bca", Self::Bca)];
}

named!(Interval, "an interval");

/// The choice of the number of random sign draws in the randomisation test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Permutations {
    /// [`DRAWS`], if they take no more than some seconds; otherwise signs are drawn only if the
    /// test or the correction needs them.
    #[default]
    Default,
    /// This number of draws.
    Fixed(u32),
    /// 10⁴ − 1 draws, and ten times more until every p lies clearly on one side of α, up to 10⁷ −
    /// 1.
    Auto,
    /// As [`Permutations::Default`], and the exact p of every pair of which at most 40 queries
    /// differ, however long that takes.
    Exact,
}

/// The options of a statistical comparison of runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparisonOptions {
    /// The name of the run to compare every other run with; `None` to compare all pairs.
    pub baseline: Option<String>,
    /// The test behind the verdict.
    pub test: Test,
    /// The alternative to "the systems are equal".
    pub alternative: Alternative,
    /// The level of significance, between 0 and 1.
    pub alpha: f64,
    /// The correction for many comparisons.
    pub correction: Correction,
    /// The hypotheses corrected together.
    pub family: Scope,
    /// The kind of the interval of a difference, of confidence 1 − α.
    pub interval: Interval,
    /// The number of draws of signs.
    pub permutations: Permutations,
    /// The seed of all random draws.
    pub seed: u64,
    /// The difference within which systems are equal for practical purposes.
    pub margin: Option<f64>,
    /// A difference: the comparison tells how many queries find it four times in five.
    pub power: Option<f64>,
    /// The largest difference of a query that is a tie; `None` to tie only differences that are
    /// rounding.
    pub tie: Option<f64>,
    /// The treatment of differences of 0 in Wilcoxon's test.
    pub zeros: Zeros,
    /// The way in which Wilcoxon's p is computed.
    pub wilcoxon: Method,
    /// Whether the analysis of variance is made.
    pub anova: bool,
    /// The largest value of any query under a measure, for measures with larger values in other
    /// parts than here. The stated largest value rounds the queries of all parts to a common unit.
    pub largest: Vec<(Measure, f64)>,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            baseline: None,
            test: Test::default(),
            alternative: Alternative::default(),
            alpha: 0.05,
            correction: Correction::default(),
            family: Scope::default(),
            interval: Interval::default(),
            permutations: Permutations::default(),
            seed: SEED,
            margin: None,
            power: None,
            tie: None,
            zeros: Zeros::default(),
            wilcoxon: Method::default(),
            anova: false,
            largest: Vec::new(),
        }
    }
}

impl ComparisonOptions {
    /// Rejects options of a comparison that are out of range or contradict each other, without
    /// looking at scores.
    ///
    /// # Errors
    /// A number out of its range; a correction that does not go with the alternative or the family.
    pub fn check(&self) -> Result<()> {
        // The conditions are negated comparisons, so that NaN is rejected too.
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return unanswerable(format!(
                "α is {}: a number between 0 and 1 was expected",
                self.alpha
            ));
        }
        let positive = [("the margin", self.margin), ("the difference to detect", self.power)];
        for (what, value) in positive {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return unanswerable(format!("{what} is {value}: a number above 0 was expected"));
            }
        }
        if let Some(tie) = self.tie.filter(|tie| !(tie.is_finite() && *tie >= 0.0)) {
            return unanswerable(format!("the largest tie is {tie}: 0 or more was expected"));
        }
        if let Some((measure, largest)) =
            self.largest.iter().find(|(_, bound)| !(bound.is_finite() && *bound > 0.0))
        {
            return unanswerable(format!(
                "the largest value of {measure} is {largest}: a number above 0 was expected"
            ));
        }
        if self.permutations == Permutations::Fixed(0) {
            return unanswerable("there are 0 permutations: 1 or more was expected");
        }
        let correction = self.correction;
        if correction.has_own_p() && self.alternative != Alternative::TwoSided {
            return unanswerable(format!(
                "the correction {correction} is two-sided: leave the alternative out, or take holm"
            ));
        }
        if matches!(correction, Correction::Hsd | Correction::Rhsd) && self.family == Scope::All {
            return unanswerable(format!(
                "the correction {correction} corrects one measure only: take maxt with --family all"
            ));
        }
        Ok(())
    }
}
