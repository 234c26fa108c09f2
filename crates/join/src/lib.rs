//! The lower half of laneval: it reads judgments and rankings, in text, tables and arrays, and
//! joins them to label matrices.
//!
//! Programs use laneval, because laneval re-exports the types under stable names. The modules here
//! change without notice. The package is separate because cargo then compiles both halves side by
//! side. Kernels need a single unit of code generation, which keeps one core busy for a minute.
//! With more units the small functions in their loops are no longer inlined (some folds take six
//! times as long).
//!
//! This package must never know a plan, an engine, or any later use of the labels.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod names;
#[doc(hidden)]
pub mod arrays;
#[cfg(test)]
#[path = "../../../tests/cases.rs"]
mod cases;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod facets;
#[doc(hidden)]
pub mod ingest;
#[doc(hidden)]
pub mod label;
#[doc(hidden)]
pub mod numbers;
#[doc(hidden)]
pub mod sort;
#[doc(hidden)]
pub mod spans;
#[doc(hidden)]
pub mod watch;
#[doc(hidden)]
pub mod whole_file;
