//! Lists of the qrels' documents in sparse label tiles, kept by a matrix from its second evaluation
//! on.
//!
//! Judgments are sparse: of a thousand labels, ten or fewer say anything but "not in the qrels". To
//! find these ten, a fold over labels reads all thousand, so memory limits its speed. A list of the
//! ten has four bytes a document, and a fold over the list reads nothing else. With one document in
//! a hundred, a list has a twenty-fifth of the bytes, and nothing is compared.
//!
//! **When.** A single evaluation has to read all labels anyway, and the first touch of memory is
//! dear (a list of 4 MB takes as long as reading 20 MB). So the first evaluation keeps no list. A
//! matrix that is evaluated twice will most likely be evaluated more often. So the second
//! evaluation lists a tile on arrival, in the cache, and folds over the list at once, at about the
//! cost of folding over the labels. All later evaluations read lists only. The `.lmx` file stores
//! no lists, because its labels say the same.
//!
//! **At once.** A short list pays for itself even with a single use: labels are compared in one
//! pass for all folds, and absent documents need no preparation. So a first evaluation lists tiles
//! in which at most one label in [`RARE`] matters, in memory that is reused from tile to tile.
//!
//! **Which.** A tile has a list if at most one label in [`SPARSE`] is named; a sample rejects most
//! other tiles before a list is tried. So lists are at most an eighth of the size of the tiles, and
//! denser tiles, which gain less from lists, take no memory. Rank, lane and code of a document are
//! one number of 32 bits, so tiles deeper than 2¹⁸ ranks have no lists either.
//!
//! **Order.** A list is ordered by lines of 64 ranks, and within a line like the labels of the
//! tile: documents are listed without a sort. The documents down to a cutoff are the beginning of a
//! list, up to the line that the cutoff divides. The documents of each lane are in rank order, so
//! sums over a list have the bits of sums over labels.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use fearless_simd::{Level, dispatch, prelude::*, u8x64};

use super::{CodesAbove, LANES, NARROW_LANES, QUAD, Tile};

/// The fewest labels of a tile for each document that is listed.
const SPARSE: usize = 32;
/// The fewest labels for each document of a list that is used only once.
const RARE: usize = 128;
/// The depth of the shallowest tile whose list is used only once: at depth 100, where a ranking
/// costs more than its labels, that was slower (benches/RESULTS.md).
const SHALLOWEST_LISTED: usize = 512;
/// The depth of the deepest tile that is listed.
const DEEPEST_LISTED: usize = 1 << 18;
/// The number of labels in one SIMD vector.
const VECTOR: usize = QUAD * NARROW_LANES;
/// The number of documents that are written at once.
const AT_ONCE: usize = 4;

/// A listed document of a label tile, mostly one that the qrels name: its rank, lane and label
/// code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SparseDocument(u32);

impl SparseDocument {
    /// The ranks of a line: lists are in the order of lines.
    pub const LINE: u32 = 64;

    /// Packs the rank (from 0), the lane and the label code of a document into 32 bits.
    fn new(rank: usize, lane: usize, code: u8) -> Self {
        Self(((rank * LANES + lane) as u32) << 8 | u32::from(code))
    }

    /// Returns the rank of the listed document, from 1.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        (self.0 >> 14) + 1
    }

    /// Returns the number of the line of 64 ranks that the listed document is in, from 0.
    #[inline(always)]
    pub fn line(self) -> u32 {
        self.0 >> 20
    }

    /// Returns the lane of the listed document: the index of its ranking in the tile.
    #[inline(always)]
    pub fn lane(self) -> usize {
        (self.0 >> 8) as usize % LANES
    }

    /// Returns the label code of the listed document.
    #[inline(always)]
    pub fn code(self) -> u8 {
        self.0 as u8
    }
}

/// The list of the qrels' documents in one tile, made once; `None` if reading the tile itself is
/// better.
type SparseTile = OnceLock<Option<Box<[SparseDocument]>>>;

/// The lists of the qrels' documents in the tiles of a matrix, as far as they were made.
#[derive(Debug, Default)]
pub struct SparseTiles {
    /// Whether the matrix was evaluated.
    evaluated: AtomicBool,
    tiles: OnceLock<Box<[SparseTile]>>,
}

