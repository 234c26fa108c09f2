//! An evaluation: measures with their options, and the engine and the threads that compute.
//!
//! Three feeders deliver batches: a matrix (`matrix`), rankings in the caller's memory
//! (`rankings`), and a streamed run (`passing`). An evaluation chooses the engine for all feeders.
//! Every batch takes the steps of `feed`, and its sums end in an `Outcome`, from which scores and
//! summaries are made.

use std::borrow::Cow;

use super::Evaluator;
use super::evaluator::EngineChoice;
use super::pool::pool;
use super::sink::KeptValues;
use crate::engine::auto::{self, TakenEngine};
use crate::engine::{ChosenEngine, Engine, cpu::Cpu};
use crate::error::{Error, Result};
use crate::judged_by::JudgedBy;
use crate::matrix::LabelMatrix;
use crate::measure::{Definition, JudgmentInput, MEASURES, Measure};
use crate::rule::RankingRule;
use crate::scores::{Known, Scores, TiedValue};
use crate::summary::Summary;
use crate::timing::Timing;

/// The source of the batches of an evaluation, for the choice of an engine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Feeder {
    /// Matrices with `labels` labels in all, for the CPU or, if worthwhile, a GPU.
    Matrices { labels: u64 },
    /// Rankings in memory, block by block.
    Rankings,
    /// A streamed run, query by query.
    Passing,
}

/// The results to keep besides averages.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    pub moments: bool,
    pub values: bool,
    pub prints: bool,
}

impl Wants {
    /// The results for a summary.
    pub const SUMMARY: Wants = Wants { moments: true, values: false, prints: true };

    /// Makes a sink of values. The sink keeps values only if `values` is set.
    pub fn kept(self) -> KeptValues {
        KeptValues { parts: self.values.then(Vec::new) }
    }
}

/// Measures with their options, engine and thread pool.
pub struct Evaluation<'e> {
    pub(super) evaluator: Cow<'e, Evaluator>,
    /// The engine; `None` for the reference.
    pub(super) taken: Option<TakenEngine>,
    pub(super) pool: Option<rayon::ThreadPool>,
}

impl<'e> Evaluation<'e> {
    /// Chooses the engine, and starts the threads that were asked for.
    ///
    /// # Errors
    /// A GPU that was asked for and is not there, or refuses, or is none for this feeder; threads
    /// that cannot be started.
    pub(super) fn new(evaluator: Cow<'e, Evaluator>, feeder: Feeder) -> Result<Self> {
        let pool = evaluator.threads.map(pool).transpose()?;
        // On the threads of the pool, because the choice depends on the number of threads.
        let taken = install(pool.as_ref(), || evaluator.taken(feeder))?;
        Ok(Evaluation { evaluator, taken, pool })
    }

    /// The engine; `None` for the reference.
    pub(super) fn engine(&self) -> Option<&ChosenEngine> {
        self.taken.as_ref().map(|taken| &taken.engine)
    }

    /// The name of the engine, with the reason why it was taken, if it was not asked for.
    pub fn engine_name(&self) -> String {
        match &self.taken {
            None => "reference".to_owned(),
            Some(TakenEngine { engine, why, .. }) if why.is_empty() => engine.describe(),
            Some(TakenEngine { engine, why, .. }) => format!("{}; {why}", engine.describe()),
        }
    }

    /// Does some work on the threads of the evaluation.
    pub(super) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        install(self.pool.as_ref(), work)
    }

    /// Runs `work` with the engine. If a GPU fails that [`EngineChoice::Auto`] chose, the CPU does
    /// this and all later work, because a failed device is not tried again.
    pub(super) fn on_engine<T: Send>(
        &mut self,
        work: impl Fn(&Evaluator, Option<&ChosenEngine>) -> Result<T> + Sync,
    ) -> Result<T> {
        match self.install(|| work(&self.evaluator, self.engine())) {
            Err(Error::Device(message)) if self.evaluator.engine == EngineChoice::Auto => {
                let mut cpu = TakenEngine::asked(ChosenEngine::Cpu(Cpu::new()));
                cpu.refused = Some(message);
                self.taken = Some(cpu);
                self.install(|| work(&self.evaluator, self.engine()))
            }
            done => done,
        }
    }

    /// Evaluates all runs of a matrix.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn scores(&mut self, matrix: &LabelMatrix, timing: &mut Timing) -> Result<Scores> {
        let (scores, took) = self.on_engine(|evaluator, engine| {
            let mut timing = Timing::default();
            Ok((evaluator.evaluated(engine, matrix, &mut timing)?, timing))
        })?;
        timing.merge(&took);
        Ok(scores)
    }

    /// Returns the scores and the summary of all runs of a matrix, from one pass.
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
            let (outcome, kept) =
                evaluator.matrix(engine, matrix, wants, &mut timing, || wants.kept())?;
            let both = timing.time("statistics", || outcome.scores_and_summary(kept))?;
            Ok((both, timing))
        })?;
        timing.merge(&took);
        Ok(both)
    }
}

/// Does some work in a pool, or where the caller is.
fn install<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

impl Evaluator {
    /// Chooses the engine; `None` for the reference, which is no engine.
    fn taken(&self, feeder: Feeder) -> Result<Option<TakenEngine>> {
        let cpu = || TakenEngine::asked(ChosenEngine::Cpu(Cpu::new()));
        Ok(match (self.engine, feeder) {
            (EngineChoice::Reference, _) => None,
            (EngineChoice::Gpu, Feeder::Passing) => {
                let message = "a GPU reads label matrices: join the whole run for it".to_owned();
                return Err(Error::Unanswerable(message));
            }
            (EngineChoice::Gpu, _) => Some(self.gpu()?),
            // An evaluation takes about one fold a measure, and never many.
            (EngineChoice::Auto, Feeder::Matrices { labels }) => {
                Some(auto::take(labels, self.measures.len().min(12)))
            }
            (EngineChoice::Auto | EngineChoice::Cpu, _) => Some(cpu()),
        })
    }

