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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::flips::{CHUNK, Flips, WideInteger, are_narrow};
use super::paired::Tails;
use super::unit;
use crate::sort;

/// The indices of two compared runs, of which one is subtracted from the other. The difference is
/// the run's values less the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The index of the subtracted run.
    pub baseline: usize,
    /// The index of the run to subtract the baseline from.
    pub run: usize,
}

impl Pair {
    /// Returns the indices of the two runs of the pair: the run, then its baseline.
    pub(crate) fn runs(self) -> [usize; 2] {
        [self.run, self.baseline]
    }

    /// Returns the pair with both indices raised by `before`, for a list with as many more series
    /// in front.
    pub(super) fn shift(self, before: usize) -> Self {
        Self { baseline: before + self.baseline, run: before + self.run }
    }
}

/// A hypothesis of the randomisation test: a pair of runs and its observed sums of differences and
/// squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hypothesis {
    /// The pair.
    pub pair: Pair,
    /// The sum of its differences.
    pub sum: i128,
    /// The sum of the squares of its differences.
    pub squares: i128,
}

/// The pairs of runs that the randomisation test tests and corrects together.
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
    /// Returns whether the two runs differ in any query by more than rounding. The rounded sum of a
    /// pair that does not differ would make the sums of no other pair extreme.
    fn differs(&self, queries: usize) -> bool {
        self.squares > queries as i128
    }
}

impl Family {
    /// Makes the family of hypotheses that the randomisation test over `queries` queries tests
    /// together.
    pub fn new(queries: usize, hypotheses: Vec<Hypothesis>) -> Self {
        let weights = hypotheses.iter().map(|hypothesis| {
            if hypothesis.differs(queries) { 1.0 / (hypothesis.squares as f64).sqrt() } else { 0.0 }
        });
        let weights: Vec<f64> = weights.collect();
        // The observed statistic is rounded as those of draws are, and rounding is monotone: a draw
        // with as large a sum never has a smaller statistic.
        let seen: Vec<f64> = hypotheses
            .iter()
            .zip(&weights)
            .map(|(hypothesis, weight)| hypothesis.sum.size() * weight)
            .collect();
        let mut order: Vec<usize> =
            (0..hypotheses.len()).filter(|&at| weights[at] != 0.0).collect();
        sort::by_number(&mut order, |&at| -seen[at]);
        Self { hypotheses, tolerance: unit::tolerance(queries), weights, seen, order }
    }

    /// Makes the family of some pairs of runs from the values of the runs in whole units.
    #[cfg(feature = "parts")]
    pub fn from_pairs(series: &[&[i64]], pairs: &[Pair]) -> Self {
        let hypotheses = pairs.iter().map(|&pair| {
            let deltas = unit::deltas(series[pair.baseline], series[pair.run]);
            Hypothesis { pair, sum: unit::sum(&deltas), squares: unit::products(&deltas, &deltas) }
        });
        let queries = series.first().map_or(0, |numbers| numbers.len());
        Self::new(queries, hypotheses.collect())
    }

    /// Returns the pairs of the family with their observed sums of differences.
    pub fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    /// Returns the tolerance: sums of differences that differ by no more are equal.
    pub fn tolerance(&self) -> i64 {
        self.tolerance
    }
}

/// The numbers of random draws with a sum of differences as extreme as the observed sum, by
/// alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtremeCounts {
    /// The draws as far from zero.
    pub two_sided: u64,
    /// The draws as great or greater, for the alternative that the run's values are greater.
    pub greater: u64,
    /// The draws as little or less, for the alternative that the run's values are less.
    pub less: u64,
}

