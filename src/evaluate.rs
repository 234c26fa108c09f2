//! The front door: measures in, scores out.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::auto::{self, Taken};
use crate::engine::{Engine, Job, cpu::Cpu};
use crate::error::{Error, Result};
use crate::fold::Columns;
use crate::label::{Ids, LANES, LabelMatrix, Unmatched, View};
use crate::measure::{Average, Defaults, Measure, parse_list};
use crate::plan::Plan;
use crate::reference::{self, Ranking};
use crate::scores::{PerQuery, RunScores, Scores};
use crate::stats::{ExactSum, Stat, summarise};
use crate::timing::Timing;

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
}

/// Tiles are evaluated in batches of about so many rows, so that the columns of a large matrix never exist all at once.
const BATCH_ROWS: u32 = 1 << 16;

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

    /// The engine for these matrices; `None` for the reference, which is none.
    ///
    /// # Errors
    /// A GPU that was asked for and is not there, or refuses; a measure that does not fit the grades.
    pub fn take_engine<'a>(
        &self,
        matrices: impl IntoIterator<Item = &'a LabelMatrix>,
    ) -> Result<Option<Taken>> {
        Ok(match self.engine {
            EngineChoice::Reference => None,
            EngineChoice::Cpu => Some(Taken::asked(Cpu::new())),
            EngineChoice::Gpu => Some(self.gpu()?),
            EngineChoice::Auto => {
                let (mut labels, mut folds) = (0, 0);
                for matrix in matrices {
                    labels += matrix.tile_bytes().len() as u64;
                    folds = self.plan(matrix)?.program().tasks.len();
                }
                Some(auto::take(labels, folds))
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
    /// A measure that does not fit the grades; a missing query under [`QuerySet::Complete`]; a view deeper than the matrix.
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
                self.collect(matrix, timing, |_, tiles| {
                    Ok(tiles.into_par_iter().map(|at| self.plain(matrix, &functions, at)).collect())
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
        self.collect(matrix, timing, |plan, tiles| {
            let walks = self.walks(plan);
            let finish =
                |tile: usize, columns: &Columns| self.finish_tile(matrix, plan, &walks, tile, columns);
            engine.run(Job { matrix, view: self.view, program: plan.program() }, tiles, &finish)
        })
    }

    /// Collects the values of batches of tiles into scores.
    fn collect(
        &self,
        matrix: &LabelMatrix,
        timing: &mut Timing,
        run: impl Fn(&Plan, Range<usize>) -> Result<Vec<Vec<f64>>>,
    ) -> Result<Scores> {
        self.check(matrix)?;
        let plan = timing.time("plan and facts", || self.plan(matrix))?;
        let mut collected = Collected::new(self, matrix);
        for tiles in batches(matrix) {
            let values = timing.time("folds and formulas", || run(&plan, tiles.clone()))?;
            let rows: Vec<&[u32]> = tiles.map(|tile| matrix.tile_rows(tile)).collect();
            timing.time("sums", || collected.add(&rows, &values));
        }
        timing.time("sums", || {
            if self.queries != QuerySet::Both {
                collected.add_missing(matrix, &plan, &self.walks(&plan));
            }
        });
        Ok(timing.time("statistics", || collected.scores(self, matrix)))
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
                let missing = missing(matrix, run);
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

    /// The values of one tile from its columns, `[measure][row]`; measures that walk do so here.
    fn finish_tile(
        &self,
        matrix: &LabelMatrix,
        plan: &Plan,
        walks: &[Walk],
        tile: usize,
        columns: &Columns,
    ) -> Vec<f64> {
        let rows = matrix.tile_rows(tile);
        let labels = |lane: usize| self.labels(matrix, tile, lane);
        finish_rows(matrix, plan, walks, rows, columns, labels)
    }

    /// The measures that walk, with their functions.
    fn walks(&self, plan: &Plan) -> Vec<Walk> {
        plan.walks().filter_map(|at| Some((at, reference::function(&self.measures[at])?))).collect()
    }

    /// The labels of one lane as seen.
    fn labels(&self, matrix: &LabelMatrix, tile: usize, lane: usize) -> Vec<u8> {
        let depth = matrix.depths()[matrix.tile_rows(tile)[lane] as usize];
        let mut labels: Vec<u8> = matrix.tile(tile).lane(lane).take(depth as usize).collect();
        self.view.of_row(&mut labels);
        labels
    }
}

/// A measure that walks, by its index, and its function.
type Walk = (usize, reference::Function);

/// The values of some rows, of which these are the columns, `[measure][row]`.
fn finish_rows(
    matrix: &LabelMatrix,
    plan: &Plan,
    walks: &[Walk],
    rows: &[u32],
    columns: &Columns,
    labels: impl Fn(usize) -> Vec<u8>,
) -> Vec<f64> {
    let queries: Vec<u32> = rows.iter().map(|&row| row % matrix.queries().len() as u32).collect();
    let mut values = vec![0.0; plan.measures().len() * rows.len()];
    plan.finish(&queries, columns, &mut values);
    if !walks.is_empty() {
        for (lane, &row) in rows.iter().enumerate() {
            let labels = labels(lane);
            for &(measure, function) in walks {
                let value = function(&plan.measures()[measure], &ranking(matrix, row, &labels));
                values[measure * rows.len() + lane] = value;
            }
        }
    }
    values
}

/// A row with what the qrels know of its query.
fn ranking<'a>(matrix: &'a LabelMatrix, row: u32, labels: &'a [u8]) -> Ranking<'a> {
    let query = row as usize % matrix.queries().len();
    Ranking { labels, facts: matrix.facts().of(query), book: matrix.book() }
}

/// Ranges of tiles with about [`BATCH_ROWS`] rows each.
fn batches(matrix: &LabelMatrix) -> Vec<Range<usize>> {
    let tiles = &matrix.packing().tiles;
    let mut batches = Vec::new();
    let mut start = 0;
    for at in 0..tiles.len() {
        let rows = tiles[at].first + tiles[at].rows - tiles[start].first;
        if rows >= BATCH_ROWS || at + 1 == tiles.len() {
            batches.push(start..at + 1);
            start = at + 1;
        }
    }
    batches
}

/// The judged queries that a run lacks.
fn missing(matrix: &LabelMatrix, run: usize) -> Unmatched {
    let depths = matrix.run_depths(run).iter().enumerate();
    Unmatched::new(depths.filter(|&(_, &depth)| depth == 0).map(|(query, _)| matrix.queries().get(query)))
}

/// Values as they come in: exact sums, and all of them where a statistic needs that.
struct Collected {
    measures: Vec<Values>,
    /// Rows that count, by run.
    counts: Vec<usize>,
    queries: u32,
}

/// The values of one measure.
struct Values {
    average: Average,
    /// By run.
    sums: Vec<ExactSum>,
    /// By row, NaN for those that do not count; empty unless values are kept.
    kept: Vec<f64>,
}

impl Values {
    fn add(&mut self, rows: &[u32], queries: u32, values: &[f64]) {
        match &mut self.sums[..] {
            [sum] => values.iter().for_each(|&value| sum.add(self.average.term(value))),
            sums => {
                for (&row, &value) in rows.iter().zip(values) {
                    sums[(row / queries) as usize].add(self.average.term(value));
                }
            }
        }
        if !self.kept.is_empty() {
            rows.iter().zip(values).for_each(|(&row, &value)| self.kept[row as usize] = value);
        }
    }
}

impl Collected {
    fn new(evaluator: &Evaluator, matrix: &LabelMatrix) -> Self {
        let keep = evaluator.per_query || evaluator.stats.iter().any(|stat| stat.needs_values());
        let values = |measure: &Measure| Values {
            average: measure.definition().average,
            sums: vec![ExactSum::default(); matrix.runs().len()],
            kept: if keep { vec![f64::NAN; matrix.rows()] } else { Vec::new() },
        };
        Collected {
            measures: evaluator.measures.iter().map(values).collect(),
            counts: vec![0; matrix.runs().len()],
            queries: matrix.queries().len() as u32,
        }
    }

    /// Adds the values of the rows of some tiles, each `[measure][row]`; measures are independent of each other.
    fn add(&mut self, tiles: &[&[u32]], values: &[Vec<f64>]) {
        let queries = self.queries;
        match &mut self.counts[..] {
            [count] => *count += tiles.iter().map(|rows| rows.len()).sum::<usize>(),
            counts => tiles.iter().copied().flatten().for_each(|&row| counts[(row / queries) as usize] += 1),
        }
        self.measures.par_iter_mut().enumerate().for_each(|(at, measure)| {
            for (rows, values) in tiles.iter().zip(values) {
                measure.add(rows, queries, &values[at * rows.len()..][..rows.len()]);
            }
        });
    }

    /// Adds the rows without any document.
    fn add_missing(&mut self, matrix: &LabelMatrix, plan: &Plan, walks: &[Walk]) {
        let empty = Columns::zeros(plan.program(), LANES);
        let rows = (0..matrix.rows() as u32).filter(|&row| matrix.depths()[row as usize] == 0);
        let rows: Vec<u32> = rows.collect();
        for rows in rows.chunks(LANES) {
            self.add(&[rows], &[finish_rows(matrix, plan, walks, rows, &empty, |_| Vec::new())]);
        }
    }

    fn scores(self, evaluator: &Evaluator, matrix: &LabelMatrix) -> Scores {
        let averages: Vec<Average> = self.measures.iter().map(|measure| measure.average).collect();
        let runs = matrix.runs().iter().enumerate().map(|(run, info)| {
            let missing = missing(matrix, run);
            let queries = self.counts[run];
            let values = self.values(matrix, run);
            let stats = evaluator.stats.iter().filter(|stat| stat.needs_values());
            let more: Vec<_> = stats.map(|&stat| summarise(stat, &averages, &values)).collect();
            let summaries = self.measures.iter().enumerate().map(|(measure, of)| {
                let (average, sum) = (of.average, of.sums[run].value());
                let own = (queries > 0).then(|| (average.name(), average.of(sum, queries)));
                own.into_iter().chain(more.iter().flat_map(|stat| stat[measure].iter().copied())).collect()
            });
            RunScores {
                name: info.name.clone(),
                tag: info.tag.clone(),
                queries,
                filled: evaluator.queries != QuerySet::Both,
                missing,
                ignored: info.ignored.clone(),
                summaries: summaries.collect(),
                per_query: evaluator.per_query.then(|| self.per_query(matrix, run, values)),
            }
        });
        Scores { measures: evaluator.measures.clone(), runs: runs.collect() }
    }

    /// The kept values of one run, `[measure][query]`, those of queries that count.
    fn values(&self, matrix: &LabelMatrix, run: usize) -> Vec<Vec<f64>> {
        let queries = matrix.queries().len();
        let of = |measure: &Values| {
            let row = &measure.kept[run * queries..(run + 1) * queries];
            row.iter()
                .copied()
                .zip(self.counted(matrix, run))
                .filter(|&(_, counts)| counts)
                .map(|(value, _)| value)
                .collect()
        };
        self.measures.iter().filter(|measure| !measure.kept.is_empty()).map(of).collect()
    }

    fn per_query(&self, matrix: &LabelMatrix, run: usize, values: Vec<Vec<f64>>) -> PerQuery {
        let counted = matrix.queries().iter().zip(self.counted(matrix, run));
        let queries: Ids = counted.filter(|&(_, counts)| counts).map(|(id, _)| id).collect();
        PerQuery { queries, values }
    }

    /// Does each query count for a run? All do, or those that the run has.
    fn counted<'a>(&self, matrix: &'a LabelMatrix, run: usize) -> impl Iterator<Item = bool> + use<'a> {
        let all = self.counts[run] == matrix.queries().len();
        matrix.run_depths(run).iter().map(move |&depth| all || depth > 0)
    }
}
