//! Runs of each fold alone over a whole matrix, to measure the speed of each; the results are
//! dropped.

use std::hint::black_box;

use super::{Collector, Engine, Job};
use crate::error::Result;
use crate::fold::{CodeTable, Columns, Cut, Discount, Fold, Program, QueryInputs, Task};
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{CodesAbove, LabelMatrix, View};

/// Programs of one fold each, to measure the speed of each fold over a matrix.
pub struct SingleFolds {
    programs: Vec<Program>,
    /// The columns of numbers of each query that folds refer to.
    inputs: QueryInputs,
}

impl SingleFolds {
    /// Makes ten programs, each of one fold over whole rankings: hits are of grade 1 and above,
    /// gains and chances to stop grow with the grade.
    pub fn new(matrix: &LabelMatrix) -> Self {
        Self { programs: programs(matrix), inputs: vec![vec![1; matrix.queries().len()]] }
    }

    /// Returns the names of the ten folds, such as `Count`.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.programs.iter().map(|program| program.tasks[0].fold.name())
    }

    /// Runs one fold, by its index among the names, over all labels of a matrix, and drops its
    /// results.
    ///
    /// # Errors
    /// A refusal of the engine.
    pub fn run(&self, at: usize, engine: &impl Engine, matrix: &LabelMatrix) -> Result<()> {
        let (program, inputs) = (&self.programs[at], &self.inputs);
        let job =
            Job { batch: matrix.batch(), view: View::default(), program, inputs, watch: None };
        engine.run(&job, usize::MAX, || DiscardColumns).map(drop)
    }
}

/// A collector that drops all fold values, for timing a fold alone.
struct DiscardColumns;

impl Collector for DiscardColumns {
    fn tile(&mut self, _: usize, columns: &Columns) {
        black_box(columns);
    }

    fn merge(&mut self, _: Self) {}
}

fn programs(matrix: &LabelMatrix) -> Vec<Program> {
    let book = matrix.codebook();
    let hits = book.at_least(1.0);
    let grades = book.grades().len();
    let folds = [
        Fold::Count(hits),
        Fold::FirstRank(hits),
        Fold::PrecisionSum(hits),
        Fold::WeightedSum { gain: rising_table(grades as f64, grades), discount: Discount::Log2 },
        Fold::Cascade { stop: rising_table(1.0, grades), discount: Discount::Rank },
        Fold::PeakPrecision { hits, caps: vec![0] },
        Fold::PreferenceSum { hits, judged: CodesAbove::JUDGED, cap: 0, bound: 0 },
        Fold::InferredSum(hits),
        Fold::PairSum(hits),
        Fold::Histogram,
    ];
    let programs = folds.map(|fold| Program {
        tasks: vec![Task { fold, cuts: vec![Cut::End] }],
        codes: book.codes(),
        ..Program::default()
    });
    programs.into()
}

/// Returns a table by code whose values rise with the grade from 0 up to below `most`.
fn rising_table(most: f64, grades: usize) -> CodeTable {
    let mut table = [0.0; 256];
    let by_code = table[usize::from(FIRST_GRADE)..][..grades].iter_mut().enumerate();
    by_code.for_each(|(at, value)| *value = most * at as f64 / grades as f64);
    table.into()
}
