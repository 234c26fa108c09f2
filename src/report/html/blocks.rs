//! The HTML page of a report that is put together from headings, sentences and tables.

use super::context::PageContext;
use super::markup::Elements;
use super::page::{note, row, section, table};
use super::parts::{definitions, footer, inputs};
use crate::report::blocks::ReportBlock;
use crate::report::grid::{Align, Grid};
use crate::report::run_name::visible;

/// The most columns whose cells are flush left, by the style of pages.
const WORDS: usize = 3;

pub fn write(blocks: &[ReportBlock], context: &PageContext, page: &mut Elements) {
    page.line("h1", &[], visible(context.title));
    for block in blocks {
        match block {
            ReportBlock::Section(text) => page.line("h2", &[], text),
            ReportBlock::Heading(text) => page.line("h3", &[], text),
            ReportBlock::Text(text) => page.line("p", &[], text),
            ReportBlock::Note(text) => note(page, text),
            ReportBlock::Table(grid) => cells(page, grid),
        }
    }
    section(page, "settings", "Settings", |page| {
        definitions(page, &[], context);
        inputs(page, context);
    });
    footer(page, context);
}

/// Writes a table of a report as HTML, with the first column as headings of the rows.
fn cells(page: &mut Elements, grid: &Grid) {
    let headings: Vec<&str> = grid.headings().map(|(heading, _)| heading).collect();
    let words =
        grid.headings().rposition(|(_, align)| align == Align::Left).map_or(0, |last| last + 1);
    table(page, words.min(WORDS), &headings, |page| {
        for cells in grid.rows() {
            // A row without a name, such as the sum in the last row, gets no heading cell, because
            // an empty heading would tell a reader nothing.
            let named = cells.first().filter(|name| !name.text.is_empty());
            let texts =
                cells.iter().skip(usize::from(named.is_some())).map(|cell| cell.text.clone());
            let texts: Vec<String> = texts.collect();
            match named {
                Some(name) => row(page, |page| page.text(&name.text), &texts),
                None => page.element("tr", &[], |page| {
                    texts.iter().for_each(|text| page.line("td", &[], text))
                }),
            }
        }
    });
}
