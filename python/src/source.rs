//! The sources of judgments and runs: files, their text, mappings, tuples, tables.

use std::path::PathBuf;

use laneval::columns::{Judgments, JudgmentsByFacet, Records};
use laneval::tables::{self, Places};
use laneval::{Input, JudgedBy};
use laneval_formats::ArrowTable;
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::columns::{NamedColumns, RowsRole};
use crate::errors::problem;
use crate::passages::no_positions;
use crate::rows::{OwnedRows, is_list};
use crate::table::{self, table};

/// The places of the columns of a table for the query, the document, the value (score or grade) and
/// the rank.
#[pyfunction]
#[pyo3(signature = (names, table, judgments, columns))]
pub fn places(
    py: Python<'_>,
    names: Vec<String>,
    table: &str,
    judgments: bool,
    columns: NamedColumns,
) -> PyResult<(usize, usize, Option<usize>, Option<usize>)> {
    let role = if judgments { RowsRole::Qrels } else { RowsRole::Run };
    let Places { query, doc, number, rank, .. } =
        table::places(py, (&names, &[]), table, (role, None), &columns)?;
    Ok((query, doc, number, rank))
}

/// Judgments or results.
pub enum PySource {
    /// Text, in a file or in memory.
    Text(Input),
    /// Rows that were copied.
    Rows(OwnedRows),
    /// Columns that are lent.
    Table(ArrowTable),
}

impl PySource {
    /// Reads an object: a `str` or a path is a file, `bytes` are text, and an object with an Arrow
    /// stream is a table.
    ///
    /// # Errors
    /// Another object; wrong rows; no rows.
    pub fn of(
        object: &Bound<'_, PyAny>,
        name: &str,
        role: RowsRole,
        columns: &NamedColumns,
    ) -> PyResult<Self> {
        PySource::of_rows(object, name, (role, None), columns, None)
    }

    /// Reads a run as [`PySource::of`], for judgments by these facets: results are passages where
    /// judgments are.
    ///
    /// # Errors
    /// As [`PySource::of`].
    pub fn of_run(
        object: &Bound<'_, PyAny>,
        name: &str,
        by: Option<JudgedBy>,
        columns: &NamedColumns,
    ) -> PyResult<Self> {
        let by = by.filter(|&by| by == JudgedBy::Span);
        PySource::of_rows(object, name, (RowsRole::Run, by), columns, None)
    }

    /// Reads judgments as [`PySource::of`], perhaps by facet: rows go to `facets` then.
    ///
    /// # Errors
    /// As [`PySource::of`].
    pub fn of_judgments(
        object: &Bound<'_, PyAny>,
        name: &str,
        by: Option<JudgedBy>,
        columns: &NamedColumns,
        facets: Option<JudgmentsByFacet>,
    ) -> PyResult<Self> {
        PySource::of_rows(object, name, (RowsRole::Qrels, by), columns, facets)
    }

