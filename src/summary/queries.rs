//! The counted queries of a summary: as ids, as sorted hashes, or as a sum of hashes.
//!
//! ```text
//! detail     bytes a query      two sets with a common query
//! ids        of the id          an error that names it
//! hashes     8                  an error that counts it, and names it if the other set has ids
//! sum        0 (24 in all)      not noticed
//! unnamed    0                  not noticed
//! ```
//!
//! The sum modulo 2¹²⁸ is a fingerprint of a set that needs no order: adding is commutative, so
//! shards in any order come to the sum of one pass. Xor would need no order either, but a query
//! added twice would vanish from the xor. A chance match of two sums has a probability of about
//! 2⁻¹²⁸.
//!
//! The sum adds 128-bit hashes, and the list keeps only the low 64 bits of each hash. So reading a
//! list checks the hashes against the low half of the sum, without the ids. Among ten million
//! queries, two different ids share their low 64 bits with a chance of 3·10⁻⁶. Such a collision
//! refuses an honest merge, but never lets a wrong merge pass.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_128;

use crate::ids::Ids;

/// The most queries whose ids or hashes are kept. Of more queries, only the number and the sum of
/// the hashes are kept.
// 80 MB of hashes.
const MOST: u64 = 10_000_000;

/// A set of queries, kept as ids, as hashes, as a sum of hashes, or as a number alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFingerprint {
    pub(super) count: u64,
    /// The sum of the 128-bit hashes of the ids, modulo 2^128; 0 where the queries have no ids.
    pub(super) sum: u128,
    pub(super) known: KnownQueries,
}

/// The detail in which a set keeps its queries: ids, hashes, or nothing of each query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownQueries {
    /// The ids, in bytewise order.
    Ids(Ids),
    /// The low 64 bits of the hashes of the ids, ascending.
    Hashes(Vec<u64>),
    /// Nothing, because there are too many queries.
    Sum,
    /// Nothing, because the queries have no ids.
    Unnamed,
}

/// The queries that two sets have in common, which a merge would count twice.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct CommonQueries {
    pub count: u64,
    /// The ids of the first few, if they are known.
    pub first: Ids,
}

impl CommonQueries {
    /// The maximum number of named ids.
    const NAMED: u64 = 5;

    fn add(&mut self, id: Option<&[u8]>) {
        self.count += 1;
        if let Some(id) = id.filter(|_| self.count <= Self::NAMED) {
            self.first.push(id);
        }
    }
}

/// Returns the 128-bit hash of a query id.
fn hash(id: &[u8]) -> u128 {
    xxh3_128(id)
}

impl QueryFingerprint {
    /// Returns the 64-bit hash of a query id, as in [`QueryFingerprint::hashes`].
    pub(crate) fn hash(id: &[u8]) -> u64 {
        hash(id) as u64
    }

    /// Makes a set of queries from their ids, which are in bytewise order and distinct.
    pub fn from_ids(ids: Ids) -> Self {
        let sum = ids.iter().fold(0u128, |sum, id| sum.wrapping_add(hash(id)));
        Self { count: ids.len() as u64, sum, known: KnownQueries::Ids(ids) }.limited(MOST)
    }

    /// Makes a set of queries from 64-bit hashes of the ids and the sum of the 128-bit hashes;
    /// `None` if the hashes do not ascend, or have another sum.
    #[cfg(feature = "serde")]
    pub(super) fn from_hashes(sum: u128, hashes: Vec<u64>) -> Option<Self> {
        // The list has the low halves alone, and these sum to the low half of the sum.
        let low = hashes.iter().fold(0u64, |low, &hash| low.wrapping_add(hash));
        let (count, fits) = (hashes.len() as u64, hashes.is_sorted() && low == sum as u64);
        fits.then_some(Self { count, sum, known: KnownQueries::Hashes(hashes) }.limited(MOST))
    }

    /// Makes a set of `count` queries that have no ids.
    pub fn unnamed(count: u64) -> Self {
        Self { count, sum: 0, known: KnownQueries::Unnamed }
    }

    /// Returns the number of queries in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the 128-bit xxh3 hashes of the query ids, modulo 2^128, by which sets of
    /// any size can be compared; `None` without ids.
    pub fn sum(&self) -> Option<u128> {
        (self.known != KnownQueries::Unnamed).then_some(self.sum)
    }

