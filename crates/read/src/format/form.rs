//! The form of a text: its format, and how its rows are read.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::letor::Letor;
use super::made::{BareQueries, LineOrigins, MadeOf, MadeText};
use super::npy::Npy;
use super::ranked::RanksMoved;
use super::tables;
use crate::lines::layout::{NumberKind, Order, RankColumn, TableLayout};
use crate::lines::separator::Separator;
use crate::lines::shape::Role;

/// The format of a text, and how its rows are read.
#[derive(Debug)]
pub struct Form {
    pub shape: RowShape,
    /// The format that was recognised, in words.
    pub what: String,
    /// Whether a note should be given, because the text might be something else.
    pub doubtful: bool,
}

/// The way rows are read.
#[derive(Debug)]
pub enum RowShape {
    /// Lines of TREC.
    Trec,
    /// A table, read without conversion.
    Table(TableLayout),
    /// Rows converted from a foreign format.
    Made(RowMaker),
    /// Rows of a columnar file.
    Columns(Box<dyn tables::Table>),
}

impl Form {
    /// The form of TREC text.
    pub fn trec() -> Self {
        Form { shape: RowShape::Trec, what: "TREC text".to_owned(), doubtful: false }
    }

    /// The layout of a table, whether the text is a table or is converted to one.
    pub fn table(&self) -> Option<&TableLayout> {
        match &self.shape {
            RowShape::Trec | RowShape::Columns(_) => None,
            RowShape::Table(table) | RowShape::Made(RowMaker { table, .. }) => Some(table),
        }
    }

    /// The maker of the rows, if the rows are converted from another format.
    pub fn made(&self) -> Option<&RowMaker> {
        match &self.shape {
            RowShape::Made(made) => Some(made),
            _ => None,
        }
    }

    /// The columns, if the rows are columns.
    pub fn columns(&self) -> Option<&dyn tables::Table> {
        match &self.shape {
            RowShape::Columns(table) => Some(&**table),
            _ => None,
        }
    }

    /// Whether the text has names of columns or keys.
    pub fn has_names(&self) -> bool {
        match &self.shape {
            RowShape::Trec => false,
            RowShape::Table(_) | RowShape::Columns(_) => true,
            RowShape::Made(made) => made.of.has_names(),
        }
    }

    /// Whether rows have judges or subtopics, if these were asked for.
    pub fn has_groups(&self) -> bool {
        match &self.shape {
            RowShape::Trec | RowShape::Columns(_) => true,
            RowShape::Table(table) | RowShape::Made(RowMaker { table, .. }) => {
                table.group.is_some()
            }
        }
    }

    /// The properties of the judgments that a run without ids needs.
    pub fn partner(&self) -> Option<&Partner> {
        self.made().and_then(RowMaker::partner)
    }

    /// Changes the form to order equal scores by rank. If the ranks of a table do not follow the
    /// documents directly, the rows are converted.
    pub fn ordered_by_ranks(self) -> Self {
        match self.shape {
            RowShape::Table(table) if matches!(table.rank_column(), RankColumn::At(..)) => {
                let options = table.options;
                let made = TableLayout {
                    options,
                    ..TableLayout::made_with_ranks(table.value, &table.shape)
                };
                Form { shape: RowShape::Made(RowMaker::new(RanksMoved(table), made)), ..self }
            }
            shape => Form { shape, ..self },
        }
    }

    /// Drops the part before the rows, because the header was read already.
    pub fn without_header(mut self) -> Self {
        if let RowShape::Table(table) = &mut self.shape {
            table.skip = 0;
        }
        self
    }

    /// Returns the lines to read of a text: its own lines, or the lines made from the text.
    pub fn rows<'a>(
        &'a self,
        text: Box<dyn Read + Send + 'a>,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        match self.made() {
            None => Ok(text),
            Some(made) => Ok(Box::new(made.of(text)?)),
        }
    }

    /// The queries without documents in the text, known once the text was read.
    pub fn bare_queries(&self) -> Vec<Vec<u8>> {
        match &self.shape {
            RowShape::Made(made) => {
                made.bare.lock().unwrap_or_else(PoisonError::into_inner).clone()
            }
            RowShape::Columns(table) => table.bare_queries().to_vec(),
            RowShape::Trec | RowShape::Table(_) => Vec::new(),
        }
    }

    /// Returns the line of the text behind the read line `line`.
    pub fn line(&self, line: u64) -> u64 {
        self.made()
            .map_or(line, |made| made.lines.lock().unwrap_or_else(PoisonError::into_inner).of(line))
    }
}

