//! Cutting of qrels and runs into chunks of lines for parallel workers, where a new query begins.
//!
//! Text in memory is cut as workers ask for it. Compressed text is decompressed by a thread of its
//! own into a few blocks, which return to the thread when they are parsed. The places of the cuts
//! never change a result: a query that is cut in two nevertheless, because its lines are not
//! together, is noticed by the readers.
//!
//! ```text
//! text    q1 q1 q1 q1 q1 q1 q1 q2 q2 q3 q3 q3 …        a word is a line
//!         └ size ──────┘          │                    the next line that begins behind it is of
//!         └ chunk 0 ─────────────┘└ chunk 1 …          q1, so the cut is at the next new query
//! ```
//!
//! *In memory* a border is searched forwards, from `start + size`: the rest of one query is read
//! twice, once by the search and once by its worker. *From a stream* a border is searched
//! backwards, from the end of the buffered text. The last query may go on, so the cut is before the
//! last query, and its lines are copied to the start of the next buffer. If a whole buffer is one
//! query, the buffer is filled up to twice its size and searched again, so that reading a query of
//! any length is linear.
//!
//! A chunk has a mebibyte, because decompressed text is then parsed from a cache (git log,
//! 227af8e). A file of 256 MB still has enough chunks for every thread. Reading files into such
//! buffers, instead of mapping files, took a twentieth more CPU time as a whole
//! (benches/RESULTS.md).
//!
//! Two functions read a stream. `each_chunk` opens the stream by itself, and may open the stream
//! again for a second reading. A thread of its own decompresses, one block ahead, because
//! decompression takes longer than all other work (the medium run 0.46 s as gzip, 0.12 s
//! uncompressed). `each_block` borrows a reader that can be read once, and has no extra thread: a
//! free worker reads the next block under a lock while the other workers parse. Both functions hand
//! out chunks in ascending numbers.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::{
    LazyLock, Mutex, PoisonError,
    mpsc::{channel, sync_channel},
};

use rayon::prelude::*;

use super::{
    layout::TableLayout,
    row::RowBatch,
    scan::{last_line, line_end, split},
    shape::TOO_LONG,
};
use crate::bytes::{compression::read_some, limits::MAX_LINE_BYTES};
use crate::lock::lock;

/// The size in bytes of the chunks of text that parallel workers read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSize(pub usize);

impl Default for ChunkSize {
    fn default() -> Self {
        Self(1 << 20)
    }
}

/// Some whole lines of a qrels or run text for one worker, with their place in the text.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The number of the chunk, from 0, in the order of the text.
    pub number: u64,
    /// The byte of the whole text at which the chunk starts.
    pub start: usize,
    /// The lines of the chunk; none if it has rows that were read already.
    pub text: &'a [u8],
    /// Rows of a format without lines.
    pub rows: &'a RowBatch,
}

/// A text to cut into chunks: whole in memory, or from a stream.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    /// Text in memory, of these lines.
    Whole(&'a [u8], LineRule<'a>),
    /// Blocks of a text that is compressed, or of a format without lines.
    Stream(&'a OpenFn<'a>),
}

/// The format of lines, by which a text is cut between queries.
#[derive(Clone, Copy)]
pub enum LineRule<'a> {
    Trec,
    Table(&'a TableLayout),
    Other(&'a dyn LineFormat),
}

/// A format other than TREC and tables in which each line is read alone, so that workers share the
/// lines.
pub trait LineFormat: std::fmt::Debug + Send + Sync {
    /// Adds the rows of line `number` to `rows`, or its faults. The line has no blanks around it,
    /// and is not empty.
    fn line(&self, line: &[u8], number: u64, rows: &mut RowBatch);

    /// Adds the rows of all lines of `text` to `rows`, and returns the number of lines.
    fn rows(&self, text: &[u8], rows: &mut RowBatch) -> u64 {
        each_line(text, rows, |line, number, rows| self.line(line, number, rows))
    }

    /// Returns the query id of a line; `None` for a line without one.
    fn query<'t>(&self, line: &'t [u8]) -> Option<Cow<'t, [u8]>>;
}

/// Passes each line of a text without the blanks around it to `take`, and returns the number of
/// lines. Lines that are too long are faults, and blank lines are skipped.
#[inline(always)]
pub fn each_line<'t>(
    text: &'t [u8],
    rows: &mut RowBatch,
    mut take: impl FnMut(&'t [u8], u64, &mut RowBatch),
) -> u64 {
    let (mut start, mut number) = (0, 0);
    while start < text.len() {
        let end = line_end(text, start);
        number += 1;
        match text[start..end].trim_ascii() {
            [] => {}
            line if line.len() > MAX_LINE_BYTES => rows.fault(number, TOO_LONG),
            line => take(line, number, rows),
        }
        start = end + 1;
    }
    number
}

