//! Known hash seeds, and ids that collide under a known seed, for tests of hash tables. Tests of
//! further packages need them, so they are no part of a module of tests.

use super::hash::{Seed, folded};

/// A seed that is known.
pub const KNOWN: Seed = Seed::new(0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
/// Another known seed.
pub const OTHER: Seed = Seed::new(0x2545_f491_4f6c_dd1d, 0xbf58_476d_1ce4_e5b9);

/// Returns distinct ids of 16 bytes, without blanks, whose hashes under a known seed are all the
/// same. The last eight bytes undo the effect of the first eight.
pub fn colliding(seed: Seed) -> impl Iterator<Item = [u8; 16]> {
    (0u64..).filter_map(move |n| {
        let first = u64::from_le_bytes(*format!("{n:08x}").as_bytes().first_chunk().unwrap());
        let id: [u8; 16] = bytemuck::cast([first, folded(first, seed.first)].map(u64::to_le));
        (!id.iter().any(|&byte| matches!(byte, b' ' | b'\t'..=b'\r' | b'#'))).then_some(id)
    })
}
