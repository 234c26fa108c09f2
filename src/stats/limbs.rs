//! Wide integers in limbs of 32 bits, as accumulators of many small integers.
//!
//! A carry after every addition would be a chain through all limbs. Instead a limb is an i64 with
//! 32 bits of its own. The upper 31 bits collect the carries of 2³⁰ terms before a carry must be
//! passed on. So a term touches only three of the 69 limbs.
//!
//! Most sums touch eight limbs in the middle, 64 bytes in place of 552. The eight limbs are kept
//! inline, and the first term outside allocates all limbs.

use super::fixed::Fixed;

/// The bits of a limb. A term touches three limbs, and a long one five; the rest of each i64 holds
/// carries that are not yet passed on.
pub const LIMB: usize = 32;
/// The number of terms after which the carries are passed on, long before an i64 could overflow.
const TERMS: u32 = 1 << 30;

/// A wide integer of `ALL` limbs of 32 bits, as an accumulator of small integers. As long as all
/// terms fit into the `FEW` limbs from `FIRST` on, the integer stores only these limbs.
#[derive(Debug, Clone)]
pub struct Limbs<const ALL: usize, const FIRST: usize, const FEW: usize> {
    /// The limbs from `FIRST` on, alone in use as long as all terms fit into these limbs.
    few: [i64; FEW],
    /// All limbs, from the first term outside of `few` on; then `few` is 0.
    all: Option<Box<[i64; ALL]>>,
    /// The number of terms since the carries were passed on.
    terms: u32,
}

impl<const ALL: usize, const FIRST: usize, const FEW: usize> Limbs<ALL, FIRST, FEW> {
    /// Adds `integer · 2^position` to this wide integer.
    #[inline]
    pub fn add(&mut self, integer: i64, position: usize) {
        // 64 bits, shifted by 31 at most, are 95: three limbs.
        let shifted = u128::from(integer.unsigned_abs()) << (position % LIMB);
        for (at, limb) in self.from(position / LIMB, 3).iter_mut().enumerate() {
            *limb += integer.signum() * i64::from((shifted >> (LIMB * at)) as u32);
        }
        self.added(1);
    }

    /// Adds `integer · 2^position` to this wide integer, for an integer of at most 128 bits. The
    /// addition touches five limbs, the middle limb twice.
    #[inline]
    pub fn add_long(&mut self, integer: u128, position: usize) {
        let [low, high] =
            [integer & u128::from(u64::MAX), integer >> 64].map(|half| half << (position % LIMB));
        let limbs = self.from(position / LIMB, 5);
        // The high half begins 64 bits, which are two limbs, above the low one.
        for at in 0..3 {
            limbs[at] += i64::from((low >> (LIMB * at)) as u32);
            limbs[at + 2] += i64::from((high >> (LIMB * at)) as u32);
        }
        // The middle limb takes two parts, so it fills twice as fast as by `add`.
        self.added(2);
    }

    /// Counts `terms` added terms, and passes the carries of the limbs on if the terms are many.
    #[inline]
    fn added(&mut self, terms: u32) {
        self.terms += terms;
        if self.terms >= TERMS {
            self.carry();
        }
    }

    /// Returns the `limbs` limbs of the wide integer from limb `first` on, to be added to.
    #[inline]
    fn from(&mut self, first: usize, limbs: usize) -> &mut [i64] {
        match first.checked_sub(FIRST) {
            Some(first) if first + limbs <= FEW && self.all.is_none() => {
                &mut self.few[first..][..limbs]
            }
            _ => &mut self.widen()[first..][..limbs],
        }
    }

    /// Returns all limbs of the wide integer, which the first call allocates.
    #[cold]
    fn widen(&mut self) -> &mut [i64; ALL] {
        self.all.get_or_insert_with(|| {
            let mut all = Box::new([0; ALL]);
            all[FIRST..][..FEW].copy_from_slice(&std::mem::replace(&mut self.few, [0; FEW]));
            all
        })
    }

    /// Returns whether the wide integer has needed more than its few inline limbs.
    #[cfg(test)]
    pub fn is_wide(&self) -> bool {
        self.all.is_some()
    }

    /// Adds another wide integer.
    pub fn merge(&mut self, other: &Self) {
        // Both are carried first, so that a sum of two limbs is below 2³³ and counts as two terms.
        let mut other = other.clone();
        other.carry();
        self.carry();
        match &other.all {
            None if self.all.is_none() => {
                self.few.iter_mut().zip(&other.few).for_each(|(limb, more)| *limb += more);
            }
            _ => self.widen().iter_mut().zip(other.widen()).for_each(|(limb, more)| *limb += *more),
        }
        self.terms = 2;
    }

    /// Passes the carries of each limb on to the next limb.
    fn carry(&mut self) {
        self.terms = 1;
        match &mut self.all {
            Some(all) => carry(&mut all[..]),
            None => {
                carry(&mut self.few);
                // The next limb takes over, long before this one is full.
                if self.few[FEW - 1].unsigned_abs() >> LIMB != 0 {
                    carry(&mut self.widen()[..]);
                }
            }
        }
    }

