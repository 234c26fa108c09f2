//! The lower half of laneval: it reads judgments and rankings, in text, tables and arrays, and
//! joins them to label matrices.
//!
//! Programs use laneval, which has these types under names that stay; the modules here change
//! without notice. It is a package of its own so that both halves are compiled side by side:
//! kernels need a single unit of code generation, which keeps one core busy for a minute, and with
//! more units the small functions in their loops are no longer inlined (some folds take six times
//! as long).
//!
//! It must never know a plan, an engine, or what becomes of the labels.

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
