//! The entry point: measures in, scores or summaries out.
//!
//! ```text
//! evaluator      measures, and the options of their evaluation
//! evaluation     with an engine and threads; the engine is chosen here
//! matrix         a feeder: a matrix, which is one batch; matrices: several under one evaluation
//! rankings       a feeder: rankings in memory, in blocks
//! passing        a feeder: a run that passes, query by query
//! feed           a batch on its way to sums; by_reference: without an engine
//! finish, tally  values of columns, and their sums by slot; sink: who else sees values
//! slots, joined  which queries count where; what is known of runs besides their labels
//! outcome        sums → summary, scores
//! missing        queries that no shard had
//! tied, bordered, interval, judges   values over the orders of equal scores, and of several judges
//! resident       averages of labels that stay on a GPU
//! pool           the threads that are started for an evaluation
//! unpooled       a topic that a run lacks, as trec_eval 10 sees it
//! ```

mod bordered;
mod by_reference;
mod evaluation;
mod evaluator;
mod feed;
mod finish;
mod interval;
mod joined;
mod judges;
#[cfg(feature = "internals")]
mod matrices;
mod matrix;
mod missing;
mod outcome;
mod passing;
mod pool;
mod rankings;
#[cfg(feature = "gpu")]
pub mod resident;
mod sink;
mod slots;
mod tally;
mod tied;
mod together;
#[cfg(feature = "internals")]
mod unpooled;

#[cfg(feature = "internals")]
pub use evaluation::Evaluation;
pub use evaluator::{EngineChoice, Evaluator};
pub use passing::RunStream;
pub use pool::most_threads;
pub use rankings::Stream;
pub use sink::Sink;
pub use slots::Groups;
#[cfg(feature = "internals")]
pub use unpooled::of_one_unpooled;
