//! The groups of judgments by facet: judges, subtopics, or groups and sub-groups of preferences.
//!
//! A record of a judgment by facet has the numbers of its group and sub-group in the place of its
//! docno's hash: such documents are numbered within their query, and few of them are looked up.

use super::layout::Record;
use crate::bytes::{hash::Seed, id::IdInText, interner::Interner};
use crate::ids::Ids;

/// The names of groups and sub-groups that a worker has met, by their numbers.
pub(crate) struct GroupNames {
    names: Interner,
    /// The group and the sub-group of the last judgment.
    last: [u32; 2],
}

impl GroupNames {
    /// Makes an empty list of names of groups.
    pub fn new(seed: Seed) -> Self {
        Self { names: Interner::new(seed), last: [0; 2] }
    }

    /// Returns the names of groups and sub-groups.
    pub fn ids(&self) -> &Ids {
        self.names.ids()
    }

    /// Returns the numbers of a group and a sub-group, to be kept in a record.
    #[inline(always)]
    pub fn number(&mut self, group: IdInText<'_>, subgroup: Option<IdInText<'_>>) -> u64 {
        let [last_group, last_subgroup] = &mut self.last;
        *last_group = number_after(*last_group, group, &mut self.names);
        if let Some(subgroup) = subgroup {
            *last_subgroup = number_after(*last_subgroup, subgroup, &mut self.names);
        }
        pack(self.last)
    }
}

/// Returns the number of an id in a table, and adds it if it is new; `last` is the number of the id
/// before.
#[inline(always)]
pub(crate) fn number_after(last: u32, id: IdInText<'_>, ids: &mut Interner) -> u32 {
    // Groups or documents often stay the same from row to row, or take turns: two guesses, and a
    // look into the table if they are wrong.
    match last.wrapping_add(1) {
        _ if ids.matches_at(last, id) => last,
        next if ids.matches_at(next, id) => next,
        _ => ids.insert_at(id).0,
    }
}

/// Returns the numbers of a group and a sub-group as one number.
fn pack([group, subgroup]: [u32; 2]) -> u64 {
    u64::from(group) | u64::from(subgroup) << u32::BITS
}

impl Record {
    /// Returns the numbers of the group and the sub-group of a judgment by facet; the sub-group is
    /// 0 if there is none.
    #[inline(always)]
    pub fn groups(&self) -> [u32; 2] {
        [self.hash as u32, (self.hash >> u32::BITS) as u32]
    }

    /// Replaces the numbers of the groups of a judgment by facet: number n becomes `numbers[n]`.
    pub fn renumber_groups(&mut self, numbers: &[u32]) {
        self.hash = pack(self.groups().map(|group| numbers[group as usize]));
    }
}
