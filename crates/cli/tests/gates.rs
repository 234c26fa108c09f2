//! Gates: what passes was computed, on judged results of the queries that are named, and could have
//! failed.

use crate::folder::{Folder, Ran, assert_says};

/// Four queries of two groups, a run that finds all, one that finds half, and runs and files of ids
/// that match nothing.
fn folder() -> Folder {
    let folder = Folder::new();
    let lines = |line: &dyn Fn(u32) -> String| (1..=4).map(line).collect::<String>();
    folder.put("qrels", lines(&|q| format!("q0{q} 0 d{q} 1\n")));
    folder.put("good", lines(&|q| format!("q0{q} Q0 d{q} 1 2 t\nq0{q} Q0 x 2 1 t\n")));
    folder.put(
        "half",
        lines(&|q| {
            format!("q0{q} Q0 {} 1 2 t\nq0{q} Q0 d{q} 2 1 t\n", if q > 2 { "x" } else { "y" })
        }),
    );
    folder.put("strange", lines(&|q| format!("q0{q} Q0 D-{q} 1 2 t\n")));
    folder.put("groups", "q01\teasy\nq02\teasy\nq03\teasy\nq04\thard\n");
    folder.put("lost", "q1\teasy\nq2\thard\n");
    folder.put("some", "q01\teasy\nq2\thard\nq3\tother\n");
    folder
}

#[track_caller]
fn ends(folder: &Folder, command: &str, code: i32, says: &[&str]) -> Ran {
    let ran = folder.shell(&format!("$L {command}"));
    assert_eq!(ran.code, code, "{command}\n{}{}", ran.out, ran.err);
    assert_says(&ran.err, says);
    ran
}

#[test]
fn a_group_without_queries_passes_nothing() {
    let folder = folder();
    let none = "no query that counts is in a group; the ids of the groups are such as q1";
    for gate in ["", "--fail-if 'RR drops > 0.1'"] {
        ends(
            &folder,
            &format!("compare qrels a=good b=good -m RR {gate} --group-by lost --quiet"),
            2,
            &[none],
        );
    }
    for gate in ["", "--fail-if 'RR < 0.1'"] {
        ends(&folder, &format!("eval qrels good -m RR {gate} --group-by lost --quiet"), 2, &[none]);
    }
    ends(
        &folder,
        "compare qrels a=good b=good -m RR --group-by some --quiet",
        0,
        &["warning: no query of the groups hard, other counts"],
    );
    ends(
        &folder,
        "eval qrels good -m RR --group-by some --quiet",
        0,
        &["warning: no judged query is in the groups hard, other"],
    );
    // A shard need not have queries of every group, nor of any.
    let ran =
        ends(&folder, "eval qrels r=good -m RR --group-by lost --partial part --quiet", 0, &[]);
    assert_eq!(ran.err, "");
}

#[test]
fn a_gate_may_name_a_group() {
    let folder = folder();
    let compare = "compare qrels old=good new=half -m RR --group-by groups --quiet";
    let says = ["error: a gate failed: new: hard: RR drops > 10% [hard]"];
    let ran = ends(&folder, &format!("{compare} --fail-if 'hard: RR drops > 10%'"), 1, &says);
    assert_eq!(ran.err.matches("a gate failed").count(), 1, "in the group alone: {}", ran.err);
    ends(&folder, &format!("{compare} --fail-if 'hard: RR drops > 60%'"), 0, &[]);
    let says = ["no query that counts is in the group hart: there are easy, hard"];
    ends(&folder, &format!("{compare} --fail-if 'hart: RR drops > 10%'"), 2, &says);
    let says = ["no query that counts is in the group hard: --group-by FILE gives groups"];
    ends(&folder, "compare qrels a=good b=half -m RR --fail-if 'hard: RR drops > 10%'", 2, &says);
    // A group of one query has no p.
    ends(
        &folder,
        &format!("{compare} --fail-if 'hard: RR drops > 10% p<0.05'"),
        2,
        &["its p takes two queries or more"],
    );
    ends(
        &folder,
        "eval qrels half -m RR --group-by groups --fail-if 'hard: RR < 0.6' --quiet",
        1,
        &["half: hard: RR < 0.6"],
    );
    ends(
        &folder,
        "eval qrels half -m RR --group-by groups --fail-if 'hard: RR < 0.5' --quiet",
        0,
        &[],
    );
    ends(
        &folder,
        "eval qrels half -m RR --fail-if 'hard: RR < 0.5' --quiet",
        2,
        &["--group-by FILE gives groups"],
    );
}

#[test]
fn gates_that_cannot_fail_are_errors() {
    let folder = folder();
    for (gate, says) in [
        ("RR drops > 1", "did you mean `RR drops > 1%`?"),
        ("RR drops > 150%", "this gate would never fail"),
        ("RR < -0.01", "this gate would never fail"),
    ] {
        ends(&folder, &format!("compare qrels a=good b=half -m RR --fail-if '{gate}'"), 2, &[says]);
    }
}

#[test]
fn a_baseline_of_which_nothing_is_judged_passes_nothing() {
    let folder = folder();
    let says =
        ["the baseline's mean is 0, the worst there is, and none of its documents is judged"];
    ends(&folder, "compare qrels old=strange new=half -m RR --fail-if 'RR drops > 0.1'", 2, &says);
    folder.out("eval qrels main=strange -m RR -q -o main.json --quiet");
    let says = ["the baseline's mean is 0, the worst there is, so no run can be worse"];
    ends(
        &folder,
        "compare qrels new=half -m RR --baseline main.json --fail-if 'RR drops > 0.1'",
        2,
        &says,
    );
    // What is bad and judged is a baseline: here nothing relevant is in the first place.
    folder.put("judged", "q01 0 d1 1\nq01 0 y 0\nq02 0 d2 1\nq02 0 y 0\n");
    ends(
        &folder,
        "compare judged old=half new=good -m P@1 --fail-if 'P@1 drops > 0.1' --quiet",
        0,
        &[],
    );
    let says = ["no result of strange is judged"];
    ends(&folder, "eval qrels strange -m RR --fail-if 'RR > 0.1' --quiet", 2, &says);
    ends(&folder, "eval qrels strange -m RR --fail-if 'RR < 0.1' --quiet", 1, &["a gate failed"]);
}

#[test]
fn a_baseline_brings_its_measures() {
    let folder = folder();
    folder.out("eval qrels main=good -m P@1,RR -q -o main.json --quiet");
    let out = folder.out("compare qrels new=half --baseline main.json --format csv --quiet");
    let measures: Vec<&str> = out
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').find(|cell| ["P@1", "RR"].contains(cell)))
        .collect();
    assert!(measures.first() == Some(&"P@1") && measures.contains(&"RR"), "{out}");
    // A run of the command line is no file of scores.
    let out = folder.out("compare qrels good half --baseline good --format csv --quiet");
    assert!(out.contains("nDCG@10"), "{out}");
}
