//! Judgments, read once and used for many runs.

use std::sync::Arc;

use laneval::{Dialect, Join, Watch};
use pyo3::prelude::*;

use crate::rows::Role;
use crate::source::{ColumnNames, Source};
use crate::text;
use crate::work::{Workers, work};

/// So many rows are little work.
pub const LITTLE: usize = 1 << 14;

/// Judgments.
#[pyclass(frozen, module = "laneval._native")]
pub struct Qrels {
    pub qrels: Arc<laneval::Qrels>,
    /// How many judgments there are, where that is known.
    pub rows: usize,
}

#[pymethods]
impl Qrels {
    #[new]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        name: &str,
        dialect: &str,
        columns: ColumnNames,
    ) -> PyResult<Self> {
        let dialect = dialect_of(py, dialect)?;
        let source = Source::of(source, name, Role::Qrels, &columns)?;
        let rows = source.len();
        let workers = Workers { little: rows < LITTLE, ..Workers::default() };
        let watch = Arc::new(Watch::default());
        let join = Join { dialect, watch: Some(watch.clone()), ..Join::default() };
        let qrels = work(py, workers, &watch, || match &source {
            Source::Text(input) => join.qrels(input.clone()),
            columns => columns
                .with_judgments(|batches| join.judgments(batches))
                .unwrap_or_else(|| unreachable!("it is no text")),
        })?;
        Ok(Qrels { qrels: Arc::new(qrels), rows })
    }

    /// The judged queries, in bytewise order.
    fn queries(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.qrels.queries().iter().map(|id| text::of_bytes(py, id)).collect()
    }

    /// How many queries are judged.
    fn __len__(&self) -> usize {
        self.qrels.queries().len()
    }

    fn fingerprint(&self) -> String {
        format!("{:032x}", self.qrels.fingerprint())
    }

    fn grades(&self) -> Vec<f64> {
        self.qrels.book().grades().to_vec()
    }
}

/// A dialect by its name.
pub fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    match name {
        "laneval" => Ok(Dialect::Laneval),
        "trec9" => Ok(Dialect::Trec9),
        "trec10" => Ok(Dialect::Trec10),
        other => Err(crate::errors::unanswerable(
            py,
            format!("`{other}` is not a dialect: laneval, trec9 or trec10 was expected"),
        )),
    }
}
