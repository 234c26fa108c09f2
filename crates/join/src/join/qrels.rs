//! Qrels: judgments read from text or from memory into the hash tables that runs are joined with.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::{
    aggregate::{AggregateCounts, QrelsAggregator},
    doc_table::{DocArena, DocTable, JudgedDocs, MAX_DOCUMENTS},
    rank::too_many,
};
use crate::bytes::{
    hash::Seed, id::IdInText, id_prefix::IdPrefix, input::Input, interner::Interner,
    mmap::FileAccess,
};
use crate::columns::{CheckedColumns, CollectedRows, QrelsColumns};
use crate::doc_ids::rule::DocIdRule;
use crate::error::{DIFFERENT_GRADE, Problems, Result};
use crate::excluded::ExcludedDocs;
use crate::facets::agreement::{JudgeAgreement, Rating, agreement};
use crate::format::{AlignedQrels, RowLayout, open_input::OpenInput, tables::with_judgments};
use crate::ids::Ids;
use crate::judged_by::FacetKind;
use crate::lines::{
    diagnostics::{Diagnostics, join, quoted, whole_file},
    dialect::{Dialect, Rules},
    layout::RankColumn,
    row::BareQuery,
    shape::Role,
};
use crate::matrix::{
    Codebook, ExactHistograms, Facets, GoldCounts, GradeHistograms, MatrixBuilder,
    code::{FIRST_GRADE, GradeRange, MAX_GRADES, NEGATIVE},
};
use crate::record::{
    any_order::{AnyOrder, each_query},
    columns::{ColumnSource, PieceSize},
    duplicates::repeated,
    layout::{Docnos, Record},
    reader::{
        BuildRanking, InOrder, ReadContext, RowReader, RowSource, TextSource, WorkerResults, gather,
    },
};
use crate::settings::Join;
use crate::sort;
use crate::spans::{GoldPositions, GoldSpan};

/// Qrels: the graded judgments of documents for queries, which can be joined with any number of
/// runs.
///
/// Judgments take about 24 bytes each, and 64 bytes for each query, beside the ids.
///
/// ```
/// use laneval::Qrels;
/// let qrels = Qrels::new([("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d1", -1.0)])?;
/// assert_eq!(qrels.queries().iter().collect::<Vec<_>>(), [b"q1", b"q2"]);
/// assert_eq!(qrels.codebook().grades(), [0.0, 2.0]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug)]
pub struct Qrels {
    name: String,
    /// The dialect of the text; `None` for judgments from memory, which can be joined in every
    /// dialect.
    pub(super) dialect: Option<Dialect>,
    book: Codebook,
    pub(super) queries: Interner,
    /// For each query, the query that its worker met next, if known, or `u32::MAX`: runs often
    /// follow the order of the qrels.
    after: Vec<u32>,
    pub(super) facts: GradeHistograms,
    /// The exact grades of each query, if codes are classes of grades.
    exact: Option<ExactHistograms>,
    /// The judgments by facet, if facets were read; documents are then numbered.
    grouped: Option<Arc<Facets>>,
    /// The judged passages, if judgments are by span; the tables then have no documents.
    pub(super) passages: Option<JudgedPassages>,
    pub(super) tables: Vec<DocTable>,
    shelves: Vec<DocArena>,
    pub(super) fingerprint: u128,
    /// The queries with documents that are judged twice, if such documents matter only in evaluated
    /// queries.
    repeats: Vec<(Vec<u8>, Problems)>,
    /// The number of judgments that were left out, because they say again what an earlier one says.
    pub(super) identical: u64,
    /// The seed with which docnos and queries are hashed.
    seed: Seed,
    /// The facts about the judgments that runs without ids need, if such runs can join.
    partner: Option<AlignedQrels>,
}

/// The judged passages of all queries of qrels by span: as given, as positions, and counted by
/// grade.
#[derive(Debug)]
pub(crate) struct JudgedPassages {
    pub facts: Arc<GoldCounts>,
    /// By query.
    pub positions: Vec<GoldPositions>,
    /// The passages as they were given, query by query.
    pub given: Vec<GoldSpan>,
}

