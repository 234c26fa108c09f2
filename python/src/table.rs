//! Tables with an Arrow stream (pandas, polars, pyarrow, DuckDB), whose columns are borrowed as they lie.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use half::slice::HalfFloatSliceExt;
use laneval::columns::{Integers, Judgments, Numbers, Records, Text};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::problem;
use crate::ffi;
use crate::rows::Role;

/// What columns are called where nobody says it, in the order in which they are looked for; `-` and `_`, and cases, are the same.
const QUERY: &[&str] =
    &["query_id", "qid", "q_id", "query", "topic", "user_id", "userid", "session_id", "indexes"];
const DOC: &[&str] =
    &["doc_id", "docid", "docno", "pid", "corpus_id", "item_id", "itemid", "doc", "document"];
const SCORE: &[&str] = &["score", "prediction", "pred", "preds", "rating_pred"];
const GRADE: &[&str] = &["relevance", "grade", "label", "rel", "rating", "target", "score"];
const RANK: &[&str] = &["rank"];

/// Columns of a table that are results or judgments.
pub struct Table {
    batches: Vec<Batch>,
    rows: usize,
}

struct Batch {
    query: ArrayRef,
    doc: ArrayRef,
    value: Option<ArrayRef>,
    rank: Option<ArrayRef>,
}

/// Where the columns of a table are.
pub struct Places {
    pub query: usize,
    pub doc: usize,
    /// The scores or grades.
    pub value: Option<usize>,
    pub rank: Option<usize>,
}

impl Places {
    /// Those among columns of these names.
    ///
    /// # Errors
    /// A column that is not there.
    pub fn of(names: &[String], name: &str, role: Role, columns: &HashMap<String, String>) -> PyResult<Self> {
        let find = |what: &str, known: &[&str]| find(names, name, (what, columns.get(what)), known);
        let query = found(find("query", QUERY)?, names, name, "query", QUERY)?;
        let doc = found(find("doc", DOC)?, names, name, "doc", DOC)?;
        let (value, rank) = match role {
            Role::Run => (find("score", SCORE)?, find("rank", RANK)?),
            Role::Qrels => (Some(found(find("grade", GRADE)?, names, name, "grade", GRADE)?), None),
        };
        if value.is_none() && rank.is_none() {
            found(None, names, name, "score", SCORE)?;
        }
        // Ranks order equal scores only where they were asked for.
        let rank = rank.filter(|_| value.is_none() || columns.contains_key("rank"));
        Ok(Places { query, doc, value, rank })
    }
}

