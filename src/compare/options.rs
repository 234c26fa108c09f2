//! What is asked of a comparison.

use super::ranks::{Method, Zeros};
use crate::error::{Error, Result};
use crate::measure::Measure;

/// The seed of everything that is drawn at random, unless another is asked for: that of `--stat ci95`.
pub const SEED: u64 = 0x6c61_6e65_7661_6c31;

/// Draws of the randomisation test, unless another number is asked for: p is a multiple of 10⁻⁵.
pub const DRAWS: u32 = 99_999;

/// The test whose p decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Test {
    /// The paired t test.
    #[default]
    T,
    /// Fisher's randomisation test, by random signs, or exactly where few queries differ.
    Randomisation,
    /// Wilcoxon's signed-rank test, of which way differences lean.
    Wilcoxon,
    /// The sign test, of which way differences lean.
    Sign,
}

impl Test {
    /// Every test, with its name on the command line.
    pub const ALL: [(&'static str, Test); 4] = [
        ("t", Test::T),
        ("randomisation", Test::Randomisation),
        ("wilcoxon", Test::Wilcoxon),
        ("sign", Test::Sign),
    ];
}

named!(Test, "a test");

/// What is held against "equal".
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
    pub const ALL: [(&'static str, Alternative); 3] = [
        ("two-sided", Alternative::TwoSided),
        ("better", Alternative::Better),
        ("worse", Alternative::Worse),
    ];
}

named!(Alternative, "an alternative");

/// What keeps many comparisons from finding differences by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Correction {
    /// No correction.
    None,
    /// Every p times their number.
    Bonferroni,
    /// Holm 1979: as safe as Bonferroni, and finds more.
    #[default]
    Holm,
    /// Benjamini and Hochberg 1995: the share of false discoveries.
    Bh,
    /// Benjamini and Yekutieli 2001: the same under any dependence.
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
    pub const ALL: [(&'static str, Correction); 8] = [
        ("none", Correction::None),
        ("bonferroni", Correction::Bonferroni),
        ("holm", Correction::Holm),
        ("bh", Correction::Bh),
        ("by", Correction::By),
        ("maxt", Correction::MaxT),
        ("hsd", Correction::Hsd),
        ("rhsd", Correction::Rhsd),
    ];

    /// Has it a p of its own, which is two-sided, whatever the test?
    pub fn has_own_p(self) -> bool {
        matches!(self, Correction::MaxT | Correction::Hsd | Correction::Rhsd)
    }
}

named!(Correction, "a correction");

/// What is corrected together.
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
    pub const ALL: [(&'static str, Scope); 2] = [("measure", Scope::Measure), ("all", Scope::All)];
}

named!(Scope, "a family");

/// How the interval of a difference is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Interval {
    /// By t.
    #[default]
    T,
    /// Between percentiles of resamples.
    Bootstrap,
    /// Between percentiles that are corrected for bias and skewness.
    Bca,
}

impl Interval {
    /// Every kind, with its name on the command line.
    pub const ALL: [(&'static str, Interval); 3] =
        [("t", Interval::T), ("bootstrap", Interval::Bootstrap), ("bca", Interval::Bca)];
}

named!(Interval, "an interval");

/// How often signs are drawn for the randomisation test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Permutations {
    /// [`DRAWS`] times, where that takes some seconds; else only where the test or the correction needs it.
    #[default]
    Affordable,
    /// This many times.
    Fixed(u32),
    /// 10⁴ − 1 times, and ten times more until every p lies clearly on one side of α, 10⁷ − 1 at most.
    Auto,
}

/// What is asked of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The name of the run with which all others are compared; all pairs are, if there is none.
    pub baseline: Option<String>,
    /// The test whose p decides.
    pub test: Test,
    /// What is held against "equal".
    pub alternative: Alternative,
    /// The level of significance, between 0 and 1.
    pub alpha: f64,
    /// The correction for many comparisons.
    pub correction: Correction,
    /// What is corrected together.
    pub family: Scope,
    /// The kind of the interval of a difference, of confidence 1 − α.
    pub interval: Interval,
    /// How often signs are drawn.
    pub permutations: Permutations,
    /// The seed of what is drawn.
    pub seed: u64,
    /// The difference within which systems are equal for practical purposes.
    pub margin: Option<f64>,
    /// The difference for which the number of queries is wanted that find it four times in five.
    pub power: Option<f64>,
    /// The largest difference of a query that is a tie; rounding alone, if not said.
    pub tie: Option<f64>,
    /// Which differences of 0 have ranks in Wilcoxon's test.
    pub zeros: Zeros,
    /// How Wilcoxon's p is found.
    pub wilcoxon: Method,
    /// Is the analysis of variance wanted?
    pub anova: bool,
    /// The largest value of a query under a measure, where other queries, which are compared elsewhere, have a larger one than these: with it they
    /// are rounded to the same unit.
    pub largest: Vec<(Measure, f64)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
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

impl Options {
    /// Checks what can be checked without scores.
    ///
    /// # Errors
    /// A number out of its range; a correction that does not go with the alternative or the family.
    pub fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::Unanswerable(message));
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return wrong(format!("α is {}: a number between 0 and 1 was expected", self.alpha));
        }
        let positive = [("the margin", self.margin), ("the difference to be found", self.power)];
        for (what, value) in positive {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return wrong(format!("{what} is {value}: a number above 0 was expected"));
            }
        }
        if let Some(tie) = self.tie.filter(|tie| !(tie.is_finite() && *tie >= 0.0)) {
            return wrong(format!("the largest tie is {tie}: 0 or more was expected"));
        }
        if let Some((measure, largest)) = self.largest.iter().find(|(_, of)| !(of.is_finite() && *of > 0.0)) {
            return wrong(format!(
                "the largest value of {measure} is {largest}: a number above 0 was expected"
            ));
        }
        if self.permutations == Permutations::Fixed(0) {
            return wrong("there are 0 permutations: 1 or more was expected".to_owned());
        }
        let correction = self.correction;
        if correction.has_own_p() && self.alternative != Alternative::TwoSided {
            return wrong(format!(
                "the correction {correction} is two-sided: leave the alternative out, or take holm"
            ));
        }
        if matches!(correction, Correction::Hsd | Correction::Rhsd) && self.family == Scope::All {
            return wrong(format!(
                "the correction {correction} is of one measure: take maxt for a family of all"
            ));
        }
        Ok(())
    }
}
