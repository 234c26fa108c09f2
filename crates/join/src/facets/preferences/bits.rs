//! Rows of bits.

/// The number of bits of a row that are set in all of the masks.
pub(super) fn ones(row: &[u64], mask: impl Fn(usize) -> u64) -> u64 {
    let count = |(at, word): (usize, &u64)| u64::from((word & mask(at)).count_ones());
    row.iter().enumerate().map(count).sum()
}

pub(super) fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

pub(super) fn is_set(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

pub(super) fn zeros(bits: &mut Vec<u64>, words: usize) {
    bits.clear();
    bits.resize(words, 0);
}
