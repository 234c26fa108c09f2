//! The tables of a comparison: means, differences, adjusted p, gates.

use super::context::Context;
use super::markup::Elements;
use super::page::{cell, note, row, table};
use super::plot::shortened;
use super::scale::{number, signed};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::error::printable;
use crate::measure::{Better, Measure};
use crate::sort;

/// The most cells of the table of means.
// The limits of all tables keep a page below 300 KB, whatever is compared. What is left out is said, and stands in the other formats.
const MEANS: usize = 800;
/// The most runs of a table.
const RUNS: usize = 100;
/// The most measures of a table.
pub const MEASURES: usize = 24;
/// The most rows of the table of differences.
const DIFFERENCES: usize = 60;
/// The most runs of a matrix.
const MATRIX: usize = 16;
/// The most cells of all matrices.
const CELLS: usize = 400;
/// The most letters that are shown of the runs that one run is better than.
const LABELS: usize = 12;
/// The most columns of a name.
pub const NAME: usize = 40;

/// A name as it is shown: without controls, and not longer than [`NAME`] columns.
pub fn name(name: &str) -> String {
    shortened(&printable(name.as_bytes()), NAME)
}

/// The name of a run.
pub fn run(of: &Comparison, run: usize) -> String {
    name(&of.runs[run].name)
}

/// A measure, with an arrow in the direction in which it is better.
pub fn heading(measure: &Measure) -> String {
    match measure.definition().better {
        Better::Higher => format!("{measure}\u{a0}↑"),
        Better::Lower => format!("{measure}\u{a0}↓"),
        Better::Neither => measure.to_string(),
    }
}

/// The direction in which a measure is better.
pub fn direction(measure: &Measure) -> &'static str {
    match measure.definition().better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither higher nor lower is better",
    }
}

/// A p as text; a dash if there is none.
pub fn p(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => number(p, 4),
    }
}

/// A difference as text; for a geometric mean, a ratio.
pub fn delta(of: &Difference, value: f64) -> String {
    if of.logarithmic { format!("×{}", number(of.shown(value), 4)) } else { signed(value, 4) }
}

/// An interval of differences as text.
pub fn interval(of: &Difference) -> String {
    of.interval.map_or("–".to_owned(), |[low, high]| format!("{} to {}", delta(of, low), delta(of, high)))
}

/// The level of confidence as text, in percent.
pub fn confidence(alpha: f64) -> String {
    format!("{} %", ((1.0 - alpha) * 1e8).round() / 1e6)
}

/// The indices of the runs of a table: all in their order, or the best of them if they are many.
pub fn shown_runs(of: &Comparison, measure: usize, most: usize) -> Vec<usize> {
    let mut runs: Vec<usize> = (0..of.runs.len()).collect();
    if runs.len() > most {
        let merits = of.merits(measure);
        sort::by_number(&mut runs, |&run| -merits[run]);
        runs.truncate(most);
    }
    runs
}

/// Writes a note on the rows that are left out, if there are any.
pub fn left_out(page: &mut Elements, shown: usize, all: usize, what: &str) {
    if shown < all {
        note(page, &format!("{shown} of {all} {what} are shown: see CSV or JSON for the others."));
    }
}

/// Writes the means with the letters of the runs that each is better than.
pub fn means(page: &mut Elements, of: &Comparison) {
    let measures = of.measures.len().min(MEASURES);
    let runs = shown_runs(of, 0, RUNS.min(MEANS / measures));
    let lacking = of.runs.iter().any(|run| run.filled > 0);
    let mut headings = vec![String::new(), "run".to_owned()];
    headings.extend(of.measures[..measures].iter().map(heading));
    headings.extend(lacking.then(|| "missing queries".to_owned()));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(page, 2, &headings, |page| {
        for &at in &runs {
            page.element("tr", &[], |page| {
                page.line("td", &[], &of.runs[at].label);
                page.element("td", &[], |page| {
                    page.text(run(of, at));
                    if of.baseline == Some(at) {
                        page.line("small", &[], "baseline");
                    }
                });
                (0..measures).for_each(|measure| mean(page, of, measure, at));
                if lacking {
                    page.line("td", &[], of.runs[at].filled);
                }
            });
        }
    });
    left_out(page, runs.len(), of.runs.len(), "runs");
    left_out(page, measures, of.measures.len(), "measures");
    let tied = if of.baseline.is_none() { " = is not shown to be worse than the best." } else { "" };
    note(
        page,
        &format!(
            "* is the best mean.{tied} Letters name the runs that a run is significantly better than: {}. ↑ means that higher is better, ↓ that lower is better.",
            of.method()
        ),
    );
}

