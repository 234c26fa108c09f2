//! A comparison of runs: for each pair and measure the difference, its interval, its p and the size of the effect.

use super::agreement::{self, Tie};
use super::anova::Anova;
use super::bootstrap::Means;
use super::exact::ExactCounts;
use super::family;
use super::flips::Flips;
use super::gate::{Gate, GateFacts, Verdict};
use super::labels::range_counts;
use super::options::{
    Alternative, ComparisonOptions, Correction, DRAWS, Interval, Permutations, Scope, Test,
};
use super::paired::{Paired, Tails, Wins};
use super::power::{queries_for, smallest_effect};
use super::randomised::{DrawTally, Family, Hypothesis, Pair, p_of_count, tallies, tallies_of_sums};
use super::ranks::{signed_ranks, signs};
use super::sums::{MeasureSums, PairSums, RunSums};
use super::units::{Unit, is_zero};
use super::values::{MeasureValues, Values};
use crate::error::{Error, Result};
use crate::measure::{Average, Better, Measure};
use crate::scores::{QuerySet, Scores};
use crate::stats::rounding::{are_best, is_equal, settled};
use crate::watch::{Watch, not_stopped};

/// The number of sign-adds of the randomisation test that is affordable: they take about ten seconds.
// A series takes 2.4·10¹⁰ sign-adds a second of one core (`benches/RESULTS.md`).
const AFFORDABLE: f64 = 2e11;
/// The number of sums of halves that is affordable for exact tests.
const EXACT_SUMS: f64 = 2e9;
/// The chance with which a difference is to be found.
const WANTED: f64 = 0.8;
/// The numbers of draws of [`Permutations::Auto`], in the order in which they are tried.
// One less than powers of ten, because what was observed counts as a draw: p are then multiples of a power of ten.
const AUTO: [u32; 4] = [9_999, 99_999, 999_999, 9_999_999];

/// A comparison of runs under measures.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Comparison {
    /// The options of the comparison.
    pub options: ComparisonOptions,
    /// The measures. The first one decides.
    pub measures: Vec<Measure>,
    /// The runs, in the order given.
    pub runs: Vec<Compared>,
    /// The index of the baseline, if there is one.
    pub baseline: Option<usize>,
    /// The pairs: by measure, then by baseline and run.
    pub differences: Vec<Difference>,
    /// The analysis of variance under each measure, if it was asked for or the correction needs it.
    pub anova: Vec<Anova>,
    /// The agreement of the other measures with the first one on the ranking of the runs, if there are three runs or more.
    pub agreement: Vec<Agreement>,
    /// The queries that count.
    pub query_set: QuerySet,
    /// The number of queries that count.
    pub queries: usize,
    /// The number of hypotheses of each family.
    pub family_size: usize,
    /// The number of draws of signs; 0 if none were drawn.
    pub draws: u32,
    /// Notes about the data and the tests.
    pub notes: Vec<String>,
    ids: Vec<Vec<u8>>,
    /// The terms that are averaged, `[measure][run][query]`.
    terms: Vec<Vec<Vec<f64>>>,
    /// The queries that each run lacks, as far as they are known.
    lacking: Vec<Vec<usize>>,
}

/// A run that is compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Compared {
    /// The name of the run.
    pub name: String,
    /// The letter of the run, or its number if there are more runs than letters.
    pub label: String,
    /// The number of queries that the run lacks, which count as empty rankings.
    pub filled: usize,
    /// The mean of the run under each measure: of values, also for counts; the geometric mean if that is the measure's average.
    pub means: Vec<f64>,
    /// The share of its documents that are judged, down to each measure's cutoff; empty if it is not known.
    pub judged: Vec<Option<f64>>,
}

