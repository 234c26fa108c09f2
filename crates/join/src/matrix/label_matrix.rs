//! The label matrix, and how it is made of staged rows.

use std::sync::Arc;

use fearless_simd::Level;
use rayon::prelude::*;

use super::code::{Above, Codebook};
use super::exact::{ExactFacts, ExactGrades};
use super::facets::{FacetRows, Facets};
use super::facts::Facts;
use super::listed::ListedTiles;
use super::notice::ScoresSeen;
use super::passages::{GoldFacts, SpanRows};
use super::place::place;
use super::ragged::Ragged;
use super::shared_judgments::SharedJudgments;
use super::tied::{StagedTies, TiedColumns, TiedGroups, TiedIn};
use super::tile::{Packing, Tile};
use crate::bytes::aligned::AlignedBytes;
use crate::bytes::mmap::Mapping;
use crate::error::{Error, Result, printable};
use crate::ids::{Ids, Unmatched};
use crate::judged_by::JudgedBy;
use crate::matrix::unit_counts::UnitCounts;
use crate::rule::{IdealOf, RankingRule};

/// A description of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunInfo {
    /// The name of the run, unique in the matrix.
    pub name: String,
    /// The run id on the last line of the run.
    pub tag: Vec<u8>,
    /// The path of the run, as given.
    pub source: String,
    /// Result lines read, those of unjudged queries included.
    pub results: u64,
    /// Queries of the run that the qrels lack; their results were ignored. A file keeps the ids of
    /// the first few.
    pub ignored: Unmatched,
    /// Findings about its scores from reading; files do not keep them.
    pub seen: ScoresSeen,
    /// Counts of its results by units from reading; files do not keep them.
    pub units: UnitCounts,
}

/// Rankings joined to judgments: runs × queries rows of one-byte labels, with the codebook and the
/// facts that give the labels their meaning.
///
/// Every judged query has a row in every run; a query that the run lacks has a row of depth 0.
/// The row of run `r` and query `q` has the index `r * queries + q`.
#[derive(Debug)]
pub struct LabelMatrix {
    pub(crate) book: Codebook,
    pub(crate) rule: RankingRule,
    pub(crate) fingerprint: u128,
    pub(crate) queries: Ids,
    pub(crate) facts: Facts,
    pub(crate) runs: Vec<RunInfo>,
    pub(crate) depths: Vec<u32>,
    pub(crate) packing: Packing,
    pub(crate) labels: TileBytes,
    pub(crate) ideal: IdealOf,
    pub(crate) tied: Option<TiedGroups>,
    pub(crate) exact: Option<ExactGrades>,
    pub(crate) grouped: Option<FacetRows>,
    pub(crate) spans: Option<SpanRows>,
    pub(crate) lists: ListedTiles,
    pub(crate) shared: Option<SharedJudgments>,
}

/// The bytes of the tiles.
#[derive(Debug)]
pub(crate) enum TileBytes {
    Owned(Vec<AlignedBytes>),
    /// A part of a file.
    InFile {
        file: Arc<Mapping>,
        range: std::ops::Range<usize>,
    },
}

impl TileBytes {
    fn bytes(&self) -> &[u8] {
        match self {
            TileBytes::Owned(lines) => bytemuck::cast_slice(lines),
            TileBytes::InFile { file, range } => &file[range.clone()],
        }
    }
}

impl LabelMatrix {
    /// Replaces the names of the runs, in the order of the runs.
    ///
    /// # Errors
    /// More or fewer names than runs, or a name given to two runs.
    pub fn with_run_names(mut self, names: impl IntoIterator<Item = String>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().collect();
        if names.len() != self.runs.len() {
            let (names, runs) = (names.len(), self.runs.len());
            return Err(Error::Unanswerable(format!("{names} names were given for {runs} runs")));
        }
        for (at, name) in names.iter().enumerate() {
            if let Some(other) = names[..at].iter().position(|other| other == name) {
                let [one, other] = [other, at].map(|at| printable(self.runs[at].name.as_bytes()));
                let name = printable(name.as_bytes());
                return Err(Error::Unanswerable(format!(
                    "{one} and {other} would both have the name `{name}`: give each its own"
                )));
            }
        }
        self.runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
        Ok(self)
    }

    /// The meaning of the codes.
    pub fn book(&self) -> &Codebook {
        &self.book
    }

    /// The rule by which the rankings were made.
    pub fn rule(&self) -> RankingRule {
        self.rule.clone()
    }

