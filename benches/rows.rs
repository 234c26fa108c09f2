//! AP, nDCG@10, RR, P@10 and R@100 of rankings that are in memory row by row, beside the same from
//! tiles: labels of one byte, scores of which the ten best are looked at, and lists of ids. Every
//! answer is compared with that of a label matrix.
//!
//! First, many small batches are pushed into a stream, whose memory is shown, and a million equal
//! scores are evaluated over all their orders.
//!
//! `benches/peers.py numpy` and `benches/peers.py argpartition` time other programs on the same
//! shapes.

use std::hint::black_box;
use std::time::Instant;

use laneval::arrays::{Ideal, Rankings, Shape};
use laneval::columns::{QrelsColumns, RunColumns};
use laneval::{Dialect, Evaluator, Join, LabelMatrix, Qrels, Scores, TiedValue};

const REPEATS: usize = 25;
const LABELS: usize = 20_000_000;
const FIVE: [&str; 5] = ["AP", "nDCG@10", "RR", "P@10", "R@100"];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }
}

/// Labels of which one in a hundred is relevant, with grades 1 to 3.
fn labels(count: usize) -> Vec<u8> {
    let mut random = Random(1);
    let label = |_| match random.next() {
        number if number.is_multiple_of(100) => 1 + (number >> 28) as u8 % 3,
        _ => 0,
    };
    (0..count).map(label).collect()
}

/// Returns the seconds of the fastest of several runs, for each of two works in turns.
fn fastest(works: [&dyn Fn() -> Scores; 2]) -> [f64; 2] {
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..REPEATS {
        for (work, seconds) in works.iter().zip(&mut seconds) {
            let start = Instant::now();
            black_box(work());
            *seconds = seconds.min(start.elapsed().as_secs_f64());
        }
    }
    seconds
}

/// Returns the seconds that rankings and their matrix take on this number of threads. Their
/// averages are checked to be the same.
fn seconds(
    measures: &[&str],
    threads: usize,
    rankings: &Rankings<'_>,
    matrix: &LabelMatrix,
) -> [f64; 2] {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let evaluator = Evaluator::new(measures.iter().copied()).expect("measures");
    let of_rankings = || evaluator.rankings(rankings).expect("scores");
    let of_matrix = || evaluator.evaluate(matrix).expect("scores");
    pool.install(|| {
        let (found, expected) = (of_rankings(), of_matrix());
        for measure in 0..measures.len() {
            assert_eq!(found.runs[0].average(measure), expected.runs[0].average(measure));
        }
        fastest([&of_rankings, &of_matrix])
    })
}

/// A hundred million rankings of depth 10 without ids, batch by batch.
fn stream() {
    let (batches, rows, depth) = (1000, 100_000, 10);
    let labels = labels(rows * depth);
    let rankings = Rankings::labels(&labels, Shape::dense(depth)).expect("rankings");
    let five = Evaluator::new(FIVE).expect("measures");
    let mut stream = five.stream(&rankings.codebook().expect("grades")).expect("a stream");
    let start = Instant::now();
    (0..batches).for_each(|_| stream.push(&rankings).expect("values"));
    let seconds = start.elapsed().as_secs_f64();
    let scores = stream.finish().and_then(|summary| summary.scores(&[])).expect("scores");
    let expected = five.rankings(&rankings).expect("scores");
    assert_eq!(scores.runs[0].queries, batches * rows);
    let [found, expected] =
        [scores, expected].map(|scores| scores.runs[0].average(2).expect("an average"));
    assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    let rate = (batches * rows) as f64 / seconds / 1e6;
    println!(
        "a stream of {batches} batches of {rows} rows of depth {depth}: {rate:.0} M rows/s, peak \
         memory {peak}"
    );
}

