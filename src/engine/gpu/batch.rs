//! Batches of whole tiles on their way through a device: labels go up, kernels run, and columns of
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

use super::device::{Device, PendingCommands};
use super::kernels::{Kernel, kernels};
use super::layout::{self, TileEntry};
use super::resident::ResidentLabels;
use super::sources::{COMMON, JUDGED};
use super::tasks::IntegerProgram;
use crate::engine::Job;
use crate::error::Result;
use crate::matrix::{Batch, LANES, TileSpan, View};

/// The sizes of the work that goes through a device at a time.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The most bytes of labels, and of answers, of a batch; one tile may be larger.
    pub batch: u64,
    /// The most workgroups side by side of a dispatch.
    pub groups: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { batch: 16 << 20, groups: 65_535 }
    }
}

/// The number of batches under way at a time.
const RING: usize = 3;
/// The bytes of a staging buffer. Labels are copied by several threads, each into such a buffer.
const STAGING: u64 = 4 << 20;

/// A program prepared for a device.
pub struct Ready<'a> {
    device: &'a Device,
    integers: Arc<IntegerProgram>,
    sizes: Sizes,
    judged: Option<wgpu::ComputePipeline>,
    passes: Vec<Pass>,
    /// The number of columns of words, and of what blocks of ranks carry over.
    columns: u32,
}

/// A kernel with the tables of one block of ranks.
struct Pass {
    pipeline: wgpu::ComputePipeline,
    tables: wgpu::Buffer,
    cutoffs: wgpu::Buffer,
    cuts: u32,
    ranks: Range<u32>,
}

/// The cost of a batch of tiles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// The time in kernels, by the device's own clock; zero if it has none.
    pub kernels: Duration,
    /// The bytes of labels sent to the device.
    pub up: u64,
    /// The bytes of answers sent back.
    pub down: u64,
}

/// The words of a batch: `[column][slot]`, with 64 slots a tile.
pub struct Answer<'a> {
    /// The tiles of the batch.
    pub tiles: Range<usize>,
    words: Cow<'a, [u32]>,
}

impl Answer<'_> {
    /// The word of a column for a lane of the batch's `tile`-th tile.
    pub fn word(&self, column: u32, tile: usize, lane: usize) -> u32 {
        self.words[column as usize * self.tiles.len() * LANES + tile * LANES + lane]
    }
}

/// The buffers of one batch.
pub(super) struct Berth {
    staging: Vec<wgpu::Buffer>,
    labels: Option<wgpu::Buffer>,
    moved: Option<wgpu::Buffer>,
    tiles: wgpu::Buffer,
    inputs: wgpu::Buffer,
    pub(super) columns: wgpu::Buffer,
    answers: wgpu::Buffer,
    /// The uniform of the judged-only view, followed by the uniforms of all passes.
    batches: Vec<wgpu::Buffer>,
    clock: Option<Clock>,
}

/// Two timestamps around a pass.
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    pub(super) read: wgpu::Buffer,
}

/// A batch that was submitted.
struct Submitted {
    tiles: Range<usize>,
    berth: Berth,
    pending: PendingCommands,
    bytes: [u64; 2],
}

