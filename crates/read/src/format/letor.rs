//! Judgments in LETOR, the format of SVMrank, RankLib, LightGBM and XGBoost, and files of scores
//! for LETOR judgments.
//!
//! ```text
//! grade qid:query feature:value … # document
//! ```
//!
//! The name of a document without a comment is the number of its line. If lines have no `qid`, a
//! file beside the judgments says how many lines each query has, and queries are numbered from 1.
//! If lines have a `qid` and the file exists too, each group of lines must be a single query. A
//! file of scores has as many lines as there are documents, in their order.

use std::{
    io::{self, BufRead, BufReader, Read},
    sync::Arc,
};

use memchr::memchr;

use super::sequence::{Sequence, SequenceFormat, Started};
use crate::bytes::limits::MAX_LINE_BYTES;
use crate::format::open_input::OpenInput;
use crate::lines::{
    diagnostics::{pluralize, quoted},
    row::{RowBatch, wrong_id},
    scan::split,
};

/// The shape of a line, for messages.
pub(super) const SHAPE: &str = "grade qid:query feature:value … # document";

/// An input of LETOR judgments (`grade qid:query feature:value …`), to whose lines files of scores
/// belong.
#[derive(Debug, Clone)]
pub struct Letor {
    pub text: Arc<OpenInput>,
    pub query_lengths: Option<Arc<QueryLengths>>,
}

/// The number of lines of each query of LETOR judgments, from a file of their own.
#[derive(Debug)]
pub struct QueryLengths {
    /// The name of the file.
    pub name: String,
    sizes: Vec<u64>,
}

impl QueryLengths {
    /// Returns the number of LETOR lines of the query `first` (from 0) and all later queries
    /// together.
    fn lines(&self, first: usize) -> u64 {
        self.sizes[first..].iter().copied().fold(0, u64::saturating_add)
    }

    /// Reads the file of LETOR query lengths: one number on each line of `text`.
    ///
    /// # Errors
    /// A message about the first line without a number.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, String> {
        let lines = (1..).zip(text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii));
        let sizes = lines.filter(|(_, text)| !text.is_empty()).map(|(line, text)| {
            let size = str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
            size.ok_or_else(|| {
                let text = quoted(text);
                format!(
                    "line {line}: {text} is not a number of lines: one is expected for each query"
                )
            })
        });
        Ok(Self { name: name.to_owned(), sizes: sizes.collect::<Result<_, String>>()? })
    }
}

impl SequenceFormat for Letor {
    fn start(&self) -> Started<'_> {
        Ok(Box::new(LetorLines::new(self)))
    }
}

/// A file of scores for the documents of a LETOR text, as a run.
#[derive(Debug)]
pub(super) struct OfScores(pub Letor);

impl SequenceFormat for OfScores {
    fn start(&self) -> Started<'_> {
        let Self(letor) = self;
        Ok(Box::new(Scored {
            letor: BufReader::with_capacity(256 << 10, letor.text.text()?),
            name: &letor.text.name,
            lines: LetorLines::new(letor),
            text: Vec::new(),
            line: 0,
        }))
    }
}

/// Makes the error about a LETOR line with the fault `what`, and names the expected shape.
fn wrong_shape(what: String) -> String {
    format!("{what}: expected '{SHAPE}'")
}

/// The reader of LETOR lines, which counts them by query where a file gives query lengths.
#[derive(Default)]
struct LetorLines {
    number: u64,
    groups: Option<Arc<QueryLengths>>,
    /// The number of the current group, from 1, and how many of its lines are still to come.
    group: usize,
    left: u64,
    query: Vec<u8>,
    /// The `qid` with which the current group begins.
    qid: Option<Vec<u8>>,
    doc: Vec<u8>,
}

impl LetorLines {
    fn new(letor: &Letor) -> Self {
        Self { groups: letor.query_lengths.clone(), ..Self::default() }
    }

