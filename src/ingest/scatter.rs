//! Lines in any order, brought together by query.
//!
//! Workers put the records they read into buckets of neighbouring queries; afterwards each bucket is sorted by itself, in cache.
//! Every record costs its 32 bytes, and while its bucket is being worked on 32 more.

use rayon::prelude::*;

use super::chunks::Chunk;
use super::record::{Docnos, Record, address, copy_docno};

/// How many buckets there are at most: as many pages as a second-level cache holds, for records are written to all of them in turn.
const BUCKETS: usize = 256;
/// How many records are allocated at a time.
const BLOCK: usize = 256;

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
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(BLOCK));
        self.full.push(full);
    }

    /// Its records in the order in which they came.
    fn into_blocks(self) -> impl Iterator<Item = Vec<Record>> {
        self.full.into_iter().chain([self.last])
    }
}

/// What a reader knows of a chunk when it has read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkRead {
    pub number: u64,
    start: usize,
    length: usize,
    pub lines: u64,
}

impl ChunkRead {
    pub fn of(chunk: Chunk<'_>, lines: u64) -> Self {
        ChunkRead { number: chunk.number, start: chunk.start, length: chunk.text.len(), lines }
    }
}

/// The records of one worker in buckets, and their docnos where the text does not stay.
#[derive(Debug)]
pub(super) struct Scattered {
    buckets: Vec<Bucket>,
    /// The bucket of a query is its number shifted by this.
    shift: u32,
    /// The chunks of copied docnos, by number.
    copies: Option<Vec<(u64, Vec<u8>)>>,
}

impl Scattered {
    /// For queries below `queries`; with `copy` docnos are copied out of texts that do not stay.
    pub fn new(queries: usize, copy: bool) -> Self {
        let shift = (usize::BITS - queries.leading_zeros()).saturating_sub(BUCKETS.ilog2());
        let buckets = vec![Bucket::default(); (queries >> shift) + 1];
        Scattered { buckets, shift, copies: copy.then(Vec::new) }
    }

    /// For queries that are not numbered in order yet.
    pub fn unsorted(copy: bool) -> Self {
        Scattered { buckets: vec![Bucket::default()], shift: u32::BITS, copies: copy.then(Vec::new) }
    }

    /// Begins with a chunk.
    pub fn begin(&mut self, chunk: u64) {
        if let Some(copies) = &mut self.copies {
            copies.push((chunk, Vec::new()));
        }
    }

    /// Where a line of the current chunk stands among its records.
    pub fn address(&self, chunk: u64, offset: usize) -> u64 {
        let copy = self.copies.as_ref().and_then(|copies| copies.last());
        address(chunk, copy.map_or(offset, |(_, copy)| copy.len()))
    }

    /// Keeps a record, whose address is that of its docno in `text`.
    #[inline]
    pub fn keep(
        &mut self,
        mut record: Record,
        line: u64,
        chunk: u64,
        docno: impl FnOnce() -> (usize, usize),
        text: &[u8],
    ) {
        if let Some((_, copy)) = self.copies.as_mut().and_then(|copies| copies.last_mut()) {
            let (start, end) = docno();
            record.at = address(chunk, copy_docno(copy, line, &text[start..end]));
        }
        self.put(record);
    }

    #[inline(always)]
    fn put(&mut self, record: Record) {
        self.buckets[(u64::from(record.query) >> self.shift) as usize].push(record);
    }

    /// Puts the records of a worker whose queries have other numbers now into buckets for those.
    pub fn renumber(self, number: &[u32], queries: usize) -> Self {
        let mut renumbered = Scattered::new(queries, false);
        renumbered.copies = self.copies;
        for block in self.buckets.into_iter().flat_map(Bucket::into_blocks) {
            for mut record in block {
                record.query = number[record.query as usize];
                renumbered.put(record);
            }
        }
        renumbered
    }
}

/// Hands the records of every query, in input order, to a worker for it; `text` is the whole text where docnos were not copied.
/// There is a worker for each bucket, and they come back in the order of their queries.
pub(super) fn each_query<W: Send>(
    mut scattered: Vec<Scattered>,
    text: &[u8],
    chunks: &[ChunkRead],
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, &[Record], Docnos<'_>) + Sync,
) -> Vec<W> {
    let mut copies: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut copied = false;
    for part in &mut scattered {
        if let Some(part) = part.copies.take() {
            copied = true;
            copies.extend(part);
        }
    }
    let mut places: Vec<&[u8]> = vec![&[]; chunks.len()];
    if copied {
        copies.iter().for_each(|(chunk, copy)| places[*chunk as usize] = copy);
    } else {
        chunks.iter().for_each(|read| places[read.number as usize] = &text[read.start..][..read.length]);
    }
    let docnos = Docnos { first: 0, chunks: &places, text: !copied };
    let buckets = scattered.iter().map(|part| part.buckets.len()).max().unwrap_or(0);
    let mut parts: Vec<Vec<Vec<Record>>> = (0..buckets).map(|_| Vec::new()).collect();
    for part in scattered {
        for (parts, bucket) in std::iter::zip(&mut parts, part.buckets) {
            parts.extend(bucket.into_blocks());
        }
    }
    let work = |records: Vec<Vec<Record>>| {
        let mut worker = worker();
        let mut together = by_query(&records);
        drop(records);
        for query in together.chunk_by_mut(|one, next| one.query == next.query) {
            query.sort_by_key(|record| record.at); // a run or two already in order
            take(&mut worker, query, docnos);
        }
        worker
    };
    parts.into_par_iter().map(work).collect()
}

/// The records of a bucket by query; those of a query in the order in which they lie. Counted, not compared.
fn by_query(parts: &[Vec<Record>]) -> Vec<Record> {
    let all = || parts.iter().flatten();
    let Some(first) = all().map(|record| record.query).min() else { return Vec::new() };
    let last = all().map(|record| record.query).max().unwrap_or(first);
    let mut next = vec![0usize; (last - first) as usize + 2];
    all().for_each(|record| next[(record.query - first) as usize + 1] += 1);
    (1..next.len()).for_each(|query| next[query] += next[query - 1]);
    let mut sorted = vec![Record::default(); next[next.len() - 1]];
    for record in all() {
        let place = &mut next[(record.query - first) as usize];
        sorted[*place] = *record;
        *place += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_of_each_query_are_together_and_in_order() {
        let queries = 1000;
        let count = 6 * (BUCKETS * BLOCK) as u32; // some blocks for each worker and bucket
        let query = |at: u32| at.wrapping_mul(2_654_435_761) % queries;
        let mut workers =
            vec![Scattered::new(queries as usize, false), Scattered::new(queries as usize, false)];
        for at in 0..count {
            let record = Record { query: query(at), at: u64::from(at), ..Record::default() };
            workers[at as usize / 7000 % 2].put(record);
        }
        let take =
            |taken: &mut Vec<Vec<Record>>, records: &[Record], _: Docnos<'_>| taken.push(records.to_vec());
        let taken = each_query(workers, &[], &[], Vec::new, take).concat();
        assert!(taken.iter().all(|records| records.iter().all(|record| record.query == records[0].query)));
        assert!(taken.iter().all(|records| records.is_sorted_by(|one, next| one.at < next.at)));
        assert!(taken.is_sorted_by(|one, next| one[0].query < next[0].query));
        let mut all: Vec<u64> = taken.concat().iter().map(|record| record.at).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..u64::from(count)));
    }
}
