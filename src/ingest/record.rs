//! One line that counts, reduced to what a join needs, and where the bytes of its docno lie.

use xxhash_rust::xxh3::xxh3_64;

use super::findings::Place;

/// A result or a judgment: 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// A result's sort key (smaller is better), or the bits of a judgment's grade.
    pub key: u64,
    /// The hash of the docno.
    pub hash: u64,
    /// The docno: the chunk in the high 24 bits, the offset in it in the low 40. Ascending in the order of the input.
    pub at: u64,
    /// The length of the docno.
    pub length: u32,
    /// The query.
    pub query: u32,
}

/// Where a docno lies, in one number.
const OFFSET_BITS: u32 = 40;

/// The chunk and offset of a docno as [`Record::at`].
#[inline(always)]
pub(super) fn address(chunk: u64, offset: usize) -> u64 {
    chunk << OFFSET_BITS | offset as u64
}

/// The chunks that records point into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Docnos<'a> {
    /// The number of the first chunk here.
    pub first: u64,
    /// The chunks.
    pub chunks: &'a [&'a [u8]],
    /// Are the chunks text? Otherwise copied docnos, each after the number of its line as a little-endian `u32`.
    pub text: bool,
}

impl<'a> Docnos<'a> {
    /// The chunk of a record, and the offset in it.
    #[inline]
    fn locate(&self, record: &Record) -> (&'a [u8], usize) {
        let chunk = (record.at >> OFFSET_BITS) - self.first;
        (self.chunks[chunk as usize], (record.at & ((1 << OFFSET_BITS) - 1)) as usize)
    }

    /// The docno of a record.
    #[inline]
    pub fn of(&self, record: &Record) -> &'a [u8] {
        let (chunk, offset) = self.locate(record);
        &chunk[offset..offset + record.length as usize]
    }

    /// The line of a record: counted, so for messages only.
    pub fn place(&self, record: &Record) -> Place {
        let (chunk, offset) = self.locate(record);
        let line = if self.text {
            memchr::memchr_iter(b'\n', &chunk[..offset]).count() as u64 + 1
        } else {
            chunk[offset - 4..offset].iter().rev().fold(0, |line, &byte| line << 8 | u64::from(byte))
        };
        Place { chunk: record.at >> OFFSET_BITS, line }
    }
}

/// Copies a docno behind the number of its line; returns its offset.
pub(super) fn copy_docno(chunk: &mut Vec<u8>, line: u64, docno: &[u8]) -> usize {
    chunk.extend_from_slice(&(line as u32).to_le_bytes());
    chunk.extend_from_slice(docno);
    chunk.len() - docno.len()
}

/// The hash of `text[start..][..length]`; ids of up to 16 bytes by one multiplication.
///
/// It reads no byte beyond those, in effect: the same id has the same hash wherever it stands.
#[inline(always)]
pub(super) fn hash(text: &[u8], start: usize, length: usize) -> u64 {
    const LOW: u64 = 0x9e37_79b9_7f4a_7c15;
    const HIGH: u64 = 0xd6e8_feb8_6659_fd93;
    if length > 16 {
        return xxh3_64(&text[start..start + length]);
    }
    let id = short(text, start, length);
    let product = u128::from(id as u64 ^ LOW) * u128::from((id >> 64) as u64 ^ HIGH ^ ((length as u64) << 56));
    product as u64 ^ (product >> 64) as u64
}

/// The `length` ≤ 16 bytes at `start`, zeros behind them.
#[inline(always)]
pub(super) fn short(text: &[u8], start: usize, length: usize) -> u128 {
    match text.get(start..start + 16) {
        Some(bytes) if length > 0 => {
            let bytes = u128::from_le_bytes(bytes.try_into().unwrap_or([0; 16]));
            bytes & (u128::MAX >> (128 - 8 * length))
        }
        _ => at_the_end(&text[start..start + length]),
    }
}

#[cold]
fn at_the_end(id: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..id.len()].copy_from_slice(id);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_the_id_alone() {
        let text: Vec<u8> = (0..100).collect();
        for start in 0..60 {
            for length in 0..40 {
                let alone = &text[start..start + length];
                assert_eq!(hash(&text, start, length), hash(alone, 0, length));
            }
        }
        assert_ne!(hash(b"a", 0, 1), hash(b"a\0", 0, 2));
    }

    #[test]
    fn a_copied_docno_knows_its_line() {
        let mut chunk = Vec::new();
        copy_docno(&mut chunk, 70_000, b"D1");
        let offset = copy_docno(&mut chunk, 70_001, b"D22");
        let record = Record { key: 0, hash: 0, at: address(5, offset), length: 3, query: 0 };
        let docnos = Docnos { first: 5, chunks: &[&chunk], text: false };
        assert_eq!(docnos.of(&record), b"D22");
        assert_eq!(docnos.place(&record), Place { chunk: 5, line: 70_001 });
    }
}
