//! Judgments and runs as Python gives them: files, text, mappings, tuples and tables.

use std::path::PathBuf;

use laneval::columns::{FacetQrelsBuilder, QrelsColumns, RunColumns};
use laneval::tables::{self, ColumnIndices, TableColumns, TableError};
use laneval::text::BareQuery;
use laneval::{FacetKind, Input};
use laneval_formats::ArrowTable;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::columns::{ColumnNaming, RowSpec, RowsRole};
use crate::errors::{type_error, wrong_type};
use crate::passages::no_positions;
use crate::rows::{OwnedRows, is_list, keys_and_names};
use crate::table::{self, table};

/// Returns the places of the columns of a table for the query, the document, the value (score or
/// grade) and the rank.
#[pyfunction]
#[pyo3(signature = (names, table, judgments, columns))]
pub fn places(
    py: Python<'_>,
    names: Vec<String>,
    table: &str,
    judgments: bool,
    columns: ColumnNaming,
) -> PyResult<(usize, usize, Option<usize>, Option<usize>)> {
    let role = if judgments { RowsRole::Qrels } else { RowsRole::Run };
    let ColumnIndices { query, doc, number, rank, .. } =
        table::places(py, &names, &[], RowSpec { name: table, role, by: None, columns: &columns })?;
    Ok((query, doc, number, rank))
}

/// The classes of objects that a method turns into a table: plans of polars, and datasets of
/// pyarrow.
const TABLE_METHODS: [(&str, &str); 5] = [
    ("LazyFrame", "collect"),
    ("FileSystemDataset", "scanner"),
    ("InMemoryDataset", "scanner"),
    ("UnionDataset", "scanner"),
    ("Scanner", "to_reader"),
];

/// Judgments or results from Python: text, copied rows, or a borrowed table.
pub enum PySource {
    /// Text, in a file or in memory.
    Text(Input),
    /// Rows that were copied.
    Rows(OwnedRows),
    /// Columns that are lent.
    Table(ArrowTable),
}

impl PySource {
    /// Reads a run from a Python object, as passages where judgments are by span. Objects are as
    /// for [`PySource::from_py`].
    ///
    /// # Errors
    /// As [`PySource::from_py`].
    pub fn run_from_py(
        object: &Bound<'_, PyAny>,
        name: &str,
        by: Option<FacetKind>,
        columns: &ColumnNaming,
    ) -> PyResult<Self> {
        let by = by.filter(|&by| by == FacetKind::Span);
        Self::from_py(object, RowSpec { name, role: RowsRole::Run, by, columns }, None)
    }

