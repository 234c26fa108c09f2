//! Tiles: blocks of rankings side by side, so that a vector instruction or a GPU workgroup steps
//! down all rankings of a tile at once.
//!
//! A tile has 64 lanes (16 where a few deep rankings would leave 64 mostly empty); each lane is a
//! row of the matrix. Labels lie as `[rank / 4][lane][rank % 4]`: four consecutive ranks of one
//! lane are one little-endian `u32`, so a GPU thread loads four labels at a time, coalesced, and a
//! 64-byte CPU vector holds sixteen lanes. The depth is that of the tile's deepest row, rounded up
//! to 4; beyond the end of a row there is [`PAST_END`].
//!
//! ```text
//! ranks 0…3     lane 0: abcd   lane 1: abcd   …   lane 63: abcd      256 bytes: four vectors of
//! ranks 4…7     lane 0: efgh   lane 1: efgh   …   lane 63: efgh      sixteen lanes
//! ```
//!
//! **Packing.** Rows are sorted by depth, the deepest first, and cut into tiles in that order. A
//! tile is as deep as its first row, which is hardly deeper than its last: with depths D₁ ≥ D₂ ≥ …
//! of the first rows, all padding by depth is at most Σ 64 (Dₜ − Dₜ₊₁) = 64 D₁ labels, the size of
//! one tile, however many there are. What is left is the rounding to four ranks. One row of a
//! million results among thousands of ten would still cost 64 million labels, so a tile may have 16
//! lanes where that saves 5 %. The order among equal depths is that of rows: the packing is a
//! function of the depths, so a file needs no directory that must be believed, and threads change
//! no byte.
//!
//! 128 rows in a tile were tried: 0.9 of the speed at 0.1 % of relevant documents and 0.6 at 1 %
//! (benches/RESULTS.md).
//!
//! [`PAST_END`]: super::code::PAST_END

use std::ops::Range;

use crate::error::Result;

/// The lanes of a normal tile.
pub const LANES: usize = 64;
/// The lanes of a tile of a few deep rows.
pub const NARROW_LANES: usize = 16;
/// The number of consecutive ranks of a lane that lie together.
pub const QUAD: usize = 4;
/// The deepest row that a tile can hold: rounded up to whole groups, its depth is still a `u32`.
pub const MAX_TILE_DEPTH: u32 = u32::MAX - (QUAD as u32 - 1);

/// A retrieved document of a ranking, as its rank and its label code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// The rank of the document, from 0.
    pub rank: u32,
    /// The label of the document.
    pub code: u8,
}

/// The labels of up to 64 rankings side by side, interleaved by rank.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'a> {
    /// `[rank / 4][lane][rank % 4]`, `lanes * depth` bytes.
    pub labels: &'a [u8],
    /// The number of lanes: 64 or 16.
    pub lanes: usize,
    /// The number of ranks, a multiple of 4.
    pub depth: usize,
}

impl<'a> Tile<'a> {
    /// Returns the label of the ranking in lane `lane` at `rank` (from 0).
    #[inline]
    pub fn label(&self, lane: usize, rank: usize) -> u8 {
        self.labels[self.position(lane, rank)]
    }

    /// Returns the index of a label in the bytes of the tile, by its lane and its rank (from 0).
    #[inline]
    pub fn position(&self, lane: usize, rank: usize) -> usize {
        (rank / QUAD * self.lanes + lane) * QUAD + rank % QUAD
    }

    /// Returns the labels of one ranking of the tile in rank order, padding included.
    pub fn lane(&self, lane: usize) -> impl Iterator<Item = u8> + 'a + use<'a> {
        let tile = *self;
        (0..tile.depth).map(move |rank| tile.label(lane, rank))
    }

    /// Returns the tile with its first `depth` ranks only, a multiple of 4.
    pub fn shallower(&self, depth: usize) -> Tile<'a> {
        debug_assert!(depth.is_multiple_of(QUAD));
        let depth = depth.min(self.depth);
        Self { labels: &self.labels[..depth * self.lanes], depth, ..*self }
    }
}

/// The place of a tile in a label matrix: its byte offset, depth and lanes, and its rows
/// (rankings).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileSpan {
    /// Byte offset of the tile in the tile section, a multiple of 64.
    pub offset: u64,
    /// Depth of the deepest row, rounded up to a multiple of 4.
    pub depth: u32,
    /// The number of lanes: 64 or 16.
    pub lanes: u32,
    /// The first row, as an index into [`Packing::order`].
    pub first: u32,
    /// The number of its rows, 1 to `lanes`.
    pub rows: u32,
}

impl TileSpan {
    /// Returns the size of the label tile in bytes: depth × lanes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.depth) * u64::from(self.lanes)
    }

    /// Returns the byte range of the tile in the labels of all tiles.
    pub(crate) fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.bytes()) as usize
    }

    /// Returns the tile at this place, borrowed from the labels of all tiles.
    pub(crate) fn tile<'a>(&self, labels: &'a [u8]) -> Tile<'a> {
        let (lanes, depth) = (self.lanes as usize, self.depth as usize);
        Tile { labels: &labels[self.range()], lanes, depth }
    }
}

