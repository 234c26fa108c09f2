//! The values of two runs against each other: one dot for each query, or if there are many, shades
//! of the number of queries in each place.

use std::collections::BTreeMap;

use super::histogram::queries;
use super::markup::Elements;
use super::plot::{AltText, Plot, chart, line};
use super::scale::{At, Scale, number};
use crate::stats::is_undefined;

/// The number of bins of a side.
const BINS: usize = 30;
/// The number of shades.
const SHADES: usize = 5;
/// The most ids that a dot names.
const NAMED: usize = 5;
const HEIGHT: f64 = 340.0;

/// The detail in which values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Dots that name their queries.
    Named,
    /// Dots without names.
    Dots,
    /// Shades of the number of queries.
    Shades,
}

/// The values of a pair.
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

/// Draws the values.
pub fn draw(page: &mut Elements, title: String, of: &PairValues, detail: Detail) {
    let all = || of.values.iter().copied().flatten().copied();
    let [low, high] =
        [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)];
    let scale = Scale::round(low, high, 5).bounded(of.bounds);
    let plot = Plot::new(scale, scale, HEIGHT, 4.0);
    let says = AltText { title, values: said(of, [low, high]) };
    chart(page, HEIGHT, &says, |paper| {
        let [across, up] = of.names.map(|name| format!("{name}, {}", of.measure));
        plot.axes(paper, &across, &up);
        let [left, right, above, below] = plot.borders();
        line(paper, "diagonal", [left, below], [right, above]);
        match detail {
            Detail::Named => named(paper, &plot, of),
            Detail::Dots => dots(paper, &plot, of),
            Detail::Shades => shades(paper, &plot, of),
        }
    });
}

/// The values in words: on how many queries which run is better, and the range of values.
fn said(of: &PairValues, [low, high]: [f64; 2]) -> String {
    let on = |wanted: &str| {
        let pairs = of.values[0].iter().zip(of.values[1]).filter(|(x, _)| !is_undefined(**x));
        queries(pairs.filter(|&(&x, &y)| class(x, y, of) == wanted).count())
    };
    format!(
        "{} is better on {}, {} on {}, and they are equal on {}; values from {} to {}",
        of.names[1],
        on("gain"),
        of.names[0],
        on("loss"),
        on("tied"),
        number(low, 4),
        number(high, 4)
    )
}

/// The queries at each place, to a unit of the paper.
// Queries at one place share a dot: P@5, say, has six values, so thousands of queries share 36
// places. The ordered map keeps the written bytes reproducible.
fn places(plot: &Plot, of: &PairValues) -> BTreeMap<[i32; 2], Vec<usize>> {
    let mut places = BTreeMap::<_, Vec<usize>>::new();
    for (query, (&x, &y)) in of.values[0].iter().zip(of.values[1]).enumerate() {
        if is_undefined(x) {
            continue;
        }
        let place = [plot.x.at(x).round() as i32, plot.y.at(y).round() as i32];
        places.entry(place).or_default().push(query);
    }
    places
}

/// The radius of a dot, whose area grows with the number of its queries up to a limit.
fn radius(count: usize) -> f64 {
    (2.8 * (count as f64).sqrt()).min(12.0)
}

fn class(x: f64, y: f64, of: &PairValues) -> &'static str {
    if x == y {
        return "tied";
    }
    if (y > x) == of.higher_is_better { "gain" } else { "loss" }
}

fn named(paper: &mut Elements, plot: &Plot, of: &PairValues) {
    for ([x, y], found) in places(plot, of) {
        let ids: Vec<String> = found.iter().take(NAMED).map(|&query| (of.id)(query)).collect();
        let more = if found.len() > NAMED { ", …" } else { "" };
        let [a, b] = of.values.map(|values| values[found[0]]);
        let title = format!(
            "{} ({}{more}): {} and {}",
            queries(found.len()),
            ids.join(", "),
            number(a, 4),
            number(b, 4)
        );
        let class = format!("dot {}", class(a, b, of));
        let at = [x, y].map(|place| At(f64::from(place)));
        let radius = At(radius(found.len()));
        paper.mark(
            "circle",
            &[("class", &class), ("cx", &at[0]), ("cy", &at[1]), ("r", &radius)],
            title,
        );
    }
}

/// Draws one path for each class and size, because single dots take many bytes.
fn dots(paper: &mut Elements, plot: &Plot, of: &PairValues) {
    let mut paths = BTreeMap::<(&str, usize), String>::new();
    for ([x, y], found) in places(plot, of) {
        let [a, b] = of.values.map(|values| values[found[0]]);
        let size = found.len().ilog2().min(4) as usize;
        paths.entry((class(a, b, of), size)).or_default().push_str(&format!("M{x} {y}h0"));
    }
    for ((class, size), path) in paths {
        let class = format!("dots {class}");
        let width = At(1.4 * radius(1 << size));
        paper.empty("path", &[("class", &class), ("stroke-width", &width), ("d", &path)]);
    }
}

/// Draws squares, darker for more queries.
fn shades(paper: &mut Elements, plot: &Plot, of: &PairValues) {
    let [low, high] = plot.x.numbers;
    let bin = |value: f64| (((value - low) / (high - low) * BINS as f64) as usize).min(BINS - 1);
    let mut counts = vec![0usize; BINS * BINS];
    for (&x, &y) in of.values[0].iter().zip(of.values[1]).filter(|(x, _)| !is_undefined(**x)) {
        counts[bin(y) * BINS + bin(x)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    // Shades are even in the logarithm, because most queries often lie in one corner.
    let limit = |shade: usize| (most as f64).powf(shade as f64 / SHADES as f64).floor() as usize;
    let [left, right, above, below] = plot.borders();
    let [wide, high] = [(right - left) / BINS as f64, (below - above) / BINS as f64];
    for shade in 0..SHADES {
        let [from, to] = [
            if shade == 0 { 0 } else { limit(shade) },
            if shade + 1 == SHADES { most } else { limit(shade + 1) },
        ];
        let mut path = String::new();
        for (at, _) in
            counts.iter().enumerate().filter(|(_, count)| (from + 1..=to).contains(*count))
        {
            let [x, y] = [left + (at % BINS) as f64 * wide, below - (at / BINS + 1) as f64 * high];
            path.push_str(&format!(
                "M{} {}h{w}v{h}h-{w}z",
                At(x),
                At(y),
                w = At(wide),
                h = At(high)
            ));
        }
        if !path.is_empty() {
            let class = ["shade h0", "shade h1", "shade h2", "shade h3", "shade h4"][shade];
            let title = format!("{} to {} queries in each of these places", from + 1, to);
            paper.mark("path", &[("class", &class), ("d", &path)], title);
        }
    }
}
