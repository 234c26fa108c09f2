//! The table for people: runs by measures with the best marked, or one run's measures by
//! statistics.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::grid::{Align, Cell, Grid};
use super::markup::Markup;
use super::options::ReportOptions;
use super::run_name::run_name;
use super::sparks;
use crate::error::printable;
use crate::measure::{Average, Measure};
use crate::scores::{PerQuery, RunScores, Scores, are_of_as_many};
use crate::stats::rounding::are_best;
use crate::stats::{StatName, is_undefined};

pub fn write(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    match scores.runs.as_slice() {
        [run] => {
            let queries = if run.queries == 1 { "query" } else { "queries" };
            writeln!(to, "{}: {} {queries}\n", run_name(run), run.queries)?;
            one_run(run, &scores.measures, options).write(options, to)?;
        }
        _ => {
            let grid = several_runs(scores, options);
            grid.write(options, to)?;
            if grid.has_best() {
                writeln!(to, "\n{} {BEST}", if options.colour { "Bold:" } else { "*" })?;
            }
        }
    }
    if options.sparklines {
        sparks::curves(scores, options, to)?;
    }
    for run in &scores.runs {
        if let Some(per_query) =
            run.per_query.as_ref().filter(|_| options.per_query && run.group.is_none())
        {
            writeln!(to, "\n{}, by query\n", run_name(run))?;
            by_query(per_query, &scores.measures, options).write(options, to)?;
            if options.sparklines {
                sparks::distributions(per_query, &scores.measures, options, to)?;
            }
        }
    }
    Ok(())
}

/// Writes the tables marked up.
pub fn write_markup(
    markup: Markup,
    scores: &Scores,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let options = &ReportOptions { colour: false, width: None, ..options.clone() };
    match scores.runs.as_slice() {
        [run] => {
            let queries = if run.queries == 1 { "query" } else { "queries" };
            let caption = format!("{}: {} {queries}", run_name(run), run.queries);
            markup.write(&one_run(run, &scores.measures, options), &caption, to)?;
        }
        _ => {
            let grid = several_runs(scores, options);
            let caption = if grid.has_best() { format!("Bold: {BEST}") } else { String::new() };
            markup.write(&grid, &caption, to)?;
        }
    }
    for run in &scores.runs {
        if let Some(per_query) =
            run.per_query.as_ref().filter(|_| options.per_query && run.group.is_none())
        {
            writeln!(to)?;
            markup.write(
                &by_query(per_query, &scores.measures, options),
                &format!("{}, by query", run_name(run)),
                to,
            )?;
        }
    }
    Ok(())
}

/// The explanation of the mark.
const BEST: &str = "best, not necessarily better.";

/// A number of a statistic with the decimals of tables.
fn number(value: f64, average: Average, stat: StatName, options: &ReportOptions) -> String {
    fixed(value, average, stat, options.precision)
}

/// Writes a number of a statistic with `decimals` decimals. Sums and extremes of counts are whole
/// numbers, unless they are expectations.
pub(super) fn fixed(value: f64, average: Average, stat: StatName, decimals: usize) -> String {
    use StatName::{Across, Best, Bias, Max, Min, Sum, Value, Varying, Worst};
    let of_queries = matches!(stat, Varying | Across);
    let of_counts =
        average == Average::Sum && matches!(stat, Sum | Min | Max | Value | Best | Worst | Bias);
    let count = of_queries || of_counts && value.fract() == 0.0;
    format!("{value:.*}", if count { 0 } else { decimals })
}

/// Returns whether a statistic has a column of its own. The ends of the interval stand beside the
/// average instead.
fn is_apart(stat: StatName) -> bool {
    !matches!(stat, StatName::Ci95Low | StatName::Ci95High)
}

/// The ends of an interval behind an average: ` [0.3791, 0.5152]`.
fn interval(ends: (Option<f64>, Option<f64>), average: Average, options: &ReportOptions) -> String {
    let (Some(low), Some(high)) = ends else { return String::new() };
    // An interval of a sum of counts has ends that are no counts.
    let [low, high] = [(low, StatName::Ci95Low), (high, StatName::Ci95High)]
        .map(|(end, stat)| number(end, average, stat, options));
    format!(" [{low}, {high}]")
}

/// What a heading says of averages with intervals.
const WITH_INTERVAL: &str = "[95 %]";

/// Measures as rows, statistics as columns.
fn one_run(run: &RunScores, measures: &[Measure], options: &ReportOptions) -> Grid {
    let mut averages: Vec<StatName> =
        measures.iter().map(|m| m.definition().average.name()).collect();
    averages.dedup();
    let average = if let [one] = averages.as_slice() { one.name() } else { "score" };
    // A measure may lack what another has. From the end, so that of several with as many the first
    // is taken: `max_by_key` takes the last.
    let most = run.stats.iter().rev().max_by_key(|stats| stats.len());
    let stats = || most.into_iter().flatten().skip(1).map(|&(stat, _)| stat);
    let average = if stats().all(is_apart) {
        average.to_owned()
    } else {
        format!("{average} {WITH_INTERVAL}")
    };
    let others: Vec<StatName> = stats().filter(|&stat| is_apart(stat)).collect();
    let columns = [average].into_iter().chain(others.iter().map(|stat| stat.name().to_owned()));
    let columns = columns.map(|stat| (stat, Align::Right));
    let mut grid = Grid::new([("measure".to_owned(), Align::Left)].into_iter().chain(columns));
    for (at, (measure, summary)) in measures.iter().zip(&run.stats).enumerate() {
        let average = measure.definition().average;
        let first = summary.first().map_or("–".to_owned(), |&(stat, value)| {
            let ends = [StatName::Ci95Low, StatName::Ci95High].map(|stat| run.stat(at, stat));
            number(value, average, stat, options) + &interval(ends.into(), average, options)
        });
        let others = others.iter().map(|&stat| {
            run.stat(at, stat)
                .map_or("–".to_owned(), |value| number(value, average, stat, options))
        });
        grid.push([measure.to_string(), first].into_iter().chain(others).map(Into::into));
    }
    grid
}