    /// The source of the number of relevant documents and of ideal rankings.
    pub fn ideal(&self) -> IdealOf {
        self.ideal
    }

    /// A fingerprint of the judgments: results are comparable only where the fingerprints are
    /// equal.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// The judged queries, in bytewise order.
    pub fn queries(&self) -> &Ids {
        &self.queries
    }

    /// The judgments of each query, as counts.
    #[doc(hidden)]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The runs.
    pub fn runs(&self) -> &[RunInfo] {
        &self.runs
    }

    /// The number of rows: runs × queries.
    pub fn rows(&self) -> usize {
        self.depths.len()
    }

    /// The number of results of each row, `[run][query]`; 0 where the run lacks the query.
    pub fn depths(&self) -> &[u32] {
        &self.depths
    }

    /// The depths of one run, by query.
    pub fn run_depths(&self, run: usize) -> &[u32] {
        let queries = self.queries.len();
        &self.depths[run * queries..(run + 1) * queries]
    }

    /// The groups of queries with equal judged documents; `None` if the queries do not look like
    /// groups, or without a search for groups, see [`Join::shared_judgments`]. Files do not store
    /// these groups.
    ///
    /// [`Join::shared_judgments`]: crate::settings::Join::shared_judgments
    pub fn shared_judgments(&self) -> Option<SharedJudgments> {
        self.shared
    }

    /// The groups of documents with equal scores and different labels; `None` if tied groups were
    /// not kept, see [`Join::keep_ties`].
    ///
    /// [`Join::keep_ties`]: crate::settings::Join::keep_ties
    pub fn tied_groups(&self) -> Option<&TiedGroups> {
        self.tied.as_ref()
    }

    /// The exact grades of the judgments of each query and of the documents of each row, if there
    /// are too many distinct grades for a code each.
    #[doc(hidden)]
    pub fn exact(&self) -> Option<&ExactGrades> {
        self.exact.as_ref()
    }

    /// The judgments by facet, and the named documents of each row, if judgments were read by
    /// facet.
    #[doc(hidden)]
    pub fn facet_rows(&self) -> Option<&FacetRows> {
        self.grouped.as_ref()
    }

    /// The rankings as passages, if judgments were read by span.
    #[doc(hidden)]
    pub fn span_rows(&self) -> Option<&SpanRows> {
        self.spans.as_ref()
    }

    /// The kind of facet, if judgments were read by facet.
    pub fn judged_by(&self) -> Option<JudgedBy> {
        let of_spans = self.spans.as_ref().map(|_| JudgedBy::Span);
        self.grouped.as_ref().map(|grouped| grouped.of.by).or(of_spans)
    }

    /// The places of the rows in the tiles.
    #[doc(hidden)]
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// The labels of tile `at`.
    #[doc(hidden)]
    pub fn tile(&self, at: usize) -> Tile<'_> {
        let span = self.packing.tiles[at];
        let range = span.offset as usize..(span.offset + span.bytes()) as usize;
        Tile {
            labels: &self.labels.bytes()[range],
            lanes: span.lanes as usize,
            depth: span.depth as usize,
        }
    }

    /// The rows of tile `at`, lane by lane.
    #[doc(hidden)]
    pub fn tile_rows(&self, at: usize) -> &[u32] {
        let span = self.packing.tiles[at];
        &self.packing.order[span.first as usize..(span.first + span.rows) as usize]
    }

    /// The bytes of all tiles, in their order in a file.
    #[doc(hidden)]
    pub fn tile_bytes(&self) -> &[u8] {
        &self.labels.bytes()[..self.packing.bytes() as usize]
    }
}

/// A run as the ingest stages it: rows of labels in reading order.
#[derive(Debug, Default)]
pub struct StagedRun {
    /// The description of the run.
    pub info: RunInfo,
    /// The rankings of the run, at most one a query, in as many pieces as there were workers or
    /// chunks.
    pub pieces: Vec<StagedPiece>,
    /// The tied groups of the run, if they are kept.
    pub tied: Option<StagedTies>,
}

/// Some rankings of a run, in any order.
#[derive(Debug, Default)]
pub struct StagedPiece {
    /// The rankings.
    pub rows: Vec<StagedRow>,
    /// The labels of the rankings, row after row.
    pub labels: Vec<u8>,
    /// The exact grades of the judged documents of the rankings, row after row in rank order, if
    /// codes are classes of grades.
    pub exact: Vec<f64>,
    /// The numbers of the documents of the rankings that the qrels name, row after row in rank
    /// order, if judgments are by facet.
    pub numbers: Vec<u32>,
    /// The numbers of positions of each rank of the rankings, row after row, if judgments are by
    /// span.
    pub spans: Vec<u32>,
}

