//! Results of units: `--doc-id`, `--aggregate`, `--max-chunks` and `--qrels-doc-id` in every
//! command that has
//! them.

use crate::folder::{Folder, assert_says};

const QRELS: &str = "q 0 A 2\nq 0 B 1\nq 0 C 0\nq 0 D 1\n";
const RUN: &str = "\
q Q0 A#1 1 9 t\nq Q0 X#1 2 8 t\nq Q0 A#2 3 7 t\nq Q0 B#4 4 6 t
q Q0 C#1 5 6 t\nq Q0 B#1 6 5 t\nq Q0 A#3 7 4 t\nq Q0 D#9 8 1 t\n";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.put("qrels", QRELS);
    folder.put("run.trec", RUN);
    folder.put("map.tsv", "A#1\tA\nA#2\tA\nA#3\tA\nX#1\tX\nB#4\tB\nC#1\tC\nB#1\tB\nD#9\tD\n");
    folder.put(
        "run.tsv",
        "query_id\tdoc_id\tparent\tscore\nq\t1\tA\t9\nq\t2\tX\t8\nq\t3\tA\t7\nq\t4\tB\t6\n",
    );
    folder
}

const MEASURES: &str = "-m nDCG@5,AP,P@3,Judged@5 --format tsv";

#[test]
fn results_are_of_documents() {
    let folder = folder();
    let value = |options: &str| {
        let out =
            folder.out(&format!("eval qrels run.trec {options} -m AP --format tsv --precision 12"));
        out.lines().last().unwrap().rsplit('\t').next().unwrap().to_owned()
    };
    assert_eq!(value("--doc-id before:#"), "0.700000000000");
    assert_eq!(value("--doc-id before-first:# --aggregate max"), "0.700000000000");
    assert_eq!(value("--doc-id map:map.tsv"), "0.700000000000");
    assert_eq!(value("--doc-id before:# --aggregate blank --quiet"), "0.591666666667");
    assert_eq!(value("--doc-id before:# --aggregate sum"), "0.866666666667");
    assert_eq!(value("--doc-id before:# --aggregate mean"), "0.533333333333");
    assert_eq!(value("--doc-id before:# --max-chunks 4"), "0.333333333333");
    assert_eq!(value("--doc-id before:# --ties average"), "0.727777777778");
    let column = folder.out("eval qrels run.tsv --doc-id column:parent -m R@5 --format tsv");
    assert!(column.contains("0.666"), "{column}");
}

/// What `convert` writes is evaluated as the run is with the same options.
#[test]
fn a_run_is_what_convert_writes_of_it() {
    let folder = folder();
    for options in [
        "--doc-id before:#",
        "--doc-id before:# --aggregate sum",
        "--doc-id map:map.tsv --aggregate mean:2",
        "--doc-id before-first:# --aggregate sum:2 --max-chunks 5",
    ] {
        let expected = folder.out(&format!("eval qrels run=run.trec {options} {MEASURES}"));
        for file in ["documents.trec", "documents.tsv", "documents.jsonl", "documents.run.gz"] {
            folder.out(&format!("convert run.trec {options} -o {file} --quiet"));
            assert_eq!(
                folder.out(&format!("eval qrels run={file} {MEASURES}")),
                expected,
                "{options} {file}"
            );
        }
        folder.out(&format!("convert qrels run.trec {options} -o all.lmx --quiet"));
        let of_matrix = folder.out(&format!("eval all.lmx {MEASURES}"));
        assert_eq!(of_matrix.replace("run.trec", "run"), expected, "{options}");
    }
    folder.out("convert run.trec --doc-id before:# -o documents.trec --quiet");
    let written = "q Q0 A 1 9 t\nq Q0 X 2 8 t\nq Q0 B 4 6 t\nq Q0 C 5 6 t\nq Q0 D 8 1 t\n";
    assert_eq!(String::from_utf8(folder.get("documents.trec")).unwrap(), written);
    folder.out("convert run.trec --doc-id before:# --aggregate sum:2 -o sums.trec --quiet");
    let written = "q Q0 A 1 16 t\nq Q0 B 2 11 t\nq Q0 X 3 8 t\nq Q0 C 4 6 t\nq Q0 D 5 1 t\n";
    assert_eq!(String::from_utf8(folder.get("sums.trec")).unwrap(), written);
    let refused =
        folder.error("convert run.trec --doc-id before:# --aggregate blank -o blank.trec");
    assert_says(&refused, &["--aggregate blank leaves ranks empty", "take --aggregate max"]);
}

