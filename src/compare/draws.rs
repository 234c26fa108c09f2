//! The random draws of a comparison: the number of draws, and the counts of extreme draws by pair.

use super::comparison::Comparison;
use super::flips::Flips;
use super::labels::range_counts;
use super::options::{ComparisonOptions, Correction, DRAWS, Permutations, Scope, Test};
use super::paired::Tails;
use super::pairs::pairs;
use super::randomised::{
    DrawTally, Family, Hypothesis, Pair, p_of_count, tallies, tallies_of_sums,
};
use super::sums::{MeasureSums, PairSums, RunSums};
use super::values::Values;
use crate::watch::Watch;

/// The number of sign-adds of the randomisation test that is affordable: they take about ten
/// seconds.
// A series takes 2.4·10¹⁰ sign-adds a second of one core (`benches/RESULTS.md`).
const AFFORDABLE: f64 = 2e11;

/// The numbers of draws tried by [`Permutations::Auto`], in order.
// One less than powers of ten, because what was observed counts as a draw: p are then multiples of
// a power of ten.
const AUTO: [u32; 4] = [9_999, 99_999, 999_999, 9_999_999];

/// The standard deviation of a p of `draws` random draws.
pub fn monte_carlo_error(p: f64, draws: u32) -> f64 {
    (p * (1.0 - p) / f64::from(draws)).sqrt()
}

/// The number of signs that are added in [`DRAWS`] draws for `queries` values of each of `series`.
fn cost(queries: usize, series: usize) -> f64 {
    queries as f64 * series as f64 * (f64::from(DRAWS) + 1.0)
}

/// Whether signs are drawn if the user gave no number of draws.
fn is_affordable(options: &ComparisonOptions, queries: usize, series: usize) -> bool {
    let needed = options.correction == Correction::MaxT || options.test == Test::Randomisation;
    needed || cost(queries, series) <= AFFORDABLE
}

impl ComparisonOptions {
    /// The number of sign draws with kept sums; `None` if no sums are kept, as under
    /// [`Permutations::Auto`].
    pub(super) fn kept_draws(&self, queries: usize, series: usize) -> Option<u32> {
        match self.permutations {
            Permutations::Fixed(draws) => Some(draws),
            Permutations::Affordable | Permutations::Exact => {
                is_affordable(self, queries, series).then_some(DRAWS)
            }
            Permutations::Auto => None,
        }
    }
}

impl Comparison {
    /// Draws signs, or takes those that were kept, and counts the draws as extreme as each pair,
    /// alone and in its family.
    pub(super) fn randomise(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&Watch>,
    ) {
        if self.queries < 2 {
            return;
        }
        let families = self.hypotheses(sums);
        let drawn = match (&sums.drawn, values) {
            (Some(drawn), _) => {
                Some((tallies_of_sums(drawn, &families), sums.draws().unwrap_or(0)))
            }
            (None, Some(values)) => self.draw(values, &families, watch),
            (None, None) => {
                self.notes.push(format!(
                    "the randomisation test was left out: --permutations {DRAWS} in each part runs \
                     it"
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

    /// The families of hypotheses, with the sums of their pairs. The indices of the runs are those
    /// in a list of all measures.
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

    /// Draws signs until the draws suffice. Returns the tallies and the number of draws; `None` if
    /// drawing would take too long.
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
            _ if is_affordable(&self.options, self.queries, series.len()) => &[DRAWS],
            _ => {
                self.notes.push(format!(
                    "the randomisation test was left out, which would take some {:.0} min of a \
                     core: --permutations {DRAWS} runs it",
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
            // Draws suffice once every two-sided p is four of its standard errors from α. More
            // draws then change digits, and a decision only with a chance below 10⁻⁴ for each p.
            let clear =
                all.iter().flat_map(|tally| tally.counts.iter().map(|of| tally.p(of.two_sided)));
            if draws.len() > 1
                && clear.into_iter().all(|p| (p - alpha).abs() > 4.0 * monte_carlo_error(p, drawn))
            {
                break;
            }
        }
        Some((all, drawn))
    }

    /// Computes the p of the randomised HSD under each measure.
    pub(super) fn permute_labels(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&Watch>,
    ) {
        let Some(values) = values.filter(|_| self.queries >= 2) else { return };
        let draws = match self.options.permutations {
            Permutations::Fixed(draws) => draws,
            _ => DRAWS,
        };
        let pairs = pairs(self.runs.len(), self.baseline);
        let mut p = Vec::new();
        for (of, sums) in values.measures.iter().zip(&sums.measures) {
            let runs: Vec<&[i64]> = of.counts.iter().map(Vec::as_slice).collect();
            let hypotheses =
                pairs.iter().zip(&sums.pairs).map(|(&pair, sums)| sums.hypothesis(pair));
            let family = Family::new(self.queries, hypotheses.collect());
            let counts =
                range_counts(self.options.seed, &values.queries, &runs, &family, 0..draws, watch);
            p.extend(counts.into_iter().map(|count| p_of_count(count, u64::from(draws))));
        }
        for (of, p) in self.differences.iter_mut().zip(p) {
            of.p_adjusted = Some(p);
        }
    }
}
