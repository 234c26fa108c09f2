//! The sources of text, and the names of runs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::ErrorKind::InvalidData;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memrchr;

use crate::error::{Error, Problem, Problems, Result, printable};
use crate::label::Description;
use crate::label::FileAccess;
use crate::label::mmap::Mapping;
use crate::watch::TellingReader;

use super::compression::{BYTE_ORDER_MARK, Codec};
use super::limits::LONGEST_LINE;
use crate::ingest::format::InputFormat;
use crate::ingest::format::foreign::{HEAD, has_head};
use crate::ingest::format::json::is_json;
use crate::ingest::format::npy::MAGIC;

/// A qrels or run text, perhaps compressed by gzip or zstd, which is recognised from the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    ///
    /// It is mapped, unless [`Join::access`](crate::ingest::Join::access) says otherwise. No other program may write to it meanwhile, see
    /// [`FileAccess::Mapped`].
    Path(PathBuf),
    /// The standard input: opened as a file if it is one and was not read from, else read to its end before any other input.
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
    /// Makes an input of a path; `-` is the standard input.
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path) }
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl From<&PathBuf> for Input {
    fn from(path: &PathBuf) -> Self {
        path.clone().into()
    }
}

impl From<&str> for Input {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl From<String> for Input {
    fn from(path: String) -> Self {
        PathBuf::from(path).into()
    }
}

/// The text of a run, with a name for the run, if it does not get that of the text.
///
/// ```
/// use laneval::RunInput;
/// let run = RunInput::named("bm25", "runs/2024-06-01.run");
/// assert_ne!(run, RunInput::from("runs/2024-06-01.run"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInput {
    /// The name, if it was given.
    pub(in crate::ingest) name: Option<String>,
    /// The text.
    pub(in crate::ingest) input: Input,
}

impl RunInput {
    /// Makes a run that is called `name`, whatever the name of its text.
    pub fn named(name: impl Into<String>, input: impl Into<Input>) -> Self {
        RunInput { name: Some(name.into()), input: input.into() }
    }
}

impl<T: Into<Input>> From<T> for RunInput {
    /// Makes a run that is named after its text.
    fn from(input: T) -> Self {
        RunInput { name: None, input: input.into() }
    }
}

impl Input {
    /// The name of the text in messages: the path as given, or `stdin`.
    pub fn shown(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "stdin".to_owned(),
            Input::Bytes { name, .. } => name.clone(),
        }
    }

    /// Maps or reads the text.
    pub(in crate::ingest) fn open(self, access: FileAccess) -> Result<Opened> {
        let name = self.shown();
        let at = if let Input::Path(path) = &self { Some(path.clone()) } else { None };
        let bytes = match self {
            Input::Path(path) => {
                let file = File::open(&path).map_err(|e| Error::io(&path, "open", e))?;
                match file.metadata() {
                    Ok(kind) if !kind.is_file() => TextBytes::Owned(read_stream(file, &path)?),
                    _ => TextBytes::File(Mapping::of(&file, &path, access)?),
                }
            }
            Input::Stdin => match stdin_file() {
                Some(file) => TextBytes::File(Mapping::of(&file, Path::new(&name), access)?),
                None => TextBytes::Owned(read_stream(std::io::stdin().lock(), Path::new(&name))?),
            },
            Input::Bytes { bytes, .. } => TextBytes::Owned(bytes),
        };
        let opened = Opened { name, path: at, bytes };
        if Description::recognises(opened.content().0) {
            return Err(is_matrix(opened.name));
        }
        Ok(opened)
    }
}

/// An open input, which can be read more than once.
#[derive(Debug)]
pub(in crate::ingest) struct Opened {
    /// The name of the input in messages.
    pub name: String,
    /// The path of the input, if it has one.
    pub path: Option<PathBuf>,
    bytes: TextBytes,
}

#[derive(Debug)]
enum TextBytes {
    File(Mapping),
    Owned(Vec<u8>),
}

/// The error of a label matrix that is given as text.
pub(in crate::ingest) fn is_matrix(file: String) -> Error {
    let message = "is a label matrix (.lmx): give it as a file, in the place of qrels and runs".to_owned();
    Error::Input(Problems { first: vec![Problem { file, line: 0, message }], more: 0 })
}

