//! Texts: opened inputs of known format. This module opens every text and detects its format, for
//! any purpose.
//!
//! This module must never know records, judgments and rankings.
//!
//! A *held* text may be read more than once, and by several workers at once. A *passing* text is
//! read once, so the start that revealed its format is kept and read first. The purpose of reading
//! decides which operations a text allows: see [`Purpose`].

pub mod passing;

use std::borrow::Cow;
use std::io::{Cursor, Read};
use std::sync::Arc;

use crate::bytes::input::Input;
use crate::bytes::mmap::FileAccess;
use crate::error::{Result, printable};
use crate::format::foreign::{OtherFormat, head};
use crate::format::look::{KnownOfText, TableReaders};
use crate::format::opened::Opened;
use crate::format::recognised::Recognised;
use crate::format::tables::TableReader;
use crate::format::tell::tell;
use crate::format::{ColumnNames, Form, Partner, ReadAs};
use crate::judged_by::JudgedBy;
use crate::lines::dialect::Dialect;
use crate::lines::shape::Role;
use crate::units::rule::Units;
use crate::watch::Watch;
use passing::PassingText;

impl ReadAs {
    /// The settings by which the column of units is read in the place of ids.
    fn of_units(&self, units: &Units) -> Cow<'_, ReadAs> {
        let Units::Column(name) = units else { return Cow::Borrowed(self) };
        let columns = Some(ColumnNames::with_doc(self.columns.as_ref(), name));
        Cow::Owned(ReadAs { columns, ..self.clone() })
    }
}

/// The format of a text, or what an unreadable text is instead.
pub type ToldForm = std::result::Result<Form, OtherFormat>;

/// The purpose of reading a text, with the judgments that list the documents of a run without ids.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// Judgments, to be joined.
    Judgments,
    /// A run, to be joined.
    Run(Option<&'a Partner>),
    /// Rows of the text: ranks are read, but order nothing.
    Rows(Role, Option<&'a Partner>),
}

impl Purpose<'_> {
    fn role(self) -> Role {
        match self {
            Purpose::Judgments => Role::Qrels,
            Purpose::Run(_) => Role::Run,
            Purpose::Rows(role, _) => role,
        }
    }
}

/// An opened text with its detected format.
pub struct ToldText {
    /// The name of the text in messages.
    pub name: String,
    pub form: ToldForm,
    pub body: TextBody,
}

/// The content of a text.
pub enum TextBody {
    Held(Arc<Opened>),
    Passing(StartedText),
}

/// A text that is read once, with the start that was read to detect the format.
pub struct StartedText {
    pub start: Vec<u8>,
    pub text: PassingText<'static>,
}

impl StartedText {
    /// Returns the whole text, its start included.
    pub fn all(&mut self) -> impl Read + Send + '_ {
        Cursor::new(std::mem::take(&mut self.start)).chain(&mut self.text)
    }
}

impl ToldText {
    /// Detects the format of an open input.
    pub fn held(settings: ReadSettings<'_>, opened: Arc<Opened>, purpose: Purpose<'_>) -> Self {
        let form = settings.tell(purpose, &opened.name, opened.start().as_deref(), Some(&opened));
        ToldText { name: opened.name.clone(), form, body: TextBody::Held(opened) }
    }

    /// Opens an input and detects its format. An input that can be read only once is not held.
    ///
    /// # Errors
    /// An input that cannot be opened, or has an unreadable start.
    pub fn open(settings: ReadSettings<'_>, input: Input, purpose: Purpose<'_>) -> Result<Self> {
        if !input.passes() {
            return Ok(ToldText::held(settings, Arc::new(input.open(settings.access)?), purpose));
        }
        let mut text = PassingText::of(input)?;
        let (name, start) = (text.name().to_owned(), text.head()?);
        let form = settings.tell(purpose, &name, Some(&start), None);
        Ok(ToldText { name, form, body: TextBody::Passing(StartedText { start, text }) })
    }
}

impl StartedText {
    /// Opens an input to read its rows one after another. Only tables are held, because tables are
    /// needed as a whole.
    ///
    /// # Errors
    /// As [`ToldText::open`].
    pub fn of_rows(
        settings: ReadSettings<'_>,
        input: Input,
        role: Role,
        partner: Option<&Partner>,
    ) -> Result<(ToldForm, Self)> {
        let read_as = if role == Role::Qrels { &settings.qrels_as } else { &settings.runs_as };
        let elsewhere = Opened::elsewhere(&input);
        let file = elsewhere.path.clone().filter(|_| !input.passes());
        let mut text = PassingText::watched(input, settings.watch.cloned())?;
        let mut start = text.head()?;
        let opened = match (read_as.needs_whole(&start, text.name()), file) {
            (false, _) => elsewhere,
            (true, Some(path)) => Input::Path(path).open(settings.access)?,
            (true, None) => {
                text.hold(&mut start, usize::MAX)?;
                Input::Bytes { name: text.name().to_owned(), bytes: start.clone() }
                    .open(settings.access)?
            }
        };
        let opened = Arc::new(opened);
        let all = opened.start().filter(|all| !all.is_empty());
        let told = all.as_deref().unwrap_or(&start);
        let form =
            settings.tell(Purpose::Rows(role, partner), text.name(), Some(told), Some(&opened));
        Ok((form, StartedText { start, text }))
    }
}