impl SparseTiles {
    /// Notes an evaluation of a matrix of `tiles` tiles, and returns its document lists from the
    /// second evaluation on.
    pub(crate) fn begin_evaluation(&self, tiles: usize) -> Option<&Self> {
        // Relaxed: the order of two evaluations at the same time changes no value.
        if !self.evaluated.swap(true, Ordering::Relaxed) {
            return None;
        }
        self.tiles.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(tiles).collect());
        Some(self)
    }

    /// Returns the list of the qrels' documents in tile `at`, made by the first call; `None` for a
    /// dense tile.
    pub(crate) fn get_or_build(
        &self,
        at: usize,
        tile: Tile<'_>,
        scratch: &mut Vec<SparseDocument>,
    ) -> Option<&[SparseDocument]> {
        let list = self.tiles.get()?.get(at)?;
        list.get_or_init(|| {
            if is_dense(tile) {
                return None;
            }
            listed(Level::new(), tile, CodesAbove::IN_QRELS, SPARSE, scratch).map(Box::from)
        })
        .as_deref()
    }

    /// Returns the list of the qrels' documents in tile `at`, if it was made before.
    pub(crate) fn get(&self, at: usize) -> Option<&[SparseDocument]> {
        self.tiles.get()?.get(at)?.get()?.as_deref()
    }
}

/// Returns whether a sample of a tile has too many documents of the qrels for a list. Too many are
/// more than three documents in `2 * SPARSE` labels. The list of a dense tile would be given up,
/// for a third of the time of folding the tile: a list holds at most one document in `SPARSE`.
fn is_dense(tile: Tile<'_>) -> bool {
    // An odd number, so that the sample has vectors of all lanes.
    const SAMPLED: usize = 15;
    let sample = tile.labels.chunks_exact(VECTOR).step_by(SAMPLED);
    let labels = sample.len() * VECTOR;
    let is_named = |&&label: &&u8| CodesAbove::IN_QRELS.contains(label);
    let named: usize = sample.map(|vector| vector.iter().filter(is_named).count()).sum();
    2 * named * SPARSE > 3 * labels
}

/// Lists the documents of a tile whose label is in `set`, to be used once; `None` if that does not
/// pay.
pub(crate) fn listed_at_once<'r>(
    tile: Tile<'_>,
    set: CodesAbove,
    room: &'r mut Vec<SparseDocument>,
) -> Option<&'r [SparseDocument]> {
    if tile.depth < SHALLOWEST_LISTED {
        return None;
    }
    listed(Level::new(), tile, set, RARE, room)
}

/// Writes a list of the documents of a tile whose label is in `set` to `room`.
///
/// `None` if more than one document in `labels` is in the set, or the tile is deeper than
/// [`DEEPEST_LISTED`].
fn listed<'r>(
    level: Level,
    tile: Tile<'_>,
    set: CodesAbove,
    labels: usize,
    room: &'r mut Vec<SparseDocument>,
) -> Option<&'r [SparseDocument]> {
    if tile.depth > DEEPEST_LISTED {
        return None;
    }
    let most = tile.labels.len() / labels;
    // The documents of the vector that makes the list too long are written as well, by fours.
    if room.len() < most + VECTOR + AT_ONCE {
        room.resize(most + VECTOR + AT_ONCE, SparseDocument::default());
    }
    let found = dispatch!(level, simd => list_all(simd, tile, set, most, room))?;
    Some(&room[..found])
}

/// Lists the documents of a tile whose label is in `set`, and returns their number; `None` above
/// `most`.
#[inline(always)]
fn list_all<S: Simd>(
    simd: S,
    tile: Tile<'_>,
    set: CodesAbove,
    most: usize,
    list: &mut [SparseDocument],
) -> Option<usize> {
    /// The number of vectors that are compared before any is read: a word has a bit for each
    /// vector, set if the vector has a document.
    const TOGETHER: usize = 64;
    let threshold = u8x64::splat(simd, set.0);
    let strips = tile.lanes / NARROW_LANES;
    let (mut masks, mut found) = ([0u64; TOGETHER], 0);
    for (part, labels) in tile.labels.chunks(TOGETHER * VECTOR).enumerate() {
        let mut some = 0u64;
        for (at, (labels, mask)) in labels.chunks_exact(VECTOR).zip(&mut masks).enumerate() {
            *mask = u8x64::from_slice(simd, labels).simd_gt(threshold).to_bitmask();
            some |= u64::from(*mask != 0) << at;
        }
        while some != 0 {
            let at = some.trailing_zeros() as usize;
            some &= some - 1;
            let vector = part * TOGETHER + at;
            let first =
                SparseDocument::new(vector / strips * QUAD, vector % strips * NARROW_LANES, 0);
            let fours = masks[at].count_ones().div_ceil(AT_ONCE as u32);
            let labels = &labels[at * VECTOR..][..VECTOR];
            found += list_vector(masks[at], fours, &mut list[found..], |place| {
                // The rank and the lane are relative to those of the vector's first document.
                let document = SparseDocument::new(place % QUAD, place / QUAD, labels[place]);
                SparseDocument(first.0 + document.0)
            });
            if found > most {
                return None;
            }
        }
    }
    Some(found)
}

