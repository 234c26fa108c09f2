//! The queries of a pair: their differences, their values, and where the runs differ most.

use super::bars::{self, Sorted};
use super::histogram::{self, Deltas};
use super::markup::Elements;
use super::page::{figure, figures, note, row, table};
use super::plot::shortened;
use super::scale::number;
use super::scatter::{self, Detail};
use super::tables::{NAME, confidence, delta, direction, interval, name, p};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::error::printable;
use crate::measure::Better;
use crate::sort;

/// The most pairs that are shown.
pub const PAIRS: usize = 6;
/// The most marks of all pairs together if each mark names its query.
const NAMED: usize = 500;
/// The most marks of all pairs together.
const DOTS: usize = 6000;
/// The number of queries of a pair from which on there are no marks.
const QUERIES: usize = 2000;
/// The number of the best and of the worst queries that are listed.
const LISTED: usize = 20;

/// The differences whose queries are shown, with a note if these are not all.
pub fn shown(of: &Comparison) -> (Vec<&Difference>, Option<String>) {
    let all = of.of_measure(0);
    if all.len() <= PAIRS {
        return (all.iter().collect(), None);
    }
    let fixed = of.baseline.unwrap_or_else(|| of.best(0));
    let merits = of.merits(0);
    let merit = |at: &Difference| merits[if at.pair.run == fixed { at.pair.baseline } else { at.pair.run }];
    let mut some: Vec<&Difference> =
        all.iter().filter(|at| at.pair.run == fixed || at.pair.baseline == fixed).collect();
    sort::by_number(&mut some, |at| -merit(at));
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
    of: &'a Comparison,
    at: &'a Difference,
    ids: &'a [&'a [u8]],
    /// The values of the baseline, and of the run.
    values: [&'a [f64]; 2],
    /// The indices of the queries by difference, descending.
    order: Vec<usize>,
    /// The differences in the order of `order`.
    deltas: Vec<f64>,
}

/// Writes the queries of each pair.
pub fn write(page: &mut Elements, of: &Comparison, pairs: &[&Difference]) {
    let ids: Vec<&[u8]> = of.query_ids().collect();
    let marks = ids.len() * pairs.len();
    let detail = if marks <= NAMED {
        Detail::Named
    } else if marks <= DOTS && ids.len() <= QUERIES {
        Detail::Dots
    } else {
        Detail::Shades
    };
    for at in pairs {
        let values = [at.pair.baseline, at.pair.run].map(|run| of.values(at.measure, run));
        let delta = |query: &usize| of.change(at, *query);
        let mut order: Vec<usize> = (0..ids.len()).collect();
        sort::by_number(&mut order, |query| -delta(query));
        let deltas = order.iter().map(delta).collect();
        let queries = PairQueries { of, at, ids: &ids, values, order, deltas };
        page.element("div", &[("class", &"pair")], |page| queries.write(page, detail));
    }
}