    /// Reads judgments or results from a Python object: a path, text, a table, a mapping or an
    /// iterable. A `str` or a path is a file, `bytes` are text, and an object with an Arrow stream
    /// is a table. Rows of judgments by facet go to `facets`.
    ///
    /// # Errors
    /// Another object; wrong rows; no rows.
    pub fn from_py(
        object: &Bound<'_, PyAny>,
        spec: RowSpec<'_>,
        facets: Option<FacetQrelsBuilder>,
    ) -> PyResult<Self> {
        let (py, name) = (object.py(), spec.name);
        // The order matters, as many objects are several of these: text is iterable, and so are
        // mappings and tables, whose items are names of columns. The most definite comes first, and
        // what can merely be iterated last.
        let class = object.get_type().name()?.to_string();
        if let Some((_, method)) = TABLE_METHODS.iter().find(|(name, _)| *name == class) {
            return Self::from_py(&object.call_method0(*method)?, spec, facets);
        }
        if class == "Series" && object.hasattr("index")? {
            return Self::from_py(&frame_of_series(object, spec)?, spec, facets);
        }
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(Self::Text(Input::Path(object.extract::<PathBuf>()?)));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            // Other threads of Python work while it is copied.
            let shared = PyBackedBytes::from(bytes.clone());
            let bytes = py.detach(|| shared.to_vec());
            return Ok(Self::Text(Input::Bytes { name: name.to_owned(), bytes }));
        }
        let source = if object.hasattr("__arrow_c_stream__")? {
            match table(object, spec) {
                // pandas provides such streams only with pyarrow.
                Err(error)
                    if error.is_instance_of::<PyImportError>(py)
                        && object.hasattr("columns")? =>
                {
                    Self::Rows(frame_rows(object, spec, facets)?)
                }
                table => Self::Table(table?),
            }
        } else if let Ok(mapping) = object.cast::<PyMapping>() {
            Self::Rows(read_mapping(mapping, spec, facets)?)
        } else if object.try_iter().is_ok() && spec.by == Some(FacetKind::Span) {
            Self::Rows(OwnedRows::from_passages(object, spec)?)
        } else if object.try_iter().is_ok() {
            Self::Rows(OwnedRows::from_tuples(object, spec, facets)?)
        } else {
            let expected = format!(
                "a path, bytes, a dict of dicts or lists, a table or an iterable of dicts or of \
                 (query, document, {})",
                spec.role.value()
            );
            return Err(wrong_type(name, object, expected));
        };
        source.check_any(object, spec)?;
        Ok(source)
    }

    /// Rejects judgments without rows, and iterators without items. Another run may have no rows.
    fn check_any(&self, object: &Bound<'_, PyAny>, spec: RowSpec<'_>) -> PyResult<()> {
        let message = match self.len() {
            0 if object.hasattr("__next__")? => {
                "there is nothing in it: an iterator gives its items only once"
            }
            0 if spec.role == RowsRole::Qrels => "there is no judgment in it",
            _ => return Ok(()), // a system may well find nothing
        };
        Err(spec.problem(object.py(), 0, message))
    }

    /// Reads judgments or results from a Python object, where `None` stands for no rows. Objects
    /// are as for [`PySource::from_py`].
    ///
    /// # Errors
    /// As [`PySource::from_py`].
    pub fn optional_from_py(
        object: Option<&Bound<'_, PyAny>>,
        name: &str,
        role: RowsRole,
    ) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Rows(OwnedRows::default())) };
        let columns = &ColumnNaming::default();
        Self::from_py(object, RowSpec { name, role, by: None, columns }, None)
    }

    /// Returns the number of judgments or results; `usize::MAX` for text, of which it is not known.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(_) => usize::MAX,
            Self::Rows(rows) => rows.len(),
            Self::Table(table) => table.len(),
        }
    }

    /// Returns whether the rows are judgments in memory without grades, so that each document has
    /// grade 1.
    pub fn is_ungraded(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Rows(rows) => rows.is_ungraded,
            Self::Table(table) => tables::Table::is_ungraded(table),
        }
    }

    /// Returns the ids of queries in memory that have no documents.
    pub fn bare_queries(&self) -> Vec<BareQuery> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Rows(rows) => rows.bare.clone(),
            Self::Table(table) => {
                let bare = tables::Table::bare_queries(table).iter().cloned();
                bare.map(|id| BareQuery { id, is_judged: true }).collect()
            }
        }
    }

    /// Calls `work` with the columns of a run's results; `None` for text.
    pub fn with_records<R>(&self, work: impl FnOnce(&[RunColumns<'_>]) -> R) -> Option<R> {
        match self {
            Self::Text(_) => None,
            Self::Rows(rows) => Some(rows.with_records(work)),
            Self::Table(table) => Some(tables::with_records(table, work)),
        }
    }

    /// Calls `work` with the columns of judgments; `None` for text.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[QrelsColumns<'_>]) -> R) -> Option<R> {
        match self {
            Self::Text(_) => None,
            Self::Rows(rows) => Some(rows.with_judgments(work)),
            Self::Table(table) => Some(tables::with_judgments(table, work)),
        }
    }
}

/// Returns the rows of a Python dict of columns as a list of dicts; `None` for a dict of another
/// kind. Columns are lists of the same length.
fn records_of_columns<'py>(
    mapping: &Bound<'py, PyMapping>,
    spec: RowSpec<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = mapping.py();
    let values = mapping.values()?;
    if values.is_empty()
        || !values
            .iter()
            .all(|value| value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>())
    {
        return Ok(None);
    }
    let (keys, names) = keys_and_names(mapping)?;
    let values: Vec<_> = values.iter().collect();
    let lists: Vec<bool> =
        values.iter().map(|column| column.get_item(0).is_ok_and(|value| is_list(&value))).collect();
    if let Err(wrong) = table::find_places(py, &names, &lists, spec)? {
        // A key that is the name of a column says that it is meant as a table.
        let is_table = has_known_name(py, &names, &lists, spec)?;
        return if is_table { Err(table::error(py, spec.name, wrong)) } else { Ok(None) };
    }
    let lengths: Vec<usize> = values.iter().map(|column| column.len()).collect::<PyResult<_>>()?;
    if let Some(at) = lengths.iter().position(|length| *length != lengths[0]) {
        let [first, other] = [0, at].map(|at| format!("{} has {} rows", names[at], lengths[at]));
        return Err(spec.problem(py, 0, format!("column {first}, and {other}")));
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

/// Returns whether the names of a table's columns have one by which columns are found, or one that
/// the caller gave.
fn has_known_name(
    py: Python<'_>,
    names: &[String],
    lists: &[bool],
    spec: RowSpec<'_>,
) -> PyResult<bool> {
    if let ColumnNaming::Named(given) = spec.columns
        && given.values().any(|name| names.contains(name))
    {
        return Ok(true);
    }
    let usual = ColumnNaming::default();
    let found = table::find_places(py, names, lists, RowSpec { columns: &usual, ..spec })?;
    Ok(!matches!(found, Err(TableError::Missing(missing)) if missing.known_name.is_none()))
}

/// Returns a series of pandas, whose index has queries and documents, as a frame. The names of the
/// index say which are which; the first of two unknown names is that of the queries.
fn frame_of_series<'py>(
    series: &Bound<'py, PyAny>,
    spec: RowSpec<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = series.py();
    let names = series.getattr("index")?.getattr("names")?;
    let names = names.try_iter()?.map(|name| Ok(name?.str()?.to_string()));
    let names: Vec<String> = names.collect::<PyResult<_>>()?;
    if names.len() != 2 {
        let expected = "an index of two levels, queries and documents,";
        return Err(wrong_type(spec.name, series, expected));
    }
    if spec.role.names(py, spec.columns)?.is_some() {
        return series.call_method0("reset_index");
    }
    let found = TableColumns::for_qrels(None).places_with_lists(&names, &[]);
    let are_unknown =
        matches!(found, Err(TableError::Missing(missing)) if missing.known_name.is_none());
    let series = if are_unknown {
        series.call_method1("rename_axis", (vec!["query", "doc"],))?
    } else {
        series.clone()
    };
    let name = PyDict::new(py);
    name.set_item("name", spec.role.value())?;
    series.call_method("reset_index", (), Some(&name))
}

