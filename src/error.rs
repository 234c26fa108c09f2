//! Every error of the library, with the place where it happened.
//!
//! Text input collects its [`Problem`]s and reports them together; everything else stops at the first.

use std::fmt;
use std::path::{Path, PathBuf};

/// What went wrong, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file, or `stdin`.
        path: PathBuf,
        /// What was attempted: `open`, `read`, `write` …
        action: &'static str,
        /// The system's own words.
        source: std::io::Error,
    },
    /// One or more lines of text input are wrong.
    #[error(transparent)]
    Input(#[from] Problems),
    /// A document is twice in a ranking or judged twice, where a dialect lets this pass for queries that are not evaluated.
    #[error("{0}")]
    Repeated(Problems),
    /// A `.lmx` file is damaged, foreign, or of another version.
    #[error("{}: {section}: {message}", path.display())]
    Matrix {
        /// The file.
        path: PathBuf,
        /// The part of the file, such as `header` or `row lengths`.
        section: &'static str,
        /// What was found and what was expected.
        message: String,
    },
    /// A measure's name or parameters do not parse.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A GPU that is not there, refuses, or was lost.
    #[error("{0}")]
    Device(String),
    /// The inputs are well-formed, but what was asked cannot be answered from them.
    #[error("{0}")]
    Unanswerable(String),
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An I/O error at `path` while doing `action`.
    pub(crate) fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        Error::Io { path: path.to_owned(), action, source }
    }
}

/// One wrong line (or file, when `line` is 0) of text input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: u64,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}

/// The problems of a text input: at most [`Problems::LIMIT`] of them, the earliest first, and how many more there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// The earliest problems.
    pub first: Vec<Problem>,
    /// How many were found beyond `first`.
    pub more: u64,
}

impl Problems {
    /// How many problems are reported together.
    pub const LIMIT: usize = 20;
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.first.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        if self.more > 0 {
            write!(f, "\n… and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A measure that does not parse: the text, the part at fault, and what would have been right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasureError {
    /// The argument as given.
    pub text: String,
    /// The bytes of `text` at fault.
    pub span: std::ops::Range<usize>,
    /// What is wrong with them, and what was expected.
    pub message: String,
    /// The nearest names, best first.
    pub suggestions: Vec<String>,
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
        Ok(())
    }
}

impl std::error::Error for MeasureError {}

/// Bytes of an input as text for a message: UTF-8 as it is, every other byte as `\xNN`, controls escaped.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            // Characters without a width of their own, such as a byte order mark, would not be seen.
            let unseen = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
            if c.is_control() || unseen {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
