//! The formats of judgments and runs: how a format is recognised, and how rows are read.
//!
//! ```text
//! tell      recognises the format of a text by its first lines
//! names     finds the columns or keys that are read
//! made      rows that are made of another format, a line each
//! json      objects of queries with objects of documents
//! records   objects that are a judgment or a result
//! letor     judgments among features, and files of scores
//! npy       matrices of NumPy
//! options   how messages write options
//! ranked    tables whose ranks do not stand right behind the documents
//! preview   the first rows of a text, to look at
//! ```
//!
//! TREC text and tables (see `scan` and `table`) are read as they lie. Other formats are turned into lines while they are read, and these
//! lines are read like compressed text: by blocks, while another thread works on the rows.

pub(super) mod json;
pub(super) mod letor;
pub(super) mod made;
pub(super) mod names;
pub(super) mod npy;
pub(super) mod options;
pub(super) mod preview;
pub(super) mod ranked;
pub(super) mod records;
pub(super) mod tell;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::reader::RankColumn;
use super::table::{Separator, Table, Value};
use super::tables;
use letor::Letor;
use made::{Lines, MadeText, MakeRows};
pub use names::ColumnNames;
use npy::Npy;
pub use options::OptionStyle;
use records::Keys;

/// A format of judgments and runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputFormat {
    /// Lines of `query iter docno grade`, or of `query iter docno rank score tag`, perhaps without a tag.
    Trec,
    /// A table with tabs between its columns, perhaps with a header.
    Tsv,
    /// A table with commas between its columns, perhaps with a header.
    Csv,
    /// Lines of `query document rank`, with tabs or blanks between them: the score is −rank.
    Msmarco,
    /// `{"query": {"document": number, …}, …}`, or an array of records.
    Json,
    /// A record on each line, as `{"query_id": "q1", "doc_id": "d7", "score": 0.5}`.
    Jsonl,
    /// Judgments as lines of `grade qid:query feature:value … # document`; and for runs a score on each line, in the order of these.
    Letor,
    /// A matrix of NumPy, of grades or of scores: a row for each query, a column for each document, both numbered from 1.
    Npy,
    /// A table of Parquet, for which [`Join::tables`](crate::ingest::Join::tables) has a reader.
    Parquet,
    /// A table of Arrow, a file or a stream, for which [`Join::tables`](crate::ingest::Join::tables) has a reader.
    Arrow,
}

impl InputFormat {
    /// All formats, with their names.
    pub const ALL: [(&'static str, InputFormat); 10] = [
        ("trec", InputFormat::Trec),
        ("tsv", InputFormat::Tsv),
        ("csv", InputFormat::Csv),
        ("msmarco", InputFormat::Msmarco),
        ("json", InputFormat::Json),
        ("jsonl", InputFormat::Jsonl),
        ("letor", InputFormat::Letor),
        ("npy", InputFormat::Npy),
        ("parquet", InputFormat::Parquet),
        ("arrow", InputFormat::Arrow),
    ];

    /// The format of a file of tables that begins with `start`.
    #[doc(hidden)]
    pub fn of_tables(start: &[u8]) -> Option<Self> {
        match start {
            [b'P', b'A', b'R', b'1', ..] if start.contains(&0) => Some(InputFormat::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
                Some(InputFormat::Arrow)
            }
            _ => None,
        }
    }

    /// The name of a format of tables, for messages.
    pub(super) fn name_of_tables(self) -> &'static str {
        if self == InputFormat::Parquet { "Parquet" } else { "Arrow" }
    }
}

named!(InputFormat, "an input format");

/// The settings for reading judgments or runs where their content does not decide.
///
/// ```
/// use laneval::{Input, Join, Qrels, ReadAs};
///
/// let run = Input::Bytes { name: "run".into(), bytes: b"q1\td7\t0.5\nq1\td9\t2.5\n".into() };
/// let qrels = Qrels::new([("q1", "d7", 1.0)])?;
/// let error = Join::default().runs(&qrels, [run.clone()]).unwrap_err(); // three columns, and no header
/// assert!(error.to_string().contains("--columns query,doc,score"));
/// let runs_as = ReadAs { columns: Some("query,doc,score".parse()?), ..ReadAs::default() };
/// let matrix = Join { runs_as, ..Join::default() }.runs(&qrels, [run])?;
/// assert_eq!(matrix.depths(), [2]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadAs {
    /// The format. By default the content decides.
    pub format: Option<InputFormat>,
    /// The columns of tables and the keys of records that are read. By default their names decide.
    pub columns: Option<ColumnNames>,
    /// The file that says how many lines each query has, for LETOR judgments without `qid`. By default it has the path of the judgments
    /// with `.query` or `.group` behind it.
    pub groups: Option<PathBuf>,
    /// The way messages write the options that they name.
    pub options: OptionStyle,
}

