//! Tests of the direction of differences, not of their mean: Wilcoxon's signed ranks, and signs
//! alone.
//!
//! # Exact p by counting subsets
//!
//! If the systems are equal, both signs of each rank have equal chances. So W⁺ is the sum of a
//! random subset of the ranks, and p is the share of the 2ⁿ subsets with a sum as small:
//!
//! ```text
//! ways[size][sum] += ways[size − 1][sum − rank]        for each rank, sizes from large to small so
//!                                                      that a rank is used once
//! ```
//!
//! Tied ranks become their mean, perhaps with a half, so all ranks are doubled and stay whole. With
//! 50 ranks the table has 50 · 2,550 cells, and u64 and f64 hold counts up to 2⁵⁰ subsets exactly.
//! Ties change neither bound.
//!
//! Pratt's zeros push all other ranks up by the number of zeros, `before`. The push is alike for
//! all ranks of a subset, so it adds `before` times the size of the subset to the sum. The table
//! therefore keeps sizes apart; with the push in the sums, the table would grow with the number of
//! zeros.
//!
//! # The normal approximation
//!
//! W⁺ has the mean Σr/2 and the variance Σr²/4: with mean ranks the variance is n(n + 1)(2n + 1)/24
//! less the correction for ties, Σ(t³ − t)/48, without a formula for ties. The approximation has no
//! correction for continuity, like SciPy by default; R's `wilcox.test` corrects by default.

use super::paired::Tails;
use super::special::{coin_cdf, normal_cdf};
use super::unit::{is_tied, is_zero};

/// The most nonzero differences with an exact test.
const MOST_EXACT: usize = 50;

/// The treatment of differences of 0 in Wilcoxon's signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    /// Differences of 0 are left out before ranking (Wilcoxon 1945).
    #[default]
    Wilcox,
    /// Differences of 0 are ranked, and then their ranks are left out (Pratt 1959).
    Pratt,
}

/// The way in which the p of Wilcoxon's signed-rank test is computed: exact where it can be, or
/// normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Exactly up to 50 differences that are not 0, else by the normal approximation.
    #[default]
    Auto,
    /// By the normal approximation.
    Normal,
}

/// The result of Wilcoxon's signed-rank test of two runs: its rank sums and its p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRanks {
    /// The sum of the ranks of differences above 0.
    pub above: f64,
    /// The sum of the ranks of differences below 0.
    pub below: f64,
    /// Whether p is exact.
    pub exact: bool,
    /// The p; 1 if all differences are 0.
    pub p: Tails,
}

/// Computes Wilcoxon's signed-rank test of the differences of two runs, in whole units.
pub fn signed_ranks(deltas: &[i64], zeros: Zeros, method: Method) -> SignedRanks {
    let mut sizes: Vec<(u64, bool)> = deltas
        .iter()
        // Rounding is no direction: ±1 unit would have the lowest rank and a random sign.
        .filter(|&&delta| !is_zero(delta))
        .map(|delta| (delta.unsigned_abs(), *delta > 0))
        .collect();
    sizes.sort_unstable();
    let before = match zeros {
        Zeros::Wilcox => 0,
        Zeros::Pratt => deltas.len() - sizes.len(),
    };
    let ranks = Ranks { before: 2 * before as u64, doubled: doubled_midranks(&sizes) };
    let (mut above, mut below) = (0u128, 0u128);
    for (rank, &(_, is_above)) in ranks.doubled.iter().zip(&sizes) {
        *(if is_above { &mut above } else { &mut below }) += u128::from(rank + ranks.before);
    }
    let exact = method == Method::Auto && sizes.len() <= MOST_EXACT;
    let p = match sizes.is_empty() {
        true => Tails::ONE,
        false if exact => ranks.exact(above, below),
        false => ranks.normal(above, below),
    };
    SignedRanks { above: above as f64 / 2.0, below: below as f64 / 2.0, exact, p }
}

/// Returns the ranks of the sizes of differences, each times two, tied ones with their mean rank.
/// Sizes are sorted.
fn doubled_midranks(sizes: &[(u64, bool)]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sizes.len());
    // Ties are a chain: of neighbours within two units each, the first and the last may be farther
    // apart.
    for group in sizes.chunk_by(|left, right| is_tied(left.0 as i64, right.0 as i64)) {
        let (first, last) = (ranks.len() + 1, ranks.len() + group.len());
        ranks.resize(last, (first + last) as u64);
    }
    ranks
}

/// The doubled ranks of the nonzero differences in Wilcoxon's test, whose signs are random if the
/// runs are equal.
struct Ranks {
    /// The part that is common to all ranks.
    before: u64,
    /// The ranks without the common part.
    doubled: Vec<u64>,
}

