//! The closeness of two values of a measure: equal to the bit, but for the order of addition, as
//! f32, or rounded.

use std::fmt;

/// The classes of error within which two values of a measure count as equal, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// The same bits: added up in the order of ranks, a gain divided by its discount.
    Bits,
    /// Within 1e-12, relative: added up in another order.
    Sum,
    /// Within 2e-6, relative: computed in f32.
    F32,
    /// Equal when rounded to this number of decimals.
    Digits(usize),
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits => f.write_str("bits"),
            Self::Sum => f.write_str("sum"),
            Self::F32 => f.write_str("f32"),
            Self::Digits(digits) => write!(f, "digits:{digits}"),
        }
    }
}

/// The largest relative differences of the classes.
const SUM: f64 = 1e-12;
const F32: f64 = 2e-6;

/// Returns the closest class of error in which two values of a measure are equal; `None` if they
/// differ. With `digits`, the values may be equal after rounding to `digits` decimals.
pub fn closeness(found: f64, expected: f64, digits: Option<usize>) -> Option<Tolerance> {
    if found == expected {
        return Some(Tolerance::Bits);
    }
    let apart = (found - expected).abs();
    if !apart.is_finite() {
        return None;
    }
    let size = found.abs().max(expected.abs());
    if apart <= SUM * size {
        return Some(Tolerance::Sum);
    }
    if apart <= F32 * size {
        return Some(Tolerance::F32);
    }
    let digits = digits?;
    // Half a unit of the last decimal, and what the two numbers themselves are rounded by.
    let unit = 10f64.powi(-i32::try_from(digits).ok()?);
    (apart <= unit * 0.5 + f64::EPSILON).then_some(Tolerance::Digits(digits))
}

#[cfg(test)]
mod tests {
    use super::{Tolerance, closeness};

    #[test]
    fn classes_are_told_apart() {
        let third = 1.0 / 3.0;
        assert_eq!(closeness(0.0, -0.0, None), Some(Tolerance::Bits));
        assert_eq!(closeness(third, third, None), Some(Tolerance::Bits));
        assert_eq!(closeness(third + 1e-16, third, None), Some(Tolerance::Sum));
        assert_eq!(closeness(f64::from(1.0_f32 / 3.0), third, None), Some(Tolerance::F32));
        assert_eq!(closeness(0.3333, third, None), None);
        assert_eq!(closeness(0.3333, third, Some(4)), Some(Tolerance::Digits(4)));
        assert_eq!(closeness(0.3334, third, Some(4)), None);
        assert_eq!(closeness(0.0625, 0.0625004, Some(5)), Some(Tolerance::Digits(5)));
        assert_eq!(closeness(0.13, 0.125, Some(2)), Some(Tolerance::Digits(2)));
        assert_eq!(closeness(f64::INFINITY, 1.0, Some(2)), None);
        assert_eq!(closeness(1e-9, 0.0, None), None);
    }
}
