//! Judgments: read from text or from memory into the tables that runs are joined with.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::doc_table::{DocTable, MOST_DOCUMENTS, Shelf};
use super::rank::too_many;
use super::united::{JudgedUnits, UnitsSeen};
use crate::bytes::brief::Brief;
use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::bytes::input::Input;
use crate::bytes::interner::Interner;
use crate::bytes::mmap::FileAccess;
use crate::columns::{self, CheckedColumns, Collected};
use crate::error::{DIFFERENT_GRADE, Error, Problems, Result};
use crate::facets::agreement::{JudgeAgreement, Rating, agreement};
use crate::format::opened::Opened;
use crate::format::tables::with_judgments;
use crate::format::{Form, Partner};
use crate::ids::Ids;
use crate::judged_by::JudgedBy;
use crate::lines::chunks::ChunkSize;
use crate::lines::diagnostics::{Finding, Findings, join, quoted, whole_file};
use crate::lines::dialect::{Dialect, Rules};
use crate::lines::shape::Role;
use crate::matrix::code::{Extent, FIRST_GRADE, MAX_GRADES, NEGATIVE};
use crate::matrix::{
    Codebook, ExactFacts, FacetJudgment, Facets, Facts, GoldFacts, MatrixBuilder, StagedRun,
};
use crate::record::by_query::{HeldInput, Scattered, each_query};
use crate::record::columns::{ColumnSource, PieceSize};
use crate::record::packed::{Docnos, Record};
use crate::record::reader::{Make, RowReader, Source, TextSource, Together, WorkerResults, gather};
use crate::record::repeats::repeats;
use crate::settings::Join;
use crate::sort;
use crate::spans::{GoldPositions, GoldSpan};
use crate::units::rule::Units;
use crate::watch::Watch;

/// Judgments that can be joined with any number of runs.
///
/// Judgments take about 24 bytes each, and 64 bytes for each query, beside the ids.
///
/// ```
/// use laneval::Qrels;
/// let qrels = Qrels::new([("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d1", -1.0)])?;
/// assert_eq!(qrels.queries().iter().collect::<Vec<_>>(), [b"q1", b"q2"]);
/// assert_eq!(qrels.book().grades(), [0.0, 2.0]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug)]
pub struct Qrels {
    name: String,
    /// The dialect of the text; `None` for judgments from memory, which can be joined in every
    /// dialect.
    dialect: Option<Dialect>,
    book: Codebook,
    queries: Interner,
    /// For each query, its successor in the text, if known: runs often follow the order of the
    /// qrels.
    after: Vec<u32>,
    facts: Facts,
    /// The exact grades of each query, if codes are classes of grades.
    exact: Option<ExactFacts>,
    /// The judgments by facet, if facets were read; documents are then numbered.
    grouped: Option<Arc<Facets>>,
    /// The judged passages, if judgments are by span; the tables then have no documents.
    passages: Option<JudgedPassages>,
    tables: Vec<DocTable>,
    shelves: Vec<Shelf>,
    fingerprint: u128,
    /// The queries with documents that are judged twice, if such documents matter only in evaluated
    /// queries.
    repeats: Vec<(Vec<u8>, Problems)>,
    /// The seed with which docnos and queries are hashed.
    seed: Seed,
    /// The facts about the judgments that runs without ids need, if such runs can join.
    partner: Option<Partner>,
}

/// The judged passages of all queries.
#[derive(Debug)]
pub(crate) struct JudgedPassages {
    pub facts: Arc<GoldFacts>,
    /// By query.
    pub positions: Vec<GoldPositions>,
    /// The passages as they were given, query by query.
    pub given: Vec<GoldSpan>,
}

impl Qrels {
    /// Reads lines of `query iter docno grade`, in any order, or another
    /// [`InputFormat`](crate::format::InputFormat), recognised by the content.
    ///
    /// # Errors
    /// An unreadable input; the problems of its lines, among them documents judged twice for a
    /// query; no judgments at all.
    ///
    /// ```
    /// use laneval::{Input, Qrels};
    /// let text = b"q1 0 d1 1\nq1 0 d2 high\n".to_vec();
    /// let error = Qrels::read(Input::Bytes { name: "my.qrels".into(), bytes: text }).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "my.qrels:2: grade 'high' is not a number: expected 'query iter docno grade'"
    /// );
    /// ```
    pub fn read(input: impl Into<Input>) -> Result<Self> {
        Self::read_as(input, Dialect::default(), FileAccess::default())
    }

    /// Reads lines of `query iter docno grade` in a dialect, for a [`Join`](crate::settings::Join) of
    /// the same dialect; a file is opened by `access`.
    ///
    /// # Errors
    /// As [`Qrels::read`]. The dialects of trec_eval report documents judged twice only when a run
    /// is joined, and only for queries of the run.
    pub fn read_as(input: impl Into<Input>, dialect: Dialect, access: FileAccess) -> Result<Self> {
        Join { dialect, access, ..Join::default() }.qrels(input)
    }

