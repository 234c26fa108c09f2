//! The places where queries begin, to detect a query that comes back.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lines::diagnostics::Position;

/// The places where each query of the qrels begins, by chunk and line, as far as is known yet.
pub(super) struct QueryStarts(Vec<AtomicU64>);

/// The value for no place.
const NONE: u64 = u64::MAX;
/// The bits of a line in a place; the chunk is above them.
const LINE_BITS: u32 = 32;

/// Makes a place. Places are in the order of the input.
pub(super) fn place(chunk: u64, line: u64) -> u64 {
    // Saturating: a line too large makes a wrong number in a message, where overflow would make
    // another chunk.
    chunk << LINE_BITS | line.min((1 << LINE_BITS) - 1)
}

/// Returns the position of a place in a source before which there were `chunks` chunks.
pub(super) fn of_place(place: u64, chunks: u64) -> Position {
    Position { chunk: (place >> LINE_BITS) - chunks, line: place & ((1 << LINE_BITS) - 1) }
}

impl QueryStarts {
    pub(super) fn new(queries: usize) -> Self {
        QueryStarts((0..queries).map(|_| AtomicU64::new(NONE)).collect())
    }

    /// Notes that a query begins at `here`. If the query began at another place before, returns the
    /// later of the two places: the query comes back there.
    pub(super) fn meet(&self, query: u32, here: u64) -> Option<u64> {
        // Relaxed is enough: all threads see the operations on one place in one order, and no other
        // memory depends on the place.
        let before = self.0[query as usize].fetch_min(here, Ordering::Relaxed);
        (before != NONE).then(|| before.max(here))
    }

    /// Returns which queries have come.
    pub(super) fn met(&self) -> Vec<bool> {
        self.0.iter().map(|place| place.load(Ordering::Relaxed) != NONE).collect()
    }
}
