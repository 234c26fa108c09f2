//! The CPU engine: tiles in parallel, each fold one pass of SIMD over a tile that stays in the nearest cache.

use std::ops::Range;

use fearless_simd::Level;
use rayon::prelude::*;

use super::{Engine, Finish, Job};
use crate::error::Result;
use crate::fold::{Columns, Cut, Fold, Program, Weights};
use crate::label::{LANES, Tile};

pub mod folds;

/// The CPU at one level of SIMD.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// The best level that this machine has.
    pub fn new() -> Self {
        Cpu { level: Level::new() }
    }

    /// A certain level, for tests and benches.
    pub fn at(level: Level) -> Self {
        Cpu { level }
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Cpu {
    fn describe(&self) -> String {
        let level = format!("{:?}", self.level);
        let level = level.split('(').next().unwrap_or_default().to_lowercase();
        format!("cpu ({level}, {} threads)", rayon::current_num_threads())
    }

    fn run(&self, job: Job<'_>, tiles: Range<usize>, finish: Finish<'_>) -> Result<Vec<Vec<f64>>> {
        let weights = weights(job, tiles.clone());
        let run = |scratch: &mut Vec<u8>, tile: usize| finish(tile, &self.tile(job, &weights, tile, scratch));
        Ok(tiles.into_par_iter().map_init(Vec::new, run).collect())
    }
}

/// The weights of each task that has any, as deep as the deepest of the tiles.
fn weights(job: Job<'_>, tiles: Range<usize>) -> Vec<Option<Weights>> {
    let deepest = job.matrix.packing().tiles[tiles].first().map_or(0, |tile| tile.depth as usize);
    let of = |fold: &Fold| match fold {
        Fold::WeightedSum { discount, .. } | Fold::Cascade { discount, .. } => {
            Some(discount.weights(deepest))
        }
        _ => None,
    };
    job.program.tasks.iter().map(|task| of(&task.fold)).collect()
}

impl Cpu {
    /// Every task of the program over one tile.
    fn tile(&self, job: Job<'_>, weights: &[Option<Weights>], at: usize, scratch: &mut Vec<u8>) -> Columns {
        let Job { matrix, view, program } = job;
        let tile = view.of(matrix.tile(at), scratch);
        let mut columns = Columns::zeros(program, tile.lanes);
        let Columns { values, histogram, lanes } = &mut columns;
        let mut rest = values.as_mut_slice();
        for (task, weights) in program.tasks.iter().zip(weights) {
            let (out, after) = rest.split_at_mut(task.columns() * *lanes);
            rest = after;
            match (&task.fold, weights) {
                (Fold::Count(set), _) => {
                    let ranks = ranks(&task.cuts);
                    let (fixed, per_query) = out.split_at_mut(ranks.len() * *lanes);
                    counts(fixed, |counts| folds::count(self.level, tile, set.0, &ranks, counts));
                    let inputs = task.cuts[ranks.len()..].iter().filter_map(|cut| match cut {
                        Cut::PerQuery(input) => Some(*input),
                        _ => None,
                    });
                    for (out, input) in per_query.chunks_mut(*lanes).zip(inputs) {
                        let limits = lane_inputs(job, at, input);
                        counts(out, |out| {
                            folds::count_within(self.level, tile, set.0, &limits[..tile.lanes], out)
                        });
                    }
                }
                (Fold::FirstRank(set), _) => {
                    let upto = ranks(&task.cuts)[0];
                    counts(out, |out| folds::first_rank(self.level, tile, set.0, upto, out));
                }
                (Fold::PrecisionSum(set), _) => {
                    folds::precision_sum(self.level, tile, set.0, &ranks(&task.cuts), out);
                }
                (Fold::WeightedSum { gain, .. }, Some(weights)) => {
                    folds::weighted_sum(self.level, tile, gain, weights, &ranks(&task.cuts), out);
                }
                (Fold::Cascade { stop, .. }, Some(weights)) => {
                    folds::cascade(self.level, tile, stop, weights, &ranks(&task.cuts), out);
                }
                (Fold::PeakPrecision { hits, caps }, _) => {
                    let caps: Vec<_> = caps.iter().map(|&input| lane_inputs(job, at, input)).collect();
                    let caps: Vec<&[u32]> = caps.iter().map(|caps| &caps[..tile.lanes]).collect();
                    folds::peak_precision(self.level, tile, hits.0, &caps, out);
                }
                (Fold::PreferenceSum { hits, judged, cap, bound }, _) => {
                    let [caps, bounds] = [cap, bound].map(|&input| lane_inputs(job, at, input));
                    folds::preference_sum(self.level, tile, [hits.0, judged.0], [&caps, &bounds], out);
                }
                (Fold::InferredSum(set), _) => folds::inferred_sum(self.level, tile, set.0, out),
                (Fold::PairSum(set), _) => folds::pair_sum(self.level, tile, set.0, &ranks(&task.cuts), out),
                (Fold::Histogram, _) => fill_histogram(program, tile, histogram),
                (Fold::WeightedSum { .. } | Fold::Cascade { .. }, None) => {}
            }
        }
        columns
    }
}

/// The fixed ranks among cuts, the end being the largest; cuts of the queries' own come after them.
fn ranks(cuts: &[Cut]) -> Vec<u32> {
    let rank = |cut: &Cut| match cut {
        Cut::At(k) => Some(*k),
        Cut::End => Some(u32::MAX),
        Cut::PerQuery(_) => None,
    };
    cuts.iter().filter_map(rank).collect()
}

/// Lets a fold count in u32, then copies the counts into f64 columns.
fn counts(out: &mut [f64], fold: impl FnOnce(&mut [u32])) {
    let mut counts = vec![0; out.len()];
    fold(&mut counts);
    out.iter_mut().zip(counts).for_each(|(out, count)| *out = count.into());
}

/// An input of the program for the lanes of a tile.
fn lane_inputs(job: Job<'_>, tile: usize, input: usize) -> [u32; LANES] {
    let queries = job.matrix.queries().len();
    let mut lanes = [0; LANES];
    for (lane, &row) in lanes.iter_mut().zip(job.matrix.tile_rows(tile)) {
        *lane = job.program.inputs[input][row as usize % queries];
    }
    lanes
}

/// `[lane][code]`, only as many codes as the codebook has.
fn fill_histogram(program: &Program, tile: Tile<'_>, out: &mut [u32]) {
    let mut counts = vec![0; tile.lanes * 256];
    folds::histogram(tile, &[u32::MAX], &mut counts);
    for (out, counts) in out.chunks_mut(program.codes).zip(counts.chunks(256)) {
        out.copy_from_slice(&counts[..program.codes]);
    }
}