    /// Takes judgments (query, docno, grade) in any order.
    ///
    /// # Errors
    /// As [`Qrels::read`]; the line of a problem is the number of the judgment, from 1.
    pub fn new<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        judgments: impl IntoIterator<Item = (Q, D, f64)>,
    ) -> Result<Self> {
        let rows = Collected::of(judgments);
        let qrels = Self::columns(&[rows.judgments(&rows.queries())], Dialect::Laneval)?;
        Ok(Qrels { dialect: None, ..qrels })
    }

    /// The same judgments, for runs of any dialect.
    pub(crate) fn of_any_dialect(self) -> Self {
        Qrels { dialect: None, ..self }
    }

    /// Takes judgments from columns in memory, in any order and any number of batches, for a
    /// [`Join`](crate::settings::Join) of this dialect.
    ///
    /// ```
    /// use laneval::columns::{Integers, Judgments, Text};
    /// use laneval::{Dialect, Qrels};
    ///
    /// let names = Text::from(&["q1", "q2"]);
    /// let queries = Text::Coded { codes: Integers::from(&[0u8, 0, 1]), values: &names };
    /// let batch = Judgments::new(queries, &[7u32, 42, 7], &[1i8, 0, 2]);
    /// let qrels = Qrels::columns(&[batch], Dialect::Laneval)?;
    /// assert_eq!(
    ///     qrels.fingerprint(),
    ///     Qrels::new([("q1", "7", 1.0), ("q1", "42", 0.0), ("q2", "7", 2.0)])?.fingerprint()
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Columns of different lengths, or with invalid content: offsets that descend or lie beyond
    /// the bytes, codes beyond their dictionary, views beyond their buffers. Otherwise as
    /// [`Qrels::read_as`]; the line of a problem is the row, from 1, in all batches together.
    pub fn columns(batches: &[columns::Judgments<'_>], dialect: Dialect) -> Result<Self> {
        Self::columns_in_pieces(batches, dialect, PieceSize::default(), None)
    }

    /// Takes judgments from columns in memory, and merges judgments by `units`.
    pub(crate) fn columns_of_units(
        batches: &[columns::Judgments<'_>],
        (dialect, units): (Dialect, &Units),
        watch: Option<&Watch>,
    ) -> Result<Self> {
        let seed = Seed::random();
        let columns = CheckedColumns::of_judgments("qrels", batches, seed)?;
        let source = ColumnSource::all(&columns, PieceSize::default(), watch);
        let (qrels, problems) = read_from(&source, (dialect, units), seed)?;
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    pub(crate) fn columns_in_pieces(
        batches: &[columns::Judgments<'_>],
        dialect: Dialect,
        size: PieceSize,
        watch: Option<&Watch>,
    ) -> Result<Self> {
        let seed = Seed::random();
        let columns = CheckedColumns::of_judgments("qrels", batches, seed)?;
        let source = ColumnSource::all(&columns, size, watch);
        let (qrels, problems) = read_from(&source, (dialect, &Units::AsIs), seed)?;
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    /// The judgments of a text that is not read: none.
    pub(crate) fn none(name: &str, dialect: Dialect, seed: Seed) -> Self {
        let (read, scattered) = gather(Vec::new());
        let qrels = sort_out(
            read,
            scattered,
            HeldInput::Passing,
            (name, &|line| line),
            JudgmentRules { rules: dialect.rules(), exact: false, units: &Units::AsIs },
            seed,
        )
        .0;
        Qrels { dialect: Some(dialect), ..qrels }
    }

    /// The judged queries, in bytewise order.
    pub fn queries(&self) -> &Ids {
        self.queries.ids()
    }

    /// The codebook: the grades and their codes.
    pub fn book(&self) -> &Codebook {
        &self.book
    }

    /// The numbers of documents of each query with each grade.
    #[doc(hidden)]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The exact grades of each query, if the qrels have more than 253 distinct grades.
    #[doc(hidden)]
    pub fn exact(&self) -> Option<&ExactFacts> {
        self.exact.as_ref()
    }

    /// The judgments by facet, if facets were read.
    #[doc(hidden)]
    pub fn facets(&self) -> Option<&Arc<Facets>> {
        self.grouped.as_ref()
    }

    /// The names of the judges, in bytewise order, and how far they agree; `None` unless judgments
    /// were read by judge.
    ///
    /// ```
    /// use laneval::{JudgedBy, Input, Join};
    /// let text = b"q1 anna d1 1\nq1 ben d1 1\nq1 anna d2 0\n\
    ///              q1 ben d2 1\nq1 anna d3 0\nq1 ben d3 0\n".to_vec();
    /// let join = Join { judged_by: Some(JudgedBy::Judge), ..Join::default() };
    /// let (names, found) =
    ///     join.qrels(Input::Bytes { name: "qrels".into(), bytes: text })?.agreement().unwrap();
    /// assert_eq!(names.iter().collect::<Vec<_>>(), [b"anna".as_slice(), b"ben"]);
    /// assert_eq!((found.pairs[0].common, found.pairs[0].equal), (3, 2));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn agreement(&self) -> Option<(Ids, JudgeAgreement)> {
        let grouped = self.grouped.as_ref().filter(|grouped| grouped.by == JudgedBy::Judge)?;
        let of_query = |query: usize| {
            let first = grouped.documents(query).start as u32;
            let rating = move |of: &FacetJudgment| Rating {
                item: first + of.document,
                judge: of.group,
                grade: of.grade,
            };
            grouped.of(query).judgments.iter().map(rating)
        };
        let ratings: Vec<Rating> = (0..grouped.judgments.len()).flat_map(of_query).collect();
        // Does not fail: the ratings were checked when they were read.
        Some((grouped.names.clone(), agreement(&ratings, grouped.names.len()).ok()?))
    }

    /// Sets the fingerprint, to keep the original fingerprint of judgments stored with other
    /// negative grades.
    #[doc(hidden)]
    pub fn with_fingerprint(self, fingerprint: u128) -> Self {
        Qrels { fingerprint, ..self }
    }

    /// Makes judgments of the queries `ids` from shelves of finished tables.
    pub(super) fn of_shelves(
        ids: Ids,
        shelves: Vec<Shelving<'_>>,
        (name, dialect): (&str, Dialect),
        seed: Seed,
    ) -> Self {
        let (read, _) = gather::<JudgmentReader, Scattered>(Vec::new());
        let (qrels, _) = finish(read, ids, shelves, None, (name, &|line| line), seed);
        Qrels { dialect: Some(dialect), ..qrels }
    }

    /// Sets the judgments by facet, and their fingerprint.
    pub(crate) fn with_facets(self, grouped: Arc<Facets>, fingerprint: u128) -> Self {
        Qrels { grouped: Some(grouped), fingerprint, ..self }
    }

    /// Sets judged passages of these queries, and their fingerprint.
    pub(crate) fn with_passages(
        self,
        ids: Ids,
        passages: JudgedPassages,
        fingerprint: u128,
    ) -> Self {
        let mut facts = Facts::new();
        ids.iter().for_each(|_| facts.push([]));
        let queries = Interner::of(ids, self.seed);
        Qrels { queries, facts, passages: Some(passages), fingerprint, ..self }
    }

    /// The judged passages, if judgments are by span.
    pub(crate) fn passages(&self) -> Option<&JudgedPassages> {
        self.passages.as_ref()
    }

    /// What the judged passages of queries come to, if judgments are by span.
    #[doc(hidden)]
    pub fn gold_facts(&self) -> Option<&Arc<GoldFacts>> {
        self.passages.as_ref().map(|passages| &passages.facts)
    }

    /// The facet of the judgments: judge, subtopic, preference or span, if a facet was read.
    pub fn judged_by(&self) -> Option<JudgedBy> {
        let by_span = self.passages.as_ref().map(|_| JudgedBy::Span);
        self.grouped.as_ref().map(|grouped| grouped.by).or(by_span)
    }

    /// Takes dialect, repeats, partner and fingerprint from `other`, to join the runs of `other`.
    pub(crate) fn for_runs_of(self, other: &Qrels) -> Self {
        let (dialect, repeats, partner) =
            (other.dialect, other.repeats.clone(), other.partner.clone());
        Qrels { dialect, repeats, partner, fingerprint: other.fingerprint, ..self }
    }

    /// Whether the tables of judged documents keep exact grades, or numbers.
    pub(crate) fn keeps_keys(&self) -> bool {
        self.exact.is_some() || self.grouped.is_some()
    }

    /// The distinct grades ≥ 0, ascending.
    pub fn grades(&self) -> Vec<f64> {
        self.exact.as_ref().map_or_else(|| self.book.grades().to_vec(), ExactFacts::distinct)
    }

    /// The wrapping sum of the xxh3-128 hashes of all judgments: it does not depend on their order.
    ///
    /// A judgment is hashed as length of query (`u64`), query, length of docno (`u64`), docno,
    /// grade (`f64`), little-endian.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// The name of the judgments in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The dialect of the text of the judgments, if they were text.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Returns whether runs that have only scores, and name no documents, belong to these
    /// judgments.
    #[doc(hidden)]
    pub fn take_scores(&self) -> bool {
        self.partner.is_some()
    }

    /// Returns the facts about the judgments that runs without ids need, if such runs can join.
    pub(crate) fn partner(&self) -> Option<&Partner> {
        self.partner.as_ref()
    }

    /// The seed of the hashes of docnos.
    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the index of the query `id`.
    #[inline]
    pub(crate) fn query(&self, id: &[u8]) -> Option<u32> {
        self.queries.get(id)
    }

    /// Returns the index of the query `text[start..end]`.
    #[inline(always)]
    pub(crate) fn query_in(&self, text: &[u8], [start, end]: [usize; 2]) -> Option<u32> {
        self.queries.get_in(text, start, end)
    }

    /// Returns the index of the query `id` of a run, in which `last` is the query before it.
    ///
    /// Comparing the id with a guess saves a look into the hash table, and with it most often a
    /// wait for memory.
    #[inline]
    pub(crate) fn query_after(&self, last: Option<u32>, id: &[u8]) -> Option<u32> {
        let guess = last.and_then(|last| self.after.get(last as usize)).copied();
        guess.filter(|&guess| self.queries.is(guess, id)).or_else(|| self.query(id))
    }

    /// Returns the judged documents of a query.
    #[inline]
    pub(crate) fn judged(&self, query: u32) -> (&Shelf, DocTable) {
        let table = self.tables[query as usize];
        (&self.shelves[table.shelf as usize], table)
    }

    /// Returns the documents that the qrels name for a query, by docno, with their grades; a
    /// negative grade may be any.
    pub(crate) fn documents(&self, query: u32) -> Vec<(Vec<u8>, f64)> {
        if self.passages.is_some() {
            return Vec::new();
        }
        let (shelf, table) = self.judged(query);
        let of_code =
            |(docno, code): (&[u8], u8)| (docno.to_vec(), self.book.grade(code).unwrap_or(-1.0));
        let mut documents: Vec<(Vec<u8>, f64)> = match self.exact {
            Some(_) if self.grouped.is_none() => shelf
                .keys(table)
                .map(|(docno, key)| (docno.to_vec(), f64::from_bits(key)))
                .collect(),
            _ => shelf.documents(table).map(of_code).collect(),
        };
        documents.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        documents
    }

    /// Calls `take` with each judgment: query, group (empty unless judgments were read by facet),
    /// sub-group, document, grade. A negative grade without groups may be any. Of a passage, start
    /// and end stand for group and sub-group.
    #[doc(hidden)]
    pub fn each_judgment(&self, mut take: impl FnMut(&[u8], [&[u8]; 2], &[u8], f64)) {
        if let Some(passages) = &self.passages {
            for of in &passages.given {
                let [start, end] = [of.span.start(), of.span.end()].map(|at| at.to_string());
                take(&of.query, [start.as_bytes(), end.as_bytes()], &of.doc, of.grade);
            }
            return;
        }
        for (query, id) in (0..).zip(self.queries.ids().iter()) {
            let documents = self.documents(query);
            let Some(grouped) = &self.grouped else {
                documents.iter().for_each(|(doc, grade)| take(id, [b"", b""], doc, *grade));
                continue;
            };
            for (of, subgroup) in grouped.of(query as usize).with_subgroups() {
                let name = |number: u32| grouped.names.get(number as usize);
                let doc = &documents[of.document as usize].0;
                let subgroup = if grouped.has_subgroups() { name(subgroup) } else { b"" };
                take(id, [name(of.group), subgroup], doc, of.grade);
            }
        }
    }

    /// Returns documents judged twice for queries that a run has, unless these documents were
    /// reported before.
    pub(crate) fn repeats(&self, runs: &[StagedRun]) -> Problems {
        let rows = runs.iter().flat_map(|run| &run.pieces).flat_map(|piece| &piece.rows);
        self.repeats_in(rows.map(|row| row.query))
    }

    /// Returns documents judged twice for the queries of `evaluated`, unless these documents were
    /// reported before.
    pub(crate) fn repeats_in(&self, evaluated: impl Iterator<Item = u32>) -> Problems {
        if self.repeats.is_empty() {
            return Problems::default();
        }
        let evaluated: HashSet<u32> = evaluated.collect();
        let counts = |id: &[u8]| self.query(id).is_some_and(|query| evaluated.contains(&query));
        let found =
            self.repeats.iter().filter(|(id, _)| counts(id)).map(|(_, problems)| problems.clone());
        let mut found: Vec<Problems> = found.collect();
        let line = |of: &Problems| of.first.first().map(|problem| problem.line);
        sort::by(&mut found, |one, other| line(one).cmp(&line(other)));
        join(found)
    }

    /// Begins a matrix without runs.
    pub(crate) fn matrix(&self, join: &Join) -> MatrixBuilder {
        let shared = join.shared_judgments.then(|| self.shared_judgments()).flatten();
        let (queries, facts) = (self.queries.ids().clone(), self.facts.clone());
        MatrixBuilder::new(self.book.clone(), join.rule(), self.fingerprint, queries, facts)
            .with_exact(self.exact.clone())
            .with_facets(self.grouped.clone())
            .with_spans(self.passages.as_ref().map(|passages| passages.facts.clone()))
            .with_shared_judgments(shared)
    }

    /// Begins a matrix without runs, and frees the tables.
    pub(crate) fn into_matrix(self, join: &Join) -> MatrixBuilder {
        let shared = join.shared_judgments.then(|| self.shared_judgments()).flatten();
        MatrixBuilder::new(
            self.book,
            join.rule(),
            self.fingerprint,
            self.queries.into_ids(),
            self.facts,
        )
        .with_exact(self.exact)
        .with_facets(self.grouped)
        .with_spans(self.passages.map(|passages| passages.facts))
        .with_shared_judgments(shared)
    }
}

/// Reads judgments; returns the usable judgments and the problems.
pub(crate) fn read(
    (text, form): (&Opened, &Form),
    (dialect, units): (Dialect, &Units),
    size: ChunkSize,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    if let Some(table) = form.columns() {
        return with_judgments(table, |batches| {
            let columns =
                CheckedColumns::of_judgments(&text.name, batches, seed)?.of_a_file(Role::Qrels)?;
            read_from(
                &ColumnSource::all(&columns, PieceSize::default(), watch),
                (dialect, units),
                seed,
            )
        });
    }
    let (qrels, problems) =
        read_from(&TextSource::held(text, form, size, watch), (dialect, units), seed)?;
    Ok((Qrels { partner: form.partner().cloned(), ..qrels }, problems))
}

/// Reads judgments from any source; returns the usable judgments and the problems. If the source
/// has more distinct grades than codes, reads the source again with exact grades.
pub(crate) fn read_from(
    source: &impl Source,
    (dialect, units): (Dialect, &Units),
    seed: Seed,
) -> Result<(Qrels, Problems)> {
    let of = JudgmentRules { rules: dialect.rules(), exact: false, units };
    let first = read_with(source, of, seed)?;
    let ((qrels, mut problems), count) = if first.0.0.book.is_exact() {
        first
    } else {
        read_with(source, JudgmentRules { exact: true, ..of }, seed)?
    };
    if count == 0 {
        let expected = source.expected(Role::Qrels);
        problems = whole_file(source.name(), format!("there is no judgment in it{expected}"));
    }
    Ok((Qrels { dialect: Some(dialect), ..qrels }, problems))
}

/// How judgments are read.
#[derive(Clone, Copy)]
struct JudgmentRules<'u> {
    rules: Rules,
    /// Whether tables keep exact grades beside codes.
    exact: bool,
    units: &'u Units,
}

/// Reads judgments, perhaps with exact grades; returns what can be used of them, the problems, and
/// the number of rows.
fn read_with(
    source: &impl Source,
    of: JudgmentRules<'_>,
    seed: Seed,
) -> Result<((Qrels, Problems), u64)> {
    let rules = of.rules;
    let back = AtomicBool::new(false);
    let thinning = !rules.late_repeats && !of.units.is_given();
    let grouped = || Together::new(Shelving::new(of, seed), &back).thinning(thinning);
    let worker = || (JudgmentReader::new(rules, seed), grouped());
    let (read, grouped) = source.read(&back, seed, worker)?;
    let count = read.count;
    if !back.load(Ordering::Relaxed)
        && let Some(assembled) = assemble(read, grouped, source, seed)
    {
        return Ok((assembled, count));
    }
    let scattered = || Scattered::unsorted().of(source.whole()).thinning(thinning);
    let worker = || (JudgmentReader::new(rules, seed), scattered());
    let (read, scattered) = source.read(&AtomicBool::new(false), seed, worker)?;
    let count = read.count;
    let line = |line| source.line(line);
    let sorted = sort_out(read, scattered, source.whole(), (source.name(), &line), of, seed);
    Ok((sorted, count))
}

/// The rules and the queries of a worker that reads judgments.
struct JudgmentReader {
    rules: Rules,
    queries: Interner,
}

impl JudgmentReader {
    fn new(rules: Rules, seed: Seed) -> Self {
        JudgmentReader { rules, queries: Interner::new(seed) }
    }
}

impl RowReader<4> for JudgmentReader {
    const ROLE: Role = Role::Qrels;

    fn rules(&self) -> Rules {
        self.rules
    }

    /// The bits of a grade.
    #[inline(always)]
    fn key(&self, grade: f64) -> u64 {
        let grade = if self.rules.whole_grades { grade.trunc() } else { grade };
        (grade + 0.0).to_bits()
    }

    fn query(&mut self, text: &[u8], [start, end]: [usize; 2]) -> Option<u32> {
        Some(self.queries.insert(&text[start..end]).0)
    }
}

/// Tables of queries under construction.
#[derive(Default)]
pub(super) struct Shelving<'u> {
    shelf: Shelf,
    tables: Vec<DocTable>,
    grades: Grades,
    /// The facts of queries, by preliminary codes.
    facts: Facts,
    /// The exact grades of queries, if they are kept; all have one code then.
    exact: Option<ExactFacts>,
    /// The exact grades of the query at hand.
    of_query: Vec<f64>,
    codes: Vec<u8>,
    fingerprint: u128,
    hashed: Vec<u8>,
    findings: Findings,
    /// Whether documents judged twice matter only in evaluated queries.
    late: bool,
    /// The queries with documents judged twice, if `late`.
    repeats: Vec<(Vec<u8>, Findings)>,
    /// The rule that merges judgments by unit, and the seed of hashes; `None` without a rule.
    units: Option<(&'u Units, Seed)>,
    judged_units: JudgedUnits,
}

/// The distinct grades ≥ 0, in the order of their first occurrence.
#[derive(Default)]
struct Grades(Vec<f64>);

impl Grades {
    /// Returns a preliminary code, which is replaced when all grades are known.
    fn code(&mut self, grade: f64) -> u8 {
        if grade < 0.0 {
            return NEGATIVE;
        }
        // A linear search, because grades are few. Where grades are many, the list ends at one
        // grade too many, and all judgments are read again.
        let at = self.0.iter().position(|&known| known == grade).unwrap_or_else(|| {
            // Keep one grade beyond the limit: the codebook then shows the excess.
            self.0.truncate(MAX_GRADES);
            self.0.push(grade);
            self.0.len() - 1
        });
        FIRST_GRADE.saturating_add(at as u8)
    }
}

impl<'u> Shelving<'u> {
    /// Makes no tables yet.
    fn new(JudgmentRules { rules, exact, units }: JudgmentRules<'u>, seed: Seed) -> Self {
        Shelving {
            shelf: if exact { Shelf::of_keys() } else { Shelf::default() },
            exact: exact.then(ExactFacts::default),
            late: rules.late_repeats,
            facts: Facts::new(),
            units: Some((units, seed)).filter(|(units, _)| units.is_given()),
            ..Self::default()
        }
    }

    /// The preliminary code of a grade.
    fn code(&mut self, grade: f64) -> u8 {
        match self.exact {
            Some(_) if grade >= 0.0 => FIRST_GRADE,
            _ => self.grades.code(grade),
        }
    }

    /// Adds the table of a query, of whose judgments those of a unit are put together if they are
    /// to be.
    fn add(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        let Some(of) = self.units else { return self.add_table(query, records, docnos) };
        let mut units = std::mem::take(&mut self.judged_units);
        let (judged, docnos) = units.unite(of, records, &docnos, &mut self.findings);
        self.add_table(query, judged, docnos);
        self.judged_units = units;
    }

    /// Makes the table of a query, and adds it.
    fn add_table(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        if let Some(message) = too_many(query, records.len(), MOST_DOCUMENTS) {
            let position = docnos.position(&records[0]);
            self.findings.add(records[0].at, || Finding { position, message, earlier: None });
            return self.add_table(query, &[], docnos);
        }
        let table = self.shelf.table(0, records.len());
        self.tables.push(table);
        self.hashed.clear();
        self.hashed.extend_from_slice(&(query.len() as u64).to_le_bytes());
        self.hashed.extend_from_slice(query);
        let prefix = self.hashed.len();
        for record in records {
            let (docno, grade) = (docnos.of(record), f64::from_bits(record.key));
            self.hashed.truncate(prefix);
            self.hashed.extend_from_slice(&(docno.len() as u64).to_le_bytes());
            self.hashed.extend_from_slice(docno);
            self.hashed.extend_from_slice(&grade.to_le_bytes());
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_128(&self.hashed));
            self.insert(table, record, docno, grade);
        }
        let repeated = self.codes.len() < records.len();
        self.end_table();
        if repeated && self.late {
            let mut later = Findings::default();
            report_repeats(query, records, docnos, &mut later);
            self.repeats.push((query.to_vec(), later));
        } else if repeated {
            report_repeats(query, records, docnos, &mut self.findings);
        }
    }
}

impl Shelving<'_> {
    /// Makes no tables yet of documents with numbers; whether their exact grades are kept.
    pub fn numbered(exact: bool) -> Self {
        Shelving {
            shelf: Shelf::of_keys(),
            exact: exact.then(ExactFacts::default),
            facts: Facts::new(),
            ..Self::default()
        }
    }

    /// Adds the table of a query whose documents are distinct, have these grades, and are numbered
    /// in this order; at most [`MOST_DOCUMENTS`].
    pub fn add_numbered<'t>(
        &mut self,
        documents: impl ExactSizeIterator<Item = (IdInText<'t>, f64)>,
        seed: Seed,
    ) {
        let table = self.shelf.table(0, documents.len());
        self.tables.push(table);
        for (number, (doc, grade)) in (0..).zip(documents) {
            let record = Record { key: number, hash: doc.hash(seed), ..Record::default() };
            self.insert(table, &record, doc.bytes(), grade);
        }
        self.end_table();
    }

    /// Adds a document to the last table, unless the table has the document already.
    #[inline(always)]
    fn insert(&mut self, table: DocTable, record: &Record, docno: &[u8], grade: f64) {
        let code = self.code(grade);
        if self.shelf.insert(table, record, docno, code) {
            self.codes.push(code);
            if self.exact.is_some() && grade >= 0.0 {
                self.of_query.push(grade);
            }
        }
    }

    /// Keeps the facts of the last table.
    fn end_table(&mut self) {
        self.facts.push(self.codes.drain(..));
        if let Some(exact) = &mut self.exact {
            exact.push(&mut self.of_query);
            self.of_query.clear();
        }
    }
}

