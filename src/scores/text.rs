//! Ids and other bytes of an input as JSON text for other programs. Valid UTF-8 stays unchanged,
//! and invalid bytes are escaped without loss.
//!
//! Ids are bytes, and JSON has only text. The usual replacement of invalid UTF-8 would make
//! different ids equal. Therefore an invalid byte becomes U+FFFD and two hexadecimal digits. An id
//! may contain U+FFFD itself: then all three bytes of U+FFFD are escaped too. So each text stands
//! for exactly one id, and nearly every id is its own text.
//!
//! ```text
//! b"q\xff1"          "q\u{fffd}ff1"
//! b"q\xef\xbf\xbd"   "q\u{fffd}ef\u{fffd}bf\u{fffd}bd"
//! ```

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Serialize, Serializer};

/// U+FFFD, the mark in front of an escaped byte.
const MARK: &str = "\u{fffd}";

/// An id, or other input bytes, as JSON text: UTF-8 unchanged, and each invalid byte as U+FFFD and
/// two hexadecimal digits. U+FFFD itself is escaped byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonText<'a>(pub &'a [u8]);

impl<'a> JsonText<'a> {
    /// Returns the JSON text of the bytes, with invalid UTF-8 escaped.
    pub fn get(self) -> Cow<'a, str> {
        match str::from_utf8(self.0) {
            Ok(text) if !text.contains(MARK) => Cow::Borrowed(text),
            _ => Cow::Owned(self.marked()),
        }
    }

    /// Decodes the bytes that a JSON text stands for; `None` if a mark lacks its two hexadecimal
    /// digits.
    pub fn bytes(text: &str) -> Option<Vec<u8>> {
        // Each part behind a mark is the two digits of a byte, then plain text.
        let mut parts = text.split(MARK);
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            let digits = part
                .get(..2)
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            bytes.extend(part[2..].bytes());
        }
        Some(bytes)
    }

    fn marked(self) -> String {
        let mut text = String::with_capacity(2 * self.0.len());
        for chunk in self.0.utf8_chunks() {
            for (at, part) in chunk.valid().split(MARK).enumerate() {
                if at > 0 {
                    mark(MARK.as_bytes(), &mut text);
                }
                text.push_str(part);
            }
            mark(chunk.invalid(), &mut text);
        }
        text
    }
}

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.get())
    }
}

fn mark(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{MARK}{byte:02x}"); // a String takes everything
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes among which are characters cut short, marks, and what looks like a mark's digits.
    fn odd() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<Vec<u8>>(),
            Just(MARK.as_bytes().to_vec()),
            "[0-9a-f]{2}|\\\\x[0-9a-f]{2}|\\PC".prop_map(String::into_bytes),
        ];
        proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn other_bytes_are_other_text(id in odd()) {
            prop_assert_eq!(JsonText::bytes(&JsonText(&id).get()), Some(id));
        }

        #[test]
        fn text_is_itself(id in "[^\u{fffd}]*") {
            prop_assert_eq!(JsonText(id.as_bytes()).get(), id.as_str());
        }
    }

    #[test]
    fn a_mark_is_not_taken_for_a_byte() {
        assert_eq!(JsonText(b"q\xff").get(), "q\u{fffd}ff");
        assert_eq!(JsonText("q\u{fffd}ff".as_bytes()).get(), "q\u{fffd}ef\u{fffd}bf\u{fffd}bdff");
    }
}
