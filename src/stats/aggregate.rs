//! Exact sums of floats, independent of the division into threads, tiles and shards.
//!
//! A float sum changes with the order of its terms, and so with threads, tiles and shards. An
//! [`ExactSum`] is a fixed-point number wide enough for every finite f64: each term is added
//! without any rounding, so addition is associative and commutative to the bit, and the one
//! rounding happens when the sum is read. (Neal 2015, "Fast exact summation using small and large
//! superaccumulators".)
//!
//! # Why the width suffices
//!
//! ```text
//! bit    0                          1074                    2098         2208
//!        │ 2⁻¹⁰⁷⁴: least subnormal   │ 2⁰                    │ 2¹⁰²⁴       │
//!        └── every finite f64 is a whole number below 2²⁰⁹⁸ ──┴─ carries ──┘   69 limbs of 32 bits
//!                 ▲ limbs 29 to 36: 2⁻¹⁴⁶ to 2¹¹⁰, all that most sums ever touch
//! ```
//!
//! Every finite f64 is a mantissa below 2⁵³ times a power of two from 2⁻¹⁰⁷⁴ to 2⁹⁷¹, so a whole
//! number of units of 2⁻¹⁰⁷⁴ below 2²⁰⁹⁸. A sum of 2⁶⁴ terms, more than any file has, stays below
//! 2²¹⁶². There is no parameter to choose, no term is refused, and nothing overflows.
//!
//! # Why the order does not matter
//!
//! Addition of whole numbers is associative. Limbs are i64 with 32 bits each and take carries
//! later, so two sums with equal values may differ in their limbs. Therefore sums are compared,
//! stored and read after passing on the carries. The result is unique: every limb is in 0 … 2³² −
//! 1, and the sign stands apart. Infinite and NaN terms are added as floats, where ±∞ and NaN
//! absorb in any order: ∞ stays, ∞ − ∞ and NaN are NaN for ever. Their sum is kept apart, because
//! one infinity would hide the sum of the finite terms.
//!
//! # What it costs
//!
//! A single term is decoded and added into three limbs. Many terms at a time take a faster way
//! (`split`). Values of measures are multiples of 2⁻⁸² below 2¹⁹: adding and subtracting a large
//! constant splits a value into two whole numbers, and vectors add the whole numbers in i64. A term
//! outside this range leaves a rest, and then all terms of its block of 1024 are added singly. The
//! choice affects only speed, since both ways add equal whole numbers.

use fearless_simd::{Level, dispatch};

use super::fixed::Fixed;
use super::limbs::{LIMB, Limbs};

/// The number of limbs: 2098 bits from the smallest subnormal to the largest finite number, and
/// room for carries, also if parts that are read are as large as possible.
const LIMBS: usize = 69;
/// The bits of a sum of 2⁶⁴ numbers.
const BITS: usize = 2098 + 64;

/// The exponent of the smallest number, 2^−SMALLEST.
pub(super) const SMALLEST: usize = 1074;
// A value of a measure is 0 or rarely below 2⁻³⁰. From there up its last bit is 2⁻⁸² or more: 53
// bits below 2⁻³⁰. The upper part counts 2⁻³², so |part| ≤ 2⁵¹ for terms up to 2¹⁹; the lower at
// most half of 2⁻³², that is 2⁴⁹ units of 2⁻⁸². A thousand of the larger come to 2⁶¹ at most,
// within an i64.
/// The bits at which terms are split: at 2^−HIGH and at 2^−(HIGH + LOW).
const HIGH: usize = 32;
const LOW: usize = 50;
/// The number of terms that are split at once: an i64 can hold the sum of their parts.
pub(super) const SPLIT_TERMS: usize = 1 << 10;
// 1.5·2⁵²: floats from 2⁵² to 2⁵³ count in ones, and in the middle of them a number of either sign
// up to 2⁵¹ has room. The sum's bits less the constant's are then the integer itself, in two's
// complement.
/// A constant that, added to a smaller float, leaves an integer in the low bits, because a float
/// near it counts in ones.
pub(super) const ONES: f64 = 3.0 * (1u64 << 51) as f64;

