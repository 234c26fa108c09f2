//! The label matrix that `laneval bench` times, and the rows of times and rates that result.

use laneval::internals::{Cpu, SingleFolds};
use laneval::{Evaluator, LabelMatrix, Scores};
use serde::Serialize;

use crate::cli_error::{CliResult, fail};

/// The measures that are timed together.
pub const MEASURES: [&str; 6] = ["AP", "RR", "nDCG@10", "nDCG", "P@10", "R@100"];

/// The group of rows that only move bytes.
pub const MEMORY: &str = "memory";
/// The group of rows of all [`MEASURES`].
pub const SIX: &str = "six measures";
/// The group of rows of a fold alone.
pub const FOLD: &str = "fold";

/// The label matrix that `laneval bench` times, with the evaluators that run over it and the
/// expected scores.
pub struct Subject {
    pub matrix: LabelMatrix,
    pub six: Evaluator,
    pub folds: SingleFolds,
    /// The number of retrieved documents.
    pub labels: u64,
    /// The number of rankings with any retrieved document.
    pub rankings: u64,
    /// The scores of the CPU at its best level.
    expected: Scores,
}

/// A row of `laneval bench`: the time of one work on one engine, with the rates that follow.
#[derive(Debug, Clone, Default, Serialize)]
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

/// The rows that `laneval bench` has measured so far, with notes for the user.
#[derive(Default)]
pub struct BenchRows {
    pub rows: Vec<TimedRow>,
    pub notes: Vec<String>,
}

impl TimedRow {
    /// Makes the row of a computation over all labels of a matrix, from the seconds that it took.
    pub fn new(
        subject: &Subject,
        group: &'static str,
        what: &str,
        engine: &str,
        seconds: f64,
    ) -> Self {
        Self {
            group,
            labels_per_second: Some(subject.labels as f64 / seconds),
            queries_per_second: Some(subject.rankings as f64 / seconds),
            ..Self::from_transfer(what, engine, subject.matrix.tile_bytes().len() as u64, seconds)
        }
    }

    /// Makes the row of reading or moving `bytes` bytes, from the seconds that it took.
    pub fn from_transfer(what: &str, engine: &str, bytes: u64, seconds: f64) -> Self {
        Self {
            group: MEMORY,
            what: what.to_owned(),
            engine: engine.to_owned(),
            threads: rayon::current_num_threads(),
            seconds,
            bytes,
            bytes_per_second: bytes as f64 / seconds,
            ..Self::default()
        }
    }
}

impl Subject {
    /// Takes a label matrix to time, and evaluates it once on the CPU for the expected scores.
    pub fn new(matrix: LabelMatrix) -> CliResult<Self> {
        let labels = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
        if labels == 0 {
            return fail("there is nothing to measure: no run has any result of a judged query");
        }
        let rankings = matrix.depths().iter().filter(|&&depth| depth > 0).count() as u64;
        let six = Evaluator::new(MEASURES)?;
        let expected = six.evaluate_on(&Cpu::new(), &matrix)?;
        Ok(Self { folds: SingleFolds::new(&matrix), matrix, six, labels, rankings, expected })
    }

    /// Rejects scores whose averages differ from the CPU's: by a bit, or by 1e-9 on a GPU, which
    /// adds in integers.
    pub fn check(&self, engine: &str, scores: &Scores) -> CliResult<()> {
        let runs = scores
            .runs
            .iter()
            .map(|run| (0..MEASURES.len()).map(|at| run.average(at).unwrap_or(f64::NAN)).collect());
        self.check_averages(engine, &runs.collect::<Vec<_>>())
    }

    /// Rejects averages of an engine, `[run][measure]`, that differ from the CPU's as in `check`;
    /// NaN if no query counts.
    pub fn check_averages(&self, engine: &str, averages: &[Vec<f64>]) -> CliResult<()> {
        // The same bits on the CPU: a tolerance would hide a level of SIMD that adds in another
        // order.
        let slack = if engine.starts_with("gpu") { 1e-9 } else { 0.0 };
        for (expected, found) in self.expected.runs.iter().zip(averages) {
            for (at, measure) in self.expected.measures.iter().enumerate() {
                let (expected, found) = (expected.average(at).unwrap_or(f64::NAN), found[at]);
                let near = (expected - found).abs() <= slack * expected.abs().max(1.0);
                let neither = expected.is_nan() && found.is_nan();
                if !(near || neither) {
                    return fail(format!(
                        "{engine} computes {measure} = {found}, and the CPU {expected}: times of \
                         wrong answers mean nothing"
                    ));
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
    use laneval::parts::engine::{Collector, Job};
    use laneval::parts::fold::Columns;

    use super::*;
    use crate::cli_error::CliError;

    /// An engine that is the CPU, except that it changes one column by a share of itself.
    struct Liar(f64);

    impl Engine for Liar {
        fn describe(&self) -> String {
            "liar".to_owned()
        }

        fn run<G: Collector>(
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

    impl<G: Collector> Collector for Lied<G> {
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
        let Err(CliError::Failed(messages)) = check("avx2", 0.5) else {
            panic!("a wrong answer passed")
        };
        assert!(messages[0].starts_with("avx2 computes AP = "), "{messages:?}");
    }
}
