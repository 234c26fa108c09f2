//! The folds of the CPU engine: SIMD kernels that compute counts and sums over the ranks of each
//! ranking of a tile.
//!
//! A fold steps down the ranks of every ranking of a tile and keeps a small state: a count, a sum,
//! the first rank of a hit. It knows codes, thresholds, gains and rank weights, never the name of a
//! measure. Every lane adds in rank order with the operations that the formula shows, so the
//! answers are those of a plain `f64` loop, bit for bit, at every SIMD level.
//!
//! # Labels
//!
//! A tile is 64 rankings side by side (16 for a few deep ones) and lies as
//! `[rank/4][lane][rank%4]`: four consecutive ranks of a lane, a *quad*, are four adjacent bytes,
//! and one 64-byte vector is 16 lanes, a *strip*, by four ranks. Code 0 is past the end of a
//! ranking and never counts.
//!
//! # Walk or go dense
//!
//! Judgments are sparse: most labels are not hits (`code > above`). So the labels are compared
//! first, a block of 256 ranks at a time, which stays in L1, and what follows depends on how many
//! hits the block has:
//!
//! ```text
//! for each block:
//!     masks[v] = labels[v] > above                # 64 bits a vector, bit 4·lane + rank%4
//!     for the ranks between two cutoffs:
//!         none:  next
//!         few:   list the set bits                # ascending bits are in rank order within a lane
//!                for each one: step(lane, rank)   # scalar
//!         many:  for each strip:                  # 16 lanes in registers:
//!                                                 # four or eight accumulators
//!                    masks by rank                # bit 16·rank%4 + lane
//!                    for each rank: step all 16 lanes under their mask
//! ```
//!
//! Comparing 64 labels costs a load, a compare and a mask move. The comparison runs at memory
//! speed, and the next block is prefetched meanwhile. Walking costs some 10 cycles a hit. Going
//! dense has a cost independent of the labels. Walking and going dense cost the same if one label
//! in 20 is a hit (precision sums, AVX-512), 1 in 10 (AVX2) or 1 in 5 (gains);
//! `LaneFold::crossover` gives this point for each fold. Vectors of 128 bits always walk.
//!
//! A cutoff interrupts the steps and costs the store of one row of the output; the labels are
//! compared once. Where the ranks start or end inside a quad, the bits outside are left out.
//!
//! # Division
//!
//! `h / i` is the quotient as rounded once. Where there is a fused multiply-add, two fast
//! operations give the same bits as a division: `fma(h, r, h·s)` with `r = 1/i` as rounded and `s`
//! its rounding error `1/i − r`, both from a table by rank (for `h <= i < 2^26`). Without a fused
//! multiply-add, the kernel divides.
//!
//! # Gains
//!
//! A gain table is a staircase over the codes, which are sorted by grade: few grades, few steps. Up
//! to eight steps are climbed by compare and select, `g = code > above ? gain : g`; longer tables
//! are looked up, label by label.

use std::hint::black_box;
use std::ops::Range;

use fearless_simd::{
    Level, dispatch, f64x8, mask8x64, mask64x8, prelude::*, u8x16, u8x64, u16x32, u32x16, u64x8,
};

use crate::fold::Weights;
use crate::matrix::Tile;
use crate::matrix::code::{NEGATIVE, NOT_IN_QRELS};

/// The number of labels in one SIMD vector.
const VECTOR: usize = 64;
/// The number of lanes in one SIMD vector.
const STRIP: usize = 16;
/// The most lanes of a tile.
const LANES: usize = 64;
// 256 ranks of 64 lanes are 16 KiB of labels and 2 KiB of masks. Blocks of 64 and 128 ranks were a
// tenth slower (benches/RESULTS.md). A place within a block, below 2¹⁴, also fits into the u16 of a
// list.
/// The most ranks of a block.
const RANKS: usize = 256;
/// The most vectors of a block.
const BLOCK: usize = RANKS / 4 * LANES / STRIP;
/// The number of hits that are visited at once.
const LISTED: usize = 256;
/// The longest staircase that is climbed instead of looked up.
const STEPS: usize = 8;
/// The fewest ranks that are worth the tables of a dense fold.
const DENSE_RANKS: usize = 8;
/// The depth from which on a quotient is divided at every level.
const DEEPEST_FUSED: usize = 1 << 26;

/// The cutoffs at which [`hits`] stores hit counts, precision sums and the rank of the first hit.
#[derive(Clone, Copy)]
pub struct HitOutputs<'a> {
    /// The cutoffs of the hit counts.
    pub counts: &'a [u32],
    /// The cutoffs of the precision sums.
    pub precision: &'a [u32],
    /// The deepest rank at which the first hit is looked for; 0 if it is not wanted.
    pub first: u32,
}

/// Counts the hits of each ranking of a tile down to each cutoff, `#{i <= cut : c_i > above}`, as
/// `[cut][lane]`.
///
/// Cutoffs ascend; one beyond the depth means the end of the ranking, here and in all folds.
pub fn count(level: Level, tile: Tile, above: u8, cuts: &[u32], out: &mut [u32]) {
    tile.check(cuts.len(), out.len());
    dispatch!(level, simd => count_at(simd, tile, above, cuts, out));
}

/// Counts the hits of each ranking of a tile down to a limit of the ranking's own,
/// `#{i <= limits[lane] : c_i > above}`.
pub fn count_within(level: Level, tile: Tile, above: u8, limits: &[u32], out: &mut [u32]) {
    tile.check(1, out.len());
    assert_eq!(limits.len(), tile.lanes, "one limit a lane");
    dispatch!(level, simd => count_limited(simd, tile, above, limits, out));
}

/// Finds the rank of the first hit of each ranking of a tile, down to rank `upto`; 0 if there is
/// none.
pub fn first_rank(level: Level, tile: Tile, above: u8, upto: u32, out: &mut [u32]) {
    tile.check(1, out.len());
    dispatch!(level, simd => first_rank_upto(simd, tile, above, upto, out));
}

/// Sums the precisions at the hits of each ranking of a tile, `h += 1; s += h / i`, as
/// `[cut][lane]`.
pub fn precision_sum(level: Level, tile: Tile, above: u8, cuts: &[u32], out: &mut [f64]) {
    tile.check(cuts.len(), out.len());
    dispatch!(level, simd => sweep(simd, tile, above, cuts, PrecisionSumFold::<false>::new(), out));
}

/// Computes [`count`], [`precision_sum`] and [`first_rank`] of one threshold of codes in a single
/// pass over the labels of a tile.
pub fn hits(
    level: Level,
    tile: Tile,
    above: u8,
    wanted: HitOutputs,
    counts: &mut [u32],
    precision: &mut [f64],
    first: &mut [u32],
) {
    tile.check(wanted.counts.len(), counts.len());
    tile.check(wanted.precision.len(), precision.len());
    tile.check(1, first.len());
    dispatch!(level, simd => hits_at(simd, tile, above, wanted, counts, precision, first));
}

/// Sums the gains of each ranking of a tile with weights of ranks, `s += gain[c] / d_i` or
/// `s += gain[c] * w_i`, as `[cut][lane]`; `gain[0]` is 0.
pub fn weighted_sum(
    level: Level,
    tile: Tile,
    gain: &[f64; 256],
    weights: &Weights,
    cuts: &[u32],
    out: &mut [f64],
) {
    tile.check(cuts.len(), out.len());
    let Some(above) = above_zero(gain) else { return out.fill(0.0) };
    dispatch!(level, simd => sweep(simd, tile, above, cuts, WeightedSum::new(gain, weights), out));
}

/// Sums the chances to stop, for a user who stops at a document with probability `stop[c]`:
/// `s += p * stop[c] / d_i` (or `* w_i`), then `p *= 1 - stop[c]`, from `p = 1`; as `[cut][lane]`.
/// `stop[0]` is 0.
pub fn cascade(
    level: Level,
    tile: Tile,
    stop: &[f64; 256],
    weights: &Weights,
    cuts: &[u32],
    out: &mut [f64],
) {
    tile.check(cuts.len(), out.len());
    let Some(above) = above_zero(stop) else { return out.fill(0.0) };
    dispatch!(level, simd => sweep(simd, tile, above, cuts, Cascade::new(stop, weights), out));
}

