//! The preferences of a query between documents, and the count of those that a ranking fulfils,
//! pair by pair.

use std::cmp::Ordering;
use std::ops::Range;

use super::{
    balanced::balanced,
    group::{PlacedMember, PreferenceGroup},
    line::{MOST_DOCUMENTS, NumberedLine, PreferenceFault, PreferenceLine},
    measure::{FulfilledCounts, FulfilledShare, PairShares},
};

/// The preferences between documents of one query, checked and prepared for counting.
#[derive(Debug)]
pub struct Preferences {
    documents: u32,
    groups: Vec<PreferenceGroup>,
}

impl Preferences {
    /// Checks and prepares the preferences between documents that the judgment lines of a query
    /// state.
    ///
    /// `documents` is the number of documents that the lines name; document numbers are below
    /// `documents`. The order of the lines has no influence on the result.
    pub fn new(lines: &[PreferenceLine], documents: u32) -> Result<Self, PreferenceFault> {
        if documents > MOST_DOCUMENTS {
            return Err(PreferenceFault::TooMany { documents });
        }
        debug_assert!(lines.iter().all(|line| line.document < documents && !line.level.is_nan()));
        let mut sorted: Vec<_> =
            lines.iter().enumerate().map(|(index, &line)| NumberedLine { line, index }).collect();
        sorted.sort_unstable_by(|a, b| {
            (a.line.group, a.line.subgroup)
                .cmp(&(b.line.group, b.line.subgroup))
                .then(b.line.level.partial_cmp(&a.line.level).unwrap_or(Ordering::Equal))
                .then((a.line.document, a.index).cmp(&(b.line.document, b.index)))
        });
        let groups = sorted.chunk_by(|a, b| a.line.group == b.line.group).map(PreferenceGroup::new);
        Ok(Self { documents, groups: groups.collect::<Result<_, _>>()? })
    }

    /// Counts the preferences of the query that a ranking fulfils.
    ///
    /// `retrieved` are the numbers of the retrieved documents that the lines name, best first.
    /// Repeated and too large numbers are skipped.
    pub fn count_fulfilled(&self, retrieved: impl IntoIterator<Item = u32>) -> FulfilledCounts {
        let ranked = RankedGroups::new(self, retrieved);
        let (found, end) = (ranked.found, self.documents);
        let mut counts =
            FulfilledCounts { groups: self.groups.len() as u64, ..FulfilledCounts::default() };
        let (mut shares, mut missed) = (PairShares::default(), PairShares::default());
        // The floats of pairs are summed in this order.
        let both = ranked.count(0..found, 0..found, &mut shares);
        counts.retrieved.pairs = shares;
        let one = ranked.count(0..found, found..end, &mut shares);
        counts.implied.pairs = shares;
        let neither = ranked.count(found..end, found..end, &mut missed);
        // Pairs without a retrieved document fulfil nothing.
        counts.all.pairs = PairShares { pairs: shares.pairs + missed.pairs, ..shares };
        for (at, (group, members)) in ranked.groups.iter().enumerate() {
            let retrieved = both[at];
            let mut implied = retrieved;
            implied.add(one[at]);
            let possible = implied.possible + neither[at].possible;
            let all = FulfilledShare { possible, ..implied };
            counts.all.add(all);
            counts.retrieved.add(retrieved);
            counts.implied.add(implied);
            counts.balanced += balanced(group, members, all, found, members.len());
            let end = members.partition_point(|member| member.position < found);
            counts.balanced_retrieved += balanced(group, members, retrieved, found, end);
        }
        counts
    }
}

/// The judgment groups (sets of preferences) of a query, with their documents in the order of a
/// ranking.
struct RankedGroups<'a> {
    groups: Vec<(&'a PreferenceGroup, Vec<PlacedMember>)>,
    /// The groups of the document at each position, and its index there.
    places: Vec<Vec<(usize, usize)>>,
    /// The number of retrieved documents.
    found: u32,
}

impl<'a> RankedGroups<'a> {
    fn new(preferences: &'a Preferences, retrieved: impl IntoIterator<Item = u32>) -> Self {
        let mut positions = vec![u32::MAX; preferences.documents as usize];
        let mut next = 0;
        for document in retrieved {
            if let Some(position @ &mut u32::MAX) = positions.get_mut(document as usize) {
                *position = next;
                next += 1;
            }
        }
        let found = next;
        // As in trec_eval, the other documents follow in the order of their names.
        for position in positions.iter_mut().filter(|position| **position == u32::MAX) {
            *position = next;
            next += 1;
        }
        let mut places = vec![Vec::new(); positions.len()];
        let mut groups = Vec::with_capacity(preferences.groups.len());
        for (number, group) in preferences.groups.iter().enumerate() {
            let members = group.members.iter().map(|&member| PlacedMember {
                position: positions[member.document as usize],
                member,
            });
            let mut members: Vec<_> = members.collect();
            members.sort_unstable_by_key(|member| member.position);
            for (index, member) in members.iter().enumerate() {
                places[member.position as usize].push((number, index));
            }
            groups.push((group, members));
        }
        Self { groups, places, found }
    }

    /// Counts the preferences of each judgment group over all pairs of a position of `firsts` with
    /// a later one of `seconds`. Adds to `shares` the shares of groups that agree with the order of
    /// a pair.
    fn count(
        &self,
        firsts: Range<u32>,
        seconds: Range<u32>,
        shares: &mut PairShares,
    ) -> Vec<FulfilledShare> {
        let mut of_groups = vec![FulfilledShare::default(); self.groups.len()];
        let mut of_seconds = vec![FulfilledShare::default(); seconds.len()];
        for at in firsts {
            let start = seconds.start.max(at + 1);
            of_seconds.fill(FulfilledShare::default());
            for &(number, index) in &self.places[at as usize] {
                let (group, members) = &self.groups[number];
                let [first, end] = [start, seconds.end]
                    .map(|end| members.partition_point(|member| member.position < end));
                let behind = group.behind(&members[index].member);
                let mut of_group = FulfilledShare::default();
                for second in &members[first..end] {
                    let share = behind(&second.member);
                    of_group.add(share);
                    of_seconds[(second.position - seconds.start) as usize].add(share);
                }
                of_groups[number].add(of_group);
            }
            let later = &of_seconds[(start - seconds.start) as usize..];
            later.iter().for_each(|&share| shares.add(share));
        }
        of_groups
    }
}
