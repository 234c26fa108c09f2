//! The table for people: runs by measures with the best marked, or one run's measures by statistics.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::markup::Markup;
use super::{Align, Cell, Grid, Options};
use crate::error::printable;
use crate::measure::{Average, Better, Measure};
use crate::scores::{PerQuery, RunScores, Scores};
use crate::stats::StatName;

pub fn write(scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
    match scores.runs.as_slice() {
        [run] => {
            let queries = if run.queries == 1 { "query" } else { "queries" };
            writeln!(to, "{}: {} {queries}\n", name(run), run.queries)?;
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
    for run in &scores.runs {
        if let Some(per_query) = run.per_query.as_ref().filter(|_| options.per_query && run.group.is_none()) {
            writeln!(to, "\n{}, by query\n", name(run))?;
            by_query(per_query, &scores.measures, options).write(options, to)?;
        }
    }
    Ok(())
}

/// Writes the tables marked up.
pub fn write_markup(
    markup: Markup,
    scores: &Scores,
    options: &Options,
    to: &mut impl Write,
) -> io::Result<()> {
    let options = &Options { colour: false, width: None, ..*options };
    match scores.runs.as_slice() {
        [run] => {
            let queries = if run.queries == 1 { "query" } else { "queries" };
            let caption = format!("{}: {} {queries}", name(run), run.queries);
            markup.write(&one_run(run, &scores.measures, options), &caption, to)?;
        }
        _ => {
            let grid = several_runs(scores, options);
            let caption = if grid.has_best() { format!("Bold: {BEST}") } else { String::new() };
            markup.write(&grid, &caption, to)?;
        }
    }
    for run in &scores.runs {
        if let Some(per_query) = run.per_query.as_ref().filter(|_| options.per_query && run.group.is_none()) {
            writeln!(to)?;
            markup.write(
                &by_query(per_query, &scores.measures, options),
                &format!("{}, by query", name(run)),
                to,
            )?;
        }
    }
    Ok(())
}

/// The explanation of the mark.
const BEST: &str = "best, not necessarily better.";

/// The name of a run, and of the group of its queries.
fn name(run: &RunScores) -> String {
    let name = printable(run.name.as_bytes());
    match &run.group {
        None => name,
        Some(group) => format!("{name} [{}]", printable(group.as_bytes())),
    }
}

/// A number of a statistic as text. The sum, smallest and largest of counts are written as counts, unless they are expectations and no
/// whole numbers.
fn number(value: f64, average: Average, stat: StatName, options: &Options) -> String {
    use StatName::{Across, Best, Bias, Max, Min, Sum, Value, Varying, Worst};
    let of_queries = matches!(stat, Varying | Across);
    let of_counts = average == Average::Sum && matches!(stat, Sum | Min | Max | Value | Best | Worst | Bias);
    let count = of_queries || of_counts && value.fract() == 0.0;
    format!("{value:.*}", if count { 0 } else { options.precision })
}

/// The table of one run: measures as rows, statistics as columns.
fn one_run(run: &RunScores, measures: &[Measure], options: &Options) -> Grid {
    let mut averages: Vec<StatName> = measures.iter().map(|m| m.definition().average.name()).collect();
    averages.dedup();
    let average = if let [one] = averages.as_slice() { one.name() } else { "score" };
    let others = run.stats.first().into_iter().flatten().skip(1).map(|(stat, _)| stat.name());
    let columns = [average].into_iter().chain(others).map(|stat| (stat.to_owned(), Align::Right));
    let mut grid = Grid::new([("measure".to_owned(), Align::Left)].into_iter().chain(columns));
    for (measure, summary) in measures.iter().zip(&run.stats) {
        let average = measure.definition().average;
        let cells = summary.iter().map(|&(stat, value)| number(value, average, stat, options).into());
        let none = summary.is_empty().then(|| "–".into());
        grid.push([measure.to_string().into()].into_iter().chain(cells).chain(none));
    }
    grid
}

/// One statistic of one measure over the runs.
struct Series {
    name: String,
    cells: Vec<Cell>,
}

/// The table of several runs: runs as rows and measures as columns, or the other way round if that fits the terminal better.
fn several_runs(scores: &Scores, options: &Options) -> Grid {
    let all: Vec<Series> = (0..scores.measures.len()).flat_map(|at| series(scores, at, options)).collect();
    let columns = all.iter().map(|series| (series.name.clone(), Align::Right));
    let mut upright = Grid::new([("run".to_owned(), Align::Left)].into_iter().chain(columns));
    for (at, run) in scores.runs.iter().enumerate() {
        upright.push([name(run).into()].into_iter().chain(all.iter().map(|series| series.cells[at].clone())));
    }
    if upright.blocks(options) == 1 {
        return upright;
    }
    let columns = scores.runs.iter().map(|run| (name(run), Align::Right));
    let mut across = Grid::new([("measure".to_owned(), Align::Left)].into_iter().chain(columns));
    for series in all {
        across.push([series.name.into()].into_iter().chain(series.cells));
    }
    if across.blocks(options) <= upright.blocks(options) { across } else { upright }
}

/// The statistics of a measure, its average first.
fn series(scores: &Scores, measure: usize, options: &Options) -> Vec<Series> {
    let average = scores.measures[measure].definition().average;
    // A group of one query has no standard deviation.
    let most = scores.runs.iter().map(|run| &run.stats[measure]).rev().max_by_key(|of| of.len());
    let stats: Vec<StatName> = most.into_iter().flatten().map(|of| of.0).collect();
    let one = |(at, stat): (usize, StatName)| {
        let values: Vec<Option<f64>> = scores.runs.iter().map(|run| run.stat(measure, stat)).collect();
        let better = scores.measures[measure].definition().better;
        let of_group = |group: &Option<String>| {
            let same = scores.runs.iter().zip(&values).filter(|(run, _)| run.group == *group);
            best(&same.map(|(_, &value)| value).collect::<Vec<_>>(), better).filter(|_| at == 0)
        };
        let bests: BTreeMap<_, _> =
            scores.runs.iter().map(|run| (&run.group, of_group(&run.group))).collect();
        let cell = |(run, &value): (&RunScores, &Option<f64>)| Cell {
            text: value.map_or("–".to_owned(), |value| number(value, average, stat, options)),
            best: value.is_some() && value == bests[&run.group],
            ..Cell::default()
        };
        let measure = &scores.measures[measure];
        let name = if at == 0 { measure.to_string() } else { format!("{measure} {stat}") };
        Series { name, cells: scores.runs.iter().zip(&values).map(cell).collect() }
    };
    stats.into_iter().enumerate().map(one).collect()
}

/// The best value; `None` if all are equal.
fn best(values: &[Option<f64>], better: Better) -> Option<f64> {
    let known = || values.iter().copied().flatten();
    let best = match better {
        Better::Higher => known().reduce(f64::max)?,
        Better::Lower => known().reduce(f64::min)?,
        Better::Neither => return None,
    };
    known().any(|value| value != best).then_some(best)
}

/// The table of values: queries as rows, measures as columns.
fn by_query(of: &PerQuery, measures: &[Measure], options: &Options) -> Grid {
    let columns = measures.iter().map(|measure| (measure.to_string(), Align::Right));
    let mut grid = Grid::new([("query".to_owned(), Align::Left)].into_iter().chain(columns));
    for (at, id) in of.queries.iter().enumerate() {
        let value = |(measure, values): (&Measure, &Vec<f64>)| {
            number(values[at], measure.definition().average, StatName::Value, options).into()
        };
        grid.push([printable(id).into()].into_iter().chain(measures.iter().zip(&of.values).map(value)));
    }
    grid
}