impl ReadAs {
    /// The format of tables, if a file that begins with `start` is read as one.
    pub(super) fn tables(&self, start: &[u8]) -> Option<InputFormat> {
        match self.format {
            None => InputFormat::of_tables(start),
            format => format.filter(|format| matches!(format, InputFormat::Parquet | InputFormat::Arrow)),
        }
    }
}

/// The format of a text, and how its rows are read.
#[derive(Debug)]
pub(super) struct Form {
    pub shape: Shape,
    /// The format that was recognised, in words.
    pub what: String,
    /// Whether a note should be given, because the text might be something else.
    pub doubtful: bool,
}

/// The way rows are read.
#[derive(Debug)]
pub(super) enum Shape {
    /// Lines of TREC.
    Trec,
    /// A table, read as it lies.
    Table(Table),
    /// Rows that are made of another format.
    Made(Made),
    /// Rows that were read as columns.
    Columns(Box<dyn tables::Table>),
}

impl Form {
    /// The form of TREC text.
    pub fn trec() -> Self {
        Form { shape: Shape::Trec, what: "TREC text".to_owned(), doubtful: false }
    }

    /// The table that the text is, or that is made of it.
    pub fn table(&self) -> Option<&Table> {
        match &self.shape {
            Shape::Trec | Shape::Columns(_) => None,
            Shape::Table(table) | Shape::Made(Made { table, .. }) => Some(table),
        }
    }

    /// The maker of the rows, if they are made of another format.
    pub fn made(&self) -> Option<&Made> {
        match &self.shape {
            Shape::Made(made) => Some(made),
            _ => None,
        }
    }

    /// The columns, if the rows are columns.
    pub fn columns(&self) -> Option<&dyn tables::Table> {
        match &self.shape {
            Shape::Columns(table) => Some(&**table),
            _ => None,
        }
    }

    /// Whether rows have judges or subtopics, if these were asked for.
    pub fn has_groups(&self) -> bool {
        match &self.shape {
            Shape::Trec | Shape::Columns(_) => true,
            Shape::Table(table) | Shape::Made(Made { table, .. }) => table.group.is_some(),
        }
    }

    /// The properties of these judgments that a run without ids needs.
    pub fn partner(&self) -> Option<&Partner> {
        self.made().and_then(Made::partner)
    }

    /// Changes the form so that ranks order equal scores: if the ranks of a table do not stand right behind the documents, its rows are
    /// made anew.
    pub fn ordered_by_ranks(self) -> Self {
        match self.shape {
            Shape::Table(table) if matches!(table.rank_column(), RankColumn::At(..)) => {
                let options = table.options;
                let made = Table { options, ..Table::made_with_ranks(table.value, &table.shape) };
                let made = Made { of: Of::Table(table), table: made, lines: Arc::default() };
                Form { shape: Shape::Made(made), ..self }
            }
            shape => Form { shape, ..self },
        }
    }

    /// Drops what comes before the rows, which was read already.
    pub fn without_header(mut self) -> Self {
        if let Shape::Table(table) = &mut self.shape {
            table.skip = 0;
        }
        self
    }

    /// Returns the lines that are read of a text: its own, or the lines that are made of it.
    pub fn rows<'a>(&'a self, text: Box<dyn Read + Send + 'a>) -> io::Result<Box<dyn Read + Send + 'a>> {
        match self.made() {
            None => Ok(text),
            Some(made) => Ok(Box::new(made.of(text)?)),
        }
    }

    /// Returns the line of the text to which the line `line` that is read belongs.
    pub fn line(&self, line: u64) -> u64 {
        self.made().map_or(line, |made| made.lines.lock().unwrap_or_else(PoisonError::into_inner).of(line))
    }
}

