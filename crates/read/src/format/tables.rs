//! Files of tables such as Parquet: the request to a reader in another crate, and the reader's
//! answer.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::fields::{self, Lacking};
use super::lists::wrong_lengths;
pub use super::names::Missing;
use super::names::{
    CellShape, ChosenColumns, ChosenLists, ChosenRows, ColumnNames, NotChosen, choose_rows,
    in_order,
};
use super::span_columns::{at, span_columns};
use crate::columns::{Judgments, Records};
use crate::error::{Problem, Problems};
use crate::format::InputFormat;
use crate::format::opened::Opened;
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::{quoted, whole_file};
use crate::lines::layout::NumberKind;
use crate::lines::options::OptionStyle;
use crate::lines::shape::Role;

/// A reader of files of tables, for `Join::tables`: the crate
/// `laneval-formats` has one.
pub trait TableReader: fmt::Debug + Sync {
    /// Reads a file.
    ///
    /// # Errors
    /// The defect of the file.
    fn read(&self, file: TableFile<'_>) -> Result<Box<dyn Table>, WrongTable>;
}

/// Rows that another crate holds as columns.
pub trait Table: fmt::Debug + Send + Sync {
    /// The names of the columns of queries, documents, and numbers or ranks.
    fn names(&self) -> &[String];

