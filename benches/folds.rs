//! Labels a second of each fold, at every SIMD level, depth and density, beside a plain scalar
//! loop; and of the five folds that AP, nDCG@10, RR, P@10 and R@100 need, beside the bandwidth of
//! only reading the labels.
//!
//! Answers are compared with the scalar loop's, bit for bit, before anything is timed.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use fearless_simd::Level;
use laneval::parts::engine::cpu::Cpu;
use laneval::parts::engine::cpu::folds::{self, HitOutputs};
use laneval::parts::fold::Weights;
use laneval::parts::matrix::Tile;

#[path = "../tests/simd.rs"]
mod simd;

const LANES: usize = 64;
/// Codes above this one are hits.
const ABOVE: u8 = 2;
/// Codes above this one are relevant in folds that also count judged documents that are not
/// relevant.
const RELEVANT: u8 = 3;
/// Codes of three grades.
const CODES: usize = 6;
const DENSITIES: [f64; 4] = [0.001, 0.01, 0.1, 0.5];

/// Returns the levels of this machine, the scalar fallback last.
fn levels() -> Vec<(&'static str, Level)> {
    simd::levels().into_iter().filter_map(|(name, cpu)| Some((name, cpu?.level()))).collect()
}

/// Tiles of one depth, one after the other.
struct Tiles {
    labels: Vec<u8>,
    depth: usize,
}

impl Tiles {
    /// About `bytes` of labels, where each is one of `grades` codes from 3 on with probability
    /// `density`.
    fn random(bytes: usize, depth: usize, density: f64, grades: u64) -> Tiles {
        let depth = depth.next_multiple_of(4);
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let threshold = (density * (1_u64 << 32) as f64) as u64;
        let label = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let hit = (state & 0xffff_ffff) < threshold;
            if hit { 3 + ((state >> 32) % grades) as u8 } else { 1 + (state >> 63) as u8 }
        };
        let len = (bytes / (LANES * depth)).max(1) * LANES * depth;
        Tiles { labels: std::iter::repeat_with(label).take(len).collect(), depth }
    }

    fn each(&self) -> impl Iterator<Item = Tile<'_>> {
        let depth = self.depth;
        self.labels.chunks_exact(depth * LANES).map(move |labels| Tile {
            labels,
            lanes: LANES,
            depth,
        })
    }
}

/// Codes of one lane down to a rank.
fn ranking(tile: Tile<'_>, lane: usize, upto: usize) -> impl Iterator<Item = (usize, u8)> {
    let code = move |rank: usize| tile.labels[(rank / 4 * tile.lanes + lane) * 4 + rank % 4];
    (0..tile.depth.min(upto)).map(move |rank| (rank + 1, code(rank)))
}

/// The tables and columns of all folds.
struct Tables {
    gain: [f64; 256],
    many: [f64; 256],
    stop: [f64; 256],
    discount: Weights,
    weight: Weights,
    limits: Vec<u32>,
    caps: Vec<Vec<u32>>,
    bounds: Vec<u32>,
}

impl Tables {
    fn new() -> Tables {
        let table = |value: fn(usize) -> f64| {
            std::array::from_fn(|code| if code < 3 { 0.0 } else { value(code - 3) })
        };
        let discount = |i: usize| (i as f64 + 2.0).log2();
        Tables {
            gain: table(|grade| [1.0, 3.0, 7.0, 0.0][grade.min(3)]),
            many: table(|grade| (grade % 3) as f64 + 1.0 + grade as f64 / 512.0),
            stop: table(|grade| [0.2, 0.5, 0.7, 0.0][grade.min(3)]),
            discount: Weights::Divide((0..1024).map(discount).collect()),
            weight: Weights::Multiply((0..1024).map(|i| 1.0 / discount(i)).collect()),
            limits: (0..LANES).map(|lane| lane as u32 * 10).collect(),
            caps: (0..11)
                .map(|point| (0..LANES).map(|lane| (lane as u32 + 1) * point / 8).collect())
                .collect(),
            bounds: (0..LANES).map(|lane| lane as u32 + 1).collect(),
        }
    }
}

