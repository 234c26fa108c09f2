//! Count, mean, standard deviation, smallest and largest of values in any order and from any
//! shards.
//!
//! The textbook's two formulas both lose digits: Σ(x − mean)² needs a second pass and the mean's
//! rounding, Σx² − (Σx)²/n cancels. Here neither happens, because Σx and Σx² are *exact*: then
//! n·Σx² − (Σx)² is a whole number of units of 2⁻²¹⁴⁸, computed in long multiplication, and never
//! below 0 (Cauchy and Schwarz). Divided by n(n − 1) and rooted it is rounded once, so the result
//! is the float nearest to the standard deviation of these very floats: 0 for equal values, and the
//! same for every order, thread and shard.
//!
//! It costs some five thousand products of limbs at most, once for each run and measure, when the
//! deviation is asked for.

use fearless_simd::{Level, dispatch};

use super::aggregate::{self, ExactSum, SPLIT_TERMS};
use super::fixed::Fixed;
use super::long::{difference, product, root_of_quotient};
use super::squares::{self, SquareSum};

/// The moments of some values: their number, the exact sums of the values and of their squares, the
/// smallest and the largest.
///
/// They depend neither on the order of the values, nor on how the values were distributed and
/// merged.
///
/// ```
/// use laneval::summary::Moments;
/// let mut values: Moments = [1.0, 2.0].into_iter().collect();
/// values.merge(&[4.0, 9.0].into_iter().collect());
/// assert_eq!(values.mean(), Some(4.0));
/// assert_eq!(values.std(), Some((38.0f64 / 3.0).sqrt()));
/// ```
#[derive(Debug, Clone)]
pub struct Moments {
    count: u64,
    sum: ExactSum,
    squares: SquareSum,
    /// The smallest value: infinite without values, NaN if a value is NaN; never −0.
    min: f64,
    max: f64,
}

