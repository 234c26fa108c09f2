//! The builder of the judgments by facet of each query, from records.

use super::{
    query_judgments::{ALL, FacetedRows, JudgmentBlock, LineMessage, ordered},
    shape::FacetShape,
};
use crate::bytes::{hash::Seed, id::IdInText, interner::Interner};
use crate::facets::GroupNumbers;
use crate::ids::Ids;
use crate::join::{doc_table::MAX_DOCUMENTS, qrels::QrelsBuilder, rank::too_many};
use crate::lines::diagnostics::FirstProblems;
use crate::record::{
    groups::{GroupNames, number_after},
    layout::{Docnos, Record},
    reader::BuildRanking,
};

/// The judgments by facet of the queries that one worker reads, with their tables of documents.
pub struct FacetBuilder<'n> {
    shape: FacetShape,
    seed: Seed,
    /// The names of groups, as the worker meets them.
    names: GroupNames,
    /// The names of all groups in bytewise order, if records have numbers of these.
    all: Option<&'n [&'n [u8]]>,
    groups: GroupNumbers,
    /// The documents of the query at hand, and the document of each of its records.
    numbering: Interner,
    numbers: Vec<u32>,
    pub built: BuiltQueries,
}

/// The queries that one worker has built: judgments by facet, and tables of documents.
#[derive(Default)]
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

impl<'n> FacetBuilder<'n> {
    /// Makes a builder of judgments by facet, without any query yet. Records have numbers of the
    /// names `all`, or of those that the builder meets.
    pub fn new(shape: FacetShape, seed: Seed, all: Option<&'n [&'n [u8]]>) -> Self {
        let tables = QrelsBuilder::numbered(false);
        Self {
            shape,
            seed,
            names: GroupNames::new(seed),
            all,
            groups: GroupNumbers::default(),
            numbering: Interner::new(seed),
            numbers: Vec::new(),
            built: BuiltQueries { tables, ..BuiltQueries::default() },
        }
    }

    /// Returns the names of groups that the builder has met.
    pub fn group_names(&self) -> &Ids {
        self.names.ids()
    }

    /// Adds the judgments by facet of a query, whose records are in input order.
    pub fn add(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) {
        let Self { shape, seed, names, all, groups, numbering, numbers, built } = self;
        // Documents are numbered in the order of their first records.
        numbering.clear();
        numbers.clear();
        let mut last = 0;
        numbers.extend(records.iter().map(|record| {
            last = number_after(last, docnos.in_text(record), numbering);
            last
        }));
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
                // A line names groups beside its query, document and grade.
                let (names, kinds) = (names.ids(), shape.fields - 3);
                let found =
                    records.iter().flat_map(|record| record.groups().into_iter().take(kinds));
                groups.find(names.len(), found, |group| names.get(group as usize));
                of_query = groups.groups.iter().map(|&group| names.get(group as usize)).collect();
                (&of_query[..], Some(&groups.numbers[..]))
            }
        };
        let docs = &ordered(numbering.ids(), numbers);
        let shape = *shape;
        let rows = FacetedRows { query, records, docnos, docs, numbers, places, names, shape };
        let block = room(&mut built.blocks, records.len(), shape);
        let start = block.judgments.len();
        let (largest, fingerprint) = rows.store(block, &mut built.problems);
        if places.is_some() {
            let number = |place: u32| groups.groups[place as usize];
            for judgment in &mut block.judgments[start..] {
                judgment.group = number(judgment.group);
            }
            for subgroup in block.subgroups.iter_mut().skip(start) {
                *subgroup = number(*subgroup);
            }
        }
        built.counts.push([docs.len(), block.judgments.len() - start]);
        let grades = largest.into_iter().map(|grade| shape.table_grade(grade));
        built.tables.add_numbered(docs.iter().copied().zip(grades), *seed);
        built.fingerprint = built.fingerprint.wrapping_add(fingerprint);
    }
}

/// Returns the last block of judgments by facet, with room for `count` more of one query.
fn room(blocks: &mut Vec<JudgmentBlock>, count: usize, shape: FacetShape) -> &mut JudgmentBlock {
    let [capacity, length] = blocks
        .last()
        .map_or([0; 2], |JudgmentBlock { judgments, .. }| [judgments.capacity(), judgments.len()]);
    if capacity - length < count || blocks.is_empty() {
        let size = (2 * capacity).clamp(BLOCK[0], BLOCK[1]).max(count);
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
