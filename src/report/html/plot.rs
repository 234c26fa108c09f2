//! SVG charts: axes between two scales, lines, rectangles, and text that fits.
//!
//! Everything is laid out in units of one fixed width of paper, which the browser scales. No font
//! is measured: the width of a text is its terminal columns times [`COLUMN`], a little more than
//! most letters take. So the bytes do not depend on the machine. Text too long by this count loses
//! its middle, because run names differ at their ends.

use std::fmt::Display;

use unicode_width::UnicodeWidthStr;

use super::markup::{Attributes, Elements};
use super::scale::{Coordinate, Scale};
use crate::report::shorten::without_middle;

/// The width of every chart, in units that are pixels on a phone.
pub const WIDTH: f64 = 360.0;
/// The width of a column of small text, a little more than that of most letters.
pub const COLUMN: f64 = 6.1;
/// The room between the edge of the paper and the text on it.
pub const EDGE: f64 = 6.0;
/// The room for the labels of ticks below a plot, and for the title of the axis below them.
const BELOW: f64 = 36.0;
/// The room for the title of the upright axis above a plot.
const ABOVE: f64 = 22.0;

/// The area of an SVG chart between a scale across and a scale upwards.
pub struct Plot {
    /// The scale along the width.
    pub x: Scale,
    /// The scale along the height, upwards.
    pub y: Scale,
    height: f64,
}

impl Plot {
    /// Makes the area of a chart of `height` in all, between two scales, with `right` units of room
    /// at its right.
    pub fn new(x: Scale, y: Scale, height: f64, right: f64) -> Self {
        let widest = y.ticks().into_iter().map(|tick| y.label(tick).width()).max().unwrap_or(0);
        let left = EDGE + widest as f64 * COLUMN + 6.0;
        Self {
            x: x.with_range(left, WIDTH - EDGE - right),
            y: y.with_range(height - BELOW, ABOVE),
            height,
        }
    }

    /// Returns the coordinates of the chart area's left, right, upper and lower border.
    pub fn borders(&self) -> [f64; 4] {
        let [left, right] = self.x.numbers.map(|end| self.x.at(end));
        let [below, above] = self.y.numbers.map(|end| self.y.at(end));
        [left, right, above, below]
    }

    /// Draws both axes of the chart with their ticks and titles.
    pub fn axes(&self, paper: &mut Elements, across: &str, up: &str) {
        let [left, right, above, below] = self.borders();
        for tick in self.y.ticks() {
            line(paper, "grid", [left, self.y.at(tick)], [right, self.y.at(tick)]);
            let place = [left - 5.0, self.y.at(tick) + 4.0];
            text(paper, "tick end", place, self.y.label(tick));
        }
        line(paper, "axis", [left, below], [right, below]);
        ticks_below(paper, &self.x, below);
        let room = ((WIDTH - 2.0 * EDGE) / COLUMN) as usize;
        text(paper, "title", [EDGE, above - 9.0], shortened(up, room));
        // Not left of the middle of the paper, where a long title would leave it on that side.
        let middle = (0.5 * (left + right)).max(0.5 * WIDTH);
        text(paper, "title middle", [middle, self.height - 5.0], shortened(across, room));
    }
}

/// Draws ticks and their labels below the horizontal axis of a chart.
pub fn ticks_below(paper: &mut Elements, scale: &Scale, axis: f64) {
    let ticks = scale.ticks();
    let [left, right] = scale.numbers.map(|end| scale.at(end));
    let widest =
        ticks.iter().map(|&tick| scale.label(tick).width()).max().unwrap_or(0) as f64 * COLUMN;
    let apart = (right - left).abs() / ticks.len().saturating_sub(1).max(1) as f64;
    // If labels would touch, every second label is left out.
    let every = if widest + 6.0 > apart { 2 } else { 1 };
    for (number, &tick) in ticks.iter().enumerate() {
        let at = scale.at(tick);
        line(paper, "axis", [at, axis], [at, axis + 4.0]);
        if number % every == 0 {
            let label = scale.label(tick);
            let half = 0.6 * label.width() as f64 * COLUMN;
            text(
                paper,
                "tick middle",
                [at.clamp(half + 1.0, WIDTH - half - 1.0), axis + 15.0],
                label,
            );
        }
    }
}

