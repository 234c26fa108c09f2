//! The result of a gate in words: the observed mean or change, and the allowed mean or change.
//!
//! ```text
//! nDCG@10 of new fell by 0.1648 (-22.4 %, 95 % interval -0.2451 to -0.0844), p < 0.0001;
//!     allowed: a drop of 0.005, or one that chance explains (p ≥ 0.05)
//! AP of new is 0.4443; allowed: 0.3 or more
//! ```

use std::fmt::{self, Write};

use super::gate::rule::{Amount, Rule, Sign};
use super::gate::{Gate, GateVerdict};
use super::p_is::p_is;
use crate::measure::{Average, Better};

/// The fewest decimals of a number in a sentence, and the most.
const DECIMALS: (usize, usize) = (4, 17);

/// Facts about a change that a gate judged, beside the gate's verdict.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChangeTold {
    /// The change as a share of the baseline's mean.
    pub relative: Option<f64>,
    /// The ends of the interval of the change, and its confidence in percent.
    pub interval: Option<([f64; 2], f64)>,
}

/// The result of a gate in words.
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
    /// Puts the verdict on `run` in words.
    pub fn sentence(&self, run: &str, verdict: &GateVerdict, change: ChangeTold) -> GateSentence {
        let decimals = decimals_apart(verdict.value, verdict.threshold);
        let happened = if self.compares() {
            self.happened(run, verdict, change, decimals)
        } else {
            format!("{} of {run} is {:.decimals$}", self.measure(), verdict.value)
        };
        GateSentence { happened, allowed: self.allowed(verdict.threshold, decimals) }
    }

    /// Says how far the run moved from the baseline.
    fn happened(
        &self,
        run: &str,
        verdict: &GateVerdict,
        change: ChangeTold,
        decimals: usize,
    ) -> String {
        // The value is a loss: of a measure whose lower values are better, a rise.
        let lower = self.measure().definition().better == Better::Lower;
        let fell = (verdict.value > 0.0) != lower;
        if self.is_geometric() {
            return self.happened_by_factor(run, verdict, change);
        }
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
        if let Some(p) = verdict.p {
            _ = write!(text, ", {}", p_is(p));
        }
        text
    }

    /// Whether the measure has a geometric mean, whose changes are factors: the values of its gates
    /// are logarithms.
    fn is_geometric(&self) -> bool {
        self.measure().definition().average == Average::Geometric
    }

    /// Says by what factor the run's mean differs from the baseline's.
    fn happened_by_factor(&self, run: &str, verdict: &GateVerdict, change: ChangeTold) -> String {
        let lower = self.measure().definition().better == Better::Lower;
        let change_of = if lower { verdict.value } else { -verdict.value };
        let mut text = format!(
            "{} of {run} is {:.4} times that of the baseline",
            self.measure(),
            change_of.exp()
        );
        if let Some(([low, high], percent)) = change.interval {
            _ = write!(text, " ({percent} % interval {:.4} to {:.4} times)", low.exp(), high.exp());
        }
        if let Some(p) = verdict.p {
            _ = write!(text, ", {}", p_is(p));
        }
        text
    }

    /// Describes the loss that a gate allows; `threshold` is the loss in units of the measure.
    fn allowed(&self, threshold: f64, decimals: usize) -> String {
        let number = short(threshold, decimals);
        let loss =
            if self.measure().definition().better == Better::Lower { "rise" } else { "drop" };
        let amount = |amount: Amount| match amount {
            Amount::Absolute(_) if self.is_geometric() => {
                let sign =
                    if self.measure().definition().better == Better::Lower { 1.0 } else { -1.0 };
                format!("a {loss} to {:.4} times that of the baseline", (sign * threshold).exp())
            }
            Amount::Absolute(_) => format!("a {loss} of {number}"),
            Amount::Relative(share) => format!("a {loss} of {number} ({} %)", percent(share)),
        };
        match self.rule {
            Rule::Threshold(Sign::Below, _) => format!("{number} or more"),
            Rule::Threshold(Sign::AtMost, _) => format!("more than {number}"),
            Rule::Threshold(Sign::Above, _) => format!("{number} or less"),
            Rule::Threshold(Sign::AtLeast, _) => format!("less than {number}"),
            Rule::Worse { alpha: None, .. } if threshold == 0.0 => format!("no {loss}"),
            Rule::Worse { alpha: None, amount: by } => amount(by),
            Rule::Worse { alpha: Some(alpha), .. } if threshold == 0.0 => {
                format!("a {loss} that chance explains (p ≥ {alpha})")
            }
            Rule::Worse { alpha: Some(alpha), amount: by } => {
                format!("{}, or one that chance explains (p ≥ {alpha})", amount(by))
            }
            Rule::May { amount: by, alpha } => {
                format!("data that rule out {} or more (p < {alpha})", amount(by))
            }
        }
    }
}

/// The fewest decimals, four or more, that print two different numbers differently: 0.00501 must
/// not read as 0.0050 beside a limit of 0.005.
fn decimals_apart(one: f64, other: f64) -> usize {
    let (fewest, most) = DECIMALS;
    let differ = |&decimals: &usize| {
        format!("{:.decimals$}", one.abs()) != format!("{:.decimals$}", other.abs())
    };
    (fewest..most).find(differ).filter(|_| one != other).unwrap_or(fewest)
}

/// A number with some decimals, or two digits if it is smaller, without zeros at its end.
fn short(value: f64, decimals: usize) -> String {
    let small = value != 0.0 && value.abs() < 1e-3;
    let digits =
        if small { (1 - value.abs().log10().floor() as i32).clamp(0, 17) as usize } else { 0 };
    let text = format!("{value:.*}", decimals.max(digits));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share as percent, without the digits that its arithmetic leaves.
fn percent(share: f64) -> f64 {
    (share * 1e10).round() / 1e8
}
