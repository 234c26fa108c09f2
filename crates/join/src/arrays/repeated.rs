//! Treatment of ids that were found twice.

/// Treatment of an id that is in a list of found ids for the second time.
///
/// The variants are the treatments of [`Repeats`](crate::repeats::Repeats) that need no scores. Ids
/// in arrays have no scores. So this separate type makes a request for a sum of scores fail to
/// compile, and not only at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RepeatedIds {
    /// A repeated id is an error.
    #[default]
    Error,
    /// A repeated id is left out, and the ids behind it move up.
    First,
    /// A repeated id keeps its rank, which counts as an empty place.
    Blank,
}

impl RepeatedIds {
    /// All ways, with their names.
    pub const ALL: [(&'static str, RepeatedIds); 3] = [
        ("error", RepeatedIds::Error),
        ("first", RepeatedIds::First),
        ("blank", RepeatedIds::Blank),
    ];
}

named!(RepeatedIds, "a way with repeated ids");
