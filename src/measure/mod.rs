//! Measures: values with a canonical name, and the one table that defines them all.
//!
//! A [`Measure`] is what `nDCG(gain=exp2)@10` means: a row of [`MEASURES`], its parameters, a cutoff. It prints as its canonical
//! name, parses back to the same value, and compares and hashes by it. A [`Recipe`] is what it needs and how it is finished.

mod gain;
mod parse;
mod recipe;
mod table;
mod value;

pub use gain::{Gains, stop_table};
pub use parse::{Defaults, parse, parse_list};
pub use recipe::{Fact, Form, Ideal, Place, Read, RecallRule, Recipe};
pub use table::{MEASURES, definition};
pub use value::{Average, Better, Cutoff, CutoffRule, Definition, Kind, Measure, Param, Value};
