//! The paired t test: by how much two systems differ, query for query, how sure that is, and how
//! large.
//!
//! # What "equal" means here
//!
//! Sums are exact, but the values were rounded before the sum. So n equal differences rarely have a
//! standard deviation of exactly 0, and differences that cancel on paper rarely sum to exactly 0.
//! The unit of the measure decides both: a mean within two units is 0, and a standard deviation
//! below two units is 0. A standard deviation of 0 gives no t, rather than a t of 10¹² made by
//! rounding. The result is three cases:
//!
//! ```text
//! all differences 0       p = 1, interval [0, 0]: the runs are equal in these queries
//! all alike, and not 0    no t and no p: any p would be infinitely sure. The interval is the mean
//! else                    t = mean / (sd/√n) with n − 1 degrees of freedom
//! ```

use super::special::{stirling_error, student_quantile, student_sf, student_two_sided};
use super::unit::{Unit, is_zero};
use crate::measure::Direction;
use crate::stats::Moments;

/// The statistics of the paired differences of two runs over n queries. A difference is the run's
/// value minus the baseline's, whichever is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The number of queries, 1 or more.
    pub queries: usize,
    /// The mean difference; 0 for a mean within rounding.
    pub mean: f64,
    /// The standard deviation of the differences, n − 1 in the denominator; 0 if the differences
    /// vary by rounding only. `None` of one query.
    pub sd: Option<f64>,
    /// Whether the difference of every query is within rounding.
    pub all_zero: bool,
}

/// The p of one test of two runs: two-sided, and for each one-sided alternative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tails {
    /// The p for the alternative that the runs differ.
    pub two_sided: f64,
    /// The p for the alternative that the run's values are higher.
    pub higher: f64,
    /// The p for the alternative that the run's values are lower.
    pub lower: f64,
}

impl Tails {
    /// The p of data that say nothing.
    pub const ONE: Self = Self { two_sided: 1.0, higher: 1.0, lower: 1.0 };

    /// Returns the one-sided p for the alternative that the run is better than the baseline.
    pub fn better(self, better: Direction) -> f64 {
        if better == Direction::Lower { self.lower } else { self.higher }
    }

    /// Returns the one-sided p for the alternative that the run is worse than the baseline.
    pub fn worse(self, better: Direction) -> f64 {
        if better == Direction::Lower { self.higher } else { self.lower }
    }
}

impl Paired {
    /// Computes the statistics of paired differences from their moments; `unit` is the rounding of
    /// values. `all_zero` says that each difference is within rounding. `None` without differences,
    /// or if a difference or the standard deviation is not finite.
    pub fn from_moments(deltas: &Moments, all_zero: bool, unit: Unit) -> Option<Self> {
        let mean = deltas.mean().filter(|mean| mean.is_finite())?;
        let sd = deltas.std();
        if sd.is_some_and(|sd| !sd.is_finite()) {
            return None;
        }
        // A sum of n differences is zero within 2n units, and their mean within two. `all_zero` is
        // more than the mean being 0: gains and losses that cancel have a t of 0 and an interval of
        // some width.
        let is_zero = all_zero || mean.abs() <= 2.0 * unit.size();
        Some(Self {
            queries: deltas.count() as usize,
            mean: if is_zero { 0.0 } else { mean },
            sd: sd.map(|sd| if all_zero || sd < 2.0 * unit.size() { 0.0 } else { sd }),
            all_zero,
        })
    }

    /// Returns the degrees of freedom of the paired t test, n − 1.
    pub fn df(&self) -> f64 {
        (self.queries - 1) as f64
    }

