//! JSON records: an object for each judgment or result, one a line, or in an array.
//!
//! ```text
//! {"query_id": "q1", "doc_id": "d7", "score": 0.5}
//! ```
//!
//! The first record decides which keys are read; records may have other keys. A record may also
//! have a list of documents (`lists`).

use std::borrow::Cow;

use memchr::memchr;

use super::ReadAs;
use super::alike::AlikeRecords;
use super::json::{Cursor, Stuck, Token, objects};
use super::lists::{FoundList, LeftRows, ListKeys, each_field, found_list, id};
use super::made::{MadeOf, MadeRows, MakeRows};
use super::names::{CellShape, ChosenColumns, ChosenLists, ChosenRows, NotChosen, choose_rows};
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::quoted;
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::shape::Role;

/// The keys that are read: of a document in each record, or of a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordKeys {
    Single(SingleKeys),
    Lists(ListKeys),
}

/// The keys of records with one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleKeys {
    /// The keys of the query, of the document and of the number.
    names: [Vec<u8>; 3],
    value: NumberKind,
    /// The key of the rank, if there is a score too.
    rank: Option<Vec<u8>>,
    /// The facets by which judgments are read, and their key.
    group: Option<(JudgedBy, Vec<u8>)>,
}

impl RecordKeys {
    /// Finds the keys in the first record of a text, which may be the first of an array.
    ///
    /// # Errors
    /// Keys are missing, or there is no record.
    pub fn of(
        text: &[u8],
        role: Role,
        by: Option<JudgedBy>,
        read_as: &ReadAs,
    ) -> Result<Self, String> {
        let mut cursor = Cursor::new(text, true, 1);
        let said = |stuck: Stuck| match stuck {
            Stuck::Wrong(message) => message,
            Stuck::Incomplete => "the first record is not complete".to_owned(),
        };
        let in_array = cursor.passes(b'[').map_err(said)?;
        let expected = || expected(role, in_array);
        if in_array && cursor.peek().map_err(said)? == Some(b']') {
            return Err(format!("the array is empty: {} was expected", expected()));
        }
        cursor.expect(b'{', &expected()).map_err(said)?;
        let (names, shapes) = keys_of_first(&mut cursor).map_err(said)?;
        if names.is_empty() {
            return Err(format!("the first record has no keys: {} was expected", expected()));
        }
        let all: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
        match choose_rows(&all, &shapes, role, by, read_as.columns.as_ref()) {
            Ok(chosen) => Ok(RecordKeys::of_chosen(chosen, &names, role, by)),
            Err(NotChosen::Wrong(message)) => Err(message),
            Err(NotChosen::Missing(missing)) => Err(missing.message(read_as.options)),
            Err(NotChosen::NoNames(missing))
                if !in_array && shapes[0] == CellShape::List && missing.met.is_none() =>
            {
                Err(format!(
                    "query {} has an array, and not an object of documents: expected '{}'",
                    quoted(&names[0]),
                    objects(role.number())
                ))
            }
            Err(NotChosen::NoNames(missing)) => Err(format!(
                "the keys of the first record are {}, and {} is known: {} was expected; `{}` names \
                 other keys",
                missing.among.join(", "),
                missing.met.map_or("none".to_owned(), |met| format!("only {met}")),
                expected(),
                read_as.options.columns_by_name(role, None)
            )),
        }
    }

    /// Returns the keys chosen among `names`.
    fn of_chosen(chosen: ChosenRows, names: &[Vec<u8>], role: Role, by: Option<JudgedBy>) -> Self {
        let name = |at: usize| names[at].clone();
        match chosen {
            ChosenRows::Single(ChosenColumns { query, doc, number, value, rank, group }) => {
                RecordKeys::Single(SingleKeys {
                    names: [query, doc, number].map(name),
                    value,
                    rank: rank.map(name),
                    group: by.zip(group.map(name)),
                })
            }
            ChosenRows::Lists(ChosenLists { query, docs, numbers, group }) => {
                RecordKeys::Lists(ListKeys {
                    role,
                    query: name(query),
                    docs: name(docs),
                    numbers: numbers.map(name),
                    group: by.zip(group.map(name)),
                })
            }
        }
    }

