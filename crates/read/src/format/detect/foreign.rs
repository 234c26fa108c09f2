//! Recognition, from its first lines, of a text that is not the expected TREC qrels or run, for one
//! message about it.
//!
//! Detection examines only a text whose first line with content is wrong. A wrong first line makes
//! the whole text unreadable, so detection never mistakes a readable text for a foreign format. The
//! text gets a single message instead of a message for each line.

use memchr::{memchr, memchr_iter, memrchr};

use super::enough::{HEAD, is_told};
use crate::bytes::limits::MAX_LINE_BYTES;
use crate::error::{Problems, SWAPPED, printable_path};
use crate::format::{InputFormat, OptionStyle, tables::TableError};
use crate::lines::{
    diagnostics::{one_line, whole_file},
    dialect::Rules,
    number::finite,
    scan::split,
    shape::{LineFault, Role, counts},
};

/// The number of lines that detection examines. If the text is long enough, as many must share a
/// fault.
const LINES: usize = 20;
/// The fewest lines that must share a fault.
const FEWEST: usize = 3;

/// The kind of an input that is not the expected qrels or run, with the message about it.
#[derive(Debug)]
pub enum ForeignFormat {
    /// A run where qrels are expected, or qrels where a run is.
    Swapped,
    /// A file of tables that is not read, with how messages write options.
    Table(TableError, OptionStyle),
    /// Scores alone, without the judgments that name the documents.
    ScoresAlone,
    /// Any further format: the line (0 for the whole file), and the message.
    Explained(u64, String),
}

/// The whole lines at the start of an input that format detection examines.
#[derive(Clone, Copy)]
pub struct FileHead<'a> {
    pub text: &'a [u8],
    /// Whether the lines are the whole text.
    pub all: bool,
}

/// Returns the whole lines at the start of a text, up to about 64 KiB, that format detection
/// examines. A head has at least a line, unless the first line is too long. For JSON that `is_told`
/// recognises, [`HEAD`] bytes are enough.
pub fn head(text: &[u8]) -> FileHead<'_> {
    if text.len() <= HEAD {
        return FileHead { text, all: true };
    }
    let end = memrchr(b'\n', &text[..HEAD]);
    if end.is_none() && is_told(text) {
        return FileHead { text: &text[..HEAD], all: false };
    }
    let most = text.len().min(MAX_LINE_BYTES + 1);
    let end = end.or_else(|| memchr(b'\n', &text[..most])).unwrap_or(most);
    FileHead { text: &text[..end], all: end + 1 >= text.len() && end <= MAX_LINE_BYTES }
}

impl<'a> FileHead<'a> {
    /// Returns the first lines that are neither blank nor comments, with their numbers.
    pub fn lines(self, role: Role, rules: Rules) -> Vec<(u64, &'a [u8])> {
        let comments = role.comments(rules);
        let all = (1..).zip(self.text.split(|&byte| byte == b'\n'));
        all.filter(|(_, line)| counts(line, comments)).take(LINES).collect()
    }

    /// Returns the message about an archive of files, which its bytes or its name show. The header
    /// of a tar has no line of its own, so the first line of its first file may hide it.
    pub fn archive(&self, name: &str) -> Option<String> {
        let (head, name) = (self.text, name.to_ascii_lowercase());
        // Ids may be any bytes but zeros, which every archive has.
        if !head.contains(&0) {
            return None;
        }
        let is_named = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let is_tar = head.get(257..262) == Some(b"ustar") && head[..257].contains(&0);
        let (kind, command) = if is_tar
            || is_named(&[".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2"])
        {
            ("tar", "tar xf")
        } else if head.starts_with(b"PK\x03\x04") || is_named(&[".zip"]) {
            ("zip", "unzip")
        } else if head.starts_with(b"7z\xbc\xaf\x27\x1c") || is_named(&[".7z"]) {
            ("7-Zip", "7z x")
        } else {
            return None;
        };
        Some(format!("is an archive ({kind}): extract it first (`{command} FILE`)"))
    }