impl LineRule<'_> {
    /// Returns the query id of a line; `None` for a blank line or a comment.
    fn query<'t>(self, line: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        match self {
            Self::Trec => split(line).next().filter(|query| query[0] != b'#').map(Cow::Borrowed),
            Self::Table(table) => table.query_of(line).map(Cow::Borrowed),
            Self::Other(format) => format.query(line),
        }
    }
}

/// A source of the blocks of a text, which is read from its start to its end.
pub trait ReadBlocks: Send {
    /// Reads the next block; `None` behind the last. The block may use the memory of `spare`.
    ///
    /// # Errors
    /// A text that cannot be read, or no memory.
    fn next(&mut self, spare: StreamBlock) -> io::Result<Option<StreamBlock>>;
}

/// Gives all chunks of a text in memory to parallel workers, and returns the workers. A worker cuts
/// its next chunk when it asks for it.
fn each_cut_chunk<W: Send>(
    bytes: &[u8],
    rule: LineRule<'_>,
    size: usize,
    stop: impl Fn() -> bool + Sync,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, Chunk<'_>) + Sync,
) -> Vec<W> {
    // Small texts are cut finer: four chunks a thread even out chunks of unequal cost. Below 64 KiB
    // the borders would cost more than even loads save.
    let threads = rayon::current_num_threads();
    let size = size.min((bytes.len() / (4 * threads)).max(64 << 10)).max(1);
    // The number and start of the next chunk.
    let next = Mutex::new((0, 0));
    let cut = || {
        let mut next = lock(&next);
        let (number, start) = *next;
        if start >= bytes.len() {
            return None;
        }
        let end = border_after(bytes, start + size, gap(size), rule);
        *next = (number + 1, end);
        Some(Chunk { number, start, text: &bytes[start..end], rows: &NO_ROWS })
    };
    all_workers(bytes.len().div_ceil(size).min(threads), || {
        let mut worker = worker();
        while let Some(chunk) = cut().filter(|_| !stop()) {
            take(&mut worker, chunk);
        }
        worker
    })
}

/// Gives all chunks of a qrels or run text to parallel workers, and returns the workers.
///
/// Each worker takes chunks in ascending order. If `stop` says so, the workers stop early.
///
/// # Errors
/// A stream that cannot be read, or no memory.
pub fn each_chunk<W: Send>(
    content: Content<'_>,
    ChunkSize(size): ChunkSize,
    stop: impl Fn() -> bool + Sync,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, Chunk<'_>) + Sync,
) -> io::Result<Vec<W>> {
    let open = match content {
        Content::Stream(open) => open,
        Content::Whole(bytes, rule) => {
            return Ok(each_cut_chunk(bytes, rule, size, stop, worker, take));
        }
    };
    // One block is read ahead. Buffers return through the second channel, so a few buffers serve a
    // text of any size.
    let (full, blocks) = sync_channel(1);
    let (empty, returned) = channel();
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new().spawn_scoped(scope, move || -> io::Result<()> {
            let mut blocks = open()?;
            while let Some(block) = blocks.next(returned.try_recv().unwrap_or_default())?
                && full.send(block).is_ok()
            {}
            Ok(())
        });
        // A limit on threads is no reason to fail: without a further thread, the workers read and
        // work in turns, with the same chunks.
        let Ok(reading) = reading else {
            return each_block(&mut *open()?, stop, worker, take);
        };
        let blocks = Mutex::new(blocks);
        let workers = all_workers(rayon::current_num_threads(), || {
            let (mut worker, empty) = (worker(), empty.clone());
            let receive = || blocks.lock().ok()?.recv().ok();
            while let Some(block) = receive().filter(|_| !stop()) {
                take(&mut worker, block.chunk());
                // The send fails only after the reader has ended, and then nobody needs the buffer.
                let _ = empty.send(block);
            }
            worker
        });
        // The thread may still read. Without a receiver its next block is refused, and the thread
        // ends.
        drop(blocks);
        let done = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map(|()| workers)
    })
}

/// A function that opens the stream of a text for one reading.
pub type OpenFn<'a> = dyn Fn() -> io::Result<Box<dyn ReadBlocks + 'a>> + Sync + 'a;

/// Runs `count` workers, in parallel if there are several, and returns their results.
pub fn all_workers<W: Send>(count: usize, work: impl Fn() -> W + Sync) -> Vec<W> {
    if count <= 1 {
        return vec![work()];
    }
    (0..count).into_par_iter().map(|_| work()).collect()
}

