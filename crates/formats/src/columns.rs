//! Single columns of Arrow: the types of ids and numbers, and borrowed views of their values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::DataType;
use half::slice::HalfFloatSliceExt;
use laneval::columns::{Integers, Numbers, Text};
use laneval::error::Problems;

/// Returns the first rows that are null, as many as are told, and the number of all.
pub fn nulls(column: &ArrayRef) -> (Vec<usize>, usize) {
    if column.logical_null_count() == 0 {
        return (Vec::new(), 0);
    }
    let Some(nulls) = column.logical_nulls() else { return (Vec::new(), 0) };
    let first = (0..column.len()).filter(|&row| nulls.is_null(row)).take(Problems::LIMIT);
    (first.collect(), nulls.null_count())
}

/// Converts a column of numbers to a type that can be borrowed: truth values become 0 and 1, and
/// decimals become the nearest numbers.
pub fn as_numbers(column: &ArrayRef) -> ArrayRef {
    let of = |numbers: Vec<f64>| Arc::new(Float64Array::from(numbers)) as ArrayRef;
    let decimals = |unscaled: Vec<String>, scale: i8| {
        of(unscaled
            .iter()
            .map(|digits| format!("{digits}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN))
            .collect())
    };
    fn texts<T: ArrowPrimitiveType>(column: &ArrayRef) -> Vec<String>
    where
        T::Native: std::fmt::Display,
    {
        column.as_primitive::<T>().values().iter().map(ToString::to_string).collect()
    }
    match column.data_type() {
        DataType::Boolean => {
            let of_row = |row| f64::from(u8::from(column.as_boolean().value(row)));
            of((0..column.len()).map(of_row).collect())
        }
        DataType::Decimal32(_, scale) => decimals(texts::<Decimal32Type>(column), *scale),
        DataType::Decimal64(_, scale) => decimals(texts::<Decimal64Type>(column), *scale),
        DataType::Decimal128(_, scale) => decimals(texts::<Decimal128Type>(column), *scale),
        DataType::Decimal256(_, scale) => decimals(texts::<Decimal256Type>(column), *scale),
        _ => column.clone(),
    }
}

/// Returns whether ids can have this type.
pub fn is_id(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => {
            !matches!(**values, DataType::Dictionary(..)) && is_id(values)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        of => of.is_integer(),
    }
}

/// Returns the values of a dictionary.
pub fn values(column: &ArrayRef) -> Option<&ArrayRef> {
    column.as_any_dictionary_opt().map(|dictionary| dictionary.values())
}

/// Returns the codes of a dictionary.
pub fn codes(column: &ArrayRef) -> Option<Integers<'_>> {
    fn of<K: ArrowDictionaryKeyType>(column: &ArrayRef) -> &[K::Native] {
        column.as_dictionary::<K>().keys().values()
    }
    let DataType::Dictionary(key, _) = column.data_type() else { return None };
    Some(match **key {
        DataType::Int8 => Integers::I8(of::<Int8Type>(column)),
        DataType::Int16 => Integers::I16(of::<Int16Type>(column)),
        DataType::Int32 => Integers::I32(of::<Int32Type>(column)),
        DataType::Int64 => Integers::I64(of::<Int64Type>(column)),
        DataType::UInt8 => Integers::U8(of::<UInt8Type>(column)),
        DataType::UInt16 => Integers::U16(of::<UInt16Type>(column)),
        DataType::UInt32 => Integers::U32(of::<UInt32Type>(column)),
        DataType::UInt64 => Integers::U64(of::<UInt64Type>(column)),
        _ => return None,
    })
}

/// Returns the buffers of a column of views.
pub fn buffers(column: &ArrayRef) -> Vec<&[u8]> {
    match column.data_type() {
        DataType::Utf8View => {
            column.as_string_view().data_buffers().iter().map(|of| of.as_slice()).collect()
        }
        DataType::BinaryView => {
            column.as_binary_view().data_buffers().iter().map(|of| of.as_slice()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a column of ids that is not a dictionary.
pub fn text<'a>(column: &'a ArrayRef, buffers: &'a [&'a [u8]]) -> Text<'a> {
    match column.data_type() {
        DataType::Utf8 => {
            let of = column.as_string::<i32>();
            Text::Utf8 { offsets: of.value_offsets(), bytes: of.value_data() }
        }
        DataType::LargeUtf8 => {
            let of = column.as_string::<i64>();
            Text::LargeUtf8 { offsets: of.value_offsets(), bytes: of.value_data() }
        }
        DataType::Binary => {
            let of = column.as_binary::<i32>();
            Text::Utf8 { offsets: of.value_offsets(), bytes: of.value_data() }
        }
        DataType::LargeBinary => {
            let of = column.as_binary::<i64>();
            Text::LargeUtf8 { offsets: of.value_offsets(), bytes: of.value_data() }
        }
        DataType::Utf8View => Text::Views { views: column.as_string_view().views(), buffers },
        DataType::BinaryView => Text::Views { views: column.as_binary_view().views(), buffers },
        _ => integers(column).map_or(Text::Bytes(&[]), Text::Numbers),
    }
}

/// Returns the id in a row of a column without nulls there; `None` if the column has no ids.
pub fn id(column: &ArrayRef, row: usize) -> Option<Vec<u8>> {
    if let Some(values) = values(column) {
        return id(values, codes(column)?.natural(row)?);
    }
    Some(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::Utf8View => column.as_string_view().value(row).into(),
        DataType::Binary => column.as_binary::<i32>().value(row).into(),
        DataType::LargeBinary => column.as_binary::<i64>().value(row).into(),
        DataType::BinaryView => column.as_binary_view().value(row).into(),
        _ => integers(column)?.get(row).to_string().into(),
    })
}

/// Returns a column of integers.
pub fn integers(column: &ArrayRef) -> Option<Integers<'_>> {
    Some(match column.data_type() {
        DataType::Int8 => Integers::I8(column.as_primitive::<Int8Type>().values()),
        DataType::Int16 => Integers::I16(column.as_primitive::<Int16Type>().values()),
        DataType::Int32 => Integers::I32(column.as_primitive::<Int32Type>().values()),
        DataType::Int64 => Integers::I64(column.as_primitive::<Int64Type>().values()),
        DataType::UInt8 => Integers::U8(column.as_primitive::<UInt8Type>().values()),
        DataType::UInt16 => Integers::U16(column.as_primitive::<UInt16Type>().values()),
        DataType::UInt32 => Integers::U32(column.as_primitive::<UInt32Type>().values()),
        DataType::UInt64 => Integers::U64(column.as_primitive::<UInt64Type>().values()),
        _ => return None,
    })
}

/// Returns a column of numbers.
pub fn floats(column: &ArrayRef) -> Option<Numbers<'_>> {
    Some(match column.data_type() {
        DataType::Float16 => {
            Numbers::F16(column.as_primitive::<Float16Type>().values()[..].reinterpret_cast())
        }
        DataType::Float32 => Numbers::F32(column.as_primitive::<Float32Type>().values()),
        DataType::Float64 => Numbers::F64(column.as_primitive::<Float64Type>().values()),
        _ => Numbers::Integers(integers(column)?),
    })
}
