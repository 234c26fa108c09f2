//! The types of picked queries: their ids, and their judged and retrieved documents with scores.

use super::qrels::Qrels;
use crate::matrix::LabelMatrix;
use crate::spans::Span;

impl Qrels {
    /// Returns the number of the query `id`, judged or not, if it is one of `picks`. Queries without
    /// judgments get numbers behind all queries of the qrels.
    pub(super) fn pick(&self, picks: &[Vec<u8>], id: &[u8]) -> Option<u32> {
        let place = picks.iter().position(|pick| pick == id)?;
        Some(self.query(id).unwrap_or(self.queries().len() as u32 + place as u32))
    }
}

/// Returns for each result of a ranking the number of results with the same score.
pub(super) fn tie_sizes<T>(ranked: &[T], key: impl Fn(&T) -> u64) -> impl Iterator<Item = u32> {
    ranked
        .chunk_by(move |one, next| key(one) == key(next))
        .flat_map(|tied| std::iter::repeat_n(tied.len() as u32, tied.len()))
}

/// A document in the ranking of a picked query, with its score, grade and number of ties.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieved {
    /// The id of the document.
    pub docno: Vec<u8>,
    /// The compared score: rounded if scores are compared as f32.
    pub score: f64,
    /// The code of the grade.
    pub code: u8,
    /// The grade, if it is 0 or more.
    pub grade: Option<f64>,
    /// The number of documents of the run with this score, itself included. Documents behind the
    /// ranks that are kept are counted too.
    pub tied: u32,
    /// The passage, if results are passages.
    pub span: Option<RetrievedSpan>,
}

/// A retrieved passage in the ranking of a picked query: its span, and its positions not covered
/// above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrievedSpan {
    /// The positions.
    pub span: Span,
    /// The number of positions that no higher rank covered.
    pub new: u32,
    /// The number of new positions in gold of at least each grade.
    pub gold: Vec<u64>,
}

/// A picked query with all its judged documents, and its ranking in each run.
#[derive(Debug, Clone, PartialEq)]
pub struct PickedQuery {
    /// The id of the query.
    pub id: Vec<u8>,
    /// The documents that the qrels name for the query, with their grades, by id; `None` if the
    /// qrels lack the query. A negative grade may be any.
    pub judged: Option<Vec<(Vec<u8>, f64)>>,
    /// The ranking of the query in each run; `None` if a run lacks the query.
    pub rankings: Vec<Option<Vec<Retrieved>>>,
}

/// The picked queries with all their documents, and the matrix of their rankings, without any other
/// query.
#[derive(Debug)]
pub struct PickedQueries {
    /// The queries in the order asked for.
    pub queries: Vec<PickedQuery>,
    /// The matrix of the rankings.
    pub matrix: LabelMatrix,
}
