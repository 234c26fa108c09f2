//! The label matrix of runs joined to judgments, and the builder that packs rankings into it.

use std::ops::Range;
use std::sync::Arc;

use fearless_simd::Level;
use rayon::prelude::*;

use super::{
    Codebook, CodesAbove, DuplicateCounts, ExactGrades, ExactHistograms, FacetRows, Facets,
    GoldCounts, GradeHistograms, MatrixTies, Packing, Ragged, ScoreWarnings, SharedJudgments,
    SpanRows, StagedTies, Tile,
    column::Column,
    sparse::SparseTiles,
    ties::{TieColumns, TieContext},
    transpose::transpose_into,
};
use crate::bytes::aligned::AlignedBytes;
use crate::error::{Error, Result, printable};
use crate::ids::{Ids, Unmatched};
use crate::judged_by::FacetKind;
use crate::rule::{IdealSource, RankingRule};

/// The description of a run in a label matrix: its name, tag and path, and counts from reading.
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
    pub seen: ScoreWarnings,
    /// Counts of its results by units from reading; files do not keep them.
    pub units: DuplicateCounts,
}

/// The rankings of some runs joined to judgments, with one byte (a label) for the grade of each
/// retrieved document. There are runs × queries rows of labels, with the codebook and the facts
/// that give the labels their meaning.
///
/// Every judged query has a row in every run; a query that the run lacks has a row of depth 0.
/// The row of run `r` and query `q` has the index `r * queries + q`.
#[derive(Debug)]
pub struct LabelMatrix {
    pub(crate) book: Codebook,
    pub(crate) rule: RankingRule,
    pub(crate) fingerprint: u128,
    pub(crate) queries: Ids,
    pub(crate) facts: GradeHistograms,
    pub(crate) runs: Vec<RunInfo>,
    pub(crate) depths: Vec<u32>,
    pub(crate) packing: Packing,
    /// The labels of all tiles, in memory or in an opened `.lmx` file.
    pub(crate) labels: Column<AlignedBytes>,
    pub(crate) ideal: IdealSource,
    pub(crate) tied: Option<MatrixTies>,
    pub(crate) exact: Option<ExactGrades>,
    pub(crate) grouped: Option<FacetRows>,
    pub(crate) spans: Option<SpanRows>,
    pub(crate) lists: SparseTiles,
    pub(crate) shared: Option<SharedJudgments>,
}

impl LabelMatrix {
    /// Renames the runs of the label matrix: one name for each, in the order of the runs.
    ///
    /// # Errors
    /// More or fewer names than runs, or a name given to two runs.
    pub fn with_run_names(mut self, names: impl IntoIterator<Item = String>) -> Result<Self> {
        let names: Vec<_> = names.into_iter().collect();
        let runs = self.runs.len();
        reject_if!(names.len() != runs, "{} names were given for {runs} runs", names.len());
        for (at, name) in names.iter().enumerate() {
            if let Some(other) = names[..at].iter().position(|other| other == name) {
                let [one, other] = [other, at].map(|at| printable(self.runs[at].name.as_bytes()));
                let name = printable(name.as_bytes());
                reject!("{one} and {other} would both have the name `{name}`: give each its own");
            }
        }
        self.runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
        Ok(self)
    }

    /// Returns the codebook, which gives the grade that each label byte of the matrix stands for.
    pub fn codebook(&self) -> &Codebook {
        &self.book
    }

    /// Returns the rule by which the rankings were made, such as the order of equal scores.
    pub fn rule(&self) -> RankingRule {
        self.rule.clone()
    }

    /// Returns the source of ideal rankings and numbers of relevant documents: all judgments or
    /// retrieved documents.
    pub fn ideal(&self) -> IdealSource {
        self.ideal
    }

    /// Returns a fingerprint of the judgments; scores are comparable only where the fingerprints
    /// are equal.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Returns the ids of the judged queries of the matrix, in bytewise order.
    pub fn queries(&self) -> &Ids {
        &self.queries
    }

    /// Returns the descriptions of the matrix's runs, such as their names.
    pub fn runs(&self) -> &[RunInfo] {
        &self.runs
    }

    /// Returns the number of rankings of the matrix: runs × queries.
    pub fn rows(&self) -> usize {
        self.depths.len()
    }

    /// Returns the number of results of each ranking, `[run][query]`; 0 where the run lacks the
    /// query.
    pub fn depths(&self) -> &[u32] {
        &self.depths
    }

    /// Returns the number of results of each query's ranking in one run.
    pub fn run_depths(&self, run: usize) -> &[u32] {
        let queries = self.queries.len();
        &self.depths[run * queries..(run + 1) * queries]
    }

