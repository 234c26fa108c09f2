//! The taking of rankings: a query is ranked as it comes, and some rankings are passed on together.

use super::starts::{QueryStarts, place};
use crate::join::run::RunRankings;
use crate::matrix::StagedPiece;
use crate::record::packed::{Docnos, Record};
use crate::record::reader::Make;

/// The most labels of rankings that are passed on together.
const LABELS: usize = 1 << 20;
/// The most rankings that are passed on together.
const ROWS: usize = 1 << 14;

/// A consumer of rankings. Rankings are borrowed, so a consumer copies the needed parts.
pub trait TakeRankings: Send {
    /// Takes some rankings; returns `false` if it wants no more.
    fn take(&mut self, rankings: &StagedPiece) -> bool;

    /// Returns whether no more rankings are wanted.
    fn is_stopped(&self) -> bool;
}

/// Passes the staged rankings to `take` and clears them; returns `false` if `take` wants no more.
pub(super) fn hand_on(rankings: &mut RunRankings<'_>, take: &mut impl TakeRankings) -> bool {
    let staged = &mut rankings.staged;
    // Cleared and not dropped: the next rankings have the room.
    let wanted = staged.rows.is_empty() || take.take(staged);
    staged.rows.clear();
    staged.labels.clear();
    staged.exact.clear();
    staged.numbers.clear();
    wanted
}

/// The ranking of queries, whose rankings are passed on.
pub(super) struct TakingRankings<'m, 'q, T> {
    pub(super) places: &'m QueryStarts,
    /// The number of chunks before this source.
    pub(super) chunks: u64,
    pub(super) rankings: RunRankings<'q>,
    pub(super) take: T,
    /// The place of the first query that comes back, and its number.
    pub(super) back: Option<(u64, u32)>,
    pub(super) refused: bool,
}

impl<T: TakeRankings> Make for TakingRankings<'_, '_, T> {
    fn take(&mut self, _: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool {
        let query = records[0].query;
        let here = place(self.chunks + records[0].chunk(), line);
        if let Some(back) = self.places.meet(query, here) {
            self.back = self.back.into_iter().chain([(back, query)]).min();
            return false;
        }
        self.rankings.rank_together(records, docnos);
        let StagedPiece { rows, labels, .. } = &self.rankings.staged;
        if labels.len() >= LABELS || rows.len() >= ROWS {
            self.refused |= !hand_on(&mut self.rankings, &mut self.take);
        }
        !self.refused
    }

    fn is_stopped(&self) -> bool {
        self.take.is_stopped()
    }
}
