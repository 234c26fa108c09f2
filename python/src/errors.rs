//! Exceptions and warnings of the Python package (`laneval._errors`), for errors of the Rust
//! library and of its own, with Python's keywords in messages.

use std::fmt::Display;

use arrow_schema::ArrowError;
use laneval::Error;
use laneval::error::{MeasureError, Problem, Problems, printable_path};
use laneval::options::{OPTIONS, OptionRow, Value};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// Makes the Python exception for an error of the Rust library.
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
        Error::Input(mut problems) | Error::Duplicate(mut problems) => {
            for problem in &mut problems.first {
                problem.message = with_keywords(&problem.message);
            }
            input(py, problems)
        }
        Error::QueryNotContiguous { ref file, line, .. } => {
            let problem =
                Problem { file: printable_path(file.as_ref()), line, message: message.clone() };
            new_exception(py, "InputError", (message, vec![tuple(problem)], 0))
        }
        Error::Measure(error) => measure(py, &with_keywords(&message), &error),
        Error::Measures(errors) => match errors.first() {
            Some(first) => measure(py, &with_keywords(&message), first),
            None => new_exception(py, "MeasureError", (message,)),
        },
        Error::Matrix { .. } => new_exception(py, "MatrixError", (message,)),
        Error::Device(_) => new_exception(py, "DeviceError", (message,)),
        Error::Merge(_) | Error::Summary(_) => {
            new_exception(py, "ShardError", (with_keywords(&message),))
        }
        // Only handlers of signals stop a job, so the error becomes the exception of Ctrl-C.
        Error::Stopped => PyKeyboardInterrupt::new_err(message),
        _ => new_exception(py, "UnanswerableError", (with_keywords(&message),)),
    }
}

/// A conversion from results of the Rust library to results of Python, with exceptions for errors.
pub trait OrRaise<T> {
    /// Returns the value of a result, or the Python exception for its error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;

    /// Returns the value of a result, or the Python exception `OptionError` for its error.
    fn or_option_error(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for laneval::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, error))
    }

    fn or_option_error(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| option(py, error.to_string()))
    }
}

/// Makes a Python `TypeError` with this message.
pub fn type_error(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// Makes a Python `ValueError` with this message.
pub fn value_error(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// Makes the Python `ValueError` for an error of Arrow.
pub fn arrow_error(error: ArrowError) -> PyErr {
    value_error(error.to_string())
}

/// Makes the Python `TypeError` for an object at `place` that is not of the expected type.
pub fn wrong_type(place: impl Display, object: &Bound<'_, PyAny>, expected: impl Display) -> PyErr {
    type_error(format!("{place} is of {}: {expected} was expected", object.get_type()))
}

/// Makes the Python exception `InputError` for problems in judgments or a run.
pub fn input(py: Python<'_>, problems: Problems) -> PyErr {
    let message = problems.to_string();
    let first: Vec<_> = problems.first.into_iter().map(tuple).collect();
    new_exception(py, "InputError", (message, first, problems.more))
}

/// Makes the Python exception `InputError` for one problem of an input, in a row (from 1) or as a
/// whole.
pub fn problem(py: Python<'_>, file: &str, row: u64, message: impl Into<String>) -> PyErr {
    let problem = Problem { file: file.to_owned(), line: row, message: message.into() };
    input(py, Problems { first: vec![problem], more: 0 })
}

/// Makes the Python exception `UnanswerableError` for a well-formed question that cannot be
/// answered.
pub fn unanswerable(py: Python<'_>, message: impl Into<String>) -> PyErr {
    new_exception(py, "UnanswerableError", (message.into(),))
}

/// Makes the Python exception `OptionError` for an option with a wrong value.
pub fn option(py: Python<'_>, message: impl Into<String>) -> PyErr {
    new_exception(py, "OptionError", (with_keywords(&message.into()),))
}

fn measure(py: Python<'_>, message: &str, error: &MeasureError) -> PyErr {
    let span = (error.span.start, error.span.end);
    new_exception(
        py,
        "MeasureError",
        (message, error.text.clone(), span, error.suggestions.clone()),
    )
}

/// Returns a problem of an input as a tuple for a Python exception: file, row and message.
fn tuple(problem: Problem) -> (String, u64, String) {
    (problem.file, problem.line, problem.message)
}

/// Makes an exception of a class of `laneval._errors`; if that fails, returns Python's own
/// exception.
pub fn new_exception<'py>(
    py: Python<'py>,
    class: &str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let instance =
        module(py).and_then(|module| module.getattr(class)).and_then(|class| class.call1(args));
    instance.map_or_else(|error| error, PyErr::from_value)
}

/// Issues a Python warning at the place where the user called the package.
pub fn warn(py: Python<'_>, message: String) -> PyResult<()> {
    module(py)?.call_method1("warn_caller", (message,)).map(drop)
}

/// Returns the Python module `laneval._errors`, which has the exception classes.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("laneval._errors").map(Bound::unbind));
    module.map(|module| module.bind(py))
}

