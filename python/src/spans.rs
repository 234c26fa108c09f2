//! Judgments of chunks for Python, made of gold passages by their positions.

use std::path::PathBuf;

use laneval::FacetKind;
use laneval::spans::{ChunkRule, Chunks, GoldSpans};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::OrRaise;
use crate::qrels::Qrels;

/// Gold passages from Python: a file, or rows of query, document, start, end and grade.
#[derive(FromPyObject)]
pub enum GoldSource {
    File(PathBuf),
    Rows(Vec<(PyBackedBytes, PyBackedBytes, i64, i64, f64)>),
}

/// Chunks of documents from Python: a file, or rows of chunk, document, start and end.
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
    min_overlap: f64,
    by_span: bool,
) -> PyResult<(Qrels, String)> {
    py.detach(|| join_spans(gold, chunks, min_overlap, by_span)).or_raise(py)
}

fn join_spans(
    gold: GoldSource,
    chunks: ChunkSource,
    min_overlap: f64,
    by_span: bool,
) -> laneval::Result<(Qrels, String)> {
    let gold = match gold {
        GoldSource::File(path) => GoldSpans::read(path, None)?,
        GoldSource::Rows(rows) => {
            let rows = rows.iter().map(|(query, doc, start, end, grade)| {
                (query.to_vec(), doc.to_vec(), *start, *end, *grade)
            });
            GoldSpans::from_rows("gold", rows)?
        }
    };
    let chunks = match chunks {
        ChunkSource::File(path) => Chunks::read(path)?,
        ChunkSource::Rows(rows) => {
            let rows =
                rows.iter().map(|(id, doc, start, end)| (id.to_vec(), doc.to_vec(), *start, *end));
            Chunks::from_rows("chunks", rows)?
        }
    };
    let rule = ChunkRule::new(min_overlap)?.by_span(by_span);
    let judgments = gold.chunk_judgments(&chunks, rule)?;
    let rows = judgments.rows.len();
    let qrels = if by_span {
        let all = judgments
            .rows
            .iter()
            .map(|row| (row.query, row.span.unwrap_or_default().to_string(), row.chunk, row.grade));
        laneval::Qrels::by_facet(all, FacetKind::Subtopic)?
    } else {
        laneval::Qrels::new(judgments.rows.iter().map(|row| (row.query, row.chunk, row.grade)))?
    };
    Ok((Qrels::from_parts(qrels, rows), judgments.note))
}