    #[cfg(feature = "gpu")]
    fn gpu(&self) -> Result<TakenEngine> {
        use crate::engine::gpu::{Gpu, device::Choice};
        let gpu = Gpu::open(self.adapter.as_deref().map_or(Choice::Hardware, Choice::Named))?;
        Ok(TakenEngine::asked(ChosenEngine::Gpu(Box::new(gpu))))
    }

    #[cfg(not(feature = "gpu"))]
    fn gpu(&self) -> Result<TakenEngine> {
        Err(Error::Device("laneval was built without its GPU engine (feature `gpu`)".to_owned()))
    }

    /// What the scores need to be kept.
    pub(super) fn wants(&self) -> Wants {
        Wants {
            moments: self.stats.iter().any(|stat| stat.needs_moments()),
            values: self.per_query || self.stats.iter().any(|stat| stat.needs_values()),
            prints: false,
        }
    }

    /// Rejects measures of ties and values over tie orders, because the batches of a stream have
    /// one order.
    pub(super) fn check_ranked(&self, message: &str) -> Result<()> {
        match self.tied {
            TiedValue::Ranked if !self.needs_ties() => Ok(()),
            _ => Err(Error::Unanswerable(message.to_owned())),
        }
    }

    /// Rejects a view of judged documents only where judgments are by span.
    pub(super) fn check_view(&self, by: Option<JudgedBy>) -> Result<()> {
        if self.view.judged_only && by == Some(JudgedBy::Span) {
            Err(Error::Unanswerable(
                "judgments by span are of positions, so no result is without a judgment: leave -J \
                 (judged_only) out"
                    .to_owned(),
            ))
        } else {
            Ok(())
        }
    }

    pub(super) fn check_depth(&self, rule: &RankingRule) -> Result<()> {
        match (self.view.depth, rule.depth) {
            (Some(asked), Some(built)) if asked > built => Err(Error::Unanswerable(format!(
                "depth {asked} was asked for, but the matrix keeps only the first {built} ranks: \
                 build it deeper"
            ))),
            _ => Ok(()),
        }
    }

    /// Rejects, with `known=retrieved`, facet measures and values over tie orders of rankings with
    /// a depth.
    pub(super) fn check_known(&self, rule: &RankingRule) -> Result<()> {
        if self.known == Known::Judged {
            return Ok(());
        }
        let over = |measure: &&Measure| matches!(measure.input(), JudgmentInput::Groups(_));
        if let Some(measure) = self.measures.iter().find(over) {
            return Err(Error::Unanswerable(format!(
                "{measure} is over judgments by judge, by subtopic, by span or of preferences: \
                 what a run retrieved of them (known=retrieved) is not known"
            )));
        }
        if self.tied != TiedValue::Ranked && (self.view.depth.is_some() || rule.depth.is_some()) {
            return Err(Error::Unanswerable(format!(
                "with {} values of tied rankings, a depth and known=retrieved the relevant \
                 documents would depend on the order of equal scores: leave one of the three out",
                self.tied
            )));
        }
        Ok(())
    }
}

/// Words the error that `measure` needs judgments of chunks, where judgments are by span.
/// `measures` are all measures of the evaluation.
fn needs_chunks(measure: &Measure, measures: &[Measure]) -> String {
    let of_passages = |of: &&Measure| of.input() == JudgmentInput::Groups(JudgedBy::Span);
    let first = match measures.iter().find(of_passages) {
        Some(of) => format!("{of} needs judgments by span, and {measure}"),
        None => {
            let of_passages =
                |row: &&Definition| row.traits.input == JudgmentInput::Groups(JudgedBy::Span);
            let names: Vec<&str> =
                MEASURES.iter().filter(of_passages).map(|row| row.name).collect();
            format!(
                "what was read is judgments by span, which {} take; {measure} needs",
                names.join(", ")
            )
        }
    };
    format!("{first} judgments of chunks: `laneval convert --qrels --chunks` makes those")
}

/// Rejects measures that need other judgments than judgments `by` facet, or grades for `None`.
/// Under judgments by span, measures of grades pass only if they count results: passages are not
/// documents, so the number of relevant results is unknown.
pub(super) fn check_judgments(measures: &[Measure], by: Option<JudgedBy>) -> Result<()> {
    let there = by.map_or(JudgmentInput::Grades, JudgmentInput::Groups);
    let lacks = |measure: &&Measure| match measure.input() {
        JudgmentInput::Any => false,
        // With judges or subtopics, the largest grade of a document counts.
        JudgmentInput::Grades => match by {
            Some(JudgedBy::Preference) => true,
            Some(JudgedBy::Span) => !measure.counts_results(),
            _ => false,
        },
        needed => needed != there,
    };
    match measures.iter().find(lacks) {
        Some(measure) if by == Some(JudgedBy::Span) && measure.input() == JudgmentInput::Grades => {
            Err(Error::Unanswerable(needs_chunks(measure, measures)))
        }
        Some(measure) => Err(Error::Unanswerable(format!(
            "{measure} needs {}, and what was read is {there}",
            measure.input()
        ))),
        None => Ok(()),
    }
}
