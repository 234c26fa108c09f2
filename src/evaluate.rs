//! The front door: measures in, scores out.

mod collect;
#[cfg(feature = "gpu")]
pub mod resident;

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::auto::{self, Taken};
use crate::engine::{Engine, Job, cpu::Cpu};
use crate::error::{Error, Result};
use crate::fold::Columns;
use crate::label::{Codebook, LANES, LabelMatrix, Notice, Unmatched, View};
use crate::measure::{Defaults, Measure, parse_list};
use crate::plan::Plan;
use crate::reference::{self, Ranking};
use crate::scores::Scores;
use crate::stats::Stat;
use crate::timing::Timing;
use collect::{Collected, PerThread};

/// Which queries count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuerySet {
    /// Every judged query; one that the run lacks has the values of an empty ranking.
    #[default]
    Judged,
    /// Only queries that are both judged and in the run.
    Both,
    /// Every judged query, and it is an error if the run lacks one.
    Complete,
}

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineChoice {
    /// The fastest engine for the matrix at hand.
    #[default]
    Auto,
    /// Folds in SIMD on all threads.
    Cpu,
    /// Folds in compute shaders, sums in integers.
    Gpu,
    /// The plain functions of [`mod@reference`], slow and obvious.
    Reference,
}

/// Measures and how to evaluate them.
///
/// ```
/// use laneval::{Evaluator, Join, Qrels};
/// let qrels = Qrels::new([("q1", "d1", 1.0), ("q1", "d2", 0.0), ("q2", "d1", 2.0)])?;
/// let run = [("q1", "d2", 9.5), ("q1", "d1", 7.0), ("q2", "d1", 3.0)];
/// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
/// let scores = Evaluator::new(["nDCG@10", "AP", "RR"])?.evaluate(&matrix)?;
/// assert_eq!(scores.runs[0].average(1), Some(0.75));
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Evaluator {
    measures: Vec<Measure>,
    /// Which queries count.
    pub queries: QuerySet,
    /// How to look at the rankings.
    pub view: View,
    /// Who computes.
    pub engine: EngineChoice,
    /// Which GPU, by number or part of its name; any that is not software if not said.
    pub adapter: Option<String>,
    /// Statistics besides the average.
    pub stats: Vec<Stat>,
    /// Keep the values of each query.
    pub per_query: bool,
    /// Keep the ids of all queries that a run lacks, not only of the first few.
    pub missing_ids: bool,
    /// Let values and statistics pass that are infinite or not a number, instead of an error.
    pub not_finite: bool,
}

