//! Lines of qrels and runs: cutting bytes into chunks, lines and fields, the rules for valid lines,
//! and messages.
//!
//! This module must never know formats other than TREC and tables, files, or the use of a row.
//!
//! ```text
//! chunks               pieces for the workers, cut between queries
//! scan                 lines of TREC and their fields; trec: what the fields mean
//! table                rows of tables; separator, layout: what stands between their fields, and
//!                      what the fields are; doubled_quotes: ids with quotes
//! row                  a row, who takes rows, and batches of rows of other formats
//! number               numbers and decimals; grade_words: grades that are words
//! shape                what is wrong with a line, for messages
//! dialect              which lines are valid, and how they are read
//! diagnostics          the problems of all lines, in the order of the lines
//! options              how messages name options, in the command and in Python
//! ```

pub mod chunks;
pub mod diagnostics;
pub mod dialect;
pub mod doubled_quotes;
pub mod grade_words;
pub mod layout;
pub mod number;
pub mod options;
pub mod row;
pub mod scan;
pub mod separator;
pub mod shape;
pub mod table;
pub mod trec;
