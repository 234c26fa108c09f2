//! Conversion of rows of columns to records, some at a time.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::by_query::HeldInput;
use super::packed::{ColumnRows, Docnos, address, rank_key};
use super::reader::{Keep, Reader, RowReader, Source, WorkerResults, gather};
use crate::bytes::hash::Seed;
use crate::columns::decimal::LONGEST;
use crate::columns::keys::ColumnScratch;
use crate::columns::wrong::{is_fine, not_fine};
use crate::columns::{CheckedColumns, PieceDocs, SortValue, Text};
use crate::error::Result;
use crate::lines::chunks::all_workers;
use crate::lines::diagnostics::{Finding, Findings, Position};
use crate::lines::layout::Order;
use crate::lines::shape::Role;
use crate::watch::{Watch, not_stopped};

/// The number of rows that a worker takes at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceSize(pub usize);

impl Default for PieceSize {
    fn default() -> Self {
        PieceSize(1 << 15)
    }
}

/// The most rows that a worker takes at a time if documents are integers: their text then stays in
/// the second-level cache.
const NUMERIC: usize = 1 << 12;

/// Columns as a source of rows.
pub(crate) struct ColumnSource<'a> {
    columns: &'a CheckedColumns<'a>,
    size: PieceSize,
    rows: Range<usize>,
    watch: Option<&'a Watch>,
}

impl<'a> ColumnSource<'a> {
    /// Makes a source of all rows.
    pub fn all(columns: &'a CheckedColumns<'a>, size: PieceSize, watch: Option<&'a Watch>) -> Self {
        ColumnSource { columns, size, rows: 0..columns.rows(), watch }
    }

    /// Makes a source of some rows, which has all rows of each of its queries.
    pub fn some(columns: &'a CheckedColumns<'a>, rows: Range<usize>) -> Self {
        ColumnSource { columns, size: PieceSize::default(), rows, watch: None }
    }
}

impl Source for ColumnSource<'_> {
    fn name(&self) -> &str {
        self.columns.name
    }

    fn read<const N: usize, R: RowReader<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)> {
        let (columns, threads) = (self.columns, rayon::current_num_threads());
        let most = if columns.numeric { NUMERIC } else { usize::MAX };
        let count = self.rows.len();
        self.watch.iter().for_each(|watch| watch.expect(count as u64));
        let size = self.size.0.min((count / (4 * threads)).max(1 << 11)).min(most).max(1);
        let cutter = ColumnCutter {
            columns,
            size,
            end: self.rows.end,
            next: Mutex::new((0, self.rows.start)),
        };
        let readers = all_workers(count.div_ceil(size).min(threads), || {
            let mut reader = Reader::new(worker(), seed);
            while !stop.load(Ordering::Relaxed)
                && !self.watch.is_some_and(Watch::is_stopped)
                && let Some(piece) = cutter.next()
            {
                let rows = piece.rows.len() as u64;
                reader.piece(columns, piece);
                self.watch.iter().for_each(|watch| watch.add(rows));
            }
            reader
        });
        not_stopped(self.watch)?;
        Ok(gather(readers))
    }

    fn whole(&self) -> HeldInput<'_> {
        HeldInput::Columns(self.columns)
    }

    fn order(&self) -> Order {
        self.columns.order()
    }

    fn expected(&self, _: Role) -> String {
        String::new()
    }

    fn line(&self, line: u64) -> u64 {
        self.columns.table_row(line)
    }
}

/// Some rows, numbered from 0 in their order.
#[derive(Debug, Clone)]
pub(crate) struct RowPiece {
    number: u64,
    rows: Range<usize>,
}

/// A cutter of columns into pieces, on demand.
struct ColumnCutter<'a> {
    columns: &'a CheckedColumns<'a>,
    size: usize,
    end: usize,
    /// The number and the first row of the next piece.
    next: Mutex<(u64, usize)>,
}

