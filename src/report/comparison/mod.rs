//! Comparisons as bytes, one file for each kind of format.

mod document;
pub mod json;
pub mod long;
mod stats;
pub mod table;

pub use stats::of_difference as numbers;
