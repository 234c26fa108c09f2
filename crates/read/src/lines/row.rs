//! A row, one judgment or one result: the places of its fields in a text, and who takes it.
//!
//! ```text
//! text   q1 Q0 d7 1 2.5 mine ⏎        TREC and tables: rows lie in the text as it is
//!        └┘    └┘ │ └─┘ └──┘
//!      query  doc │ number tag
//!               rank
//!
//! batch  q1 ¦ 3 d7 ¦ 2.5 ¦ 3 d9 ¦ 1   any other format: a batch copies the fields of its rows to a
//!             └─ the line             text of its own, where docnos lie as the store for lines in
//!                                     any order copies them
//! ```
//!
//! Every format gives the same rows, and every reader takes them: records for the join, rows for
//! conversion, previews. A row is the text with the places of its fields, and not a few slices,
//! because hashing and parsing read whole words beyond a field.

use std::borrow::Cow;

use super::{
    diagnostics::quoted, dialect::Rules, grade_words::GradeWords, layout::NumberKind, shape::Role,
};
use crate::error::printable;

/// The start and the end of a field in a text.
pub type Place = [usize; 2];

/// A judgment or a result: its number, and the places of its fields in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The line of the row, from 1, in its chunk; in a batch of a format without lines of a row
    /// each, the line in the input.
    pub line: u64,
    pub query: Place,
    pub doc: Place,
    /// The place of the grade, score or rank; empty for a number that is not written as text.
    pub number: Place,
    /// The grade, score or rank.
    pub value: f64,
    /// The rank beside the score.
    pub rank: Option<Place>,
    /// The judge, subtopic or group of a judgment.
    pub group: Option<Place>,
    /// The group within the group, which only preferences have.
    pub subgroup: Option<Place>,
    /// The tag; in TREC text its first word.
    pub tag: Option<Place>,
}

impl Row {
    /// Returns the name of a field beside the others that is empty.
    #[inline(always)]
    pub fn empty_field(&self) -> Option<&'static str> {
        let is_empty = |field: Option<Place>| field.is_some_and(|[start, end]| start == end);
        if is_empty(self.rank) { Some("rank") } else { is_empty(self.group).then_some("group") }
    }
}

/// Returns the grade of a word in the place of a number, and the place of a number that is not
/// written as text; `None` if the text is no word with a grade.
#[cold]
pub fn grade_of_word(
    words: Option<&GradeWords>,
    text: &[u8],
    [start, end]: Place,
) -> Option<(f64, Place)> {
    Some((words?.grade(&text[start..end])?, [start, start]))
}

/// A taker of the rows of a text, with the faults of lines that are no rows.
pub trait RowSink {
    /// Whether the ranks, groups and tags of tables are taken, which takes time to find.
    const ALL_FIELDS: bool;

    /// Takes a row, whose fields lie in `text`; neither its query nor its document is empty.
    fn row(&mut self, text: &[u8], row: Row);

    /// Takes the fault of line `line`, found at byte `at` of the text.
    fn fault(&mut self, at: usize, line: u64, message: impl FnOnce() -> String);

    /// Takes a line of TREC text, from byte `at` on, that is no row.
    fn wrong_line(&mut self, at: usize, line: u64, bytes: &[u8], role: Role, rules: &Rules) {
        self.fault(at, line, || role.complaint_about(bytes, *rules));
    }
}

/// The shape of the rows of a format that is neither TREC nor a table, and what they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowForm {
    /// The shape of the text, for messages.
    pub shape: String,
    pub value: NumberKind,
    pub has_ranks: bool,
    pub has_groups: bool,
    /// The grades of words, if words may stand in the place of numbers.
    pub words: Option<GradeWords>,
}

impl RowForm {
    /// Makes the form of rows of query, document and number.
    pub fn new(value: NumberKind, shape: impl Into<String>) -> Self {
        Self { shape: shape.into(), value, has_ranks: false, has_groups: false, words: None }
    }

    /// Returns the expected shape of the text, for messages.
    pub fn expected(&self) -> String {
        format!("expected '{}'", self.shape)
    }
}

/// Rows of a format that is neither TREC nor a table, with the faults found among them.
#[derive(Debug, Default)]
pub struct RowBatch {
    text: Vec<u8>,
    rows: Vec<BatchRow>,
    /// The numbers of the rows, if they never were text.
    values: Vec<f64>,
    /// The places of the groups of the rows, if they have groups.
    groups: Vec<[u32; 2]>,
    /// Parts of the input that are still to be read, in the place of rows.
    entries: Vec<BatchEntry>,
    faults: Vec<BatchFault>,
    /// The queries without documents, such as `"q": {}`: no row can name them.
    pub bare: Vec<BareQuery>,
    /// The place of the query of the last row.
    query: [u32; 2],
    /// Whether no more rows follow: the rest of the input cannot be read.
    pub ended: bool,
    /// The number of bytes that are wanted, if not [`ENOUGH`].
    wanted: usize,
}

