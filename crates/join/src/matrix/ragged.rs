//! Values of rows of different lengths, stored row by row.

use std::ops::Range;

use super::column::Column;

/// Values by row: exact grades of judged documents, or numbers of named documents, in rank order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ragged<T> {
    /// The end of each row.
    ends: Vec<u64>,
    values: Column<T>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Ragged { ends: Vec::new(), values: Column::default() }
    }
}

impl<T: Copy> Ragged<T> {
    /// Makes rows from values with gaps. Each pair of `rows` is the room of a row in `values` and
    /// the number of first values to keep.
    pub fn compacted(mut values: Vec<T>, rows: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let ends = compact(&mut values, rows);
        Ragged { ends, values: values.into() }
    }

    /// Makes rows of these values.
    pub fn of_rows(rows: &[&[T]]) -> Self {
        let mut all = Ragged { ends: Vec::with_capacity(rows.len()), values: Column::default() };
        rows.iter().for_each(|row| all.push(row));
        all
    }

    /// Appends a row.
    pub fn push(&mut self, values: &[T]) {
        self.push_each(values.iter().copied());
    }

    /// Appends the values of an iterator as a row.
    pub(crate) fn push_each(&mut self, values: impl IntoIterator<Item = T>) {
        let all = self.values.to_mut();
        all.extend(values);
        self.ends.push(all.len() as u64);
    }

    /// Appends the rows of `others`.
    pub(crate) fn append(&mut self, others: &Ragged<T>) {
        let all = self.values.to_mut();
        let before = all.len() as u64;
        self.ends.extend(others.ends.iter().map(|end| before + end));
        all.extend_from_slice(&others.values);
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.values.to_mut().clear();
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values of a row.
    pub fn of(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }

    /// The place of a row among the values of all rows.
    pub fn range(&self, row: usize) -> Range<usize> {
        range_of(&self.ends, row)
    }

    /// The values of all rows.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Makes rows from the columns of a file; the values may stay in the file. `None` if ends and
    /// values do not fit together.
    pub(crate) fn from_columns(
        ends: Vec<u64>,
        values: impl Into<Column<T>>,
        rows: usize,
    ) -> Option<Self> {
        let values = values.into();
        (ends.len() == rows && are_ends(&ends, values.len())).then_some(Ragged { ends, values })
    }

    /// The ends of the rows, and the values.
    pub(crate) fn columns(&self) -> (&[u64], &[T]) {
        (&self.ends, &self.values)
    }
}

/// Closes the gaps between rows, and returns the ends of the rows. Each pair of `rows` is the room
/// of a row in `values` and the number of first values to keep.
pub fn compact<T: Copy>(
    values: &mut Vec<T>,
    rows: impl IntoIterator<Item = (usize, usize)>,
) -> Vec<u64> {
    let (mut ends, mut start, mut end) = (Vec::new(), 0, 0);
    for (room, kept) in rows {
        if start != end {
            values.copy_within(start..start + kept, end);
        }
        (start, end) = (start + room, end + kept);
        ends.push(end as u64);
    }
    values.truncate(end);
    ends
}

/// Cuts some rows into pieces of at most `size` rows.
pub fn pieces(rows: usize, size: usize) -> Vec<Range<usize>> {
    (0..rows).step_by(size).map(|start| start..rows.min(start + size)).collect()
}

/// The place of an entry among entries with these ends.
pub(crate) fn range_of(ends: &[u64], at: usize) -> Range<usize> {
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[at] as usize
}

/// Whether these are the ends of entries with `count` values in total.
pub(crate) fn are_ends(ends: &[u64], count: usize) -> bool {
    ends.is_sorted() && ends.last().copied().unwrap_or(0) == count as u64
}
