//! Stored values as bytes: their kind in 16 bytes, the version, a checksum, and the fields.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result, printable_path};
use crate::scores::SCHEMA;

/// The first bytes of a file, which tell its kind.
pub type Magic = [u8; 16];

/// Encodes fields as bytes.
pub fn seal(magic: &Magic, fields: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_allocvec(fields).unwrap_or_else(|error| unreachable!("{error}"));
    [&magic[..], &SCHEMA.to_le_bytes(), &xxh3_64(&body).to_le_bytes(), &body].concat()
}

/// Decodes the fields of bytes; `what` names their kind in errors.
///
/// # Errors
/// [`Error::Summary`]: bytes of something else, of another version, cut off or changed.
pub fn open<T: DeserializeOwned>(magic: &Magic, what: &str, bytes: &[u8]) -> Result<T> {
    let rest = bytes.strip_prefix(magic).ok_or_else(|| wrong(&format!("it is not {what} of laneval")))?;
    let (schema, rest) = rest.split_first_chunk().ok_or_else(|| wrong("it is cut off"))?;
    check_schema(u32::from_le_bytes(*schema))?;
    let (hash, body) = rest.split_first_chunk().ok_or_else(|| wrong("it is cut off"))?;
    if u64::from_le_bytes(*hash) != xxh3_64(body) {
        return Err(wrong("its checksum does not fit: it was cut off or changed"));
    }
    let (fields, after) = postcard::take_from_bytes(body).map_err(|error| wrong(&error.to_string()))?;
    if !after.is_empty() {
        return Err(wrong(&format!("{} bytes too many", after.len())));
    }
    Ok(fields)
}

/// Reads a file that begins with one of `magics`, or as JSON does. Of another file only the first bytes are read, because it may have any
/// size.
pub fn read(path: &Path, magics: &[&Magic]) -> Result<Vec<u8>> {
    let read = |error: std::io::Error| Error::io(path, "read", error);
    let mut file = File::open(path).map_err(|error| Error::io(path, "open", error))?;
    let mut bytes = Vec::new();
    (&mut file).take(size_of::<Magic>() as u64).read_to_end(&mut bytes).map_err(read)?;
    if is_json(&bytes) || magics.iter().any(|magic| bytes == **magic) {
        let length = file.metadata().map_err(read)?.len();
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX)).map_err(|e| read(e.into()))?;
        file.read_to_end(&mut bytes).map_err(read)?;
    }
    Ok(bytes)
}

/// Whether bytes begin as a JSON object.
pub fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Adds the name of the file to an error.
pub fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Summary(message) => Error::Summary(format!("{}: {message}", printable_path(path))),
        other => other,
    }
}

/// Checks the version.
pub fn check_schema(schema: u32) -> Result<()> {
    match schema {
        SCHEMA => Ok(()),
        other => Err(wrong(&format!("it has version {other}, and this laneval reads version {SCHEMA}"))),
    }
}

/// The error of stored values.
pub fn wrong(message: &str) -> Error {
    Error::Summary(message.to_owned())
}
