//! Sources of judgments and runs (a file, the standard input, memory), and the names of runs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, printable};

/// The source of a qrels or run text: a file, the standard input or memory, perhaps compressed by
/// gzip or zstd. The compression is recognised from the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    ///
    /// The file is mapped, unless `Join::access` is set differently.
    /// No program may write to a mapped file meanwhile, see
    /// [`FileAccess::Mapped`](crate::bytes::mmap::FileAccess::Mapped).
    Path(PathBuf),
    /// The standard input: opened as a file if the standard input is an unread file, else read to
    /// its end before all further inputs.
    Stdin,
    /// Text in memory.
    Bytes {
        /// The name of the text in messages, and of the run.
        name: String,
        /// The text.
        bytes: Vec<u8>,
    },
}

impl From<PathBuf> for Input {
    /// Makes an input of qrels or a run from a path; `-` is the standard input.
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::Path(path) }
    }
}

impl<T: ?Sized + AsRef<OsStr>> From<&T> for Input {
    /// Makes an input of qrels or a run from a path; `-` is the standard input.
    fn from(path: &T) -> Self {
        PathBuf::from(path).into()
    }
}

impl From<String> for Input {
    fn from(path: String) -> Self {
        PathBuf::from(path).into()
    }
}

/// The input of a run's text, and the name of the run, if one was given.
///
/// ```
/// use laneval::RunInput;
/// let run = RunInput::named("bm25", "runs/2024-06-01.run");
/// assert_ne!(run, RunInput::from("runs/2024-06-01.run"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInput {
    /// The name; `None` for a run whose name comes from the path of its text.
    pub name: Option<String>,
    /// The text.
    pub input: Input,
}

impl RunInput {
    /// Makes the input of a run called `name`, whatever the name of its text.
    pub fn named(name: impl Into<String>, input: impl Into<Input>) -> Self {
        Self { name: Some(name.into()), input: input.into() }
    }

    /// Returns the name of a run that is alone: the given name, or one made from its path.
    ///
    /// # Errors
    /// None: a single name cannot be used twice.
    #[doc(hidden)]
    pub fn name_alone(&self) -> Result<String> {
        Ok(run_names(std::slice::from_ref(self))?.remove(0))
    }
}

impl<T: Into<Input>> From<T> for RunInput {
    /// Makes the input of a run without a given name: the name comes from the path of its text.
    fn from(input: T) -> Self {
        Self { name: None, input: input.into() }
    }
}

impl Input {
    /// Returns the name of the input in messages: the path as given, `stdin`, or the name of text
    /// in memory.
    pub fn display_name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "stdin".to_owned(),
            Self::Bytes { name, .. } => name.clone(),
        }
    }
}

/// Returns the files of a folder that is one table, in the order of their names; none for any other
/// path. Spark writes such folders: their files are `part-….parquet`, and names that begin with `_`
/// or `.` are those of other files, such as `_SUCCESS`.
pub fn parts_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut parts = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else { return Vec::new() };
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        if name.starts_with(['_', '.']) {
            continue;
        }
        let is_table = [".parquet", ".arrow"].iter().any(|extension| name.ends_with(*extension));
        if !(name.starts_with("part-") && is_table && entry.path().is_file()) {
            return Vec::new();
        }
        parts.push(entry.path());
    }
    parts.sort();
    parts
}

/// Returns the names of runs: the given names, and for runs without a name distinguishing names
/// made from their paths.
///
/// # Errors
/// A given name that another run has too.
pub fn run_names(runs: &[RunInput]) -> Result<Vec<String>> {
    let unnamed: Vec<&Input> =
        runs.iter().filter(|run| run.name.is_none()).map(|run| &run.input).collect();
    let mut found = names_by_path(&unnamed).into_iter();
    let names = runs.iter().map(|run| run.name.clone().or_else(|| found.next()));
    let names: Vec<String> = names.flatten().collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *times.entry(name).or_default() += 1);
    match runs.iter().filter_map(|run| run.name.as_deref()).find(|name| times[name] > 1) {
        Some(name) => Err(twice(name)),
        None => Ok(names),
    }
}