/// A single ranking of a staged piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedRow {
    /// The query, as an index into the sorted ids.
    pub query: u32,
    /// The number of labels of the ranking, at least 1.
    pub depth: u32,
}

/// A builder of a label matrix: it collects runs over one set of judgments and packs runs into
/// tiles.
#[derive(Debug)]
pub struct MatrixBuilder {
    book: Codebook,
    rule: RankingRule,
    fingerprint: u128,
    queries: Ids,
    facts: Facts,
    runs: Vec<StagedRun>,
    ideal: IdealOf,
    exact: Option<ExactFacts>,
    grouped: Option<Arc<Facets>>,
    spans: Option<Arc<GoldFacts>>,
    shared: Option<SharedJudgments>,
}

impl MatrixBuilder {
    /// Starts a matrix over `queries`, in bytewise order and distinct, with their facts.
    pub fn new(
        book: Codebook,
        rule: RankingRule,
        fingerprint: u128,
        queries: Ids,
        facts: Facts,
    ) -> Self {
        let (runs, ideal, exact, grouped, spans) =
            (Vec::new(), IdealOf::Judgments, None, None, None);
        let shared = None;
        MatrixBuilder {
            book,
            rule,
            fingerprint,
            queries,
            facts,
            runs,
            ideal,
            exact,
            grouped,
            spans,
            shared,
        }
    }

    /// Sets the source of the facts. The default is judgments.
    #[must_use]
    pub fn with_ideal(self, ideal: IdealOf) -> Self {
        MatrixBuilder { ideal, ..self }
    }

    /// Sets the exact grades of the judgments, for a codebook of classes.
    #[must_use]
    pub fn with_exact(self, exact: Option<ExactFacts>) -> Self {
        MatrixBuilder { exact, ..self }
    }

    /// Sets the judgments by facet.
    #[must_use]
    pub fn with_facets(self, grouped: Option<Arc<Facets>>) -> Self {
        MatrixBuilder { grouped, ..self }
    }

    /// Sets the gold of judgments by span.
    #[must_use]
    pub fn with_spans(self, spans: Option<Arc<GoldFacts>>) -> Self {
        MatrixBuilder { spans, ..self }
    }

    /// Sets the groups of queries with equal judged documents.
    pub(crate) fn with_shared_judgments(self, shared: Option<SharedJudgments>) -> Self {
        MatrixBuilder { shared, ..self }
    }

    /// Adds a run.
    pub fn push(&mut self, run: StagedRun) {
        self.runs.push(run);
    }

