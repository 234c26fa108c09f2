//! HTML pages of a comparison or of scores, and single charts. A page is one file with its charts
//! inside, and loads nothing.
//!
//! A page has no script, and its policy allows none. Its bytes follow from its content, and beyond
//! some thousand queries their number does not grow.

mod bars;
mod blocks;
mod compared;
mod context;
mod curves;
mod details;
mod documents;
mod evaluated;
mod facing;
mod glossary;
mod headline;
mod histogram;
pub(super) mod markup;
mod names;
mod page;
mod parts;
mod plot;
mod scale;
mod scatter;
mod series;
mod tables;
mod whiskers;

use std::io::{self, Write};

use crate::compare::comparison::Comparison;
use crate::error::printable;
use crate::measure::Measure;
use crate::report::blocks::ReportBlock;
use crate::scores::Scores;

pub use context::{Context, ReadFile, TopDocument, TopDocuments};
pub use curves::measures as curves;
pub use details::{LostQueries, lost_queries};

/// Writes a comparison as a page.
///
/// # Errors
/// The error of the writer.
pub fn comparison(
    comparison: &Comparison,
    context: &Context,
    to: &mut impl Write,
) -> io::Result<()> {
    write_page(context, to, |page| compared::write(comparison, context, page))
}

/// Writes scores as a page.
///
/// # Errors
/// The error of the writer.
pub fn scores(scores: &Scores, context: &Context, to: &mut impl Write) -> io::Result<()> {
    write_page(context, to, |page| evaluated::write(scores, context, page))
}

/// Writes a report that its writer put together as a page.
///
/// # Errors
/// The error of the writer.
#[doc(hidden)]
pub fn blocks(blocks: &[ReportBlock], context: &Context, to: &mut impl Write) -> io::Result<()> {
    write_page(context, to, |page| blocks::write(blocks, context, page))
}

/// Writes a measure over its cutoffs as an SVG document, one line for each run. [`curves`] names
/// the measures that have several cutoffs.
///
/// # Errors
/// The error of the writer; scores that do not have the measure at several cutoffs
/// ([`io::ErrorKind::InvalidInput`]).
pub fn curve(scores: &Scores, measure: &str, to: &mut impl Write) -> io::Result<()> {
    let Some(chart) = curves::Chart::of(scores, measure, &evaluated::labelled(scores)) else {
        let message =
            format!("there is no curve of {measure}, which was not evaluated at several cutoffs");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    write_document(&chart.document(&page::chart_style()), to)
}

/// Writes the differences of the first measure with their intervals as an SVG document, one row for
/// each pair.
///
/// # Errors
/// The error of the writer.
pub fn forest(comparison: &Comparison, to: &mut impl Write) -> io::Result<()> {
    let style = page::chart_style();
    match compared::with_forest(comparison, 0, |drawn| drawn.document(&style)) {
        Some(document) => write_document(&document, to),
        None => Ok(()),
    }
}

/// Returns the only measure that has several cutoffs.
///
/// # Errors
/// No measure with several cutoffs, or more than one ([`io::ErrorKind::InvalidInput`]).
pub fn only_curve(measures: &[Measure]) -> io::Result<String> {
    let wrong = |found: String| {
        let message = format!(
            "a chart has one measure at three cutoffs or more, such as nDCG@1..50, {found}"
        );
        io::Error::new(io::ErrorKind::InvalidInput, message)
    };
    let mut found = curves(measures);
    match found.len() {
        0 => Err(wrong("which none of the measures is".to_owned())),
        1 => Ok(found.remove(0)),
        _ => Err(wrong(format!("not {}", found.join(" and ")))),
    }
}

fn write_document(document: &markup::Elements, to: &mut impl Write) -> io::Result<()> {
    to.write_all(document.as_str().as_bytes())?;
    to.write_all(b"\n")
}

fn write_page(
    context: &Context,
    to: &mut impl Write,
    body: impl FnOnce(&mut markup::Elements),
) -> io::Result<()> {
    let page = page::page(&printable(context.title.as_bytes()), body);
    to.write_all(b"<!DOCTYPE html>\n")?;
    to.write_all(page.as_str().as_bytes())?;
    to.write_all(b"\n")
}
