//! Matches found ids with true ids: the column of each found id of a query in its list of true ids.
//!
//! Up to [`FEW`] ids lie in the lanes of vectors, and each id of the truth is compared with all of
//! the found ones. Up to 255 go through tables of [bytes](super::short). Longer lists go through a
//! table of slots that stays in the cache. The table is never cleared: an entry counts only if its
//! place belongs to the current row, and places go on from row to row.
//!
//! All three ways give up on a rare row, and leave the row to a plain function. A row is rare if an
//! id repeats, or if an empty place lies before an id.

use fearless_simd::{i32x16, i64x8, prelude::*};

/// The most ids that lie in the lanes of vectors.
pub(super) const FEW: usize = 16;
/// The most ids of a list that goes through the table. Where many ids have the same slot, a row
/// takes the square of this.
const MANY: usize = 1 << 12;

/// An integer id as it is compared: by its 32 or 64 bits, signed or unsigned.
pub(super) trait ArrayId: bytemuck::Pod + Eq + std::hash::Hash + Send + Sync {
    /// The id of an empty place.
    const EMPTY: Self;

    /// Returns whether an id marks an empty place of a row: −1, or 2³² − 1.
    fn is_empty(self) -> bool;

    /// Returns the hash of an id: the highest `bits` bits of a product.
    fn hash(self, bits: u32) -> usize;