    /// Returns the message about a file that its first bytes show to be no readable text, such as
    /// UTF-16 or `xz`.
    pub fn signature(&self, role: Role) -> Option<String> {
        let head = self.text;
        let (by, command) = match head {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("xz", "xz -dc"),
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => {
                ("bzip2", "bzip2 -dc")
            }
            [4, 0x22, 0x4d, 0x18, ..] => ("lz4", "lz4 -dc"),
            _ if matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) || is_wide(head) => {
                let message = "is UTF-16: convert it to UTF-8 first (`iconv -f UTF-16 -t UTF-8`)";
                return Some(message.to_owned());
            }
            [0x89, b'H', b'D', b'F', b'\r', b'\n', ..] => {
                let message = "is HDF5, which is not read here: in Python, evaluate_neighbours \
                               takes its arrays";
                return Some(message.to_owned());
            }
            [0x7f, b'E', b'L', b'F', ..] => return Some(not_read("a program (ELF)", role)),
            _ => {
                let tables = InputFormat::detect_table(head)?.name_of_tables()?;
                return Some(not_read(tables, role));
            }
        };
        Some(format!(
            "is compressed by {by}, which is not read here: decompress it first (`{command}`)"
        ))
    }
}

/// Returns the kind of a text whose first line is no valid TREC qrels or run line; `None` if it can
/// be TREC.
pub fn detect_foreign(start: FileHead<'_>, role: Role, rules: Rules) -> Option<ForeignFormat> {
    let lines = start.lines(role, rules);
    let &(number, first) = lines.first()?;
    let fault = role.fault(first, rules)?;
    if let Some(message) = start.signature(role) {
        return Some(message.into());
    }
    // If some lines are right, the text is TREC with wrong lines, which its reader reports.
    let faults = lines.iter().map(|(_, line)| role.fault(line, rules));
    let faults: Vec<LineFault> = faults.collect::<Option<_>>()?;
    if let Some(message) = format(start.text, first, role) {
        return Some(message.into());
    }
    if lines.iter().all(|(_, line)| role.other().fault(line, rules).is_none()) {
        return Some(ForeignFormat::Swapped);
    }
    let enough = lines.len() == LINES || start.all && lines.len() >= FEWEST;
    if !enough || faults.iter().any(|other| *other != fault) {
        return None;
    }
    if let Some(message) = columns(first, fault, role) {
        return Some(message.into());
    }
    let which = match lines.len() {
        LINES => format!("the first {LINES} lines"),
        _ => "all lines".to_owned(),
    };
    let message = format!("{}; {which} are wrong in this way", role.complaint(first, fault, rules));
    Some(ForeignFormat::Explained(number, message))
}

/// Returns the error message about an input in the format `what`, where TREC lines were expected.
fn not_read(what: &str, role: Role) -> String {
    format!("is {what}, which is not read here: {} on each line", role.expected())
}

/// Returns the error message about an input in the format `what`, which trec_eval's dialects do not
/// read.
fn trec_alone(what: &str) -> String {
    format!(
        "is {what}, and dialects of trec_eval read TREC text alone: `laneval convert` may write it \
         so"
    )
}

