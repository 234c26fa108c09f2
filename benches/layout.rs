//! The two layouts that the labels of a tile could have: `[rank][lane]` and
//! `[rank/4][lane][rank%4]`.
//!
//! Both layouts run the same two folds over the same labels, each with the best simple kernel we
//! know for it: the set bits of the compare masks are walked where hits are few, and a select-add
//! over 16 lanes runs where they are many. The answers must agree bit for bit before anything is
//! timed.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fearless_simd::{Level, Select, dispatch, f64x8, mask64x8, prelude::*, u8x16, u8x64, u32x16};

const LANES: usize = 64;
/// Ranks whose compare masks are held at a time.
const BLOCK: usize = 64;
/// A block with more hits than one label in this many is folded densely.
const CROSSOVER: u32 = 20;
/// Codes above this one are relevant.
const ABOVE: u8 = 3;
const GAINS: [(u8, f64); 3] = [(4, 1.0), (5, 3.0), (6, 7.0)];

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// `[rank][lane]`
    Ranks,
    /// `[rank/4][lane][rank%4]`
    Quads,
}

impl Layout {
    /// 0-based rank and lane of the label at `at` in one rank block of 256 labels.
    #[inline(always)]
    fn place(self, vector: usize, bit: usize) -> (usize, usize) {
        match self {
            Layout::Ranks => (vector, bit),
            Layout::Quads => (vector / 4 * 4 + bit % 4, vector % 4 * 16 + bit / 4),
        }
    }

    fn index(self, rank: usize, lane: usize) -> usize {
        match self {
            Layout::Ranks => rank * LANES + lane,
            Layout::Quads => (rank / 4 * LANES + lane) * 4 + rank % 4,
        }
    }
}

struct Lanes {
    hits: [f64; LANES],
    sum: [f64; LANES],
}

/// Returns the mask of hits for every 64 bytes of the block, and the number of hits.
#[inline(always)]
fn compare<S: Simd>(simd: S, labels: &[u8], masks: &mut [u64; BLOCK]) -> u32 {
    let above = u8x64::splat(simd, ABOVE);
    let mut hits = 0;
    for (mask, labels) in masks.iter_mut().zip(labels.chunks_exact(64)) {
        *mask = u8x64::from_slice(simd, labels).simd_gt(above).to_bitmask();
        hits += mask.count_ones();
    }
    hits
}

#[inline(always)]
fn walk(layout: Layout, masks: &[u64], mut hit: impl FnMut(usize, usize, usize)) {
    for (vector, &mask) in masks.iter().enumerate() {
        let mut mask = mask;
        while mask != 0 {
            let bit = mask.trailing_zeros() as usize;
            let (rank, lane) = layout.place(vector, bit);
            hit(rank, lane, vector * 64 + bit);
            mask &= mask - 1;
        }
    }
}

