//! Records: the rows of qrels and runs, in 32 bytes each, brought together by query.
//!
//! Records must never know what is judged: other modules make qrels and runs of records.
//!
//! ```text
//! layout      a row as 32 bytes: sort key, hash of the docno, position of the docno
//! reader      rows of text become records, which are handed on by query
//! columns     rows of columns become records
//! matrix      a matrix of NumPy, whose cells become records
//! groups      the names of groups of judgments by facet
//! store       what keeps records until their query is complete
//! any_order   the slower way, for rows in any order
//! duplicates  documents that a query has twice
//! ```

pub(crate) mod any_order;
pub(crate) mod columns;
pub(crate) mod duplicates;
pub(crate) mod groups;
pub(crate) mod layout;
mod matrix;
pub(crate) mod reader;
pub(crate) mod store;