    /// Matches, by comparing SIMD vectors, up to [`FEW`] found ids with as many true ids: writes
    /// each found id's column, from 1, or 0. The true ids are the first of `both` lists. Returns
    /// false for a rare row.
    fn few<S: Simd>(simd: S, both: [RowIds<'_, Self>; 2], columns: &mut [u8; FEW]) -> bool;
}

/// The ids of one query's row, and the ids that follow from its start in the array.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowIds<'a, K> {
    pub ids: &'a [K],
    /// The first [`FEW`] ids from the start of the row, next rows included; `None` near the end of
    /// the array.
    pub whole: Option<&'a [K; FEW]>,
}

macro_rules! ids {
    ($(
        $id:ty, $unsigned:ty, $odd:literal, $vector:ident by $width:literal,
        $($empty:literal)|+;
    )*) => {$(
        impl ArrayId for $id {
            const EMPTY: $id = -1;

            #[inline(always)]
            fn is_empty(self) -> bool {
                matches!(self, $($empty)|+)
            }

            #[inline(always)]
            fn hash(self, bits: u32) -> usize {
                ((self as $unsigned).wrapping_mul($odd) >> (<$unsigned>::BITS - bits)) as usize
            }

            #[inline(always)]
            fn few<S: Simd>(simd: S, both: [RowIds<'_, $id>; 2], columns: &mut [u8; FEW]) -> bool {
                const VECTORS: usize = FEW / $width;
                /// The ids in lanes, and [`ArrayId::EMPTY`] behind them.
                #[inline(always)]
                fn lanes<S: Simd>(simd: S, row: &RowIds<'_, $id>) -> [$vector<S>; VECTORS] {
                    let mut padded = [<$id>::EMPTY; FEW];
                    let all = match row.whole {
                        Some(whole) => whole,
                        None => {
                            padded[..row.ids.len()].copy_from_slice(row.ids);
                            &padded
                        }
                    };
                    let (count, empty) = (
                        $vector::splat(simd, row.ids.len() as $id),
                        $vector::splat(simd, <$id>::EMPTY),
                    );
                    std::array::from_fn(|at| {
                        let places = $vector::from_fn(simd, |lane| (at * $width + lane) as $id);
                        let ids = $vector::load_array_ref(simd, &all.as_chunks::<$width>().0[at]);
                        places.simd_lt(count).select(ids, empty)
                    })
                }
                let [truth, found] = both;
                let (of_truth, of_found) = (lanes(simd, &truth), lanes(simd, &found));
                let zero = $vector::splat(simd, 0);
                let (mut matched, mut equal) = ([zero; VECTORS], zero);
                // A comparison gives −1 if its operands are equal. Each id equals itself, and each
                // lane behind the ids is empty. Without further equal pairs, the comparisons count
                // to twice the number of lanes.
                for (&id, column) in truth.ids.iter().zip(1..) {
                    let (id, column) = ($vector::splat(simd, id), $vector::splat(simd, column));
                    for at in 0..VECTORS {
                        matched[at] = id.simd_eq(of_found[at]).select(column, matched[at]);
                        equal += id.simd_eq(of_truth[at]).to_vector();
                    }
                }
                for &id in found.ids {
                    let id = $vector::splat(simd, id);
                    for at in 0..VECTORS {
                        equal += id.simd_eq(of_found[at]).to_vector();
                    }
                }
                for ids in of_truth.into_iter().chain(of_found) {
                    equal += ids.simd_eq($vector::splat(simd, <$id>::EMPTY)).to_vector();
                    if <$id>::BITS > 32 {
                        equal += ids.simd_eq($vector::splat(simd, u32::MAX as $id)).to_vector();
                    }
                }
                let chunks = columns.as_chunks_mut::<$width>().0;
                for (columns, found) in chunks.iter_mut().zip(matched) {
                    *columns = found.to_array().map(|column| column as u8);
                }
                equal.to_array().iter().sum::<$id>() == -2 * FEW as $id
            }
        }
    )*};
}
ids! {
    i32, u32, 0x9e37_79b1, i32x16 by 16, -1;
    i64, u64, 0x9e37_79b9_7f4a_7c15, i64x8 by 8, -1 | 0xffff_ffff;
}

/// A slot of the hash table that matches found ids with true ids: an id, and its place in the
/// lists. The slot is in use if the place belongs to the current row.
#[derive(Debug, Clone, Copy)]
struct Slot<K> {
    id: K,
    place: u32,
}

/// A hash table that matches the found ids of one query after the other with its true ids, for long
/// lists.
#[derive(Debug)]
pub(super) struct SlotTable<K> {
    slots: Vec<Slot<K>>,
    /// The first place of the next row. No slot has a place from it on.
    next: u32,
}

impl<K> Default for SlotTable<K> {
    fn default() -> Self {
        Self { slots: Vec::new(), next: 1 }
    }
}

impl<K: ArrayId> SlotTable<K> {
    /// Passes the index of each found id, and its column from 1 among the true ids or else 0, to
    /// `see`. Returns false for a rare row; the caller must then discard the pairs passed so far.
    pub fn match_ids(&mut self, truth: &[K], found: &[K], see: impl FnMut(usize, usize)) -> bool {
        if truth.len().max(found.len()) > MANY {
            return false;
        }
        let bits = (4 * truth.len().max(found.len())).next_power_of_two().trailing_zeros().max(4);
        let places = (truth.len() + found.len()) as u32;
        if self.next.checked_add(places).is_none() {
            *self = Self::default();
        }
        if self.slots.len() < 1 << bits {
            self.slots.resize(1 << bits, Slot { id: K::EMPTY, place: 0 });
        }
        let (first, slots) = (self.next, &mut self.slots[..1 << bits]);
        self.next += places;
        is_plain(slots, bits, first, truth, found, see)
    }
}

#[inline(always)]
fn is_plain<K: ArrayId>(
    slots: &mut [Slot<K>],
    bits: u32,
    first: u32,
    truth: &[K],
    found: &[K],
    mut see: impl FnMut(usize, usize),
) -> bool {
    let mask = (1 << bits) - 1;
    let mut rare = false;
    for (&id, place) in truth.iter().zip(first..) {
        rare |= id.is_empty();
        let mut at = id.hash(bits) & mask;
        while slots[at].place >= first {
            rare |= slots[at].id == id;
            at = (at + 1) & mask;
        }
        slots[at] = Slot { id, place };
    }
    let none = truth.len() as u32;
    for (at_found, &id) in found.iter().enumerate() {
        rare |= id.is_empty();
        let mut at = id.hash(bits) & mask;
        while slots[at].place >= first && slots[at].id != id {
            at = (at + 1) & mask;
        }
        // No branch depends on `is_there`, because the processor could not predict the branch.
        let is_there = slots[at].place >= first;
        let column = if is_there { slots[at].place - first } else { none };
        rare |= is_there && column >= none;
        see(at_found, if column < none { column as usize + 1 } else { 0 });
        slots[at] = Slot { id, place: first + none + at_found as u32 };
    }
    !rare
}

/// A found id that takes a rank of a query's ranking, with its column among the true ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundId {
    /// Its index in the row; `None` for an empty place, or a repeat.
    pub at: Option<usize>,
    /// Its column in the truth, from 1, or 0.
    pub column: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::tests::expected;
    use crate::test_support::{levels, random};

    use fearless_simd::dispatch;

    fn check<K: ArrayId + std::fmt::Debug>(all: &[K], make_id: impl Fn(u64) -> K) {
        let mut random = random(7);
        let mut below = |end: u64| random() % end;
        let (mut table, mut plain, mut rare) = (SlotTable::default(), 0, 0);
        for number in 0..3000 {
            let most = if number % 3 == 0 { 40 } else { FEW as u64 };
            let mut row = || {
                let count = below(most + 1) as usize;
                let mut ids: Vec<K> = (0..2 * most).map(&make_id).collect();
                (0..ids.len()).for_each(|at| ids.swap(at, below(2 * most) as usize));
                ids.truncate(count);
                if number % 4 == 0 && count > 0 {
                    ids[below(count as u64) as usize] = all[below(all.len() as u64) as usize];
                }
                ids
            };
            let (truth, found) = (row(), row());
            let expected = expected(&truth, &found);
            *if expected.is_some() { &mut plain } else { &mut rare } += 1;
            let mut columns = vec![0; found.len()];
            let is_plain = table.match_ids(&truth, &found, |at, column| columns[at] = column);
            assert_eq!(is_plain.then_some(columns), expected, "{truth:?} {found:?}");
            if truth.len().max(found.len()) > FEW {
                continue;
            }
            let behind: Vec<K> =
                truth.iter().chain(&found).chain(&[make_id(1); FEW]).copied().collect();
            for (level, whole) in levels().flat_map(|level| [(level, false), (level, true)]) {
                let ids = |start: usize, ids| RowIds {
                    ids,
                    whole: behind[start..].first_chunk().filter(|_| whole),
                };
                let (truth, found) = (ids(0, &truth[..]), ids(truth.len(), &found[..]));
                let mut columns = [0; FEW];
                let is_plain = dispatch!(level, simd => K::few(simd, [truth, found], &mut columns));
                let columns: Vec<usize> =
                    columns[..found.ids.len()].iter().map(|&column| column.into()).collect();
                assert_eq!(is_plain.then_some(columns), expected, "{level:?} {truth:?} {found:?}");
            }
        }
        assert!(plain > 1000 && rare > 100, "{plain} plain, {rare} rare");
    }

    #[test]
    fn ids_are_matched_as_one_by_one_at_every_level() {
        check(&[-1, 0, 5, i32::MIN, i32::MAX], |id| id as i32);
        check(&[-1, 3 << 20], |id| (id << 20) as i32);
        check(&[-1, u32::MAX.into(), 0, i64::MIN, 1 << 40], |id| id as i64);
        check(&[-1, 7 << 40], |id| (id << 40) as i64);
    }

    /// Places that have been used up begin again, with nothing left of what was there.
    #[test]
    fn the_table_begins_again_when_places_end() {
        let mut table = SlotTable::<i32> { next: u32::MAX - 60, ..SlotTable::default() };
        for row in 0..20 {
            let truth: Vec<i32> = (row..row + 20).collect();
            let mut columns = Vec::new();
            assert!(
                table
                    .match_ids(&truth, &[row + 3, row + 100, 70], |_, column| columns.push(column))
            );
            assert_eq!(columns, [4, 0, 0], "{row}");
        }
        assert!(table.next < 1000);
        let long: Vec<i32> = (0..MANY as i32 + 1).collect();
        assert!(!table.match_ids(&long, &[1], |_, _| ()), "which a plain function matches");
    }
}
