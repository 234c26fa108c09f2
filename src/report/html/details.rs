//! The queries of a pair: their differences, their values, and where the runs differ most.

use super::bars::{self, Sorted};
use super::context::Context;
use super::documents;
use super::facing::{Facing, first_pair};
use super::histogram::{self, Deltas, queries};
use super::markup::Elements;
use super::names::{self, bounds, direction, name, write_name, write_query};
use super::page::{figure, figures, folded, note, row, table};
use super::plot::AltText;
use super::scale::{number, signed};
use super::scatter::{self, Detail};
use super::tables::{confidence, p};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
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

/// Queries lost by a run of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostQueries {
    /// The indices of two runs: the run that lost the queries first, its rival second.
    pub runs: [usize; 2],
    /// The places of the queries among the ids of the comparison, the largest loss first.
    pub queries: Vec<usize>,
}

/// Selects the queries whose first documents a page has room for: the queries with the largest
/// losses under the first measure, of the headline's pair. `None` if no query is known to be lost.
pub fn lost_queries(of: &Comparison) -> Option<LostQueries> {
    let pair = first_pair(of).filter(|_| of.has_values())?;
    let gain = |query: usize| pair.change(query) * if pair.higher_is_better() { 1.0 } else { -1.0 };
    let mut queries: Vec<usize> =
        (0..of.query_ids().len()).filter(|&query| gain(query) < 0.0).collect();
    sort::by_number(&mut queries, |&query| gain(query));
    queries.truncate(EXPLAINED);
    (!queries.is_empty()).then_some(LostQueries { runs: [pair.one, pair.other], queries })
}

/// Returns the pairs whose queries are shown, the headline's pair first, and a note if some pairs
/// are left out.
pub fn shown(of: &Comparison) -> (Vec<Facing<'_>>, Option<String>) {
    let all = of.of_measure(0);
    if all.len() <= PAIRS && !of.has_many_runs() {
        let first = first_pair(of);
        let is_first = |at: &&Difference| first.is_some_and(|first| first.at.pair == at.pair);
        let others = all.iter().filter(|at| !is_first(at)).map(|at| Facing::told(of, at));
        return (first.into_iter().chain(others).collect(), None);
    }
    let fixed = of.baseline.unwrap_or_else(|| of.best(0));
    let merits = of.merits(0);
    let mut some: Vec<Facing> = of.leading().into_iter().map(|at| Facing::told(of, at)).collect();
    let merit = |pair: &Facing| merits[if pair.one == fixed { pair.other } else { pair.one }];
    sort::by_number(&mut some, |pair| -merit(pair));
    // The headline's pair comes first, whatever its means, because the page shows the pair's
    // documents.
    if let Some(at) =
        first_pair(of).and_then(|first| some.iter().position(|pair| pair.at.pair == first.at.pair))
    {
        some[..=at].rotate_right(1);
    }
    some.truncate(PAIRS);
    let what = if of.baseline.is_some() { "the baseline" } else { "the best run" };
    let text = format!(
        "{} of {} pairs are shown: {what}, {}, against the {} best others.",
        some.len(),
        all.len(),
        name(&of.runs[fixed].name),
        some.len()
    );
    (some, Some(text))
}

/// A pair with the values of its queries.
struct PairQueries<'a> {
    pair: Facing<'a>,
    context: &'a Context<'a>,
    ids: &'a [&'a [u8]],
    /// The values of `pair.other`, and of `pair.one`.
    values: [&'a [f64]; 2],
    /// The indices of the queries by difference, descending.
    order: Vec<usize>,
    /// The differences in the order of `order`.
    deltas: Vec<f64>,
}

/// Writes the queries of each pair. All pairs but the first are folded.
pub fn write(page: &mut Elements, of: &Comparison, pairs: &[Facing], context: &Context) {
    let ids: Vec<&[u8]> = of.query_ids().collect();
    let marks = ids.len() * pairs.len();
    let detail = if marks <= NAMED {
        Detail::Named
    } else if marks <= DOTS && ids.len() <= QUERIES {
        Detail::Dots
    } else {
        Detail::Shades
    };
    for (at, &pair) in pairs.iter().enumerate() {
        let values = [pair.other, pair.one].map(|run| of.values(pair.at.measure, run));
        let delta = |query: &usize| pair.change(*query);
        let mut order: Vec<usize> =
            (0..ids.len()).filter(|&query| of.is_defined(pair.at.measure, query)).collect();
        sort::by_number(&mut order, |query| -delta(query));
        let deltas = order.iter().map(delta).collect();
        let queries = PairQueries { pair, context, ids: &ids, values, order, deltas };
        let heading = |page: &mut Elements| {
            page.element("h3", &[], |page| {
                write_name(page, &of.runs[pair.one].name, names::NAME);
                page.text(" against ");
                write_name(page, &of.runs[pair.other].name, names::NAME);
            });
        };
        folded(page, at == 0, heading, |page| queries.write(page, detail));
    }
}