/// Parts of messages with options of the command that are no names of keywords, and what Python
/// says in their place.
const REPHRASED: [(&str, &str); 4] = [
    // Measures have this parameter, and evaluations have no such keyword.
    ("--rel or rel=", "rel="),
    ("say score=-", "say columns={\"score\": None}"),
    ("say grade=-", "say columns={\"grade\": None}"),
    ("and `-` as its name", "and `None` as its name"),
];

/// Returns a message of the library with options of the command, such as `--score-type f32`,
/// replaced by Python keywords, such as `score_type="f32"`.
pub fn with_keywords(message: &str) -> String {
    let mut message = message.to_owned();
    for (option, keyword) in REPHRASED {
        message = message.replace(option, keyword);
    }
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
        let (id, rest) = part.split_at(end.unwrap_or(part.len()));
        match OPTIONS.iter().find(|row| row.id == id && has_keyword(row)) {
            // Behind a quote begins an id, which stays as it is.
            Some(row) if !text.ends_with(|at: char| at.is_alphanumeric() || at == '\'') => {
                text += &keyword(row, rest);
            }
            _ => text.extend(["--", part]),
        }
    }
    text
}

fn has_keyword(row: &OptionRow) -> bool {
    // Messages with `--as` are about the command `laneval measures`.
    (row.id != "as" && row.keyword.is_some()) || row.heading == "Statistics"
}

/// Returns an option as a keyword, with its value if `rest` begins with one, and the rest.
fn keyword(row: &OptionRow, rest: &str) -> String {
    let name = row.keyword_name();
    if matches!(row.value, Value::Flag) {
        return format!("{name}=True{rest}");
    }
    if rest.starts_with(": ") {
        return format!("{name}{rest}");
    }
    let value = rest.strip_prefix(' ').unwrap_or_default();
    let listed = value.split([' ', ')', '`']).next().unwrap_or_default();
    if row.id == "columns" && listed.contains([',', '=']) {
        return format!("{name}={}{}", columns(listed), &rest[1 + listed.len()..]);
    }
    let value = value.split([' ', ',', ';', ')', '`']).next().unwrap_or_default();
    let value = value.trim_end_matches('.');
    if !takes(row.value, value) {
        return format!("{name}={rest}");
    }
    let quote = if value.parse::<f64>().is_ok() { "" } else { "\"" };
    format!("{name}={quote}{value}{quote}{}", &rest[1 + value.len()..])
}

/// Returns the value of the option `--columns` as Python writes it: a dict of names, or a list.
fn columns(value: &str) -> String {
    let written = |name: &str| if name == "-" { "None".to_owned() } else { format!("\"{name}\"") };
    let parts = value.split(',').map(|part| match part.split_once('=') {
        Some((column, name)) => format!("\"{column}\": {}", written(name)),
        None => written(part),
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    if value.contains('=') { format!("{{{parts}}}") } else { format!("[{parts}]") }
}

/// Returns whether a word behind an option is its value.
fn takes(value: Value, word: &str) -> bool {
    match value {
        Value::Choice(_, choices) => choices().iter().any(|(choice, _)| *choice == word),
        // Where any text is a value, it cannot be told from the words behind the option.
        Value::Number(_, check) | Value::Text(_, check) => {
            check(word).is_ok() && check("or").is_err()
        }
        _ => false,
    }
}