/// A fold over one tile into `f64` values; counts and ranks are exact in `f64` too.
type Run<'a> = Box<dyn Fn(Tile, &mut [f64]) + 'a>;

fn ints(run: impl Fn(Tile, &mut [u32])) -> impl Fn(Tile, &mut [f64]) {
    move |tile, out| {
        let mut ints = [0; LANES];
        run(tile, &mut ints);
        out.iter_mut().zip(ints).for_each(|(out, int)| *out = f64::from(int));
    }
}

const END: &[u32] = &[u32::MAX];

fn fast<'a>(fold: &str, level: Level, t: &'a Tables) -> Run<'a> {
    match fold {
        "count" => Box::new(ints(move |tile, out| folds::count(level, tile, ABOVE, END, out))),
        "count_within" => {
            Box::new(ints(move |tile, out| folds::count_within(level, tile, ABOVE, &t.limits, out)))
        }
        "first_rank" => {
            Box::new(ints(move |tile, out| folds::first_rank(level, tile, ABOVE, u32::MAX, out)))
        }
        "precision_sum" => {
            Box::new(move |tile, out| folds::precision_sum(level, tile, ABOVE, END, out))
        }
        "dcg_divide" => Box::new(move |tile, out| {
            folds::weighted_sum(level, tile, &t.gain, &t.discount, END, out)
        }),
        "dcg_multiply" => Box::new(move |tile, out| {
            folds::weighted_sum(level, tile, &t.gain, &t.weight, END, out)
        }),
        "dcg_many_grades" => Box::new(move |tile, out| {
            folds::weighted_sum(level, tile, &t.many, &t.discount, END, out)
        }),
        "cascade" => {
            Box::new(move |tile, out| folds::cascade(level, tile, &t.stop, &t.discount, END, out))
        }
        "histogram" => Box::new(move |tile, out| {
            let mut counts = [0; LANES * CODES];
            folds::histogram(tile, CODES, END, &mut counts);
            out.iter_mut()
                .zip(counts.chunks_exact(CODES))
                .for_each(|(out, lane)| *out = f64::from(lane[3]));
        }),
        "peak_precision" => Box::new(move |tile, out| {
            let caps: Vec<&[u32]> = t.caps.iter().map(Vec::as_slice).collect();
            let mut peaks = [0.0; 11 * LANES];
            folds::peak_precision(level, tile, ABOVE, &caps, &mut peaks);
            out.copy_from_slice(&peaks[LANES..2 * LANES]);
        }),
        "preference_sum" => Box::new(move |tile, out| {
            folds::preference_sum(level, tile, [RELEVANT, ABOVE], [&t.bounds, &t.bounds], out);
        }),
        "inferred_sum" => {
            Box::new(move |tile, out| folds::inferred_sum(level, tile, RELEVANT, out))
        }
        "pair_sum" => Box::new(move |tile, out| folds::pair_sum(level, tile, ABOVE, END, out)),
        _ => unreachable!("{fold}"),
    }
}

