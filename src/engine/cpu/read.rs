//! Reading labels without computing anything, a yardstick for the speed of the CPU's folds.

use fearless_simd::{Simd, SimdBase, dispatch, u8x64};

use super::Cpu;

impl Cpu {
    /// Reads every label but the last few once and computes no fold, a yardstick for the speed of
    /// folds.
    pub fn read(&self, labels: &[u8]) -> u8 {
        dispatch!(self.level, simd => read(simd, labels))
    }
}

#[inline(always)]
fn read<S: Simd>(simd: S, labels: &[u8]) -> u8 {
    let mut sums = [u8x64::splat(simd, 0); 4];
    for labels in labels.chunks_exact(256) {
        for (sum, labels) in sums.iter_mut().zip(labels.chunks_exact(64)) {
            *sum ^= u8x64::from_slice(simd, labels);
        }
    }
    sums.iter().fold(0, |sum, s| sum ^ s.as_array()[0] ^ s.as_array()[63])
}
