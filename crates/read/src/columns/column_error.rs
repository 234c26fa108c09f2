//! Errors in columns of judgments or results.

use crate::error::Problems;
use crate::lines::{
    diagnostics::one_line,
    shape::{Role, not_finite},
};

/// An error in a column or batch of judgments or results: the row, if it is one row, and a message.
#[derive(Debug)]
pub struct ColumnError {
    /// The row, from 0; `None` for the whole column or batch.
    pub row: Option<usize>,
    pub message: String,
}

impl ColumnError {
    /// Makes an error in one row of a column.
    pub fn at(row: usize, message: String) -> Self {
        Self { row: Some(row), message }
    }

    /// Adds the name of the column to the error's message.
    pub fn with_column(self, column: &str) -> Self {
        Self { message: format!("{column}: {}", self.message), ..self }
    }

    /// Converts the error to the only problem of an input; the batch of the error begins at row
    /// `start`.
    pub fn problems(self, name: &str, start: usize) -> Problems {
        let line = self.row.map_or(0, |row| (start + row) as u64 + 1);
        one_line(name, line, self.message)
    }
}

/// Returns whether `number` is a valid grade (finite) or score (not NaN), as `role` says.
#[inline(always)]
pub fn is_valid_number(role: Role, number: f64) -> bool {
    role.pick(number.is_finite(), !number.is_nan())
}

/// Returns the message that the grade of a query and a document is not finite, or that the score is
/// NaN.
#[cold]
pub fn invalid_number_message(role: Role, number: f64, ids: [&[u8]; 2]) -> String {
    format!("{} {number}{}", role.number(), not_finite(number, ids))
}
