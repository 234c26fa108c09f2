//! The problems of one text during reading: the earliest few, at places that become line numbers at
//! the end.
//!
//! Chunks are read in any order by any worker, so a place is a chunk and a line in it. The number
//! of lines before a chunk is known when all chunks are read.

use crate::error::{Problem, Problems, printable};

/// A line of a chunk; lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub chunk: u64,
    pub line: u64,
}

impl Position {
    /// The line number in the whole text; `lines` is the number of lines of each chunk.
    pub fn in_all(self, lines: &[u64]) -> u64 {
        lines[..self.chunk as usize].iter().sum::<u64>() + self.line
    }
}

/// A problem of a line.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub position: Position,
    pub message: String,
    /// An earlier line whose number ends the message, if any.
    pub earlier: Option<Position>,
}

/// The earliest findings by place, at most [`Problems::LIMIT`], and the number of the rest. However
/// much is wrong with an input, its problems take no more memory than people read.
#[derive(Debug)]
pub struct Earliest<T> {
    /// The kept findings, each with its place, ascending.
    kept: Vec<(u64, T)>,
    more: u64,
}

/// The findings of a text, by the address of a line: the number of its chunk and its offset in the
/// chunk. Addresses are ordered as lines are.
pub type Findings = Earliest<Finding>;

impl<T> Default for Earliest<T> {
    fn default() -> Self {
        Earliest { kept: Vec::new(), more: 0 }
    }
}

impl<T> Earliest<T> {
    /// Adds a finding at a place. `found` is called only for a kept finding, because it may have to
    /// count lines.
    pub fn add(&mut self, place: u64, found: impl FnOnce() -> T) {
        if self.kept.len() == Problems::LIMIT {
            self.more += 1;
            if self.kept.last().is_some_and(|last| last.0 <= place) {
                return;
            }
            self.kept.pop();
        }
        let at = self.kept.partition_point(|kept| kept.0 <= place);
        self.kept.insert(at, (place, found()));
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Counts findings behind [`Problems::LIMIT`] earlier findings; these are not kept.
    pub fn leave_out(&mut self, count: u64) {
        self.more += count;
    }

    /// Adds the findings of `other`; findings at one place stay in order.
    pub fn merge(&mut self, other: Self) {
        self.merge_after(0, other);
    }

    /// Adds the findings of a part of the text that begins at place `start`.
    pub fn merge_after(&mut self, start: u64, other: Self) {
        self.more += other.more;
        for (place, found) in other.kept {
            self.add(start + place, || found);
        }
    }
}

impl Earliest<String> {
    /// Converts messages by line to problems.
    pub fn into_listed(self, file: &str) -> Problems {
        let problem = |(line, message)| Problem { file: file.to_owned(), line, message };
        Problems { first: self.kept.into_iter().map(problem).collect(), more: self.more }
    }
}

impl Findings {
    /// Converts the findings to problems with line numbers; `lines[chunk]` is the number of lines
    /// of the chunk, and `line` converts a line of all chunks to one of the file.
    pub fn into_problems(self, file: &str, line: impl Fn(u64) -> u64, lines: &[u64]) -> Problems {
        let line = |place: Position| line(place.in_all(lines));
        let problem = |finding: Finding| {
            let mut message = finding.message;
            if let Some(earlier) = finding.earlier {
                message.push_str(&format!(" {}", line(earlier)));
            }
            Problem { file: file.to_owned(), line: line(finding.position), message }
        };
        Problems {
            first: self.kept.into_iter().map(|(_, finding)| problem(finding)).collect(),
            more: self.more,
        }
    }
}

/// All problems of a text.
#[derive(Debug, Default)]
pub struct RunProblems {
    /// Wrong lines, and repeated documents if a repetition always matters.
    pub lines: Problems,
    /// Repeated documents, if a repetition matters only in evaluated queries and ranks.
    pub repeats: Problems,
}

/// Joins the problems of several files, given in the order of the files.
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

/// Makes one problem of a whole file.
pub fn whole_file(file: &str, message: String) -> Problems {
    Problems { first: vec![Problem { file: file.to_owned(), line: 0, message }], more: 0 }
}

/// Bytes in quotes for a message, at most about 60 characters of them.
pub fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    if bytes.len() <= SHOWN {
        return format!("'{}'", printable(bytes));
    }
    let mut end = SHOWN;
    while end > SHOWN - 4 && bytes[end] & 0xc0 == 0x80 {
        end -= 1; // not inside a character
    }
    format!("'{}…'", printable(&bytes[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_are_kept_whatever_the_order() {
        let position = |n: u64| Position { chunk: n / 10, line: n % 10 + 1 };
        let finding = |n: u64| Finding {
            position: position(n),
            message: format!("line {}", n + 1),
            earlier: None,
        };
        let order = |n: u64| n * 37 % 100;
        let (mut one, mut other) = (Findings::default(), Findings::default());
        for n in (0..100).map(order) {
            if n % 3 == 0 { &mut one } else { &mut other }.add(n, || finding(n));
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
        let mut findings = Findings::default();
        let earlier = Position { chunk: 0, line: 2 };
        let position = Position { chunk: 1, line: 3 };
        findings.add(5, || Finding {
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