/// Counts the labels of each code below `codes` in each ranking of a tile down to each cutoff, as
/// `[cut][lane][codes]`; code 0 is not counted.
pub fn histogram(tile: Tile, codes: usize, cuts: &[u32], out: &mut [u32]) {
    assert!((1..=256).contains(&codes), "{codes} codes");
    tile.check(cuts.len() * codes, out.len());
    let row = tile.lanes * codes;
    let mut rank = 0;
    for cut in 0..cuts.len() {
        let (before, counts) = out.split_at_mut(cut * row);
        let counts = &mut counts[..row];
        match cut {
            0 => counts.fill(0),
            _ => counts.copy_from_slice(&before[(cut - 1) * row..]),
        }
        let end = tile.clip(cuts[cut]);
        tally(tile, codes, rank..end, counts);
        rank = end;
        counts.chunks_exact_mut(codes).for_each(|lane| lane[0] = 0);
    }
}

/// Finds the best precision of each ranking from a given recall on: for each point, the maximum of
/// `h(i) / i` over the ranks from that of the hit numbered `caps[point][lane]` on (from rank 1 for
/// a cap of 0); 0 if there are fewer hits. As `[point][lane]`.
///
/// Points ascend by cap, lane by lane.
pub fn peak_precision(level: Level, tile: Tile, above: u8, caps: &[&[u32]], out: &mut [f64]) {
    tile.check(caps.len(), out.len());
    assert!(caps.iter().all(|caps| caps.len() == tile.lanes), "one cap a lane");
    out.fill(0.0);
    dispatch!(level, simd => peaks(simd, tile, above, caps, out));
}

/// The shape and the labels of a tile (64 or 16 rankings side by side), as the CPU kernels use
/// them.
trait TileShape<'a> {
    /// Panics if the tile, or the room for the values of a fold, has a shape that the CPU kernels
    /// do not know.
    fn check(&self, rows: usize, out: usize);
    /// Returns the number of ranks of the tile down to a cutoff: the cutoff, but at most the depth.
    fn clip(&self, cut: u32) -> usize;
    /// Returns the number of strips (16 rankings each, the width of a SIMD vector) side by side in
    /// the tile.
    fn strips(&self) -> usize;
    /// Returns the labels of a range of quads: four consecutive ranks of all rankings of the tile.
    fn quads(&self, quads: Range<usize>) -> &'a [u8];
}

impl<'a> TileShape<'a> for Tile<'a> {
    fn check(&self, rows: usize, out: usize) {
        assert!(
            self.lanes == STRIP || self.lanes == LANES,
            "a tile has 16 or 64 lanes, not {}",
            self.lanes
        );
        assert!(self.depth.is_multiple_of(4), "depth {} is no multiple of 4", self.depth);
        assert_eq!(self.labels.len(), self.lanes * self.depth, "labels of a tile");
        assert_eq!(out, rows * self.lanes, "values of a fold");
    }

    fn clip(&self, cut: u32) -> usize {
        self.depth.min(cut as usize)
    }

    fn strips(&self) -> usize {
        self.lanes / STRIP
    }

    fn quads(&self, quads: Range<usize>) -> &'a [u8] {
        &self.labels[quads.start * 4 * self.lanes..quads.end * 4 * self.lanes]
    }
}

/// Loads the first block of labels of a tile into the cache, before the tile is read.
pub fn prefetch(tile: Tile) {
    let labels = &tile.labels[..tile.labels.len().min(RANKS * tile.lanes)];
    black_box(labels.iter().step_by(VECTOR).fold(0, |checksum, label| checksum ^ label));
}

/// Returns the code just below the lowest code with a value other than zero, in a table by code.
pub(super) fn above_zero(table: &[f64; 256]) -> Option<u8> {
    debug_assert_eq!(table[0], 0.0, "code 0 never counts");
    table.iter().skip(1).position(|&value| value != 0.0).map(|code| code as u8)
}

// -------------------------------------------------------------------------------------------------
// Blocks of labels and their hits

// Three levels of bits let a walk skip labels without hits, at any density:
//
//     labels   256 vectors of 64                  16 KiB   read once
//     masks    one u64 a vector, a bit a label     2 KiB   bit 4·lane + rank % 4: lane by lane,
//                                                          ranks in order
//     hit      one bit a vector                   32 B     four words, scanned by counting zeros
//
// A cutoff inside the block narrows `ranks`, and the masks stay: the labels are compared once
// however many cutoffs there are.
/// A block of up to 256 SIMD vectors of a tile's labels, in whole quads of ranks, with marks of the
/// hits.
struct LabelBlock<'a> {
    labels: &'a [u8],
    /// The strips of the tile, as a power of two.
    shift: usize,
    /// The rank (from 1) of the first label.
    first: usize,
    /// The ranks that take part, counted from `first`.
    ranks: Range<usize>,
    /// The hits of each vector: bit `4 * lane + rank % 4`.
    masks: [u64; BLOCK],
    /// One bit a vector, set if the vector has a hit.
    hit: [u8; BLOCK / 8],
}

/// The bit masks of the hits of a strip of 16 rankings, by rank: bytes `2 * rank` (lanes 0 to 7)
/// and `2 * rank + 1` (lanes 8 to 15).
type HitMasks = [u8; 2 * RANKS];

impl<'a> LabelBlock<'a> {
    /// Makes a block of labels that is still empty. It is filled again and again, because clearing
    /// and moving 2 KB costs more than comparing 16.
    #[inline(always)]
    fn new() -> Self {
        Self {
            labels: &[],
            shift: 0,
            first: 1,
            ranks: 0..0,
            masks: [0; BLOCK],
            hit: [0; BLOCK / 8],
        }
    }

    /// Moves the block to `ranks` (from 0) of a tile, within one stretch of `RANKS`. The labels
    /// down to `deepest` in this stretch are compared when its first ranks are asked for.
    #[inline(always)]
    fn turn_to<S: Simd>(
        &mut self,
        simd: S,
        tile: Tile<'a>,
        above: u8,
        ranks: Range<usize>,
        deepest: usize,
    ) {
        let covered = self.labels.len() / (tile.lanes * 4) * 4;
        if ranks.end > self.first - 1 + covered {
            self.fill(
                simd,
                tile,
                above,
                ranks.start..deepest.min((ranks.start / RANKS + 1) * RANKS),
                deepest,
            );
        }
        self.ranks = ranks.start + 1 - self.first..ranks.end + 1 - self.first;
    }

