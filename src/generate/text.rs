//! Synthetic judgments and runs as files of TREC text, formatted in parallel and written in order.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::model::{Model, ModelScratch};
use crate::atomic_file::{self, PendingFile};
use crate::error::{Error, Result};
use crate::progress::{ProgressHandle, add_work};

/// The number of lines in a piece, formatted by one worker.
const LINES: u32 = 8192;
/// The number of pieces in one set of buffers: 16 are formatted while 16 are written.
const PIECES: usize = 16;

/// Writes the synthetic qrels file and all run files, and gives the files their names only when all
/// are complete.
pub(super) fn write(model: &Model, folder: &Path, watch: Option<&ProgressHandle>) -> Result<()> {
    if let Some(watch) = watch {
        expect(model, watch);
    }
    let path = folder.join("qrels.txt");
    let file = write_file(model, &path, model.shape.judged, watch, |query, scratch, out| {
        judgments(model, query, scratch, out)
    })?;
    let mut files = vec![(path, file)];
    for (run, name) in (0..).zip(model.shape.run_names()) {
        let tag = name.trim_end_matches(".txt").as_bytes();
        let path = folder.join(&name);
        let file = write_file(model, &path, model.shape.depth, watch, |query, scratch, out| {
            ranking(model, query, run, tag, scratch, out);
        })?;
        files.push((path, file));
    }
    // No file has its name before all are complete: judgments without their runs would look like
    // data.
    files
        .into_iter()
        .try_for_each(|(path, file)| file.persist().map_err(|e| Error::io(&path, "write", e)))
}

/// Estimates the bytes of all synthetic files from the query in the middle, as the total of the
/// progress.
fn expect(model: &Model, watch: &ProgressHandle) {
    let (mut scratch, mut out) = (ModelScratch::default(), Vec::new());
    let query = model.shape.queries / 2;
    judgments(model, query, &mut scratch, &mut out);
    for (run, name) in (0..).zip(model.shape.run_names()) {
        let tag = name.trim_end_matches(".txt").as_bytes();
        ranking(model, query, run, tag, &mut scratch, &mut out);
    }
    watch.expect(out.len() as u64 * u64::from(model.shape.queries));
}

/// Writes one synthetic file under a temporary name, of about `lines` lines for each query.
fn write_file(
    model: &Model,
    path: &Path,
    lines: u32,
    watch: Option<&ProgressHandle>,
    format: impl Fn(u32, &mut ModelScratch, &mut Vec<u8>) + Sync,
) -> Result<PendingFile> {
    let written = atomic_file::write_pending(path, |file| {
        // Two sets of buffers: the workers fill one set while the other is written. Both sets keep
        // their memory, so a file of any size takes the memory of 32 pieces.
        let [mut full, mut empty] = [vec![Vec::new(); PIECES], vec![Vec::new(); PIECES]];
        for pieces in pieces(model.shape.queries, (LINES / lines).max(1)) {
            let (_, written) = rayon::join(
                || fill(&mut empty, &pieces, &format),
                || write_all(file, &mut full, watch),
            );
            written?;
            std::mem::swap(&mut full, &mut empty);
        }
        write_all(file, &mut full, watch)
    });
    written.map_err(|e| Error::io(path, "write", e))
}

/// Splits the queries into ranges of `each` queries, and hands out [`PIECES`] ranges at a time.
fn pieces(queries: u32, each: u32) -> impl Iterator<Item = Vec<Range<u32>>> {
    let mut ranges = (0..queries)
        .step_by(each as usize)
        .map(move |first| first..queries.min(first.saturating_add(each)));
    std::iter::from_fn(move || {
        let some: Vec<_> = ranges.by_ref().take(PIECES).collect();
        (!some.is_empty()).then_some(some)
    })
}

fn fill(
    buffers: &mut [Vec<u8>],
    pieces: &[Range<u32>],
    format: &(impl Fn(u32, &mut ModelScratch, &mut Vec<u8>) + Sync),
) {
    buffers.par_iter_mut().zip(pieces).for_each_init(
        ModelScratch::default,
        |scratch, (out, queries)| {
            queries.clone().for_each(|query| format(query, scratch, out));
        },
    );
}

fn write_all(
    file: &mut dyn Write,
    pieces: &mut [Vec<u8>],
    watch: Option<&ProgressHandle>,
) -> io::Result<()> {
    for piece in pieces {
        file.write_all(piece)?;
        add_work(watch, piece.len() as u64);
        piece.clear();
    }
    Ok(())
}

/// Writes the qrels lines `query 0 docno grade` of a synthetic query.
fn judgments(model: &Model, query: u32, scratch: &mut ModelScratch, out: &mut Vec<u8>) {
    model.judge(query, scratch);
    let id = DecimalText::new(model.id(query));
    for judgment in &scratch.judgments {
        let mut line = TextLine::new();
        line.put(id.text()).put(b" 0 d").number(judgment.document).put(b" ");
        line.number(judgment.grade.into()).put(b"\n");
        out.extend_from_slice(line.text());
    }
}

/// Writes the run lines `query Q0 docno rank score tag` of a synthetic query.
fn ranking(
    model: &Model,
    query: u32,
    run: u16,
    tag: &[u8],
    scratch: &mut ModelScratch,
    out: &mut Vec<u8>,
) {
    model.rank(query, run, &mut scratch.places);
    let (id, documents) = (DecimalText::new(model.id(query)), model.documents(query));
    for (rank, place) in (1..).zip(&scratch.places) {
        let mut line = TextLine::new();
        line.put(id.text())
            .put(b" Q0 d")
            .number(documents.at(place.position))
            .put(b" ")
            .number(rank);
        line.put(b" ").millionths(place.score).put(b" ").put(tag).put(b"\n");
        out.extend_from_slice(line.text());
    }
}

/// A buffer for one formatted line of a synthetic qrels or run file. Lines of synthetic data are
/// short.
struct TextLine {
    bytes: [u8; 128],
    length: usize,
}

impl TextLine {
    #[inline]
    fn new() -> Self {
        Self { bytes: [0; 128], length: 0 }
    }

    #[inline]
    fn put(&mut self, text: &[u8]) -> &mut Self {
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
        self
    }

    #[inline]
    fn number(&mut self, number: u64) -> &mut Self {
        self.put(DecimalText::new(number).text())
    }

    /// Appends a score given in millionths to the line, with six decimals.
    #[inline]
    fn millionths(&mut self, number: u32) -> &mut Self {
        let decimals = DecimalText::new(u64::from(1_000_000 + number % 1_000_000));
        self.number(u64::from(number / 1_000_000)).put(b".").put(&decimals.text()[1..])
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The decimal digits of a whole number, as text without an allocation.
pub(super) struct DecimalText {
    bytes: [u8; 20],
    start: usize,
}

impl DecimalText {
    #[inline]
    pub(super) fn new(mut number: u64) -> Self {
        let mut digits = Self { bytes: [0; 20], start: 20 };
        loop {
            digits.start -= 1;
            digits.bytes[digits.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return digits;
            }
        }
    }

    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_always() {
        for number in [0, 7, 10, 999_999, 1_000_000, 12_345_678, u64::MAX] {
            assert_eq!(DecimalText::new(number).text(), number.to_string().as_bytes());
        }
        for number in [0, 7, 999_999, 1_000_000, 12_000_345, u32::MAX] {
            let mut line = TextLine::new();
            line.millionths(number);
            assert_eq!(line.text(), format!("{:.6}", f64::from(number) / 1e6).as_bytes());
        }
    }
}
