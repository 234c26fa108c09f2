//! A report that its writer puts together: headings, sentences and grids, as Markdown;
//! [`html::blocks`](super::html::blocks) makes a page.

use std::io::{self, Write};

use super::grid::Grid;
use super::markup::Markup;

/// A part of a report. Its text is plain: writers escape any markup in the text.
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

/// Writes parts of a report as Markdown, whose sections have headings of the second level.
///
/// # Errors
/// The error of the writer.
pub fn markdown(blocks: &[ReportBlock], to: &mut impl Write) -> io::Result<()> {
    let escaped = |text: &str| Markup::Markdown.escaped(text);
    // Number signs at the end of a heading would be its end.
    let heading = |text: &str| escaped(text).replace('#', "\\#");
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            writeln!(to)?;
        }
        match block {
            ReportBlock::Section(text) => writeln!(to, "## {}", heading(text))?,
            ReportBlock::Heading(text) => writeln!(to, "### {}", heading(text))?,
            ReportBlock::Text(text) => writeln!(to, "{}", escaped(text))?,
            ReportBlock::Note(text) => writeln!(to, "<sub>{}</sub>", escaped(text))?,
            ReportBlock::Table(grid) => Markup::Markdown.write(grid, "", to)?,
        }
    }
    Ok(())
}
