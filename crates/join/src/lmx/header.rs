//! The header of a `.lmx` file and its table of sections, read and checked.

use std::{fs::File, io::Read, ops::Range, path::Path};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    fields::damaged,
    layout::{
        ALIGN, CORE, ENTRY, EXACT, FACETS, HEADER, IDEAL, MAX_SECTIONS, OPTIONAL, REQUIRED,
        SECTIONS, SPANS, TIES, VERSION,
    },
};
use crate::error::{Error, Result};
use crate::format::lmx::{DRAFT, MAGIC, is_label_matrix};

/// A section of a `.lmx` file: its kind, its place and its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The number of its kind: its index + 1, or the number of a further section.
    pub kind: u32,
    /// The name of the section; `unknown` for an optional section that this laneval does not know.
    pub name: &'static str,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The length of the section in bytes.
    pub length: u64,
    /// The xxh3-64 of the bytes of the section.
    pub checksum: u64,
}

impl Section {
    /// Returns the range of the bytes of the section in the file.
    pub(super) fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }
}

/// The header of a `.lmx` file: its version, its length and its table of sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The version of the format.
    pub version: u32,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The sections in file order.
    pub sections: Vec<Section>,
}

impl Description {
    /// Reads the header and section table of the `.lmx` file at `path`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let mut start = Vec::new();
        let metadata = file.metadata().and_then(|metadata| {
            file.take((HEADER + ENTRY * MAX_SECTIONS) as u64).read_to_end(&mut start)?;
            Ok(metadata)
        });
        let length = metadata.map_err(|e| Error::io(path, "read", e))?.len();
        describe(&start, length, path)
    }

    /// Returns whether `start`, the first bytes of a file, is the start of a `.lmx` file, also of a
    /// draft of the format.
    pub fn recognises(start: &[u8]) -> bool {
        is_label_matrix(start)
    }
}

/// The part of a `.lmx` file that is damaged, and its fault.
type Damage = (&'static str, String);

/// Returns the fault of a damaged header, as a failed result.
fn refuse<T>(message: impl Into<String>) -> Result<T, Damage> {
    Err(("header", message.into()))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

/// Reads and checks the header and section table at the start of a `.lmx` file of `length` bytes.
/// The checks are of magic, version, checksum, sizes and order.
pub(super) fn describe(start: &[u8], length: u64, path: &Path) -> Result<Description> {
    described(start, length).map_err(|(part, message)| damaged(path, part, message))
}

fn described(start: &[u8], length: u64) -> Result<Description, Damage> {
    if start.starts_with(&DRAFT) {
        return refuse("was written by a draft of laneval: make it again with `laneval build`");
    }
    // As many bytes of the magic as there are: a file cut off in it is truncated, and not foreign.
    if !start.starts_with(&MAGIC[..MAGIC.len().min(start.len())]) || start.is_empty() {
        return refuse("is not a .lmx file (made by `laneval build`)");
    }
    let Some(head) = start.get(..HEADER) else {
        return refuse(format!("the file ends after {length} bytes"));
    };
    let (version, count) = (u32_at(head, 8), u32_at(head, 12) as usize);
    if version != VERSION {
        return refuse(format!(
            "is of format version {version}, and this laneval reads version {VERSION}: rebuild it \
             with `laneval build`"
        ));
    }
    let bytes = u64_at(head, 16);
    // Before the checksum, for a truncated file is the most usual damage, and deserves its own
    // words. The length in the table is believed only once it is that of the file.
    if bytes != length {
        return refuse(format!(
            "the file has {length} bytes where its header says {bytes}: it is truncated"
        ));
    }
    if !(CORE..=MAX_SECTIONS).contains(&count) {
        return refuse(format!("has {count} sections, which no file of version {version} has"));
    }
    let Some(table) = start.get(..HEADER + ENTRY * count) else {
        return refuse(format!("the file ends after {length} bytes"));
    };
    let mut unsigned = table.to_vec();
    // The checksum is over the header with zeros in the place of the checksum, as it was when it
    // was computed.
    unsigned[HEADER - 8..HEADER].fill(0);
    if xxh3_64(&unsigned) != u64_at(head, 24) {
        return refuse("the checksum does not match: the file is damaged");
    }
    let sections = sections_of(&table[HEADER..], bytes)?;
    Ok(Description { version, bytes, sections })
}

/// Reads the section table of a `.lmx` file of `bytes` bytes, and checks that the sections follow
/// one another to its end.
fn sections_of(entries: &[u8], bytes: u64) -> Result<Vec<Section>, Damage> {
    let mut sections: Vec<Section> = Vec::new();
    let mut end = (HEADER + entries.len()) as u64;
    for (at, entry) in entries.chunks_exact(ENTRY).enumerate() {
        let (kind, mark) = (u32_at(entry, 0), u32_at(entry, 4));
        let core = at < CORE;
        let place = if core { Some(at) } else { (kind as usize).checked_sub(1) };
        let name = place.and_then(|at| SECTIONS.get(at)).copied().unwrap_or("unknown");
        // Invariant: behind this loop sections ascend, do not overlap, and lie in the file, so that
        // slices of it need no check.
        let next = if core { kind as usize == at + 1 } else { kind > sections[at - 1].kind };
        let (offset, length) = (u64_at(entry, 8), u64_at(entry, 16));
        // Checked: a length near 2⁶⁴ would wrap to a small end.
        let inside = offset >= end && offset.checked_add(length).is_some_and(|end| end <= bytes);
        if !next || !inside || !offset.is_multiple_of(ALIGN as u64) {
            return Err((name, "lies outside of the file".into()));
        }
        match mark {
            0 if core => {}
            _ if core => {
                return Err((name, "the reserved word of its entry is not 0".into()));
            }
            REQUIRED if ![TIES, IDEAL, EXACT, FACETS, SPANS].contains(&kind) => {
                return refuse(format!(
                    "needs its section of kind {kind}, which this laneval does not know: a newer \
                     laneval reads it"
                ));
            }
            OPTIONAL | REQUIRED => {}
            _ => {
                return Err((name, format!("is marked {mark}, neither optional nor required")));
            }
        }
        end = offset + length;
        sections.push(Section { kind, name, offset, length, checksum: u64_at(entry, 24) });
    }
    if end != bytes {
        return refuse(format!(
            "the file has {bytes} bytes, and its last section ends after {end}"
        ));
    }
    Ok(sections)
}