/// Returns the plain loop, lane by lane.
fn plain<'a>(fold: &'a str, t: &'a Tables) -> Run<'a> {
    fn lanes<'a>(value: impl Fn(Tile, usize) -> f64 + 'a) -> Run<'a> {
        Box::new(move |tile, out| {
            out.iter_mut().enumerate().for_each(|(lane, out)| *out = value(tile, lane))
        })
    }
    let within = |limits: &'a dyn Fn(usize) -> usize| {
        move |tile: Tile, lane: usize| {
            ranking(tile, lane, limits(lane)).filter(|&(_, c)| c > ABOVE).count() as f64
        }
    };
    let weighted = |gain: &'a [f64; 256], weights: &'a Weights| {
        lanes(move |tile, lane| {
            let codes = ranking(tile, lane, usize::MAX);
            match weights {
                Weights::Divide(d) => {
                    codes.fold(0.0, |s, (i, c)| s + gain[usize::from(c)] / d[i - 1])
                }
                Weights::Multiply(w) => {
                    codes.fold(0.0, |s, (i, c)| s + gain[usize::from(c)] * w[i - 1])
                }
            }
        })
    };
    match fold {
        "count" => lanes(within(&|_| usize::MAX)),
        "count_within" => lanes(move |tile, lane| {
            ranking(tile, lane, t.limits[lane] as usize).filter(|&(_, c)| c > ABOVE).count() as f64
        }),
        "first_rank" => lanes(|tile, lane| {
            ranking(tile, lane, usize::MAX).find(|&(_, c)| c > ABOVE).map_or(0.0, |(i, _)| i as f64)
        }),
        "precision_sum" => lanes(|tile, lane| {
            let (mut h, mut s) = (0_u32, 0.0);
            for (i, _) in ranking(tile, lane, usize::MAX).filter(|&(_, c)| c > ABOVE) {
                h += 1;
                s += f64::from(h) / i as f64;
            }
            s
        }),
        "dcg_divide" => weighted(&t.gain, &t.discount),
        "dcg_multiply" => weighted(&t.gain, &t.weight),
        "dcg_many_grades" => weighted(&t.many, &t.discount),
        "cascade" => lanes(|tile, lane| {
            let Weights::Divide(d) = &t.discount else { unreachable!() };
            let (mut p, mut s) = (1.0, 0.0);
            for (i, c) in ranking(tile, lane, usize::MAX) {
                s += p * t.stop[usize::from(c)] / d[i - 1];
                p *= 1.0 - t.stop[usize::from(c)];
            }
            s
        }),
        "histogram" => lanes(|tile, lane| {
            let mut counts = [0_u32; 256];
            ranking(tile, lane, usize::MAX).for_each(|(_, c)| counts[usize::from(c)] += 1);
            f64::from(black_box(&counts)[3])
        }),
        "peak_precision" => lanes(|tile, lane| {
            let (mut h, mut peaks) = (0, [0.0_f64; 11]);
            for (i, _) in ranking(tile, lane, usize::MAX).filter(|&(_, c)| c > ABOVE) {
                h += 1;
                for (peak, _) in
                    peaks.iter_mut().zip(&t.caps).take_while(|(_, caps)| caps[lane] <= h)
                {
                    *peak = peak.max(f64::from(h) / i as f64);
                }
            }
            black_box(peaks)[1]
        }),
        "preference_sum" => lanes(|tile, lane| {
            let (mut b, mut s, bound) = (0_u32, 0.0, t.bounds[lane]);
            for (_, c) in ranking(tile, lane, usize::MAX).filter(|&(_, c)| c > ABOVE) {
                match (c > RELEVANT, b) {
                    (false, _) => b += 1,
                    (true, 0) => s += 1.0,
                    (true, _) => s += 1.0 - f64::from(b.min(bound)) / f64::from(bound),
                }
            }
            s
        }),
        "inferred_sum" => lanes(|tile, lane| {
            let (mut above, mut s) = ([0.0; 3], 0.0);
            for (i, c) in ranking(tile, lane, usize::MAX).filter(|&(_, c)| c > 1) {
                let (f, [a, b, u]) = ((i - 1) as f64, above);
                if c > RELEVANT && i == 1 {
                    s += 1.0;
                } else if c > RELEVANT {
                    let pooled = (a + b + u) / f;
                    s += 1.0 / (f + 1.0)
                        + (f / (f + 1.0)) * pooled * ((a + 0.00001) / (a + b + 2.0 * 0.00001));
                }
                above[if c > RELEVANT { 0 } else { 1 + usize::from(c == 2) }] += 1.0;
            }
            s
        }),
        "pair_sum" => lanes(|tile, lane| {
            let (mut h, mut s) = (0_u64, 0_u64);
            for (i, _) in ranking(tile, lane, usize::MAX).filter(|&(_, c)| c > ABOVE) {
                h += 1;
                s += i as u64 - h;
            }
            s as f64
        }),
        _ => unreachable!("{fold}"),
    }
}

