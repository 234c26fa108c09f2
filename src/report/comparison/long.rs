//! The long form of a comparison: one row for each number, of a run (then the baseline is empty) or of a pair.

use std::io::{self, Write};

use serde::Serialize;

use super::stats;
use crate::compare::Comparison;
use crate::report::JsonText;
use crate::report::delimited::plain;
use crate::report::long;
use crate::report::options::ReportOptions;

/// A row with one number.
#[derive(Serialize)]
struct LongRow<'a> {
    run: &'a str,
    baseline: &'a str,
    query_id: JsonText<'a>,
    measure: &'a str,
    stat: &'a str,
    value: f64,
}

/// Calls `each` with every row: values of queries and their differences first, if they are wanted, then statistics.
fn rows(
    comparison: &Comparison,
    options: &ReportOptions,
    mut each: impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let names: Vec<String> = comparison.measures.iter().map(ToString::to_string).collect();
    if options.per_query {
        rows_of_queries(comparison, &names, &mut each)?;
    }
    for (at, name) in names.iter().enumerate() {
        for run in &comparison.runs {
            for (stat, value) in stats::of_run(comparison, run, at) {
                let Some(value) = value else { continue };
                each(LongRow {
                    run: &run.name,
                    baseline: "",
                    query_id: JsonText(b""),
                    measure: name,
                    stat,
                    value,
                })?;
            }
        }
        for of in comparison.of_measure(at) {
            let [run, baseline] = [of.pair.run, of.pair.baseline].map(|at| comparison.runs[at].name.as_str());
            for (stat, value) in stats::of_difference(comparison, of) {
                let Some(value) = value else { continue };
                each(LongRow { run, baseline, query_id: JsonText(b""), measure: name, stat, value })?;
            }
        }
    }
    Ok(())
}

/// Calls `each` with the values of queries, and their differences.
fn rows_of_queries(
    comparison: &Comparison,
    names: &[String],
    each: &mut impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for (measure, name) in names.iter().enumerate() {
        for (at, run) in comparison.runs.iter().enumerate() {
            let values = comparison.values(measure, at);
            for (query_id, &value) in comparison.query_ids().zip(values) {
                each(LongRow {
                    run: &run.name,
                    baseline: "",
                    query_id: JsonText(query_id),
                    measure: name,
                    stat: "value",
                    value,
                })?;
            }
        }
        for of in comparison.of_measure(measure) {
            let [run, baseline] = [of.pair.run, of.pair.baseline];
            let values = comparison.values(measure, run).iter().zip(comparison.values(measure, baseline));
            let [run, baseline] = [run, baseline].map(|at| comparison.runs[at].name.as_str());
            for (query_id, (value, other)) in comparison.query_ids().zip(values) {
                each(LongRow {
                    run,
                    baseline,
                    query_id: JsonText(query_id),
                    measure: name,
                    stat: "delta",
                    value: value - other,
                })?;
            }
        }
    }
    Ok(())
}

/// Writes rows with a delimiter.
pub fn write_delimited(
    delimiter: u8,
    comparison: &Comparison,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(["run", "baseline", "query_id", "measure", "stat", "value"]).map_err(plain)?;
    rows(comparison, options, |row| {
        let value = match options.decimals {
            // Counts are whole.
            Some(decimals) if row.value.fract() != 0.0 => format!("{:.decimals$}", row.value),
            _ => row.value.to_string(),
        };
        let text = [row.run, row.baseline].map(str::as_bytes);
        let cells =
            [text[0], text[1], row.query_id.0, row.measure.as_bytes(), row.stat.as_bytes(), value.as_bytes()];
        table.write_record(cells).map_err(plain)
    })?;
    table.flush()
}

/// Writes one object on each line.
pub fn write_lines(comparison: &Comparison, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    rows(comparison, options, |row| {
        let rounded = |value| options.decimals.map_or(value, |decimals| long::rounded(value, decimals));
        let row = LongRow { value: rounded(row.value), ..row };
        serde_json::to_writer(&mut *to, &row)?;
        to.write_all(b"\n")
    })
}
