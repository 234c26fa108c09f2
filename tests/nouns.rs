//! One noun, one type: the name of a type stands in one file, whichever package that is in. And no
//! name is a word that names nothing.
//!
//! Who reads `Row` in fourteen files has to look up fourteen times which one it is. Types of tests
//! are left out, which nobody meets elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

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
    ("Identification", "a class of Python around what was found"),
    ("PerQuery", "a class of Python around the values of the queries of a run"),
    ("Pools", "a class of Python around the pools"),
    ("Qrels", "a class of Python around the judgments"),
    ("ResidentEvaluator", "a class of Python around labels on a GPU"),
    ("Scores", "a class of Python around the scores"),
    ("RankingStream", "a class of Python around an evaluation of batches"),
    ("Summary", "a class of Python around the summary"),
];

/// Returns the types that a file defines outside of its tests: structs, enums, traits, and names
/// for types, but for those that a trait asks for.
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

/// Prepositions and participles, which say nothing of the thing that they would name. As parts of a
/// name they may say how things belong together: `mean_of_hits`.
const NO_NAMES: [&str; 11] =
    ["of", "told", "tell", "made", "kept", "said", "lent", "met", "held", "fed", "asked"];

/// The words of [`NO_NAMES`] that are a whole name in this code, in any case, with their lines.
///
/// `option::of` is a strategy of proptest.
fn empty_names(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut is_of_proptest = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => empty_names(group.stream(), found),
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let is_empty = NO_NAMES.contains(&name.to_lowercase().as_str());
                if is_empty && !(name == "of" && is_of_proptest) {
                    found.push((ident.span().start().line, name.clone()));
                }
                is_of_proptest = name == "option";
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn no_name_is_an_empty_word() {
    let folders = FOLDERS.iter().chain(&["tests", "benches", "crates/cli/tests", "fuzz"]);
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    folders.for_each(|folder| {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    });
    assert!(files.len() > 600, "{} files", files.len());
    for file in files {
        let mut found = Vec::new();
        empty_names(std::fs::read_to_string(&file).unwrap().parse().unwrap(), &mut found);
        wrong.extend(found.iter().map(|(line, name)| format!("{}:{line} {name}", file.display())));
    }
    assert!(wrong.is_empty(), "name what it is: {wrong:#?}");
}

#[test]
fn empty_words_are_found() {
    let text = "/// What of it.\nfn of(kept: u8) { let x = \"made\"; match Some(told) { Held => 0 \
                } }\n\
                // asked\nprop::option::of(1); mean_of_hits();";
    let mut found = Vec::new();
    empty_names(text.parse().unwrap(), &mut found);
    let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["of", "kept", "told", "Held"]);
    assert_eq!(found[0].0, 2);
}

#[test]
fn types_are_found() {
    let text = "pub(in crate::a) struct One<'a> {\n    field: u8,\n}\ntype Two = u8;\n\
                impl X for Y {\n    type Three = u8;\n}\nfn f() {\n    struct Four(u8);\n}\npub \
                trait Five: Sized {}\n\
                #[cfg(test)]\nmod tests {\n    struct Six;\n}\n";
    assert_eq!(types(text), ["One", "Two", "Four", "Five"]);
}
