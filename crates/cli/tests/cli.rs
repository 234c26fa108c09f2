//! The command as a user meets it: what it prints, what it says on stderr, and its exit code.

use std::io::Write;

use assert_cmd::Command;
use laneval::measure::MEASURES;

use crate::folder::{BM25, DENSE, Folder, QRELS, assert_says, ran};

const BM25_NOTE: &str = "note: bm25.run: 1 judged query is not in the run and counts as an empty \
                         ranking (query q3); \
                         1 query of the run is not judged and was ignored (query q9)\n";

const TSV: &str = "\
run\tquery_id\tmeasure\tstat\tvalue
bm25.run\tq1\tAP\tvalue\t0.8333333333333333
bm25.run\tq1\tNumRet\tvalue\t3
bm25.run\tq1\tGMAP\tvalue\t0.8333333333333333
bm25.run\tq2\tAP\tvalue\t0.5
bm25.run\tq2\tNumRet\tvalue\t2
bm25.run\tq2\tGMAP\tvalue\t0.5
bm25.run\tq3\tAP\tvalue\t0
bm25.run\tq3\tNumRet\tvalue\t0
bm25.run\tq3\tGMAP\tvalue\t0.00001
bm25.run\t\tAP\tmean\t0.4444444444444444
bm25.run\t\tNumRet\tsum\t5
bm25.run\t\tGMAP\tgmean\t0.016091489743427154
dense.run\tq1\tAP\tvalue\t0.5
dense.run\tq1\tNumRet\tvalue\t2
dense.run\tq1\tGMAP\tvalue\t0.5
dense.run\tq2\tAP\tvalue\t1
dense.run\tq2\tNumRet\tvalue\t1
dense.run\tq2\tGMAP\tvalue\t1
dense.run\tq3\tAP\tvalue\t0.5
dense.run\tq3\tNumRet\tvalue\t2
dense.run\tq3\tGMAP\tvalue\t0.5
dense.run\t\tAP\tmean\t0.6666666666666666
dense.run\t\tNumRet\tsum\t5
dense.run\t\tGMAP\tgmean\t0.6299605249474366
";

const THREE: &str = "-m AP -m NumRet -m GMAP --per-query";

#[test]
fn tsv_and_csv_are_long() {
    let folder = Folder::new();
    let ran = folder.run(&format!("eval qrels bm25.run dense.run {THREE}"));
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), (TSV, BM25_NOTE, 0));
    let csv = folder.out(&format!("eval qrels bm25.run dense.run {THREE} --format csv"));
    assert_eq!(csv, TSV.replace('\t', ","));
    let quoted = folder.out("eval qrels bm25.run -m nDCG(gain={1:3,2:9}) --format csv");
    assert_says(&quoted, &["\nbm25.run,,\"nDCG(gain={1:3,2:9})\",mean,"]);
}

#[test]
fn json_lines_have_the_same_rows() {
    let folder = Folder::new();
    let lines = folder.out(&format!("eval qrels bm25.run dense.run {THREE} --format jsonl"));
    assert_eq!(
        lines.lines().next().unwrap(),
        concat!(
            r#"{"run":"bm25.run","query_id":"q1","measure":"AP","#,
            r#""stat":"value","value":0.8333333333333333}"#,
        )
    );
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text =
            ["run", "query_id", "measure", "stat"].map(|key| row[key].as_str().unwrap().to_owned());
        format!("{}\t{}", text.join("\t"), row["value"].as_f64().unwrap())
    };
    let rows: Vec<String> = lines.lines().map(row).collect();
    assert_eq!(rows, TSV.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn json_is_one_document() {
    let folder = Folder::new();
    let text =
        folder.out("eval qrels bm25.run -m AP -m NumRet --stat min --per-query --format json");
    let version = env!("CARGO_PKG_VERSION");
    let expected = serde_json::json!({
        "schema": 1,
        "laneval": version,
        "query_set": "judged",
        "depth": null,
        "judged_only": false,
        "measures": ["AP", "NumRet"],
        "runs": [{
            "run": "bm25.run",
            "tag": "bm25",
            "rule": {
                "ties": "docno-desc", "score": "f64", "depth": null,
                "drop_identical_ids": false, "units": null,
            },
            "qrels": ["2e3d401e84559e5db411bc8d588f68d9"],
            "queries": {
                "counted": 3,
                "missing": 1, "missing_ids": ["q3"], "missing_ids_truncated": false, "filled": true,
                "ignored": 1, "ignored_ids": ["q9"], "ignored_ids_truncated": false,
            },
            "scores": {
                "AP": {"mean": 0.4444444444444444, "min": 0.0},
                "NumRet": {"sum": 5.0, "min": 0.0},
            },
            "per_query": {
                "q1": {"AP": 0.8333333333333333, "NumRet": 3.0},
                "q2": {"AP": 0.5, "NumRet": 2.0},
                "q3": {"AP": 0.0, "NumRet": 0.0},
            },
        }],
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
    let keys = [
        "schema",
        "laneval",
        "query_set",
        "measures",
        "runs",
        "run",
        "tag",
        "rule",
        "qrels",
        "queries",
        "scores",
        "per_query",
    ];
    let places: Vec<usize> =
        keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!folder.out("eval qrels bm25.run --format json").contains("per_query"));
}

#[test]
fn trec_lines_are_those_of_trec_eval() {
    let folder = Folder::new();
    let all = "\
runid                 \tall\tbm25
AP                    \tall\t0.4444
NumRet                \tall\t5
GMAP                  \tall\t0.0161
";
    let args = "eval qrels bm25.run -m AP -m NumRet -m GMAP --format trec";
    assert_eq!(folder.out(args), all);
    let per_query = folder.out(&format!("{args} --per-query"));
    let lines: Vec<&str> = per_query.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "runid                 \tall\tbm25",
            "AP                    \tq1\t0.8333",
            "NumRet                \tq1\t3"
        ]
    );
    assert_eq!(lines[9], "GMAP                  \tq3\t0.0000");
    assert_eq!(lines[10..], all.lines().skip(1).collect::<Vec<_>>());
    assert_says(&folder.error(&format!("{args} --stat std")), &["--stat"]);
}

