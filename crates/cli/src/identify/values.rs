//! The file of `identify --query-values`: values of queries under a measure, written by laneval or
//! another program.
//!
//! ```text
//! run query_id measure stat value      per-query rows of laneval, as TSV or CSV; the rows of
//!                                      averages are passed over
//! {"runs": [{"per_query": …}]}         its JSON, or an object {query: value}
//! measure query value                  lines of trec_eval -q; those of `all` are passed over
//! query value                          two columns, separated by a tab, a comma or spaces
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use laneval::identify::ReportedValue;
use laneval::{Error, Measure};
use serde_json::value::RawValue;

use crate::{
    cli_error::{CliError, CliResult, fail},
    side_file,
    style::shown,
};

/// The most bytes of values: those of millions of queries.
const MOST: usize = 64 << 20;

/// The value of a query in a file of `identify --query-values`, with its measure if the file names
/// one.
struct ParsedValue {
    measure: String,
    row: ReportedValue,
}

/// Reads a file of `identify --query-values`: the name of the measure, empty if unknown, and the
/// values of queries.
pub fn read(path: &Path, measure: Option<&str>) -> CliResult<(String, Vec<ReportedValue>)> {
    let name = shown(path);
    let bytes = if path.as_os_str() == "-" {
        side_file::read_up_to(MOST, &mut std::io::stdin())
    } else {
        let file = File::open(path).map_err(|error| Error::io(path, "open", error));
        side_file::read_up_to(MOST, &mut file?)
    };
    let bytes = bytes.map_err(|what| CliError::new(format!("{name}{what}")))?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::for_path(path, "it is no text"))?;
    let values = if text.trim_start().starts_with('{') {
        parse_json(&name, &text)?
    } else {
        parse_lines(&name, &text)?
    };
    if values.is_empty() {
        return fail(format!(
            "{name} has no values of queries: expected 'query<TAB>value' in each line"
        ));
    }
    chosen(&name, values, measure)
}

/// Picks the values of one measure among those in a file of `identify --query-values`.
fn chosen(
    file: &str,
    values: Vec<ParsedValue>,
    measure: Option<&str>,
) -> CliResult<(String, Vec<ReportedValue>)> {
    let names: BTreeSet<&str> = values.iter().map(|value| &value.measure[..]).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let wanted = match (measure, &names[..]) {
        (_, [only]) => (*only).to_owned(),
        (Some(measure), _) => {
            // One measure may have several spellings: a file may have trec_eval's.
            let parsed = measure.parse::<Measure>().ok();
            let found = names
                .iter()
                .find(|name| **name == measure || parsed.is_some() && name.parse().ok() == parsed);
            found.map(|name| (*name).to_owned()).ok_or_else(|| {
                CliError::new(format!(
                    "{file} has no values of {measure}, only of {}",
                    names.join(", ")
                ))
            })?
        }
        (None, _) => {
            return fail(format!("{file} has values of {}: say of which (-m)", names.join(", ")));
        }
    };
    let name = measure.map_or(wanted.clone(), str::to_owned);
    let rows = values.into_iter().filter(|value| value.measure == wanted).map(|value| value.row);
    Ok((name, rows.collect()))
}

/// Parses the values of queries in TSV, CSV, lines of `trec_eval -q`, or two columns.
fn parse_lines(file: &str, text: &str) -> CliResult<Vec<ParsedValue>> {
    let first = text.lines().next().unwrap_or_default();
    let separator = ['\t', ','].into_iter().find(|separator| first.contains(*separator));
    let header = split_fields(first, separator);
    let named = find_column(&header, &["query_id", "query", "qid"])
        .zip(find_column(&header, &["value", "score"]));
    let measure = find_column(&header, &["measure", "metric"]);
    let stat = find_column(&header, &["stat"]);
    let mut values = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fields = split_fields(line, separator);
        let field = |at: usize| fields.get(at).cloned().unwrap_or_default();
        if line.trim().is_empty() || named.is_some() && number == 1 {
            continue;
        }
        let (measure, query, value) = match (named, fields.len()) {
            (Some((query, value)), _) => {
                if stat.is_some_and(|stat| field(stat) != "value") {
                    continue;
                }
                (measure.map(field).unwrap_or_default(), field(query), field(value))
            }
            (None, 2) => (String::new(), field(0), field(1)),
            (None, 3) => (field(0), field(1), field(2)),
            _ => {
                let shape = "expected 'query<TAB>value', 'measure<TAB>query<TAB>value' or rows of \
                             laneval eval -q";
                return fail(format!("{file}:{number}: {} fields: {shape}", fields.len()));
            }
        };
        // trec_eval: averages are those of the query `all`, and its first line names the run.
        if query == "all" || measure == "runid" {
            continue;
        }
        let row =
            ReportedValue { place: format!("{file}:{number}"), query: query.into_bytes(), value };
        values.push(ParsedValue { measure, row });
    }
    Ok(values)
}

/// Splits a line into its fields, at `separator` if there is one, else at blanks.
fn split_fields(line: &str, separator: Option<char>) -> Vec<String> {
    match separator {
        Some(separator) => line.split(separator).map(|field| field.trim().to_owned()).collect(),
        None => line.split_whitespace().map(str::to_owned).collect(),
    }
}

/// Returns the index of the first column whose heading is one of `names`.
fn find_column(header: &[String], names: &[&str]) -> Option<usize> {
    header.iter().position(|heading| names.contains(&&heading.to_lowercase()[..]))
}

/// Parses the values of queries in JSON: that of `laneval eval`, or an object `{query: value}`.
fn parse_json(file: &str, text: &str) -> CliResult<Vec<ParsedValue>> {
    let document = serde_json::from_str(text)
        .map_err(|error| CliError::new(format!("{file}: no JSON: {error}")))?;
    document_values(file, document).ok_or_else(|| {
        let expected =
            "expected the JSON of laneval eval -q of one run, or an object {query: value}";
        CliError::new(format!("{file}: {expected}"))
    })
}

/// Returns the values of queries in a JSON document; `None` if the document has another form.
fn document_values(file: &str, document: &RawValue) -> Option<Vec<ParsedValue>> {
    let document = object(document)?;
    let Some(runs) = document.get("runs") else {
        return document.iter().map(|(query, value)| parse_value(file, "", query, value)).collect();
    };
    let runs: Vec<&RawValue> = serde_json::from_str(runs.get()).ok()?;
    let [run] = runs[..] else { return None };
    let mut values = Vec::new();
    for (query, of_query) in object(object(run)?.get("per_query")?)? {
        for (measure, value) in object(of_query)? {
            values.push(parse_value(file, &measure, &query, value)?);
        }
    }
    Some(values)
}

/// Returns the values of a JSON object by their keys, as they are written.
fn object(text: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(text.get()).ok()
}

fn parse_value(file: &str, measure: &str, query: &str, value: &RawValue) -> Option<ParsedValue> {
    // A number stays the text that it is: parsed, 0.4500 would be 0.45, which has fewer digits.
    let value = match value.get() {
        text if text.starts_with('"') => serde_json::from_str(text).ok()?,
        text if text.starts_with(['{', '[', 't', 'f']) => return None,
        text => text.to_owned(),
    };
    let row = ReportedValue { place: format!("{file}:"), query: query.as_bytes().to_vec(), value };
    Some(ParsedValue { measure: measure.to_owned(), row })
}
