//! The exit codes of `laneval trec-eval`.

/// Wrong usage, or a measure that does not exist.
pub const USAGE: u8 = 1;
/// Input that cannot be read, or a wrong format or cutoff.
pub const INPUT: u8 = 2;
/// A topic that cannot be evaluated.
pub const TOPIC: u8 = 4;
/// No topic in common.
pub const NOTHING: u8 = 7;
