//! The cost of each measure that walks, for each ranking on one thread, beside its reference
//! function; the bits of every query are the same.
//!
//! A number is how much longer the measure and AP take together than AP alone, so it excludes
//! reading the labels.

use std::hint::black_box;
use std::time::Instant;

use laneval::measure::{MEASURES, Measure};
use laneval::parts::generate::Synthetic;
use laneval::parts::measure::Recipe;
use laneval::{EngineChoice, Evaluator, LabelMatrix, Scores};

const REPEATS: usize = 9;
const LABELS: u32 = 4_000_000;

/// Returns the fastest of several times, in seconds: the others were disturbed.
fn fastest(evaluator: &Evaluator, matrix: &LabelMatrix, repeats: usize) -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(evaluator.evaluate(matrix).expect("scores"));
        start.elapsed().as_secs_f64()
    };
    (0..repeats).map(time).fold(f64::INFINITY, f64::min)
}

/// Returns the bits of the values of all queries.
fn bits(scores: &Scores) -> Vec<u64> {
    let values = scores.runs[0].per_query.iter().flat_map(|values| values.values.iter().flatten());
    values.map(|value| value.to_bits()).collect()
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build()
        .expect("a pool");
    println!("ns a ranking: the walk, the reference");
    for depth in [100, 1000] {
        let matrix = Synthetic { queries: LABELS / depth, depth, ..Synthetic::default() }
            .matrix()
            .expect("a matrix");
        let rows = f64::from(LABELS / depth);
        let evaluator = |names: &[&str], engine| {
            let measures =
                names.iter().map(|name| name.parse::<Measure>().expect("a measure")).collect();
            Evaluator::from_measures(measures).with_engine(engine)
        };
        let bare = |name: &str| {
            let with = ["", "@10", "@0.5"].map(|cutoff| format!("{name}{cutoff}"));
            with.iter().find_map(|name| name.parse::<Measure>().ok()).expect("a measure")
        };
        let walks = MEASURES.iter().map(|row| bare(row.name));
        let walks = walks
            .filter(|measure| matches!(measure.recipe(matrix.codebook()), Ok(Recipe::Walk { .. })));
        let names: Vec<String> = walks.map(|measure| measure.to_string()).collect();
        let graded = ["INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11"]
            .map(|name| format!("{name}(gain=grade)"));
        pool.install(|| {
            let without = |engine| fastest(&evaluator(&["AP"], engine), &matrix, REPEATS);
            let (cpu, reference) = (without(EngineChoice::Cpu), without(EngineChoice::Reference));
            for name in names.iter().chain(&graded) {
                let per_query = |engine| {
                    evaluator(&[name], engine)
                        .with_per_query(true)
                        .evaluate(&matrix)
                        .expect("scores")
                };
                let [walked, expected] = [EngineChoice::Cpu, EngineChoice::Reference]
                    .map(|engine| bits(&per_query(engine)));
                assert_eq!(walked, expected, "{name}");
                let cost = |engine, without, repeats| {
                    (fastest(&evaluator(&["AP", name], engine), &matrix, repeats) - without) / rows
                        * 1e9
                };
                let walk = cost(EngineChoice::Cpu, cpu, REPEATS);
                let plain = cost(EngineChoice::Reference, reference, 2);
                println!("depth {depth:4}  {name:18} {walk:6.0}  {plain:7.0}");
            }
        });
    }
}
