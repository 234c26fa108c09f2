//! The command: what it prints, what it writes, and its exit codes.

mod cli;
#[cfg(unix)]
mod mapped;
mod measures;
mod readme;
mod trec;
