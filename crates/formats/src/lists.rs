//! Arrow tables with a list of documents in each row, unfolded to one row for each document.
//!
//! No text is copied: the documents of all lists already lie side by side in one column, and a
//! query becomes a repeated code.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, DictionaryArray, GenericListArray, Int32Array, OffsetSizeTrait, RecordBatch,
    cast::AsArray,
};
use arrow_schema::DataType;
use laneval::tables::{ColumnIndices, ListColumns, TableError};

use crate::columns::{ArrowBatch, codes, id, ones, to_borrowable_numbers, values, wrong_type};

/// Returns whether an Arrow column of this type has a list in each row.
///
/// ```
/// use arrow_schema::DataType;
/// let list = DataType::new_list(DataType::Utf8, true);
/// assert!(laneval_formats::has_lists(&list) && !laneval_formats::has_lists(&DataType::Utf8));
/// ```
pub fn has_lists(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Unfolds an Arrow batch with a list of documents in each row to one row for each document. The
/// columns of `places` have no nulls. Judgments without grades get grade 1. Adds the queries of
/// rows without documents to `bare`, and wrong rows to `wrong`, by their number in the batch.
///
/// # Errors
/// A column without lists.
pub fn explode(
    batch: &RecordBatch,
    names: &[String],
    places: ColumnIndices,
    lists: ListColumns,
    bare: &mut Vec<Vec<u8>>,
    wrong: &mut Vec<(usize, String)>,
) -> Result<ArrowBatch, TableError> {
    let mut docs = ListValues::from_batch(batch, places.doc, names)?;
    let mut numbers =
        places.number.map(|at| ListValues::from_batch(batch, at, names)).transpose()?;
    let mut check = |lists: &ListValues, at: usize| {
        wrong.extend(lists.nulls().map(|row| (row, format!("{}: a null in the list", names[at]))));
    };
    check(&docs, places.doc);
    if let Some(records) = docs.values.as_struct_opt().cloned() {
        let (doc, number) = lists.fields(&records.column_names())?;
        // Numbers beside a list decide before those in its records, as in JSON.
        numbers = numbers.or_else(|| {
            let values = records.column(number?).clone();
            Some(ListValues { values, ends: docs.ends.clone() })
        });
        docs.values = records.column(doc).clone();
        check(&docs, places.doc);
    }
    if let Some(numbers) = &numbers {
        check(numbers, places.number.unwrap_or(places.doc));
        let unlike = (0..batch.num_rows()).filter(|&row| docs.count(row) != numbers.count(row));
        wrong.extend(
            unlike.map(|row| (row, lists.length_mismatch(docs.count(row), numbers.count(row)))),
        );
    }
    let queries = batch.column(places.query);
    let empty = (0..batch.num_rows()).filter(|&row| docs.count(row) == 0);
    bare.extend(empty.filter_map(|row| id(queries, row)));
    let number = match numbers {
        Some(numbers) => Some(to_borrowable_numbers(&numbers.values)),
        None if lists.ranked() => None,
        None => Some(ones(docs.values.len())),
    };
    let rank = lists.ranked().then(|| Arc::new(docs.ranks()) as ArrayRef);
    Ok(ArrowBatch {
        query: docs.repeat(queries)?,
        group: places.group.map(|at| docs.repeat(batch.column(at))).transpose()?,
        number,
        rank,
        span: None,
        ends: Some(docs.ends),
        doc: docs.values,
    })
}

/// An Arrow column of lists: the values of all rows one after another, and the end of each row's
/// values.
struct ListValues {
    values: ArrayRef,
    ends: Vec<usize>,
}

impl ListValues {
    /// Returns the Arrow column `at` of a batch as lists; a column without lists is an error.
    fn from_batch(batch: &RecordBatch, at: usize, names: &[String]) -> Result<Self, TableError> {
        fn by_offsets<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Option<ListValues> {
            let mut places = lists.value_offsets().iter().map(|offset| offset.to_usize());
            // A slice of a column has offsets of the whole column, so the first need not be 0.
            let start = places.next()??;
            let ends: Vec<usize> = places.map(|end| Some(end? - start)).collect::<Option<_>>()?;
            let values = lists.values().slice(start, ends.last().copied().unwrap_or(0));
            Some(ListValues { values, ends })
        }
        let column = batch.column(at);
        let lists = match column.data_type() {
            DataType::List(_) => by_offsets(column.as_list::<i32>()),
            DataType::LargeList(_) => by_offsets(column.as_list::<i64>()),
            DataType::FixedSizeList(..) => {
                let lists = column.as_fixed_size_list();
                usize::try_from(lists.value_length()).ok().map(|size| {
                    let ends = (1..=column.len()).map(|row| row * size).collect();
                    Self { values: lists.values().clone(), ends }
                })
            }
            _ => None,
        };
        lists.ok_or_else(|| wrong_type(&names[at], column, "lists were"))
    }

    fn start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Returns the number of values in the list of a row.
    fn count(&self, row: usize) -> usize {
        self.ends[row] - self.start(row)
    }

    /// Returns the rows whose list contains a null.
    fn nulls(&self) -> impl Iterator<Item = usize> {
        let nulls = self.values.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        nulls.into_iter().flat_map(move |nulls| {
            (0..self.ends.len())
                .filter(move |&row| (self.start(row)..self.ends[row]).any(|at| nulls.is_null(at)))
        })
    }

    /// Returns the rank of each value: its position in its list, from 1.
    fn ranks(&self) -> Int32Array {
        // Filling reserved memory row by row vectorises: one iterator over all rows would neither
        // know its length nor become vectors.
        let mut ranks: Vec<i32> = Vec::with_capacity(self.values.len());
        (0..self.ends.len()).for_each(|row| ranks.extend((1..).take(self.count(row))));
        ranks.into()
    }

    /// Repeats each row of another column once for every value of the row's list, as a dictionary
    /// column.
    fn repeat(&self, column: &ArrayRef) -> Result<ArrayRef, TableError> {
        let (values, codes) = (values(column).unwrap_or(column), codes(column));
        let mut keys: Vec<i32> = Vec::with_capacity(self.values.len());
        for row in 0..self.ends.len() {
            let code = codes.as_ref().map_or(Some(row), |codes| codes.natural(row));
            let Some(key) = code.and_then(|code| i32::try_from(code).ok()) else {
                return Err(TableError::File("has too many rows in a batch".to_owned()));
            };
            keys.extend(std::iter::repeat_n(key, self.count(row)));
        }
        let repeated = DictionaryArray::try_new(Int32Array::from(keys), values.clone());
        repeated
            .map(|all| Arc::new(all) as ArrayRef)
            .map_err(|error| TableError::File(error.to_string()))
    }
}
