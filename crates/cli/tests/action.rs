//! The scripts of `action.yml`, run as GitHub does: inputs in variables, outputs and the summary in
//! files.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;

use crate::folder::{Folder, Ran, assert_says, ran};

/// The samples, and what a step left in its files.
struct Workplace(Folder);

impl Workplace {
    fn new() -> Workplace {
        let folder = Folder::empty();
        for name in ["demo.qrels", "demo-bm25.run", "demo-dense.run", "demo-hybrid.run"] {
            let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
            folder.put(name.trim_start_matches("demo-"), std::fs::read(path).unwrap());
        }
        folder.put("temp/empty", "");
        Workplace(folder)
    }

    /// Runs a script with inputs.
    fn step(&self, script: &str, inputs: &[(&str, &str)]) -> Ran {
        let mut command = Command::new("bash");
        let path = |name: &str| self.0.path().join(name);
        for name in ["output", "summary"] {
            self.0.put(name, "");
        }
        command.arg(repository().join(".github/actions").join(script)).current_dir(self.0.path());
        command.env_clear().env("PATH", std::env::var("PATH").unwrap());
        command.envs([("GITHUB_OUTPUT", path("output")), ("GITHUB_STEP_SUMMARY", path("summary"))]);
        command.env("RUNNER_TEMP", path("temp")).env("LANEVAL", env!("CARGO_BIN_EXE_laneval"));
        ran(command.env("QRELS", "demo.qrels").envs(inputs.iter().copied()))
    }

    fn compare(&self, inputs: &[(&str, &str)]) -> Ran {
        self.step("compare.sh", inputs)
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.0.get(name)).unwrap()
    }

    /// Returns an output of the step.
    fn output(&self, name: &str) -> String {
        let text = self.text("output");
        let mut lines = text.lines();
        let start = format!("{name}<<");
        let mark = lines
            .by_ref()
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_else(|| panic!("{text}"));
        lines.take_while(|line| *line != mark).collect::<Vec<_>>().join("\n")
    }

    /// Returns the outputs `passed` and `verdict`.
    fn outputs(&self) -> (String, String) {
        (self.output("passed"), self.output("verdict"))
    }
}

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

const BOTH: (&str, &str) = ("MEASURES", "nDCG@10,AP");

