//! Reference implementation of the preference measures, pair by pair, to compare the fast one with.
//!
//! The code compares every pair of documents, and derives implied preferences by the algorithm of
//! Floyd and Warshall. [`Preferences`](crate::facets::preferences::Preferences) must accept the
//! lines.

use super::common::{distinct, ratio};
use crate::facets::preferences::{PreferenceCount as Preference, PreferenceLine};

/// A group of a query's preference judgments as pairs of positions in a ranking, with documents'
/// levels. Documents are named by their position.
struct CountedGroup {
    /// Preferences as pairs of positions, the preferred document first; a repeated line repeats its
    /// pairs.
    preferences: Vec<(usize, usize)>,
    /// Level by line in a group with one sub-group, and by document in a group with several, with
    /// the position.
    levels: Vec<(usize, f64)>,
    /// Number of sub-groups.
    subgroups: usize,
}

/// The groups of a query's preference judgments, counted for a ranking, and the number of retrieved
/// documents.
struct CountedGroups {
    groups: Vec<CountedGroup>,
    found: usize,
    documents: usize,
}

fn positions(documents: usize, retrieved: &[u32]) -> (Vec<usize>, usize) {
    let mut ranked: Vec<usize> = Vec::new();
    for &document in retrieved {
        let document = document as usize;
        if document < documents && !ranked.contains(&document) {
            ranked.push(document);
        }
    }
    let found = ranked.len();
    for document in 0..documents {
        if !ranked.contains(&document) {
            ranked.push(document);
        }
    }
    let mut position = vec![0; documents];
    for (at, document) in ranked.into_iter().enumerate() {
        position[document] = at;
    }
    (position, found)
}

fn group_numbers(lines: &[PreferenceLine]) -> Vec<u32> {
    distinct(lines.iter().map(|line| line.group))
}

fn subgroup_numbers(lines: &[PreferenceLine], group: u32) -> Vec<u32> {
    distinct(lines.iter().filter(|line| line.group == group).map(|line| line.subgroup))
}

/// Returns the matrix, by document, of all preferences in a judgment group, implied ones included.
fn closure(lines: &[PreferenceLine], group: u32, documents: usize) -> Vec<Vec<bool>> {
    let mut matrix = vec![vec![false; documents]; documents];
    for a in lines.iter().filter(|line| line.group == group) {
        for b in lines.iter().filter(|line| line.group == group) {
            if a.subgroup == b.subgroup && a.level > b.level && a.document != b.document {
                matrix[a.document as usize][b.document as usize] = true;
            }
        }
    }
    for middle in 0..documents {
        for a in 0..documents {
            for b in 0..documents {
                if matrix[a][middle] && matrix[middle][b] {
                    matrix[a][b] = true;
                }
            }
        }
    }
    matrix
}

fn judged(lines: &[PreferenceLine], documents: u32, retrieved: &[u32]) -> CountedGroups {
    let documents = documents as usize;
    let (position, found) = positions(documents, retrieved);
    let mut groups = Vec::new();
    for number in group_numbers(lines) {
        let members: Vec<&PreferenceLine> =
            lines.iter().filter(|line| line.group == number).collect();
        let subgroups = subgroup_numbers(lines, number);
        let mut preferences = Vec::new();
        let mut levels = Vec::new();
        if subgroups.len() == 1 {
            for a in &members {
                let at = position[a.document as usize];
                levels.push((at, a.level));
                let worse = members.iter().filter(|b| a.level > b.level);
                preferences.extend(worse.map(|b| (at, position[b.document as usize])));
            }
        } else {
            let matrix = closure(lines, number, documents);
            for a in 0..documents {
                // Take the level from the last sub-group with the document; if the sub-group has
                // several, the lowest level.
                let last =
                    members.iter().filter(|line| line.document as usize == a).max_by(|x, y| {
                        x.subgroup.cmp(&y.subgroup).then(y.level.partial_cmp(&x.level).unwrap())
                    });
                if let Some(last) = last {
                    levels.push((position[a], last.level));
                }
                for b in 0..documents {
                    if matrix[a][b] {
                        preferences.push((position[a], position[b]));
                    }
                }
            }
        }
        levels.sort_by_key(|&(position, _)| position);
        groups.push(CountedGroup { preferences, levels, subgroups: subgroups.len() });
    }
    CountedGroups { groups, found, documents }
}