/// Returns the exact sum of some terms as integers in units of 2⁻³² and 2⁻⁸²; `None` where a term
/// is 2¹⁹ or larger, or leaves a rest.
///
/// Only additions are used, so that this becomes a loop of vectors at any level: adding [`ONES`]
/// rounds to an integer, and the integer is in the low bits. The part that the rounding took away
/// is exact.
#[inline(always)]
pub(super) fn split(terms: &[f64]) -> Option<[i64; 2]> {
    let (mut high, mut low, mut rest, mut differs) = (0i64, 0i64, 0, 0);
    for &term in terms {
        let scaled = term * (1u64 << HIGH) as f64;
        let whole = scaled + ONES;
        let part = (scaled - (whole - ONES)) * (1u64 << LOW) as f64;
        let whole_part = part + ONES;
        high = high.wrapping_add(whole.to_bits().wrapping_sub(ONES.to_bits()) as i64);
        low = low.wrapping_add(whole_part.to_bits().wrapping_sub(ONES.to_bits()) as i64);
        rest |= (part - (whole_part - ONES)).to_bits();
        differs |= whole.to_bits() ^ ONES.to_bits();
    }
    // Sign and exponent did not change, so no term was too large.
    (rest == 0 && differs >> 52 == 0).then_some([high, low])
}

/// An exact sum of f64 values.
///
/// ```
/// use laneval::summary::ExactSum;
/// let sum: ExactSum = [1e100, 0.1, -1e100].into_iter().collect();
/// assert_eq!(sum.value(), 0.1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    /// The sum of the finite terms in units of 2^−SMALLEST. Most sums are between 2^−146 and 2^110,
    /// and need no more than eight limbs.
    limbs: Limbs<LIMBS, 29, 8>,
    /// The sum of the terms that are infinite or not a number.
    special: f64,
}

