//! The shape of an array of rankings: the values that belong to each row, and the limits of a row.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::matrix::{MAX_JUDGED, MAX_TILE_DEPTH};
use crate::numbers::Integers;

/// The shape of a flat array of rankings: the values that belong to each row, one row a ranking.
///
/// ```
/// use laneval::arrays::Shape;
/// let three_rows_of_four = Shape::dense(4);
/// let with_padding = Shape::dense(4).with_lengths(&[4u32, 0, 2]);
/// let one_behind_the_other = Shape::offsets(&[0i64, 4, 4, 6]);
/// let the_same = Shape::sizes(&[4u32, 0, 2]);
/// let by_group = Shape::groups(&[7i64, 7, 7, 7, 9, 9]);
/// # let _ = (three_rows_of_four, with_padding, one_behind_the_other, the_same, by_group);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a>(ShapeKind<'a>);

#[derive(Debug, Clone, Copy)]
enum ShapeKind<'a> {
    Dense { width: usize, stride: usize, lengths: Option<Integers<'a>> },
    Offsets(Integers<'a>),
    Sizes(Integers<'a>),
    Groups(Integers<'a>),
}

impl<'a> Shape<'a> {
    /// Makes the shape of an array in which every row has `width` values, and the next row follows
    /// at once.
    pub fn dense(width: usize) -> Self {
        Self::strided(width, width)
    }

    /// Makes the shape of an array in which every row has `width` values, and rows begin `stride`
    /// values apart, at least `width`.
    pub fn strided(width: usize, stride: usize) -> Self {
        Self(ShapeKind::Dense { width, stride, lengths: None })
    }

    /// Shortens each row of a dense array to its first values, as many as its length in `of_rows`.
    /// The values behind them are never read.
    #[must_use]
    pub fn with_lengths(mut self, of_rows: impl Into<Integers<'a>>) -> Self {
        if let ShapeKind::Dense { lengths, .. } = &mut self.0 {
            *lengths = Some(of_rows.into());
        }
        self
    }

    /// Makes the shape of an array in which row `r` has the values from `offsets[r]` up to
    /// `offsets[r + 1]`. A shape of `n` rows has `n + 1` offsets.
    pub fn offsets(offsets: impl Into<Integers<'a>>) -> Self {
        Self(ShapeKind::Offsets(offsets.into()))
    }

    /// Makes the shape of an array in which row `r` has `sizes[r]` values, and the next row follows
    /// at once.
    pub fn sizes(sizes: impl Into<Integers<'a>>) -> Self {
        Self(ShapeKind::Sizes(sizes.into()))
    }

    /// Makes the shape of an array in which neighbouring values with the same id are a row;
    /// `of_values` has the id of each value.
    pub fn groups(of_values: impl Into<Integers<'a>>) -> Self {
        Self(ShapeKind::Groups(of_values.into()))
    }
}

impl From<usize> for Shape<'_> {
    /// Makes the shape of an array in which every row has the given number of values, and the next
    /// row follows at once.
    fn from(width: usize) -> Self {
        Self::dense(width)
    }
}

/// The range of each row's values in an array: a [`Shape`] that was checked against the array.
#[derive(Debug, Clone)]
pub(super) enum Layout<'a> {
    Dense {
        rows: usize,
        width: usize,
        stride: usize,
        lengths: Option<Integers<'a>>,
    },
    Offsets(Integers<'a>),
    /// The ends of the rows, with a leading 0.
    Ends(Vec<usize>),
}

impl<'a> Layout<'a> {
    /// Checks a shape against its array of `values` values, which errors call `name`, and returns
    /// the layout of rows.
    pub fn new(shape: Shape<'a>, values: usize, name: &str) -> Result<Self> {
        match shape.0 {
            ShapeKind::Dense { width, stride, lengths } => {
                Self::dense(width, stride, lengths, values, name)
            }
            ShapeKind::Offsets(offsets) => Self::by_offsets(offsets, values, name),
            ShapeKind::Sizes(sizes) => {
                let mut ends = Vec::with_capacity(sizes.len() + 1);
                ends.push(0usize);
                for at in 0..sizes.len() {
                    let size = index(&sizes, at, "sizes")?;
                    ends.push(ends[at].saturating_add(size));
                }
                let sum = ends[sizes.len()];
                reject_if!(sum != values, "the sizes sum to {sum}, and {name} has {values} values");
                Ok(Self::Ends(ends))
            }
            ShapeKind::Groups(ids) => {
                reject_if!(
                    ids.len() != values,
                    "groups has {} ids, and {name} has {values} values",
                    ids.len()
                );
                groups(&ids).map(Self::Ends)
            }
        }
    }

    fn dense(
        width: usize,
        stride: usize,
        lengths: Option<Integers<'a>>,
        values: usize,
        name: &str,
    ) -> Result<Self> {
        reject_if!(
            width == 0,
            "the rows of {name} have no values: at least one column was expected"
        );
        reject_if!(stride < width, "rows of {width} values {stride} apart: they must not overlap");
        // The last row may end before its stride does.
        let rows = values.div_ceil(stride);
        reject_if!(
            values > 0 && values - (rows - 1) * stride < width,
            "{name} has {values} values, which are no whole rows of {width}{}",
            if stride > width { format!(" that are {stride} apart") } else { String::new() }
        );
        if let Some(lengths) = &lengths {
            reject_if!(
                lengths.len() != rows,
                "lengths has {} of them, and {name} has {rows} rows",
                lengths.len()
            );
            for row in 0..rows {
                let length = index(lengths, row, "lengths")?;
                reject_if!(
                    length > width,
                    "lengths[{row}] is {length}, and a row has {width} values"
                );
            }
        }
        Ok(Self::Dense { rows, width, stride, lengths })
    }

    fn by_offsets(offsets: Integers<'a>, values: usize, name: &str) -> Result<Self> {
        reject_if!(
            offsets.is_empty(),
            "offsets is empty: one more than there are rows was expected"
        );
        let mut before = 0;
        for at in 0..offsets.len() {
            let end = index(&offsets, at, "offsets")?;
            reject_if!(end < before, "offsets[{at}] is {end}, less than the one before, {before}");
            reject_if!(end > values, "offsets[{at}] is {end}, and {name} has {values} values");
            before = end;
        }
        Ok(Self::Offsets(offsets))
    }

    /// Returns the number of rows of the array.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Offsets(offsets) => offsets.len() - 1,
            Self::Ends(ends) => ends.len() - 1,
        }
    }

    /// Returns the range of a row's values in the array.
    #[inline]
    pub fn row(&self, row: usize) -> Range<usize> {
        match self {
            Self::Dense { width, stride, lengths, .. } => {
                let length = lengths.as_ref().map_or(*width, |lengths| known(lengths, row));
                row * stride..row * stride + length
            }
            Self::Offsets(offsets) => known(offsets, row)..known(offsets, row + 1),
            Self::Ends(ends) => ends[row]..ends[row + 1],
        }
    }

    /// Returns the range of several rows' values in the array, if no gap lies between the rows.
    pub fn contiguous_range(&self, rows: Range<usize>) -> Option<Range<usize>> {
        match self {
            _ if rows.is_empty() => None,
            // Values between the rows are nobody's, and must not be read.
            Self::Dense { width, stride, lengths, .. } if stride > width || lengths.is_some() => {
                None
            }
            _ => Some(self.row(rows.start).start..self.row(rows.end - 1).end),
        }
    }

    /// Returns an upper bound of the number of values in some rows of the array.
    pub fn values(&self, rows: Range<usize>) -> usize {
        match self {
            Self::Dense { width, .. } => rows.len() * width,
            _ => self.contiguous_range(rows).map_or(0, |values| values.len()),
        }
    }
}