/// The rows of a chunk that has lines.
static NO_ROWS: LazyLock<RowBatch> = LazyLock::new(RowBatch::default);

/// Returns the number of bytes of blank lines and comments from which on they are cut anywhere, not
/// read twice.
fn gap(size: usize) -> usize {
    size / 64
}

/// Returns the next cut of a text after byte `at`: the start of a line of a new query, or behind a
/// gap.
fn border_after(text: &[u8], at: usize, gap: usize, rule: LineRule<'_>) -> usize {
    if at >= text.len() {
        return text.len();
    }
    // Search from `at - 1`, so that a line beginning at `at` counts. Invariant: `at` is at least 1,
    // because sizes are.
    let mut start = line_after(text, at - 1);
    let (mut before, mut last) = (None, start);
    while start < text.len() {
        // Without this limit, the cut before each chunk of a long comment would scan the chunk to
        // its end. Every such chunk would then be read twice.
        if start - last > gap {
            return start;
        }
        let after = line_after(text, start);
        if let Some(query) = rule.query(&text[start..after]) {
            if before.is_some_and(|before| before != query) {
                return start;
            }
            (before, last) = (Some(query), after);
        }
        start = after;
    }
    text.len()
}

/// Returns the start of the line after the line of byte `at` in a text.
fn line_after(text: &[u8], at: usize) -> usize {
    text.len().min(line_end(text, at) + 1)
}

/// Returns the last cut of an incomplete text: the start of a line of a new query, or behind a gap;
/// else 0.
fn last_border(text: &[u8], gap: usize, rule: LineRule<'_>) -> usize {
    let last = last_line(text);
    let Some(mut end) = last.checked_sub(1) else { return 0 };
    let (mut border, mut after) = (0, None);
    loop {
        // The line feed of the line before is at `end`, or the text begins here.
        let start = last_line(&text[..end]);
        if let Some(query) = rule.query(&text[start..end]) {
            if after.is_some_and(|after| after != query) {
                return border;
            }
            (border, after) = (start, Some(query));
        // Only at the end, before a line of a query is met: a gap between two queries ends at their
        // border.
        } else if after.is_none() && last - start > gap {
            return last;
        }
        if start == 0 {
            return 0;
        }
        end = start - 1;
    }
}

/// The most decompressed bytes that are kept for the end of a query. A longer query is cut at a
/// line, and the text is read again for lines in any order.
const LARGEST: usize = 2 * MAX_LINE_BYTES;

/// The rule by which the text of a stream, read in part, is cut into chunks.
#[derive(Clone, Copy)]
pub struct CutRule<'a> {
    /// The format of the lines.
    rule: LineRule<'a>,
    /// The size of chunks, if nothing else matters.
    size: usize,
    /// The number of bytes of blank lines and comments that are cut anywhere.
    gap: usize,
    /// The number of bytes from which on a text of one query is cut at a line.
    pub largest: usize,
}

impl<'a> CutRule<'a> {
    /// Makes the cutting rule for a stream that can be read again: a query may be cut in two.
    pub fn anywhere(ChunkSize(size): ChunkSize, rule: LineRule<'a>) -> Self {
        Self { rule, size, gap: gap(size), largest: LARGEST }
    }

    /// Makes the cutting rule that keeps all lines of a query in one chunk. Only blank lines and
    /// comments are cut, where a gap is longer than the longest allowed line.
    pub fn between_queries(ChunkSize(size): ChunkSize, rule: LineRule<'a>) -> Self {
        Self { rule, size, gap: MAX_LINE_BYTES, largest: usize::MAX }
    }

    /// Makes the cutting rule that keeps no more text than is needed: a query may be cut at any
    /// line.
    pub fn at_lines(ChunkSize(size): ChunkSize, rule: LineRule<'a>) -> Self {
        Self { rule, size, gap: gap(size), largest: 0 }
    }

    /// Returns the last place for a cut in a stream's text by this rule; `None` if more text is
    /// needed.
    fn last(&self, text: &[u8]) -> Option<usize> {
        let complete = last_line(text);
        match last_border(text, self.gap, self.rule) {
            0 if text.len() >= self.largest && complete > 0 => Some(complete),
            0 => None,
            border => Some(border),
        }
    }
}

/// Returns the last place in an incomplete text up to which all queries are complete, if their
/// lines are together; 0 if there is none.
pub fn last_query_end(text: &[u8], rule: LineRule<'_>) -> usize {
    last_border(text, usize::MAX, rule)
}

