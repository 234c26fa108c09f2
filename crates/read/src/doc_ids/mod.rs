//! Units: the documents that results or judgments count for, where documents are retrieved in
//! chunks.
//!
//! It must never know rows, records and rankings.
//!
//! ```text
//! rule    how the unit follows from an id
//! map     ids and their units, as a file says
//! ```

pub mod map;
pub mod rule;
