//! Columnar files such as Parquet: the request to a reader in another crate, and the reader's
//! answer.

use std::{borrow::Cow, fmt, sync::Arc};

pub use super::names::MissingColumn;
use super::{
    fields::{self, NamedColumn},
    json::lists::wrong_lengths,
    names::{
        CellShape, ChosenRows, ColumnChoiceError, ColumnNames, choose_rows, document_keys,
        in_order, no_column, quoted_all,
    },
    read_options::ReadOptions,
    span_columns::{at, span_columns},
};
use crate::columns::{QrelsColumns, RunColumns};
use crate::error::Problems;
use crate::format::{InputFormat, open_input::OpenInput};
use crate::judged_by::FacetKind;
use crate::lines::{
    diagnostics::whole_file, grade_words::GradeWords, layout::NumberKind, options::OptionStyle,
    shape::Role,
};

/// A reader of Parquet and Arrow files, for `Join::tables`: the crate `laneval-formats` has one.
pub trait TableReader: fmt::Debug + Sync {
    /// Reads the requested columns of a Parquet or Arrow file.
    ///
    /// # Errors
    /// The defect of the file.
    fn read(&self, file: TableFile<'_>) -> Result<Box<dyn Table>, TableError>;
}

/// The rows of a Parquet or Arrow file, which a reader in another crate holds as columns.
pub trait Table: fmt::Debug + Send + Sync {
    /// Returns the names of the columns that are read, for messages: query, facet if any, document,
    /// and number or rank. Columns of positions are left out.
    fn names(&self) -> &[String];