fn mean(page: &mut Elements, of: &Comparison, measure: usize, run: usize) {
    let is_best = of.is_best(measure, run);
    let beaten = of.beaten(measure, run);
    let mark = match (is_best, of.is_tied_with_best(measure, run)) {
        (true, _) => "*",
        (false, Some(true)) => "=",
        (false, _) => "",
    };
    cell(page, if is_best { "best" } else { "" }, |page| {
        page.text(number(of.runs[run].means[measure], 4));
        page.element("span", &[("class", &"marks")], |page| {
            page.text(mark);
            if !beaten.is_empty() {
                page.line("sup", &[], labels(of, &beaten));
            }
        });
        if let Some(share) = of.runs[run].judged.get(measure).copied().flatten() {
            page.line("small", &[], format_args!("{:.0} % judged", 100.0 * share));
        }
    });
}

/// The labels of some runs. If they are many, the first of them and the number of the others.
fn labels(of: &Comparison, runs: &[usize]) -> String {
    let letters = runs.iter().all(|&run| of.runs[run].label.chars().all(char::is_alphabetic));
    let (join, most) = if letters { ("", LABELS) } else { ("·", LABELS / 3) };
    let first: Vec<&str> = runs.iter().take(most).map(|&run| of.runs[run].label.as_str()).collect();
    let more = runs.len() - first.len();
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    first.join(join) + &more
}

/// Writes the differences of each pair.
pub fn differences(page: &mut Elements, of: &Comparison, shown: impl Fn(usize) -> Vec<usize>) {
    let interval_of = format!("{} interval", confidence(of.options.alpha));
    let mut headings = vec![
        "measure",
        "run",
        "against",
        "difference",
        "relative",
        &interval_of,
        "p",
        "adjusted p",
        "d",
        "won/tied/lost",
    ];
    headings.extend(["smallest detectable difference (80 % power)"]);
    headings.extend(of.options.power.map(|_| "queries needed"));
    headings.extend(of.options.margin.map(|_| "p within margin"));
    let all = (0..of.measures.len()).flat_map(|measure| {
        let places = shown(measure);
        places.into_iter().map(move |at| &of.of_measure(measure)[at])
    });
    let rows: Vec<&Difference> = all.take(DIFFERENCES).collect();
    table(page, 3, &headings, |page| rows.iter().for_each(|difference| difference_row(page, of, difference)));
    left_out(page, rows.len(), of.differences.len(), "differences");
    note(
        page,
        &format!(
            "p is not corrected, adjusted p is ({}). d is the mean difference in standard deviations. The smallest detectable difference is what {} queries find four times in five.",
            of.method(),
            of.queries
        ),
    );
}

fn difference_row(page: &mut Elements, of: &Comparison, at: &Difference) {
    let number_of =
        |value: Option<f64>, decimals| value.map_or("–".to_owned(), |value| number(value, decimals));
    let percent = |share: f64| format!("{} %", signed(100.0 * share, 1));
    let mut cells = vec![
        run(of, at.pair.run),
        run(of, at.pair.baseline),
        delta(at, at.paired.mean),
        at.relative.map_or("–".to_owned(), percent),
        interval(at),
        p(at.p),
        p(at.p_adjusted),
        number_of(at.paired.d_z(), 2),
        format!("{}/{}/{}", at.wins.wins, at.wins.ties, at.wins.losses),
        at.smallest_found.filter(|_| !at.logarithmic).map_or("–".to_owned(), |found| number(found, 4)),
    ];
    cells.extend(
        of.options.power.map(|_| at.queries_needed.map_or("–".to_owned(), |needed| needed.to_string())),
    );
    cells.extend(of.options.margin.map(|_| p(at.p_margin)));
    row(page, &of.measures[at.measure].to_string(), &cells);
}