    /// Returns counts of the queries that share their judged documents with others, like
    /// paraphrases. `None` if the queries do not look like groups, or without a search for groups,
    /// see [`Join::shared_judgments`]. Files do not store these counts.
    ///
    /// [`Join::shared_judgments`]: crate::settings::Join::shared_judgments
    pub fn shared_judgments(&self) -> Option<SharedJudgments> {
        self.shared
    }

    /// Returns the documents with equal scores but different labels in each ranking, if they were
    /// kept. See [`Join::keep_ties`].
    ///
    /// [`Join::keep_ties`]: crate::settings::Join::keep_ties
    pub fn tied_groups(&self) -> Option<&MatrixTies> {
        self.tied.as_ref()
    }

    /// Returns the kind of facet (judge, subtopic, preference or span) by which judgments were
    /// read, if any.
    pub fn judged_by(&self) -> Option<FacetKind> {
        let of_spans = self.spans.as_ref().map(|_| FacetKind::Span);
        self.grouped.as_ref().map(|grouped| grouped.facets.by).or(of_spans)
    }
}

#[doc(hidden)]
impl LabelMatrix {
    /// Returns the judgments of each query as counts: its number of documents of each label code.
    pub fn facts(&self) -> &GradeHistograms {
        &self.facts
    }

    /// Returns the exact grades by query and by ranking, if there are too many distinct grades for
    /// a code each.
    pub fn exact(&self) -> Option<&ExactGrades> {
        self.exact.as_ref()
    }

    /// Returns the matrix's judgments by facet (judge, subtopic or preference), if there are any.
    /// The named documents of each row come with them.
    pub fn facet_rows(&self) -> Option<&FacetRows> {
        self.grouped.as_ref()
    }

    /// Returns the rankings as rankings of passages, if judgments were read by span (positions in
    /// documents).
    pub fn span_rows(&self) -> Option<&SpanRows> {
        self.spans.as_ref()
    }

    /// Returns the place of each ranking of the matrix: its tile and its lane.
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Returns tile `at` of the matrix: the labels of up to 64 rankings side by side.
    pub fn tile(&self, at: usize) -> Tile<'_> {
        self.packing.tiles[at].tile(self.tile_bytes())
    }

    /// Returns the rows (rankings) of tile `at` of the matrix, lane by lane.
    pub fn tile_rows(&self, at: usize) -> &[u32] {
        self.packing.rows(&self.packing.tiles[at])
    }

    /// Returns the label bytes of all tiles of the matrix, in the order of an `.lmx` file.
    pub fn tile_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.labels)
    }
}

/// The rankings of a run as labels in reading order, before they are packed into a label matrix.
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

/// Some rankings of a run as labels, in any order, before they are packed into a label matrix.
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

/// The query and the number of labels of one ranking in a [`StagedPiece`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedRow {
    /// The query, as an index into the sorted ids.
    pub query: u32,
    /// The number of labels of the ranking, at least 1.
    pub depth: u32,
}

/// A builder of a label matrix: it collects the rankings of runs over one set of judgments, and
/// packs them into tiles.
#[derive(Debug, Default)]
pub struct MatrixBuilder {
    book: Codebook,
    rule: RankingRule,
    fingerprint: u128,
    queries: Ids,
    facts: GradeHistograms,
    runs: Vec<StagedRun>,
    /// The source of ideal rankings and numbers of relevant documents: all judgments or retrieved
    /// documents.
    pub ideal: IdealSource,
    /// The exact grades of the judgments, for a codebook whose codes are classes of grades.
    pub exact: Option<ExactHistograms>,
    /// The judgments by facet (judge, subtopic or preference) of the matrix's queries.
    pub grouped: Option<Arc<Facets>>,
    /// The numbers of gold positions of queries, where the judged items are passages (spans).
    pub spans: Option<Arc<GoldCounts>>,
    /// The counts of queries that share their judged documents with others.
    pub shared: Option<SharedJudgments>,
}

impl MatrixBuilder {
    /// Starts a label matrix over queries with their judgment counts, ideal rankings from
    /// judgments, and no optional data. The ids of `queries` are distinct, and in bytewise order.
    pub fn new(
        book: Codebook,
        rule: RankingRule,
        fingerprint: u128,
        queries: Ids,
        facts: GradeHistograms,
    ) -> Self {
        Self { book, rule, fingerprint, queries, facts, ..Self::default() }
    }

    /// Adds the labelled rankings of a run to the matrix.
    pub fn push(&mut self, run: StagedRun) {
        self.runs.push(run);
    }

