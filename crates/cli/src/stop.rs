//! The reason why a command stops early, and its exit code.

use std::io::{self, ErrorKind};

use laneval::report::Note;

use super::style::{error, say, tell};

/// The hint for documents with different grades.
const SEVERAL_JUDGES: &str = "if several judges graded the documents, use --judges mean, min, max \
    or each, or take each document's largest grade by \
    --judgments-by judge";

/// The note on documents that a run has twice, for commands that can take such a run.
const REPEATS: &str = "of results that repeat a document, --repeats first keeps the best, and \
                       --repeats blank leaves the ranks of the others empty";

/// The early end of a command.
#[derive(Debug)]
pub enum Stop {
    /// The messages for stderr.
    Failed(Vec<String>),
    /// The messages for stderr, with an exit code.
    Coded(u8, Vec<String>),
    /// The reader of the output has gone, as `head` does.
    BrokenPipe,
}

impl Stop {
    /// Makes a failure with one message.
    pub fn new(message: impl Into<String>) -> Self {
        Stop::Failed(vec![message.into()])
    }

    /// Makes a failure with one message and an exit code.
    pub fn coded(code: u8, message: impl Into<String>) -> Self {
        Stop::Coded(code, vec![message.into()])
    }

    /// Says at the front of each message what it is about.
    pub fn with_place(self, place: &str) -> Self {
        let placed =
            |messages: Vec<String>| messages.into_iter().map(|of| format!("{place}{of}")).collect();
        match self {
            Stop::Failed(messages) => Stop::Failed(placed(messages)),
            Stop::Coded(code, messages) => Stop::Coded(code, placed(messages)),
            Stop::BrokenPipe => Stop::BrokenPipe,
        }
    }

    /// Gives the failure an exit code.
    pub fn with_code(self, code: u8) -> Self {
        match self {
            Stop::Failed(messages) | Stop::Coded(_, messages) => Stop::Coded(code, messages),
            Stop::BrokenPipe => Stop::BrokenPipe,
        }
    }

    /// Adds what can be done about documents that a run has twice, if that is the failure.
    pub fn hinting_at_repeats(self) -> Self {
        let repeats = |message: &String| {
            message.contains(": docno '") && message.contains("' occurs again for query '")
        };
        match self {
            Stop::Failed(mut messages) if messages.iter().any(repeats) => {
                messages.push(REPEATS.to_owned());
                Stop::Failed(messages)
            }
            other => other,
        }
    }

    /// Prints the messages, and returns the exit code.
    pub fn exit(self) -> u8 {
        match self {
            // `laneval … | head` is not an error of anybody. Rust ignores SIGPIPE, so it arrives as
            // a failed write.
            Stop::BrokenPipe => 0,
            Stop::Failed(messages) => Stop::Coded(2, messages).exit(),
            Stop::Coded(code, messages) => {
                for message in messages {
                    if message == REPEATS {
                        say(&Note::Note(message))
                    } else {
                        tell(error(message))
                    }
                }
                code
            }
        }
    }
}

impl From<laneval::Error> for Stop {
    fn from(error: laneval::Error) -> Self {
        match error {
            laneval::Error::Input(problems) | laneval::Error::Repeated(problems) => {
                let more = (problems.more > 0).then(|| format!("… and {} more", problems.more));
                let judges = problems.have_different_grades().then(|| SEVERAL_JUDGES.to_owned());
                Stop::Failed(
                    problems
                        .first
                        .iter()
                        .map(ToString::to_string)
                        .chain(more)
                        .chain(judges)
                        .collect(),
                )
            }
            other => Stop::new(other.to_string()),
        }
    }
}

impl From<io::Error> for Stop {
    /// Converts a failure to write to stdout; files name themselves in their errors.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Stop::BrokenPipe,
            _ => Stop::new(format!("stdout: cannot write: {error}")),
        }
    }
}
