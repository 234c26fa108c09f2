//! Records with a list of documents: the order of the list is the ranking, or all of it is
//! relevant.
//!
//! ```text
//! {"user_input": "q1", "retrieved_context_ids": ["d7", "d9"], "reference_context_ids": ["d9"]}
//! ```
//!
//! A list of grades or scores may stand beside it.

use std::borrow::Cow;

use super::json::{Cursor, Stuck, Token};
use super::made::{MadeRows, wrong_id};
use crate::error::printable;
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::quoted;
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::shape::Role;

/// The keys of records with lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKeys {
    pub role: Role,
    pub query: Vec<u8>,
    pub docs: Vec<u8>,
    /// The key of the grades or scores, if there are any.
    pub numbers: Option<Vec<u8>>,
    /// The facets by which judgments are read, and their key.
    pub group: Option<(JudgedBy, Vec<u8>)>,
}

impl ListKeys {
    /// Describes a record, for messages.
    pub fn shape(&self) -> String {
        let group = self
            .group
            .as_ref()
            .map_or(String::new(), |(_, key)| format!("\"{}\": …, ", printable(key)));
        let list = |key: &[u8]| format!("\"{}\": […]", printable(key));
        let numbers = self.numbers.as_ref().map_or(String::new(), |key| format!(", {}", list(key)));
        format!("{{\"{}\": …, {group}{}{numbers}}}", printable(&self.query), list(&self.docs))
    }

    /// The layout of the table of rows made of records with these keys.
    pub fn table(&self) -> TableLayout {
        rows_of_lists(self.role, self.numbers.is_some(), self.group.is_some(), &self.shape())
    }
}

/// The table of rows that are made of lists.
pub(super) fn rows_of_lists(role: Role, numbers: bool, groups: bool, shape: &str) -> TableLayout {
    match role {
        Role::Qrels if groups => TableLayout::made_with_groups(NumberKind::Number, shape),
        Role::Qrels => TableLayout::made(NumberKind::Number, shape),
        Role::Run if numbers => TableLayout::made_with_ranks(NumberKind::Number, shape),
        Role::Run => TableLayout::made(NumberKind::Rank, shape),
    }
}

/// Reads the query or a document of a record.
pub(super) fn id<'t>(value: Token<'t>, what: &str) -> Result<Cow<'t, [u8]>, String> {
    match value {
        Token::String(id) => wrong_id(what, &id).map_or(Ok(id), Err),
        Token::Word(word) if is_integer(word) => Ok(Cow::Borrowed(word)),
        Token::Word(word) => {
            Err(format!("the {what} is {}, and neither a string nor an integer", quoted(word)))
        }
        Token::Open(_) => {
            Err(format!("the {what} is an object or an array, and neither a string nor an integer"))
        }
    }
}

fn is_integer(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// The values of a record with a list, or what is wrong with it.
pub(super) type FoundList<'t> = Result<ListOfQuery<'t>, String>;

/// A query with its documents.
#[derive(Debug, Default)]
pub(super) struct ListOfQuery<'t> {
    pub query: Cow<'t, [u8]>,
    pub group: Cow<'t, [u8]>,
    pub docs: Vec<Cow<'t, [u8]>>,
    /// A grade or a score for each document, if there are any.
    pub numbers: Option<Vec<Cow<'t, [u8]>>>,
}

/// Reads the lists of a record behind its opening brace.
pub(super) fn found_list<'t>(
    keys: &ListKeys,
    cursor: &mut Cursor<'t>,
) -> Result<FoundList<'t>, Stuck> {
    let group = keys.group.as_ref().map(|(_, key)| key);
    let places = [Some(&keys.query), Some(&keys.docs), keys.numbers.as_ref(), group];
    let (mut found, mut again) = ([const { None }; 4], None);
    each_field(cursor, |name, value, cursor| {
        let value = FieldValue::of(value, cursor)?;
        let at = places.iter().position(|key| key.is_some_and(|key| **key == *name));
        if let Some(at) = at
            && found[at].replace(value).is_some()
        {
            again = Some(at);
        }
        Ok(())
    })?;
    let name = |at: usize| quoted(places[at].map_or(&[], |key| &key[..]));
    Ok(list_of(keys, found, again, name))
}

