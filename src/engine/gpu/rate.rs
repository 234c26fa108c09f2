//! The measured rates of copies on a GPU and from the GPU to the host: yardsticks for kernels and
//! answers.

use std::time::{Duration, Instant};

use wgpu::BufferUsages as Usage;

use super::Gpu;
use super::device::Device;
use crate::error::Result;

/// The most bytes of a copied buffer, more than any cache holds.
const LARGEST: u64 = 256 << 20;
/// The least time of repeated copies, so long that the cost of a submission does not matter.
const LONG: Duration = Duration::from_millis(50);
/// The number of repetitions, of which the fastest counts.
const REPEATS: usize = 3;

/// A number of bytes moved on or from a GPU, with the shortest time of the move.
#[derive(Debug, Clone, Copy)]
pub struct TransferRate {
    /// The number of bytes that were moved.
    pub bytes: u64,
    /// The shortest time of the move, in seconds.
    pub seconds: f64,
}

impl Gpu {
    /// Measures the rate of copying a large buffer within the GPU's memory. Bytes read and bytes
    /// written both count.
    ///
    /// # Errors
    /// No room for two buffers, or a device that was lost.
    pub fn copy(&self) -> Result<TransferRate> {
        let device = self.device();
        let bytes = largest(device);
        let buffers = room(device, [(bytes, Usage::COPY_SRC), (bytes, Usage::COPY_DST)])?;
        let mut copies = 1;
        while time_copies(device, &buffers, copies)? < LONG && copies < 1 << 12 {
            copies *= 2;
        }
        let seconds = fastest(|| time_copies(device, &buffers, copies))? / f64::from(copies);
        Ok(TransferRate { bytes: 2 * bytes, seconds })
    }

    /// Measures the rate of copying `bytes` bytes, but no more than fit a large buffer, from the
    /// GPU into the host's memory.
    ///
    /// # Errors
    /// As [`Gpu::copy`].
    pub fn read_back(&self, bytes: u64) -> Result<TransferRate> {
        let device = self.device();
        let bytes = bytes.next_multiple_of(16).clamp(16, largest(device));
        let back = Usage::COPY_DST | Usage::MAP_READ;
        let [from, to] = room(device, [(bytes, Usage::COPY_SRC), (bytes, back)])?;
        let mut received = vec![0u8; bytes as usize];
        let seconds = fastest(|| {
            let start = Instant::now();
            let mut encoder = device.encoder();
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
            device.finish(device.submit(encoder, [(&to, wgpu::MapMode::Read)])?)?;
            let view = to.get_mapped_range(..).map_err(|error| device.failed(error))?;
            received.copy_from_slice(&view);
            drop(view);
            to.unmap();
            Ok(start.elapsed())
        })?;
        Ok(TransferRate { bytes, seconds })
    }
}

/// Returns the time that a GPU takes for some copies from the first buffer to the second.
fn time_copies(device: &Device, buffers: &[wgpu::Buffer; 2], copies: u32) -> Result<Duration> {
    let start = Instant::now();
    let [from, to] = buffers;
    let mut encoder = device.encoder();
    (0..copies).for_each(|_| encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size()));
    device.wait(device.queue.submit([encoder.finish()]))?;
    Ok(start.elapsed())
}

fn largest(device: &Device) -> u64 {
    LARGEST.min(device.adapter.buffer_bytes / 16 * 16)
}

/// Makes two GPU buffers, or fails if the device lacks the room.
fn room(device: &Device, buffers: [(u64, Usage); 2]) -> Result<[wgpu::Buffer; 2]> {
    let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffers = buffers.map(|(bytes, usage)| device.buffer(bytes, usage));
    match pollster::block_on(scope.pop()) {
        Some(error) => Err(device.failed(format!("no room to copy in: {error}"))),
        None => Ok(buffers),
    }
}

/// Returns the shortest of several measured times, in seconds.
fn fastest(mut time: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..REPEATS {
        best = best.min(time()?);
    }
    Ok(best.as_secs_f64())
}