impl Make for Shelving<'_> {
    /// Adds the table of a query. Queries are numbered in the order in which they come, as their
    /// tables are.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, _: u64) -> bool {
        let first = records[0].query as usize == self.tables.len();
        if first {
            self.add(id, records, docnos);
        }
        first
    }
}

#[cold]
fn report_repeats(query: &[u8], records: &[Record], docnos: Docnos<'_>, findings: &mut Findings) {
    for (first, again) in repeats(records, docnos) {
        findings.add(again.at, || {
            let (docno, query) = (quoted(docnos.of(again)), quoted(query));
            let [grade, earlier] = [again, first].map(|record| f64::from_bits(record.key));
            let message = if grade == earlier {
                format!("docno {docno} is judged again for query {query}, first on line")
            } else {
                format!(
                    "docno {docno} of query {query} has grade \
                         {grade}{DIFFERENT_GRADE}{earlier} on line"
                )
            };
            Finding {
                position: docnos.position(again),
                message,
                earlier: Some(docnos.position(first)),
            }
        });
    }
}

/// The place of a query: a worker, and the number of the query there.
struct QueryAt {
    /// The first bytes of the id, big-endian; they are nearly always enough to compare ids.
    prefix: u64,
    worker: u32,
    number: u32,
}

/// Returns all queries of all workers, sorted.
fn sorted(names: &[&Ids]) -> Vec<QueryAt> {
    let mut all = Vec::with_capacity(names.iter().map(|ids| ids.len()).sum());
    for (worker, ids) in names.iter().enumerate() {
        all.extend(ids.iter().enumerate().map(|(number, id)| {
            let prefix = Brief::of(id, 0, id.len()).prefix();
            QueryAt { prefix, worker: worker as u32, number: number as u32 }
        }));
    }
    let id = |met: &QueryAt| names[met.worker as usize].get(met.number as usize);
    all.par_sort_unstable_by(|one, other| {
        one.prefix.cmp(&other.prefix).then_with(|| id(one).cmp(id(other)))
    });
    all
}

