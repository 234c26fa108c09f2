//! A pair of runs in the order of the HTML page, which may reverse the signs of its differences.
//!
//! A difference is the value of a run less the value of the run before it in the input. With many
//! runs and no baseline, a page shows the best run against each other run, so the numbers of some
//! pairs change their sign. If the question has a direction, the numbers keep their sign.

use super::names::{name, name_in};
use super::scale::{number, signed};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::compare::options::Alternative;
use crate::measure::{Direction, Measure};

/// A difference between two runs, in the order in which the HTML page shows the runs.
#[derive(Clone, Copy)]
pub struct OrientedPair<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The computed difference, in the order of the input.
    pub at: &'a Difference,
    /// The index of the run shown first: its value less the value of `other` is the difference.
    pub one: usize,
    /// The index of the rival of `one`.
    pub other: usize,
    /// The sign of the shown numbers: −1 if the runs change places.
    sign: f64,
}

impl<'a> OrientedPair<'a> {
    /// Makes the pair of runs in the order of the comparison's input.
    pub fn as_given(comparison: &'a Comparison, at: &'a Difference) -> Self {
        let [one, other] = at.pair.runs();
        Self { comparison, at, one, other, sign: 1.0 }
    }

    /// Makes the pair of runs in the order of the HTML page: with many runs, the better run first.
    pub fn best_first(comparison: &'a Comparison, at: &'a Difference) -> Self {
        let given = Self::as_given(comparison, at);
        let is_free = comparison.baseline.is_none()
            && comparison.options.alternative == Alternative::TwoSided;
        let merits = comparison.ranking_keys(0);
        if comparison.has_many_runs() && is_free && merits[given.one] < merits[given.other] {
            Self { one: given.other, other: given.one, sign: -1.0, ..given }
        } else {
            given
        }
    }

    /// Returns the measure of the difference between the two runs.
    pub fn measure(&self) -> &'a Measure {
        &self.comparison.measures[self.at.measure]
    }

    /// Returns the names of the two runs: `other`, the subtracted run, and `one`.
    pub fn names(&self) -> [String; 2] {
        [self.other, self.one].map(|run| name(self.comparison.name(run)))
    }

    /// Returns the names of the two runs, shortened to some columns of text.
    pub fn short_names(&self, columns: usize) -> [String; 2] {
        [self.other, self.one].map(|run| name_in(self.comparison.name(run), columns))
    }

    /// Returns a computed number of the difference with the sign of the shown order of runs.
    pub fn oriented(&self, value: f64) -> f64 {
        self.sign * value
    }

    /// Returns the mean difference between the two runs in the shown order.
    pub fn mean(&self) -> f64 {
        self.oriented(self.at.paired.mean)
    }

    /// Returns the ends of the confidence interval of the mean difference in the shown order.
    pub fn ends(&self) -> Option<[f64; 2]> {
        self.at
            .interval
            .map(|[low, high]| if self.sign < 0.0 { [-high, -low] } else { [low, high] })
    }

    /// Returns the difference between the two runs for a query, in the shown order.
    pub fn change(&self, query: usize) -> f64 {
        self.oriented(self.comparison.change(self.at, query))
    }

    /// Returns the difference between the two runs for a query, above 0 if `one` is better.
    pub fn gain(&self, query: usize) -> f64 {
        self.change(query) * if self.higher_is_better() { 1.0 } else { -1.0 }
    }

    /// Returns the mean difference as a share of the mean of `other`.
    pub fn relative(&self) -> Option<f64> {
        if self.sign > 0.0 {
            return self.at.relative;
        }
        if self.at.logarithmic {
            return Some(self.mean().exp() - 1.0);
        }
        let mean = self.comparison.runs[self.other].means[self.at.measure];
        (mean != 0.0).then(|| self.mean() / mean)
    }

    /// Returns the numbers of queries that `one` won, tied and lost against `other`.
    pub fn wins(&self) -> [usize; 3] {
        let wins = &self.at.wins;
        let [won, lost] =
            if self.sign < 0.0 { [wins.losses, wins.wins] } else { [wins.wins, wins.losses] };
        [won, wins.ties, lost]
    }

    /// Returns whether `one` has a better mean than `other`.
    pub fn is_gain(&self) -> bool {
        self.oriented(self.at.gain()) > 0.0
    }

    /// Returns whether a difference above 0 means that `one` is better.
    pub fn higher_is_better(&self) -> bool {
        self.at.better != Direction::Lower
    }

    /// Returns whether the difference between the two runs is statistically significant.
    pub fn is_significant(&self) -> bool {
        self.comparison.is_significant(self.at)
    }

    /// Returns a difference between the two runs as text; for a geometric mean, a ratio.
    pub fn text(&self, value: f64) -> String {
        if self.at.logarithmic {
            format!("×{}", number(self.at.display_value(value), 4))
        } else {
            signed(value, 4)
        }
    }

    /// Returns the confidence interval of the mean difference as text.
    pub fn interval(&self) -> String {
        self.ends().map_or("–".to_owned(), |[low, high]| {
            format!("{} to {}", self.text(low), self.text(high))
        })
    }
}

/// Returns the pair of runs of the page's headline: the first leading pair that is decided, or else
/// the first. For many runs, the best run and the runner-up.
pub fn first_pair(comparison: &Comparison) -> Option<OrientedPair<'_>> {
    let pairs = comparison.sentence_pairs();
    let decided = pairs.iter().find(|at| {
        at.paired.all_zero || at.is_equivalent == Some(true) || comparison.is_significant(at)
    });
    let decided = decided.filter(|_| !comparison.has_many_runs());
    decided.or(pairs.first()).map(|at| OrientedPair::best_first(comparison, at))
}
