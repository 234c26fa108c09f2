//! What no list names is not tested, and nothing fails: here lists are compared with what is there.
//!
//! The tests of the command stand in no package, so all of the repository is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the files in a folder whose names end so, without that end; those in folders of it too,
/// if `deep`.
fn stems(folder: &str, end: &str, deep: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in
        std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"))
    {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match name.strip_suffix(end) {
            Some(stem) => _ = found.insert(stem.to_owned()),
            None if deep && entry.path().is_dir() => {
                found.extend(stems(&format!("{folder}/{name}"), end, true));
            }
            None => (),
        }
    }
    found
}

/// What stands between two texts, wherever they are in another.
fn between<'a>(text: &'a str, start: &str, end: &str) -> BTreeSet<&'a str> {
    text.split(start).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0)).collect()
}

/// Returns the pages that have a line that begins so.
fn pages_with(start: &str) -> BTreeSet<String> {
    let pages = stems("docs", ".md", false).into_iter().map(|stem| format!("docs/{stem}.md"));
    let mut pages: BTreeSet<String> = pages.chain(["README.md".to_owned()]).collect();
    pages.retain(|page| text(page).lines().any(|line| line.starts_with(start)));
    pages
}

/// Only files that a test binary names are compiled, for `autotests` is off.
#[test]
fn every_file_of_tests_is_in_a_test_binary() {
    for (folder, least, binaries) in [
        ("tests", 60, &["main.rs", "hostile/main.rs", "machine/main.rs"][..]),
        ("crates/cli/tests", 38, &["main.rs", "system/main.rs"]),
    ] {
        let named: String =
            binaries.iter().map(|binary| text(&format!("{folder}/{binary}"))).collect();
        let named = between(&named, "mod ", ";");
        let files = stems(folder, ".rs", true);
        assert!(files.len() >= least, "{folder}: {} files", files.len());
        let left_out: Vec<&String> =
            files.iter().filter(|file| **file != "main" && !named.contains(&***file)).collect();
        assert!(left_out.is_empty(), "{folder}: no binary has the modules {left_out:?}");
    }
}

#[test]
fn every_page_with_rust_is_a_test() {
    let library = text("src/lib.rs");
    let tested: BTreeSet<String> = between(&library, "#[doc = include_str!(\"../", "\")]")
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert!(tested.len() >= 5, "{tested:?}");
    assert_eq!(pages_with("```rust"), tested);
}

#[test]
fn every_page_with_examples_of_python_is_a_test() {
    let steps = text(".ci/run");
    let is_page = |word: &&str| word.starts_with("docs/") && word.ends_with(".md");
    let tested: BTreeSet<String> =
        steps.split_ascii_whitespace().filter(is_page).map(str::to_owned).collect();
    assert!(tested.len() >= 7, "{tested:?}");
    assert_eq!(pages_with(">>> "), tested);
}

#[test]
fn every_fuzz_target_is_listed() {
    let targets = stems("fuzz/fuzz_targets", ".rs", false);
    assert!(targets.len() >= 9, "{targets:?}");
    let same = |found: BTreeSet<&str>, place: &str| {
        assert_eq!(found, targets.iter().map(String::as_str).collect(), "{place}");
    };
    same(between(&text("fuzz/Cargo.toml"), "path = \"fuzz_targets/", ".rs\""), "fuzz/Cargo.toml");
    let nightly = text(".github/workflows/nightly.yml");
    let matrix = nightly.split_once("target: [").unwrap().1.split_once(']').unwrap().0;
    same(matrix.split(", ").collect(), "nightly.yml");
    let page = text("fuzz/README.md");
    same(
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect(),
        "fuzz/README.md",
    );
    // Beside trec_eval only.
    let replayed = text("tests/hostile/corpus.rs");
    let replayed = replayed.split_once("const TARGETS: ").unwrap().1.split_once("];\n").unwrap().0;
    same(
        between(replayed, "(\"", "\"").into_iter().chain(["differential"]).collect(),
        "tests/hostile/corpus.rs",
    );
}
