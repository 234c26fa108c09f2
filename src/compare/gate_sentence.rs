//! Sentences about the verdict of a gate on a run: the observed mean or change, and the allowed
//! mean or change.
//!
//! ```text
//! nDCG@10 of new fell by 0.1648 (-22.4 %, 95 % interval -0.2451 to -0.0844), p < 0.0001;
//!     allowed: a drop of 0.005, or one that chance explains (p ≥ 0.05)
//! AP of new is 0.4443; allowed: 0.3 or more
//! ```

use std::fmt::{self, Write};

use super::gate::rule::{Amount, Rule, Sign};
use super::gate::{Gate, GateVerdict};
use super::p_text::p_text;
use crate::measure::Average;

/// The fewest decimals of a number in a sentence, and the most.
const DECIMALS: (usize, usize) = (4, 17);

/// The relative change of a run's mean and its interval, for a sentence about the verdict of a
/// gate.
#[derive(Debug, Clone, Copy, Default)]
pub struct GateChange {
    /// The change as a share of the baseline's mean.
    pub relative: Option<f64>,
    /// The ends of the interval of the change, and its confidence in percent.
    pub interval: Option<([f64; 2], f64)>,
}

/// A sentence about the verdict of a gate on a run: what was observed, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSentence {
    /// The observed mean or change, such as `AP of new is 0.4443`.
    pub happened: String,
    /// The allowed mean or change, such as `0.3 or more`.
    pub allowed: String,
}

impl fmt::Display for GateSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; allowed: {}", self.happened, self.allowed)
    }
}

impl Gate {
    /// Describes `run` under the gate: its observed mean or change, and what is allowed, but not
    /// whether it passed.
    pub fn sentence(&self, run: &str, verdict: &GateVerdict, change: GateChange) -> GateSentence {
        let decimals = decimals_apart(verdict.value, verdict.threshold);
        let mut happened = if self.needs_baseline() {
            self.happened(run, verdict, change, decimals)
        } else {
            format!("{} of {run} is {:.decimals$}", self.measure(), verdict.value)
        };
        if let Some(p) = verdict.p {
            _ = write!(happened, ", {}", p_text(p));
        }
        GateSentence { happened, allowed: self.allowed(verdict.threshold, decimals) }
    }

    /// Describes the change of the run's mean from the baseline's, with its percentage and its
    /// interval.
    fn happened(
        &self,
        run: &str,
        verdict: &GateVerdict,
        change: GateChange,
        decimals: usize,
    ) -> String {
        if self.is_geometric() {
            return self.happened_by_factor(run, verdict, change);
        }
        // The value is a loss: of a measure whose lower values are better, a rise.
        let fell = (verdict.value > 0.0) != self.is_lower_better();
        let mut text = match verdict.value {
            0.0 => format!("{} of {run} did not change", self.measure()),
            value => format!(
                "{} of {run} {} by {:.decimals$}",
                self.measure(),
                if fell { "fell" } else { "rose" },
                value.abs()
            ),
        };
        let relative = change.relative.filter(|_| verdict.value != 0.0);
        let relative = relative.map(|share| format!("{:+.1} %", 100.0 * share));
        let interval = change.interval.map(|([low, high], percent)| {
            format!("{percent} % interval {low:+.decimals$} to {high:+.decimals$}")
        });
        let within: Vec<String> = relative.into_iter().chain(interval).collect();
        if !within.is_empty() {
            _ = write!(text, " ({})", within.join(", "));
        }
        text
    }

    /// Returns whether the gate's measure has a geometric mean, whose changes are factors: the
    /// values of its gates are logarithms.
    fn is_geometric(&self) -> bool {
        self.measure().definition().average == Average::Geometric
    }

    /// Describes the run's geometric mean as a factor of the baseline's, with its interval.
    fn happened_by_factor(&self, run: &str, verdict: &GateVerdict, change: GateChange) -> String {
        let change_of = if self.is_lower_better() { verdict.value } else { -verdict.value };
        let mut text = format!(
            "{} of {run} is {:.4} times that of the baseline",
            self.measure(),
            change_of.exp()
        );
        if let Some(([low, high], percent)) = change.interval {
            _ = write!(text, " ({percent} % interval {:.4} to {:.4} times)", low.exp(), high.exp());
        }
        text
    }

    /// Describes the mean or the loss that the gate allows; `threshold` is that number in units of
    /// the measure.
    fn allowed(&self, threshold: f64, decimals: usize) -> String {
        let number = short(threshold, decimals);
        let loss = self.loss_word();
        match self.rule {
            Rule::Threshold(Sign::Below, _) => format!("{number} or more"),
            Rule::Threshold(Sign::AtMost, _) => format!("more than {number}"),
            Rule::Threshold(Sign::Above, _) => format!("{number} or less"),
            Rule::Threshold(Sign::AtLeast, _) => format!("less than {number}"),
            // A loss of 0 is no amount to name: any loss fails.
            Rule::Worse { alpha: None, .. } if threshold == 0.0 => format!("no {loss}"),
            Rule::Worse { alpha: Some(alpha), .. } if threshold == 0.0 => {
                format!("a {loss} that chance explains (p ≥ {alpha})")
            }
            Rule::Worse { alpha, amount } => {
                let amount = self.amount_text(amount, threshold, &number);
                match alpha {
                    None => amount,
                    Some(alpha) => format!("{amount}, or one that chance explains (p ≥ {alpha})"),
                }
            }
            Rule::NotShownBelow { amount, alpha } => {
                let amount = self.amount_text(amount, threshold, &number);
                format!("data that rule out {amount} or more (p < {alpha})")
            }
        }
    }

    /// Describes the amount of loss that a gate names; `number` is the text of `threshold`.
    fn amount_text(&self, amount: Amount, threshold: f64, number: &str) -> String {
        let loss = self.loss_word();
        match amount {
            Amount::Absolute(_) if self.is_geometric() => {
                let change = if self.is_lower_better() { threshold } else { -threshold };
                format!("a {loss} to {:.4} times that of the baseline", change.exp())
            }
            Amount::Absolute(_) => format!("a {loss} of {number}"),
            Amount::Relative(share) => format!("a {loss} of {number} ({} %)", percent(share)),
        }
    }

    /// Returns the word for a loss under the gate's measure: `drop`, or `rise` where lower is
    /// better.
    fn loss_word(&self) -> &'static str {
        if self.is_lower_better() { "rise" } else { "drop" }
    }
}

/// Returns the fewest decimals, four or more, that print two different numbers differently: 0.00501
/// must not read as 0.0050 beside a limit of 0.005.
fn decimals_apart(one: f64, other: f64) -> usize {
    let (fewest, most) = DECIMALS;
    if one == other {
        return fewest;
    }
    // Without the signs, because sentences print sizes: a loss is a drop or a rise.
    let [one, other] = [one.abs(), other.abs()];
    (fewest..most)
        .find(|&decimals| format!("{one:.decimals$}") != format!("{other:.decimals$}"))
        .unwrap_or(fewest)
}

/// Formats a number with some decimals, or with two significant digits if it is small, without
/// zeros at its end.
fn short(value: f64, decimals: usize) -> String {
    let small = value != 0.0 && value.abs() < 1e-3;
    let digits =
        if small { (1 - value.abs().log10().floor() as i32).clamp(0, 17) as usize } else { 0 };
    let text = format!("{value:.*}", decimals.max(digits));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a share as percent, without the floating-point digits of the multiplication.
fn percent(share: f64) -> f64 {
    (share * 1e10).round() / 1e8
}
