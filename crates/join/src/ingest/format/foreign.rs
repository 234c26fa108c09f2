//! The recognition of a text that is neither qrels nor a run, from its first lines.
//!
//! Only a text whose first line that counts is wrong is looked at. It cannot be read whatever comes
//! next, so no readable text is ever taken for something else. It gets one message, instead of one
//! for each line.

use memchr::{memchr, memchr_iter, memrchr};

use super::json::first_value;
use crate::error::{Problem, Problems, SWAPPED, printable_path};
use crate::ingest::bytes::limits::LONGEST_LINE;
use crate::ingest::format::InputFormat;
use crate::ingest::lines::diagnostics::whole_file;
use crate::ingest::lines::dialect::Rules;
use crate::ingest::lines::scan::split;
use crate::ingest::lines::shape::{LineFault, Role, counts};

/// The number of bytes of a text that are looked at.
pub(in crate::ingest) const HEAD: usize = 64 << 10;
/// The number of its lines that must be wrong in the same way, if it has as many.
const LINES: usize = 20;
/// The fewest lines that are needed.
const FEWEST: usize = 3;

/// The recognised format.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ingest) enum OtherFormat {
    /// A run where qrels are expected, or qrels where a run is.
    Swapped,
    /// A table of which rows are wrong: their numbers, from 1, and what is wrong, and how many more
    /// there are.
    Rows(Vec<(u64, String)>, u64),
    /// Scores alone, without the judgments whose documents they are for.
    ScoresAlone,
    /// Something else: the line (0 for the whole file), and what to say.
    Told(u64, String),
}

/// Whole lines at the start of a text.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct Head<'a> {
    pub text: &'a [u8],
    /// Whether the lines are the whole text.
    pub all: bool,
}

/// The whole lines at the start of a text: at least one, unless that is too long, or the text is
/// JSON of which less is enough.
pub(in crate::ingest) fn head(text: &[u8]) -> Head<'_> {
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
pub(in crate::ingest) fn has_head(text: &[u8]) -> bool {
    memchr(b'\n', text).is_some() || is_told(text)
}

impl Head<'_> {
    /// The message about a file that starts with bytes which no text has.
    pub fn signature(&self, role: Role) -> Option<String> {
        signature(self.text, role)
    }
}

/// The format of a text that starts like this, if it cannot be TREC.
pub(in crate::ingest) fn of_head(
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

/// What a text is that dialects of trec_eval do not read.
fn trec_alone(what: &str) -> String {
    format!(
        "is {what}, and dialects of trec_eval read TREC text alone: `laneval convert` may write it \
         so"
    )
}

/// The format of a file that starts with these bytes, which no text has.
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

/// The message about a text none of whose first lines is right: its format, and what to do.
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

/// The message about a table that has other columns throughout.
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

/// The message about a text with the program of `awk` that converts it.
fn made(what: &str, awk: &str, role: Role) -> String {
    format!("{what}: {} (`awk '{awk}'` makes it so)", role.expected())
}

/// Whether every other byte of the start is 0, and no others are.
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

/// The problem of a file that was swapped with `other`.
pub(in crate::ingest) fn swapped(role: Role, file: &str, other: Option<&str>) -> Problems {
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
    /// Makes one problem of a file that is read without another with which it may have been
    /// swapped.
    pub fn problems_alone(&self, role: Role, file: &str) -> Problems {
        match (self, role) {
            (OtherFormat::Swapped, Role::Qrels) => whole_file(file, JUDGMENTS_EXPECTED.to_owned()),
            (OtherFormat::Swapped, Role::Run) => whole_file(file, RUN_EXPECTED.to_owned()),
            _ => self.problems(role, file),
        }
    }

    /// Makes one problem of a file.
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