    /// Compares the labels at some ranks of a tile with the hit threshold, and prefetches as many
    /// of those that will be compared next: they are loaded while the hits of this block are
    /// walked.
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        tile: Tile<'a>,
        above: u8,
        ranks: Range<usize>,
        deepest: usize,
    ) {
        let quads = ranks.start / 4..ranks.end.div_ceil(4);
        self.first = quads.start * 4 + 1;
        self.labels = tile.quads(quads.clone());
        self.shift = if tile.lanes == STRIP { 0 } else { 2 };
        let next = tile.quads(quads.end..deepest.div_ceil(4).max(quads.end));
        let (before_next, last) = self.labels.split_at(self.labels.len().min(next.len()));
        let threshold = u8x64::splat(simd, above);
        let hits = |labels| u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask();
        let mut masks = self.masks.iter_mut();
        let mut checksum = 0;
        let before_next = before_next.chunks_exact(VECTOR).zip(next.chunks_exact(VECTOR));
        for ((labels, next), mask) in before_next.zip(&mut masks) {
            *mask = hits(labels);
            checksum ^= next[0];
        }
        black_box(checksum);
        for (labels, mask) in last.chunks_exact(VECTOR).zip(masks) {
            *mask = hits(labels);
        }
        let vectors = self.vectors();
        // Masks are made into marks eight at a time, so those of an older, larger block must not
        // show.
        self.masks[vectors..vectors.next_multiple_of(8)].fill(0);
        self.hit = [0; _];
        let none = u64x8::splat(simd, 0);
        let masks = self.masks[..vectors.next_multiple_of(8)].chunks_exact(8);
        for (hit, masks) in self.hit.iter_mut().zip(masks) {
            *hit = u64x8::from_slice(simd, masks).simd_ne(none).to_bitmask() as u8;
        }
    }

    #[inline(always)]
    fn strips(&self) -> usize {
        1 << self.shift
    }

    #[inline(always)]
    fn vectors(&self) -> usize {
        self.labels.len() / VECTOR
    }

    /// Returns the quads (four ranks each) of the block that take part, counted from the first
    /// label.
    #[inline(always)]
    fn quads(&self) -> Range<usize> {
        self.ranks.start / 4..self.ranks.end.div_ceil(4)
    }

    /// Returns the bit mask of the hits of label vector `v`, at the ranks that take part, if its
    /// quad does.
    #[inline(always)]
    fn mask(&self, v: usize) -> u64 {
        let from = self.ranks.start.saturating_sub((v >> self.shift) * 4);
        let upto = (self.ranks.end - (v >> self.shift) * 4).min(4);
        self.masks[v % BLOCK] & ranks_of_quad(from..upto)
    }

    /// Calls `hit(lane, rank, label)` for every hit of the block, in rank order within each lane;
    /// `label` is the index of the label in the block.
    ///
    /// Hits are listed before they are visited: a processor often mispredicts how many a vector
    /// has, and here the misprediction costs little. (At 1 to 10 % hits this is 10 to 25 % faster;
    /// if bits are not counted in one instruction, as much slower.)
    #[inline(always)]
    fn walk<S: Simd>(&self, simd: S, mut hit: impl FnMut(usize, usize, usize)) {
        // Invariant: fewer than LISTED places are waiting when a vector is listed, and a vector has
        // at most VECTOR hits.
        let mut places = [0; LISTED + VECTOR];
        let mut listed = 0;
        let mut visit = |place: usize| {
            let lane = place / 4 % (STRIP << self.shift) % LANES;
            hit(lane, self.first + ((place / VECTOR) >> self.shift) * 4 + place % 4, place);
        };
        let Range { start, end } = self.quads();
        let (start, end) = (start << self.shift, end << self.shift);
        let whole_quads = (self.ranks.start | self.ranks.end).is_multiple_of(4);
        for word in start / 64..end.div_ceil(64) {
            let mut hit_vectors = u64::from_le_bytes(self.hit.as_chunks().0[word % (BLOCK / 64)]);
            // Drop the vectors of quads outside the ranks, at both ends. Neither shift reaches 64,
            // because the word has at least one vector inside the ranks.
            hit_vectors &= u64::MAX << start.saturating_sub(word * 64);
            hit_vectors &= u64::MAX >> (word * 64 + 64).saturating_sub(end);
            while hit_vectors != 0 {
                let v = word * 64 + hit_vectors.trailing_zeros() as usize;
                hit_vectors &= hit_vectors - 1;
                // `% BLOCK` changes nothing, and lets the compiler leave out the check of the
                // bound.
                let mut mask = if whole_quads { self.masks[v % BLOCK] } else { self.mask(v) };
                if !fuses_and_counts(simd) {
                    while mask != 0 {
                        visit(v * VECTOR + mask.trailing_zeros() as usize);
                        mask &= mask - 1;
                    }
                    continue;
                }
                listed += list(mask, v * VECTOR, &mut places[listed..]);
                if listed >= LISTED {
                    places[..listed].iter().for_each(|&place| visit(usize::from(place)));
                    listed = 0;
                }
            }
        }
        places[..listed].iter().for_each(|&place| visit(usize::from(place)));
    }

    /// Returns whether to visit the block's hits one by one: fewer than one label in `crossover` is
    /// a hit, or there are too few ranks to set up tables for.
    #[inline(always)]
    fn is_sparse(&self, crossover: usize) -> bool {
        if crossover == 0 || self.ranks.len() < DENSE_RANKS {
            return true;
        }
        let vectors: u32 = self.hit.iter().map(|hit| hit.count_ones()).sum();
        // Most blocks are told by the marks alone: fewer than a quarter of their vectors have any
        // hit.
        if vectors as usize * 4 < self.vectors() {
            return true;
        }
        // A sample is enough, and counting all took a tenth of the time of a dense fold. Its step
        // has no factor in common with the strips.
        const SAMPLED: usize = 5;
        let sampled = self.masks[..self.vectors()].iter().step_by(SAMPLED);
        let hits: u32 = sampled.map(|mask| mask.count_ones()).sum();
        hits as usize * crossover < self.labels.len() / SAMPLED
    }

    /// Returns the label vectors of a strip of 16 rankings at the ranks that take part, each with
    /// its quad.
    #[inline(always)]
    fn strip(&self, strip: usize) -> impl Iterator<Item = (usize, &'a [u8])> {
        let (quads, row) = (self.quads(), self.strips() * VECTOR);
        let rows = self.labels[quads.start * row..quads.end * row].chunks_exact(row);
        // A step by strips would not be inlined.
        quads.zip(rows.map(move |row| &row[strip * VECTOR..][..VECTOR]))
    }

    /// Computes the bit masks of `code > above` of a strip of 16 rankings, one mask for each rank.
    #[inline(always)]
    fn by_rank<S: Simd>(&self, simd: S, strip: usize, above: u8, masks: &mut HitMasks) {
        let threshold = u8x64::splat(simd, above);
        let masks = masks.as_chunks_mut::<8>().0;
        for (masks, (_, labels)) in masks[self.quads()].iter_mut().zip(self.strip(strip)) {
            *masks = transposed(simd, labels).simd_gt(threshold).to_bitmask().to_le_bytes();
        }
    }
}

// The loop writes four places even for fewer hits, and only the returned number tells how many
// places count. So the loop has equal length for up to four hits, and no branch depends on a single
// bit. A mask that has run out gives place 64 of the vector, but no caller reads this place.
/// Lists the places of the set bits of a hit mask, counted from `first`, and returns their number.
/// Places behind the listed bits are undefined.
#[inline(always)]
fn list(mut mask: u64, first: usize, places: &mut [u16]) -> usize {
    const AT_ONCE: usize = 4;
    let hits = mask.count_ones() as usize;
    let places = places.as_chunks_mut::<AT_ONCE>().0;
    for places in &mut places[..hits.div_ceil(AT_ONCE).max(1)] {
        for place in places {
            *place = (first + mask.trailing_zeros() as usize) as u16;
            mask &= mask.wrapping_sub(1);
        }
    }
    hits
}

// A quad lies as [lane][rank % 4]. Stepping all lanes down a rank needs the 16 labels of the rank
// side by side, hence a transposition of 4 × 16 bytes. AVX-512 transposes by a permutation of
// bytes, other levels by a load that splits four interleaved streams.
/// Returns the label codes of one vector of 16 rankings ordered by rank: `[rank%4][lane]`.
#[inline(always)]
fn transposed<S: Simd>(simd: S, labels: &[u8]) -> u8x64<S> {
    if is_wide(simd) {
        let by_rank = u8x64::from_fn(simd, |n| (n % STRIP * 4 + n / STRIP) as u8);
        return u8x64::from_slice(simd, labels).swizzle_dyn(by_rank);
    }
    let [a, b, c, d] = u8x16::load_four_interleaved(simd, labels);
    a.combine(b).combine(c.combine(d))
}

/// Returns the bits that some of the four ranks of a quad have in the hit mask of a vector.
#[inline(always)]
fn ranks_of_quad(ranks: Range<usize>) -> u64 {
    let nibble = (1 << ranks.end) - (1 << ranks.start);
    0x1111_1111_1111_1111 * nibble
}

/// A fold over the labels of a tile that either visits single hits or steps 16 rankings at a time.
trait LaneFold<S: Simd> {
    /// Returns the crossover: a block of labels with more than one hit in this number of labels is
    /// folded densely, not hit by hit; 0 if no block is.
    fn crossover(simd: S) -> usize;

    fn walk(&mut self, simd: S, block: &LabelBlock);

