//! `laneval convert`: every format to every other, values kept; what is refused leaves nothing
//! behind.

use super::folder::{Folder, assert_says};

const QRELS: [&str; 8] = [
    "qrels.trec",
    "qrels.tsv",
    "qrels.csv",
    "qrels.json",
    "qrels.jsonl",
    "judged.letor",
    "lightgbm.txt",
    "labels.npy",
];
const RUNS: [&str; 7] =
    ["run.trec", "untagged.trec", "run.tsv", "run.csv", "msmarco.tsv", "run.json", "run.jsonl"];
const MEASURES: &str =
    "nDCG@10,AP,RR,P@2,ERR,Judged@3,Compat,bpref,Rprec,R@2,infAP,NumRet,NumRelRet";

/// Returns the values of all queries, to the last bit.
fn values(folder: &Folder, qrels: &str, run: &str, more: &str) -> String {
    folder
        .out(&format!("eval {qrels} r={run} -m {MEASURES} --per-query --format csv --quiet {more}"))
}

#[test]
fn every_format_becomes_every_other_with_the_same_values() {
    let folder = Folder::of_formats();
    for output in
        ["out.trec", "out.run", "out.tsv", "out.jsonl", "out.trec.gz", "out.TSV.gz", "out.jsonl.gz"]
    {
        for run in RUNS {
            folder.out(&format!("convert {run} -o {output}"));
            assert_eq!(
                values(&folder, "qrels.trec", output, ""),
                values(&folder, "qrels.trec", run, ""),
                "{run} {output}"
            );
        }
        folder.out(&format!("convert scores.npy -o {output}"));
        let scored = values(&folder, "labels.npy", "scores.npy", "");
        assert_eq!(values(&folder, "labels.npy", output, ""), scored, "{output}");
        folder.out(&format!("convert judged.letor scores.txt -o {output}"));
        let scored = values(&folder, "judged.letor", "scores.txt", "");
        assert_eq!(values(&folder, "judged.letor", output, ""), scored, "{output}");
        if output == "out.run" {
            continue;
        }
        for qrels in QRELS {
            folder.out(&format!("convert --qrels {qrels} -o {output}"));
            let (expected, found) = match qrels {
                // Its queries and documents have no names but numbers.
                "lightgbm.txt" => {
                    folder.out("convert lightgbm.txt scores.txt -o numbered.run");
                    (
                        values(&folder, qrels, "scores.txt", ""),
                        values(&folder, output, "numbered.run", ""),
                    )
                }
                "labels.npy" => (
                    values(&folder, qrels, "scores.npy", ""),
                    values(&folder, output, "scores.npy", ""),
                ),
                _ => (
                    values(&folder, qrels, "run.trec", ""),
                    values(&folder, output, "run.trec", ""),
                ),
            };
            assert_eq!(found, expected, "{qrels} {output}");
        }
    }
}

/// Rows of all kinds that TREC has, with one blank between fields.
const RESULTS: &str = "\
q2 Q0 d1 1 9.50 mine
q1 Q0 d1 01 +1.5e3 mine
q2 Q0 d\\2 2 .5 mine
q2 Q0 é 3 5. mine
q1 Q0 # 4 -0 mine
q1 Q0 \u{feff}d -1 1E-300 mine
q3 Q0 , first 0.1000000000000000055511151231257827 mine
q3 Q0 {} 2 123456789012345678901234567890 mine
";
const JUDGMENTS: &str =
    "q2 0 d1 1\nq1 0 d1 +2.50\nq2 0 d\\2 -1\nq1 0 é 0\nq3 0 , 1e2\nq3 0 {} .5\n";

