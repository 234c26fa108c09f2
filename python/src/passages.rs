//! Judged or retrieved passages from Python tuples, dicts and columns with a start and an end.

use laneval::FacetKind;
use laneval::tables::ColumnIndices;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};

use crate::columns::{RowSpec, RowsRole};
use crate::errors::wrong_type;
use crate::rows::{OwnedRows, QueryCodes, keys_and_names};
use crate::table;
use crate::text::shown;

/// The fields of one passage from Python: query, document, start, end, and a score or grade.
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

/// The keys by which Python dicts of passages are read.
struct PassageKeys<'py> {
    keys: Vec<Bound<'py, PyAny>>,
    places: ColumnIndices,
}

impl<'py> PassageKeys<'py> {
    /// Returns the keys by which Python dicts of passages are read, found from the first dict.
    fn from_record(first: &Bound<'py, PyMapping>, spec: RowSpec<'_>) -> PyResult<Self> {
        let (keys, names) = keys_and_names(first)?;
        let places = table::places(first.py(), &names, &[], spec)?;
        Ok(Self { keys, places })
    }

    /// Returns the fields of a passage that is a Python dict, which need not have a grade.
    fn fields(
        &self,
        record: &Bound<'py, PyMapping>,
        spec: RowSpec<'_>,
        row: u64,
    ) -> PyResult<PassageFields<'py>> {
        let keys = &self.keys;
        let ColumnIndices { query, doc, number, rank, start, end, length, .. } = self.places;
        let (Some(start), Some(end)) = (start, end.or(length)) else {
            return Err(spec.problem(record.py(), row, "a start and an end were expected"));
        };
        let number = match (number, rank) {
            (Some(at), _) => record.get_item(&keys[at]).ok(),
            (None, Some(at)) => Some(spec.field(record, &keys[at], row)?),
            (None, None) => None,
        };
        Ok(PassageFields {
            query: spec.field(record, &keys[query], row)?,
            doc: spec.field(record, &keys[doc], row)?,
            start: spec.field(record, &keys[start], row)?,
            end: spec.field(record, &keys[end], row)?,
            is_length: length.is_some(),
            number: number.filter(|number| !number.is_none()),
            is_rank: rank.is_some(),
        })
    }
}

impl<'py> PassageFields<'py> {
    /// Returns the fields of a passage that is a tuple: query, document, start, end, and a score,
    /// or perhaps a grade.
    fn from_tuple(item: &Bound<'py, PyAny>, role: RowsRole) -> Option<Self> {
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
        fits.then_some(Self { query, doc, start, end, is_length: false, number, is_rank: false })
    }

    /// Reads the score of the passage, or its grade, which is 1 where it is missing.
    fn read_number(&self, spec: RowSpec<'_>, row: u64) -> PyResult<f64> {
        let number = match &self.number {
            Some(number) => spec.number(number, [&self.query, &self.doc], row)?,
            None if spec.role == RowsRole::Qrels => 1.0,
            None => return Err(spec.problem(self.doc.py(), row, "the score is missing")),
        };
        Ok(if self.is_rank { -number } else { number })
    }
}

/// Reads a start, an end or a length of a passage from a Python integer, as `what` says.
fn read_position(
    value: &Bound<'_, PyAny>,
    what: &str,
    spec: RowSpec<'_>,
    row: u64,
) -> PyResult<i64> {
    // Whole numbers of NumPy too, but no floats.
    value.call_method0("__index__").and_then(|whole| whole.extract::<i64>()).map_err(|_| {
        let shown = shown(value);
        let message =
            format!("{what} {shown} is not a position: a whole number from 0 was expected");
        spec.problem(value.py(), row, message)
    })
}

impl OwnedRows {
    /// Reads judged or retrieved passages from a Python iterable of tuples or dicts. Tuples are
    /// (query, document, start, end, score), whose last item is the grade of judgments and may be
    /// missing there. Dicts have keys as tables have columns.
    pub fn from_passages(object: &Bound<'_, PyAny>, spec: RowSpec<'_>) -> PyResult<Self> {
        let py = object.py();
        let spec = RowSpec { by: Some(FacetKind::Span), ..spec };
        let mut keys: Option<PassageKeys<'_>> = None;
        let (mut rows, mut codes) = (Self::default(), QueryCodes::default());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (row, item) in (1u64..).zip(object.try_iter()?) {
            let item = item?;
            let fields = match item.cast::<PyMapping>() {
                Ok(record) => {
                    // A record need not have a grade, and the next one may have it.
                    let known = keys.take().filter(|keys| {
                        keys.places.number.is_some()
                            || record.len().is_ok_and(|len| len == keys.keys.len())
                    });
                    let keys = keys.insert(match known {
                        Some(known) => known,
                        None => PassageKeys::from_record(record, spec)?,
                    });
                    keys.fields(record, spec, row)?
                }
                Err(_) => PassageFields::from_tuple(&item, spec.role).ok_or_else(|| {
                    let message = format!(
                        "{} was found: (query, document, start, end, {}) was expected",
                        shown(&item),
                        spec.role.value()
                    );
                    spec.problem(py, row, message)
                })?,
            };
            let start = read_position(&fields.start, "start", spec, row)?;
            let what = if fields.is_length { "length" } else { "end" };
            let end = read_position(&fields.end, what, spec, row)?;
            starts.push(start);
            ends.push(if fields.is_length { start.saturating_add(end) } else { end });
            let number = fields.read_number(spec, row)?;
            rows.push_row(&fields.query, &fields.doc, || Ok(number), &mut codes, spec.name)?;
            if row % (1 << 16) == 0 {
                py.check_signals()?;
            }
        }
        Ok(rows.with_spans(starts, ends))
    }
}

/// Returns the exception for a Python object without positions, where judgments are passages.
pub fn no_positions(name: &str, object: &Bound<'_, PyAny>) -> PyErr {
    wrong_type(
        name,
        object,
        "judgments are by span, so a path, a table, or an iterable of dicts or of (query, \
         document, start, end, …)",
    )
}
