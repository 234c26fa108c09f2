//! Numbers of every type that arrays have, borrowed.

use fearless_simd::{prelude::*, u32x16, u64x8};

use crate::label::code::FIRST_GRADE;

/// Numbers in the caller's memory, of whatever type.
///
/// ```
/// use laneval::arrays::Numbers;
/// let grades = [2i32, 0, -1];
/// assert_eq!(Numbers::from(&grades[..]).len(), 3);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Numbers<'a> {
    /// Bytes; `true` and `false` are 1 and 0.
    U8(&'a [u8]),
    /// Signed bytes.
    I8(&'a [i8]),
    /// 16-bit integers.
    I16(&'a [i16]),
    /// 32-bit integers.
    I32(&'a [i32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// 32-bit integers without a sign.
    U32(&'a [u32]),
    /// 64-bit integers without a sign.
    U64(&'a [u64]),
    /// The bits of 16-bit floats (IEEE binary16).
    F16(&'a [u16]),
    /// The bits of bfloat16: the upper half of an `f32`.
    Bf16(&'a [u16]),
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
}

/// Runs an expression with the values as a slice of their own type.
macro_rules! with_values {
    ($numbers:expr, $values:ident => $do:expr) => {
        match $numbers {
            $crate::arrays::numbers::Numbers::U8($values) => $do,
            $crate::arrays::numbers::Numbers::I8($values) => $do,
            $crate::arrays::numbers::Numbers::I16($values) => $do,
            $crate::arrays::numbers::Numbers::I32($values) => $do,
            $crate::arrays::numbers::Numbers::I64($values) => $do,
            $crate::arrays::numbers::Numbers::U32($values) => $do,
            $crate::arrays::numbers::Numbers::U64($values) => $do,
            $crate::arrays::numbers::Numbers::F16(bits) => {
                let $values: &[$crate::arrays::numbers::F16] = bytemuck::cast_slice(bits);
                $do
            }
            $crate::arrays::numbers::Numbers::Bf16(bits) => {
                let $values: &[$crate::arrays::numbers::Bf16] = bytemuck::cast_slice(bits);
                $do
            }
            $crate::arrays::numbers::Numbers::F32($values) => $do,
            $crate::arrays::numbers::Numbers::F64($values) => $do,
        }
    };
}
pub(super) use with_values;

impl Numbers<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        with_values!(*self, values => values.len())
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number as a non-negative integer; `None` where it is none.
    pub(super) fn index(&self, at: usize) -> Option<usize> {
        match *self {
            Numbers::U8(values) => Some(values[at].into()),
            Numbers::I8(values) => values[at].try_into().ok(),
            Numbers::I16(values) => values[at].try_into().ok(),
            Numbers::I32(values) => values[at].try_into().ok(),
            Numbers::I64(values) => values[at].try_into().ok(),
            Numbers::U32(values) => values[at].try_into().ok(),
            Numbers::U64(values) => values[at].try_into().ok(),
            _ => None,
        }
    }

    /// A number in words.
    pub(super) fn show(&self, at: usize) -> String {
        match *self {
            Numbers::I64(values) => values[at].to_string(),
            Numbers::U64(values) => values[at].to_string(),
            numbers => with_values!(numbers, values => values[at].to_f64().to_string()),
        }
    }
}

macro_rules! from_slices {
    ($($kind:ident $type:ty),*) => {$(
        impl<'a> From<&'a [$type]> for Numbers<'a> {
            fn from(values: &'a [$type]) -> Self {
                Numbers::$kind(values)
            }
        }
        impl<'a> From<&'a Vec<$type>> for Numbers<'a> {
            fn from(values: &'a Vec<$type>) -> Self {
                Numbers::$kind(values)
            }
        }
        impl<'a, const N: usize> From<&'a [$type; N]> for Numbers<'a> {
            fn from(values: &'a [$type; N]) -> Self {
                Numbers::$kind(values)
            }
        }
    )*};
}
from_slices!(U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64);

impl<'a> From<&'a [bool]> for Numbers<'a> {
    fn from(values: &'a [bool]) -> Self {
        Numbers::U8(bytemuck::cast_slice(values))
    }
}

/// A number of an array.
pub(super) trait Number: Copy + Send + Sync + 'static {
    /// An integer that is wide enough for its order.
    type Key: Key;

    /// The number as an `f64`: exact but for integers beyond 2⁵³.
    fn to_f64(self) -> f64;

    /// The number where it is an integer from −1 to 2²⁰, else [`NOT_SMALL`].
    fn small(self) -> i32;

    /// The code of an integer from −1 to `most`, and whether it is none of those.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        let small = self.small();
        ((small + i32::from(FIRST_GRADE)) as u8 - u8::from(small < 0), small < -1 || small > most)
    }

    /// The smallest and the largest of some numbers and of 0 and −1; the smallest is less than −1 where one is not small.
    #[inline(always)]
    fn extent(values: &[Self]) -> (i32, i32) {
        values
            .iter()
            .fold((0, -1), |(least, most), value| (least.min(value.small()), most.max(value.small())))
    }

    /// A key whose order as an integer is the order of the numbers, −0 being 0, from the largest down.
    fn key(self) -> Self::Key;

    /// Is it not a number?
    fn is_nan(self) -> bool;
}

