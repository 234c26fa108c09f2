//! A run: its lines joined with the judgments, and ranked, to rows of labels.
//!
//! The first pass takes the lines of a query to be together. Where one comes back later, the run is read again for lines in any order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::chunks::{Chunk, ChunkSize, each_chunk};
use super::dialect::{Comments, Rules};
use super::findings::{Finding, Findings, Place, Wrong, quoted, whole_file};
use super::hash::Seed;
use super::input::Opened;
use super::names::Names;
use super::number::decimal;
use super::qrels::{Qrels, lines_of};
use super::rank::{Ranker, sort_key};
use super::record::{Brief, Docnos, Record, address};
use super::scan::{Fields, Lines, Scanner};
use super::scatter::{ChunkRead, Scattered, each_query};
use super::shape::{Fault, LONGEST_LINE, Role, TOO_LONG};
use crate::error::{Error, Result, printable_path};
use crate::label::{RankingRule, RunInfo, ScoresSeen, StagedPiece, StagedRow, StagedRun, Unmatched};

/// No query of the qrels.
const UNJUDGED: u32 = u32::MAX;

/// What is the same for all workers.
#[derive(Clone, Copy)]
pub(super) struct Joining<'a> {
    pub qrels: &'a Qrels,
    pub rule: RankingRule,
    pub rules: Rules,
}

/// Reads a run of this name; what can be used of it, and the problems.
pub(super) fn read(
    opened: &Opened,
    name: &str,
    joining: Joining<'_>,
    size: ChunkSize,
) -> Result<(StagedRun, Wrong)> {
    let content = opened.content();
    let failed = |source| Error::io(opened.name.as_ref(), "read", source);
    let met = Met::new(joining.qrels.queries().len());
    let seed = joining.qrels.seed();
    let worker = || Worker::new(Grouped::new(joining, &met), seed);
    let workers = each_chunk(content, size, &met.twice, worker, |worker, chunk| worker.chunk(joining, chunk));
    let workers = workers.map_err(failed)?;
    if !met.twice.load(Ordering::Relaxed) {
        let (mut read, grouped) = Read::of(workers);
        read.parts = grouped.into_iter().map(|keep| Part { seen: keep.ranker.seen, ..keep.part }).collect();
        return Ok(read.finish(name, &opened.name, joining));
    }
    let copy = content.1.is_some();
    let worker = || Worker::new(Scattered::new(joining.qrels.queries().len(), copy), seed);
    let never = AtomicBool::new(false);
    let workers = each_chunk(content, size, &never, worker, |worker, chunk| worker.chunk(joining, chunk));
    let (mut read, scattered) = Read::of(workers.map_err(failed)?);
    read.rank(scattered, content.0, joining);
    Ok(read.finish(name, &opened.name, joining))
}

/// Takes results (query, docno, score) from memory, in any order.
pub(super) fn take<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
    name: &str,
    results: impl IntoIterator<Item = (Q, D, f64)>,
    joining: Joining<'_>,
) -> (StagedRun, Wrong) {
    let scattered = Scattered::new(joining.qrels.queries().len(), true);
    let mut worker = Worker::new(scattered, joining.qrels.seed());
    worker.results(joining, results);
    let (mut read, scattered) = Read::of(vec![worker]);
    read.rank(scattered, &[], joining);
    read.finish(name, name, joining)
}

/// The queries of the qrels that the run has had so far.
struct Met {
    queries: Vec<AtomicU64>,
    /// Has one come back?
    twice: AtomicBool,
}

