//! Judgments by facet: which measures read what, and what `build` keeps.

use crate::folder::{Folder, Ran, assert_says};

const JUDGED: &str = "a 1 d1 1\na 2 d1 1\na 2 d2 2\na 1 d3 0\nb 7 d1 1\n";
const PREFERRED: &str = "a g d1 2\na g d2 1\na g d3 0\nb h d1 1\nb h d2 0\n";
const RUN: &str = "a Q0 d2 1 3 t\na Q0 d1 2 2 t\na Q0 x 3 1 t\nb Q0 d2 1 2 t\nb Q0 d1 2 1 t\n";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.put("judged", JUDGED);
    folder.put("preferred", PREFERRED);
    folder.put("plain", "a 0 d1 1\nb 0 d1 1\n");
    folder.put("run", RUN);
    folder
}

/// Returns the lines of a command that succeeds, with single blanks, and what it says beside them.
#[track_caller]
fn lines(folder: &Folder, args: &str) -> (Vec<String>, String) {
    let Ran { out, err, code } = folder.run(args);
    assert_eq!(code, 0, "{args}: {err}");
    (out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect(), err)
}

#[track_caller]
fn fails(folder: &Folder, args: &str, words: &str) {
    let Ran { out, err, code } = folder.run(args);
    assert_ne!(code, 0, "{args}: {out}");
    assert!(err.contains(words), "{args}: {err}");
}

#[test]
fn measures_say_how_judgments_are_read() {
    let folder = folder();
    let scores = |measures: &str, qrels: &str| {
        let (mut lines, _) =
            lines(&folder, &format!("eval --format trec -q {measures} {qrels} run"));
        lines.retain(|line| !line.starts_with("runid"));
        lines
    };
    // Of a, d2 has one of two subtopics, and d1 has both.
    assert_eq!(
        scores("-m StRecall@1 -m StRecall@2", "judged"),
        [
            "StRecall@1 a 0.5000",
            "StRecall@2 a 1.0000",
            "StRecall@1 b 0.0000",
            "StRecall@2 b 1.0000",
            "StRecall@1 all 0.2500",
            "StRecall@2 all 1.0000"
        ]
    );
    // Judge 1 of a has d1 at rank 2, judge 2 has both; of b the only judge has rank 2.
    assert_eq!(
        scores("-m map_avgjg", "judged"),
        ["AP(judges=mean) a 0.7500", "AP(judges=mean) b 0.5000", "AP(judges=mean) all 0.6250"]
    );
    assert_eq!(
        scores("-m prefs_simp", "preferred"),
        ["prefs_simp a 0.6667", "prefs_simp b 0.0000", "prefs_simp all 0.3333"]
    );
    // Of a, 1 + 1.5/lg 3 where 2 + 0.5/lg 3 was best; of b, 1/lg 3 where 1 was best.
    let lg3 = 3f64.log2();
    let best = ((1.0 + 1.5 / lg3) / (2.0 + 0.5 / lg3) + 1.0 / lg3) / 2.0;
    assert_eq!(scores("-m alpha_nDCG@10", "judged")[2], format!("alpha_nDCG@10 all {best:.4}"));
    let (_, stderr) = lines(&folder, "eval --facet subtopic -m AP -m alpha_nDCG@10 judged run");
    assert!(
        stderr.contains(
            "AP: a document with several judgments, by subtopic, counts with its largest grade"
        ),
        "{stderr}"
    );
}

#[test]
fn measures_on_other_judgments_are_refused() {
    let folder = folder();
    let several = "evaluate them one after the other";
    fails(&folder, "eval -m alpha_nDCG@10 -m map_avgjg judged run", several);
    fails(&folder, "eval -m prefs_simp -m alpha_nDCG@10 judged run", several);
    fails(
        &folder,
        "eval --facet judge -m alpha_nDCG@10 judged run",
        "alpha_nDCG@10 needs judgments by subtopic",
    );
    fails(&folder, "eval -m prefs_simp -m AP preferred run", "needs a grade for each document");
    fails(&folder, "eval --facet nobody -m AP judged run", "nobody");
    // Without a measure over facets, lines that judge a document again with its grade count once.
    let note = "repeated with the same grade, and count";
    assert_says(&folder.run("eval -m AP judged run").err, &[note]);
}

