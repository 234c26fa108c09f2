//! Room for the judgments of all queries, where they stay.
//!
//! A single allocation has room for the rows of every query, so that judgments already lie where
//! the matrix wants them. The system zeroes each page of the memory at its first write. So the
//! thread that makes a query zeroes its pages, and no thread zeroes all memory up front. Repeated
//! rows and lines without a judgment leave gaps, which are closed in the end.

use std::ops::Range;

use super::shape::FacetShape;
use crate::matrix::{FacetJudgment, Ragged, compact};

/// Room for judgments of some queries, and for their sub-groups if there are any.
pub struct FacetRoom<'j> {
    pub judgments: &'j mut [FacetJudgment],
    pub subgroups: &'j mut [u32],
}

impl<'j> FacetRoom<'j> {
    /// The first of the room, for a number of judgments, which is taken off.
    pub fn split_off(&mut self, count: usize) -> FacetRoom<'j> {
        FacetRoom {
            judgments: self.judgments.split_off_mut(..count).unwrap_or_default(),
            subgroups: self.subgroups.split_off_mut(..count).unwrap_or_default(),
        }
    }
}

/// The judgments of all queries, each of which has some room.
pub struct AllJudgments {
    judgments: Vec<FacetJudgment>,
    /// The sub-groups; none if lines have none.
    subgroups: Vec<u32>,
}

impl AllJudgments {
    pub fn new(count: usize, shape: FacetShape) -> Self {
        let subgroups =
            if shape.has_subgroups() { bytemuck::zeroed_vec(count) } else { Vec::new() };
        AllJudgments { judgments: bytemuck::zeroed_vec(count), subgroups }
    }

    /// Splits the room into that of each part.
    pub fn split(&mut self, rooms: &[usize], cuts: &[Range<usize>]) -> Vec<FacetRoom<'_>> {
        let mut all = FacetRoom { judgments: &mut self.judgments, subgroups: &mut self.subgroups };
        cuts.iter().map(|cut| all.split_off(rooms[cut.clone()].iter().sum())).collect()
    }

    /// Closes the gaps: in front of the first query, and behind the judgments of each that count.
    pub fn compacted(
        mut self,
        unused: usize,
        rooms: &[(usize, usize)],
    ) -> (Ragged<FacetJudgment>, Vec<u32>) {
        self.judgments.drain(..unused);
        if !self.subgroups.is_empty() {
            self.subgroups.drain(..unused);
            compact(&mut self.subgroups, rooms.iter().copied());
        }
        (Ragged::compacted(self.judgments, rooms.iter().copied()), self.subgroups)
    }
}
