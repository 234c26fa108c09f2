//! Bytes of ids as `str`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// An id as text; bytes that are no UTF-8 become lone surrogates, as in the names of files.
pub fn of_bytes(py: Python<'_>, id: &[u8]) -> PyResult<Py<PyAny>> {
    match std::str::from_utf8(id) {
        Ok(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Err(_) => Ok(PyBytes::new(py, id).call_method1("decode", ("utf-8", "surrogateescape"))?.unbind()),
    }
}
