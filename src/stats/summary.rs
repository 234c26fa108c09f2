//! Statistics over the values of queries: averages, the median, extremes and confidence intervals.

use rayon::prelude::*;

use super::aggregate::ExactSum;
use super::binomial;
use super::moments::Moments;
use super::poisson::poisson_weight;
use super::undefined::{defined, is_undefined};
use crate::measure::{Average, Measure, Range};

/// The name of a number in reports, such as `mean` or `ci95_low`, that follows from the values of
/// queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatName {
    /// The value of one query.
    Value,
    /// The arithmetic mean.
    Mean,
    /// The sum, of counts.
    Sum,
    /// The geometric mean.
    GeometricMean,
    /// The median.
    Median,
    /// The sample standard deviation.
    Std,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The lower end of the 95 % confidence interval of the average.
    Ci95Low,
    /// The upper end of the 95 % confidence interval of the average.
    Ci95High,
    /// The average of the best values over all orders of equal scores.
    Best,
    /// The average of the worst values over all orders of equal scores.
    Worst,
    /// The average of the order that the join made, less the expected average.
    Bias,
    /// The number of queries whose value depends on the order of equal scores.
    Varying,
    /// The number of queries in which documents of equal scores and different labels lie on both
    /// sides of the cutoff.
    Across,
}

impl StatName {
    /// Every name, as it is written in reports, in the order of the variants.
    pub const ALL: [(&'static str, Self); 15] = [
        ("value", Self::Value),
        ("mean", Self::Mean),
        ("sum", Self::Sum),
        ("gmean", Self::GeometricMean),
        ("median", Self::Median),
        ("std", Self::Std),
        ("min", Self::Min),
        ("max", Self::Max),
        ("ci95_low", Self::Ci95Low),
        ("ci95_high", Self::Ci95High),
        ("best", Self::Best),
        ("worst", Self::Worst),
        ("bias", Self::Bias),
        ("varying", Self::Varying),
        ("across", Self::Across),
    ];

    /// Returns the name of the number as it is written in reports, such as `ci95_low`.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

named!(StatName, "a name of a statistic");

/// A statistic over the values of queries that an evaluation can be asked for, such as the median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stat {
    /// The measure's own average: arithmetic mean, sum, or geometric mean.
    Average,
    /// The median; the mean of the two middle values if the number of values is even.
    Median,
    /// The sample standard deviation, n − 1 in the denominator; not defined for one query.
    Std,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// A 95 % confidence interval of the average, not defined for one query: the exact binomial one
    /// (Clopper and Pearson 1934) for measures that are 0 or 1, else the percentiles of 1000 seeded
    /// resamples of the queries, multinomial below 1000 queries and Poisson above.
    Ci95,
}

impl Stat {
    /// Every statistic, by the name of the command line.
    pub const ALL: [(&'static str, Self); 6] = [
        ("mean", Self::Average),
        ("median", Self::Median),
        ("std", Self::Std),
        ("min", Self::Min),
        ("max", Self::Max),
        ("ci95", Self::Ci95),
    ];

    /// Returns the names of the numbers that the statistic consists of, such as both ends of an
    /// interval. The average has none here: its name depends on the measure.
    pub fn names(self) -> &'static [StatName] {
        match self {
            Self::Average => &[],
            Self::Median => &[StatName::Median],
            Self::Std => &[StatName::Std],
            Self::Min => &[StatName::Min],
            Self::Max => &[StatName::Max],
            Self::Ci95 => &[StatName::Ci95Low, StatName::Ci95High],
        }
    }

    /// Returns whether the statistic needs the values of all queries at once, as a median does;
    /// then a summary cannot give it.
    pub fn needs_values(self) -> bool {
        matches!(self, Self::Median | Self::Ci95)
    }

    /// Returns whether the statistic follows from the [`Moments`] of the values of queries.
    pub fn needs_moments(self) -> bool {
        matches!(self, Self::Std | Self::Min | Self::Max)
    }

