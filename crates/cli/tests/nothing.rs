//! `no_relevant=`: what a query is worth for which nothing is relevant.

use crate::folder::{Folder, Ran};

/// Eleven queries with a relevant document, and `nothing` of them without one.
fn folder(nothing: usize) -> Folder {
    let folder = Folder::empty();
    let query = |at: usize| format!("q{at:02}");
    let grade = |at: usize| if at < 11 { 1 } else { 0 };
    let all = 0..11 + nothing;
    let lines = |line: &dyn Fn(usize) -> String| all.clone().map(line).collect::<String>();
    folder.put("qrels", lines(&|at| format!("{} 0 d {}\n", query(at), grade(at))));
    folder.put("one", lines(&|at| format!("{0} Q0 d 1 2 t\n{0} Q0 e 2 1 t\n", query(at))));
    folder.put("two", lines(&|at| format!("{0} Q0 e 1 2 t\n{0} Q0 d 2 1 t\n", query(at))));
    folder
}

#[track_caller]
fn prints(folder: &Folder, args: &str) -> Ran {
    let ran = folder.run(args);
    assert_eq!(ran.code, 0, "{args}: {}", ran.err);
    ran
}

#[test]
fn a_note_counts_the_queries_that_are_left_out() {
    let folder = folder(2);
    let args =
        "eval qrels two -m RR,RR(no_relevant=1),RR(no_relevant=skip) --format csv --per-query";
    let Ran { out, err, .. } = prints(&folder, args);
    assert!(
        err.contains("RR(no_relevant=skip): 2 queries are left out, because nothing is relevant"),
        "{err}"
    );
    assert!(
        out.contains("two,q11,RR(no_relevant=1),value,1\n") && out.contains("two,q11,RR,value,0\n"),
        "{out}"
    );
    assert!(!out.contains("q11,RR(no_relevant=skip)"), "{out}");
    assert!(out.contains("two,,RR(no_relevant=skip),mean,0.5\n"), "{out}");
    let json = prints(&folder, "eval qrels two -m RR(no_relevant=skip) --format json").out;
    assert!(json.contains("\"skipped\": 2"), "{json}");
    let lines =
        prints(&folder, "eval qrels two -m RR(no_relevant=skip) --format jsonl --per-query").out;
    assert_eq!(lines.lines().count(), 12);
}

#[cfg(unix)]
#[test]
fn gates_over_too_few_queries_cannot_be_computed() {
    let ran = |folder: &Folder| {
        folder.shell("$L eval qrels two -m RR --fail-if 'RR(no_relevant=skip) < 0.1'")
    };
    let refused = ran(&folder(2));
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("2 of 13 queries have no value"), "{}", refused.err);
    assert_eq!(ran(&folder(1)).code, 0);
}

#[test]
fn comparisons_and_their_baselines_leave_the_same_queries_out() {
    let folder = folder(2);
    prints(&folder, "eval qrels one -m RR(no_relevant=skip) --per-query -o old.json");
    prints(&folder, "eval qrels one -m RR(no_relevant=skip) --per-query -o old.tsv");
    let whole = "compare qrels one two -m RR(no_relevant=skip) --baseline one --format json";
    let whole = prints(&folder, whole).out;
    let results = |text: &str| {
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        (
            document["skipped"].clone(),
            document["pairs"][0]["delta"].clone(),
            document["runs"][0]["means"].clone(),
        )
    };
    assert_eq!(
        results(&whole),
        (serde_json::json!([2]), serde_json::json!(-0.5), serde_json::json!([1.0]))
    );
    for stored in ["old.json", "old.tsv"] {
        let args =
            format!("compare qrels two -m RR(no_relevant=skip) --baseline {stored} --format json");
        assert_eq!(results(&prints(&folder, &args).out), results(&whole), "{stored}");
    }
}

#[test]
fn a_comparison_counts_and_notes_them_once_and_a_page_draws_the_others() {
    let folder = folder(2);
    let compare = |format: &str| {
        prints(&folder, &format!("compare qrels one two -m RR(no_relevant=skip) --format {format}"))
    };
    let Ran { out, err, .. } = compare("tsv");
    assert_eq!(err.matches("2 queries are left out").count(), 1, "{err}");
    assert!(out.contains("one\t\t\tRR(no_relevant=skip)\tn\t11\n"), "{out}");
    assert!(!compare("html").out.contains("NaN"));
}

#[test]
fn measures_tell_of_the_parameter() {
    let folder = Folder::empty();
    let page = |name: &str| prints(&folder, &format!("measures {name}")).out;
    assert!(
        page("AP").contains("no_relevant = 0 or 1 or skip; default 0; not together with judges"),
        "{}",
        page("AP")
    );
    assert!(!page("GMAP").contains("no_relevant ="));
}

#[test]
fn wrong_words_are_refused() {
    let ran = folder(1).run("eval qrels one -m AP(no_relevant=2)");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no_relevant=2 is not 0, 1 or skip"), "{}", ran.err);
}

#[test]
fn a_query_that_is_shown_says_that_it_has_no_value() {
    let folder = folder(1);
    let show = |options: &str| {
        let measures = "AP,AP(no_relevant=1),AP(no_relevant=skip)";
        prints(&folder, &format!("show qrels one --query q11 -m {measures} {options}")).out
    };
    let shown = show("");
    let line = shown.lines().find(|line| line.starts_with("one  ")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["one", "0.0000", "1.0000", "none"]);
    let document: serde_json::Value = serde_json::from_str(&show("--format json")).unwrap();
    let run = &document["queries"][0]["runs"][0];
    assert_eq!(run["values"], serde_json::json!({"AP": 0.0, "AP(no_relevant=1)": 1.0}));
    assert_eq!(run["terms"].as_object().unwrap().keys().collect::<Vec<_>>(), ["AP"]);
}
