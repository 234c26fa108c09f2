//! The share of a group with as many nonrelevant documents as relevant ones: `prefs_avgjg_Rnonrel`
//! and `prefs_avgjg_Rnonrel_ret`.

use super::group::{MemberKind, PlacedMember, PreferenceGroup};
use super::measure::{Share, Sides};

/// The fulfilled part of the preferences among the first documents of a group, of which there are
/// `end` and which fulfil `share`; not a number if nothing is possible. `members` are in the order
/// of a ranking that retrieved what is positioned before `found`.
pub(super) fn balanced(
    group: &PreferenceGroup,
    members: &[PlacedMember],
    share: Share,
    (found, end): (u32, usize),
) -> f64 {
    let among = &members[..end];
    let relevant = |member: &PlacedMember| member.of.kind == MemberKind::Relevant;
    let (every, here) = (lines(members, relevant), lines(among, relevant));
    let nonrelevant = lines(among, |member| member.of.kind == MemberKind::Nonrelevant);
    let Share { fulfilled, possible } = if here >= nonrelevant {
        // As if further nonrelevant documents came last.
        let more = here - nonrelevant;
        let retrieved = lines(among, |member| relevant(member) && member.position < found);
        Share {
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

/// The number of lines of some documents.
fn lines(members: &[PlacedMember], wanted: impl Fn(&PlacedMember) -> bool) -> u64 {
    members.iter().filter(|member| wanted(member)).map(|member| u64::from(member.of.times)).sum()
}

/// The share of a group with one sub-group, of whose lowest level only the first `kept` lines stay.
///
/// As in trec_eval every document, the ones of the lowest level included, counts as preferred to
/// those.
fn without_lowest_surplus(
    group: &PreferenceGroup,
    among: &[PlacedMember],
    found: u32,
    kept: u64,
) -> Share {
    let (lowest, rest): (Vec<PlacedMember>, Vec<_>) =
        among.iter().partition(|member| member.of.height == 0);
    let mut share = share_of_pairs(group, &rest, found);
    let all = lines(among, |_| true);
    let mut left = kept;
    for low in lowest {
        let times = left.min(u64::from(low.of.times));
        if times == 0 {
            break;
        }
        left -= times;
        let before = lines(among, |member| member.position < low.position.min(found));
        share.add(Share { fulfilled: times * before, possible: times * all });
    }
    share
}

/// The share of a group with several sub-groups, of whose documents of level 0 only the first
/// `kept` stay.
fn without_surplus(
    group: &PreferenceGroup,
    among: &[PlacedMember],
    found: u32,
    kept: u64,
) -> Share {
    let mut left = kept;
    let stays = |member: &&PlacedMember| {
        let stays = member.of.kind != MemberKind::Nonrelevant || left > 0;
        left -= u64::from(stays && member.of.kind == MemberKind::Nonrelevant);
        stays
    };
    let rest: Vec<PlacedMember> = among.iter().filter(stays).copied().collect();
    share_of_pairs(group, &rest, found)
}

/// The share of all pairs of some documents.
fn share_of_pairs(group: &PreferenceGroup, members: &[PlacedMember], found: u32) -> Share {
    let mut share = Share::default();
    for (at, first) in members.iter().enumerate() {
        let mut sides = Sides::default();
        let behind = group.behind(&first.of);
        members[at + 1..].iter().for_each(|second| sides.add(behind(&second.of)));
        let fulfilled = if first.position < found { sides.first } else { 0 };
        share.add(Share { fulfilled, possible: sides.sum() });
    }
    share
}
