//! The reader of qrels and runs: rows become records, and records are kept until their query is
//! complete.
//!
//! ```text
//! RowSource     chunks of a text, rows of a matrix (see `matrix`), or pieces of columns (see
//!               `columns`)
//! RowReader     reads a judgment or a result: the key of its number, the number of its query
//! RecordStore   keeps records: InOrder, if those of a query are together, or AnyOrder (see
//!               `any_order`), if they may be anywhere
//! BuildRanking  makes a table of judged documents, or a row of labels, from the records of a query
//! ```
//!
//! What a row goes through, for runs and judgments, from text and from columns alike:
//!
//! ```text
//!             RowReader              RecordStore              BuildRanking
//! q1 … d7 … 2.5 ──────► record of ────────► records of ────────► a ranking (a byte a result), or
//!                       32 bytes            one query
//! q1 … d3 … 2.1 ──────► record    ────────►            ────────► a table of judged documents
//!                                                                (13 bytes a judgment)
//! q2 …          a new query is looked up once for all its rows   then the records are gone
//! ```
//!
//! The first reading is optimistic: it expects the rows of each query together, as in nearly every
//! file. Each worker then needs the records of one query only, in memory that stays in its cache,
//! and nothing is sorted by query. If a query comes back, all workers stop, and the input is read
//! again from the start with `AnyOrder` in the place of `InOrder`. Seven million lines in any
//! order take 2.7 times as long as in order (0.78 and 0.28 s on one thread, benches/RESULTS.md),
//! and 32 bytes of memory for every row.
//!
//! Any free worker takes the next chunk, so no result may depend on the worker of a chunk: problems
//! are sorted by address, counts are sums, and the tag comes from the last chunk with a tag.

use std::io;
use std::ops::Range;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use super::{
    any_order::BufferedInput,
    duplicates::{DroppedRepeats, MANY, drop_duplicates},
    layout::{ColumnRows, Docnos, Record, address, problem, sort_key},
    matrix::{ColumnDocs, DenseMatrix},
    store::RecordStore,
};
use crate::bytes::{hash::Seed, id::IdInText, id_prefix::IdPrefix};
use crate::columns::{
    ColumnScratch,
    column_error::{invalid_number_message, is_valid_number},
    text::HashedId,
};
use crate::error::{Error, Result};
use crate::format::{
    RowLayout,
    open_input::OpenInput,
    row_layout::{ChunkRows, LinesOf, RowScanners},
};
use crate::lines::{
    chunks::{
        Chunk, ChunkSize, Content, CutRule, LineRule, ReadBlocks, all_workers, each_block,
        each_chunk,
    },
    diagnostics::Diagnostics,
    dialect::Rules,
    layout::{RankColumn, SortBy},
    row::{Place, Row, RowBatch, RowSink},
    shape::Role,
};
use crate::progress::{ProgressHandle, add_work, check_stopped, expect_work, is_stopped};
use crate::rule::ScoreType;

/// A worker's rules for rows of qrels or of a run: the number of a query, the key of a number.
pub(crate) trait RowReader {
    /// The role of the rows: judgments or results.
    const ROLE: Role;

    /// The number of fields that name groups of a judgment; 0 if no groups are read.
    const GROUPS: usize = 0;

    /// Returns the dialect's rules by which rows of qrels or of a run are parsed.
    fn rules(&self) -> Rules;

    /// Converts the grade or score `number` of a row to the key of its record.
    fn key(&self, number: f64) -> u64;

    /// Returns whether the ranks beside the scores are needed too.
    fn reads_ranks(&self) -> bool {
        false
    }

    /// Returns the number of the query `text[start..end]`, or `None` if its rows are not kept. It
    /// is called where the rows of the query start.
    fn query(&mut self, text: &[u8], place: [usize; 2]) -> Option<u32>;

    /// Returns the message about a line of TREC text that is no row.
    fn complaint(&self, line: &[u8]) -> String {
        Self::ROLE.complaint_about(line, self.rules())
    }

