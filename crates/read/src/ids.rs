//! Ids of queries and facets as concatenated byte strings, and queries that only the qrels or only
//! a run has.

use std::cmp::Ordering;

use crate::error::printable;

/// A list of ids of queries or facets, concatenated in one buffer of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl Default for Ids {
    fn default() -> Self {
        Ids { bytes: Vec::new(), ends: vec![0] }
    }
}

impl Ids {
    /// Appends an id to the list.
    pub fn push(&mut self, id: &[u8]) {
        self.bytes.extend_from_slice(id);
        self.ends.push(self.bytes.len() as u64);
    }

    /// Appends the ids of the list `others` to the list.
    pub fn append(&mut self, others: &Ids) {
        let before = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends[1..].iter().map(|end| before + end));
    }

    /// Removes all ids from the list.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.truncate(1);
    }

    /// Makes a list of ids from the ends and bytes that a file stores; `None` if they do not fit
    /// together.
    pub fn from_columns(ends: Vec<u64>, bytes: Vec<u8>) -> Option<Self> {
        let fits = ends.first() == Some(&0)
            && ends.is_sorted()
            && ends.last() == Some(&(bytes.len() as u64));
        fits.then_some(Ids { bytes, ends })
    }

    /// Returns the list of ids as files store it: the ends of the ids (with a leading 0), and their
    /// bytes.
    pub fn columns(&self) -> (&[u64], &[u8]) {
        (&self.ends, &self.bytes)
    }

    /// Returns the number of ids in the list.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Returns whether the list has no ids.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the id at an index of the list.
    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.ends[at] as usize..self.ends[at + 1] as usize]
    }

    /// Returns the index of `id` in a list of ids in bytewise order, by binary search.
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Returns whether each id of the list comes bytewise after the one before.
    pub fn are_ascending(&self) -> bool {
        (1..self.len()).all(|at| self.get(at - 1) < self.get(at))
    }

    /// Returns all ids of the list in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }
}

impl<'a> FromIterator<&'a [u8]> for Ids {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(iter: I) -> Self {
        let mut ids = Ids::default();
        iter.into_iter().for_each(|id| ids.push(id));
        ids
    }
}

/// Queries that only the qrels or only a run has: their number, and all ids or the first few ids in
/// bytewise order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unmatched {
    /// The number of these queries.
    pub count: u64,
    /// The ids of all these queries, or of the first few.
    pub ids: Ids,
}

impl Unmatched {
    /// The largest number of ids in a message or in a file.
    pub const SHOWN: usize = 5;

    /// Makes the record of unmatched queries with all their ids, which are in bytewise order.
    pub fn all<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let ids: Ids = ids.into_iter().collect();
        Self { count: ids.len() as u64, ids }
    }

    /// Makes the record of unmatched queries with only the first few of their ids, which are in
    /// bytewise order.
    pub fn first<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut ids = ids.into_iter();
        let first: Ids = ids.by_ref().take(Self::SHOWN).collect();
        Self { count: (first.len() + ids.count()) as u64, ids: first }
    }

    /// Joins two records of unmatched queries: with all ids if both have all, else with the first
    /// few.
    pub fn and(&self, other: &Unmatched) -> Unmatched {
        let mut ids: Vec<&[u8]> = self.ids.iter().chain(other.ids.iter()).collect();
        ids.sort_unstable();
        if self.is_truncated() || other.is_truncated() {
            ids.truncate(Self::SHOWN);
        }
        Self { count: self.count.saturating_add(other.count), ids: ids.into_iter().collect() }
    }

    /// Returns whether some ids of the unmatched queries are not kept.
    pub fn is_truncated(&self) -> bool {
        self.count > self.ids.len() as u64
    }
}

impl std::fmt::Display for Unmatched {
    /// Writes the first few ids of the unmatched queries, and `…` if there are more.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.ids.iter().take(Self::SHOWN);
        let more = self.count > shown.len() as u64;
        let ids = shown.map(printable).chain(more.then(|| "…".to_owned()));
        f.write_str(&ids.collect::<Vec<_>>().join(", "))
    }
}
