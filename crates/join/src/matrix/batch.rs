//! A batch: label tiles of some rankings, with the judgment counts of their queries, for engines to
//! evaluate.

use std::ops::Range;

use super::{
    Codebook, CodesAbove, ExactGrades, ExactHistograms, FacetRows, GradeHistogram, GradeHistograms,
    LabelMatrix, MatrixTies, Packing, QUAD, RetrievedHistograms, SpanRows, SparseDocument, Tile,
    TileSpan,
    sparse::{SparseTiles, listed_at_once},
};
use crate::ids::Ids;

/// Rankings for an engine to evaluate: borrowed label tiles, with the ids and judgment counts of
/// their queries. A matrix is one batch, or several ([`LabelMatrix::batch`],
/// [`LabelMatrix::batches`]).
///
/// Row `r` is the ranking of run `r / queries` and query `r % queries`.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    pub(crate) book: &'a Codebook,
    pub(crate) ids: &'a Ids,
    pub(crate) facts: &'a GradeHistograms,
    pub(crate) depths: &'a [u32],
    pub(crate) packing: &'a Packing,
    /// The bytes of all tiles of the packing.
    pub(crate) labels: &'a [u8],
    /// The tiles of this batch.
    pub(crate) tiles: Range<usize>,
    /// The exact grades of all queries and rows, if codes are classes of them.
    pub(crate) exact: Option<&'a ExactGrades>,
    /// The matrix of the rankings, unless they are in a block.
    pub(crate) matrix: Option<&'a LabelMatrix>,
    /// The judgments of each row's own documents, if no other judgments are to be known.
    pub(crate) known: Option<&'a RetrievedHistograms>,
    /// Lists of the documents of the tiles that matter to folds.
    pub(crate) lists: Option<&'a SparseTiles>,
}

impl<'a> Batch<'a> {
    /// Returns the codebook, which gives the grade that each label byte stands for.
    pub fn codebook(&self) -> &'a Codebook {
        self.book
    }

    /// Returns the ids of the batch's queries, in bytewise order.
    pub fn ids(&self) -> &'a Ids {
        self.ids
    }

    /// Returns the number of results of each ranking of the whole matrix, other batches included.
    pub fn depths(&self) -> &'a [u32] {
        self.depths
    }

    /// Returns the documents with equal scores but different labels in all rankings of the matrix.
    /// Other batches are included. `None` if tied groups are not known.
    pub fn tied_groups(&self) -> Option<&'a MatrixTies> {
        self.matrix?.tied_groups()
    }

    /// Returns the number of queries that the batch has judgment counts of.
    pub fn queries(&self) -> usize {
        self.facts.len()
    }

    /// Returns the index of the run that a row (ranking) belongs to.
    pub fn run(&self, row: u32) -> usize {
        row as usize / self.queries()
    }

    /// Returns the index of the query that a row (ranking) belongs to.
    pub fn query(&self, row: u32) -> usize {
        row as usize % self.queries()
    }

    /// Returns the label bytes of all tiles of the batch, in the order of the matrix.
    pub fn bytes(&self) -> &'a [u8] {
        let (Some(first), Some(last)) = (self.spans().first(), self.spans().last()) else {
            return &[];
        };
        &self.labels[first.range().start..last.range().end]
    }
}