impl ExactSum {
    /// Adds a term to the exact sum.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let Some((mantissa, position)) = decoded(term) else {
            self.special += term;
            return;
        };
        // A 0 changes no sum, and its position would touch the lowest limbs and allocate them all.
        if mantissa != 0 {
            self.limbs.add(if term.is_sign_negative() { -mantissa } else { mantissa }, position);
        }
    }

    /// Adds many terms to the exact sum, several times as fast as [`Self::add`] if the terms are in
    /// the range of most measures.
    pub fn add_all(&mut self, terms: &[f64]) {
        for terms in terms.chunks(SPLIT_TERMS) {
            match dispatch!(Level::new(), _simd => split(terms)) {
                Some(parts) => self.add_split(parts),
                None => terms.iter().for_each(|&term| self.add(term)),
            }
        }
    }

    /// Adds the two integers that [`split`] made of some terms to the exact sum.
    pub(super) fn add_split(&mut self, [high, low]: [i64; 2]) {
        self.limbs.add(high, SMALLEST - HIGH);
        self.limbs.add(low, SMALLEST - HIGH - LOW);
    }

    /// Adds all terms of another exact sum.
    pub fn merge(&mut self, other: &Self) {
        self.limbs.merge(&other.limbs);
        self.special += other.special;
    }

    /// Returns the exact sum of the finite terms as an exact number, for storage.
    #[doc(hidden)]
    pub fn to_parts(&self) -> Fixed {
        self.limbs.to_fixed(SMALLEST)
    }

    /// Makes the sum from a stored exact number; `None` if no sum of 2⁶⁴ finite numbers has this
    /// value. The value of [`Self::special`] can be added as a term.
    #[doc(hidden)]
    pub fn from_parts(parts: &Fixed) -> Option<Self> {
        Some(Self { limbs: Limbs::from_fixed(parts, SMALLEST, BITS)?, special: 0.0 })
    }

    /// Returns the sum of the terms that are infinite or not a number; 0 if all are finite.
    pub fn special(&self) -> f64 {
        // A NaN can have many bit patterns, and equal sums must have equal bits.
        if self.special.is_nan() { f64::NAN } else { self.special }
    }

    /// Returns whether the sum of the finite terms is negative, and the limbs of its absolute value
    /// in units of 2^−SMALLEST.
    pub(super) fn magnitude(&self) -> (bool, [i64; LIMBS]) {
        self.limbs.magnitude()
    }

    /// Returns whether all terms are finite.
    pub fn is_finite(&self) -> bool {
        self.special == 0.0
    }

    /// Returns the exact sum divided by `count`, from 1 to 2³²: finite if all terms are, even if
    /// the sum is beyond the range of f64.
    pub fn mean(&self, count: usize) -> f64 {
        self.divided(count as f64)
    }

    /// Returns the exact sum divided by `count`, finite if all terms are.
    pub(super) fn divided(&self, count: f64) -> f64 {
        /// The number of limbs that are shifted out if the sum is too large.
        const SHIFT: usize = 2;
        let sum = self.value();
        if sum.is_finite() || !self.is_finite() {
            return sum / count;
        }
        // A sum beyond f64 is rounded 64 bits lower, divided, and lifted again. Powers of two
        // change no bit, and a mean of finite numbers lies between them.
        let power = 2f64.powi((SHIFT * LIMB) as i32);
        self.rounded(SHIFT) / count * power
    }

    /// Returns the exact sum as an f64, rounded once, to nearest, ties to even.
    pub fn value(&self) -> f64 {
        self.rounded(0)
    }

    /// Returns the exact sum without its `shift` lowest limbs, rounded to an f64. The rounding
    /// needs to know only whether the dropped limbs are all 0.
    fn rounded(&self, shift: usize) -> f64 {
        if !self.is_finite() {
            return self.special();
        }
        let (negative, mut limbs) = self.magnitude();
        if shift > 0 {
            let rest = limbs[..shift].iter().any(|&limb| limb != 0);
            limbs.copy_within(shift.., 0);
            limbs[LIMBS - shift..].fill(0);
            // A sticky bit far below the last digit: it breaks ties, and changes nothing else.
            limbs[0] |= i64::from(rest);
        }
        let magnitude = magnitude(&limbs);
        if negative { -magnitude } else { magnitude }
    }
}

/// Decodes an f64 into the mantissa and the position of |number| = mantissa · 2^(position −
/// SMALLEST); `None` if the number is not finite.
#[inline]
pub(super) fn decoded(number: f64) -> Option<(i64, usize)> {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as usize;
    if exponent == 0x7ff {
        return None;
    }
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    Some((mantissa, exponent.saturating_sub(1)))
}

/// Returns the f64 nearest to a long number in limbs of 0..2³², in units of 2^−SMALLEST.
fn magnitude(limbs: &[i64; LIMBS]) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
    let highest = top * LIMB + limbs[top].ilog2() as usize;
    // No more than 53 bits in units of the smallest subnormal: no rounding, and subnormals and the
    // first normal numbers have this pattern.
    if highest < 53 {
        // Up to 2^-1021 the bits of the number are the bits of the float.
        return f64::from_bits((limbs[1] as u64) << LIMB | limbs[0] as u64);
    }
    let shift = highest - 52;
    // 53 bits from the highest, then round half to even by the bit below and whether anything is
    // left further down.
    let mantissa = (shift..=highest).rev().fold(0, |mantissa, at| mantissa << 1 | bit(limbs, at));
    let half = bit(limbs, shift - 1) == 1;
    let below = shift - 1;
    let sticky = limbs[..below / LIMB].iter().any(|&limb| limb != 0)
        || limbs[below / LIMB] & ((1 << (below % LIMB)) - 1) != 0;
    let rounded = mantissa + u64::from(half && (sticky || mantissa & 1 == 1));
    // A mantissa that was rounded up to 2^53 carries into the exponent, as it should; a sum that is
    // too large becomes infinite.
    let bits = ((shift as u64) << 52) + rounded;
    if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
}

