//! Forged `.lmx` files: the sections of a sound file, changed at will, with checksums that fit the
//! changed sections.
//!
//! A change is made of three numbers, each of which is valid whatever its size, so that generators
//! of any kind can make changes.

use laneval::parts::matrix::Packing;
use xxhash_rust::xxh3::xxh3_64;

const HEADER: usize = 32;
const ENTRY: usize = 32;
/// The most bytes of the tiles of a forged file.
const MOST_TILES: u64 = 1 << 20;

/// The sections in file order.
pub const RULE: usize = 0;
pub const BOOK: usize = 1;
pub const IDS: usize = 2;
pub const JUDGED: usize = 3;
pub const ROWS: usize = 5;
pub const DIRECTORY: usize = 6;
pub const TILES: usize = 7;
pub const SECTIONS: usize = 8;

/// The parts of a file.
#[derive(Debug, Clone)]
pub struct Forged {
    /// The header, with magic and version; [`Forged::bytes`] computes its lengths and checksums.
    head: [u8; HEADER],
    pub sections: [Vec<u8>; SECTIONS],
    /// The further sections, each with its kind and mark.
    pub more: Vec<(u32, u32, Vec<u8>)>,
    /// The reserved word of each section's entry.
    pub reserved: [u32; SECTIONS],
    /// The number of zeros before each section, beyond the alignment.
    pub gaps: [usize; SECTIONS],
    /// The bytes behind the last section.
    pub after: Vec<u8>,
}

/// One change: its kind, its place, and the new value.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    pub kind: u8,
    pub at: u32,
    pub to: u64,
}

impl Forged {
    /// Takes a sound file apart.
    pub fn parse(file: &[u8]) -> Self {
        let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
        let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let section = |number: usize| {
            let entry = HEADER + number * ENTRY;
            file[u64_at(entry + 8)..][..u64_at(entry + 16)].to_vec()
        };
        let more = (SECTIONS..u32_at(12) as usize).map(|number| {
            let entry = HEADER + number * ENTRY;
            (u32_at(entry), u32_at(entry + 4), section(number))
        });
        Forged {
            head: file[..HEADER].try_into().unwrap(),
            sections: std::array::from_fn(section),
            more: more.collect(),
            reserved: [0; SECTIONS],
            gaps: [0; SECTIONS],
            after: Vec::new(),
        }
    }

