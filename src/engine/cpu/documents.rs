//! The documents of single rankings of a tile that are in a set, such as the judged ones, as sparse lists.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};

use crate::label::{Above, Document, NARROW_LANES, Tile};

/// Tiles deeper than this are gathered a lane at a time, so that the lists stay small beside the tile.
const DEEP: usize = 1 << 16;

/// The documents of some lanes that are in a set, in memory that is used again from tile to tile.
#[derive(Debug, Default)]
pub struct Documents {
    lanes: Range<usize>,
    /// By lane, in rank order.
    found: Vec<Vec<Document>>,
}

impl Documents {
    /// Forgets all: another tile follows, of which any lane may be asked for first.
    pub fn forget(&mut self) {
        self.lanes = 0..0;
    }

    /// The documents of a lane of a tile that are in a set, in rank order. As they are gathered for some lanes together, lanes of a
    /// tile are asked for in their order; the first one begins a tile, as does what follows [`Documents::forget`].
    pub fn of(&mut self, tile: Tile<'_>, lane: usize, set: Above) -> &[Document] {
        if lane == 0 || !self.lanes.contains(&lane) {
            let together = if tile.depth > DEEP { 1 } else { NARROW_LANES };
            self.lanes = lane / together * together..(lane / together + 1) * together;
            self.gather(Level::new(), tile, set);
        }
        &self.found[lane - self.lanes.start]
    }

    /// Gathers the documents of the lanes.
    fn gather(&mut self, level: Level, tile: Tile<'_>, set: Above) {
        self.found.resize_with(NARROW_LANES, Vec::new);
        self.found.iter_mut().for_each(Vec::clear);
        let (lanes, found) = (self.lanes.clone(), &mut self.found[..]);
        dispatch!(level, simd => gather(simd, tile, lanes, set, found));
    }
}

/// Lists the documents of lanes within one vector.
#[inline(always)]
fn gather<S: Simd>(simd: S, tile: Tile<'_>, lanes: Range<usize>, set: Above, found: &mut [Vec<Document>]) {
    const VECTOR: usize = 4 * NARROW_LANES;
    let threshold = u8x64::splat(simd, set.0);
    let (strips, strip, first) =
        (tile.lanes / NARROW_LANES, lanes.start / NARROW_LANES, lanes.start % NARROW_LANES);
    let inside = (u64::MAX >> (VECTOR - 4 * lanes.len())) << (4 * first);
    for (quad, labels) in tile.labels.chunks_exact(VECTOR).skip(strip).step_by(strips).enumerate() {
        let mut mask = u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask() & inside;
        while mask != 0 {
            let place = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let rank = (quad * 4 + place % 4) as u32;
            found[place / 4 - first].push(Document { rank, code: labels[place] });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::Cpu;

    /// At every level, in tiles of both widths, and whether lanes are gathered one by one or together.
    #[test]
    fn documents_are_those_of_the_set() {
        let mut state = 7u32;
        let mut label = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 24 < 200 { (state >> 20 & 3) as u8 } else { (state >> 16) as u8 }
        };
        for (lanes, depth) in [(16, 4), (64, 12), (64, 400), (16, 1000), (64, 0)] {
            let labels: Vec<u8> = std::iter::repeat_with(&mut label).take(lanes * depth).collect();
            let tile = Tile { labels: &labels, lanes, depth };
            for set in [Above::RETRIEVED, Above::JUDGED, Above(17), Above(255)] {
                let expected = |lane: usize| -> Vec<Document> {
                    let documents = (0..).zip(tile.lane(lane)).filter(|&(_, code)| set.contains(code));
                    documents.map(|(rank, code)| Document { rank, code }).collect()
                };
                let mut documents = Documents::default();
                for lane in 0..lanes {
                    assert_eq!(documents.of(tile, lane, set), expected(lane), "lane {lane}");
                }
                for level in Cpu::levels().iter().map(Cpu::level) {
                    for first in (0..lanes).step_by(5) {
                        let mut documents = Documents { lanes: first..first + 1, ..Documents::default() };
                        documents.gather(level, tile, set);
                        assert_eq!(documents.found[0], expected(first), "{level:?}, lane {first} alone");
                        documents.lanes = first / 16 * 16..(first / 16 + 1) * 16;
                        documents.gather(level, tile, set);
                        assert_eq!(documents.found[first % 16], expected(first), "{level:?}, lane {first}");
                    }
                }
            }
        }
    }
}
