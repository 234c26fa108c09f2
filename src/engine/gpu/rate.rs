//! The rates of copies on a device and from the device to the host: yardsticks for kernels and
//! answers.

use std::time::{Duration, Instant};

use super::Gpu;
use super::device::Device;
use crate::error::Result;

/// The most bytes of a copied buffer, more than any cache holds.
const LARGEST: u64 = 256 << 20;
/// The least time of repeated copies, so long that the cost of a submission does not matter.
const LONG: Duration = Duration::from_millis(50);
/// The number of repetitions, of which the fastest counts.
const REPEATS: usize = 3;

/// A number of moved bytes, with the shortest time of the move.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    /// The number of bytes that were moved.
    pub bytes: u64,
    /// The shortest time of the move, in seconds.
    pub seconds: f64,
}

impl Gpu {
    /// Copies a large buffer on the device. Bytes read and bytes written both count.
    ///
    /// # Errors
    /// No room for two buffers, or a device that was lost.
    pub fn copy(&self) -> Result<Moved> {
        use wgpu::BufferUsages as Usage;
        let device = self.device();
        let bytes = largest(device);
        let [from, to] = room(device, [(bytes, Usage::COPY_SRC), (bytes, Usage::COPY_DST)])?;
        let time = |copies: u32| {
            let start = Instant::now();
            let mut encoder =
                device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            (0..copies).for_each(|_| encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes));
            device.wait(device.queue.submit([encoder.finish()]))?;
            Ok(start.elapsed())
        };
        let mut copies = 1;
        while time(copies)? < LONG && copies < 1 << 12 {
            copies *= 2;
        }
        let seconds = fastest(|| time(copies))? / f64::from(copies);
        Ok(Moved { bytes: 2 * bytes, seconds })
    }

    /// Copies `bytes` bytes, but no more than fit a large buffer, from the device into the host's
    /// memory.
    ///
    /// # Errors
    /// As [`Gpu::copy`].
    pub fn bring_back(&self, bytes: u64) -> Result<Moved> {
        use wgpu::BufferUsages as Usage;
        let device = self.device();
        let bytes = bytes.next_multiple_of(16).clamp(16, largest(device));
        let back = Usage::COPY_DST | Usage::MAP_READ;
        let [from, to] = room(device, [(bytes, Usage::COPY_SRC), (bytes, back)])?;
        let mut received = vec![0u8; bytes as usize];
        let seconds = fastest(|| {
            let start = Instant::now();
            let mut encoder =
                device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
            device.finish(device.submit(encoder, [(&to, wgpu::MapMode::Read)])?)?;
            let view =
                to.get_mapped_range(..).map_err(|error| device.failed(&error.to_string()))?;
            received.copy_from_slice(&view);
            drop(view);
            to.unmap();
            Ok(start.elapsed())
        })?;
        Ok(Moved { bytes, seconds })
    }
}

fn largest(device: &Device) -> u64 {
    LARGEST.min(device.adapter.buffer_bytes / 16 * 16)
}

/// Makes two buffers, or fails if the device lacks the room.
fn room(device: &Device, buffers: [(u64, wgpu::BufferUsages); 2]) -> Result<[wgpu::Buffer; 2]> {
    let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffers = buffers.map(|(bytes, usage)| device.buffer(bytes, usage));
    match pollster::block_on(scope.pop()) {
        Some(error) => Err(device.failed(&format!("no room to copy in: {error}"))),
        None => Ok(buffers),
    }
}

/// The shortest of several times, in seconds.
fn fastest(mut time: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..REPEATS {
        best = best.min(time()?);
    }
    Ok(best.as_secs_f64())
}
