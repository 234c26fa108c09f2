//! The randomised HSD test: the labels of the values of all runs are permuted within each query.
//!
//! If all systems are equal, any run could have had any other's value in each query. The difference
//! of a pair is compared with the largest difference between any two runs of a draw. So the p of
//! the pair is corrected for all pairs at once (Carterette 2012, "Multiple testing in statistical
//! analysis of systems-based information retrieval experiments").
//!
//! ```text
//!              run A  B  C              draw 0     draw 1
//! query 1        3  1  2       ──►      1 2 3      3 2 1       each row permuted by itself
//! query 2        5  5  4                5 4 5      4 5 5
//!              ─────────                ─────      ─────
//! sums           8  6  6                6 6 8      7 7 6       largest − smallest:  2, 1
//! ```
//!
//! Only the largest difference of a draw is needed, which is that of the largest and the smallest
//! sum: a draw costs its runs and not their pairs. All draws of a chunk are taken query by query,
//! so the values of a query are read once for 256 draws. The words of sixteen draws are made side
//! by side in vectors.

use std::ops::Range;

use rayon::prelude::*;

use super::flips::{WideInteger, are_narrow};
use super::philox::{Philox, purpose};
use super::randomised::Family;
use crate::progress::{ProgressHandle, add_work, expect_work, is_stopped};

/// The number of draws whose sums of all runs are made together.
const CHUNK: u32 = 256;
/// The number of draws whose words are made together.
const LANES: usize = 16;

/// Returns, for each pair of runs, the number of label permutations in which some two runs differ
/// as much as the pair, two-sided. The family's pairs are those of `runs`, which are values in
/// whole units by run, all of `queries`, which are hashes of ids. If `watch` is told to stop,
/// counts are of incomplete sums.
pub fn range_counts(
    seed: u64,
    queries: &[u64],
    runs: &[&[i64]],
    family: &Family,
    draws: Range<u32>,
    watch: Option<&ProgressHandle>,
) -> Vec<u64> {
    let limits: Vec<i128> = family
        .hypotheses()
        .iter()
        .map(|hypothesis| hypothesis.sum.abs() - i128::from(family.tolerance()))
        .collect();
    chunks(seed, queries, runs, draws, watch)
        .map(|ranges| -> Vec<u64> {
            let counts = limits
                .iter()
                .map(|limit| ranges.iter().filter(|range| *range >= limit).count() as u64);
            counts.collect()
        })
        .reduce(
            || vec![0; limits.len()],
            |mut all, more| {
                all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
                all
            },
        )
}

/// Returns the largest less the smallest sum of a run under each permutation of labels, chunk by
/// chunk.
fn chunks(
    seed: u64,
    queries: &[u64],
    runs: &[&[i64]],
    draws: Range<u32>,
    watch: Option<&ProgressHandle>,
) -> impl IndexedParallelIterator<Item = Vec<i128>> {
    assert!(runs.iter().all(|values| values.len() == queries.len()), "a value for each query");
    let random = Philox::new(seed);
    // Query by query, as a draw permutes the values of each query.
    let values: Vec<i64> =
        (0..queries.len()).flat_map(|query| runs.iter().map(move |run| run[query])).collect();
    // For every permutation, a run's sum is at most the sum over queries of the largest value in
    // each query. A series of these largest values therefore bounds all runs.
    let narrow = {
        let largest = values
            .chunks_exact(runs.len().max(1))
            .map(|row| row.iter().map(|value| value.abs()).max());
        let largest: Vec<i64> = largest.flatten().collect();
        are_narrow(&[&largest])
    };
    let count = draws.len().div_ceil(CHUNK as usize);
    expect_work(watch, draws.len() as u64);
    (0..count).into_par_iter().map(move |chunk| {
        let first = draws.start + chunk as u32 * CHUNK;
        let draws = first..draws.end.min(first.saturating_add(CHUNK));
        if narrow {
            ranges::<i64>(random, queries, &values, runs.len(), draws, watch)
        } else {
            ranges::<i128>(random, queries, &values, runs.len(), draws, watch)
        }
    })
}

fn ranges<T: WideInteger>(
    random: Philox,
    queries: &[u64],
    values: &[i64],
    runs: usize,
    draws: Range<u32>,
    watch: Option<&ProgressHandle>,
) -> Vec<i128> {
    let mut sums = vec![T::default(); draws.len() * runs];
    let mut words = vec![[[0; LANES]; 4]; runs.saturating_sub(1).div_ceil(4)];
    let mut permuted = vec![0; runs];
    // `chunks_exact` rejects a width of 0. Without runs there are no values, and so no chunk.
    let by_query = queries.iter().zip(values.chunks_exact(runs.max(1)));
    for (&query, values) in by_query.take_while(|_| !is_stopped(watch)) {
        for (lanes, sums) in sums.chunks_mut(LANES * runs).enumerate() {
            // Words are made for all lanes. Lanes behind the last draw may wrap, and stay unused.
            let first = draws.start.wrapping_add((lanes * LANES) as u32);
            for (four, words) in words.iter_mut().enumerate() {
                *words = random.blocks(query, first, purpose::labels(four));
            }
            for (lane, sums) in sums.chunks_exact_mut(runs).enumerate() {
                permuted.copy_from_slice(values);
                shuffle(&mut permuted, |swap| words[swap / 4][swap % 4][lane]);
                for (sum, &value) in sums.iter_mut().zip(&permuted) {
                    *sum = *sum + T::new(value);
                }
            }
        }
    }
    add_work(watch, draws.len() as u64);
    let ranges = sums.chunks_exact(runs.max(1)).map(|sums| {
        let [least, most] =
            [sums.iter().min(), sums.iter().max()].map(|sum| sum.map_or(0, |&sum| sum.into()));
        most - least
    });
    ranges.collect()
}

