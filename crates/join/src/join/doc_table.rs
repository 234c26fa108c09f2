//! The judged documents of each query with the codes of their grades, in small open-addressing hash
//! tables. One array has the tables of many queries.
//!
//! ```text
//! a table of S slots    S / 4 words of filter: a bit for each of 16 S hash values, so that a
//!                       document that is not judged, as nearly all are, costs one predictable
//!                       branch on one byte
//!                       S slots of 8 bytes: hash tag (16 bits) · code (8) · where the docno is
//!                       (40); 0 is empty
//! docnos                one arena: length (1 byte, or 255 and 4 bytes), bytes; before them perhaps
//!                       a key (8): the exact grade, or the number of the document
//! ```
//!
//! Tables are filled to four fifths: about 13 bytes a judgment beside the docno itself.
//!
//! A join looks up every result of a run, and nearly no result is judged. So the answer "no" has to
//! be cheap, and the answer "yes" compact:
//!
//! ```text
//! hash   63 ───── 48 47 ──────────── 32 31 ───────────── 16 15 ───────── 0
//!        tag (16)    └─ filter: which of the 16 S bits ──┘
//!        spread(hash) chooses the first slot; then one after the other, until an empty one
//! ```
//!
//! * The filter has 20 bits for each document, with one bit set. So one unjudged document in twenty
//!   (4.8 %) passes the filter and probes a slot. The filter takes a quarter of the bytes of the
//!   slots, 2.5 bytes a document, and usually stays in the first-level cache while results are
//!   looked up.
//! * A tag of 16 bits in the slot refuses all but one in 65,536 of the other documents without
//!   reading a docno. The remaining documents are compared byte by byte: a hash never decides that
//!   two ids are equal.
//! * Slots are chosen by a product and a shift (Lemire, "Fast random integer generation in an
//!   interval", 2019), so a table has as many slots as it needs and not the next power of two.
//!
//! Codes are preliminary while queries are read, because the grades further down in the file are
//! unknown: the first grade gets code 3, the next new grade 4 … At the end of the file, one table
//! of 256 entries for each shelf maps preliminary codes to final codes, and no slot is written
//! again.

use crate::bytes::hash::mix;
use crate::record::layout::Record;

/// The most documents of a table: its slots, a quarter more, are numbered by 32 bits.
pub const MAX_DOCUMENTS: usize = 3 << 30;

/// The memory (a shelf) of the hash tables of judged documents of many queries, and of the document
/// ids.
#[derive(Debug)]
pub struct DocArena {
    words: Vec<u64>,
    docnos: Vec<u8>,
    /// The final code of each preliminary code in the slots, once all grades of the qrels are
    /// known.
    pub meaning: [u8; 256],
    /// Whether the keys of documents are kept.
    keyed: bool,
}

impl Default for DocArena {
    fn default() -> Self {
        let meaning = std::array::from_fn(|code| code as u8);
        Self { words: Vec::new(), docnos: Vec::new(), meaning, keyed: false }
    }
}

/// The place of one query's hash table of judged documents on its shelf, a [`DocArena`].
#[derive(Debug, Clone, Copy, Default)]
pub struct DocTable {
    /// The number of the shelf.
    pub shelf: u32,
    /// The number of slots.
    slots: u32,
    /// The index of the first word.
    start: u64,
}

/// The judged documents of one query: the query's hash table, and the shelf that the table lies on.
#[derive(Clone, Copy)]
pub struct JudgedDocs<'s> {
    pub shelf: &'s DocArena,
    pub table: DocTable,
}

impl<'s> JudgedDocs<'s> {
    /// Returns the judged documents of a query with the codes of their grades, in arbitrary order.
    pub fn documents(self) -> impl Iterator<Item = (&'s [u8], u8)> {
        let Self { shelf, .. } = self;
        self.taken().map(|slot| (shelf.docno(slot), shelf.code_in(slot)))
    }

