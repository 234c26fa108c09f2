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
use super::job::{Collector, Engine, Job, WorkerStates};
use crate::error::{Error, Result};
use crate::fold::{Columns, Program};
use crate::matrix::LabelMatrix;
use crate::progress::check_stopped;
use batch::{BatchResult, GpuTimings, PreparedProgram, Sizes};
use device::{AdapterChoice, Device};
use fixed::MAX_DEPTH;
use resident::ResidentLabels;
use tasks::IntegerProgram;

/// The engine that computes folds on a GPU. Folds whose sums do not fit into 96 bits run on the CPU
/// in the same call.
pub struct Gpu {
    device: Device,
    spent: Mutex<GpuTimings>,
}

impl Gpu {
    /// Opens the chosen GPU adapter and makes an engine of it.
    ///
    /// # Errors
    /// No adapter that fits the choice, an unusable adapter, or a refusal of the driver:
    /// [`Error::Device`].
    pub fn open(choice: AdapterChoice) -> Result<Self> {
        Ok(Self::from_device(Device::open(choice)?))
    }

    /// Makes a GPU engine of a device that is open already.
    pub fn from_device(device: Device) -> Self {
        Gpu { device, spent: Mutex::default() }
    }

    /// Returns the open GPU device of the engine.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the time in kernels and the bytes moved, over all runs of the GPU engine so far.
    pub fn timings(&self) -> GpuTimings {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the labels of a matrix to the GPU's memory, to be evaluated there any number of times.
    ///
    /// # Errors
    /// Not enough memory, or a device that was lost.
    pub fn load<'a>(&'a self, matrix: &'a LabelMatrix) -> Result<LoadedMatrix<'a>> {
        Ok(LoadedMatrix {
            gpu: self,
            matrix,
            labels: ResidentLabels::new(&self.device, &matrix.batch())?,
        })
    }

    fn run_on<G: Collector>(
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
        let ready =
            PreparedProgram::new(&self.device, integers.clone(), job.view, Sizes::default())?;
        let left = CpuRemainder::new(job.program, &integers);
        let idle = WorkerStates::new();
        let spent = ready.run(job, labels, |answer| {
            check_stopped(job.watch)?;
            let first = answer.tiles.start;
            idle.each_tile(
                job,
                workers,
                answer.tiles.clone(),
                TOGETHER,
                &begin,
                |gather: &mut G, next| {
                    while let Some(tiles) = next() {
                        for tile in tiles {
                            let columns =
                                columns(job, &integers, &left, &answer, tile - first, tile);
                            gather.tile(tile, &columns);
                            job.report_progress(tile);
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
        if job.program.classes.is_some() {
            return vec!["on the CPU: there are more distinct grades than codes".to_owned()];
        }
        let integers = IntegerProgram::new(job.program, deepest(job));
        let tasks = &job.program.tasks;
        let mut lines = vec!["on the GPU, in integers:".to_owned()];
        let mut task_lines = Vec::new();
        for task in &integers.tasks {
            let line = match task.unit(integers.depth) {
                Some((unit, error)) => {
                    format!("in units of 2^{}, off by at most {error:.1e}", -unit)
                }
                None => "exact".to_owned(),
            };
            let line = format!("  {}: {line}", tasks[task.index].fold.name());
            if !task_lines.contains(&line) {
                task_lines.push(line);
            }
        }
        lines.extend(task_lines);
        for &index in &integers.left {
            let name = tasks[index].fold.name();
            lines.push(format!("  {name}: on the CPU, its terms differ too much"));
        }
        lines.push(
            "walks down each ranking and the last line of every measure: on the CPU, in f64"
                .to_owned(),
        );
        lines
    }

    fn run<G: Collector>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        self.run_on(job, None, workers, begin)
    }
}

/// A GPU engine with the labels of one matrix in the GPU's memory.
pub struct LoadedMatrix<'a> {
    gpu: &'a Gpu,
    matrix: &'a LabelMatrix,
    labels: ResidentLabels,
}

impl LoadedMatrix<'_> {
    /// Returns the matrix whose labels are in the GPU's memory.
    pub fn matrix(&self) -> &LabelMatrix {
        self.matrix
    }
}

impl Engine for LoadedMatrix<'_> {
    fn describe(&self) -> String {
        format!("{}, labels resident", self.gpu.describe())
    }

    fn run<G: Collector>(
        &self,
        job: &Job<'_>,
        workers: usize,
        begin: impl Fn() -> G + Sync,
    ) -> Result<G> {
        let labels = job.batch.is_of(self.matrix).then_some(&self.labels);
        self.gpu.run_on(job, labels, workers, begin)
    }
}

/// Returns the deepest rank, of any ranking, that a job looks at.
fn deepest(job: &Job<'_>) -> u32 {
    // Tiles are padded to a multiple of 4 ranks; the padding is past every end.
    let deepest = job.batch.deepest_row();
    job.view.depth.map_or(deepest, |depth| deepest.min(depth))
}

/// Returns the deepest rank that a job looks at, and rejects a rank deeper than [`MAX_DEPTH`].
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

/// The folds of a program that do not fit into integers on the GPU and stay on the CPU.
struct CpuRemainder {
    program: Program,
    /// The indices of its columns in the whole program.
    columns: Vec<usize>,
}

impl CpuRemainder {
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
        Some(Self { program: Program { tasks, codes: program.codes, classes: None }, columns })
    }
}

/// Returns the fold values of one tile: those in the GPU's result words, and those that the CPU
/// adds.
fn columns(
    job: &Job<'_>,
    integers: &IntegerProgram,
    left: &Option<CpuRemainder>,
    answer: &BatchResult,
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
    if let Some(CpuRemainder { program, columns: own }) = left {
        let found = Cpu::new().columns(&Job { program, ..job.clone() }, tile);
        for (from, &to) in own.iter().enumerate() {
            let values = &found.values[from * lanes..(from + 1) * lanes];
            columns.values[to * lanes..(to + 1) * lanes].copy_from_slice(values);
        }
    }
    columns
}
