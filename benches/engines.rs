//! AP, RR, nDCG@10, nDCG, P@10 and R@100 on the CPU and on a GPU, which must give the same
//! averages: with the labels sent to the GPU each time, and with labels that are there already.
//!
//! `LANEVAL_ADAPTER` names the adapter (`llvmpipe` will do); without it any GPU that is not
//! software is taken.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use laneval::parts::engine::Engine;
use laneval::parts::engine::cpu::Cpu;
use laneval::parts::generate::Synthetic;
use laneval::{Evaluator, LabelMatrix};

const SIX: [&str; 6] = ["AP", "RR", "nDCG@10", "nDCG", "P@10", "R@100"];

/// The work of a pair of engines.
struct Pair<'a> {
    group: BenchmarkGroup<'a, WallTime>,
    evaluator: &'a Evaluator,
    matrix: &'a LabelMatrix,
}

impl Pair<'_> {
    fn averages(&self, engine: &impl Engine) -> Vec<f64> {
        let scores = self.evaluator.evaluate_on(engine, self.matrix).expect("scores");
        (0..SIX.len()).map(|at| scores.runs[0].average(at).expect("an average")).collect()
    }

    /// Times an engine, whose averages must be those of the CPU.
    fn bench(&mut self, name: &str, engine: &impl Engine) {
        for (expected, found) in self.averages(&Cpu::new()).iter().zip(self.averages(engine)) {
            assert!((expected - found).abs() <= 1e-9, "{name}: {found} is not {expected}");
        }
        let Pair { group, evaluator, matrix } = self;
        group.bench_function(name, |b| {
            b.iter(|| evaluator.evaluate_on(engine, matrix).expect("scores"))
        });
    }
}

/// The pairs of one matrix.
#[cfg(feature = "gpu")]
fn bench_gpu(pair: &mut Pair<'_>) {
    use laneval::parts::engine::gpu::{Gpu, device::AdapterChoice};
    let named = std::env::var("LANEVAL_ADAPTER").ok();
    let gpu = Gpu::open(named.as_deref().map_or(AdapterChoice::Hardware, AdapterChoice::Named));
    let Ok(gpu) = gpu.inspect_err(|error| eprintln!("only the CPU is timed: {error}")) else {
        return;
    };
    pair.bench("gpu, end to end", &gpu);
    let loaded = gpu.load(pair.matrix).expect("room on the GPU");
    pair.bench("gpu, labels resident", &loaded);
}

#[cfg(not(feature = "gpu"))]
fn bench_gpu(_: &mut Pair<'_>) {
    eprintln!("only the CPU is timed: laneval was built without its GPU engine (feature `gpu`)");
}

fn engines(c: &mut Criterion) {
    let evaluator = Evaluator::new(SIX).expect("measures");
    for (queries, depth) in [(100_000, 100), (10_000, 1000)] {
        let shape = Synthetic { queries, depth, density: Some(0.01), ..Synthetic::default() };
        let matrix = shape.matrix().expect("a matrix");
        let mut group = c.benchmark_group(format!("{queries} x {depth}"));
        group.throughput(Throughput::Elements(u64::from(queries) * u64::from(depth)));
        let mut pair = Pair { group, evaluator: &evaluator, matrix: &matrix };
        pair.bench("cpu", &Cpu::new());
        bench_gpu(&mut pair);
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
