//! Poisson variates of mean 1, for bootstraps that weigh queries instead of drawing queries.
//!
//! Inversion: the variate is the number of k for which 32 random bits, as a fraction, are at least
//! P(X ≤ k). Twelve comparisons have no branch, so a block of weights becomes vectors. The
//! thresholds are 2³²·P(X ≤ k) rounded to whole numbers; variates above 12 have a chance of some
//! 6·10⁻¹¹, less than one step. With these thresholds the mean is exactly 1, and the variance is 1
//! to within 2·10⁻⁹.

/// 2³² times the chance of a variate of at most 0, 1, … 11.
const AT_MOST: [u32; 12] = [
    0x5e2d_58d9,
    0xbc5a_b1b1,
    0xeb71_5e1e,
    0xfb23_9797,
    0xff10_25f6,
    0xffd9_0f3c,
    0xfffa_8b72,
    0xffff_540c,
    0xffff_ed1f,
    0xffff_fe21,
    0xffff_ffd5,
    0xffff_fffc,
];

/// Returns a Poisson variate of mean 1, the weight of a query in a bootstrap, from 32 random bits.
#[inline(always)]
pub fn poisson_weight(bits: u32) -> u8 {
    AT_MOST.iter().map(|&most| u8::from(bits >= most)).sum()
}
