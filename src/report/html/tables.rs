//! The tables of a comparison: means, differences, adjusted p, gates.

use super::context::Context;
use super::facing::Facing;
use super::markup::Elements;
use super::names::{NAME, heading, name, name_in, write_name};
use super::page::{cell, classed, note, table, unbroken};
use super::plot::shortened;
use super::scale::{number, signed};
use crate::compare::GateSentence;
use crate::compare::comparison::Comparison;
use crate::error::printable;

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

/// Returns a p-value as text, or a dash for `None`.
pub fn p(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => number(p, 4),
    }
}

/// The level of confidence as text, in percent.
pub fn confidence(alpha: f64) -> String {
    format!("{} %", ((1.0 - alpha) * 1e8).round() / 1e6)
}

/// Writes a note on the rows that are left out, if there are any.
pub fn left_out(page: &mut Elements, shown: usize, all: usize, what: &str) {
    if shown < all {
        note(page, &format!("{shown} of {all} {what} are shown: see CSV or JSON for the others."));
    }
}

/// The indices of the runs of a table: those of a few in their order, of many the best by the first
/// measure, and the baseline.
pub fn shown_runs(of: &Comparison, most: usize) -> Vec<usize> {
    if !of.has_many_runs() {
        return (0..of.runs.len().min(most)).collect();
    }
    let mut runs = of.ranked(0);
    if let Some(baseline) =
        of.baseline.filter(|baseline| !runs[..most.min(runs.len())].contains(baseline))
    {
        runs.truncate(most.max(1) - 1);
        runs.push(baseline);
    }
    runs.truncate(most);
    runs
}

/// Returns a short label of a run: the run's letter, or the run's rank if the comparison has many
/// runs.
pub fn key(of: &Comparison, run: usize) -> String {
    if of.has_many_runs() {
        (of.ranked(0).iter().take_while(|&&at| at != run).count() + 1).to_string()
    } else {
        of.runs[run].label.clone()
    }
}

/// Writes the means with the letters of the runs that each is better than; many runs are sorted,
/// and the top group is marked.
pub fn means(page: &mut Elements, of: &Comparison) {
    let measures = of.measures.len().min(MEASURES);
    let runs = shown_runs(of, RUNS.min(MEANS / measures));
    let top = top_group(of);
    let lacking = of.runs.iter().any(|run| run.filled > 0);
    let mut headings = vec!["run".to_owned()];
    headings.extend(of.measures[..measures].iter().map(heading));
    headings
        .extend(of.has_many_runs().then(|| format!("shown better than, by {}", of.measures[0])));
    headings.extend(lacking.then(|| "missing queries".to_owned()));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(page, 1, &headings, |page| {
        for &at in &runs {
            classed(page, "tr", if top.contains(&at) { "top" } else { "" }, |page| {
                page.element("th", &[("scope", &"row")], |page| {
                    page.line("span", &[("class", &"key")], key(of, at));
                    page.text(" ");
                    write_name(page, &of.runs[at].name, NAME);
                    if of.baseline == Some(at) {
                        page.line("small", &[], "baseline");
                    }
                });
                (0..measures).for_each(|measure| mean(page, of, measure, at));
                if of.has_many_runs() {
                    page.line("td", &[], beats(of, at));
                }
                if lacking {
                    page.line("td", &[], of.runs[at].filled);
                }
            });
        }
    });
    left_out(page, runs.len(), of.runs.len(), "runs");
    left_out(page, measures, of.measures.len(), "measures");
    legend_of_means(page, of, &top);
}

/// The top group of many runs: the best run and the runs not shown worse. The group is empty if it
/// would contain all runs, or if there is a baseline.
fn top_group(of: &Comparison) -> Vec<usize> {
    let top = if of.has_many_runs() && of.baseline.is_none() { of.leaders(0) } else { Vec::new() };
    if top.len() < of.runs.len() { top } else { Vec::new() }
}

/// Describes the runs that a run is significantly better than under the first measure. Without a
/// baseline, the text counts these runs. With a baseline, the text is `the baseline` for a run that
/// beats the baseline, and a count for the baseline itself; a dash stands for no run.
fn beats(of: &Comparison, run: usize) -> String {
    match (of.baseline, of.beaten(0, run).len()) {
        (None, count) => format!("{count} of {}", of.runs.len() - 1),
        (Some(_), 0) => "–".to_owned(),
        (Some(baseline), _) if baseline == run => format!("{} runs", of.beaten(0, run).len()),
        (Some(_), _) => "the baseline".to_owned(),
    }
}

