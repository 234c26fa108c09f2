//! Expected precision sums over all tie orders, for the rankings of a tile, all lanes together.
//! Hits are added as the plain formula adds them, and each group of equal scores adds one term in
//! the place of its hits.
//!
//! A *border* of a lane is the rank from which on a hit needs more than an addition. The border is
//! the nearer of two ranks: the next cutoff, where the sum must be stored first, and the start of
//! the next group. A hit in front of the border costs one compare and the two operations of the
//! formula. Only a hit at or behind the border leads to a function call, which stores all sums due
//! and moves the border on.
//!
//! ```text
//! rank        0  1  2  3  4  5  6  7  8  9 10 11 12 13
//! groups            [ first  ]        [ second ]          cutoffs: 5, 10, the end
//! hits        x     x     x     x              x     x
//!             │     │     │     │              │     └ behind all groups: added
//!             │     │     │     │              └ cutoff 10 is told, then the whole term of the
//!             │     │     │     │                second group is added
//!             │     │     │     └ cutoff 5 is told, the first group is passed, the hit is added,
//!             │     │     │       and the border is 8
//!             │     │     └ in the first group again: nothing, its term has this hit
//!             │     └ at border 2: the state is kept, and the whole term of the first group is
//!             │       added
//!             └ in front of border 2: h += 1; s += h / i
//! ```
//!
//! A cutoff inside a group reads part of it: the sum is the state in front of the group plus the
//! term of the ranks down to the cutoff. The state itself stays unchanged, because the next cutoff
//! reads more of the group.
//!
//! Bits: hits of a lane arrive in rank order, and hits outside of groups are added with the two
//! operations of the plain formula and of the kernel. The loop also adds a group whose documents
//! are alike to the sum. So a lane without a group that matters is left out: its column stays,
//! because the loop would give the bits of the kernel. In other lanes, the bits are the kernel's
//! down to the first group that matters.
//!
//! The loop finds hits of sixteen lanes at a time, because a vector of labels has sixteen lanes;
//! hits of lanes without groups are masked away. Lists of the documents of tied rows, walked row by
//! row, and a pass over the hits of all rows were as slow (benches/RESULTS.md).

use crate::engine::cpu::Cpu;
use crate::engine::cpu::documents::each_document;
use crate::fold::Columns;
use crate::matrix::{CodesAbove, Document, LANES, NARROW_LANES, QUAD, RowTies, Tile};
use crate::ties::{GrowingSum, TieScratch};

/// The rankings (lanes) of a tile in which tied documents matter to the expected precision sum.
pub(super) struct TiedPrecisionLanes<'t> {
    tile: Tile<'t>,
    hits: CodesAbove,
    /// The borders of all lanes of the tile, as ranks from 0.
    borders: [u32; LANES],
    sums: [GrowingSum; LANES],
    lanes: Vec<TiedPrecisionLane<'t>>,
    /// For each lane of the tile, its index in `lanes`.
    places: [u8; LANES],
    /// The number of hits of each group.
    found: Vec<u32>,
    /// The ranks at which the sum is read, ascending.
    cuts: &'t [u32],
    /// The columns, and the index of the first column of the sum.
    out: (&'t mut Columns, usize),
    scratch: &'t mut TieScratch,
}

struct TiedPrecisionLane<'t> {
    lane: usize,
    ties: RowTies<'t>,
    /// The number of ranks of the lane that are kept.
    end: u32,
    /// The index in [`TiedPrecisionLanes::found`] of the hits of its first group.
    found: usize,
    /// The index of the cut that comes next.
    cut: usize,
    /// The index of the group that is met next, or was met last.
    at: usize,
    /// The sum before the group at `at`, if a hit of the group was met.
    before: Option<GrowingSum>,
}

impl TiedPrecisionLane<'_> {
    /// Returns the number of tied documents in the ranking's group `at`, including documents that
    /// were cut off.
    fn size(&self, at: usize) -> u32 {
        let cut = if at + 1 == self.ties.groups.len() { self.ties.cut } else { &[] };
        self.ties.groups[at].length + cut.iter().map(|cut| cut.count).sum::<u32>()
    }
}

