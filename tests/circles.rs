//! No file needs another file that needs it, which is read off the `use` lines and paths of the
//! sources.
//!
//! An arrow goes from a file to the file that *defines* what it names: a name that a `mod.rs` only
//! passes on is followed to where it comes from, and passing on (`pub use`) is no arrow. Tests
//! inside of files are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CRATES: [&str; 6] = [
    "crates/join/src",
    "crates/read/src",
    "src",
    "crates/cli/src",
    "crates/formats/src",
    "python/src",
];

/// A path as it is written, such as `super::scan::split`.
type Names = Vec<String>;

/// A file with what it names.
#[derive(Default)]
struct File {
    path: PathBuf,
    /// What `use` brings in, by the name that it has here, and whether others see it.
    used: Vec<(String, Names, bool)>,
    /// Paths elsewhere in the code.
    named: Vec<Names>,
}

/// The files of a crate by their modules; that of `lib.rs` is empty.
type Modules = BTreeMap<Names, File>;

/// Code without comments, strings and the tests at the end.
fn code(text: &str) -> String {
    let is_module = |line: &str| line.contains("mod ") && line.ends_with('{');
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at);
    let inside = tests.into_iter().find(|&at| text[at..].lines().nth(1).is_some_and(is_module));
    let text = &text[..inside.unwrap_or(text.len())];
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join("\n");
    // `pub(in …)` says who sees something, and needs nothing.
    let code = code.replace("(in crate::", "(in_").replace("(in super::", "(in_");
    code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Adds the names of a tree such as `a::{b, c::{self, d as e}}`.
fn expand(before: &[String], tree: &str, shown: bool, to: &mut Vec<(String, Names, bool)>) {
    let tree = tree.trim();
    if tree.is_empty() {
        return; // behind the last comma of a list
    }
    if let Some((path, inside)) = tree.split_once('{') {
        let mut path: Names =
            path.split("::").map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect();
        path.splice(0..0, before.iter().cloned());
        let (mut depth, mut from) = (0, 0);
        let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
        for (at, letter) in inside.char_indices().chain([(inside.len(), ',')]) {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&path, &inside[from..at], shown, to);
                    from = (at + 1).min(inside.len());
                }
                _ => {}
            }
        }
        return;
    }
    let (path, known) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Names =
        before.iter().cloned().chain(path.split("::").map(|name| name.trim().to_owned())).collect();
    path.retain(|name| !name.is_empty());
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last() {
        let known = if known.is_empty() { last } else { known.trim() };
        to.push((known.to_owned(), path.clone(), shown));
    }
}

impl File {
    fn read(path: &Path) -> File {
        let code = code(&std::fs::read_to_string(path).unwrap());
        let mut file = File { path: path.to_owned(), ..File::default() };
        let mut rest = String::new();
        for statement in code.split_inclusive(';') {
            // Before it may stand the end of another item, attributes, and `pub(in …)`.
            let start = statement.match_indices("use ").map(|(at, _)| at).find(|&at| {
                let before = statement[..at].trim_end();
                let before =
                    before.rfind(['\n', '}', ']']).map_or(before, |line| before[line + 1..].trim());
                before.is_empty() || before.starts_with("pub")
            });
            let Some(start) = start else {
                rest.push_str(statement);
                continue;
            };
            let shown = statement[..start].trim_end().ends_with(['b', ')'])
                && statement[..start].rsplit('\n').next().is_some_and(|line| line.contains("pub"));
            rest.push_str(&statement[..start]);
            expand(&[], statement[start + 4..].trim_end_matches(';'), shown, &mut file.used);
        }
        for (at, _) in rest.match_indices("::") {
            let first = rest[..at].rsplit(|letter| !is_word(letter)).next().unwrap_or_default();
            let before = rest[..at - first.len()].chars().next_back();
            if first.is_empty() || before == Some(':') {
                continue;
            }
            let path = &rest[at - first.len()..];
            let path =
                path.split(|letter| !is_word(letter) && letter != ':').next().unwrap_or_default();
            file.named.push(
                path.split("::").map(str::to_owned).filter(|name| !name.is_empty()).collect(),
            );
        }
        file
    }
}

