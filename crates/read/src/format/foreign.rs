//! The recognition of a text that is neither qrels nor a run, from its first lines.
//!
//! Detection examines only a text whose first line with content is wrong. A wrong first line makes
//! the whole text unreadable, so detection never mistakes a readable text for a foreign format. The
//! text gets a single message instead of a message for each line.

use memchr::{memchr, memchr_iter, memrchr};

use super::json::first_value;
use crate::bytes::limits::LONGEST_LINE;
use crate::error::{Problem, Problems, SWAPPED, printable_path};
use crate::format::InputFormat;
use crate::lines::diagnostics::whole_file;
use crate::lines::dialect::Rules;
use crate::lines::scan::split;
use crate::lines::shape::{LineFault, Role, counts};

/// The number of bytes of a text that detection examines.
pub const HEAD: usize = 64 << 10;
/// The number of lines that must share a fault, if the text is long enough.
const LINES: usize = 20;
/// The fewest lines that must share a fault.
const FEWEST: usize = 3;

/// The recognised format.
#[derive(Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// A run where qrels are expected, or qrels where a run is.
    Swapped,
    /// A table with wrong rows: their numbers, from 1, with their faults, and the number of further
    /// wrong rows.
    Rows(Vec<(u64, String)>, u64),
    /// Scores alone, without the judgments that name the documents.
    ScoresAlone,
    /// Any further format: the line (0 for the whole file), and the message.
    Told(u64, String),
}

/// Whole lines at the start of a text.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    pub text: &'a [u8],
    /// Whether the lines are the whole text.
    pub all: bool,
}

/// Returns the whole lines at the start of a text. A head has at least a line, unless the first
/// line is too long. For JSON that `is_told` recognises, [`HEAD`] bytes are enough.
pub fn head(text: &[u8]) -> Head<'_> {
    if text.len() <= HEAD {
        return Head { text, all: true };
    }
    let end = memrchr(b'\n', &text[..HEAD]);
    if end.is_none() && is_told(text) {
        return Head { text: &text[..HEAD], all: false };
    }
    let end = end.or_else(|| {
        memchr(b'\n', &text[..text.len().min(LONGEST_LINE + 1)])
            .or((text.len() <= LONGEST_LINE).then_some(text.len()))
    });
    match end {
        Some(end) => Head { text: &text[..end], all: end + 1 >= text.len() },
        None => Head { text: &text[..LONGEST_LINE + 1], all: false },
    }
}

/// Whether the start of a text is enough to recognise it, though its first line is not complete, as
/// in JSON with objects of objects.
fn is_told(text: &[u8]) -> bool {
    text.get(..HEAD).is_some_and(|start| first_value(start) == Some(b'{'))
}

/// Whether the start of a text is enough to recognise it.
pub fn has_head(text: &[u8]) -> bool {
    memchr(b'\n', text).is_some() || is_told(text)
}

impl Head<'_> {
    /// The message about a file whose first bytes occur in no readable text, such as UTF-16 or
    /// `xz`.
    pub fn signature(&self, role: Role) -> Option<String> {
        signature(self.text, role)
    }
}

/// Returns the format of a text with this head, if the text cannot be TREC.
pub fn of_head(
    Head { text: head, all }: Head<'_>,
    role: Role,
    rules: Rules,
) -> Option<OtherFormat> {
    let comments = role.comments(rules);
    let lines = (1..).zip(head.split(|&byte| byte == b'\n'));
    let mut lines = lines.filter(|(_, line)| counts(line, comments)).take(LINES).peekable();
    let &(number, first) = lines.peek()?;
    let fault = role.fault(first, rules)?;
    if let Some(message) = signature(head, role) {
        return Some(OtherFormat::Told(0, message));
    }
    let lines: Vec<&[u8]> = lines.map(|(_, line)| line).collect();
    let faults: Vec<Option<LineFault>> = lines.iter().map(|line| role.fault(line, rules)).collect();
    if faults.contains(&None) {
        return None; // a text with some wrong lines
    }
    if let Some(message) = format(head, first, role) {
        return Some(OtherFormat::Told(0, message));
    }
    if lines.iter().all(|line| role.other().fault(line, rules).is_none()) {
        return Some(OtherFormat::Swapped);
    }
    let enough = lines.len() == LINES || all && lines.len() >= FEWEST;
    if !enough || faults.iter().any(|other| *other != Some(fault)) {
        return None;
    }
    if let Some(message) = columns(fault, role) {
        return Some(OtherFormat::Told(0, message));
    }
    let which = if lines.len() == LINES {
        format!("the first {LINES} lines")
    } else {
        "all lines".to_owned()
    };
    let message = format!("{}; {which} are wrong in this way", role.complaint(first, fault, rules));
    Some(OtherFormat::Told(number, message))
}

/// The message about a text in an unexpected format.
fn not_read(what: &str, role: Role) -> String {
    format!("is {what}, which is not read here: {} on each line", role.expected())
}

/// The message about a text in a format that dialects of trec_eval do not read.
fn trec_alone(what: &str) -> String {
    format!(
        "is {what}, and dialects of trec_eval read TREC text alone: `laneval convert` may write it \
         so"
    )
}

