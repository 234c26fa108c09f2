//! Columns of ids of queries or documents: their memory layouts, hashes, comparisons and checks.

use std::num::Wrapping;
use std::ops::{BitOr, Range, Sub};
use std::{iter, ptr};

use super::{
    column_error::ColumnError,
    decimal::{Integer, LONGEST},
};
use crate::bytes::{hash::Seed, id::IdInText, id_prefix::IdPrefix, limits::MAX_LINE_BYTES};
use crate::numbers::{Integers, borrowed, with_integers};

/// A column of ids of queries or documents, an id in each row, in a common memory layout such as
/// Arrow's.
///
/// Ids are bytes, and compared as bytes: they need not be UTF-8. The caller handles nulls: each row
/// has an id.
///
/// ```
/// use laneval::columns::{IdColumn, Integers};
/// let names = ["q1", "q1", "q2"];
/// let utf8 = IdColumn::Utf8 { offsets: &[0, 2, 4, 6], bytes: b"q1q1q2" };
/// let dictionary = IdColumn::from(&["q1", "q2"]);
/// let coded = IdColumn::Dictionary { codes: Integers::from(&[0u8, 0, 1]), values: &dictionary };
/// assert!([IdColumn::from(&names), utf8, coded].iter().all(|text| text.len() == 3));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum IdColumn<'a> {
    /// Arrow's `Utf8` and `Binary`: row `i` is `bytes[offsets[i]..offsets[i + 1]]`. A column of `n`
    /// rows has `n + 1` offsets, of which the first need not be 0.
    Utf8 {
        /// The starts and ends of ids.
        offsets: &'a [i32],
        /// The concatenated bytes of the ids.
        bytes: &'a [u8],
    },
    /// Arrow's `LargeUtf8` and `LargeBinary`: like `Utf8`, with offsets of 64 bits.
    LargeUtf8 {
        /// The starts and ends of ids.
        offsets: &'a [i64],
        /// The concatenated bytes of the ids.
        bytes: &'a [u8],
    },
    /// Arrow's `Utf8View` and `BinaryView`: 16 bytes for each row, with the length (32 bits) and
    /// either up to 12 bytes of the id, or the first 4 of them, a buffer and the offset in it.
    Views {
        /// The views as they lie in memory.
        views: &'a [u128],
        /// The buffers of longer ids.
        buffers: &'a [&'a [u8]],
    },
    /// A dictionary: row `i` is `values[codes[i]]`. Each used value is looked up once, not once for
    /// each row.
    Dictionary {
        /// The index of the value of each row, from 0.
        codes: Integers<'a>,
        /// The values, in which some may be repeated.
        values: &'a IdColumn<'a>,
    },
    /// Integers, as ids of decimal text: 42 is `42`.
    Integers(Integers<'a>),
    /// Slices of bytes.
    Bytes(&'a [&'a [u8]]),
    /// Strings.
    Strs(&'a [&'a str]),
}

borrowed!(IdColumn: Bytes &'a [u8], Strs &'a str);

impl<'a, T> From<T> for IdColumn<'a>
where
    Integers<'a>: From<T>,
{
    fn from(integers: T) -> Self {
        Self::Integers(integers.into())
    }
}

/// An id of a query or document as it lies in a column: bytes or an integer.
#[derive(Clone, Copy)]
pub enum ColumnId<'a> {
    Bytes(&'a [u8]),
    Integer(Integer),
}

impl<'a> ColumnId<'a> {
    /// Returns the bytes of the id; the digits of an integer id are written into `digits`.
    #[inline]
    pub fn bytes<'s>(self, digits: &'s mut [u8; LONGEST]) -> &'s [u8]
    where
        'a: 's,
    {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Integer(integer) => {
                let length = integer.write(digits);
                &digits[..length]
            }
        }
    }

    /// Returns whether two ids have equal bytes, where an integer counts as its decimal digits.
    pub fn is(self, other: ColumnId<'_>) -> bool {
        let (mut digits, mut others) = ([0; LONGEST], [0; LONGEST]);
        self.bytes(&mut digits) == other.bytes(&mut others)
    }
}