/// Makes the list of the values of a record.
fn list_of<'t>(
    keys: &ListKeys,
    [query, docs, numbers, group]: [Option<FieldValue<'t>>; 4],
    again: Option<usize>,
    name: impl Fn(usize) -> String,
) -> FoundList<'t> {
    let missing = |at: usize| format!("there is no {} in the record", name(at));
    if let Some(at) = again {
        return Err(format!("{} occurs twice in the record", name(at)));
    }
    let query = query.ok_or_else(|| missing(0))?.single("query")?;
    let docs = docs.ok_or_else(|| missing(1))?.list(&name(1), "a list of ids")?;
    let docs: Vec<_> = docs.into_iter().map(|doc| id(doc, "document")).collect::<Result<_, _>>()?;
    let what = keys.role.number();
    let numbers = match &keys.numbers {
        None => None,
        Some(_) => {
            let numbers =
                numbers.ok_or_else(|| missing(2))?.list(&name(2), &format!("a list of {what}s"))?;
            Some(numbers.into_iter().map(|one| number(one, what)).collect::<Result<Vec<_>, _>>()?)
        }
    };
    if let Some(numbers) = &numbers
        && numbers.len() != docs.len()
    {
        return Err(wrong_lengths(docs.len(), numbers.len(), what));
    }
    let group = match &keys.group {
        None => Cow::default(),
        Some((by, _)) => group.ok_or_else(|| missing(3))?.single(&by.to_string())?,
    };
    Ok(ListOfQuery { query, group, docs, numbers })
}

/// Returns the message for a list of numbers and a list of ids of different lengths.
pub(super) fn wrong_lengths(ids: usize, numbers: usize, what: &str) -> String {
    let count =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} and {}: a {what} for each id was expected", count(ids, "id"), count(numbers, what))
}

/// Reads a number of a list.
pub(super) fn number<'t>(value: Token<'t>, what: &str) -> Result<Cow<'t, [u8]>, String> {
    match value {
        Token::Word(word) => Ok(Cow::Borrowed(word)),
        Token::String(string) => {
            Err(format!("a {what} is the string {}, and not a number", quoted(&string)))
        }
        Token::Open(_) => Err(format!("a {what} is an object or an array, and not a number")),
    }
}

/// The value of a field of a record: a token, or a list of tokens.
enum FieldValue<'t> {
    Single(Token<'t>),
    List(Vec<Token<'t>>),
}

impl<'t> FieldValue<'t> {
    /// Reads the rest of a value that began with a token.
    fn of(value: Token<'t>, cursor: &mut Cursor<'t>) -> Result<Self, Stuck> {
        match value {
            Token::Open(b'[') => items(cursor).map(FieldValue::List),
            Token::Open(open) => {
                cursor.skip_rest(open)?;
                Ok(FieldValue::Single(value))
            }
            single => Ok(FieldValue::Single(single)),
        }
    }

    /// Returns the id that the value is.
    fn single(self, what: &str) -> Result<Cow<'t, [u8]>, String> {
        match self {
            FieldValue::Single(token) => id(token, what),
            FieldValue::List(_) => id(Token::Open(b'['), what),
        }
    }

    /// Returns the list that the value of the key `name` is.
    fn list(self, name: &str, expected: &str) -> Result<Vec<Token<'t>>, String> {
        let is = match self {
            FieldValue::List(all) => return Ok(all),
            FieldValue::Single(Token::String(string)) => format!("the string {}", quoted(&string)),
            FieldValue::Single(Token::Word(word)) => quoted(word),
            FieldValue::Single(Token::Open(_)) => "an object".to_owned(),
        };
        Err(format!("{name} is {is}, and not {expected}"))
    }
}

/// Reads the values of an array that was opened. Arrays and objects among them are skipped.
pub(super) fn items<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<Token<'t>>, Stuck> {
    let mut all = Vec::new();
    if cursor.passes(b']')? {
        return Ok(all);
    }
    loop {
        let value = cursor.value()?;
        if let Token::Open(open) = value {
            cursor.skip_rest(open)?;
        }
        all.push(value);
        not_too_many(all.len())?;
        if !cursor.passes(b',')? {
            cursor.expect(b']', "',' or ']'")?;
            return Ok(all);
        }
    }
}

