//! The long form of a comparison: one row for each number, of a run (then the baseline is empty) or
//! of a pair.

use std::io::{self, Write};

use serde::Serialize;

use super::stats;
use super::whole::{ComparisonReport, GroupKind};
use crate::compare::Comparison;
use crate::report::JsonText;
use crate::report::delimited::plain;
use crate::report::long;
use crate::report::options::ReportOptions;
use crate::stats::is_undefined;

/// A row with one number.
#[derive(Serialize)]
struct LongRow<'a> {
    run: &'a str,
    baseline: &'a str,
    query_id: JsonText<'a>,
    measure: &'a str,
    stat: &'a str,
    value: f64,
    /// The group; `None` in the rows of all queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    /// The gate, in the rows of gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
}

impl Default for LongRow<'_> {
    fn default() -> Self {
        LongRow {
            run: "",
            baseline: "",
            query_id: JsonText(b""),
            measure: "",
            stat: "",
            value: 0.0,
            group: None,
            gate: None,
        }
    }
}

/// Calls `each` with every row: first the values of queries and their differences, if the options
/// ask for queries; then the statistics, the groups behind all queries; then the results of gates.
fn rows(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    mut each: impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let names: Vec<String> = report.comparison.measures.iter().map(ToString::to_string).collect();
    if options.per_query {
        // The rows of all queries write the value of each query once. Groups need no rows of
        // queries, except the groups of a judge, because a query has another value under each
        // judge.
        rows_of_queries(report.comparison, &names, &mut each)?;
    }
    for (group, comparison) in report.comparisons() {
        let group = (!group.is_empty()).then_some(group);
        if options.per_query && group.is_some() && report.kind == GroupKind::Judge {
            rows_of_queries(comparison, &names, &mut |row| each(LongRow { group, ..row }))?;
        }
        rows_of_stats(comparison, &names, &mut |row| each(LongRow { group, ..row }))?;
    }
    rows_of_gates(report, &mut each)
}

/// Calls `each` with the statistics of runs and pairs.
fn rows_of_stats(
    comparison: &Comparison,
    names: &[String],
    each: &mut impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for (at, name) in names.iter().enumerate() {
        for run in &comparison.runs {
            for (stat, value) in stats::of_run(comparison, run, at) {
                let Some(value) = value else { continue };
                each(LongRow { run: &run.name, measure: name, stat, value, ..LongRow::default() })?;
            }
        }
        for of in comparison.of_measure(at) {
            let [run, baseline] =
                [of.pair.run, of.pair.baseline].map(|at| comparison.runs[at].name.as_str());
            for (stat, value) in stats::of_difference(comparison, of) {
                let Some(value) = value else { continue };
                each(LongRow { run, baseline, measure: name, stat, value, ..LongRow::default() })?;
            }
        }
    }
    Ok(())
}

/// Calls `each` with the results of gates, a number a row; `gate_failed` is 1 or 0.
fn rows_of_gates(
    report: &ComparisonReport<'_>,
    each: &mut impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for result in report.results() {
        let (gate, measure) = (result.gate.to_string(), result.gate.measure().to_string());
        let verdict = &result.judged.verdict;
        let compared = &result.comparison.runs;
        let baseline = if result.gate.compares() {
            &compared[result.comparison.baseline.unwrap_or(0)].name
        } else {
            ""
        };
        let numbers = [
            ("gate_value", Some(verdict.value)),
            ("gate_threshold", Some(verdict.threshold)),
            ("gate_p", verdict.p),
            ("gate_failed", Some(f64::from(u8::from(verdict.failed)))),
        ];
        for (stat, value) in numbers {
            let Some(value) = value else { continue };
            each(LongRow {
                run: result.run(),
                baseline,
                measure: &measure,
                stat,
                value,
                group: (!result.group.is_empty()).then_some(result.group),
                gate: Some(&gate),
                ..LongRow::default()
            })?;
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
            for (query_id, &value) in
                comparison.query_ids().zip(values).filter(|(_, value)| !is_undefined(**value))
            {
                let of_query = LongRow { query_id: JsonText(query_id), ..LongRow::default() };
                each(LongRow { run: &run.name, measure: name, stat: "value", value, ..of_query })?;
            }
        }
        for of in comparison.of_measure(measure) {
            let [run, baseline] = [of.pair.run, of.pair.baseline];
            let values =
                comparison.values(measure, run).iter().zip(comparison.values(measure, baseline));
            let [run, baseline] = [run, baseline].map(|at| comparison.runs[at].name.as_str());
            let defined =
                comparison.query_ids().zip(values).filter(|(_, (value, _))| !is_undefined(**value));
            for (query_id, (value, other)) in defined {
                let of_query = LongRow { query_id: JsonText(query_id), ..LongRow::default() };
                let value = value - other;
                each(LongRow { run, baseline, measure: name, stat: "delta", value, ..of_query })?;
            }
        }
    }
    Ok(())
}

/// Writes rows with a delimiter.
pub fn write_delimited(
    delimiter: u8,
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    // Only some reports have columns of groups and gates, so these columns stand behind the columns
    // of every report.
    let group = (!report.groups.is_empty()).then_some("group");
    let gate = (!report.results().is_empty()).then_some("gate");
    let columns = ["run", "baseline", "query_id", "measure", "stat", "value"];
    table.write_record(columns.into_iter().chain(group).chain(gate)).map_err(plain)?;
    rows(report, options, |row| {
        let value = match options.decimals {
            // Counts are whole.
            Some(decimals) if row.value.fract() != 0.0 => format!("{:.decimals$}", row.value),
            _ => row.value.to_string(),
        };
        let text = [row.run, row.baseline].map(str::as_bytes);
        let cells = [
            text[0],
            text[1],
            row.query_id.0,
            row.measure.as_bytes(),
            row.stat.as_bytes(),
            value.as_bytes(),
        ];
        let group = group.map(|_| row.group.unwrap_or_default().as_bytes());
        let gate = gate.map(|_| row.gate.unwrap_or_default().as_bytes());
        table.write_record(cells.into_iter().chain(group).chain(gate)).map_err(plain)
    })?;
    table.flush()
}

/// Writes the rows as JSON objects, one object a line.
pub fn write_lines(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    rows(report, options, |row| {
        let rounded =
            |value| options.decimals.map_or(value, |decimals| long::rounded(value, decimals));
        let row = LongRow { value: rounded(row.value), ..row };
        serde_json::to_writer(&mut *to, &row)?;
        to.write_all(b"\n")
    })
}
