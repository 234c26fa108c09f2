//! The GPU engine: the same tiles and the same program in compute shaders, and sums in integers, so that every device answers with
//! the same bits.
//!
//! [`tasks`] turns a program into integers, [`fixed`] says in which units and how exactly, [`kernels`] makes shaders of it, [`batch`]
//! sends tiles through a device, and the host makes f64 columns of what comes back. [`mirror`] computes the same integers plainly.

#[cfg(target_endian = "big")]
compile_error!(
    "devices are given words as they lie in memory, and expect them little-endian: build without the feature `gpu`"
);

pub mod batch;
pub mod device;
pub mod fixed;
pub mod kernels;
pub mod layout;
pub mod mirror;
pub mod rate;
pub mod reduce;
pub mod resident;
pub mod tasks;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rayon::prelude::*;

use super::cpu::Cpu;
use super::{Engine, Finish, Job};
use crate::error::{Error, Result};
use crate::fold::{Columns, Program};
use batch::{Answer, Ready, Sizes, Spent};
use device::{Choice, Device};
use fixed::MAX_DEPTH;
use resident::Resident;
use tasks::Integers;

/// A GPU. Folds whose sums no 96 bits can hold run on the CPU in the same call.
pub struct Gpu {
    device: Device,
    sizes: Sizes,
    spent: Mutex<Spent>,
}

impl Gpu {
    /// Opens the chosen adapter.
    ///
    /// # Errors
    /// No such adapter, or one that refuses: [`Error::Device`].
    pub fn open(choice: Choice) -> Result<Self> {
        Ok(Self::of(Device::open(choice)?))
    }

    /// A device that is open already.
    pub fn of(device: Device) -> Self {
        Gpu { device, sizes: Sizes::default(), spent: Mutex::default() }
    }

    /// The same device with other sizes of batches.
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Gpu { sizes, ..self }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What all runs so far have cost.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the labels of a matrix up, to be evaluated there as often as wanted.
    ///
    /// # Errors
    /// Not enough memory, or a device that was lost.
    pub fn load<'a>(&'a self, matrix: &'a crate::label::LabelMatrix) -> Result<Loaded<'a>> {
        Ok(Loaded { gpu: self, matrix, labels: Resident::new(&self.device, matrix)? })
    }

    fn run_on(
        &self,
        job: Job<'_>,
        labels: Option<&Resident>,
        tiles: Range<usize>,
        finish: Finish<'_>,
    ) -> Result<Vec<Vec<f64>>> {
        let deepest = check_depth(job)?;
        let integers = Arc::new(Integers::new(job.program, deepest));
        let ready = Ready::new(&self.device, integers.clone(), job.view, self.sizes)?;
        let left = Left::new(job.program, &integers);
        let mut values = Vec::with_capacity(tiles.len());
        let spent = ready.run(job, labels, tiles, |answer| {
            values.par_extend(answer.tiles.clone().into_par_iter().enumerate().map(|(at, tile)| {
                let columns = columns(job, &integers, &left, &answer, at, tile);
                finish(tile, &columns)
            }));
            Ok(())
        })?;
        self.add_spent(spent.kernels, [spent.up, spent.down]);
        Ok(values)
    }

    fn add_spent(&self, kernels: Duration, [up, down]: [u64; 2]) {
        let mut all = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        all.kernels += kernels;
        all.up += up;
        all.down += down;
    }
}

impl Engine for Gpu {
    fn describe(&self) -> String {
        let adapter = &self.device.adapter;
        format!("gpu ({}, {})", adapter.name, adapter.backend)
    }

    fn explain(&self, job: Job<'_>) -> Vec<String> {
        explain(job)
    }

    fn run(&self, job: Job<'_>, tiles: Range<usize>, finish: Finish<'_>) -> Result<Vec<Vec<f64>>> {
        self.run_on(job, None, tiles, finish)
    }
}

/// A GPU with the labels of one matrix in its memory.
pub struct Loaded<'a> {
    gpu: &'a Gpu,
    matrix: &'a crate::label::LabelMatrix,
    labels: Resident,
}

