//! The table of scores for people: runs by measures with the best marked, or one run's measures by
//! statistics.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::grid::{Cell, Grid};
use super::html::histogram::queries;
use super::markup::Markup;
use super::options::ReportOptions;
use super::run_name::run_name;
use super::sparklines;
use crate::error::printable;
use crate::measure::{Average, Measure};
use crate::scores::{PerQuery, RunScores, Scores, are_of_as_many};
use crate::stats::rounding::are_best;
use crate::stats::{StatName, is_undefined};

pub fn write(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    match scores.runs.as_slice() {
        [run] => {
            writeln!(to, "{}: {}\n", run_name(run), queries(run.queries))?;
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
        sparklines::curves(scores, options, to)?;
    }
    for run in &scores.runs {
        if let Some(per_query) = options.shown_queries(run) {
            writeln!(to, "\n{}, by query\n", run_name(run))?;
            by_query(per_query, &scores.measures, options).write(options, to)?;
            if options.sparklines {
                sparklines::distributions(per_query, &scores.measures, options, to)?;
            }
        }
    }
    Ok(())
}

/// Writes scores as Markdown or LaTeX tables.
pub fn write_markup(
    markup: Markup,
    scores: &Scores,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let options = &ReportOptions { colour: false, width: None, ..options.clone() };
    match scores.runs.as_slice() {
        [run] => {
            let caption = format!("{}: {}", run_name(run), queries(run.queries));
            markup.write(&one_run(run, &scores.measures, options), &caption, to)?;
        }
        _ => {
            let grid = several_runs(scores, options);
            let caption = if grid.has_best() { format!("Bold: {BEST}") } else { String::new() };
            markup.write(&grid, &caption, to)?;
        }
    }
    for run in &scores.runs {
        if let Some(per_query) = options.shown_queries(run) {
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

/// Returns a statistic of a measure as text with the decimals of tables.
fn number(value: f64, average: Average, stat: StatName, options: &ReportOptions) -> String {
    fixed(value, average, stat, options.precision)
}

/// Returns a statistic of a measure as text with `decimals` decimals; counts have none. Sums and
/// extremes of counts are whole numbers, unless they are expectations.
pub(super) fn fixed(value: f64, average: Average, stat: StatName, decimals: usize) -> String {
    use StatName::{Across, Best, Bias, Max, Min, Sum, Value, Varying, Worst};
    let of_queries = matches!(stat, Varying | Across);
    let of_counts =
        average == Average::Sum && matches!(stat, Sum | Min | Max | Value | Best | Worst | Bias);
    let count = of_queries || of_counts && value.fract() == 0.0;
    format!("{value:.*}", if count { 0 } else { decimals })
}

/// Returns whether a statistic has a table column of its own, unlike the ends of an interval. The
/// ends of the interval stand beside the average instead.
fn is_apart(stat: StatName) -> bool {
    !matches!(stat, StatName::Ci95Low | StatName::Ci95High)
}

/// Returns the confidence interval of a run's average as text, such as ` [0.3791, 0.5152]`; empty
/// without an interval.
fn interval(run: &RunScores, measure: usize, average: Average, options: &ReportOptions) -> String {
    // The ends of an interval of a sum of counts are no counts, and have decimals.
    let ends = [StatName::Ci95Low, StatName::Ci95High]
        .map(|stat| Some(number(run.stat(measure, stat)?, average, stat, options)));
    match ends {
        [Some(low), Some(high)] => format!(" [{low}, {high}]"),
        _ => String::new(),
    }
}

/// What a heading says of averages with intervals.
const WITH_INTERVAL: &str = "[95 %]";

/// Returns the table of the scores of one run: measures as rows, statistics as columns.
fn one_run(run: &RunScores, measures: &[Measure], options: &ReportOptions) -> Grid {
    let mut averages: Vec<StatName> =
        measures.iter().map(|m| m.definition().average.name()).collect();
    averages.dedup();
    let average = if let [one] = averages.as_slice() { one.name() } else { "score" };
    // A measure may lack what another has. From the end, so that of several with as many the first
    // is taken: `max_by_key` takes the last.
    let most = run.stats.iter().rev().max_by_key(|stats| stats.len());
    let stats = most.into_iter().flatten().skip(1).map(|&(stat, _)| stat);
    let (others, ends): (Vec<StatName>, Vec<StatName>) = stats.partition(|&stat| is_apart(stat));
    let average =
        if ends.is_empty() { average.to_owned() } else { format!("{average} {WITH_INTERVAL}") };
    let columns = [average].into_iter().chain(others.iter().map(|stat| stat.name().to_owned()));
    let mut grid = Grid::of_numbers("measure", columns);
    for (at, (measure, summary)) in measures.iter().zip(&run.stats).enumerate() {
        let average = measure.definition().average;
        let first = summary.first().map_or("–".to_owned(), |&(stat, value)| {
            number(value, average, stat, options) + &interval(run, at, average, options)
        });
        let others = others.iter().map(|&stat| {
            run.stat(at, stat)
                .map_or("–".to_owned(), |value| number(value, average, stat, options))
        });
        grid.push([measure.to_string(), first].into_iter().chain(others).map(Into::into));
    }
    grid
}

/// A statistic of a measure, such as the mean of AP, with one table cell for each run.
struct Series {
    name: String,
    cells: Vec<Cell>,
}

/// Returns the table of the scores of several runs: runs as rows and measures as columns, or turned
/// to fit the terminal.
fn several_runs(scores: &Scores, options: &ReportOptions) -> Grid {
    let all: Vec<Series> =
        (0..scores.measures.len()).flat_map(|at| series(scores, at, options)).collect();
    let mut upright = Grid::of_numbers("run", all.iter().map(|series| series.name.clone()));
    for (at, run) in scores.runs.iter().enumerate() {
        let cells = all.iter().map(|series| series.cells[at].clone());
        upright.push([run_name(run).into()].into_iter().chain(cells));
    }
    if upright.blocks(options) == 1 {
        return upright;
    }
    let runs = scores.runs.iter().map(run_name);
    let mut across = Grid::of_numbers("measure", runs).with_name_headings();
    for series in all {
        across.push([series.name.into()].into_iter().chain(series.cells));
    }
    if across.blocks(options) <= upright.blocks(options) { across } else { upright }
}

/// Returns the statistics of a measure with a cell for each run, the average first.
fn series(scores: &Scores, measure: usize, options: &ReportOptions) -> Vec<Series> {
    // A group of one query has no standard deviation.
    let most =
        scores.runs.iter().map(|run| &run.stats[measure]).rev().max_by_key(|stats| stats.len());
    let stats: Vec<StatName> = most.into_iter().flatten().map(|stat| stat.0).collect();
    let has_interval = !stats.iter().all(|&stat| is_apart(stat));
    let all = stats.into_iter().enumerate().filter(|&(_, stat)| is_apart(stat));
    let all = all.map(|(at, stat)| {
        let cells = series_cells(scores, measure, stat, at == 0, options);
        let measure = &scores.measures[measure];
        let name = match at {
            0 if has_interval => format!("{measure} {WITH_INTERVAL}"),
            0 => measure.to_string(),
            _ => format!("{measure} {stat}"),
        };
        Series { name, cells }
    });
    all.collect()
}

/// Returns the table cells of one statistic of a measure, one for each run, the best averages
/// marked. An average has its interval behind it, and the best average of each group is marked.
fn series_cells(
    scores: &Scores,
    measure: usize,
    stat: StatName,
    is_average: bool,
    options: &ReportOptions,
) -> Vec<Cell> {
    let definition = scores.measures[measure].definition();
    let average = definition.average;
    let values: Vec<Option<f64>> = scores.runs.iter().map(|run| run.stat(measure, stat)).collect();
    // The best of each group is marked among averages, and not among other statistics.
    let mut of_groups: BTreeMap<&Option<String>, Vec<usize>> = BTreeMap::new();
    for (at, run) in scores.runs.iter().enumerate().filter(|_| is_average) {
        of_groups.entry(&run.group).or_default().push(at);
    }
    let mut best = vec![false; values.len()];
    for runs in of_groups.into_values() {
        if are_of_as_many(runs.iter().map(|&run| &scores.runs[run]), measure) {
            let of_group: Vec<Option<f64>> = runs.iter().map(|&run| values[run]).collect();
            let are_best = are_best(&of_group, definition.better);
            are_best.into_iter().zip(runs).for_each(|(is, run)| best[run] = is);
        }
    }
    let cells = scores.runs.iter().zip(values).zip(best).map(|((run, value), best)| {
        let text = value.map_or("–".to_owned(), |value| number(value, average, stat, options));
        let behind = value.filter(|_| is_average).map(|_| interval(run, measure, average, options));
        Cell { text: text + &behind.unwrap_or_default(), best, ..Cell::default() }
    });
    cells.collect()
}

/// Returns the table of a run's values: queries as rows, measures as columns.
fn by_query(per_query: &PerQuery, measures: &[Measure], options: &ReportOptions) -> Grid {
    let mut grid = Grid::of_numbers("query", measures.iter().map(ToString::to_string));
    for (at, id) in per_query.queries.iter().enumerate() {
        let values = measures.iter().zip(&per_query.values).map(|(measure, values)| {
            let average = measure.definition().average;
            match values[at] {
                value if is_undefined(value) => String::new(),
                value => number(value, average, StatName::Value, options),
            }
        });
        grid.push([printable(id)].into_iter().chain(values).map(Cell::from));
    }
    grid
}
