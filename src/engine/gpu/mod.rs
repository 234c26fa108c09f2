//! The GPU engine: tiles and programs of the CPU engine run in compute shaders with integer sums,
//! so every device answers with equal bits.
//!
//! [`tasks`] turns a program into integers, [`fixed`] chooses units and bounds errors, [`kernels`]
//! makes shaders, [`batch`] sends tiles through a device, and the host makes f64 columns of the
//! answers. [`mirror`] computes the integers of the shaders in plain Rust.

#[cfg(target_endian = "big")]
compile_error!(
    "devices are given words as they lie in memory, and expect them little-endian: build without \
     the feature `gpu`"
);

pub mod batch;
pub mod device;
pub mod fixed;
pub mod kernels;
pub mod layout;
#[cfg(feature = "parts")]
pub mod mirror;
pub mod rate;
pub mod reduce;
pub mod resident;
mod shader;
pub mod sources;
mod tables;
pub mod tasks;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::cpu::Cpu;
use super::job::{Engine, Gather, Idle, Job};
use crate::error::{Error, Result};
use crate::fold::{Columns, Program};
use batch::{Answer, Ready, Sizes, Spent};
use device::{Choice, Device};
use fixed::MAX_DEPTH;
use resident::ResidentLabels;
use tasks::IntegerProgram;

/// A GPU. Folds whose sums do not fit into 96 bits run on the CPU in the same call.
pub struct Gpu {
    device: Device,
    sizes: Sizes,
    spent: Mutex<Spent>,
}

impl Gpu {
    /// Opens the chosen adapter.
    ///
    /// # Errors
    /// No adapter that fits the choice, an unusable adapter, or a refusal of the driver:
    /// [`Error::Device`].
    pub fn open(choice: Choice) -> Result<Self> {
        Ok(Self::of(Device::open(choice)?))
    }

    /// Takes a device that is open already.
    pub fn of(device: Device) -> Self {
        Gpu { device, sizes: Sizes::default(), spent: Mutex::default() }
    }

    /// Sets other sizes of batches.
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Gpu { sizes, ..self }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The cost of all runs so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the labels of a matrix to the device, to be evaluated there any number of times.
    ///
    /// # Errors
    /// Not enough memory, or a device that was lost.
    pub fn load<'a>(&'a self, matrix: &'a crate::matrix::LabelMatrix) -> Result<Loaded<'a>> {
        Ok(Loaded {
            gpu: self,
            matrix,
            labels: ResidentLabels::new(&self.device, &matrix.batch())?,
        })
    }

    fn run_on<G: Gather>(
        &self,
        job: &Job<'_>,
        labels: Option<&ResidentLabels>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        /// The number of tiles that a worker takes at a time.
        const TOGETHER: usize = 4;
        if job.program.classes.is_some() {
            return Cpu::new().run(job, workers, begin);
        }
        let integers = Arc::new(IntegerProgram::new(job.program, check_depth(job)?));
        let ready = Ready::new(&self.device, integers.clone(), job.view, self.sizes)?;
        let left = Left::new(job.program, &integers);
        let idle = Idle::new();
        let spent = ready.run(job, labels, |answer| {
            if job.is_stopped() {
                return Err(Error::Stopped);
            }
            let first = answer.tiles.start;
            idle.each_tile(
                job,
                workers,
                (answer.tiles.clone(), TOGETHER),
                &begin,
                |gather: &mut G, next| {
                    while let Some(tiles) = next() {
                        for tile in tiles {
                            let columns =
                                columns(job, &integers, &left, &answer, tile - first, tile);
                            gather.tile(tile, &columns);
                            job.tell(tile);
                        }
                    }
                },
            );
            Ok(())
        })?;
        self.add_spent(spent.kernels, [spent.up, spent.down]);
        idle.merged(job, begin)
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

    fn explain(&self, job: &Job<'_>) -> Vec<String> {
        explain(job)
    }

    fn run<G: Gather>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        self.run_on(job, None, workers, begin)
    }
}

/// A GPU with the labels of one matrix in its memory.
pub struct Loaded<'a> {
    gpu: &'a Gpu,
    matrix: &'a crate::matrix::LabelMatrix,
    labels: ResidentLabels,
}

impl Loaded<'_> {
    /// The matrix of the resident labels.
    pub fn matrix(&self) -> &crate::matrix::LabelMatrix {
        self.matrix
    }
}

impl Engine for Loaded<'_> {
    fn describe(&self) -> String {
        format!("{}, labels resident", self.gpu.describe())
    }

    fn run<G: Gather>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        let labels = job.batch.is_of(self.matrix).then_some(&self.labels);
        self.gpu.run_on(job, labels, workers, begin)
    }
}

/// Describes how the sums of a job are computed.
fn explain(job: &Job<'_>) -> Vec<String> {
    if job.program.classes.is_some() {
        return vec!["on the CPU: there are more distinct grades than codes".to_owned()];
    }
    let integers = IntegerProgram::new(job.program, deepest(job));
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
    let left = integers
        .left
        .iter()
        .map(|&of| format!("  {}: on the CPU, its terms differ too much", name(of)));
    lines.extend(left);
    lines.push(
        "walks down each ranking and the last line of every measure: on the CPU, in f64".to_owned(),
    );
    lines
}

/// The deepest rank that a job looks at.
fn deepest(job: &Job<'_>) -> u32 {
    // Tiles are padded to a multiple of 4 ranks; the padding is past every end.
    let deepest = job.batch.deepest_row();
    job.view.depth.map_or(deepest, |depth| deepest.min(depth))
}

/// Returns the deepest rank of a job, and rejects a rank deeper than [`MAX_DEPTH`].
fn check_depth(job: &Job<'_>) -> Result<u32> {
    let deepest = deepest(job);
    if deepest > MAX_DEPTH {
        return Err(Error::Device(format!(
            "the GPU engine takes rankings of up to {MAX_DEPTH} ranks, and the deepest here has \
             {deepest}: use --depth or \
             --engine cpu"
        )));
    }
    Ok(deepest)
}

/// The part of a program that stays on the CPU.
struct Left {
    program: Program,
    /// The indices of its columns in the whole program.
    columns: Vec<usize>,
}

impl Left {
    fn new(program: &Program, integers: &IntegerProgram) -> Option<Self> {
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
        Some(Left { program: Program { tasks, codes: program.codes, classes: None }, columns })
    }
}

/// The columns of one tile: the numbers of its words, and the columns that the CPU adds.
fn columns(
    job: &Job<'_>,
    integers: &IntegerProgram,
    left: &Option<Left>,
    answer: &Answer,
    at: usize,
    tile: usize,
) -> Columns {
    let queries: Vec<usize> =
        job.batch.rows(tile).iter().map(|&row| job.batch.judgments(row)).collect();
    let lanes = job.batch.tile(tile).lanes;
    let mut columns = Columns::zeros(job.program, lanes);
    integers.decode(
        job.inputs,
        &queries,
        |column, lane| answer.word(column, at, lane),
        &mut columns,
    );
    if let Some(Left { program, columns: own }) = left {
        let found = Cpu::new().columns(&Job { program, ..job.clone() }, tile);
        for (from, &to) in own.iter().enumerate() {
            let values = &found.values[from * lanes..(from + 1) * lanes];
            columns.values[to * lanes..(to + 1) * lanes].copy_from_slice(values);
        }
    }
    columns
}
