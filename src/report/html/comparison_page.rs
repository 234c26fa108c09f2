//! The HTML page of a comparison of runs: verdict, means, differences, queries, curves, p, gates
//! and settings.

use super::context::PageContext;
use super::curves::{self, Chart};
use super::details;
use super::glossary;
use super::headline;
use super::histogram::queries;
use super::markup::Elements;
use super::names::{bounds, direction, name};
use super::oriented_pair::OrientedPair;
use super::page::{figure, figure_row, note, section};
use super::parts::{draw_curves, footer, inputs, links, mean_interval};
use super::scale::number;
use super::tables::{self, confidence, p, shown_runs};
use super::whiskers::{Axis, Whisker, Whiskers, draw_means};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::compare::options::Scope;
use crate::measure::Direction;
use crate::report::comparison::GroupKind;
use crate::report::run_name::visible;
use crate::stats::undefined::defined;

/// The most measures with figures.
const MEASURES: usize = 8;
/// The most rows of a figure.
const ROWS: usize = 24;
/// The most rows of the figures of all measures.
const ALL_ROWS: usize = 64;

pub fn write(comparison: &Comparison, context: &PageContext, page: &mut Elements) {
    page.line("h1", &[], visible(context.title));
    page.line(
        "p",
        &[("class", &"lead")],
        format_args!(
            "{} runs, {}; test: {}",
            comparison.runs.len(),
            queries(comparison.queries),
            comparison.method()
        ),
    );
    headline::write(page, comparison, context);
    let charts = charts(comparison, context);
    let has_matrix = comparison.runs.len() >= 3;
    let mut sections = vec![("means", "Means"), ("differences", "Differences")];
    let by = if context.group_kind == GroupKind::Judge { "Judges" } else { "Groups" };
    sections.extend((!context.groups.is_empty()).then_some(("groups", by)));
    sections.extend(comparison.has_values().then_some(("queries", "Queries")));
    sections.extend((!charts.is_empty()).then_some(("curves", "Curves")));
    sections.extend(has_matrix.then_some(("adjusted", "Adjusted p")));
    let has_gates = !context.gates.is_empty();
    sections.extend(has_gates.then_some(("gates", "Gates")));
    sections.push(("settings", "Settings"));
    links(page, &sections);
    section(page, "means", "Means", |page| means(page, comparison));
    section(page, "differences", "Differences", |page| differences(page, comparison));
    if !context.groups.is_empty() {
        section(page, "groups", &format!("{by}, by {}", comparison.measures[0]), |page| {
            tables::groups(page, comparison, context);
            note(page, "p is corrected within each, and not for their number.");
        });
    }
    if comparison.has_values() {
        section(page, "queries", &format!("Queries, by {}", comparison.measures[0]), |page| {
            let (pairs, left) = details::shown(comparison);
            left.into_iter().for_each(|left| note(page, &left));
            details::write(page, comparison, &pairs, context);
        });
    }
    if !charts.is_empty() {
        section(page, "curves", "Curves", |page| draw_curves(page, &charts));
    }
    if has_matrix {
        section(page, "adjusted", "Adjusted p", |page| tables::adjusted(page, comparison));
    }
    if has_gates {
        section(page, "gates", "Gates", |page| tables::gates(page, comparison, context));
    }
    section(page, "settings", "Settings", |page| {
        settings(page, comparison, context);
        inputs(page, context);
    });
    glossary::write_comparison_glossary(page, comparison, context);
    footer(page, context);
}

/// Returns the charts of measures over cutoffs for the compared runs on the page.
fn charts(comparison: &Comparison, context: &PageContext) -> Vec<Chart> {
    let runs: Vec<(&str, String)> = shown_runs(comparison, 12)
        .into_iter()
        .map(|run| (comparison.name(run), tables::key(comparison, run)))
        .collect();
    let mut charts = context.curves.map_or(Vec::new(), |scores| curves::all(scores, &runs));
    charts.truncate(MEASURES);
    charts
}

