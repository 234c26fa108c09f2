//! A program of folds prepared for tiles on the CPU: the kernels that compute its tasks, with their
//! ranks, weights and columns, computed once.
//!
//! Reading labels is the first cost of a fold, so folds over equal hits share a pass: a precision
//! sum walks its hits anyway, keeps their number as a state, and meets the first hit. A count alone
//! needs no walk and is cheaper. So a count joins a sum only if the sum goes at least as deep; no
//! sum goes deeper for a count.
//!
//! ```text
//! program                        steps
//! PrecisionSum(>3) at 10, end ─┐
//! Count(>3)        at 5, 10   ─┼► one pass: hits(>3)
//! FirstRank(>3)    at 10      ─┘
//! Count(>3)        at R       ──► a pass of its own: its limit is each lane's
//! WeightedSum      at 10      ──► a pass of its own: its hits are other documents
//! ```
//!
//! All passes over a tile run in succession, so every pass but the first reads labels from the
//! nearest cache.

use std::ops::Range;

use fearless_simd::Level;

use super::documents::Documents;
use super::exact::{ExactGainSum, ExactSumKind};
use super::folds::{self, HitOutputs};
use super::sparse::{self, HitColumns};
use crate::engine::Job;
use crate::fold::{CodeTable, Columns, Cut, Fold, Program, Task, Weights};
use crate::matrix::{CodesAbove, LANES, SparseDocument, Tile};

/// One pass of a CPU kernel over a tile: the kernel, the ranks at which its state is read, and its
/// first output column.
#[derive(Debug)]
pub(super) struct Step {
    kernel: StepKernel,
    /// The ranks at which the kernel is read; ascending, the end of the ranking being the largest.
    ranks: Vec<u32>,
    /// The first column of the step.
    column: usize,
}

#[derive(Debug)]
enum StepKernel {
    /// A precision sum, with counts and first rank of its hits.
    Hits(u8, FusedHits),
    Count(u8),
    /// Hits down to an input of the queries, with the index of the input.
    CountWithin(u8, usize),
    FirstRank(u8),
    PrecisionSum(u8),
    WeightedSum(CodeTable, Weights),
    Cascade(CodeTable, Weights),
    /// A sum over the exact grades of a lane's documents.
    Exact(ExactGainSum),
    PeakPrecision(u8, Vec<usize>),
    PreferenceSum([u8; 2], [usize; 2]),
    InferredSum(u8),
    PairSum(u8),
    Histogram,
}

/// Counts and first-hit ranks that are computed in the pass of a precision sum over the same hits.
#[derive(Debug, Default)]
struct FusedHits {
    /// The cutoffs of counts, and their first column.
    counts: (Vec<u32>, usize),
    /// The deepest rank of a first hit, and its column.
    first: Option<(u32, usize)>,
}

/// Memory that the kernel passes write into, used again from tile to tile.
#[derive(Default)]
pub(super) struct StepBuffers {
    /// The labels of a tile under a view.
    pub(super) labels: Vec<u8>,
    pub(super) columns: Columns,
    counts: Vec<u32>,
    /// One or two inputs, or many caps, by lane.
    inputs: Vec<u32>,
    /// The labels of a tile by the classes of the program.
    pub(super) classed: Vec<u8>,
    documents: Documents,
}

/// A tile of rankings with everything that the kernel passes over the tile read.
#[derive(Clone, Copy)]
pub(super) struct StepInput<'a> {
    pub(super) level: Level,
    pub(super) tile: Tile<'a>,
    /// The list of the tile's documents with judgments, if the tile has such a list.
    pub(super) list: Option<&'a [SparseDocument]>,
    /// The index of the tile.
    pub(super) at: usize,
    pub(super) job: &'a Job<'a>,
}

/// Makes the kernel passes of a program over tiles of at most `deepest` ranks.
pub(super) fn steps(program: &Program, deepest: usize) -> Vec<Step> {
    let mut placed = Vec::new();
    let mut column = 0;
    for task in &program.tasks {
        placed.push((task, column));
        column += task.columns();
    }
    let mut steps = Vec::new();
    for &(task, column) in &placed {
        let shared = placed.iter().any(|(sum, _)| shares(sum, task));
        match task.fold {
            Fold::PrecisionSum(set) => steps.push(hits(set, task, column, &placed)),
            Fold::Count(set) => counts(set, task, column, shared, &mut steps),
            Fold::FirstRank(_) if shared => {}
            _ => steps.push(alone(task, column, deepest)),
        }
    }
    steps
}

