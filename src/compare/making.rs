//! How a comparison is made: sums, then p, then the test that decides, then its correction.

use super::agreement::{self, Tie};
use super::anova::Anova;
use super::bootstrap::{Means, ResampleKind};
use super::comparison::{Agreement, Compared, Comparison};
use super::difference::Difference;
use super::exact::{self, ExactCounts};
use super::family;
use super::options::{
    Alternative, ComparisonOptions, Correction, Interval, Permutations, Scope, Test,
};
use super::paired::{Paired, Tails};
use super::pairs::{baseline, pairs};
use super::power::{queries_for, smallest_effect};
use super::randomised::Pair;
use super::ranks::{signed_ranks, signs};
use super::stems::{groups_said, shared_said};
use super::sums::{MeasureSums, PairSums, RunSums};
use super::units::{Unit, is_zero};
use super::values::{MeasureValues, Values};
use crate::error::{Error, Result};
use crate::measure::{Average, Measure, OfNothing};
use crate::scores::{QuerySet, Scores};
use crate::watch::{Watch, not_stopped};

/// The affordable number of sums of halves in exact tests.
const EXACT_SUMS: f64 = 2e9;
/// The number of sums of halves per core and second: 2²¹ sums, for 2⁴⁰ flips, take 30 ms
/// (`benches/RESULTS.md`).
const SUMS_PER_SECOND: f64 = 7e7;

/// The wanted chance to find a difference.
const WANTED: f64 = 0.8;

/// The most bytes of the sums that a part keeps.
const MOST_KEPT: u64 = 4 << 30;

/// Checks that there should be memory for the sums of all series under all draws.
fn check_kept(draws: u32, series: usize) -> Result<()> {
    let bytes =
        u64::from(draws).saturating_mul(series as u64).saturating_mul(size_of::<i128>() as u64);
    if bytes > MOST_KEPT {
        return Err(Error::Unanswerable(format!(
            "a part keeps 16 bytes for each draw, run and measure, here {:.1} GB, and at most \
             {:.1}: take fewer --permutations",
            bytes as f64 / 1e9,
            MOST_KEPT as f64 / 1e9
        )));
    }
    Ok(())
}

/// Runs to be compared: their names, the measures, and the queries that count.
#[derive(Clone, Copy)]
pub(super) struct ComparedRuns<'a> {
    pub measures: &'a [Measure],
    pub names: &'a [String],
    pub query_set: QuerySet,
}

impl Comparison {
    /// Compares the runs of scores with per-query values.
    ///
    /// # Errors
    /// An option out of its range; a baseline that is not among the runs; fewer than two runs; runs
    /// with different judgments or ranking rules; a measure without a direction; a value that is
    /// not a number; no query in common.
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

