//! Judgments by facet: lines that name a judge, a subtopic or a judgment group beside the document.
//!
//! ```text
//! by judge or subtopic   query group document grade
//! by preference          query group document level, or query group sub-group document level
//! ```
//!
//! Where the rows of a query are together, as in most files, a first look finds the queries
//! (`survey`), and each query is read and made at once (`by_query`). Other input is read piece
//! by piece, on all threads: streams, rows made of other formats, and files with scattered queries.
//! Its queries are made at the end of the input. Both ways number the documents of a query and the
//! names
//! of groups in a piece of rows (`piece`). Then each query's documents are numbered in bytewise
//! order, groups in the bytewise order of all their names, and its judgments are checked
//! (`made`). The made queries are put together (`part`), and plain labels are made of each
//! document's largest grade.
//!
//! ```text
//! text    q1 ann d7 1 │ q1 ann d3 0 │ q1 bob d7 2 ║ q1 bob d3 1 │ q2 ann d1 1
//!                                                 ║ a border of pieces, cut anywhere between lines
//! piece   stretch q1: d7 = 0, d3 = 1;  names: ann = 0, bob = 1
//!         rows (0, ann) (1, ann) (0, bob)         ║ stretch q1: d3 = 0; stretch q2 …
//!         24 bytes a row: grade, document, groups, line
//! query   q1: all its stretches; documents together d3, d7 → 0, 1; names of all pieces → 0, 1
//!         judgments by (document, group, sub-group), in room that was set aside for as many as q1
//!         has rows
//! ```
//!
//! Why documents are numbered twice: a piece cannot know the documents of the other pieces, and a
//! number of 4 bytes in each row is less than a docno. In most texts a document's lines are
//! together, or each group names the same documents in the same order. Then a row's document is the
//! last document or the next one: one comparison decides, and nothing is hashed
//! (`JudgmentPiece::push`). Counting puts rows in order by document; only a document's own few rows
//! out of order are sorted. So all the work is linear but for sorting distinct docnos and names.
//! Why bytewise order of names and docnos: the numbers are stored in matrices and summed over in
//! their order, so they must not depend on the order of the lines, on borders of pieces, or on
//! threads. ndeval and trec_eval also go by names: ndeval by docnos where gains are equal,
//! trec_eval by judgment groups when it averages.
//!
//! Nothing of a piece refers to the text, so that a pipe can be read by blocks; the price is that
//! each distinct docno of a stretch is copied once.

mod by_query;
mod fingerprint;
mod lines;
mod made;
mod part;
mod piece;
mod room;
mod shape;
mod survey;

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memrchr;
use rayon::prelude::*;

use super::qrels::Qrels;
use crate::bytes::hash::Seed;
use crate::bytes::limits::LONGEST_LINE;
use crate::columns::{CheckedColumns, Judgments};
use crate::error::{Error, Problems, Result};
use crate::format::Form;
use crate::format::opened::Opened;
use crate::format::tables::with_judgments;
use crate::judged_by::JudgedBy;
use crate::lines::chunks::line_after;
use crate::lines::diagnostics::{Earliest, whole_file};
use crate::lines::dialect::Dialect;
use crate::lines::scan::{Scanner, split};
use crate::lines::shape::{Role, counts};
use crate::rows::text_rows::{TextRow, each_judgment};
use crate::watch::{Watch, is_stopped, not_stopped};
use by_query::read_by_query;
use lines::PieceLines;
use made::{FacetNames, MadeQuery, Stretch};
use part::{MadePart, cut, made_parts, together};
use piece::{Growing, JudgmentPiece, JudgmentPlace, names_of};
use room::{AllJudgments, FacetRoom};
use shape::FacetShape;
use survey::{QueryPlace, Survey};

/// The bytes of text that one thread reads at a time, at least.
const PIECE: usize = 1 << 18;

/// The number of bytes of a stream to read before its pieces are worked on: enough for all threads.
const BLOCK: u64 = 8 << 20;

/// The bytes of a usual line.
const USUAL: usize = 32;

/// Reads judgments by facet; returns the usable judgments and the problems.
pub(crate) fn read(
    text: &Opened,
    by: (JudgedBy, Option<usize>),
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let mut reading = FacetText::new(by, dialect, seed, watch);
    let (bytes, codec) = text.content();
    watch.iter().for_each(|watch| watch.expect(bytes.len() as u64));
    match codec {
        None => {
            let tell = |read: usize| watch.iter().for_each(|watch| watch.add(read as u64));
            if let Some(read) = reading.by_query(bytes, &text.name, tell) {
                return read;
            }
            reading.add(bytes, tell)?;
        }
        Some(_) => {
            let tell = |read| watch.iter().for_each(|watch| watch.add(read));
            let blocks = text
                .text_told(tell)
                .map_err(|error| Error::io(text.name.as_ref(), "read", error))?;
            reading.add_blocks(&text.name, blocks)?;
        }
    }
    reading.finish(&text.name)
}