/// Returns the error for a name that two runs have.
fn twice(name: &str) -> Error {
    let name = printable(name.as_bytes());
    Error::Unanswerable(format!("two runs have the name `{name}`: give each its own"))
}

/// Rejects two runs with equal names.
pub fn distinct_names<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen_names = HashSet::new();
    names.find(|name| !seen_names.insert(*name)).map_or(Ok(()), |name| Err(twice(name)))
}

/// Returns a distinct name for each run: the fewest last components of its path that make the name
/// unique. Paths that are equal throughout are numbered.
fn names_by_path(inputs: &[&Input]) -> Vec<String> {
    let shown = inputs.iter().map(|input| match input.display_name() {
        // The shell's `<(command)` is a number among the open files.
        path if path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") => {
            "pipe".to_owned()
        }
        path => path,
    });
    let shown: Vec<String> = shown.collect();
    let parts: Vec<Vec<&str>> = inputs
        .iter()
        .zip(&shown)
        .map(|(input, shown)| match input {
            Input::Path(_) => {
                shown.split(std::path::is_separator).filter(|part| !part.is_empty()).collect()
            }
            _ => vec![shown.as_str()],
        })
        .collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut names: Vec<Option<String>> = vec![None; inputs.len()];
    for length in 1..=longest {
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for run in (0..inputs.len()).filter(|&run| names[run].is_none()) {
            let parts = &parts[run];
            let suffix = parts[parts.len().saturating_sub(length)..].join("/");
            alike.entry(suffix).or_default().push(run);
        }
        for (name, runs) in alike {
            if let [run] = runs[..] {
                names[run] = Some(name);
            }
        }
    }
    let mut equal: HashMap<&str, usize> = HashMap::new();
    let names = names.into_iter().zip(&shown).map(|(name, shown)| {
        let times = equal.entry(shown).or_default();
        *times += 1;
        match name {
            Some(name) => name,
            None if *times == 1 => shown.clone(),
            None => format!("{shown} ({times})"),
        }
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        run_names(&paths.iter().map(|&path| path.into()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_shortest_suffix_that_tells_runs_apart() {
        assert_eq!(named(&["/data/a/x.run"]), ["x.run"]);
        assert_eq!(named(&["-"]), ["stdin"]);
        assert_eq!(named(&["/dev/fd/63", "a.run", "/dev/fd/62"]), ["pipe", "a.run", "pipe (2)"]);
        assert_eq!(named(&["a/x", "b/x", "b/y"]), ["a/x", "b/x", "y"]);
        assert_eq!(named(&["x", "a/x", "b/a/x"]), ["x", "a/x", "b/a/x"]);
        assert_eq!(named(&["a/1/x", "b/1/x", "b/2/x"]), ["a/1/x", "b/1/x", "2/x"]);
        assert_eq!(named(&["a/x", "a/x"]), ["a/x", "a/x (2)"]);
        assert_eq!(named(&[]), [""; 0]);
    }

    #[test]
    fn given_names_are_kept_and_no_other_run_has_them() {
        let given = RunInput::named;
        let runs = [given("b", "a/x"), "a/x".into(), "b/x".into(), given("stdin", "y")];
        assert_eq!(run_names(&runs).unwrap(), ["b", "a/x", "b/x", "stdin"]);
        for (runs, name) in [
            ([given("mine", "x"), given("mine", "y"), "z".into()], "mine"),
            (["a/x".into(), given("x", "y"), "z".into()], "x"),
            ([given("x (2)", "y"), "x".into(), "x".into()], "x (2)"),
            (["-".into(), "x".into(), given("stdin", "y")], "stdin"),
        ] {
            let message = format!("two runs have the name `{name}`: give each its own");
            assert_eq!(run_names(&runs).unwrap_err().to_string(), message);
        }
    }
}
