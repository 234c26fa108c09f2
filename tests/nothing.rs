//! The value of queries for which nothing is relevant: 0, 1 or none.

use laneval::measure::{CutoffRule, MEASURES, Measure};
use laneval::scores::is_undefined;
use laneval::{
    EngineChoice, Evaluator, Groups, Join, LabelMatrix, Notice, Qrels, QuerySet, Scores, Stat,
    StatName, Summary, TieBreak, TiedValue, View,
};

type Row = (String, String, f64);

/// Judgments and a run of 40 queries. Of every fifth query no grade is above 0, of every tenth one
/// none is above −1, and of the others at least one is 2; the run lacks some.
fn generated(seed: u64) -> (Vec<Row>, Vec<Row>) {
    let mut state = seed;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut qrels, mut run) = (Vec::new(), Vec::new());
    for number in 0..40 {
        let query = format!("q{number:02}");
        for document in 0..12 {
            let document = format!("d{document:02}");
            let grade = match number % 10 {
                0 => -1.0,
                5 => next(2) as f64 - 1.0,
                _ => next(5) as f64 - 1.0,
            };
            if next(4) > 0 {
                qrels.push((query.clone(), document.clone(), grade));
            }
            if next(2) > 0 && number % 13 != 12 {
                run.push((query.clone(), document, next(6) as f64));
            }
        }
        qrels.push((query, "never".to_owned(), if number % 5 == 0 { -1.0 } else { 2.0 }));
    }
    (qrels, run)
}

/// Returns whether nothing is relevant for a generated query, under measures that take grades from
/// 1 on.
fn is_nothing(query: &[u8]) -> bool {
    matches!(query.last(), Some(b'0' | b'5'))
}

fn matrix(qrels: &[Row], runs: &[(&str, &[Row])]) -> LabelMatrix {
    let judged = Qrels::new(qrels.iter().map(|(q, d, g)| (q.as_str(), d.as_str(), *g))).unwrap();
    let runs: Vec<_> = runs.iter().map(|(name, run)| ((*name).to_owned(), run.to_vec())).collect();
    Join { keep_ties: true, ..Join::default() }.rankings(&judged, runs).unwrap()
}

/// Returns every measure that has the parameter, with a value of it, and without any other
/// parameter.
fn all_with(nothing: &str) -> Vec<Measure> {
    let rows = MEASURES.iter().filter(|row| row.has_no_relevant_param());
    let named = |name: &str, parameter: &str, cutoff: &str| {
        format!("{name}{parameter}{cutoff}").parse().unwrap()
    };
    rows.flat_map(|row| {
        let parameter =
            if nothing.is_empty() { String::new() } else { format!("(no_relevant={nothing})") };
        let cutoffs: &[&str] = match row.cutoff {
            CutoffRule::None => &[""],
            CutoffRule::Optional => &["", "@3"],
            CutoffRule::Required => &["@3"],
            CutoffRule::Recall => &["@0.5"],
        };
        cutoffs.iter().map(|cutoff| named(row.name, &parameter, cutoff)).collect::<Vec<Measure>>()
    })
    .collect()
}

fn evaluator(measures: Vec<Measure>) -> Evaluator {
    Evaluator::from_measures(measures).with_per_query(true)
}

/// Returns the values, `[measure][query]`, with the queries.
fn values(scores: &Scores) -> (Vec<Vec<u8>>, Vec<Vec<f64>>) {
    let per_query = scores.runs[0].per_query.as_ref().unwrap();
    (per_query.queries.iter().map(<[u8]>::to_vec).collect(), per_query.values.clone())
}

