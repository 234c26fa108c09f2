//! Text in pieces for several workers, cut where a new query begins.
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

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use memchr::{memchr, memrchr};

use super::layout::TableLayout;
use super::scan::split;
use crate::bytes::limits::LONGEST_LINE;

/// The size of chunks in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSize(pub usize);

impl Default for ChunkSize {
    fn default() -> Self {
        ChunkSize(1 << 20)
    }
}

/// Some lines of a text.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The number of the chunk, from 0, in the order of the text.
    pub number: u64,
    /// The byte of the whole text at which the chunk starts.
    pub start: usize,
    /// The lines of the chunk.
    pub text: &'a [u8],
}

/// A text to cut.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    /// Text in memory.
    Whole(&'a [u8]),
    /// Text from a stream: compressed, or made of another format.
    Stream(&'a Open<'a>),
}

/// Gives all chunks of a text, which may be a table, to workers in parallel, and returns the
/// workers.
///
/// Each worker takes chunks in ascending order. If `stop` says so, the workers stop early.
///
/// # Errors
/// A stream that cannot be read, or no memory.
pub fn each_chunk<W: Send>(
    (content, table): (Content<'_>, Option<&TableLayout>),
    ChunkSize(size): ChunkSize,
    stop: impl Fn() -> bool + Sync,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, Chunk<'_>) + Sync,
) -> io::Result<Vec<W>> {
    let open = match content {
        Content::Stream(open) => open,
        Content::Whole(bytes) => {
            let size = fitting(size, bytes.len());
            let cutter = TextCutter { text: bytes, table, size, next: Mutex::new((0, 0)) };
            let workers = bytes.len().div_ceil(cutter.size).min(rayon::current_num_threads());
            return Ok(all_workers(workers, || {
                let mut worker = worker();
                while let Some(chunk) = cutter.next().filter(|_| !stop()) {
                    take(&mut worker, chunk);
                }
                worker
            }));
        }
    };
    // One block is read ahead. Buffers return through the second channel, so a few buffers serve a
    // text of any size.
    let (full, blocks) = sync_channel(1);
    let (empty, returned) = channel();
    std::thread::scope(|scope| {
        let cuts = CutRule::anywhere(size, table);
        let all = move || read(open, cuts, |block| full.send(block).is_ok(), &returned);
        // A limit on threads is no reason to fail: without a second thread, this thread reads and
        // works in turns, with the same chunks.
        let Ok(reading) = std::thread::Builder::new().spawn_scoped(scope, all) else {
            return on_this_thread(open, cuts, stop, worker(), take);
        };
        let blocks = Mutex::new(blocks);
        let next = || {
            blocks.lock().ok().and_then(
                |blocks: std::sync::MutexGuard<'_, Receiver<PassingChunk>>| blocks.recv().ok(),
            )
        };
        let workers = all_workers(rayon::current_num_threads(), || {
            let (mut worker, empty): (W, Sender<Vec<u8>>) = (worker(), empty.clone());
            while let Some(block) = next().filter(|_| !stop()) {
                take(
                    &mut worker,
                    Chunk {
                        number: block.number,
                        start: block.start,
                        text: &block.text[..block.length],
                    },
                );
                let _ = empty.send(block.text);
            }
            worker
        });
        drop(blocks); // a thread that still reads finds no receiver, and ends
        let done = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map(|()| workers)
    })
}

/// Opens a stream.
type Open<'a> = dyn Fn() -> io::Result<Box<dyn Read + Send + 'a>> + Sync + 'a;

/// Reads and works in turns, if no thread can be started.
fn on_this_thread<W>(
    open: &Open<'_>,
    cuts: CutRule<'_>,
    stop: impl Fn() -> bool + Sync,
    mut worker: W,
    take: impl Fn(&mut W, Chunk<'_>),
) -> io::Result<Vec<W>> {
    let (empty, returned) = channel();
    let work = |PassingChunk { number, start, text, length }: PassingChunk| {
        take(&mut worker, Chunk { number, start, text: &text[..length] });
        empty.send(text).is_ok() && !stop()
    };
    read(open, cuts, work, &returned)?;
    Ok(vec![worker])
}

/// Returns the size of chunks for a text of `length` bytes: small texts are cut finer, so that
/// every thread has chunks.
fn fitting(size: usize, length: usize) -> usize {
    // Four chunks a thread even out chunks of unequal cost. Below 64 KiB the borders would cost
    // more than even loads save.
    size.min((length / (4 * rayon::current_num_threads())).max(64 << 10)).max(1)
}

/// Runs `count` workers, in parallel if there are several.
pub fn all_workers<W: Send>(count: usize, work: impl Fn() -> W + Sync) -> Vec<W> {
    if count <= 1 {
        return vec![work()];
    }
    let done = Mutex::new(Vec::new());
    rayon::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|_| {
                let worker = work();
                done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(worker);
            });
        }
    });
    done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Text in memory, cut on demand.
