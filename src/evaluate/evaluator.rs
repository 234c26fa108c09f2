//! The evaluator: measures, and the options of their evaluation.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::slots::Groups;
use crate::error::Result;
use crate::ids::Ids;
use crate::matrix::{Codebook, View};
use crate::measure::{Defaults, Measure, parse_list};
use crate::plan::Plan;
use crate::progress::ProgressHandle;
use crate::scores::{EvaluationSettings, QuerySet, RelevantFrom, TiedValue};
use crate::stats::Stat;

/// The choice of the engine that computes measures: CPU, GPU, reference functions, or the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// The fastest engine for the matrix at hand.
    #[default]
    Auto,
    /// The CPU engine: folds in SIMD on all threads.
    Cpu,
    /// The GPU engine: folds in compute shaders, with sums in integers.
    Gpu,
    /// The reference: the plain functions of the formulas, slow and obvious.
    Reference,
}

impl EngineChoice {
    /// Every choice, with its name on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("auto", Self::Auto),
        ("cpu", Self::Cpu),
        ("gpu", Self::Gpu),
        ("reference", Self::Reference),
    ];
}

named!(EngineChoice, "an engine");

/// An evaluator of runs: measures with the options of their evaluation, such as queries, engine and
/// statistics.
///
/// ```
/// use laneval::{Evaluator, Join, Qrels, QuerySet, Stat};
/// let qrels =
///     Qrels::new([("q1", "d1", 1.0), ("q1", "d2", 0.0), ("q2", "d1", 2.0), ("q3", "d1", 1.0)])?;
/// let run = [("q1", "d2", 9.5), ("q1", "d1", 7.0), ("q2", "d1", 3.0)];
/// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
/// let evaluator = Evaluator::new(["nDCG@10", "AP", "RR"])?
///     .with_queries(QuerySet::Common)
///     .with_stats([Stat::Min]);
/// let scores = evaluator.evaluate(&matrix)?;
/// assert_eq!(scores.average("mine", "AP"), Some(0.75));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Evaluator {
    pub(super) measures: Vec<Measure>,
    pub(super) settings: EvaluationSettings,
    pub(super) engine: EngineChoice,
    #[cfg_attr(not(feature = "gpu"), allow(dead_code))]
    pub(super) adapter: Option<String>,
    pub(super) stats: Vec<Stat>,
    pub(super) per_query: bool,
    pub(super) missing_ids: bool,
    pub(super) not_finite: bool,
    pub(super) only: Option<Ids>,
    pub(super) groups: Option<Groups>,
    pub(super) threads: Option<NonZeroUsize>,
    pub(super) watch: Option<Arc<ProgressHandle>>,
}