/// The file that is the standard input, if nothing of it has been read yet.
#[cfg(unix)]
pub(in crate::ingest) fn stdin_file() -> Option<File> {
    use std::io::Seek;
    use std::os::fd::AsFd;
    let mut file = File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    let whole = file.metadata().ok()?.is_file() && file.stream_position().ok()? == 0;
    whole.then_some(file)
}

#[cfg(not(unix))]
pub(in crate::ingest) fn stdin_file() -> Option<File> {
    None
}

/// Reads a stream to its end, or until a line is longer than the limit, unless it may be one of JSON: the rest does not matter then.
fn read_stream(stream: impl Read, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(stream, &mut bytes, usize::MAX).map_err(|e| Error::io(path, "read", e))?;
    Ok(bytes)
}

/// Reads on in a stream whose start is in `bytes`, until at least `wanted` bytes are there; `true` if the rest does not matter.
pub(in crate::ingest) fn read_on(
    mut stream: impl Read,
    bytes: &mut Vec<u8>,
    wanted: usize,
) -> std::io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let mut line = memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    while bytes.len() < wanted {
        let from = bytes.len();
        let block = BLOCK.min(wanted - from);
        bytes.try_reserve(block)?; // to read without it may abort
        if stream.by_ref().take(block as u64).read_to_end(bytes)? == 0 {
            return Ok(true);
        }
        line = memrchr(b'\n', &bytes[from..]).map_or(line, |feed| from + feed + 1);
        let is_text = || {
            let of_bytes = InputFormat::of_tables(bytes).is_some() || bytes.starts_with(MAGIC);
            let is_matrix = Description::recognises(bytes);
            Codec::of(bytes).is_none() && !of_bytes && !is_matrix && !is_json(bytes)
        };
        // A device of random bytes has no end.
        if from < HEAD && bytes.len() >= HEAD && is_text() && is_binary(&bytes[..HEAD]) {
            return Err(std::io::Error::new(InvalidData, "it is binary, and of no format that is read here"));
        }
        if bytes.len() - line > LONGEST_LINE && is_text() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether no text starts with these bytes: there are zeros among them, and they are not UTF-8, but for a character that is cut off.
fn is_binary(start: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    start.contains(&0) && !is_utf8
}

impl Opened {
    /// The name and the path of a text whose bytes are read in another way.
    pub fn elsewhere(input: &Input) -> Self {
        let path = if let Input::Path(path) = input { Some(path.clone()) } else { None };
        Opened { name: input.shown(), path, bytes: TextBytes::Owned(Vec::new()) }
    }

    /// The bytes, without a byte order mark, and their compression, if there is one.
    pub fn content(&self) -> (&[u8], Option<Codec>) {
        let bytes: &[u8] = match &self.bytes {
            TextBytes::File(file) => file,
            TextBytes::Owned(bytes) => bytes,
        };
        (bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes), Codec::of(bytes))
    }

    /// The text, decompressed.
    pub fn text(&self) -> std::io::Result<Box<dyn Read + Send + '_>> {
        self.text_told(|_| ())
    }

    /// The whole text, decompressed.
    pub fn whole(&self) -> std::io::Result<Cow<'_, [u8]>> {
        if let (bytes, None) = self.content() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.text()?.read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// The text as a stream; `tell` hears how many bytes of the content were read, each time some were.
    pub fn text_told<'a>(
        &'a self,
        tell: impl FnMut(u64) + Send + 'a,
    ) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        let (reader, codec) = self.content();
        let bytes = TellingReader { reader, tell };
        match codec {
            None => Ok(Box::new(bytes)),
            Some(codec) => Ok(Box::new(codec.text(bytes)?)),
        }
    }

    /// The start of the text, with a whole line if there is one; `None` if it cannot be decompressed, which is reported when the whole text
    /// is read.
    pub fn start(&self) -> Option<Cow<'_, [u8]>> {
        let (bytes, codec) = self.content();
        let Some(codec) = codec else { return Some(Cow::Borrowed(bytes)) };
        let mut text = Vec::new();
        let mut reader = codec.reader(bytes).ok()?;
        let mut wanted = HEAD + 1;
        while reader.by_ref().take((wanted - text.len()) as u64).read_to_end(&mut text).ok()? > 0
            && text.len() <= LONGEST_LINE
            && !has_head(&text)
        {
            wanted = (2 * wanted).min(LONGEST_LINE + 1);
        }
        Some(Cow::Owned(text))
    }
}