impl CountedGroup {
    fn count(&self, wanted: impl Fn(usize, usize) -> bool) -> f64 {
        self.preferences.iter().filter(|&&(a, b)| wanted(a, b)).count() as f64
    }

    fn documents(&self, wanted: impl Fn(usize, f64) -> bool) -> f64 {
        self.levels.iter().filter(|&&(position, level)| wanted(position, level)).count() as f64
    }

    /// Returns whether a document's level in this judgment group counts as not relevant.
    fn nonrelevant(&self, level: f64) -> bool {
        level == 0.0 || (self.subgroups == 1 && level < 0.0)
    }
}

fn every(_: usize, _: usize) -> bool {
    true
}

fn fulfilled(found: usize) -> impl Fn(usize, usize) -> bool + Copy {
    move |a, b| a < b && a < found
}

fn fulfilled_retrieved(found: usize) -> impl Fn(usize, usize) -> bool + Copy {
    move |a, b| a < b && b < found
}

fn both(found: usize) -> impl Fn(usize, usize) -> bool + Copy {
    move |a, b| a < found && b < found
}

fn any(found: usize) -> impl Fn(usize, usize) -> bool + Copy {
    move |a, b| a < found || b < found
}

fn sum(groups: &[CountedGroup], wanted: impl Fn(usize, usize) -> bool + Copy) -> f64 {
    groups.iter().fold(0.0, |sum, group| sum + group.count(wanted))
}

/// Returns the fulfilled preferences (`done`) as a share of all that count (`all`), over the groups
/// together.
fn share(
    groups: &[CountedGroup],
    done: impl Fn(usize, usize) -> bool + Copy,
    all: impl Fn(usize, usize) -> bool + Copy,
) -> f64 {
    ratio(sum(groups, done), sum(groups, all))
}

fn mean(groups: &[CountedGroup], part: impl Fn(&CountedGroup) -> f64) -> f64 {
    let mut sum = 0.0;
    for group in groups {
        sum += part(group);
    }
    if groups.is_empty() { 0.0 } else { sum / groups.len() as f64 }
}

/// Returns the mean over judgment groups of the fulfilled preferences (`done`) as a share of `all`.
fn mean_share(
    groups: &[CountedGroup],
    done: impl Fn(usize, usize) -> bool + Copy,
    all: impl Fn(usize, usize) -> bool + Copy,
) -> f64 {
    mean(groups, |group| ratio(group.count(done), group.count(all)))
}

/// Returns, for each pair of positions, the number of judgment groups that prefer the first to the
/// second.
fn weights(judged: &CountedGroups) -> Vec<Vec<f64>> {
    let mut weights = vec![vec![0.0; judged.documents]; judged.documents];
    for group in &judged.groups {
        for &(a, b) in &group.preferences {
            weights[a][b] += 1.0;
        }
    }
    weights
}

