//! The expected reciprocal of the first hit's rank over the orders of tied documents.
//!
//! Only the group of the ranking's own first hit can decide the rank of the first hit. Earlier
//! groups have no hit at all, and documents below the group cannot come first. A kernel has found
//! the first hit in the ranking's own order anyway, so the column with its rank names the group.
//! Most rows therefore need no look at the labels of any group.

use super::folds::{self, PrefixHits};
use crate::matrix::{CodesAbove, RowTies};

/// The reciprocal of the first hit's rank, for rankings in which a group of tied documents decides
/// it.
pub struct FirstHit {
    /// The codes of the hits.
    pub hits: CodesAbove,
    /// The deepest rank that counts.
    pub most: u32,
    /// The column with the rank of the first hit in the order of the ranking.
    pub column: usize,
}

impl FirstHit {
    /// Returns the expected reciprocal rank of the first hit of a ranking of which `end` ranks are
    /// kept, and whose first hit in its own order is at rank `first`; `None` if every order has the
    /// same value.
    pub fn value(
        &self,
        ties: RowTies<'_>,
        end: u32,
        first: f64,
        label: impl Fn(u32) -> u8,
    ) -> Option<f64> {
        let ranks = end.min(self.most);
        // If no hit was found, it may be behind the cutoff, in a group across it.
        let rank = if first > 0.0 { first as u32 - 1 } else { ranks };
        let at =
            ties.groups.iter().take_while(|group| group.start <= rank).count().checked_sub(1)?;
        let group = ties.groups[at];
        let start = group.start;
        let cut = if at + 1 == ties.groups.len() { ties.cut } else { &[] };
        let size = group.length + cut.iter().map(|cut| cut.count).sum::<u32>();
        // The first hit stands behind the group, or the group begins below the cutoff.
        if start >= ranks || rank - start >= size {
            return None;
        }
        let found = (start..group.end()).filter(|&rank| self.hits.contains(label(rank))).count();
        let cut = cut.iter().filter(|cut| self.hits.contains(cut.code));
        let found = found + cut.map(|cut| cut.count as usize).sum::<usize>();
        let (start, size, read) = (start as usize, size as usize, (ranks - start) as usize);
        let inside = PrefixHits { size, hits: found };
        let is_open = found > 0 && found < size;
        is_open.then(|| {
            folds::first_of(inside, read.min(size), |index| 1.0 / (start + index + 1) as f64)
        })
    }
}
