//! More distinct grades than codes: every value has the bits that it has with few grades, whatever
//! the way to it.

use std::num::NonZeroU32;

use laneval::arrays::{Ideal, Rankings, Shape};
use laneval::labels::Ids;
use laneval::{Evaluator, Input, Join, LabelMatrix, Qrels, RunInput, Scores, View};

use crate::compared::assert_same_bits;
use crate::random::Random;
use crate::variants::every_measure;

/// Judgments and a run of `queries` queries, as text: grades of `grades`, negative ones, documents
/// of equal scores.
fn texts(queries: usize, grades: &[f64]) -> (String, String) {
    let mut random = Random(7);
    let (mut qrels, mut run) = (String::new(), String::new());
    for query in 0..queries {
        for doc in 0..60 + query {
            let grade = match random.below(8) {
                0 => -1.0 - random.below(3) as f64,
                _ => grades[random.below(grades.len())],
            };
            if random.below(3) > 0 {
                qrels += &format!("q{query} 0 d{doc} {grade}\n");
            }
            if random.below(4) > 0 {
                run += &format!(
                    "q{query} Q0 d{} 1 {} t\n",
                    doc * 7 % 90 + 100 * (doc / 90),
                    random.below(40)
                );
            }
        }
    }
    let mut lines: Vec<&str> = run.lines().collect();
    lines.sort_unstable();
    let once = |line: &&str| line.split(' ').nth(2).map(str::to_owned);
    lines.dedup_by_key(|line| (line.split(' ').next().map(str::to_owned), once(line)));
    (qrels, lines.join("\n"))
}

