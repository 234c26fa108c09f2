//! The result of a pool analysis as TSV, CSV or JSON lines, one row for each number. A number is of
//! a run, of a run under a measure, of a measure, or of the pool.

use std::io::{self, Write};

use serde::Serialize;

use super::shortened;
use crate::pools::{PooledRun, Pools};
use crate::report::delimited::{long_number, plain};
use crate::report::options::ReportOptions;

/// The shares of judged documents, as measures.
const JUDGED: [&str; 2] = ["Judged@10", "Judged@100"];

/// A row with one number of a pool analysis, in TSV, CSV or JSON lines.
#[derive(Serialize)]
pub struct PoolRow<'a> {
    /// The name of the run; empty for what is of all runs.
    pub run: &'a str,
    /// The measure; empty for counts of documents.
    pub measure: &'a str,
    /// The name of the number.
    pub stat: &'static str,
    /// The number.
    pub value: f64,
}

/// Calls `each` with every number of a pool analysis as a row: the pool, the runs, then the
/// measures. Numbers that are not defined have no row.
pub fn rows(pools: &Pools, mut each: impl FnMut(PoolRow<'_>) -> io::Result<()>) -> io::Result<()> {
    let names: Vec<String> = pools.measures.iter().map(ToString::to_string).collect();
    let whole = [
        ("depth", u64::from(pools.depth)),
        ("queries", pools.queries),
        ("judged", pools.judged),
        ("relevant", pools.relevant),
        ("pooled", pools.pooled),
        ("pooled_relevant", pools.pooled_relevant),
    ];
    for (stat, count) in whole {
        each(PoolRow { run: "", measure: "", stat, value: count as f64 })?;
    }
    for run in &pools.runs {
        rows_of_run(run, &names, &mut each)?;
    }
    for (measure, loss) in names.iter().zip(&pools.losses) {
        let largest = loss.largest.map(|(largest, _)| largest);
        for (stat, value) in
            [("mean_loss", loss.mean), ("largest_loss", largest), ("tau_b", loss.tau_b)]
        {
            let Some(value) = value else { continue };
            each(PoolRow { run: "", measure, stat, value })?;
        }
    }
    Ok(())
}

/// Calls `each` with the rows of a run in a pool analysis: counts of documents, then values when
/// left out.
fn rows_of_run(
    run: &PooledRun,
    measures: &[String],
    each: &mut impl FnMut(PoolRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let counts = [
        ("judged", run.judged),
        ("relevant", run.relevant),
        ("unique", run.unique),
        ("unique_relevant", run.unique_relevant),
        ("judged_to", u64::from(run.judged_to)),
        ("removed", run.removed),
        ("queries_lost", run.queries_lost),
    ];
    for (stat, count) in counts {
        each(PoolRow { run: &run.name, measure: "", stat, value: count as f64 })?;
    }
    for (measure, value) in JUDGED.into_iter().zip(run.judged_share) {
        let Some(value) = value else { continue };
        each(PoolRow { run: &run.name, measure, stat: "mean", value })?;
    }
    for (measure, effect) in measures.iter().zip(&run.left_out) {
        let numbers = [
            ("value", effect.value),
            ("without", effect.without),
            ("delta", effect.delta()),
            ("relative", effect.relative()),
            ("rank", effect.rank.map(f64::from)),
            ("rank_without", effect.rank_without.map(f64::from)),
        ];
        for (stat, value) in numbers {
            let Some(value) = value else { continue };
            each(PoolRow { run: &run.name, measure, stat, value })?;
        }
    }
    Ok(())
}

/// Writes the rows of a pool analysis as TSV or CSV, by the delimiter.
pub fn write_delimited(
    delimiter: u8,
    pools: &Pools,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(["run", "measure", "stat", "value"]).map_err(plain)?;
    rows(pools, |row| {
        let value = long_number(row.value, options);
        table.write_record([row.run, row.measure, row.stat, &value]).map_err(plain)
    })?;
    table.flush()
}

/// Writes the rows of a pool analysis as JSON lines, one object a line.
pub fn write_lines(pools: &Pools, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    rows(pools, |row| {
        let row = PoolRow { value: shortened(row.value, options), ..row };
        serde_json::to_writer(&mut *to, &row)?;
        to.write_all(b"\n")
    })
}
