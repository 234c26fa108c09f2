//! A batch: rankings as tiles of labels, with what the judgments know of their queries. Engines
//! read batches.

use std::ops::Range;

use super::code::{Above, Codebook};
use super::exact::{ExactFacts, ExactGrades};
use super::facets::FacetRows;
use super::facts::{Facts, QueryFacts};
use super::label_matrix::LabelMatrix;
use super::listed::{ListedDocument, ListedTiles, listed_at_once};
use super::passages::SpanRows;
use super::retrieved::RetrievedFacts;
use super::tied::TiedGroups;
use super::tile::{GROUP, Packing, Tile, TileSpan};
use crate::ids::Ids;

/// Some tiles of rankings, borrowed, with the facts and the ids of their queries. A matrix is one
/// batch, or several ([`LabelMatrix::batch`], [`LabelMatrix::batches`]).
///
/// Row `r` is the ranking of run `r / queries` and query `r % queries`.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    pub(crate) book: &'a Codebook,
    pub(crate) ids: &'a Ids,
    pub(crate) facts: &'a Facts,
    pub(crate) depths: &'a [u32],
    pub(crate) packing: &'a Packing,
    /// The bytes of all tiles of the packing.
    pub(crate) labels: &'a [u8],
    /// The tiles of this batch.
    pub(crate) tiles: Range<usize>,
    /// The tied groups of all rows.
    pub(crate) tied: Option<&'a TiedGroups>,
    /// The exact grades of all queries and rows, if codes are classes of them.
    pub(crate) exact: Option<&'a ExactGrades>,
    /// The judgments by facet, and the named documents of all rows, if judgments were read by
    /// facet.
    pub(crate) grouped: Option<&'a FacetRows>,
    /// The rankings as passages, if judgments were read by span.
    pub(crate) spans: Option<&'a SpanRows>,
    /// The judgments of each row's own documents, if no other judgments are to be known.
    pub(crate) known: Option<&'a RetrievedFacts>,
    /// Lists of the documents of the tiles that matter to folds.
    pub(crate) lists: Option<&'a ListedTiles>,
}

