//! The queries of a pair of runs on the HTML page: differences, values, and queries where the runs
//! differ most.

use super::bars::{self, SortedDeltas};
use super::context::PageContext;
use super::documents;
use super::histogram::{self, Deltas, queries};
use super::markup::Elements;
use super::names::{self, bounds, direction, name, write_name, write_query};
use super::oriented_pair::{OrientedPair, first_pair};
use super::page::{details_element, figure, figure_row, note, row, table};
use super::plot::AltText;
use super::scale::{number, signed};
use super::scatter::{self, Detail};
use super::tables::{confidence, p};
use crate::compare::comparison::Comparison;
use crate::sort;

/// The maximum number of shown pairs.
pub const PAIRS: usize = 6;
/// The maximum number of marks over all pairs for marks with the name of their query.
const NAMED: usize = 500;
/// The maximum number of marks over all pairs.
const DOTS: usize = 6000;
/// The number of queries of a pair from which on marks are left out.
const QUERIES: usize = 2000;
/// The number of listed best queries, and of listed worst queries.
const LISTED: usize = 20;
/// The number of lost queries whose documents are shown.
const EXPLAINED: usize = 3;

/// Two runs and the queries in which the first run is worse than the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostQueries {
    /// The indices of two runs: the run that lost the queries first, its rival second.
    pub runs: [usize; 2],
    /// The places of the queries among the ids of the comparison, the largest loss first.
    pub queries: Vec<usize>,
}

/// Selects the queries with the largest losses of the headline's pair of runs, whose documents the
/// page shows. `None` if no query is known to be lost.
pub fn lost_queries(comparison: &Comparison) -> Option<LostQueries> {
    let pair = first_pair(comparison).filter(|_| comparison.has_values())?;
    let mut queries: Vec<usize> =
        (0..comparison.query_ids().len()).filter(|&query| pair.gain(query) < 0.0).collect();
    sort::by_number(&mut queries, |&query| pair.gain(query));
    queries.truncate(EXPLAINED);
    (!queries.is_empty()).then_some(LostQueries { runs: [pair.one, pair.other], queries })
}

/// Selects the pairs of runs whose queries the page shows, the headline's pair first, with a note
/// on omitted pairs.
pub fn shown(comparison: &Comparison) -> (Vec<OrientedPair<'_>>, Option<String>) {
    let all = comparison.differences_for(0);
    if all.len() <= PAIRS && !comparison.has_many_runs() {
        let first = first_pair(comparison);
        let others = all
            .iter()
            .filter(|at| first.is_none_or(|first| first.at.pair != at.pair))
            .map(|at| OrientedPair::best_first(comparison, at));
        return (first.into_iter().chain(others).collect(), None);
    }
    let fixed = comparison.baseline.unwrap_or_else(|| comparison.best(0));
    let merits = comparison.ranking_keys(0);
    let mut some: Vec<OrientedPair> = comparison
        .sentence_pairs()
        .into_iter()
        .map(|at| OrientedPair::best_first(comparison, at))
        .collect();
    sort::by_number(&mut some, |pair| {
        -merits[if pair.one == fixed { pair.other } else { pair.one }]
    });
    // The headline's pair comes first, whatever its means, because the page shows the pair's
    // documents.
    if let Some(at) = first_pair(comparison)
        .and_then(|first| some.iter().position(|pair| pair.at.pair == first.at.pair))
    {
        some[..=at].rotate_right(1);
    }
    some.truncate(PAIRS);
    let what = if comparison.baseline.is_some() { "the baseline" } else { "the best run" };
    let text = format!(
        "{} of {} pairs are shown: {what}, {}, against the {} best others.",
        some.len(),
        all.len(),
        name(comparison.name(fixed)),
        some.len()
    );
    (some, Some(text))
}

/// A pair of runs with their values of each query, sorted by difference, for the HTML page.
struct PairQueries<'a> {
    pair: OrientedPair<'a>,
    context: &'a PageContext<'a>,
    ids: &'a [&'a [u8]],
    /// The values of `pair.other`, and of `pair.one`.
    values: [&'a [f64]; 2],
    /// The indices of the queries by difference, descending.
    order: Vec<usize>,
    /// The differences in the order of `order`.
    deltas: Vec<f64>,
}

