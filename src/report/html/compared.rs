//! The page of a comparison: the verdict first, then means, differences, queries, curves, p, gates
//! and settings.

use super::context::Context;
use super::curves::{self, Chart};
use super::details;
use super::facing::Facing;
use super::glossary;
use super::headline;
use super::histogram::queries;
use super::markup::Elements;
use super::names::{bounds, direction, name};
use super::page::{figure, figures, note, section};
use super::parts::{draw_curves, footer, inputs, links, mean_interval};
use super::scale::number;
use super::tables::{self, confidence, p, shown_runs};
use super::whiskers::{Axis, Whisker, Whiskers};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::compare::options::Scope;
use crate::error::printable;
use crate::measure::Better;
use crate::report::comparison::GroupKind;
use crate::stats::undefined::defined;

/// The most measures with figures.
const MEASURES: usize = 8;
/// The most rows of a figure.
const ROWS: usize = 24;
/// The most rows of the figures of all measures.
const ALL_ROWS: usize = 64;

pub fn write(of: &Comparison, context: &Context, page: &mut Elements) {
    page.line("h1", &[], printable(context.title.as_bytes()));
    page.line(
        "p",
        &[("class", &"lead")],
        format_args!("{} runs, {}; test: {}", of.runs.len(), queries(of.queries), of.method()),
    );
    headline::write(page, of, context);
    let charts = charts(of, context);
    let has_matrix = of.runs.len() >= 3;
    let mut sections = vec![("means", "Means"), ("differences", "Differences")];
    let by = if context.group_kind == GroupKind::Judge { "Judges" } else { "Groups" };
    sections.extend((!context.groups.is_empty()).then_some(("groups", by)));
    sections.extend(of.has_values().then_some(("queries", "Queries")));
    sections.extend((!charts.is_empty()).then_some(("curves", "Curves")));
    sections.extend(has_matrix.then_some(("adjusted", "Adjusted p")));
    let has_gates = !context.gates.is_empty();
    sections.extend(has_gates.then_some(("gates", "Gates")));
    sections.push(("settings", "Settings"));
    links(page, &sections);
    section(page, "means", "Means", |page| means(page, of));
    section(page, "differences", "Differences", |page| differences(page, of));
    if !context.groups.is_empty() {
        section(page, "groups", &format!("{by}, by {}", of.measures[0]), |page| {
            tables::groups(page, of, context);
            note(page, "p is corrected within each, and not for their number.");
        });
    }
    if of.has_values() {
        section(page, "queries", &format!("Queries, by {}", of.measures[0]), |page| {
            let (pairs, left) = details::shown(of);
            left.into_iter().for_each(|left| note(page, &left));
            details::write(page, of, &pairs, context);
        });
    }
    if !charts.is_empty() {
        section(page, "curves", "Curves", |page| draw_curves(page, &charts));
    }
    if has_matrix {
        section(page, "adjusted", "Adjusted p", |page| tables::adjusted(page, of));
    }
    if has_gates {
        section(page, "gates", "Gates", |page| tables::gates(page, of, context));
    }
    section(page, "settings", "Settings", |page| {
        settings(page, of, context);
        inputs(page, context);
    });
    glossary::of_comparison(page, of, context);
    footer(page, context);
}

/// The curves of the context, for the runs that are compared.
fn charts(of: &Comparison, context: &Context) -> Vec<Chart> {
    let runs: Vec<(&str, String)> = shown_runs(of, 12)
        .into_iter()
        .map(|run| (of.runs[run].name.as_str(), tables::key(of, run)))
        .collect();
    let charts = context.curves.into_iter().flat_map(|scores| curves::all(scores, &runs));
    charts.take(MEASURES).collect()
}

