//! Columns of ids of queries or documents.

use std::num::Wrapping;
use std::ops::{BitOr, Range, Sub};

use super::decimal::{Integer, LONGEST};
use super::wrong::WrongColumn;
use crate::bytes::brief::Brief;
use crate::bytes::hash::Seed;
use crate::bytes::limits::LONGEST_LINE;
use crate::numbers::{Integers, borrowed, with_integers};

/// Ids of queries or documents, an id in each row, in a common memory layout.
///
/// Ids are bytes, and compared as bytes: they need not be UTF-8. The caller handles nulls: each row
/// has an id.
///
/// ```
/// use laneval::columns::{Integers, Text};
/// let names = ["q1", "q1", "q2"];
/// let utf8 = Text::Utf8 { offsets: &[0, 2, 4, 6], bytes: b"q1q1q2" };
/// let dictionary = Text::from(&["q1", "q2"]);
/// let coded = Text::Coded { codes: Integers::from(&[0u8, 0, 1]), values: &dictionary };
/// assert!([Text::from(&names), utf8, coded].iter().all(|text| text.len() == 3));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Text<'a> {
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
    Coded {
        /// The index of the value of each row, from 0.
        codes: Integers<'a>,
        /// The values, in which some may be repeated.
        values: &'a Text<'a>,
    },
    /// Integers, as ids of decimal text: 42 is `42`.
    Numbers(Integers<'a>),
    /// Slices of bytes.
    Bytes(&'a [&'a [u8]]),
    /// Strings.
    Strs(&'a [&'a str]),
}

borrowed!(Text: Bytes &'a [u8], Strs &'a str);

impl<'a, T> From<T> for Text<'a>
where
    Integers<'a>: From<T>,
{
    fn from(integers: T) -> Self {
        Text::Numbers(integers.into())
    }
}

/// An id as it lies in a column.
#[derive(Clone, Copy)]
pub enum ColumnId<'a> {
    Bytes(&'a [u8]),
    Integer(Integer),
}

impl<'a> ColumnId<'a> {
    /// Returns the bytes of the id; those of an integer are written into `digits`.
    #[inline]
    pub fn bytes<'s>(self, digits: &'s mut [u8; LONGEST]) -> &'s [u8]
    where
        'a: 's,
    {
        match self {
            ColumnId::Bytes(bytes) => bytes,
            ColumnId::Integer(integer) => {
                let length = integer.write(digits);
                &digits[..length]
            }
        }
    }

    /// Returns whether both ids have equal bytes. An integer counts as its decimal digits.
    pub fn is(self, other: ColumnId<'_>) -> bool {
        let (mut digits, mut others) = ([0; LONGEST], [0; LONGEST]);
        self.bytes(&mut digits) == other.bytes(&mut others)
    }
}

/// The hash of an id, and its number of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedId {
    pub hash: u64,
    pub length: u32,
}

/// The most bytes of an id that lies in the view itself.
const INLINE: usize = 12;

/// Returns the length, buffer and offset of a view.
#[inline(always)]
fn parts(view: u128) -> [usize; 3] {
    // No array is mapped here: where that is compiled as a call, it takes most of the time of a
    // row.
    let [length, _, buffer, offset]: [u32; 4] = bytemuck::cast(view);
    [length as usize, buffer as usize, offset as usize]
}

/// An id inside a buffer: the bytes of the buffer, and the place of the id.
#[derive(Clone, Copy)]
struct IdPlace<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> IdPlace<'a> {
    #[inline(always)]
    fn whole(bytes: &'a [u8]) -> Self {
        IdPlace { bytes, start: 0, end: bytes.len() }
    }
}

