//! The reader of qrels and runs: rows become records, and records are kept until their query is
//! complete.
//!
//! ```text
//! Source   chunks of a text, rows of a matrix (see `matrix`), or pieces of columns (see `columns`)
//! Rows     the kind of a row, a judgment or a result: the key of its number, the number of its
//!          query
//! Keep     how records are kept: Together, if those of a query are together, or Scattered (see
//!          `by_query`), if they may be anywhere
//! Make     makes a table of judged documents, or a row of labels, from the records of a query
//! ```
//!
//! What a row goes through, for runs and judgments, from text and from columns alike:
//!
//! ```text
//! q1 … d7 … 2.5 ──Rows──► record of ──Keep──► records of ──Make──► a ranking (a byte a result), or
//!                         32 bytes            one query
//! q1 … d3 … 2.1 ────────► record    ────────►            ────────► a table of judged documents
//!                                                                  (13 bytes a judgment)
//! q2 …          a new query is looked up once for all its rows     then the records are gone
//! ```
//!
//! The first reading is optimistic: it expects the rows of each query together, as in nearly every
//! file. Each worker then needs the records of one query only, in memory that stays in its cache,
//! and nothing is sorted by query. If a query comes back, all workers stop, and the input is read
//! again from the start with `Scattered` in the place of `Together`. Seven million lines in any
//! order take 2.7 times as long as in order (0.78 and 0.28 s on one thread, benches/RESULTS.md),
//! and 32 bytes of memory for every row.
//!
//! Any free worker takes the next chunk, so no result may depend on the worker of a chunk: problems
//! are sorted by address, counts are sums, and the tag comes from the last chunk with a tag.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::by_query::{HeldInput, Scattered};
use super::matrix::{ColumnDocs, SoundMatrix};
use super::packed::{ColumnRows, Docnos, Record, address, sort_key};
use super::repeats::{MANY, thin};
use crate::bytes::brief::Brief;
use crate::bytes::hash::Seed;
use crate::bytes::limits::UNIT;
use crate::columns::ColumnScratch;
use crate::columns::text::HashedId;
use crate::error::{Error, Result};
use crate::format::Form;
use crate::format::opened::Opened;
use crate::lines::chunks::{Chunk, ChunkSize, Content, all_workers, each_block, each_chunk};
use crate::lines::diagnostics::{Finding, Findings, Position};
use crate::lines::dialect::{Comments, Rules};
use crate::lines::layout::{NumberKind, Order, TableLayout};
use crate::lines::number::decimal;
use crate::lines::scan::{Fields, Scanner, TakeLines, is_separator};
use crate::lines::separator::Separator;
use crate::lines::shape::{LineFault, Role};
use crate::lines::table::{FieldPlaces, RowScanner, TakeRows};
use crate::rule::ScoreType;
use crate::watch::{Watch, not_stopped};

/// The row reader of one worker, for rows of `N` fields.
pub(crate) trait RowReader<const N: usize> {
    /// The role of the rows: judgments or results.
    const ROLE: Role;

    /// The rules by which text is read.
    fn rules(&self) -> Rules;

    /// Returns the key of a record with the grade or score `number`.
    fn key(&self, number: f64) -> u64;

    /// Returns whether the field behind the docno counts too.
    fn reads_ranks(&self) -> bool {
        false
    }

    /// Returns the number of the query `text[start..end]` at the start of its rows, or `None` if
    /// the rows are skipped.
    fn query(&mut self, text: &[u8], place: [usize; 2]) -> Option<u32>;

    /// Ends a chunk of text. `_last` is the last of the `N` fields of the last row.
    fn end_chunk(&mut self, _chunk: u64, _last: &[u8]) {}
}

/// A store of records until their query is complete.
pub(crate) trait Keep {
    /// Begins a chunk, which lies at `range` in the whole text, or a piece of columns, which has
    /// the rows `range`.
    fn begin_chunk(&mut self, chunk: u64, range: Range<usize>);

