//! Programs of one fold each.

use laneval::LabelMatrix;
use laneval::internals::fold::{CodeTable, Cut, Discount, Fold, Program, Task};
use laneval::internals::label::Above;
use laneval::internals::label::code::FIRST_GRADE;

/// Returns the ten folds over whole rankings: hits are of grade 1 and above, gains and chances to stop grow with the grade.
pub fn programs(matrix: &LabelMatrix) -> Vec<Program> {
    let book = matrix.book();
    let hits = book.at_least(1.0);
    let grades = book.grades().len();
    let table = |most: f64| -> CodeTable {
        let mut table = [0.0; 256];
        let by_code = &mut table[usize::from(FIRST_GRADE)..][..grades];
        by_code.iter_mut().enumerate().for_each(|(at, value)| *value = most * at as f64 / grades as f64);
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
