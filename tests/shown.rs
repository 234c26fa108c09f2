//! The explanation of a query shows the evaluation: the ranking of the join, the bits of its
//! values, and terms that add up to them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use laneval::measure::Measure;
use laneval::parts::show::{ShownJudgment, ShownQueries, ShownRun, SumStep};
use laneval::{
    EngineChoice, Evaluator, Input, Join, LabelMatrix, RunInput, ScoreType, TieBreak, TiedValue,
    View,
};

use crate::random::Random;
use crate::variants::every_measure;

fn input(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

/// Qrels and two runs, full of ties, whose lines are in any order.
fn texts(random: &mut Random) -> [String; 3] {
    let mut qrels: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    for _ in 0..60 {
        qrels.insert((random.below(4), random.below(40)), random.below(6) as i32 - 2);
    }
    let qrels =
        qrels.iter().map(|((query, doc), grade)| format!("q{query} 0 d{doc} {grade}\n")).collect();
    let mut run = || {
        let mut lines = Vec::new();
        for query in 0..6 {
            let (depth, step) = (1 + random.below(30), 1 + random.below(7));
            for at in 0..depth {
                // 7 and 40 have no common divisor: no document twice.
                let doc = (at * 7 + query) % 40;
                let score = 5.0 + (random.below(8) / step) as f64 + [0.0, 1e-9][random.below(2)];
                lines.push(format!("q{query} Q0 d{doc} {} {score} t\n", at + 1));
            }
        }
        for at in (1..lines.len()).rev() {
            lines.swap(at, random.below(at + 1));
        }
        lines.concat()
    };
    [qrels, run(), run()]
}

/// Returns the labels of a ranking of a matrix, as a view sees it.
fn labels(matrix: &LabelMatrix, run: usize, query: usize, view: View) -> Vec<u8> {
    let row = (run * matrix.queries().len() + query) as u32;
    for tile in 0..matrix.packing().tiles.len() {
        if let Some(lane) = matrix.tile_rows(tile).iter().position(|&candidate| candidate == row) {
            let depth = matrix.depths()[row as usize] as usize;
            let mut labels = matrix.tile(tile).lane(lane).take(depth).collect();
            view.apply_to_row(&mut labels);
            return labels;
        }
    }
    Vec::new()
}

fn code(matrix: &LabelMatrix, judgment: ShownJudgment) -> u8 {
    match judgment {
        ShownJudgment::None => 1,
        ShownJudgment::Negative => 2,
        ShownJudgment::Grade(grade) => matrix.codebook().code(grade).unwrap(),
        ShownJudgment::Gold { .. } => unreachable!("no passages are shown here"),
    }
}

/// Checks that terms, if there are any, give the value when they are added in rank order and the
/// last step is applied.
fn assert_terms_add_up(run: &ShownRun, measures: &[Measure]) -> Vec<String> {
    let mut with = Vec::new();
    for ((terms, value), measure) in run.terms.iter().zip(&run.values).zip(measures) {
        let Some(terms) = terms else { continue };
        assert!(terms.terms.is_sorted_by(|one, next| one.rank < next.rank), "{measure}");
        let sum = terms.terms.iter().fold(0.0, |sum, term| sum + term.value);
        assert_eq!(sum.to_bits(), terms.sum.to_bits(), "{measure}");
        let found = match terms.last {
            SumStep::Sum => sum,
            SumStep::Over(0.0) => 0.0,
            SumStep::Over(by) => sum / by,
            SumStep::Times(by) => sum * by,
        };
        assert_eq!(found.to_bits(), value.to_bits(), "{measure}: {found} and {value}");
        with.push(measure.definition().name.to_owned());
    }
    with
}

#[test]
fn what_is_shown_is_what_is_evaluated() {
    let mut random = Random(7);
    let mut with_terms = BTreeSet::new();
    for round in 0..60 {
        let [qrels, one, other] = texts(&mut random);
        let (_, ties) = TieBreak::ALL[random.below(3)];
        let score = [ScoreType::F64, ScoreType::F32][random.below(2)];
        let depth = [None, NonZeroU32::new(1 + random.below(12) as u32)][random.below(2)];
        let join = Join { ties, score, depth, ..Join::default() };
        let runs = || {
            [
                RunInput::named("one", input("one", &one)),
                RunInput::named("other", input("other", &other)),
            ]
        };
        let matrix = join.files(input("qrels", &qrels), runs()).unwrap();
        let view = View { depth: depth.map(NonZeroU32::get), judged_only: random.below(2) == 0 };
        let evaluator =
            Evaluator::from_measures(every_measure(&matrix)).with_view(view).allow_non_finite(true);
        let evaluator = evaluator.with_engine(EngineChoice::Cpu).with_per_query(true);
        let scores = evaluator.evaluate(&matrix).unwrap();
        let queries: Vec<Vec<u8>> =
            ["q3", "q0", "q5", "q1", "q0", "q2"].map(|id| id.as_bytes().to_vec()).into();
        let shown = ShownQueries::read(
            &join,
            &evaluator,
            input("qrels", &qrels),
            runs().into(),
            &queries,
            Ok,
        )
        .unwrap();
        assert_eq!(shown.queries.len(), 5);
        for query in &shown.queries {
            let Some(at) = matrix.queries().find(&query.id) else {
                assert!(query.judged.is_none());
                assert!(query.runs.iter().all(|run| run.values.is_empty() && run.terms.is_empty()));
                continue;
            };
            for (number, run) in query.runs.iter().enumerate() {
                let place = format!("round {round}, {ties}, {score}, run {number}");
                let seen: Vec<u8> =
                    run.ranking.iter().map(|document| code(&matrix, document.judgment)).collect();
                assert_eq!(seen, labels(&matrix, number, at, view), "{place}");
                assert!(
                    run.ranking
                        .is_sorted_by(|one, next| one.score >= next.score && one.rank < next.rank)
                );
                let per_query = scores.runs[number].per_query.as_ref().unwrap();
                let expected = per_query.values.iter().map(|values| values[at].to_bits());
                assert!(run.values.iter().map(|value| value.to_bits()).eq(expected), "{place}");
                with_terms.extend(assert_terms_add_up(run, &shown.measures));
            }
        }
    }
    let expected =
        ["AP", "CG", "DCG", "ERR", "Hits", "INSQ", "P", "R", "RBP", "RR", "SDCG", "SetR", "nDCG"];
    assert_eq!(with_terms.into_iter().collect::<Vec<_>>(), expected);
}

/// Documents of equal scores stand in the order of the rule, with their own grades.
#[test]
fn documents_of_equal_scores_stand_as_the_rule_says() {
    let qrels = "q 0 b 1\nq 0 c 2\n";
    let run = "q 0 b 2 5 t\nq 0 a 3 5 t\nq 0 c 1 5 t\nq 0 z 9 6.5 t\n";
    for (ties, expected) in [
        (TieBreak::DocnoDescending, "zcba"),
        (TieBreak::DocnoAscending, "zabc"),
        (TieBreak::Input, "zbac"),
        (TieBreak::Rank, "zcba"),
    ] {
        let join = Join { ties, ..Join::default() };
        let evaluator = Evaluator::new(["RR"]).unwrap();
        let runs = vec![RunInput::named("run", input("run", run))];
        let shown = ShownQueries::read(
            &join,
            &evaluator,
            input("qrels", qrels),
            runs,
            &[b"q".to_vec()],
            Ok,
        )
        .unwrap();
        let ranking = &shown.queries[0].runs[0].ranking;
        let docnos = ranking
            .iter()
            .map(|document| str::from_utf8(&document.docno).unwrap())
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(docnos, expected, "{ties}");
        assert_eq!(ranking.iter().map(|result| result.tied).collect::<Vec<_>>(), [1, 3, 3, 3]);
        assert_eq!(ranking[0].score, 6.5);
        for document in ranking {
            let grade = match &document.docno[..] {
                b"b" => ShownJudgment::Grade(1.0),
                b"c" => ShownJudgment::Grade(2.0),
                _ => ShownJudgment::None,
            };
            assert_eq!(document.judgment, grade);
        }
    }
}

/// Over all orders of equal scores a value is that of an evaluation too, and no rank has a term.
#[test]
fn values_over_all_orders_have_no_terms() {
    let (qrels, run) =
        (input("qrels", "q 0 b 1\nq 0 c 2\n"), "q 0 b 1 5 t\nq 0 a 2 5 t\nq 0 c 3 5 t\n");
    let join = Join { keep_ties: true, ..Join::default() };
    for tied in [TiedValue::Average, TiedValue::Best, TiedValue::Worst] {
        let evaluator =
            Evaluator::new(["AP", "nDCG@2"]).unwrap().with_tied_value(tied).with_per_query(true);
        let runs = || vec![RunInput::named("run", input("run", run))];
        let matrix = join.files(qrels.clone(), runs()).unwrap();
        let scores = evaluator.evaluate(&matrix).unwrap();
        let shown =
            ShownQueries::read(&join, &evaluator, qrels.clone(), runs(), &[b"q".to_vec()], Ok)
                .unwrap();
        let of_run = &shown.queries[0].runs[0];
        let values = &scores.runs[0].per_query.as_ref().unwrap().values;
        assert_eq!(of_run.values, [values[0][0], values[1][0]], "{tied}");
        assert_eq!(of_run.terms, [None, None]);
    }
}
