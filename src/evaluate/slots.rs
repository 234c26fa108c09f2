//! The queries that count in the average of each run, and of each query group (`--group-by`).
//!
//! A slot is where a value is added: of a run, and with groups one more for each group. A query may
//! be in several groups, so a value may be added in several slots, and slot 0 of a run always is
//! that of all chosen queries. Without groups and choices there is no table at all, and rows are
//! told apart by their run alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Result, unanswerable};
use crate::ids::Ids;
use crate::matrix::Notice;

/// Named groups of queries, which get scores of their own. A query may be in several groups, or in
/// none.
///
/// ```
/// use laneval::Groups;
/// let groups = Groups::new([("q1", "long"), ("q2", "short"), ("q1", "rare")])?;
/// assert_eq!(groups.names().collect::<Vec<_>>(), ["long", "rare", "short"]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// The queries of each group, in bytewise order.
    groups: BTreeMap<String, Vec<Vec<u8>>>,
}

impl Groups {
    /// Makes groups of queries from pairs of a query and the name of its group, in any order.
    ///
    /// # Errors
    /// A pair that occurs twice; an empty name of a group.
    pub fn new<Q: AsRef<[u8]>, G: Into<String>>(
        pairs: impl IntoIterator<Item = (Q, G)>,
    ) -> Result<Self> {
        let mut groups: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for (query, group) in pairs {
            let group = group.into();
            if group.is_empty() {
                return unanswerable("a group of queries has no name");
            }
            groups.entry(group).or_default().push(query.as_ref().to_vec());
        }
        for (name, queries) in &mut groups {
            queries.sort_unstable();
            if let Some(pair) = queries.windows(2).find(|pair| pair[0] == pair[1]) {
                let query = crate::error::printable(&pair[0]);
                return unanswerable(format!("query {query} is twice in the group {name}"));
            }
        }
        Ok(Self { groups })
    }

    /// Returns the names of the groups of queries, in bytewise order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Returns the ids of the queries of a group, in bytewise order; empty for an unknown group.
    pub fn queries(&self, group: &str) -> impl ExactSizeIterator<Item = &[u8]> {
        self.groups.get(group).map_or(&[][..], Vec::as_slice).iter().map(Vec::as_slice)
    }
}

/// The slots in which values are summed: one for each run, and one more for each query group of the
/// run.
#[derive(Debug)]
pub(super) struct Slots {
    runs: usize,
    /// The number of queries.
    all: usize,
    selection: Option<Selection>,
}

/// The queries that count in each slot of a run, where queries are chosen or grouped.
#[derive(Debug)]
pub(super) struct Selection {
    /// The counted queries of each slot of a run, ascending.
    queries: Vec<Vec<u32>>,
    /// The slots that count each query; slot 0 counts all chosen queries.
    query_slots: Vec<Vec<u32>>,
    /// The names of the groups. Group `i` has slot `i + 1`.
    groups: Arc<[String]>,
}

impl Selection {
    /// Returns the number of slots of a run: one for all chosen queries, and one for each query
    /// group.
    pub fn slots(&self) -> usize {
        1 + self.groups.len()
    }

    /// Returns the slots of a run to which the value of a query is added.
    pub fn slots_for(&self, query: usize) -> &[u32] {
        &self.query_slots[query]
    }
}

