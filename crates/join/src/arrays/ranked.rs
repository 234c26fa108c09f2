//! Ranking by score of documents in arrays: the labels of the documents with the best scores, the
//! best first.
//!
//! If only a few ranks are asked for, nothing is sorted. The best scores of 16 lanes give a bound
//! on the wanted scores. The few scores within the bound are ranked by counting: the rank of a
//! score is the number of scores that are not lower. Several rows take each step together, because
//! a row can go on while the next row waits for its numbers.
//!
//! ```text
//! keys        k0 k1 … k15 │ k16 k17 … k31 │ …   a smaller key is a larger score
//! lane 0      k0, k16, k32 …   its least: m0    sixteen lanes, so sixteen least keys m0 … m15,
//!                                               found while keys are made
//! bound       the least of them that `best` of them do not exceed
//! within      a bit for each key ≤ bound        64 keys a word
//! ```
//!
//! Why nothing is missed: `best` lanes have a key within the bound, so at least `best` keys are
//! within the bound. These keys include each of the `best` smallest keys, equal keys included. Why
//! few are within: for the best ten random scores about fourteen keys are within, and more than 32
//! keys in less than a row of a thousand. A row with more than 32 keys within is sorted. Many equal
//! scores cause this, and so do fifteen wanted ranks of 64 scores and more, in a fifth to two
//! thirds of the rows.
//!
//! Why ranks by counting: 16 keys against 16 are 16 comparisons of one vector, without a branch
//! that scores could mispredict. The rank of a key is the number of keys that do not exceed it. Two
//! equal keys both get the rank of the later key, and the sum of all ranks is too large. Only then
//! are the keys counted again, with their places.
//!
//! Where equal scores decide: [`decides`] examines only rows with equal scores. Too large a sum of
//! ranks, or equal neighbours in a sorted row, reveals equal scores without further cost.
//!
//! The best ten of 100 scores in a cache are found and ordered in 58 to 65 ns. nDCG@10 takes 200 ns
//! a row, and took 361 ns before this method; NumPy takes 663 ns to find the best ten
//! (benches/RESULTS.md).

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use super::numbers::{ArrayNumber, Key, LANES, TOGETHER};
use crate::bytes::aligned::AlignedBytes;
use crate::matrix::Block;

/// The most scores within the bound that are ranked without sorting.
const MOST: usize = 2 * LANES;
/// The room for the scores within the bound, and for labels written behind the scores.
const ROOM: usize = 2 * MOST;
/// The number of scores within the bound that are listed at a time. How many there are cannot be
/// predicted by a branch predictor.
const AT_A_TIME: usize = 4;
/// The most rows that take a step together.
const ROWS: usize = 16;
/// The most scores of several rows that take a step together, in units of [`TOGETHER`].
const WORDS: usize = 64;

/// Buffers for ranking documents by score, reused from row to row, for score keys of one type.
pub(super) struct RankScratch<K: Key> {
    level: Level,
    /// The keys of some rows, each from the start of a line on.
    keys: Vec<AlignedBytes>,
    /// Marks of the keys that are within the bound of their row, with one bit each.
    within: Vec<u64>,
    rows: Vec<TopKRow<K>>,
    placed: Vec<K::Placed>,
}

/// A row of scores in the search for its best: the score keys within a bound, with their labels and
/// ranks.
#[derive(Clone)]
#[repr(align(64))]
struct TopKRow<K: Key> {
    /// The number of scores.
    scores: usize,
    /// The places of its keys, in units of [`TOGETHER`].
    words: Range<usize>,
    /// The number of best scores that are wanted.
    best: usize,
    /// The number of keys within the bound; `None` if they are too many, or if sorting all is
    /// better.
    count: Option<usize>,
    /// The keys within the bound, in the order of their documents.
    keys: [K; ROOM],
    labels: [u8; ROOM],
    /// The ranks of `keys`, from 1.
    ranks: [u32; MOST],
    /// Whether two of `keys` are equal.
    tied: bool,
    /// The labels in the order of their ranks.
    ranked: [u8; MOST],
}

impl<K: Key> Default for RankScratch<K> {
    fn default() -> Self {
        let row = TopKRow {
            scores: 0,
            words: 0..0,
            best: 0,
            count: None,
            keys: [K::LAST; ROOM],
            labels: [0; ROOM],
            ranks: [0; MOST],
            tied: false,
            ranked: [0; MOST],
        };
        Self {
            level: Level::new(),
            keys: Vec::new(),
            within: Vec::new(),
            rows: vec![row; ROWS],
            placed: Vec::new(),
        }
    }
}

