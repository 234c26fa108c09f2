//! Measures, and the options of their evaluation.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::slots::Groups;
use crate::error::Result;
use crate::ids::Ids;
use crate::matrix::{Codebook, View};
use crate::measure::{Defaults, Measure, parse_list};
use crate::plan::Plan;
use crate::scores::{Known, QuerySet, TiedValue};
use crate::stats::Stat;
use crate::watch::Watch;

/// The engine that computes.
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
    pub const ALL: [(&'static str, EngineChoice); 4] = [
        ("auto", EngineChoice::Auto),
        ("cpu", EngineChoice::Cpu),
        ("gpu", EngineChoice::Gpu),
        ("reference", EngineChoice::Reference),
    ];
}

named!(EngineChoice, "an engine");

/// Measures, and the options of their evaluation.
///
/// ```
/// use laneval::{Evaluator, Join, Qrels, QuerySet, Stat};
/// let qrels =
///     Qrels::new([("q1", "d1", 1.0), ("q1", "d2", 0.0), ("q2", "d1", 2.0), ("q3", "d1", 1.0)])?;
/// let run = [("q1", "d2", 9.5), ("q1", "d1", 7.0), ("q2", "d1", 3.0)];
/// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
/// let evaluator = Evaluator::new(["nDCG@10", "AP", "RR"])?
///     .with_queries(QuerySet::Both)
///     .with_stats([Stat::Min]);
/// let scores = evaluator.evaluate(&matrix)?;
/// assert_eq!(scores.average("mine", "AP"), Some(0.75));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Evaluator {
    pub(super) measures: Vec<Measure>,
    pub(super) queries: QuerySet,
    pub(super) view: View,
    pub(super) known: Known,
    pub(super) tied: TiedValue,
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
    pub(super) watch: Option<Arc<Watch>>,
}

impl Evaluator {
    /// Makes an evaluator of measures by name; see [`parse_list`] for the spellings.
    ///
    /// # Errors
    /// A name is not a measure.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let lists = names.into_iter().map(|name| parse_list(name, Defaults::default()));
        Ok(Self::of(lists.collect::<Result<Vec<_>>>()?.concat()))
    }

    /// Makes an evaluator of parsed measures.
    pub fn of(measures: Vec<Measure>) -> Self {
        Evaluator { measures, ..Self::default() }
    }

    /// Replaces the measures and keeps all options.
    #[must_use]
    pub fn with_measures(self, measures: Vec<Measure>) -> Self {
        Evaluator { measures, ..self }
    }

    /// Chooses the queries that count. The default is all judged queries.
    #[must_use]
    pub fn with_queries(self, queries: QuerySet) -> Self {
        Evaluator { queries, ..self }
    }

    /// Chooses the ranks and documents of the rankings that count. The default is all.
    #[must_use]
    pub fn with_view(self, view: View) -> Self {
        Evaluator { view, ..self }
    }

    /// Chooses the relevant documents that measures know. The default is all judged relevant
    /// documents.
    ///
    /// With [`Known::Retrieved`], a query keeps only the judgments of documents that the run
    /// retrieved and the view keeps, as for a program that gets lists without qrels. So each run
    /// has relevant documents of its own.
    #[must_use]
    pub fn with_known(self, known: Known) -> Self {
        Evaluator { known, ..self }
    }

    /// Chooses the value of a ranking with tied documents. The default is the value in the order of
    /// the join.
    ///
    /// All choices but the default need a matrix with ties ([`Join::keep_ties`](crate::Join)).
    #[must_use]
    pub fn with_tied(self, tied: TiedValue) -> Self {
        Evaluator { tied, ..self }
    }

    /// Chooses the engine. The default is the fastest engine for the matrix.
    #[must_use]
    pub fn with_engine(self, engine: EngineChoice) -> Self {
        Evaluator { engine, ..self }
    }

    /// Chooses the GPU, by number or by a part of its name. The default is any GPU that is not
    /// software.
    #[must_use]
    pub fn with_adapter(self, adapter: Option<String>) -> Self {
        Evaluator { adapter, ..self }
    }

    /// Asks for statistics besides the average. The default is none.
    #[must_use]
    pub fn with_stats(self, stats: impl IntoIterator<Item = Stat>) -> Self {
        Evaluator { stats: stats.into_iter().collect(), ..self }
    }

    /// Sets whether the values of each query are kept.
    #[must_use]
    pub fn with_per_query(self, per_query: bool) -> Self {
        Evaluator { per_query, ..self }
    }

    /// Sets whether the ids of all queries that a run lacks are kept, and not only the first few.
    #[must_use]
    pub fn with_missing_ids(self, missing_ids: bool) -> Self {
        Evaluator { missing_ids, ..self }
    }

    /// Sets whether values and statistics that are infinite or not a number are let through.
    /// Otherwise they are errors.
    #[must_use]
    pub fn with_not_finite(self, not_finite: bool) -> Self {
        Evaluator { not_finite, ..self }
    }

    /// Limits the evaluation to these queries, in any order; `None` means all. A notice tells how
    /// many of them are not judged.
    #[must_use]
    pub fn with_only(self, queries: Option<Ids>) -> Self {
        Evaluator { only: queries, ..self }
    }

    /// Sets groups of queries, which get scores of their own besides the scores of all queries.
    #[must_use]
    pub fn with_groups(self, groups: Option<Groups>) -> Self {
        Evaluator { groups, ..self }
    }

    /// Sets the number of threads, of which at most [`most_threads`](super::most_threads) are
    /// started; `None` means the rayon pool of the caller.
    #[must_use]
    pub fn with_threads(self, threads: Option<NonZeroUsize>) -> Self {
        Evaluator { threads, ..self }
    }

    /// Sets a [`Watch`], which counts finished work and may stop the evaluation.
    #[must_use]
    pub fn with_watch(self, watch: Option<Arc<Watch>>) -> Self {
        Evaluator { watch, ..self }
    }

    /// The measures.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// The groups of queries, if there are any.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// The part of each ranking that counts, by rank and judgment.
    pub fn view(&self) -> View {
        self.view
    }

    /// Whether a measure needs the groups of equal scores ([`Measure::needs_ties`]), even in the
    /// order of the join.
    pub(crate) fn needs_ties(&self) -> bool {
        self.measures.iter().any(Measure::needs_ties)
    }

    /// The relevant documents known to the measures.
    pub fn known(&self) -> Known {
        self.known
    }

    /// Whether rankings are valued in the order of the join, and not over all orders of equal
    /// scores.
    #[cfg(feature = "internals")]
    pub(crate) fn is_in_order(&self) -> bool {
        self.tied == TiedValue::Ranked
    }

    /// Whether measures know all judged relevant documents, and not only the retrieved relevant
    /// documents.
    #[cfg(feature = "internals")]
    pub(crate) fn knows_all(&self) -> bool {
        self.known == Known::Judged
    }

    /// The engine that was chosen.
    pub fn engine(&self) -> EngineChoice {
        self.engine
    }

    /// Returns the plan for labels of the codebook `book`.
    ///
    /// # Errors
    /// A measure that does not fit the grades.
    pub fn plan(&self, book: &Codebook) -> Result<Plan> {
        Plan::new(&self.measures, book)
    }
}