/// Combines grouped judgments; returns `None` if a query was met by two workers.
fn assemble(
    mut read: WorkerResults<JudgmentReader>,
    grouped: Vec<Together<'_, Shelving<'_>>>,
    source: &impl Source,
    seed: Seed,
) -> Option<(Qrels, Problems)> {
    let names: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    // A query of which every row is wrong has no table, and the others do not lie by their numbers.
    let has_all =
        |(keep, names): (&Together<'_, Shelving<'_>>, &&Ids)| keep.make.tables.len() == names.len();
    if !grouped.iter().zip(&names).all(has_all) {
        return None;
    }
    let order = sorted(&names);
    let mut ids = Ids::default();
    for met in &order {
        let id = names[met.worker as usize].get(met.number as usize);
        if !ids.is_empty() && ids.get(ids.len() - 1) == id {
            return None;
        }
        ids.push(id);
    }
    let after = after(&order, &names);
    read.findings.leave_out(grouped.iter().map(|keep| keep.dropped).sum());
    let shelvings = grouped.into_iter().map(|keep| keep.make).collect();
    let named: NamedJudgments<'_> = (source.name(), &|line| source.line(line));
    let (qrels, problems) = finish(read, ids, shelvings, Some(order), named, seed);
    Some((Qrels { after, ..qrels }, problems))
}

