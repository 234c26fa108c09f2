//! Sums behind a comparison. Sums add up over queries, so the merged sums of any number of parts,
//! in any order, equal the sums of all queries.
//!
//! The sums lack only the results that need all differences at once: exact p, Wilcoxon's ranks, and
//! the skewness for BCa.

use super::anova::Spread;
use super::bootstrap::{RESAMPLES, ResampleKind, Resamples};
use super::flips::Flips;
use super::options::{ComparisonOptions, Correction, Interval};
use super::paired::{Paired, Wins};
use super::randomised::{DrawSums, Hypothesis, Pair};
use super::units::{self, Unit, is_zero};
use super::values::{MeasureValues, Values};
use crate::measure::Better;
use crate::stats::{ExactSum, Moments};
use crate::watch::Watch;

/// The sums of some runs over the same queries.
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

/// The sums of runs under a measure.
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

/// The sums of the differences of a pair of runs.
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
    pub wins: Wins,
}

impl RunSums {
    /// Computes the sums of values for these pairs of runs, without random signs. If `watch` is
    /// told to stop, they are incomplete.
    pub fn of(
        values: &Values,
        pairs: &[Pair],
        (options, kind): (&ComparisonOptions, ResampleKind),
        watch: Option<&Watch>,
    ) -> RunSums {
        let wants_spread = options.anova || options.correction == Correction::Hsd;
        let resamples = || {
            let skipping = values.measures.iter().filter(|of| of.may_skip);
            let indicators: Vec<Vec<i64>> = skipping.map(MeasureValues::indicator).collect();
            let mut series = values.series();
            series.extend(indicators.iter().map(Vec::as_slice));
            let mut resamples = Resamples::watched(
                options.seed,
                &values.queries,
                &series,
                (RESAMPLES, kind),
                watch,
            );
            if kind == ResampleKind::Whole {
                draw_defined(&mut resamples, values, options.seed, watch);
            }
            resamples
        };
        RunSums {
            queries: values.queries.len() as u64,
            filled: values.filled.clone(),
            measures: values
                .measures
                .iter()
                .map(|of| MeasureSums::of(of, pairs, options.tie, wants_spread))
                .collect(),
            drawn: None,
            // Resamples are of runs, and a pair's are the difference of two: m series and not m²/2.
            resamples: (options.interval != Interval::T).then(resamples),
        }
    }

    /// Adds the sums of values under random signs.
    pub fn with_draws(
        self,
        values: &Values,
        seed: u64,
        draws: u32,
        watch: Option<&Watch>,
    ) -> RunSums {
        let flips = Flips::new(seed, &values.queries).watched(watch);
        RunSums { drawn: Some(DrawSums::of(&flips, &values.series(), 0..draws)), ..self }
    }

    /// The number of draws of signs.
    pub fn draws(&self) -> Option<u32> {
        self.drawn.as_ref().map(|drawn| drawn.first().map_or(0, DrawSums::len) as u32)
    }

    /// Adds the sums of further queries with equal runs, units, pairs and draws.
    pub fn merge(&mut self, other: &RunSums) {
        self.queries += other.queries;
        self.filled.iter_mut().zip(&other.filled).for_each(|(filled, more)| *filled += more);
        self.measures.iter_mut().zip(&other.measures).for_each(|(of, more)| of.merge(more));
        if let (Some(drawn), Some(more)) = (&mut self.drawn, &other.drawn) {
            drawn.iter_mut().zip(more).for_each(|(drawn, more)| drawn.merge(more));
        }
        if let (Some(resamples), Some(more)) = (&mut self.resamples, &other.resamples) {
            resamples.merge(more);
        }
    }
}

/// Draws the queries of each measure under which some have no value among the others alone: a
/// measure is compared over its own queries, as if there were no others. Counts of queries do not
/// depend on one another, so where queries are counted nothing changes.
fn draw_defined(resamples: &mut Resamples, values: &Values, seed: u64, watch: Option<&Watch>) {
    let runs = values.series().len() / values.measures.len().max(1);
    let skipping = values.measures.iter().enumerate().filter(|(_, of)| of.may_skip);
    for (nth, (measure, of)) in skipping.enumerate() {
        let indicator = of.indicator();
        let defined: Vec<usize> =
            (0..indicator.len()).filter(|&query| indicator[query] == 0).collect();
        if defined.len() == indicator.len() {
            continue;
        }
        let queries: Vec<u64> = defined.iter().map(|&query| values.queries[query]).collect();
        let own =
            of.counts.iter().map(|counts| defined.iter().map(|&query| counts[query]).collect());
        let own: Vec<Vec<i64>> = own.collect();
        let series: Vec<&[i64]> = own.iter().map(Vec::as_slice).collect();
        let drawn =
            Resamples::watched(seed, &queries, &series, (RESAMPLES, ResampleKind::Whole), watch);
        let without = resamples.taken.iter().zip(&drawn.taken);
        // The queries in a resample of all queries, beyond its defined queries, have no value.
        let without = without.map(|(&all, &own)| i128::from(all) - i128::from(own)).collect();
        let place = values.measures.len() * runs + nth;
        resamples.sums[place] = without;
        resamples.sums[measure * runs..(measure + 1) * runs].clone_from_slice(&drawn.sums);
    }
}

impl MeasureSums {
    fn of(
        values: &MeasureValues,
        pairs: &[Pair],
        tie: Option<f64>,
        wants_spread: bool,
    ) -> MeasureSums {
        let pair = |&pair: &Pair| {
            let (deltas, counts) = values.deltas(pair);
            PairSums::of(&deltas, &counts, tie, values.better)
        };
        let sum = |terms: &Vec<f64>| {
            let mut sum = ExactSum::default();
            sum.add_all(terms);
            sum
        };
        let terms = values.defined_terms();
        MeasureSums {
            queries: terms.first().map_or(0, Vec::len) as u64,
            unit: values.unit,
            runs: terms.iter().map(sum).collect(),
            pairs: pairs.iter().map(pair).collect(),
            spread: wants_spread.then(|| Spread::of(&terms)),
        }
    }

    fn merge(&mut self, other: &MeasureSums) {
        self.queries += other.queries;
        self.runs.iter_mut().zip(&other.runs).for_each(|(sum, more)| sum.merge(more));
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(pair, more)| pair.merge(more));
        if let (Some(spread), Some(more)) = (&mut self.spread, &other.spread) {
            spread.merge(more);
        }
    }
}

impl PairSums {
    /// Computes the sums of differences, which are given as they are and in whole units.
    /// Differences of at most `tie` are ties.
    pub fn of(deltas: &[f64], counts: &[i64], tie: Option<f64>, better: Better) -> PairSums {
        let mut moments = Moments::default();
        moments.add_all(deltas);
        let differing = |sign| {
            counts.iter().filter(|&&count| !is_zero(count) && count.signum() == sign).count() as u64
        };
        PairSums {
            deltas: moments,
            sum: units::sum(counts),
            squares: units::products(counts, counts),
            above: differing(1),
            below: differing(-1),
            wins: Wins::of(deltas, counts, tie, better),
        }
    }

    /// The statistics of the mean difference; `None` for statistics beyond 64 bits.
    pub fn paired(&self, unit: Unit) -> Option<Paired> {
        Paired::of(&self.deltas, self.above + self.below == 0, unit)
    }

    /// The hypothesis of the pair for the randomisation test; `pair` has the indices of its runs.
    pub fn hypothesis(&self, pair: Pair) -> Hypothesis {
        Hypothesis { pair, sum: self.sum, squares: self.squares }
    }

    fn merge(&mut self, other: &PairSums) {
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
