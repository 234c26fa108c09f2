//! The columns of tables that are asked for.

use std::collections::HashMap;

use pyo3::prelude::*;

use crate::errors::exception;

/// The role of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsRole {
    /// Judgments.
    Qrels,
    /// Results.
    Run,
}

impl RowsRole {
    /// The name of its numbers.
    pub fn value(self) -> &'static str {
        match self {
            RowsRole::Run => "score",
            RowsRole::Qrels => "grade",
        }
    }

    /// Selects the names of columns that matter to this role.
    ///
    /// # Errors
    /// Something that no column is.
    pub fn names(
        self,
        py: Python<'_>,
        columns: &NamedColumns,
    ) -> PyResult<Option<laneval::ColumnNames>> {
        let columns = match columns {
            NamedColumns::Named(columns) => columns,
            NamedColumns::Ordered(columns) => {
                let names = laneval::ColumnNames::in_order(columns.iter().map(Option::as_deref));
                let names = names.map_err(|error| exception(py, error))?;
                return Ok(
                    Some(names).filter(|names| names.are_of_qrels() == (self == RowsRole::Qrels))
                );
            }
        };
        let other: &[&str] = match self {
            RowsRole::Run => &["grade", "judge", "subtopic"],
            RowsRole::Qrels => &["score", "rank"],
        };
        let of = columns.iter().filter(|(what, _)| !other.contains(&what.as_str()));
        let of: Vec<(&str, &str)> = of.map(|(what, name)| (what.as_str(), name.as_str())).collect();
        if of.is_empty() {
            Ok(None)
        } else {
            laneval::ColumnNames::named(of).map(Some).map_err(|error| exception(py, error))
        }
    }
}

/// Which columns are read.
#[derive(Debug, Clone, FromPyObject)]
pub enum NamedColumns {
    /// Their names, by what they are.
    Named(HashMap<String, String>),
    /// What all of them are, in their order; `None` for one that is not read.
    Ordered(Vec<Option<String>>),
}

impl NamedColumns {
    /// The columns of runs whose results are of these units, which may be a column.
    pub fn of_units(self, units: &laneval::Units) -> Self {
        match (self, units) {
            (NamedColumns::Named(mut columns), laneval::Units::Column(name)) => {
                columns.insert("doc".to_owned(), name.to_string());
                NamedColumns::Named(columns)
            }
            (columns, _) => columns,
        }
    }
}

impl Default for NamedColumns {
    fn default() -> Self {
        NamedColumns::Named(HashMap::new())
    }
}
