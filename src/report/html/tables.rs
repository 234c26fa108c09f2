//! The tables on a comparison's HTML page: means, differences, adjusted p, gates and groups.

use super::context::PageContext;
use super::markup::Elements;
use super::names::{NAME, heading, name, name_in, run_headings, write_keyed_name, write_name};
use super::oriented_pair::OrientedPair;
use super::page::{cell, element_with_class, no_break, note, row, row_heading, table};
use super::scale::{number, signed};
use crate::compare::GateSentence;
use crate::compare::comparison::Comparison;
use crate::report::run_name::visible;

/// The most cells of the table of means.
// The limits of all tables keep every page below 400 KB. The page notes omitted rows, and the other
// formats contain every row.
const MEANS: usize = 800;
/// The most runs of a table.
const RUNS: usize = 100;
/// The most rows of the table of gates.
const RESULTS: usize = 100;
/// The most rows of the table of groups.
const GROUPS: usize = 100;
/// The most runs that have a column each in the table of groups.
const GROUP_RUNS: usize = 5;
/// The most measures of a table.
pub const MEASURES: usize = 24;
/// The most rows of the table of differences.
const DIFFERENCES: usize = 60;
/// The most runs of a matrix.
const MATRIX: usize = 16;
/// The most cells of all matrices.
const CELLS: usize = 400;

/// Returns a p-value as text for an HTML table, or a dash for `None`.
pub fn p(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => number(p, 4),
    }
}

/// Returns the confidence level of a comparison's intervals as text in percent.
pub fn confidence(comparison: &Comparison) -> String {
    // `1 − alpha` has the rounding error of `alpha`, which would show as further digits.
    format!("{} %", ((1.0 - comparison.options.alpha) * 1e8).round() / 1e6)
}

/// Writes a note that only `shown` of all rows are shown, if some are left out.
pub fn left_out(page: &mut Elements, shown: usize, all: usize, what: &str) {
    if shown < all {
        note(page, &format!("{shown} of {all} {what} are shown: see CSV or JSON for the others."));
    }
}

/// Returns the indices of the runs in an HTML table: a few in their order, or the best of many, and
/// the baseline.
pub fn shown_runs(comparison: &Comparison, most: usize) -> Vec<usize> {
    if !comparison.has_many_runs() {
        return (0..comparison.runs.len().min(most)).collect();
    }
    let mut runs = comparison.ranked(0);
    // All pairs are pairs with the baseline, so the baseline takes the last place if need be.
    if let Some(baseline) =
        comparison.baseline.filter(|baseline| !runs[..most.min(runs.len())].contains(baseline))
    {
        runs.truncate(most.max(1) - 1);
        runs.push(baseline);
    }
    runs.truncate(most);
    runs
}

/// Returns a short label of a run on an HTML page: its letter, or its rank among many runs.
pub fn key(comparison: &Comparison, run: usize) -> String {
    if comparison.has_many_runs() {
        (comparison.ranked(0).iter().take_while(|&&at| at != run).count() + 1).to_string()
    } else {
        comparison.runs[run].label.clone()
    }
}

/// Writes the HTML table of the runs' means, with the letters of the runs that each is better than.
/// Many runs are sorted, and the top group is marked.
pub fn means(page: &mut Elements, comparison: &Comparison) {
    let measures = comparison.measures.len().min(MEASURES);
    let runs = shown_runs(comparison, RUNS.min(MEANS / measures));
    let top = top_group(comparison);
    let lacking = comparison.runs.iter().any(|run| run.filled > 0);
    let mut headings = run_headings(&comparison.measures[..measures]);
    headings.extend(
        comparison
            .has_many_runs()
            .then(|| format!("shown better than, by {}", comparison.measures[0])),
    );
    headings.extend(lacking.then(|| "missing queries".to_owned()));
    table(page, 1, &headings, |page| {
        for &at in &runs {
            element_with_class(page, "tr", if top.contains(&at) { "top" } else { "" }, |page| {
                row_heading(page, |page| {
                    write_keyed_name(page, key(comparison, at), &comparison.runs[at].name);
                    if comparison.baseline == Some(at) {
                        page.line("small", &[], "baseline");
                    }
                });
                (0..measures).for_each(|measure| mean(page, comparison, measure, at));
                if comparison.has_many_runs() {
                    page.line("td", &[], beats(comparison, at));
                }
                if lacking {
                    page.line("td", &[], comparison.runs[at].filled);
                }
            });
        }
    });
    left_out(page, runs.len(), comparison.runs.len(), "runs");
    left_out(page, measures, comparison.measures.len(), "measures");
    legend_of_means(page, comparison, &top);
}

