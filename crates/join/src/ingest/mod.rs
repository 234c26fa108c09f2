//! From text to labels: qrels and runs are read, joined and ranked in one pass.
//!
//! ```text
//! settings             what a join is asked for; sound: what holds for all its inputs together
//! limits               the longest line, and bytes that no row has inside
//! input, compression   a file is mapped, a stream decompressed; gzip and zstd are recognised by their content; how runs are named
//! chunks               pieces for the workers, cut between queries
//! format               the format of a text, and rows that are made of formats other than TREC and tables
//! scan, table, number  lines, rows, fields, numbers; separator, layout: what stands between fields, and what the fields are
//! shape, foreign       the shape of lines, for messages; texts that are in no known format
//! columns              rows that are columns in memory
//! tables               files of tables, which another crate reads as columns
//! record, hash, brief  a line as 32 bytes: sort key, hash of the docno, position of the docno
//! reader               rows, of text or in memory, become records, which are kept by query
//! group                the slower way, for rows in any order
//! interner             ids and their numbers
//! grouped              judgments by judge, by subtopic, or as preferences
//! doc_table, qrels     the judged documents of each query as a small hash table
//! rank, run            the records of a query → duplicates, order, labels
//! picked, picks        a few queries alone, with their documents
//! passing              a run that is read once, query by query; passing_text: its text
//! rows                 rows one after another, as they stand in a text
//! seen                 scores that may mislead
//! diagnostics          the problems of all lines, in the order of the lines
//! ```
//!
//! A dialect (see `dialect`) decides which lines are valid. The result depends neither on the number of threads nor on where the text is
//! cut.
//!
//! TREC, with fields between blanks, blank lines skipped, and comments as the dialect says (docs/formats.md has the other formats):
//!
//! ```text
//! qrels   query iter docno grade                  a grade < 0: pooled, but not judged
//! run     query iter docno rank score tag …       scores are sorted; the rank is ignored, unless it is to order equal scores
//! ```

mod brief;
mod by_query;
mod chunks;
pub mod columns;
mod compression;
mod diagnostics;
mod dialect;
mod doc_table;
mod foreign;
mod format;
mod grouped;
mod hash;
mod input;
mod interner;
mod layout;
mod limits;
mod number;
pub mod passing;
mod passing_text;
mod picked;
mod picks;
mod qrels;
mod rank;
mod reader;
mod record;
mod repeats;
mod rows;
mod run;
mod scan;
mod seen;
mod separator;
mod settings;
mod shape;
mod sound;
mod table;
pub mod tables;

use std::io::{Cursor, Read};
use std::num::NonZeroU32;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Problems, Result, printable_path};
use crate::label::{JudgedBy, LabelMatrix, RankingRule, StagedRun, Ties};
use crate::watch::Watch;

use chunks::ChunkSize;
use columns::{CheckedColumns, Collected, ColumnSource, Judgments, PieceSize, Records};
use diagnostics::RunProblems;
use foreign::{OtherFormat, head};
use format::tell::{KnownOfText, TableReaders, tell};
use format::{Form, Partner, RowShape};
use hash::Seed;
use input::{Opened, distinct_names, run_names};
use reader::TextSource;
use shape::Role;
use sound::{finish, sound, stdin_once};
use tables::with_records;

pub use dialect::Dialect;
pub use format::preview::{Preview, PreviewRow};
pub use format::{ColumnNames, InputFormat, OptionStyle, ReadAs, Recognised};
pub use input::{Input, RunInput};
pub use passing_text::PassingText;
pub use picked::{Picked, PickedQuery, Retrieved};
pub use qrels::Qrels;
pub use rows::{TextRank, TextRow};
pub use settings::Join;

