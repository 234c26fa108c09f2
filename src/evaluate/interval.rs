//! The range of an average between the worst and the best order of tied documents: the part of an
//! average that is chance.
//!
//! A matrix is evaluated four times: expected, best, worst, and in the order of the join. Best and
//! worst bound the results of all tie-breaking rules for the run, query by query; the *bias* is the
//! part of the reported average that comes from the rule. Nothing is sampled. If two runs differ by
//! less than their intervals, the difference may come from document ids alone.

use super::Evaluator;
use crate::error::Result;
use crate::matrix::{LabelMatrix, Notice, TiedGroups};
use crate::measure::Measure;
use crate::scores::{RunScores, Scores, TiedValue};
use crate::stats::{StatName, is_undefined};

/// The smallest spread of averages that is reported, as a share of the expected average.
const WORTH_A_WORD: f64 = 0.01;

impl Evaluator {
    /// Returns the expected average over all orders of equal scores, the best and the worst
    /// average, how far the order of the join is from the expected average, how many queries depend
    /// on the order, and for how many a group of different labels lies across the cutoff.
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
        let ties = matrix.tied_groups().ok_or_else(super::together::unknown)?;
        let of = |tied| {
            let evaluator = self.clone().with_tied(tied).with_stats([]);
            let queries = matches!(tied, TiedValue::Best | TiedValue::Worst);
            evaluator.with_per_query(queries).evaluate(matrix)
        };
        let mut all = of(TiedValue::Average)?;
        let (best, worst, ranked) =
            (of(TiedValue::Best)?, of(TiedValue::Worst)?, of(TiedValue::Ranked)?);
        let (measures, mut moved) = (all.measures.clone(), Vec::new());
        let mut runs = matrix.runs().iter().enumerate().map(|(number, _)| number);
        for (at, run) in all.runs.iter_mut().enumerate() {
            let number = if run.group.is_none() { runs.next() } else { None };
            run.ties = number.map(|number| ties.counts()[number]);
            let others = [&best.runs[at], &worst.runs[at], &ranked.runs[at]];
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
                ]);
                stats.push((StatName::Varying, varying as f64));
                if let Some(number) = number {
                    stats.push((
                        StatName::Across,
                        self.across(matrix, ties, number, measure) as f64,
                    ));
                }
                if (best - worst).abs() > WORTH_A_WORD * expected.abs()
                    && !moved.contains(&measure.to_string())
                {
                    moved.push(measure.to_string());
                }
            }
        }
        if !moved.is_empty() {
            all.notices.push(Notice::MovedByTies { measures: moved });
        }
        Ok(all)
    }

    /// The number of rankings of a run in which a group of different labels lies across the cutoff
    /// of a measure, or the depth of the view.
    fn across(
        &self,
        matrix: &LabelMatrix,
        ties: &TiedGroups,
        run: usize,
        measure: &Measure,
    ) -> usize {
        let queries = matrix.queries().len();
        let rows = (run * queries) as u32..((run + 1) * queries) as u32;
        // Dropping documents moves the cutoff.
        let cutoff = if self.view().judged_only { None } else { measure.rank() };
        let ranks = [cutoff, self.view().depth];
        let of_run = ties.iter().filter(|(row, _)| rows.contains(row));
        let crossed = of_run.filter(|(_, of)| {
            let lies_across =
                |rank: u32| of.groups.iter().any(|group| group.start < rank && rank < group.end());
            !of.cut.is_empty() || ranks.into_iter().flatten().any(lies_across)
        });
        crossed.count()
    }
}

/// The number of queries whose value depends on the order.
fn varying(best: &RunScores, worst: &RunScores, measure: usize) -> usize {
    let values = |run: &RunScores| {
        run.per_query.as_ref().map(|of| of.values[measure].clone()).unwrap_or_default()
    };
    let differ = |(best, worst): &(&f64, f64)| !is_undefined(*worst) && *best != worst;
    values(best).iter().zip(values(worst)).filter(differ).count()
}