impl ColumnCutter<'_> {
    fn next(&self) -> Option<RowPiece> {
        let mut next = self.next.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (number, start) = *next;
        if start >= self.end {
            return None;
        }
        let end = self.columns.border(start.saturating_add(self.size)).min(self.end);
        *next = (number + 1, end);
        Some(RowPiece { number, rows: start..end })
    }
}

/// The number of rows that go through the nearest cache together.
const BLOCK: usize = 512;

/// A query whose rows are being read.
#[derive(Clone, Copy)]
struct CurrentRows {
    /// The number of the query, unless its rows are skipped.
    number: Option<u32>,
    /// The batch of a row of the query, and the row in this batch.
    batch: usize,
    row: usize,
}

/// The state of a worker in a piece.
struct Reading<'r, 'c, R, K> {
    reader: &'r mut Reader<R, K>,
    columns: &'c CheckedColumns<'c>,
    piece: RowPiece,
    scratch: ColumnScratch,
    current: Option<CurrentRows>,
}

impl<R, K: Keep> Reader<R, K> {
    /// Reads a piece of columns.
    fn piece<const N: usize>(&mut self, columns: &CheckedColumns<'_>, piece: RowPiece)
    where
        R: RowReader<N>,
    {
        let (number, count) = (piece.number, piece.rows.len());
        self.keep.begin_chunk(number, piece.rows.clone());
        let mut scratch = std::mem::take(&mut self.scratch);
        if columns.numeric && scratch.digits.len() < count * LONGEST {
            scratch.digits.resize(count * LONGEST, 0);
        }
        let mut reading =
            Reading { reader: self, columns, piece: piece.clone(), scratch, current: None };
        for (batch, rows) in columns.parts(piece.rows) {
            reading.batch(batch, rows);
        }
        reading.end_query();
        self.scratch = reading.scratch;
        self.keep.end_piece(&mut self.scratch.digits);
        self.chunks.push((number, count as u64));
        self.count += count as u64;
    }
}

impl<R, K: Keep> Reading<'_, '_, R, K> {
    /// Reads the rows `rows` of a batch.
    fn batch<const N: usize>(&mut self, batch: usize, rows: Range<usize>)
    where
        R: RowReader<N>,
    {
        let query = self.columns.batches[batch].query;
        self.begin_query(batch, rows.start);
        let mut start = rows.start;
        query.each_change(rows.clone(), |row| {
            self.rows(batch, start..row);
            self.begin_query(batch, row);
            start = row;
        });
        self.rows(batch, start..rows.end);
    }

    fn end_query(&mut self) {
        let Some(CurrentRows { number: Some(_), batch, row }) = self.current else { return };
        let mut digits = [0; LONGEST];
        let id = self.columns.batches[batch].query.id(row).bytes(&mut digits);
        let pieces = [PieceDocs::new(self.columns, self.piece.rows.start, &self.scratch.digits)];
        self.reader
            .keep
            .end_query(id, Docnos::Columns { first: self.piece.number, pieces: &pieces });
    }

    /// Begins the query of a row, or continues it.
    #[inline(never)]
    fn begin_query<const N: usize>(&mut self, batch: usize, row: usize)
    where
        R: RowReader<N>,
    {
        let number = self.number(batch, row);
        // One query can have several codes, and continue in the next batch.
        if number.is_none() || self.current.is_none_or(|current| current.number != number) {
            self.end_query();
            let before = self.columns.starts[batch] + row - self.piece.rows.start;
            self.reader.keep.begin_query(before as u64 + 1);
            self.current = Some(CurrentRows { number, batch, row });
        }
    }

