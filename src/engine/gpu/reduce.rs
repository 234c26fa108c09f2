//! Averages without any value leaving the device: the device folds resident labels, multiplies the
//! state of each row by a factor of its query, sent only once, and returns one sum for each measure
//! and run.
//!
//! A value of most measures is a state times a factor of the query (1/R, 1/k, 1/ideal). With the
//! factors on the device, only 12 bytes come back for each measure and run, instead of a state for
//! each row and cutoff.
//!
//! A value is (state · factor) >> shift, whole numbers again, and a sum of values has 96 bits. So
//! the sum does not depend on the order of rows, threads and workgroups, and `Scaled::value` states
//! the required result of the shader in one line of Rust.
//!
//! The units: factors up to 2ᵉ are kept in units of 2ᵉ⁻⁶³, hence as numbers up to 2⁶³. A sum is
//! below 2⁶³, so the product is below 2¹²⁶, and after a shift by 63 below 2⁶³. A count or rank is
//! below 2¹⁶, the product below 2⁷⁹, and 16 bits less suffice. The errors: the state's own times
//! the factor, half a unit of the factor (times at most 2⁶³ or 2¹⁶: half a unit of the value), and
//! less than a unit for the shift.

use std::sync::Arc;

use super::batch::{Berth, Clock, Largest, Ready, Sizes};
use super::fixed::{power_of_two, reciprocals};
use super::layout;
use super::sources::REDUCE;
use super::tasks::{IntegerFold, IntegerProgram, IntegerTask};
use super::{Loaded, check_depth};
use crate::engine::Job;
use crate::error::{Error, Result};
use crate::fold::{Factor, Product};
use crate::matrix::{Batch, LANES};

/// The number of rows that a workgroup of `reduce.wgsl` adds up.
const ROWS: usize = 256 * 16;

/// A product in integers: a value is `(state · factor) >> shift`, in units of 2^-unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    word: u32,
    state: State,
    factors: Vec<u64>,
    per_query: bool,
    shift: u32,
    deepest: u32,
    unit: i32,
    /// The bound on the error of a value.
    pub error: f64,
}

/// The way in which a state is read; the numbers are those of `reduce.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Count = 0,
    Sum = 1,
    FirstRank = 2,
}

impl State {
    /// Tells how the state of a task is read, with its unit and the bound on its error; `None` if
    /// it has signs or three words.
    fn of(task: &IntegerTask, depth: u32) -> Option<(Self, i32, f64)> {
        match &task.kind {
            IntegerFold::Count(_) | IntegerFold::CountWithin(..) => Some((State::Count, 0, 0.0)),
            IntegerFold::WeightedSum(terms)
                if terms.wide || terms.gains.numbers.iter().any(|&gain| gain < 0.0) =>
            {
                None
            }
            IntegerFold::PrecisionSum(..)
            | IntegerFold::InferredSum(..)
            | IntegerFold::WeightedSum(_)
            | IntegerFold::Cascade(_) => {
                let (unit, error) = task.unit(depth)?;
                Some((State::Sum, unit, error))
            }
            _ => None,
        }
    }
}

impl Scaled {
    /// Makes a product in integers; `None` if the state has signs or three words, or a factor is
    /// not a number.
    pub fn new(product: &Product, integers: &IntegerProgram) -> Option<Self> {
        let task = integers
            .tasks
            .iter()
            .find(|task| (task.column..task.column + task.cuts.len()).contains(&product.column))?;
        let word = task.word + (product.column - task.column) as u32 * task.kind.words();
        let depth = integers.depth;
        let same;
        let numbers: &[f64] = match &product.by {
            Factor::Same(factor) => {
                same = [*factor];
                &same
            }
            Factor::PerQuery(factors) => factors,
            &Factor::Reciprocal(deepest) => {
                let factors = reciprocals(depth).collect();
                let first = matches!(task.kind, IntegerFold::FirstRank(_));
                let (state, error) = (State::FirstRank, power_of_two(-64));
                return first.then_some(Scaled {
                    word,
                    state,
                    factors,
                    per_query: false,
                    shift: 0,
                    deepest,
                    unit: 63,
                    error,
                });
            }
        };
        let largest = numbers.iter().copied().fold(0.0, f64::max);
        if !(largest.is_finite() && numbers.iter().all(|number| *number >= 0.0)) {
            return None;
        }
        let (state, unit, own) = State::of(task, depth)?;
        let exponent = largest.max(f64::MIN_POSITIVE).log2().ceil() as i32;
        let shift = if state == State::Count { 16 } else { 63 };
        let value_unit = unit + 63 - exponent - shift as i32;
        let factors = numbers
            .iter()
            .map(|number| (number * power_of_two(63 - exponent)).round() as u64)
            .collect();
        let error = own * largest + 1.5 * power_of_two(-value_unit);
        let per_query = matches!(product.by, Factor::PerQuery(_));
        Some(Scaled {
            word,
            state,
            factors,
            per_query,
            shift,
            deepest: u32::MAX,
            unit: value_unit,
            error,
        })
    }