/// A chunk of a text that is read once from a stream: the first `length` bytes of a buffer, or
/// rows.
#[derive(Debug, Default)]
pub struct StreamBlock {
    pub number: u64,
    start: usize,
    text: Vec<u8>,
    length: usize,
    pub rows: RowBatch,
}

impl StreamBlock {
    /// Returns the lines or rows of the block, with its number and start.
    pub fn chunk(&self) -> Chunk<'_> {
        let text = &self.text[..self.length];
        Chunk { number: self.number, start: self.start, text, rows: &self.rows }
    }
}

/// The reader that cuts the lines of a stream into chunks, with the text that is not yet cut.
pub struct LineBlocks<'r> {
    reader: Box<dyn Read + Send + 'r>,
    cuts: CutRule<'r>,
    text: Vec<u8>,
    /// The number of bytes of text in the buffer, and the number that should be there.
    filled: usize,
    wanted: usize,
    number: u64,
    start: usize,
    ended: bool,
}

impl<'r> LineBlocks<'r> {
    pub fn new(reader: Box<dyn Read + Send + 'r>, cuts: CutRule<'r>) -> Self {
        Self {
            reader,
            cuts,
            text: Vec::new(),
            filled: 0,
            wanted: cuts.size,
            number: 0,
            start: 0,
            ended: false,
        }
    }
}

impl ReadBlocks for LineBlocks<'_> {
    fn next(&mut self, spare: StreamBlock) -> io::Result<Option<StreamBlock>> {
        let size = self.cuts.size;
        while !self.ended {
            grow(&mut self.text, self.wanted)?;
            while self.filled < self.wanted && !self.ended {
                match read_some(&mut self.reader, &mut self.text[self.filled..])? {
                    0 => self.ended = true,
                    read => self.filled += read,
                }
            }
            let filled = self.filled;
            // Reading stops after a line that is too long; the worker of its chunk reports the
            // line.
            self.ended |= filled - last_line(&self.text[..filled]) > MAX_LINE_BYTES;
            let cut = if self.ended { Some(filled) } else { self.cuts.last(&self.text[..filled]) };
            // Invariant: `length` is behind a line feed, or the text has ended, so that no line is
            // cut.
            let Some(length) = cut else {
                // All of the text is one query. The wanted size is doubled, so that the repeated
                // searches stay linear in the length of the query.
                self.wanted = 2 * filled.max(size);
                continue;
            };
            let mut next = spare.text;
            let rest = &self.text[length..filled];
            grow(&mut next, rest.len().max(size))?;
            next[..rest.len()].copy_from_slice(rest);
            self.filled = rest.len();
            // Half a size more than what is left over, so that a long rest does not make the next
            // block a small step.
            self.wanted = size.max(self.filled + size / 2);
            let text = std::mem::replace(&mut self.text, next);
            let (number, start) = (self.number, self.start);
            (self.number, self.start) = (number + 1, start + length);
            return Ok(Some(StreamBlock { number, start, text, length, rows: spare.rows }));
        }
        Ok(None)
    }
}

/// Distributes the chunks of a text that is read once to parallel workers, and returns the workers.
/// One worker reads while the rest process their chunks.
///
/// Each worker takes chunks in ascending order. Once `stop` returns `true`, no further chunk is
/// read; chunks already read are still processed.
///
/// # Errors
/// An error of the reader, or no memory.
pub fn each_block<W: Send>(
    blocks: &mut dyn ReadBlocks,
    stop: impl Fn() -> bool + Sync,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, Chunk<'_>) + Sync,
) -> io::Result<Vec<W>> {
    let blocks = Mutex::new(Ok(blocks));
    // Reads the next chunk; `None` behind the last, after an error or a stop.
    let read = |spare| {
        let mut shared = lock(&blocks);
        let blocks = shared.as_mut().ok().filter(|_| !stop())?;
        blocks.next(spare).unwrap_or_else(|error| {
            // The error takes the place of the reader, so no worker reads on behind it.
            *shared = Err(error);
            None
        })
    };
    let workers = all_workers(rayon::current_num_threads(), || {
        let (mut worker, mut spare) = (worker(), StreamBlock::default());
        while let Some(block) = read(spare) {
            take(&mut worker, block.chunk());
            spare = block;
        }
        worker
    });
    blocks.into_inner().unwrap_or_else(PoisonError::into_inner).map(|_| workers)
}

