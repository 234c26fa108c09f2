//! What libraries call nDCG, AP, RR, P, R, ERR, Bpref and AUC, against values that are not of this
//! program: `tests/fixtures/definitions.json` has 62 definitions on twelve queries, made by a plain
//! reference of its own, and most of them given by the libraries themselves.

use std::collections::BTreeMap;

use laneval::{EngineChoice, Evaluator, Join, LabelMatrix, Qrels, TieBreak, TiedValue, View};
use serde_json::Value;

/// The definitions with their spelling here, `k` standing for the cutoff, and the options of the
/// evaluation: the order of equal scores, or the value over all orders; `J` for judged documents
/// only; `list` for `relevant_from=retrieved`.
#[rustfmt::skip] // a row each
pub const SPELLED: &[(&str, &str, &str)] = &[
    ("nDCG:trec_eval", "nDCG@k", ""),
    ("nDCG:input", "nDCG@k", "input"),
    ("nDCG:exp2", "nDCG(gain=exp2)@k", ""),
    ("nDCG:exp2,input", "nDCG(gain=exp2)@k", "input"),
    ("nDCG:binary,input", "nDCG(gain=binary)@k", "input"),
    ("nDCG:judged_only", "nDCG@k", "J"),
    ("nDCG:closed,average", "nDCG@k", "average list"),
    ("nDCG:union,average", "nDCG@k", "average"),
    ("nDCG:closed,exp2,0", "nDCG(gain=exp2)@k", "input list"),
    ("nDCG:closed,worst,raw,0", "nDCG@k", "worst list"),
    ("nDCG:closed,linear,input", "nDCG@k", "input list"),
    ("nDCG:top", "nDCG(ideal=retrieved)@k", "input cut"),
    ("nDCG:uncut", "nDCG(ideal=uncut)@k", "input"),
    ("nDCG:uncut,exp2,raw", "nDCG(gain=exp2,ideal=uncut)@k", "input"),
    ("nDCG:uncut,binary", "nDCG(gain=binary,ideal=uncut)@k", "input"),
    ("nDCG:returned,exp2", "nDCG(gain=exp2,ideal=returned)@k", "input"),
    ("nDCG:filled", "SDCG(norm=min)@k", "input"),
    ("nDCG:rel2", "nDCG(rel=2)@k", "input"),
    ("AP:trec_eval", "AP@k", ""),
    ("AP:input", "AP@k", "input"),
    ("AP:min", "AP(norm=min)@k", "input"),
    ("AP:closed,min,0,worst", "AP(norm=min)@k", "worst list"),
    ("AP:closed,whole", "AP", "input list"),
    ("AP:hits", "AP(norm=hits)@k", "input"),
    ("AP:tied,closed", "AP(ties=together)", "input list"),
    ("RR:trec_eval", "RR", ""),
    ("RR:cut", "RR@k", "input"),
    ("RR:docno-asc", "RR@k", "docno-asc"),
    ("RR:hits", "RR(over=hits)@k", "input"),
    ("RR:judged", "RR(over=relevant)", "input list"),
    ("P:k", "P@k", ""),
    ("P:k,input", "P@k", "input"),
    ("P:min", "P(norm=min)@k", "input"),
    ("P:min,worst", "P(norm=min)@k", "worst"),
    ("R:judged", "R@k", ""),
    ("R:input", "R@k", "input"),
    ("R:min", "R(norm=min)@k", "input"),
    ("ERR:4", "ERR@k", ""),
    ("ERR:3", "ERR(gmax=3)@k", "input"),
    ("Bpref", "Bpref", ""),
    ("Bpref:ranx", "Bpref(negatives=nonrelevant)", "input"),
];

/// Definitions that give documents with a negative grade a gain below 0, which is not spelled: they
/// are the same where no grade is negative.
const RAW: &[&str] = &[
    "nDCG:closed,worst,raw,0",
    "nDCG:closed,worst,raw,1",
    "nDCG:closed,worst,zipf,1",
    "nDCG:uncut,exp2,raw",
];

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/definitions.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the judgments and the run of a case, as one query `q`.
fn matrix(case: &Value, ties: TieBreak) -> LabelMatrix {
    let qrels = case["qrels"].as_object().unwrap();
    let qrels =
        Qrels::new(qrels.iter().map(|(doc, grade)| ("q", doc.as_str(), grade.as_f64().unwrap())))
            .unwrap();
    let run = case["run"].as_array().unwrap();
    let run: Vec<_> =
        run.iter().map(|row| ("q", row[0].as_str().unwrap(), row[1].as_f64().unwrap())).collect();
    Join { ties, keep_ties: true, ..Join::default() }
        .rankings(&qrels, [("run".to_owned(), run)])
        .unwrap()
}

