//! Buffers and tables for matching found ids with true ids, reused from row to row, for ids of 32
//! and 64 bits.

use super::{
    matching::{ArrayId, FoundId, SlotTable},
    short::ShortTables,
};

/// Buffers and tables for matching a query's found ids with its true ids, reused from query to
/// query.
#[derive(Debug, Default)]
pub(super) struct MatchBuffers {
    pub narrow: IdTables<i32>,
    pub wide: IdTables<i64>,
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

/// The two tables for matching ids of one width (32 or 64 bits): for short and for long lists.
#[derive(Debug, Default)]
pub(super) struct IdTables<K: ArrayId> {
    pub short: ShortTables<K>,
    pub long: SlotTable<K>,
}

/// A type of id, of 32 or 64 bits, that has tables of its own for matching found ids with true ids.
pub(super) trait IdTableAccess: ArrayId {
    fn tables(room: &mut MatchBuffers) -> &mut IdTables<Self>;
}

impl IdTableAccess for i32 {
    fn tables(room: &mut MatchBuffers) -> &mut IdTables<i32> {
        &mut room.narrow
    }
}

impl IdTableAccess for i64 {
    fn tables(room: &mut MatchBuffers) -> &mut IdTables<i64> {
        &mut room.wide
    }
}
