//! Matches found ids with true ids in lists of at most 255 ids, through tables of one byte a slot.
//!
//! The slot of an id has the place of the id in its list. Nothing is cleared from row to row, and
//! no slot is searched for: a found id matches the id at the slot's place if both ids are equal,
//! whatever was in the slot before. If two ids of a list share a slot, the slot has the place of
//! the later id, so the place of the earlier id differs from its slot. Such ids are few: a true id
//! is then compared with all ids of both lists, and a found id with all found ids. So only the code
//! for shared slots branches on an id.

use super::matching::ArrayId;

/// The most ids of a list, whose places are bytes.
pub(super) const SHORT: usize = 255;
/// The bits of a slot's number: of 100 ids, 0.6 share a slot.
const BITS: u32 = 13;
/// The number of slots, which both lists have, and which stay in the first cache.
const SLOTS: usize = 1 << BITS;
/// The most ids of a list that share slots. Beyond, comparing each with all others takes longer
/// than a plain function.
const MOST_LOST: usize = 64;

/// Hash tables of one-byte slots that match a query's found ids with its relevant or nearest ids,
/// 255 at most.
#[derive(Debug)]
pub(super) struct ShortTables<K> {
    /// The places in the truth, and among the found ids, by slot.
    places: [Box<[u8; SLOTS]>; 2],
    /// The slots of a list's ids.
    slots: [[u16; SHORT]; 2],
    /// The ids of the truth, and [`ArrayId::EMPTY`] behind them.
    truth: [K; SHORT + 1],
    /// The number of ids that were in `truth`.
    filled: usize,
    /// For each id of a list the place that its slot says.
    candidates: [u8; SHORT],
    /// The id of the truth at that place.
    there: [K; SHORT],
    /// The code of each column of the truth, from 1, and that of no column.
    codes: [u8; SHORT + 1],
}

impl<K: ArrayId> Default for ShortTables<K> {
    fn default() -> Self {
        Self {
            places: std::array::from_fn(|_| Box::new([0; SLOTS])),
            slots: [[0; SHORT]; 2],
            truth: [K::EMPTY; SHORT + 1],
            filled: 0,
            candidates: [0; SHORT],
            there: [K::EMPTY; SHORT],
            codes: [0; SHORT + 1],
        }
    }
}

impl<K: ArrayId> ShortTables<K> {
    /// Writes the label of each found id: the code of its column among the true ids, from 1, or
    /// that of no column. Returns whether there is nothing rare in the row; otherwise the labels
    /// mean nothing. Neither list has more than [`SHORT`] ids.
    ///
    /// It is inlined where the level of SIMD is known, for its plain loops become vectors.
    #[inline(always)]
    pub fn label(&mut self, truth: &[K], found: &[K], codes: &[u8], labels: &mut [u8]) -> bool {
        let Self { places, slots, truth: all, filled, candidates, there, codes: coded } = self;
        let ([in_truth, in_found], [of_truth, of_found]) = (places, slots);
        all[..truth.len()].copy_from_slice(truth);
        if truth.len() < *filled {
            all[truth.len()..*filled].fill(K::EMPTY);
        }
        *filled = truth.len();
        coded[..codes.len()].copy_from_slice(codes);
        let (of_truth, of_found) = (&mut of_truth[..truth.len()], &mut of_found[..found.len()]);
        let mut rare = enter(truth, of_truth, in_truth);
        rare |= enter(found, of_found, in_found);
        let (candidates, there) = (&mut candidates[..], &mut there[..]);
        for ((slot, candidate), there) in of_found.iter().zip(&mut *candidates).zip(&mut *there) {
            *candidate = in_truth[usize::from(*slot) % SLOTS];
            *there = all[usize::from(*candidate)];
        }
        for (((label, candidate), there), id) in
            labels.iter_mut().zip(&*candidates).zip(&*there).zip(found)
        {
            *label = coded[usize::from((candidate + 1) * u8::from(there == id))];
        }
        let mut lost = 0;
        look(of_truth, in_truth, candidates, |column| {
            lost += 1;
            if lost > MOST_LOST {
                return;
            }
            let id = truth[column];
            rare |= occurrences(id, truth).0 != 1;
            if let (1, at) = occurrences(id, found) {
                labels[at] = codes[column + 1];
            }
        });
        look(of_found, in_found, candidates, |at| {
            lost += 1;
            rare |= lost > MOST_LOST || occurrences(found[at], found).0 != 1;
        });
        !rare && lost <= MOST_LOST
    }
}

/// Computes the slot of each id of a list, and writes the place of the id in the list into the
/// slot. Returns whether the list has an empty place.
#[inline(always)]
fn enter<K: ArrayId>(ids: &[K], slots: &mut [u16], places: &mut [u8; SLOTS]) -> bool {
    let mut has_empty = false;
    for (slot, &id) in slots.iter_mut().zip(ids) {
        *slot = id.hash(BITS) as u16;
        has_empty |= id.is_empty();
    }
    for (slot, place) in slots.iter().zip(0u8..) {
        places[usize::from(*slot) % SLOTS] = place;
    }
    has_empty
}