/// The difference of a run from another under a measure. Numbers are the run's less the baseline's; for a geometric mean, they are of
/// logarithms.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The index of the measure.
    pub measure: usize,
    /// The indices of the two runs.
    pub pair: Pair,
    /// The direction in which the measure is better.
    pub better: Better,
    /// Whether the mean is that of logarithms.
    pub logarithmic: bool,
    /// The mean difference, and how differences vary.
    pub paired: Paired,
    /// The mean difference divided by the baseline's mean; `None` if that is 0.
    pub relative: Option<f64>,
    /// The interval of confidence 1 − α.
    pub interval: Option<[f64; 2]>,
    /// The p of the t test.
    pub t: Option<Tails>,
    /// The p of the randomisation test by random signs.
    pub randomised: Option<Tails>,
    /// The exact p of the randomisation test, if few queries differ.
    pub exact: Option<Tails>,
    /// The p of Wilcoxon's signed-rank test, if it was asked for.
    pub wilcoxon: Option<Tails>,
    /// The p of the sign test.
    pub sign: Tails,
    /// The p of the test that decides, uncorrected.
    pub p: Option<f64>,
    /// The p after the correction, or the correction's own p.
    pub p_adjusted: Option<f64>,
    /// The numbers of queries in which the run is better, tied and worse.
    pub wins: Wins,
    /// The smallest difference that this number of queries finds four times in five.
    pub smallest_found: Option<f64>,
    /// The number of queries that finds the difference of [`ComparisonOptions::power`] four times in five.
    pub queries_needed: Option<u64>,
    /// The larger p of the two one-sided tests of [`ComparisonOptions::margin`].
    pub p_margin: Option<f64>,
    /// Whether the two runs are equal for practical purposes.
    pub is_equivalent: Option<bool>,
}

/// The result of a gate for a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// The index of the run.
    pub run: usize,
    /// Whether the run failed, and why.
    pub verdict: Verdict,
}

/// The agreement of a measure with the first one on the ranking of the runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// The index of the measure.
    pub measure: usize,
    /// Kendall's τ_b; `None` if all runs are tied under a measure.
    pub tau: Option<f64>,
    /// τ_AP,b, to which the top matters most.
    pub tau_ap: Option<f64>,
    /// Rank-biased overlap with p = 0.9.
    pub overlap: Option<f64>,
}

impl Difference {
    /// The mean difference; for a geometric mean, the ratio.
    pub fn delta(&self) -> f64 {
        self.shown(self.paired.mean)
    }

    /// A number of this difference as it is shown; for logarithms, as a ratio.
    pub fn shown(&self, value: f64) -> f64 {
        if self.logarithmic { value.exp() } else { value }
    }

    /// How much better the run is than the baseline; negative if the run is worse.
    pub fn gain(&self) -> f64 {
        self.gain_sign() * self.paired.mean
    }

    /// 1 if higher is better, −1 if lower is.
    pub fn gain_sign(&self) -> f64 {
        if self.better == Better::Lower { -1.0 } else { 1.0 }
    }

    /// The better of the two runs, the other one, and the sign of the differences of the better run less the other.
    pub(super) fn best_first(&self) -> (usize, usize, f64) {
        let Pair { baseline, run } = self.pair;
        if self.gain() > 0.0 { (run, baseline, 1.0) } else { (baseline, run, -1.0) }
    }

    /// Whether the difference is significant after the correction, at the level `alpha`.
    pub fn is_significant(&self, alpha: f64) -> bool {
        self.p_adjusted.is_some_and(|p| p < alpha)
    }

    /// The p of a test; `None` if the difference has none, or if it was not computed.
    pub fn tails(&self, test: Test) -> Option<Tails> {
        match test {
            Test::T => self.t,
            Test::Randomisation => self.permuted(),
            Test::Wilcoxon => self.wilcoxon,
            Test::Sign => (self.paired.queries >= 2).then_some(self.sign),
        }
    }

    /// The p of the randomisation test: the exact p, if there is one.
    pub fn permuted(&self) -> Option<Tails> {
        self.exact.or(self.randomised)
    }
}

/// The most bytes of the sums that a part keeps.
const MOST_KEPT: u64 = 4 << 30;

/// Checks that there should be memory for the sums of all series under all draws.
fn check_kept(draws: u32, series: usize) -> Result<()> {
    let bytes = u64::from(draws).saturating_mul(series as u64).saturating_mul(size_of::<i128>() as u64);
    if bytes > MOST_KEPT {
        return Err(Error::Unanswerable(format!(
            "a part keeps 16 bytes for each draw, run and measure, here {:.1} GB, and at most {:.1}: take fewer --permutations",
            bytes as f64 / 1e9,
            MOST_KEPT as f64 / 1e9
        )));
    }
    Ok(())
}