    /// The layout of the table of rows made of records with these keys.
    pub fn table(&self) -> TableLayout {
        match self {
            RecordKeys::Single(keys) => keys.table(),
            RecordKeys::Lists(keys) => keys.table(),
        }
    }

    /// Describes a record, for messages.
    pub fn shape(&self) -> String {
        match self {
            RecordKeys::Single(keys) => keys.shape(),
            RecordKeys::Lists(keys) => keys.shape(),
        }
    }

    /// The name of the numbers of the records: `rank`, or the usual name for the role.
    pub fn number(&self, role: Role) -> &'static str {
        match self {
            RecordKeys::Single(keys) if keys.value != NumberKind::Number => "rank",
            _ => role.number(),
        }
    }
}

impl SingleKeys {
    fn table(&self) -> TableLayout {
        let shape = self.shape();
        match (&self.rank, &self.group) {
            (Some(_), _) => TableLayout::made_with_ranks(self.value, &shape),
            (None, Some(_)) => TableLayout::made_with_groups(self.value, &shape),
            (None, None) => TableLayout::made(self.value, &shape),
        }
    }

    /// The key of the rank of a result, or of the group of a judgment, if it is read.
    fn other(&self) -> Option<&[u8]> {
        self.rank.as_deref().or(self.group.as_ref().map(|(_, key)| &key[..]))
    }

    /// The number of keys to read.
    fn count(&self) -> usize {
        self.names.len() + usize::from(self.other().is_some())
    }

    /// The index of the key `name` among the keys to read; the key of the rank or the group is the
    /// last.
    fn place(&self, name: &[u8]) -> Option<usize> {
        let other = || (self.other() == Some(name)).then_some(self.names.len());
        self.names.iter().position(|key| key == name).or_else(other)
    }

    fn shape(&self) -> String {
        let [query, doc, number] = self.names.each_ref().map(|name| crate::error::printable(name));
        let group = self
            .group
            .as_ref()
            .map(|(_, key)| format!("\"{}\": …, ", crate::error::printable(key)));
        format!("{{\"{query}\": …, {}\"{doc}\": …, \"{number}\": …}}", group.unwrap_or_default())
    }
}

/// Reads the keys of a record behind its opening brace, and the shape of each value.
fn keys_of_first(cursor: &mut Cursor<'_>) -> Result<(Vec<Vec<u8>>, Vec<CellShape>), Stuck> {
    let (mut names, mut shapes): (Vec<Vec<u8>>, Vec<CellShape>) = Default::default();
    each_field(cursor, |name, value, cursor| {
        names.push(name.to_vec());
        shapes.push(match value {
            Token::Open(b'[') => CellShape::List,
            Token::Word(b"null") => CellShape::Null,
            _ => CellShape::Single,
        });
        skip_value(&value, cursor)
    })?;
    Ok((names, shapes))
}

/// Records with these keys.
#[derive(Debug)]
pub(super) struct OfRecords {
    pub keys: RecordKeys,
    /// What their numbers are called.
    pub number: &'static str,
    /// Whether the records are in an array; otherwise each record has a line.
    pub in_array: bool,
}

impl MadeOf for OfRecords {
    fn maker(&self) -> std::io::Result<Box<dyn MakeRows + '_>> {
        let keys = self.keys.clone();
        if self.in_array {
            Ok(Box::new(RecordArray::new(keys, self.number)))
        } else {
            Ok(Box::new(RecordLines::new(keys, self.number)))
        }
    }

    fn has_names(&self) -> bool {
        true
    }
}

/// Describes what is expected where records begin.
fn expected(role: Role, in_array: bool) -> String {
    let (record, number) =
        (r#"a record such as {"query_id": "q1", "doc_id": "d1", "#, role.number());
    let value = if role == Role::Qrels { "1" } else { "0.5" };
    let objects = if in_array { String::new() } else { format!(", or {}", objects(number)) };
    format!("{record}\"{number}\": {value}}}{objects}")
}

/// The content of a record: the values of the keys, and the index of a key that is there twice.
type FoundKeys<'t> = ([Option<Token<'t>>; 4], Option<usize>);

/// Passes the rest of a value, if it is an array or an object.
fn skip_value(value: &Token<'_>, cursor: &mut Cursor<'_>) -> Result<(), Stuck> {
    if let Token::Open(open) = value { cursor.skip_rest(*open) } else { Ok(()) }
}

