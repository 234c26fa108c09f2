//! Labels that stay in the memory of a GPU, for repeated evaluation.
//!
//! A buffer holds whole tiles, as many as a binding may reach, because a shader sees one binding
//! and counts its labels in words of 32 bits.

use super::device::Device;
use crate::error::Result;
use crate::matrix::Batch;

/// The tiles of one batch, from the first of its matrix on, in buffers of a GPU's memory.
pub struct ResidentLabels {
    /// Buffers of whole tiles, with the offset of the first label of each.
    buffers: Vec<(u64, wgpu::Buffer)>,
}

/// A GPU buffer with the labels of a batch of tiles, and the word at which the labels begin.
#[derive(Clone, Copy)]
pub(super) struct LabelSource<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub origin: u32,
}

impl ResidentLabels {
    /// Sends the labels of all tiles of a batch to the GPU.
    ///
    /// # Errors
    /// Not enough memory, or a device that was lost.
    pub fn new(device: &Device, batch: &Batch<'_>) -> Result<Self> {
        let limit = device.adapter.binding_bytes.min(device.adapter.buffer_bytes).min(1 << 31);
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for span in batch.spans() {
            match parts.last_mut() {
                Some((start, end)) if span.offset + span.bytes() - *start <= limit => {
                    *end = span.offset + span.bytes()
                }
                _ => parts.push((span.offset, span.offset + span.bytes())),
            }
        }
        let mut buffers = Vec::new();
        for (start, end) in parts {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
            let buffer = device.buffer(end - start, usage);
            if let Some(error) = pollster::block_on(scope.pop()) {
                return Err(
                    device.failed(format!("no room for {} bytes of labels: {error}", end - start))
                );
            }
            // `write_buffer` holds a copy of its bytes until the device has them. With one piece at
            // a time, the host never holds a second copy of all labels.
            const PIECE: usize = 16 << 20;
            let labels = &batch.bytes()[start as usize..end as usize];
            for (at, piece) in labels.chunks(PIECE).enumerate() {
                device.queue.write_buffer(&buffer, (at * PIECE) as u64, piece);
                device.wait(device.queue.submit([]))?;
            }
            buffers.push((start, buffer));
        }
        Ok(Self { buffers })
    }

    /// Returns the GPU buffer and the word of the label with a given offset in the tiles.
    pub(super) fn at(&self, offset: u64) -> LabelSource<'_> {
        let (start, buffer) = &self.buffers[self.buffer(offset)];
        LabelSource { buffer, origin: ((offset - start) / 4) as u32 }
    }

    /// Returns whether the labels at two offsets are in one GPU buffer.
    pub(super) fn together(&self, a: u64, b: u64) -> bool {
        self.buffer(a) == self.buffer(b)
    }

    // Cannot underflow: the first buffer starts with the first tile, at offset 0.
    fn buffer(&self, offset: u64) -> usize {
        self.buffers.partition_point(|(start, _)| *start <= offset) - 1
    }
}
