//! The order of the runs of a comparison, the best first. Also letters for runs not shown to
//! differ, and the pairs to put in words.
//!
//! # Letters
//!
//! Runs that are not shown to differ share a letter (a *compact letter display*, Piepho 2004). Not
//! differing is no equivalence: a may be like b and b like c while a and c differ, so a run can
//! have several letters. A letter is a set of runs no two of which differ, and each two runs that
//! do not differ must be in one set together: a cover of the edges of a graph by cliques. The
//! fewest cliques are hard to find, and few are enough. For each uncovered edge, in the order of
//! the runs, the two runs start a set. The set then takes in every run that differs from no member,
//! again in the order of the runs. So each letter costs a pass over the runs, and each edge adds at
//! most one letter. If runs differ by their distance alone, each letter covers a stretch of the
//! order.

use super::comparison::Comparison;
use super::difference::Difference;
use crate::sort;

/// The fewest runs to be described in the order of their means: the best run against the next run,
/// and not run by run.
pub const MANY_RUNS: usize = 6;

impl Comparison {
    /// Returns whether six or more runs are compared, and so described in the order of their means,
    /// not of the input.
    pub fn has_many_runs(&self) -> bool {
        self.runs.len() >= MANY_RUNS
    }

    /// Returns the indices of the runs, the best under a measure first; runs with equal means stay
    /// in the order of the input.
    pub fn ranked(&self, measure: usize) -> Vec<usize> {
        let merits = self.ranking_keys(measure);
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        // The sort is stable, so equal runs stay in the order of the input.
        sort::by_number(&mut order, |&run| -merits[run]);
        order
    }

    /// Returns the best run under a measure and the runs not shown to be worse, best first. With a
    /// baseline or a one-sided alternative, pairs or directions are missing: then only runs whose
    /// means equal the best mean.
    pub fn best_group(&self, measure: usize) -> Vec<usize> {
        let best = self.best(measure);
        let merits = self.ranking_keys(measure);
        let mut leaders = self.ranked(measure);
        leaders.retain(|&run| {
            match self.between(measure, best, run).filter(|_| self.compares_all_pairs()) {
                _ if run == best => true,
                Some(difference) => !self.is_significant(difference),
                None => merits[run] == merits[best],
            }
        });
        leaders
    }

    /// Returns the pairs of runs to put in words under the first measure: all pairs with the
    /// baseline, or without a baseline, all pairs with the best run. With many runs, pairs come in
    /// the order of the means of the other runs, the best first.
    pub fn sentence_pairs(&self) -> Vec<&Difference> {
        let lead = self.baseline.unwrap_or_else(|| self.best(0));
        if self.has_many_runs() {
            return self
                .ranked(0)
                .into_iter()
                .filter_map(|run| self.between(0, lead, run))
                .collect();
        }
        self.differences_for(0)
            .iter()
            .filter(|difference| difference.pair.runs().contains(&lead))
            .collect()
    }

    /// Returns the differences of all pairs of runs under the first measure, those of the best runs
    /// first.
    pub(crate) fn all_ranked(&self) -> Vec<&Difference> {
        let order = self.ranked(0);
        let pairs = order.iter().enumerate().flat_map(|(at, &one)| {
            order[at + 1..].iter().filter_map(move |&other| self.between(0, one, other))
        });
        pairs.collect()
    }

    /// Returns a compact letter display of the runs under a measure: the letters of each run, in
    /// the order of the input. Runs with a common letter are not shown to differ. The best run has
    /// the letter `a`. Consecutive letters are written as a range, such as `c–f`, and `aa` follows
    /// `z`. `None` with a baseline or a one-sided alternative, because both leave pairs or
    /// directions out.
    pub fn group_letters(&self, measure: usize) -> Option<Vec<String>> {
        if !self.compares_all_pairs() {
            return None;
        }
        let order = self.ranked(measure);
        // By places in the order, each pair once.
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &run)| place[run] = at);
        let mut alike = vec![vec![true; order.len()]; order.len()];
        for difference in self.differences_for(measure) {
            let [one, other] = difference.pair.runs().map(|run| place[run]);
            let differ = self.is_significant(difference);
            (alike[one][other], alike[other][one]) = (!differ, !differ);
        }
        let of_places = letters_of(&alike);
        Some(place.into_iter().map(|at| written(&of_places[at])).collect())
    }
}

