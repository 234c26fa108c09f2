//! What becomes of an id that was found twice.

/// What becomes of an id that is in a list of found ids for the second time.
///
/// These are the ways of [`Repeats`](crate::label::Repeats) that need no scores. It is a type of
/// its own because ids in arrays have none, so that asking for their sum is no error that only
/// shows when a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RepeatedIds {
    /// It is an error.
    #[default]
    Error,
    /// It is left out, and those behind it move up.
    First,
    /// It keeps its rank and is nothing.
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