/// Permutes `items` in place by random words. All orders are equally likely to within 2⁻³² times
/// the number of items. From the last item down, each item changes places with an item at or before
/// its place, chosen by a random word (Fisher and Yates).
#[inline(always)]
fn shuffle<T>(items: &mut [T], word: impl Fn(usize) -> u32) {
    for (swap, last) in (1..items.len()).rev().enumerate() {
        // The upper half of word · (last + 1) is from 0 to `last`: no division, and no loop that
        // would make the number of words depend on their values.
        let with = (u64::from(word(swap)) * (last as u64 + 1)) >> 32;
        items.swap(last, with as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::examples::{self, SEED};
    use crate::compare::randomised::Pair;

    fn counts(runs: &[Vec<i64>], pairs: &[(usize, usize)], draws: Range<u32>) -> Vec<u64> {
        let runs: Vec<&[i64]> = runs.iter().map(Vec::as_slice).collect();
        let pairs: Vec<Pair> =
            pairs.iter().map(|&(baseline, run)| Pair { baseline, run }).collect();
        let queries = examples::queries(runs[0].len());
        range_counts(SEED, &queries, &runs, &Family::from_pairs(&runs, &pairs), draws, None)
    }

    fn all_pairs(runs: usize) -> Vec<(usize, usize)> {
        (0..runs)
            .flat_map(|baseline| (baseline + 1..runs).map(move |run| (baseline, run)))
            .collect()
    }

    /// Returns the range of a draw, computed anew from the definition.
    fn plain_range(queries: &[u64], runs: &[Vec<i64>], draw: u32) -> i128 {
        let mut sums = vec![0i128; runs.len()];
        for (at, &query) in queries.iter().enumerate() {
            let mut labels: Vec<usize> = (0..runs.len()).collect();
            for (swap, last) in (1..runs.len()).rev().enumerate() {
                let counter =
                    [query as u32, (query >> 32) as u32, draw, 2 + 256 * (swap as u32 / 4)];
                let word = Philox::new(SEED).block(counter)[swap % 4];
                let with = (u64::from(word) * (last as u64 + 1)) >> 32;
                labels.swap(last, with as usize);
            }
            sums.iter_mut()
                .zip(labels)
                .for_each(|(sum, label)| *sum += i128::from(runs[label][at]));
        }
        sums.iter().max().unwrap() - sums.iter().min().unwrap()
    }

    fn all_ranges(queries: &[u64], runs: &[Vec<i64>], draws: Range<u32>) -> Vec<i128> {
        let runs: Vec<&[i64]> = runs.iter().map(Vec::as_slice).collect();
        chunks(SEED, queries, &runs, draws, None).collect::<Vec<_>>().concat()
    }

    #[test]
    fn labels_of_a_query() {
        let query = examples::queries(1)[0];
        let labels = |draw| {
            let words = [0, 1]
                .map(|four| Philox::new(SEED).blocks::<1>(query, draw, purpose::labels(four)));
            let mut labels = [0, 1, 2, 3, 4];
            shuffle(&mut labels, |swap| words[swap / 4][swap % 4][0]);
            labels
        };
        assert_eq!(
            [0, 1, 2, 3].map(labels),
            [[2, 0, 3, 1, 4], [1, 0, 2, 3, 4], [3, 2, 4, 1, 0], [0, 1, 2, 4, 3]]
        );
    }

    #[test]
    fn twenty_queries_of_five_runs() {
        let runs = examples::counts(&examples::twenty());
        assert_eq!(all_ranges(&examples::queries(20), &runs, 0..1), [262_783_279_040]);
        let expected = [99948, 71115, 339, 368, 56283, 130, 145, 18032, 18753, 99999];
        assert_eq!(counts(&runs, &all_pairs(5), 0..99_999), expected);
    }

    /// Every range is the plain one, for numbers of runs whose swaps take one block of words, some,
    /// or a part of one, and for any split of draws.
    #[test]
    fn ranges_are_the_plain_ones() {
        for runs in [1, 2, 4, 5, 6, 9, 14] {
            let queries = examples::queries(11);
            let value = |run: usize, at: usize| (run * 7919 + at * 104_729) as i64 % 1009 - 500;
            let values: Vec<Vec<i64>> =
                (0..runs).map(|run| (0..11).map(|at| value(run, at)).collect()).collect();
            for draws in [0..300, 255..258, 7..7, 3..20] {
                let expected: Vec<i128> =
                    draws.clone().map(|draw| plain_range(&queries, &values, draw)).collect();
                assert_eq!(all_ranges(&queries, &values, draws), expected, "{runs} runs");
            }
        }
    }

    #[test]
    fn sums_beyond_64_bits() {
        let queries = examples::queries(600);
        let runs =
            [vec![1 << 53; 600], vec![-(1 << 53); 600], (0..600).map(|at| at << 43).collect()];
        let expected: Vec<i128> = (0..20).map(|draw| plain_range(&queries, &runs, draw)).collect();
        assert_eq!(all_ranges(&queries, &runs, 0..20), expected);
        assert_eq!(counts(&runs, &all_pairs(3), 0..20), [0, 0, 0]);
    }

    #[test]
    fn equal_runs_are_never_different() {
        let run: Vec<i64> = (0..30).map(|at| at * at).collect();
        assert_eq!(counts(&[run.clone(), run.clone(), run], &all_pairs(3), 0..1000), [1000; 3]);
    }
}
