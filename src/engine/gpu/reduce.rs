//! Averages of measures over queries on the GPU, without any single value leaving the device. The
//! device folds resident labels, multiplies the state of each row by a factor of its query, sent
//! only once, and returns one sum for each measure and run.
//!
//! A value of most measures is a state times a factor of the query (1/R, 1/k, 1/ideal). With the
//! factors on the device, only 12 bytes come back for each measure and run, instead of a state for
//! each row and cutoff.
//!
//! A value is (state · factor) >> shift, whole numbers again, and a sum of values has 96 bits. So
//! the sum does not depend on the order of rows, threads and workgroups, and `ScaledProduct::value`
//! states the required result of the shader in one line of Rust.
//!
//! The units: factors up to 2ᵉ are kept in units of 2ᵉ⁻⁶³, hence as numbers up to 2⁶³. A sum is
//! below 2⁶³, so the product is below 2¹²⁶, and after a shift by 63 below 2⁶³. A count or rank is
//! below 2¹⁶, the product below 2⁷⁹, and 16 bits less suffice. The errors: the state's own times
//! the factor, half a unit of the factor (times at most 2⁶³ or 2¹⁶: half a unit of the value), and
//! less than a unit for the shift.

use std::sync::Arc;

use wgpu::BufferUsages as Usage;

use super::batch::{BatchBuffers, BatchCapacity, PreparedProgram, Sizes, TimestampPair};
use super::fixed::{power_of_two, reciprocals};
use super::layout;
use super::sources::REDUCE;
use super::tables::split;
use super::tasks::{IntegerFold as Fold, IntegerProgram, IntegerTask};
use super::{LoadedMatrix, check_depth};
use crate::engine::Job;
use crate::error::{Error, Result};
use crate::fold::{Factor, Product};
use crate::matrix::{Batch, LANES};

/// The number of rows that a workgroup of `reduce.wgsl` adds up.
const ROWS: usize = 256 * 16;

/// A measure as a product in integers on the GPU: a value is `(state · factor) >> shift`, in units
/// of 2^-unit.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaledProduct {
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

/// The way in which the GPU reads a fold's state for a product; the numbers are those of
/// `reduce.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Count = 0,
    Sum = 1,
    FirstRank = 2,
}

impl State {
    /// Returns the way in which the state of a task is read, with its unit and the bound on its
    /// error; `None` if no product can take the state, such as one with signs or three words.
    fn for_task(task: &IntegerTask, depth: u32) -> Option<(Self, i32, f64)> {
        match &task.kind {
            Fold::Count(_) | Fold::CountWithin(..) => Some((Self::Count, 0, 0.0)),
            Fold::WeightedSum(terms)
                if terms.wide || terms.gains.numbers.iter().any(|&gain| gain < 0.0) =>
            {
                None
            }
            Fold::PrecisionSum(..)
            | Fold::InferredSum(..)
            | Fold::WeightedSum(_)
            | Fold::Cascade(_) => {
                let (unit, error) = task.unit(depth)?;
                Some((Self::Sum, unit, error))
            }
            _ => None,
        }
    }
}