struct TextCutter<'a> {
    text: &'a [u8],
    table: Option<&'a TableLayout>,
    size: usize,
    /// The number and start of the next chunk.
    next: Mutex<(u64, usize)>,
}

impl<'a> TextCutter<'a> {
    fn next(&self) -> Option<Chunk<'a>> {
        let mut next = self.next.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (number, start) = *next;
        if start >= self.text.len() {
            return None;
        }
        let end = border_after(self.text, start + self.size, gap(self.size), self.table);
        *next = (number + 1, end);
        Some(Chunk { number, start, text: &self.text[start..end] })
    }
}

/// The query of a line, unless the line is blank or a comment.
fn query<'t>(line: &'t [u8], table: Option<&TableLayout>) -> Option<&'t [u8]> {
    match table {
        None => split(line).next().filter(|query| query[0] != b'#'),
        Some(table) => table.query_of(line),
    }
}

/// The length of a gap: more bytes of blank lines and comments are cut anywhere, so that no gap is
/// read twice.
fn gap(size: usize) -> usize {
    size / 64
}

/// Returns the start of the first line after `at` with another query than the line before, or
/// behind a gap.
fn border_after(text: &[u8], at: usize, gap: usize, table: Option<&TableLayout>) -> usize {
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
        if let Some(query) = query(&text[start..after], table) {
            if before.is_some_and(|before| before != query) {
                return start;
            }
            (before, last) = (Some(query), after);
        }
        start = after;
    }
    text.len()
}

/// Returns the start of the line after the line of byte `at`.
pub fn line_after(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1)
}

