//! Shards that add up: `eval --partial`, `merge`, groups of queries, queries chosen by a file, and
//! runs named on the command line.

use std::fmt::Write;
use std::fs;

use laneval::{Evaluator, Join, QuerySet, Summary};

use crate::folder::{BM25, Folder, QRELS, Ran, assert_says};

const FORMATS: [&str; 5] = ["tsv", "csv", "json", "jsonl", "table"];

/// Judgments of some queries, and two runs that lack one in ten of them.
fn put_many(folder: &Folder, queries: usize) {
    let (mut qrels, mut one, mut two) = (String::new(), String::new(), String::new());
    for query in 0..queries {
        for doc in 0..5 {
            writeln!(qrels, "{query:05} 0 d{doc} {}", if doc == 0 { 3 } else { query * doc % 4 })
                .unwrap();
        }
        for (run, tag, lacks) in [(&mut one, "one", 3), (&mut two, "two", 4)] {
            for doc in (0..7).filter(|_| query % 10 != lacks) {
                let score = (query * 7 + doc * (lacks + 1)) % 11;
                writeln!(run, "{query:05} Q0 d{doc} 1 {score} {tag}").unwrap();
            }
        }
    }
    folder.put("qrels", qrels);
    folder.put("one", one + "zz Q0 d1 1 1 one\n");
    folder.put("two", two);
}

/// Cuts a file by query into this number of shards.
fn cut(folder: &Folder, name: &str, parts: usize) {
    let text = String::from_utf8(folder.get(name)).unwrap();
    let mut all = vec![String::new(); parts];
    for line in text.lines() {
        let query = line.split(' ').next().unwrap();
        let part = query.parse::<usize>().map_or(0, |query| query % parts);
        all[part] += &format!("{line}\n");
    }
    for (part, text) in all.into_iter().enumerate() {
        folder.put(&format!("{name}.{part}"), text);
    }
}

/// Returns the names of the partial files.
fn partials(parts: usize) -> String {
    (0..parts).map(|part| format!("{part}.part ")).collect()
}

const MEASURES: &str = "-m AP,nDCG@10,P@5,GMAP,NumRelRet,ERR,RBP --stat std,min,max";