impl Evaluator {
    /// An evaluator of measures by name; see [`parse_list`] for the spellings.
    ///
    /// # Errors
    /// A name that does not parse.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let lists = names.into_iter().map(|name| parse_list(name, Defaults::default()));
        Ok(Self::of(lists.collect::<Result<Vec<_>>>()?.concat()))
    }

    /// An evaluator of these measures.
    pub fn of(measures: Vec<Measure>) -> Self {
        Evaluator { measures, ..Self::default() }
    }

    /// The measures.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// What would run for a matrix.
    pub fn plan(&self, matrix: &LabelMatrix) -> Result<Plan> {
        Plan::new(&self.measures, matrix)
    }

    /// The levels of relevance that no grade of the book reaches, each with the measures that therefore find nothing.
    fn nothing_relevant(&self, book: &Codebook) -> Vec<Notice> {
        let Some(highest) = book.max_grade() else { return Vec::new() };
        let mut notices: Vec<Notice> = Vec::new();
        for of in &self.measures {
            let Some(level) = of.number("rel").filter(|&level| level > highest && looks_at_rel(of)) else {
                continue;
            };
            let same = |notice: &&mut Notice| matches!(notice, Notice::NothingRelevant { level: of, .. } if *of == level);
            match notices.iter_mut().find(same) {
                Some(Notice::NothingRelevant { measures, .. }) => measures.push(of.to_string()),
                _ => {
                    let measures = vec![of.to_string()];
                    notices.push(Notice::NothingRelevant { measures, level, highest });
                }
            }
        }
        notices
    }

    /// The engine for these matrices; `None` for the reference, which is none.
    ///
    /// # Errors
    /// A GPU that was asked for and is not there, or refuses.
    pub fn take_engine<'a>(
        &self,
        matrices: impl IntoIterator<Item = &'a LabelMatrix>,
    ) -> Result<Option<Taken>> {
        Ok(match self.engine {
            EngineChoice::Reference => None,
            EngineChoice::Cpu => Some(Taken::asked(Cpu::new())),
            EngineChoice::Gpu => Some(self.gpu()?),
            EngineChoice::Auto => {
                let labels = matrices.into_iter().map(|matrix| matrix.tile_bytes().len() as u64).sum();
                // About one a measure, and never many.
                Some(auto::take(labels, self.measures.len().min(12)))
            }
        })
    }

    #[cfg(feature = "gpu")]
    fn gpu(&self) -> Result<Taken> {
        use crate::engine::gpu::{Gpu, device::Choice};
        Ok(Taken::asked(Gpu::open(self.adapter.as_deref().map_or(Choice::Hardware, Choice::Named))?))
    }

    #[cfg(not(feature = "gpu"))]
    fn gpu(&self) -> Result<Taken> {
        Err(Error::Device("laneval was built without its GPU engine (feature `gpu`)".to_owned()))
    }

    /// Evaluates all runs of a matrix.
    ///
    /// # Errors
    /// A measure that does not fit the grades; a missing query under [`QuerySet::Complete`]; a view deeper than the matrix; more
    /// measures, or measures of more runs, than there should be memory for; a value that is not finite ([`Error::NotFinite`]).
    pub fn evaluate(&self, matrix: &LabelMatrix) -> Result<Scores> {
        self.evaluate_timed(matrix, &mut Timing::default())
    }

    /// Evaluates all runs of a matrix, and notes where the time goes.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_timed(&self, matrix: &LabelMatrix, timing: &mut Timing) -> Result<Scores> {
        match self.take_engine([matrix])? {
            Some(taken) => match self.evaluate_on_timed(taken.engine.as_ref(), matrix, timing) {
                Err(Error::Device(_)) if self.engine == EngineChoice::Auto => {
                    self.evaluate_on_timed(&Cpu::new(), matrix, timing)
                }
                scores => scores,
            },
            None => {
                let functions = self.functions()?;
                self.collect(matrix, timing, |_, tiles, collected| {
                    let plain = |at| collected.add(matrix.tile_rows(at), &self.plain(matrix, &functions, at));
                    Ok(tiles.into_par_iter().map(plain).collect())
                })
            }
        }
    }

    /// Evaluates all runs of a matrix on this very engine.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and what the engine refuses.
    pub fn evaluate_on(&self, engine: &dyn Engine, matrix: &LabelMatrix) -> Result<Scores> {
        self.evaluate_on_timed(engine, matrix, &mut Timing::default())
    }

    /// Evaluates all runs of a matrix on this very engine, and notes where the time goes.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate_on`].
    pub fn evaluate_on_timed(
        &self,
        engine: &dyn Engine,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<Scores> {
        self.collect(matrix, timing, |plan, tiles, collected| {
            let finishing = Finishing::new(self, matrix, plan);
            let finish = |tile: usize, columns: &Columns| {
                let labels = |lane| self.labels(matrix, tile, lane);
                finishing.rows(matrix.tile_rows(tile), columns, labels, collected)
            };
            engine.run(Job { matrix, view: self.view, program: plan.program() }, tiles, &finish)
        })
    }

    /// Collects the values of all tiles into scores.
    fn collect(
        &self,
        matrix: &LabelMatrix,
        timing: &mut Timing,
        run: impl Fn(&Plan, Range<usize>, &Collected) -> Result<Vec<Vec<f64>>>,
    ) -> Result<Scores> {
        self.check(matrix)?;
        let plan = timing.time("plan and facts", || self.plan(matrix))?;
        let mut collected = Collected::new(self, matrix)?;
        let tiles = 0..matrix.packing().tiles.len();
        let values = timing.time("folds and formulas", || run(&plan, tiles.clone(), &collected))?;
        timing.time("statistics", || {
            collected.keep(tiles.map(|at| matrix.tile_rows(at)), &values);
            if self.queries != QuerySet::Both {
                self.add_missing(matrix, &plan, &mut collected);
            }
            collected.scores(self)
        })
    }

    fn check(&self, matrix: &LabelMatrix) -> Result<()> {
        if let (Some(asked), Some(built)) = (self.view.depth, matrix.rule().depth)
            && asked > built
        {
            return Err(Error::Unanswerable(format!(
                "depth {asked} was asked for, but the matrix keeps only the first {built} ranks: build it deeper"
            )));
        }
        if self.queries == QuerySet::Complete {
            let incomplete = matrix.runs().iter().enumerate().filter_map(|(run, info)| {
                let missing = Unmatched::first(missing(matrix, run));
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

    fn functions(&self) -> Result<Vec<reference::Function>> {
        let function = |m: &Measure| {
            reference::function(m)
                .ok_or_else(|| Error::Unanswerable(format!("{m} has no reference function")))
        };
        self.measures.iter().map(function).collect()
    }

    /// The values of one tile by the plain functions, `[measure][row]`.
    fn plain(&self, matrix: &LabelMatrix, functions: &[reference::Function], at: usize) -> Vec<f64> {
        let rows = matrix.tile_rows(at);
        let mut values = vec![0.0; functions.len() * rows.len()];
        for lane in 0..rows.len() {
            let labels = self.labels(matrix, at, lane);
            for (at, (measure, function)) in self.measures.iter().zip(functions).enumerate() {
                values[at * rows.len() + lane] = function(measure, &ranking(matrix, rows[lane], &labels));
            }
        }
        values
    }

    /// Adds the rows without any document.
    fn add_missing(&self, matrix: &LabelMatrix, plan: &Plan, collected: &mut Collected) {
        if !matrix.depths().contains(&0) {
            return;
        }
        let finishing = Finishing::new(self, matrix, plan);
        let empty = Columns::zeros(plan.program(), LANES);
        let rows = (0..matrix.rows() as u32).filter(|&row| matrix.depths()[row as usize] == 0);
        let rows: Vec<u32> = rows.collect();
        for rows in rows.chunks(LANES) {
            let values = finishing.rows(rows, &empty, |_| Vec::new(), collected);
            collected.keep([rows].into_iter(), &[values]);
        }
    }

    /// The labels of one lane as seen.
    fn labels(&self, matrix: &LabelMatrix, tile: usize, lane: usize) -> Vec<u8> {
        let depth = matrix.depths()[matrix.tile_rows(tile)[lane] as usize];
        let mut labels: Vec<u8> = matrix.tile(tile).lane(lane).take(depth as usize).collect();
        self.view.of_row(&mut labels);
        labels
    }
}

/// From columns to values.
struct Finishing<'a> {
    matrix: &'a LabelMatrix,
    plan: &'a Plan,
    /// The measures that walk, by index, with their functions.
    walks: Vec<(usize, reference::Function)>,
    scratch: PerThread<FinishScratch>,
}

/// What is used again from tile to tile.
#[derive(Default)]
struct FinishScratch {
    queries: Vec<u32>,
    gathered: Vec<f64>,
    values: Vec<f64>,
}

impl<'a> Finishing<'a> {
    fn new(evaluator: &Evaluator, matrix: &'a LabelMatrix, plan: &'a Plan) -> Self {
        let function = |at| Some((at, reference::function(&evaluator.measures[at])?));
        let scratch = PerThread::new(usize::MAX, FinishScratch::default);
        Finishing { matrix, plan, walks: plan.walks().filter_map(function).collect(), scratch }
    }

    /// Finishes and adds some rows, of which these are the columns, and gives back the values to keep.
    fn rows(
        &self,
        rows: &[u32],
        columns: &Columns,
        labels: impl Fn(usize) -> Vec<u8>,
        collected: &Collected,
    ) -> Vec<f64> {
        self.scratch.with(|FinishScratch { queries, gathered, values }| {
            self.queries(rows, queries);
            values.resize(self.plan.measures().len() * rows.len(), 0.0);
            self.plan.finish(queries, columns, gathered, values);
            if !self.walks.is_empty() {
                self.walk(rows, labels, values);
            }
            collected.add(rows, values)
        })
    }

    /// The queries of some rows, most of them of one run.
    fn queries(&self, rows: &[u32], queries: &mut Vec<u32>) {
        let all = self.matrix.queries().len() as u32;
        let run = rows.first().map_or(0, |row| row / all * all);
        let query = |&row: &u32| if (run..run + all).contains(&row) { row - run } else { row % all };
        queries.clear();
        queries.extend(rows.iter().map(query));
    }

    fn walk(&self, rows: &[u32], labels: impl Fn(usize) -> Vec<u8>, values: &mut [f64]) {
        for (lane, &row) in rows.iter().enumerate() {
            let labels = labels(lane);
            for &(measure, function) in &self.walks {
                let value = function(&self.plan.measures()[measure], &ranking(self.matrix, row, &labels));
                values[measure * rows.len() + lane] = value;
            }
        }
    }
}

/// Does the lowest relevant grade change values of the measure?
fn looks_at_rel(measure: &Measure) -> bool {
    let shares = measure.word("gain") == "grade" && measure.definition().name != "RBP";
    !shares && measure.word("scale") != "topic"
}

/// A row with what the qrels know of its query.
fn ranking<'a>(matrix: &'a LabelMatrix, row: u32, labels: &'a [u8]) -> Ranking<'a> {
    let query = row as usize % matrix.queries().len();
    Ranking { labels, facts: matrix.facts().of(query), book: matrix.book() }
}

/// The judged queries that a run lacks.
fn missing(matrix: &LabelMatrix, run: usize) -> impl Iterator<Item = &[u8]> {
    let depths = matrix.run_depths(run).iter().enumerate();
    depths.filter(|&(_, &depth)| depth == 0).map(|(query, _)| matrix.queries().get(query))
}