impl Qrels {
    /// Reads qrels from lines of `query iter docno grade`, or from another format, recognised by
    /// the content. See [`InputFormat`](crate::format::InputFormat). Lines may be in any order.
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
        Join::default().qrels(input)
    }

    /// Reads qrels as [`Qrels::read`], in a given dialect, for a [`Join`](crate::settings::Join) of
    /// that dialect. A file is opened by `access`.
    ///
    /// # Errors
    /// As [`Qrels::read`]. The dialects of trec_eval report documents judged twice only when a run
    /// is joined, and only for queries of the run.
    pub fn read_with(
        input: impl Into<Input>,
        dialect: Dialect,
        access: FileAccess,
    ) -> Result<Self> {
        Join { dialect, access, ..Join::default() }.qrels(input)
    }

    /// Makes qrels of judgments (query, docno, grade) in any order.
    ///
    /// # Errors
    /// As [`Qrels::read`]; the line of a problem is the number of the judgment, from 1.
    pub fn new<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        judgments: impl IntoIterator<Item = (Q, D, f64)>,
    ) -> Result<Self> {
        let rows = CollectedRows::from_rows(judgments);
        let qrels = Join::default().judgments(&[rows.judgments(&rows.queries())])?;
        Ok(qrels.with_dialect(None))
    }

    /// Sets the dialect that the qrels are read in; `None` stands for every dialect.
    pub(crate) fn with_dialect(self, dialect: Option<Dialect>) -> Self {
        Self { dialect, ..self }
    }

    /// Makes qrels of columns in memory, for a [`Join`](crate::settings::Join) of this dialect.
    /// Rows are in any order, and in any number of batches.
    ///
    /// ```
    /// use laneval::columns::{IdColumn, Integers, QrelsColumns};
    /// use laneval::{Dialect, Qrels};
    ///
    /// let names = IdColumn::from(&["q1", "q2"]);
    /// let queries = IdColumn::Dictionary { codes: Integers::from(&[0u8, 0, 1]), values: &names };
    /// let batch = QrelsColumns::new(queries, &[7u32, 42, 7], &[1i8, 0, 2]);
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
    /// [`Qrels::read_with`]; the line of a problem is the row, from 1, in all batches together.
    pub fn columns(batches: &[QrelsColumns<'_>], dialect: Dialect) -> Result<Self> {
        Join { dialect, ..Join::default() }.judgments(batches)
    }

    /// Returns qrels without a judgment, for a text that is not read.
    pub(crate) fn empty(name: &str, dialect: Dialect, seed: Seed) -> Self {
        Self::from_arenas(Ids::default(), Vec::new(), name, dialect, seed)
    }

    /// Returns the ids of the judged queries, in bytewise order.
    pub fn queries(&self) -> &Ids {
        self.queries.ids()
    }

    /// Returns the codebook of the qrels: the grades and their codes, the bytes of labels.
    pub fn codebook(&self) -> &Codebook {
        &self.book
    }

    /// Returns for each query the number of its judged documents of each grade.
    #[doc(hidden)]
    pub fn facts(&self) -> &GradeHistograms {
        &self.facts
    }

    /// Returns the exact grades of each query's documents, if the qrels have more than 253 distinct
    /// grades.
    #[doc(hidden)]
    pub fn exact(&self) -> Option<&ExactHistograms> {
        self.exact.as_ref()
    }

    /// Returns the judgments by facet (judge, subtopic or preference group), if the qrels were read
    /// by facet.
    #[doc(hidden)]
    pub fn facets(&self) -> Option<&Arc<Facets>> {
        self.grouped.as_ref()
    }

    /// Returns the judges' names in bytewise order, and how far the judges agree, if qrels were
    /// read by judge.
    ///
    /// ```
    /// use laneval::{FacetKind, Input, Join};
    /// let text = b"q1 anna d1 1\nq1 ben d1 1\nq1 anna d2 0\n\
    ///              q1 ben d2 1\nq1 anna d3 0\nq1 ben d3 0\n".to_vec();
    /// let join = Join { judged_by: Some(FacetKind::Judge), ..Join::default() };
    /// let (names, found) =
    ///     join.qrels(Input::Bytes { name: "qrels".into(), bytes: text })?.agreement().unwrap();
    /// assert_eq!(names.iter().collect::<Vec<_>>(), [b"anna".as_slice(), b"ben"]);
    /// assert_eq!((found.pairs[0].common, found.pairs[0].equal), (3, 2));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn agreement(&self) -> Option<(Ids, JudgeAgreement)> {
        let grouped = self.grouped.as_ref().filter(|grouped| grouped.by == FacetKind::Judge)?;
        let mut ratings = Vec::new();
        for query in 0..grouped.judgments.len() {
            // Documents are numbered within their query, and items through all queries.
            let first = grouped.documents(query).start as u32;
            ratings.extend(grouped.get(query).judgments.iter().map(|judgment| Rating {
                item: first + judgment.document,
                judge: judgment.group,
                grade: judgment.grade,
            }));
        }
        // Does not fail: the ratings were checked when they were read.
        Some((grouped.names.clone(), agreement(&ratings, grouped.names.len()).ok()?))
    }

    /// Replaces the fingerprint of the qrels by that of the original judgments. It keeps the
    /// original fingerprint of judgments stored with other negative grades.
    #[doc(hidden)]
    pub fn with_fingerprint(self, fingerprint: u128) -> Self {
        Self { fingerprint, ..self }
    }

    /// Makes qrels of the queries `ids` from shelves of finished hash tables of judged documents.
    pub(super) fn from_arenas(
        ids: Ids,
        shelves: Vec<QrelsBuilder<'_>>,
        name: &str,
        dialect: Dialect,
        seed: Seed,
    ) -> Self {
        let (read, _) = gather::<JudgmentReader, AnyOrder>(Vec::new());
        let (qrels, _) = finish(read, ids, shelves, None, name, &|line| line, seed);
        qrels.with_dialect(Some(dialect))
    }

    /// Adds judgments by facet (judge, subtopic or preference group) to the qrels, with their
    /// fingerprint.
    pub(crate) fn with_facets(self, grouped: Arc<Facets>, fingerprint: u128) -> Self {
        Self { grouped: Some(grouped), fingerprint, ..self }
    }

    /// Returns the counts of judged passages and positions by grade, if the qrels are by span.
    #[doc(hidden)]
    pub fn gold_facts(&self) -> Option<&Arc<GoldCounts>> {
        self.passages.as_ref().map(|passages| &passages.facts)
    }

    /// Returns the facet by which the qrels were read (judge, subtopic, preference or span), if
    /// any.
    pub fn judged_by(&self) -> Option<FacetKind> {
        let by = self.grouped.as_ref().map(|grouped| grouped.by);
        by.or(self.passages.as_ref().map(|_| FacetKind::Span))
    }

    /// Returns these qrels with the dialect, repeats, partner and fingerprint of `other`, whose
    /// place they take in joins.
    pub(crate) fn with_settings_of(self, other: &Qrels) -> Self {
        let (repeats, partner) = (other.repeats.clone(), other.partner.clone());
        Self { dialect: other.dialect, repeats, partner, fingerprint: other.fingerprint, ..self }
    }

    /// Returns whether the hash tables of judged documents keep a key a document: its exact grade
    /// or number.
    pub(crate) fn keeps_keys(&self) -> bool {
        self.exact.is_some() || self.grouped.is_some()
    }

    /// Returns the distinct grades ≥ 0 of the qrels, ascending.
    pub fn grades(&self) -> Vec<f64> {
        self.exact.as_ref().map_or_else(|| self.book.grades().to_vec(), ExactHistograms::distinct)
    }

    /// Returns the fingerprint of the qrels: the wrapping sum of the xxh3-128 hashes of all
    /// judgments. It does not depend on their order.
    ///
    /// A judgment is hashed as length of query (`u64`), query, length of docno (`u64`), docno,
    /// grade (`f64`), little-endian.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Returns the name of the qrels in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the facts about the qrels that runs of bare scores, without document ids, need to be
    /// joined; `None` if such runs cannot be joined with them.
    #[doc(hidden)]
    pub fn aligned(&self) -> Option<&AlignedQrels> {
        self.partner.as_ref()
    }

    /// Returns whether runs without ids belong to the qrels by position.
    #[doc(hidden)]
    pub fn is_aligned(&self) -> bool {
        self.partner.as_ref().is_some_and(AlignedQrels::is_of_positions)
    }

    /// Returns the seed of the hashes of docnos and of queries in the qrels.
    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the index of the judged query `id`; `None` if the qrels lack it.
    #[inline]
    pub(crate) fn query(&self, id: &[u8]) -> Option<u32> {
        self.queries.get(id)
    }

    /// Returns the index of the judged query `text[start..end]`; `None` if the qrels lack it.
    #[inline(always)]
    pub(crate) fn query_in(&self, text: &[u8], [start, end]: [usize; 2]) -> Option<u32> {
        self.queries.get_in(text, start, end)
    }

    /// Returns the index of the judged query `id`, guessing that it follows query `last` as in the
    /// qrels.
    ///
    /// Comparing the id with a guess saves a look into the hash table, and with it most often a
    /// wait for memory.
    #[inline]
    pub(crate) fn query_after(&self, last: Option<u32>, id: &[u8]) -> Option<u32> {
        let guess = last.and_then(|last| self.after.get(last as usize)).copied();
        guess.filter(|&guess| self.queries.matches(guess, id)).or_else(|| self.query(id))
    }

    /// Returns the judged documents of a query as a hash table, for lookups.
    #[inline]
    pub(crate) fn judged(&self, query: u32) -> JudgedDocs<'_> {
        let table = self.tables[query as usize];
        JudgedDocs { shelf: &self.shelves[table.shelf as usize], table }
    }

    /// Returns the judged documents of a query with their grades, by docno; a negative grade may be
    /// any.
    pub(crate) fn documents(&self, query: u32) -> Vec<(Vec<u8>, f64)> {
        if self.passages.is_some() {
            return Vec::new();
        }
        let judged = self.judged(query);
        let mut documents: Vec<(Vec<u8>, f64)> = match self.exact {
            // With facets, keys are the numbers of documents, and no grades.
            Some(_) if self.grouped.is_none() => {
                judged.keys().map(|(docno, key)| (docno.to_vec(), f64::from_bits(key))).collect()
            }
            _ => judged
                .documents()
                .map(|(docno, code)| (docno.to_vec(), self.book.grade(code).unwrap_or(-1.0)))
                .collect(),
        };
        documents.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        documents
    }

    /// Calls `take` with each judgment of the qrels: query, group and sub-group, document, grade.
    /// The group is empty unless judgments were read by facet. A negative grade without groups may
    /// be any. Of a passage, start and end stand for group and sub-group.
    #[doc(hidden)]
    pub fn each_judgment(&self, mut take: impl FnMut(&[u8], [&[u8]; 2], &[u8], f64)) {
        if let Some(passages) = &self.passages {
            for GoldSpan { query, doc, span, grade } in &passages.given {
                let [start, end] = [span.start(), span.end()].map(|at| at.to_string());
                take(query, [start.as_bytes(), end.as_bytes()], doc, *grade);
            }
            return;
        }
        for (query, id) in (0..).zip(self.queries.ids().iter()) {
            let documents = self.documents(query);
            let Some(grouped) = &self.grouped else {
                documents.iter().for_each(|(doc, grade)| take(id, [b"", b""], doc, *grade));
                continue;
            };
            for (judgment, subgroup) in grouped.get(query as usize).with_subgroups() {
                // Documents are numbered in bytewise order, and `documents` returns that order.
                let doc = &documents[judgment.document as usize].0;
                let group = grouped.names.get(judgment.group as usize);
                let subgroup = if grouped.has_subgroups() {
                    grouped.names.get(subgroup as usize)
                } else {
                    b""
                };
                take(id, [group, subgroup], doc, judgment.grade);
            }
        }
    }

    /// Returns the number of excluded documents that are judged relevant, with a grade above 0.
    pub(crate) fn excluded_relevant(&self, excluded: &ExcludedDocs) -> usize {
        let of_query = |(number, id): (u32, &[u8])| {
            let documents = self.query(id).map(|query| self.documents(query)).unwrap_or_default();
            let documents = documents.iter().filter(|(_, grade)| *grade > 0.0);
            documents.filter(|(doc, _)| excluded.has(number, doc)).count()
        };
        (0..).zip(excluded.queries().iter()).map(of_query).sum()
    }

    /// Returns the documents judged twice for the queries `evaluated`, as problems. Documents that
    /// were reported before are left out.
    pub(crate) fn repeats_in(&self, evaluated: impl Iterator<Item = u32>) -> Problems {
        if self.repeats.is_empty() {
            return Problems::default();
        }
        let evaluated: HashSet<u32> = evaluated.collect();
        let mut found: Vec<_> = self
            .repeats
            .iter()
            .filter(|(id, _)| self.query(id).is_some_and(|query| evaluated.contains(&query)))
            .map(|(_, problems)| problems.clone())
            .collect();
        // Workers found the repeats, in any order of queries.
        let line = |problems: &Problems| problems.first.first().map(|problem| problem.line);
        sort::by(&mut found, |one, other| line(one).cmp(&line(other)));
        join(found)
    }

    /// Returns whether a query has judged documents; `None` if it is not judged.
    #[doc(hidden)]
    pub fn has_documents(&self, query: &[u8]) -> Option<bool> {
        let query = self.query(query)? as usize;
        Some(self.facts.get(query).iter().next().is_some())
    }

    /// Adds the queries with an empty list of documents as judged queries to which nothing is
    /// relevant. Judgments by facet or span leave them out.
    #[doc(hidden)]
    pub fn with_empty_lists(mut self, queries: Vec<BareQuery>) -> Self {
        let empty = queries.into_iter().filter(|bare| bare.is_judged).map(|bare| bare.id);
        let empty: BTreeSet<_> = empty.filter(|id| self.query(id).is_none()).collect();
        if empty.is_empty() || self.judged_by().is_some() {
            return self;
        }
        let mut shelf = DocArena::new(self.keeps_keys());
        let mut table = shelf.table(0);
        table.shelf = self.shelves.len() as u32;
        self.shelves.push(shelf);
        let (mut ids, mut tables, mut facts) = (Ids::default(), Vec::new(), GradeHistograms::new());
        let mut exact = self.exact.as_ref().map(|_| ExactHistograms::default());
        let judged = self.queries.ids().iter().map(<[u8]>::to_vec).zip((0..).map(Some));
        let mut all: Vec<_> = judged.chain(empty.into_iter().map(|id| (id, None))).collect();
        all.sort_unstable();
        for (id, query) in all {
            ids.push(&id);
            tables.push(query.map_or(table, |query: usize| self.tables[query]));
            let counts = query.into_iter().flat_map(|query| self.facts.get(query).iter());
            facts.push_counts(counts);
            if let (Some(all), Some(exact)) = (&self.exact, &mut exact) {
                exact.push_query(query.map(|query| all.get(query)).unwrap_or_default());
            }
            if query.is_none() {
                self.fingerprint = self.fingerprint.wrapping_add(xxh3_128(&id));
            }
        }
        let queries = Interner::from_ids(ids, self.seed);
        Self { queries, after: Vec::new(), tables, facts, exact, ..self }
    }

    /// Begins a label matrix for runs joined with the qrels, without any run yet.
    pub(crate) fn matrix(&self, join: &Join) -> MatrixBuilder {
        let shared = self.shared_judgments(join);
        let (queries, facts) = (self.queries.ids().clone(), self.facts.clone());
        let mut matrix =
            MatrixBuilder::new(self.book.clone(), join.rule(), self.fingerprint, queries, facts);
        (matrix.exact, matrix.grouped) = (self.exact.clone(), self.grouped.clone());
        matrix.spans = self.gold_facts().cloned();
        matrix.shared = shared;
        matrix
    }

    /// Begins a label matrix without runs as [`Qrels::matrix`], and frees the tables of judged
    /// documents.
    pub(crate) fn into_matrix(self, join: &Join) -> MatrixBuilder {
        let shared = self.shared_judgments(join);
        let queries = self.queries.into_ids();
        let mut matrix =
            MatrixBuilder::new(self.book, join.rule(), self.fingerprint, queries, self.facts);
        (matrix.exact, matrix.grouped, matrix.shared) = (self.exact, self.grouped, shared);
        matrix.spans = self.passages.map(|passages| passages.facts);
        matrix
    }
}