    /// Returns whether a row of columns may have this number.
    #[inline(always)]
    fn is_valid(&self, number: f64) -> bool {
        is_valid_number(Self::ROLE, number)
    }

    /// Returns the message about a number of a query and a document that no row of columns may have.
    fn invalid_number(&self, number: f64, ids: [&[u8]; 2]) -> String {
        invalid_number_message(Self::ROLE, number, ids)
    }

    /// Tells the row reader that a chunk of text has ended. `_tag` is the tag of its last row.
    fn end_chunk(&mut self, _chunk: u64, _tag: &[u8]) {}
}

/// A builder that makes a row of labels, or a table of judged documents, of the records of each
/// query.
pub(crate) trait BuildRanking {
    /// Builds the result (a ranking or a table) of one query from its records, which are in input
    /// order. There is at least one; `line` is the line of its chunk with the first record. Does
    /// nothing and returns `false` for a query that came before.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool;

    /// Returns the numbers of a judgment's group and sub-group, in one number.
    fn groups(&mut self, _group: IdInText<'_>, _subgroup: Option<IdInText<'_>>) -> u64 {
        0
    }

    /// Returns whether the builder takes rows of columns without their being made records.
    fn takes_rows(&self) -> bool {
        false
    }

    /// Builds the result of one query from rows of columns, like [`BuildRanking::take`]; `None` if
    /// it needs records. There is at least one row.
    fn take_rows(&mut self, _rows: ColumnRows<'_>, _docnos: Docnos<'_>) -> Option<bool> {
        None
    }

    /// Returns whether the builder wants no more queries, so that reading may stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The initial capacity for records.
const LEAST_ROOM: usize = 64;

/// A store of the current query's records, for input with the rows of each query together.
pub(crate) struct InOrder<'a, M> {
    records: Vec<Record>,
    /// Rows of columns that are not records yet; with such rows, `records` is empty.
    rows: RowsOfQuery,
    /// The line of the chunk on which the records begin.
    line: u64,
    /// A flag that stops all workers: set if a query comes back, so that its records are not
    /// together, or if reading may stop.
    back: &'a AtomicBool,
    /// Whether repeated rows may be dropped.
    thinning: bool,
    /// The number of rows that were dropped.
    dropped: DroppedRepeats,
    /// The maker of a result from the records.
    pub make: M,
}

impl<'a, M> InOrder<'a, M> {
    /// Makes an empty store of records, which sets the flag `back` when a query comes back.
    /// `thinning` says whether repeated documents may be dropped, if a query has [many](MANY) rows.
    pub fn new(make: M, back: &'a AtomicBool, thinning: bool) -> Self {
        Self {
            records: Vec::new(),
            rows: RowsOfQuery::default(),
            line: 0,
            back,
            thinning,
            dropped: DroppedRepeats::default(),
            make,
        }
    }

    /// Converts the collected rows of columns of the current query to records.
    fn make_records(&mut self) {
        if let Some(rows) = self.rows.all() {
            self.records.extend(rows.records());
            self.rows.clear();
        }
    }
}

/// The rows of the current query, collected from columns, that are not records yet.
#[derive(Default)]
struct RowsOfQuery {
    keys: Vec<u64>,
    hashed: Vec<HashedId>,
    at: u64,
    query: u32,
}

impl RowsOfQuery {
    /// Adds rows of columns that follow those of the same query.
    fn add(&mut self, ColumnRows { keys, hashed, at, query }: ColumnRows<'_>) {
        if self.keys.is_empty() {
            (self.at, self.query) = (at, query);
        }
        self.keys.extend_from_slice(keys);
        self.hashed.extend_from_slice(hashed);
    }

    fn all(&self) -> Option<ColumnRows<'_>> {
        let Self { keys, hashed, at, query } = self;
        (!keys.is_empty()).then_some(ColumnRows { keys, hashed, at: *at, query: *query })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.hashed.clear();
    }
}

