//! Gold spans, results that are spans, and chunks, read from records or tables.

use std::borrow::Cow;

use crate::bytes::input::Input;
use crate::bytes::mmap::FileAccess;
use crate::columns::not_fine;
use crate::error::{Error, Problem, Problems, Result};
use crate::format::ColumnNames;
use crate::format::fields::{FieldValues, NamedColumn, Need, each_named_row};
use crate::format::names::usual_names;
use crate::format::opened::Opened;
use crate::format::span_columns::{at, span_columns};
use crate::lines::diagnostics::{quoted, whole_file};
use crate::lines::shape::Role;
use crate::spans::{Chunks, DocumentChunk, GoldSpan, GoldSpans, Span};

/// The names of the id of a chunk.
const CHUNK: &[&str] = &["chunk_id", "chunk", "id", "node_id"];

impl GoldSpans {
    /// Reads judged passages: JSON records, or a table whose first line has names. A passage has a
    /// query, a document, a start, an end or a length, and perhaps a grade (1 by default). `given`
    /// names columns of query, document and grade.
    ///
    /// # Errors
    /// An unreadable file; a missing column; wrong lines, up to a limit.
    pub fn read(input: impl Into<Input>, given: Option<&ColumnNames>) -> Result<Self> {
        GoldSpans::of_text(&input.into().open(FileAccess::default())?, given)
    }

    /// Reads judged passages of a text that is open.
    pub(crate) fn of_text(text: &Opened, given: Option<&ColumnNames>) -> Result<Self> {
        let mut spans = Vec::new();
        each_named_row(text, &span_columns(Role::Qrels, given), &mut |_, row| {
            let [query, doc] = [id(row, at::QUERY, "query")?, id(row, at::DOC, "document")?];
            let grade = row[at::NUMBER].as_deref().map_or(Ok(1.0), grade_of)?;
            spans.push(GoldSpan { span: span(row, at::START, &doc)?, query, doc, grade });
            Ok(())
        })?;
        Ok(GoldSpans::new(&text.name[..], spans))
    }
}

impl Chunks {
    /// Reads the chunks of documents: JSON records, or a table whose first line has names. A chunk
    /// has an id, a document, a start, and an end or a length. A chunk may be repeated unchanged.
    ///
    /// # Errors
    /// As [`GoldSpans::read`], and a chunk id that is repeated with another document or span.
    pub fn read(input: impl Into<Input>) -> Result<Self> {
        let text = input.into().open(FileAccess::default())?;
        let column = |what: &'static str, names: &'static [&'static str], need: Need| NamedColumn {
            what,
            given: None,
            names,
            need,
            hint: "",
        };
        let columns = [
            column("chunk", CHUNK, Need::Always),
            column("doc", usual_names("doc", Role::Qrels), Need::Always),
            column("start", usual_names("start", Role::Qrels), Need::Always),
            column("end", usual_names("end", Role::Qrels), Need::OrNext),
            column("length", usual_names("length", Role::Qrels), Need::Never),
        ];
        let (mut chunks, mut places) = (Vec::new(), Vec::new());
        each_named_row(&text, &columns, &mut |line, row| {
            let [id, doc] = [id(row, 0, "chunk")?, id(row, 1, "document")?];
            chunks.push(DocumentChunk { span: span(row, 2, &doc)?, id, doc });
            places.push(line);
            Ok(())
        })?;
        distinct(&text.name, chunks, &places)
    }
}

impl GoldSpans {
    /// Builds gold spans from rows of query, document, start, end and grade. Messages say `name`,
    /// and number the rows from 1.
    ///
    /// # Errors
    /// Rows whose positions are not a span or whose grade is not a number, up to a limit.
    pub fn of_rows(
        name: &str,
        rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, i64, i64, f64)>,
    ) -> Result<Self> {
        let of_row = |(query, doc, start, end, grade): (Vec<u8>, Vec<u8>, i64, i64, f64)| {
            if !grade.is_finite() {
                return Err(format!("grade {grade} is not a number"));
            }
            Ok(GoldSpan { span: span_of(start, end, &doc)?, query, doc, grade })
        };
        Ok(GoldSpans::new(name, all_rows(name, rows.into_iter().map(of_row))?))
    }
}

impl Chunks {
    /// Builds chunks from rows of chunk, document, start and end. Messages say `name`, and number
    /// the rows from 1.
    ///
    /// # Errors
    /// Rows whose positions are not a span, up to a limit; a repeated chunk with another span.
    pub fn of_rows(
        name: &str,
        rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, i64, i64)>,
    ) -> Result<Self> {
        let of_row = |(id, doc, start, end): (Vec<u8>, Vec<u8>, i64, i64)| {
            Ok(DocumentChunk { span: span_of(start, end, &doc)?, id, doc })
        };
        let chunks = all_rows(name, rows.into_iter().map(of_row))?;
        let lines: Vec<u64> = (1..).take(chunks.len()).collect();
        distinct(name, chunks, &lines)
    }
}

/// A judged or a retrieved passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PassageRow {
    pub query: Vec<u8>,
    pub doc: Vec<u8>,
    pub span: Span,
    /// The grade, or the score; a rank is a score below 0.
    pub value: f64,
}

