//! From the values of queries to one number or an interval.

use rayon::prelude::*;

use super::aggregate::ExactSum;
use crate::measure::Average;

/// A statistic over the values of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stat {
    /// The measure's own average: arithmetic mean, sum, or geometric mean.
    Average,
    /// The median; the mean of the two middle values where their number is even.
    Median,
    /// The sample standard deviation, n − 1 in the denominator; 0 for one query.
    Std,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// A 95 % confidence interval of the average: percentiles of a seeded bootstrap over queries.
    Ci95,
}

impl Stat {
    /// Every statistic, by the name of the command line.
    pub const ALL: [(&'static str, Stat); 6] = [
        ("mean", Stat::Average),
        ("median", Stat::Median),
        ("std", Stat::Std),
        ("min", Stat::Min),
        ("max", Stat::Max),
        ("ci95", Stat::Ci95),
    ];

    /// Does it need the values of all queries at once?
    pub fn needs_values(self) -> bool {
        self != Stat::Average
    }
}

/// Resamples of a bootstrap.
const RESAMPLES: u64 = 1000;
/// The seed of every bootstrap: the same values give the same interval, everywhere.
const SEED: u64 = 0x6c61_6e65_7661_6c31;

/// The named numbers of a statistic for each measure, `values` being `[measure][query]`: one number, two for [`Stat::Ci95`], none
/// without queries.
pub fn summarise(stat: Stat, averages: &[Average], values: &[Vec<f64>]) -> Vec<Vec<(&'static str, f64)>> {
    if values.first().is_none_or(Vec::is_empty) {
        return vec![Vec::new(); averages.len()];
    }
    let each = |name, of: fn(&[f64]) -> f64| values.iter().map(|values| vec![(name, of(values))]).collect();
    match stat {
        Stat::Average => {
            let of =
                |(average, values): (&Average, &Vec<f64>)| vec![(average.name(), averaged(*average, values))];
            averages.iter().zip(values).map(of).collect()
        }
        Stat::Median => each("median", median),
        Stat::Std => each("std", deviation),
        Stat::Min => each("min", |values| values.iter().copied().fold(f64::INFINITY, f64::min)),
        Stat::Max => each("max", |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        Stat::Ci95 => {
            let named = |(low, high)| vec![("ci95_low", low), ("ci95_high", high)];
            intervals(averages, values).into_iter().map(named).collect()
        }
    }
}

fn averaged(average: Average, values: &[f64]) -> f64 {
    let sum: ExactSum = values.iter().map(|&value| average.term(value)).collect();
    average.of(sum.value(), values.len())
}

impl Average {
    /// How the average is called among the statistics.
    pub fn name(self) -> &'static str {
        match self {
            Average::Mean => "mean",
            Average::Sum => "sum",
            Average::Geometric => "gmean",
        }
    }

    /// What of a query's value is summed.
    pub fn term(self, value: f64) -> f64 {
        if self == Average::Geometric { value.ln() } else { value }
    }

    /// The average of `count` queries from the sum of their terms.
    pub fn of(self, sum: f64, count: usize) -> f64 {
        match self {
            Average::Mean => sum / count as f64,
            Average::Sum => sum,
            Average::Geometric => (sum / count as f64).exp(),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + sorted[middle]) / 2.0 } else { sorted[middle] }
}

fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().copied().collect::<ExactSum>().value() / values.len() as f64;
    let squares: ExactSum = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    (squares.value() / (values.len() - 1) as f64).sqrt()
}

/// The 95 % confidence intervals of the averages of some measures, `values` being `[measure][query]`.
///
/// The percentile bootstrap (Efron 1979): the 2.5 % and 97.5 % points of the averages of resamples. A resample takes every query a
/// number of times that is Poisson-distributed with mean 1 (Hanley and MacGibbon 2006), which needs one pass over the values in
/// order where drawing queries would jump about; all measures share the resamples.
/// There is at least one query.
fn intervals(averages: &[Average], values: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let queries = values.first().map_or(0, Vec::len);
    let terms =
        |(average, values): (&Average, &Vec<f64>)| values.iter().map(|&value| average.term(value)).collect();
    let terms: Vec<Vec<f64>> = averages.iter().zip(values).map(terms).collect();
    let resampled: Vec<Vec<f64>> = (0..RESAMPLES)
        .into_par_iter()
        .map(|resample| {
            let (sums, taken) = resampled(&terms, queries, resample);
            let scale = queries as f64 / f64::from(taken);
            averages.iter().zip(sums).map(|(average, sum)| average.of(sum * scale, queries)).collect()
        })
        .collect();
    let interval = |measure: usize| {
        let mut averages: Vec<f64> = resampled.iter().map(|resample| resample[measure]).collect();
        averages.sort_by(f64::total_cmp);
        (percentile(&averages, 0.025), percentile(&averages, 0.975))
    };
    (0..averages.len()).map(interval).collect()
}