#[test]
fn trec_comes_back_as_it_went() {
    let folder = Folder::of_formats();
    let blank = |text: &str| text.replace(' ', "\t ").replace('\n', " \r\n\n") + "# nothing";
    for (switch, text) in [("", RESULTS), ("--qrels", JUDGMENTS)] {
        folder.put("in.trec", blank(text));
        for output in
            ["mine.trec", "mine.tsv", "mine.jsonl", "mine.trec.gz", "mine.tsv.gz", "mine.jsonl.gz"]
        {
            folder.out(&format!("convert {switch} in.trec -o {output}"));
            folder.out(&format!("convert {switch} {output} -o back.trec"));
            if output.contains("jsonl") {
                // JSON has other numbers, of the same value.
                let number = |line: &str| {
                    let at = if switch.is_empty() { 4 } else { 3 };
                    line.split(' ').nth(at).unwrap().parse::<f64>().unwrap().to_bits()
                };
                let others = |line: &str| {
                    let fields: Vec<&str> = line
                        .split(' ')
                        .enumerate()
                        .filter(|(at, _)| *at != if switch.is_empty() { 4 } else { 3 })
                        .map(|(_, field)| field)
                        .collect();
                    fields.join(" ")
                };
                let rows = |text: &str| {
                    text.lines().map(|line| (others(line), number(line))).collect::<Vec<_>>()
                };
                assert_eq!(
                    rows(&String::from_utf8(folder.get("back.trec")).unwrap()),
                    rows(text),
                    "{output}"
                );
            } else {
                assert_eq!(String::from_utf8(folder.get("back.trec")).unwrap(), text, "{output}");
            }
        }
    }
    // Ranks go along, so they order equal scores still.
    folder.put(
        "tied.trec",
        "PLAIN-1 Q0 MED-12 2 1 t\nPLAIN-1 Q0 MED-10 1 1 t\nPLAIN-1 Q0 MED-11 3 1 t\n",
    );
    folder.out("convert tied.trec -o tied.tsv");
    let by_rank = values(&folder, "qrels.trec", "tied.trec", "--ties rank");
    assert_eq!(values(&folder, "qrels.trec", "tied.tsv", "--ties rank"), by_rank);
    assert_ne!(values(&folder, "qrels.trec", "tied.tsv", ""), by_rank);
}

#[test]
fn judges_and_subtopics_go_along() {
    let folder = Folder::of_formats();
    let judged = "q2 ann d1 1\nq1 b,\\ d1 2.5\nq1 ann d1 -1\nq2 7 é 0\n";
    folder.put("judged.trec", judged);
    let outputs = ["mine.trec", "mine.tsv", "mine.jsonl.gz"];
    let parquet = cfg!(feature = "parquet").then_some("mine.parquet");
    for output in outputs.into_iter().chain(parquet) {
        for by in ["judge", "subtopic"] {
            folder.out(&format!("convert --qrels --facet {by} judged.trec -o {output}"));
            folder.out(&format!("convert --qrels --facet {by} {output} -o back.trec"));
            assert_eq!(String::from_utf8(folder.get("back.trec")).unwrap(), judged, "{output}");
        }
    }
    folder.out("convert --qrels judged.trec -o mine.tsv");
    let error = folder.error("convert --qrels --facet judge mine.tsv -o back.trec");
    assert_says(&error, &["mine.tsv:1: found no judge among 'query-id', 'corpus-id', 'score'"]);
    folder.put("nested.json", "{\"q\": {\"d\": 1}}");
    let error = folder.error("convert --qrels --facet judge nested.json -o back.trec");
    assert_says(&error, &["nested.json:1: there is no judge"]);
    let error = folder.error("convert --facet judge judged.trec -o back.trec");
    assert_says(&error, &["--qrels"]);
}

