//! The comparisons of groups for people: a row for each group under the first measure, and its
//! verdict.

use std::io::{self, Write};

use super::whole::{ComparedGroup, ComparisonReport};
use crate::compare::Comparison;
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;

/// The maximum number of shown groups.
const MOST_GROUPS: usize = 100;
/// The maximum number of runs with a column.
const MOST_RUNS: usize = 5;

/// Writes the table of groups and their verdicts.
pub fn write(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    if report.groups.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{}\n", caption(report))?;
    grid(report, options).write(options, to)?;
    for line in verdicts(report) {
        writeln!(to, "\n{line}")?;
    }
    Ok(())
}

/// Writes the same, marked up.
pub fn write_markup(
    markup: Markup,
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    if report.groups.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    markup.write(&grid(report, options), &caption(report), to)?;
    for line in verdicts(report) {
        writeln!(to)?;
        markup.paragraph(&line, false, to)?;
    }
    Ok(())
}

fn caption(report: &ComparisonReport<'_>) -> String {
    let measure = &report.comparison.measures[0];
    let count = report.groups.len();
    let groups = if count == 1 { report.word().to_owned() } else { format!("{}s", report.word()) };
    let left = match count.saturating_sub(MOST_GROUPS) {
        0 => String::new(),
        left => format!("; {left} of them: see CSV or JSON"),
    };
    format!(
        "{measure} in {count} {groups}; p is corrected within each, and not for their number{left}"
    )
}

/// The verdict of each group.
fn verdicts(report: &ComparisonReport<'_>) -> impl Iterator<Item = String> {
    report.groups.iter().take(MOST_GROUPS).map(|group| {
        let name = printable(group.name.as_bytes());
        format!("{name}: {}", printable(group.comparison.verdict().join(" ").as_bytes()))
    })
}

/// A row for each group, and one for all queries: the mean of each run, or with many runs the mean
/// of the best run.
fn grid(report: &ComparisonReport<'_>, options: &ReportOptions) -> Grid {
    let comparison = report.comparison;
    let has_column = comparison.runs.len() <= MOST_RUNS;
    let runs: Vec<String> = if has_column {
        comparison.runs.iter().map(|run| printable(run.name.as_bytes())).collect()
    } else {
        vec!["best".to_owned(), "mean".to_owned(), "not told from it".to_owned()]
    };
    let names = [(report.word().to_owned(), Align::Left), ("queries".to_owned(), Align::Right)];
    let align = |at: usize| if has_column || at > 0 { Align::Right } else { Align::Left };
    let mut grid = Grid::new(
        names.into_iter().chain(runs.into_iter().enumerate().map(|(at, run)| (run, align(at)))),
    );
    let whole = ("all queries".to_owned(), comparison);
    let named = |group: &ComparedGroup| printable(group.name.as_bytes());
    let groups =
        report.groups.iter().take(MOST_GROUPS).map(|group| (named(group), &group.comparison));
    for (name, of) in [whole].into_iter().chain(groups) {
        let cells = if has_column { means(of, options) } else { best(of, options) };
        grid.push([Cell::from(name), of.queries.to_string().into()].into_iter().chain(cells));
    }
    grid
}

/// The means of the runs under the first measure; the best is marked.
fn means(of: &Comparison, options: &ReportOptions) -> Vec<Cell> {
    let cell = |run: usize| Cell {
        text: format!("{:.*}", options.precision, of.runs[run].means[0]),
        best: of.is_best(0, run),
        tied: !of.is_best(0, run) && of.is_tied_with_best(0, run) == Some(true),
        ..Cell::default()
    };
    (0..of.runs.len()).map(cell).collect()
}

/// The best run under the first measure, its mean, and the number of runs that cannot be told from
/// it.
fn best(of: &Comparison, options: &ReportOptions) -> Vec<Cell> {
    let best = of.best(0);
    let mean = format!("{:.*}", options.precision, of.runs[best].means[0]);
    // With a baseline the best is compared with that alone.
    let others =
        if of.tells_the_best() { (of.leaders(0).len() - 1).to_string() } else { "–".to_owned() };
    [printable(of.runs[best].name.as_bytes()), mean, others].map(Cell::from).to_vec()
}