/// Returns for each query the query that its worker met next, as an index into the sorted queries;
/// `u32::MAX` for none.
fn after(order: &[QueryAt], names: &[&Ids]) -> Vec<u32> {
    let mut indices: Vec<Vec<u32>> = names.iter().map(|ids| vec![0; ids.len()]).collect();
    for (index, met) in (0..).zip(order) {
        indices[met.worker as usize][met.number as usize] = index;
    }
    let next = |met: &QueryAt| indices[met.worker as usize].get(met.number as usize + 1).copied();
    order.iter().map(|met| next(met).unwrap_or(u32::MAX)).collect()
}

/// Combines scattered judgments.
fn sort_out(
    mut read: WorkerResults<JudgmentReader>,
    scattered: Vec<Scattered>,
    whole: HeldInput<'_>,
    named: NamedJudgments<'_>,
    of: JudgmentRules<'_>,
    seed: Seed,
) -> (Qrels, Problems) {
    let names: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    let mut numbers: Vec<Vec<u32>> = names.iter().map(|ids| vec![0; ids.len()]).collect();
    let mut ids = Ids::default();
    for met in sorted(&names) {
        let id = names[met.worker as usize].get(met.number as usize);
        if ids.is_empty() || ids.get(ids.len() - 1) != id {
            ids.push(id);
        }
        numbers[met.worker as usize][met.number as usize] = ids.len() as u32 - 1;
    }
    let dropped = scattered.iter().map(Scattered::dropped).sum();
    let renumber =
        |(scattered, numbers): (Scattered, Vec<u32>)| scattered.renumber(&numbers, ids.len());
    let scattered = scattered.into_par_iter().zip(numbers).map(renumber).collect();
    let shelve = |shelving: &mut Shelving<'_>, records: &[Record], docnos: Docnos<'_>| {
        shelving.add(ids.get(records[0].query as usize), records, docnos);
    };
    let shelvings = each_query(scattered, whole, None, || Shelving::new(of, seed), shelve);
    read.findings.leave_out(dropped);
    finish(read, ids, shelvings, None, named, seed)
}

