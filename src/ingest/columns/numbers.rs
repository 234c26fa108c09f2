//! Columns of numbers, of every width.

use std::ops::Range;

use super::decimal::Integer;

/// Integers of any width.
///
/// ```
/// use laneval::columns::Integers;
/// let ids = [7u32, 42];
/// assert_eq!(Integers::from(&ids).len(), 2);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Integers<'a> {
    /// Unsigned, 8 bits.
    U8(&'a [u8]),
    /// Unsigned, 16 bits.
    U16(&'a [u16]),
    /// Unsigned, 32 bits.
    U32(&'a [u32]),
    /// Unsigned, 64 bits.
    U64(&'a [u64]),
    /// Signed, 8 bits.
    I8(&'a [i8]),
    /// Signed, 16 bits.
    I16(&'a [i16]),
    /// Signed, 32 bits.
    I32(&'a [i32]),
    /// Signed, 64 bits.
    I64(&'a [i64]),
}

/// Numbers: floats, or integers taken as the nearest 64-bit float.
///
/// ```
/// use laneval::columns::Floats;
/// let scores = [0.5f32, f32::NEG_INFINITY];
/// assert_eq!(Floats::from(&scores).len(), 2);
/// assert_eq!(Floats::Bf16(&[0x3f80]).len(), 1); // 1.0
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Floats<'a> {
    /// 64 bits.
    F64(&'a [f64]),
    /// 32 bits.
    F32(&'a [f32]),
    /// 16 bits of IEEE 754 (half precision), as bit patterns.
    F16(&'a [u16]),
    /// The upper half of 32 bits (bfloat16), as bit patterns.
    Bf16(&'a [u16]),
    /// Integers.
    Integers(Integers<'a>),
}

/// Evaluates an expression for the values of whatever width.
macro_rules! of_any_width {
    ($integers:expr, $values:ident => $result:expr) => {
        match $integers {
            Integers::U8($values) => $result,
            Integers::U16($values) => $result,
            Integers::U32($values) => $result,
            Integers::U64($values) => $result,
            Integers::I8($values) => $result,
            Integers::I16($values) => $result,
            Integers::I32($values) => $result,
            Integers::I64($values) => $result,
        }
    };
}
pub(super) use of_any_width;

/// Borrows slices, vectors and arrays as a column.
macro_rules! borrowed {
    ($column:ident: $($variant:ident $value:ty),*) => {$(
        impl<'a> From<&'a [$value]> for $column<'a> {
            fn from(values: &'a [$value]) -> Self {
                $column::$variant(values)
            }
        }

        impl<'a> From<&'a Vec<$value>> for $column<'a> {
            fn from(values: &'a Vec<$value>) -> Self {
                $column::$variant(values)
            }
        }

        impl<'a, const N: usize> From<&'a [$value; N]> for $column<'a> {
            fn from(values: &'a [$value; N]) -> Self {
                $column::$variant(values)
            }
        }
    )*};
}
pub(super) use borrowed;

borrowed!(Integers: U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64);
borrowed!(Floats: F64 f64, F32 f32);

impl<'a, T> From<T> for Floats<'a>
where
    Integers<'a>: From<T>,
{
    fn from(integers: T) -> Self {
        Floats::Integers(integers.into())
    }
}

impl Integers<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        of_any_width!(self, values => values.len())
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integer in a row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Integer {
        of_any_width!(self, values => Integer::of(values[row]))
    }

    /// The integer in a row as an index; a negative one is larger than any.
    #[inline]
    pub(super) fn index(&self, row: usize) -> usize {
        of_any_width!(self, values => values[row] as usize)
    }

    /// The integer in a row, if it has 64 bits with a sign.
    #[allow(clippy::useless_conversion, clippy::unnecessary_fallible_conversions)] // of some widths
    pub(super) fn signed(&self, row: usize) -> Option<i64> {
        of_any_width!(self, values => i64::try_from(values[row]).ok())
    }

    /// The first of some rows whose integer is negative or not below `limit`.
    #[allow(clippy::unnecessary_fallible_conversions)] // of some widths
    pub(super) fn beyond(&self, rows: Range<usize>, limit: usize) -> Option<usize> {
        of_any_width!(self, values => {
            let within = |value| usize::try_from(value).is_ok_and(|value| value < limit);
            let values = &values[rows.clone()];
            // Without leaving the loop early it is a vector compare.
            let all = values.iter().fold(true, |all, &value| all & within(value));
            if all { None } else { values.iter().position(|&value| !within(value)).map(|at| rows.start + at) }
        })
    }

    /// Whether two rows have the same integer.
    #[inline]
    pub(super) fn same(&self, one: usize, other: usize) -> bool {
        of_any_width!(self, values => values[one] == values[other])
    }
}

/// Integers as sign and magnitude.
trait Split: Copy {
    fn split(self) -> Integer;
}

macro_rules! split {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl Split for $unsigned {
            #[inline(always)]
            fn split(self) -> Integer {
                Integer { negative: false, magnitude: u64::from(self) }
            }
        }

        impl Split for $signed {
            #[inline(always)]
            fn split(self) -> Integer {
                Integer { negative: self < 0, magnitude: u64::from(self.unsigned_abs()) }
            }
        }
    )*};
}

split!(u8, i8; u16, i16; u32, i32; u64, i64);

impl Integer {
    #[inline(always)]
    #[allow(private_bounds)]
    pub(super) fn of(integer: impl Split) -> Self {
        integer.split()
    }
}

impl Floats<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Floats::F64(values) => values.len(),
            Floats::F32(values) => values.len(),
            Floats::F16(bits) | Floats::Bf16(bits) => bits.len(),
            Floats::Integers(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number in a row.
    pub(super) fn get(&self, row: usize) -> f64 {
        match self {
            Floats::F64(values) => values[row],
            Floats::F32(values) => f64::from(values[row]),
            Floats::F16(bits) => half(bits[row]),
            Floats::Bf16(bits) => brain(bits[row]),
            Floats::Integers(values) => of_any_width!(values, values => values[row] as f64),
        }
    }

    /// Appends the keys of the numbers of some rows.
    #[inline(always)]
    pub(super) fn keys(&self, rows: Range<usize>, keys: &mut Vec<u64>, mut key: impl FnMut(f64) -> u64) {
        match self {
            Floats::F64(values) => keys.extend(values[rows].iter().map(|&value| key(value))),
            Floats::F32(values) => keys.extend(values[rows].iter().map(|&value| key(f64::from(value)))),
            Floats::F16(bits) => keys.extend(bits[rows].iter().map(|&bits| key(half(bits)))),
            Floats::Bf16(bits) => keys.extend(bits[rows].iter().map(|&bits| key(brain(bits)))),
            Floats::Integers(_) => keys.extend(rows.map(|row| key(self.get(row)))),
        }
    }
}

/// A float of 16 bits: 5 of exponent, 10 of fraction.
#[inline(always)]
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (u64::from(bits >> 10 & 31), u64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f64 * (1.0 / 16_777_216.0),
        31 => f64::from_bits(0x7ff << 52 | fraction << 42),
        _ => f64::from_bits((exponent + 1008) << 52 | fraction << 42),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// The upper half of a float of 32 bits.
#[inline(always)]
fn brain(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_16_bits_have_the_values_of_their_fields() {
        for bits in 0..=u16::MAX {
            let (sign, exponent) = (if bits >> 15 == 0 { 1.0 } else { -1.0 }, i32::from(bits >> 10 & 31));
            let fraction = f64::from(bits & 1023) / 1024.0;
            let expected = match exponent {
                0 => sign * fraction * 2f64.powi(-14),
                31 if fraction == 0.0 => sign * f64::INFINITY,
                31 => f64::NAN,
                _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
            };
            let found = half(bits);
            assert!(found == expected || found.is_nan() && expected.is_nan(), "{bits:x}: {found}");
        }
        let known = [(0x3f80, 1.0), (0xc000, -2.0), (0x7f80, f64::INFINITY), (0x0001, 2f64.powi(-133))];
        known.iter().for_each(|&(bits, value)| assert_eq!(brain(bits), value));
        assert!(brain(0x7fc0).is_nan());
    }

    #[test]
    fn what_is_beyond_is_found() {
        assert_eq!(Integers::from(&[0i8, 3, -1, 9]).beyond(1..4, 4), Some(2));
        assert_eq!(Integers::from(&[0u64, 3, u64::MAX]).beyond(0..3, 4), Some(2));
        assert_eq!(Integers::from(&[0u64, 3, u64::MAX]).beyond(0..2, 4), None);
    }
}
