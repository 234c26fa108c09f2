//! The looks of series: a colour, and for people who see no colours the shape of marks, dashes and
//! a label.

use super::markup::Elements;
use super::scale::At;

/// The number of colours, and of shapes.
const KINDS: usize = 7;

/// The class of a series' colour.
pub fn colour(series: usize) -> &'static str {
    ["c0", "c1", "c2", "c3", "c4", "c5", "c6"][series % KINDS]
}

/// The class of a series' line: its colour and its dashes.
pub fn stroke(series: usize) -> String {
    // Five dash patterns and seven colours tell 35 lines apart.
    format!("line {} d{}", colour(series), series % 5)
}

/// Draws a mark of a series.
pub fn mark(paper: &mut Elements, series: usize, [x, y]: [f64; 2], title: Option<&str>) {
    let class = format!("mark {}", colour(series));
    let shape = shape(series % KINDS, x, y);
    match title {
        Some(title) => paper.mark("path", &[("class", &class), ("d", &shape)], title),
        None => paper.empty("path", &[("class", &class), ("d", &shape)]),
    }
}

fn shape(kind: usize, x: f64, y: f64) -> String {
    let start = |dx: f64, dy: f64| format!("M{} {}", At(x + dx), At(y + dy));
    match kind {
        0 => format!("{}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", start(-3.5, 0.0)),
        1 => format!("{}h6.4v6.4h-6.4z", start(-3.2, -3.2)),
        2 => format!("{}l4.2 7.4h-8.4z", start(0.0, -4.6)),
        3 => format!("{}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", start(0.0, -4.4)),
        4 => format!("{}l4.2 -7.4h-8.4z", start(0.0, 4.6)),
        5 => format!("{}h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z", start(-1.2, -4.0)),
        _ => format!("{}l3.2 0l2 3.9l-2 3.9h-3.2l-2 -3.9z", start(-1.6, -3.9)),
    }
}
