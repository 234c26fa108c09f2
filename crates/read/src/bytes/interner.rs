//! A hash table of distinct ids, numbered in order of arrival.
//!
//! ```text
//! slots   [ high half of the hash · number + 1 ]   u64, a power of two of them, at most three
//!                                                  quarters full; searched one by one
//! words   [ id and length, if the id has fewer than 8 bytes ]   u64 an id
//! ids     bytes one behind the other, and their ends
//! ```
//!
//! Ids are numbered in order of arrival, so that data beside the ids (tables, facts) is a plain
//! list. A search that meets the right hash compares one word and is done for most ids of queries
//! and groups (`q17`, `1049`): the bytes, which lie in a third place, are read for longer ids
//! alone. The table keeps only the high half of a hash, so growth hashes all ids again. Each growth
//! makes room for four times as many ids, so an id is hashed again about once.

use crate::ids::Ids;

use super::{
    hash::{Seed, mix},
    id::IdInText,
};

/// A hash table of distinct ids that numbers each id in order of arrival. An id takes 16 bytes
/// beyond its own bytes, and 11 to 43 bytes of the table, or to 22 if the table is made from
/// existing ids.
#[derive(Debug, Clone)]
pub struct Interner {
    seed: Seed,
    ids: Ids,
    /// The words of the ids: an id of fewer than eight bytes with its length, or 0 for a longer id.
    /// Comparing words avoids reading the bytes.
    words: Vec<u64>,
    /// High half: the high half of the hash. Low half: the number + 1, 0 for an empty slot.
    slots: Vec<u64>,
}

const LOW: u64 = u32::MAX as u64;

/// Returns an id of fewer than eight bytes and its length as one number; 0 for longer ids.
#[inline(always)]
fn word(id: IdInText<'_>) -> u64 {
    let length = id.end - id.start;
    // Seven bytes and the length plus one: two short ids never share a word, and no short id has
    // the word 0, which means a longer id.
    if length < 8 { id.prefix().first | (length as u64 + 1) << 56 } else { 0 }
}

impl Interner {
    /// Makes an empty table of ids, which are hashed under `seed`.
    pub fn new(seed: Seed) -> Self {
        Self { seed, ids: Ids::default(), words: Vec::new(), slots: Vec::new() }
    }

    /// Makes a table of the distinct ids `ids`, numbered in their order.
    pub fn from_ids(ids: Ids, seed: Seed) -> Self {
        let words = ids.iter().map(|id| word(id.into())).collect();
        let mut interner = Self { seed, ids, words, slots: Vec::new() };
        interner.grow(interner.ids.len());
        interner
    }

    /// Returns all ids of the table, in the order of their numbers.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Returns all ids in the order of their numbers, and drops the hash table.
    pub fn into_ids(self) -> Ids {
        self.ids
    }

    /// Removes all ids from the table. Room is kept for about as many.
    pub fn clear(&mut self) {
        // A large query must not make clearing slow for all small queries behind the large query.
        if self.slots.len() > 16 * (self.ids.len() + 4) {
            self.slots = Vec::new();
        }
        self.slots.fill(0);
        self.ids.clear();
        self.words.clear();
    }

    /// Returns the number of an id in the table; `None` for an unknown id.
    #[inline]
    pub fn get(&self, id: &[u8]) -> Option<u32> {
        self.get_in(id, 0, id.len())
    }

    /// Returns the number of the id `text[start..end]` in the table; `None` for an unknown id.
    /// Where bytes stand behind an id, it is read as whole words.
    #[inline]
    pub fn get_in(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let id = IdInText { text, start, end };
        self.find(id, id.hash(self.seed)).ok()
    }

    /// Returns whether `number` is the number of the id `id` in the table.
    #[inline]
    pub fn matches(&self, number: u32, id: &[u8]) -> bool {
        self.matches_at(number, id.into())
    }

    /// Returns whether `number` is the number of an id that lies in a longer text.
    #[inline(always)]
    pub fn matches_at(&self, number: u32, id: IdInText<'_>) -> bool {
        self.is_word(number, word(id), id)
    }

    /// Returns whether `number` is the number of an id, by its word: bytes and length of a short
    /// id.
    #[inline(always)]
    fn is_word(&self, number: u32, word: u64, id: IdInText<'_>) -> bool {
        self.words.get(number as usize) == Some(&word)
            && (word != 0 || self.ids.get(number as usize) == id.bytes())
    }

    /// Adds an id to the table unless it is there, and returns its number and whether it is new.
    pub fn insert(&mut self, id: &[u8]) -> (u32, bool) {
        self.insert_at(id.into())
    }

