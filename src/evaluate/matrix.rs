//! The evaluation of label matrices: a whole matrix is given to the engine as a single batch.

use std::borrow::Cow;

use super::evaluation::{Evaluation, Feeder, Wants};
use super::feed::{Feed, FeedOutcome};
use super::outcome::Outcome;
use super::sink::ValueSink;
use super::slots::Slots;
use super::{Evaluator, tie_values};
use crate::engine::{ChosenEngine, Engine};
use crate::error::Result;
use crate::matrix::LabelMatrix;
use crate::scores::{QuerySet, Scores, TiedValue};
use crate::stats::ExactSum;
use crate::summary::Summary;
use crate::timing::Timing;

impl Evaluator {
    /// Evaluates all runs of a label matrix, and returns their scores.
    ///
    /// # Errors
    /// A measure that does not fit the grades; a missing query under
    /// [`QuerySet::RequireAll`]; a view deeper than the matrix; more measures or runs than memory
    /// should hold; a value that is not finite ([`Error::NotFinite`]); a requested GPU that is
    /// missing or refuses.
    ///
    /// [`Error::NotFinite`]: crate::Error::NotFinite
    pub fn evaluate(&self, matrix: &LabelMatrix) -> Result<Scores> {
        self.evaluation(matrix)?.scores(matrix, &mut Timing::default())
    }

    /// Returns the summary of all runs of a label matrix, which can be merged with summaries of
    /// other matrices. The summary has the ids of the queries that count and of the queries that
    /// the runs lack.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and two runs of the same name.
    pub fn summary(&self, matrix: &LabelMatrix) -> Result<Summary> {
        Ok(self.summary_into(matrix, || ())?.0)
    }

    /// Returns the summary of all runs of a label matrix, and a sink that has been shown the values
    /// of all queries. `begin` makes a sink for each worker.
    ///
    /// # Errors
    /// As [`Evaluator::summary`].
    pub fn summary_into<S: ValueSink>(
        &self,
        matrix: &LabelMatrix,
        begin: impl Fn() -> S + Sync,
    ) -> Result<(Summary, S)> {
        self.evaluation(matrix)?.on_engine(|evaluator, engine| {
            let (outcome, sink) =
                evaluator.matrix(engine, matrix, Wants::SUMMARY, &mut Timing::default(), &begin)?;
            Ok((outcome.summary()?, sink))
        })
    }

    /// Returns the exact sum of each measure's values for the only run of a label matrix, and a
    /// sink that has been shown all values.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub(crate) fn sums_into<S: ValueSink>(
        &self,
        matrix: &LabelMatrix,
        begin: impl Fn() -> S + Sync,
    ) -> Result<(Vec<ExactSum>, S)> {
        let wants = Wants { moments: false, values: false, prints: false };
        self.evaluation(matrix)?.on_engine(|evaluator, engine| {
            let (outcome, sink) =
                evaluator.matrix(engine, matrix, wants, &mut Timing::default(), &begin)?;
            Ok((outcome.sums.sums, sink))
        })
    }

    /// Evaluates all runs of a label matrix in one pass, and returns their scores and their
    /// mergeable summary.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`] and [`Evaluator::summary`].
    pub fn evaluate_with_summary(&self, matrix: &LabelMatrix) -> Result<(Scores, Summary)> {
        self.evaluation(matrix)?.scores_and_summary(matrix, &mut Timing::default())
    }

    /// Evaluates all runs of a label matrix on a given engine, and returns their scores.
    ///
    /// # Errors
    /// The errors of [`Evaluator::evaluate`], and a refusal of the engine.
    pub fn evaluate_on(&self, engine: &impl Engine, matrix: &LabelMatrix) -> Result<Scores> {
        self.evaluated(Some(engine), matrix, &mut Timing::default())
    }

    fn evaluation(&self, matrix: &LabelMatrix) -> Result<Evaluation<'_>> {
        let labels = matrix.tile_bytes().len() as u64;
        Evaluation::new(Cow::Borrowed(self), Feeder::Matrices { labels })
    }

    /// Returns the mergeable summary of all runs of a label matrix, computed on `engine`.
    pub(super) fn summary_on(
        &self,
        engine: &ChosenEngine,
        matrix: &LabelMatrix,
    ) -> Result<Summary> {
        let (outcome, ()) =
            self.matrix(Some(engine), matrix, Wants::SUMMARY, &mut Timing::default(), || ())?;
        outcome.summary()
    }

    /// Evaluates all runs of a label matrix on `engine`, or by the reference functions where it is
    /// `None`.
    pub(super) fn evaluated(
        &self,
        engine: Option<&impl Engine>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<Scores> {
        let wants = self.wants();
        let (outcome, collector) =
            self.matrix(engine, matrix, wants, timing, || wants.into_collector())?;
        timing.time("statistics", || outcome.scores(collector))
    }

    /// Gives a label matrix to the engine as one batch, and returns the outcome and the sink of
    /// values.
    pub(super) fn matrix<'o, S: ValueSink>(
        &'o self,
        engine: Option<&impl Engine>,
        matrix: &'o LabelMatrix,
        wants: Wants,
        timing: &mut Timing,
        begin: impl Fn() -> S + Sync,
    ) -> Result<(Outcome<'o, &'o LabelMatrix>, S)> {
        if engine.is_none() && self.settings.tied != TiedValue::Ranked {
            return Err(tie_values::no_reference(self.settings.tied));
        }
        let (slots, notices) = Slots::new(
            matrix.runs().len(),
            matrix.queries(),
            self.only.as_ref(),
            self.groups.as_ref(),
        )?;
        self.check(&matrix, &slots)?;
        let empty: Vec<u32> = match self.settings.queries {
            QuerySet::Common => Vec::new(),
            QuerySet::Judged | QuerySet::RequireAll => empty_rows(matrix),
        };
        let feed = Feed {
            plan: &self.plan(matrix.codebook())?,
            // The reference reads labels in rank order, and has no use for lists of documents.
            batch: if engine.is_some() { matrix.evaluated_batch() } else { matrix.batch() },
            cuts: self.cuts(matrix),
            slots,
            wants,
            empty: &empty,
            watch: self.watch.as_deref(),
            alone: false,
        };
        let FeedOutcome { slots, sums, sink } =
            self.feed(engine, feed, &mut Some(timing), begin)?;
        let evaluator = Cow::Borrowed(self);
        Ok((Outcome { evaluator, joined: matrix, slots, sums, notices, wants }, sink))
    }
}

/// Returns the rows of a label matrix without any document: queries that a run lacks.
fn empty_rows(matrix: &LabelMatrix) -> Vec<u32> {
    let depths = matrix.depths();
    if !depths.contains(&0) {
        return Vec::new();
    }
    (0..matrix.rows() as u32).filter(|&row| depths[row as usize] == 0).collect()
}