/// Times a million equal scores of one query, a fiftieth judged and a hundredth relevant, under
/// common measures.
fn ties() {
    println!("a million equal scores     ms for the expected value, and for the best");
    let (count, judged) = (1_000_000, 20_000);
    let (queries, docs, scores) =
        (vec![1u32; count], (0..count as u32).collect::<Vec<_>>(), vec![0.5f32; count]);
    let of_judged: Vec<u32> = docs.iter().copied().step_by(count / judged).collect();
    let grades: Vec<u8> = (0..judged).map(|at| [0, 1, 0, 2][at % 4]).collect();
    let judgments = QrelsColumns::new(&queries[..judged], &of_judged, &grades);
    let qrels = Qrels::columns(&[judgments], Dialect::Laneval).expect("judgments");
    let run = [RunColumns::scored(&queries, &docs, &scores)];
    let join = Join { keep_ties: true, ..Join::default() };
    let matrix = join.columns(&qrels, &[("equal", &run)]).expect("a matrix");
    // Expected values that are easy to derive.
    let known = |name| match name {
        "P@10" => Some(0.01),
        "R@100" => Some(0.0001),
        "Judged@10" => Some(0.02),
        "bpref" => Some(0.5),
        _ => None,
    };
    let names = [
        "AP",
        "nDCG",
        "nDCG@10",
        "RR",
        "P@10",
        "R@100",
        "ERR",
        "RBP",
        "bpref",
        "Judged@10",
        "Compat",
    ];
    for name in names {
        let [(expected, took), (best, of_best)] =
            [TiedValue::Average, TiedValue::Best].map(|tied| {
                let evaluator = Evaluator::new([name]).expect("a measure").with_tied_value(tied);
                let start = Instant::now();
                let scores = evaluator.evaluate(&matrix).expect("scores");
                (scores.runs[0].average(0).expect("an average"), start.elapsed().as_secs_f64())
            });
        assert!(0.0 < expected && expected <= best, "{name}: {expected} and {best}");
        if let Some(known) = known(name) {
            assert!((expected - known).abs() < 1e-9, "{name}: {expected}");
        }
        println!("{name:24} {:8.1} {:8.1}", took * 1e3, of_best * 1e3);
    }
}

fn main() {
    stream();
    ties();
    println!("labels of a byte   ideal       threads  M labels/s   share of a matrix");
    for depth in [100, 1000] {
        let labels = labels(LABELS);
        let counts: Vec<u32> = labels
            .chunks(depth)
            .flat_map(|row| {
                [1, 2, 3].map(|grade| row.iter().filter(|&&label| label == grade).count() as u32)
            })
            .collect();
        let given = Ideal::Counts { grades: &[1.0, 2.0, 3.0], counts: (&counts).into() };
        let build_rankings = |ideal| {
            Rankings::labels(&labels, Shape::dense(depth))
                .and_then(|rankings| rankings.with_ideal(ideal))
                .expect("rankings")
        };
        let matrix =
            LabelMatrix::from_rankings("rankings", &build_rankings(given)).expect("a matrix");
        for (name, ideal) in [("counts", given), ("retrieved", Ideal::Retrieved)] {
            for threads in [1, 2] {
                let [seconds, of_matrix] = seconds(&FIVE, threads, &build_rankings(ideal), &matrix);
                let (rate, share) = (LABELS as f64 / seconds / 1e6, of_matrix / seconds);
                println!(
                    "depth {depth:4}         {name:10}  {threads}        {rate:10.0}   {share:.2}"
                );
            }
        }
    }

    println!("scores f32, top 10, one in ten relevant                a row  threads  ns/row");
    let mut random = Random(2);
    for (rows, width) in [(100_000, 100), (10_000, 1000)] {
        let scores: Vec<f32> =
            (0..rows * width).map(|_| random.next() as f32 / (1u64 << 32) as f32).collect();
        let grades: Vec<u8> =
            (0..rows * width).map(|_| u8::from(random.next().is_multiple_of(10))).collect();
        let rankings = Rankings::scores(&scores, &grades, Shape::dense(width)).expect("rankings");
        let matrix = LabelMatrix::from_rankings("rankings", &rankings).expect("a matrix");
        for measures in [&["nDCG@10"][..], &["nDCG@10", "RR@10", "P@10", "R@10"], &FIVE] {
            for threads in [1, 2] {
                let [seconds, _] = seconds(measures, threads, &rankings, &matrix);
                let ns = seconds / rows as f64 * 1e9;
                println!("{:54} {width:5}  {threads}        {ns:.0}", measures.join(","));
            }
        }
    }

    println!("ids u32, 10 relevant, 100 retrieved a row              threads  ns/id");
    let rows = 20_000;
    let distinct = |random: &mut Random, count: usize| {
        let mut ids: Vec<u32> =
            (0..count as u32).map(|at| at * 40 + random.next() as u32 % 40).collect();
        (1..count).for_each(|at| ids.swap(at, random.next() as usize % (at + 1)));
        ids
    };
    let retrieved: Vec<Vec<u32>> = (0..rows).map(|_| distinct(&mut random, 100)).collect();
    let relevant: Vec<Vec<u32>> = (0..rows).map(|_| distinct(&mut random, 10)).collect();
    let rankings = Rankings::ids(&relevant, &retrieved).expect("rankings");
    let matrix = LabelMatrix::from_rankings("rankings", &rankings).expect("a matrix");
    for threads in [1, 2] {
        let [seconds, _] = seconds(&FIVE, threads, &rankings, &matrix);
        println!(
            "{:54} {threads}        {:.1}",
            FIVE.join(","),
            seconds / (rows * 100) as f64 * 1e9
        );
    }
}
