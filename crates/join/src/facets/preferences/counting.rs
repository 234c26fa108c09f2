//! Counting what a ranking fulfils of the preferences of a query.

use std::ops::Range;

use super::line::{PreferenceFault, PreferenceLine};
use super::measure::{Met, PairShares, Share};
use super::prepared::{DistinctPairs, DocumentPlace, Preferences, PreparedGroup};
use super::scratch::{GroupCounts, MemberAt, PreferenceScratch};

impl Preferences {
    /// Takes the preferences that the lines of one query state.
    ///
    /// `documents` is the number of documents that the lines name; their numbers are below it. The order of the lines has no influence on
    /// the result.
    ///
    /// All pairs of documents that are in several groups are looked at, if there are any.
    pub fn new(lines: &[PreferenceLine], documents: u32) -> Result<Preferences, PreferenceFault> {
        let mut preferences = Preferences::without_pairs(lines, documents)?;
        if preferences.pairs == DistinctPairs::Unknown {
            preferences.pairs = DistinctPairs::Fewer(preferences.count_distinct());
        }
        Ok(preferences)
    }

    /// What a ranking fulfils.
    ///
    /// `retrieved` are the numbers of the retrieved documents that the lines name, best first. A repeated number and one that is too large
    /// are skipped.
    pub fn met(&self, retrieved: &[u32], scratch: &mut PreferenceScratch) -> Met {
        let kept = self.rank(retrieved, scratch);
        self.go_through(kept, scratch);
        let mut met = Met { groups: self.groups.len() as u64, ..Met::default() };
        for (at, group) in self.groups.iter().enumerate() {
            let part = match group {
                PreparedGroup::Classes(group) => {
                    group.count(&scratch.counts[at], &scratch.class, &scratch.before[at])
                }
                PreparedGroup::Closure(group) => group.count(kept, scratch),
            };
            met.all.add(part.all);
            met.retrieved.add(part.retrieved);
            met.implied.add(part.implied);
            met.group += part.all.part();
            met.group_retrieved += part.retrieved.part();
            met.group_implied += part.implied.part();
            let quotient = |share: Share| share.fulfilled as f64 / share.possible as f64;
            met.balanced += quotient(part.balanced);
            met.balanced_retrieved += quotient(part.balanced_retrieved);
        }
        // Where no document is in two groups, each pair has one preference: its share is 0 or 1, and their sum is a count, exact in a
        // float.
        let pairs = |share: Share| PairShares { sum: share.fulfilled as f64, pairs: share.possible };
        match self.pairs {
            DistinctPairs::Unknown => {}
            DistinctPairs::All => {
                met.pair = pairs(met.all);
                met.pair_retrieved = pairs(met.retrieved);
                met.pair_implied = pairs(met.implied);
            }
            DistinctPairs::Fewer(distinct) => {
                self.list_members(scratch);
                let mut sums = PairShares::default();
                for at in 0..kept {
                    self.pairs_of(at, at + 1..kept, scratch, &mut sums);
                }
                met.pair_retrieved = sums;
                for at in 0..kept {
                    self.pairs_of(at, kept..self.documents, scratch, &mut sums);
                }
                met.pair_implied = sums;
                met.pair = PairShares { sum: sums.sum, pairs: distinct };
            }
        }
        met
    }

    /// Gives every document its position; the number of retrieved documents.
    fn rank(&self, retrieved: &[u32], scratch: &mut PreferenceScratch) -> u32 {
        scratch.position.clear();
        scratch.position.resize(self.documents as usize, u32::MAX);
        scratch.ranked.clear();
        for &document in retrieved {
            if let Some(position @ &mut u32::MAX) = scratch.position.get_mut(document as usize) {
                *position = scratch.ranked.len() as u32;
                scratch.ranked.push(document);
            }
        }
        let kept = scratch.ranked.len() as u32;
        for (document, position) in (0..).zip(&mut scratch.position) {
            if *position == u32::MAX {
                *position = scratch.ranked.len() as u32;
                scratch.ranked.push(document);
            }
        }
        kept
    }