impl ScaledProduct {
    /// Makes the integer product of a measure; `None` if the state has signs or three words, or a
    /// factor is not a number.
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
                let first = matches!(task.kind, Fold::FirstRank(_));
                let (state, error) = (State::FirstRank, power_of_two(-64));
                return first.then_some(Self {
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
        let (state, unit, own) = State::for_task(task, depth)?;
        let exponent = largest.max(f64::MIN_POSITIVE).log2().ceil() as i32;
        let shift = if state == State::Count { 16 } else { 63 };
        let value_unit = unit + 63 - exponent - shift as i32;
        let factors = numbers
            .iter()
            .map(|number| (number * power_of_two(63 - exponent)).round() as u64)
            .collect();
        let error = own * largest + 1.5 * power_of_two(-value_unit);
        let per_query = matches!(product.by, Factor::PerQuery(_));
        Some(Self {
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

    /// Returns the measure's integer value of a ranking, from the words of the fold's state, as
    /// `reduce.wgsl` computes it.
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

    /// Converts an integer sum of the measure's values to the number that it stands for.
    pub fn sum(&self, sum: u128) -> f64 {
        sum as f64 * power_of_two(-self.unit)
    }
}

/// Measures over labels in the GPU's memory, ready to be summed over queries any number of times.
pub struct Reducer<'a> {
    loaded: &'a LoadedMatrix<'a>,
    scaled: Vec<ScaledProduct>,
    pipeline: wgpu::ComputePipeline,
    parts: Vec<LoadedBatch>,
    ready: PreparedProgram<'a>,
    sums: wgpu::Buffer,
    answers: wgpu::Buffer,
    clock: Option<TimestampPair>,
    /// The number of words of sums.
    words: usize,
}

/// A batch of tiles in the GPU's memory, with the bound buffers of its kernels.
struct LoadedBatch {
    tiles: usize,
    folds: Vec<wgpu::BindGroup>,
    products: Vec<wgpu::BindGroup>,
    /// The buffers, kept alive as long as they are bound.
    _berth: BatchBuffers,
}

impl<'a> Reducer<'a> {
    /// Sends the factors of measures to the GPU, and prepares the kernels that sum the measures.
    /// `name` gives the name of a product, by its index, for errors.
    ///
    /// # Errors
    /// A product too large for the integers; not enough memory; a lost device.
    pub fn new(
        loaded: &'a LoadedMatrix<'a>,
        job: &Job<'_>,
        products: &[Product],
        name: impl Fn(usize) -> String,
    ) -> Result<Self> {
        // Labels are resident and no columns come back, so only the largest binding bounds a batch.
        /// The most bytes that the device keeps of a batch.
        const BATCH: u64 = 128 << 20;
        let integers = Arc::new(IntegerProgram::new(job.program, check_depth(job)?));
        let scaled = products.iter().enumerate().map(|(at, product)| {
            ScaledProduct::new(product, &integers).ok_or_else(|| {
                Error::Unanswerable(format!(
                    "{} cannot be averaged on the device: its sums do not fit into integers there",
                    name(at)
                ))
            })
        });
        let scaled = scaled.collect::<Result<Vec<_>>>()?;
        let device = &loaded.gpu.device;
        let sizes = Sizes { batch: BATCH.min(device.adapter.binding_bytes), ..Sizes::default() };
        let ready = PreparedProgram::new(device, integers, job.view, sizes)?;
        let pipeline = device.pipeline(REDUCE, &device.reduce)?;
        let runs = loaded.matrix.runs().len();
        let words = 3 * scaled.len() * runs;
        let bytes = 4 * words as u64;
        let mut reducer = Self {
            loaded,
            scaled,
            pipeline,
            parts: Vec::new(),
            ready,
            sums: device.buffer(bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST),
            answers: device.buffer(bytes, Usage::MAP_READ | Usage::COPY_DST),
            clock: device.adapter.timestamps.then(|| TimestampPair::new(device)),
            words,
        };
        for batch in reducer.ready.batches(&job.batch, Some(&loaded.labels)) {
            let part = reducer.part(job, &batch, runs)?;
            reducer.parts.push(part);
        }
        device.check()?;
        Ok(reducer)
    }

    /// Returns the bound on the error of a single value of each measure.
    pub fn errors(&self) -> Vec<f64> {
        self.scaled.iter().map(|scaled| scaled.error).collect()
    }

    /// Prepares a batch of tiles in the GPU's memory, and the factors of its queries.
    fn part(&self, job: &Job<'_>, batch: &Batch<'_>, runs: usize) -> Result<LoadedBatch> {
        let device = &self.loaded.gpu.device;
        let largest = BatchCapacity::new(std::slice::from_ref(batch));
        let berth = self.ready.allocate(&largest, true)?;
        self.ready.describe(job, batch, &berth);
        let tiles = batch.spans().len();
        let source = self.loaded.labels.at(batch.spans()[0].offset);
        let folds = self.ready.bind(job.view, tiles, source, &berth);
        let (slots, groups) = (tiles * LANES, (tiles * LANES).div_ceil(ROWS) as u32);
        let rows = rows(batch);
        let runs_of_rows: Vec<u32> =
            rows.iter().map(|row| row.map_or(u32::MAX, |row| batch.run(row) as u32)).collect();
        let runs_of_rows = device.words(&runs_of_rows);
        let mut products = Vec::new();
        for (at, scaled) in self.scaled.iter().enumerate() {
            // Position 0 means "no factors", so two words of padding come first.
            let mut factors = vec![0, 0];
            if scaled.per_query {
                let of_rows =
                    rows.iter().map(|row| row.map_or(0, |row| scaled.factors[batch.query(row)]));
                factors.extend(of_rows.flat_map(split));
            } else if scaled.state == State::FirstRank {
                factors.extend(scaled.factors.iter().copied().flat_map(split));
            }
            let [factor_low, factor_high] = split(scaled.factor(0));
            let product = layout::ProductUniform {
                slots: slots as u32,
                stride: groups.min(self.ready.sizes.groups),
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
            let uniform = device.buffer(
                size_of::<layout::ProductUniform>() as u64,
                Usage::UNIFORM | Usage::COPY_DST,
            );
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

    /// Folds all labels on the GPU; returns each measure's sum over each run's non-empty rankings,
    /// `[measure][run]`.
    ///
    /// # Errors
    /// A device that was lost.
    pub fn sums(&self) -> Result<Vec<Vec<f64>>> {
        let device = &self.loaded.gpu.device;
        let mut encoder = device.encoder();
        // Kernels add to the buffer of the sums, which still holds the sums of an earlier call.
        encoder.clear_buffer(&self.sums, 0, None);
        let timestamp_writes = self.clock.as_ref().map(TimestampPair::writes);
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let mut compute = encoder.begin_compute_pass(&descriptor);
        for part in &self.parts {
            self.ready.dispatch(&part.folds, part.tiles, &mut compute);
            let groups = (part.tiles * LANES).div_ceil(ROWS) as u32;
            let stride = groups.min(self.ready.sizes.groups);
            compute.set_pipeline(&self.pipeline);
            for group in &part.products {
                compute.set_bind_group(0, group, &[]);
                compute.dispatch_workgroups(stride, groups.div_ceil(stride), 1);
            }
        }
        // The pass borrows the encoder until the pass is dropped.
        drop(compute);
        if let Some(clock) = &self.clock {
            clock.resolve(&mut encoder);
        }
        encoder.copy_buffer_to_buffer(&self.sums, 0, &self.answers, 0, self.sums.size());
        let read = [Some(&self.answers), self.clock.as_ref().map(|clock| &clock.read)];
        let read = read.into_iter().flatten().map(|buffer| (buffer, wgpu::MapMode::Read));
        device.finish(device.submit(encoder, read)?)?;
        let words: Vec<u32> = {
            let view = self.answers.get_mapped_range(..).map_err(|error| device.failed(error))?;
            bytemuck::pod_collect_to_vec(&view)
        };
        self.answers.unmap();
        if let Some(clock) = &self.clock {
            self.loaded.gpu.add_spent(clock.elapsed(device)?, [0, 4 * self.words as u64]);
        }
        let runs = self.words / 3 / self.scaled.len().max(1);
        let mut sums = words
            .chunks_exact(3)
            .map(|sum| sum.iter().rev().fold(0, |sum, &word| sum << 32 | u128::from(word)));
        let sums = self
            .scaled
            .iter()
            .map(|scaled| sums.by_ref().take(runs).map(|sum| scaled.sum(sum)).collect());
        Ok(sums.collect())
    }
}

/// Returns the ranking (row of the matrix) of each slot of a batch of tiles, or `None` for an empty
/// slot.
fn rows(batch: &Batch<'_>) -> Vec<Option<u32>> {
    let mut rows = Vec::with_capacity(batch.spans().len() * LANES);
    for tile in batch.tiles() {
        let end = rows.len() + LANES;
        rows.extend(batch.rows(tile).iter().copied().map(Some));
        rows.resize(end, None);
    }
    rows
}
