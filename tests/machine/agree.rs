//! The CPU engine equals the reference bit for bit: every row of the table, every parameter.

use std::sync::OnceLock;

use laneval::parts::engine::cpu::Cpu;
use laneval::parts::stats::ExactSum;
use laneval::{EngineChoice, Evaluator, QuerySet, Scores, StatName, View};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rayon::prelude::*;

use crate::cases::cases;
use crate::compared::{assert_same_bits, views};
use crate::matrices::{Shape, any_shape, matrix};
use crate::simd::levels;
use crate::variants::every_measure;

/// Checks that means are the exact sums of the values, from whatever tiles and threads.
fn assert_means(scores: &Scores) {
    for run in &scores.runs {
        let values = &run.per_query.as_ref().unwrap().values;
        for (summaries, values) in run.stats.iter().zip(values) {
            let sum: ExactSum = values.iter().copied().collect();
            if let Some((StatName::Mean, mean)) = summaries.first() {
                assert_eq!(mean.to_bits(), (sum.value() / values.len() as f64).to_bits());
            }
        }
    }
}

/// Checks all levels at once, because the reference takes longest: if one level differs, the tests
/// of all levels name it.
pub fn cpu_equals_reference(_: Cpu) {
    static COMPARED: OnceLock<Result<(), String>> = OnceLock::new();
    COMPARED.get_or_init(compare).clone().unwrap_or_else(|error| panic!("{error}"));
}

/// Returns each case has a runner of its own, so that all cores have some.
fn compare() -> Result<(), String> {
    (0..cases(48)).into_par_iter().try_for_each(|_| {
        let config = Config {
            cases: 1,
            max_shrink_iters: 100,
            failure_persistence: None,
            ..Config::default()
        };
        let compared =
            TestRunner::new(config).run(&(any_shape(), views(), any::<bool>()), one_case);
        compared.map_err(|error| error.to_string())
    })
}

fn one_case((shape, view, both): (Shape, View, bool)) -> Result<(), TestCaseError> {
    let mut matrix = matrix(&shape);
    let mut evaluator = Evaluator::from_measures(every_measure(&matrix));
    evaluator = evaluator.with_per_query(true).allow_non_finite(true);
    evaluator = evaluator.with_view(view);
    evaluator = evaluator.with_queries(if both { QuerySet::Common } else { QuerySet::Judged });
    evaluator = evaluator.with_engine(EngineChoice::Reference);
    let expected = evaluator.evaluate(&matrix).unwrap();
    assert_means(&expected);
    for cpu in levels().into_iter().filter_map(|(_, cpu)| cpu) {
        // Each level reads the labels itself: later evaluations of a matrix read lists of them.
        matrix.clear_sparse_cache();
        let found = evaluator.evaluate_on(&cpu, &matrix).unwrap();
        assert_same_bits(&expected, &found, &format!("{} under {view:?}", cpu.name()));
    }
    Ok(())
}
