//! Batches of whole tiles on their way through a GPU: labels go up, kernels run, and columns of
//! words come back, three batches at a time.
//!
//! Each batch has a reused set of buffers of its own, so memory stays bounded for any size of file.
//! While the device computes a batch, the host copies the next batch from the mapped file and
//! finishes the previous batch.
//!
//! ```text
//! time ─────────────────────────────────────────────►
//! host     copy 1 │ copy 2 │ copy 3 │ finish 1, copy 4 │ finish 2, copy 5 │ …
//! device            kernels 1 │ kernels 2 │ kernels 3 │ kernels 4 …
//! berths     A    │   B    │   C    │        A         │        B
//! ```
//!
//! Three is the least number of batches with which neither host nor device waits: the first comes
//! back, the second is in kernels, the third goes up. Batches are received in order of submission,
//! so answers arrive in the order of tiles.
//!
//! A berth's buffers are made once, for the largest batch, and mapped and unmapped in turns. Labels
//! go through staging buffers of 4 MiB each, because kernels do not read a host-writable buffer
//! fast on every device; several threads fill the staging buffers side by side.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;
use wgpu::{BindGroup, Buffer, BufferUsages as Usage, CommandEncoder, ComputePipeline, MapMode};

use super::device::{Device, PendingCommands};
use super::kernels::{Kernel, kernels};
use super::layout::{self, TileEntry};
use super::resident::{LabelSource, ResidentLabels};
use super::sources::{COMMON, JUDGED};
use super::tasks::IntegerProgram;
use crate::engine::Job;
use crate::error::Result;
use crate::matrix::{Batch, LANES, TileSpan, View};

/// The limits of the work that goes through a GPU at a time: bytes of a batch, workgroups of a
/// dispatch.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The most bytes of labels, and of answers, of a batch; one tile may be larger.
    pub batch: u64,
    /// The most workgroups side by side of a dispatch.
    pub groups: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { batch: 16 << 20, groups: 65_535 }
    }
}

/// The number of batches under way at a time.
const RING: usize = 3;
/// The bytes of a staging buffer. Labels are copied by several threads, each into such a buffer.
const STAGING: u64 = 4 << 20;

/// A program of folds compiled for a GPU: its pipelines, tables and sizes.
pub struct PreparedProgram<'a> {
    device: &'a Device,
    integers: Arc<IntegerProgram>,
    pub(super) sizes: Sizes,
    judged: Option<ComputePipeline>,
    passes: Vec<Pass>,
    /// The number of columns of words, and of what blocks of ranks carry over.
    columns: u32,
}

/// A GPU kernel (compute pipeline) with the tables of one block of ranks.
struct Pass {
    pipeline: ComputePipeline,
    tables: Buffer,
    cutoffs: Buffer,
    cuts: u32,
    ranks: Range<u32>,
}

/// The cost of work on a GPU: the time in kernels, and the bytes sent to and from the GPU.
#[derive(Debug, Clone, Copy, Default)]
pub struct GpuTimings {
    /// The time in kernels, by the device's own clock; zero if it has none.
    pub kernels: Duration,
    /// The bytes of labels sent to the device.
    pub up: u64,
    /// The bytes of answers sent back.
    pub down: u64,
}

/// The result words that a GPU computed for a batch of tiles: `[column][slot]`, with 64 slots a
/// tile.
pub struct BatchResult<'a> {
    /// The tiles of the batch.
    pub tiles: Range<usize>,
    words: Cow<'a, [u32]>,
}

impl BatchResult<'_> {
    /// Returns the result word of a column for one lane (ranking) of the batch's `tile`-th tile.
    pub fn word(&self, column: u32, tile: usize, lane: usize) -> u32 {
        self.words[column as usize * self.tiles.len() * LANES + tile * LANES + lane]
    }
}

/// The GPU buffers of one batch of tiles, for labels, inputs, result columns and answers.
pub(super) struct BatchBuffers {
    staging: Vec<Buffer>,
    labels: Option<Buffer>,
    moved: Option<Buffer>,
    tiles: Buffer,
    inputs: Buffer,
    pub(super) columns: Buffer,
    answers: Buffer,
    /// The uniform of the judged-only view, followed by the uniforms of all passes.
    batches: Vec<Buffer>,
    clock: Option<TimestampPair>,
}

