//! The folds of the CPU engine: what a tile of labels comes to, lane by lane.
//!
//! A fold steps down the ranks of every ranking of a tile and keeps a small state: a count, a sum, the first rank of a
//! hit. It knows codes, thresholds, gains and rank weights, never the name of a measure. Every lane adds in rank order
//! with the operations that the formula shows, so the answers are those of a plain `f64` loop, bit for bit, at every
//! SIMD level.
//!
//! # Labels
//!
//! A tile is 64 rankings side by side (16 for a few deep ones) and lies as `[rank/4][lane][rank%4]`: four consecutive
//! ranks of a lane, a *quad*, are four adjacent bytes, and one 64-byte vector is 16 lanes, a *strip*, by four ranks.
//! Code 0 is past the end of a ranking and never counts.
//!
//! # Walk or go dense
//!
//! Judgments are sparse: most labels are not hits (`code > above`). So the labels are compared first, a block of 64
//! vectors at a time, which stays in L1, and what follows depends on how many hits the block has:
//!
//! ```text
//! for each block between two cutoffs:
//!     masks[v] = labels[v] > above                    # 64 bits a vector, bit 4·lane + rank%4
//!     none:  next block
//!     few:   for each set bit: step(lane, rank)       # scalar; ascending bits are in rank order within a lane
//!     many:  for each strip:                          # 16 lanes in registers: four or eight accumulators
//!                masks by rank                        # bit 16·rank%4 + lane
//!                for each rank: step all 16 lanes under their mask
//! ```
//!
//! Comparing costs one load, one compare and one mask move for 64 labels: it runs at memory speed. Walking costs some
//! 5 cycles a hit and a mispredicted branch for most vectors that have one. Going dense costs the same whatever the
//! labels are. The two lines cross near one hit in twenty labels; `Fold::CROSSOVER` says where for each fold.
//!
//! A cutoff ends a block early and costs the store of one row of the output. A block that starts or ends inside a quad
//! clears the bits outside it.
//!
//! # Division
//!
//! `h / i` is the quotient as rounded once. Where there is a fused multiply-add, three fast operations give the same
//! bits as a division: `q = h·r`, then `q + fma(−q, i, h)·r` with `r = 1/i` (for `h <= i < 2^26`). Elsewhere it is
//! divided.
//!
//! # Gains
//!
//! A gain table is a staircase over the codes, which are sorted by grade: few grades, few steps. Up to eight steps are
//! climbed by compare and select, `g = code > above ? gain : g`; longer tables are looked up, label by label.

use std::ops::Range;

use fearless_simd::{Level, dispatch, f64x8, mask8x64, mask64x8, prelude::*, u8x16, u8x64, u16x32, u32x16};

use crate::fold::Weights;
use crate::label::Tile;

/// Labels in one SIMD vector.
const VECTOR: usize = 64;
/// Lanes in one SIMD vector.
const STRIP: usize = 16;
/// Most lanes of a tile.
const LANES: usize = 64;
/// Vectors of a block.
const BLOCK: usize = 64;
/// Longest staircase that is climbed instead of looked up.
const STEPS: usize = 8;
/// From this depth on a quotient is divided at every level.
const DEEPEST_FUSED: usize = 1 << 26;

/// What [`hits`] is asked for.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Cutoffs of the hit counts.
    pub counts: &'a [u32],
    /// Cutoffs of the precision sums.
    pub precision: &'a [u32],
    /// The first hit is looked for down to this rank; 0: not at all.
    pub first: u32,
}

/// Hits down to each cutoff, `#{i <= cut : c_i > above}`, as `[cut][lane]`.
///
/// Cutoffs ascend; one beyond the depth means the end of the ranking, here and in all folds.
pub fn count(level: Level, tile: Tile, above: u8, cuts: &[u32], out: &mut [u32]) {
    tile.check(cuts.len(), out.len());
    dispatch!(level, simd => count_at(simd, tile, above, cuts, out));
}

