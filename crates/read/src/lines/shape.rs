//! The expected shape of a TREC line of qrels or of a run, and the messages about lines of other
//! shapes.

use super::{
    diagnostics::{pluralize, quoted},
    dialect::{Comments, Rules},
    scan::{has_lone_return, is_separator, split},
};
use crate::bytes::limits::MAX_LINE_BYTES;
use crate::error::printable;

/// The message about a line that is too long.
pub const TOO_LONG: &str = "the line has more than 64 MiB";

/// The role of an input: qrels or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Qrels,
    Run,
}

/// The fault of a TREC line of qrels or of a run, such as a wrong number of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFault {
    /// The line has this number of fields, and another number was expected.
    Fields(usize),
    /// The grade or score of the line is not a number.
    Number,
    /// The line of a run has a field more than others, and its rank is not a number while the next
    /// two fields are: an id with a blank.
    Blank,
    /// The line is longer than [`MAX_LINE_BYTES`].
    Length,
}

impl Role {
    /// Returns what belongs to the role: the first for qrels, the second for a run.
    #[inline(always)]
    pub fn pick<T>(self, of_qrels: T, of_run: T) -> T {
        match self {
            Role::Qrels => of_qrels,
            Role::Run => of_run,
        }
    }

    /// Returns the other role: run for qrels, and qrels for run.
    pub fn other(self) -> Role {
        self.pick(Role::Run, Role::Qrels)
    }

    /// Returns the expected fields of a TREC line of qrels or of a run, for messages.
    pub fn expected(self) -> &'static str {
        self.pick("expected 'query iter docno grade'", "expected 'query iter docno rank score tag'")
    }

    /// Returns the index, from 0, of the field of a TREC line that is the grade or the score.
    pub fn number_field(self) -> usize {
        self.pick(3, 4)
    }

    /// Returns the name of the number of a line by role: `grade` or `score`.
    pub fn number(self) -> &'static str {
        self.pick("grade", "score")
    }

    /// Returns a dialect's parser of grades or scores; the parser returns `None` for a field that
    /// is no number.
    #[inline(always)]
    pub fn parser(self, rules: &Rules) -> fn(&[u8]) -> Option<f64> {
        self.pick(rules.grade, rules.score)
    }

    /// Returns a dialect's rule for skipping comments in qrels or in runs.
    pub fn comments(self, rules: Rules) -> Comments {
        self.pick(rules.qrels_comments, rules.run_comments)
    }

    /// Returns the fault, if any, of a TREC line that is neither blank nor a comment.
    pub fn fault(self, line: &[u8], rules: Rules) -> Option<LineFault> {
        // The reader stops behind a line that is too long, so the line may be cut off, and a count
        // of its fields would be wrong.
        if line.len() > MAX_LINE_BYTES {
            return Some(LineFault::Length);
        }
        let count = split(line).count();
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

    /// Returns the error message about a TREC line that is no row.
    pub fn complaint_about(self, line: &[u8], rules: Rules) -> String {
        // A line whose fields are right has a wrong number.
        self.complaint(line, self.fault(line, rules).unwrap_or(LineFault::Number), rules)
    }

    /// Returns the error message about a TREC line with this fault.
    pub fn complaint(self, line: &[u8], fault: LineFault, rules: Rules) -> String {
        let expected = self.expected();
        let field = |at| split(line).nth(at).unwrap_or_default();
        match fault {
            LineFault::Length => format!("{TOO_LONG}: {expected}"),
            LineFault::Blank => {
                let [doc, more] = [2, 3].map(|at| printable(field(at)));
                format!(
                    "7 fields in {}: {expected} (a blank in the id '{doc} {more}'? Tables with \
                     tabs or commas may have ids with blanks)",
                    quoted(line)
                )
            }
            LineFault::Number => {
                let number = not_a_number(field(self.number_field()), [field(0), field(2)]);
                format!("{} {number}: {expected}", self.number())
            }
            LineFault::Fields(count) => {
                let has_score = || split(line).nth(4).and_then(rules.score).is_some();
                let hint = match self {
                    Role::Qrels if count < 6 || !has_score() => "",
                    _ if has_lone_return(line) => LONE_RETURN,
                    Role::Qrels => " (this looks like a run: the order is QRELS RUN)",
                    Role::Run if count == 4 => {
                        " (this looks like judgments: the order is QRELS RUN)"
                    }
                    Role::Run => "",
                };
                format!("{} in {}: {expected}{hint}", pluralize(count, "field"), quoted(line))
            }
        }
    }
}

/// Returns whether a blank in an id seems to have moved the rank and the score of a run's line by a
/// field. The fourth field, the rank, is then a word, and the fifth and sixth are numbers. A tag of
/// two words moves nothing, and the placeholder of a missing rank (`-`) is not a word.
fn has_blank_in_id(line: &[u8], rules: Rules) -> bool {
    let mut fields = split(line).skip(3);
    fields.next().is_some_and(|rank| {
        (!rank.is_ascii() || rank.iter().any(u8::is_ascii_alphanumeric))
            && (rules.score)(rank).is_none()
    }) && fields.take(2).filter(|field| (rules.score)(field).is_some()).count() == 2
}

/// Returns whether a line of TREC text is data: neither blank nor a skipped comment.
pub fn counts(line: &[u8], comments: Comments) -> bool {
    let first = line.iter().position(|&byte| !is_separator(byte));
    first.is_some_and(|first| line[first] != b'#' || !comments.cover(first))
}

/// The message about a line with a carriage return inside.
pub const LONE_RETURN: &str = " (there is a carriage return inside: lines end with LF or CR LF)";

/// Returns the message about a field that should be the grade or score of a query and a document.
pub fn not_a_number(field: &[u8], [query, doc]: [&[u8]; 2]) -> String {
    let comma = " (it has a comma: a decimal point was expected)";
    let hint = if is_with_comma(field) { comma } else { "" };
    match fast_float2::parse::<f64, _>(field) {
        // A program that wrote NaN or an infinity is looked at by query and document, not by line.
        Ok(value) => format!("{}{}", quoted(field), not_finite(value, [query, doc])),
        Err(_) => format!("{} is not a number{hint}", quoted(field)),
    }
}

/// Returns the end of a message about NaN or an infinity in the place of a number of a query and a
/// document.
pub fn not_finite(value: f64, ids: [&[u8]; 2]) -> String {
    let [query, doc] = ids.map(quoted);
    let finite = if value.is_nan() { "" } else { "finite " };
    format!(" of document {doc} of query {query} is not a {finite}number")
}

/// Returns whether a text is a number with a comma in the place of the decimal point.
pub fn is_with_comma(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let count = digits.iter().filter(|byte| byte.is_ascii_digit()).count();
    count + 1 == digits.len()
        && matches!(digits, [b'0'..=b'9', .., b'0'..=b'9'])
        && digits.contains(&b',')
}
