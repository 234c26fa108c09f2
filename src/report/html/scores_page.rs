//! The HTML page of scores: averages of runs, distributions of the values of queries, curves and
//! settings.

use super::context::PageContext;
use super::curves::{self, Chart};
use super::glossary;
use super::histogram::{self, RunValues, queries};
use super::markup::Elements;
use super::names::{bounds, direction, heading, name, run_headings, write_keyed_name};
use super::page::{cell, figure, figure_row, note, row, row_heading, section, table};
use super::parts::{definitions, draw_curves, footer, inputs, links, mean_interval};
use super::plot::shortened;
use super::scale::number;
use super::tables::{MEASURES, left_out};
use super::whiskers::{Whisker, draw_means};
use crate::compare::order::MANY_RUNS;
use crate::measure::{Average, Direction};
use crate::report::run_name::visible;
use crate::report::{Note, notes};
use crate::scores::{RunScores, Scores, are_of_as_many};
use crate::sort;
use crate::stats::StatName;
use crate::stats::rounding::are_best;
use crate::stats::undefined::defined;

/// The most cells of a table.
const CELLS: usize = 1500;
/// The most runs of a table.
const RUNS: usize = 100;
/// The most runs of a figure.
const ROWS: usize = 10;
/// The most measures with figures.
const FIGURES: usize = 8;
/// The chance with which an interval misses the mean.
const ALPHA: f64 = 0.05;

pub fn write(scores: &Scores, context: &PageContext, page: &mut Elements) {
    page.line("h1", &[], visible(context.title));
    let runs: Vec<&RunScores> = ordered(scores).into_iter().map(|at| &scores.runs[at]).collect();
    let counts: Vec<usize> = runs.iter().map(|run| run.queries).collect();
    let all = match counts.as_slice() {
        [first, others @ ..] if others.iter().all(|count| count == first) => {
            format!(", {}", queries(*first))
        }
        _ => String::new(),
    };
    let many = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    page.line("p", &[("class", &"lead")], format_args!("{many}{all}"));
    let messages = notes(scores);
    if !messages.is_empty() {
        page.element("ul", &[("class", &"notes")], |page| {
            for note in messages.iter().take(RUNS) {
                let (Note::Note(text) | Note::Warning(text)) = note;
                page.line("li", &[], shortened(text, 600));
            }
        });
    }
    let charts: Vec<Chart> = [Some(scores), context.curves]
        .into_iter()
        .flatten()
        .flat_map(|source| curves::all(source, &labelled(scores)))
        .take(FIGURES)
        .collect();
    let has_values = runs.iter().any(|run| run.per_query.is_some());
    let mut sections = vec![("means", "Scores")];
    sections.extend(has_values.then_some(("values", "Queries")));
    sections.extend((!charts.is_empty()).then_some(("curves", "Curves")));
    sections.push(("settings", "Settings"));
    links(page, &sections);
    section(page, "means", "Scores", |page| {
        if let [run] = &scores.runs[..] {
            one_run(page, run, scores);
        } else {
            several_runs(page, scores);
        }
        intervals(page, scores, &runs);
    });
    if has_values {
        section(page, "values", "Queries", |page| spread(page, scores, &runs));
    }
    if !charts.is_empty() {
        section(page, "curves", "Curves", |page| draw_curves(page, &charts));
    }
    section(page, "settings", "Settings", |page| settings(page, scores, context));
    glossary::write_scores_glossary(page, scores, context);
    footer(page, context);
}

/// Writes the settings of the evaluation and its input files to the HTML page of scores.
fn settings(page: &mut Elements, scores: &Scores, context: &PageContext) {
    let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    let mut rows = vec![
        ("queries", scores.settings.queries.to_string()),
        ("measures", shortened(&measures.join(", "), 2000)),
    ];
    if scores.settings.tied != crate::scores::TiedValue::default() {
        rows.push(("value of equal scores", scores.settings.tied.to_string()));
    }
    definitions(page, &rows, context);
    inputs(page, context);
}

/// Returns the names of the runs in the order of the HTML page, each with its number as label.
pub fn labelled(scores: &Scores) -> Vec<(&str, String)> {
    let runs = ordered(scores).into_iter().map(|at| scores.runs[at].name.as_str());
    runs.enumerate().map(|(at, name)| (name, (at + 1).to_string())).collect()
}

