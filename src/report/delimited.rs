//! Scores as TSV and CSV: a header line, then a row for each number, or a wide table with a column
//! for each measure. Values are in the shortest form that reads back as the same f64, ids in the
//! bytes of the input, between quotes where they hold a delimiter or a quote.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::long;
use super::options::ReportOptions;
use super::table::fixed;
use crate::scores::{PerQuery, RunScores, Scores};
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
        let _ = match options.decimals {
            None => write!(number, "{}", row.value),
            Some(decimals) => {
                let average = row.measure.definition().average;
                write!(number, "{}", fixed(row.value, average, row.stat, decimals))
            }
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

/// Writes scores as TSV or CSV with a column for each measure, a row for each query and for
/// averages.
///
/// A column `stat` says what a row has where there are more statistics than the average.
pub fn write_wide(
    delimiter: u8,
    scores: &Scores,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    let has_groups = long::has_groups(scores);
    let others = besides_average(scores);
    let has_stats = !others.is_empty();
    let mut wide = WideTable { table, scores, options, has_groups, has_stats };
    let names: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    let group = has_groups.then_some("group");
    let stat = has_stats.then_some("stat");
    let columns = ["run"].into_iter().chain(group).chain(["query_id"]).chain(stat);
    wide.table.write_record(columns.chain(names.iter().map(String::as_str))).map_err(plain)?;
    for run in &scores.runs {
        if let Some(PerQuery { queries, values, .. }) = options.shown_queries(run) {
            for (query, id) in queries.iter().enumerate() {
                let values = values.iter().map(|values| values[query]);
                let values =
                    values.map(|value| (!is_undefined(value)).then_some((StatName::Value, value)));
                wide.write(run, id, "value", values)?;
            }
        }
        let all = options.all_id.as_bytes();
        wide.write(run, all, "average", run.stats.iter().map(|stats| stats.first().copied()))?;
        for &stat in &others {
            let places = 0..scores.measures.len();
            let values = places.map(|at| Some((stat, run.stat(at, stat)?)));
            wide.write(run, all, stat.name(), values)?;
        }
    }
    wide.table.flush()
}

/// A writer of scores as TSV or CSV with a column for each measure.
struct WideTable<'a, W: Write> {
    table: csv::Writer<W>,
    scores: &'a Scores,
    options: &'a ReportOptions,
    has_groups: bool,
    has_stats: bool,
}

impl<W: Write> WideTable<'_, W> {
    /// Writes a row of a run: a number for each measure, of one query or statistic. The statistic
    /// of a number decides its decimals.
    fn write(
        &mut self,
        run: &RunScores,
        id: &[u8],
        stat: &str,
        values: impl Iterator<Item = Option<(StatName, f64)>>,
    ) -> io::Result<()> {
        let table = &mut self.table;
        table.write_field(&run.name).map_err(plain)?;
        if self.has_groups {
            table.write_field(run.group.as_deref().unwrap_or_default()).map_err(plain)?;
        }
        table.write_field(id).map_err(plain)?;
        if self.has_stats {
            table.write_field(stat).map_err(plain)?;
        }
        for (measure, value) in self.scores.measures.iter().zip(values) {
            let text = match (value, self.options.decimals) {
                (None, _) => String::new(),
                (Some((_, value)), None) => value.to_string(),
                (Some((stat, value)), Some(decimals)) => {
                    fixed(value, measure.definition().average, stat, decimals)
                }
            };
            table.write_field(text).map_err(plain)?;
        }
        // An empty record ends the line of the fields written so far.
        table.write_record(None::<&[u8]>).map_err(plain)
    }
}

/// Returns the statistics that scores have besides the average, in order of first occurrence.
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

/// Returns a number as text for a TSV or CSV row, with the requested decimals. Counts are whole,
/// and have no decimals.
pub fn long_number(value: f64, options: &ReportOptions) -> String {
    match options.decimals {
        Some(decimals) if value.fract() != 0.0 => format!("{value:.decimals$}"),
        _ => value.to_string(),
    }
}

/// Turns an error of the CSV writer into the I/O error behind it.
pub fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
