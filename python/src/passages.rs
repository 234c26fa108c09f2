//! Passages as rows: tuples, dicts and columns with a start and an end.

use laneval::JudgedBy;
use laneval::tables::Places;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};

use crate::columns::{NamedColumns, RowsRole};
use crate::errors::problem;
use crate::rows::{OwnedRows, QueryCodes, number_of, shown};
use crate::table;

/// The fields of a row, by their places among the items of a tuple, or by their keys.
struct PassageFields<'py> {
    query: Bound<'py, PyAny>,
    doc: Bound<'py, PyAny>,
    start: Bound<'py, PyAny>,
    end: Bound<'py, PyAny>,
    /// Whether `end` is the number of positions.
    is_length: bool,
    /// The grade or the score; `None` for a passage without a grade.
    number: Option<Bound<'py, PyAny>>,
    /// Whether `number` is a rank.
    is_rank: bool,
}

/// The keys of records.
struct PassageKeys<'py> {
    keys: Vec<Bound<'py, PyAny>>,
    places: Places,
}

impl<'py> PassageKeys<'py> {
    /// The keys that are read of records, of which this is the first.
    fn of(
        first: &Bound<'py, PyMapping>,
        name: &str,
        role: RowsRole,
        columns: &NamedColumns,
    ) -> PyResult<Self> {
        let keys: Vec<Bound<'py, PyAny>> = first.keys()?.iter().collect();
        let names: Vec<String> =
            keys.iter().map(|key| Ok(key.str()?.to_string())).collect::<PyResult<_>>()?;
        let of = (role, Some(JudgedBy::Span));
        let places = table::places(first.py(), (&names, &[]), name, of, columns)?;
        Ok(PassageKeys { keys, places })
    }

    /// The fields of a record; one need not have a grade.
    fn fields(
        &self,
        record: &Bound<'py, PyMapping>,
        name: &str,
        row: u64,
    ) -> PyResult<PassageFields<'py>> {
        let needed = |at: usize| {
            record.get_item(&self.keys[at]).map_err(|_| {
                let message =
                    format!("{} was found, which has no {}", shown(record), shown(&self.keys[at]));
                problem(record.py(), name, row, message)
            })
        };
        let Places { query, doc, number, rank, start, end, length, .. } = self.places;
        let (Some(start), Some(end)) = (start, end.or(length)) else {
            return Err(problem(record.py(), name, row, "a start and an end were expected"));
        };
        let number = match (number, rank) {
            (Some(at), _) => record.get_item(&self.keys[at]).ok(),
            (None, Some(at)) => Some(needed(at)?),
            (None, None) => None,
        };
        Ok(PassageFields {
            query: needed(query)?,
            doc: needed(doc)?,
            start: needed(start)?,
            end: needed(end)?,
            is_length: length.is_some(),
            number: number.filter(|number| !number.is_none()),
            is_rank: rank.is_some(),
        })
    }
}

impl<'py> PassageFields<'py> {
    /// The fields of a tuple: query, document, start, end, and a score, or perhaps a grade.
    fn of(item: &Bound<'py, PyAny>, role: RowsRole) -> Option<Self> {
        let tuple: Vec<Bound<'py, PyAny>> = match item.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => item.extract().ok()?,
        };
        let mut fields = tuple.into_iter();
        let [query, doc, start, end] =
            [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
        let number = fields.next();
        let fits = fields.next().is_none() && (number.is_some() || role == RowsRole::Qrels);
        let number = number.filter(|number| !number.is_none());
        fits.then_some(PassageFields {
            query,
            doc,
            start,
            end,
            is_length: false,
            number,
            is_rank: false,
        })
    }

    /// Reads the grade, which is 1 where it is missing, or the score.
    fn read_number(&self, role: RowsRole, name: &str, row: u64) -> PyResult<f64> {
        let py = self.doc.py();
        let number = match &self.number {
            Some(number) => number_of(number, role).map_err(|what| {
                let message =
                    format!("the {} of document {} is {what}", role.value(), shown(&self.doc));
                problem(py, name, row, message)
            })?,
            None if role == RowsRole::Qrels => 1.0,
            None => return Err(problem(py, name, row, "the score is missing")),
        };
        Ok(if self.is_rank { -number } else { number })
    }
}

/// Reads a start, an end or a length, as `what` says.
fn read_position(of: &Bound<'_, PyAny>, what: &str, name: &str, row: u64) -> PyResult<i64> {
    // Whole numbers of NumPy too, but no floats.
    of.call_method0("__index__").and_then(|whole| whole.extract::<i64>()).map_err(|_| {
        let shown = shown(of);
        let message =
            format!("{what} {shown} is not a position: a whole number from 0 was expected");
        problem(of.py(), name, row, message)
    })
}

impl OwnedRows {
    /// Reads passages of an iterable of tuples (query, document, start, end, score), whose last
    /// item is the grade of judgments and may be missing there; or of dicts with keys as tables
    /// have columns.
    pub fn of_passages(
        object: &Bound<'_, PyAny>,
        name: &str,
        role: RowsRole,
        columns: &NamedColumns,
    ) -> PyResult<Self> {
        let py = object.py();
        let mut keys: Option<PassageKeys<'_>> = None;
        let (mut rows, mut codes) = (OwnedRows::new(), QueryCodes::new());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (row, item) in (1u64..).zip(object.try_iter()?) {
            let item = item?;
            let fields = match item.cast::<PyMapping>() {
                Ok(record) => {
                    // A record need not have a grade, and the next one may have it.
                    let fits = |keys: &PassageKeys<'_>| {
                        keys.places.number.is_some()
                            || record.len().is_ok_and(|len| len == keys.keys.len())
                    };
                    let keys = match keys.take().filter(fits) {
                        Some(known) => keys.insert(known),
                        None => keys.insert(PassageKeys::of(record, name, role, columns)?),
                    };
                    keys.fields(record, name, row)?
                }
                Err(_) => PassageFields::of(&item, role).ok_or_else(|| {
                    let last = if role == RowsRole::Qrels { ", grade" } else { ", score" };
                    let expected = format!("(query, document, start, end{last})");
                    problem(
                        py,
                        name,
                        row,
                        format!("{} was found: {expected} was expected", shown(&item)),
                    )
                })?,
            };
            let start = read_position(&fields.start, "start", name, row)?;
            let what = if fields.is_length { "length" } else { "end" };
            let end = read_position(&fields.end, what, name, row)?;
            starts.push(start);
            ends.push(if fields.is_length { start.saturating_add(end) } else { end });
            let number = fields.read_number(role, name, row)?;
            rows.push_row((&fields.query, &fields.doc), || Ok(number), &mut codes, name)?;
            if row % (1 << 16) == 0 {
                py.check_signals()?;
            }
        }
        Ok(rows.with_spans(starts, ends))
    }
}

/// The error of a source that has no positions.
pub fn no_positions(name: &str, object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} is of {}: judgments are by span, so a path, a table, or an iterable of dicts or of \
         (query, document, start, end, …) was \
         expected",
        object.get_type()
    ))
}