/// Hits down to a limit of each lane's own, `#{i <= limits[lane] : c_i > above}`.
pub fn count_within(level: Level, tile: Tile, above: u8, limits: &[u32], out: &mut [u32]) {
    tile.check(1, out.len());
    assert_eq!(limits.len(), tile.lanes, "one limit a lane");
    dispatch!(level, simd => count_limited(simd, tile, above, limits, out));
}

/// The rank of each lane's first hit at rank `upto` or above it; 0 where there is none.
pub fn first_rank(level: Level, tile: Tile, above: u8, upto: u32, out: &mut [u32]) {
    tile.check(1, out.len());
    dispatch!(level, simd => first_rank_upto(simd, tile, above, upto, out));
}

/// The sum of the precisions at the hits, `h += 1; s += h / i`, as `[cut][lane]`.
pub fn precision_sum(level: Level, tile: Tile, above: u8, cuts: &[u32], out: &mut [f64]) {
    tile.check(cuts.len(), out.len());
    dispatch!(level, simd => sweep(simd, tile, above, cuts, PrecisionSum::<false>::new(), out));
}

/// [`count`], [`precision_sum`] and [`first_rank`] of one threshold in one pass over the labels.
pub fn hits(
    level: Level,
    tile: Tile,
    above: u8,
    wanted: Wanted,
    counts: &mut [u32],
    precision: &mut [f64],
    first: &mut [u32],
) {
    tile.check(wanted.counts.len(), counts.len());
    tile.check(wanted.precision.len(), precision.len());
    tile.check(1, first.len());
    dispatch!(level, simd => hits_at(simd, tile, above, wanted, counts, precision, first));
}

/// The weighted sum of gains, `s += gain[c] / d_i` or `s += gain[c] * w_i`, as `[cut][lane]`; `gain[0]` is 0.
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

/// A user who stops at a document with probability `stop[c]`: `s += p * stop[c] / d_i` (or `* w_i`), then
/// `p *= 1 - stop[c]`, from `p = 1`; as `[cut][lane]`. `stop[0]` is 0.
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

/// How often each code occurs down to each cutoff, as `[cut][lane][256]`; code 0 is not counted.
pub fn histogram(tile: Tile, cuts: &[u32], out: &mut [u32]) {
    tile.check(cuts.len() * 256, out.len());
    let row = tile.lanes * 256;
    let mut rank = 0;
    for cut in 0..cuts.len() {
        let (before, counts) = out.split_at_mut(cut * row);
        let counts = &mut counts[..row];
        match cut {
            0 => counts.fill(0),
            _ => counts.copy_from_slice(&before[(cut - 1) * row..]),
        }
        let end = tile.clip(cuts[cut]);
        tally(tile, rank..end, counts);
        rank = end;
        counts.chunks_exact_mut(256).for_each(|lane| lane[0] = 0);
    }
}

/// The best precision from a given recall on: for each point, the maximum of `h(i) / i` over the ranks from that of the
/// hit numbered `caps[point][lane]` on (from rank 1 for a cap of 0); 0 where there are fewer hits. As `[point][lane]`.
///
/// Points ascend in their cap, lane by lane.
pub fn peak_precision(level: Level, tile: Tile, above: u8, caps: &[&[u32]], out: &mut [f64]) {
    tile.check(caps.len(), out.len());
    assert!(caps.iter().all(|caps| caps.len() == tile.lanes), "one cap a lane");
    out.fill(0.0);
    dispatch!(level, simd => peaks(simd, tile, above, caps, out));
}

impl<'a> Tile<'a> {
    fn check(&self, rows: usize, out: usize) {
        assert!(self.lanes == STRIP || self.lanes == LANES, "a tile has 16 or 64 lanes, not {}", self.lanes);
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

    /// The labels of whole quads.
    fn quads(&self, quads: Range<usize>) -> &'a [u8] {
        &self.labels[quads.start * 4 * self.lanes..quads.end * 4 * self.lanes]
    }
}

