//! The reader of both texts: rows, of qrels or of a run, become records, which are kept until all of their query are there.
//!
//! ```text
//! Source   chunks of a text, or pieces of columns (see `columns`)
//! Rows     what a row is, a judgment or a result: the key of its number, the number of its query
//! Keep     how records are kept: Grouped, where those of a query are together, or Scattered (see `group`), where they may be anywhere
//! Make     what is made of the records of a query: a table of judged documents, or a row of labels
//! ```

use std::io::Read;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::chunks::{Chunk, ChunkSize, each_block, each_chunk};
use super::columns::Scratch;
use super::diagnostics::{Finding, Findings, Position};
use super::dialect::{Comments, Rules};
use super::group::{Scattered, Whole};
use super::hash::Seed;
use super::input::Opened;
use super::number::decimal;
use super::record::{Brief, Docnos, Record, address};
use super::scan::{Fields, Scanner, TakeLines};
use super::shape::{Fault, Role};
use crate::error::{Error, Result};
use crate::watch::{Watch, not_stopped};

/// Rows of `N` fields as one worker reads them.
pub(super) trait Rows<const N: usize> {
    /// What they are.
    const ROLE: Role;

    /// How text is read.
    fn rules(&self) -> Rules;

    /// The key of a record with this grade or score.
    fn key(&self, number: f64) -> u64;

    /// Does the field behind the docno count too?
    fn reads_ranks(&self) -> bool {
        false
    }

    /// The number of a query whose rows begin, or `None` where they are skipped.
    fn query(&mut self, id: &[u8]) -> Option<u32>;

    /// Ends a chunk of text; in its last row that has them, this is the last of the `N` fields.
    fn end_chunk(&mut self, _chunk: u64, _last: &[u8]) {}
}

/// How records are kept until all of a query are there.
pub(super) trait Keep {
    /// Begins with a chunk, which lies here in the whole text, or a piece of columns, which has these rows.
    fn begin_chunk(&mut self, chunk: u64, range: Range<usize>);

    /// Keeps the record of a line of the chunk; `docno` has its bytes, and those of what is to be kept with it.
    fn keep<'a>(&mut self, record: Record, line: u64, docno: impl FnOnce() -> &'a [u8]);

    /// Begins with rows of a query that follow one another, on this line of the chunk.
    fn begin_query(&mut self, _line: u64) {}

    /// Ends rows of a query that follow one another in a chunk.
    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>);

    /// Ends a piece of columns; `digits` has its documents that are integers, as text, and may be taken.
    fn end_piece(&mut self, _digits: &mut Vec<u8>) {}

    /// The address of a line that starts at `offset` in the chunk: where it stands among the records.
    fn address(&self, chunk: u64, offset: usize) -> u64;
}

/// What is made of the records of each query.
pub(super) trait Make {
    /// Takes the records of a query, at least one, in input order, the first of which is on this line of its chunk. Where it had some of
    /// the query before it does nothing: `false`.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, line: u64) -> bool;

    /// Is no more wanted?
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

    fn end_query(&mut self, _: &[u8], _: Docnos<'_>) {}

    fn end_piece(&mut self, digits: &mut Vec<u8>) {
        Scattered::end_piece(self, digits);
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        Scattered::address(self, chunk, offset)
    }
}

/// Keeps the records of the current query only: those of each are together.
pub(super) struct Grouped<'a, M> {
    records: Vec<Record>,
    /// The line of the chunk on which they begin.
    line: u64,
    /// Set when a query comes back, for then those of each are not together, or when no more is wanted.
    back: &'a AtomicBool,
    /// What is made of them.
    pub make: M,
}

impl<'a, M> Grouped<'a, M> {
    /// Nothing yet; sets `back` when a query comes back.
    pub fn new(make: M, back: &'a AtomicBool) -> Self {
        Grouped { records: Vec::new(), line: 0, back, make }
    }
}

