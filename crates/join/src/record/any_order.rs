//! The records of qrels or of a run with lines in any order, brought together by query.
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

use super::{
    duplicates::{DroppedRepeats, MANY, drop_duplicates},
    groups::GroupNames,
    layout::{Docnos, Record, address},
    store::RecordStore,
};
use crate::bytes::{hash::Seed, id::IdInText};
use crate::columns::{CheckedColumns, PieceDocs};
use crate::ids::Ids;
use crate::lines::{
    layout::RankColumn,
    row::{BEFORE_DOCNO, copy_docno},
};
use crate::progress::{ProgressHandle, is_stopped};
use crate::sort;

/// The most buckets: as many as a second-level cache holds pages, because records are written to
/// all of them in turn.
const BUCKETS: usize = 256;
/// The number of records of a block. A block is not small, because a thread's heap grows by a
/// kernel call for each block.
const BLOCK: usize = 1024;

/// A bucket: the records of neighbouring queries, in blocks that are never moved.
#[derive(Clone, Default)]
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

    /// Returns the blocks of a bucket's records, in insertion order.
    fn into_blocks(self) -> impl Iterator<Item = Vec<Record>> {
        self.full.into_iter().chain([self.last])
    }
}

/// One worker's store of records of lines in any order: buckets by query, and the places of the
/// docnos.
pub(crate) struct AnyOrder {
    buckets: Vec<Bucket>,
    /// The shift of a query's number that gives its bucket.
    shift: u32,
    /// The docnos of records, by ascending chunks.
    docnos: Vec<ChunkDocnos>,
    /// Whether docnos are copied.
    copies: bool,
    /// The names of the groups of records, if these are judgments by facet.
    names: Option<GroupNames>,
    /// The number of records, and the number from which on repeated rows are dropped.
    count: usize,
    room: usize,
    /// The number of repeated rows that were dropped.
    dropped: DroppedRepeats,
}

/// The content of a qrels or run input that stays in memory during reading: text, columns, or
/// nothing.
#[derive(Clone, Copy)]
pub(crate) enum BufferedInput<'a> {
    /// Text in memory.
    Text(&'a [u8]),
    /// Nothing: the text is read once, in blocks.
    Streaming,
    /// Columns in memory.
    Columns(&'a CheckedColumns<'a>),
}

/// The docnos of the records of a chunk of text, or of a piece of columns.
struct ChunkDocnos {
    number: u64,
    /// The range of the chunk in the whole text, or the rows of the piece.
    range: Range<usize>,
    /// Copies of the docnos, if the text does not stay in memory; of a piece, its documents that are
    /// integers as text.
    bytes: Vec<u8>,
}

impl AnyOrder {
    /// Makes an empty store for records of queries with numbers below `queries`, in a text that
    /// stays in memory.
    pub fn new(queries: usize) -> Self {
        let shift = (usize::BITS - queries.leading_zeros()).saturating_sub(BUCKETS.ilog2());
        Self::with_buckets((queries >> shift) + 1, shift)
    }

    /// Makes an empty store for records of queries that are not numbered in order yet.
    pub fn unsorted() -> Self {
        // `put` shifts a `u64`, so a shift by 32 bits puts every query into the one bucket.
        Self::with_buckets(1, u32::BITS)
    }

    fn with_buckets(count: usize, shift: u32) -> Self {
        Self {
            buckets: vec![Bucket::default(); count],
            shift,
            docnos: Vec::new(),
            copies: false,
            names: None,
            count: 0,
            room: usize::MAX,
            dropped: DroppedRepeats::default(),
        }
    }

    /// Makes the store one of judgments by facet, whose groups it numbers.
    pub fn with_groups(self, seed: Seed) -> Self {
        Self { names: Some(GroupNames::new(seed)), ..self }
    }

    /// Returns the names of the groups of judgments by facet.
    pub fn group_names(&self) -> Option<&Ids> {
        self.names.as_ref().map(GroupNames::ids)
    }

