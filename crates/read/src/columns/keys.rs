//! Buffers in which rows of columns become sort keys and hashes, used again from piece to piece.

use super::text::HashedId;

/// The buffers of a worker for sort keys, hashes and digits of some rows, used again from piece to
/// piece.
#[derive(Debug, Default)]
pub struct ColumnScratch {
    /// The sort keys of some rows.
    pub keys: Vec<u64>,
    /// The rows with wrong numbers.
    pub wrong: Vec<u64>,
    /// The hashes of the documents of some rows.
    pub hashed: Vec<HashedId>,
    /// The documents that are integers, as text.
    pub digits: Vec<u8>,
    pub codes: Codes,
}

/// The query numbers that the codes of a dictionary column stand for, as far as they are known.
#[derive(Debug, Default)]
pub struct Codes {
    /// The number of the dictionary.
    pub dictionary: Option<u32>,
    /// The state of each code: 0 not met yet, 1 skipped, otherwise the number of the query plus 2.
    pub known: Vec<u32>,
}
