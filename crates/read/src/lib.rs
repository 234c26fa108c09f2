//! The lowest part of laneval: it reads judgments and runs as rows, from text in any format, from
//! tables, and from columns in memory.
//!
//! Programs use laneval, because laneval re-exports the types under stable names. The modules here
//! change without notice.
//!
//! The modules are layers, and each layer knows only the layers before it in this list:
//!
//! ```text
//! bytes    inputs, compression, mapped files, ids as hashes
//! lines    chunks, lines, fields, numbers, and the problems of lines
//! columns  rows that are columns in memory
//! format   the format of a text, and rows that are made of formats other than TREC and tables
//! doc_ids  the unit that a result or a judgment counts for
//! text     an input that is opened and whose format is known
//! rows     rows one after another, as they stand in a text
//! excluded the documents that are left out of the rankings of some queries
//! ```
//!
//! A dialect (see `lines::dialect`) decides which lines are valid.
//!
//! TREC, with fields between blanks, blank lines skipped, and comments as the dialect says
//! (docs/formats.md has the other formats):
//!
//! ```text
//! qrels   query iter docno grade                  a grade < 0: pooled, but not judged
//! run     query iter docno rank score tag …       scores are sorted; the rank is ignored, unless
//!                                                 it is to order equal scores
//! ```
//!
//! This package must never know labels and rankings.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod names;
#[doc(hidden)]
pub mod aggregation;
#[doc(hidden)]
pub mod atomic_file;
#[doc(hidden)]
pub mod bytes;
#[cfg(test)]
#[path = "../../../tests/cases.rs"]
mod cases;
#[doc(hidden)]
pub mod columns;
#[doc(hidden)]
pub mod doc_ids;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod excluded;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod ids;
#[doc(hidden)]
pub mod judged_by;
#[doc(hidden)]
pub mod lines;
mod lock;
#[doc(hidden)]
pub mod numbers;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod rule;
#[doc(hidden)]
pub mod sort;
#[cfg(feature = "serde")]
mod stored_drops;
#[doc(hidden)]
pub mod text;
