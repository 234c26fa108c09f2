//! The commands of the README and of the pages in `docs` print what stands behind them.
//! `UPDATE_README=1 cargo test guide` rewrites that.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::readme::rewriting;

/// A block of commands, which the blocks behind it go on from, and what is to stand behind it.
const COMMANDS: &str = "```sh\n";
const PRINTED: &str = "\n```text\n";
const END: &str = "```\n";

/// Every page with commands.
#[test]
fn guide() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let has_commands = |page: &PathBuf| {
        page.extension().is_some_and(|extension| extension == "md")
            && std::fs::read_to_string(page).unwrap().contains(COMMANDS)
    };
    let pages: Vec<PathBuf> = pages.filter(has_commands).collect();
    assert!(pages.len() > 12, "{pages:?}");
    std::thread::scope(|scope| {
        for page in &pages {
            scope.spawn(|| check(page, true));
        }
    });
}

/// Commands of the README may print more than it shows: nothing is said of those without a block
/// behind them.
#[test]
fn guide_of_the_readme() {
    check(&root().join("README.md"), false);
}

/// The diffs of CONTRIBUTING.md were tried when they were put there. While they apply, they are
/// likely to be true still.
#[test]
fn worked_diffs_apply() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    // A diff may have the end of a block in it, but not at the start of a line.
    let block = |rest: &str| format!("{}\n", rest.split_once("\n```\n").expect("a block ends").0);
    let diffs: Vec<String> = page.split("```diff\n").skip(1).map(block).collect();
    assert!(diffs.len() >= 4, "{}", diffs.len());
    for diff in diffs {
        let mut git = Command::new("git");
        let checked = git
            .args(["apply", "--check", "-"])
            .current_dir(root())
            .write_stdin(diff.as_str())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&checked.stderr);
        assert!(
            checked.status.success(),
            "CONTRIBUTING.md: write the diff again\n{stderr}\n{diff}"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs the commands of a page in an empty folder that has the samples. `shows_all`: a block that
/// prints has its output behind it.
fn check(page: &Path, shows_all: bool) {
    let rewriting = rewriting();
    let text = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples/data"), &folder.path().join("examples/data"));
    let (mut found, mut rest) = (String::new(), text.as_str());
    assert!(
        rest.contains(COMMANDS) && rest.contains(PRINTED),
        "{} shows no command",
        page.display()
    );
    while let Some((before, after)) = rest.split_once(COMMANDS) {
        let (commands, after) = after.split_once(END).expect("a block ends");
        found += &format!("{before}{COMMANDS}{commands}{END}");
        let printed = run(commands, folder.path());
        rest = after;
        match after.strip_prefix(PRINTED) {
            Some(after) => {
                rest = after.split_once(END).expect("a block ends").1;
                found += &format!("{PRINTED}{printed}{END}");
            }
            None if shows_all => {
                assert_eq!(printed, "", "{}: nothing is shown behind\n{commands}", page.display())
            }
            None => (),
        }
    }
    found += rest;
    if rewriting.is_some() {
        std::fs::write(page, found).unwrap();
    } else {
        assert_eq!(found, text, "{}: run `UPDATE_README=1 cargo test guide`", page.display());
    }
}

/// Copies a folder with the folders in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What commands print, on stdout and stderr as it comes.
fn run(commands: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_laneval")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let script = format!("set -eu -o pipefail; exec 2>&1\n{commands}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{commands}\n{printed}");
    printed
}
