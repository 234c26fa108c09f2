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

/// Makes rows of columns: bit `c` of word `r` becomes bit `r` of word `c`.
pub(super) fn transpose(block: &mut [u64; 64]) {
    let (mut step, mut mask) = (32, u64::from(u32::MAX));
    while step > 0 {
        let mut at = 0;
        while at < 64 {
            let swapped = (block[at] >> step ^ block[at + step]) & mask;
            block[at] ^= swapped << step;
            block[at + step] ^= swapped;
            at = (at + step + 1) & !step;
        }
        step /= 2;
        mask ^= mask << step;
    }
}

/// The digits of a binary number for each bit of a word: a row is added by a few steps a word, and not by one for each bit.
type BitCounts = [u64; 8];

/// The rows that are added at a time, and how often before a count may be too large for its digits.
const ROWS: usize = 7;
const TIMES: usize = 255 / ROWS;

/// Adds to `sums` how many of the `rows` of `words` words have each bit.
pub(super) fn add_columns(rows: &[u64], words: usize, sums: &mut [u32]) {
    let mut counts: Vec<BitCounts> = vec![BitCounts::default(); words];
    for rows in rows.chunks(words * ROWS * TIMES) {
        counts.fill(BitCounts::default());
        for rows in rows.chunks(words * ROWS) {
            for (at, counts) in counts.iter_mut().enumerate() {
                // The last rows may be fewer.
                add_words(counts, |row| rows.get(row * words + at).copied().unwrap_or(0));
            }
        }
        for (sums, digits) in sums.chunks_mut(64).zip(&counts) {
            for (bit, sum) in sums.iter_mut().enumerate() {
                let value = |(at, digit): (usize, &u64)| (((digit >> bit) & 1) as u32) << at;
                *sum += digits.iter().enumerate().map(value).sum::<u32>();
            }
        }
    }
}

/// Adds the words of seven rows: first to each other, which gives three digits, and then these.
#[inline(always)]
fn add_words(counts: &mut BitCounts, word: impl Fn(usize) -> u64) {
    let add = |a: u64, b: u64, c: u64| (a ^ b ^ c, a & b | (a ^ b) & c);
    let (ones, twos) = add(word(0), word(1), word(2));
    let (more_ones, more_twos) = add(word(3), word(4), word(5));
    let (ones, last_twos) = add(ones, more_ones, word(6));
    let (twos, fours) = add(twos, more_twos, last_twos);
    let mut carry = 0;
    for (digit, of_rows) in counts.iter_mut().zip([ones, twos, fours, 0, 0, 0, 0, 0]) {
        (*digit, carry) = add(*digit, of_rows, carry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of bits that look random.
    fn rows(words: usize, rows: u64) -> Vec<u64> {
        let mix = |at: u64| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(at | 1);
        (0..rows * words as u64).map(mix).collect()
    }

    #[test]
    fn rows_become_columns() {
        let block: [u64; 64] = rows(1, 64).try_into().unwrap();
        let mut columns = block;
        transpose(&mut columns);
        for row in 0..64 {
            for column in 0..64 {
                assert_eq!(is_set(&columns, column * 64 + row), is_set(&block, row * 64 + column));
            }
        }
    }

    #[test]
    fn columns_are_added() {
        let rows = rows(3, 700);
        let mut sums = vec![1; 150];
        add_columns(&rows, 3, &mut sums);
        for (column, &sum) in sums.iter().enumerate() {
            let has = |row: &&[u64]| is_set(row, column);
            assert_eq!(sum, 1 + rows.chunks_exact(3).filter(has).count() as u32, "{column}");
        }
    }
}
