//! The sums of series of numbers under random sign flips, on one core, including the random bits:
//! the table of eight queries, and for comparison adding each number under a mask of its sign, with
//! the same bits. 1,000 queries, 100,000 draws.
//!
//! Both give the same sums, and those of some draws are a plain loop's; this is checked before
//! anything is timed.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fearless_simd::{Level, dispatch};
use laneval::parts::compare::{
    DrawSums, Family, Flips, Pair, Philox, RESAMPLES, ResampleKind, Resamples, purpose, query_hash,
    tallies,
};
use rayon::prelude::*;

const SEED: u64 = 0x6c61_6e65_7661_6c31;
const QUERIES: usize = 1000;
const DRAWS: u32 = 100_000;
/// The number of draws whose bits of a query the direct loop holds at a time.
const LANES: usize = 2048;

/// Hashes of the ids of queries, and series of numbers like the values of a measure.
fn example(series: usize) -> (Vec<u64>, Vec<Vec<i64>>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as i64
    };
    let queries = (0..QUERIES).map(|at| query_hash(at.to_string().as_bytes())).collect();
    (queries, (0..series).map(|_| (0..QUERIES).map(|_| number()).collect()).collect())
}

fn slices(series: &[Vec<i64>]) -> Vec<&[i64]> {
    series.iter().map(Vec::as_slice).collect()
}

/// Adds up the sums of each draw, computed by the table, so that no draw can be left out.
fn by_table(flips: &Flips<'_>, series: &[&[i64]]) -> i64 {
    let all = |sums: &[&[i64]]| sums.iter().map(|sums| sums.iter().sum::<i64>()).sum::<i64>();
    flips.chunks(series, 0..DRAWS, all).sum()
}

/// Returns the sums of some series over the draws of a chunk, each number added under a mask.
fn masked(queries: &[u64], series: &[&[i64]], chunk: usize) -> Vec<[i64; LANES]> {
    let random = Philox::new(SEED);
    let mut sums = vec![[0i64; LANES]; series.len()];
    for (at, &query) in queries.iter().enumerate() {
        let first = (chunk * LANES / 128) as u32;
        let words = dispatch!(Level::new(), _simd => {
            random.blocks::<{ LANES / 128 }>(query, first, purpose::SIGNS)
        });
        for (sums, numbers) in sums.iter_mut().zip(series) {
            dispatch!(Level::new(), _simd => add_masked(sums, &words, numbers[at]));
        }
    }
    sums
}

/// Adds a number to each sum, negative where the bit of the draw is set.
#[inline(always)]
fn add_masked(sums: &mut [i64; LANES], words: &[[u32; LANES / 128]; 4], number: i64) {
    for (at, sums) in sums.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let word = words[at % 4][at / 4];
        for (bit, sum) in sums.iter_mut().enumerate() {
            let mask = -i64::from(word >> bit & 1);
            *sum += (number ^ mask) - mask;
        }
    }
}

fn by_masks(queries: &[u64], series: &[&[i64]]) -> i64 {
    let chunk = |chunk: usize| {
        let draws = LANES.min(DRAWS as usize - chunk * LANES);
        let sums = masked(queries, series, chunk);
        sums.iter().map(|sums| sums[..draws].iter().sum::<i64>()).sum::<i64>()
    };
    (0..(DRAWS as usize).div_ceil(LANES)).map(chunk).sum()
}

fn check(queries: &[u64], series: &[&[i64]]) {
    let flips = Flips::new(SEED, queries);
    let sums = DrawSums::draw(&flips, series, 0..DRAWS);
    let chunk = DRAWS as usize / LANES;
    let direct = masked(queries, series, chunk);
    for draw in chunk * LANES..DRAWS as usize {
        for (numbers, (sums, direct)) in series.iter().zip(sums.iter().zip(&direct)) {
            let sign = |&query: &u64| {
                let counter = [query as u32, (query >> 32) as u32, draw as u32 / 128, 0];
                1 - 2 * i128::from(
                    Philox::new(SEED).block(counter)[draw / 32 % 4] >> (draw % 32) & 1,
                )
            };
            let terms = queries
                .iter()
                .zip(*numbers)
                .map(|(query, &number)| sign(query) * i128::from(number));
            assert_eq!(sums.get(draw), terms.sum::<i128>());
            assert_eq!(sums.get(draw), direct[draw % LANES].into());
        }
    }
    assert_eq!(by_table(&flips, series), by_masks(queries, series));
}

fn sums(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for count in [1, 2, 10] {
        let (queries, series) = example(count);
        let series = slices(&series);
        let flips = Flips::new(SEED, &queries);
        pool.install(|| check(&queries, &series));
        let mut group = c.benchmark_group(format!("{count} series"));
        group.throughput(Throughput::Elements(count as u64 * QUERIES as u64 * u64::from(DRAWS)));
        group.bench_function("table", |b| {
            pool.install(|| b.iter(|| black_box(by_table(&flips, black_box(&series)))))
        });
        group.bench_function("masks", |b| {
            b.iter(|| black_box(by_masks(&queries, black_box(&series))))
        });
    }
}

/// Times the uses of the sums: counts of one pair and of all pairs of ten runs, and a bootstrap.
fn whole(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let (queries, series) = example(10);
    let series = slices(&series);
    let flips = Flips::new(SEED, &queries);
    let mut group = c.benchmark_group("counts");
    for runs in [2, 10] {
        let pairs: Vec<Pair> = (0..runs)
            .flat_map(|baseline| (baseline + 1..runs).map(move |run| Pair { baseline, run }))
            .collect();
        let family = [Family::from_pairs(&series, &pairs)];
        group.bench_function(format!("{} pairs", pairs.len()), |b| {
            pool.install(|| {
                b.iter(|| black_box(tallies(&flips, black_box(&series), &family, 0..DRAWS)))
            })
        });
    }
    group.bench_function("bootstrap of a pair", |b| {
        pool.install(|| {
            b.iter(|| {
                black_box(Resamples::draw(
                    SEED,
                    &queries,
                    black_box(&series[..2]),
                    RESAMPLES,
                    ResampleKind::Part,
                ))
            })
        })
    });
}

fn quick() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .without_plots()
}

criterion_group! { name = benches; config = quick(); targets = sums, whole }
criterion_main!(benches);
