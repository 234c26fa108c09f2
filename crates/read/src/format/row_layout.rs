//! The layout of an input's rows, as format detection finds it: TREC, a table, another format, or
//! columns.

use std::{
    io::{self, Read},
    sync::Mutex,
};

use super::{
    letor::Letor,
    names::GroupingNames,
    npy::NpyHeader,
    sequence::{SequenceBlocks, SequenceFormat},
    tables::Table,
};
use crate::lines::{
    chunks::{Chunk, CutRule, LineBlocks, LineFormat, LineRule, ReadBlocks},
    dialect::Rules,
    layout::{BareRows, NumberKind, RankColumn, SortBy, TableLayout},
    options::OptionStyle,
    row::{BareQuery, RowBatch, RowForm, RowSink},
    scan::Scanner,
    separator::Separator,
    shape::Role,
    table::{RowScanner, TableRows, unquoted},
    trec::TrecRows,
};
use crate::lock::lock;

/// The note on judgments without grades.
pub const UNGRADED: &str = "without grades: each document has grade 1";

/// The detected format of an input, and the way in which its rows of judgments or results are read.
#[derive(Debug)]
pub struct RowLayout {
    pub shape: RowShape,
    /// The format that was recognised, in words.
    pub what: String,
    /// Whether a note should be given, because the text might be something else.
    pub doubtful: bool,
    /// The names of a text by which its queries may be grouped.
    pub names: GroupingNames,
}

/// The way in which an input's rows are read: as TREC lines, as a table, as another format, or from
/// columns.
#[derive(Debug)]
pub enum RowShape {
    /// Lines of TREC.
    Trec,
    /// A table of text.
    Table(TableLayout),
    /// Another format, such as JSON or LETOR.
    Other(OtherFormat),
    /// Rows of a columnar file.
    Columns(Box<dyn Table>),
}

impl RowLayout {
    /// Makes the row layout of an input whose format was recognised without a doubt.
    pub fn new(shape: RowShape, what: String) -> Self {
        Self { shape, what, doubtful: false, names: GroupingNames::default() }
    }

    /// Makes the row layout of an input of another format than TREC and tables.
    pub fn other(format: OtherFormat, what: String) -> Self {
        Self::new(RowShape::Other(format), what)
    }

    /// Says of judgments, if they are `ungraded`, that each document has grade 1.
    pub fn ungraded(mut self, ungraded: bool) -> Self {
        if ungraded {
            self.what += "; ";
            self.what += UNGRADED;
            self.doubtful = true;
        }
        self
    }

    /// Returns the row layout of TREC text.
    pub fn trec() -> Self {
        Self::new(RowShape::Trec, "TREC text".to_owned())
    }

    /// Returns the layout of the table that the input is; `None` for other formats.
    pub fn table(&self) -> Option<&TableLayout> {
        if let RowShape::Table(table) = &self.shape { Some(table) } else { None }
    }

    /// Returns the format of the input, if it is neither TREC nor a table.
    pub fn other_format(&self) -> Option<&OtherFormat> {
        if let RowShape::Other(format) = &self.shape { Some(format) } else { None }
    }