const FOLDS: [&str; 13] = [
    "count",
    "count_within",
    "first_rank",
    "precision_sum",
    "dcg_divide",
    "dcg_multiply",
    "dcg_many_grades",
    "cascade",
    "histogram",
    "peak_precision",
    "preference_sum",
    "inferred_sum",
    "pair_sum",
];

fn time(
    group: &mut BenchmarkGroup<WallTime>,
    name: String,
    tiles: &Tiles,
    mut run: impl FnMut(Tile),
) {
    group.throughput(Throughput::Bytes(tiles.labels.len() as u64));
    group.bench_function(name, |b| b.iter(|| tiles.each().for_each(&mut run)));
}

fn each_fold(c: &mut Criterion) {
    let tables = Tables::new();
    for depth in [10, 100, 1000] {
        for density in DENSITIES {
            let few = Tiles::random(2 << 20, depth, density, 3);
            let many = Tiles::random(2 << 20, depth, density, 253);
            let mut group = c.benchmark_group(format!("{depth}/{}%", density * 100.0));
            for fold in FOLDS {
                let tiles = if fold == "dcg_many_grades" { &many } else { &few };
                let plain = plain(fold, &tables);
                let (mut expected, mut out) = ([0.0; LANES], [0.0; LANES]);
                let runs =
                    levels().into_iter().map(|(name, level)| (name, fast(fold, level, &tables)));
                for (name, run) in runs {
                    for tile in tiles.each().take(8) {
                        plain(tile, &mut expected);
                        run(tile, &mut out);
                        assert_eq!(
                            out.map(f64::to_bits),
                            expected.map(f64::to_bits),
                            "{fold} {name}"
                        );
                    }
                    time(&mut group, format!("{fold}/{name}"), tiles, |tile| {
                        run(tile, black_box(&mut out))
                    });
                }
                time(&mut group, format!("{fold}/plain"), tiles, |tile| {
                    plain(tile, black_box(&mut out))
                });
            }
        }
    }
}

/// AP, nDCG@10, RR, P@10 and R@100 from memory: one fold after the other, and the hits of one
/// threshold in one pass.
fn five(c: &mut Criterion) {
    let tables = Tables::new();
    let wanted = HitOutputs { counts: &[10, 100], precision: END, first: u32::MAX };
    for depth in [100, 1000] {
        for density in [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5] {
            let tiles = Tiles::random(128 << 20, depth, density, 3);
            let mut group = c.benchmark_group(format!("five/{depth}/{}%", density * 100.0));
            let (mut counts, mut first) = ([0; 2 * LANES], [0; LANES]);
            let (mut precision, mut dcg) = ([0.0; LANES], [0.0; LANES]);
            for (name, level) in levels().into_iter().take(2) {
                time(&mut group, format!("read/{name}"), &tiles, |tile| {
                    black_box(Cpu::at(level).read(tile.labels));
                });
                time(&mut group, format!("apart/{name}"), &tiles, |tile| {
                    folds::precision_sum(level, tile, ABOVE, END, &mut precision);
                    folds::weighted_sum(
                        level,
                        tile,
                        &tables.gain,
                        &tables.discount,
                        &[10],
                        &mut dcg,
                    );
                    folds::first_rank(level, tile, ABOVE, u32::MAX, &mut first);
                    folds::count(level, tile, ABOVE, &[10, 100], &mut counts);
                    black_box((&mut counts, &mut precision, &mut first, &mut dcg));
                });
                time(&mut group, format!("fused/{name}"), &tiles, |tile| {
                    folds::hits(
                        level,
                        tile,
                        ABOVE,
                        wanted,
                        &mut counts,
                        &mut precision,
                        &mut first,
                    );
                    folds::weighted_sum(
                        level,
                        tile,
                        &tables.gain,
                        &tables.discount,
                        &[10],
                        &mut dcg,
                    );
                    black_box((&mut counts, &mut precision, &mut first, &mut dcg));
                });
            }
        }
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(250))
        .sample_size(10)
        .without_plots()
}

criterion_group! { name = benches; config = quick(); targets = five, each_fold }
criterion_main!(benches);
