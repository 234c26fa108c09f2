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

pub(in crate::ingest) mod by_query;
pub(in crate::ingest) mod columns;
mod matrix;
pub(in crate::ingest) mod of_text;
pub(in crate::ingest) mod packed;
pub(in crate::ingest) mod reader;
pub(in crate::ingest) mod repeats;
