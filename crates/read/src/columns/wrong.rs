//! Errors of columns.

use crate::error::{Problem, Problems};
use crate::lines::shape::Role;

/// An error of a column or a batch.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongColumn {
    /// The row, from 0; `None` for the whole column or batch.
    pub row: Option<usize>,
    pub message: String,
}

impl WrongColumn {
    /// Makes an error of a row.
    pub fn at(row: usize, message: String) -> Self {
        WrongColumn { row: Some(row), message }
    }

    /// Adds the name of the column to the message.
    pub fn of(self, column: &str) -> Self {
        WrongColumn { message: format!("{column}: {}", self.message), ..self }
    }

    /// Makes the error the only problem of an input whose batch begins at row `start`.
    pub fn problems(self, name: &str, start: usize) -> Problems {
        let line = self.row.map_or(0, |row| (start + row) as u64 + 1);
        Problems {
            first: vec![Problem { file: name.to_owned(), line, message: self.message }],
            more: 0,
        }
    }
}

/// Returns whether `number` is a valid grade or score.
#[inline(always)]
pub fn is_fine(role: Role, number: f64) -> bool {
    match role {
        Role::Qrels => number.is_finite(),
        Role::Run => !number.is_nan(),
    }
}

/// Says what is wrong with an invalid number.
#[cold]
pub fn not_fine(role: Role, number: f64) -> String {
    match role {
        Role::Qrels => format!("grade {number} is not a finite number"),
        Role::Run => format!("score {number} is not a number"),
    }
}
