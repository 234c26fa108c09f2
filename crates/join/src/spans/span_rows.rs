//! Reading of gold spans, chunks, and results that are spans, from JSON records, tables or columns.

use crate::bytes::{input::Input, mmap::FileAccess};
use crate::columns::{invalid_number_message, is_valid_number};
use crate::error::{Error, Problems, Result};
use crate::format::{
    ColumnNames,
    fields::{FieldValues, each_named_row},
    open_input::OpenInput,
    span_columns::{at, span_columns},
};
use crate::lines::{
    diagnostics::{one_line, quoted, whole_file},
    number::{finite, score},
    shape::Role,
};
use crate::spans::{Chunks, DocumentChunk, GoldSpan, GoldSpans, Span};

/// The names of the id of a chunk.
const CHUNK: &[&str] = &["chunk_id", "chunk", "id", "node_id"];

impl GoldSpans {
    /// Reads gold spans (judged passages) from JSON records, or from a table whose first line has
    /// names. A passage has a query, a document, a start, an end or a length, and perhaps a grade
    /// (1 by default). `given` names columns of query, document and grade.
    ///
    /// # Errors
    /// An unreadable file; a missing column; wrong lines, up to a limit.
    pub fn read(input: impl Into<Input>, given: Option<&ColumnNames>) -> Result<Self> {
        Self::from_text(&input.into().open(FileAccess::default())?, given)
    }

    /// Reads gold spans (judged passages) from a text that is open.
    pub(crate) fn from_text(text: &OpenInput, given: Option<&ColumnNames>) -> Result<Self> {
        let mut spans = Vec::new();
        each_named_row(text, &span_columns(Role::Qrels, given), None, &mut |_, row| {
            let [query, doc] = ids(row, "query")?;
            let grade = row[at::NUMBER]
                .as_deref()
                .map_or(Ok(1.0), |text| number_of(text, "grade", finite))?;
            spans.push(GoldSpan { span: span(row, &doc)?, query, doc, grade });
            Ok(())
        })?;
        Ok(Self::new(&text.name[..], spans))
    }

    /// Builds gold spans from rows of query, document, start, end and grade. Messages say `name`,
    /// and number the rows from 1.
    ///
    /// # Errors
    /// Rows whose positions are not a span or whose grade is not a number, up to a limit.
    pub fn from_rows(
        name: &str,
        rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, i64, i64, f64)>,
    ) -> Result<Self> {
        let rows = rows.into_iter().map(|(query, doc, start, end, grade)| {
            if !grade.is_finite() {
                return Err(invalid_number_message(Role::Qrels, grade, [&query, &doc]));
            }
            let span = span_of([start.into(), end.into()], &doc)?;
            Ok(GoldSpan { span, query, doc, grade })
        });
        Ok(Self::new(name, all_rows(name, rows)?))
    }
}

impl Chunks {
    /// Reads the chunks of documents from JSON records, or from a table whose first line has names.
    /// A chunk has an id, a document, a start, and an end or a length. A chunk may be repeated
    /// unchanged.
    ///
    /// # Errors
    /// As [`GoldSpans::read`], and a chunk id that is repeated with another document or span.
    pub fn read(input: impl Into<Input>) -> Result<Self> {
        let text = input.into().open(FileAccess::default())?;
        // The columns of a passage, with the id of the chunk in the place of the query.
        let mut columns = span_columns(Role::Qrels, None);
        columns.truncate(at::NUMBER);
        (columns[at::QUERY].what, columns[at::QUERY].names) = ("chunk", CHUNK);
        columns.iter_mut().for_each(|column| column.hint = "");
        let (mut chunks, mut places) = (Vec::new(), Vec::new());
        each_named_row(&text, &columns, None, &mut |line, row| {
            let [id, doc] = ids(row, "chunk")?;
            chunks.push(DocumentChunk { span: span(row, &doc)?, id, doc });
            places.push(line);
            Ok(())
        })?;
        distinct(&text.name, chunks, &places)
    }

    /// Builds chunks from rows of chunk, document, start and end. Messages say `name`, and number
    /// the rows from 1.
    ///
    /// # Errors
    /// Rows whose positions are not a span, up to a limit; a repeated chunk with another span.
    pub fn from_rows(
        name: &str,
        rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, i64, i64)>,
    ) -> Result<Self> {
        let rows = rows.into_iter().map(|(id, doc, start, end)| {
            let span = span_of([start.into(), end.into()], &doc)?;
            Ok(DocumentChunk { span, id, doc })
        });
        let chunks = all_rows(name, rows)?;
        let lines: Vec<u64> = (1..).take(chunks.len()).collect();
        distinct(name, chunks, &lines)
    }
}

/// A row of passages: a judged passage with its grade, or a retrieved passage with its score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PassageRow {
    pub query: Vec<u8>,
    pub doc: Vec<u8>,
    pub span: Span,
    /// The grade, or the score; a rank is a score below 0.
    pub value: f64,
}