    /// Returns the judged documents of a query with their keys (grades or numbers), if kept, in
    /// arbitrary order.
    pub fn keys(self) -> impl Iterator<Item = (&'s [u8], u64)> {
        let Self { shelf, .. } = self;
        self.taken().filter_map(|slot| Some((shelf.docno(slot), shelf.key_in(slot)?)))
    }

    /// Returns the taken slots of a query's hash table, one for each judged document.
    fn taken(self) -> impl Iterator<Item = u64> {
        self.shelf.slots(self.table).iter().copied().filter(|&slot| slot != 0)
    }
}

const TAG_SHIFT: u32 = 48;
const CODE_SHIFT: u32 = 40;
const OFFSET: u64 = (1 << CODE_SHIFT) - 1;
/// The shift by which filter bits use other bits of the hash than slots do.
const FILTER_SHIFT: u32 = 16;

/// Maps the low half of a hash to one of `places` places.
#[inline(always)]
fn place(hash: u64, places: usize) -> usize {
    (((hash & u64::from(u32::MAX)) * places as u64) >> 32) as usize
}

impl DocTable {
    fn slots(self) -> usize {
        self.slots as usize
    }

    /// Returns the number of words of the Bloom filter, which lies before the slots of the hash
    /// table.
    fn filter(self) -> usize {
        self.slots().div_ceil(4)
    }
}

/// Returns the bit of a document's hash in a Bloom filter: the index of the word, and a mask of the
/// bit. The filter has `words` words of 64 bits.
#[inline(always)]
fn filter_bit(hash: u64, words: usize) -> (usize, u64) {
    let bit = place(hash >> FILTER_SHIFT, words * 64);
    (bit / 64, 1 << (bit % 64))
}

/// A Bloom filter with a single hash over the judged documents of one query.
#[derive(Clone, Copy)]
pub struct DocFilter<'a>(&'a [u64]);

impl DocFilter<'_> {
    /// Returns whether a document, given by its hash, may be judged for the query; `false` is
    /// certain.
    #[inline(always)]
    pub fn passes(self, hash: u64) -> bool {
        let (word, bit) = filter_bit(hash, self.0.len());
        self.0[word] & bit != 0
    }
}

impl DocArena {
    /// Makes an empty shelf of hash tables, which keep a key (grade or number) for each judged
    /// document if `keyed`.
    pub fn new(keyed: bool) -> Self {
        Self { keyed, ..Self::default() }
    }

    /// Makes an empty hash table on the shelf for a query's judged documents, at most
    /// [`MAX_DOCUMENTS`]. The number of the shelf is set later.
    pub fn table(&mut self, documents: usize) -> DocTable {
        // Invariant: one slot at least stays empty, where every search ends. At most 5/4 of
        // `MAX_DOCUMENTS`, below 2³².
        let slots = (documents + documents / 4 + 1) as u32;
        let table = DocTable { shelf: 0, slots, start: self.words.len() as u64 };
        self.words.resize(self.words.len() + table.filter() + table.slots(), 0);
        table
    }

    /// Returns the final code of a grade that has a preliminary code.
    pub fn final_code(&self, code: u8) -> u8 {
        self.meaning[usize::from(code)]
    }

    /// Returns the final code of the grade of the judged document in a slot.
    fn code_in(&self, slot: u64) -> u8 {
        self.final_code((slot >> CODE_SHIFT) as u8)
    }

