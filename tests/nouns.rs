//! One noun, one type: the name of a type stands in one file, whichever package that is in.
//!
//! Who reads `Row` in fourteen files has to look up fourteen times which one it is. Types of tests
//! are left out, which nobody meets elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::layers::sources;

const FOLDERS: [&str; 6] = [
    "crates/join/src",
    "crates/read/src",
    "src",
    "crates/cli/src",
    "crates/formats/src",
    "python/src",
];

/// Names that stand twice on purpose, with the reason.
///
/// A class of Python is another type than what it wraps, and has to have its name, for that is what
/// users of Python read.
const TWICE: &[(&str, &str)] = &[
    ("Comparison", "a class of Python around the comparison"),
    ("Identified", "a class of Python around what was found"),
    ("PerQuery", "a class of Python around the values of the queries of a run"),
    ("Pools", "a class of Python around the pools"),
    ("Qrels", "a class of Python around the judgments"),
    ("Resident", "a class of Python around labels on a GPU"),
    ("Scores", "a class of Python around the scores"),
    ("Stream", "a class of Python around an evaluation of batches"),
    ("Summary", "a class of Python around the summary"),
];

/// The types that a file defines outside of its tests: structs, enums, traits, and names for types,
/// but for those that a trait asks for.
fn types(text: &str) -> Vec<String> {
    let is_module = |at: usize| text[at..].lines().nth(1).is_some_and(|line| line.contains("mod "));
    let tests = text.match_indices("#[cfg(test)]\n").find(|&(at, _)| is_module(at));
    let code = &text[..tests.map_or(text.len(), |(at, _)| at)];
    let mut found = Vec::new();
    for line in code.lines() {
        let inside = line.starts_with(' ');
        let line = line.trim_start();
        let line = line.strip_prefix("pub").map_or(line, |seen| match seen.strip_prefix('(') {
            Some(by_whom) => by_whom.split_once(')').map_or(seen, |(_, line)| line),
            None => seen,
        });
        let mut words =
            line.split([' ', '<', '(', '{', ';', ':', '=']).filter(|word| !word.is_empty());
        let first = words.next();
        let defines = match first {
            Some("struct" | "enum" | "trait" | "union") => true,
            Some("type") => !inside,
            _ => false,
        };
        let name = words.next().filter(|name| name.starts_with(char::is_uppercase));
        if let Some(name) = name.filter(|_| defines) {
            found.push(name.to_owned());
        }
    }
    found
}

fn files_by_type() -> BTreeMap<String, Vec<PathBuf>> {
    let mut files = Vec::new();
    FOLDERS.iter().for_each(|folder| {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    });
    files.retain(|file| {
        !file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
    });
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        for name in types(&std::fs::read_to_string(&file).unwrap()) {
            found.entry(name).or_default().push(file.clone());
        }
    }
    found
}

#[test]
fn a_name_is_one_type() {
    let found = files_by_type();
    assert!(found.len() > 800, "{} types", found.len());
    for (name, files) in &found {
        let reason = TWICE.iter().find(|(twice, _)| twice == name);
        match reason {
            None => assert_eq!(files.len(), 1, "`{name}` is a type in several files: {files:?}"),
            Some((_, reason)) => {
                assert_eq!(files.len(), 2, "`{name}` ({reason}): {files:?}");
                let of_python = files.iter().find(|file| {
                    file.starts_with(Path::new(env!("CARGO_MANIFEST_DIR")).join("python"))
                });
                let text = std::fs::read_to_string(of_python.unwrap()).unwrap();
                let class = text.split(&format!("pub struct {name} ")).next().unwrap();
                assert!(
                    class.trim_end().rsplit('\n').next().unwrap().starts_with("#[pyclass"),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn types_are_found() {
    let text = "pub(in crate::a) struct One<'a> {\n    field: u8,\n}\ntype Two = u8;\n\
                impl X for Y {\n    type Three = u8;\n}\nfn f() {\n    struct Four(u8);\n}\npub \
                trait Five: Sized {}\n\
                #[cfg(test)]\nmod tests {\n    struct Six;\n}\n";
    assert_eq!(types(text), ["One", "Two", "Four", "Five"]);
}