/// Returns the indices of the runs in the order of the HTML page: a few as in the input, many with
/// the best first. The first measure says which is best; groups of queries are left out.
fn ordered(scores: &Scores) -> Vec<usize> {
    let mut runs: Vec<usize> =
        (0..scores.runs.len()).filter(|&at| scores.runs[at].group.is_none()).collect();
    if let Some(sign) = sorted(scores, runs.len()) {
        sort::by_number(&mut runs, |&at| {
            scores.runs[at].average(0).map_or(f64::INFINITY, |average| -sign * average)
        });
    }
    runs
}

/// Returns the sign by which runs are sorted under the first measure; `None` if runs keep the order
/// of the input. Runs are sorted from `MANY_RUNS` runs on, unless neither direction is better.
fn sorted(scores: &Scores, runs: usize) -> Option<f64> {
    let sign = match scores.measures.first()?.definition().better {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Neither => return None,
    };
    (runs >= MANY_RUNS).then_some(sign)
}

/// Returns the indices of the rows of a table of scores: each run, and behind it its groups of
/// queries.
fn rows(scores: &Scores) -> Vec<usize> {
    let rows = ordered(scores).into_iter().flat_map(|run| {
        let groups = (0..scores.runs.len()).filter(move |&at| {
            scores.runs[at].group.is_some() && scores.runs[at].name == scores.runs[run].name
        });
        [run].into_iter().chain(groups)
    });
    rows.collect()
}

/// Returns the name of a run on an HTML page, with its group of queries in brackets, if any.
fn full_name(run: &RunScores) -> String {
    match &run.group {
        None => name(&run.name),
        Some(group) => format!("{} [{}]", name(&run.name), name(group)),
    }
}

/// Writes the HTML table of the scores of one run: measures as rows, statistics as columns.
fn one_run(page: &mut Elements, run: &RunScores, scores: &Scores) {
    let shown = scores.measures.len().min(2 * MEASURES);
    let stats = run.stats.first().into_iter().flatten().skip(1).map(|(stat, _)| stat.name());
    let headings: Vec<&str> = ["measure", "average"].into_iter().chain(stats).collect();
    table(page, 1, &headings, |page| {
        for (measure, stats) in scores.measures[..shown].iter().zip(&run.stats) {
            let cells: Vec<String> =
                stats.iter().map(|&(stat, value)| written(value, stat)).collect();
            row(page, |page| page.text(heading(measure)), &cells);
        }
    });
    left_out(page, shown, scores.measures.len(), "measures");
    note(
        page,
        &format!(
            "{}: the average is the mean; for counts it is the sum, and for geometric means the \
             geometric mean.",
            full_name(run)
        ),
    );
}

/// Returns a statistic as text, without decimals if it is a whole sum or count of queries.
fn written(value: f64, stat: StatName) -> String {
    let is_count = matches!(stat, StatName::Sum | StatName::Varying | StatName::Across)
        && value.fract() == 0.0;
    number(value, if is_count { 0 } else { 4 })
}

/// Writes the HTML table of the scores of several runs: runs as rows, measures as columns.
fn several_runs(page: &mut Elements, scores: &Scores) {
    let measures = scores.measures.len().min(MEASURES);
    let shown = scores.runs.len().min(RUNS).min(CELLS / measures.max(1));
    let headings = run_headings(&scores.measures[..measures]);
    let best: Vec<Vec<bool>> = (0..measures).map(|measure| best(scores, measure)).collect();
    let mut number_of = 0;
    table(page, 1, &headings, |page| {
        for (at, run) in rows(scores).into_iter().take(shown).map(|at| (at, &scores.runs[at])) {
            page.element("tr", &[], |page| {
                number_of += usize::from(run.group.is_none());
                row_heading(page, |page| match &run.group {
                    None => write_keyed_name(page, number_of, &run.name),
                    Some(_) => page.text(full_name(run)),
                });
                for (measure, best) in best.iter().enumerate() {
                    let value = run.stats.get(measure).and_then(|stats| stats.first());
                    let (class, mark) = if best[at] { ("best", "*") } else { ("", "") };
                    let text =
                        value.map_or("–".to_owned(), |&(stat, value)| written(value, stat));
                    cell(page, class, |page| page.text(text + mark));
                }
            });
        }
    });
    left_out(page, shown, scores.runs.len(), "rows");
    left_out(page, measures, scores.measures.len(), "measures");
    let runs = scores.runs.iter().filter(|run| run.group.is_none()).count();
    let order = sorted(scores, runs)
        .map_or(String::new(), |_| format!(" Runs are sorted by {}.", scores.measures[0]));
    note(
        page,
        &format!(
            "* is the best average, which is not necessarily better: see `laneval compare`.{order}"
        ),
    );
}