fn means(page: &mut Elements, of: &Comparison) {
    tables::means(page, of);
    figures(page, |page| {
        for measure in 0..of.measures.len().min(MEASURES) {
            let shown: Vec<Whisker> = shown_runs(of, rows(of))
                .into_iter()
                .map(|run| mean_row(of, measure, run))
                .collect();
            let caption = format!("{} of each run", of.measures[measure]);
            figure(page, &caption, None, |page| {
                let title =
                    format!("mean {}, {}", of.measures[measure], direction(&of.measures[measure]));
                let bounds = bounds(&of.measures[measure]);
                Whiskers::of(
                    &shown,
                    &Axis { title: &title, sides: None, zero: None, band: None, bounds },
                )
                .draw(page);
            });
        }
    });
    if of.queries >= 2 {
        let lines = format!(
            " Lines are {} t intervals of each mean. Runs whose intervals overlap may still \
             differ: see the differences.",
            confidence(of.options.alpha)
        );
        let lines = if of.has_values() { &lines } else { "" };
        note(page, &format!("Filled dots are the best run and those tied with it.{lines}"));
    }
}

/// The most rows of a figure of this comparison.
fn rows(of: &Comparison) -> usize {
    ROWS.min(ALL_ROWS / of.measures.len().min(MEASURES))
}

fn mean_row(of: &Comparison, measure: usize, run: usize) -> Whisker {
    let terms = of.values(measure, run);
    let interval = mean_interval(&defined(terms), of.options.alpha);
    let shown = |value: f64| of.of_measure(measure).first().map_or(value, |at| at.shown(value));
    let interval = interval.map(|ends| ends.map(shown));
    let mean = of.runs[run].means[measure];
    let is_best = of.is_best(measure, run);
    let filled = is_best || of.is_tied_with_best(measure, run) == Some(true);
    let words = interval.map_or(String::new(), |[low, high]| {
        format!(
            ", {} interval {} to {}",
            confidence(of.options.alpha),
            number(low, 4),
            number(high, 4)
        )
    });
    Whisker {
        label: format!("{}  {}", tables::key(of, run), name(&of.runs[run].name)),
        value: format!(
            "{}{}",
            number(mean, 4),
            if is_best {
                "*"
            } else if filled {
                "="
            } else {
                ""
            }
        ),
        point: mean,
        interval,
        filled,
        colour: "c0",
        title: format!("{}: {}{words}", name(&of.runs[run].name), number(mean, 4)),
    }
}

/// Returns the pairs to draw under a measure. With few runs, these are all pairs, or else only the
/// pairs with the baseline or the best run. With many runs, the pairs of `Comparison::leading` are
/// drawn.
fn shown_differences(of: &Comparison, measure: usize) -> Vec<Facing<'_>> {
    let (all, best) = (of.of_measure(measure), of.best(measure));
    let told = |at| Facing::told(of, at);
    if of.has_many_runs() {
        let pairs = of.leading().into_iter().take(rows(of));
        return pairs
            .filter_map(|at| of.between(measure, at.pair.run, at.pair.baseline))
            .map(told)
            .collect();
    }
    let with_best = |at: &Difference| at.pair.run == best || at.pair.baseline == best;
    let is_shown =
        |at: &&Difference| all.len() <= rows(of) / 2 || of.baseline.is_some() || with_best(at);
    all.iter().filter(is_shown).take(rows(of)).map(told).collect()
}

fn differences(page: &mut Elements, of: &Comparison) {
    figures(page, |page| {
        for measure in 0..of.measures.len().min(MEASURES) {
            forest(page, of, measure);
        }
    });
    let band = of.options.margin.map_or(String::new(), |margin| {
        format!(" Within the band, ±{margin}, runs are equal for practical purposes.")
    });
    note(
        page,
        &format!(
            "Filled dots are significant after the correction, hollow ones are not. Lines are {} \
             intervals, which are not corrected.{band}",
            confidence(of.options.alpha)
        ),
    );
    tables::differences(page, of, |measure| shown_differences(of, measure));
}