impl Met {
    fn new(queries: usize) -> Self {
        let words = (0..queries.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Met { queries: words, twice: AtomicBool::new(false) }
    }

    /// Marks a query; `false`, for the whole run, if it was marked before.
    fn first_time(&self, query: u32) -> bool {
        let bit = 1 << (query % 64);
        let before = self.queries[query as usize / 64].fetch_or(bit, Ordering::Relaxed);
        if before & bit != 0 {
            self.twice.store(true, Ordering::Relaxed);
        }
        before & bit == 0
    }
}

/// Rows of labels.
#[derive(Default)]
struct Part {
    staged: StagedPiece,
    findings: Findings,
    seen: ScoresSeen,
}

impl Part {
    /// Ranks the results of a query.
    fn rank(&mut self, ranker: &mut Ranker, qrels: &Qrels, records: &[Record], docnos: Docnos<'_>) {
        let query = records[0].query;
        let (id, judged) = (qrels.queries().get(query as usize), qrels.judged(query));
        let depth = ranker.rank(id, records, docnos, judged, &mut self.staged.labels, &mut self.findings);
        self.staged.rows.push(StagedRow { query, depth });
    }
}

/// How a worker keeps the results of judged queries.
trait Keep {
    fn begin_chunk(&mut self, chunk: u64);
    fn keep(&mut self, record: Record, line: u64, chunk: u64, docno: (usize, usize), text: &[u8]);
    fn end_query(&mut self, chunk: Chunk<'_>);
    /// Where a line stands among the records.
    fn address(&self, chunk: u64, offset: usize) -> u64;
}

/// The results of a query are together: they are ranked at the end of them.
struct Grouped<'a> {
    qrels: &'a Qrels,
    met: &'a Met,
    records: Vec<Record>,
    ranker: Ranker,
    part: Part,
}

impl<'a> Grouped<'a> {
    fn new(joining: Joining<'a>, met: &'a Met) -> Self {
        let Joining { qrels, rule, rules } = joining;
        let ranker = Ranker::new(rule, rules.late_repeats);
        Grouped { qrels, met, records: Vec::new(), ranker, part: Part::default() }
    }
}

impl Keep for Grouped<'_> {
    fn begin_chunk(&mut self, _: u64) {}

    #[inline(always)]
    fn keep(&mut self, record: Record, _: u64, _: u64, _: (usize, usize), _: &[u8]) {
        self.records.push(record);
    }

    fn end_query(&mut self, chunk: Chunk<'_>) {
        let Some(first) = self.records.first() else { return };
        if self.met.first_time(first.query) {
            let docnos = Docnos { first: chunk.number, chunks: &[chunk.text], text: true };
            self.part.rank(&mut self.ranker, self.qrels, &self.records, docnos);
            self.ranker.seen.see_ranks(&self.records, docnos);
        }
        self.records.clear();
    }

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        address(chunk, offset)
    }
}

impl Keep for Scattered {
    fn begin_chunk(&mut self, chunk: u64) {
        self.begin(chunk);
    }

    #[inline(always)]
    fn keep(&mut self, record: Record, line: u64, chunk: u64, docno: (usize, usize), text: &[u8]) {
        Scattered::keep(self, record, line, chunk, || docno, text);
    }

    fn end_query(&mut self, _: Chunk<'_>) {}

    fn address(&self, chunk: u64, offset: usize) -> u64 {
        Scattered::address(self, chunk, offset)
    }
}

/// What one worker has read.
struct Worker<K> {
    keep: K,
    seed: Seed,
    ignored: Names,
    findings: Findings,
    chunks: Vec<ChunkRead>,
    results: u64,
    /// The tag of the last line, and its chunk.
    tag: (u64, Vec<u8>),
    scanner: Scanner,
}

impl<K: Keep> Worker<K> {
    fn new(keep: K, seed: Seed) -> Self {
        Worker {
            keep,
            seed,
            ignored: Names::new(seed),
            findings: Findings::default(),
            chunks: Vec::new(),
            results: 0,
            tag: (0, Vec::new()),
            scanner: Scanner::default(),
        }
    }

    fn chunk(&mut self, joining: Joining<'_>, chunk: Chunk<'_>) {
        let mut scanner = std::mem::take(&mut self.scanner);
        self.keep.begin_chunk(chunk.number);
        let current = Current { query: UNJUDGED, start: 0, end: 0, brief: Brief::default() };
        let mut reading = Reading {
            seed: self.seed,
            worker: self,
            joining,
            chunk,
            current,
            last: UNJUDGED,
            results: 0,
            tag: (0, 0),
        };
        let lines = scanner.each_line(chunk.text, &mut reading);
        let Reading { results, tag, .. } = reading;
        self.keep.end_query(chunk);
        self.chunks.push(ChunkRead::of(chunk, lines));
        self.results += results;
        if tag.1 > 0 {
            self.tag = (chunk.number, chunk.text[tag.0..tag.1].to_vec());
        }
        self.scanner = scanner;
    }

