//! Sums of values under random sign flips, for the randomisation test: a table of 256 partial sums
//! adds eight queries at a time.
//!
//! If two systems are equal, swapping their values in any query changes nothing. So the sum of the
//! differences is one of the sums under sign flips (Fisher 1935; for retrieval Smucker, Allan and
//! Carterette 2007). The flip of a query in a draw is a bit of its random words. The bits of eight
//! queries become one byte a draw, which all series share. A series is the values of a run, or the
//! differences of a pair. For each series a table has the sums of its eight numbers under all 256
//! bytes, so that one load adds eight numbers. A sum of whole numbers is the same in any order, so
//! neither threads nor shards nor the order of queries change a bit.
//!
//! # A draw, from bits to sums
//!
//! ```text
//!           draw 0 1 2 3 …                  draw 0   1   2  …
//! query 0   bit  1 0 0 1     transpose   byte  0x05 0x02 0x00     one byte a draw:
//! query 1   bit  0 1 0 0   ────────────►        │                 bit q is the flip of query q
//! query 2   bit  1 0 0 1    8 × 8 bits          ▼
//!   ⋮                                    table[0x05] = −v₀ + v₁ − v₂ + v₃ + …   one table a series
//! ```
//!
//! All series share the bits, so the bits are made once a batch and chunk. A further series costs a
//! table, and a load for each draw and eight queries. A table takes 255 subtractions: the half of
//! it with bit q set is the half without, less 2·v_q. The subtractions are an eighth of the 2,048
//! loads from the table in a chunk. The loads are an eighth of the additions of single numbers.
//!
//! What is in the nearest cache at a time is 32 KiB: the sums of a chunk (2,048 × 8 bytes), four
//! tables (4 × 256 × 8), and the bytes of four groups (4 × 2,048). The masked add of one number at
//! a time, to which `benches/flips.rs` compares this, took 1.7 times as long for one series and 2.9
//! times for ten (`benches/RESULTS.md`).
//!
//! Work is cut by draws, never by queries. So a single worker finishes each chunk, and chunks merge
//! by their counts alone.

use std::ops::{Add, Neg, Range, Sub};

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::philox::{Philox, purpose};
use super::unit::LARGEST;
use crate::progress::{ProgressHandle, add_work, expect_work, is_stopped};

/// The number of draws whose sums are in the nearest cache at the same time.
// All draws are numbered, and chunks lie at multiples of `CHUNK`. So the chunk of a draw, and its
// place in the chunk, do not depend on the wanted range of draws.
pub const CHUNK: usize = 2048;
/// The number of queries with their bits in a common byte.
const OCTET: usize = 8;
/// The number of groups with bytes made before the series are summed.
const OCTETS_PER_BATCH: usize = 32;
/// The number of queries of a batch: their sums fit an i64 whatever their numbers.
const BATCH: usize = OCTET * OCTETS_PER_BATCH;
/// The number of blocks of four words that a query has in a chunk, 128 draws each.
const BLOCKS: usize = CHUNK / 128;
/// The number of words that a query has in a chunk.
const WORDS: usize = 4 * BLOCKS;

/// The bound below which sums fit an i64, together with their differences and the tolerance that is
/// added.
// A sum is below 2⁶¹ in size, so a difference of two is below 2⁶², and a tolerance of two a query
// cannot carry it beyond 2⁶³.
const NARROW: u128 = 1 << 61;

/// An integer type for sums under random signs: i64 for all but some millions of queries, i128 for
/// any.
pub trait WideInteger: Copy + Default + Ord + Send + Sync + Into<i128> + TryFrom<i128>
where
    Self: Add<Output = Self> + Sub<Output = Self> + Neg<Output = Self>,
{
    /// Converts an i64 into this integer type.
    fn new(narrow: i64) -> Self;

    /// Returns the absolute value of the integer, as the nearest f64.
    fn size(self) -> f64;
}