/// The content of an SVG chart in words, for people who cannot see the chart.
pub struct AltText {
    /// What is drawn.
    pub title: String,
    /// The values; of very many, a summary of them.
    pub values: String,
}

/// Draws an SVG chart of some height into an HTML page, with its content in words.
pub fn chart(page: &mut Elements, height: f64, says: &AltText, draw: impl FnOnce(&mut Elements)) {
    chart_with(page, height, says, &[], draw);
}

fn chart_with(
    page: &mut Elements,
    height: f64,
    says: &AltText,
    more: Attributes,
    draw: impl FnOnce(&mut Elements),
) {
    let view = format!("0 0 {} {}", Coordinate(WIDTH), Coordinate(height));
    let number = page.fresh();
    let [title, values] = ["title", "values"].map(|what| format!("{what}-{number}"));
    let by = format!("{title} {values}");
    let mut attributes: Vec<(&'static str, &dyn Display)> =
        vec![("class", &"chart"), ("viewBox", &view), ("role", &"img"), ("aria-labelledby", &by)];
    attributes.extend_from_slice(more);
    page.element("svg", &attributes, |paper| {
        paper.line("title", &[("id", &title)], &says.title);
        paper.line("desc", &[("id", &values)], &says.values);
        draw(paper);
    });
}

/// Draws a chart as an SVG document of its own, on white paper.
pub fn document(
    height: f64,
    says: &AltText,
    style: &str,
    draw: impl FnOnce(&mut Elements),
) -> Elements {
    let mut page = Elements::default();
    let [wide, high] = [WIDTH, height].map(|length| Coordinate(2.0 * length));
    let attributes: Attributes =
        &[("xmlns", &"http://www.w3.org/2000/svg"), ("width", &wide), ("height", &high)];
    chart_with(&mut page, height, says, attributes, |paper| {
        paper.line("style", &[], style);
        paper.empty(
            "rect",
            &[("width", &Coordinate(WIDTH)), ("height", &Coordinate(height)), ("class", &"paper")],
        );
        draw(paper);
    });
    page
}

/// Draws a line between two points of a chart.
pub fn line(paper: &mut Elements, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
    paper.empty(
        "line",
        &[
            ("class", &class),
            ("x1", &Coordinate(x1)),
            ("y1", &Coordinate(y1)),
            ("x2", &Coordinate(x2)),
            ("y2", &Coordinate(y2)),
        ],
    );
}

/// Writes text at a point of a chart.
pub fn text(paper: &mut Elements, class: &str, [x, y]: [f64; 2], what: impl Display) {
    paper.line("text", &[("class", &class), ("x", &Coordinate(x)), ("y", &Coordinate(y))], what);
}

/// Draws a rectangle in a chart between two corners, with a title that appears over it, if any.
pub fn rectangle(
    paper: &mut Elements,
    class: &str,
    [left, above]: [f64; 2],
    [right, below]: [f64; 2],
    title: Option<&dyn Display>,
) {
    let [width, height] = [Coordinate(right - left), Coordinate(below - above)];
    let attributes: Attributes = &[
        ("class", &class),
        ("x", &Coordinate(left)),
        ("y", &Coordinate(above)),
        ("width", &width),
        ("height", &height),
    ];
    match title {
        Some(title) => paper.mark("rect", attributes, title),
        None => paper.empty("rect", attributes),
    }
}

/// Shortens text to at most `columns` columns, with dots in its middle.
pub fn shortened(text: &str, columns: usize) -> String {
    without_middle(text, columns, columns.saturating_sub(1) / 2, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_in_its_middle() {
        assert_eq!(shortened("bm25", 4), "bm25");
        assert_eq!(shortened("abcdefgh", 6), "abc…gh");
        assert_eq!(shortened("検索検索検索", 6), "検…索");
        assert_eq!(shortened("abc", 1), "…");
    }
}