/// The values of a statistic of a measure, with one cell per run.
struct Series {
    name: String,
    cells: Vec<Cell>,
}

/// The table of several runs: runs as rows and measures as columns, or the other way round if that
/// fits the terminal better.
fn several_runs(scores: &Scores, options: &ReportOptions) -> Grid {
    let all: Vec<Series> =
        (0..scores.measures.len()).flat_map(|at| series(scores, at, options)).collect();
    let columns = all.iter().map(|series| (series.name.clone(), Align::Right));
    let mut upright = Grid::new([("run".to_owned(), Align::Left)].into_iter().chain(columns));
    for (at, run) in scores.runs.iter().enumerate() {
        upright.push(
            [run_name(run).into()]
                .into_iter()
                .chain(all.iter().map(|series| series.cells[at].clone())),
        );
    }
    if upright.blocks(options) == 1 {
        return upright;
    }
    let columns = scores.runs.iter().map(|run| (run_name(run), Align::Right));
    let mut across = Grid::new([("measure".to_owned(), Align::Left)].into_iter().chain(columns))
        .with_names_above();
    for series in all {
        across.push([series.name.into()].into_iter().chain(series.cells));
    }
    if across.blocks(options) <= upright.blocks(options) { across } else { upright }
}

/// The statistics of a measure, its average first.
fn series(scores: &Scores, measure: usize, options: &ReportOptions) -> Vec<Series> {
    let average = scores.measures[measure].definition().average;
    // A group of one query has no standard deviation.
    let most = scores.runs.iter().map(|run| &run.stats[measure]).rev().max_by_key(|of| of.len());
    let stats: Vec<StatName> = most.into_iter().flatten().map(|of| of.0).collect();
    let has_interval = !stats.iter().all(|&stat| is_apart(stat));
    let one = |(at, stat): (usize, StatName)| {
        let values: Vec<Option<f64>> =
            scores.runs.iter().map(|run| run.stat(measure, stat)).collect();
        let better = scores.measures[measure].definition().better;
        // The best of each group is marked among averages, and not among other statistics.
        let mut of_groups: BTreeMap<&Option<String>, Vec<usize>> = BTreeMap::new();
        for (run, of) in scores.runs.iter().enumerate().filter(|_| at == 0) {
            of_groups.entry(&of.group).or_default().push(run);
        }
        let mut best = vec![false; values.len()];
        let alike =
            |runs: &&Vec<usize>| are_of_as_many(runs.iter().map(|&run| &scores.runs[run]), measure);
        for runs in of_groups.values().filter(alike) {
            let of_group: Vec<Option<f64>> = runs.iter().map(|&run| values[run]).collect();
            are_best(&of_group, better).into_iter().zip(runs).for_each(|(is, &run)| best[run] = is);
        }
        let with_interval = |run: &RunScores, value: f64| {
            let ends = [StatName::Ci95Low, StatName::Ci95High].map(|stat| run.stat(measure, stat));
            let ends = if at == 0 { ends.into() } else { (None, None) };
            number(value, average, stat, options) + &interval(ends, average, options)
        };
        let cell = |((run, &value), &best): ((&RunScores, &Option<f64>), &bool)| Cell {
            text: value.map_or("–".to_owned(), |value| with_interval(run, value)),
            best,
            ..Cell::default()
        };
        let cells = scores.runs.iter().zip(&values).zip(&best).map(cell).collect();
        let measure = &scores.measures[measure];
        let name = match at {
            0 if has_interval => format!("{measure} {WITH_INTERVAL}"),
            0 => measure.to_string(),
            _ => format!("{measure} {stat}"),
        };
        Series { name, cells }
    };
    let stats = stats.clone().into_iter().enumerate();
    stats.filter(|&(_, stat)| is_apart(stat)).map(one).collect()
}

/// The table of values: queries as rows, measures as columns.
fn by_query(of: &PerQuery, measures: &[Measure], options: &ReportOptions) -> Grid {
    let columns = measures.iter().map(|measure| (measure.to_string(), Align::Right));
    let mut grid = Grid::new([("query".to_owned(), Align::Left)].into_iter().chain(columns));
    for (at, id) in of.queries.iter().enumerate() {
        let value = |(measure, values): (&Measure, &Vec<f64>)| {
            if is_undefined(values[at]) {
                String::new().into()
            } else {
                number(values[at], measure.definition().average, StatName::Value, options).into()
            }
        };
        grid.push(
            [printable(id).into()].into_iter().chain(measures.iter().zip(&of.values).map(value)),
        );
    }
    grid
}
