//! Every error of the library, with the place where it happened.
//!
//! Text input collects its [`Problem`]s and reports them together; all other work stops at the
//! first error.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An error, with the place where it happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{}: cannot {action}: {source}", printable_path(path))]
    Io {
        /// The file, or `stdin`.
        path: PathBuf,
        /// The attempted action: `open`, `read`, `write` …
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// One or more lines of text input are wrong.
    #[error(transparent)]
    Input(#[from] Problems),
    /// A document is twice in a ranking or judged twice, in a dialect that accepts this for queries
    /// that are not evaluated.
    #[error("{0}")]
    Duplicate(Problems),
    /// A query of a run that is read once comes back, when its earlier results are no longer held.
    #[error("{}:{line}: query {} comes back, but its earlier results are evaluated already and no \
             longer held: bring the results of \
             each query together, or join the whole \
             run", printable_path(file.as_ref()), printable(query))]
    QueryNotContiguous {
        /// The file as the user named it, or the run.
        file: String,
        /// The line or row, from 1.
        line: u64,
        /// The query.
        query: Vec<u8>,
    },
    /// A `.lmx` file is damaged, foreign, or of another version.
    #[error("{}: {section}: {message}", printable_path(path))]
    Matrix {
        /// The file.
        path: PathBuf,
        /// The part of the file, such as `header` or `row lengths`.
        section: &'static str,
        /// The fault and the expected content.
        message: String,
    },
    /// A measure's name or parameters do not parse.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Several measures of one list do not parse.
    #[error("{}", lines(.0))]
    Measures(Vec<MeasureError>),
    /// A GPU is missing, refuses, or was lost.
    #[error("{0}")]
    Device(String),
    /// A value or a statistic is infinite or not a number.
    #[error("{}{}: {measure} is {value}, and not a finite number: grades or gains are too large \
             for it",
        printable(run.as_bytes()), query_clause(query.as_deref()))]
    NotFinite {
        /// The run.
        run: String,
        /// The query; `None` for a number that follows from the values of all queries.
        query: Option<Vec<u8>>,
        /// The measure, with the statistic if a statistic is not finite.
        measure: String,
        /// The value.
        value: f64,
    },
    /// Summaries do not belong together.
    #[error("{0}")]
    Merge(String),
    /// A summary as bytes or as JSON is damaged, foreign, or of another version.
    #[error("{0}")]
    Summary(String),
    /// The evaluation was told to stop.
    #[error("stopped")]
    Stopped,
    /// The inputs are well-formed, but the question cannot be answered from them.
    #[error("{0}")]
    Unanswerable(String),
}

/// A result of the library, with [`Error`] as the error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns [`Error::Unanswerable`] with a message, as a failed result.
#[doc(hidden)]
pub fn unanswerable<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Unanswerable(message.into()))
}

/// The kind of an error of the library, for programs that treat kinds differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused something.
    Io,
    /// Text input is wrong.
    Input,
    /// A `.lmx` file is damaged, foreign, or of another version.
    Matrix,
    /// A measure does not parse.
    Measure,
    /// A GPU is not there, refuses, or was lost.
    Device,
    /// A value or a statistic is infinite or not a number.
    NotFinite,
    /// Summaries do not belong together.
    Merge,
    /// A summary is damaged, foreign, or of another version.
    Summary,
    /// The evaluation was told to stop.
    Stopped,
    /// The question cannot be answered from the inputs.
    Unanswerable,
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } => ErrorKind::Io,
            Self::Input(_) | Self::Duplicate(_) | Self::QueryNotContiguous { .. } => {
                ErrorKind::Input
            }
            Self::Matrix { .. } => ErrorKind::Matrix,
            Self::Measure(_) | Self::Measures(_) => ErrorKind::Measure,
            Self::Device(_) => ErrorKind::Device,
            Self::NotFinite { .. } => ErrorKind::NotFinite,
            Self::Merge(_) => ErrorKind::Merge,
            Self::Summary(_) => ErrorKind::Summary,
            Self::Stopped => ErrorKind::Stopped,
            Self::Unanswerable(_) => ErrorKind::Unanswerable,
        }
    }

    /// Makes the error about a text that is none of the names that an option takes.
    pub fn option(text: &str, what: &str, names: &[&str]) -> Self {
        let names = match names {
            [others @ .., last] if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            alone => alone.concat(),
        };
        Self::Unanswerable(format!("`{text}` is not {what}: {names} was expected"))
    }

    /// Makes an I/O error at `path` while doing `action`.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action, source }
    }

    /// Makes the error of an input that cannot be read.
    #[doc(hidden)]
    pub fn unreadable(name: &str, source: io::Error) -> Self {
        Self::io(name.as_ref(), "read", source)
    }
}

