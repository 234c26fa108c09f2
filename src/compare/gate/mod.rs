//! Gates: conditions for the failure of a build, like `nDCG@10 drops > 0.005 p<0.05`.
//!
//! A gate fails, or passes, or cannot be told.
//!
//! # Who has to show what
//!
//! ```text
//! AP < 0.3                       the mean alone; no baseline, no chance
//! AP drops > 0.01                the mean difference alone
//! AP drops > 0.01 p<0.05         fails if the loss is large AND shown to be one:
//!                                chance speaks for the run
//! AP worse p<0.05                fails if a loss of any size is shown
//! AP may drop > 0.01             passes only if a loss of 0.01 or more is ruled out:
//!                                chance speaks against the run
//! ```
//!
//! With few queries the third gate lets much pass, and the last nearly nothing: it is a test of
//! non-inferiority, whose null hypothesis is a loss of exactly the amount. Its p always comes from
//! the t test, whichever test decides otherwise. The reason: other tests detect a difference, and
//! not a difference of a given size. The p of the third gate is about a loss of 0, and the amount
//! is compared with the mean: the two conditions are apart.
//!
//! A gate cannot be told if it lacks a baseline, if its test has no p, or if its amount is a
//! percentage of a mean of 0. An untold gate is an error, and never a pass, so that a pipeline
//! stops.

mod grammar;
pub(super) mod rule;

use std::fmt;

use self::rule::{Amount, Rule, Sign};
use super::paired::Paired;
use crate::error::{Error, Result};
use crate::measure::{Average, Direction, Measure};
use crate::stats::rounding::{is_equal, tolerance};

/// A condition on a measure of a run under which a build fails, such as `nDCG@10 drops > 0.005`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    group: Option<String>,
    measure: Measure,
    pub(super) rule: Rule,
}

/// The means and the p of a run against its baseline, from which a gate gives its verdict.
#[derive(Debug, Clone, Copy)]
pub struct GateInputs<'a> {
    /// The run's mean.
    pub run: f64,
    /// The baseline's mean, if there is a baseline.
    pub baseline: Option<f64>,
    /// The differences of the run from the baseline.
    pub paired: Option<&'a Paired>,
    /// The uncorrected one-sided p of the deciding test for a worse run; `None` if the test has no
    /// p.
    pub worse: Option<f64>,
    /// The share of judged documents in the baseline, down to the cutoff of the measure; `None` if
    /// unknown.
    pub judged: Option<f64>,
}

/// The verdict of a gate on a run: whether the build fails, and the numbers that decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateVerdict {
    /// Whether the build fails.
    pub failed: bool,
    /// The run's mean, or by how much the run is worse than the baseline.
    pub value: f64,
    /// The number that the value is compared with.
    pub threshold: f64,
    /// The p, if the gate asks for one.
    pub p: Option<f64>,
}

/// The loss of a run against the baseline, and the amount of loss that a gate allows.
struct Loss<'a> {
    /// The differences of the run from the baseline.
    paired: &'a Paired,
    /// By how much the run is worse.
    value: f64,
    /// The amount of the gate, in units of the measure.
    threshold: f64,
}

impl Gate {
    /// Parses a gate from text such as `nDCG@10 drops > 0.005 p<0.05`.
    ///
    /// # Errors
    /// The first fault, with its character and the expected text. A verb whose direction does not
    /// suit the measure.
    pub fn parse(text: &str) -> Result<Self> {
        let (group, measure, rule) = grammar::parse(text)?;
        Ok(Self { text: text.trim().to_owned(), group, measure, rule })
    }

    /// Returns the group of queries that the gate is about, as `hard` of
    /// `hard: nDCG@10 drops > 2%`; `None` if it names none.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Returns the measure of the gate.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Returns whether the gate compares a run with a baseline, and not the run's mean with a
    /// number.
    pub fn needs_baseline(&self) -> bool {
        !matches!(self.rule, Rule::Threshold(..))
    }

    /// Returns whether the gate asks for significance, and so needs a p.
    pub fn needs_p(&self) -> bool {
        match self.rule {
            Rule::Threshold(..) => false,
            Rule::Worse { alpha, .. } => alpha.is_some(),
            Rule::NotShownBelow { .. } => true,
        }
    }

