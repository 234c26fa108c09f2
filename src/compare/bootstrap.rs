//! Bootstrap confidence intervals of the mean difference of two runs, by resampling queries.
//!
//! The interval is between percentiles of the resamples' means (Efron 1979), or between percentiles
//! corrected for bias and skewness (BCa; Efron 1987, "Better bootstrap confidence intervals").
//!
//! # Two kinds of resamples, as of the statistics of one run
//!
//! Below [`MANY`] queries a resample draws n of n queries with replacement, the bootstrap of the
//! textbooks. From [`MANY`] queries on, and always in parts of a comparison, the number of times a
//! resample takes a query is Poisson-distributed with mean 1 (Hanley and MacGibbon 2006). The count
//! follows from the query's id and the number of the resample. So sums of parts can be added in any
//! order.
//!
//! Counts of drawn queries sum to n and depend on one another, so no shard could draw its part
//! alone. As n grows, the counts tend to independent Poisson counts. A Poisson resample has a
//! random number of queries, so its sum is divided by the number of queries taken. A resample
//! without queries has no mean and is left out. For few queries, Poisson counts make intervals too
//! wide: by 25 % for 5 queries, 13 % for 8, 1 % for 100.
//!
//! # BCa, from its numbers
//!
//! ```text
//! z₀  = Φ⁻¹( share of resamples below the mean, equal ones counting half )
//! a   = Σ dᵢ³ / ( 6 · (Σ dᵢ²)^1.5 )            dᵢ = δᵢ − mean δ
//! end = percentile at Φ( z₀ + (z₀ + z) / (1 − a·(z₀ + z)) )        z = ±Φ⁻¹(1 − α/2)
//! ```
//!
//! The a of the jackknife is made of mean − meanᵢ, where meanᵢ leaves query i out. The difference
//! is dᵢ/(n − 1), and the factor 1/(n − 1) cancels. So a needs no n means with a query left out.

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::philox::{Philox, purpose};
use super::randomised::Pair;
use super::special::{normal_cdf, normal_quantile};
use super::unit::{self, Unit};
use crate::progress::{ProgressHandle, add_work, expect_work, is_stopped};
use crate::stats::{ExactSum, percentile, poisson_weight};

/// The number of resamples of an interval.
pub const RESAMPLES: u32 = 9_999;

/// The fewest queries with Poisson-distributed counts outside parts too.
pub const MANY: usize = 1000;

/// The method of drawing bootstrap resamples of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResampleKind {
    /// Draws with replacement from all queries, if the queries are few.
    Whole,
    /// Draws an independent count for each query, so that sums over different queries add up.
    Part,
}

/// The number of resamples that are made together.
const CHUNK: usize = 128;
/// The number of blocks of four resamples.
const BLOCKS: usize = CHUNK / 4;

/// Sums of the values of runs under bootstrap resamples of the queries. Sums over different queries
/// add up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Resamples {
    /// The number of queries in each resample, with repeats counted.
    pub taken: Vec<u64>,
    /// The sum of the values in each resample, `[series][resample]`.
    pub sums: Vec<Vec<i128>>,
}

impl Resamples {
    /// Draws bootstrap resamples of `queries`, hashes of ids, and sums each series, values in whole
    /// units, under them.
    #[cfg(feature = "parts")]
    pub fn draw(
        seed: u64,
        queries: &[u64],
        series: &[&[i64]],
        resamples: u32,
        kind: ResampleKind,
    ) -> Self {
        Self::watched(seed, queries, series, resamples, kind, None)
    }