#[test]
fn judged_passages_are_of_documents() {
    let folder = folder();
    folder.put("passages", "q 0 A#1 2\nq 0 A#7 1\nq 0 B#2 1\nq 0 C#1 0\n");
    folder.put("documents.run", "q Q0 B 1 3 t\nq Q0 A 2 2 t\nq Q0 C 3 1 t\n");
    let found = folder
        .out("eval passages documents.run --qrels-doc-id before:# -m nDCG@3,AP,P@3 --format tsv");
    assert_says(&found, &["0.8597", "AP\tmean\t1", "0.6666"]);
    folder.out("convert passages --qrels --qrels-doc-id before:# -o documents.qrels --quiet");
    assert_eq!(folder.get("documents.qrels"), b"q 0 A 2\nq 0 B 1\nq 0 C 0\n");
    let none = folder.error("eval documents.qrels documents.run --qrels-doc-id before:#");
    assert_says(
        &none,
        &["documents.qrels: none of its ids has '#', so --qrels-doc-id before:# would change \
             nothing"],
    );
}

#[test]
fn matrices_keep_the_rule() {
    let folder = folder();
    folder.out("build qrels run.trec --doc-id before:# -o b.lmx --quiet");
    assert_says(&folder.out("info b.lmx"), &["units        --doc-id before:# --aggregate max\n"]);
    assert_eq!(
        folder.out("eval b.lmx --doc-id before:# --aggregate max -m AP"),
        folder.out("eval b.lmx -m AP")
    );
    assert_says(
        &folder.error("eval b.lmx --aggregate sum"),
        &["b.lmx: was built with --aggregate max, so --aggregate sum cannot be answered from it: \
             build it again from the text"],
    );
    assert_says(
        &folder.error("eval b.lmx --max-chunks 4"),
        &["b.lmx: was built with --max-chunks all, so --max-chunks 4 cannot"],
    );
    assert_says(
        &folder.error("eval b.lmx --qrels-doc-id before:#"),
        &["no judgments that --qrels-doc-id"],
    );
    folder.out("build qrels documents=run.trec --doc-id map:map.tsv -o m.lmx --quiet");
    folder.out("eval m.lmx --doc-id map:map.tsv -m AP");
    folder.put("other.tsv", "A#1\tB\n");
    assert_says(
        &folder.error("eval m.lmx --doc-id map:other.tsv"),
        &["was built with --doc-id map:"],
    );
}

#[test]
fn parts_merge_if_they_have_one_rule() {
    let folder = folder();
    folder.put("more.qrels", "p 0 A 1\n");
    folder.put("more.trec", "p Q0 A#1 1 2 t\np Q0 A#2 2 1 t\n");
    folder.out(
        "eval qrels run=run.trec --doc-id before:# --aggregate blank -m AP --quiet --partial \
        one.sum",
    );
    folder.out(
        "eval more.qrels run=more.trec --doc-id before:# --aggregate blank -m AP --quiet --partial \
         two.sum",
    );
    folder.out("eval more.qrels run=more.trec --doc-id before:# -m AP --quiet --partial three.sum");
    assert_says(&folder.out("merge one.sum two.sum"), &["0.7958"]);
    assert_says(&folder.error("merge one.sum three.sum"), &["--aggregate"]);
}