    /// Calls `work` once with the rows of the table as results of a run.
    fn with_records(&self, work: &mut dyn FnMut(&[RunColumns<'_>]));

    /// Calls `work` once with the rows of the table as judgments.
    fn with_judgments(&self, work: &mut dyn FnMut(&[QrelsColumns<'_>]));

    /// Returns whether the rows are judgments without grades, of a document each.
    fn is_ungraded(&self) -> bool;

    /// Returns the queries to which the table gives an empty list of documents, and so no row.
    fn bare_queries(&self) -> &[Vec<u8>];
}

/// A Parquet or Arrow file, and the columns to read: the request to a table reader.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableFile<'a> {
    /// [`InputFormat::Parquet`] or [`InputFormat::Arrow`].
    pub format: InputFormat,
    /// The bytes of the file; of a folder that is one table, those of its first file.
    pub bytes: TableBytes,
    /// The columns to read.
    pub columns: TableColumns<'a>,
    /// The names and the bytes of all files of a folder that is one table; none for a file.
    pub parts: Vec<(String, TableBytes)>,
}

impl<'a> TableFile<'a> {
    /// Makes the request to read the given columns of an opened Parquet or Arrow file, or of a folder
    /// of such files.
    pub fn open(
        format: InputFormat,
        file: &Arc<OpenInput>,
        columns: TableColumns<'a>,
    ) -> std::io::Result<Self> {
        let parts = file
            .parts
            .iter()
            .map(|part| TableBytes::new(part).map(|bytes| (part.name.clone(), bytes)));
        let parts = parts.collect::<std::io::Result<_>>()?;
        Ok(Self { format, bytes: TableBytes::new(file)?, columns, parts })
    }
}

/// The bytes of a Parquet or Arrow file, mapped or in memory.
#[derive(Debug, Clone)]
pub struct TableBytes(FileBytes);

#[derive(Debug, Clone)]
enum FileBytes {
    Borrowed(Arc<OpenInput>),
    Decompressed(Arc<Vec<u8>>),
}

impl AsRef<[u8]> for TableBytes {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            FileBytes::Borrowed(file) => file.content().0,
            FileBytes::Decompressed(bytes) => bytes,
        }
    }
}

impl TableBytes {
    /// Returns the bytes of an opened Parquet or Arrow file, decompressed.
    pub fn new(file: &Arc<OpenInput>) -> std::io::Result<Self> {
        Ok(Self(match file.whole()? {
            Cow::Borrowed(_) => FileBytes::Borrowed(file.clone()),
            Cow::Owned(bytes) => FileBytes::Decompressed(Arc::new(bytes)),
        }))
    }
}

/// The request for the columns of judgments or of a run in a table, by given or by known names.
#[derive(Debug, Clone, Copy)]
pub struct TableColumns<'a> {
    role: Role,
    /// The facet by which judgments are read.
    by: Option<FacetKind>,
    given: Option<&'a ColumnNames>,
    /// Whether ranks are read beside scores.
    ranks: bool,
    /// The options that give words grades, if words may stand in the place of grades.
    words: Option<&'a ReadOptions>,
}

impl<'a> TableColumns<'a> {
    /// Makes the request for the columns of judgments; columns not `given` are recognised by their
    /// names.
    pub fn for_qrels(given: Option<&'a ColumnNames>) -> Self {
        Self::for_role(Role::Qrels, given, false)
    }

    /// Sets the facet by which judgments are read. By judge or subtopic, the request gets their
    /// column; by span, the columns of positions. No table is read by preference.
    pub fn with_groups(self, by: Option<FacetKind>) -> Self {
        Self { by, ..self }
    }

    /// Makes the request for the columns of a run; with `ranks`, also for ranks beside scores.
    pub fn for_run(given: Option<&'a ColumnNames>, ranks: bool) -> Self {
        Self::for_role(Role::Run, given, ranks)
    }

    /// Makes the request for the columns of judgments or of a run, by role.
    pub fn for_role(role: Role, given: Option<&'a ColumnNames>, ranks: bool) -> Self {
        Self { role, by: None, given, ranks, words: None }
    }

    /// Sets that words in the place of grades have the grades that `read_as` gives them.
    pub fn with_words(self, read_as: &'a ReadOptions) -> Self {
        Self { words: Some(read_as), ..self }
    }

    /// Returns the grades of words, and how messages write options; `None` if numbers alone are read.
    pub fn words(&self) -> Option<(GradeWords, OptionStyle)> {
        let read_as = self.words.filter(|_| self.role == Role::Qrels)?;
        Some((read_as.grades.clone().unwrap_or_default(), read_as.options))
    }

    /// Finds the requested columns in a table whose columns have these names, and returns their
    /// indices. `lists` says for each column whether its cells are lists; empty, it says that none
    /// has lists.
    ///
    /// ```
    /// use laneval::tables::TableColumns;
    /// let places = TableColumns::for_run(None, false)
    ///     .places_with_lists(&["score", "query-id", "corpus-id"], &[])?;
    /// assert_eq!((places.query, places.doc, places.number), (1, 2, Some(0)));
    /// let names = ["user_input", "retrieved_context_ids", "score"];
    /// let places = TableColumns::for_run(None, false)
    ///     .places_with_lists(&names, &[false, true, false])?;
    /// assert_eq!((places.query, places.doc, places.number), (0, 1, None));
    /// assert!(places.lists.is_some_and(|lists| lists.ranked()));
    /// # Ok::<(), laneval::tables::TableError>(())
    /// ```
    ///
    /// # Errors
    /// A needed column that the table lacks.
    pub fn places_with_lists(
        &self,
        names: &[impl AsRef<str>],
        lists: &[bool],
    ) -> Result<ColumnIndices, TableError> {
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_ref().as_bytes()).collect();
        if self.by == Some(FacetKind::Span) {
            return self.places_of_spans(&bytes);
        }
        if self.by == Some(FacetKind::Preference) {
            return Err(TableError::Column("preferences are not read from tables".to_owned()));
        }
        let ordered = self.given.and_then(|given| Some((given, given.ordered()?)));
        let chosen = match ordered {
            Some((given, count)) if count == names.len() => {
                let chosen = in_order(given, self.role, self.by).map(ChosenRows::from);
                chosen.map_err(TableError::Column)?
            }
            Some((given, count)) => {
                return Err(TableError::Column(format!(
                    "there are {} columns, and `{given}` names {count}",
                    names.len()
                )));
            }
            None => {
                // The columns of a table have types, so no shape is unknown, as it is for a null in
                // a record.
                let shapes: Vec<_> = lists
                    .iter()
                    .map(|&list| if list { CellShape::List } else { CellShape::Single })
                    .collect();
                let chosen = choose_rows(&bytes, &shapes, self.role, self.by, self.given);
                chosen.map_err(|wrong| match wrong {
                    ColumnChoiceError::Invalid(message) => TableError::Column(message),
                    ColumnChoiceError::NoNames(missing) | ColumnChoiceError::Missing(missing) => {
                        TableError::Missing(missing)
                    }
                })?
            }
        };
        let ChosenRows { query, doc, number, value, rank, group } = chosen;
        let (number, rank, lists) = match value {
            Some(NumberKind::Number | NumberKind::One) => {
                (number, rank.filter(|_| self.ranks), None)
            }
            Some(_) => (None, number, None),
            None => {
                let ranked = self.role == Role::Run && (number.is_none() || self.ranks);
                (number, None, Some(ListColumns { role: self.role, ranked }))
            }
        };
        Ok(ColumnIndices { number, rank, group, lists, ..ColumnIndices::new(query, doc) })
    }

    /// Finds the columns of judged or retrieved passages in a table whose columns have these names.
    fn places_of_spans(&self, names: &[&[u8]]) -> Result<ColumnIndices, TableError> {
        let columns = span_columns(self.role, self.given);
        let mut found = fields::choose(names, &columns).map_err(|at| {
            let NamedColumn { what, given, names: known, .. } = columns[at];
            match given {
                Some(name) => TableError::Column(no_column(name, what, names)),
                None => TableError::Missing(MissingColumn {
                    role: self.role,
                    what,
                    known: known.to_vec(),
                    among: quoted_all(names),
                    known_name: None,
                }),
            }
        })?;
        // The columns of judgments end before the rank, so the list is filled up.
        found.resize(at::RANK + 1, None);
        let (Some(query), Some(doc)) = (found[at::QUERY], found[at::DOC]) else {
            unreachable!("needed columns were found")
        };
        let (number, start, end) = (found[at::NUMBER], found[at::START], found[at::END]);
        // A score decides before a rank, and an end before a length: only one of the two is read.
        let rank = found[at::RANK].filter(|_| number.is_none());
        let length = found[at::LENGTH].filter(|_| end.is_none());
        Ok(ColumnIndices { number, rank, start, end, length, ..ColumnIndices::new(query, doc) })
    }
}

/// The indices of the columns to read in a Parquet or Arrow table: query, document, number, rank,
/// facet, span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnIndices {
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
    /// The column of the ends of passages: the positions right behind their last positions.
    pub end: Option<usize>,
    /// The column of the lengths of passages in positions, if there is no column of ends.
    pub length: Option<usize>,
    /// The meaning of the lists, if each row has a list of documents, and perhaps one of grades or
    /// scores.
    pub lists: Option<ListColumns>,
}

/// The meaning of a table's list columns: judgments or results, and whether their order is the
/// ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListColumns {
    role: Role,
    ranked: bool,
}