impl Comparison {
    /// Compares the runs of scores that have the values of queries.
    ///
    /// # Errors
    /// An option out of its range; a baseline that is not among the runs; runs that cannot be compared: fewer than two, of other judgments,
    /// or ranked under other rules; a measure without a direction; a value that is not a number; no query in common.
    pub fn of(scores: &Scores, options: &ComparisonOptions) -> Result<Comparison> {
        Comparison::watched(scores, options, None)
    }

    /// Compares as [`Comparison::of`]; `watch` can stop the random draws.
    ///
    /// # Errors
    /// As [`Comparison::of`], and [`Error::Stopped`] once `watch` is told to stop.
    pub fn watched(
        scores: &Scores,
        options: &ComparisonOptions,
        watch: Option<&Watch>,
    ) -> Result<Comparison> {
        Ok(Comparison::summed(scores, options, false, watch)?.0)
    }

    /// Compares scores, and returns the sums as well, with those under random signs if `keep` says so.
    pub(super) fn summed(
        scores: &Scores,
        options: &ComparisonOptions,
        keep: bool,
        watch: Option<&Watch>,
    ) -> Result<(Comparison, RunSums)> {
        options.check()?;
        if scores.measures.is_empty() {
            return Err(Error::Unanswerable("there is no measure to compare by".to_owned()));
        }
        let values = Values::of(scores, options)?;
        let names: Vec<String> = scores.runs.iter().map(|run| run.name.clone()).collect();
        let pairs = pairs(names.len(), baseline(options, &names)?);
        let mut sums = RunSums::of(&values, &pairs, options, watch);
        let series = names.len() * scores.measures.len();
        if let Some(draws) = options.kept_draws(values.queries.len(), series).filter(|_| keep) {
            check_kept(draws, series)?;
            sums = sums.with_draws(&values, options.seed, draws, watch);
        }
        let of = (&scores.measures[..], &names[..], scores.queries);
        let mut comparison = Comparison::made(of, options, &sums, Some(&values), watch)?;
        let Values { ids, measures, lacking, .. } = values;
        comparison.ids = ids;
        comparison.terms = measures.into_iter().map(|of| of.terms).collect();
        comparison.lacking = lacking;
        comparison.note_filled();
        Ok((comparison, sums))
    }

    /// Makes a comparison of the runs `names` from their sums, and from the values themselves if they are given.
    pub(super) fn made(
        (measures, names, query_set): (&[Measure], &[String], QuerySet),
        options: &ComparisonOptions,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&Watch>,
    ) -> Result<Comparison> {
        let baseline = baseline(options, names)?;
        let mut comparison = Comparison {
            options: options.clone(),
            measures: measures.to_vec(),
            runs: Vec::new(),
            baseline,
            differences: Vec::new(),
            anova: Vec::new(),
            agreement: Vec::new(),
            query_set,
            queries: sums.queries as usize,
            family_size: 0,
            draws: 0,
            notes: Vec::new(),
            ids: Vec::new(),
            terms: vec![vec![Vec::new(); names.len()]; measures.len()],
            lacking: vec![Vec::new(); names.len()],
        };
        // The order matters: p come before the test that decides, that before its correction, and notes look at all of them.
        comparison.runs = comparison.compared(sums, names);
        comparison.describe(sums, values)?;
        not_stopped(watch)?;
        comparison.randomise(sums, values, watch);
        not_stopped(watch)?;
        comparison.decide();
        comparison.correct(sums, values, watch);
        not_stopped(watch)?;
        comparison.agree();
        comparison.note();
        Ok(comparison)
    }

    /// The differences under a measure.
    pub fn of_measure(&self, measure: usize) -> &[Difference] {
        let pairs = self.differences.len() / self.measures.len();
        &self.differences[measure * pairs..][..pairs]
    }

    /// The difference of two runs under a measure, whichever of them was subtracted.
    pub fn between(&self, measure: usize, one: usize, other: usize) -> Option<&Difference> {
        let wanted = [Pair { baseline: one, run: other }, Pair { baseline: other, run: one }];
        self.of_measure(measure).iter().find(|of| wanted.contains(&of.pair))
    }

    /// The ids of the queries, in bytewise order; empty if the values of queries are not known.
    pub fn query_ids(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ids.iter().map(Vec::as_slice)
    }

    /// Whether the values of queries are known. Those of merged parts are not.
    pub fn has_values(&self) -> bool {
        !self.ids.is_empty()
    }

