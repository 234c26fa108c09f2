//! What formulas of several kinds have in common.

use crate::measure::Measure;

/// Returns the cutoff in ranks of a measure with a required cutoff.
pub fn rank(m: &Measure) -> usize {
    m.rank().map_or(usize::MAX, |k| k as usize)
}

/// The cutoff of a measure as it stands in formulas; without one, it is infinite.
pub fn cutoff(m: &Measure) -> f64 {
    m.rank().map_or(f64::INFINITY, f64::from)
}

/// A quotient; 0 where the divisor is 0.
pub fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// lg(i + 1), by which the gain at rank i is divided.
pub fn discount(rank: usize) -> f64 {
    ((rank + 1) as f64).log2()
}
