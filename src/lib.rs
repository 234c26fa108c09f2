//! laneval evaluates ranked retrieval offline.

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

pub use error::{Error, Result};
pub use evaluate::{EngineChoice, Evaluator, QuerySet};
pub use ingest::{Input, Join, Qrels};
pub use label::{LabelMatrix, View};
pub use measure::Measure;
pub use scores::Scores;