/// Reads qrels from an opened text of known format; returns the usable judgments and the problems.
pub(crate) fn read(
    text: &OpenInput,
    form: &RowLayout,
    join: &Join,
    ReadContext { seed, size, watch }: ReadContext<'_>,
) -> Result<(Qrels, Problems)> {
    if let Some(table) = form.columns() {
        let read = with_judgments(table, |batches| {
            let columns = CheckedColumns::from_judgments(&text.name, batches, seed)?
                .check_file(Role::Qrels)?;
            let source = ColumnSource::all(&columns, PieceSize::default(), watch);
            read_from(&source, join, seed)
        });
        return read
            .map(|(qrels, problems)| (qrels.with_empty_lists(form.bare_queries()), problems));
    }
    let source = TextSource::buffered(text, form, size, watch);
    let (qrels, problems) = read_from(&source, join, seed)?;
    let qrels = qrels.with_empty_lists(form.bare_queries());
    Ok((Qrels { partner: form.partner().cloned(), ..qrels }, problems))
}

/// Reads qrels from any source of rows; returns the usable judgments and the problems. If the
/// source has more distinct grades than codes, reads the source again with exact grades.
pub(crate) fn read_from(
    source: &impl RowSource,
    join: &Join,
    seed: Seed,
) -> Result<(Qrels, Problems)> {
    let ((mut qrels, mut problems), mut count) = read_with(source, join, false, seed)?;
    if !qrels.book.is_exact() {
        ((qrels, problems), count) = read_with(source, join, true, seed)?;
    }
    if count == 0 {
        let expected = source.expected(Role::Qrels);
        problems = whole_file(source.name(), format!("there is no judgment in it{expected}"));
    }
    Ok((qrels.with_dialect(Some(join.dialect)), problems))
}