    /// Computes the sums under bootstrap resamples as [`Resamples::draw`] does; `watch` sees the
    /// progress and can stop the work. If `watch` is told to stop, sums are incomplete and must not
    /// be used.
    pub fn watched(
        seed: u64,
        queries: &[u64],
        series: &[&[i64]],
        resamples: u32,
        kind: ResampleKind,
        watch: Option<&ProgressHandle>,
    ) -> Self {
        assert!(
            series.iter().all(|numbers| numbers.len() == queries.len()),
            "a number for each query"
        );
        let random = Philox::new(seed);
        let chunks = 0..resamples.div_ceil(CHUNK as u32);
        expect_work(watch, u64::from(chunks.end) * CHUNK as u64);
        let chunks: Vec<ResampleChunk> = chunks
            .into_par_iter()
            .map(|chunk| match kind {
                ResampleKind::Whole if queries.len() < MANY => {
                    let weights = drawn_together(random, queries.len(), chunk);
                    ResampleChunk::draw(|query, _| weights[query], queries, series, watch)
                }
                _ => ResampleChunk::draw(
                    |_, id| dispatch!(Level::new(), _simd => drawn(random, id, chunk)),
                    queries,
                    series,
                    watch,
                ),
            })
            .collect();
        // Chunks are made whole, so the last chunk may have more resamples than are wanted.
        let wanted = resamples as usize;
        let sums = (0..series.len())
            .map(|index| chunks.iter().flat_map(|chunk| chunk.sums[index]).take(wanted).collect());
        Self {
            sums: sums.collect(),
            taken: chunks.iter().flat_map(|chunk| chunk.taken).take(wanted).collect(),
        }
    }

    /// Adds the sums of the same bootstrap resamples over further queries.
    pub fn merge(&mut self, other: &Self) {
        let same = self.sums.len() == other.sums.len() && self.taken.len() == other.taken.len();
        assert!(same, "the same resamples of the same series");
        self.taken.iter_mut().zip(&other.taken).for_each(|(taken, more)| *taken += more);
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }

    /// Returns the mean difference of a pair of runs in each resample with any defined query;
    /// `without` is the series that is 1 for each query without a value.
    pub fn means(&self, pair: Pair, without: Option<usize>) -> ResampledMeans {
        let [baseline, run] = [&self.sums[pair.baseline], &self.sums[pair.run]];
        let sums = baseline.iter().zip(run).map(|(baseline, run)| run - baseline);
        // The mean is over the queries with a value, so the others that a resample took go off.
        let taken = self.taken.iter().enumerate().map(|(resample, &taken)| {
            let undefined = without.map_or(0, |series| self.sums[series][resample]);
            (i128::from(taken) - undefined) as u64
        });
        ResampledMeans { resamples: sums.zip(taken).filter(|&(_, taken)| taken > 0).collect() }
    }
}

/// The sums of the values of runs under a chunk of bootstrap resamples, over all queries.
struct ResampleChunk {
    taken: [u64; CHUNK],
    sums: Vec<[i128; CHUNK]>,
}

impl ResampleChunk {
    /// Sums the values of all queries under a chunk of resamples; `drawn` gives the counts of a
    /// query by its place and its hash.
    fn draw(
        drawn: impl Fn(usize, u64) -> [u16; CHUNK],
        queries: &[u64],
        series: &[&[i64]],
        watch: Option<&ProgressHandle>,
    ) -> Self {
        /// The number of queries whose sums fit an i64, of values up to 2⁵³: Poisson weights are 12
        /// at most, and 32 · 12 · 2⁵³ is below 2⁶²; the counts of drawn queries sum to less than
        /// `MANY`, and 1000 · 2⁵³ is below 2⁶³.
        const BATCH: usize = 32;
        let mut all = Self { taken: [0; CHUNK], sums: vec![[0; CHUNK]; series.len()] };
        let mut weights = [[0; CHUNK]; BATCH];
        let batches = queries.chunks(BATCH).take_while(|_| !is_stopped(watch));
        for (batch, queries) in batches.enumerate() {
            for ((at, weights), &query) in weights.iter_mut().enumerate().zip(queries) {
                *weights = drawn(batch * BATCH + at, query);
                all.taken
                    .iter_mut()
                    .zip(weights)
                    .for_each(|(taken, weight)| *taken += u64::from(*weight));
            }
            for (all, numbers) in all.sums.iter_mut().zip(series) {
                let mut sums = [0; CHUNK];
                // The last batch has fewer queries, and `zip` leaves out the weights of the batch
                // before, which lie behind those of the last.
                for (weights, number) in
                    weights.iter().zip(&numbers[batch * BATCH..][..queries.len()])
                {
                    sums.iter_mut()
                        .zip(weights)
                        .for_each(|(sum, &weight)| *sum += i64::from(weight) * number);
                }
                all.iter_mut().zip(sums).for_each(|(all, sum)| *all += i128::from(sum));
            }
        }
        add_work(watch, CHUNK as u64);
        all
    }
}