#[test]
fn a_table_marks_the_best_run() {
    let folder = Folder::new();
    let several = "\
run            AP      P@2   NumRet
───────────────────────────────────
bm25.run   0.4444   0.3333        5
dense.run  0.6667*  0.5000*       5

* best, not necessarily better.
";
    let args = "-m AP -m P@2 -m NumRet --format table";
    assert_eq!(folder.out(&format!("eval qrels bm25.run dense.run {args}")), several);
    let one = "\
bm25.run: 3 queries

measure    mean     std     min     max
───────────────────────────────────────
AP       0.4444  0.4194  0.0000  0.8333
P@2      0.3333  0.2887  0.0000  0.5000

bm25.run, by query

query      AP     P@2
─────────────────────
q1     0.8333  0.5000
q2     0.5000  0.5000
q3     0.0000  0.0000
";
    let args = "-m AP -m P@2 --stat std,min --stat max --per-query --format table";
    assert_eq!(folder.out(&format!("eval qrels bm25.run {args}")), one);
    let short = folder.out("eval qrels bm25.run -m AP --format table --precision 2");
    assert!(short.ends_with("\nAP       0.44\n"), "{short}");
    let equal = folder.out("eval qrels bm25.run bm25.run -m AP --format table");
    assert!(!equal.contains('*'), "{equal}");
}

#[test]
fn the_same_values_from_wherever_the_input_comes() {
    let folder = Folder::new();
    let gzip = |text: &str| {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(text.as_bytes()).unwrap();
        to.finish().unwrap()
    };
    for (name, text) in [("qrels", QRELS), ("bm25.run", BM25), ("dense.run", DENSE)] {
        folder.put(&format!("gz/{name}"), gzip(text));
        folder.put(&format!("zst/{name}"), zstd::encode_all(text.as_bytes(), 1).unwrap());
    }
    assert_eq!(folder.run("build qrels bm25.run dense.run -o both.lmx --quiet").code, 0);
    assert_eq!(folder.run("build gz/qrels zst/bm25.run -o one.lmx").code, 0);
    assert_eq!(folder.run("build qrels dense.run -o other.lmx").code, 0);
    for inputs in [
        "qrels bm25.run dense.run",
        "gz/qrels gz/bm25.run gz/dense.run",
        "zst/qrels zst/bm25.run dense.run",
        "both.lmx",
        "one.lmx other.lmx",
        "both.lmx --engine reference",
        "both.lmx --engine cpu --threads 1",
        "qrels bm25.run dense.run --threads 3 --engine reference",
    ] {
        let ran = folder.run(&format!("eval {inputs} {THREE}"));
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), (TSV, BM25_NOTE, 0), "{inputs}");
    }
    let ran = folder.run_with(&format!("eval - bm25.run dense.run {THREE}"), QRELS);
    assert_eq!((ran.out.as_str(), ran.code), (TSV, 0));
    let ran = folder.run_with(&format!("eval qrels - dense.run {THREE}"), BM25);
    assert_eq!((ran.out, ran.code), (TSV.replace("bm25.run", "stdin"), 0));
}

/// A file as the standard input is mapped, unless some of it has been read.
#[test]
#[cfg(unix)]
fn the_standard_input_may_be_a_file() {
    let folder = Folder::new();
    for redirected in ["< bm25.run", "<<< \"$(cat bm25.run)\"", "< <(cat bm25.run)"] {
        let ran = folder.shell(&format!("$L eval qrels - dense.run {THREE} {redirected}"));
        assert_eq!((ran.out, ran.code), (TSV.replace("bm25.run", "stdin"), 0), "{redirected}");
    }
    let ran = folder.shell(&format!(
        "(echo skipped; cat bm25.run) > more; (read line; $L eval qrels - dense.run {THREE}) < more"
    ));
    assert_eq!((ran.out, ran.code), (TSV.replace("bm25.run", "stdin"), 0));
}

#[cfg(unix)]
#[test]
fn pipes_by_name_are_text() {
    let folder = Folder::new();
    let ran = folder.shell(&format!("\"$L\" eval <(cat qrels) <(cat bm25.run) {THREE} | cut -f2-"));
    let expected = folder.shell(&format!("\"$L\" eval qrels bm25.run {THREE} | cut -f2-"));
    assert_eq!((ran.out, ran.code), (expected.out, 0));
}

#[test]
fn queries_decide_who_counts() {
    let folder = Folder::new();
    let ran = folder.run("eval qrels bm25.run -m AP --queries common --per-query");
    assert_says(&ran.out, &["bm25.run\t\tAP\tmean\t0.6666666666666666\n"]);
    assert!(!ran.out.contains("q3"));
    assert_eq!(ran.err, BM25_NOTE.replace("counts as an empty ranking", "is left out"));
    assert_says(&folder.error("eval qrels bm25.run --queries require-all"), &["bm25.run", "q3"]);
    assert_eq!(folder.run("eval qrels dense.run --queries require-all").code, 0);
    assert_eq!(folder.run("eval qrels bm25.run --quiet").err, "");
    folder.put("few.run", "q2 Q0 a 1 1 few\n");
    let warning = "warning: few.run: has only 1 of 3 judged queries: are these the right files? \
                   The others count as empty rankings (queries q1, q3)\n";
    assert_eq!(folder.run("eval qrels few.run").err, warning);
    assert_eq!(folder.run("eval qrels few.run --quiet").err, warning);
    folder.run("build qrels few.run -o few.lmx");
    assert_eq!(
        folder.run("eval few.lmx --queries common").err,
        warning.replace("count as empty rankings", "are left out")
    );
}

#[test]
fn options_change_what_they_say() {
    let folder = Folder::new();
    let mean = |args: &str| {
        let out = folder.out(&format!("eval qrels bm25.run {args} --quiet"));
        out.trim_end().rsplit('\t').next().unwrap().to_owned()
    };
    assert_eq!(mean("-m P@2"), "0.3333333333333333");
    assert_eq!(mean("-m P@2 --rel 2"), "0", "q1's c has grade 1");
    assert_eq!(mean("-m P(rel=1)@2 --rel 2"), "0.3333333333333333");
    assert_eq!(mean("-m P@2 -J"), "0.5", "without z, a moves up");
    assert_eq!(mean("-m R@100 -M 1"), mean("-m R@1"));
    folder.put("tied", "q1 Q0 a 1 1.00000001 t\nq1 Q0 z 2 1.0 t\n");
    let first = |args: &str| {
        folder
            .out(&format!("eval qrels tied -m P@1 --queries common --quiet {args}"))
            .ends_with("\t1\n")
    };
    assert!(first(""));
    assert!(!first("--score-type f32"), "the scores tie, and z comes before a");
    assert!(first("--score-type f32 --ties docno-asc") && first("--score-type f32 --ties input"));
    let twice = folder.out("eval qrels dense.run -m AP -m MAP -m P@[1,2] -m P@1");
    assert_eq!(twice.lines().count(), 4, "{twice}");
}

