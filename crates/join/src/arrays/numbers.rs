//! Numbers of all types in arrays: their values, the label codes of grades, and the sort keys of
//! scores.
//!
//! **Keys.** Scores of any type become signed integers of 32 or 64 bits that *ascend* as the
//! numbers descend, so that one way of ranking serves all types, and "the best" are the smallest:
//!
//! ```text
//! f32 ≥ 0     bits as they are       0x3f800000 for 1.0         their order is that of the numbers
//! f32 < 0     bits below the sign    0xbf800000 → 0xc07fffff    as a signed integer negative,
//!             turned                                            and −2 below −1
//! then        all bits turned        ! reverses the order of signed integers
//! u32         sign bit turned, !     an unsigned integer in the order of signed ones
//! ```
//!
//! Adding 0 turns −0 into 0, so −0 and 0 tie. The bits of NaN lie beyond the bits of infinity, on
//! either side, so the key of NaN is below the key of ∞ or above the key of −∞. The least and the
//! largest key of a row, found anyway, thus tell whether a score is NaN.
//!
//! **Codes.** Nearly all grades are small integers. `small` and `shifted` give the codes of small
//! integers without a table; all further grades take the slower way through f64 and the codebook.
//! Adding 1.5 · 2²³ (f32) or 1.5 · 2⁵² (f64) leaves the integer in the low bits of a float: the
//! last place of the large sum is 1, so the sum is rounded to an integer. The factor 1.5 leaves
//! half of the range free below, for negative integers. If subtracting the constant gives a
//! different number, the number had a fraction (or is NaN, which equals nothing).

use fearless_simd::{f32x16, f64x8, i32x8, i32x16, i64x4, i64x8, prelude::*};

use crate::matrix::code::FIRST_GRADE;
use crate::numbers::{Bf16, F16};

/// A number in an array of grades or scores, of any integer or float type.
pub(super) trait ArrayNumber: Copy + Send + Sync + 'static {
    /// An integer that is wide enough for its order.
    type Key: Key;

    /// Returns a number of an array as an `f64`: exact except for integers beyond 2⁵³.
    fn to_f64(self) -> f64;

    /// Returns a number of an array as an `i32` if it is an integer from −1 to 2²⁰, else
    /// [`NOT_SMALL`].
    fn small(self) -> i32;

    /// Returns the label code of a grade that is an integer from −1 to `most`, and whether the
    /// grade is not such an integer.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        let small = self.small();
        ((small + i32::from(FIRST_GRADE)) as u8 - u8::from(small < 0), small < -1 || small > most)
    }

    /// Returns the smallest of 0 and some numbers, and the largest of −1 and these numbers. The
    /// smallest is less than −1 if a number is not small.
    #[inline(always)]
    fn extent(values: &[Self]) -> (i32, i32) {
        values.iter().fold((0, -1), |(least, most), value| {
            (least.min(value.small()), most.max(value.small()))
        })
    }

    /// Returns the sort key of a score: an integer that ascends as scores descend; −0 is 0.
    fn key(self) -> Self::Key;

    /// Returns whether a number of an array is NaN, as no integer is.
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }

    /// Writes the sort keys of some scores, and returns the smallest key of each of [`LANES`]
    /// lanes; `None` if a score is NaN. Scores behind the last whole set of lanes count in no lane.
    #[inline(always)]
    fn read<S: Simd>(_: S, values: &[Self], keys: &mut [Self::Key]) -> Option<[Self::Key; LANES]> {
        let (mut least, mut wrong) = ([Self::Key::LAST; LANES], false);
        for (value, key) in values.iter().zip(&mut *keys) {
            *key = value.key();
            wrong |= value.is_nan();
        }
        for keys in keys[..values.len()].as_chunks::<LANES>().0 {
            least.iter_mut().zip(keys).for_each(|(least, &key)| *least = key.min(*least));
        }
        (!wrong).then_some(least)
    }
}

/// The number of lanes: the best score of each lane bounds the best of all from below.
pub(super) const LANES: usize = 16;
/// The number of keys that are compared with the bound together.
pub(super) const TOGETHER: usize = 64;

/// The sort key of a score, an integer: the smallest key is that of the largest score.
pub(super) trait Key: bytemuck::Pod + Ord + Send + Sync {
    /// The largest key: no score has a larger key.
    const LAST: Self;
    /// A key with a place behind it.
    type Placed: Copy + Ord + Send + Sync;

    /// Returns a bit for each of [`TOGETHER`] score keys: 1 if the key does not exceed `bound`.
    fn within<S: Simd>(simd: S, keys: &[Self; TOGETHER], bound: Self) -> u64;