impl Join {
    /// Reads qrels and runs, in any [`InputFormat`], which is recognised by the content. To join the same qrels with other runs as well,
    /// see [`Join::runs`].
    ///
    /// The lines of a run may be in any order. A run is read fastest, and without memory for each line, if the lines of a query are
    /// together. Queries that the qrels lack are counted ([`RunInfo::ignored`]); those that a run lacks have depth 0 in it. A run without a
    /// name of its own ([`RunInput::named`]) is named by as many of the last components of its path as distinguish it; paths that are equal
    /// throughout are numbered.
    ///
    /// # Errors
    /// An input that cannot be read or decompressed; the problems of all lines of all inputs, among them documents that are twice in a
    /// ranking or judged twice (under the dialects of trec_eval they are [`Error::Repeated`]); an input without lines; a run without a
    /// query of the qrels; two runs of one name that was given.
    ///
    /// [`RunInfo::ignored`]: crate::label::RunInfo::ignored
    pub fn files(
        &self,
        qrels: impl Into<Input>,
        runs: impl IntoIterator<Item = impl Into<RunInput>>,
    ) -> Result<LabelMatrix> {
        let runs = runs.into_iter().map(Into::into).collect();
        self.files_in_chunks(qrels.into(), runs, ChunkSize::default(), Seed::random())
    }

    fn files_in_chunks(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        size: ChunkSize,
        seed: Seed,
    ) -> Result<LabelMatrix> {
        let names = run_names(&runs)?;
        stdin_once(runs.iter().map(|run| &run.input).chain([&qrels]))?;
        if self.judged_by.is_some() && qrels.passes() {
            return self.runs(&self.qrels(qrels)?, runs);
        }
        let (qrels, form) = self.judgments_form(qrels.open(self.access)?);
        let runs = self.open(runs, names, form.as_ref().ok().and_then(Form::partner))?;
        let swapped =
            runs.iter().find(|run| run.form.as_ref().is_err_and(|other| *other == OtherFormat::Swapped));
        let swapped = swapped.map(|run| &run.text.name[..]);
        let (qrels, problems) = self.qrels_of(&qrels, &form, swapped, size, seed)?;
        let staged = self.read(&runs, &qrels, problems, size)?;
        let matrix = || finish(qrels.into_matrix(self.rule()), staged);
        rayon::join(matrix, || drop(runs)).0 // unmapping a large text takes a while
    }

    /// Opens judgments, and recognises their format by their first lines.
    fn judgments_form(&self, opened: Opened) -> (Arc<Opened>, ToldForm) {
        let opened = Arc::new(opened);
        let form = told(opened.start().as_deref(), self.known_of_judgments(&opened.name, Some(&opened)));
        self.recognise(&opened.name, &form);
        (opened, form)
    }

    /// Recognises the format of a run that is there as a whole.
    fn run_form(&self, text: &Arc<Opened>, partner: Option<&Partner>) -> ToldForm {
        let form = told(text.start().as_deref(), self.known_of_run(&text.name, Some(text), partner));
        self.recognise(&text.name, &form);
        self.ordered(form)
    }

    /// Recognises the format of a run called `name` that is read once, and starts with `start`.
    fn passing_form(&self, name: &str, start: &[u8], partner: Option<&Partner>) -> ToldForm {
        let form = told(Some(start), self.known_of_run(name, None, partner));
        self.recognise(name, &form);
        self.ordered(form)
    }

    /// Adapts the form of a run if its ranks have to order equal scores.
    fn ordered(&self, form: ToldForm) -> ToldForm {
        if self.ties == Ties::Rank { form.map(Form::ordered_by_ranks) } else { form }
    }