impl<'t> TiedPrecisionLanes<'t> {
    // Invariant: an index into `lanes` fits into a byte, because a tile has at most 64 lanes.
    /// Makes an empty set of lanes for the expected precision sum over `hits` (relevant codes) with
    /// the cutoffs `cuts`.
    pub fn new(
        tile: Tile<'t>,
        hits: CodesAbove,
        cuts: &'t [u32],
        out: (&'t mut Columns, usize),
        scratch: &'t mut TieScratch,
    ) -> Self {
        let deepest = cuts.last().map_or(0, |&cut| tile.depth.min(cut as usize));
        Self {
            tile: tile.shallower(deepest.next_multiple_of(QUAD)),
            hits,
            borders: [0; LANES],
            sums: [GrowingSum::default(); LANES],
            lanes: Vec::with_capacity(LANES),
            places: [0; LANES],
            found: Vec::with_capacity(2 * LANES),
            cuts,
            out,
            scratch,
        }
    }

    /// Adds a lane of which `end` ranks are kept, if one of its groups of ties matters to the
    /// precision sum.
    pub fn push(&mut self, tile: Tile<'_>, lane: usize, ties: RowTies<'t>, end: u32) {
        let end = end.min(self.cuts.last().copied().unwrap_or(0));
        let found = self.found.len();
        let mut matters = false;
        for (at, group) in (1..).zip(ties.groups).take_while(|(_, group)| group.start < end) {
            let ranks = group.start..group.end();
            let hits = ranks.filter(|&rank| self.hits.contains(tile.label(lane, rank as usize)));
            let mut found = hits.count() as u32;
            let mut size = group.length;
            // Only the last group can have documents behind the cut of the stored ranking.
            if at == ties.groups.len() {
                size += ties.cut.iter().map(|cut| cut.count).sum::<u32>();
                let cut = ties.cut.iter().filter(|cut| self.hits.contains(cut.code));
                found += cut.map(|cut| cut.count).sum::<u32>();
            }
            matters |= found > 0 && found < size;
            self.found.push(found);
        }
        if !matters {
            return self.found.truncate(found);
        }
        // Groups that do not matter are kept too: at their hits the walk does what the formula
        // does, and the counts stay in step with the groups.
        self.borders[lane] = ties.groups[0].start.min(self.cuts[0]);
        self.places[lane] = self.lanes.len() as u8;
        self.lanes.push(TiedPrecisionLane { lane, ties, end, found, cut: 0, at: 0, before: None });
    }

    /// Computes the expected precision sums of all lanes, and writes them in the place of the
    /// lanes' columns.
    pub fn sum(mut self, cpu: Cpu) {
        let (tile, hits) = (self.tile, self.hits);
        for first in (0..self.tile.lanes).step_by(NARROW_LANES) {
            let within =
                self.lanes.iter().filter(|tied| (first..first + NARROW_LANES).contains(&tied.lane));
            let bits = within.fold(0u16, |bits, tied| bits | 1 << (tied.lane - first));
            if bits == 0 {
                continue;
            }
            each_document(
                cpu.level(),
                tile,
                (first / NARROW_LANES, bits),
                hits,
                #[inline(always)]
                |lane, Document { rank, .. }| {
                    let lane = first + lane;
                    if rank < self.borders[lane] || !self.meet(lane, rank) {
                        let sum = &mut self.sums[lane];
                        sum.hits += 1.0;
                        sum.sum += sum.hits / f64::from(rank + 1);
                    }
                },
            );
        }
        // Cutoffs behind the last hit, the end among them, are still to be told.
        for place in 0..self.lanes.len() {
            while self.lanes[place].cut < self.cuts.len() {
                self.write_sum(place);
            }
        }
    }

    /// Handles a hit at or behind the border of its lane, the next cutoff or group of ties. Moves
    /// the border, and returns whether the hit belongs to a group.
    fn meet(&mut self, lane: usize, rank: u32) -> bool {
        let place = usize::from(self.places[lane]);
        while self.cuts.get(self.lanes[place].cut).is_some_and(|&cut| cut <= rank) {
            self.write_sum(place);
        }
        let tied = &mut self.lanes[place];
        let sum = &mut self.sums[lane];
        let Some(&next_cut) = self.cuts.get(tied.cut) else {
            // Nothing is read any more.
            self.borders[lane] = u32::MAX;
            return true;
        };
        // A group of which no hit was met is passed without a term. It has none: only the last
        // group may have hits that were all cut off, and nothing stands behind it.
        while let Some(&group) = tied.ties.groups.get(tied.at).filter(|group| group.start <= rank) {
            if rank < group.end() {
                if tied.before.is_none() {
                    tied.before = Some(*sum);
                    let (size, found) = (tied.size(tied.at), self.found[tied.found + tied.at]);
                    *sum = sum.and_precisions(group.start, size, found, size, self.scratch);
                }
                return true;
            }
            tied.at += 1;
            tied.before = None;
        }
        let next_group = tied.ties.groups.get(tied.at).map_or(u32::MAX, |group| group.start);
        self.borders[lane] = next_cut.min(next_group);
        false
    }

    /// Writes the expected precision sum at the next cutoff of the lane at `place`.
    fn write_sum(&mut self, place: usize) {
        let (columns, first) = &mut self.out;
        let tied = &mut self.lanes[place];
        // Invariant: the sum has every hit above the cutoff, because hits come in rank order and
        // the current hit, if any, lies at or behind the cutoff.
        let mut sum = self.sums[tied.lane];
        let cut = self.cuts[tied.cut].min(tied.end);
        let at = tied.ties.groups.partition_point(|group| group.start < cut).checked_sub(1);
        if let Some(at) = at.filter(|&at| cut - tied.ties.groups[at].start < tied.size(at))
            && let found @ 1.. = self.found[tied.found + at]
        {
            let before = tied.before.filter(|_| tied.at == at).unwrap_or(sum);
            let start = tied.ties.groups[at].start;
            sum = before.and_precisions(start, tied.size(at), found, cut - start, self.scratch);
        }
        columns.values[(*first + tied.cut) * columns.lanes + tied.lane] = sum.sum;
        tied.cut += 1;
    }
}