/// Returns whether a task is computed in the pass of a precision sum. A count or a first hit of the
/// same set shares the pass of a sum at least as deep, because the sum walks the hits anyway.
fn shares(sum: &Task, task: &Task) -> bool {
    let Fold::PrecisionSum(set) = sum.fold else { return false };
    let same = task.fold == Fold::Count(set) || task.fold == Fold::FirstRank(set);
    // A count at ranks of the queries alone has no fixed rank: `None` is less than any, and it
    // joins with nothing to be read.
    same && ranks(task).last() <= ranks(sum).last()
}

/// Makes the pass of a precision sum, with the counts and first ranks that are computed in the same
/// pass.
fn hits(set: CodesAbove, sum: &Task, column: usize, placed: &[(&Task, usize)]) -> Step {
    let mut extra = FusedHits::default();
    for &(task, column) in placed.iter().filter(|(task, _)| shares(sum, task)) {
        match task.fold {
            Fold::Count(_) => extra.counts = (ranks(task), column),
            _ => extra.first = ranks(task).first().map(|&upto| (upto, column)),
        }
    }
    // The plain kernel does not note first hits, which costs a selection a hit.
    let kernel = match &extra {
        FusedHits { counts, first: None } if counts.0.is_empty() => StepKernel::PrecisionSum(set.0),
        _ => StepKernel::Hits(set.0, extra),
    };
    Step { kernel, ranks: ranks(sum), column }
}

/// Makes the passes of a count of hits: one for all fixed cutoffs, unless a precision sum computes
/// these counts, and one for each cutoff by query.
fn counts(set: CodesAbove, task: &Task, column: usize, shared: bool, steps: &mut Vec<Step>) {
    let ranks = ranks(task);
    let fixed = ranks.len();
    if fixed > 0 && !shared {
        steps.push(Step { kernel: StepKernel::Count(set.0), ranks, column });
    }
    for (at, cut) in task.cuts.iter().enumerate().skip(fixed) {
        if let Cut::PerQuery(input) = cut {
            let kernel = StepKernel::CountWithin(set.0, *input);
            steps.push(Step { kernel, ranks: Vec::new(), column: column + at });
        }
    }
}

/// Makes the kernel pass of a task that shares no other task's pass.
fn alone(task: &Task, column: usize, deepest: usize) -> Step {
    let ranks = ranks(task);
    let depth = ranks.last().map_or(0, |&last| deepest.min(last as usize));
    let kernel = match &task.fold {
        Fold::Count(set) => StepKernel::Count(set.0),
        Fold::FirstRank(set) => StepKernel::FirstRank(set.0),
        Fold::PrecisionSum(set) => StepKernel::PrecisionSum(set.0),
        Fold::WeightedSum { gain, discount } => {
            let (gain, weights) = (gain.clone(), discount.weights(depth));
            if gain.exact().is_some() {
                let kind = ExactSumKind::Weighted;
                StepKernel::Exact(ExactGainSum { kind, gain, weights })
            } else {
                StepKernel::WeightedSum(gain, weights)
            }
        }
        Fold::Cascade { stop, discount } => {
            let (gain, weights) = (stop.clone(), discount.weights(depth));
            if gain.exact().is_some() {
                let kind = ExactSumKind::Cascade;
                StepKernel::Exact(ExactGainSum { kind, gain, weights })
            } else {
                StepKernel::Cascade(gain, weights)
            }
        }
        Fold::PeakPrecision { hits, caps } => StepKernel::PeakPrecision(hits.0, caps.clone()),
        &Fold::PreferenceSum { hits, judged, cap, bound } => {
            StepKernel::PreferenceSum([hits.0, judged.0], [cap, bound])
        }
        Fold::InferredSum(set) => StepKernel::InferredSum(set.0),
        Fold::PairSum(set) => StepKernel::PairSum(set.0),
        Fold::Histogram => StepKernel::Histogram,
    };
    Step { kernel, ranks, column }
}