/// Reads the values of a record behind its opening brace.
fn found<'t>(keys: &SingleKeys, cursor: &mut Cursor<'t>) -> Result<FoundKeys<'t>, Stuck> {
    let (mut found, mut again) = ([None, None, None, None], None);
    each_field(cursor, |name, value, cursor| {
        skip_value(&value, cursor)?;
        if let Some(at) = keys.place(&name)
            && found[at].replace(value).is_some()
        {
            again = Some(at);
        }
        Ok(())
    })?;
    Ok((found, again))
}

/// The content of a record, of either kind.
enum FoundRecord<'t> {
    Single(FoundKeys<'t>),
    List(FoundList<'t>),
}

/// Reads records, and makes their rows.
#[derive(Debug)]
struct RecordReader {
    keys: RecordKeys,
    number: &'static str,
    pending: LeftRows,
}

impl RecordReader {
    fn new(keys: RecordKeys, number: &'static str) -> Self {
        RecordReader { keys, number, pending: LeftRows::default() }
    }

    /// Reads a record, of either kind, behind its opening brace.
    #[inline]
    fn found<'t>(&self, cursor: &mut Cursor<'t>) -> Result<FoundRecord<'t>, Stuck> {
        match &self.keys {
            RecordKeys::Single(keys) => found(keys, cursor).map(FoundRecord::Single),
            RecordKeys::Lists(keys) => found_list(keys, cursor).map(FoundRecord::List),
        }
    }

    /// Makes the rows of the record on line `line`, or the first of them.
    #[inline]
    fn add(&mut self, line: u64, found: FoundRecord<'_>, rows: &mut MadeRows) {
        match (found, &self.keys) {
            (FoundRecord::Single(found), RecordKeys::Single(keys)) => {
                row(keys, self.number, line, found, rows)
            }
            (FoundRecord::List(Ok(list)), _) => {
                self.pending.set(line, &list, rows);
                self.make_pending(rows);
            }
            (FoundRecord::List(Err(message)), _) => rows.wrong(line, &message),
            (FoundRecord::Single(_), RecordKeys::Lists(_)) => {}
        }
    }

    /// Makes rows that are still to be made of a record; returns whether all are made.
    fn make_pending(&mut self, rows: &mut MadeRows) -> bool {
        match &self.keys {
            RecordKeys::Single(_) => true,
            RecordKeys::Lists(keys) => self.pending.make(keys.role, rows),
        }
    }
}

/// Makes a row of the record on line `line`.
fn row(
    keys: &SingleKeys,
    number: &str,
    line: u64,
    (found, again): FoundKeys<'_>,
    rows: &mut MadeRows,
) {
    let name = |at: usize| {
        quoted(keys.names.get(at).map(Vec::as_slice).or(keys.other()).unwrap_or_default())
    };
    let missing = |at: usize| format!("there is no {} in the record", name(at));
    let row = || {
        if let Some(at) = again {
            return Err(format!("{} occurs twice in the record", name(at)));
        }
        let [query, doc, value, other] = found;
        let query = id(query.ok_or_else(|| missing(0))?, "query")?;
        let doc = id(doc.ok_or_else(|| missing(1))?, "document")?;
        let other = match (&keys.group, other) {
            (Some((by, _)), group) => id(group.ok_or_else(|| missing(3))?, &by.to_string())?,
            // A rank matters only where it orders equal scores. A value that is not a rank is left
            // empty until then.
            (None, Some(Token::Word(word))) => Cow::Borrowed(word),
            (None, Some(rank)) => id(rank, "rank").unwrap_or_default(),
            (None, None) => Cow::default(),
        };
        match value.ok_or_else(|| missing(2))? {
            Token::Word(word) => Ok((query, doc, word, other)),
            Token::String(string) => {
                Err(format!("the {number} is the string {}, and not a number", quoted(&string)))
            }
            Token::Open(_) => {
                Err(format!("the {number} is an object or an array, and not a number"))
            }
        }
    };
    match row() {
        Ok((query, doc, word, other)) if keys.other().is_some() => {
            rows.wide_row(line, &query, &doc, &other, word);
        }
        Ok((query, doc, word, _)) => rows.row(line, &query, &doc, word),
        Err(message) => rows.wrong(line, &message),
    }
}