/// Returns the letters of each run as numbers, ascending, from the matrix of pairs of runs that are
/// not shown to differ. Two runs share a letter if and only if the two are alike.
fn letters_of(alike: &[Vec<bool>]) -> Vec<Vec<usize>> {
    let count = alike.len();
    let mut letters: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut covered = vec![vec![false; count]; count];
    // Pairs of a thing with itself are included, to give a thing unlike all others a letter too.
    let pairs = (0..count).flat_map(|one| (one..count).map(move |other| [one, other]));
    let mut sets = 0;
    for [one, other] in pairs.filter(|&[one, other]| alike[one][other]) {
        if covered[one][other] {
            continue;
        }
        let set = all_alike(alike, [one, other]);
        for &member in &set {
            set.iter().for_each(|&with| covered[member][with] = true);
            letters[member].push(sets);
        }
        sets += 1;
    }
    letters
}

/// Grows a set of runs, no two of which are shown to differ, from a pair of runs. Each further run,
/// in order, joins if it is alike to all members so far.
fn all_alike(alike: &[Vec<bool>], pair: [usize; 2]) -> Vec<usize> {
    let mut set = pair.to_vec();
    set.dedup();
    // The matrix is symmetric, so the row of a thing names all things alike to it.
    for (more, is_alike) in alike.iter().enumerate() {
        if !set.contains(&more) && set.iter().all(|&member| is_alike[member]) {
            set.push(more);
        }
    }
    set
}

/// Writes the letters of a run as text, consecutive letters as a range.
fn written(letters: &[usize]) -> String {
    let stretches = letters.chunk_by(|one, next| *next == one + 1).map(|stretch| match stretch {
        [first, .., last] => format!("{}–{}", letter(*first), letter(*last)),
        _ => letter(stretch[0]),
    });
    stretches.collect::<Vec<_>>().join(" ")
}

/// Returns the letter of a group of runs by its number: `a` to `z`, then `aa` to `zz`, and so on.
fn letter(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        match number / 26 {
            0 => break,
            // Letters have no 0: `aa` follows `z`, so each further place counts from 1.
            rest => number = rest - 1,
        }
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(count: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
        (0..count).map(|one| (0..count).map(|other| !differ(one, other)).collect()).collect()
    }

    #[test]
    fn letters_of_a_line_are_stretches() {
        // Runs differ if they are three places apart.
        let letters = letters_of(&graph(5, |one, other| one.abs_diff(other) >= 3));
        assert_eq!(letters, [vec![0], vec![0, 1], vec![0, 1, 2], vec![1, 2], vec![2]]);
        assert_eq!(letters_of(&graph(3, |one, other| one != other)), [vec![0], vec![1], vec![2]]);
        assert_eq!(letters_of(&graph(3, |_, _| false)), [vec![0], vec![0], vec![0]]);
    }

    #[test]
    fn letters_are_written_short() {
        let text = |letters: &[usize]| written(letters);
        assert_eq!(
            [text(&[0]), text(&[0, 1]), text(&[2, 3, 4, 5]), text(&[0, 2, 3, 4])],
            ["a", "a–b", "c–f", "a c–e"]
        );
        assert_eq!([25, 26, 27, 26 + 26 * 26].map(letter), ["z", "aa", "ab", "aaa"]);
    }

    proptest! {
        #[test]
        fn two_share_a_letter_if_and_only_if_they_are_alike(
            bits in prop::collection::vec(any::<bool>(), 66),
        ) {
            let bit = |one: usize, other: usize| {
                let (low, high) = (one.min(other), one.max(other));
                low != high && bits[high * (high - 1) / 2 + low]
            };
            let letters = letters_of(&graph(12, bit));
            for (one, of_one) in letters.iter().enumerate() {
                prop_assert!(!of_one.is_empty());
                for (other, of_other) in letters.iter().enumerate() {
                    let shared = of_one.iter().any(|value| of_other.contains(value));
                    prop_assert_eq!(shared, !bit(one, other));
                }
            }
        }
    }
}
