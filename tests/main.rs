//! The one test binary: each module tests one promise.

mod agree;
mod format;
mod layers;
mod matrices;
mod names;
