//! Labels of classes: the stored labels of a tile, which say only that a document is judged, become those of the classes of exact grades.
//!
//! The k-th judged label of a lane belongs to its k-th grade, and labels of four ranks of a lane lie side by side. So four grades are
//! compared with a level at once, and a table moves the answers to those of the four ranks that are judged:
//!
//! ```text
//! ranks judged   · x · x        the next grades   0.3  2.75 | 1.0 …        level 1
//! compared                                         0    1      1  0         only the first two have a rank
//! spread         0 0 0 1        added to labels of the first class
//! ```
//!
//! A loop over single labels ends where no branch predictor expects it: with a twentieth of all documents judged it took twice as long as
//! this, and with half of them four times as long. Where all are judged, little is gained (benches/RESULTS.md).

use fearless_simd::{Level, dispatch, f64x4, prelude::*, u8x64};

use super::code::{Codebook, FIRST_GRADE, NEGATIVE};
use super::tile::{GROUP, LANES, NARROW_LANES, Tile};

/// The number of labels in one SIMD vector.
const VECTOR: usize = GROUP * NARROW_LANES;
/// The bits of the ranks of a group.
const ALL_RANKS: u64 = (1 << GROUP) - 1;

/// Bytes of 1 by the ranks of a group that have a document, as bits, and the answers for these documents, as bits in their order: the k-th
/// answer goes to the k-th of the ranks.
static SPREAD: [[u32; 1 << GROUP]; 1 << GROUP] = spread();

const fn spread() -> [[u32; 1 << GROUP]; 1 << GROUP] {
    let mut table = [[0; 1 << GROUP]; 1 << GROUP];
    let mut at = 0;
    while at < 1 << (2 * GROUP) {
        let (ranks, answers) = (at >> GROUP, at % (1 << GROUP));
        let (mut rank, mut document) = (0, 0);
        while rank < GROUP {
            if ranks >> rank & 1 == 1 {
                table[ranks][answers] |= ((answers >> document & 1) as u32) << (8 * rank);
                document += 1;
            }
            rank += 1;
        }
        at += 1;
    }
    table
}

/// Replaces the labels of the judged documents of a tile by the codes of their classes, in `scratch`; `exact` has the exact grades of each
/// lane's judged documents, in rank order. Where a grade is missing, as it may be in a damaged file, labels stay as they are.
pub fn classed<'a, 'g>(
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
    let mut grades: [&[f64]; LANES] = [&[]; LANES];
    grades[..tile.lanes].iter_mut().enumerate().for_each(|(lane, grades)| *grades = exact(lane));
    scratch.resize(tile.labels.len(), 0);
    dispatch!(Level::new(), simd => class_all(simd, tile, levels, &mut grades, scratch));
    Tile { labels: scratch, ..tile }
}

/// Writes the labels of a tile with classes by `levels` to `out`; `grades` has the grades of each lane.
#[inline(always)]
fn class_all<S: Simd>(simd: S, tile: Tile<'_>, levels: &[f64], grades: &mut [&[f64]; LANES], out: &mut [u8]) {
    let (unjudged, strips) = (u8x64::splat(simd, NEGATIVE), tile.lanes / NARROW_LANES);
    let vectors = tile.labels.chunks_exact(VECTOR).zip(out.chunks_exact_mut(VECTOR));
    for (at, (labels, out)) in vectors.enumerate() {
        let labels = u8x64::from_slice(simd, labels);
        labels.store_slice(out);
        let (groups, _) = out.as_chunks_mut::<GROUP>();
        let grades = &mut grades[at % strips * NARROW_LANES..][..NARROW_LANES];
        let mut judged = labels.simd_gt(unjudged).to_bitmask();
        while judged != 0 {
            // The remainder changes nothing, and spares the check of the bound.
            let lane = judged.trailing_zeros() as usize / GROUP % NARROW_LANES;
            let ranks = judged >> (GROUP * lane) & ALL_RANKS;
            judged &= !(ALL_RANKS << (GROUP * lane));
            class_group(simd, &mut groups[lane], ranks as usize, levels, &mut grades[lane]);
        }
    }
}

/// Replaces the labels of a group at the ranks, given as bits, that have a judged document, by the codes of the next grades.
#[inline(always)]
fn class_group<S: Simd>(
    simd: S,
    group: &mut [u8; GROUP],
    mut ranks: usize,
    levels: &[f64],
    grades: &mut &[f64],
) {
    let next = match grades.first_chunk::<GROUP>() {
        Some(next) => *next,
        None => last_grades(grades, &mut ranks),
    };
    let next = f64x4::simd_from(simd, next);
    let spread = &SPREAD[ranks % SPREAD.len()];
    let judged = spread[ALL_RANKS as usize];
    // Invariant: no byte overflows, as a codebook has at most 253 classes.
    let mut classes = u32::from(FIRST_GRADE) * judged;
    for &level in levels {
        let reached = next.simd_ge(f64x4::splat(simd, level)).to_bitmask() as usize;
        classes += spread[reached % spread.len()];
    }
    let labels = u32::from_le_bytes(*group) & !(u32::from(u8::MAX) * judged);
    *group = (labels | classes).to_le_bytes();
    *grades = &grades[judged.count_ones() as usize..];
}