/// Two GPU timestamps around a compute pass, to measure the time in kernels.
pub(super) struct TimestampPair {
    queries: wgpu::QuerySet,
    resolved: Buffer,
    pub(super) read: Buffer,
}

/// A batch of tiles that was submitted to the GPU and not yet received.
struct InFlight {
    tiles: Range<usize>,
    berth: BatchBuffers,
    pending: PendingCommands,
    bytes: [u64; 2],
}

impl<'a> PreparedProgram<'a> {
    /// Compiles the GPU kernels of a program in integers, and sends their tables to the GPU.
    ///
    /// # Errors
    /// A shader that the driver refuses, or no room for the tables.
    pub fn new(
        device: &'a Device,
        integers: Arc<IntegerProgram>,
        view: View,
        sizes: Sizes,
    ) -> Result<Self> {
        let judged = if view.judged_only {
            Some(device.pipeline(&[COMMON, JUDGED].join("\n"), &device.judged)?)
        } else {
            None
        };
        let kernels = kernels(&integers);
        let carried = kernels.iter().map(|kernel| kernel.carried).max().unwrap_or(0);
        let passes = kernels.iter().flat_map(|kernel| {
            kernel.blocks.iter().map(|ranks| Pass::new(device, &integers, kernel, ranks.clone()))
        });
        let passes = passes.collect::<Result<_>>()?;
        device.check()?;
        let columns = integers.words + carried;
        Ok(Self { device, integers, sizes, judged, passes, columns })
    }