    /// Computes a statistic that follows from the moments of the values; `None` without values, and
    /// for a spread of one value.
    pub fn compute(self, moments: &Moments) -> Option<(StatName, f64)> {
        match self {
            Self::Std => moments.std().map(|std| (StatName::Std, std)),
            Self::Min => moments.min().map(|min| (StatName::Min, min)),
            Self::Max => moments.max().map(|max| (StatName::Max, max)),
            Self::Average | Self::Median | Self::Ci95 => None,
        }
    }

    /// Returns whether the statistic measures how much values vary, and so needs two values or
    /// more.
    pub fn is_spread(self) -> bool {
        matches!(self, Self::Std | Self::Ci95)
    }
}

named!(Stat, "a statistic");

/// The number of resamples of a bootstrap.
const RESAMPLES: u64 = 1000;
/// The seed of every bootstrap. A constant gives equal values the same interval, on every machine.
const SEED: u64 = 0x6c61_6e65_7661_6c31;

/// The number of queries from which on a resample is Poisson and not multinomial.
const MANY: usize = 1000;

/// Computes the numbers of a statistic for each measure from the values of queries,
/// `[measure][query]`. A statistic has one number, and [`Stat::Ci95`] has two. Without queries a
/// statistic has no number, and neither has a spread of one query.
pub fn summarise(
    stat: Stat,
    measures: &[Measure],
    values: &[Vec<f64>],
) -> Vec<Vec<(StatName, f64)>> {
    if values.iter().flatten().any(|&value| is_undefined(value)) {
        // Each measure has queries of its own, so each is summarised alone. Its resamples are the
        // same as in a call with other measures of equally many queries.
        let alone = measures.iter().zip(values).flat_map(|(measure, values)| {
            summarise(stat, std::slice::from_ref(measure), &[defined(values).into_owned()])
        });
        return alone.collect();
    }
    if values.first().map_or(0, Vec::len) < if stat.is_spread() { 2 } else { 1 } {
        return vec![Vec::new(); measures.len()];
    }
    match stat {
        Stat::Average => {
            let averages = measures.iter().zip(values).map(|(measure, values)| {
                let average = measure.definition().average;
                vec![(average.name(), averaged(average, values))]
            });
            averages.collect()
        }
        Stat::Median => {
            values.iter().map(|values| vec![(StatName::Median, median(values))]).collect()
        }
        Stat::Std | Stat::Min | Stat::Max => values
            .iter()
            .map(|values| stat.compute(&values.iter().copied().collect()).into_iter().collect())
            .collect(),
        Stat::Ci95 => intervals(measures, values)
            .into_iter()
            .map(|(low, high)| vec![(StatName::Ci95Low, low), (StatName::Ci95High, high)])
            .collect(),
    }
}

fn averaged(average: Average, values: &[f64]) -> f64 {
    let sum: ExactSum = values.iter().map(|&value| average.term(value)).collect();
    average.finish_exact(&sum, values.len())
}

impl Average {
    /// Returns the name of the average as a statistic: mean, sum or geometric mean.
    pub fn name(self) -> StatName {
        match self {
            Self::Mean => StatName::Mean,
            Self::Sum => StatName::Sum,
            Self::Geometric => StatName::GeometricMean,
        }
    }

    /// Returns the term that the average sums for a query's value: the logarithm for a geometric
    /// mean, else the value.
    pub fn term(self, value: f64) -> f64 {
        if self == Self::Geometric { value.ln() } else { value }
    }

    /// Returns the average over `count` queries from the exact sum of their terms. A mean is finite
    /// if its terms are, whatever the sum.
    pub fn finish_exact(self, sum: &ExactSum, count: usize) -> f64 {
        match self {
            Self::Mean => sum.mean(count),
            Self::Sum | Self::Geometric => self.finish(sum.value(), count),
        }
    }

