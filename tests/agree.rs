//! The CPU engine equals the reference bit for bit, and rows are independent. (At every level of SIMD: `levels/agree.rs`.)

use laneval::measure::Measure;
use laneval::{EngineChoice, Evaluator};
use proptest::prelude::*;

use crate::compared::{assert_same_bits, views};
use crate::matrices::{self, matrix, shape};
use crate::variants::every_measure;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Which folds share a pass depends on what else is asked for: a few measures answer as all of them together.
    #[test]
    fn any_few_measures_agree(shape in shape(), view in views(), picks in proptest::collection::vec(any::<u64>(), 6)) {
        let matrix = matrix(&shape);
        let all = every_measure(&matrix);
        for pick in picks {
            let few = 1 + pick as usize % 4;
            let spread = |at: usize| all[(pick >> (8 * at)) as usize % all.len()].clone();
            let common = ["AP", "P@10", "RR", "nDCG@10", "Rprec", "Success@5"].map(|name| name.parse::<Measure>().unwrap());
            let picked = (0..few).map(|at| match pick >> (40 + at) & 1 {
                0 => common[(pick >> (48 + 2 * at)) as usize % common.len()].clone(),
                _ => spread(at),
            });
            let mut evaluator = Evaluator::of(picked.collect());
            evaluator = evaluator.with_per_query(true).with_not_finite(true);
            evaluator = evaluator.with_view(view);
            let found = evaluator.evaluate(&matrix).unwrap();
            evaluator = evaluator.with_engine(EngineChoice::Reference);
            assert_same_bits(&evaluator.evaluate(&matrix).unwrap(), &found, "a few measures");
        }
    }

    /// A row's values depend on no other row of its tile.
    #[test]
    fn rows_are_independent(shape in shape()) {
        prop_assume!(!shape.queries.is_empty());
        let together = matrix(&shape);
        let mut evaluator = Evaluator::of(every_measure(&together));
        evaluator = evaluator.with_per_query(true).with_not_finite(true);
        let together = evaluator.evaluate(&together).unwrap();
        let middle = shape.queries.len() / 2;
        let mut alone = shape.clone();
        alone.queries = vec![shape.queries[middle].clone()];
        let alone = evaluator.evaluate(&matrix(&alone)).unwrap();
        for (run, one) in alone.runs.iter().enumerate() {
            let all = together.runs[run].per_query.as_ref().unwrap();
            for (measure, values) in one.per_query.as_ref().unwrap().values.iter().enumerate() {
                prop_assert_eq!(values[0].to_bits(), all.values[measure][middle].to_bits());
            }
        }
    }

    /// Moving a better document up by one rank never lowers AP, nDCG or ERR.
    #[test]
    fn better_documents_higher_never_hurt(labels in matrices::ranking(8, 40, 0.3), at in 0..39usize) {
        let grades = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        let score = |labels: &[u8]| {
            let query = matrices::Query { rankings: vec![labels.to_vec()], unretrieved: vec![5] };
            let matrix = matrix(&matrices::Shape { grades: grades.clone(), queries: vec![query] });
            let scores = Evaluator::new(["AP", "nDCG", "nDCG@5", "nDCG(gain=exp2)", "ERR"]).unwrap().evaluate(&matrix).unwrap();
            (0..5).map(|measure| scores.runs[0].average(measure).unwrap()).collect::<Vec<_>>()
        };
        let mut better = labels.clone();
        if better[at + 1] > better[at] {
            better.swap(at, at + 1);
        }
        for (before, after) in score(&labels).iter().zip(score(&better)) {
            // Two sums of the same terms in another order may differ in the last bits.
            prop_assert!(after >= before - 1e-12, "{before} → {after}");
        }
    }
}