impl WideInteger for i64 {
    #[inline(always)]
    fn new(narrow: i64) -> i64 {
        narrow
    }

    #[inline(always)]
    fn size(self) -> f64 {
        self.abs() as f64
    }
}

impl WideInteger for i128 {
    #[inline(always)]
    fn new(narrow: i64) -> i128 {
        narrow.into()
    }

    #[inline(always)]
    fn size(self) -> f64 {
        self.abs() as f64
    }
}

/// Returns whether the sums of each series of whole numbers under any choice of signs fit an i64.
pub fn are_narrow(series: &[&[i64]]) -> bool {
    series.iter().all(|numbers| {
        // Two sizes may already overflow 64 bits, and no series is long enough to overflow 128.
        let size: u128 = numbers.iter().map(|number| u128::from(number.unsigned_abs())).sum();
        size < NARROW
    })
}

/// The random sign flips of some queries, which follow from a seed and the hashes of the query ids.
#[derive(Debug, Clone, Copy)]
pub struct Flips<'a> {
    random: Philox,
    /// The hashes of the queries' ids.
    queries: &'a [u64],
    /// The watch that may stop the work; then sums are incomplete.
    watch: Option<&'a ProgressHandle>,
}

/// The random sign flips of eight queries, a byte for each draw in the order of [`place`]: bit q is
/// the flip of query q.
#[derive(Clone, Copy)]
struct FlipOctet([[u32; WORDS]; OCTET]);

/// Returns the place of a draw's byte among the bytes of sign flips of a chunk of draws. The bits
/// of words are transposed without being reordered, so bytes are not in the order of draws.
fn place(draw: usize) -> usize {
    // A block of Philox has the draws 128·block …: its word w has those from 32·w on, the lowest
    // bit first. Words lie as `blocks` makes them, `[word of four][block]`. After the transposition
    // the row is the bit within its byte, and the byte within the word is where it was.
    let word = (draw >> 5 & 3) * BLOCKS + (draw >> 7);
    (draw & 7) * (4 * WORDS) + 4 * word + (draw >> 3 & 3)
}

impl FlipOctet {
    /// Draws the random sign flips of up to eight queries for a chunk of draws, one byte a draw.
    #[inline(always)]
    fn draw(random: Philox, queries: &[u64], chunk: u32) -> Self {
        // Rows beyond the last query stay 0. Their bits are never set, and `fill` takes their
        // numbers as 0.
        let mut rows = [[0u32; WORDS]; OCTET];
        for (row, &query) in rows.iter_mut().zip(queries) {
            let words = random.blocks::<BLOCKS>(query, chunk * BLOCKS as u32, purpose::SIGNS);
            row.as_chunks_mut().0.copy_from_slice(&words);
        }
        (0..WORDS).for_each(|word| {
            let row = transposed(std::array::from_fn(|index| rows[index][word]));
            // Little-endian, so that byte p of a word lies at p in memory on every machine, as
            // `place` counts.
            (0..OCTET).for_each(|index| rows[index][word] = row[index].to_le());
        });
        Self(rows)
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8; CHUNK] {
        bytemuck::cast_ref(&self.0)
    }
}

