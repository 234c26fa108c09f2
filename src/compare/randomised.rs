//! The randomisation test of pairs of runs, one by one and all pairs of a family together.
//!
//! A pair's p is the share of draws with a sum of differences as extreme as the observed sum. The
//! observed sum counts as a draw as well (Phipson and Smyth 2010, "Permutation p-values should
//! never be zero"). All pairs and measures share the flips. So the sum of a pair is the difference
//! of two runs' sums, and a draw has a largest statistic over the family. The step-down maxT
//! procedure (Westfall and Young 1993, algorithm 2.8; for retrieval Boytsov, Belova and Westfall
//! 2013) corrects for many pairs and takes into account how they depend on one another.
//!
//! # Why sums divided by √Σδ²
//!
//! The largest statistic of a family decides, so the statistics of its pairs must be of one scale.
//! The sum S of a pair's signed differences has the variance Σδ² over all signs, which no flip
//! changes. So r = S/√Σδ² needs one multiplication a draw, and r orders draws as the t statistic
//! does:
//!
//! ```text
//! t² = (n − 1) · r² / (n − r²)        n queries, alike for all pairs of the family
//! ```
//!
//! An increasing function that is the same for all pairs changes no maximum and no comparison. So
//! this is maxT over t, without a standard deviation a draw.
//!
//! # Step-down, from the last
//!
//! ```text
//! order        o₁     o₂     o₃         observed |r|, descending
//! of a draw    max(r₁, r₂, r₃)
//!              │      max(r₂, r₃)
//!              │      │      max(r₃)    computed from the right: one running maximum a draw
//! p            p₁  ≤  p₂  ≤  p₃         made to ascend from the left, as the procedure asks
//! ```
//!
//! So a family of any size costs a single pass over its pairs, and no draw is kept. Counts are
//! whole numbers: chunks add up in any order.

use std::collections::BTreeMap;
use std::ops::Range;

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::flips::{CHUNK, Flips, WideInteger, are_narrow};
use super::units;
use crate::sort;

/// Two runs that are compared, by their indices in the list of series. The difference is the run's
/// values less the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The index of the subtracted run.
    pub baseline: usize,
    /// The index of the run to subtract the baseline from.
    pub run: usize,
}

/// A pair with its observed sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hypothesis {
    /// The pair.
    pub pair: Pair,
    /// The sum of its differences.
    pub sum: i128,
    /// The sum of the squares of its differences.
    pub squares: i128,
}

/// Pairs that are tested together.
#[derive(Debug, Clone)]
pub struct Family {
    hypotheses: Vec<Hypothesis>,
    /// The tolerance: sums that differ by no more are equal.
    tolerance: i64,
    /// The weight of each sum, 1/√Σδ², or 0 for pairs without differences. Without weights, the
    /// pairs with the most varied differences would decide alone.
    weights: Vec<f64>,
    /// The observed sums, times their weights.
    seen: Vec<f64>,
    /// The indices of the hypotheses, from the largest of `seen` down, without those of pairs that
    /// do not differ.
    order: Vec<usize>,
}

impl Hypothesis {
    /// Whether the two runs differ in any query by more than rounding. The rounded sum of a pair
    /// that does not differ would make the sums of no other pair extreme.
    fn differs(&self, queries: usize) -> bool {
        self.squares > queries as i128
    }
}

impl Family {
    /// Makes a family of hypotheses over the same `queries`.
    pub fn new(queries: usize, hypotheses: Vec<Hypothesis>) -> Family {
        let weight = |of: &Hypothesis| {
            if of.differs(queries) { 1.0 / (of.squares as f64).sqrt() } else { 0.0 }
        };
        // The observed statistic is rounded as those of draws are, and rounding is monotone: a draw
        // with as large a sum never has a smaller statistic.
        let weights: Vec<f64> = hypotheses.iter().map(weight).collect();
        let seen: Vec<f64> =
            hypotheses.iter().zip(&weights).map(|(of, weight)| of.sum.size() * weight).collect();
        let mut order: Vec<usize> =
            (0..hypotheses.len()).filter(|&at| weights[at] != 0.0).collect();
        sort::by_number(&mut order, |&at| -seen[at]);
        Family { hypotheses, tolerance: units::tolerance(queries), weights, seen, order }
    }