    /// The terms that are averaged for a run under a measure, by query; empty if they are not known.
    pub fn values(&self, measure: usize, run: usize) -> &[f64] {
        &self.terms[measure][run]
    }

    /// The queries that a run lacks and that count as empty rankings, by their places among the ids, ascending; as far as they are known.
    pub fn lacking(&self, run: usize) -> &[usize] {
        &self.lacking[run]
    }

    /// The index of the best run under a measure; the first of several.
    pub fn best(&self, measure: usize) -> usize {
        let merits = self.merits(measure);
        (1..merits.len()).fold(0, |best, run| if merits[run] > merits[best] { run } else { best })
    }

    /// Whether a run lacks a query, which then counts as an empty ranking and has no value of its own; as far as that is known.
    pub fn lacks(&self, run: usize, query: usize) -> bool {
        self.lacking[run].binary_search(&query).is_ok()
    }

    /// By how much a query differs between the two runs of a pair: 0 if its values are equal within rounding.
    pub fn change(&self, of: &Difference, query: usize) -> f64 {
        let [a, b] = [of.pair.baseline, of.pair.run].map(|run| self.values(of.measure, run)[query]);
        if is_equal(a, b) { 0.0 } else { b - a }
    }

    /// Whether a run is the best under a measure, or equal to the best within rounding; no run is if all are equal.
    pub fn is_best(&self, measure: usize, run: usize) -> bool {
        let means: Vec<Option<f64>> = self.runs.iter().map(|run| Some(run.means[measure])).collect();
        are_best(&means, self.measures[measure].definition().better)[run]
    }

    /// Numbers by which the runs are ranked under a measure, the highest first: those of runs whose means are equal within rounding are equal.
    pub fn merits(&self, measure: usize) -> Vec<f64> {
        let sign = if self.measures[measure].definition().better == Better::Lower { -1.0 } else { 1.0 };
        settled(&self.runs.iter().map(|run| sign * run.means[measure]).collect::<Vec<f64>>())
    }

    /// The indices of the runs that a run is significantly better than under a measure.
    pub fn beaten(&self, measure: usize, run: usize) -> Vec<usize> {
        let beaten = |of: &Difference| {
            let (other, gain) = match of.pair {
                Pair { baseline, run: this } if this == run => (baseline, of.gain()),
                Pair { baseline: this, run: other } if this == run => (other, -of.gain()),
                _ => return None,
            };
            (gain > 0.0 && of.is_significant(self.options.alpha)).then_some(other)
        };
        let mut beaten: Vec<usize> = self.of_measure(measure).iter().filter_map(beaten).collect();
        beaten.sort_unstable();
        beaten
    }

    /// Whether a run, which is not the best under a measure, is not shown to be worse than the best. `None` if the two were not compared.
    pub fn is_tied_with_best(&self, measure: usize, run: usize) -> Option<bool> {
        // If all are equal, none is the best.
        let best = Some(self.best(measure)).filter(|&best| self.is_best(measure, best))?;
        let difference = self.between(measure, best, run).filter(|_| self.baseline.is_none())?;
        Some(!difference.is_significant(self.options.alpha))
    }

    /// Sets the share of judged documents of each run, from scores of `Judged` at the cutoffs of the measures.
    pub fn set_judged(&mut self, judged: &Scores) {
        let of_measure =
            |measure: &Measure| judged.measures.iter().position(|of| *of == judged_measure(measure));
        let places: Vec<Option<usize>> = self.measures.iter().map(of_measure).collect();
        for run in &mut self.runs {
            let scores = judged.run(&run.name);
            run.judged = places.iter().map(|place| scores?.average((*place)?)).collect();
        }
        self.note_judged();
    }

