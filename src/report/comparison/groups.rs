//! The comparisons of groups of queries, or of judges, in a report: a table under the first
//! measure, and a verdict for each group. The table has a row for all queries and for each group.

use std::io::{self, Write};

use super::report::ComparisonReport;
use crate::compare::Comparison;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;
use crate::report::run_name::visible;

/// The maximum number of shown groups.
const MOST_GROUPS: usize = 100;
/// The maximum number of runs that have a column each. With more runs, columns describe the best.
const MOST_RUNS: usize = 5;

/// Writes the table of a comparison's groups of queries as text, and the verdict of each group.
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

/// Writes the table of a comparison's groups of queries as Markdown or LaTeX, and the verdict of
/// each group.
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

/// Returns the caption of the table of groups, with the number of groups that the table leaves out.
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

/// Returns the verdict on the runs in each group of queries, as a line of text.
fn verdicts(report: &ComparisonReport<'_>) -> impl Iterator<Item = String> {
    report.groups.iter().take(MOST_GROUPS).map(|group| {
        let name = visible(&group.name);
        format!("{name}: {}", visible(group.comparison.verdict().join(" ")))
    })
}

/// Returns the table of groups of queries: a row for all queries, and a row for each group. A row
/// has the mean of each run or, with more than [`MOST_RUNS`] runs, facts about the best run.
fn grid(report: &ComparisonReport<'_>, options: &ReportOptions) -> Grid {
    let comparison = report.comparison;
    let has_column = comparison.runs.len() <= MOST_RUNS;
    let runs: Vec<String> = if has_column {
        comparison.runs.iter().map(|run| visible(&run.name)).collect()
    } else {
        vec!["best".to_owned(), "mean".to_owned(), "not told from it".to_owned()]
    };
    let names = [(report.word().to_owned(), Align::Left), ("queries".to_owned(), Align::Right)];
    let runs = runs.into_iter().enumerate().map(|(at, run)| {
        // All these columns have numbers, except the column with the name of the best run.
        (run, if has_column || at > 0 { Align::Right } else { Align::Left })
    });
    let mut grid = Grid::new(names.into_iter().chain(runs));
    let whole = ("all queries".to_owned(), comparison);
    let groups = report.groups.iter().take(MOST_GROUPS);
    let groups = groups.map(|group| (visible(&group.name), &group.comparison));
    for (name, comparison) in [whole].into_iter().chain(groups) {
        let cells = if has_column { means(comparison, options) } else { best(comparison, options) };
        let names = [name, comparison.queries.to_string()].map(Cell::from);
        grid.push(names.into_iter().chain(cells));
    }
    grid
}

/// Returns a table cell for each run with its mean under the first measure. The best run is marked,
/// and so are runs that are not shown to be worse.
fn means(comparison: &Comparison, options: &ReportOptions) -> Vec<Cell> {
    let cells = (0..comparison.runs.len()).map(|run| Cell {
        text: format!("{:.*}", options.precision, comparison.runs[run].means[0]),
        best: comparison.is_best(0, run),
        tied: !comparison.is_best(0, run)
            && comparison.is_not_worse_than_best(0, run) == Some(true),
        ..Cell::default()
    });
    cells.collect()
}

/// Returns table cells with the best run under the first measure, the mean of that run, and the
/// number of runs that are not shown to be worse.
fn best(comparison: &Comparison, options: &ReportOptions) -> Vec<Cell> {
    let best = comparison.best(0);
    let mean = format!("{:.*}", options.precision, comparison.runs[best].means[0]);
    // With a baseline or a one-sided alternative, the best run is not compared with every other run
    // in both directions.
    let others = if comparison.compares_all_pairs() {
        (comparison.best_group(0).len() - 1).to_string()
    } else {
        "–".to_owned()
    };
    [visible(comparison.name(best)), mean, others].map(Cell::from).to_vec()
}