    /// Takes results from memory, a million in a chunk.
    fn results<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        &mut self,
        joining: Joining<'_>,
        results: impl IntoIterator<Item = (Q, D, f64)>,
    ) {
        const CHUNK: u64 = 1 << 20;
        for (query, docno, score) in results {
            let (chunk, line) = (self.results / CHUNK, self.results % CHUNK + 1);
            if line == 1 {
                self.keep.begin_chunk(chunk);
                self.chunks.push(ChunkRead::of(Chunk { number: chunk, start: 0, text: &[] }, CHUNK));
            }
            self.results += 1;
            if !score.is_finite() {
                let place = Place { chunk, line };
                let message = || format!("score {score} is not a finite number");
                let finding = || Finding { place, message: message(), earlier: None };
                self.findings.add(self.keep.address(chunk, 0), finding);
                continue;
            }
            let Some(query) = joining.qrels.query(query.as_ref()) else {
                self.ignored.insert(query.as_ref());
                continue;
            };
            let docno = docno.as_ref();
            if docno.len() > LONGEST_LINE {
                let place = Place { chunk, line };
                let finding = || Finding { place, message: TOO_LONG.to_owned(), earlier: None };
                self.findings.add(self.keep.address(chunk, 0), finding);
                continue;
            }
            let record = Record {
                key: sort_key(score, joining.rule.score),
                hash: self.seed.hash(docno, 0, docno.len()),
                at: 0,
                length: docno.len() as u32,
                query,
            };
            self.keep.keep(record, line, chunk, (0, docno.len()), docno);
        }
    }
}

/// The query whose lines are being read.
struct Current {
    query: u32,
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

/// A worker at a chunk.
struct Reading<'w, 't, 'q, K> {
    seed: Seed,
    worker: &'w mut Worker<K>,
    joining: Joining<'q>,
    chunk: Chunk<'t>,
    current: Current,
    /// The last judged query.
    last: u32,
    results: u64,
    /// Where the last tag lies.
    tag: (usize, usize),
}

impl<K: Keep> Reading<'_, '_, '_, K> {
    #[inline(never)]
    fn begin_query(&mut self, text: &[u8], start: usize, end: usize) {
        self.worker.keep.end_query(self.chunk);
        let id = &text[start..end];
        let query = self.joining.qrels.query_after(self.last, id).unwrap_or_else(|| {
            self.worker.ignored.insert(id);
            UNJUDGED
        });
        if query != UNJUDGED {
            self.last = query;
        }
        self.current = Current { query, start, end, brief: Brief::of(text, start, end) };
    }

    #[cold]
    fn problem(&mut self, offset: usize, line: u64, message: impl FnOnce() -> String) {
        let chunk = self.chunk.number;
        let place = Place { chunk, line };
        let address = self.worker.keep.address(chunk, offset);
        self.worker.findings.add(address, || Finding { place, message: message(), earlier: None });
    }
}

impl<K: Keep> Lines<6> for Reading<'_, '_, '_, K> {
    const MORE: bool = true;

    #[inline(always)]
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<6>) {
        self.results += 1;
        self.tag = (fields.starts[5], fields.ends[5]);
        let score = decimal(text, fields.starts[4], fields.ends[4], self.joining.rules.score);
        let Some(score) = score else {
            let rules = self.joining.rules;
            return self.problem(fields.starts[0], line, || {
                Role::Run.complaint(&text[fields.starts[0]..fields.ends[5]], Fault::Number, rules)
            });
        };
        if !self.current.is(text, fields.starts[0], fields.ends[0]) {
            self.begin_query(text, fields.starts[0], fields.ends[0]);
        }
        if self.current.query == UNJUDGED {
            return;
        }
        let (start, end) = (fields.starts[2], fields.ends[2]);
        let record = Record {
            key: sort_key(score, self.joining.rule.score),
            hash: self.seed.hash(text, start, end),
            at: address(self.chunk.number, start),
            length: (end - start) as u32,
            query: self.current.query,
        };
        self.worker.keep.keep(record, line, self.chunk.number, (start, end), text);
    }

    #[cold]
    fn other(&mut self, offset: usize, line: u64, bytes: &[u8]) {
        self.results += 1;
        let rules = self.joining.rules;
        self.problem(offset, line, || {
            let fault = Role::Run.fault(bytes, rules).unwrap_or(Fault::Number);
            Role::Run.complaint(bytes, fault, rules)
        });
    }

    fn comments(&self) -> Comments {
        self.joining.rules.run_comments
    }

    fn lone_returns(&self) -> bool {
        self.joining.rules.lone_returns
    }
}

