//! The CPU engine: it folds tiles of rankings in parallel, each fold in one SIMD pass over a tile
//! that stays in the nearest cache.

use std::mem::take;

use fearless_simd::Level;

use super::job::{Collector, Engine, Job, WorkerStates};
use crate::error::Result;
use crate::fold::{Columns, Program};
use crate::matrix::classes::to_class_codes;
use crate::matrix::{Batch, CodesAbove, QUAD, SparseDocument, Tile, TileSpan, View};
use steps::{Step, StepBuffers, StepInput};

pub mod documents;
mod exact;
pub mod folds;
#[cfg(feature = "internals")]
mod read;
pub mod sparse;
mod steps;

/// The kernel passes of a program (folds with cutoffs), made ready to run over tiles of rankings.
pub(crate) struct Steps(Vec<Step>);

/// Memory of the CPU kernels, used again from tile to tile.
#[derive(Default)]
pub(crate) struct StepScratch(StepBuffers);

/// The engine that computes on the CPU, at one level of SIMD instructions.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// Makes the CPU engine at the best level of SIMD that this machine has.
    pub fn new() -> Self {
        Cpu { level: Level::new() }
    }

    /// Computes all fold values (columns) of one tile of a job, the tile with index `at`.
    #[cfg(any(feature = "gpu", feature = "parts"))]
    pub fn columns(&self, job: &Job<'_>, at: usize) -> Columns {
        let mut scratch = StepBuffers::default();
        let tile = job.batch.tile(at);
        self.fold(job, at, tile, None, &steps::steps(job.program, tile.depth), &mut scratch);
        scratch.columns
    }

    /// Prepares the kernel passes of a program for tiles of at most `deepest` ranks.
    pub(crate) fn steps(&self, program: &Program, deepest: usize) -> Steps {
        Steps(steps::steps(program, deepest))
    }

    /// Computes the fold values (columns) of other labels in the place of a tile of a job.
    pub(crate) fn columns_of<'s>(
        &self,
        job: &Job<'_>,
        at: usize,
        tile: Tile<'_>,
        steps: &Steps,
        scratch: &'s mut StepScratch,
    ) -> &'s Columns {
        self.fold(job, at, tile, None, &steps.0, &mut scratch.0);
        &scratch.0.columns
    }

    /// Runs kernel passes over a tile, or over the sparse list of the tile's documents where a pass
    /// needs no others.
    fn fold(
        &self,
        job: &Job<'_>,
        at: usize,
        tile: Tile<'_>,
        list: Option<&[SparseDocument]>,
        steps: &[Step],
        scratch: &mut StepBuffers,
    ) {
        // The tile borrows the buffers while steps write into the scratch, so the buffers are taken
        // out meanwhile.
        let (mut labels, mut codes) = (take(&mut scratch.labels), take(&mut scratch.classed));
        let tile = job.view.apply(tile, &mut labels);
        let tile = match &job.program.classes {
            Some(book) => {
                let reach = job.program.max_rank().map_or(tile.depth, |rank| rank as usize);
                let seen = tile.shallower(reach.next_multiple_of(QUAD));
                to_class_codes(seen, book, |lane| job.batch.exact_of(at, lane), &mut codes)
            }
            None => tile,
        };
        StepInput { level: self.level, tile, list, at, job }.run(steps, scratch);
        (scratch.labels, scratch.classed) = (labels, codes);
    }

    /// Makes the CPU engine at a given level of SIMD, for tests and benches.
    pub fn at(level: Level) -> Self {
        Cpu { level }
    }

    /// Returns the level of SIMD of the CPU engine.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns a CPU engine for every SIMD level of this kind of processor by name, best first,
    /// with `None` for each level that this machine lacks.
    #[cfg(feature = "internals")]
    pub fn known_levels() -> Vec<(&'static str, Option<Self>)> {
        let best = Level::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let levels = [
            ("avx512", best.as_avx512().map(Level::Avx512)),
            ("avx2", best.as_avx2().map(Level::Avx2)),
            ("sse4.2", best.as_sse4_2().map(Level::Sse4_2)),
            ("sse2", best.as_sse2().map(Level::Sse2)),
        ];
        #[cfg(target_arch = "aarch64")]
        let levels = [("neon", best.as_neon().map(Level::Neon))];
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
        let levels = [(if best.is_fallback() { "fallback" } else { "best" }, Some(best))];
        levels.into_iter().map(|(name, level)| (name, level.map(Cpu::at))).collect()
    }

    /// Returns a CPU engine for every SIMD level that this machine has, the best first.
    #[cfg(feature = "internals")]
    pub fn levels() -> Vec<Self> {
        let levels: Vec<Self> =
            Self::known_levels().into_iter().filter_map(|(_, level)| level).collect();
        // A processor without any of them has the scalar fallback.
        if levels.is_empty() { vec![Cpu::new()] } else { levels }
    }

    /// Returns the name of the SIMD level, such as `avx512`.
    pub fn name(&self) -> String {
        let level = format!("{:?}", self.level);
        level.split('(').next().unwrap_or_default().to_lowercase().replace('_', ".")
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Cpu {
    fn describe(&self) -> String {
        format!("cpu ({}, {} threads)", self.name(), rayon::current_num_threads())
    }

    fn cpu_level(&self) -> Option<Level> {
        Some(self.level)
    }

    fn run<G: Collector>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        let tiles = job.batch.tiles();
        let (end, together) = (tiles.end, tiles_a_job(job.batch.spans()));
        let steps = steps::steps(job.program, job.batch.deepest() as usize);
        // Lists say what labels say: under a view, or where codes are classes, folds see other
        // labels.
        let use_lists = job.view == View::default() && job.program.classes.is_none();
        let heeded = if use_lists { sparse::selected_codes(job.program) } else { None };
        let idle = WorkerStates::new();
        idle.each_tile(job, workers, tiles, together, &begin, |gather: &mut G, next| {
            let (mut scratch, mut room) = (StepBuffers::default(), Vec::new());
            let mut rare = RareDocuments::new(heeded, job.program.max_rank());
            while let Some(tiles) = next() {
                for at in tiles {
                    let batch_list = if use_lists { job.batch.sparse(at, &mut room) } else { None };
                    let list = batch_list.or_else(|| rare.listed(&job.batch, at, &mut room));
                    self.fold(job, at, job.batch.tile(at), list, &steps, &mut scratch);
                    // Most often this worker takes the next tile as well. So prefetch the next tile
                    // while the current tile is finished.
                    if at + 1 < end {
                        match job.batch.cached_sparse(at + 1).filter(|_| use_lists) {
                            Some(next) => sparse::prefetch(next),
                            None => folds::prefetch(job.batch.tile(at + 1)),
                        }
                    }
                    gather.tile(at, &scratch.columns);
                    job.report_progress(at);
                }
            }
        });
        idle.merged(job, begin)
    }
}

