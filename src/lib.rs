//! laneval evaluates ranked retrieval offline: runs and relevance judgments in, AP, nDCG, RR, recall, ERR … out.
//!
//! Rankings are joined to judgments once, into a [`LabelMatrix`] of one byte a retrieved document, which can be kept as a file
//! and mapped again. An [`Evaluator`] plans its [`Measure`]s over it, runs a few folds with SIMD on all cores, and finishes each
//! measure in f64, with the same bits as trec_eval.
//!
//! ```
//! use laneval::{Evaluator, Join};
//!
//! let matrix = Join::default().files("examples/data/tutorial.qrels", ["examples/data/tutorial.run"])?;
//! let scores = Evaluator::new(["nDCG@10", "AP", "P@[5,10]"])?.evaluate(&matrix)?;
//! let run = &scores.runs[0];
//! assert_eq!(format!("{}: {:.4}", scores.measures[0], run.average(0).unwrap()), "nDCG@10: 0.8417");
//! # Ok::<(), laneval::Error>(())
//! ```
//!
//! # Features
//!
//! `cli` (default): the `laneval` command and the formats it writes. Without it the library
//! depends on neither an argument parser nor a serialiser.
//!
//! `gpu` (default): the GPU engine. Without it the library does not depend on wgpu.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where nothing can be written

pub mod engine;
pub mod error;
pub mod evaluate;
pub mod fold;
pub mod generate;
pub mod ingest;
pub mod label;
pub mod measure;
pub mod plan;
pub mod reference;
#[cfg(feature = "cli")]
pub mod report;
pub mod scores;
pub mod stats;
pub mod timing;
pub mod whole_file;

pub use error::{Error, Result};
pub use evaluate::{EngineChoice, Evaluator, QuerySet};
pub use ingest::{Dialect, Input, Join, Qrels};
pub use label::{LabelMatrix, View};
pub use measure::Measure;
pub use scores::Scores;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
