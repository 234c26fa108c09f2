//! The sums of values and differences behind a comparison of runs. Sums add up over queries, so the
//! merged sums of any number of parts, in any order, equal the sums of all queries.
//!
//! The sums lack only the results that need all differences at once: exact p, Wilcoxon's ranks, and
//! the skewness for BCa.

use super::anova::Spread;
use super::bootstrap::{RESAMPLES, ResampleKind, Resamples};
use super::flips::Flips;
use super::options::{ComparisonOptions, Correction, Interval};
use super::paired::{Paired, WinCounts};
use super::randomised::{DrawSums, Hypothesis, Pair};
use super::unit::{self, Unit, is_zero};
use super::values::{MeasureValues, Values};
use crate::measure::Direction;
use crate::progress::ProgressHandle;
use crate::stats::{ExactSum, Moments};

/// The sums of all runs of a comparison and of their pairs over the same queries, under all
/// measures.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSums {
    /// The number of queries.
    pub queries: u64,
    /// The number of queries missing from each run and counted as empty rankings.
    pub filled: Vec<u64>,
    /// The sums under each measure.
    pub measures: Vec<MeasureSums>,
    /// The sums under random signs, by measure and run, if they are kept.
    pub drawn: Option<Vec<DrawSums>>,
    /// The sums under resamples, by measure and run, if an interval needs resamples. Behind the
    /// sums, for each measure with undefined values, comes the number of undefined queries in each
    /// resample.
    pub resamples: Option<Resamples>,
}

/// The sums of all runs of a comparison, and of their pairs, under one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureSums {
    /// The number of queries that have a value.
    pub queries: u64,
    /// The unit of the whole numbers.
    pub unit: Unit,
    /// The sum of the averaged terms, by run.
    pub runs: Vec<ExactSum>,
    /// The sums of each pair, in the order of the pairs.
    pub pairs: Vec<PairSums>,
    /// The spread for an analysis of variance, if any.
    pub spread: Option<Spread>,
}

/// The sums of the differences of a pair of runs under one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSums {
    /// The moments of the differences.
    pub deltas: Moments,
    /// The sum of the differences in whole units.
    pub sum: i128,
    /// The sum of the squares of the differences in whole units.
    pub squares: i128,
    /// The number of differences that are above 0 by more than rounding.
    pub above: u64,
    /// The number of differences that are below 0 by more than rounding.
    pub below: u64,
    /// The numbers of queries in which the run is better, tied and worse.
    pub wins: WinCounts,
}

impl RunSums {
    /// Computes the sums of the values of runs, and of the differences of these pairs of runs,
    /// without random signs. If `watch` is told to stop, they are incomplete.
    pub fn from_values(
        values: &Values,
        pairs: &[Pair],
        options: &ComparisonOptions,
        kind: ResampleKind,
        watch: Option<&ProgressHandle>,
    ) -> Self {
        let wants_spread = options.anova || options.correction == Correction::Hsd;
        Self {
            queries: values.queries.len() as u64,
            filled: values.filled.clone(),
            measures: values
                .measures
                .iter()
                .map(|values| MeasureSums::new(values, pairs, options.tie, wants_spread))
                .collect(),
            drawn: None,
            // Resamples are of runs, and a pair's are the difference of two: m series and not m²/2.
            resamples: (options.interval != Interval::T)
                .then(|| draw_resamples(values, options.seed, kind, watch)),
        }
    }

    /// Adds the sums of each run's values under draws of random signs.
    pub fn with_draws(
        self,
        values: &Values,
        seed: u64,
        draws: u32,
        watch: Option<&ProgressHandle>,
    ) -> Self {
        let flips = Flips::new(seed, &values.queries).watched(watch);
        Self { drawn: Some(DrawSums::draw(&flips, &values.series(), 0..draws)), ..self }
    }

    /// Returns the number of draws of random signs whose sums are kept; `None` without these sums.
    pub fn draws(&self) -> Option<u32> {
        self.drawn.as_ref().map(|drawn| drawn.first().map_or(0, DrawSums::len) as u32)
    }

    /// Adds the sums of the same runs and pairs over further queries.
    pub fn merge(&mut self, other: &Self) {
        self.queries += other.queries;
        self.filled.iter_mut().zip(&other.filled).for_each(|(filled, more)| *filled += more);
        self.measures.iter_mut().zip(&other.measures).for_each(|(sums, more)| sums.merge(more));
        if let (Some(drawn), Some(more)) = (&mut self.drawn, &other.drawn) {
            drawn.iter_mut().zip(more).for_each(|(drawn, more)| drawn.merge(more));
        }
        if let (Some(resamples), Some(more)) = (&mut self.resamples, &other.resamples) {
            resamples.merge(more);
        }
    }
}

