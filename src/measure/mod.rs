//! Measures: values with a canonical name, and the one table that defines them all.
//!
//! A [`Measure`] is the meaning of `nDCG(gain=exp2)@10`: a row of [`MEASURES`], its parameters, and a cutoff. It prints as its canonical
//! name, parses back to the same value, and compares and hashes by it. A recipe says what a measure reads and how it is finished.

mod foreign;
mod grammar;
mod parse;
pub(super) mod powers;
pub(crate) mod recipe;
mod resolve;
mod suffix;
mod suggest;
pub(crate) mod table;
mod traits;
pub mod trec;
mod value;

pub use crate::groups::Judges;
pub use foreign::{FOREIGN, Foreign, SETS, Suffix, Tool};
pub use parse::{meanings, parse, parse_list};
pub(crate) use recipe::{Fact, IdealRanking, Last, Place, Read, RecallRule, Recipe};
pub use suffix::Numbers;
pub use table::{MEASURES, definition};
pub use traits::{Expected, Input, Range, Status};
#[allow(deprecated)] // the old name stays for a version
pub use value::groups_needed;
pub use value::{
    Average, BestOrder, Better, Cutoff, CutoffRule, Defaults, Definition, Kind, Measure, Param, Traits, Value,
};
pub use value::{JUDGES, facets_needed};
