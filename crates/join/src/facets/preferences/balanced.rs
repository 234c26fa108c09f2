//! The share of fulfilled preferences in a judgment group that is made to have as many nonrelevant
//! documents as relevant ones: `prefs_avgjg_Rnonrel` and `prefs_avgjg_Rnonrel_ret` of trec_eval.
//!
//! If nonrelevant documents are too few, more of them are imagined behind all documents. If
//! nonrelevant documents are too many, only the first ones in the ranking stay.

use super::{
    group::{PlacedMember, PreferenceGroup},
    measure::FulfilledShare,
};

/// Returns the fulfilled part of the preferences in a judgment group that is made to have as many
/// nonrelevant documents as relevant ones; not a number if no preference is possible.
///
/// `members` are all documents of the group in the order of a ranking, which retrieved the
/// documents at positions before `found`. Only the first `end` members count, and `share` has the
/// preferences between those members before any document is added or dropped. One exception is an
/// oddity of trec_eval: `every` counts the relevant documents of all members.
pub fn balanced(
    group: &PreferenceGroup,
    members: &[PlacedMember],
    share: FulfilledShare,
    found: u32,
    end: usize,
) -> f64 {
    let among = &members[..end];
    let every = lines(members, PlacedMember::is_relevant);
    let here = lines(among, PlacedMember::is_relevant);
    let nonrelevant = lines(among, PlacedMember::is_nonrelevant);
    let FulfilledShare { fulfilled, possible } = if here >= nonrelevant {
        // `more` nonrelevant documents are imagined behind all others: each relevant document is
        // preferred to each of them, and a retrieved relevant document fulfils that preference.
        let more = here - nonrelevant;
        let retrieved = lines(among, |member| member.is_relevant() && member.position < found);
        FulfilledShare {
            fulfilled: share.fulfilled + retrieved * more,
            possible: share.possible + every * more,
        }
    } else if group.is_of_levels() {
        without_lowest_surplus(group, among, found, here)
    } else {
        without_surplus(group, among, found, every)
    };
    fulfilled as f64 / possible as f64
}

/// Returns the number of preference lines of those documents of a judgment group that are `wanted`.
fn lines(members: &[PlacedMember], wanted: impl Fn(&PlacedMember) -> bool) -> u64 {
    let wanted = members.iter().filter(|member| wanted(member));
    wanted.map(|member| u64::from(member.member.times)).sum()
}

/// Counts the fulfilled and the possible preferences of a judgment group with one sub-group. Of the
/// documents at the lowest level, only the first `quota` lines in the ranking stay.
///
/// As in trec_eval, every document of `among` counts as preferred to each line that stays, even a
/// document of the lowest level.
fn without_lowest_surplus(
    group: &PreferenceGroup,
    among: &[PlacedMember],
    found: u32,
    quota: u64,
) -> FulfilledShare {
    let (lowest, rest): (Vec<PlacedMember>, Vec<_>) =
        among.iter().partition(|member| member.member.height == 0);
    let mut share = share_of_pairs(group, &rest, found);
    let all = lines(among, |_| true);
    let mut left = quota;
    for low in lowest {
        let times = left.min(u64::from(low.member.times));
        if times == 0 {
            break;
        }
        left -= times;
        let before = lines(among, |member| member.position < low.position.min(found));
        share.add(FulfilledShare { fulfilled: times * before, possible: times * all });
    }
    share
}

/// Counts the fulfilled and the possible preferences of a judgment group with several sub-groups.
/// Of the documents at level 0, only the first `quota` in the ranking stay.
fn without_surplus(
    group: &PreferenceGroup,
    among: &[PlacedMember],
    found: u32,
    quota: u64,
) -> FulfilledShare {
    let (mut left, mut rest) = (quota, among.to_vec());
    rest.retain(|member| {
        let stays = !member.is_nonrelevant() || left > 0;
        left -= u64::from(stays && member.is_nonrelevant());
        stays
    });
    share_of_pairs(group, &rest, found)
}

/// Counts the fulfilled and the possible preferences over all pairs of the documents `members` of a
/// judgment group.
fn share_of_pairs(group: &PreferenceGroup, members: &[PlacedMember], found: u32) -> FulfilledShare {
    let mut share = FulfilledShare::default();
    for (at, first) in members.iter().enumerate() {
        let mut of_first = FulfilledShare::default();
        let behind = group.behind(&first.member);
        members[at + 1..].iter().for_each(|second| of_first.add(behind(&second.member)));
        if first.position >= found {
            of_first.fulfilled = 0;
        }
        share.add(of_first);
    }
    share
}