impl Moments {
    /// Adds a value to the moments.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum.add(value);
        self.squares.add(value);
        self.extend([value + 0.0; 2]);
    }

    /// Adds many values to the moments, several times as fast as [`Self::add`] if the values are in
    /// the range of most measures.
    pub fn add_all(&mut self, values: &[f64]) {
        for values in values.chunks(SPLIT_TERMS) {
            match dispatch!(Level::new(), _simd => split(values)) {
                Some(SplitSums { sum, squares, range }) => {
                    self.count += values.len() as u64;
                    self.sum.add_split(sum);
                    self.squares.add_split(squares);
                    self.extend(range);
                }
                None => values.iter().for_each(|&value| self.add(value)),
            }
        }
    }

    /// Adds the values behind other moments.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        self.extend([other.min, other.max]);
    }

    /// Extends the range of the moments by the smallest and the largest of further values.
    #[inline]
    fn extend(&mut self, [min, max]: [f64; 2]) {
        // `f64::min` drops a NaN, and a NaN must stay whatever values come after.
        if min.is_nan() || self.min.is_nan() {
            (self.min, self.max) = (f64::NAN, f64::NAN);
        } else {
            (self.min, self.max) = (self.min.min(min), self.max.max(max));
        }
    }

    /// Makes moments from stored parts: the count, the exact sums of the values and of their
    /// squares, and the range. `None` if the sums are too large, if values with such sums would
    /// have a variance below 0, and if there are more than 2⁴⁰ values.
    #[doc(hidden)]
    pub fn from_parts(
        count: u64,
        sum: &Fixed,
        squares: &Fixed,
        range: Option<[f64; 2]>,
    ) -> Option<Self> {
        /// The most values: more than real files have. Merged with the values of real files, they
        /// do not overflow the count.
        const MOST: u64 = 1 << 40;
        let mut moments = Self {
            count,
            sum: ExactSum::from_parts(sum)?,
            squares: SquareSum::from_parts(squares)?,
            ..Self::default()
        };
        match range {
            None if count == 0 => return (moments == Self::default()).then_some(moments),
            Some(range) if (1..=MOST).contains(&count) => {
                let [min, max] = range.map(|bound| bound + 0.0);
                if !(min <= max || (min.is_nan() && max.is_nan())) {
                    return None;
                }
                // Values that are not finite are the smallest or the largest, and leave no other
                // trace in the sums.
                for bound in [min, max].into_iter().filter(|bound| !bound.is_finite()) {
                    moments.sum.add(bound);
                    moments.squares.add(bound);
                }
                moments.extend([min, max]);
            }
            _ => return None,
        }
        moments.variation().is_some().then_some(moments)
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the values.
    pub fn sum(&self) -> &ExactSum {
        &self.sum
    }

    /// Returns the exact sum of the squares of the values.
    #[doc(hidden)]
    pub fn squares(&self) -> &SquareSum {
        &self.squares
    }

    /// Returns whether all values are finite.
    pub fn is_finite(&self) -> bool {
        self.sum.is_finite()
    }

    /// Returns the mean of the values, from the exact sum: finite if all values are. `None` without
    /// values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.divided(self.count as f64))
    }

    /// Returns the sample standard deviation of the values, n − 1 in the denominator: the float
    /// nearest to the exact one; NaN if a value is not finite. `None` of fewer than two values.
    pub fn std(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        if !self.is_finite() {
            return Some(f64::NAN);
        }
        let variation = self.variation().expect("n·Σx² ≥ (Σx)² (Cauchy and Schwarz)");
        // n(n − 1) may have 128 bits, so the quotient is taken by one factor after the other.
        Some(root_of_quotient(variation, -(squares::SMALLEST as i32), [self.count, self.count - 1]))
    }

    /// Returns the smallest value; NaN if one is NaN; `None` without values.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest value; NaN if one is NaN; `None` without values.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the smallest and the largest value; `None` without values.
    pub fn range(&self) -> Option<[f64; 2]> {
        (self.count > 0).then_some([self.min, self.max])
    }

    /// Returns the variation n·Σx² − (Σx)² of the finite values, in limbs of 32 bits and units of
    /// the smallest square; `None` if negative.
    fn variation(&self) -> Option<Vec<u32>> {
        let sum = limbs(&self.sum.magnitude().1);
        let count = [self.count as u32, (self.count >> 32) as u32];
        difference(product(&count, &limbs(&self.squares.magnitude())), &product(&sum, &sum))
    }
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0,
            sum: ExactSum::default(),
            squares: SquareSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

/// Moments are equal if all their numbers are equal, exactly; NaN equals NaN.
impl PartialEq for Moments {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && [self.min, self.max].map(f64::to_bits) == [other.min, other.max].map(f64::to_bits)
            && self.sum == other.sum
            && self.squares == other.squares
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.add(value));
        moments
    }
}

/// The sums of some values and of their squares in integers of 64 bits, and the smallest and the
/// largest value.
struct SplitSums {
    sum: [i64; 2],
    squares: [i64; 4],
    range: [f64; 2],
}

/// Sums some values and their squares exactly in integers, with both extremes; `None` if some value
/// is out of range.
#[inline(always)]
fn split(values: &[f64]) -> Option<SplitSums> {
    Some(SplitSums {
        sum: aggregate::split(values)?,
        squares: squares::split(values)?,
        range: extremes(values),
    })
}

/// Returns the smallest and the largest of finite values, never −0.
#[inline(always)]
fn extremes(values: &[f64]) -> [f64; 2] {
    // Integers in the order of the floats and back: their minima become a loop of vectors, as those
    // of floats do not.
    let keys = values.iter().map(|value| order_bits((value + 0.0).to_bits() as i64));
    let [above, below] =
        [f64::INFINITY, f64::NEG_INFINITY].map(|bound| order_bits(bound.to_bits() as i64));
    let (min, max) = keys.fold((above, below), |(min, max), key| (min.min(key), max.max(key)));
    [min, max].map(|key| f64::from_bits(order_bits(key) as u64))
}

