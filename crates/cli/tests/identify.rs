//! Which definition a number is of, as the command answers: verdicts, exit codes, files of values,
//! and errors.

use serde_json::Value;

use crate::folder::{Folder, Ran, assert_says};

/// Returns a folder with the demo's judgments and run.
fn demo() -> Folder {
    let folder = Folder::empty();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data");
    for (name, file) in [("qrels", "demo.qrels"), ("run", "demo-bm25.run")] {
        folder.put(name, std::fs::read(format!("{data}/{file}")).unwrap());
    }
    folder
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out)
        .unwrap_or_else(|error| panic!("{error}: {} {}", ran.out, ran.err))
}

#[test]
fn verdicts_have_exit_codes() {
    let folder = demo();
    for (number, code, verdict) in [
        ("nDCG@5=0.5541", 0, "likely: 1 of "),
        ("nDCG@5=0.5540769", 0, "found: 1 of "),
        ("nDCG@5=0.55", 1, "undecided: "),
        ("nDCG@5=0.9123", 1, "none: none of "),
    ] {
        let output = folder.run(&format!("identify qrels run {number}"));
        assert_eq!(output.code, code, "{number}\n{}{}", output.out, output.err);
        assert!(output.out.starts_with(verdict), "{number}\n{}", output.out);
        assert_eq!(output.err, "", "{number}");
        let document = json(&folder.run(&format!("identify qrels run {number} --format json")));
        assert_eq!(document["schema"], 1);
        assert!(verdict.starts_with(document["verdict"].as_str().unwrap()), "{document}");
    }
    let stdout = folder.out("identify qrels run nDCG@5=0.5541");
    assert_says(
        &stdout,
        &[
            "nDCG(gain=exp2)@5   0.554077",
            "ranx ndcg_burges@5 (there --ties input)",
            "ir_measures nDCG(dcg='exp-log2')@5",
            "the same here: ",
            "--score-type f32",
            "next:\n",
        ],
    );
    let document = json(&folder.run("identify qrels run nDCG@5=0.5541 --format json"));
    assert_eq!(document["numbers"][0]["name"], "nDCG@5");
    assert_eq!(document["numbers"][0]["value"], "0.5541");
    let first = &document["candidates"][0];
    assert_eq!(
        (first["measure"].as_str(), &first["agree"]),
        (Some("nDCG(gain=exp2)@5"), &Value::Null)
    );
    assert!(document["space"]["definitions"].as_u64() > document["space"]["classes"].as_u64());
}

#[test]
fn the_same_question_has_the_same_bytes() {
    let folder = demo();
    let one = folder.out("identify qrels run nDCG@5=0.5541 --threads 1 --format json");
    for threads in [2, 3] {
        assert_eq!(
            folder.out(&format!(
                "identify qrels run nDCG@5=0.5541 --threads {threads} --format json"
            )),
            one
        );
    }
    folder.out("identify qrels run nDCG@5=0.5541 -o answer.json");
    assert_eq!(folder.get("answer.json"), one.as_bytes());
}

#[test]
fn files_of_values_are_read_in_every_form() {
    let folder = demo();
    let eval = "eval qrels run -m nDCG(gain=exp2)@5 -q --quiet";
    for file in ["tsv", "csv", "json"] {
        folder.out(&format!("{eval} -o theirs.{file}"));
    }
    folder.put("theirs.trec", folder.out(&format!("{eval} --format trec")));
    let tsv = String::from_utf8(folder.get("theirs.tsv")).unwrap();
    let values: Vec<(&str, &str)> = tsv
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields[3] == "value")
        .map(|fields| (fields[1], fields[4]))
        .collect();
    assert_eq!(values.len(), 40);
    let lines = |separator: &str| {
        values
            .iter()
            .map(|(query, value)| format!("{query}{separator}{value}\n"))
            .collect::<String>()
    };
    folder.put("theirs.two", lines("\t"));
    folder.put("theirs.blank", lines("  "));
    let object: Vec<String> =
        values.iter().map(|(query, value)| format!("\"{query}\": {value}")).collect();
    folder.put("object.json", format!("{{{}}}", object.join(", ")));
    for file in [
        "theirs.tsv",
        "theirs.csv",
        "theirs.json",
        "theirs.trec",
        "theirs.two",
        "theirs.blank",
        "object.json",
    ] {
        let output = folder
            .run(&format!("identify qrels run --query-values {file} -m nDCG@5 --format json"));
        assert_eq!(output.code, 0, "{file}\n{}{}", output.out, output.err);
        let document = json(&output);
        // One query tells it from the average over equal scores.
        assert_eq!(document["verdict"], "likely", "{file}");
        assert_eq!(
            (&document["queries"], &document["candidates"][0]["agree"]),
            (&40.into(), &40.into()),
            "{file}"
        );
        assert_eq!(document["candidates"][0]["measure"], "nDCG(gain=exp2)@5", "{file}");
        assert_eq!(document["candidates"][0]["telling"], 1, "{file}");
    }
    // Without -m the measure is what the file says, and its parameters hold.
    let stdout = folder.out("identify qrels run --query-values theirs.tsv");
    assert_says(&stdout, &["likely: 1 of ", "nDCG(gain=exp2)@5"]);
    folder.out("eval qrels run -m AP,RR -q --quiet -o several.csv");
    assert_says(
        &folder.error("identify qrels run --query-values several.csv"),
        &["several.csv has values of AP, RR: say of which (-m)"],
    );
    assert_says(
        &folder.out("identify qrels run --query-values several.csv -m AP"),
        &["likely: ", "AP"],
    );
}

