//! Calls from several threads at once, as services and workers make them: N threads that each join
//! and evaluate on one thread, in calls a second, beside one thread that does. Nothing is shared,
//! so N threads are as many times as fast as there are cores for them.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use laneval::parts::generate::Synthetic;
use laneval::{Evaluator, Input, Join};
use rayon::ThreadPoolBuilder;

/// The calls of each thread in a turn.
const CALLS: usize = 12;
const TURNS: usize = 9;

/// Returns the text of judgments and of a run.
fn text() -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Synthetic { queries: 500, depth: 100, ..Synthetic::default() };
    shape.write_text(folder.path()).expect("text");
    ["qrels.txt", "run.txt"].map(|name| std::fs::read(folder.path().join(name)).expect("text"))
}

/// Returns the calls a second of a number of threads that call at once.
fn calls_a_second(threads: usize, call: impl Fn() + Sync) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                pool.install(|| (0..CALLS).for_each(|_| call()));
            });
        }
    });
    (threads * CALLS) as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Compares numbers of threads with one thread, in turns.
fn compare(what: &str, call: impl Fn() + Sync) {
    for threads in [2, 8] {
        let turn = |_| {
            let one = calls_a_second(1, &call);
            (one, calls_a_second(threads, &call) / one)
        };
        let (one, ratios): (Vec<f64>, Vec<f64>) = (0..TURNS).map(turn).unzip();
        println!(
            "{what:<9} {threads} threads: {:.2} × one thread's {:.0} calls/s",
            median(ratios),
            median(one)
        );
    }
}

fn main() {
    let [qrels, run] = text();
    let input =
        |name: &str, text: &[u8]| Input::Bytes { name: name.to_owned(), bytes: text.to_vec() };
    let join =
        || Join::default().files(input("qrels", &qrels), [input("run", &run)]).expect("a matrix");
    let measures = ["AP", "nDCG@10", "RR", "P@10", "R@100"];
    let evaluator = Evaluator::new(measures).expect("measures");
    compare("join", || _ = black_box(join()));
    compare("both", || _ = black_box(evaluator.evaluate(&join()).expect("scores")));
    // A pool is made for each call.
    let (matrix, alone) = (join(), evaluator.with_threads(NonZeroUsize::new(1)));
    compare("evaluate", || {
        (0..20).for_each(|_| _ = black_box(alone.evaluate(&matrix).expect("scores")))
    });
}
