//! The join package of laneval: it joins judgments and runs to label matrices, and keeps the
//! matrices in memory and in files.
//!
//! Programs use laneval, because laneval re-exports the types under stable names. The modules here
//! change without notice. The package is separate because cargo then compiles both halves side by
//! side. Kernels need a single unit of code generation, which keeps one core busy for a minute.
//! With more units the small functions in their loops are no longer inlined (some folds take six
//! times as long).
//!
//! From rows to labels, each module knows only the modules before it in this list:
//!
//! ```text
//! matrix     label matrices
//! lmx        label matrices as files
//! settings   what a join is asked for
//! record     a row as 32 bytes, and the records of a query together
//! join       the records of judgments and of runs become labels
//! ```
//!
//! The result of a join depends neither on the number of threads nor on where a text is cut.
//!
//! This package must never know a plan, an engine, or any later use of the labels.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate laneval_read;

/// Returns [`Error::Unanswerable`](error::Error::Unanswerable) with a formatted message from the
/// function around it.
macro_rules! reject {
    ($($message:tt)+) => {
        return $crate::error::unanswerable(format!($($message)+))
    };
}

/// Returns from the function around it as `reject` does, if a condition holds.
macro_rules! reject_if {
    ($condition:expr, $($message:tt)+) => {
        if $condition {
            reject!($($message)+);
        }
    };
}

/// Returns a formatted message as the error of the function around it, if a condition holds.
macro_rules! fault_if {
    ($condition:expr, $($message:tt)+) => {
        if $condition {
            return Err(format!($($message)+));
        }
    };
}

#[doc(hidden)]
pub mod arrays;
#[cfg(test)]
#[path = "../../../tests/cases.rs"]
mod cases;
#[cfg(test)]
mod column_tests;
#[doc(hidden)]
pub mod facets;
#[cfg(test)]
mod format_tests;
#[doc(hidden)]
pub mod join;
#[doc(hidden)]
pub mod lmx;
#[doc(hidden)]
pub mod matrix;
mod record;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod spans;
#[cfg(test)]
mod test_support;

// The package below.
use laneval_read::{
    aggregation, atomic_file, bytes, columns, doc_ids, error, excluded, format, ids, judged_by,
    lines, numbers, progress, rows, rule, sort, text,
};