/// Returns the message about a file whose first bytes occur in no readable text.
fn signature(head: &[u8], role: Role) -> Option<String> {
    let (by, command) = match head {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("xz", "xz -dc"),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => {
            ("bzip2", "bzip2 -dc")
        }
        [b'P', b'K', 3, 4, ..] => ("zip", "unzip -p"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => ("7-Zip", "7z x -so"),
        [4, 0x22, 0x4d, 0x18, ..] => ("lz4", "lz4 -dc"),
        _ if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || is_wide(head) => {
            return Some(
                "is UTF-16: convert it to UTF-8 first (`iconv -f UTF-16 -t UTF-8`)".to_owned(),
            );
        }
        [0x89, b'H', b'D', b'F', b'\r', b'\n', ..] => {
            return Some(
                "is HDF5, which is not read here: in Python, evaluate_neighbours takes its arrays"
                    .to_owned(),
            );
        }
        [0x7f, b'E', b'L', b'F', ..] => return Some(not_read("a program (ELF)", role)),
        _ => {
            let tables = InputFormat::of_tables(head)?;
            return tables.name_of_tables().map(|name| not_read(name, role));
        }
    };
    Some(format!(
        "is compressed by {by}, which is not read here: decompress it first (`{command}`)"
    ))
}

/// The message about a text without a correct line at the start: the format, and the remedy.
fn format(head: &[u8], first: &[u8], role: Role) -> Option<String> {
    let first = first.trim_ascii_start();
    let mut fields = split(first);
    match [fields.next(), fields.next(), fields.next(), fields.next()] {
        _ if head.contains(&0) => Some(not_read("binary", role)),
        _ if first.starts_with(b"{") || first.starts_with(b"[") => Some(trec_alone("JSON")),
        [_, Some(query), ..] if query.starts_with(b"qid:") => Some(trec_alone("LETOR")),
        [Some(b"query-id"), Some(b"corpus-id"), Some(b"score"), None] if role == Role::Qrels => {
            Some(made(
                "has a header and three columns, as BEIR's qrels",
                "NR > 1 {print $1, 0, $2, $3}",
                role,
            ))
        }
        [Some(_), _, None, None] if memchr_iter(b',', first).take(2).count() == 2 => {
            Some(trec_alone("CSV"))
        }
        _ => None,
    }
}

/// The message about a table with wrong columns in all lines.
fn columns(fault: LineFault, role: Role) -> Option<String> {
    match (fault, role) {
        (LineFault::Fields(3), Role::Qrels) => {
            Some(made("has three columns", "{print $1, 0, $2, $3}", role))
        }
        (LineFault::Fields(3), Role::Run) => {
            let awk = r#"{print $1, "Q0", $2, $3, -$3, "run"}"#;
            Some(made(
                "has three columns; if they are query, docno and rank, as in MS MARCO",
                awk,
                role,
            ))
        }
        (LineFault::Fields(5), Role::Run) => {
            Some(made("has five columns; if only the tag is missing", r#"{print $0, "run"}"#, role))
        }
        _ => None,
    }
}

/// The message about a text, with an `awk` program that converts the text.
fn made(what: &str, awk: &str, role: Role) -> String {
    format!("{what}: {} (`awk '{awk}'` makes it so)", role.expected())
}

/// Whether bytes 0 and bytes above 0 alternate at the start, as in UTF-16.
fn is_wide(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64) & !1];
    let zeros = |at: usize| start.iter().skip(at).step_by(2).filter(|&&byte| byte == 0).count();
    start.len() >= 8
        && [(0, 1), (1, 0)]
            .iter()
            .any(|&(wide, text)| zeros(wide) == start.len() / 2 && zeros(text) == 0)
}

/// The message about a run where judgments were expected, and about judgments where a run was
/// expected.
const JUDGMENTS_EXPECTED: &str = "this is a run, judgments were expected";
const RUN_EXPECTED: &str = "these are judgments, a run was expected";

/// The problem of a file, swapped with the file `other`.
pub fn swapped(role: Role, file: &str, other: Option<&str>) -> Problems {
    let (this, that, alone) = match role {
        Role::Qrels => ("a run", "judgments", JUDGMENTS_EXPECTED),
        Role::Run => ("judgments", "a run", RUN_EXPECTED),
    };
    let what = match other.map(|other| printable_path(other.as_ref())) {
        Some(other) => {
            format!("{SWAPPED}{} is {this}, {other} is {that}", printable_path(file.as_ref()))
        }
        None => alone.to_owned(),
    };
    whole_file(file, format!("{what}: the order is QRELS RUN"))
}

impl OtherFormat {
    /// Makes a problem of a file that was read alone, so without a partner to swap.
    pub fn problems_alone(&self, role: Role, file: &str) -> Problems {
        match (self, role) {
            (OtherFormat::Swapped, Role::Qrels) => whole_file(file, JUDGMENTS_EXPECTED.to_owned()),
            (OtherFormat::Swapped, Role::Run) => whole_file(file, RUN_EXPECTED.to_owned()),
            _ => self.problems(role, file),
        }
    }

    /// Makes the problems of a file in this format.
    pub fn problems(&self, role: Role, file: &str) -> Problems {
        match self {
            OtherFormat::Swapped => swapped(role, file, None),
            OtherFormat::Rows(first, more) => {
                let problem = |(line, message): &(u64, String)| Problem {
                    file: file.to_owned(),
                    line: *line,
                    message: message.clone(),
                };
                Problems { first: first.iter().map(problem).collect(), more: *more }
            }
            OtherFormat::ScoresAlone => {
                let message =
                    "is a list of numbers: scores alone need judgments in the format LETOR";
                whole_file(file, message.to_owned())
            }
            OtherFormat::Told(line, message) => {
                let problem =
                    Problem { file: file.to_owned(), line: *line, message: message.clone() };
                Problems { first: vec![problem], more: 0 }
            }
        }
    }
}
