//! Lines in any order, brought together by query.
//!
//! Workers put the records they read into buckets of neighbouring queries; afterwards each bucket
//! is sorted by itself, in cache. Every record costs its 32 bytes, and 32 more while its bucket is
//! being worked on.
//!
//! ```text
//! worker 0   ─ record of query 700 ─► bucket 700 >> shift ─► blocks of 1024 records
//!                                     at most 256 buckets a worker, no lock
//! worker 1   ─ …
//! then, a thread a bucket:  blocks of all workers ─ counting sort by query ─►
//!                           queries ─ sort by place in the input ─► each ranked
//! ```
//!
//! It is a radix sort of two digits: the high bits of a query's number while the text is read, the
//! low bits later, when a bucket fits into a cache. Fewer and more than 256 buckets were tried, and
//! did not win (benches/RESULTS.md).
//!
//! Within a bucket the counting sort is stable and each worker read ascending chunks, so the
//! records of a query are one ascending run a worker. A stable sort follows, because it detects and
//! merges these ascending runs, and an unstable sort would not.

use std::ops::Range;

use rayon::prelude::*;

use super::packed::{BEFORE_COPY, Docnos, Record, address, copy_docno};
use super::repeats::{MANY, thin};
use crate::columns::{CheckedColumns, PieceDocs};
use crate::sort;
use crate::watch::Watch;

/// The most buckets: as many as a second-level cache holds pages, because records are written to
/// all of them in turn.
const BUCKETS: usize = 256;
/// The number of records of a block. A block is not small, because a thread's heap grows by a
/// kernel call for each block.
const BLOCK: usize = 1024;

/// Records in blocks that are never moved.
#[derive(Debug, Clone, Default)]
struct Bucket {
    full: Vec<Vec<Record>>,
    last: Vec<Record>,
}

impl Bucket {
    #[inline(always)]
    fn push(&mut self, record: Record) {
        if self.last.len() == self.last.capacity() {
            self.begin_block();
        }
        self.last.push(record);
    }

    #[cold]
    #[inline(never)]
    fn begin_block(&mut self) {
        // A vector that doubles would copy its records, and for a moment hold them twice.
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(BLOCK));
        self.full.push(full);
    }

    /// Returns the blocks of the bucket, with the records in insertion order.
    fn into_blocks(self) -> impl Iterator<Item = Vec<Record>> {
        self.full.into_iter().chain([self.last])
    }
}

/// The records of one worker in buckets, with the places of their docnos.
#[derive(Debug)]
pub(crate) struct Scattered {
    buckets: Vec<Bucket>,
    /// The shift of a query's number that gives its bucket.
    shift: u32,
    docnos: DocnosIn,
    /// The number of records, and the number from which on repeated rows are dropped.
    count: usize,
    room: usize,
    /// The number of rows that were dropped.
    dropped: u64,
}

/// The input, as far as it stays in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HeldInput<'a> {
    /// Text in memory.
    Text(&'a [u8]),
    /// Nothing: the text is read once, in blocks.
    Passing,
    /// Columns in memory.
    Columns(&'a CheckedColumns<'a>),
}

/// The memory into which the addresses of records point, by the numbers of the chunks.
#[derive(Debug)]
enum DocnosIn {
    /// The ranges of the chunks in the whole text.
    Text(Vec<(u64, Range<usize>)>),
    /// Copies of docnos.
    Copies(Vec<(u64, Vec<u8>)>), // of ascending chunks
    /// Columns: the first row of each piece, and its documents that are integers as text.
    Columns(Vec<(u64, usize, Vec<u8>)>),
}

impl DocnosIn {
    /// The chunks with their numbers.
    fn chunks<'a>(&'a self, text: &'a [u8]) -> Vec<(u64, &'a [u8])> {
        match self {
            DocnosIn::Text(ranges) => {
                ranges.iter().map(|(chunk, range)| (*chunk, &text[range.clone()])).collect()
            }
            DocnosIn::Copies(copies) => {
                copies.iter().map(|(chunk, copy)| (*chunk, &copy[..])).collect()
            }
            DocnosIn::Columns(_) => Vec::new(),
        }
    }

    /// The pieces of columns with their numbers.
    fn pieces<'a>(&'a self, columns: &'a CheckedColumns<'a>) -> Vec<(u64, PieceDocs<'a>)> {
        let DocnosIn::Columns(pieces) = self else { return Vec::new() };
        let docs = |(piece, start, digits): &'a (u64, usize, Vec<u8>)| {
            (*piece, PieceDocs::new(columns, *start, digits))
        };
        pieces.iter().map(docs).collect()
    }
}

