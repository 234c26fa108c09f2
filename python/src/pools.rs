//! Pools for Python: the documents that each run brought to the judgments, and its loss without
//! these.

use laneval::pools;
use pyo3::prelude::*;

use crate::text::written;

/// Pools of runs.
#[pyclass(frozen, module = "laneval._native")]
pub struct Pools {
    pub pools: pools::Pools,
}

#[pymethods]
impl Pools {
    /// Writes a report, as the command does.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        written(py, format, |format, options, to| format.write_pools(&self.pools, options, to))
    }
}