#[test]
fn what_trec_has_and_others_lack_is_made_up() {
    let folder = Folder::of_formats();
    folder.put("my run.v1.tsv", "q\td\t5\nr\td\t0.5\nq\te\t.5\nr\te\t-1\n");
    let ran = folder
        .shell("$L convert 'my run.v1.tsv' --columns query,doc,score -o out.run; cat out.run");
    assert_eq!(
        ran.out,
        "q Q0 d 1 5 my_run.v1\nr Q0 d 1 0.5 my_run.v1\nq Q0 e 2 .5 my_run.v1\nr Q0 e 2 -1 \
         my_run.v1\n"
    );
    assert_says(&ran.err, &["out.run: 4 results in "]);
    folder.put("tags.trec", "q x d 7 5 two words \nq x e 8 4 t\n");
    folder.out("convert tags.trec -o out.trec --quiet");
    assert_eq!(folder.get("out.trec"), b"q Q0 d 7 5 two words\nq Q0 e 8 4 t\n");
    folder.put("ranks.tsv", "q\td\t1\nr\td\t1\nq\te\t2\n");
    let ran = folder.run("convert ranks.tsv -o out.jsonl");
    assert_says(
        &ran.err,
        &[
            "note: ranks.tsv: three columns without a header, of which the third counts",
            "out.jsonl: 3 results in ",
        ],
    );
    let expected = "{\"query_id\": \"q\", \"doc_id\": \"d\", \"rank\": 1, \"score\": \
                    -1}\n{\"query_id\": \"r\", \"doc_id\": \"d\", \"rank\": 1, \"score\": -1}\n\
                    {\"query_id\": \"q\", \"doc_id\": \"e\", \"rank\": 2, \"score\": -2}\n";
    assert_eq!(String::from_utf8(folder.get("out.jsonl")).unwrap(), expected);
    folder.put("six.csv", "q,Q0,d,1,0.5,my tag\nq,Q0,e,2,0.25, \n");
    folder.out("convert six.csv -o out.trec --quiet");
    assert_eq!(folder.get("out.trec"), b"q Q0 d 1 0.5 my tag\nq Q0 e 2 0.25 six\n");
    let words = "{\"query_id\": \"a b c 5 e\", \"doc_id\": \"d \\\"e\\\"\", \"score\": 1}\n";
    folder.put("words.jsonl", words);
    folder.out("convert words.jsonl -o out.jsonl --quiet");
    assert_eq!(String::from_utf8(folder.get("out.jsonl")).unwrap(), words);
}

#[test]
fn a_pipe_is_converted_as_its_file() {
    let folder = Folder::of_formats();
    for input in RUNS {
        let script = format!(
            "$L convert {input} -o a.tsv --quiet && cat {input} | $L convert - -o b.tsv --quiet && \
             gzip -c {input} | $L convert - -o c.tsv --quiet && cmp a.tsv b.tsv && cmp a.tsv c.tsv"
        );
        let ran = folder.shell(&script);
        assert_eq!((ran.err.as_str(), ran.code), ("", 0), "{input}");
    }
    let ran = folder.shell("$L convert - -o out.run --quiet <run.json && head -1 out.run");
    assert_eq!(ran.out, "PLAIN-1 Q0 MED-12 1 9.5 stdin\n");
    let ran = folder
        .shell("$L convert --qrels - -o out.qrels --quiet <judged.letor && head -1 out.qrels");
    assert_eq!(ran.out, "PLAIN-1 0 MED-10 2\n");
}

