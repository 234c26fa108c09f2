//! Functions that can be read at once: no more than sixty lines of code, but for those that say
//! why.

use std::path::Path;

use crate::layers::sources;

/// The most lines of code of a function, its head included.
const MOST: usize = 60;

/// Functions that are longer, by file and name, with the reason.
const LONGER: &[(&str, &str, &str)] = &[
    ("src/engine/gpu/shader.rs", "lines", "a table with a row for each fold"),
    (
        "crates/read/src/lines/table.rs",
        "each_row_until",
        "a loop over bytes, whose state stays in registers",
    ),
];

/// Returns the functions of a text that rustfmt has formatted, with their numbers of lines of code:
/// those of a file's own tests are left out.
fn functions(text: &str) -> Vec<(String, usize)> {
    let is_module =
        |at: usize| text[at..].lines().skip(1).take(3).any(|line| line.contains("mod "));
    let tests = text.match_indices("#[cfg(test)]\n").find(|&(at, _)| is_module(at));
    let lines: Vec<&str> = text[..tests.map_or(text.len(), |(at, _)| at)].lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let mut words = line.split([' ', '(', '<']).filter(|word| !word.is_empty());
        let before = words.by_ref().take_while(|word| *word != "fn").all(|word| {
            word.starts_with("pub")
                || matches!(word, "const" | "unsafe" | "async" | "crate)" | "super)" | "in")
                || word.ends_with(')')
        });
        let Some(name) = words.next().filter(|_| before && line.contains("fn ")) else { continue };
        // A body that ends on its own line, or a head without one, is short.
        let of_head = |line: &&&str| {
            line.len() - line.trim_start().len() == indent && line.ends_with(['{', ';', '}'])
        };
        if !lines[at..].iter().find(of_head).is_some_and(|line| line.ends_with('{')) {
            continue;
        }
        // In the arguments of a macro a comma or a semicolon follows.
        let ends = |line: &&str| {
            line.len() - line.trim_start().len() == indent
                && matches!(line.trim(), "}" | "}," | "};")
        };
        let Some(length) = lines[at..].iter().position(ends) else { continue };
        let is_code =
            |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        found.push((name.to_owned(), lines[at..=at + length].iter().filter(is_code).count()));
    }
    found
}

#[test]
fn functions_can_be_read_at_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut all, mut longer) = (0, Vec::new());
    for folder in [
        "src",
        "crates/join/src",
        "crates/read/src",
        "crates/cli/src",
        "crates/formats/src",
        "python/src",
    ] {
        let mut files = Vec::new();
        sources(&root.join(folder), &mut files);
        files.retain(|file| !file.to_string_lossy().ends_with("tests.rs"));
        for file in files {
            let functions = functions(&std::fs::read_to_string(&file).unwrap());
            all += functions.len();
            let inside = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            longer.extend(
                functions
                    .into_iter()
                    .filter(|(_, lines)| *lines > MOST)
                    .map(|(name, lines)| (inside.clone(), name, lines)),
            );
        }
    }
    assert!(all > 2_000, "{all} functions");
    for (file, name, lines) in &longer {
        let listed = LONGER.iter().any(|(path, longer, _)| path == file && longer == name);
        assert!(
            listed,
            "{file}: `{name}` has {lines} lines of code: cut it, or say here why it is one"
        );
    }
    for (file, name, reason) in LONGER {
        let is_longer = longer.iter().any(|(path, longer, _)| path == file && longer == name);
        assert!(
            is_longer,
            "{file}: `{name}` ({reason}) is no longer than others: take it off the list"
        );
    }
}

#[test]
fn functions_are_found() {
    let text = "impl A {\n    pub(in crate::b) fn one(\n        &self,\n    ) -> u8 {\n        // \
                why\n\n        1\n    }\n\n    fn two() {}\n\n    \
                fn declared(\n        &self,\n    );\n}\n\
                fn three() {\n    let a = |x| {\n        x\n    };\n}\n#[cfg(test)]\nmod tests \
                {\n    fn four() {\n    }\n}\n";
    let names: Vec<(String, usize)> = functions(text);
    let expected = [("one", 5), ("three", 5)].map(|(name, lines)| (name.to_owned(), lines));
    assert_eq!(names, expected);
}