/// Returns the fixed ranks among the cutoffs of a task, the end of the ranking being the largest.
/// Cuts of the queries' own come after the fixed ones.
fn ranks(task: &Task) -> Vec<u32> {
    task.cuts.iter().filter_map(Cut::fixed_rank).collect()
}

impl StepInput<'_> {
    /// Runs all kernel passes over the tile, and stores the values of all columns in `scratch`.
    pub(super) fn run(&self, steps: &[Step], scratch: &mut StepBuffers) {
        // Values are not cleared between tiles, because each step writes all of its columns.
        let Columns { values, histogram, lanes } = &mut scratch.columns;
        *lanes = self.tile.lanes;
        values.resize(self.job.program.columns() * *lanes, 0.0);
        histogram.resize(
            if self.job.program.histogram() { *lanes * self.job.program.codes } else { 0 },
            0,
        );
        for step in steps {
            if !self.list.is_some_and(|list| self.listed(list, step, scratch)) {
                self.step(step, scratch);
            }
        }
    }

    /// Runs a kernel pass over the sparse list of the tile's documents. Returns false if the step
    /// needs documents outside the list, or has no kernel for lists.
    fn listed(
        &self,
        list: &[SparseDocument],
        Step { kernel, ranks, column }: &Step,
        scratch: &mut StepBuffers,
    ) -> bool {
        let lanes = self.tile.lanes;
        let StepBuffers { columns: Columns { values, .. }, inputs, .. } = scratch;
        let at = self.values_of(*column, ranks.len().max(1));
        match kernel {
            &StepKernel::Hits(set, FusedHits { counts: (ref cuts, counted), first })
                if is_listed(set) =>
            {
                let wanted =
                    HitColumns { counts: (cuts, counted), precision: (ranks, *column), first };
                sparse::hits(list, set, wanted, lanes, values);
            }
            &StepKernel::PrecisionSum(set) if is_listed(set) => {
                let wanted =
                    HitColumns { counts: (&[], 0), precision: (ranks, *column), first: None };
                sparse::hits(list, set, wanted, lanes, values);
            }
            &StepKernel::Count(set) if is_listed(set) => {
                sparse::count(list, set, ranks, lanes, &mut values[at])
            }
            &StepKernel::CountWithin(set, input) if is_listed(set) => {
                self.inputs(&[input], inputs);
                sparse::count_within(list, set, inputs, &mut values[at]);
            }
            &StepKernel::FirstRank(set) if is_listed(set) => {
                let upto = ranks.first().copied().unwrap_or(u32::MAX);
                sparse::first_rank(list, set, upto, &mut values[at]);
            }
            StepKernel::WeightedSum(gain, weights) => match folds::above_zero(gain) {
                Some(set) if is_listed(set) => {
                    sparse::weighted_sum(list, set, gain, weights, ranks, lanes, &mut values[at]);
                }
                _ => return false,
            },
            StepKernel::Cascade(stop, weights) => match folds::above_zero(stop) {
                Some(set) if is_listed(set) => {
                    sparse::cascade(list, set, stop, weights, ranks, lanes, &mut values[at]);
                }
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    fn step(&self, Step { kernel, ranks, column }: &Step, scratch: &mut StepBuffers) {
        let Self { level, tile, .. } = *self;
        let StepBuffers { columns, counts, inputs, documents, .. } = scratch;
        let Columns { values, histogram, .. } = columns;
        let at = self.values_of(*column, ranks.len().max(1));
        match kernel {
            StepKernel::Hits(set, extra) => self.hits(*set, extra, ranks, at, counts, values),
            StepKernel::Count(set) => {
                in_counts(counts, &mut values[at], |counts| {
                    folds::count(level, tile, *set, ranks, counts);
                });
            }
            StepKernel::CountWithin(set, input) => {
                self.inputs(&[*input], inputs);
                in_counts(counts, &mut values[at], |counts| {
                    folds::count_within(level, tile, *set, inputs, counts);
                });
            }
            StepKernel::FirstRank(set) => {
                let upto = ranks.first().copied().unwrap_or(u32::MAX);
                in_counts(counts, &mut values[at], |first| {
                    folds::first_rank(level, tile, *set, upto, first)
                });
            }
            StepKernel::PrecisionSum(set) => {
                folds::precision_sum(level, tile, *set, ranks, &mut values[at])
            }
            StepKernel::WeightedSum(gain, weights) => {
                folds::weighted_sum(level, tile, gain, weights, ranks, &mut values[at]);
            }
            StepKernel::Cascade(stop, weights) => {
                folds::cascade(level, tile, stop, weights, ranks, &mut values[at]);
            }
            StepKernel::Exact(sum) => sum.sum(
                tile,
                |lane| self.job.batch.exact_of(self.at, lane),
                ranks,
                documents,
                &mut values[at],
            ),
            StepKernel::PeakPrecision(set, caps) => {
                self.inputs(caps, inputs);
                let lanes: Vec<&[u32]> = inputs.chunks_exact(tile.lanes).collect();
                let at = self.values_of(*column, caps.len());
                folds::peak_precision(level, tile, *set, &lanes, &mut values[at]);
            }
            StepKernel::PreferenceSum(sets, needed) => {
                self.inputs(needed, inputs);
                let (caps, bounds) = inputs.split_at(tile.lanes);
                folds::preference_sum(level, tile, *sets, [caps, bounds], &mut values[at]);
            }
            StepKernel::InferredSum(set) => folds::inferred_sum(level, tile, *set, &mut values[at]),
            StepKernel::PairSum(set) => folds::pair_sum(level, tile, *set, ranks, &mut values[at]),
            StepKernel::Histogram => {
                folds::histogram(tile, self.job.program.codes, &[u32::MAX], histogram)
            }
        }
    }

    /// Computes a precision sum of the tile at `ranks`, into the values `at`, with the counts and
    /// first ranks that share its pass.
    #[inline(always)]
    fn hits(
        &self,
        set: u8,
        FusedHits { counts: (cuts, counted), first }: &FusedHits,
        ranks: &[u32],
        at: Range<usize>,
        counts: &mut Vec<u32>,
        values: &mut [f64],
    ) {
        let Self { level, tile, .. } = *self;
        let upto = first.map_or(0, |(upto, _)| upto);
        let wanted = HitOutputs { counts: cuts, precision: ranks, first: upto };
        let (mut firsts, size) = ([0; LANES], cuts.len() * tile.lanes);
        counts.resize(size.max(counts.len()), 0);
        let firsts = &mut firsts[..tile.lanes];
        folds::hits(level, tile, set, wanted, &mut counts[..size], &mut values[at], firsts);
        copy(&counts[..size], &mut values[self.values_of(*counted, cuts.len())]);
        first.iter().for_each(|&(_, column)| copy(firsts, &mut values[self.values_of(column, 1)]));
    }

    /// Returns the place of some columns, from `column` on, in the fold values of the tile.
    #[inline(always)]
    fn values_of(&self, column: usize, columns: usize) -> Range<usize> {
        column * self.tile.lanes..(column + columns) * self.tile.lanes
    }

    /// Collects numbers of the queries that the program reads, for the lanes of the tile,
    /// `[input][lane]`.
    fn inputs(&self, needed: &[usize], lanes: &mut Vec<u32>) {
        let Job { batch, inputs, .. } = self.job;
        lanes.clear();
        for (&input, end) in needed.iter().zip(1..) {
            let input = &inputs[input];
            lanes.extend(batch.rows(self.at).iter().map(|&row| input[batch.judgments(row)]));
            // Lanes without a row get limits and caps of 0. All labels of such a lane are past the
            // end, so no limit or cap has an effect.
            lanes.resize(end * self.tile.lanes, 0);
        }
    }
}

/// Returns whether sparse lists have all documents with codes above a threshold.
fn is_listed(above: u8) -> bool {
    above >= CodesAbove::IN_QRELS.0
}

/// Runs a fold that counts in u32, then copies the counts into f64 columns.
fn in_counts(counts: &mut Vec<u32>, out: &mut [f64], fold: impl FnOnce(&mut [u32])) {
    // The buffer never shrinks, because growing a vector again would clear the new part again.
    counts.resize(out.len().max(counts.len()), 0);
    fold(&mut counts[..out.len()]);
    copy(&counts[..out.len()], out);
}

// Counts and ranks are exact in f64. So all columns have the same type, and the last line of a
// formula has a single kind of operand.
fn copy(counts: &[u32], out: &mut [f64]) {
    out.iter_mut().zip(counts).for_each(|(out, &count)| *out = count.into());
}