#[test]
fn a_matrix_keeps_judgments_by_group() {
    let folder = folder();
    for (by, qrels, measures) in [
        ("subtopic", "judged", "-m alpha_nDCG@10 -m StRecall@1 -m AP"),
        ("judge", "judged", "-m map_avgjg -m P_avgjg -m AP"),
        ("preference", "preferred", "-m prefs_simp -m prefs_pair"),
    ] {
        lines(&folder, &format!("build --facet {by} {qrels} run -o {by}.lmx"));
        let (expected, _) =
            lines(&folder, &format!("eval -q --format trec {measures} --facet {by} {qrels} run"));
        let (found, _) = lines(&folder, &format!("eval -q --format trec {measures} {by}.lmx"));
        assert_eq!(found, expected, "{by}");
        lines(&folder, &format!("info --verify {by}.lmx"));
    }
    fails(&folder, "eval -m alpha_nDCG@10 judge.lmx", "alpha_nDCG@10 needs judgments by subtopic");
    fails(&folder, "eval -m prefs_simp subtopic.lmx", "prefs_simp needs preferences");
    lines(&folder, "build plain run -o plain.lmx");
    fails(&folder, "eval -m alpha_nDCG@10 plain.lmx", "alpha_nDCG@10 needs judgments by subtopic");
}

#[test]
fn values_over_ties_know_which_documents_are_tied() {
    let folder = folder();
    folder.put("plain", "a 0 d1 1\na 0 d2 0\na 0 d3 1\n");
    folder.put("grouped", "a x d1 1\na y d1 0\na x d2 0\na y d2 0\na x d3 1\n");
    folder.put("tied", "a Q0 d1 1 1 t\na Q0 d2 2 1 t\na Q0 z 3 1 t\na Q0 d3 4 0 t\n");
    for ties in ["average", "best", "worst"] {
        for depth in ["", "-M 2"] {
            let scores = |more: &str| {
                let args =
                    format!("eval -m AP -m P@2 --ties {ties} --format trec {depth} {more} tied");
                lines(&folder, &args).0
            };
            assert_eq!(scores("--facet judge grouped"), scores("plain"), "{ties} {depth}");
        }
        let args = format!("eval --judges mean -m AP --ties {ties} grouped tied");
        fails(&folder, &args, "AP(judges=mean)");
    }
}

#[test]
fn queries_that_no_shard_has_count_over_groups_as_well() {
    let folder = folder();
    for (measures, by, qrels) in [
        ("-m alpha_nDCG@10 -m StRecall@1", "", "judged"),
        ("-m map_avgjg -m P_avgjg", "", "judged"),
        ("-m AP", "--facet judge", "judged"),
        ("-m prefs_num_prefs_poss -m prefs_simp -m prefs_pair", "", "preferred"),
    ] {
        folder.put(
            "first",
            RUN.lines().filter(|line| line.starts_with('a')).collect::<Vec<_>>().join("\n"),
        );
        let whole = format!("eval {measures} {by} {qrels} r=first");
        lines(&folder, &format!("{whole} --queries common --partial first.part"));
        let (merged, _) = lines(&folder, &format!("merge first.part --add-queries {qrels} {by}"));
        assert_eq!(merged, lines(&folder, &whole).0, "{measures}");
    }
}

#[test]
fn agreement_is_that_of_the_columns_that_were_named() {
    let folder = folder();
    folder.put("table.csv", "a,who,b,c\nq,anna,d1,1\nq,ben,d1,0\nq,anna,d2,1\nq,ben,d2,1\n");
    folder.put("text", "q anna d1 1\nq ben d1 0\nq anna d2 1\nq ben d2 1\n");
    let named = "info --facet judge --columns query=a,judge=who,doc=b,grade=c table.csv";
    assert_eq!(lines(&folder, named), lines(&folder, "info --facet judge text"));
}