/// Returns the bit at a place of a long number whose limbs are all in 0..2³².
fn bit(limbs: &[i64], at: usize) -> u64 {
    (limbs[at / LIMB] >> (at % LIMB)) as u64 & 1
}

/// Sums are equal if the exact sums of their finite terms are equal, and so are the sums of the
/// other terms. NaN equals NaN.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.special().to_bits() == other.special().to_bits() && self.limbs == other.limbs
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(terms: &[f64]) -> f64 {
        terms.iter().copied().collect::<ExactSum>().value()
    }

    fn exact_at_once(terms: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        sum.add_all(terms);
        sum.value()
    }

    #[test]
    fn values_of_measures_are_split() {
        let quotients: Vec<f64> =
            (0..5000).map(|n| f64::from(n % 61) / f64::from(n % 97 + 61)).collect();
        assert!(quotients.chunks(SPLIT_TERMS).all(|terms| split(terms).is_some()));
        assert!(split(&[0.0, 1e-9, 524_287.9, -3.25]).is_some());
        assert_eq!(exact_at_once(&quotients).to_bits(), exact(&quotients).to_bits());
        let most = [524_287.999; SPLIT_TERMS];
        assert!(split(&most).is_some(), "the parts of most terms of the largest size");
        assert_eq!(exact_at_once(&most).to_bits(), exact(&most).to_bits());
    }

    #[test]
    fn what_does_not_split_is_added_one_by_one() {
        for odd in
            [524_288.0, -524_289.0, 2f64.powi(60), 1e300, 1e-30, f64::from_bits(1), -0.0, f64::MAX]
        {
            assert!(split(&[0.5, odd]).is_none(), "{odd:e}");
            assert_eq!(
                exact_at_once(&[0.5, odd]).to_bits(),
                exact(&[0.5, odd]).to_bits(),
                "{odd:e}"
            );
        }
        assert!(exact_at_once(&[0.5, f64::NAN]).is_nan());
        assert_eq!(exact_at_once(&[0.5, f64::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn sums_of_ordinary_size_are_small() {
        let mut sum: ExactSum =
            (0..5000).map(|n| f64::from(n % 61) / f64::from(n % 97 + 61)).collect();
        sum.add_all(&[1.0, 1e-9, -3.25]);
        sum.merge(&[0.00001f64.ln(), 4e9].into_iter().collect());
        assert!(!sum.limbs.is_wide() && size_of::<ExactSum>() <= 88);
        sum.add(1e-60);
        assert!(sum.limbs.is_wide());
    }

    #[test]
    fn a_sum_that_grows_takes_the_limbs_it_needs() {
        for first in [1.0, -1.0, 2f64.powi(97), -2f64.powi(97), 1.0 - f64::EPSILON] {
            let mut sum: ExactSum = [first].into_iter().collect();
            for doubled in 1..200 {
                sum.merge(&sum.clone());
                assert_eq!(sum.value(), first * 2f64.powi(doubled));
            }
        }
    }

    #[test]
    fn known_sums() {
        assert_eq!(exact(&[]), 0.0);
        assert_eq!(exact(&[0.1; 10]), 1.0);
        assert_eq!(exact(&[1e308, 1e308, -1e308]), 1e308);
        assert_eq!(exact(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(exact(&[f64::from_bits(1); 3]), f64::from_bits(3));
        assert_eq!(
            exact(&[f64::MIN_POSITIVE, -f64::from_bits(1)]),
            f64::MIN_POSITIVE - f64::from_bits(1)
        );
        assert_eq!(exact(&[1.0, 2f64.powi(-53)]), 1.0, "a tie goes to even");
        assert_eq!(
            exact(&[1.0, 2f64.powi(-53), f64::from_bits(1)]),
            1.0 + f64::EPSILON,
            "a little more than a tie"
        );
        assert!(exact(&[f64::INFINITY, -f64::INFINITY]).is_nan());
    }

    #[test]
    fn parts_are_those_of_the_sum_alone() {
        for (terms, expected) in [
            (&[][..], "0x0p0"),
            (&[1e300, 1.5, -1e300], "0x3p-1"),
            (&[-0.1], "-0xccccccccccccdp-55"),
            (&[f64::from_bits(3)], "0x3p-1074"),
            (&[-f64::MAX, -f64::MAX], "-0x1fffffffffffffp972"),
            (&[2f64.powi(-900), 2f64.powi(-900)], "0x1p-899"),
        ] {
            let sum: ExactSum = terms.iter().copied().collect();
            let other: ExactSum =
                terms.iter().rev().chain(&[7.0, -7.0, 1e-200, -1e-200]).copied().collect();
            assert_eq!(sum.to_parts().to_string(), expected);
            assert_eq!((&sum, sum.to_parts()), (&other, other.to_parts()));
            assert_eq!(ExactSum::from_parts(&sum.to_parts()), Some(sum));
        }
    }

    #[test]
    fn means_of_numbers_whose_sum_is_too_large_are_finite() {
        let mean = |terms: &[f64]| terms.iter().copied().collect::<ExactSum>().mean(terms.len());
        assert_eq!(mean(&[f64::MAX; 7]), f64::MAX);
        assert_eq!(mean(&[-f64::MAX; 3]), -f64::MAX);
        assert_eq!(mean(&[f64::MAX, f64::MAX, f64::MAX / 2.0, f64::MAX / 2.0]), f64::MAX * 0.75);
        assert_eq!(mean(&[1.0, 2.0]), 1.5);
        assert_eq!(mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }

    proptest! {
        /// Any two terms: IEEE addition is the correctly rounded sum, and so is ours.
        #[test]
        fn two_terms_are_ieee_addition(a: u64, b: u64) {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            prop_assume!(a.is_finite() && b.is_finite());
            prop_assert_eq!(exact(&[a, b]), a + b);
        }

        /// Integers in i128 are an independent exact sum.
        #[test]
        fn scaled_integers(
            terms in proptest::collection::vec(-(1i64 << 52)..(1 << 52), 0..200),
            scale in -900i32..900,
        ) {
            let sum: i128 = terms.iter().map(|&t| i128::from(t)).sum();
            let scaled: Vec<f64> = terms.iter().map(|&t| t as f64 * 2f64.powi(scale)).collect();
            prop_assert_eq!(exact(&scaled), sum as f64 * 2f64.powi(scale));
        }

        /// Terms give the same sum at once and one by one, whatever their sizes.
        #[test]
        fn at_once(
            terms in proptest::collection::vec((-1e3..1e3f64, -40..40i32), 1..100),
            scale in 0..2i32,
        ) {
            let terms: Vec<f64> =
                terms.iter().map(|(term, power)| term * 2f64.powi(power * scale)).collect();
            prop_assert_eq!(exact_at_once(&terms).to_bits(), exact(&terms).to_bits());
        }

        /// Any order and any grouping gives the same bits.
        #[test]
        fn order_and_grouping_change_nothing(
            mut terms in proptest::collection::vec(-1e3..1e3f64, 1..100),
            at: usize,
        ) {
            let whole = exact(&terms);
            terms.reverse();
            let (left, right) = terms.split_at(at % terms.len());
            let mut sum: ExactSum = left.iter().copied().collect();
            sum.merge(&right.iter().copied().collect());
            prop_assert_eq!(sum.value().to_bits(), whole.to_bits());
        }
    }
}
