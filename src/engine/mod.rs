//! Engines: they run a [`Program`] over the tiles of a matrix. They know folds and labels, never measures.

pub mod auto;
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;

use std::ops::Range;

use crate::error::Result;
use crate::fold::{Columns, Program};
use crate::label::{LabelMatrix, View};

/// What an engine works on.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The rankings.
    pub matrix: &'a LabelMatrix,
    /// How to look at them.
    pub view: View,
    /// What to compute.
    pub program: &'a Program,
}

/// Makes the answer for a tile, by its index, from its columns; called from several threads.
pub type Finish<'a> = &'a (dyn Fn(usize, &Columns) -> Vec<f64> + Sync);

/// Something that runs programs.
pub trait Engine: Sync {
    /// The engine in words, such as `cpu (avx512, 16 threads)`.
    fn describe(&self) -> String;

    /// How each fold of a program is computed, a line each, where that is worth saying: units and bounds of sums in integers.
    fn explain(&self, job: Job<'_>) -> Vec<String> {
        let _ = job;
        Vec::new()
    }

    /// Runs the program over some tiles, and gives what `finish` makes of each, in the order of the tiles.
    ///
    /// # Errors
    /// What the device refuses; the CPU refuses nothing.
    fn run(&self, job: Job<'_>, tiles: Range<usize>, finish: Finish<'_>) -> Result<Vec<Vec<f64>>>;
}
