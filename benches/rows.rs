//! AP, nDCG@10, RR, P@10 and R@100 of rankings that lie in memory row by row, a byte a label, as a program has them that keeps its
//! own rankings: they become tiles first. Beside the same from tiles, on one thread.

use std::hint::black_box;
use std::time::Instant;

use laneval::internals::label::{Facts, MatrixBuilder, StagedPiece, StagedRow, StagedRun};
use laneval::{Codebook, Evaluator, Ids, LabelMatrix, RankingRule, RunInfo, Scores};

const REPEATS: usize = 7;
const LABELS: usize = 20_000_000;

/// Labels of which one in a hundred is relevant, with grades 1 to 3.
fn labels(count: usize) -> Vec<u8> {
    let mut state = 1u64;
    let label = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (state >> 32).is_multiple_of(100) { 4 + (state >> 60) as u8 % 3 } else { 1 }
    };
    (0..count).map(label).collect()
}

/// Rankings as they are staged for a matrix. What a query's qrels hold is what its ranking retrieves.
fn staged(rows: &[u8], depth: usize) -> (MatrixBuilder, StagedRun) {
    let ids: Vec<String> = (0..rows.len() / depth).map(|query| format!("{query:08}")).collect();
    let queries: Ids = ids.iter().map(|id| id.as_bytes()).collect();
    let mut facts = Facts::new();
    rows.chunks(depth).for_each(|row| facts.push(row.iter().copied().filter(|&label| label > 1)));
    let book = Codebook::new([0.0, 1.0, 2.0, 3.0]).expect("a codebook");
    let row = |query: usize| StagedRow { query: query as u32, depth: depth as u32 };
    let piece = StagedPiece { rows: (0..rows.len() / depth).map(row).collect(), labels: rows.to_vec() };
    let run = StagedRun { info: RunInfo::default(), pieces: vec![piece] };
    (MatrixBuilder::new(book, RankingRule::default(), 0, queries, facts), run)
}

/// Rows as tiles.
fn matrix((mut builder, run): (MatrixBuilder, StagedRun)) -> LabelMatrix {
    builder.push(run);
    builder.finish().expect("a matrix")
}

/// The fastest of several times, what is worked on made beforehand.
fn fastest<T>(make: impl Fn() -> T, work: impl Fn(T) -> Scores) -> f64 {
    let time = |_| {
        let input = make();
        let start = Instant::now();
        black_box(work(input));
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(time).fold(f64::INFINITY, f64::min)
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a pool");
    let five = Evaluator::new(["AP", "nDCG@10", "RR", "P@10", "R@100"]).expect("measures");
    println!("depth  from rows  from tiles, M labels/s");
    for depth in [100, 1000] {
        let rows = labels(LABELS);
        pool.install(|| {
            let tiles = matrix(staged(&rows, depth));
            let expected = five.evaluate(&tiles).expect("scores").runs[0].average(0);
            let from_rows = |staged| {
                let scores = five.evaluate(&matrix(staged)).expect("scores");
                assert_eq!(scores.runs[0].average(0), expected);
                scores
            };
            let from_rows = fastest(|| staged(&rows, depth), from_rows);
            let from_tiles = fastest(|| (), |()| five.evaluate(&tiles).expect("scores"));
            let rate = |seconds: f64| LABELS as f64 / seconds / 1e6;
            println!("{depth:5}  {:9.0}  {:10.0}", rate(from_rows), rate(from_tiles));
        });
    }
}