/// Checks values against those of the plain measures.
fn check(plain: &Scores, found: &Scores, nothing: &str, what: &str) {
    let (queries, plain) = values(plain);
    let (found_queries, all) = values(found);
    assert_eq!(
        (&found_queries, [plain.len(), all.len()]),
        (&queries, [found.measures.len(); 2]),
        "{what}"
    );
    for (measure, (plain, found)) in found.measures.iter().zip(plain.iter().zip(&all)) {
        assert_eq!([plain.len(), found.len()], [queries.len(); 2], "{measure}, {what}");
        for ((query, plain), found) in queries.iter().zip(plain).zip(found) {
            let query_name = String::from_utf8_lossy(query);
            match (is_nothing(query), nothing) {
                (true, "1") => assert_eq!(*found, 1.0, "{measure} of {query_name}, {what}"),
                (true, "skip") => {
                    assert!(is_undefined(*found), "{measure} of {query_name}: {found}, {what}")
                }
                _ => assert_eq!(
                    found.to_bits(),
                    plain.to_bits(),
                    "{measure} of {query_name}, {what}"
                ),
            }
            assert!(nothing == "skip" || measure.range().contains(*found), "{measure}: {found}");
        }
    }
}

#[test]
fn every_measure_has_the_value_that_was_asked_for_where_nothing_is_relevant() {
    let (qrels, run) = generated(1);
    let all = matrix(&qrels, &[("run", &run)]);
    assert!(all_with("").len() > 30);
    for nothing in ["1", "skip"] {
        for view in [View::default(), View { depth: Some(4), judged_only: true }] {
            for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
                let scores = |nothing| {
                    evaluator(all_with(nothing)).with_view(view).with_engine(engine).evaluate(&all)
                };
                check(
                    &scores("").unwrap(),
                    &scores(nothing).unwrap(),
                    nothing,
                    &format!("{view:?} {engine:?}"),
                );
            }
        }
    }
}

#[test]
fn orders_of_equal_scores_do_not_matter_to_what_nothing_is_worth() {
    let (qrels, run) = generated(2);
    let all = matrix(&qrels, &[("run", &run)]);
    for tied in [TiedValue::Average, TiedValue::Best, TiedValue::Worst] {
        for nothing in ["1", "skip"] {
            let names = ["AP", "nDCG@5", "RR", "P@5", "R@5", "ERR@5", "Bpref", "SetF"];
            let measures = |nothing: &str| {
                let named = |name: &&str| {
                    let measure: Measure = name.parse().unwrap();
                    let word = if nothing == "1" { "1" } else { "skip" };
                    if nothing.is_empty() { measure } else { with(&measure, word) }
                };
                names.iter().map(named).collect::<Vec<_>>()
            };
            let scores = |nothing| {
                evaluator(measures(nothing)).with_tied_value(tied).evaluate(&all).unwrap()
            };
            check(&scores(""), &scores(nothing), nothing, &tied.to_string());
        }
    }
}

fn with(measure: &Measure, word: &'static str) -> Measure {
    measure.with_param("no_relevant", laneval::measure::ParamValue::Choice(word)).unwrap()
}

#[test]
fn levels_and_gains_say_what_is_relevant() {
    let qrels = Qrels::new([("a", "x", 1.0), ("b", "x", 3.0), ("c", "x", 0.0)]).unwrap();
    let run: Vec<Row> = ["a", "b", "c"].map(|query| (query.to_owned(), "y".to_owned(), 1.0)).into();
    let matrix = Join::default().rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    for (name, expected) in [
        ("AP(no_relevant=1)", [0.0, 0.0, 1.0]),
        ("AP(rel=2,no_relevant=1)", [1.0, 0.0, 1.0]),
        ("AP(rel=0,no_relevant=1)", [0.0, 0.0, 0.0]),
        ("nDCG(no_relevant=1)@5", [0.0, 0.0, 1.0]),
        ("nDCG(rel=2,no_relevant=1)", [1.0, 0.0, 1.0]),
        ("nDCG(gain={1:0,3:0,0:7},no_relevant=1)", [1.0, 1.0, 0.0]),
        ("nDCG(gain={3:-1},no_relevant=1)@1", [0.0, 1.0, 1.0]),
        ("nDCG(ideal=retrieved,no_relevant=1)", [0.0, 0.0, 1.0]),
        ("ERR(no_relevant=1)", [0.0, 0.0, 1.0]),
        ("RBP(rel=2,gain=raw,no_relevant=1)", [1.0, 0.0, 1.0]),
        ("SDCG(rel=2,no_relevant=1)@3", [1.0, 0.0, 1.0]),
        ("SDCG(rel=2,gain=grade,no_relevant=1)@3", [0.0, 0.0, 1.0]),
        ("RnDCG(rel=2,no_relevant=1)", [1.0, 0.0, 1.0]),
    ] {
        for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
            let evaluator = evaluator(vec![name.parse().unwrap()]).with_engine(engine);
            assert_eq!(values(&evaluator.evaluate(&matrix).unwrap()).1[0], expected, "{name}");
        }
    }
}

