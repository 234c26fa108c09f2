//! The places in a streamed run where queries begin, to detect a query whose lines are not
//! together.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lines::diagnostics::Position;

/// The place of a streamed run, by chunk and line, where each query of the qrels begins, as far as
/// known yet.
pub struct QueryStarts(Vec<AtomicU64>);

/// The value for no place.
const NONE: u64 = u64::MAX;
/// The bits of a line in a place; the chunk is above them.
const LINE_BITS: u32 = 32;

/// Encodes the place in a streamed run where a query begins, chunk and line, as one number. Places
/// are in the order of the input.
pub fn place(chunk: u64, line: u64) -> u64 {
    // Saturating: a line too large makes a wrong number in a message, where overflow would make
    // another chunk.
    chunk << LINE_BITS | line.min((1 << LINE_BITS) - 1)
}

/// Decodes a place in a streamed run to its chunk and line in a source with `chunks` chunks before
/// it.
pub fn place_to_position(place: u64, chunks: u64) -> Position {
    Position { chunk: (place >> LINE_BITS) - chunks, line: place & ((1 << LINE_BITS) - 1) }
}

impl QueryStarts {
    /// Makes the places where queries begin, for queries of the qrels that have not come yet.
    pub fn new(queries: usize) -> Self {
        QueryStarts((0..queries).map(|_| AtomicU64::new(NONE)).collect())
    }

    /// Records that a query begins at `here`; returns the later place if the query has begun twice.
    /// The query comes back there.
    pub fn record_start(&self, query: u32, here: u64) -> Option<u64> {
        // Relaxed is enough: all threads see the operations on one place in one order, and no other
        // memory depends on the place.
        let before = self.0[query as usize].fetch_min(here, Ordering::Relaxed);
        (before != NONE).then(|| before.max(here))
    }

    /// Returns for each query of the qrels whether it has come in the streamed run.
    pub fn seen(&self) -> Vec<bool> {
        self.0.iter().map(|place| place.load(Ordering::Relaxed) != NONE).collect()
    }
}
