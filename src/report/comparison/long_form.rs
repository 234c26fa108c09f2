//! A comparison as TSV, CSV or JSON lines, one row for each number of a run or of a pair of runs.
//! In rows of a run the baseline is empty.

use std::io::{self, Write};

use serde::Serialize;

use super::report::{ComparisonReport, GroupKind};
use super::stats;
use crate::compare::Comparison;
use crate::report::JsonText;
use crate::report::delimited::{long_number, plain};
use crate::report::long;
use crate::report::options::ReportOptions;
use crate::stats::is_undefined;

/// A row of a comparison in TSV, CSV or JSON lines, with one number of a run or pair.
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
        Self {
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

/// Calls `each` with every row of a comparison in TSV, CSV or JSON lines: queries, statistics, then
/// gates. Values of queries and their differences come only if the options ask for queries. The
/// statistics of groups come behind those of all queries.
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

/// Calls `each` with a row for each statistic of runs and of pairs of runs in a comparison.
fn rows_of_stats(
    comparison: &Comparison,
    names: &[String],
    each: &mut impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for (at, name) in names.iter().enumerate() {
        for run in &comparison.runs {
            for (stat, value) in stats::run_stats(comparison, run, at) {
                let Some(value) = value else { continue };
                each(LongRow { run: &run.name, measure: name, stat, value, ..LongRow::default() })?;
            }
        }
        for difference in comparison.differences_for(at) {
            let [run, baseline] = comparison.pair_names(difference.pair);
            for (stat, value) in stats::difference_stats(comparison, difference) {
                let Some(value) = value else { continue };
                each(LongRow { run, baseline, measure: name, stat, value, ..LongRow::default() })?;
            }
        }
    }
    Ok(())
}

/// Calls `each` with a row for each number of a gate's result, such as `gate_value`; `gate_failed`
/// is 1 or 0.
fn rows_of_gates(
    report: &ComparisonReport<'_>,
    each: &mut impl FnMut(LongRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for result in report.results() {
        let (gate, measure) = (result.gate.to_string(), result.gate.measure().to_string());
        let verdict = &result.judged.verdict;
        let compared = &result.comparison.runs;
        let baseline = if result.gate.needs_baseline() {
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

/// Calls `each` with a row for each query's value of a run, and for each query's difference of a
/// pair.
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
                let query_id = JsonText(query_id);
                let (run, stat) = (&run.name[..], "value");
                each(LongRow { run, measure: name, query_id, stat, value, ..LongRow::default() })?;
            }
        }
        for difference in comparison.differences_for(measure) {
            let [values, others] =
                difference.pair.runs().map(|run| comparison.values(measure, run));
            let values = values.iter().zip(others);
            let [run, baseline] = comparison.pair_names(difference.pair);
            let defined =
                comparison.query_ids().zip(values).filter(|(_, (value, _))| !is_undefined(**value));
            for (query_id, (value, other)) in defined {
                each(LongRow {
                    run,
                    baseline,
                    query_id: JsonText(query_id),
                    measure: name,
                    stat: "delta",
                    value: value - other,
                    ..LongRow::default()
                })?;
            }
        }
    }
    Ok(())
}

/// Writes the rows of a comparison as TSV or CSV, by the delimiter.
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
        let value = long_number(row.value, options);
        let [run, baseline, measure, stat, value] =
            [row.run, row.baseline, row.measure, row.stat, &value].map(str::as_bytes);
        let cells = [run, baseline, row.query_id.0, measure, stat, value];
        let group = group.map(|_| row.group.unwrap_or_default().as_bytes());
        let gate = gate.map(|_| row.gate.unwrap_or_default().as_bytes());
        table.write_record(cells.into_iter().chain(group).chain(gate)).map_err(plain)
    })?;
    table.flush()
}

/// Writes the rows of a comparison as JSON lines, one object a line.
pub fn write_lines(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    rows(report, options, |row| {
        let row = LongRow { value: long::with_decimals(row.value, options), ..row };
        serde_json::to_writer(&mut *to, &row)?;
        to.write_all(b"\n")
    })
}
