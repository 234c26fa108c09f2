//! Relabelling of tiles where grades are too many for codes: a judged document's label becomes its
//! class of grades.
//!
//! The k-th judged label of a lane belongs to its k-th grade. The grades of a lane follow one
//! another, but labels lie by groups of four ranks of all lanes. So both become bits, and the bits
//! move from the order of labels to the order of grades and back. In either order, a block of 64
//! ranks of 16 lanes is 16 numbers of 64 bits.
//!
//! ```text
//! by group       16 lanes × 4 ranks     a comparison of a vector of labels, and a mask for one
//! by lane        16 groups × 4 ranks    comparisons of 8 grades each; a rank is a bit
//! transposed     nibble g of number l is nibble l of number g
//!
//! ranks judged   · x · x x …            the next grades   0.3  2.75  1.0 …        level 1
//! compared                                                 0    1     1           bits of grades
//! spread         · 0 · 1 1 …            bits of ranks: those of the documents that are of a higher
//!                                       class
//! ```
//!
//! Where documents are judged without gaps, as where all documents are judged, the bits of grades
//! equal the bits of ranks. Otherwise each bit moves to its rank. All levels share these moves, and
//! the bits of 16 lanes move side by side.
//!
//! No step depends on the choice of judged documents, so a block costs the same with a tenth of its
//! documents judged as with all. With one level, the bit steps pay above 64 judged documents a
//! block. Fewer documents are handled one by one, though no branch predictor expects the end of the
//! loop. Steps by groups of four ranks, each with its own table and place among the grades, were
//! also measured (benches/RESULTS.md). The steps took twice as long with all documents judged, and
//! equally long with few.

use fearless_simd::{Level, dispatch, f64x8, mask8x64, prelude::*, u8x64};

use super::{
    Codebook, LANES, NARROW_LANES, QUAD, Tile,
    code::{FIRST_GRADE, NEGATIVE},
};

/// The number of labels in one SIMD vector: a group of each lane of a strip.
const VECTOR: usize = QUAD * NARROW_LANES;
/// The number of groups of a block, whose ranks are the bits of one number for each lane.
const QUADS_PER_WORD: usize = u64::BITS as usize / QUAD;
/// The number of grades that are compared at once.
const COMPARED: usize = 8;

/// Returns the largest number of judged documents of a block of ranks that are relabelled one by
/// one. A further level costs a block another pass, but costs a document only a comparison.
fn few(levels: usize) -> usize {
    (44 + 20 * levels).min(448)
}

/// Returns a tile with the label of each judged document replaced by the code of its class of
/// grades. The new labels lie in `scratch`; `exact` has the exact grades of each lane's judged
/// documents, in rank order. Where a grade is missing, as it may be in a damaged file, labels stay
/// as they are.
pub fn to_class_codes<'a, 'g>(
    tile: Tile<'a>,
    book: &Codebook,
    exact: impl Fn(usize) -> &'g [f64],
    scratch: &'a mut Vec<u8>,
) -> Tile<'a> {
    // All grades are at least 0, the bound of the first class, whose labels are stored.
    let levels = book.grades().get(1..).unwrap_or_default();
    if levels.is_empty() {
        return tile;
    }
    let mut grades = std::array::from_fn(|lane| if lane < tile.lanes { exact(lane) } else { &[] });
    scratch.resize(tile.labels.len(), 0);
    dispatch!(Level::new(), simd => class_all(simd, tile, levels, &mut grades, scratch));
    Tile { labels: scratch, ..tile }
}

/// Writes the labels of a tile to `out`, with the judged documents relabelled by class of grades.
/// `levels` separate the classes; `grades` has the exact grades of each lane.
#[inline(always)]
fn class_all<S: Simd>(
    simd: S,
    tile: Tile<'_>,
    levels: &[f64],
    grades: &mut [&[f64]; LANES],
    out: &mut [u8],
) {
    let row = tile.lanes * QUAD;
    for (strip, grades) in
        grades[..tile.lanes].as_chunks_mut::<NARROW_LANES>().0.iter_mut().enumerate()
    {
        let blocks =
            tile.labels.chunks(QUADS_PER_WORD * row).zip(out.chunks_mut(QUADS_PER_WORD * row));
        for (labels, out) in blocks {
            let of_strip = strip * VECTOR..;
            class_block(simd, &labels[of_strip.clone()], &mut out[of_strip], row, levels, grades);
        }
    }
}