/// Reads the retrieved passages of a run, and passes each to `take`. A result has a query, a
/// document, a start, an end or a length, and a score or a rank. `given` names columns of query,
/// document, score and rank.
///
/// # Errors
/// As [`GoldSpans::read`], and the messages of `take`.
pub(crate) fn each_result(
    text: &OpenInput,
    given: Option<&ColumnNames>,
    take: &mut dyn FnMut(PassageRow) -> Result<(), String>,
) -> Result<()> {
    each_named_row(text, &span_columns(Role::Run, given), None, &mut |_, row| {
        let [query, doc] = ids(row, "query")?;
        let value = match (row[at::NUMBER].as_deref(), row[at::RANK].as_deref()) {
            (Some(text), _) => number_of(text, "score", score)?,
            (None, Some(rank)) => -number_of(rank, "rank", finite)?,
            (None, None) => return Err("the score is missing".to_owned()),
        };
        take(PassageRow { span: span(row, &doc)?, query, doc, value })
    })
}

/// Builds a judged or retrieved passage from its values in columns in memory.
///
/// # Errors
/// Positions that are not a span; a value that is not a number.
pub(crate) fn passage_of(
    query: &[u8],
    doc: &[u8],
    positions: [i128; 2],
    value: f64,
    role: Role,
) -> Result<PassageRow, String> {
    let span = span_of(positions, doc)?;
    if !is_valid_number(role, value) {
        return Err(invalid_number_message(role, value, [query, doc]));
    }
    Ok(PassageRow { query: query.to_vec(), doc: doc.to_vec(), span, value })
}

/// Collects the passages or chunks built from rows, or else the problems of wrong rows as an error.
fn all_rows<T>(name: &str, rows: impl Iterator<Item = Result<T, String>>) -> Result<Vec<T>> {
    let (mut all, mut problems) = (Vec::new(), Problems::default());
    for (line, row) in (1..).zip(rows) {
        match row {
            Ok(row) => all.push(row),
            Err(message) => problems.add(name, line, || message),
        }
    }
    if all.is_empty() && problems.first.is_empty() {
        problems = whole_file(name, "there is no row in it".to_owned());
    }
    problems.into_result(all)
}

/// Builds [`Chunks`], and rejects a chunk id with several documents or spans; `lines` are the lines
/// of the chunks.
fn distinct(name: &str, chunks: Vec<DocumentChunk>, lines: &[u64]) -> Result<Chunks> {
    // The chunks are gone once they are refused, and a message needs the id.
    let ids: Vec<_> = chunks.iter().map(|chunk| chunk.id.clone()).collect();
    Chunks::new(name, chunks).map_err(|(again, first)| {
        let id = quoted(&ids[again]);
        let message =
            format!("chunk {id} is there again with another span, first on line {}", lines[first]);
        Error::Input(one_line(name, lines[again], message))
    })
}

/// Builds the span of a document from its start and its end, or the message of a fault.
fn span_of([start, end]: [i128; 2], doc: &[u8]) -> Result<Span, String> {
    let (start, end) = (position_of(start, "start")?, position_of(end, "end")?);
    Span::new(start, end).map_err(|wrong| wrong.message(doc))
}

/// Returns an integer as a position in a document, or the message of a fault.
fn position_of(at: i128, what: &str) -> Result<u64, String> {
    u64::try_from(at).map_err(|_| not_a_position(at.to_string().as_bytes(), what))
}

/// Returns the message of a text that is no position in a document.
fn not_a_position(text: &[u8], what: &str) -> String {
    format!("{what} {} is not a position: a whole number from 0 was expected", quoted(text))
}

/// Returns the ids in the first two columns of a row: of a query or chunk, as `first` says, and of
/// a document.
fn ids(row: &FieldValues<'_>, first: &str) -> Result<[Vec<u8>; 2], String> {
    let id = |at: usize, what: &str| match row[at].as_deref() {
        Some(id) if id.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\0')) => {
            Err(format!("the {what} {} has a line break or a zero byte", quoted(id)))
        }
        Some(id) => Ok(id.to_vec()),
        None => Err(format!("the {what} is missing")),
    };
    Ok([id(at::QUERY, first)?, id(at::DOC, "document")?])
}

/// Returns the span in three columns of a row: its start, its end, and its length.
fn span(row: &FieldValues<'_>, doc: &[u8]) -> Result<Span, String> {
    let start = position(row, at::START, "start")?.ok_or("the start is missing")?;
    let end = match (position(row, at::END, "end")?, position(row, at::LENGTH, "length")?) {
        (Some(end), _) => end,
        (None, Some(length)) => start.saturating_add(length),
        (None, None) => return Err("the end is missing".to_owned()),
    };
    span_of([start.into(), end.into()], doc)
}

/// Parses the position in a column of a row, if there is one.
fn position(row: &FieldValues<'_>, at: usize, what: &str) -> Result<Option<u64>, String> {
    let Some(text) = row[at].as_deref() else { return Ok(None) };
    // Rust would also parse a sign.
    let digits = std::str::from_utf8(text).ok().filter(|text| !text.starts_with('+'));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.map(Some).ok_or_else(|| not_a_position(text, what))
}

/// Parses a number, such as a grade or a score, from the text of a row.
fn number_of(text: &[u8], what: &str, parser: fn(&[u8]) -> Option<f64>) -> Result<f64, String> {
    parser(text.trim_ascii()).ok_or_else(|| format!("{what} {} is not a number", quoted(text)))
}
