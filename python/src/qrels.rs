//! Judgments for Python, read once and used for many runs.

use std::path::PathBuf;
use std::sync::Arc;

use laneval::columns::FacetQrelsBuilder;
use laneval::tables::TableReader;
use laneval::text::{DetectedFile, DetectedFormats, OptionStyle, UNGRADED};
use laneval::{Dialect, FacetKind, Join, ProgressHandle, ReadOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{ColumnNaming, RowSpec, RowsRole};
use crate::doc_ids::PyDocIds;
use crate::errors::{OrRaise, option, type_error, with_keywords};
use crate::rows::OwnedRows;
use crate::source::PySource;
use crate::stored;
use crate::text;
use crate::work::{Workers, work};

/// The number of rows up to which joining is little work.
pub const LITTLE: usize = 1 << 14;

/// Judgments.
#[pyclass(frozen, module = "laneval._native")]
pub struct Qrels {
    pub qrels: Arc<laneval::Qrels>,
    /// The number of judgments, if it is known.
    pub rows: usize,
    /// The dialect in which they were read.
    dialect: Dialect,
    /// The texts that they were read from, and what was done with these.
    pub recognised: Vec<DetectedFile>,
}

impl Qrels {
    /// Makes judgments for Python that were not read from a file or a Python object.
    pub fn from_parts(qrels: laneval::Qrels, rows: usize) -> Self {
        Self { qrels: Arc::new(qrels), rows, dialect: Dialect::Laneval, recognised: Vec::new() }
    }
}

#[pymethods]
impl Qrels {
    #[new]
    #[pyo3(
        signature = (
            source, name, dialect, columns, qrels_format=None, letor_groups=None, facet=None,
            qrels_doc_id=None, grade_words=None
        )
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        name: &str,
        dialect: &str,
        columns: ColumnNaming,
        qrels_format: Option<&str>,
        letor_groups: Option<PathBuf>,
        facet: Option<&str>,
        qrels_doc_id: Option<PyRef<'_, PyDocIds>>,
        grade_words: Option<&str>,
    ) -> PyResult<Self> {
        let qrels_units = qrels_doc_id.map(|ids| ids.rule.clone()).unwrap_or_default();
        let columns = columns.with_doc_id_column(&qrels_units);
        let dialect = dialect_of(py, dialect)?;
        let judged_by = facet.map(str::parse).transpose().or_option_error(py)?;
        let qrels_as = ReadOptions {
            columns: RowsRole::Qrels.names(py, &columns)?,
            query_lengths: letor_groups,
            grades: grade_words
                .map(str::parse)
                .transpose()
                .map_err(|wrong: String| option(py, format!("grade_words: {wrong}")))?,
            ..read_as(py, qrels_format)?
        };
        let facets = judged_by
            .filter(|&by| by != FacetKind::Span)
            .map(|by| FacetQrelsBuilder::new(by, dialect));
        let facets = facets.transpose().or_raise(py)?;
        let spec = RowSpec { name, role: RowsRole::Qrels, by: judged_by, columns: &columns };
        let source = PySource::from_py(source, spec, facets)?;
        reject_of_files(py, &qrels_as, &source)?;
        let (rows, bare) = (source.len(), source.bare_queries());
        let workers = Workers { little: rows < LITTLE, ..Workers::default() };
        let watch = Arc::<ProgressHandle>::default();
        let recognised = recognised(name, &source);
        let join = Join {
            dialect,
            qrels_as,
            judged_by,
            qrels_units,
            watch: Some(watch.clone()),
            tables: tables(),
            recognised: Some(recognised.clone()),
            ..Join::default()
        };
        let qrels = work(py, workers, &watch, || match source {
            PySource::Text(input) => join.qrels(input),
            PySource::Rows(OwnedRows { facets: Some(facets), .. }) => {
                join.judgments_by_facet(facets)
            }
            columns => columns
                .with_judgments(|batches| join.judgments(batches))
                .unwrap_or_else(|| unreachable!("it is no text")),
        })?;
        let qrels = qrels.with_empty_lists(bare.clone());
        recognised.note_bare_queries(name, bare, |id| qrels.has_documents(id));
        Ok(Self { qrels: Arc::new(qrels), rows, dialect, recognised: recognised.all() })
    }

    /// Returns notes about what is probably wrong with the text of the judgments, and what was done
    /// with it.
    fn notes(&self) -> Vec<String> {
        noted(self.recognised.iter().cloned())
    }

    /// Makes judgments of the bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let (qrels, dialect) = stored::from_bytes(py, bytes)?;
        Ok(Self { dialect, ..Self::from_parts(qrels, bytes.len()) })
    }

    /// Returns the judgments as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if self.qrels.is_aligned() {
            let message = "judgments of LETOR, whose runs are scores alone, cannot be stored: read \
                           the file again";
            return Err(type_error(message));
        }
        Ok(PyBytes::new(py, &py.detach(|| stored::to_bytes(&self.qrels, self.dialect))))
    }

    /// Returns the judged queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.qrels.queries().iter().map(|id| text::id_to_py(py, id)).collect()
    }

    /// Returns the number of judged queries.
    fn __len__(&self) -> usize {
        self.qrels.queries().len()
    }

    fn fingerprint(&self) -> String {
        format!("{:032x}", self.qrels.fingerprint())
    }

    fn grades(&self) -> Vec<f64> {
        self.qrels.grades()
    }
}

