//! The reading of qrels by the settings of a [`Join`], from a text or from columns in memory.

use std::io::{Cursor, Read};
use std::sync::Arc;

use crate::bytes::hash::Seed;
use crate::bytes::input::Input;
use crate::columns::QrelsColumns;
use crate::error::{Error, Problems, Result, printable_path};
use crate::format::detect::foreign::{self, ForeignFormat};
use crate::format::open_input::OpenInput;
use crate::format::{RowLayout, RowShape};
use crate::join::facets::{self, FacetForm, FacetQrelsBuilder};
use crate::join::qrels::{self, Qrels};
use crate::judged_by::FacetKind;
use crate::lines::chunks::ChunkSize;
use crate::lines::layout::BareRows;
use crate::lines::scan::last_line;
use crate::lines::shape::Role;
use crate::record::columns::PieceSize;
use crate::record::text_source::ReadContext;
use crate::settings::Join;
use crate::text::streaming::StreamingText;
use crate::text::{DetectedFormat, OpenText, Purpose};

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
    /// As [`Qrels::read_with`]; [`Error::Stopped`].
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
        let (qrels, problems) =
            self.qrels_of(&opened, &form, None, ChunkSize::default(), Seed::random())?;
        problems.into_result(qrels)
    }

    /// Rejects `--qrels-doc-id` together with judgments by facet: it merges judgments that facets
    /// keep apart.
    pub(crate) fn check_qrels_units(&self) -> Result<()> {
        self.qrels_units.check()?;
        match self.judged_by.filter(|_| self.qrels_units.is_some_rule()) {
            None => Ok(()),
            Some(by) => Err(Error::Unanswerable(format!(
                "--qrels-doc-id {} puts judgments together, which judgments by {by} keep apart: \
                 take one of the two",
                self.qrels_units
            ))),
        }
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
        let mut text = StreamingText::with_progress(input, self.watch.clone())?;
        let (mut head, name) = (text.head()?, text.name().to_owned());
        let form = self.read_settings().detect_format(Purpose::Judgments, &name, Some(&head), None);
        if !matches!(form, Ok(RowLayout { shape: RowShape::Trec, .. })) {
            let mut wanted = 2 * head.len();
            // The other formats of judgments are read as a whole, so the text is read to its end.
            while !text.fill_buffer(&mut head, wanted)? {
                wanted = 2 * head.len();
            }
            return self.qrels(Input::Bytes { name, bytes: head });
        }
        self.read_settings().record_format(&name, &form, Role::Qrels);
        let form = self.facet_form(by);
        let mut fields = None;
        while fields.is_none() {
            // The last line of the head may be cut.
            let (whole, wanted) = (last_line(&head), 2 * head.len().max(1));
            // Reading from memory does not fail.
            fields = form.learn(&head[..whole]).ok().flatten();
            if fields.is_none() && text.fill_buffer(&mut head, wanted)? {
                fields = form.learn(&head[..]).ok().flatten().or(Some(4));
            }
        }
        let mut text = Cursor::new(head).chain(text);
        let fields = fields.unwrap_or(4);
        let (qrels, problems) = form.read_stream(&name, fields, &mut text, self.watch())?;
        problems.into_result(qrels)
    }

    /// Makes qrels of columns in memory, with the dialect, facet and watch of this join, for runs
    /// joined with it.
    ///
    /// # Errors
    /// As [`Qrels::columns`]; [`Error::Stopped`].
    pub fn judgments(&self, batches: &[QrelsColumns<'_>]) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && batches.iter().all(|batch| batch.query.is_empty()) {
            return Ok(Qrels::empty("qrels", self.dialect, Seed::random()));
        }
        let (dialect, watch) = (self.dialect, self.watch());
        match self.judged_by {
            Some(FacetKind::Span) => self.judged_passages_of(batches),
            None => {
                let (units, size) = (&self.qrels_units, PieceSize::default());
                Qrels::columns_in_pieces(batches, dialect, units, size, watch)
            }
            Some(by) => {
                let seed = Seed::random();
                let (qrels, problems) =
                    facets::read_columns("qrels", batches, by, dialect, seed, watch)?;
                problems.into_result(qrels)
            }
        }
    }

    /// Makes qrels by facet of judgments that were pushed row by row; [`Join::judgments`] takes
    /// columns.
    ///
    /// # Errors
    /// As [`Qrels::by_facet`]; [`Error::Stopped`].
    pub fn judgments_by_facet(&self, rows: FacetQrelsBuilder) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && rows.is_empty() {
            return Ok(Qrels::empty("qrels", self.dialect, Seed::random()));
        }
        rows.finish(self.watch())
    }

    /// Reads qrels from an opened text; returns the usable judgments and the problems. If the text
    /// is a run, `swapped` may be the qrels.
    pub(crate) fn qrels_of(
        &self,
        qrels: &Arc<OpenInput>,
        form: &DetectedFormat,
        swapped: Option<&str>,
        size: ChunkSize,
        seed: Seed,
    ) -> Result<(Qrels, Problems)> {
        if let (Err(ForeignFormat::Swapped), Some(run)) = (form, swapped) {
            return Err(Error::Input(foreign::swapped(Role::Qrels, &qrels.name, Some(run))));
        }
        if let Some(by) = self.judged_by {
            return self.qrels_by_facet(
                qrels,
                form,
                by,
                ReadContext { seed, size, watch: self.watch() },
            );
        }
        match form {
            Ok(form) => {
                let (dialect, units) = (self.dialect, &self.qrels_units);
                let context = ReadContext { seed, size, watch: self.watch() };
                let read = qrels::read(qrels, form, dialect, units, context)?;
                self.note_scores(&qrels.name, form, &read.0);
                self.note_bare_rows(&qrels.name, form, &read.0);
                Ok(read)
            }
            Err(foreign) => {
                let none = Qrels::empty(&qrels.name, self.dialect, seed);
                Ok((none, foreign.problems(Role::Qrels, &qrels.name)))
            }
        }
    }

    /// Reads qrels by facet from an opened text; returns the usable judgments and the problems.
    fn qrels_by_facet(
        &self,
        qrels: &Arc<OpenInput>,
        form: &DetectedFormat,
        by: FacetKind,
        context: ReadContext<'_>,
    ) -> Result<(Qrels, Problems)> {
        let (dialect, seed) = (self.dialect, context.seed);
        match form {
            Ok(RowLayout { shape: RowShape::Trec, .. }) => {}
            Ok(form) if form.has_facets() => {
                let read = facets::read_rows(qrels, form, by, dialect, context)?;
                self.note_bare_rows(&qrels.name, form, &read.0);
                return Ok(read);
            }
            Ok(form) => {
                let from = match by {
                    FacetKind::Preference => "TREC text".to_owned(),
                    by => format!("TREC text, tables with a header, and records with a {by}"),
                };
                let name = printable_path(qrels.name.as_ref());
                let message =
                    format!("{name} is {}: judgments by {by} are read from {from}", form.what);
                return Err(Error::Unanswerable(message));
            }
            Err(foreign @ (ForeignFormat::Explained(..) | ForeignFormat::Rows(..)))
                if by != FacetKind::Preference =>
            {
                let none = Qrels::empty(&qrels.name, dialect, seed);
                return Ok((none, foreign.problems(Role::Qrels, &qrels.name)));
            }
            // Lines of judgments by facet may look like another format: their reader names the
            // lines that are wrong.
            Err(_) => {}
        }
        self.facet_form(by).read(qrels, context)
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
        match bare {
            0 => {}
            1 => recognised.note(name, "1 row without a grade was skipped".to_owned()),
            _ => recognised.note(name, format!("{bare} rows without a grade were skipped")),
        }
        let judged = qrels.queries();
        recognised.note_bare_queries(name, form.bare_queries(), |id| judged.find(id).is_some());
    }

    /// Notes for the user that qrels may be a run, if they have many distinct grades that are no
    /// integers. Runs of TREC have lines with other fields, but tables and JSON look the same.
    fn note_scores(&self, name: &str, form: &RowLayout, qrels: &Qrels) {
        /// The least number of distinct grades that may be scores.
        const MANY: usize = 6;
        let grades = qrels.grades();
        let fractions = grades.iter().filter(|grade| grade.fract() != 0.0).count();
        let are_scores = grades.len() >= MANY && 2 * fractions > grades.len();
        if let (Some(recognised), Some(last), true) =
            (&self.recognised, grades.last(), are_scores && !matches!(form.shape, RowShape::Trec))
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