    /// Returns the format of the input's lines; `None` if the input is not read by lines.
    pub fn lines(&self) -> Option<LineRule<'_>> {
        match &self.shape {
            RowShape::Trec => Some(LineRule::Trec),
            RowShape::Table(table) => Some(LineRule::Table(table)),
            RowShape::Other(OtherFormat { reader: FormatReader::Lines(format), .. }) => {
                Some(LineRule::Other(&**format))
            }
            _ => None,
        }
    }

    /// Returns the columns of a Parquet or Arrow input; `None` for other inputs.
    pub fn columns(&self) -> Option<&dyn Table> {
        if let RowShape::Columns(table) = &self.shape { Some(&**table) } else { None }
    }

    /// Returns whether the input has names of columns or of keys.
    pub fn has_names(&self) -> bool {
        match &self.shape {
            RowShape::Trec => false,
            RowShape::Other(OtherFormat { reader: FormatReader::Sequence(format), .. }) => {
                format.has_names()
            }
            RowShape::Table(_) | RowShape::Columns(_) | RowShape::Other(_) => true,
        }
    }

    /// Returns whether the input's rows have judges or subtopics, if these were asked for.
    pub fn has_facets(&self) -> bool {
        match &self.shape {
            RowShape::Trec | RowShape::Columns(_) => true,
            RowShape::Table(table) => table.group.is_some(),
            RowShape::Other(format) => format.form.has_groups,
        }
    }

    /// Returns the properties of these judgments that runs without ids, such as bare scores, need.
    pub fn partner(&self) -> Option<&AlignedQrels> {
        self.other_format()?.partner.as_ref()
    }

    /// Skips at least the first `skip` bytes of a table, which are no rows.
    pub fn behind(mut self, skip: usize) -> Self {
        if let RowShape::Table(table) = &mut self.shape {
            table.skip = table.skip.max(skip);
        }
        self
    }

    /// Drops the header of a table from its row layout, because the header was read already.
    pub fn without_header(mut self) -> Self {
        if let RowShape::Table(table) = &mut self.shape {
            table.skip = 0;
        }
        self
    }

    /// Returns the blocks of the text of an input, cut between its queries, or anywhere.
    ///
    /// # Errors
    /// A second text, read beside the text, that cannot be read.
    pub fn blocks<'a>(
        &'a self,
        text: Box<dyn Read + Send + 'a>,
        cuts: impl FnOnce(LineRule<'a>) -> CutRule<'a>,
    ) -> io::Result<Box<dyn ReadBlocks + 'a>> {
        if let RowShape::Other(OtherFormat {
            reader: FormatReader::Sequence(of_sequence), ..
        }) = &self.shape
        {
            let largest = cuts(LineRule::Trec).largest;
            return Ok(Box::new(SequenceBlocks::new(text, &**of_sequence, largest)?));
        }
        Ok(Box::new(LineBlocks::new(text, cuts(self.lines().unwrap_or(LineRule::Trec)))))
    }

    /// Returns the queries of the input that have no documents, known once the input was read.
    pub fn bare_queries(&self) -> Vec<BareQuery> {
        match &self.shape {
            RowShape::Other(format) => lock(&format.bare).clone(),
            RowShape::Columns(table) => {
                let bare = table.bare_queries().iter().cloned();
                bare.map(|id| BareQuery { id, is_judged: true }).collect()
            }
            RowShape::Trec | RowShape::Table(_) => Vec::new(),
        }
    }

    /// Returns the rows of a chunk. Those that do not lie in the text of the chunk are made in
    /// `batch`, unless they were read before.
    pub fn chunk_rows<'a>(&self, chunk: Chunk<'a>, batch: &'a mut RowBatch) -> ChunkRows<'a> {
        let RowShape::Other(format) = &self.shape else {
            let text = batch.buffer();
            let table = self.table();
            let table = table.and_then(|table| unquoted(table, chunk.text, self.skip(chunk), text));
            return match table {
                Some(table) => ChunkRows::Unquoted(text, Box::new(table)),
                None => ChunkRows::Lines(chunk.text),
            };
        };
        let (rows, lines) = match &format.reader {
            FormatReader::Lines(of_lines) => {
                batch.clear();
                let lines = of_lines.rows(chunk.text, batch);
                (&*batch, lines)
            }
            FormatReader::Sequence(of_sequence) if chunk.rows.has_entries() => {
                batch.clear();
                chunk.rows.read_entries(batch, |entry, rows| of_sequence.entry(entry, rows));
                (&*batch, 0)
            }
            FormatReader::Sequence(_) => (chunk.rows, 0),
        };
        if !rows.bare.is_empty() {
            lock(&format.bare).extend_from_slice(&rows.bare);
        }
        ChunkRows::Batch(rows, lines)
    }

    /// Returns the kind of the numbers of the rows.
    pub fn number_kind(&self) -> NumberKind {
        match &self.shape {
            RowShape::Table(table) => table.value,
            RowShape::Other(format) => format.form.value,
            RowShape::Trec | RowShape::Columns(_) => NumberKind::Number,
        }
    }

    /// Returns how messages write options, if ranks have to count 1, 2, 3 … in every query.
    pub fn counted_ranks(&self) -> Option<OptionStyle> {
        let table = self.table().filter(|table| table.value == NumberKind::CountedRank);
        table.map(|table| table.options)
    }

    /// Returns the number of bytes at the start of a chunk that are no rows, but a header.
    pub fn skip(&self, chunk: Chunk<'_>) -> usize {
        let skip = self.table().map_or(0, |table| table.skip);
        skip.saturating_sub(chunk.start).min(chunk.text.len())
    }

    /// Begins to count anew the rows without a number, and the queries without documents. Ids with
    /// quotes that were met are read this time.
    pub fn restart(&self) {
        match &self.shape {
            RowShape::Other(format) => lock(&format.bare).clear(),
            RowShape::Table(TableLayout { bare, quotes, .. }) => {
                bare.iter().for_each(BareRows::restart);
                if quotes.are_left() {
                    quotes.read();
                }
            }
            _ => {}
        }
    }

    /// Returns whether ids with quotes were met that another reading would read.
    pub fn needs_restart(&self) -> bool {
        self.table().is_some_and(|table| table.quotes.are_left())
    }

    /// Returns the numbers, scores or ranks, by which the results of the run are sorted.
    pub fn order(&self) -> SortBy {
        if self.number_kind().is_rank() {
            return SortBy::RankScores { counted: self.counted_ranks() };
        }
        let ranks = match &self.shape {
            RowShape::Table(table) => table.rank_column(),
            RowShape::Other(format) if format.form.has_ranks => RankColumn::Beside,
            RowShape::Other(_) => RankColumn::None,
            RowShape::Trec | RowShape::Columns(_) => RankColumn::OfTrec,
        };
        SortBy::Scores { ranks }
    }

    /// Returns the expected shape of a line of the input, with a colon before it, for messages.
    pub fn expected(&self, role: Role) -> String {
        let expected = match &self.shape {
            RowShape::Table(table) => table.expected(),
            RowShape::Other(format) => format.form.expected(),
            RowShape::Trec | RowShape::Columns(_) => role.expected().to_owned(),
        };
        format!(": {expected}")
    }
}