#[test]
fn a_matrix_answers_only_as_it_was_built() {
    let folder = Folder::new();
    folder.run("build qrels bm25.run -o m.lmx --score-type f32 --ties input -M 2");
    let built = |args: &str| folder.error(&format!("eval m.lmx {args}"));
    assert_says(&built("--score-type f64"), &["m.lmx", "was built with --score-type f32"]);
    assert_says(&built("--ties docno-desc"), &["was built with --ties input"]);
    assert_says(&built("-M 3"), &["was built with -M 2"]);
    assert_says(&folder.run("eval m.lmx").err, &["note: m.lmx: keeps only the first 2 ranks"]);
    let ran = folder.run("eval m.lmx --score-type f32 --ties input -M 1 -m NumRet");
    assert_says(&ran.out, &["NumRet\tsum\t2"]);
    assert_eq!(ran.err, BM25_NOTE);
    folder.put("other-qrels", QRELS.replace("a 2", "a 1"));
    folder.run("build other-qrels dense.run -o other.lmx");
    assert_says(
        &folder.error("eval m.lmx other.lmx"),
        &["m.lmx", "other.lmx", "different judgments"],
    );
    assert_says(&folder.error("eval m.lmx m.lmx"), &["`bm25.run`", "m.lmx"]);
    assert_says(
        &folder.error("eval m.lmx bm25.run"),
        &["m.lmx is a label matrix and bm25.run is not"],
    );
    assert_says(
        &folder.error("build m.lmx bm25.run -o n.lmx"),
        &["m.lmx is a label matrix already"],
    );
}

#[test]
fn bad_input_is_named_with_its_place() {
    let folder = Folder::new();
    folder.put("empty", "");
    folder.put("wrong.qrels", "q1 0 a z\nq1 0 b\nq1 0 c 1\nq1 0 c 2\nq1 0 d inf\n");
    folder
        .put("wrong.run", "q1 Q0\nq1 Q0 b 1 x t\nq1 Q0 c 1 nan t\nq1 Q0 d 1 1 t\nq1 Q0 d 1 2 t\n");
    folder.put("many.run", "q1 Q0 a 1 2 t\n".to_owned() + &"q1 Q0 b 1 x t\n".repeat(30));
    folder.put("columns.qrels", "q1\tb\t1\nq1\tb\t2\n".repeat(15));
    folder.put("strangers.run", "zz Q0 a 1 1 t\n");
    let gzip = {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(BM25.as_bytes()).unwrap();
        to.finish().unwrap()
    };
    folder.put("cut.gz", &gzip[..gzip.len() / 2]);
    for (args, expected) in [
        ("nope bm25.run nada", &["error: nope: cannot open", "error: nada: cannot open"][..]),
        ("qrels .", &["error: .: cannot open"]),
        ("qrels empty", &["error: empty: "]),
        ("empty bm25.run", &["error: empty: "]),
        (
            "wrong.qrels wrong.run",
            &[
                "wrong.qrels:1: ",
                "'z'",
                "wrong.qrels:2: ",
                "wrong.qrels:4: ",
                "wrong.qrels:5: ",
                "wrong.run:1: ",
                "wrong.run:2: ",
                "'x'",
                "wrong.run:3: ",
                "'nan'",
                "wrong.run:5: ",
                "error: ",
            ],
        ),
        ("qrels many.run", &["many.run:21: ", "error: … and 10 more"]),
        (
            "columns.qrels bm25.run",
            &["columns.qrels:2: docno 'b' of query 'q1' has grade 2 here, but grade 1 on line 1"],
        ),
        ("qrels strangers.run", &["strangers.run: no query of qrels is in it"]),
        ("qrels cut.gz", &["cut.gz", "ends early"]),
        (
            "bm25.run qrels",
            &["error: these look swapped: bm25.run is a run, qrels is judgments: the order is \
                 QRELS RUN"],
        ),
        ("qrels", &["qrels is not a .lmx file"]),
        ("-", &["stdin alone"]),
        ("- -", &["stdin can be read only once"]),
        ("qrels bm25.run --rel -1", &["--rel"]),
        ("qrels bm25.run -M 0", &["--depth", "1 or more"]),
        ("qrels bm25.run --threads 0", &["--threads"]),
        ("qrels bm25.run --ties random", &["docno-desc"]),
        ("qrels bm25.run --stat mode", &["median"]),
        ("qrels bm25.run -o qrels", &["qrels: cannot write: it is one of the inputs"]),
    ] {
        assert_says(&folder.error(&format!("eval {args}")), expected);
    }
    assert_says(&folder.error("eval"), &[]);
    assert_says(&folder.error("build qrels wrong.run -o m.lmx"), &["wrong.run:1: "]);
    assert!(!folder.names().contains(&"m.lmx".to_owned()));
}

#[test]
fn ids_that_are_not_text_are_marked_for_programs_and_escaped_for_people() {
    let folder = Folder::new();
    folder.put("b.qrels", b"q\xff 0 a\xfe 1\n");
    folder.put("b.run", b"q\xff Q0 a\xfe 1 1 t\xfd\r\n# a comment\n\nx\xfc Q0 a 1 1 t\xfd\n");
    let ran = folder.run("eval b.qrels b.run -m AP --per-query --format json");
    assert_says(&ran.out, &["\"q\u{fffd}ff\"", "\"t\u{fffd}fd\"", "\"x\u{fffd}fc\""]);
    assert_says(&ran.err, &[r"(query x\xfc)"]);
    assert_says(
        &folder.out("eval b.qrels b.run -m AP --per-query --format jsonl"),
        &["\"q\u{fffd}ff\""],
    );
    assert_says(
        &folder.out("eval b.qrels b.run -m AP --per-query --format table"),
        &["\nq\\xff  "],
    );
    for format in ["tsv", "csv", "trec"] {
        folder.out(&format!("eval b.qrels b.run -m AP --per-query --format {format} -o s"));
        assert!(folder.get("s").windows(2).any(|bytes| bytes == b"q\xff"), "{format}");
    }
    folder.out("build b.qrels b.run -o b.lmx");
    assert_says(&folder.out("info b.lmx"), &[r"  t\xfd "]);
    assert_says(&folder.out("info b.lmx --format json"), &["\"t\u{fffd}fd\""]);
}

