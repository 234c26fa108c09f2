//! Scores in the format of `trec_eval -q`, with laneval's names of measures. A line is
//! `%-22s\t%s\t%6.4f`, with counts as integers and ids in the bytes of the input.
//!
//! The averages are plain sums in the order of the query ids, as trec_eval adds them, not our exact
//! sums: the last printed digit of a mean may depend on it. So this format needs the values of
//! every query.

use std::io::{self, Write};

use super::options::ReportOptions;
use crate::measure::{Average, Measure};
use crate::scores::{RunScores, Scores};
use crate::stats::undefined::{defined, is_undefined};

pub fn write(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    let measures: Vec<(String, Average)> = scores.measures.iter().map(named).collect();
    let mut runs = scores.runs.iter().filter(|run| run.group.is_none());
    runs.try_for_each(|run| write_run(run, &measures, options, to))
}

fn named(measure: &Measure) -> (String, Average) {
    (measure.to_string(), measure.definition().average)
}

fn write_run(
    run: &RunScores,
    measures: &[(String, Average)],
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    write!(to, "{:<22}\tall\t", "runid")?;
    to.write_all(&run.tag)?;
    to.write_all(b"\n")?;
    let Some(per_query) = &run.per_query else {
        return Err(io::Error::other("the trec format needs the values of every query"));
    };
    if options.per_query {
        for (at, id) in per_query.queries.iter().enumerate() {
            for ((name, average), values) in measures.iter().zip(&per_query.values) {
                if !is_undefined(values[at]) {
                    line(name, id, *average, values[at], options, to)?;
                }
            }
        }
    }
    for (at, ((name, average), values)) in measures.iter().zip(&per_query.values).enumerate() {
        let values = defined(values);
        if !values.is_empty() {
            let sum = values.iter().fold(0.0, |sum, &value| sum + average.term(value));
            // A plain sum can be too large where the exact average is not.
            let all = Some(average.finish(sum, values.len())).filter(|all| all.is_finite());
            let id = if options.all_id.is_empty() { "all" } else { &options.all_id };
            let all = all.or(run.average(at)).unwrap_or_default();
            line(name, id.as_bytes(), *average, all, options, to)?;
        }
    }
    Ok(())
}

fn line(
    name: &str,
    query: &[u8],
    average: Average,
    value: f64,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    write!(to, "{name:<22}\t")?;
    to.write_all(query)?;
    match average {
        // The expectation of a count may not be a whole number.
        Average::Sum if value.fract() == 0.0 => writeln!(to, "\t{value:.0}"),
        _ => writeln!(to, "\t{value:6.*}", options.decimals.unwrap_or(4)),
    }
}
