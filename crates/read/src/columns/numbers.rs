//! Access to columns of numbers: integer ids, dictionary codes, ranks, scores and grades.

use std::ops::Range;

use super::decimal::Integer;
use crate::numbers::{Bf16, F16, Integers, Numbers, with_integers};

// The macro converts every width alike, and for some widths the conversion is not needed.
#[allow(clippy::useless_conversion, clippy::unnecessary_fallible_conversions)]
impl Integers<'_> {
    /// Returns the integer in a row of the column, as an id of decimal digits.
    #[inline]
    pub fn id(&self, row: usize) -> Integer {
        with_integers!(self, values => Integer::from(values[row]))
    }

    /// Returns the integer in a row of the column as an index; a negative one is larger than any
    /// index.
    #[inline]
    pub fn index(&self, row: usize) -> usize {
        with_integers!(self, values => values[row] as usize)
    }

    /// Returns the integer in a row, if it fits into 64 bits with a sign.
    pub fn signed(&self, row: usize) -> Option<i64> {
        with_integers!(self, values => i64::try_from(values[row]).ok())
    }

    /// Returns the first of `rows` whose integer is negative or not below `limit`.
    pub fn beyond(&self, rows: Range<usize>, limit: usize) -> Option<usize> {
        with_integers!(self, values => {
            let within = |value| usize::try_from(value).is_ok_and(|value| value < limit);
            let values = &values[rows.clone()];
            // Without leaving the loop early it is a vector comparison.
            let all = values.iter().fold(true, |all, &value| all & within(value));
            if all {
                None
            } else {
                values.iter().position(|&value| !within(value)).map(|at| rows.start + at)
            }
        })
    }

    /// Returns whether two rows of the column have the same integer.
    #[inline]
    pub fn same(&self, one: usize, other: usize) -> bool {
        with_integers!(self, values => values[one] == values[other])
    }
}

/// Splits integers into sign and magnitude.
macro_rules! split {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl From<$unsigned> for Integer {
            #[inline(always)]
            fn from(integer: $unsigned) -> Self {
                Self { negative: false, magnitude: u64::from(integer) }
            }
        }

        impl From<$signed> for Integer {
            #[inline(always)]
            fn from(integer: $signed) -> Self {
                Self { negative: integer < 0, magnitude: u64::from(integer.unsigned_abs()) }
            }
        }
    )*};
}

split!(u8, i8; u16, i16; u32, i32; u64, i64);

impl Numbers<'_> {
    /// Appends a sort key for the number in each of `rows`, made by `key`.
    #[inline(always)]
    pub fn keys(&self, rows: Range<usize>, keys: &mut Vec<u64>, mut key: impl FnMut(f64) -> u64) {
        match self {
            Self::F64(values) => keys.extend(values[rows].iter().map(|&value| key(value))),
            Self::F32(values) => {
                keys.extend(values[rows].iter().map(|&value| key(f64::from(value))))
            }
            Self::F16(bits) => {
                keys.extend(bits[rows].iter().map(|&bits| key(F16(bits).to_f32().into())))
            }
            Self::Bf16(bits) => {
                keys.extend(bits[rows].iter().map(|&bits| key(Bf16(bits).to_f32().into())))
            }
            Self::Integers(_) => keys.extend(rows.map(|row| key(self.get(row)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_is_found() {
        assert_eq!(Integers::from(&[0i8, 3, -1, 9]).beyond(1..4, 4), Some(2));
        assert_eq!(Integers::from(&[0u64, 3, u64::MAX]).beyond(0..3, 4), Some(2));
        assert_eq!(Integers::from(&[0u64, 3, u64::MAX]).beyond(0..2, 4), None);
    }
}
