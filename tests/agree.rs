//! The CPU engine equals the reference bit for bit, and rows are independent. (At every level of
//! SIMD: `levels/agree.rs`.)

use laneval::measure::Measure;
use laneval::{EngineChoice, Evaluator, LabelMatrix, QuerySet, View};
use proptest::prelude::*;

use crate::cases::cases;
use crate::compared::{assert_same_bits, views};
use crate::matrices::{self, Query, Shape, any_shape, matrix};
use crate::random::Random;
use crate::variants::{every_measure, every_walk};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(48),
        max_shrink_iters: 100,
        ..ProptestConfig::default()
    })]

    /// Other measures decide which folds share a pass: a few measures have the same values as all
    /// of them together.
    #[test]
    fn any_few_measures_agree(
        shape in any_shape(),
        view in views(),
        picks in proptest::collection::vec(any::<u64>(), 6),
    ) {
        let matrix = matrix(&shape);
        let all = every_measure(&matrix);
        for pick in picks {
            let few = 1 + pick as usize % 4;
            let spread = |at: usize| all[(pick >> (8 * at)) as usize % all.len()].clone();
            let common = ["AP", "P@10", "RR", "nDCG@10", "Rprec", "Success@5"]
                .map(|name| name.parse::<Measure>().unwrap());
            let picked = (0..few).map(|at| match pick >> (40 + at) & 1 {
                0 => common[(pick >> (48 + 2 * at)) as usize % common.len()].clone(),
                _ => spread(at),
            });
            let mut evaluator = Evaluator::from_measures(picked.collect());
            evaluator = evaluator.with_per_query(true).allow_non_finite(true);
            evaluator = evaluator.with_view(view);
            let found = evaluator.evaluate(&matrix).unwrap();
            evaluator = evaluator.with_engine(EngineChoice::Reference);
            let names: Vec<String> = evaluator.measures().iter().map(ToString::to_string).collect();
            assert_same_bits(&evaluator.evaluate(&matrix).unwrap(), &found, &names.join(", "));
        }
    }

    /// The walks, which step from one document that matters to the next, are the reference
    /// functions, which step down every rank.
    #[test]
    fn walks_agree(
        shape in any_shape(),
        view in views(),
        picks in proptest::collection::vec(any::<usize>(), 60),
        both in any::<bool>(),
    ) {
        let matrix = matrix(&shape);
        let all = every_walk(&matrix);
        let picked = picks.iter().map(|pick| all[pick % all.len()].clone()).collect();
        assert_walks_agree(
            &matrix,
            Evaluator::from_measures(picked).with_view(view).with_queries(if both {
                QuerySet::Common
            } else {
                QuerySet::Judged
            }),
        );
    }

    /// A row's values depend on no other row of its tile.
    #[test]
    fn rows_are_independent(shape in any_shape()) {
        prop_assume!(!shape.queries.is_empty());
        let together = matrix(&shape);
        let mut evaluator = Evaluator::from_measures(every_measure(&together));
        evaluator = evaluator.with_per_query(true).allow_non_finite(true);
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
    fn better_documents_higher_never_hurt(
        labels in matrices::ranking(8, 40, 0.3),
        at in 0..39usize,
    ) {
        let grades = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        let score = |labels: &[u8]| {
            let query = matrices::Query { rankings: vec![labels.to_vec()], unretrieved: vec![5] };
            let matrix = matrix(&matrices::Shape { grades: grades.clone(), queries: vec![query] });
            let scores = Evaluator::new(["AP", "nDCG", "nDCG@5", "nDCG(gain=exp2)", "ERR"])
                .unwrap()
                .evaluate(&matrix)
                .unwrap();
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

/// Rankings of 1 to 700 documents in two runs, of which one in `often` is named in the judgments.
fn sparse(grades: &[f64], often: usize) -> Shape {
    let mut random = Random(often as u64);
    let codes = 1 + grades.len();
    let mut query = |number: usize| {
        let mut ranking = |depth: usize| -> Vec<u8> {
            let mut label =
                || if random.below(often) == 0 { 2 + random.below(codes) as u8 } else { 1 };
            (0..depth).map(|_| label()).collect()
        };
        let rankings = [number * 37, number * 91].map(|depth| ranking(1 + depth % 700)).into();
        Query { rankings, unretrieved: vec![2 + random.below(codes) as u8; 3] }
    };
    let queries = (0..150).map(&mut query).collect();
    Shape { grades: grades.to_vec(), queries }
}

/// A matrix that is evaluated again is read from lists of its named documents, and has the same
/// values to the bit: when lists are made, when they are there, and where a tile is too dense for
/// one.
#[test]
fn a_matrix_that_is_evaluated_again_has_the_same_values() {
    let full: Vec<f64> = (0..253).map(|grade| f64::from(grade) / 63.0).collect();
    let grades: [&[f64]; 4] = [&[0.0, 1.0], &[1.0], &[0.0, 1.0, 2.0, 3.0], &full];
    for grades in grades {
        for (often, listed) in [(60, 4), (33, 1), (8, 0)] {
            let matrix = matrix(&sparse(grades, often));
            let mut evaluator = Evaluator::from_measures(every_measure(&matrix));
            evaluator = evaluator.with_per_query(true).allow_non_finite(true);
            let view = View { depth: Some(101), judged_only: false };
            let viewed = evaluator.clone().with_view(view);
            let first = [&evaluator, &viewed].map(|variant| {
                let reference = variant.clone().with_engine(EngineChoice::Reference);
                reference.evaluate(&matrix).unwrap()
            });
            for time in ["first", "second", "third"] {
                let again = [&evaluator, &viewed].map(|variant| variant.evaluate(&matrix).unwrap());
                let what = |view: &str| format!("the {time} evaluation, 1 in {often}{view}");
                assert_same_bits(&first[0], &again[0], &what(""));
                assert_same_bits(&first[1], &again[1], &what(", under a view"));
            }
            let batch = matrix.evaluated_batch();
            let lists = batch.tiles().filter(|&at| batch.cached_sparse(at).is_some()).count();
            assert!(lists >= listed && (listed > 0 || lists <= 1), "{lists} lists, 1 in {often}");
        }
    }
}

fn assert_walks_agree(matrix: &LabelMatrix, evaluator: Evaluator) {
    let mut evaluator =
        evaluator.with_per_query(true).allow_non_finite(true).with_engine(EngineChoice::Cpu);
    let found = evaluator.evaluate(matrix).unwrap();
    evaluator = evaluator.with_engine(EngineChoice::Reference);
    assert_same_bits(&evaluator.evaluate(matrix).unwrap(), &found, "walks");
}

/// Rankings of some depth, with judged documents at some density; `best` of them lead the first
/// ranking, and `absent` are not retrieved.
fn walked(grades: &[f64], (depth, density, best, absent): (usize, u32, usize, usize)) -> Shape {
    let mut state = depth as u32 ^ density;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let codes = grades.len().min(253) as u32;
    let mut judged = |often: u32| {
        if random(1000) < often { 3 + random(codes) as u8 } else { 1 + (random(4) == 0) as u8 }
    };
    let queries = (0..3).map(|query| {
        let mut labels: Vec<u8> = (0..depth - query).map(|_| judged(density)).collect();
        labels.iter_mut().take(best).for_each(|label| *label = judged(1000));
        Query {
            rankings: vec![labels],
            unretrieved: (0..absent * query).map(|_| judged(1000)).collect(),
        }
    });
    let queries = queries.collect();
    Shape { grades: grades.to_vec(), queries }
}

/// Every walk agrees with every parameter: for few and many judged documents, at the top and
/// anywhere, retrieved and absent, in rankings that end before and behind the ranks of measures and
/// tables.
#[test]
fn every_walk_agrees_in_every_parameter() {
    let full: Vec<f64> = (0..253).map(|grade| f64::from(grade) / 63.0).collect();
    let many: Vec<f64> = (0..900).map(|grade| f64::from(grade) / 63.0).collect();
    let small = [0.0, 5e-324, 0.1, 0.3];
    let grades: [&[f64]; 7] =
        [&[0.0, 1.0], &[1.0], &[0.0, 1.0, 2.0, 3.0], &[0.5, 1.1, 2.25], &small, &full, &many];
    for grades in grades {
        for shape in [(12, 0, 0, 3), (100, 100, 2, 1), (1100, 10, 0, 30), (1003, 500, 3, 0)] {
            let matrix = matrix(&walked(grades, shape));
            assert_walks_agree(&matrix, Evaluator::from_measures(every_walk(&matrix)));
        }
    }
}

/// Rankings and ideal rankings that are deeper than all tables.
#[test]
fn deep_walks_agree() {
    let measures = "BinG G G(gain={-1:0.25,-2:-1,0:0.125}) nDCGrel RnDCG Compat Compat(p=1) \
        Compat(p=1,normalize=false) \
        Compat(p=0.9999) INST(depth=70000) INST(T=0.1) BPM(depth=70000,T=50) \
        NERR8(depth=70000,gain=grade,gmax=50) \
        NERR9(depth=70000,gain=grade,gmax=50) NERR10(depth=70000,p=0.999) \
        NERR10(depth=70000,gain=grade,gmax=1000,p=0.99) \
        NERR11(depth=70000,gain=grade,gmax=50)";
    for shape in [(66_000, 1, 1, 10), (50, 100, 0, 40_000)] {
        let matrix = matrix(&walked(&[0.0, 1.0, 2.5], shape));
        let of_all = Evaluator::new(measures.split_whitespace()).unwrap();
        assert_walks_agree(&matrix, of_all);
    }
}