    /// Calls `work` with the rows as results, once.
    fn with_records(&self, work: &mut dyn FnMut(&[Records<'_>]));

    /// Calls `work` with the rows as judgments, once.
    fn with_judgments(&self, work: &mut dyn FnMut(&[Judgments<'_>]));

    /// The queries with an empty list of documents; no row names these queries.
    fn bare_queries(&self) -> &[Vec<u8>];
}

/// A file of tables, and the columns to read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableFile<'a> {
    /// [`InputFormat::Parquet`] or [`InputFormat::Arrow`].
    pub format: InputFormat,
    /// The bytes of the file.
    pub bytes: TableBytes,
    /// The columns to read.
    pub columns: TableColumns<'a>,
}

impl<'a> TableFile<'a> {
    /// Makes a file of tables of these columns.
    pub fn new(format: InputFormat, bytes: TableBytes, columns: TableColumns<'a>) -> Self {
        TableFile { format, bytes, columns }
    }
}

/// The bytes of a file, mapped or in memory.
#[derive(Debug, Clone)]
pub struct TableBytes(FileBytes);

#[derive(Debug, Clone)]
enum FileBytes {
    Lying(Arc<Opened>),
    Decompressed(Arc<Vec<u8>>),
}

impl AsRef<[u8]> for TableBytes {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            FileBytes::Lying(file) => file.content().0,
            FileBytes::Decompressed(bytes) => bytes,
        }
    }
}

impl TableBytes {
    /// Returns the bytes of a file, decompressed.
    pub fn of(file: &Arc<Opened>) -> std::io::Result<Self> {
        if file.content().1.is_none() {
            return Ok(TableBytes(FileBytes::Lying(file.clone())));
        }
        let mut bytes = Vec::new();
        file.text()?.read_to_end(&mut bytes)?;
        Ok(TableBytes(FileBytes::Decompressed(Arc::new(bytes))))
    }
}

/// The columns to read from a table.
#[derive(Debug, Clone, Copy)]
pub struct TableColumns<'a> {
    role: Role,
    by: Option<JudgedBy>,
    given: Option<&'a ColumnNames>,
    ranks: bool,
}

impl<'a> TableColumns<'a> {
    /// The columns of judgments; columns that are not `given` are recognised by their names.
    pub fn of_judgments(given: Option<&'a ColumnNames>) -> Self {
        TableColumns { role: Role::Qrels, by: None, given, ranks: false }
    }

    /// Returns these columns with the column of judges or subtopics, if judgments are read by
    /// facet.
    pub fn with_groups(self, by: Option<JudgedBy>) -> Self {
        TableColumns { by, ..self }
    }

    /// The columns of results; with `ranks`, also ranks beside scores.
    pub fn of_results(given: Option<&'a ColumnNames>, ranks: bool) -> Self {
        TableColumns { role: Role::Run, by: None, given, ranks }
    }

    /// The columns of a role.
    pub fn of(role: Role, given: Option<&'a ColumnNames>, ranks: bool) -> Self {
        TableColumns { role, by: None, given, ranks }
    }

    /// Returns whether the columns are read as judgments.
    pub fn are_judgments(&self) -> bool {
        self.role == Role::Qrels
    }

    /// Returns the places of the columns in a table whose columns have these names.
    ///
    /// ```
    /// use laneval::tables::TableColumns;
    /// let places =
    ///     TableColumns::of_results(None, false).places(&["score", "query-id", "corpus-id"])?;
    /// assert_eq!((places.query, places.doc, places.number), (1, 2, Some(0)));
    /// # Ok::<(), laneval::tables::WrongTable>(())
    /// ```
    ///
    /// # Errors
    /// A needed column that the table lacks.
    pub fn places(&self, names: &[impl AsRef<str>]) -> Result<Places, WrongTable> {
        self.places_with_lists(names, &[])
    }

    /// Returns the places of the columns in a table with columns of these names; `lists` says for
    /// each column whether its cells are lists.
    ///
    /// ```
    /// use laneval::tables::TableColumns;
    /// let names = ["user_input", "retrieved_context_ids", "score"];
    /// let places = TableColumns::of_results(None, false)
    ///     .places_with_lists(&names, &[false, true, false])?;
    /// assert_eq!((places.query, places.doc, places.number), (0, 1, None));
    /// assert!(places.lists.is_some_and(|lists| lists.ranked()));
    /// # Ok::<(), laneval::tables::WrongTable>(())
    /// ```
    ///
    /// # Errors
    /// A needed column that the table lacks.
    pub fn places_with_lists(
        &self,
        names: &[impl AsRef<str>],
        lists: &[bool],
    ) -> Result<Places, WrongTable> {
        if self.by == Some(JudgedBy::Span) {
            return self.places_of_spans(names);
        }
        if self.by == Some(JudgedBy::Preference) {
            return Err(WrongTable::Column("preferences are not read from tables".to_owned()));
        }
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_ref().as_bytes()).collect();
        let ordered = self.given.filter(|given| given.ordered().is_some());
        let chosen = match ordered {
            Some(given) if given.ordered() == Some(names.len()) => {
                in_order(given, self.role, self.by).map_err(WrongTable::Column)?
            }
            Some(given) => {
                let count = given.ordered().unwrap_or(0);
                let message =
                    format!("there are {} columns, and `{given}` names {count}", names.len());
                return Err(WrongTable::Column(message));
            }
            None => {
                let shape = |list: &bool| if *list { CellShape::List } else { CellShape::Single };
                let shapes: Vec<CellShape> = lists.iter().map(shape).collect();
                let chosen = choose_rows(&bytes, &shapes, self.role, self.by, self.given);
                let chosen = chosen.map_err(|wrong| match wrong {
                    NotChosen::Wrong(message) => WrongTable::Column(message),
                    NotChosen::NoNames(missing) | NotChosen::Missing(missing) => {
                        WrongTable::Missing(missing)
                    }
                })?;
                match chosen {
                    ChosenRows::Single(chosen) => chosen,
                    ChosenRows::Lists(ChosenLists { query, docs, numbers, group }) => {
                        let ranked = self.role == Role::Run && (numbers.is_none() || self.ranks);
                        let lists = Some(ListColumns { role: self.role, ranked });
                        return Ok(Places {
                            number: numbers,
                            group,
                            lists,
                            ..Places::of(query, docs)
                        });
                    }
                }
            }
        };
        let ChosenColumns { query, doc, number, value, rank, group } = chosen;
        let (number, rank) = match value {
            NumberKind::Number => (Some(number), rank.filter(|_| self.ranks)),
            _ => (None, Some(number)),
        };
        Ok(Places { number, rank, group, ..Places::of(query, doc) })
    }

    /// Returns the places of the columns of passages.
    fn places_of_spans(&self, names: &[impl AsRef<str>]) -> Result<Places, WrongTable> {
        let columns = span_columns(self.role, self.given);
        let names: Vec<Cow<'_, [u8]>> =
            names.iter().map(|name| Cow::Borrowed(name.as_ref().as_bytes())).collect();
        let found = fields::choose(&names, &columns).map_err(|lacking| {
            let among: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            match lacking {
                Lacking::Given(at, name) => WrongTable::Column(format!(
                    "there is no column `{name}` for the {}: there are {}",
                    columns[at].what,
                    among.join(", ")
                )),
                Lacking::Column(at) => {
                    let known = columns[at].names.to_vec();
                    let what = columns[at].what;
                    WrongTable::Missing(Missing { role: self.role, what, known, among, met: None })
                }
            }
        })?;
        let place = |at: usize| found.get(at).copied().flatten();
        let needed = |at: usize| place(at).unwrap_or_else(|| unreachable!("the column was found"));
        let (number, rank) = (place(at::NUMBER), place(at::RANK));
        Ok(Places {
            number,
            rank: rank.filter(|_| number.is_none()),
            start: place(at::START),
            end: place(at::END),
            length: place(at::LENGTH).filter(|_| place(at::END).is_none()),
            ..Places::of(needed(at::QUERY), needed(at::DOC))
        })
    }
}

/// The places in a table of the columns that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The column of the ids of queries.
    pub query: usize,
    /// The column of the ids of documents.
    pub doc: usize,
    /// The column of the grades or scores; `None` if ranks decide.
    pub number: Option<usize>,
    /// The column of the ranks, if they decide, or are to order equal scores.
    pub rank: Option<usize>,
    /// The column of the judges or subtopics, if judgments are read by them.
    pub group: Option<usize>,
    /// The column of the first positions of passages, if judgments are by span.
    pub start: Option<usize>,
    /// The column of the positions behind their last ones.
    pub end: Option<usize>,
    /// The column of their numbers of positions, in the place of these ends.
    pub length: Option<usize>,
    /// What the lists are, if each row has a list of documents, and perhaps one of grades or
    /// scores.
    pub lists: Option<ListColumns>,
}

/// Columns with a list in each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListColumns {
    role: Role,
    ranked: bool,
}

