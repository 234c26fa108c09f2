//! AP that credits documents of equal scores together, at the last rank of their group, against
//! plain counting over the scores.

use std::collections::HashMap;
use std::num::NonZeroU32;

use laneval::arrays::{Rankings, Shape};
use laneval::labels::Tie;
use laneval::{
    EngineChoice, Evaluator, Input, Join, LabelMatrix, Qrels, TieBreak, TiedValue, View,
};

use crate::random::Random;

const TOGETHER: &str = "AP(ties=together)";

/// Judgments, and the results of a run with scores of which many are equal.
struct Case {
    judged: Vec<(String, String, f64)>,
    run: Vec<(String, String, f64)>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let (mut judged, mut run) = (Vec::new(), Vec::new());
        for query in 0..60 {
            let id = format!("q{query:02}");
            let scores = 1 + random.below(12);
            for document in 0..random.below(30) {
                let name = format!("d{:03}", (document * 37) % 101);
                // Half of the queries have mostly relevant documents, so that whole groups are.
                let grades: &[Option<f64>] = match query % 2 {
                    0 => &[None, None, Some(-1.0), Some(0.0), Some(1.0), Some(2.0)],
                    _ => &[Some(1.0), Some(1.0), Some(1.0), Some(2.0), None],
                };
                if let Some(grade) = grades[random.below(grades.len())] {
                    judged.push((id.clone(), name.clone(), grade));
                }
                run.push((id.clone(), name, random.below(scores) as f64));
            }
            judged.push((id, "missed".to_owned(), random.below(3) as f64));
        }
        Case { judged, run }
    }

    fn qrels(&self) -> Qrels {
        Qrels::new(
            self.judged.iter().map(|(query, doc, grade)| (query.as_str(), doc.as_str(), *grade)),
        )
        .unwrap()
    }

    fn matrix(&self, join: Join) -> LabelMatrix {
        let rows =
            self.run.iter().map(|(query, doc, score)| (query.as_str(), doc.as_str(), *score));
        Join { keep_ties: true, ..join }
            .rankings(&self.qrels(), [("run".to_owned(), rows)])
            .unwrap()
    }

    /// Returns the values by query, in the order of the ids: documents are sorted by score and,
    /// descending, by name; then the ranking is cut, and what is not judged dropped.
    fn plain(&self, level: f64, view: View) -> Vec<f64> {
        let grades: HashMap<(&str, &str), f64> = self
            .judged
            .iter()
            .map(|(query, doc, grade)| ((query.as_str(), doc.as_str()), *grade))
            .collect();
        let mut queries: Vec<&str> = self.judged.iter().map(|(query, ..)| query.as_str()).collect();
        queries.dedup();
        let of_query = |query: &str| {
            let mut results: Vec<(f64, &str)> = self
                .run
                .iter()
                .filter(|row| row.0 == query)
                .map(|row| (row.2, row.1.as_str()))
                .collect();
            results.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(one.1)));
            results.truncate(view.depth.unwrap_or(u32::MAX) as usize);
            let grade = |doc: &str| grades.get(&(query, doc)).copied();
            results.retain(|(_, doc)| {
                !view.judged_only || grade(doc).is_some_and(|grade| grade >= 0.0)
            });
            let is_hit = |doc: &str| grade(doc).is_some_and(|grade| grade >= level);
            // Of each hit: the hits with its score or a higher one, of the documents with such
            // scores.
            let sum = results.iter().filter(|(_, doc)| is_hit(doc)).fold(0.0, |sum, (score, _)| {
                let seen = results.iter().filter(|(other_score, _)| other_score >= score);
                let hits = seen.clone().filter(|(_, doc)| is_hit(doc)).count();
                sum + hits as f64 / seen.count() as f64
            });
            let relevant = grades
                .iter()
                .filter(|((other_query, _), grade)| *other_query == query && **grade >= level)
                .count();
            if relevant == 0 { 0.0 } else { sum / relevant as f64 }
        };
        queries.into_iter().map(of_query).collect()
    }
}

fn values(evaluator: &Evaluator, matrix: &LabelMatrix) -> Vec<f64> {
    let scores = evaluator.clone().with_per_query(true).evaluate(matrix).unwrap();
    scores.runs[0].per_query.as_ref().unwrap().values[0].clone()
}

fn views() -> impl Iterator<Item = View> {
    let depths = [None, Some(1), Some(3), Some(8), Some(100)].into_iter();
    depths.flat_map(|depth| [false, true].map(|judged_only| View { depth, judged_only }))
}

