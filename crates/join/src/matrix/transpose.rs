//! Transposition of rankings into the lanes of a label tile, by SIMD.
//!
//! A tile interleaves its rankings: it has ranks 0…3 of every lane, then ranks 4…7 of every lane,
//! and so on ([`super::tile`]). Four such labels of one lane are a *quad*, which is moved as one
//! `u32`.
//!
//! Sixteen rankings by 64 ranks are a square of 16 × 16 quads. At first, each of 16 vectors has the
//! 16 quads of one ranking. After the transposition, each vector has one quad of all 16 rankings.
//! Each of four rounds interleaves the eight upper vectors with the eight lower vectors.
//!
//! Why four rounds: a quad's address is four bits of its vector and four bits of its place in the
//! vector, v₃v₂v₁v₀ p₃p₂p₁p₀. Interleaving vector `at` with `at + 8` puts v₃ behind all other bits,
//! v₂v₁v₀p₃ p₂p₁p₀v₃: a rotation by one bit. Four rotations swap both halves of the address: the
//! transposition, in 64 interleavings and without a table of indices.

use fearless_simd::{Level, dispatch, prelude::*, u32x16};

use super::QUAD;

/// The number of lanes of a square, and the number of quads of each lane in the square.
const SIDE: usize = 16;
/// The number of labels of each lane in a square.
const RANKS: usize = SIDE * QUAD;

/// Writes the labels of ranking `i` into lane `i` of a tile, and 0 (past the end) into the rest of
/// the tile. The tile has `lanes` lanes, a multiple of 16; the length of `tile` gives its depth.
pub(crate) fn transpose_into(level: Level, rankings: &[&[u8]], lanes: usize, tile: &mut [u8]) {
    dispatch!(level, simd => place_at(simd, rankings, lanes, tile));
}

#[inline(always)]
fn place_at<S: Simd>(simd: S, rankings: &[&[u8]], lanes: usize, tile: &mut [u8]) {
    for (block, tile) in tile.chunks_mut(RANKS * lanes).enumerate() {
        for first in (0..lanes).step_by(SIDE) {
            let mut square = [u32x16::splat(simd, 0); SIDE];
            for (vector, ranking) in square.iter_mut().zip(rankings.iter().skip(first)) {
                *vector = u32x16::from_slice(simd, &labels(ranking, block * RANKS));
            }
            for _ in 0..SIDE.ilog2() {
                let mut shuffled = square;
                for at in 0..SIDE / 2 {
                    shuffled[2 * at] = square[at].zip_low(square[at + SIDE / 2]);
                    shuffled[2 * at + 1] = square[at].zip_high(square[at + SIDE / 2]);
                }
                square = shuffled;
            }
            for (vector, groups) in square.iter().zip(tile.chunks_exact_mut(lanes * QUAD)) {
                let groups = &mut groups[first * QUAD..][..SIDE * QUAD];
                groups.copy_from_slice(bytemuck::bytes_of(vector.as_array()));
            }
        }
    }
}

/// Returns 64 labels of a ranking from rank `start` on, as 16 quads; a label is 0 where the ranking
/// has ended.
#[inline(always)]
fn labels(ranking: &[u8], start: usize) -> [u32; SIDE] {
    match ranking.get(start..start + RANKS) {
        Some(labels) => bytemuck::pod_read_unaligned(labels),
        None => {
            let mut padded = [0; RANKS];
            let rest = ranking.get(start..).unwrap_or_default();
            padded[..rest.len()].copy_from_slice(rest);
            bytemuck::cast(padded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Tile;
    use crate::test_support::levels;

    /// Compares every byte of a tile with the layout. Bytes without a label are 0, whatever the
    /// tile held before.
    #[test]
    fn labels_lie_in_their_lanes() {
        for (lanes, rows, deepest) in
            [(16, 1, 4), (16, 16, 70), (64, 64, 64), (64, 33, 200), (64, 50, 3), (16, 7, 129)]
        {
            let rankings: Vec<Vec<u8>> = (0..rows)
                .map(|row| {
                    (0..deepest - row * 3 % deepest)
                        .map(|rank| 1 + (row * 31 + rank * 7) as u8 % 250)
                        .collect()
                })
                .collect();
            let depth = usize::next_multiple_of(deepest, QUAD);
            for level in levels() {
                let mut tile = vec![0xee; depth * lanes];
                let borrowed: Vec<&[u8]> = rankings.iter().map(Vec::as_slice).collect();
                transpose_into(level, &borrowed, lanes, &mut tile);
                let tile = Tile { labels: &tile, lanes, depth };
                for lane in 0..lanes {
                    for rank in 0..depth {
                        let expected = rankings.get(lane).and_then(|ranking| ranking.get(rank));
                        let expected = expected.copied().unwrap_or(0);
                        assert_eq!(tile.label(lane, rank), expected, "lane {lane}, rank {rank}");
                    }
                }
            }
        }
    }
}
