//! A map from ids to units, the documents that retrieved chunks count for, from a file or from
//! pairs.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128;

use crate::bytes::{hash::Seed, input::Input, mmap::FileAccess};
use crate::error::{Error, Problems, Result, printable, unanswerable};
use crate::lines::diagnostics::quoted;

/// A map from ids of results or judgments to their units, such as from chunks to documents.
///
/// ```
/// use laneval::DocIdMap;
/// let map = DocIdMap::from_pairs([("d1#1", "d1"), ("d1#2", "d1")])?;
/// assert_eq!((map.get(b"d1#2"), map.get(b"d1#3")), (Some(&b"d1"[..]), None));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct DocIdMap {
    /// The name of the map in messages.
    name: String,
    /// Ids and units, each unit behind its id.
    text: Vec<u8>,
    entries: Vec<DocIdEntry>,
    /// Slots by hash: the number of an entry, from 1, in the slot of its hash or behind; 0 in an
    /// empty slot.
    slots: Vec<u32>,
    seed: Seed,
    fingerprint: u128,
}

/// An id of a [`DocIdMap`] and its unit, the document that the id counts for. An entry has 24
/// bytes.
#[derive(Debug, Clone, Copy)]
struct DocIdEntry {
    hash: u64,
    /// The place of the id.
    start: u64,
    id: u32,
    unit: u32,
}

impl fmt::Debug for DocIdMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DocIdMap({}, {} ids)", self.name, self.entries.len())
    }
}

impl PartialEq for DocIdMap {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl DocIdMap {
    /// Reads a map from lines of an id and its unit (such as chunk and document), separated by a
    /// tab. Empty lines are skipped.
    ///
    /// # Errors
    /// An unreadable file; lines with another number of fields; an id with two units.
    pub fn read(input: impl Into<Input>) -> Result<Self> {
        let opened = input.into().open(FileAccess::Read)?;
        let text = opened.whole().map_err(|error| Error::unreadable(&opened.name, error))?;
        let mut making = DocIdMapBuilder::new(opened.name.clone(), text.len());
        for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if text.is_empty() {
                continue;
            }
            match text.split(|&byte| byte == b'\t').collect::<Vec<_>>()[..] {
                [id, unit] if !id.is_empty() && !unit.is_empty() => making.add(line, id, unit),
                _ => making.refuse(line, || {
                    format!("{} is not an id and its unit with a tab between them", quoted(text))
                }),
            }
        }
        making.finish()
    }

    /// Makes a map from pairs of an id and its unit, such as chunk and document.
    ///
    /// # Errors
    /// An id or a unit that is empty; an id with two units.
    pub fn from_pairs<I: AsRef<[u8]>, U: AsRef<[u8]>>(
        pairs: impl IntoIterator<Item = (I, U)>,
    ) -> Result<Self> {
        let mut making = DocIdMapBuilder::new("units".to_owned(), 0);
        for (line, (id, unit)) in (1..).zip(pairs) {
            match (id.as_ref(), unit.as_ref()) {
                ([], _) | (_, []) => making.refuse(line, || "an id or a unit is empty".to_owned()),
                (id, unit) => making.add(line, id, unit),
            }
        }
        making.finish()
    }

    /// Returns the name of the map for messages: the name of its file, or `units`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the unit (such as the document) that an id counts for; `None` for an unknown id.
    pub fn get(&self, id: &[u8]) -> Option<&[u8]> {
        self.number(id).map(|number| self.unit(number))
    }

