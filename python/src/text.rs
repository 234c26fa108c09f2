//! Text for users of Python: ids as `str`, and messages that name keywords.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// An id as text; bytes that are not UTF-8 become lone surrogates, as in the names of files.
pub fn of_bytes(py: Python<'_>, id: &[u8]) -> PyResult<Py<PyAny>> {
    match std::str::from_utf8(id) {
        Ok(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Err(_) => {
            Ok(PyBytes::new(py, id).call_method1("decode", ("utf-8", "surrogateescape"))?.unbind())
        }
    }
}

/// A message of the library in which options of the command are replaced by keywords.
pub fn with_keywords(message: &str) -> String {
    const KEYWORDS: [(&str, &str); 12] = [
        (" --score f32", " score=\"f32\""),
        (" --score", " score="),
        (" --ties ", " ties="),
        (" --queries", " queries="),
        (" --known ", " known="),
        (" --judged-only", " judged_only=True"),
        (" --rel or rel=", " rel="),
        (" --family all", " family=\"all\""),
        ("--queries both", "queries=\"both\""),
        (" --permutations auto", " permutations=\"auto\""),
        (" --permutations ", " permutations="),
        ("`--test randomisation`", "`test=\"randomisation\"`"),
    ];
    KEYWORDS
        .iter()
        .fold(message.to_owned(), |text, (option, keyword)| text.replace(option, keyword))
}