impl<'a> Ready<'a> {
    /// Makes the kernels of a program in integers.
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
        Ok(Ready { device, integers, sizes, judged, passes, columns })
    }

    /// Sends tiles through the device, and passes the words of each batch to `take`, in order.
    ///
    /// # Errors
    /// Any failure of the device, or an error of `take`.
    pub fn run(
        &self,
        job: &Job<'_>,
        resident: Option<&ResidentLabels>,
        mut take: impl FnMut(Answer<'_>) -> Result<()>,
    ) -> Result<Spent> {
        let mut spent = Spent::default();
        let batches = self.batches(&job.batch, resident);
        let largest = Largest::of(&batches);
        let (mut free, mut under_way) = (Vec::new(), VecDeque::<Submitted>::new());
        for batch in batches {
            if under_way.len() == RING {
                free.extend(
                    under_way
                        .pop_front()
                        .map(|first| self.receive(first, &mut spent, &mut take))
                        .transpose()?,
                );
            }
            let berth = match free.pop() {
                Some(berth) => berth,
                None => self.berth(&largest, resident.is_some())?,
            };
            under_way.push_back(self.submit(job, resident, &batch, berth)?);
        }
        for batch in under_way {
            self.receive(batch, &mut spent, &mut take)?;
        }
        Ok(spent)
    }

    /// Cuts a batch into batches within the sizes. If labels are resident, each has the labels of
    /// one buffer.
    pub(super) fn batches<'b>(
        &self,
        batch: &Batch<'b>,
        resident: Option<&ResidentLabels>,
    ) -> Vec<Batch<'b>> {
        let spans = batch.spans();
        let per_tile =
            u64::from(self.columns.max(self.integers.inputs.len() as u32)) * 4 * LANES as u64;
        let fits = |from: usize, end: usize| {
            // A batch has at least one tile, however large: a tile is never cut.
            let labels = spans[end - 1].offset + spans[end - 1].bytes() - spans[from].offset;
            let together = match resident {
                Some(resident) => resident.together(spans[from].offset, spans[end - 1].offset),
                None => labels <= self.sizes.batch,
            };
            together && per_tile * (end - from) as u64 <= self.sizes.batch
        };
        let (mut batches, mut from, start) = (Vec::new(), 0, batch.tiles().start);
        while from < spans.len() {
            let mut end = from + 1;
            while end < spans.len() && fits(from, end + 1) {
                end += 1;
            }
            batches.push(batch.of_tiles(start + from..start + end));
            from = end;
        }
        batches
    }

    /// Makes buffers for batches up to the largest.
    pub(super) fn berth(&self, largest: &Largest, resident: bool) -> Result<Berth> {
        use wgpu::BufferUsages as Usage;
        let device = self.device;
        let labels = |wanted: bool| {
            wanted.then(|| device.buffer(largest.labels, Usage::STORAGE | Usage::COPY_DST))
        };
        let slots = (largest.tiles * LANES) as u64 * 4;
        let columns = slots * u64::from(self.columns);
        let answers = slots * u64::from(self.integers.words);
        let inputs = slots * self.integers.inputs.len() as u64;
        let staging =
            |_| device.buffer(STAGING.min(largest.labels), Usage::MAP_WRITE | Usage::COPY_SRC);
        let pieces = if resident { 0 } else { largest.labels.div_ceil(STAGING) };
        let berth = Berth {
            staging: (0..pieces).map(staging).collect(),
            labels: labels(!resident),
            moved: labels(self.judged.is_some()),
            tiles: device.buffer(
                (largest.tiles * size_of::<TileEntry>()) as u64,
                Usage::STORAGE | Usage::COPY_DST,
            ),
            inputs: device.buffer(inputs, Usage::STORAGE | Usage::COPY_DST),
            columns: device.buffer(columns, Usage::STORAGE | Usage::COPY_SRC),
            answers: device.buffer(answers, Usage::MAP_READ | Usage::COPY_DST),
            batches: (0..=self.passes.len())
                .map(|_| {
                    device.buffer(
                        size_of::<layout::BatchUniform>() as u64,
                        Usage::UNIFORM | Usage::COPY_DST,
                    )
                })
                .collect(),
            clock: device.adapter.timestamps.then(|| Clock::new(device)),
        };
        for staging in &berth.staging {
            staging.map_async(wgpu::MapMode::Write, .., |_| {});
        }
        device
            .device
            .poll(wgpu::PollType::Poll)
            .map_err(|error| device.failed(&error.to_string()))?;
        device.check()?;
        Ok(berth)
    }

    /// Submits one batch.
    fn submit(
        &self,
        job: &Job<'_>,
        resident: Option<&ResidentLabels>,
        batch: &Batch<'_>,
        berth: Berth,
    ) -> Result<Submitted> {
        let (spans, labels) = (batch.spans(), batch.bytes());
        let device = &self.device.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let (source, origin) = match (resident, &berth.labels) {
            (Some(resident), _) => resident.at(spans[0].offset),
            (None, Some(buffer)) => {
                self.upload(labels, &berth, buffer, &mut encoder)?;
                (buffer, 0)
            }
            (None, None) => return Err(self.device.failed("a batch has no room for its labels")),
        };
        self.describe(job, batch, &berth);
        self.encode(job.view, spans, (source, origin), &berth, &mut encoder);
        let words = u64::from(self.integers.words) * (spans.len() * LANES) as u64 * 4;
        if words > 0 {
            encoder.copy_buffer_to_buffer(&berth.columns, 0, &berth.answers, 0, words);
        }
        let read = [Some(&berth.answers), berth.clock.as_ref().map(|clock| &clock.read)];
        let read = read.into_iter().flatten().map(|buffer| (buffer, wgpu::MapMode::Read));
        let written = berth.staging.iter().map(|staging| (staging, wgpu::MapMode::Write));
        let pending = self.device.submit(encoder, read.chain(written))?;
        let up = if resident.is_some() { 0 } else { labels.len() as u64 };
        Ok(Submitted { tiles: batch.tiles(), berth, pending, bytes: [up, words] })
    }

    /// Copies labels into staging buffers, and from there into the batch's buffer.
    fn upload(
        &self,
        labels: &[u8],
        berth: &Berth,
        buffer: &wgpu::Buffer,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<()> {
        let pieces = labels.chunks(STAGING as usize);
        berth.staging.par_iter().zip(pieces.collect::<Vec<_>>()).try_for_each(
            |(staging, piece)| {
                let mut view = staging
                    .get_mapped_range_mut(..piece.len() as u64)
                    .map_err(|error| self.device.failed(&error.to_string()))?;
                view.copy_from_slice(piece);
                Ok::<(), crate::error::Error>(())
            },
        )?;
        berth.staging.iter().for_each(wgpu::Buffer::unmap);
        for (at, (staging, piece)) in
            berth.staging.iter().zip(labels.chunks(STAGING as usize)).enumerate()
        {
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

    /// Encodes all kernels over a batch as one compute pass.
    fn encode(
        &self,
        view: View,
        spans: &[TileSpan],
        source: (&wgpu::Buffer, u32),
        berth: &Berth,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        let groups = self.bind(view, spans.len(), source, berth);
        let timestamp_writes = berth.clock.as_ref().map(Clock::writes);
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        self.dispatch(&groups, spans.len(), &mut encoder.begin_compute_pass(&descriptor));
        if let Some(clock) = &berth.clock {
            clock.resolve(encoder);
        }
    }

    /// Binds the buffers of one batch for each kernel. Its labels are in `source`, from word
    /// `origin` on.
    pub(super) fn bind(
        &self,
        view: View,
        tiles: usize,
        (source, origin): (&wgpu::Buffer, u32),
        berth: &Berth,
    ) -> Vec<wgpu::BindGroup> {
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
            origin,
        };
        let mut uniforms = berth.batches.iter();
        let mut group = |batch: layout::BatchUniform,
                         bindings: &[(u32, &wgpu::Buffer)],
                         layout: &wgpu::BindGroupLayout| {
            // Each pass has a uniform of its own, as all writes to the queue happen before any pass
            // of the submission runs.
            let uniform = uniforms.next().unwrap_or(&berth.batches[0]);
            self.device.queue.write_buffer(uniform, 0, bytemuck::bytes_of(&batch));
            self.device.bind(layout, &[&[(0, uniform)], bindings].concat())
        };
        let mut groups = Vec::with_capacity(1 + self.passes.len());
        let mut labels = source;
        if let (Some(_), Some(moved)) = (&self.judged, &berth.moved) {
            groups.push(group(
                batch,
                &[(1, &berth.tiles), (2, source), (7, moved)],
                &self.device.judged,
            ));
            labels = moved;
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
            groups.push(group(batch, &bindings, &self.device.folds));
        }
        groups
    }

    /// Dispatches all kernels over a batch of `tiles` tiles.
    pub(super) fn dispatch(
        &self,
        groups: &[wgpu::BindGroup],
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

    /// Writes the places of the tiles of a batch, and the numbers of the queries of its rows.
    pub(super) fn describe(&self, job: &Job<'_>, batch: &Batch<'_>, berth: &Berth) {
        let queue = &self.device.queue;
        queue.write_buffer(&berth.tiles, 0, bytemuck::cast_slice(&tile_table(batch.spans())));
        queue.write_buffer(&berth.inputs, 0, bytemuck::cast_slice(&self.inputs(job, batch)));
    }

    /// The inputs of a batch, `[input][slot]`.
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

    /// Waits for a batch, and passes its words on.
    fn receive(
        &self,
        batch: Submitted,
        spent: &mut Spent,
        take: &mut impl FnMut(Answer<'_>) -> Result<()>,
    ) -> Result<Berth> {
        let Submitted { tiles, berth, pending, bytes } = batch;
        self.device.finish(pending)?;
        spent.up += bytes[0];
        spent.down += bytes[1];
        if let Some(clock) = &berth.clock {
            spent.kernels += clock.elapsed(self.device)?;
        }
        let failed = |error: wgpu::MapRangeError| self.device.failed(&error.to_string());
        {
            // No buffer has less than 16 bytes.
            let view = berth.answers.get_mapped_range(..bytes[1].max(16)).map_err(failed)?;
            // Mapped memory need not be aligned for words on every backend: then it is copied.
            let words = bytemuck::try_cast_slice(&view)
                .map_or_else(|_| Cow::Owned(bytemuck::pod_collect_to_vec(&view)), Cow::Borrowed);
            take(Answer { tiles, words })?;
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

impl Clock {
    pub(super) fn new(device: &Device) -> Self {
        use wgpu::BufferUsages as Usage;
        let descriptor =
            wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        Clock {
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

    /// Fetches the two timestamps once the pass is done.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, 16);
    }

    /// Reads the time between the two timestamps, and prepares for the next pass.
    pub(super) fn elapsed(&self, device: &Device) -> Result<Duration> {
        let ticks: Vec<u64> = {
            let view = self
                .read
                .get_mapped_range(..)
                .map_err(|error| device.failed(&error.to_string()))?;
            bytemuck::pod_collect_to_vec(&view)
        };
        self.read.unmap();
        let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64
            * f64::from(device.queue.get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}

/// The largest batch in labels and in tiles.
pub(super) struct Largest {
    labels: u64,
    tiles: usize,
}

impl Largest {
    pub(super) fn of(batches: &[Batch<'_>]) -> Self {
        Largest {
            labels: batches.iter().map(|batch| batch.bytes().len() as u64).max().unwrap_or(0),
            tiles: batches.iter().map(|batch| batch.spans().len()).max().unwrap_or(0),
        }
    }
}

/// The places of the tiles of a batch.
fn tile_table(spans: &[TileSpan]) -> Vec<TileEntry> {
    let origin = spans.first().map_or(0, |first| first.offset);
    let tile = |span: &TileSpan| TileEntry {
        word: ((span.offset - origin) / 4) as u32,
        depth: span.depth,
        lanes: span.lanes,
        rows: span.rows,
    };
    spans.iter().map(tile).collect()
}
