//! The number of pairs of documents between which some group has a preference, counted by words of bits.
//!
//! A pair is counted twice only if both documents are in several groups. All others are counts of the groups. Documents that are in the same
//! classes everywhere are one *kind*; of the kinds 64 at a time are looked at beside all others.

use super::bits::{ones, set, transpose};
use super::closure::Closure;
use super::prepared::{Preferences, PreparedGroup};

/// Documents that are in the same class of each of their groups.
#[derive(Clone, Copy)]
struct DocumentKind {
    /// One of the documents.
    document: u32,
    /// The number of the documents.
    weight: u64,
}

/// The kinds of a group: the index of each and its place in the group, in ascending order of indices.
type KindsOfGroup = Vec<(u32, u32)>;

/// A kind among 64, and its place in a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct KindColumn {
    group: u32,
    at: u32,
    bit: u32,
}

impl Preferences {
    /// The number of pairs of documents between which some group has a preference.
    pub(super) fn count_distinct(&self) -> u64 {
        let shared: Vec<bool> =
            (0..self.documents).map(|document| self.places_of(document).len() > 1).collect();
        let once: u64 = self.groups.iter().map(|group| pairs_not_shared(group, &shared)).sum();
        once + self.count_shared(&self.kinds(&shared))
    }

    /// The kinds of the documents that several groups share, in ascending order of their documents.
    fn kinds(&self, shared: &[bool]) -> Vec<DocumentKind> {
        let places = |document: u32| self.places_of(document).iter().map(|place| (place.group, place.at));
        let mut documents: Vec<u32> = (0..self.documents).filter(|&one| shared[one as usize]).collect();
        documents.sort_unstable_by(|&a, &b| places(a).cmp(places(b)).then(a.cmp(&b)));
        let alike = documents.chunk_by(|&a, &b| places(a).eq(places(b)));
        let mut kinds: Vec<DocumentKind> =
            alike.map(|alike| DocumentKind { document: alike[0], weight: alike.len() as u64 }).collect();
        // The documents of a closure are ascending too, so that neighbouring kinds are neighbouring bits.
        kinds.sort_unstable_by_key(|kind| kind.document);
        kinds
    }

    /// The number of pairs of documents of different kinds between which some group has a preference.
    fn count_shared(&self, kinds: &[DocumentKind]) -> u64 {
        let mut members: Vec<KindsOfGroup> = vec![Vec::new(); self.groups.len()];
        for (index, kind) in (0..).zip(kinds) {
            for place in self.places_of(kind.document) {
                members[place.group as usize].push((index, place.at));
            }
        }
        let mut pairs = 0;
        let mut related = Vec::new();
        for (stripe, start) in kinds.chunks(64).zip((0..).step_by(64)) {
            let end = start + stripe.len();
            related.clear();
            related.resize(end, 0);
            let mut columns: Vec<KindColumn> = Vec::new();
            for (bit, kind) in (0..).zip(stripe) {
                let places = self.places_of(kind.document).iter();
                columns.extend(places.map(|place| KindColumn { group: place.group, at: place.at, bit }));
            }
            columns.sort_unstable();
            for columns in columns.chunk_by(|a, b| a.group == b.group) {
                let group = columns[0].group as usize;
                let before = members[group].partition_point(|&(kind, _)| (kind as usize) < end);
                let members = &members[group][..before];
                match &self.groups[group] {
                    PreparedGroup::Classes(_) => relate_classes(columns, members, &mut related),
                    PreparedGroup::Closure(closure) => {
                        relate_closure(closure, columns, members, &mut related)
                    }
                }
            }
            pairs += weigh(kinds, start, &related);
        }
        pairs
    }
}

/// The number of pairs of documents with a preference of a group, but for those of two shared documents.
fn pairs_not_shared(group: &PreparedGroup, shared: &[bool]) -> u64 {
    match group {
        PreparedGroup::Classes(classes) => {
            let mixed = |is: &dyn Fn(u32) -> bool| {
                let mut sizes = vec![0; classes.sizes.len()];
                let members = classes.members.iter().filter(|member| is(member.document));
                members.for_each(|member| sizes[member.class as usize] += 1);
                super::classes::mixed_pairs(sizes.into_iter())
            };
            mixed(&|_| true) - mixed(&|document| shared[document as usize])
        }
        PreparedGroup::Closure(closure) => {
            let mut mask = vec![0; closure.words];
            let inside = |local: &usize| shared[closure.documents[*local] as usize];
            let locals: Vec<usize> = (0..closure.documents.len()).filter(inside).collect();
            locals.iter().for_each(|&local| set(&mut mask, local));
            let both = |local: usize| ones(closure.row(local), |at| mask[at]);
            closure.possible - locals.into_iter().map(both).sum::<u64>()
        }
    }
}

