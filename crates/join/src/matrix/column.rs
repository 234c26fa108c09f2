//! An array of values that is owned, or borrowed from the memory of an opened `.lmx` file.
//!
//! A file has columns as in memory, so opening a file does not copy columns of millions of values:
//! new memory costs more than reading the columns (benches/RESULTS.md). Only aligned columns are
//! borrowed. A column of eight-byte values is unaligned behind a column of four-byte values with an
//! odd number of values.
//!
//! The rule of `mmap.rs` for indexes holds for all borrowed values: a reader must expect another
//! value than the checked value.

use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::bytes::mmap::Mapping;

/// A contiguous array of values, owned or borrowed from the memory of an opened `.lmx` file.
#[derive(Debug, Clone)]
pub enum Column<T> {
    /// Values in memory of their own.
    Owned(Vec<T>),
    /// A part of a file.
    Mapped {
        /// The file.
        file: Arc<Mapping>,
        /// The place of the bytes in the file.
        range: Range<usize>,
        /// A function that reads bytes as values. The column stores the function, because bytes may
        /// be read only as some types, and `T` can be any type.
        read: fn(&[u8]) -> &[T],
    },
}

impl<T: bytemuck::Pod> Column<T> {
    /// Borrows a byte range of an opened file as an array of values; `None` if the bytes are not
    /// aligned.
    pub(crate) fn in_file(file: &Arc<Mapping>, range: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(&file[range.clone()]).ok()?;
        Some(Self::Mapped { file: file.clone(), range, read: bytemuck::cast_slice })
    }
}

impl<T: Clone> Column<T> {
    /// Returns the values of the array for changes; values borrowed from a file are copied first.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Self::Mapped { .. } = self {
            *self = Self::Owned(self.to_vec());
        }
        match self {
            Self::Owned(values) => values,
            Self::Mapped { .. } => unreachable!("it was copied"),
        }
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Owned(values)
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(values) => values,
            Self::Mapped { file, range, read } => read(&file[range.clone()]),
        }
    }
}

impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_file_are_borrowed_where_they_are_aligned() {
        let numbers = [0.5f64, 1.0, f64::NAN];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let file = Arc::new(Mapping::copied(&bytes).unwrap());
        let in_file = |range| Column::<f64>::in_file(&file, range);
        let mut column = in_file(0..16).unwrap();
        assert_eq!(column.as_ptr().cast(), file.as_ptr());
        assert!(in_file(4..20).is_none() && in_file(0..12).is_none());
        assert!(in_file(8..8).is_some_and(|none| none.is_empty()));
        let copy = column.clone();
        assert!(
            column == copy && column == Column::from(vec![0.5, 1.0]) && column != Column::default()
        );
        column.to_mut().push(2.0);
        assert_eq!((&*column, &*copy), (&[0.5, 1.0, 2.0][..], &[0.5, 1.0][..]));
        assert_ne!(column.as_ptr().cast(), file.as_ptr());
    }
}
