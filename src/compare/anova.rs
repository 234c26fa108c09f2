//! Two-way analysis of variance of the values of runs and queries, without interaction, and Tukey's
//! honestly significant difference on it.
//!
//! The analysis assumes that differences vary alike between any two runs.
//!
//! # Squares without differences of squares
//!
//! ```text
//! value = whole + run + query + rest
//! dᵣᵩ   = value − mean of the query over the runs             kept as moments of each run
//!         mean of dᵣ over queries = mean of the run − whole
//! error = Σ over runs of Σ (dᵣᵩ − mean dᵣ)²
//! ```
//!
//! The classical way takes the sums of squares of runs and of queries from that of all values, and
//! loses the digits of a small error. Here the mean of the query is taken off each value first, and
//! moments are exact. Means of queries are made query by query, so the moments of two sets of
//! queries add up, and a shard needs no other.

use super::special::{f_sf, range_quantile, range_sf};
use super::unit::Unit;
use crate::stats::{ExactSum, Moments};

/// A two-way analysis of variance of the values of m runs for n queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Anova {
    /// The mean of each run.
    pub means: Vec<f64>,
    /// The effect of the runs.
    pub runs: Effect,
    /// The effect of the queries.
    pub queries: Effect,
    /// The sum of squares that neither runs nor queries explain.
    pub error: f64,
    /// The degrees of freedom of the error, (m − 1)·(n − 1).
    pub error_df: f64,
    /// The number of queries.
    pub count: usize,
}

/// The effect of one factor, runs or queries, in an analysis of variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The sum of squares of the factor.
    pub squares: f64,
    /// The degrees of freedom of the factor.
    pub df: f64,
    /// The mean square of the factor divided by that of the error; `None` if the error is 0.
    pub f: Option<f64>,
    /// The p of F.
    pub p: Option<f64>,
}

/// Moments of the query means, and of each run's deviations from the query means, for an analysis
/// of variance. Moments of different queries add up.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The moments of the queries' means over the runs.
    pub queries: Moments,
    /// The moments of each run's values less the queries' means, by run.
    pub rest: Vec<Moments>,
}

impl Spread {
    /// Computes the moments for an analysis of variance from the values of each run, in the same
    /// order of queries.
    pub fn from_runs(runs: &[Vec<f64>]) -> Self {
        let count = runs.first().map_or(0, Vec::len);
        let means: Vec<f64> = (0..count)
            .map(|query| runs.iter().map(|run| run[query]).collect::<ExactSum>().mean(runs.len()))
            .collect();
        let rest = runs
            .iter()
            .map(|run| run.iter().zip(&means).map(|(value, mean)| value - mean).collect());
        Self { rest: rest.collect(), queries: means.iter().copied().collect() }
    }

    /// Adds the moments of the same runs over further queries.
    pub fn merge(&mut self, other: &Self) {
        self.queries.merge(&other.queries);
        self.rest.iter_mut().zip(&other.rest).for_each(|(rest, more)| rest.merge(more));
    }
}

impl Anova {
    /// Computes the analysis of variance from the sum of each run's values and the moments in
    /// `spread`; `unit` is the rounding of values. `None` with fewer than two runs or two queries.
    pub fn from_sums(runs: &[ExactSum], spread: &Spread, unit: Unit) -> Option<Self> {
        let (m, n) = (runs.len(), spread.queries.count() as usize);
        if m < 2 || n < 2 {
            return None;
        }
        let means: Vec<f64> = runs.iter().map(|sum| sum.mean(n)).collect();
        let mut whole = ExactSum::default();
        runs.iter().for_each(|sum| whole.merge(sum));
        let whole = whole.mean(m * n);
        let error_df = ((m - 1) * (n - 1)) as f64;
        let error = spread.rest.iter().map(squared_distances).collect::<ExactSum>().value();
        // With two runs, the error is half the variance of their differences. The error counts as 0
        // if the variance of the differences counts as 0.
        let error = if (2.0 * error / error_df).sqrt() < 2.0 * unit.size() { 0.0 } else { error };
        // The mean of n queries of m runs is the mean of the runs' means, but rounded once: all
        // sums are merged before the division.
        let of_runs =
            means.iter().map(|mean| (mean - whole) * (mean - whole)).collect::<ExactSum>().value();
        Some(Self {
            runs: Effect::new(n as f64 * of_runs, (m - 1) as f64, error, error_df),
            queries: Effect::new(
                m as f64 * squared_distances(&spread.queries),
                (n - 1) as f64,
                error,
                error_df,
            ),
            means,
            error,
            error_df,
            count: n,
        })
    }

    /// Returns the standard error of a run's mean, from the residual variance of the analysis.
    fn mean_standard_error(&self) -> f64 {
        (self.error / self.error_df / self.count as f64).sqrt()
    }