impl PairQueries<'_> {
    /// The id of a query with its text.
    fn id(&self, query: usize) -> String {
        names::query(self.ids[query], self.context)
    }

    /// A value of a query. If the mean is geometric, the averaged terms are logarithms.
    fn value(&self, run: usize, query: usize) -> f64 {
        self.pair.at.shown(self.values[run][query])
    }

    /// A value of a query as text. A query that a run lacks has none of its own.
    fn written(&self, run: usize, query: usize) -> String {
        let of = [self.pair.other, self.pair.one][run];
        if self.pair.of.lacks(of, query) {
            "missing".to_owned()
        } else {
            number(self.value(run, query), 4)
        }
    }

    fn write(&self, page: &mut Elements, detail: Detail) {
        let (pair, [other, one]) = (&self.pair, self.pair.names());
        let of = pair.of;
        let measure = of.measures[pair.at.measure].to_string();
        let [won, tied, lost] = pair.wins();
        note(
            page,
            &format!(
                "{measure}, {}: {}, {} interval {}; p {}, adjusted {}; of {} won {won}, tied \
                 {tied}, lost {lost}.",
                direction(&of.measures[pair.at.measure]),
                pair.text(pair.mean()),
                confidence(of.options.alpha),
                pair.interval(),
                p(pair.at.p),
                p(pair.at.p_adjusted),
                queries(self.order.len()),
            ),
        );
        figures(page, |page| {
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

    /// Returns the queries with the largest gains and the queries with the largest losses.
    fn ends(&self) -> [Vec<usize>; 2] {
        let sign = if self.pair.higher_is_better() { 1.0 } else { -1.0 };
        let gain = |query: &usize| sign * self.pair.change(*query);
        let first = self.order.iter().copied().take(LISTED).collect::<Vec<_>>();
        let last = self.order.iter().rev().copied().take(LISTED).collect::<Vec<_>>();
        let [best, worst] = if sign > 0.0 { [first, last] } else { [last, first] };
        let best = best.into_iter().filter(|query| gain(query) > 0.0).collect();
        [best, worst.into_iter().filter(|query| gain(query) < 0.0).collect()]
    }

    /// Draws the sorted differences and their distribution.
    fn sorted(&self, page: &mut Elements, detail: Detail) {
        let (pair, [other, one]) = (&self.pair, self.pair.names());
        let measure = &pair.of.measures[pair.at.measure];
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
            let bar_title = |place: usize| self.bar(place);
            let titles: &dyn Fn(usize) -> String = &bar_title;
            let titles = (detail == Detail::Named).then_some(titles);
            let says = AltText { title: format!("{says}, by query, sorted"), values: self.said() };
            let sorted = Sorted {
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

    /// The differences in words.
    fn said(&self) -> String {
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

    /// The title of a bar.
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
            let id = |query: usize| self.id(query);
            let higher_is_better = self.pair.higher_is_better();
            let bounds = bounds(&self.pair.of.measures[self.pair.at.measure]);
            scatter::draw(
                page,
                says,
                &scatter::PairValues { values, names, measure, higher_is_better, bounds, id: &id },
                detail,
            );
        });
    }

    /// Lists the better, or the worse queries.
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
                    let named =
                        |page: &mut Elements| write_query(page, self.ids[query], self.context);
                    row(page, named, &[a, b, self.pair.text(self.pair.change(query))]);
                }
            });
        });
    }

    /// Writes the first documents of the queries with the largest losses, if the documents are
    /// known.
    fn documents(&self, page: &mut Elements) {
        let runs = [self.pair.other, self.pair.one].map(|run| &self.pair.of.runs[run].name[..]);
        for &query in &self.ends()[1] {
            let heading = |page: &mut Elements| {
                page.text("First documents of query ");
                write_query(page, self.ids[query], self.context);
                page.text(format_args!(", {}", self.pair.text(self.pair.change(query))));
            };
            documents::write(page, self.context, self.ids[query], runs, heading);
        }
    }
}