impl<'a> Batch<'a> {
    /// The meaning of the codes.
    pub fn book(&self) -> &'a Codebook {
        self.book
    }

    /// The ids of the queries, in bytewise order.
    pub fn ids(&self) -> &'a Ids {
        self.ids
    }

    /// The judgments as counts: of each query, or of each row if only its own documents are known.
    #[doc(hidden)]
    pub fn facts(&self) -> &'a Facts {
        self.known.map_or(self.facts, |known| &known.facts)
    }

    /// The exact grades of the judgments, by query or row as [`Batch::facts`] are, if codes are
    /// classes of grades.
    #[doc(hidden)]
    pub fn exact_facts(&self) -> Option<&'a ExactFacts> {
        match self.known {
            Some(known) => known.exact.as_ref(),
            None => self.exact.map(|exact| &exact.facts),
        }
    }

    /// The place of a row's judgments among [`Batch::facts`].
    #[inline]
    #[doc(hidden)]
    pub fn judgments(&self, row: u32) -> usize {
        if self.known.is_some() { row as usize } else { self.query(row) }
    }

    /// Replaces the judgments of each query by these judgments of each row.
    #[doc(hidden)]
    pub fn knowing(self, known: &'a RetrievedFacts) -> Self {
        Batch { known: Some(known), ..self }
    }

    /// The number of results of each row of the matrix, other batches included.
    pub fn depths(&self) -> &'a [u32] {
        self.depths
    }

    /// The groups of documents with equal scores and different labels, by row of the matrix, other
    /// batches included; `None` if tied groups are not known.
    pub fn tied_groups(&self) -> Option<&'a TiedGroups> {
        self.tied
    }

    /// The exact grades of the queries and of all rows of the matrix, other batches included, if
    /// codes are classes of grades.
    #[doc(hidden)]
    pub fn exact(&self) -> Option<&'a ExactGrades> {
        self.exact
    }

    /// The judgments by facet of the queries, and the named documents of all rows of the matrix,
    /// other batches included, if judgments were read by facet.
    #[doc(hidden)]
    pub fn facet_rows(&self) -> Option<&'a FacetRows> {
        self.grouped
    }

    /// The rankings of all rows of the matrix as passages, other batches included, if judgments
    /// were read by span.
    #[doc(hidden)]
    pub fn span_rows(&self) -> Option<&'a SpanRows> {
        self.spans
    }

    /// The exact grades of the judged documents of the ranking in a lane of tile `at`, in rank
    /// order; none where codes are grades.
    #[doc(hidden)]
    pub fn exact_of(&self, at: usize, lane: usize) -> &'a [f64] {
        let row = self.rows(at).get(lane).map(|&row| row as usize);
        self.exact.zip(row).map_or(&[], |(exact, row)| exact.rows.of(row))
    }

    /// Whether the tiles of the batch are those of `matrix`.
    #[doc(hidden)]
    pub fn is_of(&self, matrix: &LabelMatrix) -> bool {
        std::ptr::eq(self.packing, &matrix.packing)
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.facts.len()
    }

    /// The run of a row.
    pub fn run(&self, row: u32) -> usize {
        row as usize / self.queries()
    }

    /// The query of a row.
    pub fn query(&self, row: u32) -> usize {
        row as usize % self.queries()
    }

    /// The judgments that are known for a row, as counts.
    #[doc(hidden)]
    pub fn facts_of(&self, row: u32) -> QueryFacts<'a> {
        self.facts().of(self.judgments(row))
    }

    /// The tiles of the batch, as indices into those of its matrix.
    #[doc(hidden)]
    pub fn tiles(&self) -> Range<usize> {
        self.tiles.clone()
    }

    /// The places of the tiles of the batch.
    #[doc(hidden)]
    pub fn spans(&self) -> &'a [TileSpan] {
        &self.packing.tiles[self.tiles()]
    }

    /// The number of ranks of the deepest tile of the batch.
    #[doc(hidden)]
    pub fn deepest(&self) -> u32 {
        self.spans().first().map_or(0, |tile| tile.depth)
    }

    /// The number of results of the deepest row of the batch.
    #[doc(hidden)]
    pub fn deepest_row(&self) -> u32 {
        let rows = self.tiles().next().map_or(&[][..], |tile| self.rows(tile));
        rows.iter().map(|&row| self.depths[row as usize]).max().unwrap_or(0)
    }

    /// The labels of tile `at`.
    #[doc(hidden)]
    pub fn tile(&self, at: usize) -> Tile<'a> {
        let span = self.packing.tiles[at];
        let range = span.offset as usize..(span.offset + span.bytes()) as usize;
        Tile { labels: &self.labels[range], lanes: span.lanes as usize, depth: span.depth as usize }
    }

    /// The rows of tile `at`, lane by lane.
    #[doc(hidden)]
    pub fn rows(&self, at: usize) -> &'a [u32] {
        let span = self.packing.tiles[at];
        &self.packing.order[span.first as usize..(span.first + span.rows) as usize]
    }

    /// The labels of a lane of tile `at`.
    #[doc(hidden)]
    pub fn ranking(&self, at: usize, lane: usize) -> impl Iterator<Item = u8> + use<'a> {
        let (tile, depth) = (self.tile(at), self.depths[self.rows(at)[lane] as usize]);
        (0..depth as usize).map(move |rank| tile.label(lane, rank))
    }

    /// The documents of tile `at` that matter to folds, line by line of ranks, if there are lists
    /// and the tile is sparse.
    #[doc(hidden)]
    pub fn listed(
        &self,
        at: usize,
        scratch: &mut Vec<ListedDocument>,
    ) -> Option<&'a [ListedDocument]> {
        self.lists?.of(at, self.tile(at), scratch)
    }

    /// Lists the documents of tile `at` in `set`, at least down to rank `reach`, for folds that run
    /// right afterwards. Returns `None` if the batch keeps lists, if the tile is shallow, or if the
    /// set has too many documents for a list to save time.
    #[doc(hidden)]
    pub fn listed_at_once<'r>(
        &self,
        at: usize,
        (set, reach): (Above, Option<u32>),
        room: &'r mut Vec<ListedDocument>,
    ) -> Option<&'r [ListedDocument]> {
        let tile = self.tile(at);
        let tile = match reach {
            Some(reach) => tile.shallower((reach as usize).next_multiple_of(GROUP)),
            None => tile,
        };
        if self.lists.is_some() { None } else { listed_at_once(tile, set, room) }
    }

    /// The list of tile `at` for [`Batch::listed`], if the list is already made.
    #[doc(hidden)]
    pub fn listed_before(&self, at: usize) -> Option<&'a [ListedDocument]> {
        self.lists?.made(at)
    }

    /// The bytes of all tiles of the batch, in the order of the matrix.
    pub fn bytes(&self) -> &'a [u8] {
        match (self.spans().first(), self.spans().last()) {
            (Some(first), Some(last)) => {
                &self.labels[first.offset as usize..(last.offset + last.bytes()) as usize]
            }
            _ => &[],
        }
    }

    /// Narrows the batch to these of its tiles.
    #[doc(hidden)]
    pub fn of_tiles(&self, tiles: Range<usize>) -> Self {
        assert!(
            self.tiles.start <= tiles.start && tiles.end <= self.tiles.end,
            "tiles of another batch"
        );
        Batch { tiles, ..self.clone() }
    }
}

impl LabelMatrix {
    /// All rankings as one batch.
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            book: &self.book,
            ids: &self.queries,
            facts: &self.facts,
            depths: &self.depths,
            packing: &self.packing,
            labels: self.tile_bytes(),
            tiles: 0..self.packing.tiles.len(),
            tied: self.tied.as_ref(),
            exact: self.exact.as_ref(),
            grouped: self.grouped.as_ref(),
            spans: self.spans.as_ref(),
            known: None,
            lists: None,
        }
    }

    /// All rankings as the batch of an evaluation. From the second evaluation of a matrix on, the
    /// batch has lists of the documents that matter.
    #[doc(hidden)]
    pub fn evaluated_batch(&self) -> Batch<'_> {
        let lists = self.lists.of_evaluation(self.packing.tiles.len());
        Batch { lists, ..self.batch() }
    }

    /// Forgets the lists of documents: the next evaluation is a first one again.
    #[doc(hidden)]
    pub fn forget_lists(&mut self) {
        self.lists = ListedTiles::default();
    }

    /// All rankings in batches of whole tiles, each of at most `bytes` labels or a single tile.
    pub fn batches(&self, bytes: u64) -> impl Iterator<Item = Batch<'_>> {
        let all = self.batch();
        let mut start = 0;
        std::iter::from_fn(move || {
            let spans = &all.spans()[start..];
            let first = spans.first()?;
            let fit = spans
                .iter()
                .take_while(|span| span.offset + span.bytes() - first.offset <= bytes)
                .count();
            let tiles = start..start + fit.max(1);
            start = tiles.end;
            Some(all.of_tiles(tiles))
        })
    }
}