    fn dense(&mut self, simd: S, block: &LabelBlock, above: u8);

    /// Returns the fold's value of each lane (ranking of a tile) at the ranks folded so far.
    fn values(&self) -> &[f64; LANES];
}

// A sweep never starts again at a cutoff: it stores the running state and goes on, so k cutoffs
// cost k rows of the output.
/// Folds the labels of a tile from one cutoff to the next, and stores the values of its lanes at
/// each cutoff.
#[inline(always)]
fn sweep<S: Simd>(
    simd: S,
    tile: Tile,
    above: u8,
    cuts: &[u32],
    mut fold: impl LaneFold<S>,
    out: &mut [f64],
) {
    let mut block = LabelBlock::new();
    let deepest = cuts.last().map_or(0, |&cut| tile.clip(cut));
    let mut rank = 0;
    for (&cut, out) in cuts.iter().zip(out.chunks_exact_mut(tile.lanes)) {
        let end = tile.clip(cut);
        advance(simd, tile, above, rank..end, deepest, &mut block, &mut fold);
        rank = end;
        out.copy_from_slice(&fold.values()[..tile.lanes]);
    }
}

/// Folds some ranks of a tile, block by block; `deepest` is the last rank of the whole sweep.
#[inline(always)]
fn advance<'a, S: Simd, F: LaneFold<S>>(
    simd: S,
    tile: Tile<'a>,
    above: u8,
    ranks: Range<usize>,
    deepest: usize,
    block: &mut LabelBlock<'a>,
    fold: &mut F,
) {
    for ranks in blocks(ranks) {
        block.turn_to(simd, tile, above, ranks, deepest);
        if block.is_sparse(F::crossover(simd)) {
            fold.walk(simd, block);
        } else {
            fold.dense(simd, block, above);
        }
    }
}

/// Splits a range of ranks (from 0) at the borders of blocks of 256 ranks.
#[inline(always)]
fn blocks(ranks: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = ranks.start;
    std::iter::from_fn(move || {
        let block = start..ranks.end.min((start / RANKS + 1) * RANKS);
        start = block.end;
        (!block.is_empty()).then_some(block)
    })
}

// -------------------------------------------------------------------------------------------------
// Sixteen lanes

/// The `f64` values of 16 lanes (rankings of a tile) in SIMD vectors.
type Strip<S> = [f64x8<S>; 2];

#[inline(always)]
fn load<S: Simd>(simd: S, lanes: &[f64; LANES], strip: usize) -> Strip<S> {
    let lanes = &lanes[strip * STRIP..][..STRIP];
    [f64x8::from_slice(simd, &lanes[..8]), f64x8::from_slice(simd, &lanes[8..])]
}

#[inline(always)]
fn store<S: Simd>([low, high]: Strip<S>, lanes: &mut [f64; LANES], strip: usize) {
    let lanes = &mut lanes[strip * STRIP..][..STRIP];
    low.store_slice(&mut lanes[..8]);
    high.store_slice(&mut lanes[8..]);
}

#[inline(always)]
fn lanes_at<S: Simd>(simd: S, masks: &HitMasks, rank: usize) -> [mask64x8<S>; 2] {
    let [low, high] = [masks[2 * rank % masks.len()], masks[(2 * rank + 1) % masks.len()]];
    [mask64x8::from_bitmask(simd, low.into()), mask64x8::from_bitmask(simd, high.into())]
}

/// Returns a fold's crossover to dense folding: the first number for SIMD vectors of 512 bits, the
/// second for 256 bits. Narrower vectors get 0, because walking a hit costs less there than
/// widening its mask.
#[inline(always)]
fn by_width<S: Simd>(simd: S, [wide, half]: [usize; 2]) -> usize {
    match simd.level() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx512(_) => wide,
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(_) => half,
        _ => 0,
    }
}

/// Returns whether 16 lanes of `f64` are two SIMD vectors, as on AVX-512.
#[inline(always)]
fn is_wide<S: Simd>(simd: S) -> bool {
    match simd.level() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx512(_) => true,
        _ => false,
    }
}

/// Returns whether there are instructions for a `mul_add` that rounds once, for counting bits, and
/// for clearing the lowest bit: on AVX2, AVX-512 and every 64-bit ARM. (SSE4.2 counts bits but does
/// not clear the lowest bit, and listing hits takes twice as long.)
#[inline(always)]
fn fuses_and_counts<S: Simd>(simd: S) -> bool {
    match simd.level() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(_) | Level::Avx512(_) => true,
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => true,
        _ => false,
    }
}

// -------------------------------------------------------------------------------------------------
// Precision sums, counts and first ranks of the hits of one threshold

// The sum of a lane is a chain of dependent additions in rank order, the order of the formula, so
// the steps of a lane cannot run in parallel. Lanes can: sixteen chains run side by side under
// masks. A lane without a hit at a rank keeps its sum by selection instead of adding 0.0, so the
// quotient computed from its old h is never seen.
//
// Hits are counted in f64, exact far beyond any depth, so that h needs no conversion for the
// quotient. Counting them in 16 bits was slower everywhere, as was adding converted 0s and 1s in
// place of masks (benches/RESULTS.md).
/// The fold of a precision sum, `h += 1; s += h / i` at each hit; with `FIRST` also the rank of the
/// first hit.
struct PrecisionSumFold<const FIRST: bool> {
    hits: [f64; LANES],
    sum: [f64; LANES],
    first: [u32; LANES],
}

impl<const FIRST: bool> PrecisionSumFold<FIRST> {
    fn new() -> Self {
        Self { hits: [0.0; LANES], sum: [0.0; LANES], first: [0; LANES] }
    }

    /// Finds the rank of each lane's first hit in a block of labels that is folded densely, not hit
    /// by hit.
    #[inline(always)]
    fn find_first(&mut self, block: &LabelBlock) {
        for strip in 0..block.strips() {
            let first = &mut self.first[strip * STRIP..][..STRIP];
            let mut open = open_lanes(first);
            for quad in block.quads() {
                if open == 0 {
                    break;
                }
                let mask = block.mask((quad << block.shift) + strip);
                open = first_of_quad(mask, open, block.first + quad * 4, first);
            }
        }
    }
}

impl<S: Simd, const FIRST: bool> LaneFold<S> for PrecisionSumFold<FIRST> {
    #[inline(always)]
    fn crossover(simd: S) -> usize {
        by_width(simd, [20, 10])
    }

    #[inline(always)]
    fn walk(&mut self, simd: S, block: &LabelBlock) {
        block.walk(
            simd,
            #[inline(always)]
            |lane, rank, _| {
                let h = self.hits[lane] + 1.0;
                self.hits[lane] = h;
                self.sum[lane] += h / rank as f64;
                if FIRST {
                    self.first[lane] = if h == 1.0 { rank as u32 } else { self.first[lane] };
                }
            },
        );
    }

    #[inline(always)]
    fn dense(&mut self, simd: S, block: &LabelBlock, above: u8) {
        if FIRST {
            self.find_first(block);
        }
        let fused = fuses_and_counts(simd) && block.first + block.ranks.end < DEEPEST_FUSED;
        let mut inverses = Inverses::new();
        if fused {
            inverses.fill(simd, block.first, &block.ranks);
        }
        let mut masks = [0; _];
        for strip in 0..block.strips() {
            block.by_rank(simd, strip, above, &mut masks);
            let mut hits = load(simd, &self.hits, strip);
            let mut sum = load(simd, &self.sum, strip);
            for rank in block.ranks.clone() {
                let i = (block.first + rank) as f64;
                for (half, hit) in lanes_at(simd, &masks, rank).into_iter().enumerate() {
                    let h = hit.select(hits[half] + 1.0, hits[half]);
                    let precision = if fused { inverses.quotient(h, rank) } else { h / i };
                    hits[half] = h;
                    sum[half] = hit.select(sum[half] + precision, sum[half]);
                }
            }
            store(hits, &mut self.hits, strip);
            store(sum, &mut self.sum, strip);
        }
    }

    #[inline(always)]
    fn values(&self) -> &[f64; LANES] {
        &self.sum
    }
}