/// Returns the Poisson-distributed number of times that each resample of a chunk takes a query.
#[inline(always)]
fn drawn(random: Philox, query: u64, chunk: u32) -> [u16; CHUNK] {
    let words = random.blocks::<BLOCKS>(query, chunk * BLOCKS as u32, purpose::WEIGHTS);
    let mut weights = [0; CHUNK];
    // The four words of a block are those of four resamples in a row.
    for (word, words) in words.iter().enumerate() {
        let drawn = words.map(poisson_weight);
        drawn
            .iter()
            .enumerate()
            .for_each(|(block, &weight)| weights[4 * block + word] = u16::from(weight));
    }
    weights
}

/// Returns the number of times that each resample of a chunk takes each query when n of n queries,
/// fewer than [`MANY`], are drawn: `[query][resample]`. A draw follows from its number and that of
/// the resample, and a query from its place in the order of ids.
fn drawn_together(random: Philox, queries: usize, chunk: u32) -> Vec<[u16; CHUNK]> {
    let mut weights = vec![[0; CHUNK]; queries];
    for (resample, number) in (chunk * CHUNK as u32..).take(CHUNK).enumerate() {
        for block in 0..queries.div_ceil(4) {
            let words = random.block([block as u32, number, 0, purpose::DRAWS]);
            for word in words.into_iter().take(queries - 4 * block) {
                // Each place is as likely as the others to within 2⁻²².
                let place = (u64::from(word) * queries as u64) >> 32;
                weights[place as usize][resample] += 1;
            }
        }
    }
    weights
}

/// The mean differences of two runs under bootstrap resamples of the queries.
#[derive(Debug, Clone, PartialEq)]
pub struct ResampledMeans {
    /// The sum and the number of queries of each resample with any query.
    resamples: Vec<(i128, u64)>,
}

/// A BCa bootstrap interval of a mean difference, with the numbers behind the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bca {
    /// The number of resamples whose mean is less than the mean of all queries.
    pub less: u64,
    /// The number of resamples whose mean equals the mean of all queries.
    pub equal: u64,
    /// The distance of the median of the resamples from the mean, in standard deviations: z₀.
    pub bias: f64,
    /// The change of the standard deviation with the mean: a.
    pub acceleration: f64,
    /// The ends of the interval; `None` if the correction is too large for an interval.
    pub interval: Option<(f64, f64)>,
}

impl ResampledMeans {
    /// Returns the number of bootstrap resamples that took any query.
    pub fn len(&self) -> usize {
        self.resamples.len()
    }