impl Evaluator {
    /// Makes an evaluator of measures by name; see [`parse_list`] for the spellings.
    ///
    /// # Errors
    /// A name is not a measure.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let lists = names.into_iter().map(|name| parse_list(name, Defaults::default()));
        Ok(Self::from_measures(lists.collect::<Result<Vec<_>>>()?.concat()))
    }

    /// Makes an evaluator of parsed measures.
    pub fn from_measures(measures: Vec<Measure>) -> Self {
        Self { measures, ..Self::default() }
    }

    /// Replaces the measures of the evaluator, and keeps all options.
    #[must_use]
    pub fn with_measures(self, measures: Vec<Measure>) -> Self {
        Self { measures, ..self }
    }

    /// Sets the queries that count, the ranks and documents that are looked at, the relevant
    /// documents known and the value of ties, all at once.
    #[must_use]
    pub fn with_settings(self, settings: EvaluationSettings) -> Self {
        Self { settings, ..self }
    }

    /// Chooses the queries that count in averages. The default is all judged queries.
    #[must_use]
    pub fn with_queries(mut self, queries: QuerySet) -> Self {
        self.settings.queries = queries;
        self
    }

    /// Chooses the ranks and documents of each ranking that count: down to a depth, or judged
    /// documents only. The default is all.
    #[must_use]
    pub fn with_view(mut self, view: View) -> Self {
        self.settings.view = view;
        self
    }

    /// Chooses the relevant documents that measures know: all judged ones, or those that the run
    /// retrieved. The default is all judged relevant documents.
    ///
    /// With [`RelevantFrom::Retrieved`], a query keeps only the judgments of documents that the run
    /// retrieved and the view keeps. So each run has relevant documents of its own. A program that
    /// gets the grades of ranked lists, and no qrels, computes such values.
    #[must_use]
    pub fn with_relevant_from(mut self, relevant_from: RelevantFrom) -> Self {
        self.settings.relevant_from = relevant_from;
        self
    }

    /// Chooses the value of a ranking in which documents have equal scores. The default is the
    /// value in the order of the join. Other choices are the mean, best or worst value over all
    /// orders of documents with equal scores.
    ///
    /// All choices but the default need a matrix that kept its ties
    /// ([`Join::keep_ties`](crate::Join)).
    #[must_use]
    pub fn with_tied_value(mut self, tied: TiedValue) -> Self {
        self.settings.tied = tied;
        self
    }

    /// Chooses the engine that computes the measures. The default is the fastest engine for the
    /// matrix.
    #[must_use]
    pub fn with_engine(self, engine: EngineChoice) -> Self {
        Self { engine, ..self }
    }

    /// Chooses the GPU, by number or by a part of its name. `None`, the default, means the most
    /// powerful GPU that is not software.
    #[must_use]
    pub fn with_adapter(self, adapter: Option<String>) -> Self {
        Self { adapter, ..self }
    }

    /// Asks for statistics of each measure's values besides the average. The default is none.
    #[must_use]
    pub fn with_stats(self, stats: impl IntoIterator<Item = Stat>) -> Self {
        Self { stats: stats.into_iter().collect(), ..self }
    }

    /// Sets whether the scores keep the value of each query. By default scores keep none.
    #[must_use]
    pub fn with_per_query(self, per_query: bool) -> Self {
        Self { per_query, ..self }
    }

    /// Sets whether the scores keep the ids of all queries that a run lacks. By default scores keep
    /// only the first few ids.
    #[must_use]
    pub fn with_missing_ids(self, missing_ids: bool) -> Self {
        Self { missing_ids, ..self }
    }

    /// Sets whether scores may have values and statistics that are infinite or not a number. By
    /// default such a number is an error.
    #[must_use]
    pub fn allow_non_finite(self, not_finite: bool) -> Self {
        Self { not_finite, ..self }
    }

    /// Limits the evaluation to these queries, in any order; `None` means all. A notice of the
    /// scores tells how many of these queries are not judged; if none is judged, that is an error.
    #[must_use]
    pub fn with_query_filter(self, queries: Option<Ids>) -> Self {
        Self { only: queries, ..self }
    }

    /// Sets groups of queries, which get scores of their own besides the scores of all queries;
    /// `None` means no groups.
    #[must_use]
    pub fn with_groups(self, groups: Option<Groups>) -> Self {
        Self { groups, ..self }
    }

    /// Sets the number of threads, of which at most [`max_threads`](super::max_threads) are
    /// started; `None` means the rayon pool of the caller.
    #[must_use]
    pub fn with_threads(self, threads: Option<NonZeroUsize>) -> Self {
        Self { threads, ..self }
    }

    /// Sets a [`ProgressHandle`], which counts finished work and may stop the evaluation.
    #[must_use]
    pub fn with_progress(self, watch: Option<Arc<ProgressHandle>>) -> Self {
        Self { watch, ..self }
    }

    /// Returns the measures of the evaluator.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Returns the groups of queries that get scores of their own, if there are any.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// Returns the settings that the results of two evaluations must share to be compared or
    /// merged: queries, view, relevant documents and value of ties.
    pub fn settings(&self) -> EvaluationSettings {
        self.settings
    }

    /// Returns the part of each ranking that counts: its depth, and whether unjudged documents are
    /// dropped.
    pub fn view(&self) -> View {
        self.settings.view
    }

    /// Returns whether any of the measures needs to know which documents are tied
    /// ([`Measure::needs_ties`]), even if rankings are evaluated in the order of the join.
    pub(crate) fn needs_ties(&self) -> bool {
        self.measures.iter().any(Measure::needs_ties)
    }

    /// Returns the choice of relevant documents that measures know: all judged ones, or the
    /// retrieved ones.
    pub fn relevant_from(&self) -> RelevantFrom {
        self.settings.relevant_from
    }

    /// Returns whether rankings are evaluated in the order of the join, and not over all orders of
    /// equal scores.
    #[cfg(feature = "internals")]
    pub(crate) fn is_in_order(&self) -> bool {
        self.settings.tied == TiedValue::Ranked
    }

    /// Returns whether measures know all judged relevant documents, and not only the retrieved
    /// relevant documents.
    #[cfg(feature = "internals")]
    pub(crate) fn uses_all_judged(&self) -> bool {
        !self.settings.relevant_from.is_retrieved()
    }

    /// Returns the choice of the engine that computes the measures.
    pub fn engine(&self) -> EngineChoice {
        self.engine
    }

    /// Makes the plan by which an engine computes the measures from labels of the codebook `book`.
    ///
    /// # Errors
    /// A measure that does not fit the grades.
    pub fn plan(&self, book: &Codebook) -> Result<Plan> {
        Plan::new(&self.measures, book)
    }
}