/// A query without documents, which has no row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BareQuery {
    pub id: Vec<u8>,
    /// Whether the query has an empty list of documents, which says that it was judged, and that
    /// none is relevant.
    pub is_judged: bool,
}

/// A row of a batch, with the places of its fields in the text of the batch: the query, and the
/// docno with the number of the line before it, behind which follow the rank, if rows have ranks,
/// and the number.
#[derive(Debug, Clone, Copy)]
struct BatchRow {
    query: [u32; 2],
    doc: [u32; 2],
    number: [u32; 2],
}

/// An entry of a batch, with the places of its key and its value in the text of the batch.
#[derive(Debug)]
struct BatchEntry {
    line: u64,
    value_line: u64,
    key: [u32; 2],
    value: [u32; 2],
}

/// A part of an input that is read alone, such as a query of JSON with the object of its documents.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    /// The line of the key, and that on which the value begins.
    pub line: u64,
    pub value_line: u64,
    /// The key as it is written, without its quotes; empty for an item of an array.
    pub key: &'t [u8],
    pub value: &'t [u8],
}

/// A fault behind the first `rows` rows or entries of a batch.
#[derive(Debug)]
struct BatchFault {
    rows: usize,
    line: u64,
    message: String,
}

/// The number of bytes of rows from which on a batch is handed over.
const ENOUGH: usize = 256 << 10;

/// The most bytes of an id.
const LONGEST_ID: usize = 64 << 10;

/// Checks a query or document id of a format without lines; returns an error message that calls the
/// id `what`, or `None` if it is valid.
pub fn wrong_id(what: &str, id: &[u8]) -> Option<String> {
    if id.is_empty() {
        return Some(format!("the {what} is empty"));
    }
    if id.len() > LONGEST_ID {
        return Some(format!("the {what} {} has more than 64 KiB", quoted(id)));
    }
    let control = id.iter().find(|&&byte| byte < b' ')?;
    Some(format!(
        "the {what} {} has a control character in it ({})",
        quoted(id),
        printable(&[*control])
    ))
}

/// The most bytes of the rows of a batch, but for a row; places have 32 bits.
const MOST_TEXT: usize = 2 << 30;

/// The bytes before a docno: the number of its line.
pub const BEFORE_DOCNO: usize = size_of::<u32>();
/// The bytes between a docno and its rank: the length of the rank.
const BEFORE_RANK: usize = size_of::<u32>();

/// Copies a docno to a text, behind the number of its line, and perhaps with its rank behind it;
/// returns the docno's offset there.
#[inline(always)]
pub fn copy_docno(text: &mut Vec<u8>, line: u64, docno: &[u8], rank: Option<&[u8]>) -> usize {
    // The text is gone when a message needs the line, so its number goes before the docno: 4 bytes,
    // where a field of the record would cost 8 for all records of all inputs.
    text.extend_from_slice(&u32::try_from(line).unwrap_or(u32::MAX).to_le_bytes());
    let at = text.len();
    text.extend_from_slice(docno);
    if let Some(rank) = rank {
        text.extend_from_slice(&(rank.len() as u32).to_le_bytes());
        text.extend_from_slice(rank);
    }
    at
}

/// Returns the line of a docno that was copied to offset `at` of a text.
pub fn copied_line(text: &[u8], at: usize) -> u64 {
    text[..at].last_chunk().map_or(0, |&line| u64::from(u32::from_le_bytes(line)))
}

/// Returns the rank that was copied behind the docno that ends at offset `end` of a text.
pub fn copied_rank(text: &[u8], end: usize) -> &[u8] {
    let Some((length, rest)) = text[end..].split_first_chunk() else { return &[] };
    &rest[..u32::from_le_bytes(*length) as usize]
}

impl RowBatch {
    /// Adds a row of query, document and number, which stands on line `line`.
    #[inline]
    pub fn row(&mut self, line: u64, query: &[u8], doc: &[u8], number: &[u8]) {
        self.add(line, query, doc, None, number);
    }

    /// Adds a row with a number that is not written as text. All rows of the batch have such
    /// numbers.
    #[inline]
    pub fn row_of_value(&mut self, line: u64, query: &[u8], doc: &[u8], value: f64) {
        self.add(line, query, doc, None, b"");
        self.values.push(value);
    }

    /// Adds a row of a result with a rank beside its score.
    #[inline]
    pub fn ranked_row(&mut self, line: u64, query: &[u8], doc: &[u8], rank: &[u8], score: &[u8]) {
        self.add(line, query, doc, Some(rank), score);
    }