    /// Judges a gate for each run but the baseline, which is the first run if none was named.
    ///
    /// # Errors
    /// A gate on a measure that is not compared; a gate that cannot be told.
    pub fn judge(&self, gate: &Gate) -> Result<Vec<Judged>> {
        let unknown = || {
            Error::Unanswerable(format!("the gate `{gate}` is on {}, which is not compared", gate.measure()))
        };
        let measure = self.measures.iter().position(|of| of == gate.measure()).ok_or_else(unknown)?;
        let baseline = self.baseline.unwrap_or(0);
        let judged = |run: usize| {
            let difference = self.of_measure(measure).iter().find(|of| of.pair == Pair { baseline, run });
            let tails = difference.and_then(|of| Some((of.tails(self.options.test)?, of.better)));
            let verdict = gate.verdict(GateFacts {
                run: self.runs[run].means[measure],
                baseline: Some(self.runs[baseline].means[measure]),
                paired: difference.map(|of| &of.paired),
                worse: tails.map(|(tails, better)| tails.worse(better)),
            })?;
            Ok(Judged { run, verdict })
        };
        (0..self.runs.len()).filter(|&run| run != baseline).map(judged).collect()
    }

    /// The runs with their labels and means.
    fn compared(&self, sums: &RunSums, names: &[String]) -> Vec<Compared> {
        /// There is no q: as a superscript it is hard to tell from others.
        const LETTERS: &str = "abcdefghijklmnoprstuvwxyz";
        let label = |at: usize| match names.len() <= LETTERS.len() {
            true => LETTERS[at..=at].to_owned(),
            false => (at + 1).to_string(),
        };
        let mean = |(measure, of): (&Measure, &MeasureSums), run: usize| {
            let mean = of.runs[run].mean(self.queries);
            if measure.definition().average == Average::Geometric { mean.exp() } else { mean }
        };
        let run = |(at, name): (usize, &String)| Compared {
            name: name.clone(),
            label: label(at),
            filled: sums.filled[at] as usize,
            means: self.measures.iter().zip(&sums.measures).map(|of| mean(of, at)).collect(),
            judged: Vec::new(),
        };
        names.iter().enumerate().map(run).collect()
    }

    /// Computes the difference of each pair without random draws.
    fn describe(&mut self, sums: &RunSums, values: Option<&Values>) -> Result<()> {
        let n = self.queries;
        let effect = (n >= 2).then(|| smallest_effect(n as f64, self.options.alpha, WANTED));
        let pairs = pairs(self.runs.len(), self.baseline);
        // All pairs or none: p of one table must not be of two kinds because of a budget that ran out on the way.
        let is_exact = values.is_some_and(|values| {
            let of_measure = |of: &MeasureValues| pairs.iter().map(|&pair| exact_sums(of, pair)).sum::<f64>();
            n >= 2 && values.measures.iter().map(of_measure).sum::<f64>() <= EXACT_SUMS
        });
        for (measure, of) in sums.measures.iter().enumerate() {
            for (&pair, pair_sums) in pairs.iter().zip(&of.pairs) {
                let paired = pair_sums.paired(of.unit).ok_or_else(|| {
                    let runs = [pair.baseline, pair.run].map(|at| self.runs[at].name.as_str());
                    let measure = &self.measures[measure];
                    let message = format!(
                        "{} and {} differ by too much under {measure} for numbers of 64 bits",
                        runs[0], runs[1]
                    );
                    Error::Unanswerable(message)
                })?;
                let mut difference = self.difference((measure, pair), pair_sums, paired, effect);
                let counts = values.map(|values| values.measures[measure].counts_of(pair));
                if let Some(counts) = &counts {
                    difference.exact = if is_exact { ExactCounts::of(counts).map(exact_tails) } else { None };
                    difference.wilcoxon = (self.options.test == Test::Wilcoxon && n >= 2)
                        .then(|| signed_ranks(counts, self.options.zeros, self.options.wilcoxon).p);
                }
                if let Some(resamples) = &sums.resamples {
                    let at = |run| measure * self.runs.len() + run;
                    let means = resamples.means(Pair { baseline: at(pair.baseline), run: at(pair.run) });
                    difference.interval = self.resampled(&means, &paired, of.unit, counts.as_deref());
                }
                self.differences.push(difference);
            }
        }
        Ok(())
    }

    /// The interval of a mean difference from resamples. BCa needs the differences themselves.
    fn resampled(
        &self,
        means: &Means,
        paired: &Paired,
        unit: Unit,
        counts: Option<&[i64]>,
    ) -> Option<[f64; 2]> {
        if paired.queries < 2 {
            return None;
        }
        if paired.all_zero {
            return Some([0.0, 0.0]);
        }
        let interval = match self.options.interval {
            Interval::Bca => means.bca(self.options.alpha, unit, counts?).interval,
            _ => means.percentiles(self.options.alpha, unit),
        };
        interval.map(|(low, high)| [low, high])
    }

