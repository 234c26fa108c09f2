//! Buffers in which rankings in memory become labels, reused from row to row.

use super::{match_buffers::MatchBuffers, numbers::Key, ranked::RankScratch};
use crate::matrix::{Block, ScoreWarnings};

/// Buffers for making labels from rankings in memory, reused from row to row.
#[derive(Default)]
pub struct Scratch {
    /// The counts of some rows, `[row][grade]`.
    pub(super) judged: Vec<u32>,
    /// Labels in the order of documents and not of ranks.
    pub(super) unranked: Block,
    pub(super) keys: ScoreKeys,
    pub(super) matching: MatchBuffers,
    /// A row with its exact grades.
    pub(super) row: ExactRow,
    /// What was seen of the scores of all rows.
    pub seen: ScoreWarnings,
}

/// Buffers for ranking by score, for score keys of 32 and of 64 bits.
#[derive(Default)]
pub(super) struct ScoreKeys {
    narrow: RankScratch<i32>,
    wide: RankScratch<i64>,
}

/// A type of score key, of 32 or 64 bits, that has buffers of its own for ranking by score.
pub(super) trait KeyScratch: Key {
    fn scratch(keys: &mut ScoreKeys) -> &mut RankScratch<Self>;
}

impl KeyScratch for i32 {
    fn scratch(keys: &mut ScoreKeys) -> &mut RankScratch<i32> {
        &mut keys.narrow
    }
}

impl KeyScratch for i64 {
    fn scratch(keys: &mut ScoreKeys) -> &mut RankScratch<i64> {
        &mut keys.wide
    }
}

/// Buffers for one ranking with exact grades: of its documents by rank, and of all judged
/// documents.
#[derive(Debug, Default)]
pub(super) struct ExactRow {
    /// The documents in rank order: their grades, `None` without one.
    pub ranking: Vec<Option<f64>>,
    /// The grades of the judged documents among the first ranks.
    pub grades: Vec<f64>,
    /// The grades of all judged documents.
    pub judged: Vec<f64>,
}
