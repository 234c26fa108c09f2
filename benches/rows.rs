//! AP, nDCG@10, RR, P@10 and R@100 of rankings that lie in memory row by row, beside the same from tiles: labels of a byte, scores of
//! which the ten best are looked at, and lists of ids. Every answer is compared with that of a label matrix.
//!
//! `benches/peers.py numpy` and `benches/peers.py argpartition` are what others take for the same shapes.

use std::hint::black_box;
use std::time::Instant;

use laneval::arrays::{Ideal, Rankings, Shape};
use laneval::{Evaluator, LabelMatrix, Scores};

const REPEATS: usize = 9;
const LABELS: usize = 20_000_000;
const FIVE: [&str; 5] = ["AP", "nDCG@10", "RR", "P@10", "R@100"];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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

/// The fastest of several times.
fn fastest(work: impl Fn() -> Scores) -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(time).fold(f64::INFINITY, f64::min)
}

/// Seconds for rankings on so many threads, of which the averages are these.
fn seconds(measures: &[&str], threads: usize, rankings: &Rankings<'_>, expected: &Scores) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let evaluator = Evaluator::new(measures.iter().copied()).expect("measures");
    pool.install(|| {
        fastest(|| {
            let scores = evaluator.rankings(rankings).expect("scores");
            for measure in 0..measures.len() {
                assert_eq!(scores.runs[0].average(measure), expected.runs[0].average(measure));
            }
            scores
        })
    })
}

fn main() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    println!("labels of a byte   ideal       threads  M labels/s   share of a matrix");
    for depth in [100, 1000] {
        let labels = labels(LABELS);
        let counts: Vec<u32> = labels
            .chunks(depth)
            .flat_map(|row| [1, 2, 3].map(|grade| row.iter().filter(|&&label| label == grade).count() as u32))
            .collect();
        let given = Ideal::Counts { grades: &[1.0, 2.0, 3.0], counts: (&counts).into() };
        let of = |ideal| {
            Rankings::labels(&labels, Shape::dense(depth))
                .and_then(|of| of.with_ideal(ideal))
                .expect("rankings")
        };
        let matrix = LabelMatrix::of_rankings("rankings", &of(given)).expect("a matrix");
        let five = Evaluator::new(FIVE).expect("measures");
        let expected = five.evaluate(&matrix).expect("scores");
        let of_matrix = alone.install(|| fastest(|| five.evaluate(&matrix).expect("scores")));
        for (name, ideal) in [("counts", given), ("retrieved", Ideal::Retrieved)] {
            for threads in [1, 2] {
                let seconds = seconds(&FIVE, threads, &of(ideal), &expected);
                let (rate, share) = (LABELS as f64 / seconds / 1e6, of_matrix / seconds);
                println!("depth {depth:4}         {name:10}  {threads}        {rate:10.0}   {share:.2}");
            }
        }
    }

    println!("scores f32, 100 a row, top 10, one in ten relevant     threads  ns/row");
    let (rows, width) = (100_000, 100);
    let mut random = Random(2);
    let scores: Vec<f32> = (0..rows * width).map(|_| random.next() as f32 / (1u64 << 32) as f32).collect();
    let grades: Vec<u8> = (0..rows * width).map(|_| u8::from(random.next().is_multiple_of(10))).collect();
    let rankings = Rankings::scores(&scores, &grades, Shape::dense(width)).expect("rankings");
    for measures in [&["nDCG@10"][..], &["nDCG@10", "RR@10", "P@10", "R@10"], &FIVE] {
        let matrix = LabelMatrix::of_rankings("rankings", &rankings).expect("a matrix");
        let evaluator = Evaluator::new(measures.iter().copied()).expect("measures");
        let expected = evaluator.evaluate(&matrix).expect("scores");
        for threads in [1, 2] {
            let seconds = seconds(measures, threads, &rankings, &expected);
            println!("{:54} {threads}        {:.0}", measures.join(","), seconds / rows as f64 * 1e9);
        }
    }

    println!("ids u32, 10 relevant, 100 retrieved a row              threads  ns/id");
    let rows = 20_000;
    let distinct = |random: &mut Random, count: usize| {
        let mut ids: Vec<u32> = (0..count as u32).map(|at| at * 40 + random.next() as u32 % 40).collect();
        (1..count).for_each(|at| ids.swap(at, random.next() as usize % (at + 1)));
        ids
    };
    let retrieved: Vec<Vec<u32>> = (0..rows).map(|_| distinct(&mut random, 100)).collect();
    let relevant: Vec<Vec<u32>> = (0..rows).map(|_| distinct(&mut random, 10)).collect();
    let rankings = Rankings::ids(&relevant, &retrieved).expect("rankings");
    let expected = Evaluator::new(FIVE)
        .and_then(|five| five.evaluate(&LabelMatrix::of_rankings("rankings", &rankings)?))
        .expect("scores");
    for threads in [1, 2] {
        let seconds = seconds(&FIVE, threads, &rankings, &expected);
        println!("{:54} {threads}        {:.1}", FIVE.join(","), seconds / (rows * 100) as f64 * 1e9);
    }
}