/// Reads qrels once, by the dialect and the units of the join. Tables keep exact grades beside
/// codes if `exact`. Returns judgments, problems and row count.
fn read_with(
    source: &impl RowSource,
    join: &Join,
    exact: bool,
    seed: Seed,
) -> Result<((Qrels, Problems), u64)> {
    let rules = join.dialect.rules();
    let reader = || JudgmentReader { rules, queries: Interner::new(seed) };
    let builder = || QrelsBuilder::new(join, exact, seed);
    let back = AtomicBool::new(false);
    // Late repeats are errors only in evaluated queries, and repeats of a unit are no errors.
    let thinning = !rules.late_repeats && !join.qrels_units.is_some_rule();
    let (read, grouped) =
        source.read(&back, seed, || (reader(), InOrder::new(builder(), &back, thinning)))?;
    let count = read.count;
    if !back.load(Ordering::Relaxed)
        && let Some(assembled) = assemble(read, grouped, source, seed)
    {
        return Ok((assembled, count));
    }
    let (read, scattered) = source.read(&AtomicBool::new(false), seed, || {
        (reader(), AnyOrder::unsorted().with_input(source.whole(), thinning))
    })?;
    let count = read.count;
    Ok((sort_out(read, scattered, source, builder, seed), count))
}

/// The row reader of a worker that reads qrels: the rules of the dialect, and the queries met so
/// far.
struct JudgmentReader {
    rules: Rules,
    queries: Interner,
}