    /// Sends the tiles of a job through the GPU, and passes the result words of each batch to
    /// `take`, in order.
    ///
    /// # Errors
    /// Any failure of the device, or an error of `take`.
    pub fn run(
        &self,
        job: &Job<'_>,
        resident: Option<&ResidentLabels>,
        mut take: impl FnMut(BatchResult<'_>) -> Result<()>,
    ) -> Result<GpuTimings> {
        let mut spent = GpuTimings::default();
        let batches = self.batches(&job.batch, resident);
        let largest = BatchCapacity::new(&batches);
        let mut under_way = VecDeque::<InFlight>::new();
        for batch in batches {
            // The next batch takes over the buffers of the batch that was received.
            let berth = if under_way.len() == RING
                && let Some(first) = under_way.pop_front()
            {
                self.receive(first, &mut spent, &mut take)?
            } else {
                self.allocate(&largest, resident.is_some())?
            };
            under_way.push_back(self.submit(job, resident, &batch, berth)?);
        }
        for batch in under_way {
            self.receive(batch, &mut spent, &mut take)?;
        }
        Ok(spent)
    }

    /// Cuts a batch of tiles into smaller batches within the sizes for the GPU. If labels are
    /// resident, each has the labels of one buffer.
    pub(super) fn batches<'b>(
        &self,
        batch: &Batch<'b>,
        resident: Option<&ResidentLabels>,
    ) -> Vec<Batch<'b>> {
        let spans = batch.spans();
        let per_tile =
            u64::from(self.columns.max(self.integers.inputs.len() as u32)) * 4 * LANES as u64;
        let (mut batches, mut from, start) = (Vec::new(), 0, batch.tiles().start);
        while from < spans.len() {
            // A batch has at least one tile, however large: a tile is never cut.
            let (first, mut end) = (spans[from].offset, from + 1);
            while let Some(last) = spans.get(end) {
                let is_together = match resident {
                    Some(resident) => resident.together(first, last.offset),
                    None => last.offset + last.bytes() - first <= self.sizes.batch,
                };
                if !is_together || per_tile * (end + 1 - from) as u64 > self.sizes.batch {
                    break;
                }
                end += 1;
            }
            batches.push(batch.with_tiles(start + from..start + end));
            from = end;
        }
        batches
    }

    /// Makes GPU buffers for batches of tiles up to the largest.
    pub(super) fn allocate(&self, largest: &BatchCapacity, resident: bool) -> Result<BatchBuffers> {
        let device = self.device;
        let input = Usage::STORAGE | Usage::COPY_DST;
        let slots = (largest.tiles * LANES) as u64 * 4;
        let columns = slots * u64::from(self.columns);
        let answers = slots * u64::from(self.integers.words);
        let inputs = slots * self.integers.inputs.len() as u64;
        let staging = STAGING.min(largest.labels);
        let uniform = size_of::<layout::BatchUniform>() as u64;
        let pieces = if resident { 0 } else { largest.labels.div_ceil(STAGING) };
        let berth = BatchBuffers {
            staging: (0..pieces)
                .map(|_| device.buffer(staging, Usage::MAP_WRITE | Usage::COPY_SRC))
                .collect(),
            labels: (!resident).then(|| device.buffer(largest.labels, input)),
            moved: self.judged.as_ref().map(|_| device.buffer(largest.labels, input)),
            tiles: device.buffer((largest.tiles * size_of::<TileEntry>()) as u64, input),
            inputs: device.buffer(inputs, input),
            columns: device.buffer(columns, Usage::STORAGE | Usage::COPY_SRC),
            answers: device.buffer(answers, Usage::MAP_READ | Usage::COPY_DST),
            batches: (0..=self.passes.len())
                .map(|_| device.buffer(uniform, Usage::UNIFORM | Usage::COPY_DST))
                .collect(),
            clock: device.adapter.timestamps.then(|| TimestampPair::new(device)),
        };
        // Labels are written into mapped buffers. `submit` maps the buffers again after each use.
        for staging in &berth.staging {
            staging.map_async(MapMode::Write, .., |_| {});
        }
        device.device.poll(wgpu::PollType::Poll).map_err(|error| device.failed(error))?;
        device.check()?;
        Ok(berth)
    }

    /// Submits one batch of tiles to the GPU: its labels, its kernels, and the copy of its answers.
    fn submit(
        &self,
        job: &Job<'_>,
        resident: Option<&ResidentLabels>,
        batch: &Batch<'_>,
        berth: BatchBuffers,
    ) -> Result<InFlight> {
        let (spans, labels) = (batch.spans(), batch.bytes());
        let mut encoder = self.device.encoder();
        let source = match (resident, &berth.labels) {
            (Some(resident), _) => resident.at(spans[0].offset),
            (None, Some(buffer)) => {
                self.upload(labels, &berth, buffer, &mut encoder)?;
                LabelSource { buffer, origin: 0 }
            }
            (None, None) => return Err(self.device.failed("a batch has no room for its labels")),
        };
        self.describe(job, batch, &berth);
        self.encode(job.view, spans, source, &berth, &mut encoder);
        let words = u64::from(self.integers.words) * (spans.len() * LANES) as u64 * 4;
        if words > 0 {
            encoder.copy_buffer_to_buffer(&berth.columns, 0, &berth.answers, 0, words);
        }
        let read = [Some(&berth.answers), berth.clock.as_ref().map(|clock| &clock.read)];
        let read = read.into_iter().flatten().map(|buffer| (buffer, MapMode::Read));
        let written = berth.staging.iter().map(|staging| (staging, MapMode::Write));
        let pending = self.device.submit(encoder, read.chain(written))?;
        let up = if resident.is_some() { 0 } else { labels.len() as u64 };
        Ok(InFlight { tiles: batch.tiles(), berth, pending, bytes: [up, words] })
    }

    /// Copies the labels of a batch of tiles into staging buffers, and from there into the batch's
    /// GPU buffer.
    fn upload(
        &self,
        labels: &[u8],
        berth: &BatchBuffers,
        buffer: &Buffer,
        encoder: &mut CommandEncoder,
    ) -> Result<()> {
        let pieces: Vec<&[u8]> = labels.chunks(STAGING as usize).collect();
        berth.staging.par_iter().zip(&pieces).try_for_each(|(staging, piece)| -> Result<()> {
            let mut view = staging
                .get_mapped_range_mut(..piece.len() as u64)
                .map_err(|error| self.device.failed(error))?;
            view.copy_from_slice(piece);
            Ok(())
        })?;
        berth.staging.iter().for_each(Buffer::unmap);
        for (at, (staging, piece)) in berth.staging.iter().zip(pieces).enumerate() {
            encoder.copy_buffer_to_buffer(
                staging,
                0,
                buffer,
                at as u64 * STAGING,
                piece.len() as u64,
            );
        }
        Ok(())
    }

    /// Encodes all GPU kernels over a batch of tiles as one compute pass.
    fn encode(
        &self,
        view: View,
        spans: &[TileSpan],
        source: LabelSource<'_>,
        berth: &BatchBuffers,
        encoder: &mut CommandEncoder,
    ) {
        let groups = self.bind(view, spans.len(), source, berth);
        let timestamp_writes = berth.clock.as_ref().map(TimestampPair::writes);
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        self.dispatch(&groups, spans.len(), &mut encoder.begin_compute_pass(&descriptor));
        if let Some(clock) = &berth.clock {
            clock.resolve(encoder);
        }
    }

    /// Binds the GPU buffers of one batch of tiles for each kernel.
    pub(super) fn bind(
        &self,
        view: View,
        tiles: usize,
        source: LabelSource<'_>,
        berth: &BatchBuffers,
    ) -> Vec<BindGroup> {
        let tiles = tiles as u32;
        let mut batch = layout::BatchUniform {
            tiles,
            stride: tiles.min(self.sizes.groups),
            // Bytes of a damaged file in the padding behind its deepest row are no labels.
            depth: view.depth.unwrap_or(u32::MAX).min(self.integers.depth),
            slots: tiles * LANES as u32,
            cuts: 0,
            above: 0,
            end: u32::MAX,
            origin: source.origin,
        };
        // Each pass has a uniform of its own, as all writes to the queue happen before any pass of
        // the submission runs.
        let mut groups = Vec::with_capacity(1 + self.passes.len());
        let mut labels = source.buffer;
        if let (Some(_), Some(moved)) = (&self.judged, &berth.moved) {
            let bindings = [(1, &berth.tiles), (2, labels), (7, moved)];
            let layout = &self.device.judged;
            groups.push(self.bind_pass(&berth.batches[0], batch, &bindings, layout));
            labels = moved;
            // The labels of the view begin at the first word of a buffer of their own.
            batch.origin = 0;
        }
        for pass in &self.passes {
            let batch = layout::BatchUniform {
                cuts: pass.cuts,
                above: pass.ranks.start,
                end: pass.ranks.end,
                ..batch
            };
            let bindings = [
                (1, &berth.tiles),
                (2, labels),
                (3, &pass.tables),
                (4, &pass.cutoffs),
                (5, &berth.inputs),
                (6, &berth.columns),
            ];
            let uniform = &berth.batches[groups.len()];
            groups.push(self.bind_pass(uniform, batch, &bindings, &self.device.folds));
        }
        groups
    }

    /// Writes the uniform (parameters) of a GPU kernel pass, and binds it with the other buffers of
    /// the pass.
    fn bind_pass(
        &self,
        uniform: &Buffer,
        batch: layout::BatchUniform,
        bindings: &[(u32, &Buffer)],
        layout: &wgpu::BindGroupLayout,
    ) -> BindGroup {
        self.device.queue.write_buffer(uniform, 0, bytemuck::bytes_of(&batch));
        self.device.bind(layout, &[&[(0, uniform)], bindings].concat())
    }

    /// Dispatches all GPU kernels over a batch of `tiles` tiles.
    pub(super) fn dispatch(
        &self,
        groups: &[BindGroup],
        tiles: usize,
        compute: &mut wgpu::ComputePass,
    ) {
        let stride = (tiles as u32).min(self.sizes.groups);
        let pipelines = self.judged.iter().chain(self.passes.iter().map(|pass| &pass.pipeline));
        for (pipeline, group) in pipelines.zip(groups) {
            compute.set_pipeline(pipeline);
            compute.set_bind_group(0, group, &[]);
            compute.dispatch_workgroups(stride, (tiles as u32).div_ceil(stride), 1);
        }
    }

    /// Sends the table of a batch's tiles, and the input numbers of its rankings' queries, to the
    /// GPU.
    pub(super) fn describe(&self, job: &Job<'_>, batch: &Batch<'_>, berth: &BatchBuffers) {
        let queue = &self.device.queue;
        queue.write_buffer(&berth.tiles, 0, bytemuck::cast_slice(&tile_table(batch.spans())));
        queue.write_buffer(&berth.inputs, 0, bytemuck::cast_slice(&self.inputs(job, batch)));
    }

    /// Returns the numbers of the queries, such as cutoffs, that the GPU kernels read for a batch's
    /// rankings, `[input][slot]`.
    fn inputs(&self, job: &Job<'_>, batch: &Batch<'_>) -> Vec<u32> {
        let mut words =
            Vec::with_capacity(self.integers.inputs.len() * batch.spans().len() * LANES);
        for &input in &self.integers.inputs {
            let input = &job.inputs[input];
            for tile in batch.tiles() {
                let end = words.len() + LANES;
                words.extend(batch.rows(tile).iter().map(|&row| input[batch.judgments(row)]));
                // Even a tile of 16 lanes takes 64 slots: the slot of a lane is tile · 64 + lane.
                words.resize(end, 0);
            }
        }
        words
    }

    /// Waits for a submitted batch of tiles, passes its result words to `take`, and returns its
    /// buffers.
    fn receive(
        &self,
        batch: InFlight,
        spent: &mut GpuTimings,
        take: &mut impl FnMut(BatchResult<'_>) -> Result<()>,
    ) -> Result<BatchBuffers> {
        let InFlight { tiles, berth, pending, bytes } = batch;
        self.device.finish(pending)?;
        spent.up += bytes[0];
        spent.down += bytes[1];
        if let Some(clock) = &berth.clock {
            spent.kernels += clock.elapsed(self.device)?;
        }
        // The view must end before the buffer is unmapped, hence the block.
        {
            // No buffer has less than 16 bytes.
            let view = berth
                .answers
                .get_mapped_range(..bytes[1].max(16))
                .map_err(|error| self.device.failed(error))?;
            // Mapped memory need not be aligned for words on every backend: then it is copied.
            let words = bytemuck::try_cast_slice(&view)
                .map_or_else(|_| Cow::Owned(bytemuck::pod_collect_to_vec(&view)), Cow::Borrowed);
            take(BatchResult { tiles, words })?;
        }
        berth.answers.unmap();
        Ok(berth)
    }
}

