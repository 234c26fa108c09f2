//! Judgments read query by query, from a text or from columns that can be read in any order.
//!
//! ```text
//! survey   q1: bytes 0 to 900; q2: …                room for the judgments of each query, in order
//!                                                   of queries
//! part     q1: lines → rows → judgments, in place   the rows are then forgotten: their memory
//!                                                   holds those of the next query
//!          q2 …                                     groups as numbers of names in the order in
//!                                                   which the part met them
//! all      names of all parts in bytewise order; where a part's numbers are others, they are
//!          replaced
//! ```
//!
//! What it is for: a new page of memory costs more than the reading of a line that fills it, and
//! rows of all queries, kept until the last line is read, are as many bytes as the judgments made
//! of them. Judgments of a text whose queries are scattered are read otherwise.

use rayon::prelude::*;

use super::made::{FacetNames, MadeQuery};
use super::part::{MadePart, cut, made_parts, together};
use super::piece::{JudgmentPiece, JudgmentRow, names_of};
use super::room::{AllJudgments, FacetRoom};
use super::shape::FacetShape;
use super::survey::{QueryPlace, Survey};
use crate::bytes::hash::Seed;
use crate::error::{Problems, Result};
use crate::ids::Ids;
use crate::join::qrels::Qrels;
use crate::lines::diagnostics::Earliest;
use crate::watch::Watch;

/// A part of the queries, made by one thread.
struct ReadPart<W> {
    reader: W,
    part: MadePart,
    rows: JudgmentPiece,
    groups: GroupsOfQuery,
    problems: Earliest<String>,
}

/// The groups of one query, and their places among its own in bytewise order.
#[derive(Debug, Default)]
struct GroupsOfQuery {
    /// The numbers of the names, by place.
    numbers: Vec<u32>,
    /// The place of each name; [`ABSENT`] if the query has none.
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl GroupsOfQuery {
    fn find(&mut self, rows: &[JudgmentRow], names: &Ids, kinds: usize) {
        let GroupsOfQuery { numbers, places } = self;
        numbers.drain(..).for_each(|number| places[number as usize] = ABSENT);
        places.resize(names.len(), ABSENT);
        for number in rows.iter().flat_map(|row| &row.groups[..kinds]) {
            let place = &mut places[*number as usize];
            if *place == ABSENT {
                *place = 0;
                numbers.push(*number);
            }
        }
        numbers.sort_unstable_by_key(|&number| names.get(number as usize));
        (0..).zip(&*numbers).for_each(|(place, &number)| places[number as usize] = place);
    }
}

impl<W> ReadPart<W> {
    /// Makes a query of the rows that were read.
    fn make(&mut self, query: &[u8], shape: FacetShape, seed: Seed, mut room: FacetRoom<'_>) {
        let ReadPart { part, rows, groups, problems, .. } = self;
        rows.end();
        problems.merge_after(rows.before, std::mem::take(&mut rows.problems));
        let all = room.judgments.len();
        if rows.rows.is_empty() {
            part.skip(all);
        } else {
            let kinds = shape.fields - 3;
            groups.find(&rows.rows, rows.names(), kinds);
            let names: Vec<&[u8]> =
                groups.numbers.iter().map(|&number| rows.names().get(number as usize)).collect();
            let naming = FacetNames { shape, names: &names, seed };
            let mut room = room.split_off(rows.rows.len());
            let made = MadeQuery::of(query, &[(rows.part(0), &groups.places)], naming, &mut room);
            renumber(&mut room, &groups.numbers);
            part.push(query, all, made, (shape, seed));
        }
        rows.start_over();
    }
}

/// Reads judgments query by query. `read` adds the judgments of a place to a piece; lines count
/// from the first line of the query on. Returns the usable judgments and the problems.
pub fn read_by_query<W: Send>(
    survey: Survey,
    described: (&str, FacetShape, &str),
    seed: Seed,
    watch: Option<&Watch>,
    reader: impl Fn() -> W + Sync,
    read: impl Fn(&mut W, &QueryPlace, (&mut JudgmentPiece, u64)) + Sync,
) -> Result<(Qrels, Problems)> {
    let shape = described.1;
    let (queries, places) = survey.sorted();
    let rooms: Vec<usize> =
        places.iter().map(|places| places.iter().map(|place| place.room).sum()).collect();
    let mut all = AllJudgments::new(rooms.iter().sum(), shape);
    let begin = || ReadPart {
        reader: reader(),
        part: MadePart::default(),
        rows: JudgmentPiece::new(seed, 0, shape.thins()),
        groups: GroupsOfQuery::default(),
        problems: Earliest::default(),
    };
    let make = |of: &mut ReadPart<W>, query: usize, room: FacetRoom<'_>| {
        of.rows.before = places[query][0].before;
        of.rows.begin(queries.get(query));
        for place in &places[query] {
            let before = place.before - of.rows.before;
            read(&mut of.reader, place, (&mut of.rows, before));
        }
        of.make(queries.get(query), shape, seed, room);
    };
    let cuts = cut(&rooms);
    let read = made_parts((&rooms, &cuts), &mut all, watch, begin, make)?;
    let names = names_of(read.iter().map(|of| &of.rows));
    let numbers: Vec<Vec<u32>> = read.iter().map(|of| of.rows.numbers_among(&names)).collect();
    let numbered = all.split(&rooms, &cuts).into_par_iter().zip(numbers);
    numbered.for_each(|(mut room, numbers)| {
        if (0..).zip(&numbers).any(|(own, &number)| own != number) {
            // What lies in gaps is 0, and a number of some name.
            renumber(&mut room, &numbers);
        }
    });
    let names: Ids = names.into_iter().collect();
    let mut problems = Earliest::default();
    let mut parts = Vec::with_capacity(read.len());
    for of in read {
        problems.merge(of.problems);
        problems.leave_out(of.rows.dropped);
        parts.push(of.part);
    }
    together(all, parts, names, problems, described, seed)
}

/// Replaces the numbers of groups and sub-groups by `numbers`.
fn renumber(room: &mut FacetRoom<'_>, numbers: &[u32]) {
    room.judgments
        .iter_mut()
        .for_each(|judgment| judgment.group = numbers[judgment.group as usize]);
    room.subgroups.iter_mut().for_each(|subgroup| *subgroup = numbers[*subgroup as usize]);
}
