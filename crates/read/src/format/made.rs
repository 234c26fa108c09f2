//! Rows that are made of another format: a stream of text goes in, and lines of three fields come
//! out.
//!
//! Fields end with a byte that no id has (`UNIT`), so ids may have blanks. An error in the text is
//! a line of its own (`WRONG`), so that all errors are reported in order. `LineOrigins` maps each
//! made line to its line of the text.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::bytes::limits::{LONGEST_LINE, UNIT, WRONG};
use crate::error::printable;
use crate::lines::diagnostics::quoted;

/// A maker of rows of another format.
pub trait MakeRows: Send {
    /// Makes rows from the start of `text`; `ended` says that no text follows. Returns how many
    /// bytes of `text` are finished: 0 if more text is needed, or at the end of the text.
    ///
    /// # Errors
    /// A second text, read beside `text`, that cannot be read.
    fn make(&mut self, text: &[u8], ended: bool, rows: &mut MadeRows) -> io::Result<usize>;
}

/// A text of another format: what its rows are made of, beside its bytes.
pub trait MadeOf: std::fmt::Debug + Send + Sync {
    /// Returns a maker at the start of the text.
    ///
    /// # Errors
    /// A second text, read beside this text, that cannot be read.
    fn maker(&self) -> io::Result<Box<dyn MakeRows + '_>>;

    /// Whether the text has names by which a document can be chosen: of columns, or of keys.
    fn has_names(&self) -> bool {
        false
    }
}

/// The number of bytes of rows after which a maker should stop and hand them over.
const ENOUGH: usize = 256 << 10;
/// The most bytes that are written for a plain row.
const PLAIN: usize = 256;

/// The lines that were made.
#[derive(Debug)]
pub struct MadeRows {
    /// The buffer of the lines, of which the first `filled` bytes are used.
    text: Vec<u8>,
    filled: usize,
    /// The start of rows of the current query: the query and the byte behind it; empty if this is
    /// longer than the buffer.
    prefix: ([u8; 64], usize),
    /// The number of lines made so far, including the lines in `text`.
    count: u64,
    lines: LineOrigins,
    /// Whether no more rows are made.
    ended: bool,
    /// Whether the maker stopped with rows left of a finished text, because `ENOUGH` bytes of rows
    /// were made.
    unfinished: bool,
    bare: BareQueries,
}

/// The queries without documents in a text, such as `"q": {}`: no row can name them.
pub type BareQueries = Arc<Mutex<Vec<Vec<u8>>>>;

impl Default for MadeRows {
    fn default() -> Self {
        MadeRows {
            text: Vec::new(),
            filled: 0,
            prefix: ([0; 64], 0),
            count: 0,
            lines: LineOrigins::default(),
            ended: false,
            unfinished: false,
            bare: BareQueries::default(),
        }
    }
}

impl MadeRows {
    /// Adds a row, which stands on line `line` of the text.
    #[inline]
    pub fn row(&mut self, line: u64, query: &[u8], doc: &[u8], number: &[u8]) {
        self.begin(line);
        self.put([query, &[UNIT], doc, &[UNIT], number, b"\n"]);
    }

    /// Begins a query that has plain rows.
    pub fn begin_query(&mut self, query: &[u8]) {
        let (prefix, length) = &mut self.prefix;
        *length = 0;
        if let Some(room) = prefix.get_mut(..query.len() + 1) {
            *length = room.len();
            room[..query.len()].copy_from_slice(query);
            room[query.len()] = UNIT;
        }
    }

    /// Checks whether plain rows can be added.
    #[inline(always)]
    pub fn has_prefix(&self) -> bool {
        self.prefix.1 > 0
    }

