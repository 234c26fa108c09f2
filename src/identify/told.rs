//! Values of queries as they were told, by a file or a mapping.

use super::orders::QueryFound;
use super::printed::PrintedNumber;
use super::sums::ToldOfQuery;
use crate::error::{Error, Result, printable};
use crate::ids::Ids;
use crate::matrix::Above;
use crate::measure::Range;

/// The value of a query as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldRow {
    /// The source of the value, such as `scores.tsv:3`; empty for a value without a source.
    pub place: String,
    /// The id of the query.
    pub query: Vec<u8>,
    /// The value as written; `nan`, `null`, `none`, `-` or an empty text is no value.
    pub value: String,
}

impl ToldRow {
    /// Whether the row says: the query has no value.
    fn is_left_out(&self) -> bool {
        ["", "nan", "null", "none", "-"].contains(&self.value.trim().to_lowercase().as_str())
    }

    /// A message about the row.
    fn placed(&self, message: &str) -> Error {
        let place = if self.place.is_empty() { String::new() } else { format!("{}: ", self.place) };
        Error::Unanswerable(format!("{place}{message}"))
    }

    /// The file of the place.
    fn file(&self) -> String {
        let file = self.place.rsplit_once(':').map_or(&self.place[..], |(file, _)| file);
        if file.is_empty() { String::new() } else { format!("{file}: ") }
    }
}

/// The told values of all queries.
pub(super) struct ToldValues {
    /// The told value of each query of the matrix.
    pub of: Vec<ToldOfQuery>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Reads told values. Every value counts with the digits of the longest value, unless `digits`
/// gives a number.
///
/// A judged query may lack a told value. If all these queries may have been left out, because the
/// run lacks the query or no document is relevant, they have no value. Otherwise only part of the
/// queries were told, and a query without a told value does not count.
///
/// # Errors
/// A value other than a number; two values of one query; fewer than half of the queries judged.
pub(super) fn told_values(
    rows: &[ToldRow],
    measure: &str,
    digits: Option<u8>,
    ids: &Ids,
    (found, relevant): (&[QueryFound], Above),
) -> Result<ToldValues> {
    let read = |row: &ToldRow, digits| {
        PrintedNumber::read(&row.value, "", digits, Range::Any, false)
            .map_err(|message| row.placed(&message))
    };
    let mut longest: f64 = 1.0;
    for row in rows.iter().filter(|row| !row.is_left_out()) {
        longest = longest.min(read(row, digits)?.half);
    }
    let mut of = vec![ToldOfQuery::Nothing; ids.len()];
    let mut seen: Vec<Option<&ToldRow>> = vec![None; ids.len()];
    let mut unknown: Option<&ToldRow> = None;
    let mut known = 0;
    for row in rows {
        let Some(query) = ids.find(&row.query) else {
            unknown = unknown.or(Some(row));
            continue;
        };
        if let Some(other) = seen[query] {
            if other.value == row.value {
                continue;
            }
            return Err(twice(row, other, measure));
        }
        seen[query] = Some(row);
        known += 1;
        of[query] = if row.is_left_out() {
            ToldOfQuery::LeftOut
        } else {
            ToldOfQuery::Value(read(row, digits)?.value, longest)
        };
    }
    let mut notes = Vec::new();
    if let Some(row) = unknown {
        notes.push(not_judged(row, known, rows.len())?);
    }
    let may_be_out = |at: usize| !found[at].present || found[at].has_nothing(relevant, false);
    let untold: Vec<usize> = (0..of.len()).filter(|&at| seen[at].is_none()).collect();
    if untold.iter().all(|&at| may_be_out(at)) {
        untold.iter().for_each(|&at| of[at] = ToldOfQuery::LeftOut);
    } else {
        notes.push(format!(
            "values of {known} of {} judged queries were given; the others say nothing",
            of.len()
        ));
    }
    Ok(ToldValues { of, notes })
}

/// The error of a query with two values.
fn twice(row: &ToldRow, other: &ToldRow, measure: &str) -> Error {
    let (file, id) = (row.file(), printable(&row.query));
    let of = if measure.is_empty() { String::new() } else { format!(" of {measure}") };
    Error::Unanswerable(format!(
        "{file}query {id} has two values{of}: {} and {}",
        other.value, row.value
    ))
}

/// Returns a remark on a query without judgments, if half of the told queries have judgments.
fn not_judged(row: &ToldRow, known: usize, all: usize) -> Result<String> {
    let id = printable(&row.query);
    let error =
        row.placed(&format!("query {id} is not judged; {known} of {all} queries are known"));
    if 2 * known < all { Err(error) } else { Ok(error.to_string()) }
}
