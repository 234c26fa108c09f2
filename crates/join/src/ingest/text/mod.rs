//! Texts: an input that is opened and whose format is known.
//!
//! It must never know records, judgments and rankings.

pub(in crate::ingest) mod passing;

use std::sync::Arc;

use crate::ingest::format::foreign::{OtherFormat, head};
use crate::ingest::format::opened::Opened;
use crate::ingest::format::tell::{KnownOfText, TableReaders, tell};
use crate::ingest::format::{Form, Partner};
use crate::ingest::lines::shape::Role;
use crate::ingest::settings::Join;
use crate::label::{JudgedBy, Ties};

impl Join {
    /// Opens judgments, and recognises their format by their first lines.
    pub(in crate::ingest) fn judgments_form(&self, opened: Opened) -> (Arc<Opened>, ToldForm) {
        let opened = Arc::new(opened);
        let form = told(opened.start().as_deref(), self.known_of_judgments(&opened.name, Some(&opened)));
        self.recognise(&opened.name, &form);
        (opened, form)
    }

    /// Recognises the format of a run that is there as a whole.
    pub(in crate::ingest) fn run_form(&self, text: &Arc<Opened>, partner: Option<&Partner>) -> ToldForm {
        let form = told(text.start().as_deref(), self.known_of_run(&text.name, Some(text), partner));
        self.recognise(&text.name, &form);
        self.ordered(form)
    }

    /// Recognises the format of a run called `name` that is read once, and starts with `start`.
    pub(in crate::ingest) fn passing_form(
        &self,
        name: &str,
        start: &[u8],
        partner: Option<&Partner>,
    ) -> ToldForm {
        let form = told(Some(start), self.known_of_run(name, None, partner));
        self.recognise(name, &form);
        self.ordered(form)
    }

    /// Adapts the form of a run if its ranks have to order equal scores.
    pub(in crate::ingest) fn ordered(&self, form: ToldForm) -> ToldForm {
        if self.ties == Ties::Rank { form.map(Form::ordered_by_ranks) } else { form }
    }

    pub(in crate::ingest) fn known_of_judgments<'a>(
        &'a self,
        name: &'a str,
        text: Option<&'a Arc<Opened>>,
    ) -> KnownOfText<'a> {
        let tables = TableReaders { reader: self.tables, ranks: false };
        let (role, by, dialect, read_as) = (Role::Qrels, self.table_groups(), self.dialect, &self.qrels_as);
        KnownOfText { role, by, name, dialect, read_as, text, tables, partner: None }
    }

    pub(in crate::ingest) fn known_of_run<'a>(
        &'a self,
        name: &'a str,
        text: Option<&'a Arc<Opened>>,
        partner: Option<&'a Partner>,
    ) -> KnownOfText<'a> {
        let tables = TableReaders { reader: self.tables, ranks: self.ties == Ties::Rank };
        let (role, dialect, read_as) = (Role::Run, self.dialect, &self.runs_as);
        KnownOfText { role, by: None, name, dialect, read_as, text, tables, partner }
    }

    /// The groups by which judgments are read, if tables can have them.
    pub(in crate::ingest) fn table_groups(&self) -> Option<JudgedBy> {
        self.judged_by.filter(|&by| by != JudgedBy::Preference)
    }

    /// Adds the format of a text to the list of recognised ones.
    pub(in crate::ingest) fn recognise(&self, name: &str, form: &ToldForm) {
        if let (Some(recognised), Ok(form)) = (&self.recognised, form) {
            recognised.add(name, form);
        }
    }
}

/// The format of a text, or what an unreadable text is instead.
pub(in crate::ingest) type ToldForm = std::result::Result<Form, OtherFormat>;

/// Recognises the format of a text that starts with `start`. If the start cannot be read, the rest cannot either, and its reader reports
/// the error.
pub(in crate::ingest) fn told(start: Option<&[u8]>, known: KnownOfText<'_>) -> ToldForm {
    start.map_or_else(|| Ok(Form::trec()), |start| tell(head(start), known))
}