/// An id with a control character, what it was once written as, and other ids that are easily taken
/// for each other.
const ALIKE: [&str; 8] =
    ["a\u{1b}b", "a\\u{1b}b", "a\u{7}b", "a\"b", "a\"\"b", "\"a\"b\"", "a,b", "ä\u{fffd}"];

#[test]
fn ids_come_back_from_the_formats_of_programs() {
    let folder = Folder::new();
    let lines = |end: &str| ALIKE.iter().map(|id| format!("{id} {end}\n")).collect::<String>();
    folder.put("odd.qrels", lines("0 a 1"));
    folder.put("odd.run", lines("Q0 a 1 1 t"));
    let out = |format: &str| {
        folder.out(&format!("eval odd.qrels odd.run -m AP --per-query --format {format}"))
    };
    let mut ids: Vec<String> =
        ALIKE.map(|id| id.replace('\u{fffd}', "\u{fffd}ef\u{fffd}bf\u{fffd}bd")).to_vec();
    ids.sort();
    let json: serde_json::Value = serde_json::from_str(&out("json")).unwrap();
    let mut keys: Vec<&String> = json["runs"][0]["per_query"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ids.iter().collect::<Vec<_>>());
    let rows = out("jsonl");
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    let mut found: Vec<String> =
        rows.map(|row| row["query_id"].as_str().unwrap().to_owned()).collect();
    found.retain(|id| !id.is_empty());
    found.sort();
    assert_eq!(found, ids);
    let mut ids = ALIKE.map(str::to_owned).to_vec();
    ids.sort();
    for (format, delimiter) in [("tsv", b'\t'), ("csv", b',')] {
        let text = out(format);
        let mut rows = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
        let mut found: Vec<String> = rows.records().map(|row| row.unwrap()[1].to_owned()).collect();
        found.retain(|id| !id.is_empty());
        found.sort();
        assert_eq!(found, ids, "{format}");
    }
    let text = out("trec");
    let mut found: Vec<&str> = text.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    found.retain(|id| *id != "all");
    found.sort();
    assert_eq!(found, ids);
}

