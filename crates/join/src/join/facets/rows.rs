//! Judgments by facet from a source of rows, or pushed row by row: they become records, and the
//! records of a query its judgments.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::assembly::{Assembly, common_names};
use super::query_builder::FacetBuilder;
use super::shape::{FacetContext, FacetShape, FacetSource};
use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::bytes::interner::Interner;
use crate::bytes::limits::MAX_LINE_BYTES;
use crate::error::{Problems, Result};
use crate::ids::Ids;
use crate::join::qrels::{Qrels, number_queries, sorted};
use crate::lines::diagnostics::{Diagnostic, Position, pluralize, quoted};
use crate::lines::dialect::Rules;
use crate::lines::layout::RankColumn;
use crate::lines::scan::split;
use crate::lines::shape::{Role, TOO_LONG};
use crate::progress::check_stopped;
use crate::record::any_order::{AnyOrder, BufferedInput, each_query};
use crate::record::layout::{Docnos, Record, address};
use crate::record::reader::{InOrder, Reader, RowReader, RowSource, WorkerResults, gather};
use crate::record::store::RecordStore;

/// The row reader of a worker that reads judgments by facet, whose lines have `N` fields in TREC
/// text: the shape of a line, and the queries met so far.
struct FacetReader<const N: usize> {
    shape: FacetShape,
    rules: Rules,
    queries: Interner,
}

impl<const N: usize> FacetReader<N> {
    fn new(shape: FacetShape, seed: Seed) -> Self {
        let rules = Rules { grade: shape.parser(), lone_returns: false, ..shape.rules };
        Self { shape, rules, queries: Interner::new(seed) }
    }
}

impl<const N: usize> RowReader for FacetReader<N> {
    const ROLE: Role = Role::Qrels;
    const GROUPS: usize = N - 3;

    fn rules(&self) -> Rules {
        self.rules
    }

    #[inline(always)]
    fn key(&self, grade: f64) -> u64 {
        self.shape.grade(grade).to_bits()
    }

    fn query(&mut self, text: &[u8], [start, end]: [usize; 2]) -> Option<u32> {
        Some(self.queries.insert(&text[start..end]).0)
    }

    fn complaint(&self, line: &[u8]) -> String {
        let (what, expected) = (self.shape.number(), self.shape.expected());
        match split(line).count() {
            _ if line.len() > MAX_LINE_BYTES => format!("{TOO_LONG}: {expected}"),
            count if count == N => {
                let number = quoted(split(line).last().unwrap_or_default());
                format!("{what} {number} is not a number: {expected}")
            }
            count => {
                let are = if count == 1 { "is" } else { "are" };
                format!("there {are} {}: {expected}", pluralize(count, "field"))
            }
        }
    }

    fn is_valid(&self, number: f64) -> bool {
        self.shape.is_valid(number)
    }

    fn invalid_number(&self, number: f64) -> String {
        self.shape.invalid_number(number)
    }
}

/// Reads judgments by facet from a source of rows; returns the usable judgments and the problems.
/// `passing` says that the source can be read only once.
pub fn read_from(
    rows: &impl RowSource,
    passing: bool,
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    if context.source.shape.has_subgroups() {
        read_fields::<5>(rows, passing, context)
    } else {
        read_fields::<4>(rows, passing, context)
    }
}

/// Reads judgments by facet whose lines have `N` fields.
fn read_fields<const N: usize>(
    rows: &impl RowSource,
    passing: bool,
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    let FacetContext { source: FacetSource { shape, .. }, seed, .. } = context;
    let line = &|line| rows.line(line);
    if !passing {
        let back = AtomicBool::new(false);
        let (read, grouped) = rows.read(&back, seed, || {
            (FacetReader::<N>::new(shape, seed), together(&back, shape, seed))
        })?;
        if !back.load(Ordering::Relaxed)
            && let Some(assembled) = join_queries(read, grouped, line, context)
        {
            return assembled;
        }
    }
    let (read, scattered) = rows.read(&AtomicBool::new(false), seed, || {
        (FacetReader::<N>::new(shape, seed), store(rows.whole(), shape, seed))
    })?;
    sort_out(read, scattered, rows.whole(), line, context)
}

/// A worker's store for judgments by facet whose queries are together.
type Together<'b> = InOrder<'b, FacetBuilder<'static>>;

/// Makes the store of a worker for judgments by facet whose queries are together.
fn together(back: &AtomicBool, shape: FacetShape, seed: Seed) -> Together<'_> {
    InOrder::new(FacetBuilder::new(shape, seed, None), back).thinning(shape.thins())
}

/// Makes the store of a worker for judgments by facet in any order.
fn store(whole: BufferedInput<'_>, shape: FacetShape, seed: Seed) -> AnyOrder {
    AnyOrder::unsorted().with_input(whole).with_groups(seed).thinning(shape.thins())
}

/// Makes qrels by facet of queries that are together; `None` if two workers have met one query.
fn join_queries<const N: usize>(
    read: WorkerResults<FacetReader<N>>,
    grouped: Vec<Together<'_>>,
    line: &dyn Fn(u64) -> u64,
    context: FacetContext<'_>,
) -> Option<Result<(Qrels, Problems)>> {
    let dropped = grouped.iter().map(|keep| keep.dropped).sum();
    let builders: Vec<FacetBuilder<'_>> = grouped.into_iter().map(|keep| keep.make).collect();
    let own: Vec<&Ids> = builders.iter().map(FacetBuilder::group_names).collect();
    let (names, numbers) = common_names(&own);
    let built = builders.into_iter().map(|builder| builder.built).collect();
    Assembly { read, dropped, names, numbers, line, context }.assemble(built)
}

