//! The definition of a number as bytes, one file for each kind of format.

pub mod json;
pub mod table;