    /// Makes the family of some pairs of series, which are values in whole units.
    #[cfg(feature = "parts")]
    pub fn of(series: &[&[i64]], pairs: &[Pair]) -> Family {
        let hypothesis = |&pair: &Pair| {
            let deltas = units::deltas(series[pair.baseline], series[pair.run]);
            Hypothesis {
                pair,
                sum: units::sum(&deltas),
                squares: units::products(&deltas, &deltas),
            }
        };
        let queries = series.first().map_or(0, |numbers| numbers.len());
        Family::new(queries, pairs.iter().map(hypothesis).collect())
    }

    /// The pairs with their observed sums.
    pub fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    /// The tolerance: sums of differences that differ by no more are equal.
    pub fn tolerance(&self) -> i64 {
        self.tolerance
    }
}

/// The numbers of draws that are as extreme as the observed sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtremeCounts {
    /// The draws as far from zero.
    pub two_sided: u64,
    /// The draws as great or greater, for the alternative that the run's values are greater.
    pub greater: u64,
    /// The draws as little or less, for the alternative that the run's values are less.
    pub less: u64,
}

/// Counts of draws for a family. Tallies of different draws add up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawTally {
    /// The number of draws.
    pub draws: u64,
    /// The counts of each pair.
    pub counts: Vec<ExtremeCounts>,
    /// For each pair, the number of draws in which this pair, or one behind it in the order of the
    /// step-down procedure, is as extreme.
    stepped: Vec<u64>,
}

impl DrawTally {
    /// Makes a tally of a family without any draw.
    pub fn new(family: &Family) -> DrawTally {
        let pairs = family.hypotheses.len();
        DrawTally {
            draws: 0,
            counts: vec![ExtremeCounts::default(); pairs],
            stepped: vec![0; pairs],
        }
    }

    /// Adds a tally of different draws for the same family.
    pub fn merge(&mut self, other: &DrawTally) {
        self.draws += other.draws;
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            counts.two_sided += more.two_sided;
            counts.greater += more.greater;
            counts.less += more.less;
        }
        self.stepped.iter_mut().zip(&other.stepped).for_each(|(count, more)| *count += more);
    }

    /// The p of a count: never 0, because the observed sum is one of the possible draws.
    pub fn p(&self, count: u64) -> f64 {
        p_of_count(count, self.draws)
    }

    /// Returns the count behind each pair's two-sided p corrected by maxT; `None` without a
    /// hypothesis, because the runs do not differ. Counts never fall along the order of the family.
    pub fn max_t(&self, family: &Family) -> Vec<Option<u64>> {
        let mut counts = vec![None; self.stepped.len()];
        // Invariant of the procedure: a hypothesis is not rejected before one with a larger
        // statistic, so its p is no smaller.
        let mut largest = 0;
        for &at in &family.order {
            largest = largest.max(self.stepped[at]);
            counts[at] = Some(largest);
        }
        counts
    }

    /// Adds `draws` draws; `sums` writes the sums of a pair.
    fn add<T: WideInteger>(
        &mut self,
        family: &Family,
        draws: usize,
        mut sums: impl FnMut(Pair, &mut [T]),
    ) {
        let (mut of, mut largest) = ([T::default(); CHUNK], [0.0f64; CHUNK]);
        let (of, largest) = (&mut of[..draws], &mut largest[..draws]);
        self.draws += draws as u64;
        // Pairs of equal runs come last. With weight 0, pairs of equal runs cannot raise the
        // largest statistic, and count for their own p only.
        let alike = (0..family.hypotheses.len()).filter(|&at| family.weights[at] == 0.0);
        for at in family.order.iter().rev().copied().chain(alike) {
            let hypothesis = family.hypotheses[at];
            sums(hypothesis.pair, of);
            let (seen, tolerance) = (T::fit(hypothesis.sum), T::new(family.tolerance));
            let (weight, weighed) = (family.weights[at], family.seen[at]);
            dispatch!(Level::new(), _simd => {
                self.counts[at].add(seen, tolerance, of);
                self.stepped[at] += raised(largest, of, tolerance, weight, weighed);
            });
        }
    }
}

/// Raises the largest statistic of each draw to the statistic of a pair. Counts the draws with a
/// largest statistic of at least the observed statistic.
#[inline(always)]
fn raised<T: WideInteger>(
    largest: &mut [f64],
    sums: &[T],
    tolerance: T,
    weight: f64,
    seen: f64,
) -> u64 {
    let mut count = 0;
    for (largest, &sum) in largest.iter_mut().zip(sums) {
        // The tolerance is added before the weight, in whole units. So a draw equal to the observed
        // sum within rounding reaches `seen`.
        let statistic = (size(sum) + tolerance).size() * weight;
        // Not `f64::max`, because `f64::max` also provides for NaN; the plain compare is one
        // instruction a lane.
        *largest = if statistic > *largest { statistic } else { *largest };
        count += u64::from(*largest >= seen);
    }
    count
}