/// The hash of an id of a query or document, and its number of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedId {
    pub hash: u64,
    pub length: u32,
}

/// The most bytes of an id that lies in the view itself.
const INLINE: usize = 12;

/// Returns the length, the buffer and the offset of an id from its Arrow view.
#[inline(always)]
fn parts(view: u128) -> [usize; 3] {
    // No array is mapped here: where that is compiled as a call, it takes most of the time of a
    // row.
    let [length, _, buffer, offset]: [u32; 4] = bytemuck::cast(view);
    [length as usize, buffer as usize, offset as usize]
}

/// Returns the id in `text` that lies between the first two of `offsets`.
#[inline(always)]
fn between<'a, T: Copy + Into<i64>>(offsets: &[T], text: &'a [u8]) -> IdInText<'a> {
    IdInText { text, start: offsets[0].into() as usize, end: offsets[1].into() as usize }
}

/// Returns the place of the id in a row of a column of Arrow views.
#[inline(always)]
fn viewed<'a>(views: &'a [u128], buffers: &[&'a [u8]], row: usize) -> IdInText<'a> {
    let [length, buffer, offset] = parts(views[row]);
    let (text, start) = if length <= INLINE {
        (bytemuck::cast_slice(views), size_of::<u128>() * row + 4)
    } else {
        (buffers[buffer], offset)
    };
    IdInText { text, start, end: start + length }
}

/// Returns whether two ids inside buffers have equal bytes.
#[inline(always)]
fn equal(one: IdInText<'_>, other: IdInText<'_>) -> bool {
    let length = one.end - one.start;
    length == other.end - other.start
        && one.prefix() == other.prefix()
        // Both ends and the length determine an id of at most 16 bytes.
        && (length <= IdPrefix::ALL || one.bytes() == other.bytes())
}

/// Returns whether a row's id equals the id of the row before, in a column of bytes with offsets.
#[inline(always)]
fn is_same_between<T: Copy + Into<i64>>(offsets: &[T], bytes: &[u8], row: usize) -> bool {
    equal(between(&offsets[row - 1..row + 1], bytes), between(&offsets[row..row + 2], bytes))
}

/// The number of rows whose ids are compared at a time.
const ALIKE: usize = 128;

/// Returns whether all values of a slice are equal. One comparison of memory compares each value
/// with the value before.
fn all_equal<T: PartialEq>(values: &[T]) -> bool {
    values.is_empty() || values[1..] == values[..values.len() - 1]
}

/// Returns whether a value of a slice equals the value before.
fn has_repeat<T: PartialEq>(values: &[T]) -> bool {
    values.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns whether all ids in a column of bytes with offsets are equal. All ids must be as long as
/// the first, and every byte must equal the byte one id before.
fn is_repeated<T: Copy + Into<i64>>(offsets: &[T], bytes: &[u8]) -> bool
where
    Wrapping<T>: Sub<Output = Wrapping<T>> + PartialEq,
{
    let [first, second, .., last] = *offsets else { return true };
    let length = Wrapping(second) - Wrapping(first);
    let alike = offsets
        .windows(2)
        .fold(true, |all, pair| all & (Wrapping(pair[1]) - Wrapping(pair[0]) == length));
    let (start, end, length) =
        (first.into() as usize, last.into() as usize, length.0.into() as usize);
    alike && bytes[start..end - length] == bytes[start + length..end]
}

#[inline(always)]
fn hash_of(seed: Seed, id: IdInText<'_>) -> HashedId {
    HashedId { hash: id.hash(seed), length: (id.end - id.start) as u32 }
}

impl<'a> IdColumn<'a> {
    /// Returns the number of rows of the column, each with an id.
    pub fn len(&self) -> usize {
        match self {
            Self::Utf8 { offsets, .. } => offsets.len().saturating_sub(1),
            Self::LargeUtf8 { offsets, .. } => offsets.len().saturating_sub(1),
            Self::Views { views, .. } => views.len(),
            Self::Dictionary { codes, .. } => codes.len(),
            Self::Integers(integers) => integers.len(),
            Self::Bytes(ids) => ids.len(),
            Self::Strs(ids) => ids.len(),
        }
    }

    /// Returns whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether an id in some rows of a [checked](Self::check) column is empty.
    pub fn has_empty(&self, rows: Range<usize>) -> bool {
        match self {
            Self::Utf8 { offsets, .. } => has_repeat(&offsets[rows.start..=rows.end]),
            Self::LargeUtf8 { offsets, .. } => has_repeat(&offsets[rows.start..=rows.end]),
            Self::Views { views, .. } => views[rows].iter().any(|&view| parts(view)[0] == 0),
            Self::Dictionary { codes, values } => {
                // An empty value is a fault only if a row has its code. Most dictionaries have no
                // empty value, and then no row is looked at.
                values.has_empty(0..values.len())
                    && rows.map(|row| codes.index(row)).any(|code| values.has_empty(code..code + 1))
            }
            Self::Integers(_) => false,
            Self::Bytes(ids) => ids[rows].iter().any(|id| id.is_empty()),
            Self::Strs(ids) => ids[rows].iter().any(|id| id.is_empty()),
        }
    }

    /// Returns the query or document id in a row of a column that was [checked](Self::check).
    #[inline]
    pub fn id(&self, row: usize) -> ColumnId<'a> {
        let id = match *self {
            Self::Utf8 { offsets, bytes } => between(&offsets[row..row + 2], bytes),
            Self::LargeUtf8 { offsets, bytes } => between(&offsets[row..row + 2], bytes),
            Self::Views { views, buffers } => viewed(views, buffers, row),
            Self::Dictionary { codes, values } => return values.id(codes.index(row)),
            Self::Integers(integers) => return ColumnId::Integer(integers.id(row)),
            Self::Bytes(ids) => return ColumnId::Bytes(ids[row]),
            Self::Strs(ids) => return ColumnId::Bytes(ids[row].as_bytes()),
        };
        ColumnId::Bytes(id.bytes())
    }

    /// Returns whether the ids of the column are integers, which lie nowhere as text.
    pub fn is_numeric(&self) -> bool {
        match self {
            Self::Dictionary { values, .. } => values.is_numeric(),
            Self::Integers(_) => true,
            _ => false,
        }
    }

    /// Returns whether two columns of ids lie in the same memory. Returns false for codes and
    /// numbers, because only columns of bytes are compared.
    pub fn is(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Utf8 { offsets, bytes }, Self::Utf8 { offsets: others, bytes: other }) => {
                ptr::eq(offsets, others) && ptr::eq(bytes, other)
            }
            (
                Self::LargeUtf8 { offsets, bytes },
                Self::LargeUtf8 { offsets: others, bytes: other },
            ) => ptr::eq(offsets, others) && ptr::eq(bytes, other),
            (Self::Views { views, buffers }, Self::Views { views: others, buffers: other }) => {
                ptr::eq(views, others)
                    && buffers.len() == other.len()
                    && iter::zip(buffers, other).all(|(one, other)| ptr::eq(*one, *other))
            }
            (Self::Bytes(ids), Self::Bytes(others)) => ptr::eq(ids, others),
            (Self::Strs(ids), Self::Strs(others)) => ptr::eq(ids, others),
            _ => false,
        }
    }

    /// Passes each row whose id differs from the id of the row before to `change`. The first row is
    /// not passed.
    ///
    /// Most queries have many rows, so some rows at a time are first compared as a whole.
    #[inline(always)]
    pub fn each_change(&self, rows: Range<usize>, mut change: impl FnMut(usize)) {
        for start in rows.clone().step_by(ALIKE) {
            // The slice starts a row early, so that the first row is compared with the row before.
            let some = start.saturating_sub(1).max(rows.start)..rows.end.min(start + ALIKE);
            if self.is_one_id(some.clone()) {
                continue;
            }
            let all = some.start + 1..some.end;
            match *self {
                Self::Utf8 { offsets, bytes } => {
                    all.filter(|&row| !is_same_between(offsets, bytes, row)).for_each(&mut change);
                }
                Self::LargeUtf8 { offsets, bytes } => {
                    all.filter(|&row| !is_same_between(offsets, bytes, row)).for_each(&mut change);
                }
                Self::Views { views, buffers } => all
                    .filter(|&row| {
                        views[row - 1] != views[row]
                            && !equal(viewed(views, buffers, row - 1), viewed(views, buffers, row))
                    })
                    .for_each(&mut change),
                Self::Dictionary { codes: integers, .. } | Self::Integers(integers) => {
                    with_integers!(integers, values => {
                        for (row, pair) in iter::zip(all, values[some].windows(2)) {
                            if pair[0] != pair[1] {
                                change(row);
                            }
                        }
                    });
                }
                Self::Bytes(ids) => {
                    all.filter(|&row| ids[row - 1] != ids[row]).for_each(&mut change)
                }
                Self::Strs(ids) => {
                    all.filter(|&row| ids[row - 1] != ids[row]).for_each(&mut change)
                }
            }
        }
    }

    /// Returns whether vector comparisons prove that all of some rows have equal ids. Rows with
    /// equal ids may give false too.
    #[inline(never)]
    fn is_one_id(&self, rows: Range<usize>) -> bool {
        match *self {
            Self::Utf8 { offsets, bytes } => is_repeated(&offsets[rows.start..=rows.end], bytes),
            Self::LargeUtf8 { offsets, bytes } => {
                is_repeated(&offsets[rows.start..=rows.end], bytes)
            }
            Self::Views { views, .. } => all_equal(&views[rows]),
            Self::Dictionary { codes: integers, .. } | Self::Integers(integers) => {
                with_integers!(integers, values => all_equal(&values[rows]))
            }
            Self::Bytes(_) | Self::Strs(_) => false,
        }
    }

    /// Returns whether two rows of the column have the same id.
    pub fn same(&self, one: usize, other: usize) -> bool {
        let codes = match self {
            Self::Dictionary { codes, .. } => codes.same(one, other),
            _ => false,
        };
        codes || self.id(one).is(self.id(other))
    }

    /// Replaces `hashed` by the hashes of the ids in some rows, in order. `known` has the hashes of
    /// the values of a dictionary. Integers are written into `digits`, [`LONGEST`] bytes for each
    /// row.
    #[inline(never)]
    pub fn hash(
        &self,
        rows: Range<usize>,
        seed: Seed,
        known: Option<&[HashedId]>,
        digits: &mut [u8],
        hashed: &mut Vec<HashedId>,
    ) {
        let mut count = 0;
        hashed.resize(rows.len(), HashedId::default());
        let mut take = |id| {
            if let Some(place) = hashed.get_mut(count) {
                *place = id;
            }
            count += 1;
        };
        match (*self, known) {
            (Self::Utf8 { offsets, bytes }, _) => {
                for pair in offsets[rows.start..=rows.end].windows(2) {
                    take(hash_of(seed, between(pair, bytes)));
                }
            }
            (Self::LargeUtf8 { offsets, bytes }, _) => {
                for pair in offsets[rows.start..=rows.end].windows(2) {
                    take(hash_of(seed, between(pair, bytes)));
                }
            }
            (Self::Views { views, buffers }, _) => {
                rows.for_each(|row| take(hash_of(seed, viewed(views, buffers, row))));
            }
            (Self::Dictionary { codes, values }, Some(known)) if !values.is_numeric() => {
                with_integers!(codes, codes => {
                    codes[rows].iter().for_each(|&code| take(known[code as usize]))
                });
            }
            (Self::Integers(integers), _) => {
                let places = digits.as_chunks_mut::<LONGEST>().0;
                with_integers!(integers, values => {
                    for (place, &value) in iter::zip(places, &values[rows]) {
                        let length = Integer::from(value).write(place);
                        take(hash_of(seed, IdInText { text: place, start: 0, end: length }));
                    }
                });
            }
            (Self::Bytes(ids), _) => {
                ids[rows].iter().for_each(|&id| take(hash_of(seed, id.into())));
            }
            (Self::Strs(ids), _) => {
                ids[rows].iter().for_each(|id| take(hash_of(seed, id.as_bytes().into())));
            }
            (Self::Dictionary { .. }, _) => self.each_hash_by_row(rows, seed, digits, take),
        }
    }

    /// Passes the hash of the id in each of some rows to `take`, computed row by row.
    #[inline(always)]
    fn each_hash_by_row(
        &self,
        rows: Range<usize>,
        seed: Seed,
        digits: &mut [u8],
        mut take: impl FnMut(HashedId),
    ) {
        let mut places = digits.as_chunks_mut::<LONGEST>().0.iter_mut();
        for row in rows {
            take(match self.id(row) {
                ColumnId::Bytes(bytes) => hash_of(seed, bytes.into()),
                ColumnId::Integer(integer) => {
                    let mut place = [0; LONGEST];
                    let length = integer.write(&mut place);
                    places.next().into_iter().for_each(|there| *there = place);
                    hash_of(seed, IdInText { text: &place, start: 0, end: length })
                }
            });
        }
    }

    /// Rejects ids that are too long, and wrong offsets or codes, in some rows; the rest can be
    /// read safely.
    pub fn check(&self, rows: Range<usize>) -> Result<(), ColumnError> {
        match *self {
            Self::Utf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Self::LargeUtf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Self::Views { views, buffers } => check_views(views, buffers, rows),
            Self::Dictionary { codes, values } => {
                let Some(row) = codes.beyond(rows, values.len()) else { return Ok(()) };
                let (code, count) = (codes.get(row), values.len());
                let message = format!("code {code} of a dictionary of {count} values");
                Err(ColumnError::at(row, message))
            }
            Self::Integers(_) => Ok(()),
            Self::Bytes(ids) => check_lengths(ids, rows),
            Self::Strs(ids) => check_lengths(ids, rows),
        }
    }
}