/// Reads the rows of a table or of records by judge or subtopic; returns the usable judgments and
/// the problems.
pub(crate) fn read_rows(
    (text, form): (&Opened, &Form),
    by: JudgedBy,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    if let Some(table) = form.columns() {
        return with_judgments(table, |batches| {
            CheckedColumns::of_judgments(&text.name, batches, seed)?.of_a_file(Role::Qrels)?;
            read_columns((&text.name, batches), by, dialect, seed, watch)
        });
    }
    let shape = FacetShape::of(by, 4, dialect);
    let mut rows = Growing::new(seed, shape.thins());
    let take = |line: u64, row: Result<TextRow<'_>, String>| {
        match row {
            Ok(row) => {
                let groups = [row.group.unwrap_or_default(), b""];
                take(
                    &mut rows,
                    shape,
                    line,
                    JudgmentPlace::alone(row.query, groups, row.doc),
                    row.value,
                );
            }
            Err(message) => rows.problem(line, message),
        }
        !is_stopped(watch)
    };
    let read = each_judgment((text, form), shape.rules, take);
    read.map_err(|source| Error::io(text.name.as_ref(), "read", source))?;
    assemble(rows.finish(), &text.name, shape, &form.expected(Role::Qrels), seed, watch)
}

/// Reads columns in memory by facet; returns the usable judgments and the problems, with row
/// numbers as line numbers.
pub(crate) fn read_columns(
    (name, batches): (&str, &[Judgments<'_>]),
    by: JudgedBy,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let columns = CheckedColumns::of_judgments(name, batches, seed)?;
    if let Some(batch) = columns.without_groups() {
        let message =
            format!("batch {batch}: the groups are missing, and judgments are read by {by}");
        return Err(Error::Input(whole_file(name, message)));
    }
    if by != JudgedBy::Preference && columns.have_subgroups() {
        let message = format!(
            "there are sub-groups, which only preferences have, and judgments are read by {by}"
        );
        return Err(Error::Input(whole_file(name, message)));
    }
    let shape = FacetShape::of(by, if columns.have_subgroups() { 5 } else { 4 }, dialect);
    if let Some(survey) = Survey::of_columns(&columns, seed) {
        let read = |(): &mut (), place: &QueryPlace, (piece, before): (&mut JudgmentPiece, u64)| {
            let first = place.range.start;
            columns.each_grouped(place.range.clone(), |at, query, groups, doc, grade| {
                let (line, row) =
                    (before + (at - first) as u64 + 1, JudgmentPlace::alone(query, groups, doc));
                match checked(shape, row, grade) {
                    Ok(grade) => piece.push_row(line as u32, row, grade),
                    Err(message) => piece.problems.add(line, || message),
                }
                true
            });
        };
        return read_by_query(survey, (name, shape, ""), seed, watch, || (), read);
    }
    let mut rows = Growing::new(seed, shape.thins());
    columns.each_grouped(0..columns.rows(), |at, query, groups, doc, grade| {
        take(&mut rows, shape, at as u64 + 1, JudgmentPlace::alone(query, groups, doc), grade);
        !is_stopped(watch)
    });
    assemble(rows.finish(), name, shape, "", seed, watch)
}

impl Qrels {
    /// Takes judgments (query, group, docno, grade) in any order; a document may have one judgment
    /// in each group. A group is a judge, a subtopic, or a group of preferences, with levels as
    /// grades. The result equals the judgments of a text with these fields.
    ///
    /// ```
    /// use laneval::{Evaluator, JudgedBy, Join, Qrels};
    /// let judgments = [("q1", "s1", "d1", 1.0), ("q1", "s2", "d1", 0.0), ("q1", "s2", "d2", 1.0)];
    /// let qrels = Qrels::by_facet(judgments, JudgedBy::Subtopic)?;
    /// let run = [("q1", "d1", 0.5), ("q1", "d2", 0.25)];
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
    /// let scores = Evaluator::new(["StRecall@1", "StRecall@2"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "StRecall@1"), Some(0.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Qrels::new`]; a document that is judged twice in a group; preferences that contradict
    /// one another.
    pub fn by_facet<Q: AsRef<[u8]>, G: AsRef<[u8]>, D: AsRef<[u8]>>(
        judgments: impl IntoIterator<Item = (Q, G, D, f64)>,
        by: JudgedBy,
    ) -> Result<Self> {
        let mut rows = JudgmentsByFacet::new(by, Dialect::Laneval)?;
        for (query, group, doc, grade) in judgments {
            rows.push(query.as_ref(), group.as_ref(), doc.as_ref(), grade);
        }
        Ok(rows.finish(None)?.of_any_dialect())
    }

    /// Returns a copy of the judgments with numbered documents. A matrix joined with the copy knows
    /// the judged documents of each ranking, as `pools` needs. The numbers take four bytes for each
    /// judged document that a run retrieves.
    ///
    /// With judgments by judge or subtopic, each document gets its largest grade.
    ///
    /// # Errors
    /// Judgments by span, which are of no documents.
    pub fn numbered(&self) -> Result<Self> {
        if self.passages().is_some() {
            return Err(Error::Unanswerable(
                "judgments by span name no documents that runs could share: make judgments of \
                 chunks of them"
                    .to_owned(),
            ));
        }
        /// The name of the one judge of all documents.
        const JUDGE: &[u8] = b"all";
        let shape = FacetShape::of(JudgedBy::Judge, 4, Dialect::Laneval);
        let (mut taken, mut line) = (Growing::new(self.seed(), shape.thins()), 0);
        for (query, id) in (0..).zip(self.queries().iter()) {
            for (doc, grade) in self.documents(query) {
                line += 1;
                take(&mut taken, shape, line, JudgmentPlace::alone(id, [JUDGE, b""], &doc), grade);
            }
        }
        let numbered = sound(assemble(taken.finish(), self.name(), shape, "", self.seed(), None)?)?;
        Ok(numbered.for_runs_of(self))
    }
}

/// Judgments by facet, pushed one row at a time in any order. The rows are equivalent to columns of
/// judgments, but need no columns.
///
/// ```
/// use laneval::columns::JudgmentsByFacet;
/// use laneval::{Dialect, Join, JudgedBy};
///
/// let mut rows = JudgmentsByFacet::new(JudgedBy::Subtopic, Dialect::Laneval)?;
/// rows.push(b"q1", b"s1", b"d1", 1.0);
/// rows.push(b"q1", b"s2", b"d1", 0.0);
/// let join = Join { judged_by: Some(JudgedBy::Subtopic), ..Join::default() };
/// assert_eq!(join.judgments_by_facet(rows)?.queries().len(), 1);
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct JudgmentsByFacet {
    rows: Growing,
    shape: FacetShape,
    seed: Seed,
    count: u64,
}

impl JudgmentsByFacet {
    /// Creates an empty collection for a [`Join`](crate::settings::Join) of this dialect and with
    /// these facets.
    ///
    /// # Errors
    /// Judgments by span, which have positions and no groups.
    pub fn new(by: JudgedBy, dialect: Dialect) -> Result<Self> {
        if by == JudgedBy::Span {
            return Err(Error::Unanswerable(
                "a judgment by span has a start and an end, and no group: `Qrels::by_span` takes \
                 these"
                    .to_owned(),
            ));
        }
        let (shape, seed) = (FacetShape::of(by, 4, dialect), Seed::random());
        Ok(JudgmentsByFacet { rows: Growing::new(seed, shape.thins()), shape, seed, count: 0 })
    }

    /// Takes a judgment, with its number, counted from 1, as its line. Problems are reported when
    /// the judgments are finished.
    #[inline]
    pub fn push(&mut self, query: &[u8], group: &[u8], doc: &[u8], grade: f64) {
        self.count += 1;
        let place = JudgmentPlace::alone(query, [group, b""], doc);
        take(&mut self.rows, self.shape, self.count, place, grade);
    }

    /// The number of judgments taken.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no judgment was taken.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Puts all of them together.
    pub(crate) fn finish(self, watch: Option<&Watch>) -> Result<Qrels> {
        sound(assemble(self.rows.finish(), "qrels", self.shape, "", self.seed, watch)?)
    }
}

/// Returns judgments without problems; rejects judgments with problems.
pub(crate) fn sound((qrels, problems): (Qrels, Problems)) -> Result<Qrels> {
    if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
}

/// Adds a judgment that comes from a source other than TREC text.
fn take(rows: &mut Growing, shape: FacetShape, line: u64, place: JudgmentPlace<'_>, grade: f64) {
    match checked(shape, place, grade) {
        Ok(grade) => rows.push(line, place, grade),
        Err(message) => rows.problem(line, message),
    }
}

/// Returns the checked grade of a judgment from a source other than TREC text, or a message.
fn checked(shape: FacetShape, place: JudgmentPlace<'_>, grade: f64) -> Result<f64, String> {
    if !shape.grade(grade).is_finite() {
        Err(format!("{} {grade} is not a finite number", shape.number()))
    } else if place.group.is_empty() {
        Err("the group is empty".to_owned())
    } else if shape.has_subgroups() && place.subgroup.is_none() {
        Err("the sub-group is empty".to_owned())
    } else {
        Ok(shape.grade(grade))
    }
}

/// Reads judgments by facet from a stream; returns the usable judgments and the problems.
pub(crate) fn read_passing(
    (name, text): (&str, impl Read),
    by: (JudgedBy, Option<usize>),
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let mut reading = FacetText::new(by, dialect, seed, watch);
    reading.add_blocks(name, text)?;
    reading.finish(name)
}

/// A text that is read in parallel, as a whole or block by block. Its pieces own their content, so
/// no part of the text has to stay in memory.
struct FacetText<'a> {
    by: JudgedBy,
    /// The number of fields of a line, once it is known.
    fields: Option<usize>,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&'a Watch>,
    pieces: Vec<JudgmentPiece>,
    /// The number of lines read.
    lines: u64,
}

impl<'a> FacetText<'a> {
    fn new(
        (by, fields): (JudgedBy, Option<usize>),
        dialect: Dialect,
        seed: Seed,
        watch: Option<&'a Watch>,
    ) -> Self {
        let fields = match by {
            JudgedBy::Preference => fields.map(|fields| fields.clamp(4, 5)),
            _ => Some(4),
        };
        FacetText { by, fields, dialect, seed, watch, pieces: Vec::new(), lines: 0 }
    }

    fn shape(&self) -> FacetShape {
        FacetShape::of(self.by, self.fields.unwrap_or(4), self.dialect)
    }

    /// Learns the number of fields of a line from the first one: both formats of preferences are
    /// told apart by it.
    fn learn_fields(&mut self, text: &[u8]) {
        if self.fields.is_none() {
            let comments = self.dialect.rules().qrels_comments;
            let mut lines = text.split(|&byte| byte == b'\n').filter(|line| counts(line, comments));
            self.fields = lines.next().map(|line| split(line).count().clamp(4, 5));
        }
    }

    /// Reads a whole text query by query; `None` if the lines of queries are not together. `tell`
    /// hears of the bytes of each place.
    fn by_query(
        &mut self,
        text: &[u8],
        name: &str,
        tell: impl Fn(usize) + Sync,
    ) -> Option<Result<(Qrels, Problems)>> {
        self.learn_fields(text);
        let (shape, seed, watch) = (self.shape(), self.seed, self.watch);
        let survey = Survey::of_text(text, &pieces(text), shape.rules.qrels_comments, seed)?;
        let told = AtomicUsize::new(0);
        let read = |scanner: &mut Scanner,
                    place: &QueryPlace,
                    (piece, before): (&mut JudgmentPiece, u64)| {
            scanner.each_line(
                &text[place.range.clone()],
                &mut PieceLines { piece, shape, before, of_one_query: true },
            );
            told.fetch_add(place.range.len(), Ordering::Relaxed);
            tell(place.range.len());
        };
        let described = (name, shape, &*format!(": {}", shape.expected()));
        let made = read_by_query(survey, described, seed, watch, Scanner::default, read);
        // What lies before the first query of a piece.
        tell(text.len().saturating_sub(told.into_inner()));
        Some(made)
    }

    /// Adds whole lines; `tell` hears of the bytes of each piece.
    fn add(&mut self, text: &[u8], tell: impl Fn(usize) + Sync) -> Result<()> {
        self.learn_fields(text);
        let (shape, seed, watch) = (self.shape(), self.seed, self.watch);
        let piece = |scanner: &mut Scanner, range: Range<usize>| {
            not_stopped(watch)?;
            tell(range.len());
            let (part, mut piece) = (
                &text[range.clone()],
                JudgmentPiece::new(seed, range.len() / USUAL, shape.thins()),
            );
            let lines = scanner.each_line(
                part,
                &mut PieceLines { piece: &mut piece, shape, before: 0, of_one_query: false },
            );
            piece.end();
            if piece.rows.capacity() > 2 * piece.rows.len() {
                piece.rows.shrink_to_fit(); // the lines were long
            }
            Ok((piece, lines))
        };
        let read = pieces(text).into_par_iter().map_init(Scanner::default, piece);
        for (mut piece, lines) in read.collect::<Result<Vec<(JudgmentPiece, u64)>>>()? {
            piece.before = self.lines;
            self.lines += lines;
            self.pieces.push(piece);
        }
        Ok(())
    }

    /// Adds a text block by block.
    fn add_blocks(&mut self, name: &str, mut text: impl Read) -> Result<()> {
        let mut block = Vec::new();
        loop {
            let read = text.by_ref().take(BLOCK).read_to_end(&mut block);
            let is_all = read.map_err(|error| Error::io(name.as_ref(), "read", error))? == 0;
            let lines = memrchr(b'\n', &block).map_or(0, |feed| feed + 1);
            // Reading stops at a line that is too long, which is reported.
            let is_all = is_all || block.len() - lines > LONGEST_LINE;
            let end = if is_all { block.len() } else { lines };
            self.add(&block[..end], |_| ())?;
            block.drain(..end);
            if is_all {
                return Ok(());
            }
        }
    }

    fn finish(self, name: &str) -> Result<(Qrels, Problems)> {
        let shape = self.shape();
        assemble(
            self.pieces,
            name,
            shape,
            &format!(": {}", shape.expected()),
            self.seed,
            self.watch,
        )
    }
}

/// Makes judgments of the rows of all pieces, and checks them. `expected` says what a row looks
/// like, behind a colon.
fn assemble(
    mut pieces: Vec<JudgmentPiece>,
    name: &str,
    shape: FacetShape,
    expected: &str,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    not_stopped(watch)?;
    let mut problems = Earliest::<String>::default();
    for piece in &mut pieces {
        problems.merge_after(piece.before, std::mem::take(&mut piece.problems));
        problems.leave_out(piece.dropped);
    }
    let count: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
    let names = names_of(&pieces);
    let numbers: Vec<Vec<u32>> =
        pieces.par_iter().map(|piece| piece.numbers_among(&names)).collect();
    let queries = stretches_by_query(&pieces);
    let of_stretch = |&(at, stretch): &(usize, usize)| (pieces[at].part(stretch), &numbers[at][..]);
    let rows =
        |stretches: &[(usize, usize)]| stretches.iter().map(|at| of_stretch(at).0.rows.len()).sum();
    let rooms: Vec<usize> = queries.iter().map(|(_, stretches)| rows(stretches)).collect();
    let mut all = AllJudgments::new(count, shape);
    let naming = FacetNames { shape, names: &names, seed };
    let make = |part: &mut MadePart, query: usize, mut room: FacetRoom<'_>| {
        let (id, stretches) = &queries[query];
        let stretches: Vec<Stretch<'_>> = stretches.iter().map(of_stretch).collect();
        let made = MadeQuery::of(id, &stretches, naming, &mut room);
        part.push(id, room.judgments.len(), made, (shape, seed));
    };
    let parts = made_parts((&rooms, &cut(&rooms)), &mut all, watch, MadePart::default, make)?;
    let names = names.into_iter().collect();
    together(all, parts, names, problems, (name, shape, expected), seed)
}