fn legend_of_means(page: &mut Elements, of: &Comparison, top: &[usize]) {
    let tied =
        if of.baseline.is_none() { " = is not shown to be worse than the best." } else { "" };
    let others = match (of.has_many_runs(), top.len()) {
        (false, _) => {
            format!(
                " Letters name the runs that a run is significantly better than: {}.",
                of.method()
            )
        }
        (true, 0) => format!(" Runs are sorted by {}. The test: {}.", of.measures[0], of.method()),
        (true, count) => format!(
            " Runs are sorted by {}. The top group, marked at its left, is the best run and those \
             that are not shown to be worse: {count} of \
             {}. The test: {}.",
            of.measures[0],
            of.runs.len(),
            of.method()
        ),
    };
    note(
        page,
        &format!(
            "* is the best mean.{tied}{others} ↑ means that higher is better, ↓ that lower is \
             better."
        ),
    );
}

fn mean(page: &mut Elements, of: &Comparison, measure: usize, run: usize) {
    let is_best = of.is_best(measure, run);
    let beaten = if of.has_many_runs() { Vec::new() } else { of.beaten(measure, run) };
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
                let labels: Vec<&str> =
                    beaten.iter().map(|&run| of.runs[run].label.as_str()).collect();
                page.line("sup", &[], labels.concat());
            }
        });
        if let Some(share) = of.runs[run].judged.get(measure).copied().flatten() {
            page.line("small", &[], format_args!("{:.0} % judged", 100.0 * share));
        }
    });
}

/// Writes the differences of each pair, one group of rows for each measure.
pub fn differences<'a>(
    page: &mut Elements,
    of: &'a Comparison,
    shown: impl Fn(usize) -> Vec<Facing<'a>>,
) {
    let interval_of = format!("{} interval", confidence(of.options.alpha));
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
    headings.extend(of.options.power.map(|_| "queries needed"));
    headings.extend(of.options.margin.map(|_| "p within margin"));
    let mut room = DIFFERENCES;
    table(page, 1, &headings, |page| {
        for measure in 0..of.measures.len() {
            if room == 0 {
                break;
            }
            let rows: Vec<Facing> = shown(measure).into_iter().take(room).collect();
            room -= rows.len();
            if rows.is_empty() {
                continue;
            }
            page.element("tr", &[("class", &"group")], |page| {
                let span = ("colspan", &headings.len() as &dyn std::fmt::Display);
                page.element("th", &[span, ("scope", &"colgroup")], |page| {
                    page.line("span", &[], heading(&of.measures[measure]));
                });
            });
            rows.iter().for_each(|pair| difference_row(page, pair));
        }
    });
    left_out(page, DIFFERENCES - room, of.differences.len(), "differences");
    note(
        page,
        &format!(
            "p is not corrected, adjusted p is ({}). d is the mean difference in standard \
             deviations. The smallest detectable difference is what {} queries find four times in \
             five.",
            of.method(),
            of.queries
        ),
    );
}

fn difference_row(page: &mut Elements, pair: &Facing) {
    let Facing { of, at, one, other, .. } = *pair;
    let number_of = |value: Option<f64>, decimals| {
        value.map_or("–".to_owned(), |value| number(value, decimals))
    };
    let percent = |share: f64| format!("{} %", signed(100.0 * share, 1));
    let [won, tied, lost] = pair.wins();
    let mut cells = vec![
        pair.text(pair.mean()),
        pair.relative().map_or("–".to_owned(), percent),
        pair.interval(),
        p(at.p),
        p(at.p_adjusted),
        number_of(at.paired.d_z().map(|d| pair.turned(d)), 2),
        format!("{won}/{tied}/{lost}"),
        at.smallest_found
            .filter(|_| !at.logarithmic)
            .map_or("–".to_owned(), |found| number(found, 4)),
    ];
    cells.extend(
        of.options
            .power
            .map(|_| at.queries_needed.map_or("–".to_owned(), |needed| needed.to_string())),
    );
    cells.extend(of.options.margin.map(|_| p(at.p_margin)));
    page.element("tr", &[], |page| {
        page.element("th", &[("scope", &"row")], |page| {
            write_name(page, &of.runs[one].name, NAME);
            page.element("small", &[], |page| {
                page.text("against ");
                write_name(page, &of.runs[other].name, NAME);
            });
        });
        cells.iter().for_each(|cell| page.line("td", &[], cell));
    });
}

