//! The reading of qrels or runs that are columns in memory: workers turn rows into records, a piece
//! of consecutive rows at a time.

use std::ops::Range;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::{
    any_order::BufferedInput,
    layout::{ColumnRows, Docnos, address, problem, rank_key},
    reader::{Reader, RowReader, RowSource, WorkerResults, gather},
    store::RecordStore,
};
use crate::bytes::hash::Seed;
use crate::columns::{
    CheckedBatch, CheckedColumns, IdColumn, PieceDocs,
    decimal::LONGEST,
    keys::ColumnScratch,
    text::{ColumnId, HashedId},
};
use crate::error::Result;
use crate::lines::{chunks::all_workers, diagnostics::Diagnostics, layout::SortBy, shape::Role};
use crate::progress::{ProgressHandle, add_work, check_stopped, expect_work, is_stopped};

/// The number of rows of columns that a worker takes at a time.
#[derive(Clone, Copy)]
pub(crate) struct PieceSize(pub usize);

impl Default for PieceSize {
    fn default() -> Self {
        PieceSize(1 << 15)
    }
}

/// The most rows that a worker takes at a time if documents are integers: their text then stays in
/// the second-level cache.
const NUMERIC: usize = 1 << 12;

/// The columns of qrels or of a run, as a source of rows that workers read into records.
pub(crate) struct ColumnSource<'a> {
    columns: &'a CheckedColumns<'a>,
    size: PieceSize,
    rows: Range<usize>,
    watch: Option<&'a ProgressHandle>,
}

impl<'a> ColumnSource<'a> {
    /// Makes a source of all rows of columns of qrels or of a run.
    pub fn all(
        columns: &'a CheckedColumns<'a>,
        size: PieceSize,
        watch: Option<&'a ProgressHandle>,
    ) -> Self {
        Self { columns, size, rows: 0..columns.rows(), watch }
    }

    /// Makes a source of a range of rows of columns, which has all rows of each of its queries.
    pub fn some(columns: &'a CheckedColumns<'a>, rows: Range<usize>) -> Self {
        Self { columns, size: PieceSize::default(), rows, watch: None }
    }
}

impl RowSource for ColumnSource<'_> {
    fn name(&self) -> &str {
        self.columns.name
    }

    fn read<R: RowReader + Send, K: RecordStore + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)> {
        let (columns, count) = (self.columns, self.rows.len());
        let threads = rayon::current_num_threads();
        let most = if columns.numeric { NUMERIC } else { usize::MAX };
        expect_work(self.watch, count as u64);
        // At least four pieces a thread, so that all threads end at nearly the same time; but no
        // pieces below 2,048 rows for that.
        let size = self.size.0.min((count / (4 * threads)).max(1 << 11)).min(most).max(1);
        // The number and the first row of the next piece.
        let next = Mutex::new((0, self.rows.start));
        // A piece ends where a query ends, if possible.
        let cut = || {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let (number, start) = *next;
            (start < self.rows.end).then(|| {
                let end = columns.border(start.saturating_add(size)).min(self.rows.end);
                *next = (number + 1, end);
                (number, start..end)
            })
        };
        let readers = all_workers(count.div_ceil(size).min(threads), || {
            let mut reader = Reader::new(&worker, seed);
            while !stop.load(Ordering::Relaxed)
                && !is_stopped(self.watch)
                && let Some((number, rows)) = cut()
            {
                let work = rows.len() as u64;
                reader.piece(columns, number, rows);
                add_work(self.watch, work);
            }
            reader
        });
        check_stopped(self.watch)?;
        Ok(gather(readers))
    }

    fn whole(&self) -> BufferedInput<'_> {
        BufferedInput::Columns(self.columns)
    }

    fn order(&self) -> SortBy {
        self.columns.order()
    }

    fn expected(&self, _: Role) -> String {
        String::new()
    }

    fn line(&self, line: u64) -> u64 {
        self.columns.table_row(line)
    }
}

/// The number of rows whose keys and hashes are computed before the store takes the rows: so few
/// that they stay in the first-level cache.
const BLOCK: usize = 512;