impl<M: BuildRanking> RecordStore for InOrder<'_, M> {
    fn begin_chunk(&mut self, _: u64, _: Range<usize>) {
        // Relaxed: the flag orders nothing. A worker that sees the flag late reads another chunk.
        if self.make.is_stopped() {
            self.back.store(true, Relaxed);
        }
    }

    #[inline(always)]
    fn keep<'a>(
        &mut self,
        record: Record,
        _: u64,
        _: impl FnOnce() -> (&'a [u8], Option<&'a [u8]>),
    ) {
        self.records.push(record);
    }

    fn keep_rows(&mut self, rows: ColumnRows<'_>, wrong: &[u64]) {
        if self.make.takes_rows() && wrong.is_empty() && self.records.is_empty() {
            return self.rows.add(rows);
        }
        self.make_records();
        self.records.extend(rows.records_but(wrong));
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        self.records.len() < self.records.capacity()
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, docnos: Docnos<'_>) {
        if self.thinning && self.records.len() >= MANY {
            self.dropped += drop_duplicates(&mut self.records, docnos);
        }
        self.records.reserve(self.records.len().max(LEAST_ROOM));
    }

    #[inline(always)]
    fn groups(&mut self, group: IdInText<'_>, subgroup: Option<IdInText<'_>>) -> u64 {
        self.make.groups(group, subgroup)
    }

    fn begin_query(&mut self, line: u64) {
        self.line = line;
    }

    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>) {
        let taken = match self.rows.all() {
            Some(rows) => self.make.take_rows(rows, docnos),
            // No row counts: the query has no judgments, or each of its rows is wrong.
            None if self.records.is_empty() => return,
            None => None,
        };
        let is_first = taken.unwrap_or_else(|| {
            self.make_records();
            self.make.take(id, &self.records, docnos, self.line)
        });
        if !is_first {
            self.back.store(true, Relaxed);
        }
        self.rows.clear();
        self.records.clear();
    }

    fn dropped(&self) -> DroppedRepeats {
        self.dropped
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        address(chunk, offset)
    }
}

/// The results of all workers that read qrels or a run, apart from the records: problems and
/// counts.
pub(crate) struct WorkerResults<R> {
    /// The rows of each worker.
    pub rows: Vec<R>,
    /// The problems of lines. They count the rows that were dropped, and so do `identical` rows.
    pub findings: Diagnostics,
    /// The number of each chunk, and its number of lines; chunks are missing if workers stopped
    /// early.
    chunks: Vec<(u64, u64)>,
    /// The number of rows, wrong ones included.
    pub count: u64,
}

impl<R> WorkerResults<R> {
    /// Returns the number of lines of each chunk of the input, by chunk, when all chunks are read.
    pub fn lines(&self) -> Vec<u64> {
        let mut lines = vec![0; self.chunks.len()];
        // Invariant: chunks are numbered from 0 without gaps, if all were read.
        self.chunks.iter().for_each(|&(chunk, count)| lines[chunk as usize] = count);
        lines
    }
}

/// An input of qrels or of a run, as a source of rows that workers read into records.
pub(crate) trait RowSource: Sync {
    /// Returns the name of the qrels or run input in messages.
    fn name(&self) -> &str;

    /// Reads all rows of the input on all threads, with a row reader and a store of records for
    /// each worker. Workers stop early once `stop` is set.
    fn read<R: RowReader + Send, K: RecordStore + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)>;

    /// Returns the part of the input that stays in memory after reading.
    fn whole(&self) -> BufferedInput<'_>;

    /// Returns the numbers by which a run's results are sorted: scores, or ranks.
    fn order(&self) -> SortBy;

    /// Describes the rows that qrels or a run should have, for the error of an input without rows.
    /// For text, this is the shape of a line.
    fn expected(&self, role: Role) -> String;

    /// Converts a line number as counted by the reader to a line number of the input text.
    fn line(&self, line: u64) -> u64 {
        line
    }
}

/// Context for reading qrels or a run: the seed of hashes, the chunk sizes and the watch.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'w> {
    /// The seed of hashes; of a run, the seed of the judgments.
    pub seed: Seed,
    /// The sizes in which text is cut.
    pub size: ChunkSize,
    pub watch: Option<&'w ProgressHandle>,
}