    /// Decides whether a run fails the gate, from the means and the p of the run against its
    /// baseline.
    ///
    /// # Errors
    /// A number that the gate needs is missing, or is not finite.
    pub fn verdict(&self, facts: GateInputs) -> Result<GateVerdict> {
        match self.rule {
            Rule::Threshold(sign, threshold) => {
                let value = self.finite(facts.run, "the mean")?;
                let equal = is_equal(value, threshold);
                let failed = match sign {
                    Sign::Below => value < threshold && !equal,
                    Sign::AtMost => value <= threshold || equal,
                    Sign::Above => value > threshold && !equal,
                    Sign::AtLeast => value >= threshold || equal,
                };
                Ok(GateVerdict { failed, value, threshold, p: None })
            }
            Rule::Worse { amount, alpha } => {
                let Loss { value, threshold, .. } = self.change(facts, amount)?;
                let more = value > threshold + self.rounding(facts);
                let p = match (alpha, facts.worse) {
                    (None, _) => None,
                    (Some(_), Some(p)) => Some(self.finite(p, "p")?),
                    // The gate passes without a p, so a missing p is no error: equal runs must not
                    // stop a build.
                    (Some(_), None) if !more => None,
                    (Some(_), None) => return Err(self.cannot(
                        "the test has no p, for example because every query changes by the same \
                         amount: take `--test randomisation`, or a gate without p",
                    )),
                };
                let failed = more && alpha.is_none_or(|alpha| p.is_some_and(|p| p < alpha));
                Ok(GateVerdict { failed, value, threshold, p })
            }
            Rule::NotShownBelow { amount, alpha } => {
                let Loss { paired, value, threshold } = self.change(facts, amount)?;
                // A loss of the amount is −amount where higher is better, and +amount where lower
                // is better. So the better tail rules a loss of the amount out.
                let p =
                    paired.p_for_null(if self.is_lower_better() { threshold } else { -threshold });
                let p = p.map(|tails| tails.better(self.better()));
                // Without a deviation there is no t, and the mean is certain. `>=`, as the gate
                // asks for a loss below the amount.
                let failed = p.map_or(value >= threshold - self.rounding(facts), |p| p >= alpha);
                Ok(GateVerdict { failed, value, threshold, p })
            }
        }
    }

    /// Rejects a gate if too many queries lack a value: the gate would pass or fail while these
    /// queries go unseen.
    ///
    /// # Errors
    /// More than a tenth of the queries without a value.
    pub fn check_skipped(&self, skipped: usize, queries: usize) -> Result<()> {
        if 10 * skipped > queries {
            Err(self.cannot(&format!(
                "{skipped} of {queries} queries have no value, for nothing is relevant for them, \
                 and that is more than a tenth: \
                 no_relevant=0 counts them"
            )))
        } else {
            Ok(())
        }
    }

    /// Returns the loss of a run against the baseline, and the loss that the gate allows, in units
    /// of the measure.
    fn change<'a>(&self, facts: GateInputs<'a>, amount: Amount) -> Result<Loss<'a>> {
        let (Some(paired), Some(baseline)) = (facts.paired, facts.baseline) else {
            return Err(self.cannot("it takes a baseline, and there is none"));
        };
        if paired.queries < 2 && self.needs_p() {
            return Err(self.cannot(
                "its p takes two queries or more, and there is one: take a gate without p",
            ));
        }
        self.check_baseline(baseline, facts.judged)?;
        let worse = if self.is_lower_better() { paired.mean } else { -paired.mean };
        let threshold = match amount {
            Amount::Absolute(amount) => amount,
            Amount::Relative(_) if baseline == 0.0 => {
                return Err(self.cannot(
                    "the baseline's mean is 0, so a percentage of it means nothing: \
                                 give an amount without `%`",
                ));
            }
            Amount::Relative(share) => share * self.finite(baseline, "the baseline's mean")?.abs(),
        };
        // Adding 0 makes +0 of −0, which would be printed as a loss of -0.
        Ok(Loss { paired, value: self.finite(worse, "the difference")? + 0.0, threshold })
    }

    /// Rejects a baseline whose mean is the worst possible, because no run could be worse and fail
    /// the gate. If none of the baseline's retrieved documents is judged, its mean is the worst
    /// possible, and every run passes. The worst mean over judged documents is a valid result. If
    /// the share of judged documents is unknown, as with stored scores, the worst mean is rejected,
    /// too.
    fn check_baseline(&self, baseline: f64, judged: Option<f64>) -> Result<()> {
        let (least, most) = match self.measure.definition().average {
            // Geometric means are of logarithms, which begin at the logarithm of the least counted
            // value, not at a bound of the range.
            Average::Geometric => return Ok(()),
            Average::Mean | Average::Sum => self.measure.range().bounds(),
        };
        let worst = if self.is_lower_better() { most } else { least };
        if is_equal(baseline, worst) && judged.is_none_or(|share| share == 0.0) {
            let nothing =
                if judged.is_some() { ", and none of its documents is judged" } else { "" };
            return Err(self.cannot(&format!(
                "the baseline's mean is {worst}, the worst there is{nothing}, so no run can be \
                 worse: is it the right file, with the same ids?"
            )));
        }
        Ok(())
    }

    /// Returns the largest gap, within rounding, at which a change of the mean still equals the
    /// gate's amount. The gap is the rounding of the two means, because the change is a small rest
    /// of them.
    fn rounding(&self, facts: GateInputs) -> f64 {
        tolerance(facts.run.abs().max(facts.baseline.map_or(0.0, f64::abs)))
    }

    fn better(&self) -> Direction {
        self.measure.definition().better
    }

    /// Returns whether lower values of the gate's measure are better.
    pub(super) fn is_lower_better(&self) -> bool {
        self.better() == Direction::Lower
    }

    fn finite(&self, value: f64, what: &str) -> Result<f64> {
        if value.is_finite() { Ok(value) } else { Err(self.cannot(&format!("{what} is {value}"))) }
    }

    fn cannot(&self, why: &str) -> Error {
        Error::Unanswerable(format!("the gate `{self}` cannot be computed: {why}"))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
