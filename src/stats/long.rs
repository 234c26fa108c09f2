//! Arithmetic on long integers: limbs of 32 bits, the lowest first.

/// Returns the product of two long numbers.
pub fn product(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut product = vec![0; left.len() + right.len()];
    for (at, &factor) in left.iter().enumerate().filter(|&(_, &factor)| factor != 0) {
        let mut carry = 0;
        for (limb, &other) in product[at..].iter_mut().zip(right) {
            carry += u64::from(*limb) + u64::from(factor) * u64::from(other);
            *limb = carry as u32;
            carry >>= 32;
        }
        product[at + right.len()] = carry as u32;
    }
    product
}

/// Returns the difference `left` − `right` of two long numbers, or `None` for a negative
/// difference. Missing limbs count as 0.
pub fn difference(mut left: Vec<u32>, right: &[u32]) -> Option<Vec<u32>> {
    left.resize(left.len().max(right.len()), 0);
    let mut borrows = false;
    for (at, limb) in left.iter_mut().enumerate() {
        let (less, first) = limb.overflowing_sub(right.get(at).copied().unwrap_or_default());
        let (less, second) = less.overflowing_sub(u32::from(borrows));
        (*limb, borrows) = (less, first || second);
    }
    (!borrows).then_some(left)
}

/// Divides a long number by `divisor` in place, and drops the rest.
fn divide(limbs: &mut [u32], divisor: u64) {
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        let part = rest << 32 | u128::from(*limb);
        *limb = (part / u128::from(divisor)) as u32;
        rest = part % u128::from(divisor);
    }
}

/// Returns the square root of a long number · 2^exponent over two divisors, rounded once, to
/// nearest, ties to even.
pub fn root_of_quotient(mut limbs: Vec<u32>, exponent: i32, divisors: [u64; 2]) -> f64 {
    /// The number of zeros that are put below the limbs. A quotient by 128 bits keeps 256 bits: the
    /// root is taken of the upper 128. If the division has a rest, the lower 128 bits are not all
    /// 0.
    const MORE: usize = 12;
    let Some(lowest) = limbs.iter().position(|&limb| limb != 0) else { return 0.0 };
    limbs.splice(..lowest, [0; MORE]);
    let exponent = exponent + 32 * (lowest as i32 - MORE as i32);
    divisors.into_iter().for_each(|divisor| divide(&mut limbs, divisor));
    let bits =
        (0..32 * limbs.len()).rposition(|at| bit(&limbs, at) == 1).map_or(0, |highest| highest + 1);
    // The upper 127 or 128 bits, times an even power of two, whose root has 64 bits. Invariant: the
    // quotient keeps more than 128 bits, as 12 limbs of zeros were put below and divisors take 128
    // bits at most.
    let shift = bits - 128;
    let shift = shift + usize::from((exponent + shift as i32) % 2 != 0);
    let upper = (shift..bits).rev().fold(0, |upper, at| upper << 1 | u128::from(bit(&limbs, at)));
    let root = upper.isqrt();
    let exact = root * root == upper && (0..shift).all(|at| bit(&limbs, at) == 0);
    rounded(root | u128::from(!exact), (exponent + shift as i32) / 2)
}

/// Returns the bit at a place of a long number.
fn bit(limbs: &[u32], at: usize) -> u32 {
    limbs[at / 32] >> (at % 32) & 1
}

/// Returns `mantissa` · 2^exponent as an f64, rounded to nearest, ties to even. The mantissa has 64
/// bits; its last bit is 1 if any bit below was 1.
fn rounded(mantissa: u128, exponent: i32) -> f64 {
    // A float keeps 53 of the 64 bits, and none below 2^−1074. From a shift of 65 on nothing is
    // left, so 100 is as good as any larger one.
    let shift = (-1074 - exponent).clamp(11, 100);
    let (whole, rest, half) =
        (mantissa >> shift, mantissa & ((1 << shift) - 1), 1u128 << (shift - 1));
    let whole = whole + u128::from(rest > half || (rest == half && whole % 2 == 1));
    let exponent = exponent + shift;
    // One power could leave the range of f64 where the product does not: two halves stay within.
    whole as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_rounded_once() {
        let tie = (1u128 << 53) + 1;
        let [down, up] = [9_007_199_254_740_992.0, 9_007_199_254_740_994.0];
        let square = (0..4).map(|at| (tie.pow(2) >> (32 * at)) as u32);
        let just_above: Vec<u32> = [1].into_iter().chain([0; 20]).chain(square.clone()).collect();
        let exact: Vec<u32> = square.collect();
        assert_eq!(root_of_quotient(exact.clone(), 0, [1, 1]), down, "a tie goes to even");
        assert_eq!(root_of_quotient(just_above, -32 * 21, [1, 1]), up, "a little more than a tie");
        let large = [u64::MAX, u64::MAX - 1];
        let by = large.map(|divisor| [divisor as u32, (divisor >> 32) as u32]);
        let multiple = product(&product(&exact, &by[0]), &by[1]);
        assert_eq!(root_of_quotient(multiple.clone(), 0, large), down, "a quotient without rest");
        let mut with_rest = multiple;
        with_rest[0] += 1;
        assert_eq!(root_of_quotient(with_rest, 0, large), up, "a quotient with the smallest rest");
        assert_eq!(root_of_quotient(vec![1], 0, large), 2f64.powi(-64));
    }
}
