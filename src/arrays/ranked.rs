//! From scores to ranks: the places of the best scores, in their order.

use fearless_simd::{Level, dispatch, prelude::*};

use super::numbers::{Key, Number};

/// Lanes among which the best score of each bounds the best of all from below.
const LANES: usize = 16;
/// Fewest scores among which the best few are looked for by a bound.
const MANY: usize = 32;

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
    /// The places of the `wanted` largest of some scores, the largest first; of equal ones the earlier.
    ///
    /// # Errors
    /// The place of the first that is not a number.
    pub fn best<N: Number<Key = K>>(
        &mut self,
        scores: &[N],
        wanted: usize,
    ) -> Result<impl Iterator<Item = usize> + use<'_, N, K>, usize> {
        let Ranked { level, keys, placed } = self;
        keys.resize(scores.len(), K::LAST);
        if !dispatch!(*level, simd => read(simd, scores, keys)) {
            return Err(scores.iter().position(|score| score.is_nan()).unwrap_or_default());
        }
        if wanted < LANES && scores.len() >= MANY {
            let bound = dispatch!(*level, simd => bound(simd, keys, wanted));
            collect(keys, bound, placed);
        } else {
            placed.clear();
            placed.extend(keys.iter().zip(0..).map(|(key, at)| key.placed(at)));
            if wanted < placed.len() / 2 && wanted > 0 {
                placed.select_nth_unstable(wanted - 1);
                placed.truncate(wanted);
            }
        }
        placed.sort_unstable();
        Ok(placed.iter().take(wanted).map(|&placed| K::place(placed)))
    }
}

/// Reads keys; false where a score is not a number.
#[inline(always)]
fn read<S: Simd, N: Number>(_: S, scores: &[N], keys: &mut [N::Key]) -> bool {
    let mut numbers = true;
    for (score, key) in scores.iter().zip(keys) {
        *key = score.key();
        numbers &= !score.is_nan();
    }
    numbers
}

/// A key that at least `wanted` keys do not exceed: one of the smallest keys of some lanes, side by side.
#[inline(always)]
fn bound<S: Simd, K: Key>(_: S, keys: &[K], wanted: usize) -> K {
    let mut least = [K::LAST; LANES];
    let (rows, rest) = keys.as_chunks::<LANES>();
    for row in rows {
        for (least, &key) in least.iter_mut().zip(row) {
            *least = key.min(*least);
        }
    }
    for (least, &key) in least.iter_mut().zip(rest) {
        *least = key.min(*least);
    }
    least.sort_unstable();
    least[wanted.saturating_sub(1)]
}

/// The keys up to a bound, with their places.
fn collect<K: Key>(keys: &[K], bound: K, placed: &mut Vec<K::Placed>) {
    placed.resize(keys.len().max(placed.len()), K::Placed::default());
    let mut count = 0;
    for (&key, at) in keys.iter().zip(0..) {
        placed[count] = key.placed(at);
        count += usize::from(key <= bound);
    }
    placed.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By sorting all of them.
    fn sorted(scores: &[f32]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..scores.len()).collect();
        places.sort_by(|&one, &other| scores[other].partial_cmp(&scores[one]).unwrap());
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
            let expected = sorted(&scores);
            let (mut narrow, mut all) = (Ranked::default(), Ranked::default());
            for wanted in [0, 1, 3, 10, 15, 16, 60, count, usize::MAX] {
                let expected = &expected[..wanted.min(count)];
                assert_eq!(narrow.best(&scores, wanted).unwrap().collect::<Vec<_>>(), expected);
                assert_eq!(all.best(&wide, wanted).unwrap().collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_found() {
        let mut scores = vec![1.0f32; 50];
        scores[33] = f32::NAN;
        assert_eq!(Ranked::default().best(&scores, 10).err(), Some(33));
    }
}