/// Makes a buffer at least `length` bytes long, and fails without memory for it.
fn grow(buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
    if buffer.len() < length {
        buffer.try_reserve_exact(length - buffer.len())?;
        buffer.resize(length, 0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::compression::{Codec, gzip};
    use crate::cases::by_default;

    /// Opens compressed lines, to be cut by a rule.
    fn lines_of<'a>(
        codec: Codec,
        bytes: &'a [u8],
        cuts: CutRule<'a>,
    ) -> io::Result<Box<dyn ReadBlocks + 'a>> {
        Ok(Box::new(LineBlocks::new(Box::new(codec.text(bytes)?), cuts)))
    }

    #[test]
    fn borders_lie_between_queries() {
        let text = b"a 1\na 2\n\n# x\nb 1\nb 2\nb 3\nc 1";
        let after = |at| border_after(text, at, 99, LineRule::Trec);
        let last = |text: &[u8]| last_border(text, 99, LineRule::Trec);
        assert_eq!(after(1), 13);
        assert_eq!(after(13), 25);
        assert_eq!(after(14), 25);
        assert_eq!(after(25), text.len(), "the line at 25 is the first one seen");
        assert_eq!(last(text), 13, "the last line is not complete");
        assert_eq!(last(&text[..8]), 0);
        assert_eq!(last(b"a 1\nb 1\n"), 4);
        assert_eq!(last(b"a 1"), 0);
    }

    #[test]
    fn chunks_are_the_text_whatever_their_size() {
        let text: String = (0..400).map(|n| format!("q{} 0 d{n} 1\n", n / 7)).collect();
        let text = text.as_bytes();
        let gzip = gzip(text);
        for size in [1, 2, 17, 500, 100_000] {
            let cuts = CutRule::anywhere(ChunkSize(size), LineRule::Trec);
            let open = || lines_of(Codec::Gzip, &gzip, cuts);
            for content in [Content::Whole(text, LineRule::Trec), Content::Stream(&open)] {
                let workers = each_chunk(
                    content,
                    ChunkSize(size),
                    || false,
                    Vec::new,
                    |taken, chunk| {
                        taken.push((chunk.number, chunk.start, chunk.text.to_vec()));
                    },
                );
                let mut all: Vec<(u64, usize, Vec<u8>)> = workers.unwrap().concat();
                all.sort();
                let mut joined = Vec::new();
                for (number, (found, start, chunk)) in all.into_iter().enumerate() {
                    assert_eq!((found, start), (number as u64, joined.len()));
                    joined.extend(chunk);
                }
                assert_eq!(joined, text);
            }
        }
    }

    /// Half a gibibyte of one line, and of the lines of one query, from a few kibibytes.
    #[test]
    fn no_block_is_much_larger_than_the_longest_line() {
        for (unit, enough) in [(&b"x"[..], false), (b"q 0 d 1\n", true)] {
            let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            let block = unit.repeat((1 << 20) / unit.len());
            let all_of_it = by_default(300, 512);
            (0..all_of_it).for_each(|_| io::Write::write_all(&mut zstd, &block).unwrap());
            let zstd = zstd.finish().unwrap();
            let cuts = CutRule::anywhere(ChunkSize::default(), LineRule::Trec);
            let open = || lines_of(Codec::Zstd, &zstd, cuts);
            let content = Content::Stream(&open);
            let take = |taken: &mut Vec<usize>, chunk: Chunk<'_>| taken.push(chunk.text.len());
            let never = || false;
            let taken =
                each_chunk(content, ChunkSize::default(), never, Vec::new, take).unwrap().concat();
            assert!(taken.iter().all(|&length| length <= 2 * LARGEST), "{taken:?}");
            let all = taken.iter().sum::<usize>();
            assert_eq!(
                (all == all_of_it << 20, all > MAX_LINE_BYTES),
                (enough, true),
                "what follows a line too long is not read"
            );
        }
    }

    #[test]
    fn one_thread_decompresses_and_works() {
        let text: String = (0..400).map(|n| format!("q{} 0 d{n} 1\n", n / 7)).collect();
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let read = |bytes: &[u8], stop: bool| {
            let take = |taken: &mut Vec<u8>, chunk: Chunk<'_>| taken.extend(chunk.text);
            let cuts = CutRule::anywhere(ChunkSize(500), LineRule::Trec);
            each_block(&mut *lines_of(Codec::Zstd, bytes, cuts)?, || stop, Vec::new, take)
        };
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let parts = alone.install(|| read(&zstd, false)).unwrap();
        assert_eq!(parts, [text.as_bytes()]);
        assert!(read(&zstd[..zstd.len() / 2], false).is_err());
        let stopped = read(&zstd, true).unwrap().concat();
        assert!(stopped.len() < text.len() && text.as_bytes().starts_with(&stopped));
    }
}
