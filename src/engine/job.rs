//! The parts that all engines share: a job, collectors of results, and the workers that share the
//! job.
//!
//! Workers take tiles from one shared counter, some at a time, until none are left: a fast worker
//! takes more, nobody waits, and nobody plans the work. Each worker keeps its gathered results
//! until the end. The result must not depend on the worker that took a tile: the gatherer ensures
//! this (its merge must commute), not the engine.
//!
//! A worker that ends leaves its gathered results in a list, and the next worker that begins goes
//! on with a result of the list. For one call on a CPU this is of no use. A GPU finishes batch
//! after batch, each with workers of its own, and would begin as many results as batches.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fearless_simd::Level;

use crate::error::Result;
use crate::fold::{Columns, Program, QueryInputs};
use crate::matrix::{Batch, View};
use crate::progress::{ProgressHandle, add_work, check_stopped, is_stopped};

/// The work of an engine: rankings, the view of their labels, and the folds to compute.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The rankings.
    pub batch: Batch<'a>,
    /// The view of the rankings.
    pub view: View,
    /// The folds to compute.
    pub program: &'a Program,
    /// The numbers of each query that the program refers to.
    pub inputs: &'a QueryInputs,
    /// The watch over the work, to count finished labels and to stop the job.
    pub watch: Option<&'a ProgressHandle>,
}

impl Job<'_> {
    /// Returns whether the job was told to stop before its end.
    pub(super) fn is_stopped(&self) -> bool {
        is_stopped(self.watch)
    }

    /// Adds the labels of a finished tile to the reported progress of the job.
    pub(super) fn report_progress(&self, at: usize) {
        add_work(self.watch, self.batch.tile(at).labels.len() as u64);
    }
}

/// A collector of the fold values (columns) that an engine computes tile by tile. Every worker
/// begins with a collector of its own and adds tiles to its collector; in the end all collectors
/// are merged.
pub trait Collector: Send {
    /// Adds the fold values of tile `at`, which the engine has just computed as `columns`, to this
    /// collector.
    fn tile(&mut self, at: usize, columns: &Columns);

    /// Adds the tiles that another worker's collector gathered.
    fn merge(&mut self, other: Self);
}

/// An engine, on the CPU or a GPU, that computes the folds of a program over tiles of rankings.
pub trait Engine: Sync {
    /// Returns a description of the engine, such as `cpu (avx512, 16 threads)`.
    fn describe(&self) -> String;

    /// Returns the engine's level of SIMD if the engine computes on the CPU. The caller may then
    /// compute at this level too while gathering.
    fn cpu_level(&self) -> Option<Level> {
        None
    }

    /// Explains where and how exactly the engine computes each fold of a job, in lines of text. An
    /// engine without anything to explain returns no line.
    fn explain(&self, job: &Job<'_>) -> Vec<String> {
        let _ = job;
        Vec::new()
    }

    /// Computes the folds of a job over all its tiles by at most `workers` workers, and merges
    /// their collected results. Each worker begins with a `G` from `begin`. The assignment of tiles
    /// to workers varies from call to call.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped), and what a device refuses.
    fn run<G: Collector>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G>;
}

/// The collected results of workers that are idle now, for the next worker to go on with.
pub(super) struct WorkerStates<G>(Mutex<Vec<G>>);

impl<G: Collector> WorkerStates<G> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Lets at most `count` workers share `tiles` of a job, until the job is stopped or no tile is
    /// left. A worker gets the result of an idle worker, or else a new result from `begin`. It
    /// takes tiles by a function that returns `together` tiles at a time until no tile is left.
    pub(super) fn each_tile(
        &self,
        job: &Job<'_>,
        count: usize,
        tiles: Range<usize>,
        together: usize,
        begin: &(impl Fn() -> G + Sync),
        worker: impl Fn(&mut G, &mut dyn FnMut() -> Option<Range<usize>>) + Sync,
    ) {
        let next = AtomicUsize::new(tiles.start);
        // No more workers than there are portions: a surplus worker would still begin a result, and
        // a result may be large.
        let count = count.min(tiles.len().div_ceil(together));
        let count = if count > 1 { count.min(rayon::current_num_threads()) } else { count };
        in_parallel(count, &|| {
            let mut gather = self.lock().pop().unwrap_or_else(begin);
            worker(&mut gather, &mut || {
                // Relaxed: the counter hands out numbers and orders nothing else; results are
                // passed on under a lock.
                let first = next.fetch_add(together, Ordering::Relaxed);
                (first < tiles.end && !job.is_stopped())
                    .then(|| first..tiles.end.min(first + together))
            });
            self.lock().push(gather);
        });
    }

    /// Merges the collected results of all workers of a job; the result of `begin` if there was no
    /// worker.
    ///
    /// # Errors
    /// The job was told to stop.
    pub(super) fn merged(self, job: &Job<'_>, begin: impl Fn() -> G) -> Result<G> {
        check_stopped(job.watch)?;
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
        let merged = all.reduce(|mut all, one| {
            all.merge(one);
            all
        });
        Ok(merged.unwrap_or_else(begin))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<G>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `work` `count` times, at least once, on the threads of the rayon pool.
pub(crate) fn in_parallel(count: usize, work: &(impl Fn() + Sync)) {
    if count <= 1 {
        return work();
    }
    // A binary tree of joins, so that `count` workers begin in lg(count) steps. If the pool is
    // busy, one thread may do the work of several workers, and late workers find no tile left.
    rayon::join(|| in_parallel(count - count / 2, work), || in_parallel(count / 2, work));
}
