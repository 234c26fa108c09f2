//! The README says what is true: its list of measures is the table's, and its first command prints what it shows.
//! `UPDATE_README=1 cargo test readme` rewrites both.

use std::path::Path;

use laneval::measure::{Definition, MEASURES};

const END: &str = "<!-- end -->";

/// Compares what stands between a marker and its end with what should, or writes it.
fn check(marker: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let marker = format!("<!-- {marker} -->\n");
    let start = text.find(&marker).unwrap_or_else(|| panic!("README.md has no {marker}")) + marker.len();
    let end = start + text[start..].find(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{}{expected}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[start..end], expected, "run `UPDATE_README=1 cargo test readme`");
    }
}

fn row(row: &Definition) -> String {
    let params: Vec<&str> = row.params.iter().map(|param| param.name).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    format!("| `{}{params}{}` | {} |\n", row.name, row.cutoff, row.doc)
}

/// One after the other, because both may rewrite the file.
#[test]
fn readme() {
    let rows: String = MEASURES.iter().map(row).collect();
    check("measures", &format!("\n| measure | what it is |\n|---|---|\n{rows}\n"));
    check("first command", &format!("\n```text\n{}```\n\n", first_command()));
}

/// What the README's first command prints.
fn first_command() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(path.join("README.md")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("cargo run --release -- ")).unwrap();
    let output = assert_cmd::cargo::cargo_bin_cmd!("laneval")
        .current_dir(&path)
        .args(line.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