/// The key of a score: the smallest is that of the largest score.
pub(super) trait Key: Copy + Ord + Send + Sync + 'static {
    /// The key of no score that is larger than another.
    const LAST: Self;
    /// A key with a place behind it.
    type Placed: Copy + Ord + Default + Send + Sync;

    /// Which of some keys do not exceed another, a bit each.
    fn within<S: Simd>(simd: S, keys: &[Self; 64], bound: Self) -> u64;

    /// With a place behind it.
    fn placed(self, at: u32) -> Self::Placed;

    /// The place.
    fn place(placed: Self::Placed) -> usize;
}

impl Key for u32 {
    const LAST: u32 = u32::MAX;
    type Placed = u64;

    #[inline(always)]
    fn within<S: Simd>(simd: S, keys: &[u32; 64], bound: u32) -> u64 {
        let bound = u32x16::splat(simd, bound);
        let of_vector = |keys: &[u32]| u32x16::from_slice(simd, keys).simd_le(bound).to_bitmask();
        keys.chunks_exact(16).rev().fold(0, |bits, keys| bits << 16 | of_vector(keys))
    }

    #[inline(always)]
    fn placed(self, at: u32) -> u64 {
        u64::from(self) << 32 | u64::from(at)
    }

    #[inline(always)]
    fn place(placed: u64) -> usize {
        placed as u32 as usize
    }
}

impl Key for u64 {
    const LAST: u64 = u64::MAX;
    type Placed = u128;

    #[inline(always)]
    fn within<S: Simd>(simd: S, keys: &[u64; 64], bound: u64) -> u64 {
        let bound = u64x8::splat(simd, bound);
        let of_vector = |keys: &[u64]| u64x8::from_slice(simd, keys).simd_le(bound).to_bitmask();
        keys.chunks_exact(8).rev().fold(0, |bits, keys| bits << 8 | of_vector(keys))
    }

    #[inline(always)]
    fn placed(self, at: u32) -> u128 {
        u128::from(self) << 32 | u128::from(at)
    }

    #[inline(always)]
    fn place(placed: u128) -> usize {
        placed as u32 as usize
    }
}

/// What [`Number::small`] says of all other numbers.
pub(super) const NOT_SMALL: i32 = i32::MIN;
const LARGEST_SMALL: i64 = 1 << 20;

