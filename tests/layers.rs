//! The layers of ARCHITECTURE.md: which module may use which, read off the sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each module with the modules of the crate that it may name, besides itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("names", &["error"]),
    ("numbers", &[]),
    ("sort", &[]),
    ("spans", &["error"]),
    ("whole_file", &[]),
    ("label", &["error", "numbers", "whole_file"]),
    ("facets", &["label"]),
    ("fold", &["label"]),
    ("measure", &["error", "label", "fold", "facets", "numbers", "sort"]),
    ("arrays", &["error", "label", "numbers"]),
    ("engine", &["error", "label", "fold", "watch", "sort"]),
    ("reference", &["label", "facets", "measure", "sort"]),
    ("ties", &["error", "label", "fold", "measure", "reference", "sort"]),
    ("scores", &["error", "label", "measure", "stats", "sort"]),
    ("summary", &["error", "label", "measure", "scores", "stats", "whole_file", "sort"]),
    ("plan", &["error", "label", "fold", "facets", "measure"]),
    ("ingest", &["error", "label", "facets", "numbers", "spans", "watch", "sort"]),
    ("generate", &["error", "label", "watch", "whole_file"]),
    ("stats", &["measure"]),
    ("compare", &["error", "measure", "scores", "stats", "summary", "watch", "whole_file", "sort"]),
    ("conformance", &["error"]),
    ("timing", &[]),
    ("watch", &["error"]),
    (
        "evaluate",
        &[
            "error",
            "label",
            "arrays",
            "fold",
            "facets",
            "measure",
            "engine",
            "reference",
            "ingest",
            "plan",
            "scores",
            "sort",
            "stats",
            "summary",
            "ties",
            "timing",
            "watch",
        ],
    ),
    ("show", &["error", "label", "fold", "measure", "ingest", "evaluate"]),
    ("pools", &["error", "label", "measure", "stats", "scores", "compare", "evaluate"]),
    ("identify", &["error", "ingest", "label", "measure", "stats", "scores", "evaluate"]),
    (
        "report",
        &["compare", "error", "identify", "label", "measure", "pools", "scores", "stats", "sort"],
    ),
];

/// Adds the sources in a folder.
pub fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The sources of the two halves.
const HALVES: [&str; 2] = ["crates/join/src", "src"];

/// Source files with their module: the folder or file right under the `src` of one of the halves.
fn modules() -> BTreeMap<String, Vec<PathBuf>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for half in HALVES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(half);
        let mut files = Vec::new();
        sources(&root, &mut files);
        for file in files {
            let inside = file.strip_prefix(&root).unwrap();
            let first = inside
                .components()
                .next()
                .unwrap()
                .as_os_str()
                .to_string_lossy()
                .replace(".rs", "");
            modules.entry(first).or_default().push(file.clone());
        }
    }
    modules
}

/// Code without comments and without the module of tests at the end. Other things that are for
/// tests alone may stand amid the code.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let opens = |line: &str| line.contains("mod ") && line.ends_with('{');
    let is_module = |at: &usize| text[*at..].lines().skip(1).take(3).any(opens);
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_module);
    text[..tests.unwrap_or(text.len())]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn arrows_point_down_only() {
    let (modules, mut arrows) = (modules(), 0);
    for (module, allowed) in MAY_USE {
        let files = modules
            .get(*module)
            .unwrap_or_else(|| panic!("`{module}` is no module: take it off the list"));
        for file in files {
            for used in code(file).split("crate::").skip(1) {
                let used: String =
                    used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = MAY_USE.iter().any(|(name, _)| *name == used);
                let fine = used == *module
                    || allowed.contains(&used.as_str())
                    || ["Error", "Result"].contains(&used.as_str())
                    || used == "cases"; // in tests
                assert!(fine || !known, "{}: `{module}` may not use `{used}`", file.display());
                assert!(fine || known, "{}: `crate::{used}` is in no layer", file.display());
                arrows += usize::from(used != *module);
            }
        }
    }
    assert!(arrows > 500, "{arrows} arrows");
}

/// The layers of `ingest`, a folder or a file each, from the lowest: a layer may use itself and
/// those before it.
const INGEST: [&str; 10] =
    ["bytes", "lines", "columns", "format", "units", "settings", "text", "rows", "record", "join"];