/// The assignment of the rankings of a label matrix to lanes of tiles, the deepest first. The
/// assignment depends on the rows' depths alone, and never on threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packing {
    /// The rows that have a lane, deepest first, then by run and query.
    pub order: Vec<u32>,
    /// The tiles in storage order.
    pub tiles: Vec<TileSpan>,
}

impl Packing {
    /// Assigns rankings of the given depths (numbers of results) to lanes of tiles. Rows of depth 0
    /// take no lane.
    ///
    /// A tile has 16 lanes where four 16-lane tiles would be at least 5 % smaller than one of 64
    /// lanes.
    ///
    /// # Errors
    /// 2³² rows or more, a row deeper than [`MAX_TILE_DEPTH`], or tiles of 2⁶⁴ bytes or more.
    pub fn new(depths: &[u32]) -> Result<Self> {
        let Ok(rows) = u32::try_from(depths.len()) else {
            reject!("{} rankings are 2³² or more", depths.len());
        };
        if let Some(depth) = depths.iter().find(|&&depth| depth > MAX_TILE_DEPTH) {
            reject!("a ranking of {depth} results, more than {MAX_TILE_DEPTH}");
        }
        let mut order: Vec<u32> = (0..rows).filter(|&row| depths[row as usize] > 0).collect();
        // Stable: equal depths stay in the order of rows.
        order.sort_by_key(|&row| std::cmp::Reverse(depths[row as usize]));
        let depth_at =
            |at: usize| u64::from(depths[order[at] as usize]).next_multiple_of(QUAD as u64);
        let (mut tiles, mut first, mut offset) = (Vec::new(), 0, 0u64);
        while first < order.len() {
            let left = order.len() - first;
            let wide = LANES as u64 * depth_at(first);
            // What the next 64 rows take in tiles of 16. The last 48 rows or fewer never get 64
            // lanes.
            let narrow: u64 = (0..LANES.min(left))
                .step_by(NARROW_LANES)
                .map(|at| NARROW_LANES as u64 * depth_at(first + at))
                .sum();
            // Integers, because rounding must not decide the lane of a row. Neither product can
            // overflow: a depth has 32 bits.
            let lanes = if narrow * 20 <= wide * 19 { NARROW_LANES } else { LANES };
            let rows = lanes.min(left);
            // Invariant: depth × lanes is a multiple of 64, so every tile begins on a line.
            let tile = TileSpan {
                offset,
                depth: depth_at(first) as u32,
                lanes: lanes as u32,
                first: first as u32,
                rows: rows as u32,
            };
            let Some(end) = offset.checked_add(tile.bytes()) else {
                reject!("tiles of 2⁶⁴ bytes or more");
            };
            offset = end;
            first += rows;
            tiles.push(tile);
        }
        Ok(Self { order, tiles })
    }

    /// Returns the rows (rankings) in one of the tiles, lane by lane.
    pub(crate) fn rows(&self, span: &TileSpan) -> &[u32] {
        &self.order[span.first as usize..(span.first + span.rows) as usize]
    }

    /// Returns the size of all tiles of the packing in bytes.
    pub fn bytes(&self) -> u64 {
        self.tiles.last().map_or(0, |tile| tile.offset + tile.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deepest_rows_first_and_ties_in_row_order() {
        let packing = Packing::new(&[3, 0, 7, 3, 7]).unwrap();
        assert_eq!(packing.order, [2, 4, 0, 3]);
        assert_eq!(packing.tiles, [TileSpan { offset: 0, depth: 8, lanes: 16, first: 0, rows: 4 }]);
        assert_eq!(Packing::new(&[0, 0]).unwrap(), Packing::default());
    }

    #[test]
    fn the_deepest_row_keeps_its_depth_and_a_deeper_one_is_refused() {
        let packing = Packing::new(&[MAX_TILE_DEPTH, 1]).unwrap();
        assert_eq!((packing.tiles[0].depth, packing.tiles[0].lanes), (MAX_TILE_DEPTH, 16));
        assert_eq!(packing.bytes(), 16 * u64::from(MAX_TILE_DEPTH));
        for depth in MAX_TILE_DEPTH + 1..=u32::MAX {
            let error = Packing::new(&[3, depth]).unwrap_err().to_string();
            assert_eq!(error, format!("a ranking of {depth} results, more than 4294967292"));
        }
    }

    #[test]
    fn padding_stays_under_five_percent_for_spread_depths() {
        let depths: Vec<u32> =
            (0..20_000u32).map(|i| 1 + i.wrapping_mul(2_654_435_761) % 10_000).collect();
        let labels: u64 = depths.iter().map(|&d| u64::from(d)).sum();
        let bytes = Packing::new(&depths).unwrap().bytes();
        assert!(
            (bytes - labels) as f64 / (bytes as f64) < 0.05,
            "{labels} labels in {bytes} bytes"
        );
    }

    #[test]
    fn one_deep_row_among_shallow_ones_is_alone_in_a_narrow_tile() {
        let mut depths = vec![12; 16 + 9 * 64];
        depths[100] = 1_000_000;
        let packing = Packing::new(&depths).unwrap();
        assert_eq!((packing.tiles[0].lanes, packing.order[0]), (16, 100));
        assert!(packing.tiles[1..].iter().all(|tile| tile.lanes == 64));
    }
}
