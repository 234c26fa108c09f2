//! Rules and maps from the ids of chunks to the documents that the chunks count for, for Python.

use std::sync::Arc;

use laneval::{DocIdMap, DocIdRule};
use pyo3::prelude::*;

use crate::errors::OrRaise;

/// The documents that results or judgments are of.
#[pyclass(frozen, name = "DocIds", module = "laneval._native")]
pub struct PyDocIds {
    pub rule: DocIdRule,
}

#[pymethods]
impl PyDocIds {
    /// Makes the documents of a rule, such as `before:#`, of which a map is read.
    #[staticmethod]
    fn rule(py: Python<'_>, rule: &str) -> PyResult<Self> {
        let parsed = py.detach(|| rule.parse());
        // A well-formed rule may name a map that cannot be read, which is no fault of the option.
        let parsed =
            if DocIdRule::is_rule(rule) { parsed.or_raise(py) } else { parsed.or_option_error(py) };
        Ok(Self { rule: parsed? })
    }

    /// Makes the documents of a mapping.
    #[staticmethod]
    fn mapping(py: Python<'_>, ids: Vec<(String, String)>) -> PyResult<Self> {
        let map = py.detach(|| DocIdMap::from_pairs(ids)).or_raise(py)?;
        Ok(Self { rule: DocIdRule::Map(Arc::new(map)) })
    }
}
