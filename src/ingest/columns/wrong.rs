//! What is wrong with columns.

use crate::error::{Problem, Problems};

/// What is wrong with a column or a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The row, from 0; `None` for all of it.
    pub row: Option<usize>,
    pub message: String,
}

impl Wrong {
    /// Something wrong in a row.
    pub fn at(row: usize, message: String) -> Self {
        Wrong { row: Some(row), message }
    }

    /// The same of a column with a name.
    pub fn of(self, column: &str) -> Self {
        Wrong { message: format!("{column}: {}", self.message), ..self }
    }

    /// As the one problem of an input whose batch begins at this row.
    pub fn problems(self, name: &str, start: usize) -> Problems {
        let line = self.row.map_or(0, |row| (start + row) as u64 + 1);
        Problems { first: vec![Problem { file: name.to_owned(), line, message: self.message }], more: 0 }
    }
}