/// Reads the files of a crate.
fn modules(root: &Path) -> Modules {
    let (mut modules, mut folders) = (Modules::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(root).unwrap().with_extension("");
            let mut module: Names =
                inside.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
            let last = module.last().unwrap().clone();
            if ["mod", "lib", "main"].contains(&last.as_str()) {
                module.pop();
            }
            if path.extension().is_some_and(|extension| extension == "rs")
                && !last.ends_with("tests")
            {
                modules.insert(module, File::read(&path));
            }
        }
    }
    modules
}

/// Returns the module that defines what a path names in `module`; `None` if it is of another crate,
/// or no path of a file.
fn defines(modules: &Modules, module: &[String], path: &[String], depth: usize) -> Option<Names> {
    let (first, mut rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.to_owned(),
        "super" => module[..module.len().checked_sub(1)?].to_owned(),
        _ => {
            let child: Names = module.iter().chain([first]).cloned().collect();
            if modules.contains_key(&child) {
                child
            } else {
                // A name that `use` brought in.
                let (_, used, _) =
                    modules[module].used.iter().find(|(known, ..)| known == first)?;
                if used == path || depth == 0 {
                    return None;
                }
                let whole: Names = used.iter().chain(rest).cloned().collect();
                return defines(modules, module, &whole, depth - 1);
            }
        }
    };
    while let Some((next, after)) = rest.split_first() {
        let child: Names = at.iter().chain([next]).cloned().collect();
        if next == "super" {
            at.pop()?;
        } else if modules.contains_key(&child) {
            at = child;
        } else {
            let passed = modules[&at].used.iter().find(|(known, ..)| known == next);
            let passed = passed
                .filter(|_| depth > 0)
                .and_then(|(_, path, _)| defines(modules, &at, path, depth - 1));
            return Some(passed.unwrap_or(at));
        }
        rest = after;
    }
    Some(at)
}

/// Returns the files that a file needs, with a name that says for what.
fn arrows<'m>(modules: &'m Modules, module: &'m Names) -> BTreeMap<Names, BTreeSet<String>> {
    let file = &modules[module];
    let used = file.used.iter().filter(|(.., shown)| !shown).map(|(_, path, _)| path);
    let mut arrows: BTreeMap<Names, BTreeSet<String>> = BTreeMap::new();
    for path in used.chain(&file.named) {
        if let Some(other) = defines(modules, module, path, 8).filter(|other| other != module) {
            arrows.entry(other).or_default().insert(path.last().unwrap().clone());
        }
    }
    arrows
}

/// Returns the files that can be reached from a file.
fn reached<'a>(
    arrows: &'a BTreeMap<&'a Names, BTreeMap<Names, BTreeSet<String>>>,
    from: &Names,
) -> BTreeSet<&'a Names> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for other in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(other) {
                next.push(other);
            }
        }
    }
    seen
}

#[test]
fn no_file_needs_a_file_that_needs_it() {
    let mut circles = String::new();
    for root in &CRATES.map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root)) {
        let modules = modules(root);
        let arrows: BTreeMap<&Names, _> =
            modules.keys().map(|module| (module, arrows(&modules, module))).collect();
        assert!(arrows.values().any(|to| !to.is_empty()), "{} has no arrow", root.display());
        for (module, others) in &arrows {
            for (other, names) in others {
                if reached(&arrows, other).contains(module) {
                    let file = |module: &Names| {
                        modules[module].path.strip_prefix(root).unwrap().display().to_string()
                    };
                    circles += &format!(
                        "{}: {} -> {}: {names:?}\n",
                        root.display(),
                        file(module),
                        file(other)
                    );
                }
            }
        }
    }
    assert!(circles.is_empty(), "\n{circles}");
}