/// Returns the top group of many compared runs: the best run and the runs not shown worse. The
/// group is empty if it would contain all runs, or if there is a baseline.
fn top_group(comparison: &Comparison) -> Vec<usize> {
    let top = if comparison.has_many_runs() && comparison.baseline.is_none() {
        comparison.best_group(0)
    } else {
        Vec::new()
    };
    if top.len() < comparison.runs.len() { top } else { Vec::new() }
}

/// Describes the number of runs that a run is significantly better than under the first measure, or
/// names the baseline. Without a baseline, the text counts these runs. With a baseline, the text is
/// `the baseline` for a run that beats the baseline, and a count for the baseline itself; a dash
/// stands for no run.
fn beats(comparison: &Comparison, run: usize) -> String {
    match (comparison.baseline, comparison.significantly_worse(0, run).len()) {
        (None, count) => format!("{count} of {}", comparison.runs.len() - 1),
        (Some(_), 0) => "–".to_owned(),
        (Some(baseline), count) if baseline == run => format!("{count} runs"),
        (Some(_), _) => "the baseline".to_owned(),
    }
}

fn legend_of_means(page: &mut Elements, comparison: &Comparison, top: &[usize]) {
    let tied = if comparison.baseline.is_none() {
        " = is not shown to be worse than the best."
    } else {
        ""
    };
    let others = match (comparison.has_many_runs(), top.len()) {
        (false, _) => {
            format!(
                " Letters name the runs that a run is significantly better than: {}.",
                comparison.method()
            )
        }
        (true, count) => {
            let top = match count {
                0 => String::new(),
                _ => format!(
                    " The top group, marked at its left, is the best run and those that are not \
                     shown to be worse: {count} of {}.",
                    comparison.runs.len()
                ),
            };
            let (measure, method) = (&comparison.measures[0], comparison.method());
            format!(" Runs are sorted by {measure}.{top} The test: {method}.")
        }
    };
    note(
        page,
        &format!(
            "* is the best mean.{tied}{others} ↑ means that higher is better, ↓ that lower is \
             better."
        ),
    );
}

fn mean(page: &mut Elements, comparison: &Comparison, measure: usize, run: usize) {
    let is_best = comparison.is_best(measure, run);
    let beaten = if comparison.has_many_runs() {
        Vec::new()
    } else {
        comparison.significantly_worse(measure, run)
    };
    let mark = match (is_best, comparison.is_not_worse_than_best(measure, run)) {
        (true, _) => "*",
        (false, Some(true)) => "=",
        (false, _) => "",
    };
    cell(page, if is_best { "best" } else { "" }, |page| {
        page.text(number(comparison.runs[run].means[measure], 4));
        page.element("span", &[("class", &"marks")], |page| {
            page.text(mark);
            if !beaten.is_empty() {
                let labels: Vec<&str> =
                    beaten.iter().map(|&run| comparison.runs[run].label.as_str()).collect();
                page.line("sup", &[], labels.concat());
            }
        });
        if let Some(share) = comparison.runs[run].judged.get(measure).copied().flatten() {
            page.line("small", &[], format_args!("{:.0} % judged", 100.0 * share));
        }
    });
}

