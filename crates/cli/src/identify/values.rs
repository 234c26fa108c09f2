//! Values of queries that somebody else's program wrote, or laneval.
//!
//! ```text
//! run query_id measure stat value      per-query rows of laneval, as TSV or CSV; the rows of
//!                                      averages are passed over
//! {"runs": [{"per_query": …}]}         its JSON, or an object {query: value}
//! measure query value                  lines of trec_eval -q; those of `all` are passed over
//! query value                          two columns, separated by a tab, a comma or spaces
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use laneval::Measure;
use laneval::identify::ToldRow;
use serde_json::Value;

use crate::side_file;
use crate::stop::Stop;
use crate::style::shown;

/// The most bytes of values: those of millions of queries.
const MOST: usize = 64 << 20;

/// A value with its measure, if the file says it.
struct ReadValue {
    measure: String,
    row: ToldRow,
}

/// Reads a file of values: the name of their measure, empty if nobody says it, and the values.
pub fn read(path: &Path, measure: Option<&str>) -> Result<(String, Vec<ToldRow>), Stop> {
    let name = shown(path);
    let cannot_open = |error| Stop::new(format!("{name}: cannot open: {error}"));
    let bytes = if path.as_os_str() == "-" {
        side_file::read_up_to(MOST, &mut std::io::stdin())
    } else {
        side_file::read_up_to(MOST, &mut File::open(path).map_err(cannot_open)?)
    };
    let bytes = bytes.map_err(|what| Stop::new(format!("{name}{what}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Stop::new(format!("{name}: it is no text")))?;
    let values = if text.trim_start().starts_with('{') {
        of_json(&name, &text)?
    } else {
        of_lines(&name, &text)?
    };
    if values.is_empty() {
        return Err(Stop::new(format!(
            "{name} has no values of queries: expected 'query<TAB>value' in each line"
        )));
    }
    chosen(&name, values, measure)
}

/// Picks the values of one measure.
fn chosen(
    file: &str,
    values: Vec<ReadValue>,
    measure: Option<&str>,
) -> Result<(String, Vec<ToldRow>), Stop> {
    let names: BTreeSet<&str> = values.iter().map(|value| &value.measure[..]).collect();
    let all: Vec<&str> = names.iter().copied().collect();
    let wanted = match (measure, &all[..]) {
        (_, [only]) => (*only).to_owned(),
        (Some(measure), _) => {
            let parsed = measure.parse::<Measure>().ok();
            let is_it =
                |name: &&&str| **name == measure || parsed.is_some() && name.parse().ok() == parsed;
            let found = all.iter().find(is_it).copied();
            found.map(str::to_owned).ok_or_else(|| {
                Stop::new(format!("{file} has no values of {measure}, only of {}", all.join(", ")))
            })?
        }
        (None, _) => {
            return Err(Stop::new(format!(
                "{file} has values of {}: say of which (-m)",
                all.join(", ")
            )));
        }
    };
    let name = measure.map_or(wanted.clone(), str::to_owned);
    let rows = values.into_iter().filter(|value| value.measure == wanted).map(|value| value.row);
    Ok((name, rows.collect()))
}

/// Reads lines.
fn of_lines(file: &str, text: &str) -> Result<Vec<ReadValue>, Stop> {
    let first = text.lines().next().unwrap_or_default();
    let separator =
        [('\t', true), (',', true)].into_iter().find(|(separator, _)| first.contains(*separator));
    let fields = |line: &str| -> Vec<String> {
        match separator {
            Some((separator, _)) => {
                line.split(separator).map(|field| field.trim().to_owned()).collect()
            }
            None => line.split_whitespace().map(str::to_owned).collect(),
        }
    };
    let header = fields(first);
    let column =
        |names: &[&str]| header.iter().position(|of| names.contains(&&of.to_lowercase()[..]));
    let named = column(&["query_id", "query", "qid"]).zip(column(&["value", "score"]));
    let (measure, stat) = (column(&["measure", "metric"]), column(&["stat"]));
    let mut values = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fields = fields(line);
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
                return Err(Stop::new(format!(
                    "{file}:{number}: {} fields: {shape}",
                    fields.len()
                )));
            }
        };
        // trec_eval: averages are those of the query `all`, and its first line names the run.
        if query == "all" || measure == "runid" {
            continue;
        }
        let row = ToldRow { place: format!("{file}:{number}"), query: query.into_bytes(), value };
        values.push(ReadValue { measure, row });
    }
    Ok(values)
}

/// Reads JSON.
fn of_json(file: &str, text: &str) -> Result<Vec<ReadValue>, Stop> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| Stop::new(format!("{file}: no JSON: {error}")))?;
    let wrong = || {
        let expected =
            "expected the JSON of laneval eval -q of one run, or an object {query: value}";
        Stop::new(format!("{file}: {expected}"))
    };
    let told = |measure: &str, query: &str, value: &Value| {
        let value = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            Value::Null => "null".to_owned(),
            _ => return Err(wrong()),
        };
        let row = ToldRow { place: format!("{file}:"), query: query.as_bytes().to_vec(), value };
        Ok(ReadValue { measure: measure.to_owned(), row })
    };
    let Some(runs) = document.get("runs") else {
        let object = document.as_object().ok_or_else(wrong)?;
        return object.iter().map(|(query, value)| told("", query, value)).collect();
    };
    let of_run = match runs.as_array().map(Vec::as_slice) {
        Some([run]) => run.get("per_query").and_then(Value::as_object).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    let mut values = Vec::new();
    for (query, of_query) in of_run {
        for (measure, value) in of_query.as_object().ok_or_else(wrong)? {
            values.push(told(measure, query, value)?);
        }
    }
    Ok(values)
}
