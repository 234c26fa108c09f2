//! The layer of bytes: inputs and their compression, the longest line, and ids as hashes and
//! numbers.
//!
//! It must never know what a line is, a field, a format, or who reads.
//!
//! ```text
//! input            a path, the standard input, bytes; how runs are named by their paths
//! compression      gzip and zstd, recognised by the content
//! limits           the longest line, and bytes that no row has inside
//! hash, id_prefix  the hash of an id, and the first bytes of one
//! id               an id where it stands, with the text behind it
//! interner         ids and their numbers
//! ```

pub mod aligned;
pub mod compression;
pub mod hash;
pub mod id;
pub mod id_prefix;
pub mod input;
pub mod interner;
pub mod known_seeds;
pub mod limits;
pub mod mmap;
pub mod sigbus;
