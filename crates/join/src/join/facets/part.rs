//! A part of the queries, made one behind the other, and the assembly of all parts to judgments.
//!
//! Parts are made on all threads, in the order of queries. Tables of documents are made with them,
//! while the documents are at hand.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::made::MadeQuery;
use super::room::{AllJudgments, FacetRoom};
use super::shape::FacetShape;
use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::error::{Error, Problems, Result};
use crate::ids::Ids;
use crate::join::doc_table::MOST_DOCUMENTS;
use crate::join::qrels::{Qrels, Shelving};
use crate::join::rank::too_many;
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::Earliest;
use crate::matrix::{Facets, pieces};
use crate::watch::{Watch, not_stopped};

/// The fewest judgments that are worth a part of their own.
const JUDGMENTS: usize = 1 << 13;

/// The number of queries whose tables are made again at once.
const QUERIES: usize = 1 << 8;

/// The number of parts for each thread: enough to even out parts of unequal cost.
const PARTS: usize = 16;

/// Queries that were made.
pub struct MadePart {
    queries: Ids,
    /// The tables of documents by query, with the largest grade of each document.
    tables: Shelving<'static>,
    /// For each query the number of its documents, the room for its judgments, and the number of
    /// judgments to keep.
    counts: Vec<[usize; 3]>,
    /// The room for judgments before the first query.
    unused: usize,
    fingerprint: u128,
    pub problems: Earliest<String>,
}

impl Default for MadePart {
    fn default() -> Self {
        MadePart {
            queries: Ids::default(),
            tables: Shelving::numbered(false),
            counts: Vec::new(),
            unused: 0,
            fingerprint: 0,
            problems: Earliest::default(),
        }
    }
}

impl MadePart {
    /// Adds a query, which had room for a number of judgments.
    pub fn push(
        &mut self,
        id: &[u8],
        room: usize,
        made: MadeQuery<'_>,
        (shape, seed): (FacetShape, Seed),
    ) {
        let MadeQuery { docs, count, largest, fingerprint, problems } = made;
        if let Some(message) = too_many(id, docs.len(), MOST_DOCUMENTS) {
            self.problems.add(0, || message);
            return self.skip(room);
        }
        let grades = largest.iter().map(|&grade| table_grade(grade, shape));
        self.queries.push(id);
        self.tables.add_numbered(docs.iter().copied().zip(grades), seed);
        self.counts.push([docs.len(), room, count]);
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
        self.problems.merge(problems);
    }

    /// Leaves room for a query that has no judgment after all.
    pub fn skip(&mut self, room: usize) {
        *self.counts.last_mut().map_or(&mut self.unused, |[_, before, _]| before) += room;
    }
}

/// The grade in a table of a document with this largest grade or level: trec_eval 10 cuts off what
/// is behind the dot of a grade, and levels are grades there.
fn table_grade(largest: f64, shape: FacetShape) -> f64 {
    if shape.rules.whole_grades { largest.trunc() + 0.0 } else { largest }
}

/// Cuts queries, with room for this many judgments each, into parts for one thread at a time.
pub fn cut(rooms: &[usize]) -> Vec<Range<usize>> {
    let all: usize = rooms.iter().sum();
    let least = JUDGMENTS.max(all / (PARTS * rayon::current_num_threads()));
    let (mut cuts, mut start, mut judgments) = (Vec::new(), 0, 0);
    for (query, room) in rooms.iter().enumerate() {
        judgments += room;
        if judgments >= least || query + 1 == rooms.len() {
            cuts.push(start..query + 1);
            (start, judgments) = (query + 1, 0);
        }
    }
    cuts
}

