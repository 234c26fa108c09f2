//! Recall of nearest neighbours of ids in arrays, on one thread: 100 true ones and 100 found ones,
//! and 10 and 10. The answers are compared with those of sets.
//!
//! `benches/neighbours.py` times other programs on the same arrays.

use std::collections::HashSet;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use laneval::Evaluator;
use laneval::arrays::{Neighbours, Rankings};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Rows of `width` true neighbours of a million points, and of as many found ones, of which nine in
/// ten are true.
fn rows(count: usize, width: usize) -> [Vec<i32>; 2] {
    let mut random = Random(1);
    let (mut truth, mut found) =
        (Vec::with_capacity(count * width), Vec::with_capacity(count * width));
    let mut row = Vec::new();
    for _ in 0..count {
        row.clear();
        while row.len() < 2 * width {
            let id = random.below(1_000_000) as i32;
            if !row.contains(&id) {
                row.push(id);
            }
        }
        truth.extend_from_slice(&row[..width]);
        for at in 0..width {
            if random.below(10) == 0 {
                row[at] = row[width + at];
            }
        }
        for at in 1..width {
            row.swap(at, random.below(at + 1));
        }
        found.extend_from_slice(&row[..width]);
    }
    [truth, found]
}

/// Returns the recall of sets.
fn expected([truth, found]: &[Vec<i32>; 2], width: usize, k: usize) -> f64 {
    let recalls = truth.chunks(width).zip(found.chunks(width)).map(|(truth, found)| {
        let near: HashSet<&i32> = truth[..k].iter().collect();
        found[..k].iter().filter(|id| near.contains(id)).count() as f64 / k as f64
    });
    recalls.sum::<f64>() / (truth.len() / width) as f64
}

fn recalls(c: &mut Criterion) {
    for (count, width) in [(10_000, 100), (1_000_000, 10), (100_000, 100)] {
        let ids = rows(count, width);
        let name = format!("NNR@{width}");
        let evaluator =
            Evaluator::new([&name[..]]).expect("a measure").with_threads(1.try_into().ok());
        let near = |truth: &[i32], found: &[i32]| {
            let truth = Neighbours::ids(truth, width).expect("ids");
            let scores =
                evaluator.rankings(&Rankings::neighbours(truth, found, width).expect("ids"));
            scores.expect("scores").runs[0].average(0).expect("an average")
        };
        assert!((near(&ids[0], &ids[1]) - expected(&ids, width, width)).abs() < 1e-9);
        let mut group = c.benchmark_group("neighbours");
        group.sample_size(10);
        group.bench_function(format!("{count} x {width} in {width}"), |bench| {
            bench.iter(|| black_box(near(&ids[0], &ids[1])));
        });
        group.finish();
    }
}

criterion_group!(benches, recalls);
criterion_main!(benches);
