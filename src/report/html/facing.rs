//! A pair of runs in the order of the page.
//!
//! A difference is the value of a run less the value of the run before it in the input. With many
//! runs and no baseline, a page shows the best run against each other run, so the numbers of some
//! pairs change their sign. If the question has a direction, the numbers keep their sign.

use super::names::{name, name_in};
use super::scale::{number, signed};
use crate::compare::comparison::Comparison;
use crate::compare::difference::Difference;
use crate::compare::options::Alternative;
use crate::measure::Better;

/// A difference with its runs in the order of the page.
#[derive(Clone, Copy)]
pub struct Facing<'a> {
    /// The comparison.
    pub of: &'a Comparison,
    /// The computed difference, in the order of the input.
    pub at: &'a Difference,
    /// The index of the run shown first: its value less the value of `other` is the difference.
    pub one: usize,
    /// The index of the rival of `one`.
    pub other: usize,
    /// The sign of the shown numbers: −1 if the runs change places.
    sign: f64,
}

impl<'a> Facing<'a> {
    /// Shows a difference in its own order.
    pub fn as_given(of: &'a Comparison, at: &'a Difference) -> Self {
        Facing { of, at, one: at.pair.run, other: at.pair.baseline, sign: 1.0 }
    }

    /// Shows a difference in the order of the page: with many runs, the better run under the first
    /// measure comes first.
    pub fn told(of: &'a Comparison, at: &'a Difference) -> Self {
        let given = Facing::as_given(of, at);
        let is_free = of.baseline.is_none() && of.options.alternative == Alternative::TwoSided;
        let merits = of.merits(0);
        if of.has_many_runs() && is_free && merits[given.one] < merits[given.other] {
            Facing { one: given.other, other: given.one, sign: -1.0, ..given }
        } else {
            given
        }
    }

    /// The names of `other`, the subtracted run, and of `one`.
    pub fn names(&self) -> [String; 2] {
        [self.other, self.one].map(|run| name(&self.of.runs[run].name))
    }

    /// The names of the two runs, shortened to some columns.
    pub fn short_names(&self, columns: usize) -> [String; 2] {
        [self.other, self.one].map(|run| name_in(&self.of.runs[run].name, columns))
    }

    /// A number of the difference in the order of the page.
    pub fn turned(&self, value: f64) -> f64 {
        self.sign * value
    }

    /// The mean difference.
    pub fn mean(&self) -> f64 {
        self.turned(self.at.paired.mean)
    }

    /// The interval of the mean difference.
    pub fn ends(&self) -> Option<[f64; 2]> {
        self.at
            .interval
            .map(|[low, high]| if self.sign < 0.0 { [-high, -low] } else { [low, high] })
    }

    /// By how much a query differs.
    pub fn change(&self, query: usize) -> f64 {
        self.turned(self.of.change(self.at, query))
    }

    /// The mean difference as a share of the other run's mean.
    pub fn relative(&self) -> Option<f64> {
        if self.sign > 0.0 {
            return self.at.relative;
        }
        if self.at.logarithmic {
            return Some(self.mean().exp() - 1.0);
        }
        let mean = self.of.runs[self.other].means[self.at.measure];
        (mean != 0.0).then(|| self.mean() / mean)
    }

    /// The numbers of queries won, tied and lost by `one`.
    pub fn wins(&self) -> [usize; 3] {
        let wins = &self.at.wins;
        let [won, lost] =
            if self.sign < 0.0 { [wins.losses, wins.wins] } else { [wins.wins, wins.losses] };
        [won, wins.ties, lost]
    }

    /// Whether `one` has the better mean.
    pub fn is_gain(&self) -> bool {
        self.turned(self.at.gain()) > 0.0
    }

    /// Whether a query is better if its difference is above 0.
    pub fn higher_is_better(&self) -> bool {
        self.at.better != Better::Lower
    }

    /// Whether the difference is significant.
    pub fn is_sure(&self) -> bool {
        self.of.is_shown(self.at)
    }

    /// A difference as text; for a geometric mean, a ratio.
    pub fn text(&self, value: f64) -> String {
        if self.at.logarithmic {
            format!("×{}", number(self.at.shown(value), 4))
        } else {
            signed(value, 4)
        }
    }

    /// The interval as text.
    pub fn interval(&self) -> String {
        self.ends().map_or("–".to_owned(), |[low, high]| {
            format!("{} to {}", self.text(low), self.text(high))
        })
    }
}

/// Returns the pair of the headline: the first decided pair among the leading pairs, or the first
/// leading pair. For many runs, the best run and the runner-up.
pub fn first_pair(of: &Comparison) -> Option<Facing<'_>> {
    let pairs = of.leading();
    let is_decided =
        |at: &&&Difference| at.paired.all_zero || at.is_equivalent == Some(true) || of.is_shown(at);
    let decided = pairs.iter().find(is_decided).filter(|_| !of.has_many_runs());
    decided.or(pairs.first()).map(|at| Facing::told(of, at))
}
