//! The definitions (measure and settings) that were found for a reported number, for Python.

use laneval::identify;
use pyo3::prelude::*;

use crate::text::written;

/// The definitions that were found for a number.
#[pyclass(frozen, module = "laneval._native")]
pub struct Identification {
    pub found: identify::Identification,
}

#[pymethods]
impl Identification {
    /// Writes a report, as the command does.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        written(py, format, |format, options, to| format.write_identified(&self.found, options, to))
    }
}