    /// Adds a row of the query that was begun. `doc` and `number` have 64 bytes each, and how many
    /// of these count. All 64 are copied, which takes a store or two.
    #[inline(always)]
    pub fn plain_row(&mut self, line: u64, doc: (&[u8; 64], usize), number: (&[u8; 64], usize)) {
        self.begin(line);
        self.make_room(PLAIN);
        let Some(room) =
            self.text.get_mut(self.filled..).and_then(|room| room.first_chunk_mut::<PLAIN>())
        else {
            unreachable!("there is room")
        };
        let (prefix, mut end) = self.prefix;
        room[..64].copy_from_slice(&prefix);
        for ((piece, length), behind) in [(doc, UNIT), (number, b'\n')] {
            room[end..end + 64].copy_from_slice(piece);
            end += length.min(64) + 1;
            room[end - 1] = behind;
        }
        self.filled += end;
    }

    /// Appends `pieces`.
    fn put<const N: usize>(&mut self, pieces: [&[u8]; N]) {
        self.make_room(pieces.iter().map(|piece| piece.len()).sum());
        for piece in pieces {
            self.text[self.filled..self.filled + piece.len()].copy_from_slice(piece);
            self.filled += piece.len();
        }
    }

    #[inline(always)]
    fn make_room(&mut self, length: usize) {
        if self.text.len() - self.filled < length {
            self.grow(length);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize) {
        let length = self.filled + length.max(ENOUGH + PLAIN);
        self.text.resize(length, 0);
    }

    /// Adds a row with a rank or a group.
    pub fn wide_row(&mut self, line: u64, query: &[u8], doc: &[u8], other: &[u8], number: &[u8]) {
        self.begin(line);
        self.put([query, &[UNIT], doc, &[UNIT], other, &[UNIT], number, b"\n"]);
    }

    /// Adds an error on line `line` of the text; 0 stands for an error of the whole text.
    pub fn wrong(&mut self, line: u64, message: &str) {
        self.begin(line);
        self.put([&[WRONG], printable_line(message).as_bytes(), b"\n"]);
    }

    /// Adds an error on line `line`, behind which the text cannot be read.
    pub fn wrong_from_here(&mut self, line: u64, message: &str) {
        self.wrong(line, message);
        self.ended = true;
    }

    /// Adds a query without documents.
    #[cold]
    pub fn bare_query(&mut self, query: &[u8]) {
        self.bare.lock().unwrap_or_else(PoisonError::into_inner).push(query.to_vec());
    }

    /// Notes that the maker has more rows of the finished text, to be made in the next call.
    pub fn more_follow(&mut self) {
        self.unfinished = true;
    }

    /// Checks whether there are enough rows to hand over. Rows may be much longer than their text,
    /// which names a query only once.
    #[inline(always)]
    pub fn are_enough(&self) -> bool {
        self.filled >= ENOUGH
    }

    #[inline(always)]
    fn begin(&mut self, line: u64) {
        self.count += 1;
        self.lines.note(self.count, line);
    }
}

/// Returns a message as one line. The caller has made ids in the message printable.
fn printable_line(message: &str) -> String {
    message.replace('\n', " ")
}

/// The most bytes of an id that is written out for each row.
const LONGEST_ID: usize = 64 << 10;

/// Checks an id; returns a message that calls the id `what`, or `None` if the id is valid.
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

/// The lines of a text from which lines were made.
#[derive(Debug, Default)]
pub struct LineOrigins {
    /// The places where the difference changes between a made line and its line in the text: the
    /// made line, its line in the text, and the number of lines of the text for each made line from
    /// there on.
    changes: Vec<(u64, u64, u64)>,
}

impl LineOrigins {
    #[inline(always)]
    fn note(&mut self, made: u64, line: u64) {
        match self.changes.last_mut() {
            Some((first, of_first, step)) if *of_first + *step * (made - *first) == line => {}
            Some((first, of_first, step)) if made == *first + 1 && line >= *of_first => {
                *step = line - *of_first;
            }
            last => {
                let step = last.map_or(1, |(_, _, step)| *step);
                self.changes.push((made, line, step));
            }
        }
    }

