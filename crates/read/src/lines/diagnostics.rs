//! Collection of the earliest problems of a text or of columns that workers read in chunks.
//!
//! Chunks are read in any order by any worker, so a problem is located by a chunk and a line in the
//! chunk. Line numbers of the whole text are computed at the end: only then is the number of lines
//! before each chunk known. A piece of columns counts as a chunk, and a row as a line.

use std::mem;

use crate::error::{Problems, printable};

/// A line of a text by its chunk and its number in the chunk, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub chunk: u64,
    pub line: u64,
}

impl Position {
    /// Returns the line number in the whole text; `lines` is the number of lines of each chunk.
    pub fn in_all(self, lines: &[u64]) -> u64 {
        lines[..self.chunk as usize].iter().sum::<u64>() + self.line
    }
}

/// A problem of a line of qrels or of a run, with the line's chunk and the message.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub position: Position,
    pub message: String,
    /// A line that the problem refers to, such as the first line of a repeated document. The number
    /// of this line is appended to the message.
    pub earlier: Option<Position>,
}

/// The earliest problems of a text, at most [`Problems::LIMIT`], and the number of the others. A
/// place is any number that ascends with the lines of the text, such as a line number. The limit
/// bounds the memory for problems, however many lines of an input are wrong.
#[derive(Debug)]
pub struct FirstProblems<T> {
    /// The kept problems, each with its place, ascending.
    items: Vec<(u64, T)>,
    /// The number of the problems that are not kept.
    more: u64,
    /// The number of judgments that are no problem, because they say again what an earlier one
    /// says.
    pub identical: u64,
}

/// The earliest problems of a text, placed by the address of a docno or a line. An address joins
/// the number of the chunk and the offset in the chunk to one number, which ascends with the lines.
pub type Diagnostics = FirstProblems<Diagnostic>;

impl<T> Default for FirstProblems<T> {
    fn default() -> Self {
        Self { items: Vec::new(), more: 0, identical: 0 }
    }
}

impl<T> FirstProblems<T> {
    /// Adds a problem at a place of the text if it is among the earliest; else only counts it.
    /// `found` makes the problem, and may have to count lines. So `found` is called only for a kept
    /// problem.
    pub fn add(&mut self, place: u64, found: impl FnOnce() -> T) {
        if self.items.len() == Problems::LIMIT {
            self.more += 1;
            if self.items.last().is_some_and(|last| last.0 <= place) {
                return;
            }
            self.items.pop();
        }
        let at = self.items.partition_point(|item| item.0 <= place);
        self.items.insert(at, (place, found()));
    }

    /// Returns whether no problems of the text were found.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Counts problems of the text that were never added, because [`Problems::LIMIT`] earlier
    /// problems were known.
    pub fn count_omitted(&mut self, count: u64) {
        self.more += count;
    }

    /// Counts repeated rows as problems, as those of a run are, whatever their scores.
    pub fn count_identical(&mut self) {
        self.more += mem::take(&mut self.identical);
    }

    /// Adds the problems of the text that another worker found. Of two problems at one place, the
    /// problem of the other worker comes second.
    pub fn merge(&mut self, other: Self) {
        self.more += other.more;
        self.identical += other.identical;
        for (place, found) in other.items {
            self.add(place, || found);
        }
    }

    /// Returns the kept problems of the text with their places, and the number of the others.
    pub fn into_places(self) -> (Vec<(u64, T)>, u64) {
        (self.items, self.more)
    }
}

impl FirstProblems<String> {
    /// Converts messages placed by line number to the reported problems of `file`.
    pub fn into_listed(self, file: &str) -> Problems {
        Problems::at_lines(file, self.items, self.more)
    }
}