#[test]
fn split_judgments_give_what_eval_gives() {
    let folder = Folder::new();
    put_many(&folder, 200);
    for parts in [1, 2, 7] {
        for name in ["qrels", "one", "two"] {
            cut(&folder, name, parts);
        }
        for part in 0..parts {
            let line = format!(
                "eval qrels.{part} one=one.{part} two=two.{part} {MEASURES} --partial {part}.part \
                 --quiet"
            );
            folder.out(&line);
        }
        for format in FORMATS {
            let expected = folder.run(&format!("eval qrels one two {MEASURES} --format {format}"));
            let merged = folder
                .run(&format!("merge {} --stat std,min,max --format {format}", partials(parts)));
            assert_eq!((merged.code, expected.code), (0, 0), "{}", merged.err);
            assert_eq!(merged.err, expected.err, "{parts} parts");
            if format == "json" && parts > 1 {
                // The fingerprints are those of the parts, and nothing else differs.
                let [mut merged, mut expected] = [merged.out, expected.out].map(|text| json(&text));
                for run in 0..2 {
                    let prints = |document: &serde_json::Value| {
                        document["runs"][run]["qrels"].as_array().unwrap().len()
                    };
                    assert_eq!((prints(&merged), prints(&expected)), (parts, 1));
                    merged["runs"][run]["qrels"] = expected["runs"][run]["qrels"].take();
                    expected["runs"][run]["qrels"] = merged["runs"][run]["qrels"].clone();
                }
                assert_eq!(merged, expected);
            } else {
                assert_eq!(merged.out, expected.out, "{parts} parts, {format}");
            }
        }
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn shards_against_all_judgments_give_what_eval_gives() {
    let folder = Folder::new();
    put_many(&folder, 200);
    for parts in [1, 2, 7] {
        cut(&folder, "one", parts);
        cut(&folder, "two", parts);
        for part in 0..parts {
            folder.out(&format!(
                "eval qrels one=one.{part} two=two.{part} --queries common {MEASURES} --partial \
                 {part}.part --quiet"
            ));
        }
        for format in FORMATS {
            let merged = format!("merge {} --stat std,min,max --format {format}", partials(parts));
            let all = folder.run(&format!("{merged} --add-queries qrels"));
            let expected = folder.run(&format!("eval qrels one two {MEASURES} --format {format}"));
            assert_eq!(
                (&all.out, &all.err),
                (&expected.out, &expected.err),
                "{parts} parts, {format}"
            );
            // Without the judgments, as many queries are left out, but nobody knows which.
            let both = folder
                .run(&format!("eval qrels one two {MEASURES} --queries common --format {format}"));
            let mut found = folder.run(&merged);
            assert_eq!(found.code, 0, "{}", found.err);
            if parts > 1 {
                found.err = found.err.replace(
                    "left out (queries …)",
                    "left out (queries 00003, 00013, 00023, 00033, 00043, …)",
                );
            }
            if format == "json" {
                let [mut found, mut both] = [found.out, both.out].map(|text| json(&text));
                for run in 0..2 {
                    for key in ["missing_ids", "missing_ids_truncated"] {
                        let queries = &mut both["runs"][run]["queries"][key];
                        *queries = found["runs"][run]["queries"][key].take();
                        found["runs"][run]["queries"][key] = queries.clone();
                    }
                }
                assert_eq!(found, both);
            } else {
                assert_eq!(found.out, both.out);
                assert_says(
                    &found.err,
                    &["one: 20 judged queries are not in the run and are left out"],
                );
            }
        }
    }
}

#[test]
fn a_thousand_files_are_merged() {
    let folder = Folder::new();
    put_many(&folder, 1000);
    cut(&folder, "qrels", 1000);
    cut(&folder, "two", 1000);
    let evaluator = Evaluator::new(["AP", "nDCG@10"]).unwrap();
    let path = |name: &str, part: usize| folder.path().join(format!("{name}.{part}"));
    let mut names = String::new();
    for part in (0..1000).filter(|part| part % 10 != 4) {
        let run = laneval::RunInput::named("two", path("two", part));
        let matrix = Join::default().files(path("qrels", part), [run]).unwrap();
        evaluator.summary(&matrix).unwrap().write(path("part", part)).unwrap();
        write!(names, "part.{part} ").unwrap();
    }
    let merged = folder.out(&format!("merge {names} --add-queries qrels --quiet"));
    assert_eq!(merged, folder.out("eval qrels two -m AP,nDCG@10 --quiet"));
}

/// Returns the sample files as two shards.
fn shards() -> Folder {
    let folder = Folder::new();
    folder.put("qrels.1", "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\n");
    folder.put("qrels.2", "q2 0 a 1\nq2 0 e -1\nq3 0 x 3\n");
    for shard in 1..3 {
        folder.out(&format!(
            "eval qrels.{shard} bm25=bm25.run -m AP,NumRet --partial {shard}.part --quiet"
        ));
    }
    folder
}

#[test]
fn a_shard_that_is_given_twice_is_refused() {
    let folder = shards();
    assert_says(
        &folder.error("merge 1.part 2.part 1.part"),
        &["error: 1.part and 1.part: bm25: 1 query is counted twice (q1): in 1.part and in 1.part"],
    );
    fs::copy(folder.path().join("2.part"), folder.path().join("copy.part")).unwrap();
    let error = folder.error("merge 1.part 2.part copy.part");
    assert_says(
        &error,
        &["2.part and copy.part: bm25: 2 queries are counted twice (q2, q3): in 2.part and in \
             copy.part"],
    );
    folder.out("merge 1.part 2.part --partial both.part");
    assert_says(
        &folder.error("merge both.part copy.part"),
        &["both.part and copy.part: ", "(q2, q3)"],
    );
}

#[test]
fn merged_partials_are_merged_again() {
    let folder = shards();
    folder.put("qrels.3", "q7 0 a 1\n");
    folder.put("more.run", "q7 Q0 b 1 2 bm25\nq7 Q0 a 2 1 bm25\n");
    folder.out("eval qrels.3 bm25=more.run -m AP,NumRet --partial 3.part");
    let all = folder.out("merge 1.part 2.part 3.part --stat std,min,max");
    for (first, rest) in
        [("1.part 2.part", "3.part"), ("3.part 1.part", "2.part"), ("2.part", "1.part 3.part")]
    {
        folder.out(&format!("merge {first} --partial some.part"));
        let again = folder.run(&format!("merge {rest} some.part --stat std --stat min,max,std"));
        assert_eq!(
            (again.out.as_str(), again.err.contains("warning")),
            (all.as_str(), false),
            "{}",
            again.err
        );
    }
    // The bytes do not depend on the order either.
    folder.out("merge 1.part 2.part 3.part --partial one.part");
    folder.out("merge 3.part 2.part 1.part --partial two.part");
    assert_eq!(folder.get("one.part"), folder.get("two.part"));
}

#[test]
fn a_run_that_is_in_some_files_only_is_a_warning() {
    let folder = shards();
    folder.out("eval qrels.2 dense.run -m AP,NumRet --partial dense.part --quiet");
    let Ran { out, err, code } = folder.run("merge 1.part 2.part dense.part --quiet");
    assert_eq!((code, out.lines().count()), (0, 5), "{err}");
    assert_says(
        &err,
        &["warning: bm25: is in 2 of 3 files\n", "warning: dense.run: is in 1 of 3 files\n"],
    );
}

#[test]
fn files_that_are_no_summaries_are_refused() {
    let folder = shards();
    let bytes = folder.get("1.part");
    folder.put("empty", "");
    folder.put("garbage", [&bytes[..40], &[7; 40]].concat());
    folder.put("cut", &bytes[..bytes.len() - 1]);
    let mut later = bytes.clone();
    later[16] = 9;
    folder.put("later", later);
    folder.put("draft", [b"laneval summary\n", &bytes[16..]].concat());
    let summary = Summary::from_bytes(&bytes).unwrap();
    folder.put("sound.json", summary.to_json());
    folder.put("other.json", summary.to_json().replace(env!("CARGO_PKG_VERSION"), "9.9.9"));
    folder.put("cut.json", &summary.to_json()[..200]);
    for (file, part) in [
        ("qrels", "qrels: it is not a summary of laneval"),
        ("empty", "empty: it is not a summary of laneval"),
        ("garbage", "garbage: its checksum does not fit"),
        ("cut", "cut: its checksum does not fit"),
        ("later", "later: it has version 9, and this laneval reads version 1"),
        ("draft", "draft: written by a draft of laneval: make it again"),
        ("other.json", "other.json: it was written by laneval 9.9.9"),
        ("cut.json", "cut.json: "),
        ("none", "none: cannot open: "),
        (".", ".: cannot read: "),
    ] {
        assert_says(&folder.error(&format!("merge 2.part {file}")), &[part]);
        assert_says(&folder.error(&format!("merge {file}")), &[part]);
    }
    assert_eq!(folder.out("merge sound.json 2.part"), folder.out("merge 1.part 2.part"));
    assert_says(&folder.error("merge"), &["FILE"]);
}

#[test]
fn partials_of_other_settings_are_refused() {
    let folder = shards();
    for (settings, parts) in [
        ("-m AP", ["1.part and x.part: the measures differ (AP,NumRet and AP)", "-m"]),
        (
            "-m AP,NumRet --queries common",
            ["the sets of queries differ (judged and common)", "--queries"],
        ),
        ("-m AP,NumRet -M 3", ["the depths differ", "-M"]),
        ("-m AP,NumRet -J", ["the documents differ (all and judged only)", "-J"]),
        ("-m AP,NumRet --ties input", ["bm25: the orders of equal scores differ", "--ties"]),
        ("-m AP,NumRet --score-type f32", ["bm25: the score types differ", "--score-type"]),
    ] {
        folder.out(&format!("eval qrels.2 bm25=bm25.run {settings} --partial x.part --quiet"));
        assert_says(&folder.error("merge 1.part x.part"), &parts);
    }
    folder.out("eval qrels.1 bm25=bm25.run -m ERR(gmax=auto) --partial x.part --quiet");
    folder.out("eval qrels.2 bm25=bm25.run -m ERR(gmax=auto) --partial y.part --quiet");
    assert_says(
        &folder.error("merge x.part y.part"),
        &["which is 2 here and 3 there: set gmax=3 in all"],
    );
    folder.put("corrected", QRELS.replace("q1 0 a 2", "q1 0 a 1"));
    folder.out("eval qrels bm25=bm25.run --queries common --partial x.part --quiet");
    assert_says(
        &folder.error("merge x.part --add-queries corrected"),
        &["not the judgments of the shards"],
    );
    assert_says(&folder.error("merge x.part --add-queries none"), &["none: cannot open"]);
    assert_says(
        &folder.error("merge x.part --add-queries qrels.1"),
        &["bm25: 1 of its queries is not in these judgments"],
    );
}

#[test]
fn what_a_summary_does_not_tell_is_refused() {
    let folder = shards();
    for stat in ["median", "ci95"] {
        let error = folder.error(&format!("merge 1.part 2.part --stat std,{stat}"));
        assert_says(&error, &[&format!("--stat {stat} needs the values of all queries")]);
    }
    assert_says(
        &folder.error("merge 1.part --format trec"),
        &["format trec needs the values of all queries"],
    );
    assert_says(&folder.error("merge 1.part -o x.trec"), &["x.trec: "]);
    assert_says(&folder.error("merge 1.part -o x.nonesuch"), &["unknown extension"]);
}

#[test]
fn a_partial_has_a_file_of_its_own() {
    let folder = shards();
    let before =
        [folder.get("1.part"), folder.get("2.part"), folder.get("qrels"), folder.get("bm25.run")];
    folder.put("only", "q1\n");
    for line in ["eval qrels bm25.run", "merge 1.part 2.part"] {
        for stdout in if cfg!(unix) { &["-", "/dev/stdout"][..] } else { &["-"] } {
            let error = folder.error(&format!("{line} --partial {stdout}"));
            assert_says(&error, &["--partial needs a separate file"]);
        }
        for same in ["x.tsv", "./x.tsv"] {
            let error = folder.error(&format!("{line} --partial {same} -o x.tsv"));
            assert_says(&error, &["--partial needs a separate file"]);
        }
    }
    for (line, file) in [
        ("merge 1.part 2.part", "1.part"),
        ("merge 1.part 2.part", "./2.part"),
        ("merge 1.part 2.part --add-queries qrels", "qrels"),
        ("eval qrels bm25.run", "qrels"),
        ("eval qrels name=bm25.run", "bm25.run"),
        ("eval qrels bm25.run --only-queries only", "only"),
    ] {
        assert_says(
            &folder.error(&format!("{line} --partial {file}")),
            &["it is one of the inputs"],
        );
    }
    assert_says(
        &folder.error("merge 1.part 2.part -o 1.part --format tsv"),
        &["it is one of the inputs"],
    );
    let after =
        [folder.get("1.part"), folder.get("2.part"), folder.get("qrels"), folder.get("bm25.run")];
    assert_eq!(before, after);
    assert!(!folder.names().contains(&"x.tsv".to_owned()));
}

#[test]
fn a_partial_is_small() {
    let folder = Folder::new();
    put_many(&folder, 20_000);
    for (measures, queries) in [("", "judged"), ("-m all_trec", "judged"), ("", "common")] {
        folder.out(&format!(
            "eval qrels one {measures} --queries {queries} --partial all.part --quiet"
        ));
        let size = folder.get("all.part").len();
        // Missing queries are named once more.
        let ids = 20_000 * 5 + 2_000 * 5;
        assert!(size <= 100_000 + 16 * 20_000 + ids, "{size}");
        folder.out("merge all.part --partial again.part");
        let read = |name: &str| Summary::read(folder.path().join(name)).unwrap().from_source("");
        assert_eq!(read("all.part"), read("again.part"));
    }
}

#[test]
fn only_some_queries_count() {
    let folder = Folder::new();
    let expected = folder.out("eval qrels bm25.run -m AP --per-query");
    let rows = |text: &str| {
        text.lines().filter(|line| line.contains("value\t")).map(str::to_owned).collect::<Vec<_>>()
    };
    for (text, wanted, note) in [
        ("q1\nq3\n", vec!["q1", "q3"], None),
        ("q3\r\n\r\n  \nq1", vec!["q1", "q3"], None),
        ("q1\tmore\tcolumns\nq3\t\n", vec!["q1", "q3"], None),
        ("\u{feff}q1\nq3\n", vec!["q1", "q3"], None),
        ("q1\nq3\nq1\n", vec!["q1", "q3"], None),
        ("q2\nq9\nq9\nq8\n", vec!["q2"], Some("2 of the chosen queries are not judged")),
    ] {
        folder.put("only", text);
        let Ran { out, err, code } =
            folder.run("eval qrels bm25.run -m AP --per-query --only-queries only");
        assert_eq!(code, 0, "{err}");
        let is_wanted =
            |row: &String| wanted.iter().any(|query| row.contains(&format!("\t{query}\t")));
        assert_eq!(
            rows(&out),
            rows(&expected).into_iter().filter(is_wanted).collect::<Vec<_>>(),
            "{text:?}"
        );
        match note {
            Some(note) => assert_says(&err, &["note: ", note]),
            None => assert!(!err.contains("chosen"), "{err}"),
        }
    }
    for (text, part) in [
        ("", "only: there is no query in it"),
        ("\r\n \n", "only: there is no query"),
        ("q8\nq9\n", "none of the chosen queries is judged"),
    ] {
        folder.put("only", text);
        assert_says(&folder.error("eval qrels bm25.run --only-queries only"), &[part]);
    }
    assert_says(&folder.error("eval qrels bm25.run --only-queries none"), &["none: cannot read"]);
    assert_says(&folder.error("eval qrels bm25.run --only-queries ."), &[".: cannot read"]);
    // Only what counts has to be complete.
    folder.put("only", "q1\nq2\n");
    folder.out("eval qrels bm25.run --queries require-all --only-queries only");
    assert_says(
        &folder.error("eval qrels bm25.run --queries require-all"),
        &["lacks 1 of the judged queries: q3"],
    );
}

#[test]
fn groups_have_scores_of_their_own() {
    let folder = Folder::new();
    folder.put(
        "groups",
        "q1\tlong one\r\n\n q2 \tshort\textra\nq3\tshort\nq1\tall\nq2\tall\nq3\tall\nq9\tshort\n",
    );
    let plain = folder.out("eval qrels bm25.run dense.run -m AP,NumRet --per-query --stat max");
    let grouped = folder
        .out("eval qrels bm25.run dense.run -m AP,NumRet --per-query --stat max --group-by groups");
    assert_eq!(grouped.lines().next(), Some("run\tgroup\tquery_id\tmeasure\tstat\tvalue"));
    // The rows of all queries are those without groups, and stand once.
    let of_all = |row: &str| {
        let cells: Vec<&str> = row.split('\t').collect();
        (cells[1] == "group" || cells[1].is_empty())
            .then(|| [&cells[..1], &cells[2..]].concat().join("\t"))
    };
    let rows: Vec<String> = grouped.lines().filter_map(of_all).collect();
    assert_eq!(rows, plain.lines().collect::<Vec<_>>());
    let of_group = |group: &str| {
        let part = format!("\t{group}\t");
        grouped.lines().filter(|row| row.contains(&part)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        of_group("short"),
        [
            "bm25.run\tshort\t\tAP\tmean\t0.25",
            "bm25.run\tshort\t\tAP\tmax\t0.5",
            "bm25.run\tshort\t\tNumRet\tsum\t2",
            "bm25.run\tshort\t\tNumRet\tmax\t2",
            "dense.run\tshort\t\tAP\tmean\t0.75",
            "dense.run\tshort\t\tAP\tmax\t1",
            "dense.run\tshort\t\tNumRet\tsum\t3",
            "dense.run\tshort\t\tNumRet\tmax\t2",
        ]
    );
    let all: Vec<String> = of_group("all").iter().map(|row| row.replace("\tall\t", "\t")).collect();
    assert_eq!(
        all,
        plain.lines().skip(1).filter(|row| !row.contains("value\t")).collect::<Vec<_>>()
    );
    assert_eq!(of_group("long one").len(), 8);
    let lines = folder.out("eval qrels bm25.run -m AP --group-by groups --format jsonl");
    assert_says(
        &lines,
        &[concat!(
            r#"{"run":"bm25.run","group":"short","query_id":"","#,
            r#""measure":"AP","stat":"mean","value":0.25}"#
        )],
    );
    assert!(lines.starts_with(r#"{"run":"bm25.run","query_id":"","#), "{lines}");
    let document = json(&folder.out("eval qrels bm25.run -m AP --group-by groups --format json"));
    let groups: Vec<_> =
        document["runs"].as_array().unwrap().iter().map(|run| run["group"].as_str()).collect();
    assert_eq!(groups, [None, Some("all"), Some("long one"), Some("short")]);
    assert_eq!(
        folder.out("eval qrels bm25.run -m AP --format trec --group-by groups"),
        folder.out("eval qrels bm25.run -m AP --format trec")
    );
    // Shards of groups.
    for (shard, only) in [("1", "q1\n"), ("2", "q2\nq3\n")] {
        folder.put("only", only);
        folder.out(&format!(
            "eval qrels bm25.run -m AP --only-queries only --group-by groups --partial \
            {shard}.part --quiet"
        ));
    }
    assert_eq!(
        folder.out("merge 2.part 1.part"),
        folder.out("eval qrels bm25.run -m AP --group-by groups")
    );
    folder.out("eval qrels bm25.run -m AP --only-queries only --partial x.part --quiet");
    assert_says(&folder.error("merge 1.part x.part"), &["bm25.run: ", "--group-by"]);
}

#[test]
fn a_table_compares_runs_within_a_group() {
    let folder = Folder::new();
    folder.put("groups", "q1\ta\nq2\tb\nq3\tb\n");
    let table = "\
run                AP  AP std  AP min
─────────────────────────────────────
bm25.run       0.4444  0.4194  0.0000
bm25.run [a]   0.8333*      –  0.8333
bm25.run [b]   0.2500  0.3536  0.0000
dense.run      0.6667* 0.2887  0.5000
dense.run [a]  0.5000       –  0.5000
dense.run [b]  0.7500* 0.3536  0.5000

* best, not necessarily better.
";
    let line = "-m AP --stat std,min --group-by groups --format table";
    let squeezed = |text: &str| {
        text.lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let found = squeezed(&folder.out(&format!("eval qrels bm25.run dense.run {line}")));
    assert_eq!((&found[0], &found[2..]), (&squeezed(table)[0], &squeezed(table)[2..]));
    assert!(!folder.out(&format!("eval qrels bm25.run {line}")).contains('*'));
}

#[test]
fn files_of_groups_with_faults_are_refused() {
    let folder = Folder::new();
    for (text, part) in [
        (&b"q1\ta\nq2\n"[..], "groups:2: expected 'query<TAB>group'"),
        (b"q1 a\n", "groups:1: expected 'query<TAB>group'"),
        (b"q1\t\n", "groups:1: the group has no name"),
        (b"\n\nq1\t \t\n", "groups:3: the group has no name"),
        (b"q1\ta\r\nq2\ta\nq1\ta\n", "groups:3: the query is in this group already"),
        (b"q1\ta\xff\n", "groups:1: the name of the group is not UTF-8"),
        (b"", "groups: there is no query in it"),
        (b"\r\n\n", "groups: there is no query in it"),
    ] {
        folder.put("groups", text);
        assert_says(&folder.error("eval qrels bm25.run --group-by groups"), &[part]);
    }
    assert_says(&folder.error("eval qrels bm25.run --group-by none"), &["none: cannot read"]);
    folder.put("groups", "q1\ta\n");
    let note = folder.run("eval qrels bm25.run --group-by groups").err;
    assert_says(&note, &["note: 2 queries are in no group"]);
    // A group of which no query is judged has no scores, and a query without text may be in one.
    folder.put("groups", &b"q\xff\ta\nq9\tb\nq1\tc\nq2\tc\nq3\tc\n"[..]);
    let grouped = folder.out("eval qrels bm25.run -m AP --group-by groups");
    assert_eq!(grouped.lines().count(), 3, "{grouped}");
}

#[test]
fn runs_have_the_names_that_they_are_given() {
    let folder = Folder::new();
    let names = |args: &str| {
        let out = folder.out(&format!("eval qrels {args} -m AP"));
        out.lines()
            .skip(1)
            .map(|row| row.split('\t').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("mine=bm25.run dense.run"), ["mine", "dense.run"]);
    assert_eq!(names("a=bm25.run b=bm25.run"), ["a", "b"]);
    folder.put("a=b", BM25);
    folder.put("b", BM25);
    assert_eq!(names("a=b"), ["a=b"]);
    assert_eq!(names("x=a=b"), ["x"]);
    folder.put("=x", BM25);
    assert_eq!(names("=x"), ["=x"]);
    for odd in ["=none", "a=", "="] {
        assert_says(&folder.error(&format!("eval qrels {odd}")), &[&format!("{odd}: cannot open")]);
    }
    assert_says(&folder.error("eval qrels n=none"), &["none: cannot open"]);
    let error = folder.error("eval qrels n=bm25.run n=dense.run");
    assert_says(&error, &["n"]);
    let piped = folder.run_with("eval qrels name=- -m AP", BM25);
    assert_says(&piped.out, &["name\t\tAP\tmean\t0.4444444444444444\n"]);
    assert_says(&folder.error("eval qrels one=- two=-"), &["`-` is given twice"]);
    folder.out("build qrels x=bm25.run y=dense.run -o m.lmx --quiet");
    assert_eq!(
        folder.out("eval m.lmx -m AP"),
        folder.out("eval qrels x=bm25.run y=dense.run -m AP")
    );
    assert_says(&folder.error("eval qrels name=m.lmx"), &["m.lmx"]);
    assert_says(
        &folder.error("eval m.lmx name=m.lmx"),
        &["label matrix, whose runs have their names already"],
    );
    assert_eq!(names("bm25.run bm25.run"), ["bm25.run", "bm25.run (2)"]);
}

#[test]
fn a_matrix_writes_partials_too() {
    let folder = Folder::new();
    folder.out("build qrels x=bm25.run -o m.lmx --quiet");
    folder.out("build qrels y=dense.run -o n.lmx --quiet");
    folder.out("eval m.lmx n.lmx -m AP --partial lmx.part --quiet");
    folder.out("eval qrels x=bm25.run y=dense.run -m AP --partial text.part --quiet");
    assert_eq!(folder.out("merge lmx.part --quiet"), folder.out("merge text.part --quiet"));
    let summary = Summary::read(folder.path().join("lmx.part")).unwrap();
    assert_eq!((summary.queries(), summary.runs().count()), (QuerySet::Judged, 2));
}

#[test]
fn an_output_that_cannot_be_written_leaves_the_partial_out() {
    let folder = shards();
    for line in ["eval qrels bm25.run", "merge 1.part 2.part"] {
        folder.error(&format!("{line} --partial none/x.part"));
        folder.error(&format!("{line} --partial x.part -o none/x.tsv"));
        folder.error(&format!("{line} --partial . -o x.tsv"));
    }
    folder.error("merge 1.part 1.part --partial x.part -o x.tsv");
    folder.error("eval none bm25.run --partial x.part -o x.tsv");
    let left = |name: &String| name.starts_with('x') || name.starts_with(".laneval");
    assert!(!folder.names().iter().any(left), "{:?}", folder.names());
    folder.out("eval qrels bm25.run --partial x.part --explain");
    assert!(!folder.names().contains(&"x.part".to_owned()));
}