/// The formats that were recognised, roughly in the order in which texts were opened.
///
/// ```
/// use std::sync::Arc;
/// use laneval::{Join, Recognised};
/// let recognised = Arc::new(Recognised::default());
/// let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// join.qrels("examples/data/formats/qrels.tsv")?;
/// assert_eq!(recognised.all()[0].what, "TSV with a header: query-id, corpus-id, score");
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Recognised(Mutex<Vec<RecognisedText>>);

/// The format of a text, as it was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecognisedText {
    /// The name of the text in messages.
    pub name: String,
    /// The format, in words.
    pub what: String,
    /// Whether the text might be something else, so that the user should be told.
    pub doubtful: bool,
    /// Whether it probably is something else, so that numbers are wrong.
    pub wrong: bool,
}

impl Recognised {
    pub(super) fn add(&self, name: &str, form: &Form) {
        let (what, doubtful) = (form.what.clone(), form.doubtful);
        self.push(RecognisedText { name: name.to_owned(), what, doubtful, wrong: false });
    }

    /// Adds a text, called `name`, that probably is something else; `what` says why.
    pub(super) fn doubt(&self, name: &str, what: String) {
        self.push(RecognisedText { name: name.to_owned(), what, doubtful: true, wrong: true });
    }

    fn push(&self, text: RecognisedText) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Returns all texts, each once.
    pub fn all(&self) -> Vec<RecognisedText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Rows that are made of another format.
#[derive(Debug)]
pub(super) struct Made {
    of: Of,
    /// The table of the rows.
    pub table: Table,
    /// The lines of the text from which rows were made the last time.
    lines: Arc<Mutex<Lines>>,
}

/// The judgments that runs without ids of their own belong to.
#[derive(Debug, Clone)]
pub(super) enum Partner {
    /// A text, whose lines give the documents that a file of scores has the scores of.
    Letor(Letor),
    /// A matrix with its name; the matrix of the scores has the same shape.
    Matrix(String, Npy),
}

/// The text that rows are made of.
#[derive(Debug)]
enum Of {
    /// Objects of objects; the text is what their numbers are called.
    Objects(&'static str),
    RecordLines(Keys, &'static str),
    RecordArray(Keys, &'static str),
    /// A table with ranks.
    Table(Table),
    /// Judgments in LETOR or in a matrix.
    Judgments(Partner),
    Scores(Letor),
    /// A matrix of scores.
    Matrix(Npy),
}

impl Made {
    fn new(of: Of, value: Value, shape: &str) -> Self {
        let table = match &of {
            Of::RecordLines(keys, _) | Of::RecordArray(keys, _) if keys.have_rank() => {
                Table::made_with_ranks(value, shape)
            }
            Of::RecordLines(keys, _) | Of::RecordArray(keys, _) if keys.have_group() => {
                Table::made_with_groups(value, shape)
            }
            _ => Table::made(value, shape),
        };
        Made { of, table, lines: Arc::default() }
    }

    /// Returns the rows of a text as lines.
    pub fn of<'a>(&'a self, text: Box<dyn Read + Send + 'a>) -> io::Result<MadeText<'a>> {
        let maker: Box<dyn MakeRows + 'a> = match &self.of {
            Of::Objects(number) => Box::new(json::Objects::new(number)),
            Of::RecordLines(keys, number) => Box::new(records::RecordLines::new(keys.clone(), number)),
            Of::RecordArray(keys, number) => Box::new(records::RecordArray::new(keys.clone(), number)),
            Of::Table(table) => Box::new(ranked::RankedRows::new(table.clone())),
            Of::Judgments(Partner::Letor(letor)) => Box::new(letor::Judgments::new(letor.groups.clone())),
            Of::Judgments(Partner::Matrix(_, npy)) => Box::new(npy::Cells::new(npy.clone(), "grade")),
            Of::Matrix(npy) => Box::new(npy::Cells::new(npy.clone(), "score")),
            Of::Scores(letor) => Box::new(letor::Scored::new(letor)?),
        };
        Ok(MadeText::new(text, maker, self.lines.clone()))
    }

    /// The judgments, if runs without ids go with them.
    pub fn partner(&self) -> Option<&Partner> {
        match &self.of {
            Of::Judgments(partner) => Some(partner),
            _ => None,
        }
    }
}

impl Separator {
    /// The name of tables with this separator.
    fn table(self) -> &'static str {
        match self {
            Separator::Blanks => "a table with blanks between its columns",
            Separator::Tab => "TSV",
            Separator::Comma => "CSV",
            Separator::Unit => "rows of another format",
        }
    }
}