    /// Adds a judged document with the code of its grade; returns `false` if the query's table has
    /// it already.
    pub fn insert(&mut self, table: DocTable, record: &Record, docno: &[u8], code: u8) -> bool {
        let first = table.start as usize + table.filter();
        let mut at = place(mix(record.hash), table.slots());
        while self.words[first + at] != 0 {
            if self.holds(self.words[first + at], record.hash, &|| docno) {
                return false;
            }
            at = if at + 1 < table.slots() { at + 1 } else { 0 };
        }
        // A key lies in front of its docno and not in the slot, so that slots stay at eight bytes.
        if self.keyed {
            self.docnos.extend_from_slice(&record.key.to_le_bytes());
        }
        // The slot points behind the key, at the length, so that a table without keys is read in
        // the same way.
        let tag = record.hash >> TAG_SHIFT << TAG_SHIFT;
        // Invariant: no slot that is taken is 0, for codes of named documents begin at 2.
        self.words[first + at] = tag | u64::from(code) << CODE_SHIFT | self.docnos.len() as u64;
        let (word, bit) = filter_bit(record.hash, table.filter());
        self.words[table.start as usize + word] |= bit;
        // One byte for nearly all; 255 announces four more.
        match u8::try_from(docno.len()) {
            Ok(length) if length < u8::MAX => self.docnos.push(length),
            _ => {
                self.docnos.push(u8::MAX);
                self.docnos.extend_from_slice(&(docno.len() as u32).to_le_bytes());
            }
        }
        self.docnos.extend_from_slice(docno);
        true
    }

