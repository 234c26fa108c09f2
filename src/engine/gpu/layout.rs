//! The structs that the host and the GPU shaders (`common.wgsl`, `reduce.wgsl`) share word for
//! word.
//!
//! Every field is a u32, so host and shader agree on offsets without any padding rule; uniforms are
//! multiples of 16 bytes long.

use bytemuck::{Pod, Zeroable};

/// The parameters of a GPU kernel over a batch of tiles, as struct `Batch` of `common.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct BatchUniform {
    /// The number of tiles.
    pub tiles: u32,
    /// The number of workgroups in a row of the dispatch.
    pub stride: u32,
    /// The deepest rank that counts.
    pub depth: u32,
    /// The length of a column, in slots.
    pub slots: u32,
    /// The number of cutoffs.
    pub cuts: u32,
    /// The number of ranks above the block of tables.
    pub above: u32,
    /// The last rank of the block of tables.
    pub end: u32,
    /// The index of the first word of the labels in their buffer.
    pub origin: u32,
}

/// The place and shape of one tile among the labels of a batch, as struct `Tile` of `common.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TileEntry {
    /// The index of the first word, from the batch's first.
    pub word: u32,
    /// The number of ranks.
    pub depth: u32,
    /// The number of lanes: 64 or 16.
    pub lanes: u32,
    /// The number of lanes that have a row.
    pub rows: u32,
}

/// The parameters of a measure's sum over rankings on the GPU, as struct `Product` of
/// `reduce.wgsl`.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ProductUniform {
    /// The length of a column, in slots.
    pub slots: u32,
    /// The number of workgroups in a row of the dispatch.
    pub stride: u32,
    /// The first column of words of the state.
    pub word: u32,
    /// The way in which the state is read.
    pub state: u32,
    /// The start of the factors by query; 0 if one factor serves all queries.
    pub factors: u32,
    /// The low half of the factor for all queries.
    pub factor_low: u32,
    /// The high half of the factor for all queries.
    pub factor_high: u32,
    /// The shift: the product is divided by 2^shift.
    pub shift: u32,
    /// The start of the sums.
    pub sums: u32,
    /// The deepest rank at which a first hit counts.
    pub deepest: u32,
    /// Padding.
    pub unused_a: u32,
    /// Padding.
    pub unused_b: u32,
}