/// The p of a test by `draws` random draws, of which `count` are as extreme as what was seen.
pub fn p_of_count(count: u64, draws: u64) -> f64 {
    (count + 1) as f64 / (draws + 1) as f64
}

#[inline(always)]
fn size<T: WideInteger>(of: T) -> T {
    of.max(-of)
}

impl ExtremeCounts {
    /// Adds the sums of some draws, counted against the observed one.
    #[inline(always)]
    fn add<T: WideInteger>(&mut self, seen: T, tolerance: T, sums: &[T]) {
        let extreme = size(seen) - tolerance;
        let (greater, less) = (seen - tolerance, seen + tolerance);
        for &sum in sums {
            // Truth values are added, without a branch that could not be predicted, and the loop
            // becomes vectors.
            self.two_sided += u64::from(size(sum) >= extreme);
            self.greater += u64::from(sum >= greater);
            self.less += u64::from(sum <= less);
        }
    }
}

/// The tallies of some families over some draws, which share their flips. The indices of the pairs
/// are those of `series`: values in whole units, all of the same queries in the order of `flips`.
pub fn tallies(
    flips: &Flips<'_>,
    series: &[&[i64]],
    families: &[Family],
    draws: Range<u32>,
) -> Vec<DrawTally> {
    let pairs = families.iter().flat_map(|family| family.hypotheses.iter().map(|of| of.pair));
    let mut places: BTreeMap<Pair, usize> = pairs.map(|pair| (pair, 0)).collect();
    places.values_mut().enumerate().for_each(|(place, of)| *of = place);
    let mut runs: Vec<usize> = places.keys().flat_map(|pair| [pair.baseline, pair.run]).collect();
    runs.sort_unstable();
    runs.dedup();
    // One more series costs more than a difference of two sums: differences are summed themselves
    // only if there are no more of them than runs.
    if places.len() <= runs.len() {
        let deltas: Vec<Vec<i64>> = places
            .keys()
            .map(|pair| units::deltas(series[pair.baseline], series[pair.run]))
            .collect();
        let deltas: Vec<&[i64]> = deltas.iter().map(Vec::as_slice).collect();
        let of = |pair| SeriesSource { plus: places[&pair], minus: None };
        of_series(flips, &deltas, families, draws, of)
    } else {
        let used: Vec<&[i64]> = runs.iter().map(|&run| series[run]).collect();
        let place = |run| runs.binary_search(&run).expect("a run of a pair");
        let of =
            |pair: Pair| SeriesSource { plus: place(pair.run), minus: Some(place(pair.baseline)) };
        of_series(flips, &used, families, draws, of)
    }
}

/// The source of a pair's sums: one series, or two.
#[derive(Clone, Copy)]
struct SeriesSource {
    plus: usize,
    minus: Option<usize>,
}

impl SeriesSource {
    #[inline(always)]
    fn write<T: WideInteger>(self, sums: &[&[T]], into: &mut [T]) {
        into.copy_from_slice(sums[self.plus]);
        if let Some(minus) = self.minus {
            into.iter_mut().zip(sums[minus]).for_each(|(sum, &minus)| *sum = *sum - minus);
        }
    }
}

fn of_series(
    flips: &Flips<'_>,
    series: &[&[i64]],
    families: &[Family],
    draws: Range<u32>,
    source: impl Fn(Pair) -> SeriesSource + Sync,
) -> Vec<DrawTally> {
    if are_narrow(series) {
        of_whole::<i64>(flips, series, families, draws, source)
    } else {
        of_whole::<i128>(flips, series, families, draws, source)
    }
}

fn of_whole<T: WideInteger>(
    flips: &Flips<'_>,
    series: &[&[i64]],
    families: &[Family],
    draws: Range<u32>,
    source: impl Fn(Pair) -> SeriesSource + Sync,
) -> Vec<DrawTally> {
    let chunk = |sums: &[&[T]]| {
        let draws = sums.first().map_or(0, |sums| sums.len());
        let tally = |family| {
            let mut tally = DrawTally::new(family);
            tally.add(family, draws, |pair, into: &mut [T]| source(pair).write(sums, into));
            tally
        };
        families.iter().map(tally).collect()
    };
    merged(families, flips.chunks(series, draws, chunk))
}

