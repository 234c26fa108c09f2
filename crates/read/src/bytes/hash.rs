//! Hashes of ids under a secret seed: without knowing the seed, an attacker cannot choose ids that
//! collide.
//!
//! No result depends on a hash; the fingerprints that are results are made elsewhere, without a
//! seed.
//!
//! Why a seed: a docno comes from whoever wrote the file. With a hash that everybody can compute, a
//! few thousand ids of one slot make every table a list that is walked from end to end, quadratic
//! in their number (the tests of the tables count the steps). A seed that is drawn for each set of
//! judgments is not known when the file is written. Why a hash of our own for short ids: most have
//! 16 bytes or fewer, and two multiplications of 64 by 64 bits, each folded to the exclusive or of
//! its halves as in wyhash, are all that they take.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::id_prefix::IdPrefix;

/// A secret seed for the hashes of ids: two odd multipliers. A product loses its factor only if the
/// factor is 0 as a whole, so no part of an id can hide another part.
#[derive(Debug, Clone, Copy)]
pub struct Seed {
    pub(super) first: u64,
    last: u64,
}

impl Seed {
    /// Makes a random, secret seed for the hashes of ids.
    pub fn random() -> Self {
        let state = RandomState::new();
        Seed::new(state.hash_one(0), state.hash_one(1))
    }

    /// Makes the seed for the hashes of ids from two given numbers.
    pub const fn new(first: u64, last: u64) -> Self {
        Seed { first: first | 1, last: last | 1 }
    }

    /// Returns the hash of the id `text[start..end]` under the seed. Ids of up to 16 bytes take two
    /// multiplications. The hash depends on nothing else in the text.
    #[inline(always)]
    pub fn hash(self, text: &[u8], start: usize, end: usize) -> u64 {
        let length = end - start;
        if length > IdPrefix::ALL {
            return xxh3_64_with_seed(&text[start..end], self.first);
        }
        let brief = IdPrefix::new(text, start, end);
        let first = folded(brief.first, self.first);
        // The length tells `a` from `a\0`: both ids have equal first eight bytes.
        folded(first ^ brief.last ^ (length as u64) << 56, self.last)
    }
}

/// Mixes the bits of an id's hash, for a hash table that is searched from slot to slot. Consecutive
/// numbers as ids have hashes at equal steps under a multiplication alone, and with a few seeds
/// these would lie in long rows of slots.
#[inline(always)]
pub fn mix(hash: u64) -> u64 {
    folded(hash, 0x9e37_79b9_7f4a_7c15)
}

/// Multiplies two 64-bit numbers, and combines both halves of the product by exclusive or.
#[inline(always)]
pub(super) fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::bytes::known_seeds::{KNOWN, OTHER, colliding};

    #[test]
    fn ids_that_collide_under_one_seed_do_not_under_another() {
        let ids: Vec<[u8; 16]> = colliding(KNOWN).take(1000).collect();
        let distinct = |seed: Seed| {
            let hashes: HashSet<u64> = ids.iter().map(|id| seed.hash(id, 0, 16)).collect();
            hashes.len()
        };
        assert_eq!((distinct(KNOWN), distinct(OTHER)), (1, ids.len()));
        assert_eq!(distinct(Seed::random()), ids.len());
        let long = |seed: Seed| seed.hash(&[b'x'; 300], 0, 300);
        assert_ne!(long(KNOWN), long(OTHER));
        assert_ne!(Seed::random().first, Seed::random().first);
    }

    /// The hash depends on the varied part, whatever the other part is: the first eight bytes, the
    /// last eight, or the length.
    #[test]
    fn no_part_of_an_id_hides_the_others() {
        let parts =
            [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0x9e37_79b9_7f4a_7c14];
        for seed in [KNOWN, OTHER, Seed::new(0, 0)] {
            for fixed in parts {
                let id = |first: u64, last: u64| [first.to_le_bytes(), last.to_le_bytes()].concat();
                let hashes = |id: &dyn Fn(u64) -> Vec<u8>| {
                    let all = (0..1000).map(|n| seed.hash(&id(n << 7), 0, 16));
                    all.collect::<HashSet<u64>>().len()
                };
                assert_eq!(hashes(&|n| id(fixed, n)), 1000, "{seed:?} {fixed:x}");
                assert_eq!(hashes(&|n| id(n, fixed)), 1000, "{seed:?} {fixed:x}");
            }
        }
        let zeros = [0; 16];
        let lengths = (0..=16).map(|length| KNOWN.hash(&zeros, 0, length));
        assert_eq!(lengths.collect::<HashSet<u64>>().len(), 17);
    }

    #[test]
    fn a_hash_depends_on_the_id_alone() {
        let text: Vec<u8> = (0..100).collect();
        for start in 0..60 {
            for length in 0..40 {
                let alone = &text[start..start + length];
                assert_eq!(KNOWN.hash(&text, start, start + length), KNOWN.hash(alone, 0, length));
            }
        }
        assert_ne!(KNOWN.hash(b"a", 0, 1), KNOWN.hash(b"a\0", 0, 2));
    }
}
