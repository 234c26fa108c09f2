//! The rules of gates: thresholds of a run's mean, and allowed losses against a baseline.

/// The condition of a gate on the mean of a run, or on its loss against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The run's mean is beyond a number.
    Threshold(Sign, f64),
    /// The run is worse than the baseline by more than an amount and, if `alpha` is given, by more
    /// than chance explains.
    Worse { amount: Amount, alpha: Option<f64> },
    /// The run is not shown to be worse by less than an amount.
    NotShownBelow { amount: Amount, alpha: f64 },
}

/// The side of a threshold on which the mean of a run fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Fails below it.
    Below,
    /// Fails at it and below.
    AtMost,
    /// Fails above it.
    Above,
    /// Fails at it and above.
    AtLeast,
}

/// The amount of loss that a gate allows, absolute or as a share of the baseline's mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// An amount in units of the measure.
    Absolute(f64),
    /// A share of the baseline's mean.
    Relative(f64),
}