/// A parsed number would lose the zeros at its end, and with them its precision.
#[test]
fn numbers_of_json_have_the_digits_that_are_written() {
    let folder = demo();
    folder.put("digits.tsv", "17\t0.5000\n18\t0.6000\n");
    folder.put("digits.json", "{\"17\": 0.5000, \"18\": 0.6000}");
    folder.put(
        "runs.json",
        "{\"runs\": [{\"per_query\": {\"17\": {\"AP\": 0.5000}, \"18\": {\"AP\": 0.6000}}}]}",
    );
    folder.put("fewer.json", "{\"17\": 0.5, \"18\": \"0.6\"}");
    let [tsv, json, runs, fewer] = ["digits.tsv", "digits.json", "runs.json", "fewer.json"]
        .map(|file| folder.run(&format!("identify qrels run --query-values {file} -m AP")).out);
    assert_eq!((&json, &runs), (&tsv, &tsv));
    assert_ne!(fewer, tsv);
}

#[test]
fn pipes_and_matrices_are_read() {
    let folder = demo();
    let run = String::from_utf8(folder.get("run")).unwrap();
    let output = folder.run_with("identify qrels - nDCG@5=0.5541", &run);
    assert_eq!((output.code, output.out), (0, folder.out("identify qrels run nDCG@5=0.5541")));
    folder.out("build qrels run --keep-ties -o known.lmx --quiet");
    let output = folder.run("identify known.lmx nDCG@5=0.5541");
    assert_eq!(output.code, 0, "{}", output.err);
    assert_says(
        &output.err,
        &["note: known.lmx knows no other orders of equal scores than docno-desc and its reverse"],
    );
    assert_says(&output.out, &["nDCG(gain=exp2)@5"]);
    folder.out("build qrels run -o unknown.lmx --quiet");
    assert_says(
        &folder.error("identify unknown.lmx nDCG@5=0.5541"),
        &["unknown.lmx does not know its ties: build it again with --keep-ties"],
    );
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    let folder = demo();
    folder.put("few.tsv", "17\t0.5\n999\t0.5\n998\t0.5\n");
    folder.put("twice.tsv", "17\t0.5\n17\t0.6\n");
    folder.put("most.tsv", "17\t0.5\n18\t0.5\n999\t0.5\n");
    folder.put("wide.tsv", "17\t0.5\t1\t2\t3\n");
    folder.put("list.json", "{\"runs\": []}");
    for (args, error) in [
        ("0.4561x", "'0.4561x' is not a number such as 0.4561, nDCG@10=0.4561 or 45.6%"),
        (
            "nDCG@10=1",
            "'1' has no decimals: any perfect measure gives it; give --query-values or more digits",
        ),
        (
            "--query-values few.tsv -m AP",
            "few.tsv:2: query 999 is not judged; 1 of 3 queries are known",
        ),
        ("--query-values twice.tsv -m AP", "twice.tsv: query 17 has two values of AP: 0.5 and 0.6"),
        ("nDCG@10=1.3", "nDCG@10=1.3: above the range 0 to 1 and no percent: is it a sum (DCG)?"),
        ("--query-values wide.tsv", "wide.tsv:1: 5 fields: expected"),
        ("--query-values list.json", "list.json: expected the JSON of laneval eval -q of one run"),
        ("--query-values none", "none: cannot open"),
        ("ngcd@5=0.5", "ngcd"),
        ("NumRel=0.5", "NumRel is no mean"),
        ("", "give QRELS RUN and numbers such as nDCG@10=0.4561, or --query-values FILE"),
        ("nDCG@5=0.5541 -o answer.csv", "unknown extension .csv: take .json, .txt"),
    ] {
        assert_says(&folder.error(&format!("identify qrels run {args}")), &[error]);
    }
    let output = folder.run("identify qrels run --query-values most.tsv -m AP");
    assert_says(
        &output.err,
        &["note: most.tsv:3: query 999 is not judged; 2 of 3 queries are known"],
    );
}