/// Reads retrieved passages, and passes each with its line to `take`. A result has a query, a
/// document, a start, an end or a length, and a score or a rank. `given` names columns of query,
/// document, score and rank.
///
/// # Errors
/// As [`GoldSpans::read`], and the messages of `take`.
pub(crate) fn each_result(
    text: &Opened,
    given: Option<&ColumnNames>,
    take: &mut dyn FnMut(u64, PassageRow) -> Result<(), String>,
) -> Result<()> {
    each_named_row(text, &span_columns(Role::Run, given), &mut |line, row| {
        let [query, doc] = [id(row, at::QUERY, "query")?, id(row, at::DOC, "document")?];
        let value = match (row[at::NUMBER].as_deref(), row[at::RANK].as_deref()) {
            (Some(score), _) => number_of(score, "score")?,
            (None, Some(rank)) => -number_of(rank, "rank")?,
            (None, None) => return Err("the score is missing".to_owned()),
        };
        take(line, PassageRow { span: span(row, at::START, &doc)?, query, doc, value })
    })
}

/// Builds a passage from columns in memory.
///
/// # Errors
/// Positions that are not a span; a value that is not a number.
pub(crate) fn passage_of(
    (query, doc): (&[u8], &[u8]),
    [start, end]: [i128; 2],
    value: f64,
    role: Role,
) -> Result<PassageRow, String> {
    let position = |at: i128, what: &str| {
        u64::try_from(at).map_err(|_| {
            format!("{what} '{at}' is not a position: a whole number from 0 was expected")
        })
    };
    let span = Span::new(position(start, "start")?, position(end, "end")?)
        .map_err(|wrong| wrong.of(doc))?;
    // Scores may be infinite in memory.
    if value.is_nan() || role == Role::Qrels && value.is_infinite() {
        return Err(not_fine(role, value));
    }
    Ok(PassageRow { query: query.to_vec(), doc: doc.to_vec(), span, value })
}

/// Collects rows, or else the problems of wrong rows.
fn all_rows<T>(name: &str, rows: impl Iterator<Item = Result<T, String>>) -> Result<Vec<T>> {
    let (mut all, mut problems) = (Vec::new(), Problems::default());
    for (line, row) in (1..).zip(rows) {
        match row {
            Ok(row) => all.push(row),
            Err(message) if problems.first.len() < Problems::LIMIT => {
                problems.first.push(Problem { file: name.to_owned(), line, message });
            }
            Err(_) => problems.more += 1,
        }
    }
    if all.is_empty() && problems.first.is_empty() {
        problems = whole_file(name, "there is no row in it".to_owned());
    }
    if problems.first.is_empty() { Ok(all) } else { Err(Error::Input(problems)) }
}

/// Builds [`Chunks`], and rejects an id with several documents or spans; `lines` are the lines of
/// the chunks.
fn distinct(name: &str, chunks: Vec<DocumentChunk>, lines: &[u64]) -> Result<Chunks> {
    let ids: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.id.clone()).collect();
    Chunks::new(name, chunks).map_err(|(again, first)| {
        let id = quoted(&ids[again]);
        let message =
            format!("chunk {id} is there again with another span, first on line {}", lines[first]);
        let first = vec![Problem { file: name.to_owned(), line: lines[again], message }];
        Error::Input(Problems { first, more: 0 })
    })
}

/// Builds the span between two positions.
fn span_of(start: i64, end: i64, doc: &[u8]) -> Result<Span, String> {
    let position = |at: i64, what: &str| {
        u64::try_from(at).map_err(|_| {
            format!("{what} '{at}' is not a position: a whole number from 0 was expected")
        })
    };
    Span::new(position(start, "start")?, position(end, "end")?).map_err(|wrong| wrong.of(doc))
}

/// The id in a column.
fn id(row: &FieldValues<'_>, at: usize, what: &str) -> Result<Vec<u8>, String> {
    match row.get(at).cloned().flatten() {
        Some(id) if id.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\0')) => {
            Err(format!("the {what} {} has a line break or a zero byte", quoted(&id)))
        }
        Some(id) => Ok(Cow::into_owned(id)),
        None => Err(format!("the {what} is missing")),
    }
}

/// The span in three columns: its start, its end, and its length.
fn span(row: &FieldValues<'_>, at: usize, doc: &[u8]) -> Result<Span, String> {
    let number = |at: usize, what: &str| {
        let value = row.get(at).and_then(Option::as_deref);
        value.map(|text| position(text, what)).transpose()
    };
    let start = number(at, "start")?.ok_or_else(|| "the start is missing".to_owned())?;
    let end = match (number(at + 1, "end")?, number(at + 2, "length")?) {
        (Some(end), _) => end,
        (None, Some(length)) => start.saturating_add(length),
        (None, None) => return Err("the end is missing".to_owned()),
    };
    Span::new(start, end).map_err(|wrong| wrong.of(doc))
}

/// Parses a position.
fn position(text: &[u8], what: &str) -> Result<u64, String> {
    let number = std::str::from_utf8(text)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| {
        format!("{what} {} is not a position: a whole number from 0 was expected", quoted(text))
    })
}

/// Parses a grade.
fn grade_of(text: &[u8]) -> Result<f64, String> {
    number_of(text, "grade")
}

/// Parses a finite number.
fn number_of(text: &[u8], what: &str) -> Result<f64, String> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<f64>().ok());
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("{what} {} is not a number", quoted(text)))
}
