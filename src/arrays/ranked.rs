//! From scores to ranks: the labels of the documents with the best scores, in their order.
//!
//! Where only a few ranks are asked for, nothing is sorted and next to nothing branches: the best score of each of 16 lanes bounds the
//! scores that can be among them, and of the few within that bound each is ranked by how many others come before it.

use fearless_simd::{Level, dispatch, prelude::*};

use super::numbers::{Key, Number};

/// Lanes among which the best score of each bounds the best of all from below.
const LANES: usize = 16;
/// Keys that are compared with the bound together.
const TOGETHER: usize = 64;
/// The most scores within the bound that are compared with each other.
const MOST: usize = 2 * LANES;

/// What is used again from row to row, for scores with keys of one type.
#[derive(Debug)]
pub(super) struct Ranked<K: Key> {
    level: Level,
    keys: Vec<K>,
    placed: Vec<K::Placed>,
}

impl<K: Key> Default for Ranked<K> {
    fn default() -> Self {
        Ranked { level: Level::new(), keys: Vec::new(), placed: Vec::new() }
    }
}

impl<K: Key> Ranked<K> {
    /// Writes the labels of the documents with the largest scores, the largest first; of equal ones the earlier. There are at least as many
    /// scores as labels are written.
    ///
    /// # Errors
    /// The place of the first that is not a number.
    pub fn rank<N: Number<Key = K>>(
        &mut self,
        scores: &[N],
        labels: &[u8],
        ranked: &mut [u8],
    ) -> Result<(), usize> {
        let Ranked { level, keys, placed } = self;
        keys.resize(scores.len().next_multiple_of(TOGETHER), K::LAST);
        let Some(least) = dispatch!(*level, simd => read(simd, scores, keys)) else {
            return Err(scores.iter().position(|score| score.is_nan()).unwrap_or_default());
        };
        let few = (1..LANES).contains(&ranked.len()) && scores.len() >= MOST;
        if few && dispatch!(*level, simd => rank_few(simd, keys, least, labels, ranked)) {
            return Ok(());
        }
        placed.clear();
        placed.extend(keys[..scores.len()].iter().zip(0..).map(|(key, at)| key.placed(at)));
        if (1..placed.len() / 2).contains(&ranked.len()) {
            placed.select_nth_unstable(ranked.len() - 1);
            placed.truncate(ranked.len());
        }
        placed.sort_unstable();
        ranked.iter_mut().zip(placed).for_each(|(label, &mut placed)| *label = labels[K::place(placed)]);
        Ok(())
    }
}

/// Reads keys, and finds the smallest of each lane, side by side, of all that fill the lanes; `None` where a score is not a number.
#[inline(always)]
fn read<S: Simd, N: Number>(_: S, scores: &[N], keys: &mut [N::Key]) -> Option<[N::Key; LANES]> {
    let (mut least, mut wrong) = ([N::Key::LAST; LANES], [0; LANES]);
    let (keys, after) = keys.split_at_mut(scores.len());
    for (scores, keys) in scores.as_chunks::<LANES>().0.iter().zip(keys.as_chunks_mut::<LANES>().0) {
        read_lanes(scores, keys, &mut wrong);
        for (least, &mut key) in least.iter_mut().zip(keys) {
            *least = key.min(*least);
        }
    }
    // The last whole lanes overlap those before them, so that what is read there is in no lane.
    match (scores.last_chunk::<LANES>(), keys.last_chunk_mut::<LANES>()) {
        (Some(scores), Some(keys)) => read_lanes(scores, keys, &mut wrong),
        _ => read_lanes(scores, keys, &mut wrong),
    }
    after.fill(N::Key::LAST);
    (wrong == [0; LANES]).then_some(least)
}

/// Reads up to as many keys as there are lanes, and notes which scores are not numbers.
#[inline(always)]
fn read_lanes<N: Number>(scores: &[N], keys: &mut [N::Key], wrong: &mut [u32; LANES]) {
    for ((score, key), wrong) in scores.iter().zip(keys).zip(wrong) {
        *key = score.key();
        *wrong |= u32::from(score.is_nan());
    }
}

