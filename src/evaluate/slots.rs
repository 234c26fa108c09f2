//! The queries that count, and their groups.
//!
//! A slot is where a value is added: of a run, and with groups one more for each group. A query may
//! be in several groups, so a value may be added in several slots, and slot 0 of a run always is
//! that of all chosen queries. Without groups and choices there is no table at all, and rows are
//! told apart by their run alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ids::Ids;
use crate::matrix::Notice;

/// Groups of queries by name. A query may be in several groups, or in none.
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
    /// Makes groups of pairs of a query and the name of its group, in any order.
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
                return Err(Error::Unanswerable("a group of queries has no name".to_owned()));
            }
            groups.entry(group).or_default().push(query.as_ref().to_vec());
        }
        for (name, queries) in &mut groups {
            queries.sort_unstable();
            if let Some(pair) = queries.windows(2).find(|pair| pair[0] == pair[1]) {
                let query = crate::error::printable(&pair[0]);
                return Err(Error::Unanswerable(format!(
                    "query {query} is twice in the group {name}"
                )));
            }
        }
        Ok(Groups { groups })
    }

    /// The names of the groups, in bytewise order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// The queries of a group, in bytewise order; empty for an unknown group.
    pub fn queries(&self, group: &str) -> impl ExactSizeIterator<Item = &[u8]> {
        self.groups.get(group).map_or(&[][..], Vec::as_slice).iter().map(Vec::as_slice)
    }
}

/// The slots of sums: a slot for each run, and with groups a slot more for each group of the run.
#[derive(Debug)]
pub(super) struct Slots {
    runs: usize,
    /// The number of queries.
    all: usize,
    selection: Option<Selection>,
}

/// The slots of each query.
#[derive(Debug)]
pub(super) struct Selection {
    /// The counted queries of each slot of a run, ascending.
    queries: Vec<Vec<u32>>,
    /// The slots that count each query; slot 0 counts all chosen queries.
    of: Vec<Vec<u32>>,
    /// The names of the groups. Group `i` has slot `i + 1`.
    groups: Arc<[String]>,
}

impl Selection {
    /// The number of slots of a run.
    pub fn slots(&self) -> usize {
        1 + self.groups.len()
    }

    /// Returns the slots that count a query.
    pub fn of(&self, query: usize) -> &[u32] {
        &self.of[query]
    }
}

impl Slots {
    /// Makes the slots of runs over these queries, and notices about the queries that were chosen.
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
            return Ok((Slots::of_all(runs, queries.len()), notices));
        }
        let mut chosen = vec![only.is_none(); queries.len()];
        if let Some(only) = only {
            let found = only.iter().filter_map(|id| queries.find(id));
            found.for_each(|query| chosen[query] = true);
            let count = chosen.iter().filter(|&&chosen| chosen).count();
            let not_judged: BTreeSet<&[u8]> =
                only.iter().filter(|id| queries.find(id).is_none()).collect();
            let not_judged = not_judged.len() as u64;
            if count == 0 {
                return Err(Error::Unanswerable("none of the chosen queries is judged".to_owned()));
            }
            if not_judged > 0 {
                notices.push(Notice::ChosenNotJudged { queries: not_judged });
            }
        }
        let mut of: Vec<Vec<u32>> =
            chosen.iter().map(|&chosen| if chosen { vec![0] } else { Vec::new() }).collect();
        let names = groups.into_iter().flat_map(Groups::names).map(str::to_owned).collect();
        let mut of_slots = vec![
            (0..).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(query, _)| query).collect(),
        ];
        for (slot, ids) in (1..).zip(groups.into_iter().flat_map(|groups| groups.groups.values())) {
            let found = ids.iter().filter_map(|id| queries.find(id)).filter(|&query| chosen[query]);
            let found: Vec<u32> = found.map(|query| query as u32).collect();
            found.iter().for_each(|&query| of[query as usize].push(slot));
            of_slots.push(found);
        }
        if let Some(groups) = groups {
            let empty =
                groups.names().zip(&of_slots[1..]).filter(|(_, queries)| queries.is_empty());
            let empty: Vec<String> = empty.map(|(name, _)| name.to_owned()).collect();
            if !empty.is_empty() {
                notices.push(Notice::EmptyGroups { groups: empty, of: groups.names().len() });
            }
        }
        let alone = of.iter().filter(|slots| slots.len() == 1).count() as u64;
        if groups.is_some() && alone > 0 {
            notices.push(Notice::InNoGroup { queries: alone });
        }
        let selection = Some(Selection { queries: of_slots, of, groups: names });
        Ok((Slots { runs, all: queries.len(), selection }, notices))
    }

    /// One slot for each of `runs` runs, of `queries` queries.
    pub fn of_all(runs: usize, queries: usize) -> Self {
        Slots { runs, all: queries, selection: None }
    }

    /// Returns the slots of one run for a part of its rankings, whose queries are `queries`.
    pub fn of_part(&self, queries: &[u32]) -> Self {
        let selection = self.selection.as_ref().map(|selection| Selection {
            queries: vec![Vec::new(); selection.slots()],
            of: queries.iter().map(|&query| selection.of(query as usize).to_vec()).collect(),
            groups: selection.groups.clone(),
        });
        Slots { runs: 1, all: queries.len(), selection }
    }

    /// The number of slots.
    pub fn count(&self) -> usize {
        self.runs * self.selection.as_ref().map_or(1, Selection::slots)
    }

    /// The selection; `None` if every query counts and there are no groups.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// Each slot: the index of its run, and the name of its group.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        let groups = self.selection.as_ref().map_or(&[][..], |selection| &selection.groups);
        (0..self.runs).flat_map(move |run| {
            std::iter::once((run, None))
                .chain(groups.iter().map(move |name| (run, Some(name.as_str()))))
        })
    }

    /// The queries that count in a slot, ascending. Slot 0 has all that count.
    pub fn queries(&self, slot: usize) -> impl Iterator<Item = usize> {
        let all = self.selection.is_none().then_some(0..self.all);
        let chosen = self
            .selection
            .iter()
            .flat_map(move |selection| &selection.queries[slot % selection.slots()]);
        all.into_iter().flatten().chain(chosen.map(|&query| query as usize))
    }
}
