//! The shape of a line of qrels or of a run, and the messages about lines of other shapes.

use super::diagnostics::quoted;
use super::dialect::{Comments, Rules};
use super::scan::{has_lone_return, is_separator, split};
use crate::bytes::limits::LONGEST_LINE;
use crate::error::printable;

/// The message about a line that is too long.
pub const TOO_LONG: &str = "the line has more than 64 MiB";

/// The role of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Qrels,
    Run,
}

/// The fault of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFault {
    /// The line has this number of fields, and another number was expected.
    Fields(usize),
    /// The grade or score of the line is not a number.
    Number,
    /// The line of a run has a field more than others, and its rank is not a number while the next
    /// two fields are: an id with a blank.
    Blank,
    /// The line is longer than [`LONGEST_LINE`].
    Length,
}

impl Role {
    /// The other role.
    pub fn other(self) -> Role {
        match self {
            Role::Qrels => Role::Run,
            Role::Run => Role::Qrels,
        }
    }

    /// The expected fields of a line.
    pub fn expected(self) -> &'static str {
        match self {
            Role::Qrels => "expected 'query iter docno grade'",
            Role::Run => "expected 'query iter docno rank score tag'",
        }
    }

    /// The index of the field that is the grade or the score, from 0.
    pub const fn number_field(self) -> usize {
        match self {
            Role::Qrels => 3,
            Role::Run => 4,
        }
    }

    /// The name of the number of a line: grade or score.
    pub fn number(self) -> &'static str {
        match self {
            Role::Qrels => "grade",
            Role::Run => "score",
        }
    }

    /// The parser of grades or scores; it returns `None` for a field that is not a number.
    #[inline(always)]
    pub fn parser(self, rules: &Rules) -> fn(&[u8]) -> Option<f64> {
        match self {
            Role::Qrels => rules.grade,
            Role::Run => rules.score,
        }
    }

    /// Returns whether a line may have more fields than expected.
    pub const fn takes_more_fields(self) -> bool {
        matches!(self, Role::Run)
    }

    /// The comments that are skipped.
    pub fn comments(self, rules: Rules) -> Comments {
        match self {
            Role::Qrels => rules.qrels_comments,
            Role::Run => rules.run_comments,
        }
    }

    /// The fault, if any, of a line that is neither blank nor a comment.
    pub fn fault(self, line: &[u8], rules: Rules) -> Option<LineFault> {
        let count = if line.len() > LONGEST_LINE {
            return Some(LineFault::Length);
        } else {
            split(line).count()
        };
        let fits = match self {
            Role::Qrels => count == 4,
            Role::Run => count == 6 || count > 6 && (rules.lone_returns || !has_lone_return(line)),
        };
        let number = split(line).nth(self.number_field()).and_then(self.parser(&rules));
        if !fits {
            Some(LineFault::Fields(count))
        } else if number.is_none() {
            Some(LineFault::Number)
        } else if self == Role::Run
            && count == 7
            && !rules.lone_returns
            && has_blank_in_id(line, rules)
        {
            Some(LineFault::Blank)
        } else {
            None
        }
    }

    /// The message about a line with a fault.
    pub fn complaint(self, line: &[u8], fault: LineFault, rules: Rules) -> String {
        let expected = self.expected();
        match (fault, self) {
            (LineFault::Length, _) => format!("{TOO_LONG}: {expected}"),
            (LineFault::Blank, _) => {
                let [doc, more] =
                    [2, 3].map(|at| printable(split(line).nth(at).unwrap_or_default()));
                format!(
                    "7 fields in {}: {expected} (a blank in the id '{doc} {more}'? Tables with \
                     tabs or commas may have ids with blanks)",
                    quoted(line)
                )
            }
            (LineFault::Number, _) => {
                let field = split(line).nth(self.number_field()).unwrap_or_default();
                format!("{} {}: {expected}", self.number(), not_a_number(field))
            }
            (LineFault::Fields(count), _) => {
                let score = || split(line).nth(4).and_then(rules.score);
                let hint = match self {
                    Role::Run if has_lone_return(line) => LONE_RETURN,
                    Role::Run if count == 4 => {
                        " (this looks like judgments: the order is QRELS RUN)"
                    }
                    Role::Qrels if count >= 6 && score().is_some() => {
                        if has_lone_return(line) {
                            LONE_RETURN
                        } else {
                            " (this looks like a run: the order is QRELS RUN)"
                        }
                    }
                    _ => "",
                };
                format!("{} in {}: {expected}{hint}", fields(count), quoted(line))
            }
        }
    }
}

/// Whether the fourth field of a line, the rank, is a word, and the fifth and sixth are numbers: a
/// rank and a score that an id with a blank moved. A tag of two words moves nothing, and the
/// placeholder of a missing rank (`-`) is not a word.
fn has_blank_in_id(line: &[u8], rules: Rules) -> bool {
    let is_word = |field: &[u8]| !field.is_ascii() || field.iter().any(u8::is_ascii_alphanumeric);
    if !split(line).nth(3).is_some_and(is_word) {
        return false;
    }
    let mut numbers = split(line).skip(3).map(|field| (rules.score)(field).is_some());
    numbers.next() == Some(false) && numbers.next() == Some(true) && numbers.next() == Some(true)
}

/// Whether a line is neither blank nor a comment.
pub fn counts(line: &[u8], comments: Comments) -> bool {
    let first = line.iter().position(|&byte| !is_separator(byte));
    first.is_some_and(|first| line[first] != b'#' || !comments.cover(first))
}

/// The message about a line with a carriage return inside.
const LONE_RETURN: &str = " (there is a carriage return inside: lines end with LF or CR LF)";

/// A number of fields in words: `1 field`, `2 fields` …
fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}

/// The message about a field that should be a finite number.
pub fn not_a_number(field: &[u8]) -> String {
    let infinite = fast_float2::parse::<f64, _>(field).is_ok();
    format!("{} is not a {}number", quoted(field), if infinite { "finite " } else { "" })
}
