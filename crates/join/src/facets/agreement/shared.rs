//! Fleiss' kappa and Krippendorff's alpha of all judges together, over the items with at least two
//! ratings.

use std::collections::BTreeMap;

use super::{
    axis::{positions, squared_distances},
    rating::CodedRating,
};

/// Counts of judges' grades over the items with at least two ratings, for coefficients of
/// agreement.
pub struct SharedItems<'a> {
    /// All ratings, sorted by item and code.
    coded: &'a [CodedRating],
    /// The sorted list of grades.
    grades: &'a [f64],
    /// The number of ratings of these items.
    pub ratings: usize,
    /// The number of ratings of these items with each grade.
    totals: Vec<usize>,
    /// Items and their ordered pairs of different grades, both by the number of ratings of an item.
    sizes: BTreeMap<usize, (usize, u128)>,
}

impl<'a> SharedItems<'a> {
    /// Counts the grades of the items with at least two ratings; all ratings `coded` are sorted by
    /// item and code.
    pub fn new(coded: &'a [CodedRating], grades: &'a [f64]) -> Self {
        let mut totals = vec![0; grades.len()];
        let mut sizes: BTreeMap<usize, (usize, u128)> = BTreeMap::new();
        for item in shared_items(coded) {
            let (items, different) = sizes.entry(item.len()).or_default();
            *items += 1;
            for (code, count) in runs(item) {
                totals[code] += count;
                // In 128 bits: ratings are fewer than 2⁶⁴, whose square fits.
                *different += count as u128 * (item.len() - count) as u128;
            }
        }
        Self { coded, grades, ratings: totals.iter().sum(), totals, sizes }
    }

    /// Returns the number of items with at least two ratings.
    pub fn items(&self) -> usize {
        self.sizes.values().map(|(items, _)| items).sum()
    }

    /// Returns the number of ordered pairs of different grades among all ratings of items with at
    /// least two. The ratings of a pair are from any items; `None` if the number is 0.
    fn different_pairs(&self) -> Option<f64> {
        let counts = self.totals.iter();
        let pairs: u128 = counts.map(|&count| count as u128 * (self.ratings - count) as u128).sum();
        (pairs > 0).then_some(pairs as f64)
    }

    /// Computes Fleiss' kappa of all judges, over the items with at least two ratings.
    pub fn fleiss(&self) -> Option<f64> {
        let expected = self.different_pairs()? / (self.ratings as u128).pow(2) as f64;
        let shares = self.sizes.iter().map(|(&size, &(_, different))| {
            different as f64 / (size as u128 * (size - 1) as u128) as f64
        });
        let observed = shares.sum::<f64>() / self.items() as f64;
        Some(1.0 - observed / expected)
    }

    /// Computes Krippendorff's alpha of all judges with the nominal metric.
    pub fn alpha_nominal(&self) -> Option<f64> {
        let expected = self.different_pairs()?;
        let observed =
            self.sizes.iter().map(|(&size, &(_, different))| different as f64 / (size - 1) as f64);
        Some(self.alpha(observed.sum(), expected))
    }

    /// Computes Krippendorff's alpha where the disagreement of two grades is the squared distance
    /// between their `positions`, one for each grade. Positions of grades outside the shared items
    /// are ignored.
    pub fn alpha_at(&self, positions: &[f64]) -> Option<f64> {
        self.different_pairs()?;
        let counts = positions.iter().zip(&self.totals).filter(|&(_, &count)| count > 0);
        let expected =
            squared_distances(counts.map(|(&position, &count)| (position, count as f64)));
        let items = shared_items(self.coded).map(|item| {
            let runs = runs(item).map(|(code, count)| (positions[code], count as f64));
            (item.len(), squared_distances(runs))
        });
        // Sorted sums do not depend on the numbers of the items. Of items with equally many
        // ratings, the sum is divided once.
        let mut items: Vec<_> = items.collect();
        items.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let observed = items.chunk_by(|a, b| a.0 == b.0).map(|items| {
            items.iter().map(|(_, squares)| squares).sum::<f64>() / (items[0].0 - 1) as f64
        });
        Some(self.alpha(observed.sum(), expected))
    }

    /// Returns Krippendorff's alpha from the observed and the expected disagreement. The value is 1
    /// − (n − 1) · `observed` / `expected`, where n is the number of ratings of items with at least
    /// two.
    fn alpha(&self, observed: f64, expected: f64) -> f64 {
        1.0 - (self.ratings - 1) as f64 * observed / expected
    }

    /// Returns the middle of the ranks that each grade takes among the ratings of items with at
    /// least two, doubled, for ordinal alpha. The distance between two is twice that of the ordinal
    /// metric.
    pub fn middle_ranks(&self) -> Vec<f64> {
        let mut before = 0u128;
        let ranks = self.totals.iter().map(|&count| {
            let middle = 2 * before + count as u128;
            before += count as u128;
            middle as f64
        });
        ranks.collect()
    }

    /// Returns the positions on an axis of the grades of items with at least two ratings, and 0 for
    /// all further grades.
    pub fn positions(&self) -> Vec<f64> {
        let used = (0..self.grades.len()).filter(|&code| self.totals[code] > 0);
        let mut all = vec![0.0; self.grades.len()];
        // Grades of other items must not decide the unit of the positions.
        let positions = positions(used.clone().map(|code| self.grades[code]));
        used.zip(positions).for_each(|(code, position)| all[code] = position);
        all
    }
}

/// Returns the ratings of each item with at least two ratings; `coded` is sorted by item.
fn shared_items(coded: &[CodedRating]) -> impl Iterator<Item = &[CodedRating]> {
    coded.chunk_by(|a, b| a.item == b.item).filter(|item| item.len() > 1)
}

/// Returns the different codes of grades among an `item`'s ratings, which are sorted by code, and
/// the number of ratings with each.
fn runs(item: &[CodedRating]) -> impl Iterator<Item = (usize, usize)> {
    item.chunk_by(|a, b| a.code == b.code).map(|run| (run[0].code, run.len()))
}