/// Writes the HTML table of differences between pairs of runs, one group of rows for each measure.
pub fn differences<'a>(
    page: &mut Elements,
    comparison: &'a Comparison,
    shown: impl Fn(usize) -> Vec<OrientedPair<'a>>,
) {
    let interval_of = format!("{} interval", confidence(comparison));
    let mut headings = vec![
        "run",
        "difference",
        "relative",
        &interval_of,
        "p",
        "adjusted p",
        "d",
        "won/tied/lost",
    ];
    headings.extend(["smallest detectable difference (80 % power)"]);
    headings.extend(comparison.options.power.map(|_| "queries needed"));
    headings.extend(comparison.options.margin.map(|_| "p within margin"));
    let mut room = DIFFERENCES;
    table(page, 1, &headings, |page| {
        for measure in 0..comparison.measures.len() {
            if room == 0 {
                break;
            }
            let rows: Vec<OrientedPair> = shown(measure).into_iter().take(room).collect();
            room -= rows.len();
            if rows.is_empty() {
                continue;
            }
            page.element("tr", &[("class", &"group")], |page| {
                let span = ("colspan", &headings.len() as &dyn std::fmt::Display);
                page.element("th", &[span, ("scope", &"colgroup")], |page| {
                    page.line("span", &[], heading(&comparison.measures[measure]));
                });
            });
            rows.iter().for_each(|pair| difference_row(page, pair));
        }
    });
    left_out(page, DIFFERENCES - room, comparison.differences.len(), "differences");
    note(
        page,
        &format!(
            "p is not corrected, adjusted p is ({}). d is the mean difference in standard \
             deviations. The smallest detectable difference is what {} queries find four times in \
             five.",
            comparison.method(),
            comparison.queries
        ),
    );
}

fn difference_row(page: &mut Elements, pair: &OrientedPair) {
    let OrientedPair { comparison, at, one, other, .. } = *pair;
    let [won, tied, lost] = pair.wins();
    // A difference of logarithms says nothing to readers of ratios.
    let smallest = at.smallest_found.filter(|_| !at.logarithmic);
    let numbers = [
        pair.relative().map(|share| format!("{} %", signed(100.0 * share, 1))),
        at.paired.d_z().map(|d| number(pair.oriented(d), 2)),
        smallest.map(|found| number(found, 4)),
    ];
    let [relative, d, smallest] = numbers.map(|number| number.unwrap_or("–".to_owned()));
    let mut cells = vec![
        pair.text(pair.mean()),
        relative,
        pair.interval(),
        p(at.p),
        p(at.p_adjusted),
        d,
        format!("{won}/{tied}/{lost}"),
        smallest,
    ];
    cells.extend(
        comparison
            .options
            .power
            .map(|_| at.queries_needed.map_or("–".to_owned(), |needed| needed.to_string())),
    );
    cells.extend(comparison.options.margin.map(|_| p(at.p_margin)));
    row(
        page,
        |page| {
            write_name(page, &comparison.runs[one].name, NAME);
            page.element("small", &[], |page| {
                page.text("against ");
                write_name(page, &comparison.runs[other].name, NAME);
            });
        },
        &cells,
    );
}

/// Writes HTML tables of the adjusted p of pairs of runs: a matrix for each measure, or one table
/// against a baseline.
pub fn adjusted(page: &mut Elements, comparison: &Comparison) {
    if let Some(baseline) = comparison.baseline {
        return against(page, comparison, baseline);
    }
    let runs = shown_runs(comparison, MATRIX);
    let measures = (CELLS / (runs.len() * runs.len())).clamp(1, comparison.measures.len());
    for measure in 0..measures {
        page.line("h3", &[], &comparison.measures[measure]);
        let columns = runs.iter().map(|&other| {
            format!("{} {}", key(comparison, other), name_in(comparison.name(other), 14))
        });
        let headings: Vec<String> = ["run".to_owned()].into_iter().chain(columns).collect();
        table(page, 1, &headings, |page| {
            for &at in &runs {
                page.element("tr", &[], |page| {
                    row_heading(page, |page| {
                        write_keyed_name(page, key(comparison, at), &comparison.runs[at].name)
                    });
                    runs.iter()
                        .for_each(|&other| adjusted_cell(page, comparison, measure, [at, other]));
                });
            }
        });
    }
    left_out(page, runs.len(), comparison.runs.len(), "runs");
    left_out(page, measures, comparison.measures.len(), "measures");
    note(
        page,
        &format!(
            "▲ The run of the row is better than that of the column, ▼ it is worse, at {}: {}.",
            comparison.options.alpha,
            comparison.method()
        ),
    );
}