/// Reads the place in the slot of each id, and passes the place of each id whose slot has another
/// place to `lost`.
#[inline(always)]
fn look(slots: &[u16], places: &[u8; SLOTS], candidates: &mut [u8], mut lost: impl FnMut(usize)) {
    /// The number of places that are examined together.
    const TOGETHER: usize = 32;
    for (slot, candidate) in slots.iter().zip(&mut *candidates) {
        *candidate = places[usize::from(*slot) % SLOTS];
    }
    for (chunk, first) in candidates[..slots.len()].chunks(TOGETHER).zip((0u8..).step_by(TOGETHER))
    {
        let others = chunk
            .iter()
            .zip(first..)
            .fold(0, |others, (candidate, place)| others | (candidate ^ place));
        if others != 0 {
            let others = chunk.iter().zip(first..).filter(|(candidate, place)| *candidate != place);
            others.for_each(|(_, place)| lost(usize::from(place)));
        }
    }
}

/// Returns the number of times that an id is in a list, and its place if the id is there once.
#[inline(always)]
fn occurrences<K: ArrayId>(id: K, ids: &[K]) -> (u32, usize) {
    let (count, at) = ids.iter().zip(0u32..).fold((0, 0), |(count, at), (other, place)| {
        let is_it = u32::from(*other == id);
        (count + is_it, at | (is_it.wrapping_neg() & place))
    });
    (count, at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::tests::expected;
    use crate::test_support::random;

    use fearless_simd::{Level, dispatch};

    /// Returns the labels of found ids, with the column as the code; `None` if something is rare.
    fn label<K: ArrayId>(
        tables: &mut ShortTables<K>,
        [truth, found]: [&[K]; 2],
    ) -> Option<Vec<usize>> {
        let codes: Vec<u8> = (0..=truth.len() as u8).collect();
        let mut labels = vec![77u8; found.len()];
        let level = Level::new();
        let is_plain = dispatch!(level, _simd => tables.label(truth, found, &codes, &mut labels));
        is_plain.then(|| labels.into_iter().map(usize::from).collect())
    }

    /// Rows of every length, one after the other through the same tables, of ids that spread and of
    /// ids that share slots.
    fn check<K: ArrayId + std::fmt::Debug>(all: impl Iterator<Item = K>, rare: &[K]) {
        let all: Vec<K> = all.collect();
        let mut random = random(7);
        let mut below = |end: usize| random() as usize % end;
        let (mut tables, mut plain) = (ShortTables::default(), 0);
        for number in 0..2000 {
            let mut row = || {
                let most = SHORT.min(all.len()) + 1;
                let count = below(if number % 2 == 0 { most } else { 40.min(most) });
                let mut ids = all.clone();
                (0..count).for_each(|at| ids.swap(at, at + below(all.len() - at)));
                ids.truncate(count);
                if number % 5 == 0 && count > 1 {
                    let other = ids[below(count)];
                    ids[below(count)] = if below(2) == 0 { rare[below(rare.len())] } else { other };
                }
                ids
            };
            let (truth, found) = (row(), row());
            let expected = expected(&truth, &found);
            plain += usize::from(expected.is_some());
            assert_eq!(label(&mut tables, [&truth, &found]), expected, "{truth:?} {found:?}");
        }
        assert!((1000..1990).contains(&plain), "{plain} of 2000 rows are plain");
    }

    #[test]
    fn ids_of_short_rows_are_matched_as_one_by_one() {
        check((0..600i32).map(|id| id * 7919 - 1000), &[-1]);
        check((0..600i32).map(|id| id << 20), &[-1]);
        check((0..600i64).map(|id| id << 40), &[-1, u32::MAX.into()]);
        let same_slot = |id: &i32| id.hash(BITS) == 77;
        check((0..i32::MAX).filter(same_slot).take(30), &[-1]);
        let few_slots = |id: &i64| id.hash(BITS) < 40;
        check((0..i64::MAX).filter(few_slots).take(70), &[-1, u32::MAX.into()]);
    }

    /// Compares each id that shares a slot with all others, so a plain function takes a row with
    /// many.
    #[test]
    fn a_row_whose_ids_have_one_slot_is_left_to_a_plain_function() {
        let ids: Vec<i32> = (0..i32::MAX).filter(|id| id.hash(BITS) == 77).take(100).collect();
        let mut tables = ShortTables::default();
        assert_eq!(label(&mut tables, [&ids, &ids[..3]]), None);
        assert_eq!(label(&mut tables, [&ids[..3], &ids]), None);
        assert_eq!(label(&mut tables, [&ids[..30], &ids[5..8]]), Some(vec![6, 7, 8]));
        assert_eq!(
            label(&mut tables, [&ids[..0], &ids[..2]]),
            Some(vec![0, 0]),
            "nothing is left of the row before"
        );
    }
}
