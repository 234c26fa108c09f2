//! The making of a comparison of runs: sums, then the p of each test, then the test that decides,
//! then its correction.

use super::agreement::{self, RboTies};
use super::anova::Anova;
use super::bootstrap::{ResampleKind, ResampledMeans};
use super::comparison::{Agreement, Comparison, RunStats};
use super::difference::Difference;
use super::exact::{self, ExactCounts};
use super::family;
use super::options::{
    Alternative, ComparisonOptions, Correction, Interval, Permutations, Scope, Test,
};
use super::paired::Paired;
use super::pairs::{baseline, pairs};
use super::power::{queries_for, smallest_effect};
use super::randomised::Pair;
use super::ranks::{signed_ranks, signs};
use super::stems::{groups_said, shared_said};
use super::sums::{MeasureSums, PairSums, RunSums};
use super::unit::{Unit, is_zero};
use super::values::{MeasureValues, Values};
use crate::error::{Error, Result, unanswerable};
use crate::measure::{Average, Measure, NoRelevant};
use crate::progress::{ProgressHandle, check_stopped};
use crate::scores::{QuerySet, Scores};

/// The affordable number of sums of halves in exact tests.
const EXACT_SUMS: f64 = 2e9;
/// The number of sums of halves per core and second: 2²¹ sums, for 2⁴⁰ flips, take 30 ms
/// (`benches/RESULTS.md`).
const SUMS_PER_SECOND: f64 = 7e7;

/// The wanted chance to find a difference.
const WANTED: f64 = 0.8;

/// The most bytes of the sums that a part keeps.
const MOST_KEPT: u64 = 4 << 30;

/// Rejects a number of sign draws whose sums, kept for each series, would take too much memory.
fn check_kept(draws: u32, series: usize) -> Result<()> {
    // Narrow sums take 8 bytes, but whether sums are narrow is known only once they are drawn.
    let bytes =
        u64::from(draws).saturating_mul(series as u64).saturating_mul(size_of::<i128>() as u64);
    if bytes > MOST_KEPT {
        return unanswerable(format!(
            "a part keeps 16 bytes for each draw, run and measure, here {:.1} GB, and at most \
             {:.1}: take fewer --permutations",
            bytes as f64 / 1e9,
            MOST_KEPT as f64 / 1e9
        ));
    }
    Ok(())
}

/// The runs of a comparison: their names, the measures, and the set of queries that count.
#[derive(Clone, Copy)]
pub(super) struct RunSet<'a> {
    pub measures: &'a [Measure],
    pub names: &'a [String],
    pub query_set: QuerySet,
}

impl Comparison {
    /// Compares the runs of an evaluation whose scores have per-query values.
    ///
    /// # Errors
    /// An option out of its range; a baseline that is not among the runs; fewer than two runs; runs
    /// with different judgments or ranking rules; a measure without a direction; a value that is
    /// not a number; no query in common.
    pub fn new(scores: &Scores, options: &ComparisonOptions) -> Result<Self> {
        Self::new_with_progress(scores, options, None)
    }

    /// Compares runs as [`Comparison::new`] does; `watch` sees the progress and can stop the random
    /// draws.
    ///
    /// # Errors
    /// As [`Comparison::new`], and [`Error::Stopped`] once `watch` is told to stop.
    pub fn new_with_progress(
        scores: &Scores,
        options: &ComparisonOptions,
        watch: Option<&ProgressHandle>,
    ) -> Result<Self> {
        Ok(Self::with_sums(scores, options, false, watch)?.0)
    }