/// Draws bootstrap resamples of all queries, and for measures that skip queries, of those with a
/// value.
fn draw_resamples(
    values: &Values,
    seed: u64,
    kind: ResampleKind,
    watch: Option<&ProgressHandle>,
) -> Resamples {
    let skipping = values.measures.iter().filter(|values| values.may_skip);
    let indicators: Vec<Vec<i64>> = skipping.map(MeasureValues::indicator).collect();
    let mut series = values.series();
    series.extend(indicators.iter().map(Vec::as_slice));
    let mut resamples = Resamples::watched(seed, &values.queries, &series, RESAMPLES, kind, watch);
    if kind == ResampleKind::Whole {
        draw_defined(&mut resamples, values, seed, watch);
    }
    resamples
}

/// Replaces the bootstrap resamples of each measure that skips queries by resamples of its defined
/// queries alone. A measure is compared over its own queries, as if there were no others. Counts of
/// queries do not depend on one another, so where queries are counted nothing changes.
fn draw_defined(
    resamples: &mut Resamples,
    values: &Values,
    seed: u64,
    watch: Option<&ProgressHandle>,
) {
    let runs = values.series().len() / values.measures.len().max(1);
    let skipping = values.measures.iter().enumerate().filter(|(_, values)| values.may_skip);
    for (nth, (measure, measure_values)) in skipping.enumerate() {
        let indicator = measure_values.indicator();
        let defined: Vec<usize> =
            (0..indicator.len()).filter(|&query| indicator[query] == 0).collect();
        // With a value for every query, the resamples of all queries are those of the measure.
        if defined.len() == indicator.len() {
            continue;
        }
        let queries: Vec<u64> = defined.iter().map(|&query| values.queries[query]).collect();
        let own: Vec<Vec<i64>> = measure_values
            .counts
            .iter()
            .map(|counts| defined.iter().map(|&query| counts[query]).collect())
            .collect();
        let series: Vec<&[i64]> = own.iter().map(Vec::as_slice).collect();
        let kind = ResampleKind::Whole;
        let drawn = Resamples::watched(seed, &queries, &series, RESAMPLES, kind, watch);
        // The queries in a resample of all queries, beyond its defined queries, have no value.
        let without = resamples
            .taken
            .iter()
            .zip(&drawn.taken)
            .map(|(&all, &own)| i128::from(all) - i128::from(own));
        resamples.sums[values.measures.len() * runs + nth] = without.collect();
        resamples.sums[measure * runs..(measure + 1) * runs].clone_from_slice(&drawn.sums);
    }
}

impl MeasureSums {
    fn new(values: &MeasureValues, pairs: &[Pair], tie: Option<f64>, wants_spread: bool) -> Self {
        let pairs = pairs.iter().map(|&pair| {
            let (deltas, counts) = values.deltas(pair);
            PairSums::from_deltas(&deltas, &counts, tie, values.better)
        });
        let terms = values.defined_terms();
        let sums = terms.iter().map(|terms| {
            let mut sum = ExactSum::default();
            sum.add_all(terms);
            sum
        });
        Self {
            queries: terms.first().map_or(0, Vec::len) as u64,
            unit: values.unit,
            runs: sums.collect(),
            pairs: pairs.collect(),
            spread: wants_spread.then(|| Spread::from_runs(&terms)),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.queries += other.queries;
        self.runs.iter_mut().zip(&other.runs).for_each(|(sum, more)| sum.merge(more));
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(pair, more)| pair.merge(more));
        if let (Some(spread), Some(more)) = (&mut self.spread, &other.spread) {
            spread.merge(more);
        }
    }
}

impl PairSums {
    /// Computes the sums of the differences of a pair of runs, which are given as values and in
    /// whole units. Differences of at most `tie` are ties.
    pub fn from_deltas(
        deltas: &[f64],
        counts: &[i64],
        tie: Option<f64>,
        better: Direction,
    ) -> Self {
        let mut moments = Moments::default();
        moments.add_all(deltas);
        let [above, below] = [1, -1].map(|sign| {
            counts.iter().filter(|&&count| !is_zero(count) && count.signum() == sign).count() as u64
        });
        Self {
            deltas: moments,
            sum: unit::sum(counts),
            squares: unit::products(counts, counts),
            above,
            below,
            wins: WinCounts::count(deltas, counts, tie, better),
        }
    }

    /// Returns the paired statistics of the two runs from the sums of their differences; `None` if
    /// these are beyond 64 bits.
    pub fn paired(&self, unit: Unit) -> Option<Paired> {
        Paired::from_moments(&self.deltas, self.above + self.below == 0, unit)
    }

    /// Returns the hypothesis of the pair for the randomisation test; `pair` has the indices of its
    /// runs.
    pub fn hypothesis(&self, pair: Pair) -> Hypothesis {
        Hypothesis { pair, sum: self.sum, squares: self.squares }
    }

    fn merge(&mut self, other: &Self) {
        self.deltas.merge(&other.deltas);
        self.sum += other.sum;
        self.squares += other.squares;
        self.above += other.above;
        self.below += other.below;
        self.wins.wins += other.wins.wins;
        self.wins.ties += other.wins.ties;
        self.wins.losses += other.wins.losses;
    }
}
