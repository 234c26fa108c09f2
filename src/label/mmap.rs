//! The only file-mapping `unsafe` of the crate.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::error::{Error, Result};

/// The bytes of a file: mapped into memory where the system can, read otherwise (pipes, empty files).
///
/// **The caller's risk:** another process that truncates or rewrites the file while it is mapped changes these bytes under us,
/// or ends the process (`SIGBUS`). Files that others write in place belong in memory: read them with [`std::fs::read`].
#[derive(Debug)]
pub struct Mapping(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Read(Vec<u8>),
}

impl Mapping {
    /// Maps the file at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        Self::of(&file, path)
    }

    /// Maps an open file; `path` is for messages.
    pub fn of(file: &File, path: &Path) -> Result<Self> {
        let length = file.metadata().map_err(|e| Error::io(path, "open", e))?;
        if length.is_file() && length.len() > 0 {
            // SAFETY: the map is read-only and private. That nobody shrinks the file meanwhile is the documented condition of
            // this type; every parser of ours bounds-checks what it reads, so changed bytes give wrong values at worst.
            #[allow(unsafe_code)]
            if let Ok(map) = unsafe { memmap2::Mmap::map(file) } {
                return Ok(Mapping(Bytes::Mapped(map)));
            }
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut &*file, &mut bytes).map_err(|e| Error::io(path, "read", e))?;
        Ok(Mapping(Bytes::Read(bytes)))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}