impl PairQueries<'_> {
    fn names(&self) -> [String; 2] {
        [self.at.pair.baseline, self.at.pair.run].map(|run| name(&self.of.runs[run].name))
    }

    fn id(&self, query: usize) -> String {
        shortened(&printable(self.ids[query]), NAME)
    }

    /// A value of a query. If the mean is geometric, the averaged terms are logarithms.
    fn value(&self, run: usize, query: usize) -> f64 {
        self.at.shown(self.values[run][query])
    }

    /// A value of a query as text. A query that a run lacks has none of its own.
    fn written(&self, run: usize, query: usize) -> String {
        let of = [self.at.pair.baseline, self.at.pair.run][run];
        match self.of.lacks(of, query) {
            true => "missing".to_owned(),
            false => number(self.value(run, query), 4),
        }
    }

    fn write(&self, page: &mut Elements, detail: Detail) {
        let (at, [baseline, run]) = (self.at, self.names());
        let measure = self.of.measures[at.measure].to_string();
        page.line("h3", &[], format_args!("{run} against {baseline}"));
        note(
            page,
            &format!(
                "{measure}, {}: {}, {} interval {}; p {}, adjusted {}; of {} won {}, tied {}, lost {}.",
                direction(&self.of.measures[at.measure]),
                delta(at, at.paired.mean),
                confidence(self.of.options.alpha),
                interval(at),
                p(at.p),
                p(at.p_adjusted),
                histogram::queries(self.ids.len()),
                at.wins.wins,
                at.wins.ties,
                at.wins.losses
            ),
        );
        let change = if at.logarithmic { "logarithm of the ratio of" } else { "difference of" };
        let title = format!("{change} {measure}");
        let says = format!("{title}, {run} against {baseline}");
        let higher_is_better = at.better != Better::Lower;
        figures(page, |page| {
            let what = match bars::count(self.ids.len()) < self.ids.len() {
                true => format!("Each of the {} bars is a quantile", bars::MOST),
                false => "Each bar is a query".to_owned(),
            };
            let note = format!(
                "{what}: blue where {run} is better, orange where it is worse. The dashed line is the mean."
            );
            let note = Some(note.as_str());
            figure(page, "Every query, sorted", note, |page| {
                let bar_title = |place: usize| self.bar(place);
                let titles: &dyn Fn(usize) -> String = &bar_title;
                let titles = (detail == Detail::Named).then_some(titles);
                let (deltas, mean) = (&self.deltas, at.paired.mean);
                bars::draw(page, &says, &Sorted { deltas, mean, higher_is_better, title: &title, titles });
            });
            figure(page, "Number of queries by difference", Some("The grey bar is around 0."), |page| {
                histogram::deltas(
                    page,
                    &says,
                    &Deltas { deltas: &self.deltas, higher_is_better, title: &title },
                );
            });
            self.scatter(page, detail, &measure, [&baseline, &run]);
        });
        page.element("div", &[("class", &"figures tables")], |page| {
            let best: Vec<usize> = self.order.iter().copied().take(LISTED).collect();
            let worst: Vec<usize> = self.order.iter().rev().copied().take(LISTED).collect();
            let [best, worst] = if higher_is_better { [best, worst] } else { [worst, best] };
            self.extremes(page, "gains", &best, 1.0);
            self.extremes(page, "loses", &worst, -1.0);
        });
    }

    /// The title of a bar.
    fn bar(&self, place: usize) -> String {
        let query = self.order[place];
        format!(
            "{}: {} ({} to {})",
            self.id(query),
            delta(self.at, self.deltas[place]),
            self.written(0, query),
            self.written(1, query)
        )
    }

    fn scatter(&self, page: &mut Elements, detail: Detail, measure: &str, names: [&str; 2]) {
        let shown: [Vec<f64>; 2] = match self.at.logarithmic {
            true => [0, 1].map(|run| (0..self.ids.len()).map(|query| self.value(run, query)).collect()),
            false => [Vec::new(), Vec::new()],
        };
        let values = if self.at.logarithmic { [&shown[0][..], &shown[1][..]] } else { self.values };
        let side = if self.at.better == Better::Lower { "Below" } else { "Above" };
        let what = match detail {
            Detail::Shades => "darker places have more queries",
            _ => "larger dots are several queries",
        };
        let note = format!("{side} the diagonal {} is better; {what}.", names[1]);
        figure(page, "Both values of every query", Some(&note), |page| {
            let says = format!("{measure} of {} and of {} by query", names[0], names[1]);
            let id = |query: usize| self.id(query);
            let higher_is_better = self.at.better != Better::Lower;
            scatter::draw(
                page,
                &says,
                &scatter::PairValues { values, names, measure, higher_is_better, id: &id },
                detail,
            );
        });
    }

    /// Lists the queries that are better, or worse.
    fn extremes(&self, page: &mut Elements, verb: &str, queries: &[usize], sign: f64) {
        let better = if self.at.better == Better::Lower { -1.0 } else { 1.0 };
        let change = |query: usize| self.of.change(self.at, query);
        let queries: Vec<usize> =
            queries.iter().copied().filter(|&query| sign * better * change(query) > 0.0).collect();
        let [baseline, run] = self.names();
        page.element("figure", &[], |page| {
            let caption = match queries.len() {
                0 => format!("There is no query in which {run} {verb}"),
                1 => format!("The query in which {run} {verb} most"),
                count => format!("{count} queries in which {run} {verb} most"),
            };
            page.line("figcaption", &[], caption);
            if queries.is_empty() {
                return;
            }
            let headings = ["query", &shortened(&baseline, 24), &shortened(&run, 24), "difference"];
            table(page, 1, &headings, |page| {
                for query in queries {
                    let [a, b] = [0, 1].map(|run| self.written(run, query));
                    row(page, &self.id(query), &[a, b, delta(self.at, change(query))]);
                }
            });
        });
    }
}
