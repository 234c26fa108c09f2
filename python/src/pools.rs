//! Pools: what each run brought to the judgments, and what it loses without.

use laneval::pools;
use laneval::report::{Format, ReportOptions};
use pyo3::prelude::*;

use crate::errors::exception;

/// Pools of runs.
#[pyclass(frozen, module = "laneval._native")]
pub struct Pools {
    pub pools: pools::Pools,
}

#[pymethods]
impl Pools {
    /// Writes a report, as the command does.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        let format: Format = format.parse().map_err(|error| exception(py, error))?;
        let mut written = Vec::new();
        format.write_pools(&self.pools, &ReportOptions::default(), &mut written)?;
        Ok(written)
    }
}