/// Writes charts and tables of the queries of each pair of runs to an HTML page. All pairs but the
/// first are folded.
pub fn write(
    page: &mut Elements,
    comparison: &Comparison,
    pairs: &[OrientedPair],
    context: &PageContext,
) {
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let marks = ids.len() * pairs.len();
    // Named dots take the most bytes, and shades the same number for any number of queries.
    let detail = if marks <= NAMED {
        Detail::Named
    } else if marks <= DOTS && ids.len() <= QUERIES {
        Detail::Dots
    } else {
        Detail::Shades
    };
    for (at, &pair) in pairs.iter().enumerate() {
        let values = [pair.other, pair.one].map(|run| comparison.values(pair.at.measure, run));
        let mut order: Vec<usize> =
            (0..ids.len()).filter(|&query| comparison.is_defined(pair.at.measure, query)).collect();
        sort::by_number(&mut order, |&query| -pair.change(query));
        let deltas = order.iter().map(|&query| pair.change(query)).collect();
        let queries = PairQueries { pair, context, ids: &ids, values, order, deltas };
        details_element(
            page,
            at == 0,
            |page| {
                page.element("h3", &[], |page| {
                    write_name(page, comparison.name(pair.one), names::NAME);
                    page.text(" against ");
                    write_name(page, comparison.name(pair.other), names::NAME);
                });
            },
            |page| queries.write(page, detail),
        );
    }
}