/// Writes the adjusted p of all pairs of runs, one matrix for each measure; those against a baseline in one table.
pub fn adjusted(page: &mut Elements, of: &Comparison) {
    if let Some(baseline) = of.baseline {
        return against(page, of, baseline);
    }
    let runs = shown_runs(of, 0, MATRIX);
    let measures = (CELLS / (runs.len() * runs.len())).clamp(1, of.measures.len());
    for measure in 0..measures {
        let of_measure = of.measures[measure].to_string();
        page.line("h3", &[], &of_measure);
        let columns =
            runs.iter().map(|&other| format!("{} {}", of.runs[other].label, shortened(&run(of, other), 14)));
        let headings: Vec<String> = [String::new()].into_iter().chain(columns).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        table(page, 1, &headings, |page| {
            for &at in &runs {
                page.element("tr", &[], |page| {
                    page.line(
                        "th",
                        &[("scope", &"row")],
                        format_args!("{} {}", of.runs[at].label, run(of, at)),
                    );
                    runs.iter().for_each(|&other| adjusted_cell(page, of, measure, [at, other]));
                });
            }
        });
    }
    left_out(page, runs.len(), of.runs.len(), "runs");
    left_out(page, measures, of.measures.len(), "measures");
    note(
        page,
        &format!(
            "▲ The run of the row is better than that of the column, ▼ it is worse, at {}: {}.",
            of.options.alpha,
            of.method()
        ),
    );
}

fn against(page: &mut Elements, of: &Comparison, baseline: usize) {
    let measures = of.measures.len().min(MEASURES);
    let runs = shown_runs(of, 0, (CELLS / measures).clamp(MATRIX, RUNS));
    let headings: Vec<String> =
        ["run".to_owned()].into_iter().chain(of.measures[..measures].iter().map(heading)).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(page, 1, &headings, |page| {
        for &at in runs.iter().filter(|&&at| at != baseline) {
            page.element("tr", &[], |page| {
                page.line("th", &[("scope", &"row")], run(of, at));
                (0..measures).for_each(|measure| adjusted_cell(page, of, measure, [at, baseline]));
            });
        }
    });
    left_out(page, runs.len(), of.runs.len(), "runs");
    let text = format!(
        "Against {}: ▲ the run is better, ▼ it is worse, at {}: {}.",
        run(of, baseline),
        of.options.alpha,
        of.method()
    );
    note(page, &text);
}

fn adjusted_cell(page: &mut Elements, of: &Comparison, measure: usize, [one, other]: [usize; 2]) {
    let Some(difference) = of.between(measure, one, other) else {
        return cell(page, "", |_| ());
    };
    let gain = if difference.pair.run == one { difference.gain() } else { -difference.gain() };
    let (class, mark) = match (difference.is_significant(of.options.alpha), gain > 0.0) {
        (true, true) => ("sure", "▲ "),
        (true, false) => ("sure", "▼ "),
        _ => ("", ""),
    };
    cell(page, class, |page| page.text(format_args!("{mark}{}", p(difference.p_adjusted))));
}

/// Writes the result of each gate.
pub fn gates(page: &mut Elements, of: &Comparison, context: &Context) {
    table(page, 3, &["gate", "run", "verdict", "value", "limit", "p"], |page| {
        for (gate, judged) in context.gates {
            for judged in judged {
                let verdict = judged.verdict;
                page.element("tr", &[], |page| {
                    page.line("th", &[("scope", &"row")], shortened(&gate.to_string(), 80));
                    page.line("td", &[], run(of, judged.run));
                    let (class, words) =
                        if verdict.failed { ("failed", "✗ failed") } else { ("", "✓ passed") };
                    cell(page, class, |page| page.text(words));
                    page.line("td", &[], number(verdict.value, 4));
                    page.line("td", &[], number(verdict.threshold, 4));
                    page.line("td", &[], p(verdict.p));
                });
            }
        }
    });
    note(page, "The value is the run's mean, or by how much the run is worse than the baseline.");
}