    /// Returns the smallest of the lanes' score keys that at least `count` of these keys do not
    /// exceed.
    fn bound<S: Simd>(simd: S, keys: &[Self; LANES], count: usize) -> Self;

    /// Computes the rank of each score key, from 1: the number of keys that do not exceed this key.
    /// Equal keys all have the rank of the last equal key, or are ranked in their order if
    /// `IN_ORDER` is true. `N` is 16 or 32.
    fn ranks<S: Simd, const N: usize, const IN_ORDER: bool>(
        simd: S,
        keys: &[Self; N],
        ranks: &mut [u32; N],
    );

    /// Returns a score key with the place `at` of its document behind it, so that equal scores sort
    /// by place.
    fn placed(self, at: u32) -> Self::Placed;

    /// Returns the document's place in a score key with a place.
    fn place(placed: Self::Placed) -> usize;

    /// Returns whether two score keys with places are equal, apart from the places.
    fn are_equal(one: Self::Placed, other: Self::Placed) -> bool;
}

macro_rules! keys {
    ($(
        $key:ty, $unsigned:ty, $placed:ty, $half:ident by $width:literal,
        $whole:ident;
    )*) => {$(
        impl Key for $key {
            const LAST: $key = <$key>::MAX;
            type Placed = $placed;

            #[inline(always)]
            fn within<S: Simd>(simd: S, keys: &[$key; TOGETHER], bound: $key) -> u64 {
                let bound = $whole::splat(simd, bound);
                let of_vector =
                    |keys: &[$key]| $whole::from_slice(simd, keys).simd_le(bound).to_bitmask();
                let vectors = keys.chunks_exact(2 * $width).rev();
                vectors.fold(0, |bits, keys| bits << (2 * $width) | of_vector(keys))
            }

            #[inline(always)]
            fn bound<S: Simd>(simd: S, keys: &[$key; LANES], count: usize) -> $key {
                let (fewer, last) =
                    ($half::splat(simd, count as $key - 1), $half::splat(simd, Self::LAST));
                let mut bound = last;
                for half in keys.as_chunks::<$width>().0 {
                    let half = $half::load_array_ref(simd, half);
                    let mut ranks = $half::splat(simd, LANES as $key);
                    for &key in keys {
                        ranks += $half::splat(simd, key).simd_gt(half).to_vector();
                    }
                    bound = bound.min(ranks.simd_gt(fewer).select(half, last));
                }
                bound.to_array().into_iter().fold(Self::LAST, <$key>::min)
            }

            #[inline(always)]
            fn ranks<S: Simd, const N: usize, const IN_ORDER: bool>(
                simd: S,
                keys: &[$key; N],
                ranks_out: &mut [u32; N],
            ) {
                let halves =
                    keys.as_chunks::<$width>().0.iter().zip(ranks_out.as_chunks_mut::<$width>().0);
                for ((half, slots), first) in halves.zip((0..).step_by($width)) {
                    let half = $half::load_array_ref(simd, half);
                    let places = $half::from_fn(simd, |at| (first + at) as $key);
                    // A true comparison is −1, so adding comparisons counts down from N to the
                    // number of keys that are not greater.
                    let mut ranks = $half::splat(simd, N as $key);
                    for (place, &key) in keys.iter().enumerate() {
                        let key = $half::splat(simd, key);
                        ranks += key.simd_gt(half).to_vector();
                        if IN_ORDER {
                            let after = places.simd_lt($half::splat(simd, place as $key));
                            ranks += (key.simd_eq(half) & after).to_vector();
                        }
                    }
                    *slots = ranks.to_array().map(|rank| rank as u32);
                }
            }

            #[inline(always)]
            fn placed(self, at: u32) -> $placed {
                <$placed>::from((self ^ <$key>::MIN) as $unsigned) << 32 | <$placed>::from(at)
            }

            #[inline(always)]
            fn place(placed: $placed) -> usize {
                placed as u32 as usize
            }

            #[inline(always)]
            fn are_equal(one: $placed, other: $placed) -> bool {
                (one ^ other) >> 32 == 0
            }
        }
    )*};
}
keys! {
    i32, u32, u64, i32x8 by 8, i32x16;
    i64, u64, u128, i64x4 by 4, i64x8;
}

/// The result of [`ArrayNumber::small`] for all other numbers.
pub(super) const NOT_SMALL: i32 = i32::MIN;
const LARGEST_SMALL: i64 = 1 << 20;