/// The code below the lowest one with a value other than zero.
fn above_zero(table: &[f64; 256]) -> Option<u8> {
    debug_assert_eq!(table[0], 0.0, "code 0 never counts");
    table.iter().skip(1).position(|&value| value != 0.0).map(|code| code as u8)
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks of labels and their hits

/// Up to 64 vectors of labels, whole quads, and which of them are hits.
struct Block<'a> {
    labels: &'a [u8],
    strips: usize,
    /// Rank (from 1) of the first label.
    first: usize,
    /// Ranks that take part, counted from `first`.
    ranks: Range<usize>,
    /// Hits of a vector: bit `4 * lane + rank % 4`.
    masks: [u64; BLOCK],
    hits: u32,
}

/// Masks of hits of one strip, by rank: bytes `2 * rank` (lanes 0 to 7) and `2 * rank + 1` (lanes 8 to 15).
type ByRank = [u8; 8 * BLOCK];

impl<'a> Block<'a> {
    /// The ranks `ranks` (from 0) of the tile, which span at most `BLOCK` vectors.
    #[inline(always)]
    fn new<S: Simd>(simd: S, tile: Tile<'a>, above: u8, ranks: Range<usize>) -> Self {
        let quads = ranks.start / 4..ranks.end.div_ceil(4);
        let first = quads.start * 4;
        let mut block = Block {
            labels: tile.quads(quads),
            strips: tile.strips(),
            first: first + 1,
            ranks: ranks.start - first..ranks.end - first,
            masks: [0; BLOCK],
            hits: 0,
        };
        let threshold = u8x64::splat(simd, above);
        for (mask, labels) in block.masks.iter_mut().zip(block.labels.chunks_exact(VECTOR)) {
            *mask = u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask();
        }
        block.clear_outside();
        block.hits = block.masks.iter().map(|mask| mask.count_ones()).sum();
        block
    }

    /// Clears the hits of the first and the last quad at ranks outside the block.
    #[inline(always)]
    fn clear_outside(&mut self) {
        let vectors = self.labels.len() / VECTOR;
        let head = ranks_of_quad(self.ranks.start % 4..4);
        let tail = ranks_of_quad(0..(self.ranks.end + 3) % 4 + 1);
        self.masks[..self.strips].iter_mut().for_each(|mask| *mask &= head);
        self.masks[vectors - self.strips..vectors].iter_mut().for_each(|mask| *mask &= tail);
    }

    /// Calls `hit(lane, rank, code)` for every hit, in rank order within each lane.
    #[inline(always)]
    fn walk(&self, mut hit: impl FnMut(usize, usize, u8)) {
        for (v, labels) in self.labels.chunks_exact(VECTOR).enumerate() {
            let mut mask = self.masks[v % BLOCK];
            let lane = v % self.strips * STRIP;
            let rank = self.first + v / self.strips * 4;
            while mask != 0 {
                let bit = mask.trailing_zeros() as usize;
                hit((lane + bit / 4) % LANES, rank + bit % 4, labels[bit % VECTOR]);
                mask &= mask - 1;
            }
        }
    }

    /// The vectors of one strip.
    #[inline(always)]
    fn strip(&self, strip: usize) -> impl Iterator<Item = &'a [u8]> {
        self.labels.chunks_exact(VECTOR).skip(strip).step_by(self.strips)
    }

    /// The masks of `code > above` of one strip, by rank.
    #[inline(always)]
    fn by_rank<S: Simd>(&self, simd: S, strip: usize, above: u8, masks: &mut ByRank) {
        let threshold = u8x64::splat(simd, above);
        for (masks, labels) in masks.as_chunks_mut::<8>().0.iter_mut().zip(self.strip(strip)) {
            let [a, b, c, d] = u8x16::load_four_interleaved(simd, labels);
            let codes: u8x64<S> = a.combine(b).combine(c.combine(d));
            *masks = codes.simd_gt(threshold).to_bitmask().to_le_bytes();
        }
    }
}