/// Makes the error for an id of more than 64 MiB.
fn too_long(row: usize) -> ColumnError {
    ColumnError::at(row, "the id has more than 64 MiB".to_owned())
}

fn check_lengths<T: AsRef<[u8]>>(ids: &[T], rows: Range<usize>) -> Result<(), ColumnError> {
    let mut ids = iter::zip(rows.clone(), &ids[rows]);
    let long = ids.find(|&(_, id)| id.as_ref().len() > MAX_LINE_BYTES);
    long.map_or(Ok(()), |(row, _)| Err(too_long(row)))
}

/// Rejects offsets of ids that do not ascend or end beyond the bytes, and ids that are too long.
fn check_offsets<T: Copy + Default + Into<i64>>(
    offsets: &[T],
    rows: Range<usize>,
    bytes: usize,
) -> Result<(), ColumnError>
where
    Wrapping<T>: Sub<Output = Wrapping<T>> + BitOr<Output = Wrapping<T>>,
{
    if rows.is_empty() {
        return Ok(());
    }
    let offsets = &offsets[rows.start..=rows.end];
    let (first, last) = (Wrapping(offsets[0]), offsets[offsets.len() - 1].into());
    // Bits are collected, in the width of the offsets and without a comparison for each offset. If
    // no offset is negative, no difference wraps, so a negative difference sets the sign bit of
    // `lengths`. A length with any bit of 2²⁶ or above is examined below.
    let (all, lengths) =
        offsets.windows(2).fold((first, Wrapping::default()), |(all, lengths), pair| {
            let (start, end) = (Wrapping(pair[0]), Wrapping(pair[1]));
            (all | end, lengths | (end - start))
        });
    let longest = MAX_LINE_BYTES as u64;
    if all.0.into() >= 0 && (lengths.0.into() as u64) < longest && last as u64 <= bytes as u64 {
        return Ok(());
    }
    let wrong = iter::zip(rows, offsets.windows(2)).find(|(_, pair)| {
        let (start, end) = (pair[0].into(), pair[1].into());
        start < 0 || end.wrapping_sub(start) as u64 > longest || end as u64 > bytes as u64
    });
    // Ids of 64 MiB exactly set a bit that the fast test looks for, and are not wrong.
    let Some((row, pair)) = wrong else { return Ok(()) };
    let (start, end) = (pair[0].into(), pair[1].into());
    let message = if start < 0 {
        format!("offset {start} is negative")
    } else if end < start {
        format!("offset {end} comes after offset {start}: they must ascend")
    } else if end as u64 > bytes as u64 {
        format!("offset {end} lies beyond the {bytes} bytes of the ids")
    } else {
        return Err(too_long(row));
    };
    Err(ColumnError::at(row, message))
}

