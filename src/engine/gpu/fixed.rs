//! Sums in integers on the GPU: the unit of each sum, the tables of its terms, and how far the sum
//! can be off.
//!
//! Floats on a GPU may be reordered, fused and divided inexactly; integers are the same everywhere.
//! A sum is a fixed-point number of 64 bits (96 where gains differ by many orders of magnitude), in
//! the smallest unit 2^-s in which the largest sum that can occur stays below 2^63 (2^95). Terms
//! are rounded once, so the error is at most the number of terms times half a unit.
//!
//! Why 2⁶³ and not 2⁶⁴: negative gains make sums signed, and a factor of 1 must fit into the units
//! of numbers from 0 to 1.
//!
//! The errors, fold by fold, with n the number of ranks and u = 2⁻⁶³:
//!
//! | sum | a term is | off by at most | so the sum |
//! |---|---|---|---|
//! | weighted | tabled, rounded to 2⁻ˢ | 2⁻ˢ⁻¹ | n·2⁻ˢ⁻¹ |
//! | precisions | h·(1/i), then shortened by b bits | h·u/2 ≤ 2ᵇ·u/2, and 2ᵇ·u/2 | n·2ᵇ·u |
//! | cascade | p·(stop·weight), both in u, rounded down | p's own error, and 1.5 u | 3·n·u |
//! | inferred | two factors as a precision's, | see `inferred_error` | n·(1.5·2ᵇ·u + 4 u) |
//! | | then shortened | | |
//!
//! with b = ⌈lg n⌉, because n precisions of at most 1 must stay below 2⁶³. A bound is told before
//! anything runs, and tests hold the mirror to it.

use crate::fold::{CodeTable, Weights};

/// The deepest rank: ranks fit into 16 bits, which the products of the shaders rely on.
pub const MAX_DEPTH: u32 = 65_535;

/// The number 1, in units of 2^-63: numbers from 0 to 1 are kept in these.
const ONE: u64 = 1 << 63;

/// Returns 2^exponent, exactly, for exponents within the normal range of f64.
pub fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent.clamp(-1022, 1023)) as u64) << 52)
}

/// Converts a number from 0 to 1 to an integer in units of 2^-63.
fn share(number: f64) -> u64 {
    (number * power_of_two(63)).round() as u64
}

// Invariant: h·(2⁶³/i rounded) is below 2⁶⁴ for h ≤ i < 2¹⁶: at most 2⁶³ + i/2.
/// Returns the reciprocals of the ranks i from 1 to `depth` as rounded integers, 2^63 / i.
pub fn reciprocals(depth: u32) -> impl Iterator<Item = u64> {
    (1..=u64::from(depth)).map(|rank| (ONE + rank / 2) / rank)
}

/// Returns the factors of InfAP, 1 / (j + 2ε) and ε / (j + 2ε), for j judged documents from 0 to
/// `depth`, with ε = 0.00001, in units of 2^-63. The first number of j = 0 is never read.
pub fn inferred_shares(depth: u32) -> impl Iterator<Item = [u64; 2]> {
    (0..=u128::from(depth)).map(move |judged| {
        let by = 100_000 * judged + 2;
        let relevant = if judged == 0 { 0 } else { divided(u128::from(ONE) * 100_000, by) };
        [relevant, divided(ONE.into(), by)]
    })
}

/// Returns the quotient of two whole numbers, rounded to the nearest.
fn divided(over: u128, by: u128) -> u64 {
    ((over + by / 2) / by) as u64
}

/// Returns the number of bits to drop from a precision in units of 2^-63, so that a sum of `depth`
/// precisions stays below 2^63.
pub fn precision_bits(depth: u32) -> u32 {
    depth.next_power_of_two().ilog2().max(1)
}

/// The range of label codes whose value (gain or chance) counts, with the values of the codes.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedCodes {
    /// The first code that counts.
    pub first: u8,
    /// The numbers of the codes from the first to the last code that counts; empty if no code
    /// counts.
    pub numbers: Vec<f64>,
}

impl CountedCodes {
    fn new(table: &CodeTable) -> Self {
        let first = (1..256).find(|&code| table[code] != 0.0).unwrap_or(255);
        let end = (first..256).rfind(|&code| table[code] != 0.0).map_or(first, |last| last + 1);
        Self { first: first as u8, numbers: table[first..end].to_vec() }
    }