#[test]
fn what_is_wrong_is_said_word_for_word() {
    let folder = folder();
    let says = |options: &str, expected: &str| {
        let error = folder.error(&format!("eval qrels run.trec {options}"));
        assert_says(&error, &[expected]);
    };
    says(
        "--doc-id regex:^d",
        "invalid value 'regex:^d' for '--doc-id <RULE>': before:TEXT, before-first:TEXT, map:FILE \
         or column:NAME was expected",
    );
    says(
        "--aggregate mean:0",
        "invalid value 'mean:0' for '--aggregate <HOW>': behind mean: a number of results, 1 or \
         more, was expected",
    );
    says(
        "--doc-id before:# --aggregate blank --ties average",
        "--aggregate blank has no expected value over ties that can be computed: take --ties \
         docno-desc, or --aggregate max",
    );
    says(
        "--doc-id before:@",
        "run.trec: none of its ids has '@', so --doc-id before:@ would change nothing: 'A#1', \
        'A#2' \
         and others",
    );
    folder.put("map.tsv", "d1#2\td1\nd3\td3\nd1#2\td9\n");
    says("--doc-id map:map.tsv", "map.tsv:3: 'd1#2' belongs to 'd9' here, but to 'd1' on line 1");
    folder.put("map.tsv", "A#1\tA\n");
    says(
        "--doc-id map:map.tsv",
        "run.trec:2: 'X#1' is not in map.tsv, which names the unit of each result",
    );
    folder.put("bad.trec", "q Q0 A#1 1 2 t\nq Q0 #3 2 1 t\n");
    let error = folder.error("eval qrels bad.trec --doc-id before:#");
    assert_says(
        &error,
        &["bad.trec:2: nothing stands before '#' in '#3', where the id of a unit was expected"],
    );
    folder.put("ranks.tsv", "q\tA#1\t1\nq\tA#2\t2\n");
    let error = folder.error("eval qrels ranks.tsv --doc-id before:# --aggregate sum");
    assert_says(
        &error,
        &["ranks.tsv: has ranks and no scores that could be added: take --aggregate max or blank"],
    );
    folder.put("twice.trec", "q Q0 A#1#2 1 3 t\nq Q0 B#1 2 2 t\n");
    let noted = folder.run("eval qrels twice.trec --doc-id before:#");
    assert_says(
        &noted.err,
        &["twice.trec: 1 id has '#' twice: before:# takes what is before the last, \
             before-first:# before the first"],
    );
    let noted = folder.run("eval qrels run=run.trec --doc-id before:# --aggregate blank");
    assert_says(&noted.err, &["note: run: 3 of 8 results repeat a unit (--aggregate blank)"]);
}

#[test]
fn repeats_without_units_come_with_a_hint() {
    let folder = folder();
    folder.put("dup.run", "q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n");
    folder.put("one.qrels", "q1 0 a 1\n");
    let error = folder.error("eval one.qrels dup.run");
    assert_says(
        &error,
        &[
            "dup.run:2: docno 'a' occurs again for query 'q1', first on line 1",
            "--aggregate max keeps the best, and --aggregate blank leaves the ranks of the others \
             empty",
        ],
    );
    assert_says(&folder.out("eval one.qrels dup.run --aggregate max -m AP"), &["AP\tmean\t1\n"]);
}

#[test]
fn documents_of_a_query_are_shown_by_their_units() {
    let folder = folder();
    let shown = folder.out("show qrels run.trec --query q --doc-id before:# -m nDCG@5");
    assert!(!shown.contains('#'), "{shown}");
    assert_says(&shown, &["A", "X", "B", "C", "D"]);
}

#[cfg(unix)]
#[test]
fn pipes_are_of_units_too() {
    let folder = folder();
    for way in ["max", "blank", "sum", "mean:2"] {
        let options = format!("--doc-id before:# --aggregate {way} --quiet {MEASURES}");
        let piped =
            folder.shell(&format!("cat run.trec | $L eval qrels run=<(cat run.trec) {options}"));
        assert_eq!(
            (piped.code, piped.out),
            (0, folder.out(&format!("eval qrels run=run.trec {options}")))
        );
    }
}

/// Parts of comparisons keep the rule as scores do.
#[test]
fn parts_of_comparisons_merge_if_they_have_one_rule() {
    let folder = folder();
    folder.put("other.trec", "q Q0 B#1 1 9 t\nq Q0 A#1 2 8 t\n");
    folder.put("more.qrels", "p 0 A 1\np 0 B 0\nr 0 B 2\n");
    folder.put("more.trec", "p Q0 A#1 1 2 t\np Q0 B#2 2 1 t\nr Q0 A#1 1 3 t\nr Q0 B#9 2 1 t\n");
    folder.put("more-other.trec", "p Q0 B#1 1 2 t\np Q0 A#2 2 1 t\nr Q0 B#1 1 3 t\n");
    let both = |one: &str, other: &str| [folder.get(one), folder.get(other)].concat();
    folder.put("all.qrels", both("qrels", "more.qrels"));
    folder.put("all.trec", both("run.trec", "more.trec"));
    folder.put("all-other.trec", both("other.trec", "more-other.trec"));
    let options = "--doc-id before:# -m AP --quiet";
    folder.out(&format!("compare qrels a=run.trec b=other.trec {options} --partial one"));
    folder
        .out(&format!("compare more.qrels a=more.trec b=more-other.trec {options} --partial two"));
    folder.out(&format!(
        "compare more.qrels a=more.trec b=more-other.trec {options} --max-chunks 9 --partial three"
    ));
    let whole = folder
        .out(&format!("compare all.qrels a=all.trec b=all-other.trec {options} --format table"));
    assert_eq!(folder.out("merge one two --format table --quiet"), whole);
    assert_says(&folder.error("merge one three"), &["--max-chunks"]);
}
