//! A comparison of runs as text, Markdown or LaTeX for people: verdict, means, sentences, groups
//! and gates.

use std::io::{self, Write};

use super::report::ComparisonReport;
use super::run_table::RunTable;
use super::shares::{judged, share};
use super::{gates, groups};
use crate::compare::p_text::p_text;
use crate::compare::{Comparison, Difference, Scope};
use crate::error::printable;
use crate::report::grid::{Cell, Grid};
use crate::report::html::histogram::queries;
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;
use crate::report::run_name::visible;
use crate::sort;

/// The number of queries at either end of a list of differences.
const ENDS: usize = 10;

/// Writes a comparison as text for people: verdict, tables, sentences and results of gates.
pub fn write(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let comparison = report.comparison;
    for sentence in comparison.verdict() {
        writeln!(to, "{}", visible(sentence))?;
    }
    writeln!(to, "\n{}\n", caption(comparison))?;
    let (grid, legend) = main(comparison, options);
    grid.write(options, to)?;
    if let Some(legend) = legend {
        let best = if options.colour { "bold" } else { "*" };
        writeln!(to, "\n{best} best; {legend}")?;
    }
    for sentence in sentences(comparison, options) {
        writeln!(to, "\n{}", visible(sentence))?;
    }
    for measure in 0..comparison.anova.len() {
        writeln!(to, "\n{}", anova(comparison, measure))?;
    }
    let further = [agreement(comparison, options), discrimination(comparison)];
    for grid in further.into_iter().flatten() {
        writeln!(to)?;
        grid.write(options, to)?;
    }
    if options.per_query && comparison.query_ids().len() > 0 {
        for difference in comparison.differences_for(0) {
            writeln!(to, "\n{}\n", ends_caption(comparison, difference))?;
            by_query(comparison, difference, options).write(options, to)?;
        }
    }
    groups::write(report, options, to)?;
    gates::write(report, to)
}

/// Writes a comparison as Markdown or LaTeX: verdict, main table with legend, groups and results of
/// gates.
pub fn write_markup(
    markup: Markup,
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let comparison = report.comparison;
    let options = ReportOptions { colour: false, width: None, ..options.clone() };
    markup.paragraph(&visible(comparison.verdict().join(" ")), true, to)?;
    writeln!(to)?;
    let (grid, legend) = main(comparison, &options);
    markup.write(&grid, &caption(comparison), to)?;
    if let Some(legend) = legend {
        writeln!(to)?;
        let best = if markup == Markup::Markdown { "Bold: best" } else { "bold: best" };
        markup.paragraph(&format!("{best}; {legend}"), false, to)?;
    }
    if options.all_pairs {
        for sentence in comparison.all_sentences() {
            writeln!(to)?;
            markup.paragraph(&visible(sentence), false, to)?;
        }
    }
    if options.per_query && comparison.query_ids().len() > 0 {
        for difference in comparison.differences_for(0) {
            writeln!(to)?;
            markup.write(
                &by_query(comparison, difference, &options),
                &ends_caption(comparison, difference),
                to,
            )?;
        }
    }
    groups::write_markup(markup, report, &options, to)?;
    gates::write_markup(markup, report, to)
}

/// Returns the sentences on pairs of runs under the table, for all pairs on request. For many runs
/// the list is empty, because the verdict names the important pairs.
fn sentences(comparison: &Comparison, options: &ReportOptions) -> Vec<String> {
    match (options.all_pairs, comparison.has_many_runs()) {
        (true, _) => comparison.all_sentences(),
        (false, true) => Vec::new(),
        (false, false) => comparison.sentences(),
    }
}

fn name(comparison: &Comparison, run: usize) -> String {
    visible(comparison.name(run))
}

/// Returns the caption of a comparison's table: the runs, the measures and the settings.
fn caption(comparison: &Comparison) -> String {
    let options = &comparison.options;
    let against = match comparison.baseline {
        Some(baseline) => format!(", against {}", name(comparison, baseline)),
        None => String::new(),
    };
    let queries = queries(comparison.queries);
    let scope = if options.family == Scope::All
        || comparison.measures.len() == 1
        || comparison.family_size == 1
    {
        ""
    } else {
        " per measure"
    };
    let drawn = match comparison.draws {
        0 => String::new(),
        draws => format!("; {draws} permutations, seed {:#x}", options.seed),
    };
    format!(
        "{} runs{against}, {queries}; {}{scope}{drawn}",
        comparison.runs.len(),
        comparison.method()
    )
}