impl<M: Make> Keep for Grouped<'_, M> {
    fn begin_chunk(&mut self, _: u64, _: Range<usize>) {
        if self.make.is_stopped() {
            self.back.store(true, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn keep<'a>(&mut self, record: Record, _: u64, _: impl FnOnce() -> &'a [u8]) {
        self.records.push(record);
    }

    fn begin_query(&mut self, line: u64) {
        self.line = line;
    }

    fn end_query(&mut self, id: &[u8], docnos: Docnos<'_>) {
        if self.records.is_empty() {
            return;
        }
        if !self.make.take(id, &self.records, docnos, self.line) {
            self.back.store(true, Ordering::Relaxed);
        }
        self.records.clear();
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        address(chunk, offset)
    }
}

/// What the workers have read, apart from the records.
pub(super) struct Gathered<R> {
    /// The rows of each worker.
    pub rows: Vec<R>,
    /// What is wrong with lines.
    pub findings: Findings,
    /// Of each chunk its number and how many lines it has; some numbers are missing where workers stopped early.
    chunks: Vec<(u64, u64)>,
    /// How many rows there are, wrong ones included.
    pub count: u64,
}

impl<R> Gathered<R> {
    /// The lines of each chunk, by number, when all of them are read.
    pub fn lines(&self) -> Vec<u64> {
        let mut lines = vec![0; self.chunks.len()];
        self.chunks.iter().for_each(|&(chunk, count)| lines[chunk as usize] = count);
        lines
    }
}

/// Where rows come from.
pub(super) trait Source: Sync {
    /// What messages call it.
    fn name(&self) -> &str;

    /// Reads all rows; each worker has rows and a keep of its own. They stop early when `stop` is set.
    fn read<const N: usize, R: Rows<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(Gathered<R>, Vec<K>)>;

    /// What of it stays.
    fn whole(&self) -> Whole<'_>;

    /// Are results sorted by their ranks?
    fn by_rank(&self) -> bool {
        false
    }

    /// What is to be said of rows, where there are none; of text how a line looks.
    fn expected(&self, role: Role) -> String {
        format!(": {}", role.expected())
    }
}

/// A text as a source of rows.
pub(super) struct TextSource<'a> {
    pub text: &'a Opened,
    pub size: ChunkSize,
    pub watch: Option<&'a Watch>,
}

impl Source for TextSource<'_> {
    fn name(&self) -> &str {
        &self.text.name
    }

    fn read<const N: usize, R: Rows<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(Gathered<R>, Vec<K>)> {
        let worker = || Reader::new(worker(), seed);
        let content = self.text.content();
        self.watch.iter().for_each(|watch| watch.expect(content.0.len() as u64));
        let stop = || stop.load(Ordering::Relaxed) || self.watch.is_some_and(Watch::is_stopped);
        let readers = each_chunk(content, self.size, stop, worker, |reader, chunk| {
            let bytes = chunk.text.len() as u64;
            reader.chunk(chunk);
            // A compressed text has more bytes than its file, which are done at its end.
            self.watch.iter().filter(|_| content.1.is_none()).for_each(|watch| watch.add(bytes));
        });
        let readers = readers.map_err(|source| Error::io(self.text.name.as_ref(), "read", source))?;
        not_stopped(self.watch)?;
        self.watch.iter().filter(|_| content.1.is_some()).for_each(|watch| watch.add(content.0.len() as u64));
        Ok(gather(readers))
    }

    fn whole(&self) -> Whole<'_> {
        match self.text.content() {
            (text, None) => Whole::Text(text),
            (_, Some(_)) => Whole::Passing,
        }
    }
}

/// A text that goes by once as a source of rows.
pub(super) struct PassingSource<'a> {
    pub name: &'a str,
    pub text: Mutex<&'a mut (dyn Read + Send)>,
    pub size: ChunkSize,
}

impl Source for PassingSource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn read<const N: usize, R: Rows<N> + Send, K: Keep + Send>(
        &self,
        stop: &AtomicBool,
        seed: Seed,
        worker: impl Fn() -> (R, K) + Sync,
    ) -> Result<(Gathered<R>, Vec<K>)> {
        let worker = || Reader::new(worker(), seed);
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = || stop.load(Ordering::Relaxed);
        let readers = each_block(&mut **text, self.size, stop, worker, Reader::chunk);
        Ok(gather(readers.map_err(|source| Error::io(self.name.as_ref(), "read", source))?))
    }

    fn whole(&self) -> Whole<'_> {
        Whole::Passing
    }
}

/// Puts together what readers have read.
pub(super) fn gather<R, K>(readers: Vec<Reader<R, K>>) -> (Gathered<R>, Vec<K>) {
    let (rows, mut keeps) = (Vec::with_capacity(readers.len()), Vec::with_capacity(readers.len()));
    let mut gathered = Gathered { rows, findings: Findings::default(), chunks: Vec::new(), count: 0 };
    for reader in readers {
        gathered.chunks.extend(reader.chunks);
        gathered.findings.merge(reader.findings);
        gathered.count += reader.count;
        gathered.rows.push(reader.rows);
        keeps.push(reader.keep);
    }
    (gathered, keeps)
}

/// One worker, and what it has read.
pub(super) struct Reader<R, K> {
    pub rows: R,
    pub keep: K,
    pub seed: Seed,
    pub findings: Findings,
    /// Of each chunk its number and how many lines it has.
    pub chunks: Vec<(u64, u64)>,
    pub count: u64,
    scanner: Scanner,
    /// What columns are read with.
    pub scratch: Scratch,
}