/// The scores of main are kept, and a run that is worse fails; its reports are written all the
/// same.
#[test]
fn the_action_fails_with_a_gate() {
    let place = Workplace::new();
    let output = place.compare(&[BOTH, ("RUNS", "main=hybrid.run"), ("SCORES", "kept/main.json")]);
    assert_eq!(
        (output.code, place.outputs()),
        (0, ("true".to_owned(), String::new())),
        "{}",
        output.err
    );
    assert_eq!(place.text("summary"), "");
    let inputs = [
        BOTH,
        ("RUNS", "\n  new=bm25.run  \r\n"),
        ("BASELINE", "kept/main.json"),
        ("FAIL_IF", "nDCG@10 drops > 0.5%\n\n  AP < 0.1\n"),
        ("PAGE", "out/page.html"),
        ("JUNIT", "gates.xml"),
    ];
    let Ran { code, out, err } = place.compare(&inputs);
    assert_eq!(code, 1, "{err}");
    let same = "compare demo.qrels new=bm25.run --baseline kept/main.json -m nDCG@10,AP --format \
                json --quiet";
    let document: Value = serde_json::from_str(&place.0.out(same)).unwrap();
    let verdict = document["verdict"]["text"].as_str().unwrap();
    assert!(verdict.starts_with("new is worse than main: "), "{verdict}");
    assert_eq!(place.outputs(), ("false".to_owned(), verdict.to_owned()));
    assert_says(&out, &[verdict, "FAILED  new: nDCG@10 drops > 0.5%", "PASSED  new: AP < 0.1"]);
    assert_says(
        &place.text("summary"),
        &[&format!("**{verdict}**\n"), "| **FAILED** | new | nDCG@10 drops &gt; 0.5% |"],
    );
    assert_eq!(place.text("gates.xml").matches("<testcase").count(), 2);
    assert!(place.text("out/page.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(
        place.0.path().join("temp").read_dir().unwrap().count(),
        1,
        "scratch files are gone"
    );
}

/// Where no gate holds the step passes; a verdict of several sentences is one line, and runs are
/// compared without files of scores as well.
#[test]
fn the_action_passes() {
    let place = Workplace::new();
    let inputs = [
        BOTH,
        ("RUNS", "bm25=bm25.run\ndense=dense.run\nhybrid=hybrid.run"),
        ("FAIL_IF", "AP drops > 1%"),
        ("SUMMARY", "false"),
    ];
    let Ran { code, err, .. } = place.compare(&inputs);
    assert_eq!((code, place.text("summary")), (0, String::new()), "{err}");
    let same = "compare demo.qrels bm25=bm25.run dense=dense.run hybrid=hybrid.run -m nDCG@10,AP \
                --format json --quiet";
    let document: Value = serde_json::from_str(&place.0.out(same)).unwrap();
    let verdict = document["verdict"]["text"].as_str().unwrap();
    assert!(verdict.matches(". ").count() > 0, "{verdict}");
    assert_eq!(place.outputs(), ("true".to_owned(), verdict.to_owned()));
}

/// Gates are judged in groups of queries, too.
#[test]
fn the_action_has_groups() {
    let place = Workplace::new();
    let queries: String =
        (1..=40).map(|query| format!("{query:02}\t{}\n", ["odd", "even"][query % 2])).collect();
    place.0.put("groups.tsv", queries);
    let inputs = [
        ("MEASURES", "AP"),
        ("RUNS", "old=bm25.run\nnew=hybrid.run"),
        ("BASELINE", "old"),
        ("FAIL_IF", "AP drops > 1%"),
        ("GROUP_BY", "groups.tsv"),
        ("JUNIT", "gates.xml"),
    ];
    let Ran { code, err, .. } = place.compare(&inputs);
    assert_eq!((code, place.text("gates.xml").matches("<testcase").count()), (0, 3), "{err}");
}

/// What cannot be computed fails with exit code 2, and is no pass: there are no outputs of an
/// earlier build to read instead.
#[test]
fn the_action_passes_nothing_that_it_cannot_compute() {
    let place = Workplace::new();
    place.compare(&[BOTH, ("RUNS", "main=hybrid.run"), ("SCORES", "main.json")]);
    let wrong: [&[(&str, &str)]; 6] = [
        &[BOTH, ("RUNS", "bm25.run"), ("BASELINE", "gone.json"), ("FAIL_IF", "AP drops > 1%")],
        &[BOTH, ("RUNS", "bm25.run"), ("BASELINE", "main.json"), ("FAIL_IF", "P@5 drops > 1%")],
        &[BOTH, ("RUNS", "bm25.run"), ("BASELINE", "main.json"), ("FAIL_IF", "AP falls")],
        &[BOTH, ("RUNS", "bm25.run"), ("FAIL_IF", "AP drops > 1%"), ("SCORES", "new.json")],
        &[BOTH, ("RUNS", ""), ("BASELINE", "main.json"), ("FAIL_IF", "AP drops > 1%")],
        &[BOTH, ("RUNS", "bm25.run"), ("BASELINE", "main.json"), ("JUNIT", "gates.xml")],
    ];
    for inputs in wrong {
        let Ran { code, err, .. } = place.compare(inputs);
        assert_eq!(
            (code, place.outputs()),
            (2, ("false".to_owned(), String::new())),
            "{inputs:?}\n{err}"
        );
        assert_says(&err, &["error: "]);
        assert_says(&place.text("summary"), &["could not compare the runs** (exit code 2)"]);
    }
    let before_anything: [&[(&str, &str)]; 2] = [
        &[("RUNS", "bm25.run\nhybrid.run"), ("SCORES", "new.json")],
        &[("RUNS", "bm25.run\nhybrid.run"), ("SUMMARY", "yes")],
    ];
    for inputs in before_anything {
        assert_eq!(
            (place.compare(inputs).code, place.text("output")),
            (2, String::new()),
            "{inputs:?}"
        );
    }
}

/// Inputs are data, whatever is in them.
#[test]
fn inputs_of_the_action_run_nothing() {
    let place = Workplace::new();
    let names = || place.0.names().join(" ");
    let before = {
        place.compare(&[]);
        names()
    };
    let evil = "a b'\"$(touch hacked)`touch hacked`;touch hacked\\=hybrid.run\nold=bm25.run";
    let Ran { code, out, err } =
        place.compare(&[BOTH, ("RUNS", evil), ("BASELINE", "old"), ("FAIL_IF", "AP drops > 1%")]);
    assert_eq!(code, 0, "{err}");
    assert_says(
        &place.output("verdict"),
        &["a b'\"$(touch hacked)`touch hacked`;touch hacked\\ is better than old: "],
    );
    // GitHub takes no command from what laneval prints.
    let lines: Vec<&str> = out.lines().collect();
    let mark = lines[0].strip_prefix("::stop-commands::").unwrap();
    assert_eq!(*lines.last().unwrap(), format!("::{mark}::"));
    for (name, value) in [
        ("QRELS", "--help"),
        ("MEASURES", "$(touch hacked)"),
        ("BASELINE", "old --quiet"),
        ("GROUP_BY", "-o hacked"),
        ("FAIL_IF", "--help"),
    ] {
        let runs = ("RUNS", "new=hybrid.run\nold=bm25.run");
        let Ran { code, err, .. } = place.compare(&[runs, (name, value)]);
        assert_eq!((code, place.outputs().0.as_str()), (2, "false"), "{name}\n{err}");
    }
    assert_eq!(names(), before);
}

/// Nothing but a version becomes a requirement of pip.
#[test]
fn the_action_installs_versions_only() {
    let place = Workplace::new();
    for version in [
        "0.1.0 --index-url https://example.org",
        "--help",
        "0.1.0;x",
        "0.1.0\n0.2.0",
        "latest",
        "@ file",
    ] {
        let Ran { code, err, .. } = place.step("install.sh", &[("LANEVAL_VERSION", version)]);
        assert_eq!(code, 2, "{version}\n{err}");
        assert_says(&err, &["one such as 0.1.0 was expected"]);
    }
    assert_eq!(place.text("output"), "");
}

/// Scores do not replace the baseline that they are compared with, and a folder that cannot be made
/// is no gate that failed.
#[test]
fn the_action_keeps_its_baseline() {
    let place = Workplace::new();
    let output = place.compare(&[BOTH, ("RUNS", "main=hybrid.run"), ("SCORES", "main.json")]);
    assert_eq!(output.code, 0, "{}", output.err);
    let before = place.text("main.json");
    let gate = ("FAIL_IF", "nDCG@10 drops > 0.5%");
    for baseline in ["main.json", "./main.json", "main=main.json"] {
        let inputs =
            [BOTH, gate, ("RUNS", "new=bm25.run"), ("BASELINE", baseline), ("SCORES", "main.json")];
        let refused = place.compare(&inputs);
        assert_eq!(refused.code, 2, "{baseline}: {}", refused.err);
        assert_says(&refused.err, &["scores and baseline are one file"]);
        assert_eq!(place.text("main.json"), before);
    }
    let inputs = [
        BOTH,
        gate,
        ("RUNS", "new=bm25.run"),
        ("BASELINE", "main.json"),
        ("PAGE", "main.json/page.html"),
    ];
    assert_eq!(place.compare(&inputs).code, 2);
}
