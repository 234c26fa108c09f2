//! A comparison for people: the verdict, the means, sentences, groups, the results of gates.

use std::io::{self, Write};

use super::several::RunTable;
use super::shares::{judged, share};
use super::whole::ComparisonReport;
use super::{gates, groups};
use crate::compare::p_is::p_is;
use crate::compare::{Comparison, Difference, Scope};
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;
use crate::sort;

/// The number of queries at either end of a list of differences.
const ENDS: usize = 10;

/// Writes the verdict, tables, sentences and the results of gates.
pub fn write(
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let comparison = report.comparison;
    for sentence in comparison.verdict() {
        writeln!(to, "{}", printable(sentence.as_bytes()))?;
    }
    writeln!(to, "\n{}\n", caption(comparison))?;
    let (grid, legend) = main(comparison, options);
    grid.write(options, to)?;
    if let Some(legend) = legend {
        let best = if options.colour { "bold" } else { "*" };
        writeln!(to, "\n{best} best; {legend}")?;
    }
    for sentence in sentences(comparison, options) {
        writeln!(to, "\n{}", printable(sentence.as_bytes()))?;
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
        for of in comparison.of_measure(0) {
            writeln!(to, "\n{}\n", ends_caption(comparison, of))?;
            by_query(comparison, of, options).write(options, to)?;
        }
    }
    groups::write(report, options, to)?;
    gates::write(report, to)
}

/// Writes the verdict, the main table, what its marks mean, groups and the results of gates, marked
/// up.
pub fn write_markup(
    markup: Markup,
    report: &ComparisonReport<'_>,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let comparison = report.comparison;
    let options = ReportOptions { colour: false, width: None, ..options.clone() };
    markup.paragraph(&printable(comparison.verdict().join(" ").as_bytes()), true, to)?;
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
            markup.paragraph(&printable(sentence.as_bytes()), false, to)?;
        }
    }
    if options.per_query && comparison.query_ids().len() > 0 {
        for of in comparison.of_measure(0) {
            writeln!(to)?;
            markup.write(&by_query(comparison, of, &options), &ends_caption(comparison, of), to)?;
        }
    }
    groups::write_markup(markup, report, &options, to)?;
    gates::write_markup(markup, report, to)
}

/// Returns the sentences under the table, for all pairs on request. For many runs the list is
/// empty, because the verdict names the important pairs.
fn sentences(comparison: &Comparison, options: &ReportOptions) -> Vec<String> {
    match (options.all_pairs, comparison.has_many_runs()) {
        (true, _) => comparison.all_sentences(),
        (false, true) => Vec::new(),
        (false, false) => comparison.sentences(),
    }
}

fn name(comparison: &Comparison, run: usize) -> String {
    printable(comparison.runs[run].name.as_bytes())
}

/// The caption: the runs, the measures and the settings of the comparison.
fn caption(comparison: &Comparison) -> String {
    let asked = &comparison.options;
    let against = match comparison.baseline {
        Some(baseline) => format!(", against {}", name(comparison, baseline)),
        None => String::new(),
    };
    let queries = if comparison.queries == 1 {
        "1 query".to_owned()
    } else {
        format!("{} queries", comparison.queries)
    };
    let scope = if asked.family == Scope::All
        || comparison.measures.len() == 1
        || comparison.family_size == 1
    {
        ""
    } else {
        " per measure"
    };
    let drawn = match comparison.draws {
        0 => String::new(),
        draws => format!("; {draws} permutations, seed {:#x}", asked.seed),
    };
    format!(
        "{} runs{against}, {queries}; {}{scope}{drawn}",
        comparison.runs.len(),
        comparison.method()
    )
}

/// The main table, and the legend of its marks if it has any.
fn main(comparison: &Comparison, options: &ReportOptions) -> (Grid, Option<String>) {
    if comparison.runs.len() == 2 {
        return (two_runs(comparison, options), None);
    }
    let table = RunTable::of(comparison, options);
    (table.grid(), Some(table.legend()))
}