/// A wrong line of qrels, of a run or of other text input, with a message; a wrong file if `line`
/// is 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: u64,
    /// The fault and the expected content.
    pub message: String,
}

/// The start of a message that names two swapped files.
pub const SWAPPED: &str = "these look swapped: ";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = printable_path(self.file.as_ref());
        match self.line {
            0 if self.message.starts_with(SWAPPED) => f.write_str(&self.message),
            0 => write!(f, "{file}: {}", self.message),
            line => write!(f, "{file}:{line}: {}", self.message),
        }
    }
}

/// The problems of a text input: the earliest [`Problems::LIMIT`] problems, and the number of
/// further problems.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// The earliest problems.
    pub first: Vec<Problem>,
    /// The number of problems beyond `first`.
    pub more: u64,
}

impl Problems {
    /// The most problems that are reported together.
    pub const LIMIT: usize = 20;

    /// Makes the problems of an input file from its first wrong lines, each with a message, and the
    /// number of further problems.
    pub(crate) fn at_lines(
        file: &str,
        first: impl IntoIterator<Item = (u64, String)>,
        more: u64,
    ) -> Self {
        let first = first.into_iter();
        let first = first.map(|(line, message)| Problem { file: file.to_owned(), line, message });
        Self { first: first.collect(), more }
    }

    /// Adds the next problem of an input file, or only counts it if enough are listed.
    #[doc(hidden)]
    pub fn add(&mut self, file: &str, line: u64, message: impl FnOnce() -> String) {
        if self.first.len() < Self::LIMIT {
            self.first.push(Problem { file: file.to_owned(), line, message: message() });
        } else {
            self.more += 1;
        }
    }

    /// Returns an error of these problems of a text input, or `value` if there are none.
    #[doc(hidden)]
    pub fn into_result<T>(self, value: T) -> Result<T> {
        if self.first.is_empty() { Ok(value) } else { Err(Error::Input(self)) }
    }

    /// Returns whether one problem is that a document is judged twice with different grades, as by
    /// several judges.
    pub fn have_different_grades(&self) -> bool {
        self.first.iter().any(|problem| problem.message.contains(DIFFERENT_GRADE))
    }
}

/// The words that stand between two grades of a document, and the line of the first.
pub const DIFFERENT_GRADE: &str = " here, but grade ";

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lines(&self.first))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

/// A parse error of a measure: the text, the part at fault, and the correct alternatives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct MeasureError {
    /// The argument as given.
    pub text: String,
    /// The bytes of `text` at fault.
    pub span: std::ops::Range<usize>,
    /// The fault and the expected content.
    pub message: String,
    /// The measures that were probably meant, best first.
    pub suggestions: Vec<String>,
    /// The possible meanings of an ambiguous text: the spelling and the description of each
    /// meaning.
    pub candidates: Vec<(String, String)>,
}

impl MeasureError {
    /// Makes the parse error of a measure with a message about the bytes `span` of its text.
    pub fn new(text: &str, span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        let (text, message) = (text.to_owned(), message.into());
        Self { text, span, message, suggestions: Vec::new(), candidates: Vec::new() }
    }
}

fn query_clause(query: Option<&[u8]>) -> String {
    query.map_or(String::new(), |query| format!(", query {}", printable(query)))
}

fn lines(errors: &[impl fmt::Display]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.span.start).map_or(0, |s| s.chars().count());
        let width = self.text.get(self.span.clone()).map_or(1, |s| s.chars().count().max(1));
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {}", self.text)?;
        write!(f, "  {}{}", " ".repeat(before), "^".repeat(width))?;
        if !self.suggestions.is_empty() {
            write!(f, " did you mean {}?", self.suggestions.join(" or "))?;
        }
        let longest =
            self.candidates.iter().map(|(spelling, _)| spelling.chars().count()).max().unwrap_or(0);
        self.candidates
            .iter()
            .try_for_each(|(spelling, meaning)| write!(f, "\n    {spelling:longest$}  {meaning}"))
    }
}

