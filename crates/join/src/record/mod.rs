//! Records: a row in 32 bytes, and all records of a query together.
//!
//! Records must never know what is judged: other modules make qrels and runs of records.
//!
//! ```text
//! packed     a row as 32 bytes: sort key, hash of the docno, position of the docno
//! reader     rows of text become records, which are handed on by query
//! columns    rows of columns become records
//! matrix     a matrix of NumPy, whose cells become records
//! of_text    the rows of a text of any kind as a source
//! by_query   the slower way, for rows in any order
//! repeats    documents that a query has twice
//! ```

pub(crate) mod by_query;
pub(crate) mod columns;
mod matrix;
pub(crate) mod of_text;
pub(crate) mod packed;
pub(crate) mod reader;
pub(crate) mod repeats;