impl Ranks {
    /// Returns the exact p of Wilcoxon's test: the share of all signs under which the ranks above 0
    /// sum to no more, or to no less.
    fn exact(&self, above: u128, below: u128) -> Tails {
        // Under all signs both sums have the same distribution.
        let (lower, higher) = (self.share_up_to(above), self.share_up_to(below));
        Tails { two_sided: (2.0 * lower.min(higher)).min(1.0), higher, lower }
    }

    /// Returns the share of all subsets of the ranks that sum to at most `most`.
    fn share_up_to(&self, most: u128) -> f64 {
        let total: u64 = self.doubled.iter().sum();
        let mut ways = vec![vec![0u64; total as usize + 1]; self.doubled.len() + 1];
        ways[0][0] = 1;
        for (count, &rank) in self.doubled.iter().enumerate() {
            for size in (0..=count).rev() {
                let (smaller, larger) = ways.split_at_mut(size + 1);
                let sums = larger[0][rank as usize..].iter_mut().zip(&smaller[size]);
                sums.for_each(|(sum, without)| *sum += without);
            }
        }
        let few = ways.iter().enumerate().map(|(size, ways)| {
            // Sums from `before · size` up to `most`: an empty range if the zeros alone push a
            // subset of this size beyond it.
            let sums = (u128::from(self.before) * size as u128..=most).zip(ways);
            sums.map(|(_, ways)| ways).sum::<u64>()
        });
        few.sum::<u64>() as f64 / (1u64 << self.doubled.len()) as f64
    }

    /// Returns the p of Wilcoxon's test by the normal approximation, without correction for
    /// continuity.
    fn normal(&self, above: u128, below: u128) -> Tails {
        let squares: u128 =
            self.doubled.iter().map(|rank| u128::from(rank + self.before).pow(2)).sum();
        // A doubled rank is in the sum or not: it adds a quarter of its square to the variance. W⁺
        // − W⁻ is 2·(W⁺ − mean), and ranks are doubled: the factors of 4 cancel, so z is (above −
        // below)/√Σd² with d = 2r.
        let z = (above as f64 - below as f64) / (squares as f64).sqrt();
        Tails {
            two_sided: 2.0 * normal_cdf(-z.abs()),
            higher: normal_cdf(-z),
            lower: normal_cdf(z),
        }
    }
}

