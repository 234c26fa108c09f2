//! The CPU engine: tiles in parallel, each fold one pass of SIMD over a tile that stays in the nearest cache.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use rayon::prelude::*;

use super::{Engine, Finish, Job};
use crate::error::Result;
use crate::fold::Columns;
use crate::label::TileSpan;
use steps::{Lanes, Scratch};

pub mod folds;
mod steps;

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

    /// Reads every label but the last few once, and makes nothing of them: what folds are measured against.
    pub fn read(&self, labels: &[u8]) -> u8 {
        dispatch!(self.level, simd => read(simd, labels))
    }

    /// The columns of one tile.
    pub fn columns(&self, Job { matrix, view, program }: Job<'_>, at: usize) -> Columns {
        let steps = steps::steps(program, matrix.packing().tiles[at].depth as usize);
        let (mut labels, mut scratch) = (Vec::new(), Scratch::default());
        let tile = view.of(matrix.tile(at), &mut labels);
        let rows = (matrix.tile_rows(at), matrix.queries().len());
        Lanes { level: self.level, tile, program, rows }.run(&steps, &mut scratch);
        scratch.columns
    }

    /// A certain level, for tests and benches.
    pub fn at(level: Level) -> Self {
        Cpu { level }
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Every level of this kind of processor by name, the best first; `None` where this machine lacks it.
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

    /// Every level that this machine has, the best first.
    pub fn levels() -> Vec<Self> {
        let levels: Vec<Self> = Self::known_levels().into_iter().filter_map(|(_, level)| level).collect();
        // A processor without any of them has the scalar fallback.
        if levels.is_empty() { vec![Cpu::new()] } else { levels }
    }

    /// The level by name, such as `avx512`.
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

    fn run(&self, job: Job<'_>, tiles: Range<usize>, finish: Finish<'_>) -> Result<Vec<Vec<f64>>> {
        let Job { matrix, view, program } = job;
        let spans = &matrix.packing().tiles[tiles.clone()];
        let steps = steps::steps(program, spans.first().map_or(0, |tile| tile.depth as usize));
        let run = |scratch: &mut Scratch, at: usize| {
            let mut labels = std::mem::take(&mut scratch.labels);
            let tile = view.of(matrix.tile(at), &mut labels);
            let rows = (matrix.tile_rows(at), matrix.queries().len());
            Lanes { level: self.level, tile, program, rows }.run(&steps, scratch);
            scratch.labels = labels;
            // Most often the next one is this thread's as well: it is read while this one is finished.
            if at + 1 < tiles.end {
                folds::ask_for(matrix.tile(at + 1));
            }
            finish(at, &scratch.columns)
        };
        let batch = tiles_a_job(spans);
        Ok(tiles.clone().into_par_iter().with_min_len(batch).map_init(Scratch::default, run).collect())
    }
}

/// So many tiles make a job that is worth handing to a thread; a tile costs something even if it has no labels.
fn tiles_a_job(tiles: &[TileSpan]) -> usize {
    const JOB: usize = 256 << 10;
    const TILE: usize = 16 << 10;
    let bytes: usize = tiles.iter().map(|tile| tile.bytes() as usize).sum();
    JOB / (bytes / tiles.len().max(1) + TILE)
}

#[inline(always)]
fn read<S: Simd>(simd: S, labels: &[u8]) -> u8 {
    let mut sums = [u8x64::splat(simd, 0); 4];
    for labels in labels.chunks_exact(256) {
        for (sum, labels) in sums.iter_mut().zip(labels.chunks_exact(64)) {
            *sum ^= u8x64::from_slice(simd, labels);
        }
    }
    sums.iter().fold(0, |sum, s| sum ^ s.as_array()[0] ^ s.as_array()[63])
}