/// Returns the record of what is recognised of the judgments `name`, with a note if those in memory
/// have no grades.
fn recognised(name: &str, source: &PySource) -> Arc<DetectedFormats> {
    let recognised = Arc::<DetectedFormats>::default();
    if source.is_ungraded() {
        recognised.note(name, UNGRADED.to_owned());
    }
    recognised
}

/// Rejects options for reading files where judgments are in memory.
fn reject_of_files(py: Python<'_>, read_as: &ReadOptions, source: &PySource) -> PyResult<()> {
    let of_files =
        [("qrels_format", read_as.format.is_some()), ("grade_words", read_as.grades.is_some())];
    match of_files.into_iter().find(|(_, given)| *given) {
        Some((word, _)) if !matches!(source, PySource::Text(_)) => {
            let message = format!("{word} changes nothing for judgments in memory: leave it out");
            Err(option(py, message))
        }
        _ => Ok(()),
    }
}

/// Returns the options for reading files in the format of this name; without a name, the format is
/// recognised.
pub fn read_as(py: Python<'_>, format: Option<&str>) -> PyResult<ReadOptions> {
    let format = format.map(str::parse).transpose().or_option_error(py)?;
    Ok(ReadOptions { format, options: OptionStyle::Python, ..ReadOptions::default() })
}

/// Returns the reader of Parquet and Arrow files, if the package was built with one.
pub fn tables() -> Option<&'static dyn TableReader> {
    #[cfg(feature = "parquet")]
    return Some(&laneval_formats::Files);
    #[cfg(not(feature = "parquet"))]
    None
}

/// Finds a dialect, the rules by which lines of text are read, by its name.
pub fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    let known = stored::DIALECTS.iter().find(|entry| entry.0 == name);
    let names = stored::DIALECTS.map(|entry| entry.0);
    known
        .map(|entry| entry.1)
        .ok_or_else(|| laneval::Error::option(name, "a dialect", &names))
        .or_option_error(py)
}

/// Returns notes about probable faults of the texts that were read, and what was done with these.
pub fn noted(texts: impl Iterator<Item = DetectedFile>) -> Vec<String> {
    texts
        .filter(|text| text.wrong || text.note || text.what.ends_with(UNGRADED))
        .map(|text| format!("{}: {}", text.name, with_keywords(&text.what)))
        .collect()
}
