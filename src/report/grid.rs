//! A table of text cells in columns under headings, written to fit a terminal. For a terminal,
//! columns are aligned: too wide a grid first shortens names, and then continues below itself. The
//! other forms are Markdown and LaTeX.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::options::ReportOptions;
use super::shorten::{CUT, shorten};

/// The alignment of a table column: left for names, right for numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Flush left, for names.
    Left,
    /// Flush right, for numbers.
    Right,
}

/// A cell of a table: text, whether it is the best or tied with the best, and labels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The text of the cell.
    pub text: String,
    /// Whether the cell is the best of its kind.
    pub best: bool,
    /// Whether the cell is not shown to be worse than the best.
    pub tied: bool,
    /// The labels of the significantly worse runs, or an arrow against a baseline.
    pub labels: Vec<String>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Cell {
    /// Returns the text behind the text of the cell: a star for the best, `=` for a tie with the
    /// best, and labels. Where bold type marks the best, there is no star.
    fn suffix(&self, colour: bool) -> String {
        let mark = match (self.best, self.tied) {
            (true, _) if !colour => "*",
            (false, true) => "=",
            _ => "",
        };
        format!("{mark}{}", superscript(&self.labels))
    }

    /// Drops labels of the cell that have no room, and puts a mark in their place.
    fn keep_labels(&mut self, room: usize) {
        if self.suffix(false).width() <= room {
            return;
        }
        self.labels.push(CUT.to_string());
        while self.suffix(false).width() > room && self.labels.len() > 1 {
            self.labels.remove(self.labels.len() - 2);
        }
    }
}

/// A table of cells in columns under headings, which can be shortened to the width of a terminal.
/// The first column names the rows, and is repeated when the grid continues below itself.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    columns: Vec<GridColumn>,
    rows: Vec<Vec<Cell>>,
    /// Whether the headings of columns are names, which may be shortened.
    names_above: bool,
    /// Whether something was cut.
    cut: bool,
}

#[derive(Debug, Clone)]
struct GridColumn {
    heading: String,
    align: Align,
    /// The width of its widest text below the heading, in columns of the terminal.
    below: usize,
    /// The width of its widest suffix, with stars and without.
    suffix: [usize; 2],
}

impl GridColumn {
    /// Returns whether the column holds numbers under a heading wider than `most`.
    fn has_long_heading(&self, most: usize) -> bool {
        self.align == Align::Right && self.heading.width() > most
    }

    /// Returns the width of the column's widest text, heading included.
    fn width(&self) -> usize {
        self.below.max(self.heading.width())
    }
}

const GAP: &str = "  ";
/// The least width of a name that was shortened.
const LEAST: usize = 12;
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

