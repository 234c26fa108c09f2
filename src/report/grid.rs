//! Columns under headings. They are aligned for a terminal, and a grid that is too wide continues below itself; or they are written as
//! Markdown or LaTeX.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::options::ReportOptions;

/// The side on which a column's cells are flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Flush left, for names.
    Left,
    /// Flush right, for numbers.
    Right,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The text of the cell.
    pub text: String,
    /// Whether the cell is the best of its kind.
    pub best: bool,
    /// Whether the cell is not shown to be worse than the best.
    pub tied: bool,
    /// The labels of the runs that it is shown to be better than.
    pub labels: Vec<String>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }
}

impl Cell {
    /// The text behind the cell's text: a star if it is the best, unless bold type shows that, `=` if it is tied with the best, and labels.
    fn suffix(&self, colour: bool) -> String {
        let mark = match (self.best, self.tied) {
            (true, _) if !colour => "*",
            (false, true) => "=",
            _ => "",
        };
        format!("{mark}{}", superscript(&self.labels))
    }
}

/// Columns under headings. The first column names the rows, and is repeated when the grid continues below itself.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    columns: Vec<GridColumn>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone)]
struct GridColumn {
    heading: String,
    align: Align,
    /// The width of its widest text, in columns of the terminal.
    width: usize,
    /// The width of its widest suffix, with stars and without.
    suffix: [usize; 2],
}

const GAP: &str = "  ";
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

impl Grid {
    /// Makes a grid without rows.
    pub fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        let column = |(heading, align): (String, Align)| GridColumn {
            width: heading.width(),
            heading,
            align,
            suffix: [0; 2],
        };
        Grid { columns: columns.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row, one cell for each column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.width = column.width.max(cell.text.width());
            for colour in [false, true] {
                let suffix = &mut column.suffix[usize::from(colour)];
                *suffix = (*suffix).max(cell.suffix(colour).width());
            }
        }
        self.rows.push(row);
    }

    /// The number of blocks into which the grid is split to fit.
    pub fn blocks(&self, options: &ReportOptions) -> usize {
        self.split(&self.widths(options), options).len()
    }

    /// Whether a cell is marked as the best of its kind.
    pub(super) fn has_best(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.best)
    }

    /// Writes the grid.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
        let widths = self.widths(options);
        for (number, columns) in self.split(&widths, options).iter().enumerate() {
            if number > 0 {
                writeln!(to)?;
            }
            self.block(columns, &widths, options, to)?;
        }
        Ok(())
    }

    /// The width of the suffixes of a column, so that digits stay below each other.
    fn suffix(&self, column: usize, options: &ReportOptions) -> usize {
        self.columns[column].suffix[usize::from(options.colour)]
    }

    fn widths(&self, options: &ReportOptions) -> Vec<usize> {
        let width = |at: usize| self.columns[at].width + self.suffix(at, options);
        (0..self.columns.len()).map(width).collect()
    }

    /// The columns of each block. The first column is in all blocks.
    fn split(&self, widths: &[usize], options: &ReportOptions) -> Vec<Vec<usize>> {
        let most = options.width.unwrap_or(usize::MAX);
        let (mut blocks, mut used) = (vec![vec![0]], widths.first().copied().unwrap_or(0));
        for (column, width) in widths.iter().enumerate().skip(1) {
            // A block has at least one column beside the first, however narrow the terminal: otherwise no column would ever fit.
            let block = blocks.last().map_or(0, Vec::len);
            if block > 1 && used + GAP.len() + width > most {
                blocks.push(vec![0]);
                used = widths[0];
            }
            blocks.last_mut().into_iter().for_each(|block| block.push(column));
            used += GAP.len() + width;
        }
        blocks
    }

    fn block(
        &self,
        columns: &[usize],
        widths: &[usize],
        options: &ReportOptions,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let line = |cells: Vec<String>| cells.join(GAP).trim_end().to_owned();
        let heading = |&column: &usize| {
            let cell = Cell::from(self.columns[column].heading.as_str());
            self.cell(&cell, column, widths[column], options)
        };
        writeln!(to, "{}", line(columns.iter().map(heading).collect()))?;
        let total = columns.iter().map(|&column| widths[column] + GAP.len()).sum::<usize>();
        writeln!(to, "{}", "─".repeat(total - GAP.len()))?;
        for row in &self.rows {
            let cell = |&column: &usize| self.cell(&row[column], column, widths[column], options);
            writeln!(to, "{}", line(columns.iter().map(cell).collect()))?;
        }
        Ok(())
    }

    fn cell(&self, cell: &Cell, column: usize, width: usize, options: &ReportOptions) -> String {
        let suffix = cell.suffix(options.colour);
        let behind = " ".repeat(self.suffix(column, options) - suffix.width());
        let blank = " ".repeat(width - cell.text.width() - suffix.width() - behind.len());
        let (on, off) = if cell.best && options.colour { BOLD } else { ("", "") };
        match self.columns[column].align {
            Align::Left => format!("{on}{}{off}{suffix}{behind}{blank}", cell.text),
            Align::Right => format!("{blank}{on}{}{off}{suffix}{behind}", cell.text),
        }
    }

    /// The headings with their sides, for other ways to write a grid.
    pub(super) fn headings(&self) -> impl DoubleEndedIterator<Item = (&str, Align)> + ExactSizeIterator {
        self.columns.iter().map(|column| (column.heading.as_str(), column.align))
    }

    /// The rows, for other ways to write a grid.
    pub(super) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }
}

/// Labels as raised letters or numbers of Unicode, which has no raised q.
pub(super) fn superscript(labels: &[String]) -> String {
    const PLAIN: &str = "0123456789abcdefghijklmnoprstuvwxyz";
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ";
    let raised = |letter| {
        PLAIN.chars().zip(RAISED.chars()).find(|(plain, _)| *plain == letter).map_or(letter, |of| of.1)
    };
    joined(labels, "·").chars().map(raised).collect()
}

/// Labels one after the other, separated by `apart` if they are numbers.
pub(super) fn joined(labels: &[String], apart: &str) -> String {
    let numbers = labels.iter().any(|label| label.starts_with(|first: char| first.is_ascii_digit()));
    labels.join(if numbers { apart } else { "" })
}