#[test]
fn more_grades_than_codes_are_looked_at_exactly() {
    let (mut qrels, run) = generated(3);
    for (at, row) in qrels.iter_mut().enumerate().filter(|(_, row)| row.2 > 0.0) {
        row.2 += at as f64 / 1024.0;
    }
    qrels.extend(
        (0..300).map(|at| ("q01".to_owned(), format!("x{at}"), 1.0 + f64::from(at) / 4096.0)),
    );
    let judged = Qrels::new(qrels.iter().map(|(q, d, g)| (q.as_str(), d.as_str(), *g))).unwrap();
    let all = Join::default().rankings(&judged, [("run".to_owned(), run)]).unwrap();
    assert!(all.exact().is_some());
    for nothing in ["1", "skip"] {
        let list = |nothing: &str| {
            let names = ["AP", "nDCG@5", "nDCG", "RR", "R@5", "RnDCG"]
                .map(|name| name.parse::<Measure>().unwrap());
            match nothing {
                "" => names.to_vec(),
                "1" => names.iter().map(|measure| with(measure, "1")).collect(),
                _ => names.iter().map(|measure| with(measure, "skip")).collect(),
            }
        };
        let scores = |nothing| evaluator(list(nothing)).evaluate(&all).unwrap();
        check(&scores(""), &scores(nothing), nothing, "exact grades");
    }
}

/// Documents with their grades or scores.
type Documents = &'static [(&'static str, f64)];

/// The queries of the vectors, by name: judgments, and the run in the order of its lines.
const CASES: [(&str, Documents, Documents); 8] = [
    (
        "rich",
        &[
            ("a", 3.0),
            ("b", 2.0),
            ("c", 1.0),
            ("d", 0.0),
            ("e", 2.0),
            ("f", 1.0),
            ("g", 0.0),
            ("h", 1.0),
        ],
        &[
            ("d", 9.0),
            ("b", 8.0),
            ("u", 7.0),
            ("c", 6.0),
            ("a", 5.0),
            ("g", 4.0),
            ("e", 3.0),
            ("v", 2.0),
            ("f", 1.0),
        ],
    ),
    (
        "short",
        &[("a", 3.0), ("b", 1.0), ("c", 2.0), ("d", 1.0), ("e", 0.0)],
        &[("b", 3.0), ("u", 2.0), ("c", 1.0)],
    ),
    (
        "few",
        &[("a", 1.0), ("b", 2.0), ("c", 0.0)],
        &[("u", 8.0), ("a", 7.0), ("c", 6.0), ("v", 5.0), ("w", 4.0), ("b", 3.0), ("x", 2.0)],
    ),
    (
        "ties",
        &[("a", 2.0), ("b", 0.0), ("c", 1.0), ("e", 3.0)],
        &[("c", 5.0), ("b", 5.0), ("a", 3.0), ("v", 3.0), ("u", 3.0), ("e", 1.0)],
    ),
    ("one", &[("a", 1.0)], &[("u", 3.0), ("v", 2.0), ("a", 1.0)]),
    ("nothing", &[("a", 0.0), ("b", 0.0)], &[("a", 2.0), ("b", 1.0)]),
    (
        "negative",
        &[("a", 2.0), ("b", -1.0), ("c", 1.0), ("d", 0.0)],
        &[("b", 4.0), ("a", 3.0), ("d", 2.0), ("c", 1.0)],
    ),
    ("first", &[("a", 1.0), ("b", 3.0)], &[("a", 2.0), ("b", 1.0)]),
];

