//! Formats on the command line: options, notes, what `info` says, and pipes.

use super::folder::{Folder, assert_says};

#[test]
fn a_note_says_what_might_be_something_else() {
    let folder = Folder::of_formats();
    let expected = folder.out("eval qrels.trec run=run.trec -m nDCG@10,AP --format csv");
    let note = "note: msmarco.tsv: three columns without a header, of which the third counts 1, 2, \
                3 … in every query: query, document and \
                rank\n";
    let ran = folder.run("eval qrels.trec run=msmarco.tsv -m nDCG@10,AP --format csv");
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), (expected.as_str(), note, 0));
    assert_eq!(folder.run("eval qrels.trec run=msmarco.tsv -m AP --format csv --quiet").err, "");
    assert_says(&folder.run("build qrels.trec msmarco.tsv -o m.lmx").err, &[note.trim_end()]);
    assert_says(&folder.run("show qrels.trec msmarco.tsv --query PLAIN-1").err, &[note.trim_end()]);
    assert_says(
        &folder.run("compare qrels.trec msmarco.tsv run.tsv -m AP").err,
        &[note.trim_end()],
    );
    let verbose = folder.run("eval qrels.tsv run.json -v").err;
    assert_says(
        &verbose,
        &["qrels.tsv: TSV with a header: query-id, corpus-id, score\n", "run.json: JSON, {"],
    );
    let explained = folder.out("eval qrels.csv judged=run.csv --explain");
    assert_says(
        &explained,
        &[
            "qrels.csv: CSV without a header: query,document,grade\n",
            "run.csv: CSV with a header: user_id, item_id, prediction\n",
        ],
    );
}

#[test]
fn options_overrule_what_is_told() {
    let folder = Folder::of_formats();
    folder.put("plain.tsv", "PLAIN-1\tMED-10\t2\nPLAIN-1\tMED-11\t7\n");
    let refused = folder.error("eval qrels.trec plain.tsv");
    assert_says(
        &refused,
        &[
            "plain.tsv:1: '2' where rank 1 was expected",
            "`--columns query,doc,score` if they are scores",
        ],
    );
    let values = |args: &str| {
        folder.out(&format!("eval qrels.trec r={args} -m nDCG@10 --format csv --quiet"))
    };
    folder.put("scores.trec", "PLAIN-1 0 MED-10 1 2 t\nPLAIN-1 0 MED-11 2 7 t\n");
    folder.put("ranks.trec", "PLAIN-1 0 MED-10 1 -2 t\nPLAIN-1 0 MED-11 2 -7 t\n");
    folder.put("named.csv", "s,q,d,score\n2,PLAIN-1,MED-10,x\n7,PLAIN-1,MED-11,x\n");
    assert_eq!(values("plain.tsv --columns query,doc,score"), values("scores.trec"));
    assert_eq!(values("plain.tsv --run-format msmarco"), values("ranks.trec"));
    assert_eq!(values("plain.tsv --columns query,doc,rank"), values("ranks.trec"));
    assert_eq!(values("named.csv --columns query=q,doc=d,score=s"), values("scores.trec"));
    assert_says(
        &folder.error("eval qrels.trec named.csv"),
        &["named.csv:1: there is no header, and 4 columns: say which are queries"],
    );
    assert_says(
        &folder.error("eval qrels.trec named.csv --columns query=q,doc=d,score=z"),
        &["named.csv:1: there is no column `z` for the score: there are 's', 'q', 'd', 'score'"],
    );
    assert_says(
        &folder.error("eval qrels.trec run.trec --columns query,doc"),
        &["qrels.trec:1: 4 fields in 'PLAIN-1 0 MED-10 2': expected 'query,doc'"],
    );
    assert_says(
        &folder.error("eval qrels.trec run.trec --run-format xml"),
        &["msmarco", "jsonl", "parquet"],
    );
    assert_says(
        &folder.error("eval qrels.trec run.tsv --ties rank"),
        &["run.tsv has no ranks beside its scores that could order equal ones"],
    );
    assert_says(
        &folder.error("eval qrels.trec run.trec --run-format json"),
        &["run.trec:1: '{' was expected at 'PLAIN-1"],
    );
    folder.put("sizes", "3\n2\n");
    folder.put("labels", "2\n1\n0\n1\n0\n");
    let by_groups =
        folder.out("eval labels r=scores.txt --letor-groups sizes -m AP --format csv --quiet");
    assert_eq!(by_groups, folder.out("eval qrels.trec r=run.trec -m AP --format csv --quiet"));
}

/// A run of ColBERT: the relevant document is at rank 5.
#[test]
fn runs_of_ranks_and_scores_are_read_with_a_note() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 d5 1\n");
    let rows = |row: &dyn Fn(usize) -> String| (1..=6).map(row).collect::<String>();
    let trec = rows(&|rank| format!("q1 Q0 d{rank} {rank} {}.5 bm25\n", 20 - rank));
    folder.put("twin.trec", trec.clone());
    folder.put("tagged", trec.replace(" Q0", ""));
    folder.put("ranking.tsv", rows(&|rank| format!("q1\td{rank}\t{rank}\t{}.5\n", 20 - rank)));
    for (name, is) in [
        (
            "ranking.tsv",
            "4 columns without a header, of which the third counts 1, 2, 3 … in every query: query, \
             document, rank, score",
        ),
        (
            "tagged",
            "5 columns without a header, of which the third counts 1, 2, 3 … in every query: query, \
             document, rank, score, tag",
        ),
    ] {
        let ran = folder.run(&format!("eval qrels {name} -m RR"));
        assert_eq!((ran.err.as_str(), ran.code), (&*format!("note: {name}: {is}\n"), 0));
        assert_says(&ran.out, &["RR\tmean\t0.2\n"]);
    }
    folder.out("convert tagged -o tagged.trec --quiet");
    folder.out("convert twin.trec -o again.trec --quiet");
    assert_eq!(folder.get("tagged.trec"), folder.get("again.trec"));
}

