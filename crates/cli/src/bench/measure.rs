//! The subject of the measurements, and the rows that result from them.

use laneval::internals::{Cpu, FoldsAlone};
use laneval::{Evaluator, LabelMatrix, RunScores, Scores};
use serde::Serialize;

use crate::stop::Stop;

/// The measures that are timed together.
pub const MEASURES: [&str; 6] = ["AP", "RR", "nDCG@10", "nDCG", "P@10", "R@100"];

/// The group of rows that only move bytes.
pub const MEMORY: &str = "memory";
/// The group of rows of all [`MEASURES`].
pub const SIX: &str = "six measures";
/// The group of rows of a fold alone.
pub const FOLD: &str = "fold";

/// A matrix, and the programs that run over it.
pub struct Subject {
    pub matrix: LabelMatrix,
    pub six: Evaluator,
    pub folds: FoldsAlone,
    /// The number of retrieved documents.
    pub labels: u64,
    /// The number of rankings with any retrieved document.
    pub rankings: u64,
    /// The scores of the CPU at its best level.
    expected: Scores,
}

/// A measured time, with the rates that follow from the time.
#[derive(Debug, Clone, Serialize)]
pub struct TimedRow {
    pub group: &'static str,
    pub what: String,
    pub engine: String,
    pub threads: usize,
    pub seconds: f64,
    pub bytes: u64,
    pub labels_per_second: Option<f64>,
    pub queries_per_second: Option<f64>,
    pub bytes_per_second: f64,
    /// The share of the bandwidth of reading with as many threads, or, if the labels are on the
    /// GPU, of copying there.
    pub bandwidth_share: Option<f64>,
    /// The time of the CPU on all threads, divided by this time.
    pub cpu_over_gpu: Option<f64>,
}

/// Rows measured so far, with notes.
#[derive(Default)]
pub struct BenchRows {
    pub rows: Vec<TimedRow>,
    pub notes: Vec<String>,
}

impl TimedRow {
    /// Makes a row of the seconds that a computation over all labels takes.
    pub fn new(
        subject: &Subject,
        group: &'static str,
        what: &str,
        engine: &str,
        seconds: f64,
    ) -> Self {
        TimedRow {
            group,
            labels_per_second: Some(subject.labels as f64 / seconds),
            queries_per_second: Some(subject.rankings as f64 / seconds),
            ..Self::moving(what, engine, subject.matrix.tile_bytes().len() as u64, seconds)
        }
    }

    /// Makes a row of the seconds that moving `bytes` bytes takes.
    pub fn moving(what: &str, engine: &str, bytes: u64, seconds: f64) -> Self {
        TimedRow {
            group: MEMORY,
            what: what.to_owned(),
            engine: engine.to_owned(),
            threads: rayon::current_num_threads(),
            seconds,
            bytes,
            labels_per_second: None,
            queries_per_second: None,
            bytes_per_second: bytes as f64 / seconds,
            bandwidth_share: None,
            cpu_over_gpu: None,
        }
    }
}

impl Subject {
    /// Evaluates a matrix once, to know the expected scores.
    pub fn new(matrix: LabelMatrix) -> Result<Self, Stop> {
        let labels = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
        if labels == 0 {
            return Err(Stop::new(
                "there is nothing to measure: no run has any result of a judged query",
            ));
        }
        let rankings = matrix.depths().iter().filter(|&&depth| depth > 0).count() as u64;
        let six = Evaluator::new(MEASURES)?;
        let expected = six.evaluate_on(&Cpu::new(), &matrix)?;
        Ok(Subject { folds: FoldsAlone::of(&matrix), matrix, six, labels, rankings, expected })
    }

    /// Refuses scores other than the CPU's: the CPU must give the same bits, a GPU, which adds in
    /// integers, values within 1e-9.
    pub fn check(&self, engine: &str, scores: &Scores) -> Result<(), Stop> {
        let averages = |run: &RunScores| {
            (0..MEASURES.len()).map(|at| run.average(at).unwrap_or(f64::NAN)).collect()
        };
        self.check_averages(engine, &scores.runs.iter().map(averages).collect::<Vec<_>>())
    }

    /// Refuses averages, `[run][measure]`, other than the CPU's, as `check` does; NaN if no query
    /// counts.
    pub fn check_averages(&self, engine: &str, averages: &[Vec<f64>]) -> Result<(), Stop> {
        // The same bits on the CPU: a tolerance would hide a level of SIMD that adds in another
        // order.
        let slack = if engine.starts_with("gpu") { 1e-9 } else { 0.0 };
        for (expected, found) in self.expected.runs.iter().zip(averages) {
            for (at, measure) in self.expected.measures.iter().enumerate() {
                let (expected, found) = (expected.average(at).unwrap_or(f64::NAN), found[at]);
                let near = (expected - found).abs() <= slack * expected.abs().max(1.0);
                let neither = expected.is_nan() && found.is_nan();
                if !(near || neither) {
                    return Err(Stop::new(format!(
                        "{engine} computes {measure} = {found}, and the CPU {expected}: times of \
                         wrong answers mean nothing"
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use laneval::Error;
    use laneval::internals::{Engine, Synthetic};
    use laneval::parts::engine::{Gather, Job};
    use laneval::parts::fold::Columns;

    use super::*;

    /// An engine that is the CPU, except that it changes one column by a share of itself.
    struct Liar(f64);

    impl Engine for Liar {
        fn describe(&self) -> String {
            "liar".to_owned()
        }

        fn run<G: Gather>(
            &self,
            job: &Job<'_>,
            workers: usize,
            begin: impl Fn() -> G + Sync,
        ) -> Result<G, Error> {
            Cpu::new().run(job, workers, || Lied(begin(), self.0)).map(|Lied(gather, _)| gather)
        }
    }

    /// A gatherer of columns that were changed.
    struct Lied<G>(G, f64);

    impl<G: Gather> Gather for Lied<G> {
        fn tile(&mut self, at: usize, columns: &Columns) {
            let mut columns = columns.clone();
            columns.values[..columns.lanes].iter_mut().for_each(|value| *value *= 1.0 + self.1);
            self.0.tile(at, &columns);
        }

        fn merge(&mut self, other: Self) {
            self.0.merge(other.0);
        }
    }

    #[test]
    fn wrong_answers_are_refused() {
        let matrix =
            Synthetic { queries: 100, depth: 50, ..Synthetic::default() }.matrix().unwrap();
        let subject = Subject::new(matrix).unwrap();
        let check = |engine: &str, lie: f64| {
            let scores = subject.six.evaluate_on(&Liar(lie), &subject.matrix).unwrap();
            subject.check(engine, &scores)
        };
        assert!(check("avx512", 0.0).is_ok());
        assert!(check("avx512", 1e-12).is_err());
        assert!(check("gpu", 1e-12).is_ok());
        assert!(check("gpu, resident", 1e-6).is_err());
        let Err(Stop::Failed(said)) = check("avx2", 0.5) else { panic!("a wrong answer passed") };
        assert!(said[0].starts_with("avx2 computes AP = "), "{said:?}");
    }
}
