//! The memory in which ids are matched, used again from row to row, for ids of either width.

use super::matching::{ArrayId, FoundId, SlotTable};
use super::short::ShortTables;

/// Memory for matching ids, used again from row to row.
#[derive(Debug, Default)]
pub(super) struct MatchRoom {
    narrow: IdTables<i32>,
    wide: IdTables<i64>,
    /// The ids of a row as numbers of 64 bits.
    pub widened: [Vec<i64>; 2],
    /// The column of each id of the truth that counts as its own.
    pub firsts: Vec<u32>,
    /// The code of each column, from 1, and that of no column.
    pub codes: Vec<u8>,
    /// The same codes where distances of the row decide.
    pub of_row: Vec<u8>,
    pub found: Vec<FoundId>,
}

/// The tables for ids of a width.
#[derive(Debug)]
pub(super) struct IdTables<K> {
    pub short: ShortTables<K>,
    pub long: SlotTable<K>,
}

impl<K: ArrayId> Default for IdTables<K> {
    fn default() -> Self {
        IdTables { short: ShortTables::default(), long: SlotTable::default() }
    }
}

/// Finds the tables for ids of a width.
pub(super) trait HasTables: ArrayId {
    fn tables(room: &mut MatchRoom) -> &mut IdTables<Self>;
}

impl HasTables for i32 {
    fn tables(room: &mut MatchRoom) -> &mut IdTables<i32> {
        &mut room.narrow
    }
}

impl HasTables for i64 {
    fn tables(room: &mut MatchRoom) -> &mut IdTables<i64> {
        &mut room.wide
    }
}
