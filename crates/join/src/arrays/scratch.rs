//! The memory in which rows become labels, used again from row to row.

use fearless_simd::Level;

use super::match_room::MatchRoom;
use super::numbers::Key;
use super::ranked::RankedScores;
use crate::matrix::{Block, ScoresSeen};

/// Memory that is used again from row to row.
pub struct Scratch {
    pub(super) level: Level,
    /// The labels of a row.
    pub(super) labels: Vec<u8>,
    /// The counts of a row by code.
    pub(super) counts: [u32; 256],
    /// The counts of some rows, `[row][grade]`.
    pub(super) judged: Vec<u32>,
    /// Labels in the order of documents and not of ranks.
    pub(super) unranked: Block,
    pub(super) keys: ScoreKeys,
    pub(super) matching: MatchRoom,
    /// A row with its exact grades.
    pub(super) row: ExactRow,
    /// What was seen of the scores of all rows.
    pub seen: ScoresSeen,
}

/// Memory for scores with either type of key.
#[derive(Default)]
pub(super) struct ScoreKeys {
    narrow: RankedScores<i32>,
    wide: RankedScores<i64>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            level: Level::new(),
            labels: Vec::new(),
            counts: [0; 256],
            judged: Vec::new(),
            unranked: Block::default(),
            keys: ScoreKeys::default(),
            matching: MatchRoom::default(),
            row: ExactRow::default(),
            seen: ScoresSeen::default(),
        }
    }
}

/// Finds the memory for a type of key.
pub(super) trait KeptKey: Key {
    fn of(keys: &mut ScoreKeys) -> &mut RankedScores<Self>;
}

impl KeptKey for i32 {
    fn of(keys: &mut ScoreKeys) -> &mut RankedScores<i32> {
        &mut keys.narrow
    }
}

impl KeptKey for i64 {
    fn of(keys: &mut ScoreKeys) -> &mut RankedScores<i64> {
        &mut keys.wide
    }
}

/// A row with its exact grades, in memory that is used again from row to row.
#[derive(Debug, Default)]
pub(super) struct ExactRow {
    /// The documents in rank order: their grades, `None` without one.
    pub(super) ranking: Vec<Option<f64>>,
    /// The grades of the judged documents among the first ranks.
    pub(super) grades: Vec<f64>,
    /// The grades of all judged documents.
    pub(super) judged: Vec<f64>,
}
