//! Units: what a result or a judgment counts for, where documents are retrieved in pieces.
//!
//! It must never know rows, records and rankings.
//!
//! ```text
//! rule    how the unit follows from an id
//! map     ids and their units, as a file says
//! ```

pub mod map;
pub mod rule;
