//! The check of a user's Python function: its answers to the cases of the conformance suite.

use laneval::conformance::{Case, CaseAnswer, Suite, check as check_with};
use laneval::{Error, Result};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, exception};

/// Calls a function for each case, and returns the sentences of the check with its JSON.
#[pyfunction]
pub fn run_check(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    measure: &str,
    suite: &str,
    library: Option<&str>,
) -> PyResult<(String, String)> {
    // What is no answer of the function, such as a keyboard interrupt, ends the check and is raised
    // as it is.
    let mut raised = None;
    let suite = Suite::named(suite).or_raise(py)?;
    let checked = check_with(&suite, measure, library, |case| {
        answer(py, function, case).map_err(|error| {
            raised = Some(error);
            Error::Stopped
        })
    });
    match (checked, raised) {
        (Ok(checked), _) => Ok((checked.to_string(), checked.to_json())),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(exception(py, error)),
    }
}

/// Calls the user's Python function for one case, and returns its answer; an exception is a
/// refusal.
fn answer(py: Python<'_>, function: &Bound<'_, PyAny>, case: &Case) -> Result<CaseAnswer, PyErr> {
    let (judged, found) = (PyDict::new(py), PyDict::new(py));
    for (document, grade) in &case.qrels {
        judged.set_item(document, grade)?;
    }
    for (document, score) in &case.run {
        found.set_item(document, score.parse::<f64>()?)?;
    }
    let (qrels, run) = (PyDict::new(py), PyDict::new(py));
    qrels.set_item(&case.id, judged)?;
    run.set_item(&case.id, found)?;
    match function.call1((qrels, run, case.k)) {
        Ok(value) if value.is_none() => Ok(CaseAnswer::NoValue),
        Ok(value) => match value.extract::<f64>() {
            Ok(value) => Ok(CaseAnswer::from_value(value)),
            Err(_) => {
                let kind = value.get_type().name()?;
                Ok(CaseAnswer::Refused(format!("returned {kind}, where a number was expected")))
            }
        },
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(CaseAnswer::Refused(format!(
            "raised {}",
            error.to_string().lines().next().unwrap_or_default()
        ))),
        Err(error) => Err(error),
    }
}