// Why the result has the bits of a division. With u = 2⁻⁵³, r = (1 + δ)/i for |δ| ≤ u. The residual
// of r, 1 − r·i = −δ, is a multiple of the last place of r, as i is a whole number, and at most i/2
// last places: so the first mul_add is exact for i < 2²⁶, and rest = −δ/i with a relative error of
// some u. The last mul_add rounds, once,
//
//     h·r + h·rest = h/i + h·(some 2u·δ/i)
//
// which is off from h/i by some 2⁻¹⁰⁴ · h/i. Could this error cross a midpoint between two floats?
// A midpoint is M·2ᵏ with an odd M of 54 bits. h/i is no midpoint, as i·M·2ᵏ = h would make M a
// factor of h < 2²⁶. And the whole number h·2⁻ᵏ − i·M (k < 0, as h ≤ i) is at least 1, so h/i is at
// least 2ᵏ/i > 2ᵏ⁻²⁶, some 2⁻⁷⁹ of itself, away from any midpoint. Hence the last mul_add and the
// division h/i round to the same float.
/// Reciprocals of the ranks of a block of labels, each with its rounding error, made once for the
/// block's four strips.
struct Inverses {
    inverse: [f64; RANKS],
    rest: [f64; RANKS],
}

impl Inverses {
    fn new() -> Self {
        Self { inverse: [0.0; RANKS], rest: [0.0; RANKS] }
    }

    /// Computes the reciprocals of the ranks at some places of a block, whose first place has the
    /// rank `first`. Reciprocals come in eights, so neighbours of the places are computed too.
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, first: usize, places: &Range<usize>) {
        let one = f64x8::splat(simd, 1.0);
        let eights = self.inverse.chunks_exact_mut(8).zip(self.rest.chunks_exact_mut(8));
        let eights = eights.enumerate().take(places.end.div_ceil(8)).skip(places.start / 8);
        for (eight, (inverse, rest)) in eights {
            let ranks = f64x8::from_fn(simd, |n| (first + eight * 8 + n) as f64);
            let r = one / ranks;
            r.store_slice(inverse);
            ((-r).mul_add(ranks, one) * r).store_slice(rest);
        }
    }

    /// Returns `h / i` for the rank `i` at a place of the block, without a division, but rounded
    /// once as a division is: for `h <= i < 2^26`, if `mul_add` rounds once.
    #[inline(always)]
    fn quotient<S: Simd>(&self, h: f64x8<S>, place: usize) -> f64x8<S> {
        let (inverse, rest) = (self.inverse[place % RANKS], self.rest[place % RANKS]);
        h.mul_add(inverse, h * rest)
    }
}

#[inline(always)]
// The three kinds of cutoffs are merged as sorted lists: the fold goes to the nearest cutoff of any
// kind and stores the values due at this cutoff.
fn hits_at<S: Simd>(
    simd: S,
    tile: Tile,
    above: u8,
    wanted: HitOutputs,
    counts: &mut [u32],
    precision: &mut [f64],
    first: &mut [u32],
) {
    let mut counts = wanted.counts.iter().zip(counts.chunks_exact_mut(tile.lanes)).peekable();
    let mut precision =
        wanted.precision.iter().zip(precision.chunks_exact_mut(tile.lanes)).peekable();
    let mut first = Some((&wanted.first, first)).into_iter().peekable();
    let mut fold = PrecisionSumFold::<true>::new();
    let mut block = LabelBlock::new();
    let deepest = [wanted.counts.last(), wanted.precision.last(), Some(&wanted.first)];
    let deepest = deepest.into_iter().flatten().max().map_or(0, |&cut| tile.clip(cut));
    let mut rank = 0;
    loop {
        let cuts =
            [counts.peek().map(|c| c.0), precision.peek().map(|c| c.0), first.peek().map(|c| c.0)];
        let Some(&cut) = cuts.into_iter().flatten().min() else { return };
        let end = tile.clip(cut);
        advance(simd, tile, above, rank..end, deepest, &mut block, &mut fold);
        rank = end;
        if let Some((_, out)) = counts.next_if(|c| *c.0 == cut) {
            out.iter_mut().zip(&fold.hits).for_each(|(out, &hits)| *out = hits as u32);
        }
        if let Some((_, out)) = precision.next_if(|c| *c.0 == cut) {
            out.copy_from_slice(&fold.sum[..tile.lanes]);
        }
        if let Some((_, out)) = first.next_if(|c| *c.0 == cut) {
            out.copy_from_slice(&fold.first[..tile.lanes]);
        }
    }
}

// -------------------------------------------------------------------------------------------------
// First hits

// A lane is four bits of a mask. `open` has all four set as long as the lane waits for its first
// hit, so `mask & open` is 0 for almost every vector once most lanes are done, and the scan ends
// when all are.
/// Returns a mask with the four bits of each lane, of a strip of 16, that has no first hit yet.
#[inline(always)]
fn open_lanes(first: &[u32]) -> u64 {
    first.iter().enumerate().map(|(lane, &rank)| u64::from(rank == 0) * (0xf << (4 * lane))).sum()
}

/// Stores the ranks of the first hits of a strip of 16 lanes in a quad of ranks, and returns the
/// lanes still without a hit.
#[inline(always)]
fn first_of_quad(mask: u64, mut open: u64, rank: usize, first: &mut [u32]) -> u64 {
    let mut mask = mask & open;
    while mask != 0 {
        let bit = mask.trailing_zeros() as usize;
        first[bit / 4] = (rank + bit % 4) as u32;
        // Close the lane, including its later ranks in this quad.
        open &= !(0xf << (bit & !3));
        mask &= open;
    }
    open
}

#[inline(always)]
fn first_rank_upto<S: Simd>(simd: S, tile: Tile, above: u8, upto: u32, first: &mut [u32]) {
    first.fill(0);
    let mut open = [0; LANES / STRIP];
    open[..tile.strips()].fill(u64::MAX);
    let threshold = u8x64::splat(simd, above);
    let end = tile.clip(upto);
    for rank in (0..end).step_by(4) {
        let inside = ranks_of_quad(0..4.min(end - rank));
        for (strip, labels) in tile.quads(rank / 4..rank / 4 + 1).chunks_exact(VECTOR).enumerate() {
            let mask = u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask() & inside;
            if mask & open[strip] != 0 {
                let first = &mut first[strip * STRIP..][..STRIP];
                open[strip] = first_of_quad(mask, open[strip], rank + 1, first);
            }
        }
        if open == [0; LANES / STRIP] {
            return;
        }
    }
}

// -------------------------------------------------------------------------------------------------
// Counts

// A count needs no list and no lanes in registers: a comparison gives bytes of 255, that is −1, and
// subtracting them counts up each of 64 bytes, one for each lane and rank % 4. After 63 quads, long
// before a byte can overflow, the four bytes of each lane are added in two widening steps. So a
// vector costs a load, a compare and a subtraction, at 84 % of the speed of reading
// (benches/RESULTS.md).
/// The most quads whose hits a byte can count, and whose ranks a byte can tell apart.
const COUNTED: usize = 63;

#[inline(always)]
fn count_at<S: Simd>(simd: S, tile: Tile, above: u8, cuts: &[u32], out: &mut [u32]) {
    let mut hits = [0; LANES];
    let mut rank = 0;
    for (&cut, out) in cuts.iter().zip(out.chunks_exact_mut(tile.lanes)) {
        let end = tile.clip(cut);
        match tile.strips() {
            1 => count_ranks::<S, 1>(simd, tile, above, rank..end, &mut hits),
            _ => count_ranks::<S, 4>(simd, tile, above, rank..end, &mut hits),
        }
        rank = end;
        out.copy_from_slice(&hits[..tile.lanes]);
    }
}

