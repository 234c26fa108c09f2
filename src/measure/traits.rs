//! Traits: properties of a measure's values that are known before any is computed.

use std::fmt;

use crate::judged_by::JudgedBy;

/// The users of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// For every evaluation of rankings.
    Everyday,
    /// For a special question.
    Special,
    /// For comparison with old results; new evaluations use the successor.
    Historical {
        /// The measure that replaces the historical measure today.
        successor: &'static str,
    },
}

impl Status {
    /// The status in a word.
    pub fn name(self) -> &'static str {
        match self {
            Status::Everyday => "everyday",
            Status::Special => "special",
            Status::Historical { .. } => "historical",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Status::Historical { successor } => write!(f, ", today {successor}"),
            Status::Everyday | Status::Special => Ok(()),
        }
    }
}

/// The required judgments of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgmentInput {
    /// No judgments in particular.
    Any,
    /// A grade for each judged document.
    Grades,
    /// Judgments by facet.
    Groups(JudgedBy),
}

impl fmt::Display for JudgmentInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JudgmentInput::Any => f.write_str("any judgments"),
            JudgmentInput::Grades => f.write_str("a grade for each document"),
            JudgmentInput::Groups(JudgedBy::Preference) => f.write_str("preferences"),
            JudgmentInput::Groups(by) => write!(f, "judgments by {by}"),
        }
    }
}

/// The range of the value of a query, but for the rounding of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// 0 or 1, and nothing between.
    Binary,
    /// Any number from the first to the second.
    Within(f64, f64),
    /// A whole number, 0 or more.
    Count,
    /// 0 or more.
    Positive,
    /// Any number.
    Any,
}

impl Range {
    /// From 0 to 1.
    pub const SHARE: Range = Range::Within(0.0, 1.0);

    /// The least and the largest value.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Range::Binary => (0.0, 1.0),
            Range::Within(least, most) => (least, most),
            Range::Count | Range::Positive => (0.0, f64::INFINITY),
            Range::Any => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Whether `value` is in the range, but for the rounding of sums.
    pub fn contains(self, value: f64) -> bool {
        const ROUNDED: f64 = 1e-9;
        let (least, most) = self.bounds();
        match self {
            Range::Binary => value == 0.0 || value == 1.0,
            Range::Count => value >= 0.0 && value.fract() == 0.0,
            _ => value.is_finite() && value >= least && value <= most + ROUNDED,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Binary => f.write_str("0 or 1"),
            Range::Within(least, most) if least == most => write!(f, "{least}"),
            Range::Within(least, most) => write!(f, "{least} to {most}"),
            Range::Count => f.write_str("a whole number, 0 or more"),
            Range::Positive => f.write_str("0 or more"),
            Range::Any => f.write_str("any number"),
        }
    }
}

/// The way from the numbers of a recipe to the expected value over the orders of documents with
/// equal scores. A measure that walks has an expected value if `ties` knows a form of the measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// By the last step on expected values: the step is linear in every number that depends on the
    /// order.
    Linear,
    /// By the last step for each number of hits above the cut, and then the mean over the numbers.
    GivenHits,
    /// The expected value is not known.
    None,
}
