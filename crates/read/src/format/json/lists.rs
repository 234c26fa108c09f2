//! JSON records of a query with a list of documents: the order of the list is the ranking, or all
//! are relevant.
//!
//! ```text
//! {"user_input": "q1", "retrieved_context_ids": ["d7", "d9"], "reference_context_ids": ["d9"]}
//! ```
//!
//! A list of grades or scores may stand beside it.

use std::borrow::Cow;

use super::{JsonValue, items};
use crate::format::npy::Counter;
use crate::lines::{
    diagnostics::pluralize,
    layout::NumberKind,
    row::{RowBatch, RowForm},
    shape::Role,
};

/// Returns the form of rows of lists of documents, which may have numbers.
pub fn form(role: Role, has_numbers: bool, shape: impl Into<String>) -> RowForm {
    let is_run = role == Role::Run;
    let value = if is_run && !has_numbers { NumberKind::Rank } else { NumberKind::Number };
    RowForm { has_ranks: is_run && has_numbers, ..RowForm::new(value, shape) }
}

/// Returns the items, as `read` reads them, of the list that the value of the key `name` is; any
/// other value is an error.
pub fn list<'t>(
    value: &'t [u8],
    name: &str,
    expected: &str,
    read: impl Fn(&'t [u8]) -> Result<Cow<'t, [u8]>, String>,
) -> Result<Vec<Cow<'t, [u8]>>, String> {
    match JsonValue::parse(value)? {
        JsonValue::Array(_) => items(value)?.into_iter().map(read).collect(),
        other => Err(format!("{name} is {}, and not {expected}", other.described())),
    }
}

/// A query with its list of documents, and perhaps their grades or scores.
pub struct ListOfQuery<'t> {
    pub query: Cow<'t, [u8]>,
    pub group: Cow<'t, [u8]>,
    pub docs: Vec<Cow<'t, [u8]>>,
    /// A grade or a score for each document, if there are any.
    pub numbers: Option<Vec<Cow<'t, [u8]>>>,
}

impl ListOfQuery<'_> {
    /// Adds a row for each document: of judgments without grades the grade is 1, and a run without
    /// scores has ranks.
    pub fn add(&self, role: Role, line: u64, rows: &mut RowBatch) {
        let Self { query, group, docs, numbers } = self;
        if docs.is_empty() {
            rows.bare.push(query.to_vec());
        }
        let mut rank = Counter::default();
        for (at, doc) in docs.iter().enumerate() {
            let number = numbers.as_ref().map(|numbers| &*numbers[at]);
            match (role, number) {
                (Role::Qrels, grade) => {
                    let grade = grade.unwrap_or(b"1");
                    match &group[..] {
                        [] => rows.row(line, query, doc, grade),
                        group => rows.grouped_row(line, query, group, doc, grade),
                    }
                }
                (Role::Run, score) => {
                    match score {
                        Some(score) => rows.ranked_row(line, query, doc, rank.digits(), score),
                        None => rows.row(line, query, doc, rank.digits()),
                    }
                    rank.count();
                }
            }
        }
    }
}

/// Returns the error message about a record whose lists of ids and of grades or scores differ in
/// length.
pub fn wrong_lengths(ids: usize, numbers: usize, what: &str) -> String {
    let (ids, numbers) = (pluralize(ids, "id"), pluralize(numbers, what));
    format!("{ids} and {numbers}: a {what} for each id was expected")
}

#[cfg(test)]
mod tests {
    use super::super::MOST;
    use super::*;

    #[test]
    fn lists_have_an_end() {
        let text = format!("[{}1]", "1,".repeat(MOST));
        let read = |text: &str| items(text.as_bytes()).map(|all| all.len());
        assert_eq!(read(&text.replacen("1,", "", 1)).unwrap(), MOST);
        let message = "a list has more than 4194304 values, which is not read";
        assert!(read(&text).unwrap_err().message.starts_with(message));
    }
}
