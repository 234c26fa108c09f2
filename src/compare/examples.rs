//! Values of small example runs for tests, whose statistics were computed by other programs and in
//! exact integers.

use super::unit::Unit;

/// The seed of all draws.
pub const SEED: u64 = 0x6c61_6e65_7661_6c31;

/// A linear congruential random generator for example values, that returns its high bits.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = (1_103_515_245 * self.0 + 12_345) % (1 << 31);
        self.0 >> 16
    }
}

/// Returns example values of two runs over eight queries, `[run][query]`.
pub fn eight() -> Vec<Vec<f64>> {
    vec![
        vec![0.531, 0.262, 0.718, 0.405, 0.154, 0.877, 0.343, 0.609],
        vec![0.568, 0.337, 0.697, 0.523, 0.170, 0.921, 0.402, 0.601],
    ]
}

/// Returns example values of two runs over fifty queries, with many ties, `[run][query]`.
pub fn fifty() -> Vec<Vec<f64>> {
    let mut random = Lcg(50);
    let mut runs = vec![Vec::new(), Vec::new()];
    for _ in 0..50 {
        let value = (random.next() % 11) as i64;
        let delta = [-3, -1, 0, 0, 1, 1, 2][random.next() as usize % 7];
        runs[0].push(value as f64 / 10.0);
        runs[1].push((value + delta).clamp(0, 10) as f64 / 10.0);
    }
    runs
}

/// Returns example values of five runs over twenty queries, `[run][query]`.
pub fn twenty() -> Vec<Vec<f64>> {
    let mut random = Lcg(2026);
    let mut runs = vec![Vec::new(); 5];
    for _ in 0..20 {
        let base = 150 + random.next() as i64 % 500;
        for (run, plus) in runs.iter_mut().zip([0, 15, 40, 70, 55]) {
            run.push((base + plus + random.next() as i64 % 161 - 80) as f64 / 1000.0);
        }
    }
    runs
}

/// Returns example values of three runs over twenty queries: Table 5.1 of Sakai, "Laboratory
/// Experiments in Information Retrieval" (2018).
pub fn sakai() -> Vec<Vec<f64>> {
    let tenths = [
        [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
        [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
        [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ];
    tenths.iter().map(|run| run.iter().map(|&tenth| f64::from(tenth) / 10.0).collect()).collect()
}

/// Returns the values of some runs as whole numbers of one unit, `[run][query]`.
pub fn counts(runs: &[Vec<f64>]) -> Vec<Vec<i64>> {
    let unit = Unit::for_values(runs.iter().flatten().copied());
    runs.iter().map(|run| unit.counts(run)).collect()
}

/// Returns the hashes of the first `count` example query ids, q1, q2, ….
pub fn queries(count: usize) -> Vec<u64> {
    (1..=count).map(|at| super::philox::query_hash(format!("q{at}").as_bytes())).collect()
}

#[test]
fn the_values_are_those_that_were_used() {
    let tens =
        |run: &[f64]| run.iter().map(|value| (value * 10.0).round() as i64).collect::<Vec<_>>();
    let [first, second] = [0, 1].map(|run| tens(&fifty()[run]));
    assert_eq!(first[..5], [0, 6, 0, 2, 8]);
    let deltas: Vec<i64> = first.iter().zip(&second).map(|(a, b)| b - a).collect();
    assert_eq!(deltas[..7], [0, 1, 1, 1, 0, 0, -1]);
    let row: Vec<f64> = twenty().iter().map(|run| run[0]).collect();
    assert_eq!(row, [0.534, 0.516, 0.638, 0.564, 0.703]);
}