    /// Keeps the record of a line of the chunk; `docno` returns the bytes of the docno, with any
    /// bytes kept beside the docno.
    fn keep<'a>(&mut self, record: Record, line: u64, docno: impl FnOnce() -> &'a [u8]);

    /// Keeps rows of columns, except rows with an address in `wrong`. The docnos stay in the
    /// columns.
    #[inline(always)]
    fn keep_rows(&mut self, rows: ColumnRows<'_>, wrong: &[u64]) {
        rows.records_but(wrong).for_each(|record| self.keep(record, 0, || &[]));
    }

    /// Whether there is room for a record; if not, the caller makes room first.
    fn has_room(&self) -> bool {
        true
    }

    /// Makes room for more records; `_docnos` has the docnos of the chunk so far.
    fn make_room(&mut self, _docnos: Docnos<'_>) {}

    /// Begins consecutive rows of a query, from this line of the chunk on.
    fn begin_query(&mut self, _line: u64) {}

    /// Ends consecutive rows of a query in a chunk.
    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>);

    /// Ends a piece of columns. `_digits` has the integer documents of the piece as text, and may
    /// be taken.
    fn end_piece(&mut self, _digits: &mut Vec<u8>) {}

    /// Returns the address of a line that starts at `offset` in the chunk: its place among the
    /// records.
    fn address(&self, chunk: u64, offset: usize) -> u64;
}

/// A maker of the result for the records of each query.
pub(crate) trait Make {
    /// Takes the records of a query, at least one, in input order; `line` is the line of its chunk
    /// with the first record. Does nothing and returns `false` for a query that came before.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool;

    /// Returns whether rows of columns may be taken as they are.
    fn takes_rows(&self) -> bool {
        false
    }

    /// Takes the rows of a query, at least one, like [`Make::take`], or returns `None` if records
    /// are needed.
    fn take_rows(&mut self, _rows: ColumnRows<'_>, _docnos: Docnos<'_>) -> Option<bool> {
        None
    }

    /// Returns whether reading may stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Keep for Scattered {
    fn begin_chunk(&mut self, chunk: u64, range: Range<usize>) {
        Scattered::begin_chunk(self, chunk, range);
    }

    #[inline]
    fn keep<'a>(&mut self, record: Record, line: u64, docno: impl FnOnce() -> &'a [u8]) {
        Scattered::keep(self, record, line, docno);
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        Scattered::has_room(self)
    }

    fn make_room(&mut self, _: Docnos<'_>) {
        self.thin();
    }

    fn end_query(&mut self, _: &[u8], _: Docnos<'_>) {}

    fn end_piece(&mut self, digits: &mut Vec<u8>) {
        Scattered::end_piece(self, digits);
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        Scattered::address(self, chunk, offset)
    }
}

/// The initial capacity for records.
const LEAST_ROOM: usize = 64;

/// A store of the current query's records, for input with the rows of each query together.
pub(crate) struct Together<'a, M> {
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
    pub dropped: u64,
    /// The maker of a result from the records.
    pub make: M,
}

impl<'a, M> Together<'a, M> {
    /// Makes an empty store, which sets `back` when a query comes back.
    pub fn new(make: M, back: &'a AtomicBool) -> Self {
        Together {
            records: Vec::new(),
            rows: RowsOfQuery::default(),
            line: 0,
            back,
            thinning: false,
            dropped: 0,
            make,
        }
    }

    /// Sets whether repeated rows may be dropped, if a query has [many](MANY) rows.
    pub fn thinning(self, thinning: bool) -> Self {
        Together { thinning, ..self }
    }

    /// Converts the collected rows to records.
    fn make_records(&mut self) {
        if let Some(rows) = self.rows.all() {
            self.records.extend(rows.records());
            self.rows.clear();
        }
    }
}

/// The rows of columns of a query so far.
#[derive(Default)]
struct RowsOfQuery {
    keys: Vec<u64>,
    hashed: Vec<HashedId>,
    at: u64,
    query: u32,
}

impl RowsOfQuery {
    /// Adds the rows that follow.
    fn add(&mut self, ColumnRows { keys, hashed, at, query }: ColumnRows<'_>) {
        if self.keys.is_empty() {
            (self.at, self.query) = (at, query);
        }
        self.keys.extend_from_slice(keys);
        self.hashed.extend_from_slice(hashed);
    }

    fn all(&self) -> Option<ColumnRows<'_>> {
        let RowsOfQuery { keys, hashed, at, query } = self;
        (!keys.is_empty()).then_some(ColumnRows { keys, hashed, at: *at, query: *query })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.hashed.clear();
    }
}

