//! The layers of ARCHITECTURE.md: which module may use which, read off the sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each module with the modules of the crate that it may name, besides itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("judged_by", &[]),
    ("lock", &[]),
    ("numbers", &[]),
    ("rule", &["stored_drops"]),
    ("sort", &[]),
    ("stored_drops", &[]),
    ("timing", &[]),
    ("atomic_file", &["lock"]),
    ("ids", &["error"]),
    ("names", &["error"]),
    ("aggregation", &["error"]),
    ("progress", &["error"]),
    ("bytes", &["error", "ids"]),
    ("lines", &["bytes", "error", "lock", "rule"]),
    ("columns", &["bytes", "error", "ids", "lines", "numbers"]),
    (
        "format",
        &["bytes", "columns", "error", "ids", "judged_by", "lines", "lock", "numbers", "progress"],
    ),
    ("doc_ids", &["bytes", "error", "lines"]),
    ("text", &["bytes", "error", "format", "judged_by", "lines", "doc_ids", "progress"]),
    ("rows", &["bytes", "columns", "error", "format", "lines", "text", "progress"]),
    ("excluded", &["bytes", "error", "format", "ids", "lines", "rows", "text"]),
    ("spans", &["bytes", "columns", "error", "format", "lines"]),
    ("matrix", &["bytes", "error", "ids", "judged_by", "numbers", "rule"]),
    ("lmx", &["bytes", "error", "format", "ids", "judged_by", "matrix", "rule", "atomic_file"]),
    ("facets", &["judged_by", "matrix"]),
    ("arrays", &["bytes", "error", "ids", "matrix", "numbers", "rule"]),
    (
        "settings",
        &[
            "bytes",
            "format",
            "judged_by",
            "lines",
            "aggregation",
            "excluded",
            "rule",
            "text",
            "doc_ids",
            "progress",
        ],
    ),
    (
        "record",
        &[
            "bytes", "columns", "error", "format", "ids", "lines", "rule", "sort", "text",
            "doc_ids", "progress",
        ],
    ),
    (
        "join",
        &[
            "bytes",
            "columns",
            "error",
            "excluded",
            "facets",
            "format",
            "ids",
            "judged_by",
            "lines",
            "matrix",
            "record",
            "aggregation",
            "rows",
            "rule",
            "settings",
            "sort",
            "spans",
            "text",
            "doc_ids",
            "progress",
        ],
    ),
    ("fold", &["matrix"]),
    ("measure", &["error", "judged_by", "matrix", "fold", "facets", "numbers", "sort"]),
    ("engine", &["error", "matrix", "fold", "progress", "sort"]),
    ("reference", &["matrix", "facets", "measure", "sort"]),
    ("ties", &["bytes", "error", "matrix", "fold", "measure", "reference", "sort"]),
    ("scores", &["error", "ids", "matrix", "measure", "rule", "stats", "sort"]),
    (
        "summary",
        &["error", "ids", "matrix", "measure", "rule", "scores", "stats", "atomic_file", "sort"],
    ),
    ("plan", &["error", "matrix", "fold", "facets", "measure"]),
    ("generate", &["error", "ids", "matrix", "rule", "progress", "atomic_file"]),
    ("stats", &["measure"]),
    (
        "compare",
        &["error", "measure", "scores", "stats", "summary", "progress", "atomic_file", "sort"],
    ),
    ("conformance", &["error"]),
    (
        "evaluate",
        &[
            "arrays",
            "bytes",
            "columns",
            "engine",
            "error",
            "facets",
            "fold",
            "ids",
            "join",
            "judged_by",
            "matrix",
            "measure",
            "plan",
            "reference",
            "rule",
            "scores",
            "sort",
            "stats",
            "summary",
            "ties",
            "timing",
            "progress",
        ],
    ),
    ("topics", &["bytes", "error", "format", "lines"]),
    ("show", &["bytes", "error", "ids", "join", "matrix", "fold", "measure", "evaluate"]),
    (
        "pools",
        &["error", "ids", "matrix", "measure", "rule", "stats", "scores", "compare", "evaluate"],
    ),
    ("identify", &["error", "ids", "matrix", "measure", "rule", "stats", "scores", "evaluate"]),
    (
        "options",
        &[
            "aggregation",
            "bytes",
            "compare",
            "doc_ids",
            "error",
            "evaluate",
            "format",
            "matrix",
            "measure",
            "rule",
            "scores",
            "settings",
            "stats",
        ],
    ),
    (
        "report",
        &["compare", "error", "identify", "matrix", "measure", "pools", "scores", "stats", "sort"],
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

/// The sources of the packages that stand on one another, from the lowest.
const PACKAGES: [&str; 3] = ["crates/read/src", "crates/join/src", "src"];

/// Source files with their module: the folder or file right under the `src` of one of the packages.
fn modules() -> BTreeMap<String, Vec<PathBuf>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for package in PACKAGES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
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
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let end = used.find(|c| !is_word(c)).unwrap_or(used.len());
                if used[end..].starts_with('!') {
                    continue; // a macro of the root
                }
                let used = used[..end].to_owned();
                let known = MAY_USE.iter().any(|(name, _)| *name == used);
                let fine = used == *module
                    || allowed.contains(&used.as_str())
                    || used.starts_with(char::is_uppercase) // a name of the root
                    || ["cases", "test_support"].contains(&&*used); // in tests
                assert!(fine || !known, "{}: `{module}` may not use `{used}`", file.display());
                assert!(fine || known, "{}: `crate::{used}` is in no layer", file.display());
                arrows += usize::from(used != *module);
            }
        }
    }
    assert!(arrows > 500, "{arrows} arrows");
}

#[test]
fn layers_of_reading_say_what_they_must_never_know() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let layers = ["bytes", "lines", "columns", "format", "doc_ids", "text", "rows"];
    let layers = layers.map(|layer| root.join("read/src").join(layer).join("mod.rs"));
    for file in layers.iter().chain([&root.join("join/src/record/mod.rs")]) {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("must never know"), "{}", file.display());
    }
}

fn passes_names_on(file: &Path) -> bool {
    ["src/lib.rs", "src/internals.rs", "src/test_support.rs"].iter().any(|end| file.ends_with(end))
}

/// A package has no way up, and names the packages below only where it passes names on, so that a
/// module can move from one to the other.
#[test]
fn packages_meet_where_names_are_passed_on() {
    for file in modules().into_values().flatten().filter(|file| !passes_names_on(file)) {
        let code = code(&file);
        for other in ["laneval::", "laneval_join::", "laneval_read::"] {
            assert!(!code.contains(other), "{}: `{other}`", file.display());
        }
    }
}

#[test]
fn every_module_is_in_the_layers() {
    // `internals` and `parts` pass names on, and are no layer; nor are tests.
    let is_layer = |module: &str| {
        !["lib", "internals", "parts", "test_support"].contains(&module)
            && !module.ends_with("_tests")
    };
    for module in modules().keys().filter(|module| is_layer(module)) {
        assert!(MAY_USE.iter().any(|(name, _)| name == module), "`{module}` is in no layer");
    }
}

/// Returns the names that a file passes on, `a::{b, c}` one by one; those of modules in it
/// included.
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

/// Returns the code of all sources in some folders, tests included.
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
        "crates/read",
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
    let declared = ["bytes/mmap.rs", "bytes/sigbus.rs", "python/src/ffi.rs"];
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
