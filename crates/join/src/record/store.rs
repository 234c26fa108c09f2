//! The store of records between the reader of rows and the builder of rankings.

use std::ops::Range;

use super::{
    duplicates::DroppedRepeats,
    layout::{ColumnRows, Docnos, Record},
};
use crate::bytes::id::IdInText;

/// A store that keeps the records of qrels or of a run until their query is complete.
pub(crate) trait RecordStore {
    /// Tells the store that a chunk of text at `range` in the whole text, or a piece of columns,
    /// begins. The piece has the rows `range`.
    fn begin_chunk(&mut self, chunk: u64, range: Range<usize>);

    /// Stores the record of a line of the chunk; `docno` returns the bytes of its document id, and
    /// those of its rank, if ranks are kept.
    fn keep<'a>(
        &mut self,
        record: Record,
        line: u64,
        docno: impl FnOnce() -> (&'a [u8], Option<&'a [u8]>),
    );

    /// Stores rows of columns as records, except rows with an address in `wrong`. The docnos stay
    /// in the columns.
    #[inline(always)]
    fn keep_rows(&mut self, rows: ColumnRows<'_>, wrong: &[u64]) {
        rows.records_but(wrong).for_each(|record| self.keep(record, 0, || (&[], None)));
    }

    /// Returns whether the store has room for another record; if not, the caller makes room first.
    fn has_room(&self) -> bool {
        true
    }

    /// Makes room in the store for more records; `_docnos` has the docnos of the chunk so far.
    fn make_room(&mut self, _docnos: Docnos<'_>) {}

    /// Returns the numbers of a judgment's group and sub-group, in one number.
    fn groups(&mut self, _group: IdInText<'_>, _subgroup: Option<IdInText<'_>>) -> u64 {
        0
    }

    /// Tells the store that consecutive rows of a query begin on this line of the chunk.
    fn begin_query(&mut self, _line: u64) {}

    /// Tells the store that the consecutive rows of query `id` have ended; they may be all of its
    /// rows.
    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>);

    /// Tells the store that a piece of columns has ended. `_digits` has the integer documents of
    /// the piece as text, and may be taken.
    fn end_piece(&mut self, _digits: &mut Vec<u8>) {}

    /// Returns the number of rows that the store has dropped.
    fn dropped(&self) -> DroppedRepeats;

    /// Returns the address of a record: the chunk, and the place of the docno at `offset` of the
    /// chunk or its copy.
    fn address(&self, chunk: u64, offset: usize) -> u64;
}