    /// Parses the next LETOR line to its grade, query and document; `None` for a blank line or a
    /// comment.
    fn judged<'t>(&'t mut self, line: &'t [u8]) -> Result<Option<[&'t [u8]; 3]>, String> {
        self.number += 1;
        let (data, comment) = match memchr(b'#', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let mut fields = split(data).peekable();
        let Some(grade) = fields.next() else { return Ok(None) };
        let qid = fields.next_if(|field| field.starts_with(b"qid:")).map(|field| &field[4..]);
        if let Some(wrong) = fields.find(|field| !field.contains(&b':')) {
            return Err(wrong_shape(format!("{} is not a feature", quoted(wrong))));
        }
        self.next_of_group(qid).map_or(Ok(()), Err)?;
        let query = match (&self.groups, qid) {
            (Some(_), _) => &self.query[..],
            (None, Some(query)) => query,
            (None, None) => {
                return Err(wrong_shape(format!("there is no qid in {}", quoted(line))));
            }
        };
        let doc = match document(comment) {
            Some(doc) => doc,
            None => {
                self.doc = self.number.to_string().into_bytes();
                &self.doc
            }
        };
        match wrong_id("query", query).or_else(|| wrong_id("document", doc)) {
            Some(wrong) => Err(wrong_shape(wrong)),
            None => Ok(Some([grade, query, doc])),
        }
    }

    /// Counts a LETOR line towards the current query if query lengths are known; returns a message
    /// if its `qid` does not fit. A `qid` must be constant within a group, and change at the next
    /// group.
    fn next_of_group(&mut self, qid: Option<&[u8]>) -> Option<String> {
        let groups = self.groups.as_deref()?;
        let begins = self.left == 0;
        while self.left == 0 {
            let Some(&size) = groups.sizes.get(self.group) else {
                let (all, name) = (groups.lines(0), &groups.name);
                return Some(format!(
                    "there are more lines than the {all} of the groups in {name}"
                ));
            };
            (self.group, self.left) = (self.group + 1, size);
            self.query = self.group.to_string().into_bytes();
        }
        self.left -= 1;
        if begins && self.group > 1 && qid.is_some() && self.qid.as_deref() == qid {
            let (before, qid) = (self.group - 1, quoted(qid.unwrap_or_default()));
            return Some(format!(
                "qid {qid} continues after the end of group {before} in {}",
                groups.name
            ));
        }
        if !begins && self.qid.as_deref() != qid {
            let [found, expected] = [qid, self.qid.as_deref()]
                .map(|qid| qid.map_or("no qid".to_owned(), |qid| format!("qid {}", quoted(qid))));
            return Some(format!(
                "{found} in group {} in {}, which begins with {expected}",
                self.group, groups.name
            ));
        }
        if begins {
            self.qid = qid.map(<[u8]>::to_vec);
            if let Some(qid) = qid {
                qid.clone_into(&mut self.query);
            }
        }
        None
    }

    /// Returns the message that LETOR judgments ended before the lines that the query lengths say,
    /// if so.
    fn end(&self) -> Option<String> {
        let groups = self.groups.as_deref()?;
        let rest = self.left.saturating_add(groups.lines(self.group));
        (rest > 0).then(|| {
            let lines = pluralize(rest as usize, "line");
            format!("the groups in {} have {lines} more than the judgments", groups.name)
        })
    }
}

/// Returns the document id in the comment of a LETOR line: the word behind `docid =`, or else the
/// first word.
fn document(comment: &[u8]) -> Option<&[u8]> {
    let mut words = split(comment);
    match words.next()? {
        b"docid" => match words.next()? {
            b"=" => words.next(),
            word => Some(word.strip_prefix(b"=").unwrap_or(word)),
        },
        word => Some(word.strip_prefix(b"docid=").unwrap_or(word)),
    }
}

impl Sequence for LetorLines {
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize> {
        let done = each_line(text, ended, |line| {
            let number = self.number + 1;
            match self.judged(line) {
                Ok(None) => {}
                Ok(Some([grade, query, doc])) => rows.row(number, query, doc, grade),
                Err(message) => rows.fault(number, message),
            }
            Ok(!rows.are_enough())
        })?;
        if ended
            && done == text.len()
            && let Some(message) = self.end()
        {
            rows.end_with(self.number, message);
        }
        Ok(done)
    }
}

/// Passes whole lines of a text to `take` until it returns `false`; returns the bytes of the passed
/// lines.
fn each_line(
    text: &[u8],
    ended: bool,
    mut take: impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<usize> {
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let length = match memchr(b'\n', rest) {
            Some(length) => length,
            None if ended => rest.len(),
            None => break,
        };
        start = text.len().min(start + length + 1);
        if !take(&rest[..length])? {
            break;
        }
    }
    Ok(start)
}

/// The reader of a file of scores as rows of a run, with queries and documents from LETOR
/// judgments.
struct Scored<'a> {
    letor: BufReader<Box<dyn Read + Send + 'a>>,
    name: &'a str,
    lines: LetorLines,
    text: Vec<u8>,
    /// The number of the line of the scores.
    line: u64,
}

impl Scored<'_> {
    /// Reads the next line of the LETOR text whose documents are scored; returns `false` at its
    /// end.
    fn next_line(&mut self) -> io::Result<bool> {
        self.text.clear();
        let read =
            self.letor.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut self.text)?;
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        }
        Ok(read > 0)
    }

    fn score(&mut self, line: &[u8], rows: &mut RowBatch) -> io::Result<bool> {
        self.line += 1;
        let score = line.trim_ascii();
        if score.is_empty() || score[0] == b'#' {
            return Ok(true);
        }
        if self.lines.number == 0 && fast_float2::parse::<f64, _>(score).is_err() {
            let score = quoted(score);
            let message = format!(
                "{score} is not a number: a score on each line was expected, and no header"
            );
            rows.end_with(self.line, message);
            return Ok(false);
        }
        while self.next_line()? {
            match self.lines.judged(&self.text) {
                Ok(None) => {}
                Ok(Some([_, query, doc])) => {
                    rows.row(self.line, query, doc, score);
                    return Ok(true);
                }
                // The reader of the judgments says what is wrong.
                Err(_) => return Ok(true),
            }
        }
        self.refuse_count("more", rows);
        Ok(false)
    }

    fn refuse_count(&self, more: &str, rows: &mut RowBatch) {
        let message = format!("there are {more} scores than documents in {}", self.name);
        rows.end_with(self.line, message);
    }

    /// Adds an error to the rows if a file of scores ends before the documents of its LETOR text.
    fn end(&mut self, rows: &mut RowBatch) -> io::Result<()> {
        while self.next_line()? {
            if !matches!(self.lines.judged(&self.text), Ok(None)) {
                self.refuse_count("fewer", rows);
                break;
            }
        }
        Ok(())
    }
}

impl Sequence for Scored<'_> {
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize> {
        let done =
            each_line(text, ended, |line| Ok(self.score(line, rows)? && !rows.are_enough()))?;
        if ended && done == text.len() {
            self.end(rows)?;
        }
        Ok(done)
    }
}