impl ListColumns {
    /// Returns whether the order of a row's list of documents gives their ranks. If not, and
    /// without a list of numbers, each document is judged with grade 1.
    pub fn ranked(&self) -> bool {
        self.ranked
    }

    /// Returns the indices of the fields with the id and, if any, the number of a document, among the
    /// fields of records in a list.
    ///
    /// # Errors
    /// No field has the id.
    pub fn fields(&self, names: &[&str]) -> Result<(usize, Option<usize>), TableError> {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        document_keys(&names, self.role).ok_or_else(|| {
            let all = quoted_all(&names).join(", ");
            TableError::Column(format!("a document has no id: its fields are {all}"))
        })
    }

    /// Makes the message that a row's list of grades or scores has another length than its list of
    /// ids.
    pub fn length_mismatch(&self, ids: usize, numbers: usize) -> String {
        wrong_lengths(ids, numbers, self.role.number())
    }
}

impl ColumnIndices {
    /// Makes the indices of a table's columns of queries and documents alone.
    fn new(query: usize, doc: usize) -> Self {
        Self { query, doc, ..Self::default() }
    }

    /// Returns the indices of all columns to read, ascending, each once.
    pub fn all(&self) -> Vec<usize> {
        let Self { query, doc, number, rank, group, start, end, length, .. } = *self;
        let all = [Some(query), Some(doc), number, rank, group, start, end, length];
        let mut all: Vec<usize> = all.into_iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the indices of the same columns in a table that has only the columns of
    /// [`ColumnIndices::all`].
    pub fn among_all(&self) -> ColumnIndices {
        let all = self.all();
        let place = |at: usize| all.partition_point(|&column| column < at);
        Self {
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

/// The reason why a Parquet or Arrow table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The columns named by the user do not fit the table, or judgments are read by preference.
    Column(String),
    /// A needed column was found under none of its known names.
    Missing(MissingColumn),
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
    /// The file is damaged, or not of the format that its first bytes announce.
    File(String),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(message) | Self::Type(message) | Self::File(message) => {
                f.write_str(message)
            }
            Self::Missing(missing) => missing.fmt(f),
            Self::Rows { first, more } => {
                let rows: Vec<String> =
                    first.iter().map(|(row, message)| format!("row {row}: {message}")).collect();
                f.write_str(&rows.join("\n"))?;
                if *more > 0 { write!(f, "\n… and {more} more") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for TableError {}

impl TableError {
    /// Returns the problems to report of the Parquet or Arrow file `name`.
    pub fn problems(self, name: &str, options: OptionStyle) -> Problems {
        match self {
            Self::Rows { first, more } => Problems::at_lines(name, first, more),
            Self::Missing(missing) => whole_file(name, missing.message(options)),
            other => whole_file(name, other.to_string()),
        }
    }
}

/// Calls `work` with the rows of a table as results of a run, and returns its result.
pub fn with_records<R>(table: &dyn Table, work: impl FnOnce(&[RunColumns<'_>]) -> R) -> R {
    let (mut work, mut done) = (Some(work), None);
    table.with_records(&mut |batches| done = work.take().map(|work| work(batches)));
    done.unwrap_or_else(|| unreachable!("a table lends its rows"))
}

/// Calls `work` with the rows of a table as judgments, and returns its result.
pub fn with_judgments<R>(table: &dyn Table, work: impl FnOnce(&[QrelsColumns<'_>]) -> R) -> R {
    let (mut work, mut done) = (Some(work), None);
    table.with_judgments(&mut |batches| done = work.take().map(|work| work(batches)));
    done.unwrap_or_else(|| unreachable!("a table lends its rows"))
}
