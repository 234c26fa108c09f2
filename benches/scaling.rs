//! The growth of cost: lines, queries, depth, runs and cutoffs, each doubled five times, and the
//! exponent of the cost on one thread.
//!
//! An exponent of 1 is linear. Below 1 some costs do not grow; above 1 something is quadratic, or
//! no longer fits a cache. All measures are AP, nDCG@10, RR, P@10 and R@100, except where cutoffs
//! are doubled.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use laneval::parts::generate::Synthetic;
use laneval::{Evaluator, Join};

const DOUBLINGS: u32 = 5;
const REPEATS: usize = 7;
const FIVE: [&str; 5] = ["AP", "nDCG@10", "RR", "P@10", "R@100"];

/// Returns the fastest of several times, in seconds: the others were disturbed.
fn fastest<T>(mut work: impl FnMut() -> T) -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(time).fold(f64::INFINITY, f64::min)
}

/// Returns the slope of the cost over the size, both as logarithms, by least squares.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs = || points.iter().map(|&(size, cost)| (size.ln(), cost.ln()));
    let (x, y) =
        logs().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let rise: f64 = logs().map(|point| (point.0 - x) * (point.1 - y)).sum();
    rise / logs().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Doubles a size, and prints the cost.
fn doubled(what: &str, first: u32, mut cost: impl FnMut(u32) -> f64) {
    let sizes = (0..=DOUBLINGS).map(|doubling| first << doubling);
    let points: Vec<(f64, f64)> = sizes.map(|size| (f64::from(size), cost(size))).collect();
    let costs: Vec<String> =
        points.iter().map(|(size, cost)| format!("{size}: {:.2} ms", cost * 1e3)).collect();
    println!("{what:<8} exponent {:.2}   {}", exponent(&points), costs.join("   "));
}

/// Returns the time to join text.
fn join(shape: Synthetic) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    shape.write_text(folder.path()).expect("text");
    let [qrels, run]: [PathBuf; 2] = ["qrels.txt", "run.txt"].map(|name| folder.path().join(name));
    fastest(|| Join::default().files(&qrels, [&run]).expect("a matrix"))
}

/// Returns the time to evaluate a matrix.
fn evaluate(shape: Synthetic, measures: &[&str]) -> f64 {
    let matrix = shape.matrix().expect("a matrix");
    let evaluator = Evaluator::new(measures.iter().copied()).expect("measures");
    fastest(|| evaluator.evaluate(&matrix).expect("scores"))
}

fn all() {
    let base = Synthetic::default();
    doubled("lines", 100_000, |lines| join(Synthetic { queries: lines / 100, depth: 100, ..base }));
    doubled("queries", 10_000, |queries| evaluate(Synthetic { queries, depth: 20, ..base }, &FIVE));
    doubled("depth", 2000, |depth| {
        evaluate(Synthetic { queries: 512, depth, density: Some(0.01), ..base }, &FIVE)
    });
    doubled("runs", 2, |runs| {
        evaluate(Synthetic { queries: 500, depth: 500, runs: runs as u16, ..base }, &FIVE)
    });
    doubled("cutoffs", 8, |cutoffs| {
        let cuts: Vec<String> =
            (1..=cutoffs).map(|cut| (cut * 1000 / cutoffs).to_string()).collect();
        let measures = ["P", "nDCG", "AP"].map(|name| format!("{name}@[{}]", cuts.join(",")));
        evaluate(Synthetic { queries: 2000, ..base }, &measures.each_ref().map(String::as_str))
    });
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(all);
}