    fn difference(
        &self,
        (measure, pair): (usize, Pair),
        sums: &PairSums,
        paired: Paired,
        effect: Option<f64>,
    ) -> Difference {
        let options = &self.options;
        let definition = self.measures[measure].definition();
        let logarithmic = definition.average == Average::Geometric;
        let baseline = self.runs[pair.baseline].means[measure];
        let sd = paired.sd.filter(|&sd| sd > 0.0);
        Difference {
            measure,
            pair,
            better: definition.better,
            logarithmic,
            relative: match logarithmic {
                true => Some(paired.mean.exp() - 1.0),
                false => (baseline != 0.0).then(|| paired.mean / baseline),
            },
            interval: paired.interval(options.alpha),
            t: paired.p(),
            randomised: None,
            exact: None,
            wilcoxon: None,
            sign: signs(sums.above, sums.below),
            p: None,
            p_adjusted: None,
            wins: sums.wins,
            smallest_found: effect.zip(sd).map(|(effect, sd)| effect * sd),
            queries_needed: options
                .power
                .zip(sd)
                .and_then(|(power, sd)| queries_for(power / sd, options.alpha, WANTED)),
            p_margin: options
                .margin
                .and_then(|margin| paired.margin_p(margin))
                .map(|[below, above]| below.max(above)),
            is_equivalent: options.margin.and_then(|margin| paired.is_equivalent(margin, options.alpha)),
            paired,
        }
    }

    /// The families of hypotheses, each as the indices of their differences.
    fn families(&self) -> Vec<Vec<usize>> {
        let places: Vec<usize> = (0..self.differences.len()).collect();
        match self.options.family {
            Scope::All => vec![places],
            Scope::Measure => {
                places.chunks(places.len() / self.measures.len()).map(<[usize]>::to_vec).collect()
            }
        }
    }

    /// Draws signs, or takes those that were kept, and counts the draws as extreme as each pair, alone and in its family.
    fn randomise(&mut self, sums: &RunSums, values: Option<&Values>, watch: Option<&Watch>) {
        if self.queries < 2 {
            return;
        }
        let families = self.hypotheses(sums);
        let drawn = match (&sums.drawn, values) {
            (Some(drawn), _) => Some((tallies_of_sums(drawn, &families), sums.draws().unwrap_or(0))),
            (None, Some(values)) => self.draw(values, &families, watch),
            (None, None) => {
                self.notes.push(format!(
                    "the randomisation test was left out: --permutations {DRAWS} in each part runs it"
                ));
                None
            }
        };
        let Some((all, drawn)) = drawn else { return };
        self.draws = drawn;
        let max_t: Vec<Option<f64>> = all
            .iter()
            .zip(&families)
            .flat_map(|(tally, family)| {
                tally.max_t(family).into_iter().map(|count| count.map(|count| tally.p(count)))
            })
            .collect();
        let tails = all.iter().flat_map(|tally| {
            tally.counts.iter().map(|of| Tails {
                two_sided: tally.p(of.two_sided),
                higher: tally.p(of.greater),
                lower: tally.p(of.less),
            })
        });
        for ((of, tails), max_t) in self.differences.iter_mut().zip(tails).zip(max_t) {
            of.randomised = Some(tails);
            if self.options.correction == Correction::MaxT {
                of.p_adjusted = max_t;
            }
        }
    }

    /// The families of hypotheses, with the sums of their pairs. The indices of the runs are those in a list of all measures.
    fn hypotheses(&self, sums: &RunSums) -> Vec<Family> {
        let (runs, pairs) = (self.runs.len(), pairs(self.runs.len(), self.baseline));
        let of_measure = |(measure, of): (usize, &MeasureSums)| {
            let at = |run| measure * runs + run;
            let hypothesis = |(pair, sums): (&Pair, &PairSums)| {
                sums.hypothesis(Pair { baseline: at(pair.baseline), run: at(pair.run) })
            };
            pairs.iter().zip(&of.pairs).map(hypothesis).collect::<Vec<Hypothesis>>()
        };
        let all = sums.measures.iter().enumerate().map(of_measure);
        match self.options.family {
            Scope::Measure => all.map(|of| Family::new(self.queries, of)).collect(),
            Scope::All => vec![Family::new(self.queries, all.flatten().collect())],
        }
    }

