//! The bytes that no row has inside, and the most that a line has.

/// The most bytes of a line. So docnos are shorter than 2³² bytes, and a text without line feeds is
/// refused early.
pub const LONGEST_LINE: usize = 64 << 20;

/// The byte behind each field of rows that were made of another format.
pub const UNIT: u8 = 0x1f;
/// The first byte of a row that reports an error of another format.
pub const WRONG: u8 = 0x1e;
