//! Reports put together from headings, sentences and tables, written as Markdown;
//! [`html::blocks`](super::html::blocks) makes an HTML page.

use std::io::{self, Write};

use super::grid::Grid;
use super::markup::Markup;

/// A heading, text, remark or table of a report. Its text is plain: writers escape any markup in
/// the text.
#[derive(Debug, Clone)]
pub enum ReportBlock {
    /// The heading of a section.
    Section(String),
    /// A heading inside of a section.
    Heading(String),
    /// A sentence or more.
    Text(String),
    /// A remark in small type.
    Note(String),
    /// A table.
    Table(Grid),
}

/// Writes headings, texts and tables of a report as Markdown, with sections at the second level.
///
/// # Errors
/// The error of the writer.
pub fn markdown(blocks: &[ReportBlock], to: &mut impl Write) -> io::Result<()> {
    let markup = Markup::Markdown;
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            writeln!(to)?;
        }
        match block {
            ReportBlock::Section(text) => writeln!(to, "## {}", heading(text))?,
            ReportBlock::Heading(text) => writeln!(to, "### {}", heading(text))?,
            ReportBlock::Text(text) => writeln!(to, "{}", markup.escaped(text))?,
            ReportBlock::Note(text) => writeln!(to, "<sub>{}</sub>", markup.escaped(text))?,
            ReportBlock::Table(grid) => markup.write(grid, "", to)?,
        }
    }
    Ok(())
}

/// Returns the text of a heading with Markdown markup escaped.
fn heading(text: &str) -> String {
    // Number signs at the end of a heading would be its end.
    Markup::Markdown.escaped(text).replace('#', "\\#")
}
