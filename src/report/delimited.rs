//! TSV and CSV: a header line, then the long rows; values in the shortest form that reads back as
//! the same f64, ids in the bytes of the input, between quotes where they hold a delimiter or a
//! quote. The wide rows have a query each, and a column for each measure.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::long;
use super::options::ReportOptions;
use super::table::fixed;
use crate::scores::{PerQuery, Scores};
use crate::stats::{StatName, is_undefined};

pub fn write(
    delimiter: u8,
    scores: &Scores,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(long::columns(scores)).map_err(plain)?;
    let has_groups = long::has_groups(scores);
    let mut number = String::new();
    long::rows(scores, options, |measure, row| {
        number.clear();
        let average = || row.measure.definition().average;
        let _ = match options.decimals {
            None => write!(number, "{}", row.value),
            Some(decimals) => write!(number, "{}", fixed(row.value, average(), row.stat, decimals)),
        };
        table.write_field(row.run).map_err(plain)?;
        if has_groups {
            table.write_field(row.group.unwrap_or_default()).map_err(plain)?;
        }
        let query = row.query.unwrap_or_default();
        let cells = [query, measure.as_bytes(), row.stat.name().as_bytes(), number.as_bytes()];
        table.write_record(cells).map_err(plain)
    })?;
    table.flush()
}

/// Writes a row for each query and for the averages, with a column for each measure.
///
/// A column `stat` says what a row has where there are more statistics than the average.
pub fn write_wide(
    delimiter: u8,
    scores: &Scores,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    let has_groups = long::has_groups(scores);
    let others = besides_average(scores);
    let names: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    let group = has_groups.then_some("group");
    let stat = (!others.is_empty()).then_some("stat");
    let columns = ["run"].into_iter().chain(group).chain(["query_id"]).chain(stat);
    table.write_record(columns.chain(names.iter().map(String::as_str))).map_err(plain)?;
    for run in &scores.runs {
        let mut row =
            |id: &[u8], stat: &str, values: &mut dyn Iterator<Item = Option<(StatName, f64)>>| {
                table.write_field(&run.name).map_err(plain)?;
                if has_groups {
                    table.write_field(run.group.as_deref().unwrap_or_default()).map_err(plain)?;
                }
                table.write_field(id).map_err(plain)?;
                if !others.is_empty() {
                    table.write_field(stat).map_err(plain)?;
                }
                for (measure, value) in scores.measures.iter().zip(values) {
                    let text = match (value, options.decimals) {
                        (None, _) => String::new(),
                        (Some((_, value)), None) => value.to_string(),
                        (Some((stat, value)), Some(decimals)) => {
                            fixed(value, measure.definition().average, stat, decimals)
                        }
                    };
                    table.write_field(text).map_err(plain)?;
                }
                table.write_record(None::<&[u8]>).map_err(plain)
            };
        let wanted = options.per_query && run.group.is_none();
        if let Some(PerQuery { queries, values, .. }) = run.per_query.as_ref().filter(|_| wanted) {
            for (query, id) in queries.iter().enumerate() {
                let value = |of: &Vec<f64>| {
                    Some((StatName::Value, of[query])).filter(|&(_, of)| !is_undefined(of))
                };
                row(id, "value", &mut values.iter().map(value))?;
            }
        }
        let all = options.all_id.as_bytes();
        row(all, "average", &mut run.stats.iter().map(|stats| stats.first().copied()))?;
        for &stat in &others {
            let places = 0..scores.measures.len();
            row(all, stat.name(), &mut places.map(|at| Some((stat, run.stat(at, stat)?))))?;
        }
    }
    table.flush()
}

/// Collects the statistics besides the average.
fn besides_average(scores: &Scores) -> Vec<StatName> {
    let mut others: Vec<StatName> = Vec::new();
    // A statistic takes its place when it first appears: measures may have different statistics,
    // and the columns must not depend on the measure with the most.
    for &(stat, _) in
        scores.runs.iter().flat_map(|run| &run.stats).flat_map(|stats| stats.iter().skip(1))
    {
        if !others.contains(&stat) {
            others.push(stat);
        }
    }
    others
}

/// The writer's own error, whose kind the table would hide.
pub fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
