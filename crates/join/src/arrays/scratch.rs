//! The memory in which rows become labels, used again from row to row.

use fearless_simd::Level;

use super::numbers::Key;
use super::ranked::Ranked;
use crate::label::Block;

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
    pub(super) keys: Keys,
    /// A row with its exact grades.
    pub(super) row: ExactRow,
}

/// Memory for scores with either type of key.
#[derive(Default)]
pub(super) struct Keys {
    narrow: Ranked<i32>,
    wide: Ranked<i64>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            level: Level::new(),
            labels: Vec::new(),
            counts: [0; 256],
            judged: Vec::new(),
            unranked: Block::default(),
            keys: Keys::default(),
            row: ExactRow::default(),
        }
    }
}

/// Finds the memory for a type of key.
pub(super) trait Kept: Key {
    fn of(keys: &mut Keys) -> &mut Ranked<Self>;
}

impl Kept for i32 {
    fn of(keys: &mut Keys) -> &mut Ranked<i32> {
        &mut keys.narrow
    }
}

impl Kept for i64 {
    fn of(keys: &mut Keys) -> &mut Ranked<i64> {
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
