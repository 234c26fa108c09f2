//! The looks of runs in charts: a colour and, for people who see no colours, shapes of marks and
//! dashes.

use super::markup::Elements;
use super::scale::Coordinate;

/// The number of colours, and of shapes.
const KINDS: usize = 7;

/// Returns the CSS class of the colour of a run in a chart.
pub fn colour(series: usize) -> &'static str {
    ["c0", "c1", "c2", "c3", "c4", "c5", "c6"][series % KINDS]
}

/// Returns the CSS classes of the line of a run in a chart: colour and dashes.
pub fn stroke(series: usize) -> String {
    // Five dash patterns and seven colours tell 35 lines apart.
    format!("line {} d{}", colour(series), series % 5)
}

/// Draws the mark of a run in a chart at a point, such as a circle, with a title if given.
pub fn mark(paper: &mut Elements, series: usize, [x, y]: [f64; 2], title: Option<&str>) {
    let class = format!("mark {}", colour(series));
    let shape = shape(series % KINDS, x, y);
    match title {
        Some(title) => paper.mark("path", &[("class", &class), ("d", &shape)], title),
        None => paper.empty("path", &[("class", &class), ("d", &shape)]),
    }
}

fn shape(kind: usize, x: f64, y: f64) -> String {
    let ([dx, dy], rest) = match kind {
        0 => ([-3.5, 0.0], "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z"),
        1 => ([-3.2, -3.2], "h6.4v6.4h-6.4z"),
        2 => ([0.0, -4.6], "l4.2 7.4h-8.4z"),
        3 => ([0.0, -4.4], "l4.4 4.4l-4.4 4.4l-4.4 -4.4z"),
        4 => ([0.0, 4.6], "l4.2 -7.4h-8.4z"),
        5 => ([-1.2, -4.0], "h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z"),
        _ => ([-1.6, -3.9], "l3.2 0l2 3.9l-2 3.9h-3.2l-2 -3.9z"),
    };
    format!("M{} {}{rest}", Coordinate(x + dx), Coordinate(y + dy))
}