    /// Returns the standard error of the mean difference.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.queries as f64).sqrt())
    }

    /// Returns the standard error of the mean difference, if the error is not 0.
    fn some_error(&self) -> Option<f64> {
        self.standard_error().filter(|&error| error > 0.0)
    }

    /// Returns the t statistic of the mean difference; `None` of one query, and if the standard
    /// deviation is 0.
    pub fn t(&self) -> Option<f64> {
        self.some_error().map(|error| self.mean / error)
    }

    /// Returns the p of the paired t test that the two runs are equal: 1 if all differences are 0.
    /// `None` for a single query, and if every query changes by an equal amount.
    pub fn p(&self) -> Option<Tails> {
        if self.all_zero && self.queries > 1 {
            return Some(Tails::ONE);
        }
        self.p_for_null(0.0)
    }

    /// Returns the p of the paired t test that the mean difference is `null`; `None` of one query,
    /// and if the standard deviation is 0.
    pub fn p_for_null(&self, null: f64) -> Option<Tails> {
        // Each tail is computed by itself: 1 less the other one would lose the digits of a small p.
        let (t, df) = ((self.mean - null) / self.some_error()?, self.df());
        Some(Tails {
            two_sided: student_two_sided(t, df),
            higher: student_sf(t, df),
            lower: student_sf(-t, df),
        })
    }

    /// Returns the t interval of the mean difference, of confidence 1 − `alpha`; the mean alone if
    /// the standard deviation is 0.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let error = self.standard_error()?;
        let margin =
            if error > 0.0 { -student_quantile(0.5 * alpha, self.df()) * error } else { 0.0 };
        Some([self.mean - margin, self.mean + margin])
    }

    /// Returns Cohen's d of paired data: the mean difference in standard deviations. `None` without
    /// a t.
    pub fn d_z(&self) -> Option<f64> {
        self.sd.filter(|&sd| sd > 0.0).map(|sd| self.mean / sd)
    }

    /// Returns Hedges' g of paired data: d without its bias. `None` for two queries, because the
    /// correction needs three.
    pub fn g_z(&self) -> Option<f64> {
        Some(hedges(self.df())? * self.d_z()?)
    }

    /// Returns the p of the two one-sided t tests (Schuirmann 1987) against a mean difference of
    /// −`margin` or lower, and of `margin` or higher. The systems are equal for practical purposes
    /// if both are small. `None` without a t.
    pub fn tost_p(&self, margin: f64) -> Option<[f64; 2]> {
        // Equivalence turns the burden round: each test has "worse by the margin or more" as what
        // is to be disproved, so too few queries do not show it.
        Some([self.p_for_null(-margin)?.higher, self.p_for_null(margin)?.lower])
    }

    /// Returns whether the mean difference is shown to be within ±`margin`. If the standard
    /// deviation is 0, the mean alone decides. `None` of one query.
    pub fn is_equivalent(&self, margin: f64, alpha: f64) -> Option<bool> {
        match self.tost_p(margin) {
            Some([below, above]) => Some(below.max(above) < alpha),
            None => self.sd.map(|_| self.mean.abs() < margin),
        }
    }
}

/// Returns Hedges' small-sample correction J = Γ(ν/2) / (√(ν/2) · Γ((ν−1)/2)), from 2 degrees of
/// freedom on (Hedges 1981).
pub fn hedges(df: f64) -> Option<f64> {
    // Γ(a + ½)/Γ(a) by Stirling: the large terms cancel on paper, and what is left is a·ln(1 +
    // 1/(2a)) − ½ and two small errors. For 10⁶ queries ln Γ would keep nine digits.
    let a = 0.5 * (df - 1.0);
    let errors = stirling_error(a + 0.5) - stirling_error(a);
    (df >= 2.0).then(|| (a / (a + 0.5)).sqrt() * (a * (0.5 / a).ln_1p() - 0.5 + errors).exp())
}

/// The numbers of queries in which a run is better than its baseline, tied with it, and worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WinCounts {
    /// The number of queries in which the run is better.
    pub wins: usize,
    /// The number of queries in which the runs are tied.
    pub ties: usize,
    /// The number of queries in which the run is worse.
    pub losses: usize,
}

impl WinCounts {
    /// Counts the queries that a run wins, ties and loses, from its differences from the baseline.
    /// `counts` are the `deltas` as multiples of a unit. Differences of at most `tie` are ties;
    /// without `tie`, differences within rounding are ties.
    pub fn count(deltas: &[f64], counts: &[i64], tie: Option<f64>, better: Direction) -> Self {
        let mut wins = Self { wins: 0, ties: 0, losses: 0 };
        for (&delta, &count) in deltas.iter().zip(counts) {
            if tie.map_or(is_zero(count), |most| delta.abs() <= most) {
                wins.ties += 1;
            } else if (delta > 0.0) == (better != Direction::Lower) {
                wins.wins += 1;
            } else {
                wins.losses += 1;
            }
        }
        wins
    }

