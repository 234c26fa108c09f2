//! `laneval show`: a query explained, in tables and for programs.

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::folder::{Folder, Ran, assert_says, ran};

const QRELS: &str = "\
q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 neg -1\nq1 0 gone 3
q1 0 Grün-Dokument-mit-einem-wirklich-sehr-langen-Namen-der-nicht-endet 1\nq2 0 a 1\nq3 0 x 0\n";
const ONE: &str = "\
q1 Q0 z 1 3.25 t\nq7 Q0 z 1 3 t\nq1 Q0 c 1 2 t\nq1 Q0 a 2 2 t\nq1 Q0 neg 3 2 t
q1 Q0 Grün-Dokument-mit-einem-wirklich-sehr-langen-Namen-der-nicht-endet 3 0.5 t\nq1 Q0 文書 1 9.125 \
    t\n";
const OTHER: &str = "q1 Q0 gone 1 3 t\nq2 Q0 a 1 1 t\nq1 Q0 c 2 1 t\nq7 Q0 k 1 9.25 t\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("qrels", QRELS);
    folder.put("one", ONE);
    folder.put("other", OTHER);
    folder
}

/// Runs `laneval` beside the bundled files.
fn demo(args: &str) -> Ran {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
    ran(command.current_dir(data).args(args.split_whitespace()))
}

const DEMO: &str = "demo.qrels demo-bm25.run demo-dense.run demo-hybrid.run";

#[test]
fn a_query_of_the_sample_is_explained() {
    let shown = demo("show demo.qrels demo-bm25.run demo-dense.run --query 01 --top 4");
    assert_eq!(
        (shown.out.as_str(), shown.err.as_str(), shown.code),
        (include_str!("show.txt"), "", 0)
    );
}

#[test]
fn ties_long_ids_and_documents_that_are_missed_are_shown() {
    let folder = folder();
    let shown = folder.out("show qrels one other --query q1");
    assert_eq!(shown, include_str!("show-ties.txt"));
}

/// Returns the value of each query, run and measure by `eval --per-query`.
fn evaluated(text: &str) -> BTreeMap<[String; 3], u64> {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows = rows.filter(|row| row["stat"] == "value");
    let key = |row: &Value| {
        ["run", "query_id", "measure"].map(|key| row[key].as_str().unwrap().to_owned())
    };
    rows.map(|row| (key(&row), row["value"].as_f64().unwrap().to_bits())).collect()
}

#[test]
fn values_are_those_of_eval_and_terms_add_up_to_them() {
    let measures =
        "-m nDCG@10,AP,RR,P@10,R@100,ERR,RBP,Bpref,Compat,nDCG(gain=exp2,ideal=retrieved)@5,GMAP";
    for options in [
        "",
        "-M 7",
        "-J -M 9",
        "--ties docno-asc --score-type f32",
        "--ties average",
        "--ties worst --rel 2",
    ] {
        let measures =
            if options.contains("--ties average") { "-m nDCG@10,AP,P@10" } else { measures };
        let eval = demo(&format!(
            "eval {DEMO} {measures} {options} --per-query --format jsonl --engine cpu --quiet"
        ));
        assert_eq!(eval.code, 0, "{}", eval.err);
        let expected = evaluated(&eval.out);
        let show = demo(&format!(
            "show {DEMO} {measures} {options} --query 01 --query 17 --query 40 --format json"
        ));
        assert_eq!((show.err.as_str(), show.code), ("", 0));
        let shown: Value = serde_json::from_str(&show.out).unwrap();
        let mut compared = 0;
        for query in shown["queries"].as_array().unwrap() {
            for run in query["runs"].as_array().unwrap() {
                for (measure, value) in run["values"].as_object().unwrap() {
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    let key = [text(&run["run"]), text(&query["query_id"]), measure.clone()];
                    assert_eq!(
                        value.as_f64().unwrap().to_bits(),
                        expected[&key],
                        "{options} {key:?}"
                    );
                    compared += 1;
                    let terms = &run["terms"][measure];
                    if terms.is_null() {
                        continue;
                    }
                    let each = terms["terms"].as_array().unwrap().iter();
                    let sum = each.fold(0.0, |sum, term| sum + term["value"].as_f64().unwrap());
                    let value_of_sum =
                        match (terms["divided_by"].as_f64(), terms["multiplied_by"].as_f64()) {
                            (Some(0.0), None) => 0.0,
                            (Some(by), None) => sum / by,
                            (None, Some(by)) => sum * by,
                            _ => sum,
                        };
                    assert_eq!(value_of_sum.to_bits(), expected[&key], "{options} {key:?}");
                }
                let has_terms = !run["terms"].as_object().unwrap().is_empty();
                assert_eq!(
                    has_terms,
                    !options.contains("average") && !options.contains("worst"),
                    "{options}"
                );
            }
        }
        assert_eq!(compared, 9 * shown["measures"].as_array().unwrap().len());
    }
}