/// What errors about columns propose works.
#[test]
fn proposed_columns_read_the_table() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 d5 1\n");
    folder.put("zero.tsv", "q1\td1\t0\t9.5\nq1\td5\t1\t9\n");
    folder.put("short", "q1 d1 1 9.5 bm25\nq1 d5 2 9 bm25\n");
    folder.put("run", "1 Q0 661 1 3 t\n1 Q0 1193 2 2 t\n");
    folder.put("u.data", "1\t1193\t5\t978300760\n1\t661\t0\t978302109\n");
    folder.put("ratings.dat", "1::1193::5::978300760\n1::661::0::978302109\n");
    let four = "--columns query,doc,rank,score";
    let five = "--columns query,doc,rank,score,-";
    let times = "--columns query,doc,grade,-";
    for (args, option) in [
        ("eval qrels zero.tsv -m RR", four),
        ("eval qrels short -m RR", five),
        ("eval u.data run -m RR", times),
    ] {
        assert_says(&folder.error(args), &[&format!("`{option}`")]);
        assert_says(&folder.out(&format!("{args} {option}")), &["RR\tmean\t0.5\n"]);
    }
    // The documents are the ratings, where the user says that this is TREC.
    folder.put("rated", "1 Q0 5 1 1 t\n");
    assert_says(&folder.out("eval u.data rated -m RR --qrels-format trec"), &["RR\tmean\t1\n"]);
    assert_says(&folder.error("eval ratings.dat run"), &["`sed 's/::/\\t/g'`", times]);
    let piped =
        folder.shell(&format!("sed 's/::/\\t/g' ratings.dat | $L eval - run -m RR {times}"));
    assert_says(&piped.out, &["RR\tmean\t0.5\n"]);
    assert_says(
        &folder.error("convert zero.tsv -o x.trec"),
        &["; if they are judgments, add --qrels\n"],
    );
    folder.put("unranked", "q1 Q0 d1 9.5 t\nq1 Q0 d5 9 t\nq1 Q0 d2 8 t\n");
    let awk = r#"awk '{$3 = $3 " 0"; print}'"#;
    assert_says(
        &folder.error("eval qrels unranked"),
        &["has five columns; if only the rank is missing: expected", &format!("`{awk}`")],
    );
    let ranked = folder.shell(&format!("{awk} unranked | $L eval qrels - -m RR"));
    assert_says(&ranked.out, &["RR\tmean\t0.5\n"]);
    // Scores of RankLib go with LETOR without their first columns.
    folder.put("judged", "1 qid:7 1:0.5\n0 qid:7 1:0.1\n");
    folder.put("ranklib", "7\t0\t0.25\n7\t1\t0.75\n");
    assert_says(&folder.error("eval judged ranklib"), &["as after `awk '{print $3}'`"]);
    let scores = folder.shell("awk '{print $3}' ranklib | $L eval judged - -m RR");
    assert_says(&scores.out, &["RR\tmean\t0.5\n"]);
}

#[test]
fn identical_ids_are_dropped_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.put("own.run", "q1 Q0 q1 1 9 t\nq1 Q0 a 2 8 t\n");
    folder.put("without.run", "q1 Q0 a 2 8 t\n");
    let values =
        |args: &str| folder.out(&format!("eval qrels r={args} -m nDCG@1 --format csv --quiet"));
    assert_eq!(values("own.run --drop-identical-ids -M 1"), values("without.run"));
    assert_ne!(values("own.run"), values("without.run"));
    folder.out("build qrels own.run -o own.lmx --drop-identical-ids --quiet");
    folder.out("build qrels own.run=without.run -o without.lmx --quiet");
    let values = |file: &str| folder.out(&format!("eval {file} -m nDCG@1 --format csv --quiet"));
    assert_eq!(values("own.lmx"), values("without.lmx"));
    folder.out("eval own.lmx --drop-identical-ids --quiet");
    assert_says(
        &folder.error("eval without.lmx --drop-identical-ids"),
        &["without.lmx has no documents that --drop-identical-ids could drop"],
    );
    assert_says(
        &folder.out("info own.lmx"),
        &["all ranks, without documents with the id of their query"],
    );
    let shown = folder.out("show qrels own.run --query q1 --drop-identical-ids --format jsonl");
    assert!(shown.contains("\"a\"") && !shown.contains("\"document\":\"q1\""), "{shown}");
}

/// A run of one judged query, whose relevant documents are `a` and `c` (sample judgments), and of
/// another one.
const SEEN_RUN: &str = "q1 Q0 x 1 9 t\nq1 Q0 y 2 8 t\nq1 Q0 a 3 7 t\nq2 Q0 x 1 9 t\nq1 Q0 z 4 6 \
                        t\nq1 Q0 c 5 5 t\nq2 Q0 a 2 8 t\n";