    /// Sets the input that records point into; docnos are copied out of a text that does not stay
    /// in memory. It is called before any records come. `thinning` says whether repeated documents
    /// of a query may be dropped from a large store. That is from [many](MANY) rows on, of a text
    /// that does not stay in memory.
    pub fn with_input(self, whole: BufferedInput<'_>, thinning: bool) -> Self {
        let copies = matches!(whole, BufferedInput::Streaming);
        // A text in memory bounds its own records, so only a stream, perhaps a compressed one, can
        // bring rows without end.
        let room = if thinning && copies { MANY } else { usize::MAX };
        Self { copies, room, ..self }
    }

    #[inline(always)]
    fn put(&mut self, record: Record) {
        self.count += 1;
        self.buckets[(u64::from(record.query) >> self.shift) as usize].push(record);
    }

    /// Moves the records of a worker into buckets by the final numbers of their queries, and gives
    /// them the final numbers of their groups, if `groups` has any.
    pub fn renumber(self, number: &[u32], groups: &[u32], queries: usize) -> Self {
        let mut renumbered = Self { docnos: self.docnos, ..Self::new(queries) };
        for block in self.buckets.into_iter().flat_map(Bucket::into_blocks) {
            for mut record in block {
                record.query = number[record.query as usize];
                if !groups.is_empty() {
                    record.renumber_groups(groups);
                }
                renumbered.put(record);
            }
        }
        renumbered
    }
}

impl RecordStore for AnyOrder {
    fn begin_chunk(&mut self, number: u64, range: Range<usize>) {
        // All chunks stay until the end, and room for more copies would stay with them.
        self.docnos.last_mut().into_iter().for_each(|chunk| chunk.bytes.shrink_to_fit());
        self.docnos.push(ChunkDocnos { number, range, bytes: Vec::new() });
    }

    /// Keeps a record in the bucket of its query, with its docno if docnos are copied.
    #[inline]
    fn keep<'a>(
        &mut self,
        mut record: Record,
        line: u64,
        docno: impl FnOnce() -> (&'a [u8], Option<&'a [u8]>),
    ) {
        if self.copies {
            // Invariant: a reader begins a chunk before it pushes the first row of the chunk.
            let Some(chunk) = self.docnos.last_mut() else { unreachable!("no chunk has begun") };
            let (docno, rank) = docno();
            record.at = address(chunk.number, copy_docno(&mut chunk.bytes, line, docno, rank));
        }
        self.put(record);
    }

    #[inline(always)]
    fn groups(&mut self, group: IdInText<'_>, subgroup: Option<IdInText<'_>>) -> u64 {
        self.names.as_mut().map_or(0, |names| names.number(group, subgroup))
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        self.count < self.room
    }

    /// Drops repeated documents of queries, and the copies of their docnos, if that pays.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, _: Docnos<'_>) {
        let buckets = self.buckets.iter_mut().map(std::mem::take);
        let mut records: Vec<_> = buckets.flat_map(Bucket::into_blocks).flatten().collect();
        // Buckets are not in input order, and `copy_again` needs the records chunk by chunk.
        records.sort_unstable_by_key(|record| record.at);
        let places: Vec<_> = records.iter().map(|record| record.at).collect();
        let last = self.docnos.iter().map(|chunk| chunk.number as usize + 1).max();
        let mut chunks: Vec<&[u8]> = vec![&[]; last.unwrap_or(0)];
        self.docnos.iter().for_each(|chunk| chunks[chunk.number as usize] = &chunk.bytes);
        let dropped = drop_duplicates(&mut records, Docnos::copied(&chunks));
        if dropped.all() > 0 {
            copy_again(&mut self.docnos, &mut records, &places);
        }
        self.dropped += dropped;
        // The next look comes at four times as many records, so all looks together cost about as
        // much as the last look.
        self.count = 0;
        self.room = MANY.max(4 * records.len());
        records.into_iter().for_each(|record| self.put(record));
    }

    fn end_query(&mut self, _: &[u8], _: Docnos<'_>) {}

    fn end_piece(&mut self, digits: &mut Vec<u8>) {
        self.docnos.last_mut().into_iter().for_each(|piece| piece.bytes = std::mem::take(digits));
    }

    fn dropped(&self) -> DroppedRepeats {
        self.dropped
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        let copied = self.docnos.last().map_or(0, |chunk| chunk.bytes.len());
        address(chunk, if self.copies { copied } else { offset })
    }
}

