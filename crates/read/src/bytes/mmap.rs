//! Files as memory: mapped where the system can, otherwise read.
//!
//! Why mapped at all: a matrix is used in place, so opening one reads its small sections and no
//! tile, and text goes from the page cache to the parser without a copy. Reading chunks into
//! buffers instead took a twentieth more CPU time; touching all pages beforehand changed nothing
//! (benches/RESULTS.md).
//!
//! Rules for the rest of the crate, because other programs may break the condition of the `unsafe`
//! block below:
//!
//! * No index in the file is trusted because of an earlier check: the check is of a copy, or the
//!   use of the index repeats the check.
//! * Bytes become `str` only in a copy, for a `&str` that stops being UTF-8 is undefined behaviour.
//! * Decompressors get a copy, block by block: their own `unsafe` must not see bytes change.
//! * Every byte of a tile is a valid label: all tables by label have 256 entries.
//!
//! A file of length 0, as files of `/proc` claim to be, cannot be mapped. An irregular file, such
//! as a pipe, cannot be mapped either. Both are read into lines of 64 bytes, so that tiles are as
//! aligned as in the pages of a map.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use super::{aligned::AlignedBytes, sigbus::GuardedMapping};
use crate::error::{Error, Result};

/// The way in which input files are opened: mapped into memory, or read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileAccess {
    /// The file is mapped into memory, if the system can: only used parts are read, and nothing is
    /// copied.
    ///
    /// **A condition that only the caller can keep:** no program writes to the file while it is
    /// mapped. Other bytes show up in the middle of the work, and reading a part that was cut off
    /// raises `SIGBUS`, which ends the process; see
    /// [`exit_when_a_mapped_file_shrinks`](super::sigbus::exit_when_a_mapped_file_shrinks).
    #[default]
    Mapped,
    /// The file is read whole into memory. Later changes of the file have no effect.
    Read,
}

/// The bytes of a file, mapped or read into memory, aligned as label tiles are.
#[derive(Debug)]
pub struct Mapping(FileMemory);

#[derive(Debug)]
enum FileMemory {
    /// Fields are dropped in this order: the file is watched as long as it is mapped.
    Mapped {
        _watched: GuardedMapping,
        map: memmap2::Mmap,
    },
    Read {
        lines: Vec<AlignedBytes>,
        length: usize,
    },
}

impl Mapping {
    /// Opens the file at `path`, and maps or reads its bytes, as `access` says.
    pub fn open(path: &Path, access: FileAccess) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        Self::from_file(&file, path, access)
    }

    /// Maps or reads the bytes of an open file, as `access` says; `path` is for messages.
    pub fn from_file(file: &File, path: &Path, access: FileAccess) -> Result<Self> {
        let kind = file.metadata().map_err(|e| Error::io(path, "open", e))?;
        // Some files of the system are regular, claim 0 bytes, and give more: read such files to
        // the end.
        let length = if kind.is_file() { kind.len() } else { 0 };
        if access == FileAccess::Mapped && length > 0 {
            // SAFETY: the map is valid for reads as long as it lives, and `Mapping` gives out
            // nothing that lives longer. We cannot guarantee that the mapped bytes stay unchanged:
            // another program that may write to the file can change the bytes under a `&[u8]`, for
            // which Rust promises nothing. So unchanged bytes are a condition: `FileAccess::Mapped`
            // and all functions that map by default state this condition to callers. A broken
            // condition puts little at stake in our own code: safe Rust checks every index, text is
            // validated in a copy, and decompressors read from a copy. But the crates that search
            // line ends, convert numbers and make checksums have `unsafe` of their own and read the
            // map itself.
            #[allow(unsafe_code)]
            if let Ok(map) = unsafe { memmap2::Mmap::map(file) } {
                return Ok(Self(FileMemory::Mapped {
                    _watched: GuardedMapping::new(&map, path),
                    map,
                }));
            }
        }
        read(file, length).map_err(|e| Error::io(path, "read", e))
    }

    /// Copies bytes into memory that is aligned like that of a mapped file.
    pub fn copied(bytes: &[u8]) -> io::Result<Self> {
        let mut lines = room(bytes.len())?;
        bytemuck::cast_slice_mut(&mut lines)[..bytes.len()].copy_from_slice(bytes);
        Ok(Self(FileMemory::Read { lines, length: bytes.len() }))
    }
}

/// Reads a file of `length` bytes into aligned memory; to its end, if `length` is 0, as a stream or
/// a file of the system has no length.
fn read(mut file: &File, length: u64) -> io::Result<Mapping> {
    if length == 0 {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Mapping::copied(&bytes);
    }
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut lines = room(length)?;
    // A file that shrinks after its length was read is an error here. Of a file that grows, only
    // the first `length` bytes are read.
    file.read_exact(&mut bytemuck::cast_slice_mut(&mut lines)[..length])?;
    Ok(Mapping(FileMemory::Read { lines, length }))
}

/// Allocates at least `length` bytes of zeros, in whole lines of 64 bytes.
fn room(length: usize) -> io::Result<Vec<AlignedBytes>> {
    let mut lines = Vec::new();
    let count = length.div_ceil(size_of::<AlignedBytes>());
    // A file larger than memory is an error of that file, and not the end of the process.
    lines.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
    lines.resize(count, bytemuck::Zeroable::zeroed());
    Ok(lines)
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            FileMemory::Mapped { map, .. } => map,
            FileMemory::Read { lines, length } => &bytemuck::cast_slice(lines)[..*length],
        }
    }
}
