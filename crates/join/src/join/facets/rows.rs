//! Judgments by facet from a source of rows: they become records, and the records of a query its
//! judgments.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{
    assembly::{assemble, common_names},
    query_builder::FacetBuilder,
    shape::{FacetContext, FacetShape},
};
use crate::bytes::{hash::Seed, interner::Interner, limits::MAX_LINE_BYTES};
use crate::error::{Problems, Result};
use crate::ids::Ids;
use crate::join::qrels::{Qrels, number_queries};
use crate::lines::{
    diagnostics::{pluralize, quoted},
    dialect::Rules,
    layout::RankColumn,
    scan::split,
    shape::{Role, TOO_LONG, not_finite},
};
use crate::progress::check_stopped;
use crate::record::{
    any_order::{AnyOrder, BufferedInput, each_query},
    reader::{InOrder, RowReader, RowSource, WorkerResults},
};

/// The row reader of a worker that reads judgments by facet, whose lines have `N` fields in TREC
/// text: the shape of a line, and the queries met so far.
pub struct FacetReader<const N: usize> {
    pub shape: FacetShape,
    pub queries: Interner,
}

impl<const N: usize> RowReader for FacetReader<N> {
    const ROLE: Role = Role::Qrels;
    const GROUPS: usize = N - 3;

    fn rules(&self) -> Rules {
        Rules { grade: self.shape.parser(), lone_returns: false, ..self.shape.rules }
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
            _ if line.len() > MAX_LINE_BYTES => format!("{TOO_LONG}{expected}"),
            count if count == N => {
                let number = quoted(split(line).last().unwrap_or_default());
                format!("{what} {number} is not a number{expected}")
            }
            count => {
                let are = if count == 1 { "is" } else { "are" };
                format!("there {are} {}{expected}", pluralize(count, "field"))
            }
        }
    }

    fn is_valid(&self, number: f64) -> bool {
        self.shape.grade(number).is_finite()
    }

    fn invalid_number(&self, number: f64, ids: [&[u8]; 2]) -> String {
        format!("{} {number}{}", self.shape.number(), not_finite(number, ids))
    }
}

/// Reads judgments by facet from a source of rows; returns the usable judgments and the problems.
/// `passing` says that the source can be read only once.
pub fn read_from(
    rows: &impl RowSource,
    passing: bool,
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    if context.shape.has_subgroups() {
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
    let FacetContext { shape, seed, .. } = context;
    let line = &|line| rows.line(line);
    let reader = || FacetReader::<N> { shape, queries: Interner::new(seed) };
    if !passing {
        let back = AtomicBool::new(false);
        let (read, grouped) = rows.read(&back, seed, || {
            let builder = FacetBuilder::new(shape, seed, None);
            (reader(), InOrder::new(builder, &back, !shape.counts_repeats()))
        })?;
        if !back.load(Ordering::Relaxed)
            && let Some(assembled) = join_queries(read, grouped, line, context)
        {
            return assembled;
        }
    }
    let (read, scattered) =
        rows.read(&AtomicBool::new(false), seed, || (reader(), store(rows.whole(), shape, seed)))?;
    sort_out(read, scattered, rows.whole(), line, context)
}

/// Makes the store of a worker for judgments by facet in any order.
pub fn store(whole: BufferedInput<'_>, shape: FacetShape, seed: Seed) -> AnyOrder {
    AnyOrder::unsorted().with_input(whole, !shape.counts_repeats()).with_groups(seed)
}

/// Makes qrels by facet of queries that are together; `None` if two workers have met one query.
fn join_queries<const N: usize>(
    read: WorkerResults<FacetReader<N>>,
    grouped: Vec<InOrder<'_, FacetBuilder<'_>>>,
    line: &dyn Fn(u64) -> u64,
    context: FacetContext<'_>,
) -> Option<Result<(Qrels, Problems)>> {
    let own: Vec<&Ids> = grouped.iter().map(|keep| keep.make.group_names()).collect();
    let (names, numbers) = common_names(&own);
    let built = grouped.into_iter().map(|keep| keep.make.built).collect();
    assemble(read, built, names, &numbers, line, context)
}

/// Makes qrels by facet of records in any order.
pub fn sort_out<const N: usize>(
    read: WorkerResults<FacetReader<N>>,
    scattered: Vec<AnyOrder>,
    whole: BufferedInput<'_>,
    line: &dyn Fn(u64) -> u64,
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    let FacetContext { shape, seed, watch, .. } = context;
    let queries: Vec<&Ids> = read.rows.iter().map(|rows| rows.queries.ids()).collect();
    let (_, ids, numbers) = number_queries(&queries);
    let own: Vec<&Ids> = scattered.iter().filter_map(AnyOrder::group_names).collect();
    let (names, groups) = common_names(&own);
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
    let assembled = assemble(read, built, names, &[], line, context);
    // Invariant: each query is of one bucket, so no two builders have it.
    assembled.unwrap_or_else(|| unreachable!("a query is in two buckets"))
}
