//! The ways to treat an id that a ranking has twice, for rankings given as lists of ids.

/// Treatment of an id that a ranking, given as a list of ids, has for the second time.
///
/// The variants are the treatments of [`Aggregation`](crate::aggregation::Aggregation) that need no
/// scores. Ids in arrays have no scores. So this separate type makes a request for a sum of scores
/// fail to compile, and not only at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DuplicateIds {
    /// A repeated id is an error.
    #[default]
    Error,
    /// A repeated id is left out, and the ids behind it move up.
    First,
    /// A repeated id keeps its rank, which counts as an empty place.
    Blank,
}

impl DuplicateIds {
    /// All ways, with their names.
    pub const ALL: [(&'static str, DuplicateIds); 3] =
        [("error", Self::Error), ("first", Self::First), ("blank", Self::Blank)];
}

named!(DuplicateIds, "a way with repeated ids");