#[test]
fn values_are_those_of_counting_over_scores() {
    let mut apart = 0;
    for seed in 1..6 {
        let case = Case::new(seed);
        let matrix = case.matrix(Join::default());
        let stored = LabelMatrix::from_bytes(&matrix.to_bytes()).unwrap();
        for (view, level) in views().flat_map(|view| [1.0, 2.0, 0.0].map(|level| (view, level))) {
            let measure = format!("AP(rel={level},ties=together)");
            let evaluator = Evaluator::new([measure.as_str()]).unwrap().with_view(view);
            let expected = case.plain(level, view);
            for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
                let evaluator = evaluator.clone().with_engine(engine);
                for matrix in [&matrix, &stored] {
                    assert_eq!(values(&evaluator, matrix), expected, "{measure} under {view:?}");
                }
            }
            if let Some(depth) = view.depth.and_then(NonZeroU32::new) {
                let cut = case.matrix(Join { depth: Some(depth), ..Join::default() });
                assert_eq!(values(&evaluator, &cut), expected, "{measure} joined at {depth}");
            }
            let plain =
                Evaluator::new([format!("AP(rel={level})").as_str()]).unwrap().with_view(view);
            let plain = values(&plain, &matrix);
            apart += plain.iter().zip(&expected).filter(|(one, other)| one != other).count();
        }
    }
    assert!(apart > 1000, "{apart} values where the order of equal scores matters to AP");
}

/// Whatever the order of equal scores, and whatever is asked about all orders: the value is the
/// same.
#[test]
fn no_order_of_equal_scores_matters() {
    let case = Case::new(9);
    for judged_only in [false, true] {
        let view = View { depth: None, judged_only };
        // Another measure beside it has other columns, and its own value over ties.
        let evaluator = Evaluator::new(["AP(ties=together),AP,nDCG@5"]).unwrap().with_view(view);
        let expected = case.plain(1.0, view);
        for ties in [TieBreak::DocnoDescending, TieBreak::DocnoAscending, TieBreak::Input] {
            let matrix = case.matrix(Join { ties, ..Join::default() });
            for (_, tied) in TiedValue::ALL {
                let evaluator = evaluator.clone().with_tied_value(tied);
                evaluator.check_tied().unwrap();
                assert_eq!(values(&evaluator, &matrix), expected, "{ties} {tied}");
            }
        }
    }
}

/// Where a ranking is cut inside of a group it is open which documents are left: the best value has
/// the hits, the worst the others.
#[test]
fn a_cut_group_is_arranged_for_the_best_and_the_worst() {
    let qrels = Qrels::new([("q", "a", 1.0), ("q", "c", 1.0), ("q", "e", 1.0)]).unwrap();
    let run = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "c", 2.0), ("q", "d", 2.0), ("q", "e", 2.0)];
    let matrix = Join { keep_ties: true, ..Join::default() }
        .rankings(&qrels, [("run".to_owned(), run)])
        .unwrap();
    let evaluator = Evaluator::new([TOGETHER]).unwrap();
    let value = |tied: TiedValue, depth: u32| {
        let view = View { depth: Some(depth), judged_only: false };
        values(&evaluator.clone().with_view(view).with_tied_value(tied), &matrix)[0]
    };
    // a and two of b, c, d, e.
    assert_eq!(value(TiedValue::Best, 3), 3.0 / 3.0);
    assert_eq!(value(TiedValue::Worst, 3), 1.0 / 3.0);
    assert_eq!(value(TiedValue::Ranked, 3), (1.0 + 2.0 / 3.0) / 3.0); // a, e, d
    assert_eq!(value(TiedValue::Best, 5), value(TiedValue::Worst, 5));
    let average = evaluator.clone().with_view(View { depth: Some(3), judged_only: false });
    let error =
        average.with_tied_value(TiedValue::Average).evaluate(&matrix).unwrap_err().to_string();
    assert_eq!(
        error,
        "AP(ties=together) has no expected value over ties under -M that can be computed; take \
         --ties best, worst or docno-desc"
    );
}

#[test]
fn without_equal_scores_it_is_ap() {
    let mut case = Case::new(4);
    for (at, row) in case.run.iter_mut().enumerate() {
        row.2 = (at * 7919 % 10_007) as f64;
    }
    let matrix = case.matrix(Join::default());
    for norm in ["judged", "min", "hits", "retrieved"] {
        let query_values = |tied: &str| {
            let measure = format!("AP(norm={norm},ties={tied})");
            values(&Evaluator::new([measure.as_str()]).unwrap(), &matrix)
        };
        assert_eq!(query_values("together"), query_values("apart"), "{norm}");
    }
    assert_eq!(case.plain(1.0, View::default()), values(&Evaluator::new(["AP"]).unwrap(), &matrix));
}

/// R counts what a run retrieved, if nothing else is known: then it is `average_precision_score` of
/// scikit-learn, here of `([1, 0, 1, 1], [2, 2, 1, 1])`.
#[test]
fn lists_alone_may_say_what_is_relevant() {
    let qrels =
        Qrels::new([("q", "a", 1.0), ("q", "c", 1.0), ("q", "d", 1.0), ("q", "e", 1.0)]).unwrap();
    let run = [("q", "a", 2.0), ("q", "b", 2.0), ("q", "c", 1.0), ("q", "d", 1.0)];
    let matrix = Join { keep_ties: true, ..Join::default() }
        .rankings(&qrels, [("run".to_owned(), run)])
        .unwrap();
    let evaluator = Evaluator::new([TOGETHER]).unwrap();
    let sum = 1.0 / 2.0 + 3.0 / 4.0 + 3.0 / 4.0;
    assert_eq!(values(&evaluator, &matrix), [sum / 4.0]);
    let evaluator = evaluator.with_relevant_from("retrieved".parse().unwrap());
    assert_eq!(values(&evaluator, &matrix), [sum / 3.0]);
}

