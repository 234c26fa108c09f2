//! A limited view of a matrix: only the first ranks, or only the judged documents.
//!
//! The view is applied before the folds, and folds know nothing of views.

use super::code::Above;
use super::tile::{GROUP, Tile, position};

/// The stored labels that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// The number of first ranks that are kept of every ranking; `None` keeps all.
    pub depth: Option<u32>,
    /// Whether documents without a grade ≥ 0 are dropped after the cut at `depth`, so that judged
    /// documents move up.
    pub judged_only: bool,
}

impl View {
    /// The tile under the view: the tile itself if nothing changes, else a copy in `scratch`.
    pub fn of<'a>(&self, tile: Tile<'a>, scratch: &'a mut Vec<u8>) -> Tile<'a> {
        let depth = self.depth.map_or(tile.depth, |depth| tile.depth.min(depth as usize));
        if !self.judged_only && depth.is_multiple_of(GROUP) {
            return tile.shallower(depth);
        }
        let Tile { lanes, .. } = tile;
        let padded = depth.next_multiple_of(GROUP);
        scratch.clear();
        scratch.resize(padded * lanes, super::code::PAST_END);
        let mut next = [0usize; super::LANES];
        for rank in 0..depth {
            for lane in 0..lanes {
                let label = tile.label(lane, rank);
                let to = if self.judged_only { next[lane] } else { rank };
                if !self.judged_only || Above::JUDGED.contains(label) {
                    scratch[position(lanes, lane, to)] = label;
                    next[lane] += 1;
                }
            }
        }
        Tile { labels: scratch, lanes, depth: padded }
    }

    /// Applies the view to the labels of a single ranking.
    pub fn of_row(&self, labels: &mut Vec<u8>) {
        if let Some(depth) = self.depth {
            labels.truncate(depth as usize);
        }
        if self.judged_only {
            labels.retain(|&label| Above::JUDGED.contains(label));
        }
    }
}
