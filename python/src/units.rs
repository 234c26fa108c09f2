//! The units of results or judgments: a rule, or a mapping of ids.

use std::sync::Arc;

use laneval::{UnitMap, Units};
use pyo3::prelude::*;

use crate::errors::{exception, option_of};

/// The units that results or judgments are of.
#[pyclass(frozen, name = "Units", module = "laneval._native")]
pub struct PyUnits {
    pub units: Units,
}

#[pymethods]
impl PyUnits {
    /// Makes the units of a rule, such as `before:#`, of which a map is read.
    #[staticmethod]
    fn rule(py: Python<'_>, rule: &str) -> PyResult<Self> {
        let wrong =
            |error| if Units::is_rule(rule) { exception(py, error) } else { option_of(py, error) };
        Ok(PyUnits { units: py.detach(|| rule.parse()).map_err(wrong)? })
    }

    /// Makes the units of a mapping.
    #[staticmethod]
    fn mapping(py: Python<'_>, ids: Vec<(String, String)>) -> PyResult<Self> {
        let map = py.detach(|| UnitMap::of(ids)).map_err(|error| exception(py, error))?;
        Ok(PyUnits { units: Units::Map(Arc::new(map)) })
    }
}