/// Returns the error message about a text whose first line is not TREC: the format that it looks
/// like, and the remedy.
fn format(head: &[u8], first: &[u8], role: Role) -> Option<String> {
    let first = first.trim_ascii_start();
    let mut fields = split(first);
    match [fields.next(), fields.next(), fields.next(), fields.next()] {
        _ if head.contains(&0) => Some(not_read("binary", role)),
        _ if first.starts_with(b"{") || first.starts_with(b"[") => Some(trec_alone("JSON")),
        [_, Some(query), ..] if query.starts_with(b"qid:") => Some(trec_alone("LETOR")),
        [Some(b"query-id"), Some(b"corpus-id"), Some(b"score"), None] if role == Role::Qrels => {
            Some(conversion_message(
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

/// Returns the error message about a text whose lines all have three or five fields, as `first`
/// has, with an `awk` remedy.
fn columns(first: &[u8], fault: LineFault, role: Role) -> Option<String> {
    let is_number = |at: usize| split(first).nth(at).and_then(finite).is_some();
    let (what, awk) = match (fault, role) {
        (LineFault::Fields(3), Role::Qrels) => ("has three columns", "{print $1, 0, $2, $3}"),
        (LineFault::Fields(3), Role::Run) => (
            "has three columns; if they are query, docno and rank, as in MS MARCO",
            r#"{print $1, "Q0", $2, $3, -$3, "run"}"#,
        ),
        (LineFault::Fields(5), Role::Run) => match [2, 3, 4].map(is_number) {
            [true, true, false] => {
                ("has five columns; if only Q0 is missing", r#"{$1 = $1 " Q0"; print}"#)
            }
            [false, true, false] => {
                ("has five columns; if only the rank is missing", r#"{$3 = $3 " 0"; print}"#)
            }
            _ => ("has five columns; if only the tag is missing", r#"{print $0, "run"}"#),
        },
        _ => return None,
    };
    Some(conversion_message(what, awk, role))
}

/// Returns an error message about a text, with an `awk` program that converts the text to TREC.
fn conversion_message(what: &str, awk: &str, role: Role) -> String {
    format!("{what}: {} (`awk '{awk}'` makes it so)", role.expected())
}

/// Returns whether a text looks like UTF-16: zero and non-zero bytes alternate at its start.
fn is_wide(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64) & !1];
    let [even, odd] =
        [0, 1].map(|at| start.iter().skip(at).step_by(2).filter(|&&byte| byte == 0).count());
    start.len() >= 8 && even.min(odd) == 0 && even.max(odd) == start.len() / 2
}

/// Returns the message about an input of the other role.
fn other_role(role: Role) -> &'static str {
    role.pick("this is a run, judgments were expected", "these are judgments, a run was expected")
}

/// Returns the error that a file is a run where judgments were expected, or the reverse, perhaps
/// swapped with `other`.
pub fn swapped(role: Role, file: &str, other: Option<&str>) -> Problems {
    let (this, that) = role.pick(("a run", "judgments"), ("judgments", "a run"));
    let what = match other.map(|other| printable_path(other.as_ref())) {
        Some(other) => {
            format!("{SWAPPED}{} is {this}, {other} is {that}", printable_path(file.as_ref()))
        }
        None => other_role(role).to_owned(),
    };
    whole_file(file, format!("{what}: the order is QRELS RUN"))
}

/// A message about a whole file, and not about one of its lines.
impl From<String> for ForeignFormat {
    fn from(message: String) -> Self {
        Self::Explained(0, message)
    }
}

impl ForeignFormat {
    /// Makes the errors to report about a file that is no expected qrels or run and was read alone,
    /// without a file to swap.
    pub fn problems_alone(&self, role: Role, file: &str) -> Problems {
        match self {
            Self::Swapped => whole_file(file, other_role(role).to_owned()),
            _ => self.problems(role, file),
        }
    }

    /// Makes the errors to report about a file that is not the expected qrels or run.
    pub fn problems(&self, role: Role, file: &str) -> Problems {
        match self {
            Self::Swapped => swapped(role, file, None),
            Self::Table(error, options) => error.clone().problems(file, *options),
            Self::ScoresAlone => {
                let message =
                    "is a list of numbers: scores alone need judgments in the format LETOR";
                whole_file(file, message.to_owned())
            }
            Self::Explained(line, message) => one_line(file, *line, message.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_told_by_content_or_name() {
        let message = |text: &[u8], name: &str| FileHead { text, all: true }.archive(name);
        let is = |kind: &str, command: &str| {
            Some(format!("is an archive ({kind}): extract it first (`{command} FILE`)"))
        };
        let tar = [&b"x\0"[..], &[b' '; 255], b"ustar"].concat();
        assert_eq!(message(&tar, "x.trec"), is("tar", "tar xf"));
        assert_eq!(message(&tar[1..], "x.trec"), None);
        assert_eq!(message(b"PK\x03\x04\0", "x"), is("zip", "unzip"));
        assert_eq!(message(b"7z\xbc\xaf\x27\x1c\0", "x"), is("7-Zip", "7z x"));
        for (name, kind, command) in [
            ("a/X.TGZ", "tar", "tar xf"),
            ("x.tar.xz", "tar", "tar xf"),
            ("x.zip", "zip", "unzip"),
            ("x.7z", "7-Zip", "7z x"),
        ] {
            assert_eq!(message(b"q 0 d 1\0", name), is(kind, command));
            assert_eq!(message(b"q 0 d 1\n", name), None, "it is text");
        }
        assert_eq!(message(b"q\0", "x.gz"), None);
    }
}
