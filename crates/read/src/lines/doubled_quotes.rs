//! Ids of tables with quotes in them, which a table writes twice: `"a ""b"" c"`.
//!
//! Records keep places in the text of their chunk, so an id must stand there as it is meant. A chunk
//! with doubled quotes is written anew, line by line, with unit separators between fields. Few tables
//! have any, so a table is read as it lies until one is met, and then it is read again.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::Relaxed},
};

/// Whether ids of a table have quotes in them, and whether these are read.
#[derive(Debug, Clone, Default)]
pub struct DoubledQuotes(Arc<AtomicU8>);

impl DoubledQuotes {
    /// An id with quotes was met, and not read.
    const FOUND: u8 = 1;
    /// Ids with quotes are read.
    const READ: u8 = 2;

    /// Reads ids with quotes from now on.
    pub fn read(&self) {
        self.0.store(Self::READ, Relaxed);
    }

    /// Notes that an id with quotes was met.
    pub fn meet(&self) {
        self.0.fetch_max(Self::FOUND, Relaxed);
    }

    /// Returns whether an id with quotes was met, but such ids are not read.
    pub fn are_left(&self) -> bool {
        self.0.load(Relaxed) == Self::FOUND
    }

    /// Returns whether ids with quotes are read.
    pub fn are_read(&self) -> bool {
        self.0.load(Relaxed) == Self::READ
    }
}
