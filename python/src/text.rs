//! Text for users of Python: ids as `str`, objects as messages show them, and reports.

use std::io;

use laneval::report::{Format, ReportOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::OrRaise;

/// Returns an id as a Python `str`; bytes that are not UTF-8 become lone surrogates, as in the
/// names of files.
pub fn id_to_py(py: Python<'_>, id: &[u8]) -> PyResult<Py<PyAny>> {
    match std::str::from_utf8(id) {
        Ok(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Err(_) => {
            Ok(PyBytes::new(py, id).call_method1("decode", ("utf-8", "surrogateescape"))?.unbind())
        }
    }
}

/// Returns a Python object as text for messages, shortened if it is long.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    let text =
        object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned());
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the bytes of a report that `write` writes, in the format of this name.
pub fn written(
    py: Python<'_>,
    format: &str,
    write: impl FnOnce(Format, &ReportOptions, &mut Vec<u8>) -> io::Result<()>,
) -> PyResult<Vec<u8>> {
    let format: Format = format.parse().or_raise(py)?;
    let mut written = Vec::new();
    write(format, &ReportOptions::default(), &mut written)?;
    Ok(written)
}
