//! The orders of documents with equal scores, and the rankings of a run that depend on the order.
//!
//! If documents of equal scores always have equal labels, a ranking has the same labels in every
//! order. So the queries of a run are parted: *plain* queries are evaluated once for all orders,
//! *tied* queries once for each *arrangement*. An arrangement is the tied rankings as one or more
//! orders make them: orders that give the same labels and ties share an arrangement.

use super::views::{TieTreatment, known_orders};
use crate::error::{Result, unanswerable};
use crate::ids::Ids;
use crate::matrix::code::PAST_END;
use crate::matrix::{
    CodesAbove, GradeHistograms, LabelMatrix, MatrixBuilder, MatrixTies, StagedPiece, StagedRow,
    StagedRun, StagedTies,
};
use crate::rule::IdealSource;

/// A run split into rankings that depend on the order of equal scores, and rankings that do not.
pub(super) struct SplitRun {
    /// The rankings of the plain queries; `None` without such queries in the run.
    pub plain: Option<RunPart>,
    /// The rankings of the tied queries, in each arrangement; empty without tied queries.
    pub tied: Vec<RunPart>,
    /// The orders, each with the index of its arrangement in `tied`; the index is 0 if `tied` is
    /// empty.
    pub orders: Vec<(TieTreatment, usize)>,
    /// Facts about each judged query of the run's matrix, in the order of the matrix.
    pub queries: Vec<QueryCounts>,
}

/// Some rankings of a run as a label matrix.
pub(super) struct RunPart {
    pub matrix: LabelMatrix,
    /// For each query of this part, the index of the query in the matrix of the whole run.
    pub queries: Vec<u32>,
}

/// Facts about a query: its presence in the run, ties, highest grades and number of results.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryCounts {
    /// Whether the run has the query.
    pub present: bool,
    /// Whether documents of equal scores have different labels, or the orders differ in which
    /// graded documents have equal scores.
    pub tied: bool,
    /// The highest label code among all judgments of the query.
    pub judged: u8,
    /// The highest label code among the retrieved documents.
    pub retrieved: u8,
    /// The number of documents retrieved.
    pub depth: u32,
}

impl QueryCounts {
    /// Returns whether the query has no relevant document among the judged or, with
    /// `retrieved_only`, the retrieved documents. `above` is the set of relevant codes.
    pub fn has_nothing(&self, above: CodesAbove, retrieved_only: bool) -> bool {
        !above.contains(if retrieved_only { self.retrieved } else { self.judged })
    }
}

/// Rejects a label matrix with which definitions of a measure cannot be told apart.
///
/// # Errors
/// Several runs or none; rankings that were cut; judgments by facet; more grades than codes; no
/// judgments besides those of the rankings; ties that are not known.
pub(super) fn check(matrix: &LabelMatrix) -> Result<()> {
    let runs = matrix.runs().len();
    let wrong = if runs != 1 {
        format!("{runs} runs: a number is of one run, so give one")
    } else if let Some(depth) = matrix.rule().depth {
        format!(
            "the matrix keeps only the first {depth} ranks, and a definition may look behind them: \
             build it without -M"
        )
    } else if matrix.judged_by().is_some() || !matrix.codebook().is_exact() {
        "definitions are told apart by one grade for each document, of at most 253 distinct grades"
            .to_owned()
    } else if matrix.ideal() != IdealSource::Judgments {
        "the matrix has no judgments besides those of its rankings: build it from qrels".to_owned()
    } else if matrix.tied_groups().is_none() {
        "it is not known which documents have equal scores: build it again with --keep-ties"
            .to_owned()
    } else {
        return Ok(());
    };
    unanswerable(wrong)
}

impl SplitRun {
    /// Splits a run into plain and tied rankings. Each matrix has the run joined under another rule
    /// for equal scores, and passed [`check`]. A missing matrix in ascending or descending order of
    /// ids is made from the opposite matrix, by reversing groups of equal scores.
    ///
    /// # Errors
    /// As [`MatrixBuilder::finish`].
    pub fn new(matrices: &[&LabelMatrix]) -> Result<Self> {
        let places: Vec<Vec<Option<(usize, usize)>>> =
            matrices.iter().map(|matrix| places(matrix)).collect();
        let queries = query_counts(matrices, &places[0]);
        let [plain, tied] = [false, true].map(|tied| -> Vec<u32> {
            let some =
                (0..).zip(&queries).filter(|(_, counts)| counts.present && counts.tied == tied);
            some.map(|(query, _)| query).collect()
        });
        let orders = known_orders(matrices.iter().map(|matrix| matrix.rule()));
        let mut parted = Self { plain: None, tied: Vec::new(), orders: Vec::new(), queries };
        if !plain.is_empty() {
            parted.plain = Some(part(matrices[0], &places[0], plain, false)?);
        }
        let mut arrangements: Vec<((usize, bool), usize)> = Vec::new();
        for (order, at, reversed) in orders {
            let known = arrangements.iter().find(|(key, _)| *key == (at, reversed));
            // Without tied queries, no arrangement exists, and nobody looks at the index 0.
            let arrangement = match known {
                Some((_, arrangement)) => *arrangement,
                None if tied.is_empty() => 0,
                None => {
                    let part = part(matrices[at], &places[at], tied.clone(), reversed)?;
                    parted.arrangement(part)
                }
            };
            arrangements.push(((at, reversed), arrangement));
            parted.orders.push((order, arrangement));
        }
        Ok(parted)
    }

