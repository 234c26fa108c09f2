//! The exact randomisation test: all flips of the signs of few paired differences are counted,
//! without random draws.
//!
//! The differences are cut into two halves, and the sums of all flips of each half are sorted. For
//! each left sum, a pointer into the right sums counts the large ones among the 2ⁿ totals (the
//! algorithm of Horowitz and Sahni 1974 for subset sums). So 2⁴⁰ flips are counted in about 2²⁰
//! steps.
//!
//! ```text
//! sizes     |δ₁| … |δ₂₀|              |δ₂₁| … |δ₄₀|
//! sums      left, ascending           right, ascending           2²⁰ each, 8 MiB
//!             −9  −5  −1   3 …          … −4   0   4   8
//! limit 3      └── walks up               walks down ──┘         left + right ≥ 3
//! ```
//!
//! As the left sum grows, the right sum that just reaches the limit can only fall. So the pointer
//! passes each list once, and all right sums behind the pointer count at once.
//!
//! Differences of 0 are left out, because flipping a 0 doubles all counts alike. Signs are left out
//! too, because the flips of |δ| and of δ have equal sets of sums. Each set holds the negative of
//! every sum. So "at most −x" is "at least x", and one function serves both tails.

use super::paired::Tails;
use super::randomised::ExtremeCounts;
use super::unit::{self, LARGEST};

/// The most nonzero differences with an exact count of flips: 20 differences, a half, have about a
/// million sums.
pub const MAX_DIFFERENCES: usize = 40;

/// The counts of the sign flips, among all 2ⁿ, with a sum of differences as extreme as the observed
/// sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactCounts {
    /// The number of differences that are not zero, n.
    pub nonzero: u32,
    /// Counts of flips as extreme as the observed flip, including the observed flip.
    pub counts: ExtremeCounts,
}

impl ExactCounts {
    /// Counts all sign flips of the differences of a pair of runs; `None` if more than
    /// [`MAX_DIFFERENCES`] are not zero.
    pub fn count(deltas: &[i64]) -> Option<Self> {
        let nonzero: Vec<i64> =
            deltas.iter().copied().filter(|&delta| !unit::is_zero(delta)).collect();
        if nonzero.len() > MAX_DIFFERENCES {
            return None;
        }
        // Invariant: `nonzero` has every difference farther from 0 than rounding. Each difference
        // left out may move a sum by one unit, and the tolerance of all queries covers these units.
        let sizes: Vec<i64> = nonzero.iter().map(|delta| delta.abs()).collect();
        // Forty of them fit an i64.
        assert!(
            sizes.iter().all(|&size| size <= 2 * LARGEST),
            "differences of values in whole units"
        );
        let (left, right) = sizes.split_at(sizes.len() / 2);
        let (left, right) = (flipped(left), flipped(right));
        let (sum, tolerance) = (nonzero.iter().sum::<i64>(), unit::tolerance(deltas.len()));
        // Both tails have as many flips. Where the limit is above 0 they have none in common; at 0
        // and below every flip is as extreme.
        let two_sided = match sum.abs() - tolerance {
            ..=0 => 1 << sizes.len(),
            limit => 2 * pairs_at_least(&left, &right, limit),
        };
        let counts = ExtremeCounts {
            two_sided,
            greater: pairs_at_least(&left, &right, sum - tolerance),
            less: pairs_at_least(&left, &right, -(sum + tolerance)),
        };
        Some(Self { nonzero: nonzero.len() as u32, counts })
    }

    /// Returns the two-sided and the one-sided p of the exact randomisation test.
    pub fn tails(self) -> Tails {
        self.counts.tails(|count| self.p(count))
    }

    /// Returns `count` as a share of all 2ⁿ sign flips.
    pub fn p(&self, count: u64) -> f64 {
        count as f64 / 2f64.powi(self.nonzero as i32)
    }
}

/// Returns the sums of numbers under all choices of their signs, ascending.
fn flipped(sizes: &[i64]) -> Vec<i64> {
    sizes.iter().fold(vec![0], |sums, &size| {
        // Sums less `size` and sums more `size` ascend as the sums do. A merge keeps the order
        // without a sort, in 2ⁿ steps and not n·2ⁿ.
        let mut below = sums.iter().map(|sum| sum - size).peekable();
        let mut above = sums.iter().map(|sum| sum + size).peekable();
        let ascending = std::iter::from_fn(|| match (below.peek(), above.peek()) {
            (Some(low), Some(high)) if low > high => above.next(),
            (Some(_), _) => below.next(),
            (None, _) => above.next(),
        });
        ascending.collect()
    })
}

/// Returns the number of pairs of a number from the left and one from the right, both sorted, that
/// sum to `limit` or more.
fn pairs_at_least(left: &[i64], right: &[i64], limit: i64) -> u64 {
    let (mut from, mut count) = (right.len(), 0);
    for number in left {
        while from > 0 && number + right[from - 1] >= limit {
            from -= 1;
        }
        count += (right.len() - from) as u64;
    }
    count
}