    /// Returns the line of the text from which the line `made` was made.
    pub fn of(&self, made: u64) -> u64 {
        let at = self.changes.partition_point(|(first, _, _)| *first <= made);
        match at.checked_sub(1).map(|at| self.changes[at]) {
            Some((first, line, step)) => line + step * (made - first),
            None => made,
        }
    }
}

/// A text of another format, read as the rows that are made from it.
pub struct MadeText<'a> {
    text: Box<dyn Read + Send + 'a>,
    maker: Box<dyn MakeRows + 'a>,
    /// The bytes of the text in memory; the first `done` bytes are finished.
    buffer: Vec<u8>,
    done: usize,
    filled: usize,
    ended: bool,
    rows: MadeRows,
    /// The number of bytes of the rows that were handed over.
    handed: usize,
    /// The place where the lines are kept when all text is read.
    lines: Arc<Mutex<LineOrigins>>,
}

/// The number of bytes of text that are read at a time.
const BLOCK: usize = 256 << 10;

impl<'a> MadeText<'a> {
    pub fn new(
        text: Box<dyn Read + Send + 'a>,
        maker: Box<dyn MakeRows + 'a>,
        lines: Arc<Mutex<LineOrigins>>,
        bare: BareQueries,
    ) -> Self {
        let (buffer, rows) = (vec![0; BLOCK], MadeRows { bare, ..MadeRows::default() });
        MadeText { text, maker, buffer, done: 0, filled: 0, ended: false, rows, handed: 0, lines }
    }

    /// Returns some rows, as whole lines, and the lines from which they were made; `None` behind
    /// the last.
    ///
    /// # Errors
    /// A text that cannot be read.
    pub fn next_rows(&mut self) -> io::Result<Option<(&[u8], &LineOrigins)>> {
        if self.rows.ended {
            return Ok(None);
        }
        self.make()?;
        Ok(Some((&self.rows.text[..self.rows.filled], &self.rows.lines)))
    }

    /// Makes some rows, unless the text has ended.
    fn make(&mut self) -> io::Result<()> {
        self.rows.filled = 0;
        self.handed = 0;
        while self.rows.filled == 0 && !self.rows.ended {
            let text = &self.buffer[self.done..self.filled];
            let left = text.len();
            let done = self.maker.make(text, self.ended, &mut self.rows)?;
            self.done += done;
            if std::mem::take(&mut self.rows.unfinished) || done > 0 && self.rows.filled > 0 {
                break;
            }
            if self.ended {
                self.rows.ended |= done == 0 || self.done == self.filled;
            } else if done == 0 || done == left {
                self.fill()?;
            }
        }
        Ok(())
    }