/// Returns for each run whether it has the best average of a measure; groups of queries never have.
fn best(scores: &Scores, measure: usize) -> Vec<bool> {
    let averages = scores.runs.iter();
    let averages: Vec<Option<f64>> =
        averages.map(|run| run.average(measure).filter(|_| run.group.is_none())).collect();
    // Averages over different numbers of queries cannot be compared.
    if !are_of_as_many(scores.runs.iter().filter(|run| run.group.is_none()), measure) {
        return vec![false; averages.len()];
    }
    are_best(&averages, scores.measures[measure].definition().better)
}

/// Draws a chart of the runs' averages with confidence intervals for each measure, if there are
/// any.
fn intervals(page: &mut Elements, scores: &Scores, runs: &[&RunScores]) {
    let mut drawn = false;
    figure_row(page, |page| {
        for (at, measure) in scores.measures.iter().enumerate().take(FIGURES) {
            let is_mean = measure.definition().average == Average::Mean;
            let rows: Vec<Whisker> = (1..)
                .zip(runs)
                .take(2 * ROWS)
                .filter_map(|(number, run)| interval(number, run, at, is_mean))
                .collect();
            if rows.is_empty() {
                continue;
            }
            drawn = true;
            draw_means(page, measure, &format!("{measure}, {}", direction(measure)), &rows);
        }
    });
    if drawn {
        note(
            page,
            "Lines are 95 % intervals of each mean. Runs whose intervals overlap may still differ.",
        );
    }
}

/// Returns a run's average with its confidence interval as a row of a chart; `None` without an
/// interval.
fn interval(at: usize, run: &RunScores, measure: usize, is_mean: bool) -> Option<Whisker> {
    let point = run.average(measure).filter(|value| value.is_finite())?;
    let given = run.stat(measure, StatName::Ci95Low).zip(run.stat(measure, StatName::Ci95High));
    let [low, high] = match given {
        Some(ends) => ends.into(),
        // A t interval is that of a mean, and not of a sum or of a geometric mean.
        None if is_mean => {
            mean_interval(&defined(run.per_query.as_ref()?.values.get(measure)?), ALPHA)?
        }
        None => return None,
    };
    let (name, value) = (name(&run.name), number(point, 4));
    Some(Whisker {
        label: format!("{at}  {name}"),
        title: format!("{name}: {value}, {} to {}", number(low, 4), number(high, 4)),
        value,
        point,
        interval: Some([low, high]),
        filled: true,
        colour: "c0",
    })
}

/// Draws histograms of the runs' values of queries, one figure for each measure.
fn spread(page: &mut Elements, scores: &Scores, runs: &[&RunScores]) {
    figure_row(page, |page| {
        for (measure, this_measure) in scores.measures.iter().enumerate().take(FIGURES) {
            let values = runs.iter().enumerate().filter_map(|(at, run)| {
                let values = defined(run.per_query.as_ref()?.values.get(measure)?);
                let is_sum = this_measure.definition().average == Average::Sum;
                let average = run.average(measure).filter(|_| !is_sum);
                let label = format!("{}  {}", at + 1, name(&run.name));
                let average = average.map(|average| (number(average, 4), average));
                let drawn = !values.is_empty() && values.iter().all(|value| value.is_finite());
                drawn.then_some(RunValues { label, values, average })
            });
            let values: Vec<RunValues> = values.take(ROWS).collect();
            if !values.is_empty() {
                let title = format!("{this_measure}, {}", direction(this_measure));
                figure(page, &format!("Values of {this_measure}"), None, |page| {
                    histogram::values(page, &title, bounds(this_measure), &values);
                });
            }
        }
    });
    note(
        page,
        "Bars are numbers of queries, on the same scale in all rows; the dashed line is the \
         average.",
    );
    left_out(page, FIGURES, scores.measures.len(), "measures");
    left_out(page, ROWS, runs.len(), "runs");
}
