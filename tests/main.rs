//! The one test binary: each module tests one promise.

mod agree;
#[cfg(feature = "cli")]
mod cli;
mod compared;
mod finite;
mod format;
mod generate;
mod golden;
mod ingest;
mod layers;
#[cfg(unix)]
mod mapped;
mod matrices;
mod names;
mod notices;
mod readme;
#[cfg(feature = "cli")]
mod reports;
#[cfg(feature = "gpu")]
mod shaders;
mod slow_reader;
mod staged;
mod traits;
#[cfg(feature = "cli")]
mod trec;
mod variants;