impl Pass {
    fn new(
        device: &Device,
        integers: &IntegerProgram,
        kernel: &Kernel,
        ranks: Range<u32>,
    ) -> Result<Self> {
        Ok(Pass {
            pipeline: device.pipeline(&kernel.source, &device.folds)?,
            tables: device.words(&kernel.tables(integers, ranks.clone())),
            cutoffs: device.words(&kernel.cutoffs),
            cuts: kernel.cuts,
            ranks,
        })
    }
}

impl TimestampPair {
    pub(super) fn new(device: &Device) -> Self {
        let descriptor =
            wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        Self {
            queries: device.device.create_query_set(&descriptor),
            resolved: device.buffer(16, Usage::QUERY_RESOLVE | Usage::COPY_SRC),
            read: device.buffer(16, Usage::MAP_READ | Usage::COPY_DST),
        }
    }

    pub(super) fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Encodes the copy of the two GPU timestamps into a readable buffer, once the pass is done.
    pub(super) fn resolve(&self, encoder: &mut CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, 16);
    }

    /// Returns the time between the two GPU timestamps, and prepares for the next pass.
    pub(super) fn elapsed(&self, device: &Device) -> Result<Duration> {
        let ticks: Vec<u64> = {
            let view = self.read.get_mapped_range(..).map_err(|error| device.failed(error))?;
            bytemuck::pod_collect_to_vec(&view)
        };
        self.read.unmap();
        let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64
            * f64::from(device.queue.get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}

/// The largest numbers of label bytes and of tiles in any batch, for which GPU buffers are made.
pub(super) struct BatchCapacity {
    labels: u64,
    tiles: usize,
}

impl BatchCapacity {
    pub(super) fn new(batches: &[Batch<'_>]) -> Self {
        Self {
            labels: batches.iter().map(|batch| batch.bytes().len() as u64).max().unwrap_or(0),
            tiles: batches.iter().map(|batch| batch.spans().len()).max().unwrap_or(0),
        }
    }
}

/// Returns the table of the tiles of a batch for the GPU shaders: place, depth, lanes and rows of
/// each.
fn tile_table(spans: &[TileSpan]) -> Vec<TileEntry> {
    let origin = spans.first().map_or(0, |first| first.offset);
    let entries = spans.iter().map(|span| TileEntry {
        word: ((span.offset - origin) / 4) as u32,
        depth: span.depth,
        lanes: span.lanes,
        rows: span.rows,
    });
    entries.collect()
}
