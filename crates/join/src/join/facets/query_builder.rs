//! The builder of the judgments by facet of each query, from records.

use super::query_judgments::{
    ALL, FacetNames, FacetedRows, JudgmentBlock, LineMessage, QuerySummary, ordered,
};
use super::shape::FacetShape;
use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::bytes::interner::Interner;
use crate::ids::Ids;
use crate::join::doc_table::MAX_DOCUMENTS;
use crate::join::qrels::QrelsBuilder;
use crate::join::rank::too_many;
use crate::lines::diagnostics::FirstProblems;
use crate::record::groups::{GroupNames, number_after};
use crate::record::layout::{Docnos, Record};
use crate::record::reader::BuildRanking;

/// The judgments by facet of the queries that one worker reads, with their tables of documents.
pub struct FacetBuilder<'n> {
    shape: FacetShape,
    seed: Seed,
    /// The names of groups, as the worker meets them.
    names: GroupNames,
    /// The names of all groups in bytewise order, if records have numbers of these.
    all: Option<&'n [&'n [u8]]>,
    groups: GroupsOfQuery,
    /// The documents of the query at hand, and the document of each of its records.
    numbering: Interner,
    docs: Vec<u32>,
    pub built: BuiltQueries,
}

/// The queries that one worker has built: judgments by facet, and tables of documents.
pub struct BuiltQueries {
    pub queries: Ids,
    /// The number of documents and of judgments of each query.
    pub counts: Vec<[usize; 2]>,
    pub blocks: Vec<JudgmentBlock>,
    /// The tables of documents by query, with the largest grade of each document.
    pub tables: QrelsBuilder<'static>,
    pub fingerprint: u128,
    pub problems: FirstProblems<LineMessage>,
}

/// The judgments of the smallest and of the largest block that holds several queries.
const BLOCK: [usize; 2] = [1 << 10, 1 << 16];

/// The facets (judges, subtopics or preference groups) that occur in one query, in bytewise order
/// of name.
#[derive(Default)]
struct GroupsOfQuery {
    /// The numbers of the names, by place.
    numbers: Vec<u32>,
    /// The place of each name; [`ABSENT`] if the query has none.
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl GroupsOfQuery {
    /// Collects the facets (judges, subtopics or preference groups) of one query's records, and
    /// sorts them by name.
    fn find(&mut self, records: &[Record], names: &Ids, kinds: usize) {
        let Self { numbers, places } = self;
        // Only the places of the query before are cleared: a worker may know many more names.
        numbers.drain(..).for_each(|number| places[number as usize] = ABSENT);
        places.resize(names.len(), ABSENT);
        for record in records {
            for number in &record.groups()[..kinds] {
                let place = &mut places[*number as usize];
                if *place == ABSENT {
                    *place = 0;
                    numbers.push(*number);
                }
            }
        }
        numbers.sort_unstable_by_key(|&number| names.get(number as usize));
        (0..).zip(&*numbers).for_each(|(place, &number)| places[number as usize] = place);
    }
}

impl<'n> FacetBuilder<'n> {
    /// Makes a builder of judgments by facet, without any query yet. Records have numbers of the
    /// names `all`, or of those that the builder meets.
    pub fn new(shape: FacetShape, seed: Seed, all: Option<&'n [&'n [u8]]>) -> Self {
        let built = BuiltQueries {
            queries: Ids::default(),
            counts: Vec::new(),
            blocks: Vec::new(),
            tables: QrelsBuilder::numbered(false),
            fingerprint: 0,
            problems: FirstProblems::default(),
        };
        Self {
            shape,
            seed,
            names: GroupNames::new(seed),
            all,
            groups: GroupsOfQuery::default(),
            numbering: Interner::new(seed),
            docs: Vec::new(),
            built,
        }
    }

    /// Returns the names of groups that the builder has met.
    pub fn group_names(&self) -> &Ids {
        self.names.ids()
    }

    /// Numbers the documents of a query's records in the order of their first records.
    fn number_docs(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let Self { numbering, docs, .. } = self;
        numbering.clear();
        docs.clear();
        let mut last = 0;
        docs.extend(records.iter().map(|record| {
            last = number_after(last, docnos.in_text(record), numbering);
            last
        }));
    }

    /// Adds the judgments by facet of a query, whose records are in input order.
    pub fn add(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        self.number_docs(records, docnos);
        let Self { shape, seed, names, all, groups, numbering, docs, built } = self;
        built.queries.push(query);
        if let Some(message) = too_many(query, numbering.ids().len(), MAX_DOCUMENTS) {
            // Its first record is of no other query, whichever worker has read it.
            built.problems.add(records[0].at, || LineMessage::new(ALL, message));
            built.counts.push([0; 2]);
            return built.tables.add_numbered([].into_iter(), *seed);
        }
        let of_query: Vec<&[u8]>;
        let (names, places) = match *all {
            Some(all) => (all, None),
            None => {
                groups.find(records, names.ids(), shape.groups());
                let number = |&number: &u32| names.ids().get(number as usize);
                of_query = groups.numbers.iter().map(number).collect();
                (&of_query[..], Some(&groups.places[..]))
            }
        };
        let ids = ordered(numbering.ids(), docs);
        let rows = FacetedRows { records, docnos, docs, places, shape: *shape };
        let block = room(&mut built.blocks, records.len(), *shape);
        let start = block.judgments.len();
        let summary =
            QuerySummary::new(query, ids, rows, FacetNames { shape: *shape, names }, block);
        if places.is_some() {
            let number = |place: u32| groups.numbers[place as usize];
            block.judgments[start..]
                .iter_mut()
                .for_each(|judgment| judgment.group = number(judgment.group));
            block
                .subgroups
                .iter_mut()
                .skip(start)
                .for_each(|subgroup| *subgroup = number(*subgroup));
        }
        let QuerySummary { docs, largest, fingerprint, problems } = summary;
        built.counts.push([docs.len(), block.judgments.len() - start]);
        let grades = largest.into_iter().map(|grade| shape.table_grade(grade));
        built.tables.add_numbered(docs.into_iter().zip(grades), *seed);
        built.fingerprint = built.fingerprint.wrapping_add(fingerprint);
        built.problems.merge(problems);
    }
}

/// Returns the last block of judgments by facet, with room for `count` more of one query.
fn room(blocks: &mut Vec<JudgmentBlock>, count: usize, shape: FacetShape) -> &mut JudgmentBlock {
    let last = blocks
        .last()
        .map_or([0; 2], |JudgmentBlock { judgments, .. }| [judgments.capacity(), judgments.len()]);
    if last[0] - last[1] < count || blocks.is_empty() {
        let size = (2 * last[0]).clamp(BLOCK[0], BLOCK[1]).max(count);
        let subgroups = Vec::with_capacity(if shape.has_subgroups() { size } else { 0 });
        blocks.push(JudgmentBlock { judgments: Vec::with_capacity(size), subgroups });
    }
    let last = blocks.len() - 1;
    &mut blocks[last]
}

impl BuildRanking for FacetBuilder<'_> {
    /// Adds the judgments by facet of a query. Queries are numbered in the order in which they
    /// come.
    fn take(&mut self, id: &[u8], records: &[Record], docnos: Docnos<'_>, _: u64) -> bool {
        let first = records[0].query as usize == self.built.counts.len();
        if first {
            self.add(id, records, docnos);
        }
        first
    }

    #[inline(always)]
    fn groups(&mut self, group: IdInText<'_>, subgroup: Option<IdInText<'_>>) -> u64 {
        self.names.number(group, subgroup)
    }
}