/// The query whose rows of columns a worker is reading.
#[derive(Clone, Copy)]
struct CurrentRows {
    /// The number of the query, unless its rows are skipped.
    number: Option<u32>,
    /// The batch of a row of the query, and the row in this batch: there the id is read.
    batch: usize,
    row: usize,
}

/// The state of a worker that reads a piece of columns: its reader, buffers and current query.
struct PieceState<'r, 'c, R, K> {
    reader: &'r mut Reader<R, K>,
    columns: &'c CheckedColumns<'c>,
    /// The number of the piece, and its first row.
    number: u64,
    start: usize,
    current: Option<CurrentRows>,
}

impl<R: RowReader, K: RecordStore> Reader<R, K> {
    /// Reads a piece of columns, a range of rows of qrels or of a run, into records.
    fn piece(&mut self, columns: &CheckedColumns<'_>, number: u64, rows: Range<usize>) {
        let (start, count) = (rows.start, rows.len());
        self.keep.begin_chunk(number, rows.clone());
        let digits = &mut self.scratch.digits;
        if columns.numeric && digits.len() < count * LONGEST {
            digits.resize(count * LONGEST, 0);
        }
        let mut reading = PieceState { reader: self, columns, number, start, current: None };
        for (batch, rows) in columns.parts(rows) {
            reading.batch(batch, rows);
        }
        reading.end_query();
        self.keep.end_piece(&mut self.scratch.digits);
        self.chunks.push((number, count as u64));
        self.count += count as u64;
    }
}

impl<R: RowReader, K: RecordStore> PieceState<'_, '_, R, K> {
    /// Reads the rows `rows` of one batch of columns, query by query.
    fn batch(&mut self, batch: usize, rows: Range<usize>) {
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
        let Reader { keep, scratch, .. } = &mut self.reader;
        let pieces =
            [PieceDocs { columns: self.columns, start: self.start, digits: &scratch.digits }];
        keep.end_query(id, Docnos::Columns { first: self.number, pieces: &pieces });
    }

    /// Begins the query of a row of columns, unless the row continues the current query.
    #[inline(never)]
    fn begin_query(&mut self, batch: usize, row: usize) {
        let number = self.number(batch, row);
        // The numbers of queries are compared, and not codes: one query can have several codes, and
        // can continue in the next batch. Skipped queries have no number, so each begins anew.
        if number.is_none() || self.current.is_none_or(|current| current.number != number) {
            self.end_query();
            let before = self.columns.starts[batch] + row - self.start;
            self.reader.keep.begin_query(before as u64 + 1);
            self.current = Some(CurrentRows { number, batch, row });
        }
    }

    /// Returns the number of the query of a row of columns; `None` if the rows of the query are
    /// skipped. The query of a dictionary code is looked up only once.
    fn number(&mut self, batch: usize, row: usize) -> Option<u32> {
        let columns = &self.columns.batches[batch];
        let mut digits = [0; LONGEST];
        let Reader { rows, scratch, .. } = &mut self.reader;
        let (Some(dictionary), IdColumn::Dictionary { codes, values }) =
            (columns.queries, columns.query)
        else {
            let id = columns.query.id(row).bytes(&mut digits);
            return rows.query(id, [0, id.len()]);
        };
        // 0 is a code that was not looked up, 1 a query whose rows are skipped, and n + 2 query n.
        let table = &mut scratch.codes;
        if table.dictionary != Some(dictionary) {
            table.dictionary = Some(dictionary);
            table.known.clear();
            table.known.resize(values.len(), 0);
        }
        let known = &mut table.known[codes.index(row)];
        if *known == 0 {
            let id = columns.query.id(row).bytes(&mut digits);
            let number = rows.query(id, [0, id.len()]);
            *known = number.map_or(Some(1), |number| number.checked_add(2)).unwrap_or(0);
            return number;
        }
        known.checked_sub(2)
    }

    /// Reads rows of columns of the current query, block by block.
    #[inline(always)]
    fn rows(&mut self, batch: usize, rows: Range<usize>) {
        for start in rows.clone().step_by(BLOCK) {
            self.block(batch, start..rows.end.min(start + BLOCK));
        }
    }

