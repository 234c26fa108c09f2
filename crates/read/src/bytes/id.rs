//! An id inside its text: the bytes of the id, and the text behind the id.
//!
//! An id is hashed and compared by words of eight bytes. With text behind the id, a word is a
//! single read for ids of any length. Without text behind the id, the word of a shorter id is put
//! together from smaller reads.

use super::brief::Brief;
use super::hash::Seed;

/// The id `text[start..end]`.
#[derive(Debug, Clone, Copy)]
pub struct IdInText<'t> {
    pub text: &'t [u8],
    pub start: usize,
    pub end: usize,
}

impl<'t> From<&'t [u8]> for IdInText<'t> {
    /// An id that stands alone.
    fn from(id: &'t [u8]) -> Self {
        IdInText { text: id, start: 0, end: id.len() }
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

    /// Eight bytes of the id from the offset `first` on, as a number that sorts as the bytes do.
    #[inline(always)]
    pub fn prefix_behind(self, first: usize) -> u64 {
        Brief::of(self.text, self.start + first, self.end).prefix()
    }
}
