//! HTML pages of a comparison or of scores, and single charts as SVG. A page is one file with its
//! charts inside, and loads nothing.
//!
//! A page has no script, and its policy allows none. Its bytes follow from its content, and beyond
//! some thousand queries their number does not grow.

mod bars;
mod blocks;
mod comparison_page;
mod context;
mod curves;
mod details;
mod documents;
mod glossary;
mod headline;
pub(super) mod histogram;
pub(super) mod markup;
mod names;
mod oriented_pair;
mod page;
mod parts;
mod plot;
pub(super) mod scale;
mod scatter;
mod scores_page;
mod series;
mod tables;
mod whiskers;

use std::io::{self, Write};

use crate::compare::comparison::Comparison;
use crate::measure::Measure;
use crate::report::blocks::ReportBlock;
use crate::report::run_name::visible;
use crate::scores::Scores;

pub use context::{PageContext, ReadFile, TopDocument, TopDocuments};
pub use curves::measures as curves;
pub use details::{LostQueries, lost_queries};

/// Writes a comparison of runs as an HTML page.
///
/// # Errors
/// The error of the writer.
pub fn comparison(
    comparison: &Comparison,
    context: &PageContext,
    to: &mut impl Write,
) -> io::Result<()> {
    write_page(context, to, |page| comparison_page::write(comparison, context, page))
}

/// Writes the scores of runs as an HTML page.
///
/// # Errors
/// The error of the writer.
pub fn scores(scores: &Scores, context: &PageContext, to: &mut impl Write) -> io::Result<()> {
    write_page(context, to, |page| scores_page::write(scores, context, page))
}

/// Writes headings, texts and tables of a report as an HTML page.
///
/// # Errors
/// The error of the writer.
#[doc(hidden)]
pub fn blocks(
    blocks: &[ReportBlock],
    context: &PageContext,
    to: &mut impl Write,
) -> io::Result<()> {
    write_page(context, to, |page| blocks::write(blocks, context, page))
}

/// Writes the chart of a measure over its cutoffs as an SVG document, one line for each run.
/// [`curves`] names the measures that have several cutoffs.
///
/// # Errors
/// The error of the writer; scores that do not have the measure at several cutoffs
/// ([`io::ErrorKind::InvalidInput`]).
pub fn curve(scores: &Scores, measure: &str, to: &mut impl Write) -> io::Result<()> {
    let Some(chart) = curves::Chart::new(scores, measure, &scores_page::labelled(scores)) else {
        let message =
            format!("there is no curve of {measure}, which was not evaluated at several cutoffs");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    write_document(&chart.document(&page::chart_style()), to)
}

/// Writes the differences between runs under the first measure, with intervals, as an SVG document.
/// Each pair has a row.
///
/// # Errors
/// The error of the writer.
pub fn forest(comparison: &Comparison, to: &mut impl Write) -> io::Result<()> {
    let style = page::chart_style();
    match comparison_page::with_forest(comparison, 0, |drawn| drawn.document(&style)) {
        Some(document) => write_document(&document, to),
        None => Ok(()),
    }
}

/// Returns the name of the only measure that comes at several cutoffs; an error if there is none,
/// or more than one.
///
/// # Errors
/// No measure with several cutoffs, or more than one ([`io::ErrorKind::InvalidInput`]).
pub fn only_curve(measures: &[Measure]) -> io::Result<String> {
    let mut found = curves(measures);
    let wrong = match found.len() {
        0 => "which none of the measures is".to_owned(),
        1 => return Ok(found.remove(0)),
        _ => format!("not {}", found.join(" and ")),
    };
    let message =
        format!("a chart has one measure at three cutoffs or more, such as nDCG@1..50, {wrong}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn write_document(document: &markup::Elements, to: &mut impl Write) -> io::Result<()> {
    to.write_all(document.as_str().as_bytes())?;
    to.write_all(b"\n")
}

fn write_page(
    context: &PageContext,
    to: &mut impl Write,
    body: impl FnOnce(&mut markup::Elements),
) -> io::Result<()> {
    let page = page::page(&visible(context.title), body);
    to.write_all(b"<!DOCTYPE html>\n")?;
    to.write_all(page.as_str().as_bytes())?;
    to.write_all(b"\n")
}