impl RowReader for JudgmentReader {
    const ROLE: Role = Role::Qrels;

    fn rules(&self) -> Rules {
        self.rules
    }

    /// Converts a grade to the key of a judgment's record: the bits of the grade as the dialect
    /// takes it.
    #[inline(always)]
    fn key(&self, grade: f64) -> u64 {
        let grade = if self.rules.whole_grades { grade.trunc() } else { grade };
        (grade + 0.0).to_bits()
    }

    fn query(&mut self, text: &[u8], [start, end]: [usize; 2]) -> Option<u32> {
        Some(self.queries.insert(&text[start..end]).0)
    }
}

/// The hash tables of judged documents, under construction, of the queries that one worker reads.
#[derive(Default)]
pub(super) struct QrelsBuilder<'u> {
    shelf: DocArena,
    tables: Vec<DocTable>,
    /// The distinct grades ≥ 0 that the worker has met, in the order of their first occurrence.
    grades: Vec<f64>,
    /// The facts of queries, by preliminary codes.
    facts: GradeHistograms,
    /// The exact grades of queries, if they are kept; all have one code then.
    exact: Option<ExactHistograms>,
    /// The exact grades of the query at hand.
    of_query: Vec<f64>,
    codes: Vec<u8>,
    fingerprint: u128,
    hashed: Vec<u8>,
    findings: Diagnostics,
    /// Whether documents judged twice matter only in evaluated queries.
    late: bool,
    /// The queries with documents judged twice, if `late`.
    repeats: Vec<(Vec<u8>, Diagnostics)>,
    /// The rule that merges judgments by unit, and the seed of hashes; `None` without a rule.
    units: Option<(&'u DocIdRule, Seed)>,
    judged_units: QrelsAggregator,
}

impl<'u> QrelsBuilder<'u> {
    /// Makes a builder of hash tables of judged documents, without any query yet.
    fn new(join: &'u Join, exact: bool, seed: Seed) -> Self {
        Self {
            shelf: DocArena::new(exact),
            late: join.dialect.rules().late_repeats,
            units: Some((&join.qrels_units, seed)).filter(|(units, _)| units.is_some_rule()),
            ..Self::numbered(exact)
        }
    }