/// Returns the start of the last line in an incomplete text with another query than the line
/// before, or behind a gap; 0 without any.
fn last_border(text: &[u8], gap: usize, table: Option<&TableLayout>) -> usize {
    let Some(mut end) = memrchr(b'\n', text) else { return 0 };
    let (last, mut border, mut after) = (end + 1, 0, None);
    loop {
        // The line feed of the line before is at `end`, or the text begins here.
        let start = memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1);
        if let Some(query) = query(&text[start..end], table) {
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
const LARGEST: usize = 2 * LONGEST_LINE;

/// The rule by which an incomplete text is cut into chunks.
#[derive(Clone, Copy)]
struct CutRule<'a> {
    /// The format of the table; `None` for other text.
    table: Option<&'a TableLayout>,
    /// The size of chunks, if nothing else matters.
    size: usize,
    /// The number of bytes of blank lines and comments that are cut anywhere.
    gap: usize,
    /// The number of bytes from which on a text of one query is cut at a line.
    largest: usize,
}

impl<'a> CutRule<'a> {
    /// Makes cuts for a text that can be read again; a query may be cut in two.
    fn anywhere(size: usize, table: Option<&'a TableLayout>) -> Self {
        CutRule { table, size, gap: gap(size), largest: LARGEST }
    }

    /// Makes cuts that keep all lines of a query together. Only blank lines and comments are cut,
    /// where a gap is longer than the longest allowed line.
    fn between_queries(size: usize, table: Option<&'a TableLayout>) -> Self {
        CutRule { table, size, gap: LONGEST_LINE, largest: usize::MAX }
    }

    /// The last place for a cut; `None` if more of the text is needed.
    fn last(&self, text: &[u8]) -> Option<usize> {
        let complete = memrchr(b'\n', text).map_or(0, |feed| feed + 1);
        match last_border(text, self.gap, self.table) {
            0 if text.len() >= self.largest && complete > 0 => Some(complete),
            0 => None,
            border => Some(border),
        }
    }
}

/// The last place in an incomplete text up to which all queries are complete, if their lines are
/// together; 0 if there is none.
pub fn complete(text: &[u8], table: Option<&TableLayout>) -> usize {
    last_border(text, usize::MAX, table)
}

/// A chunk of a text that is read once: the first `length` bytes of a buffer.
struct PassingChunk {
    number: u64,
    start: usize,
    text: Vec<u8>,
    length: usize,
}

/// Reads blocks, until all are sent or `send` wants no more.
fn read(
    open: &Open<'_>,
    cuts: CutRule<'_>,
    mut send: impl FnMut(PassingChunk) -> bool,
    returned: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    let mut text = open()?;
    let mut blocks = Blocks::new(&mut *text, cuts);
    while let Some(block) = blocks.next(|| returned.try_recv().unwrap_or_default())? {
        if !send(block) {
            break;
        }
    }
    Ok(())
}

/// A text read once, in blocks.
struct Blocks<'r> {
    reader: &'r mut (dyn Read + Send),
    cuts: CutRule<'r>,
    text: Vec<u8>,
    /// The number of bytes of text in the buffer, and the number that should be there.
    filled: usize,
    wanted: usize,
    number: u64,
    start: usize,
    ended: bool,
}

impl<'r> Blocks<'r> {
    fn new(reader: &'r mut (dyn Read + Send), cuts: CutRule<'r>) -> Self {
        let wanted = cuts.size;
        Blocks {
            reader,
            cuts,
            text: Vec::new(),
            filled: 0,
            wanted,
            number: 0,
            start: 0,
            ended: false,
        }
    }

