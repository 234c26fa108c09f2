//! The conformance suite: its values are those of laneval and of independent vectors, every
//! definition is found by them, and its files stay.

use std::collections::BTreeMap;

use laneval::conformance::{Case, CaseAnswer, CheckVerdict, Suite, SuiteDefinition, check};
use laneval::{EngineChoice, Evaluator, Join, LabelMatrix, Qrels, TieBreak, TiedValue, View};
use serde_json::Value;

fn suite() -> Suite {
    Suite::named("v1").unwrap()
}

fn file(path: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&file(path)).unwrap()
}

/// Returns the judgments and the run of a case, as the texts that a program is given.
fn matrix(case: &Case, ties: TieBreak) -> LabelMatrix {
    let qrels = case.qrels.iter().map(|(document, grade)| (&case.id, document, f64::from(*grade)));
    let run = case.run.iter().map(|(document, score)| (&case.id, document, score.parse().unwrap()));
    let join = Join { ties, keep_ties: true, ..Join::default() };
    join.rankings(&Qrels::new(qrels).unwrap(), [("run".to_owned(), run.collect::<Vec<_>>())])
        .unwrap()
}

/// Returns the value of a case, by laneval; `None` if the query is left out.
fn value(definition: &SuiteDefinition, case: &Case, engine: EngineChoice) -> Option<f64> {
    let options = &definition.options;
    let ties = options.ties.as_deref().unwrap_or("docno-desc");
    let (order, tied) = match ties.parse::<TieBreak>() {
        Ok(order) => (order, TiedValue::Ranked),
        Err(_) => (TieBreak::default(), ties.parse().unwrap()),
    };
    let relevant_from = options.relevant_from.as_deref().unwrap_or("judged").parse().unwrap();
    let depth = options.max_rank.as_ref().map(|rank| {
        assert_eq!(rank, "k");
        case.k
    });
    let measure = definition.measure.as_deref().unwrap().replace("@k", &format!("@{}", case.k));
    let evaluator = Evaluator::new([measure.as_str()])
        .unwrap()
        .with_tied_value(tied)
        .with_relevant_from(relevant_from)
        .with_view(View { depth, judged_only: options.judged_only });
    let scores =
        evaluator.with_engine(engine).with_per_query(true).evaluate(&matrix(case, order)).unwrap();
    // A query that is left out of a measure is NaN among its values.
    scores.runs[0].per_query.as_ref().unwrap().values[0]
        .first()
        .copied()
        .filter(|value| !value.is_nan())
}

/// Returns whether laneval's measure is another one on a case.
fn differs(definition: &SuiteDefinition, case: &Case, expected: Option<f64>) -> bool {
    match definition.unless.as_deref() {
        None => false,
        Some("negative grades") => case.qrels.iter().any(|(_, grade)| *grade < 0),
        Some("one kind") => expected.is_none(),
        Some(other) => panic!("{other}"),
    }
}

#[test]
fn laneval_has_the_values_of_every_definition_that_it_spells() {
    let suite = suite();
    let (mut spelled, mut compared) = (0, 0);
    for (at, definition) in
        suite.definitions.iter().enumerate().filter(|(_, definition)| definition.measure.is_some())
    {
        spelled += 1;
        let ties = definition.options.ties.as_deref();
        // The reference has no values over the orders of equal scores.
        let engines: &[EngineChoice] = match ties {
            Some("average" | "worst") => &[EngineChoice::Cpu],
            _ => &[EngineChoice::Cpu, EngineChoice::Reference],
        };
        for (case, &expected) in suite.cases.iter().zip(suite.values(at)) {
            for &engine in engines.iter().filter(|_| !differs(definition, case, expected)) {
                let found = value(definition, case, engine);
                let same = match (found, expected) {
                    // Means over orders or pairs are added up in another order: each of at most 14
                    // terms is rounded a few times.
                    (Some(found), Some(expected))
                        if ties == Some("average") || definition.family() == "AUC" =>
                    {
                        (found - expected).abs() <= 64.0 * f64::EPSILON
                    }
                    (found, expected) => found.map(f64::to_bits) == expected.map(f64::to_bits),
                };
                assert!(
                    same,
                    "{} = {} on {}: {found:?}, not {expected:?}",
                    definition.id,
                    definition.spelling(),
                    case.id
                );
                compared += 1;
            }
        }
    }
    assert_eq!(spelled, 56);
    assert!(compared > 2000, "{compared}");
}