/// The values of RR and AP of q1 and q2 under these options, for a folder with `seen.run`.
fn seen_values(folder: &Folder, options: &str) -> Vec<String> {
    let command =
        "eval qrels r=seen.run -m RR,AP --per-query --queries common --format tsv --quiet";
    let out = folder.out(&format!("{command} {options}"));
    let values = out.lines().filter(|line| line.ends_with(char::is_numeric)).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[1], fields[2], fields[4])
    });
    let value = |query: &str, measure: &str| {
        values.clone().find(|row| (row.0, row.1) == (query, measure)).unwrap().2.to_owned()
    };
    vec![value("q1", "RR"), value("q1", "AP"), value("q2", "RR"), value("q2", "AP")]
}

#[test]
fn excluded_documents_are_left_out_of_rankings() {
    let folder = Folder::new();
    folder.put("seen.run", SEEN_RUN);
    folder.put("seen.qrels", "q1 0 x 1\nq1 0 z 0\nq1 0 x 0\nq9 0 a 1\n");
    // q1: x y a z c, with a and c relevant; q2: x a, with a.
    let all = ["0.3333333333333333", "0.3666666666666667", "0.5", "0.5"];
    assert_eq!(seen_values(&folder, ""), all);
    // q1: y a c, of which -M 2 keeps y and a.
    let without = ["0.5", "0.5833333333333333", "0.5", "0.5"];
    assert_eq!(seen_values(&folder, "--exclude seen.qrels"), without);
    assert_eq!(seen_values(&folder, "--exclude seen.qrels -M 2"), ["0.5", "0.25", "0.5", "0.5"]);
    let run = folder.run("eval qrels r=seen.run -m RR --exclude seen.qrels");
    assert_says(&run.err, &["note: seen.qrels: 2 results of 1 query were left out (--exclude)\n"]);
    assert!(!run.err.contains("judged relevant"), "{}", run.err);
    // The same pairs in other forms, and the same set in any order.
    for (name, text) in [
        ("pairs.tsv", "query_id\tdoc_id\nq9\ta\nq1\tz\nq1\tx\n"),
        ("plain.tsv", "q1\tz\nq1\tx\nq9\ta\n"),
        ("pairs.csv", "doc_id,user_id\nz,q1\nx,q1\na,q9\n"),
        ("graded.tsv", "query-id\tcorpus-id\tscore\nq1\tz\t1\nq1\tx\t1\nq9\ta\t1\n"),
        ("objects.json", r#"{"q1": {"z": 1, "x": 1}, "q9": {"a": 1}}"#),
        (
            "bright.jsonl",
            concat!(
                r#"{"query": "Why is x?", "id": "q1", "excluded_ids": ["x", "z"], "gold_ids": ["a"]}"#,
                "\n",
                r#"{"query": "And a?", "id": "q9", "excluded_ids": ["a"], "gold_ids": ["b"]}"#,
                "\n",
                r#"{"query": "And b?", "id": "q8", "excluded_ids": [], "gold_ids": ["b"]}"#,
                "\n",
            ),
        ),
        (
            "seen.json",
            r#"[{"user_id": "q1", "seen_ids": ["x", "z"]}, {"user_id": "q9", "seen_ids": ["a"]}]"#,
        ),
        ("exclude.jsonl", r#"{"qid": "q1", "exclude": ["x", "z"]}"#),
    ] {
        folder.put(name, text);
        assert_eq!(seen_values(&folder, &format!("--exclude {name}")), without, "{name}");
    }
    let eval = |run: &str, file: &str| format!("eval qrels r={run} -m RR,AP --exclude {file}");
    let piped = folder.run_with(&eval("-", "seen.qrels"), SEEN_RUN);
    assert_eq!(piped.out, folder.out(&eval("seen.run", "pairs.csv")));
    assert_says(&piped.err, &["seen.qrels: 2 results of 1 query were left out"]);
}

#[test]
fn excluded_documents_may_be_judged_or_unknown() {
    let folder = Folder::new();
    folder.put("seen.run", SEEN_RUN);
    folder.put("relevant.tsv", "query_id\tdoc_id\nq1\ta\nq1\tb\nq2\te\nq2\ta\n");
    let run = folder.run("eval qrels seen.run bm25.run -m R@10 --exclude relevant.tsv");
    let note = "note: relevant.tsv: 5 results of 2 queries were left out (--exclude); 2 documents \
                of it are judged relevant: recall cannot reach 1\n";
    assert_says(&run.err, &[note]);
    assert_says(&run.out, &["seen.run\t\tR@10\tmean\t0.16666666666666666"]);
    for pairs in ["q9\ta\n", "q1\tnothing\n", "a\tq1\n"] {
        folder.put("none.tsv", format!("query_id\tdoc_id\n{pairs}"));
        let run = folder.run("eval qrels seen.run -m RR --exclude none.tsv --quiet");
        assert_says(&run.err, &["warning: none.tsv: nothing was left out (--exclude)"]);
    }
    folder.put("empty", "");
    let run = folder.run("eval qrels seen.run -m RR --exclude empty --quiet");
    assert_says(&run.err, &["warning: empty: nothing was left out"]);
    for (text, expected) in [
        ("a,b\n1,2\n", "odd:1: 1 field: expected 'query<TAB>document', or a first line"),
        ("q1 0 d1 1\nq1 0 d2\n", "odd:2: 3 fields"),
        ("query_id,doc_id\nq1,\n", "odd:2: the document is empty in 'q1,'"),
    ] {
        folder.put("odd", text);
        assert_says(&folder.error("eval qrels seen.run -m RR --exclude odd"), &[expected]);
    }
    assert_says(&folder.error("eval qrels seen.run --exclude missing"), &["missing: cannot open"]);
}

#[test]
fn excluded_documents_are_known_of_a_matrix() {
    let folder = Folder::new();
    folder.put("seen.run", SEEN_RUN);
    folder.put("seen.tsv", "query_id\tdoc_id\nq1\tx\nq1\tz\n");
    folder.put("again.tsv", "query_id\tdoc_id\nq1\tz\nq1\tx\nq1\tz\n");
    folder.put("other.tsv", "query_id\tdoc_id\nq1\tx\n");
    folder.out("build qrels seen.run -o seen.lmx --exclude seen.tsv --quiet");
    folder.out("build qrels seen.run -o all.lmx --quiet");
    let text = folder.out("eval qrels seen.run -m AP --exclude seen.tsv --quiet");
    assert_eq!(folder.out("eval seen.lmx -m AP --exclude again.tsv --quiet"), text);
    assert_says(
        &folder.error("eval all.lmx --exclude seen.tsv"),
        &["all.lmx has no documents that --exclude could leave out: build it again"],
    );
    assert_says(
        &folder.error("eval seen.lmx --exclude other.tsv"),
        &["seen.lmx: was built with other excluded documents, so --exclude cannot be answered"],
    );
    assert_says(&folder.out("info seen.lmx"), &["all ranks, without excluded documents"]);
    let shown = folder.out("show qrels seen.run --query q1 --exclude seen.tsv --format jsonl");
    assert!(shown.contains("\"y\"") && !shown.contains("\"x\""), "{shown}");
    // The fingerprint is in JSON, and merges with no other.
    let json = folder.out("eval qrels seen.run -m AP --exclude seen.tsv --quiet --format json");
    assert!(json.contains("\"excluded\": \"") || json.contains("\"excluded\":\""), "{json}");
    folder.out("eval qrels seen.run -m AP --exclude seen.tsv --quiet --partial one.lev");
    folder.put("more", "q7 0 a 1\n");
    folder.put("more.run", "q7 Q0 a 1 1 t\n");
    folder.out("eval more seen.run=more.run -m AP --exclude again.tsv --quiet --partial two.lev");
    folder.out("eval more seen.run=more.run -m AP --exclude other.tsv --quiet --partial no.lev");
    folder.out("merge one.lev two.lev");
    assert_says(
        &folder.error("merge one.lev no.lev"),
        &["the excluded documents differ (those of ", "set --exclude alike"],
    );
}

/// What is no error, but most likely not meant.
#[test]
fn what_is_swapped_or_never_matches_is_noted() {
    let folder = Folder::of_formats();
    let note = |args: &str| folder.run(&format!("eval {args} -m AP")).err;
    let scores: String = (0..9).map(|n| format!("q1,d{n},{}.25\n", 9 - n)).collect();
    folder.put("scores.csv", format!("query_id,doc_id,score\n{scores}"));
    folder.put(
        "scores.json",
        format!(
            "{{\"q1\": {{{}}}}}",
            (0..9).map(|n| format!("\"d{n}\": 0.{n}1")).collect::<Vec<_>>().join(", ")
        ),
    );
    folder.put("judged.csv", "query_id,doc_id,score\nq1,d1,1\nq1,d7,2\n");
    for run in ["scores.csv", "scores.json"] {
        assert_says(
            &note(&format!("{run} judged.csv")),
            &[
                &format!("{run}: 9 distinct grades, and most are not integers, such as "),
                "the order is QRELS RUN",
            ],
        );
        assert_eq!(note(&format!("judged.csv {run}")), "");
    }
    let rows = |doc: &str| (1..4).map(|n| format!("q{n},{doc}{n},1\n")).collect::<String>();
    folder.put("three.csv", rows("d"));
    folder.put("spaced.csv", rows(" d"));
    assert_says(
        &note("three.csv spaced.csv --columns query,doc,score"),
        &["spaced.csv: no retrieved document is judged, in any of its 3 queries"],
    );
    folder.put("contrary.csv", "query_id,doc_id,score,rank\nq1,d1,1,1\nq1,d7,2,2\n");
    assert_says(
        &note("judged.csv contrary.csv"),
        &["contrary.csv: scores and the rank column contradict each other in 1 of 1 queries"],
    );
}

#[test]
fn info_says_what_a_file_is_taken_for() {
    let folder = Folder::of_formats();
    let stdout = folder.out("info run.csv");
    assert_says(
        &stdout,
        &[
            "as a run       CSV with a header: user_id, item_id, prediction\n",
            "as judgments   error: run.csv:1: found no grade among",
        ],
    );
    assert_says(&stdout, &["   2  PLAIN-1  MED-12       9.5\n"]);
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("info qrels.json --format json")).unwrap();
    assert_eq!(
        json["rows"][1],
        serde_json::json!({"line": 4, "query": "PLAIN-1", "document": "MED-11", "number": "1"})
    );
    assert_says(
        &folder.out("info run.trec"),
        &["as a run       TREC text\n", "as judgments   error: run.trec: this is a run"],
    );
    assert_says(
        &folder.out("info qrels.tsv --columns query=query-id,doc=score,grade=score"),
        &["TSV with a header: query-id, score, score"],
    );
    folder.put(
        "broken.jsonl",
        "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1}\n{\"qid\": \
         null, \"docid\": \"d\", \"rel\": 1}\n",
    );
    assert_says(
        &folder.out("info broken.jsonl"),
        &["line 2: the query is 'null', and neither a string nor an integer\n"],
    );
    assert_eq!(folder.run_with("info -", "q 0 d 1\n").code, 0);
    // What is neither is an error, and is not called TREC.
    for (name, text, expected) in [
        (
            "junk",
            "hello world\nfoo bar\n",
            "as a run       error: junk:1: 2 fields in 'hello world': expected",
        ),
        ("empty", "", "as judgments   error: empty: there is no row in it\n"),
        ("list", "[]", "as judgments   error: list:1: the array is empty: "),
        (
            "wrong.tsv",
            "qid\tdocid\tscore\nq\td\tx\n",
            "as a run       error: wrong.tsv:2: score 'x' is not a number",
        ),
    ] {
        folder.put(name, text);
        for format in ["table", "json"] {
            let ran = folder.run(&format!("info {name} --format {format}"));
            assert_eq!(ran.code, 2, "{name}");
            assert!(
                ran.err.starts_with(&format!("error: {name} can be read neither as")),
                "{}",
                ran.err
            );
            assert!(!ran.out.contains("TREC text"), "{}", ran.out);
            assert!(format == "json" || ran.out.contains(expected), "{}", ran.out);
        }
    }
}

#[test]
fn every_format_goes_through_a_pipe() {
    let folder = Folder::of_formats();
    let expected = folder.out("eval qrels.trec r=run.trec -m nDCG@10,AP --format csv --quiet");
    for run in ["untagged.trec", "run.tsv", "run.csv", "run.json", "run.jsonl", "msmarco.tsv"] {
        let text = String::from_utf8(folder.get(run)).unwrap();
        let ran = folder.run_with("eval qrels.trec r=- -m nDCG@10,AP --format csv --quiet", &text);
        assert_eq!((ran.out, ran.code), (expected.clone(), 0), "{run}: {}", ran.err);
    }
    for qrels in ["qrels.tsv", "qrels.csv", "qrels.json", "qrels.jsonl", "judged.letor"] {
        let text = String::from_utf8(folder.get(qrels)).unwrap();
        let ran = folder.run_with("eval - r=run.trec -m nDCG@10,AP --format csv --quiet", &text);
        assert_eq!((ran.out, ran.code), (expected.clone(), 0), "{qrels}: {}", ran.err);
    }
}

#[test]
fn every_format_goes_through_a_pipe_compressed() {
    let folder = Folder::of_formats();
    let expected = folder.out("eval qrels.trec r=run.trec -m nDCG@10,AP --format csv --quiet");
    let runs =
        ["run.trec", "untagged.trec", "run.tsv", "run.csv", "run.json", "run.jsonl", "msmarco.tsv"]
            .map(|run| (run, "eval qrels.trec r=-"));
    let qrels =
        ["qrels.trec", "qrels.tsv", "qrels.csv", "qrels.json", "qrels.jsonl", "judged.letor"]
            .map(|qrels| (qrels, "eval - r=run.trec"));
    let scores = [("scores.txt", "eval judged.letor r=-")];
    for (name, command) in runs.into_iter().chain(qrels).chain(scores) {
        let text = folder.get(name);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, &text).unwrap();
        for bytes in [gzip.finish().unwrap(), zstd::encode_all(&text[..], 1).unwrap()] {
            folder.put("piped", bytes);
            let ran = folder
                .shell(&format!("cat piped | $L {command} -m nDCG@10,AP --format csv --quiet"));
            assert_eq!((ran.out, ran.code), (expected.clone(), 0), "{name}: {}", ran.err);
        }
    }
}