impl<K: Key> RankScratch<K> {
    /// Appends to `block` a ranking for each row of `unranked`: its labels in the order of its
    /// scores. The ranking has the labels of the documents with the largest scores, `reach` at
    /// most, the largest first; of equal scores the earlier. Labels up to `nothing` are of
    /// documents that are not relevant. Returns the number of rows that equal scores decide (see
    /// [`decides`]).
    ///
    /// # Errors
    /// The row and the place in it of the first score that is not a number.
    pub fn rank<N: ArrayNumber<Key = K>>(
        &mut self,
        scores: &[N],
        of_row: impl Fn(usize) -> Range<usize>,
        unranked: &Block,
        reach: usize,
        nothing: u8,
        block: &mut Block,
    ) -> Result<u64, (usize, usize)> {
        let (mut first, mut decided) = (0, 0);
        while first < unranked.rows() {
            let rows = first..unranked.rows().min(first + ROWS);
            let taken = self.take(rows.map(|row| (row, &scores[of_row(row)])), reach)?;
            let rows = first..first + taken;
            self.find(unranked, rows.clone());
            for (row, at) in rows.zip(0..) {
                decided += u64::from(self.write(at, unranked.labels(row), nothing, block));
            }
            first += taken;
        }
        Ok(decided)
    }

    /// Reads the score keys of the first of some rows, as many as fit, and returns the number of
    /// rows read.
    fn take<'a, N: ArrayNumber<Key = K>>(
        &mut self,
        rows: impl Iterator<Item = (usize, &'a [N])>,
        reach: usize,
    ) -> Result<usize, (usize, usize)> {
        let (mut taken, mut start) = (0, 0);
        for ((at, scores), row) in rows.zip(&mut self.rows) {
            let end = start + scores.len().div_ceil(TOGETHER);
            if taken > 0 && end > WORDS {
                break;
            }
            if self.within.len() < end {
                self.within.resize(end, 0);
                self.keys.resize(
                    end * TOGETHER * size_of::<K>() / size_of::<AlignedBytes>(),
                    bytemuck::Zeroable::zeroed(),
                );
            }
            let keys =
                &mut bytemuck::cast_slice_mut(&mut self.keys)[start * TOGETHER..end * TOGETHER];
            let within = &mut self.within[start..end];
            let best = scores.len().min(reach);
            let Some(count) = dispatch!(self.level, simd => read(simd, scores, keys, best, within))
            else {
                return Err((
                    at,
                    scores.iter().position(|score| score.is_nan()).unwrap_or_default(),
                ));
            };
            (row.scores, row.words, row.best, row.count) = (scores.len(), start..end, best, count);
            (taken, start) = (taken + 1, end);
        }
        Ok(taken)
    }

    /// Finds and ranks the best scores of the rows that were read, where few scores are within the
    /// bound.
    fn find(&mut self, unranked: &Block, rows: Range<usize>) {
        let Self { level, keys, within, rows: taken, .. } = self;
        let keys: &[K] = bytemuck::cast_slice(keys);
        dispatch!(*level, simd => {
            find(simd, keys.as_chunks().0, within, &mut taken[..rows.len()], unranked, rows)
        });
    }

    /// Appends the ranking of a row that was read to a block, and returns whether equal scores
    /// decide the ranking.
    #[inline]
    fn write(&mut self, at: usize, labels: &[u8], nothing: u8, block: &mut Block) -> bool {
        let row = &self.rows[at];
        let TopKRow { scores, words, best, count, ranked, .. } = row;
        let room = block.room(*best);
        let all: &[K] = &bytemuck::cast_slice(&self.keys)[words.start * TOGETHER..][..*scores];
        // At most 15 labels: one store of 16 bytes writes the labels, and behind the labels zeros,
        // the padding of a row.
        let last = if let (Some(found), Some(line)) = (count, room.first_chunk_mut()) {
            let first = ranked.first_chunk().copied().unwrap_or_default();
            *line = (u128::from_le_bytes(first) & u128::MAX >> (128 - 8 * best)).to_le_bytes();
            let written = row.keys[..*found].iter().zip(&row.ranks);
            let written = written.filter(|(_, rank)| **rank as usize <= *best).map(|(&key, _)| key);
            // The last key is looked for only where equal scores may decide.
            if row.tied { written.max() } else { None }
        } else {
            let (tied, last) = sort(self.level, all, &mut self.placed, labels, &mut room[..*best]);
            last.filter(|_| tied)
        };
        block.push_labels(*best);
        last.is_some_and(|last| {
            decides(all, &|at: usize| labels[at].max(nothing), nothing, *best, last)
        })
    }
}

