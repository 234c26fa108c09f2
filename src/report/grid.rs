//! Aligned columns: a heading, a rule, rows; too wide a grid continues below itself.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::Options;

/// On which side a column's cells are flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// Is it the best of its kind?
    pub best: bool,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.into(), best: false }
    }
}

/// Columns under headings. The first column names the rows, and is repeated where the grid continues below itself.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone)]
struct Column {
    heading: String,
    align: Align,
    /// The columns of its widest cell.
    width: usize,
    /// Is one of its cells the best?
    marked: bool,
}

const GAP: &str = "  ";
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

impl Grid {
    /// A grid without rows.
    pub fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        let column = |(heading, align): (String, Align)| Column {
            width: heading.width(),
            heading,
            align,
            marked: false,
        };
        Grid { columns: columns.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row, a cell a column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.width = column.width.max(cell.text.width());
            column.marked |= cell.best;
        }
        self.rows.push(row);
    }

    /// How many times the grid has to start anew to fit.
    pub fn blocks(&self, options: &Options) -> usize {
        self.split(&self.widths(options), options).len()
    }

    /// Writes the grid.
    ///
    /// # Errors
    /// What the writer refuses.
    pub fn write(&self, options: &Options, to: &mut impl Write) -> io::Result<()> {
        let widths = self.widths(options);
        for (number, columns) in self.split(&widths, options).iter().enumerate() {
            if number > 0 {
                writeln!(to)?;
            }
            self.block(columns, &widths, options, to)?;
        }
        Ok(())
    }

    /// Does a column carry stars? Then its other cells carry a blank, so that the digits stay below each other.
    fn starred(&self, column: usize, options: &Options) -> bool {
        !options.colour && self.columns[column].marked
    }

    fn widths(&self, options: &Options) -> Vec<usize> {
        let width = |at: usize| self.columns[at].width + usize::from(self.starred(at, options));
        (0..self.columns.len()).map(width).collect()
    }

    /// The columns of each block, the first column being in all of them.
    fn split(&self, widths: &[usize], options: &Options) -> Vec<Vec<usize>> {
        let most = options.width.unwrap_or(usize::MAX);
        let (mut blocks, mut used) = (vec![vec![0]], widths.first().copied().unwrap_or(0));
        for (column, width) in widths.iter().enumerate().skip(1) {
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
        options: &Options,
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

    fn cell(&self, cell: &Cell, column: usize, width: usize, options: &Options) -> String {
        let mark = match (self.starred(column, options), cell.best) {
            (true, true) => "*",
            (true, false) => " ",
            _ => "",
        };
        let blank = " ".repeat(width - cell.text.width() - mark.len());
        let (on, off) = if cell.best && options.colour { BOLD } else { ("", "") };
        match self.columns[column].align {
            Align::Left => format!("{on}{}{off}{mark}{blank}", cell.text),
            Align::Right => format!("{blank}{on}{}{off}{mark}", cell.text),
        }
    }
}