/// A qrels or run text as a source of rows: a text in memory is read by chunks, a stream by blocks.
pub(crate) struct TextSource<'a> {
    /// The name of the text in messages.
    name: &'a str,
    form: &'a RowLayout,
    size: ChunkSize,
    /// The watch of the progress, if the text is held.
    watch: Option<&'a ProgressHandle>,
    body: SourceBody<'a>,
}

/// The content of a [`TextSource`]: a text that can be read again, a matrix, or a stream of rows.
enum SourceBody<'a> {
    /// A text that may be read more than once.
    Buffered(&'a OpenInput),
    /// A matrix that is read without lines.
    Matrix(DenseMatrix<'a>),
    /// Blocks that are read once.
    Streaming(Mutex<&'a mut dyn ReadBlocks>),
}

impl<'a> TextSource<'a> {
    /// Makes a source of rows of a qrels or run text in memory, which can be read again.
    pub fn buffered(
        text: &'a OpenInput,
        form: &'a RowLayout,
        size: ChunkSize,
        watch: Option<&'a ProgressHandle>,
    ) -> Self {
        let body = match DenseMatrix::from_text(text, form) {
            Some(matrix) => SourceBody::Matrix(matrix),
            None => SourceBody::Buffered(text),
        };
        Self { name: &text.name, form, size, watch, body }
    }

    /// Makes a source of the rows of a streamed qrels or run text, whose blocks are read once: see
    /// [`RowLayout::blocks`].
    pub fn passing(
        name: &'a str,
        form: &'a RowLayout,
        size: ChunkSize,
        blocks: &'a mut dyn ReadBlocks,
    ) -> Self {
        let body = SourceBody::Streaming(Mutex::new(blocks));
        Self { name, form, size, watch: None, body }
    }

    /// Returns the lines in memory, if the text is read by lines and not compressed.
    fn lines_in_memory(&self) -> Option<(&'a [u8], LineRule<'a>)> {
        let SourceBody::Buffered(text) = self.body else { return None };
        let (bytes, None) = text.content() else { return None };
        Some((bytes, self.form.lines()?))
    }

    /// Reads the chunks of a text in memory into records, on all threads.
    fn chunks<R: RowReader + Send, K: RecordStore + Send>(
        &self,
        text: &OpenInput,
        stop: &AtomicBool,
        worker: impl Fn() -> Reader<R, K> + Sync,
    ) -> Result<Vec<Reader<R, K>>> {
        let (watch, all) = (self.watch, text.content().0.len() as u64);
        expect_work(watch, all);
        self.form.restart();
        let reported = AtomicU64::new(0);
        // A stream may be read again, but its bytes are reported only once.
        let report = |bytes: u64| {
            let before = reported.fetch_add(bytes, Relaxed);
            add_work(watch, bytes.min(all.saturating_sub(before)));
        };
        let open = || -> io::Result<Box<dyn ReadBlocks + '_>> {
            let text = text.text_with_progress(report)?;
            self.form.blocks(text, |rule| CutRule::anywhere(self.size, rule))
        };
        let whole = self.lines_in_memory();
        let content =
            whole.map_or(Content::Stream(&open), |(lines, rule)| Content::Whole(lines, rule));
        let readers = each_chunk(
            content,
            self.size,
            || stop.load(Relaxed) || is_stopped(watch),
            worker,
            |reader, chunk| {
                let bytes = chunk.text.len() as u64;
                reader.chunk(self.form, chunk);
                // A chunk of a stream lacks the bytes of its file; `report` counts these bytes.
                if whole.is_some() {
                    add_work(watch, bytes);
                }
            },
        );
        let readers = readers.map_err(|source| Error::unreadable(self.name, source))?;
        check_stopped(watch)?;
        if self.form.needs_restart() {
            stop.store(true, Relaxed);
        }
        if whole.is_none() {
            add_work(watch, all.saturating_sub(reported.load(Relaxed)));
        }
        Ok(readers)
    }
}

impl RowSource for TextSource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn read<R: RowReader + Send, K: RecordStore + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)> {
        let worker = || Reader::new(&worker, seed);
        let readers = match &self.body {
            SourceBody::Buffered(text) => self.chunks(text, stop, worker)?,
            SourceBody::Matrix(matrix) => matrix_rows(matrix, self.watch, stop, seed, worker)?,
            SourceBody::Streaming(rows) => {
                let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                let readers = each_block(
                    &mut **rows,
                    || stop.load(Relaxed),
                    worker,
                    |reader, chunk| reader.chunk(self.form, chunk),
                );
                readers.map_err(|source| Error::unreadable(self.name, source))?
            }
        };
        Ok(gather(readers))
    }

    fn whole(&self) -> BufferedInput<'_> {
        match self.lines_in_memory() {
            Some((lines, LineRule::Trec)) => BufferedInput::Text(lines),
            // Lines that are written anew are gone with their chunk.
            Some((lines, LineRule::Table(table))) if !table.quotes.are_read() => {
                BufferedInput::Text(lines)
            }
            _ => BufferedInput::Streaming,
        }
    }

    fn order(&self) -> SortBy {
        self.form.order()
    }

    fn expected(&self, role: Role) -> String {
        self.form.expected(role)
    }
}