    /// Goes through the retrieved documents and counts in all groups with one sub-group.
    fn go_through(&self, kept: u32, scratch: &mut PreferenceScratch) {
        scratch.class.clear();
        scratch.class.resize(self.classes, 0);
        scratch.seen.clear();
        scratch.seen.resize(self.classes, 0);
        scratch.counts.clear();
        scratch.counts.resize(self.groups.len(), GroupCounts::default());
        scratch.before.resize_with(self.groups.len().max(scratch.before.len()), Vec::new);
        for before in &mut scratch.before {
            before.clear();
        }
        for &document in &scratch.ranked[..kept as usize] {
            for place in self.places_of(document) {
                let PreparedGroup::Classes(group) = &self.groups[place.group as usize] else {
                    continue;
                };
                let counts = &mut scratch.counts[place.group as usize];
                let (at, times) = (place.at as usize, u64::from(place.times));
                let range = group.start..group.start + group.sizes.len();
                let class = &mut scratch.class[range.clone()];
                // Levels are few as a rule, and adding up sixteen numbers is less work than the steps of a tree.
                let above = if class.len() <= FEW_CLASSES {
                    class[..at].iter().sum()
                } else {
                    let seen = &mut scratch.seen[range];
                    let above = sum_below(seen, at);
                    add_at(seen, at, times);
                    above
                };
                class[at] += times;
                counts.fulfilled += times * above;
                if at + 1 == group.sizes.len() {
                    counts.fulfilled_lowest += times * above;
                    if at >= group.relevant_classes {
                        let before = &mut scratch.before[place.group as usize];
                        // `before[k]` is the sum for the first k + 1 of them.
                        for _ in 0..times {
                            before.push(before.last().unwrap_or(&0) + counts.documents);
                        }
                    }
                }
                counts.documents += times;
            }
        }
    }

    pub(super) fn places_of(&self, document: u32) -> &[DocumentPlace] {
        &self.places[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    /// Lists the documents of each group by position, for [`Preferences::pairs_of`].
    fn list_members(&self, scratch: &mut PreferenceScratch) {
        let lists = self.groups.len().max(scratch.members.len());
        scratch.members.resize_with(lists, Vec::new);
        for members in &mut scratch.members {
            members.clear();
        }
        for (position, &document) in (0..).zip(&scratch.ranked) {
            for place in self.places_of(document) {
                let &DocumentPlace { group, at, times } = place;
                scratch.members[group as usize].push(MemberAt { position, at, times });
            }
        }
    }

    /// Adds the pairs of the document at a position with those at a range of later positions.
    fn pairs_of(&self, at: u32, range: Range<u32>, scratch: &mut PreferenceScratch, sums: &mut PairShares) {
        if range.is_empty() {
            return;
        }
        let length = (range.end - range.start) as usize;
        scratch.over.clear();
        scratch.over.resize(length, 0.0);
        scratch.under.clear();
        scratch.under.resize(length, 0.0);
        for place in self.places_of(scratch.ranked[at as usize]) {
            let members = &scratch.members[place.group as usize];
            let start = members.partition_point(|member| member.position < range.start);
            let later = members[start..].iter();
            let later = later.take_while(|member| member.position < range.end);
            let (over, under) = (&mut scratch.over, &mut scratch.under);
            match &self.groups[place.group as usize] {
                PreparedGroup::Classes(_) => {
                    for &MemberAt { position, at: class, times } in later {
                        let index = (position - range.start) as usize;
                        let count = f64::from(place.times) * f64::from(times);
                        over[index] += if class > place.at { count } else { 0.0 };
                        under[index] += if class < place.at { count } else { 0.0 };
                    }
                }
                PreparedGroup::Closure(group) => {
                    for &MemberAt { position, at: other, .. } in later {
                        let index = (position - range.start) as usize;
                        let (one, other) = (place.at as usize, other as usize);
                        over[index] += f64::from(u8::from(group.prefers(one, other)));
                        under[index] += f64::from(u8::from(group.prefers(other, one)));
                    }
                }
            }
        }
        for (&over, &under) in scratch.over.iter().zip(&scratch.under) {
            let all = over + under;
            sums.pairs += u64::from(all > 0.0);
            sums.sum += over / all.max(1.0);
        }
    }
}

/// The most classes that are added up one by one, and not in a Fenwick tree.
const FEW_CLASSES: usize = 16;

/// The sum of the first `end` values of a Fenwick tree.
fn sum_below(tree: &[u64], end: usize) -> u64 {
    let mut sum = 0;
    let mut at = end;
    while at > 0 {
        sum += tree[at - 1];
        at &= at - 1;
    }
    sum
}

/// Adds to one value of a Fenwick tree.
fn add_at(tree: &mut [u64], index: usize, value: u64) {
    let mut at = index + 1;
    while at <= tree.len() {
        tree[at - 1] += value;
        at += at & at.wrapping_neg();
    }
}
