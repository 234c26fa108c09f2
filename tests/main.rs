//! The one test binary: each module tests one promise.

mod agree;
mod layers;
mod matrices;
mod names;
