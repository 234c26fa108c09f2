//! Comparing systems: which one is better, by how much, and how sure that is.

pub mod agreement;
pub mod anova;
pub mod bootstrap;
pub mod comparison;
pub mod exact;
pub mod family;
pub mod flips;
pub mod gate;
pub mod labels;
pub mod options;
pub mod paired;
pub mod philox;
pub mod power;
pub mod randomised;
pub mod ranks;
mod sentences;
pub mod special;
pub mod units;
pub mod values;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod flip_tests;
#[cfg(test)]
mod known;