    /// Returns the ids of the queries in bytewise order, if they were kept.
    pub fn ids(&self) -> Option<&Ids> {
        match &self.known {
            KnownQueries::Ids(ids) => Some(ids),
            _ => None,
        }
    }

    /// Returns the low 64 bits of the xxh3 hashes of the query ids, ascending; `None` without ids,
    /// or with too many.
    pub fn hashes(&self) -> Option<Vec<u64>> {
        match &self.known {
            KnownQueries::Ids(ids) => {
                let mut hashes: Vec<u64> = ids.iter().map(|id| hash(id) as u64).collect();
                hashes.sort_unstable();
                Some(hashes)
            }
            KnownQueries::Hashes(hashes) => Some(hashes.clone()),
            KnownQueries::Sum | KnownQueries::Unnamed => None,
        }
    }

    /// Returns the same set of queries with hashes instead of ids.
    pub(super) fn without_ids(&self) -> Self {
        match (self.ids(), self.hashes()) {
            (Some(_), Some(hashes)) => Self { known: KnownQueries::Hashes(hashes), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// Returns whether the set keeps ids or hashes, and so can detect a query in common with
    /// another set.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.known, KnownQueries::Ids(_) | KnownQueries::Hashes(_))
    }

    /// Joins two sets of queries that have no query in common. Common queries are an error, if both
    /// sets can detect common queries.
    pub(crate) fn and(&self, other: &Self) -> Result<Self, CommonQueries> {
        self.and_limited(other, MOST)
    }

    fn and_limited(&self, other: &Self, most: u64) -> Result<Self, CommonQueries> {
        // The least detail comes first, so that joins in any order have the same detail.
        let known = match (&self.known, &other.known) {
            (KnownQueries::Unnamed, _) | (_, KnownQueries::Unnamed) => KnownQueries::Unnamed,
            (KnownQueries::Sum, _) | (_, KnownQueries::Sum) => KnownQueries::Sum,
            (KnownQueries::Ids(own), KnownQueries::Ids(others)) => {
                KnownQueries::Ids(both_ids(own, others)?)
            }
            (KnownQueries::Ids(named), KnownQueries::Hashes(hashes))
            | (KnownQueries::Hashes(hashes), KnownQueries::Ids(named)) => {
                let mut of_named: Vec<(u64, usize)> =
                    named.iter().enumerate().map(|(at, id)| (hash(id) as u64, at)).collect();
                of_named.sort_unstable();
                let own: Vec<u64> = of_named.iter().map(|(hash, _)| *hash).collect();
                let joined = both_hashes(&own, hashes, |at| Some(named.get(of_named[at].1)));
                KnownQueries::Hashes(joined?)
            }
            (KnownQueries::Hashes(own), KnownQueries::Hashes(others)) => {
                KnownQueries::Hashes(both_hashes(own, others, |_| None)?)
            }
        };
        let count = self.count.saturating_add(other.count);
        let sum = match known {
            // Queries without ids are in no sum, so the sum of the others says nothing of all.
            KnownQueries::Unnamed => 0,
            _ => self.sum.wrapping_add(other.sum),
        };
        Ok(Self { count, sum, known }.limited(most))
    }

    /// Reduces the detail to what `most` queries may have.
    // The limit is on the union: a set of three parts is a sum in whatever order they come, as
    // counts only grow.
    fn limited(mut self, most: u64) -> Self {
        if self.count > most && self.known != KnownQueries::Unnamed {
            self.known = KnownQueries::Sum;
        }
        self
    }
}

/// Merges two lists of query ids in bytewise order, and rejects lists with a common id.
fn both_ids(own: &Ids, others: &Ids) -> Result<Ids, CommonQueries> {
    let (mut all, mut common) = (Ids::default(), CommonQueries::default());
    let (mut at, mut other) = (0, 0);
    while at < own.len() || other < others.len() {
        let order = match (at < own.len(), other < others.len()) {
            (true, true) => own.get(at).cmp(others.get(other)),
            (true, false) => Ordering::Less,
            _ => Ordering::Greater,
        };
        if order == Ordering::Equal {
            common.add(Some(own.get(at)));
        }
        all.push(if order == Ordering::Greater { others.get(other) } else { own.get(at) });
        at += usize::from(order != Ordering::Greater);
        other += usize::from(order != Ordering::Less);
    }
    if common.count > 0 { Err(common) } else { Ok(all) }
}

/// Merges two ascending lists of query hashes, and rejects lists with a common hash; `named` gives
/// the id of a hash of the first list.
fn both_hashes<'a>(
    own: &[u64],
    others: &[u64],
    named: impl Fn(usize) -> Option<&'a [u8]>,
) -> Result<Vec<u64>, CommonQueries> {
    let mut common = CommonQueries::default();
    let mut all = Vec::with_capacity(own.len() + others.len());
    let mut other = 0;
    for (at, &hash) in own.iter().enumerate() {
        let before = others[other..].iter().take_while(|&&other| other < hash).count();
        all.extend_from_slice(&others[other..other + before]);
        other += before;
        if others.get(other) == Some(&hash) {
            common.add(named(at));
        }
        all.push(hash);
    }
    all.extend_from_slice(&others[other..]);
    if common.count > 0 { Err(common) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(ids: &[&str]) -> Ids {
        ids.iter().map(|id| id.as_bytes()).collect()
    }

    #[test]
    fn what_both_have_is_named_where_one_of_them_has_ids() {
        let (one, other) = (
            QueryFingerprint::from_ids(ids(&["a", "b", "d"])),
            QueryFingerprint::from_ids(ids(&["b", "c", "d"])),
        );
        let common = CommonQueries { count: 2, first: ids(&["b", "d"]) };
        assert_eq!(one.and(&other).unwrap_err(), common);
        let (hashed, others) = (one.without_ids(), other.without_ids());
        assert!(hashed.ids().is_none() && hashed.hashes() == one.hashes());
        for (one, other) in [(&hashed, &other), (&one, &others)] {
            let mut found = one.and(other).unwrap_err();
            let mut named: Vec<_> = found.first.iter().map(<[u8]>::to_vec).collect();
            named.sort();
            found.first = named.iter().map(Vec::as_slice).collect();
            assert_eq!(found, common);
        }
        assert_eq!(
            hashed.and(&others).unwrap_err(),
            CommonQueries { count: 2, first: Ids::default() }
        );
    }

    #[test]
    fn too_many_queries_are_a_sum() {
        let (one, other) =
            (QueryFingerprint::from_ids(ids(&["a", "b"])), QueryFingerprint::from_ids(ids(&["c"])));
        let all = one.and_limited(&other, 2).unwrap();
        assert_eq!((all.count(), all.ids(), all.hashes(), all.is_known()), (3, None, None, false));
        assert_eq!(all.sum(), QueryFingerprint::from_ids(ids(&["a", "b", "c"])).sum());
        let unnamed = all.and(&QueryFingerprint::unnamed(2)).unwrap();
        assert_eq!((unnamed.count(), unnamed.sum()), (5, None));
    }

    proptest! {
        /// Sets in any detail, joined in any order, are the same set.
        #[test]
        fn joining_is_associative_and_commutative(
            part_of in prop::collection::vec(0..3usize, 0..30),
            detail in prop::array::uniform3(0..3u8),
            most in 0..40u64,
        ) {
            let set = |number: usize| {
                let names: Vec<String> = (0..part_of.len())
                    .filter(|&at| part_of[at] == number)
                    .map(|at| format!("{at:02}"))
                    .collect();
                let print =
                    QueryFingerprint::from_ids(names.iter().map(|name| name.as_bytes()).collect())
                    .limited(most);
                match detail[number] {
                    0 => print,
                    1 => print.without_ids(),
                    _ => QueryFingerprint::unnamed(print.count),
                }
            };
            let [a, b, c] = [0, 1, 2].map(set);
            let and = |one: &QueryFingerprint, other: &QueryFingerprint| {
                one.and_limited(other, most).unwrap()
            };
            prop_assert_eq!(and(&and(&a, &b), &c), and(&a, &and(&b, &c)));
            prop_assert_eq!(and(&a, &b), and(&b, &a));
        }
    }
}