    /// Reads the next block; `None` behind the last. `spare` gives a used buffer, or a new one.
    fn next(&mut self, spare: impl FnOnce() -> Vec<u8>) -> io::Result<Option<PassingChunk>> {
        let size = self.cuts.size;
        while !self.ended {
            let ended = fill(self.reader, &mut self.text, &mut self.filled, self.wanted)?;
            let filled = self.filled;
            let last_line = memrchr(b'\n', &self.text[..filled]).map_or(0, |feed| feed + 1);
            // Reading stops after a line that is too long; the worker of its chunk reports the
            // line.
            self.ended = ended || filled - last_line > LONGEST_LINE;
            let cut = if self.ended { Some(filled) } else { self.cuts.last(&self.text[..filled]) };
            // Invariant: `length` is behind a line feed, or the text has ended, so that no line is
            // cut.
            let Some(length) = cut else {
                self.wanted = 2 * filled.max(size); // all one query
                continue;
            };
            let mut next = spare();
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
            return Ok(Some(PassingChunk { number, start, text, length }));
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
    (reader, table): (&mut (dyn Read + Send), Option<&TableLayout>),
    ChunkSize(size): ChunkSize,
    stop: impl Fn() -> bool + Sync,
    worker: impl Fn() -> W + Sync,
    take: impl Fn(&mut W, Chunk<'_>) + Sync,
) -> io::Result<Vec<W>> {
    let blocks =
        Mutex::new((Blocks::new(reader, CutRule::between_queries(size, table)), None::<io::Error>));
    let next = |spare: Vec<u8>| {
        let mut locked = blocks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (blocks, failed) = &mut *locked;
        if failed.is_some() || stop() {
            return None;
        }
        blocks.next(|| spare).unwrap_or_else(|error| {
            *failed = Some(error);
            None
        })
    };
    let workers = all_workers(rayon::current_num_threads(), || {
        let (mut worker, mut spare) = (worker(), Vec::new());
        while let Some(PassingChunk { number, start, text, length }) = next(spare) {
            take(&mut worker, Chunk { number, start, text: &text[..length] });
            spare = text;
        }
        worker
    });
    match blocks.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).1 {
        Some(error) => Err(error),
        None => Ok(workers),
    }
}

/// Makes a buffer at least `length` bytes long.
fn grow(buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
    if buffer.len() < length {
        buffer.try_reserve_exact(length - buffer.len())?;
        buffer.resize(length, 0);
    }
    Ok(())
}

/// Reads until `text` has `wanted` bytes; returns `true` at the end of the input.
fn fill(
    reader: &mut dyn Read,
    text: &mut Vec<u8>,
    filled: &mut usize,
    wanted: usize,
) -> io::Result<bool> {
    grow(text, wanted)?;
    while *filled < wanted {
        match reader.read(&mut text[*filled..]) {
            Ok(0) => return Ok(true),
            Ok(read) => *filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::compression::Codec;
    use crate::cases::by_default;

    fn border_after(text: &[u8], at: usize, gap: usize) -> usize {
        super::border_after(text, at, gap, None)
    }

    fn last_border(text: &[u8], gap: usize) -> usize {
        super::last_border(text, gap, None)
    }

    #[test]
    fn borders_lie_between_queries() {
        let text = b"a 1\na 2\n\n# x\nb 1\nb 2\nb 3\nc 1";
        assert_eq!(border_after(text, 1, 99), 13);
        assert_eq!(border_after(text, 13, 99), 25);
        assert_eq!(border_after(text, 14, 99), 25);
        assert_eq!(border_after(text, 25, 99), text.len(), "the line at 25 is the first one seen");
        assert_eq!(last_border(text, 99), 13, "the last line is not complete");
        assert_eq!(last_border(&text[..8], 99), 0);
        assert_eq!(last_border(b"a 1\nb 1\n", 99), 4);
        assert_eq!(last_border(b"a 1", 99), 0);
    }

    #[test]
    fn chunks_are_the_text_whatever_their_size() {
        let text: String = (0..400).map(|n| format!("q{} 0 d{n} 1\n", n / 7)).collect();
        let text = text.as_bytes();
        let gzip = {
            use std::io::Write;
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        for size in [1, 2, 17, 500, 100_000] {
            let open = || Ok(Box::new(Codec::Gzip.text(&gzip[..])?) as Box<dyn Read + Send>);
            for content in [Content::Whole(text), Content::Stream(&open)] {
                let workers = each_chunk(
                    (content, None),
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
            let open = || Ok(Box::new(Codec::Zstd.text(&zstd[..])?) as Box<dyn Read + Send>);
            let content = (Content::Stream(&open), None);
            let take = |taken: &mut Vec<usize>, chunk: Chunk<'_>| taken.push(chunk.text.len());
            let never = || false;
            let taken =
                each_chunk(content, ChunkSize::default(), never, Vec::new, take).unwrap().concat();
            assert!(taken.iter().all(|&length| length <= 2 * LARGEST), "{taken:?}");
            let all = taken.iter().sum::<usize>();
            assert_eq!(
                (all == all_of_it << 20, all > LONGEST_LINE),
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
            let open = || Ok(Box::new(Codec::Zstd.text(bytes)?) as Box<dyn Read + Send>);
            on_this_thread(&open, CutRule::anywhere(500, None), || stop, Vec::new(), take)
        };
        let parts = read(&zstd, false).unwrap();
        assert_eq!(parts, [text.as_bytes()]);
        assert!(read(&zstd[..zstd.len() / 2], false).is_err());
        let stopped = read(&zstd, true).unwrap().concat();
        assert!(stopped.len() < text.len() && text.as_bytes().starts_with(&stopped));
    }
}