    /// Returns the file, with checksums that fit.
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = self.head.to_vec();
        let count = SECTIONS + self.more.len();
        file.resize(HEADER + ENTRY * count, 0);
        file[12..16].copy_from_slice(&(count as u32).to_le_bytes());
        let first = self.sections.iter().enumerate();
        let first =
            first.map(|(at, bytes)| (at as u32 + 1, self.reserved[at], self.gaps[at], bytes));
        let more = self.more.iter().map(|(kind, mark, bytes)| (*kind, *mark, 0, bytes));
        for (number, (kind, mark, gap, bytes)) in first.chain(more).enumerate() {
            let start = file.len().next_multiple_of(if number == TILES { 4096 } else { 64 });
            file.resize(start + gap * 64, 0);
            let entry = HEADER + number * ENTRY;
            let numbers = [file.len() as u64, bytes.len() as u64, xxh3_64(bytes)];
            file[entry..entry + 4].copy_from_slice(&kind.to_le_bytes());
            file[entry + 4..entry + 8].copy_from_slice(&mark.to_le_bytes());
            for (at, number) in numbers.into_iter().enumerate() {
                file[entry + 8 + 8 * at..][..8].copy_from_slice(&number.to_le_bytes());
            }
            file.extend_from_slice(bytes);
        }
        file.extend_from_slice(&self.after);
        let length = file.len() as u64;
        file[16..24].copy_from_slice(&length.to_le_bytes());
        file[24..32].fill(0);
        let checksum = xxh3_64(&file[..HEADER + ENTRY * count]);
        file[24..32].copy_from_slice(&checksum.to_le_bytes());
        file
    }

    /// Sets the word at a multiple of 4 bytes in a section; does nothing if the section is shorter.
    pub fn set_word(&mut self, section: usize, word: usize, to: u32) {
        if let Some(place) = self.sections[section].get_mut(4 * word..4 * word + 4) {
            place.copy_from_slice(&to.to_le_bytes());
        }
    }

    /// Sets a grade of the codebook; does nothing if it has fewer grades.
    pub fn set_grade(&mut self, grade: usize, to: f64) {
        if let Some(place) = self.sections[BOOK].get_mut(4 + 8 * grade..12 + 8 * grade) {
            place.copy_from_slice(&to.to_le_bytes());
        }
    }

    /// Returns the words of the judged counts in their section.
    pub fn counts(&self) -> std::ops::Range<usize> {
        let entries = self.number(JUDGED);
        let first = 2 + self.number(IDS) + 1;
        first..first + entries
    }

    /// Sets the depth of a row, and adapts tiles and directory, as long as they stay small.
    pub fn set_row(&mut self, row: usize, depth: u32) {
        self.set_word(ROWS, row, depth);
        let depths =
            self.sections[ROWS].as_chunks::<4>().0.iter().map(|depth| u32::from_le_bytes(*depth));
        let Ok(packing) = Packing::new(&depths.collect::<Vec<_>>()) else { return };
        if packing.bytes() <= MOST_TILES {
            self.sections[TILES].resize(packing.bytes() as usize, 1);
        }
        let tiles = packing.tiles.iter().flat_map(|tile| {
            let words = [tile.depth, tile.lanes, tile.first, tile.rows].map(u32::to_le_bytes);
            [&tile.offset.to_le_bytes()[..], words.as_flattened()].concat()
        });
        self.sections[DIRECTORY] = tiles.collect();
    }

    /// Makes a change.
    pub fn change(&mut self, Change { kind, at, to }: Change) {
        let at = at as usize;
        // Any section, and any place in it.
        let (section, place) = (at % SECTIONS, at / SECTIONS);
        let words = |section: &Vec<u8>| (section.len() / 4).max(1);
        match kind % 16 {
            0 | 1 => set_byte(&mut self.sections[TILES], at, to as u8),
            2 => self.keep_sound(at, to),
            3 | 4 => {
                let counts = self.counts();
                self.set_word(JUDGED, counts.start + at % counts.len().max(1), to as u32);
            }
            5 => self.set_row(at % words(&self.sections[ROWS]), to as u32),
            6 => self.set_word(RULE, 2, to as u32),
            7 => set_byte(&mut self.sections[section], place, to as u8),
            8 => self.set_word(section, place % words(&self.sections[section]), to as u32),
            9 => {
                let length = self.sections[section].len();
                self.sections[section].resize(to as usize % (length + 65), at as u8);
            }
            10 => {
                let grades = (self.sections[BOOK].len() / 8).max(1);
                self.set_grade(at % grades, to as f64);
            }
            11 => self.reserved[section] = to as u32,
            13..=15 => self.change_more(kind, at, to),
            _ if to % 2 == 0 => self.gaps[section] = at % 100,
            _ => self.after = vec![at as u8; to as usize % 100],
        }
    }

    /// Changes a word or a byte of the last of the further sections, or its mark, or adds a
    /// section.
    fn change_more(&mut self, kind: u8, at: usize, to: u64) {
        let count = self.more.len() as u32;
        let Some((kind_of, mark, bytes)) = self.more.last_mut() else { return };
        let words = (bytes.len() / 4).max(1);
        match (kind % 16, at % 8) {
            (15, 0) => *mark = to as u32,
            (15, 1) => *kind_of = to as u32,
            (15, 2) => bytes.resize(to as usize % (bytes.len() + 65), at as u8),
            (15, 3) => {
                self.more.push((9 + count, to as u32 % 4, vec![at as u8; to as usize % 100]))
            }
            (15, _) => set_byte(bytes, at, to as u8),
            _ => {
                let word = at % words;
                if let Some(place) = bytes.get_mut(4 * word..4 * word + 4) {
                    place.copy_from_slice(&(to as u32).to_le_bytes());
                }
            }
        }
    }

    /// Swaps two labels of one lane of 16 or 64, or makes one that of a document without judgment.
    /// A sound file stays sound if neither label was past the end.
    fn keep_sound(&mut self, at: usize, to: u64) {
        let tiles = &mut self.sections[TILES];
        if tiles.is_empty() {
            return;
        }
        let lanes = if to & 1 == 0 { 16 } else { 64 };
        let (a, b) = (at % tiles.len(), (at + 4 * lanes * (to as usize >> 2 & 15)) % tiles.len());
        match (tiles[a], tiles[b], to & 2) {
            (0, ..) | (_, 0, _) => {}
            (_, _, 0) => tiles[a] = 1,
            _ => tiles.swap(a, b),
        }
    }

    /// Returns the number at the start of a section.
    fn number(&self, section: usize) -> usize {
        let first = self.sections[section].first_chunk::<8>();
        first.map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize % (1 << 20))
    }
}

fn set_byte(bytes: &mut [u8], at: usize, to: u8) {
    if !bytes.is_empty() {
        bytes[at % bytes.len()] = to;
    }
}