/// Escapes bytes of an input for a message: UTF-8 unchanged, invalid bytes as `\xNN`, controls
/// escaped. A backslash is doubled if it would look like the start of an escape, so different bytes
/// never become equal texts.
///
/// ```
/// use laneval::error::printable;
/// assert_eq!(printable(b"a\x1b\xff"), r"a\u{1b}\xff");
/// assert_eq!(printable(br"a\u{1b}"), r"a\\u{1b}");
/// assert_eq!(printable(br"AC\DC"), r"AC\DC");
/// ```
pub fn printable(bytes: &[u8]) -> String {
    // The bytes are copied, because a mapped file may change while it is validated.
    let bytes = bytes.to_vec();
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\') {
        return bytes.into_iter().map(char::from).collect();
    }
    let mut text = String::with_capacity(bytes.len());
    let mut backslash = false;
    for piece in pieces(&bytes) {
        // Before these letters a backslash would read as an escape, so the backslash is doubled.
        if backslash && piece.starts_with(['\\', 'n', 'r', 't', 'u', 'x']) {
            text.push('\\');
        }
        text.push_str(&piece);
        backslash = piece == "\\";
    }
    text
}

/// Returns the name of a file as text for a message: bytes that are not text, and characters
/// without width, are escaped. Backslashes stay as they are.
pub fn printable_path(path: &Path) -> String {
    pieces(path.as_os_str().as_encoded_bytes()).collect()
}

/// Returns the characters and the invalid bytes of a text, each escaped if it is not printable.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(|c| {
            if c.is_control() || is_unseen(c) {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        });
        valid.chain(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")))
    })
}

/// Returns whether a character is to be escaped in messages: it has no width, or turns the text
/// around it.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the bytes that a printed text stands for.
    fn read_back(text: &str) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), text);
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let escape = rest.chars().next().filter(|_| c == '\\');
            let hex = |digits: &str| u32::from_str_radix(digits, 16).unwrap();
            let (taken, length) = match escape {
                Some('\\') => ('\\', 1),
                Some('n') => ('\n', 1),
                Some('r') => ('\r', 1),
                Some('t') => ('\t', 1),
                Some('x') => {
                    bytes.push(hex(&rest[1..3]) as u8);
                    rest = &rest[3..];
                    continue;
                }
                Some('u') => {
                    let end = rest.find('}').unwrap();
                    (char::from_u32(hex(&rest[2..end])).unwrap(), end + 1)
                }
                _ => (c, 0),
            };
            bytes.extend(taken.to_string().bytes());
            rest = &rest[length..];
        }
        bytes
    }

    #[test]
    fn what_looks_like_an_escape_is_not_printed_as_one() {
        for id in [
            &b"a\x1bb"[..],
            br"a\u{1b}b",
            br"a\\u{1b}b",
            b"\\\n",
            br"\\n",
            br"\",
            br"\\",
            br"C:\dir",
            b"\xff",
            br"\xff",
        ] {
            assert_eq!(read_back(&printable(id)), id, "{}", printable(id));
        }
        assert_eq!(printable(br"C:\dir\"), r"C:\dir\");
        assert_eq!(printable("a\u{202e}b\u{61c}".as_bytes()), r"a\u{202e}b\u{61c}");
    }

    #[test]
    fn file_names_are_safe_on_a_terminal() {
        let path = Path::new("no\u{1b}[31m\nthere\\new");
        let source = io::Error::from(io::ErrorKind::NotFound);
        let matrix = Error::Matrix {
            path: path.to_owned(),
            section: "header",
            message: "is short".to_owned(),
        };
        let problem =
            Problem { file: path.display().to_string(), line: 3, message: "is wrong".to_owned() };
        for (message, end) in [
            (Error::io(path, "open", source).to_string(), ": cannot open: "),
            (matrix.to_string(), ": header: is short"),
            (problem.to_string(), ":3: is wrong"),
        ] {
            let start = [r"no\u{1b}[31m\nthere\new", end].concat();
            assert!(message.starts_with(&start), "{message}");
        }
    }

    proptest! {
        #[test]
        fn different_bytes_are_printed_differently(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), prop::sample::select(b"\\\\\\nrtux{}1bf".to_vec())],
                0..30,
            ),
        ) {
            let text = printable(&bytes);
            prop_assert_eq!(read_back(&text), bytes);
            prop_assert!(!text.chars().any(|c| c.is_control() || is_unseen(c)));
        }
    }
}
