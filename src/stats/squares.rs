//! Sums of squares without any rounding.
//!
//! As `aggregate`, with twice the width: the square of a finite f64 is a whole number of units of
//! 2⁻²¹⁴⁸ below 2⁴¹⁹⁶, of 106 bits.

use super::aggregate::{ONES, decoded};
use super::fixed::Fixed;
use super::limbs::Limbs;

/// The exponent of the smallest square, 2^−SMALLEST.
pub(super) const SMALLEST: usize = 2 * super::aggregate::SMALLEST;
/// The number of limbs: 4196 bits from the smallest square to the largest, and room for carries,
/// also if parts that are read are as large as possible.
const LIMBS: usize = 135;
/// The bits of a sum of 2⁶⁴ squares.
const BITS: usize = 4196 + 64;

/// The bits at which squares are split: at 2^−HIGH, and again after each STEP bits.
const HIGH: usize = 13;
const STEP: usize = 50;

/// The exact sum of the squares of f64 values.
#[derive(Debug, Clone, Default)]
pub struct SquareSum {
    /// The sum of the finite squares in units of 2^−SMALLEST. Most sums are between 2^−164 and
    /// 2^92, and need no more than eight limbs.
    limbs: Limbs<LIMBS, 62, 8>,
    /// The sum of the squares of values that are infinite or not a number.
    special: f64,
}

impl SquareSum {
    /// Adds the square of a value to the exact sum.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let Some((mantissa, position)) = decoded(value) else {
            self.special += value * value;
            return;
        };
        if mantissa != 0 {
            self.limbs.add_long(u128::from(mantissa.unsigned_abs()).pow(2), 2 * position);
        }
    }

    /// Adds the four integers that [`split`] made of some squares to the exact sum.
    pub(super) fn add_split(&mut self, parts: [i64; 4]) {
        for (at, part) in parts.into_iter().enumerate() {
            self.limbs.add(part, SMALLEST - HIGH - STEP * at);
        }
    }

    /// Adds all squares of another exact sum of squares.
    pub fn merge(&mut self, other: &Self) {
        self.limbs.merge(&other.limbs);
        self.special += other.special;
    }

    /// Returns the sum of the squares that are infinite or not a number; 0 if all values are
    /// finite.
    pub fn special(&self) -> f64 {
        if self.special.is_nan() { f64::NAN } else { self.special }
    }

    /// Returns the exact sum of the squares of the finite values as an exact number, for storage.
    pub fn to_parts(&self) -> Fixed {
        self.limbs.to_fixed(SMALLEST)
    }

    /// Makes the sum of squares from a stored exact number; `None` if no sum of 2⁶⁴ squares has
    /// this value. The value of [`Self::special`], if it is not 0, can be added as a value.
    pub fn from_parts(parts: &Fixed) -> Option<Self> {
        if parts.is_negative() {
            return None;
        }
        Some(Self { limbs: Limbs::from_fixed(parts, SMALLEST, BITS)?, special: 0.0 })
    }

    /// Returns the limbs of the exact sum of the finite squares, in units of 2^−SMALLEST.
    pub(super) fn magnitude(&self) -> [i64; LIMBS] {
        self.limbs.magnitude().1
    }
}

/// Sums are equal if the exact sums of their finite squares are equal, and so are the sums of the
/// others. NaN equals NaN.
impl PartialEq for SquareSum {
    fn eq(&self, other: &Self) -> bool {
        self.special().to_bits() == other.special().to_bits() && self.limbs == other.limbs
    }
}

impl FromIterator<f64> for SquareSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

/// Returns the exact sum of the squares of values as integers in units of 2⁻¹³, 2⁻⁶³, 2⁻¹¹³ and
/// 2⁻¹⁶³; `None` if a square leaves a rest. The values must be such as [`super::aggregate::split`]
/// can split.
///
/// A square is the sum of two floats, its rounded value and the error of that value (Dekker 1971),
/// and each of them is split as terms are.
#[inline(always)]
pub(super) fn split(values: &[f64]) -> Option<[i64; 4]> {
    let mut parts = [0i64; 4];
    let (mut rest, mut wholes) = (0, 0);
    for &value in values {
        // The upper half of the mantissa, to nearest, and the lower: products of halves are exact.
        let upper = f64::from_bits(value.to_bits().wrapping_add(1 << 26) & !((1 << 27) - 1));
        let lower = value - upper;
        let square = value * value;
        let error = (upper * upper - square) + 2.0 * upper * lower + lower * lower;
        let (whole, below) = rounded(square * (1u64 << HIGH) as f64);
        parts[0] = parts[0].wrapping_add(whole);
        wholes |= whole;
        let (first, below) = rounded(below * (1u64 << STEP) as f64);
        let (second, below) = rounded(below * (1u64 << STEP) as f64);
        rest |= below.to_bits();
        let (first_of_error, below) = rounded(error * (1u64 << (HIGH + STEP)) as f64);
        let (second_of_error, below) = rounded(below * (1u64 << STEP) as f64);
        let (third_of_error, below) = rounded(below * (1u64 << STEP) as f64);
        rest |= below.to_bits();
        parts[1] = parts[1].wrapping_add(first).wrapping_add(first_of_error);
        parts[2] = parts[2].wrapping_add(second).wrapping_add(second_of_error);
        parts[3] = parts[3].wrapping_add(third_of_error);
    }
    // A sum of ONES and a number from 2⁵¹ on has a coarser unit than 1.
    (rest == 0 && wholes >> 51 == 0).then_some(parts)
}

