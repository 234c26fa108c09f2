//! From text to a label matrix: lines a second, one thread.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use laneval::{Input, Join};

const QUERIES: u64 = 1000;
const DEPTH: u64 = 1000;
const JUDGED: u64 = 20;

/// How the lines of a run lie.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Ranked,
    /// The lines of a query are together, but in no order.
    Shuffled,
    /// One line of each query after the other.
    Interleaved,
}

/// A number that looks random, in `0..below`; for different `n` below it, different ones.
fn scrambled(n: u64, below: u64) -> u64 {
    n * 1_000_003 % below
}

/// The document at a rank of a query.
fn docno(query: u64, rank: u64) -> u64 {
    scrambled(query * 7919 + rank, 8_841_823)
}

fn qrels() -> String {
    let mut text = String::new();
    for query in 0..QUERIES {
        for judged in 0..JUDGED {
            writeln!(text, "{} 0 {} {}", query * 13 + 100, docno(query, judged * judged * 3), judged % 3)
                .unwrap();
        }
    }
    text
}

fn run(order: Order) -> String {
    let mut text = String::new();
    for line in 0..QUERIES * DEPTH {
        let (query, rank) = match order {
            Order::Ranked => (line / DEPTH, line % DEPTH),
            Order::Shuffled => (line / DEPTH, line % DEPTH * 617 % DEPTH),
            Order::Interleaved => (line % QUERIES, line / QUERIES),
        };
        let score = 30.0 - rank as f64 * 0.025;
        writeln!(text, "{} Q0 {} {} {score:.6} bm25", query * 13 + 100, docno(query, rank), rank + 1)
            .unwrap();
    }
    text
}

fn ingest(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let qrels = write("qrels", qrels());
    let mut group = c.benchmark_group("ingest");
    group.throughput(Throughput::Elements(QUERIES * DEPTH)).sample_size(10);
    for (name, order) in
        [("ranked", Order::Ranked), ("shuffled", Order::Shuffled), ("interleaved", Order::Interleaved)]
    {
        let run = write(name, run(order));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let matrix = pool.install(|| Join::default().files(Input::from(&qrels), [&run])).unwrap();
                let labels: u64 = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
                assert_eq!(labels, QUERIES * DEPTH);
                let judged = matrix.tile_bytes().iter().filter(|&&label| label > 1).count() as u64;
                assert_eq!(
                    judged,
                    QUERIES * (0..JUDGED).filter(|judged| judged * judged * 3 < DEPTH).count() as u64
                );
                black_box(matrix)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ingest);
criterion_main!(benches);