#[test]
fn options_that_a_matrix_cannot_answer_are_refused() {
    let folder = folder();
    lines(&folder, "build --facet judge judged run -o judge.lmx");
    lines(&folder, "build plain run -o plain.lmx");
    let other = "was built with --facet judge, so --facet subtopic cannot be \
                 answered from it";
    fails(&folder, "eval --facet subtopic -m AP judge.lmx", other);
    fails(&folder, "eval --facet judge -m AP plain.lmx", "was built without --facet");
    lines(&folder, "eval --facet judge -m AP judge.lmx");
    fails(
        &folder,
        "eval --judges mean -m AP plain.lmx",
        "AP(judges=mean) needs judgments by judge",
    );
}

#[test]
fn scores_of_each_judge_are_of_plain_measures_and_rankings() {
    let folder = folder();
    fails(
        &folder,
        "eval --judges each -m map_avgjg judged run",
        "AP(judges=mean) is one value over all judges",
    );
    fails(
        &folder,
        "eval --judges each -m AP --ties best judged run",
        "--judges each has no values over all orders of equal scores",
    );
}

#[test]
fn names_of_judges_are_escaped_once() {
    let folder = folder();
    folder.put("domains", "a X\\anna\u{7} d1 1\na X\\ben d1 0\n");
    let (found, _) = lines(&folder, "eval --judges each -m AP domains run --format table");
    assert_eq!(found[2..], ["run [X\\anna\\u{7}] 0.5000", "run [X\\ben] 0.0000"]);
}

#[test]
fn runs_that_lack_queries_of_a_judge_are_noted_once() {
    let folder = folder();
    folder.put("judges", "a anna d1 1\nz anna d1 1\na ben d1 1\n");
    let (_, stderr) = lines(&folder, "eval --judges each -m AP judges run");
    let of_run: Vec<&str> = stderr.lines().filter(|line| line.contains("not in the run")).collect();
    let expected =
        "run, anna: 1 judged query is not in the run and counts as an empty ranking (query z)";
    assert!(of_run.len() == 1 && of_run[0].contains(expected), "{stderr:?}");
    // That nothing is relevant is noted if it is so for all judges.
    folder.put("strict", "a anna d1 1\na ben d1 0\n");
    let (_, stderr) = lines(&folder, "eval --judges each -m AP strict run");
    assert!(!stderr.contains("nothing is relevant"), "{stderr}");
    let (_, stderr) = lines(&folder, "eval --judges each -m AP(rel=2) judges run");
    assert!(stderr.contains("nothing is relevant"), "{stderr}");
}

const GROUPED: &str = "q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\nq2 Q0 c 2 1 t\nq3 Q0 x 1 1 t\n";

/// Returns a folder with judgments that have keys, and the same as TREC without them.
fn folder_of_keys() -> Folder {
    let folder = Folder::empty();
    folder.put("run", GROUPED);
    folder.put("trec", "q1 0 a 1\nq2 0 c 1\nq3 0 x 1\n");
    let records = [
        "{\"id\": \"q3\", \"relevant_ids\": [\"x\"], \"tags\": []}",
        "{\"id\": \"q1\", \"relevant_ids\": [\"a\"], \"tags\": [\"x\", \"y\"], \"category\": \"easy\", \
         \"level\": 1, \"hot\": true}",
        "{\"id\": \"q2\", \"relevant_ids\": [\"c\"], \"tags\": [\"y\"], \"category\": \"hard\", \
         \"level\": 2, \"hot\": false}",
    ];
    folder.put("gold.jsonl", records.join("\n"));
    folder.put("gold.json", format!("[{}]", records.join(",\n")));
    let table = "query-id;score;category;corpus-id\nq1;1;easy;a\nq2;1;hard;c\nq3;1;;x\n";
    folder.put("semicolons.csv", table);
    folder.put("commas.csv", table.replace(';', ","));
    folder.put("tabs.tsv", table.replace(';', "\t"));
    folder
}

