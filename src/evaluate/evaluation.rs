//! An evaluation: measures with their options, and the engine and the threads that compute.
//!
//! Three feeders deliver batches: a matrix (`matrix`), rankings in the caller's memory
//! (`rankings`), and a streamed run (`run_stream`). An evaluation chooses the engine for all
//! feeders. Every batch takes the steps of `feed`, and its sums end in an `Outcome`, from which
//! scores and summaries are made.

use std::borrow::Cow;

use super::Evaluator;
use super::evaluator::EngineChoice;
use super::pool::pool;
use super::sink::ValueCollector;
use crate::engine::auto::{self, SelectedEngine};
use crate::engine::{ChosenEngine, Engine, cpu::Cpu};
use crate::error::{Error, Result, unanswerable};
use crate::judged_by::FacetKind;
use crate::matrix::LabelMatrix;
use crate::measure::{JudgmentNeeds, MEASURES, Measure};
use crate::rule::RankingRule;
use crate::scores::{EvaluationSettings, Scores, TiedValue};
use crate::summary::Summary;
use crate::timing::Timing;

/// The kind of source that delivers rankings to an evaluation, for the choice of an engine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Feeder {
    /// Matrices with `labels` labels in all, for the CPU or, if worthwhile, a GPU.
    Matrices { labels: u64 },
    /// Rankings in memory, block by block.
    Rankings,
    /// A streamed run, query by query.
    Passing,
}

/// The results that an evaluation keeps besides averages: moments, values and fingerprints of
/// queries.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    pub moments: bool,
    pub values: bool,
    pub prints: bool,
}

impl Wants {
    /// The results for a summary.
    pub const SUMMARY: Self = Self { moments: true, values: false, prints: true };

    /// Makes a sink that collects the values of queries, but keeps them only if `values` is set.
    pub fn into_collector(self) -> ValueCollector {
        ValueCollector { parts: self.values.then(Vec::new) }
    }
}

/// An evaluation: measures with their options, and the engine and thread pool that compute.
pub struct Evaluation<'e> {
    pub(super) evaluator: Cow<'e, Evaluator>,
    /// The engine; `None` for the reference.
    pub(super) taken: Option<SelectedEngine>,
    pub(super) pool: Option<rayon::ThreadPool>,
}

impl<'e> Evaluation<'e> {
    /// Makes an evaluation: chooses the engine, and starts the threads that were asked for.
    ///
    /// # Errors
    /// A GPU that was asked for and is not there, or refuses, or is none for this feeder; threads
    /// that cannot be started.
    pub(super) fn new(evaluator: Cow<'e, Evaluator>, feeder: Feeder) -> Result<Self> {
        let pool = evaluator.threads.map(pool).transpose()?;
        // On the threads of the pool, because the choice depends on the number of threads.
        let taken = install(pool.as_ref(), || evaluator.taken(feeder))?;
        Ok(Self { evaluator, taken, pool })
    }

    /// Returns the engine of the evaluation; `None` for the reference functions.
    pub(super) fn engine(&self) -> Option<&ChosenEngine> {
        self.taken.as_ref().map(|taken| &taken.engine)
    }

    /// Returns the name of the evaluation's engine, and the reason for its choice if it was not
    /// asked for.
    pub fn engine_name(&self) -> String {
        match &self.taken {
            None => "reference".to_owned(),
            Some(SelectedEngine { engine, why, .. }) if why.is_empty() => engine.describe(),
            Some(SelectedEngine { engine, why, .. }) => format!("{}; {why}", engine.describe()),
        }
    }

