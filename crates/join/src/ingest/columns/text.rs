//! Columns of ids of queries or documents.

use std::ops::Range;

use super::decimal::{Integer, LONGEST};
use super::wrong::WrongColumn;
use crate::ingest::bytes::brief::Brief;
use crate::ingest::bytes::hash::Seed;
use crate::ingest::bytes::limits::LONGEST_LINE;
use crate::numbers::{Integers, borrowed, with_integers};

/// Ids of queries or documents, one on each row, in one of the shapes in which programs have them.
///
/// Ids are bytes, and compared as bytes: they need not be UTF-8. The caller handles nulls: each row has an id.
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
    /// Arrow's `Utf8` and `Binary`: row `i` is `bytes[offsets[i]..offsets[i + 1]]`, so there is one offset more than rows. The first need
    /// not be 0.
    Utf8 {
        /// The starts and ends of ids.
        offsets: &'a [i32],
        /// The bytes of the ids, one after the other.
        bytes: &'a [u8],
    },
    /// Arrow's `LargeUtf8` and `LargeBinary`: like `Utf8`, with offsets of 64 bits.
    LargeUtf8 {
        /// The starts and ends of ids.
        offsets: &'a [i64],
        /// The bytes of the ids, one after the other.
        bytes: &'a [u8],
    },
    /// Arrow's `Utf8View` and `BinaryView`: 16 bytes for each row, with the length (32 bits) and either up to 12 bytes of the id, or the
    /// first 4 of them, a buffer and the offset in it.
    Views {
        /// The views as they lie in memory.
        views: &'a [u128],
        /// The buffers of longer ids.
        buffers: &'a [&'a [u8]],
    },
    /// A dictionary: row `i` is `values[codes[i]]`. Each value that occurs is looked up once, not once for each row.
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
pub(in crate::ingest) enum ColumnId<'a> {
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

    /// Returns whether `other` is the same id.
    pub fn is(self, other: ColumnId<'_>) -> bool {
        let (mut digits, mut others) = ([0; LONGEST], [0; LONGEST]);
        self.bytes(&mut digits) == other.bytes(&mut others)
    }
}

/// The hash of an id, and its number of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::ingest) struct HashedId {
    pub hash: u64,
    pub length: u32,
}

/// The most bytes of an id that lies in the view itself.
const INLINE: usize = 12;

/// Returns the length, buffer and offset of a view.
#[inline(always)]
fn parts(view: u128) -> [usize; 3] {
    // No array is mapped here: where that is compiled as a call, it takes most of the time of a row.
    let [length, _, buffer, offset]: [u32; 4] = bytemuck::cast(view);
    [length as usize, buffer as usize, offset as usize]
}

