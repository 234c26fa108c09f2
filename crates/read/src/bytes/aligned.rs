//! Memory on the boundaries of cache lines.

/// 64 bytes on a 64-byte boundary: the unit in which owned tiles are allocated.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct AlignedBytes([u8; 64]);
