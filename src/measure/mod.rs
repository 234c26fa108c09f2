//! Measures: values with a canonical name, and the table of all definitions.
//!
//! A [`Measure`] is the meaning of `nDCG(gain=exp2)@10`: a row of [`MEASURES`], its parameters, and
//! a cutoff. A measure prints as its canonical name, and the name parses back to an equal measure.
//! Comparing and hashing use the name. A recipe lists the inputs of a measure and its last step.

mod draft;
mod facts;
mod foreign;
mod grammar;
mod ideal;
mod nothing;
mod params;
mod parse;
pub(super) mod powers;
mod profile;
mod recall;
pub(crate) mod recipe;
mod resolve;
mod suffix;
mod suggest;
pub(crate) mod table;
mod traits;
pub mod trec;
mod value;

pub use crate::facets::Judges;
pub use draft::Defaults;
pub(crate) use facts::Fact;
pub use foreign::{FOREIGN, Foreign, SETS, Suffix};
pub(crate) use ideal::IdealRanking;
pub use nothing::OfNothing;
pub use params::{Cutoff, CutoffRule, JUDGES, Kind, NOTHING, Param, Value, parse_level};
pub use parse::{meanings, parse, parse_list, prefixed};
pub use profile::{Profile, Seen, Tool};
pub(crate) use recall::RecallRule;
pub(crate) use recipe::{Last, Place, Read, Recipe};
pub use suffix::SuffixNumbers;
pub use table::{MEASURES, definition};
pub use traits::{Expected, JudgmentInput, Range, Status};
pub use value::{Average, BestOrder, Better, Definition, Measure, Traits, facets_needed};