impl<M: Make> Keep for Together<'_, M> {
    fn begin_chunk(&mut self, _: u64, _: Range<usize>) {
        // Relaxed: the flag orders nothing. A worker that sees the flag late reads another chunk.
        if self.make.is_stopped() {
            self.back.store(true, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn keep<'a>(&mut self, record: Record, _: u64, _: impl FnOnce() -> &'a [u8]) {
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
            self.dropped += thin(&mut self.records, docnos);
        }
        self.records.reserve(self.records.len().max(LEAST_ROOM));
    }

    fn begin_query(&mut self, line: u64) {
        self.line = line;
    }

    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>) {
        let taken = match self.rows.all() {
            Some(rows) => self.make.take_rows(rows, docnos),
            None if self.records.is_empty() => return,
            None => None,
        };
        let is_first = taken.unwrap_or_else(|| {
            self.make_records();
            self.make.take(id, &self.records, docnos, self.line)
        });
        if !is_first {
            self.back.store(true, Ordering::Relaxed);
        }
        self.rows.clear();
        self.records.clear();
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        address(chunk, offset)
    }
}

/// The results of all workers, apart from the records.
pub(crate) struct WorkerResults<R> {
    /// The rows of each worker.
    pub rows: Vec<R>,
    /// The problems of lines.
    pub findings: Findings,
    /// The number of each chunk, and its number of lines; chunks are missing if workers stopped
    /// early.
    chunks: Vec<(u64, u64)>,
    /// The number of rows, wrong ones included.
    pub count: u64,
}

impl<R> WorkerResults<R> {
    /// Returns the number of lines of each chunk, by the number of the chunk, when all chunks are
    /// read.
    pub fn lines(&self) -> Vec<u64> {
        let mut lines = vec![0; self.chunks.len()];
        // Invariant: chunks are numbered from 0 without gaps, if all were read.
        self.chunks.iter().for_each(|&(chunk, count)| lines[chunk as usize] = count);
        lines
    }
}

/// A source of rows.
pub(crate) trait Source: Sync {
    /// The name of the source in messages.
    fn name(&self) -> &str;

    /// Reads all rows, with a row reader and a store for each worker. Workers stop early once
    /// `stop` is set.
    fn read<const N: usize, R: RowReader<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)>;

    /// Returns the input, as far as it stays in memory.
    fn whole(&self) -> HeldInput<'_>;

    /// Returns the numbers by which results are sorted.
    fn order(&self) -> Order;

    /// Describes the expected rows, for an input without rows; for text, the shape of a line.
    fn expected(&self, role: Role) -> String;

    /// Converts a line number of the reader to a line number of the text.
    fn line(&self, line: u64) -> u64 {
        line
    }
}

/// A text as a source of rows: a held text is read by chunks, and a passing text by blocks.
pub(crate) struct TextSource<'a> {
    /// The name of the text in messages.
    name: &'a str,
    form: &'a Form,
    size: ChunkSize,
    body: SourceBody<'a>,
}

enum SourceBody<'a> {
    /// A text that may be read more than once, with the watch of its progress.
    Held(&'a Opened, Option<&'a Watch>),
    /// A matrix that is read without lines.
    Matrix(SoundMatrix<'a>, Option<&'a Watch>),
    /// Rows that are read once, as TREC lines or as rows of a table.
    Passing(Mutex<&'a mut (dyn Read + Send)>),
}

impl<'a> TextSource<'a> {
    /// Makes a source of a text that is held.
    pub fn held(
        text: &'a Opened,
        form: &'a Form,
        size: ChunkSize,
        watch: Option<&'a Watch>,
    ) -> Self {
        let body = match SoundMatrix::of(text, form) {
            Some(matrix) => SourceBody::Matrix(matrix, watch),
            None => SourceBody::Held(text, watch),
        };
        TextSource { name: &text.name, form, size, body }
    }

    /// Makes a source of the rows of a text that passes: see [`Form::rows`].
    pub fn passing(
        name: &'a str,
        form: &'a Form,
        size: ChunkSize,
        rows: &'a mut (dyn Read + Send),
    ) -> Self {
        TextSource { name, form, size, body: SourceBody::Passing(Mutex::new(rows)) }
    }

