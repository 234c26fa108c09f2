//! The columns of tables, and keys of records, that a Python caller chooses to be read.

use std::collections::HashMap;

use laneval::{ColumnNames, DocIdRule, FacetKind};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyMapping, PyString};

use crate::errors::{OrRaise, problem};
use crate::text::shown;

/// The role of rows from Python: judgments, or results of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsRole {
    /// Judgments.
    Qrels,
    /// Results.
    Run,
}

impl RowsRole {
    /// Returns the name of the rows' numbers: `grade` or `score`.
    pub fn value(self) -> &'static str {
        match self {
            Self::Run => "score",
            Self::Qrels => "grade",
        }
    }

    /// Selects those of the caller's column names that judgments, or results of a run, can have.
    ///
    /// # Errors
    /// Something that no column is.
    pub fn names(self, py: Python<'_>, columns: &ColumnNaming) -> PyResult<Option<ColumnNames>> {
        let columns = match columns {
            ColumnNaming::Named(columns) => columns,
            ColumnNaming::Ordered(columns) => {
                let names = ColumnNames::in_order(columns.iter().map(Option::as_deref));
                let names = names.or_raise(py)?;
                return Ok(
                    Some(names).filter(|names| names.are_of_qrels() == (self == Self::Qrels))
                );
            }
        };
        let other: &[&str] = match self {
            Self::Run => &["grade", "judge", "subtopic"],
            Self::Qrels => &["score", "rank"],
        };
        let role_columns = columns.iter().filter(|(what, _)| !other.contains(&what.as_str()));
        let role_columns: Vec<(&str, &str)> =
            role_columns.map(|(what, name)| (what.as_str(), name.as_str())).collect();
        if role_columns.is_empty() {
            return Ok(None);
        }
        ColumnNames::named(role_columns).map(Some).or_raise(py)
    }
}

/// The way in which rows of a Python object are read: their name, role, facet and columns.
#[derive(Debug, Clone, Copy)]
pub struct RowSpec<'a> {
    /// The name of the source in messages.
    pub name: &'a str,
    /// The role of the rows.
    pub role: RowsRole,
    /// The facet by which judgments are read.
    pub by: Option<FacetKind>,
    /// The columns to read.
    pub columns: &'a ColumnNaming,
}

impl RowSpec<'_> {
    /// Makes the Python exception for a problem in a row (from 1), or in all rows together.
    pub fn problem(&self, py: Python<'_>, row: u64, message: impl Into<String>) -> PyErr {
        problem(py, self.name, row, message)
    }

    /// Reads a Python object as the score or the grade of a query and a document.
    pub fn number(
        &self,
        number: &Bound<'_, PyAny>,
        [query, doc]: [&Bound<'_, PyAny>; 2],
        row: u64,
    ) -> PyResult<f64> {
        number_of(number, self.role).map_err(|what| {
            let (value, shown_doc, query) = (self.role.value(), shown(doc), shown(query));
            let message = format!("the {value} of document {shown_doc} of query {query} is {what}");
            self.problem(doc.py(), row, message)
        })
    }

    /// Returns the value of a key of a record (a Python mapping); a missing key is an exception.
    pub fn field<'py>(
        &self,
        record: &Bound<'py, PyMapping>,
        key: &Bound<'py, PyAny>,
        row: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        record.get_item(key).map_err(|_| {
            let message = format!("{} was found, which has no {}", shown(record), shown(key));
            self.problem(record.py(), row, message)
        })
    }
}

/// A Python caller's choice of the columns to read: by name, or by order.
#[derive(Debug, Clone, FromPyObject)]
pub enum ColumnNaming {
    /// Their names, by what they are.
    Named(HashMap<String, String>),
    /// What all of them are, in their order; `None` for one that is not read.
    Ordered(Vec<Option<String>>),
}

impl ColumnNaming {
    /// Returns the choice with the column of documents in the place of ids, if a rule names one.
    pub fn with_doc_id_column(self, rule: &DocIdRule) -> Self {
        match (self, rule) {
            (Self::Named(mut columns), DocIdRule::Column(name)) => {
                columns.insert("doc".to_owned(), name.to_string());
                Self::Named(columns)
            }
            (columns, _) => columns,
        }
    }
}

impl Default for ColumnNaming {
    fn default() -> Self {
        Self::Named(HashMap::new())
    }
}

/// Reads a Python object as a number that is not NaN; the error describes the object.
pub fn number_of(object: &Bound<'_, PyAny>, role: RowsRole) -> Result<f64, String> {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        let value = float.value();
        return if value.is_nan() { Err("not a number (NaN)".to_owned()) } else { Ok(value) };
    }
    let value =
        if object.is_instance_of::<PyString>() { None } else { object.extract::<f64>().ok() };
    match value {
        None if object.is_instance_of::<PyInt>() => {
            Err(format!("{}, which is too large for a float", shown(object)))
        }
        Some(value) if value.is_nan() => Err("not a number (NaN)".to_owned()),
        Some(value) => Ok(value),
        None if object.is_none() => Err("None: a number was expected".to_owned()),
        None => {
            let expected =
                if role == RowsRole::Run { "a number" } else { "a number, mostly an int," };
            Err(format!("{} of {}: {expected} was expected", shown(object), object.get_type()))
        }
    }
}
