//! A chart of dots with confidence intervals, one row for each run's mean or each pair's
//! difference.

use super::markup::Elements;
use super::names::bounds;
use super::page::figure;
use super::plot::{
    AltText, COLUMN, EDGE, WIDTH, chart, document, line, rectangle, shortened, text, ticks_below,
};
use super::scale::{Coordinate, Scale, extent};
use crate::measure::Measure;

/// The height of a row.
const ROW: f64 = 33.0;
/// The height of the part of a row in which its dot is.
const STRIP: f64 = 16.0;
/// The room for the axis below the rows.
const BELOW: f64 = 38.0;

/// A mean or difference as a dot with its confidence interval and label, a row of a chart.
pub struct Whisker {
    /// The label above the dot.
    pub label: String,
    /// The number of the dot as text.
    pub value: String,
    /// The number at which the dot is.
    pub point: f64,
    /// The ends of the interval.
    pub interval: Option<[f64; 2]>,
    /// Whether the dot is filled.
    pub filled: bool,
    /// The class of the dot's colour.
    pub colour: &'static str,
    /// The title of the dot.
    pub title: String,
}

/// The axis shared by all rows of a chart of intervals: title, zero line, band and bounds.
pub struct Axis<'a> {
    /// The title of the numbers.
    pub title: &'a str,
    /// The meanings of the sides below and above `zero`.
    pub sides: Option<[&'a str; 2]>,
    /// The number of no difference.
    pub zero: Option<f64>,
    /// The range of differences that do not matter.
    pub band: Option<[f64; 2]>,
    /// The lowest and the highest possible number of the measure, where the axis and the whiskers
    /// end.
    pub bounds: [f64; 2],
}

/// Draws the means of runs under a measure, with confidence intervals, as a figure of an HTML page.
pub fn draw_means(page: &mut Elements, measure: &Measure, title: &str, rows: &[Whisker]) {
    figure(page, &format!("{measure} of each run"), None, |page| {
        let bounds = bounds(measure);
        let axis = Axis { title, sides: None, zero: None, band: None, bounds };
        Whiskers::new(rows, &axis).draw(page);
    });
}

/// A chart of dots with confidence intervals, one row for each, over one axis.
pub struct Whiskers<'a> {
    rows: &'a [Whisker],
    axis: &'a Axis<'a>,
    scale: Scale,
    /// The position of the first row.
    top: f64,
    /// The position of the axis.
    bottom: f64,
}

impl<'a> Whiskers<'a> {
    /// Makes a chart of intervals over an axis wide enough for every row.
    pub fn new(rows: &'a [Whisker], axis: &'a Axis<'a>) -> Self {
        // The axis always includes zero and the band, because readers compare an interval with
        // both.
        let ends = rows
            .iter()
            .flat_map(|row| row.interval.unwrap_or([row.point; 2]).into_iter().chain([row.point]));
        let [low, high] = extent(ends.chain(axis.zero).chain(axis.band.into_iter().flatten()));
        let scale = Scale::round(low, high, 5)
            .bounded(axis.bounds)
            .with_range(EDGE + 10.0, WIDTH - EDGE - 10.0);
        let top = if axis.sides.is_some() { 21.0 } else { 6.0 };
        Self { rows, axis, scale, top, bottom: top + rows.len() as f64 * ROW }
    }

    /// Draws the chart of intervals in an HTML page.
    pub fn draw(&self, page: &mut Elements) {
        chart(page, self.bottom + BELOW, &self.says(), |paper| self.lines(paper));
    }

    /// Returns the chart of intervals as an SVG document.
    pub fn document(&self, style: &str) -> Elements {
        document(self.bottom + BELOW, &self.says(), style, |paper| self.lines(paper))
    }

    fn says(&self) -> AltText {
        let rows: Vec<&str> = self.rows.iter().map(|row| row.title.as_str()).collect();
        AltText { title: self.axis.title.to_owned(), values: rows.join("; ") }
    }

    fn lines(&self, paper: &mut Elements) {
        let (axis, scale, bottom) = (self.axis, &self.scale, self.bottom);
        if let Some([below, above]) = axis.sides {
            text(paper, "tick", [EDGE, 11.0], format_args!("← {below}"));
            text(paper, "tick end", [WIDTH - EDGE, 11.0], format_args!("{above} →"));
        }
        draw_paper(paper, axis, scale, self.top + (ROW - STRIP - 3.0), self.rows.len());
        for (number, row) in self.rows.iter().enumerate() {
            draw_row(paper, row, scale, self.top + number as f64 * ROW);
        }
        line(paper, "axis", [EDGE, bottom], [WIDTH - EDGE, bottom]);
        ticks_below(paper, scale, bottom);
        let room = ((WIDTH - 2.0 * EDGE) / COLUMN) as usize;
        text(paper, "title middle", [0.5 * WIDTH, bottom + 32.0], shortened(axis.title, room));
    }
}

/// Draws the background of a chart of intervals, one strip for each row, the first of them from
/// `above`.
fn draw_paper(paper: &mut Elements, axis: &Axis, scale: &Scale, above: f64, rows: usize) {
    let strips = (0..rows).map(|row| above + row as f64 * ROW);
    if let Some([left, right]) = axis.band.map(|band| band.map(|end| scale.at(end))) {
        for above in strips.clone() {
            rectangle(paper, "band", [left, above], [right, above + STRIP], None);
        }
    }
    let zero = axis.zero.map(|zero| ("zero", vec![zero]));
    for (class, numbers) in [("grid", scale.ticks())].into_iter().chain(zero) {
        let mut path = String::new();
        for x in numbers.into_iter().map(|number| Coordinate(scale.at(number))) {
            for above in strips.clone() {
                path.push_str(&format!("M{x} {}v{STRIP}", Coordinate(above)));
            }
        }
        paper.empty("path", &[("class", &class), ("d", &path)]);
    }
}

fn draw_row(paper: &mut Elements, row: &Whisker, scale: &Scale, above: f64) {
    let room = (WIDTH - 2.0 * EDGE) / COLUMN - row.value.chars().count() as f64 - 2.0;
    text(paper, "label", [EDGE, above + 11.0], shortened(&row.label, room.max(8.0) as usize));
    text(paper, "label end", [WIDTH - EDGE, above + 11.0], &row.value);
    let middle = above + 22.0;
    let class = format!("whisker {}", row.colour);
    paper.element("g", &[("class", &class)], |paper| {
        paper.line("title", &[], &row.title);
        if let Some(ends) = row.interval {
            paper.empty("path", &[("class", &"line"), ("d", &interval_path(ends, scale, middle))]);
        }
        let class = if row.filled { "dot" } else { "dot hollow" };
        let at = Coordinate(scale.clamped(row.point));
        paper.empty(
            "circle",
            &[("class", &class), ("cx", &at), ("cy", &Coordinate(middle)), ("r", &4.5)],
        );
    });
}

/// Returns the SVG path of an interval, with an upright stroke at each end inside the scale. An end
/// beyond the scale has no bar across it.
fn interval_path(ends: [f64; 2], scale: &Scale, middle: f64) -> String {
    let [low, high] = ends.map(|end| Coordinate(scale.clamped(end)));
    let mut path = format!("M{low} {middle}H{high}");
    for end in ends.into_iter().filter(|&end| scale.clamped(end) == scale.at(end)) {
        path.push_str(&format!("M{} {}v7", Coordinate(scale.at(end)), Coordinate(middle - 3.5)));
    }
    path
}
