//! The entry point: measures in, scores or summaries out.

mod block;
mod bordered;
mod evaluator;
mod finish;
mod interval;
mod joined;
mod judges;
mod missing;
mod pool;
#[cfg(feature = "gpu")]
pub mod resident;
mod run_stream;
mod sink;
mod slots;
mod stream;
mod tally;
mod tied;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::auto::{self, TakenEngine};
use crate::engine::{ChosenEngine, Engine, Gather, Job, cpu::Cpu};
use crate::error::{Error, Result, printable};
use crate::fold::{Columns, Program};
use crate::label::{JudgedBy, LANES, LabelMatrix, Notice, RankingRule, Unmatched};
use crate::measure::{JudgmentInput, Measure};
use crate::reference::{self, Ranking};
use crate::scores::{PerQuery, QuerySet, Scores, TiedValue};
use crate::stats::{StatName, summarise};
use crate::summary::{QueryPrint, RunSummary, Summary, nothing_relevant};
use crate::timing::Timing;
use finish::{Finishing, named_in, ranking};
use joined::Joined;
use pool::pool;
use sink::KeptValues;
use slots::Slots;
use tally::{NotFinite, SlotSums, Tally, TallyContext, by_row, labels};
use tied::OverTies;

pub use evaluator::{EngineChoice, Evaluator};
pub use pool::most_threads;
pub use run_stream::RunStream;
pub use sink::Sink;
pub use slots::Groups;
pub use stream::Stream;

impl Evaluator {
    /// Evaluates all runs of a matrix.
    ///
    /// # Errors
    /// A measure that does not fit the grades; a missing query under [`QuerySet::Complete`]; a view deeper than the matrix; more
    /// measures, or measures of more runs, than there should be memory for; a value that is not finite ([`Error::NotFinite`]); a GPU
    /// that was asked for and is not there, or refuses.
    pub fn evaluate(&self, matrix: &LabelMatrix) -> Result<Scores> {
        self.on_its_engine(matrix, |with| self.evaluate_with(with, matrix, &mut Timing::default()))
    }

    /// Returns the summary of all runs of a matrix, which can be merged with summaries of other matrices. It has the ids of the queries
    /// that count, and of those that the runs lack.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and two runs of the same name.
    pub fn summary(&self, matrix: &LabelMatrix) -> Result<Summary> {
        self.on_its_engine(matrix, |with| self.summary_with(with, matrix, &mut Timing::default()))
    }

    /// Returns the summary of all runs of a matrix, and a sink that has been shown all values. `begin` makes a sink for each worker.
    ///
    /// # Errors
    /// As [`Evaluator::summary`].
    pub fn summary_into<S: Sink>(
        &self,
        matrix: &LabelMatrix,
        begin: impl Fn() -> S + Sync,
    ) -> Result<(Summary, S)> {
        let wants = Wants { moments: true, values: false, prints: true };
        self.on_its_engine(matrix, |engine| {
            let (done, sink) = self.done(engine, matrix, wants, &mut Timing::default(), &begin)?;
            Ok((self.summary_of(matrix, done.runs)?, sink))
        })
    }

    /// Returns the scores and the summary of all runs of a matrix, from one pass.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`] and [`Evaluator::summary`].
    pub fn evaluate_with_summary(&self, matrix: &LabelMatrix) -> Result<(Scores, Summary)> {
        self.on_its_engine(matrix, |with| self.scores_and_summary(with, matrix, &mut Timing::default()))
    }

