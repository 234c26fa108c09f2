//! JSON records of a query with a list of documents: the order of the list is the ranking, or all
//! are relevant.
//!
//! ```text
//! {"user_input": "q1", "retrieved_context_ids": ["d7", "d9"], "reference_context_ids": ["d9"]}
//! ```
//!
//! A list of grades or scores may stand beside it. The list may also be of pairs of an id and a
//! number, of records of a document each, or an object of numbers by id.

use std::borrow::Cow;

use super::{JsonValue, id, items, number, pairs, quoted_start};
use crate::format::{
    names::{document_keys, quoted_all},
    npy::Counter,
};
use crate::lines::{
    diagnostics::pluralize,
    layout::NumberKind,
    row::{BareQuery, RowBatch, RowForm, wrong_id},
    shape::Role,
};

/// Returns the form of rows of lists of documents, which may have numbers.
pub fn form(role: Role, has_numbers: bool, shape: impl Into<String>) -> RowForm {
    let is_run = role == Role::Run;
    let value = if is_run && !has_numbers { NumberKind::Rank } else { NumberKind::Number };
    RowForm { has_ranks: is_run && has_numbers, ..RowForm::new(value, shape) }
}

/// Returns the numbers that the value of the key `name` lists; any other value is an error.
pub fn numbers<'t>(value: &'t [u8], name: &str, role: Role) -> Result<Vec<Cow<'t, [u8]>>, String> {
    let what = role.number();
    match JsonValue::parse(value)? {
        JsonValue::Array(_) => {
            let read = |one| number(one, &format!("a {what}")).map(Cow::Borrowed);
            items(value)?.into_iter().map(read).collect()
        }
        other => Err(format!("{name} is {}, and not a list of {what}s", other.described())),
    }
}

/// The documents that a value lists, and their grades or scores, if they have any.
pub struct ListedDocs<'t> {
    pub docs: Vec<Cow<'t, [u8]>>,
    pub numbers: Option<Vec<Cow<'t, [u8]>>>,
}

impl<'t> ListedDocs<'t> {
    /// Reads the documents that the value of the key `name` lists: an array of ids, of pairs of an
    /// id and a number, or of records of a document each, or an object of numbers by id.
    pub fn read(value: &'t [u8], name: &str, role: Role) -> Result<Self, String> {
        let what = role.number();
        let all: Result<Vec<_>, String> = match JsonValue::parse(value)? {
            JsonValue::Array(_) => {
                items(value)?.into_iter().map(|item| listed_doc(item, role)).collect()
            }
            JsonValue::Object(_) => {
                let pairs = pairs(value)?.into_iter().map(|(doc, value)| {
                    let doc = wrong_id("document", &doc).map_or(Ok(Cow::Owned(doc)), Err)?;
                    Ok((doc, Some(number(value, &format!("the {what}"))?)))
                });
                pairs.collect()
            }
            other => {
                return Err(format!("{name} is {}, and not a list of ids", other.described()));
            }
        };
        let (docs, numbers): (Vec<_>, Vec<_>) = all?.into_iter().unzip();
        let numbers: Vec<_> = numbers.into_iter().flatten().map(Cow::Borrowed).collect();
        if !numbers.is_empty() && numbers.len() < docs.len() {
            return Err(wrong_lengths(docs.len(), numbers.len(), what));
        }
        Ok(Self { docs, numbers: Some(numbers).filter(|numbers| !numbers.is_empty()) })
    }

    /// Returns whether the first value of `values` that lists a document has numbers.
    pub fn have_numbers(values: impl Iterator<Item = &'t [u8]>, role: Role) -> bool {
        let listed = values.filter_map(|value| Self::read(value, "", role).ok());
        let mut listed = listed.filter(|listed| !listed.docs.is_empty());
        listed.next().is_some_and(|first| first.numbers.is_some())
    }
}

/// The id of a document of a list, and its number, if it has one.
type ListedDoc<'t> = (Cow<'t, [u8]>, Option<&'t [u8]>);

/// Returns the document that an item of a list is.
fn listed_doc(item: &[u8], role: Role) -> Result<ListedDoc<'_>, String> {
    let what = role.number();
    match item.first() {
        Some(b'[') => match items(item)?[..] {
            [doc, value] => {
                Ok((id(doc, "document")?, Some(number(value, &format!("the {what}"))?)))
            }
            _ => Err(format!("an id and a {what} were expected at {}", quoted_start(item))),
        },
        Some(b'{') => {
            let found = pairs(item)?;
            let names: Vec<&[u8]> = found.iter().map(|(name, _)| &name[..]).collect();
            let Some((doc, value)) = document_keys(&names, role) else {
                let all = quoted_all(&names).join(", ");
                let all = if names.is_empty() { "none" } else { &all };
                return Err(format!("a document has no id: its keys are {all}"));
            };
            let value = value.map(|at| number(found[at].1, &format!("the {what}")));
            Ok((id(found[doc].1, "document")?, value.transpose()?))
        }
        _ => Ok((id(item, "document")?, None)),
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
            rows.bare.push(BareQuery { id: query.to_vec(), is_judged: true });
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

/// Returns the error message about documents of a run that have scores, or have none, unlike those
/// of its first list.
pub fn unlike_first(have_scores: bool) -> String {
    let [here, first] = if have_scores { ["scores", "none"] } else { ["no scores", "scores"] };
    format!("the documents have {here}, and those of the first list have {first}")
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