    /// Adds a row of a judgment by judge or subtopic.
    pub fn grouped_row(&mut self, line: u64, query: &[u8], group: &[u8], doc: &[u8], grade: &[u8]) {
        self.add(line, query, doc, None, grade);
        self.add_group(group);
    }

    fn add_group(&mut self, group: &[u8]) {
        // Rows of a list have one group, which is there once.
        let last = self.groups.last().copied().filter(|last| self.field(*last) == group);
        let place = last.unwrap_or_else(|| self.put(group));
        self.groups.push(place);
    }

    #[inline(always)]
    fn add(&mut self, line: u64, query: &[u8], doc: &[u8], rank: Option<&[u8]>, number: &[u8]) {
        if self.text.len() > MOST_TEXT {
            return self.refuse(line);
        }
        let [start, end] = self.query;
        if self.text[start as usize..end as usize] != *query {
            self.query = self.put(query);
        }
        let at = copy_docno(&mut self.text, line, doc, rank);
        let doc = [at, at + doc.len()].map(|at| at as u32);
        let number = self.put(number);
        self.rows.push(BatchRow { query: self.query, doc, number });
    }

    /// Refuses the rows behind 2 GiB of text: a place in the text of a batch has 32 bits.
    #[cold]
    fn refuse(&mut self, line: u64) {
        if !self.ended {
            self.end_with(line, "the rows of a query have more than 2 GiB, which is not read");
        }
    }

    #[inline(always)]
    fn put(&mut self, field: &[u8]) -> [u32; 2] {
        let start = self.text.len();
        self.text.extend_from_slice(field);
        [start as u32, self.text.len() as u32]
    }

    /// Adds an entry, of which a worker makes rows.
    pub fn entry(&mut self, Entry { line, value_line, key, value }: Entry<'_>) {
        let (key, value) = (self.put(key), self.put(value));
        self.entries.push(BatchEntry { line, value_line, key, value });
    }

    /// Adds a fault on line `line`; line 0 stands for the whole input.
    pub fn fault(&mut self, line: u64, message: impl Into<String>) {
        let rows = self.rows.len() + self.entries.len();
        self.faults.push(BatchFault { rows, line, message: message.into() });
    }

    /// Adds a fault on line `line`, behind which nothing can be read.
    pub fn end_with(&mut self, line: u64, message: impl Into<String>) {
        self.fault(line, message);
        self.ended = true;
    }

    /// Returns whether there are enough rows (256 KiB, or more where all are of one query) to hand
    /// them over.
    #[inline(always)]
    pub fn are_enough(&self) -> bool {
        self.text.len() >= self.wanted.max(ENOUGH)
    }

    /// Asks for twice as many rows as there are.
    pub fn want_more(&mut self) {
        self.wanted = 2 * self.text.len();
    }