#[test]
fn keys_of_judgments_are_groups() {
    let folder = folder_of_keys();
    for (key, groups, all) in [
        (
            "category",
            "q1\teasy\nq2\thard\n",
            &["gold.jsonl", "gold.json", "semicolons.csv", "commas.csv", "tabs.tsv"][..],
        ),
        ("level", "q1\t1\nq2\t2\n", &["gold.jsonl", "gold.json"]),
        ("hot", "q1\ttrue\nq2\tfalse\n", &["gold.jsonl", "gold.json"]),
        ("tags", "q1\tx\nq1\ty\nq2\ty\n", &["gold.jsonl", "gold.json"]),
    ] {
        folder.put("groups", groups);
        for command in ["eval", "compare"] {
            let args = |qrels: &str, groups: &str| {
                format!("{command} {qrels} a=run b=run -m RR --quiet --group-by {groups}")
            };
            let expected = folder.run(&args("trec", "groups"));
            assert_eq!(expected.code, 0, "{}", expected.err);
            for qrels in all {
                let found = folder.run(&args(qrels, key));
                assert_eq!(
                    (found.out, found.err),
                    (expected.out.clone(), expected.err.clone()),
                    "{qrels}"
                );
            }
        }
    }
    let note = "note: 1 query is in no group";
    let notes = folder.run("eval gold.jsonl run -m RR --group-by category").err;
    assert!(notes.contains(note), "{notes}");
}

#[test]
fn a_key_and_a_file_of_one_name_are_told_apart() {
    let folder = folder_of_keys();
    folder.put("category", "q1\tfile\n");
    let both = "error: --group-by category: there is a file of this name, and gold.jsonl has a key \
                or column of this name: say ./category for the file, or rename it for the other\n";
    assert_eq!(folder.error("eval gold.jsonl run --group-by category"), both);
    for args in ["eval trec run --group-by category", "eval gold.jsonl run --group-by ./category"] {
        let found = folder.out(&format!("{args} -m RR --quiet --format table"));
        assert!(found.contains("run [file]  1.0000"), "{args}: {found}");
    }
}

#[test]
fn what_is_neither_a_key_nor_a_file_is_refused() {
    let folder = folder_of_keys();
    folder.out("build trec run -o run.lmx --quiet");
    let record = |id: &str, value: &str| {
        format!("{{\"id\": \"{id}\", \"relevant_ids\": [\"a\"], \"kind\": {value}}}\n")
    };
    folder.put("two.jsonl", record("q1", "\"a\"") + &record("q2", "1") + &record("q1", "[\"b\"]"));
    folder.put("lost.jsonl", record("q1", "\"a\"") + &record("q1", "null"));
    folder.put("object.jsonl", record("q1", "{\"a\": 1}"));
    folder.put("twice.jsonl", record("q1", "[\"a\", \"b\", \"a\"]"));
    let none = "no keys or columns for groups, which are read of files of JSON, TSV and CSV";
    for (inputs, expected) in [
        (
            "two.jsonl run",
            "two.jsonl:3: query 'q1' is in 'b' here, and in 'a' on line 1".to_owned(),
        ),
        (
            "lost.jsonl run",
            "lost.jsonl:2: query 'q1' is in no group here, and in 'a' on line 1".to_owned(),
        ),
        (
            "object.jsonl run",
            "object.jsonl:1: the group is an object or an array, and not a text or a number"
                .to_owned(),
        ),
        ("twice.jsonl run", "twice.jsonl:1: the group 'a' occurs twice".to_owned()),
        (
            "commas.csv run",
            "kind: cannot read: there is no such file, and commas.csv has no values under this \
             name: it has category"
                .to_owned(),
        ),
        ("trec run", format!("kind: cannot read: there is no such file, and trec has {none}")),
        ("- run", format!("kind: cannot read: there is no such file, and - has {none}")),
        (
            "run.lmx",
            format!("kind: cannot read: there is no such file, and a label matrix has {none}"),
        ),
    ] {
        let error = folder.error(&format!("eval {inputs} --group-by kind"));
        assert_eq!(error, format!("error: {expected}\n"), "{inputs}");
    }
}