#[test]
fn rows_have_all_ranks_and_what_was_missed() {
    let folder = folder();
    let rows = folder.out("show qrels one other --query q1 -m AP,RR --format tsv --top 1");
    let long = "Grün-Dokument-mit-einem-wirklich-sehr-langen-Namen-der-nicht-endet";
    let expected = format!(
        "run\tquery_id\trank\tdoc_id\tscore\tgrade\tjudgment\ttied\tAP\tRR
one\tq1\t1\t文書\t9.125\t\tnone\t1\t0\t0
one\tq1\t2\tz\t3.25\t\tnone\t1\t0\t0
one\tq1\t3\tneg\t2\t\tnegative\t3\t0\t0
one\tq1\t4\tc\t2\t1\tgraded\t3\t0.25\t0.25
one\tq1\t5\ta\t2\t2\tgraded\t3\t0.4\t0
one\tq1\t6\t{long}\t0.5\t1\tgraded\t1\t0.5\t0
one\tq1\t\tgone\t\t3\tgraded\t\t0\t0
other\tq1\t1\tgone\t3\t3\tgraded\t1\t1\t1
other\tq1\t2\tc\t1\t1\tgraded\t1\t1\t0
other\tq1\t\ta\t\t2\tgraded\t\t0\t0
other\tq1\t\t{long}\t\t1\tgraded\t\t0\t0
"
    );
    assert_eq!(rows, expected);
    assert_eq!(
        folder.out("show qrels one other --query q1 -m AP,RR --format csv"),
        expected.replace('\t', ",")
    );
    let lines = folder.out("show qrels one --query q1 -m AP --format jsonl");
    assert_eq!(
        lines.lines().nth(3).unwrap(),
        concat!(
            r#"{"run":"one","query_id":"q1","rank":4,"doc_id":"c","score":2.0,"grade":1.0,"#,
            r#""judgment":"graded","tied":3,"AP":0.25}"#
        )
    );
    assert_eq!(
        lines.lines().last().unwrap(),
        concat!(
            r#"{"run":"one","query_id":"q1","rank":null,"doc_id":"gone","score":null,"grade":3.0,"#,
            r#""judgment":"graded","tied":null,"AP":0.0}"#
        )
    );
}

