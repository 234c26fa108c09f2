//! Dots with intervals, one for each row: means of runs, or differences of pairs.

use super::markup::Elements;
use super::plot::{
    AltText, COLUMN, EDGE, WIDTH, chart, document, line, rectangle, shortened, text, ticks_below,
};
use super::scale::{At, Scale};

/// The height of a row.
const ROW: f64 = 33.0;
/// The height of the part of a row in which its dot is.
const STRIP: f64 = 16.0;
/// The room for the axis below the rows.
const BELOW: f64 = 38.0;

/// A dot with its interval.
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

/// The axis shared by all rows.
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

/// Rows over one axis.
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
    /// Makes rows over an axis wide enough for every row.
    pub fn of(rows: &'a [Whisker], axis: &'a Axis<'a>) -> Whiskers<'a> {
        // The axis always includes zero and the band, because readers compare an interval with
        // both.
        let ends = rows
            .iter()
            .flat_map(|row| row.interval.unwrap_or([row.point; 2]).into_iter().chain([row.point]));
        let ends: Vec<f64> = ends.chain(axis.zero).chain(axis.band.into_iter().flatten()).collect();
        let [low, high] = [
            ends.iter().copied().fold(f64::INFINITY, f64::min),
            ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let scale =
            Scale::round(low, high, 5).bounded(axis.bounds).over(EDGE + 10.0, WIDTH - EDGE - 10.0);
        let top = if axis.sides.is_some() { 21.0 } else { 6.0 };
        Whiskers { rows, axis, scale, top, bottom: top + rows.len() as f64 * ROW }
    }

    /// Draws the rows in a page.
    pub fn draw(&self, page: &mut Elements) {
        chart(page, self.bottom + BELOW, &self.says(), |paper| self.lines(paper));
    }

    /// The rows as an SVG document.
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

/// Draws the background of the dots, one strip for each row, the first of them from `above`.
fn draw_paper(paper: &mut Elements, axis: &Axis, scale: &Scale, above: f64, rows: usize) {
    let strips = || (0..rows).map(|row| above + row as f64 * ROW);
    if let Some([left, right]) = axis.band.map(|band| band.map(|end| scale.at(end))) {
        for above in strips() {
            rectangle(paper, "band", [left, above], [right, above + STRIP], None);
        }
    }
    let upright = |numbers: &[f64]| -> String {
        let places = numbers.iter().map(|&number| At(scale.at(number)));
        places.flat_map(|x| strips().map(move |y| format!("M{x} {}v{STRIP}", At(y)))).collect()
    };
    paper.empty("path", &[("class", &"grid"), ("d", &upright(&scale.ticks()))]);
    if let Some(zero) = axis.zero {
        paper.empty("path", &[("class", &"zero"), ("d", &upright(&[zero]))]);
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
        let at = At(scale.within(row.point));
        paper.empty("circle", &[("class", &class), ("cx", &at), ("cy", &At(middle)), ("r", &4.5)]);
    });
}

/// The line of an interval. An end beyond the scale has no bar across it.
fn interval_path(ends: [f64; 2], scale: &Scale, middle: f64) -> String {
    let [low, high] = ends.map(|end| At(scale.within(end)));
    let mut path = format!("M{low} {middle}H{high}");
    for end in ends.into_iter().filter(|&end| scale.within(end) == scale.at(end)) {
        path.push_str(&format!("M{} {}v7", At(scale.at(end)), At(middle - 3.5)));
    }
    path
}
