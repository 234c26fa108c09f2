//! Files of platforms: records with lists, and large objects with judgments or results in them.
//!
//! `examples/data/rag-*.jsonl` were written by Ragas 0.4.3, `llama_index.jsonl` by llama-index-core
//! 0.14.25 (the reciprocal ranks that it computed are in its records), and
//! `llama_index_dataset.json` by llama-index-finetuning. The others have the shapes of MTEB 2.26,
//! of the responses that Elasticsearch and OpenSearch document, and of the templates by which
//! Quepid writes its exports.

use std::fs;
use std::path::Path;

use super::folder::{Folder, assert_says};

/// Returns a folder with the files of platforms, and judgments and a run as TREC that mean the same
/// as some of them.
fn platforms() -> Folder {
    let folder = Folder::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for from in ["tests/fixtures/platforms", "examples/data"] {
        for file in fs::read_dir(root.join(from)).unwrap().map(|file| file.unwrap().path()) {
            if file.is_file() {
                folder.put(file.file_name().unwrap().to_str().unwrap(), fs::read(&file).unwrap());
            }
        }
    }
    folder.put("judged.trec", "q1 0 d1 3.000\nq1 0 d2 0.0\n");
    folder.put("ranked.trec", "q1 Q0 d9 1 2 t\nq1 Q0 d1 2 1 t\n");
    folder
}

/// Returns the values of all queries.
fn values(folder: &Folder, qrels: &str, run: &str) -> String {
    let args =
        format!("eval {qrels} r={run} -m nDCG@3,RR,R@3,P@1 --per-query --format csv --quiet");
    folder.out(&args)
}

/// What `convert` writes.
fn converted(folder: &Folder, args: &str) -> String {
    folder.out(&format!("convert {args} -o converted.trec --quiet"));
    String::from_utf8(folder.get("converted.trec")).unwrap()
}

#[test]
fn the_records_of_ragas_are_judgments_and_run() {
    let folder = platforms();
    let means = |file: &str| {
        folder.out(&format!("eval {file} r={file} -m nDCG@3,RR,R@3 --format csv --quiet"))
    };
    // By hand: the relevant chunks are at the ranks 2, 2 and 4, none, 2 and 4, 3; and at 1, 1 and
    // 2, 1, 1 and 3, 2.
    assert_says(&means("rag-dense.jsonl"), &["RR,mean,0.36666666", "R@3,mean,0.6\n"]);
    assert_says(&means("rag-hybrid.jsonl"), &["RR,mean,0.9\n", "R@3,mean,1\n"]);
    folder.put(
        "two.jsonl",
        "{\"query\": \"q1\", \"retrieved_ids\": [\"b\", \"a\"], \"expected_ids\": \
         [\"a\", \"c\"]}\n",
    );
    let ranks: Vec<String> = converted(&folder, "two.jsonl")
        .lines()
        .map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(ranks, ["q1 Q0 b 1", "q1 Q0 a 2"]);
    assert_eq!(converted(&folder, "--qrels two.jsonl"), "q1 0 a 1\nq1 0 c 1\n");
    for command in [
        "compare rag-dense.jsonl rag-dense.jsonl rag-hybrid.jsonl -m nDCG@3",
        "info rag-dense.jsonl",
    ] {
        assert_eq!(folder.run(command).code, 0, "{command}");
    }
    assert_says(&folder.out("show two.jsonl two.jsonl --query q1"), &["1 of 2 relevant"]);
}

