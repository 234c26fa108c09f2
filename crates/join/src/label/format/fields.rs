//! The fields of a section, written and read.

use std::path::Path;

use crate::error::{Error, Result};

pub(super) fn damaged(path: &Path, section: &'static str, message: String) -> Error {
    Error::Matrix { path: path.to_owned(), section, message }
}

pub(super) fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[derive(Default)]
pub(super) struct Encoder(pub(super) Vec<u8>);

impl Encoder {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn words<const N: usize>(&mut self, words: [u32; N]) {
        words.iter().for_each(|&word| self.u32(word));
    }

    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes(bytes);
    }
}

/// A reader of the fields of a section. Running out of bytes is an error that names the section.
pub(super) struct Decoder<'a> {
    pub(super) rest: &'a [u8],
    pub(super) name: &'static str,
    pub(super) path: &'a Path,
}

impl<'a> Decoder<'a> {
    pub(super) fn bad(&self, message: String) -> Error {
        damaged(self.path, self.name, message)
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.bad("ends too early".into()));
        };
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(self.u32_column(1)?[0])
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(self.u64s(1)?[0])
    }

    pub(super) fn count(&mut self) -> Result<usize> {
        let count = self.u64()?;
        usize::try_from(count).map_err(|_| self.bad(format!("{count} entries")))
    }

    pub(super) fn words(&mut self, count: usize) -> Result<&'a [[u8; 4]]> {
        Ok(self.take(count.saturating_mul(4))?.as_chunks().0)
    }

    pub(super) fn doubles(&mut self, count: usize) -> Result<&'a [[u8; 8]]> {
        Ok(self.take(count.saturating_mul(8))?.as_chunks().0)
    }

    pub(super) fn u32_column(&mut self, count: usize) -> Result<Vec<u32>> {
        Ok(self.words(count)?.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    /// Reads a section that is nothing but `count` numbers.
    pub(super) fn u32s(&mut self, count: usize) -> Result<Vec<u32>> {
        let numbers = self.u32_column(count)?;
        self.end()?;
        Ok(numbers)
    }

    pub(super) fn u64s(&mut self, count: usize) -> Result<Vec<u64>> {
        Ok(self.doubles(count)?.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    pub(super) fn f64s(&mut self, count: usize) -> Result<Vec<f64>> {
        let bytes = self.take(count.saturating_mul(8))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    pub(super) fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a string as UTF-8, validated in a copy: a mapped file may change.
    pub(super) fn text(&mut self) -> Result<String> {
        let bytes = self.string()?.to_vec();
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    pub(super) fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.bad(format!("{} bytes too many", self.rest.len())))
        }
    }
}