/// Writes the labels of a block of 64 ranks by 16 lanes, relabelled by class of grades. Its groups
/// of four ranks are `row` labels apart. `grades` has the grades of each lane from this block on,
/// and afterwards the grades from the next block on.
#[inline(always)]
fn class_block<S: Simd>(
    simd: S,
    labels: &[u8],
    out: &mut [u8],
    row: usize,
    levels: &[f64],
    grades: &mut [&[f64]; NARROW_LANES],
) {
    let unjudged = u8x64::splat(simd, NEGATIVE);
    let mut judged = [0; QUADS_PER_WORD];
    for ((labels, out), judged) in labels.chunks(row).zip(out.chunks_mut(row)).zip(&mut judged) {
        let labels = u8x64::from_slice(simd, &labels[..VECTOR]);
        labels.store_slice(&mut out[..VECTOR]);
        *judged = labels.simd_gt(unjudged).to_bitmask();
    }
    let documents: u32 = judged.iter().map(|judged| judged.count_ones()).sum();
    if documents as usize <= few(levels.len()) {
        return class_few(out, row, &judged, levels, grades);
    }
    let mut ranks = transposed(judged);
    let mut lacks = false;
    for (ranks, grades) in ranks.iter_mut().zip(&*grades) {
        lacks |= drop_ungraded(ranks, grades.len());
    }
    // A document without a grade keeps its stored label, so `fill` must not see its bit either.
    if lacks {
        judged = transposed(ranks);
    }
    fill(simd, out, row, &judged);
    let moves = BitDeposit::to(&ranks);
    for &level in levels {
        let mut reached = [0; NARROW_LANES];
        for ((reached, grades), ranks) in reached.iter_mut().zip(&*grades).zip(&ranks) {
            *reached = reaching(simd, grades, ranks.count_ones() as usize, level);
        }
        raise(simd, out, row, &transposed(moves.moved(reached)));
    }
    grades
        .iter_mut()
        .zip(ranks)
        .for_each(|(grades, ranks)| *grades = &grades[ranks.count_ones() as usize..]);
}

/// Relabels the judged documents of a block by class of grades, one at a time, where few are
/// judged.
fn class_few(
    out: &mut [u8],
    row: usize,
    judged: &[u64; QUADS_PER_WORD],
    levels: &[f64],
    grades: &mut [&[f64]; NARROW_LANES],
) {
    for (out, &judged) in out.chunks_mut(row).zip(judged) {
        let mut left = judged;
        while left != 0 {
            let at = left.trailing_zeros() as usize % VECTOR;
            left &= left - 1;
            if let Some(&grade) = grades[at / QUAD].split_off_first() {
                out[at] =
                    FIRST_GRADE + levels.iter().filter(|&&level| level <= grade).count() as u8;
            }
        }
    }
}

/// Gives the documents at the bits of `masks` the code of the first class of grades.
#[inline(always)]
fn fill<S: Simd>(simd: S, labels: &mut [u8], row: usize, masks: &[u64; QUADS_PER_WORD]) {
    let first = u8x64::splat(simd, FIRST_GRADE);
    for (labels, &mask) in labels.chunks_mut(row).zip(masks) {
        let labels = &mut labels[..VECTOR];
        mask8x64::from_bitmask(simd, mask)
            .select(first, u8x64::from_slice(simd, labels))
            .store_slice(labels);
    }
}

/// Gives the documents at the bits of `masks` the code of the next higher class of grades. No byte
/// overflows, as a codebook has at most 253 classes.
#[inline(always)]
fn raise<S: Simd>(simd: S, labels: &mut [u8], row: usize, masks: &[u64; QUADS_PER_WORD]) {
    for (labels, &mask) in labels.chunks_mut(row).zip(masks) {
        let labels = &mut labels[..VECTOR];
        let old = u8x64::from_slice(simd, labels);
        mask8x64::from_bitmask(simd, mask).select(old + 1, old).store_slice(labels);
    }
}

/// Removes the last judged ranks of a lane that lack an exact grade, and returns whether it removed
/// any.
#[inline(always)]
fn drop_ungraded(ranks: &mut u64, grades: usize) -> bool {
    let lacks = ranks.count_ones() as usize > grades;
    while ranks.count_ones() as usize > grades {
        *ranks &= !(1 << ranks.ilog2());
    }
    lacks
}