    /// Packs the rankings of all runs into tiles, in parallel, and returns the label matrix. Labels
    /// are not checked. The labels of a row must be codes of the codebook other than 0. Except for
    /// documents outside the qrels, a row must have no more labels of a code than the facts of its
    /// query count. The matrix has tied groups if all its runs have tied groups.
    ///
    /// # Errors
    /// More than 2³² rows, or a row too deep for a tile. Queries out of order, or more or fewer
    /// queries than facts. Facts of codes that the codebook lacks, or of more documents than
    /// [`MAX_JUDGED`]. A row of an unknown query. A row with more labels than its piece has left
    /// or than the rule keeps. A second row of a query in a run. Labels of a piece without a row.
    /// Tied groups in contradiction to their row. Exact grades or spans that do not fit the rows.
    ///
    /// [`MAX_JUDGED`]: super::MAX_JUDGED
    pub fn finish(mut self) -> Result<LabelMatrix> {
        self.check_queries().map_err(Error::Unanswerable)?;
        // Labels are borrowed from the runs below, so the tied groups leave the runs now.
        let tied: Option<Vec<_>> = self.runs.iter_mut().map(|run| run.tied.take()).collect();
        let (queries, rows) = (self.queries.len(), self.rows()?);
        let mut columns = RowColumns {
            depths: vec![0; rows],
            labels: vec![&[]; rows],
            // Without optional data the lists stay empty, so `get_mut` below finds no row.
            exact: vec![&[]; rows * usize::from(self.exact.is_some())],
            numbers: vec![&[]; rows * usize::from(self.grouped.is_some())],
            spans: vec![&[]; rows * usize::from(self.spans.is_some())],
            width: self.spans.as_ref().map_or(0, |gold| gold.width()),
        };
        for (number, run) in self.runs.iter().enumerate() {
            for piece in &run.pieces {
                columns.add(piece, number * queries..(number + 1) * queries).map_err(
                    |message| Error::Unanswerable(format!("run {}: {message}", run.info.name)),
                )?;
            }
        }
        let RowColumns { depths, labels, exact, numbers, spans, .. } = columns;
        check_depths(&self.rule, &depths).map_err(Error::Unanswerable)?;
        let (max_depth, facts) = (self.rule.depth, &self.facts);
        let tied = tied_groups(tied, TieContext { depths: &depths, max_depth, facts })?;
        let packing = Packing::new(&depths)?;
        let lines = packed(&packing, &labels);
        drop(labels);
        let exact = self.exact.map(|facts| ExactGrades { facts, rows: Ragged::from_rows(&exact) });
        let grouped =
            self.grouped.map(|facets| FacetRows { facets, rows: Ragged::from_rows(&numbers) });
        let spans =
            self.spans.map(|gold| SpanRows::checked(gold, Ragged::from_rows(&spans), &depths));
        let spans = spans.transpose().map_err(Error::Unanswerable)?;
        let runs = self.runs.into_iter().map(|StagedRun { info, .. }| {
            // Only the grades of all judgments show whether small whole scores are strange.
            RunInfo { seen: info.seen.beside(&self.book), ..info }
        });
        let runs = runs.collect();
        Ok(LabelMatrix {
            book: self.book,
            rule: self.rule,
            fingerprint: self.fingerprint,
            queries: self.queries,
            facts: self.facts,
            runs,
            depths,
            packing,
            labels: lines.into(),
            ideal: self.ideal,
            tied,
            exact,
            grouped,
            spans,
            lists: SparseTiles::default(),
            shared: self.shared,
        })
    }

    /// Returns the number of rankings of the matrix, runs × queries; an error if there are too
    /// many.
    fn rows(&self) -> Result<usize> {
        let (runs, queries) = (self.runs.len(), self.queries.len());
        let rows = queries.checked_mul(runs).filter(|&rows| u32::try_from(rows).is_ok());
        rows.ok_or_else(|| {
            Error::Unanswerable(format!(
                "{runs} runs × {queries} queries are more than 2³² rankings: build several matrices"
            ))
        })
    }

    /// Rejects query ids, judgment counts and exact grades that do not fit together.
    fn check_queries(&self) -> Result<(), String> {
        let (queries, facts) = (self.queries.len(), self.facts.len());
        fault_if!(queries != facts, "{queries} queries with the facts of {facts}");
        fault_if!(
            !self.queries.are_ascending(),
            "the ids of the queries are not distinct and ascending"
        );
        let exact = self.exact.as_ref().map_or(queries, ExactHistograms::len);
        fault_if!(
            self.exact.is_none() != self.book.is_exact() || exact != queries,
            "the exact grades do not fit the codebook and the queries"
        );
        let checked = self.facts.check(self.book.codes());
        checked.map_err(|message| format!("judged counts: {message}"))
    }
}

/// Rejects rankings with more results than the ranking rule keeps.
pub(crate) fn check_depths(rule: &RankingRule, depths: &[u32]) -> Result<(), String> {
    let Some((depth, max_depth)) = rule.first_too_deep(depths) else { return Ok(()) };
    Err(format!("a row of {depth} results where the rule keeps the first {max_depth}"))
}