/// Lists of the documents that matter, made just before the folds for tiles with few such
/// documents. A tile with many documents that matter mostly has similar neighbours. So a failed try
/// skips the next 15 tiles, and each further failure doubles the number of skipped tiles, up to
/// 1000.
struct RareDocuments {
    /// The set of documents that matter, if all folds can use lists.
    heeded: Option<CodesAbove>,
    /// The deepest rank that the program reads; `None` for whole rankings.
    reach: Option<u32>,
    /// The number of tiles to pass by before the next try.
    left: usize,
    /// The number of tiles to pass by after the next failed try.
    passed: usize,
}

impl RareDocuments {
    /// The number of tiles to pass by after a first failed try, and its maximum.
    const PASSED: [usize; 2] = [15, 1000];

    fn new(heeded: Option<CodesAbove>, reach: Option<u32>) -> Self {
        Self { heeded, reach, left: 0, passed: Self::PASSED[0] }
    }

    fn listed<'r>(
        &mut self,
        batch: &Batch<'_>,
        at: usize,
        room: &'r mut Vec<SparseDocument>,
    ) -> Option<&'r [SparseDocument]> {
        let heeded = self.heeded?;
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        let list = batch.sparse_now(at, heeded, self.reach, room);
        (self.left, self.passed) = match list {
            Some(_) => (0, Self::PASSED[0]),
            None => (self.passed, (2 * self.passed).min(Self::PASSED[1])),
        };
        list
    }
}

/// Returns the number of tiles of rankings that make enough work to hand to a thread at a time. A
/// tile costs something even if it has no labels.
fn tiles_a_job(tiles: &[TileSpan]) -> usize {
    const JOB: usize = 256 << 10;
    const TILE: usize = 16 << 10;
    let bytes: usize = tiles.iter().map(|tile| tile.bytes() as usize).sum();
    (JOB / (bytes / tiles.len().max(1) + TILE)).max(1)
}
