//! The memory that counting works in.

/// The memory that [`Preferences::met`](super::Preferences::met) works in, kept from one ranking to the next.
#[derive(Clone, Debug, Default)]
pub struct PreferenceScratch {
    /// The position of each document.
    pub(super) position: Vec<u32>,
    /// The document at each position.
    pub(super) ranked: Vec<u32>,
    /// A Fenwick tree over the classes of each group with one sub-group: documents seen so far.
    pub(super) seen: Vec<u64>,
    /// The number of documents seen so far, by class of each group with one sub-group.
    pub(super) class: Vec<u64>,
    /// For each group with one sub-group, the sums over the first documents of the lowest class of the number of documents seen before
    /// them.
    pub(super) before: Vec<Vec<u64>>,
    /// The counts by group.
    pub(super) counts: Vec<GroupCounts>,
    /// The documents of a group with several sub-groups that are positioned so far, that are retrieved, and that are left out, as bits.
    pub(super) placed: Vec<u64>,
    pub(super) retrieved: Vec<u64>,
    pub(super) without: Vec<u64>,
    /// The documents of each group by position.
    pub(super) members: Vec<Vec<MemberAt>>,
    /// The number of groups that prefer one document to that of a position, and the reverse.
    pub(super) over: Vec<f64>,
    pub(super) under: Vec<f64>,
}

/// A document of a group at its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberAt {
    pub(super) position: u32,
    /// The class of the document in a group with one sub-group, the index of the document in a group with several.
    pub(super) at: u32,
    /// The number of lines that say so.
    pub(super) times: u32,
}

/// The counts of one group while a ranking is gone through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupCounts {
    /// The number of retrieved documents.
    pub(super) documents: u64,
    /// The number of fulfilled preferences between retrieved documents.
    pub(super) fulfilled: u64,
    /// The number of those whose lower document is in the lowest class.
    pub(super) fulfilled_lowest: u64,
}
