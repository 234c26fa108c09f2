//! A table whose rows have different lengths, stored row by row in one array.

use std::ops::Range;

use super::column::Column;

/// A table whose rows have different lengths, such as the exact grades of each ranking's judged
/// documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ragged<T> {
    /// The end of each row.
    ends: Vec<u64>,
    values: Column<T>,
}

impl<T: Copy> Ragged<T> {
    /// Makes the table of these rows, each a slice of values.
    pub fn from_rows(rows: &[&[T]]) -> Self {
        let mut all = Self { ends: Vec::with_capacity(rows.len()), values: Column::default() };
        rows.iter().for_each(|row| all.push(row));
        all
    }

    /// Appends a row of values to the table.
    pub fn push(&mut self, values: &[T]) {
        self.push_each(values.iter().copied());
    }

    /// Appends the values of an iterator to the table, as one row.
    pub(crate) fn push_each(&mut self, values: impl IntoIterator<Item = T>) {
        let all = self.values.to_mut();
        all.extend(values);
        self.ends.push(all.len() as u64);
    }

    /// Appends all rows of the table `others`.
    pub(crate) fn append(&mut self, others: &Self) {
        let all = self.values.to_mut();
        let before = all.len() as u64;
        self.ends.extend(others.ends.iter().map(|end| before + end));
        all.extend_from_slice(&others.values);
    }

    /// Removes all rows of the table.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.values.to_mut().clear();
    }

    /// Returns the number of rows of the table.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the values of one row of the table.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }

    /// Returns the range of one row in the array of all values of the table.
    pub fn range(&self, row: usize) -> Range<usize> {
        range_of(&self.ends, row)
    }

    /// Returns the values of all rows of the table, one row after another.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Makes the table from two columns of an `.lmx` file: the end of each row, and all values. The
    /// values may stay in the file. `None` if ends and values do not fit together.
    pub(crate) fn from_columns(
        ends: Vec<u64>,
        values: impl Into<Column<T>>,
        rows: usize,
    ) -> Option<Self> {
        let values = values.into();
        let fit = ends.len() == rows
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == values.len() as u64;
        fit.then_some(Self { ends, values })
    }

    /// Returns the table as two columns for an `.lmx` file: the end of each row, and all values.
    pub(crate) fn columns(&self) -> (&[u64], &[T]) {
        (&self.ends, &self.values)
    }
}

/// Cuts the numbers of rows from 0 to `rows` into ranges of at most `size` rows.
pub fn pieces(rows: usize, size: usize) -> Vec<Range<usize>> {
    (0..rows).step_by(size).map(|start| start..rows.min(start + size)).collect()
}

/// Returns the range of entry `at` in an array whose consecutive entries end at `ends`.
pub(crate) fn range_of(ends: &[u64], at: usize) -> Range<usize> {
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[at] as usize
}