    /// Runs `work` on the threads of the evaluation.
    pub(super) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        install(self.pool.as_ref(), work)
    }

    /// Runs `work` with the engine of the evaluation. If a GPU fails that [`EngineChoice::Auto`]
    /// chose, the CPU does this and all later work, because a failed device is not tried again.
    pub(super) fn on_engine<T: Send>(
        &mut self,
        work: impl Fn(&Evaluator, Option<&ChosenEngine>) -> Result<T> + Sync,
    ) -> Result<T> {
        match self.install(|| work(&self.evaluator, self.engine())) {
            Err(Error::Device(message)) if self.evaluator.engine == EngineChoice::Auto => {
                let mut cpu = SelectedEngine::requested(ChosenEngine::Cpu(Cpu::new()));
                cpu.refused = Some(message);
                self.taken = Some(cpu);
                self.install(|| work(&self.evaluator, self.engine()))
            }
            done => done,
        }
    }

    /// Evaluates all runs of a label matrix, and returns their scores.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn scores(&mut self, matrix: &LabelMatrix, timing: &mut Timing) -> Result<Scores> {
        // Times of a device that fails are dropped with its result: the CPU starts anew.
        let (scores, took) = self.on_engine(|evaluator, engine| {
            let mut timing = Timing::default();
            Ok((evaluator.evaluated(engine, matrix, &mut timing)?, timing))
        })?;
        timing.merge(&took);
        Ok(scores)
    }

    /// Evaluates all runs of a label matrix in one pass, and returns their scores and their
    /// mergeable summary.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate_with_summary`].
    pub fn scores_and_summary(
        &mut self,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<(Scores, Summary)> {
        let (both, took) = self.on_engine(|evaluator, engine| {
            let mut timing = Timing::default();
            let wants = Wants { values: evaluator.wants().values, ..Wants::SUMMARY };
            let (outcome, collector) =
                evaluator.matrix(engine, matrix, wants, &mut timing, || wants.into_collector())?;
            let both = timing.time("statistics", || outcome.scores_and_summary(collector))?;
            Ok((both, timing))
        })?;
        timing.merge(&took);
        Ok(both)
    }
}

/// Runs `work` on the threads of a pool, or on those of the caller without a pool.
fn install<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

impl Evaluator {
    /// Chooses the engine for a source of rankings; `None` for the reference functions, which are
    /// no engine.
    fn taken(&self, feeder: Feeder) -> Result<Option<SelectedEngine>> {
        Ok(match (self.engine, feeder) {
            (EngineChoice::Reference, _) => None,
            (EngineChoice::Gpu, Feeder::Passing) => {
                return unanswerable("a GPU reads label matrices: join the whole run for it");
            }
            (EngineChoice::Gpu, _) => Some(self.gpu()?),
            // An evaluation takes about one fold a measure, and never many.
            (EngineChoice::Auto, Feeder::Matrices { labels }) => {
                Some(auto::select(labels, self.measures.len().min(12)))
            }
            (EngineChoice::Auto | EngineChoice::Cpu, _) => {
                Some(SelectedEngine::requested(ChosenEngine::Cpu(Cpu::new())))
            }
        })
    }

    #[cfg(feature = "gpu")]
    fn gpu(&self) -> Result<SelectedEngine> {
        use crate::engine::gpu::{Gpu, device::AdapterChoice};
        let gpu = Gpu::open(
            self.adapter.as_deref().map_or(AdapterChoice::Hardware, AdapterChoice::Named),
        )?;
        Ok(SelectedEngine::requested(ChosenEngine::Gpu(Box::new(gpu))))
    }

    #[cfg(not(feature = "gpu"))]
    fn gpu(&self) -> Result<SelectedEngine> {
        Err(Error::Device("laneval was built without its GPU engine (feature `gpu`)".to_owned()))
    }

    /// Returns the results that the scores need besides averages: moments, or the values of
    /// queries.
    pub(super) fn wants(&self) -> Wants {
        Wants {
            moments: self.stats.iter().any(|stat| stat.needs_moments()),
            values: self.per_query || self.stats.iter().any(|stat| stat.needs_values()),
            prints: false,
        }
    }

    /// Rejects measures of tied documents and values over tie orders, because streamed rankings
    /// have one order.
    pub(super) fn check_ranked(&self, message: &str) -> Result<()> {
        match self.settings.tied {
            TiedValue::Ranked if !self.needs_ties() => Ok(()),
            _ => unanswerable(message),
        }
    }

