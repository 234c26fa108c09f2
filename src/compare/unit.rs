//! Values of measures as whole numbers of a small unit, so that equal differences are equal and
//! sums are exact in any order.
//!
//! 0.3 − 0.2 is not 0.2 − 0.1 in f64, and a test that counts ties must not depend on that. So each
//! value is rounded once, to a multiple of 2^−S; differences and sums of these are integers. All
//! runs have the same S under a measure, by the rule of
//! [`rounding`](crate::stats::rounding).
//!
//! # Why 40 bits, and why the bounds are larger
//!
//! A value is at most 2⁴⁰ units, a difference 2⁴¹. The functions that add random signs and weights
//! take values up to 2⁵³, thirteen bits more. So tests can reach the limits of these functions, and
//! callers need not know the unit.
//!
//! Rounding to a unit errs by at most ½. A number therefore differs from its size on paper, or from
//! a number equal on paper, by at most:
//!
//! ```text
//! a value                          ½ unit each
//! a difference of two values       1 unit from its size on paper         is_zero: 1
//! two differences of equal size    2 units from each other               is_tied: 2
//! a sum of n differences           n units;  two such sums: 2n           tolerance: 2n
//! ```
//!
//! Every comparison in tests of pairs uses these bounds in integers. With f64 the answer to "is
//! this draw as extreme as what was observed" would depend on the order of additions, and p on the
//! number of threads.

use crate::stats::rounding::{FINEST, fineness};

/// The unit of a measure's values in a comparison, 2^−S, to whose multiples values are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    exponent: i32,
}

impl Unit {
    /// Returns the unit, a power of two, in which the largest of some finite values has at most 40
    /// bits.
    pub fn for_values(values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        // One unit for all runs, because differences must be multiples of the unit as well. Values
        // up to 1 always have the unit 2⁻⁴⁰, and parts then agree without exchanging data.
        Self { exponent: fineness(largest) }
    }

    /// The most bits of a value in whole units.
    pub const BITS: u32 = FINEST as u32;

    /// Returns the unit 2^−`exponent`, if values can have it.
    pub fn from_exponent(exponent: i32) -> Option<Self> {
        (FINEST - 1024..=FINEST).contains(&exponent).then_some(Self { exponent })
    }

    /// Returns the largest value with this unit.
    pub fn largest(self) -> f64 {
        2f64.powi(FINEST - self.exponent).min(f64::MAX)
    }

    /// Returns the exponent S: values are multiplied by 2^S.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// Returns the unit as a number.
    pub fn size(self) -> f64 {
        power(-self.exponent)
    }

    /// Rounds a value to the nearest whole number of units; the even one of two.
    pub fn count(self, value: f64) -> i64 {
        // The product is exact, as a multiplication by a power of two, or far below half a unit: a
        // value is rounded once.
        (value * power(self.exponent)).round_ties_even() as i64
    }

    /// Rounds values to the nearest whole numbers of units.
    pub fn counts(self, values: &[f64]) -> Vec<i64> {
        values.iter().map(|&value| self.count(value)).collect()
    }
}

/// Returns a power of two within the range of normal numbers.
fn power(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The bound on values in whole units, and on the numbers that this module sums: sums of 256
/// differences fit an i64.
pub const LARGEST: i64 = 1 << 53;

/// Returns the differences of a run's values from a baseline's, query by query, in whole units.
pub fn deltas(baseline: &[i64], run: &[i64]) -> Vec<i64> {
    baseline.iter().zip(run).map(|(baseline, run)| run - baseline).collect()
}

/// Returns the exact sum of some values in whole units.
pub fn sum(counts: &[i64]) -> i128 {
    counts.iter().copied().map(i128::from).sum()
}

/// Returns the exact sum of the products of two lists of values in whole units.
pub fn products(left: &[i64], right: &[i64]) -> i128 {
    left.iter().zip(right).map(|(&left, &right)| i128::from(left) * i128::from(right)).sum()
}

/// Returns whether the difference of two values in whole units is rounding at most.
pub fn is_zero(delta: i64) -> bool {
    delta.abs() <= 1
}

/// Returns whether two differences in whole units, or their sizes, may be equal before rounding.
pub fn is_tied(left: i64, right: i64) -> bool {
    left.abs_diff(right) <= 2
}

/// Returns the most by which two sums of differences over `queries` queries may differ if they are
/// equal before rounding.
pub fn tolerance(queries: usize) -> i64 {
    2 * queries as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_from_the_largest_value() {
        let exponents = [
            (0.0, 40),
            (0.3, 40),
            (1.0, 40),
            (1.0f64.next_up(), 39),
            (2.0, 39),
            (3.0, 38),
            (-1000.0, 30),
            (f64::MIN_POSITIVE, 40),
            (f64::MAX, 40 - 1024),
        ];
        for (largest, exponent) in exponents {
            let unit = Unit::for_values([0.0, largest, largest / 3.0]);
            assert_eq!(unit.exponent(), exponent, "{largest}");
            assert!(unit.count(largest).abs() <= 1 << 40);
            assert_eq!(unit.count(-largest), -unit.count(largest));
        }
        assert_eq!(Unit::for_values([0.5]).size(), 2f64.powi(-40));
        assert_eq!(Unit::for_values([f64::MAX]).count(f64::MAX), 1 << 40);
    }

    #[test]
    fn halves_round_to_even() {
        let unit = Unit::for_values([1.0]);
        let counts = [0.5, 1.5, 2.5, -0.5, -1.5, 0.5f64.next_up()]
            .map(|value| unit.count(value * unit.size()));
        assert_eq!(counts, [0, 2, 2, 0, -2, 1]);
    }

    #[test]
    fn equal_differences_are_tied() {
        let unit = Unit::for_values([1.0]);
        let count = |value| unit.count(value);
        let [low, middle, high] = [1.0, 2.0, 3.0].map(|tenths| tenths / 10.0);
        assert_ne!(high - middle, middle - low);
        assert!(is_tied(count(high) - count(middle), count(middle) - count(low)));
        assert!(is_zero(count(0.1 + 0.2) - count(0.3)));
        assert!(!is_tied(3, 0) && is_tied(i64::MAX, i64::MAX - 2) && !is_tied(i64::MIN, i64::MAX));
        assert!(is_zero(-1) && is_zero(1) && !is_zero(2) && !is_zero(-2));
    }

    #[test]
    fn sums_are_exact_beyond_64_bits() {
        let many = vec![LARGEST; 3000];
        assert_eq!(sum(&many), 3000 << 53);
        let minus: Vec<i64> = many.iter().map(|count| -count).collect();
        assert_eq!(products(&many, &minus), -(3000 << 106));
        assert_eq!(deltas(&[1, 5], &[4, 3]), [3, -2]);
    }
}
