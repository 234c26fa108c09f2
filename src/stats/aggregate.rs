//! Sums that do not depend on who computed them.
//!
//! A float sum changes with the order of its terms, and so with threads, tiles and shards. An [`ExactSum`] is a fixed-point number
//! wide enough for every finite f64: each term is added without any rounding, so addition is associative and commutative to the
//! bit, and the one rounding happens when the sum is read. (Neal 2015, "Fast exact summation using small and large
//! superaccumulators".)

/// Bits of a limb; a term touches three limbs, and the rest of each i64 holds carries not yet passed on.
const LIMB: usize = 32;
/// 2098 bits from the smallest subnormal to the largest finite number, and room for carries.
const LIMBS: usize = 68;
/// After so many terms the carries are passed on, long before an i64 could overflow.
const TERMS: u32 = 1 << 30;

/// An exact sum of f64 values.
///
/// ```
/// use laneval::stats::ExactSum;
/// let sum: ExactSum = [1e100, 0.1, -1e100].into_iter().collect();
/// assert_eq!(sum.value(), 0.1);
/// ```
#[derive(Debug, Clone)]
pub struct ExactSum {
    /// Limb i counts 2^(32·i − 1074).
    limbs: [i64; LIMBS],
    /// Terms since the carries were passed on.
    terms: u32,
    /// The sum of the terms that are infinite or not a number.
    special: f64,
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum { limbs: [0; LIMBS], terms: 0, special: 0.0 }
    }
}

impl ExactSum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let bits = term.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        if exponent == 0x7ff {
            self.special += term;
            return;
        }
        let fraction = bits & ((1 << 52) - 1);
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let position = exponent.saturating_sub(1);
        let shifted = u128::from(mantissa) << (position % LIMB);
        let sign = if term.is_sign_negative() { -1 } else { 1 };
        for (at, limb) in self.limbs[position / LIMB..][..3].iter_mut().enumerate() {
            *limb += sign * i64::from((shifted >> (LIMB * at)) as u32);
        }
        self.terms += 1;
        if self.terms == TERMS {
            self.carry();
        }
    }

    /// Adds all terms of another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (limb, more) in self.limbs.iter_mut().zip(&other.limbs) {
            *limb += more;
        }
        self.special += other.special;
        self.terms = 2;
    }

    /// Passes carries on: every limb but the last is then in 0..2³².
    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            *limb += carry;
            carry = *limb >> LIMB;
            *limb &= (1 << LIMB) - 1;
        }
        self.limbs[LIMBS - 1] += carry;
        self.terms = 1;
    }

    /// The sum, rounded once, to nearest, ties to even.
    pub fn value(&self) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let magnitude = sum.magnitude();
        if negative { -magnitude } else { magnitude }
    }

    /// The value of limbs that are all in 0..2³².
    fn magnitude(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let highest = top * LIMB + self.limbs[top].ilog2() as usize;
        if highest < 53 {
            // Up to 2^-1021 the bits of the number are the bits of the float.
            return f64::from_bits((self.limbs[1] as u64) << LIMB | self.limbs[0] as u64);
        }
        let bit = |at: usize| (self.limbs[at / LIMB] >> (at % LIMB)) as u64 & 1;
        let shift = highest - 52;
        let mantissa = (shift..=highest).rev().fold(0, |mantissa, at| mantissa << 1 | bit(at));
        let half = bit(shift - 1) == 1;
        let below = shift - 1;
        let sticky = self.limbs[..below / LIMB].iter().any(|&limb| limb != 0)
            || self.limbs[below / LIMB] & ((1 << (below % LIMB)) - 1) != 0;
        let rounded = mantissa + u64::from(half && (sticky || mantissa & 1 == 1));
        // A mantissa that rounded up to 2^53 carries into the exponent, which is what the sum should do; too large is infinite.
        let bits = ((shift as u64) << 52) + rounded;
        if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = ExactSum::default();
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

    #[test]
    fn known_sums() {
        assert_eq!(exact(&[]), 0.0);
        assert_eq!(exact(&[0.1; 10]), 1.0);
        assert_eq!(exact(&[1e308, 1e308, -1e308]), 1e308);
        assert_eq!(exact(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(exact(&[f64::from_bits(1); 3]), f64::from_bits(3));
        assert_eq!(exact(&[f64::MIN_POSITIVE, -f64::from_bits(1)]), f64::MIN_POSITIVE - f64::from_bits(1));
        assert_eq!(exact(&[1.0, 2f64.powi(-53)]), 1.0, "a tie goes to even");
        assert_eq!(
            exact(&[1.0, 2f64.powi(-53), f64::from_bits(1)]),
            1.0 + f64::EPSILON,
            "a little more than a tie"
        );
        assert!(exact(&[f64::INFINITY, -f64::INFINITY]).is_nan());
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
        fn scaled_integers(terms in proptest::collection::vec(-(1i64 << 52)..(1 << 52), 0..200), scale in -900i32..900) {
            let sum: i128 = terms.iter().map(|&t| i128::from(t)).sum();
            let scaled: Vec<f64> = terms.iter().map(|&t| t as f64 * 2f64.powi(scale)).collect();
            prop_assert_eq!(exact(&scaled), sum as f64 * 2f64.powi(scale));
        }

        /// Any order and any grouping gives the same bits.
        #[test]
        fn order_and_grouping_change_nothing(mut terms in proptest::collection::vec(-1e3..1e3f64, 1..100), at: usize) {
            let whole = exact(&terms);
            terms.reverse();
            let (left, right) = terms.split_at(at % terms.len());
            let mut sum: ExactSum = left.iter().copied().collect();
            sum.merge(&right.iter().copied().collect());
            prop_assert_eq!(sum.value().to_bits(), whole.to_bits());
        }
    }
}
