//! Comparison of systems: the better system, the size of the difference, and the evidence.
//!
//! A [`Comparison`] is made from the per-query values that an evaluation has kept:
//!
//! ```
//! use laneval::compare::{Comparison, Gate, ComparisonOptions};
//! use laneval::{Evaluator, Join};
//! let runs = ["examples/data/demo-bm25.run", "examples/data/demo-hybrid.run"];
//! let matrix = Join::default().files("examples/data/demo.qrels", runs)?;
//! let scores = Evaluator::new(["nDCG@10"])?.with_per_query(true).evaluate(&matrix)?;
//! let comparison = Comparison::new(&scores, &ComparisonOptions::default())?;
//! let hybrid = &comparison.differences[0];
//! assert_eq!(format!("{:+.4}", hybrid.delta()), "+0.1648");
//! assert!(hybrid.p_adjusted.unwrap() < 0.001 && hybrid.wins.wins == 26);
//! // A build fails that is worse by more than 0.01.
//! let gate = Gate::parse("nDCG@10 drops > 0.01")?;
//! assert!(!comparison.gate_verdicts(&gate)?[0].verdict.failed);
//! # Ok::<(), laneval::Error>(())
//! ```

pub(crate) mod agreement;
pub(crate) mod anova;
pub(crate) mod bootstrap;
mod build;
pub(crate) mod comparison;
pub(crate) mod difference;
pub(crate) mod discrimination;
mod draws;
pub(crate) mod exact;
pub(crate) mod family;
pub(crate) mod flips;
pub(crate) mod gate;
mod gate_sentence;
pub(crate) mod label_permutation;
pub(crate) mod options;
pub(crate) mod order;
pub(crate) mod p_text;
pub(crate) mod paired;
mod pairs;
pub(crate) mod partial;
pub(crate) mod philox;
pub(crate) mod power;
pub(crate) mod randomised;
pub(crate) mod ranks;
mod sentences;
pub(crate) mod special;
mod stems;
#[cfg(feature = "serde")]
pub(crate) mod stored;
pub(crate) mod sums;
pub(crate) mod unit;
pub(crate) mod values;
mod verdict;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod flip_tests;
#[cfg(test)]
mod reference_values;

pub use crate::stats::rounding::are_best;
pub use agreement::RboTies;
pub use anova::{Anova, Effect};
pub use build::judged_measure;
pub use comparison::{Agreement, Comparison, RunGateVerdict, RunStats};
pub use difference::Difference;
pub use discrimination::Discrimination;
pub use gate::{Gate, GateInputs, GateVerdict};
pub use gate_sentence::{GateChange, GateSentence};
pub use options::{
    Alternative, ComparisonOptions, Correction, DRAWS, Interval, Permutations, SEED, Scope, Test,
};
pub use paired::{Paired, Tails, WinCounts};
pub use partial::PartialComparison;
pub use randomised::Pair;
pub use ranks::{Method, Zeros};
#[cfg(feature = "serde")]
pub use stored::Shard;