/// Ranks the keys up to a bound of them; false, and nothing is written, where too many are.
#[inline(always)]
fn rank_few<S: Simd, K: Key>(
    simd: S,
    keys: &[K],
    least: [K; LANES],
    labels: &[u8],
    ranked: &mut [u8],
) -> bool {
    // At least as many keys as are wanted do not exceed it.
    let bound = least.iter().zip(ranks(&least, LANES)).find(|&(_, rank)| rank as usize + 1 == ranked.len());
    let Some((&bound, _)) = bound else { return false };
    let (mut within, mut places, mut count) = ([K::LAST; MOST], [0; MOST], 0);
    for (keys, first) in keys.as_chunks::<TOGETHER>().0.iter().zip((0..).step_by(TOGETHER)) {
        let mut bits = K::within(simd, keys, bound);
        if count + bits.count_ones() as usize > MOST {
            return false;
        }
        while bits != 0 {
            let at = bits.trailing_zeros() as usize;
            (within[count], places[count]) = (keys[at], first + at);
            count += 1;
            bits &= bits - 1;
        }
    }
    let mut in_order = [0; MOST];
    let mut rank_of = [0; MOST];
    match within.first_chunk::<LANES>() {
        Some(within) if count <= LANES => rank_of[..LANES].copy_from_slice(&ranks(within, count)),
        _ => rank_of = ranks(&within, count),
    }
    for (&rank, &place) in rank_of.iter().zip(&places[..count]) {
        in_order[rank as usize % MOST] = labels[place];
    }
    ranked.copy_from_slice(&in_order[..ranked.len()]);
    true
}

/// The rank of each key, from 0, among the first `count` of them; of equal ones the earlier comes first.
#[inline(always)]
fn ranks<K: Key, const N: usize>(keys: &[K; N], count: usize) -> [u32; N] {
    let mut ranks = [0; N];
    for (before, other) in keys[..count].iter().enumerate() {
        for (at, (rank, key)) in ranks.iter_mut().zip(keys).enumerate() {
            *rank += u32::from((other < key) | (other == key) & (before < at));
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By sorting all of them.
    fn sorted(scores: &[f32]) -> Vec<u8> {
        let mut places: Vec<u8> = (0..scores.len() as u8).collect();
        places.sort_by(|&one, &other| {
            scores[usize::from(other)].partial_cmp(&scores[usize::from(one)]).unwrap()
        });
        places
    }

    #[test]
    fn the_best_are_those_that_sorting_puts_first() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 40
        };
        for round in 0..3000 {
            let (count, values) = (next() as usize % 200, 1 + next() % 60);
            let mut scores: Vec<f32> = (0..count).map(|_| (next() % values) as f32 - 20.0).collect();
            if round % 3 == 0 && count > 2 {
                (scores[0], scores[count / 2], scores[count - 1]) = (f32::INFINITY, f32::NEG_INFINITY, -0.0);
            }
            let wide: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
            let (expected, labels) = (sorted(&scores), Vec::from_iter(0..=255));
            let (mut narrow, mut all) = (Ranked::default(), Ranked::default());
            for wanted in [0, 1, 3, 10, 15, 16, 60, count].map(|wanted| wanted.min(count)) {
                let mut ranked = [vec![0; wanted], vec![0; wanted]];
                narrow.rank(&scores, &labels, &mut ranked[0]).unwrap();
                all.rank(&wide, &labels, &mut ranked[1]).unwrap();
                assert_eq!(ranked, [&expected[..wanted]; 2], "{scores:?}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_found() {
        let mut scores = vec![1.0f32; 50];
        scores[33] = f32::NAN;
        assert_eq!(Ranked::default().rank(&scores, &[0; 50], &mut [0; 10]), Err(33));
    }
}