/// `1 query`, `2 queries` …
fn count_of_queries(count: u64) -> String {
    format!("{count} quer{}", if count == 1 { "y" } else { "ies" })
}

/// What all workers have read.
#[derive(Default)]
struct Read {
    parts: Vec<Part>,
    ignored: Vec<Names>,
    findings: Findings,
    chunks: Vec<ChunkRead>,
    results: u64,
    tag: (u64, Vec<u8>),
}

impl Read {
    fn of<K>(workers: Vec<Worker<K>>) -> (Self, Vec<K>) {
        let mut read = Read::default();
        let mut keeps = Vec::with_capacity(workers.len());
        for worker in workers {
            read.findings.merge(worker.findings);
            read.chunks.extend(worker.chunks);
            read.ignored.push(worker.ignored);
            read.results += worker.results;
            read.tag = read.tag.max(worker.tag);
            keeps.push(worker.keep);
        }
        (read, keeps)
    }

    /// Ranks results that are in any order.
    fn rank(&mut self, scattered: Vec<Scattered>, text: &[u8], joining: Joining<'_>) {
        let worker = || (Part::default(), Ranker::new(joining.rule, joining.rules.late_repeats));
        let parts = each_query(scattered, text, &self.chunks, worker, |(part, ranker), records, docnos| {
            part.rank(ranker, joining.qrels, records, docnos);
        });
        self.parts = parts.into_iter().map(|(part, ranker)| Part { seen: ranker.seen, ..part }).collect();
    }

    /// Puts the parts together.
    fn finish(self, name: &str, source: &str, joining: Joining<'_>) -> (StagedRun, Wrong) {
        let mut ignored: Vec<&[u8]> = self.ignored.iter().flat_map(|names| names.ids().iter()).collect();
        ignored.par_sort_unstable();
        ignored.dedup();
        let info = RunInfo {
            name: name.to_owned(),
            tag: self.tag.1,
            source: source.to_owned(),
            results: self.results,
            ignored: Unmatched::all(ignored),
            seen: ScoresSeen::default(),
        };
        let mut run = StagedRun { info, ..StagedRun::default() };
        let (mut findings, mut repeats) = (self.findings, Findings::default());
        for part in self.parts {
            run.info.seen.merge(part.seen);
            run.pieces.push(part.staged);
            if joining.rules.late_repeats { &mut repeats } else { &mut findings }.merge(part.findings);
        }
        let lines = lines_of(&self.chunks);
        let mut problems = findings.into_problems(source, &lines);
        if self.results == 0 {
            problems = whole_file(source, format!("there is no result in it: {}", Role::Run.expected()));
        } else if !joining.rules.unjudged_runs
            && run.pieces.iter().all(|piece| piece.rows.is_empty())
            && problems.first.is_empty()
            && let (Some(here), false) =
                (run.info.ignored.ids.iter().next(), joining.qrels.queries().is_empty())
        {
            let there = quoted(joining.qrels.queries().get(0));
            let message = format!(
                "no query of {} is in it: it has {} such as {}, the qrels have {} such as {there}",
                printable_path(joining.qrels.name().as_ref()),
                count_of_queries(run.info.ignored.count),
                quoted(here),
                count_of_queries(joining.qrels.queries().len() as u64),
            );
            problems = whole_file(source, message);
        }
        (run, Wrong { lines: problems, repeats: repeats.into_problems(source, &lines) })
    }
}