fn input(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn joined(join: &Join, qrels: &str, run: &str) -> LabelMatrix {
    join.files(input("qrels", qrels), [RunInput::named("run", input("run", run))]).unwrap()
}

/// One more query that has 400 other grades, none of which is larger than 3.
fn with_many_grades(qrels: &str) -> String {
    let more = (0..400).map(|doc| format!("zz 0 d{doc} {}\n", 3.0 - f64::from(doc + 1) / 1024.0));
    qrels.to_owned() + &more.collect::<String>()
}

#[test]
fn queries_have_the_bits_that_they_have_without_another_one_of_many_grades() {
    let (qrels, run) = texts(70, &[0.0, 0.5, 1.0, 2.0, 2.25, 3.0]);
    let many = with_many_grades(&qrels);
    for depth in [None, NonZeroU32::new(9)] {
        let join = Join { depth, ..Join::default() };
        let (few, exact) = (joined(&join, &qrels, &run), joined(&join, &many, &run));
        assert!(few.codebook().is_exact() && !exact.codebook().is_exact());
        let ids: Ids = few.queries().iter().collect();
        for view in [
            View::default(),
            View { depth: Some(5), judged_only: false },
            View { depth: None, judged_only: true },
        ] {
            let evaluator = Evaluator::from_measures(every_measure(&few))
                .with_per_query(true)
                .with_view(view)
                .with_query_filter(Some(ids.clone()));
            let expected = evaluator.evaluate(&few).unwrap();
            assert_same_bits(&expected, &evaluator.evaluate(&exact).unwrap(), &format!("{view:?}"));
        }
    }
}

/// Only the levels of a measure itself tell grades apart where nothing else is asked for.
#[test]
fn a_measure_alone_has_the_bits_that_it_has_with_few_grades() {
    let (qrels, run) = texts(5, &[0.0, 0.5, 1.0, 2.0, 2.25, 3.0]);
    let many = with_many_grades(&qrels);
    let [few, exact] = [&qrels, &many].map(|qrels| joined(&Join::default(), qrels, &run));
    let ids: Ids = few.queries().iter().collect();
    for measure in every_measure(&few) {
        let name = measure.to_string();
        let evaluator = Evaluator::from_measures(vec![measure])
            .with_per_query(true)
            .with_query_filter(Some(ids.clone()));
        assert_same_bits(
            &evaluator.evaluate(&few).unwrap(),
            &evaluator.evaluate(&exact).unwrap(),
            &name,
        );
    }
}

/// Returns the values of the run, `[measure][query]`.
fn values(scores: &Scores) -> Vec<Vec<u64>> {
    let values = &scores.runs[0].per_query.as_ref().unwrap().values;
    values.iter().map(|column| column.iter().map(|value| value.to_bits()).collect()).collect()
}

const MEASURES: [&str; 9] = [
    "nDCG",
    "nDCG(gain=exp2)@5",
    "AP(rel=0.7)",
    "ERR@10",
    "RBP(gain=grade)",
    "G",
    "Compat",
    "R@7",
    "nDCG(ideal=retrieved)",
];

#[test]
fn runs_that_go_by_have_the_values_of_a_matrix() {
    let grades: Vec<f64> = (0..500).map(|grade| f64::from(grade) / 125.0).collect();
    let (qrels, run) = texts(90, &grades);
    let evaluator = Evaluator::new(MEASURES).unwrap().with_per_query(true);
    let expected = evaluator.evaluate(&joined(&Join::default(), &qrels, &run)).unwrap();
    let join = Join::default();
    let read = join.qrels(input("qrels", &qrels)).unwrap();
    assert_eq!(read.grades().len(), 500);
    let mut stream = evaluator.run_stream(&join, &read, "run").unwrap();
    stream.read(run.as_bytes()).unwrap();
    assert_eq!(values(&stream.scores().unwrap()), values(&expected));
}

#[test]
fn arrays_have_the_values_of_a_matrix_of_them_and_of_text() {
    let mut random = Random(3);
    let (queries, width) = (70, 20);
    let mut grade = || match random.below(3) {
        0 => -1.0,
        _ => random.below(4000) as f64 / 1000.0,
    };
    let grades: Vec<f64> = (0..queries * width).map(|_| grade()).collect();
    // Ranked by the scores: every second document first, and the earlier of equal ones.
    let scores: Vec<f32> = (0..queries * width).map(|at| ((at % width) % 2) as f32).collect();
    let order = |rank: usize| if rank < width / 2 { 2 * rank + 1 } else { 2 * (rank - width / 2) };
    let ranked: Vec<f64> =
        (0..queries * width).map(|at| grades[at / width * width + order(at % width)]).collect();
    let (mut qrels, mut run) = (String::new(), String::new());
    for (at, grade) in ranked.iter().enumerate() {
        let (query, rank) = (at / width, at % width);
        run += &format!("{query:02} Q0 d{rank} 1 {} t\n", width - rank);
        if *grade >= 0.0 {
            qrels += &format!("{query:02} 0 d{rank} {grade}\n");
        }
    }
    let evaluator = Evaluator::new(MEASURES).unwrap().with_per_query(true);
    let expected = values(&evaluator.evaluate(&joined(&Join::default(), &qrels, &run)).unwrap());
    let labels = Rankings::labels(&ranked, Shape::dense(width)).unwrap();
    let scored = Rankings::scores(&scores, &grades, Shape::dense(width)).unwrap();
    let docs: Vec<Vec<(usize, f64)>> = ranked
        .chunks(width)
        .map(|row| row.iter().copied().enumerate().filter(|(_, grade)| *grade >= 0.0).collect())
        .collect();
    let retrieved: Vec<Vec<usize>> = (0..queries).map(|_| (0..width).collect()).collect();
    let lists = Rankings::graded_ids(&docs, &retrieved).unwrap();
    for rankings in [&labels, &scored, &lists] {
        assert_eq!(values(&evaluator.rankings(rankings).unwrap()), expected);
        let matrix = LabelMatrix::from_rankings("run", rankings).unwrap();
        assert_eq!(values(&evaluator.evaluate(&matrix).unwrap()), expected);
    }
    let mut distinct = ranked.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let distinct: Vec<f64> = distinct.into_iter().filter(|&grade| grade >= 0.0).collect();
    let count = |at: usize| {
        let of_row = &ranked[at / distinct.len() * width..][..width];
        of_row.iter().filter(|&&grade| grade == distinct[at % distinct.len()]).count() as u32
    };
    let counts: Vec<u32> = (0..queries * distinct.len()).map(count).collect();
    let given = |counts: &[u32]| -> Result<Vec<Vec<u64>>, String> {
        let ideal = Ideal::Counts { grades: &distinct, counts: counts.into() };
        let labels =
            Rankings::labels(&ranked, Shape::dense(width)).unwrap().with_ideal(ideal).unwrap();
        evaluator.rankings(&labels).map(|scores| values(&scores)).map_err(|error| error.to_string())
    };
    assert_eq!(given(&counts), Ok(expected.clone()));
    let more: Vec<u32> = counts.iter().map(|count| count + 1).collect();
    assert_ne!(given(&more), Ok(expected));
    let fewer: Vec<u32> = counts.iter().map(|count| count.saturating_sub(1)).collect();
    let error = given(&fewer).unwrap_err();
    assert!(
        error.contains("row 0 has 1 documents of grade")
            && error.contains("only 0 are said to be judged so"),
        "{error}"
    );
}

#[test]
fn what_needs_few_grades_says_so() {
    let (qrels, run) = texts(20, &(0..300).map(f64::from).collect::<Vec<_>>());
    let join = Join { keep_ties: true, ..Join::default() };
    let error =
        join.files(input("my.qrels", &qrels), [input("run", &run)]).unwrap_err().to_string();
    assert!(error.starts_with("my.qrels has more than 253 distinct grades, over which"), "{error}");
    let levels = (0..300).map(|level| format!("P(rel={}.5)@5", level));
    let levels: Vec<String> = levels.collect();
    let evaluator = Evaluator::new(levels.iter().map(String::as_str)).unwrap();
    let error =
        evaluator.evaluate(&joined(&Join::default(), &qrels, &run)).unwrap_err().to_string();
    assert!(
        error.starts_with("measures with 300 levels of relevance, where 253 can be"),
        "{error}"
    );
    let error = Evaluator::new(["ERR(gmax=4)@3"]).unwrap().evaluate(&joined(
        &Join::default(),
        &qrels,
        &run,
    ));
    assert!(error.unwrap_err().to_string().contains("the qrels have a grade of 299, above gmax=4"));
    assert_eq!(Qrels::read(input("qrels", &qrels)).unwrap().grades().last(), Some(&299.0));
}