/// The scanners of a worker, whose buffers are used for one chunk after the other.
#[derive(Default)]
pub struct RowScanners {
    trec: Scanner,
    tables: Option<RowScanner>,
}

/// The rows of a chunk, before they are passed to a sink.
pub enum ChunkRows<'a> {
    /// Lines of TREC or of a table.
    Lines(&'a [u8]),
    /// Lines of a table that were written anew, without quotes, and their layout.
    Unquoted(&'a [u8], Box<TableLayout>),
    /// Rows of another format, and the number of their lines; 0 if rows have lines of the input.
    Batch(&'a RowBatch, u64),
}

impl<'a> ChunkRows<'a> {
    /// Returns the text in which the fields of the rows lie.
    pub fn text(&self) -> &'a [u8] {
        match self {
            Self::Lines(text) | Self::Unquoted(text, _) => text,
            Self::Batch(batch, _) => batch.text(),
        }
    }
}

/// The role of lines, the rules of their dialect, and the number of fields that name groups of a
/// judgment, of which TREC text always has one.
#[derive(Clone, Copy)]
pub struct LinesOf {
    pub role: Role,
    pub rules: Rules,
    pub groups: usize,
}

impl RowScanners {
    /// Passes the rows of a chunk to `sink`, and returns the number of its lines. The first `skip`
    /// bytes of a table are no rows.
    #[inline(always)]
    pub fn each(
        &mut self,
        layout: &RowLayout,
        rows: ChunkRows<'_>,
        skip: usize,
        LinesOf { role, rules, groups }: LinesOf,
        sink: &mut impl RowSink,
    ) -> u64 {
        // Only TREC text has two groups, so code for tables and batches is not made for such sinks.
        let is_trec = groups == 2;
        match (rows, &layout.shape) {
            (ChunkRows::Batch(batch, lines), RowShape::Other(format)) if !is_trec => {
                batch.each(&format.form, role, &rules, sink);
                lines
            }
            (ChunkRows::Lines(text), RowShape::Table(table)) if !is_trec => {
                let rows = TableRows { table, role, rules: &rules };
                self.tables.get_or_insert_default().each_row(text, skip, rows, sink)
            }
            (ChunkRows::Unquoted(text, table), _) if !is_trec => {
                let rows = TableRows { table: &table, role, rules: &rules };
                self.tables.get_or_insert_default().each_row(text, skip, rows, sink)
            }
            (ChunkRows::Lines(text), _) => match (role, groups) {
                (Role::Run, _) => {
                    self.trec.each_line(text, &mut TrecRows::<_, 6> { role, rules, sink })
                }
                (Role::Qrels, 2) => {
                    self.trec.each_line(text, &mut TrecRows::<_, 5> { role, rules, sink })
                }
                (Role::Qrels, _) => {
                    self.trec.each_line(text, &mut TrecRows::<_, 4> { role, rules, sink })
                }
            },
            (ChunkRows::Batch(..) | ChunkRows::Unquoted(..), _) => 0,
        }
    }
}

/// An input of another format than TREC and tables, such as JSON or LETOR.
#[derive(Debug)]
pub struct OtherFormat {
    pub reader: FormatReader,
    /// What its rows have, and its shape for messages.
    pub form: RowForm,
    /// The judgments, for runs without ids of their own.
    pub partner: Option<AlignedQrels>,
    /// The matrix with a cell for each row, if the rows are those of a matrix.
    pub matrix: Option<NpyHeader>,
    /// The queries without documents that the text had the last time.
    pub(super) bare: Mutex<Vec<BareQuery>>,
}

/// How the rows of a format are read: line by line, or in sequence.
#[derive(Debug)]
pub enum FormatReader {
    Lines(Box<dyn LineFormat>),
    Sequence(Box<dyn SequenceFormat>),
}

/// Judgments of which runs need to know: those to which runs without ids belong by position, of
/// LETOR lines, a matrix, or true neighbours, and records with more than one name of a query.
#[derive(Debug, Clone)]
pub enum AlignedQrels {
    /// A text, whose lines give the documents that a file of scores has the scores of.
    Letor(Letor),
    /// A matrix with its name; the matrix of the scores has the same shape.
    Matrix(String, NpyHeader),
    /// True neighbours; the found neighbours have equally many rows.
    Neighbours(AlignedTruth),
    /// Records whose queries have this key, which also those of the run should have.
    Records(String),
}

impl AlignedQrels {
    /// Returns whether runs without ids belong to the judgments.
    pub fn is_of_positions(&self) -> bool {
        !matches!(self, Self::Records(_))
    }
}

/// The name and the size of a file of true neighbours, to which a file of found neighbours must
/// fit.
#[derive(Debug, Clone)]
pub struct AlignedTruth {
    /// The name of the text.
    pub name: String,
    /// The number of rows; 0 if it is not known.
    pub rows: u64,
    /// The number of neighbours in a row.
    pub width: u64,
}

impl OtherFormat {
    /// Makes an input of a format that is read line by line.
    pub fn of_lines(format: impl LineFormat + 'static, form: RowForm) -> Self {
        Self::new(FormatReader::Lines(Box::new(format)), form)
    }

    /// Makes an input of a format that is read in sequence.
    pub fn in_sequence(format: impl SequenceFormat + 'static, form: RowForm) -> Self {
        Self::new(FormatReader::Sequence(Box::new(format)), form)
    }

    fn new(reader: FormatReader, form: RowForm) -> Self {
        Self { reader, form, partner: None, matrix: None, bare: Mutex::default() }
    }
}

impl Separator {
    /// Returns the name of a table with this separator, such as `TSV`, for messages.
    pub fn table(self) -> &'static str {
        match self {
            Self::Blanks => "a table with blanks between its columns",
            Self::Tab => "TSV",
            Self::Comma => "CSV",
            Self::Semicolon => "CSV with semicolons",
            Self::Unit => "a table with unit separators between its columns",
        }
    }
}