impl Form {
    /// Returns the sort order of the results.
    pub fn order(&self) -> Order {
        match self.table().map(|table| (table.value, table)) {
            None => Order::Scores { ranks: RankColumn::Behind },
            Some((NumberKind::Number | NumberKind::Letters, table)) => {
                Order::Scores { ranks: table.rank_column() }
            }
            Some((value, table)) => Order::RankScores {
                counted: (value == NumberKind::CountedRank).then_some(table.options),
            },
        }
    }

    /// Describes the expected line, to stand behind a colon.
    pub fn expected(&self, role: Role) -> String {
        match self.table() {
            None => format!(": {}", role.expected()),
            Some(table) => format!(": {}", table.expected()),
        }
    }
}

/// Rows converted from a foreign format.
#[derive(Debug)]
pub struct RowMaker {
    of: Box<dyn MadeOf>,
    /// The table of the rows.
    pub table: TableLayout,
    /// The judgments, for runs without ids of their own.
    partner: Option<Partner>,
    /// The matrix with a cell for each row, if the rows are made from a matrix.
    matrix: Option<Npy>,
    /// The lines of the text from which rows were made the last time.
    lines: Arc<Mutex<LineOrigins>>,
    /// The queries without documents that the text had the last time.
    bare: BareQueries,
}

/// The judgments that runs without ids of their own belong to.
#[derive(Debug, Clone)]
pub enum Partner {
    /// A text, whose lines give the documents that a file of scores has the scores of.
    Letor(Letor),
    /// A matrix with its name; the matrix of the scores has the same shape.
    Matrix(String, Npy),
    /// True neighbours; the found neighbours have equally many rows.
    Neighbours(TruthOfRun),
}

/// True neighbours that found neighbours are read with.
#[derive(Debug, Clone)]
pub struct TruthOfRun {
    /// The name of the text.
    pub name: String,
    /// The number of rows; 0 if it is not known.
    pub rows: u64,
    /// The number of neighbours in a row.
    pub width: u64,
}

impl RowMaker {
    /// The maker of the rows of a table, made of another format.
    pub fn new(of: impl MadeOf + 'static, table: TableLayout) -> Self {
        let (lines, bare) = Default::default();
        RowMaker { of: Box::new(of), table, partner: None, matrix: None, lines, bare }
    }

    /// Marks the rows as the cells of a matrix.
    pub fn with_matrix(self, matrix: Npy) -> Self {
        RowMaker { matrix: Some(matrix), ..self }
    }

    /// Marks the rows as judgments for runs without ids.
    pub fn with_partner(self, partner: Partner) -> Self {
        RowMaker { partner: Some(partner), ..self }
    }

    /// Returns the rows of a text as lines.
    pub fn of<'a>(&'a self, text: Box<dyn Read + Send + 'a>) -> io::Result<MadeText<'a>> {
        self.bare.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(MadeText::new(text, self.of.maker()?, self.lines.clone(), self.bare.clone()))
    }

    /// The matrix with a cell for each row, if the rows are made from a matrix.
    pub fn matrix(&self) -> Option<&Npy> {
        self.matrix.as_ref()
    }

    /// The judgments, for runs without ids of their own.
    pub fn partner(&self) -> Option<&Partner> {
        self.partner.as_ref()
    }
}

impl Separator {
    /// The name of tables with this separator.
    pub fn table(self) -> &'static str {
        match self {
            Separator::Blanks => "a table with blanks between its columns",
            Separator::Tab => "TSV",
            Separator::Comma => "CSV",
            Separator::Unit => "rows of another format",
        }
    }
}