#[test]
fn values_are_those_of_another_program() {
    let (vectors, suite) = (json("tests/fixtures/definitions.json"), suite());
    let mut compared = 0;
    for (at, definition) in suite.definitions.iter().enumerate() {
        for (case, &found) in suite.cases.iter().zip(suite.values(at)) {
            let Some(expected) = vectors["definitions"][&definition.id].get(&case.id) else {
                continue;
            };
            let expected: Option<f64> = expected["v"].as_str().map(|text| text.parse().unwrap());
            let same = match (found, expected) {
                // Of the class `sum`.
                (Some(found), Some(expected))
                    if definition.options.ties.as_deref() == Some("average") =>
                {
                    (found - expected).abs() <= 1e-12 * expected
                }
                (found, expected) => found.map(f64::to_bits) == expected.map(f64::to_bits),
            };
            assert!(same, "{} on {}: {found:?}, not {expected:?}", definition.id, case.id);
            compared += 1;
        }
    }
    assert_eq!(compared, 744);
}

#[test]
fn every_definition_is_told_by_its_values() {
    let suite = suite();
    for (at, definition) in suite.definitions.iter().enumerate() {
        let mut values = suite.values(at).iter();
        let answer = |_: &Case| {
            Ok(values.next().unwrap().map_or(CaseAnswer::NoValue, CaseAnswer::from_value))
        };
        let checked = check(&suite, definition.family(), None, answer).unwrap();
        let fits: Vec<&str> = checked.fits.iter().map(|fit| &fit.definition.id[..]).collect();
        assert_eq!(fits, [&definition.id]);
        assert!(matches!(checked.verdict, CheckVerdict::Found | CheckVerdict::Likely));
        assert!(checked.telling > 0 && checked.compared == 21, "{}", definition.id);
    }
}

#[test]
fn a_library_is_named_as_it_is() {
    let suite = suite();
    let place = suite
        .definitions
        .iter()
        .position(|definition| definition.id == "nDCG:closed,exp2,1")
        .unwrap();
    let refuses =
        |case: &Case| case.qrels.iter().any(|(_, grade)| *grade < 0) || case.run.is_empty();
    let at =
        |case: &Case| suite.cases.iter().position(|candidate| candidate.id == case.id).unwrap();
    let lightgbm = |case: &Case| match suite.values(place)[at(case)] {
        _ if refuses(case) => Ok(CaseAnswer::Refused("Label should be non-negative".to_owned())),
        // Added up in f32.
        Some(value) => Ok(CaseAnswer::from_value(f64::from(value as f32))),
        None => Ok(CaseAnswer::NoValue),
    };
    let checked = check(&suite, "nDCG", None, lightgbm).unwrap();
    let expected = "this is nDCG(gain=exp2,no_relevant=1)@k --relevant-from retrieved --ties \
    input: \
                LightGBM, XGBoost   (17 of 17 cases, f32)\n\
                4 cases are refused and no evidence: missing (Label should be non-negative) …";
    assert_eq!(checked.to_string(), expected);
    assert_eq!(checked.verdict, CheckVerdict::Likely);
    let xgboost = check(&suite, "nDCG", Some("xgboost"), lightgbm).unwrap();
    assert_eq!(xgboost.fits[0].definition.id, "nDCG:closed,exp2,1");
    let other = check(&suite, "nDCG", Some("ranx"), lightgbm).unwrap();
    assert_eq!((other.verdict, other.fits.len()), (CheckVerdict::None, 0));
}

#[test]
fn texts_of_cases_are_read_back() {
    for case in suite().cases.iter().filter(|case| !case.run.is_empty()) {
        let folder = tempfile::tempdir().unwrap();
        let [qrels, run] = ["qrels", "run"].map(|name| folder.path().join(name));
        std::fs::write(&qrels, case.qrels_text()).unwrap();
        std::fs::write(&run, case.run_text()).unwrap();
        let read = Join { ties: TieBreak::Input, ..Join::default() }.files(&qrels, [&run]).unwrap();
        let scores = |matrix: &LabelMatrix| {
            let scores =
                Evaluator::new(["nDCG@5,AP,P@3,RR,NumRel"]).unwrap().evaluate(matrix).unwrap();
            (0..5).map(|at| scores.runs[0].average(at).unwrap().to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(scores(&read), scores(&matrix(case, TieBreak::Input)), "{}", case.id);
    }
}

/// A released suite is never edited: a correction is another one. The index has the SHA-256 of the
/// other files, which `conformance/make.py --check` compares.
#[test]
fn the_suite_stays() {
    let index = file("conformance/v1/index.json");
    assert_eq!(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&index)), INDEX);
    let index: BTreeMap<String, Value> = serde_json::from_slice(&index).unwrap();
    let mut listed: Vec<&String> = index["files"].as_object().unwrap().keys().collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/v1");
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "index.json").collect();
    listed.sort();
    names.sort();
    assert_eq!(listed, names.iter().collect::<Vec<_>>());
}

const INDEX: &str = "dca445ac35fab646";
