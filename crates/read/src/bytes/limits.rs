//! The longest line of an input.

/// The most bytes of a line. So docnos are shorter than 2³² bytes, and a text without line feeds is
/// refused early.
pub const MAX_LINE_BYTES: usize = 64 << 20;
