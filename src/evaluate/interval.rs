//! The range of an average between the worst and the best order of tied documents: the part of an
//! average that is chance.
//!
//! A matrix is evaluated four times: expected, best, worst, and in the order of the join. Best and
//! worst bound the results of all tie-breaking rules for the run, query by query; the *bias* is the
//! part of the reported average that comes from the rule. Nothing is sampled. If two runs differ by
//! less than their intervals, the difference may come from document ids alone.

use super::Evaluator;
use crate::error::Result;
use crate::matrix::{LabelMatrix, MatrixTies, Notice};
use crate::measure::Measure;
use crate::scores::{RunScores, Scores, TiedValue};
use crate::stats::{StatName, is_undefined};

/// The smallest spread of averages that is reported, as a share of the expected average.
const WORTH_A_WORD: f64 = 0.01;

impl Evaluator {
    /// Evaluates a matrix over all orders of equal scores, and returns the range of each average.
    /// The statistics are the expected average, the best and the worst average, how far the order
    /// of the join is from the expected average, how many queries depend on the order, and for how
    /// many a group of different labels lies across the cutoff.
    ///
    /// ```
    /// use laneval::{Evaluator, Join, Qrels, StatName};
    /// let qrels = Qrels::new([("q1", "b", 1.0), ("q1", "x", 1.0)])?;
    /// let run = [("q1", "a", 0.5), ("q1", "b", 0.5)];
    /// let matrix = Join { keep_ties: true, ..Join::default() }
    ///     .rankings(&qrels, [("mine".to_owned(), run)])?;
    /// let scores = Evaluator::new(["RR"])?.tie_interval(&matrix)?;
    /// let of = |stat| scores.runs[0].stat(0, stat);
    /// assert_eq!(
    ///     [of(StatName::Mean), of(StatName::Best), of(StatName::Worst)],
    ///     [Some(0.75), Some(1.0), Some(0.5)]
    /// );
    /// assert_eq!(of(StatName::Bias), Some(0.25)); // b comes first, by document id
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; a matrix that does not know its ties; a measure that lacks the
    /// expected, the best or the worst value.
    pub fn tie_interval(&self, matrix: &LabelMatrix) -> Result<Scores> {
        let ties = matrix.tied_groups().ok_or_else(super::viewed_ties::unknown_ties_error)?;
        let mut all = self.scores_under(TiedValue::Average, matrix)?;
        let best = self.scores_under(TiedValue::Best, matrix)?;
        let worst = self.scores_under(TiedValue::Worst, matrix)?;
        let ranked = self.scores_under(TiedValue::Ranked, matrix)?;
        let (measures, mut moved) = (all.measures.clone(), Vec::new());
        // Groups of queries have no counts of ties: only the scores of whole runs take a number.
        let mut runs = 0..matrix.runs().len();
        for (at, run) in all.runs.iter_mut().enumerate() {
            let number = if run.group.is_none() { runs.next() } else { None };
            run.ties = number.map(|number| ties.counts()[number]);
            let others = [&best, &worst, &ranked].map(|scores| &scores.runs[at]);
            for (place, (measure, stats)) in measures.iter().zip(&mut run.stats).enumerate() {
                let averages = others.map(|run| run.average(place));
                let (Some(&(_, expected)), [Some(best), Some(worst), Some(ranked)]) =
                    (stats.first(), averages)
                else {
                    continue;
                };
                let varying = varying(others[0], others[1], place);
                stats.extend([
                    (StatName::Best, best),
                    (StatName::Worst, worst),
                    (StatName::Bias, ranked - expected),
                    (StatName::Varying, varying as f64),
                ]);
                stats.extend(number.map(|number| {
                    (StatName::Across, self.across(matrix, ties, number, measure) as f64)
                }));
                if (best - worst).abs() > WORTH_A_WORD * expected.abs() {
                    let name = measure.to_string();
                    if !moved.contains(&name) {
                        moved.push(name);
                    }
                }
            }
        }
        if !moved.is_empty() {
            all.notices.push(Notice::TieSensitive { measures: moved });
        }
        Ok(all)
    }

    /// Evaluates a matrix with one value of tied rankings (expected, best, worst, or of the join),
    /// without statistics.
    fn scores_under(&self, tied: TiedValue, matrix: &LabelMatrix) -> Result<Scores> {
        let evaluator = self.clone().with_tied_value(tied).with_stats([]);
        let queries = matches!(tied, TiedValue::Best | TiedValue::Worst);
        evaluator.with_per_query(queries).evaluate(matrix)
    }

    /// Returns the number of a run's rankings in which ties of different labels cross a measure's
    /// cutoff, or the depth of the view.
    fn across(
        &self,
        matrix: &LabelMatrix,
        ties: &MatrixTies,
        run: usize,
        measure: &Measure,
    ) -> usize {
        let queries = matrix.queries().len();
        let rows = (run * queries) as u32..((run + 1) * queries) as u32;
        // Dropping documents moves the cutoff.
        let cutoff = if self.view().judged_only { None } else { measure.rank() };
        let ranks = [cutoff, self.view().depth];
        let of_run = ties.iter().filter(|(row, _)| rows.contains(row));
        let crossed = of_run.filter(|(_, row_ties)| {
            !row_ties.cut.is_empty()
                || ranks.iter().flatten().any(|&rank| {
                    row_ties.groups.iter().any(|group| group.start < rank && rank < group.end())
                })
        });
        crossed.count()
    }
}

/// Returns the number of queries whose best and worst values over the orders of ties differ under a
/// measure.
fn varying(best: &RunScores, worst: &RunScores, measure: usize) -> usize {
    let (Some(best), Some(worst)) = (&best.per_query, &worst.per_query) else { return 0 };
    let pairs = best.values[measure].iter().zip(&worst.values[measure]);
    // A query without a value is NaN on both sides, and NaN differs from itself.
    pairs.filter(|&(best, worst)| !is_undefined(*worst) && best != worst).count()
}