/// Returns a bit for each of the first `count` exact grades of a lane, set if the grade is at least
/// `level`. A lane has at most 64 grades here. Bits beyond `count` are undefined.
#[inline(always)]
fn reaching<S: Simd>(simd: S, grades: &[f64], count: usize, level: f64) -> u64 {
    let level = f64x8::splat(simd, level);
    let mut bits = [0; u64::BITS as usize / COMPARED];
    let (eights, last) = grades[..grades.len().min(count.next_multiple_of(COMPARED))].as_chunks();
    for (bits, grades) in bits.iter_mut().zip(eights) {
        *bits = f64x8::simd_from(simd, *grades).simd_ge(level).to_bitmask() as u8;
    }
    if !last.is_empty() {
        let mut grades = [0.0; COMPARED];
        grades[..last.len()].copy_from_slice(last);
        bits[eights.len()] = f64x8::simd_from(simd, grades).simd_ge(level).to_bitmask() as u8;
    }
    u64::from_le_bytes(bits)
}

/// Transposes a square of nibbles (groups of four bits): nibble k of result n is nibble n of number
/// k.
#[inline(always)]
fn transposed(mut numbers: [u64; QUADS_PER_WORD]) -> [u64; QUADS_PER_WORD] {
    swap::<8>(&mut numbers, 0x0000_0000_ffff_ffff);
    swap::<4>(&mut numbers, 0x0000_ffff_0000_ffff);
    swap::<2>(&mut numbers, 0x00ff_00ff_00ff_00ff);
    swap::<1>(&mut numbers, 0x0f0f_0f0f_0f0f_0f0f);
    numbers
}

/// Swaps nibbles between numbers `FAR` places apart, one step of transposing a square of nibbles.
/// The upper nibbles of `low` in a number are swapped with the lower nibbles of the further number.
#[inline(always)]
fn swap<const FAR: usize>(numbers: &mut [u64; QUADS_PER_WORD], low: u64) {
    for pair in numbers.chunks_exact_mut(2 * FAR) {
        let (one, other) = pair.split_at_mut(FAR);
        for (one, other) in one.iter_mut().zip(other) {
            let differ = (*one >> (4 * FAR) ^ *other) & low;
            *one ^= differ << (4 * FAR);
            *other ^= differ;
        }
    }
}

/// The moves of bits from the order of grades to that of ranks: the k-th grade is of the k-th
/// judged rank. Each lane has its own moves.
///
/// A bit moves up by the number of unjudged ranks below its document, digit by digit: by 32 ranks
/// if the number has a 32, then by 16, … and at last by 1. The moves are found in reverse, from the
/// documents down: if the number is odd, the bit comes from the rank below; then pairs of unjudged
/// ranks are counted, and so on. The parity of a number is an exclusive or of all ranks below: six
/// shifts for all ranks. (Warren, *Hacker's Delight*, 7–5.)
struct BitDeposit {
    ranks: [u64; NARROW_LANES],
    /// For each n, the ranks whose bits come from 2ⁿ ranks below. `None` if no judged document
    /// follows an unjudged document in any lane, so that no bit moves.
    from_below: Option<[[u64; NARROW_LANES]; 6]>,
}

impl BitDeposit {
    #[inline(always)]
    fn to(ranks: &[u64; NARROW_LANES]) -> Self {
        let gaps = ranks.iter().fold(0, |gaps, ranks| gaps | (ranks & (ranks.wrapping_add(1))));
        if gaps == 0 {
            return Self { ranks: *ranks, from_below: None };
        }
        let mut from_below = [[0; NARROW_LANES]; 6];
        let (mut left, mut above) = (*ranks, ranks.map(|ranks| !ranks << 1));
        for (n, moves) in from_below.iter_mut().enumerate() {
            for lane in 0..NARROW_LANES {
                // Whether the number of unjudged ranks below each rank is odd.
                let mut odd = above[lane];
                for shift in [1, 2, 4, 8, 16, 32] {
                    odd ^= odd << shift;
                }
                moves[lane] = odd & left[lane];
                left[lane] = (left[lane] ^ moves[lane]) | moves[lane] >> (1 << n);
                above[lane] &= !odd;
            }
        }
        Self { ranks: *ranks, from_below: Some(from_below) }
    }