/// The number of cells of a matrix that a worker takes at a time.
const CELLS: usize = 1 << 15;

/// Reads the rows of a NumPy matrix on all threads, a query each.
fn matrix_rows<R: RowReader + Send, K: RecordStore + Send>(
    matrix: &DenseMatrix<'_>,
    watch: Option<&ProgressHandle>,
    stop: &AtomicBool,
    seed: Seed,
    worker: impl Fn() -> Reader<R, K> + Sync,
) -> Result<Vec<Reader<R, K>>> {
    let [queries, documents] = matrix.shape;
    expect_work(watch, matrix.bytes());
    let (docs, next) = (ColumnDocs::new(documents, seed), AtomicUsize::new(0));
    let step = CELLS.div_ceil(documents);
    let workers = queries.div_ceil(step).min(rayon::current_num_threads());
    let readers = all_workers(workers, || {
        let (mut reader, mut values) = (worker(), Vec::new());
        let mut start = next.fetch_add(step, Relaxed);
        while start < queries && !stop.load(Relaxed) && !is_stopped(watch) {
            let rows = start..queries.min(start + step);
            let bytes = matrix.bytes() / queries as u64 * rows.len() as u64;
            add_work(watch, bytes);
            rows.for_each(|row| reader.matrix_row(matrix, &docs, row, &mut values));
            start = next.fetch_add(step, Relaxed);
        }
        reader
    });
    check_stopped(watch)?;
    Ok(readers)
}

/// Combines the problems and counts of all workers' readers; returns them and each worker's store.
pub(crate) fn gather<R, K: RecordStore>(readers: Vec<Reader<R, K>>) -> (WorkerResults<R>, Vec<K>) {
    let (mut findings, mut chunks, mut count) = (Diagnostics::default(), Vec::new(), 0);
    let each = readers.into_iter().map(|reader| {
        chunks.extend(reader.chunks);
        findings.merge(reader.findings);
        let DroppedRepeats { identical, different } = reader.keep.dropped();
        findings.identical += identical;
        findings.count_omitted(different);
        count += reader.count;
        (reader.rows, reader.keep)
    });
    let (rows, keeps) = each.unzip();
    (WorkerResults { rows, findings, chunks, count }, keeps)
}

/// The state of a worker that reads qrels or a run: its row reader, its records and its findings.
pub(crate) struct Reader<R, K> {
    pub rows: R,
    pub keep: K,
    pub seed: Seed,
    pub findings: Diagnostics,
    /// The number of each chunk, and its number of lines.
    pub chunks: Vec<(u64, u64)>,
    pub count: u64,
    scanners: RowScanners,
    batch: RowBatch,
    /// The buffers for reading columns.
    pub scratch: ColumnScratch,
}