    /// The value of a row, from the words of its state: what `reduce.wgsl` computes.
    #[cfg(feature = "parts")]
    pub fn value(&self, word: impl Fn(u32) -> u32, query: usize) -> u64 {
        let low = word(self.word);
        let (state, factor) = match self.state {
            State::FirstRank if low == 0 || low > self.deepest => return 0,
            State::FirstRank => (1, self.factors[low as usize - 1]),
            State::Count => (low.into(), self.factor(query)),
            State::Sum => {
                (u64::from(word(self.word + 1)) << 32 | u64::from(low), self.factor(query))
            }
        };
        ((u128::from(state) * u128::from(factor)) >> self.shift) as u64
    }

    fn factor(&self, query: usize) -> u64 {
        self.factors[if self.per_query { query } else { 0 }]
    }

    /// The number that a sum of values stands for.
    pub fn sum(&self, sum: u128) -> f64 {
        sum as f64 * power_of_two(-self.unit)
    }
}

/// Products over resident labels, ready to be added up any number of times.
pub struct Reducer<'a> {
    loaded: &'a Loaded<'a>,
    scaled: Vec<Scaled>,
    pipeline: wgpu::ComputePipeline,
    parts: Vec<LoadedBatch>,
    ready: Ready<'a>,
    sums: wgpu::Buffer,
    answers: wgpu::Buffer,
    clock: Option<Clock>,
    /// The number of words of sums.
    words: usize,
}

/// A batch of tiles with the buffers of its kernels.
struct LoadedBatch {
    tiles: usize,
    folds: Vec<wgpu::BindGroup>,
    products: Vec<wgpu::BindGroup>,
    /// The buffers, kept alive as long as they are bound.
    _berth: Berth,
}

impl<'a> Reducer<'a> {
    /// Sends the factors to the device and prepares the kernels. `name` gives the name of a
    /// product, by its index, for errors.
    ///
    /// # Errors
    /// A product too large for the integers; not enough memory; a lost device.
    pub fn new(
        loaded: &'a Loaded<'a>,
        job: &Job<'_>,
        products: &[Product],
        name: impl Fn(usize) -> String,
    ) -> Result<Self> {
        // Labels are resident and no columns come back, so only the largest binding bounds a batch.
        /// The most bytes that the device keeps of a batch.
        const BATCH: u64 = 128 << 20;
        let integers = Arc::new(IntegerProgram::new(job.program, check_depth(job)?));
        let scaled = |(at, product)| {
            let no = || {
                Error::Unanswerable(format!(
                    "{} cannot be averaged on the device: its sums do not fit into integers there",
                    name(at)
                ))
            };
            Scaled::new(product, &integers).ok_or_else(no)
        };
        let scaled = products.iter().enumerate().map(scaled).collect::<Result<Vec<_>>>()?;
        let device = &loaded.gpu.device;
        let batch = BATCH.min(device.adapter.binding_bytes);
        let sizes =
            Sizes { batch: batch.max(loaded.gpu.sizes.batch.min(batch)), ..loaded.gpu.sizes };
        let ready = Ready::new(device, integers, job.view, sizes)?;
        let pipeline = device.pipeline(REDUCE, &device.reduce)?;
        let runs = loaded.matrix.runs().len();
        let words = 3 * scaled.len() * runs;
        use wgpu::BufferUsages as Usage;
        let bytes = 4 * words as u64;
        let mut reducer = Reducer {
            loaded,
            scaled,
            pipeline,
            parts: Vec::new(),
            ready,
            sums: device.buffer(bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST),
            answers: device.buffer(bytes, Usage::MAP_READ | Usage::COPY_DST),
            clock: device.adapter.timestamps.then(|| Clock::new(device)),
            words,
        };
        for batch in reducer.ready.batches(&job.batch, Some(&loaded.labels)) {
            let part = reducer.part(job, &batch, runs)?;
            reducer.parts.push(part);
        }
        device.check()?;
        Ok(reducer)
    }

    /// The bound on the error of each product, by row.
    pub fn errors(&self) -> Vec<f64> {
        self.scaled.iter().map(|scaled| scaled.error).collect()
    }