/// An id where it lies: the bytes around it, and its place in them.
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
    let (bytes, start) = match length <= INLINE {
        true => (bytemuck::cast_slice(views), size_of::<u128>() * row + 4),
        false => (buffers[buffer], offset),
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

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether one of the ids of a [checked](Self::check) column is empty.
    pub(in crate::ingest) fn has_empty(&self, rows: Range<usize>) -> bool {
        match self {
            Text::Utf8 { offsets, .. } => offsets[rows.start..=rows.end].windows(2).any(|of| of[0] == of[1]),
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
    pub(in crate::ingest) fn id(&self, row: usize) -> ColumnId<'a> {
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
    pub(in crate::ingest) fn is_numeric(&self) -> bool {
        match self {
            Text::Coded { values, .. } => values.is_numeric(),
            _ => matches!(self, Text::Numbers(_)),
        }
    }

    /// Returns whether `other` is the same column, in the same memory. Only columns of bytes are compared.
    pub(in crate::ingest) fn is(&self, other: &Text<'_>) -> bool {
        match (*self, *other) {
            (Text::Utf8 { offsets, bytes }, Text::Utf8 { offsets: others, bytes: other }) => {
                std::ptr::eq(offsets, others) && std::ptr::eq(bytes, other)
            }
            (Text::LargeUtf8 { offsets, bytes }, Text::LargeUtf8 { offsets: others, bytes: other }) => {
                std::ptr::eq(offsets, others) && std::ptr::eq(bytes, other)
            }
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

    /// Passes the rows to `change` whose id differs from that of the row before; not the first row.
    #[inline(always)]
    pub(in crate::ingest) fn each_change(&self, rows: Range<usize>, mut change: impl FnMut(usize)) {
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
    pub(in crate::ingest) fn same(&self, one: usize, other: usize) -> bool {
        let codes = match self {
            Text::Coded { codes, .. } => codes.same(one, other),
            _ => false,
        };
        codes || self.id(one).is(self.id(other))
    }

    /// Passes on the hashes of some rows, in order; `known` has those of the values of a dictionary. Integers are written into `digits`,
    /// [`LONGEST`] bytes for each row.
    #[inline(always)]
    pub(in crate::ingest) fn each_hash(
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
                    take(hashed(seed, IdPlace { bytes, start: pair[0] as usize, end: pair[1] as usize }));
                }
            }
            (Text::LargeUtf8 { offsets, bytes }, _) => {
                for pair in offsets[rows.start..=rows.end].windows(2) {
                    take(hashed(seed, IdPlace { bytes, start: pair[0] as usize, end: pair[1] as usize }));
                }
            }
            (Text::Views { views, buffers }, _) => {
                rows.for_each(|row| take(hashed(seed, viewed(views, buffers, row))));
            }
            (Text::Coded { codes, values }, Some(known)) if !values.is_numeric() => {
                with_integers!(codes, codes => codes[rows].iter().for_each(|&code| take(known[code as usize])));
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
            (Text::Bytes(ids), _) => ids[rows].iter().for_each(|id| take(hashed(seed, IdPlace::whole(id)))),
            (Text::Strs(ids), _) => {
                ids[rows].iter().for_each(|id| take(hashed(seed, IdPlace::whole(id.as_bytes()))));
            }
            (Text::Coded { .. }, _) => {
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
        }
    }

    /// Checks some rows; rows that were checked can be read.
    pub(in crate::ingest) fn check(&self, rows: Range<usize>) -> Result<(), WrongColumn> {
        match *self {
            Text::Utf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Text::LargeUtf8 { offsets, bytes } => check_offsets(offsets, rows, bytes.len()),
            Text::Views { views, buffers } => check_views(views, buffers, rows),
            Text::Coded { codes, values } => match codes.beyond(rows, values.len()) {
                Some(row) => {
                    let (mut digits, count) = ([0; LONGEST], values.len());
                    let code = ColumnId::Integer(codes.id(row)).bytes(&mut digits).escape_ascii().to_string();
                    Err(WrongColumn::at(row, format!("code {code} of a dictionary of {count} values")))
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

fn check_lengths(lengths: impl Iterator<Item = usize>, rows: Range<usize>) -> Result<(), WrongColumn> {
    match std::iter::zip(rows, lengths).find(|(_, length)| *length > LONGEST_LINE) {
        Some((row, _)) => Err(too_long(row)),
        None => Ok(()),
    }
}

/// Checks that offsets ascend, and end within the bytes.
fn check_offsets<T: Copy + Into<i64>>(
    offsets: &[T],
    rows: Range<usize>,
    bytes: usize,
) -> Result<(), WrongColumn> {
    if rows.is_empty() {
        return Ok(());
    }
    let offsets = &offsets[rows.start..=rows.end];
    // Signed lengths are taken as unsigned ones: a negative one is longer than any. Offsets are neither negative nor beyond the bytes if
    // the first and the last are not, and all lengths are small.
    let length = |pair: &[T]| pair[1].into().wrapping_sub(pair[0].into()) as u64;
    let longest = LONGEST_LINE as u64;
    let all = offsets.windows(2).fold(true, |all, pair| all & (length(pair) <= longest));
    let (first, last) = (offsets[0].into(), offsets[offsets.len() - 1].into());
    if all && first >= 0 && last as u64 <= bytes as u64 {
        return Ok(());
    }
    let (row, pair) = std::iter::zip(rows, offsets.windows(2))
        .find(|(_, pair)| {
            let (start, end) = (pair[0].into(), pair[1].into());
            start < 0 || length(pair) > longest || end as u64 > bytes as u64
        })
        .unwrap_or((0, &offsets[..2]));
    let (start, end) = (pair[0].into(), pair[1].into());
    Err(match () {
        () if start < 0 => WrongColumn::at(row, format!("offset {start} is negative")),
        () if end < start => {
            WrongColumn::at(row, format!("offset {end} comes after offset {start}: they must ascend"))
        }
        () if end as u64 > bytes as u64 => {
            WrongColumn::at(row, format!("offset {end} lies beyond the {bytes} bytes of the ids"))
        }
        () => too_long(row),
    })
}

/// Checks that views lie within their buffers.
fn check_views(views: &[u128], buffers: &[&[u8]], rows: Range<usize>) -> Result<(), WrongColumn> {
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
            return Err(WrongColumn::at(row, format!("a view into buffer {buffer}, and there are {count}")));
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
