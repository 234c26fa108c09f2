//! Each fold alone over a whole matrix, for measurements: what is folded is dropped.

use std::hint::black_box;

use super::{Engine, Gather, Job};
use crate::error::Result;
use crate::fold::{CodeTable, Columns, Cut, Discount, Fold, Program, QueryInputs, Task};
use crate::matrix::code::FIRST_GRADE;
use crate::matrix::{Above, LabelMatrix, View};

/// Programs of one fold each.
pub struct FoldsAlone {
    programs: Vec<Program>,
    /// The columns of numbers of each query that folds refer to.
    inputs: QueryInputs,
}

impl FoldsAlone {
    /// The ten folds over whole rankings: hits are of grade 1 and above, gains and chances to stop
    /// grow with the grade.
    pub fn of(matrix: &LabelMatrix) -> Self {
        FoldsAlone { programs: programs(matrix), inputs: vec![vec![1; matrix.queries().len()]] }
    }

    /// The names of the folds.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.programs.iter().map(|program| program.tasks[0].fold.name())
    }

    /// Runs a fold, by its index among the names, over all labels of the matrix, and drops its
    /// columns.
    ///
    /// # Errors
    /// A refusal of the engine.
    pub fn run(&self, at: usize, engine: &impl Engine, matrix: &LabelMatrix) -> Result<()> {
        let (program, inputs) = (&self.programs[at], &self.inputs);
        let job =
            Job { batch: matrix.batch(), view: View::default(), program, inputs, watch: None };
        engine.run(&job, usize::MAX, || Nothing).map(drop)
    }
}

/// A gatherer that drops all columns, for timing a fold alone.
struct Nothing;

impl Gather for Nothing {
    fn tile(&mut self, _: usize, columns: &Columns) {
        black_box(columns);
    }

    fn merge(&mut self, _: Self) {}
}

fn programs(matrix: &LabelMatrix) -> Vec<Program> {
    let book = matrix.book();
    let hits = book.at_least(1.0);
    let grades = book.grades().len();
    let table = |most: f64| -> CodeTable {
        let mut table = [0.0; 256];
        let by_code = &mut table[usize::from(FIRST_GRADE)..][..grades];
        by_code
            .iter_mut()
            .enumerate()
            .for_each(|(at, value)| *value = most * at as f64 / grades as f64);
        table.into()
    };
    let folds = [
        Fold::Count(hits),
        Fold::FirstRank(hits),
        Fold::PrecisionSum(hits),
        Fold::WeightedSum { gain: table(grades as f64), discount: Discount::Log2 },
        Fold::Cascade { stop: table(1.0), discount: Discount::Rank },
        Fold::PeakPrecision { hits, caps: vec![0] },
        Fold::PreferenceSum { hits, judged: Above::JUDGED, cap: 0, bound: 0 },
        Fold::InferredSum(hits),
        Fold::PairSum(hits),
        Fold::Histogram,
    ];
    let alone = |fold| Program {
        tasks: vec![Task { fold, cuts: vec![Cut::End] }],
        codes: book.codes(),
        ..Program::default()
    };
    folds.map(alone).into()
}
