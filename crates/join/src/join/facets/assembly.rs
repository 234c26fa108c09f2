//! The assembly of judgments by facet: the queries that all workers have built become one
//! [`Qrels`].
//!
//! A worker does not know how many judgments the others read, so its judgments lie in blocks until
//! all are read. They then go to a single allocation, where the matrix wants them. The system
//! zeroes each page of it at its first write, and each block is freed once it is copied, so that
//! judgments are hardly there twice.

use std::sync::Arc;

use rayon::prelude::*;

use super::query_builder::BuiltQueries;
use super::query_judgments::JudgmentBlock;
use super::shape::{FacetContext, FacetShape, FacetSource};
use crate::bytes::id::IdInText;
use crate::error::{Error, Problems, Result};
use crate::ids::Ids;
use crate::join::doc_table::JudgedDocs;
use crate::join::qrels::{
    Qrels, QrelsBuilder, QrelsText, QueryLocation, finish, number_queries, sorted,
};
use crate::judged_by::FacetKind;
use crate::lines::diagnostics::{Diagnostic, whole_file};
use crate::matrix::{FacetJudgment, Facets, Ragged, pieces};
use crate::record::any_order::AnyOrder;
use crate::record::reader::{WorkerResults, gather};

/// The number of queries whose tables are made from others at once.
pub const QUERIES: usize = 1 << 8;

/// What is known of judgments by facet when all rows are read, beside the queries.
pub struct Assembly<'a, R> {
    pub read: WorkerResults<R>,
    /// The number of rows that were dropped.
    pub dropped: u64,
    /// The names of the groups, in bytewise order.
    pub names: Ids,
    /// The numbers of each worker's names among all names; none if workers have the same numbers.
    pub numbers: Vec<Vec<u32>>,
    /// A function from the lines that were read to the lines of the text.
    pub line: &'a dyn Fn(u64) -> u64,
    pub context: FacetContext<'a>,
}

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

impl FacetRoom<'_> {
    /// Copies judgments by facet to where they stay, with the final numbers of their groups:
    /// number n becomes `numbers[n]`.
    fn copy(&mut self, block: &JudgmentBlock, start: usize, numbers: Option<&Vec<u32>>) {
        let number = |own: u32| numbers.map_or(own, |numbers| numbers[own as usize]);
        for (into, from) in self.judgments.iter_mut().zip(&block.judgments[start..]) {
            *into = FacetJudgment { group: number(from.group), ..*from };
        }
        for (into, from) in self.subgroups.iter_mut().zip(block.subgroups.iter().skip(start)) {
            *into = number(*from);
        }
    }
}