/// The id of a query, and the places of its rows: pieces, and stretches of them.
type QueryStretches<'p> = (&'p [u8], Vec<(usize, usize)>);

/// The places of the rows of each query, in order of queries.
fn stretches_by_query(pieces: &[JudgmentPiece]) -> Vec<QueryStretches<'_>> {
    let mut of_query: HashMap<&[u8], Vec<(usize, usize)>> = HashMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        for (stretch, query) in piece.queries.iter().enumerate() {
            of_query.entry(query).or_default().push((at, stretch));
        }
    }
    let mut queries: Vec<_> = of_query.into_iter().collect();
    queries.par_sort_unstable_by_key(|(query, _)| *query);
    queries
}

/// Cuts a text behind line feeds.
fn pieces(text: &[u8]) -> Vec<Range<usize>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let end = line_after(text, text.len().min(start + PIECE));
        pieces.push(start..end);
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bytes::input::Input;
    use crate::columns::Text;
    use crate::format::ReadAs;
    use crate::settings::Join;

    const TREC: &str = "q2 bob d1 2\nq1 ann d2 1\nq1 bob d2 0\nq1 ann d1 -1\nq2 7 e 1.5\n";

    fn read(by: JudgedBy, name: &str, text: &str, columns: Option<&str>) -> Result<Qrels> {
        let columns = columns.map(|columns| columns.parse().unwrap());
        let qrels_as = ReadAs { columns, ..ReadAs::default() };
        let join = Join { judged_by: Some(by), qrels_as, ..Join::default() };
        join.qrels(Input::Bytes { name: name.into(), bytes: text.into() })
    }

    fn all(qrels: &Qrels) -> impl PartialEq + std::fmt::Debug + use<> {
        let grouped = qrels.facets().unwrap().clone();
        (
            qrels.fingerprint(),
            qrels.queries().clone(),
            grouped,
            qrels.facts().clone(),
            qrels.book().clone(),
        )
    }

    /// The rows of a text in TREC.
    fn rows() -> Vec<[&'static str; 4]> {
        TREC.lines().map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap()).collect()
    }

    fn lines(header: &str, line: impl Fn([&str; 4]) -> String) -> String {
        let lines: Vec<String> = rows().into_iter().map(line).collect();
        format!("{header}{}\n", lines.join("\n"))
    }

    #[test]
    fn every_source_gives_the_same() {
        let expected = all(&read(JudgedBy::Judge, "qrels", TREC, None).unwrap());
        let check = |text: &str, columns: Option<&str>| {
            let qrels = read(JudgedBy::Judge, "qrels", text, columns).unwrap();
            assert_eq!(all(&qrels), expected, "{text}");
        };
        let record = |[query, judge, doc, grade]: [&str; 4]| {
            format!(
                "{{\"qid\": \"{query}\", \"rel\": {grade}, \"docno\": \"{doc}\", \
                 \"annotator\": \"{judge}\", \"x\": []}}"
            )
        };
        check(&lines("query_id\tjudge\tdoc_id\trelevance\n", |row| row.join("\t")), None);
        check(
            &lines("rel,doc,rater_id,x,topic\n", |[q, j, d, g]| format!("{g},{d},\"{j}\",,{q}")),
            None,
        );
        check(&lines("qid judge docno rel\n", |row| row.join(" ")), None);
        check(&lines("", record), None);
        check(&lines("", record).replace("\"7\"", "7"), None);
        check(&format!("[{}]", lines("", record).trim_end().replace('\n', ",\n")), None);
        let named = Some("query=a,judge=who,doc=b,grade=c");
        check(&lines("c,b,who,judge,a\n", |[q, j, d, g]| format!("{g},{d},{j},no,{q}")), named);
        let in_order = Some("doc,-,judge,grade,query");
        check(&lines("", |[q, j, d, g]| format!("{d},x y,{j},{g},{q}")), in_order);
        check(&lines("", |row| row.join(",")), None);
        let numbers = rows().into_iter().map(|[q, j, d, g]| (q, j, d, g.parse().unwrap()));
        assert_eq!(all(&Qrels::by_facet(numbers, JudgedBy::Judge).unwrap()), expected);
    }

    #[test]
    fn columns_in_any_batches_give_the_same() {
        let by = |by| Join { judged_by: Some(by), ..Join::default() };
        let trec = "q1 3 7 1\nq1 4 7 2\nq1 3 8 0\n";
        let (one, two) = (
            Judgments::new(&["q1", "q1"], &[7u8, 7], &[1i8, 2]).with_groups(&[3u8, 4]),
            Judgments::new(&["q1"], &["8"], &[0f32]).with_groups(&["3"]),
        );
        for group in [JudgedBy::Judge, JudgedBy::Subtopic, JudgedBy::Preference] {
            let text = read(group, "qrels", trec, None).unwrap();
            assert_eq!(all(&by(group).judgments(&[one, two]).unwrap()), all(&text));
        }
        let preferences =
            read(JudgedBy::Preference, "qrels", "q g s d 1\nq g s e 2\nq g t d 1\n", None);
        let subgroups = Judgments {
            subgroup: Some((&["s", "s", "t"]).into()),
            ..Judgments::new(&["q", "q", "q"], &["d", "e", "d"], &[1u8, 2, 1])
                .with_groups(&["g", "g", "g"])
        };
        let join = by(JudgedBy::Preference);
        assert_eq!(all(&join.judgments(&[subgroups]).unwrap()), all(&preferences.unwrap()));
        // Every row has a sub-group, or none has.
        let partly = Judgments { subgroup: Some((&["s", "", "t"]).into()), ..subgroups };
        let message = "qrels:2: the sub-group is empty";
        assert_eq!(join.judgments(&[partly]).unwrap_err().to_string(), message);
        let bare = Judgments::new(&["q"], &["f"], &[1u8]).with_groups(&["g"]);
        let message = "qrels:4: the sub-group is empty";
        assert_eq!(join.judgments(&[subgroups, bare]).unwrap_err().to_string(), message);
        let error = by(JudgedBy::Subtopic).judgments(&[subgroups]).unwrap_err().to_string();
        let message = "qrels: there are sub-groups, which only preferences have, and judgments are \
                       read by subtopic";
        assert_eq!(error, message);
        let said = |batches: &[Judgments<'_>]| {
            by(JudgedBy::Judge).judgments(batches).unwrap_err().to_string()
        };
        let bare = Judgments { group: None, ..two };
        assert_eq!(
            said(&[one, bare]),
            "qrels: batch 2: the groups are missing, and judgments are read by judge"
        );
        let message = "qrels: batch 1: 2 queries, 2 documents, 2 numbers, 1 groups: columns have \
                       the same length";
        assert_eq!(said(&[one.with_groups(&["a"])]), message);
        let message =
            "qrels:3: docno '7' is judged again by judge '3' for query 'q1', first on line 2";
        assert_eq!(said(&[two, one.with_groups(&["3", "3"])]), message);
        assert_eq!(said(&[two.with_groups(&[""])]), "qrels:1: the group is empty");
        let infinite = Judgments { grade: (&[f64::NAN, 1.0]).into(), ..one };
        assert_eq!(said(&[infinite]), "qrels:1: grade NaN is not a finite number");
    }

    #[test]
    fn a_watch_hears_of_reading_and_stops_it() {
        let watch = Arc::new(Watch::default());
        let join = Join {
            judged_by: Some(JudgedBy::Judge),
            watch: Some(watch.clone()),
            ..Join::default()
        };
        let text = || Input::Bytes { name: "qrels".into(), bytes: TREC.into() };
        join.qrels(text()).unwrap();
        assert_eq!((watch.done(), watch.total()), (TREC.len() as u64, TREC.len() as u64));
        watch.stop();
        assert!(matches!(join.qrels(text()), Err(Error::Stopped)));
        let records = lines("", |[q, j, d, g]| {
            format!(r#"{{"qid": "{q}", "judge": "{j}", "docid": "{d}", "rel": {g}}}"#)
        });
        let table = Input::Bytes { name: "qrels".into(), bytes: records.into_bytes() };
        assert!(matches!(join.qrels(table), Err(Error::Stopped)));
        let batch = Judgments::new(&["q1"], &["d"], &[1u8]).with_groups(&["a"]);
        assert!(matches!(join.judgments(&[batch]), Err(Error::Stopped)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let said = |text: &str, columns| {
            read(JudgedBy::Judge, "qrels", text, columns).unwrap_err().to_string()
        };
        for (text, columns, message) in [
            (
                "qid\titer\tdocid\trel\nq\t0\td\t1\n",
                None,
                "qrels:1: found no judge among 'qid', 'iter', 'docid', 'rel'",
            ),
            (
                "qid,docid,rel\nq,d,1\n",
                None,
                "known names are judge_id, judge, assessor_id, assessor,",
            ),
            (
                "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1}",
                None,
                "qrels:1: found no judge among 'qid'",
            ),
            ("q,d,1\n", None, "there is no header, and 3 columns: say which"),
            ("q,d,1\n", None, "(`--columns query,judge,doc,grade`)"),
            (
                "q,d,1\n",
                Some("query,doc,grade"),
                "qrels:1: the columns `query,doc,grade` have no judge",
            ),
            (
                "qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n",
                None,
                "qrels:2: the group is missing or empty in 'q,,d,1'",
            ),
            ("qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n", None, "qrels:3: grade 'x' is not a number"),
            (
                "qid,judge,docid,rel\nq,\"a\"\"b\",d,1\n",
                None,
                "qrels:2: the group has a quote (\") in it",
            ),
            (
                "qid,judge,docid,rel\nq,a,d,1\nq,b,d,1\nq,a,d,2\n",
                None,
                "qrels:4: docno 'd' is judged again by judge 'a' for query 'q', first on line 2",
            ),
            (
                "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": \
                 1, \"judge\": \"\"}\n{\"qid\": \"q\"}\n",
                None,
                "qrels:1: the judge is empty\nqrels:2: there is no 'docid' in the record",
            ),
            (
                "{\"q\": {\"d\": 1}}",
                None,
                "judgments by judge are read from TREC text, tables with a header",
            ),
            (
                "q a d 1\nq a d\n",
                None,
                "qrels:2: there are 3 fields: expected 'query judge docno grade'",
            ),
            (
                "q d 1\nq e 1\n",
                None,
                "qrels:1: there are 3 fields: expected 'query judge docno grade'",
            ),
        ] {
            let found = said(text, columns);
            assert!(found.contains(message), "{text}\n{found}");
        }
        let records = "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1, \"group\": \"g\"}\n";
        let error = read(JudgedBy::Preference, "qrels", records, None).unwrap_err().to_string();
        assert!(error.ends_with(": judgments by preference are read from TREC text"), "{error}");
    }

    #[test]
    fn many_grades_are_exact_as_without_facets() {
        let grade =
            |query: usize, doc: usize, judge: usize| (query * 60 + doc) as f64 / 7.0 - judge as f64;
        let mut text = String::new();
        let mut largest = Vec::new();
        for query in 0..400 {
            for doc in 0..(query % 50) {
                let judges = 1 + doc % 3;
                for judge in 0..judges {
                    text += &format!(
                        "q{query} j{judge} d{} {}\n",
                        doc * 37 % 50,
                        grade(query, doc, judge)
                    );
                }
                largest.push((
                    format!("q{query}"),
                    format!("d{}", doc * 37 % 50),
                    grade(query, doc, 0),
                ));
            }
        }
        let found = read(JudgedBy::Judge, "qrels", &text, None).unwrap();
        let expected = Qrels::new(largest).unwrap();
        assert!(expected.grades().len() > 5_000 && found.exact().is_some());
        assert_eq!(
            (found.exact(), found.facts(), found.grades()),
            (expected.exact(), expected.facts(), expected.grades())
        );
        // A run is labelled by the numbers of documents: were they others, its grades would be too.
        let run = || {
            (0..400).flat_map(|query| {
                (0..60).map(move |doc| (format!("q{query}"), format!("d{doc}"), doc as f64))
            })
        };
        let [one, other] = [&found, &expected].map(|qrels| {
            let matrix = Join::default().rankings(qrels, [("run".to_owned(), run())]).unwrap();
            (0..matrix.rows())
                .map(|row| matrix.exact().unwrap().rows.of(row).to_vec())
                .collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }

    /// A text whose queries are mostly together. It has `queries` of them, and `wrong` of a
    /// thousand lines are no judgments or repeat one.
    fn together_but(
        by: JudgedBy,
        fields: usize,
        queries: usize,
        wrong: usize,
        seed: u64,
    ) -> String {
        let mut state = seed;
        let mut below = |count: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % count
        };
        let (mut text, mut late) = (String::new(), Vec::new());
        for query in 0..queries {
            // Documents in order, and not, of short and of long names; names of groups of all
            // queries, and of one alone.
            let docs: Vec<String> = (0..below(9) + 1)
                .map(|doc| format!("{}{}", ["d", "a-longer-docno-"][doc % 2], below(3) + 3 * doc))
                .collect();
            let groups: Vec<String> = (0..below(5) + 1)
                .map(|group| [format!("{group}"), format!("{query}.{group}")][below(2)].clone())
                .collect();
            for (at, group) in groups.iter().enumerate() {
                for doc in &docs {
                    let level = if by == JudgedBy::Preference { doc.len() } else { below(3) };
                    let subgroup = if fields == 5 {
                        format!("{} ", ["s", "10"][at % 2])
                    } else {
                        String::new()
                    };
                    let line = format!(
                        "{}{query}\t{at}{group} {subgroup}{doc} {level}{}",
                        ["q", " q"][below(2)],
                        ["", "\r", " "][below(3)]
                    );
                    if below(60) == 0 {
                        late.push(line.clone());
                    } else {
                        text +=
                            &format!("{line}\n{}", ["\n", "# a remark\n", ""][below(40).min(2)]);
                    }
                    match below(1000) {
                        nth if nth < wrong => {
                            text += [
                                "q one\n",
                                "0 g d x y z\n",
                                "unknown a b c\n",
                                &format!("{line}\n"),
                            ][nth % 4]
                        }
                        _ => {}
                    }
                }
            }
        }
        text + &late.join("\n")
    }

    #[test]
    fn reading_by_query_finds_what_reading_piece_by_piece_finds() {
        let (mut sound, mut told) = (0, 0);
        for seed in 0..60 {
            let (queries, wrong) = if seed == 0 { (1500, 0) } else { (30, [0, 0, 20][seed % 3]) };
            for (by, fields) in [
                (JudgedBy::Judge, 4),
                (JudgedBy::Subtopic, 4),
                (JudgedBy::Preference, 4),
                (JudgedBy::Preference, 5),
            ] {
                for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
                    let text = together_but(by, fields, queries, wrong, seed as u64);
                    let reading = || FacetText::new((by, None), dialect, Seed::random(), None);
                    let mut pieces = reading();
                    pieces.add(text.as_bytes(), |_| ()).unwrap();
                    let expected = pieces.finish("qrels");
                    let bytes = AtomicUsize::new(0);
                    let tell = |count| _ = bytes.fetch_add(count, Ordering::Relaxed);
                    let found = reading().by_query(text.as_bytes(), "qrels", tell).unwrap();
                    assert_eq!(bytes.into_inner(), text.len());
                    match (expected, found) {
                        (Ok((qrels, problems)), Ok((same, also))) => {
                            assert_eq!(also, problems, "{text}");
                            assert_eq!(all(&same), all(&qrels), "{text}");
                            (sound, told) = (
                                sound + usize::from(problems.first.is_empty()),
                                told + problems.first.len(),
                            );
                        }
                        (expected, found) => {
                            assert_eq!(
                                found.unwrap_err().to_string(),
                                expected.unwrap_err().to_string()
                            )
                        }
                    }
                }
            }
        }
        assert!(sound > 100 && told > 100, "{sound} {told}");
        let scattered: String =
            (0..40).map(|line| format!("q{} a d{line} 1\n", line % 7)).collect();
        let mut reading =
            FacetText::new((JudgedBy::Judge, None), Dialect::Laneval, Seed::random(), None);
        assert!(reading.by_query(scattered.as_bytes(), "qrels", |_| ()).is_none());
    }

    #[test]
    fn columns_are_the_text_of_the_same_rows() {
        for seed in 0..30 {
            for (by, fields) in [
                (JudgedBy::Judge, 4),
                (JudgedBy::Subtopic, 4),
                (JudgedBy::Preference, 4),
                (JudgedBy::Preference, 5),
            ] {
                let text = together_but(by, fields, 30, 0, seed);
                let rows: Vec<Vec<&str>> = text
                    .lines()
                    .map(|line| line.split_whitespace().collect::<Vec<_>>())
                    .filter(|fields| fields.first().is_some_and(|first| *first != "#"))
                    .collect();
                let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
                let [query, group, subgroup, doc] = [0, 1, 2, fields - 2].map(column);
                let grade: Vec<f64> =
                    rows.iter().map(|row| row[fields - 1].parse().unwrap()).collect();
                let judgments = |rows: Range<usize>| Judgments {
                    subgroup: (fields == 5).then(|| Text::Strs(&subgroup[rows.clone()])),
                    ..Judgments::new(
                        Text::Strs(&query[rows.clone()]),
                        Text::Strs(&doc[rows.clone()]),
                        &grade[rows.clone()],
                    )
                    .with_groups(Text::Strs(&group[rows]))
                };
                // A border of batches within a query.
                let batches = [judgments(0..rows.len() / 2), judgments(rows.len() / 2..rows.len())];
                let expected = read(by, "qrels", &text, None).unwrap();
                let found =
                    read_columns(("qrels", &batches), by, Dialect::Laneval, Seed::random(), None)
                        .unwrap();
                assert!(
                    Survey::of_columns(
                        &CheckedColumns::of_judgments("", &batches, Seed::random()).unwrap(),
                        Seed::random()
                    )
                    .is_some()
                );
                assert_eq!(
                    (all(&found.0), found.1),
                    (all(&expected), Problems::default()),
                    "{text}"
                );
            }
        }
    }
}