/// The counts of extreme random draws for each pair of a family, from which p follows. Tallies of
/// different draws add up.
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
    /// Makes an empty tally of random draws for a family of pairs.
    pub fn new(family: &Family) -> Self {
        let pairs = family.hypotheses.len();
        Self { draws: 0, counts: vec![ExtremeCounts::default(); pairs], stepped: vec![0; pairs] }
    }

    /// Adds the counts of other random draws for the same family of pairs.
    pub fn merge(&mut self, other: &Self) {
        self.draws += other.draws;
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            counts.two_sided += more.two_sided;
            counts.greater += more.greater;
            counts.less += more.less;
        }
        self.stepped.iter_mut().zip(&other.stepped).for_each(|(count, more)| *count += more);
    }

    /// Returns the p of a count of extreme draws: never 0, because the observed sum is one of the
    /// possible draws.
    pub fn p(&self, count: u64) -> f64 {
        p_of_count(count, self.draws)
    }

    /// Returns the count of extreme draws behind each pair's two-sided p corrected by maxT; `None`
    /// for a pair whose runs do not differ. Counts never fall along the order of the family.
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

    /// Counts the extreme draws of each pair of a family among `draws` random draws; `sums` writes
    /// the sums of the hypothesis at an index.
    fn count<T: WideInteger>(
        family: &Family,
        draws: usize,
        mut sums: impl FnMut(usize, &mut [T]),
    ) -> Self {
        let (mut draw_sums, mut largest) = ([T::default(); CHUNK], [0.0f64; CHUNK]);
        let (draw_sums, largest) = (&mut draw_sums[..draws], &mut largest[..draws]);
        let mut tally = Self { draws: draws as u64, ..Self::new(family) };
        // Pairs of equal runs come last. With weight 0, pairs of equal runs cannot raise the
        // largest statistic, and count for their own p only.
        // The others come from the smallest observed statistic up: `largest` is then the maximum of
        // a pair and all behind it.
        let alike = (0..family.hypotheses.len()).filter(|&at| family.weights[at] == 0.0);
        for at in family.order.iter().rev().copied().chain(alike) {
            let hypothesis = family.hypotheses[at];
            sums(at, draw_sums);
            let seen = T::try_from(hypothesis.sum).ok().expect("a sum of less than 2^63");
            let tolerance = T::new(family.tolerance);
            let (weight, weighed) = (family.weights[at], family.seen[at]);
            dispatch!(Level::new(), _simd => {
                tally.counts[at].add(seen, tolerance, draw_sums);
                tally.stepped[at] += raised(largest, draw_sums, tolerance, weight, weighed);
            });
        }
        tally
    }
}

/// Raises the largest statistic of each draw to that of a pair, and counts the draws whose largest
/// statistic then reaches the observed one.
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

/// Returns the p of a test by `draws` random draws, of which `count` are as extreme as the observed
/// data.
pub fn p_of_count(count: u64, draws: u64) -> f64 {
    (count + 1) as f64 / (draws + 1) as f64
}

#[inline(always)]
fn size<T: WideInteger>(value: T) -> T {
    value.max(-value)
}

impl ExtremeCounts {
    /// Returns the two-sided and the one-sided p of counts of extreme draws; `p` converts a count.
    pub(super) fn tails(self, p: impl Fn(u64) -> f64) -> Tails {
        Tails { two_sided: p(self.two_sided), higher: p(self.greater), lower: p(self.less) }
    }

    /// Counts the draws, given by their sums of differences, that are as extreme as the observed
    /// sum.
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

/// Counts the extreme draws of the pairs of some families, which share their random sign flips. The
/// indices of the pairs are those of `series`: values in whole units, all of the same queries in
/// the order of `flips`.
pub fn tallies(
    flips: &Flips<'_>,
    series: &[&[i64]],
    families: &[Family],
    draws: Range<u32>,
) -> Vec<DrawTally> {
    // Families may share pairs, and runs occur in many pairs: each is summed once.
    let pairs: BTreeSet<Pair> = families
        .iter()
        .flat_map(|family| family.hypotheses.iter().map(|hypothesis| hypothesis.pair))
        .collect();
    let runs: BTreeSet<usize> = pairs.iter().flat_map(|pair| pair.runs()).collect();
    // One more series costs more than a difference of two sums: differences are summed themselves
    // only if there are no more of them than runs.
    let deltas: Vec<Vec<i64>>;
    let sources: BTreeMap<Pair, SeriesSource>;
    let used: Vec<&[i64]> = if pairs.len() <= runs.len() {
        deltas = pairs
            .iter()
            .map(|pair| unit::deltas(series[pair.baseline], series[pair.run]))
            .collect();
        sources =
            pairs.into_iter().zip((0..).map(|plus| SeriesSource { plus, minus: None })).collect();
        deltas.iter().map(Vec::as_slice).collect()
    } else {
        let places: BTreeMap<usize, usize> = runs.iter().copied().zip(0..).collect();
        sources = pairs
            .into_iter()
            .map(|pair| {
                let [plus, minus] = pair.runs().map(|run| places[&run]);
                (pair, SeriesSource { plus, minus: Some(minus) })
            })
            .collect();
        runs.iter().map(|&run| series[run]).collect()
    };
    if are_narrow(&used) {
        whole_tallies::<i64>(flips, &used, families, draws, &sources)
    } else {
        whole_tallies::<i128>(flips, &used, families, draws, &sources)
    }
}

/// The source of a pair's sums under random signs: the series of its differences, or those of its
/// two runs.
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

/// Counts the extreme draws of the pairs of some families, with sums of the integer type `T`.
fn whole_tallies<T: WideInteger>(
    flips: &Flips<'_>,
    series: &[&[i64]],
    families: &[Family],
    draws: Range<u32>,
    sources: &BTreeMap<Pair, SeriesSource>,
) -> Vec<DrawTally> {
    // Once for each hypothesis here, and not again in each chunk.
    let sources = families.iter().map(|family| {
        let pairs = family.hypotheses.iter().map(|hypothesis| hypothesis.pair);
        pairs.map(|pair| sources[&pair]).collect::<Vec<SeriesSource>>()
    });
    let sources: Vec<_> = sources.collect();
    let chunks = flips.chunks(series, draws, |sums: &[&[T]]| {
        let draws = sums.first().map_or(0, |sums| sums.len());
        let tallies = families.iter().zip(&sources).map(|(family, sources)| {
            DrawTally::count(family, draws, |at, into| sources[at].write(sums, into))
        });
        tallies.collect()
    });
    merged(families, chunks)
}

/// Merges the counts of extreme draws of all chunks of draws, family by family.
fn merged(
    families: &[Family],
    chunks: impl ParallelIterator<Item = Vec<DrawTally>>,
) -> Vec<DrawTally> {
    chunks.reduce(
        || families.iter().map(DrawTally::new).collect(),
        |mut all, chunk| {
            all.iter_mut().zip(&chunk).for_each(|(all, tally)| all.merge(tally));
            all
        },
    )
}

/// The sums of a run's values under random signs, draw by draw, to which the sums of other queries
/// can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DrawSums {
    /// Sums that all fit 64 bits.
    Narrow(Vec<i64>),
    /// Sums of any size.
    Wide(Vec<i128>),
}

