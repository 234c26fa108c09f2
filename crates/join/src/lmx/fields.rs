//! The fields of a section, written and read.

use std::path::Path;
use std::sync::Arc;

use crate::bytes::mmap::Mapping;
use crate::error::{Error, Result};
use crate::matrix::column::Column;

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
    pub(super) file: &'a Arc<Mapping>,
    /// The bytes of the section that are left.
    pub(super) rest: &'a [u8],
    /// The end of the section in the file.
    pub(super) end: usize,
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
        Ok(self.doubles(count)?.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    /// Reads numbers like [`Decoder::f64s`], but borrows numbers from the file if their bytes are
    /// aligned and in native order.
    pub(super) fn f64_column(&mut self, count: usize) -> Result<Column<f64>> {
        let (start, rest) = (self.end - self.rest.len(), self.rest);
        let length = self.doubles(count)?.len() * 8;
        let in_file = Column::in_file(self.file, start..start + length);
        match in_file.filter(|_| cfg!(target_endian = "little")) {
            Some(column) => Ok(column),
            None => Ok(Decoder { rest, ..*self }.f64s(count)?.into()),
        }
    }

    pub(super) fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a string as UTF-8, validated in a copy: a mapped file may change.
    pub(super) fn text(&mut self) -> Result<String> {
        let bytes = self.string()?.to_vec();
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    pub(super) fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.bad(format!("{} bytes too many", self.rest.len())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same numbers, and the same errors, wherever a column lies; it stays in the file where it
    /// is aligned.
    #[test]
    fn columns_of_numbers_stay_where_they_are_aligned() {
        let numbers = [0.1, -0.0, f64::MAX, f64::from_bits(1)];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let bits =
            |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        for place in 0..24 {
            let file = Arc::new(
                Mapping::copied(&[&vec![7; place][..], &bytes, b"rest"].concat()).unwrap(),
            );
            let (rest, end, path) = (&file[place..], file.len(), Path::new("f"));
            let decoder = || Decoder { file: &file, rest, end, name: "n", path };
            let (mut one, mut other) = (decoder(), decoder());
            let (column, copy) = (one.f64_column(4).unwrap(), other.f64s(4).unwrap());
            assert_eq!((bits(&column), bits(&copy)), (bits(&numbers), bits(&numbers)));
            assert_eq!([one.rest, other.rest], [b"rest"; 2]);
            let stays = file.as_ptr_range().contains(&column.as_ptr().cast());
            assert_eq!(stays, place % 8 == 0 && cfg!(target_endian = "little"), "{place}");
            for count in [5, usize::MAX / 4, usize::MAX] {
                let errors =
                    [decoder().f64_column(count).map(drop), decoder().f64s(count).map(drop)];
                assert_eq!(
                    errors.map(|error| error.unwrap_err().to_string()),
                    ["f: n: ends too early"; 2]
                );
            }
        }
    }
}