/// Returns where the id of a view lies.
#[inline(always)]
fn viewed<'a>(views: &'a [u128], buffers: &[&'a [u8]], row: usize) -> IdPlace<'a> {
    let [length, buffer, offset] = parts(views[row]);
    let (bytes, start) = if length <= INLINE {
        (bytemuck::cast_slice(views), size_of::<u128>() * row + 4)
    } else {
        (buffers[buffer], offset)
    };
    IdPlace { bytes, start, end: start + length }
}

/// Returns whether two pieces of text are equal.
#[inline(always)]
fn equal(one: IdPlace<'_>, other: IdPlace<'_>) -> bool {
    let IdPlace { bytes: of, start, end } = one;
    let IdPlace { bytes: other_of, start: other_start, end: other_end } = other;
    end - start == other_end - other_start
        && Brief::of(of, start, end) == Brief::of(other_of, other_start, other_end)
        && (end - start <= 16 || of[start..end] == other_of[other_start..other_end])
}

/// The number of rows whose ids are compared at a time.
const ALIKE: usize = 128;

/// Returns whether all values are equal. One comparison of memory compares each value with the
/// value before.
fn all_equal<T: PartialEq>(values: &[T]) -> bool {
    values.is_empty() || values[1..] == values[..values.len() - 1]
}

/// Returns whether consecutive ids in memory are all equal. All ids must be as long as the first,
/// and every byte must equal the byte one id before.
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
fn hashed(seed: Seed, id: IdPlace<'_>) -> HashedId {
    let IdPlace { bytes, start, end } = id;
    HashedId { hash: seed.hash(bytes, start, end), length: (end - start) as u32 }
}

impl<'a> Text<'a> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Text::Utf8 { offsets, .. } => offsets.len().saturating_sub(1),
            Text::LargeUtf8 { offsets, .. } => offsets.len().saturating_sub(1),
            Text::Views { views, .. } => views.len(),
            Text::Coded { codes, .. } => codes.len(),
            Text::Numbers(integers) => integers.len(),
            Text::Bytes(ids) => ids.len(),
            Text::Strs(ids) => ids.len(),
        }
    }

    /// Returns whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether one of the ids of a [checked](Self::check) column is empty.
    pub fn has_empty(&self, rows: Range<usize>) -> bool {
        match self {
            Text::Utf8 { offsets, .. } => {
                offsets[rows.start..=rows.end].windows(2).any(|of| of[0] == of[1])
            }
            Text::LargeUtf8 { offsets, .. } => {
                offsets[rows.start..=rows.end].windows(2).any(|of| of[0] == of[1])
            }
            Text::Views { views, .. } => views[rows].iter().any(|&view| parts(view)[0] == 0),
            Text::Coded { codes, values } => {
                let empty = |row| values.has_empty(codes.index(row)..codes.index(row) + 1);
                values.has_empty(0..values.len()) && rows.clone().any(empty)
            }
            Text::Numbers(_) => false,
            Text::Bytes(ids) => ids[rows].iter().any(|id| id.is_empty()),
            Text::Strs(ids) => ids[rows].iter().any(|id| id.is_empty()),
        }
    }

    /// Returns the id in a row of a column that was [checked](Self::check).
    #[inline]
    pub fn id(&self, row: usize) -> ColumnId<'a> {
        let IdPlace { bytes, start, end } = match *self {
            Text::Utf8 { offsets, bytes } => {
                IdPlace { bytes, start: offsets[row] as usize, end: offsets[row + 1] as usize }
            }
            Text::LargeUtf8 { offsets, bytes } => {
                IdPlace { bytes, start: offsets[row] as usize, end: offsets[row + 1] as usize }
            }
            Text::Views { views, buffers } => viewed(views, buffers, row),
            Text::Coded { codes, values } => return values.id(codes.index(row)),
            Text::Numbers(integers) => return ColumnId::Integer(integers.id(row)),
            Text::Bytes(ids) => return ColumnId::Bytes(ids[row]),
            Text::Strs(ids) => return ColumnId::Bytes(ids[row].as_bytes()),
        };
        ColumnId::Bytes(&bytes[start..end])
    }

    /// Returns whether the ids are integers, which lie nowhere as text.
    pub fn is_numeric(&self) -> bool {
        match self {
            Text::Coded { values, .. } => values.is_numeric(),
            _ => matches!(self, Text::Numbers(_)),
        }
    }

    /// Returns whether both columns lie in the same memory. Returns false for codes and numbers,
    /// because only columns of bytes are compared.
    pub fn is(&self, other: &Text<'_>) -> bool {
        match (*self, *other) {
            (Text::Utf8 { offsets, bytes }, Text::Utf8 { offsets: others, bytes: other }) => {
                std::ptr::eq(offsets, others) && std::ptr::eq(bytes, other)
            }
            (
                Text::LargeUtf8 { offsets, bytes },
                Text::LargeUtf8 { offsets: others, bytes: other },
            ) => std::ptr::eq(offsets, others) && std::ptr::eq(bytes, other),
            (Text::Views { views, buffers }, Text::Views { views: others, buffers: other }) => {
                std::ptr::eq(views, others)
                    && buffers.len() == other.len()
                    && std::iter::zip(buffers, other).all(|(one, other)| std::ptr::eq(*one, *other))
            }
            (Text::Bytes(ids), Text::Bytes(others)) => std::ptr::eq(ids, others),
            (Text::Strs(ids), Text::Strs(others)) => std::ptr::eq(ids, others),
            _ => false,
        }
    }

    /// Passes each row to `change` whose id differs from the id of the row before; not the first
    /// row.
    ///
    /// Most queries have many rows, so some rows at a time are first compared as a whole.
    #[inline(always)]
    pub fn each_change(&self, rows: Range<usize>, mut change: impl FnMut(usize)) {
        for start in rows.clone().step_by(ALIKE) {
            // The slice starts a row early, so that the first row is compared with the row before.
            let some = start.saturating_sub(1).max(rows.start)..rows.end.min(start + ALIKE);
            if !self.is_one_id(some.clone()) {
                self.each_change_of(some, &mut change);
            }
        }
    }

    /// Returns whether vector comparisons prove that all rows have equal ids. Rows with equal ids
    /// may give false too.
    #[inline(never)]
    fn is_one_id(&self, rows: Range<usize>) -> bool {
        match *self {
            Text::Utf8 { offsets, bytes } => is_repeated(&offsets[rows.start..=rows.end], bytes),
            Text::LargeUtf8 { offsets, bytes } => {
                is_repeated(&offsets[rows.start..=rows.end], bytes)
            }
            Text::Views { views, .. } => all_equal(&views[rows]),
            Text::Coded { codes: integers, .. } | Text::Numbers(integers) => {
                with_integers!(integers, values => all_equal(&values[rows]))
            }
            Text::Bytes(_) | Text::Strs(_) => false,
        }
    }

    /// Finds changes as `each_change` does, row by row.
    #[inline(always)]
    fn each_change_of(&self, rows: Range<usize>, mut change: impl FnMut(usize)) {
        let all = rows.start + 1..rows.end;
        let mut unless = |row: usize, same: bool| {
            if !same {
                change(row);
            }
        };
        match *self {
            Text::Utf8 { offsets, bytes } => {
                let id = |row: usize| IdPlace {
                    bytes,
                    start: offsets[row] as usize,
                    end: offsets[row + 1] as usize,
                };
                all.for_each(|row| unless(row, equal(id(row - 1), id(row))));
            }
            Text::LargeUtf8 { offsets, bytes } => {
                let id = |row: usize| IdPlace {
                    bytes,
                    start: offsets[row] as usize,
                    end: offsets[row + 1] as usize,
                };
                all.for_each(|row| unless(row, equal(id(row - 1), id(row))));
            }
            Text::Views { views, buffers } => all.for_each(|row| {
                let id = |row: usize| viewed(views, buffers, row);
                unless(row, views[row - 1] == views[row] || equal(id(row - 1), id(row)));
            }),
            Text::Coded { codes: integers, .. } | Text::Numbers(integers) => {
                with_integers!(integers, values => {
                    let pairs = std::iter::zip(all, values[rows].windows(2));
                    pairs.for_each(|(row, pair)| unless(row, pair[0] == pair[1]));
                });
            }
            Text::Bytes(ids) => all.for_each(|row| unless(row, ids[row - 1] == ids[row])),
            Text::Strs(ids) => all.for_each(|row| unless(row, ids[row - 1] == ids[row])),
        }
    }

    /// Returns whether two rows have the same id.
    pub fn same(&self, one: usize, other: usize) -> bool {
        let codes = match self {
            Text::Coded { codes, .. } => codes.same(one, other),
            _ => false,
        };
        codes || self.id(one).is(self.id(other))
    }

    /// Passes on the hashes of some rows, in order; `known` has those of the values of a
    /// dictionary. Integers are written into `digits`, [`LONGEST`] bytes for each row.
    #[inline(always)]
    fn each_hash(
        &self,
        rows: Range<usize>,
        seed: Seed,
        known: Option<&[HashedId]>,
        digits: &mut [u8],
        mut take: impl FnMut(HashedId),
    ) {
        match (*self, known) {
            (Text::Utf8 { offsets, bytes }, _) => {
                for pair in offsets[rows.start..=rows.end].windows(2) {
                    take(hashed(
                        seed,
                        IdPlace { bytes, start: pair[0] as usize, end: pair[1] as usize },
                    ));
                }
            }
            (Text::LargeUtf8 { offsets, bytes }, _) => {
                for pair in offsets[rows.start..=rows.end].windows(2) {
                    take(hashed(
                        seed,
                        IdPlace { bytes, start: pair[0] as usize, end: pair[1] as usize },
                    ));
                }
            }
            (Text::Views { views, buffers }, _) => {
                rows.for_each(|row| take(hashed(seed, viewed(views, buffers, row))));
            }
            (Text::Coded { codes, values }, Some(known)) if !values.is_numeric() => {
                with_integers!(codes, codes => {
                    codes[rows].iter().for_each(|&code| take(known[code as usize]))
                });
            }
            (Text::Numbers(integers), _) => {
                let places = digits.as_chunks_mut::<LONGEST>().0;
                with_integers!(integers, values => {
                    for (place, &value) in std::iter::zip(places, &values[rows]) {
                        let length = Integer::of(value).write(place);
                        take(hashed(seed, IdPlace { bytes: &place[..], start: 0, end: length }));
                    }
                });
            }
            (Text::Bytes(ids), _) => {
                ids[rows].iter().for_each(|id| take(hashed(seed, IdPlace::whole(id))))
            }
            (Text::Strs(ids), _) => {
                ids[rows].iter().for_each(|id| take(hashed(seed, IdPlace::whole(id.as_bytes()))));
            }
            (Text::Coded { .. }, _) => self.each_hash_by_row(rows, seed, digits, take),
        }
    }

    /// Computes hashes as `each_hash` does, row by row.
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
                ColumnId::Bytes(bytes) => hashed(seed, IdPlace::whole(bytes)),
                ColumnId::Integer(integer) => {
                    let mut place = [0; LONGEST];
                    let length = integer.write(&mut place);
                    places.next().into_iter().for_each(|there| *there = place);
                    hashed(seed, IdPlace { bytes: &place, start: 0, end: length })
                }
            });
        }
    }

    /// Replaces `hashed` by the hashes of some rows, in order, as [`Text::each_hash`] passes them
    /// on.
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
        self.each_hash(rows, seed, known, digits, |id| {
            if let Some(place) = hashed.get_mut(count) {
                *place = id;
            }
            count += 1;
        });
    }

    /// Checks some rows; rows that were checked can be read.
    pub fn check(&self, rows: Range<usize>) -> Result<(), WrongColumn> {
        match *self {
            Text::Utf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Text::LargeUtf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Text::Views { views, buffers } => check_views(views, buffers, rows),
            Text::Coded { codes, values } => match codes.beyond(rows, values.len()) {
                Some(row) => {
                    let (mut digits, count) = ([0; LONGEST], values.len());
                    let code = ColumnId::Integer(codes.id(row))
                        .bytes(&mut digits)
                        .escape_ascii()
                        .to_string();
                    Err(WrongColumn::at(
                        row,
                        format!("code {code} of a dictionary of {count} values"),
                    ))
                }
                None => Ok(()),
            },
            Text::Numbers(_) => Ok(()),
            Text::Bytes(ids) => check_lengths(ids[rows.clone()].iter().map(|id| id.len()), rows),
            Text::Strs(ids) => check_lengths(ids[rows.clone()].iter().map(|id| id.len()), rows),
        }
    }
}