    /// Compares the runs of scores, and returns the sums behind the comparison as well; `keep`
    /// makes the sums mergeable, with those under random signs.
    pub(super) fn with_sums(
        scores: &Scores,
        options: &ComparisonOptions,
        keep: bool,
        watch: Option<&ProgressHandle>,
    ) -> Result<(Self, RunSums)> {
        options.check()?;
        if scores.measures.is_empty() {
            return unanswerable("there is no measure to compare by");
        }
        let values = Values::from_scores(scores, options)?;
        let names: Vec<String> = scores.runs.iter().map(|run| run.name.clone()).collect();
        let pairs = pairs(names.len(), baseline(options, &names)?);
        let kind = if keep { ResampleKind::Part } else { ResampleKind::Whole };
        let mut sums = RunSums::from_values(&values, &pairs, options, kind, watch);
        let series = names.len() * scores.measures.len();
        if let Some(draws) = options.stored_draws(values.queries.len(), series).filter(|_| keep) {
            check_kept(draws, series)?;
            sums = sums.with_draws(&values, options.seed, draws, watch);
        }
        let query_set = scores.settings.queries;
        let run_set = RunSet { measures: &scores.measures, names: &names, query_set };
        let mut comparison = Self::from_sums(run_set, options, &sums, Some(&values), watch)?;
        let Values { ids, measures, lacking, .. } = values;
        comparison.ids = ids;
        comparison.terms = measures.into_iter().map(|values| values.terms).collect();
        comparison.lacking = lacking;
        comparison.note_filled();
        // One note is enough: both say that queries come in groups.
        let note = groups_said(&comparison.ids).or_else(|| {
            scores
                .shared_judgments
                .map(|judgments| shared_said(judgments.queries, judgments.groups))
        });
        comparison.notes.extend(note);
        if keep {
            comparison.note_part();
        }
        Ok((comparison, sums))
    }

    /// Makes a comparison of runs from their sums over queries, and from the per-query values too
    /// if they are given.
    pub(super) fn from_sums(
        run_set: RunSet<'_>,
        options: &ComparisonOptions,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&ProgressHandle>,
    ) -> Result<Self> {
        let RunSet { measures, names, query_set } = run_set;
        let baseline = baseline(options, names)?;
        let mut comparison = Self {
            options: options.clone(),
            measures: measures.to_vec(),
            runs: Vec::new(),
            baseline,
            differences: Vec::new(),
            anova: Vec::new(),
            agreement: Vec::new(),
            query_set,
            queries: sums.queries as usize,
            skipped: sums
                .measures
                .iter()
                .map(|measured| (sums.queries - measured.queries) as usize)
                .collect(),
            family_size: 0,
            draws: 0,
            notes: Vec::new(),
            ids: Vec::new(),
            terms: vec![vec![Vec::new(); names.len()]; measures.len()],
            lacking: vec![Vec::new(); names.len()],
            group: None,
        };
        if let Some((measure, _)) =
            measures.iter().zip(&sums.measures).find(|(_, sums)| sums.queries == 0)
        {
            return unanswerable(format!(
                "no query has a value under {measure}: there is nothing to compare"
            ));
        }
        // The order matters: `decide` needs the p of the tests, `correct` needs the deciding p, and
        // `note` needs the p before and after the correction.
        comparison.runs = comparison.compared(sums, names);
        comparison.describe(sums, values, watch)?;
        check_stopped(watch)?;
        comparison.randomise(sums, values, watch);
        check_stopped(watch)?;
        comparison.decide();
        comparison.correct(sums, values, watch);
        check_stopped(watch)?;
        comparison.agree();
        comparison.note();
        Ok(comparison)
    }

    /// Returns the compared runs with their names, letters and means.
    fn compared(&self, sums: &RunSums, names: &[String]) -> Vec<RunStats> {
        /// The letter q is left out, because a superscript q is hard to tell from other letters.
        const LETTERS: &str = "abcdefghijklmnoprstuvwxyz";
        let runs = names.iter().enumerate().map(|(at, name)| {
            let means = self.measures.iter().zip(&sums.measures).map(|(measure, sums)| {
                let mean = sums.runs[at].mean(sums.queries as usize);
                if measure.definition().average == Average::Geometric { mean.exp() } else { mean }
            });
            RunStats {
                name: name.clone(),
                label: if names.len() <= LETTERS.len() {
                    LETTERS[at..=at].to_owned()
                } else {
                    (at + 1).to_string()
                },
                filled: sums.filled[at] as usize,
                means: means.collect(),
                judged: Vec::new(),
            }
        });
        runs.collect()
    }

