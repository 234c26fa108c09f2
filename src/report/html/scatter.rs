//! A scatter plot of the values of two runs: one dot for each query, or for many queries, shades of
//! their number.

use std::collections::BTreeMap;

use super::histogram::queries;
use super::markup::Elements;
use super::plot::{AltText, Plot, chart, line};
use super::scale::{Coordinate, Scale, extent, number};
use crate::stats::is_undefined;

/// The number of bins of a side.
const BINS: usize = 30;
/// The number of shades.
const SHADES: usize = 5;
/// The most ids that a dot names.
const NAMED: usize = 5;
const HEIGHT: f64 = 340.0;

/// The detail of a scatter plot of queries: named dots, plain dots, or shades of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Dots that name their queries.
    Named,
    /// Dots without names.
    Dots,
    /// Shades of the number of queries.
    Shades,
}

/// The values of two runs for each query under a measure, with names and bounds for a scatter plot.
pub struct PairValues<'a> {
    /// The values by query; those of the first run are along the width.
    pub values: [&'a [f64]; 2],
    /// The names of the two runs.
    pub names: [&'a str; 2],
    /// The measure of the values.
    pub measure: &'a str,
    /// Whether a higher value is better.
    pub higher_is_better: bool,
    /// The values that the measure cannot exceed.
    pub bounds: [f64; 2],
    /// The id of a query.
    pub id: &'a dyn Fn(usize) -> String,
}

/// Draws the scatter plot of the values of two runs.
pub fn draw(page: &mut Elements, title: String, pair: &PairValues, detail: Detail) {
    let [low, high] = extent(pair.values.into_iter().flatten().copied());
    let scale = Scale::round(low, high, 5).bounded(pair.bounds);
    let plot = Plot::new(scale, scale, HEIGHT, 4.0);
    let says = AltText { title, values: describe(pair, [low, high]) };
    chart(page, HEIGHT, &says, |paper| {
        let [across, up] = pair.names.map(|name| format!("{name}, {}", pair.measure));
        plot.axes(paper, &across, &up);
        let [left, right, above, below] = plot.borders();
        line(paper, "diagonal", [left, below], [right, above]);
        match detail {
            Detail::Named => named(paper, &plot, pair),
            Detail::Dots => dots(paper, &plot, pair),
            Detail::Shades => shades(paper, &plot, pair),
        }
    });
}

/// Returns the scatter plot in words: queries won by each run, and the range of values.
fn describe(pair: &PairValues, [low, high]: [f64; 2]) -> String {
    let [gain, loss, tied] = ["gain", "loss", "tied"].map(|wanted| {
        let pairs = pair.values[0].iter().zip(pair.values[1]).filter(|(x, _)| !is_undefined(**x));
        queries(pairs.filter(|&(&x, &y)| class(x, y, pair) == wanted).count())
    });
    let [low, high] = [low, high].map(|end| number(end, 4));
    let [other, one] = pair.names;
    format!(
        "{one} is better on {gain}, {other} on {loss}, and they are equal on {tied}; values from \
         {low} to {high}"
    )
}

/// Returns the queries at each place, to a unit of the paper.
// Queries at one place share a dot: P@5, say, has six values, so thousands of queries share 36
// places. The ordered map keeps the written bytes reproducible.
fn places(plot: &Plot, pair: &PairValues) -> BTreeMap<[i32; 2], Vec<usize>> {
    let mut places = BTreeMap::<_, Vec<usize>>::new();
    for (query, (&x, &y)) in pair.values[0].iter().zip(pair.values[1]).enumerate() {
        if is_undefined(x) {
            continue;
        }
        let place = [plot.x.at(x).round() as i32, plot.y.at(y).round() as i32];
        places.entry(place).or_default().push(query);
    }
    places
}

/// Returns the radius of a dot, whose area grows with the number of its queries up to a limit.
fn radius(count: usize) -> f64 {
    (2.8 * (count as f64).sqrt()).min(12.0)
}

fn class(x: f64, y: f64, pair: &PairValues) -> &'static str {
    if x == y {
        return "tied";
    }
    if (y > x) == pair.higher_is_better { "gain" } else { "loss" }
}