/// Transposes the 8 × 8 blocks of bits in eight words: blocks of 4, 2 and 1 bits are exchanged
/// across the diagonal (Warren 2012, "Hacker's Delight", section 7-3).
#[inline(always)]
fn transposed(mut rows: [u32; OCTET]) -> [u32; OCTET] {
    for (size, mask) in [(4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        for low in (0..OCTET).filter(|low| low & size == 0) {
            let differ = (rows[low] >> size ^ rows[low + size]) & mask;
            rows[low + size] ^= differ;
            rows[low] ^= differ << size;
        }
    }
    rows
}

/// The 256 sums of up to eight numbers under all choices of their signs. A number whose bit is set
/// counts negative.
type FlipTable = [i64; 256];

/// Fills tables with the sums of numbers under all sign flips, one table for eight numbers.
#[inline(always)]
fn fill(tables: &mut [FlipTable], numbers: &[i64]) {
    for (sums, numbers) in tables.iter_mut().zip(numbers.chunks(OCTET)) {
        // Numbers behind the last query are 0, so their bits would change nothing.
        let mut all = [0; OCTET];
        all[..numbers.len()].copy_from_slice(numbers);
        sums[0] = all.iter().sum();
        for (bit, number) in all.iter().enumerate() {
            let (plain, flipped) = sums.split_at_mut(1 << bit);
            plain.iter().zip(flipped).for_each(|(plain, flipped)| *flipped = plain - 2 * number);
        }
    }
}

/// Adds the signed numbers of `N` groups of eight queries to the sums of a chunk of draws, by
/// table. Not inlined, because inlining doubles the time.
#[inline(never)]
fn add_groups<const N: usize>(
    sums: &mut [i64; CHUNK],
    groups: &[FlipOctet; N],
    tables: &[FlipTable; N],
) {
    let bytes: [&[u8; CHUNK]; N] = std::array::from_fn(|group| groups[group].bytes());
    for at in 0..CHUNK {
        // `N` independent table loads share a load and a store of the sum. The nearest cache has
        // room for four tables.
        let mut sum = sums[at];
        for group in 0..N {
            sum += tables[group][usize::from(bytes[group][at])];
        }
        sums[at] = sum;
    }
}

/// Adds the signed numbers of a batch of up to 256 queries to the sums of a chunk of draws.
fn add_batch(sums: &mut [i64; CHUNK], groups: &[FlipOctet], numbers: &[i64]) {
    /// The number of groups whose tables, with the sums, are in the nearest cache.
    const TOGETHER: usize = 4;
    let mut tables = [[0; 256]; TOGETHER];
    for (groups, numbers) in groups.chunks(TOGETHER).zip(numbers.chunks(TOGETHER * OCTET)) {
        dispatch!(Level::new(), _simd => fill(&mut tables, numbers));
        match groups.try_into() {
            Ok(groups) => add_groups::<TOGETHER>(sums, groups, &tables),
            // The last groups of a batch, fewer than four.
            Err(_) => groups.iter().zip(&tables).for_each(|(group, table)| {
                add_groups::<1>(sums, std::array::from_ref(group), std::array::from_ref(table))
            }),
        }
    }
}

/// The sums of each series under the random signs of a chunk of draws, and the buffers of a worker
/// thread.
#[derive(Default)]
pub struct FlipSums<T> {
    groups: Vec<FlipOctet>,
    /// The sums in 64 bits, in the order of [`place`].
    narrow: Vec<[i64; CHUNK]>,
    /// The sums moved from `narrow` before an overflow of `narrow`.
    wide: Vec<[T; CHUNK]>,
}

impl<'a> Flips<'a> {
    /// Makes the random sign flips of queries from a seed and the hashes of the query ids.
    pub fn new(seed: u64, queries: &'a [u64]) -> Self {
        Self { random: Philox::new(seed), queries, watch: None }
    }

    /// Sets the watch that sees the progress of the sums under random signs and can stop the work.
    /// If it is told to stop, sums are incomplete and must not be used.
    pub fn watched(self, watch: Option<&'a ProgressHandle>) -> Self {
        Self { watch, ..self }
    }

    /// Computes the sums of each series under random sign draws in parallel, and applies `each` to
    /// the sums of each chunk, `[series][draw]`. Results are in the order of draws. A chunk has up
    /// to [`CHUNK`] draws; `T` must hold the sums, as [`are_narrow`] says.
    pub fn chunks<T: WideInteger, A: Send>(
        &self,
        series: &[&[i64]],
        draws: Range<u32>,
        each: impl Fn(&[&[T]]) -> A + Send + Sync,
    ) -> impl IndexedParallelIterator<Item = A> {
        assert!(
            series.iter().all(|numbers| numbers.len() == self.queries.len()),
            "a number for each query"
        );
        let batches = batches(series);
        // Chunks that the range begins or ends within are computed whole; a slice of their sums is
        // given.
        let chunks = draws.start / CHUNK as u32..draws.end.div_ceil(CHUNK as u32);
        let watch = self.watch;
        expect_work(watch, draws.len() as u64);
        chunks.into_par_iter().map_init(FlipSums::default, move |sums: &mut FlipSums<T>, chunk| {
            let ordered = sums.chunk_sums(self, series, batches, chunk);
            // In 64 bits, because the end of the last chunk may lie beyond the largest u32.
            let first = u64::from(chunk) * CHUNK as u64;
            let [start, end] = [draws.start, draws.end]
                .map(|draw| (u64::from(draw).clamp(first, first + CHUNK as u64) - first) as usize);
            add_work(watch, (end - start) as u64);
            each(&ordered.iter().map(|sums| &sums[start..end]).collect::<Vec<_>>())
        })
    }
}

impl<T: WideInteger> FlipSums<T> {
    /// Returns the sums of all series under the random signs of a chunk, in the order of the draws.
    /// Sums over `batches` batches fit an i64.
    fn chunk_sums(
        &mut self,
        flips: &Flips<'_>,
        series: &[&[i64]],
        batches: usize,
        chunk: u32,
    ) -> &[[T; CHUNK]] {
        // The last flush left `narrow` at 0, so only its length may have to change.
        self.narrow.resize(series.len(), [0; CHUNK]);
        self.wide.clear();
        self.wide.resize(series.len(), [T::default(); CHUNK]);
        let all = flips.queries.chunks(BATCH).take_while(|_| !is_stopped(flips.watch));
        // The bytes of a batch (32 groups of 2 KiB) are made before any series is added, and go
        // through the series one after another.
        for (batch, queries) in all.enumerate() {
            self.groups.clear();
            self.groups
                .extend(queries.chunks(OCTET).map(|queries| bytes(flips.random, queries, chunk)));
            for (sums, numbers) in self.narrow.iter_mut().zip(series) {
                add_batch(sums, &self.groups, &numbers[batch * BATCH..][..queries.len()]);
            }
            // Invariant: between two flushes at most `batches` batches are added, each of at most
            // 256 · largest, so |narrow| stays at or below 2⁶².
            if (batch + 1) % batches == 0 {
                self.flush();
            }
        }
        self.flush();
        &self.wide
    }

    /// Moves the sums under random signs from the 64-bit buffer `narrow` to `wide`, before an
    /// overflow.
    fn flush(&mut self) {
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            for (draw, wide) in wide.iter_mut().enumerate() {
                // The one place where sums are put in the order of draws: once for all queries, and
                // not once a group.
                *wide = *wide + T::new(narrow[place(draw)]);
            }
            *narrow = [0; CHUNK];
        }
    }
}

/// Returns the number of batches of 256 queries whose sums under any signs fit an i64.
fn batches(series: &[&[i64]]) -> usize {
    let largest =
        series.iter().flat_map(|numbers| numbers.iter()).map(|number| number.unsigned_abs()).max();
    let largest = largest.unwrap_or(0).max(1);
    // 256 numbers of up to 2⁵⁴ make 2⁶², so one batch always fits and the result is at least 1.
    assert!(largest <= 2 * LARGEST as u64, "differences of values in whole units");
    ((1 << 62) / (BATCH as u64 * largest)) as usize
}

/// Draws the random sign flips of up to eight queries for a chunk of draws, with the vectors of
/// this machine.
fn bytes(random: Philox, queries: &[u64], chunk: u32) -> FlipOctet {
    dispatch!(Level::new(), _simd => FlipOctet::draw(random, queries, chunk))
}
