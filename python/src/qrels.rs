//! Judgments, read once and used for many runs.

use std::path::PathBuf;
use std::sync::Arc;

use laneval::columns::JudgmentsByFacet;
use laneval::tables::TableReader;
use laneval::text::{OptionStyle, Recognised, RecognisedText};
use laneval::{Dialect, Join, JudgedBy, ReadAs, Watch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{NamedColumns, RowsRole};
use crate::errors::{exception, option, option_of};
use crate::rows::OwnedRows;
use crate::source::PySource;
use crate::stored;
use crate::text;
use crate::units::PyUnits;
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
    pub recognised: Vec<RecognisedText>,
}

impl Qrels {
    /// Judgments that were not read.
    pub fn made(qrels: laneval::Qrels, rows: usize) -> Self {
        Qrels { qrels: Arc::new(qrels), rows, dialect: Dialect::Laneval, recognised: Vec::new() }
    }
}

#[pymethods]
impl Qrels {
    #[new]
    #[pyo3(
        signature = (
            source, name, dialect, columns, format=None, groups=None, judgments_by=None, units=None
        )
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        name: &str,
        dialect: &str,
        columns: NamedColumns,
        format: Option<&str>,
        groups: Option<PathBuf>,
        judgments_by: Option<&str>,
        units: Option<PyRef<'_, PyUnits>>,
    ) -> PyResult<Self> {
        let qrels_units = units.map(|units| units.units.clone()).unwrap_or_default();
        let columns = columns.of_units(&qrels_units);
        let dialect = dialect_of(py, dialect)?;
        let judged_by =
            judgments_by.map(str::parse).transpose().map_err(|error| option_of(py, error))?;
        let qrels_as = ReadAs {
            columns: RowsRole::Qrels.names(py, &columns)?,
            query_lengths: groups,
            ..read_as(py, format)?
        };
        let facets = judged_by
            .filter(|&by| by != JudgedBy::Span)
            .map(|by| JudgmentsByFacet::new(by, dialect));
        let facets = facets.transpose().map_err(|error| exception(py, error))?;
        let source = PySource::of_judgments(source, name, judged_by, &columns, facets)?;
        if qrels_as.format.is_some() && !matches!(source, PySource::Text(_)) {
            return Err(option(
                py,
                "qrels_format changes nothing for judgments in memory: leave it out",
            ));
        }
        let (rows, bare) = (source.len(), source.bare_queries());
        let workers = Workers { little: rows < LITTLE, ..Workers::default() };
        let watch = Arc::new(Watch::default());
        let (tables, watching, recognised) =
            (tables(), Some(watch.clone()), Arc::new(Recognised::default()));
        let join = Join {
            dialect,
            qrels_as,
            judged_by,
            qrels_units,
            watch: watching,
            tables,
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
        recognised.note_bare_queries(name, bare, qrels.queries());
        Ok(Qrels { qrels: Arc::new(qrels), rows, dialect, recognised: recognised.all() })
    }

    /// What is probably wrong with the text that they were read from, and what was done with it, in
    /// words.
    fn notes(&self) -> Vec<String> {
        noted(self.recognised.iter().cloned())
    }

    /// Makes judgments of the bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let (qrels, dialect) = stored::from_bytes(py, bytes)?;
        Ok(Qrels { qrels: Arc::new(qrels), rows: bytes.len(), dialect, recognised: Vec::new() })
    }

    /// The judgments as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if self.qrels.take_scores() {
            let message = "judgments of LETOR, whose runs are scores alone, cannot be stored: read \
                           the file again";
            return Err(PyTypeError::new_err(message));
        }
        Ok(PyBytes::new(py, &py.detach(|| stored::to_bytes(&self.qrels, self.dialect))))
    }

    /// The judged queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.qrels.queries().iter().map(|id| text::of_bytes(py, id)).collect()
    }

    /// The number of judged queries.
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

/// The way to read files of this format, or of a format that is recognised.
pub fn read_as(py: Python<'_>, format: Option<&str>) -> PyResult<ReadAs> {
    let format = format.map(str::parse).transpose().map_err(|error| option_of(py, error))?;
    Ok(ReadAs { format, options: OptionStyle::Python, ..ReadAs::default() })
}

/// The reader of files of tables.
pub fn tables() -> Option<&'static dyn TableReader> {
    #[cfg(feature = "parquet")]
    return Some(&laneval_formats::Files);
    #[cfg(not(feature = "parquet"))]
    None
}

/// Finds a dialect by its name.
pub fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    let known = stored::DIALECTS.iter().find(|of| of.0 == name);
    let names = stored::DIALECTS.map(|of| of.0);
    known
        .map(|of| of.1)
        .ok_or_else(|| option_of(py, laneval::Error::option(name, "a dialect", &names)))
}

/// What is probably wrong with texts, and what was done with them, in words.
pub fn noted(texts: impl Iterator<Item = RecognisedText>) -> Vec<String> {
    texts
        .filter(|text| text.wrong || text.note)
        .map(|text| format!("{}: {}", text.name, text.what))
        .collect()
}