/// The most values of a list. In memory a value takes some forty times its two bytes of text.
const MOST: usize = 1 << 22;

/// Refuses a list that has more values than are read.
pub(super) fn not_too_many(values: usize) -> Result<(), Stuck> {
    if values > MOST {
        Err(Stuck::Wrong(format!("a list has more than {MOST} values, which is not read")))
    } else {
        Ok(())
    }
}

/// Passes the fields of an object that was opened to a function: their keys, their values or the
/// start of these, and the cursor behind, from which the function reads on.
pub(super) fn each_field<'t>(
    cursor: &mut Cursor<'t>,
    mut take: impl FnMut(Cow<'t, [u8]>, Token<'t>, &mut Cursor<'t>) -> Result<(), Stuck>,
) -> Result<(), Stuck> {
    if cursor.passes(b'}')? {
        return Ok(());
    }
    loop {
        let name = cursor.string("a key in quotes")?;
        cursor.expect(b':', "':'")?;
        let value = cursor.value()?;
        take(name, value, cursor)?;
        if !cursor.passes(b',')? {
            return cursor.expect(b'}', "',' or '}'");
        }
    }
}

/// The rows of a list that are still to be made. A list may come to much more than its text, for
/// each row names the query; so its rows are handed over some at a time.
#[derive(Debug, Default)]
pub(super) struct LeftRows {
    line: u64,
    query: Vec<u8>,
    group: Vec<u8>,
    /// The bytes of documents and their numbers, and where each of them ends.
    bytes: Vec<u8>,
    ends: Vec<[usize; 2]>,
    /// The number of rows made so far.
    made: usize,
    numbers: bool,
}

impl LeftRows {
    /// Takes the list of a record on line `line`.
    pub fn set(&mut self, line: u64, list: &ListOfQuery<'_>, rows: &mut MadeRows) {
        if list.docs.is_empty() {
            rows.bare_query(&list.query);
        }
        let LeftRows { query, group, bytes, ends, .. } = self;
        list.query.as_ref().clone_into(query);
        list.group.as_ref().clone_into(group);
        bytes.clear();
        ends.clear();
        for (at, doc) in list.docs.iter().enumerate() {
            bytes.extend_from_slice(doc);
            let of_doc = bytes.len();
            bytes.extend_from_slice(list.numbers.as_ref().map_or(b"", |numbers| &numbers[at]));
            ends.push([of_doc, bytes.len()]);
        }
        (self.line, self.made, self.numbers) = (line, 0, list.numbers.is_some());
    }

    /// Makes rows until there are enough, or none is left; returns whether none is left.
    pub fn make(&mut self, role: Role, rows: &mut MadeRows) -> bool {
        let (line, query) = (self.line, &self.query[..]);
        while let Some(&[of_doc, end]) = self.ends.get(self.made) {
            if rows.are_enough() {
                rows.more_follow();
                return false;
            }
            let start = self.made.checked_sub(1).map_or(0, |before| self.ends[before][1]);
            let (doc, number) = (&self.bytes[start..of_doc], &self.bytes[of_doc..end]);
            self.made += 1;
            let mut digits = [0; 20];
            match (role, self.numbers) {
                (Role::Qrels, numbers) => {
                    let grade = if numbers { number } else { b"1" };
                    match &self.group[..] {
                        [] => rows.row(line, query, doc, grade),
                        group => rows.wide_row(line, query, doc, group, grade),
                    }
                }
                (Role::Run, true) => {
                    rows.wide_row(line, query, doc, decimal(self.made, &mut digits), number);
                }
                (Role::Run, false) => rows.row(line, query, doc, decimal(self.made, &mut digits)),
            }
        }
        true
    }
}

/// Writes an integer, which has at most 20 digits.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_an_end() {
        let text = format!("{}1]", "1,".repeat(MOST));
        let read =
            |text: &str| items(&mut Cursor::new(text.as_bytes(), true, 1)).map(|all| all.len());
        assert_eq!(read(&text[2..]), Ok(MOST));
        let said = "a list has more than 4194304 values, which is not read";
        assert_eq!(read(&text), Err(Stuck::Wrong(said.to_owned())));
    }

    #[test]
    fn integers_are_written_as_others_write_them() {
        for number in [0, 1, 9, 10, 99, 100, 1_234_567_890, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
