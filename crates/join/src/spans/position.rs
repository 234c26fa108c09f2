//! A span: where a passage begins in its document, and where it ends.

use std::fmt;

use crate::error::printable;

/// The last position that a span may have.
pub const LAST: u64 = i64::MAX as u64;

/// Positions of a document from `start` to before `end`, which is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u64,
    end: u64,
}

/// The reason why two positions are no span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongSpan {
    /// The end comes before the start.
    Backward(u64, u64),
    /// The end is the start.
    Empty(u64),
    /// The end is beyond `LAST`, the last valid position.
    TooFar(u64),
}

impl WrongSpan {
    /// Says what is wrong with the span of a document.
    pub fn of(self, doc: &[u8]) -> String {
        let doc = printable(doc);
        match self {
            WrongSpan::Backward(start, end) => {
                format!("the span of '{doc}' ends at {end}, before its start at {start}")
            }
            WrongSpan::Empty(at) => format!("the span of '{doc}' from {at} to {at} is empty"),
            WrongSpan::TooFar(at) => {
                format!("the span of '{doc}' ends at {at}, and the last position is {LAST}")
            }
        }
    }
}

impl Span {
    /// Makes a span.
    ///
    /// # Errors
    /// An end that is not behind the start, or is beyond 2⁶³ − 1.
    pub fn new(start: u64, end: u64) -> Result<Self, WrongSpan> {
        match end {
            end if end > LAST => Err(WrongSpan::TooFar(end)),
            end if end < start => Err(WrongSpan::Backward(start, end)),
            end if end == start => Err(WrongSpan::Empty(start)),
            end => Ok(Span { start, end }),
        }
    }

    /// The first position.
    pub fn start(self) -> u64 {
        self.start
    }

    /// The first position behind the span.
    pub fn end(self) -> u64 {
        self.end
    }

    /// The number of positions.
    pub fn length(self) -> u64 {
        self.end - self.start
    }

    /// The number of positions that both spans have.
    pub fn shared(self, other: Span) -> u64 {
        self.end.min(other.end).saturating_sub(self.start.max(other.start))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}