#[test]
fn the_ranks_of_llama_index_have_the_values_that_it_computed() {
    let folder = platforms();
    let values = folder
        .out("eval llama_index.jsonl llama_index.jsonl -m RR --per-query --format csv --quiet");
    let found: Vec<f64> = values
        .lines()
        .filter(|line| line.contains(",RR,value,"))
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let text = String::from_utf8(folder.get("llama_index.jsonl")).unwrap();
    let score = |line: &str| -> f64 {
        let (_, rest) = line.split_once("\"score\":").unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    // The values of queries are in their bytewise order, and a record begins with its query.
    let mut records: Vec<&str> = text.lines().collect();
    records.sort_unstable();
    let expected: Vec<f64> = records.into_iter().map(score).collect();
    assert_eq!((found.len(), found), (3, expected));
}

#[test]
fn files_of_platforms_mean_what_trec_means() {
    let folder = platforms();
    let expected = values(&folder, "judged.trec", "ranked.trec");
    for run in
        ["rank_eval_response.json", "opensearch_evaluation_result.jsonl", "quepid_snapshot.csv"]
    {
        assert_eq!(values(&folder, "judged.trec", run), expected, "{run}");
    }
    for qrels in ["opensearch_judgments.json", "quepid.json", "quepid.csv"] {
        assert_eq!(values(&folder, qrels, "ranked.trec"), expected, "{qrels}");
    }
    folder.put("binary.trec", "q1 0 d1 1\nq1 0 d2 0\n");
    let binary = values(&folder, "binary.trec", "ranked.trec");
    assert_eq!(values(&folder, "rank_eval_request.json", "ranked.trec"), binary);
    assert_eq!(
        converted(&folder, "--qrels opensearch_judgments.json"),
        "q1 0 d1 3.000\nq1 0 d2 0.0\n"
    );
    let dataset = "q1 0 a 1\nq2 0 b 1\nq2 0 c 1\n";
    folder.put("dataset.trec", dataset);
    folder.put("of.run", "q1 Q0 c 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 c 1 1 t\n");
    assert_eq!(
        values(&folder, "llama_index_dataset.json", "of.run"),
        values(&folder, "dataset.trec", "of.run")
    );
}

#[test]
fn a_subset_of_predictions_is_named() {
    let folder = platforms();
    folder.put("q.trec", "q1 0 d1 1\nq2 0 d1 1\n");
    folder.put("en.trec", "q1 Q0 d2 1 0.5 t\nq1 Q0 d1 2 0.25 t\nq2 Q0 d1 1 1 t\n");
    folder.put("de.trec", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.25 t\n");
    for subset in ["en", "de"] {
        let found =
            values(&folder, "q.trec", &format!("mteb_predictions.json --subset {subset}/test"));
        assert_eq!(found, values(&folder, "q.trec", &format!("{subset}.trec")));
    }
    let run = "mteb_predictions.json";
    for command in
        ["eval q.trec", "show --query q1 q.trec", "build -o x.lmx q.trec", "convert -o x.trec"]
    {
        let error = folder.error(&format!("{command} {run}"));
        assert_eq!(
            error,
            "error: mteb_predictions.json: has the subsets de/test and en/test: say which with \
             --subset\n",
            "{command}"
        );
        assert_eq!(folder.run(&format!("{command} {run} --subset en/test")).code, 0, "{command}");
    }
    assert_eq!(folder.run(&format!("compare q.trec a={run} en.trec --subset de/test")).code, 0);
    assert_eq!(
        folder.error(&format!("eval q.trec {run} --subset fr/test")),
        "error: mteb_predictions.json: has the subsets de/test and en/test, and no 'fr/test'\n"
    );
    assert_says(&folder.error(&format!("eval {run} q.trec")), &["these look swapped"]);
}

#[test]
fn rows_of_quepid_without_ratings_are_counted() {
    let folder = platforms();
    let ran = folder.run("eval quepid.csv ranked.trec -m RR");
    let note = "note: quepid.csv: 2 rows without a grade were skipped\n";
    assert_eq!((ran.err.as_str(), ran.code), (note, 0));
    // The documents of a case with those that have no rating, and a query that found nothing: as
    // judgments and as a run.
    let ran = folder.run("eval quepid_detailed.csv ranked.trec -m RR --format csv");
    let note = "note: quepid_detailed.csv: 2 rows without a grade were skipped\n";
    assert_eq!((ran.err.as_str(), ran.code), (note, 0));
    let expected = values(&folder, "judged.trec", "ranked.trec");
    assert_eq!(values(&folder, "quepid_detailed.csv", "ranked.trec"), expected);
    assert_eq!(values(&folder, "judged.trec", "quepid_detailed.csv"), expected);
    // In another table such a row may be one that was cut off.
    folder.put("other.csv", "query_id,doc_id,rating\nq1,d1,3\nq2,,\nq3\n");
    assert_says(
        &folder.error("eval other.csv ranked.trec"),
        &["other.csv:3: the document is empty in 'q2,,'", "other.csv:4: 1 field in 'q3'"],
    );
}

#[test]
fn lists_are_read_by_the_names_that_are_given() {
    let folder = platforms();
    folder.put(
        "mlflow.jsonl",
        "{\"question\": \"q1\", \"found\": [\"d9\", \"d1\"], \"truth\": [\"d1\"], \"score\": \
         0.5}\n",
    );
    folder.put("one.trec", "q1 0 d1 1\n");
    let both = "mlflow.jsonl --columns query=question,doc=truth,grade=- --columns \
                query=question,doc=found,score=-";
    assert_eq!(values(&folder, "mlflow.jsonl", both), values(&folder, "one.trec", "ranked.trec"));
    assert_says(
        &folder.error("eval one.trec mlflow.jsonl --columns query=question,doc=found,score=score"),
        &["mlflow.jsonl:1: 'score' is '0.5', and not a list of scores"],
    );
    assert_says(
        &folder.error("eval one.trec mlflow.jsonl --columns query=question,doc=found"),
        &["there is no column `question` for the query"],
    );
}

#[test]
fn what_is_wrong_with_lists_is_said() {
    let folder = platforms();
    folder.put(
        "ragas.jsonl",
        "{\"query\": \"q1\", \"retrieved_ids\": [\"a\"], \"score\": [1]}\n\
         {\"query\": \"q2\", \"retrieved_ids\": [\"a\"], \"score\": [1]}\n\
         {\"query\": \"q3\", \"retrieved_ids\": [\"a\", \"b\", \"c\", \"d\"], \"score\": [3, 2, \
         1]}\n",
    );
    assert_eq!(
        folder.error("eval judged.trec ragas.jsonl"),
        "error: ragas.jsonl:3: 4 ids and 3 scores: a score for each id was expected\n"
    );
    folder.put(
        "ragas.jsonl",
        "{\"user_input\": \"q\", \"retrieved_contexts\": [\"A text.\"], \"response\": \"x\"}\n",
    );
    assert_eq!(
        folder.error("eval judged.trec ragas.jsonl"),
        "error: ragas.jsonl:1: has texts (retrieved_contexts) and no ids: retrieved_context_ids \
         was expected\n"
    );
    folder.put(
        "deepeval.json",
        "[{\"input\": \"q\", \"context\": [\"A text.\"], \"retrieval_context\": [\"B.\"]}]\n",
    );
    assert_says(
        &folder.error("eval deepeval.json ranked.trec"),
        &["deepeval.json:1: has texts (context) and no ids: reference_context_ids was expected"],
    );
}

#[test]
fn chunks_of_trulens_have_no_ids() {
    let folder = platforms();
    folder.put(
        "trulens.json",
        "[{\"query\": \"q\", \"expected_chunks\": [{\"text\": \"A text.\", \"expect_score\": \
         0.8}]}]\n",
    );
    assert_says(
        &folder.error("eval trulens.json ranked.trec"),
        &["trulens.json:1: has texts (expected_chunks) and no ids: reference_context_ids was \
             expected"],
    );
}

/// Names that are new do not change what a file means that could be read before.
#[test]
fn usual_names_come_first() {
    let folder = platforms();
    let record = "{\"query\": \"q1\", \"doc_id\": \"d1\", \"score\": \
                  2, \"user_input\": \"q2\", \"retrieved_ids\": [\"x\"], \"expected_ids\": \
                  [\"y\"], \
                  \"position\": 7, \"requests\": [1], \"details\": {\"a\": {}}}\n";
    folder.put("usual.jsonl", record);
    folder.put("usual.trec", "q1 Q0 d1 1 2 t\n");
    folder.put("usual.qrels", "q1 0 d1 2\n");
    assert_eq!(
        values(&folder, "judged.trec", "usual.jsonl"),
        values(&folder, "judged.trec", "usual.trec")
    );
    assert_eq!(
        values(&folder, "usual.jsonl", "ranked.trec"),
        values(&folder, "usual.qrels", "ranked.trec")
    );
    folder.put("usual.csv", "Query Text,query,doc,Doc Position,rank\nx,q1,d9,5,1\nx,q1,d1,3,2\n");
    assert_eq!(
        values(&folder, "judged.trec", "usual.csv"),
        values(&folder, "judged.trec", "ranked.trec")
    );
    // Queries that are called as the keys of platforms.
    let named = "{\"mteb_model_meta\": {\"d1\": 1}, \"queries\": {\"d1\": 2}, \"details\": \
                 {\"d1\": 3}, \"relevant_docs\": {\"d1\": 4}, \"hits\": {\"d1\": 1}}";
    folder.put("named.json", named);
    let lines = |args: &str| converted(&folder, args).lines().count();
    assert_eq!((lines("named.json"), lines("--qrels named.json")), (5, 5));
}

#[test]
fn lists_come_through_pipes() {
    let folder = platforms();
    for (qrels, run) in [
        ("rag-dense.jsonl", "rag-hybrid.jsonl"),
        ("judged.trec", "rank_eval_response.json"),
        ("judged.trec", "mteb_predictions.json --subset en/test"),
    ] {
        let (file, options) = run.split_once(' ').unwrap_or((run, ""));
        let text = String::from_utf8(folder.get(file)).unwrap();
        let piped = folder.run_with(
            &format!("eval {qrels} r=- {options} -m RR,nDCG@3 --format csv --quiet"),
            &text,
        );
        let read = folder.out(&format!("eval {qrels} r={run} -m RR,nDCG@3 --format csv --quiet"));
        assert_eq!((piped.out, piped.code), (read, 0), "{run}");
    }
}
