//! Some queries that were made, one behind the other, and the judgments that all parts are together.
//!
//! Parts are made on all threads, in the order of queries. There is one allocation for the judgments of all queries, in which each query has
//! room for its rows, so that they lie where the matrix wants them. Its memory comes as zeros, which the system makes where a page is
//! written first: by the thread that makes the query, and not by one thread before all others. Repeated rows and lines without a judgment
//! leave gaps, which are closed in the end.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::made::MadeQuery;
use super::shape::FacetShape;
use crate::error::{Error, Problems, Result};
use crate::ingest::bytes::hash::Seed;
use crate::ingest::columns::{CheckedColumns, Collected, Judgments};
use crate::ingest::join::qrels::{self, KeptGrades, Qrels};
use crate::ingest::lines::diagnostics::Earliest;
use crate::ingest::record::columns::{ColumnSource, PieceSize};
use crate::ingest::units::rule::Units;
use crate::label::{FacetJudgment, Facets, Ids, JudgedBy, Ragged};
use crate::watch::{Watch, not_stopped};

/// The fewest judgments that are worth a part of their own.
const JUDGMENTS: usize = 1 << 13;

/// The number of parts for each thread: enough to even out what one takes longer than another.
const PARTS: usize = 16;

/// Queries that were made.
#[derive(Debug, Default)]
pub struct MadePart {
    /// The documents of the queries, with the largest grade of each.
    docs: Collected,
    /// For each query the number of its documents, the room for its judgments, and the number of those that count.
    counts: Vec<[usize; 3]>,
    /// The room for judgments before the first query.
    unused: usize,
    fingerprint: u128,
    pub problems: Earliest<String>,
}

impl MadePart {
    /// Adds a query, which had room for a number of judgments.
    pub fn push(&mut self, id: &[u8], room: usize, made: MadeQuery<'_>) {
        let MadeQuery { docs, count, largest, fingerprint, problems } = made;
        docs.iter().zip(&largest).for_each(|(doc, grade)| self.docs.push(id, doc, *grade));
        self.counts.push([docs.len(), room, count]);
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
        self.problems.merge(problems);
    }

    /// Leaves room for a query that has no judgment after all.
    pub fn skip(&mut self, room: usize) {
        *self.counts.last_mut().map_or(&mut self.unused, |[_, before, _]| before) += room;
    }
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

/// Splits the room for all judgments into that of each part.
pub fn split<'j>(
    rooms: &[usize],
    cuts: &[Range<usize>],
    mut all: &'j mut [FacetJudgment],
) -> Vec<&'j mut [FacetJudgment]> {
    let part = |cut: &Range<usize>| all.split_off_mut(..rooms[cut.clone()].iter().sum()).unwrap_or_default();
    cuts.iter().map(part).collect()
}

/// Makes all queries on all threads, by these cuts of them: `make` puts one into a part that `begin` has begun, and its judgments into their room.
pub fn made_parts<P: Send>(
    (rooms, cuts): (&[usize], &[Range<usize>]),
    all: &mut [FacetJudgment],
    watch: Option<&Watch>,
    begin: impl Fn() -> P + Sync,
    make: impl Fn(&mut P, usize, &mut [FacetJudgment]) + Sync,
) -> Result<Vec<P>> {
    let made = cuts.par_iter().zip(split(rooms, cuts, all)).map(|(queries, mut place)| {
        let mut part = begin();
        for query in queries.clone() {
            not_stopped(watch)?;
            make(&mut part, query, place.split_off_mut(..rooms[query]).unwrap_or_default());
        }
        Ok(part)
    });
    made.collect()
}

/// Makes judgments of all parts, whose queries have these names of groups; returns what can be used of them, and the problems.
pub fn together(
    mut all: Vec<FacetJudgment>,
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
    all.drain(..unused);
    let judgments = Ragged::compacted(all, rooms);
    let mut largest = Ragged::default();
    for part in &parts {
        let mut grades = part.docs.numbers();
        for &[docs, ..] in &part.counts {
            largest.push(grades.split_off(..docs).unwrap_or_default());
        }
    }
    let fingerprint = parts.iter().fold(0u128, |sum, part| sum.wrapping_add(part.fingerprint));
    let docs: Vec<Collected> = parts.into_iter().map(|part| part.docs).collect();
    let qrels =
        if count == 0 { Qrels::none(name, dialect, seed) } else { largest_grades(&docs, name, shape, seed)? };
    let grouped = Facets { by, names, judgments, largest };
    Ok((qrels.with_facets(Arc::new(grouped), fingerprint), problems))
}

/// Judgments of each document's largest grade.
fn largest_grades(parts: &[Collected], name: &str, shape: FacetShape, seed: Seed) -> Result<Qrels> {
    let dictionaries: Vec<_> = parts.iter().map(Collected::queries).collect();
    let batches: Vec<Judgments<'_>> =
        parts.iter().zip(&dictionaries).map(|(rows, dictionary)| rows.judgments(dictionary)).collect();
    let columns = CheckedColumns::of_judgments(name, &batches, seed)?;
    let source = ColumnSource::all(&columns, PieceSize::default(), None);
    Ok(qrels::read_kept(&source, (shape.dialect, &Units::AsIs), seed, KeptGrades::Numbers)?.0)
}