/// Rounds a float below [`ONES`] to an integer. Returns the integer and the part lost by rounding.
#[inline(always)]
fn rounded(scaled: f64) -> (i64, f64) {
    let whole = scaled + ONES;
    (whole.to_bits().wrapping_sub(ONES.to_bits()) as i64, scaled - (whole - ONES))
}

#[cfg(test)]
mod tests {
    use super::super::aggregate;
    use super::*;
    use proptest::prelude::*;

    fn exact(values: &[f64]) -> SquareSum {
        values.iter().copied().collect()
    }

    /// Returns the sum of squares by [`split`].
    fn at_once(values: &[f64]) -> Option<SquareSum> {
        let mut sum = SquareSum::default();
        aggregate::split(values)?;
        sum.add_split(split(values)?);
        Some(sum)
    }

    #[test]
    fn known_sums() {
        for (values, expected) in [
            (&[][..], "0x0p0"),
            (&[3.0, -4.0], "0x19p0"),
            (&[0.1], "0xa3d70a3d70a3dc28f5c28f5c29p-110"),
            (&[f64::from_bits(1)], "0x1p-2148"),
            (&[f64::MAX], "0x3ffffffffffffc0000000000001p1942"),
            (&[2f64.powi(500), 2f64.powi(-500)], &format!("0x1{}1p-1000", "0".repeat(499))),
        ] {
            let sum = exact(values).to_parts();
            assert_eq!(sum.to_string(), expected, "{values:?}");
            assert_eq!(SquareSum::from_parts(&sum), Some(exact(values)));
        }
        assert_eq!(exact(&[1.0, f64::NEG_INFINITY]).special(), f64::INFINITY);
        assert!(exact(&[1.0, f64::NAN]).special().is_nan());
    }

    #[test]
    fn values_of_measures_are_split() {
        let values: Vec<f64> =
            (0..5000).map(|n| f64::from(n % 61) / f64::from(n % 97 + 61)).collect();
        for values in values.chunks(aggregate::SPLIT_TERMS) {
            assert_eq!(at_once(values), Some(exact(values)));
        }
        for value in
            [524_287.999, -524_287.999, 1.0 - f64::EPSILON, 1.0 / 3.0, 2f64.powi(-56), 1e-8, 0.0]
        {
            let values = [value; aggregate::SPLIT_TERMS];
            assert_eq!(at_once(&values), Some(exact(&values)), "{value:e}");
        }
    }

    #[test]
    fn what_does_not_split_is_found() {
        for odd in [
            524_288.0,
            2f64.powi(60),
            1e300,
            1e-30,
            f64::from_bits(1),
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ] {
            assert!(at_once(&[0.5, odd]).is_none(), "{odd:e}");
        }
        for odd in [
            524_288.0,
            2f64.powi(600),
            f64::MAX,
            f64::NAN,
            f64::INFINITY,
            2f64.powi(-82),
            1e-30,
            1e-155,
        ] {
            assert!(split(&[0.5, odd]).is_none(), "{odd:e}");
        }
    }

    #[test]
    fn sums_of_ordinary_size_are_small() {
        let mut sum: SquareSum =
            (0..5000).map(|n| f64::from(n % 61) / f64::from(n % 97 + 61)).collect();
        sum.merge(&exact(&[1e-9, -3.25, 0.00001f64.ln(), 4e9]));
        assert!(!sum.limbs.is_wide() && size_of::<SquareSum>() <= 88);
        assert!(!SquareSum::from_parts(&sum.to_parts()).unwrap().limbs.is_wide());
        sum.add(1e-60);
        assert!(sum.limbs.is_wide());
    }

    proptest! {
        /// Integers in u128 are an independent exact sum.
        #[test]
        fn scaled_integers(
            integers in proptest::collection::vec(-(1i64 << 53)..=(1 << 53), 0..100),
            scale in -1074..900i32,
        ) {
            let expected: u128 =
                integers.iter().map(|&integer| u128::from(integer.unsigned_abs()).pow(2)).sum();
            let power = |scale: i32| 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2);
            let sum =
                exact(&integers.iter().map(|&term| term as f64 * power(scale)).collect::<Vec<_>>());
            prop_assert_eq!(
                sum.to_parts(),
                Fixed::reduced(false, 2 * scale, expected.to_le_bytes().to_vec())
            );
        }

        /// Values give the same sum at once and one by one, if they can be split.
        #[test]
        fn at_once_or_one_by_one(
            values in proptest::collection::vec((-1e3..1e3f64, -40..10i32), 1..50),
            scale in 0..2i32,
        ) {
            let values: Vec<f64> =
                values.iter().map(|(value, power)| value * 2f64.powi(power * scale)).collect();
            if let Some(sum) = at_once(&values) {
                prop_assert_eq!(sum, exact(&values));
            }
        }
    }
}
