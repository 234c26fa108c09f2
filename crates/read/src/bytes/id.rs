//! An id of a query or document as a part of the text that it was read from.
//!
//! An id is hashed and compared by words of eight bytes. With text behind the id, a word is a
//! single read for ids of any length. Without text behind the id, the word of a shorter id is put
//! together from smaller reads.

use super::{hash::Seed, id_prefix::IdPrefix};

/// An id of a query or document inside a longer text: the bytes `text[start..end]`.
#[derive(Debug, Clone, Copy)]
pub struct IdInText<'t> {
    pub text: &'t [u8],
    pub start: usize,
    pub end: usize,
}

impl<'t> From<&'t [u8]> for IdInText<'t> {
    /// Makes an id of bytes that stand alone, without a longer text around the id.
    #[inline(always)]
    fn from(id: &'t [u8]) -> Self {
        Self { text: id, start: 0, end: id.len() }
    }
}

impl<'t> IdInText<'t> {
    #[inline(always)]
    pub fn bytes(self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline(always)]
    pub fn hash(self, seed: Seed) -> u64 {
        seed.hash(self.text, self.start, self.end)
    }

    #[inline(always)]
    pub fn prefix(self) -> IdPrefix {
        IdPrefix::new(self.text, self.start, self.end)
    }

    /// Returns eight bytes of the id from the offset `first` on, as a number that sorts as the
    /// bytes do.
    #[inline(always)]
    pub fn prefix_behind(self, first: usize) -> u64 {
        IdPrefix::new(self.text, self.start + first, self.end).prefix()
    }
}