// Four documents are always written, and only the returned number tells how many count. So the loop
// has the same length for up to four documents, and no branch depends on a single label. An
// exhausted mask gives the first label, which nobody reads.
/// Lists the documents at the set bits of a SIMD mask, and returns their number. Four documents are
/// written for each of `fours`. `of_place` makes the document at a bit.
#[inline(always)]
fn list_vector(
    mut mask: u64,
    fours: u32,
    list: &mut [SparseDocument],
    of_place: impl Fn(usize) -> SparseDocument,
) -> usize {
    let found = mask.count_ones() as usize;
    for four in &mut list.as_chunks_mut::<AT_ONCE>().0[..fours as usize] {
        for document in four {
            *document = of_place(mask.trailing_zeros() as usize % VECTOR);
            mask &= mask.wrapping_sub(1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::levels;

    /// Returns a tile of which one label in `often` is named, by codes up to 255, at places that
    /// look random.
    fn labels(lanes: usize, depth: usize, often: u32) -> Vec<u8> {
        let mut state = often;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let mut label = || match random() % often {
            0 => 2 + (random() % 254) as u8,
            _ => (random() % 2) as u8,
        };
        (0..lanes * depth).map(|_| label()).collect()
    }

    /// Lists the named documents of a tile.
    fn named<'r>(
        level: Level,
        labels: &[u8],
        lanes: usize,
        room: &'r mut Vec<SparseDocument>,
    ) -> Option<&'r [SparseDocument]> {
        let tile = Tile { labels, lanes, depth: labels.len() / lanes };
        listed(level, tile, CodesAbove::IN_QRELS, SPARSE, room)
    }

    /// Returns a listed document as its rank, lane and code.
    fn fields(document: &SparseDocument) -> (u32, usize, u8) {
        (document.rank(), document.lane(), document.code())
    }

    #[test]
    fn lists_have_every_named_document_in_the_order_of_labels() {
        let mut seen = 0;
        for (lanes, depth, often) in
            [(64, 400, 40), (64, 4, 100), (16, 1000, 100), (64, 0, 40), (16, 300, 7000)]
        {
            let labels = labels(lanes, depth, often);
            // Groups of four ranks lie lane by lane.
            let documents = labels.iter().enumerate().map(|(at, &code)| {
                let (group, rank) = (at / QUAD, at % QUAD);
                ((group / lanes * QUAD + rank) as u32 + 1, group % lanes, code)
            });
            let expected: Vec<_> = documents.filter(|document| document.2 >= 2).collect();
            for level in levels() {
                let mut room = Vec::new();
                let list = named(level, &labels, lanes, &mut room).expect("a list");
                let found: Vec<_> = list.iter().map(fields).collect();
                assert_eq!(found, expected, "{lanes} lanes, depth {depth}");
                assert!(list.iter().all(|document| document.line() == (document.rank() - 1) / 64));
            }
            seen += expected.len();
        }
        assert!(seen > 500, "{seen} documents");
    }

    #[test]
    fn dense_and_deep_tiles_have_no_list() {
        let level = Level::new();
        let mut room = Vec::new();
        let mut dense = vec![1; 64 * 64];
        (0..64 * 64 / SPARSE).for_each(|at| dense[at * 31] = 3);
        assert!(named(level, &dense, 64, &mut room).is_some());
        dense[1] = 3;
        assert!(named(level, &dense, 64, &mut room).is_none());
        let mut deep = vec![0; 16 * (DEEPEST_LISTED + QUAD)];
        deep[16 * DEEPEST_LISTED - 1] = 255;
        let deepest = &deep[..16 * DEEPEST_LISTED];
        let list = named(level, deepest, 16, &mut room).expect("a list");
        assert_eq!(fields(&list[0]), (1 << 18, 15, 255));
        assert!(named(level, &deep, 16, &mut room).is_none());
    }

    #[test]
    fn a_sample_tells_dense_tiles() {
        for (lanes, depth) in [(64, 1000), (16, 4000), (64, 400)] {
            let is_dense =
                |often: u32| is_dense(Tile { labels: &labels(lanes, depth, often), lanes, depth });
            assert_eq!(
                [1, 10, 16, 32, 40, 1000].map(is_dense),
                [true, true, true, false, false, false]
            );
        }
        assert!(!is_dense(Tile { labels: &[], lanes: 64, depth: 0 }));
    }

    #[test]
    fn the_second_evaluation_makes_lists() {
        let lists = SparseTiles::default();
        let labels = labels(64, 400, 100);
        let tile = Tile { labels: &labels, lanes: 64, depth: 400 };
        assert!(lists.begin_evaluation(2).is_none());
        let again = lists.begin_evaluation(2).expect("lists");
        assert!(again.get(1).is_none());
        let documents = again.get_or_build(1, tile, &mut Vec::new()).expect("a list");
        assert_eq!((again.get(1), again.get(0)), (Some(documents), None));
        assert!(again.get_or_build(2, tile, &mut Vec::new()).is_none());
    }
}
