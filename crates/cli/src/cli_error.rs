//! The error type of the commands of `laneval`: messages for stderr, and an exit code.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;

use laneval::report::Note;

use super::style::{error, print_line, print_note, shown};

/// The result of a command of `laneval`, or of a step of one, with [`CliError`] as its error.
pub type CliResult<T> = Result<T, CliError>;

/// The hint for documents with different grades.
const SEVERAL_JUDGES: &str = "if several judges graded the documents, use --judges mean, min, max \
    or each, or take each document's largest grade by --facet judge";

/// The note on documents that a run has twice, for commands that can take such a run.
const REPEATS: &str = "of results that repeat a document, --aggregate max keeps the best, and \
                       --aggregate blank leaves the ranks of the others empty";

/// The reason why a command of `laneval` ends early: messages with an exit code, or a closed pipe.
#[derive(Debug)]
pub enum CliError {
    /// The messages for stderr.
    Failed(Vec<String>),
    /// The messages for stderr, with an exit code.
    WithCode(u8, Vec<String>),
    /// The reader of the output has gone, as `head` does.
    BrokenPipe,
}

/// Returns the error of a command as a result, with one message for stderr.
pub fn fail<T>(message: impl Into<String>) -> CliResult<T> {
    Err(CliError::new(message))
}

impl CliError {
    /// Makes the error of a command, with one message for stderr.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed(vec![message.into()])
    }

    /// Makes the error of a command, with one message that begins with the path of a file.
    pub fn for_path(path: &Path, message: impl Display) -> Self {
        Self::new(format!("{}: {message}", shown(path)))
    }

    /// Makes the error of a command, with one message for stderr and an exit code.
    pub fn with_exit_code(code: u8, message: impl Into<String>) -> Self {
        Self::WithCode(code, vec![message.into()])
    }

    /// Puts a text before each message of the error, such as the name of a group of queries.
    pub fn with_context(mut self, place: &str) -> Self {
        if let Self::Failed(messages) | Self::WithCode(_, messages) = &mut self {
            messages.iter_mut().for_each(|message| message.insert_str(0, place));
        }
        self
    }

    /// Gives the error of a command this exit code; a closed pipe stays as it is.
    pub fn set_exit_code(self, code: u8) -> Self {
        match self {
            Self::Failed(messages) | Self::WithCode(_, messages) => Self::WithCode(code, messages),
            Self::BrokenPipe => Self::BrokenPipe,
        }
    }

    /// Adds a hint at `--aggregate` if the error is about documents that occur twice in a run.
    pub fn with_duplicates_hint(mut self) -> Self {
        // By the words of the message, because the kind of the error is lost in a `CliError`.
        if let Self::Failed(messages) = &mut self
            && messages.iter().any(|message| {
                message.contains(": docno '") && message.contains("' occurs again for query '")
            })
        {
            messages.push(REPEATS.to_owned());
        }
        self
    }

    /// Prints the messages of the error on stderr, and returns the exit code of the process.
    pub fn print_and_exit_code(self) -> u8 {
        match self {
            // `laneval … | head` is not an error of anybody. Rust ignores SIGPIPE, so it arrives as
            // a failed write.
            Self::BrokenPipe => 0,
            Self::Failed(messages) => Self::WithCode(2, messages).print_and_exit_code(),
            Self::WithCode(code, messages) => {
                for message in messages {
                    if message == REPEATS {
                        print_note(&Note::Note(message))
                    } else {
                        print_line(error(message))
                    }
                }
                code
            }
        }
    }
}

impl From<laneval::Error> for CliError {
    fn from(error: laneval::Error) -> Self {
        match error {
            laneval::Error::Input(problems) | laneval::Error::Duplicate(problems) => {
                let more = (problems.more > 0).then(|| format!("… and {} more", problems.more));
                let judges = problems.have_different_grades().then(|| SEVERAL_JUDGES.to_owned());
                let first = problems.first.iter().map(ToString::to_string);
                Self::Failed(first.chain(more).chain(judges).collect())
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<io::Error> for CliError {
    /// Converts a failed write to stdout into the error of a command; a closed pipe is told apart.
    /// Errors of files name their files themselves.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::new(format!("stdout: cannot write: {error}")),
        }
    }
}
