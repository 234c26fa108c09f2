//! A run that is read once: its queries are ranked one by one as they come, and their rankings
//! passed on.
//!
//! The rows of a query must be together, for its rankings are gone when other queries come. A query
//! that comes back is noticed.
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
//! *Who takes a query.* The reader that cuts the next block under a lock; the others rank theirs
//! meanwhile (see `chunks`). A block ends where a query begins, so one worker has all rows of a
//! query, unless these are not together.
//!
//! *Who ranks it.* The machine that reads files too, with one more condition before a ranking is
//! made: that its query was never met. What a worker holds is a block of text, the records of one
//! query, and labels until they are enough for a block of the engine; what all of them hold is 8
//! bytes for each judged query. So memory does not grow with the run.
//!
//! *Who notices one that comes back.* `fetch_min` puts the earlier place and returns the one
//! before, so the second to come, whoever that is, knows both, and reports the later of them. Let a
//! query begin at a < b < c. Whichever of a and b is met second reports b: if it is b, the least
//! place so far is a; if it is a, the least is b, and b is the later of both. Reports of c do no
//! harm, for the least of all reports is named. Blocks are handed out in order, and what was handed
//! out is worked on also after a stop, so nothing before the named place is unread: the message is
//! the same for any number of threads.
//!
//! *Columns* come in batches that end anywhere. The last query of a batch waits, copied, until
//! another begins or the run ends; the rest is read where it lies. Chunks are numbered through all
//! batches, so that places stay in the order of the run.

mod passing_run;
mod starts;
mod taking;

pub use passing_run::{Passed, PassingRun};
pub use taking::TakeRankings;

#[cfg(test)]
mod tests;