macro_rules! integers {
    ($($type:ty as $wide:ty, $key:ty $(, $in_bytes:item)*;)*) => {$(
        impl Number for $type {
            type Key = $key;

            $($in_bytes)*

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            #[allow(unused_comparisons, clippy::allow_attributes)]
            fn small(self) -> i32 {
                let wide = self as $wide;
                if wide <= LARGEST_SMALL as $wide && wide.wrapping_add(1) >= 0 { self as i32 } else { NOT_SMALL }
            }

            #[inline(always)]
            fn key(self) -> $key {
                !((self as $wide).wrapping_sub(<$type>::MIN as $wide) as $key)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}
integers! {
    u8 as i32, u32,
    /// In bytes.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        (self.wrapping_add(FIRST_GRADE), most < 0 || self > most as u8)
    },
    /// In bytes.
    #[inline(always)]
    fn extent(values: &[u8]) -> (i32, i32) {
        let most: i32 = values.iter().fold(0, |most, &value| value.max(most)).into();
        (0, if values.is_empty() { -1 } else { most })
    };
    i8 as i32, u32,
    /// In bytes.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        let code = (self as u8).wrapping_add(FIRST_GRADE).wrapping_sub(u8::from(self < 0));
        (code, self < -1 || self > most.min(i8::MAX.into()) as i8)
    },
    /// In bytes.
    #[inline(always)]
    fn extent(values: &[i8]) -> (i32, i32) {
        let extent = |(least, most), &value: &i8| (value.min(least), value.max(most));
        let (least, most) = values.iter().fold((0, -1), extent);
        (least.into(), most.into())
    };
    i16 as i32, u32;
    i32 as i64, u32;
    i64 as i64, u64;
    u32 as u64, u32;
    u64 as u64, u64;
}

impl Number for f32 {
    type Key = u32;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn small(self) -> i32 {
        let whole = self as i32;
        if whole as f32 == self && whole >= -1 && whole <= LARGEST_SMALL as i32 { whole } else { NOT_SMALL }
    }

    #[inline(always)]
    fn key(self) -> u32 {
        let bits = (self + 0.0).to_bits();
        !(bits ^ ((bits as i32 >> 31) as u32 | 1 << 31))
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Number for f64 {
    type Key = u64;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn small(self) -> i32 {
        let whole = self as i32;
        if f64::from(whole) == self && whole >= -1 && whole <= LARGEST_SMALL as i32 {
            whole
        } else {
            NOT_SMALL
        }
    }

    #[inline(always)]
    fn key(self) -> u64 {
        let bits = (self + 0.0).to_bits();
        !(bits ^ ((bits as i64 >> 63) as u64 | 1 << 63))
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

/// A 16-bit float.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct F16(u16);

/// A bfloat16.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct Bf16(u16);

impl F16 {
    /// The same number in 32 bits. The exponent is moved by a multiplication, which makes numbers of subnormal ones too.
    #[inline(always)]
    fn to_f32(self) -> f32 {
        const EXPONENT: u32 = 0x7c00;
        let (magnitude, sign) = (u32::from(self.0) & 0x7fff, u32::from(self.0 & 0x8000) << 16);
        let moved = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
        let special = if magnitude >= EXPONENT { 0x7f80_0000 | magnitude << 13 } else { moved };
        f32::from_bits(special | sign)
    }
}

impl Bf16 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

macro_rules! halves {
    ($($type:ty),*) => {$(
        impl Number for $type {
            type Key = u32;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            #[inline(always)]
            fn small(self) -> i32 {
                self.to_f32().small()
            }

            #[inline(always)]
            fn key(self) -> u32 {
                self.to_f32().key()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }
    )*};
}
halves!(F16, Bf16);

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of binary16: sign, five bits of exponent, ten of the significand.
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
            let (own, defined) = (F16(bits).to_f64(), f16_by_definition(bits));
            assert!(
                own == defined && own.is_sign_negative() == defined.is_sign_negative()
                    || own.is_nan() && defined.is_nan(),
                "{bits:#x}: {own} and {defined}"
            );
        }
        assert_eq!(Bf16(0x3fc0).to_f64(), 1.5);
    }

    #[test]
    fn keys_are_in_the_order_of_the_numbers_from_the_largest_down() {
        let floats = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 3.5, f32::INFINITY];
        for pair in floats.windows(2) {
            let equal = pair[0] == pair[1];
            assert_eq!(pair[0].key() > pair[1].key(), !equal, "{pair:?}");
            assert_eq!(f64::from(pair[0]).key() > f64::from(pair[1]).key(), !equal, "{pair:?}");
        }
        for pair in [i64::MIN, -1, 0, 1, i64::MAX].windows(2) {
            assert!(pair[0].key() > pair[1].key(), "{pair:?}");
        }
        assert!((-3i8).key() > 2i8.key() && 0u64.key() > u64::MAX.key() && i32::MIN.key() > i32::MAX.key());
    }

    #[test]
    fn small_numbers_are_whole() {
        for (number, small) in [
            (-1.0, -1),
            (0.0, 0),
            (-0.0, 0),
            (7.0, 7),
            (0.5, NOT_SMALL),
            (-2.0, NOT_SMALL),
            (1e9, NOT_SMALL),
            (f64::NAN, NOT_SMALL),
            (f64::INFINITY, NOT_SMALL),
        ] {
            assert_eq!((number.small(), (number as f32).small()), (small, small), "{number}");
        }
        assert_eq!(
            [(-1i64).small(), 5i64.small(), i64::MIN.small(), i64::MAX.small()],
            [-1, 5, NOT_SMALL, NOT_SMALL]
        );
        assert_eq!(
            [255u8.small(), u64::MAX.small(), u32::MAX.small(), i32::MIN.small()],
            [255, NOT_SMALL, NOT_SMALL, NOT_SMALL]
        );
    }
}