impl Scattered {
    /// Makes buckets for queries below `queries`, in a text that stays in memory.
    pub fn new(queries: usize) -> Self {
        let shift = (usize::BITS - queries.leading_zeros()).saturating_sub(BUCKETS.ilog2());
        Self::of_buckets((queries >> shift) + 1, shift)
    }

    /// Makes buckets for queries that are not numbered in order yet.
    pub fn unsorted() -> Self {
        Self::of_buckets(1, u32::BITS)
    }

    fn of_buckets(count: usize, shift: u32) -> Self {
        let (buckets, docnos) = (vec![Bucket::default(); count], DocnosIn::Text(Vec::new()));
        Scattered { buckets, shift, docnos, count: 0, room: usize::MAX, dropped: 0 }
    }

    /// Sets whether repeated rows may be dropped, from [many](MANY) rows on, of a text that does
    /// not stay in memory.
    pub fn thinning(self, thinning: bool) -> Self {
        let thinning = thinning && matches!(self.docnos, DocnosIn::Copies(_));
        Scattered { room: if thinning { MANY } else { usize::MAX }, ..self }
    }

    /// Whether another record fits, before repeated rows are dropped.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.count < self.room
    }

    /// The number of rows that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Drops repeated rows and the copies of their docnos, if dropping pays, and makes room for
    /// more rows.
    #[cold]
    #[inline(never)]
    pub fn thin(&mut self) {
        let DocnosIn::Copies(copies) = &mut self.docnos else { return };
        let buckets = self.buckets.iter_mut().map(std::mem::take);
        let mut records: Vec<Record> = buckets.flat_map(Bucket::into_blocks).flatten().collect();
        records.sort_unstable_by_key(|record| record.at);
        let places: Vec<u64> = records.iter().map(|record| record.at).collect();
        let last = copies.iter().map(|(chunk, _)| *chunk as usize + 1).max();
        let mut chunks: Vec<&[u8]> = vec![&[]; last.unwrap_or(0)];
        copies.iter().for_each(|(chunk, copy)| chunks[*chunk as usize] = copy);
        let dropped = thin(&mut records, Docnos::Chunks { first: 0, chunks: &chunks, text: false });
        if dropped > 0 {
            copy_again(copies, &mut records, &places);
        }
        self.dropped += dropped;
        // The next look comes at four times as many records, so all looks together cost about as
        // much as the last look.
        self.count = 0;
        self.room = MANY.max(4 * records.len());
        records.into_iter().for_each(|record| self.put(record));
    }

    /// Sets the input, before any records. Docnos are copied out of a text that does not stay in
    /// memory.
    pub fn of(self, whole: HeldInput<'_>) -> Self {
        let docnos = match whole {
            HeldInput::Text(_) => DocnosIn::Text(Vec::new()),
            HeldInput::Passing => DocnosIn::Copies(Vec::new()),
            HeldInput::Columns(_) => DocnosIn::Columns(Vec::new()),
        };
        Scattered { docnos, ..self }
    }

    #[inline(always)]
    fn put(&mut self, record: Record) {
        self.count += 1;
        self.buckets[(u64::from(record.query) >> self.shift) as usize].push(record);
    }

    /// Moves the records of a worker into buckets by the new numbers of their queries.
    pub fn renumber(self, number: &[u32], queries: usize) -> Self {
        let mut renumbered = Scattered { docnos: self.docnos, ..Scattered::new(queries) };
        for block in self.buckets.into_iter().flat_map(Bucket::into_blocks) {
            for mut record in block {
                record.query = number[record.query as usize];
                renumbered.put(record);
            }
        }
        renumbered
    }
}

impl Scattered {
    /// Begins chunk `chunk` of the text, which is at `range`, or a piece of columns.
    pub fn begin_chunk(&mut self, chunk: u64, range: Range<usize>) {
        match &mut self.docnos {
            DocnosIn::Text(chunks) => chunks.push((chunk, range)),
            DocnosIn::Copies(copies) => copies.push((chunk, Vec::new())),
            DocnosIn::Columns(pieces) => pieces.push((chunk, range.start, Vec::new())),
        }
    }

    /// Takes the documents of the last piece of columns that are integers, as text.
    pub fn end_piece(&mut self, digits: &mut Vec<u8>) {
        if let DocnosIn::Columns(pieces) = &mut self.docnos
            && let Some((_, _, of_piece)) = pieces.last_mut()
        {
            *of_piece = std::mem::take(digits);
        }
    }

