//! Errors of the library as exceptions of the package, which are classes of `laneval._errors`.

use laneval::Error;
use laneval::error::{MeasureError, Problem, Problems, printable_path};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use crate::text::with_keywords;

/// Makes the exception for an error.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io { path, action, source } => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((
                code,
                format!("cannot {action}: {source}"),
                path.into_os_string(),
            )),
            None => PyOSError::new_err((None::<i32>, message, path.into_os_string())),
        },
        Error::Input(problems) | Error::Repeated(problems) => input(py, problems),
        Error::CameBack { ref file, line, .. } => {
            let problem =
                Problem { file: printable_path(file.as_ref()), line, message: message.clone() };
            of_class(py, "InputError", (message, vec![tuple(problem)], 0))
        }
        Error::Measure(error) => measure(py, &with_keywords(&message), &error),
        Error::Measures(errors) => match errors.first() {
            Some(first) => measure(py, &with_keywords(&message), first),
            None => of_class(py, "MeasureError", (message,)),
        },
        Error::Matrix { .. } => of_class(py, "MatrixError", (message,)),
        Error::Device(_) => of_class(py, "DeviceError", (message,)),
        Error::Merge(_) | Error::Summary(_) => {
            of_class(py, "ShardError", (with_keywords(&message),))
        }
        Error::Stopped => PyKeyboardInterrupt::new_err(message),
        _ => of_class(py, "UnanswerableError", (with_keywords(&message),)),
    }
}

/// Makes the exception for problems of an input.
pub fn input(py: Python<'_>, problems: Problems) -> PyErr {
    let message = problems.to_string();
    let first: Vec<_> = problems.first.into_iter().map(tuple).collect();
    of_class(py, "InputError", (message, first, problems.more))
}

/// Makes the exception for one problem of an input, in its row (from 1), or as a whole.
pub fn problem(py: Python<'_>, of: &str, row: u64, message: impl Into<String>) -> PyErr {
    let problem = Problem { file: of.to_owned(), line: row, message: message.into() };
    input(py, Problems { first: vec![problem], more: 0 })
}

/// Makes the exception for a well-formed question that cannot be answered.
pub fn unanswerable(py: Python<'_>, message: impl Into<String>) -> PyErr {
    of_class(py, "UnanswerableError", (message.into(),))
}

/// Makes the exception for an option with a wrong value.
pub fn option(py: Python<'_>, message: impl Into<String>) -> PyErr {
    of_class(py, "OptionError", (with_keywords(&message.into()),))
}

/// Makes the exception for a text that is not a value of an option.
pub fn option_of(py: Python<'_>, error: Error) -> PyErr {
    option(py, error.to_string())
}

fn measure(py: Python<'_>, message: &str, error: &MeasureError) -> PyErr {
    let span = (error.span.start, error.span.end);
    of_class(py, "MeasureError", (message, error.text.clone(), span, error.suggestions.clone()))
}

/// A problem as an argument of the exception.
fn tuple(problem: Problem) -> (String, u64, String) {
    (problem.file, problem.line, problem.message)
}

/// Makes an exception of a class of `laneval._errors`; if that fails, the exception of Python.
pub fn of_class<'py>(
    py: Python<'py>,
    class: &str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made =
        module(py).and_then(|module| module.getattr(class)).and_then(|class| class.call1(args));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Warns, where the package was called.
pub fn warn(py: Python<'_>, message: String) -> PyResult<()> {
    module(py)?.call_method1("warn_caller", (message,)).map(drop)
}

/// `laneval._errors`.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("laneval._errors").map(Bound::unbind));
    module.map(|module| module.bind(py))
}