/// The name of judgments in messages, and a function from the lines that were read to those of the
/// text.
type NamedJudgments<'a> = (&'a str, &'a dyn Fn(u64) -> u64);

/// Gives grades their codes, and queries their places: in the order `order`, or shelf by shelf if
/// `order` is `None`.
fn finish(
    read: WorkerResults<JudgmentReader>,
    ids: Ids,
    mut shelvings: Vec<Shelving<'_>>,
    order: Option<Vec<QueryAt>>,
    (name, line): NamedJudgments<'_>,
    seed: Seed,
) -> (Qrels, Problems) {
    let (lines, mut findings) = (read.lines(), read.findings);
    for shelving in &mut shelvings {
        findings.merge(std::mem::take(&mut shelving.findings));
    }
    let mut problems = or_no_units(findings.into_problems(name, line, &lines), name, &shelvings);
    let exact = |shelving: &Shelving<'_>| shelving.exact.as_ref().and_then(ExactFacts::extent);
    let extents = shelvings.iter().filter_map(exact).reduce(Extent::and);
    let book = make_codebook(extents, &shelvings).unwrap_or_else(|error| {
        if problems.first.is_empty() {
            problems = whole_file(name, error.to_string());
        }
        Codebook::default()
    });
    let order = order.unwrap_or_else(|| as_they_lie(&shelvings));
    shelvings.iter_mut().enumerate().for_each(|(number, shelving)| shelving.finish(number, &book));
    let table = |met: &QueryAt| shelvings[met.worker as usize].tables[met.number as usize];
    let tables = order.iter().map(table).collect();
    let (facts, queries) = rayon::join(|| facts(&order, &shelvings), || Interner::of(ids, seed));
    let exact = extents.map(|_| exact_facts(&order, &shelvings));
    let fingerprint =
        shelvings.iter().fold(0u128, |sum, shelving| sum.wrapping_add(shelving.fingerprint));
    let mut repeats = Vec::new();
    let mut shelves = Vec::with_capacity(shelvings.len());
    for shelving in shelvings {
        let found =
            |(id, findings): (_, Findings)| (id, findings.into_problems(name, line, &lines));
        repeats.extend(shelving.repeats.into_iter().map(found));
        shelves.push(shelving.shelf);
    }
    let qrels = Qrels {
        name: name.to_owned(),
        dialect: None,
        book,
        queries,
        after: Vec::new(),
        facts,
        exact,
        grouped: None,
        passages: None,
        tables,
        shelves,
        fingerprint,
        repeats,
        seed,
        partner: None,
    };
    (qrels, problems)
}