    /// Returns whether the wide integer is negative, and the limbs of its absolute value, all in
    /// 0..2³².
    pub fn magnitude(&self) -> (bool, [i64; ALL]) {
        let mut limbs = match &self.all {
            Some(all) => **all,
            None => {
                let mut limbs = [0; ALL];
                limbs[FIRST..][..FEW].copy_from_slice(&self.few);
                limbs
            }
        };
        carry(&mut limbs);
        let negative = limbs[ALL - 1] < 0;
        if negative {
            // Each limb changes its sign by itself, and carries bring all back into 0..2³².
            limbs.iter_mut().for_each(|limb| *limb = -*limb);
            carry(&mut limbs);
        }
        (negative, limbs)
    }

    /// Returns the exact number that this wide integer is in units of 2^−`smallest`.
    pub fn to_fixed(&self, smallest: usize) -> Fixed {
        let (negative, limbs) = self.magnitude();
        let bytes = limbs.iter().flat_map(|limb| limb.to_le_bytes().into_iter().take(LIMB / 8));
        Fixed::reduced(negative, -(smallest as i32), bytes.collect())
    }

    /// Returns the wide integer that counts units of 2^−`smallest` of `fixed`; `None` if there is
    /// none, or none of at most `bits` bits.
    pub fn from_fixed(fixed: &Fixed, smallest: usize, bits: usize) -> Option<Self> {
        let position = usize::try_from(i64::from(fixed.exponent()) + smallest as i64).ok()?;
        // The first condition keeps the subtraction of the second from wrapping.
        if position > bits || fixed.bits() > (bits - position) as u64 {
            return None;
        }
        let mut limbs = [0i64; ALL];
        for (at, &byte) in fixed.magnitude().iter().enumerate() {
            let position = position + 8 * at;
            limbs[position / LIMB] += i64::from(byte) << (position % LIMB);
        }
        carry(&mut limbs);
        let is_few = limbs[..FIRST].iter().chain(&limbs[FIRST + FEW..]).all(|&limb| limb == 0);
        if fixed.is_negative() {
            limbs.iter_mut().for_each(|limb| *limb = -*limb);
        }
        let mut integer = Self { terms: 1, ..Self::default() };
        if is_few {
            integer.few.copy_from_slice(&limbs[FIRST..][..FEW]);
        } else {
            integer.all = Some(Box::new(limbs));
        }
        Some(integer)
    }
}

impl<const ALL: usize, const FIRST: usize, const FEW: usize> Default for Limbs<ALL, FIRST, FEW> {
    fn default() -> Self {
        Limbs { few: [0; FEW], all: None, terms: 0 }
    }
}

/// Compares integers with all carries passed on, because equal integers may hold different carries.
impl<const ALL: usize, const FIRST: usize, const FEW: usize> PartialEq for Limbs<ALL, FIRST, FEW> {
    fn eq(&self, other: &Self) -> bool {
        self.magnitude() == other.magnitude()
    }
}

/// Passes the carries of limbs on, so that every limb but the last is in 0..2³².
fn carry(limbs: &mut [i64]) {
    let Some((last, limbs)) = limbs.split_last_mut() else { return };
    let mut carry = 0;
    for limb in limbs {
        *limb += carry;
        carry = *limb >> LIMB;
        *limb &= (1 << LIMB) - 1;
    }
    *last += carry;
}

#[cfg(test)]
mod tests {
    use super::*;

    type Small = Limbs<12, 2, 7>;

    #[test]
    fn carries_are_passed_on_before_limbs_are_full() {
        let mut limbs = Small { terms: TERMS - 2, ..Small::default() };
        limbs.add(i64::MIN, 70);
        assert_eq!(limbs.terms, TERMS - 1);
        limbs.add_long(u128::MAX, 70);
        assert_eq!((limbs.terms, limbs.is_wide()), (1, false));
        assert!(limbs.few.iter().all(|&limb| limb >> LIMB == 0));
    }

    #[test]
    fn long_integers_are_the_sum_of_their_halves() {
        for integer in [
            1,
            u128::MAX,
            0x0123_4567_89ab_cdef_fedc_ba98_7654_3210,
            1 << 127,
            u128::from(u64::MAX),
        ] {
            for position in [0, 31, 64, 70, 127, 150, 191] {
                let (mut long, mut halves) = (Small::default(), Small::default());
                long.add_long(integer, position);
                for part in 0..4 {
                    halves.add(
                        (integer >> (LIMB * part)) as i64 & 0xffff_ffff,
                        position + LIMB * part,
                    );
                }
                assert!(long == halves, "{integer:x} · 2^{position}");
                halves.add(1, position);
                assert!(long != halves, "{integer:x} · 2^{position}");
            }
        }
    }
}