    /// Prepares a resident batch and the factors of its queries.
    fn part(&self, job: &Job<'_>, batch: &Batch<'_>, runs: usize) -> Result<LoadedBatch> {
        let device = &self.loaded.gpu.device;
        let largest = Largest::of(std::slice::from_ref(batch));
        let berth = self.ready.berth(&largest, true)?;
        self.ready.describe(job, batch, &berth);
        let tiles = batch.spans().len();
        let source = self.loaded.labels.at(batch.spans()[0].offset);
        let folds = self.ready.bind(job.view, tiles, source, &berth);
        let (slots, groups) = (tiles * LANES, (tiles * LANES).div_ceil(ROWS) as u32);
        let rows = rows(batch);
        let run = |row: &Option<u32>| row.map_or(u32::MAX, |row| batch.run(row) as u32);
        let runs_of_rows = device.words(&rows.iter().map(run).collect::<Vec<_>>());
        let mut products = Vec::new();
        for (at, scaled) in self.scaled.iter().enumerate() {
            // Position 0 means "no factors", so two words of padding come first.
            let mut factors = vec![0, 0];
            let double = |factor: u64| [factor as u32, (factor >> 32) as u32];
            if scaled.per_query {
                let factor =
                    |row: &Option<u32>| row.map_or(0, |row| scaled.factors[batch.query(row)]);
                factors.extend(rows.iter().map(factor).flat_map(double));
            } else if scaled.state == State::FirstRank {
                factors.extend(scaled.factors.iter().copied().flat_map(double));
            }
            let [factor_low, factor_high] = double(scaled.factor(0));
            let product = layout::ProductUniform {
                slots: slots as u32,
                stride: groups.min(self.loaded.gpu.sizes.groups),
                word: scaled.word,
                state: scaled.state as u32,
                factors: if factors.len() > 2 { 2 } else { 0 },
                factor_low,
                factor_high,
                shift: scaled.shift,
                sums: (3 * at * runs) as u32,
                deepest: scaled.deepest,
                ..layout::ProductUniform::default()
            };
            let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
            let uniform = device.buffer(size_of::<layout::ProductUniform>() as u64, usage);
            device.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&product));
            let factors = device.words(&factors);
            let buffers = [
                (0, &uniform),
                (1, &berth.columns),
                (2, &runs_of_rows),
                (3, &factors),
                (4, &self.sums),
            ];
            products.push(device.bind(&device.reduce, &buffers));
        }
        Ok(LoadedBatch { tiles, folds, products, _berth: berth })
    }

    /// Folds all labels and adds up: sums over the rows that have documents, `[product][run]`.
    ///
    /// # Errors
    /// A device that was lost.
    pub fn sums(&self) -> Result<Vec<Vec<f64>>> {
        let device = &self.loaded.gpu.device;
        let mut encoder =
            device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.clear_buffer(&self.sums, 0, None);
        let timestamp_writes = self.clock.as_ref().map(Clock::writes);
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let mut compute = encoder.begin_compute_pass(&descriptor);
        for part in &self.parts {
            self.ready.dispatch(&part.folds, part.tiles, &mut compute);
            let groups = (part.tiles * LANES).div_ceil(ROWS) as u32;
            let stride = groups.min(self.loaded.gpu.sizes.groups);
            compute.set_pipeline(&self.pipeline);
            for group in &part.products {
                compute.set_bind_group(0, group, &[]);
                compute.dispatch_workgroups(stride, groups.div_ceil(stride), 1);
            }
        }
        drop(compute);
        if let Some(clock) = &self.clock {
            clock.resolve(&mut encoder);
        }
        encoder.copy_buffer_to_buffer(&self.sums, 0, &self.answers, 0, self.sums.size());
        let read = [Some(&self.answers), self.clock.as_ref().map(|clock| &clock.read)];
        let read = read.into_iter().flatten().map(|buffer| (buffer, wgpu::MapMode::Read));
        device.finish(device.submit(encoder, read)?)?;
        let words: Vec<u32> = {
            let view = self
                .answers
                .get_mapped_range(..)
                .map_err(|error| device.failed(&error.to_string()))?;
            bytemuck::pod_collect_to_vec(&view)
        };
        self.answers.unmap();
        if let Some(clock) = &self.clock {
            self.loaded.gpu.add_spent(clock.elapsed(device)?, [0, 4 * self.words as u64]);
        }
        let runs = self.words / 3 / self.scaled.len().max(1);
        let sum = |at: usize| {
            (0..3).rev().fold(0, |sum: u128, word| sum << 32 | u128::from(words[3 * at + word]))
        };
        let of = |(at, scaled): (usize, &Scaled)| {
            (0..runs).map(|run| scaled.sum(sum(at * runs + run))).collect()
        };
        Ok(self.scaled.iter().enumerate().map(of).collect())
    }
}

/// The row of each slot of a batch.
fn rows(batch: &Batch<'_>) -> Vec<Option<u32>> {
    let mut rows = Vec::with_capacity(batch.spans().len() * LANES);
    for tile in batch.tiles() {
        let end = rows.len() + LANES;
        rows.extend(batch.rows(tile).iter().copied().map(Some));
        rows.resize(end, None);
    }
    rows
}