/// Returns the value of a case under a spelling.
fn value(case: &Value, measure: &str, options: &str, engine: EngineChoice) -> Option<f64> {
    let k = case["k"].as_u64().unwrap();
    let has = |word: &str| options.split(' ').any(|option| option == word);
    let ties = match () {
        () if has("input") => TieBreak::Input,
        () if has("docno-asc") => TieBreak::DocnoAscending,
        () => TieBreak::default(),
    };
    let tied = match () {
        () if has("average") => TiedValue::Average,
        () if has("worst") => TiedValue::Worst,
        () => TiedValue::Ranked,
    };
    let view = View { depth: has("cut").then_some(k as u32), judged_only: has("J") };
    let relevant_from = if has("list") { "retrieved" } else { "judged" };
    let evaluator = Evaluator::new([measure.replace("@k", &format!("@{k}")).as_str()]).unwrap();
    let evaluator = evaluator
        .with_view(view)
        .with_tied_value(tied)
        .with_relevant_from(relevant_from.parse().unwrap())
        .with_engine(engine);
    let scores = evaluator.with_per_query(true).evaluate(&matrix(case, ties)).unwrap();
    scores.runs[0].per_query.as_ref().unwrap().values[0].first().copied()
}

#[test]
fn values_of_definitions() {
    let vectors = vectors();
    let all: BTreeMap<&String, &Value> = [&vectors["cases"], &vectors["separating_set"]]
        .into_iter()
        .flat_map(|object| object.as_object().unwrap())
        .collect();
    let mut compared = 0;
    for (definition, measure, options) in SPELLED {
        for (name, expected) in vectors["definitions"][definition].as_object().unwrap() {
            let case = all[name];
            let negative = case["qrels"]
                .as_object()
                .unwrap()
                .values()
                .any(|grade| grade.as_f64().unwrap() < 0.0);
            if RAW.contains(definition) && negative {
                continue;
            }
            let expected: Option<f64> = expected["v"].as_str().map(|text| text.parse().unwrap());
            let engines: &[EngineChoice] =
                if options.contains("average") || options.contains("worst") {
                    &[EngineChoice::Cpu]
                } else {
                    &[EngineChoice::Cpu, EngineChoice::Reference]
                };
            for &engine in engines {
                let found = value(case, measure, options, engine);
                let near = match (found, expected) {
                    // Closed forms of averages add in another order: each of at most 12 terms is
                    // rounded a few times.
                    (Some(found), Some(expected)) if options.contains("average") => {
                        (found - expected).abs() <= 64.0 * f64::EPSILON
                    }
                    (Some(found), Some(expected)) => found.to_bits() == expected.to_bits(),
                    (found, expected) => found.is_none() && expected.is_none(),
                };
                assert!(
                    near,
                    "{definition} = {measure} {options} on {name}: {found:?}, not {expected:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 850, "{compared}");
}

fn per_query(matrix: &LabelMatrix, measures: &str) -> Vec<Vec<u64>> {
    let scores = Evaluator::new([measures]).unwrap().with_per_query(true).evaluate(matrix).unwrap();
    let per_query = scores.runs[0].per_query.as_ref().unwrap();
    per_query
        .values
        .iter()
        .map(|values| values.iter().map(|value| value.to_bits()).collect())
        .collect()
}

#[test]
fn definitions_meet_where_their_reasons_do() {
    let matrix =
        laneval::parts::generate::Synthetic { queries: 200, depth: 40, ..Default::default() }
            .matrix()
            .unwrap();
    for [one, other] in [
        // No query has more judged documents than that.
        ["nDCG(ideal=uncut)@100000", "nDCG@100000"],
        ["nDCG(ideal=uncut)", "nDCG"],
        // Every ranking has 40 documents.
        ["nDCG(ideal=returned)@10", "nDCG@10"],
        ["AP(norm=retrieved)@10", "AP(norm=min)@10"],
        ["SDCG(norm=min)@10", "SDCG@10"],
        ["RR(over=first)@10", "RR@10"],
        ["nDCG(gain={0:0,1:1,2:1,3:1,4:1})@10", "nDCG(gain=binary)@10"],
        [
            "IDCG(gain={0:0,1:0,2:1,3:1,4:1},discount=rank)@10",
            "IDCG(gain=binary,rel=2,discount=rank)@10",
        ],
    ] {
        let values = per_query(&matrix, &format!("{one},{other}"));
        assert_eq!(values[0], values[1], "{one} {other}");
    }
    let short =
        laneval::parts::generate::Synthetic { queries: 200, depth: 3, ..Default::default() }
            .matrix()
            .unwrap();
    for [one, other] in [
        ["nDCG(ideal=uncut)@2", "nDCG@2"],
        ["nDCG(ideal=returned)@10", "nDCG@10"],
        ["AP(norm=retrieved)@10", "AP(norm=min)@10"],
        ["SDCG(norm=min)@10", "SDCG@10"],
        ["RR(over=hits)@10", "RR@10"],
    ] {
        let values = per_query(&short, &format!("{one},{other}"));
        assert_ne!(values[0], values[1], "{one} {other}");
    }
}

#[test]
fn a_norm_that_is_the_cutoff_needs_one() {
    for (name, words) in [
        ("AP(norm=k)", "norm=k needs a cutoff, as in AP(norm=k)@10"),
        ("nDCG(ideal=cut)@10", "`cut` is not judged or uncut or returned or retrieved"),
        ("RR(over=all)", "`all` is not first or hits or relevant"),
    ] {
        let error = Evaluator::new([name]).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}