/// Returns whether the order of equal scores changes the labels or grades (worth) that a measure
/// sees. First case: the first document with a worth other than `nothing` is tied with a document
/// of different worth. Second case: documents of different worth are tied with the last kept
/// document, and not all tied documents are kept. `keys` covers all documents of a row; the best
/// `best` documents are kept, down to the key `last`.
#[cold]
#[inline(never)]
pub(super) fn decides<K: Ord + Copy, W: PartialEq + Copy>(
    keys: &[K],
    worth: &impl Fn(usize) -> W,
    nothing: W,
    best: usize,
    last: K,
) -> bool {
    let first = (0..keys.len()).filter(|&at| worth(at) != nothing).map(|at| keys[at]).min();
    first.is_some_and(|first| first <= last && is_mixed(keys, worth, first))
        || keys.iter().filter(|&&key| key <= last).count() > best && is_mixed(keys, worth, last)
}

/// Returns whether the documents with a given score key differ in worth (label or grade).
fn is_mixed<K: PartialEq, W: PartialEq>(keys: &[K], worth: &impl Fn(usize) -> W, key: K) -> bool {
    let mut equal = (0..keys.len()).filter(|&at| keys[at] == key).map(worth);
    let one = equal.next();
    equal.any(|other| Some(other) != one)
}

/// Reads the keys of a row's scores, marks the keys within a bound of the best, and returns the
/// number of marked keys. The inner `None` means that the bound would keep too many keys, and the
/// outer `None` that a score is NaN.
#[inline(always)]
#[expect(clippy::option_option, reason = "the one is an error, and the other is not")]
fn read<S: Simd, N: ArrayNumber>(
    simd: S,
    scores: &[N],
    keys: &mut [N::Key],
    best: usize,
    within: &mut [u64],
) -> Option<Option<usize>> {
    let least = N::read(simd, scores, keys)?;
    // With sixteen wanted scores the bound would be the largest of all lanes. With fewer than 32
    // scores, nearly all would be within the bound.
    if !(1..LANES).contains(&best) || scores.len() < MOST {
        return Some(None);
    }
    let bound = N::Key::bound(simd, &least, best);
    for (within, keys) in within.iter_mut().zip(keys.as_chunks().0) {
        *within = N::Key::within(simd, keys, bound);
    }
    if let Some(last) = within.last_mut() {
        // Keys behind the scores are those of another row.
        *last &= u64::MAX >> (keys.len() - scores.len());
    }
    let count = within.iter().map(|bits| bits.count_ones() as usize).sum();
    Some((count <= MOST).then_some(count))
}

/// Finds and ranks the best scores of several rows, each step for all rows together.
#[inline(always)]
fn find<S: Simd, K: Key>(
    simd: S,
    keys: &[[K; TOGETHER]],
    within: &[u64],
    rows: &mut [TopKRow<K>],
    unranked: &Block,
    range: Range<usize>,
) {
    for (row, at) in rows.iter_mut().zip(range) {
        if row.count.is_some() {
            row.list(&keys[row.words.clone()], &within[row.words.clone()], unranked.lines(at));
        }
    }
    for row in &mut *rows {
        match row.count {
            None => {}
            Some(..=LANES) => row.order::<S, LANES>(simd),
            Some(_) => row.order::<S, MOST>(simd),
        }
    }
    for row in rows {
        for at in 0..row.count.unwrap_or(0) {
            // The remainder changes nothing, and spares a check of the index.
            row.ranked[row.ranks[at].wrapping_sub(1) as usize % MOST] = row.labels[at];
        }
    }
}

impl<K: Key> TopKRow<K> {
    /// Lists a row's score keys within the bound, with the labels of their documents.
    #[inline(always)]
    fn list(&mut self, keys: &[[K; TOGETHER]], within: &[u64], labels: &[[u8; TOGETHER]]) {
        let mut count = 0;
        for ((keys, &within), labels) in keys.iter().zip(within).zip(labels) {
            let (mut next, mut bits) = (count, within);
            count += within.count_ones() as usize;
            while next < count {
                // Four at a time, whether there are as many or not: what is written too much is
                // overwritten by the next, or by the padding below.
                for _ in 0..AT_A_TIME {
                    let at = bits.trailing_zeros() as usize % TOGETHER;
                    (self.keys[next % ROOM], self.labels[next % ROOM]) = (keys[at], labels[at]);
                    bits &= bits.wrapping_sub(1);
                    next += 1;
                }
            }
        }
        // Invariant: `order` reads 16 keys if `count` is at most 16, and else 32, so sixteen
        // paddings fill up either.
        for at in count..count + LANES {
            self.keys[at % ROOM] = K::LAST;
        }
    }

