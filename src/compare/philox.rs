//! Random numbers by counter, without a state: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011,
//! "Parallel random numbers: as easy as 1, 2, 3").
//!
//! Four words are a function of a key and a counter. So the random words of a draw for a query
//! follow from the seed, the query's id and the number of the draw alone: threads, shards, the
//! order of queries and the draws before it change nothing.
//!
//! ```text
//! counter   [ query's hash, low | high | number | purpose ]      key  [ seed, low | high ]
//! number    which block of draws (signs: 128 draws a block; weights: 4) or which draw (labels)
//! ```
//!
//! Philox is a bijection of the counter under each key: a round multiplies two of the words, keeps
//! the low halves, and mixes the high halves into the two remaining words. Each round can be
//! undone. So any two counters of a seed have different words by construction. Two queries share
//! their signs only if their 64-bit hashes are equal, with a chance of n²/2⁶⁵ ≈ 3·10⁻⁸ among a
//! million queries.
//!
//! A generator with a state would tie a query's signs to the number of words drawn before. The
//! signs would then depend on the order of queries, the shard and the thread. Signs without a state
//! also let shards of a comparison merge: each shard sums its own queries under the very draws of a
//! single pass.
//!
//! A block is twenty multiplications of 32 × 32 bits, without branches, memory or a dependence on
//! the block before. So the compiler puts the blocks of consecutive numbers into the lanes of
//! vectors (`blocks`).

use xxhash_rust::xxh3::xxh3_64;

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// The numbers that are added to the key after each round: the golden ratio and √3 − 1.
const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
// The authors' default: seven rounds already pass their tests, and three are a margin.
const ROUNDS: usize = 10;

/// The purposes of words, as the last word of the counter.
pub mod purpose {
    /// Signs of differences, 128 draws in four words.
    pub const SIGNS: u32 = 0;
    /// Weights of queries, four resamples in four words.
    pub const WEIGHTS: u32 = 1;
    /// Draws of queries, four in four words.
    pub const DRAWS: u32 = 3;
    /// Returns the purpose of words that permute labels, four swaps of one draw in four words.
    pub fn labels(four: usize) -> u32 {
        // The lowest byte is 2, and the upper bytes number the group of four swaps. So no count of
        // runs reaches the purposes above.
        2 + 256 * four as u32
    }
}

/// Returns the hash of a query id, which selects the random words of the query.
pub fn query_hash(id: &[u8]) -> u64 {
    xxh3_64(id)
}

/// The counter-based random generator Philox4x32-10 under the key of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Philox {
    key: [u32; 2],
}

impl Philox {
    /// Makes the random generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32] }
    }

    /// Returns the four random words of a counter of four words.
    #[inline(always)]
    pub fn block(self, mut counter: [u32; 4]) -> [u32; 4] {
        let mut key = self.key;
        for _ in 0..ROUNDS {
            let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
            let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
            counter = [
                (second >> 32) as u32 ^ counter[1] ^ key[0],
                second as u32,
                (first >> 32) as u32 ^ counter[3] ^ key[1],
                first as u32,
            ];
            // A Weyl sequence, which wraps on purpose.
            key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
        }
        counter
    }

    /// Returns the random words of a query for `N` consecutive numbers of draws from `first` on:
    /// `[word of four][number]`.
    #[inline(always)]
    pub fn blocks<const N: usize>(self, query: u64, first: u32, purpose: u32) -> [[u32; N]; 4] {
        let mut words = [[0; N]; 4];
        for (at, number) in (0..N as u32).map(|at| first.wrapping_add(at)).enumerate() {
            let block = self.block([query as u32, (query >> 32) as u32, number, purpose]);
            (0..4).for_each(|word| words[word][at] = block[word]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::examples::SEED;

    fn block(key: [u32; 2], counter: [u32; 4]) -> [u32; 4] {
        Philox { key }.block(counter)
    }

    /// The known answers that come with Random123.
    #[test]
    fn known_answers() {
        assert_eq!(block([0; 2], [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = u32::MAX;
        assert_eq!(
            block([ones; 2], [ones; 4]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(
            block([0xa409_3822, 0x299f_31d0], pi),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn words_of_two_queries() {
        assert_eq!(query_hash(b"q1"), 0xbb3d_b58d_2c6b_ab0d);
        assert_eq!(query_hash(b"q2"), 0xbec8_0434_3a08_47c0);
        let words = |id| {
            Philox::new(SEED).blocks::<1>(query_hash(id), 0, purpose::SIGNS).map(|words| words[0])
        };
        assert_eq!(words(b"q1"), [0x75fa_f1bd, 0x8815_de75, 0x3784_fac5, 0x6594_0cb0]);
        assert_eq!(words(b"q2"), [0x1bed_d271, 0x7d13_75cf, 0x6c2f_009b, 0x76d3_6321]);
        let first = words(b"q1")[0];
        let signs: String =
            (0..16).map(|bit| if first >> bit & 1 == 1 { '-' } else { '+' }).collect();
        assert_eq!(signs, "-+----+--+++----");
    }

    /// Many numbers at a time are the same blocks, also where the counter's word wraps around.
    #[test]
    fn blocks_are_blocks() {
        let random = Philox::new(0x0123_4567_89ab_cdef);
        for first in [0, 5, u32::MAX - 3] {
            let words = random.blocks::<16>(0xfedc_ba98_7654_3210, first, 7);
            for at in 0..16 {
                let counter = [0x7654_3210, 0xfedc_ba98, first.wrapping_add(at as u32), 7];
                assert_eq!(words.map(|words| words[at]), random.block(counter));
            }
        }
    }
}