    /// Returns the preliminary code of a grade, which is replaced when all grades of the qrels are
    /// known; grades ≥ 0 share one if exact grades are kept.
    fn code(&mut self, grade: f64) -> u8 {
        if self.exact.is_some() && grade >= 0.0 {
            return FIRST_GRADE;
        }
        if grade < 0.0 {
            return NEGATIVE;
        }
        // A linear search, because grades are few. Where grades are many, the list ends at one
        // grade too many, and all judgments are read again.
        let grades = &mut self.grades;
        let at = grades.iter().position(|&known| known == grade).unwrap_or_else(|| {
            // Keep one grade beyond the limit: the codebook then shows the excess.
            grades.truncate(MAX_GRADES);
            grades.push(grade);
            grades.len() - 1
        });
        FIRST_GRADE.saturating_add(at as u8)
    }

    /// Adds the judgments of a query as a hash table, merged by unit first if a rule asks for it.
    fn add(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        let Some((rule, seed)) = self.units else { return self.add_table(query, records, docnos) };
        let mut units = mem::take(&mut self.judged_units);
        let (judged, docnos) = units.aggregate(rule, seed, records, &docnos, &mut self.findings);
        self.add_table(query, judged, docnos);
        self.judged_units = units;
    }

    /// Makes the hash table of a query's judged documents, and adds it.
    fn add_table(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        if let Some(message) = too_many(query, records.len(), MAX_DOCUMENTS) {
            self.findings.add(records[0].at, || docnos.problem(&records[0], message));
            // The query gets an empty table, because tables are found by the numbers of queries.
            return self.add_table(query, &[], docnos);
        }
        let table = self.shelf.table(records.len());
        self.tables.push(table);
        self.hashed.clear();
        self.hashed.extend_from_slice(&(query.len() as u64).to_le_bytes());
        self.hashed.extend_from_slice(query);
        let prefix = self.hashed.len();
        for record in records {
            let (docno, grade) = (docnos.get(record), f64::from_bits(record.key));
            self.fingerprint = self.fingerprint.wrapping_add(self.hash(prefix, docno, grade));
            self.insert(table, record, docno, grade);
        }
        let repeated = self.codes.len() < records.len();
        self.end_table();
        if repeated {
            self.take_repeats(query, records, docnos, prefix);
        }
    }

    /// Returns the hash of a judgment of the query in the first `prefix` bytes of `hashed`.
    #[inline(always)]
    fn hash(&mut self, prefix: usize, docno: &[u8], grade: f64) -> u128 {
        self.hashed.truncate(prefix);
        self.hashed.extend_from_slice(&(docno.len() as u64).to_le_bytes());
        self.hashed.extend_from_slice(docno);
        self.hashed.extend_from_slice(&grade.to_le_bytes());
        xxh3_128(&self.hashed)
    }

    /// Reports the documents that are judged more than once for a query. With the same grade again
    /// they are only counted, and leave the fingerprint; the dialects of trec_eval refuse them.
    #[cold]
    fn take_repeats(
        &mut self,
        query: &[u8],
        records: &[Record],
        docnos: Docnos<'_>,
        prefix: usize,
    ) {
        let mut later = Diagnostics::default();
        for (first, again) in repeated(records, docnos) {
            if again.key == first.key && !self.late {
                let hash = self.hash(prefix, docnos.get(again), f64::from_bits(again.key));
                self.fingerprint = self.fingerprint.wrapping_sub(hash);
                self.findings.identical += 1;
                continue;
            }
            let findings = if self.late { &mut later } else { &mut self.findings };
            findings.add(again.at, || {
                docnos.repeat(again, first, repeat_message(query, first, again, docnos))
            });
        }
        if self.late {
            self.repeats.push((query.to_vec(), later));
        }
    }

    /// Makes a builder of hash tables of judged documents that are numbered, and keep exact grades
    /// if `exact`.
    pub fn numbered(exact: bool) -> Self {
        Self {
            shelf: DocArena::new(true),
            exact: exact.then(ExactHistograms::default),
            ..Self::default()
        }
    }

    /// Adds the hash table of a query whose documents are distinct, and are numbered in this order.
    /// They have these grades, and are at most [`MAX_DOCUMENTS`].
    pub fn add_numbered<'t>(
        &mut self,
        documents: impl ExactSizeIterator<Item = (IdInText<'t>, f64)>,
        seed: Seed,
    ) {
        let table = self.shelf.table(documents.len());
        self.tables.push(table);
        for (number, (doc, grade)) in (0..).zip(documents) {
            let record = Record { key: number, hash: doc.hash(seed), ..Record::default() };
            self.insert(table, &record, doc.bytes(), grade);
        }
        self.end_table();
    }

    /// Adds a judged document to the hash table of the last query, unless the table has the
    /// document already.
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

    /// Stores the counts of grades of the last query, when its hash table is complete.
    fn end_table(&mut self) {
        self.facts.push(self.codes.drain(..));
        if let Some(exact) = &mut self.exact {
            exact.push(&mut self.of_query);
            self.of_query.clear();
        }
    }

    /// Replaces preliminary codes of grades by final ones, and sets the shelf's number in its hash
    /// tables.
    fn finish(&mut self, number: usize, book: &Codebook) {
        self.tables.iter_mut().for_each(|table| table.shelf = number as u32);
        if self.exact.is_some() {
            // With exact grades all judged documents share one code, which is already final.
            return;
        }
        self.shelf.meaning = [NEGATIVE; 256];
        let codes = &mut self.shelf.meaning[usize::from(FIRST_GRADE)..];
        for (&grade, code) in std::iter::zip(&self.grades, codes) {
            *code = book.code(grade).unwrap_or(NEGATIVE);
        }
    }
}

