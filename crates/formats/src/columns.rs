//! Conversion of single Arrow columns to laneval's borrowed columns of ids and numbers, with checks
//! of types.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, cast::AsArray, types::*};
use arrow_schema::DataType;
use half::slice::HalfFloatSliceExt;
use laneval::{
    columns::{IdColumn, Integers, Numbers},
    error::Problems,
    tables::TableError,
};

/// The read columns of a batch, with a row for each document.
#[derive(Debug)]
pub struct ArrowBatch {
    pub query: ArrayRef,
    pub doc: ArrayRef,
    /// The grades or scores, if there are any.
    pub number: Option<ArrayRef>,
    /// The ranks, if they are read; in a list of documents the places, from 1.
    pub rank: Option<ArrayRef>,
    pub group: Option<ArrayRef>,
    /// The first positions of passages, and the positions behind their ends.
    pub span: Option<[ArrayRef; 2]>,
    /// Where the documents of each row of the table end in `doc`, if rows have lists of documents.
    pub ends: Option<Vec<usize>>,
}

impl ArrowBatch {
    /// Returns the start and end positions of the passages in a batch's rows; `None` without
    /// positions.
    pub fn positions(&self) -> Option<[Integers<'_>; 2]> {
        let [start, end] = self.span.as_ref()?;
        Some([integers(start)?, integers(end)?])
    }
}

/// Returns the indices of the first null rows of an Arrow column, and the number of all its null
/// rows. The first are as many as messages show.
pub fn nulls(column: &ArrayRef) -> (Vec<usize>, usize) {
    let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let Some(nulls) = nulls else { return (Vec::new(), 0) };
    let first = (0..column.len()).filter(|&row| nulls.is_null(row)).take(Problems::LIMIT);
    (first.collect(), nulls.null_count())
}

/// Converts an Arrow column of truth values or decimals to `f64`; returns other columns unchanged.
/// Truth values become 0 and 1, and decimals become the nearest numbers.
pub fn to_borrowable_numbers(column: &ArrayRef) -> ArrayRef {
    let numbers: Vec<f64> = match column.data_type() {
        DataType::Boolean => {
            let truths = column.as_boolean();
            (0..column.len()).map(|row| f64::from(u8::from(truths.value(row)))).collect()
        }
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(column, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(column, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(column, *scale),
        DataType::Decimal256(_, scale) => decimals::<Decimal256Type>(column, *scale),
        _ => return column.clone(),
    };
    Arc::new(Float64Array::from(numbers))
}

/// Returns a column of grade 1, for judgments that have no grades.
pub fn ones(rows: usize) -> ArrayRef {
    Arc::new(Float64Array::from(vec![1.0; rows]))
}

/// Converts an Arrow column of decimals to the nearest `f64` numbers.
fn decimals<T: ArrowPrimitiveType>(column: &ArrayRef, scale: i8) -> Vec<f64>
where
    T::Native: std::fmt::Display,
{
    let exponent = -i32::from(scale);
    let unscaled = slice::<T>(column).iter();
    // The parser of decimal text rounds once. A division of a large integer by a power of ten would
    // round twice.
    unscaled.map(|digits| format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)).collect()
}

/// Returns the error for an Arrow column of a wrong type; `expected` says what was expected.
pub fn wrong_type(name: &str, column: &ArrayRef, expected: &str) -> TableError {
    let data_type = column.data_type();
    TableError::Type(format!("column `{name}` is of type {data_type}: {expected} expected"))
}

/// Returns whether an Arrow column of this type can hold ids of queries or documents: text, bytes
/// or integers.
pub fn is_id(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => {
            // `text` reads the values of a dictionary, and knows no codes.
            !matches!(**values, DataType::Dictionary(..)) && is_id(values)
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        scalar => scalar.is_string() || scalar.is_integer(),
    }
}

/// Returns the values of an Arrow dictionary column; `None` for a column of another type.
pub fn values(column: &ArrayRef) -> Option<&ArrayRef> {
    column.as_any_dictionary_opt().map(|dictionary| dictionary.values())
}

/// Returns the codes of an Arrow dictionary column, the index of each row's value; `None` for
/// another column.
pub fn codes(column: &ArrayRef) -> Option<Integers<'_>> {
    integers(column.as_any_dictionary_opt()?.keys())
}