impl DrawSums {
    /// Computes the sums of each series under some draws of random signs.
    pub fn draw(flips: &Flips<'_>, series: &[&[i64]], draws: Range<u32>) -> Vec<Self> {
        if are_narrow(series) {
            gathered(flips, series, draws).into_iter().map(Self::Narrow).collect()
        } else {
            gathered(flips, series, draws).into_iter().map(Self::wide).collect()
        }
    }

    /// Stores the sums under random signs as i64 if all sums fit, else as i128. Equal sums
    /// therefore have equal forms.
    fn wide(sums: Vec<i128>) -> Self {
        let narrow: Result<Vec<i64>, _> = sums.iter().map(|&sum| sum.try_into()).collect();
        narrow.map_or(Self::Wide(sums), Self::Narrow)
    }

    /// Converts the sums under random signs to i64 if all sums fit.
    #[cfg(feature = "serde")]
    pub(super) fn narrowest(self) -> Self {
        match self {
            Self::Narrow(_) => self,
            Self::Wide(sums) => Self::wide(sums),
        }
    }

    /// Returns the number of draws of random signs.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(sums) => sums.len(),
            Self::Wide(sums) => sums.len(),
        }
    }

    /// Returns whether there are no draws of random signs.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the values under the random signs of one draw.
    pub fn get(&self, draw: usize) -> i128 {
        match self {
            Self::Narrow(sums) => sums[draw].into(),
            Self::Wide(sums) => sums[draw],
        }
    }

    /// Adds the sums of further queries under the same draws of random signs.
    pub fn merge(&mut self, other: &Self) {
        // 128 bits, because the total of two narrow sums may not fit 64 bits. The form is chosen
        // anew, so that equal sums have equal bytes in any order.
        assert_eq!(self.len(), other.len(), "the same draws");
        let sums = (0..self.len()).map(|draw| self.get(draw) + other.get(draw)).collect();
        *self = Self::wide(sums);
    }
}

fn gathered<T: WideInteger>(
    flips: &Flips<'_>,
    series: &[&[i64]],
    draws: Range<u32>,
) -> Vec<Vec<T>> {
    let mut all = vec![Vec::with_capacity(draws.len()); series.len()];
    let chunks = flips.chunks(series, draws, |sums: &[&[T]]| -> Vec<Vec<T>> {
        sums.iter().map(|sums| sums.to_vec()).collect()
    });
    for chunk in chunks.collect::<Vec<_>>() {
        all.iter_mut().zip(chunk).for_each(|(all, sums)| all.extend(sums));
    }
    all
}

/// Counts the extreme draws of the pairs of some families, from the kept sums of their runs under
/// random signs. The indices of the pairs are those of `series`.
pub fn tallies_of_sums(series: &[DrawSums], families: &[Family]) -> Vec<DrawTally> {
    let draws = series.first().map_or(0, DrawSums::len);
    let chunks = (0..draws.div_ceil(CHUNK)).into_par_iter().map(|chunk| {
        let start = chunk * CHUNK;
        let tallies = families.iter().map(|family| {
            DrawTally::count(family, CHUNK.min(draws - start), |at, into: &mut [i128]| {
                let [run, baseline] = family.hypotheses[at].pair.runs().map(|run| &series[run]);
                for (draw, sum) in (start..).zip(into) {
                    *sum = run.get(draw) - baseline.get(draw);
                }
            })
        });
        tallies.collect()
    });
    merged(families, chunks)
}