impl BuildRanking for QrelsBuilder<'_> {
    /// Adds the hash table of judged documents of a query. Queries are numbered in the order in
    /// which they come, as their tables are.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, _: u64) -> bool {
        let first = records[0].query as usize == self.tables.len();
        if first {
            self.add(id, records, docnos);
        }
        first
    }
}

/// Returns the message about a document that is judged again for a query, up to the line of its
/// first judgment.
fn repeat_message(query: &[u8], first: &Record, again: &Record, docnos: Docnos<'_>) -> String {
    let (docno, query) = (quoted(docnos.get(again)), quoted(query));
    let [grade, earlier] = [again, first].map(|record| f64::from_bits(record.key));
    if grade == earlier {
        format!("docno {docno} is judged again for query {query}, first on line")
    } else {
        format!(
            "docno {docno} of query {query} has grade {grade}{DIFFERENT_GRADE}{earlier} on line"
        )
    }
}

/// The place of a judged query during reading: the worker that read it, and the number of the query
/// there.
pub(super) struct QueryLocation {
    /// The first bytes of the id, big-endian; they are nearly always enough to compare ids.
    prefix: u64,
    pub worker: u32,
    pub number: u32,
}

impl QueryLocation {
    /// Returns the id of the query, given the ids of the queries that each worker has read.
    fn id<'i>(&self, names: &[&'i Ids]) -> &'i [u8] {
        names[self.worker as usize].get(self.number as usize)
    }
}

/// Joins the hash tables of all workers to qrels; returns `None` if two workers have met one query.
fn assemble(
    read: WorkerResults<JudgmentReader>,
    grouped: Vec<InOrder<'_, QrelsBuilder<'_>>>,
    source: &impl RowSource,
    seed: Seed,
) -> Option<(Qrels, Problems)> {
    let names: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    // A query of which every row is wrong has no table, and the others do not lie by their numbers.
    if grouped.iter().zip(&names).any(|(keep, names)| keep.make.tables.len() != names.len()) {
        return None;
    }
    let (order, ids, indices) = number_queries(&names);
    if ids.len() < order.len() {
        return None;
    }
    // Workers have met the queries in the order of the text, which is lost once they are sorted.
    let after = order.iter().map(|location| {
        let next = indices[location.worker as usize].get(location.number as usize + 1);
        next.copied().unwrap_or(u32::MAX)
    });
    let after = after.collect();
    let shelvings = grouped.into_iter().map(|keep| keep.make).collect();
    let (name, line) = (source.name(), &|line| source.line(line));
    let (qrels, problems) = finish(read, ids, shelvings, Some(order), name, line, seed);
    Some((Qrels { after, ..qrels }, problems))
}

/// Numbers the queries that all workers have read by their ids, each id once. Returns the places of
/// all of them, sorted by id, the ids, and each worker's numbering among them.
pub(super) fn number_queries(names: &[&Ids]) -> (Vec<QueryLocation>, Ids, Vec<Vec<u32>>) {
    let mut order: Vec<QueryLocation> = Vec::with_capacity(names.iter().map(|ids| ids.len()).sum());
    for (worker, ids) in (0..).zip(names) {
        order.extend((0..).zip(ids.iter()).map(|(number, id)| {
            let prefix = IdPrefix::new(id, 0, id.len()).prefix();
            QueryLocation { prefix, worker, number }
        }));
    }
    order.par_sort_unstable_by(|one, other| {
        one.prefix.cmp(&other.prefix).then_with(|| one.id(names).cmp(other.id(names)))
    });
    let mut indices: Vec<Vec<u32>> = names.iter().map(|ids| vec![0; ids.len()]).collect();
    let mut ids = Ids::default();
    for location in &order {
        let id = location.id(names);
        if ids.is_empty() || ids.get(ids.len() - 1) != id {
            ids.push(id);
        }
        indices[location.worker as usize][location.number as usize] = ids.len() as u32 - 1;
    }
    (order, ids, indices)
}

/// Makes qrels of records in any order: numbers the queries, and builds a hash table for each.
fn sort_out<'u>(
    read: WorkerResults<JudgmentReader>,
    scattered: Vec<AnyOrder>,
    source: &impl RowSource,
    builder: impl Fn() -> QrelsBuilder<'u> + Sync,
    seed: Seed,
) -> (Qrels, Problems) {
    let names: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    let (_, ids, numbers) = number_queries(&names);
    let scattered = scattered
        .into_par_iter()
        .zip(numbers)
        .map(|(scattered, numbers)| scattered.renumber(&numbers, &[], ids.len()))
        .collect();
    let shelvings = each_query(
        scattered,
        (source.whole(), RankColumn::None),
        None,
        builder,
        |shelving, records, docnos| {
            shelving.add(ids.get(records[0].query as usize), records, docnos);
        },
    );
    finish(read, ids, shelvings, None, source.name(), &|line| source.line(line), seed)
}