fn means(page: &mut Elements, comparison: &Comparison) {
    tables::means(page, comparison);
    figure_row(page, |page| {
        for (at, measure) in comparison.measures.iter().enumerate().take(MEASURES) {
            let shown: Vec<Whisker> = shown_runs(comparison, rows(comparison))
                .into_iter()
                .map(|run| mean_row(comparison, at, run))
                .collect();
            draw_means(page, measure, &format!("mean {measure}, {}", direction(measure)), &shown);
        }
    });
    if comparison.queries >= 2 {
        let lines = format!(
            " Lines are {} t intervals of each mean. Runs whose intervals overlap may still \
             differ: see the differences.",
            confidence(comparison)
        );
        let lines = if comparison.has_values() { &lines } else { "" };
        note(page, &format!("Filled dots are the best run and those tied with it.{lines}"));
    }
}

/// Returns the most rows of a chart on a comparison's page, fewer with many measures.
fn rows(comparison: &Comparison) -> usize {
    ROWS.min(ALL_ROWS / comparison.measures.len().min(MEASURES))
}

fn mean_row(comparison: &Comparison, measure: usize, run: usize) -> Whisker {
    let terms = comparison.values(measure, run);
    let interval = mean_interval(&defined(terms), comparison.options.alpha);
    let first = comparison.differences_for(measure).first();
    let interval =
        interval.map(|ends| ends.map(|end| first.map_or(end, |first| first.display_value(end))));
    let mean = number(comparison.runs[run].means[measure], 4);
    let name = name(comparison.name(run));
    let is_best = comparison.is_best(measure, run);
    let filled = is_best || comparison.is_not_worse_than_best(measure, run) == Some(true);
    let words = interval.map_or(String::new(), |[low, high]| {
        format!(", {} interval {} to {}", confidence(comparison), number(low, 4), number(high, 4))
    });
    let mark = match (is_best, filled) {
        (true, _) => "*",
        (_, true) => "=",
        _ => "",
    };
    Whisker {
        label: format!("{}  {name}", tables::key(comparison, run)),
        value: format!("{mean}{mark}"),
        point: comparison.runs[run].means[measure],
        interval,
        filled,
        colour: "c0",
        title: format!("{name}: {mean}{words}"),
    }
}

/// Selects the pairs of runs whose differences under a measure are drawn on the page. With few
/// runs, these are all pairs, or else only the pairs with the baseline or the best run. With many
/// runs, the pairs of `Comparison::sentence_pairs` are drawn.
fn shown_differences(comparison: &Comparison, measure: usize) -> Vec<OrientedPair<'_>> {
    let rows = rows(comparison);
    let shown: Vec<&Difference> = if comparison.has_many_runs() {
        let pairs = comparison.sentence_pairs().into_iter().take(rows);
        pairs.filter_map(|at| comparison.between(measure, at.pair.run, at.pair.baseline)).collect()
    } else {
        let (all, best) = (comparison.differences_for(measure), comparison.best(measure));
        let has_room = all.len() <= rows / 2 || comparison.baseline.is_some();
        let shown = all.iter().filter(|at| has_room || at.pair.runs().contains(&best));
        shown.take(rows).collect()
    };
    shown.into_iter().map(|at| OrientedPair::best_first(comparison, at)).collect()
}

fn differences(page: &mut Elements, comparison: &Comparison) {
    figure_row(page, |page| {
        for measure in 0..comparison.measures.len().min(MEASURES) {
            forest(page, comparison, measure);
        }
    });
    let band = comparison.options.margin.map_or(String::new(), |margin| {
        format!(" Within the band, ±{margin}, runs are equal for practical purposes.")
    });
    note(
        page,
        &format!(
            "Filled dots are significant after the correction, hollow ones are not. Lines are {} \
             intervals, which are not corrected.{band}",
            confidence(comparison)
        ),
    );
    tables::differences(page, comparison, |measure| shown_differences(comparison, measure));
}

