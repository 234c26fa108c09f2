//! The first bytes of a `.lmx` file, by which a label matrix is refused where a text is expected.

/// The first bytes of a `.lmx` file. PNG's trick: a byte above 127, then CR LF and a lone LF, so
/// that a file mangled as text is recognised.
pub const MAGIC: [u8; 8] = *b"\x89LMX\r\n\x1a\n";
/// The first bytes of files that were written before the first release, in layouts that changed.
pub const DRAFT: [u8; 8] = *b"\x8bLMX\r\n\x1a\n";

/// Returns whether a file's first bytes `start` are those of a `.lmx` label matrix, drafts of the
/// format included.
pub fn is_label_matrix(start: &[u8]) -> bool {
    start.starts_with(&MAGIC) || start.starts_with(&DRAFT)
}