    /// Keeps an arrangement of the tied rankings, and returns its index. If an equal arrangement is
    /// kept already, that one serves again.
    ///
    /// Equal arrangements are common: scores that are equal as f32 are mostly equal as f64 too, and
    /// the order of the input is often the order of ids.
    fn arrangement(&mut self, part: RunPart) -> usize {
        let known = self.tied.iter().position(|other| are_alike(&part.matrix, &other.matrix));
        known.unwrap_or_else(|| {
            self.tied.push(part);
            self.tied.len() - 1
        })
    }
}

/// Returns the place of each query's ranking in a matrix, as tile (up to 64 rankings side by side)
/// and lane; `None` for a query that the run lacks.
fn places(matrix: &LabelMatrix) -> Vec<Option<(usize, usize)>> {
    let batch = matrix.batch();
    let mut places = vec![None; matrix.queries().len()];
    for at in batch.tiles() {
        for (lane, &row) in batch.rows(at).iter().enumerate() {
            places[batch.query(row)] = Some((at, lane));
        }
    }
    places
}

/// Gathers presence, ties, highest grades and number of results of each query. A query is tied if
/// any matrix has mixed labels among equal scores, or other groups of equal scores than the first.
fn query_counts(matrices: &[&LabelMatrix], places: &[Option<(usize, usize)>]) -> Vec<QueryCounts> {
    let batch = matrices[0].batch();
    let groups: Vec<&MatrixTies> =
        matrices.iter().filter_map(|matrix| matrix.tied_groups()).collect();
    let counts = places.iter().enumerate().map(|(query, place)| {
        let row = query as u32;
        let labels = place.iter().flat_map(|&(at, lane)| batch.ranking(at, lane));
        QueryCounts {
            present: place.is_some(),
            tied: groups.iter().any(|ties| {
                !ties.get(row).groups.is_empty() || ties.graded_of(row) != groups[0].graded_of(row)
            }),
            judged: batch.facts_of(row).iter().map(|(code, _)| code).max().unwrap_or(PAST_END),
            retrieved: labels.max().unwrap_or(PAST_END),
            depth: batch.depths()[query],
        }
    });
    counts.collect()
}

/// Returns whether two matrices of the same queries have the same labels and the same ties.
fn are_alike(one: &LabelMatrix, other: &LabelMatrix) -> bool {
    let (a, b) = (one.batch(), other.batch());
    a.tiles() == b.tiles()
        && a.depths() == b.depths()
        && a.tiles().all(|at| a.tile(at).labels == b.tile(at).labels)
        && one.tied_groups() == other.tied_groups()
}

/// Makes a matrix of the rankings of some queries. If `reversed`, the order of documents with equal
/// scores is reversed.
fn part(
    matrix: &LabelMatrix,
    places: &[Option<(usize, usize)>],
    queries: Vec<u32>,
    reversed: bool,
) -> Result<RunPart> {
    let (batch, groups) = (matrix.batch(), matrix.tied_groups());
    let (mut ids, mut facts) = (Ids::default(), GradeHistograms::new());
    let (mut piece, mut ties) = (StagedPiece::default(), StagedTies::default());
    for (number, &query) in (0..).zip(&queries) {
        let row = query as usize;
        let Some((at, lane)) = places[row] else { continue };
        ids.push(matrix.queries().get(row));
        facts.push_counts(batch.facts_of(query).iter());
        let start = piece.labels.len();
        piece.labels.extend(batch.ranking(at, lane).take(batch.depths()[row] as usize));
        let labels = &mut piece.labels[start..];
        for group in groups.map_or(Vec::new(), |groups| groups.graded_of(query)) {
            let labels = &mut labels[group.start as usize..group.end() as usize];
            if reversed {
                labels.reverse();
            }
            ties.note(number, group.start, labels, labels.len());
        }
        piece.rows.push(StagedRow { query: number, depth: labels.len() as u32 });
    }
    let rule = matrix.rule();
    let mut builder =
        MatrixBuilder::new(matrix.codebook().clone(), rule, matrix.fingerprint(), ids, facts);
    let info = matrix.runs()[0].clone();
    builder.push(StagedRun { info, pieces: vec![piece], tied: Some(ties) });
    Ok(RunPart { matrix: builder.finish()?, queries })
}