/// Returns an offset or length of a row, which was checked when the layout was made.
fn known(numbers: &Integers<'_>, at: usize) -> usize {
    numbers.natural(at).unwrap_or_else(|| unreachable!("it was an index when the layout was made"))
}

fn index(numbers: &Integers<'_>, at: usize, name: &str) -> Result<usize> {
    numbers.natural(at).ok_or_else(|| {
        shape_error(format!("{name}[{at}] is {}: an integer from 0 was expected", numbers.get(at)))
    })
}

/// Returns the starts of rows of neighbouring values with the same id, and the end of the last row.
fn groups(ids: &Integers<'_>) -> Result<Vec<usize>> {
    let all: Vec<i128> = (0..ids.len()).map(|at| ids.get(at)).collect();
    let mut ends: Vec<usize> =
        (0..all.len()).filter(|&at| at == 0 || all[at - 1] != all[at]).collect();
    // Ids that ascend cannot repeat, so no set of them is needed.
    if !ends.windows(2).all(|pair| all[pair[0]] < all[pair[1]]) {
        let mut seen = std::collections::HashSet::new();
        if let Some(&again) = ends.iter().find(|&&start| !seen.insert(all[start])) {
            reject!(
                "groups[{again}] is {}, a group that ended before: the values of a group must lie \
                 together",
                all[again]
            );
        }
    }
    ends.push(all.len());
    Ok(ends)
}

/// Returns the number of documents of a ranking, and rejects more than [`MAX_TILE_DEPTH`].
#[inline]
pub(super) fn depth(row: usize, documents: usize) -> Result<usize> {
    reject_if!(
        documents > MAX_TILE_DEPTH as usize,
        "row {row} has {documents} documents, more than {MAX_TILE_DEPTH}"
    );
    Ok(documents)
}

/// Rejects a ranking with more than [`MAX_JUDGED`] judged documents; `judged` has their number by
/// grade.
#[inline]
pub(super) fn check_judged_counts(row: usize, judged: &[u32]) -> Result<()> {
    let judged: u64 = judged.iter().copied().map(u64::from).sum();
    reject_if!(
        judged > MAX_JUDGED,
        "row {row} has {judged} judged documents, and the most that a query may have is \
         {MAX_JUDGED}"
    );
    Ok(())
}

/// Returns the error of arrays of rankings that have the fault in `message`.
pub(super) fn shape_error(message: String) -> Error {
    Error::Unanswerable(message)
}
