//! What each sample and fixture is recognised as, in `recognised.txt`, so that a change of detection
//! shows as a difference of that text. `UPDATE_README=1 cargo test recognised` writes it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::folder::ran;

/// The folders of samples and fixtures.
const FOLDERS: [&str; 5] = [
    "examples/data",
    "examples/data/formats",
    "examples/data/neighbours",
    "tests/fixtures",
    "tests/fixtures/platforms",
];

/// The ends of names of files that are no judgments and no runs, and of those that only some builds
/// read.
const OTHERS: [&str; 4] = [".lmx", ".bin", ".parquet", ".arrow"];

/// Returns what `laneval info` says a file is, as judgments and as a run, or its error.
fn recognised(folder: &Path, name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
    let info = ran(command.current_dir(folder).args(["info", name]));
    let is_format =
        |line: &&str| line.starts_with("as judgments ") || line.starts_with("as a run ");
    let formats = info.out.lines().filter(is_format).map(|line| format!("{line}\n"));
    let formats = formats.collect::<String>();
    if formats.is_empty() { info.err } else { formats }
}

/// Returns what all files are recognised as.
fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut page = String::new();
    for folder in FOLDERS {
        let path = root.join(folder);
        let files = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap());
        let files = files.filter(|entry| entry.path().is_file());
        let mut names: Vec<String> =
            files.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| !OTHERS.iter().any(|end| name.ends_with(end)));
        names.sort();
        assert!(!names.is_empty(), "{folder}");
        for name in names {
            page += &format!("{folder}/{name}\n{}\n", recognised(&path, &name));
        }
    }
    page
}

#[test]
fn samples_are_recognised_as_before() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recognised.txt");
    let page = page();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(stored, page, "run `UPDATE_README=1 cargo test recognised`");
}
