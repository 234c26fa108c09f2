//! Poisson variates of mean 1, for bootstraps that weigh queries instead of drawing them.

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

/// The variate that 32 random bits give, by inversion.
#[inline(always)]
pub fn poisson_weight(bits: u32) -> u8 {
    AT_MOST.iter().map(|&most| u8::from(bits >= most)).sum()
}
