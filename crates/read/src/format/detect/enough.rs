//! How much of a text is enough to detect its format.

use memchr::memchr;

use crate::format::json::walk::first_value;

/// The number of bytes of a text that detection examines.
pub const HEAD: usize = 64 << 10;

/// Returns whether the first 64 KiB show JSON with objects of objects, though the first line goes
/// on.
pub fn is_told(text: &[u8]) -> bool {
    text.get(..HEAD).is_some_and(|start| first_value(start) == Some(b'{'))
}

/// Returns whether enough of a text was read for format detection: a line feed, or recognised JSON.
pub fn has_head(text: &[u8]) -> bool {
    memchr(b'\n', text).is_some() || is_told(text)
}