impl<R: RowReader, K: RecordStore> Reader<R, K> {
    /// Makes the reader of a worker, with the row reader and the record store that `worker` makes.
    pub fn new(worker: impl FnOnce() -> (R, K), seed: Seed) -> Self {
        let (rows, keep) = worker();
        Self {
            rows,
            keep,
            seed,
            findings: Diagnostics::default(),
            chunks: Vec::new(),
            count: 0,
            scanners: RowScanners::default(),
            batch: RowBatch::default(),
            scratch: ColumnScratch::default(),
        }
    }

    /// Reads a chunk of a qrels or run text into records.
    fn chunk(&mut self, form: &RowLayout, chunk: Chunk<'_>) {
        self.keep.begin_chunk(chunk.number, chunk.start..chunk.start + chunk.text.len());
        let Self { rows, keep, seed, findings, scanners, batch, .. } = self;
        let in_chunk = form.chunk_rows(chunk, batch);
        let text = in_chunk.text();
        let docnos = Docnos::Chunks {
            first: chunk.number,
            chunks: &[text],
            text: !matches!(in_chunk, ChunkRows::Batch(..)),
            ranks: match &in_chunk {
                ChunkRows::Unquoted(_, table) => table.rank_column(),
                _ => form.order().ranks(),
            },
        };
        let lines = LinesOf { role: R::ROLE, rules: rows.rules(), groups: R::GROUPS };
        let mut reading = ChunkState {
            is_rank: form.number_kind().is_rank(),
            with_ranks: rows.reads_ranks(),
            rows,
            keep,
            seed: *seed,
            findings,
            number: chunk.number,
            text,
            docnos,
            current: CurrentQuery::default(),
            tag: [0, 0],
            count: 0,
        };
        let lines = scanners.each(form, in_chunk, form.skip(chunk), lines, &mut reading);
        // Chunks end at the end of a query. If a cut nevertheless splits a query, the query comes
        // back, and the next chunk notices.
        reading.end_query();
        let ChunkState { tag: [start, end], count, .. } = reading;
        let tag = match form.table() {
            None => &text[start..end],
            Some(table) => table.tag_at_the_end(chunk.text),
        };
        if !tag.is_empty() {
            self.rows.end_chunk(chunk.number, tag);
        }
        self.chunks.push((chunk.number, lines));
        self.count += count;
    }

    /// Reads a row of a NumPy matrix, the values of one query, into records, as a chunk.
    fn matrix_row(
        &mut self,
        matrix: &DenseMatrix<'_>,
        docs: &ColumnDocs,
        row: usize,
        values: &mut Vec<f64>,
    ) {
        let (number, id, bytes) = (row as u64, (row + 1).to_string(), &docs.digits[..]);
        let docnos = Docnos::Chunks {
            first: number,
            chunks: &[bytes],
            text: false,
            ranks: RankColumn::None,
        };
        self.keep.begin_chunk(number, 0..bytes.len());
        self.keep.begin_query(1);
        if let Some(query) = self.rows.query(id.as_bytes(), [0, id.len()]) {
            matrix.row(row, values);
            for (&value, &(hash, start, end)) in std::iter::zip(&*values, &docs.hashes) {
                if !self.keep.has_room() {
                    self.keep.make_room(docnos);
                }
                let record = Record {
                    key: self.rows.key(value),
                    hash,
                    at: address(number, start),
                    length: (end - start) as u32,
                    query,
                };
                self.keep.keep(record, 1, || (&bytes[start..end], None));
            }
        }
        self.keep.end_query(id.as_bytes(), docnos);
        self.chunks.push((number, 1));
        self.count += matrix.shape[1] as u64;
    }
}

/// The query whose lines a worker is reading: its number, and the place of its id in the text.
#[derive(Default)]
struct CurrentQuery {
    /// The number of the query, unless its rows are skipped.
    number: Option<u32>,
    /// The position of the query's id in the text; empty before the first query.
    start: usize,
    end: usize,
    /// The first and the last bytes of the id.
    brief: IdPrefix,
}

