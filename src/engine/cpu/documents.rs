//! Sparse lists of the documents of a set, such as the judged documents, for the rankings of a
//! tile.
//!
//! The list of one lane needs only four labels of each vector, but every vector must be read.
//! Sixteen lanes share their vectors, so one pass makes the lists of all sixteen. Deep tiles are an
//! exception, to keep the lists small beside the tile.
//!
//! The pass takes 64 vectors at a time. All 64 are compared without a branch, and one bit marks
//! each vector with a document; then only marked vectors are visited. A branch a vector would be
//! mispredicted wherever documents are rare but not absent.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};

use crate::matrix::{CodesAbove, Document, NARROW_LANES, Tile};

/// The depth above which a tile is gathered one lane at a time, to keep the lists small beside the
/// tile.
const DEEP: usize = 1 << 16;

/// Rank-ordered lists of the documents in a set of codes, for some rankings of a tile, in reused
/// memory.
#[derive(Debug, Default)]
pub struct Documents {
    lanes: Range<usize>,
    /// The documents by lane, in rank order.
    found: Vec<Vec<Document>>,
}

impl Documents {
    /// Discards all lists of documents before another tile of rankings, of which any lane may be
    /// asked for first.
    pub fn forget(&mut self) {
        self.lanes = 0..0;
    }

    /// Returns the documents of one lane (ranking) of a tile that are in a set, in rank order. They
    /// are gathered for some lanes together, so the lanes of a tile must be asked for in order. The
    /// first lane begins a tile, and so does the first call after [`Documents::forget`].
    pub fn lane(&mut self, tile: Tile<'_>, lane: usize, set: CodesAbove) -> &[Document] {
        // Lane 0 always gathers anew, as it is the sign of another tile.
        if lane == 0 || !self.lanes.contains(&lane) {
            let together = if tile.depth > DEEP { 1 } else { NARROW_LANES };
            self.lanes = lane / together * together..(lane / together + 1) * together;
            self.gather(Level::new(), tile, strip(&self.lanes), set);
        }
        &self.found[lane % NARROW_LANES]
    }

    /// Lists the documents of some of the sixteen lanes (rankings) from `first` on, given as bits,
    /// and calls `visitor` with each list.
    pub fn each_lane(
        &mut self,
        tile: Tile<'_>,
        first: usize,
        lanes: u16,
        set: CodesAbove,
        mut visitor: impl FnMut(usize, &[Document]),
    ) {
        let deep = tile.depth > DEEP;
        let mut left = lanes;
        while left != 0 {
            // The lowest lane.
            let one = left & left.wrapping_neg();
            let together = if deep { one } else { left };
            left &= !together;
            self.forget();
            self.gather(Level::new(), tile, (first / NARROW_LANES, together), set);
            let each = self.found.iter().enumerate().filter(|(lane, _)| together >> lane & 1 == 1);
            each.for_each(|(lane, found)| visitor(first + lane, found));
        }
    }

    /// Fills the lists with the documents of some lanes of a tile that are in a set.
    fn gather(&mut self, level: Level, tile: Tile<'_>, lanes: (usize, u16), set: CodesAbove) {
        self.found.resize_with(NARROW_LANES, Vec::new);
        self.found.iter_mut().for_each(Vec::clear);
        let found = &mut self.found[..];
        each_document(level, tile, lanes, set, |lane, document| found[lane].push(document));
    }
}

/// Calls `visit` with every document of some lanes (rankings) of a tile that is in a set, in rank
/// order within each lane. The lanes are given as the number of their sixteen and as bits; `visit`
/// gets the index of a lane among the sixteen.
pub fn each_document(
    level: Level,
    tile: Tile<'_>,
    lanes: (usize, u16),
    set: CodesAbove,
    visit: impl FnMut(usize, Document),
) {
    let (strip, lanes) = lanes;
    dispatch!(level, simd => visit_each(simd, tile, strip, lanes, set, visit));
}