/// Returns the main table of a comparison, and for more than two runs the legend of its marks.
fn main(comparison: &Comparison, options: &ReportOptions) -> (Grid, Option<String>) {
    if comparison.runs.len() == 2 {
        return (two_runs(comparison, options), None);
    }
    let table = RunTable::new(comparison, options);
    (table.grid(), Some(table.legend()))
}

/// Returns the table of a comparison of two runs: measures as rows, or as columns if the terminal
/// is narrow.
fn two_runs(comparison: &Comparison, options: &ReportOptions) -> Grid {
    let [run, baseline] = comparison.differences[0].pair.runs();
    let names = [baseline, run].map(|run| name(comparison, run));
    let others = ["delta", "relative", "interval", "p", "p adj", "d", "won/tied/lost"];
    let headings = names.iter().cloned().chain(others.map(str::to_owned));
    let columns = 1 + names.len() + others.len();
    let mut grid = Grid::of_numbers("measure", headings).with_name_headings();
    for (measure, difference) in comparison.measures.iter().zip(&comparison.differences) {
        let cells = PairCells::new(comparison, difference, options);
        let interval =
            cells.interval.map_or(NONE.to_owned(), |[low, high]| format!("{low} … {high}"));
        let [delta, relative, others @ ..] = cells.others;
        let numbers = [delta, relative, interval].into_iter().chain(others).map(Cell::from);
        grid.push([measure.to_string().into()].into_iter().chain(cells.means).chain(numbers));
    }
    for (name, measure) in judged(comparison) {
        let shares = [baseline, run].map(|run| share(comparison, run, measure));
        let cells = [name].into_iter().chain(shares).map(Cell::from);
        grid.push(cells.chain(std::iter::repeat_n(Cell::default(), columns - 3)));
    }
    if grid.blocks(options) == 1 { grid } else { two_runs_turned(comparison, names, options) }
}

/// Returns the table of a comparison of two runs with measures as columns and numbers as rows.
fn two_runs_turned(comparison: &Comparison, names: [String; 2], options: &ReportOptions) -> Grid {
    let mut grid = Grid::of_numbers("", comparison.measures.iter().map(ToString::to_string));
    let columns = comparison
        .differences
        .iter()
        .map(|difference| PairCells::new(comparison, difference, options).column());
    let columns: Vec<Vec<Cell>> = columns.collect();
    let shares = names.each_ref().map(|name| format!("judged, {name}"));
    let shares = (!judged(comparison).is_empty()).then_some(shares).into_iter().flatten();
    let others =
        ["delta", "relative", "interval from", "interval to", "p", "p adj", "d", "won/tied/lost"];
    let others = others.map(str::to_owned);
    for (at, name) in names.into_iter().chain(others).chain(shares).enumerate() {
        let cells = columns.iter().map(|column| column[at].clone());
        grid.push([Cell::from(name)].into_iter().chain(cells));
    }
    grid
}

/// The place of a number that is not known.
const NONE: &str = "–";

/// The numbers of two compared runs under a measure, as text for a table.
struct PairCells {
    /// The means of the baseline and of the run.
    means: [Cell; 2],
    interval: Option<[String; 2]>,
    /// The difference, relative to the baseline; p, also corrected; the size of the effect; and the
    /// queries won, tied and lost.
    others: [String; 6],
    /// The shares of judged documents.
    judged: [String; 2],
}

impl PairCells {
    fn new(comparison: &Comparison, difference: &Difference, options: &ReportOptions) -> Self {
        let (precision, measure) = (options.precision, difference.measure);
        let pair = [difference.pair.baseline, difference.pair.run];
        let means = [0, 1].map(|at| Cell {
            text: format!("{:.precision$}", comparison.runs[pair[at]].means[measure]),
            best: comparison.significantly_worse(measure, pair[at]).contains(&pair[1 - at]),
            ..Cell::default()
        });
        let numbers = [
            difference.relative.map(|relative| format!("{:+.1} %", 100.0 * relative)),
            difference.p.map(p),
            difference.p_adjusted.map(p),
            difference.paired.d_z().map(|d| format!("{d:+.2}")),
        ];
        let [relative, p, p_adjusted, d] = numbers.map(|number| number.unwrap_or(NONE.to_owned()));
        let delta = signed(difference, difference.paired.mean, precision);
        let wins = difference.wins;
        let wins = format!("{}/{}/{}", wins.wins, wins.ties, wins.losses);
        Self {
            means,
            interval: difference
                .interval
                .map(|ends| ends.map(|end| signed(difference, end, precision))),
            others: [delta, relative, p, p_adjusted, d, wins],
            judged: pair.map(|run| share(comparison, run, measure)),
        }
    }