// The strips are a constant of the function, so that the accumulators of a tile's row, four
// vectors, stay in registers.
/// Counts the hits of each lane of a tile at some ranks, in whole quads, with a byte for each lane
/// and rank of the quad. At the ends of the range a mask is applied.
#[inline(always)]
fn count_ranks<S: Simd, const STRIPS: usize>(
    simd: S,
    tile: Tile,
    above: u8,
    ranks: Range<usize>,
    hits: &mut [u32; LANES],
) {
    let threshold = u8x64::splat(simd, above);
    let mut quad = ranks.start / 4;
    while quad * 4 < ranks.end {
        let mut counted = [u8x64::splat(simd, 0); STRIPS];
        let from = ranks.start.saturating_sub(quad * 4);
        let upto = (ranks.end - quad * 4).min(4);
        let whole = from == 0 && upto == 4;
        let quads = quad..if whole { (quad + COUNTED).min(ranks.end / 4) } else { quad + 1 };
        let inside = mask8x64::from_bitmask(simd, ranks_of_quad(from..upto));
        for labels in tile.quads(quads.clone()).chunks_exact(STRIPS * VECTOR) {
            for (counted, labels) in counted.iter_mut().zip(labels.chunks_exact(VECTOR)) {
                *counted -= bytes(u8x64::from_slice(simd, labels).simd_gt(threshold) & inside);
            }
        }
        add_counts(&counted, hits);
        quad = quads.end;
    }
}

#[inline(always)]
fn count_limited<S: Simd>(simd: S, tile: Tile, above: u8, limits: &[u32], out: &mut [u32]) {
    let mut hits = [0; LANES];
    let threshold = u8x64::splat(simd, above);
    let quads = tile.clip(limits.iter().copied().max().unwrap_or(0)).div_ceil(4);
    for strip in 0..tile.strips() {
        let limits = &limits[strip * STRIP..][..STRIP];
        for first in (0..quads).step_by(COUNTED) {
            // A limit is each lane's own, so it cannot be a cutoff of the sweep: one comparison
            // more tells whether the lane has ranks left. `left` is, for each rank of a quad, how
            // many ranks further than the first quad of this stretch the lane still counts. It is
            // capped at 255, which is more than the 4·62 ranks above the last quad of the stretch.
            let left = u8x64::from_fn(simd, |byte| {
                (limits[byte / 4] as usize).saturating_sub(first * 4 + byte % 4).min(255) as u8
            });
            let mut counted = u8x64::splat(simd, 0);
            let labels = tile.quads(first..quads.min(first + COUNTED));
            for (quad, labels) in
                labels.chunks_exact(VECTOR).skip(strip).step_by(tile.strips()).enumerate()
            {
                let inside = left.simd_gt(u8x64::splat(simd, quad as u8 * 4));
                counted -= bytes(u8x64::from_slice(simd, labels).simd_gt(threshold) & inside);
            }
            add_counts(&[counted], &mut hits[strip * STRIP..]);
        }
    }
    out.copy_from_slice(&hits[..tile.lanes]);
}

/// Converts a SIMD mask to bytes: 255 where the mask is set, else 0.
#[inline(always)]
fn bytes<S: Simd>(mask: mask8x64<S>) -> u8x64<S> {
    mask.to_vector().bitcast()
}

/// Adds the four byte counts of each lane, one for each rank of a quad, to the lane's number of
/// hits.
#[inline(always)]
fn add_counts<S: Simd>(counted: &[u8x64<S>], hits: &mut [u32]) {
    for (counted, hits) in counted.iter().zip(hits.chunks_exact_mut(STRIP)) {
        let pairs: u16x32<S> = counted.pairwise_widening_add();
        let lanes: u32x16<S> = pairs.pairwise_widening_add();
        hits.iter_mut().zip(lanes.as_array()).for_each(|(hits, lane)| *hits += lane);
    }
}

// A histogram is the one fold without vectors: each label adds to a counter of its own lane and
// code, by address.
fn tally(tile: Tile, codes: usize, ranks: Range<usize>, counts: &mut [u32]) {
    let mut start = ranks.start;
    while start < ranks.end {
        let quad = start / 4;
        let end = ranks.end.min(quad * 4 + 4);
        let lanes = tile.quads(quad..quad + 1).chunks_exact(4).zip(counts.chunks_exact_mut(codes));
        for (labels, counts) in lanes {
            for &code in &labels[start - quad * 4..end - quad * 4] {
                if let Some(count) = counts.get_mut(usize::from(code)) {
                    *count += 1;
                }
            }
        }
        start = end;
    }
}

// -------------------------------------------------------------------------------------------------
// Gains

// Codes are sorted by grade, so a gain table rises (or changes) at a few codes only: with grades 0,
// 1, 2 a staircase of two steps.
//
//     gain            ┌────  gain 3        value = 0
//              ┌──────┘      gain 1        value = code > above₀ ? gain₀ : value
//     ─────────┘             gain 0        value = code > above₁ ? gain₁ : value
//     code     above₀ above₁
//
// A step costs a compare of 64 labels at once and two selections a rank, and moves the gain's own
// bits: nothing is computed, so nothing is rounded. It need not ascend, for the last step that a
// code has passed wins.
/// A table of values (gains or chances to stop) by code, and the steps at which the values change,
/// if there are few.
struct StepTable<'a> {
    table: &'a [f64; 256],
    /// `above[n] < code` takes the value `value[n]`; the last such step wins.
    above: [u8; STEPS],
    value: [f64; STEPS],
    /// The number of steps; `None` if there are more than can be climbed.
    steps: Option<usize>,
}

impl<'a> StepTable<'a> {
    fn new(table: &'a [f64; 256]) -> Self {
        let mut stairs = Self { table, above: [0; STEPS], value: [0.0; STEPS], steps: None };
        let mut steps = 0;
        // Code 0 never counts and has the value 0, so the value below all steps is 0.
        for code in (0..255).filter(|&code| table[code] != table[code + 1]) {
            if steps == STEPS {
                return stairs;
            }
            stairs.above[steps] = code as u8;
            stairs.value[steps] = table[code + 1];
            steps += 1;
        }
        stairs.steps = Some(steps);
        stairs
    }

    /// Calls `step(rank, values)` for every rank of a block of labels, with values selected by the
    /// steps of the table. The values are the `value(rank, n)` of the step `n` that each label of
    /// one strip is on, 0 below all steps. `N` is no less than the number of steps.
    #[inline(always)]
    fn select<S: Simd, const N: usize>(
        &self,
        simd: S,
        block: &LabelBlock,
        strip: usize,
        value: impl Fn(usize, usize) -> f64,
        mut step: impl FnMut(usize, Strip<S>),
    ) {
        let mut masks = [[0; _]; N];
        for (masks, &above) in masks.iter_mut().zip(&self.above[..self.steps.unwrap_or(0)]) {
            block.by_rank(simd, strip, above, masks);
        }
        for rank in block.ranks.clone() {
            let mut values = [f64x8::splat(simd, 0.0); 2];
            for (n, masks) in masks.iter().enumerate() {
                let value = f64x8::splat(simd, value(rank, n));
                for (half, higher) in lanes_at(simd, masks, rank).into_iter().enumerate() {
                    values[half] = higher.select(value, values[half]);
                }
            }
            step(rank, values);
        }
    }

    /// Calls `step(rank, values)` for every rank of a block of labels, with the table's values
    /// looked up for the labels of one strip.
    #[inline(always)]
    fn look_up<S: Simd>(
        &self,
        simd: S,
        block: &LabelBlock,
        strip: usize,
        mut step: impl FnMut(usize, Strip<S>),
    ) {
        for (quad, labels) in block.strip(strip) {
            let mut values = [[0.0; STRIP]; 4];
            for (lane, labels) in labels.as_chunks::<4>().0.iter().enumerate() {
                for (values, &code) in values.iter_mut().zip(labels) {
                    values[lane % STRIP] = self.table[usize::from(code)];
                }
            }
            for (rank, values) in (quad * 4..).zip(&values) {
                if block.ranks.contains(&rank) {
                    let halves = [&values[..8], &values[8..]];
                    step(rank, halves.map(|half| f64x8::from_slice(simd, half)));
                }
            }
        }
    }
}

