//! The passing on of rankings of a streamed run: each query is ranked as it comes, and a sink takes
//! some at once.

use super::query_starts::{QueryStarts, place};
use crate::join::run::RunRankings;
use crate::matrix::StagedPiece;
use crate::record::{
    layout::{Docnos, Record},
    reader::BuildRanking,
};

/// The most labels of rankings that are passed on together.
const LABELS: usize = 1 << 20;
/// The most rankings that are passed on together.
const ROWS: usize = 1 << 14;

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
    pub places: &'m QueryStarts,
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
        let here = place(self.chunks + records[0].chunk(), line);
        if let Some(back) = self.places.record_start(query, here) {
            self.back = self.back.into_iter().chain([(back, query)]).min();
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