    /// Looks a document up among a query's judged (or pooled) ones; returns the code of its grade,
    /// and its key. `None` if the document is not there, or keys are not kept.
    #[inline(always)]
    pub fn keyed<'a>(
        &self,
        table: DocTable,
        hash: u64,
        docno: impl Fn() -> &'a [u8],
    ) -> Option<(u8, u64)> {
        if !self.filter(table).passes(hash) {
            return None;
        }
        let slot = self.probe(table, hash, &docno)?;
        Some((self.code_in(slot), self.key_in(slot)?))
    }

    /// Returns the key (exact grade or number) of the judged document in a slot, if keys are kept.
    fn key_in(&self, slot: u64) -> Option<u64> {
        let end = (slot & OFFSET) as usize;
        let bytes = self.docnos[..end].last_chunk().filter(|_| self.keyed)?;
        Some(u64::from_le_bytes(*bytes))
    }

    /// Looks a document up in a query's table; returns its grade's code, or `None` if the qrels
    /// lack it.
    #[inline(always)]
    pub fn code<'a>(&self, table: DocTable, hash: u64, docno: impl Fn() -> &'a [u8]) -> Option<u8> {
        if !self.filter(table).passes(hash) {
            return None;
        }
        self.code_behind_filter(table, hash, &docno)
    }

    /// Reads a query's hash table once into the cache, if many documents are to be looked up. The
    /// processor fetches ahead from end to end, and not slot by slot.
    pub fn prefetch(&self, table: DocTable, lookups: usize) {
        if lookups * 8 > table.slots() {
            let words = &self.words[table.start as usize..][..table.filter() + table.slots()];
            std::hint::black_box(words.iter().step_by(8).fold(0, |all, word| all | word));
        }
    }

    /// Returns the Bloom filter of a query's judged documents.
    #[inline(always)]
    pub fn filter(&self, table: DocTable) -> DocFilter<'_> {
        DocFilter(&self.words[table.start as usize..][..table.filter()])
    }

    /// Returns the slots of a query's hash table.
    #[inline(always)]
    fn slots(&self, table: DocTable) -> &[u64] {
        let first = table.start as usize + table.filter();
        &self.words[first..first + table.slots()]
    }

    /// Looks a document that passes the Bloom filter up; returns the code of its grade if it is
    /// judged (or pooled).
    #[inline(always)]
    pub fn code_behind_filter<'a>(
        &self,
        table: DocTable,
        hash: u64,
        docno: &dyn Fn() -> &'a [u8],
    ) -> Option<u8> {
        self.probe(table, hash, docno).map(|slot| self.code_in(slot))
    }

    /// Searches a query's hash table for a document; returns the slot of the document.
    #[inline(never)]
    fn probe<'a>(&self, table: DocTable, hash: u64, docno: &dyn Fn() -> &'a [u8]) -> Option<u64> {
        let slots = self.slots(table);
        let mut at = place(mix(hash), slots.len());
        loop {
            match slots[at] {
                0 => return None,
                slot if self.holds(slot, hash, docno) => return Some(slot),
                _ => at = if at + 1 < slots.len() { at + 1 } else { 0 },
            }
        }
    }

    /// Returns whether a slot holds the document of this hash and docno; compares bytes only if the
    /// tags agree.
    #[inline(always)]
    fn holds<'a>(&self, slot: u64, hash: u64, docno: &dyn Fn() -> &'a [u8]) -> bool {
        slot >> TAG_SHIFT == hash >> TAG_SHIFT && self.docno(slot) == docno()
    }

    /// Returns the docno of the judged document in a slot.
    #[inline(always)]
    fn docno(&self, slot: u64) -> &[u8] {
        let stored = &self.docnos[(slot & OFFSET) as usize..];
        match stored[0] {
            u8::MAX => {
                let length = stored[1..].first_chunk().map_or(0, |&long| u32::from_le_bytes(long));
                &stored[5..5 + length as usize]
            }
            length => &stored[1..1 + usize::from(length)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::hash::Seed;
    use crate::bytes::known_seeds::{KNOWN, OTHER, colliding};

    #[test]
    fn every_document_is_found_and_no_other() {
        let mut shelf = DocArena::default();
        let docno =
            |query: usize, n: usize| format!("{}{query}-{n}", "x".repeat(n % 300)).into_bytes();
        let sizes = [0, 1, 3, 4, 7, 8, 100, 1000];
        let tables: Vec<DocTable> = sizes
            .iter()
            .enumerate()
            .map(|(query, &size)| {
                let table = shelf.table(size);
                for n in 0..size {
                    let id = docno(query, n);
                    let hash = KNOWN.hash(&id, 0, id.len());
                    let record = Record { hash, ..Record::default() };
                    assert!(shelf.insert(table, &record, &id, (2 + n % 250) as u8));
                    assert!(!shelf.insert(table, &record, &id, 77));
                }
                table
            })
            .collect();
        shelf.meaning = std::array::from_fn(|code| (code as u8).wrapping_add(1));
        for (query, (&size, &table)) in sizes.iter().zip(&tables).enumerate() {
            for n in 0..size + 50 {
                let id = docno(query, n);
                let expected = (n < size).then_some((3 + n % 250) as u8);
                assert_eq!(shelf.code(table, KNOWN.hash(&id, 0, id.len()), || &id), expected);
            }
        }
    }

    /// Returns the number of slots beyond its own that are looked at to find each of the documents
    /// once.
    fn detours(seed: Seed, docnos: &[Vec<u8>]) -> usize {
        let mut shelf = DocArena::default();
        let table = shelf.table(docnos.len());
        let hash = |docno: &[u8]| seed.hash(docno, 0, docno.len());
        for docno in docnos {
            let record = Record { hash: hash(docno), ..Record::default() };
            assert!(shelf.insert(table, &record, docno, 3));
        }
        let slots = shelf.slots(table);
        let detour = |docno: &Vec<u8>| {
            let home = place(mix(hash(docno)), slots.len());
            let from_home = slots[home..].iter().chain(&slots[..home]);
            from_home.take_while(|&&slot| !shelf.holds(slot, hash(docno), &|| docno)).count()
        };
        docnos.iter().map(detour).sum()
    }

    /// Documents that were chosen to collide under a seed cost a detour to each of them; under
    /// another seed they are like any others.
    #[test]
    fn documents_chosen_to_collide_need_the_seed() {
        let count = 3000;
        let chosen: Vec<Vec<u8>> = colliding(KNOWN).take(count).map(|id| id.to_vec()).collect();
        assert_eq!(detours(KNOWN, &chosen), count * (count - 1) / 2);
        let plain: Vec<Vec<u8>> =
            (0..count).map(|n| format!("document-{n:07}").into_bytes()).collect();
        for seed in std::iter::once(OTHER).chain((0..20).map(|_| Seed::random())) {
            let found = [&chosen, &plain].map(|ids| detours(seed, ids));
            assert!(found.iter().all(|&detours| detours < 4 * count), "{found:?} under {seed:?}");
        }
    }
}