    /// Computes the difference of each pair of runs, with every test but the randomisation test by
    /// random signs.
    fn describe(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&ProgressHandle>,
    ) -> Result<()> {
        let pairs = pairs(self.runs.len(), self.baseline);
        let is_exact = self.decides_exactly(values, &pairs);
        // The series of queries without a value lie behind those of all runs, one for each measure
        // that may skip queries, in the order of the measures.
        let mut indicators = self.measures.len() * self.runs.len()..;
        for (measure, measure_sums) in sums.measures.iter().enumerate() {
            let n = measure_sums.queries;
            let effect = (n >= 2).then(|| smallest_effect(n as f64, self.options.alpha, WANTED));
            let may_skip = self.measures[measure].no_relevant() == NoRelevant::Skip;
            let without = if may_skip { indicators.next() } else { None };
            for (&pair, pair_sums) in pairs.iter().zip(&measure_sums.pairs) {
                let paired = pair_sums.paired(measure_sums.unit).ok_or_else(|| {
                    let [run, baseline] = self.pair_names(pair);
                    let measure = &self.measures[measure];
                    Error::Unanswerable(format!(
                        "{baseline} and {run} differ by too much under {measure} for numbers of 64 \
                         bits"
                    ))
                })?;
                let mut difference = self.difference(measure, pair, pair_sums, paired, effect);
                let counts = values.map(|values| values.measures[measure].counts_of(pair));
                if let Some(counts) = &counts {
                    check_stopped(watch)?;
                    difference.exact = if is_exact {
                        ExactCounts::count(counts).map(ExactCounts::tails)
                    } else {
                        None
                    };
                    difference.wilcoxon = (self.options.test == Test::Wilcoxon && n >= 2)
                        .then(|| signed_ranks(counts, self.options.zeros, self.options.wilcoxon).p);
                }
                if let Some(resamples) = &sums.resamples {
                    let means = resamples.means(pair.shift(measure * self.runs.len()), without);
                    difference.interval =
                        self.resampled(&means, &paired, measure_sums.unit, counts.as_deref());
                }
                self.differences.push(difference);
            }
        }
        Ok(())
    }

    /// Returns whether the randomisation test counts all sign flips exactly; a note tells if that
    /// would take too long. With a fixed number of draws, the draws decide.
    fn decides_exactly(&mut self, values: Option<&Values>, pairs: &[Pair]) -> bool {
        let Some(values) = values.filter(|_| self.queries >= 2) else { return false };
        match (self.options.permutations, self.options.test) {
            (Permutations::Exact, _) => return true,
            (Permutations::Default | Permutations::Auto, Test::Randomisation) => {}
            _ => return false,
        }
        // All pairs or none: p of one table must not be of two kinds because of a budget that ran
        // out on the way.
        let sums_by_measure = values
            .measures
            .iter()
            .map(|values| pairs.iter().map(|&pair| exact_sums(values, pair)).sum::<f64>());
        let sums: f64 = sums_by_measure.sum();
        if sums > EXACT_SUMS {
            self.notes.push(format!(
                "random draws decide, and not the exact p of the pairs of which few queries \
                 differ, which would take some {:.0} s of a core: \
                 --permutations exact computes them",
                sums / SUMS_PER_SECOND
            ));
        }
        sums <= EXACT_SUMS
    }

    /// Returns the bootstrap interval of a mean difference, by plain percentiles or by BCa. BCa
    /// needs the differences themselves.
    fn resampled(
        &self,
        means: &ResampledMeans,
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
        measure: usize,
        pair: Pair,
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
            relative: if logarithmic {
                Some(paired.mean.exp() - 1.0)
            } else {
                (baseline != 0.0).then(|| paired.mean / baseline)
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
                .and_then(|margin| paired.tost_p(margin))
                .map(|[below, above]| below.max(above)),
            is_equivalent: options
                .margin
                .and_then(|margin| paired.is_equivalent(margin, options.alpha)),
            paired,
        }
    }

