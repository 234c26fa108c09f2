//! Judgments of chunks, made of passages by their positions.

use std::path::PathBuf;

use laneval::JudgedBy;
use laneval::spans::{ChunkRule, Chunks, GoldSpans};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::exception;
use crate::qrels::Qrels;

/// Passages: a file, or rows of query, document, start, end and grade.
#[derive(FromPyObject)]
pub enum GoldSource {
    File(PathBuf),
    Rows(Vec<(PyBackedBytes, PyBackedBytes, i64, i64, f64)>),
}

/// Chunks: a file, or rows of chunk, document, start and end.
#[derive(FromPyObject)]
pub enum ChunkSource {
    File(PathBuf),
    Rows(Vec<(PyBackedBytes, PyBackedBytes, i64, i64)>),
}

/// Makes judgments of chunks, and says of what.
#[pyfunction]
pub fn chunk_qrels(
    py: Python<'_>,
    gold: GoldSource,
    chunks: ChunkSource,
    share: f64,
    by_span: bool,
) -> PyResult<(Qrels, String)> {
    py.detach(|| made(gold, chunks, share, by_span)).map_err(|error| exception(py, error))
}

fn made(
    gold: GoldSource,
    chunks: ChunkSource,
    share: f64,
    by_span: bool,
) -> laneval::Result<(Qrels, String)> {
    let gold = match gold {
        GoldSource::File(path) => GoldSpans::read(path, None)?,
        GoldSource::Rows(rows) => {
            let rows = rows.iter().map(|(query, doc, start, end, grade)| {
                (query.to_vec(), doc.to_vec(), *start, *end, *grade)
            });
            GoldSpans::of_rows("gold", rows)?
        }
    };
    let chunks = match chunks {
        ChunkSource::File(path) => Chunks::read(path)?,
        ChunkSource::Rows(rows) => {
            let rows =
                rows.iter().map(|(id, doc, start, end)| (id.to_vec(), doc.to_vec(), *start, *end));
            Chunks::of_rows("chunks", rows)?
        }
    };
    let made = gold.chunk_judgments(&chunks, ChunkRule::new(share)?.by_span(by_span))?;
    let rows = made.rows.len();
    let qrels = if by_span {
        let facet =
            |row: &laneval::spans::ChunkJudgment<'_>| row.span.unwrap_or_default().to_string();
        let all = made.rows.iter().map(|row| (row.query, facet(row), row.chunk, row.grade));
        laneval::Qrels::by_facet(all, JudgedBy::Subtopic)?
    } else {
        laneval::Qrels::new(made.rows.iter().map(|row| (row.query, row.chunk, row.grade)))?
    };
    Ok((Qrels::made(qrels, rows), made.note))
}