    /// Returns the rows, if they lie in memory.
    fn lies(&self) -> Option<&'a [u8]> {
        match &self.body {
            SourceBody::Held(text, _) if self.form.made().is_none() => match text.content() {
                (text, None) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Reads the chunks of a text that is held.
    fn chunks<R: Send>(
        &self,
        (text, watch): (&Opened, Option<&Watch>),
        stop: &AtomicBool,
        worker: impl Fn() -> R + Sync,
        take: impl Fn(&mut R, Chunk<'_>) + Sync,
    ) -> Result<Vec<R>> {
        let all = text.content().0.len() as u64;
        watch.iter().for_each(|watch| watch.expect(all));
        let stop = || stop.load(Ordering::Relaxed) || watch.is_some_and(Watch::is_stopped);
        let told = AtomicU64::new(0);
        // A stream may be read again, but its bytes are reported only once.
        let tell = |bytes: u64| {
            let before = told.fetch_add(bytes, Ordering::Relaxed);
            watch.iter().for_each(|watch| watch.add(bytes.min(all.saturating_sub(before))));
        };
        let open =
            || -> io::Result<Box<dyn Read + Send + '_>> { self.form.rows(text.text_told(tell)?) };
        let whole = self.lies();
        let content = whole.map_or(Content::Stream(&open), Content::Whole);
        let readers =
            each_chunk((content, self.form.table()), self.size, stop, worker, |reader, chunk| {
                let bytes = chunk.text.len() as u64;
                take(reader, chunk);
                // A chunk of a stream lacks the bytes of its file; `tell` counts these bytes.
                watch.iter().filter(|_| whole.is_some()).for_each(|watch| watch.add(bytes));
            });
        let readers = readers.map_err(|source| Error::io(self.name.as_ref(), "read", source))?;
        not_stopped(watch)?;
        let rest = all.saturating_sub(told.load(Ordering::Relaxed));
        watch.iter().filter(|_| whole.is_none()).for_each(|watch| watch.add(rest));
        Ok(readers)
    }
}

impl Source for TextSource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn read<const N: usize, R: RowReader<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(WorkerResults<R>, Vec<K>)> {
        let worker = || Reader::new(worker(), seed);
        let take = |reader: &mut Reader<R, K>, chunk: Chunk<'_>| reader.chunk(self.form, chunk);
        let readers = match &self.body {
            SourceBody::Held(text, watch) => self.chunks((text, *watch), stop, worker, take)?,
            SourceBody::Matrix(matrix, watch) => matrix_rows((matrix, *watch), stop, seed, worker)?,
            SourceBody::Passing(rows) => {
                let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                let stop = || stop.load(Ordering::Relaxed);
                let readers =
                    each_block((&mut **rows, self.form.table()), self.size, stop, worker, take);
                readers.map_err(|source| Error::io(self.name.as_ref(), "read", source))?
            }
        };
        Ok(gather(readers))
    }

    fn whole(&self) -> HeldInput<'_> {
        self.lies().map_or(HeldInput::Passing, HeldInput::Text)
    }

    fn order(&self) -> Order {
        self.form.order()
    }

    fn expected(&self, role: Role) -> String {
        self.form.expected(role)
    }

    fn line(&self, line: u64) -> u64 {
        match &self.body {
            SourceBody::Matrix(matrix, _) => matrix.line(line),
            _ => self.form.line(line),
        }
    }
}

/// The number of cells of a matrix that a worker takes at a time.
const CELLS: usize = 1 << 15;

/// Reads the rows of a matrix.
fn matrix_rows<const N: usize, R: RowReader<N> + Send, K: Keep + Send>(
    (matrix, watch): (&SoundMatrix<'_>, Option<&Watch>),
    stop: &AtomicBool,
    seed: Seed,
    worker: impl Fn() -> Reader<R, K> + Sync,
) -> Result<Vec<Reader<R, K>>> {
    let [queries, documents] = matrix.shape;
    watch.iter().for_each(|watch| watch.expect(matrix.bytes()));
    let (docs, next) = (ColumnDocs::new(documents, seed), AtomicUsize::new(0));
    let step = CELLS.div_ceil(documents);
    let workers = queries.div_ceil(step).min(rayon::current_num_threads());
    let readers = all_workers(workers, || {
        let (mut reader, mut values) = (worker(), Vec::new());
        let mut start = next.fetch_add(step, Ordering::Relaxed);
        while start < queries
            && !stop.load(Ordering::Relaxed)
            && !watch.is_some_and(Watch::is_stopped)
        {
            let rows = start..queries.min(start + step);
            watch
                .iter()
                .for_each(|watch| watch.add(matrix.bytes() / queries as u64 * rows.len() as u64));
            rows.for_each(|row| reader.matrix_row((matrix, &docs), row, &mut values));
            start = next.fetch_add(step, Ordering::Relaxed);
        }
        reader
    });
    not_stopped(watch)?;
    Ok(readers)
}

/// Combines the results of readers.
pub(crate) fn gather<R, K>(readers: Vec<Reader<R, K>>) -> (WorkerResults<R>, Vec<K>) {
    let (rows, mut keeps) = (Vec::with_capacity(readers.len()), Vec::with_capacity(readers.len()));
    let mut gathered =
        WorkerResults { rows, findings: Findings::default(), chunks: Vec::new(), count: 0 };
    for reader in readers {
        gathered.chunks.extend(reader.chunks);
        gathered.findings.merge(reader.findings);
        gathered.count += reader.count;
        gathered.rows.push(reader.rows);
        keeps.push(reader.keep);
    }
    (gathered, keeps)
}

/// The state of a worker: its row reader, its records and its findings.
pub(crate) struct Reader<R, K> {
    pub rows: R,
    pub keep: K,
    pub seed: Seed,
    pub findings: Findings,
    /// The number of each chunk, and its number of lines.
    pub chunks: Vec<(u64, u64)>,
    pub count: u64,
    scanner: Scanner,
    row_scanner: Option<RowScanner>,
    /// The buffers for reading columns.
    pub scratch: ColumnScratch,
}

impl<R, K: Keep> Reader<R, K> {
    pub fn new((rows, keep): (R, K), seed: Seed) -> Self {
        Reader {
            rows,
            keep,
            seed,
            findings: Findings::default(),
            chunks: Vec::new(),
            count: 0,
            scanner: Scanner::default(),
            row_scanner: None,
            scratch: ColumnScratch::default(),
        }
    }

    /// Reads a chunk of text.
    fn chunk<const N: usize>(&mut self, form: &Form, chunk: Chunk<'_>)
    where
        R: RowReader<N>,
    {
        self.keep.begin_chunk(chunk.number, chunk.start..chunk.start + chunk.text.len());
        let Reader { rows, keep, seed, findings, scanner, row_scanner, .. } = self;
        let (rules, current) = (rows.rules(), CurrentQuery::default());
        let mut reading = ChunkReading {
            rows,
            keep,
            seed: *seed,
            findings,
            chunk,
            rules,
            current,
            last: 0..0,
            count: 0,
        };
        let lines = match form.table() {
            None => scanner.each_line(chunk.text, &mut reading),
            Some(table) => {
                let skip = table.skip.saturating_sub(chunk.start).min(chunk.text.len());
                let mut reading = TableReading { reading: &mut reading, table };
                row_scanner.get_or_insert_default().each_row(chunk.text, skip, table, &mut reading)
            }
        };
        // Chunks end at the end of a query. If a cut nevertheless splits a query, the query comes
        // back, and the next chunk notices.
        reading.end_query();
        let ChunkReading { last, count, .. } = reading;
        let tag = match form.table() {
            None => &chunk.text[last],
            Some(table) => table.tag_at_the_end(chunk.text),
        };
        if !tag.is_empty() {
            self.rows.end_chunk(chunk.number, tag);
        }
        self.chunks.push((chunk.number, lines));
        self.count += count;
    }

    /// Reads a row of a matrix: a chunk with all values of a query.
    fn matrix_row<const N: usize>(
        &mut self,
        (matrix, docs): (&SoundMatrix<'_>, &ColumnDocs),
        row: usize,
        values: &mut Vec<f64>,
    ) where
        R: RowReader<N>,
    {
        let (number, id, bytes) = (row as u64, (row + 1).to_string(), docs.bytes());
        let docnos = Docnos::Chunks { first: number, chunks: &[bytes], text: true };
        self.keep.begin_chunk(number, 0..bytes.len());
        self.keep.begin_query(1);
        if let Some(query) = self.rows.query(id.as_bytes(), [0, id.len()]) {
            matrix.row(row, values);
            for (line, (&value, (hash, start, end))) in
                (1..).zip(std::iter::zip(&*values, docs.each()))
            {
                if !self.keep.has_room() {
                    self.keep.make_room(docnos);
                }
                let (key, at, length) =
                    (self.rows.key(value), address(number, start), (end - start) as u32);
                self.keep
                    .keep(Record { key, hash, at, length, query }, line, || &bytes[start..end]);
            }
        }
        self.keep.end_query(id.as_bytes(), docnos);
        let cells = matrix.shape[1] as u64;
        self.chunks.push((number, cells));
        self.count += cells;
    }
}

/// The query whose lines are being read.
#[derive(Default)]
struct CurrentQuery {
    /// The number of the query, unless its rows are skipped.
    number: Option<u32>,
    /// The position of the query's id in the text; empty before the first query.
    start: usize,
    end: usize,
    /// The first and the last bytes of the id.
    brief: Brief,
}

impl CurrentQuery {
    #[inline(always)]
    fn is(&self, text: &[u8], start: usize, end: usize) -> bool {
        let length = end - start;
        // Up to 16 bytes the first and the last eight are all of an id, and comparing two words
        // replaces a call of `memcmp` for each row.
        length == self.end - self.start
            && Brief::of(text, start, end) == self.brief
            && (length <= 16 || text[start..end] == text[self.start..self.end])
    }
}

/// The state of a worker in a chunk of text.
struct ChunkReading<'w, 't, R, K> {
    rows: &'w mut R,
    keep: &'w mut K,
    seed: Seed,
    findings: &'w mut Findings,
    chunk: Chunk<'t>,
    rules: Rules,
    current: CurrentQuery,
    /// The place of the last field of the last row of TREC text.
    last: Range<usize>,
    count: u64,
}

impl<R, K: Keep> ChunkReading<'_, '_, R, K> {
    fn end_query(&mut self) {
        let Chunk { number, text, .. } = self.chunk;
        let docnos = Docnos::Chunks { first: number, chunks: &[text], text: true };
        self.keep.end_query(&text[self.current.start..self.current.end], docnos);
    }

    #[inline(never)]
    fn begin_query<const N: usize>(&mut self, text: &[u8], start: usize, end: usize, line: u64)
    where
        R: RowReader<N>,
    {
        self.end_query();
        self.keep.begin_query(line);
        let number = self.rows.query(text, [start, end]);
        self.current = CurrentQuery { number, start, end, brief: Brief::of(text, start, end) };
    }

    /// Keeps a row of a query and a document, with the text behind the document up to `kept`.
    #[inline(always)]
    fn keep<const N: usize>(
        &mut self,
        text: &[u8],
        line: u64,
        [query_start, query_end]: [usize; 2],
        [start, end, kept]: [usize; 3],
        key: impl FnOnce(&R) -> u64,
    ) where
        R: RowReader<N>,
    {
        if !self.current.is(text, query_start, query_end) {
            self.begin_query(text, query_start, query_end, line);
        }
        // A query without judgments: check its rows, but do not keep them.
        let Some(query) = self.current.number else { return };
        let record = Record {
            key: key(self.rows),
            hash: self.seed.hash(text, start, end),
            at: address(self.chunk.number, start),
            length: (end - start) as u32,
            query,
        };
        if !self.keep.has_room() {
            let chunk = self.chunk;
            self.keep.make_room(Docnos::Chunks {
                first: chunk.number,
                chunks: &[chunk.text],
                text: true,
            });
        }
        self.keep.keep(record, line, || &text[start..kept]);
    }

    #[cold]
    fn problem(&mut self, offset: usize, line: u64, message: impl FnOnce() -> String) {
        let chunk = self.chunk.number;
        let (address, position) = (self.keep.address(chunk, offset), Position { chunk, line });
        self.findings.add(address, || Finding { position, message: message(), earlier: None });
    }
}

impl<const N: usize, R: RowReader<N>, K: Keep> TakeLines<N> for ChunkReading<'_, '_, R, K> {
    const MORE: bool = R::ROLE.takes_more_fields();

    #[inline(always)]
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<N>) {
        let Fields { starts, ends } = fields;
        self.count += 1;
        self.last = starts[N - 1]..ends[N - 1];
        let number = const { R::ROLE.number_field() };
        let Some(number) = decimal(text, starts[number], ends[number], R::ROLE.parser(&self.rules))
        else {
            // A closure that borrowed the fields would write all of them to memory, for every line.
            let (rules, start, end) = (self.rules, starts[0], ends[N - 1]);
            return self.problem(start, line, move || {
                R::ROLE.complaint(&text[start..end], LineFault::Number, rules)
            });
        };
        // Where docnos are copied, the rank column goes with them only if it orders equal scores.
        let kept = if self.rows.reads_ranks() {
            ends[3] + 1 // with a blank behind it
        } else {
            ends[2]
        };
        self.keep(text, line, [starts[0], ends[0]], [starts[2], ends[2], kept], |rows| {
            rows.key(number)
        });
    }

    #[cold]
    fn other(&mut self, offset: usize, line: u64, bytes: &[u8]) {
        self.count += 1;
        let rules = self.rules;
        self.problem(offset, line, || {
            let fault = R::ROLE.fault(bytes, rules).unwrap_or(LineFault::Number);
            R::ROLE.complaint(bytes, fault, rules)
        });
    }

    #[cold]
    fn refuses(&mut self, offset: usize, line: u64, bytes: &[u8]) -> bool {
        let rules = self.rules;
        let fault = R::ROLE.fault(bytes, rules).filter(|fault| *fault == LineFault::Blank);
        if let Some(fault) = fault {
            self.count += 1;
            self.problem(offset, line, || R::ROLE.complaint(bytes, fault, rules));
        }
        fault.is_some()
    }

    fn comments(&self) -> Comments {
        R::ROLE.comments(self.rules)
    }

    fn lone_returns(&self) -> bool {
        self.rules.lone_returns
    }
}

/// The state of a worker in a chunk of a table.
struct TableReading<'r, 'w, 't, R, K, const N: usize> {
    reading: &'r mut ChunkReading<'w, 't, R, K>,
    table: &'r TableLayout,
}

impl<R: RowReader<N>, K: Keep, const N: usize> TakeRows for TableReading<'_, '_, '_, R, K, N> {
    #[inline(always)]
    fn row(
        &mut self,
        text: &[u8],
        line: u64,
        FieldPlaces { query, doc: [start, end], number: field }: FieldPlaces,
    ) {
        let TableReading { reading, table } = self;
        let number = table.value.of(text, field, R::ROLE.parser(&reading.rules));
        let Some(number) = number else {
            let (table, field) = (*table, &text[field[0]..field[1]]);
            return self.wrong(start, line, || table.not_a_number(R::ROLE, field));
        };
        let kept = if !reading.rows.reads_ranks() {
            end
        } else if table.separator == Separator::Tab && !is_rank_behind(text, end) {
            let table = *table;
            return self.wrong(start, line, || {
                format!(
                    "the rank is empty or in quotes, which cannot order equal scores: {}",
                    table.expected()
                )
            });
        } else {
            behind_rank(text, end)
        };
        reading.count += 1;
        reading.keep(text, line, query, [start, end, kept], |rows| match table.value {
            NumberKind::Number | NumberKind::Letters => rows.key(number),
            // A rank becomes the score −rank, so one sort serves ranks and scores.
            NumberKind::Rank | NumberKind::CountedRank => sort_key(-number, ScoreType::F64),
        });
    }

    #[cold]
    fn wrong(&mut self, start: usize, line: u64, message: impl FnOnce() -> String) {
        self.reading.count += 1;
        self.reading.problem(start, line, message);
    }
}

/// Checks whether a field stands behind a document and a tab, without quotes around either.
fn is_rank_behind(text: &[u8], doc: usize) -> bool {
    text[doc] == b'\t' && text.get(doc + 1).is_some_and(|&byte| !is_separator(byte) && byte != b'"')
}

/// Returns the end of the field behind a document in a table of ranks, with the following byte.
fn behind_rank(text: &[u8], doc: usize) -> usize {
    if text[doc] == UNIT {
        let rank = text[doc + 1..].iter().take_while(|&&byte| byte != UNIT).count();
        return text.len().min(doc + 1 + rank + 1);
    }
    let blanks = text[doc..].iter().take_while(|&&byte| is_separator(byte)).count();
    let rank = text[doc + blanks..].iter().take_while(|&&byte| !is_separator(byte)).count();
    text.len().min(doc + blanks + rank + 1)
}
