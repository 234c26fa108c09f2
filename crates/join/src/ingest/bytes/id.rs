//! An id where it stands: its bytes, and the text that goes on behind them.
//!
//! An id is hashed and compared by words of eight bytes. With the text behind it at hand, a word is
//! one read, whatever the length of the id; an id that stands alone is put together from smaller
//! ones if it is shorter than a word.

use super::brief::Brief;
use super::hash::Seed;

/// The id `text[start..end]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct IdInText<'t> {
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

    /// Eight bytes of the id behind the first ones, as a number that sorts as they do.
    #[inline(always)]
    pub fn prefix_behind(self, first: usize) -> u64 {
        Brief::of(self.text, self.start + first, self.end).prefix()
    }
}