/// The sums of one resample, and how many queries it took: at least one.
fn resampled(terms: &[Vec<f64>], queries: usize, resample: u64) -> (Vec<f64>, u32) {
    /// Queries whose weights are drawn at a time: they stay in the nearest cache.
    const BLOCK: usize = 1024;
    let mut draws = Draws(SEED ^ resample.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    loop {
        let mut sums = vec![0.0; terms.len()];
        let mut taken = 0;
        let mut weights = [0u8; BLOCK];
        for start in (0..queries).step_by(BLOCK) {
            let weights = &mut weights[..BLOCK.min(queries - start)];
            draws.poisson(weights);
            taken += weights.iter().map(|&weight| u32::from(weight)).sum::<u32>();
            for (sum, terms) in sums.iter_mut().zip(terms) {
                let weighted =
                    weights.iter().zip(&terms[start..]).map(|(&weight, term)| f64::from(weight) * term);
                *sum += weighted.sum::<f64>();
            }
        }
        if taken > 0 {
            return (sums, taken);
        }
    }
}

/// Linear interpolation between the two nearest of sorted values, as NumPy's default.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

/// SplitMix64 (Steele, Lea, Flood 2014): a resample's draws follow from its seed alone.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Fills `weights` with Poisson variates of mean 1, each from 32 bits by inversion.
    fn poisson(&mut self, weights: &mut [u8]) {
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
        for pair in weights.chunks_mut(2) {
            let bits = self.next();
            for (weight, bits) in pair.iter_mut().zip([bits as u32, (bits >> 32) as u32]) {
                *weight = AT_MOST.iter().map(|&most| u8::from(bits >= most)).sum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(stat: Stat, values: &[f64]) -> f64 {
        summarise(stat, &[Average::Mean], &[values.to_vec()])[0][0].1
    }

    #[test]
    fn small_samples() {
        let values = [1.0, 2.0, 4.0, 9.0];
        assert_eq!(one(Stat::Average, &values), 4.0);
        assert_eq!(one(Stat::Median, &values), 3.0);
        assert_eq!(one(Stat::Std, &values), (38.0f64 / 3.0).sqrt());
        assert_eq!((one(Stat::Min, &values), one(Stat::Max, &values)), (1.0, 9.0));
        assert_eq!(one(Stat::Std, &[0.1; 7]), 0.0, "equal values do not vary");
        assert_eq!(summarise(Stat::Average, &[Average::Geometric], &[vec![1.0, 4.0]]), [[("gmean", 2.0)]]);
        assert!(summarise(Stat::Median, &[Average::Mean], &[vec![]])[0].is_empty());
    }

    #[test]
    fn poisson_thresholds_are_those_of_the_distribution() {
        let mut weights = vec![0; 1 << 20];
        Draws(1).poisson(&mut weights);
        let mut chance = (-1.0f64).exp();
        for weight in 0..6u8 {
            let share = weights.iter().filter(|&&of| of == weight).count() as f64 / weights.len() as f64;
            let error = (chance * (1.0 - chance) / weights.len() as f64).sqrt();
            assert!((share - chance).abs() < 4.0 * error, "{weight}: {share}, expected {chance}");
            chance /= f64::from(weight) + 1.0;
        }
    }

    /// The interval of the mean of a large sample is that of the normal distribution.
    #[test]
    fn the_interval_is_as_wide_as_theory_says() {
        let values: Vec<f64> = (0..4000).map(|i| f64::from(i % 100)).collect();
        let (low, high) = intervals(&[Average::Mean], std::slice::from_ref(&values))[0];
        let half = 1.96 * deviation(&values) / (values.len() as f64).sqrt();
        assert!((low - (49.5 - half)).abs() < 0.2 * half && (high - (49.5 + half)).abs() < 0.2 * half);
    }
}