/// Makes the error for an id that is too long.
fn too_long(row: usize) -> WrongColumn {
    WrongColumn::at(row, "the id has more than 64 MiB".to_owned())
}

fn check_lengths(
    lengths: impl Iterator<Item = usize>,
    rows: Range<usize>,
) -> Result<(), WrongColumn> {
    match std::iter::zip(rows, lengths).find(|(_, length)| *length > LONGEST_LINE) {
        Some((row, _)) => Err(too_long(row)),
        None => Ok(()),
    }
}

/// Checks that offsets ascend, and end within the bytes.
fn check_offsets<T: Copy + Default + Into<i64>>(
    offsets: &[T],
    rows: Range<usize>,
    bytes: usize,
) -> Result<(), WrongColumn>
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
    let longest = LONGEST_LINE as u64;
    if all.0.into() >= 0 && (lengths.0.into() as u64) < longest && last as u64 <= bytes as u64 {
        return Ok(());
    }
    let length = |pair: &[T]| pair[1].into().wrapping_sub(pair[0].into()) as u64;
    let wrong = |pair: &[T]| {
        let (start, end) = (pair[0].into(), pair[1].into());
        start < 0 || length(pair) > longest || end as u64 > bytes as u64
    };
    let Some((row, pair)) = std::iter::zip(rows, offsets.windows(2)).find(|(_, pair)| wrong(pair))
    else {
        return Ok(()); // ids of 64 MiB exactly
    };
    let (start, end) = (pair[0].into(), pair[1].into());
    Err(match () {
        () if start < 0 => WrongColumn::at(row, format!("offset {start} is negative")),
        () if end < start => WrongColumn::at(
            row,
            format!("offset {end} comes after offset {start}: they must ascend"),
        ),
        () if end as u64 > bytes as u64 => {
            WrongColumn::at(row, format!("offset {end} lies beyond the {bytes} bytes of the ids"))
        }
        () => too_long(row),
    })
}

/// Checks that views lie within their buffers.
fn check_views(views: &[u128], buffers: &[&[u8]], rows: Range<usize>) -> Result<(), WrongColumn> {
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
        if length > LONGEST_LINE {
            return Err(too_long(row));
        }
        let Some(bytes) = buffers.get(buffer) else {
            let count = buffers.len();
            return Err(WrongColumn::at(
                row,
                format!("a view into buffer {buffer}, and there are {count}"),
            ));
        };
        if offset + length > bytes.len() {
            let (end, bytes) = (offset + length, bytes.len());
            return Err(WrongColumn::at(
                row,
                format!("a view that ends at {end} in a buffer of {bytes} bytes"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first row whose offsets are wrong, found offset by offset.
    fn wrong_row(offsets: &[i64], bytes: usize) -> Option<usize> {
        let is_wrong = |pair: &[i64]| {
            let (start, end) = (i128::from(pair[0]), i128::from(pair[1]));
            start < 0 || end < start || end - start > LONGEST_LINE as i128 || end > bytes as i128
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
            let offsets: Vec<i64> = std::iter::once(first)
                .chain(steps.iter().scan(first, |at, step| {
                    *at = at.wrapping_add(*step);
                    Some(*at)
                }))
                .collect();
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