    fn of_rows(
        object: &Bound<'_, PyAny>,
        name: &str,
        (role, by): (RowsRole, Option<JudgedBy>),
        columns: &NamedColumns,
        facets: Option<JudgmentsByFacet>,
    ) -> PyResult<Self> {
        let py = object.py();
        // The order matters, as many objects are several of these: text is iterable, and so are
        // mappings and tables, whose items are names of columns. The most definite comes first, and
        // what can merely be iterated last. A plan of polars has rows once it is carried out.
        if object.get_type().name()? == "LazyFrame" {
            return PySource::of_rows(
                &object.call_method0("collect")?,
                name,
                (role, by),
                columns,
                facets,
            );
        }
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(PySource::Text(Input::Path(object.extract::<PathBuf>()?)));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            // Other threads of Python work while it is copied.
            let shared = PyBackedBytes::from(bytes.clone());
            let bytes = py.detach(|| shared.to_vec());
            return Ok(PySource::Text(Input::Bytes { name: name.to_owned(), bytes }));
        }
        let source = if object.hasattr("__arrow_c_stream__")? {
            match table(object, name, (role, by), columns) {
                // pandas provides such streams only with pyarrow.
                Err(error)
                    if error.is_instance_of::<PyImportError>(py)
                        && object.hasattr("columns")? =>
                {
                    PySource::Rows(of_frame(object, name, (role, by), columns, facets)?)
                }
                table => PySource::Table(table?),
            }
        } else if let Ok(mapping) = object.cast::<PyMapping>() {
            PySource::Rows(read_mapping(mapping, name, (role, by), columns, facets)?)
        } else if object.try_iter().is_ok() && by == Some(JudgedBy::Span) {
            PySource::Rows(OwnedRows::of_passages(object, name, role, columns)?)
        } else if object.try_iter().is_ok() {
            PySource::Rows(OwnedRows::of_tuples(object, name, (role, by), columns, facets)?)
        } else {
            return Err(PyTypeError::new_err(format!(
                "{name} is of {}: a path, bytes, a dict of dicts, a table or an iterable of dicts \
                 or of (query, document, {}) was expected",
                object.get_type(),
                role.value()
            )));
        };
        source.check_any(object, name, role)?;
        Ok(source)
    }

    /// Refuses a source without rows, unless it is a run, and not one of an iterator.
    fn check_any(&self, object: &Bound<'_, PyAny>, name: &str, role: RowsRole) -> PyResult<()> {
        let py = object.py();
        match self.len() {
            0 if object.hasattr("__next__")? => Err(problem(
                py,
                name,
                0,
                "there is nothing in it: an iterator gives its items only once",
            )),
            0 if role == RowsRole::Qrels => Err(problem(py, name, 0, "there is no judgment in it")),
            _ => Ok(()), // a system may well find nothing
        }
    }

    /// Reads an object as [`PySource::of`], where `None` stands for no rows.
    ///
    /// # Errors
    /// As [`PySource::of`].
    pub fn of_part(
        object: Option<&Bound<'_, PyAny>>,
        name: &str,
        role: RowsRole,
    ) -> PyResult<Self> {
        let none = || Ok(PySource::Rows(OwnedRows::new()));
        object
            .map_or_else(none, |object| PySource::of(object, name, role, &NamedColumns::default()))
    }

    /// The number of rows; `usize::MAX` for text, of which it is not known.
    pub fn len(&self) -> usize {
        match self {
            PySource::Text(_) => usize::MAX,
            PySource::Rows(rows) => rows.len(),
            PySource::Table(table) => table.len(),
        }
    }

    /// The queries in memory without documents.
    pub fn bare_queries(&self) -> Vec<Vec<u8>> {
        match self {
            PySource::Text(_) => Vec::new(),
            PySource::Rows(rows) => rows.bare.clone(),
            PySource::Table(table) => tables::Table::bare_queries(table).to_vec(),
        }
    }

    /// Calls `work` with the columns as results; `None` for text.
    pub fn with_records<R>(&self, work: impl FnOnce(&[Records<'_>]) -> R) -> Option<R> {
        match self {
            PySource::Text(_) => None,
            PySource::Rows(rows) => Some(rows.with_records(work)),
            PySource::Table(table) => Some(table.with_records(work)),
        }
    }

    /// Calls `work` with the columns as judgments; `None` for text.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[Judgments<'_>]) -> R) -> Option<R> {
        match self {
            PySource::Text(_) => None,
            PySource::Rows(rows) => Some(rows.with_judgments(work)),
            PySource::Table(table) => Some(table.with_judgments(work)),
        }
    }
}

/// The records of a dict of columns, which are lists of the same length; `None` if it is none, or
/// its columns are not known.
fn records_of_columns<'py>(
    mapping: &Bound<'py, PyMapping>,
    name: &str,
    of: (RowsRole, Option<JudgedBy>),
    columns: &NamedColumns,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = mapping.py();
    let is_column =
        |of: &Bound<'py, PyAny>| of.is_instance_of::<PyList>() || of.is_instance_of::<PyTuple>();
    let Some(first) = mapping.values()?.iter().next() else { return Ok(None) };
    if !is_column(&first) || !mapping.values()?.iter().all(|column| is_column(&column)) {
        return Ok(None);
    }
    let keys: Vec<Bound<'py, PyAny>> = mapping.keys()?.iter().collect();
    let names: Vec<String> =
        keys.iter().map(|key| Ok(key.str()?.to_string())).collect::<PyResult<_>>()?;
    let values: Vec<Bound<'py, PyAny>> = mapping.values()?.iter().collect();
    let has_lists =
        |column: &Bound<'py, PyAny>| column.get_item(0).is_ok_and(|value| is_list(&value));
    let lists: Vec<bool> = values.iter().map(has_lists).collect();
    match table::places(py, (&names, &lists), name, of, columns) {
        // Lists in lists are no documents of queries, so it is meant as a table.
        Err(error) if lists.contains(&true) => return Err(error),
        Err(_) => return Ok(None),
        Ok(_) => {}
    }
    let lengths: Vec<usize> = values.iter().map(|column| column.len()).collect::<PyResult<_>>()?;
    if let Some(at) = lengths.iter().position(|length| *length != lengths[0]) {
        let [first, other] = [0, at].map(|at| format!("{} has {} rows", names[at], lengths[at]));
        return Err(problem(py, name, 0, format!("column {first}, and {other}")));
    }
    let records = (0..lengths[0]).map(|row| {
        let record = PyDict::new(py);
        for (key, column) in keys.iter().zip(&values) {
            record.set_item(key, column.get_item(row)?)?;
        }
        Ok(record)
    });
    Ok(Some(PyList::new(py, records.collect::<PyResult<Vec<_>>>()?)?.into_any()))
}