/// Makes rows of records, one on each line.
#[derive(Debug)]
pub(super) struct RecordLines {
    reader: RecordReader,
    alike: AlikeRecords,
    line: u64,
}

impl RecordLines {
    pub fn new(keys: RecordKeys, number: &'static str) -> Self {
        RecordLines {
            reader: RecordReader::new(keys, number),
            alike: AlikeRecords::default(),
            line: 0,
        }
    }

    fn line(&mut self, text: &[u8], rows: &mut MadeRows) {
        self.line += 1;
        let (line, reader) = (self.line, &mut self.reader);
        if let (RecordKeys::Single(keys), Some([query, doc, number, other])) =
            (&reader.keys, self.alike.read(text))
        {
            match keys.other() {
                Some(_) => rows.wide_row(line, query, doc, other, number),
                None => rows.row(line, query, doc, number),
            }
            return;
        }
        let mut cursor = Cursor::new(text, true, line);
        let mut read = || {
            if cursor.peek()?.is_none() {
                return Ok(());
            }
            cursor.expect(b'{', "a record, which starts with '{',")?;
            let found = reader.found(&mut cursor)?;
            match cursor.peek()? {
                None => reader.add(line, found, rows),
                Some(_) => return Err(cursor.unexpected("the end of the line")),
            }
            Ok(())
        };
        match (read(), &reader.keys) {
            (Err(Stuck::Wrong(message)), _) => rows.wrong(line, &message),
            (Ok(()), RecordKeys::Single(keys)) => {
                self.alike.learn(text, keys.count(), |name| keys.place(name))
            }
            _ => {}
        }
    }
}

impl MakeRows for RecordLines {
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> std::io::Result<usize> {
        let mut start = 0;
        while self.reader.make_pending(rows) {
            let rest = &text[start..];
            match memchr(b'\n', rest) {
                Some(length) => {
                    self.line(&rest[..length], rows);
                    start += length + 1;
                }
                None if ended && !rest.is_empty() => {
                    self.line(rest, rows);
                    start = text.len();
                }
                None => break,
            }
        }
        Ok(start)
    }
}

/// Makes rows of an array of records.
#[derive(Debug)]
pub(super) struct RecordArray {
    reader: RecordReader,
    line: u64,
    place: ArrayPosition,
}

/// A position in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrayPosition {
    Before,
    /// In the array, before the first record or another.
    Within {
        first: bool,
    },
    Behind,
}

impl RecordArray {
    pub fn new(keys: RecordKeys, number: &'static str) -> Self {
        RecordArray {
            reader: RecordReader::new(keys, number),
            line: 1,
            place: ArrayPosition::Before,
        }
    }

    /// Reads the next item; returns `false` at the end.
    fn step(&mut self, cursor: &mut Cursor<'_>, rows: &mut MadeRows) -> Result<bool, Stuck> {
        self.place = match self.place {
            ArrayPosition::Before => {
                cursor.expect(b'[', "'['")?;
                ArrayPosition::Within { first: true }
            }
            ArrayPosition::Within { first } => {
                let follows = first || cursor.passes(b',')?;
                if (first || !follows) && cursor.passes(b']')? {
                    ArrayPosition::Behind
                } else if !follows {
                    return Err(cursor.unexpected("',' or ']'"));
                } else {
                    cursor.expect(b'{', "a record, which starts with '{',")?;
                    let line = cursor.line;
                    let found = self.reader.found(cursor)?;
                    self.reader.add(line, found, rows);
                    ArrayPosition::Within { first: false }
                }
            }
            ArrayPosition::Behind => match cursor.peek()? {
                None => return Ok(false),
                Some(_) => return Err(cursor.unexpected("the end of the text")),
            },
        };
        Ok(true)
    }
}

impl MakeRows for RecordArray {
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> std::io::Result<usize> {
        let mut cursor = Cursor::new(text, ended, self.line);
        while self.reader.make_pending(rows) {
            let before = (cursor, self.place);
            match self.step(&mut cursor, rows) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Stuck::Incomplete) => {
                    (cursor, self.place) = before;
                    break;
                }
                Err(Stuck::Wrong(message)) => {
                    rows.wrong_from_here(cursor.line, &message);
                    break;
                }
            }
        }
        self.line = cursor.line;
        Ok(cursor.at)
    }
}
