//! A limited view of rankings for an evaluation: only the first ranks, or only the judged
//! documents.
//!
//! The view is applied before the folds, and folds know nothing of views.

use super::{CodesAbove, LANES, QUAD, Tile, code::PAST_END};

/// The part of the labels that an evaluation sees: the first ranks of each ranking, or its judged
/// documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// The number of first ranks that are kept of every ranking; `None` keeps all.
    pub depth: Option<u32>,
    /// Whether documents without a grade ≥ 0 are dropped after the cut at `depth`, so that judged
    /// documents move up.
    pub judged_only: bool,
}

impl View {
    /// Returns a tile limited to the first ranks or the judged documents, copied into `scratch`
    /// only where needed.
    pub fn apply<'a>(&self, tile: Tile<'a>, scratch: &'a mut Vec<u8>) -> Tile<'a> {
        let depth = self.depth.map_or(tile.depth, |depth| tile.depth.min(depth as usize));
        if !self.judged_only && depth.is_multiple_of(QUAD) {
            return tile.shallower(depth);
        }
        let lanes = tile.lanes;
        let padded = depth.next_multiple_of(QUAD);
        scratch.clear();
        scratch.resize(padded * lanes, PAST_END);
        let mut next = [0; LANES];
        for rank in 0..depth {
            for lane in 0..lanes {
                let label = tile.label(lane, rank);
                if !self.judged_only || CodesAbove::JUDGED.contains(label) {
                    scratch[tile.position(lane, next[lane])] = label;
                    next[lane] += 1;
                }
            }
        }
        Tile { labels: scratch, lanes, depth: padded }
    }

    /// Removes those labels of a single ranking that the view hides: deep ranks, or unjudged
    /// documents.
    pub fn apply_to_row(&self, labels: &mut Vec<u8>) {
        if let Some(depth) = self.depth {
            labels.truncate(depth as usize);
        }
        if self.judged_only {
            labels.retain(|&label| CodesAbove::JUDGED.contains(label));
        }
    }
}