#[test]
fn a_matrix_is_built() {
    let folder = Folder::of_formats();
    folder.out("build qrels.tsv run.json run.csv -o built.lmx");
    let ran = folder.run("convert qrels.tsv run.json run.csv -o converted.lmx");
    assert_says(&ran.err, &["converted.lmx: 2 runs, 2 judged queries, 10 labels, "]);
    assert_eq!(folder.get("converted.lmx"), folder.get("built.lmx"));
    for args in ["convert run.trec -o m.lmx", "convert qrels.trec run.trec --qrels -o m.lmx"] {
        assert_says(
            &folder.error(args),
            &["m.lmx: a matrix has judgments and runs: give QRELS RUN..."],
        );
    }
    assert_says(
        &folder.error("convert built.lmx -o x.trec"),
        &["keeps neither documents nor scores"],
    );
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let folder = Folder::of_formats();
    folder.put("bad.trec", "q Q0 d 1 9 t\nq Q0 e 2\nq Q0 f 3 x t\n");
    folder.put("blanks.tsv", "qid\tdocid\tscore\nq\td\t1\nq\ta b\t2\nq\tc\"d\"\t3\nq\te\tx\n");
    folder.put("cut.json", "{\"q\": {\"d\": 1,\n\"e\": 2");
    folder.put(
        "uncounted.tsv",
        "q\td\t1\n".to_owned()
            + "r\td\t1\n"
            + &(2..40).map(|rank| format!("q\td{rank}\t{rank}\n")).collect::<String>()
            + "q\tz\t39\n",
    );
    folder.put(
        "half.jsonl",
        "{\"qid\": \"q\", \"docid\": \"d\", \"rank\": 1, \"score\": \
                              1}\n{\"qid\": \"q\", \"docid\": \"e\", \"score\": 1}\n",
    );
    folder.put("half.csv", "qid,docid,rank,score\nq,d,1,1\nq,e,,1\n");
    folder.put("empty.tsv", "qid\tdocid\tscore\n");
    folder.put("old.tsv", "old");
    let before = folder.names();
    for (args, expected) in [
        (
            "bad.trec -o new.tsv",
            &[
                "bad.trec:2: 4 fields in 'q Q0 e 2'",
                "\nerror: bad.trec:3: score 'x' is not a number",
            ][..],
        ),
        ("bad.trec -o old.tsv", &["bad.trec:2: "]),
        ("bad.trec -o new.jsonl.gz", &["bad.trec:2: "]),
        (
            "blanks.tsv -o new.run",
            &[
                "blanks.tsv:3: the document 'a b' has a blank in it, so .trec cannot have it: .tsv \
                 and .jsonl ",
                "\nerror: blanks.tsv:5: score 'x'",
            ],
        ),
        (
            "blanks.tsv -o new.tsv",
            &["blanks.tsv:4: the document 'c\"d\"' has a tab, an end of line or a quote in it, \
                 so .tsv cannot have it: .trec and .jsonl "],
        ),
        ("cut.json -o new.tsv", &["cut.json:2: the JSON ends here"]),
        ("uncounted.tsv -o new.tsv", &["uncounted.tsv:41: '39' where rank 40 was expected"]),
        ("half.jsonl -o new.tsv", &["half.jsonl:2: the rank is missing or empty: expected '{"]),
        (
            "half.csv -o new.tsv",
            &["half.csv:3: the rank is missing or empty in 'q,e,,1': expected \
                 'qid,docid,rank,score'"],
        ),
        (
            "empty.tsv -o new.tsv",
            &["empty.tsv: there is no result in it: expected 'qid docid score'"],
        ),
        (
            "scores.txt -o new.run",
            &["is a list of numbers: scores alone need judgments in the format LETOR"],
        ),
        (
            "qrels.trec -o new.run",
            &["qrels.trec: these are judgments, a run was expected; add --qrels"],
        ),
        ("none -o new.run", &["none: cannot open"]),
        (
            "run.trec -o new.csv",
            &[
                "new.csv: cannot write: unknown extension .csv: take .trec, .run, .qrels, .tsv, \
                 .jsonl, ",
                ".lmx; text also with .gz",
            ],
        ),
        (
            "run.json run.tsv -o new.trec",
            &["run.json is neither LETOR nor a matrix, and scores alone need such judgments: one \
                 input becomes one file"],
        ),
        ("run.trec -o new.lmx.gz", &["unknown extension .gz: take"]),
        ("run.trec -o new", &["unknown extension .: take"]),
        ("run.trec -o new.qrels", &["new.qrels is for judgments: add --qrels"]),
        (
            "--qrels qrels.trec -o new.run",
            &["new.run is for a run: leave out --qrels, or write .qrels"],
        ),
        ("run.trec run.tsv run.csv -o new.tsv", &["one input becomes one file"]),
        ("run.trec -o run.trec", &["it is one of the inputs"]),
        ("run.trec -o none/new.tsv", &["there is no folder none"]),
    ] {
        assert_says(&folder.error(&format!("convert {args}")), expected);
        assert_eq!(
            (folder.names(), folder.get("old.tsv")),
            (before.clone(), b"old".to_vec()),
            "{args}"
        );
    }
}