/// Makes qrels by facet of records in any order.
fn sort_out<const N: usize>(
    read: WorkerResults<FacetReader<N>>,
    scattered: Vec<AnyOrder>,
    whole: BufferedInput<'_>,
    line: &dyn Fn(u64) -> u64,
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    let FacetContext { source: FacetSource { shape, .. }, seed, watch } = context;
    let queries: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    let (ids, numbers) = number_queries(&sorted(&queries), &queries);
    let own: Vec<&Ids> = scattered.iter().filter_map(AnyOrder::group_names).collect();
    let (names, groups) = common_names(&own);
    let dropped = scattered.iter().map(AnyOrder::dropped).sum();
    let scattered = scattered
        .into_par_iter()
        .zip((numbers, groups))
        .map(|(scattered, (numbers, groups))| scattered.renumber(&numbers, &groups, ids.len()))
        .collect();
    let all: Vec<&[u8]> = names.iter().collect();
    let builders = each_query(
        scattered,
        (whole, RankColumn::None),
        watch,
        || FacetBuilder::new(shape, seed, Some(&all)),
        |builder, records, docnos| {
            builder.add(ids.get(records[0].query as usize), records, docnos);
        },
    );
    check_stopped(watch)?;
    let built = builders.into_iter().map(|builder| builder.built).collect();
    let assembly = Assembly { read, dropped, names, numbers: Vec::new(), line, context };
    // Invariant: each query is of one bucket, so no two builders have it.
    assembly.assemble(built).unwrap_or_else(|| unreachable!("a query is in two buckets"))
}

/// The ids of one judgment by facet: query, group (judge, subtopic or preference group), document.
#[derive(Clone, Copy)]
pub struct JudgmentPlace<'t> {
    pub query: &'t [u8],
    pub group: &'t [u8],
    pub doc: &'t [u8],
}

/// The reader of pushed rows, which have no sub-groups.
type PushReader = FacetReader<4>;

/// Judgments by facet without sub-groups that are pushed row by row in any order, to a store of
/// records.
pub struct PushedRows {
    reader: Reader<PushReader, AnyOrder>,
    shape: FacetShape,
    /// The query of the last row; `None` before the first row.
    last: Option<u32>,
    /// The number of lines before the chunk, and that of rows in it.
    before: u64,
    rows: usize,
}

/// The rows of a chunk of pushed rows.
const ROWS: usize = 1 << 16;

impl PushedRows {
    /// Makes an empty collection of judgments by facet.
    pub fn new(shape: FacetShape, seed: Seed) -> Self {
        let mut keep = store(BufferedInput::Streaming, shape, seed);
        keep.begin_chunk(0, 0..0);
        let reader = Reader::new(|| (FacetReader::new(shape, seed), keep), seed);
        Self { reader, shape, last: None, before: 0, rows: 0 }
    }

    /// Makes qrels of all pushed judgments; returns the usable judgments and the problems.
    pub fn finish(mut self, context: FacetContext<'_>) -> Result<(Qrels, Problems)> {
        check_stopped(context.watch)?;
        // The lines of the last chunk are before no other, so they are not counted.
        self.end_chunk(self.before);
        let (read, scattered) = gather(vec![self.reader]);
        sort_out(read, scattered, BufferedInput::Streaming, &|line| line, context)
    }

    /// Returns the position of a line behind all lines so far.
    fn position(&self, line: u64) -> Position {
        Position { chunk: self.reader.chunks.len() as u64, line: line - self.before }
    }

    /// Ends the chunk of pushed rows with this line.
    fn end_chunk(&mut self, line: u64) {
        self.reader.chunks.push((self.reader.chunks.len() as u64, line - self.before));
        (self.before, self.rows) = (line, 0);
    }

    /// Adds a judgment by facet of a line behind all lines so far, or its problem.
    pub fn push(
        &mut self,
        line: u64,
        JudgmentPlace { query, group, doc }: JudgmentPlace<'_>,
        grade: f64,
    ) {
        if !self.shape.is_valid(grade) {
            return self.problem(line, self.shape.invalid_number(grade));
        }
        if group.is_empty() {
            return self.problem(line, "the group is empty".to_owned());
        }
        if self.rows >= ROWS || line - self.before > u64::from(u32::MAX) {
            self.end_chunk(line - 1);
            self.reader.keep.begin_chunk(self.reader.chunks.len() as u64, 0..0);
        }
        let queries = &mut self.reader.rows.queries;
        let last = self.last.filter(|&last| queries.matches(last, query));
        let query = last.unwrap_or_else(|| queries.insert(query).0);
        self.last = Some(query);
        let position = self.position(line);
        let ranks = RankColumn::None;
        let Self { reader: Reader { keep, count, .. }, rows, .. } = self;
        if !keep.has_room() {
            keep.make_room(Docnos::Chunks { first: 0, chunks: &[], text: false, ranks });
        }
        let hash = keep.groups(IdInText::from(group), None);
        let (key, at) = (self.shape.grade(grade).to_bits(), address(position.chunk, 0));
        let record = Record { key, hash, at, length: doc.len() as u32, query };
        keep.keep(record, position.line, || (doc, None));
        *count += 1;
        *rows += 1;
    }

    /// Adds the problem of line `line` of judgments by facet, a line behind all lines so far.
    fn problem(&mut self, line: u64, message: String) {
        let position = self.position(line);
        let Reader { keep, findings, count, .. } = &mut self.reader;
        *count += 1;
        let place = keep.address(position.chunk, 0);
        findings.add(place, || Diagnostic { position, message, earlier: None });
    }
}