    /// Keeps a record, with its docno if docnos are copied.
    #[inline]
    pub fn keep<'a>(&mut self, mut record: Record, line: u64, docno: impl FnOnce() -> &'a [u8]) {
        if let DocnosIn::Copies(copies) = &mut self.docnos {
            let Some((chunk, copy)) = copies.last_mut() else { unreachable!("no chunk has begun") };
            record.at = address(*chunk, copy_docno(copy, line, docno()));
        }
        self.put(record);
    }

    /// The address of a byte of a chunk; addresses are in the order of the input.
    pub fn address(&self, chunk: u64, offset: usize) -> u64 {
        match &self.docnos {
            DocnosIn::Text(_) | DocnosIn::Columns(_) => address(chunk, offset),
            DocnosIn::Copies(copies) => {
                address(chunk, copies.last().map_or(0, |(_, copy)| copy.len()))
            }
        }
    }
}

/// Copies the docnos of the remaining records again, and frees all other copies. `places` has the
/// places of all records before the drop.
fn copy_again(copies: &mut [(u64, Vec<u8>)], records: &mut [Record], places: &[u64]) {
    let mut left = records;
    for (chunk, copy) in copies {
        let count = left.iter().take_while(|record| record.chunk() == *chunk).count();
        let (of_chunk, rest) = left.split_at_mut(count);
        let mut kept = Vec::new();
        for record in of_chunk {
            // Copy the bytes up to the next copy, because a copy may have more bytes than the
            // docno.
            let next = places.partition_point(|&place| place <= record.at);
            let next = places.get(next).filter(|&&next| next < address(*chunk + 1, 0));
            let end =
                next.map_or(copy.len(), |&next| (next - address(*chunk, 0)) as usize - BEFORE_COPY);
            let offset = record.offset();
            record.at = address(*chunk, kept.len() + BEFORE_COPY);
            kept.extend_from_slice(&copy[offset - BEFORE_COPY..end]);
        }
        *copy = kept;
        left = rest;
    }
}

/// Passes the records of every query, in input order, to a worker. Each bucket has a worker, and
/// the workers return in the order of their queries.
pub(crate) fn each_query<W: Send>(
    scattered: Vec<Scattered>,
    whole: HeldInput<'_>,
    watch: Option<&Watch>,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, &[Record], Docnos<'_>) + Sync,
) -> Vec<W> {
    let (buckets, places): (Vec<_>, Vec<_>) =
        scattered.into_iter().map(|part| (part.buckets, part.docnos)).unzip();
    let (chunks, pieces);
    let docnos = match whole {
        HeldInput::Columns(columns) => {
            pieces = in_order(places.iter().flat_map(|docnos| docnos.pieces(columns)));
            Docnos::Columns { first: 0, pieces: &pieces }
        }
        HeldInput::Text(text) => {
            chunks = in_order(places.iter().flat_map(|docnos| docnos.chunks(text)));
            Docnos::Chunks { first: 0, chunks: &chunks, text: true }
        }
        HeldInput::Passing => {
            chunks = in_order(places.iter().flat_map(|docnos| docnos.chunks(&[])));
            Docnos::Chunks { first: 0, chunks: &chunks, text: false }
        }
    };
    let most = buckets.iter().map(Vec::len).max().unwrap_or(0);
    let mut parts: Vec<Vec<Vec<Record>>> = (0..most).map(|_| Vec::new()).collect();
    for buckets in buckets {
        for (parts, bucket) in std::iter::zip(&mut parts, buckets) {
            parts.extend(bucket.into_blocks());
        }
    }
    let work = |together: &mut Vec<Record>, records: Vec<Vec<Record>>| {
        let mut worker = worker();
        if watch.is_some_and(Watch::is_stopped) {
            return worker;
        }
        // The blocks are freed before anything is ranked: each record is there twice only while its
        // bucket is sorted.
        by_query(&records, together);
        drop(records);
        for query in together.chunk_by_mut(|one, next| one.query == next.query) {
            query.sort_by_key(|record| record.at); // a run or two already in order
            take(&mut worker, query, docnos);
        }
        worker
    };
    // The next buckets reuse the memory of a bucket, because fresh memory takes longer than sorting
    // the records.
    parts.into_par_iter().map_init(Vec::new, work).collect()
}