fn pairs(judged: &CountedGroups, implied: bool, missed: bool) -> f64 {
    let weights = weights(judged);
    let (found, documents) = (judged.found, judged.documents);
    let mut wanted = Vec::new();
    for a in 0..found {
        wanted.extend((a + 1..found).map(|b| (a, b)));
    }
    if implied {
        for a in 0..found {
            wanted.extend((found..documents).map(|b| (a, b)));
        }
    }
    if missed {
        for a in found..documents {
            wanted.extend((a + 1..documents).map(|b| (a, b)));
        }
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for (a, b) in wanted {
        let all = weights[a][b] + weights[b][a];
        if all > 0.0 {
            count += 1.0;
            if a < found {
                sum += weights[a][b] / all;
            }
        }
    }
    ratio(sum, count)
}

/// Returns a judgment group's fulfilled and possible preferences, with only `quota` documents of
/// the lowest level. All but the first `quota` documents of level 0 are left out (of the lowest
/// level in a group with one sub-group), and the preferences are between the first `limit`
/// positions.
fn balanced_counts(group: &CountedGroup, found: usize, limit: usize, quota: f64) -> (f64, f64) {
    let lowest = group.levels.iter().map(|&(_, level)| level).fold(f64::INFINITY, f64::min);
    let dropped = if group.subgroups == 1 { lowest } else { 0.0 };
    let low: Vec<usize> = group
        .levels
        .iter()
        .filter(|&&(position, level)| level == dropped && position < limit)
        .map(|&(position, _)| position)
        .collect();
    let (first, rest) = low.split_at(low.len().min(quota as usize));
    let mut remaining: Vec<(usize, usize)> =
        group.preferences.iter().copied().filter(|&(a, b)| a < limit && b < limit).collect();
    if group.subgroups == 1 {
        // Lines and not documents are counted here: build the pairs with the lowest level anew.
        remaining.retain(|&(_, b)| !low.contains(&b));
        for &(x, _) in group.levels.iter().filter(|&&(x, _)| x < limit) {
            remaining.extend(first.iter().map(|&y| (x, y)));
        }
    } else {
        remaining.retain(|(a, b)| !rest.contains(a) && !rest.contains(b));
    }
    let done = remaining.iter().filter(|&&(a, b)| a < b && a < found);
    (done.count() as f64, remaining.len() as f64)
}

// A group without a preference is 0 / 0, and makes the mean over all groups NaN: trec_eval counts
// such a mean as 0.
fn zero_if_nan(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

fn balanced(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    zero_if_nan(mean(&judged.groups, |group| {
        let relevant = group.documents(|_, level| level > 0.0);
        let relevant_found = group.documents(|at, level| level > 0.0 && at < found);
        let nonrelevant = group.documents(|_, level| group.nonrelevant(level));
        let (done, all) = if relevant >= nonrelevant {
            let more = relevant - nonrelevant;
            (
                group.count(fulfilled(found)) + relevant_found * more,
                group.count(every) + relevant * more,
            )
        } else {
            balanced_counts(group, found, judged.documents, relevant)
        };
        done / all
    }))
}

fn balanced_retrieved(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    zero_if_nan(mean(&judged.groups, |group| {
        let relevant = group.documents(|_, level| level > 0.0);
        let relevant_found = group.documents(|at, level| level > 0.0 && at < found);
        let nonrelevant_found = group.documents(|at, level| group.nonrelevant(level) && at < found);
        let (done, all) = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            (
                group.count(fulfilled_retrieved(found)) + relevant_found * more,
                group.count(both(found)) + relevant * more,
            )
        } else {
            let quota = if group.subgroups == 1 { relevant_found } else { relevant };
            balanced_counts(group, found, found, quota)
        };
        done / all
    }))
}

/// Returns the value of a preference measure for one query and ranking.
pub fn value(
    lines: &[PreferenceLine],
    documents: u32,
    retrieved: &[u32],
    measure: Preference,
) -> f64 {
    let judged = judged(lines, documents, retrieved);
    let (groups, found) = (&judged.groups, judged.found);
    match measure {
        Preference::Possible => sum(groups, every),
        Preference::Fulfilled => sum(groups, fulfilled(found)),
        Preference::FulfilledRetrieved => sum(groups, fulfilled_retrieved(found)),
        Preference::Simple => share(groups, fulfilled(found), every),
        Preference::SimpleRetrieved => share(groups, fulfilled_retrieved(found), both(found)),
        Preference::SimpleImplied => share(groups, fulfilled(found), any(found)),
        Preference::Pair => pairs(&judged, true, true),
        Preference::PairRetrieved => pairs(&judged, false, false),
        Preference::PairImplied => pairs(&judged, true, false),
        Preference::Group => mean_share(groups, fulfilled(found), every),
        Preference::GroupRetrieved => mean_share(groups, fulfilled_retrieved(found), both(found)),
        Preference::GroupImplied => mean_share(groups, fulfilled(found), any(found)),
        Preference::GroupBalanced => balanced(&judged),
        Preference::GroupBalancedRetrieved => balanced_retrieved(&judged),
    }
}

#[cfg(test)]
mod tests;
