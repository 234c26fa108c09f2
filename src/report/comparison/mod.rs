//! Writers of a comparison of runs, one file for each kind of format.

mod document;
mod gates;
mod groups;
pub mod json;
pub mod junit;
pub mod long_form;
mod report;
mod run_table;
mod shares;
mod stats;
pub mod table;

pub use report::{ComparedGroup, ComparisonReport, GateCase, GroupKind};
pub use stats::difference_stats as numbers;
