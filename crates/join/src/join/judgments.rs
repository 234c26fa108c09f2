//! Judgments of a text, or in memory.

use std::io::{Cursor, Read};
use std::sync::Arc;

use crate::bytes::hash::Seed;
use crate::bytes::input::Input;
use crate::columns::Judgments;
use crate::error::{Error, Problems, Result, printable_path};
use crate::format::foreign::{self, OtherFormat};
use crate::format::opened::Opened;
use crate::format::{Form, RowShape};
use crate::join::facets::{self, JudgmentsByFacet};
use crate::join::qrels::{self, Qrels};
use crate::judged_by::JudgedBy;
use crate::lines::chunks::ChunkSize;
use crate::lines::layout::BareRows;
use crate::lines::shape::Role;
use crate::settings::Join;
use crate::text::passing::PassingText;
use crate::text::{Purpose, ToldForm, ToldText};

impl Join {
    /// Reads qrels with the dialect, file access and watch of this join, for runs joined with these
    /// settings.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use laneval::{ErrorKind, Join, Watch};
    /// let watch = Arc::new(Watch::default());
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
    /// As [`Qrels::read_as`]; [`Error::Stopped`].
    pub fn qrels(&self, input: impl Into<Input>) -> Result<Qrels> {
        self.check_qrels_units()?;
        let input = input.into();
        if self.judged_by == Some(JudgedBy::Span) {
            return self.judged_passages(input);
        }
        if let Some(by) = self.judged_by.filter(|_| input.passes()) {
            return self.passing_judgments(input, by);
        }
        let (opened, form) = self.judgments_text(input)?;
        let (qrels, problems) =
            self.qrels_of(&opened, &form, None, ChunkSize::default(), Seed::random())?;
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    /// Checks that judgments of pieces are not also judgments by facet.
    pub(crate) fn check_qrels_units(&self) -> Result<()> {
        self.qrels_units.check()?;
        match self.judged_by.filter(|_| self.qrels_units.is_given()) {
            None => Ok(()),
            Some(by) => Err(Error::Unanswerable(format!(
                "--qrels-units {} puts judgments together, which judgments by {by} keep apart: \
                 take one of the two",
                self.qrels_units
            ))),
        }
    }

    /// Opens judgments, which are held, and tells their format.
    pub(crate) fn judgments_text(&self, input: Input) -> Result<(Arc<Opened>, ToldForm)> {
        let opened = Arc::new(input.open(self.access)?);
        let form = ToldText::held(self.read_settings(), opened.clone(), Purpose::Judgments).form;
        Ok((opened, form))
    }

    /// Reads judgments by facet of an input that can be read once. Of TREC text nothing is held but
    /// its judgments.
    fn passing_judgments(&self, input: Input, by: JudgedBy) -> Result<Qrels> {
        let mut text = PassingText::watched(input, self.watch.clone())?;
        let (mut head, name) = (text.head()?, text.name().to_owned());
        let form = self.read_settings().told(Purpose::Judgments, &name, Some(&head), None);
        if !matches!(form, Ok(Form { shape: RowShape::Trec, .. })) {
            let mut wanted = 2 * head.len();
            while !text.hold(&mut head, wanted)? {
                wanted = 2 * head.len();
            }
            return self.qrels(Input::Bytes { name, bytes: head });
        }
        self.read_settings().recognise(&name, &form, Role::Qrels);
        let text = Cursor::new(head).chain(text);
        let of = (by, self.preference_fields);
        facets::sound(facets::read_passing(
            (&name, text),
            of,
            self.dialect,
            Seed::random(),
            self.watch(),
        )?)
    }

    /// Takes judgments from columns in memory, with the dialect, watch and groups of this join, for
    /// runs joined with these settings.
    ///
    /// # Errors
    /// As [`Qrels::columns`]; [`Error::Stopped`].
    pub fn judgments(&self, batches: &[Judgments<'_>]) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && batches.iter().all(|batch| batch.query.is_empty()) {
            return Ok(Qrels::none("qrels", self.dialect, Seed::random()));
        }
        match self.judged_by {
            Some(JudgedBy::Span) => self.judged_passages_of(batches),
            None => {
                Qrels::columns_of_units(batches, (self.dialect, &self.qrels_units), self.watch())
            }
            Some(by) => {
                let read = facets::read_columns(
                    ("qrels", batches),
                    by,
                    self.dialect,
                    Seed::random(),
                    self.watch(),
                )?;
                facets::sound(read)
            }
        }
    }

    /// Makes qrels from judgments pushed row by row; [`Join::judgments`] takes columns.
    ///
    /// # Errors
    /// As [`Qrels::by_facet`]; [`Error::Stopped`].
    pub fn judgments_by_facet(&self, rows: JudgmentsByFacet) -> Result<Qrels> {
        self.check_qrels_units()?;
        if self.part && rows.is_empty() {
            return Ok(Qrels::none("qrels", self.dialect, Seed::random()));
        }
        rows.finish(self.watch())
    }

    /// Reads qrels; returns the usable judgments and the problems. If the text is a run, `swapped`
    /// may be the qrels.
    pub(crate) fn qrels_of(
        &self,
        qrels: &Arc<Opened>,
        form: &ToldForm,
        swapped: Option<&str>,
        size: ChunkSize,
        seed: Seed,
    ) -> Result<(Qrels, Problems)> {
        if let (Err(OtherFormat::Swapped), Some(run)) = (form, swapped) {
            return Err(Error::Input(foreign::swapped(Role::Qrels, &qrels.name, Some(run))));
        }
        if let Some(by) = self.judged_by {
            return self.qrels_by_facet(qrels, form, by, seed);
        }
        match form {
            Ok(form) => {
                let read = qrels::read(
                    (qrels, form),
                    (self.dialect, &self.qrels_units),
                    size,
                    seed,
                    self.watch(),
                )?;
                self.note_scores(&qrels.name, form, &read.0);
                self.note_bare_rows(&qrels.name, form, &read.0);
                Ok(read)
            }
            Err(foreign) => {
                let none = Qrels::none(&qrels.name, self.dialect, seed);
                Ok((none, foreign.problems(Role::Qrels, &qrels.name)))
            }
        }
    }

    /// Reads qrels by facet; returns the usable judgments, and the problems.
    fn qrels_by_facet(
        &self,
        qrels: &Arc<Opened>,
        form: &ToldForm,
        by: JudgedBy,
        seed: Seed,
    ) -> Result<(Qrels, Problems)> {
        let text =
            || facets::read(qrels, (by, self.preference_fields), self.dialect, seed, self.watch());
        match form {
            Ok(Form { shape: RowShape::Trec, .. }) => text(),
            Ok(form) if form.has_groups() => {
                let read = facets::read_rows((qrels, form), by, self.dialect, seed, self.watch())?;
                self.note_bare_rows(&qrels.name, form, &read.0);
                Ok(read)
            }
            Ok(form) => {
                let from = match by {
                    JudgedBy::Preference => "TREC text".to_owned(),
                    by => format!("TREC text, tables with a header, and records with a {by}"),
                };
                let name = printable_path(qrels.name.as_ref());
                let message =
                    format!("{name} is {}: judgments by {by} are read from {from}", form.what);
                Err(Error::Unanswerable(message))
            }
            Err(foreign @ OtherFormat::Told(..) | foreign @ OtherFormat::Rows(..))
                if by != JudgedBy::Preference =>
            {
                let none = Qrels::none(&qrels.name, self.dialect, seed);
                Ok((none, foreign.problems(Role::Qrels, &qrels.name)))
            }
            Err(_) => text(),
        }
    }

    /// Notes how many rows were skipped because they have no grade, and queries without documents.
    fn note_bare_rows(&self, name: &str, form: &Form, qrels: &Qrels) {
        let bare = form.table().and_then(|table| table.bare.as_ref()).map_or(0, BareRows::count);
        if let (Some(recognised), 1..) = (&self.recognised, bare) {
            let were =
                if bare == 1 { "1 row without a grade was" } else { "rows without a grade were" };
            let count = if bare == 1 { String::new() } else { format!("{bare} ") };
            recognised.note(name, format!("{count}{were} skipped"));
        }
        if let Some(recognised) = &self.recognised {
            recognised.note_bare_queries(name, form.bare_queries(), qrels.queries());
        }
    }

    /// Notes judgments that may be a run: runs of TREC have lines with other fields, but tables and
    /// JSON look the same.
    fn note_scores(&self, name: &str, form: &Form, qrels: &Qrels) {
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
            recognised.doubt(name, what);
        }
    }
}