    /// Returns the average over `count` queries from the sum of their terms.
    pub fn finish(self, sum: f64, count: usize) -> f64 {
        match self {
            Self::Mean => sum / count as f64,
            Self::Sum => sum,
            Self::Geometric => (sum / count as f64).exp(),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        sorted[middle - 1].midpoint(sorted[middle])
    } else {
        sorted[middle]
    }
}

/// Returns a power of two by which values are multiplied so that neither their squares nor their
/// sums leave the range of f64. It is 1 for values of ordinary size.
fn unit(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |largest, value| value.abs().max(largest));
    if largest > 2f64.powi(400) {
        2f64.powi(-600)
    } else if largest < 2f64.powi(-400) {
        2f64.powi(600)
    } else {
        1.0
    }
}

/// Returns the 95 % confidence intervals of the averages of some measures; `values` is
/// `[measure][query]` of at least two queries.
fn intervals(measures: &[Measure], values: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let exact = measures.iter().zip(values).map(|(measure, values)| {
        (measure.range() == Range::Binary).then(|| {
            let ones = values.iter().filter(|&&value| value == 1.0).count();
            binomial::interval(ones as u64, values.len() as u64)
        })
    });
    let exact: Vec<Option<(f64, f64)>> = exact.collect();
    let others: Vec<(&Measure, &Vec<f64>)> = exact
        .iter()
        .zip(measures.iter().zip(values))
        .filter(|(exact, _)| exact.is_none())
        .map(|(_, sample)| sample)
        .collect();
    let mut resampled = bootstrap(&others).into_iter();
    exact.into_iter().filter_map(|exact| exact.or_else(|| resampled.next())).collect()
}

// Why two kinds of resamples. Drawing n of n queries counts at random places of a list of n
// entries, and a long list does not fit the nearest cache. Independent Poisson weights go through
// the queries in order, a block of weights for all measures at a time. The number of queries taken
// then varies by some √n around n, so sums are scaled to n. With few queries drawing costs little,
// and is the bootstrap of the textbooks.
//
// Sums are plain f64 here, not exact ones: each resample is added by one thread in the order of the
// queries, so its bits do not depend on threads either, and its draws follow from its own seed.
/// Returns the 95 % bootstrap confidence intervals of the averages of some measures with their
/// values.
///
/// The percentile bootstrap (Efron 1979): the 2.5 % and 97.5 % points of the averages of resamples.
/// A resample draws n of n queries. For large n, a resample weighs each query by a Poisson variate
/// of mean 1 instead (Hanley and MacGibbon 2006). Weighing passes over the values once in order,
/// while drawing would access the values at random. All measures share the resamples.
fn bootstrap(samples: &[(&Measure, &Vec<f64>)]) -> Vec<(f64, f64)> {
    let queries = samples.first().map_or(0, |(_, values)| values.len());
    let units: Vec<f64> = samples
        .iter()
        .map(|(measure, values)| match measure.definition().average {
            // The terms of a geometric mean are logarithms, whose sums cannot overflow: they are
            // not scaled.
            Average::Geometric => 1.0,
            Average::Mean | Average::Sum => unit(values),
        })
        .collect();
    let terms = units.iter().zip(samples).map(|(&unit, (measure, values))| {
        let average = measure.definition().average;
        values.iter().map(|&value| average.term(value) * unit).collect()
    });
    let terms: Vec<Vec<f64>> = terms.collect();
    let resampled: Vec<Vec<f64>> = (0..RESAMPLES)
        .into_par_iter()
        .map(|resample| {
            // A generator for each resample: its draws do not depend on the thread or the others.
            let draws = SplitMix(SEED ^ resample.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let (sums, scale) = match queries {
                ..MANY => (multinomial(&terms, queries, draws), 1.0),
                _ => {
                    let (sums, taken) = poisson(&terms, queries, draws);
                    (sums, queries as f64 / f64::from(taken))
                }
            };
            let averages = samples.iter().zip(&units).zip(sums);
            averages
                .map(|(((measure, _), unit), sum)| {
                    measure.definition().average.finish(sum * scale, queries) / unit
                })
                .collect()
        })
        .collect();
    let intervals = (0..samples.len()).map(|measure| {
        let mut averages: Vec<f64> = resampled.iter().map(|resample| resample[measure]).collect();
        averages.sort_by(f64::total_cmp);
        (percentile(&averages, 0.025), percentile(&averages, 0.975))
    });
    intervals.collect()
}

/// Returns the sum of each measure's terms in a bootstrap resample that draws n of n queries, fewer
/// than [`MANY`].
fn multinomial(terms: &[Vec<f64>], queries: usize, mut draws: SplitMix) -> Vec<f64> {
    // Invariant: fewer than MANY draws, so no count exceeds a u16, and the array has room for all
    // queries.
    let mut times = [0u16; MANY];
    (0..queries).for_each(|_| times[draws.below(queries)] += 1);
    terms
        .iter()
        .map(|terms| times.iter().zip(terms).map(|(&times, term)| f64::from(times) * term).sum())
        .collect()
}

/// Returns the sum of each measure's terms in a bootstrap resample with Poisson weights, and the
/// number of queries taken: at least one.
fn poisson(terms: &[Vec<f64>], queries: usize, mut draws: SplitMix) -> (Vec<f64>, u32) {
    /// The number of queries whose weights are drawn at a time: a block of weights stays in the
    /// nearest cache.
    const BLOCK: usize = 1024;
    loop {
        let mut sums = vec![0.0; terms.len()];
        let mut taken = 0;
        let mut weights = [0u8; BLOCK];
        for start in (0..queries).step_by(BLOCK) {
            let weights = &mut weights[..BLOCK.min(queries - start)];
            draws.poisson(weights);
            taken += weights.iter().map(|&weight| u32::from(weight)).sum::<u32>();
            for (sum, terms) in sums.iter_mut().zip(terms) {
                let weighted = weights
                    .iter()
                    .zip(&terms[start..])
                    .map(|(&weight, term)| f64::from(weight) * term);
                *sum += weighted.sum::<f64>();
            }
        }
        // With probability e⁻ⁿ no query is taken, and nothing could be averaged: it is drawn again,
        // from where the generator stands.
        if taken > 0 {
            return (sums, taken);
        }
    }
}

/// Returns the percentile of sorted values at `share`, interpolated linearly between the two
/// nearest values, as NumPy does by default.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

/// The random generator SplitMix64 (Steele, Lea, Flood 2014): a resample's draws follow from its
/// seed alone.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a random number from 0 to below `end`, each as likely as the others to within 2⁻⁵⁴
    /// for an `end` below [`MANY`].
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Fills `weights` with Poisson variates of mean 1, each from 32 bits by inversion.
    fn poisson(&mut self, weights: &mut [u8]) {
        for pair in weights.chunks_mut(2) {
            let bits = self.next();
            for (weight, bits) in pair.iter_mut().zip([bits as u32, (bits >> 32) as u32]) {
                *weight = poisson_weight(bits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(name: &str) -> Measure {
        name.parse().unwrap()
    }

    fn all(stat: Stat, name: &str, values: &[f64]) -> Vec<f64> {
        let numbers = summarise(stat, &[measure(name)], &[values.to_vec()]).remove(0);
        numbers.into_iter().map(|(_, number)| number).collect()
    }

    fn one(stat: Stat, values: &[f64]) -> f64 {
        all(stat, "AP", values)[0]
    }

    #[test]
    fn small_samples() {
        let values = [1.0, 2.0, 4.0, 9.0];
        assert_eq!(one(Stat::Average, &values), 4.0);
        assert_eq!(one(Stat::Median, &values), 3.0);
        assert_eq!(one(Stat::Std, &values), (38.0f64 / 3.0).sqrt());
        assert_eq!((one(Stat::Min, &values), one(Stat::Max, &values)), (1.0, 9.0));
        assert_eq!(one(Stat::Std, &[0.1; 7]), 0.0, "equal values do not vary");
        assert_eq!(
            summarise(Stat::Average, &[measure("GMAP")], &[vec![1.0, 4.0]]),
            [[(StatName::GeometricMean, 2.0)]]
        );
        assert!(all(Stat::Median, "AP", &[]).is_empty());
    }

    #[test]
    fn names_are_in_the_order_of_their_variants() {
        assert!(StatName::ALL.iter().enumerate().all(|(at, (_, name))| *name as usize == at));
    }

    #[test]
    fn one_query_does_not_vary() {
        for stat in [Stat::Std, Stat::Ci95] {
            assert!(all(stat, "AP", &[0.5]).is_empty() && all(stat, "P@1", &[1.0]).is_empty());
        }
        assert_eq!(all(Stat::Median, "AP", &[0.5]), [0.5]);
    }

    /// The standard deviation of n equally spaced numbers is √(n(n + 1) / 12) times their distance.
    #[test]
    fn statistics_of_huge_and_tiny_values_are_finite() {
        // The second is 2⁻¹⁰⁶⁰.
        for by in [f64::MAX / 4.0, f64::from_bits(1 << 14)] {
            let values = [1.0, 2.0, 3.0, 4.0].map(|value| value * by);
            assert_eq!(one(Stat::Average, &values), 2.5 * by);
            assert_eq!(one(Stat::Median, &values), 2.5 * by);
            let expected = (20.0f64 / 12.0).sqrt() * by;
            assert!((one(Stat::Std, &values) / expected - 1.0).abs() < 1e-4);
            let ordinary = all(Stat::Ci95, "DCG", &[1.0, 2.0, 3.0, 4.0]);
            let interval = all(Stat::Ci95, "DCG", &values);
            assert!(
                interval
                    .iter()
                    .zip(ordinary)
                    .all(|(weighted, ordinary)| (weighted / by - ordinary).abs() < 1e-4)
            );
        }
    }

    #[test]
    fn poisson_thresholds_are_those_of_the_distribution() {
        let mut weights = vec![0; 1 << 20];
        SplitMix(1).poisson(&mut weights);
        let mut chance = (-1.0f64).exp();
        for weight in 0..6u8 {
            let share = weights.iter().filter(|&&sample| sample == weight).count() as f64
                / weights.len() as f64;
            let error = (chance * (1.0 - chance) / weights.len() as f64).sqrt();
            assert!((share - chance).abs() < 4.0 * error, "{weight}: {share}, expected {chance}");
            chance /= f64::from(weight) + 1.0;
        }
    }

    /// The interval of the mean of a large sample is that of the normal distribution.
    #[test]
    fn the_interval_is_as_wide_as_theory_says() {
        for queries in [MANY as i32 - 100, 4000] {
            let values: Vec<f64> = (0..queries).map(|i| f64::from(i % 100)).collect();
            let interval = all(Stat::Ci95, "AP", &values);
            let half = 1.96 * one(Stat::Std, &values) / f64::from(queries).sqrt();
            let expected = [49.5 - half, 49.5 + half];
            assert!(
                interval
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| (found - expected).abs() < 0.2 * half)
            );
        }
    }

    /// With five queries of which one scores, the hits of a resample are binomial: 3 or fewer in
    /// 99.3 % of them, 2 or fewer in 94.2 %.
    #[test]
    fn a_resample_of_few_queries_has_as_many() {
        assert_eq!(all(Stat::Ci95, "AP", &[1.0, 0.0, 0.0, 0.0, 0.0]), [0.0, 0.6]);
        for queries in 2..40 {
            let values: Vec<f64> = (0..queries).map(|query| f64::from(query % 3 == 0)).collect();
            for bound in all(Stat::Ci95, "AP", &values) {
                let hits = bound * f64::from(queries);
                assert!(
                    (hits * 40.0 - (hits * 40.0).round()).abs() < 1e-9
                        && hits <= f64::from(queries)
                );
            }
        }
    }

    #[test]
    fn measures_that_are_0_or_1_have_the_binomial_interval() {
        let values = [1.0, 0.0, 0.0, 0.0, 0.0];
        let binary = [
            "Success@10",
            "P@1",
            "RR@1",
            "Hits@1",
            "R(norm=min)@1",
            "AP(norm=min)@1",
            "AP(norm=hits)@1",
        ];
        for name in binary.into_iter().chain(["Success", "P(norm=min)@1", "Judged@1", "Unjudged@1"])
        {
            assert_eq!(
                all(Stat::Ci95, name, &values),
                <[f64; 2]>::from(binomial::interval(1, 5)),
                "{name}"
            );
        }
        for name in ["P@2", "R@1", "AP@1", "RR", "nDCG@1", "AP", "F@1"] {
            assert_eq!(all(Stat::Ci95, name, &values), [0.0, 0.6], "{name}");
        }
        let both = summarise(
            Stat::Ci95,
            &[measure("AP"), measure("P@1"), measure("RR")],
            &[(); 3].map(|()| values.to_vec()),
        );
        assert_eq!(both[0], both[2]);
        assert_ne!(both[0], both[1]);
    }
}