    /// Reads more text.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.done..self.filled, 0);
        self.filled -= self.done;
        self.done = 0;
        if self.filled > LONGEST_LINE {
            let line = self.rows.lines.of(self.rows.count);
            let message =
                "a line or a value behind this one has more than 64 MiB, which is not read";
            self.rows.wrong_from_here(line.max(1), message);
            return Ok(());
        }
        if self.buffer.len() - self.filled < BLOCK / 2 {
            let length = 2 * self.buffer.len();
            self.buffer.try_reserve_exact(length - self.buffer.len())?;
            self.buffer.resize(length, 0);
        }
        while self.filled < self.buffer.len() && !self.ended {
            match self.text.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Read for MadeText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.handed == self.rows.filled {
            if self.rows.ended {
                return Ok(0);
            }
            self.make()?;
            if self.rows.ended {
                let lines = std::mem::take(&mut self.rows.lines);
                *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = lines;
            }
        }
        let rest = &self.rows.text[self.handed..self.rows.filled];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.handed += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    use crate::format::ReadAs;
    use crate::format::json::Objects;
    use crate::format::letor::LetorJudgments;
    use crate::format::records::{RecordArray, RecordKeys, RecordLines};
    use crate::lines::shape::Role;

    /// Returns the lines that are made of a text that comes in steps of `step` bytes, and their
    /// lines in the text.
    fn made(maker: &mut dyn MakeRows, text: &[u8], step: usize) -> (String, Vec<u64>) {
        let (mut rows, mut all) = (MadeRows::default(), Vec::new());
        let (mut done, mut filled) = (0, 0);
        loop {
            let ended = filled == text.len();
            let read = maker.make(&text[done..filled], ended, &mut rows).unwrap();
            done += read;
            all.extend_from_slice(&rows.text[..std::mem::take(&mut rows.filled)]);
            if std::mem::take(&mut rows.unfinished) {
                continue;
            }
            if rows.ended || ended && (read == 0 || done == filled) {
                break;
            }
            if read == 0 || done == filled {
                filled = text.len().min(filled + step);
            }
        }
        let lines = (1..=rows.count).map(|line| rows.lines.of(line)).collect();
        (all.escape_ascii().to_string(), lines)
    }

    /// Returns a maker of each kind.
    fn makers() -> Vec<Box<dyn MakeRows>> {
        let of =
            |record: &[u8]| RecordKeys::of(record, Role::Run, None, &ReadAs::default()).unwrap();
        let keys = || of(b"{\"qid\":1,\"docid\":2,\"score\":3}");
        let lists = || of(b"{\"qid\":1,\"retrieved_ids\":[],\"x\":[]}");
        vec![
            Box::new(Objects::new("score")),
            Box::new(RecordLines::new(keys(), "score")),
            Box::new(RecordArray::new(keys(), "score")),
            Box::new(RecordLines::new(lists(), "score")),
            Box::new(RecordArray::new(lists(), "score")),
            Box::new(LetorJudgments::new(None)),
        ]
    }

    const PIECES: &[&str] = &[
        "{\"q\": {",
        "\"d17\": 1.5, ",
        "\"d\":2,",
        "\"d18\": -1e5}",
        "\"d19\": 3 ,\n\"d20\":4,\"d21\": 5,\t\"d22\":6.5,  \"d23\": 7, ",
        "\"d24\": 8,,",
        "\"d25\": 9; \"",
        "}, \"r\": {",
        "\"a\\n\\u00e9\": 1, ",
        "\"\\ud83d\\ude00\" : 7 , ",
        "\n",
        "}",
        "\"\": 1,",
        "1",
        "x",
        "\"",
        "\\",
        "[",
        "]",
        ",",
        ":",
        "{\"qid\": \"q\", \"docid\": \"d1\", \"score\": 1}\n",
        "\"x\": {\"y\": [1, \"]\"]}, ",
        "{\"score\":2,\"qid\":7,\"docid\":8},",
        "{\"qid\":7,\"retrieved_ids\":[8,\"d\",",
        "9]},",
        "{\"retrieved_ids\":[],\"qid\":\"q\"}\n",
        "1 qid:q 1:2 # d1\n",
        "0 qid:q 1:2\n",
        "\"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd\": 1,",
    ];

    proptest! {
        #[test]
        fn it_does_not_matter_how_much_text_comes_at_a_time(
            start in prop::sample::select(&["", "{\"q\": {", "{\"q\": {\"d\": \
                1, ", "[", "[{\"qid\":1,\"docid\":2,\"score\":3},"][..]),
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
            step in 1usize..200,
        ) {
            let text = start.to_owned() + &pieces.concat();
            for maker in 0..makers().len() {
                let expected = made(&mut *makers()[maker], text.as_bytes(), text.len().max(1));
                for step in [1, step] {
                    prop_assert_eq!(
                        &made(&mut *makers()[maker], text.as_bytes(), step),
                        &expected,
                        "{}",
                        &text
                    );
                }
            }
        }
    }

    /// Records of which each is like the one before, or differs from it in one place.
    #[test]
    fn a_record_is_read_alone_as_behind_others() {
        let records = [
            r#"{"qid": "q1", "docid": "d1", "score": 1.5}"#,
            r#"{"qid": "q1", "docid": "d2", "score": -1e5}"#,
            r#"{"qid": "q2", "docid": "", "score": 1}"#,
            r#"{"qid": "q2", "docid": "d\"3", "score": 1}"#,
            r#"{"qid": "q2", "docid": "d\u00e9", "score": 1}"#,
            r#"{"qid": "q2", "docid": "d4", "score": 1} "#,
            r#"{"qid": "q2", "docid": "d4", "score": 1}x"#,
            r#"{"qid": "q2", "docid": "d4", "score": "1"}"#,
            r#"{"qid": "q2", "docid": "d4", "score": }"#,
            r#"{"qid": "q2", "docid": "d4", "score": 1"#,
            r#"{"qid": "q2", "docid": "d4"}"#,
            r#"{"qid": "q2", "docid": "d4", "score": 1, "score": 1}"#,
            r#"{"docid": "d4", "qid": "q2", "score": 1}"#,
            r#"{"qid": 7, "docid": 8, "score": 1}"#,
            r#"{"qid": 7, "docid": -8, "score": 1}"#,
            r#"{"qid": 7, "docid": 8.5, "score": 1}"#,
            r#"{"qid": 7, "docid": 8, "score": 1, "x": [1]}"#,
            r#"{"qid": 7, "docid": 8, "score": 1, "x": 2}"#,
            "{\"qid\": \"q\u{1}\", \"docid\": \"d\", \"score\": 1}",
            "",
            "{}",
        ];
        let ranked = r#"{"qid": "q", "docid": "d", "rank": 1, "score": 1}"#;
        let keys = [records[0], ranked].map(|first| {
            RecordKeys::of(first.as_bytes(), Role::Run, None, &ReadAs::default()).unwrap()
        });
        for (keys, rank) in std::iter::zip(keys, ["", r#""rank": 3, "#]) {
            let maker = || RecordLines::new(keys.clone(), "score");
            let of =
                |record: &str| record.replace(r#""score""#, &format!(r#"{rank}"score""#)) + "\n";
            for one in records.map(of) {
                for other in records.map(of) {
                    let text = [&one, &one, &other, &one].map(|record| &record[..]);
                    let alone =
                        text.map(|record| made(&mut maker(), record.as_bytes(), usize::MAX / 2).0);
                    let all = made(&mut maker(), text.concat().as_bytes(), usize::MAX / 2).0;
                    assert_eq!(all, alone.concat(), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn rows_of_a_list_are_handed_over_some_at_a_time() {
        let query = "q".repeat(20_000);
        let docs: Vec<String> = (0..100).map(|doc| format!("\"d{doc}\"")).collect();
        let record = format!("{{\"qid\": \"{query}\", \"retrieved_ids\": [{}]}}", docs.join(","));
        let keys = RecordKeys::of(record.as_bytes(), Role::Run, None, &ReadAs::default()).unwrap();
        let makers: [Box<dyn MakeRows>; 2] = [
            Box::new(RecordLines::new(keys.clone(), "score")),
            Box::new(RecordArray::new(keys, "score")),
        ];
        for (mut maker, text) in makers.into_iter().zip([record.clone(), format!("[{record}]")]) {
            let (mut rows, mut done, mut most, mut all) = (MadeRows::default(), 0, 0, Vec::new());
            loop {
                let read = maker.make(&text.as_bytes()[done..], true, &mut rows).unwrap();
                done += read;
                most = most.max(rows.filled);
                all.extend_from_slice(&rows.text[..std::mem::take(&mut rows.filled)]);
                if !std::mem::take(&mut rows.unfinished) && read == 0 {
                    break;
                }
            }
            assert!(most < ENOUGH + 2 * query.len(), "{most}");
            let line = |at: usize| format!("{query}\u{1f}d{at}\u{1f}{}\n", at + 1);
            assert!(all == (0..100).map(line).collect::<String>().as_bytes());
        }
    }

    #[test]
    fn lines_are_found_back() {
        let all = [1, 1, 1, 4, 6, 8, 10, 11, 12, 20, 21, 22, 22, 22, 90];
        let mut lines = LineOrigins::default();
        for (made, &line) in (1..).zip(&all) {
            lines.note(made, line);
        }
        assert_eq!((1..=all.len() as u64).map(|made| lines.of(made)).collect::<Vec<_>>(), all);
        let mut whole = LineOrigins::default();
        [7, 0].into_iter().zip(1..).for_each(|(line, made)| whole.note(made, line));
        assert_eq!([1, 2].map(|made| whole.of(made)), [7, 0]);
        let mut regular = LineOrigins::default();
        (1..1000).for_each(|made| regular.note(made, 7 + 3 * made));
        assert_eq!(regular.changes.len(), 1);
    }
}