    /// Returns the number of label codes in the range.
    pub fn codes(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// Returns the largest value of a code in the range, without its sign.
    fn largest(&self) -> f64 {
        self.numbers.iter().fold(0.0, |largest, number| number.abs().max(largest))
    }

    /// Returns the smallest value but 0 of a code in the range, without its sign.
    fn smallest(&self) -> f64 {
        let numbers = self.numbers.iter().map(|number| number.abs()).filter(|&number| number > 0.0);
        numbers.fold(f64::INFINITY, f64::min)
    }
}

/// The terms of a weighted sum (discounted gains) as integers for the GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegerTerms {
    /// The codes with a gain.
    pub gains: CountedCodes,
    /// The exponent of the unit of the sum, 2^-scale.
    pub scale: i32,
    /// Whether the sum has 96 bits.
    pub wide: bool,
    /// The bound on the error of the sum.
    pub error: f64,
    /// The number of ranks that have terms.
    pub depth: u32,
    weights: Weights,
}

impl IntegerTerms {
    /// Makes the integer terms of a weighted sum down to a depth; `None` if 96 bits are too few for
    /// gains so different, or a sum is not finite.
    pub fn new(gain: &CodeTable, weights: Weights, depth: u32) -> Option<Self> {
        /// The share of the smallest ideal below which the error of a sum of 64 bits must be; else
        /// the sum gets 96 bits.
        const NARROW: f64 = 1e-12;
        /// The share of the smallest ideal below which the error of a sum of 96 bits must be.
        const WIDE: f64 = 1e-10;
        let gains = CountedCodes::new(gain);
        let ranks = depth as usize;
        let largest: f64 = (0..ranks).map(|rank| weights.term(gains.largest(), rank).abs()).sum();
        if !largest.is_finite() {
            return None;
        }
        // The smallest ideal that a query can have: one document of the smallest gain at rank 1.
        let least = if ranks == 0 { 0.0 } else { weights.term(gains.smallest(), 0).abs() };
        let narrow = scale(largest);
        let wide = rounding_error(depth, narrow) > NARROW * least;
        let scale = if wide { narrow + 32 } else { narrow };
        let error = rounding_error(depth, scale);
        (error <= WIDE * least).then_some(Self { gains, scale, wide, error, depth, weights })
    }

    /// Returns the number of 32-bit words of an integer term: 3 for a wide sum, else 2.
    pub fn words(&self) -> u32 {
        if self.wide { 3 } else { 2 }
    }

    /// Returns the integer term of the `code`-th code with a gain at index `rank` (from 0), and 0
    /// beyond `depth`.
    pub fn term(&self, rank: u32, code: u32) -> i128 {
        if rank >= self.depth {
            return 0;
        }
        let term = self.weights.term(self.gains.numbers[code as usize], rank as usize);
        (term * power_of_two(self.scale)).round() as i128
    }
}

/// Returns the largest error of a sum over `depth` ranks whose terms are rounded to 2^-scale.
fn rounding_error(depth: u32, scale: i32) -> f64 {
    f64::from(depth) * power_of_two(-scale - 1)
}

/// Returns the largest s with which a sum up to `largest` stays below 2^63 in units of 2^-s, with
/// room for the rounding of 2^16 terms.
fn scale(largest: f64) -> i32 {
    let exponent = largest.max(f64::MIN_POSITIVE).log2().floor() as i32;
    // A logarithm may be rounded across a whole number, so a few exponents are tried. 900 keeps 2ˢ
    // within f64 also with the 32 bits of a wide sum.
    let from = (64 - exponent).min(900);
    let most = ONE as f64 - power_of_two(17);
    (from - 4..=from).rfind(|&scale| largest * power_of_two(scale) <= most).unwrap_or(from - 4)
}

/// The chances of a cascade (a user who stops at a document with some chance) as integers, in units
/// of 2^-63.
#[derive(Debug, Clone, PartialEq)]
pub struct StopProbabilities {
    /// The codes that may stop the user.
    pub stops: CountedCodes,
    /// The bound on the error of the sum.
    pub error: f64,
    /// The number of ranks that have terms.
    pub depth: u32,
    weights: Weights,
}