impl Grid {
    /// Makes a table without rows from the headings and alignments of its columns.
    pub fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        let columns = columns.into_iter().map(|(heading, align)| GridColumn {
            heading,
            align,
            below: 0,
            suffix: [0; 2],
        });
        Self { columns: columns.collect(), ..Self::default() }
    }

    /// Makes a table without rows: a left column of row names, then columns of numbers.
    pub(super) fn of_numbers(names: &str, numbers: impl IntoIterator<Item = String>) -> Self {
        let numbers = numbers.into_iter().map(|heading| (heading, Align::Right));
        Self::new([(names.to_owned(), Align::Left)].into_iter().chain(numbers))
    }

    /// Marks the headings of the table as names of runs, so that a narrow terminal shortens the
    /// names.
    pub fn with_name_headings(self) -> Self {
        Self { names_above: true, ..self }
    }

    /// Adds a row to the table, one cell for each column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.below = column.below.max(cell.text.width());
            for colour in [false, true] {
                let suffix = &mut column.suffix[usize::from(colour)];
                *suffix = (*suffix).max(cell.suffix(colour).width());
            }
        }
        self.rows.push(row);
    }

    /// Returns the number of blocks of columns into which the table is split to fit the terminal.
    pub fn blocks(&self, options: &ReportOptions) -> usize {
        let grid = self.fitted(options);
        grid.split(&grid.widths(options), options).len()
    }

    /// Returns whether a cell of the table is marked as the best of its kind.
    pub(super) fn has_best(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.best)
    }

    /// Writes the table as aligned text, split into blocks of columns and shortened to fit the
    /// terminal.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
        let grid = self.fitted(options);
        let widths = grid.widths(options);
        for (number, columns) in grid.split(&widths, options).iter().enumerate() {
            if number > 0 {
                writeln!(to)?;
            }
            grid.block(columns, &widths, options, to)?;
        }
        if grid.cut {
            writeln!(
                to,
                "\n{CUT} is what was cut to fit the terminal: a file or a pipe has all of it."
            )?;
        }
        Ok(())
    }

    /// Returns the table with names short enough for the terminal. The grid becomes one block if
    /// names down to a quarter of the width make room for one block. Otherwise names take at most
    /// two fifths of the width.
    fn fitted(&self, options: &ReportOptions) -> Cow<'_, Self> {
        let width = options.width.filter(|&most| total(&self.widths(options)) > most);
        let Some(most) = width else { return Cow::Borrowed(self) };
        // The widest limit that fits is taken, because names lose least under it.
        let limit = (LEAST.max(most / 4)..most)
            .rev()
            .find(|&limit| total(&self.widths_with(limit, options)) <= most)
            .unwrap_or(LEAST.max(most * 2 / 5));
        Cow::Owned(self.shortened(limit, most, options))
    }

    /// Returns the width of each column if names are shortened to `limit` columns of text.
    fn widths_with(&self, limit: usize, options: &ReportOptions) -> Vec<usize> {
        let widths = self.columns.iter().enumerate().map(|(at, column)| {
            let heading = column.heading.width();
            let text = match column.align {
                Align::Left => heading.max(column.below.min(limit)),
                Align::Right if self.names_above => column.below.max(heading.min(limit)),
                Align::Right => column.width(),
            };
            text + self.suffix(at, options)
        });
        widths.collect()
    }

    /// Returns the table with names of at most `limit` columns of text, and no cell too wide for
    /// `most`.
    fn shortened(&self, limit: usize, most: usize, options: &ReportOptions) -> Self {
        let first = self.widths_with(limit, options).first().copied().unwrap_or(0);
        let room = most.saturating_sub(first + GAP.len()).max(LEAST);
        let above = if self.names_above { limit.min(room) } else { room };
        let headings: Vec<&str> =
            self.columns.iter().map(|column| column.heading.as_str()).collect();
        let short = shorten(&headings, above);
        let headings = self.columns.iter().zip(&short).map(|(column, short)| {
            let heading = if column.has_long_heading(above) { short } else { &column.heading };
            (heading.clone(), column.align)
        });
        let mut grid = Self { names_above: self.names_above, ..Self::new(headings) };
        let mut rows = self.rows.clone();
        for (at, column) in self.columns.iter().enumerate() {
            if column.align == Align::Left && column.below > limit {
                let names: Vec<&str> = self.rows.iter().map(|row| row[at].text.as_str()).collect();
                let short = shorten(&names, limit);
                rows.iter_mut().zip(short).for_each(|(row, short)| row[at].text = short);
            }
        }
        for row in &mut rows {
            let labelled =
                row.iter_mut().zip(&self.columns).filter(|(cell, _)| !cell.labels.is_empty());
            labelled.for_each(|(cell, column)| cell.keep_labels(room.saturating_sub(column.below)));
        }
        rows.into_iter().for_each(|row| grid.push(row));
        grid.cut = grid.rows != self.rows
            || self.columns.iter().any(|column| column.has_long_heading(above));
        grid
    }

    /// Returns the width that a column reserves for stars and labels behind its numbers.
    fn suffix(&self, column: usize, options: &ReportOptions) -> usize {
        self.columns[column].suffix[usize::from(options.colour)]
    }

    fn widths(&self, options: &ReportOptions) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        columns.map(|(at, column)| column.width() + self.suffix(at, options)).collect()
    }

    /// Splits the columns of the table into blocks that fit the terminal, each with the first
    /// column.
    fn split(&self, widths: &[usize], options: &ReportOptions) -> Vec<Vec<usize>> {
        let most = options.width.unwrap_or(usize::MAX);
        let (mut blocks, mut used) = (vec![vec![0]], widths.first().copied().unwrap_or(0));
        for (column, width) in widths.iter().enumerate().skip(1) {
            // A block has at least one column beside the first, however narrow the terminal:
            // otherwise no column would ever fit.
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
        let headings: Vec<Cell> =
            self.columns.iter().map(|column| column.heading.as_str().into()).collect();
        writeln!(to, "{}", self.line(&headings, columns, widths, options))?;
        let total = columns.iter().map(|&column| widths[column] + GAP.len()).sum::<usize>();
        writeln!(to, "{}", "─".repeat(total - GAP.len()))?;
        for row in &self.rows {
            writeln!(to, "{}", self.line(row, columns, widths, options))?;
        }
        Ok(())
    }

    /// Returns some cells of a row of the table as one line of aligned text.
    fn line(
        &self,
        row: &[Cell],
        columns: &[usize],
        widths: &[usize],
        options: &ReportOptions,
    ) -> String {
        let cells = columns.iter().map(|&at| self.cell(&row[at], at, widths[at], options));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
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

    /// Returns the headings of the table with their alignments, for Markdown, LaTeX and HTML.
    pub(super) fn headings(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&str, Align)> + ExactSizeIterator {
        self.columns.iter().map(|column| (column.heading.as_str(), column.align))
    }

    /// Returns the rows of the table as cells, for Markdown, LaTeX and HTML.
    pub(super) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }
}

/// Returns the width of a line of columns with the gaps between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// Returns labels of a table cell as raised letters or numbers of Unicode. Unicode has no raised q.
pub(super) fn superscript(labels: &[String]) -> String {
    const PLAIN: &str = "0123456789abcdefghijklmnoprstuvwxyz";
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ";
    let plain = joined(labels, "·");
    let raised = plain.chars().map(|letter| {
        let mut pairs = PLAIN.chars().zip(RAISED.chars());
        pairs.find(|(plain, _)| *plain == letter).map_or(letter, |(_, raised)| raised)
    });
    raised.collect()
}

/// Joins labels of a table cell into one text, with `apart` between numbers.
pub(super) fn joined(labels: &[String], apart: &str) -> String {
    let numbers =
        labels.iter().any(|label| label.starts_with(|first: char| first.is_ascii_digit()));
    labels.join(if numbers { apart } else { "" })
}
