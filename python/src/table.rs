//! Tables with an Arrow stream (pandas, polars, pyarrow, DuckDB), whose columns are borrowed.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use laneval::error::{Problem, Problems};
use laneval::labels::Ids;
use laneval::tables::{ColumnIndices, MissingColumn, TableColumns, TableError};
use laneval_formats::{ArrowTable, has_lists};
use pyo3::prelude::*;

use crate::columns::{RowSpec, RowsRole};
use crate::errors::{input, problem, type_error, value_error, warn, with_keywords};
use crate::ffi;

/// Returns the indices of the columns for query, document, number and so on, found by the names of
/// a table's columns.
///
/// # Errors
/// A column that is not there.
pub fn places(
    py: Python<'_>,
    names: &[String],
    lists: &[bool],
    spec: RowSpec<'_>,
) -> PyResult<ColumnIndices> {
    find_places(py, names, lists, spec)?.map_err(|wrong| error(py, spec.name, wrong))
}

/// Returns what [`places`] returns, with the error of the library.
pub fn find_places(
    py: Python<'_>,
    names: &[String],
    lists: &[bool],
    spec: RowSpec<'_>,
) -> PyResult<Result<ColumnIndices, TableError>> {
    let given = spec.role.names(py, spec.columns)?;
    let columns = match spec.role {
        RowsRole::Qrels => TableColumns::for_qrels(given.as_ref()),
        RowsRole::Run => TableColumns::for_run(given.as_ref(), false),
    };
    Ok(columns.with_groups(spec.by).places_with_lists(names, lists))
}

/// Warns the user of a table with a column `docid` beside the column `docno`, which is read. In
/// PyTerrier's tables `docid` is a number of the index.
pub fn warn_of_docid(
    py: Python<'_>,
    names: &[String],
    doc: usize,
    spec: RowSpec<'_>,
) -> PyResult<()> {
    let are_both = names[doc] == "docno" && names.iter().any(|name| name == "docid");
    if !are_both || spec.role.names(py, spec.columns)?.is_some() {
        return Ok(());
    }
    let name = spec.name;
    warn(
        py,
        format!(
            "{name}: docno names the documents; docid is not read, which columns={{'doc': \
             'docid'}} names"
        ),
    )
}

/// Reads judgments or results from the columns of a Python object with an Arrow stream.
///
/// # Errors
/// A column that is not there, or of a type that it cannot have; the first nulls, by their rows.
pub fn table(object: &Bound<'_, PyAny>, spec: RowSpec<'_>) -> PyResult<ArrowTable> {
    let py = object.py();
    let (names, all) = ffi::batches(&shared(object, spec)?)?;
    let lists: Vec<bool> = (0..names.len())
        .map(|at| all.first().is_some_and(|batch| has_lists(batch.column(at).data_type())))
        .collect();
    let places = places(py, &names, &lists, spec)?;
    warn_of_docid(py, &names, places.doc, spec)?;
    let mut table = ArrowTable::new(&names, places);
    table.push(&all).map_err(|wrong| error(py, spec.name, wrong))?;
    Ok(table)
}

/// Returns a polars frame with columns that Arrow readers take; returns any other object as it is.
/// Columns that are not read here are emptied, because polars hands on some types as nobody else
/// does, and a column without a type gets one. Columns keep their places.
fn shared<'py>(object: &Bound<'py, PyAny>, spec: RowSpec<'_>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if !object.get_type().module()?.to_cow()?.starts_with("polars") || !object.hasattr("columns")? {
        return Ok(object.clone());
    }
    let polars = py.import("polars")?;
    let names: Vec<String> = object.getattr("columns")?.extract()?;
    let schema = object.getattr("schema")?;
    let (list, array) = (polars.getattr("List")?, polars.getattr("Array")?);
    let lists = names.iter().map(|name| {
        let dtype = schema.get_item(name)?;
        Ok(dtype.eq(&list)? || dtype.eq(&array)?)
    });
    let lists: Vec<bool> = lists.collect::<PyResult<_>>()?;
    let places = places(py, &names, &lists, spec)?;
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

/// Reads query ids from the only column of a Python object with an Arrow stream. The column is
/// text.
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
        return Err(value_error(format!("ids have {} columns: one was expected", names.len())));
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
            data_type => {
                return Err(type_error(format!(
                    "ids: column `{name}` is of type {data_type}: text was expected"
                )));
            }
        }
    }
    Ok(ids)
}

/// Makes the Python exception for an error in the table `name`.
pub fn error(py: Python<'_>, name: &str, wrong: TableError) -> PyErr {
    match wrong {
        TableError::Rows { first, more } => {
            let first = first
                .into_iter()
                .map(|(line, message)| Problem { file: name.to_owned(), line, message })
                .collect();
            input(py, Problems { first, more })
        }
        TableError::Type(message) => type_error(format!("{name}: {message}")),
        TableError::Missing(MissingColumn { among, .. }) if among.is_empty() => {
            value_error(format!("{name}: it has no columns"))
        }
        TableError::Missing(MissingColumn { what, known, among, .. }) => {
            let none =
                if what == "grade" { ", which is None where there are no grades" } else { "" };
            value_error(format!(
                "{name}: no column is the {what}: there are {}, and {} were looked for; say it \
                 with columns={{\"{what}\": …}}{none}",
                among.join(", "),
                known.join(", ")
            ))
        }
        wrong => value_error(with_keywords(&format!("{name}: {wrong}"))),
    }
}
