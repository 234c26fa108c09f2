//! A run that is read once as a stream: each query is ranked as it arrives, and its ranking is
//! passed on.
//!
//! The rows of a query must be together, because a query's ranking is passed on before other
//! queries arrive. A query that comes back is detected.
//!
//! ```text
//! text ──► blocks of whole queries ──► whichever worker is free
//!            worker 0   q1 ─ met before? no ─ ranked ─► labels of q1, q2 …
//!                       ─ 2²⁰ labels or 2¹⁴ rankings ─► its taker: a block is evaluated,
//!                                                       and forgotten
//!            worker 1   q3 ─ …
//!          places[q]    chunk · line where q began, or none: one number a judged query,
//!                       shared by all workers
//! ```
//!
//! *Who takes a query.* A free worker cuts the next block under a lock; the other workers rank
//! their blocks meanwhile (see `chunks`). A block ends where a query begins, so one worker has all
//! rows of a query, unless the rows are scattered.
//!
//! *Who ranks a query.* The code that also ranks files, with one more check before a ranking is
//! made: the query must be new. A worker holds a block of text, the records of one query, and
//! labels until they are enough for a block of the engine. All workers together hold 8 bytes for
//! each judged query. So memory does not grow with the run.
//!
//! *Who detects a query that comes back.* `fetch_min` stores the earlier place and returns the
//! previous place. So the second worker to meet a query knows both places, and reports the later
//! place. Let a query begin at a < b < c. Meeting a and b, in any order, reports b: if b is met
//! second, the least place so far is a; if a is met second, the least place so far is b, and b is
//! the later place. Reports of c do no harm, because the message names the least of all reports.
//! Blocks are handed out in order, and each block handed out is finished even after a stop. So the
//! workers read everything before the named place, and the message is the same for any number of
//! threads.
//!
//! *Columns* come in batches that end anywhere. The last query of a batch is copied and waits until
//! another query begins or the run ends; the other rows are read in place. Chunks are numbered
//! through all batches, so that places stay in the order of the run.

mod ranking_sink;
mod streaming_run;

pub use ranking_sink::RankingSink;
pub use streaming_run::{FinishedRun, StreamingRun};

#[cfg(test)]
mod tests;