    /// Returns the share of the queries that the run won, ties counting half.
    pub fn share(self) -> f64 {
        let all = self.wins + self.ties + self.losses;
        (self.wins as f64 + 0.5 * self.ties as f64) / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{examples, reference_values};
    use proptest::prelude::*;

    fn paired_of_deltas(deltas: &[f64]) -> Option<Paired> {
        let unit =
            Unit::for_values(deltas.iter().copied().filter(|delta| delta.is_finite()).chain([1.0]));
        reference_values::paired_of(deltas, &unit.counts(deltas), unit)
    }

    #[test]
    fn one_query_has_a_difference_alone() {
        for delta in [0.25, 0.0] {
            let paired = paired_of_deltas(&[delta]).unwrap();
            assert_eq!((paired.queries, paired.mean, paired.sd), (1, delta, None));
            assert_eq!((paired.t(), paired.p(), paired.interval(0.05)), (None, None, None));
            assert_eq!((paired.d_z(), paired.g_z(), paired.tost_p(0.1)), (None, None, None));
            assert_eq!(paired.is_equivalent(1.0, 0.05), None);
        }
    }

    /// One degree of freedom: P(|T| ≥ t) = 1 − 2·atan(t)/π.
    #[test]
    fn two_queries() {
        let paired = paired_of_deltas(&[0.25, 0.5]).unwrap();
        assert_eq!((paired.mean, paired.sd), (0.375, Some(0.125 * 2f64.sqrt())));
        let t = paired.t().unwrap();
        assert!((t - 3.0).abs() < 1e-15);
        let p = paired.p().unwrap();
        assert!((p.two_sided - (1.0 - 2.0 / std::f64::consts::PI * 3f64.atan())).abs() < 1e-15);
        assert!(paired.d_z().is_some() && paired.g_z().is_none());
        let [low, high] = paired.interval(0.05).unwrap();
        reference_values::digits(low, "-1.213275592");
        reference_values::digits(high, "1.963275592");
    }

    #[test]
    fn no_difference_is_certain() {
        // The third is but rounding.
        let paired = paired_of_deltas(&[0.0, -0.0, 0.1 + 0.2 - 0.3]).unwrap();
        assert!(paired.all_zero);
        assert_eq!((paired.mean, paired.sd, paired.t()), (0.0, Some(0.0), None));
        assert_eq!(paired.p(), Some(Tails::ONE));
        assert_eq!(paired.interval(0.05), Some([0.0, 0.0]));
        assert_eq!((paired.d_z(), paired.g_z(), paired.tost_p(0.1)), (None, None, None));
        assert_eq!(paired.is_equivalent(0.01, 0.05), Some(true));
        assert_eq!(paired.is_equivalent(0.0, 0.05), Some(false));
    }

    #[test]
    fn every_query_changes_by_the_same_amount() {
        let baseline = [0.1, 0.2, 0.3, 0.7];
        let deltas: Vec<f64> = baseline.iter().map(|value| value + 0.1 - value).collect();
        assert!(deltas.iter().any(|delta| *delta != deltas[0]));
        let paired = paired_of_deltas(&deltas).unwrap();
        assert!(!paired.all_zero && (paired.mean - 0.1).abs() < 1e-16);
        assert_eq!(
            (paired.sd, paired.t(), paired.p(), paired.d_z()),
            (Some(0.0), None, None, None)
        );
        assert_eq!(paired.interval(0.05), Some([paired.mean; 2]));
        assert_eq!(paired.is_equivalent(0.11, 0.05), Some(true));
        assert_eq!(paired.is_equivalent(0.09, 0.05), Some(false));
        // A deviation of a few units of rounding is one.
        assert!(paired_of_deltas(&[0.1, 0.1 + 1e-11]).unwrap().t().is_some());
    }

    #[test]
    fn what_is_none() {
        assert_eq!(paired_of_deltas(&[]), None);
        let odd = |deltas: [f64; 2]| {
            Paired::from_moments(&deltas.into_iter().collect(), false, Unit::for_values([1.0]))
        };
        assert!(odd([0.1, 0.2]).is_some());
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(odd([0.1, value]), None);
        }
        assert_eq!(odd([f64::INFINITY, f64::NEG_INFINITY]), None);
        assert_eq!(
            paired_of_deltas(&[f64::MAX, -f64::MAX]),
            None,
            "the standard deviation is too large"
        );
        assert!(paired_of_deltas(&[1e300, -1e300, 1e299]).unwrap().p().unwrap().two_sided > 0.9);
    }

