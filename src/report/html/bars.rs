//! The sorted differences of queries as bars, a bar for each query, or for many queries a bar for
//! each quantile.

use super::markup::Elements;
use super::plot::{AltText, Plot, chart, line, rectangle};
use super::scale::{At, Scale, signed};

/// The most bars.
pub const MOST: usize = 500;
/// The number of titled parts of the area of all bars.
const PARTS: usize = 20;
const HEIGHT: f64 = 300.0;

/// The sorted differences of a pair.
pub struct Sorted<'a> {
    /// The differences, descending.
    pub deltas: &'a [f64],
    /// The mean of the differences.
    pub mean: f64,
    /// Whether a query is better if its difference is above 0.
    pub higher_is_better: bool,
    /// The title of the differences.
    pub title: &'a str,
    /// The title of the bar of each difference, if there are few.
    pub titles: Option<&'a dyn Fn(usize) -> String>,
}

/// The number of bars that are drawn: one for each query, up to [`MOST`].
pub fn count(queries: usize) -> usize {
    queries.min(MOST)
}

/// Draws the differences.
pub fn draw(page: &mut Elements, says: &AltText, of: &Sorted) {
    let n = of.deltas.len();
    let [high, low] = [of.deltas[0].max(0.0), of.deltas[n - 1].min(0.0)];
    let plot =
        Plot::new(Scale::exact(0.0, n as f64, 4).whole(), Scale::round(low, high, 8), HEIGHT, 0.0);
    chart(page, HEIGHT, says, |paper| {
        plot.axes(paper, "queries, from most gained to most lost", of.title);
        match of.titles {
            Some(title) => single(paper, &plot, of, title),
            None => area(paper, &plot, of),
        }
        let [left, right, ..] = plot.borders();
        line(paper, "zero", [left, plot.y.at(0.0)], [right, plot.y.at(0.0)]);
        let mean = plot.y.at(of.mean);
        paper.element("g", &[], |paper| {
            paper.line("title", &[], format_args!("mean {}", signed(of.mean, 4)));
            line(paper, "mean", [left, mean], [right, mean]);
        });
    });
}

fn class(delta: f64, of: &Sorted) -> &'static str {
    if (delta > 0.0) == of.higher_is_better { "gain" } else { "loss" }
}

/// Draws a bar for each query.
fn single(paper: &mut Elements, plot: &Plot, of: &Sorted, title: &dyn Fn(usize) -> String) {
    let gap = if of.deltas.len() <= 100 { 0.1 } else { 0.0 };
    for (number, &delta) in of.deltas.iter().enumerate() {
        let [left, right] =
            [number as f64 + gap, (number + 1) as f64 - gap].map(|at| plot.x.at(at));
        let [zero, end] = [0.0, delta].map(|at| plot.y.at(at));
        // A difference of 0 has a bar that can be seen.
        let [above, below] = [zero.min(end).min(zero - 0.4), zero.max(end).max(zero + 0.4)];
        let class = if delta == 0.0 { "tied" } else { class(delta, of) };
        rectangle(paper, class, [left, above], [right, below], Some(&title(number)));
    }
}

/// Draws the bars as one area on each side of 0.
fn area(paper: &mut Elements, plot: &Plot, of: &Sorted) {
    let n = of.deltas.len();
    let bars = count(n);
    let quantile = |bar: usize| of.deltas[(2 * bar + 1) * n / (2 * bars)];
    let place = |bar: usize| plot.x.at(n as f64 * bar as f64 / bars as f64);
    let side = |is_above: bool| {
        let mut path = format!("M{} {}", At(place(0)), At(plot.y.at(0.0)));
        let mut last = String::new();
        for bar in 0..bars {
            let delta = if is_above { quantile(bar).max(0.0) } else { quantile(bar).min(0.0) };
            let height = At(plot.y.at(delta)).to_string();
            if height != last {
                path.push_str(&format!("H{}V{height}", At(place(bar))));
                last = height;
            }
        }
        path + &format!("H{}V{}z", At(place(bars)), At(plot.y.at(0.0)))
    };
    for (is_above, delta) in [(true, 1.0), (false, -1.0)] {
        paper.empty("path", &[("class", &class(delta, of)), ("d", &side(is_above))]);
    }
    let [_, _, above, below] = plot.borders();
    for part in 0..PARTS {
        let [from, to] = [part, part + 1].map(|part| part * n / PARTS);
        if from < to {
            let title = format!(
                "queries {} to {to} of {n}: {} to {}",
                from + 1,
                signed(of.deltas[from], 4),
                signed(of.deltas[to - 1], 4)
            );
            let [left, right] = [from, to].map(|at| plot.x.at(at as f64));
            rectangle(paper, "hover", [left, above], [right, below], Some(&title));
        }
    }
}
