//! Memory in which rows become sort keys, used again from piece to piece.

/// The buffers that a worker uses from piece to piece.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ColumnScratch {
    /// The sort keys of some rows.
    pub(super) keys: Vec<u64>,
    /// The rows whose numbers are wrong.
    pub(super) wrong: Vec<u64>,
    /// The documents that are integers, as text.
    pub(super) digits: Vec<u8>,
    pub(super) codes: Codes,
}

/// The numbers of queries that the codes of a dictionary stand for.
#[derive(Debug, Default)]
pub(super) struct Codes {
    /// The number of the dictionary.
    pub(super) dictionary: Option<u32>,
    /// The state of each code: 0 not met yet, 1 skipped, otherwise the number of the query plus 2.
    pub(super) known: Vec<u32>,
}
