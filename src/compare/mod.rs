//! Comparing systems: which one is better, by how much, and how sure that is.

pub mod bootstrap;
pub mod exact;
pub mod flips;
pub mod labels;
pub mod philox;
pub mod randomised;
pub mod special;
pub mod units;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod flip_tests;
