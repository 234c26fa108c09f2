//! A chart of the sorted differences of queries between two runs, a bar for each query or quantile.

use super::markup::Elements;
use super::plot::{AltText, Plot, chart, line, rectangle};
use super::scale::{Coordinate, Scale, signed};

/// The most bars.
pub const MOST: usize = 500;
/// The number of titled parts of the area of all bars.
const PARTS: usize = 20;
const HEIGHT: f64 = 300.0;

/// The sorted differences of queries between two runs, with the titles for their bar chart.
pub struct SortedDeltas<'a> {
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

/// Returns the number of bars in the chart of sorted differences: one for each query, up to
/// [`MOST`].
pub fn count(queries: usize) -> usize {
    queries.min(MOST)
}

/// Draws the chart of sorted differences of queries between two runs.
pub fn draw(page: &mut Elements, says: &AltText, deltas: &SortedDeltas) {
    let n = deltas.deltas.len();
    let [high, low] = [deltas.deltas[0].max(0.0), deltas.deltas[n - 1].min(0.0)];
    let plot = Plot::new(
        Scale::exact(0.0, n as f64, 4).with_integer_ticks(),
        Scale::round(low, high, 8),
        HEIGHT,
        0.0,
    );
    chart(page, HEIGHT, says, |paper| {
        plot.axes(paper, "queries, from most gained to most lost", deltas.title);
        match deltas.titles {
            Some(title) => single(paper, &plot, deltas, title),
            None => area(paper, &plot, deltas),
        }
        let [left, right, ..] = plot.borders();
        line(paper, "zero", [left, plot.y.at(0.0)], [right, plot.y.at(0.0)]);
        let mean = plot.y.at(deltas.mean);
        paper.element("g", &[], |paper| {
            paper.line("title", &[], format_args!("mean {}", signed(deltas.mean, 4)));
            line(paper, "mean", [left, mean], [right, mean]);
        });
    });
}

fn class(delta: f64, deltas: &SortedDeltas) -> &'static str {
    if (delta > 0.0) == deltas.higher_is_better { "gain" } else { "loss" }
}

/// Draws a titled bar for each query's difference.
fn single(
    paper: &mut Elements,
    plot: &Plot,
    deltas: &SortedDeltas,
    title: &dyn Fn(usize) -> String,
) {
    let gap = if deltas.deltas.len() <= 100 { 0.1 } else { 0.0 };
    for (number, &delta) in deltas.deltas.iter().enumerate() {
        let [left, right] =
            [number as f64 + gap, (number + 1) as f64 - gap].map(|at| plot.x.at(at));
        let [zero, end] = [0.0, delta].map(|at| plot.y.at(at));
        // A difference of 0 has a bar that can be seen.
        let [above, below] = [zero.min(end).min(zero - 0.4), zero.max(end).max(zero + 0.4)];
        let class = if delta == 0.0 { "tied" } else { class(delta, deltas) };
        rectangle(paper, class, [left, above], [right, below], Some(&title(number)));
    }
}

/// Draws quantiles of the sorted differences as one area on each side of 0.
fn area(paper: &mut Elements, plot: &Plot, deltas: &SortedDeltas) {
    let n = deltas.deltas.len();
    let bars = count(n);
    let place = |bar: usize| Coordinate(plot.x.at(n as f64 * bar as f64 / bars as f64));
    let zero = Coordinate(plot.y.at(0.0));
    for sign in [1.0, -1.0] {
        let mut path = format!("M{} {zero}", place(0));
        let mut last = String::new();
        for bar in 0..bars {
            let quantile = deltas.deltas[(2 * bar + 1) * n / (2 * bars)];
            let delta = if sign > 0.0 { quantile.max(0.0) } else { quantile.min(0.0) };
            let height = Coordinate(plot.y.at(delta)).to_string();
            // Neighbours of equal height share one step, which keeps the path short.
            if height != last {
                path.push_str(&format!("H{}V{height}", place(bar)));
                last = height;
            }
        }
        path.push_str(&format!("H{}V{zero}z", place(bars)));
        paper.empty("path", &[("class", &class(sign, deltas)), ("d", &path)]);
    }
    // The bars of an area are no elements, so rectangles over the area carry the titles.
    let [_, _, above, below] = plot.borders();
    for part in 0..PARTS {
        let [from, to] = [part, part + 1].map(|part| part * n / PARTS);
        if from < to {
            let title = format!(
                "queries {} to {to} of {n}: {} to {}",
                from + 1,
                signed(deltas.deltas[from], 4),
                signed(deltas.deltas[to - 1], 4)
            );
            let [left, right] = [from, to].map(|at| plot.x.at(at as f64));
            rectangle(paper, "hover", [left, above], [right, below], Some(&title));
        }
    }
}