/// Copies the labels of rankings into the lanes of their tiles, in parallel.
fn packed(packing: &Packing, labels_of: &[&[u8]]) -> Vec<AlignedBytes> {
    let mut lines = vec![
        <AlignedBytes as bytemuck::Zeroable>::zeroed();
        packing.bytes() as usize / size_of::<AlignedBytes>()
    ];
    let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut lines);
    let mut places = Vec::with_capacity(packing.tiles.len());
    for span in &packing.tiles {
        // Each thread needs its tile as a slice of its own.
        let (tile, after) = rest.split_at_mut(span.bytes() as usize);
        places.push((span, tile));
        rest = after;
    }
    let level = Level::new();
    places.into_par_iter().for_each(|(span, tile)| {
        let labels: Vec<_> =
            packing.rows(span).iter().map(|&row| labels_of[row as usize]).collect();
        transpose_into(level, &labels, span.lanes as usize, tile);
    });
    lines
}

/// Combines the ties of all runs into those of the matrix; `None` without runs, or if a run kept no
/// ties.
fn tied_groups(
    runs: Option<Vec<StagedTies>>,
    context: TieContext<'_>,
) -> Result<Option<MatrixTies>> {
    let Some(runs) = runs.filter(|runs| !runs.is_empty()) else { return Ok(None) };
    let mut columns = TieColumns::default();
    let pushed = runs.into_iter().try_for_each(|run| columns.push(run, context.facts.len()));
    let tied = pushed.and_then(|()| MatrixTies::new(columns, context));
    tied.map(Some).map_err(|message| Error::Unanswerable(format!("tied groups: {message}")))
}

/// The rankings of all runs by row, with their labels and optional data before these are packed.
struct RowColumns<'a> {
    depths: Vec<u32>,
    labels: Vec<&'a [u8]>,
    /// The exact grades.
    exact: Vec<&'a [f64]>,
    /// The numbers of named documents.
    numbers: Vec<&'a [u32]>,
    /// The numbers of positions.
    spans: Vec<&'a [u32]>,
    /// The number of numbers of positions of a rank.
    width: usize,
}

impl<'a> RowColumns<'a> {
    /// Notes the depth, the labels and the optional data of each ranking of a piece of a run, which
    /// has the rows `of_run`, a row for each query. Rejects labels or other data that belong to no
    /// ranking.
    fn add(&mut self, piece: &'a StagedPiece, of_run: Range<usize>) -> Result<(), String> {
        // What no ranking has taken so far.
        let (mut labels, mut exact) = (&piece.labels[..], &piece.exact[..]);
        let (mut numbers, mut spans) = (&piece.numbers[..], &piece.spans[..]);
        for &StagedRow { query, depth } in &piece.rows {
            let row = of_run
                .clone()
                .nth(query as usize)
                .ok_or_else(|| format!("a row of query {query}, and there are {}", of_run.len()))?;
            // A staged row has a label at least, so depth 0 means that the query has no row so far.
            fault_if!(self.depths[row] > 0, "two rows of query {query}");
            self.depths[row] = depth;
            let own = labels.split_off(..depth as usize).ok_or_else(|| {
                format!(
                    "a row of query {query} with {depth} labels, and its piece has {} left",
                    labels.len()
                )
            })?;
            self.labels[row] = own;
            let count = |set: CodesAbove| own.iter().filter(|code| set.contains(**code)).count();
            let too_few = |count, documents, left, what| {
                format!(
                    "a row of query {query} has {count} {documents} documents, and its piece \
                     {left} {what} left"
                )
            };
            if let Some(of_row) = self.exact.get_mut(row) {
                let judged = count(CodesAbove::JUDGED);
                let grades = exact.split_off(..judged);
                *of_row = grades.ok_or_else(|| too_few(judged, "judged", exact.len(), "grades"))?;
            }
            if let Some(of_row) = self.numbers.get_mut(row) {
                let named = count(CodesAbove::IN_QRELS);
                let taken = numbers.split_off(..named);
                *of_row = taken.ok_or_else(|| too_few(named, "named", numbers.len(), "numbers"))?;
            }
            if let Some(of_row) = self.spans.get_mut(row) {
                *of_row = spans.split_off(..depth as usize * self.width).ok_or_else(|| {
                    format!(
                        "a row of query {query} lacks the numbers of positions of its {depth} \
                         results"
                    )
                })?;
            }
        }
        let left = [
            (spans.len(), "numbers of positions"),
            (numbers.len(), "numbers of documents"),
            (exact.len(), "exact grades"),
            (labels.len(), "labels"),
        ];
        if let Some((count, what)) = left.iter().find(|(count, _)| *count > 0) {
            return Err(format!("a piece has {count} {what} that belong to no row"));
        }
        Ok(())
    }
}