/// Notes for each of the kinds `members` which of 64 kinds are in other classes.
fn relate_classes(columns: &[KindColumn], members: &[(u32, u32)], related: &mut [u64]) {
    let all = columns.iter().fold(0, |all, column| all | 1 << column.bit);
    // The columns are in the order of classes.
    let masks: Vec<(u32, u64)> = columns
        .chunk_by(|a, b| a.at == b.at)
        .map(|same| (same[0].at, same.iter().fold(0, |mask, column| mask | 1u64 << column.bit)))
        .collect();
    for &(kind, class) in members {
        let same = masks.binary_search_by_key(&class, |&(class, _)| class).map_or(0, |found| masks[found].1);
        related[kind as usize] |= all & !same;
    }
}

/// Notes for each of the kinds `members` which of 64 kinds are preferred to it, or it to them.
fn relate_closure(closure: &Closure, columns: &[KindColumn], members: &[(u32, u32)], related: &mut [u64]) {
    // Neighbouring bits of a row that are neighbours among the 64: the first of both, and their mask.
    let next = |a: &KindColumn, b: &KindColumn| a.at + 1 == b.at && a.bit + 1 == b.bit;
    let runs = columns.chunk_by(next);
    let runs: Vec<(usize, u32, u64)> =
        runs.map(|run| (run[0].at as usize, run[0].bit, u64::MAX >> (64 - run.len()))).collect();
    for &(kind, at) in members {
        let row = closure.row(at as usize);
        let mut found = 0;
        for &(local, bit, mask) in &runs {
            let (word, shift) = (local / 64, local % 64);
            let above = if shift == 0 { 0 } else { row.get(word + 1).map_or(0, |next| next << (64 - shift)) };
            found |= ((row[word] >> shift | above) & mask) << bit;
        }
        related[kind as usize] |= found;
    }
    // The other direction: the rows of the 64, a word of each at a time.
    let mut rest = members;
    while let Some(&(_, first)) = rest.first() {
        let word = first as usize / 64;
        let here = rest.partition_point(|&(_, at)| at as usize / 64 == word);
        let mut block = [0; 64];
        for column in columns {
            block[column.bit as usize] = closure.row(column.at as usize)[word];
        }
        transpose(&mut block);
        for &(kind, at) in &rest[..here] {
            related[kind as usize] |= block[at as usize % 64];
        }
        rest = &rest[here..];
    }
}

/// The number of pairs of documents of `related` kinds: of each kind, with those of the 64 from `start` on that come after it.
fn weigh(kinds: &[DocumentKind], start: usize, related: &[u64]) -> u64 {
    let stripe = &kinds[start..related.len()];
    let alone = stripe.iter().all(|kind| kind.weight == 1);
    let mut pairs = 0;
    for (index, &bits) in related.iter().enumerate() {
        let mut bits = match index.checked_sub(start) {
            None => bits,
            // Two shifts, since one by 64 is none.
            Some(own) => bits & (u64::MAX << own) << 1,
        };
        let weight = if alone {
            u64::from(bits.count_ones())
        } else {
            let mut weight = 0;
            while bits != 0 {
                weight += stripe[bits.trailing_zeros() as usize].weight;
                bits &= bits - 1;
            }
            weight
        };
        pairs += kinds[index].weight * weight;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::{PreferenceLine, Preferences};
    use super::*;
    use proptest::prelude::*;

    /// Pairs looked at one by one.
    fn plain(preferences: &Preferences) -> u64 {
        let mut pairs = 0;
        for one in 0..preferences.documents {
            for other in 0..one {
                let mut places = preferences.places_of(one).iter().flat_map(|a| {
                    preferences.places_of(other).iter().filter(|b| b.group == a.group).map(|b| (*a, *b))
                });
                pairs += u64::from(places.any(|(a, b)| match &preferences.groups[a.group as usize] {
                    PreparedGroup::Classes(_) => a.at != b.at,
                    PreparedGroup::Closure(group) => {
                        let (a, b) = (a.at as usize, b.at as usize);
                        group.prefers(a, b) || group.prefers(b, a)
                    }
                }));
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Groups of one sub-group have few levels; those of several prefer documents of small numbers, or of large ones.
        #[test]
        fn pairs_are_counted_as_one_by_one(
            documents in 1u32..300,
            groups in prop::collection::vec((0u8..3, prop::collection::vec((0u32..300, 0u32..300, 0u8..4), 1..200)), 1..5),
        ) {
            let mut lines = Vec::new();
            for (group, (kind, pairs)) in (0..).zip(&groups) {
                for (subgroup, &(a, b, level)) in (0..).zip(pairs) {
                    let (a, b) = (a % documents, b % documents);
                    let line = |subgroup, document, level: f64| PreferenceLine { group, subgroup, document, level };
                    if *kind == 0 {
                        lines.push(line(0, a, f64::from(a % 3 + 1)));
                        lines.push(line(0, b, f64::from(b % 3 + 1)));
                    } else if a != b {
                        let up = (a < b) == (*kind == 1);
                        lines.push(line(subgroup, a, if up { 2.0 } else { 1.0 } + f64::from(level)));
                        lines.push(line(subgroup, b, if up { 1.0 } else { 2.0 } + f64::from(level)));
                    }
                }
            }
            let preferences = Preferences::without_pairs(&lines, documents).unwrap();
            prop_assert_eq!(preferences.count_distinct(), plain(&preferences));
        }
    }
}
