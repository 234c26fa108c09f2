//! The columns of files of passages, which are spans of documents: of judged passages, and of
//! results.

use super::{
    fields::{NamedColumn, Need},
    names::{ColumnNames, ColumnRole},
};
use crate::lines::shape::Role;

/// The place of each column among those of [`span_columns`].
pub mod at {
    pub const QUERY: usize = 0;
    pub const DOC: usize = 1;
    pub const START: usize = 2;
    pub const END: usize = 3;
    /// The number of positions, in the place of the end.
    pub const LENGTH: usize = 4;
    /// The grade or the score.
    pub const NUMBER: usize = 5;
    /// The rank, in the place of the score.
    pub const RANK: usize = 6;
}

/// Returns the columns to find in a file of judged or retrieved passages, in the order of [`at`].
/// Judgments may lack the grade, and results the score if they have ranks; an end or a length is
/// needed. `given` names some of them.
pub fn span_columns(role: Role, given: Option<&ColumnNames>) -> Vec<NamedColumn<'_>> {
    let hint = role.pick(
        "; `--columns query=…,doc=…,start=NAME,grade=…` gives others",
        "; `--columns query=…,doc=…,start=NAME,score=…` gives others",
    );
    let numbers = role.pick(
        &[(ColumnRole::Grade, Need::Never)][..],
        &[(ColumnRole::Score, Need::OrNext), (ColumnRole::Rank, Need::Never)],
    );
    let columns = [
        (ColumnRole::Query, Need::Always),
        (ColumnRole::Doc, Need::Always),
        (ColumnRole::Start, Need::Always),
        (ColumnRole::End, Need::OrNext),
        (ColumnRole::Length, Need::Never),
    ];
    let columns = columns.iter().chain(numbers).map(|&(column, need)| {
        let given = given.and_then(|given| given.name_of(column));
        NamedColumn { what: column.name(), given, names: column.known_as(role), need, hint }
    });
    columns.collect()
}
