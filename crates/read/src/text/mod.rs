//! Texts: opened qrels or run inputs whose format was detected. This module opens every text and
//! detects its format, for any purpose.
//!
//! This module must never know records, judgments and rankings.
//!
//! A *held* text may be read more than once, and by several workers at once. A *passing* text is
//! read once, so the start that revealed its format is kept and read first. The purpose of reading
//! decides which operations a text allows: see [`Purpose`].

pub mod streaming;

use std::borrow::Cow;
use std::io::{Cursor, Read};
use std::sync::Arc;

use crate::bytes::{input::Input, mmap::FileAccess};
use crate::doc_ids::rule::DocIdRule;
use crate::error::{Result, printable};
use crate::format::{
    AlignedQrels, ColumnNames, ReadOptions, RowLayout,
    detect::{
        detect,
        first_lines::DetectContext,
        foreign::{ForeignFormat, head},
    },
    detected_formats::DetectedFormats,
    open_input::OpenInput,
    tables::TableReader,
};
use crate::judged_by::FacetKind;
use crate::lines::{dialect::Dialect, shape::Role};
use crate::progress::ProgressHandle;
use streaming::StreamingText;

impl ReadOptions {
    /// Returns the read options with the column of units in the place of document ids, if a rule
    /// names one.
    fn for_doc_ids(&self, units: &DocIdRule) -> Cow<'_, ReadOptions> {
        let DocIdRule::Column(name) = units else { return Cow::Borrowed(self) };
        let columns = Some(ColumnNames::with_doc(self.columns.as_ref(), name));
        Cow::Owned(Self { columns, ..self.clone() })
    }
}

/// The detected format of a qrels or run text, or the description of a text that is neither.
pub type DetectedFormat = Result<RowLayout, ForeignFormat>;

/// The purpose of reading a text: as judgments or as a run for a join, or row by row. Judgments may
/// list the documents of a run without ids.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// Judgments, to be joined.
    Judgments,
    /// A run, to be joined.
    Run(Option<&'a AlignedQrels>),
    /// Rows of the text: ranks are read, but order nothing.
    Rows(Role, Option<&'a AlignedQrels>),
}

/// An opened qrels or run text with its detected format.
pub struct OpenText {
    /// The name of the text in messages.
    pub name: String,
    pub form: DetectedFormat,
    pub body: TextBody,
}

/// The content of an opened text: one that can be read repeatedly, or a stream that is read once.
pub enum TextBody {
    Buffered(Arc<OpenInput>),
    Streaming(StreamHead),
}

/// A text that is read once, with its start, which was read already to detect the format.
pub struct StreamHead {
    pub start: Vec<u8>,
    pub text: StreamingText<'static>,
}

impl OpenText {
    /// Detects the format of an open input that can be read repeatedly.
    pub fn open_buffered(
        settings: ReadSettings<'_>,
        opened: Arc<OpenInput>,
        purpose: Purpose<'_>,
    ) -> Self {
        let form = settings.detect(purpose, &opened.name, opened.start().as_deref(), Some(&opened));
        Self { name: opened.name.clone(), form, body: TextBody::Buffered(opened) }
    }

    /// Opens an input of qrels or a run, and detects its format. An input that can be read only
    /// once is not held.
    ///
    /// # Errors
    /// An input that cannot be opened, or has an unreadable start.
    pub fn open(settings: ReadSettings<'_>, input: Input, purpose: Purpose<'_>) -> Result<Self> {
        if !input.is_stream() {
            let opened = Arc::new(input.open(settings.access)?);
            return Ok(Self::open_buffered(settings, opened, purpose));
        }
        let mut text = StreamingText::from_input(input, None)?;
        let (name, start) = (text.name().to_owned(), text.head()?);
        let form = settings.detect(purpose, &name, Some(&start), None);
        Ok(Self { name, form, body: TextBody::Streaming(StreamHead { start, text }) })
    }
}

impl StreamHead {
    /// Returns a reader of the whole text, the start that was read already included.
    pub fn all(&mut self) -> impl Read + Send + '_ {
        Cursor::new(std::mem::take(&mut self.start)).chain(&mut self.text)
    }

    /// Opens an input of qrels or a run to read its rows one after another, and detects its format.
    /// Only tables are held, because tables are needed as a whole.
    ///
    /// # Errors
    /// As [`OpenText::open`].
    pub fn open_rows(
        settings: ReadSettings<'_>,
        input: Input,
        role: Role,
        partner: Option<&AlignedQrels>,
    ) -> Result<(DetectedFormat, Self)> {
        let read_as = role.pick(settings.qrels_as, settings.runs_as);
        let elsewhere = OpenInput::without_content(&input);
        let file = elsewhere.path.clone().filter(|_| !input.is_stream());
        if let Some(path) = file.as_ref().filter(|path| path.is_dir()) {
            // A table that is a folder is read as a whole, and has no text.
            let opened = Arc::new(Input::Path(path.clone()).open(settings.access)?);
            let (purpose, sample) = (Purpose::Rows(role, partner), opened.start());
            let form = settings.detect(purpose, &opened.name, sample.as_deref(), Some(&opened));
            let text = StreamingText::new(&opened.name, std::io::empty())?;
            return Ok((form, Self { start: Vec::new(), text }));
        }
        let mut text = StreamingText::from_input(input, settings.watch.cloned())?;
        let mut start = text.head()?;
        let opened = match (read_as.needs_whole(&start, text.name()), file) {
            (false, _) => elsewhere,
            (true, Some(path)) => Input::Path(path).open(settings.access)?,
            (true, None) => {
                text.fill_buffer(&mut start, usize::MAX)?;
                Input::Bytes { name: text.name().to_owned(), bytes: start.clone() }
                    .open(settings.access)?
            }
        };
        let opened = Arc::new(opened);
        let all = opened.start().filter(|all| !all.is_empty());
        let sample = all.as_deref().unwrap_or(&start);
        let form =
            settings.detect(Purpose::Rows(role, partner), text.name(), Some(sample), Some(&opened));
        Ok((form, Self { start, text }))
    }
}