    /// Draws signs until the draws suffice. Returns the tallies and the number of draws; `None` if drawing would take too long.
    fn draw(
        &mut self,
        values: &Values,
        families: &[Family],
        watch: Option<&Watch>,
    ) -> Option<(Vec<DrawTally>, u32)> {
        let series = values.series();
        let draws: &[u32] = match self.options.permutations {
            Permutations::Fixed(draws) => &[draws],
            Permutations::Auto => &AUTO,
            Permutations::Affordable if is_affordable(&self.options, self.queries, series.len()) => &[DRAWS],
            Permutations::Affordable => {
                self.notes.push(format!(
                    "the randomisation test was left out, which would take some {:.0} min of a core: --permutations {DRAWS} runs it",
                    (cost(self.queries, series.len()) / 6e9 / 60.0).max(1.0)
                ));
                return None;
            }
        };
        let flips = Flips::new(self.options.seed, &values.queries).watched(watch);
        let mut all: Vec<DrawTally> = families.iter().map(DrawTally::new).collect();
        let mut drawn = 0;
        for &end in draws {
            let more = tallies(&flips, &series, families, drawn..end);
            all.iter_mut().zip(&more).for_each(|(all, more)| all.merge(more));
            drawn = end;
            let alpha = self.options.alpha;
            // Draws suffice once every two-sided p is four of its standard errors from α. More draws then change digits, and a decision
            // only with a chance below 10⁻⁴ for each p.
            let clear = all.iter().flat_map(|tally| tally.counts.iter().map(|of| tally.p(of.two_sided)));
            if draws.len() > 1
                && clear.into_iter().all(|p| (p - alpha).abs() > 4.0 * monte_carlo_error(p, drawn))
            {
                break;
            }
        }
        Some((all, drawn))
    }

    /// Sets the p of the test that decides.
    fn decide(&mut self) {
        let ComparisonOptions { test, alternative, .. } = self.options;
        for of in &mut self.differences {
            let tails = of.tails(test);
            of.p = tails.map(|tails| match alternative {
                Alternative::TwoSided => tails.two_sided,
                Alternative::Better => tails.better(of.better),
                Alternative::Worse => tails.worse(of.better),
            });
        }
    }

    /// Corrects for many comparisons.
    fn correct(&mut self, sums: &RunSums, values: Option<&Values>, watch: Option<&Watch>) {
        let families = self.families();
        self.family_size = families.first().map_or(0, Vec::len);
        let anova = |of: &MeasureSums| Anova::of(&of.runs, of.spread.as_ref()?, of.unit);
        self.anova = sums.measures.iter().filter_map(anova).collect();
        let correct: fn(&[Option<f64>]) -> Vec<Option<f64>> = match self.options.correction {
            Correction::MaxT => return,
            Correction::Hsd => {
                for of in &mut self.differences {
                    let anova = self.anova.get(of.measure);
                    of.p_adjusted = anova.and_then(|anova| anova.tukey_p(of.pair.baseline, of.pair.run));
                }
                return;
            }
            Correction::Rhsd => return self.permute_labels(sums, values, watch),
            Correction::None => <[Option<f64>]>::to_vec,
            Correction::Bonferroni => family::bonferroni,
            Correction::Holm => family::holm,
            Correction::Bh => family::benjamini_hochberg,
            Correction::By => family::benjamini_yekutieli,
        };
        for family in families {
            let p: Vec<Option<f64>> = family.iter().map(|&at| self.differences[at].p).collect();
            for (at, p) in family.into_iter().zip(correct(&p)) {
                self.differences[at].p_adjusted = p;
            }
        }
    }

    /// Computes the p of the randomised HSD under each measure.
    fn permute_labels(&mut self, sums: &RunSums, values: Option<&Values>, watch: Option<&Watch>) {
        let Some(values) = values.filter(|_| self.queries >= 2) else { return };
        let draws = match self.options.permutations {
            Permutations::Fixed(draws) => draws,
            _ => DRAWS,
        };
        let pairs = pairs(self.runs.len(), self.baseline);
        let mut p = Vec::new();
        for (of, sums) in values.measures.iter().zip(&sums.measures) {
            let runs: Vec<&[i64]> = of.counts.iter().map(Vec::as_slice).collect();
            let hypotheses = pairs.iter().zip(&sums.pairs).map(|(&pair, sums)| sums.hypothesis(pair));
            let family = Family::new(self.queries, hypotheses.collect());
            let counts = range_counts(self.options.seed, &values.queries, &runs, &family, 0..draws, watch);
            p.extend(counts.into_iter().map(|count| p_of_count(count, u64::from(draws))));
        }
        for (of, p) in self.differences.iter_mut().zip(p) {
            of.p_adjusted = Some(p);
        }
    }