    /// Rejects the option to look at judged documents only (`-J`) where judgments are by span.
    pub(super) fn check_view(&self, by: Option<FacetKind>) -> Result<()> {
        if self.settings.view.judged_only && by == Some(FacetKind::Span) {
            unanswerable(
                "judgments by span are of positions, so no result is without a judgment: leave -J \
                 (judged_only) out",
            )
        } else {
            Ok(())
        }
    }

    pub(super) fn check_depth(&self, rule: &RankingRule) -> Result<()> {
        match (self.settings.view.depth, rule.depth) {
            (Some(requested), Some(built)) if requested > built => unanswerable(format!(
                "depth {requested} was asked for, but the matrix keeps only the first {built} \
                 ranks: build it deeper"
            )),
            _ => Ok(()),
        }
    }

    /// Rejects, where measures know only what was retrieved (`relevant_from=retrieved`), facet
    /// measures and values over tie orders of rankings with a depth.
    pub(super) fn check_known(&self, rule: &RankingRule) -> Result<()> {
        let EvaluationSettings { view, relevant_from, tied, .. } = self.settings;
        if !relevant_from.is_retrieved() {
            return Ok(());
        }
        let mut measures = self.measures.iter();
        if let Some(measure) =
            measures.find(|measure| matches!(measure.input(), JudgmentNeeds::Facets(_)))
        {
            return unanswerable(format!(
                "{measure} is over judgments by judge, by subtopic, by span or of preferences: \
                 what a run retrieved of them (relevant_from=retrieved) is not known"
            ));
        }
        if tied != TiedValue::Ranked && (view.depth.is_some() || rule.depth.is_some()) {
            return unanswerable(format!(
                "with {tied} values of tied rankings, a depth and relevant_from=retrieved the \
                 relevant documents would depend on the order of equal scores: leave one of the \
                 three out"
            ));
        }
        Ok(())
    }
}

/// Words the error that `measure` needs judgments of chunks, where judgments are of spans in
/// documents. `measures` are all measures of the evaluation.
fn needs_chunks(measure: &Measure, measures: &[Measure]) -> String {
    let spans = JudgmentNeeds::Facets(FacetKind::Span);
    let first = match measures.iter().find(|other| other.input() == spans) {
        Some(span_measure) => format!("{span_measure} needs judgments by span, and {measure}"),
        None => {
            let of_spans = MEASURES.iter().filter(|row| row.traits.input == spans);
            let names: Vec<&str> = of_spans.map(|row| row.name).collect();
            format!(
                "what was read is judgments by span, which {} take; {measure} needs",
                names.join(", ")
            )
        }
    };
    format!("{first} judgments of chunks: `laneval convert --qrels --chunks` makes those")
}

/// Rejects measures that need judgments of another kind than those at hand. The kind is `by` a
/// facet (judge, subtopic, preference, span), or plain grades for `None`. Under judgments by span,
/// measures of grades pass only if they count results: passages are not documents, so the number of
/// relevant results is unknown.
pub(super) fn check_judgments(measures: &[Measure], by: Option<FacetKind>) -> Result<()> {
    let there = by.map_or(JudgmentNeeds::Grades, JudgmentNeeds::Facets);
    for measure in measures {
        match (measure.input(), by) {
            (JudgmentNeeds::Grades, Some(FacetKind::Span)) => {
                if !measure.counts_results() {
                    return unanswerable(needs_chunks(measure, measures));
                }
            }
            // With judges or subtopics, the largest grade of a document counts.
            (JudgmentNeeds::Any, _)
            | (JudgmentNeeds::Grades, Some(FacetKind::Judge | FacetKind::Subtopic)) => {}
            (needed, _) if needed == there => {}
            (needed, _) => {
                return unanswerable(format!(
                    "{measure} needs {needed}, and what was read is {there}"
                ));
            }
        }
    }
    Ok(())
}