fn named(paper: &mut Elements, plot: &Plot, pair: &PairValues) {
    for ([x, y], found) in places(plot, pair) {
        let ids: Vec<String> = found.iter().take(NAMED).map(|&query| (pair.id)(query)).collect();
        let more = if found.len() > NAMED { ", …" } else { "" };
        let [a, b] = pair.values.map(|values| values[found[0]]);
        let title = format!(
            "{} ({}{more}): {} and {}",
            queries(found.len()),
            ids.join(", "),
            number(a, 4),
            number(b, 4)
        );
        let class = format!("dot {}", class(a, b, pair));
        let at = [x, y].map(|place| Coordinate(f64::from(place)));
        let radius = Coordinate(radius(found.len()));
        paper.mark(
            "circle",
            &[("class", &class), ("cx", &at[0]), ("cy", &at[1]), ("r", &radius)],
            title,
        );
    }
}

/// Draws the dots of a scatter plot without titles, one SVG path for each colour and size.
fn dots(paper: &mut Elements, plot: &Plot, pair: &PairValues) {
    let mut paths = BTreeMap::<(&str, usize), String>::new();
    for ([x, y], found) in places(plot, pair) {
        let [a, b] = pair.values.map(|values| values[found[0]]);
        // Few sizes make few paths.
        let size = found.len().ilog2().min(4) as usize;
        paths.entry((class(a, b, pair), size)).or_default().push_str(&format!("M{x} {y}h0"));
    }
    for ((class, size), path) in paths {
        let class = format!("dots {class}");
        let width = Coordinate(1.4 * radius(1 << size));
        paper.empty("path", &[("class", &class), ("stroke-width", &width), ("d", &path)]);
    }
}

/// Draws the squares of a scatter plot of many queries, darker for more queries.
fn shades(paper: &mut Elements, plot: &Plot, pair: &PairValues) {
    let [low, high] = plot.x.numbers;
    let mut counts = vec![0usize; BINS * BINS];
    for (&x, &y) in pair.values[0].iter().zip(pair.values[1]).filter(|(x, _)| !is_undefined(**x)) {
        // Both axes have the same scale.
        let [x, y] = [x, y]
            .map(|value| (((value - low) / (high - low) * BINS as f64) as usize).min(BINS - 1));
        counts[y * BINS + x] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    // Shades are even in the logarithm, because most queries often lie in one corner.
    let limits: [usize; SHADES + 1] = std::array::from_fn(|shade| match shade {
        0 => 0,
        SHADES => most,
        _ => (most as f64).powf(shade as f64 / SHADES as f64).floor() as usize,
    });
    let [left, right, above, below] = plot.borders();
    let [wide, high] = [(right - left) / BINS as f64, (below - above) / BINS as f64];
    for shade in 0..SHADES {
        let [from, to] = [limits[shade], limits[shade + 1]];
        let mut path = String::new();
        for (at, _) in
            counts.iter().enumerate().filter(|(_, count)| (from + 1..=to).contains(*count))
        {
            let [x, y] = [left + (at % BINS) as f64 * wide, below - (at / BINS + 1) as f64 * high];
            path.push_str(&format!(
                "M{} {}h{w}v{h}h-{w}z",
                Coordinate(x),
                Coordinate(y),
                w = Coordinate(wide),
                h = Coordinate(high)
            ));
        }
        if !path.is_empty() {
            let class = ["shade h0", "shade h1", "shade h2", "shade h3", "shade h4"][shade];
            let title = format!("{} to {} queries in each of these places", from + 1, to);
            paper.mark("path", &[("class", &class), ("d", &path)], title);
        }
    }
}