fn against(page: &mut Elements, comparison: &Comparison, baseline: usize) {
    let measures = comparison.measures.len().min(MEASURES);
    let runs = shown_runs(comparison, (CELLS / measures).clamp(MATRIX, RUNS));
    table(page, 1, &run_headings(&comparison.measures[..measures]), |page| {
        for &at in runs.iter().filter(|&&at| at != baseline) {
            page.element("tr", &[], |page| {
                row_heading(page, |page| write_name(page, comparison.name(at), NAME));
                (0..measures)
                    .for_each(|measure| adjusted_cell(page, comparison, measure, [at, baseline]));
            });
        }
    });
    left_out(page, runs.len(), comparison.runs.len(), "runs");
    let text = format!(
        "Against {}: ▲ the run is better, ▼ it is worse, at {}: {}.",
        name(comparison.name(baseline)),
        comparison.options.alpha,
        comparison.method()
    );
    note(page, &text);
}

fn adjusted_cell(
    page: &mut Elements,
    comparison: &Comparison,
    measure: usize,
    [one, other]: [usize; 2],
) {
    let Some(difference) = comparison.between(measure, one, other) else {
        return cell(page, "", |_| ());
    };
    let gain = if difference.pair.run == one { difference.gain() } else { -difference.gain() };
    let (class, mark) = match (comparison.is_significant(difference), gain > 0.0) {
        (true, true) => ("sure", "▲ "),
        (true, false) => ("sure", "▼ "),
        _ => ("", ""),
    };
    cell(page, class, |page| page.text(format_args!("{mark}{}", p(difference.p_adjusted))));
}

/// Writes the HTML table of the results of gates, with the measured value and the allowed range.
pub fn gates(page: &mut Elements, comparison: &Comparison, context: &PageContext) {
    let results = context.report(comparison).failed_first();
    table(page, 5, &["gate", "run", "verdict", "what happened", "allowed"], |page| {
        for result in results.iter().take(RESULTS) {
            page.element("tr", &[], |page| {
                row_heading(page, |page| page.text(name_in(&result.title(), 80)));
                cell(page, "words", |page| write_name(page, result.run(), NAME));
                let (class, words) =
                    if result.has_failed() { ("failed", "✗ failed") } else { ("", "✓ passed") };
                cell(page, class, |page| page.text(words));
                let GateSentence { happened, allowed } = result.sentence();
                for words in [happened, allowed] {
                    cell(page, "words", |page| page.text(no_break(&visible(words))));
                }
            });
        }
    });
    left_out(page, RESULTS, results.len(), "results");
}

/// Writes the HTML table of groups of queries: number of queries, means of a few runs, and verdict.
/// The means are those under the first measure.
pub fn groups(page: &mut Elements, comparison: &Comparison, context: &PageContext) {
    let report = context.report(comparison);
    let means = if comparison.runs.len() <= GROUP_RUNS { comparison.runs.len() } else { 0 };
    let mut headings = [report.word(), "queries"].map(str::to_owned).to_vec();
    headings.extend(comparison.runs[..means].iter().map(|run| name(&run.name)));
    headings.push("verdict".to_owned());
    table(page, headings.len(), &headings, |page| {
        for group in context.groups.iter().take(GROUPS) {
            page.element("tr", &[], |page| {
                row_heading(page, |page| page.text(name(&group.name)));
                cell(page, "", |page| page.text(group.comparison.queries));
                for run in 0..means {
                    let class = if group.comparison.is_best(0, run) { "best" } else { "" };
                    cell(page, class, |page| {
                        page.text(number(group.comparison.runs[run].means[0], 4))
                    });
                }
                let verdict = group.comparison.verdict().join(" ");
                cell(page, "words", |page| page.text(no_break(&visible(verdict))));
            });
        }
    });
    left_out(page, GROUPS, context.groups.len(), &format!("{}s", report.word()));
}