    /// Returns the mean differences of the bootstrap resamples, ascending, as values and not in
    /// units.
    fn sorted(&self, unit: Unit) -> Vec<f64> {
        let mut means: Vec<f64> = self
            .resamples
            .iter()
            .map(|&(sum, taken)| sum as f64 / taken as f64 * unit.size())
            .collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Returns the percentile bootstrap interval of a mean difference, of confidence 1 − `alpha`;
    /// `None` without resamples.
    pub fn percentiles(&self, alpha: f64, unit: Unit) -> Option<(f64, f64)> {
        let means = self.sorted(unit);
        (!means.is_empty())
            .then(|| (percentile(&means, alpha / 2.0), percentile(&means, 1.0 - alpha / 2.0)))
    }

    /// Returns the BCa bootstrap interval of a mean difference, between percentiles that correct
    /// for bias and skewness. `deltas` are the differences of the pair.
    pub fn bca(&self, alpha: f64, unit: Unit, deltas: &[i64]) -> Bca {
        let (queries, sum) = (deltas.len() as i128, unit::sum(deltas));
        let tolerance = i128::from(unit::tolerance(deltas.len()));
        let (mut less, mut equal) = (0, 0);
        for &(resample_sum, taken) in &self.resamples {
            let taken = i128::from(taken);
            // resample_sum/taken is compared with sum/queries without a division: both times
            // taken · queries. So the tolerance of a mean, two units, becomes 2 · queries · taken.
            let differ = queries * resample_sum - sum * taken;
            equal += u64::from(differ.abs() <= tolerance * taken);
            less += u64::from(differ < -tolerance * taken);
        }
        // Ties count half, as in a rank that is the middle of its group. Values with few levels,
        // such as P@5, have resamples with exactly their mean, and counting these on one side would
        // shift the interval.
        let bias = normal_quantile((less as f64 + equal as f64 / 2.0) / self.len() as f64);
        let acceleration = acceleration(deltas);
        let z = normal_quantile(1.0 - alpha / 2.0);
        let [low, high] = [-z, z].map(|z| corrected_level(z, bias, acceleration));
        let means = self.sorted(unit);
        let ends = low.zip(high).filter(|_| !means.is_empty());
        let interval = ends.map(|(low, high)| (percentile(&means, low), percentile(&means, high)));
        Bca { less, equal, bias, acceleration, interval }
    }
}

/// Returns the level of the percentile at one end of a BCa bootstrap interval; `None` if the
/// correction is too large.
fn corrected_level(z: f64, bias: f64, acceleration: f64) -> Option<f64> {
    let shrink = 1.0 - acceleration * (bias + z);
    // At 0 the level has a pole, and beyond it the ends would change places. An infinite z₀ gives
    // no level either: −∞ or NaN here.
    (shrink > 0.0).then(|| normal_cdf(bias + (bias + z) / shrink)).filter(|level| !level.is_nan())
}

/// Returns the acceleration of a BCa interval, a sixth of the skewness of the mean difference; 0
/// where the differences do not vary.
fn acceleration(deltas: &[i64]) -> f64 {
    let (queries, sum) = (deltas.len() as i128, unit::sum(deltas));
    // In one unit and in whole numbers: times the number of queries.
    let errors: Vec<f64> =
        deltas.iter().map(|&delta| (queries * i128::from(delta) - sum) as f64).collect();
    let largest = errors.iter().fold(0.0f64, |largest, error| largest.max(error.abs()));
    // Differences that vary by rounding only have a skewness of rounding.
    if largest <= (queries * i128::from(unit::tolerance(1))) as f64 {
        return 0.0;
    }
    // A common factor cancels. With numbers up to 1 no cube leaves the range of f64.
    let (mut squares, mut cubes) = (ExactSum::default(), ExactSum::default());
    for error in errors.iter().map(|error| error / largest) {
        squares.add(error * error);
        cubes.add(error * error * error);
    }
    cubes.value() / (6.0 * squares.value().powf(1.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::examples::{self, SEED};

    const PAIR: Pair = Pair { baseline: 0, run: 1 };

    fn draw_resamples(runs: &[Vec<i64>]) -> Resamples {
        let series: Vec<&[i64]> = runs.iter().map(Vec::as_slice).collect();
        Resamples::draw(
            SEED,
            &examples::queries(series[0].len()),
            &series,
            RESAMPLES,
            ResampleKind::Part,
        )
    }

    fn near(pair: (f64, f64), expected: (f64, f64)) {
        let differ = (pair.0 - expected.0).abs().max((pair.1 - expected.1).abs());
        assert!(differ < 2e-13, "{pair:?}, expected {expected:?}");
    }

    #[test]
    fn weights_of_a_query() {
        let weights = drawn(Philox::new(SEED), examples::queries(1)[0], 0);
        assert_eq!(weights[..12], [0, 0, 0, 2, 1, 1, 1, 0, 0, 0, 1, 2]);
    }

    struct Expected {
        count: usize,
        first: (i128, u64),
        percentiles: (f64, f64),
        less: u64,
        equal: u64,
        bias: f64,
        acceleration: f64,
        bca: (f64, f64),
    }

    fn check(runs: &[Vec<f64>], expected: &Expected) {
        let unit = Unit::for_values(runs.iter().flatten().copied());
        let counts = examples::counts(runs);
        let resamples = draw_resamples(&counts);
        assert_eq!(resamples.taken.len(), RESAMPLES as usize);
        let means = resamples.means(PAIR, None);
        assert_eq!(means.len(), expected.count);
        assert_eq!(means.resamples[0], expected.first);
        near(means.percentiles(0.05, unit).unwrap(), expected.percentiles);
        let bca = means.bca(0.05, unit, &unit::deltas(&counts[0], &counts[1]));
        assert_eq!((bca.less, bca.equal), (expected.less, expected.equal));
        near((bca.bias, bca.acceleration), (expected.bias, expected.acceleration));
        near(bca.interval.unwrap(), expected.bca);
    }

    #[test]
    fn eight_queries() {
        check(
            &examples::eight(),
            &Expected {
                count: 9996,
                first: (169_324_790_677, 3),
                percentiles: (0.008_322_916_666_85, 0.073_861_111_111_3),
                less: 5100,
                equal: 24,
                bias: 0.028_590_891_870_9,
                acceleration: 0.016_861_151_716_1,
                bca: (0.010_692_240_033_7, 0.076_142_857_143_1),
            },
        );
    }

    #[test]
    fn fifty_queries() {
        check(
            &examples::fifty(),
            &Expected {
                count: 9999,
                first: (989_560_464_999, 47),
                percentiles: (-0.010_642_097_264_5, 0.052_631_578_947_4),
                less: 4881,
                equal: 22,
                bias: -0.026_952_211_603_6,
                acceleration: -0.026_540_896_300_6,
                bca: (-0.013_553_996_569_7, 0.050_000_000_000_1),
            },
        );
    }

    /// Sums are those of plain loops over 128-bit numbers, at the borders of batches, and also
    /// where 64 bits would overflow.
    #[test]
    fn sums_are_the_plain_ones() {
        for count in [0, 1, 31, 32, 33, 64, 100] {
            let queries = examples::queries(count);
            let large: Vec<i64> = (0..count as i64)
                .map(|at| if at % 3 == 0 { -(1 << 53) } else { (1 << 53) - at })
                .collect();
            let small: Vec<i64> = (0..count as i64).map(|at| at * at - 50).collect();
            let series: [&[i64]; 2] = [&large, &small];
            let resamples = Resamples::draw(SEED, &queries, &series, 300, ResampleKind::Part);
            for resample in 0..300u32 {
                let weight = |query: u64| {
                    let counter = [query as u32, (query >> 32) as u32, resample / 4, 1];
                    poisson_weight(Philox::new(SEED).block(counter)[resample as usize % 4])
                };
                let weights: Vec<u8> = queries.iter().map(|&query| weight(query)).collect();
                let at = resample as usize;
                assert_eq!(
                    resamples.taken[at],
                    weights.iter().map(|&weight| u64::from(weight)).sum::<u64>()
                );
                for (sums, numbers) in resamples.sums.iter().zip(series) {
                    let terms = weights.iter().zip(numbers);
                    let sum: i128 = terms
                        .map(|(&weight, &number)| i128::from(weight) * i128::from(number))
                        .sum();
                    assert_eq!(sums[at], sum);
                }
            }
        }
    }

    /// Few queries are drawn together: each resample takes as many as there are, and the share of
    /// resamples with each mean is that of all n^n ways to draw.
    #[test]
    fn few_queries_are_drawn() {
        const RESAMPLES: u32 = 40_000;
        let whole = |queries: usize, series: &[&[i64]]| {
            Resamples::draw(
                SEED,
                &examples::queries(queries),
                series,
                RESAMPLES,
                ResampleKind::Whole,
            )
        };
        let values = [1, 10, 100, 1000, 10_000];
        let resamples = whole(5, &[&values]);
        assert!(resamples.taken.iter().all(|&taken| taken == 5));
        let mut ways = std::collections::BTreeMap::new();
        for code in 0..5usize.pow(5) {
            let sum: i64 = (0..5).map(|place| values[code / 5usize.pow(place) % 5]).sum();
            *ways.entry(i128::from(sum)).or_insert(0) += 1;
        }
        assert_eq!(ways.len(), 126);
        let mut chi_squared = 0.0;
        for (sum, ways) in ways {
            let expected = f64::from(RESAMPLES) * f64::from(ways) / 3125.0;
            let found = resamples.sums[0].iter().filter(|&&found| found == sum).count() as f64;
            chi_squared += (found - expected).powi(2) / expected;
        }
        // The 99.9 % point with 125 degrees of freedom is 178.9.
        assert!((60.0..178.9).contains(&chi_squared), "{chi_squared}");
        // At the border no draw is made together any more.
        let series = |queries: usize| vec![1i64; queries];
        assert!(
            whole(MANY - 1, &[&series(MANY - 1)])
                .taken
                .iter()
                .all(|&taken| taken == MANY as u64 - 1)
        );
        assert!(whole(MANY, &[&series(MANY)]).taken.iter().any(|&taken| taken != MANY as u64));
    }

    #[test]
    fn parts_add_up_in_any_order() {
        let counts = examples::counts(&examples::fifty());
        let queries = examples::queries(50);
        let part = |range: std::ops::Range<usize>| {
            let series: Vec<&[i64]> = counts.iter().map(|run| &run[range.clone()]).collect();
            Resamples::draw(SEED, &queries[range], &series, 500, ResampleKind::Part)
        };
        let mut all = part(30..50);
        all.merge(&part(0..7));
        all.merge(&part(7..30));
        assert_eq!(all, part(0..50));
        let threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| part(0..50))
        };
        assert_eq!(threads(1), threads(3));
    }

    #[test]
    fn who_is_told_to_stop_adds_nothing() {
        let watch = ProgressHandle::default();
        let counts = examples::counts(&examples::fifty());
        let queries = examples::queries(50);
        let (series, kind) = ([&counts[0][..]], ResampleKind::Part);
        let draw = || Resamples::watched(SEED, &queries, &series, 300, kind, Some(&watch));
        assert_eq!(draw(), Resamples::draw(SEED, &queries, &series, 300, kind));
        watch.stop();
        assert!(draw().taken.iter().all(|&taken| taken == 0));
    }

    #[test]
    fn swapping_the_runs_negates() {
        let runs = examples::fifty();
        let unit = Unit::for_values([1.0]);
        let counts = examples::counts(&runs);
        let resamples = draw_resamples(&counts);
        let [there, back] =
            [PAIR, Pair { baseline: 1, run: 0 }].map(|pair| resamples.means(pair, None));
        let (low, high) = there.percentiles(0.1, unit).unwrap();
        near(back.percentiles(0.1, unit).unwrap(), (-high, -low));
        let there = there.bca(0.1, unit, &unit::deltas(&counts[0], &counts[1]));
        let back = back.bca(0.1, unit, &unit::deltas(&counts[1], &counts[0]));
        assert_eq!(there.equal, back.equal);
        let (low, high) = there.interval.unwrap();
        near(back.interval.unwrap(), (-high, -low));
        near((back.bias, back.acceleration), (-there.bias, -there.acceleration));
    }

    #[test]
    fn equal_differences_do_not_vary() {
        let unit = Unit::for_values([1.0]);
        for delta in [0.0, 0.125] {
            let runs = [vec![0.25; 30], vec![0.25 + delta; 30]];
            let counts = examples::counts(&runs);
            let means = draw_resamples(&counts).means(PAIR, None);
            near(means.percentiles(0.05, unit).unwrap(), (delta, delta));
            let bca = means.bca(0.05, unit, &unit::deltas(&counts[0], &counts[1]));
            assert_eq!((bca.less, bca.equal), (0, means.len() as u64));
            assert_eq!((bca.bias.abs() < 1e-15, bca.acceleration), (true, 0.0));
            near(bca.interval.unwrap(), (delta, delta));
        }
    }

    /// One query of many differs. Its skewness and the level leave no interval after the
    /// correction, so there is none.
    #[test]
    fn no_interval_where_the_correction_is_too_large() {
        let mut runs = [vec![0.2; 200], vec![0.2; 200]];
        runs[1][17] = 0.9;
        let counts = examples::counts(&runs);
        let means = draw_resamples(&counts).means(PAIR, None);
        let bca = |alpha| {
            means.bca(alpha, Unit::for_values([1.0]), &unit::deltas(&counts[0], &counts[1]))
        };
        let expected = 198.0 / (6.0 * (200.0f64 * 199.0).sqrt());
        assert!((bca(0.05).acceleration - expected).abs() < 1e-9);
        assert!(bca(0.05).interval.is_some());
        assert_eq!(bca(1e-12).interval, None);
    }

    #[test]
    fn no_interval_without_resamples() {
        let means =
            Resamples::draw(SEED, &[], &[&[], &[]], 100, ResampleKind::Whole).means(PAIR, None);
        assert_eq!((means.len(), means.percentiles(0.05, Unit::for_values([1.0]))), (0, None));
        assert_eq!(means.bca(0.05, Unit::for_values([1.0]), &[]).interval, None);
    }
}
