//! Traits: properties of a measure's values, such as the range, that are known before any value is
//! computed.

use std::fmt;

use crate::judged_by::FacetKind;

/// The status of a measure: for everyday use, for a special question, or only for comparison with
/// old results.
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
    /// Returns the status of a measure in a word, such as `everyday`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everyday => "everyday",
            Self::Special => "special",
            Self::Historical { .. } => "historical",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Historical { successor } => write!(f, ", today {successor}"),
            Self::Everyday | Self::Special => Ok(()),
        }
    }
}

/// The judgments that a measure requires: any, a grade for each document, or judgments by facet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgmentNeeds {
    /// No judgments in particular.
    Any,
    /// A grade for each judged document.
    Grades,
    /// Judgments by facet.
    Facets(FacetKind),
}

impl fmt::Display for JudgmentNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any judgments"),
            Self::Grades => f.write_str("a grade for each document"),
            Self::Facets(FacetKind::Preference) => f.write_str("preferences"),
            Self::Facets(by) => write!(f, "judgments by {by}"),
        }
    }
}

/// The range of a measure's value for one query, but for the rounding of sums.
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
    pub const SHARE: Self = Self::Within(0.0, 1.0);

    /// Returns the least and the largest value of a measure in this range.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Self::Binary => (0.0, 1.0),
            Self::Within(least, most) => (least, most),
            Self::Count | Self::Positive => (0.0, f64::INFINITY),
            Self::Any => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Returns whether a measure's value is in the range, but for the rounding of sums.
    pub fn contains(self, value: f64) -> bool {
        const ROUNDED: f64 = 1e-9;
        let (least, most) = self.bounds();
        match self {
            Self::Binary => value == 0.0 || value == 1.0,
            Self::Count => value >= 0.0 && value.fract() == 0.0,
            _ => value.is_finite() && value >= least && value <= most + ROUNDED,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("0 or 1"),
            Self::Within(least, most) if least == most => write!(f, "{least}"),
            Self::Within(least, most) => write!(f, "{least} to {most}"),
            Self::Count => f.write_str("a whole number, 0 or more"),
            Self::Positive => f.write_str("0 or more"),
            Self::Any => f.write_str("any number"),
        }
    }
}

/// The way to compute a measure's expected value over all orders of documents with equal scores. A
/// measure that walks has an expected value if `ties` knows a form of the measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectationRule {
    /// By the last step on expected values: the step is linear in every number that depends on the
    /// order.
    Linear,
    /// By the last step for each number of hits above the cut, and then the mean over the numbers.
    GivenHits,
    /// The expected value is not known.
    None,
}