    /// Returns a fingerprint of all pairs of id and unit, whatever their order. The fingerprint is
    /// the wrapping sum of the hashes of the pairs.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Returns the number of an id in the map, from 1; `None` for an unknown id.
    #[inline]
    pub fn number(&self, id: &[u8]) -> Option<u32> {
        let hash = self.seed.hash(id, 0, id.len());
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.entries.get((self.slots[at] as usize).checked_sub(1)?)?;
            if entry.hash == hash && self.id_of(entry) == id {
                return Some(self.slots[at]);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the unit (such as the document) of the id with this number in the map; empty for
    /// number 0.
    #[inline]
    pub fn unit(&self, number: u32) -> &[u8] {
        let entry = (number as usize).checked_sub(1).and_then(|at| self.entries.get(at));
        entry.map_or(&[], |entry| {
            let start = entry.start as usize + entry.id as usize;
            &self.text[start..start + entry.unit as usize]
        })
    }

    fn id_of(&self, entry: &DocIdEntry) -> &[u8] {
        &self.text[entry.start as usize..entry.start as usize + entry.id as usize]
    }
}

/// A builder of a [`DocIdMap`] that collects ids with units, and wrong lines.
struct DocIdMapBuilder {
    map: DocIdMap,
    /// The line of each entry.
    lines: Vec<u32>,
    problems: Problems,
}

impl DocIdMapBuilder {
    fn new(name: String, bytes: usize) -> Self {
        let map = DocIdMap {
            name,
            text: Vec::with_capacity(bytes),
            entries: Vec::new(),
            slots: vec![0; 16],
            seed: Seed::random(),
            fingerprint: 0,
        };
        Self { map, lines: Vec::new(), problems: Problems::default() }
    }

    fn refuse(&mut self, line: u64, message: impl FnOnce() -> String) {
        self.problems.add(&self.map.name, line, message);
    }

    fn add(&mut self, line: u64, id: &[u8], unit: &[u8]) {
        if let Some(number) = self.map.number(id) {
            let before = self.map.unit(number);
            if before != unit {
                let first = self.lines[number as usize - 1];
                let [id, unit, before] = [id, unit, before].map(quoted);
                let message =
                    format!("{id} belongs to {unit} here, but to {before} on line {first}");
                self.refuse(line, || message);
            }
            return;
        }
        let (Ok(id_length), Ok(unit_length)) = (u32::try_from(id.len()), u32::try_from(unit.len()))
        else {
            return self.refuse(line, || "an id or a unit has more than 4 GiB".to_owned());
        };
        if self.map.entries.len() >= u32::MAX as usize - 1 {
            return self.refuse(line, || format!("there can be {} ids at most", u32::MAX - 1));
        }
        let map = &mut self.map;
        let (hash, start) = (map.seed.hash(id, 0, id.len()), map.text.len() as u64);
        map.text.extend_from_slice(id);
        map.text.extend_from_slice(unit);
        map.entries.push(DocIdEntry { hash, start, id: id_length, unit: unit_length });
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        // The length marks the end of the id, so that different pairs never have the same bytes. A
        // sum does not depend on the order of the pairs, and neither do the units.
        let pair = [&(id.len() as u64).to_le_bytes()[..], id, unit].concat();
        map.fingerprint = map.fingerprint.wrapping_add(xxh3_128(&pair));
        // At least half of the slots stay empty, so that a search is short and finds an end.
        if map.entries.len() * 2 > map.slots.len() {
            map.slots = vec![0; map.slots.len() * 2];
            for (number, entry) in (1..).zip(&map.entries) {
                put(&mut map.slots, entry.hash, number);
            }
        } else {
            put(&mut map.slots, hash, map.entries.len() as u32);
        }
    }

    fn finish(self) -> Result<DocIdMap> {
        let map = self.problems.into_result(self.map)?;
        if map.entries.is_empty() {
            let name = printable(map.name.as_bytes());
            return unanswerable(format!("{name}: there is no id with its unit in it"));
        }
        Ok(map)
    }
}

/// Puts the number of a map entry into the first free slot of a hash table, from the slot of its
/// hash on.
fn put(slots: &mut [u32], hash: u64, number: u32) {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    while slots[at] != 0 {
        at = (at + 1) & mask;
    }
    slots[at] = number;
}
