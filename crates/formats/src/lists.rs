//! Tables with a list of documents in each row, unfolded: a row for each document.
//!
//! No text is copied: the documents of all lists already lie side by side in one column, and a
//! query becomes a repeated code.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use laneval::tables::{ListColumns, Places, WrongTable};

use crate::columns::{codes, values};

/// The columns of an unfolded batch, and the ends of the documents of each row.
pub struct Unfolded {
    pub query: ArrayRef,
    pub doc: ArrayRef,
    /// The grades or scores, if there are any; for judgments without grades 1 for each.
    pub number: Option<ArrayRef>,
    /// The places in the list, from 1, if places are read.
    pub rank: Option<ArrayRef>,
    pub group: Option<ArrayRef>,
    pub ends: Vec<usize>,
}

/// Returns whether columns of a type have a list in each row.
///
/// ```
/// use arrow_schema::DataType;
/// let list = DataType::new_list(DataType::Utf8, true);
/// assert!(laneval_formats::has_lists(&list) && !laneval_formats::has_lists(&DataType::Utf8));
/// ```
pub fn has_lists(of: &DataType) -> bool {
    matches!(of, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Unfolds a batch without nulls in the columns of `places`. Adds wrong rows to `wrong`, by their
/// number in the batch.
///
/// # Errors
/// A column without lists.
pub fn unfold(
    batch: &RecordBatch,
    names: &[String],
    places: Places,
    lists: ListColumns,
    wrong: &mut Vec<(usize, String)>,
) -> Result<Unfolded, WrongTable> {
    let column = |at: usize| {
        ListValues::of(batch.column(at)).ok_or_else(|| {
            let of = batch.column(at).data_type();
            WrongTable::Type(format!("column `{}` is of type {of}: lists were expected", names[at]))
        })
    };
    let docs = column(places.doc)?;
    let numbers = places.number.map(column).transpose()?;
    for (lists, at) in
        [Some((&docs, places.doc)), numbers.as_ref().zip(places.number)].into_iter().flatten()
    {
        wrong.extend(lists.nulls().map(|row| (row, format!("{}: a null in the list", names[at]))));
    }
    if let Some(numbers) = &numbers {
        let unlike = (0..batch.num_rows()).filter(|&row| docs.count(row) != numbers.count(row));
        wrong.extend(unlike.map(|row| (row, lists.unlike(docs.count(row), numbers.count(row)))));
    }
    let count = docs.values.len();
    let number = match numbers {
        Some(numbers) => Some(numbers.values),
        None if lists.ranked() => None,
        None => Some(Arc::new(PrimitiveArray::<Float64Type>::from(vec![1.0; count])) as ArrayRef),
    };
    let rank = lists.ranked().then(|| Arc::new(docs.ranks()) as ArrayRef);
    let repeat = |at: usize| docs.repeat(batch.column(at));
    Ok(Unfolded {
        query: repeat(places.query)?,
        group: places.group.map(repeat).transpose()?,
        number,
        rank,
        ends: docs.ends,
        doc: docs.values,
    })
}

/// A column of lists: the values of all rows, and the end of each row's values.
struct ListValues {
    values: ArrayRef,
    ends: Vec<usize>,
}

impl ListValues {
    fn of(column: &ArrayRef) -> Option<Self> {
        fn by_offsets<O: Copy + TryInto<usize>>(
            offsets: &[O],
            values: &ArrayRef,
        ) -> Option<ListValues> {
            let place = |offset: &O| (*offset).try_into().ok();
            let start: usize = place(offsets.first()?)?;
            let ends: Vec<usize> =
                offsets[1..].iter().map(|end| Some(place(end)? - start)).collect::<Option<_>>()?;
            let values = values.slice(start, ends.last().copied().unwrap_or(0));
            Some(ListValues { values, ends })
        }
        match column.data_type() {
            DataType::List(_) => {
                let lists = column.as_list::<i32>();
                by_offsets(lists.value_offsets(), lists.values())
            }
            DataType::LargeList(_) => {
                let lists = column.as_list::<i64>();
                by_offsets(lists.value_offsets(), lists.values())
            }
            DataType::FixedSizeList(..) => {
                let lists = column.as_fixed_size_list();
                let size = usize::try_from(lists.value_length()).ok()?;
                let ends = (1..=column.len()).map(|row| row * size).collect();
                Some(ListValues { values: lists.values().clone(), ends })
            }
            _ => None,
        }
    }

    fn start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The number of values of a row.
    fn count(&self, row: usize) -> usize {
        self.ends[row] - self.start(row)
    }

    /// The rows that have a null in their list.
    fn nulls(&self) -> impl Iterator<Item = usize> {
        let nulls = self.values.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let rows = if nulls.is_some() { self.ends.len() } else { 0 };
        let has_null = move |row: usize| {
            nulls
                .as_ref()
                .is_some_and(|nulls| (self.start(row)..self.ends[row]).any(|at| nulls.is_null(at)))
        };
        (0..rows).filter(move |&row| has_null(row))
    }

    /// The place of each value in its list, from 1.
    fn ranks(&self) -> Int32Array {
        // Filling reserved memory row by row vectorises: one iterator over all rows would neither
        // know its length nor become vectors.
        let mut ranks: Vec<i32> = Vec::with_capacity(self.values.len());
        (0..self.ends.len()).for_each(|row| ranks.extend((1..).take(self.count(row))));
        ranks.into()
    }

    /// Repeats each row of a column as often as its list has values, as a code.
    fn repeat(&self, column: &ArrayRef) -> Result<ArrayRef, WrongTable> {
        let (values, codes) = (values(column).unwrap_or(column), codes(column));
        let code = |row: usize| codes.as_ref().map_or(Some(row), |codes| codes.natural(row));
        let mut keys: Vec<i32> = Vec::with_capacity(self.values.len());
        for row in 0..self.ends.len() {
            let key = code(row).and_then(|code| i32::try_from(code).ok());
            let key =
                key.ok_or_else(|| WrongTable::File("has too many rows in a batch".to_owned()))?;
            keys.extend(std::iter::repeat_n(key, self.count(row)));
        }
        let keys = PrimitiveArray::<Int32Type>::from(keys);
        let repeated = DictionaryArray::<Int32Type>::try_new(keys, values.clone());
        repeated
            .map(|all| Arc::new(all) as ArrayRef)
            .map_err(|error| WrongTable::File(error.to_string()))
    }
}
