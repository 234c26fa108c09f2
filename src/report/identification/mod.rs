//! Writers of the answer of `laneval identify` (the definition of a reported number), one file for
//! each kind of format.

pub mod json;
pub mod table;