/// The tallies of all chunks together.
fn merged(
    families: &[Family],
    chunks: impl ParallelIterator<Item = Vec<DrawTally>>,
) -> Vec<DrawTally> {
    let merge = |mut all: Vec<DrawTally>, chunk: Vec<DrawTally>| {
        all.iter_mut().zip(&chunk).for_each(|(all, tally)| all.merge(tally));
        all
    };
    chunks.reduce(|| families.iter().map(DrawTally::new).collect(), merge)
}

/// The sums of a series draw by draw, to which the sums of other queries can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DrawSums {
    /// Sums that all fit 64 bits.
    Narrow(Vec<i64>),
    /// Sums of any size.
    Wide(Vec<i128>),
}

impl DrawSums {
    /// The sums of each series under some draws.
    pub fn of(flips: &Flips<'_>, series: &[&[i64]], draws: Range<u32>) -> Vec<DrawSums> {
        if are_narrow(series) {
            gathered(flips, series, draws).into_iter().map(DrawSums::Narrow).collect()
        } else {
            gathered(flips, series, draws).into_iter().map(DrawSums::wide).collect()
        }
    }

    /// Stores sums as i64 if all sums fit, else as i128. Equal sums therefore have equal forms.
    fn wide(sums: Vec<i128>) -> DrawSums {
        let narrow: Result<Vec<i64>, _> = sums.iter().map(|&sum| sum.try_into()).collect();
        narrow.map_or(DrawSums::Wide(sums), DrawSums::Narrow)
    }

    /// Converts the sums to i64 if all sums fit.
    #[cfg(feature = "serde")]
    pub(super) fn narrowest(self) -> DrawSums {
        match self {
            DrawSums::Narrow(_) => self,
            DrawSums::Wide(sums) => DrawSums::wide(sums),
        }
    }

    /// The number of draws.
    pub fn len(&self) -> usize {
        match self {
            DrawSums::Narrow(sums) => sums.len(),
            DrawSums::Wide(sums) => sums.len(),
        }
    }

    /// Whether there are no draws.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of a draw.
    pub fn get(&self, draw: usize) -> i128 {
        match self {
            DrawSums::Narrow(sums) => sums[draw].into(),
            DrawSums::Wide(sums) => sums[draw],
        }
    }

    /// Adds the sums of further queries under equal draws.
    pub fn merge(&mut self, other: &DrawSums) {
        // 128 bits, because the total of two narrow sums may not fit 64 bits. The form is chosen
        // anew, so that equal sums have equal bytes in any order.
        assert_eq!(self.len(), other.len(), "the same draws");
        let sums = (0..self.len()).map(|draw| self.get(draw) + other.get(draw)).collect();
        *self = DrawSums::wide(sums);
    }
}

fn gathered<T: WideInteger>(
    flips: &Flips<'_>,
    series: &[&[i64]],
    draws: Range<u32>,
) -> Vec<Vec<T>> {
    let mut all = vec![Vec::with_capacity(draws.len()); series.len()];
    let copied = |sums: &[&[T]]| sums.iter().map(|sums| sums.to_vec()).collect();
    let chunks: Vec<Vec<Vec<T>>> = flips.chunks(series, draws, copied).collect();
    for chunk in chunks {
        all.iter_mut().zip(chunk).for_each(|(all, sums)| all.extend(sums));
    }
    all
}

/// The tallies of some families from the sums of their runs over all queries. The indices of the
/// pairs are those of `series`.
pub fn tallies_of_sums(series: &[DrawSums], families: &[Family]) -> Vec<DrawTally> {
    let draws = series.first().map_or(0, DrawSums::len);
    let chunk = |chunk: usize| {
        let start = chunk * CHUNK;
        let write = |pair: Pair, into: &mut [i128]| {
            let sum = |draw| series[pair.run].get(draw) - series[pair.baseline].get(draw);
            into.iter_mut().enumerate().for_each(|(at, of)| *of = sum(start + at));
        };
        let tally = |family| {
            let mut tally = DrawTally::new(family);
            tally.add(family, CHUNK.min(draws - start), write);
            tally
        };
        families.iter().map(tally).collect()
    };
    merged(families, (0..draws.div_ceil(CHUNK)).into_par_iter().map(chunk))
}