/// Reads the rows of a dict: of columns, of dicts, or by facet.
fn read_mapping(
    mapping: &Bound<'_, PyMapping>,
    name: &str,
    of: (RowsRole, Option<JudgedBy>),
    columns: &NamedColumns,
    facets: Option<JudgmentsByFacet>,
) -> PyResult<OwnedRows> {
    let (role, by) = of;
    match (records_of_columns(mapping, name, of, columns)?, by) {
        (Some(records), Some(JudgedBy::Span)) => {
            OwnedRows::of_passages(&records, name, role, columns)
        }
        (None, Some(JudgedBy::Span)) => Err(no_positions(name, mapping.as_any())),
        (Some(records), _) => OwnedRows::of_tuples(&records, name, of, columns, facets),
        (None, by) => match by.zip(facets) {
            None => OwnedRows::of_mapping(mapping, name, role),
            Some((by, facets)) => OwnedRows::of_facets(mapping, name, by, facets),
        },
    }
}

/// Reads the rows of a frame whose columns have names and give their values as lists.
fn of_frame(
    object: &Bound<'_, PyAny>,
    name: &str,
    (role, by): (RowsRole, Option<JudgedBy>),
    columns: &NamedColumns,
    facets: Option<JudgmentsByFacet>,
) -> PyResult<OwnedRows> {
    let names = object.getattr("columns")?.try_iter()?.map(|name| Ok(name?.str()?.to_string()));
    let names: Vec<String> = names.collect::<PyResult<_>>()?;
    let list = |at: usize| object.get_item(names[at].as_str())?.call_method0("tolist");
    let has_lists = |at| Ok(list(at)?.get_item(0).is_ok_and(|value| is_list(&value)));
    let lists: Vec<bool> = (0..names.len()).map(has_lists).collect::<PyResult<_>>()?;
    let places = table::places(object.py(), (&names, &lists), name, (role, by), columns)?;
    table::tell_of_docid(object.py(), (&names, places.doc), name, role, columns)?;
    let Places { query, doc, number, group, lists, .. } = places;
    if lists.is_some() || places.start.is_some() {
        let of = PyDict::new(object.py());
        for at in places.all() {
            of.set_item(names[at].as_str(), list(at)?)?;
        }
        if places.start.is_some() {
            let records = records_of_columns(of.cast::<PyMapping>()?, name, (role, by), columns)?;
            return OwnedRows::of_passages(
                &records.unwrap_or_else(|| of.into_any()),
                name,
                role,
                columns,
            );
        }
        let records = records_of_columns(of.cast::<PyMapping>()?, name, (role, by), columns)?;
        let records = records.unwrap_or_else(|| of.into_any());
        return OwnedRows::of_tuples(&records, name, (role, by), columns, facets);
    }
    let number = number.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{name}: a table that has ranks and no scores is read by pyarrow, which is not \
             installed"
        ))
    })?;
    let zip = object.py().import("builtins")?.getattr("zip")?;
    let rows = match group {
        None => zip.call1((list(query)?, list(doc)?, list(number)?))?,
        Some(group) => zip.call1((list(query)?, list(group)?, list(doc)?, list(number)?))?,
    };
    OwnedRows::of_tuples(&rows, name, (role, by), columns, facets)
}