/// Makes all queries on all threads, cut into parts by `cuts`. `begin` begins a part; `make` adds a
/// query to the part, and the judgments of the query to their room.
pub fn made_parts<P: Send>(
    (rooms, cuts): (&[usize], &[Range<usize>]),
    all: &mut AllJudgments,
    watch: Option<&Watch>,
    begin: impl Fn() -> P + Sync,
    make: impl Fn(&mut P, usize, FacetRoom<'_>) + Sync,
) -> Result<Vec<P>> {
    let made = cuts.par_iter().zip(all.split(rooms, cuts)).map(|(queries, mut room)| {
        let mut part = begin();
        for query in queries.clone() {
            not_stopped(watch)?;
            make(&mut part, query, room.split_off(rooms[query]));
        }
        Ok(part)
    });
    made.collect()
}

/// Assembles judgments of all parts, with `names` as the names of their groups; returns the usable
/// judgments and the problems.
pub fn together(
    all: AllJudgments,
    mut parts: Vec<MadePart>,
    names: Ids,
    mut problems: Earliest<String>,
    (name, shape, expected): (&str, FacetShape, &str),
    seed: Seed,
) -> Result<(Qrels, Problems)> {
    let FacetShape { by, dialect, rules, .. } = shape;
    let count: usize = parts.iter().flat_map(|part| &part.counts).map(|[.., count]| count).sum();
    if count == 0 && problems.is_empty() {
        problems.add(0, || format!("there is no judgment in it{expected}"));
    }
    let is_late = problems.is_empty() && rules.late_repeats && by == JudgedBy::Preference;
    parts.iter_mut().for_each(|part| problems.merge(std::mem::take(&mut part.problems)));
    let problems = problems.into_listed(name);
    if is_late && !problems.first.is_empty() {
        return Err(Error::Repeated(problems));
    }
    let mut rooms: Vec<(usize, usize)> = Vec::new();
    let mut unused = 0;
    for part in &parts {
        *rooms.last_mut().map_or(&mut unused, |(room, _)| room) += part.unused;
        rooms.extend(part.counts.iter().map(|&[_, room, count]| (room, count)));
    }
    let judgments = all.compacted(unused, &rooms);
    let documents = parts.iter().flat_map(|part| part.counts.iter().map(|&[docs, ..]| docs));
    let facets = Facets::new(by, names, judgments, documents);
    let fingerprint = parts.iter().fold(0u128, |sum, part| sum.wrapping_add(part.fingerprint));
    if count == 0 {
        return Ok((
            Qrels::none(name, dialect, seed).with_facets(Arc::new(facets), fingerprint),
            problems,
        ));
    }
    let queries = parts.iter().flat_map(|part| part.queries.iter()).collect();
    let shelves = parts.into_iter().map(|part| part.tables).collect();
    let mut qrels = Qrels::of_shelves(queries, shelves, (name, dialect), seed);
    if !qrels.book().is_exact() {
        qrels = with_exact_grades(&qrels, &facets, shape);
    }
    Ok((qrels.with_facets(Arc::new(facets), fingerprint), problems))
}

/// Returns a copy of `qrels` whose tables keep exact grades. Distinct grades outnumber codes, so a
/// code cannot stand for a single grade.
fn with_exact_grades(qrels: &Qrels, facets: &Facets, shape: FacetShape) -> Qrels {
    let shelf = |queries: Range<usize>| {
        let mut tables = Shelving::numbered(true);
        for query in queries {
            let largest = facets.largest(query);
            let mut docs = vec![IdInText::from(&b""[..]); largest.len()];
            let (shelf, table) = qrels.judged(query as u32);
            shelf.keys(table).for_each(|(doc, number)| docs[number as usize] = doc.into());
            let grades = largest.iter().map(|&grade| table_grade(grade, shape));
            tables.add_numbered(docs.into_iter().zip(grades), qrels.seed());
        }
        tables
    };
    let shelves = pieces(qrels.queries().len(), QUERIES).into_par_iter().map(shelf).collect();
    Qrels::of_shelves(qrels.queries().clone(), shelves, (qrels.name(), shape.dialect), qrels.seed())
}
