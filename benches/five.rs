//! AP, nDCG@10, RR, P@10 and R@100 from labels in memory, by density: labels a second, and their
//! share of the bandwidth of only reading them, measured in turns. Of each matrix the first
//! evaluation, which reads every label, the second, which lists the documents that matter in sparse
//! tiles, and the third, which reads the lists.
//!
//! Words narrow it down: `cargo bench --bench five -- 1000 0.1% 1 avx2` is one depth, one density
//! and one thread, with vectors of 256 bits.

use std::hint::black_box;
use std::time::Instant;

use fearless_simd::Level;
use laneval::parts::engine::{ChosenEngine, cpu::Cpu};
use laneval::parts::evaluate::Evaluation;
use laneval::parts::generate::Synthetic;
use laneval::parts::timing::Timing;
use laneval::{Evaluator, LabelMatrix};

const REPEATS: usize = 25;

/// Reads the labels, in halves on two threads if there are two.
fn read_all(level: Level, labels: &[u8], threads: usize) {
    let read = |labels: &[u8]| _ = black_box(Cpu::at(level).read(labels));
    let (first, second) =
        labels.split_at(if threads > 1 { labels.len() / 2 } else { labels.len() });
    rayon::join(|| read(first), || read(second));
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The evaluations of a matrix that are measured: the first three.
const EVALUATIONS: [&str; 3] = ["first", "second", "third"];

/// Returns the fastest reading, and the fastest of each evaluation with its steps.
fn fastest(
    level: Level,
    matrix: &mut LabelMatrix,
    evaluator: &Evaluator,
    threads: usize,
) -> (f64, [(f64, Timing); 3]) {
    let (mut read, mut best) =
        (f64::INFINITY, EVALUATIONS.map(|_| (f64::INFINITY, Timing::default())));
    for _ in 0..REPEATS {
        read = read.min(seconds(|| read_all(Level::new(), matrix.tile_bytes(), threads)));
        matrix.clear_sparse_cache();
        for best in &mut best {
            let mut timing = Timing::default();
            let evaluated = seconds(|| {
                let mut evaluation =
                    Evaluation::on_engine_of(evaluator, ChosenEngine::Cpu(Cpu::at(level)));
                _ = black_box(evaluation.scores(matrix, &mut timing).expect("scores"));
            });
            if evaluated < best.0 {
                *best = (evaluated, timing);
            }
        }
    }
    (read, best)
}

/// The words on the command line.
struct Chosen(Vec<String>);

impl Chosen {
    fn new() -> Self {
        Chosen(std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect())
    }

    /// Returns the choices that are named, or all of them.
    fn select<T: Copy>(&self, choices: &[T], name: impl Fn(T) -> String) -> Vec<T> {
        let named: Vec<T> =
            choices.iter().copied().filter(|&choice| self.0.contains(&name(choice))).collect();
        if named.is_empty() { choices.to_vec() } else { named }
    }

    fn level(&self) -> Level {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if self.0.iter().any(|word| word == "avx2") {
            return Level::Avx2(Level::new().as_avx2().expect("AVX2"));
        }
        Level::new()
    }
}

fn main() {
    let evaluator = Evaluator::new(["AP", "nDCG@10", "RR", "P@10", "R@100"]).expect("measures");
    let chosen = Chosen::new();
    println!("depth  relevant  threads  read GB/s  evaluation  M labels/s  share  milliseconds");
    for (queries, depth) in
        chosen.select(&[(100_000, 1000), (1_000_000, 100)], |(_, depth)| depth.to_string())
    {
        for percent in
            chosen.select(&[0.1, 0.5, 1.0, 2.0, 10.0, 50.0], |percent| format!("{percent}%"))
        {
            let density = Some(percent / 100.0);
            let shape = Synthetic { queries, depth, density, judged: 1, ..Synthetic::default() };
            let mut matrix = shape.matrix().expect("a matrix");
            let bytes = matrix.tile_bytes().len() as f64;
            for threads in chosen.select(&[1, 2], |threads| threads.to_string()) {
                let pool =
                    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let (read, best) =
                    pool.install(|| fastest(chosen.level(), &mut matrix, &evaluator, threads));
                for (name, (evaluated, timing)) in EVALUATIONS.iter().zip(best) {
                    let steps = timing.steps().iter();
                    let steps: Vec<_> = steps
                        .map(|(step, took)| format!("{step} {:.1}", took.as_secs_f64() * 1e3))
                        .collect();
                    println!(
                        "{depth:>5}  {percent:>7}%  {threads:>7}  {:>9.1}  {name:>10}  {:>10.0}  \
                         {:>4.0}%  {}",
                        bytes / read / 1e9,
                        bytes / evaluated / 1e6,
                        read / evaluated * 100.0,
                        steps.join(", ")
                    );
                }
            }
        }
    }
}
