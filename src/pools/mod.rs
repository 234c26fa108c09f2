//! Pools of judged documents: the contribution of each run, and its loss when left out of the pool
//! (`laneval pools`).
//!
//! The judgments of a test collection are made of a *pool*: the first K documents of some runs,
//! together. A system outside the pool finds unjudged documents, and unjudged documents count as
//! not relevant. Leaving each run out measures the loss:
//!
//! ```text
//! U(r)       the judged documents that are among the first K of run r,
//!            and not among those of any other: unique to r
//! J − U(r)   the judgments that would have been made without r
//! v(r, J)    the value of r under a measure with judgments J
//! loss(r)    v(r, J) − v(r, J − U(r)), or the negative of it where lower is better
//! τ          Kendall's τ_b between v(r, J) and v(r, J − U(r)) over all runs
//! ```
//!
//! Sources: Zobel, "How reliable are the results of large-scale information retrieval
//! experiments?", SIGIR 1998, who left runs out one by one; Buckley, Dimmick, Soboroff and
//! Voorhees, "Bias and the limits of pooling for large collections", Information Retrieval 10,
//! 2007, who leave out all runs of a team together, because runs of a team find each other's
//! documents.
//!
//! ```
//! use laneval::pools::{PoolOptions, Pools};
//! use laneval::{Evaluator, Join, Qrels};
//!
//! let qrels = Qrels::new([("q", "a", 1.0), ("q", "b", 1.0), ("q", "c", 0.0), ("q", "d", 1.0)])?;
//! let runs = [
//!     ("one", vec![("q", "a", 3.0), ("q", "b", 2.0)]),
//!     ("two", vec![("q", "a", 3.0), ("q", "c", 2.0)]),
//! ];
//! let runs = runs.map(|(name, results)| (name.to_owned(), results));
//! let matrix = Join::default().rankings(&qrels.numbered()?, runs)?;
//! let pools = Pools::new(matrix, &Evaluator::new(["AP"])?, &PoolOptions::default())?;
//! let one = &pools.runs[0];
//! assert_eq!((one.judged, one.unique, one.unique_relevant), (2, 1, 1));
//! // Without b, one of two relevant documents is found instead of two of three.
//! assert_eq!((one.left_out[0].value, one.left_out[0].without), (Some(2.0 / 3.0), Some(0.5)));
//! # Ok::<(), laneval::Error>(())
//! ```

mod builder;
mod owners;
mod pool_runs;
mod reduced;

use std::num::NonZeroU32;

use crate::measure::Measure;

/// The options of a pool analysis: the depth of the pool, and the text that follows the team in a
/// run's name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// The depth of the pool: the number of first documents of each ranking that were judged. The
    /// default is 100.
    pub depth: NonZeroU32,
    /// The text behind the team in the name of a run. Runs of one team are left out together;
    /// without it each run is left out alone.
    pub teams: Option<String>,
}

impl PoolOptions {
    /// The usual depth of a pool.
    pub const DEPTH: NonZeroU32 = NonZeroU32::new(100).unwrap();
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { depth: Self::DEPTH, teams: None }
    }
}

/// The result of a pool analysis: each run's contribution of judged documents, and its loss when
/// left out.
///
/// All documents in the judgments count as judged, as in `Judged@10`, including documents with a
/// negative grade. A grade of 1 or more is relevant.
#[derive(Debug, Clone, PartialEq)]
pub struct Pools {
    /// The depth of the pool.
    pub depth: u32,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The number of judged queries.
    pub queries: u64,
    /// The number of judged documents.
    pub judged: u64,
    /// The number of relevant documents.
    pub relevant: u64,
    /// The number of judged documents among the first [`Pools::depth`] of some run. The remaining
    /// judged documents come from runs outside the input, and keep their judgments.
    pub pooled: u64,
    /// The number of relevant documents among the [`Pools::pooled`] ones.
    pub pooled_relevant: u64,
    /// The runs, in the order given.
    pub runs: Vec<PooledRun>,
    /// The effect of leaving runs out, over all runs, by measure.
    pub losses: Vec<PoolLoss>,
}

/// A run in a pool analysis: counts of its judged and unique documents, and its values when left
/// out.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledRun {
    /// The name of the run.
    pub name: String,
    /// The team of the run, if runs are left out by team.
    pub team: Option<String>,
    /// The number of judged documents among the first [`Pools::depth`] of the run.
    pub judged: u64,
    /// The number of relevant documents among the [`PooledRun::judged`] ones.
    pub relevant: u64,
    /// The number of judged documents that only this run has among its first [`Pools::depth`].
    pub unique: u64,
    /// The number of relevant documents among the [`PooledRun::unique`] ones.
    pub unique_relevant: u64,
    /// The averages of Judged@10 and Judged@100.
    pub judged_share: [Option<f64>; 2],
    /// The depth down to which all documents of the run are judged, in every query. For a run in
    /// the pool, the depth of the pool or more.
    pub judged_to: u32,
    /// The number of judgments removed with the run: judgments of the unique documents of the run,
    /// or of its team.
    pub removed: u64,
    /// The number of queries without judgments once the run is left out; these queries do not
    /// count.
    pub queries_lost: u64,
    /// The values with and without the run's own documents, by measure.
    pub left_out: Vec<LeaveOneOut>,
}

/// The value of a run under a measure, with all judgments, and without judgments that only the run
/// or its team contributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaveOneOut {
    /// The value with all judgments; `None` if no query counts.
    pub value: Option<f64>,
    /// The value without the removed judgments; `None` if no query counts.
    pub without: Option<f64>,
    /// The rank among all runs with all judgments, from 1; equal values share the best rank. `None`
    /// if neither direction is better.
    pub rank: Option<u32>,
    /// The rank among all runs, with every run evaluated without the removed judgments.
    pub rank_without: Option<u32>,
}

impl LeaveOneOut {
    /// Returns the value of the run when left out less its value with all judgments.
    pub fn delta(&self) -> Option<f64> {
        Some(self.without? - self.value?)
    }

    /// Returns the change of the run's value when left out, as a share of the value; `None` if the
    /// value is 0.
    pub fn relative(&self) -> Option<f64> {
        self.value.filter(|&value| value != 0.0).and_then(|value| Some(self.delta()? / value))
    }
}

/// The losses under a measure of runs left out of the pool, summed up over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolLoss {
    /// The mean over runs of how much worse the run is when it is left out.
    pub mean: Option<f64>,
    /// The largest loss, with the index of the run.
    pub largest: Option<(f64, usize)>,
    /// Kendall's τ_b between the order of the runs as they are, and as each is when it is left out;
    /// `None` if all are tied.
    pub tau_b: Option<f64>,
}