    fn known_of_judgments<'a>(&'a self, name: &'a str, text: Option<&'a Arc<Opened>>) -> KnownOfText<'a> {
        let tables = TableReaders { reader: self.tables, ranks: false };
        let (role, by, dialect, read_as) = (Role::Qrels, self.table_groups(), self.dialect, &self.qrels_as);
        KnownOfText { role, by, name, dialect, read_as, text, tables, partner: None }
    }

    fn known_of_run<'a>(
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
    fn table_groups(&self) -> Option<JudgedBy> {
        self.judged_by.filter(|&by| by != JudgedBy::Preference)
    }

    /// Adds the format of a text to the list of recognised ones.
    fn recognise(&self, name: &str, form: &ToldForm) {
        if let (Some(recognised), Ok(form)) = (&self.recognised, form) {
            recognised.add(name, form);
        }
    }

    /// Reads qrels; returns the usable ones, and the problems. If they are a run, this run may be the qrels.
    fn qrels_of(
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
            let text =
                || grouped::read(qrels, (by, self.preference_fields), self.dialect, seed, self.watch());
            return match form {
                Ok(Form { shape: RowShape::Trec, .. }) => text(),
                Ok(form) if form.has_groups() => {
                    grouped::read_rows((qrels, form), by, self.dialect, seed, self.watch())
                }
                Ok(form) => {
                    let from = match by {
                        JudgedBy::Preference => "TREC text".to_owned(),
                        by => format!("TREC text, tables with a header, and records with a {by}"),
                    };
                    let name = printable_path(qrels.name.as_ref());
                    let message = format!("{name} is {}: judgments by {by} are read from {from}", form.what);
                    Err(Error::Unanswerable(message))
                }
                Err(foreign @ OtherFormat::Told(..) | foreign @ OtherFormat::Rows(..))
                    if by != JudgedBy::Preference =>
                {
                    let none = Qrels::none(&qrels.name, self.dialect, seed);
                    Ok((none, foreign.problems(Role::Qrels, &qrels.name)))
                }
                Err(_) => text(),
            };
        }
        match form {
            Ok(form) => {
                let read = qrels::read((qrels, form), self.dialect, size, seed, self.watch())?;
                self.note_scores(&qrels.name, form, &read.0);
                Ok(read)
            }
            Err(foreign) => {
                let none = Qrels::none(&qrels.name, self.dialect, seed);
                Ok((none, foreign.problems(Role::Qrels, &qrels.name)))
            }
        }
    }

    /// Notes judgments that may be a run: runs of TREC have lines with other fields, but tables and JSON look the same.
    fn note_scores(&self, name: &str, form: &Form, qrels: &Qrels) {
        /// The number of distinct grades from which on they may be scores.
        const MANY: usize = 6;
        let grades = qrels.grades();
        let fractions = grades.iter().filter(|grade| grade.fract() != 0.0).count();
        let are_scores = grades.len() >= MANY && 2 * fractions > grades.len();
        if let (Some(recognised), Some(last), true) =
            (&self.recognised, grades.last(), are_scores && !matches!(form.shape, RowShape::Trec))
        {
            let what = format!(
                "{} distinct grades, most of them no integers, such as {last}: if these are the scores of a run, the order is QRELS RUN",
                grades.len()
            );
            recognised.doubt(name, what);
        }
    }

    /// Reads qrels for runs that will be joined by these settings: in the same dialect, access and watch.
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
    /// assert_eq!(join.runs(&qrels, ["examples/data/demo-bm25.run"]).unwrap_err().kind(), ErrorKind::Stopped);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Qrels::read_as`]; [`Error::Stopped`].
    pub fn qrels(&self, input: impl Into<Input>) -> Result<Qrels> {
        let input = input.into();
        if let Some(by) = self.judged_by.filter(|_| input.passes()) {
            return self.passing_judgments(input, by);
        }
        let (opened, form) = self.judgments_form(input.open(self.access)?);
        let (qrels, problems) = self.qrels_of(&opened, &form, None, ChunkSize::default(), Seed::random())?;
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    /// Reads judgments by group of an input that can be read once. Of TREC text nothing is held but its judgments.
    fn passing_judgments(&self, input: Input, by: JudgedBy) -> Result<Qrels> {
        let mut text = PassingText::watched(input, self.watch.clone())?;
        let (mut head, name) = (text.head()?, text.name().to_owned());
        let form = told(Some(&head), self.known_of_judgments(&name, None));
        if !matches!(form, Ok(Form { shape: RowShape::Trec, .. })) {
            let mut wanted = 2 * head.len();
            while !text.hold(&mut head, wanted)? {
                wanted = 2 * head.len();
            }
            return self.qrels(Input::Bytes { name, bytes: head });
        }
        self.recognise(&name, &form);
        let text = Cursor::new(head).chain(text);
        let of = (by, self.preference_fields);
        grouped::sound(grouped::read_passing((&name, text), of, self.dialect, Seed::random(), self.watch())?)
    }

    /// Takes judgments from columns in memory for runs that will be joined by these settings: in the same dialect and watch, and by the same
    /// groups.
    ///
    /// # Errors
    /// As [`Qrels::columns`]; [`Error::Stopped`].
    pub fn judgments(&self, batches: &[Judgments<'_>]) -> Result<Qrels> {
        if self.part && batches.iter().all(|batch| batch.query.is_empty()) {
            return Ok(Qrels::none("qrels", self.dialect, Seed::random()));
        }
        match self.judged_by {
            None => Qrels::columns_in_pieces(batches, self.dialect, PieceSize::default(), self.watch()),
            Some(by) => {
                let read = grouped::read_columns(
                    ("qrels", batches),
                    by,
                    self.dialect,
                    Seed::random(),
                    self.watch(),
                )?;
                grouped::sound(read)
            }
        }
    }

    /// Reads runs of text, and joins them with qrels that were read before.
    ///
    /// ```
    /// use laneval::{Input, Join, Qrels, RunInput};
    /// let qrels = Qrels::new([("q1", "d1", 1.0), ("q1", "d2", 0.0)])?;
    /// for name in ["bm25", "splade"] {
    ///     let text = Input::Bytes { name: name.into(), bytes: "q1 Q0 d1 1 2.5 tag\n".into() };
    ///     let matrix = Join::default().runs(&qrels, [RunInput::named(name, text)])?;
    ///     assert_eq!(matrix.runs()[0].name, name);
    /// }
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::files`]; qrels that were read in another dialect.
    pub fn runs(
        &self,
        qrels: &Qrels,
        runs: impl IntoIterator<Item = impl Into<RunInput>>,
    ) -> Result<LabelMatrix> {
        self.check_dialect(qrels)?;
        let runs: Vec<RunInput> = runs.into_iter().map(Into::into).collect();
        let names = run_names(&runs)?;
        stdin_once(runs.iter().map(|run| &run.input))?;
        let runs = self.open(runs, names, qrels.partner())?;
        let staged = self.read(&runs, qrels, Problems::default(), ChunkSize::default())?;
        let matrix = || finish(qrels.matrix(self.rule()), staged);
        rayon::join(matrix, || drop(runs)).0
    }

    /// Opens runs, and recognises their formats by their first lines.
    fn open(
        &self,
        runs: Vec<RunInput>,
        names: Vec<String>,
        partner: Option<&Partner>,
    ) -> Result<Vec<OpenedRun>> {
        let texts = runs.into_iter().map(|run| run.input.open(self.access).map(Arc::new));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let forms: Vec<_> = texts.par_iter().map(|text| self.run_form(text, partner)).collect();
        let runs = names.into_iter().zip(texts).zip(forms);
        Ok(runs.map(|((name, text), form)| OpenedRun { name, text, form }).collect())
    }

    /// Reads runs, and returns them if neither they nor the qrels have problems; `problems` are those of the qrels.
    fn read(
        &self,
        runs: &[OpenedRun],
        qrels: &Qrels,
        problems: Problems,
        size: ChunkSize,
    ) -> Result<Vec<StagedRun>> {
        let joining = self.joining(qrels);
        let read = |OpenedRun { name, text, form }: &OpenedRun| match form {
            Ok(Form { shape: RowShape::Columns(table), .. }) => with_records(&**table, |batches| {
                let columns =
                    CheckedColumns::of_run(&text.name, batches, qrels.seed())?.of_a_file(Role::Run)?;
                let source = ColumnSource::all(&columns, PieceSize::default(), self.watch());
                run::read(&source, name, joining)
            }),
            Ok(form) => run::read(&TextSource { text, form, size, watch: self.watch() }, name, joining),
            // Without their judgments scores cannot be recognised, which is not a problem of the run.
            Err(OtherFormat::ScoresAlone) if !problems.first.is_empty() => {
                Ok((StagedRun::default(), RunProblems::default()))
            }
            Err(foreign) => {
                let lines = foreign.problems(Role::Run, &text.name);
                Ok((StagedRun::default(), RunProblems { lines, ..RunProblems::default() }))
            }
        };
        let staged: Vec<_> = runs.par_iter().map(read).collect();
        sound(problems, staged.into_iter().collect::<Result<Vec<_>>>()?, qrels)
    }

    /// Checks that the lines of the qrels were read by the rules for lines of runs.
    fn check_dialect(&self, qrels: &Qrels) -> Result<()> {
        match qrels.dialect() {
            Some(dialect) if dialect != self.dialect => Err(Error::Unanswerable(format!(
                "{} was read as {dialect:?}, so runs cannot be joined with it as {:?}",
                printable_path(qrels.name().as_ref()),
                self.dialect
            ))),
            _ => Ok(()),
        }
    }

    /// Joins runs in memory, each with a name and its results (query, docno, score) in any order.
    ///
    /// ```
    /// use laneval::{Join, Qrels};
    /// let qrels = Qrels::new([("q1", "d1", 1.0)])?;
    /// let run = [("q1", "d1", 0.5), ("q1", "d7", 0.25), ("q2", "d7", 0.5)];
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
    /// assert_eq!(matrix.runs()[0].ignored.count, 1);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::runs`]; the file of a problem is the name of the run, its line the number of the result, from 1. Equal scores that
    /// are to be ordered by [`Ties::Rank`].
    pub fn rankings<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        &self,
        qrels: &Qrels,
        runs: impl IntoIterator<Item = (String, impl IntoIterator<Item = (Q, D, f64)>)>,
    ) -> Result<LabelMatrix> {
        self.check_dialect(qrels)?;
        self.check_ties_in_memory()?;
        let read = |(name, results): (String, _)| {
            let rows = Collected::of(results);
            self.read_columns(&name, &[rows.records(&rows.queries())], qrels, PieceSize::default())
        };
        let staged = runs.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        finish(qrels.matrix(self.rule()), sound(Problems::default(), staged, qrels)?)
    }

    /// Joins runs whose results are columns in memory, in any order and any number of batches; each run has a name and its batches.
    ///
    /// Columns are borrowed as they lie. Joining is fastest if the rows of a query are together, in one batch or in several that follow one
    /// another, and if queries are codes of a dictionary or integers.
    ///
    /// ```
    /// use laneval::columns::{Integers, Records, Text};
    /// use laneval::{Join, Qrels};
    ///
    /// let qrels = Qrels::new([("q1", "42", 1.0), ("q2", "7", 2.0)])?;
    /// let names = Text::from(&["q1", "q2"]);
    /// let queries = Text::Coded { codes: Integers::from(&[0u8, 0, 1]), values: &names };
    /// let batch = Records::scored(queries, &[7u32, 42, 7], &[2.5f32, 1.5, 9.0]);
    /// let matrix = Join::default().columns(&qrels, &[("mine", &[batch])])?;
    /// assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [1, 3]); // not in the qrels; grade 1
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Columns of different lengths, or with invalid content: offsets that descend or lie beyond the bytes, codes beyond their dictionary,
    /// views beyond their buffers. Scores that are NaN; documents of a query that have the same rank, where ranks decide. Otherwise as
    /// [`Join::runs`]; the file of a problem is the name of the run, its line the row, from 1, in all batches together.
    pub fn columns(&self, qrels: &Qrels, runs: &[(&str, &[Records<'_>])]) -> Result<LabelMatrix> {
        self.columns_in_pieces(qrels, runs, PieceSize::default())
    }

    fn columns_in_pieces(
        &self,
        qrels: &Qrels,
        runs: &[(&str, &[Records<'_>])],
        size: PieceSize,
    ) -> Result<LabelMatrix> {
        self.check_dialect(qrels)?;
        self.check_ties_in_memory()?;
        distinct_names(runs.iter().map(|(name, _)| *name))?;
        let read = |(name, batches): &(&str, &[Records<'_>])| self.read_columns(name, batches, qrels, size);
        let staged = runs.par_iter().map(read).collect::<Result<Vec<_>>>()?;
        finish(qrels.matrix(self.rule()), sound(Problems::default(), staged, qrels)?)
    }

    /// Reads one run of columns, called `name`.
    fn read_columns(
        &self,
        name: &str,
        batches: &[Records<'_>],
        qrels: &Qrels,
        size: PieceSize,
    ) -> Result<(StagedRun, RunProblems)> {
        let columns = CheckedColumns::of_run(name, batches, qrels.seed())?;
        // A file without a result is a mistake; a system may well find nothing.
        let joining = run::Joining { may_be_empty: true, ..self.joining(qrels) };
        run::read(&ColumnSource::all(&columns, size, self.watch()), name, joining)
    }

    /// The watch of the join.
    fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Checks that equal scores in memory can be ordered.
    fn check_ties_in_memory(&self) -> Result<()> {
        match self.ties {
            Ties::Rank => Err(Error::Unanswerable(
                "rankings in memory have no rank column that could order equal scores: give them in that order, with ties `input`".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn joining<'a>(&'a self, qrels: &'a Qrels) -> run::Joining<'a> {
        let (rule, rules) = (self.rule(), self.dialect.rules());
        let (keep_ties, drop_identical_ids) = (self.keep_ties, self.drop_identical_ids);
        run::Joining {
            qrels,
            rule,
            rules,
            keep_ties,
            part: self.part,
            may_be_empty: self.part,
            drop_identical_ids,
            watch: self.watch(),
        }
    }

    pub fn rule(&self) -> RankingRule {
        RankingRule {
            ties: self.ties,
            score: self.dialect.score(self.score),
            depth: self.depth.map(NonZeroU32::get),
        }
    }
}

/// A run that was opened and not read yet.
struct OpenedRun {
    name: String,
    text: Arc<Opened>,
    /// The format of the run.
    form: ToldForm,
}

/// The format of a text, or what an unreadable text is instead.
type ToldForm = std::result::Result<Form, OtherFormat>;

/// Recognises the format of a text that starts with `start`. If the start cannot be read, the rest cannot either, and its reader reports
/// the error.
fn told(start: Option<&[u8]>, known: KnownOfText<'_>) -> ToldForm {
    start.map_or_else(|| Ok(Form::trec()), |start| tell(head(start), known))
}

#[cfg(test)]
mod tests {
    use super::hash::tests::{KNOWN, OTHER, colliding};
    use super::*;
    use crate::cases::cases;
    use proptest::prelude::*;

    fn input(name: &str, text: &str) -> Input {
        Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    /// Returns everything that is in a matrix.
    fn all(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug + use<> {
        let ids = (matrix.queries().clone(), matrix.runs().to_vec());
        let labels = (matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
        let judged = (matrix.facts().clone(), matrix.book().clone(), matrix.fingerprint());
        (ids, labels, judged, matrix.rule(), matrix.tied_groups().cloned())
    }

    /// Cuts both texts everywhere, plain and compressed, under two seeds, and compares the results.
    fn check(join: Join, qrels: &str, run: &str) {
        let compressed = |input: Input| match input {
            Input::Bytes { name, bytes } => {
                Input::Bytes { name, bytes: zstd::encode_all(&bytes[..], 1).unwrap() }
            }
            other => other,
        };
        let read = |qrels: Input, run: Input, size: usize| {
            let seed = if size.is_multiple_of(2) { KNOWN } else { OTHER };
            let matrix = join.files_in_chunks(qrels, vec![run.into()], ChunkSize(size), seed);
            matrix.map(|matrix| all(&matrix)).map_err(|error| error.to_string())
        };
        let (qrels_text, run_text) = (input("qrels", qrels), input("run", run));
        let whole = read(qrels_text.clone(), run_text.clone(), usize::MAX / 2);
        for size in 1..=qrels.len().max(run.len()) {
            assert_eq!(read(qrels_text.clone(), run_text.clone(), size), whole, "in chunks of {size}");
            if size % 5 == 1 {
                let (qrels, run) = (compressed(qrels_text.clone()), compressed(run_text.clone()));
                assert_eq!(read(qrels, run, size), whole, "compressed, in blocks of {size}");
            }
        }
    }

    #[test]
    fn cuts_change_nothing() {
        let qrels = "2 0 a 1\n2 0 b 0\n\n10 0 a -1\n1 0 c 3\n1 0 a 2\n";
        let ranked =
            "2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n# 1\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n1 Q0 c 2 1 t\n9 Q0 a 1 1 u\n";
        for (_, ties) in Ties::ALL {
            let join = Join { ties, keep_ties: true, ..Join::default() };
            check(join.clone(), qrels, ranked);
            check(Join { depth: NonZeroU32::new(1), ..join.clone() }, qrels, ranked);
            check(join, &format!("{qrels}2 0 c 1"), &format!("{ranked}2 Q0 c 1 9 v"));
        }
        check(
            Join::default(),
            &format!("{qrels}2 0 a 1\n10 0 a 1"),
            &format!("{ranked}x\n2 Q0 a 1 1 t\n2 Q0 a 1 2 t"),
        );
    }

    /// Hashes of queries and documents that are all the same under one of two seeds change nothing.
    #[test]
    fn hashes_change_nothing() {
        let ids: Vec<[u8; 16]> = colliding(KNOWN).take(12).collect();
        let line = |n: usize, rest: String| {
            [&ids[n * 7 % 3][..], b" 0 ", &ids[n * 5 % 12], rest.as_bytes(), b"\n"].concat()
        };
        let qrels: Vec<Vec<u8>> = (0..10).map(|n| line(n, format!(" {}", n % 3))).collect();
        let run: Vec<Vec<u8>> = (0..12).map(|n| line(n, format!(" 1 {} t", n % 4))).collect();
        let (qrels, run) = (qrels.concat(), run.concat());
        let read = |seed: Seed| {
            let input = |name: &str, bytes: &[u8]| Input::Bytes { name: name.into(), bytes: bytes.into() };
            let (qrels, run) = (input("qrels", &qrels), input("run", &run));
            Join::default().files_in_chunks(qrels, vec![run.into()], ChunkSize(1 << 20), seed).unwrap()
        };
        assert_eq!(all(&read(KNOWN)), all(&read(OTHER)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(60)))]

        #[test]
        fn cuts_change_nothing_in_any_text(
            qrels in "(([12] 0 [a-f] [0-2]|# x|[12]|)\n){1,8}", run in "(([123] 0 [a-j] 1 [0-3] [tu]|# 1|[12] 0|)\r?\n){1,12}"
        ) {
            for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
                check(Join { dialect, ..Join::default() }, &qrels, &run);
            }
            check(Join { dialect: Dialect::Trec10, depth: NonZeroU32::new(2), ..Join::default() }, &qrels, &run);
        }
    }
}