macro_rules! integers {
    ($($type:ty as $wide:ty, $key:ty, $flipped:expr $(, $in_bytes:item)*;)*) => {$(
        impl ArrayNumber for $type {
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
                if wide <= LARGEST_SMALL as $wide && wide.wrapping_add(1) >= 0 {
                    self as i32
                } else {
                    NOT_SMALL
                }
            }

            #[inline(always)]
            fn key(self) -> $key {
                !(self as $key ^ $flipped)
            }
        }
    )*};
}
integers! {
    u8 as i32, i32, 0,
    /// Computes in bytes.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        (self.wrapping_add(FIRST_GRADE), most < 0 || self > most as u8)
    },
    /// Computes in bytes.
    #[inline(always)]
    fn extent(values: &[u8]) -> (i32, i32) {
        let most: i32 = values.iter().fold(0, |most, &value| value.max(most)).into();
        (0, if values.is_empty() { -1 } else { most })
    };
    i8 as i32, i32, 0,
    /// Computes in bytes.
    #[inline(always)]
    fn shifted(self, most: i32) -> (u8, bool) {
        let code = (self as u8).wrapping_add(FIRST_GRADE).wrapping_sub(u8::from(self < 0));
        (code, self < -1 || self > most.min(i8::MAX.into()) as i8)
    },
    /// Computes in bytes.
    #[inline(always)]
    fn extent(values: &[i8]) -> (i32, i32) {
        let extent = |(least, most), &value: &i8| (value.min(least), value.max(most));
        let (least, most) = values.iter().fold((0, -1), extent);
        (least.into(), most.into())
    };
    i16 as i32, i32, 0;
    u16 as i32, i32, 0;
    i32 as i64, i32, 0;
    i64 as i64, i64, 0;
    u32 as u64, i32, i32::MIN;
    u64 as u64, i64, i64::MIN;
}

macro_rules! floats {
    ($($type:ty, $key:ty, $floats:ident, $keys:ident by $width:literal, $shift:literal;)*) => {$(
        impl ArrayNumber for $type {
            type Key = $key;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn small(self) -> i32 {
                let whole = self as i32;
                if whole as $type == self && whole >= -1 && whole <= LARGEST_SMALL as i32 {
                    whole
                } else {
                    NOT_SMALL
                }
            }

            /// Computes in floats, whose low bits are the integer after a large number is added: a
            /// conversion would check each number for what is checked here anyway.
            #[inline(always)]
            fn shifted(self, most: i32) -> (u8, bool) {
                let most = most as $type;
                let within = if self >= -1.0 { self } else { -1.0 };
                let within = if within <= most { within } else { most };
                let shifted = within + $shift;
                let code = (shifted.to_bits() as u8)
                    .wrapping_add(FIRST_GRADE)
                    .wrapping_sub(u8::from(self < 0.0));
                (code, shifted - $shift != self)
            }

            /// Computes in floats, in lanes, because the least of floats is no sum that a compiler
            /// would take apart.
            #[inline(always)]
            fn extent(values: &[$type]) -> (i32, i32) {
                let (mut least, mut most, mut wrong) =
                    ([0.0; LANES], [-1.0; LANES], [false; LANES]);
                let mut look = |values: &[$type]| {
                    let lanes = least.iter_mut().zip(&mut most).zip(&mut wrong);
                    for (&value, ((least, most), wrong)) in values.iter().zip(lanes) {
                        *least = if value < *least { value } else { *least };
                        *most = if value > *most { value } else { *most };
                        *wrong |= value + $shift - $shift != value;
                    }
                };
                let (whole, rest) = values.as_chunks::<LANES>();
                whole.iter().for_each(|values| look(values));
                look(rest);
                let least = least.into_iter().fold(0.0, <$type>::min);
                let most = most.into_iter().fold(-1.0, <$type>::max);
                if wrong.contains(&true) || least < -1.0 || most > LARGEST_SMALL as $type {
                    return (NOT_SMALL, -1);
                }
                (least as i32, most as i32)
            }

            #[inline(always)]
            fn key(self) -> $key {
                let bits = (self + 0.0).to_bits() as $key;
                !(bits ^ (bits >> (<$key>::BITS - 1) & <$key>::MAX))
            }

            /// Reads whole vectors. The last vectors overlap the vectors before. Their numbers are
            /// read, but do not enter `least`, the returned smallest keys by lane.
            #[inline(always)]
            fn read<S: Simd>(
                simd: S,
                values: &[$type],
                keys: &mut [$key],
            ) -> Option<[$key; LANES]> {
                /// Reads a number for each lane; `least` has the smallest keys by lane, and `last`
                /// the largest keys.
                #[inline(always)]
                fn lanes<S: Simd>(
                    simd: S,
                    values: &[$type; LANES],
                    keys: &mut [$key; LANES],
                    least: &mut [$keys<S>; LANES / $width],
                    last: &mut $keys<S>,
                ) {
                    let vectors =
                        values.as_chunks::<$width>().0.iter().zip(keys.as_chunks_mut::<$width>().0);
                    for ((values, keys), least) in vectors.zip(least) {
                        let bits: $keys<S> =
                            ($floats::load_array_ref(simd, values) + 0.0).bitcast();
                        let key = !(bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX));
                        key.store_array(keys);
                        (*least, *last) = (least.min(key), last.max(key));
                    }
                }
                let keys = &mut keys[..values.len()];
                let mut least = [$keys::splat(simd, <$key>::MAX); LANES / $width];
                let mut last = $keys::splat(simd, <$key>::MIN);
                for (values, keys) in values.as_chunks().0.iter().zip(keys.as_chunks_mut().0) {
                    lanes(simd, values, keys, &mut least, &mut last);
                }
                // `least` is by lane and must have each score once. `first` need only see every
                // score. So the last scores enter only `first`, because the last scores overlap the
                // scores before.
                let mut first = least;
                match (values.last_chunk(), keys.last_chunk_mut()) {
                    (Some(values), Some(keys)) => lanes(simd, values, keys, &mut first, &mut last),
                    _ => {
                        let (mut padded, mut of_padded) = ([0.0; LANES], [0; LANES]);
                        padded[..values.len()].copy_from_slice(values);
                        lanes(simd, &padded, &mut of_padded, &mut first, &mut last);
                        keys.copy_from_slice(&of_padded[..values.len()]);
                    }
                }
                let mut wrong = last.simd_gt(<$type>::NEG_INFINITY.key());
                for first in first {
                    wrong |= first.simd_lt(<$type>::INFINITY.key());
                }
                if wrong.any_true() {
                    return None;
                }
                let mut all = [0; LANES];
                for (all, least) in all.as_chunks_mut().0.iter_mut().zip(least) {
                    least.store_array(all);
                }
                Some(all)
            }
        }
    )*};
}
floats! {
    f32, i32, f32x16, i32x16 by 16, 12_582_912.0; // 1.5 · 2²³
    f64, i64, f64x8, i64x8 by 8, 6_755_399_441_055_744.0; // 1.5 · 2⁵²
}

