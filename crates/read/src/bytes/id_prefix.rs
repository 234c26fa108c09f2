//! The first and the last bytes of an id, for hashing and comparing.

/// The first and the last eight bytes of an id, for hashing and comparing. Together with the
/// length, both determine an id of at most 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdPrefix {
    /// The first eight bytes of the id as a number, the first byte lowest.
    pub first: u64,
    /// The last eight bytes of the id as a number, or 0 for an id of fewer bytes.
    pub last: u64,
}

impl IdPrefix {
    /// The length of the longest ids that a brief and the length determine.
    pub const ALL: usize = 16;

    /// Reads the first and the last eight bytes of the id `text[start..end]`. An id of fewer than
    /// eight bytes is filled up by zeros, and its `last` is 0.
    #[inline(always)]
    pub fn new(text: &[u8], start: usize, end: usize) -> IdPrefix {
        let length = end - start;
        if length >= 8 {
            return Self { first: word(text, start), last: word(text, end - 8) };
        }
        Self { first: word(text, start) & ((1 << (8 * length)) - 1), last: 0 }
    }

    /// Returns the first eight bytes of the id as a number that sorts as the bytes do.
    pub fn prefix(&self) -> u64 {
        self.first.swap_bytes()
    }
}

/// Reads eight bytes of a text from `start` on as a number, the first byte lowest; bytes beyond the
/// end are zeros.
#[inline(always)]
fn word(text: &[u8], start: usize) -> u64 {
    match text[start..].first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(&text[start..]),
    }
}

/// Reads the last bytes of a text, fewer than eight, as a number, the first byte lowest. Such words
/// lie at the end of a text, or in an id with its own memory, such as a query to look up.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let Some(last) = bytes.len().checked_sub(1) else { return 0 };
    // Both parts may cover the same bytes. Uniting equal bits by OR changes no bit.
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(low), Some(high)) => {
            let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
            u64::from(low) | u64::from(high) << (8 * (bytes.len() - 4))
        }
        // An id of one to three bytes has no other places, and uniting a byte with itself changes
        // nothing.
        _ => [0, bytes.len() / 2, last]
            .iter()
            .fold(0, |word, &at| word | u64::from(bytes[at]) << (8 * at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_depends_on_the_id_alone() {
        let text: Vec<u8> = (0..100).collect();
        for start in 0..60 {
            for length in 0..40 {
                let alone = &text[start..start + length];
                let brief = IdPrefix::new(&text, start, start + length);
                assert_eq!(brief, IdPrefix::new(alone, 0, length));
                assert_eq!(brief.prefix().to_be_bytes()[..length.min(8)], alone[..length.min(8)]);
            }
        }
    }

    #[test]
    fn a_word_has_its_bytes_in_order() {
        let bytes = [1u8, 2, 3, 4, 5, 6, 7];
        for length in 0..8 {
            let mut expected = [0; 8];
            expected[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(word(&bytes[..length], 0), u64::from_le_bytes(expected));
        }
    }
}