/// The settings by which qrels and run texts are read: dialect, formats, facets, units and more.
#[derive(Clone, Copy)]
pub struct ReadSettings<'a> {
    /// The dialect: how strictly lines are read.
    pub dialect: Dialect,
    /// The way files are opened.
    pub access: FileAccess,
    /// The way judgments are read.
    pub qrels_as: &'a ReadOptions,
    /// The way runs are read.
    pub runs_as: &'a ReadOptions,
    /// The facets by which judgments are read.
    pub judged_by: Option<FacetKind>,
    /// The units of the results.
    pub units: &'a DocIdRule,
    /// The units of the judgments.
    pub qrels_units: &'a DocIdRule,
    /// Whether the ranks of runs are read, because they order equal scores.
    pub reads_ranks: bool,
    /// The reader of files of tables.
    pub tables: Option<&'static dyn TableReader>,
    /// The list to which the recognised format of each text is added.
    pub recognised: Option<&'a DetectedFormats>,
    /// The watch of the progress of reading.
    pub watch: Option<&'a Arc<ProgressHandle>>,
}

impl<'a> ReadSettings<'a> {
    /// Makes settings that read judgments and runs as `read_as`, with defaults for everything else.
    pub fn new(read_as: &'a ReadOptions) -> Self {
        Self {
            dialect: Dialect::default(),
            access: FileAccess::default(),
            qrels_as: read_as,
            runs_as: read_as,
            judged_by: None,
            units: &DocIdRule::Identity,
            qrels_units: &DocIdRule::Identity,
            reads_ranks: false,
            tables: None,
            recognised: None,
            watch: None,
        }
    }

    /// Detects the format of a text by its `start`, and adds the format to the list of recognised
    /// formats. `text` is the text itself, if it can be read again.
    ///
    /// If the start is unreadable, the rest is unreadable, too, and its reader reports the error.
    pub fn detect(
        self,
        purpose: Purpose<'_>,
        name: &str,
        start: Option<&[u8]>,
        text: Option<&Arc<OpenInput>>,
    ) -> DetectedFormat {
        let (role, partner, ranks) = match purpose {
            Purpose::Judgments => (Role::Qrels, None, false),
            Purpose::Run(partner) => (Role::Run, partner, self.reads_ranks),
            Purpose::Rows(role, partner) => (role, partner, true),
        };
        let (by, read_as, units) = role.pick(
            (self.table_facets(), self.qrels_as, self.qrels_units),
            (None, self.runs_as, self.units),
        );
        let read_as = &*read_as.for_doc_ids(units);
        let (dialect, tables) = (self.dialect, self.tables);
        let known =
            DetectContext { role, by, name, dialect, read_as, text, tables, ranks, partner };
        let form = match start {
            Some(start) => detect(head(start), known)?,
            None => RowLayout::trec(),
        };
        if let DocIdRule::Column(name) = units
            && !form.has_names()
        {
            let (what, name) = (form.what, printable(name.as_bytes()));
            let message = format!("is {what}, which has no column '{name}' of units");
            return Err(message.into());
        }
        if let Some(recognised) = self.recognised {
            recognised.add(name, &form, role);
        }
        Ok(form)
    }

    /// Returns the facet of the judgments (judge or subtopic) that a table may have a column of.
    pub fn table_facets(self) -> Option<FacetKind> {
        self.judged_by.filter(|by| matches!(by, FacetKind::Judge | FacetKind::Subtopic))
    }
}