impl<R, K: Keep> Reader<R, K> {
    pub fn new((rows, keep): (R, K), seed: Seed) -> Self {
        let (findings, chunks, scanner, scratch) = Default::default();
        Reader { rows, keep, seed, findings, chunks, count: 0, scanner, scratch }
    }

    /// Reads a chunk of text.
    fn chunk<const N: usize>(&mut self, chunk: Chunk<'_>)
    where
        R: Rows<N>,
    {
        self.keep.begin_chunk(chunk.number, chunk.start..chunk.start + chunk.text.len());
        let Reader { rows, keep, seed, findings, scanner, .. } = self;
        let (rules, current) = (rows.rules(), Current::default());
        let mut reading =
            ChunkReading { rows, keep, seed: *seed, findings, chunk, rules, current, last: 0..0, count: 0 };
        let lines = scanner.each_line(chunk.text, &mut reading);
        reading.end_query();
        let ChunkReading { last, count, .. } = reading;
        if !last.is_empty() {
            self.rows.end_chunk(chunk.number, &chunk.text[last]);
        }
        self.chunks.push((chunk.number, lines));
        self.count += count;
    }
}

/// The query whose lines are being read.
#[derive(Default)]
struct Current {
    /// Its number, unless its rows are skipped.
    number: Option<u32>,
    /// Where its id lies; empty before the first one.
    start: usize,
    end: usize,
    /// Its first and last bytes.
    brief: Brief,
}

impl Current {
    #[inline(always)]
    fn is(&self, text: &[u8], start: usize, end: usize) -> bool {
        let length = end - start;
        length == self.end - self.start
            && Brief::of(text, start, end) == self.brief
            && (length <= 16 || text[start..end] == text[self.start..self.end])
    }
}

/// A worker at a chunk of text.
struct ChunkReading<'w, 't, R, K> {
    rows: &'w mut R,
    keep: &'w mut K,
    seed: Seed,
    findings: &'w mut Findings,
    chunk: Chunk<'t>,
    rules: Rules,
    current: Current,
    /// Where the last field of the last row lies.
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
        R: Rows<N>,
    {
        self.end_query();
        self.keep.begin_query(line);
        let number = self.rows.query(&text[start..end]);
        self.current = Current { number, start, end, brief: Brief::of(text, start, end) };
    }

    #[cold]
    fn problem(&mut self, offset: usize, line: u64, message: impl FnOnce() -> String) {
        let chunk = self.chunk.number;
        let (address, position) = (self.keep.address(chunk, offset), Position { chunk, line });
        self.findings.add(address, || Finding { position, message: message(), earlier: None });
    }
}

impl<const N: usize, R: Rows<N>, K: Keep> TakeLines<N> for ChunkReading<'_, '_, R, K> {
    const MORE: bool = R::ROLE.takes_more_fields();

    #[inline(always)]
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<N>) {
        let Fields { starts, ends } = fields;
        self.count += 1;
        self.last = starts[N - 1]..ends[N - 1];
        let number = const { R::ROLE.number_field() };
        let Some(number) = decimal(text, starts[number], ends[number], R::ROLE.parser(&self.rules)) else {
            // A closure that borrowed the fields would have all of them written to memory, for every line.
            let (rules, start, end) = (self.rules, starts[0], ends[N - 1]);
            return self
                .problem(start, line, move || R::ROLE.complaint(&text[start..end], Fault::Number, rules));
        };
        if !self.current.is(text, starts[0], ends[0]) {
            self.begin_query(text, starts[0], ends[0], line);
        }
        let Some(query) = self.current.number else { return };
        let (start, end) = (starts[2], ends[2]);
        let kept = if self.rows.reads_ranks() { ends[3] + 1 } else { end }; // with a blank behind it
        let record = Record {
            key: self.rows.key(number),
            hash: self.seed.hash(text, start, end),
            at: address(self.chunk.number, start),
            length: (end - start) as u32,
            query,
        };
        self.keep.keep(record, line, || &text[start..kept]);
    }

    #[cold]
    fn other(&mut self, offset: usize, line: u64, bytes: &[u8]) {
        self.count += 1;
        let rules = self.rules;
        self.problem(offset, line, || {
            let fault = R::ROLE.fault(bytes, rules).unwrap_or(Fault::Number);
            R::ROLE.complaint(bytes, fault, rules)
        });
    }

    fn comments(&self) -> Comments {
        R::ROLE.comments(self.rules)
    }

    fn lone_returns(&self) -> bool {
        self.rules.lone_returns
    }
}