/// Reads judgments or results from a Python dict: of columns, of dicts, or by facet.
fn read_mapping(
    mapping: &Bound<'_, PyMapping>,
    spec: RowSpec<'_>,
    facets: Option<FacetQrelsBuilder>,
) -> PyResult<OwnedRows> {
    match (records_of_columns(mapping, spec)?, spec.by) {
        (Some(records), Some(FacetKind::Span)) => OwnedRows::from_passages(&records, spec),
        (None, Some(FacetKind::Span)) => Err(no_positions(spec.name, mapping.as_any())),
        (Some(records), _) => OwnedRows::from_tuples(&records, spec, facets),
        (None, by) => match by.zip(facets) {
            None => OwnedRows::from_mapping(mapping, spec),
            Some((by, facets)) => OwnedRows::from_facets(mapping, spec, by, facets),
        },
    }
}

/// Reads judgments or results from a data frame (such as of pandas) whose columns give their values
/// as lists.
fn frame_rows(
    object: &Bound<'_, PyAny>,
    spec: RowSpec<'_>,
    facets: Option<FacetQrelsBuilder>,
) -> PyResult<OwnedRows> {
    let py = object.py();
    let names = object.getattr("columns")?.try_iter()?.map(|name| Ok(name?.str()?.to_string()));
    let names: Vec<String> = names.collect::<PyResult<_>>()?;
    let list = |at: usize| object.get_item(names[at].as_str())?.call_method0("tolist");
    let lists: Vec<bool> = (0..names.len())
        .map(|at| Ok(list(at)?.get_item(0).is_ok_and(|value| is_list(&value))))
        .collect::<PyResult<_>>()?;
    let places = table::places(py, &names, &lists, spec)?;
    table::warn_of_docid(py, &names, places.doc, spec)?;
    let ColumnIndices { query, doc, number, group, lists, .. } = places;
    if lists.is_some() || places.start.is_some() {
        let dict = PyDict::new(py);
        for at in places.all() {
            dict.set_item(names[at].as_str(), list(at)?)?;
        }
        let records = records_of_columns(dict.cast::<PyMapping>()?, spec)?;
        let records = records.unwrap_or_else(|| dict.into_any());
        return match places.start {
            Some(_) => OwnedRows::from_passages(&records, spec),
            None => OwnedRows::from_tuples(&records, spec, facets),
        };
    }
    let numbers = match number {
        Some(number) => list(number)?,
        None if spec.role == RowsRole::Qrels => {
            py.import("itertools")?.call_method1("repeat", (1.0,))?
        }
        None => {
            return Err(type_error(format!(
                "{}: a table that has ranks and no scores is read by pyarrow, which is not \
                 installed",
                spec.name
            )));
        }
    };
    let zip = py.import("builtins")?.getattr("zip")?;
    let rows = match group {
        None => zip.call1((list(query)?, list(doc)?, numbers))?,
        Some(group) => zip.call1((list(query)?, list(group)?, list(doc)?, numbers))?,
    };
    let mut rows = OwnedRows::from_tuples(&rows, spec, facets)?;
    rows.is_ungraded = number.is_none();
    Ok(rows)
}