    /// Moves the bit of each exact grade to the rank of its document, lane by lane.
    #[inline(always)]
    fn moved(&self, mut bits: [u64; NARROW_LANES]) -> [u64; NARROW_LANES] {
        if let Some(from_below) = &self.from_below {
            for (n, moves) in from_below.iter().enumerate().rev() {
                for (bits, moves) in bits.iter_mut().zip(moves) {
                    *bits = *bits & !moves | *bits << (1 << n) & moves;
                }
            }
        }
        // Grades are compared in eights, so bits beyond the judged documents may be set.
        bits.iter_mut().zip(self.ranks).for_each(|(bits, ranks)| *bits &= ranks);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::CodesAbove;
    use crate::test_support::{levels, random};

    #[test]
    fn labels_of_judged_documents_become_those_of_their_classes() {
        let mut labels = vec![0; 16 * 8];
        let ranking = [1, 3, 2, 3, 1, 1, 3, 3];
        for (rank, label) in ranking.into_iter().enumerate() {
            let at = Tile { labels: &labels, lanes: 16, depth: 8 }.position(5, rank);
            labels[at] = label;
        }
        let tile = Tile { labels: &labels, lanes: 16, depth: 8 };
        let book = Codebook::new((0..254).map(f64::from)).unwrap().at_levels([1.0, 7.5]).unwrap();
        let of_lane = |lane: usize| if lane == 5 { &[8.0, 0.5, 7.0][..] } else { &[] };
        let mut scratch = Vec::new();
        let classed = to_class_codes(tile, &book, of_lane, &mut scratch);
        // A grade is missing, as it may be in a damaged file.
        assert_eq!(classed.lane(5).collect::<Vec<_>>(), [1, 5, 2, 3, 1, 1, 4, 3]);
        assert!(classed.lane(4).all(|label| label == 0));
    }

    /// Labels of random tiles, from few judged documents to all, are the classes of their grades at
    /// every level of SIMD, with two classes and with as many as there can be.
    #[test]
    fn classes_are_those_of_each_grade() {
        let mut next = random(11);
        let mut random = |below: u64| next() % below;
        let book = Codebook::new((0..300).map(f64::from)).unwrap();
        let many = (0..252).map(|level| f64::from(level) + 0.5);
        let books = [book.at_levels([7.0]).unwrap(), book.at_levels(many).unwrap()];
        // Blocks with few judged documents, without gaps, and with gaps.
        let mut kinds = [0; 3];
        let tiles =
            [(64, 100, 5), (16, 60, 50), (64, 140, 100), (16, 200, 90), (16, 4, 90), (64, 0, 1)];
        for (lanes, depth, share) in tiles {
            let label = |_| {
                // A stored label may be any byte.
                let first = if random(100) < share { FIRST_GRADE } else { 0 };
                first + random(3) as u8
            };
            let labels: Vec<u8> = (0..lanes * depth).map(label).collect();
            let tile = Tile { labels: &labels, lanes, depth };
            let is_judged = |label| CodesAbove::JUDGED.contains(label);
            let grades: Vec<Vec<f64>> = (0..lanes)
                .map(|lane| {
                    let all = tile.lane(lane).filter(|&label| is_judged(label)).count();
                    // Some lanes lack a grade.
                    let known = all.saturating_sub(usize::from(lane % 7 == 3));
                    (0..known).map(|_| random(601) as f64 / 2.0).collect()
                })
                .collect();
            for book in &books {
                let mut expected = labels.clone();
                for (lane, grades) in grades.iter().enumerate() {
                    let judged = (0..depth).filter(|&rank| is_judged(tile.label(lane, rank)));
                    for (rank, &grade) in judged.zip(grades) {
                        expected[tile.position(lane, rank)] = book.class(grade);
                    }
                }
                let mut scratch = vec![9; 7];
                let found = to_class_codes(tile, book, |lane| &grades[lane][..], &mut scratch);
                assert!(
                    found.labels == expected,
                    "{lanes} lanes, depth {depth}, {} codes",
                    book.codes()
                );
                let classes = &book.grades()[1..];
                for level in levels() {
                    let mut left: [&[f64]; LANES] = [&[]; LANES];
                    left.iter_mut().zip(&grades).for_each(|(left, grades)| *left = grades);
                    let mut out = vec![0; labels.len()];
                    dispatch!(level, simd => class_all(simd, tile, classes, &mut left, &mut out));
                    assert!(out == expected, "{level:?}, {lanes} lanes, depth {depth}");
                }
            }
            for strip in 0..lanes / NARROW_LANES {
                for first in (0..depth).step_by(64) {
                    let of_strip = strip * NARROW_LANES..(strip + 1) * NARROW_LANES;
                    let of_lane = |lane| tile.lane(lane).skip(first).take(64).map(is_judged);
                    let documents =
                        of_strip.clone().flat_map(of_lane).filter(|&judged| judged).count();
                    let gaps = of_strip
                        .clone()
                        .any(|lane| !of_lane(lane).is_sorted_by(|one, next| one >= next));
                    kinds[if documents <= few(1) { 0 } else { 1 + usize::from(gaps) }] += 1;
                }
            }
        }
        assert!(kinds.iter().all(|&blocks| blocks > 4), "{kinds:?}");
    }
}