macro_rules! halves {
    ($($type:ty),*) => {$(
        impl ArrayNumber for $type {
            type Key = i32;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            #[inline(always)]
            fn small(self) -> i32 {
                self.to_f32().small()
            }

            #[inline(always)]
            fn key(self) -> i32 {
                self.to_f32().key()
            }
        }
    )*};
}
halves!(F16, Bf16);

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            (-3i8).key() > 2i8.key()
                && 0u64.key() > u64::MAX.key()
                && i32::MIN.key() > i32::MAX.key()
        );
    }

    /// Floats whose codes are found in their bits have those that their integers have, and only if
    /// they are integers in the range.
    #[test]
    fn floats_have_the_codes_and_the_extent_of_their_integers() {
        let mut numbers: Vec<f32> = (-600..=600).map(|at| at as f32 / 2.0).collect();
        let near = |number: f32| [number.next_down(), number, number.next_up()];
        numbers.extend(
            [-1.0, 0.0, 1.0, 15.0, 252.0, 8_388_608.0, 12_582_912.0, -4_194_304.0]
                .into_iter()
                .flat_map(near),
        );
        numbers.extend([-0.0, 1e-40, 255.9, 65_536.0, 1_048_576.0, 1_048_577.0, 1e9, -1e9, 1e38]);
        numbers.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
        for most in [-1, 0, 3, 15, 252] {
            for &number in &numbers {
                let small = number.small();
                let code =
                    (small as u8).wrapping_add(FIRST_GRADE).wrapping_sub(u8::from(small < 0));
                let expected = (-1..=most).contains(&small).then_some(code);
                let code = |(code, refused): (u8, bool)| (!refused).then_some(code);
                let found = [number.shifted(most), f64::from(number).shifted(most)].map(code);
                assert_eq!(found, [expected; 2], "{number} of {most}");
            }
        }
        // One number among others that are small, wherever it stands.
        for &number in &numbers {
            let small = number.small();
            for (length, at) in [(2, 0), (15, 14), (16, 3), (40, 39), (40, 20)] {
                let mut values: Vec<f32> = (0..length).map(|at| [-1.0, 7.0][at % 2]).collect();
                values[at] = number;
                let (least, most) = f32::extent(&values);
                let wide: Vec<f64> = values.iter().map(|&number| number.into()).collect();
                assert_eq!(f64::extent(&wide), (least, most), "{number}");
                if small == NOT_SMALL {
                    assert!(least < -1, "{number} at {at} of {length}");
                } else if length > 2 {
                    assert_eq!((least, most), (-1, small.max(7)), "{number} at {at} of {length}");
                }
            }
        }
        assert_eq!((f32::extent(&[]), f64::extent(&[])), ((0, -1), (0, -1)));
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