/// Puts chunks in the order of their numbers; no number is missing.
fn in_order<T>(found: impl Iterator<Item = (u64, T)>) -> Vec<T> {
    let mut found: Vec<(u64, T)> = found.collect();
    sort::by(&mut found, |one, other| one.0.cmp(&other.0));
    found.into_iter().map(|(_, chunk)| chunk).collect()
}

/// Puts the records of a bucket into `sorted`, by query, and in input order within a query. The
/// sort counts queries and does not compare.
fn by_query(parts: &[Vec<Record>], sorted: &mut Vec<Record>) {
    sorted.clear();
    let all = || parts.iter().flatten();
    let (first, last) = all().fold((u32::MAX, 0), |(first, last), record| {
        (first.min(record.query), last.max(record.query))
    });
    if first > last {
        return;
    }
    // Queries of a bucket are neighbours, so counting them needs no more places than the bucket has
    // queries.
    let mut next = vec![0usize; (last - first) as usize + 2];
    all().for_each(|record| next[(record.query - first) as usize + 1] += 1);
    (1..next.len()).for_each(|query| next[query] += next[query - 1]);
    // `next[query]` is the start of the query, and later the place of its next record.
    sorted.resize(next[next.len() - 1], Record::default());
    for record in all() {
        let place = &mut next[(record.query - first) as usize];
        sorted[*place] = *record;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_of_each_query_are_together_and_in_order() {
        let queries = 1000;
        let count = 6 * (BUCKETS * BLOCK) as u32; // some blocks for each worker and bucket
        let query = |at: u32| at.wrapping_mul(2_654_435_761) % queries;
        let mut workers = vec![Scattered::new(queries as usize), Scattered::new(queries as usize)];
        for at in 0..count {
            let record = Record { query: query(at), at: u64::from(at), ..Record::default() };
            workers[at as usize / 7000 % 2].put(record);
        }
        let take = |taken: &mut Vec<Vec<Record>>, records: &[Record], _: Docnos<'_>| {
            taken.push(records.to_vec())
        };
        let taken = each_query(workers, HeldInput::Text(&[]), None, Vec::new, take).concat();
        assert!(
            taken
                .iter()
                .all(|records| records.iter().all(|record| record.query == records[0].query))
        );
        assert!(taken.iter().all(|records| records.is_sorted_by(|one, next| one.at < next.at)));
        assert!(taken.is_sorted_by(|one, next| one[0].query < next[0].query));
        let mut all: Vec<u64> = taken.concat().iter().map(|record| record.at).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..u64::from(count)));
    }

    #[test]
    fn rows_that_repeat_others_are_dropped_with_their_copies() {
        let mut scattered = Scattered::new(2).of(HeldInput::Passing).thinning(true);
        // In chunks 2 and 5, the documents 00 … 09 of two queries, each with its rank behind it,
        // and three hundred rows that repeat one.
        for chunk in [2u64, 5] {
            scattered.begin_chunk(chunk, 0..0);
            for line in 1..=320u32 {
                let document = if line > 20 { 7 } else { line / 2 % 10 };
                let docno = format!("{document:02}");
                let hash = u64::from(document);
                let record = Record { hash, length: 2, query: line % 2, ..Record::default() };
                let with_rank = format!("{docno} {line} ");
                scattered.keep(record, u64::from(line), || with_rank.as_bytes());
            }
        }
        assert!(scattered.has_room());
        scattered.thin();
        // Of each query ten documents stay, and twenty rows that repeat them.
        assert_eq!((scattered.dropped(), scattered.count), (640 - 2 * 30, 2 * 30));
        let take = |taken: &mut Vec<(u32, String, String, u64)>,
                    records: &[Record],
                    docnos: Docnos<'_>| {
            taken.extend(records.iter().map(|record| {
                let [docno, rank] = [docnos.of(record), docnos.rank_field(record)];
                let [docno, rank] =
                    [docno, rank].map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
                (record.query, docno, rank, docnos.position(record).line)
            }));
        };
        let mut others = Scattered::new(2).of(HeldInput::Passing);
        [0, 1, 3, 4].into_iter().for_each(|chunk| others.begin_chunk(chunk, 0..0));
        let taken =
            each_query(vec![scattered, others], HeldInput::Passing, None, Vec::new, take).concat();
        assert_eq!(taken.len(), 60);
        for (query, docno, rank, line) in taken {
            assert_eq!((rank, query), (line.to_string(), line as u32 % 2));
            assert_eq!(docno, format!("{:02}", if line > 20 { 7 } else { line / 2 % 10 }));
        }
    }
}
