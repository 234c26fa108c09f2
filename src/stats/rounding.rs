//! Equality within rounding: the single rule for numbers that are equal on paper but differ as f64.
//!
//! The values 0.6, 0, 0 and 0.2, 0.4, 0 both have the mean 0.2, and as f64 the two means differ in
//! the last bit. No rank, mark or gate may depend on the last bit, because people decide by ranks,
//! marks and gates. So two numbers count as equal if their difference is at most 2⁻³⁹. For numbers
//! above 1, the limit is 2⁻³⁹ times the next power of two.
//!
//! The limit is wide enough: the formula of a value rounds a few times, each time by a share of
//! 2⁻⁵³, and sums over queries are exact. The limit is narrow enough: twelve digits are more than
//! anyone prints to compare. The paired tests use the same rule: their unit is 2⁻⁴⁰, and two sums
//! of n differences are equal up to 2n units.

use crate::measure::Direction;

/// The exponent of the power of two that turns numbers up to 1 into counts of units.
pub const FINEST: i32 = 40;

/// Returns the exponent of the power of two that turns numbers up to `largest` into counts of
/// units, of at most 40 bits. `largest` must be finite.
pub fn fineness(largest: f64) -> i32 {
    debug_assert!(largest.is_finite());
    let bits = largest.abs().to_bits();
    // Exponent and fraction of the largest, whose logarithm is rounded up.
    let (exponent, fraction) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1));
    FINEST - (exponent + i32::from(fraction != 0)).max(0)
}

/// Returns the largest difference at which two numbers up to `largest` count as equal; 0 if
/// `largest` is not finite.
pub fn tolerance(largest: f64) -> f64 {
    if largest.is_finite() { 2f64.powi(1 - fineness(largest)) } else { 0.0 }
}

/// Returns whether two numbers are equal within rounding.
pub fn is_equal(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= tolerance(one.abs().max(other.abs()))
}

/// Makes numbers identical if the numbers are equal within rounding, so that `==` and `<` decide.
/// Numbers in a chain, each within the tolerance of the next, all become the smallest of the chain;
/// infinities and NaN stay.
pub fn snap_equal(numbers: &[f64]) -> Vec<f64> {
    let mut ascending: Vec<f64> =
        numbers.iter().copied().filter(|number| number.is_finite()).collect();
    let tolerance =
        tolerance(ascending.iter().fold(0.0, |largest, number| number.abs().max(largest)));
    ascending.sort_unstable_by(f64::total_cmp);
    let groups: Vec<&[f64]> = ascending.chunk_by(|one, next| next - one <= tolerance).collect();
    let snapped = numbers.iter().map(|&number| {
        let group = groups.partition_point(|group| group[group.len() - 1] < number);
        // Adding 0 makes +0 of −0, which `total_cmp` put in front.
        groups.get(group).filter(|_| number.is_finite()).map_or(number, |group| group[0] + 0.0)
    });
    snapped.collect()
}

/// Marks the best of some averages, and each average equal to the best within rounding. Marks no
/// average if all are equal, or if neither direction is better.
///
/// ```
/// use laneval::compare::are_best;
/// use laneval::measure::Direction;
/// let averages = [Some((0.6 + 0.0 + 0.0) / 3.0), Some((0.2 + 0.4 + 0.0) / 3.0), None, Some(0.1)];
/// assert_eq!(are_best(&averages, Direction::Higher), [true, true, false, false]);
/// ```
pub fn are_best(numbers: &[Option<f64>], better: Direction) -> Vec<bool> {
    let known: Vec<f64> = numbers.iter().copied().flatten().collect();
    let known = snap_equal(&known);
    let best = match better {
        Direction::Higher => known.iter().copied().reduce(f64::max),
        Direction::Lower => known.iter().copied().reduce(f64::min),
        Direction::Neither => None,
    };
    let best = best.filter(|&best| known.iter().any(|&value| value != best));
    let mut known = known.into_iter();
    numbers.iter().map(|number| number.is_some() && known.next() == best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_on_paper_is_equal() {
        let means = [(0.6 + 0.0 + 0.0) / 3.0, (0.2 + 0.4 + 0.0) / 3.0];
        assert_ne!(means[0], means[1], "or the example shows nothing");
        assert!(is_equal(means[0], means[1]) && is_equal(0.1 + 0.2, 0.3));
        assert_eq!(snap_equal(&means), [means[0].min(means[1]); 2]);
        assert_eq!(are_best(&[Some(means[0]), Some(means[1])], Direction::Higher), [false; 2]);
        let three = [Some(means[0]), None, Some(means[1]), Some(0.1)];
        assert_eq!(are_best(&three, Direction::Higher), [true, false, true, false]);
        assert_eq!(are_best(&three, Direction::Lower), [false, false, false, true]);
        assert_eq!(are_best(&three, Direction::Neither), [false; 4]);
    }

    #[test]
    fn the_tolerance_follows_the_largest_number() {
        assert_eq!(
            [0.0, 0.3, 1.0, 1.5, 1000.0].map(tolerance),
            [-39, -39, -39, -38, -29].map(|exponent| 2f64.powi(exponent))
        );
        assert_eq!(tolerance(f64::INFINITY), 0.0);
        assert!(is_equal(0.5, 0.5 + 1e-12) && !is_equal(0.5, 0.5 + 1e-11));
        assert!(is_equal(1000.0, 1000.0 + 1e-9) && !is_equal(1000.0, 1000.0 + 1e-8));
        assert!(is_equal(f64::INFINITY, f64::INFINITY) && !is_equal(f64::INFINITY, 1.0));
        assert!(!is_equal(f64::NAN, f64::NAN) && is_equal(0.0, -0.0));
    }

    #[test]
    fn what_is_settled_keeps_its_order() {
        let step = 0.75 * tolerance(1.0);
        let numbers = [0.5 + step, 0.25, 0.5, f64::NEG_INFINITY, 0.5 + 2.0 * step, 1.0, -0.0, 0.0];
        assert_eq!(snap_equal(&numbers), [0.5, 0.25, 0.5, f64::NEG_INFINITY, 0.5, 1.0, 0.0, 0.0]);
        assert!(snap_equal(&[f64::NAN])[0].is_nan());
        assert_eq!(snap_equal(&[]), [0.0; 0]);
    }
}