/// Bits from a program of its own, and what LightGBM 4.7.0 (the first row; the fourth is its MAP)
/// gave within f32.
const VECTORS: [(&str, &str, [Option<u64>; 8]); 6] = [
    (
        "nDCG(gain=exp2,no_relevant=1)@3",
        "retrieved",
        [
            Some(0x3fc7_4fe1_4367_5810),
            Some(0x3fe6_086d_b83f_b47c),
            Some(0x3fc6_3df1_5867_d0de),
            Some(0x3fd1_08ca_bea8_49f6),
            Some(0x3fe0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
            Some(0x3fe0_ae75_024d_dca6),
            Some(0x3fe6_b6c2_eb35_d0ef),
        ],
    ),
    (
        "AP(no_relevant=skip)@3",
        "judged",
        [
            Some(0x3fb5_5555_5555_5555),
            Some(0x3fda_aaaa_aaaa_aaaa),
            Some(0x3fd0_0000_0000_0000),
            Some(0x3fe1_c71c_71c7_1c71),
            Some(0x3fd5_5555_5555_5555),
            None,
            Some(0x3fd0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
        ],
    ),
    (
        "AP(norm=min,no_relevant=1)@3",
        "judged",
        [
            Some(0x3fc5_5555_5555_5555),
            Some(0x3fe1_c71c_71c7_1c71),
            Some(0x3fd0_0000_0000_0000),
            Some(0x3fe1_c71c_71c7_1c71),
            Some(0x3fd5_5555_5555_5555),
            Some(0x3ff0_0000_0000_0000),
            Some(0x3fd0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
        ],
    ),
    (
        "AP(norm=min,no_relevant=1)@3",
        "retrieved",
        [
            Some(0x3fc5_5555_5555_5555),
            Some(0x3fea_aaaa_aaaa_aaaa),
            Some(0x3fd0_0000_0000_0000),
            Some(0x3fe1_c71c_71c7_1c71),
            Some(0x3fd5_5555_5555_5555),
            Some(0x3ff0_0000_0000_0000),
            Some(0x3fd0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
        ],
    ),
    (
        "RR(no_relevant=skip)",
        "judged",
        [
            Some(0x3fe0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
            Some(0x3fe0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
            Some(0x3fd5_5555_5555_5555),
            None,
            Some(0x3fe0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
        ],
    ),
    (
        "R(norm=min,no_relevant=skip)@3",
        "judged",
        [
            Some(0x3fd5_5555_5555_5555),
            Some(0x3fe5_5555_5555_5555),
            Some(0x3fe0_0000_0000_0000),
            Some(0x3fe5_5555_5555_5555),
            Some(0x3ff0_0000_0000_0000),
            None,
            Some(0x3fe0_0000_0000_0000),
            Some(0x3ff0_0000_0000_0000),
        ],
    ),
];

#[test]
fn values_are_those_of_other_programs() {
    let rows = |pairs: &'static [(&str, f64)], query: &'static str| {
        pairs.iter().map(move |&(document, number)| (query.to_owned(), document.to_owned(), number))
    };
    for (at, (case, judged, ranked)) in CASES.into_iter().enumerate() {
        let judged: Vec<Row> = rows(judged, case).collect();
        let qrels =
            Qrels::new(judged.iter().map(|(q, d, g)| (q.as_str(), d.as_str(), *g))).unwrap();
        let join = Join { ties: TieBreak::Input, ..Join::default() };
        let run: Vec<Row> = rows(ranked, case).collect();
        let matrix = join.rankings(&qrels, [("run".to_owned(), run)]).unwrap();
        for (name, relevant_from, expected) in VECTORS {
            let evaluator = evaluator(vec![name.parse().unwrap()])
                .with_relevant_from(relevant_from.parse().unwrap());
            let found = values(&evaluator.evaluate(&matrix).unwrap()).1[0][0];
            match expected[at] {
                Some(bits) => assert_eq!(found.to_bits(), bits, "{name} of {case}"),
                None => assert!(is_undefined(found), "{name} of {case}: {found}"),
            }
        }
    }
}

/// Returns the mean of the queries of a generated run that have relevant documents.
fn mean_of_others(scores: &Scores) -> f64 {
    let (queries, values) = values(scores);
    let other_values: Vec<f64> = queries
        .iter()
        .zip(&values[0])
        .filter(|(query, _)| !is_nothing(query))
        .map(|(_, value)| *value)
        .collect();
    assert_eq!(other_values.len(), 32);
    other_values.iter().sum::<f64>() / other_values.len() as f64
}

#[test]
fn queries_without_a_value_are_in_no_statistic() {
    let (qrels, run) = generated(4);
    let all = matrix(&qrels, &[("run", &run)]);
    let stats = [Stat::Median, Stat::Std, Stat::Min, Stat::Max, Stat::Ci95];
    let scores = |names: &str, only: Option<Vec<Vec<u8>>>| {
        let only = only.map(|ids| ids.iter().map(Vec::as_slice).collect());
        let evaluator = Evaluator::new([names]).unwrap().with_per_query(true).with_stats(stats);
        evaluator.with_query_filter(only).evaluate(&all).unwrap()
    };
    let plain = scores("AP", None);
    let others = values(&plain).0.into_iter().filter(|query| !is_nothing(query)).collect();
    let found = scores("AP(no_relevant=skip),P@5", None);
    let expected = scores("AP,P@5", Some(others));
    assert_eq!(
        found.runs[0].stats[0], expected.runs[0].stats[0],
        "those of the queries that have a value"
    );
    assert_eq!(
        found.runs[0].stats[1],
        scores("P@5", None).runs[0].stats[0],
        "another measure has all queries"
    );
    assert!((found.runs[0].average(0).unwrap() - mean_of_others(&plain)).abs() < 1e-15);
    assert_eq!((found.runs[0].queries, &found.runs[0].skipped[..]), (40, &[8, 0][..]));
    let measures = vec!["AP(no_relevant=skip)".to_owned()];
    let note = Notice::SkippedQueries { measures, queries: 8 };
    assert!(found.notices.contains(&note), "{:?}", found.notices);
    assert_eq!(
        note.to_string(),
        "AP(no_relevant=skip): 8 queries are left out, because nothing is relevant for them \
         (no_relevant=skip)"
    );
    assert_eq!(found.rows().filter(|row| row.query.is_some()).count(), 40 + 32);
}

#[test]
fn a_call_in_which_no_query_has_a_value_has_no_average() {
    let qrels = Qrels::new([("a", "x", 0.0)]).unwrap();
    let matrix = Join::default().rankings(&qrels, [("run".to_owned(), [("a", "x", 1.0)])]).unwrap();
    let scores = Evaluator::new(["AP(no_relevant=skip)"])
        .unwrap()
        .with_stats([Stat::Min])
        .evaluate(&matrix)
        .unwrap();
    assert_eq!((scores.runs[0].average(0), scores.runs[0].skipped(0)), (None, 1));
}

#[test]
fn groups_leave_out_their_own_queries() {
    let (qrels, run) = generated(5);
    let all = matrix(&qrels, &[("run", &run)]);
    let group = |at: u64| if at < 12 { "early" } else { "late" };
    let groups = Groups::new((0..40).map(|at| (format!("q{at:02}"), group(at)))).unwrap();
    let scores = Evaluator::new(["RR(no_relevant=skip)"])
        .unwrap()
        .with_groups(Some(groups))
        .evaluate(&all)
        .unwrap();
    let skipped: Vec<usize> = scores.runs.iter().map(|run| run.skipped(0)).collect();
    assert_eq!(skipped, [8, 3, 5]);
}

#[test]
fn parts_of_a_run_merge_to_the_whole() {
    let (qrels, run) = generated(6);
    let evaluator = Evaluator::new(["AP(no_relevant=skip),AP(no_relevant=1),RR"]).unwrap();
    let part = |from: usize, to: usize| {
        let within = |row: &&Row| (from..to).contains(&row.0[1..].parse().unwrap());
        let qrels: Vec<Row> = qrels.iter().filter(within).cloned().collect();
        let run: Vec<Row> = run.iter().filter(within).cloned().collect();
        evaluator.summary(&matrix(&qrels, &[("run", &run)])).unwrap()
    };
    let whole = part(0, 40).scores(&[Stat::Std]).unwrap();
    let mut merged = part(17, 40);
    merged.merge(&part(1, 5)).unwrap();
    merged.merge(&part(0, 1)).unwrap();
    merged.merge(&part(5, 17)).unwrap();
    let found = merged.scores(&[Stat::Std]).unwrap();
    assert_eq!(found.runs[0].stats, whole.runs[0].stats);
    assert_eq!((found.runs[0].skipped(0), found.runs[0].skipped(1)), (8, 0));
    for stored in [Summary::from_bytes(&merged.to_bytes()), Summary::from_json(&merged.to_json())] {
        assert_eq!(stored.unwrap(), merged);
    }
}

#[test]
fn only_judged_queries_that_are_there_are_left_out() {
    let (qrels, run) = generated(7);
    let all = matrix(&qrels, &[("run", &run)]);
    let run_scores = |queries| {
        let evaluator = Evaluator::new(["AP(no_relevant=skip),AP"]).unwrap().with_queries(queries);
        evaluator.evaluate(&all).unwrap().runs.remove(0)
    };
    let (judged, both) = (run_scores(QuerySet::Judged), run_scores(QuerySet::Common));
    // The run lacks q12, q25 and q38; for q25 nothing is relevant.
    assert_eq!((judged.queries, judged.skipped(0), both.queries, both.skipped(0)), (40, 8, 37, 7));
    let sum =
        |run: &laneval::RunScores, counted: f64| run.stat(0, StatName::Mean).unwrap() * counted;
    assert!((sum(&judged, 32.0) - sum(&both, 30.0)).abs() < 1e-12);
}

#[test]
fn names_and_errors() {
    let measure: Measure = "nDCG@3(no_relevant=skip,gain=exp2)".parse().unwrap();
    assert_eq!(measure.to_string(), "nDCG(gain=exp2,no_relevant=skip)@3");
    let judged = measure
        .with_param("judges", laneval::measure::ParamValue::Choice("mean"))
        .unwrap_err()
        .to_string();
    assert!(judged.contains("`judges` cannot be given together with `no_relevant`"), "{judged}");
    assert_eq!("AP(no_relevant=0)".parse::<Measure>().unwrap().to_string(), "AP");
    for (text, part) in [
        ("AP(no_relevant=2)", "no_relevant=2 is not 0, 1 or skip"),
        ("AP(judges=mean,no_relevant=1)", "`no_relevant` cannot be given together with `judges`"),
        ("AP(no_relevant=1,judges=mean)", "`judges` cannot be given together with `no_relevant`"),
        ("GMAP(no_relevant=1)", "has no parameter `no_relevant`"),
        ("NumRel(no_relevant=1)", "has no parameter `no_relevant`"),
        ("Judged(no_relevant=1)", "has no parameter"),
        ("alpha_nDCG(no_relevant=1)@5", "has no parameter `no_relevant`"),
    ] {
        let error = text.parse::<Measure>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Two runs over the judgments of one.
fn two_runs(seed: u64) -> (Vec<Row>, LabelMatrix) {
    let ((qrels, one), (_, two)) = (generated(seed), generated(seed + 1));
    let both = matrix(&qrels, &[("one", &one), ("two", &two)]);
    (qrels, both)
}

fn with_values(names: &str, matrix: &LabelMatrix, only: bool) -> Scores {
    let ids = (0..40)
        .map(|at| format!("q{at:02}"))
        .filter(|id| !is_nothing(id.as_bytes()))
        .collect::<Vec<_>>();
    let only = only.then(|| ids.iter().map(|id| id.as_bytes()).collect());
    Evaluator::new([names])
        .unwrap()
        .with_per_query(true)
        .with_query_filter(only)
        .evaluate(matrix)
        .unwrap()
}

#[cfg(feature = "report")]
mod compared {
    use laneval::compare::{
        Comparison, ComparisonOptions, Correction, Difference, Gate, Interval, PartialComparison,
        Test, WinCounts,
    };

    use super::*;

    /// What a difference says, without the index of its measure.
    fn comparable_numbers(difference: &Difference) -> (String, WinCounts) {
        let numbers = (
            &difference.paired,
            difference.interval,
            difference.t,
            difference.randomised,
            difference.exact,
            difference.wilcoxon,
            difference.sign,
        );
        let more = (
            difference.p,
            difference.p_adjusted,
            difference.relative,
            difference.smallest_found,
            difference.queries_needed,
            difference.p_margin,
        );
        (format!("{numbers:?} {more:?}"), difference.wins)
    }

    /// The signs and the weights of queries follow from their ids, so leaving queries out is the
    /// same as never having had them.
    #[test]
    fn a_comparison_leaves_out_the_queries_of_that_measure_alone() {
        let (_, both) = two_runs(10);
        for (interval, test) in [
            (Interval::T, Test::Randomisation),
            (Interval::Bootstrap, Test::Wilcoxon),
            (Interval::Bca, Test::T),
        ] {
            let mut options = ComparisonOptions::default();
            (options.interval, options.test, options.correction) =
                (interval, test, Correction::Holm);
            (options.anova, options.margin, options.power) = (true, Some(0.05), Some(0.1));
            let comparison = |names: &str, only| {
                Comparison::new(&with_values(names, &both, only), &options).unwrap()
            };
            let (found, others, all) = (
                comparison("P@5,AP(no_relevant=skip)", false),
                comparison("P@5,AP", true),
                comparison("P@5,AP", false),
            );
            assert_eq!((found.queries, &found.skipped[..]), (40, &[0, 8][..]));
            assert_eq!(
                comparable_numbers(&found.differences_for(1)[0]),
                comparable_numbers(&others.differences_for(1)[0]),
                "{interval:?}"
            );
            assert_eq!(
                comparable_numbers(&found.differences_for(0)[0]),
                comparable_numbers(&all.differences_for(0)[0]),
                "{interval:?}"
            );
            for run in 0..2 {
                assert_eq!(found.runs[run].means[1], others.runs[run].means[1]);
                assert_ne!(found.runs[run].means[1], all.runs[run].means[1]);
            }
            assert_eq!(found.anova[1], others.anova[1]);
            assert!(
                found.notes.iter().any(|note| note.contains("8 queries are left out")),
                "{:?}",
                found.notes
            );
        }
    }

    #[test]
    fn a_gate_over_too_few_queries_cannot_be_computed() {
        let (_, both) = two_runs(11);
        let comparison = Comparison::new(
            &with_values("AP(no_relevant=skip),AP", &both, false),
            &ComparisonOptions::default(),
        )
        .unwrap();
        let gate = |text: &str| comparison.gate_verdicts(&Gate::parse(text).unwrap());
        let error = gate("AP(no_relevant=skip) drops > 0.5").unwrap_err().to_string();
        assert!(error.contains("cannot be computed: 8 of 40 queries have no value"), "{error}");
        assert!(gate("AP drops > 0.5").is_ok());
        let gate = Gate::parse("AP(no_relevant=skip) < 0.1").unwrap();
        assert!(gate.check_skipped(4, 40).is_ok() && gate.check_skipped(5, 40).is_err());
        assert!(gate.check_skipped(0, 0).is_ok());
    }

    #[test]
    fn parts_of_a_comparison_merge_to_the_whole() {
        let ((qrels, one), (_, two)) = (generated(12), generated(13));
        let mut options = ComparisonOptions::default();
        (options.interval, options.anova) = (Interval::Bootstrap, true);
        options.largest = vec![("AP(no_relevant=skip)".parse().unwrap(), 1.0)];
        let part = |from: usize, to: usize| {
            let within = |row: &&Row| (from..to).contains(&row.0[1..].parse().unwrap());
            let selection =
                |rows: &[Row]| rows.iter().filter(within).cloned().collect::<Vec<Row>>();
            let matrix =
                matrix(&selection(&qrels), &[("one", &selection(&one)), ("two", &selection(&two))]);
            let evaluator = Evaluator::new(["AP(no_relevant=skip)"]).unwrap().with_per_query(true);
            let (scores, summary) = evaluator.evaluate_with_summary(&matrix).unwrap();
            PartialComparison::compare(&scores, &summary, None, &options).unwrap()
        };
        let whole = part(0, 40).0;
        let mut merged = part(23, 40).1;
        merged.merge(&part(0, 7).1).unwrap();
        merged.merge(&part(7, 23).1).unwrap();
        assert_eq!(PartialComparison::from_bytes(&merged.to_bytes()).unwrap(), merged);
        let found = merged.comparison().unwrap();
        let description = |comparison: &Comparison| {
            let difference = &comparison.differences[0];
            format!(
                "{:?} {:?} {:?} {:?} {:?}",
                difference.paired,
                difference.interval,
                difference.t,
                difference.wins,
                difference.randomised
            )
        };
        assert_eq!((description(&found), &found.skipped), (description(&whole), &whole.skipped));
        assert_eq!(found.runs[0].means, whole.runs[0].means);
        assert_eq!(whole.skipped, [8]);
    }

    #[test]
    fn runs_that_leave_out_other_queries_are_not_compared() {
        let (_, both) = two_runs(14);
        let evaluator = Evaluator::new(["AP(no_relevant=skip)"]).unwrap().with_per_query(true);
        let evaluator = evaluator.with_relevant_from("retrieved".parse().unwrap());
        let scores = evaluator.evaluate(&both).unwrap();
        let error =
            Comparison::new(&scores, &ComparisonOptions::default()).unwrap_err().to_string();
        assert_eq!(
            error,
            "no_relevant=skip left out other queries of one than of two: take no_relevant=0"
        );
    }

    #[test]
    fn a_measure_without_any_value_is_not_compared() {
        let qrels =
            [("q", "d", 0.0), ("r", "d", 0.0)].map(|(q, d, g)| (q.to_owned(), d.to_owned(), g));
        let both = matrix(&qrels, &[("one", &qrels), ("two", &qrels)]);
        let scores = Evaluator::new(["AP(no_relevant=skip)"])
            .unwrap()
            .with_per_query(true)
            .evaluate(&both)
            .unwrap();
        let error =
            Comparison::new(&scores, &ComparisonOptions::default()).unwrap_err().to_string();
        assert!(error.contains("no query has a value under AP(no_relevant=skip)"), "{error}");
    }
}

#[cfg(feature = "report")]
#[test]
fn reports_have_no_row_for_a_query_without_a_value() {
    use laneval::report::{Format, ReportOptions};
    let qrels = Qrels::new([("a", "x", 1.0), ("b", "x", 0.0)]).unwrap();
    let run = [("a", "x", 1.0), ("b", "x", 1.0)];
    let matrix = Join::default().rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    let scores = with_per_query("RR(no_relevant=skip),P@1", &matrix);
    let options = ReportOptions { per_query: true, ..ReportOptions::default() };
    let written = |format: Format| {
        let mut text = Vec::new();
        format.write(&scores, &options, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let tsv = written(Format::Tsv);
    assert!(!tsv.contains("b\tRR(no_relevant=skip)") && tsv.contains("b\tP@1\t"), "{tsv}");
    let trec = written(Format::Trec);
    assert!(trec.contains("RR(no_relevant=skip)  \tall\t1.0000"), "{trec}");
    assert!(!trec.contains("RR(no_relevant=skip)  \tb\t"), "{trec}");
    let json: serde_json::Value = serde_json::from_str(&written(Format::Json)).unwrap();
    let run = &json["runs"][0];
    assert_eq!(
        run["scores"]["RR(no_relevant=skip)"],
        serde_json::json!({"mean": 1.0, "skipped": 1})
    );
    assert_eq!(run["scores"]["P@1"], serde_json::json!({"mean": 0.5}));
    assert_eq!(run["per_query"]["b"], serde_json::json!({"P@1": 0.0}));
    for format in [
        Format::Tsv,
        Format::Trec,
        Format::Json,
        Format::Jsonl,
        Format::Table,
        Format::Markdown,
        Format::Csv,
    ] {
        assert!(!written(format).contains("NaN"), "{}", written(format));
    }
}

#[cfg(feature = "report")]
fn with_per_query(names: &str, matrix: &LabelMatrix) -> Scores {
    Evaluator::new([names]).unwrap().with_per_query(true).evaluate(matrix).unwrap()
}
