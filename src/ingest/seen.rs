//! What is seen of the scores of a run while it is ranked, and is worth a word: equal ones, contrary ranks, ties in f32.
//!
//! Nothing here looks at every result again: a query costs a few comparisons, and more only where two of its scores are very near.

use std::ops::Range;

use super::rank::sort_key;
use super::record::{Docnos, Record};
use crate::label::{Notice, ScoreType, Ties};

/// Counts of queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// With several results.
    several: u64,
    /// With several results that all have the same score.
    equal: u64,
    /// Where the first and the last line differ in score and rank column.
    compared: u64,
    /// Where these are contrary.
    contrary: u64,
    /// Where labels come in another order if scores are compared as f32.
    in_f32: u64,
}

impl Seen {
    /// Counts a query by the sort keys of its first and its last rank.
    pub fn scores(&mut self, best: u64, worst: u64) {
        self.several += 1;
        self.equal += u64::from(best == worst);
    }

    /// Counts a query in which f32 makes a difference, or not.
    pub fn in_f32(&mut self, differs: bool) {
        self.in_f32 += u64::from(differs);
    }

    /// Compares the rank columns of the first and the last line of a query with their scores.
    pub fn ranks(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let [first, .., last] = records else { return };
        let ranks = docnos.rank_column(first).zip(docnos.rank_column(last));
        let Some((one, other)) = ranks.filter(|(one, other)| one != other && first.key != last.key) else {
            return;
        };
        self.compared += 1;
        self.contrary += u64::from((one < other) != (first.key < last.key));
    }

    /// Adds what another worker has seen.
    pub fn merge(&mut self, other: Seen) {
        self.several += other.several;
        self.equal += other.equal;
        self.compared += other.compared;
        self.contrary += other.contrary;
        self.in_f32 += other.in_f32;
    }

    /// What of it is worth a word.
    pub fn notices(&self, ties: Ties) -> Vec<Notice> {
        let equal = self.several > 0 && self.equal == self.several;
        let contrary = self.contrary * 2 > self.compared;
        [
            equal.then_some(Notice::EqualScores { queries: self.several, ties }),
            contrary.then_some(Notice::ContraryRanks { queries: self.contrary, of: self.compared }),
            (self.in_f32 > 0).then_some(Notice::TiesInF32 { queries: self.in_f32 }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Two sort keys of scores that are equal as f32 differ by no more, unless the scores are [`beyond_f32`].
pub(super) const NEAR: u64 = 1 << 29;

/// Are there two different scores among these, descending, that are so small or so large that f32 may not tell them apart, however far
/// apart they are as f64?
pub(super) fn beyond_f32<T>(ranked: &[T], key: impl Fn(&T) -> u64) -> bool {
    let bound = |score: f32| sort_key(f64::from(score), ScoreType::F64);
    let within = |keys: Range<u64>| {
        let before = |bound: u64| ranked.partition_point(|result| key(result) < bound);
        match &ranked[before(keys.start)..before(keys.end)] {
            [first, .., last] => key(first) != key(last),
            _ => false,
        }
    };
    let small = 2.0 * f32::MIN_POSITIVE;
    within(bound(small)..bound(-small)) || within(0..bound(f32::MAX)) || within(bound(f32::MIN)..u64::MAX)
}

/// The sort key of a score that is compared as f32, from its key as f64.
pub(super) fn key_in_f32(key: u64) -> u64 {
    let bits = if key >> 63 == 0 { !key & !(1 << 63) } else { key };
    sort_key(f64::from_bits(bits), ScoreType::F32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(score: f64) -> u64 {
        sort_key(score, ScoreType::F64)
    }

    #[test]
    fn keys_in_f32_are_those_of_the_rounded_scores() {
        for score in [0.0, 1.0, 0.1, -0.1, 1e-50, -1e-50, 1e300, -1e300, 27.412345678, f64::MIN_POSITIVE] {
            assert_eq!(key_in_f32(key(score)), sort_key(score, ScoreType::F32), "{score:e}");
        }
    }

    /// Neighbours at every distance, of every size: those that f32 does not tell apart are near, or beyond it.
    #[test]
    fn what_is_equal_as_f32_is_near_or_beyond() {
        for exponent in -1074..1023 {
            for fraction in [1.0, 1.2345678912345678, 1.5, 1.9999999999] {
                for sign in [1.0, -1.0] {
                    let score: f64 = sign * fraction * 2f64.powi(exponent);
                    for apart in (0..60).map(|bit| 1u64 << bit) {
                        let other = f64::from_bits(score.to_bits().wrapping_add(apart));
                        if !other.is_finite() || other.is_sign_positive() != score.is_sign_positive() {
                            continue;
                        }
                        let mut keys = [key(score), key(other)];
                        keys.sort_unstable();
                        let near = keys[1] - keys[0] <= NEAR || beyond_f32(&keys, |&key| key);
                        assert!(key_in_f32(keys[0]) != key_in_f32(keys[1]) || near, "{score:e} {other:e}");
                    }
                }
            }
        }
        for ordinary in [&[2.0, 1.0, 0.0, 0.0, -1.0][..], &[0.0; 5], &[1e38, 1e-37, -1e-37, -1e38]] {
            let keys: Vec<u64> = ordinary.iter().map(|&score| key(score)).collect();
            assert!(!beyond_f32(&keys, |&key| key), "{ordinary:?}");
        }
    }
}
