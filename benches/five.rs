//! AP, nDCG@10, RR, P@10 and R@100 from labels in memory, by density: labels a second, and their share of the bandwidth of merely
//! reading them, measured in turns with it.

use std::hint::black_box;
use std::time::Instant;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use laneval::generate::Synthetic;
use laneval::{Evaluator, LabelMatrix};

const REPEATS: usize = 25;

/// Every byte read once.
#[inline(always)]
fn read<S: Simd>(simd: S, labels: &[u8]) -> u8 {
    let mut sums = [u8x64::splat(simd, 0); 4];
    for labels in labels.chunks_exact(256) {
        for (sum, labels) in sums.iter_mut().zip(labels.chunks_exact(64)) {
            *sum ^= u8x64::from_slice(simd, labels);
        }
    }
    sums.iter().fold(0, |sum, s| sum ^ s.as_array()[0] ^ s.as_array()[63])
}

/// Reads the labels, in halves on two threads if there are two.
fn read_all(level: Level, labels: &[u8], threads: usize) {
    let read = |labels: &[u8]| _ = black_box(dispatch!(level, simd => read(simd, labels)));
    let (first, second) = labels.split_at(if threads > 1 { labels.len() / 2 } else { labels.len() });
    rayon::join(|| read(first), || read(second));
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The fastest reading and the fastest evaluation, in seconds.
fn fastest(matrix: &LabelMatrix, evaluator: &Evaluator, threads: usize) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..REPEATS {
        best[0] = best[0].min(seconds(|| read_all(Level::new(), matrix.tile_bytes(), threads)));
        best[1] = best[1].min(seconds(|| _ = black_box(evaluator.evaluate(matrix).expect("scores"))));
    }
    best
}

fn main() {
    let evaluator = Evaluator::new(["AP", "nDCG@10", "RR", "P@10", "R@100"]).expect("measures");
    println!("depth  relevant  threads    read GB/s  M labels/s   share");
    for (queries, depth) in [(100_000, 1000), (1_000_000, 100)] {
        for density in [0.001, 0.005, 0.01, 0.02, 0.1, 0.5] {
            let shape =
                Synthetic { queries, depth, density: Some(density), judged: 1, ..Synthetic::default() };
            let matrix = shape.matrix().expect("a matrix");
            let bytes = matrix.tile_bytes().len() as f64;
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let [read, evaluated] = pool.install(|| fastest(&matrix, &evaluator, threads));
                println!(
                    "{depth:>5}  {:>7}%  {threads:>7}  {:>11.1}  {:>10.0}  {:>5.0}%",
                    density * 100.0,
                    bytes / read / 1e9,
                    bytes / evaluated / 1e6,
                    read / evaluated * 100.0
                );
            }
        }
    }
}