#[test]
fn queries_that_are_only_judged_or_only_in_a_run_are_said_to_be() {
    let folder = folder();
    let unjudged = folder.out("show qrels one other --query q7");
    assert_says(
        &unjudged,
        &[
            "query q7: not judged, so it has no values, and an evaluation leaves it out\n",
            "\n   1  k          9.25      –\n",
        ],
    );
    assert!(!unjudged.contains("nDCG") && !unjudged.contains("another rank"), "{unjudged}");
    let missing = folder.out("show qrels one other --query q2 -m AP");
    assert_says(
        &missing,
        &[
            "query q2: 1 judged document, 1 relevant (1 of grade 1)\n",
            "\none: the query is judged, but not in this run, and counts as an empty ranking\n",
            "\none           0.0000\nother         1.0000\nother − one  +1.0000\n",
        ],
    );
    let json: Value =
        serde_json::from_str(&folder.out("show qrels one --query q2 --query q7 --format json"))
            .unwrap();
    let query = |at: usize| &json["queries"][at];
    assert_eq!(
        (&query(0)["judged"], &query(0)["runs"][0]["present"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        (&query(1)["judged"], &query(1)["runs"][0]["present"]),
        (&false.into(), &true.into())
    );
    assert_eq!(query(1)["runs"][0]["values"], serde_json::json!({}));
    let nothing = folder.out("show qrels one other --query q3 -m RR");
    assert_says(&nothing, &["query q3: 1 judged document, 0 relevant\n"]);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let folder = folder();
    folder.put("twice", "q1 Q0 z 1 3 t\nq1 Q0 z 2 2 t\nq2 Q0 a 1 1 t\n");
    folder.put("wrong", "q1 Q0 z 1 3 t\nq2 Q0 a 1 x t\n");
    folder.out("build qrels one -o m.lmx");
    for (args, expected) in [
        (
            "show qrels one --query q4",
            "error: query q4 is neither judged nor in a run: the nearest are q1, q2, q3, q7\n",
        ),
        (
            "show qrels one --query zzzzzz",
            "error: query zzzzzz is neither judged nor in a run: there are q1, q2, q3\n",
        ),
        (
            "show qrels none --query q1",
            "error: none: cannot open: No such file or directory (os error 2)\n",
        ),
        (
            "show m.lmx --query q1",
            "error: m.lmx is a label matrix, which keeps no documents: give the QRELS RUN... that \
             it was built from\n",
        ),
        (
            "show qrels m.lmx --query q1",
            "error: m.lmx is a label matrix and qrels is not: give either QRELS RUN... or .lmx \
             files\n",
        ),
        (
            "show one qrels --query q1",
            "error: these look swapped: one is a run, qrels is judgments: the order is QRELS RUN\n",
        ),
        (
            "show qrels twice --query q1",
            "error: twice:2: docno 'z' occurs again for query 'q1', first on line 1\nnote: of \
             results that repeat a document, --aggregate max keeps the best, and --aggregate blank \
             leaves the ranks of the others empty\n",
        ),
        (
            "show qrels one wrong --query q1",
            "error: wrong:2: score 'x' is not a number: expected 'query iter docno rank score \
             tag'\n",
        ),
        (
            "show qrels one --query q1 --ties interval",
            "error: `show` has no column for an interval: take --ties average, best or worst one \
             by one\n",
        ),
    ] {
        assert_eq!(folder.error(args), expected, "{args}");
    }
    assert_says(&folder.error("show qrels one"), &["--query <ID>"]);
    let long = "q".repeat(100_000);
    assert_says(
        &folder.error(&format!("show qrels one --query {long}")),
        &["there are q1, q2, q3\n"],
    );
    // Of other queries nothing is kept.
    folder.out("show qrels twice --query q2");
    assert_eq!(folder.run("eval qrels twice").code, 2);
}

#[test]
fn the_order_of_equal_scores_is_that_of_the_rule() {
    let folder = folder();
    let docs = |options: &str| {
        let lines = folder.out(&format!("show qrels one --query q1 --format tsv {options}"));
        let docs = lines
            .lines()
            .filter(|line| line.contains("\t2\t"))
            .map(|line| line.split('\t').nth(3).unwrap());
        docs.filter(|doc| ["a", "c", "neg"].contains(doc)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(docs(""), "neg c a");
    assert_eq!(docs("--ties docno-asc"), "a c neg");
    assert_eq!(docs("--ties input"), "c a neg");
    assert_eq!(docs("--ties rank"), "c a neg");
    assert_says(
        &folder.out("show qrels one --query q1 --ties rank"),
        &["ordered by the rank column of the run"],
    );
    let average = folder.out("show qrels one --query q1 --ties average -m AP");
    assert_says(
        &average,
        &["\nthe expected values over all orders of equal scores have no terms\n"],
    );
    assert!(!average.contains('Σ'), "{average}");
    let cut = folder.out("show qrels one --query q1 -M 3");
    assert_says(
        &cut,
        &[
            "3  ·  neg ",
            "\n· its score is also that of documents that are left out: ordered by document id, \
             descending\n",
        ],
    );
}

#[test]
fn compressed_runs_and_stdin_are_read_too() {
    let folder = folder();
    let expected = folder.out("show qrels one --query q1");
    let piped = folder.run_with("show qrels one=- --query q1", ONE);
    assert_eq!((piped.out, piped.code), (expected.clone(), 0));
    folder.put("one.zst", zstd::encode_all(ONE.as_bytes(), 1).unwrap());
    assert_eq!(folder.out("show qrels one=one.zst --query q1"), expected);
}

#[test]
fn a_file_has_the_format_of_its_extension() {
    let folder = folder();
    for (file, options) in [
        ("s.txt", "--format table"),
        ("s", "--format table"),
        ("s.json", "--format json"),
        ("s.jsonl", "--format jsonl"),
        ("s.csv", "--format csv"),
        ("s.TSV", "--format tsv"),
        ("s.md", "--format markdown"),
    ] {
        let printed = folder.out(&format!("show qrels one --query q1 {options}"));
        assert_eq!(folder.out(&format!("show qrels one --query q1 -o {file}")), "");
        assert_eq!(String::from_utf8(folder.get(file)).unwrap(), printed, "{file}");
    }
    assert_says(
        &folder.error("show qrels one --query q1 -o s.pdf"),
        &["unknown extension .pdf: take .txt, .tsv, .csv, .json, .jsonl, .md, .html, .htm, or \
             use --format"],
    );
    assert_says(&folder.error("show qrels one --query q1 -o one"), &["it is one of the inputs"]);
}

#[test]
fn markdown_has_the_arithmetic_and_the_texts() {
    let folder = folder();
    folder.put("t.tsv", "q1\twhat *is* <b> | a_b\n");
    let shown = folder
        .out("show qrels one other --query q1 -m nDCG@5,Compat --topics t.tsv --format markdown");
    assert_eq!(shown, include_str!("show.md"));
    // Whatever stands in a table for people stands here too, but for its rules and blanks.
    let (table, markdown) = ["table", "markdown"]
        .map(|format| {
            folder.out(&format!("show qrels one other --query q1 --query q3 --format {format}"))
        })
        .into();
    let plain = markdown.replace("&lt;", "<").to_lowercase();
    for word in table.to_lowercase().split_whitespace().filter(|word| !word.starts_with('─')) {
        let word = word.trim_end_matches([':', ',', '…']);
        assert!(plain.contains(word), "{word}\n{markdown}");
    }
}

#[test]
fn pages_say_what_was_shown_and_how_to_make_them_again() {
    let folder = folder();
    folder.put("t.tsv", "q1\tblue <script>alert(1)</script>\n");
    let command = "show qrels one other --query q1 -m nDCG@5 --topics t.tsv";
    assert_eq!(folder.out(&format!("{command} -o s.html")), "");
    let page = String::from_utf8(folder.get("s.html")).unwrap();
    assert_says(
        &page,
        &[
            "<!DOCTYPE html>",
            "<h1>Query q1 in one and other</h1>",
            "<h2>Query q1: blue &lt;script&gt;alert(1)&lt;/script&gt;</h2>",
            "<td>1/2.322 = 0.4307</td>",
            "<th scope=\"row\">Σ</th><td></td><td></td><td></td><td></td><td>1.2044</td>",
            "<td>÷ 5.1925</td>",
            "<p class=\"note\">┌│└ equal scores: ordered by document id, descending</p>",
            "<h3>Relevant documents at other ranks, the largest differences first (–: missed)</h3>",
            "<dt>equal scores</dt><dd>docno-desc</dd>",
            "<th scope=\"row\">texts of queries</th><td class=\"words\">t.tsv</td>",
            "laneval show qrels one other --query q1 -m nDCG@5 --topics t.tsv -o s.html",
        ],
    );
    assert!(!page.contains("<script"));
    let two = folder.out(&format!("{command} --query q7 --quiet --format html"));
    assert_says(&two, &["<h1>2 queries in one and other</h1>", "<h2>Query q7</h2>"]);
}

#[test]
fn runs_have_the_names_that_are_asked_for() {
    let folder = folder();
    folder.put("a/first.run", ONE);
    folder.put("second.txt", OTHER.replace(" t\n", " tag2\n"));
    for (how, names) in
        [("path", ["first.run", "mine"]), ("stem", ["first", "mine"]), ("tag", ["t", "mine"])]
    {
        let shown = folder.out(&format!(
            "show qrels a/first.run mine=second.txt --query q1 -m AP --name-by {how}"
        ));
        names.iter().for_each(|name| assert_says(&shown, &[&format!("\n{name}: ")]));
    }
    let shown = folder.out("show qrels a/first.run second.txt --query q7 --name-by tag");
    assert_says(&shown, &["\nt: 1 document\n", "\ntag2: 1 document\n"]);
    let twice = folder.error("show qrels a/first.run one --query q1 --name-by tag");
    assert_says(&twice, &["first.run and one would both have the name `t`"]);
}
