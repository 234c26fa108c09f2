//! Encoding and decoding of the fields in a section of a `.lmx` file: integers, floats and strings.

use std::{path::Path, sync::Arc};

use crate::bytes::mmap::Mapping;
use crate::error::{Error, Result};
use crate::matrix::column::Column;

/// Returns the error of a `.lmx` file with a damaged section.
pub(super) fn damaged(path: &Path, section: &'static str, message: impl Into<String>) -> Error {
    Error::Matrix { path: path.to_owned(), section, message: message.into() }
}

/// Returns the bytes of a section of a `.lmx` file that `write` encodes.
pub(super) fn encoded(write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut out = Encoder::default();
    write(&mut out);
    out.0
}

#[derive(Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub fn u64s(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|&number| self.u64(number));
    }

    pub fn f64s(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|number| self.u64(number.to_bits()));
    }

    pub fn counts<const N: usize>(&mut self, counts: [usize; N]) {
        counts.iter().for_each(|&count| self.u64(count as u64));
    }

    pub fn u32s(&mut self, numbers: &[u32]) {
        numbers.iter().for_each(|&number| self.u32(number));
    }

    pub fn string(&mut self, text: impl AsRef<[u8]>) {
        let bytes = text.as_ref();
        self.u32(bytes.len() as u32);
        self.bytes(bytes);
    }
}

/// A reader of the fields in a section of a `.lmx` file. Running out of bytes is an error that
/// names the section.
pub(super) struct Decoder<'a> {
    pub file: &'a Arc<Mapping>,
    /// The bytes of the section that are left.
    pub rest: &'a [u8],
    /// The end of the section in the file.
    pub end: usize,
    pub name: &'static str,
    pub path: &'a Path,
}

impl<'a> Decoder<'a> {
    /// Returns the error of a `.lmx` section that has the fault in `message`.
    pub fn bad(&self, message: impl Into<String>) -> Error {
        damaged(self.path, self.name, message)
    }

    /// Returns the value of a check of a `.lmx` section, or the check's message as an error.
    pub fn accept<T>(&self, value: Result<T, String>) -> Result<T> {
        value.map_err(|message| self.bad(message))
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        self.rest.split_off(..count).ok_or_else(|| self.bad("ends too early"))
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(self.u32s(1)?[0])
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(self.u64s(1)?[0])
    }

    /// Reads `N` counts from a `.lmx` section, one after the other.
    pub fn counts<const N: usize>(&mut self) -> Result<[usize; N]> {
        let mut counts = [0; N];
        for count in &mut counts {
            let read = self.u64()?;
            *count = usize::try_from(read).map_err(|_| self.bad(format!("{read} entries")))?;
        }
        Ok(counts)
    }

    /// Reads `count` tuples of `N` 32-bit numbers each from a `.lmx` section.
    pub fn groups<const N: usize>(
        &mut self,
        count: usize,
    ) -> Result<impl Iterator<Item = [u32; N]> + use<'a, N>> {
        let words = self.words(count.saturating_mul(N))?.as_chunks().0;
        Ok(words.iter().map(|words| words.map(u32::from_le_bytes)))
    }

    /// Takes the bytes of `count` numbers of `N` bytes each from a `.lmx` section.
    pub fn words<const N: usize>(&mut self, count: usize) -> Result<&'a [[u8; N]]> {
        // Saturated, a forged count asks for more bytes than a file has, and fails.
        Ok(self.take(count.saturating_mul(N))?.as_chunks().0)
    }

    pub fn u32s(&mut self, count: usize) -> Result<Vec<u32>> {
        Ok(self.words(count)?.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    pub fn u64s(&mut self, count: usize) -> Result<Vec<u64>> {
        Ok(self.words(count)?.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    pub fn f64s(&mut self, count: usize) -> Result<Vec<f64>> {
        Ok(self.words(count)?.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    /// Reads floats from a `.lmx` section, borrowed from the file if their bytes are aligned and in
    /// native order.
    pub fn f64_column(&mut self, count: usize) -> Result<Column<f64>> {
        let (start, rest) = (self.end - self.rest.len(), self.rest);
        let length = self.words::<8>(count)?.len() * 8;
        // A file is little-endian, so elsewhere its bytes are not the numbers as memory has them.
        let in_file = Column::in_file(self.file, start..start + length);
        match in_file.filter(|_| cfg!(target_endian = "little")) {
            Some(column) => Ok(column),
            None => Ok(Self { rest, ..*self }.f64s(count)?.into()),
        }
    }

    pub fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a string from a `.lmx` section as UTF-8, validated in a copy: a mapped file may
    /// change.
    pub fn text(&mut self) -> Result<String> {
        let bytes = self.string()?.to_vec();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn end(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(self.bad(format!("{more} bytes too many"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads equal numbers, and equal errors, wherever a column lies; an aligned column stays in
    /// the file.
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