    /// Compares the ranking of the runs by each measure with that by the first.
    fn agree(&mut self) {
        if self.runs.len() < 3 {
            return;
        }
        let first = self.merits(0);
        let agreement = |measure| {
            let other = self.merits(measure);
            Agreement {
                measure,
                tau: agreement::tau_b(&first, &other),
                tau_ap: agreement::tau_ap_b(&first, &other),
                overlap: agreement::rank_biased_overlap(&first, &other, 0.9, Tie::A),
            }
        };
        self.agreement = (1..self.measures.len()).map(agreement).collect();
    }
}

/// The standard deviation of a p of `draws` random draws.
pub fn monte_carlo_error(p: f64, draws: u32) -> f64 {
    (p * (1.0 - p) / f64::from(draws)).sqrt()
}

/// `Judged` down to the cutoff of a measure.
pub fn judged_measure(measure: &Measure) -> Measure {
    let cutoff = measure.cutoff().filter(|cutoff| cutoff.fract() == 0.0 && *cutoff >= 1.0);
    let name = cutoff.map_or("Judged".to_owned(), |cutoff| format!("Judged@{cutoff}"));
    name.parse().unwrap_or_else(|_| unreachable!("{name} is a measure"))
}

/// The number of sums that the exact test of a pair sorts; 0 if the pair is too large for the test.
fn exact_sums(of: &MeasureValues, pair: Pair) -> f64 {
    let counts = of.counts[pair.baseline].iter().zip(&of.counts[pair.run]);
    let differ =
        counts.filter(|(baseline, run)| !is_zero(*run - *baseline)).take(super::exact::MOST + 1).count();
    if differ > super::exact::MOST { 0.0 } else { 2f64.powf(differ as f64 / 2.0 + 1.0) }
}

/// The p of exact counts.
fn exact_tails(exact: ExactCounts) -> Tails {
    Tails {
        two_sided: exact.p(exact.counts.two_sided),
        higher: exact.p(exact.counts.greater),
        lower: exact.p(exact.counts.less),
    }
}

/// The number of signs that are added in [`DRAWS`] draws for `queries` values of each of `series`.
fn cost(queries: usize, series: usize) -> f64 {
    queries as f64 * series as f64 * (f64::from(DRAWS) + 1.0)
}

/// Whether signs are drawn if the user gave no number of draws.
pub(super) fn is_affordable(options: &ComparisonOptions, queries: usize, series: usize) -> bool {
    let needed = options.correction == Correction::MaxT || options.test == Test::Randomisation;
    needed || cost(queries, series) <= AFFORDABLE
}

/// The index of the baseline, if there is one.
pub(super) fn baseline(options: &ComparisonOptions, names: &[String]) -> Result<Option<usize>> {
    let Some(name) = &options.baseline else { return Ok(None) };
    let place = names.iter().position(|of| of == name).ok_or_else(|| {
        Error::Unanswerable(format!(
            "no run has the name {name}, the baseline: there are {}",
            names.join(", ")
        ))
    })?;
    Ok(Some(place))
}

/// The number of pairs that are compared: each other run with the baseline, or all pairs.
#[cfg(feature = "serde")]
pub(super) fn count_of_pairs(runs: usize, baseline: bool) -> usize {
    if baseline { runs - 1 } else { runs.saturating_mul(runs - 1) / 2 }
}

/// The pairs that are compared.
pub(super) fn pairs(runs: usize, baseline: Option<usize>) -> Vec<Pair> {
    match baseline {
        Some(baseline) => {
            (0..runs).filter(|&run| run != baseline).map(|run| Pair { baseline, run }).collect()
        }
        None => (0..runs)
            .flat_map(|baseline| (baseline + 1..runs).map(move |run| Pair { baseline, run }))
            .collect(),
    }
}