    /// Packs the rows into tiles, in parallel, without a check of the labels. The labels of a row
    /// must be codes of the codebook other than 0. Except for documents outside the qrels, a row
    /// must have no more labels of a code than the facts of its query count. The matrix has tied
    /// groups if all its runs have tied groups.
    ///
    /// # Errors
    /// More than 2³² rows, or a row too deep for a tile. Queries out of order, or more or fewer
    /// queries than facts. Facts of codes that the codebook lacks, or of more documents than
    /// [`MOST_JUDGED`]. A row of an unknown query. A row with more labels than its piece has left
    /// or than the rule keeps. A second row of a query in a run. Labels of a piece without a row.
    /// Tied groups in contradiction to their row. Exact grades or spans that do not fit the rows.
    ///
    /// [`MOST_JUDGED`]: super::MOST_JUDGED
    pub fn finish(mut self) -> Result<LabelMatrix> {
        self.check_queries()?;
        let tied: Option<Vec<StagedTies>> =
            self.runs.iter_mut().map(|run| run.tied.take()).collect();
        let (queries, rows) = (self.queries.len(), self.rows()?);
        let mut depths = vec![0u32; rows];
        let mut labels_of: Vec<&[u8]> = vec![&[]; rows];
        let room = |wanted: bool| if wanted { rows } else { 0 };
        let mut exact_of: Vec<&[f64]> = vec![&[]; room(self.exact.is_some())];
        let mut numbers_of: Vec<&[u32]> = vec![&[]; room(self.grouped.is_some())];
        let mut spans_of: Vec<&[u32]> = vec![&[]; room(self.spans.is_some())];
        let width = self.spans.as_ref().map_or(0, |gold| gold.width());
        for (number, run) in self.runs.iter().enumerate() {
            let of_run = number * queries..(number + 1) * queries;
            let beside = Beside {
                exact_of: exact_of.get_mut(of_run.clone()),
                numbers_of: numbers_of.get_mut(of_run.clone()),
                spans_of: spans_of.get_mut(of_run.clone()).map(|of| (width, of)),
            };
            unpack(run, &mut depths[of_run.clone()], &mut labels_of[of_run], beside).map_err(
                |message| Error::Unanswerable(format!("run {}: {message}", run.info.name)),
            )?;
        }
        if let Some((depth, kept)) = self.rule.deeper(&depths) {
            let message = format!("a row of {depth} results where the rule keeps the first {kept}");
            return Err(Error::Unanswerable(message));
        }
        let tied = tied_groups(
            tied,
            TiedIn { depths: &depths, kept: self.rule.depth, facts: &self.facts },
        )?;
        let packing = Packing::new(&depths)?;
        let lines = packed(&packing, &labels_of);
        drop(labels_of);
        let exact = self.exact.map(|facts| ExactGrades { facts, rows: Ragged::of_rows(&exact_of) });
        let grouped = self.grouped.map(|of| FacetRows { of, rows: Ragged::of_rows(&numbers_of) });
        let spans = self.spans.map(|of| SpanRows::checked(of, Ragged::of_rows(&spans_of), &depths));
        let spans = spans.transpose().map_err(Error::Unanswerable)?;
        let beside =
            |StagedRun { info, .. }| RunInfo { seen: info.seen.beside(&self.book), ..info };
        let runs = self.runs.into_iter().map(beside).collect();
        Ok(LabelMatrix {
            book: self.book,
            rule: self.rule,
            fingerprint: self.fingerprint,
            queries: self.queries,
            facts: self.facts,
            runs,
            depths,
            packing,
            labels: TileBytes::Owned(lines),
            ideal: self.ideal,
            tied,
            exact,
            grouped,
            spans,
            lists: ListedTiles::default(),
            shared: self.shared,
        })
    }

    /// The number of rows.
    fn rows(&self) -> Result<usize> {
        let (runs, queries) = (self.runs.len(), self.queries.len());
        let rows = queries.checked_mul(runs).filter(|&rows| u32::try_from(rows).is_ok());
        rows.ok_or_else(|| {
            Error::Unanswerable(format!(
                "{runs} runs × {queries} queries are more than 2³² rankings: build several matrices"
            ))
        })
    }

    fn check_queries(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::Unanswerable(message));
        if self.queries.len() != self.facts.len() {
            return wrong(format!(
                "{} queries with the facts of {}",
                self.queries.len(),
                self.facts.len()
            ));
        }
        if !self.queries.are_ascending() {
            return wrong("the ids of the queries are not distinct and ascending".to_owned());
        }
        let exact = self.exact.as_ref().map_or(self.queries.len(), ExactFacts::len);
        if self.exact.is_none() != self.book.is_exact() || exact != self.queries.len() {
            return wrong("the exact grades do not fit the codebook and the queries".to_owned());
        }
        self.facts
            .check(self.book.codes())
            .or_else(|message| wrong(format!("judged counts: {message}")))
    }
}

/// Packs the labels of rows into tiles.
fn packed(packing: &Packing, labels_of: &[&[u8]]) -> Vec<AlignedBytes> {
    let mut lines = vec![
        <AlignedBytes as bytemuck::Zeroable>::zeroed();
        packing.bytes() as usize / size_of::<AlignedBytes>()
    ];
    let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut lines);
    let mut places = Vec::with_capacity(packing.tiles.len());
    for span in &packing.tiles {
        let (tile, after) = rest.split_at_mut(span.bytes() as usize);
        places.push((span, tile));
        rest = after;
    }
    let level = Level::new();
    places.into_par_iter().for_each(|(span, tile)| {
        let rows = &packing.order[span.first as usize..(span.first + span.rows) as usize];
        let labels: Vec<&[u8]> = rows.iter().map(|&row| labels_of[row as usize]).collect();
        place(level, &labels, span.lanes as usize, tile);
    });
    lines
}

