//! Numbers that were computed elsewhere: published worked examples, and answers of other programs.

use std::path::PathBuf;

use laneval::measure::{Average, Defaults, parse_list};
use laneval::{EngineChoice, Evaluator, Join, LabelMatrix, Qrels, QuerySet, ScoreType, View};

use crate::matrices::{Query, Shape, matrix};

/// Returns the matrix of sample files.
pub fn sample(qrels: &str, runs: &[&str]) -> LabelMatrix {
    let path =
        |name: &&str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(name);
    Join::default().files(path(&qrels), runs.iter().map(path)).unwrap()
}

/// Returns the averages of a measure list, in order, by both engines.
fn averages(matrix: &LabelMatrix, run: usize, names: &str) -> Vec<f64> {
    let evaluator = Evaluator::from_measures(parse_list(names, Defaults::default()).unwrap());
    let mut all = [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
        let scores = evaluator.clone().with_engine(engine).evaluate(matrix).unwrap();
        (0..scores.measures.len())
            .map(|measure| scores.runs[run].average(measure).unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(all[0], all[1]);
    std::mem::take(&mut all[0])
}

/// Compares with numbers as printed: half a unit of the last digit.
fn assert_printed(matrix: &LabelMatrix, run: usize, names: &str, printed: &[&str]) {
    let found = averages(matrix, run, names);
    assert_eq!(found.len(), printed.len(), "{names}");
    for (value, printed) in found.iter().zip(printed) {
        let decimals = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        let half = 0.5000001 * 10f64.powi(-(decimals as i32));
        assert!(
            (value - printed.parse::<f64>().unwrap()).abs() <= half,
            "{names}: {value}, published {printed}"
        );
    }
}

/// A video lecture's photo search. "cat in a box" alone, then the mean reciprocal rank of three
/// queries.
#[test]
fn cats() {
    let all = sample("cats.qrels", &["cats.run"]);
    assert_printed(&all, 0, "RR", &["0.566667"]);
    let one = |qrels: &str, level: f64| {
        let judged = std::fs::read_to_string(format!(
            "{}/examples/data/{qrels}",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap();
        let lines = judged.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let rows: Vec<_> = lines.filter(|fields| fields[0] == "cat-in-a-box").collect();
        let judgments =
            rows.iter().map(|f| (f[0].to_owned(), f[2].to_owned(), f[3].parse::<f64>().unwrap()));
        assert!(judgments.clone().any(|(.., grade)| grade >= level));
        let qrels = Qrels::new(judgments).unwrap();
        let run =
            (1..=8).map(|image| ("cat-in-a-box", format!("image{image}"), f64::from(9 - image)));
        Join::default().rankings(&qrels, [("cats".to_owned(), run)]).unwrap()
    };
    let binary = one("cats.qrels", 1.0);
    assert_printed(&binary, 0, "R@2", &["0.25"]);
    assert_printed(&binary, 0, "R@1..8", &["0", "0.25", "0.25", "0.5", "0.75", "0.75", "1", "1"]);
    assert_printed(&binary, 0, "P@2", &["0.5"]);
    assert_printed(&binary, 0, "AP", &["0.542857"]);
    let graded = one("cats-graded.qrels", 4.0);
    assert_printed(&graded, 0, "CG@2", &["4"]);
    assert_printed(&graded, 0, "DCG@2", &["2.523719"]);
    let ndcg = ["0", ".3869", ".3768", ".4633", ".5811", ".5954", ".6698", ".7283"];
    assert_printed(&graded, 0, "nDCG(ideal=retrieved)@1..8", &ndcg);
}

/// Labels 2 3 3 1 2, with the list itself as the ideal. (The post prints 6.64 and 0.93 for the
/// linear values; the right sums are these.)
#[test]
fn articles() {
    let matrix = sample("articles.qrels", &["articles.run"]);
    assert_printed(&matrix, 0, "DCG@5", &["6.5972"]);
    assert_printed(&matrix, 0, "nDCG(ideal=retrieved)", &["0.9238"]);
    assert_printed(&matrix, 0, "DCG(gain=exp2)@5", &["12.5077"]);
    assert_printed(&matrix, 0, "nDCG(gain=exp2,ideal=retrieved)", &["0.8570"]);
    let ideal = |names| averages(&matrix, 0, names)[0];
    assert!((ideal("DCG") / ideal("nDCG") - 7.1410).abs() < 0.5e-4);
    assert!((ideal("DCG(gain=exp2)") / ideal("nDCG(gain=exp2)") - 14.5954).abs() < 0.5e-4);
}

/// Relevant {1, 2, 5}. (The post prints 8/9 for the first and 0.41 for the third; the definition
/// gives these.)
#[test]
fn three_rankings() {
    let matrix = sample("three.qrels", &["three-s1.run", "three-s2.run", "three-s3.run"]);
    assert_printed(&matrix, 0, "AP", &["0.833333"]);
    assert_printed(&matrix, 1, "AP", &["1"]);
    assert_printed(&matrix, 2, "AP", &["0.420635"]);
}

#[test]
fn graded_lists() {
    let matrix = sample("graded.qrels", &["graded.run"]);
    let mut evaluator =
        Evaluator::new(["nDCG(gain=exp2)@1..5", "nDCG@1..5", "ERR(gmax=3)", "ERR(gmax=4)"])
            .unwrap();
    evaluator = evaluator.with_per_query(true);
    let scores = evaluator.evaluate(&matrix).unwrap();
    let per_query = scores.runs[0].per_query.as_ref().unwrap();
    assert_eq!(per_query.queries.get(0), b"labels-21201");
    let value = |measure: usize, query: usize| per_query.values[measure][query];
    for (measure, printed) in
        [1.0, 0.7421, 0.9514, 0.8811, 0.9475, 1.0, 0.8066, 0.9652, 0.8660, 0.9583]
            .into_iter()
            .enumerate()
    {
        assert!((value(measure, 0) - printed).abs() <= 0.5e-4, "{}", scores.measures[measure]);
    }
    assert!((value(10, 1) - 0.900879).abs() <= 0.5e-6);
    assert!((value(11, 1) - 0.497375).abs() <= 0.5e-6);
}

/// A tutorial's three queries. (It prints other nDCG values, computed with document ids as scores;
/// these are the right ones.)
#[test]
fn tutorial() {
    let matrix = sample("tutorial.qrels", &["tutorial.run"]);
    for (names, printed) in [
        ("R(norm=min)@[1,5,10]", ["0.6667", "0.8056", "0.9167"]),
        ("R@[1,5,10]", ["0.1778", "0.8056", "0.9167"]),
        ("RR@[1,5,10]", ["0.6667", "0.8333", "0.8333"]),
        ("P@[1,5,10]", ["0.6667", "0.6667", "0.3667"]),
        ("AP(norm=hits)@[1,5,10]", ["0.6667", "0.8630", "0.8074"]),
        ("AP@[1,5,10]", ["0.177778", "0.702778", "0.758333"]),
        ("AP(norm=min)@[1,5,10]", ["0.666667", "0.702778", "0.758333"]),
        ("nDCG@[1,5,10]", ["0.666667", "0.785958", "0.841678"]),
        ("nDCG(ideal=retrieved)@[1,5,10]", ["0.666667", "0.825875", "0.881595"]),
    ] {
        assert_printed(&matrix, 0, names, &printed);
    }
}

/// Rankings of single queries as labels: 0 is a document without a judgment, and n + 1 one of grade
/// n; with judged documents that are not retrieved.
fn labelled(queries: &[(&[u8], &[u8])]) -> LabelMatrix {
    let code = |labels: &[u8]| {
        labels.iter().map(|&label| if label == 0 { 1 } else { label + 2 }).collect()
    };
    let query = |&(labels, unretrieved): &(&[u8], &[u8])| Query {
        rankings: vec![code(labels)],
        unretrieved: code(unretrieved),
    };
    matrix(&Shape {
        grades: vec![0.0, 1.0, 2.0, 3.0],
        queries: queries.iter().map(query).collect(),
    })
}

/// The worked example of Järvelin and Kekäläinen 2002 with b = 2, whose ideal has three documents
/// each of grades 3 and 2 and four of grade 1; the ideal values and those for b = 10 were computed
/// by hand.
#[test]
fn discounts_of_2002() {
    let matrix = labelled(&[(&[4, 3, 4, 1, 1, 2, 3, 3, 4, 1], &[2, 2, 2])]);
    let dcg = ["3", "5", "6.89", "6.89", "6.89", "7.28", "7.99", "8.66", "9.61", "9.61"];
    assert_printed(&matrix, 0, "DCG(discount=jk)@1..10", &dcg);
    let ideal = [
        "3", "6", "7.8928", "8.8928", "9.7541", "10.5278", "10.8841", "11.2174", "11.5329",
        "11.8339",
    ];
    assert_printed(&matrix, 0, "IDCG(discount=jk)@1..10", &ideal);
    assert_printed(&matrix, 0, "nDCG(discount=jk)@[2,10]", &["0.833333", "0.811662"]);
    assert_printed(&matrix, 0, "DCG(discount=jk,base=10)@[3,10]", &["8", "16"]);
    assert_printed(&matrix, 0, "IDCG(discount=jk,base=10)@[9,10]", &["18", "19"]);
    assert_printed(&matrix, 0, "IDCG(discount=jk,base=8)@9", &["17.946395"]);
}

/// Three relevant documents at ranks 1, 2 and 4: recall 0.7 needs all three, because 2/3 is less.
#[test]
fn exact_levels_of_recall() {
    let matrix = labelled(&[(&[2, 2, 1, 2], &[])]);
    assert_printed(&matrix, 0, "IPrec(cut=exact)@[0.6,0.7,1]", &["1", "0.75", "0.75"]);
    assert_printed(&matrix, 0, "IPrec@[0.6,0.7,1]", &["1", "1", "0.75"]);
    assert_printed(&matrix, 0, "IPrec11(cut=exact)", &["0.90909091"]);
    assert_printed(&matrix, 0, "IPrec11", &["0.93181818"]);
    assert_printed(&matrix, 0, "IPrec11(cut=v10)", &["0.95454545"]);
}

/// Hits divided by the smaller of R and the number of documents in the first k ranks: 2 of 3 if 3
/// were retrieved and R is 5; 1 of 1; 0 if none was retrieved.
#[test]
fn capped_recall_of_short_rankings() {
    for (labels, unretrieved, printed) in [
        (&[2u8, 0, 2][..], &[2u8, 2, 2][..], ["1", "0.5", "0.666667"]),
        (&[1, 2], &[], ["0", "1", "1"]),
        (&[], &[2], ["0", "0", "0"]),
        (&[0, 1], &[], ["0", "0", "0"]),
    ] {
        let matrix = labelled(&[(labels, unretrieved)]);
        assert_printed(&matrix, 0, "R(norm=retrieved)@[1,2,10]", &printed);
    }
    let matrix = labelled(&[(&[2, 0, 2], &[2, 2, 2])]);
    assert_printed(&matrix, 0, "R(norm=min)@10", &["0.4"]);
}

/// One topic with every kind of label, as two trec_eval versions, ir_measures and cwl_eval answer
/// it.
#[test]
fn vector() {
    let matrix = sample("vector.qrels", &["vector.run"]);
    for (names, printed) in [
        ("NumRet", vec!["8"]),
        ("NumRel", vec!["4"]),
        ("NumRelRet", vec!["3"]),
        ("NumQ", vec!["1"]),
        ("AP", vec!["0.34375"]),
        ("Rprec", vec!["0.5"]),
        ("RR", vec!["0.5"]),
        ("IPrec@[0,0.1,0.2,0.3,0.4,0.5]", vec!["0.5"; 6]),
        ("IPrec@[0.6,0.7,0.8,0.9,1]", vec!["0.375", "0.375", "0", "0", "0"]),
        ("IPrec(cut=v10)@[0.6,0.7,0.8,0.9,1]", vec!["0.5", "0.375", "0.375", "0", "0"]),
        ("IPrec11", vec!["0.3409090909"]),
        ("IPrec11(cut=v10)", vec!["0.3863636364"]),
        ("P@[5,10]", vec!["0.4", "0.3"]),
        ("R@[5,10]", vec!["0.5", "0.75"]),
        ("DCG", vec!["2.0080"]),
        ("nDCG", vec!["0.3867090987"]),
        ("nDCG@5", vec!["0.3259555724"]),
        ("nDCG(gain={1:3,2:9})", vec!["0.5785"]),
        ("AP@5", vec!["0.25"]),
        ("R(norm=min)@5", vec!["0.5"]),
        ("Success@[1,5,10]", vec!["0", "1", "1"]),
        ("SetP", vec!["0.375"]),
        ("SetR", vec!["0.75"]),
        ("SetF", vec!["0.5"]),
        ("ERR@10", vec!["0.1123962"]),
        ("ERR(gmax=3)@10", vec!["0.2155762"]),
        ("ERR(gmax=auto)@10", vec!["0.2155762"]),
        ("nDCG(gain=exp2)@[5,10]", vec!["0.236522", "0.268635"]),
        ("Judged@[5,10]", vec!["0.8", "0.75"]),
        ("RBP", vec!["0.30434304"]),
        ("AP(rel=2)", vec!["0.25"]),
        ("NumRel(rel=2)", vec!["2"]),
        ("P(rel=2)@5", vec!["0.2"]),
        ("NumNonrelRet", vec!["2"]),
        ("Bpref", vec!["0.25"]),
        ("Bpref(rel=2)", vec!["0.25"]),
        ("GMBpref", vec!["0.25"]),
        ("InfAP", vec!["0.35937625"]),
        ("Rprec(mult=0.2)", vec!["0"]),
        ("Rprec(mult=0.4)", vec!["0.5"]),
        ("Rprec(mult=0.6)", vec!["0.3333333333"]),
        ("Rprec(mult=2)", vec!["0.375"]),
        ("Utility", vec!["-2"]),
        ("BinG", vec!["0.3717842352"]),
        ("G", vec!["0.2233815429"]),
        ("G(gain={0:1,1:2})", vec!["0.3018"]),
        ("IDCG", vec!["5.1925"]),
        ("nDCGrel", vec!["0.3488639202"]),
        ("RnDCG", vec!["0.2521866455"]),
        ("SetP(norm=min)", vec!["0.75"]),
        ("SetAP", vec!["0.28125"]),
        ("YAAP", vec!["-0.4229"]),
        ("RBP(p=0.9,scale=topic)", vec!["0.10024323"]),
        ("RBP(scale=topic)", vec!["0.1548"]),
        ("RBPresid", vec!["0.63612621"]),
        ("Unjudged@[5,10,20]", vec!["0.4", "0.3", "0.15"]),
        ("Compat", vec!["0.4002711400"]),
        ("Compat(normalize=false)", vec!["0.3357531566"]),
        ("Accuracy", vec!["0.4666666667"]),
        ("Accuracy@5", vec!["0.5"]),
        ("RBP(norm=1000)", vec!["0.30434304"]),
        ("INST(gain=grade,gmax=3)", vec!["0.1566082501"]),
        ("INSQ(gain=grade,gmax=3)", vec!["0.1421301117"]),
        ("BPM(gain=grade,gmax=3)@5", vec!["0.25"]),
        ("SDCG(gain=grade,gmax=3)@5", vec!["0.1913469598"]),
        ("NERR8(gain=grade,gmax=3)@5", vec!["0.2692307692"]),
        ("NERR9(gain=grade,gmax=3)@5", vec!["0.2076677316"]),
        ("NERR10(gain=grade,gmax=3)", vec!["0.2016897779"]),
        ("NERR11(gain=grade,gmax=3)", vec!["0.1857501065"]),
        // The vector gives the parts of these: P@5 = .4, R@5 = .5; ln GMAP; Σ gains.
        ("F@5", vec!["0.4444444444"]),
        ("Hits@5", vec!["2"]),
        ("CG@5", vec!["3"]),
        ("GMAP", vec!["0.34375"]),
    ] {
        // The vector's own RBP has p^1000 truncated, which is beyond the digits.
        assert_printed(&matrix, 0, names, &printed);
    }
    let judged = |names: &str| {
        let mut evaluator =
            Evaluator::from_measures(parse_list(names, Defaults::default()).unwrap());
        evaluator = evaluator.with_view(View { judged_only: true, depth: None });
        evaluator.evaluate(&matrix).unwrap().runs[0].average(0).unwrap()
    };
    for (name, value) in
        [("NumRet", 5.0), ("AP", 0.4417), ("P@5", 0.6), ("nDCG", 0.4138), ("Bpref", 0.25)]
    {
        assert!((judged(name) - value).abs() <= 0.5e-4, "{name} of judged documents only");
    }
}

/// Raw f64 of pytrec_eval-terrier on a set of hard cases: equal bit for bit.
#[test]
fn pytrec_eval() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let golden = std::fs::read_to_string(fixtures.join("golden.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let join = Join { score: ScoreType::F32, ..Join::default() };
    let matrix = join.files(fixtures.join("golden.qrels"), [fixtures.join("golden.run")]).unwrap();
    let mut compared = 0;
    for case in golden["cases"].as_array().unwrap() {
        let defaults = Defaults { rel: case["rel"].as_f64() };
        for (name, expected) in case["measures"].as_object().unwrap() {
            let view =
                View { judged_only: case["judged_only"].as_bool().unwrap(), ..View::default() };
            let evaluator =
                Evaluator::from_measures(parse_list(name, defaults).unwrap()).with_view(view);
            let evaluator = evaluator.with_per_query(true).with_queries(QuerySet::Common);
            let scores = evaluator.evaluate(&matrix).unwrap();
            let found = scores.runs[0].per_query.as_ref().unwrap();
            let expected = expected.as_object().unwrap();
            assert_eq!(found.queries.len(), expected.len());
            for (query, &value) in found.queries.iter().zip(&found.values[0]) {
                let expected: f64 = expected[std::str::from_utf8(query).unwrap()]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap();
                // pytrec_eval answers NaN where -J leaves no result, and gives the logarithm of the
                // geometric means' terms.
                let expected = if expected.is_nan() { 0.0 } else { expected };
                let geometric = scores.measures[0].definition().average == Average::Geometric;
                let value = if geometric { value.ln() } else { value };
                assert_eq!(
                    value.to_bits(),
                    expected.to_bits(),
                    "{name} of {query:?} under {defaults:?}: {value} {expected}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 7520);
}

/// All digits of trec_eval 10, built with the locals of its `rbp` set to zero:
/// `-q -m rbp -m rbp_resid`, and the same with `.p=0.95`.
#[test]
fn rank_biased_precision_of_trec_eval_10() {
    let names = "trec:rbp,trec:rbp_resid,rbp.p=0.95,rbp_resid.p=0.95";
    let few = Qrels::new([("1", "a", 3.0), ("1", "b", 2.0)]).unwrap();
    let run = [("1", "a", 3.0), ("1", "b", 2.0), ("1", "c", 1.0)];
    let matrix = Join::default().rankings(&few, [("run".to_owned(), run)]).unwrap();
    assert_eq!(averages(&matrix, 0, names)[..2], [0.15999999999999998, 0.81]);
    let judged = (0..100).step_by(3).map(|n| ("1", format!("d{n}"), f64::from(n % 4)));
    let run = (0..100).map(|n| ("1", format!("d{n}"), f64::from(100 - n)));
    let qrels = Qrels::new(judged).unwrap();
    let matrix = Join::default().rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    let expected =
        [0.16895988870143028, 0.6310042489790032, 0.16850827229619972, 0.6513035153799652];
    assert_eq!(averages(&matrix, 0, names), expected);
}