#[doc(hidden)]
impl<'a> Batch<'a> {
    /// Returns the judgments of each query as counts: its number of documents of each label code.
    /// The counts are of each row if only its own documents are known.
    pub fn facts(&self) -> &'a GradeHistograms {
        self.known.map_or(self.facts, |known| &known.facts)
    }

    /// Returns the exact grades of the judgments, by query or row as [`Batch::facts`], if a code
    /// covers several grades.
    pub fn exact_facts(&self) -> Option<&'a ExactHistograms> {
        self.exact.map(|exact| self.known.map_or(&exact.facts, |known| &known.exact))
    }

    /// Returns the index in [`Batch::facts`] of the judgment counts for a row (ranking).
    #[inline]
    pub fn judgments(&self, row: u32) -> usize {
        if self.known.is_some() { row as usize } else { self.query(row) }
    }

    /// Replaces the judgment counts of queries by those of each ranking's own documents.
    pub fn with_judgments(self, known: &'a RetrievedHistograms) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Returns the exact grades of all queries and rankings of the matrix, if a code covers several
    /// grades. Other batches are included.
    pub fn exact(&self) -> Option<&'a ExactGrades> {
        self.exact
    }

    /// Returns the matrix's judgments by facet (judge, subtopic or preference), if there are any.
    /// The named documents of all rows come with them, other batches included.
    pub fn facet_rows(&self) -> Option<&'a FacetRows> {
        self.matrix?.facet_rows()
    }

    /// Returns all rankings of the matrix as rankings of passages, if judgments were read by span.
    /// Other batches are included.
    pub fn span_rows(&self) -> Option<&'a SpanRows> {
        self.matrix?.span_rows()
    }

    /// Returns the exact grades of the judged documents of one ranking, in rank order, by its tile
    /// and lane. There are none where codes are grades.
    pub fn exact_of(&self, at: usize, lane: usize) -> &'a [f64] {
        let row = self.rows(at).get(lane).map(|&row| row as usize);
        self.exact.zip(row).map_or(&[], |(exact, row)| exact.rows.row(row))
    }

    /// Returns whether the batch borrows its tiles from the label matrix `matrix`.
    pub fn is_of(&self, matrix: &LabelMatrix) -> bool {
        self.matrix.is_some_and(|own| std::ptr::eq(own, matrix))
    }

    /// Returns the judgment counts for a row (ranking): the number of documents of each label code.
    pub fn facts_of(&self, row: u32) -> GradeHistogram<'a> {
        self.facts().get(self.judgments(row))
    }

    /// Returns the range of the matrix's tiles that the batch has.
    pub fn tiles(&self) -> Range<usize> {
        self.tiles.clone()
    }

    /// Returns the place, the size and the rows of each tile of the batch.
    pub fn spans(&self) -> &'a [TileSpan] {
        &self.packing.tiles[self.tiles()]
    }

    /// Returns the number of ranks of the batch's deepest tile, padding included.
    pub fn deepest(&self) -> u32 {
        // A packing has the deepest rows first, so the first tile is the deepest of a batch.
        self.spans().first().map_or(0, |tile| tile.depth)
    }

    /// Returns the number of results of the batch's deepest ranking.
    pub fn deepest_row(&self) -> u32 {
        let rows = self.tiles().next().into_iter().flat_map(|tile| self.rows(tile));
        rows.map(|&row| self.depths[row as usize]).max().unwrap_or(0)
    }

    /// Returns tile `at`: the labels of up to 64 rankings side by side.
    pub fn tile(&self, at: usize) -> Tile<'a> {
        self.packing.tiles[at].tile(self.labels)
    }

    /// Returns the rows (rankings) of tile `at`, lane by lane.
    pub fn rows(&self, at: usize) -> &'a [u32] {
        self.packing.rows(&self.packing.tiles[at])
    }

    /// Returns the tile and the lane of each row (ranking) of the matrix; `None` for rows that lie
    /// in no tile of the batch.
    pub fn places(&self) -> Vec<Option<(u32, u8)>> {
        let mut places = vec![None; self.depths.len()];
        for at in self.tiles() {
            for (lane, &row) in (0..).zip(self.rows(at)) {
                places[row as usize] = Some((at as u32, lane));
            }
        }
        places
    }

    /// Returns the labels of one ranking in rank order, by its tile and lane.
    pub fn ranking(&self, at: usize, lane: usize) -> impl Iterator<Item = u8> + use<'a> {
        let (tile, depth) = (self.tile(at), self.depths[self.rows(at)[lane] as usize]);
        (0..depth as usize).map(move |rank| tile.label(lane, rank))
    }

    /// Returns the list of those documents of tile `at` that are in the qrels, if the tile is
    /// sparse. The list is in order of lines of ranks. `None` if the batch keeps no lists.
    pub fn sparse(
        &self,
        at: usize,
        scratch: &mut Vec<SparseDocument>,
    ) -> Option<&'a [SparseDocument]> {
        self.lists?.get_or_build(at, self.tile(at), scratch)
    }

    /// Lists the documents of tile `at` whose label is in `set`, to be used once by the evaluation
    /// that follows. The list reaches at least down to rank `reach`. Returns `None` if the batch
    /// keeps lists, if the tile is shallow, or if the set has too many documents for a list to save
    /// time.
    pub fn sparse_now<'r>(
        &self,
        at: usize,
        set: CodesAbove,
        reach: Option<u32>,
        room: &'r mut Vec<SparseDocument>,
    ) -> Option<&'r [SparseDocument]> {
        // Lists that the batch keeps serve all later evaluations, so no second list is made.
        if self.lists.is_some() {
            return None;
        }
        let tile = self.tile(at);
        let depth = reach.map_or(tile.depth, |reach| (reach as usize).next_multiple_of(QUAD));
        listed_at_once(tile.shallower(depth), set, room)
    }

    /// Returns the list that [`Batch::sparse`] made for tile `at`, if the list is already made.
    pub fn cached_sparse(&self, at: usize) -> Option<&'a [SparseDocument]> {
        self.lists?.get(at)
    }

    /// Returns the batch narrowed to some of its tiles.
    pub fn with_tiles(&self, tiles: Range<usize>) -> Self {
        assert!(
            self.tiles.start <= tiles.start && tiles.end <= self.tiles.end,
            "tiles of another batch"
        );
        Self { tiles, ..self.clone() }
    }
}

impl LabelMatrix {
    /// Returns all rankings of the label matrix as one batch for an engine.
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            book: &self.book,
            ids: &self.queries,
            facts: &self.facts,
            depths: &self.depths,
            packing: &self.packing,
            labels: self.tile_bytes(),
            tiles: 0..self.packing.tiles.len(),
            exact: self.exact.as_ref(),
            matrix: Some(self),
            known: None,
            lists: None,
        }
    }

    /// Returns all rankings of the label matrix as one batch, and notes an evaluation of the
    /// matrix. From the second evaluation of a matrix on, the batch has lists of the documents that
    /// matter.
    #[doc(hidden)]
    pub fn evaluated_batch(&self) -> Batch<'_> {
        let lists = self.lists.begin_evaluation(self.packing.tiles.len());
        Batch { lists, ..self.batch() }
    }

    /// Drops the kept lists of the qrels' documents, so that the next evaluation counts as the
    /// first.
    #[doc(hidden)]
    pub fn clear_sparse_cache(&mut self) {
        self.lists = SparseTiles::default();
    }

    /// Splits the label matrix into batches of whole tiles, each of at most `bytes` labels or a
    /// single tile.
    pub fn batches(&self, bytes: u64) -> impl Iterator<Item = Batch<'_>> {
        let all = self.batch();
        let mut start = 0;
        std::iter::from_fn(move || {
            let spans = &all.spans()[start..];
            let first = spans.first()?;
            let fit =
                spans.partition_point(|span| span.offset + span.bytes() - first.offset <= bytes);
            // A tile is never cut, so a tile of more than `bytes` labels is a batch of its own.
            let tiles = start..start + fit.max(1);
            start = tiles.end;
            Some(all.with_tiles(tiles))
        })
    }
}