/// More than is held of a pipe: evaluated as it comes, to the bits of the file.
#[test]
fn long_runs_of_every_format_go_by() {
    let folder = Folder::new();
    let row = |n: usize| {
        (n / 100, format!("document{}", n * 7919 % 1_000_003), (n * 7919 % 10_007) as f64 / 8.0)
    };
    let queries: String = (0..12_000usize)
        .step_by(37)
        .map(|query| format!("{query} 0 document{} 1\n", query * 100 * 7919 % 1_000_003))
        .collect();
    folder.put("long.qrels", queries);
    let rows = || (0..1_200_000).map(row);
    let lines = |line: &dyn Fn(usize, &str, f64) -> String| {
        rows().map(|(q, d, s)| line(q, &d, s)).collect::<String>()
    };
    let jsonl = lines(&|q, d, s| format!("{{\"qid\":{q},\"docid\":\"{d}\",\"score\":{s}}}\n"));
    let tsv = format!(
        "text\tqid\tdocid\tscore\n{}",
        lines(&|q, d, s| format!("some text\t{q}\t{d}\t{s}\n"))
    );
    // What stands between quotes before a query is no field of its own.
    let csv = format!(
        "text,qid,docid,score\n{}",
        lines(&|q, d, s| format!("\"some, {s}\",{q},{d},{s}\r\n"))
    );
    assert!([&tsv, &csv, &jsonl].iter().all(|text| text.len() > 33 << 20));
    folder.put("long.tsv", &tsv);
    let expected = folder.out("eval long.qrels r=long.tsv -m nDCG@10,AP --format csv --quiet");
    for text in [tsv, csv, jsonl] {
        let ran = folder.run_with("eval long.qrels r=- -m nDCG@10,AP --format csv -v", &text);
        assert_eq!((ran.out, ran.code), (expected.clone(), 0), "{}", ran.err);
        assert_says(&ran.err, &["evaluated as it came"]);
    }
}

