//! Memory in which rows become sort keys, used again from piece to piece.

use super::text::HashedId;

/// The buffers that a worker uses from piece to piece.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ColumnScratch {
    /// The sort keys of some rows.
    pub(in crate::ingest) keys: Vec<u64>,
    /// The rows with wrong numbers.
    pub(in crate::ingest) wrong: Vec<u64>,
    /// The hashes of the documents of some rows.
    pub(in crate::ingest) hashed: Vec<HashedId>,
    /// The documents that are integers, as text.
    pub(in crate::ingest) digits: Vec<u8>,
    pub(in crate::ingest) codes: Codes,
}

/// The numbers of queries that the codes of a dictionary stand for.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Codes {
    /// The number of the dictionary.
    pub(in crate::ingest) dictionary: Option<u32>,
    /// The state of each code: 0 not met yet, 1 skipped, otherwise the number of the query plus 2.
    pub(in crate::ingest) known: Vec<u32>,
}