    /// Returns the number of the query of a row; a code is looked up only once.
    fn number<const N: usize>(&mut self, batch: usize, row: usize) -> Option<u32>
    where
        R: RowReader<N>,
    {
        let of = &self.columns.batches[batch];
        let mut digits = [0; LONGEST];
        let rows = &mut self.reader.rows;
        let (Some(dictionary), Text::Coded { codes, values }) = (of.queries, of.query) else {
            let id = of.query.id(row).bytes(&mut digits);
            return rows.query(id, [0, id.len()]);
        };
        let table = &mut self.scratch.codes;
        if table.dictionary != Some(dictionary) {
            table.dictionary = Some(dictionary);
            table.known.clear();
            table.known.resize(values.len(), 0);
        }
        let known = &mut table.known[codes.index(row)];
        if *known == 0 {
            let id = of.query.id(row).bytes(&mut digits);
            let number = rows.query(id, [0, id.len()]);
            *known = number.map_or(Some(1), |number| number.checked_add(2)).unwrap_or(0);
            return number;
        }
        known.checked_sub(2)
    }

    /// Reads rows of the current query.
    #[inline(always)]
    fn rows<const N: usize>(&mut self, batch: usize, rows: Range<usize>)
    where
        R: RowReader<N>,
    {
        for start in rows.clone().step_by(BLOCK) {
            self.block(batch, start..rows.end.min(start + BLOCK));
        }
    }

    fn block<const N: usize>(&mut self, batch: usize, rows: Range<usize>)
    where
        R: RowReader<N>,
    {
        let of = &self.columns.batches[batch];
        let first = self.columns.starts[batch] + rows.start - self.piece.rows.start;
        let numbered = RowsOfPiece { rows: rows.clone(), first, piece: self.piece.number };
        let Reader { rows: reader, findings, .. } = &mut self.reader;
        sort_keys(&mut self.scratch, reader, &of.value, numbered, findings);
        let Some(CurrentRows { number: Some(query), .. }) = self.current else { return };
        let ColumnScratch { keys, wrong, hashed, digits, .. } = &mut self.scratch;
        let digits = digits.get_mut(first * LONGEST..).unwrap_or_default();
        let known = of.docs.map(|number| &self.columns.hashes[number as usize][..]);
        let (keep, seed) = (&mut self.reader.keep, self.reader.seed);
        of.doc.hash(rows, seed, known, digits, hashed);
        keep.keep_rows(
            ColumnRows { keys, hashed, at: address(self.piece.number, first), query },
            wrong,
        );
    }
}

/// Some rows of a batch, and their place in the piece.
struct RowsOfPiece {
    rows: Range<usize>,
    /// The place of the first row in the piece.
    first: usize,
    /// The number of the piece.
    piece: u64,
}

/// Makes the sort keys of some rows of a batch, and notes wrong rows.
///
/// This function is separate from the reading of a block, so the compiler makes one copy for
/// qrels and one for runs.
#[inline(never)]
fn sort_keys<const N: usize, R: RowReader<N>>(
    scratch: &mut ColumnScratch,
    reader: &R,
    value: &SortValue<'_>,
    RowsOfPiece { rows, first, piece }: RowsOfPiece,
    findings: &mut Findings,
) {
    let ColumnScratch { keys, wrong, .. } = scratch;
    keys.clear();
    wrong.clear();
    match value {
        SortValue::Number(numbers) => {
            let mut fine = true;
            numbers.keys(rows.clone(), keys, |number| {
                fine &= is_fine(R::ROLE, number);
                reader.key(number)
            });
            if !fine {
                let with_row = rows.zip(first..).map(|(row, at)| (at, numbers.get(row)));
                with_row.filter(|(_, number)| !is_fine(R::ROLE, *number)).for_each(
                    |(at, number)| {
                        wrong.push(address(piece, at));
                        findings.add(address(piece, at), || Finding {
                            position: Position { chunk: piece, line: at as u64 + 1 },
                            message: not_fine(R::ROLE, number),
                            earlier: None,
                        });
                    },
                );
            }
        }
        SortValue::Rank(ranks) => {
            let rank =
                |row| ranks.signed(row).unwrap_or_else(|| unreachable!("ranks were checked"));
            keys.extend(rows.map(|row| rank_key(rank(row))));
        }
    }
}
