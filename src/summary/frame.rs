//! The byte frame of stored summaries and comparisons: their kind in 16 bytes, the schema, a
//! checksum, and the fields.
//!
//! A schema is the number of a layout. What a release wrote is read for ever: bytes that are laid
//! out in another way get the next number, and a reader for each number stays. Drafts before the
//! first release began with other bytes, and are refused.
//!
//! ```text
//! 0          16        20            28
//! ├──────────┼─────────┼─────────────┼──────────────
//! │ kind     │ schema  │ xxh3-64     │ fields, postcard
//! ```
//!
//! The schema stands before the checksum and outside of it: what is hashed, and how, may change
//! with a schema, and a file that is too new should say so rather than "damaged".

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result, printable_path};

/// The first 16 bytes of a stored file, for detecting its kind: `laneval`, a zero byte, and a word.
/// The zero byte keeps text files from matching.
pub type Magic = [u8; 16];

/// The newest schema of bytes, of summaries and of parts of comparisons. JSON has a number of its
/// own.
pub const SCHEMA: u32 = 1;

/// Encodes the fields of a summary or a comparison as bytes of the newest schema, with a checksum.
pub fn frame(magic: &Magic, fields: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_allocvec(fields).unwrap_or_else(|error| unreachable!("{error}"));
    [&magic[..], &SCHEMA.to_le_bytes(), &xxh3_64(&body).to_le_bytes(), &body].concat()
}

/// Checks the kind, the schema [`SCHEMA`] and the checksum of stored bytes, and decodes the fields;
/// errors call the kind `what`.
///
/// # Errors
/// [`Error::Summary`]: bytes of something else, of a draft, of a newer schema, cut off or changed.
pub fn open<T: DeserializeOwned>(magic: &Magic, what: &str, bytes: &[u8]) -> Result<T> {
    // First, because a draft has other first bytes and would pass for the file of another program.
    if is_draft(bytes) {
        return Err(wrong("written by a draft of laneval: make it again"));
    }
    let rest =
        bytes.strip_prefix(magic).ok_or_else(|| wrong(format!("it is not {what} of laneval")))?;
    let (schema, rest) = rest.split_first_chunk().ok_or_else(|| wrong("it is cut off"))?;
    let schema = u32::from_le_bytes(*schema);
    if schema != SCHEMA {
        return Err(unknown_schema_error(schema, SCHEMA));
    }
    let (hash, body) = rest.split_first_chunk().ok_or_else(|| wrong("it is cut off"))?;
    if u64::from_le_bytes(*hash) != xxh3_64(body) {
        return Err(wrong("its checksum does not fit: it was cut off or changed"));
    }
    // postcard stops at the end of the fields. The next writing would lose the bytes behind the
    // fields.
    let (fields, after) = postcard::take_from_bytes(body).map_err(wrong)?;
    if !after.is_empty() {
        return Err(wrong(format!("{} bytes too many", after.len())));
    }
    Ok(fields)
}

/// Returns whether bytes are of a file that a draft of laneval wrote before the first release.
fn is_draft(bytes: &[u8]) -> bool {
    [&b"laneval summary\n"[..], b"laneval compare\n"].iter().any(|draft| bytes.starts_with(draft))
}

/// Reads a stored file whole if it begins with one of `magics`, or like JSON. From any other file
/// only the first bytes are read, because the file may have any size.
pub fn read(path: &Path, magics: &[&Magic]) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| Error::io(path, "open", error))?;
    read_known(file, magics).map_err(|error| Error::io(path, "read", error))
}

/// Reads a stored file whole if it is of a known kind, or else its first bytes.
fn read_known(mut file: File, magics: &[&Magic]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut file).take(size_of::<Magic>() as u64).read_to_end(&mut bytes)?;
    if is_json(&bytes) || magics.iter().any(|magic| bytes == **magic) {
        let length = file.metadata()?.len();
        // The length of a file is a claim (of sparse files any number costs nothing), so the memory
        // is asked for first, and too little is an error.
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Returns whether bytes begin as a JSON object.
pub fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Adds the name of a stored file to an error about its content.
pub fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Summary(message) => Error::Summary(format!("{}: {message}", printable_path(path))),
        other => other,
    }
}

/// Returns the error of a stored file whose schema has no reader; `newest` is the newest schema
/// with a reader.
pub fn unknown_schema_error(schema: u32, newest: u32) -> Error {
    let why = if schema > newest {
        format!("and this laneval reads version {newest} at most: read it with a newer laneval")
    } else {
        "which no laneval has written".to_owned()
    };
    wrong(format!("it has version {schema}, {why}"))
}

/// Returns [`Error::Summary`], the error of malformed stored values, with a message.
pub fn wrong(message: impl ToString) -> Error {
    Error::Summary(message.to_string())
}
