//! Columns under headings. For a terminal, columns are aligned: too wide a grid first shortens
//! names, and then continues below itself. The other forms are Markdown and LaTeX.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::options::ReportOptions;
use super::shorten::{CUT, shorten};

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
    /// The labels of the significantly worse runs, or an arrow against a baseline.
    pub labels: Vec<String>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }
}

impl Cell {
    /// The text behind the cell's text: a star for the best cell unless bold type marks the best,
    /// `=` for a tie with the best, and labels.
    fn suffix(&self, colour: bool) -> String {
        let mark = match (self.best, self.tied) {
            (true, _) if !colour => "*",
            (false, true) => "=",
            _ => "",
        };
        format!("{mark}{}", superscript(&self.labels))
    }

    /// Keeps the labels with room beside the cell's text, and replaces the remaining labels with a
    /// mark.
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

/// Columns under headings. The first column names the rows, and is repeated when the grid continues
/// below itself.
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
    /// The width of its widest text.
    fn width(&self) -> usize {
        self.below.max(self.heading.width())
    }
}

const GAP: &str = "  ";
/// The least width of a name that was shortened.
const LEAST: usize = 12;
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

impl Grid {
    /// Makes a grid without rows.
    pub fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        let column = |(heading, align): (String, Align)| GridColumn {
            heading,
            align,
            below: 0,
            suffix: [0; 2],
        };
        Grid { columns: columns.into_iter().map(column).collect(), ..Grid::default() }
    }

    /// Marks the headings as names of runs, so that a narrow terminal shortens the names.
    pub fn with_names_above(self) -> Self {
        Grid { names_above: true, ..self }
    }

    /// Adds a row, one cell for each column.
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

    /// The number of blocks into which the grid is split to fit.
    pub fn blocks(&self, options: &ReportOptions) -> usize {
        let grid = self.fitted(options);
        grid.split(&grid.widths(options), options).len()
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

    /// Returns the grid with names short enough for the terminal. The grid becomes one block if
    /// names down to a quarter of the width make room for one block. Otherwise names take at most
    /// two fifths of the width.
    fn fitted(&self, options: &ReportOptions) -> Cow<'_, Grid> {
        let too_wide = |most: &usize| total(&self.widths(options)) > *most;
        let Some(most) = options.width.filter(too_wide) else { return Cow::Borrowed(self) };
        let fits = |&limit: &usize| total(&self.widths_with(limit, options)) <= most;
        let least = LEAST.max(most / 4);
        let limit = (least..most).rev().find(fits).unwrap_or(LEAST.max(most * 2 / 5));
        Cow::Owned(self.shortened(limit, most, options))
    }

    /// The widths of columns with names of at most `limit` columns.
    fn widths_with(&self, limit: usize, options: &ReportOptions) -> Vec<usize> {
        let width = |(at, column): (usize, &GridColumn)| {
            let heading = column.heading.width();
            let text = match column.align {
                Align::Left => heading.max(column.below.min(limit)),
                Align::Right if self.names_above => column.below.max(heading.min(limit)),
                Align::Right => column.width(),
            };
            text + self.suffix(at, options)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    /// The grid with names of at most `limit` columns, and nothing that alone is too wide for
    /// `most`.
    fn shortened(&self, limit: usize, most: usize, options: &ReportOptions) -> Grid {
        let first = self.widths_with(limit, options).first().copied().unwrap_or(0);
        let room = most.saturating_sub(first + GAP.len()).max(LEAST);
        let above = if self.names_above { limit.min(room) } else { room };
        let is_named =
            |column: &GridColumn| column.align == Align::Right && column.heading.width() > above;
        let headings: Vec<&str> =
            self.columns.iter().map(|column| column.heading.as_str()).collect();
        let short = shorten(&headings, above);
        let headings = self.columns.iter().zip(&short).map(|(column, short)| {
            let heading = if is_named(column) { short } else { &column.heading };
            (heading.clone(), column.align)
        });
        let mut grid = Grid { names_above: self.names_above, ..Grid::new(headings) };
        let mut rows = self.rows.clone();
        for (at, column) in
            self.columns.iter().enumerate().filter(|(_, of)| of.align == Align::Left)
        {
            if column.below > limit {
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
        grid.cut = grid.rows != self.rows || self.columns.iter().any(is_named);
        grid
    }

    /// Returns the width of a column's suffixes, reserved to keep digits aligned.
    fn suffix(&self, column: usize, options: &ReportOptions) -> usize {
        self.columns[column].suffix[usize::from(options.colour)]
    }

    fn widths(&self, options: &ReportOptions) -> Vec<usize> {
        let width = |at: usize| self.columns[at].width() + self.suffix(at, options);
        (0..self.columns.len()).map(width).collect()
    }

    /// The columns of each block. The first column is in all blocks.
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
    pub(super) fn headings(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&str, Align)> + ExactSizeIterator {
        self.columns.iter().map(|column| (column.heading.as_str(), column.align))
    }

    /// The rows, for other ways to write a grid.
    pub(super) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }
}

/// The width of columns side by side.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// Labels as raised letters or numbers of Unicode, which has no raised q.
pub(super) fn superscript(labels: &[String]) -> String {
    const PLAIN: &str = "0123456789abcdefghijklmnoprstuvwxyz";
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ";
    let raised = |letter| {
        PLAIN
            .chars()
            .zip(RAISED.chars())
            .find(|(plain, _)| *plain == letter)
            .map_or(letter, |of| of.1)
    };
    joined(labels, "·").chars().map(raised).collect()
}

/// Joins labels into one text; numbers are separated by `apart`.
pub(super) fn joined(labels: &[String], apart: &str) -> String {
    let numbers =
        labels.iter().any(|label| label.starts_with(|first: char| first.is_ascii_digit()));
    labels.join(if numbers { apart } else { "" })
}