    /// Computes the ranks of a row's score keys within the bound, of which there are up to `N`.
    #[inline(always)]
    fn order<S: Simd, const N: usize>(&mut self, simd: S) {
        let (Some(count), Some(keys), Some(ranks)) =
            (self.count, self.keys.first_chunk::<N>(), self.ranks.first_chunk_mut::<N>())
        else {
            return;
        };
        K::ranks::<S, N, false>(simd, keys, ranks);
        // 1 + 2 + … for the keys, and N for each padding, which no key exceeds.
        let distinct = count * (count + 1) / 2 + (N - count) * N;
        self.tied = ranks.iter().sum::<u32>() as usize != distinct;
        if self.tied {
            K::ranks::<S, N, true>(simd, keys, ranks);
        }
    }
}

/// Writes the labels of the documents with the best scores, by sorting all score keys. Returns
/// whether a kept key equals any further key, and the largest kept key.
fn sort<K: Key>(
    level: Level,
    keys: &[K],
    placed: &mut Vec<K::Placed>,
    labels: &[u8],
    ranked: &mut [u8],
) -> (bool, Option<K>) {
    placed.clear();
    placed.extend(keys.iter().zip(0..).map(|(key, at)| key.placed(at)));
    // Places differ, so no two entries are equal and an unstable sort has a single answer: the
    // earlier of equal scores comes first.
    if (1..placed.len() / 2).contains(&ranked.len()) {
        placed.select_nth_unstable(ranked.len() - 1);
        placed.truncate(ranked.len());
    }
    placed.sort_unstable();
    let top = &placed[..ranked.len()];
    let last = top.last().map(|&placed| keys[K::place(placed)]);
    let are_equal = dispatch!(level, _simd => neighbours_are_equal::<K>(top));
    // A key that was cut off may equal the last kept key, and is no neighbour in `top`.
    let tied = are_equal
        || top.len() < keys.len()
            && last.is_some_and(|last| keys.iter().filter(|&&key| key <= last).count() > top.len());
    ranked.iter_mut().zip(top).for_each(|(label, &placed)| *label = labels[K::place(placed)]);
    (tied, last)
}

