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
//! `gpu` (default): the GPU engine. Without it the library does not depend on wgpu.
//!
//! `report` (default): scores as tables, TSV, CSV, JSON and lines of trec_eval, in the module `report`.
//!
//! `serde`: scores and summaries as data for other programs; `report` brings it.
//!
//! `internals`: what is inside, for the tests, the benches and the command of this repository. It changes without notice.

#![deny(clippy::print_stdout, clippy::print_stderr)]
// they panic where nothing can be written

// What only tests, benches and the command use is dead without them.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]

#[macro_use]
mod names;
mod engine;
mod error;
mod evaluate;
mod fold;
mod generate;
mod ingest;
mod label;
pub mod measure;
mod plan;
mod reference;
#[cfg(feature = "report")]
pub mod report;
mod scores;
mod stats;
mod summary;
mod timing;
mod whole_file;

pub use error::{Error, MeasureError, Problem, Problems, Result};
pub use evaluate::{EngineChoice, Evaluator, Groups};
pub use ingest::{Dialect, Input, Join, Qrels, RunInput};
pub use label::{
    Batch, Codebook, Description, FileAccess, Ids, LabelMatrix, Notice, RankingRule, RunInfo, ScoreType,
    ScoresSeen, Section, Ties, Unmatched, View, exit_when_a_mapped_file_shrinks,
};
pub use measure::Measure;
pub use plan::Plan;
pub use scores::{PerQuery, QuerySet, Row, RunScores, Scores};
pub use stats::{Stat, StatName};
pub use summary::{QueryPrint, RunSummary, Summary};

/// Labels that stay on a GPU, and the GPUs that there are.
#[cfg(feature = "gpu")]
pub mod gpu {
    pub use crate::engine::gpu::device::{Adapter, Choice, adapters};
    pub use crate::engine::gpu::{Gpu, Loaded};
    pub use crate::evaluate::resident::Resident;
}

/// What is inside.
#[cfg(feature = "internals")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod internals {
    pub mod engine {
        pub use crate::engine::*;
    }
    pub mod error {
        pub use crate::error::*;
    }
    pub mod evaluate {
        pub use crate::evaluate::*;
    }
    pub mod fold {
        pub use crate::fold::*;
    }
    pub mod generate {
        pub use crate::generate::*;
    }
    pub mod ingest {
        pub use crate::ingest::*;
    }
    pub mod label {
        pub use crate::label::*;
    }
    pub mod measure {
        pub use crate::measure::recipe::*;
    }
    pub mod plan {
        pub use crate::plan::*;
    }
    pub mod reference {
        pub use crate::reference::*;
    }
    pub mod scores {
        pub use crate::scores::*;
    }
    pub mod stats {
        pub use crate::stats::*;
    }
    pub mod timing {
        pub use crate::timing::*;
    }
    pub mod whole_file {
        pub use crate::whole_file::*;
    }
}

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