    /// Adds an id that lies in a longer text unless it is there, and returns its number and whether
    /// it is new.
    pub fn insert_at(&mut self, id: IdInText<'_>) -> (u32, bool) {
        if (self.ids.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow(self.ids.len() * 2 + 8);
        }
        let hash = id.hash(self.seed);
        match self.find(id, hash) {
            Ok(number) => (number, false),
            Err(slot) => {
                self.ids.push(id.bytes());
                self.words.push(word(id));
                self.slots[slot] = hash & !LOW | self.ids.len() as u64;
                (self.ids.len() as u32 - 1, true)
            }
        }
    }

    /// Finds the number of an id, or the empty slot of the hash table for it.
    #[inline(always)]
    fn find(&self, id: IdInText<'_>, hash: u64) -> Result<u32, usize> {
        let word = word(id);
        // Invariant: the search ends, because a quarter of the slots is empty. `grow` makes the
        // number of slots a power of two.
        let mask = self.slots.len() - 1;
        let mut at = mix(hash) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot & LOW == 0 {
                return Err(at);
            }
            let number = (slot & LOW) as u32 - 1;
            if slot & !LOW == hash & !LOW && self.is_word(number, word, id) {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Rebuilds the hash table with room for `ids` ids.
    fn grow(&mut self, ids: usize) {
        let size = (ids * 4 / 3 + 1).next_power_of_two();
        let mut slots = vec![0; size];
        for (number, id) in self.ids.iter().enumerate() {
            let hash = self.seed.hash(id, 0, id.len());
            let mut at = mix(hash) as usize & (size - 1);
            while slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            slots[at] = hash & !LOW | (number as u64 + 1);
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::known_seeds::{KNOWN, OTHER, colliding};

    #[test]
    fn ids_keep_their_numbers() {
        let mut interner = Interner::new(KNOWN);
        assert_eq!(interner.get(b"q"), None);
        for round in 0..2 {
            for n in 0..5000u32 {
                assert_eq!(interner.insert(format!("q{n}").as_bytes()), (n, round == 0));
            }
        }
        let interner = Interner::from_ids(interner.into_ids(), OTHER);
        assert!(
            interner.matches(77, b"q77")
                && !interner.matches(78, b"q77")
                && !interner.matches(u32::MAX, b"q77")
        );
        for n in 0..5000u32 {
            assert_eq!(interner.get(format!("q{n}").as_bytes()), Some(n));
        }
        assert_eq!(interner.get(b"q5000"), None);
        assert_eq!(interner.get(b""), None);
    }

    #[test]
    fn ids_are_found_in_a_text() {
        let text: Vec<u8> = (b'a'..=b'z').collect();
        let ids: Vec<&[u8]> = (1..20).map(|length| &text[3..3 + length]).collect();
        let mut interner = Interner::new(KNOWN);
        ids.iter().for_each(|id| assert!(interner.insert(id).1));
        for (number, id) in (0..).zip(&ids) {
            let alone = interner.get(id);
            assert_eq!(
                (interner.get_in(&text, 3, 3 + id.len()), alone),
                (Some(number), Some(number))
            );
        }
        assert_eq!((interner.get_in(&text, 2, 8), interner.get_in(&text, 3, 3)), (None, None));
    }

    /// Returns the number of slots beyond its own that are looked at to find each id once.
    fn detours(interner: &Interner) -> usize {
        let mask = interner.slots.len() - 1;
        let detour = |(at, &slot): (usize, &u64)| {
            let id = interner.ids.get((slot & LOW) as usize - 1);
            at.wrapping_sub(mix(interner.seed.hash(id, 0, id.len())) as usize) & mask
        };
        interner.slots.iter().enumerate().filter(|(_, slot)| **slot & LOW != 0).map(detour).sum()
    }

    /// Ids that were chosen to collide under a seed cost a detour to each of them; under another
    /// seed they are like any others.
    #[test]
    fn ids_chosen_to_collide_need_the_seed() {
        let count = 3000;
        let set = |seed: Seed, ids: &[Vec<u8>]| {
            let mut interner = Interner::new(seed);
            ids.iter().for_each(|id| assert!(interner.insert(id).1));
            detours(&interner)
        };
        let chosen: Vec<Vec<u8>> = colliding(KNOWN).take(count).map(|id| id.to_vec()).collect();
        assert_eq!(set(KNOWN, &chosen), count * (count - 1) / 2);
        let plain: Vec<Vec<u8>> =
            (0..count).map(|n| format!("document-{n:07}").into_bytes()).collect();
        for seed in std::iter::once(OTHER).chain((0..20).map(|_| Seed::random())) {
            let found = [&chosen, &plain].map(|ids| set(seed, ids));
            assert!(found.iter().all(|&detours| detours < 2 * count), "{found:?} under {seed:?}");
        }
    }
}