/// The settings of a join by which texts are read.
#[derive(Clone, Copy)]
pub struct ReadSettings<'a> {
    /// The dialect: how strictly lines are read.
    pub dialect: Dialect,
    /// The way files are opened.
    pub access: FileAccess,
    /// The way judgments are read.
    pub qrels_as: &'a ReadAs,
    /// The way runs are read.
    pub runs_as: &'a ReadAs,
    /// The facets by which judgments are read.
    pub judged_by: Option<JudgedBy>,
    /// The units of the results.
    pub units: &'a Units,
    /// The units of the judgments.
    pub qrels_units: &'a Units,
    /// Whether the ranks of runs are read, because they order equal scores.
    pub reads_ranks: bool,
    /// The reader of files of tables.
    pub tables: Option<&'static dyn TableReader>,
    /// The list to which the recognised format of each text is added.
    pub recognised: Option<&'a Recognised>,
    /// The watch of the progress of reading.
    pub watch: Option<&'a Arc<Watch>>,
}

impl<'a> ReadSettings<'a> {
    /// Makes settings that read judgments and runs as `read_as`, and leave everything else at its
    /// default.
    pub fn new(read_as: &'a ReadAs) -> Self {
        ReadSettings {
            dialect: Dialect::default(),
            access: FileAccess::default(),
            qrels_as: read_as,
            runs_as: read_as,
            judged_by: None,
            units: &Units::AsIs,
            qrels_units: &Units::AsIs,
            reads_ranks: false,
            tables: None,
            recognised: None,
            watch: None,
        }
    }

    /// Detects the format of a text by its `start`, and adds the format to the list of recognised
    /// formats; `text` is the text itself, if it can be read again.
    pub fn tell(
        self,
        purpose: Purpose<'_>,
        name: &str,
        start: Option<&[u8]>,
        text: Option<&Arc<Opened>>,
    ) -> ToldForm {
        let form = self.told(purpose, name, start, text);
        self.recognise(name, &form, purpose.role());
        match purpose {
            Purpose::Run(_) if self.reads_ranks => form.map(Form::ordered_by_ranks),
            _ => form,
        }
    }

    /// Detects the format of a text like [`ReadSettings::tell`], and leaves the list of formats unchanged.
    ///
    /// If the start is unreadable, the rest is unreadable, too, and its reader reports the error.
    pub fn told(
        self,
        purpose: Purpose<'_>,
        name: &str,
        start: Option<&[u8]>,
        text: Option<&Arc<Opened>>,
    ) -> ToldForm {
        let (role, partner, ranks) = match purpose {
            Purpose::Judgments => (Role::Qrels, None, false),
            Purpose::Run(partner) => (Role::Run, partner, self.reads_ranks),
            Purpose::Rows(role, partner) => (role, partner, true),
        };
        let (by, read_as, units) = match role {
            Role::Qrels => (self.table_facets(), self.qrels_as, self.qrels_units),
            Role::Run => (None, self.runs_as, self.units),
        };
        let read_as = &*read_as.of_units(units);
        let tables = TableReaders { reader: self.tables, ranks };
        let known =
            KnownOfText { role, by, name, dialect: self.dialect, read_as, text, tables, partner };
        let form = start.map_or_else(|| Ok(Form::trec()), |start| tell(head(start), known))?;
        match units {
            Units::Column(name) if !form.has_names() => {
                let message = format!(
                    "is {}, which has no column '{}' of units",
                    form.what,
                    printable(name.as_bytes())
                );
                Err(OtherFormat::Told(0, message))
            }
            _ => Ok(form),
        }
    }

    /// The facet by which judgments are read, if tables may have a column of it: judge or subtopic.
    pub fn table_facets(self) -> Option<JudgedBy> {
        self.judged_by.filter(|by| matches!(by, JudgedBy::Judge | JudgedBy::Subtopic))
    }

    /// Adds the format of a text to the list of recognised ones.
    pub fn recognise(self, name: &str, form: &ToldForm, role: Role) {
        if let (Some(recognised), Ok(form)) = (self.recognised, form) {
            recognised.add(name, form, role);
        }
    }
}
