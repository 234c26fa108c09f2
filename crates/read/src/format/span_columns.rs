//! The columns of files of passages, which are spans of documents: of judged passages, and of
//! results.

use super::{
    fields::{NamedColumn, Need},
    names::{ColumnNames, default_names},
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
    let hint = match role {
        Role::Qrels => "; `--columns query=…,doc=…,start=NAME,grade=…` gives others",
        Role::Run => "; `--columns query=…,doc=…,start=NAME,score=…` gives others",
    };
    let column = |what: &'static str, need: Need| {
        let given = given.and_then(|given| given.name_of(what));
        NamedColumn { what, given, names: default_names(what, role), need, hint }
    };
    let mut columns = vec![
        column("query", Need::Always),
        column("doc", Need::Always),
        column("start", Need::Always),
        column("end", Need::OrNext),
        column("length", Need::Never),
    ];
    match role {
        Role::Qrels => columns.push(column("grade", Need::Never)),
        Role::Run => columns.extend([column("score", Need::OrNext), column("rank", Need::Never)]),
    }
    columns
}