/// Rejects Arrow views of ids that lie outside their buffers, and ids that are too long.
fn check_views(views: &[u128], buffers: &[&[u8]], rows: Range<usize>) -> Result<(), ColumnError> {
    // Short ids lie in their views. This does not end early, so it is a loop without a branch for
    // each row.
    if views[rows.clone()].iter().fold(true, |all, &view| all & (view as u32 <= INLINE as u32)) {
        return Ok(());
    }
    for row in rows {
        let [length, buffer, offset] = parts(views[row]);
        if length <= INLINE {
            continue;
        }
        if length > MAX_LINE_BYTES {
            return Err(too_long(row));
        }
        let Some(bytes) = buffers.get(buffer) else {
            let message = format!("a view into buffer {buffer}, and there are {}", buffers.len());
            return Err(ColumnError::at(row, message));
        };
        let (end, bytes) = (offset + length, bytes.len());
        if end > bytes {
            let message = format!("a view that ends at {end} in a buffer of {bytes} bytes");
            return Err(ColumnError::at(row, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the first row whose offsets are wrong, found offset by offset.
    fn wrong_row(offsets: &[i64], bytes: usize) -> Option<usize> {
        let is_wrong = |pair: &[i64]| {
            let (start, end) = (i128::from(pair[0]), i128::from(pair[1]));
            start < 0 || end < start || end - start > MAX_LINE_BYTES as i128 || end > bytes as i128
        };
        offsets.windows(2).position(is_wrong)
    }

    const STEPS: [i64; 10] = [
        0,
        1,
        7,
        -1,
        (64 << 20) - 1,
        64 << 20,
        (64 << 20) + 1,
        i32::MAX as i64,
        i32::MIN as i64,
        i64::MIN,
    ];

    proptest! {
        #[test]
        fn wrong_offsets_are_found(
            first in prop::sample::select(&[0i64, 0, 5, -1, 1 << 31, i64::MAX][..]),
            steps in prop::collection::vec(prop::sample::select(&STEPS[..]), 0..70),
            large: bool,
            bytes in prop::sample::select(&[0usize, 100, 64 << 20, 1 << 40][..]),
        ) {
            // Now and then all lengths are the same, so that offsets go round.
            let steps = if large { vec![*steps.first().unwrap_or(&0); steps.len()] } else { steps };
            let mut offsets = vec![first];
            for step in steps {
                offsets.push(offsets[offsets.len() - 1].wrapping_add(step));
            }
            let rows = 0..offsets.len() - 1;
            let found = check_offsets(&offsets, rows.clone(), bytes).err().map(|wrong| wrong.row);
            prop_assert_eq!(found, wrong_row(&offsets, bytes).map(Some));
            let short: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
            let widened: Vec<i64> = short.iter().map(|&offset| i64::from(offset)).collect();
            let found = check_offsets(&short, rows, bytes).err().map(|wrong| wrong.row);
            prop_assert_eq!(found, wrong_row(&widened, bytes).map(Some));
        }
    }
}
