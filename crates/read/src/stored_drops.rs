//! The stored form of the dropped documents of a ranking rule: one flag if none are excluded.
//!
//! ```text
//! JSON      the flag, and a key "excluded" of its own, which is mostly left out
//! postcard  the flag, 0 or 1; with excluded documents 2 or 3, and their fingerprint
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Whether documents with the id of their query were dropped, and the fingerprint of the excluded
/// documents.
pub type StoredDrops = (bool, Option<Arc<str>>);

/// The dropped documents in postcard, which has no optional fields: the first two variants are the
/// bytes of a `bool`.
#[derive(Serialize, Deserialize)]
enum DropsInBytes {
    None,
    Identical,
    Excluded(Arc<str>),
    Both(Arc<str>),
}

/// The flag, in postcard with the fingerprint.
pub mod flag {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(drops: &StoredDrops, to: S) -> Result<S::Ok, S::Error> {
        let (identical, excluded) = drops.clone();
        let bytes = match (identical, excluded) {
            _ if to.is_human_readable() => return identical.serialize(to),
            (false, None) => DropsInBytes::None,
            (true, None) => DropsInBytes::Identical,
            (false, Some(print)) => DropsInBytes::Excluded(print),
            (true, Some(print)) => DropsInBytes::Both(print),
        };
        bytes.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<StoredDrops, D::Error> {
        if from.is_human_readable() {
            return Ok((bool::deserialize(from)?, None));
        }
        Ok(match DropsInBytes::deserialize(from)? {
            DropsInBytes::None => (false, None),
            DropsInBytes::Identical => (true, None),
            DropsInBytes::Excluded(print) => (false, Some(print)),
            DropsInBytes::Both(print) => (true, Some(print)),
        })
    }
}

/// The fingerprint as a key of JSON; in postcard it takes no byte.
pub mod key {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(print: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { print.serialize(to) } else { to.serialize_unit() }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        if from.is_human_readable() { Option::deserialize(from) } else { Ok(None) }
    }
}