/// The bits of a vector's mask that belong to some ranks of its quad.
#[inline(always)]
fn ranks_of_quad(ranks: Range<usize>) -> u64 {
    let nibble = (1 << ranks.end) - (1 << ranks.start);
    0x1111_1111_1111_1111 * nibble
}

/// A fold that walks hits or steps 16 lanes at a time.
trait Fold<S: Simd> {
    /// A block with more hits than one label in so many is folded densely.
    const CROSSOVER: u32;

    fn walk(&mut self, block: &Block);

    fn dense(&mut self, simd: S, block: &Block, above: u8);

    /// The values of the lanes at the ranks folded so far.
    fn values(&self) -> &[f64; LANES];
}

/// Folds the ranks from one cutoff to the next and stores the values at each.
#[inline(always)]
fn sweep<S: Simd>(simd: S, tile: Tile, above: u8, cuts: &[u32], mut fold: impl Fold<S>, out: &mut [f64]) {
    let mut rank = 0;
    for (&cut, out) in cuts.iter().zip(out.chunks_exact_mut(tile.lanes)) {
        let end = tile.clip(cut);
        advance(simd, tile, above, rank..end, &mut fold);
        rank = end;
        out.copy_from_slice(&fold.values()[..tile.lanes]);
    }
}

#[inline(always)]
fn advance<S: Simd>(simd: S, tile: Tile, above: u8, ranks: Range<usize>, fold: &mut impl Fold<S>) {
    for ranks in blocks(tile, ranks) {
        let block = Block::new(simd, tile, above, ranks);
        if block.hits == 0 {
            continue;
        }
        match is_sparse(&block, fold) {
            true => fold.walk(&block),
            false => fold.dense(simd, &block, above),
        }
    }
}

#[inline(always)]
fn is_sparse<S: Simd, F: Fold<S>>(block: &Block, _: &F) -> bool {
    block.hits * F::CROSSOVER < block.labels.len() as u32
}

/// Splits ranks (from 0) at the borders of blocks.
#[inline(always)]
fn blocks(tile: Tile, ranks: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let step = BLOCK / tile.strips() * 4;
    let mut start = ranks.start;
    std::iter::from_fn(move || {
        let block = start..ranks.end.min((start / step + 1) * step);
        start = block.end;
        (!block.is_empty()).then_some(block)
    })
}

// ---------------------------------------------------------------------------------------------------------------------
// Sixteen lanes

/// Values of 16 lanes.
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
fn lanes_at<S: Simd>(simd: S, masks: &ByRank, rank: usize) -> [mask64x8<S>; 2] {
    let [low, high] = [masks[2 * rank % masks.len()], masks[(2 * rank + 1) % masks.len()]];
    [mask64x8::from_bitmask(simd, low.into()), mask64x8::from_bitmask(simd, high.into())]
}

