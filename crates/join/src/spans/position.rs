//! A span of a document: the position where a passage begins, and where it ends.

use std::fmt;

use crate::error::printable;

/// The last position that a span may have.
pub const LAST: u64 = i64::MAX as u64;

/// A span of a document: its positions from `start` to before `end`, which is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u64,
    end: u64,
}

/// The reason why a start and an end are no span of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanError {
    /// The end comes before the start.
    Backward(u64, u64),
    /// The end is the start.
    Empty(u64),
    /// The end is beyond `LAST`, the last valid position.
    OutOfRange(u64),
}

impl SpanError {
    /// Returns the error message of a start and an end that are no span of a document.
    pub fn message(self, doc: &[u8]) -> String {
        let doc = printable(doc);
        match self {
            Self::Backward(start, end) => {
                format!("the span of '{doc}' ends at {end}, before its start at {start}")
            }
            Self::Empty(at) => format!("the span of '{doc}' from {at} to {at} is empty"),
            Self::OutOfRange(at) => {
                format!("the span of '{doc}' ends at {at}, and the last position is {LAST}")
            }
        }
    }
}

impl Span {
    /// Makes the span of a document from a start to an end.
    ///
    /// # Errors
    /// An end that is not behind the start, or is beyond 2⁶³ − 1.
    pub fn new(start: u64, end: u64) -> Result<Self, SpanError> {
        match end {
            end if end > LAST => Err(SpanError::OutOfRange(end)),
            end if end < start => Err(SpanError::Backward(start, end)),
            end if end == start => Err(SpanError::Empty(start)),
            end => Ok(Self { start, end }),
        }
    }

    /// Returns the first position of the span.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Returns the first position behind the span.
    pub fn end(self) -> u64 {
        self.end
    }

    /// Returns the number of positions in the span.
    pub fn length(self) -> u64 {
        self.end - self.start
    }

    /// Returns the number of positions that two spans of a document have in common.
    pub fn shared(self, other: Span) -> u64 {
        self.end.min(other.end).saturating_sub(self.start.max(other.start))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}