#[test]
fn json_names_every_query_that_is_missing_or_ignored() {
    let folder = Folder::new();
    let ids = |letter: char| (10..40).map(move |number| format!("{letter}{number}"));
    folder.put(
        "many.qrels",
        ids('m').chain(["q".into()]).map(|id| format!("{id} 0 a 1\n")).collect::<String>(),
    );
    folder.put(
        "many.run",
        ids('i').chain(["q".into()]).map(|id| format!("{id} Q0 a 1 1 t\n")).collect::<String>(),
    );
    let queries = |inputs: &str| {
        let text = folder.out(&format!("eval {inputs} -m AP --format json --quiet"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["runs"][0]["queries"].take()
    };
    let found = queries("many.qrels many.run");
    let ids = |letter| ids(letter).collect::<Vec<_>>();
    assert_eq!(found["missing_ids"], serde_json::json!(ids('m')));
    assert_eq!(found["ignored_ids"], serde_json::json!(ids('i')));
    assert_eq!(
        (&found["missing_ids_truncated"], &found["ignored_ids_truncated"]),
        (&false.into(), &false.into())
    );
    assert_eq!(
        queries("many.qrels many.run --queries common")["missing_ids"],
        found["missing_ids"]
    );
    folder.out("build many.qrels many.run -o many.lmx");
    let matrix_queries = queries("many.lmx");
    assert_eq!(matrix_queries["missing_ids"], found["missing_ids"]);
    assert_eq!(
        matrix_queries["ignored_ids"],
        serde_json::json!(ids('i')[..5]),
        "a matrix keeps only the first few"
    );
    assert_eq!(
        (&matrix_queries["ignored"], &matrix_queries["ignored_ids_truncated"]),
        (&30.into(), &true.into())
    );
    assert_says(
        &folder.run("eval many.qrels many.run").err,
        &["(queries m10, m11, m12, m13, m14, …)", "(queries i10, i11, i12, i13, i14, …)"],
    );
}

#[test]
fn unknown_extensions_are_refused_before_any_work() {
    let folder = Folder::new();
    let before = folder.names();
    let formats =
        "take .tsv, .csv, .json, .jsonl, .txt, .md, .tex, .html, .htm, .svg, .xml, or use --format";
    for (line, expected) in [
        ("eval none none -o report.pdf", formats),
        ("eval none none -o s.csv.gz", formats),
        ("eval none none -o s.lmx", formats),
        ("bench none.lmx -o b.csv", "take .json, .txt, or use --format"),
        ("build none none -o m.txt", "unknown extension .txt: take .lmx"),
        ("gen -o data.csv", "unknown extension .csv: take .lmx, or end the name of a folder in /"),
    ] {
        assert_says(&folder.error(line), &["cannot write: unknown extension .", expected]);
    }
    assert_eq!(folder.names(), before);
    for (file, starts) in
        [("S.CSV", "run,"), ("s.html --format csv", "run,"), ("s.md --explain", "engine: ")]
    {
        folder.out(&format!("eval qrels bm25.run --quiet -o {file}"));
        assert!(
            folder.get(file.split(' ').next().unwrap()).starts_with(starts.as_bytes()),
            "{file}"
        );
    }
    folder.out("build qrels bm25.run -o M.LMX");
    folder.out("gen --query-count 2 --results 3 -o data.v1/");
    folder.out("gen --query-count 2 --results 3 -o data.v1");
    assert!(folder.path().join("data.v1/run.txt").is_file());
}

#[test]
fn an_adapter_is_for_a_gpu() {
    let folder = Folder::new();
    for engine in ["cpu", "reference"] {
        let error = folder.error(&format!("eval qrels bm25.run --engine {engine} --adapter 0"));
        assert_says(&error, &["--adapter names a GPU", &format!("--engine {engine}")]);
    }
    for line in ["eval qrels bm25.run --adapter=", "bench --adapter="] {
        assert_says(&folder.error(line), &["--adapter", "a part of a name"]);
    }
}

#[cfg(unix)]
#[test]
fn file_names_do_nothing_to_the_terminal() {
    let folder = Folder::new();
    for script in [
        "$L eval qrels $'no\\e[31mthere'",
        "$L eval qrels bm25.run -o $'no\\e[31m/there'",
        "$L gen --query-count 2 -o $'qrels/a\\e[31m'",
        "$L trec-eval -Z $'no\\e[31mthere' qrels bm25.run",
        "$L gen --query-count 2 --results 3 -o $'gen\\e[31m'",
        "$L build qrels bm25.run -o $'m\\e[31m.lmx'; $L info $'m\\e[31m.lmx' >&2",
    ] {
        let ran = folder.shell(script);
        assert_says(&ran.err, &["\\u{1b}[31m"]);
        assert!(!ran.err.contains('\u{1b}'), "{script}\n{}", ran.err);
    }
}

#[test]
fn measures_that_do_not_parse_are_pointed_at() {
    let folder = Folder::new();
    let error = folder.error("eval qrels bm25.run -m ngcd@10 -m P@0 -m AP(q=1)");
    assert_says(
        &error,
        &[
            "error: there is no measure `ngcd`: `laneval measures` lists them\n  ngcd@10\n  ^^^^ \
             did you mean nDCG",
            "error: a cutoff",
            "`AP` has no parameter `q`",
        ],
    );
    assert_says(&folder.error("eval qrels bm25.run -m ERR(gmax=1)"), &["gmax=3"]);
    assert_eq!(folder.run("eval -m ngcd").code, 2);
    assert_says(&folder.out("eval -m help"), &["nDCG", "laneval measures"]);
}

#[test]
fn files_appear_complete_or_not_at_all() {
    let folder = Folder::new();
    for (file, starts) in [
        ("s.tsv", "run\tquery_id"),
        ("s.csv", "run,query_id"),
        ("s.json", "{\n"),
        ("s.jsonl", "{\"run\""),
        ("s.txt", "bm25.run: 3 queries"),
        ("s", "run\tquery_id"),
    ] {
        assert_eq!(folder.out(&format!("eval qrels bm25.run -o {file}")), "");
        assert!(folder.get(file).starts_with(starts.as_bytes()), "{file}");
    }
    assert!(folder.out("eval qrels bm25.run -o -").starts_with("run\tquery_id"));
    let before = folder.names();
    for command in ["eval qrels bm25.run -o no/s.tsv", "build qrels bm25.run -o no/m.lmx"] {
        assert_says(&folder.error(command), &["no/", "there is no folder no"]);
    }
    assert_says(&folder.error("eval nope bm25.run -o no/s.tsv"), &["there is no folder no"]);
    assert_says(&folder.error("eval qrels bm25.run -o ."), &["it is a folder"]);
    assert_says(&folder.error("eval qrels bm25.run -o new/"), &["it is a folder"]);
    assert_eq!(folder.names(), before);
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    let folder = Folder::new();
    folder.put("real", "before");
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    folder.out("eval qrels bm25.run -o link");
    assert!(folder.get("real").starts_with(b"run\tquery_id"));
    folder.out("build qrels bm25.run -o link");
    assert!(folder.get("real").starts_with(b"\x89LMX"));
    assert!(folder.path().join("link").is_symlink());
    let ran = folder.shell("$L eval qrels bm25.run -o /dev/stdout > got; ls -l /dev/stdout");
    assert!(folder.get("got").starts_with(b"run\tquery_id"));
    assert_says(&ran.out, &["/dev/stdout -> "]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_an_id() {
    let folder = Folder::new();
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    folder.put("q", marked(QRELS));
    folder.put("r", marked(BM25));
    folder.put("r.zst", zstd::encode_all(&marked(BM25)[..], 0).unwrap());
    let values = |args: &str| {
        folder
            .out(args)
            .lines()
            .map(|l| l.split_once('\t').unwrap().1.to_owned())
            .collect::<Vec<_>>()
    };
    let plain = values("eval qrels bm25.run --quiet --per-query");
    assert_eq!(values("eval q r --quiet --per-query"), plain);
    assert_eq!(values("eval q r.zst --quiet --per-query"), plain);
}

#[test]
fn matrices_of_different_rules_are_compared_with_a_warning() {
    let folder = Folder::new();
    folder.out("build qrels bm25.run -o one.lmx");
    folder.out("build qrels dense.run --ties docno-asc -o two.lmx");
    let ran = folder.run("eval one.lmx two.lmx --quiet");
    assert_eq!(ran.code, 0);
    assert_says(&ran.err, &["warning: one.lmx and two.lmx were ranked under different rules"]);
}

#[test]
fn a_matrix_where_text_belongs_is_recognised() {
    let folder = Folder::new();
    folder.out("build qrels bm25.run -o m.lmx");
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
    let ran = ran(command
        .current_dir(folder.path())
        .args(["eval", "qrels", "-"])
        .write_stdin(folder.get("m.lmx")));
    assert_eq!(ran.code, 2);
    assert_says(&ran.err, &["stdin: is a label matrix (.lmx): give it as a file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_or_a_kill_leaves_no_half_file() {
    let folder = Folder::new();
    for script in
        ["\"$L\" eval qrels bm25.run > /dev/full", "\"$L\" eval qrels bm25.run -o /dev/full"]
    {
        let ran = folder.shell(script);
        assert_eq!(ran.code, 2);
        assert_says(&ran.err, &["cannot write: No space left on device"]);
    }
    assert_says(&folder.error("build qrels bm25.run -o /dev/null"), &["it is not a regular file"]);
    folder.put("s.tsv", "old");
    let scores = (0..4000).map(|q| format!("q{q} 0 a 1\n")).collect::<String>();
    folder.put("large.qrels", &scores);
    folder.put(
        "large.run",
        scores
            .lines()
            .map(|line| format!("{} 1 1 t\n", line.replace(" 0 ", " Q0 ").trim_end_matches(" 1")))
            .collect::<String>(),
    );
    for (file, command) in [
        ("s.tsv", "eval large.qrels large.run --per-query -o s.tsv"),
        ("m.lmx", "build large.qrels large.run -o m.lmx"),
    ] {
        // The limit on the size of files ends the process in the middle of its writing.
        assert_ne!(folder.shell(&format!("ulimit -c 0; ulimit -f 2; \"$L\" {command}")).code, 0);
        let content = folder.names().contains(&file.to_owned()).then(|| folder.get(file));
        assert_eq!(content, (file == "s.tsv").then(|| b"old".to_vec()));
        assert_eq!(folder.run(command).code, 0);
        assert!(folder.get(file).len() > 2048);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let queries = || (0..5000).map(|q| format!("q{q}"));
    folder.put("qrels", queries().map(|q| format!("{q} 0 a 1\n")).collect::<String>());
    folder.put("run", queries().map(|q| format!("{q} Q0 a 1 1 t\n")).collect::<String>());
    for format in ["table", "tsv", "csv", "json", "jsonl", "trec"] {
        let ran =
            folder.shell(&format!("\"$L\" eval qrels run --per-query --format {format} | head -1"));
        assert_eq!((ran.out.lines().count(), ran.err.as_str(), ran.code), (1, "", 0), "{format}");
    }
    let ran = folder.shell("(\"$L\" measures; \"$L\" man eval; \"$L\" completions bash) | true");
    assert_eq!((ran.err.as_str(), ran.code), ("", 0));
}

#[test]
fn damaged_matrices_are_refused() {
    let folder = Folder::new();
    folder.run("build qrels bm25.run dense.run -o m.lmx");
    let sound = folder.get("m.lmx");
    let change = |name: &str, at: usize, bits: u8| {
        let mut bytes = sound.clone();
        bytes[at] ^= bits;
        folder.put(name, bytes);
    };
    folder.put("short.lmx", &sound[..sound.len() - 1]);
    change("newer.lmx", 8, 0x40);
    change("header.lmx", 40, 1);
    change("section.lmx", 320, 1);
    change("tile.lmx", sound.len() - 64, 0x80);
    for (file, expected) in [
        ("short.lmx", "truncated"),
        ("newer.lmx", "version 65"),
        ("header.lmx", "damaged"),
        ("section.lmx", "damaged"),
    ] {
        for command in ["eval", "info"] {
            assert_says(&folder.error(&format!("{command} {file}")), &[file, expected]);
        }
    }
    assert_says(&folder.error("info bm25.run --verify"), &["bm25.run", "is not a .lmx file"]);
    assert_eq!(folder.run("eval tile.lmx").code, 0);
    assert_says(&folder.error("info tile.lmx --verify"), &["tile.lmx", "tiles", "damaged"]);
}

#[test]
fn info_says_what_is_inside() {
    let folder = Folder::new();
    let ran = folder.run("build qrels bm25.run dense.run -o m.lmx");
    assert_eq!(ran.out, "");
    assert_says(&ran.err, &["m.lmx: 2 runs, 3 judged queries, 10 labels, "]);
    let text = folder.out("info m.lmx --verify");
    assert_says(
        &text,
        &[
            "ties docno-desc, scores f64, all ranks",
            "depth        min 1, median 2, max 3",
            "labels       10 retrieved, 70.0 % judged",
            "verified     ok",
            "run        results  queries  missing  ignored  tag    source\n",
            "bm25.run         6        2        1        1  bm25   bm25.run\n",
            "grade       labels   share\n",
            "1                3  30.0 %\n",
            "negative         1  10.0 %\n",
            "not judged       2  20.0 %\n",
        ],
    );
    assert!(!folder.out("info m.lmx").contains("verified"));
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("info m.lmx --format json")).unwrap();
    assert_eq!(json["runs"][1]["run"], "dense.run");
    assert_eq!(json["labels"]["total"], 10);
    assert_eq!(json["labels"]["grades"].as_array().unwrap().len(), 4);
    assert_eq!(json["bytes"], folder.get("m.lmx").len());
}

#[test]
fn a_matrix_that_keeps_its_ties_says_how_many_there_are() {
    let folder = Folder::new();
    folder.put("tied.run", "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 z 3 2 t\nq1 Q0 y 4 2 t\n");
    folder.out("build qrels tied.run bm25.run -o plain.lmx");
    folder.out("build qrels tied.run bm25.run -o ties.lmx --keep-ties");
    let [plain, ties] =
        ["plain", "ties"].map(|name| folder.out(&format!("info {name}.lmx --verify")));
    assert_says(&plain, &["format       version 1, "]);
    assert!(!plain.contains("tied documents"), "{plain}");
    let grid = "run       tied documents  groups  mixed  largest\n";
    let lines = "tied.run               3       1      1        3\nbm25.run               0       \
                 0      0        0\n";
    assert_says(
        &ties,
        &["format       version 1, ", "verified     ok", grid, lines, "tied groups  "],
    );
    let json = |file: &str| serde_json::from_str::<serde_json::Value>(&folder.out(file)).unwrap();
    let found = json("info ties.lmx --format json");
    let counts = serde_json::json!({"documents": 3, "groups": 1, "mixed": 1, "largest": 3});
    assert_eq!((&found["runs"][0]["ties"], &found["version"]), (&counts, &1.into()));
    assert_eq!(json("info plain.lmx --format json")["runs"][0].get("ties"), None);
    let scores = |file: &str| folder.out(&format!("eval {file} -m AP,nDCG@2 --format jsonl"));
    assert_eq!(scores("ties.lmx"), scores("plain.lmx"));
}

#[test]
fn the_rank_column_orders_equal_scores_where_it_is_asked_for() {
    let folder = Folder::new();
    folder.put("judged", "q 0 a 1\nq 0 b 0\nq 0 c 0\n");
    folder.put("equal.run", "q Q0 b 2 1 t\nq Q0 c 3 1 t\nq Q0 a 1 1 t\n");
    let first =
        |options: &str| folder.out(&format!("eval judged equal.run -m P@1 --format tsv {options}"));
    assert_says(&first("--ties docno-desc"), &["P@1\tmean\t0"]);
    assert_says(&first("--ties rank"), &["P@1\tmean\t1"]);
    let stderr = folder.run("eval judged equal.run --ties rank").err;
    assert_says(&stderr, &["they are ordered by the rank column"]);
    folder.out("build judged equal.run -o rank.lmx --ties rank");
    assert_says(&folder.out("info rank.lmx"), &["version 1", "ties rank, scores f64"]);
    assert_says(&folder.out("eval rank.lmx -m P@1 --format tsv --ties rank"), &["P@1\tmean\t1"]);
    assert_says(&folder.error("eval rank.lmx --ties input"), &["was built with --ties rank"]);
    folder.put("twice.run", "q Q0 b 2 1 t\nq Q0 c 1 1 t\nq Q0 a 1 1 t\n");
    assert_says(
        &folder.error("eval judged twice.run --ties rank"),
        &["twice.run:3: rank 1 occurs again among equal scores of query 'q', first on line 2"],
    );
}

#[test]
fn measures_are_explained_under_every_name() {
    let folder = Folder::new();
    let list = folder.out("measures");
    for row in MEASURES {
        assert!(list.lines().any(|line| line.starts_with(row.name)), "{}", row.name);
        let text = folder.out(&format!("measures {}", row.name));
        assert!(text.starts_with(&format!("{}\n", row.name)), "{}\n{text}", row.name);
        row.params.iter().for_each(|param| assert_says(&text, &[param.name]));
    }
    assert_says(
        &folder.out("measures RBP"),
        &["    rbp of trec_eval 10: RBP(p=0.9,scale=topic)\n"],
    );
    let names = folder.out("measures --names");
    assert_eq!(
        names.lines().collect::<Vec<_>>(),
        MEASURES.iter().map(|row| row.name).collect::<Vec<_>>()
    );
    assert!(folder.out("measures ndcg_cut").starts_with("nDCG\n"));
    assert_says(&folder.error("measures ngcd"), &["did you mean nDCG"]);
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("measures --format json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), MEASURES.len());
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("measures map --format json")).unwrap();
    assert_eq!(
        (json["name"].as_str(), json["parameters"][1]["default"].as_str()),
        (Some("AP"), Some("judged"))
    );
    assert_eq!(json["measures"], serde_json::json!(["AP"]));
    assert!(json["aliases"].as_array().unwrap().contains(&"map".into()));
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("measures set_P rbp.95 --format json")).unwrap();
    assert_eq!(
        (&json[0]["name"], &json[1]["measures"][0]),
        (&"SetP".into(), &"RBP(p=0.95,gain=raw)".into())
    );
}

#[test]
fn what_is_known_of_values_is_said() {
    let folder = Folder::new();
    let list = folder.out("measures");
    let at =
        |name: &str| list.find(&format!("\n{name}")).unwrap_or_else(|| panic!("{name}\n{list}"));
    assert!(at("nDCG[@k]") < at("Hits[@k]") && at("Hits[@k]") < at("IPrec11"), "{list}");
    let text = folder.out("measures P@1 P@10 R@1 RBPresid Judged");
    for expected in [
        "  range      0 or 1 (P@1); 0 to 1 (P@10)\n",
        "  range      0 to 1\n",
        "of an empty ranking: 0; where nothing is relevant: follows from the ranking\n",
        "moving the better of two neighbours up never makes it worse\n",
        "  status     special\n",
    ] {
        assert_says(&text, &[expected]);
    }
    assert!(!folder.out("measures Judged").contains("  swaps"), "more of it is not better");
    let json = |measure: &str| -> serde_json::Value {
        serde_json::from_str(&folder.out(&format!("measures {measure} --format json"))).unwrap()
    };
    let yaap = json("YAAP");
    assert_eq!((&yaap["status"], &yaap["successor"]), (&"historical".into(), &"AP".into()));
    let none = serde_json::Value::Null;
    assert_eq!((&yaap["values"][0]["empty"], &yaap["values"][0]["least"]), (&none, &none));
    let hits = &json("AP(norm=hits)@10")["values"][0];
    assert_eq!((&hits["measure"], &hits["most"]), (&"AP(norm=hits)@10".into(), &1.0.into()));
    assert_eq!((&hits["better_swaps"], &hits["nothing_relevant"]), (&false.into(), &0.0.into()));
}

#[test]
fn the_plan_is_shown_without_running_it() {
    let folder = Folder::new();
    let text = folder.out("eval qrels bm25.run -m AP -m P@[5,10] --explain");
    assert_says(&text, &["engine: cpu (", "PrecisionSum", "at [5, 10]"]);
    assert_says(
        &folder.out("eval qrels bm25.run --explain --engine reference"),
        &["engine: reference"],
    );
    let ran = folder.run("eval qrels dense.run -v --threads 2");
    assert_says(
        &ran.err,
        &["engine: cpu (", "2 threads", "read: 1 run, 3 judged queries, 5 labels in "],
    );
}

#[test]
fn help_completions_and_manual_come_from_one_place() {
    let folder = Folder::new();
    assert_says(&folder.run("--help").out, &["eval", "build", "Examples:"]);
    for command in ["eval", "build", "info", "bench", "measures", "completions", "man"] {
        let ran = folder.run(&format!("{command} --help"));
        assert_eq!((ran.err.as_str(), ran.code), ("", 0));
        assert_says(&ran.out, &["Usage: laneval ", "Example"]);
        assert!(
            folder
                .run(&format!("{command} -h"))
                .out
                .lines()
                .all(|line| line.chars().count() <= 100)
        );
        assert_says(
            &folder.out(&format!("man {command}")),
            &[&format!("laneval\\-{command}"), ".SH SYNOPSIS"],
        );
    }
    assert_says(&folder.out("man"), &[".TH laneval 1"]);
    assert_says(&folder.error("man foo"), &["there is no command `foo`", "eval"]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert_says(&folder.out(&format!("completions {shell}")), &["per-query"]);
    }
    assert_says(&folder.out("--version"), &[env!("CARGO_PKG_VERSION")]);
}

#[test]
fn timing_says_where_the_time_went() {
    let folder = Folder::new();
    let ran = folder.run("eval qrels bm25.run --quiet --timing");
    assert_eq!(ran.code, 0);
    let steps: Vec<&str> = ran.err.lines().map(|line| line[..19].trim_end()).collect();
    let expected =
        ["read and join", "engine", "plan and facts", "folds and formulas", "statistics", "report"];
    assert_eq!(steps, expected);
    assert!(
        ran.err.contains("M results/s")
            && ran.err.contains("GB/s")
            && ran.err.contains("M labels/s")
    );
    assert_eq!(ran.out, folder.run("eval qrels bm25.run --quiet").out);
}

#[test]
fn gen_makes_what_eval_reads() {
    let folder = Folder::new();
    let gen_to = |to: &str| {
        folder
            .run(&format!("gen --query-count 40 --results 30 --judged 9 --runs 2 --seed 5 -o {to}"))
    };
    let (text, matrix) = (gen_to("new/data"), gen_to("data.lmx"));
    assert_eq!((text.code, matrix.code), (0, 0));
    assert!(
        text.err.starts_with("new/data: 2 runs, 40 judged queries, 2,400 results in "),
        "{}",
        text.err
    );
    let scores = folder.run("eval new/data/qrels.txt new/data/run-1.txt new/data/run-2.txt");
    assert_eq!(scores.out, folder.run("eval data.lmx").out);
    assert!(scores.out.contains("run-2.txt"));
    assert_eq!(folder.run("gen --density 2 -o data.lmx").code, 2);
}

/// A benchmark that is over at once.
const TINY: &str = "bench --query-count 70 --results 40 --density 0.1 --seconds 0 --threads 2";

#[cfg(unix)]
#[test]
fn bench_runs_without_a_gpu() {
    let folder = Folder::new();
    // A backend that laneval is not built with, so that no adapter is found whatever the machine
    // has.
    let ran = folder.shell(&format!("WGPU_BACKEND=gl \"$L\" {TINY}"));
    assert_eq!((ran.err.as_str(), ran.code), ("", 0), "{}", ran.out);
    assert_says(
        &ran.out,
        &[
            "labels   2,800, 10.1 % relevant: 70 queries, up to 40 deep\n",
            "gpu      none: ",
            "\nread memory        2  268.4 ",
            "\nread labels        2 ",
            "\nreference           1 ",
            "\nPeakPrecision  ",
        ],
    );
    assert!(!ran.out.contains("CPU ÷ GPU"));
    let ran = folder.shell(&format!("WGPU_BACKEND=gl \"$L\" {TINY} -o new.json"));
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", "", 0));
    let json: serde_json::Value = serde_json::from_slice(&folder.get("new.json")).unwrap();
    assert_eq!(
        (json["labels"].as_u64(), json["queries"].as_u64(), json["runs"].as_u64()),
        (Some(2800), Some(70), Some(1))
    );
    assert!(
        json["adapter"].is_null()
            && json["no_adapter"].is_string()
            && json["machine"]["cpu"].is_string(),
        "{json}"
    );
    let rows = json["rows"].as_array().unwrap();
    for row in rows {
        assert!(
            row["seconds"].as_f64().unwrap() > 0.0
                && row["bytes_per_second"].as_f64().unwrap() > 0.0,
            "{row}"
        );
        let computes = row["group"] != "memory";
        for rate in ["labels_per_second", "queries_per_second", "bandwidth_share"] {
            assert_eq!(
                row[rate].as_f64().is_some_and(|rate| rate > 0.0),
                computes,
                "{rate}: {row}"
            );
        }
    }
    let folds = |threads: u64| {
        rows.iter().filter(|row| row["group"] == "fold" && row["threads"] == threads).count()
    };
    assert_eq!((folds(1), folds(2)), (10, 10));
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    for arguments in ["--engine gpu --adapter nonesuch", "--adapter nonesuch"] {
        let error = folder.error(&format!("eval qrels bm25.run {arguments}"));
        assert_says(&error, &["no GPU adapter is named `nonesuch`", "found"]);
    }
    let ran = folder.run("eval qrels bm25.run --engine auto -v");
    assert_eq!(ran.code, 0);
    assert_says(&ran.err, &["engine: cpu (", "a GPU would take"]);
    assert_says(&folder.out("devices"), &["cpu ("]);
}

#[test]
fn bench_refuses_what_it_cannot_measure() {
    let folder = Folder::new();
    assert_says(&folder.error("bench bm25.run"), &["bm25.run", "is not a .lmx file"]);
    assert_says(&folder.error("bench missing.lmx"), &["missing.lmx"]);
    assert_says(&folder.error(&format!("{TINY} --adapter nonesuch")), &["nonesuch"]);
    assert_says(&folder.error("bench --density 2"), &["--density", "0 to 1"]);
    assert_says(&folder.error("bench bm25.run --query-count 9"), &["--query-count"]);
    folder.run("build qrels bm25.run dense.run -o both.lmx --quiet");
    assert_says(
        &folder.out("bench both.lmx --seconds 0"),
        &["labels   10, ", "2 runs × 3 queries, up to 3 deep"],
    );
}

/// trec_eval cuts to `-M` first and then drops what is not judged: nothing is left here.
#[test]
fn depth_comes_before_judged_only_and_help_says_so() {
    let folder = Folder::new();
    folder.put("one", "q 0 a 1\n");
    folder.put("two", "q Q0 u 1 9 t\nq Q0 a 2 8 t\n");
    assert!(folder.run("eval one two -M 1 -J -m RR").out.ends_with("\tmean\t0\n"));
    assert!(folder.run("eval one two -J -m RR").out.ends_with("\tmean\t1\n"));
    let help = folder.run("eval --help").out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in
        ["-M first, then -J", "before -J", "percentile bootstrap", "Clopper and Pearson"]
    {
        assert!(help.contains(expected), "{expected}");
    }
}

#[test]
fn what_may_mislead_is_said_once_on_stderr() {
    let folder = Folder::new();
    let ran = folder.run("eval qrels dense.run -m AP,P@5,nDCG,RR --rel 9");
    let expected = "\
note: --rel changes nothing in nDCG
note: AP(rel=9), P(rel=9)@5, RR(rel=9): nothing is relevant, because no grade is 9 or more (the \
        highest is 3): --rel or rel= sets the lowest relevant grade
";
    assert_eq!((ran.err.as_str(), ran.code), (expected, 0));
    assert_eq!(folder.run("eval qrels dense.run -m AP,P@5,nDCG,RR --rel 9 --quiet").err, "");
    assert_eq!(folder.run("eval qrels dense.run -m AP,P@5 --rel 2").err, "");
    folder.put("one", "q1 0 a 2\n");
    let one =
        folder.run("eval one dense.run --queries common -m P@1,AP --stat std,ci95 --format json");
    assert!(
        one.err.contains("one query has neither a standard deviation nor a confidence interval"),
        "{}",
        one.err
    );
    let (_, scores) = one.out.split_once("\"scores\"").unwrap();
    assert!(!["std", "ci95", "null"].iter().any(|name| scores.contains(name)), "{scores}");
}

#[test]
fn a_value_that_is_not_finite_is_an_error_in_every_format() {
    let folder = Folder::new();
    folder.put("huge", "q1 0 a 1.7e308\nq1 0 b 1.7e308\n");
    for format in ["table", "tsv", "json", "trec"] {
        let ran = folder.run(&format!("eval huge dense.run -m AP,CG --format {format}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{format}");
        assert!(ran.err.contains("dense.run, query q1: CG is inf"), "{}", ran.err);
    }
}

/// Where a stream is larger than memory, that is an error, and no abort.
#[cfg(target_os = "linux")]
#[test]
fn a_stream_larger_than_memory_is_an_error() {
    let qrels = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(qrels.path(), "1 0 d1 1\n").unwrap();
    let endless = r#"ulimit -v 800000 && yes '1 Q0 d1 1 1 t' | "$0" eval --threads 1 "$1" -"#;
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", endless, env!("CARGO_BIN_EXE_laneval")]).arg(qrels.path());
    let output = shell.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("error: stdin: cannot read: "), "{message}");
    assert_eq!(output.status.code(), Some(2), "{message}");
}