/// Whether `mul_add` rounds once.
#[inline(always)]
fn has_fused<S: Simd>(simd: S) -> bool {
    match simd.level() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(_) | Level::Avx512(_) => true,
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => true,
        _ => false,
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Precision sums, and all that hits of one threshold can tell

/// `h += 1; s += h / i` at each hit; with `FIRST` also the rank of the hit that is the first.
struct PrecisionSum<const FIRST: bool> {
    hits: [f64; LANES],
    sum: [f64; LANES],
    first: [u32; LANES],
}

impl<const FIRST: bool> PrecisionSum<FIRST> {
    fn new() -> Self {
        PrecisionSum { hits: [0.0; LANES], sum: [0.0; LANES], first: [0; LANES] }
    }

    /// The first hits in a block that is not walked.
    #[inline(always)]
    fn find_first(&mut self, block: &Block) {
        for strip in 0..block.strips {
            let first = &mut self.first[strip * STRIP..][..STRIP];
            let mut open = open_lanes(first);
            for (quad, v) in (strip..block.labels.len() / VECTOR).step_by(block.strips).enumerate() {
                if open == 0 {
                    break;
                }
                open = first_of_quad(block.masks[v % BLOCK], open, block.first + quad * 4, first);
            }
        }
    }
}

impl<S: Simd, const FIRST: bool> Fold<S> for PrecisionSum<FIRST> {
    const CROSSOVER: u32 = 20;

    #[inline(always)]
    fn walk(&mut self, block: &Block) {
        block.walk(
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
    fn dense(&mut self, simd: S, block: &Block, above: u8) {
        if FIRST {
            self.find_first(block);
        }
        let fused = has_fused(simd) && block.first + block.ranks.end < DEEPEST_FUSED;
        let mut masks = [0; _];
        for strip in 0..block.strips {
            block.by_rank(simd, strip, above, &mut masks);
            let mut hits = load(simd, &self.hits, strip);
            let mut sum = load(simd, &self.sum, strip);
            for rank in block.ranks.clone() {
                let i = (block.first + rank) as f64;
                for (half, hit) in lanes_at(simd, &masks, rank).into_iter().enumerate() {
                    let h = hit.select(hits[half] + 1.0, hits[half]);
                    let precision = if fused { fused_quotient(simd, h, i) } else { h / i };
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

/// `h / i` without a division, as rounded once: for `h <= i < 2^26`, where `mul_add` rounds once.
#[inline(always)]
fn fused_quotient<S: Simd>(simd: S, h: f64x8<S>, i: f64) -> f64x8<S> {
    let inverse = f64x8::splat(simd, 1.0 / i);
    let q = h * inverse;
    let rest = (-q).mul_add(f64x8::splat(simd, i), h);
    rest.mul_add(inverse, q)
}

#[inline(always)]
fn hits_at<S: Simd>(
    simd: S,
    tile: Tile,
    above: u8,
    wanted: Wanted,
    counts: &mut [u32],
    precision: &mut [f64],
    first: &mut [u32],
) {
    let mut counts = wanted.counts.iter().zip(counts.chunks_exact_mut(tile.lanes)).peekable();
    let mut precision = wanted.precision.iter().zip(precision.chunks_exact_mut(tile.lanes)).peekable();
    let mut first = Some((&wanted.first, first)).into_iter().peekable();
    let mut fold = PrecisionSum::<true>::new();
    let mut rank = 0;
    loop {
        let cuts = [counts.peek().map(|c| c.0), precision.peek().map(|c| c.0), first.peek().map(|c| c.0)];
        let Some(&cut) = cuts.into_iter().flatten().min() else { return };
        let end = tile.clip(cut);
        advance(simd, tile, above, rank..end, &mut fold);
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

// ---------------------------------------------------------------------------------------------------------------------
// First hits

/// The nibbles of a strip's lanes that have no first hit yet.
#[inline(always)]
fn open_lanes(first: &[u32]) -> u64 {
    first.iter().enumerate().map(|(lane, &rank)| u64::from(rank == 0) * (0xf << (4 * lane))).sum()
}

/// Notes the first hits of one strip in one quad, and says which lanes are still open.
#[inline(always)]
fn first_of_quad(mask: u64, mut open: u64, rank: usize, first: &mut [u32]) -> u64 {
    let mut mask = mask & open;
    while mask != 0 {
        let bit = mask.trailing_zeros() as usize;
        first[bit / 4] = (rank + bit % 4) as u32;
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

// ---------------------------------------------------------------------------------------------------------------------
// Counts

/// Quads whose hits a byte can count, and whose ranks a byte can tell apart.
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

/// Counts whole quads in bytes, one for each lane and rank of the quad, and the ends of the range under a mask.
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
            // How many ranks on from the first quad of this stretch a lane still counts, for each rank of a quad.
            let left =
                |byte: usize| (limits[byte / 4] as usize).saturating_sub(first * 4 + byte % 4).min(255) as u8;
            let left = u8x64::from_fn(simd, left);
            let mut counted = u8x64::splat(simd, 0);
            let labels = tile.quads(first..quads.min(first + COUNTED));
            for (quad, labels) in labels.chunks_exact(VECTOR).skip(strip).step_by(tile.strips()).enumerate() {
                let inside = left.simd_gt(u8x64::splat(simd, quad as u8 * 4));
                counted -= bytes(u8x64::from_slice(simd, labels).simd_gt(threshold) & inside);
            }
            add_counts(&[counted], &mut hits[strip * STRIP..]);
        }
    }
    out.copy_from_slice(&hits[..tile.lanes]);
}

/// 255 where the mask is set.
#[inline(always)]
fn bytes<S: Simd>(mask: mask8x64<S>) -> u8x64<S> {
    mask.to_vector().bitcast()
}

/// Adds the four counts of each lane to its hits.
#[inline(always)]
fn add_counts<S: Simd>(counted: &[u8x64<S>], hits: &mut [u32]) {
    for (counted, hits) in counted.iter().zip(hits.chunks_exact_mut(STRIP)) {
        let pairs: u16x32<S> = counted.pairwise_widening_add();
        let lanes: u32x16<S> = pairs.pairwise_widening_add();
        hits.iter_mut().zip(lanes.as_array()).for_each(|(hits, lane)| *hits += lane);
    }
}

fn tally(tile: Tile, ranks: Range<usize>, counts: &mut [u32]) {
    let mut start = ranks.start;
    while start < ranks.end {
        let quad = start / 4;
        let end = ranks.end.min(quad * 4 + 4);
        let lanes = tile.quads(quad..quad + 1).chunks_exact(4).zip(counts.as_chunks_mut::<256>().0);
        for (labels, counts) in lanes {
            for &code in &labels[start - quad * 4..end - quad * 4] {
                counts[usize::from(code)] += 1;
            }
        }
        start = end;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Gains

/// A table of 256 values by code, and its steps where it has few.
struct Staircase<'a> {
    table: &'a [f64; 256],
    /// `above[n] < code` takes the value `value[n]`, the last step that does wins.
    above: [u8; STEPS],
    value: [f64; STEPS],
    /// None: too many.
    steps: Option<usize>,
}

impl<'a> Staircase<'a> {
    fn new(table: &'a [f64; 256]) -> Self {
        let mut stairs = Staircase { table, above: [0; STEPS], value: [0.0; STEPS], steps: None };
        let mut steps = 0;
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

    /// Calls `step(rank, values)` for every rank of a block with the values of one strip's labels.
    #[inline(always)]
    fn climb<S: Simd>(&self, simd: S, block: &Block, strip: usize, step: impl FnMut(usize, Strip<S>)) {
        match self.steps {
            Some(1) => self.select::<S, 1>(simd, block, strip, step),
            Some(2) => self.select::<S, 2>(simd, block, strip, step),
            Some(3) => self.select::<S, 3>(simd, block, strip, step),
            Some(4) => self.select::<S, 4>(simd, block, strip, step),
            Some(_) => self.select::<S, STEPS>(simd, block, strip, step),
            None => self.look_up(simd, block, strip, step),
        }
    }

    #[inline(always)]
    fn select<S: Simd, const N: usize>(
        &self,
        simd: S,
        block: &Block,
        strip: usize,
        mut step: impl FnMut(usize, Strip<S>),
    ) {
        let mut masks = [[0; _]; N];
        for (masks, &above) in masks.iter_mut().zip(&self.above[..self.steps.unwrap_or(0)]) {
            block.by_rank(simd, strip, above, masks);
        }
        for rank in block.ranks.clone() {
            let mut values = [f64x8::splat(simd, 0.0); 2];
            for (masks, &value) in masks.iter().zip(&self.value) {
                let value = f64x8::splat(simd, value);
                for (half, higher) in lanes_at(simd, masks, rank).into_iter().enumerate() {
                    values[half] = higher.select(value, values[half]);
                }
            }
            step(rank, values);
        }
    }

    #[inline(always)]
    fn look_up<S: Simd>(&self, simd: S, block: &Block, strip: usize, mut step: impl FnMut(usize, Strip<S>)) {
        for (quad, labels) in block.strip(strip).enumerate() {
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
    /// `value / d_i` or `value * w_i`.
    #[inline(always)]
    fn weigh(&self, value: f64, rank: usize) -> f64 {
        match self {
            Weights::Divide(discounts) => value / discounts[rank - 1],
            Weights::Multiply(weights) => value * weights[rank - 1],
        }
    }

    #[inline(always)]
    fn weigh_lanes<S: Simd>(&self, value: f64x8<S>, rank: usize) -> f64x8<S> {
        match self {
            Weights::Divide(discounts) => value / discounts[rank - 1],
            Weights::Multiply(weights) => value * weights[rank - 1],
        }
    }
}

struct WeightedSum<'a> {
    gain: Staircase<'a>,
    weights: &'a Weights,
    sum: [f64; LANES],
}

impl<'a> WeightedSum<'a> {
    fn new(gain: &'a [f64; 256], weights: &'a Weights) -> Self {
        WeightedSum { gain: Staircase::new(gain), weights, sum: [0.0; LANES] }
    }
}

impl<S: Simd> Fold<S> for WeightedSum<'_> {
    const CROSSOVER: u32 = 20;

    #[inline(always)]
    fn walk(&mut self, block: &Block) {
        block.walk(
            #[inline(always)]
            |lane, rank, code| self.sum[lane] += self.weights.weigh(self.gain.table[usize::from(code)], rank),
        );
    }

    #[inline(always)]
    fn dense(&mut self, simd: S, block: &Block, _: u8) {
        for strip in 0..block.strips {
            let mut sum = load(simd, &self.sum, strip);
            self.gain.climb(
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

    #[inline(always)]
    fn values(&self) -> &[f64; LANES] {
        &self.sum
    }
}

struct Cascade<'a> {
    stop: Staircase<'a>,
    weights: &'a Weights,
    /// The probability that the user is still reading.
    reading: [f64; LANES],
    sum: [f64; LANES],
}

impl<'a> Cascade<'a> {
    fn new(stop: &'a [f64; 256], weights: &'a Weights) -> Self {
        Cascade { stop: Staircase::new(stop), weights, reading: [1.0; LANES], sum: [0.0; LANES] }
    }
}

impl<S: Simd> Fold<S> for Cascade<'_> {
    const CROSSOVER: u32 = 20;

    #[inline(always)]
    fn walk(&mut self, block: &Block) {
        block.walk(
            #[inline(always)]
            |lane, rank, code| {
                let stop = self.stop.table[usize::from(code)];
                self.sum[lane] += self.weights.weigh(self.reading[lane] * stop, rank);
                self.reading[lane] *= 1.0 - stop;
            },
        );
    }

    #[inline(always)]
    fn dense(&mut self, simd: S, block: &Block, _: u8) {
        for strip in 0..block.strips {
            let mut sum = load(simd, &self.sum, strip);
            let mut reading = load(simd, &self.reading, strip);
            self.stop.climb(
                simd,
                block,
                strip,
                #[inline(always)]
                |rank, stops| {
                    for (half, stop) in stops.into_iter().enumerate() {
                        let stopped = reading[half] * stop;
                        sum[half] += self.weights.weigh_lanes(stopped, block.first + rank);
                        reading[half] *= 1.0 - stop;
                    }
                },
            );
            store(sum, &mut self.sum, strip);
            store(reading, &mut self.reading, strip);
        }
    }

    #[inline(always)]
    fn values(&self) -> &[f64; LANES] {
        &self.sum
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Peak precision

/// `h / i` falls from one hit to the next, so a maximum is at a hit. Each hit raises the last point whose cap it has
/// reached, and in the end each point takes the maximum of the points from itself on.
#[inline(always)]
fn peaks<S: Simd>(simd: S, tile: Tile, above: u8, caps: &[&[u32]], out: &mut [f64]) {
    let mut hits = [0_u32; LANES];
    // Points whose cap has been reached.
    let mut reached = [0; LANES];
    for ranks in blocks(tile, 0..tile.depth) {
        Block::new(simd, tile, above, ranks).walk(
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