/// Converts the bits of a float to an integer in the order of floats, or such an integer back to
/// the bits.
#[inline(always)]
fn order_bits(bits: i64) -> i64 {
    bits ^ (bits >> 63 & i64::MAX)
}

/// Converts limbs that are all in 0..2³² to u32.
fn limbs(limbs: &[i64]) -> Vec<u32> {
    limbs.iter().map(|&limb| limb as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::super::summary::{Stat, summarise};
    use super::*;
    use proptest::prelude::*;

    fn one_by_one(values: &[f64]) -> Moments {
        values.iter().copied().collect()
    }

    fn at_once(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        moments.add_all(values);
        moments
    }

    /// Returns all visible properties of some moments, in bits.
    fn seen(moments: &Moments) -> (u64, bool, [Option<u64>; 4], [String; 2]) {
        let numbers = [moments.mean(), moments.std(), moments.min(), moments.max()];
        let sums = [moments.sum().to_parts(), moments.squares().to_parts()];
        (
            moments.count(),
            moments.is_finite(),
            numbers.map(|number| number.map(f64::to_bits)),
            sums.map(|sum| sum.to_string()),
        )
    }

    fn reloaded(moments: &Moments) -> Option<Moments> {
        let [sum, squares] = [moments.sum().to_parts(), moments.squares().to_parts()];
        Moments::from_parts(moments.count(), &sum, &squares, moments.range())
    }

    /// The bits of the float next to the exact standard deviation, from fractions and the integer
    /// square root of more than 2500 bits.
    const DEVIATIONS: &[(&[f64], u64)] = &[
        (&[1.0, 2.0, 4.0, 9.0], 0x400c_78e2_aae3_7c78),
        (&[0.1, 0.2, 0.3], 0x3fb9_9999_9999_9999),
        (
            &[0.3333333333333333, 0.25, 0.2, 0.16666666666666666, 0.14285714285714285],
            0x3fb3_61e9_cd66_e255,
        ),
        (&[1.0, 1.0000000000000002], 0x3ca6_a09e_667f_3bcd),
        (&[1e+16, 1.0000000000000002e+16, 1.0000000000000004e+16], 0x4000_0000_0000_0000),
        (&[-1.5, 2.25, 1e-30], 0x3ffe_3307_cc56_cf5c),
        (&[1e+300, -1e-300, 3.0], 0x7e2b_966b_e8dc_6acb),
        (
            &[4.4942328371557893e+307, 8.988465674311579e+307, 1.3482698511467367e+308],
            0x7fcf_ffff_ffff_ffff,
        ),
        (&[1.7976931348623157e+308, -8.988465674311579e+307], 0x7ff0_0000_0000_0000),
        (&[1.7976931348623157e+308, -1.7976931348623157e+308], 0x7ff0_0000_0000_0000),
        (&[5e-324, 1e-323], 0x0000_0000_0000_0001),
        (&[5e-324, 0.0, 0.0], 0x0000_0000_0000_0001),
        (&[5e-324, 0.0, 0.0, 0.0, 0.0], 0x0000_0000_0000_0000),
        (&[1.5e-323, 4.94e-321, 3.45846e-319], 0x0000_0000_0000_9cc0),
        (&[2.2250738585072014e-308, 4.450147717014403e-308, 1e-320], 0x000f_ffff_ffff_fc0c),
        (&[1e-160, 2.5e-160, -7e-161], 0x1ec2_01e2_d295_f3f5),
        (&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0x3fd4_3d13_6248_490f),
        (
            &[
                100000000.0,
                100000000.015625,
                100000000.03125,
                100000000.046875,
                100000000.0625,
                100000000.078125,
                100000000.09375,
            ],
            0x3fa1_482f_86c4_0c43,
        ),
        (&[5.0, 5.0, 5.000000000000001], 0x3cc2_79a7_4590_331c),
        (&[1.7976931348623157e+308, 5e-324], 0x7fe6_a09e_667f_3bcc),
    ];

    #[test]
    fn standard_deviations_are_the_nearest_floats() {
        for &(values, expected) in DEVIATIONS {
            let found = one_by_one(values).std().unwrap();
            assert_eq!(found, f64::from_bits(expected), "{values:?}");
            let negative: Vec<f64> = values.iter().rev().map(|value| -value).collect();
            assert_eq!(at_once(&negative).std().unwrap().to_bits(), expected, "{negative:?}");
        }
    }

    #[test]
    fn equal_values_do_not_vary() {
        for value in
            [0.1, -1.0 / 3.0, 0.0, -0.0, 1e16 + 2.0, f64::MAX, -f64::MAX, f64::from_bits(1), 1e-200]
        {
            for count in [2, 3, 7, 1000] {
                let moments = one_by_one(&vec![value; count]);
                assert_eq!(moments.std().map(f64::to_bits), Some(0), "{count} × {value:e}");
                assert_eq!(moments.mean(), Some(moments.sum().mean(count)), "{count} × {value:e}");
                assert_eq!(moments, at_once(&vec![value; count]));
            }
        }
    }

    /// The standard deviation of n equally spaced numbers is √(n(n + 1) / 12) times their distance.
    #[test]
    fn equally_spaced_numbers_have_a_closed_form() {
        for count in [2u32, 3, 4, 100, 4097] {
            for by in
                [1.0, 2f64.powi(-20), 2f64.powi(1011), 2f64.powi(-1070), -3.0 * 2f64.powi(-1060)]
            {
                let values: Vec<f64> = (1..=count).map(|at| f64::from(at) * by).collect();
                let expected = (f64::from(count) * f64::from(count + 1) / 12.0).sqrt() * by.abs();
                let found = at_once(&values).std().unwrap();
                assert!(
                    found.to_bits().abs_diff(expected.to_bits()) <= 2,
                    "{count} × {by:e}: {found:e}, {expected:e}"
                );
            }
        }
    }

    #[test]
    fn few_values_have_few_moments() {
        let mut moments = Moments::default();
        assert_eq!(seen(&moments), (0, true, [None; 4], ["0x0p0", "0x0p0"].map(String::from)));
        moments.add_all(&[]);
        assert_eq!(moments, Moments::default());
        moments.add(0.5);
        assert_eq!(
            (moments.mean(), moments.std(), moments.range()),
            (Some(0.5), None, Some([0.5, 0.5]))
        );
        assert_eq!(
            [moments.sum().to_parts(), moments.squares().to_parts()].map(|sum| sum.to_string()),
            ["0x1p-1", "0x1p-2"]
        );
    }

    #[test]
    fn a_zero_has_no_sign() {
        for values in [[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]] {
            for moments in [one_by_one(&values), at_once(&values)] {
                assert_eq!(seen(&moments), seen(&one_by_one(&[0.0, 0.0])));
            }
        }
        assert_eq!(extremes(&[-0.0; 9]).map(f64::to_bits), [0; 2]);
        assert_eq!(
            extremes(&[-0.0, 3.0, -2.0, f64::MAX, -f64::MAX, 1e-300]),
            [-f64::MAX, f64::MAX]
        );
        assert_eq!(extremes(&[-0.5, -1e-300]), [-0.5, -1e-300]);
        assert_eq!(extremes(&[]), [f64::INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn values_that_are_not_finite_are_seen_whatever_their_place() {
        let (nan, other_nan, inf) =
            (f64::NAN, -f64::from_bits(f64::NAN.to_bits() | 5), f64::INFINITY);
        for values in [
            &[1.0, inf, 2.0][..],
            &[-inf, 1.0],
            &[inf, 0.25, -inf],
            &[nan, 1.0, other_nan],
            &[inf, nan, -inf],
            &[nan, nan],
            &[inf, inf],
            &[-inf, -inf],
        ] {
            let moments = one_by_one(values);
            let mut reversed = Moments::default();
            values.iter().rev().for_each(|&value| reversed.merge(&at_once(&[value])));
            assert_eq!(moments, reversed, "{values:?}");
            assert_eq!(seen(&moments), seen(&reversed), "{values:?}");
            assert_eq!(reloaded(&moments), Some(moments.clone()), "{values:?}");
            assert!(
                !moments.is_finite()
                    && moments.squares().special() != 0.0
                    && moments.std().unwrap().is_nan()
            );
            assert!(!moments.mean().unwrap().is_finite());
        }
        assert_eq!(one_by_one(&[1.0, -inf]).range(), Some([-inf, 1.0]));
        assert!(one_by_one(&[nan, 1.0]).range().unwrap().iter().all(|bound| bound.is_nan()));
        assert_ne!(one_by_one(&[inf, 1.0]), one_by_one(&[inf, 2.0]), "the finite values count");
    }

    #[test]
    fn parts_that_no_values_have_are_refused() {
        let from = |count, sum: &str, squares: &str, range| {
            Moments::from_parts(count, &sum.parse().unwrap(), &squares.parse().unwrap(), range)
        };
        assert_eq!(from(2, "0x3p0", "0x5p0", Some([1.0, 2.0])), Some(one_by_one(&[1.0, 2.0])));
        assert_eq!(from(0, "0x0p0", "0x0p0", None), Some(Moments::default()));
        for (count, sum, squares, range) in [
            (0, "0x1p0", "0x0p0", None),
            (0, "0x0p0", "0x1p0", None),
            (0, "0x0p0", "0x0p0", Some([0.0, 0.0])),
            (1, "0x1p0", "0x1p0", None),
            (1, "0x1p0", "0x1p0", Some([2.0, 1.0])),
            (2, "0x3p0", "0x5p0", Some([f64::NAN, 1.0])),
            (2, "0x3p0", "0x5p0", Some([1.0, f64::NAN])),
            (2, "0x3p0", "0x1p2", Some([1.0, 2.0])),
            (2, "0x3p0", "-0x5p0", Some([1.0, 2.0])),
            (2, "0x3p-1075", "0x5p0", Some([1.0, 2.0])),
            (2, "0x3p0", "0x5p-2149", Some([1.0, 2.0])),
            (2, "0x1p1088", "0x1p2111", Some([1.0, 2.0])),
            (2, "0x3p0", "0x1p2112", Some([1.0, 2.0])),
            (2, "0x3p2147483647", "0x5p0", Some([1.0, 2.0])),
            (2, "0x3p0", "0x5p-2147483648", Some([1.0, 2.0])),
            (u64::MAX, "0x3p0", "0x5p0", Some([1.0, 2.0])),
        ] {
            assert_eq!(from(count, sum, squares, range), None, "{count} {sum} {squares} {range:?}");
        }
    }

    #[test]
    fn the_largest_parts_are_merged_without_overflow() {
        let from = |sum: &str| ExactSum::from_parts(&sum.parse().unwrap());
        let squares = |sum: &str| SquareSum::from_parts(&sum.parse().unwrap());
        for sign in ["", "-"] {
            let mut sum = from(&format!("{sign}0x1p1087")).unwrap();
            (0..40).for_each(|_| sum.merge(&sum.clone()));
            assert_eq!(sum.to_parts().to_string(), format!("{sign}0x1p1127"));
        }
        let mut sum = squares("0x1p2111").unwrap();
        (0..40).for_each(|_| sum.merge(&sum.clone()));
        assert_eq!(sum.to_parts().to_string(), "0x1p2151");
        assert!(
            from("0x1p1088").is_none()
                && from("-0x1p1088").is_none()
                && squares("0x1p2112").is_none()
        );
    }

    fn any_finite() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        prop_oneof![
            proptest::collection::vec(0.0..1.0f64, 1..200),
            proptest::collection::vec(
                (0..60u32, 1..60u32).prop_map(|(a, b)| f64::from(a) / f64::from(b)),
                1..200
            ),
            proptest::collection::vec(
                (-1e3..1e3f64, -30..30i32).prop_map(|(a, b)| a * 2f64.powi(b)),
                1..60
            ),
            proptest::collection::vec(any_finite(), 1..40),
            proptest::collection::vec(any::<u64>().prop_map(f64::from_bits), 1..10),
        ]
    }

    proptest! {
        /// Shards of any size, added in any way and merged in any order.
        #[test]
        fn shards_change_nothing(
            values in values(),
            places in proptest::collection::vec(0..7usize, 200),
            order in Just([0, 1, 2, 3, 4, 5, 6]).prop_shuffle(),
        ) {
            let whole = one_by_one(&values);
            let mut shards = vec![Vec::new(); 7];
            values.iter().zip(&places).for_each(|(&value, &place)| shards[place].push(value));
            let mut left = Moments::default();
            order.iter().for_each(|&shard| left.merge(&at_once(&shards[shard])));
            let right = order.iter().rev().fold(Moments::default(), |right, &shard| {
                let mut moments = reloaded(&one_by_one(&shards[shard])).unwrap();
                moments.merge(&right);
                moments
            });
            prop_assert_eq!(&whole, &left);
            prop_assert_eq!(&whole, &right);
            prop_assert_eq!(seen(&whole), seen(&left));
            prop_assert_eq!(seen(&whole), seen(&right));
            prop_assert_eq!(seen(&whole), seen(&at_once(&values)));
        }

        /// Other values have other moments, and other parts.
        #[test]
        fn a_last_bit_is_seen(
            mut values in proptest::collection::vec(any_finite(), 1..40),
            at: usize,
        ) {
            let before = one_by_one(&values);
            let at = at % values.len();
            values[at] = f64::from_bits(values[at].to_bits() ^ 1);
            let after = one_by_one(&values);
            prop_assert_ne!(&before, &after);
            prop_assert_ne!(before.sum(), after.sum());
            prop_assert_ne!(before.sum().to_parts(), after.sum().to_parts());
            prop_assert_ne!(before.squares(), after.squares());
            prop_assert_ne!(before.squares().to_parts(), after.squares().to_parts());
        }

        /// Integers in i128 are an independent exact answer.
        #[test]
        fn deviations_of_scaled_integers(
            integers in proptest::collection::vec(-(1i64 << 40)..(1 << 40), 2..100),
            scale in -480..480i32,
        ) {
            let count = integers.len() as i128;
            let sum: i128 = integers.iter().map(|&integer| i128::from(integer)).sum();
            let squares: i128 = integers.iter().map(|&integer| i128::from(integer).pow(2)).sum();
            let variation = (count * squares - sum * sum) as f64;
            let expected = (variation / (count * (count - 1)) as f64).sqrt() * 2f64.powi(scale);
            let values: Vec<f64> =
                integers.iter().map(|&integer| integer as f64 * 2f64.powi(scale)).collect();
            let found = at_once(&values).std().unwrap();
            prop_assert!(found.to_bits().abs_diff(expected.to_bits()) <= 2, "{found:e}, \
                {expected:e}");
        }

        #[test]
        fn deviations_are_those_of_two_passes(
            values in proptest::collection::vec(0.0..1.0f64, 2..300),
        ) {
            let found = at_once(&values).std().unwrap();
            let (_, expected) = summarise(Stat::Std, &["AP".parse().unwrap()], &[values])[0][0];
            prop_assert!((found - expected).abs() <= 1e-13 * expected, "{found:e}, {expected:e}");
        }
    }
}