    /// Chooses the engine for these matrices; `None` for the reference, which is no engine.
    ///
    /// # Errors
    /// A GPU that was asked for and is not there, or refuses.
    #[doc(hidden)]
    pub fn take_engine<'a>(
        &self,
        matrices: impl IntoIterator<Item = &'a LabelMatrix>,
    ) -> Result<Option<TakenEngine>> {
        Ok(match self.engine {
            EngineChoice::Reference => None,
            EngineChoice::Cpu => Some(TakenEngine::asked(ChosenEngine::Cpu(Cpu::new()))),
            EngineChoice::Gpu => Some(self.gpu()?),
            EngineChoice::Auto => {
                let labels = matrices.into_iter().map(|matrix| matrix.tile_bytes().len() as u64).sum();
                // An evaluation takes about one fold a measure, and never many.
                Some(auto::take(labels, self.measures.len().min(12)))
            }
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

    /// Runs the work with the chosen engine. Where a GPU fails that was not asked for, the CPU does the work.
    fn on_its_engine<T>(
        &self,
        matrix: &LabelMatrix,
        work: impl Fn(Option<&ChosenEngine>) -> Result<T> + Sync,
    ) -> Result<T>
    where
        T: Send,
    {
        let all = || {
            let taken = self.take_engine([matrix])?;
            match work(taken.as_ref().map(|taken| &taken.engine)) {
                Err(Error::Device(_)) if self.engine == EngineChoice::Auto => {
                    work(Some(&ChosenEngine::Cpu(Cpu::new())))
                }
                done => done,
            }
        };
        let Some(threads) = self.threads else { return all() };
        pool(threads)?.install(all)
    }

    /// Evaluates all runs of a matrix on `engine`.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and what the engine refuses.
    pub fn evaluate_on(&self, engine: &impl Engine, matrix: &LabelMatrix) -> Result<Scores> {
        self.evaluated(Some(engine), matrix, &mut Timing::default())
    }

    /// Evaluates all runs of a matrix on `engine`, or by the reference where it is `None`, and measures the time of each step.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    #[doc(hidden)]
    pub fn evaluate_with(
        &self,
        engine: Option<&ChosenEngine>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<Scores> {
        self.evaluated(engine, matrix, timing)
    }

    fn evaluated(
        &self,
        engine: Option<&impl Engine>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<Scores> {
        let (done, kept) = self.done(engine, matrix, self.wants(), timing, || self.kept())?;
        timing.time("statistics", || self.scores(matrix, done, kept))
    }

    /// Returns the summary of all runs of a matrix, computed by `engine`, or by the reference where it is `None`.
    ///
    /// # Errors
    /// As [`Evaluator::summary`].
    #[doc(hidden)]
    pub fn summary_with(
        &self,
        engine: Option<&ChosenEngine>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<Summary> {
        let wants = Wants { moments: true, values: false, prints: true };
        let (Done { runs, .. }, ()) = self.done(engine, matrix, wants, timing, || ())?;
        self.summary_of(matrix, runs)
    }

    /// Returns the scores and the summary from one pass.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`] and [`Evaluator::summary`].
    #[doc(hidden)]
    pub fn scores_and_summary(
        &self,
        engine: Option<&ChosenEngine>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<(Scores, Summary)> {
        let wants = Wants { moments: true, prints: true, ..self.wants() };
        let (done, kept) = self.done(engine, matrix, wants, timing, || self.kept())?;
        timing.time("statistics", || {
            let summary = self.summary_of(matrix, done.runs.clone())?;
            Ok((self.scores(matrix, done, kept)?, summary))
        })
    }

    /// Makes a sink that keeps the values, if the scores need them.
    fn kept(&self) -> KeptValues {
        KeptValues { parts: self.wants().values.then(Vec::new) }
    }

    /// What the scores need to be kept.
    fn wants(&self) -> Wants {
        Wants {
            moments: self.stats.iter().any(|stat| stat.needs_moments()),
            values: self.per_query || self.stats.iter().any(|stat| stat.needs_values()),
            prints: false,
        }
    }

    /// The summary of all runs.
    fn summary_of(&self, matrix: &impl Joined, runs: Vec<SlotSummary>) -> Result<Summary> {
        let mut by_name = BTreeMap::new();
        for (run, group, summary) in runs {
            let name = matrix.runs()[run].name.clone();
            if by_name.insert((name.clone(), group), summary).is_some() {
                let name = printable(name.as_bytes());
                return Err(Error::Unanswerable(format!(
                    "two runs have the name {name}: summaries need distinct ones, as name=path gives them"
                )));
            }
        }
        let (queries, view, tied) = (self.queries, self.view, self.tied);
        Ok(Summary { measures: self.measures.clone(), queries, view, tied, runs: by_name })
    }

    /// Evaluates all runs of a matrix.
    fn done<S: Sink>(
        &self,
        engine: Option<&impl Engine>,
        matrix: &LabelMatrix,
        wants: Wants,
        timing: &mut Timing,
        begin: impl Fn() -> S + Sync,
    ) -> Result<(Done, S)> {
        if engine.is_none() && self.tied != TiedValue::Ranked {
            return Err(tied::no_reference(self.tied));
        }
        let (slots, notices) =
            Slots::new(matrix.runs().len(), matrix.queries(), self.only.as_ref(), self.groups.as_ref())?;
        self.check(matrix, &slots)?;
        let plan = self.plan(matrix.book())?;
        let batch = matrix.batch();
        let prepared = timing.time("plan and facts", || plan.prepare(&batch));
        let cpu = engine.and_then(Engine::cpu_level).map(Cpu::at);
        let over_ties = OverTies::new(self.tied, &batch, (self.view, self.cuts(matrix)), &prepared, cpu)?;
        let nothing = Program::default();
        let computes = over_ties.as_ref().is_some_and(OverTies::computes);
        let program = if computes { &nothing } else { plan.program() };
        let asked = TallyContext {
            batch: batch.clone(),
            finishing: timing
                .time("plan and facts", || Finishing::new(batch.clone(), self.view, &prepared))?,
            over_ties,
            averages: self.measures.iter().map(|measure| measure.definition().average).collect(),
            slots,
            moments: wants.moments,
        };
        let workers = asked.workers()?;
        self.watch.iter().for_each(|watch| watch.expect(batch.bytes().len() as u64));
        let empty: Vec<u32> = match self.queries {
            QuerySet::Both => Vec::new(),
            QuerySet::Judged | QuerySet::Complete => empty_rows(matrix),
        };
        let mut tally = timing.time("folds and formulas", || match engine {
            Some(engine) => {
                let job = Job {
                    batch,
                    view: self.view,
                    program,
                    inputs: prepared.inputs(),
                    watch: self.watch.as_deref(),
                };
                engine.run(&job, workers, || Tally::new(&asked, begin()))
            }
            None => self.by_reference(&asked, &begin),
        })?;
        timing.time("statistics", || {
            let columns = Columns::zeros(plan.program(), LANES);
            for rows in empty.chunks(LANES) {
                tally.rows(rows, &columns, None);
            }
            let (runs, slots) = self.summed(matrix, &asked.slots, &tally.sums, wants)?;
            Ok((Done { runs, slots, notices }, tally.sink))
        })
    }

    /// Tallies all rows by the plain functions.
    fn by_reference<'a, S: Sink>(
        &self,
        asked: &'a TallyContext<'a>,
        begin: &(impl Fn() -> S + Sync),
    ) -> Result<Tally<'a, S>> {
        let function = |measure: &Measure| {
            reference::function(measure)
                .ok_or_else(|| Error::Unanswerable(format!("{measure} has no reference function")))
        };
        let functions: Vec<_> = self.measures.iter().map(function).collect::<Result<_>>()?;
        let batch = &asked.batch;
        let is_stopped = || self.watch.as_ref().is_some_and(|watch| watch.is_stopped());
        let add = |mut tally: Tally<'a, S>, at: usize| {
            if is_stopped() {
                return tally;
            }
            let (rows, at_tile) = (batch.rows(at), at);
            let mut values = vec![0.0; functions.len() * rows.len()];
            for (lane, &row) in rows.iter().enumerate() {
                let (labels, grades) = (labels(batch, self.view, at, lane), batch.exact_of(at, lane));
                let named = named_in(batch, at, lane, self.view);
                let groups = batch.facet_rows().map(|grouped| grouped.of.of(batch.query(row)));
                let groups = groups.map(|judged| reference::RankedFacets { judged, named: &named });
                for (at, (measure, function)) in self.measures.iter().zip(&functions).enumerate() {
                    if let Some((rule, judged)) = measure.judges().zip(asked.finishing.judges()) {
                        let labels: Vec<u8> = batch.ranking(at_tile, lane).collect();
                        let of = measure.of_one_judge();
                        let value = |ranking: &Ranking<'_>| function(&of, ranking);
                        values[at * rows.len() + lane] =
                            judged.value(batch, row, rule, &labels, self.view, value);
                        continue;
                    }
                    let ranking = Ranking { facets: groups, ..ranking(batch, row, &labels, grades) };
                    values[at * rows.len() + lane] = function(measure, &ranking);
                }
            }
            tally.add(rows, &values);
            self.watch.iter().for_each(|watch| watch.add(batch.tile(at).labels.len() as u64));
            tally
        };
        let both = |mut one: Tally<'a, S>, other: Tally<'a, S>| {
            one.merge(other);
            one
        };
        let begin = || Tally::new(asked, begin());
        let tally = batch.tiles().into_par_iter().fold(begin, add).reduce(begin, both);
        if is_stopped() { Err(Error::Stopped) } else { Ok(tally) }
    }

    fn check_depth(&self, rule: RankingRule) -> Result<()> {
        match (self.view.depth, rule.depth) {
            (Some(asked), Some(built)) if asked > built => Err(Error::Unanswerable(format!(
                "depth {asked} was asked for, but the matrix keeps only the first {built} ranks: build it deeper"
            ))),
            _ => Ok(()),
        }
    }

    fn check(&self, matrix: &impl Joined, slots: &Slots) -> Result<()> {
        self.check_depth(matrix.rule())?;
        check_judgments(&self.measures, matrix.judged_by())?;
        if self.queries == QuerySet::Complete {
            let incomplete = matrix.runs().iter().enumerate().filter_map(|(run, info)| {
                let missing = Unmatched::first(missing(matrix, run, slots.queries(0)));
                (missing.count > 0).then(|| {
                    format!("{}: lacks {} of the judged queries: {missing}", info.name, missing.count)
                })
            });
            let incomplete: Vec<String> = incomplete.collect();
            if !incomplete.is_empty() {
                return Err(Error::Unanswerable(incomplete.join("\n")));
            }
        }
        Ok(())
    }

    /// Makes a summary of the sums of each slot, and lists the queries that count in it if values are kept.
    fn summed(
        &self,
        matrix: &impl Joined,
        slots: &Slots,
        sums: &SlotSums,
        wants: Wants,
    ) -> Result<(Vec<SlotSummary>, Vec<Vec<usize>>)> {
        if let Some(NotFinite { row, measure, value }) =
            sums.not_finite.filter(|_| !self.not_finite || wants.prints)
        {
            let (row, queries) = (row as usize, matrix.queries());
            return Err(Error::NotFinite {
                run: matrix.runs()[row / queries.len()].name.clone(),
                query: Some(queries.get(row % queries.len()).to_vec()),
                measure: self.measures[measure].to_string(),
                value,
            });
        }
        let measures = self.measures.len();
        let mut prints = Prints::default();
        let runs = slots.iter().enumerate().map(|(slot, (run, group))| {
            let info = &matrix.runs()[run];
            let of_slot = || slots.queries(slot);
            let lacking = missing(matrix, run, of_slot());
            let missing = match self.missing_ids || wants.prints {
                true => Unmatched::all(lacking),
                false => Unmatched::first(lacking),
            };
            let count = sums.counts[slot];
            let queries = match wants.prints {
                true => prints.of(matrix, of_slot().filter(|&query| self.counts(matrix, run, query))),
                false => Arc::new(QueryPrint::unnamed(count)),
            };
            let judged = match wants.prints {
                true => {
                    let judged = prints.of(matrix, of_slot());
                    BTreeMap::from([(judged.sum().unwrap_or_default(), judged.count())])
                }
                false => BTreeMap::new(),
            };
            let own = slot * measures..(slot + 1) * measures;
            let summary = RunSummary {
                place: run as u64,
                tag: info.tag.clone(),
                sources: BTreeSet::from([info.source.clone()]),
                parts: 1,
                rule: matrix.rule(),
                fingerprints: BTreeSet::from([matrix.fingerprint()]),
                judged,
                queries,
                empty: if self.queries == QuerySet::Both { 0 } else { missing.count },
                missing,
                ignored: if group.is_none() { info.ignored.clone() } else { Unmatched::default() },
                seen: if group.is_none() { info.seen } else { Default::default() },
                highest: matrix.book().max_grade(),
                taken: self.measures.iter().map(|measure| measure.highest_grade(matrix.book())).collect(),
                sums: sums.sums[own.clone()].to_vec(),
                moments: if wants.moments { sums.moments[own].to_vec() } else { Vec::new() },
                ideal: matrix.ideal(),
            };
            (run, group.map(str::to_owned), summary)
        });
        let runs = runs.collect();
        let counted = slots.iter().enumerate().map(|(slot, (run, _))| {
            let counted = slots.queries(slot).filter(|&query| self.counts(matrix, run, query));
            if wants.values { counted.collect() } else { Vec::new() }
        });
        Ok((runs, counted.collect()))
    }

    /// Whether a query that was chosen counts for a run.
    fn counts(&self, matrix: &impl Joined, run: usize, query: usize) -> bool {
        self.queries != QuerySet::Both || matrix.has(run, query)
    }

    /// Makes the scores of an evaluation, with the statistics that need all values.
    fn scores(
        &self,
        matrix: &impl Joined,
        Done { runs, slots, notices }: Done,
        kept: KeptValues,
    ) -> Result<Scores> {
        let queries = matrix.queries().len();
        let values = match &kept.parts {
            Some(parts) => by_row(parts, self.measures.len(), matrix.runs().len() * queries)?,
            None => Vec::new(),
        };
        let mut scores = Scores {
            measures: self.measures.clone(),
            queries: self.queries,
            view: self.view,
            tied: self.tied,
            notices: Vec::new(),
            runs: Vec::new(),
        };
        for ((run, group, summary), counted) in runs.into_iter().zip(slots) {
            let value = |of: &Vec<f64>| counted.iter().map(|query| of[run * queries + query]).collect();
            let values: Vec<Vec<f64>> = values.iter().map(value).collect();
            let of_values = self.stats.iter().filter(|stat| stat.needs_values());
            let more: Vec<_> = of_values.map(|&stat| summarise(stat, &self.measures, &values)).collect();
            let of_measure = |at: usize| more.iter().flat_map(|stat| stat[at].iter().copied()).collect();
            let more: Vec<Vec<(StatName, f64)>> = (0..self.measures.len()).map(of_measure).collect();
            let mut of_run = summary.scores(&self.measures, (self.queries, self.tied), &self.stats, more);
            of_run.name.clone_from(&matrix.runs()[run].name);
            of_run.group = group;
            of_run.per_query = self.per_query.then(|| PerQuery {
                queries: counted.iter().map(|&query| matrix.queries().get(query)).collect(),
                values,
                missing: (0..counted.len()).filter(|&at| !matrix.has(run, counted[at])).collect(),
            });
            scores.runs.push(of_run);
        }
        scores.notices = nothing_relevant(&self.measures, matrix.book().max_grade());
        scores.notices.extend(notices);
        scores.notices.extend(largest_of_groups(&self.measures, matrix.judged_by()));
        if !self.not_finite {
            scores.check_finite()?;
        }
        Ok(scores)
    }
}

/// The notice that plain measures take the largest grade of a document that has several.
fn largest_of_groups(measures: &[Measure], by: Option<JudgedBy>) -> Option<Notice> {
    let by = by.filter(|&by| by != JudgedBy::Preference)?;
    let plain = measures.iter().filter(|measure| measure.input() == JudgmentInput::Grades);
    let measures: Vec<String> = plain.map(Measure::to_string).collect();
    (!measures.is_empty()).then_some(Notice::LargestOfGroups { by, measures })
}

/// Checks that measures get the judgments that they need, if those are by these groups.
fn check_judgments(measures: &[Measure], by: Option<JudgedBy>) -> Result<()> {
    let there = by.map_or(JudgmentInput::Grades, JudgmentInput::Groups);
    let lacks = |measure: &&Measure| match measure.input() {
        JudgmentInput::Any => false,
        // Of judges and subtopics a document has the largest grade.
        JudgmentInput::Grades => by == Some(JudgedBy::Preference),
        needed => needed != there,
    };
    match measures.iter().find(lacks) {
        Some(measure) => Err(Error::Unanswerable(format!(
            "{measure} needs {}, and what was read is {there}",
            measure.input()
        ))),
        None => Ok(()),
    }
}

/// What is kept besides averages.
#[derive(Clone, Copy)]
struct Wants {
    moments: bool,
    values: bool,
    prints: bool,
}

/// The run of a slot, the name of its group, and its summary.
type SlotSummary = (usize, Option<String>, RunSummary);

/// The results of an evaluation.
struct Done {
    /// The summaries, one for each slot.
    runs: Vec<SlotSummary>,
    /// The queries that count in each slot, if values are kept.
    slots: Vec<Vec<usize>>,
    /// Notices about the queries that were chosen.
    notices: Vec<Notice>,
}

/// Sets of queries, so that runs with the same queries share them.
#[derive(Default)]
struct Prints(HashMap<Vec<usize>, Arc<QueryPrint>>);

impl Prints {
    /// The queries of a matrix that are counted.
    fn of(&mut self, matrix: &impl Joined, counted: impl Iterator<Item = usize>) -> Arc<QueryPrint> {
        let print = self.0.entry(counted.collect()).or_insert_with_key(|counted| {
            let ids = counted.iter().map(|&query| matrix.queries().get(query));
            Arc::new(QueryPrint::of(ids.collect()))
        });
        print.clone()
    }
}

/// The ids of those of `queries` that a run lacks.
fn missing(
    matrix: &impl Joined,
    run: usize,
    queries: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &[u8]> {
    queries.filter(move |&query| !matrix.has(run, query)).map(|query| matrix.queries().get(query))
}

/// The rows without any document.
fn empty_rows(matrix: &LabelMatrix) -> Vec<u32> {
    let depths = matrix.depths();
    if !depths.contains(&0) {
        return Vec::new();
    }
    (0..matrix.rows() as u32).filter(|&row| depths[row as usize] == 0).collect()
}