/// Numbers that come of the wrong reading would be worse than an error.
#[test]
fn what_would_give_a_wrong_number_is_refused_or_read_right() {
    let folder = Folder::of_formats();
    folder.put("judged.trec", "q1 0 d1 1\nq1 0 x 0\n");
    let late = "q1\tQ0\td1\t1\t9.5\tt\nq1\tQ0\tBRK 7\t200\t0.5\tt\n";
    folder.put("late.tsv", late);
    folder.put("early.tsv", late.lines().rev().map(|line| format!("{line}\n")).collect::<String>());
    let values =
        |run: &str| folder.out(&format!("eval judged.trec r={run} -m RR,P@1 --format csv --quiet"));
    assert_says(&values("late.tsv"), &["r,,RR,mean,1\n", "r,,P@1,mean,1\n"]);
    assert_eq!(values("early.tsv"), values("late.tsv"));
    let ranks: String = (1..=5).map(|rank| format!("PLAIN-1\tMED-1{rank}\t{rank}\n")).collect();
    folder.put("ranks.tsv", &ranks);
    assert_says(
        &folder.error("eval ranks.tsv qrels.tsv"),
        &["ranks.tsv:1: this looks like a run, because its third column counts 1, 2, 3 … in \
             every query: the order is QRELS RUN"],
    );
    folder.out("eval ranks.tsv run.trec -m AP --qrels-format tsv --quiet");
    folder.put(
        "graded.tsv",
        ranks.lines().take(4).map(|line| format!("{line}\n")).collect::<String>(),
    );
    folder.out("eval graded.tsv run.trec -m AP --quiet");
    let huge = format!("1\n{}\n3\n", u64::MAX);
    folder.put("sizes", huge);
    folder.put("labels", "2\n1\n0\n1\n0\n");
    assert_says(
        &folder.error("eval labels r=scores.txt --letor-groups sizes -m AP"),
        &["the groups in sizes have ", " lines more than the judgments"],
    );
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_read_by_every_command() {
    let folder = Folder::of_formats();
    let values = |args: &str| {
        folder.out(&format!("eval {args} -m nDCG@10,AP --per-query --format csv --quiet"))
    };
    let twin = values("qrels.trec r=run.trec");
    for extension in ["parquet", "arrow"] {
        let (qrels, run) = (format!("qrels.{extension}"), format!("run.{extension}"));
        assert_eq!(values(&format!("{qrels} r={run}")), twin);
        assert_eq!(values(&format!("qrels.trec r={run} --no-mmap")), twin);
        assert_eq!(values(&format!("{qrels} r=run.json --qrels-format {extension}")), twin);
        assert_eq!(values(&format!("qrels.tsv r={run} --run-format {extension}")), twin);
        let piped = folder.shell(&format!(
            "cat {run} | $L eval qrels.csv r=- -m nDCG@10,AP --per-query --format csv --quiet"
        ));
        assert_eq!(piped.out, twin, "{}", piped.err);
        let piped = folder.shell(&format!(
            "cat {qrels} | $L eval - r={run} -m nDCG@10,AP --per-query --format csv --quiet"
        ));
        assert_eq!(piped.out, twin, "{}", piped.err);
        folder.out(&format!("build {qrels} r={run} -o m.lmx"));
        assert_eq!(values("m.lmx"), twin);
        let shown = |run: &str| folder.out(&format!("show qrels.trec r={run} --query PLAIN-1"));
        assert_eq!(shown(&run), shown("run.trec"));
        let compared = |run: &str| {
            folder.out(&format!("compare qrels.trec r={run} s=run.tsv -m AP --format csv --quiet"))
        };
        assert_eq!(compared(&run), compared("run.trec"));
        let name = if extension == "parquet" { "Parquet" } else { "Arrow" };
        let stdout = folder.out(&format!("info {run}"));
        assert_says(
            &stdout,
            &[
                &format!("as a run       {name}: query_id, doc_id, score\n"),
                "   2  PLAIN-1  MED-10      8.25\n",
            ],
        );
        let verbose = folder.run(&format!("eval {qrels} {run} -v")).err;
        assert_says(&verbose, &[&format!("{qrels}: {name}: query-id, corpus-id, score\n")]);
    }
    let refused =
        folder.error("eval qrels.parquet run.parquet --columns query=q,doc=doc_id,score=score");
    assert_says(
        &refused,
        &["run.parquet: there is no column `q` for the query: there are 'query_id', 'doc_id', \
             'score'"],
    );
    let whole = std::fs::read(folder.path().join("run.parquet")).unwrap();
    folder.put("cut.parquet", &whole[..whole.len() - 9]);
    assert_says(
        &folder.error("eval qrels.parquet cut.parquet"),
        &["cut.parquet: is Parquet that cannot be read: "],
    );
    assert_says(
        &folder.error("eval qrels.trec run.trec --run-format parquet"),
        &["run.trec: is Parquet that cannot be read"],
    );
}

/// A folder of Parquet files, as Spark writes it, is one table; any other folder is an error.
#[cfg(feature = "parquet")]
#[test]
fn a_folder_of_tables_is_read_by_every_command() {
    let folder = Folder::new();
    let part = |table: &str, text: &str, options: &str, number: usize| {
        folder.put("part.trec", text);
        folder.out(&format!("convert {options} part.trec -o part.parquet --quiet"));
        let inside = format!("{table}/part-0000{number}-c0de.snappy.parquet");
        folder.put(&inside, folder.get("part.parquet"));
        folder.put(&format!("{table}/.part-0000{number}-c0de.snappy.parquet.crc"), "crc");
        folder.put(&format!("{table}/_SUCCESS"), "");
    };
    part("judged.parquet", "q2 0 a 1\nq2 0 e -1\nq3 0 x 3\n", "--qrels", 1);
    part("judged.parquet", "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\n", "--qrels", 0);
    part("found", "q1 Q0 c 1 9.5 t\nq1 Q0 z 2 9.0 t\n", "", 0);
    part("found", "q1 Q0 a 3 8.0 t\nq2 Q0 e 1 2.0 t\nq2 Q0 a 2 1.0 t\nq9 Q0 a 1 1 t\n", "", 1);
    let values = |args: &str| {
        folder.out(&format!("eval {args} -m nDCG@10,AP --per-query --format csv --quiet"))
    };
    let twin = values("qrels r=bm25.run");
    assert_eq!(values("judged.parquet r=found"), twin);
    assert_eq!(values("judged.parquet/ r=found/ --no-mmap"), twin);
    assert_eq!(values("judged.parquet r=found --qrels-format parquet"), twin);
    let piped = "eval judged.parquet r=- -m nDCG@10,AP --per-query --format csv --quiet";
    for options in ["", "--no-mmap"] {
        let ran = folder.run_with(&format!("{piped} {options}"), super::folder::BM25);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), (twin.as_str(), ""), "{options}");
    }
    folder.out("build judged.parquet r=found -o m.lmx --quiet");
    assert_eq!(values("m.lmx"), twin);
    folder.out("convert --qrels judged.parquet -o back.qrels --quiet");
    assert_eq!(folder.get("back.qrels"), folder.get("qrels"));
    assert_says(&folder.out("info found"), &["as a run       Parquet: "]);
    let compared = |runs: &str| {
        folder.out(&format!("compare qrels {runs} s=dense.run -m AP --format csv --quiet"))
    };
    assert_eq!(compared("r=found"), compared("r=bm25.run"));
    folder.put("found/notes.txt", "");
    assert_says(
        &folder.error("eval qrels found -m AP"),
        &["found: cannot open: it is a directory"],
    );
}

