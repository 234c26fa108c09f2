//! The fingerprint of one query's judgments by facet: the sum of their hashes, in any order of
//! judgments.
//!
//! ```text
//! hashed   length, query │ length, group │ length, sub-group │ length, document │ grade
//!          lengths of 8 bytes, all little-endian
//! ```
//!
//! Consecutive judgments differ in the document or the group and in the grade, and names mostly
//! have one length. So each judgment overwrites only the differing parts of the judgment before.
//! From the first part of another length on, all parts are written anew. Writing all bytes of every
//! judgment took longer than hashing the judgments.
//!
//! The hash reads words that span several recent writes. Such a read stalls until the writes have
//! reached the cache, and all later instructions stall too. Hashing each judgment right after
//! writing spent most of its time in the stall. So several judgments are written, each into its own
//! buffer, before the first is hashed.

use xxhash_rust::xxh3::xxh3_128;

/// The number of judgments to write before hashing them.
const TOGETHER: usize = 8;

/// The running sum of the hashes of one query's judgments by facet, for the fingerprint of the
/// qrels.
pub struct JudgmentHashes {
    written: [HashedJudgment; TOGETHER],
    /// The number of written judgments that are not hashed yet.
    count: usize,
    sum: u128,
}

impl JudgmentHashes {
    /// Begins the fingerprint of the judgments by facet of a query.
    pub fn new(query: &[u8]) -> Self {
        Self { written: std::array::from_fn(|_| HashedJudgment::new(query)), count: 0, sum: 0 }
    }

    /// Adds a judgment by facet to the fingerprint, by the numbers of its group, sub-group and
    /// document. `name` returns the bytes of each of the three.
    #[inline(always)]
    pub fn add<'n>(&mut self, numbers: [u32; 3], grade: f64, name: impl Fn(usize) -> &'n [u8]) {
        self.written[self.count].write(numbers, grade, name);
        self.count += 1;
        if self.count == TOGETHER {
            self.hash();
        }
    }

    /// Adds the hashes of the judgments that were written to buffers and not hashed yet.
    fn hash(&mut self) {
        for judgment in &self.written[..self.count] {
            self.sum = self.sum.wrapping_add(xxh3_128(&judgment.bytes));
        }
        self.count = 0;
    }

    /// Returns the fingerprint of the query's judgments: the wrapping sum of their hashes.
    pub fn sum(mut self) -> u128 {
        self.hash();
        self.sum
    }
}

/// The bytes of one judgment by facet to hash: query, group, sub-group, document and grade.
struct HashedJudgment {
    bytes: Vec<u8>,
    /// Where the bytes of group, sub-group and document begin and end.
    parts: [[usize; 2]; 3],
    /// The numbers of the parts; `None` before the first judgment.
    last: Option<[u32; 3]>,
}

impl HashedJudgment {
    fn new(query: &[u8]) -> Self {
        let mut judgment = Self { bytes: Vec::with_capacity(128), parts: [[0; 2]; 3], last: None };
        judgment.push(query);
        judgment
    }

    /// Appends a name with its length in front to the bytes of a judgment; returns where the name
    /// lies.
    fn push(&mut self, part: &[u8]) -> [usize; 2] {
        self.bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(part);
        [start, self.bytes.len()]
    }

    /// Writes a judgment by facet over the bytes of the judgment before, as far as the two differ.
    #[inline(always)]
    fn write<'n>(&mut self, numbers: [u32; 3], grade: f64, name: impl Fn(usize) -> &'n [u8]) {
        for part in 0..3 {
            if self.last.is_some_and(|last| last[part] == numbers[part]) {
                continue;
            }
            let (bytes, [start, end]) = (name(part), self.parts[part]);
            if self.last.is_some() && bytes.len() == end - start {
                self.bytes[start..end].copy_from_slice(bytes);
                continue;
            }
            if self.last.is_some() {
                self.bytes.truncate(start - size_of::<u64>());
            }
            for part in part..3 {
                self.parts[part] = self.push(name(part));
            }
            self.bytes.extend_from_slice(&[0; size_of::<f64>()]);
            break;
        }
        self.last = Some(numbers);
        let grade_at = self.parts[2][1];
        self.bytes[grade_at..].copy_from_slice(&grade.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_the_judgment_alone() {
        let names: [&[u8]; 5] = [b"", b"a", b"b", b"longer", b"LONGER"];
        let plain = |numbers: [u32; 3], grade: f64| {
            let mut bytes = Vec::new();
            for part in [b"query".as_slice()]
                .into_iter()
                .chain(numbers.map(|number| names[number as usize]))
            {
                bytes.extend((part.len() as u64).to_le_bytes());
                bytes.extend(part);
            }
            bytes.extend(grade.to_le_bytes());
            xxh3_128(&bytes)
        };
        let (mut hashes, mut sum, mut sums) = (JudgmentHashes::new(b"query"), 0u128, 0);
        for step in 0..20_000u32 {
            // Steps of 7 change one, two or all parts, to ones of the same length and of another.
            let at = step.wrapping_mul(7) / 3;
            let (numbers, grade) = ([at % 5, at / 5 % 5, at / 25 % 5], f64::from(step % 3) - 1.0);
            hashes.add(numbers, grade, |part| names[numbers[part] as usize]);
            sum = sum.wrapping_add(plain(numbers, grade));
            // At many numbers of judgments, of which the last are hashed alone.
            if step % 501 == 0 {
                assert_eq!(
                    std::mem::replace(&mut hashes, JudgmentHashes::new(b"query")).sum(),
                    sum
                );
                (sum, sums) = (0, sums + 1);
            }
        }
        assert!(sums > 30);
    }
}