impl ListColumns {
    /// Whether the places in a list are read as ranks; judgments without grades have grade 1.
    pub fn ranked(&self) -> bool {
        self.ranked
    }

    /// Says that a list of grades or scores has another length than the ids beside it.
    pub fn unlike(&self, ids: usize, numbers: usize) -> String {
        wrong_lengths(ids, numbers, self.role.number())
    }
}

impl Places {
    /// The places of queries and documents alone.
    fn of(query: usize, doc: usize) -> Self {
        let (number, rank, group) = (None, None, None);
        Places {
            query,
            doc,
            number,
            rank,
            group,
            start: None,
            end: None,
            length: None,
            lists: None,
        }
    }

    /// Returns all places, ascending, each once.
    pub fn all(&self) -> Vec<usize> {
        let all = [Some(self.query), Some(self.doc), self.number, self.rank, self.group];
        let mut all: Vec<usize> =
            all.into_iter().chain([self.start, self.end, self.length]).flatten().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the places among only the columns of [`Places::all`].
    pub fn among_all(&self) -> Places {
        let all = self.all();
        let place = |at: usize| all.partition_point(|&of| of < at);
        Places {
            query: place(self.query),
            doc: place(self.doc),
            number: self.number.map(place),
            rank: self.rank.map(place),
            group: self.group.map(place),
            start: self.start.map(place),
            end: self.end.map(place),
            length: self.length.map(place),
            lists: self.lists,
        }
    }
}

/// The reason why a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongTable {
    /// A column named by the user is missing.
    Column(String),
    /// A needed column was found under none of its known names.
    Missing(Missing),
    /// A column of an unsupported type.
    Type(String),
    /// Some rows cannot be read.
    Rows {
        /// The first wrong rows, at most [`Problems::LIMIT`](crate::error::Problems::LIMIT): their
        /// numbers, from 1, and what is wrong.
        first: Vec<(u64, String)>,
        /// The number of problems beyond `first`.
        more: u64,
    },
    /// The file has not the content that its start announces.
    File(String),
}

impl fmt::Display for WrongTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongTable::Column(message) | WrongTable::Type(message) | WrongTable::File(message) => {
                f.write_str(message)
            }
            WrongTable::Missing(missing) => missing.fmt(f),
            WrongTable::Rows { first, more } => {
                let rows: Vec<String> =
                    first.iter().map(|(row, message)| format!("row {row}: {message}")).collect();
                f.write_str(&rows.join("\n"))?;
                if *more > 0 { write!(f, "\n… and {more} more") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for WrongTable {}

impl WrongTable {
    /// The problems of a file called `name`.
    pub fn problems(self, name: &str, options: OptionStyle) -> Problems {
        match self {
            WrongTable::Rows { first, more } => {
                let problem = |(line, message)| Problem { file: name.to_owned(), line, message };
                Problems { first: first.into_iter().map(problem).collect(), more }
            }
            WrongTable::Missing(missing) => whole_file(name, missing.message(options)),
            other => whole_file(name, other.to_string()),
        }
    }
}

/// Calls `work` with a table as results.
pub fn with_records<R>(table: &dyn Table, work: impl FnOnce(&[Records<'_>]) -> R) -> R {
    let (mut work, mut done) = (Some(work), None);
    table.with_records(&mut |batches| {
        if let Some(work) = work.take() {
            done = Some(work(batches));
        }
    });
    done.unwrap_or_else(|| unreachable!("a table lends its rows"))
}

/// Calls `work` with a table as judgments.
pub fn with_judgments<R>(table: &dyn Table, work: impl FnOnce(&[Judgments<'_>]) -> R) -> R {
    let (mut work, mut done) = (Some(work), None);
    table.with_judgments(&mut |batches| {
        if let Some(work) = work.take() {
            done = Some(work(batches));
        }
    });
    done.unwrap_or_else(|| unreachable!("a table lends its rows"))
}
