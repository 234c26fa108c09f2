//! What libraries gave for the queries of the conformance suite, against laneval as these
//! libraries.
//!
//! Each row of `conformance/v1/libraries.json` is evaluated by the name and the options of a
//! library. Where a library computes otherwise, the row here says for which queries, and the test
//! holds that the values differ there.

use std::path::Path;

use laneval::measure::{Defaults, FOREIGN, Profile, Tool, parse_level};
use laneval::{Evaluator, Join, Measure, Qrels, QuerySet, ScoreType, TieBreak, TiedValue, View};
use serde_json::Value;

/// How near a value has to be to that of the library.
#[derive(Clone, Copy)]
enum Near {
    /// The same bits.
    Bits,
    /// Sums in any order.
    Sum,
    /// Computed in f32.
    Single,
    /// Rounded to so many decimals.
    Digits(i32),
    /// ragas divides by hits + 1e-10, at least one hit.
    Added,
}
use Near::{Added, Bits, Digits, Single, Sum};

impl Near {
    fn holds(self, ours: f64, theirs: f64) -> bool {
        let apart = (ours - theirs).abs();
        match self {
            Bits => ours.to_bits() == theirs.to_bits(),
            Sum => apart <= 1e-12 * theirs.abs(),
            Single => apart <= 2e-6 * theirs.abs(),
            Digits(digits) => apart <= 0.5 * 10f64.powi(-digits) * (1.0 + 1e-9),
            Added => apart <= 1.001e-10 * theirs.abs(),
        }
    }
}

/// A row of the file: its library and name, the library and name here, how near it has to be,
/// options that differ from the library's own, and the queries of other values.
struct Row<'a>(
    &'static str,
    &'static str,
    &'static str,
    &'a str,
    Near,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const DEPTH_3: &[(&str, &str)] = &[("depth", "3")];
const JUDGED_ONLY: &[(&str, &str)] = &[("judged-only", "")];
/// ir_measures orders equal scores so for RR@k alone.
const ASCENDING: &[(&str, &str)] = &[("ties", "docno-asc")];
/// BEIR's own functions sort stably, unlike pytrec_eval.
const INPUT: &[(&str, &str)] = &[("ties", "input")];
/// CatBoost's AUC counts ties by half, unlike its other metrics.
const AVERAGE: &[(&str, &str)] = &[("ties", "average")];
/// Cornac was given a list; with all items ranked it is the same as for judged documents.
const LIST: &[(&str, &str)] = &[("relevant-from", "retrieved")];
const LIST_WORST: &[(&str, &str)] = &[("relevant-from", "retrieved"), ("ties", "worst")];
const NEGATIVE: &[&str] = &["negative"];
const ONE_KIND: &[&str] = &["nothing", "first"];