impl Slots {
    /// Makes the slots in which values of `runs` runs over `queries` are summed, and notices about
    /// the chosen queries.
    ///
    /// # Errors
    /// None of the queries that were chosen is judged.
    pub fn new(
        runs: usize,
        queries: &Ids,
        only: Option<&Ids>,
        groups: Option<&Groups>,
    ) -> Result<(Self, Vec<Notice>)> {
        let mut notices = Vec::new();
        if only.is_none() && groups.is_none() {
            return Ok((Self::for_runs(runs, queries.len()), notices));
        }
        let mut chosen = vec![only.is_none(); queries.len()];
        if let Some(only) = only {
            let found = only.iter().filter_map(|id| queries.find(id));
            found.for_each(|query| chosen[query] = true);
            if !chosen.contains(&true) {
                return unanswerable("none of the chosen queries is judged");
            }
            // A set, because a query may be chosen twice.
            let not_judged: BTreeSet<&[u8]> =
                only.iter().filter(|id| queries.find(id).is_none()).collect();
            if !not_judged.is_empty() {
                notices.push(Notice::SelectedNotJudged { queries: not_judged.len() as u64 });
            }
        }
        let mut query_slots: Vec<Vec<u32>> =
            chosen.iter().map(|&chosen| if chosen { vec![0] } else { Vec::new() }).collect();
        let names = groups.into_iter().flat_map(Groups::names).map(str::to_owned).collect();
        let mut of_slots = vec![
            (0..).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(query, _)| query).collect(),
        ];
        for (slot, ids) in (1..).zip(groups.into_iter().flat_map(|groups| groups.groups.values())) {
            let found = ids.iter().filter_map(|id| queries.find(id)).filter(|&query| chosen[query]);
            let found: Vec<u32> = found.map(|query| query as u32).collect();
            found.iter().for_each(|&query| query_slots[query as usize].push(slot));
            of_slots.push(found);
        }
        if let Some(groups) = groups {
            let empty =
                groups.names().zip(&of_slots[1..]).filter(|(_, queries)| queries.is_empty());
            let empty: Vec<String> = empty.map(|(name, _)| name.to_owned()).collect();
            if !empty.is_empty() {
                notices.push(Notice::EmptyGroups { groups: empty, total: groups.names().len() });
            }
        }
        // Every chosen query has slot 0, so a single slot means a query without a group.
        let alone = query_slots.iter().filter(|slots| slots.len() == 1).count() as u64;
        if groups.is_some() && alone > 0 {
            notices.push(Notice::Ungrouped { queries: alone });
        }
        let selection = Some(Selection { queries: of_slots, query_slots, groups: names });
        Ok((Self { runs, all: queries.len(), selection }, notices))
    }

    /// Makes one slot of sums for each of `runs` runs, where all of `queries` queries count,
    /// without groups.
    pub fn for_runs(runs: usize, queries: usize) -> Self {
        Self { runs, all: queries, selection: None }
    }

    /// Makes the slots of sums of one run for some of its rankings, whose queries are `queries`.
    pub fn for_queries(&self, queries: &[u32]) -> Self {
        let selection = self.selection.as_ref().map(|selection| Selection {
            // Empty, because the queries of slots are read only of a whole run, at its end.
            queries: vec![Vec::new(); selection.slots()],
            query_slots: queries
                .iter()
                .map(|&query| selection.slots_for(query as usize).to_vec())
                .collect(),
            groups: selection.groups.clone(),
        });
        Self { runs: 1, all: queries.len(), selection }
    }

    /// Returns the number of slots of sums of all runs.
    pub fn count(&self) -> usize {
        self.runs * self.selection.as_ref().map_or(1, Selection::slots)
    }

    /// Returns the chosen and grouped queries of each slot; `None` if every query counts and there
    /// are no groups.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// Returns the index of the run and the name of the query group, if any, of each slot of sums.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        let groups = self.selection.as_ref().map_or(&[][..], |selection| &selection.groups);
        (0..self.runs).flat_map(move |run| {
            std::iter::once((run, None))
                .chain(groups.iter().map(move |name| (run, Some(name.as_str()))))
        })
    }

    /// Returns the queries whose values are summed in a slot, ascending. Slot 0 has all that count.
    pub fn queries(&self, slot: usize) -> impl Iterator<Item = usize> {
        let all = self.selection.is_none().then_some(0..self.all);
        let chosen = self
            .selection
            .iter()
            .flat_map(move |selection| &selection.queries[slot % selection.slots()]);
        all.into_iter().flatten().chain(chosen.map(|&query| query as usize))
    }
}
