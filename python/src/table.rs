//! Tables with an Arrow stream (pandas, polars, pyarrow, DuckDB), whose columns are borrowed.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use laneval::JudgedBy;
use laneval::error::{Problem, Problems};
use laneval::labels::Ids;
use laneval::tables::{Missing, Places, TableColumns, WrongTable};
use laneval_formats::{ArrowTable, has_lists};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::columns::{NamedColumns as Asked, RowsRole};
use crate::errors::{input, problem, warn};
use crate::ffi;

/// The indices of columns with these names; `lists` says which have a list in each row.
///
/// # Errors
/// A column that is not there.
pub fn places(
    py: Python<'_>,
    (names, lists): (&[String], &[bool]),
    name: &str,
    (role, by): (RowsRole, Option<JudgedBy>),
    columns: &Asked,
) -> PyResult<Places> {
    let given = role.names(py, columns)?;
    let columns = match role {
        RowsRole::Qrels => TableColumns::of_judgments(given.as_ref()).with_groups(by),
        RowsRole::Run => TableColumns::of_results(given.as_ref(), false).with_groups(by),
    };
    columns.places_with_lists(names, lists).map_err(|wrong| error(py, name, wrong))
}

/// Tells of a second column that could be meant: `docno` is read, because in PyTerrier's tables
/// `docid` is a number of the index.
pub fn tell_of_docid(
    py: Python<'_>,
    (names, doc): (&[String], usize),
    name: &str,
    role: RowsRole,
    columns: &Asked,
) -> PyResult<()> {
    let are_both = names[doc] == "docno" && names.iter().any(|name| name == "docid");
    if !are_both || role.names(py, columns)?.is_some() {
        return Ok(());
    }
    warn(
        py,
        format!(
            "{name}: docno names the documents; docid is not read, which columns={{'doc': \
             'docid'}} names"
        ),
    )
}

/// Reads the columns of an object with an Arrow stream, some by name.
///
/// # Errors
/// A column that is not there, or of a type that it cannot have; the first nulls, by their rows.
pub fn table(
    object: &Bound<'_, PyAny>,
    name: &str,
    of: (RowsRole, Option<JudgedBy>),
    columns: &Asked,
) -> PyResult<ArrowTable> {
    let py = object.py();
    let (names, all) = ffi::batches(&shared(object, name, of, columns)?)?;
    let is_list = |at| all.first().is_some_and(|batch| has_lists(batch.column(at).data_type()));
    let lists: Vec<bool> = (0..names.len()).map(is_list).collect();
    let places = places(py, (&names, &lists), name, of, columns)?;
    tell_of_docid(py, (&names, places.doc), name, of.0, columns)?;
    let mut table = ArrowTable::new(&names, places);
    table.push(&all).map_err(|wrong| error(py, name, wrong))?;
    Ok(table)
}

/// A frame of polars with what others read: columns that are not read here are emptied, because
/// polars hands on some types as nobody else does, and a column without a type gets one. Columns
/// keep their places. Any other object stays.
fn shared<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    of: (RowsRole, Option<JudgedBy>),
    columns: &Asked,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if !object.get_type().module()?.to_cow()?.starts_with("polars") || !object.hasattr("columns")? {
        return Ok(object.clone());
    }
    let polars = py.import("polars")?;
    let names: Vec<String> = object.getattr("columns")?.extract()?;
    let schema = object.getattr("schema")?;
    let (list, array) = (polars.getattr("List")?, polars.getattr("Array")?);
    let is_list = |name: &String| {
        let of = schema.get_item(name)?;
        Ok(of.eq(&list)? || of.eq(&array)?)
    };
    let lists: Vec<bool> = names.iter().map(is_list).collect::<PyResult<_>>()?;
    let places = places(py, (&names, &lists), name, of, columns)?;
    let (number, rank, read) = (places.number, places.rank, places.all());
    let mut all = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let is_number = [number, rank].contains(&Some(at));
        let column = if read.contains(&at) {
            if !schema.get_item(name)?.eq(polars.getattr("Null")?)? {
                continue;
            }
            let dtype = polars.getattr(if is_number { "Float64" } else { "String" })?;
            polars.call_method1("col", (name,))?.call_method1("cast", (dtype,))?
        } else {
            polars.call_method1("lit", (false,))?.call_method1("alias", (name,))?
        };
        all.push(column);
    }
    object.call_method1("with_columns", (all,))
}

/// Reads the ids in the only column of an object with an Arrow stream: text.
///
/// # Errors
/// More or fewer columns, or one of another type; a null, by its row.
pub fn ids(object: &Bound<'_, PyAny>) -> PyResult<Ids> {
    fn push<'a, T: AsRef<[u8]> + ?Sized + 'a>(
        ids: &mut Ids,
        column: impl Iterator<Item = Option<&'a T>>,
    ) {
        column.flatten().for_each(|id| ids.push(id.as_ref()));
    }
    let (names, batches) = ffi::batches(object)?;
    let [name] = &names[..] else {
        return Err(PyValueError::new_err(format!(
            "ids have {} columns: one was expected",
            names.len()
        )));
    };
    let mut ids = Ids::default();
    for batch in &batches {
        let column = batch.column(0);
        if let Some(row) = column
            .logical_nulls()
            .and_then(|nulls| (0..column.len()).find(|&row| nulls.is_null(row)))
        {
            let row = (ids.len() + row + 1) as u64;
            return Err(problem(object.py(), "ids", row, format!("{name}: a null")));
        }
        match column.data_type() {
            DataType::Utf8 => push(&mut ids, column.as_string::<i32>().iter()),
            DataType::LargeUtf8 => push(&mut ids, column.as_string::<i64>().iter()),
            DataType::Utf8View => push(&mut ids, column.as_string_view().iter()),
            DataType::Binary => push(&mut ids, column.as_binary::<i32>().iter()),
            DataType::LargeBinary => push(&mut ids, column.as_binary::<i64>().iter()),
            DataType::BinaryView => push(&mut ids, column.as_binary_view().iter()),
            of => {
                return Err(PyTypeError::new_err(format!(
                    "ids: column `{name}` is of type {of}: text was expected"
                )));
            }
        }
    }
    Ok(ids)
}

fn error(py: Python<'_>, name: &str, wrong: WrongTable) -> PyErr {
    match wrong {
        WrongTable::Rows { first, more } => {
            let problem = |(line, message)| Problem { file: name.to_owned(), line, message };
            input(py, Problems { first: first.into_iter().map(problem).collect(), more })
        }
        WrongTable::Type(message) => PyTypeError::new_err(format!("{name}: {message}")),
        WrongTable::Missing(Missing { among, .. }) if among.is_empty() => {
            PyValueError::new_err(format!("{name}: it has no columns"))
        }
        WrongTable::Missing(Missing { what, known, among, .. }) => PyValueError::new_err(format!(
            "{name}: no column is the {what}: there are {}, and {} were looked for; say it with \
             columns={{\"{what}\": …}}",
            among.join(", "),
            known.join(", ")
        )),
        wrong => PyValueError::new_err(format!("{name}: {wrong}")),
    }
}
