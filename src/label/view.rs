//! A different look at the same matrix: only the first ranks, or only the judged documents.
//!
//! A view is a stage before the folds, which never know of it.

use super::code::Above;
use super::tile::{GROUP, Tile, position};

/// Which of the stored labels count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// Keep the first so many ranks of every ranking.
    pub depth: Option<u32>,
    /// Then drop every document without a grade ≥ 0; the others move up.
    pub judged_only: bool,
}

impl View {
    /// The tile as seen: the tile itself where nothing changes, else a copy in `scratch`.
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

    /// One ranking as seen.
    pub fn of_row(&self, labels: &mut Vec<u8>) {
        if let Some(depth) = self.depth {
            labels.truncate(depth as usize);
        }
        if self.judged_only {
            labels.retain(|&label| Above::JUDGED.contains(label));
        }
    }
}
