//! laneval evaluates ranked retrieval offline.

pub mod error;
pub mod ingest;
pub mod label;

pub use error::{Error, Result};
pub use label::LabelMatrix;
