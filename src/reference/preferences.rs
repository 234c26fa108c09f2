//! Plain version of the preference measures, to compare the fast one with.
//!
//! The code compares every pair of documents, and derives implied preferences by the algorithm of
//! Floyd and Warshall. [`Preferences`](crate::facets::preferences::Preferences) must accept the
//! lines.

use crate::facets::preferences::{PreferenceCount, PreferenceLine};

/// A judgment group, counted for a ranking. Documents are named by their position.
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

/// Groups of the lines, and the number of retrieved documents.
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
    let mut numbers: Vec<u32> = lines.iter().map(|line| line.group).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn subgroup_numbers(lines: &[PreferenceLine], group: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        lines.iter().filter(|line| line.group == group).map(|line| line.subgroup).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Matrix of the preferences of a group with several sub-groups, by document.
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
        let place = |line: &PreferenceLine| position[line.document as usize];
        let subgroups = subgroup_numbers(lines, number);
        let mut preferences = Vec::new();
        let mut levels = Vec::new();
        if subgroups.len() == 1 {
            for a in &members {
                levels.push((place(a), a.level));
                for b in &members {
                    if a.level > b.level {
                        preferences.push((place(a), place(b)));
                    }
                }
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

/// Whether the lines of a query can be evaluated.
#[cfg(test)]
pub fn consistent(lines: &[PreferenceLine], documents: u32) -> bool {
    for line in lines {
        if line.level.is_nan() || line.document >= documents {
            return false;
        }
    }
    for group in group_numbers(lines) {
        let subgroups = subgroup_numbers(lines, group);
        if subgroups.len() == 1 {
            for a in lines.iter().filter(|line| line.group == group) {
                for b in lines.iter().filter(|line| line.group == group) {
                    if a.document == b.document && a.level != b.level {
                        return false;
                    }
                }
            }
            continue;
        }
        let matrix = closure(lines, group, documents as usize);
        for (a, row) in matrix.iter().enumerate() {
            for (b, &over) in row.iter().enumerate() {
                if a != b && over && matrix[b][a] {
                    return false;
                }
            }
        }
        for document in 0..documents {
            // Levels in order of sub-groups, from high to low in each: 0 may not stand next to
            // one above 0.
            let mut levels: Vec<(u32, f64)> = lines
                .iter()
                .filter(|line| line.group == group && line.document == document)
                .map(|line| (line.subgroup, line.level))
                .collect();
            levels.sort_by(|x, y| x.0.cmp(&y.0).then(y.1.partial_cmp(&x.1).unwrap()));
            for pair in levels.windows(2) {
                let (a, b) = (pair[0].1, pair[1].1);
                if (a == 0.0 && b > 0.0) || (a > 0.0 && b == 0.0) {
                    return false;
                }
            }
        }
    }
    true
}

impl CountedGroup {
    fn count(&self, wanted: impl Fn(usize, usize) -> bool) -> f64 {
        self.preferences.iter().filter(|&&(a, b)| wanted(a, b)).count() as f64
    }

    fn documents(&self, wanted: impl Fn(usize, f64) -> bool) -> f64 {
        self.levels.iter().filter(|&&(position, level)| wanted(position, level)).count() as f64
    }

    /// Whether a level counts as not relevant.
    fn nonrelevant(&self, level: f64) -> bool {
        level == 0.0 || (self.subgroups == 1 && level < 0.0)
    }
}

fn quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

fn fulfilled(found: usize) -> impl Fn(usize, usize) -> bool + Copy {
    move |a, b| a < b && a < found
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

fn possible(judged: &CountedGroups) -> f64 {
    sum(&judged.groups, |_, _| true)
}

fn num_fulfilled(judged: &CountedGroups) -> f64 {
    sum(&judged.groups, fulfilled(judged.found))
}

fn num_fulfilled_retrieved(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    sum(&judged.groups, move |a, b| a < b && b < found)
}

fn simple(judged: &CountedGroups) -> f64 {
    quotient(num_fulfilled(judged), possible(judged))
}

fn simple_retrieved(judged: &CountedGroups) -> f64 {
    let all = sum(&judged.groups, both(judged.found));
    quotient(num_fulfilled_retrieved(judged), all)
}

fn simple_implied(judged: &CountedGroups) -> f64 {
    let all = sum(&judged.groups, any(judged.found));
    quotient(num_fulfilled(judged), all)
}

fn mean(judged: &CountedGroups, part: impl Fn(&CountedGroup) -> f64) -> f64 {
    let mut sum = 0.0;
    for group in &judged.groups {
        sum += part(group);
    }
    if judged.groups.is_empty() { 0.0 } else { sum / judged.groups.len() as f64 }
}

fn by_group(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    mean(judged, |group| quotient(group.count(fulfilled(found)), group.count(|_, _| true)))
}

fn by_group_retrieved(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    mean(judged, |group| quotient(group.count(|a, b| a < b && b < found), group.count(both(found))))
}

fn by_group_implied(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    mean(judged, |group| quotient(group.count(fulfilled(found)), group.count(any(found))))
}

/// Number of groups that prefer the first position to the second, by positions.
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
    quotient(sum, count)
}

fn pair(judged: &CountedGroups) -> f64 {
    pairs(judged, true, true)
}

fn pair_retrieved(judged: &CountedGroups) -> f64 {
    pairs(judged, false, false)
}

fn pair_implied(judged: &CountedGroups) -> f64 {
    pairs(judged, true, false)
}

/// Fulfilled and possible preferences of a group without all but the first `kept` documents of
/// level 0 (of the lowest level in a group with one sub-group), between the first `limit`
/// positions.
fn balanced_counts(group: &CountedGroup, found: usize, limit: usize, kept: f64) -> (f64, f64) {
    let lowest = group.levels.iter().map(|&(_, level)| level).fold(f64::INFINITY, f64::min);
    let dropped = if group.subgroups == 1 { lowest } else { 0.0 };
    let low: Vec<usize> = group
        .levels
        .iter()
        .filter(|&&(position, level)| level == dropped && position < limit)
        .map(|&(position, _)| position)
        .collect();
    let (first, rest) = low.split_at(low.len().min(kept as usize));
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

fn zero_if_nan(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

fn balanced(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    zero_if_nan(mean(judged, |group| {
        let relevant = group.documents(|_, level| level > 0.0);
        let relevant_found = group.documents(|at, level| level > 0.0 && at < found);
        let nonrelevant = group.documents(|_, level| group.nonrelevant(level));
        let (done, all) = if relevant >= nonrelevant {
            let more = relevant - nonrelevant;
            (
                group.count(fulfilled(found)) + relevant_found * more,
                group.count(|_, _| true) + relevant * more,
            )
        } else {
            balanced_counts(group, found, judged.documents, relevant)
        };
        done / all
    }))
}

fn balanced_retrieved(judged: &CountedGroups) -> f64 {
    let found = judged.found;
    zero_if_nan(mean(judged, |group| {
        let relevant = group.documents(|_, level| level > 0.0);
        let relevant_found = group.documents(|at, level| level > 0.0 && at < found);
        let nonrelevant_found = group.documents(|at, level| group.nonrelevant(level) && at < found);
        let (done, all) = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            (
                group.count(|a, b| a < b && b < found) + relevant_found * more,
                group.count(both(found)) + relevant * more,
            )
        } else {
            let kept = if group.subgroups == 1 { relevant_found } else { relevant };
            balanced_counts(group, found, found, kept)
        };
        done / all
    }))
}

/// Value of a measure for one query and ranking.
pub fn value(
    lines: &[PreferenceLine],
    documents: u32,
    retrieved: &[u32],
    measure: PreferenceCount,
) -> f64 {
    let judged = judged(lines, documents, retrieved);
    let plain = match measure {
        PreferenceCount::Possible => possible,
        PreferenceCount::Fulfilled => num_fulfilled,
        PreferenceCount::FulfilledRetrieved => num_fulfilled_retrieved,
        PreferenceCount::Simple => simple,
        PreferenceCount::Pair => pair,
        PreferenceCount::Group => by_group,
        PreferenceCount::GroupBalanced => balanced,
        PreferenceCount::SimpleRetrieved => simple_retrieved,
        PreferenceCount::PairRetrieved => pair_retrieved,
        PreferenceCount::GroupRetrieved => by_group_retrieved,
        PreferenceCount::GroupBalancedRetrieved => balanced_retrieved,
        PreferenceCount::SimpleImplied => simple_implied,
        PreferenceCount::PairImplied => pair_implied,
        PreferenceCount::GroupImplied => by_group_implied,
    };
    plain(&judged)
}

#[cfg(test)]
mod tests;
