//! Measures: values with a canonical name, and the table of all definitions.
//!
//! A [`Measure`] is the meaning of `nDCG(gain=exp2)@10`: a row of [`MEASURES`], its parameters, and
//! a cutoff. A measure prints as its canonical name, and the name parses back to an equal measure.
//! Comparing and hashing use the name. A recipe lists the inputs of a measure and its last step.

mod draft;
mod foreign;
mod grammar;
mod ideal;
mod no_relevant;
mod params;
mod parse;
pub(super) mod powers;
mod profile;
mod query_constants;
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
pub use foreign::{FOREIGN, ForeignMeasure, SETS, Suffix};
pub(crate) use ideal::IdealRanking;
pub use no_relevant::NoRelevant;
pub use params::{
    Cutoff, CutoffRule, JUDGES, NO_RELEVANT, Param, ParamKind, ParamValue, parse_level,
};
pub use parse::{items_with_prefix, parse, parse_list, parse_with_definitions};
pub use profile::{Profile, Provenance, Tool};
pub(crate) use query_constants::QueryConstant;
pub(crate) use recall::RecallRule;
pub(crate) use recipe::{LastStep, ReadCutoff, Recipe, RecipeInput};
pub use suffix::SuffixNumbers;
pub use table::{MEASURES, definition};
pub use traits::{ExpectationRule, JudgmentNeeds, Range, Status};
pub use value::{Average, BestOrder, Definition, Direction, Measure, Traits, facets_needed};
