//! The definition of a number: what was found of it.

use laneval::identify;
use laneval::report::{Format, ReportOptions};
use pyo3::prelude::*;

use crate::errors::exception;

/// What was found of a number.
#[pyclass(frozen, module = "laneval._native")]
pub struct Identified {
    pub found: identify::Identified,
}

#[pymethods]
impl Identified {
    /// Writes a report, as the command does.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        let format: Format = format.parse().map_err(|error| exception(py, error))?;
        let mut written = Vec::new();
        format.write_identified(&self.found, &ReportOptions::default(), &mut written)?;
        Ok(written)
    }
}