/// Writes the adjusted p of all pairs of runs in one matrix for each measure, or the pairs with a
/// baseline in one table.
pub fn adjusted(page: &mut Elements, of: &Comparison) {
    if let Some(baseline) = of.baseline {
        return against(page, of, baseline);
    }
    let runs = shown_runs(of, MATRIX);
    let measures = (CELLS / (runs.len() * runs.len())).clamp(1, of.measures.len());
    for measure in 0..measures {
        let of_measure = of.measures[measure].to_string();
        page.line("h3", &[], &of_measure);
        let columns = runs
            .iter()
            .map(|&other| format!("{} {}", key(of, other), name_in(&of.runs[other].name, 14)));
        let headings: Vec<String> = ["run".to_owned()].into_iter().chain(columns).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        table(page, 1, &headings, |page| {
            for &at in &runs {
                page.element("tr", &[], |page| {
                    page.element("th", &[("scope", &"row")], |page| {
                        page.line("span", &[("class", &"key")], key(of, at));
                        page.text(" ");
                        write_name(page, &of.runs[at].name, NAME);
                    });
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
    let runs = shown_runs(of, (CELLS / measures).clamp(MATRIX, RUNS));
    let headings: Vec<String> =
        ["run".to_owned()].into_iter().chain(of.measures[..measures].iter().map(heading)).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(page, 1, &headings, |page| {
        for &at in runs.iter().filter(|&&at| at != baseline) {
            page.element("tr", &[], |page| {
                page.element("th", &[("scope", &"row")], |page| {
                    write_name(page, &of.runs[at].name, NAME)
                });
                (0..measures).for_each(|measure| adjusted_cell(page, of, measure, [at, baseline]));
            });
        }
    });
    left_out(page, runs.len(), of.runs.len(), "runs");
    let text = format!(
        "Against {}: ▲ the run is better, ▼ it is worse, at {}: {}.",
        name(&of.runs[baseline].name),
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
    let (class, mark) = match (of.is_shown(difference), gain > 0.0) {
        (true, true) => ("sure", "▲ "),
        (true, false) => ("sure", "▼ "),
        _ => ("", ""),
    };
    cell(page, class, |page| page.text(format_args!("{mark}{}", p(difference.p_adjusted))));
}

/// Writes the result of each gate, with the measured value and the allowed range.
pub fn gates(page: &mut Elements, of: &Comparison, context: &Context) {
    let report = context.report(of);
    table(page, 5, &["gate", "run", "verdict", "what happened", "allowed"], |page| {
        let results = report.results();
        let that =
            |failed: bool| results.iter().filter(move |of| of.judged.verdict.failed == failed);
        for result in that(true).chain(that(false)).take(RESULTS) {
            page.element("tr", &[], |page| {
                page.line(
                    "th",
                    &[("scope", &"row")],
                    shortened(&printable(result.title().as_bytes()), 80),
                );
                cell(page, "words", |page| write_name(page, result.run(), NAME));
                let (class, words) = if result.judged.verdict.failed {
                    ("failed", "✗ failed")
                } else {
                    ("", "✓ passed")
                };
                cell(page, class, |page| page.text(words));
                let GateSentence { happened, allowed } = result.sentence();
                for words in [happened, allowed] {
                    cell(page, "words", |page| page.text(unbroken(&printable(words.as_bytes()))));
                }
            });
        }
    });
    let all = report.results().len();
    left_out(page, all.min(RESULTS), all, "results");
}

/// Writes a row for each group: its queries, the means of the runs under the first measure if they
/// are few, and the verdict.
pub fn groups(page: &mut Elements, of: &Comparison, context: &Context) {
    let report = context.report(of);
    let means = if of.runs.len() <= GROUP_RUNS { of.runs.len() } else { 0 };
    let names: Vec<String> = of.runs[..means]
        .iter()
        .map(|run| shortened(&printable(run.name.as_bytes()), NAME))
        .collect();
    let headings = [report.word(), "queries"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(["verdict"]);
    let headings: Vec<&str> = headings.collect();
    table(page, headings.len(), &headings, |page| {
        for group in context.groups.iter().take(GROUPS) {
            page.element("tr", &[], |page| {
                page.line(
                    "th",
                    &[("scope", &"row")],
                    shortened(&printable(group.name.as_bytes()), NAME),
                );
                cell(page, "", |page| page.text(group.comparison.queries));
                for run in 0..means {
                    let class = if group.comparison.is_best(0, run) { "best" } else { "" };
                    cell(page, class, |page| {
                        page.text(number(group.comparison.runs[run].means[0], 4))
                    });
                }
                let verdict = group.comparison.verdict().join(" ");
                cell(page, "words", |page| page.text(unbroken(&printable(verdict.as_bytes()))));
            });
        }
    });
    let all = context.groups.len();
    left_out(page, all.min(GROUPS), all, &format!("{}s", report.word()));
}
