//! Summaries of evaluations for Python, which can be merged, such as those of shards.

use std::path::PathBuf;

use laneval::{Error, Stat};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{OrRaise, value_error};
use crate::qrels::Qrels;
use crate::scores::Scores;

/// The summary of an evaluation, to be merged with others.
#[pyclass(frozen, module = "laneval._native")]
pub struct Summary {
    pub summary: laneval::Summary,
}

#[pymethods]
impl Summary {
    /// Makes a summary of these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        summary_or_exception(py, py.detach(|| laneval::Summary::from_bytes(bytes)))
    }

    /// Reads a summary from a file, of bytes or of JSON.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        summary_or_exception(py, py.detach(|| laneval::Summary::read(&path)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.summary.to_bytes()))
    }

    fn to_json(&self) -> String {
        self.summary.to_json()
    }

    /// Merges summaries.
    #[staticmethod]
    fn merge(py: Python<'_>, parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some((first, rest)) = parts.split_first() else {
            return Err(value_error("there are no summaries to merge"));
        };
        let (mut summary, rest) = (first.summary.clone(), rest.iter().map(|part| &part.summary));
        for other in rest.collect::<Vec<_>>() {
            py.detach(|| summary.merge(other)).or_raise(py)?;
        }
        Ok(Self { summary })
    }

    /// Adds the judged queries that no part had.
    fn with_missing(&self, py: Python<'_>, qrels: &Qrels) -> PyResult<Self> {
        let mut summary = self.summary.clone();
        py.detach(|| summary.add_missing(&qrels.qrels)).or_raise(py)?;
        Ok(Self { summary })
    }

    /// Returns the scores, with some statistics besides the averages.
    fn scores(&self, py: Python<'_>, stats: Vec<String>) -> PyResult<Scores> {
        let stats: Result<Vec<Stat>, Error> = stats.iter().map(|stat| stat.parse()).collect();
        let scores = stats.and_then(|stats| self.summary.scores(&stats));
        scores.map(Scores::from).or_raise(py)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.summary == other.summary
    }
}

fn summary_or_exception(
    py: Python<'_>,
    done: Result<laneval::Summary, Error>,
) -> PyResult<Summary> {
    done.map(|summary| Summary { summary }).or_raise(py)
}
