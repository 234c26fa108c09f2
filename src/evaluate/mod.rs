//! The entry point of evaluation: measures and runs in, scores or summaries out.
//!
//! ```text
//! evaluator       measures, and the options of their evaluation
//! evaluation      an evaluator with an engine and threads, which are chosen here
//! matrix          a feeder: a matrix, which is one batch; `matrices`: several in one evaluation
//! rankings        a feeder: rankings in memory, in blocks
//! run_stream      a feeder: a run that streams in, query by query
//! feed            a batch on its way to sums; `by_reference`: without an engine
//! row_finisher    values of columns; `sink`: receivers of values
//! tally           sums of values by slot
//! slots           which queries count where
//! joined_run      facts of a run besides its labels
//! outcome         sums → summary, scores
//! missing         queries that no shard had
//! tie_values      values over the orders of equal scores; `tied_precision`, `interval`
//! judges          values over several judges
//! resident        averages of labels that stay on a GPU
//! pool            the threads that are started for an evaluation
//! missing_topic   a topic that a run lacks, as trec_eval 10 sees it
//! ```

mod by_reference;
mod evaluation;
mod evaluator;
mod feed;
mod interval;
mod joined_run;
mod judges;
#[cfg(feature = "internals")]
mod matrices;
mod matrix;
mod missing;
#[cfg(feature = "internals")]
mod missing_topic;
mod outcome;
mod pool;
mod rankings;
#[cfg(feature = "gpu")]
pub mod resident;
mod row_finisher;
mod run_stream;
mod sink;
mod slots;
mod tally;
mod tie_values;
mod tied_precision;
mod viewed_ties;

#[cfg(feature = "internals")]
pub use evaluation::Evaluation;
pub use evaluator::{EngineChoice, Evaluator};
#[cfg(feature = "internals")]
pub use missing_topic::missing_topic_value;
pub use pool::max_threads;
pub use rankings::RankingStream;
pub use run_stream::RunStream;
pub use sink::ValueSink;
pub use slots::Groups;