    /// Returns the p of Tukey's test that the means of two runs are equal, corrected for all pairs
    /// of runs. If the error is 0, it is 1 for equal means, and else `None`.
    pub fn tukey_p(&self, left: usize, right: usize) -> Option<f64> {
        let difference = (self.means[left] - self.means[right]).abs();
        // Equal means say nothing even where the error is 0. Different ones then are certain beyond
        // any p, as in the paired t test.
        if difference == 0.0 {
            return Some(1.0);
        }
        (self.error > 0.0).then(|| {
            range_sf(difference / self.mean_standard_error(), self.means.len(), self.error_df)
        })
    }

    /// Returns half the width of Tukey's simultaneous intervals of all differences of two runs'
    /// means. With the chance `alpha`, some interval misses its difference.
    pub fn tukey_margin(&self, alpha: f64) -> f64 {
        if self.error > 0.0 {
            range_quantile(alpha, self.means.len(), self.error_df) * self.mean_standard_error()
        } else {
            0.0
        }
    }
}

impl Effect {
    /// Computes the F and the p of a factor from its sum of squares and that of the error.
    fn new(squares: f64, df: f64, error: f64, error_df: f64) -> Self {
        let f = (error > 0.0).then(|| squares / df / (error / error_df));
        Self { squares, df, f, p: f.map(|f| f_sf(f, df, error_df)) }
    }
}

/// Returns the sum of the squared distances of values from their mean, from the moments of the
/// values.
fn squared_distances(moments: &Moments) -> f64 {
    moments.std().map_or(0.0, |sd| sd * sd * (moments.count() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{examples, reference_values};

    fn anova_of_runs(runs: &[Vec<f64>]) -> Option<Anova> {
        reference_values::anova_of(runs)
    }

    /// For two runs F is t squared, and both tests have the p of t.
    #[test]
    fn two_runs_are_a_paired_test() {
        for runs in [examples::eight(), examples::fifty()] {
            let (anova, paired) =
                (anova_of_runs(&runs).unwrap(), reference_values::paired(&runs, [0, 1]));
            let (t, p) = (paired.t().unwrap(), paired.p().unwrap().two_sided);
            let near = |found: f64, known: f64| (found - known).abs() < 1e-11 * known;
            assert!(near(anova.runs.f.unwrap(), t * t));
            assert!(near(anova.runs.p.unwrap(), p));
            assert!(near(anova.tukey_p(0, 1).unwrap(), p));
            assert!(near(anova.tukey_p(1, 0).unwrap(), p));
            let [low, high] = paired.interval(0.05).unwrap();
            assert!(near(2.0 * anova.tukey_margin(0.05), high - low));
        }
    }

    #[test]
    fn the_order_of_runs_and_queries_changes_no_bit() {
        let runs = examples::twenty();
        let turned: Vec<Vec<f64>> =
            runs.iter().rev().map(|run| run.iter().rev().copied().collect()).collect();
        let (first, second) = (anova_of_runs(&runs).unwrap(), anova_of_runs(&turned).unwrap());
        assert_eq!(
            (first.runs, first.queries, first.error),
            (second.runs, second.queries, second.error)
        );
        for (i, j) in [(0, 1), (2, 4), (3, 4)] {
            assert_eq!(first.tukey_p(i, j), second.tukey_p(4 - i, 4 - j));
        }
    }

    #[test]
    fn runs_that_differ_by_a_constant_have_no_error() {
        let base = [0.1, 0.2, 0.35, 0.7];
        let runs: Vec<Vec<f64>> =
            [0.0, 0.1, 0.0].map(|plus| base.iter().map(|value| value + plus).collect()).into();
        let anova = anova_of_runs(&runs).unwrap();
        assert_eq!((anova.error, anova.runs.f, anova.queries.p), (0.0, None, None));
        assert_eq!([anova.tukey_p(0, 1), anova.tukey_p(0, 2)], [None, Some(1.0)]);
        assert_eq!(anova.tukey_margin(0.05), 0.0);
    }

    #[test]
    fn equal_runs_do_not_differ() {
        let run = vec![0.3, 0.9, 0.1];
        let anova = anova_of_runs(&[run.clone(), run.clone(), vec![0.2, 0.8, 0.6]]).unwrap();
        assert_eq!(anova.tukey_p(0, 1), Some(1.0));
        assert!(anova.tukey_p(0, 2).is_some_and(|p| p < 1.0));
        let anova = anova_of_runs(&[run.clone(), run]).unwrap();
        assert_eq!((anova.runs.squares, anova.runs.p, anova.tukey_p(0, 1)), (0.0, None, Some(1.0)));
    }

    #[test]
    fn too_little_is_none() {
        assert_eq!(anova_of_runs(&[]), None);
        assert_eq!(anova_of_runs(&[vec![0.1, 0.2]]), None);
        assert_eq!(anova_of_runs(&[vec![0.1], vec![0.2]]), None);
        assert!(anova_of_runs(&[vec![0.1, 0.2], vec![0.2, 0.1]]).is_some());
    }
}
