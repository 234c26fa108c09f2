//! Comparisons as bytes, one file for each kind of format.

mod document;
mod gates;
mod groups;
pub mod json;
pub mod junit;
pub mod long;
mod several;
mod shares;
mod stats;
pub mod table;
mod whole;

pub use stats::of_difference as numbers;
pub use whole::{ComparedGroup, ComparisonReport, GateCase, GroupKind};