    /// Returns the families of differences that are corrected together, each as indices into the
    /// differences.
    fn families(&self) -> Vec<Vec<usize>> {
        // Differences lie measure by measure, with as many pairs under each.
        let all = self.differences.len();
        let size = match self.options.family {
            Scope::All => all,
            Scope::Measure => all / self.measures.len(),
        };
        (0..all).step_by(size).map(|first| (first..first + size).collect()).collect()
    }

    /// Sets the uncorrected p of each difference: that of the deciding test for the chosen
    /// alternative.
    fn decide(&mut self) {
        let ComparisonOptions { test, alternative, .. } = self.options;
        for difference in &mut self.differences {
            let tails = difference.tails(test);
            difference.p = tails.map(|tails| match alternative {
                Alternative::TwoSided => tails.two_sided,
                Alternative::Better => tails.better(difference.better),
                Alternative::Worse => tails.worse(difference.better),
            });
        }
    }

    /// Corrects the p of all differences for the number of comparisons, by the chosen correction.
    fn correct(&mut self, sums: &RunSums, values: Option<&Values>, watch: Option<&ProgressHandle>) {
        let families = self.families();
        self.family_size = families.first().map_or(0, Vec::len);
        let analyses =
            sums.measures.iter().filter_map(|MeasureSums { runs, spread, unit, .. }| {
                Anova::from_sums(runs, spread.as_ref()?, *unit)
            });
        self.anova = analyses.collect();
        let correct: fn(&[Option<f64>]) -> Vec<Option<f64>> = match self.options.correction {
            // `randomise` set the p of maxT from the draws.
            Correction::MaxT => return,
            Correction::Hsd => {
                for difference in &mut self.differences {
                    let anova = self.anova.get(difference.measure);
                    difference.p_adjusted = anova.and_then(|anova| {
                        anova.tukey_p(difference.pair.baseline, difference.pair.run)
                    });
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

    /// Computes the rank correlations of each measure's ranking of the runs with that of the first
    /// measure.
    fn agree(&mut self) {
        if self.runs.len() < 3 {
            return;
        }
        let first = self.ranking_keys(0);
        for measure in 1..self.measures.len() {
            let other = self.ranking_keys(measure);
            self.agreement.push(Agreement {
                measure,
                tau: agreement::tau_b(&first, &other),
                tau_ap: agreement::tau_ap_b(&first, &other),
                overlap: agreement::rank_biased_overlap(&first, &other, 0.9, RboTies::A),
            });
        }
    }

    /// Sets the share of judged documents of each run, from scores of the measure `Judged` at the
    /// cutoffs of the measures.
    pub fn set_judged_share(&mut self, judged: &Scores) {
        let places = self.measures.iter().map(|measure| {
            let wanted = judged_measure(measure);
            judged.measures.iter().position(|candidate| *candidate == wanted)
        });
        let places: Vec<Option<usize>> = places.collect();
        for run in &mut self.runs {
            let scores = judged.run(&run.name);
            run.judged = places.iter().map(|place| scores?.average((*place)?)).collect();
        }
        self.note_judged();
    }
}

/// Returns the number of sums that the exact randomisation test of a pair of runs sorts; 0 if too
/// many queries differ.
fn exact_sums(values: &MeasureValues, pair: Pair) -> f64 {
    let counts = values.counts[pair.baseline].iter().zip(&values.counts[pair.run]);
    let differ = counts
        .filter(|(baseline, run)| !is_zero(*run - *baseline))
        .take(exact::MAX_DIFFERENCES + 1)
        .count();
    if differ > exact::MAX_DIFFERENCES { 0.0 } else { 2f64.powf(differ as f64 / 2.0 + 1.0) }
}

/// Returns the measure `Judged`, the share of judged documents, at the cutoff of another measure.
pub fn judged_measure(measure: &Measure) -> Measure {
    // The cutoff of a recall level is a share, and `Judged` has cutoffs of ranks alone.
    let cutoff = measure.cutoff().filter(|cutoff| cutoff.fract() == 0.0 && *cutoff >= 1.0);
    let name = cutoff.map_or("Judged".to_owned(), |cutoff| format!("Judged@{cutoff}"));
    name.parse().unwrap_or_else(|_| unreachable!("{name} is a measure"))
}