/// Makes the codebook of all grades: from `extent` if grades are exact, else from the distinct
/// grades.
fn make_codebook(extent: Option<Extent>, shelvings: &[Shelving<'_>]) -> Result<Codebook> {
    match extent {
        Some(extent) => Ok(Codebook::of_extent(extent)),
        None => {
            Codebook::new(shelvings.iter().flat_map(|shelving| shelving.grades.0.iter().copied()))
        }
    }
}

/// Returns the problems, or that the rule of units would change nothing if there are none.
fn or_no_units(problems: Problems, name: &str, shelvings: &[Shelving<'_>]) -> Problems {
    let units = shelvings.first().and_then(|shelving| shelving.units);
    let Some((units, _)) = units.filter(|_| problems.first.is_empty()) else { return problems };
    let mut seen = UnitsSeen::default();
    shelvings.iter().for_each(|shelving| seen.merge(shelving.judged_units.seen.clone()));
    seen.changes_nothing(units, "--qrels-units")
        .map_or(problems, |message| whole_file(name, message))
}

/// Returns the exact grades of all queries.
fn exact_facts(order: &[QueryAt], shelvings: &[Shelving]) -> ExactFacts {
    let mut exact = ExactFacts::default();
    for met in order {
        let of_shelf = shelvings[met.worker as usize].exact.as_ref();
        exact.push_query(of_shelf.map(|exact| exact.of(met.number as usize)).unwrap_or_default());
    }
    exact
}

/// Returns all queries of all shelves, one shelf after the other.
fn as_they_lie(shelvings: &[Shelving]) -> Vec<QueryAt> {
    let of_shelf = |(worker, shelving): (usize, &Shelving)| {
        (0..shelving.tables.len()).map(move |number| QueryAt {
            prefix: 0,
            worker: worker as u32,
            number: number as u32,
        })
    };
    shelvings.iter().enumerate().flat_map(of_shelf).collect()
}

/// Makes the facts of all queries by final codes, and orders them in parallel.
fn facts(order: &[QueryAt], shelvings: &[Shelving]) -> Facts {
    let recode = |order: &[QueryAt]| {
        let mut facts = Facts::new();
        for met in order {
            let Shelving { shelf, facts: met_facts, .. } = &shelvings[met.worker as usize];
            let counts = met_facts.of(met.number as usize);
            facts.push_counts(counts.iter().map(|(code, count)| (shelf.meaning(code), count)));
        }
        facts
    };
    let parts: Vec<Facts> = order.par_chunks(1 << 12).map(recode).collect();
    let mut facts = Facts::new();
    parts.iter().for_each(|part| facts.append(part));
    facts
}

impl Shelving<'_> {
    /// Replaces the preliminary codes, and numbers the shelf.
    fn finish(&mut self, number: usize, book: &Codebook) {
        if self.exact.is_some() {
            // With exact grades all judged documents share one code, which is already final.
            self.tables.iter_mut().for_each(|table| table.shelf = number as u32);
            return;
        }
        let mut code = [NEGATIVE; 256];
        for (&grade, code) in std::iter::zip(&self.grades.0, &mut code[usize::from(FIRST_GRADE)..])
        {
            *code = book.code(grade).unwrap_or(NEGATIVE);
        }
        self.tables.iter_mut().for_each(|table| table.shelf = number as u32);
        self.shelf.recode(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_found_after_those_before_them_in_the_text_and_after_any_other() {
        let bytes = b"9 0 d 1\n10 0 d 1\n100 0 d 1\n11 0 d 1\n".to_vec();
        let qrels = Qrels::read(Input::Bytes { name: "qrels".into(), bytes }).unwrap();
        assert_eq!(qrels.after, [1, 2, u32::MAX, 0], "of 10, 100, 11 and 9");
        for last in [Some(0), Some(1), Some(2), Some(3), None] {
            for (index, id) in (0..).zip(qrels.queries().iter()) {
                assert_eq!(qrels.query_after(last, id), Some(index));
            }
            assert_eq!(qrels.query_after(last, b"12"), None);
        }
    }
}
