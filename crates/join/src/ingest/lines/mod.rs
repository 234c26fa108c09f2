//! Lines: how bytes are cut into chunks, lines and fields, which lines are valid, and how messages
//! name them.
//!
//! It must never know of formats other than TREC and tables, of files, and of what becomes of a
//! row.
//!
//! ```text
//! chunks               pieces for the workers, cut between queries
//! scan                 lines of TREC and their fields
//! table                rows of tables; separator, layout: what stands between their fields, and
//!                      what the fields are
//! number               numbers and decimals
//! shape                what is wrong with a line, for messages
//! dialect              which lines are valid, and how they are read
//! diagnostics          the problems of all lines, in the order of the lines
//! options              how messages name options, in the command and in Python
//! ```

pub(in crate::ingest) mod chunks;
pub(in crate::ingest) mod diagnostics;
pub(in crate::ingest) mod dialect;
pub(in crate::ingest) mod layout;
pub(in crate::ingest) mod number;
pub(in crate::ingest) mod options;
pub(in crate::ingest) mod scan;
pub(in crate::ingest) mod separator;
pub(in crate::ingest) mod shape;
pub(in crate::ingest) mod table;