fn forest(page: &mut Elements, of: &Comparison, measure: usize) {
    let (all, shown) = (of.of_measure(measure).len(), shown_differences(of, measure).len());
    let left = (shown < all).then(|| format!("{shown} of {all} pairs are drawn."));
    let caption = format!("Differences of {}", of.measures[measure]);
    with_forest(of, measure, |drawn| {
        figure(page, &caption, left.as_deref(), |page| drawn.draw(page));
    });
}

/// Calls `then` with the differences of a measure, as rows over one axis. Runs without a comparison
/// have no differences, and `then` is not called.
pub fn with_forest<T>(
    of: &Comparison,
    measure: usize,
    then: impl FnOnce(&Whiskers) -> T,
) -> Option<T> {
    let all = of.of_measure(measure);
    let first = all.first()?;
    let rows: Vec<Whisker> = shown_differences(of, measure).iter().map(difference_row).collect();
    let what = if first.logarithmic { "ratio" } else { "difference" };
    let title = format!("{what} of {}, {}", of.measures[measure], direction(&of.measures[measure]));
    let sides =
        if first.better == Better::Lower { ["better", "worse"] } else { ["worse", "better"] };
    let axis = Axis {
        title: &title,
        sides: Some(sides),
        zero: Some(first.shown(0.0)),
        band: of.options.margin.map(|margin| [-margin, margin].map(|end| first.shown(end))),
        bounds: match (first.logarithmic, bounds(&of.measures[measure])) {
            (true, _) => [0.0, f64::INFINITY],
            (false, [least, most]) => [least - most, most - least],
        },
    };
    Some(then(&Whiskers::of(&rows, &axis)))
}

fn difference_row(pair: &Facing) -> Whisker {
    let (of, at, sure) = (pair.of, pair.at, pair.is_sure());
    let [other, one] = pair.names();
    let delta = pair.text(pair.mean());
    let title = format!(
        "{one} against {other}: {delta}, {} interval {}, adjusted p {}",
        confidence(of.options.alpha),
        pair.interval(),
        p(at.p_adjusted)
    );
    let [short_other, short_one] = pair.short_names(17);
    Whisker {
        label: format!("{short_one} − {short_other}"),
        value: format!("{delta}, p {}", p(at.p_adjusted)),
        point: at.shown(pair.mean()),
        interval: pair.ends().map(|ends| ends.map(|end| at.shown(end))),
        filled: sure,
        colour: match (sure, pair.is_gain()) {
            (true, true) => "is-gain",
            (true, false) => "is-loss",
            _ => "is-open",
        },
        title,
    }
}

fn settings(page: &mut Elements, of: &Comparison, context: &Context) {
    let options = &of.options;
    let mut rows: Vec<(&str, String)> = vec![
        ("test", options.test.to_string()),
        ("alternative", options.alternative.to_string()),
        ("level of significance", options.alpha.to_string()),
        ("correction", options.correction.to_string()),
    ];
    let scope = if options.family == Scope::All { "of all measures" } else { "of each measure" };
    let pairs =
        if of.family_size == 1 { "1 pair".to_owned() } else { format!("{} pairs", of.family_size) };
    rows.push(("family", format!("{pairs} {scope}")));
    rows.push(("interval", format!("{}, {}", options.interval, confidence(options.alpha))));
    if of.draws > 0 {
        rows.push(("random draws", of.draws.to_string()));
    }
    rows.push(("seed", format!("{:#x}", options.seed)));
    let numbers = [
        ("equal for practical purposes within", options.margin),
        ("difference to detect", options.power),
        ("largest tie of a query", options.tie),
    ];
    rows.extend(numbers.into_iter().filter_map(|(what, value)| Some((what, value?.to_string()))));
    if let Some(baseline) = of.baseline {
        rows.push(("baseline", printable(of.runs[baseline].name.as_bytes())));
    }
    rows.push(("queries", format!("{}, the set {}", of.queries, of.query_set)));
    let measures: Vec<String> = of.measures.iter().map(ToString::to_string).collect();
    rows.push(("measures", measures.join(", ")));
    super::parts::definitions(page, &rows, context);
}