/// Fills the last grades of a lane up to a group. Ranks for which no grade is left are dropped.
#[cold]
fn last_grades(grades: &[f64], ranks: &mut usize) -> [f64; GROUP] {
    let mut all = [0.0; GROUP];
    all[..grades.len()].copy_from_slice(grades);
    while ranks.count_ones() as usize > grades.len() {
        *ranks &= !(1 << ranks.ilog2());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Above;

    #[test]
    fn labels_of_judged_documents_become_those_of_their_classes() {
        let mut labels = vec![0; 16 * 8];
        let ranking = [1, 3, 2, 3, 1, 1, 3, 3];
        for (rank, label) in ranking.into_iter().enumerate() {
            labels[super::super::tile::position(16, 5, rank)] = label;
        }
        let tile = Tile { labels: &labels, lanes: 16, depth: 8 };
        let book = Codebook::new((0..254).map(f64::from)).unwrap().at_levels([1.0, 7.5]).unwrap();
        let of_lane = |lane: usize| if lane == 5 { &[8.0, 0.5, 7.0][..] } else { &[] };
        let mut scratch = Vec::new();
        let classed = classed(tile, &book, of_lane, &mut scratch);
        // A grade is missing, as it may be in a damaged file.
        assert_eq!(classed.lane(5).collect::<Vec<_>>(), [1, 5, 2, 3, 1, 1, 4, 3]);
        assert!(classed.lane(4).all(|label| label == 0));
    }

    /// Labels of random tiles, from few judged documents to all, are the classes of their grades at every level of SIMD, with two classes
    /// and with as many as there can be.
    #[test]
    fn classes_are_those_of_each_grade() {
        let mut state = 11u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let book = Codebook::new((0..300).map(f64::from)).unwrap();
        let many = (0..252).map(|level| f64::from(level) + 0.5);
        let books = [book.at_levels([7.0]).unwrap(), book.at_levels(many).unwrap()];
        let mut judged = [0; 16];
        for (lanes, depth, share) in [(64, 100, 5), (16, 60, 50), (64, 40, 100), (16, 4, 90), (64, 0, 1)] {
            let label = |random: &mut dyn FnMut(u64) -> u64| match random(100) < share {
                true => FIRST_GRADE,
                false => random(3) as u8,
            };
            let labels: Vec<u8> = (0..lanes * depth).map(|_| label(&mut random)).collect();
            let tile = Tile { labels: &labels, lanes, depth };
            let is_judged = |&label: &u8| Above::JUDGED.contains(label);
            let grades: Vec<Vec<f64>> = (0..lanes)
                .map(|lane| {
                    let all = tile.lane(lane).filter(|label| is_judged(label)).count();
                    // Some lanes lack a grade.
                    let known = all.saturating_sub(usize::from(lane % 7 == 3));
                    (0..known).map(|_| random(601) as f64 / 2.0).collect()
                })
                .collect();
            for book in &books {
                let mut known: Vec<_> = grades.iter().map(|grades| grades.iter()).collect();
                let mut expected = labels.clone();
                for (rank, lane) in (0..depth).flat_map(|rank| (0..lanes).map(move |lane| (rank, lane))) {
                    let label = &mut expected[tile.position(lane, rank)];
                    if is_judged(label)
                        && let Some(&grade) = known[lane].next()
                    {
                        *label = book.class(grade);
                    }
                }
                let mut scratch = vec![9; 7];
                let found = classed(tile, book, |lane| &grades[lane][..], &mut scratch);
                assert!(found.labels == expected, "{lanes} lanes, depth {depth}, {} codes", book.codes());
                let classes = &book.grades()[1..];
                for level in laneval::parts::engine::cpu::Cpu::levels().into_iter().map(|cpu| cpu.level()) {
                    let mut left: [&[f64]; LANES] = [&[]; LANES];
                    left.iter_mut().zip(&grades).for_each(|(left, grades)| *left = grades);
                    let mut out = vec![0; labels.len()];
                    dispatch!(level, simd => class_all(simd, tile, classes, &mut left, &mut out));
                    assert!(out == expected, "{level:?}, {lanes} lanes, depth {depth}");
                }
            }
            for quad in labels.as_chunks::<GROUP>().0 {
                let bits = quad.iter().fold(0, |bits, label| 2 * bits + usize::from(is_judged(label)));
                judged[bits] += 1;
            }
        }
        assert!(judged.iter().all(|&groups| groups > 10), "{judged:?}");
    }
}
