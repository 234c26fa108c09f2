//! Names of runs, queries and measures, shortened and escaped for an HTML page.

use std::fmt::Display;

use super::context::PageContext;
use super::markup::{Attributes, Elements};
use super::plot::shortened;
use crate::error::printable;
use crate::measure::{Direction, Measure};
use crate::report::run_name::visible;

/// The most columns of a name.
pub const NAME: usize = 40;
/// The most columns of the text of a query in a table.
const TEXT: usize = 160;
/// The most columns of the text of a query in the title of a mark.
const SHORT_TEXT: usize = 60;

/// Returns a run's name with unprintable characters escaped, shortened to [`NAME`] columns.
pub fn name(name: &str) -> String {
    name_in(name, NAME)
}

/// Returns a run's name with unprintable characters escaped, shortened to `columns` columns.
pub fn name_in(name: &str, columns: usize) -> String {
    shortened(&visible(name), columns)
}

/// Writes a run's name in an HTML element that isolates its text direction. A shortened name has
/// the whole name as its title.
pub fn write_name(page: &mut Elements, name: &str, columns: usize) {
    let (whole, short) = (visible(name), name_in(name, columns));
    let titled: Attributes = &[("title", &whole)];
    page.line("bdi", if whole == short { &[] } else { titled }, short);
}

/// Writes a run's name behind its short label or number to an HTML page.
pub fn write_keyed_name(page: &mut Elements, key: impl Display, name: &str) {
    page.line("span", &[("class", &"key")], key);
    page.text(" ");
    write_name(page, name, NAME);
}

/// Returns the id of a query, and its text if known, shortened.
pub fn query(id: &[u8], context: &PageContext) -> String {
    let short = shortened(&printable(id), NAME);
    match text(id, context) {
        Some(text) => format!("{short}: {}", shortened(&text, SHORT_TEXT)),
        None => short,
    }
}

/// Writes the id of a query, and its text if known, to an HTML page.
pub fn write_query(page: &mut Elements, id: &[u8], context: &PageContext) {
    page.line("bdi", &[], shortened(&printable(id), NAME));
    if let Some(text) = text(id, context) {
        page.text(": ");
        page.line("bdi", &[("class", &"text")], shortened(&text, TEXT));
    }
}

fn text(id: &[u8], context: &PageContext) -> Option<String> {
    context.titles.get(id).map(visible)
}

/// Returns a measure's name with an arrow: ↑ if higher is better, ↓ if lower is better.
pub fn heading(measure: &Measure) -> String {
    match measure.definition().better {
        Direction::Higher => format!("{measure}\u{a0}↑"),
        Direction::Lower => format!("{measure}\u{a0}↓"),
        Direction::Neither => measure.to_string(),
    }
}

/// Returns the column headings of a table of runs under measures.
pub fn run_headings(measures: &[Measure]) -> Vec<String> {
    ["run".to_owned()].into_iter().chain(measures.iter().map(heading)).collect()
}

/// Returns in words whether higher or lower values of a measure are better.
pub fn direction(measure: &Measure) -> &'static str {
    match measure.definition().better {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::Neither => "neither higher nor lower is better",
    }
}

/// Returns the least and the largest possible value of a measure, for the ends of a chart's axis.
pub fn bounds(measure: &Measure) -> [f64; 2] {
    let (least, most) = measure.range().bounds();
    // 0 is on the axis also where the least value is a little more.
    [least.min(0.0), most]
}
