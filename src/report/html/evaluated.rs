//! The page of scores: means, the distribution of the values of queries, and curves; and the end
//! that all pages have.

use super::context::Context;
use super::curves::{self, Chart};
use super::glossary;
use super::histogram::{self, RunValues, queries};
use super::markup::Elements;
use super::names::{NAME, bounds, direction, heading, name, write_name};
use super::page::{cell, figure, figures, note, section, table};
use super::parts::{definitions, draw_curves, footer, inputs, links, mean_interval};
use super::plot::shortened;
use super::scale::number;
use super::tables::{MEASURES, left_out};
use super::whiskers::{Axis, Whisker, Whiskers};
use crate::compare::order::MANY_RUNS;
use crate::error::printable;
use crate::measure::{Average, Better};
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

pub fn write(scores: &Scores, context: &Context, page: &mut Elements) {
    page.line("h1", &[], printable(context.title.as_bytes()));
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
    let said = notes(scores);
    if !said.is_empty() {
        page.element("ul", &[("class", &"notes")], |page| {
            for note in said.iter().take(RUNS) {
                let (Note::Note(text) | Note::Warning(text)) = note;
                page.line("li", &[], shortened(text, 600));
            }
        });
    }
    let charts: Vec<Chart> = [Some(scores), context.curves]
        .into_iter()
        .flatten()
        .flat_map(|of| curves::all(of, &labelled(scores)))
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
    glossary::of_scores(page, scores, context);
    footer(page, context);
}

/// Writes the settings of the evaluation, and the files that were read.
fn settings(page: &mut Elements, scores: &Scores, context: &Context) {
    let measures: Vec<String> = scores.measures.iter().map(ToString::to_string).collect();
    let mut rows = vec![
        ("queries", scores.queries.to_string()),
        ("measures", shortened(&measures.join(", "), 2000)),
    ];
    if scores.tied != crate::scores::TiedValue::default() {
        rows.push(("value of equal scores", scores.tied.to_string()));
    }
    definitions(page, &rows, context);
    inputs(page, context);
}

/// The runs in the order of the page, with labels that are short.
pub fn labelled(scores: &Scores) -> Vec<(&str, String)> {
    let runs = ordered(scores).into_iter().map(|at| scores.runs[at].name.as_str());
    runs.enumerate().map(|(at, name)| (name, (at + 1).to_string())).collect()
}

/// The places of the runs, without those of groups of queries: a few in the order of the input,
/// many with the best by the first measure first.
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

/// Returns the sign of a better value of the first measure, if runs are sorted by this measure:
/// from `MANY_RUNS` runs on, unless neither direction is better.
fn sorted(scores: &Scores, runs: usize) -> Option<f64> {
    let sign = match scores.measures.first()?.definition().better {
        Better::Higher => 1.0,
        Better::Lower => -1.0,
        Better::Neither => return None,
    };
    (runs >= MANY_RUNS).then_some(sign)
}

/// The places of the rows of a table: each run, and behind it its groups of queries.
fn rows(scores: &Scores) -> Vec<usize> {
    let with_groups = |run: usize| {
        let name = &scores.runs[run].name;
        let is_group =
            move |at: &usize| scores.runs[*at].group.is_some() && scores.runs[*at].name == *name;
        [run].into_iter().chain((0..scores.runs.len()).filter(is_group))
    };
    ordered(scores).into_iter().flat_map(with_groups).collect()
}

/// The name of a run and of the group of its queries.
fn full_name(run: &RunScores) -> String {
    match &run.group {
        None => name(&run.name),
        Some(group) => format!("{} [{}]", name(&run.name), name(group)),
    }
}

