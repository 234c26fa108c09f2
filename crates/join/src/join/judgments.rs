//! The reading of qrels by the settings of a [`Join`], from a text or from columns in memory.

use std::{
    io::{Cursor, Read},
    sync::Arc,
};

use super::{
    facets::{self, FacetForm, FacetQrelsBuilder},
    qrels::{self, Qrels},
};
use crate::bytes::{hash::Seed, input::Input};
use crate::columns::{CheckedColumns, QrelsColumns};
use crate::error::{Problems, Result, printable_path};
use crate::format::{
    RowLayout, RowShape,
    detect::foreign::{self, ForeignFormat},
    open_input::OpenInput,
};
use crate::judged_by::FacetKind;
use crate::lines::{
    chunks::ChunkSize, diagnostics::pluralize, layout::BareRows, scan::last_line, shape::Role,
};
use crate::record::{
    columns::{ColumnSource, PieceSize},
    reader::ReadContext,
};
use crate::settings::Join;
use crate::text::{DetectedFormat, OpenText, Purpose, ReadSettings, streaming::StreamingText};

impl Join {
    /// Reads qrels from a text with the dialect, file access and watch of this join, for runs
    /// joined with it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use laneval::{ErrorKind, Join, ProgressHandle};
    /// let watch = Arc::new(ProgressHandle::default());
    /// let join = Join { watch: Some(watch.clone()), ..Join::default() };
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let qrels = join.qrels("examples/data/demo.qrels")?;
    /// assert_eq!(watch.done(), watch.total());
    /// watch.stop();
    /// assert_eq!(
    ///     join.runs(&qrels, ["examples/data/demo-bm25.run"]).unwrap_err().kind(),
    ///     ErrorKind::Stopped
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Qrels::read_with`]; [`Error::Stopped`](crate::error::Error::Stopped).
    pub fn qrels(&self, input: impl Into<Input>) -> Result<Qrels> {
        self.check_qrels_units()?;
        let input = input.into();
        if self.judged_by == Some(FacetKind::Span) {
            return self.judged_passages(input);
        }
        if let Some(by) = self.judged_by.filter(|_| input.is_stream()) {
            return self.passing_judgments(input, by);
        }
        let (opened, form) = self.judgments_text(input)?;
        let (seed, size) = (Seed::random(), ChunkSize::default());
        let context = ReadContext { seed, size, watch: self.watch() };
        let (qrels, problems) = self.qrels_of(&opened, &form, None, context)?;
        problems.into_result(qrels)
    }

    /// Rejects `--qrels-doc-id` together with judgments by facet: it merges judgments that facets
    /// keep apart.
    pub(crate) fn check_qrels_units(&self) -> Result<()> {
        self.qrels_units.check()?;
        if let Some(by) = self.judged_by.filter(|_| self.qrels_units.is_some_rule()) {
            reject!(
                "--qrels-doc-id {} puts judgments together, which judgments by {by} keep apart: \
                 take one of the two",
                self.qrels_units
            );
        }
        Ok(())
    }

    /// Opens a text of qrels in memory, and detects its format.
    pub(crate) fn judgments_text(&self, input: Input) -> Result<(Arc<OpenInput>, DetectedFormat)> {
        let opened = Arc::new(input.open(self.access)?);
        let form =
            OpenText::open_buffered(self.read_settings(), opened.clone(), Purpose::Judgments).form;
        Ok((opened, form))
    }

    /// Reads qrels by facet (judge, subtopic or preference) from a stream, which can be read only
    /// once. Of TREC text nothing is held but its judgments, with their docnos.
    fn passing_judgments(&self, input: Input, by: FacetKind) -> Result<Qrels> {
        let mut text = StreamingText::from_input(input, self.watch.clone())?;
        let (mut head, name) = (text.head()?, text.name().to_owned());
        let settings = self.read_settings();
        // Other formats are listed when the whole text is read.
        let form = ReadSettings { recognised: None, ..settings }.detect(
            Purpose::Judgments,
            &name,
            Some(&head),
            None,
        );
        if !matches!(form, Ok(RowLayout { shape: RowShape::Trec, .. })) {
            // The other formats of judgments are read as a whole, so the text is read to its end.
            text.fill_buffer(&mut head, usize::MAX)?;
            return self.qrels(Input::Bytes { name, bytes: head });
        }
        if let (Some(recognised), Ok(form)) = (settings.recognised, &form) {
            recognised.add(&name, form, Role::Qrels);
        }
        let form = self.facet_form(by);
        // Reading from memory does not fail.
        let learn = |text: &[u8]| form.learn(text).ok().flatten();
        let fields = loop {
            // The last line of the head may be cut.
            if let Some(fields) = learn(&head[..last_line(&head)]) {
                break fields;
            }
            let wanted = 2 * head.len().max(1);
            if text.fill_buffer(&mut head, wanted)? {
                break learn(&head).unwrap_or(4);
            }
        };
        let mut text = Cursor::new(head).chain(text);
        let (qrels, problems) = form.read_stream(&name, fields, &mut text, self.watch())?;
        self.note_identical(&name, &qrels);
        problems.into_result(qrels)
    }

    /// Makes qrels of columns in memory, with the dialect, facet and watch of this join, for runs
    /// joined with it.
    ///
    /// # Errors
    /// As [`Qrels::columns`]; [`Error::Stopped`](crate::error::Error::Stopped).
    pub fn judgments(&self, batches: &[QrelsColumns<'_>]) -> Result<Qrels> {
        self.judgments_in_pieces(batches, PieceSize::default())
    }

    pub(crate) fn judgments_in_pieces(
        &self,
        batches: &[QrelsColumns<'_>],
        size: PieceSize,
    ) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && batches.iter().all(|batch| batch.query.is_empty()) {
            return Ok(Qrels::empty("qrels", self.dialect, Seed::random()));
        }
        let (seed, watch) = (Seed::random(), self.watch());
        let (qrels, problems) = match self.judged_by {
            Some(FacetKind::Span) => return self.judged_passages_of(batches),
            None => {
                let columns = CheckedColumns::from_judgments("qrels", batches, seed)?;
                qrels::read_from(&ColumnSource::all(&columns, size, watch), self, seed)?
            }
            Some(by) => facets::read_columns("qrels", batches, by, self.dialect, seed, watch)?,
        };
        self.note_identical("qrels", &qrels);
        problems.into_result(qrels)
    }

    /// Makes qrels by facet of judgments that were pushed row by row; [`Join::judgments`] takes
    /// columns.
    ///
    /// # Errors
    /// As [`Qrels::by_facet`]; [`Error::Stopped`](crate::error::Error::Stopped).
    pub fn judgments_by_facet(&self, rows: FacetQrelsBuilder) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && rows.is_empty() {
            return Ok(Qrels::empty("qrels", self.dialect, Seed::random()));
        }
        rows.finish(self.watch())
    }

    /// Reads qrels from an opened text, by facet (judge, subtopic or preference) if the join has
    /// one; returns the usable judgments and the problems. If the text is a run, `swapped` may be
    /// the qrels.
    pub(crate) fn qrels_of(
        &self,
        qrels: &OpenInput,
        form: &DetectedFormat,
        swapped: Option<&str>,
        context: ReadContext<'_>,
    ) -> Result<(Qrels, Problems)> {
        let (read, problems) = self.read_qrels(qrels, form, swapped, context)?;
        self.note_identical(&qrels.name, &read);
        Ok((read, problems))
    }

    fn read_qrels(
        &self,
        qrels: &OpenInput,
        form: &DetectedFormat,
        swapped: Option<&str>,
        context: ReadContext<'_>,
    ) -> Result<(Qrels, Problems)> {
        let name = &qrels.name;
        match (form, self.judged_by) {
            (Err(ForeignFormat::Swapped), _) if swapped.is_some() => {
                Err(foreign::swapped(Role::Qrels, name, swapped).into())
            }
            (Ok(form), None) => {
                let read = qrels::read(qrels, form, self, context)?;
                self.note_scores(name, form, &read.0);
                self.note_bare_rows(name, form, &read.0);
                Ok(read)
            }
            (Err(foreign), None)
            | (
                Err(foreign @ (ForeignFormat::Explained(..) | ForeignFormat::Table(..))),
                Some(FacetKind::Judge | FacetKind::Subtopic | FacetKind::Span),
            ) => {
                let none = Qrels::empty(name, self.dialect, context.seed);
                Ok((none, foreign.problems(Role::Qrels, name)))
            }
            // Lines of judgments by facet may look like another format: their reader names the
            // lines that are wrong.
            (Ok(RowLayout { shape: RowShape::Trec, .. }) | Err(_), Some(by)) => {
                self.facet_form(by).read(qrels, context)
            }
            (Ok(form), Some(by)) if form.has_facets() => {
                let read = facets::read_rows(qrels, form, by, self.dialect, context)?;
                self.note_bare_rows(name, form, &read.0);
                Ok(read)
            }
            (Ok(form), Some(by)) => {
                let from = match by {
                    FacetKind::Preference => "TREC text".to_owned(),
                    by => format!("TREC text, tables with a header, and records with a {by}"),
                };
                let name = printable_path(name.as_ref());
                reject!("{name} is {}: judgments by {by} are read from {from}", form.what)
            }
        }
    }

    /// Returns the form of judgments by this facet.
    fn facet_form(&self, by: FacetKind) -> FacetForm {
        FacetForm { by, dialect: self.dialect, fields: self.preference_fields }
    }

    /// Notes for the user how many rows of a qrels file lack a grade and were skipped, and queries
    /// without documents.
    fn note_bare_rows(&self, name: &str, form: &RowLayout, qrels: &Qrels) {
        let Some(recognised) = &self.recognised else { return };
        let bare = form.table().and_then(|table| table.bare.as_ref()).map_or(0, BareRows::count);
        let were = if bare == 1 { "was" } else { "were" };
        if bare > 0 {
            let rows = pluralize(bare as usize, "row");
            recognised.note(name, format!("{rows} without a grade {were} skipped"));
        }
        recognised.note_bare_queries(name, form.bare_queries(), |id| qrels.has_documents(id));
    }

    /// Notes for the user how many judgments were repeated with the same grade.
    fn note_identical(&self, name: &str, qrels: &Qrels) {
        let Some(recognised) = self.recognised.as_ref().filter(|_| qrels.identical > 0) else {
            return;
        };
        let what = match qrels.identical {
            1 => "1 judgment is repeated with the same grade, and counts once".to_owned(),
            count => format!("{count} judgments are repeated with the same grade, and count once"),
        };
        recognised.note(name, what);
    }

    /// Notes for the user that qrels may be a run, if they have many distinct grades that are no
    /// integers. Runs of TREC have lines with other fields, but tables and JSON look the same.
    fn note_scores(&self, name: &str, form: &RowLayout, qrels: &Qrels) {
        /// The least number of distinct grades that may be scores.
        const MANY: usize = 6;
        let grades = qrels.grades();
        let fractions = grades.iter().filter(|grade| grade.fract() != 0.0).count();
        let are_scores = grades.len() >= MANY && 2 * fractions > grades.len();
        if are_scores
            && !matches!(form.shape, RowShape::Trec)
            && let Some(recognised) = &self.recognised
            && let Some(last) = grades.last()
        {
            let what = format!(
                "{} distinct grades, and most are not integers, such as {last}: if these are the \
                 scores of a run, the order is QRELS RUN",
                grades.len()
            );
            recognised.add_doubt(name, what);
        }
    }
}