impl PairQueries<'_> {
    /// Returns the id of a query, with its text if known, for an HTML page.
    fn id(&self, query: usize) -> String {
        names::query(self.ids[query], self.context)
    }

    /// Returns the value of a query in one of the two runs, as it is shown. If the mean is
    /// geometric, the averaged terms are logarithms.
    fn value(&self, run: usize, query: usize) -> f64 {
        self.pair.at.display_value(self.values[run][query])
    }

    /// Returns the value of a query in one of the two runs as text, or `missing`. A query that a
    /// run lacks has none of its own.
    fn written(&self, run: usize, query: usize) -> String {
        let run_index = [self.pair.other, self.pair.one][run];
        if self.pair.comparison.is_missing(run_index, query) {
            "missing".to_owned()
        } else {
            number(self.value(run, query), 4)
        }
    }

    fn write(&self, page: &mut Elements, detail: Detail) {
        let (pair, [other, one]) = (&self.pair, self.pair.names());
        let measure = pair.measure().to_string();
        let [won, tied, lost] = pair.wins();
        note(
            page,
            &format!(
                "{measure}, {}: {}, {} interval {}; p {}, adjusted {}; of {} won {won}, tied \
                 {tied}, lost {lost}.",
                direction(pair.measure()),
                pair.text(pair.mean()),
                confidence(pair.comparison),
                pair.interval(),
                p(pair.at.p),
                p(pair.at.p_adjusted),
                queries(self.order.len()),
            ),
        );
        figure_row(page, |page| {
            self.sorted(page, detail);
            self.scatter(page, detail, &measure, [&other, &one]);
        });
        page.element("div", &[("class", &"figures tables")], |page| {
            let [best, worst] = self.ends();
            self.extremes(page, "gains", &best);
            self.extremes(page, "loses", &worst);
        });
        self.documents(page);
    }

    /// Returns the queries with the largest gains and with the largest losses between the two runs.
    fn ends(&self) -> [Vec<usize>; 2] {
        let mut best: Vec<usize> = self.order.iter().copied().take(LISTED).collect();
        let mut worst: Vec<usize> = self.order.iter().rev().copied().take(LISTED).collect();
        if !self.pair.higher_is_better() {
            std::mem::swap(&mut best, &mut worst);
        }
        // Of few queries, some may stand at both ends, or be tied.
        best.retain(|&query| self.pair.gain(query) > 0.0);
        worst.retain(|&query| self.pair.gain(query) < 0.0);
        [best, worst]
    }

    /// Draws the sorted differences of queries between the two runs, and their histogram.
    fn sorted(&self, page: &mut Elements, detail: Detail) {
        let (pair, [other, one]) = (&self.pair, self.pair.names());
        let measure = pair.measure();
        let change =
            if pair.at.logarithmic { "logarithm of the ratio of" } else { "difference of" };
        let title = format!("{change} {measure}");
        let says = format!("{title}, {one} against {other}");
        let higher_is_better = pair.higher_is_better();
        let what = if bars::count(self.order.len()) < self.order.len() {
            format!("Each of the {} bars is a quantile", bars::MOST)
        } else {
            "Each bar is a query".to_owned()
        };
        let note = format!(
            "{what}: blue where {one} is better, orange where it is worse. The dashed line is the \
             mean."
        );
        figure(page, "Every query, sorted", Some(&note), |page| {
            let titles: &dyn Fn(usize) -> String = &|place| self.bar(place);
            let titles = (detail == Detail::Named).then_some(titles);
            let says =
                AltText { title: format!("{says}, by query, sorted"), values: self.describe() };
            let sorted = SortedDeltas {
                deltas: &self.deltas,
                mean: pair.mean(),
                higher_is_better,
                title: &title,
                titles,
            };
            bars::draw(page, &says, &sorted);
        });
        figure(
            page,
            "Number of queries by difference",
            Some("The grey bar is around 0."),
            |page| {
                let [least, most] = bounds(measure);
                let bounds = if pair.at.logarithmic {
                    [f64::NEG_INFINITY, f64::INFINITY]
                } else {
                    [least - most, most - least]
                };
                let deltas =
                    Deltas { deltas: &self.deltas, higher_is_better, title: &title, bounds };
                histogram::deltas(page, format!("number of queries by {says}"), &deltas);
            },
        );
    }

    /// Returns the differences of queries in words: won, tied and lost, mean, and extremes.
    fn describe(&self) -> String {
        let [won, tied, lost] = self.pair.wins();
        let ends = [0, self.order.len() - 1].map(|place| self.bar(place));
        format!(
            "{}: {won} won, {tied} tied, {lost} lost; mean {}; from {} down to {}",
            queries(self.order.len()),
            signed(self.pair.mean(), 4),
            ends[0],
            ends[1]
        )
    }

    /// Returns the title of a query's bar: its id, its difference and both values.
    fn bar(&self, place: usize) -> String {
        let query = self.order[place];
        format!(
            "{}: {} ({} to {})",
            self.id(query),
            self.pair.text(self.deltas[place]),
            self.written(0, query),
            self.written(1, query)
        )
    }

    fn scatter(&self, page: &mut Elements, detail: Detail, measure: &str, names: [&str; 2]) {
        let logarithmic = self.pair.at.logarithmic;
        let shown: [Vec<f64>; 2] = if logarithmic {
            [0, 1].map(|run| (0..self.ids.len()).map(|query| self.value(run, query)).collect())
        } else {
            [Vec::new(), Vec::new()]
        };
        let values = if logarithmic { [&shown[0][..], &shown[1][..]] } else { self.values };
        let side = if self.pair.higher_is_better() { "Above" } else { "Below" };
        let what = match detail {
            Detail::Shades => "darker places have more queries",
            _ => "larger dots are several queries",
        };
        let note = format!("{side} the diagonal {} is better; {what}.", names[1]);
        figure(page, "Both values of every query", Some(&note), |page| {
            let says = format!("{measure} of {} and of {} by query", names[0], names[1]);
            let pair = scatter::PairValues {
                values,
                names,
                measure,
                higher_is_better: self.pair.higher_is_better(),
                bounds: bounds(self.pair.measure()),
                id: &|query| self.id(query),
            };
            scatter::draw(page, says, &pair, detail);
        });
    }

    /// Writes the table of queries in which one run gained, or lost, most against the other.
    fn extremes(&self, page: &mut Elements, verb: &str, queries: &[usize]) {
        let [_, one] = self.pair.names();
        page.element("figure", &[], |page| {
            let caption = match queries.len() {
                0 => format!("There is no query in which {one} {verb}"),
                1 => format!("The query in which {one} {verb} most"),
                count => format!("{count} queries in which {one} {verb} most"),
            };
            page.line("figcaption", &[], caption);
            if queries.is_empty() {
                return;
            }
            let [other, one] = self.pair.short_names(24);
            table(page, 1, &["query", &other, &one, "difference"], |page| {
                for &query in queries {
                    let [a, b] = [0, 1].map(|run| self.written(run, query));
                    let cells = [a, b, self.pair.text(self.pair.change(query))];
                    row(page, |page| write_query(page, self.ids[query], self.context), &cells);
                }
            });
        });
    }

    /// Writes the first documents of both runs for the queries with the largest losses, if known.
    fn documents(&self, page: &mut Elements) {
        let runs = [self.pair.other, self.pair.one].map(|run| self.pair.comparison.name(run));
        for &query in &self.ends()[1] {
            documents::write(page, self.context, self.ids[query], runs, |page| {
                page.text("First documents of query ");
                write_query(page, self.ids[query], self.context);
                page.text(format_args!(", {}", self.pair.text(self.pair.change(query))));
            });
        }
    }
}