impl Table {
    /// The columns of an object with an Arrow stream, some by name.
    ///
    /// # Errors
    /// A column that is not there, or of a type that it cannot have; a null, by its row.
    pub fn of(
        object: &Bound<'_, PyAny>,
        name: &str,
        role: Role,
        columns: &HashMap<String, String>,
    ) -> PyResult<Self> {
        let py = object.py();
        let (names, all) = ffi::batches(object)?;
        let Places { query, doc, value, rank } = Places::of(&names, name, role, columns)?;
        let mut table = Table { batches: Vec::new(), rows: 0 };
        for batch in &all {
            let column = |at: usize| batch.column(at).clone();
            let of = Batch {
                query: column(query),
                doc: column(doc),
                value: value.map(column),
                rank: rank.map(column),
            };
            for (column, at) in [
                (Some(&of.query), Some(query)),
                (Some(&of.doc), Some(doc)),
                (of.value.as_ref(), value),
                (of.rank.as_ref(), rank),
            ] {
                let (Some(column), Some(at)) = (column, at) else { continue };
                if let Some(row) = null(column) {
                    let message = format!("{}: a null", names[at]);
                    return Err(problem(py, name, (table.rows + row + 1) as u64, message));
                }
            }
            let wrong = |at: usize, column: &ArrayRef, expected: &str| {
                PyTypeError::new_err(format!(
                    "{name}: column `{}` is of type {}: {expected} expected",
                    names[at],
                    column.data_type()
                ))
            };
            for (column, at) in [(&of.query, query), (&of.doc, doc)] {
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
            if let (Some(column), Some(at)) = (&of.value, value)
                && floats(column).is_none()
            {
                return Err(wrong(at, column, "numbers were"));
            }
            if let (Some(column), Some(at)) = (&of.rank, rank)
                && integers(column).is_none()
            {
                return Err(wrong(at, column, "integers were"));
            }
            table.rows += batch.num_rows();
            table.batches.push(of);
        }
        Ok(table)
    }

    /// Adds the rows of another table.
    pub fn append(&mut self, more: Table) {
        self.rows += more.rows;
        self.batches.extend(more.batches);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Does something with them as results.
    pub fn with_records<R>(&self, work: impl FnOnce(&[Records<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let records = self.batches.iter().zip(ids.chunks(2)).map(|(batch, ids)| Records {
                query: ids[0],
                doc: ids[1],
                score: batch.value.as_ref().and_then(floats),
                rank: batch.rank.as_ref().and_then(integers),
            });
            work(&records.collect::<Vec<_>>())
        })
    }

    /// Does something with them as judgments.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[Judgments<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let judgments = self.batches.iter().zip(ids.chunks(2)).map(|(batch, ids)| Judgments {
                query: ids[0],
                doc: ids[1],
                grade: batch.value.as_ref().and_then(floats).unwrap_or(Numbers::F64(&[])),
            });
            work(&judgments.collect::<Vec<_>>())
        })
    }

    /// Does something with the ids of queries and documents of each batch, in turns.
    fn with_ids<R>(&self, work: impl FnOnce(&[Text<'_>]) -> R) -> R {
        let columns: Vec<&ArrayRef> =
            self.batches.iter().flat_map(|batch| [&batch.query, &batch.doc]).collect();
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

/// The place of a column that is called so, or as one of those known.
fn find(
    names: &[String],
    table: &str,
    (what, asked): (&str, Option<&String>),
    known: &[&str],
) -> PyResult<Option<usize>> {
    if let Some(asked) = asked {
        let at = names.iter().position(|name| name == asked);
        return at.map(Some).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{table}: there is no column `{asked}` for the {what}: there are {}",
                names.join(", ")
            ))
        });
    }
    let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
    Ok(known.iter().find_map(|known| names.iter().position(|name| plain(name) == *known)))
}

/// The place of a column, or what is to be done where it was not found.
fn found(place: Option<usize>, names: &[String], table: &str, what: &str, known: &[&str]) -> PyResult<usize> {
    place.ok_or_else(|| {
        PyValueError::new_err(format!(
            "{table}: no column is the {what}: there are {}, and {} were looked for; say it with columns={{\"{what}\": …}}",
            names.join(", "),
            known.join(", ")
        ))
    })
}

/// The first row that is null.
fn null(column: &ArrayRef) -> Option<usize> {
    if column.logical_null_count() == 0 {
        return None;
    }
    column.logical_nulls().and_then(|nulls| (0..column.len()).find(|&row| nulls.is_null(row)))
}

/// Can ids be of this type?
fn is_id(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_id(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        of => of.is_integer(),
    }
}

/// The values of a dictionary.
fn values(column: &ArrayRef) -> Option<&ArrayRef> {
    column.as_any_dictionary_opt().map(|dictionary| dictionary.values())
}

/// The codes of a dictionary.
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

/// The buffers of a column of views.
fn buffers(column: &ArrayRef) -> Vec<&[u8]> {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().data_buffers().iter().map(|of| of.as_slice()).collect(),
        DataType::BinaryView => {
            column.as_binary_view().data_buffers().iter().map(|of| of.as_slice()).collect()
        }
        _ => Vec::new(),
    }
}

/// Ids that are no dictionary.
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

/// Integers.
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

/// Numbers.
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