/// Makes qrels of the hash tables of all workers: sets final codes of grades, and orders the
/// queries. The order is `order`, or shelf by shelf if `order` is `None`.
pub(super) fn finish<R>(
    read: WorkerResults<R>,
    ids: Ids,
    mut shelvings: Vec<QrelsBuilder<'_>>,
    order: Option<Vec<QueryLocation>>,
    name: &str,
    line: &dyn Fn(u64) -> u64,
    seed: Seed,
) -> (Qrels, Problems) {
    let (lines, mut findings) = (read.lines(), read.findings);
    shelvings.iter_mut().for_each(|shelving| findings.merge(mem::take(&mut shelving.findings)));
    let identical = findings.identical;
    let mut problems = or_no_units(findings.into_problems(name, line, &lines), name, &shelvings);
    let exact = shelvings.iter().filter_map(|shelving| shelving.exact.as_ref());
    let extents = exact.filter_map(ExactHistograms::extent).reduce(GradeRange::and);
    let grades = shelvings.iter().flat_map(|shelving| shelving.grades.iter().copied());
    let book = extents.map(Codebook::single_class).map_or_else(|| Codebook::new(grades), Ok);
    let book = book.unwrap_or_else(|error| {
        if problems.first.is_empty() {
            problems = whole_file(name, error.to_string());
        }
        Codebook::default()
    });
    let order = order.unwrap_or_else(|| as_they_lie(&shelvings));
    // Codes are made final before facts are gathered, because facts are kept by final codes.
    shelvings.iter_mut().enumerate().for_each(|(number, shelving)| shelving.finish(number, &book));
    let tables = order
        .iter()
        .map(|location| shelvings[location.worker as usize].tables[location.number as usize])
        .collect();
    let (facts, queries) =
        rayon::join(|| facts(&order, &shelvings), || Interner::from_ids(ids, seed));
    let exact = extents.map(|_| exact_facts(&order, &shelvings));
    let (mut shelves, mut repeats, mut fingerprint) = (Vec::new(), Vec::new(), 0u128);
    for shelving in shelvings {
        shelves.push(shelving.shelf);
        fingerprint = fingerprint.wrapping_add(shelving.fingerprint);
        let found = shelving.repeats.into_iter();
        repeats.extend(found.map(|(id, found)| (id, found.into_problems(name, line, &lines))));
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
        identical,
        seed,
        partner: None,
    };
    (qrels, problems)
}

/// Returns the problems of the qrels, or that `--qrels-doc-id` would change nothing, if there are
/// none.
fn or_no_units(problems: Problems, name: &str, shelvings: &[QrelsBuilder<'_>]) -> Problems {
    let units = shelvings.first().and_then(|shelving| shelving.units);
    let Some((units, _)) = units.filter(|_| problems.first.is_empty()) else { return problems };
    let mut seen = AggregateCounts::default();
    shelvings.iter().for_each(|shelving| seen.merge(shelving.judged_units.seen.clone()));
    seen.unused_rule_message(units, "--qrels-doc-id")
        .map_or(problems, |message| whole_file(name, message))
}

/// Collects the exact grades of all queries, in the order of the queries.
fn exact_facts(order: &[QueryLocation], shelvings: &[QrelsBuilder]) -> ExactHistograms {
    let mut exact = ExactHistograms::default();
    for location in order {
        let of_shelf = shelvings[location.worker as usize].exact.as_ref();
        let of_query = of_shelf.map(|exact| exact.get(location.number as usize));
        exact.push_query(of_query.unwrap_or_default());
    }
    exact
}

/// Returns the places of all queries as they lie on the shelves of the workers, one shelf after the
/// other.
fn as_they_lie(shelvings: &[QrelsBuilder]) -> Vec<QueryLocation> {
    let places = (0..).zip(shelvings).flat_map(|(worker, shelving)| {
        (0..shelving.tables.len() as u32).map(move |number| QueryLocation {
            prefix: 0,
            worker,
            number,
        })
    });
    places.collect()
}

/// Counts the judged documents of each query by the final codes of their grades, in the order of
/// queries.
fn facts(order: &[QueryLocation], shelvings: &[QrelsBuilder]) -> GradeHistograms {
    let parts = order.par_chunks(1 << 12).map(|order| {
        let mut facts = GradeHistograms::new();
        for location in order {
            let QrelsBuilder { shelf, facts: met_facts, .. } = &shelvings[location.worker as usize];
            let counts = met_facts.get(location.number as usize);
            facts.push_counts(counts.iter().map(|(code, count)| (shelf.final_code(code), count)));
        }
        facts
    });
    let parts: Vec<_> = parts.collect();
    let mut facts = GradeHistograms::new();
    parts.iter().for_each(|part| facts.append(part));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::input;

    #[test]
    fn queries_are_found_after_those_before_them_in_the_text_and_after_any_other() {
        let text = "9 0 d 1\n10 0 d 1\n100 0 d 1\n11 0 d 1\n";
        let qrels = Qrels::read(input("qrels", text)).unwrap();
        assert_eq!(qrels.after, [1, 2, u32::MAX, 0], "of 10, 100, 11 and 9");
        for last in [Some(0), Some(1), Some(2), Some(3), None] {
            for (index, id) in (0..).zip(qrels.queries().iter()) {
                assert_eq!(qrels.query_after(last, id), Some(index));
            }
            assert_eq!(qrels.query_after(last, b"12"), None);
        }
    }
}