impl Weights {
    /// Writes `value`, discounted at consecutive ranks from `first` on, into `out`.
    #[inline(always)]
    fn weigh_ranks(&self, value: f64, first: usize, out: &mut [f64]) {
        match self {
            Self::Divide(d) => {
                out.iter_mut().zip(&d[first - 1..]).for_each(|(out, d)| *out = value / d)
            }
            Self::Multiply(w) => {
                out.iter_mut().zip(&w[first - 1..]).for_each(|(out, w)| *out = value * w)
            }
        }
    }

    #[inline(always)]
    fn weigh_lanes<S: Simd>(&self, value: f64x8<S>, rank: usize) -> f64x8<S> {
        match self {
            Self::Divide(discounts) => value / discounts[rank - 1],
            Self::Multiply(weights) => value * weights[rank - 1],
        }
    }

    /// Adds the weighted chances to stop at a rank to the cascade sums of 16 lanes, and lowers the
    /// chances to read on.
    #[inline(always)]
    fn stop_at<S: Simd>(
        &self,
        rank: usize,
        stops: Strip<S>,
        reading: &mut Strip<S>,
        sum: &mut Strip<S>,
    ) {
        for ((stop, reading), sum) in stops.into_iter().zip(reading).zip(sum) {
            *sum += self.weigh_lanes(*reading * stop, rank);
            *reading *= 1.0 - stop;
        }
    }
}

// Dense, a term depends on the step and the rank alone, not on the lane: so gain / d is divided
// once for each step and rank, in a table shared by all lanes, and lanes only select a term and
// add. The quotient has the operands of the formula, hence its bits. A label of gain 0 adds 0.0 to
// a sum that is not −0.0, which changes no bit.
struct WeightedSum<'a> {
    gain: &'a [f64; 256],
    weights: &'a Weights,
    sum: [f64; LANES],
}

impl<'a> WeightedSum<'a> {
    fn new(gain: &'a [f64; 256], weights: &'a Weights) -> Self {
        Self { gain, weights, sum: [0.0; LANES] }
    }

    /// Adds the discounted gains of a block of labels to the sums, weighing each step of the gain
    /// table once a rank, not each label.
    #[inline(always)]
    fn add_steps<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        block: &LabelBlock,
        stairs: &StepTable,
    ) {
        let mut terms = [[0.0; RANKS]; N];
        for (terms, &gain) in terms.iter_mut().zip(&stairs.value) {
            let first = block.first + block.ranks.start;
            self.weights.weigh_ranks(gain, first, &mut terms[block.ranks.clone()]);
        }
        for strip in 0..block.strips() {
            let mut sum = load(simd, &self.sum, strip);
            stairs.select::<S, N>(
                simd,
                block,
                strip,
                #[inline(always)]
                |rank, n| terms[n][rank % RANKS],
                #[inline(always)]
                |_, terms| sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term),
            );
            store(sum, &mut self.sum, strip);
        }
    }

    #[inline(always)]
    fn add_looked_up<S: Simd>(&mut self, simd: S, block: &LabelBlock, stairs: &StepTable) {
        for strip in 0..block.strips() {
            let mut sum = load(simd, &self.sum, strip);
            stairs.look_up(
                simd,
                block,
                strip,
                #[inline(always)]
                |rank, gains| {
                    for (sum, gain) in sum.iter_mut().zip(gains) {
                        *sum += self.weights.weigh_lanes(gain, block.first + rank);
                    }
                },
            );
            store(sum, &mut self.sum, strip);
        }
    }
}

impl<S: Simd> LaneFold<S> for WeightedSum<'_> {
    #[inline(always)]
    fn crossover(simd: S) -> usize {
        by_width(simd, [6, 4])
    }

    #[inline(always)]
    fn walk(&mut self, simd: S, block: &LabelBlock) {
        block.walk(
            simd,
            #[inline(always)]
            |lane, rank, label| {
                let gain = self.gain[usize::from(block.labels[label])];
                self.sum[lane] += self.weights.term(gain, rank - 1);
            },
        );
    }

    #[inline(always)]
    fn dense(&mut self, simd: S, block: &LabelBlock, _: u8) {
        let gain = StepTable::new(self.gain);
        match gain.steps {
            Some(1) => self.add_steps::<S, 1>(simd, block, &gain),
            Some(2) => self.add_steps::<S, 2>(simd, block, &gain),
            Some(3) => self.add_steps::<S, 3>(simd, block, &gain),
            Some(4) => self.add_steps::<S, 4>(simd, block, &gain),
            Some(_) => self.add_steps::<S, STEPS>(simd, block, &gain),
            None => self.add_looked_up(simd, block, &gain),
        }
    }

    #[inline(always)]
    fn values(&self) -> &[f64; LANES] {
        &self.sum
    }
}

// The term p·stop/d has the lane's own p, so that nothing can be tabled but the stops. A label of
// chance 0 adds 0.0 and multiplies by 1.0. The chance to go on is a chain of products in rank
// order, as the formula has it.
struct Cascade<'a> {
    stop: &'a [f64; 256],
    weights: &'a Weights,
    /// The probability that the user is still reading.
    reading: [f64; LANES],
    sum: [f64; LANES],
}

impl<'a> Cascade<'a> {
    fn new(stop: &'a [f64; 256], weights: &'a Weights) -> Self {
        Self { stop, weights, reading: [1.0; LANES], sum: [0.0; LANES] }
    }
}

impl<S: Simd> LaneFold<S> for Cascade<'_> {
    #[inline(always)]
    fn crossover(simd: S) -> usize {
        by_width(simd, [5, 4])
    }

    #[inline(always)]
    fn walk(&mut self, simd: S, block: &LabelBlock) {
        block.walk(
            simd,
            #[inline(always)]
            |lane, rank, label| {
                let stop = self.stop[usize::from(block.labels[label])];
                self.sum[lane] += self.weights.term(self.reading[lane] * stop, rank - 1);
                self.reading[lane] *= 1.0 - stop;
            },
        );
    }

    #[inline(always)]
    fn dense(&mut self, simd: S, block: &LabelBlock, _: u8) {
        let stops = StepTable::new(self.stop);
        for strip in 0..block.strips() {
            let mut sum = load(simd, &self.sum, strip);
            let mut reading = load(simd, &self.reading, strip);
            match stops.steps {
                Some(1..=4) => stops.select::<S, 4>(
                    simd,
                    block,
                    strip,
                    #[inline(always)]
                    |_, n| stops.value[n],
                    #[inline(always)]
                    |rank, stops| {
                        self.weights.stop_at(block.first + rank, stops, &mut reading, &mut sum)
                    },
                ),
                Some(_) => stops.select::<S, STEPS>(
                    simd,
                    block,
                    strip,
                    #[inline(always)]
                    |_, n| stops.value[n],
                    #[inline(always)]
                    |rank, stops| {
                        self.weights.stop_at(block.first + rank, stops, &mut reading, &mut sum)
                    },
                ),
                None => stops.look_up(
                    simd,
                    block,
                    strip,
                    #[inline(always)]
                    |rank, stops| {
                        self.weights.stop_at(block.first + rank, stops, &mut reading, &mut sum)
                    },
                ),
            }
            store(sum, &mut self.sum, strip);
            store(reading, &mut self.reading, strip);
        }
    }

    #[inline(always)]
    fn values(&self) -> &[f64; LANES] {
        &self.sum
    }
}

// -------------------------------------------------------------------------------------------------
// Peak precision

// A hit beyond the cap of a point is beyond the caps of all earlier points too. So each hit raises
// a single point instead of all eleven.
/// Finds the peak precisions of each ranking of a tile. `h / i` falls from one hit to the next, so
/// a maximum is at a hit. Each hit raises the last point whose cap it has reached, and in the end
/// each point takes the maximum of the points from itself on.
#[inline(always)]
fn peaks<S: Simd>(simd: S, tile: Tile, above: u8, caps: &[&[u32]], out: &mut [f64]) {
    let mut hits = [0_u32; LANES];
    // The number of points whose cap each lane has reached.
    let mut reached = [0; LANES];
    let mut block = LabelBlock::new();
    for ranks in blocks(0..tile.depth) {
        block.turn_to(simd, tile, above, ranks, tile.depth);
        block.walk(
            simd,
            #[inline(always)]
            |lane, rank, _| {
                hits[lane] += 1;
                while caps.get(reached[lane]).is_some_and(|caps| caps[lane] <= hits[lane]) {
                    reached[lane] += 1;
                }
                if reached[lane] > 0 {
                    let peak = &mut out[(reached[lane] - 1) * tile.lanes + lane];
                    *peak = peak.max(f64::from(hits[lane]) / rank as f64);
                }
            },
        );
    }
    for point in (1..caps.len()).rev() {
        let (peaks, later) = out.split_at_mut(point * tile.lanes);
        let peaks = &mut peaks[(point - 1) * tile.lanes..];
        peaks.iter_mut().zip(later).for_each(|(peak, later)| *peak = peak.max(*later));
    }
}