    /// Returns the numbers of the pair as the cells of a column, with each end of the interval in a
    /// row of its own.
    fn column(self) -> Vec<Cell> {
        let [low, high] = self.interval.unwrap_or([NONE; 2].map(str::to_owned));
        let [delta, relative, others @ ..] = self.others;
        let numbers = [delta, relative, low, high].into_iter().chain(others).chain(self.judged);
        self.means.into_iter().chain(numbers.map(Cell::from)).collect()
    }
}

/// Returns a difference between two runs as text with its sign; for a geometric mean, a ratio.
fn signed(difference: &Difference, value: f64, precision: usize) -> String {
    if difference.logarithmic {
        format!("×{:.precision$}", value.exp())
    } else {
        format!("{value:+.precision$}")
    }
}

/// Returns a p-value as text with four decimals, or `<0.0001`.
fn p(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

fn anova(comparison: &Comparison, measure: usize) -> String {
    let analysis = &comparison.anova[measure];
    let [runs, queries] = [&analysis.runs, &analysis.queries].map(|effect| {
        let f = match effect.f.zip(effect.p) {
            Some((f, p)) => format!("F = {f:.2}, {}", p_text(p)),
            None => "no F, because nothing is left unexplained".to_owned(),
        };
        format!("({} df) {f}", effect.df)
    });
    format!(
        "Analysis of variance of {}: runs {runs}; queries {queries}; {} df of error; it assumes \
         equal variances.",
        comparison.measures[measure], analysis.error_df
    )
}

/// Returns the table of each measure's agreement with the first measure on the order of the runs.
fn agreement(comparison: &Comparison, options: &ReportOptions) -> Option<Grid> {
    if comparison.agreement.is_empty() {
        return None;
    }
    let first = format!("agreement with {}", comparison.measures[0]);
    let mut grid = Grid::of_numbers(&first, ["τ", "τ_ap", "RBO"].map(str::to_owned));
    for agreement in &comparison.agreement {
        let numbers = [agreement.tau, agreement.tau_ap, agreement.overlap].map(|value| {
            value.map_or(NONE.to_owned(), |value| format!("{value:.*}", options.precision))
        });
        let name = comparison.measures[agreement.measure].to_string();
        grid.push([name].into_iter().chain(numbers).map(Cell::from));
    }
    Some(grid)
}

/// Returns the table of each measure's number of pairs of runs with a significant difference,
/// uncorrected.
fn discrimination(comparison: &Comparison) -> Option<Grid> {
    let all = comparison.discrimination();
    if all.is_empty() {
        return None;
    }
    let apart = format!("pairs with p < {}, uncorrected", comparison.options.alpha);
    let mut grid = Grid::of_numbers("measure", [apart]);
    for discrimination in &all {
        let share = discrimination
            .share()
            .map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
        let apart = format!("{} of {}{share}", discrimination.apart, discrimination.p.len());
        grid.push([comparison.measures[discrimination.measure].to_string(), apart].map(Cell::from));
    }
    Some(grid)
}

fn ends_caption(comparison: &Comparison, difference: &Difference) -> String {
    let [run, baseline] = comparison.pair_names(difference.pair).map(visible);
    let shown = if comparison.queries > 2 * ENDS {
        format!("the {ENDS} most gained and the {ENDS} most lost queries")
    } else {
        "by query".to_owned()
    };
    format!("{} of {run} against {baseline}, {shown}", comparison.measures[difference.measure])
}

/// Returns the table of queries in which two runs differ most, the greatest gain first.
fn by_query(comparison: &Comparison, difference: &Difference, options: &ReportOptions) -> Grid {
    let [run, baseline] = difference.pair.runs();
    let mut order: Vec<usize> = (0..comparison.queries)
        .filter(|&query| comparison.is_defined(difference.measure, query))
        .collect();
    sort::by_number(&mut order, |&query| {
        -(comparison.change(difference, query) * difference.gain_sign())
    });
    if order.len() > 2 * ENDS {
        order.drain(ENDS..order.len() - ENDS);
    }
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let headings = [name(comparison, baseline), name(comparison, run), "delta".to_owned()];
    let mut grid = Grid::of_numbers("query", headings).with_name_headings();
    for query in order {
        let change = format!("{:+.*}", options.precision, comparison.change(difference, query));
        let values = [baseline, run].map(|run| {
            if comparison.is_missing(run, query) {
                // The value of an empty ranking stands in for a missing query, and is no value.
                "missing".to_owned()
            } else {
                let value = comparison.values(difference.measure, run)[query];
                format!("{value:.*}", options.precision)
            }
        });
        let cells = [printable(ids[query])].into_iter().chain(values).chain([change]);
        grid.push(cells.map(Cell::from));
    }
    grid
}