/// Returns whether two adjacent entries of sorted score keys are equal apart from their places. All
/// pairs are compared without a branch, because hardly any row has equal neighbours, and so the
/// loop becomes vectors.
#[inline(always)]
fn neighbours_are_equal<K: Key>(placed: &[K::Placed]) -> bool {
    let pairs = placed.iter().zip(placed.get(1..).unwrap_or_default());
    pairs.fold(false, |equal, (&one, &other)| equal | K::are_equal(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{levels, random};

    /// Returns rows of numbers, each converted.
    fn each<A: Copy, B>(rows: &[Vec<A>], convert: fn(A) -> B) -> Vec<Vec<B>> {
        rows.iter().map(|row| row.iter().copied().map(convert).collect()).collect()
    }

    /// Returns the labels of all scores, by sorting.
    fn sorted(scores: &[f32]) -> Vec<u8> {
        let mut places: Vec<u8> = (0..scores.len() as u8).collect();
        places.sort_by(|&one, &other| {
            scores[usize::from(other)].partial_cmp(&scores[usize::from(one)]).unwrap()
        });
        places
    }

    /// Returns the labels of the best of some rows, where a document's label is its place.
    fn ranked<N: ArrayNumber>(
        rows: &[Vec<N>],
        reach: usize,
        level: Level,
    ) -> Result<Vec<Vec<u8>>, (usize, usize)> {
        let (mut unranked, mut block) = (Block::default(), Block::default());
        let mut starts = vec![0];
        for row in rows {
            unranked
                .room(row.len())
                .iter_mut()
                .zip(0..)
                .take(row.len())
                .for_each(|(label, place)| *label = place);
            unranked.push_labels(row.len());
            starts.push(starts[starts.len() - 1] + row.len());
        }
        let mut ranked = RankScratch { level, ..RankScratch::default() };
        ranked.rank(
            &rows.concat(),
            |row| starts[row]..starts[row + 1],
            &unranked,
            reach,
            0,
            &mut block,
        )?;
        Ok((0..rows.len()).map(|row| block.labels(row).to_vec()).collect())
    }

    #[test]
    fn the_best_are_those_that_sorting_puts_first() {
        let mut random = random(7);
        let mut next = || random() >> 7;
        let mut rows: Vec<Vec<f32>> = Vec::new();
        for round in 0..1500 {
            let (count, values) =
                (next() as usize % 200, 1 + next() % if round % 2 == 0 { 60 } else { 1 << 20 });
            let mut scores: Vec<f32> =
                (0..count).map(|_| (next() % values) as f32 - 20.0).collect();
            if round % 3 == 0 && count > 2 {
                (scores[0], scores[count / 2], scores[count - 1]) =
                    (f32::INFINITY, f32::NEG_INFINITY, -0.0);
            }
            rows.push(scores);
        }
        // An infinite score becomes the largest or the smallest integer.
        let (wide, whole) = (each(&rows, f64::from), each(&rows, |score| score as i64));
        let bytes = each(&rows, |score| score as u8);
        let of_bytes = each(&bytes, f32::from);
        for level in levels() {
            for reach in [0, 1, 3, 10, 15, 16, 60, usize::MAX] {
                let first = |rows: &[Vec<f32>]| -> Vec<Vec<u8>> {
                    rows.iter().map(|row| sorted(row).into_iter().take(reach).collect()).collect()
                };
                let expected = first(&rows);
                assert_eq!(ranked(&rows, reach, level).unwrap(), expected);
                assert_eq!(ranked(&wide, reach, level).unwrap(), expected);
                assert_eq!(ranked(&whole, reach, level).unwrap(), expected);
                assert_eq!(ranked(&bytes, reach, level).unwrap(), first(&of_bytes));
            }
        }
    }

    #[test]
    fn rows_that_equal_scores_decide_are_counted() {
        // By every order of equal scores: whether the first relevant document, or those that are
        // kept, may be others.
        let decided = |scores: &[f32], labels: &[u8], reach: usize| {
            let best = reach.min(scores.len());
            let mut sorted: Vec<usize> = (0..scores.len()).collect();
            sorted.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]));
            let mut seen: Vec<(Option<usize>, Vec<u8>)> = Vec::new();
            for first in [true, false] {
                let mut order = sorted.clone();
                for equal in order.chunk_by_mut(|&one, &other| scores[one] == scores[other]) {
                    equal.sort_by_key(|&at| if first { u8::MAX - labels[at] } else { labels[at] });
                }
                let relevant = order.iter().position(|&at| labels[at] > 2);
                let mut top_labels: Vec<u8> = order[..best].iter().map(|&at| labels[at]).collect();
                top_labels.sort_unstable();
                // With several grades the first may change its grade in its place.
                let grade = relevant.map_or(0, |at| labels[order[at]]);
                top_labels.push(if relevant.is_some_and(|at| at < best) { grade } else { 0 });
                seen.push((relevant.filter(|&at| at < best), top_labels));
            }
            seen[0] != seen[1]
        };
        let mut random = random(11);
        let mut next = || random() >> 7;
        let mut counted = [0; 2];
        for round in 0..4000 {
            let count = 1 + next() as usize % 120;
            let values = [2, 8, 200, 1 << 20][round % 4];
            let scores: Vec<f32> = (0..count).map(|_| (next() % values) as f32).collect();
            let labels: Vec<u8> = (0..count)
                .map(|_| if next() % 8 == 0 { 3 + (next() % 2) as u8 } else { 2 })
                .collect();
            let mut unranked = Block::default();
            unranked.room(count)[..count].copy_from_slice(&labels);
            unranked.push_labels(count);
            for reach in [1, 3, 10, 15, 40, usize::MAX] {
                let mut block = Block::default();
                let found = RankScratch::default().rank(
                    &scores,
                    |_| 0..count,
                    &unranked,
                    reach,
                    2,
                    &mut block,
                );
                let expected = decided(&scores, &labels, reach);
                assert_eq!(found, Ok(u64::from(expected)), "{scores:?} {labels:?} {reach}");
                counted[usize::from(expected)] += 1;
            }
        }
        assert!(counted.iter().all(|&count| count > 4000), "{counted:?}");
    }

    #[test]
    fn what_is_not_a_number_is_found() {
        for (length, place) in [(50, 33), (50, 49), (16, 3), (5, 4), (100, 0), (64, 63)] {
            for nan in
                [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xff80_0001)]
            {
                let mut rows = vec![vec![1.0f32; length]; 20];
                rows[7][place] = nan;
                assert_eq!(ranked(&rows, 10, Level::new()), Err((7, place)));
                assert_eq!(ranked(&each(&rows, f64::from), 10, Level::new()), Err((7, place)));
            }
        }
    }
}
