//! The assembly of judgments by facet: the queries that all workers have built become one
//! [`Qrels`].
//!
//! A worker does not know how many judgments the others read, so its judgments lie in blocks until
//! all are read. They then go to a single allocation, where the matrix wants them. The system
//! zeroes each page of it at its first write, and each block is freed once it is copied, so that
//! judgments are hardly there twice.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    query_builder::BuiltQueries,
    query_judgments::{JudgmentBlock, LineMessage},
    shape::{FacetContext, FacetShape},
};
use crate::bytes::id::IdInText;
use crate::error::{Error, Problems, Result};
use crate::ids::Ids;
use crate::join::qrels::{Qrels, QrelsBuilder, QueryLocation, finish, number_queries};
use crate::lines::{
    diagnostics::{Diagnostic, Diagnostics, FirstProblems, Position, whole_file},
    dialect::Dialect,
};
use crate::matrix::{FacetJudgment, Facets, Ragged, pieces};
use crate::record::{
    any_order::AnyOrder,
    reader::{WorkerResults, gather},
};

/// The number of queries whose tables are made from others at once.
pub const QUERIES: usize = 1 << 8;

/// Returns the names of all workers in bytewise order, and each worker's numbers among them.
pub fn common_names(own: &[&Ids]) -> (Ids, Vec<Vec<u32>>) {
    let mut all: Vec<&[u8]> = own.iter().flat_map(|names| names.iter()).collect();
    all.par_sort_unstable();
    all.dedup();
    // Invariant: `all` contains every name.
    let number = |name: &[u8]| all.binary_search(&name).unwrap_or_default() as u32;
    let numbers = own.par_iter().map(|names| names.iter().map(number).collect()).collect();
    (all.into_iter().collect(), numbers)
}

/// The places in memory where the judgments by facet of a query stay, and their sub-groups.
#[derive(Default)]
struct FacetRoom<'j> {
    judgments: &'j mut [FacetJudgment],
    subgroups: &'j mut [u32],
}

/// Moves a worker's judgments by facet to where they stay, query by query, with the final numbers
/// of their groups: number n becomes `numbers[n]`.
fn move_judgments(
    blocks: Vec<JudgmentBlock>,
    rooms: Vec<FacetRoom<'_>>,
    numbers: Option<&Vec<u32>>,
) {
    let number = |own: u32| numbers.map_or(own, |numbers| numbers[own as usize]);
    let (mut blocks, mut block, mut start) = (blocks.into_iter(), JudgmentBlock::default(), 0);
    for FacetRoom { judgments, subgroups } in rooms {
        let count = judgments.len();
        if start == block.judgments.len() && count > 0 {
            // The block before is freed. Invariant: a block has all judgments of each of its
            // queries.
            (block, start) = (blocks.next().unwrap_or_default(), 0);
        }
        for (into, from) in judgments.iter_mut().zip(&block.judgments[start..]) {
            *into = FacetJudgment { group: number(from.group), ..*from };
        }
        for (into, from) in subgroups.iter_mut().zip(block.subgroups.iter().skip(start)) {
            *into = number(*from);
        }
        start += count;
    }
}

/// Moves the judgments of all workers to where they stay, by query: those of `counts`, in the order
/// of the queries. `rooms` are the numbers of queries of each worker.
fn judgments_in_order(
    blocks: Vec<Vec<JudgmentBlock>>,
    rooms: Vec<usize>,
    (order, counts): (&[QueryLocation], &[[usize; 2]]),
    numbers: &[Vec<u32>],
    shape: FacetShape,
) -> (Vec<FacetJudgment>, Vec<u32>) {
    let count: usize = counts.iter().map(|[_, count]| count).sum();
    // Sub-groups that are not there take no memory.
    let subgroups = if shape.has_subgroups() { count } else { 0 };
    let (mut judgments, mut subgroups) =
        (bytemuck::zeroed_vec(count), bytemuck::zeroed_vec(subgroups));
    let mut rooms: Vec<Vec<_>> = rooms
        .into_iter()
        .map(|queries| (0..queries).map(|_| FacetRoom::default()).collect())
        .collect();
    let (mut free, mut free_subgroups) = (&mut judgments[..], &mut subgroups[..]);
    for (place, [_, count]) in order.iter().zip(counts) {
        rooms[place.worker as usize][place.number as usize] = FacetRoom {
            judgments: free.split_off_mut(..*count).unwrap_or_default(),
            subgroups: free_subgroups.split_off_mut(..*count).unwrap_or_default(),
        };
    }
    blocks.into_par_iter().zip(rooms).enumerate().for_each(|(worker, (blocks, rooms))| {
        move_judgments(blocks, rooms, numbers.get(worker));
    });
    (judgments, subgroups)
}

