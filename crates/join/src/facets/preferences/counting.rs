//! The preferences of a query between documents, and the count of those that a ranking fulfils,
//! pair by pair.

use std::cmp::Ordering;
use std::ops::Range;

use super::balanced::balanced;
use super::group::{PlacedMember, PreferenceGroup};
use super::line::{MOST_DOCUMENTS, NumberedLine, PreferenceFault, PreferenceLine};
use super::measure::{FulfilledCounts, FulfilledShare, PairShares, Sides};

/// The preferences between documents of one query, checked and prepared for counting.
#[derive(Clone, Debug)]
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
        for (line, at) in lines.iter().enumerate() {
            if at.level.is_nan() {
                return Err(PreferenceFault::Level { line });
            }
            if at.document >= documents {
                return Err(PreferenceFault::Document { line });
            }
        }
        let mut sorted: Vec<NumberedLine> =
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
    pub fn count_fulfilled(&self, retrieved: &[u32]) -> FulfilledCounts {
        let ranked = RankedGroups::new(self, retrieved);
        let (found, end) = (ranked.found, self.documents);
        let (mut shares, mut missed) = (PairShares::default(), PairShares::default());
        // The floats of pairs are summed in this order.
        let both = ranked.count(0..found, 0..found, &mut shares);
        let pair_retrieved = shares;
        let one = ranked.count(0..found, found..end, &mut shares);
        let neither = ranked.count(found..end, found..end, &mut missed);
        let mut counts = FulfilledCounts {
            groups: self.groups.len() as u64,
            // Pairs without a retrieved document fulfil nothing.
            pair: PairShares { sum: shares.sum, pairs: shares.pairs + missed.pairs },
            pair_retrieved,
            pair_implied: shares,
            ..FulfilledCounts::default()
        };
        for (at, (group, members)) in ranked.groups.iter().enumerate() {
            let (both, one, neither) = (both[at], one[at], neither[at]);
            let retrieved = FulfilledShare { fulfilled: both.first, possible: both.sum() };
            let implied = FulfilledShare {
                fulfilled: both.first + one.first,
                possible: retrieved.possible + one.sum(),
            };
            let all = FulfilledShare { possible: implied.possible + neither.sum(), ..implied };
            counts.all.add(all);
            counts.retrieved.add(retrieved);
            counts.implied.add(implied);
            counts.group += all.part();
            counts.group_retrieved += retrieved.part();
            counts.group_implied += implied.part();
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
    fn new(preferences: &'a Preferences, retrieved: &[u32]) -> Self {
        let mut positions = vec![u32::MAX; preferences.documents as usize];
        let mut next = 0;
        for &document in retrieved {
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
            let mut members: Vec<PlacedMember> = members.collect();
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
    ) -> Vec<Sides> {
        let mut of_groups = vec![Sides::default(); self.groups.len()];
        let mut of_seconds = vec![Sides::default(); seconds.len()];
        for at in firsts {
            let start = seconds.start.max(at + 1);
            of_seconds.fill(Sides::default());
            for &(number, index) in &self.places[at as usize] {
                let (group, members) = &self.groups[number];
                let [first, end] = [start, seconds.end]
                    .map(|end| members.partition_point(|member| member.position < end));
                let behind = group.behind(&members[index].member);
                let mut of_group = Sides::default();
                for second in &members[first..end] {
                    let sides = behind(&second.member);
                    of_group.add(sides);
                    of_seconds[(second.position - seconds.start) as usize].add(sides);
                }
                of_groups[number].add(of_group);
            }
            of_seconds[(start - seconds.start) as usize..]
                .iter()
                .for_each(|&sides| shares.add(sides));
        }
        of_groups
    }
}
