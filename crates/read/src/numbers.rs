//! Numbers in the caller's memory, of every type that arrays and columns have.

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// A lowest relevant grade, written as people write it: `1`, or `>0.5` for the number next to 0.5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(pub f64);

impl Level {
    /// Returns the grade just below the level, if people would write the level as `>` and that
    /// grade. The grade then has few digits, and the level has as many as a float can have.
    fn above(self) -> Option<f64> {
        let below = self.0.next_down();
        (below >= 0.0 && below.to_string().len() + 8 < self.0.to_string().len()).then_some(below)
    }

    /// Writes the relevant grades as words: `1 or more`, `above 0.5`.
    pub fn in_words(self) -> String {
        match self.above() {
            Some(below) => format!("above {below}"),
            None => format!("{} or more", self.0),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.above() {
            Some(below) => write!(f, ">{below}"),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A borrowed slice of integers of any width, such as ids in a column.
///
/// ```
/// use laneval::columns::Integers;
/// let ids = [7u32, 42];
/// assert_eq!(Integers::from(&ids).len(), 2);
/// ```
#[derive(Debug, Clone, Copy)]
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

/// A borrowed slice of numbers of any type, such as scores or grades: floats, or integers.
///
/// ```
/// use laneval::arrays::Numbers;
/// let (scores, grades) = ([0.5f32, f32::NEG_INFINITY], [2i32, 0, -1]);
/// assert_eq!(Numbers::from(&scores).len(), 2);
/// assert_eq!(Numbers::from(&grades).len(), 3);
/// assert_eq!(Numbers::Bf16(&[0x3f80]).len(), 1); // 1.0
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// 64 bits.
    F64(&'a [f64]),
    /// 32 bits.
    F32(&'a [f32]),
    /// 16 bits of IEEE 754 (half precision), as bit patterns.
    F16(&'a [u16]),
    /// The upper half of 32 bits (bfloat16), as bit patterns.
    Bf16(&'a [u16]),
    /// Integers; `true` and `false` are 1 and 0.
    Integers(Integers<'a>),
}

/// Evaluates an expression for the integers as a slice of their own type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_integers {
    ($integers:expr, $values:ident => $result:expr) => {{
        use $crate::numbers::Integers;
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
    }};
}
pub use with_integers;

/// Evaluates an expression for the numbers as a slice of their own type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_numbers {
    ($numbers:expr, $values:ident => $result:expr) => {{
        use $crate::numbers::{Bf16, F16, Numbers};
        match $numbers {
            Numbers::F64($values) => $result,
            Numbers::F32($values) => $result,
            Numbers::F16(bits) => {
                let $values: &[F16] = bytemuck::cast_slice(bits);
                $result
            }
            Numbers::Bf16(bits) => {
                let $values: &[Bf16] = bytemuck::cast_slice(bits);
                $result
            }
            Numbers::Integers(integers) => {
                $crate::numbers::with_integers!(integers, $values => $result)
            }
        }
    }};
}
pub use with_numbers;

/// Borrows slices, vectors and arrays.
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
pub(crate) use borrowed;

borrowed!(Integers: U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64);
borrowed!(Numbers: F64 f64, F32 f32);

impl<'a, T> From<T> for Numbers<'a>
where
    Integers<'a>: From<T>,
{
    fn from(integers: T) -> Self {
        Self::Integers(integers.into())
    }
}

impl<'a> From<&'a [bool]> for Numbers<'a> {
    fn from(values: &'a [bool]) -> Self {
        Self::Integers(Integers::U8(bytemuck::cast_slice(values)))
    }
}

impl Integers<'_> {
    /// Returns the number of integers in the slice.
    pub fn len(&self) -> usize {
        with_integers!(self, values => values.len())
    }

    /// Returns whether the slice has no integers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the integer at index `at`; a `u64` from 2⁶³ on does not fit into 64 bits with a
    /// sign.
    #[inline]
    pub fn get(&self, at: usize) -> i128 {
        with_integers!(self, values => values[at].into())
    }

    /// Returns the integer at index `at` as a `usize`; `None` if it is negative or too large.
    #[inline]
    // The macro converts every width alike, and for some widths the conversion is not needed.
    #[allow(clippy::unnecessary_fallible_conversions)]
    pub fn natural(&self, at: usize) -> Option<usize> {
        with_integers!(self, values => usize::try_from(values[at]).ok())
    }
}

impl Numbers<'_> {
    /// Returns the number of numbers in the slice.
    pub fn len(&self) -> usize {
        with_numbers!(*self, values => values.len())
    }

    /// Returns whether the slice has no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number at index `at` as the nearest 64-bit float.
    pub fn get(&self, at: usize) -> f64 {
        match self {
            Self::F64(values) => values[at],
            Self::F32(values) => values[at].into(),
            Self::F16(bits) => F16(bits[at]).to_f32().into(),
            Self::Bf16(bits) => Bf16(bits[at]).to_f32().into(),
            Self::Integers(values) => with_integers!(values, values => values[at] as f64),
        }
    }

    /// Returns the number at index `at` as text.
    pub fn show(&self, at: usize) -> String {
        match self {
            Self::Integers(values) => values.get(at).to_string(),
            numbers => numbers.get(at).to_string(),
        }
    }
}

/// A 16-bit float of IEEE 754 (half precision), as its bits.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct F16(pub u16);

/// A 16-bit float in the format bfloat16, as its bits.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl F16 {
    /// Converts the half-precision float to a 32-bit float. The exponent is moved by a
    /// multiplication, which also normalises subnormal numbers.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        const EXPONENT: u32 = 0x7c00;
        let (magnitude, sign) = (u32::from(self.0) & 0x7fff, u32::from(self.0 & 0x8000) << 16);
        let moved = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
        let special = if magnitude >= EXPONENT { 0x7f80_0000 | magnitude << 13 } else { moved };
        f32::from_bits(special | sign)
    }
}

impl Bf16 {
    /// Converts the bfloat16 to a 32-bit float.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the definition of binary16: sign, five bits of exponent, ten of the significand.
    fn f16_by_definition(bits: u16) -> f64 {
        let (exponent, significand) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let magnitude = match exponent {
            0 => significand * 2f64.powi(-24),
            31 if significand == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            exponent => (1024.0 + significand) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn every_half_is_the_number_that_its_bits_say() {
        for bits in 0..=u16::MAX {
            let (own, defined) = (Numbers::F16(&[bits]).get(0), f16_by_definition(bits));
            assert!(
                own == defined && own.is_sign_negative() == defined.is_sign_negative()
                    || own.is_nan() && defined.is_nan(),
                "{bits:#x}: {own} and {defined}"
            );
        }
        let known =
            [(0x3f80, 1.0), (0xc000, -2.0), (0x7f80, f64::INFINITY), (0x0001, 2f64.powi(-133))];
        known.iter().for_each(|&(bits, value)| assert_eq!(Numbers::Bf16(&[bits]).get(0), value));
        assert!(Numbers::Bf16(&[0x7fc0]).get(0).is_nan());
    }

    #[test]
    fn integers_are_shown_exactly() {
        assert_eq!(Numbers::from(&[u64::MAX]).show(0), "18446744073709551615");
        assert_eq!(Numbers::from(&[i64::MIN]).show(0), "-9223372036854775808");
        assert_eq!(Numbers::from(&[0.5f32]).show(0), "0.5");
        assert_eq!(
            [Integers::from(&[-1i8]).natural(0), Integers::from(&[7u16]).natural(0)],
            [None, Some(7)]
        );
    }
}