/// Returns the data buffers of an Arrow column of string or binary views; none for another column.
pub fn buffers(column: &ArrayRef) -> Vec<&[u8]> {
    let buffers = match column.data_type() {
        DataType::Utf8View => &column.as_string_view().data_buffers()[..],
        DataType::BinaryView => &column.as_binary_view().data_buffers()[..],
        _ => &[],
    };
    buffers.iter().map(|buffer| buffer.as_slice()).collect()
}

/// Borrows an Arrow column of ids (text, bytes or integers, but no dictionary) as laneval's column
/// of ids.
pub fn text<'a>(column: &'a ArrayRef, buffers: &'a [&'a [u8]]) -> IdColumn<'a> {
    match column.data_type() {
        DataType::Utf8 => {
            let array = column.as_string::<i32>();
            IdColumn::Utf8 { offsets: array.value_offsets(), bytes: array.value_data() }
        }
        DataType::LargeUtf8 => {
            let array = column.as_string::<i64>();
            IdColumn::LargeUtf8 { offsets: array.value_offsets(), bytes: array.value_data() }
        }
        DataType::Binary => {
            let array = column.as_binary::<i32>();
            IdColumn::Utf8 { offsets: array.value_offsets(), bytes: array.value_data() }
        }
        DataType::LargeBinary => {
            let array = column.as_binary::<i64>();
            IdColumn::LargeUtf8 { offsets: array.value_offsets(), bytes: array.value_data() }
        }
        DataType::Utf8View => IdColumn::Views { views: column.as_string_view().views(), buffers },
        DataType::BinaryView => IdColumn::Views { views: column.as_binary_view().views(), buffers },
        _ => integers(column).map_or(IdColumn::Bytes(&[]), IdColumn::Integers),
    }
}

/// Returns the id in one row of an Arrow column as bytes; `None` if the type of the column holds no
/// ids. The row must not be null.
pub fn id(column: &ArrayRef, row: usize) -> Option<Vec<u8>> {
    if let Some(values) = values(column) {
        return id(values, codes(column)?.natural(row)?);
    }
    if !is_id(column.data_type()) {
        return None;
    }
    let id = column.slice(row, 1);
    Some(text(&id, &buffers(&id)).id(0).bytes(&mut Default::default()).to_vec())
}

/// Borrows the values of an Arrow column of numbers of type `T`.
fn slice<T: ArrowPrimitiveType>(column: &dyn Array) -> &[T::Native] {
    column.as_primitive::<T>().values()
}

/// Borrows the values of an Arrow column of integers; `None` for a column of another type.
pub fn integers(column: &dyn Array) -> Option<Integers<'_>> {
    Some(match column.data_type() {
        DataType::Int8 => Integers::I8(slice::<Int8Type>(column)),
        DataType::Int16 => Integers::I16(slice::<Int16Type>(column)),
        DataType::Int32 => Integers::I32(slice::<Int32Type>(column)),
        DataType::Int64 => Integers::I64(slice::<Int64Type>(column)),
        DataType::UInt8 => Integers::U8(slice::<UInt8Type>(column)),
        DataType::UInt16 => Integers::U16(slice::<UInt16Type>(column)),
        DataType::UInt32 => Integers::U32(slice::<UInt32Type>(column)),
        DataType::UInt64 => Integers::U64(slice::<UInt64Type>(column)),
        _ => return None,
    })
}

/// Borrows the values of an Arrow column of integers or floats; `None` for a column of another
/// type.
pub fn floats(column: &ArrayRef) -> Option<Numbers<'_>> {
    Some(match column.data_type() {
        DataType::Float16 => Numbers::F16(slice::<Float16Type>(column).reinterpret_cast()),
        DataType::Float32 => Numbers::F32(slice::<Float32Type>(column)),
        DataType::Float64 => Numbers::F64(slice::<Float64Type>(column)),
        _ => Numbers::Integers(integers(column)?),
    })
}