/// Masks of `code > above` for 16 lanes of every rank of a block, in rank order.
#[inline(always)]
fn ranks_of_16<S: Simd>(
    simd: S,
    layout: Layout,
    labels: &[u8],
    lane: usize,
    steps: &[u8],
    mut rank: impl FnMut(usize, usize, mask64x8<S>, mask64x8<S>),
) {
    match layout {
        Layout::Ranks => {
            for (i, labels) in labels.chunks_exact(LANES).enumerate() {
                let codes = u8x16::from_slice(simd, &labels[lane..lane + 16]);
                for (step, &above) in steps.iter().enumerate() {
                    let bits = codes.simd_gt(u8x16::splat(simd, above)).to_bitmask();
                    rank(
                        i,
                        step,
                        mask64x8::from_bitmask(simd, bits),
                        mask64x8::from_bitmask(simd, bits >> 8),
                    );
                }
            }
        }
        Layout::Quads if matches!(simd.level(), Level::Avx512(_)) => {
            let by_rank = u8x64::from_fn(simd, |b| (b % 16 * 4 + b / 16) as u8);
            let mut hits = [[[0; 8]; BLOCK / 4]; GAINS.len()];
            for (quad, labels) in labels.chunks_exact(4 * LANES).enumerate() {
                let codes =
                    u8x64::from_slice(simd, &labels[lane * 4..lane * 4 + 64]).swizzle_dyn(by_rank);
                for (hits, &above) in hits.iter_mut().zip(steps) {
                    let bits = codes.simd_gt(u8x64::splat(simd, above)).to_bitmask();
                    hits[quad % (BLOCK / 4)] = bits.to_le_bytes();
                }
            }
            for i in 0..labels.len() / LANES {
                for (step, hits) in hits.iter().enumerate().take(steps.len()) {
                    let bits =
                        hits.as_flattened()[2 * i % (2 * BLOCK)..].first_chunk::<2>().unwrap();
                    let [low, high] =
                        bits.map(|bits| mask64x8::from_bitmask(simd, u64::from(bits)));
                    rank(i, step, low, high);
                }
            }
        }
        Layout::Quads => {
            for (quad, labels) in labels.chunks_exact(4 * LANES).enumerate() {
                let codes: u32x16<S> =
                    u8x64::from_slice(simd, &labels[lane * 4..lane * 4 + 64]).bitcast();
                for i in 0..4 {
                    let top = codes << (24 - 8 * i as u32);
                    for (step, &above) in steps.iter().enumerate() {
                        let above = u32::from(above) << 24 | 0xff_ffff;
                        let (low, high) = top.simd_gt(u32x16::splat(simd, above)).widen();
                        rank(quad * 4 + i, step, low, high);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn has_fma<S: Simd>(simd: S) -> bool {
    matches!(simd.level(), Level::Avx2(_) | Level::Avx512(_))
}

#[inline(always)]
fn quotient<S: Simd>(simd: S, h: f64x8<S>, i: f64) -> f64x8<S> {
    let rank = f64x8::splat(simd, i);
    if has_fma(simd) {
        let inverse = f64x8::splat(simd, 1.0 / i);
        let q = h * inverse;
        (-q).mul_add(rank, h).mul_add(inverse, q)
    } else {
        h / rank
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, from: &[f64]) -> [f64x8<S>; 2] {
    [f64x8::from_slice(simd, &from[..8]), f64x8::from_slice(simd, &from[8..16])]
}

#[inline(always)]
fn store<S: Simd>([low, high]: [f64x8<S>; 2], to: &mut [f64]) {
    low.store_slice(&mut to[..8]);
    high.store_slice(&mut to[8..16]);
}

#[inline(always)]
fn precision_sum<S: Simd>(simd: S, layout: Layout, labels: &[u8]) -> Lanes {
    let mut lanes = Lanes { hits: [0.0; LANES], sum: [0.0; LANES] };
    let mut masks = [0; BLOCK];
    for (block, labels) in labels.chunks(BLOCK * LANES).enumerate() {
        let first = block * BLOCK + 1;
        let hits = compare(simd, labels, &mut masks);
        if hits * CROSSOVER < labels.len() as u32 {
            walk(
                layout,
                &masks[..labels.len() / 64],
                #[inline(always)]
                |rank, lane, _| {
                    lanes.hits[lane & 63] += 1.0;
                    lanes.sum[lane & 63] += lanes.hits[lane & 63] / (first + rank) as f64;
                },
            );
            continue;
        }
        let one = f64x8::splat(simd, 1.0);
        for lane in (0..LANES).step_by(16) {
            let mut h = load(simd, &lanes.hits[lane..]);
            let mut s = load(simd, &lanes.sum[lane..]);
            ranks_of_16(
                simd,
                layout,
                labels,
                lane,
                &[ABOVE],
                #[inline(always)]
                |rank, _, low, high| {
                    let i = (first + rank) as f64;
                    for (half, mask) in [low, high].into_iter().enumerate() {
                        h[half] = mask.select(h[half] + one, h[half]);
                        s[half] = mask.select(s[half] + quotient(simd, h[half], i), s[half]);
                    }
                },
            );
            store(h, &mut lanes.hits[lane..]);
            store(s, &mut lanes.sum[lane..]);
        }
    }
    lanes
}

#[inline(always)]
fn dcg<S: Simd>(simd: S, layout: Layout, labels: &[u8], weights: &[f64]) -> Lanes {
    let mut gain = [0.0; 256];
    for (code, g) in GAINS {
        gain[usize::from(code)] = g;
    }
    let steps = GAINS.map(|(code, _)| code - 1);
    let mut lanes = Lanes { hits: [0.0; LANES], sum: [0.0; LANES] };
    let mut masks = [0; BLOCK];
    for (block, labels) in labels.chunks(BLOCK * LANES).enumerate() {
        let weights = &weights[block * BLOCK..][..labels.len() / LANES];
        let hits = compare(simd, labels, &mut masks);
        if hits * CROSSOVER < labels.len() as u32 {
            walk(
                layout,
                &masks[..labels.len() / 64],
                #[inline(always)]
                |rank, lane, at| {
                    lanes.sum[lane & 63] += gain[usize::from(labels[at])] * weights[rank];
                },
            );
            continue;
        }
        for lane in (0..LANES).step_by(16) {
            let mut s = load(simd, &lanes.sum[lane..]);
            let mut g = [f64x8::splat(simd, 0.0); 2];
            ranks_of_16(
                simd,
                layout,
                labels,
                lane,
                &steps,
                #[inline(always)]
                |rank, step, low, high| {
                    let value = f64x8::splat(simd, GAINS[step].1);
                    for (half, mask) in [low, high].into_iter().enumerate() {
                        let below = if step == 0 { f64x8::splat(simd, 0.0) } else { g[half] };
                        g[half] = mask.select(value, below);
                        if step == GAINS.len() - 1 {
                            s[half] += g[half] * weights[rank];
                        }
                    }
                },
            );
            store(s, &mut lanes.sum[lane..]);
        }
    }
    lanes
}

fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Makes the same tile in both layouts.
fn tile(depth: usize, density: f64, seed: &mut u64) -> [Vec<u8>; 2] {
    let mut tiles = [vec![0; depth * LANES], vec![0; depth * LANES]];
    for rank in 0..depth {
        for lane in 0..LANES {
            let draw = xorshift(seed);
            let hit = (draw >> 11) as f64 / ((1_u64 << 53) as f64) < density;
            let code = if hit { 4 + (draw % 3) as u8 } else { 1 + (draw % 3) as u8 };
            for (tile, layout) in tiles.iter_mut().zip([Layout::Ranks, Layout::Quads]) {
                tile[layout.index(rank, lane)] = code;
            }
        }
    }
    tiles
}

fn bits(lanes: &Lanes) -> Vec<u64> {
    lanes.hits.iter().chain(&lanes.sum).map(|x| x.to_bits()).collect()
}

fn layouts(c: &mut Criterion) {
    let level = Level::new();
    let mut levels = vec![("best", level)];
    if let Some(avx2) = level.as_avx2() {
        levels.push(("avx2", avx2.level()));
    }
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for depth in [100, 1000] {
        let weights: Vec<f64> = (0..depth).map(|i| 1.0 / (i as f64 + 2.0).log2()).collect();
        for density in [0.001, 0.01, 0.1, 0.5] {
            let [ranks, quads]: [Vec<Vec<u8>>; 2] = {
                let tiles: Vec<_> =
                    (0..8000 / depth).map(|_| tile(depth, density, &mut seed)).collect();
                [0, 1].map(|layout| tiles.iter().map(|t| t[layout].clone()).collect())
            };
            for (name, level) in &levels {
                let level = *level;
                let precision = |layout, tile: &[u8]| {
                    dispatch!(level, simd => {
                        precision_sum(simd, layout, tile)
                    })
                };
                let graded = |layout, tile: &[u8]| {
                    dispatch!(level, simd => {
                        dcg(simd, layout, tile, &weights)
                    })
                };
                for (a, b) in ranks.iter().zip(&quads) {
                    assert_eq!(
                        bits(&precision(Layout::Ranks, a)),
                        bits(&precision(Layout::Quads, b))
                    );
                    assert_eq!(bits(&graded(Layout::Ranks, a)), bits(&graded(Layout::Quads, b)));
                }
                let mut group = c.benchmark_group(format!("{name}/{depth}/{}%", density * 100.0));
                group.throughput(Throughput::Bytes((ranks.len() * depth * LANES) as u64));
                for (id, layout, tiles) in
                    [("ranks", Layout::Ranks, &ranks), ("quads", Layout::Quads, &quads)]
                {
                    group.bench_function(BenchmarkId::new("AP", id), |b| {
                        b.iter(|| {
                            tiles.iter().for_each(|t| {
                                black_box(precision(layout, t));
                            })
                        });
                    });
                    group.bench_function(BenchmarkId::new("DCG", id), |b| {
                        b.iter(|| {
                            tiles.iter().for_each(|t| {
                                black_box(graded(layout, t));
                            })
                        });
                    });
                }
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(100))
        .measurement_time(std::time::Duration::from_millis(400))
        .sample_size(20);
    targets = layouts
}
criterion_main!(benches);
