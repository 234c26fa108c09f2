//! Memory aligned to 64-byte cache lines, in which label tiles are allocated.

/// 64 bytes on a 64-byte boundary (a cache line), of which the memory of label tiles consists.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct AlignedBytes([u8; 64]);
