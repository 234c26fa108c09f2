//! Helpers that several reference formulas of measures share: cutoffs, quotients, discounts.

use crate::measure::Measure;

/// Returns the cutoff in ranks of a measure with a required cutoff.
pub fn rank(m: &Measure) -> usize {
    m.rank().map_or(usize::MAX, |k| k as usize)
}

/// Returns the cutoff of a measure as it stands in formulas; without one, it is infinite.
pub fn cutoff(m: &Measure) -> f64 {
    m.rank().map_or(f64::INFINITY, f64::from)
}

/// Returns the quotient a / b; 0 where the divisor is 0.
pub fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// Returns the discount lg(i + 1), by which DCG divides the gain at rank i.
pub fn discount(rank: usize) -> f64 {
    ((rank + 1) as f64).log2()
}

/// Returns numbers in ascending order, each once.
pub fn distinct(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