impl Diagnostics {
    /// Converts problems placed by chunk to the reported problems of `file` with line numbers.
    /// `lines[chunk]` is the number of lines of the chunk. `line` converts a line number in the
    /// text that was read to a line number of the file.
    pub fn into_problems(self, file: &str, line: impl Fn(u64) -> u64, lines: &[u64]) -> Problems {
        let first = self.items.into_iter().map(|(_, finding)| {
            let Diagnostic { position, mut message, earlier } = finding;
            if let Some(earlier) = earlier {
                message.push_str(&format!(" {}", line(earlier.in_all(lines))));
            }
            (line(position.in_all(lines)), message)
        });
        Problems::at_lines(file, first, self.more)
    }
}

/// The problems of the text of a run: wrong lines, and documents repeated in a query.
#[derive(Debug, Default)]
pub struct RunProblems {
    /// Wrong lines, and repeated documents if a repetition always matters.
    pub lines: Problems,
    /// Repeated documents, if a repetition matters only in evaluated queries and ranks.
    pub repeats: Problems,
}

/// Joins the problems of several input files, given in the order of the files, up to the limit.
pub fn join(all: impl IntoIterator<Item = Problems>) -> Problems {
    let mut joined = Problems::default();
    for problems in all {
        joined.more += problems.more;
        joined.first.extend(problems.first);
    }
    joined.more += joined.first.len().saturating_sub(Problems::LIMIT) as u64;
    joined.first.truncate(Problems::LIMIT);
    joined
}

/// Makes the report of one problem about a whole input file.
pub fn whole_file(file: &str, message: String) -> Problems {
    one_line(file, 0, message)
}

/// Makes the report of one problem at a line of an input file, or about the whole file if `line` is
/// 0.
pub fn one_line(file: &str, line: u64, message: String) -> Problems {
    Problems::at_lines(file, [(line, message)], 0)
}

/// Returns a number of things in words, as `1 field`, `2 fields` or `2 queries`, for messages.
pub fn pluralize(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// Returns bytes in quotes for a message: the first 60 bytes at most, cut between characters, and
/// escaped where they are not printable.
pub fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    if bytes.len() <= SHOWN {
        return format!("'{}'", printable(bytes));
    }
    let mut end = SHOWN;
    while end > SHOWN - 4 && bytes[end] & 0xc0 == 0x80 {
        // The cut must not be inside a character.
        end -= 1;
    }
    format!("'{}…'", printable(&bytes[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_are_kept_whatever_the_order() {
        let (mut one, mut other) = (Diagnostics::default(), Diagnostics::default());
        for n in (0..100).map(|n| n * 37 % 100) {
            if n % 3 == 0 { &mut one } else { &mut other }.add(n, || Diagnostic {
                position: Position { chunk: n / 10, line: n % 10 + 1 },
                message: format!("line {}", n + 1),
                earlier: None,
            });
        }
        one.merge(other);
        let problems = one.into_problems("run", |line| line, &[10; 10]);
        assert_eq!((problems.first.len(), problems.more), (20, 80));
        for (n, problem) in problems.first.iter().enumerate() {
            assert_eq!(
                (problem.line, &problem.message),
                (n as u64 + 1, &format!("line {}", n + 1))
            );
        }
    }

    #[test]
    fn an_earlier_line_is_named() {
        let mut findings = Diagnostics::default();
        let earlier = Position { chunk: 0, line: 2 };
        let position = Position { chunk: 1, line: 3 };
        findings.add(5, || Diagnostic {
            position,
            message: "again, after line".into(),
            earlier: Some(earlier),
        });
        assert_eq!(
            findings.into_problems("run", |line| 100 + line, &[7, 9]).to_string(),
            "run:110: again, after line 102"
        );
    }

    #[test]
    fn long_fields_are_cut_between_characters() {
        assert_eq!(quoted(b"a\xffb"), "'a\\xffb'");
        assert_eq!(quoted("é".repeat(31).as_bytes()), format!("'{}…'", "é".repeat(30)));
        assert_eq!(
            quoted(&[&b"x"[..], "é".repeat(31).as_bytes()].concat()),
            format!("'x{}…'", "é".repeat(29))
        );
        assert_eq!(quoted(&[0x80; 70]).len(), 2 + 4 * 57 + '…'.len_utf8() - 4);
    }
}