/// Writes measures as rows, statistics as columns.
fn one_run(page: &mut Elements, run: &RunScores, scores: &Scores) {
    let shown = scores.measures.len().min(2 * MEASURES);
    let stats: Vec<&str> =
        run.stats.first().into_iter().flatten().skip(1).map(|(stat, _)| stat.name()).collect();
    let headings: Vec<&str> = ["measure", "average"].into_iter().chain(stats).collect();
    table(page, 1, &headings, |page| {
        for (measure, stats) in scores.measures[..shown].iter().zip(&run.stats) {
            page.element("tr", &[], |page| {
                page.line("th", &[("scope", &"row")], heading(measure));
                for &(stat, value) in stats {
                    page.line("td", &[], written(value, stat));
                }
            });
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

/// A statistic as text: sums and counts of queries have no decimals if they are whole.
fn written(value: f64, stat: StatName) -> String {
    let is_count = matches!(stat, StatName::Sum | StatName::Varying | StatName::Across)
        && value.fract() == 0.0;
    number(value, if is_count { 0 } else { 4 })
}

/// Writes runs as rows, measures as columns.
fn several_runs(page: &mut Elements, scores: &Scores) {
    let measures = scores.measures.len().min(MEASURES);
    let shown = scores.runs.len().min(RUNS).min(CELLS / measures.max(1));
    let headings: Vec<String> = ["run".to_owned()]
        .into_iter()
        .chain(scores.measures[..measures].iter().map(heading))
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let best: Vec<Vec<bool>> = (0..measures).map(|measure| best(scores, measure)).collect();
    let mut number_of = 0;
    table(page, 1, &headings, |page| {
        for (at, run) in rows(scores).into_iter().take(shown).map(|at| (at, &scores.runs[at])) {
            page.element("tr", &[], |page| {
                number_of += usize::from(run.group.is_none());
                page.element("th", &[("scope", &"row")], |page| match &run.group {
                    None => {
                        page.line("span", &[("class", &"key")], number_of);
                        page.text(" ");
                        write_name(page, &run.name, NAME);
                    }
                    Some(_) => page.text(full_name(run)),
                });
                for (measure, best) in best.iter().enumerate() {
                    let value = run.stats.get(measure).and_then(|stats| stats.first());
                    let is_best = best[at];
                    let text =
                        value.map_or("–".to_owned(), |&(stat, value)| written(value, stat));
                    cell(page, if is_best { "best" } else { "" }, |page| {
                        page.text(format_args!("{text}{}", if is_best { "*" } else { "" }));
                    });
                }
            });
        }
    });
    left_out(page, shown, scores.runs.len(), "rows");
    left_out(page, measures, scores.measures.len(), "measures");
    let runs = scores.runs.iter().filter(|run| run.group.is_none()).count();
    let order =
        sorted(scores, runs).map(|_| format!(" Runs are sorted by {}.", scores.measures[0]));
    let order = order.unwrap_or_default();
    note(
        page,
        &format!(
            "* is the best average, which is not necessarily better: see `laneval compare`.{order}"
        ),
    );
}

/// Marks the runs with the best average of a measure; groups of queries have none.
fn best(scores: &Scores, measure: usize) -> Vec<bool> {
    let average = |run: &RunScores| run.average(measure).filter(|_| run.group.is_none());
    let averages: Vec<Option<f64>> = scores.runs.iter().map(average).collect();
    if !are_of_as_many(scores.runs.iter().filter(|run| run.group.is_none()), measure) {
        return vec![false; averages.len()];
    }
    are_best(&averages, scores.measures[measure].definition().better)
}

/// Draws the averages with their intervals, if there are any.
fn intervals(page: &mut Elements, scores: &Scores, runs: &[&RunScores]) {
    let row = |(at, run): (usize, &&RunScores), measure: usize| {
        let point = run.average(measure).filter(|value| value.is_finite())?;
        let given = run.stat(measure, StatName::Ci95Low).zip(run.stat(measure, StatName::Ci95High));
        let is_mean = scores.measures[measure].definition().average == Average::Mean;
        let values =
            run.per_query.as_ref().filter(|_| is_mean).and_then(|of| of.values.get(measure));
        let values = values.map(|values| defined(values));
        let interval = given
            .map(|(low, high)| [low, high])
            .or_else(|| mean_interval(values.as_deref()?, ALPHA))?;
        let title = format!(
            "{}: {}, {} to {}",
            name(&run.name),
            number(point, 4),
            number(interval[0], 4),
            number(interval[1], 4)
        );
        Some(Whisker {
            label: format!("{}  {}", at + 1, name(&run.name)),
            value: number(point, 4),
            point,
            interval: Some(interval),
            filled: true,
            colour: "c0",
            title,
        })
    };
    let mut drawn = false;
    figures(page, |page| {
        for measure in 0..scores.measures.len().min(FIGURES) {
            let rows: Vec<Whisker> = runs
                .iter()
                .enumerate()
                .take(2 * ROWS)
                .filter_map(|run| row(run, measure))
                .collect();
            if rows.is_empty() {
                continue;
            }
            drawn = true;
            let title =
                format!("{}, {}", scores.measures[measure], direction(&scores.measures[measure]));
            let bounds = bounds(&scores.measures[measure]);
            figure(page, &format!("{} of each run", scores.measures[measure]), None, |page| {
                Whiskers::of(
                    &rows,
                    &Axis { title: &title, sides: None, zero: None, band: None, bounds },
                )
                .draw(page);
            });
        }
    });
    if drawn {
        note(
            page,
            "Lines are 95 % intervals of each mean. Runs whose intervals overlap may still differ.",
        );
    }
}

/// Draws the distribution of the values of queries.
fn spread(page: &mut Elements, scores: &Scores, runs: &[&RunScores]) {
    figures(page, |page| {
        for (measure, of) in scores.measures.iter().enumerate().take(FIGURES) {
            let values = runs.iter().enumerate().filter_map(|(at, run)| {
                let values = defined(run.per_query.as_ref()?.values.get(measure)?);
                let is_sum = of.definition().average == Average::Sum;
                let average = run.average(measure).filter(|_| !is_sum);
                let label = format!("{}  {}", at + 1, name(&run.name));
                let average = average.map(|average| (number(average, 4), average));
                let drawn = !values.is_empty() && values.iter().all(|value| value.is_finite());
                drawn.then_some(RunValues { label, values, average })
            });
            let values: Vec<RunValues> = values.take(ROWS).collect();
            if !values.is_empty() {
                let title = format!("{of}, {}", direction(of));
                figure(page, &format!("Values of {of}"), None, |page| {
                    histogram::values(page, &title, bounds(of), &values);
                });
            }
        }
    });
    note(
        page,
        "Bars are numbers of queries, on the same scale in all rows; the dashed line is the \
         average.",
    );
    left_out(page, scores.measures.len().min(FIGURES), scores.measures.len(), "measures");
    left_out(page, runs.len().min(ROWS), runs.len(), "runs");
}