/// Converts a range of lanes of a tile to the index of their strip of sixteen lanes and a bit mask
/// within the strip.
fn strip(lanes: &Range<usize>) -> (usize, u16) {
    // Lanes are never empty, so the shift stays below the 16 bits of the mask.
    let bits = u16::MAX >> (NARROW_LANES - lanes.len());
    (lanes.start / NARROW_LANES, bits << (lanes.start % NARROW_LANES))
}

#[inline(always)]
fn visit_each<S: Simd>(
    simd: S,
    tile: Tile<'_>,
    strip: usize,
    lanes: u16,
    set: CodesAbove,
    mut visit: impl FnMut(usize, Document),
) {
    const VECTOR: usize = 4 * NARROW_LANES;
    let threshold = u8x64::splat(simd, set.0);
    const TOGETHER: usize = 64;
    let wanted = (0..NARROW_LANES).filter(|lane| lanes >> lane & 1 == 1);
    let inside = wanted.fold(0u64, |all, lane| all | 0xF << (4 * lane));
    let row = 4 * tile.lanes;
    let mut masks = [0; TOGETHER];
    for (part, rows) in tile.labels.chunks(TOGETHER * row).enumerate() {
        let mut some = 0u64;
        for (at, (row, mask)) in rows.chunks_exact(row).zip(&mut masks).enumerate() {
            let labels = &row[strip * VECTOR..][..VECTOR];
            *mask = u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask() & inside;
            some |= u64::from(*mask != 0) << at;
        }
        while some != 0 {
            let at = some.trailing_zeros() as usize;
            some &= some - 1;
            let (labels, first) =
                (&rows[at * row + strip * VECTOR..][..VECTOR], (part * TOGETHER + at) * 4);
            let mut mask = masks[at];
            while mask != 0 {
                let place = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                visit(
                    place / 4,
                    Document { rank: (first + place % 4) as u32, code: labels[place] },
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::Cpu;

    /// Documents are those of the set at every level, in tiles of both widths, and whether lanes
    /// are gathered one by one or together.
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
            for set in [CodesAbove::RETRIEVED, CodesAbove::JUDGED, CodesAbove(17), CodesAbove(255)]
            {
                let expected = |lane: usize| -> Vec<Document> {
                    let documents =
                        (0..).zip(tile.lane(lane)).filter(|&(_, code)| set.contains(code));
                    documents.map(|(rank, code)| Document { rank, code }).collect()
                };
                let mut documents = Documents::default();
                for lane in 0..lanes {
                    assert_eq!(documents.lane(tile, lane, set), expected(lane), "lane {lane}");
                }
                for level in Cpu::levels().iter().map(Cpu::level) {
                    for first in (0..lanes).step_by(5) {
                        let mut documents = Documents::default();
                        documents.gather(level, tile, strip(&(first..first + 1)), set);
                        let found = &documents.found;
                        assert_eq!(
                            found[first % 16],
                            expected(first),
                            "{level:?}, lane {first} alone"
                        );
                        assert!((0..16).all(|lane| lane == first % 16 || found[lane].is_empty()));
                        documents.gather(level, tile, (first / 16, u16::MAX), set);
                        assert_eq!(
                            documents.found[first % 16],
                            expected(first),
                            "{level:?}, lane {first}"
                        );
                    }
                }
                for (first, bits) in (0..lanes).step_by(16).zip([0xFFFF, 0x8421, 0, 0x0180]) {
                    let mut visited_lanes = Vec::new();
                    Documents::default().each_lane(tile, first, bits, set, |lane, documents| {
                        assert_eq!(documents, expected(lane), "lane {lane} of {bits:x}");
                        visited_lanes.push(lane);
                    });
                    let expected_lanes =
                        (0..16).filter(|lane| bits >> lane & 1 == 1).map(|lane| first + lane);
                    assert_eq!(visited_lanes, expected_lanes.collect::<Vec<_>>());
                }
            }
        }
    }
}