/// The table of two runs: measures as rows, or as columns where there is no room for the other
/// columns.
fn two_runs(comparison: &Comparison, options: &ReportOptions) -> Grid {
    let [baseline, run] =
        [comparison.differences[0].pair.baseline, comparison.differences[0].pair.run];
    let names = [baseline, run].map(|run| name(comparison, run));
    let others = ["delta", "relative", "interval", "p", "p adj", "d", "won/tied/lost"];
    let headings = names.iter().cloned().chain(others.map(str::to_owned));
    let headings = headings.map(|heading| (heading, Align::Right));
    let columns = 1 + names.len() + others.len();
    let first = [("measure".to_owned(), Align::Left)];
    let mut grid = Grid::new(first.into_iter().chain(headings)).with_names_above();
    for (measure, of) in comparison.measures.iter().zip(&comparison.differences) {
        let cells = PairCells::of(comparison, of, options);
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

/// The table of two runs with measures as columns.
fn two_runs_turned(comparison: &Comparison, names: [String; 2], options: &ReportOptions) -> Grid {
    let measures = comparison.measures.iter().map(|measure| (measure.to_string(), Align::Right));
    let mut grid = Grid::new([(String::new(), Align::Left)].into_iter().chain(measures));
    let cells: Vec<PairCells> =
        comparison.differences.iter().map(|of| PairCells::of(comparison, of, options)).collect();
    let mut push = |name: &str, cell: &dyn Fn(&PairCells) -> Cell| {
        grid.push([Cell::from(name)].into_iter().chain(cells.iter().map(cell)));
    };
    let [baseline, run] = &names;
    push(baseline, &|of| of.means[0].clone());
    push(run, &|of| of.means[1].clone());
    for (at, name) in ["delta", "relative", "p", "p adj", "d", "won/tied/lost"].iter().enumerate() {
        if at == 2 {
            for (end, name) in ["interval from", "interval to"].iter().enumerate() {
                let number = |of: &PairCells| {
                    of.interval.clone().map_or(NONE.to_owned(), |of| of[end].clone())
                };
                push(name, &|of| number(of).into());
            }
        }
        push(name, &|of| of.others[at].as_str().into());
    }
    if !judged(comparison).is_empty() {
        for (at, name) in names.iter().enumerate() {
            push(&format!("judged, {name}"), &|of| of.judged[at].as_str().into());
        }
    }
    grid
}

/// The place of a number that is not known.
const NONE: &str = "–";

/// The numbers of two runs under a measure, as text.
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
    fn of(comparison: &Comparison, of: &Difference, options: &ReportOptions) -> Self {
        let precision = options.precision;
        let pair = [of.pair.baseline, of.pair.run];
        let mean = |at: usize| Cell {
            text: format!("{:.precision$}", comparison.runs[pair[at]].means[of.measure]),
            best: comparison.beaten(of.measure, pair[at]).contains(&pair[1 - at]),
            ..Cell::default()
        };
        let signed = |value: f64| {
            if of.logarithmic {
                format!("×{:.precision$}", value.exp())
            } else {
                format!("{value:+.precision$}")
            }
        };
        let known = |number: Option<f64>, text: &dyn Fn(f64) -> String| {
            number.map_or(NONE.to_owned(), text)
        };
        let wins = of.wins;
        PairCells {
            means: [mean(0), mean(1)],
            interval: of.interval.map(|ends| ends.map(signed)),
            others: [
                signed(of.paired.mean),
                known(of.relative, &|relative| format!("{:+.1} %", 100.0 * relative)),
                known(of.p, &p),
                known(of.p_adjusted, &p),
                known(of.paired.d_z(), &|d| format!("{d:+.2}")),
                format!("{}/{}/{}", wins.wins, wins.ties, wins.losses),
            ],
            judged: pair.map(|run| share(comparison, run, of.measure)),
        }
    }
}

/// A p with four decimals, or as less than the smallest of these.
fn p(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

fn anova(comparison: &Comparison, measure: usize) -> String {
    let of = &comparison.anova[measure];
    let effect = |f: Option<f64>, p: Option<f64>| match f.zip(p) {
        Some((f, p)) => format!("F = {f:.2}, {}", p_is(p)),
        None => "no F, because nothing is left unexplained".to_owned(),
    };
    format!(
        "Analysis of variance of {}: runs ({} df) {}; queries ({} df) {}; {} df of error; it \
         assumes equal variances.",
        comparison.measures[measure],
        of.runs.df,
        effect(of.runs.f, of.runs.p),
        of.queries.df,
        effect(of.queries.f, of.queries.p),
        of.error_df
    )
}

/// The table of how far the measures agree with the first one on the order of the runs.
fn agreement(comparison: &Comparison, options: &ReportOptions) -> Option<Grid> {
    if comparison.agreement.is_empty() {
        return None;
    }
    let first = format!("agreement with {}", comparison.measures[0]);
    let columns = [(first, Align::Left)]
        .into_iter()
        .chain(["τ", "τ_ap", "RBO"].map(|name| (name.to_owned(), Align::Right)));
    let mut grid = Grid::new(columns);
    for of in &comparison.agreement {
        let number = |value: Option<f64>| {
            value.map_or("–".to_owned(), |value| format!("{value:.*}", options.precision))
        };
        let numbers = [of.tau, of.tau_ap, of.overlap].map(|value| Cell::from(number(value)));
        grid.push(
            [Cell::from(comparison.measures[of.measure].to_string())].into_iter().chain(numbers),
        );
    }
    Some(grid)
}

/// The table of the number of pairs of runs that each measure separates.
fn discrimination(comparison: &Comparison) -> Option<Grid> {
    let all = comparison.discrimination();
    if all.is_empty() {
        return None;
    }
    let apart = format!("pairs with p < {}, uncorrected", comparison.options.alpha);
    let columns = [("measure".to_owned(), Align::Left), (apart, Align::Right)];
    let mut grid = Grid::new(columns);
    for of in &all {
        let share = of.share().map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
        let apart = format!("{} of {}{share}", of.apart, of.p.len());
        grid.push([comparison.measures[of.measure].to_string(), apart].map(Cell::from));
    }
    Some(grid)
}

fn ends_caption(comparison: &Comparison, of: &Difference) -> String {
    let [run, baseline] = [of.pair.run, of.pair.baseline].map(|run| name(comparison, run));
    let shown = if comparison.queries > 2 * ENDS {
        format!("the {ENDS} most gained and the {ENDS} most lost queries")
    } else {
        "by query".to_owned()
    };
    format!("{} of {run} against {baseline}, {shown}", comparison.measures[of.measure])
}

/// The queries that differ most, the greatest gain first.
fn by_query(comparison: &Comparison, of: &Difference, options: &ReportOptions) -> Grid {
    let [run, baseline] = [of.pair.run, of.pair.baseline];
    let values = |at| comparison.values(of.measure, at);
    let gain = |query: &usize| comparison.change(of, *query) * of.gain_sign();
    let written = |at: usize, query: usize| {
        if comparison.lacks(at, query) {
            "missing".to_owned()
        } else {
            format!("{:.*}", options.precision, values(at)[query])
        }
    };
    let mut order: Vec<usize> =
        (0..comparison.queries).filter(|&query| comparison.is_defined(of.measure, query)).collect();
    sort::by_number(&mut order, |query| -gain(query));
    if order.len() > 2 * ENDS {
        order.drain(ENDS..order.len() - ENDS);
    }
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let headings =
        ["query".to_owned(), name(comparison, baseline), name(comparison, run), "delta".to_owned()];
    let aligned = headings
        .into_iter()
        .enumerate()
        .map(|(at, heading)| (heading, if at == 0 { Align::Left } else { Align::Right }));
    let mut grid = Grid::new(aligned).with_names_above();
    for query in order {
        let change = format!("{:+.*}", options.precision, comparison.change(of, query));
        let numbers = [written(baseline, query), written(run, query), change];
        grid.push([Cell::from(printable(ids[query]))].into_iter().chain(numbers.map(Cell::from)));
    }
    grid
}
