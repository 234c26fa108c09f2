//! What a dialect of the two text formats decides; one reader serves them all.

use super::number;

/// The rules in which readers of qrels and runs differ.
///
/// Plain decimals (`digits[.digits]`) mean the same in every dialect and never reach [`Dialect::score`] or [`Dialect::grade`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// Is a line whose first byte that is not blank is `#` skipped?
    pub comments: bool,
    /// The value of a score field, `None` where it is not a number.
    pub score: fn(&[u8]) -> Option<f64>,
    /// The value of a grade field, `None` where it is not a number.
    pub grade: fn(&[u8]) -> Option<f64>,
}

impl Dialect {
    /// Strict: whole fields are finite numbers, comments are skipped.
    pub const LANEVAL: Dialect = Dialect { comments: true, score: number::finite, grade: number::finite };
}