    /// Compares scores, and returns the sums as well, with those under random signs if `keep` says
    /// so.
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
        let kind = if keep { ResampleKind::Part } else { ResampleKind::Whole };
        let mut sums = RunSums::of(&values, &pairs, (options, kind), watch);
        let series = names.len() * scores.measures.len();
        if let Some(draws) = options.kept_draws(values.queries.len(), series).filter(|_| keep) {
            check_kept(draws, series)?;
            sums = sums.with_draws(&values, options.seed, draws, watch);
        }
        let of =
            ComparedRuns { measures: &scores.measures, names: &names, query_set: scores.queries };
        let mut comparison = Comparison::made(of, options, &sums, Some(&values), watch)?;
        let Values { ids, measures, lacking, .. } = values;
        comparison.ids = ids;
        comparison.terms = measures.into_iter().map(|of| of.terms).collect();
        comparison.lacking = lacking;
        comparison.note_filled();
        let shared = || scores.shared_judgments.map(|of| shared_said(of.queries, of.groups));
        comparison.notes.extend(groups_said(&comparison.ids).or_else(shared));
        if keep {
            comparison.note_part();
        }
        Ok((comparison, sums))
    }

    /// Makes a comparison of runs from their sums, and from the values themselves if they are
    /// given.
    pub(super) fn made(
        of: ComparedRuns<'_>,
        options: &ComparisonOptions,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&Watch>,
    ) -> Result<Comparison> {
        let ComparedRuns { measures, names, query_set } = of;
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
            skipped: sums.measures.iter().map(|of| (sums.queries - of.queries) as usize).collect(),
            family_size: 0,
            draws: 0,
            notes: Vec::new(),
            ids: Vec::new(),
            terms: vec![vec![Vec::new(); names.len()]; measures.len()],
            lacking: vec![Vec::new(); names.len()],
            group: None,
        };
        if let Some((measure, _)) =
            measures.iter().zip(&sums.measures).find(|(_, of)| of.queries == 0)
        {
            return Err(Error::Unanswerable(format!(
                "no query has a value under {measure}: there is nothing to compare"
            )));
        }
        // The order matters: `decide` needs the p of the tests, `correct` needs the deciding p, and
        // `note` needs the p before and after the correction.
        comparison.runs = comparison.compared(sums, names);
        comparison.describe(sums, values, watch)?;
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

    /// The runs with their labels and means.
    fn compared(&self, sums: &RunSums, names: &[String]) -> Vec<Compared> {
        /// The letter q is left out, because a superscript q is hard to tell from other letters.
        const LETTERS: &str = "abcdefghijklmnoprstuvwxyz";
        let label = |at: usize| {
            if names.len() <= LETTERS.len() {
                LETTERS[at..=at].to_owned()
            } else {
                (at + 1).to_string()
            }
        };
        let mean = |(measure, of): (&Measure, &MeasureSums), run: usize| {
            let mean = of.runs[run].mean(of.queries as usize);
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
    fn describe(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&Watch>,
    ) -> Result<()> {
        let pairs = pairs(self.runs.len(), self.baseline);
        let is_exact = self.decides_exactly(values, &pairs);
        let mut indicators = self.measures.len() * self.runs.len()..;
        for (measure, of) in sums.measures.iter().enumerate() {
            let n = of.queries;
            let effect = (n >= 2).then(|| smallest_effect(n as f64, self.options.alpha, WANTED));
            let may_skip = self.measures[measure].of_nothing() == OfNothing::Skip;
            let without = if may_skip { indicators.next() } else { None };
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
                    not_stopped(watch)?;
                    difference.exact =
                        if is_exact { ExactCounts::of(counts).map(exact_tails) } else { None };
                    difference.wilcoxon = (self.options.test == Test::Wilcoxon && n >= 2)
                        .then(|| signed_ranks(counts, self.options.zeros, self.options.wilcoxon).p);
                }
                if let Some(resamples) = &sums.resamples {
                    let at = |run| measure * self.runs.len() + run;
                    let means = resamples
                        .means(Pair { baseline: at(pair.baseline), run: at(pair.run) }, without);
                    difference.interval =
                        self.resampled(&means, &paired, of.unit, counts.as_deref());
                }
                self.differences.push(difference);
            }
        }
        Ok(())
    }

    /// Decides whether the exact p of the randomisation test is computed: where it decides itself,
    /// or was asked for; a note says where that would take too long. A number of draws that was
    /// asked for decides itself.
    fn decides_exactly(&mut self, values: Option<&Values>, pairs: &[Pair]) -> bool {
        let Some(values) = values.filter(|_| self.queries >= 2) else { return false };
        match (self.options.permutations, self.options.test) {
            (Permutations::Exact, _) => return true,
            (Permutations::Affordable | Permutations::Auto, Test::Randomisation) => {}
            _ => return false,
        }
        // All pairs or none: p of one table must not be of two kinds because of a budget that ran
        // out on the way.
        let of_measure =
            |of: &MeasureValues| pairs.iter().map(|&pair| exact_sums(of, pair)).sum::<f64>();
        let sums = values.measures.iter().map(of_measure).sum::<f64>();
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
                .and_then(|margin| paired.margin_p(margin))
                .map(|[below, above]| below.max(above)),
            is_equivalent: options
                .margin
                .and_then(|margin| paired.is_equivalent(margin, options.alpha)),
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
                    of.p_adjusted =
                        anova.and_then(|anova| anova.tukey_p(of.pair.baseline, of.pair.run));
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

    /// Sets the share of judged documents of each run, from scores of `Judged` at the cutoffs of
    /// the measures.
    pub fn set_judged(&mut self, judged: &Scores) {
        let of_measure = |measure: &Measure| {
            judged.measures.iter().position(|of| *of == judged_measure(measure))
        };
        let places: Vec<Option<usize>> = self.measures.iter().map(of_measure).collect();
        for run in &mut self.runs {
            let scores = judged.run(&run.name);
            run.judged = places.iter().map(|place| scores?.average((*place)?)).collect();
        }
        self.note_judged();
    }
}

/// The number of sums that the exact test of a pair sorts; 0 if the pair is too large for the test.
fn exact_sums(of: &MeasureValues, pair: Pair) -> f64 {
    let counts = of.counts[pair.baseline].iter().zip(&of.counts[pair.run]);
    let differ =
        counts.filter(|(baseline, run)| !is_zero(*run - *baseline)).take(exact::MOST + 1).count();
    if differ > exact::MOST { 0.0 } else { 2f64.powf(differ as f64 / 2.0 + 1.0) }
}

/// The p of exact counts.
fn exact_tails(exact: ExactCounts) -> Tails {
    Tails {
        two_sided: exact.p(exact.counts.two_sided),
        higher: exact.p(exact.counts.greater),
        lower: exact.p(exact.counts.less),
    }
}

/// `Judged` down to the cutoff of a measure.
pub fn judged_measure(measure: &Measure) -> Measure {
    let cutoff = measure.cutoff().filter(|cutoff| cutoff.fract() == 0.0 && *cutoff >= 1.0);
    let name = cutoff.map_or("Judged".to_owned(), |cutoff| format!("Judged@{cutoff}"));
    name.parse().unwrap_or_else(|_| unreachable!("{name} is a measure"))
}
