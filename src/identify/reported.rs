//! Reported values of single queries, from a file or a mapping, for `laneval identify`.

use super::orders::QueryCounts;
use super::printed::PrintedNumber;
use super::sums::ReportedQuery;
use crate::error::{Error, Result, printable};
use crate::ids::Ids;
use crate::matrix::CodesAbove;
use crate::measure::Range;

/// The reported value of one query as text, with its place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedValue {
    /// The source of the value, such as `scores.tsv:3`; empty for a value without a source.
    pub place: String,
    /// The id of the query.
    pub query: Vec<u8>,
    /// The value as written; `nan`, `null`, `none`, `-` or an empty text is no value.
    pub value: String,
}

impl ReportedValue {
    /// Returns whether the query was reported to have no value, as by `nan` or `-`.
    fn is_left_out(&self) -> bool {
        ["", "nan", "null", "none", "-"].contains(&self.value.trim().to_lowercase().as_str())
    }

    /// Parses the reported value as a number of any range.
    fn parse(&self, digits: Option<u8>) -> Result<PrintedNumber> {
        PrintedNumber::read(&self.value, "", digits, Range::Any, false)
            .map_err(|message| self.placed(&message))
    }

    /// Makes an error about the reported value, with its place in the file in front.
    fn placed(&self, message: &str) -> Error {
        let place = if self.place.is_empty() { String::new() } else { format!("{}: ", self.place) };
        Error::Unanswerable(format!("{place}{message}"))
    }

    /// Returns the name of the file that reports the value, as the start of a message; empty
    /// without a file.
    fn file(&self) -> String {
        let file = self.place.rsplit_once(':').map_or(&self.place[..], |(file, _)| file);
        if file.is_empty() { String::new() } else { format!("{file}: ") }
    }
}

/// The reported values of all queries of a matrix, with remarks for the user.
pub(super) struct ReportedValues {
    /// The told value of each query of the matrix.
    pub reported_queries: Vec<ReportedQuery>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Reads the reported values of queries into one value for each query of the matrix. Every value
/// counts with the digits of the longest value, unless `digits` gives a number.
///
/// A judged query may lack a told value. If all these queries may have been left out, because the
/// run lacks the query or no document is relevant, they have no value. Otherwise only part of the
/// queries were told, and a query without a told value does not count.
///
/// # Errors
/// A value other than a number; two values of one query; fewer than half of the queries judged.
pub(super) fn parse_reported(
    rows: &[ReportedValue],
    measure: &str,
    digits: Option<u8>,
    ids: &Ids,
    found: &[QueryCounts],
    relevant: CodesAbove,
) -> Result<ReportedValues> {
    // Programs that leave out zeros at the end print 0.5 as exactly as 0.4561.
    let mut longest: f64 = 1.0;
    for row in rows.iter().filter(|row| !row.is_left_out()) {
        longest = longest.min(row.parse(digits)?.half);
    }
    let mut reported_queries = vec![ReportedQuery::Nothing; ids.len()];
    let mut seen: Vec<Option<&ReportedValue>> = vec![None; ids.len()];
    let mut unknown: Option<&ReportedValue> = None;
    let mut known = 0;
    for row in rows {
        let Some(query) = ids.find(&row.query) else {
            unknown = unknown.or(Some(row));
            continue;
        };
        if let Some(other) = seen[query] {
            // A row that repeats another contradicts nothing.
            if other.value == row.value {
                continue;
            }
            return Err(twice(row, other, measure));
        }
        seen[query] = Some(row);
        known += 1;
        reported_queries[query] = if row.is_left_out() {
            ReportedQuery::LeftOut
        } else {
            ReportedQuery::Value(row.parse(digits)?.value, longest)
        };
    }
    let mut notes = Vec::new();
    if let Some(row) = unknown {
        notes.push(not_judged(row, known, rows.len())?);
    }
    let untold: Vec<usize> = (0..reported_queries.len()).filter(|&at| seen[at].is_none()).collect();
    let mut counts = untold.iter().map(|&at| found[at]);
    if counts.all(|counts| !counts.present || counts.has_nothing(relevant, false)) {
        untold.iter().for_each(|&at| reported_queries[at] = ReportedQuery::LeftOut);
    } else {
        notes.push(format!(
            "values of {known} of {} judged queries were given; the others say nothing",
            reported_queries.len()
        ));
    }
    Ok(ReportedValues { reported_queries, notes })
}

/// Makes the error for a query that was reported with two different values.
fn twice(row: &ReportedValue, other: &ReportedValue, measure: &str) -> Error {
    let (file, id) = (row.file(), printable(&row.query));
    let suffix = if measure.is_empty() { String::new() } else { format!(" of {measure}") };
    Error::Unanswerable(format!(
        "{file}query {id} has two values{suffix}: {} and {}",
        other.value, row.value
    ))
}

/// Returns a remark on a reported query without judgments; an error if most reported queries have
/// none.
fn not_judged(row: &ReportedValue, known: usize, all: usize) -> Result<String> {
    let id = printable(&row.query);
    let error =
        row.placed(&format!("query {id} is not judged; {known} of {all} queries are known"));
    if 2 * known < all { Err(error) } else { Ok(error.to_string()) }
}
