//! The passing on of rankings of a streamed run: each query is ranked as it comes, and a sink takes
//! some at once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::join::run::RunRankings;
use crate::lines::diagnostics::Position;
use crate::matrix::StagedPiece;
use crate::record::{
    layout::{Docnos, Record},
    reader::BuildRanking,
};

/// The most labels of rankings that are passed on together.
const LABELS: usize = 1 << 20;
/// The most rankings that are passed on together.
const ROWS: usize = 1 << 14;

/// The place of a query that has not come yet.
pub const NO_PLACE: u64 = u64::MAX;
/// The bits of a line in a place; the chunk is above them. So places are in the order of the input.
const LINE_BITS: u32 = 32;

/// Decodes a place in a streamed run to its chunk and line in a source with `chunks` chunks before
/// it.
pub fn place_to_position(place: u64, chunks: u64) -> Position {
    Position { chunk: (place >> LINE_BITS) - chunks, line: place & ((1 << LINE_BITS) - 1) }
}

/// A consumer of the rankings of a streamed run, several at a time. Rankings are borrowed, so a
/// consumer copies the needed parts.
pub trait RankingSink: Send {
    /// Takes some rankings of the run as rows of labels; returns `false` if the consumer wants no
    /// more.
    fn take(&mut self, rankings: &StagedPiece) -> bool;

    /// Returns whether the consumer wants no more rankings.
    fn is_stopped(&self) -> bool;
}

/// Passes a worker's collected rankings to `take` and clears them; returns `false` if `take` wants
/// no more.
pub fn flush(rankings: &mut RunRankings<'_>, take: &mut impl RankingSink) -> bool {
    let staged = &mut rankings.staged;
    // Cleared and not dropped: the next rankings have the room.
    let wanted = staged.rows.is_empty() || take.take(staged);
    staged.rows.clear();
    staged.labels.clear();
    staged.exact.clear();
    staged.numbers.clear();
    wanted
}

/// One worker's ranking of the queries of a streamed run, which forwards the rankings to a
/// [`RankingSink`].
pub struct RankingForwarder<'m, 'q, T> {
    /// The place, chunk and line, where each query of the qrels begins, as far as known yet.
    pub places: &'m [AtomicU64],
    /// The number of chunks before this source.
    pub chunks: u64,
    pub rankings: RunRankings<'q>,
    pub take: T,
    /// The place of the first query that comes back, and its number.
    pub back: Option<(u64, u32)>,
    pub refused: bool,
}

impl<T: RankingSink> BuildRanking for RankingForwarder<'_, '_, T> {
    fn take(&mut self, _: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool {
        let query = records[0].query;
        // Saturating: a line too large makes a wrong number in a message, where overflow would make
        // another chunk.
        let line = line.min((1 << LINE_BITS) - 1);
        let here = (self.chunks + records[0].chunk()) << LINE_BITS | line;
        // Relaxed is enough: all threads see the operations on one place in one order, and no other
        // memory depends on the place.
        let before = self.places[query as usize].fetch_min(here, Ordering::Relaxed);
        if before != NO_PLACE {
            // The query has begun twice: it comes back at the later place.
            self.back = self.back.into_iter().chain([(before.max(here), query)]).min();
            return false;
        }
        self.rankings.rank_in_order(records, docnos);
        let StagedPiece { rows, labels, .. } = &self.rankings.staged;
        if labels.len() >= LABELS || rows.len() >= ROWS {
            self.refused |= !flush(&mut self.rankings, &mut self.take);
        }
        !self.refused
    }

    fn is_stopped(&self) -> bool {
        self.take.is_stopped()
    }
}