/// Copies the docnos of the remaining records again, after repeated ones were dropped, and frees
/// the old copies. `places` has the places of all records before the drop.
fn copy_again(copies: &mut [ChunkDocnos], records: &mut [Record], places: &[u64]) {
    let mut left = records;
    for ChunkDocnos { number, bytes: copy, .. } in copies {
        let count = left.iter().take_while(|record| record.chunk() == *number).count();
        let (of_chunk, rest) = left.split_at_mut(count);
        let mut bytes = Vec::new();
        for record in of_chunk {
            // Copy the bytes up to the next copy, because a copy may have more bytes than the
            // docno.
            let start = address(*number, 0);
            let next = places.partition_point(|&place| place <= record.at);
            let next = places.get(next).filter(|&&next| next < address(*number + 1, 0));
            let end = next.map_or(copy.len(), |&next| (next - start) as usize - BEFORE_DOCNO);
            let offset = (record.at - start) as usize;
            record.at = address(*number, bytes.len() + BEFORE_DOCNO);
            bytes.extend_from_slice(&copy[offset - BEFORE_DOCNO..end]);
        }
        *copy = bytes;
        left = rest;
    }
}

/// Gathers the records of all workers by query, in input order, and passes each query's to `take`.
/// Each bucket has a worker, and the workers return in the order of their queries. With the input
/// comes the place of its ranks, where these were kept.
pub(crate) fn each_query<W: Send>(
    scattered: Vec<AnyOrder>,
    (whole, ranks): (BufferedInput<'_>, RankColumn),
    watch: Option<&ProgressHandle>,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, &[Record], Docnos<'_>) + Sync,
) -> Vec<W> {
    let (buckets, docnos): (Vec<_>, Vec<_>) =
        scattered.into_iter().map(|part| (part.buckets, part.docnos)).unzip();
    // No number is missing, so the index of a chunk is its number.
    let mut places: Vec<_> = docnos.into_iter().flatten().collect();
    sort::by(&mut places, |one, other| one.number.cmp(&other.number));
    let (chunks, pieces): (Vec<&[u8]>, Vec<PieceDocs<'_>>);
    let text = if let BufferedInput::Text(text) = whole { Some(text) } else { None };
    let docnos = match whole {
        BufferedInput::Columns(columns) => {
            pieces = places
                .iter()
                .map(|piece| PieceDocs { columns, start: piece.range.start, digits: &piece.bytes })
                .collect();
            Docnos::Columns { first: 0, pieces: &pieces }
        }
        BufferedInput::Text(_) | BufferedInput::Streaming => {
            chunks = places
                .iter()
                .map(|chunk| text.map_or(&chunk.bytes[..], |text| &text[chunk.range.clone()]))
                .collect();
            Docnos::Chunks { first: 0, chunks: &chunks, text: text.is_some(), ranks }
        }
    };
    let most = buckets.iter().map(Vec::len).max().unwrap_or(0);
    let mut parts = vec![Vec::new(); most];
    for buckets in buckets {
        for (parts, bucket) in std::iter::zip(&mut parts, buckets) {
            parts.extend(bucket.into_blocks());
        }
    }
    // The next buckets reuse the memory of a bucket, because fresh memory takes longer than sorting
    // the records.
    let work = parts.into_par_iter().map_init(Vec::new, |sorted, records| {
        let mut worker = worker();
        if is_stopped(watch) {
            return worker;
        }
        // The blocks are freed before anything is ranked: each record is there twice only while its
        // bucket is sorted.
        by_query(&records, sorted);
        drop(records);
        for query in sorted.chunk_by_mut(|one, next| one.query == next.query) {
            query.sort_by_key(|record| record.at); // a run or two already in order
            take(&mut worker, query, docnos);
        }
        worker
    });
    work.collect()
}

/// Sorts the records of a bucket by query, and in input order within a query, into `sorted`. The
/// sort counts queries and does not compare.
fn by_query(parts: &[Vec<Record>], sorted: &mut Vec<Record>) {
    sorted.clear();
    let all = parts.iter().flatten();
    let (first, last) = all.clone().fold((u32::MAX, 0), |(first, last), record| {
        (first.min(record.query), last.max(record.query))
    });
    if first > last {
        return;
    }
    // Queries of a bucket are neighbours, so counting them needs no more places than the bucket has
    // queries.
    let mut next = vec![0usize; (last - first) as usize + 2];
    all.clone().for_each(|record| next[(record.query - first) as usize + 1] += 1);
    (1..next.len()).for_each(|query| next[query] += next[query - 1]);
    // `next[query]` is the start of the query, and later the place of its next record.
    sorted.resize(next[next.len() - 1], Record::default());
    for record in all {
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
        let mut workers = vec![AnyOrder::new(queries as usize), AnyOrder::new(queries as usize)];
        for at in 0..count {
            let record = Record { query: query(at), at: u64::from(at), ..Record::default() };
            workers[at as usize / 7000 % 2].put(record);
        }
        let take = |taken: &mut Vec<Vec<Record>>, records: &[Record], _: Docnos<'_>| {
            taken.push(records.to_vec())
        };
        let taken =
            each_query(workers, (BufferedInput::Text(&[]), RankColumn::None), None, Vec::new, take)
                .concat();
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
        let mut scattered = AnyOrder::new(2).with_input(BufferedInput::Streaming, true);
        // In chunks 2 and 5, the documents 00 … 09 of two queries, each with its rank behind it,
        // and three hundred rows that repeat one.
        for chunk in [2u64, 5] {
            scattered.begin_chunk(chunk, 0..0);
            for line in 1..=320u32 {
                let document = if line > 20 { 7 } else { line / 2 % 10 };
                let docno = format!("{document:02}");
                let hash = u64::from(document);
                let record = Record { hash, length: 2, query: line % 2, ..Record::default() };
                let rank = line.to_string();
                let copied = (docno.as_bytes(), Some(rank.as_bytes()));
                scattered.keep(record, u64::from(line), || copied);
            }
        }
        assert!(scattered.has_room());
        scattered.make_room(Docnos::copied(&[]));
        // Of each query ten documents stay, and twenty rows that repeat them.
        assert_eq!((scattered.dropped.all(), scattered.count), (640 - 2 * 30, 2 * 30));
        let take = |taken: &mut Vec<(u32, String, String, u64)>,
                    records: &[Record],
                    docnos: Docnos<'_>| {
            taken.extend(records.iter().map(|record| {
                let [docno, rank] = [docnos.get(record), docnos.rank_field(record)]
                    .map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
                (record.query, docno, rank, docnos.position(record).line)
            }));
        };
        let mut others = AnyOrder::new(2).with_input(BufferedInput::Streaming, false);
        [0, 1, 3, 4].into_iter().for_each(|chunk| others.begin_chunk(chunk, 0..0));
        let taken = each_query(
            vec![scattered, others],
            (BufferedInput::Streaming, RankColumn::Beside),
            None,
            Vec::new,
            take,
        )
        .concat();
        assert_eq!(taken.len(), 60);
        for (query, docno, rank, line) in taken {
            assert_eq!((rank, query), (line.to_string(), line as u32 % 2));
            assert_eq!(docno, format!("{:02}", if line > 20 { 7 } else { line / 2 % 10 }));
        }
    }
}
