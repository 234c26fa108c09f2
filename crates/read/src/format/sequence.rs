//! Formats that are read from the start of a text to its end, by one thread: what a row means may
//! depend on all that came before it.
//!
//! ```text
//! text ──► buffer ──► Sequence::next ──► batch of rows ──► any worker makes records of them
//!                                        batch of entries ──► any worker makes rows of them first
//! ```
//!
//! An *entry* is a part of the text that can be read alone, such as a query with its documents in
//! an object of JSON. The sequence only cuts such parts, and workers read them.

use std::{
    borrow::Cow,
    io::{self, Read},
};

use crate::bytes::{compression::read_some, limits::MAX_LINE_BYTES};
use crate::lines::{
    chunks::{ReadBlocks, StreamBlock},
    row::{Entry, RowBatch},
};

/// A format that is read in sequence.
pub trait SequenceFormat: std::fmt::Debug + Send + Sync {
    /// Begins to read a text of the format.
    ///
    /// # Errors
    /// A second text, read beside the text, that cannot be read.
    fn start(&self) -> Started<'_>;

    /// Makes the rows of an entry that the sequence cut.
    fn entry(&self, _entry: Entry<'_>, _rows: &mut RowBatch) {}

    /// Returns the query of an entry, so that blocks end between queries; `None` if an entry is a
    /// whole query.
    fn query<'t>(&self, _entry: Entry<'t>) -> Option<Cow<'t, [u8]>> {
        None
    }

    /// Returns whether the input's columns or keys have names, by which the document column can be
    /// chosen.
    fn has_names(&self) -> bool {
        false
    }
}

/// The reading of a text in sequence, once it has begun.
pub type Started<'a> = io::Result<Box<dyn Sequence + 'a>>;

/// The reading of a text in sequence.
pub trait Sequence: Send {
    /// Adds the rows at the start of `text` to `rows` until there are enough; `ended` says that no
    /// text follows. Returns how many bytes of `text` are finished: 0 if more text is needed, or at
    /// the end of the text.
    ///
    /// # Errors
    /// A second text, read beside `text`, that cannot be read.
    fn next(&mut self, text: &[u8], ended: bool, rows: &mut RowBatch) -> io::Result<usize>;

    /// Returns the most bytes of a part that is read at once.
    fn longest_part(&self) -> usize {
        MAX_LINE_BYTES
    }
}

/// The blocks of a text that is read in sequence: batches of rows.
pub struct SequenceBlocks<'a> {
    text: Box<dyn Read + Send + 'a>,
    format: &'a dyn SequenceFormat,
    sequence: Box<dyn Sequence + 'a>,
    /// The rows of the last query, which may go on in the next block.
    rest: RowBatch,
    /// The number of bytes from which on rows of one query are a block.
    largest: usize,
    /// The bytes of the text in memory; the first `done` bytes are finished.
    buffer: Vec<u8>,
    done: usize,
    filled: usize,
    /// Whether no more text follows, and whether no more rows follow.
    ended: bool,
    is_over: bool,
    /// The number of the next block.
    number: u64,
    /// The line of the last row.
    line: u64,
}

/// The number of bytes of text that are read at a time.
const STEP: usize = 256 << 10;

impl<'a> SequenceBlocks<'a> {
    /// Begins to read a text. Blocks end between queries, unless the rows of a query have more than
    /// `largest` bytes.
    ///
    /// # Errors
    /// As [`SequenceFormat::start`].
    pub fn new(
        text: Box<dyn Read + Send + 'a>,
        format: &'a dyn SequenceFormat,
        largest: usize,
    ) -> io::Result<Self> {
        Ok(Self {
            text,
            format,
            sequence: format.start()?,
            rest: RowBatch::default(),
            largest,
            buffer: vec![0; STEP],
            done: 0,
            filled: 0,
            ended: false,
            is_over: false,
            number: 0,
            line: 0,
        })
    }

    /// Reads more of the text into the buffer.
    fn fill(&mut self, rows: &mut RowBatch) -> io::Result<()> {
        self.buffer.copy_within(self.done..self.filled, 0);
        self.filled -= self.done;
        self.done = 0;
        let most = self.sequence.longest_part();
        if self.filled > most {
            let message = format!(
                "a line or a value behind this one has more than {} MiB, which is not read",
                most >> 20
            );
            rows.end_with(self.line.max(1), message);
            return Ok(());
        }
        if self.buffer.len() - self.filled < STEP / 2 {
            let length = (2 * self.buffer.len()).min(most + STEP);
            self.buffer.try_reserve_exact(length - self.buffer.len())?;
            self.buffer.resize(length, 0);
        }
        while self.filled < self.buffer.len() && !self.ended {
            match read_some(&mut self.text, &mut self.buffer[self.filled..])? {
                0 => self.ended = true,
                read => self.filled += read,
            }
        }
        Ok(())
    }
}

impl ReadBlocks for SequenceBlocks<'_> {
    fn next(&mut self, mut spare: StreamBlock) -> io::Result<Option<StreamBlock>> {
        spare.rows.clear();
        std::mem::swap(&mut spare.rows, &mut self.rest);
        let rows = &mut spare.rows;
        while !self.is_over {
            if rows.are_enough() {
                let (format, size) = (self.format, rows.text().len());
                if size > self.largest
                    || rows.split_last_query(&mut self.rest, |entry| format.query(entry))
                {
                    break;
                }
                rows.want_more();
            }
            let text = &self.buffer[self.done..self.filled];
            let left = text.len();
            let done = self.sequence.next(text, self.ended, rows)?;
            self.done += done;
            self.line = self.line.max(rows.last_line());
            if rows.ended {
                self.is_over = true;
            } else if rows.are_enough() {
                // What the end of the text says of it comes later.
            } else if self.ended && (done == 0 || self.done == self.filled) {
                self.is_over = true;
            } else if done == 0 || done == left {
                self.fill(rows)?;
                self.is_over = rows.ended;
            }
        }
        if rows.is_empty() && rows.bare.is_empty() {
            return Ok(None);
        }
        spare.number = self.number;
        self.number += 1;
        Ok(Some(spare))
    }
}