impl Loaded<'_> {
    /// The matrix whose labels these are.
    pub fn matrix(&self) -> &crate::label::LabelMatrix {
        self.matrix
    }
}

impl Engine for Loaded<'_> {
    fn describe(&self) -> String {
        format!("{}, labels resident", self.gpu.describe())
    }

    fn run(&self, job: Job<'_>, tiles: Range<usize>, finish: Finish<'_>) -> Result<Vec<Vec<f64>>> {
        let labels = std::ptr::eq(job.matrix, self.matrix).then_some(&self.labels);
        self.gpu.run_on(job, labels, tiles, finish)
    }
}

/// What the sums of a job are made of.
fn explain(job: Job<'_>) -> Vec<String> {
    let integers = Integers::new(job.program, deepest(job));
    let name = |of: usize| job.program.tasks[of].fold.name();
    let mut lines = vec!["on the GPU, in integers:".to_owned()];
    let mut told = Vec::new();
    for task in &integers.tasks {
        let line = match task.unit(integers.depth) {
            Some((unit, error)) => format!("in units of 2^{}, off by at most {error:.1e}", -unit),
            None => "exact".to_owned(),
        };
        let line = format!("  {}: {line}", name(task.of));
        if !told.contains(&line) {
            told.push(line);
        }
    }
    lines.extend(told);
    let left =
        integers.left.iter().map(|&of| format!("  {}: on the CPU, its terms differ too much", name(of)));
    lines.extend(left);
    lines.push("walks down each ranking and the last line of every measure: on the CPU, in f64".to_owned());
    lines
}

/// The deepest rank that a job looks at.
fn deepest(job: Job<'_>) -> u32 {
    let deepest = job.matrix.packing().tiles.first().map_or(0, |tile| tile.depth);
    // Tiles are padded to a multiple of 4 ranks; what is there is past every end.
    let deepest = deepest.min(job.matrix.depths().iter().copied().max().unwrap_or(0));
    job.view.depth.map_or(deepest, |depth| deepest.min(depth))
}

/// The deepest rank that a job looks at, if that is not too deep.
fn check_depth(job: Job<'_>) -> Result<u32> {
    let deepest = deepest(job);
    if deepest > MAX_DEPTH {
        return Err(Error::Device(format!(
            "the GPU engine takes rankings of up to {MAX_DEPTH} ranks, and the deepest here has {deepest}: use --depth or \
             --engine cpu"
        )));
    }
    Ok(deepest)
}

/// The part of a program that stays on the CPU.
struct Left {
    program: Program,
    /// Its columns among those of the whole program.
    columns: Vec<usize>,
}

impl Left {
    fn new(program: &Program, integers: &Integers) -> Option<Self> {
        if integers.left.is_empty() {
            return None;
        }
        let (mut columns, mut first) = (Vec::new(), 0);
        for (at, task) in program.tasks.iter().enumerate() {
            if integers.left.contains(&at) {
                columns.extend(first..first + task.columns());
            }
            first += task.columns();
        }
        let tasks = integers.left.iter().map(|&at| program.tasks[at].clone()).collect();
        Some(Left {
            program: Program { tasks, inputs: program.inputs.clone(), codes: program.codes },
            columns,
        })
    }
}

/// The columns of one tile: what its words stand for, and what the CPU adds.
fn columns(
    job: Job<'_>,
    integers: &Integers,
    left: &Option<Left>,
    answer: &Answer,
    at: usize,
    tile: usize,
) -> Columns {
    let queries = job.matrix.queries().len() as u32;
    let rows: Vec<u32> = job.matrix.tile_rows(tile).iter().map(|row| row % queries).collect();
    let lanes = job.matrix.packing().tiles[tile].lanes as usize;
    let mut columns = Columns::zeros(job.program, lanes);
    integers.decode(job.program, &rows, |column, lane| answer.word(column, at, lane), &mut columns);
    if let Some(Left { program, columns: own }) = left {
        let found = Cpu::new().columns(Job { program, ..job }, tile);
        for (from, &to) in own.iter().enumerate() {
            let values = &found.values[from * lanes..(from + 1) * lanes];
            columns.values[to * lanes..(to + 1) * lanes].copy_from_slice(values);
        }
    }
    columns
}