/// Excluded documents may be a table, and a folder of tables.
#[cfg(feature = "parquet")]
#[test]
fn excluded_documents_may_be_a_table() {
    let folder = Folder::new();
    folder.put("seen.run", SEEN_RUN);
    folder.put("seen.qrels", "q1 0 x 1\nq1 0 z 0\nq1 0 x 0\nq9 0 a 1\n");
    folder.out("convert --qrels seen.qrels -o seen.parquet --quiet");
    let expected = seen_values(&folder, "--exclude seen.qrels");
    assert_eq!(seen_values(&folder, "--exclude seen.parquet"), expected);
    folder.put("pairs/part-0.parquet", folder.get("seen.parquet"));
    assert_eq!(seen_values(&folder, "--exclude pairs"), expected);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_written() {
    let folder = Folder::of_formats();
    let values = |args: &str| {
        folder.out(&format!("eval {args} -m nDCG@10,AP,RR --per-query --format csv --quiet"))
    };
    let twin = values("qrels.trec r=run.trec");
    for run in ["run.trec", "run.tsv", "run.json", "run.arrow", "run.parquet", "msmarco.tsv"] {
        folder.out(&format!("convert {run} -o out.parquet"));
        assert_eq!(values("qrels.trec r=out.parquet"), twin, "{run}");
        folder.out("convert out.parquet -o back.trec");
        assert_eq!(values("qrels.trec r=back.trec"), twin, "{run}");
        let piped = folder.shell(
            "cat out.parquet | $L convert - -o piped.trec && cut -d' ' -f1-5 \
                                  back.trec | cmp - <(cut -d' ' -f1-5 piped.trec)",
        );
        assert_eq!((piped.out.as_str(), piped.code), ("", 0), "{}", piped.err);
        let named = folder.shell(
            "$L convert <(cat out.parquet) -o named.trec && cut -d' ' -f1-5 \
                                  back.trec | cmp - <(cut -d' ' -f1-5 named.trec)",
        );
        assert_eq!((named.out.as_str(), named.code), ("", 0), "{}", named.err);
    }
    for qrels in ["qrels.trec", "qrels.csv", "qrels.parquet", "qrels.arrow"] {
        folder.out(&format!("convert --qrels {qrels} -o out.parquet"));
        assert_eq!(values("out.parquet r=run.trec"), twin, "{qrels}");
        folder.out("convert --qrels out.parquet -o back.qrels");
        assert_eq!(folder.get("back.qrels"), folder.get("qrels.trec"), "{qrels}");
    }
    folder.put("ranked.trec", "PLAIN-1 0 MED-10 7 2 t\nPLAIN-1 0 MED-11 3 2 t\n");
    folder.out("convert ranked.trec -o out.parquet");
    let by_rank = |run: &str| values(&format!("qrels.trec r={run} --ties rank"));
    assert_eq!(by_rank("out.parquet"), by_rank("ranked.trec"));
    folder.put("named.trec", "PLAIN-1 0 MED-10 first 2 t\n");
    let refused = folder.error("convert named.trec -o none.parquet");
    assert_says(
        &refused,
        &["named.trec:1: the rank 'first' is not an integer, so .parquet cannot have it: .trec \
             and .tsv and .jsonl can"],
    );
    folder.put("bytes.trec", b"PLAIN-1 0 MED\xff 1 2 t\n");
    assert_says(
        &folder.error("convert bytes.trec -o none.parquet"),
        &["is not UTF-8, so .parquet cannot have it"],
    );
    assert_says(&folder.error("convert run.trec -o none.parquet.gz"), &["unknown extension .gz"]);
    assert!(!folder.names().iter().any(|name| name.starts_with("none")));
    // Scores have the rows of CSV.
    folder.put("groups", "PLAIN-1 one\nPLAIN-2 two\n");
    folder.out(
        "eval qrels.trec a=run.trec b=run.tsv -m AP,RR --per-query --stat median -o scores.parquet \
         --quiet",
    );
    assert!(folder.get("scores.parquet").starts_with(b"PAR1"));
    folder.out("eval qrels.trec a=run.trec -m AP --partial a.part -o scores.parquet --quiet");
    folder.out("merge a.part -o merged.parquet");
    assert!(folder.get("merged.parquet").starts_with(b"PAR1"));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn builds_without_tables_say_how_to_get_them() {
    let folder = Folder::of_formats();
    for line in [
        "eval qrels.parquet run.trec",
        "eval qrels.trec run.parquet",
        "build qrels.trec run.parquet -o m.lmx",
    ] {
        assert_says(
            &folder.error(line),
            &[".parquet: is Parquet, which this build does not read: ", "`--features parquet`"],
        );
    }
    assert_says(
        &folder.error("eval qrels.trec run.arrow"),
        &["run.arrow: is Arrow, which this build does not read: "],
    );
}

#[test]
fn what_spreadsheets_and_labels_look_like_is_read() {
    let folder = Folder::empty();
    folder.put("qrels", "q\"1 0 d;1 3\nq\"1 0 e 0\nq2 0 f 2\n");
    folder.put("run", "q\"1 Q0 e 1 inf t\nq\"1 Q0 d;1 2 -inf t\nq2 Q0 f 1 0.5 t\n");
    let expected = folder.out("eval qrels run=run -q -m nDCG,RR --format csv");
    folder.put(
        "labels.csv",
        "sep=;\r\nquery;doc;label\r\n\"q\"\"1\";\"d;1\";Exact\r\n\"q\"\"1\";e;no\r\nq2;f;2\r\n",
    );
    folder.put(
        "run.csv",
        "query;doc;rank;score\n\"q\"\"1\";e;1;inf\n\"q\"\"1\";\"d;1\";2;-inf\nq2;f;1;0.5\n",
    );
    let labels = "labels.csv run=run.csv -q -m nDCG,RR --format csv";
    assert_eq!(folder.out(&format!("eval {labels} --grades Exact=3,no=0")), expected);
    let shown = folder.out("convert labels.csv --qrels --grades Exact=3,no=0 -o out.trec --quiet");
    assert_eq!(shown, "");
    assert_eq!(
        String::from_utf8_lossy(&folder.get("out.trec")),
        "q\"1 0 d;1 3\nq\"1 0 e 0\nq2 0 f 2\n"
    );
    folder.out("convert run.csv -o run.trec --quiet");
    assert_eq!(folder.out("eval qrels run=run.trec -q -m nDCG,RR --format csv"), expected);
    assert_says(
        &folder.error("convert run.csv -o run.jsonl"),
        &["run.csv:2: inf is not a finite number, which JSON does not have"],
    );
    assert_says(
        &folder.error("eval labels.csv run.csv --grades Exact=3,maybe=1"),
        &["labels.csv:4: grade 'no' is not a number, and no word of Exact=3,maybe=1: expected"],
    );
    assert_says(
        &folder.error("eval labels.csv run.csv --grades Exact"),
        &["--grades", "words and their grades were expected, such as E=3,S=2,C=1,I=0"],
    );
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    folder.put("all.tar", tar);
    let ended = folder.error("eval all.tar run.csv");
    assert_says(&ended, &["all.tar: is an archive (tar): extract it first (`tar xf FILE`)"]);
    assert!(!ended.contains('\0'));
}