/// Joins the queries of all workers to one qrels by facet; returns the usable judgments and the
/// problems, or `None` if two workers have met one query. `line` is a function from the lines that
/// were read to the lines of the text.
///
/// The names of groups are in bytewise order. With them come the numbers of each worker's names
/// among all names; none if workers have the same numbers.
pub fn assemble<R>(
    mut read: WorkerResults<R>,
    built: Vec<BuiltQueries>,
    names: Ids,
    numbers: &[Vec<u32>],
    line: &dyn Fn(u64) -> u64,
    FacetContext { name, shape, expected, seed, .. }: FacetContext<'_>,
) -> Option<Result<(Qrels, Problems)>> {
    let line: &dyn Fn(u64) -> u64 = &|number| if number == 0 { 0 } else { line(number) };
    let queries: Vec<&Ids> = built.iter().map(|built| &built.queries).collect();
    let (order, ids, _) = number_queries(&queries);
    if ids.len() < order.len() {
        return None;
    }
    let counts = order
        .iter()
        .map(|place| built[place.worker as usize].counts[place.number as usize])
        .collect::<Vec<_>>();
    let (mut tables, mut blocks, mut fingerprint) = (Vec::new(), Vec::new(), 0u128);
    let rooms = built.iter().map(|built| built.counts.len()).collect();
    if shape.dialect != Dialect::Laneval {
        read.findings.count_identical();
    }
    let (lines, wrong) = (read.lines(), !read.findings.is_empty());
    let mut contradicting = false;
    for built in built {
        tables.push(built.tables);
        blocks.push(built.blocks);
        fingerprint = fingerprint.wrapping_add(built.fingerprint);
        contradicting |= !built.problems.is_empty();
        let line = |position: Position| line(position.in_all(&lines));
        add_problems(built.problems, &mut read.findings, line);
    }
    let (judgments, subgroups) =
        judgments_in_order(blocks, rooms, (&order, &counts), numbers, shape);
    let is_empty = judgments.is_empty();
    let ends = counts.iter().scan(0, |end, [_, count]| {
        *end += *count as u64;
        Some(*end)
    });
    // Invariant: the ends are those of the judgments.
    let judgments = Ragged::from_columns(ends.collect(), judgments, counts.len());
    let documents = counts.iter().map(|[documents, _]| *documents);
    let facets = Facets::new(shape.by, names, judgments.unwrap_or_default(), subgroups, documents);
    let (qrels, mut problems) = finish(read, ids, tables, Some(order), name, line, seed);
    // Wrong lines are reported as wrong lines, even beside contradicting preferences.
    if shape.counts_repeats() && !wrong && contradicting {
        return Some(Err(Error::Duplicate(problems)));
    }
    if is_empty && problems.first.is_empty() {
        problems = whole_file(name, format!("there is no judgment in it{expected}"));
    }
    let mut qrels = qrels.with_dialect(Some(shape.dialect));
    if !qrels.codebook().is_exact() {
        let mut exact = with_exact_grades(&qrels, &facets, shape);
        exact.identical = qrels.identical;
        qrels = exact;
    }
    Some(Ok((qrels.with_facets(Arc::new(facets), fingerprint), problems)))
}

/// Adds the problems of a worker's queries to the others; `line` returns the line of a position.
fn add_problems(
    problems: FirstProblems<LineMessage>,
    findings: &mut Diagnostics,
    line: impl Fn(Position) -> u64,
) {
    findings.identical += problems.identical;
    let (found, more) = problems.into_places();
    for (place, message) in found {
        findings.add(place, || Diagnostic {
            position: message.position,
            message: message.with_lines(&line),
            earlier: None,
        });
    }
    findings.count_omitted(more);
}

/// Makes qrels of judgments by facet whose groups have these names. Each query was built once.
pub fn of_built(
    built: Vec<BuiltQueries>,
    names: &[&[u8]],
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    let (read, _) = gather::<(), AnyOrder>(Vec::new());
    let names = names.iter().copied().collect();
    let assembled = assemble(read, built, names, &[], &|line| line, context);
    assembled.unwrap_or_else(|| unreachable!("a query was built twice"))
}

/// Returns a copy of qrels by facet whose hash tables keep exact grades, for more grades than
/// codes. Distinct grades outnumber codes, so a code cannot stand for a single grade.
fn with_exact_grades(qrels: &Qrels, facets: &Facets, shape: FacetShape) -> Qrels {
    let shelves = pieces(qrels.queries().len(), QUERIES).into_par_iter().map(|queries| {
        let mut tables = QrelsBuilder::numbered(true);
        for query in queries {
            let largest = facets.largest(query);
            let mut docs = vec![IdInText::from(&b""[..]); largest.len()];
            // The table has its documents in any order, and their numbers as keys.
            let judged = qrels.judged(query as u32);
            judged.keys().for_each(|(doc, number)| docs[number as usize] = doc.into());
            let grades = largest.iter().map(|&grade| shape.table_grade(grade));
            tables.add_numbered(docs.into_iter().zip(grades), qrels.seed());
        }
        tables
    });
    let (ids, shelves) = (qrels.queries().clone(), shelves.collect());
    Qrels::from_arenas(ids, shelves, qrels.name(), shape.dialect, qrels.seed())
}