    fn block(&mut self, batch: usize, rows: Range<usize>) {
        let columns = &self.columns.batches[batch];
        let first = self.columns.starts[batch] + rows.start - self.start;
        let piece = self.number;
        let Reader { rows: reader, keep, findings, seed, scratch, .. } = &mut self.reader;
        sort_keys(columns, rows.clone(), piece, first, reader, scratch, findings);
        let Some(CurrentRows { number: Some(query), .. }) = self.current else { return };
        let ColumnScratch { keys, wrong, hashed, digits, .. } = scratch;
        let digits = digits.get_mut(first * LONGEST..).unwrap_or_default();
        let known = columns.docs.map(|number| &self.columns.hashes[number as usize][..]);
        columns.doc.hash(rows.clone(), *seed, known, digits, hashed);
        if R::GROUPS > 0 {
            number_groups::<R, _>(columns, rows, keep, hashed, |row, message| {
                let (at, place) = (first + row, address(piece, first + row));
                if !wrong.contains(&place) {
                    wrong.push(place);
                    findings.add(place, || problem(piece, at as u64 + 1, message.to_owned()));
                }
            });
        }
        keep.keep_rows(ColumnRows { keys, hashed, at: address(piece, first), query }, wrong);
    }
}

/// Puts the numbers of the groups of judgments in the place of their documents' hashes. Passes each
/// row without a group to `wrong`, by its index, with a message.
#[inline(never)]
fn number_groups<R: RowReader, K: RecordStore>(
    columns: &CheckedBatch<'_>,
    rows: Range<usize>,
    keep: &mut K,
    hashed: &mut [HashedId],
    mut wrong: impl FnMut(usize, &str),
) {
    let mut digits = [[0; LONGEST]; 2];
    for (at, (row, hashed)) in rows.zip(hashed).enumerate() {
        let [group, subgroup] = columns
            .groups
            .map(|groups| groups.map_or(ColumnId::Bytes(b""), |groups| groups.id(row)));
        let [one, other] = &mut digits;
        let (group, subgroup) = (group.bytes(one), subgroup.bytes(other));
        if group.is_empty() {
            wrong(at, "the group is empty");
        } else if R::GROUPS == 2 && subgroup.is_empty() {
            wrong(at, "the sub-group is empty");
        } else {
            let subgroup = (R::GROUPS == 2).then(|| subgroup.into());
            hashed.hash = keep.groups(group.into(), subgroup);
        }
    }
}

/// Computes the sort keys of rows of columns from their scores or grades, and reports invalid
/// numbers. `first` is the index of the first row within the piece with the number `piece`.
///
/// This function is separate from the reading of a block, so the compiler makes one copy for
/// qrels and one for runs.
#[inline(never)]
fn sort_keys<R: RowReader>(
    columns: &CheckedBatch<'_>,
    rows: Range<usize>,
    piece: u64,
    first: usize,
    reader: &R,
    scratch: &mut ColumnScratch,
    findings: &mut Diagnostics,
) {
    let ColumnScratch { keys, wrong, .. } = scratch;
    keys.clear();
    wrong.clear();
    match (columns.numbers, columns.rank) {
        (Some(numbers), _) => {
            // Nearly all numbers are valid: the first pass keeps one flag for all rows, and only a
            // wrong row costs a second pass.
            let mut fine = true;
            numbers.keys(rows.clone(), keys, |number| {
                fine &= reader.is_valid(number);
                reader.key(number)
            });
            if !fine {
                for (row, at) in rows.zip(first..) {
                    let number = numbers.get(row);
                    if !reader.is_valid(number) {
                        wrong.push(address(piece, at));
                        findings.add(address(piece, at), || {
                            let message = columns
                                .invalid_number(row, |ids| reader.invalid_number(number, ids));
                            problem(piece, at as u64 + 1, message)
                        });
                    }
                }
            }
        }
        (None, Some(ranks)) => keys.extend(rows.map(|row| {
            rank_key(ranks.signed(row).unwrap_or_else(|| unreachable!("ranks were checked")))
        })),
        (None, None) => unreachable!("a batch has numbers or ranks"),
    }
}