/// The names of runs: the names that were given, and for the other runs names that tell them apart.
///
/// # Errors
/// A given name that another run has too.
pub fn run_names(runs: &[RunInput]) -> Result<Vec<String>> {
    let unnamed: Vec<&Input> = runs.iter().filter(|run| run.name.is_none()).map(|run| &run.input).collect();
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

/// The error of a name that two runs have.
fn twice(name: &str) -> Error {
    let name = printable(name.as_bytes());
    Error::Unanswerable(format!("two runs have the name `{name}`: give each its own"))
}

/// Checks that no two runs have the same name.
pub(in crate::ingest) fn distinct_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut met = HashSet::new();
    names.into_iter().find(|name| !met.insert(*name)).map_or(Ok(()), |name| Err(twice(name)))
}

/// The names that tell runs apart: for each path, the fewest last components that no other path ends with. Paths that are equal throughout
/// are numbered.
fn names_by_path(inputs: &[&Input]) -> Vec<String> {
    // The shell's `<(command)` is a number among the open files.
    let is_descriptor = |path: &str| path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
    let shown = inputs.iter().map(|input| match input.shown() {
        path if is_descriptor(&path) => "pipe".to_owned(),
        path => path,
    });
    let shown: Vec<String> = shown.collect();
    let parts: Vec<Vec<&str>> = inputs
        .iter()
        .zip(&shown)
        .map(|(input, shown)| match input {
            Input::Path(_) => shown.split(std::path::is_separator).filter(|part| !part.is_empty()).collect(),
            _ => vec![shown.as_str()],
        })
        .collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let suffix = |run: usize, length: usize| parts[run][parts[run].len().saturating_sub(length)..].join("/");
    let mut names: Vec<Option<String>> = vec![None; inputs.len()];
    for length in 1..=longest {
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for run in (0..inputs.len()).filter(|&run| names[run].is_none()) {
            alike.entry(suffix(run, length)).or_default().push(run);
        }
        for (name, runs) in alike {
            if let [run] = runs[..] {
                names[run] = Some(name);
            }
        }
    }
    let mut equal: HashMap<&str, usize> = HashMap::new();
    let numbered = |(name, shown)| {
        let times = equal.entry(shown).or_default();
        *times += 1;
        match name {
            Some(name) => name,
            None if *times == 1 => shown.to_owned(),
            None => format!("{shown} ({times})"),
        }
    };
    names.into_iter().zip(shown.iter().map(String::as_str)).map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        run_names(&paths.iter().map(|&path| path.into()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn no_more_of_a_stream_is_read_than_its_first_line_that_is_too_long() {
        let path = Path::new("it");
        let lines = b"q 0 d 1\n".repeat(300_000);
        assert_eq!(read_stream(&lines[..], path).unwrap(), lines);
        let endless = read_stream((&lines[..]).chain(std::io::repeat(b'x')), path).unwrap();
        let line = endless.len() - lines.len();
        assert!((LONGEST_LINE + 1..LONGEST_LINE + (2 << 20)).contains(&line), "{line}");
        let matrix = [MAGIC, &vec![0; LONGEST_LINE + (3 << 20)]].concat();
        assert_eq!(read_stream(&matrix[..], path).unwrap().len(), matrix.len(), "which has no lines");
        let json = [&b"{\"q\": {\"a\": 1"[..], &b", \"document\": 1".repeat(LONGEST_LINE / 14)].concat();
        assert!(json.len() > LONGEST_LINE + (2 << 20));
        assert_eq!(read_stream(&json[..], path).unwrap().len(), json.len());
        let endless = read_stream((&b"{\"q"[..]).chain(std::io::repeat(b'x')), path).unwrap();
        assert!(endless.len() < LONGEST_LINE + (2 << 20));
    }

    #[test]
    fn no_more_of_binary_bytes_is_read_than_tells_them() {
        let random = (0..1u64 << 22).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        let random: Vec<u8> = random.take(2 << 20).collect();
        let mut endless = (&random[..]).chain(std::io::repeat(b'\n'));
        let error = read_stream(&mut endless, Path::new("it")).unwrap_err().to_string();
        assert_eq!(error, "it: cannot read: it is binary, and of no format that is read here");
        let text = ["q 0 d\0 1\n", "q 0 \u{fc} 1\n"].concat().repeat(100_000);
        assert_eq!(read_stream(text.as_bytes(), Path::new("it")).unwrap().len(), text.len());
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
