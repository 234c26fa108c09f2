//! The rankings of a label tile, unpacked so that the labels of a ranking are contiguous.

use super::{QUAD, Tile};

/// The number of groups of ranks moved together, a cache line of a ranking.
const TOGETHER: usize = 64 / QUAD;

/// A buffer for the rankings of a label tile, in which the labels of each ranking are contiguous.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// `[lane][rank]`, as deep as the tile.
    labels: Vec<u8>,
    depth: usize,
}

impl Unpacked {
    /// Copies the rankings of a label tile into the buffer, each one contiguous.
    pub fn take(&mut self, tile: Tile<'_>) {
        self.depth = tile.depth;
        self.labels.resize(tile.lanes * tile.depth, 0);
        let groups = tile.depth / QUAD;
        let (from, _) = tile.labels.as_chunks::<QUAD>();
        let (to, _) = self.labels.as_chunks_mut::<QUAD>();
        for first in (0..groups).step_by(TOGETHER) {
            // A cache line of a tile has 16 lanes: of a deep tile, one lane after the other would
            // fetch each line 16 times.
            let together = first..groups.min(first + TOGETHER);
            for (lane, to) in to.chunks_exact_mut(groups).enumerate() {
                let from = from[first * tile.lanes..].iter().skip(lane).step_by(tile.lanes);
                to[together.clone()].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// Returns the labels of one unpacked ranking in rank order, padding included.
    pub fn lane(&self, lane: usize) -> &[u8] {
        &self.labels[lane * self.depth..][..self.depth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rankings_are_the_lanes_of_their_tile() {
        let mut unpacked = Unpacked::default();
        for (lanes, depth) in [(64, 200), (16, 64), (64, 4), (16, 0), (16, 1028), (64, 68)] {
            let labels: Vec<u8> = (0..lanes * depth).map(|at| ((at * 167) >> 3) as u8).collect();
            let tile = Tile { labels: &labels, lanes, depth };
            unpacked.take(tile);
            for lane in 0..lanes {
                assert!(
                    tile.lane(lane).eq(unpacked.lane(lane).iter().copied()),
                    "lane {lane} of {lanes} × {depth}"
                );
            }
        }
    }
}