// -------------------------------------------------------------------------------------------------
// Walked folds

// A term of a walked fold depends on several numbers of its lane, and neither a table by rank nor a
// mask can give these numbers. So walked folds never go dense, and cost some cycles a hit at any
// density.
/// Calls `hit(state, lane, rank, code)` for every label of a tile above `above`, down to each
/// cutoff, and `cut(state, index)` after each cutoff.
#[inline(always)]
fn walk_all<S: Simd, T>(
    simd: S,
    tile: Tile,
    above: u8,
    cuts: &[u32],
    state: &mut T,
    mut hit: impl FnMut(&mut T, usize, usize, u8),
    mut cut: impl FnMut(&T, usize),
) {
    let mut block = LabelBlock::new();
    let deepest = cuts.last().map_or(0, |&cut| tile.clip(cut));
    let mut rank = 0;
    for (index, &at) in cuts.iter().enumerate() {
        let end = tile.clip(at);
        for ranks in blocks(rank..end) {
            block.turn_to(simd, tile, above, ranks, deepest);
            block.walk(
                simd,
                #[inline(always)]
                |lane, rank, label| hit(state, lane, rank, block.labels[label]),
            );
        }
        rank = end;
        cut(state, index);
    }
}

// bpref. The special case b = 0 is trec_eval's (m_bpref.c): where R or N is 0 the bound is 0, and
// 0/0 would be no number.
/// Sums over the hits of each ranking, for bpref, by the judged documents above them: at a hit
/// `s += 1 - min(b, cap) / bound`, or 1 while `b` is 0; at another judged label `b += 1`. As
/// `[lane]`.
pub fn preference_sum(
    level: Level,
    tile: Tile,
    [hits, judged]: [u8; 2],
    [caps, bounds]: [&[u32]; 2],
    out: &mut [f64],
) {
    tile.check(1, out.len());
    let step = |(above, sums): &mut ([u32; LANES], [f64; LANES]), lane: usize, _, code: u8| {
        if code <= hits {
            above[lane] += 1;
        } else if above[lane] == 0 {
            sums[lane] += 1.0;
        } else {
            sums[lane] += 1.0 - f64::from(above[lane].min(caps[lane])) / f64::from(bounds[lane]);
        }
    };
    let mut state = ([0; LANES], [0.0; LANES]);
    let store = |(_, sums): &(_, [f64; LANES]), _| out.copy_from_slice(&sums[..tile.lanes]);
    dispatch!(
        level,
        simd => walk_all(simd, tile, judged.min(hits), &[u32::MAX], &mut state, step, store)
    );
}

// InfAP. The walk skips documents outside the pool, because such documents count through the rank
// alone. A negative grade means in the pool and not judged.
/// Sums the expected precision at the hits of each ranking, for InfAP, with a pool of which a
/// sample was judged; the term is defined at `Fold::InferredSum`. As `[lane]`.
pub fn inferred_sum(level: Level, tile: Tile, hits: u8, out: &mut [f64]) {
    tile.check(1, out.len());
    let step = |(above, sums): &mut ([[u32; 3]; LANES], [f64; LANES]),
                lane: usize,
                rank: usize,
                code: u8| {
        let above = &mut above[lane];
        match code {
            NEGATIVE => above[2] += 1,
            _ if code <= hits => above[1] += 1,
            _ => {
                sums[lane] += inferred_term(rank, *above);
                above[0] += 1;
            }
        }
    };
    let mut state = ([[0; 3]; LANES], [0.0; LANES]);
    let store = |(_, sums): &(_, [f64; LANES]), _| out.copy_from_slice(&sums[..tile.lanes]);
    let cuts = [u32::MAX];
    dispatch!(level, simd => walk_all(simd, tile, NOT_IN_QRELS, &cuts, &mut state, step, store));
}

/// Returns InfAP's expected precision at a hit at `rank` (from 1), below the given numbers of
/// relevant, non-relevant, and pooled but unjudged documents.
#[inline(always)]
fn inferred_term(rank: usize, [relevant, nonrelevant, pooled]: [u32; 3]) -> f64 {
    const EPSILON: f64 = 0.00001;
    let above = (rank - 1) as f64;
    if rank == 1 {
        return 1.0;
    }
    let (relevant, judged) = (f64::from(relevant), f64::from(relevant + nonrelevant));
    1.0 / (above + 1.0)
        + (above / (above + 1.0))
            * ((judged + f64::from(pooled)) / above)
            * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))
}

// i − h are the documents above that are no hits, since h counts this one. In u64: pairs of a deep
// ranking exceed 2³², and f64 takes them exactly below 2⁵³, that is to depth 2²⁷ and more.
/// Counts the pairs of a hit and a label above it that is no hit, in each ranking of a tile: at a
/// hit `h += 1; s += i - h`. As `[cut][lane]`.
pub fn pair_sum(level: Level, tile: Tile, above: u8, cuts: &[u32], out: &mut [f64]) {
    tile.check(cuts.len(), out.len());
    let step = |(hits, pairs): &mut ([u32; LANES], [u64; LANES]), lane: usize, rank: usize, _| {
        hits[lane] += 1;
        pairs[lane] += rank as u64 - u64::from(hits[lane]);
    };
    let mut state = ([0; LANES], [0; LANES]);
    let store = |(_, pairs): &(_, [u64; LANES]), cut: usize| {
        let out = &mut out[cut * tile.lanes..][..tile.lanes];
        out.iter_mut().zip(pairs).for_each(|(out, &pairs)| *out = pairs as f64);
    };
    dispatch!(level, simd => walk_all(simd, tile, above, cuts, &mut state, step, store));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::Cpu;

    /// Quotients without a division have the bits of a division: for all hits down to rank 4096,
    /// and for many at ranks up to the last one.
    #[test]
    fn quotients_are_those_of_a_division() {
        for cpu in Cpu::levels() {
            dispatch!(cpu.level(), simd => check_quotients(simd));
        }
    }

    #[inline(always)]
    fn check_quotients<S: Simd>(simd: S) {
        if !fuses_and_counts(simd) {
            return;
        }
        let mut state = 5u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut inverses = Inverses::new();
        let mut check = |first: usize, place: usize, hits: &dyn Fn(usize) -> usize| {
            inverses.fill(simd, first, &(place..place + 1));
            let i = first + place;
            let h = f64x8::from_fn(simd, |n| hits(n).clamp(1, i) as f64);
            let (found, expected) = (inverses.quotient(h, place), h / i as f64);
            let bits = |vector: f64x8<S>| vector.as_array().map(f64::to_bits);
            assert_eq!(bits(found), bits(expected), "{h:?} / {i}");
        };
        for i in 1..=4096 {
            (1..=i)
                .step_by(8)
                .for_each(|h| check((i - 1) / RANKS * RANKS + 1, (i - 1) % RANKS, &|n| h + n));
        }
        for _ in 0..20_000 {
            // The largest ranks as well, and numbers of hits near to simple shares of them, whose
            // quotients are near to midpoints.
            let most = 1 << (1 + random(18));
            let first = 1 + random(most) * RANKS;
            let (place, share) = (random(RANKS), 1 + random(9));
            check(first, place, &|n| ((first + place) / share + n).saturating_sub(4));
            let h = 1 + random(first + place);
            check(first, place, &|n| h ^ n);
        }
    }
}
