//! The orders of equal scores, and the rankings that depend on the order.
//!
//! A ranking without documents of equal scores and different labels is the same in every order. So
//! the queries of a run are parted: *plain* queries are evaluated once for all orders, *tied*
//! queries once for each order.

use super::views::{OrderOfTies, known_orders};
use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::matrix::code::PAST_END;
use crate::matrix::{
    Above, Facts, LabelMatrix, MatrixBuilder, StagedPiece, StagedRow, StagedRun, StagedTies,
    TiedGroups,
};
use crate::rule::IdealOf;

/// The rankings of a run, apart by whether equal scores matter to them.
pub(super) struct PartedRun {
    /// The queries with one ranking for all orders; `None` if every query is tied.
    pub plain: Option<PartOfRun>,
    /// The rankings of the tied queries, in each arrangement; empty without tied queries.
    pub tied: Vec<PartOfRun>,
    /// The orders, each with the index of its arrangement in `tied`.
    pub orders: Vec<(OrderOfTies, usize)>,
    /// The judgments and rankings of each query of the matrix, in short.
    pub queries: Vec<QueryFound>,
}

/// Some rankings of a run as a matrix.
pub(super) struct PartOfRun {
    pub matrix: LabelMatrix,
    /// The query of the whole matrix of each of its queries.
    pub queries: Vec<u32>,
}

/// What judgments and ranking say of a query.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryFound {
    /// Whether the run has the query.
    pub present: bool,
    /// Whether documents of equal scores have different labels.
    pub tied: bool,
    /// The highest code among all judgments.
    pub judged: u8,
    /// The highest code among the documents retrieved.
    pub retrieved: u8,
    /// The number of documents retrieved.
    pub depth: u32,
}

impl QueryFound {
    /// Whether no judged document is relevant, or with `retrieved_only` no retrieved document.
    pub fn has_nothing(&self, above: Above, retrieved_only: bool) -> bool {
        !above.contains(if retrieved_only { self.retrieved } else { self.judged })
    }
}

/// Checks that definitions can be told apart by rankings of this matrix.
///
/// # Errors
/// Several runs or none; rankings that were cut; judgments by facet; more grades than codes; ties
/// that are not known.
pub(super) fn check(matrix: &LabelMatrix) -> Result<()> {
    let wrong = |message: String| Err(Error::Unanswerable(message));
    if matrix.runs().len() != 1 {
        let runs = matrix.runs().len();
        return wrong(format!("{runs} runs: a number is of one run, so give one"));
    }
    if let Some(depth) = matrix.rule().depth {
        return wrong(format!(
            "the matrix keeps only the first {depth} ranks, and a definition may look behind them: \
             build it without -M"
        ));
    }
    if matrix.judged_by().is_some() || !matrix.book().is_exact() {
        return wrong(
            "definitions are told apart by one grade for each document, of at most 253 distinct \
             grades"
                .to_owned(),
        );
    }
    if matrix.ideal() != IdealOf::Judgments {
        return wrong(
            "the matrix has no judgments besides those of its rankings: build it from qrels"
                .to_owned(),
        );
    }
    match matrix.tied_groups() {
        Some(_) => Ok(()),
        None => wrong(
            "it is not known which documents have equal scores: build it again with --keep-ties"
                .to_owned(),
        ),
    }
}

impl PartedRun {
    /// Parts the run of matrices joined from the same texts under different rules. Each matrix
    /// passed [`check`]. A missing matrix in ascending or descending order of ids is made from the
    /// opposite matrix, by reversing groups of equal scores.
    ///
    /// # Errors
    /// As [`MatrixBuilder::finish`].
    pub fn of(matrices: &[&LabelMatrix]) -> Result<Self> {
        let places: Vec<Vec<Option<(usize, usize)>>> =
            matrices.iter().map(|matrix| places(matrix)).collect();
        let queries = found(matrices, &places[0]);
        let of_kind = |tied: bool| -> Vec<u32> {
            let is = |found: &QueryFound| found.present && found.tied == tied;
            (0..).zip(&queries).filter(|(_, found)| is(found)).map(|(query, _)| query).collect()
        };
        let (plain, tied) = (of_kind(false), of_kind(true));
        let orders = known_orders(matrices.iter().map(|matrix| matrix.rule()));
        let mut parted = PartedRun { plain: None, tied: Vec::new(), orders: Vec::new(), queries };
        if !plain.is_empty() {
            parted.plain = Some(part(matrices[0], &places[0], plain, false)?);
        }
        let mut arrangements: Vec<((usize, bool), usize)> = Vec::new();
        for (order, at, reversed) in orders {
            let known = arrangements.iter().find(|(of, _)| *of == (at, reversed));
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

    /// Returns the index of the arrangement of the rankings of `part`. An arrangement with equal
    /// labels is used again: scores are mostly equal as f32 where they are equal as f64, and the
    /// order of the input is often the order of ids.
    fn arrangement(&mut self, part: PartOfRun) -> usize {
        let known = self.tied.iter().position(|other| are_alike(&part.matrix, &other.matrix));
        known.unwrap_or_else(|| {
            self.tied.push(part);
            self.tied.len() - 1
        })
    }
}

/// Returns the tile and the lane of the ranking of each query; `None` for a missing query.
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

/// What judgments and rankings say of each query. A query is tied if it is in any of the matrices.
fn found(matrices: &[&LabelMatrix], places: &[Option<(usize, usize)>]) -> Vec<QueryFound> {
    let batch = matrices[0].batch();
    let groups: Vec<&TiedGroups> =
        matrices.iter().filter_map(|matrix| matrix.tied_groups()).collect();
    let of_query = |(query, place): (usize, &Option<(usize, usize)>)| {
        let row = query as u32;
        let labels = place.iter().flat_map(|&(at, lane)| batch.ranking(at, lane));
        QueryFound {
            present: place.is_some(),
            tied: groups.iter().any(|of| {
                !of.of(row).groups.is_empty() || of.graded_of(row) != groups[0].graded_of(row)
            }),
            judged: batch.facts_of(row).iter().map(|(code, _)| code).max().unwrap_or(PAST_END),
            retrieved: labels.max().unwrap_or(PAST_END),
            depth: batch.depths()[query],
        }
    };
    places.iter().enumerate().map(of_query).collect()
}

/// Whether two matrices of the same queries have the same labels and groups of equal scores.
fn are_alike(one: &LabelMatrix, other: &LabelMatrix) -> bool {
    let (a, b) = (one.batch(), other.batch());
    a.tiles() == b.tiles()
        && a.depths() == b.depths()
        && a.tiles().all(|at| a.tile(at).labels == b.tile(at).labels)
        && one.tied_groups() == other.tied_groups()
}

/// Makes a matrix of the rankings of some queries, whose groups of equal scores are `reversed` or
/// not.
fn part(
    matrix: &LabelMatrix,
    places: &[Option<(usize, usize)>],
    queries: Vec<u32>,
    reversed: bool,
) -> Result<PartOfRun> {
    let (batch, groups) = (matrix.batch(), matrix.tied_groups());
    let (mut ids, mut facts) = (Ids::default(), Facts::new());
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
        MatrixBuilder::new(matrix.book().clone(), rule, matrix.fingerprint(), ids, facts);
    let info = matrix.runs()[0].clone();
    builder.push(StagedRun { info, pieces: vec![piece], tied: Some(ties) });
    Ok(PartOfRun { matrix: builder.finish()?, queries })
}
