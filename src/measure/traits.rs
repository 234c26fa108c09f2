//! Traits: what is known of a measure's values before any is computed.

use std::fmt;

use super::value::Measure;
use crate::fold::CodeTable;
use crate::label::Codebook;

/// Who asks for a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Whoever evaluates rankings.
    Everyday,
    /// Whoever has the question that it answers.
    Special,
    /// Whoever compares with old results; others take the successor.
    Historical {
        /// The measure that is used instead today.
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

/// Where the value of a query lies, but for the rounding of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// 0 or 1, and nothing between.
    Binary,
    /// From the one number to the other.
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

    /// Is this value in it, but for the rounding of sums?
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

/// How the expected value over the orders of documents with equal scores follows from what a recipe reads. A measure that walks has
/// one where `ties` knows a form of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The last line, finished with expectations: it is linear in whatever an order changes.
    Linear,
    /// The same once the number of hits is known that stand above the cut, and then the mean over that number.
    GivenHits,
    /// In no way that is known.
    None,
}

/// The best order of documents with equal scores; the worst one is its reverse.
#[derive(Debug, Clone, Copy)]
pub enum BestOrder {
    /// By descending grade, if a better swap never makes the value worse; otherwise it is not known.
    Swaps,
    /// By descending worth of the codes.
    Worth(fn(&Measure, &Codebook) -> Result<CodeTable, String>),
    /// One that depends on the ranking, and that `ties` looks for.
    Searched,
    /// It is not known.
    None,
}