/// Returns the p of the sign test of `above` differences above 0 and `below` differences below 0; 1
/// where there are none.
pub fn signs(above: u64, below: u64) -> Tails {
    let all = above + below;
    let (higher, lower) = (coin_cdf(below, all), coin_cdf(above, all));
    Tails { two_sided: (2.0 * higher.min(lower)).min(1.0), higher, lower }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the p of all signs of the ranks, one by one.
    fn by_hand(deltas: &[i64], zeros: Zeros) -> Tails {
        let is_ranked = |delta: &&i64| zeros == Zeros::Pratt || !is_zero(**delta);
        let ranked: Vec<i64> = deltas.iter().filter(is_ranked).copied().collect();
        let doubled_rank = |delta: i64| {
            let smaller = ranked.iter().filter(|other| other.abs() < delta.abs()).count();
            let equal = ranked.iter().filter(|other| other.abs() == delta.abs()).count();
            (2 * smaller + equal + 1) as u64
        };
        let signed: Vec<(u64, bool)> = ranked
            .iter()
            .filter(|delta| !is_zero(**delta))
            .map(|&delta| (doubled_rank(delta), delta > 0))
            .collect();
        let seen: u64 = signed.iter().filter(|rank| rank.1).map(|rank| rank.0).sum();
        let (mut lower, mut higher) = (0, 0);
        for signs in 0..1u64 << signed.len() {
            let of_sign = |at: &usize| signs >> at & 1 == 1;
            let sum: u64 = (0..signed.len()).filter(of_sign).map(|at| signed[at].0).sum();
            lower += u64::from(sum <= seen);
            higher += u64::from(sum >= seen);
        }
        let [lower, higher] =
            [lower, higher].map(|count| count as f64 / (1u64 << signed.len()) as f64);
        Tails { two_sided: (2.0 * lower.min(higher)).min(1.0), higher, lower }
    }

    #[test]
    fn without_differences() {
        for deltas in [&[][..], &[0], &[1, -1, 0]] {
            for zeros in [Zeros::Wilcox, Zeros::Pratt] {
                for method in [Method::Auto, Method::Normal] {
                    let found = signed_ranks(deltas, zeros, method);
                    assert_eq!((found.above, found.below, found.p), (0.0, 0.0, Tails::ONE));
                }
            }
        }
        assert_eq!(signs(0, 0), Tails::ONE);
    }

    #[test]
    fn one_difference_says_nothing() {
        let found = signed_ranks(&[5], Zeros::Wilcox, Method::Auto);
        assert_eq!(found.p, Tails { two_sided: 1.0, higher: 0.5, lower: 1.0 });
        assert_eq!(signs(1, 0), found.p);
    }

    #[test]
    fn sizes_that_differ_by_rounding_are_tied() {
        let found = signed_ranks(&[100, -102, 104, -107, 1, 2], Zeros::Wilcox, Method::Auto);
        assert_eq!([found.above, found.below], [3.0 + 3.0 + 1.0, 3.0 + 5.0]);
        let found = signed_ranks(&[100, -103], Zeros::Wilcox, Method::Auto);
        assert_eq!([found.above, found.below], [1.0, 2.0]);
        let found = signed_ranks(&[i64::MAX, i64::MIN + 1, 7], Zeros::Wilcox, Method::Auto);
        assert_eq!([found.above, found.below], [3.5, 2.5]);
    }

    #[test]
    fn fifty_are_exact_and_more_are_not() {
        let deltas: Vec<i64> = (1..=51).map(|at| at * 10).collect();
        let fifty = signed_ranks(&deltas[..50], Zeros::Wilcox, Method::Auto);
        assert!(fifty.exact);
        assert_eq!(
            fifty.p,
            Tails { two_sided: 2f64.powi(-49), higher: 2f64.powi(-50), lower: 1.0 }
        );
        assert!(!signed_ranks(&deltas, Zeros::Wilcox, Method::Auto).exact);
        // Zeros do not count, however many there are.
        let zeros: Vec<i64> = deltas[..50].iter().copied().chain(vec![0; 100_000]).collect();
        let pratt = signed_ranks(&zeros, Zeros::Pratt, Method::Auto);
        assert!(pratt.exact && pratt.p == fifty.p);
        assert_eq!(pratt.above, fifty.above + 50.0 * 100_000.0);
    }

    /// The variance by its formula, if nothing is tied: n(n+1)(2n+1)/24, less the same of the
    /// zeros.
    #[test]
    fn variances() {
        let deltas: Vec<i64> =
            (1..=60).map(|at| if at % 3 == 0 { -10 * at } else { 10 * at }).collect();
        let found = signed_ranks(&deltas, Zeros::Wilcox, Method::Auto);
        let spread = |n: f64| n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
        let z = (found.below - 60.0 * 61.0 / 4.0) / spread(60.0).sqrt();
        assert!((found.p.two_sided - 2.0 * normal_cdf(z)).abs() < 1e-15);
        assert!((found.p.higher - normal_cdf(z)).abs() < 1e-15 && found.p.lower > 0.9);
        let with_zeros: Vec<i64> = deltas.iter().copied().chain([0; 15]).collect();
        let found = signed_ranks(&with_zeros, Zeros::Pratt, Method::Auto);
        let mean = (75.0 * 76.0 - 15.0 * 16.0) / 4.0;
        let z = (found.below - mean) / (spread(75.0) - spread(15.0)).sqrt();
        assert!((found.p.two_sided - 2.0 * normal_cdf(z)).abs() < 1e-15);
    }

    #[test]
    fn a_million_differences() {
        let deltas: Vec<i64> =
            (0..1_000_000).map(|at| if at % 2 == 0 { 10 + at } else { -10 - at }).collect();
        let found = signed_ranks(&deltas, Zeros::Pratt, Method::Auto);
        assert_eq!(found.above + found.below, 1e6 * 1_000_001.0 / 2.0);
        assert!(found.p.two_sided > 0.5 && found.p.two_sided <= 1.0);
    }

    proptest! {
        #[test]
        fn exact_p_are_those_of_all_signs(
            deltas in proptest::collection::vec(-4..=4i64, 0..13),
            pratt: bool,
        ) {
            let deltas: Vec<i64> = deltas.iter().map(|delta| 10 * delta).collect();
            let zeros = if pratt { Zeros::Pratt } else { Zeros::Wilcox };
            prop_assert_eq!(signed_ranks(&deltas, zeros, Method::Auto).p, by_hand(&deltas, zeros));
        }

        /// For differences of one size the signed ranks are the signs.
        #[test]
        fn equal_sizes_are_signs(above in 0usize..25, below in 0usize..25) {
            let deltas = [vec![9; above], vec![-9; below]].concat();
            let found = signed_ranks(&deltas, Zeros::Wilcox, Method::Auto).p;
            let known = signs(above as u64, below as u64);
            for (found, known) in [
                (found.two_sided, known.two_sided),
                (found.higher, known.higher),
                (found.lower, known.lower),
            ] {
                prop_assert!((found - known).abs() <= 1e-12 * known);
            }
        }
    }
}