impl CurrentQuery {
    /// Returns whether the current query's id is `text[start..end]`.
    #[inline(always)]
    fn is(&self, text: &[u8], start: usize, end: usize) -> bool {
        let length = end - start;
        // Up to 16 bytes the first and the last eight are all of an id, and comparing two words
        // replaces a call of `memcmp` for each row.
        length == self.end - self.start
            && IdPrefix::new(text, start, end) == self.brief
            && (length <= 16 || text[start..end] == text[self.start..self.end])
    }
}

/// The state of a worker that reads a chunk of a qrels or run text, row by row.
struct ChunkState<'w, 't, R, K> {
    rows: &'w mut R,
    keep: &'w mut K,
    seed: Seed,
    findings: &'w mut Diagnostics,
    /// The number of the chunk, the text in which its rows lie, and their docnos.
    number: u64,
    text: &'t [u8],
    docnos: Docnos<'t>,
    /// Whether numbers are ranks.
    is_rank: bool,
    /// Whether ranks beside scores are kept with copied docnos.
    with_ranks: bool,
    current: CurrentQuery,
    /// The place of the tag of the last row.
    tag: Place,
    count: u64,
}

impl<R: RowReader, K: RecordStore> ChunkState<'_, '_, R, K> {
    fn end_query(&mut self) {
        let id = &self.text[self.current.start..self.current.end];
        self.keep.end_query(id, self.docnos);
    }

    #[inline(never)]
    fn begin_query(&mut self, text: &[u8], [start, end]: Place, line: u64) {
        self.end_query();
        self.keep.begin_query(line);
        let number = self.rows.query(text, [start, end]);
        self.current = CurrentQuery { number, start, end, brief: IdPrefix::new(text, start, end) };
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.keep.make_room(self.docnos);
    }

    #[cold]
    fn problem(&mut self, at: usize, line: u64, message: impl FnOnce(&R) -> String) {
        self.count += 1;
        let Self { rows, keep, findings, number, .. } = self;
        let place = keep.address(*number, at);
        findings.add(place, || problem(*number, line, message(rows)));
    }
}

impl<R: RowReader, K: RecordStore> RowSink for ChunkState<'_, '_, R, K> {
    const ALL_FIELDS: bool = R::GROUPS > 0;

    /// Stores the record of a row, and begins its query if it is new.
    #[inline(always)]
    fn row(&mut self, text: &[u8], row: Row) {
        let Row { line, query, doc: [start, end], value, .. } = row;
        self.count += 1;
        if let Some(tag) = row.tag {
            self.tag = tag;
        }
        if !self.current.is(text, query[0], query[1]) {
            self.begin_query(text, query, line);
        }
        // A query without judgments: check its rows, but do not keep them.
        let Some(query) = self.current.number else { return };
        // A rank becomes the score −rank, so one sort serves ranks and scores.
        let key =
            if self.is_rank { sort_key(-value, ScoreType::F64) } else { self.rows.key(value) };
        let hash = match R::GROUPS {
            0 => self.seed.hash(text, start, end),
            _ => {
                let id = |[start, end]: Place| IdInText { text, start, end };
                let group = row.group.map_or(IdInText::from(&b""[..]), id);
                self.keep.groups(group, row.subgroup.map(id))
            }
        };
        let record = Record {
            key,
            hash,
            at: address(self.number, start),
            length: (end - start) as u32,
            query,
        };
        // Room is made before the record comes, because dropping repeated rows needs the docnos of
        // the chunk, which a store does not have.
        if !self.keep.has_room() {
            self.make_room();
        }
        let (docnos, with_ranks) = (self.docnos, self.with_ranks);
        self.keep.keep(record, line, || {
            (&text[start..end], with_ranks.then(|| docnos.rank_field(&record)))
        });
    }

    #[cold]
    fn fault(&mut self, at: usize, line: u64, message: impl FnOnce() -> String) {
        self.problem(at, line, |_| message());
    }

    #[cold]
    fn wrong_line(&mut self, at: usize, line: u64, bytes: &[u8], _: Role, _: &Rules) {
        self.problem(at, line, |rows| rows.complaint(bytes));
    }
}