fn forest(page: &mut Elements, comparison: &Comparison, measure: usize) {
    let (all, shown) =
        (comparison.differences_for(measure).len(), shown_differences(comparison, measure).len());
    let left = (shown < all).then(|| format!("{shown} of {all} pairs are drawn."));
    let caption = format!("Differences of {}", comparison.measures[measure]);
    with_forest(comparison, measure, |drawn| {
        figure(page, &caption, left.as_deref(), |page| drawn.draw(page));
    });
}

/// Calls `then` with the chart of the differences between runs under a measure, one row for each
/// pair. Runs without a comparison have no differences, and `then` is not called.
pub fn with_forest<T>(
    comparison: &Comparison,
    measure: usize,
    then: impl FnOnce(&Whiskers) -> T,
) -> Option<T> {
    let all = comparison.differences_for(measure);
    let first = all.first()?;
    let rows: Vec<Whisker> =
        shown_differences(comparison, measure).iter().map(difference_row).collect();
    let what = if first.logarithmic { "ratio" } else { "difference" };
    let measure = &comparison.measures[measure];
    let title = format!("{what} of {measure}, {}", direction(measure));
    let sides =
        if first.better == Direction::Lower { ["better", "worse"] } else { ["worse", "better"] };
    let axis = Axis {
        title: &title,
        sides: Some(sides),
        zero: Some(first.display_value(0.0)),
        band: comparison
            .options
            .margin
            .map(|margin| [-margin, margin].map(|end| first.display_value(end))),
        bounds: match (first.logarithmic, bounds(measure)) {
            (true, _) => [0.0, f64::INFINITY],
            (false, [least, most]) => [least - most, most - least],
        },
    };
    Some(then(&Whiskers::new(&rows, &axis)))
}

fn difference_row(pair: &OrientedPair) -> Whisker {
    let (comparison, at, sure) = (pair.comparison, pair.at, pair.is_significant());
    let [other, one] = pair.names();
    let delta = pair.text(pair.mean());
    let title = format!(
        "{one} against {other}: {delta}, {} interval {}, adjusted p {}",
        confidence(comparison),
        pair.interval(),
        p(at.p_adjusted)
    );
    let [short_other, short_one] = pair.short_names(17);
    Whisker {
        label: format!("{short_one} − {short_other}"),
        value: format!("{delta}, p {}", p(at.p_adjusted)),
        point: at.display_value(pair.mean()),
        interval: pair.ends().map(|ends| ends.map(|end| at.display_value(end))),
        filled: sure,
        colour: match (sure, pair.is_gain()) {
            (true, true) => "is-gain",
            (true, false) => "is-loss",
            _ => "is-open",
        },
        title,
    }
}

fn settings(page: &mut Elements, comparison: &Comparison, context: &PageContext) {
    let options = &comparison.options;
    let mut rows: Vec<(&str, String)> = vec![
        ("test", options.test.to_string()),
        ("alternative", options.alternative.to_string()),
        ("level of significance", options.alpha.to_string()),
        ("correction", options.correction.to_string()),
    ];
    let scope = if options.family == Scope::All { "of all measures" } else { "of each measure" };
    let pairs = if comparison.family_size == 1 { "pair" } else { "pairs" };
    rows.push(("family", format!("{} {pairs} {scope}", comparison.family_size)));
    rows.push(("interval", format!("{}, {}", options.interval, confidence(comparison))));
    if comparison.draws > 0 {
        rows.push(("random draws", comparison.draws.to_string()));
    }
    rows.push(("seed", format!("{:#x}", options.seed)));
    let numbers = [
        ("equal for practical purposes within", options.margin),
        ("difference to detect", options.power),
        ("largest tie of a query", options.tie),
    ];
    rows.extend(numbers.into_iter().filter_map(|(what, value)| Some((what, value?.to_string()))));
    if let Some(baseline) = comparison.baseline {
        rows.push(("baseline", visible(comparison.name(baseline))));
    }
    rows.push(("queries", format!("{}, the set {}", comparison.queries, comparison.query_set)));
    let measures: Vec<String> = comparison.measures.iter().map(ToString::to_string).collect();
    rows.push(("measures", measures.join(", ")));
    super::parts::definitions(page, &rows, context);
}
