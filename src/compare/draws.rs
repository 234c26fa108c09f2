//! The random sign draws of a comparison's randomisation test: the number of draws, and the counts
//! of extreme draws by pair.

use super::comparison::Comparison;
use super::flips::Flips;
use super::label_permutation::range_counts;
use super::options::{ComparisonOptions, Correction, DRAWS, Permutations, Scope, Test};
use super::pairs::pairs;
use super::randomised::{DrawTally, Family, Hypothesis, p_of_count, tallies, tallies_of_sums};
use super::sums::RunSums;
use super::values::Values;
use crate::progress::ProgressHandle;

/// The number of sign-adds of the randomisation test that one core computes in a second
/// (`benches/RESULTS.md`).
const SIGN_ADDS_PER_SECOND: f64 = 2.4e10;
/// The number of sign-adds of the randomisation test that is affordable: they take about eight
/// seconds of a core.
const AFFORDABLE: f64 = 2e11;

/// The numbers of draws tried by [`Permutations::Auto`], in order.
// One less than powers of ten, because what was observed counts as a draw: p are then multiples of
// a power of ten.
const AUTO: [u32; 4] = [9_999, 99_999, 999_999, 9_999_999];

/// Returns the standard error of a p that `draws` random draws estimate.
pub fn monte_carlo_error(p: f64, draws: u32) -> f64 {
    (p * (1.0 - p) / f64::from(draws)).sqrt()
}

/// Returns the cost of the randomisation test, in signed additions: [`DRAWS`] draws of `queries`
/// values for each of `series`.
fn cost(queries: usize, series: usize) -> f64 {
    queries as f64 * series as f64 * (f64::from(DRAWS) + 1.0)
}

/// Returns whether the randomisation test draws signs by default: the options need it, or it takes
/// few seconds.
fn is_affordable(options: &ComparisonOptions, queries: usize, series: usize) -> bool {
    let needed = options.correction == Correction::MaxT || options.test == Test::Randomisation;
    needed || cost(queries, series) <= AFFORDABLE
}

impl ComparisonOptions {
    /// Returns the number of random sign draws whose sums a mergeable comparison keeps; `None` if
    /// it keeps none, as under [`Permutations::Auto`].
    pub(super) fn stored_draws(&self, queries: usize, series: usize) -> Option<u32> {
        match self.permutations {
            Permutations::Fixed(draws) => Some(draws),
            Permutations::Default | Permutations::Exact => {
                is_affordable(self, queries, series).then_some(DRAWS)
            }
            Permutations::Auto => None,
        }
    }
}

impl Comparison {
    /// Runs the randomisation test of all pairs, on new or kept draws of random signs, and sets the
    /// p of each difference.
    pub(super) fn randomise(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&ProgressHandle>,
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
        let max_t = all.iter().zip(&families).flat_map(|(tally, family)| {
            tally.max_t(family).into_iter().map(|count| count.map(|count| tally.p(count)))
        });
        let tails = all.iter().flat_map(|tally| {
            tally.counts.iter().map(|counts| counts.tails(|count| tally.p(count)))
        });
        for ((difference, tails), max_t) in self.differences.iter_mut().zip(tails).zip(max_t) {
            difference.randomised = Some(tails);
            if self.options.correction == Correction::MaxT {
                difference.p_adjusted = max_t;
            }
        }
    }

    /// Returns the families of pairs that the randomisation test tests together, with the observed
    /// sums of each pair. The indices of the runs are those in a list of all measures.
    fn hypotheses(&self, sums: &RunSums) -> Vec<Family> {
        let (runs, pairs) = (self.runs.len(), pairs(self.runs.len(), self.baseline));
        let all = sums.measures.iter().enumerate().map(|(measure, measure_sums)| {
            let pairs = pairs.iter().zip(&measure_sums.pairs);
            pairs
                .map(|(pair, sums)| sums.hypothesis(pair.shift(measure * runs)))
                .collect::<Vec<Hypothesis>>()
        });
        match self.options.family {
            Scope::Measure => all.map(|hypotheses| Family::new(self.queries, hypotheses)).collect(),
            Scope::All => vec![Family::new(self.queries, all.flatten().collect())],
        }
    }

    /// Draws random signs for the randomisation test until the draws suffice. Returns the tallies
    /// and the number of draws; `None` if drawing would take too long.
    fn draw(
        &mut self,
        values: &Values,
        families: &[Family],
        watch: Option<&ProgressHandle>,
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
                    (cost(self.queries, series.len()) / SIGN_ADDS_PER_SECOND / 60.0).max(1.0)
                ));
                return None;
            }
        };
        let flips = Flips::new(self.options.seed, &values.queries).watched(watch);
        let mut all: Vec<DrawTally> = families.iter().map(DrawTally::new).collect();
        let mut drawn = 0;
        // The draws of a further round follow those of the rounds before, so tallies add up.
        for &end in draws {
            let more = tallies(&flips, &series, families, drawn..end);
            all.iter_mut().zip(&more).for_each(|(all, more)| all.merge(more));
            drawn = end;
            let alpha = self.options.alpha;
            // Draws suffice once every two-sided p is four of its standard errors from α. More
            // draws then change digits, and a decision only with a chance below 10⁻⁴ for each p.
            let mut p = all
                .iter()
                .flat_map(|tally| tally.counts.iter().map(|counts| tally.p(counts.two_sided)));
            if draws.len() > 1 && p.all(|p| (p - alpha).abs() > 4.0 * monte_carlo_error(p, drawn)) {
                break;
            }
        }
        Some((all, drawn))
    }

    /// Computes the p of the randomised HSD test under each measure, by permuting the labels of the
    /// runs.
    pub(super) fn permute_labels(
        &mut self,
        sums: &RunSums,
        values: Option<&Values>,
        watch: Option<&ProgressHandle>,
    ) {
        let Some(values) = values.filter(|_| self.queries >= 2) else { return };
        let draws = match self.options.permutations {
            Permutations::Fixed(draws) => draws,
            _ => DRAWS,
        };
        let pairs = pairs(self.runs.len(), self.baseline);
        let mut p = Vec::new();
        for (measure_values, sums) in values.measures.iter().zip(&sums.measures) {
            let runs: Vec<&[i64]> = measure_values.counts.iter().map(Vec::as_slice).collect();
            let hypotheses =
                pairs.iter().zip(&sums.pairs).map(|(&pair, sums)| sums.hypothesis(pair));
            let family = Family::new(self.queries, hypotheses.collect());
            let counts =
                range_counts(self.options.seed, &values.queries, &runs, &family, 0..draws, watch);
            p.extend(counts.into_iter().map(|count| p_of_count(count, u64::from(draws))));
        }
        for (difference, p) in self.differences.iter_mut().zip(p) {
            difference.p_adjusted = Some(p);
        }
    }
}