/// Moves a worker's judgments by facet to where they stay, query by query.
fn move_judgments(
    blocks: Vec<JudgmentBlock>,
    rooms: Vec<FacetRoom<'_>>,
    numbers: Option<&Vec<u32>>,
) {
    let (mut blocks, mut block, mut start) = (blocks.into_iter(), JudgmentBlock::default(), 0);
    for mut room in rooms {
        let count = room.judgments.len();
        if start == block.judgments.len() && count > 0 {
            // The block before is freed. Invariant: a block has all judgments of each of its
            // queries.
            (block, start) = (blocks.next().unwrap_or_default(), 0);
        }
        room.copy(&block, start, numbers);
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
    let mut rooms: Vec<Vec<FacetRoom<'_>>> = rooms
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

impl<R> Assembly<'_, R> {
    /// Joins the queries of all workers to one qrels by facet; returns the usable judgments and the
    /// problems, or `None` if two workers have met one query.
    pub fn assemble(self, built: Vec<BuiltQueries>) -> Option<Result<(Qrels, Problems)>> {
        let Self { mut read, dropped, names, numbers, line, context } = self;
        let FacetContext { source: FacetSource { name, shape, expected }, seed, .. } = context;
        let line: &dyn Fn(u64) -> u64 = &|number| if number == 0 { 0 } else { line(number) };
        let queries: Vec<&Ids> = built.iter().map(|built| &built.queries).collect();
        let order = sorted(&queries);
        let (ids, _) = number_queries(&order, &queries);
        if ids.len() < order.len() {
            return None;
        }
        let counts = order
            .iter()
            .map(|place| built[place.worker as usize].counts[place.number as usize])
            .collect::<Vec<_>>();
        let count: usize = counts.iter().map(|[_, count]| count).sum();
        let (mut tables, mut blocks, mut fingerprint) = (Vec::new(), Vec::new(), 0u128);
        let rooms = built.iter().map(|built| built.counts.len()).collect();
        let (lines, wrong) = (read.lines(), !read.findings.is_empty());
        let mut contradicting = false;
        for built in built {
            tables.push(built.tables);
            blocks.push(built.blocks);
            fingerprint = fingerprint.wrapping_add(built.fingerprint);
            let (found, more) = built.problems.into_places();
            contradicting |= !found.is_empty();
            for (place, message) in found {
                read.findings.add(place, || Diagnostic {
                    position: message.position(),
                    message: message.with_lines(|position| line(position.in_all(&lines))),
                    earlier: None,
                });
            }
            read.findings.count_omitted(more);
        }
        read.findings.count_omitted(dropped);
        let (judgments, subgroups) =
            judgments_in_order(blocks, rooms, (&order, &counts), &numbers, shape);
        let ends = counts.iter().scan(0, |end, [_, count]| {
            *end += *count as u64;
            Some(*end)
        });
        // Invariant: the ends are those of the judgments.
        let judgments = Ragged::from_columns(ends.collect(), judgments, counts.len());
        let documents = counts.iter().map(|[documents, _]| *documents);
        let facets =
            Facets::new(shape.by, names, judgments.unwrap_or_default(), subgroups, documents);
        let text = QrelsText { name, line };
        let (qrels, mut problems) = finish(read, ids, tables, Some(order), text, seed);
        // Wrong lines are reported as wrong lines, even beside contradicting preferences.
        let late = shape.rules.late_repeats && shape.by == FacetKind::Preference;
        if late && !wrong && contradicting {
            return Some(Err(Error::Duplicate(problems)));
        }
        if count == 0 && problems.first.is_empty() {
            problems = whole_file(name, format!("there is no judgment in it{expected}"));
        }
        let mut qrels = qrels.of_dialect(shape.dialect);
        if !qrels.codebook().is_exact() {
            qrels = with_exact_grades(&qrels, &facets, shape);
        }
        Some(Ok((qrels.with_facets(Arc::new(facets), fingerprint), problems)))
    }
}

/// Makes qrels of judgments by facet whose groups have these names. Each query was built once.
pub fn of_built(
    built: Vec<BuiltQueries>,
    names: &[&[u8]],
    context: FacetContext<'_>,
) -> Result<(Qrels, Problems)> {
    let (read, _) = gather::<(), AnyOrder>(Vec::new());
    let names = names.iter().copied().collect();
    let line = &|line| line;
    let assembly = Assembly { read, dropped: 0, names, numbers: Vec::new(), line, context };
    assembly.assemble(built).unwrap_or_else(|| unreachable!("a query was built twice"))
}

/// Returns a copy of qrels by facet whose hash tables keep exact grades, for more grades than
/// codes. Distinct grades outnumber codes, so a code cannot stand for a single grade.
fn with_exact_grades(qrels: &Qrels, facets: &Facets, shape: FacetShape) -> Qrels {
    let shelves = pieces(qrels.queries().len(), QUERIES).into_par_iter().map(|queries| {
        let mut tables = QrelsBuilder::numbered(true);
        for query in queries {
            let largest = facets.largest(query);
            let mut docs = vec![IdInText::from(&b""[..]); largest.len()];
            let JudgedDocs { shelf, table } = qrels.judged(query as u32);
            // The table has its documents in any order, and their numbers as keys.
            shelf.keys(table).for_each(|(doc, number)| docs[number as usize] = doc.into());
            let grades = largest.iter().map(|&grade| shape.table_grade(grade));
            tables.add_numbered(docs.into_iter().zip(grades), qrels.seed());
        }
        tables
    });
    let (ids, shelves) = (qrels.queries().clone(), shelves.collect());
    Qrels::from_arenas(ids, shelves, qrels.name(), shape.dialect, qrels.seed())
}