/// The tied groups of all runs, if there is a run and every run has its tied groups.
fn tied_groups(runs: Option<Vec<StagedTies>>, of: TiedIn<'_>) -> Result<Option<TiedGroups>> {
    let Some(runs) = runs.filter(|runs| !runs.is_empty()) else { return Ok(None) };
    let mut columns = TiedColumns::default();
    let pushed = runs.into_iter().try_for_each(|run| columns.push(run, of.facts.len()));
    let tied = pushed.and_then(|()| TiedGroups::new(columns, of));
    tied.map(Some).map_err(|message| Error::Unanswerable(format!("tied groups: {message}")))
}

/// Optional data of the rows of a run, beside the labels.
struct Beside<'b, 'a> {
    /// The exact grades.
    exact_of: Option<&'b mut [&'a [f64]]>,
    /// The numbers of named documents.
    numbers_of: Option<&'b mut [&'a [u32]]>,
    /// The numbers of a rank, and the numbers of positions.
    spans_of: Option<(usize, &'b mut [&'a [u32]])>,
}

/// The labels and the optional data of a piece that belong to no row so far.
struct RestOfPiece<'a> {
    labels: &'a [u8],
    exact: &'a [f64],
    numbers: &'a [u32],
    spans: &'a [u32],
}

impl RestOfPiece<'_> {
    /// Rejects data of the piece that belong to no row.
    fn check_empty(&self) -> Result<(), String> {
        let left = [
            (self.spans.len(), "numbers of positions"),
            (self.numbers.len(), "numbers of documents"),
            (self.exact.len(), "exact grades"),
            (self.labels.len(), "labels"),
        ];
        if let Some((count, what)) = left.iter().find(|(count, _)| *count > 0) {
            return Err(format!("a piece has {count} {what} that belong to no row"));
        }
        Ok(())
    }
}

impl<'a> Beside<'_, 'a> {
    /// Notes the optional data of a row, taken from the rest of its piece.
    fn unpack(
        &mut self,
        StagedRow { query, depth }: StagedRow,
        labels: &[u8],
        rest: &mut RestOfPiece<'a>,
    ) -> Result<(), String> {
        let at = query as usize;
        if let Some(exact_of) = &mut self.exact_of {
            let judged = labels.iter().filter(|&&label| Above::JUDGED.contains(label)).count();
            (exact_of[at], rest.exact) = rest.exact.split_at_checked(judged).ok_or_else(|| {
                format!(
                    "a row of query {query} has {judged} judged documents, and its piece {} grades \
                     left",
                    rest.exact.len()
                )
            })?;
        }
        if let Some(numbers_of) = &mut self.numbers_of {
            let named = labels.iter().filter(|&&label| Above::POOLED.contains(label)).count();
            (numbers_of[at], rest.numbers) =
                rest.numbers.split_at_checked(named).ok_or_else(|| {
                    format!(
                        "a row of query {query} has {named} named documents, and its piece {} \
                         numbers left",
                        rest.numbers.len()
                    )
                })?;
        }
        if let Some((width, spans_of)) = &mut self.spans_of {
            (spans_of[at], rest.spans) =
                rest.spans.split_at_checked(depth as usize * *width).ok_or_else(|| {
                    format!(
                        "a row of query {query} lacks the numbers of positions of its {depth} \
                         results"
                    )
                })?;
        }
        Ok(())
    }
}

/// Notes the depth, the labels and the optional data of each row of a run, by query.
fn unpack<'a>(
    run: &'a StagedRun,
    depths: &mut [u32],
    labels_of: &mut [&'a [u8]],
    mut beside: Beside<'_, 'a>,
) -> Result<(), String> {
    for StagedPiece { rows, labels, exact, numbers, spans } in &run.pieces {
        let mut rest = RestOfPiece { labels, exact, numbers, spans };
        for &StagedRow { query, depth } in rows {
            let queries = depths.len();
            let at = query as usize;
            let of_query = depths
                .get_mut(at)
                .ok_or_else(|| format!("a row of query {query}, and there are {queries}"))?;
            if *of_query > 0 {
                return Err(format!("two rows of query {query}"));
            }
            *of_query = depth;
            (labels_of[at], rest.labels) =
                rest.labels.split_at_checked(depth as usize).ok_or_else(|| {
                    format!(
                        "a row of query {query} with {depth} labels, and its piece has {} left",
                        rest.labels.len()
                    )
                })?;
            beside.unpack(StagedRow { query, depth }, labels_of[at], &mut rest)?;
        }
        rest.check_empty()?;
    }
    Ok(())
}
