//! JSON records of a query with a list of documents: the order of the list is the ranking, or all
//! are relevant.
//!
//! ```text
//! {"user_input": "q1", "retrieved_context_ids": ["d7", "d9"], "reference_context_ids": ["d9"]}
//! ```
//!
//! A list of grades or scores may stand beside it.

use std::borrow::Cow;

use super::{JsonBytes, JsonValue, RecordFault, find, id, items, number};
use crate::columns::decimal::{Integer, LONGEST};
use crate::error::printable;
use crate::judged_by::FacetKind;
use crate::lines::diagnostics::{pluralize, quoted};
use crate::lines::layout::NumberKind;
use crate::lines::row::{RowBatch, RowForm};
use crate::lines::shape::Role;

/// The keys that are read of JSON records with a list of documents: query, documents, numbers,
/// facet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKeys {
    pub role: Role,
    pub query: Vec<u8>,
    pub docs: Vec<u8>,
    /// The key of the grades or scores, if there are any.
    pub numbers: Option<Vec<u8>>,
    /// The facets by which judgments are read, and their key.
    pub group: Option<(FacetKind, Vec<u8>)>,
}

impl ListKeys {
    /// Returns the expected shape of a JSON record with a list of documents, for messages.
    pub fn shape(&self) -> String {
        let group = self
            .group
            .as_ref()
            .map_or(String::new(), |(_, key)| format!("\"{}\": …, ", printable(key)));
        let list = |key: &[u8]| format!("\"{}\": […]", printable(key));
        let numbers = self.numbers.as_ref().map_or(String::new(), |key| format!(", {}", list(key)));
        format!("{{\"{}\": …, {group}{}{numbers}}}", printable(&self.query), list(&self.docs))
    }

    /// Returns the form of the rows of records with a list of documents.
    pub fn form(&self) -> RowForm {
        form(self.role, self.numbers.is_some(), self.group.is_some(), self.shape())
    }

    /// Makes the rows of a record with a list of documents.
    pub(super) fn record(
        &self,
        text: JsonBytes<'_>,
        line: u64,
        rows: &mut RowBatch,
    ) -> Result<(), RecordFault> {
        let group = self.group.as_ref().map(|(_, key)| key);
        let keys = [Some(&self.query), Some(&self.docs), self.numbers.as_ref(), group];
        let place = |name: &[u8]| keys.iter().position(|key| key.is_some_and(|key| **key == *name));
        let found = find::<4>(text, place)
            .map_err(|fault| (fault.line(text.bytes, line), fault.message))?;
        let name = |at: usize| quoted(keys[at].map_or(&[], |key| &key[..]));
        let list = self.list(found.values, found.again, name).map_err(|message| (line, message))?;
        list.add(self.role, line, rows);
        Ok(())
    }

    /// Checks the values found in a record, and returns the list of documents that they are.
    fn list<'t>(
        &self,
        [query, docs, numbers, group]: [Option<&'t [u8]>; 4],
        again: Option<usize>,
        name: impl Fn(usize) -> String,
    ) -> Result<ListOfQuery<'t>, String> {
        let missing = |at: usize| format!("there is no {} in the record", name(at));
        if let Some(at) = again {
            return Err(format!("{} occurs twice in the record", name(at)));
        }
        let query = id(query.ok_or_else(|| missing(0))?, "query")?;
        let docs = list(docs.ok_or_else(|| missing(1))?, &name(1), "a list of ids")?;
        let docs: Vec<_> =
            docs.into_iter().map(|doc| id(doc, "document")).collect::<Result<_, _>>()?;
        let what = self.role.number();
        let numbers = match &self.numbers {
            None => None,
            Some(_) => {
                let expected = format!("a list of {what}s");
                let numbers = list(numbers.ok_or_else(|| missing(2))?, &name(2), &expected)?;
                let numbers = numbers.into_iter().map(|one| number(one, &format!("a {what}")));
                Some(numbers.map(|one| one.map(Cow::Borrowed)).collect::<Result<Vec<_>, _>>()?)
            }
        };
        if let Some(numbers) = &numbers
            && numbers.len() != docs.len()
        {
            return Err(wrong_lengths(docs.len(), numbers.len(), what));
        }
        let group = match &self.group {
            None => Cow::default(),
            Some((by, _)) => id(group.ok_or_else(|| missing(3))?, &by.to_string())?,
        };
        Ok(ListOfQuery { query, group, docs, numbers })
    }
}

/// Returns the form of rows of lists of documents, which may have numbers and facets.
pub fn form(role: Role, has_numbers: bool, has_groups: bool, shape: String) -> RowForm {
    match role {
        Role::Qrels => RowForm { has_groups, ..RowForm::new(NumberKind::Number, shape) },
        Role::Run if has_numbers => {
            RowForm { has_ranks: true, ..RowForm::new(NumberKind::Number, shape) }
        }
        Role::Run => RowForm::new(NumberKind::Rank, shape),
    }
}

/// Returns the items of the list that the value of the key `name` is; any other value is an error.
fn list<'t>(value: &'t [u8], name: &str, expected: &str) -> Result<Vec<&'t [u8]>, String> {
    match JsonValue::parse(value)? {
        JsonValue::Array(_) => items(value).map_err(|fault| fault.message),
        other => Err(format!("{name} is {}, and not {expected}", other.described())),
    }
}

/// A query with its list of documents, and perhaps their grades or scores.
#[derive(Debug, Default)]
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
        let mut digits = [0; LONGEST];
        for (at, doc) in docs.iter().enumerate() {
            let number = numbers.as_ref().map(|numbers| &*numbers[at]);
            match (role, number) {
                (Role::Qrels, grade) if group.is_empty() => {
                    rows.row(line, query, doc, grade.unwrap_or(b"1"));
                }
                (Role::Qrels, grade) => {
                    rows.grouped_row(line, query, group, doc, grade.unwrap_or(b"1"));
                }
                (Role::Run, score) => {
                    let rank = decimal(at + 1, &mut digits);
                    match score {
                        Some(score) => rows.ranked_row(line, query, doc, rank, score),
                        None => rows.row(line, query, doc, rank),
                    }
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

/// Writes an integer in decimal into `digits`, and returns the written digits.
fn decimal(number: usize, digits: &mut [u8; LONGEST]) -> &[u8] {
    let length = Integer::new(number as u64).write(digits);
    &digits[..length]
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

    #[test]
    fn integers_are_written_as_others_write_them() {
        for number in [0, 1, 9, 10, 99, 100, 1_234_567_890, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