/// Passages with positions become judgments of chunks in every format, and what does not fit leaves
/// nothing behind.
#[test]
fn passages_become_judgments_of_chunks() {
    let folder = Folder::new();
    let gold =
        [("d1", 10, 30, 1), ("d1", 50, 60, 2), ("d2", 0, 20, 1)].map(|(doc, start, end, grade)| {
            format!(
                "{{\"query\": \"q\", \"doc\": \"{doc}\", \"start\": {start}, \"end\": \
                 {end}, \"grade\": {grade}}}\n"
            )
        });
    folder.put("gold.jsonl", gold.concat());
    folder.put(
        "chunks.csv",
        "chunk,doc,start,length\nc0,d1,0,20\nc1,d1,20,20\nc2,d1,40,20\nc3,d2,0,25\n",
    );
    let convert = |line: &str, output: &str| {
        let ran = folder
            .run(&format!("convert gold.jsonl --qrels --chunks chunks.csv {line} -o {output}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        (String::from_utf8(folder.get(output)).unwrap(), ran.err)
    };
    let (written, stderr) = convert("", "chunks.qrels");
    assert_eq!(written, "q 0 c0 1\nq 0 c1 1\nq 0 c2 2\nq 0 c3 1\n");
    assert_says(
        &stderr,
        &["note: gold.jsonl: 3 spans became 4 chunks in 1 query", "chunks.qrels: 4 judgments"],
    );
    let (written, stderr) = convert("--min-overlap 1", "chunks.tsv");
    assert_eq!(written, "query-id\tcorpus-id\tscore\nq\tc2\t2\nq\tc3\t1\n");
    assert_says(
        &stderr,
        &["note: gold.jsonl: 3 spans became 2 chunks in 1 query; no chunk shares 1 of 1 span"],
    );
    let (written, _) = convert("--facet subtopic", "spans.qrels");
    assert_eq!(written, "q 0 c0 1\nq 0 c1 1\nq 1 c2 2\nq 2 c3 1\n");
    assert_eq!(
        folder.out("info gold.jsonl --chunks chunks.csv"),
        "passages          3, of 1 queries with gold\nchunks            4 of 2 \
         documents\nlength            20 to 25, median 20, mean 21.2\n\
         gold in chunks    1.0000 of its positions\nchunks with gold  4.00 a \
         query\nprecision-Ω       0.5882\n"
    );
    let json = folder.out("info gold.jsonl --chunks chunks.csv --format json");
    assert_says(
        &json,
        &[
            "\"precision_omega\": 0.5882352941176471",
            "\"chunks_with_gold\": 4.0",
            "\"passages\": 3",
        ],
    );
    for (line, expected) in [
        (
            "convert gold.jsonl --qrels --chunks gold.jsonl -o x.qrels",
            "gold.jsonl cannot be both passages and chunks",
        ),
        ("convert gold.jsonl --qrels --chunks none.csv -o x.qrels", "none.csv: cannot open"),
        (
            "convert gold.jsonl --qrels --chunks chunks.csv --min-overlap 1.5 -o x.qrels",
            "a share of 1.5 is none: a number above 0, and at most 1, was expected",
        ),
        (
            "convert gold.jsonl --qrels --chunks chunks.csv --facet judge -o x.qrels",
            "passages have none; subtopic makes one of each passage",
        ),
        ("convert gold.jsonl --chunks chunks.csv -o x.run", "--qrels"),
        (
            "convert chunks.csv --qrels --chunks gold.jsonl -o x.qrels",
            "chunks.csv:1: no query is among 'chunk', 'doc', 'start', 'length'",
        ),
        ("info gold.jsonl gold.jsonl --chunks chunks.csv", "--chunks is for passages alone"),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert_says(&ran.err, &[expected]);
        assert!(!folder.path().join("x.qrels").exists(), "{line}");
    }
}
