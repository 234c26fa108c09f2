//! What the host and the shaders agree on: the structs of `common.wgsl`, word for word.

use bytemuck::{Pod, Zeroable};

/// `Batch` of `common.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct BatchUniform {
    /// How many tiles there are.
    pub tiles: u32,
    /// Workgroups in a row of the dispatch.
    pub stride: u32,
    /// No rank below this one counts.
    pub depth: u32,
    /// The length of a column.
    pub slots: u32,
    /// How many cutoffs there are.
    pub cuts: u32,
    /// Ranks above the block of tables.
    pub above: u32,
    /// The rank that ends it.
    pub end: u32,
    /// The first word of the labels in their buffer.
    pub origin: u32,
}

/// `Tile` of `common.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TileEntry {
    /// The first word, from the batch's first.
    pub word: u32,
    /// Its ranks.
    pub depth: u32,
    /// 64 or 16.
    pub lanes: u32,
    /// How many lanes have a row.
    pub rows: u32,
}

/// `Product` of `reduce.wgsl`.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ProductUniform {
    /// The length of a column.
    pub slots: u32,
    /// Workgroups in a row of the dispatch.
    pub stride: u32,
    /// The first column of words of the state.
    pub word: u32,
    /// How the state is read.
    pub state: u32,
    /// Where the factors start; 0 for the same factor everywhere.
    pub factors: u32,
    /// That factor.
    pub factor_low: u32,
    /// And its high half.
    pub factor_high: u32,
    /// The product is divided by 2^shift.
    pub shift: u32,
    /// Where the sums start.
    pub sums: u32,
    /// A first hit below this rank counts for nothing.
    pub deepest: u32,
    /// Nothing.
    pub unused_a: u32,
    /// Nothing.
    pub unused_b: u32,
}