    #[test]
    fn directions() {
        let runs = examples::fifty();
        let reference_values::KnownPair { values, counts, .. } =
            reference_values::pair(&runs, [0, 1]);
        let paired = reference_values::paired(&runs, [0, 1]);
        let p = paired.p().unwrap();
        assert_eq!([p.better(Direction::Higher), p.worse(Direction::Higher)], [p.higher, p.lower]);
        assert_eq!([p.better(Direction::Lower), p.worse(Direction::Lower)], [p.lower, p.higher]);
        let wins = |tie, better| {
            let WinCounts { wins, ties, losses } = WinCounts::count(&values, &counts, tie, better);
            [wins, ties, losses]
        };
        assert_eq!(wins(None, Direction::Lower), [8, 21, 21]);
        assert_eq!(wins(Some(0.1 + 1e-9), Direction::Higher), [4, 43, 3]);
        assert_eq!(wins(Some(1.0), Direction::Higher), [0, 50, 0]);
        let at_the_border =
            WinCounts::count(&[0.25, -0.25, 0.5], &[9, -9, 18], Some(0.25), Direction::Higher);
        assert_eq!(at_the_border, WinCounts { wins: 1, ties: 2, losses: 0 });
        assert_eq!(WinCounts { wins: 1, ties: 1, losses: 2 }.share(), 0.375);
    }

    /// Γ(1)/(√1·Γ(½)) = 1/√π and Γ(3/2)/(√(3/2)·Γ(1)); for many degrees of freedom 1 − 3/(4ν − 1).
    #[test]
    fn corrections_of_small_samples() {
        let root = std::f64::consts::PI.sqrt();
        assert!((hedges(2.0).unwrap() - 1.0 / root).abs() < 1e-15);
        assert!((hedges(3.0).unwrap() - 0.5 * root / 1.5f64.sqrt()).abs() < 1e-15);
        assert!((hedges(1e6).unwrap() - (1.0 - 3.0 / (4e6 - 1.0))).abs() < 1e-12);
        assert_eq!(hedges(1.0), None);
    }

    proptest! {
        /// Swapping the runs negates; the tails make 1; the interval misses 0 if and only if p is
        /// below its level; no p is NaN.
        #[test]
        fn symmetry(
            deltas in proptest::collection::vec(-1.0..1.0f64, 2..40),
            power in -300..300i32,
        ) {
            let deltas: Vec<f64> = deltas.iter().map(|delta| delta * 2f64.powi(power)).collect();
            let swapped: Vec<f64> = deltas.iter().map(|delta| -delta).collect();
            let (paired, swapped) =
                (paired_of_deltas(&deltas).unwrap(), paired_of_deltas(&swapped).unwrap());
            prop_assert_eq!(paired.mean, -swapped.mean);
            prop_assert_eq!(paired.sd, swapped.sd);
            if let (Some(p), Some(q)) = (paired.p(), swapped.p()) {
                prop_assert_eq!((p.two_sided, p.higher, p.lower), (q.two_sided, q.lower, q.higher));
                prop_assert!(
                    [p.two_sided, p.higher, p.lower].iter().all(|p| (0.0..=1.0).contains(p))
                );
                if paired.t().is_some() {
                    prop_assert!((p.higher + p.lower - 1.0).abs() < 1e-15);
                    prop_assert!((p.two_sided - 2.0 * p.higher.min(p.lower)).abs() < 1e-15);
                    let [low, high] = paired.interval(p.two_sided).unwrap();
                    prop_assert!(low.abs().min(high.abs()) <= 1e-9 * low.abs().max(high.abs()));
                }
            }
        }

        /// For differences of 0 and 1, t follows from the counts alone.
        #[test]
        fn zeros_and_ones(above in 1u32..50, below in 1u32..50, same in 0u32..50) {
            let deltas: Vec<f64> = [(1.0, above), (-1.0, below), (0.0, same)]
                .into_iter().flat_map(|(delta, count)| vec![delta; count as usize]).collect();
            let [a, b, n] = [above, below, above + below + same].map(f64::from);
            let variance = (a + b - (a - b).powi(2) / n) / (n - 1.0);
            let t = (a - b) / n / (variance / n).sqrt();
            let found = paired_of_deltas(&deltas).unwrap().t().unwrap();
            prop_assert!((found - t).abs() < 1e-12 * (1.0 + t.abs()));
        }
    }
}
