//! Columns of Arrow as results and judgments, borrowed as they lie.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::DataType;
use half::slice::HalfFloatSliceExt;
use laneval::columns::{Integers, Judgments, Numbers, Records, Text};
use laneval::error::Problems;
use laneval::tables::{self, Places, WrongTable};

/// Columns of a table that are results or judgments.
#[derive(Debug)]
pub struct ArrowTable {
    /// The names of all columns of the batches.
    columns: Vec<String>,
    places: Places,
    /// The names of the columns of queries, groups, documents, and numbers or ranks.
    names: Vec<String>,
    batches: Vec<ArrowBatch>,
    rows: usize,
}

#[derive(Debug)]
struct ArrowBatch {
    query: ArrayRef,
    doc: ArrayRef,
    number: Option<ArrayRef>,
    rank: Option<ArrayRef>,
    group: Option<ArrayRef>,
}

impl tables::Table for ArrowTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn with_records(&self, work: &mut dyn FnMut(&[Records<'_>])) {
        ArrowTable::with_records(self, |batches| work(batches));
    }

    fn with_judgments(&self, work: &mut dyn FnMut(&[Judgments<'_>])) {
        ArrowTable::with_judgments(self, |batches| work(batches));
    }
}

impl ArrowTable {
    /// Makes a table without rows, of batches whose columns have the names `columns`, and are read from `places`.
    pub fn new(columns: &[String], places: Places) -> Self {
        let read = [Some(places.query), places.group, Some(places.doc), places.number.or(places.rank)];
        let names = read.into_iter().flatten().map(|at| columns[at].clone()).collect();
        ArrowTable { columns: columns.to_vec(), places, names, batches: Vec::new(), rows: 0 }
    }

    /// Adds the rows of some batches.
    ///
    /// # Errors
    /// A column of a type that is not allowed for it; nulls, by their rows.
    pub fn push(&mut self, batches: &[RecordBatch]) -> Result<(), WrongTable> {
        let (mut first, mut more) = (Vec::new(), 0);
        for batch in batches {
            more += self.push_batch(batch, &mut first)?;
        }
        if first.is_empty() { Ok(()) } else { Err(WrongTable::Rows { first, more }) }
    }

    /// Adds the rows of a batch, and its first nulls to `found`; returns how many more nulls there are.
    fn push_batch(&mut self, batch: &RecordBatch, found: &mut Vec<(u64, String)>) -> Result<u64, WrongTable> {
        let (names, Places { query, doc, number, rank, group, .. }) = (&self.columns, self.places);
        let column = |at: usize| batch.column(at).clone();
        let of = ArrowBatch {
            query: column(query),
            doc: column(doc),
            number: number.map(|at| as_numbers(batch.column(at))),
            rank: rank.map(column),
            group: group.map(column),
        };
        let (mut null_rows, mut count) = (Vec::new(), 0);
        for at in [Some(query), Some(doc), number, rank, group].into_iter().flatten() {
            let (first, all) = nulls(batch.column(at));
            count += all;
            null_rows.extend(first.into_iter().map(|row| (row, at)));
        }
        // By row and then by column, as a reader of the table meets them.
        null_rows.sort_unstable();
        // Invariant: `found` has at most `LIMIT` entries, as each batch adds no more than there is room for.
        let room = Problems::LIMIT - found.len();
        let null =
            |(row, at): (usize, usize)| ((self.rows + row + 1) as u64, format!("{}: a null", names[at]));
        let (before, of_batch) = (found.len(), null_rows.into_iter().take(room).map(null));
        found.extend(of_batch);
        let more = (count - (found.len() - before)) as u64;
        let wrong = |at: usize, column: &ArrayRef, expected: &str| {
            let of = column.data_type();
            WrongTable::Type(format!("column `{}` is of type {of}: {expected} expected", names[at]))
        };
        let ids = [Some((&of.query, query)), Some((&of.doc, doc)), of.group.as_ref().zip(group)];
        for (column, at) in ids.into_iter().flatten() {
            if !is_id(column.data_type()) {
                let expected = match column.data_type().is_floating() {
                    true => {
                        "ids are text or integers (pandas makes floats of integers where some are missing); text or integers were"
                    }
                    false => "text or integers were",
                };
                return Err(wrong(at, column, expected));
            }
        }
        if let (Some(column), Some(at)) = (&of.number, number)
            && floats(column).is_none()
        {
            return Err(wrong(at, column, "numbers were"));
        }
        if let (Some(column), Some(at)) = (&of.rank, rank)
            && integers(column).is_none()
        {
            return Err(wrong(at, column, "integers were"));
        }
        self.rows += batch.num_rows();
        self.batches.push(of);
        Ok(more)
    }

    /// Adds the rows of another table.
    pub fn append(&mut self, more: ArrowTable) {
        self.rows += more.rows;
        self.batches.extend(more.batches);
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Calls `work` with the rows as results.
    pub fn with_records<R>(&self, work: impl FnOnce(&[Records<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let records = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| Records {
                query: ids[0],
                doc: ids[1],
                score: batch.number.as_ref().and_then(floats),
                rank: batch.rank.as_ref().and_then(integers),
            });
            work(&records.collect::<Vec<_>>())
        })
    }

    /// Calls `work` with the rows as judgments.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[Judgments<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let judgments = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| {
                let grades = batch.number.as_ref().and_then(floats).unwrap_or(Numbers::F64(&[]));
                let judgments = Judgments::new(ids[0], ids[1], grades);
                if batch.group.is_some() { judgments.with_groups(ids[2]) } else { judgments }
            });
            work(&judgments.collect::<Vec<_>>())
        })
    }

    /// Calls `work` with the ids of queries, documents and groups of each batch, in turns; without groups, with queries in their place.
    fn with_ids<R>(&self, work: impl FnOnce(&[Text<'_>]) -> R) -> R {
        // Why `work` is called, and nothing returned: what it sees borrows from `texts`, these from `buffers`, and both live here only.
        let mut columns: Vec<&ArrayRef> = Vec::with_capacity(3 * self.batches.len());
        for ArrowBatch { query, doc, group, .. } in &self.batches {
            columns.extend([query, doc, group.as_ref().unwrap_or(query)]);
        }
        let plain: Vec<&ArrayRef> = columns.iter().map(|column| values(column).unwrap_or(column)).collect();
        let buffers: Vec<Vec<&[u8]>> = plain.iter().map(|column| buffers(column)).collect();
        let texts: Vec<Text<'_>> =
            plain.iter().zip(&buffers).map(|(column, buffers)| text(column, buffers)).collect();
        let ids = columns.iter().zip(&texts).map(|(column, text)| match codes(column) {
            Some(codes) => Text::Coded { codes, values: text },
            None => *text,
        });
        work(&ids.collect::<Vec<_>>())
    }
}

/// Returns the first rows that are null, as many as are told, and the number of all.
fn nulls(column: &ArrayRef) -> (Vec<usize>, usize) {
    if column.logical_null_count() == 0 {
        return (Vec::new(), 0);
    }
    let Some(nulls) = column.logical_nulls() else { return (Vec::new(), 0) };
    let first = (0..column.len()).filter(|&row| nulls.is_null(row)).take(Problems::LIMIT);
    (first.collect(), nulls.null_count())
}

/// Returns a column of numbers as one of a type that is borrowed: truth values are 0 and 1, and decimals become the nearest numbers.
fn as_numbers(column: &ArrayRef) -> ArrayRef {
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
fn is_id(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_id(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        of => of.is_integer(),
    }
}

/// Returns the values of a dictionary.
fn values(column: &ArrayRef) -> Option<&ArrayRef> {
    column.as_any_dictionary_opt().map(|dictionary| dictionary.values())
}

/// Returns the codes of a dictionary.
fn codes(column: &ArrayRef) -> Option<Integers<'_>> {
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
fn buffers(column: &ArrayRef) -> Vec<&[u8]> {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().data_buffers().iter().map(|of| of.as_slice()).collect(),
        DataType::BinaryView => {
            column.as_binary_view().data_buffers().iter().map(|of| of.as_slice()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a column of ids that is not a dictionary.
fn text<'a>(column: &'a ArrayRef, buffers: &'a [&'a [u8]]) -> Text<'a> {
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

/// Returns a column of integers.
fn integers(column: &ArrayRef) -> Option<Integers<'_>> {
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
fn floats(column: &ArrayRef) -> Option<Numbers<'_>> {
    Some(match column.data_type() {
        DataType::Float16 => {
            Numbers::F16(column.as_primitive::<Float16Type>().values()[..].reinterpret_cast())
        }
        DataType::Float32 => Numbers::F32(column.as_primitive::<Float32Type>().values()),
        DataType::Float64 => Numbers::F64(column.as_primitive::<Float64Type>().values()),
        _ => Numbers::Integers(integers(column)?),
    })
}
