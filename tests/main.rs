//! The one test binary: each module tests one promise.

mod agree;
mod cases;
mod circles;
mod compared;
#[cfg(feature = "serde")]
mod conformance;
mod definitions;
mod exact;
mod examples;
mod finite;
#[allow(dead_code)] // the tests of hostile files make more changes
mod forge;
mod format;
mod formats;
mod generate;
mod golden;
mod groups;
mod identify;
mod ingest;
mod known;
mod layers;
mod lengths;
mod libraries;
#[cfg(unix)]
mod mapped;
mod matrices;
mod names;
mod neighbours;
mod nothing;
mod notices;
mod nouns;
mod npy;
mod options;
#[cfg(feature = "report")]
mod pages;
#[cfg(feature = "report")]
mod partials;
mod passages;
mod random;
mod rankings;
#[cfg(feature = "report")]
mod reports;
#[cfg(feature = "serde")]
mod run_stream;
#[cfg(feature = "gpu")]
mod shaders;
mod shown;
mod slow_reader;
mod spans;
mod staged;
mod stopping;
#[cfg(feature = "serde")]
mod summaries;
mod tied;
mod tied_values;
mod ties;
mod together;
mod traits;
mod units;
mod variants;
mod watch;