    /// Returns whether the batch has neither rows nor faults.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.entries.is_empty() && self.faults.is_empty()
    }

    /// Returns whether the batch has entries, of which rows are still to be made.
    pub fn has_entries(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Returns the line of the last row or entry; 0 without one.
    pub fn last_line(&self) -> u64 {
        let of_row = |row: &BatchRow| copied_line(&self.text, row.doc[0] as usize);
        let entry = self.entries.last().map(|entry| entry.line);
        entry.or(self.rows.last().map(of_row)).unwrap_or(0)
    }

    /// Returns an entry of the batch.
    fn entry_at(&self, entry: &BatchEntry) -> Entry<'_> {
        let BatchEntry { line, value_line, key, value } = *entry;
        Entry { line, value_line, key: self.field(key), value: self.field(value) }
    }

    fn field(&self, [start, end]: [u32; 2]) -> &[u8] {
        &self.text[start as usize..end as usize]
    }

    /// Adds to `rows` what `read` makes of each entry, with the faults between entries.
    pub fn read_entries(
        &self,
        rows: &mut RowBatch,
        mut read: impl FnMut(Entry<'_>, &mut RowBatch),
    ) {
        let mut faults = self.faults.iter().peekable();
        for (number, entry) in self.entries.iter().enumerate() {
            while let Some(fault) = faults.next_if(|fault| fault.rows <= number) {
                rows.fault(fault.line, &*fault.message);
            }
            read(self.entry_at(entry), rows);
        }
        faults.for_each(|fault| rows.fault(fault.line, &*fault.message));
    }

    /// Moves the rows or entries of the last query, which may go on, to `rest`, which is empty;
    /// `query` returns the query of an entry, or `None` if an entry is a whole query. Returns
    /// `false` if all rows are of one query.
    pub fn split_last_query<'b>(
        &'b mut self,
        rest: &mut RowBatch,
        query: impl for<'t> Fn(Entry<'t>) -> Option<Cow<'t, [u8]>>,
    ) -> bool {
        let first = if let Some(last) = self.rows.last() {
            let query = last.query;
            self.rows.iter().rposition(|row| row.query != query).map(|at| at + 1)
        } else {
            let query = |entry: &BatchEntry| query(self.entry_at(entry)).map(Cow::into_owned);
            match self.entries.last().and_then(query) {
                None => return true,
                last => {
                    self.entries.iter().rposition(|entry| query(entry) != last).map(|at| at + 1)
                }
            }
        };
        let Some(first) = first else { return false };
        for (at, row) in self.rows.iter().enumerate().skip(first) {
            let line = copied_line(&self.text, row.doc[0] as usize);
            let [query, doc, number] = [row.query, row.doc, row.number].map(|f| self.field(f));
            let has_rank = row.number[0] > row.doc[1];
            let rank = has_rank.then(|| copied_rank(&self.text, row.doc[1] as usize));
            rest.add(line, query, doc, rank, number);
            rest.values.extend(self.values.get(at));
            if let Some(group) = self.groups.get(at) {
                rest.add_group(self.field(*group));
            }
        }
        self.entries.iter().skip(first).for_each(|entry| rest.entry(self.entry_at(entry)));
        let of_rest = self.faults.partition_point(|fault| fault.rows <= first);
        let faults = self.faults.drain(of_rest..);
        rest.faults.extend(faults.map(|fault| BatchFault { rows: fault.rows - first, ..fault }));
        self.rows.truncate(first);
        self.values.truncate(first);
        self.groups.truncate(first);
        self.entries.truncate(first);
        true
    }

    /// Returns the state of the batch, to which [`RowBatch::back_to`] leads back.
    pub fn mark(&self) -> [usize; 3] {
        [self.text.len(), self.rows.len(), self.faults.len()]
    }

    /// Removes the rows and faults that were added since `mark`.
    pub fn back_to(&mut self, [text, rows, faults]: [usize; 3]) {
        self.text.truncate(text);
        self.rows.truncate(rows);
        self.faults.truncate(faults);
        self.groups.truncate(rows);
        self.query = [0, 0];
    }

    /// Removes all rows and faults, and keeps their memory for others.
    pub fn clear(&mut self) {
        self.text.clear();
        self.rows.clear();
        self.values.clear();
        self.groups.clear();
        self.entries.clear();
        self.faults.clear();
        self.bare.clear();
        (self.query, self.ended, self.wanted) = ([0, 0], false, 0);
    }

    /// Removes all rows, and returns the memory of their text for another one.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.clear();
        &mut self.text
    }

    /// Returns the text of the rows.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Passes all rows and faults to `sink`, in order.
    pub fn each<S: RowSink>(&self, form: &RowForm, role: Role, rules: &Rules, sink: &mut S) {
        let mut faults = self.faults.iter().peekable();
        for (at, row) in self.rows.iter().enumerate() {
            let [query, doc, number] =
                [row.query, row.doc, row.number].map(|place| place.map(|at| at as usize));
            while let Some(fault) = faults.next_if(|fault| fault.rows <= at) {
                sink.fault(doc[0], fault.line, || fault.message.clone());
            }
            let read = match self.values.get(at) {
                Some(value) => Some((*value, number)),
                None => match form.value.parse(&self.text, number, role.parser(rules)) {
                    Some(value) => Some((value, number)),
                    None => grade_of_word(form.words.as_ref(), &self.text, number),
                },
            };
            let line = copied_line(&self.text, doc[0]);
            let Some((value, number)) = read else {
                sink.fault(doc[0], line, || {
                    let [query, doc, field] =
                        [row.query, row.doc, row.number].map(|at| self.field(at));
                    let given = form.words.as_ref().filter(|words| words.are_given());
                    let words =
                        given.map_or(String::new(), |words| format!(", and no word of {words}"));
                    let fault = form.value.fault(role, field, [query, doc]);
                    format!("{fault}{words}: {}", form.expected())
                });
                continue;
            };
            // The rank stands before the number.
            let rank = form.has_ranks.then_some([doc[1] + BEFORE_RANK, number[0]]);
            let group = self.groups.get(at).map(|place| place.map(|at| at as usize));
            let row =
                Row { line, query, doc, number, value, rank, group, subgroup: None, tag: None };
            match row.empty_field().filter(|_| S::ALL_FIELDS) {
                None => sink.row(&self.text, row),
                Some(what) => sink.fault(doc[0], line, || {
                    format!("the {what} is missing or empty: {}", form.expected())
                }),
            }
        }
        faults.for_each(|fault| sink.fault(self.text.len(), fault.line, || fault.message.clone()));
    }
}