impl StopProbabilities {
    /// Makes the integer chances of a cascade down to a depth; `None` if a weight or a chance is
    /// not from 0 to 1.
    pub fn new(stop: &CodeTable, weights: Weights, depth: u32) -> Option<Self> {
        let stops = CountedCodes::new(stop);
        let unit = 0.0..=1.0;
        let fits = stops.numbers.iter().all(|stop| unit.contains(stop))
            && (0..depth as usize).all(|rank| unit.contains(&weights.term(1.0, rank)));
        // With u = 2^-63: each hit leaves p too small by up to 1.5 u more, and all terms together
        // lose no more than p has lost. Each term is off by up to 1.5 u by itself.
        fits.then(|| Self {
            stops,
            error: 3.0 * f64::from(depth) * power_of_two(-63),
            depth,
            weights,
        })
    }

    /// Returns, in units of 2^-63, the chance to stop at the `code`-th stopping code, times the
    /// weight at index `rank` (from 0), and 0 beyond `depth`.
    pub fn term(&self, rank: u32, code: u32) -> u64 {
        if rank >= self.depth {
            return 0;
        }
        share(self.weights.term(self.stops.numbers[code as usize], rank as usize))
    }

    /// Returns, in units of 2^-63, the chance to go on at the `code`-th code that may stop the
    /// user.
    pub fn continuation(&self, code: u32) -> u64 {
        share(1.0 - self.stops.numbers[code as usize])
    }
}

/// Returns the bound on the error of a sum of `depth` integer precisions: each is h · (2^63 / i,
/// off by half of 2^-63) and then rounded to the unit.
pub fn precision_error(depth: u32) -> f64 {
    f64::from(depth) * power_of_two(precision_bits(depth) as i32 - 63)
}

/// Returns the bound on the error of a sum of `depth` inferred precisions (InfAP) in integers: two
/// factors are off as a precision is, and the last step is rounded.
pub fn inferred_error(depth: u32) -> f64 {
    f64::from(depth) * (1.5 * power_of_two(precision_bits(depth) as i32 - 63) + power_of_two(-61))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::Discount;

    fn gains(numbers: &[f64]) -> CodeTable {
        let mut table = [0.0; 256];
        table[3..3 + numbers.len()].copy_from_slice(numbers);
        table.into()
    }

    #[test]
    fn the_unit_is_the_smallest_that_fits() {
        for (numbers, depth) in
            [(&[0.0, 1.0, 2.0][..], 1000), (&[0.5], 1), (&[1e-9, 3e-9], 65_535), (&[1e15], 7)]
        {
            let terms =
                IntegerTerms::new(&gains(numbers), Discount::Log2.weights(depth as usize), depth)
                    .unwrap();
            let last = terms.gains.codes() - 1;
            let most: i128 = (0..depth).map(|rank| terms.term(rank, last)).sum();
            let bits = if terms.wide { 95 } else { 63 };
            assert!(most <= 1 << bits, "{numbers:?}: {most:x}");
            assert!(most >= 1 << (bits - 2), "{numbers:?}: {most:x} wastes bits");
        }
    }

    #[test]
    fn gains_far_apart_get_a_wide_sum_or_none() {
        let log2 = || Discount::Log2.weights(1000);
        assert!(
            !IntegerTerms::new(&gains(&[0.0, 1.0, 3.0, 7.0, 15.0]), log2(), 1000).unwrap().wide
        );
        assert!(
            IntegerTerms::new(&gains(&[0.0, 1.0, 2f64.powi(30) - 1.0]), log2(), 1000).unwrap().wide
        );
        assert_eq!(IntegerTerms::new(&gains(&[0.0, 1.0, 2f64.powi(90)]), log2(), 1000), None);
        assert_eq!(IntegerTerms::new(&gains(&[f64::MAX]), log2(), 1000), None);
        let none = IntegerTerms::new(&gains(&[0.0]), log2(), 1000);
        assert!(none.is_none_or(|terms| terms.gains.codes() == 0));
    }

    #[test]
    fn reciprocals_never_overflow() {
        for (rank, reciprocal) in (1u128..).zip(reciprocals(MAX_DEPTH)) {
            let most = rank * u128::from(reciprocal);
            assert!(most.abs_diff(ONE.into()) <= rank / 2 && most < 1 << 64);
        }
    }
}