#[test]
fn scores_in_arrays_know_their_ties() {
    let scores = [2.0, 2.0, 1.0, 1.0, 5.0, 5.0, 5.0, 1.0];
    let grades = [1u8, 0, 1, 1, 0, 0, 1, 1];
    let evaluator = Evaluator::new([TOGETHER]).unwrap().with_per_query(true);
    let rankings = Rankings::scores(&scores[..], &grades[..], Shape::dense(4)).unwrap();
    let found = evaluator.rankings(&rankings).unwrap();
    let expected = [(1.0 / 2.0 + 3.0 / 4.0 + 3.0 / 4.0) / 3.0, (1.0 / 3.0 + 2.0 / 4.0) / 2.0];
    assert_eq!(found.runs[0].per_query.as_ref().unwrap().values[0], expected);
    let labels = Rankings::labels(&grades[..], Shape::dense(4)).unwrap();
    let error = evaluator.rankings(&labels).unwrap_err().to_string();
    assert!(
        error.starts_with("rankings without scores do not know which of their documents are tied"),
        "{error}"
    );
    let error = evaluator.stream(&rankings.codebook().unwrap()).err().unwrap().to_string();
    assert!(error.contains("need all rankings at once"), "{error}");
}

/// A value for each judge, of which the mean counts.
#[test]
fn judges_are_taken_one_by_one() {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let qrels = "q j1 a 1\nq j1 b 0\nq j1 c 1\nq j2 a 0\nq j2 b 1\nq j2 c 1\n";
    let run = "q Q0 a 1 2 t\nq Q0 b 2 2 t\nq Q0 x 3 1 t\nq Q0 c 4 1 t\n";
    let join =
        Join { judged_by: Some(laneval::FacetKind::Judge), keep_ties: true, ..Join::default() };
    let matrix = join.files(text("qrels", qrels), [text("run", run)]).unwrap();
    for (view, expected) in [
        (View::default(), (1.0 / 2.0 + 2.0 / 4.0) / 2.0),
        (View { depth: None, judged_only: true }, (1.0 / 2.0 + 2.0 / 3.0) / 2.0),
    ] {
        let evaluator = Evaluator::new(["AP(ties=together,judges=mean)"]).unwrap().with_view(view);
        for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
            assert_eq!(values(&evaluator.clone().with_engine(engine), &matrix), [expected]);
        }
    }
}

/// Groups whose documents all have one grade are kept beside the mixed ones, if two of them are
/// kept at least.
#[test]
fn groups_of_one_grade_are_kept() {
    let qrels = ["a", "b", "c", "d", "e", "f"].map(|doc| ("q", doc, 1.0));
    let run = [
        ("q", "a", 9.0),
        ("q", "b", 9.0),
        ("q", "u", 8.0),
        ("q", "v", 8.0),
        ("q", "c", 7.0),
        ("q", "w", 7.0),
        ("q", "d", 6.0),
        ("q", "e", 6.0),
        ("q", "f", 6.0),
    ];
    let group = |start, length| Tie { start, length };
    for (depth, expected) in [
        (None, vec![group(0, 2), group(4, 2), group(6, 3)]),
        (NonZeroU32::new(8), vec![group(0, 2), group(4, 2), group(6, 2)]),
        (NonZeroU32::new(7), vec![group(0, 2), group(4, 2)]),
    ] {
        let join = Join { keep_ties: true, depth, ..Join::default() };
        let matrix = join.rankings(&Qrels::new(qrels).unwrap(), [("run".to_owned(), run)]).unwrap();
        let ties = matrix.tied_groups().unwrap();
        assert_eq!(ties.graded_of(0), expected, "{depth:?}");
        assert_eq!(ties.get(0).groups, [group(4, 2)]);
    }
}

#[test]
fn what_does_not_know_its_ties_is_refused() {
    let case = Case::new(2);
    let rows = case.run.iter().map(|(query, doc, score)| (query.as_str(), doc.as_str(), *score));
    let matrix = Join::default().rankings(&case.qrels(), [("run".to_owned(), rows)]).unwrap();
    let evaluator = Evaluator::new([TOGETHER]).unwrap();
    for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
        let error =
            evaluator.clone().with_engine(engine).evaluate(&matrix).unwrap_err().to_string();
        assert!(error.starts_with("it is not known which documents have equal scores"), "{error}");
    }
    for cut in ["AP(ties=together)@10", "AP@[5,10](ties=together)"] {
        let error = Evaluator::new([cut]).unwrap_err().to_string();
        assert!(error.contains("AP(ties=together) takes no cutoff"), "{error}");
    }
    let error = Evaluator::new(["AP(norm=k,ties=together)"]).unwrap_err().to_string();
    assert!(error.contains("norm=k needs a cutoff"), "{error}");
}