#[rustfmt::skip] // a row each
const ROWS: &[Row<'static>] = &[
    Row("pytrec_eval", "nDCG@3", "trec9", "ndcg_cut.3", Bits, &[], &[]),
    Row("pytrec_eval", "AP@3", "trec9", "map_cut.3", Bits, &[], &[]),
    Row("pytrec_eval", "P@3", "trec9", "P.3", Bits, &[], &[]),
    Row("pytrec_eval", "R@3", "trec9", "recall.3", Bits, &[], &[]),
    Row("pytrec_eval", "R_cap@3", "trec9", "relative_P.3", Bits, &[], &[]),
    Row("pytrec_eval", "Success@3", "trec9", "success.3", Bits, &[], &[]),
    Row("pytrec_eval", "RR", "trec9", "recip_rank", Bits, &[], &[]),
    Row("pytrec_eval", "Bpref", "trec9", "bpref", Bits, &[], &[]),
    Row("pytrec_eval", "AP", "trec9", "map", Bits, &[], &[]),
    Row("pytrec_eval", "nDCG", "trec9", "ndcg", Bits, &[], &[]),
    Row("trec_eval 9", "nDCG@3", "trec9", "ndcg_cut.3", Digits(4), &[], &[]),
    Row("trec_eval 9", "-M 3 nDCG", "trec9", "ndcg", Digits(4), DEPTH_3, &[]),
    Row("trec_eval 10", "nDCG@3", "trec10", "ndcg_cut.3", Digits(4), &[], &[]),
    Row("trec_eval 10", "-M 3 nDCG", "trec", "ndcg", Digits(4), DEPTH_3, &[]),
    Row("ir_measures", "nDCG@3", "irm", "nDCG@3", Bits, &[], &[]),
    Row("ir_measures", "RR@3", "irm", "RR@3", Bits, ASCENDING, &[]),
    Row("ir_measures", "P@3", "irm", "P@3", Bits, &[], &[]),
    Row("ir_measures", "nDCG(exp)@3", "irm", "nDCG(dcg='exp-log2')@3", Digits(5), &[], &[]),
    Row("ir_measures", "ERR@3", "irm", "ERR@3", Digits(5), &[], &[]),
    Row("ir_measures", "nDCG(judged_only)@3", "irm", "nDCG@3", Bits, JUDGED_ONLY, &[]),
    Row("ranx", "nDCG@3", "ranx", "ndcg@3", Sum, &[], &[]),
    Row("ranx", "nDCG(exp)@3", "ranx", "ndcg_burges@3", Sum, &[], &[]),
    Row("ranx", "AP@3", "ranx", "map@3", Bits, &[], &[]),
    Row("ranx", "RR@3", "ranx", "mrr@3", Bits, &[], &[]),
    Row("ranx", "P@3", "ranx", "precision@3", Bits, &[], &[]),
    Row("ranx", "R@3", "ranx", "recall@3", Bits, &[], &[]),
    Row("ranx", "F@3", "ranx", "f1@3", Sum, &[], &[]),
    Row("ranx", "Bpref", "ranx", "bpref", Bits, &[], &["one", "first"]),
    Row("ranx", "nDCG-l2@3", "ranx", "ndcg@3-l2", Sum, &[], &[]),
    Row("sklearn (retrieved)", "ndcg_score k=3", "sklearn", "ndcg_score@3", Sum, &[], &[]),
    Row("sklearn (retrieved)", "average_precision_score",
        "sklearn", "average_precision_score", Sum, &[], &[]),
    Row("sklearn (retrieved)", "label_ranking_average_precision_score",
        "sklearn", "label_ranking_average_precision_score", Sum, &[], &[]),
    Row("sklearn (retrieved)", "roc_auc_score", "sklearn", "roc_auc_score", Sum, &[], ONE_KIND),
    Row("LightGBM 4.7.0", "ndcg@3", "lightgbm", "ndcg@3", Sum, &[], &[]),
    Row("LightGBM 4.7.0", "map@3", "lightgbm", "map@3", Sum, &[], &[]),
    Row("XGBoost 3.2.0", "ndcg@3", "xgboost", "ndcg@3", Sum, &[], &[]),
    Row("XGBoost 3.2.0", "ndcg@3-", "xgboost", "ndcg@3-", Sum, &[], &[]),
    Row("XGBoost 3.2.0", "map@3", "xgboost", "map@3", Sum, &[], &[]),
    Row("XGBoost 3.2.0", "pre@3", "xgboost", "pre@3", Sum, &[], &[]),
    Row("XGBoost 1.7.6", "ndcg@3", "xgboost1", "ndcg@3", Sum, &[], &[]),
    Row("XGBoost 1.7.6", "map@3", "xgboost1", "map@3", Sum, &[], &[]),
    Row("XGBoost 1.7.6", "pre@3", "xgboost1", "pre@3", Sum, &[], &[]),
    Row("CatBoost 1.2.10", "NDCG", "catboost", "NDCG@3", Sum, &[], NEGATIVE),
    Row("CatBoost 1.2.10", "NDCG Exp", "catboost", "NDCG(type=Exp)@3", Sum, &[], NEGATIVE),
    Row("CatBoost 1.2.10", "NDCG Position",
        "catboost", "NDCG(denominator=Position)@3", Sum, &[], NEGATIVE),
    Row("CatBoost 1.2.10", "MAP", "catboost", "MAP@3", Sum, &[], &[]),
    Row("CatBoost 1.2.10", "MRR", "catboost", "MRR@3", Sum, &[], &[]),
    Row("CatBoost 1.2.10", "PrecisionAt", "catboost", "PrecisionAt@3", Sum, &[], &[]),
    Row("CatBoost 1.2.10", "RecallAt", "catboost", "RecallAt@3", Sum, &[], &[]),
    Row("CatBoost 1.2.10", "QueryAUC", "catboost", "QueryAUC", Sum, AVERAGE, &["first"]),
    Row("RecTools 0.19.0", "NDCG", "rectools", "NDCG@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "NDCG divide_by_achievable",
        "rectools", "NDCG(divide_by_achievable=True)@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "MAP", "rectools", "MAP@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "MAP divide_by_k", "rectools", "MAP(divide_by_k=True)@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "MRR", "rectools", "MRR@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "Precision", "rectools", "Precision@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "Recall", "rectools", "Recall@3", Sum, &[], &[]),
    Row("RecTools 0.19.0", "HitRate", "rectools", "HitRate@3", Sum, &[], &[]),
    Row("recommenders 1.2.1", "ndcg_at_k", "recommenders", "ndcg_at_k@3", Sum, &[], &[]),
    Row("recommenders \
         1.2.1", "ndcg_at_k raw \
                  log2", "recommenders", "ndcg_at_k(score_type=raw)@3", Sum, &[], &[]),
    Row("recommenders \
         1.2.1", "ndcg_at_k exp", "recommenders", "ndcg_at_k(score_type=exp)@3", Sum, &[], &[]),
    Row("recommenders 1.2.1", "map", "recommenders", "map@3", Sum, &[], &[]),
    Row("recommenders 1.2.1", "map_at_k", "recommenders", "map_at_k@3", Sum, &[], &[]),
    Row("recommenders 1.2.1", "precision_at_k", "recommenders", "precision_at_k@3", Sum, &[], &[]),
    Row("recommenders 1.2.1", "recall_at_k", "recommenders", "recall_at_k@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "NDCG", "replay", "NDCG@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "MAP", "replay", "MAP@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "MRR", "replay", "MRR@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "Precision", "replay", "Precision@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "Recall", "replay", "Recall@3", Sum, &[], &[]),
    Row("RePlay 0.22 (function)", "RocAuc", "replay", "RocAuc@3", Sum, &[], &[]),
    Row("Cornac (file)", "NDCG", "cornac", "NDCG@3", Sum, &[], &[]),
    Row("Cornac (file)", "MRR", "cornac", "MRR@3", Sum, &[], &[]),
    Row("Cornac (file)", "Precision", "cornac", "Precision@3", Sum, &[], &[]),
    Row("Cornac (file)", "Recall", "cornac", "Recall@3", Sum, &[], &[]),
    Row("Cornac (file)", "FMeasure", "cornac", "FMeasure@3", Sum, &[], &[]),
    Row("Cornac (file)", "MAP", "cornac", "MAP", Sum, LIST, &[]),
    Row("Cornac (file)", "AUC", "cornac", "AUC", Sum, LIST_WORST, &["nothing", "missing", "first"]),
    Row("Cornac (file)", "NCRR", "cornac", "NCRR@3", Sum, &[], &[]),
    Row("RecBole (method)", "Hit", "recbole", "Hit@3", Sum, &[], &[]),
    Row("RecBole (method)", "MRR", "recbole", "MRR@3", Sum, &[], &[]),
    Row("RecBole (method)", "MAP", "recbole", "MAP@3", Sum, &[], &[]),
    Row("RecBole (method)", "Recall", "recbole", "Recall@3", Sum, &[], &[]),
    Row("RecBole (method)", "NDCG", "recbole", "NDCG@3", Sum, &[], &[]),
    Row("RecBole (method)", "Precision", "recbole", "Precision@3", Sum, &[], &[]),
    Row("BEIR 2.2.0", "MRR", "beir", "MRR@3", Digits(5), INPUT, &[]),
    Row("BEIR 2.2.0", "R_cap", "beir", "R_cap@3", Digits(5), INPUT, &[]),
    Row("BEIR 2.2.0", "Accuracy", "beir", "Accuracy@3", Digits(5), INPUT, &[]),
    Row("MTEB (function)", "MRR", "mteb", "mrr_at_3", Sum, &[], &[]),
    Row("sentence-transformers (method)", "ndcg@k", "st", "ndcg@3", Sum, &[], &[]),
    Row("sentence-transformers (method)", "map@k", "st", "map@3", Sum, &[], &[]),
    Row("sentence-transformers (method)", "mrr@k", "st", "mrr@3", Sum, &[], &[]),
    Row("sentence-transformers (method)", "precision@k", "st", "precision@3", Sum, &[], &[]),
    Row("sentence-transformers (method)", "recall@k", "st", "recall@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "NDCG", "llamaindex", "ndcg@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "AveragePrecision", "llamaindex", "ap@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "MRR", "llamaindex", "mrr@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 \
         (class)", "MRR granular", "llamaindex", "mrr(use_granular_mrr=True)@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "Precision", "llamaindex", "precision@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "Recall", "llamaindex", "recall@3", Sum, &[], &[]),
    Row("llama-index 0.14.25 (class)", "HitRate granular",
        "llamaindex", "hit_rate(use_granular_hit_rate=True)@3", Sum, &[], &[]),
    Row("mlflow 3.18 (function)", "ndcg_at_k", "mlflow", "ndcg_at_k@3", Sum, &[], &[]),
    Row("mlflow 3.18 (function)", "precision_at_k", "mlflow", "precision_at_k@3", Sum, &[], &[]),
    Row("mlflow 3.18 (function)", "recall_at_k", "mlflow", "recall_at_k@3", Sum, &[], &[]),
    Row("TruLens 2 (method)", "ndcg_at_k", "trulens", "ndcg_at_k@3", Sum, &[], &[]),
    Row("TruLens 2 (method)", "precision_at_k", "trulens", "precision_at_k@3", Sum, &[], &[]),
    Row("TruLens 2 (method)", "recall_at_k", "trulens", "recall_at_k@3", Sum, &[], &[]),
    Row("ragas 0.4 (method)", "context_precision", "ragas", "context_precision@3", Added, &[], &[]),
    Row("haystack 3.4 (method)", "MAP", "haystack", "DocumentMAPEvaluator@3", Sum, &[], &[]),
    Row("haystack 3.4 (method)", "MRR", "haystack", "DocumentMRREvaluator@3", Sum, &[], &[]),
    Row("haystack 3.4 (method)", "NDCG", "haystack", "DocumentNDCGEvaluator@3", Sum, &[], &[]),
    Row("RankLib e43f605", "NDCG@3", "ranklib", "NDCG@3", Sum, &[], &[]),
    Row("RankLib e43f605", "MAP", "ranklib", "MAP", Sum, &[], &[]),
    Row("RankLib e43f605", "ERR@3", "ranklib", "ERR@3", Sum, &[], &[]),
    Row("RankLib e43f605", "RR@3", "ranklib", "RR@3", Single, &[], &[]),
    Row("RankLib e43f605", "P@3", "ranklib", "P@3", Sum, &[], &[]),
    Row("RankLib e43f605", "DCG@3", "ranklib", "DCG@3", Sum, &[], &[]),
    Row("OpenSearch search-relevance \
         d8be5d1", "P@3", "opensearch", "Precision@3", Digits(2), &[], &[]),
    Row("OpenSearch search-relevance d8be5d1", "MAP@3", "opensearch", "MAP@3", Digits(2), &[], &[]),
    Row("OpenSearch search-relevance \
         d8be5d1", "NDCG@3", "opensearch", "NDCG@3", Digits(2), &[], NEGATIVE),
    Row("Quepid f80322f3 (scorer, 5 \
         decimals)", "ndcg@10", "quepid", "ndcg@3", Digits(5), &[], NEGATIVE),
    Row("Quepid f80322f3 (scorer, 5 \
         decimals)", "ndcg_cut@10", "quepid", "ndcg_cut@3", Digits(5), &[], NEGATIVE),
    Row("Quepid f80322f3 (scorer, 5 \
         decimals)", "ap@10", "quepid", "ap(no_relevant=skip)@3", Digits(5), &[], &[]),
    Row("Quepid f80322f3 (scorer, 5 decimals)", "rr@10", "quepid", "rr@3", Digits(5), &[], &[]),
    Row("Quepid f80322f3 (scorer, 5 \
         decimals)", "err@10", "quepid", "err@3", Digits(5), &[], NEGATIVE),
    Row("Quepid f80322f3 (scorer, 5 decimals)", "cg@10",
        "quepid", "cg@3", Digits(5), &[], &["rich", "short", "few", "one", "negative"]),
    Row("Quepid f80322f3 (scorer, 5 decimals)", "dcg@10",
        "quepid", "dcg@3", Digits(5), &[], &["rich", "short", "few", "one", "negative"]),
];

/// The rows of the file that no measure here computes.
const NO_MEASURE: &[(&str, &str)] = &[
    ("sklearn (retrieved)", "ndcg_score ignore_ties k=3"), // an unstable sort
    ("sklearn (union)", "ndcg_score k=3"), // documents that were not retrieved, tied last
    ("XGBoost 3.2.0", "auc"),              // pairs of equal grades count too
    ("XGBoost 1.7.6", "auc"),
    ("CatBoost 1.2.10", "ERR"), // another chance to stop
    ("TruLens 2 (method)", "precision_at_k scores"), // all documents of the score at rank k
];

fn json(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/v1").join(file);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A query with its ranking, in the order of the input.
struct Query {
    judged: Vec<(String, f64)>,
    retrieved: Vec<(String, f64)>,
}

fn query(case: &Value) -> Query {
    let pairs = |rows: &Value| {
        let number = |value: &Value| {
            value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
        };
        let pair = |row: &Value| (row[0].as_str().unwrap().to_owned(), number(&row[1]));
        rows.as_array().unwrap().iter().map(pair).collect()
    };
    Query { judged: pairs(&case["qrels"]), retrieved: pairs(&case["run"]) }
}

impl Row<'_> {
    /// Returns the word of an option, which may differ from that of the library.
    fn option(&self, name: &str) -> Option<&'static str> {
        let own = self.5.iter().find(|(option, _)| *option == name).map(|&(_, word)| word);
        own.or_else(|| Profile::from_prefix(self.2).unwrap().option(name))
    }

    /// Returns the value of a query; `None` if it has none.
    fn value(&self, query: &Query) -> laneval::Result<Option<f64>> {
        let measures = Profile::from_prefix(self.2)?.measures(self.3, Defaults::default())?;
        assert_eq!(measures.len(), 1, "{}:{}", self.2, self.3);
        let ties = self.option("ties").unwrap_or("docno-desc");
        let join = Join {
            ties: ties.parse::<TieBreak>().unwrap_or_default(),
            score: self.option("score-type").map_or(ScoreType::F64, |word| word.parse().unwrap()),
            keep_ties: ties.parse::<TieBreak>().is_err()
                || measures.iter().any(Measure::needs_ties),
            depth: self.option("depth").map(|depth| depth.parse().unwrap()),
            ..Join::default()
        };
        // Where every listed document is relevant, the library was given the relevant ones.
        let listed = Profile::from_prefix(self.2)?.relevant == "0";
        let grade = |grade: f64| if listed && grade < 1.0 { -1.0 } else { grade };
        let judged = query
            .judged
            .iter()
            .map(|(document, raw_grade)| ("q", document.as_str(), grade(*raw_grade)));
        // Another query, so that a run lacks the first and has a row.
        let qrels = Qrels::new(judged.chain([("other", "a", 1.0)])).unwrap();
        let rows = query.retrieved.iter().map(|(document, score)| ("q", document.as_str(), *score));
        let run = rows.chain([("other", "a", 1.0)]);
        let matrix = join.rankings(&qrels, [("run".to_owned(), run.collect::<Vec<_>>())]).unwrap();
        let tied = TiedValue::ALL.iter().find(|(name, _)| *name == ties);
        // A function can be given an empty ranking, which a run cannot have: it is as a query that
        // the run lacks.
        let queries = if query.retrieved.is_empty() {
            QuerySet::Judged
        } else {
            self.option("queries").map_or(QuerySet::Judged, |word| word.parse().unwrap())
        };
        let view = View {
            depth: join.depth.map(u32::from),
            judged_only: self.option("judged-only").is_some(),
        };
        let evaluator = Evaluator::from_measures(measures)
            .with_tied_value(tied.map_or(TiedValue::Ranked, |&(_, tied)| tied))
            .with_relevant_from(self.option("relevant-from").unwrap_or("judged").parse().unwrap())
            .with_queries(queries)
            .with_view(view)
            .with_per_query(true);
        let scores = evaluator.evaluate(&matrix)?;
        let mut values = scores.rows().filter(|row| row.query == Some(b"q".as_slice()));
        let value = values.next().map(|row| row.value);
        assert!(values.next().is_none());
        Ok(value)
    }
}

/// The libraries that take no grades but sets of documents, or the verdicts of a model, and one
/// that was only read.
const WITHOUT_GRADES: [&str; 7] =
    ["st", "mlflow", "ragas", "llamaindex", "llamaindex0", "kaggle", "elastic"];

#[test]
fn documents_are_relevant_from_the_grade_on_that_libraries_count() {
    let file = json("libraries.json");
    let mut ran = Vec::new();
    for given in file["relevance"].as_array().unwrap() {
        let profile = Profile::from_prefix(given["library"].as_str().unwrap()).unwrap();
        let level = parse_level(profile.relevant).unwrap();
        let measure = &profile
            .usual_measures(Defaults::default())
            .into_iter()
            .find(|m| m.value("rel").is_some());
        assert_eq!(measure.is_some(), level != 1.0, "{}", profile.prefix);
        for (grade, relevant) in given["relevant"].as_object().unwrap() {
            let grade: f64 = grade.parse().unwrap();
            // What a library refuses says nothing, and no grade below 0 is relevant here.
            let Some(relevant) = relevant.as_bool().filter(|_| grade >= 0.0) else { continue };
            assert_eq!(grade >= level, relevant, "{}: {grade}", profile.prefix);
        }
        ran.push(profile.prefix);
    }
    // The newest version of trec_eval has two names.
    let others: Vec<&str> = Profile::ALL
        .iter()
        .map(|profile| profile.prefix)
        .filter(|prefix| !ran.contains(prefix))
        .collect();
    assert!(
        others.iter().all(|library| *library == "trec" || WITHOUT_GRADES.contains(library)),
        "{others:?}"
    );
}

#[test]
fn libraries_give_what_they_gave() {
    let cases = json("cases.json");
    let file = json("libraries.json");
    let (mut compared, mut wrong) = (0, Vec::new());
    for given in file["libraries"].as_array().unwrap() {
        let named = (given["library"].as_str().unwrap(), given["name"].as_str().unwrap());
        let row = ROWS.iter().find(|row| (row.0, row.1) == named);
        assert_eq!(row.is_none(), NO_MEASURE.contains(&named), "{named:?}");
        let Some(row) = row else { continue };
        for (id, theirs) in given["values"].as_object().unwrap() {
            if theirs.get("refused").is_some() {
                continue;
            }
            let case =
                cases["cases"].as_array().unwrap().iter().find(|case| case["id"] == **id).unwrap();
            let theirs: Option<f64> = theirs.as_str().map(|text| text.parse().unwrap());
            let ours = row.value(&query(case)).map_err(|error| error.to_string());
            let same = match (&ours, theirs) {
                (Ok(Some(ours)), Some(theirs)) => row.4.holds(*ours, theirs),
                (Ok(ours), theirs) => *ours == theirs,
                (Err(_), _) => row.6.contains(&id.as_str()),
            };
            compared += 1;
            if same == row.6.contains(&id.as_str()) {
                wrong
                    .push(format!("{named:?}, {}:{}, {id}: {ours:?} and {theirs:?}", row.2, row.3));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(ROWS.len() + NO_MEASURE.len(), 133);
    assert!(compared > 1_000, "{compared}");
}

/// No library has options under which one of its names has no value.
#[test]
fn every_name_has_a_value_under_the_options_of_its_library() {
    let cases = json("cases.json");
    let ties = cases["cases"].as_array().unwrap().iter().find(|case| case["id"] == "ties").unwrap();
    let mut count = 0;
    for profile in Profile::ALL
        .iter()
        .filter(|profile| profile.tools.iter().any(|tool| matches!(tool, Tool::Library(_))))
    {
        for name in FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool)) {
            // The highest grade of this query is 3.
            let example = name.example().replace("gmax=1", "gmax=3");
            let row = Row("", "", profile.prefix, &example, Sum, &[], &[]);
            let value = row
                .value(&query(ties))
                .unwrap_or_else(|error| panic!("{}: {error}", profile.prefix));
            assert!(
                value.is_some_and(|value| value > 0.0),
                "{}:{example}: {value:?}",
                profile.prefix
            );
            count += 1;
        }
    }
    assert!(count > 140, "{count}");
}
