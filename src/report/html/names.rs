//! Names of runs, queries and measures as a page shows them.

use std::fmt::Display;

use super::context::Context;
use super::markup::Elements;
use super::plot::shortened;
use crate::error::printable;
use crate::measure::{Better, Measure};

/// The most columns of a name.
pub const NAME: usize = 40;
/// The most columns of the text of a query in a table.
const TEXT: usize = 160;
/// The most columns of the text of a query in the title of a mark.
const SHORT_TEXT: usize = 60;

/// Returns a name without controls, shortened to [`NAME`] columns.
pub fn name(name: &str) -> String {
    name_in(name, NAME)
}

/// A name of at most some columns.
pub fn name_in(name: &str, columns: usize) -> String {
    shortened(&printable(name.as_bytes()), columns)
}

/// Writes a name in an element that isolates its text direction. A shortened name has the whole
/// name as its title.
pub fn write_name(page: &mut Elements, name: &str, columns: usize) {
    let (whole, short) = (printable(name.as_bytes()), name_in(name, columns));
    let titled: &[(&'static str, &dyn Display)] = &[("title", &whole)];
    page.line("bdi", if whole == short { &[] } else { titled }, short);
}

/// The id of a query, and its text if that is known.
pub fn query(id: &[u8], context: &Context) -> String {
    let short = shortened(&printable(id), NAME);
    match text(id, context) {
        Some(text) => format!("{short}: {}", shortened(&text, SHORT_TEXT)),
        None => short,
    }
}

/// Writes the id of a query, and its text if that is known.
pub fn write_query(page: &mut Elements, id: &[u8], context: &Context) {
    page.line("bdi", &[], shortened(&printable(id), NAME));
    if let Some(text) = text(id, context) {
        page.text(": ");
        page.line("bdi", &[("class", &"text")], shortened(&text, TEXT));
    }
}

fn text(id: &[u8], context: &Context) -> Option<String> {
    context.titles.get(id).map(|text| printable(text.as_bytes()))
}

/// Returns a measure with an arrow: ↑ if higher is better, ↓ if lower is better.
pub fn heading(measure: &Measure) -> String {
    match measure.definition().better {
        Better::Higher => format!("{measure}\u{a0}↑"),
        Better::Lower => format!("{measure}\u{a0}↓"),
        Better::Neither => measure.to_string(),
    }
}

/// The direction in which a measure is better.
pub fn direction(measure: &Measure) -> &'static str {
    match measure.definition().better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither higher nor lower is better",
    }
}

/// The least and the largest value of a measure, for the ends of axes.
pub fn bounds(measure: &Measure) -> [f64; 2] {
    let (least, most) = measure.range().bounds();
    // 0 is on the axis also where the least value is a little more.
    [least.min(0.0), most]
}