#[test]
fn layers_of_ingest_know_only_those_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/join/src/ingest");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.retain(|file| !file.ends_with("tests.rs") && *file != root.join("mod.rs"));
    let mut arrows = 0;
    for file in &files {
        let first = file.strip_prefix(&root).unwrap().components().next().unwrap().as_os_str();
        let layer = first.to_string_lossy().replace(".rs", "");
        let at = INGEST.iter().position(|known| *known == layer);
        let at = at.unwrap_or_else(|| panic!("`{layer}` is in no layer of ingest"));
        let code = code(file);
        for used in code.split("crate::ingest::").skip(1) {
            let used: String =
                used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // A name that `ingest` passes on would hide its layer.
            let below = INGEST.iter().position(|known| *known == used);
            assert!(
                below.is_some_and(|below| below <= at),
                "{}: `{layer}` may not use `{used}`",
                file.display()
            );
            arrows += 1;
        }
        let is_root = file.parent() == Some(&*root.join(&layer));
        assert!(
            !is_root || !code.contains("super::super::"),
            "{}: goes up unnamed",
            file.display()
        );
    }
    assert!(arrows > 100, "{arrows} arrows");
    for layer in INGEST.iter().filter(|layer| **layer != "settings") {
        let text = std::fs::read_to_string(root.join(layer).join("mod.rs")).unwrap();
        assert!(
            text.contains("must never know") || *layer == "join",
            "{layer}: what must it never know?"
        );
    }
}

/// The lower half has no way up, and the upper half names it in one place, so that a module can
/// move from one to the other.
#[test]
fn the_halves_meet_in_one_place() {
    for file in modules().into_values().flatten().filter(|file| !file.ends_with("src/lib.rs")) {
        let code = code(&file);
        for other in ["laneval::", "laneval_join::"] {
            assert!(!code.contains(other), "{}: `{other}`", file.display());
        }
    }
}

#[test]
fn every_module_is_in_the_layers() {
    // `internals` and `parts` pass names on, and are no layer.
    for module in
        modules().keys().filter(|module| !["lib", "internals", "parts"].contains(&&***module))
    {
        assert!(MAY_USE.iter().any(|(name, _)| name == module), "`{module}` is in no layer");
    }
}

/// The names that a file passes on, `a::{b, c}` one by one; those of modules in it included.
fn passed_on(file: &str) -> Vec<String> {
    let code = code(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let mut names = Vec::new();
    for used in code.split("pub use ").skip(1) {
        let used = used.split(';').next().unwrap();
        assert!(!used.contains('*'), "{file} lists each name: {used}");
        let last = |path: &str| path.rsplit("::").next().unwrap().trim().to_owned();
        match used.split_once('{') {
            None => names.push(last(used)),
            Some((_, list)) => {
                let list = list.split([',', '}']).map(last);
                names.extend(list.filter(|name| !name.is_empty()));
            }
        }
    }
    names
}

/// The code of all sources in some folders, tests included.
fn all_code(folders: &[&str]) -> String {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    });
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<Vec<_>>().join("\n")
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn the_command_stands_on_public_names_and_a_short_list() {
    /// The names that the command may take from inside. Before adding one: could other programs not
    /// want it too?
    const MOST: usize = 25;
    let names = passed_on("src/internals.rs");
    assert!(names.len() > 10 && names.len() <= MOST, "{} names: {names:?}", names.len());
    let command = all_code(&["crates/cli/src"]);
    for name in &names {
        assert!(has_word(&command, name), "the command does not use `{name}`");
    }
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/cli/src"), &mut files);
    for file in files {
        assert!(!code(&file).contains("laneval::parts"), "{}: parts are for tests", file.display());
    }
}

#[test]
fn parts_are_used_by_tests() {
    let names = passed_on("src/parts.rs");
    assert!(names.len() > 50, "{} names: {names:?}", names.len());
    let tests = all_code(&[
        "tests",
        "benches",
        "crates/cli",
        "crates/join",
        "fuzz/fuzz_targets",
        "fuzz/src",
    ]);
    for name in &names {
        assert!(has_word(&tests, name), "no test uses `{name}`");
    }
}

#[test]
fn unsafe_code_is_where_it_is_declared() {
    let mut files: Vec<PathBuf> = modules().into_values().flatten().collect();
    for folder in ["crates/cli/src", "crates/formats/src", "python/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let declared = ["label/mmap.rs", "label/lost_pages.rs", "python/src/ffi.rs"];
    let mut has = 0;
    for file in files {
        let found = has_word(&code(&file), "unsafe");
        assert!(
            declared.iter().any(|declared| file.ends_with(declared)) || !found,
            "{}",
            file.display()
        );
        has += usize::from(found);
    }
    assert_eq!(has, declared.len(), "each file that is declared has some");
}
